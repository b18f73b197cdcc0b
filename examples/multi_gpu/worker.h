/* SPDX-License-Identifier: BSD-3-Clause */
/* Likelihoods of light curves under a damped random walk, on one device. */
#ifndef WORKER_H
#define WORKER_H

#include <batchlas/batchlas.h>

/* Every curve has the same number of epochs and is tried with every time scale: item i of the batch
 * is curve i / scales with scale i % scales. */
typedef struct {
    int epochs, scales;
    int64_t curves;
    double *time, *value; /* epochs x curves; time ascending, in days */
    double *scale;        /* scales, in days */
    double noise;         /* variance of the noise over that of the walk */
} survey_t;

/* One device and its part of a survey. The arrays are mapped to the device, but not kept equal. */
typedef struct {
    batchlas_handle_t handle;
    int device;
    int64_t first, items, chunk; /* chunk: items at once */
    survey_t survey;             /* the curves of items first .. first + items - 1 */
    double *likelihood;          /* items */
    double *matrix, *solution, *logdet;
    int *info;
} worker_t;

/* Exits where the device or its memory cannot be had. */
void worker_open(worker_t *w, int device, const survey_t *s, int64_t first, int64_t items);
void worker_close(worker_t *w);

/* Brings the part to the device and leaves in likelihood, host memory, for each of its items
 *     -1/2 (y^T K^-1 y + log det K + epochs log 2 pi),  K_jk = exp(-|t_j - t_k| / scale) + noise
 * (noise on the diagonal), or NaN where K is not positive definite. Source: Kelly, Bechtold &
 * Siemiginowska, ApJ 698, 2009. */
void worker_evaluate(worker_t *w);

#endif
