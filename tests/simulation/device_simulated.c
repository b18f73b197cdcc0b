/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's door to the CUDA runtime, for the simulated device: an H200 whose streams are empty
 * whenever one looks. */
#include "device.h"

#include "simulation/control.h"

#include <string.h>

batchlas_status_t batchlas_device_open(batchlas_handle_t h) {
    h->facts = (device_facts_t){.is_gpu = true,
                                .architecture = 90,
                                .multiprocessors = 132,
                                .max_threads_per_block = THREADS_PER_BLOCK,
                                .shared_memory_per_block = SHARED_MEMORY_PER_BLOCK,
                                .shared_memory_per_multiprocessor = 233472};
    strcpy(h->device_name, "sm_90");
    return BATCHLAS_SUCCESS;
}

int batchlas_device_enter(batchlas_handle_t h) {
    (void)h;
    return 0;
}

void batchlas_device_leave(int previous) {
    (void)previous;
}

memory_verdict_t batchlas_device_memory(batchlas_handle_t h, const void *pointer, int *owner) {
    (void)h;
    *owner = 0;
    return simulation_owns(pointer) ? MEMORY_OK : MEMORY_HOST;
}

bool batchlas_device_only(const void *pointer) {
    return simulation_owns(pointer);
}

batchlas_status_t batchlas_device_alloc(batchlas_handle_t h, size_t bytes, void **memory) {
    *memory = simulation_alloc(bytes);
    return *memory
               ? BATCHLAS_SUCCESS
               : batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY,
                               "%zu bytes of the simulated device could not be allocated", bytes);
}

void batchlas_device_free(void *memory) {
    simulation_free(memory);
}

batchlas_status_t batchlas_device_zero(batchlas_handle_t h, void *memory, size_t bytes) {
    (void)h;
    memset(memory, 0, bytes);
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_device_fetch(batchlas_handle_t h, void *to, const void *from,
                                        size_t bytes) {
    (void)h;
    memcpy(to, from, bytes);
    return BATCHLAS_SUCCESS;
}

bool batchlas_device_is_capturing(batchlas_handle_t h) {
    (void)h;
    return false;
}

batchlas_status_t batchlas_device_complete(batchlas_handle_t h) {
    (void)h;
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_device_on_complete(batchlas_handle_t h, void (*call)(void *),
                                              void *argument) {
    (void)h;
    call(argument);
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_device_status(batchlas_handle_t h, int cuda_error, const char *doing) {
    if (cuda_error == 0)
        return BATCHLAS_SUCCESS;
    const char *const fault = simulation_fault_kind();
    return batchlas_fail(h, BATCHLAS_DEVICE_ERROR, "%s: error %d, %s", doing, cuda_error,
                         fault ? fault : "refused by the simulated device");
}
