/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients on a device, with three preconditioners. */
#ifndef SOLVER_H
#define SOLVER_H

#include "ground.h"

#include <batchlas/batchlas.h>

typedef enum { NO_PRECONDITIONER, POINT_JACOBI, BLOCK_JACOBI, PRECONDITIONERS } preconditioner_t;

/* The caller has mapped the arrays to the device. */
typedef struct {
    batchlas_handle_t handle;
    int device, order; /* order: unknowns in a block of block Jacobi, a multiple of 3 */
    int64_t unknowns;
    sparse_t k;
    double *x, *p, *q, *r, *z, *b; /* solution, direction, K p, residual, preconditioned residual,
                                      right-hand side */
    double *inverse;               /* of the diagonal */
    double *block;                 /* order x order x blocks: the blocks, then their factors */
    int *info;                     /* blocks */
} solver_t;

/* y = K x */
void solver_multiply(const solver_t *s, const double *x, double *y);

/* Inverts the diagonal, or factors the diagonal blocks. */
void solver_prepare(solver_t *s, preconditioner_t kind);

/* From x = 0 until |b - K x| <= tolerance |b|, or `most` iterations, on the device alone.
 * residual[i]: |r| / |b| after i iterations; seconds[i]: since the start; most + 1 of each. Returns
 * the number of iterations, -1 if that many did not do. Source: Saad, Iterative Methods for Sparse
 * Linear Systems, 2003, algorithm 9.1. */
int solver_run(solver_t *s, preconditioner_t kind, double tolerance, int most, double *residual,
               double *seconds);

#endif
