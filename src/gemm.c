/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "families.h"
#include "operand.h"
#include "run.h"

#include <math.h>

/* Keyed by the order of the square that has C's area, and by k in the place of nrhs. */
static route_key_t key(const problem_t *problem) {
    return (route_key_t){.type = scalar_letter(problem->type),
                         .uplo = '-',
                         .form = {"NTC"[problem->op_a], "NTC"[problem->op_b]},
                         .n = llround(sqrt((double)problem->m * problem->n)),
                         .nrhs = problem->k,
                         .batch = problem->batch};
}

/* clang-format off */
static const family_t families[] = {
    /* spelling  place    origin  manner    leaf   can_run, buffer_size, launch */
    {"register", ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_gemm_register_can_run, NULL, batchlas_gemm_register)},
    {"tiled",    ON_BOTH, NATIVE, BLOCKS,   false, batchlas_always_runs, NULL, batchlas_gemm_tiled},
    {"vendor",   ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_gemm_cublas_can_run, batchlas_gemm_cublas_buffer_size, batchlas_gemm_cublas)},
    {"vendor",   ON_HOST, VENDOR, ENQUEUES, false, IF_LAPACK(batchlas_always_runs, NULL, batchlas_gemm_cblas)},
};
/* clang-format on */

const operation_t batchlas_gemm_operation = {"gemm", "BATCHLAS_GEMM_ROUTE", key, families,
                                             sizeof families / sizeof *families};

static bool is_empty(const problem_t *p) {
    return p->m == 0 || p->n == 0 || p->batch <= 0;
}

static void check_shape(check_t *c, const problem_t *p) {
    batchlas_check_enum(c, "opa", (int)p->op_a, 3);
    batchlas_check_enum(c, "opb", (int)p->op_b, 3);
    batchlas_check_not_negative(c, "m", p->m);
    batchlas_check_not_negative(c, "n", p->n);
    batchlas_check_not_negative(c, "k", p->k);
}

static batchlas_status_t gemm(batchlas_handle_t h, problem_t p, const void *alpha,
                              const void *beta) {
    const bool used = !is_empty(&p);
    const bool a_plain = p.op_a == BATCHLAS_NO_TRANS;
    const bool b_plain = p.op_b == BATCHLAS_NO_TRANS;
    check_t c = batchlas_check_begin(h, "gemm", p.type);
    check_shape(&c, &p);
    batchlas_check_scalar(&c, "alpha", alpha, p.alpha);
    const bool multiplies = used && p.k > 0 && (p.alpha[0] != 0.0 || p.alpha[1] != 0.0);
    batchlas_check_operand(&c, 'A', &p.A, a_plain ? p.m : p.k, a_plain ? p.k : p.m, p.batch, READ,
                           multiplies);
    batchlas_check_operand(&c, 'B', &p.B, b_plain ? p.k : p.n, b_plain ? p.n : p.k, p.batch, READ,
                           multiplies);
    batchlas_check_scalar(&c, "beta", beta, p.beta);
    batchlas_check_operand(&c, 'C', &p.C, p.m, p.n, p.batch, WRITTEN, used);
    batchlas_check_batch(&c, p.batch);
    if (c.status != BATCHLAS_SUCCESS || is_empty(&p))
        return c.status;
    if (!multiplies) {
        place_unread(&p.A, &p.C);
        place_unread(&p.B, &p.C);
    }
    return batchlas_run(h, &batchlas_gemm_operation, &p);
}

static batchlas_status_t gemm_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    check_t c = batchlas_check_begin(h, "gemm_buffer_size", p.type);
    check_shape(&c, &p);
    batchlas_check_extent(&c, "k", p.k, p.m);
    batchlas_check_extent(&c, "k", p.k, p.n);
    batchlas_check_extent(&c, "n", p.n, p.m);
    batchlas_check_batch(&c, p.batch);
    batchlas_check_result(&c, "bytes", bytes);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    *bytes = 0;
    if (is_empty(&p))
        return BATCHLAS_SUCCESS;
    p.alpha[0] = p.beta[0] = 1.0;
    return batchlas_run_buffer_size(h, &batchlas_gemm_operation, &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_op_t op_a, batchlas_op_t op_b, int m, int n,
                         int k, operand_t A, operand_t B, operand_t C, int64_t batch) {
    return (problem_t){.type = type,
                       .op_a = op_a,
                       .op_b = op_b,
                       .m = m,
                       .n = n,
                       .k = k,
                       .A = A,
                       .B = B,
                       .C = C,
                       .batch = batch};
}

batchlas_status_t batchlas_sgemm(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m,
                                 int n, int k, float alpha, const float *A, int lda,
                                 int64_t stride_a, const float *B, int ldb, int64_t stride_b,
                                 float beta, float *C, int ldc, int64_t stride_c, int64_t batch) {
    return gemm(h,
                problem(TYPE_S, opa, opb, m, n, k, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), strided(C, ldc, stride_c), batch),
                &alpha, &beta);
}

batchlas_status_t batchlas_dgemm(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m,
                                 int n, int k, double alpha, const double *A, int lda,
                                 int64_t stride_a, const double *B, int ldb, int64_t stride_b,
                                 double beta, double *C, int ldc, int64_t stride_c, int64_t batch) {
    return gemm(h,
                problem(TYPE_D, opa, opb, m, n, k, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), strided(C, ldc, stride_c), batch),
                &alpha, &beta);
}

batchlas_status_t batchlas_cgemm(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m,
                                 int n, int k, const batchlas_complex_float *alpha,
                                 const batchlas_complex_float *A, int lda, int64_t stride_a,
                                 const batchlas_complex_float *B, int ldb, int64_t stride_b,
                                 const batchlas_complex_float *beta, batchlas_complex_float *C,
                                 int ldc, int64_t stride_c, int64_t batch) {
    return gemm(h,
                problem(TYPE_C, opa, opb, m, n, k, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), strided(C, ldc, stride_c), batch),
                alpha, beta);
}

batchlas_status_t batchlas_zgemm(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m,
                                 int n, int k, const batchlas_complex_double *alpha,
                                 const batchlas_complex_double *A, int lda, int64_t stride_a,
                                 const batchlas_complex_double *B, int ldb, int64_t stride_b,
                                 const batchlas_complex_double *beta, batchlas_complex_double *C,
                                 int ldc, int64_t stride_c, int64_t batch) {
    return gemm(h,
                problem(TYPE_Z, opa, opb, m, n, k, strided(A, lda, stride_a),
                        strided(B, ldb, stride_b), strided(C, ldc, stride_c), batch),
                alpha, beta);
}

batchlas_status_t batchlas_sgemm_array(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb,
                                       int m, int n, int k, float alpha, const float *const *A,
                                       int lda, const float *const *B, int ldb, float beta,
                                       float *const *C, int ldc, int64_t batch) {
    return gemm(h,
                problem(TYPE_S, opa, opb, m, n, k, pointers(A, lda), pointers(B, ldb),
                        pointers(C, ldc), batch),
                &alpha, &beta);
}

batchlas_status_t batchlas_dgemm_array(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb,
                                       int m, int n, int k, double alpha, const double *const *A,
                                       int lda, const double *const *B, int ldb, double beta,
                                       double *const *C, int ldc, int64_t batch) {
    return gemm(h,
                problem(TYPE_D, opa, opb, m, n, k, pointers(A, lda), pointers(B, ldb),
                        pointers(C, ldc), batch),
                &alpha, &beta);
}

batchlas_status_t batchlas_cgemm_array(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb,
                                       int m, int n, int k, const batchlas_complex_float *alpha,
                                       const batchlas_complex_float *const *A, int lda,
                                       const batchlas_complex_float *const *B, int ldb,
                                       const batchlas_complex_float *beta,
                                       batchlas_complex_float *const *C, int ldc, int64_t batch) {
    return gemm(h,
                problem(TYPE_C, opa, opb, m, n, k, pointers(A, lda), pointers(B, ldb),
                        pointers(C, ldc), batch),
                alpha, beta);
}

batchlas_status_t batchlas_zgemm_array(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb,
                                       int m, int n, int k, const batchlas_complex_double *alpha,
                                       const batchlas_complex_double *const *A, int lda,
                                       const batchlas_complex_double *const *B, int ldb,
                                       const batchlas_complex_double *beta,
                                       batchlas_complex_double *const *C, int ldc, int64_t batch) {
    return gemm(h,
                problem(TYPE_Z, opa, opb, m, n, k, pointers(A, lda), pointers(B, ldb),
                        pointers(C, ldc), batch),
                alpha, beta);
}

batchlas_status_t batchlas_sgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                             batchlas_op_t opb, int m, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return gemm_buffer_size(
        h, problem(TYPE_S, opa, opb, m, n, k, no_operand, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_dgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                             batchlas_op_t opb, int m, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return gemm_buffer_size(
        h, problem(TYPE_D, opa, opb, m, n, k, no_operand, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_cgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                             batchlas_op_t opb, int m, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return gemm_buffer_size(
        h, problem(TYPE_C, opa, opb, m, n, k, no_operand, no_operand, no_operand, batch), bytes);
}

batchlas_status_t batchlas_zgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                             batchlas_op_t opb, int m, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return gemm_buffer_size(
        h, problem(TYPE_Z, opa, opb, m, n, k, no_operand, no_operand, no_operand, batch), bytes);
}
