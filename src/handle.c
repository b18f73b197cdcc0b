/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"

#include "device.h"
#include "families.h"
#include "record.h"
#include "run.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { INITIAL_DEVICE = -1 }; /* omp_initial_device, which older omp.h do not name */

void batchlas_version(int *major, int *minor, int *patch) {
    if (major)
        *major = BATCHLAS_VERSION_MAJOR;
    if (minor)
        *minor = BATCHLAS_VERSION_MINOR;
    if (patch)
        *patch = BATCHLAS_VERSION_PATCH;
}

batchlas_status_t batchlas_begin(batchlas_handle_t h) {
    if (!batchlas_is_alive(h))
        return BATCHLAS_INVALID_ARGUMENT;
    batchlas_clear_error(h);
    return BATCHLAS_SUCCESS;
}

/* ---- making and ending --------------------------------------------------------------------- */

static bool is_host(int device_num) {
    return device_num == INITIAL_DEVICE || device_num == omp_get_initial_device();
}

/* A handle for the device, without a stream yet. */
static batchlas_status_t open_device(batchlas_handle_t *h, int device_num) {
    batchlas_clear_error(NULL);
    if (!h)
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: argument h is NULL, expected where to put the handle");
    *h = NULL;
    const bool host = is_host(device_num);
    if (!host && (device_num < 0 || device_num >= omp_get_num_devices()))
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: argument device_num is %d, expected an OpenMP device number "
                             "below %d, or the initial device for the host",
                             device_num, omp_get_num_devices());
    batchlas_handle_t opened = calloc(1, sizeof *opened);
    if (!opened)
        return batchlas_fail(NULL, BATCHLAS_OUT_OF_MEMORY,
                             "create: the handle could not be allocated");
    opened->alive = HANDLE_ALIVE;
    opened->device = host ? omp_get_initial_device() : device_num;
    strcpy(opened->device_name, "host");
    const batchlas_status_t status = host ? BATCHLAS_SUCCESS : batchlas_device_open(opened);
    if (status == BATCHLAS_SUCCESS) {
        *h = opened;
    } else {
        batchlas_fail(NULL, status, "create: %s", opened->error);
        free(opened);
    }
    return status;
}

#if BATCHLAS_HAVE_GPU
/* The stream of a targetsync object; fails on the objects whose stream must not be asked for. */
static batchlas_status_t stream_of(omp_interop_t object, int *device_num, void **stream) {
    int outcome = 0;
    if (object == omp_interop_none)
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: the interop object is omp_interop_none, expected one from "
                             "interop init(targetsync: obj) device(d)");
    *device_num = (int)omp_get_interop_int(object, omp_ipr_device_num, &outcome);
    if (outcome || *device_num < 0 || *device_num >= omp_get_num_devices())
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: the interop object's device is %d, expected one below %d",
                             *device_num, omp_get_num_devices());
    *stream = omp_get_interop_ptr(object, omp_ipr_targetsync, &outcome);
    if (outcome || !*stream)
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: the interop object has no stream, expected one from "
                             "interop init(targetsync: obj) device(d)");
    return BATCHLAS_SUCCESS;
}

/* Streams of OpenMP's own that no handle has. Each pair of init and destroy would cost the runtime
 * a stream, 131 KiB of the host's memory, so one that was made goes from handle to handle. */
typedef struct spare_stream {
    omp_interop_t object;
    int device;
    struct spare_stream *next;
} spare_stream_t;

static struct {
    pthread_mutex_t lock;
    spare_stream_t *first;
} spare_streams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static omp_interop_t take_spare(int device) {
    pthread_mutex_lock(&spare_streams.lock);
    spare_stream_t **link = &spare_streams.first;
    while (*link && (*link)->device != device)
        link = &(*link)->next;
    spare_stream_t *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&spare_streams.lock);
    const omp_interop_t object = found ? found->object : omp_interop_none;
    free(found);
    return object;
}

static batchlas_status_t own_stream(batchlas_handle_t h) {
    const int device = h->device;
    omp_interop_t object = take_spare(device);
    int stream_device = 0;
    if (object == omp_interop_none) {
#pragma omp interop init(targetsync : object) device(device)
    }
    h->interop = object;
    return stream_of(object, &stream_device, &h->stream);
}

/* The stream is idle. */
static void release_stream(batchlas_handle_t h) {
    omp_interop_t object = h->interop;
    if (object == omp_interop_none)
        return;
    spare_stream_t *spare = malloc(sizeof *spare);
    if (!spare) {
#pragma omp interop destroy(object)
        return;
    }
    pthread_mutex_lock(&spare_streams.lock);
    *spare = (spare_stream_t){object, h->device, spare_streams.first};
    spare_streams.first = spare;
    pthread_mutex_unlock(&spare_streams.lock);
}
#endif

batchlas_status_t batchlas_create(batchlas_handle_t *h, int device_num) {
    batchlas_status_t status = open_device(h, device_num);
#if BATCHLAS_HAVE_GPU
    if (status == BATCHLAS_SUCCESS && (*h)->facts.is_gpu) {
        const int current = batchlas_device_enter(*h);
        status = own_stream(*h);
        batchlas_device_leave(current);
        if (status != BATCHLAS_SUCCESS) {
            free(*h);
            *h = NULL;
        }
    }
#endif
    return status;
}

#if defined(_OPENMP) && _OPENMP >= 202011
batchlas_status_t batchlas_create_from_interop(batchlas_handle_t *h, omp_interop_t obj) {
    batchlas_clear_error(NULL);
    if (h)
        *h = NULL;
#if BATCHLAS_HAVE_GPU
    int device_num = 0;
    void *stream = NULL;
    const batchlas_status_t status = stream_of(obj, &device_num, &stream);
    return status == BATCHLAS_SUCCESS ? batchlas_create_from_stream(h, device_num, stream) : status;
#else
    (void)obj;
    return batchlas_fail(NULL, BATCHLAS_NOT_SUPPORTED,
                         "create: this build of the library has no GPU support");
#endif
}
#endif

batchlas_status_t batchlas_create_from_stream(batchlas_handle_t *h, int device_num,
                                              void *cuda_stream) {
    if (h && is_host(device_num) && cuda_stream) {
        *h = NULL;
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "create: argument cuda_stream is %p, expected NULL on the host",
                             cuda_stream);
    }
    const batchlas_status_t status = open_device(h, device_num);
    if (status == BATCHLAS_SUCCESS)
        (*h)->stream = cuda_stream;
    return status;
}

batchlas_status_t batchlas_destroy(batchlas_handle_t h) {
    if (!h)
        return BATCHLAS_SUCCESS;
    if (!batchlas_is_alive(h))
        return batchlas_fail(NULL, BATCHLAS_INVALID_ARGUMENT,
                             "destroy: argument h is %p, expected a handle that was not destroyed",
                             (void *)h);
    const int current = batchlas_device_enter(h);
    const batchlas_status_t status = batchlas_complete(h);
    if (status != BATCHLAS_SUCCESS)
        batchlas_fail(NULL, status, "destroy: %s", h->error);
#if BATCHLAS_HAVE_VENDOR_CUDA
    batchlas_vendor_close(h);
#endif
    batchlas_free_workspace(h);
    batchlas_tables_free(h);
#if BATCHLAS_HAVE_GPU
    release_stream(h);
#endif
    batchlas_device_leave(current);
    batchlas_coverage_flush();
    *(volatile uint64_t *)&h->alive = 0; /* volatile: or free() would make the store a dead one */
    free(h);
    return status;
}

/* ---- settings and completion --------------------------------------------------------------- */

batchlas_status_t batchlas_set_nowait(batchlas_handle_t h, int nowait) {
    const batchlas_status_t status = batchlas_begin(h);
    if (status == BATCHLAS_SUCCESS)
        h->nowait = nowait != 0;
    return status;
}

batchlas_status_t batchlas_wait(batchlas_handle_t h) {
    const batchlas_status_t status = batchlas_begin(h);
    if (status != BATCHLAS_SUCCESS)
        return status;
    const int current = batchlas_device_enter(h);
    const batchlas_status_t outcome = batchlas_complete(h);
    batchlas_device_leave(current);
    return outcome;
}

batchlas_status_t batchlas_complete(batchlas_handle_t h) {
    return h->facts.is_gpu ? batchlas_device_complete(h) : BATCHLAS_SUCCESS;
}

#if defined(BATCHLAS_HAVE_EVENTS)
static void fulfill(void *event) {
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
}

batchlas_status_t batchlas_fulfill_event(batchlas_handle_t h, omp_event_handle_t ev) {
    const batchlas_status_t status = batchlas_begin(h);
    if (status != BATCHLAS_SUCCESS)
        return status;
    if (!h->facts.is_gpu) {
        omp_fulfill_event(ev);
        return BATCHLAS_SUCCESS;
    }
    const int current = batchlas_device_enter(h);
    const batchlas_status_t outcome =
        batchlas_device_on_complete(h, fulfill, (void *)(uintptr_t)ev);
    batchlas_device_leave(current);
    return outcome;
}
#endif

batchlas_status_t batchlas_set_unified_memory(batchlas_handle_t h, int allow) {
    const batchlas_status_t status = batchlas_begin(h);
    if (status != BATCHLAS_SUCCESS)
        return status;
    if (allow && h->facts.is_gpu && !h->facts.reads_pageable_memory)
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED,
                             "set_unified_memory: device %d cannot read pageable host memory",
                             h->device);
    h->unified_memory = allow != 0;
    return BATCHLAS_SUCCESS;
}
