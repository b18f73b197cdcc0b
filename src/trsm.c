/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "families.h"
#include "operand.h"
#include "run.h"

/* The order of the triangle; the other extent of B counts as the right-hand sides. */
static int order(const problem_t *p) {
    return p->side == BATCHLAS_LEFT ? p->m : p->n;
}

static route_key_t key(const problem_t *problem) {
    const bool left = problem->side == BATCHLAS_LEFT;
    return (route_key_t){.type = scalar_letter(problem->type),
                         .uplo = problem->uplo == BATCHLAS_LOWER ? 'l' : 'u',
                         .form = {left ? 'L' : 'R', "NTC"[problem->op_a]},
                         .n = order(problem),
                         .nrhs = left ? problem->n : problem->m,
                         .batch = problem->batch};
}

/* clang-format off */
static const family_t families[] = {
    /* spelling  place    origin  manner    leaf   can_run, buffer_size, launch */
    {"strips",   ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_trsm_strips_can_run, NULL, batchlas_trsm_strips)},
    {"tile",     ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_trsm_tile_can_run, NULL, batchlas_trsm_tile)},
    {"tiled",    ON_BOTH, NATIVE, BLOCKS,   false, batchlas_always_runs, NULL, batchlas_trsm_tiled},
    {"vendor",   ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_trsm_cublas_can_run, batchlas_trsm_cublas_buffer_size, batchlas_trsm_cublas)},
    {"vendor",   ON_HOST, VENDOR, ENQUEUES, false, IF_LAPACK(batchlas_always_runs, NULL, batchlas_trsm_cblas)},
};
/* clang-format on */

const operation_t batchlas_trsm_operation = {"trsm", "BATCHLAS_TRSM_ROUTE", key, families,
                                             sizeof families / sizeof *families};

static bool is_empty(const problem_t *p) {
    return p->m == 0 || p->n == 0 || p->batch <= 0;
}

static void check_shape(check_t *c, const problem_t *p) {
    batchlas_check_enum(c, "side", (int)p->side, 2);
    batchlas_check_enum(c, "uplo", (int)p->uplo, 2);
    batchlas_check_enum(c, "trans", (int)p->op_a, 3);
    batchlas_check_enum(c, "diag", (int)p->diag, 2);
    batchlas_check_not_negative(c, "m", p->m);
    batchlas_check_not_negative(c, "n", p->n);
}

static batchlas_status_t trsm(batchlas_handle_t h, problem_t p, const void *alpha) {
    const bool used = !is_empty(&p);
    check_t c = batchlas_check_begin(h, "trsm", p.type);
    check_shape(&c, &p);
    batchlas_check_scalar(&c, "alpha", alpha, p.alpha);
    const bool solves = used && (p.alpha[0] != 0.0 || p.alpha[1] != 0.0);
    batchlas_check_operand(&c, 'A', &p.A, order(&p), order(&p), p.batch, READ, solves);
    batchlas_check_operand(&c, 'B', &p.B, p.m, p.n, p.batch, WRITTEN, used);
    batchlas_check_batch(&c, p.batch);
    if (c.status != BATCHLAS_SUCCESS || is_empty(&p))
        return c.status;
    if (!solves)
        place_unread(&p.A, &p.B);
    return batchlas_run(h, &batchlas_trsm_operation, &p);
}

static batchlas_status_t trsm_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    check_t c = batchlas_check_begin(h, "trsm_buffer_size", p.type);
    check_shape(&c, &p);
    batchlas_check_extent(&c, p.side == BATCHLAS_LEFT ? "m" : "n", order(&p), order(&p));
    batchlas_check_extent(&c, "n", p.n, p.m);
    batchlas_check_batch(&c, p.batch);
    batchlas_check_result(&c, "bytes", bytes);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    *bytes = 0;
    if (is_empty(&p))
        return BATCHLAS_SUCCESS;
    p.A.ld = order(&p);
    p.B.ld = p.m;
    p.alpha[0] = 1.0;
    return batchlas_run_buffer_size(h, &batchlas_trsm_operation, &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_side_t side, batchlas_uplo_t uplo,
                         batchlas_op_t op_a, batchlas_diag_t diag, int m, int n, operand_t A,
                         operand_t B, int64_t batch) {
    return (problem_t){.type = type,
                       .side = side,
                       .uplo = uplo,
                       .op_a = op_a,
                       .diag = diag,
                       .m = m,
                       .n = n,
                       .A = A,
                       .B = B,
                       .batch = batch};
}

batchlas_status_t batchlas_strsm(batchlas_handle_t h, batchlas_side_t side, batchlas_uplo_t uplo,
                                 batchlas_op_t trans, batchlas_diag_t diag, int m, int n,
                                 float alpha, const float *A, int lda, int64_t stride_a, float *B,
                                 int ldb, int64_t stride_b, int64_t batch) {
    return trsm(h,
                problem(TYPE_S, side, uplo, trans, diag, m, n, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), batch),
                &alpha);
}

batchlas_status_t batchlas_dtrsm(batchlas_handle_t h, batchlas_side_t side, batchlas_uplo_t uplo,
                                 batchlas_op_t trans, batchlas_diag_t diag, int m, int n,
                                 double alpha, const double *A, int lda, int64_t stride_a,
                                 double *B, int ldb, int64_t stride_b, int64_t batch) {
    return trsm(h,
                problem(TYPE_D, side, uplo, trans, diag, m, n, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), batch),
                &alpha);
}

batchlas_status_t batchlas_ctrsm(batchlas_handle_t h, batchlas_side_t side, batchlas_uplo_t uplo,
                                 batchlas_op_t trans, batchlas_diag_t diag, int m, int n,
                                 const batchlas_complex_float *alpha,
                                 const batchlas_complex_float *A, int lda, int64_t stride_a,
                                 batchlas_complex_float *B, int ldb, int64_t stride_b,
                                 int64_t batch) {
    return trsm(h,
                problem(TYPE_C, side, uplo, trans, diag, m, n, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), batch),
                alpha);
}

batchlas_status_t batchlas_ztrsm(batchlas_handle_t h, batchlas_side_t side, batchlas_uplo_t uplo,
                                 batchlas_op_t trans, batchlas_diag_t diag, int m, int n,
                                 const batchlas_complex_double *alpha,
                                 const batchlas_complex_double *A, int lda, int64_t stride_a,
                                 batchlas_complex_double *B, int ldb, int64_t stride_b,
                                 int64_t batch) {
    return trsm(h,
                problem(TYPE_Z, side, uplo, trans, diag, m, n, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), batch),
                alpha);
}

batchlas_status_t batchlas_strsm_array(batchlas_handle_t h, batchlas_side_t side,
                                       batchlas_uplo_t uplo, batchlas_op_t trans,
                                       batchlas_diag_t diag, int m, int n, float alpha,
                                       const float *const *A, int lda, float *const *B, int ldb,
                                       int64_t batch) {
    return trsm(
        h,
        problem(TYPE_S, side, uplo, trans, diag, m, n, pointers(A, lda), pointers(B, ldb), batch),
        &alpha);
}

batchlas_status_t batchlas_dtrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                       batchlas_uplo_t uplo, batchlas_op_t trans,
                                       batchlas_diag_t diag, int m, int n, double alpha,
                                       const double *const *A, int lda, double *const *B, int ldb,
                                       int64_t batch) {
    return trsm(
        h,
        problem(TYPE_D, side, uplo, trans, diag, m, n, pointers(A, lda), pointers(B, ldb), batch),
        &alpha);
}

batchlas_status_t batchlas_ctrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                       batchlas_uplo_t uplo, batchlas_op_t trans,
                                       batchlas_diag_t diag, int m, int n,
                                       const batchlas_complex_float *alpha,
                                       const batchlas_complex_float *const *A, int lda,
                                       batchlas_complex_float *const *B, int ldb, int64_t batch) {
    return trsm(
        h,
        problem(TYPE_C, side, uplo, trans, diag, m, n, pointers(A, lda), pointers(B, ldb), batch),
        alpha);
}

batchlas_status_t batchlas_ztrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                       batchlas_uplo_t uplo, batchlas_op_t trans,
                                       batchlas_diag_t diag, int m, int n,
                                       const batchlas_complex_double *alpha,
                                       const batchlas_complex_double *const *A, int lda,
                                       batchlas_complex_double *const *B, int ldb, int64_t batch) {
    return trsm(
        h,
        problem(TYPE_Z, side, uplo, trans, diag, m, n, pointers(A, lda), pointers(B, ldb), batch),
        alpha);
}

batchlas_status_t batchlas_strsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                             batchlas_uplo_t uplo, batchlas_op_t trans,
                                             batchlas_diag_t diag, int m, int n, int64_t batch,
                                             size_t *bytes) {
    return trsm_buffer_size(
        h, problem(TYPE_S, side, uplo, trans, diag, m, n, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_dtrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                             batchlas_uplo_t uplo, batchlas_op_t trans,
                                             batchlas_diag_t diag, int m, int n, int64_t batch,
                                             size_t *bytes) {
    return trsm_buffer_size(
        h, problem(TYPE_D, side, uplo, trans, diag, m, n, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_ctrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                             batchlas_uplo_t uplo, batchlas_op_t trans,
                                             batchlas_diag_t diag, int m, int n, int64_t batch,
                                             size_t *bytes) {
    return trsm_buffer_size(
        h, problem(TYPE_C, side, uplo, trans, diag, m, n, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_ztrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                             batchlas_uplo_t uplo, batchlas_op_t trans,
                                             batchlas_diag_t diag, int m, int n, int64_t batch,
                                             size_t *bytes) {
    return trsm_buffer_size(
        h, problem(TYPE_Z, side, uplo, trans, diag, m, n, no_operand, no_operand, batch), bytes);
}
