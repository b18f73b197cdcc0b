/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A failed call leaves its error behind for whoever asks CUDA next, the caller's program too. An
 * older error of the caller's own stays. */
static void forget(cudaError_t error) {
    if (error != cudaSuccess && cudaPeekAtLastError() == error)
        (void)cudaGetLastError();
}

batchlas_status_t batchlas_device_status(batchlas_handle_t h, int cuda_error, const char *doing) {
    const cudaError_t error = (cudaError_t)cuda_error;
    if (error == cudaSuccess)
        return BATCHLAS_SUCCESS;
    forget(error);
    const batchlas_status_t status =
        error == cudaErrorMemoryAllocation ? BATCHLAS_OUT_OF_MEMORY : BATCHLAS_DEVICE_ERROR;
    return batchlas_fail(h, status, "device %d, %s: %s", h->device, doing,
                         cudaGetErrorString(error));
}

/* ---- the device ---------------------------------------------------------------------------- */

batchlas_status_t batchlas_device_open(batchlas_handle_t h) {
    int count = 0;
    const cudaError_t counted = cudaGetDeviceCount(&count);
    if (counted != cudaSuccess) {
        forget(counted);
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED, "CUDA finds no device: %s",
                             cudaGetErrorString(counted));
    }
    if (h->device < 0 || h->device >= count)
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED,
                             "OpenMP's device %d is not among CUDA's %d devices", h->device, count);

    enum { MAJOR, MINOR, MULTIPROCESSORS, THREADS, SHARED_BLOCK, SHARED, PAGEABLE, ASKED };
    static const enum cudaDeviceAttr asked[ASKED] = {
        [MAJOR] = cudaDevAttrComputeCapabilityMajor,
        [MINOR] = cudaDevAttrComputeCapabilityMinor,
        [MULTIPROCESSORS] = cudaDevAttrMultiProcessorCount,
        [THREADS] = cudaDevAttrMaxThreadsPerBlock,
        [SHARED_BLOCK] = cudaDevAttrMaxSharedMemoryPerBlockOptin,
        [SHARED] = cudaDevAttrMaxSharedMemoryPerMultiprocessor,
        [PAGEABLE] = cudaDevAttrPageableMemoryAccess,
    };
    int value[ASKED];
    for (int i = 0; i < ASKED; ++i) {
        const cudaError_t error = cudaDeviceGetAttribute(&value[i], asked[i], h->device);
        if (error != cudaSuccess)
            return batchlas_device_status(h, error, "asking for its properties");
    }
    h->facts = (device_facts_t){
        .is_gpu = true,
        .architecture = 10 * value[MAJOR] + value[MINOR],
        .multiprocessors = value[MULTIPROCESSORS],
        .max_threads_per_block = value[THREADS],
        .shared_memory_per_block = (size_t)value[SHARED_BLOCK],
        .shared_memory_per_multiprocessor = (size_t)value[SHARED],
        .reads_pageable_memory = value[PAGEABLE] != 0,
    };
    snprintf(h->device_name, sizeof h->device_name, "sm_%d", h->facts.architecture);
    return BATCHLAS_SUCCESS;
}

enum { NO_DEVICE = -1 };

int batchlas_device_enter(batchlas_handle_t h) {
    int previous = NO_DEVICE;
    if (!h->facts.is_gpu)
        return NO_DEVICE;
    const cudaError_t error = cudaGetDevice(&previous);
    if (error != cudaSuccess) {
        forget(error);
        return NO_DEVICE;
    }
    if (previous != h->device)
        forget(cudaSetDevice(h->device));
    return previous;
}

/* Asks anew what is current: OpenMP's runtime, used in between, leaves its own device current. */
void batchlas_device_leave(int previous) {
    int current = NO_DEVICE;
    if (previous == NO_DEVICE)
        return;
    forget(cudaGetDevice(&current));
    if (current != previous)
        forget(cudaSetDevice(previous));
}

/* ---- memory -------------------------------------------------------------------------------- */

/* The driver's question, not the runtime's: that one makes a context on whatever device is current,
 * which a program that only uses a host handle must not pay for. NULL without driver or device. */
static PFN_cuPointerGetAttributes_v7000 pointer_attributes;

static void find_pointer_attributes(void) {
    int count = 0;
    void *function = NULL;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
#if CUDART_VERSION >= 12050
        error = cudaGetDriverEntryPointByVersion("cuPointerGetAttributes", &function, 7000,
                                                 cudaEnableDefault, NULL);
#else
        error =
            cudaGetDriverEntryPoint("cuPointerGetAttributes", &function, cudaEnableDefault, NULL);
#endif
    }
    forget(error);
    memcpy(&pointer_attributes, &function, sizeof function);
}

typedef struct {
    unsigned type; /* CUmemorytype; 0: memory that CUDA does not know */
    unsigned managed;
    int device;
    bool is_unknown; /* the driver did not answer */
} memory_facts_t;

static memory_facts_t ask_about(const void *pointer) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    memory_facts_t facts = {.device = NO_DEVICE};
    void *answers[] = {&facts.type, &facts.managed, &facts.device};
    pthread_once(&once, find_pointer_attributes);
    const CUresult answer = pointer_attributes
                                ? pointer_attributes(sizeof asked / sizeof *asked, asked, answers,
                                                     (CUdeviceptr)(uintptr_t)pointer)
                                : CUDA_ERROR_INVALID_VALUE;
    if (answer != CUDA_SUCCESS)
        facts.type = 0;
    facts.is_unknown = answer != CUDA_SUCCESS && answer != CUDA_ERROR_INVALID_VALUE;
    return facts;
}

static bool is_device_only(const memory_facts_t *facts) {
    return facts->type == CU_MEMORYTYPE_DEVICE && !facts->managed;
}

bool batchlas_device_only(const void *pointer) {
    const memory_facts_t facts = ask_about(pointer);
    return is_device_only(&facts);
}

memory_verdict_t batchlas_device_memory(batchlas_handle_t h, const void *pointer, int *owner) {
    const memory_facts_t facts = ask_about(pointer);
    if (h->facts.is_gpu && facts.is_unknown)
        return MEMORY_UNKNOWN;
    if (is_device_only(&facts) && (!h->facts.is_gpu || facts.device != h->device)) {
        *owner = facts.device;
        return MEMORY_OTHER_DEVICE;
    }
    const bool device_reads = facts.type != 0 || h->unified_memory;
    return h->facts.is_gpu && !device_reads ? MEMORY_HOST : MEMORY_OK;
}

batchlas_status_t batchlas_device_alloc(batchlas_handle_t h, size_t bytes, void **memory) {
    *memory = NULL;
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error != cudaErrorMemoryAllocation)
        return batchlas_device_status(h, error, "allocating workspace");
    forget(error);
    return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY,
                         "device %d has no room for a workspace of %zu bytes", h->device, bytes);
}

void batchlas_device_free(void *memory) {
    forget(cudaFree(memory));
}

batchlas_status_t batchlas_device_zero(batchlas_handle_t h, void *memory, size_t bytes) {
    return batchlas_device_status(h, cudaMemsetAsync(memory, 0, bytes, h->stream),
                                  "filling memory with zeros");
}

batchlas_status_t batchlas_device_fetch(batchlas_handle_t h, void *to, const void *from,
                                        size_t bytes) {
    const batchlas_status_t status = batchlas_device_status(
        h, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, h->stream),
        "fetching a result");
    return status == BATCHLAS_SUCCESS ? batchlas_device_complete(h) : status;
}

/* ---- the stream ---------------------------------------------------------------------------- */

/* Another stream's capture forbids the legacy stream, which counts as captured too. */
bool batchlas_device_is_capturing(batchlas_handle_t h) {
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (!h->facts.is_gpu)
        return false;
    const cudaError_t error = cudaStreamIsCapturing(h->stream, &capture);
    forget(error);
    return error == cudaErrorStreamCaptureImplicit || capture != cudaStreamCaptureStatusNone;
}

/* A thread that sleeps on the stream wakes 10 to 30 us late, so spin first; beyond this time the
 * delay is a few per cent, and the core is worth more to the caller. */
enum { SPIN_NANOSECONDS = 1000 * 1000 };

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

batchlas_status_t batchlas_device_complete(batchlas_handle_t h) {
    const int64_t begin = nanoseconds();
    cudaError_t error = cudaErrorNotReady;
    while (error == cudaErrorNotReady && nanoseconds() - begin < SPIN_NANOSECONDS)
        error = cudaStreamQuery(h->stream);
    forget(cudaErrorNotReady);
    if (error == cudaErrorNotReady)
        error = cudaStreamSynchronize(h->stream);
    return batchlas_device_status(h, error, "waiting for its stream");
}

batchlas_status_t batchlas_device_on_complete(batchlas_handle_t h, void (*call)(void *),
                                              void *argument) {
    return batchlas_device_status(h, cudaLaunchHostFunc(h->stream, call, argument),
                                  "enqueuing a call on its stream");
}
