/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuSOLVER's and cuBLAS's batched routines need around them to keep this library's promises.
 * Each call only enqueues on `stream`, works on items 0 ... count - 1 and returns a cudaError_t. */
#ifndef BATCHLAS_VENDOR_SUPPORT_H
#define BATCHLAS_VENDOR_SUPPORT_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* pointers[i * blocks + b] is `b * step` elements past the start of item i, or `instead` where
 * skip[i] != 0. skip may be NULL. */
int batchlas_vendor_pointers(void *stream, scalar_type_t type, operand_t operand, int64_t step,
                             int blocks, const int *skip, void *instead, int64_t count,
                             void **pointers);

/* Saves every item's strict triangle `uplo` in `packed`, n (n - 1) / 2 elements an item, or puts it
 * back. */
int batchlas_vendor_save_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t A, int64_t count, void *packed);
int batchlas_vendor_restore_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                     operand_t A, int64_t count, void *packed);

/* Copies every item's triangle `uplo`, diagonal included. */
int batchlas_vendor_copy_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t from, operand_t to, int64_t count);

/* C := beta C + products within the blocks of order `width` along the diagonal of C's triangle
 * `uplo`; beta == 0 does not read C, and C's diagonal becomes real. products: those of an item one
 * after the other, each with leading dimension `width`. */
int batchlas_vendor_add_triangles(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  int width, operand_t products, double beta, operand_t C,
                                  int64_t count);

/* Zeroes the imaginary parts of every item's diagonal; nothing for the real types. */
int batchlas_vendor_real_diagonal(void *stream, scalar_type_t type, int n, operand_t A,
                                  int64_t count);

/* After a factorisation: batchlas_vendor_real_diagonal, and info[i] from vendor_info[i] and the
 * factor's diagonal, since a vendor may pass over a NaN. info and info_base as in problem_t. */
int batchlas_vendor_settle(void *stream, scalar_type_t type, int n, operand_t factor,
                           const int *vendor_info, int info_base, int *info, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
