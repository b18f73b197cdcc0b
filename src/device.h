/* SPDX-License-Identifier: BSD-3-Clause */
/* The only door to the CUDA runtime. device_cuda.c serves GPU builds, device_none.c the others,
 * where no function but the first is ever reached. */
#ifndef BATCHLAS_DEVICE_H
#define BATCHLAS_DEVICE_H

#include "handle.h"

/* Fills facts and device_name of a handle for CUDA device h->device; NOT_SUPPORTED without one. */
batchlas_status_t batchlas_device_open(batchlas_handle_t h);

/* The calling thread's current CUDA device, to be put back on leaving. */
int batchlas_device_enter(batchlas_handle_t h);
void batchlas_device_leave(int previous);

/* MEMORY_UNKNOWN: after an error that ended its context, CUDA answers nothing any more. */
typedef enum { MEMORY_OK, MEMORY_HOST, MEMORY_OTHER_DEVICE, MEMORY_UNKNOWN } memory_verdict_t;
/* Whether the handle's device may use this pointer; *owner is the CUDA device that holds it. */
memory_verdict_t batchlas_device_memory(batchlas_handle_t h, const void *pointer, int *owner);

/* Whether the host cannot read what this pointer shows. */
bool batchlas_device_only(const void *pointer);

batchlas_status_t batchlas_device_alloc(batchlas_handle_t h, size_t bytes, void **memory);
void batchlas_device_free(void *memory);
batchlas_status_t batchlas_device_zero(batchlas_handle_t h, void *memory, size_t bytes);
/* Copies to the host what the stream leaves there, and waits for it. */
batchlas_status_t batchlas_device_fetch(batchlas_handle_t h, void *to, const void *from,
                                        size_t bytes);

bool batchlas_device_is_capturing(batchlas_handle_t h);
batchlas_status_t batchlas_device_complete(batchlas_handle_t h);
batchlas_status_t batchlas_device_on_complete(batchlas_handle_t h, void (*call)(void *),
                                              void *argument);

/* BATCHLAS_SUCCESS for cudaSuccess (0), else the failure with CUDA's own words. */
batchlas_status_t batchlas_device_status(batchlas_handle_t h, int cuda_error, const char *doing);

#endif
