/* SPDX-License-Identifier: BSD-3-Clause */
/* The flat selector: which families can run a problem, and in which order a tuned table ranks them.
 * Pure functions of their arguments: nothing here reads the environment or touches a device. */
#ifndef BATCHLAS_SELECT_H
#define BATCHLAS_SELECT_H

#include "problem.h"
#include "table.h"

/* What the selector and the families know of a device. */
typedef struct {
    bool is_gpu;
    int architecture; /* 90 for sm_90; 0 on the host */
    int multiprocessors;
    int max_threads_per_block;
    size_t shared_memory_per_block; /* opt-in maximum, bytes */
    size_t shared_memory_per_multiprocessor;
    bool reads_pageable_memory;
} device_facts_t;

/* Where a family runs. */
typedef enum { ON_HOST = 1, ON_GPU = 2, ON_BOTH = 3 } place_t;

typedef enum { NATIVE, VENDOR } origin_t;

/* How a launch meets the handle's stream: it only enqueues, or it works outside the stream (OpenMP
 * target regions, vendor calls that synchronise) and so needs the stream drained before it. */
typedef enum { ENQUEUES, BLOCKS } manner_t;

/* One row of an operation's candidate table. */
typedef struct family {
    const char *spelling; /* as in pins, tables and chosen_algo: "tiny", "lpanel:panel=8" */
    place_t place;
    origin_t origin;
    manner_t manner;
    bool leaf; /* may serve as the diagonal block of the blocked driver */
    /* Correctness only; speed lives in tables. If false, *reason is a phrase for the user. */
    bool (*can_run)(const problem_t *problem, const device_facts_t *facts, const char **reason);
    /* Bytes of 256-byte aligned workspace; NULL: none. */
    batchlas_status_t (*buffer_size)(batchlas_handle_t h, const problem_t *problem, size_t *bytes);
    batchlas_status_t (*launch)(batchlas_handle_t h, const problem_t *problem, void *workspace);
} family_t;

typedef struct operation {
    const char *name;         /* "potrf": in tables' file names and in traces */
    const char *pin_variable; /* "BATCHLAS_POTRF_ROUTE" */
    route_key_t (*key)(const problem_t *problem);
    const family_t *families;
    int family_count;
} operation_t;

typedef struct {
    const operation_t *operation;
    const problem_t *problem;
    const device_facts_t *facts;
    const table_t *table; /* NULL: nothing is ranked */
    const char *pin;      /* NULL or empty: auto */
    bool leaf;            /* choose among leaf families only, whatever the pin says */
} route_request_t;

typedef struct {
    const family_t *family;
    const table_row_t *row; /* the row that ranked it; NULL: pinned or last resort */
    char why[256];          /* a warning where family was chosen against a pin, or the error */
} route_t;

/* Auto takes the first runnable family of the nearest row, then `blocked`, then `vendor`, then
 * whatever runs. BATCHLAS_ROUTE_UNAVAILABLE where a pin does not parse or cannot run the problem,
 * or nothing can: route->why says the reason. */
batchlas_status_t batchlas_choose(const route_request_t *request, route_t *route);

/* The family that `spelling` names where facts describe, `lpanel:8` being short for
 * `lpanel:panel=8`; NULL if there is none. */
const family_t *batchlas_find_family(const operation_t *operation, const char *spelling,
                                     const device_facts_t *facts);

/* The can_run of a family that this build left out, and a launch nobody reaches. */
bool batchlas_not_in_this_build(const problem_t *problem, const device_facts_t *facts,
                                const char **reason);
bool batchlas_always_runs(const problem_t *problem, const device_facts_t *facts,
                          const char **reason);

/* The build-dependent columns can_run, buffer_size, launch of a candidate row. */
#if BATCHLAS_HAVE_GPU
#define IF_GPU(can_run, buffer_size, launch) can_run, buffer_size, launch
#else
#define IF_GPU(can_run, buffer_size, launch) batchlas_not_in_this_build, NULL, NULL
#endif
#if BATCHLAS_HAVE_VENDOR_CUDA
#define IF_CUDA_VENDOR(can_run, buffer_size, launch) can_run, buffer_size, launch
#else
#define IF_CUDA_VENDOR(can_run, buffer_size, launch) batchlas_not_in_this_build, NULL, NULL
#endif
#if BATCHLAS_HAVE_LAPACK
#define IF_LAPACK(can_run, buffer_size, launch) can_run, buffer_size, launch
#else
#define IF_LAPACK(can_run, buffer_size, launch) batchlas_not_in_this_build, NULL, NULL
#endif

#endif
