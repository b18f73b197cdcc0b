/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem struct: the only thing passed between an entry, the selector and a kernel. Plain C
 * that nvcc reads too, so that host code, OpenMP regions and CUDA kernels speak of the same object.
 */
#ifndef BATCHLAS_PROBLEM_H
#define BATCHLAS_PROBLEM_H

#include <batchlas/batchlas.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { TYPE_S, TYPE_D, TYPE_C, TYPE_Z } scalar_type_t;

/* A batch of column-major matrices: item i starts `offset` elements into items[i] or, where items
 * is NULL, into base + i * stride. The offset makes a sub-matrix of every item an operand again,
 * which is how the blocked driver cuts its panels in both forms. */
typedef struct {
    void *base;
    void *const *items;
    int64_t stride;
    int64_t offset;
    int ld;
} operand_t;

typedef struct {
    scalar_type_t type;
    batchlas_uplo_t uplo;
    batchlas_side_t side;
    batchlas_op_t op_a; /* of trsm, syrk and herk: their trans */
    batchlas_op_t op_b;
    batchlas_diag_t diag;
    int m; /* rows of B in trsm, of C in gemm */
    int n; /* order of A in potrf, potrs, posv; columns of B in trsm, of C in gemm; order of C in
              syrk */
    int k; /* inner dimension of gemm, syrk, herk */
    int nrhs;
    operand_t A;
    operand_t B;
    operand_t C;
    double alpha[2]; /* real, imaginary */
    double beta[2];

    /* potrf, posv: info[i] is written for every item; may be NULL. With info_base > 0 the problem
     * is the diagonal block of a larger factorisation that starts at that row: an item whose info
     * is not 0 is passed over, and a failure is recorded as info_base + k. */
    int *info;
    int info_base;
    /* potrs, trsm, gemm, syrk, herk: an item with skip[i] != 0 is left alone. NULL: none is. */
    const int *skip;
    /* trsm, potrs: the imaginary parts of A's diagonal do not count. */
    bool real_diagonal;

    double *logdet;
    int64_t batch;
} problem_t;

/* So that an int, a double or a pointer for each item has a byte offset that fits in 64 bits. */
#define MAX_BATCH (INT64_MAX / 16)

static inline size_t scalar_size(scalar_type_t type) {
    return type == TYPE_S ? 4 : type == TYPE_Z ? 16 : 8;
}

static inline bool scalar_is_complex(scalar_type_t type) {
    return type >= TYPE_C;
}

static inline char scalar_letter(scalar_type_t type) {
    return "sdcz"[type];
}

/* The sub-matrix whose first element is (row, column) of every item. */
static inline operand_t operand_at(operand_t operand, int64_t row, int64_t column) {
    operand.offset += row + column * operand.ld;
    return operand;
}

/* Items first, first + 1, ... as an operand of their own; `type` because base counts bytes. */
static inline operand_t operand_from_item(operand_t operand, int64_t first, scalar_type_t type) {
    if (operand.items)
        operand.items += first;
    else if (operand.base)
        operand.base = (char *)operand.base + first * operand.stride * (int64_t)scalar_size(type);
    return operand;
}

/* `batch` items from `first` on as a problem of their own. */
static inline problem_t problem_from_item(problem_t problem, int64_t first, int64_t batch) {
    problem.A = operand_from_item(problem.A, first, problem.type);
    problem.B = operand_from_item(problem.B, first, problem.type);
    problem.C = operand_from_item(problem.C, first, problem.type);
    if (problem.info)
        problem.info += first;
    if (problem.skip)
        problem.skip += first;
    if (problem.logdet)
        problem.logdet += first;
    problem.batch = batch;
    return problem;
}

/* Elements from an item's first to one past its last. */
static inline int64_t operand_extent(int ld, int64_t rows, int64_t columns) {
    return rows > 0 && columns > 0 ? (int64_t)ld * (columns - 1) + rows : 0;
}

#endif
