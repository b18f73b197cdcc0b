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
    {"fused",    ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_potrs_fused_can_run, NULL, batchlas_potrs_fused)},
    {"stream",   ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_potrs_stream_can_run, NULL, batchlas_potrs_stream)},
    {"tiny",     ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_potrs_tiny_can_run, NULL, batchlas_potrs_tiny)},
    {"tile",     ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_potrs_tile_can_run, NULL, batchlas_potrs_tile)},
    {"blocked",  ON_BOTH, NATIVE, ENQUEUES, false, batchlas_always_runs, batchlas_potrs_blocked_buffer_size, batchlas_potrs_blocked},
    {"vendor",   ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_potrs_cusolver_can_run, batchlas_potrs_cusolver_buffer_size, batchlas_potrs_cusolver)},
    {"vendor",   ON_HOST, VENDOR, ENQUEUES, false, IF_LAPACK(batchlas_always_runs, NULL, batchlas_potrs_lapack)},
};
/* clang-format on */

const operation_t batchlas_potrs_operation = {"potrs", "BATCHLAS_POTRS_ROUTE", key, families,
                                              sizeof families / sizeof *families};

/* The forward (0) or backward (1) solve: L, then L^H; or U^H, then U. */
static problem_t triangular_solve(const problem_t *p, int pass) {
    const bool transposed = (p->uplo == BATCHLAS_LOWER) == (pass == 1);
    return (problem_t){.type = p->type,
                       .side = BATCHLAS_LEFT,
                       .uplo = p->uplo,
                       .op_a = !transposed                  ? BATCHLAS_NO_TRANS
                               : scalar_is_complex(p->type) ? BATCHLAS_CONJ_TRANS
                                                            : BATCHLAS_TRANS,
                       .diag = BATCHLAS_NON_UNIT,
                       .m = p->n,
                       .n = p->nrhs,
                       .alpha = {1.0, 0.0},
                       .A = p->A,
                       .B = p->B,
                       .skip = p->skip,
                       .real_diagonal = true,
                       .batch = p->batch};
}

/* The two solves never run at once and so share one workspace. */
batchlas_status_t batchlas_potrs_blocked_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                     size_t *bytes) {
    *bytes = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const problem_t solve = triangular_solve(problem, pass);
        step_t step;
        size_t needed = 0;
        batchlas_status_t status =
            batchlas_step_choose(h, &batchlas_trsm_operation, &solve, ANY_FAMILY, &step);
        if (status == BATCHLAS_SUCCESS)
            status = batchlas_step_buffer_size(h, &step, &solve, &needed);
        if (status != BATCHLAS_SUCCESS)
            return status;
        *bytes = needed > *bytes ? needed : *bytes;
    }
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_potrs_blocked(batchlas_handle_t h, const problem_t *problem,
                                         void *workspace) {
    problem_t solves[2];
    step_t steps[2];
    batchlas_status_t status = BATCHLAS_SUCCESS;
    for (int pass = 0; pass < 2 && status == BATCHLAS_SUCCESS; ++pass) {
        solves[pass] = triangular_solve(problem, pass);
        status = batchlas_step_choose(h, &batchlas_trsm_operation, &solves[pass], ANY_FAMILY,
                                      &steps[pass]);
    }
    for (int pass = 0; pass < 2 && status == BATCHLAS_SUCCESS; ++pass)
        status = batchlas_step_launch(h, &steps[pass], &solves[pass], workspace);
    return status;
}

static check_t check(batchlas_handle_t h, const problem_t *p) {
    const bool used = p->n > 0 && p->nrhs > 0 && p->batch > 0;
    check_t c = batchlas_check_begin(h, "potrs", p->type);
    batchlas_check_enum(&c, "uplo", (int)p->uplo, 2);
    batchlas_check_not_negative(&c, "n", p->n);
    batchlas_check_not_negative(&c, "nrhs", p->nrhs);
    batchlas_check_operand(&c, 'A', &p->A, p->n, p->n, p->batch, READ, used);
    batchlas_check_operand(&c, 'B', &p->B, p->n, p->nrhs, p->batch, WRITTEN, used);
    batchlas_check_batch(&c, p->batch);
    return c;
}

static bool is_empty(const problem_t *p) {
    return p->n == 0 || p->nrhs == 0 || p->batch == 0;
}

static batchlas_status_t potrs(batchlas_handle_t h, problem_t p) {
    const check_t c = check(h, &p);
    if (c.status != BATCHLAS_SUCCESS || is_empty(&p))
        return c.status;
    return batchlas_run(h, &batchlas_potrs_operation, &p);
}

static batchlas_status_t potrs_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    check_t c = batchlas_check_begin(h, "potrs_buffer_size", p.type);
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
    if (is_empty(&p))
        return BATCHLAS_SUCCESS;
    p.A.ld = p.B.ld = p.n;
    return batchlas_run_buffer_size(h, &batchlas_potrs_operation, &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_uplo_t uplo, int n, int nrhs, operand_t A,
                         operand_t B, int64_t batch) {
    return (problem_t){.type = type,
                       .uplo = uplo,
                       .n = n,
                       .nrhs = nrhs,
                       .A = A,
                       .B = B,
                       .real_diagonal = true,
                       .batch = batch};
}

batchlas_status_t batchlas_spotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                  const float *A, int lda, int64_t stride_a, float *B, int ldb,
                                  int64_t stride_b, int64_t batch) {
    return potrs(h, problem(TYPE_S, uplo, n, nrhs, strided(A, lda, stride_a),
                            strided(B, ldb, stride_b), batch));
}

batchlas_status_t batchlas_dpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                  const double *A, int lda, int64_t stride_a, double *B, int ldb,
                                  int64_t stride_b, int64_t batch) {
    return potrs(h, problem(TYPE_D, uplo, n, nrhs, strided(A, lda, stride_a),
                            strided(B, ldb, stride_b), batch));
}

batchlas_status_t batchlas_cpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                  const batchlas_complex_float *A, int lda, int64_t stride_a,
                                  batchlas_complex_float *B, int ldb, int64_t stride_b,
                                  int64_t batch) {
    return potrs(h, problem(TYPE_C, uplo, n, nrhs, strided(A, lda, stride_a),
                            strided(B, ldb, stride_b), batch));
}

batchlas_status_t batchlas_zpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                  const batchlas_complex_double *A, int lda, int64_t stride_a,
                                  batchlas_complex_double *B, int ldb, int64_t stride_b,
                                  int64_t batch) {
    return potrs(h, problem(TYPE_Z, uplo, n, nrhs, strided(A, lda, stride_a),
                            strided(B, ldb, stride_b), batch));
}

batchlas_status_t batchlas_spotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                        const float *const *A, int lda, float *const *B, int ldb,
                                        int64_t batch) {
    return potrs(h, problem(TYPE_S, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), batch));
}

batchlas_status_t batchlas_dpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                        const double *const *A, int lda, double *const *B, int ldb,
                                        int64_t batch) {
    return potrs(h, problem(TYPE_D, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), batch));
}

batchlas_status_t batchlas_cpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                        const batchlas_complex_float *const *A, int lda,
                                        batchlas_complex_float *const *B, int ldb, int64_t batch) {
    return potrs(h, problem(TYPE_C, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), batch));
}

batchlas_status_t batchlas_zpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n, int nrhs,
                                        const batchlas_complex_double *const *A, int lda,
                                        batchlas_complex_double *const *B, int ldb, int64_t batch) {
    return potrs(h, problem(TYPE_Z, uplo, n, nrhs, pointers(A, lda), pointers(B, ldb), batch));
}

batchlas_status_t batchlas_spotrs_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, int64_t batch, size_t *bytes) {
    return potrs_buffer_size(h, problem(TYPE_S, uplo, n, nrhs, no_operand, no_operand, batch),
                             bytes);
}

batchlas_status_t batchlas_dpotrs_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, int64_t batch, size_t *bytes) {
    return potrs_buffer_size(h, problem(TYPE_D, uplo, n, nrhs, no_operand, no_operand, batch),
                             bytes);
}

batchlas_status_t batchlas_cpotrs_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, int64_t batch, size_t *bytes) {
    return potrs_buffer_size(h, problem(TYPE_C, uplo, n, nrhs, no_operand, no_operand, batch),
                             bytes);
}

batchlas_status_t batchlas_zpotrs_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, int64_t batch, size_t *bytes) {
    return potrs_buffer_size(h, problem(TYPE_Z, uplo, n, nrhs, no_operand, no_operand, batch),
                             bytes);
}
