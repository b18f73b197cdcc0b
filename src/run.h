/* SPDX-License-Identifier: BSD-3-Clause */
/* The one way of a call behind the argument checks: choose, workspace, launch, complete. */
#ifndef BATCHLAS_RUN_H
#define BATCHLAS_RUN_H

#include "handle.h"

extern const operation_t batchlas_potrf_operation;
extern const operation_t batchlas_potrs_operation;
extern const operation_t batchlas_posv_operation;
extern const operation_t batchlas_trsm_operation;
extern const operation_t batchlas_gemm_operation;
extern const operation_t batchlas_syrk_operation; /* herk too */
extern const operation_t batchlas_potrf_logdet_operation;

/* Runs a checked, non-empty problem to completion, or enqueues it in nowait mode. */
batchlas_status_t batchlas_run(batchlas_handle_t h, const operation_t *operation,
                               const problem_t *problem);
/* The bytes that batchlas_run would need now. */
batchlas_status_t batchlas_run_buffer_size(batchlas_handle_t h, const operation_t *operation,
                                           const problem_t *problem, size_t *bytes);

/* For families composed of other operations: a step is chosen once, measured, then launched as
 * often as needed on problems of its kind. A step never waits for its own completion. */
typedef struct {
    const operation_t *operation;
    const family_t *family;
} step_t;

typedef enum { ANY_FAMILY, LEAF_FAMILY } step_kind_t;

batchlas_status_t batchlas_step_choose(batchlas_handle_t h, const operation_t *operation,
                                       const problem_t *problem, step_kind_t kind, step_t *step);
batchlas_status_t batchlas_step_buffer_size(batchlas_handle_t h, const step_t *step,
                                            const problem_t *problem, size_t *bytes);
batchlas_status_t batchlas_step_launch(batchlas_handle_t h, const step_t *step,
                                       const problem_t *problem, void *workspace);

/* Zeroes info, for the quick return of an empty problem. */
batchlas_status_t batchlas_run_empty(batchlas_handle_t h, int *info, int64_t batch);

/* Completes what was enqueued: spins for a while, then sleeps. */
batchlas_status_t batchlas_complete(batchlas_handle_t h);

#endif
