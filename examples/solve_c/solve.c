/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves A x = b for many small symmetric positive-definite matrices A at once. */
#include <batchlas/batchlas.h>

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    const int n = 3, nrhs = 1, batch = 1000;
    double *A = malloc(sizeof *A * n * n * batch), *b = malloc(sizeof *b * n * batch);
    int *info = malloc(sizeof *info * batch);
    if (!A || !b || !info)
        return 1;
    /* Ones, and i + 2 on the diagonal: the solution for b = i + 1 + n is 1 everywhere. */
    for (int i = 0; i < batch; ++i)
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < n; ++k)
                A[(i * n + j) * n + k] = j == k ? i + 2 : 1;
            b[i * n + j] = i + 1 + n;
        }

    batchlas_handle_t h;
    batchlas_status_t status = batchlas_create(&h, omp_get_default_device());
#pragma omp target data map(to : A[ : n * n * batch]) map(tofrom : b[ : n * batch])                \
    map(from : info[ : batch])
#pragma omp target data use_device_ptr(A, b, info)
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_dposv(h, BATCHLAS_LOWER, n, nrhs, A, n, n * n, b, n, n, info, batch);
    if (status != BATCHLAS_SUCCESS)
        fprintf(stderr, "%s\n", batchlas_last_error(h));
    batchlas_destroy(h);

    double error = 0;
    for (int i = 0; i < n * batch; ++i)
        error = fmax(error, info[i / n] == 0 ? fabs(b[i] - 1) : INFINITY);
    printf("%d systems of order %d, largest error %.1e\n", batch, n, error);
    free(A);
    free(b);
    free(info);
    return status != BATCHLAS_SUCCESS || error > 1e-12;
}
