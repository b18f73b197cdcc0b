/* SPDX-License-Identifier: BSD-3-Clause */
/* A handle's workspace: the caller's where there is one, else its own, which grows. */
#include "device.h"
#include "handle.h"

#include <stdlib.h>

void batchlas_free_workspace(batchlas_handle_t h) {
    if (h->facts.is_gpu)
        batchlas_device_free(h->own_workspace);
    else
        free(h->own_workspace);
    h->own_workspace = NULL;
    h->own_workspace_bytes = 0;
}

batchlas_status_t batchlas_set_workspace(batchlas_handle_t h, void *device_ptr, size_t bytes) {
    const batchlas_status_t status = batchlas_begin(h);
    if (status != BATCHLAS_SUCCESS)
        return status;
    if ((uintptr_t)device_ptr % WORKSPACE_ALIGNMENT)
        return batchlas_fail(h, BATCHLAS_INVALID_ARGUMENT,
                             "set_workspace: argument device_ptr is %p, expected a multiple of %d",
                             device_ptr, WORKSPACE_ALIGNMENT);
    int owner = 0;
    const memory_verdict_t verdict =
        device_ptr ? batchlas_device_memory(h, device_ptr, &owner) : MEMORY_OK;
    if (verdict == MEMORY_UNKNOWN)
        return batchlas_fail(h, BATCHLAS_DEVICE_ERROR,
                             "set_workspace: argument device_ptr is %p, but after an earlier error "
                             "CUDA does not tell whose memory that is",
                             device_ptr);
    if (verdict != MEMORY_OK)
        return batchlas_fail(h, BATCHLAS_INVALID_ARGUMENT,
                             "set_workspace: argument device_ptr is %p, expected memory of the "
                             "handle's device",
                             device_ptr);
    h->user_workspace = device_ptr;
    h->user_workspace_bytes = device_ptr ? bytes : 0;
    return BATCHLAS_SUCCESS;
}

static batchlas_status_t grow_workspace(batchlas_handle_t h, size_t bytes) {
    if (batchlas_device_is_capturing(h))
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED,
                             "workspace of %zu bytes is needed while the stream is captured: "
                             "give it with set_workspace, or make the call once before",
                             bytes);
    batchlas_free_workspace(h);
    const size_t rounded =
        (bytes + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
    if (h->facts.is_gpu) {
        const batchlas_status_t status = batchlas_device_alloc(h, rounded, &h->own_workspace);
        if (status != BATCHLAS_SUCCESS)
            return status;
    } else if (!(h->own_workspace = aligned_alloc(WORKSPACE_ALIGNMENT, rounded))) {
        return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY,
                             "workspace of %zu bytes could not be allocated", bytes);
    }
    h->own_workspace_bytes = rounded;
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_workspace(batchlas_handle_t h, size_t bytes, void **memory) {
    *memory = NULL;
    if (bytes == 0)
        return BATCHLAS_SUCCESS;
    if (h->user_workspace) {
        if (h->user_workspace_bytes < bytes)
            return batchlas_fail(h, BATCHLAS_INVALID_ARGUMENT,
                                 "the workspace given with set_workspace has %zu bytes, expected "
                                 "at least %zu",
                                 h->user_workspace_bytes, bytes);
        *memory = h->user_workspace;
        return BATCHLAS_SUCCESS;
    }
    if (h->own_workspace_bytes < bytes) {
        const batchlas_status_t status = grow_workspace(h, bytes);
        if (status != BATCHLAS_SUCCESS)
            return status;
    }
    *memory = h->own_workspace;
    return BATCHLAS_SUCCESS;
}
