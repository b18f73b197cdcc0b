/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "families.h"
#include "operand.h"
#include "run.h"

/* syrk for the real types, herk for the complex ones: one operation, with k in the place of nrhs.
 */
static route_key_t key(const problem_t *problem) {
    return (route_key_t){.type = scalar_letter(problem->type),
                         .uplo = problem->uplo == BATCHLAS_LOWER ? 'l' : 'u',
                         .form = {"NTC"[problem->op_a]},
                         .n = problem->n,
                         .nrhs = problem->k,
                         .batch = problem->batch};
}

/* clang-format off */
static const family_t families[] = {
    /* spelling  place    origin  manner    leaf   can_run, buffer_size, launch */
    {"register", ON_GPU,  NATIVE, ENQUEUES, false, IF_GPU(batchlas_syrk_register_can_run, NULL, batchlas_syrk_register)},
    {"tiled",    ON_BOTH, NATIVE, BLOCKS,   false, batchlas_always_runs, NULL, batchlas_syrk_tiled},
    {"vendor",   ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_syrk_cublas_can_run, batchlas_syrk_cublas_buffer_size, batchlas_syrk_cublas)},
    {"vendor",   ON_HOST, VENDOR, ENQUEUES, false, IF_LAPACK(batchlas_always_runs, NULL, batchlas_syrk_cblas)},
};
/* clang-format on */

const operation_t batchlas_syrk_operation = {"syrk", "BATCHLAS_SYRK_ROUTE", key, families,
                                             sizeof families / sizeof *families};

static bool is_empty(const problem_t *p) {
    return p->n == 0 || p->batch <= 0;
}

static void check_shape(check_t *c, const problem_t *p) {
    batchlas_check_enum(c, "uplo", (int)p->uplo, 2);
    if (scalar_is_complex(p->type) && p->op_a == BATCHLAS_TRANS)
        batchlas_check_reject(c, "trans",
                              "1 (BATCHLAS_TRANS), expected BATCHLAS_NO_TRANS or "
                              "BATCHLAS_CONJ_TRANS");
    batchlas_check_enum(c, "trans", (int)p->op_a, 3);
    batchlas_check_not_negative(c, "n", p->n);
    batchlas_check_not_negative(c, "k", p->k);
}

static batchlas_status_t syrk(batchlas_handle_t h, problem_t p) {
    const bool plain = p.op_a == BATCHLAS_NO_TRANS;
    const bool used = !is_empty(&p);
    check_t c = batchlas_check_begin(h, scalar_is_complex(p.type) ? "herk" : "syrk", p.type);
    check_shape(&c, &p);
    const bool multiplies = used && p.k > 0 && p.alpha[0] != 0.0;
    batchlas_check_operand(&c, 'A', &p.A, plain ? p.n : p.k, plain ? p.k : p.n, p.batch, READ,
                           multiplies);
    batchlas_check_operand(&c, 'C', &p.C, p.n, p.n, p.batch, WRITTEN, used);
    batchlas_check_batch(&c, p.batch);
    if (c.status != BATCHLAS_SUCCESS || is_empty(&p))
        return c.status;
    if (!multiplies)
        place_unread(&p.A, &p.C);
    return batchlas_run(h, &batchlas_syrk_operation, &p);
}

static batchlas_status_t syrk_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    const bool complex_type = scalar_is_complex(p.type);
    check_t c =
        batchlas_check_begin(h, complex_type ? "herk_buffer_size" : "syrk_buffer_size", p.type);
    check_shape(&c, &p);
    batchlas_check_extent(&c, "k", p.k, p.n);
    batchlas_check_extent(&c, "n", p.n, p.n);
    batchlas_check_batch(&c, p.batch);
    batchlas_check_result(&c, "bytes", bytes);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    *bytes = 0;
    if (is_empty(&p))
        return BATCHLAS_SUCCESS;
    return batchlas_run_buffer_size(h, &batchlas_syrk_operation, &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_uplo_t uplo, batchlas_op_t op_a, int n, int k,
                         double alpha, operand_t A, double beta, operand_t C, int64_t batch) {
    return (problem_t){.type = type,
                       .uplo = uplo,
                       .op_a = op_a,
                       .n = n,
                       .k = k,
                       .alpha = {alpha, 0.0},
                       .A = A,
                       .beta = {beta, 0.0},
                       .C = C,
                       .batch = batch};
}

batchlas_status_t batchlas_ssyrk(batchlas_handle_t h, batchlas_uplo_t uplo, batchlas_op_t trans,
                                 int n, int k, float alpha, const float *A, int lda,
                                 int64_t stride_a, float beta, float *C, int ldc, int64_t stride_c,
                                 int64_t batch) {
    return syrk(h, problem(TYPE_S, uplo, trans, n, k, alpha, strided(A, lda, stride_a), beta,
                           strided(C, ldc, stride_c), batch));
}

batchlas_status_t batchlas_dsyrk(batchlas_handle_t h, batchlas_uplo_t uplo, batchlas_op_t trans,
                                 int n, int k, double alpha, const double *A, int lda,
                                 int64_t stride_a, double beta, double *C, int ldc,
                                 int64_t stride_c, int64_t batch) {
    return syrk(h, problem(TYPE_D, uplo, trans, n, k, alpha, strided(A, lda, stride_a), beta,
                           strided(C, ldc, stride_c), batch));
}

batchlas_status_t batchlas_cherk(batchlas_handle_t h, batchlas_uplo_t uplo, batchlas_op_t trans,
                                 int n, int k, float alpha, const batchlas_complex_float *A,
                                 int lda, int64_t stride_a, float beta, batchlas_complex_float *C,
                                 int ldc, int64_t stride_c, int64_t batch) {
    return syrk(h, problem(TYPE_C, uplo, trans, n, k, alpha, strided(A, lda, stride_a), beta,
                           strided(C, ldc, stride_c), batch));
}

batchlas_status_t batchlas_zherk(batchlas_handle_t h, batchlas_uplo_t uplo, batchlas_op_t trans,
                                 int n, int k, double alpha, const batchlas_complex_double *A,
                                 int lda, int64_t stride_a, double beta, batchlas_complex_double *C,
                                 int ldc, int64_t stride_c, int64_t batch) {
    return syrk(h, problem(TYPE_Z, uplo, trans, n, k, alpha, strided(A, lda, stride_a), beta,
                           strided(C, ldc, stride_c), batch));
}

batchlas_status_t batchlas_ssyrk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                             batchlas_op_t trans, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return syrk_buffer_size(
        h, problem(TYPE_S, uplo, trans, n, k, 1.0, no_operand, 1.0, no_operand, batch), bytes);
}

batchlas_status_t batchlas_dsyrk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                             batchlas_op_t trans, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return syrk_buffer_size(
        h, problem(TYPE_D, uplo, trans, n, k, 1.0, no_operand, 1.0, no_operand, batch), bytes);
}

batchlas_status_t batchlas_cherk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                             batchlas_op_t trans, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return syrk_buffer_size(
        h, problem(TYPE_C, uplo, trans, n, k, 1.0, no_operand, 1.0, no_operand, batch), bytes);
}

batchlas_status_t batchlas_zherk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                             batchlas_op_t trans, int n, int k, int64_t batch,
                                             size_t *bytes) {
    return syrk_buffer_size(
        h, problem(TYPE_Z, uplo, trans, n, k, 1.0, no_operand, 1.0, no_operand, batch), bytes);
}
