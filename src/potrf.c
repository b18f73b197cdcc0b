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
                         .nrhs = 1,
                         .batch = problem->batch};
}

/* clang-format off */
static const family_t families[] = {
    /* spelling        place    origin  manner    leaf   can_run, buffer_size, launch */
    {"tiny",           ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_tiny_cuda_can_run, NULL, batchlas_potrf_tiny_cuda)},
    {"cta",            ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_cta_cuda_can_run, NULL, batchlas_potrf_cta_cuda)},
    {"lpanel:panel=8", ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_lpanel_8_cuda_can_run, NULL, batchlas_potrf_lpanel_8_cuda)},
    {"lpanel:panel=16", ON_GPU, NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_lpanel_16_cuda_can_run, NULL, batchlas_potrf_lpanel_16_cuda)},
    {"ltile:width=32", ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_always_runs, batchlas_potrf_ltile_cuda_buffer_size, batchlas_potrf_ltile_32_cuda)},
    {"ltile:width=64", ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_ltile_64_cuda_can_run, batchlas_potrf_ltile_cuda_buffer_size, batchlas_potrf_ltile_64_cuda)},
    {"wide",           ON_GPU,  NATIVE, ENQUEUES, true,  IF_GPU(batchlas_potrf_wide_cuda_can_run, NULL, batchlas_potrf_wide_cuda)},
    {"tiny",           ON_HOST, NATIVE, ENQUEUES, true,  batchlas_potrf_tiny_host_can_run, NULL, batchlas_potrf_tiny_host},
    {"blocked",        ON_BOTH, NATIVE, ENQUEUES, false, batchlas_always_runs, batchlas_potrf_blocked_buffer_size, batchlas_potrf_blocked},
    {"vendor",         ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_always_runs, batchlas_potrf_cusolver_batched_buffer_size, batchlas_potrf_cusolver_batched)},
    {"vendor:single",  ON_GPU,  VENDOR, BLOCKS,   false, IF_CUDA_VENDOR(batchlas_always_runs, batchlas_potrf_cusolver_single_buffer_size, batchlas_potrf_cusolver_single)},
    {"vendor",         ON_HOST, VENDOR, ENQUEUES, false, IF_LAPACK(batchlas_always_runs, NULL, batchlas_potrf_lapack)},
};
/* clang-format on */

const operation_t batchlas_potrf_operation = {"potrf", "BATCHLAS_POTRF_ROUTE", key, families,
                                              sizeof families / sizeof *families};

static check_t check(batchlas_handle_t h, const problem_t *p) {
    const bool used = p->n > 0 && p->batch > 0;
    check_t c = batchlas_check_begin(h, "potrf", p->type);
    batchlas_check_enum(&c, "uplo", (int)p->uplo, 2);
    batchlas_check_not_negative(&c, "n", p->n);
    batchlas_check_operand(&c, 'A', &p->A, p->n, p->n, p->batch, WRITTEN, used);
    batchlas_check_pointer(&c, "info", p->info, sizeof *p->info, true);
    batchlas_check_batch(&c, p->batch);
    return c;
}

static batchlas_status_t potrf(batchlas_handle_t h, problem_t p) {
    const check_t c = check(h, &p);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    if (p.n == 0 || p.batch == 0)
        return batchlas_run_empty(h, p.info, p.batch);
    return batchlas_run(h, &batchlas_potrf_operation, &p);
}

static batchlas_status_t potrf_buffer_size(batchlas_handle_t h, problem_t p, size_t *bytes) {
    check_t c = batchlas_check_begin(h, "potrf_buffer_size", p.type);
    batchlas_check_enum(&c, "uplo", (int)p.uplo, 2);
    batchlas_check_not_negative(&c, "n", p.n);
    batchlas_check_extent(&c, "n", p.n, p.n);
    batchlas_check_batch(&c, p.batch);
    batchlas_check_result(&c, "bytes", bytes);
    if (c.status != BATCHLAS_SUCCESS)
        return c.status;
    *bytes = 0;
    if (p.n == 0 || p.batch == 0)
        return BATCHLAS_SUCCESS;
    p.A.ld = p.n;
    return batchlas_run_buffer_size(h, &batchlas_potrf_operation, &p, bytes);
}

static problem_t problem(scalar_type_t type, batchlas_uplo_t uplo, int n, operand_t A, int *info,
                         int64_t batch) {
    return (problem_t){.type = type, .uplo = uplo, .n = n, .A = A, .info = info, .batch = batch};
}

batchlas_status_t batchlas_spotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n, float *A,
                                  int lda, int64_t stride_a, int *info, int64_t batch) {
    return potrf(h, problem(TYPE_S, uplo, n, strided(A, lda, stride_a), info, batch));
}

batchlas_status_t batchlas_dpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n, double *A,
                                  int lda, int64_t stride_a, int *info, int64_t batch) {
    return potrf(h, problem(TYPE_D, uplo, n, strided(A, lda, stride_a), info, batch));
}

batchlas_status_t batchlas_cpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                  batchlas_complex_float *A, int lda, int64_t stride_a, int *info,
                                  int64_t batch) {
    return potrf(h, problem(TYPE_C, uplo, n, strided(A, lda, stride_a), info, batch));
}

batchlas_status_t batchlas_zpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                  batchlas_complex_double *A, int lda, int64_t stride_a, int *info,
                                  int64_t batch) {
    return potrf(h, problem(TYPE_Z, uplo, n, strided(A, lda, stride_a), info, batch));
}

batchlas_status_t batchlas_spotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                        float *const *A, int lda, int *info, int64_t batch) {
    return potrf(h, problem(TYPE_S, uplo, n, pointers(A, lda), info, batch));
}

batchlas_status_t batchlas_dpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                        double *const *A, int lda, int *info, int64_t batch) {
    return potrf(h, problem(TYPE_D, uplo, n, pointers(A, lda), info, batch));
}

batchlas_status_t batchlas_cpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                        batchlas_complex_float *const *A, int lda, int *info,
                                        int64_t batch) {
    return potrf(h, problem(TYPE_C, uplo, n, pointers(A, lda), info, batch));
}

batchlas_status_t batchlas_zpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                        batchlas_complex_double *const *A, int lda, int *info,
                                        int64_t batch) {
    return potrf(h, problem(TYPE_Z, uplo, n, pointers(A, lda), info, batch));
}

batchlas_status_t batchlas_spotrf_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int64_t batch, size_t *bytes) {
    return potrf_buffer_size(h, problem(TYPE_S, uplo, n, no_operand, NULL, batch), bytes);
}

batchlas_status_t batchlas_dpotrf_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int64_t batch, size_t *bytes) {
    return potrf_buffer_size(h, problem(TYPE_D, uplo, n, no_operand, NULL, batch), bytes);
}

batchlas_status_t batchlas_cpotrf_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int64_t batch, size_t *bytes) {
    return potrf_buffer_size(h, problem(TYPE_C, uplo, n, no_operand, NULL, batch), bytes);
}

batchlas_status_t batchlas_zpotrf_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int64_t batch, size_t *bytes) {
    return potrf_buffer_size(h, problem(TYPE_Z, uplo, n, no_operand, NULL, batch), bytes);
}
