/* SPDX-License-Identifier: BSD-3-Clause */
/* Matern correlations of half-integer smoothness and the geometry of a conditioning set, for host
 * and device code alike. */
#ifndef MATERN_H
#define MATERN_H

#include <math.h>
#include <stddef.h>

typedef struct {
    int twice_smoothness; /* 2 nu: 1, 3 or 5 */
    double range;         /* rho, in the unit of the distances: km */
    double nugget_ratio;  /* variance of the noise / variance of the field */
} matern_t;

#pragma omp declare target

/* 1/2: exp(-t); 3/2: (1 + t) exp(-t); 5/2: (1 + t + t^2/3) exp(-t), t = sqrt(2 nu) distance / rho.
 * Source: Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, eq. 4.14 - 4.17. */
static inline double matern_correlation(int twice_smoothness, double scaled_distance) {
    const double t = scaled_distance;
    const double polynomial =
        twice_smoothness == 1 ? 1.0 : (twice_smoothness == 3 ? 1.0 + t : 1.0 + t + t * t / 3.0);
    return polynomial * exp(-t);
}

static inline double chord(const double *p, const double *q) {
    const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
    return sqrt(dx * dx + dy * dy + dz * dz);
}

/* Position of one row of a site's block: its neighbours, then the site; NULL for a padding row. */
static inline const double *block_row(const double *data, const double *site, const int *neighbour,
                                      int neighbours, int row) {
    if (row == neighbours)
        return site;
    return neighbour[row] < 0 ? NULL : data + 3 * (ptrdiff_t)neighbour[row];
}

#pragma omp end declare target

#endif
