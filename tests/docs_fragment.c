/* SPDX-License-Identifier: BSD-3-Clause */
/* The program around a fragment of C in the documentation, and the names that fragments use:
 * test_docs.py puts it in its place and checks the calls whose status it ignores. */
#include <batchlas/batchlas.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER = 4, BATCH = 3, ELEMENTS = ORDER * ORDER };

/* Room for either precision and for complex numbers; A is the identity as doubles and, being real,
 * positive definite as complex numbers of half the order. */
static double operands[3][BATCH * ELEMENTS * 2];
static double *A_array[BATCH], *B_array[BATCH], *C_array[BATCH];

static batchlas_handle_t h;

static void expect(batchlas_status_t status) {
    if (status == BATCHLAS_SUCCESS)
        return;
    puts(batchlas_last_error(h));
    exit(1);
}

int main(void) {
    const batchlas_uplo_t uplo = BATCHLAS_LOWER;
    const batchlas_side_t side = BATCHLAS_LEFT;
    const batchlas_op_t trans = BATCHLAS_NO_TRANS, opa = BATCHLAS_NO_TRANS, opb = BATCHLAS_TRANS;
    const batchlas_diag_t diag = BATCHLAS_NON_UNIT;
    const int n = ORDER, m = ORDER, k = ORDER, nrhs = 2, lda = ORDER, ldb = ORDER, ldc = ORDER;
    const int64_t stride_a = ELEMENTS, stride_b = ELEMENTS, stride_c = ELEMENTS, batch = BATCH;
    const double alpha = 1, beta = 0;
    void *const A = operands[0], *const B = operands[1], *const C = operands[2];
    int info[BATCH] = {0}, usable[BATCH];
    double logdet[BATCH];
    for (int i = 0; i < BATCH; ++i) {
        A_array[i] = operands[0] + i * ELEMENTS;
        B_array[i] = operands[1] + i * ELEMENTS;
        C_array[i] = operands[2] + i * ELEMENTS;
        for (int j = 0; j < ORDER; ++j)
            operands[0][i * ELEMENTS + j * (ORDER + 1)] = 1;
    }
    expect(batchlas_create(&h, omp_get_initial_device()));
    /* the fragment */
    for (int i = 0; i < BATCH; ++i)
        if (info[i])
            return 1;
    return batchlas_destroy(h);
}
