/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands between the bench's programs and the library's dpotrf, and plants the fault that
 * BENCH_FAULT names: the instrument has to notice each of them. Linked with --wrap=batchlas_dpotrf.
 */
#include <batchlas/batchlas.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

batchlas_status_t __real_batchlas_dpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         double *A, int lda, int64_t stride_a, int *info,
                                         int64_t batch);
batchlas_status_t __wrap_batchlas_dpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         double *A, int lda, int64_t stride_a, int *info,
                                         int64_t batch);

static void wait_milliseconds(long milliseconds) {
    const struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

batchlas_status_t __wrap_batchlas_dpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                         double *A, int lda, int64_t stride_a, int *info,
                                         int64_t batch) {
    static int calls;
    const char *fault = getenv("BENCH_FAULT");
    if (!fault)
        fault = "";
    ++calls;
    if (!strcmp(fault, "other route"))
        unsetenv("BATCHLAS_POTRF_ROUTE");
    if (!strcmp(fault, "failing call"))
        return batchlas_set_nowait(NULL, 0);
    if (!strcmp(fault, "crash at n = 7") && n == 7)
        abort();

    const batchlas_status_t status =
        __real_batchlas_dpotrf(h, uplo, n, A, lda, stride_a, info, batch);
    const int64_t item = batch / 2;
    if (!strcmp(fault, "wrong element"))
        A[item * stride_a] *= 1.0 + 1e-9;
    /* Right at first, so that only a check of what was timed, or shown to a profiler, can
     * see it. */
    if (!strcmp(fault, "wrong later") && calls > 2)
        A[item * stride_a] *= 1.0 + 1e-9;
    if (!strcmp(fault, "wrong much later") && calls > 100)
        A[item * stride_a] *= 1.0 + 1e-9;
    /* What no check of the result can see. */
    if (!strcmp(fault, "another bit") && calls % 5 == 0)
        A[item * stride_a] = nextafter(A[item * stride_a], 0.0);
    if (!strcmp(fault, "wrong info"))
        info[item] = n;
    if (!strcmp(fault, "slow repetition") && calls % 5 == 0)
        wait_milliseconds(30);
    return status;
}
