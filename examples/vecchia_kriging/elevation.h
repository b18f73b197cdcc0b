/* SPDX-License-Identifier: BSD-3-Clause */
/* The scale on which elevation is modelled, in m^1/2, and the way back to metres. On it the relief
 * of plains and of mountains varies alike; the offset keeps the shore from being special. */
#ifndef ELEVATION_H
#define ELEVATION_H

#include <math.h>

#define ELEVATION_OFFSET_M 10.0

/* z = sign(e) (sqrt(|e| + c) - sqrt(c)) */
static inline double elevation_to_score(double metres) {
    return copysign(sqrt(fabs(metres) + ELEVATION_OFFSET_M) - sqrt(ELEVATION_OFFSET_M), metres);
}

static inline double score_to_elevation(double score) {
    const double root = fabs(score) + sqrt(ELEVATION_OFFSET_M);
    return copysign(root * root - ELEVATION_OFFSET_M, score);
}

/* Mean and standard deviation, in metres, of the elevation whose score is normal with this mean and
 * variance: Gauss-Hermite quadrature with five nodes. Source: Abramowitz & Stegun, table 25.10,
 * rescaled to the standard normal law. */
static inline void elevation_moments(double score, double variance, double *mean,
                                     double *deviation) {
    static const double node[5] = {-2.8569700138728056, -1.3556261799742659, 0.0,
                                   1.3556261799742659, 2.8569700138728056};
    static const double weight[5] = {0.01125741132772069, 0.22207592200561264, 8.0 / 15.0,
                                     0.22207592200561264, 0.01125741132772069};
    double first = 0.0, second = 0.0;
    for (int k = 0; k < 5; k++) {
        const double e = score_to_elevation(score + sqrt(variance) * node[k]);
        first += weight[k] * e;
        second += weight[k] * e * e;
    }
    *mean = first;
    *deviation = sqrt(fmax(second - first * first, 0.0));
}

#endif
