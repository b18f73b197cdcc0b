/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ways through the same chunks of cells: one stage after the other, or as a graph of tasks. */
#ifndef WAYS_H
#define WAYS_H

#include <batchlas/batchlas.h>

typedef enum { UPLOAD, ASSEMBLE, SOLVE, PREDICT, DOWNLOAD, STAGES } stage_t;

enum {
    LATTICE = 4, /* a cell's predictions stand on a lattice of LATTICE x LATTICE */
    TARGETS = LATTICE * LATTICE,
    LANES = 2 /* chunks that are computed at once, each with a handle and matrices of its own */
};

typedef struct {
    double begin, end; /* seconds, of omp_get_wtime */
} moment_t;

typedef struct {
    batchlas_handle_t handle[LANES];
    int device, n;                /* n: observations in a cell */
    int64_t cells, chunk, chunks; /* chunk: cells in each but the last */

    /* Mapped by the caller's target data region. */
    double *seen;      /* 3 x n x cells: place (x, y) in the cell's unit square, and value */
    double *predicted; /* TARGETS x cells */
    int *info;         /* cells */
    double *matrix;    /* n x n x chunk x LANES, on the device alone */
    double *weight;    /* n x chunk x LANES, on the device alone */
} job_t;

/* From seen to predicted and info, in host memory; when: STAGES x chunks. */
void one_after_the_other(const job_t *job, moment_t *when);
void overlapped(const job_t *job, moment_t *when);

#endif
