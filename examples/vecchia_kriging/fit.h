/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIT_H
#define FIT_H

#include "vecchia.h"

typedef struct {
    matern_t covariance;
    vecchia_profile_t profile;
    int evaluations; /* of the likelihood, rough and full */
    int converged;
    int64_t failed_blocks; /* in all evaluations together */
} fit_t;

/* Range and nugget by maximum likelihood at a given smoothness: a rough search on the first
 * `rough` points from `start`, then on all. nugget_ratio >= 0 keeps the nugget at that ratio.
 * progress != 0 shows a line on stderr. Returns nonzero if an evaluation was not possible. */
int fit_covariance(vecchia_t *v, matern_t start, double nugget_ratio, int rough, int evaluations,
                   int progress, fit_t *fit);

#endif
