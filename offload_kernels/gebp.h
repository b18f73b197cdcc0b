/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of which gemm, syrk and herk consist, and the host's kernel for a block of it
 * (general block times panel). Source: Goto and van de Geijn, Anatomy of High-Performance Matrix
 * Multiplication, 2008. */
#ifndef BATCHLAS_GEBP_H
#define BATCHLAS_GEBP_H

#include "problem.h"
#include "tuning_constants.h"

/* A matrix to be read, whichever way it is stored: element (i, l) is at[i * row + l * column], or
 * its conjugate. */
typedef struct {
    const void *at;
    int64_t row;
    int64_t column;
    bool conjugated;
} view_t;

/* The part of C that is referenced. The diagonal of a triangle comes out real. */
typedef enum { FULL, LOWER_TRIANGLE, UPPER_TRIANGLE } fill_t;

/* C := alpha A B^T + beta C, where A is m by k and B is n by k. As in BLAS, beta == 0 does not read
 * C, k == 0 or alpha == 0 reads neither A nor B, and if then beta == 1, C keeps its bits, all but a
 * triangle's real diagonal. */
typedef struct {
    int m;
    int n;
    int k;
    double alpha[2];
    double beta[2];
    view_t A;
    view_t B;
    void *C; /* element (i, j) is C[i * c_row + j * c_column] */
    int64_t c_row;
    int64_t c_column;
    fill_t fill;
    int64_t diagonal; /* (i, j) is on the triangle's diagonal where i + diagonal == j */
} product_t;

/* Rows, and columns, of the tile that a device thread computes in registers. */
enum { REGISTER_TILE = 4 };

/* Rows of A in a packed block: the most that a product given to batchlas_gebp may have. */
static inline int gebp_rows(scalar_type_t type) {
    return GEBP_BLOCK_BYTES / (GEBP_KC * (int)scalar_size(type));
}

void batchlas_gebp(scalar_type_t type, const product_t *product);

static inline view_t transposable_view(int ld, batchlas_op_t op) {
    return op == BATCHLAS_NO_TRANS
               ? (view_t){.row = 1, .column = ld}
               : (view_t){.row = ld, .column = 1, .conjugated = op == BATCHLAS_CONJ_TRANS};
}

/* The first element of an item, `size` bytes each. */
static inline void *operand_item(const operand_t *operand, int64_t size, int64_t item) {
    char *base = operand->items ? (char *)operand->items[item]
                                : (char *)operand->base + item * operand->stride * size;
    return base + operand->offset * size;
}

/* Rows i .. i + m - 1 and columns j .. j + n - 1 of C, cut off at its edges. */
static inline product_t product_block(product_t p, int64_t size, int64_t i, int64_t j, int m,
                                      int n) {
    p.m = p.m - i < m ? (int)(p.m - i) : m;
    p.n = p.n - j < n ? (int)(p.n - j) : n;
    p.A.at = (const char *)p.A.at + i * p.A.row * size;
    p.B.at = (const char *)p.B.at + j * p.B.row * size;
    p.C = (char *)p.C + (i * p.c_row + j * p.c_column) * size;
    p.diagonal += i - j;
    return p;
}

#endif
