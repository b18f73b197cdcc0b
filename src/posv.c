/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "families.h"
#include "operand.h"
#include "run.h"

static route_key_t key(const problem_t *problem) {
    return (route_key_t){.type = scalar_letter(problem->type),
                         .uplo = problem->uplo == BATCHLAS_LOWER ? 'l' : 'u',
                         .form = "-",
                         .n = problem->n,
                         .nrhs = problem->nrhs,
                         .batch = problem->batch};
}

/* clang-format off */
static const family_t families[] = {
    /* spelling  place    origin  manner    leaf   can_run, buffer_size, launch */
    {"tiny",     ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_posv_tiny_cuda_can_run, NULL, batchlas_posv_tiny_cuda)},
    {"rolled",   ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_posv_rolled_cuda_can_run, NULL, batchlas_posv_rolled_cuda)},
    {"blocked",  ON_BOTH, NATIVE, ENQUEUES, false, batchlas_always_runs, batchlas_posv_blocked_buffer_size, batchlas_posv_blocked},
};
/* clang-format on */

const operation_t batchlas_posv_operation = {"posv", "BATCHLAS_POSV_ROUTE", key, families,
                                             sizeof families / sizeof *families};

/* posv `blocked`: potrf, then potrs on the items that it left with info 0. */
typedef struct {
    problem_t factor, solve;
    step_t factor_step, solve_step;
    void *child_workspace; /* of whichever step runs */
    size_t bytes;
} plan_t;

static batchlas_status_t make_plan(batchlas_handle_t h, const problem_t *problem, void *workspace,
                                   plan_t *plan) {
    arena_t arena = {.base = workspace};
    plan->factor = *problem;
    plan->factor.nrhs = 0;
    if (!problem->info)
        plan->factor.info = arena_take(&arena, problem->batch, sizeof(int));
    plan->solve = *problem;
    plan->solve.info = NULL;
    /* Measuring, there is no info yet; any pointer makes the child choose as it will with one. */
    plan->solve.skip = plan->factor.info ? plan->factor.info : &problem->info_base;

    size_t factor_bytes = 0;
    size_t solve_bytes = 0;
    batchlas_status_t status = batchlas_step_choose(h, &batchlas_potrf_operation, &plan->factor,
                                                    ANY_FAMILY, &plan->factor_step);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_choose(h, &batchlas_potrs_operation, &plan->solve, ANY_FAMILY,
                                      &plan->solve_step);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_buffer_size(h, &plan->factor_step, &plan->factor, &factor_bytes);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_buffer_size(h, &plan->solve_step, &plan->solve, &solve_bytes);
    plan->child_workspace =
        arena_take(&arena, 1, factor_bytes > solve_bytes ? factor_bytes : solve_bytes);
    plan->bytes = arena.used;
    return status;
}

batchlas_status_t batchlas_posv_blocked_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                    size_t *bytes) {
    plan_t plan;
    const batchlas_status_t status = make_plan(h, problem, NULL, &plan);
    *bytes = plan.bytes;
    return status;
}

batchlas_status_t batchlas_posv_blocked(batchlas_handle_t h, const problem_t *problem,
                                        void *workspace) {
    plan_t plan;
    batchlas_status_t status = make_plan(h, problem, workspace, &plan);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_launch(h, &plan.factor_step, &plan.factor, plan.child_workspace);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_launch(h, &plan.solve_step, &plan.solve, plan.child_workspace);
    return status;
}

static check_t check(batchlas_handle_t h, const problem_t *p) {
    const bool factors = p->n > 0 && p->batch > 0;
    check_t c = batchlas_check_begin(h, "posv", p->type);
    batchlas_check_enum(&c, "uplo", (int)p->uplo, 2);
    batchlas_check_not_negative(&c, "n", p->n);
    batchlas_check_not_negative(&c, "nrhs", p->nrhs);
    batchlas_check_operand(&c, 'A', &p->A, p->n, p->n, p->batch, WRITTEN, factors);
    batchlas_check_operand(&c, 'B', &p->B, p->n, p->nrhs, p->batch, WRITTEN,
                           factors && p->nrhs > 0);
    batchlas_check_pointer(&c, "info", p->info, sizeof *p->info, true);
    batchlas_check_batch(&c, p->batch);
    return c;
}

/* Without right-hand sides posv is potrf. */
static const operation_t *operation_for(const problem_t *p) {
    return p->nrhs == 0 ? &batchlas_potrf_operation : &batchlas_posv_operation;
}

static batchlas_status_t posv(batchlas_handle_t h, problem_t p) {
    const check_t c = check(h, &p);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    if (p.n == 0 || p.batch == 0)
        return batchlas_run_empty(h, p.info, p.batch);
    return batchlas_run(h, operation_for(&p), &p);
}

static batchlas_status_t posv_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    check_t c = batchlas_check_begin(h, "posv_buffer_size", p.type);
    batchlas_check_enum(&c, "uplo", (int)p.uplo, 2);
    batchlas_check_not_negative(&c, "n", p.n);
    batchlas_check_not_negative(&c, "nrhs", p.nrhs);
    batchlas_check_extent(&c, "n", p.n, p.n);
    batchlas_check_extent(&c, "nrhs", p.nrhs, p.n);
    batchlas_check_batch(&c, p.batch);
    batchlas_check_result(&c, "bytes", bytes);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    *bytes = 0;
    if (p.n == 0 || p.batch == 0)
        return BATCHLAS_SUCCESS;
    p.A.ld = p.B.ld = p.n;
    return batchlas_run_buffer_size(h, operation_for(&p), &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_uplo_t uplo, int n, int nrhs, operand_t A,
                         operand_t B, int *info, int64_t batch) {
    return (problem_t){.type = type,
                       .uplo = uplo,
                       .n = n,
                       .nrhs = nrhs,
                       .A = A,
                       .B = B,
                       .info = info,
                       .batch = batch};
}

batchlas_status_t batchlas_sposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                 float *A, int lda, int64_t stride_a, float *B, int ldb,
                                 int64_t stride_b, int *info, int64_t batch) {
    return posv(h, problem(TYPE_S, uplo, n, nrhs, strided(A, lda, stride_a),
                           strided(B, ldb, stride_b), info, batch));
}

batchlas_status_t batchlas_dposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                 double *A, int lda, int64_t stride_a, double *B, int ldb,
                                 int64_t stride_b, int *info, int64_t batch) {
    return posv(h, problem(TYPE_D, uplo, n, nrhs, strided(A, lda, stride_a),
                           strided(B, ldb, stride_b), info, batch));
}

batchlas_status_t batchlas_cposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                 batchlas_complex_float *A, int lda, int64_t stride_a,
                                 batchlas_complex_float *B, int ldb, int64_t stride_b, int *info,
                                 int64_t batch) {
    return posv(h, problem(TYPE_C, uplo, n, nrhs, strided(A, lda, stride_a),
                           strided(B, ldb, stride_b), info, batch));
}

batchlas_status_t batchlas_zposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                 batchlas_complex_double *A, int lda, int64_t stride_a,
                                 batchlas_complex_double *B, int ldb, int64_t stride_b, int *info,
                                 int64_t batch) {
    return posv(h, problem(TYPE_Z, uplo, n, nrhs, strided(A, lda, stride_a),
                           strided(B, ldb, stride_b), info, batch));
}

batchlas_status_t batchlas_sposv_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                       float *const *A, int lda, float *const *B, int ldb,
                                       int *info, int64_t batch) {
    return posv(h, problem(TYPE_S, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), info, batch));
}

batchlas_status_t batchlas_dposv_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                       double *const *A, int lda, double *const *B, int ldb,
                                       int *info, int64_t batch) {
    return posv(h, problem(TYPE_D, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), info, batch));
}

batchlas_status_t batchlas_cposv_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                       batchlas_complex_float *const *A, int lda,
                                       batchlas_complex_float *const *B, int ldb, int *info,
                                       int64_t batch) {
    return posv(h, problem(TYPE_C, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), info, batch));
}

batchlas_status_t batchlas_zposv_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                       batchlas_complex_double *const *A, int lda,
                                       batchlas_complex_double *const *B, int ldb, int *info,
                                       int64_t batch) {
    return posv(h, problem(TYPE_Z, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), info, batch));
}

batchlas_status_t batchlas_sposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                             int nrhs, int64_t batch, size_t *bytes) {
    return posv_buffer_size(h, problem(TYPE_S, uplo, n, nrhs, no_operand, no_operand, NULL, batch),
                            bytes);
}

batchlas_status_t batchlas_dposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                             int nrhs, int64_t batch, size_t *bytes) {
    return posv_buffer_size(h, problem(TYPE_D, uplo, n, nrhs, no_operand, no_operand, NULL, batch),
                            bytes);
}

batchlas_status_t batchlas_cposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                             int nrhs, int64_t batch, size_t *bytes) {
    return posv_buffer_size(h, problem(TYPE_C, uplo, n, nrhs, no_operand, no_operand, NULL, batch),
                            bytes);
}

batchlas_status_t batchlas_zposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                             int nrhs, int64_t batch, size_t *bytes) {
    return posv_buffer_size(h, problem(TYPE_Z, uplo, n, nrhs, no_operand, no_operand, NULL, batch),
                            bytes);
}
