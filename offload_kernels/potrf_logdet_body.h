/* SPDX-License-Identifier: BSD-3-Clause */
/* log det(A) = 2 sum_j log(L(j, j)), summed in the order of j, for one type. */

static double NAME(log_det)(const operand_t *A, int64_t item, int n) {
    if (n == 0) /* then A may be NULL */
        return 0;
    const T *a = ITEM(*A, item);
    double sum = 0;
    for (int j = 0; j < n; ++j)
        sum += log((double)REAL(a[j * ((int64_t)A->ld + 1)]));
    return 2 * sum;
}

static void NAME(log_dets_on_device)(const problem_t *p, int device) {
    const operand_t A = p->A;
    const int n = p->n;
    const int64_t batch = p->batch;
    double *const logdet = p->logdet;
#pragma omp target teams distribute parallel for device(device) firstprivate(A)                    \
    is_device_ptr(logdet)
    for (int64_t i = 0; i < batch; ++i)
        logdet[i] = NAME(log_det)(&A, i, n);
}

static void NAME(log_dets_on_host)(const problem_t *p) {
#pragma omp parallel for if (p->batch * p->n >= HOST_FORK_MIN_LOGARITHMS && !omp_in_parallel())
    for (int64_t i = 0; i < p->batch; ++i)
        p->logdet[i] = NAME(log_det)(&p->A, i, p->n);
}
