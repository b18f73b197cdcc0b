/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of somebody who has only what `cmake --install` installed. */
#include <batchlas/batchlas.h>

#include <omp.h>

int main(void) {
    batchlas_handle_t h;
    double A[4] = {4, 2, 0, 5}, B[2] = {8, 12}; /* A = [4 2; 2 5], A [1; 2] = B */
    int info = -1;
    if (batchlas_create(&h, omp_get_initial_device()) != BATCHLAS_SUCCESS)
        return 1;
    if (batchlas_dposv(h, BATCHLAS_LOWER, 2, 1, A, 2, 4, B, 2, 2, &info, 1) != BATCHLAS_SUCCESS)
        return 2;
    return batchlas_destroy(h) || info || B[0] != 1 || B[1] != 2;
}
