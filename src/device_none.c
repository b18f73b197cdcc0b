/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds without a GPU: no handle for a device is ever made, and all memory is the host's. */
#include "device.h"

static batchlas_status_t no_device(batchlas_handle_t h) {
    return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED, "this build of the library has no GPU support");
}

batchlas_status_t batchlas_device_open(batchlas_handle_t h) {
    return no_device(h);
}

int batchlas_device_enter(batchlas_handle_t h) {
    (void)h;
    return -1;
}

void batchlas_device_leave(int previous) {
    (void)previous;
}

memory_verdict_t batchlas_device_memory(batchlas_handle_t h, const void *pointer, int *owner) {
    (void)h;
    (void)pointer;
    (void)owner;
    return MEMORY_OK;
}

bool batchlas_device_only(const void *pointer) {
    (void)pointer;
    return false;
}

batchlas_status_t batchlas_device_alloc(batchlas_handle_t h, size_t bytes, void **memory) {
    (void)bytes;
    *memory = NULL;
    return no_device(h);
}

void batchlas_device_free(void *memory) {
    (void)memory;
}

batchlas_status_t batchlas_device_zero(batchlas_handle_t h, void *memory, size_t bytes) {
    (void)memory;
    (void)bytes;
    return no_device(h);
}

batchlas_status_t batchlas_device_fetch(batchlas_handle_t h, void *to, const void *from,
                                        size_t bytes) {
    (void)to;
    (void)from;
    (void)bytes;
    return no_device(h);
}

bool batchlas_device_is_capturing(batchlas_handle_t h) {
    (void)h;
    return false;
}

batchlas_status_t batchlas_device_complete(batchlas_handle_t h) {
    return no_device(h);
}

batchlas_status_t batchlas_device_on_complete(batchlas_handle_t h, void (*call)(void *),
                                              void *argument) {
    (void)call;
    (void)argument;
    return no_device(h);
}

batchlas_status_t batchlas_device_status(batchlas_handle_t h, int cuda_error, const char *doing) {
    (void)cuda_error;
    (void)doing;
    return no_device(h);
}
