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
    /* spelling    place    origin  manner  leaf   can_run, buffer_size, launch */
    {"reduction",  ON_BOTH, NATIVE, BLOCKS, false, batchlas_always_runs, NULL, batchlas_potrf_logdet_portable},
};
/* clang-format on */

const operation_t batchlas_potrf_logdet_operation = {"potrf_logdet", "BATCHLAS_POTRF_LOGDET_ROUTE",
                                                     key, families,
                                                     sizeof families / sizeof *families};

static check_t check(batchlas_handle_t h, const problem_t *p) {
    const bool used = p->n > 0 && p->batch > 0;
    check_t c = batchlas_check_begin(h, "potrf_logdet", p->type);
    batchlas_check_enum(&c, "uplo", (int)p->uplo, 2);
    batchlas_check_not_negative(&c, "n", p->n);
    batchlas_check_operand(&c, 'A', &p->A, p->n, p->n, p->batch, READ, used);
    batchlas_check_pointer(&c, "logdet", p->logdet, sizeof *p->logdet, p->batch <= 0);
    batchlas_check_batch(&c, p->batch);
    return c;
}

static batchlas_status_t potrf_logdet(batchlas_handle_t h, problem_t p) {
    const check_t c = check(h, &p);
    if (c.status != BATCHLAS_SUCCESS || p.batch == 0)
        return c.status;
    return batchlas_run(h, &batchlas_potrf_logdet_operation, &p);
}

static problem_t problem(scalar_type_t type, batchlas_uplo_t uplo, int n, operand_t A,
                         double *logdet, int64_t batch) {
    return (problem_t){
        .type = type, .uplo = uplo, .n = n, .A = A, .logdet = logdet, .batch = batch};
}

batchlas_status_t batchlas_spotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         const float *A, int lda, int64_t stride_a, double *logdet,
                                         int64_t batch) {
    return potrf_logdet(h, problem(TYPE_S, uplo, n, strided(A, lda, stride_a), logdet, batch));
}

batchlas_status_t batchlas_dpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         const double *A, int lda, int64_t stride_a, double *logdet,
                                         int64_t batch) {
    return potrf_logdet(h, problem(TYPE_D, uplo, n, strided(A, lda, stride_a), logdet, batch));
}

batchlas_status_t batchlas_cpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         const batchlas_complex_float *A, int lda, int64_t stride_a,
                                         double *logdet, int64_t batch) {
    return potrf_logdet(h, problem(TYPE_C, uplo, n, strided(A, lda, stride_a), logdet, batch));
}

batchlas_status_t batchlas_zpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         const batchlas_complex_double *A, int lda,
                                         int64_t stride_a, double *logdet, int64_t batch) {
    return potrf_logdet(h, problem(TYPE_Z, uplo, n, strided(A, lda, stride_a), logdet, batch));
}
