/* SPDX-License-Identifier: BSD-3-Clause */
/* How well the held-out airports are predicted, next to simpler methods. */
#ifndef HOLDOUT_H
#define HOLDOUT_H

#include "airports.h"
#include "fit.h"

enum { KRIGING, INVERSE_DISTANCE, NEAREST, MEAN, METHODS };

typedef struct {
    double rmse[METHODS], mae[METHODS]; /* m */
    double coverage, width;             /* of the 90 % intervals: share of the airports, mean m */
    int64_t failed;                     /* blocks not positive definite */
} holdout_t;

/* airport: the v->n airports of the data, then `sites` held-out ones; site: their positions, 3 x
 * sites; neighbour: v->neighbours x sites. predictions: a CSV file to write, or NULL. Nonzero after
 * one sentence on stderr. */
int holdout_score(vecchia_t *v, const fit_t *fit, const airport_t *airport, int sites,
                  const double *site, const int *neighbour, const char *predictions,
                  holdout_t *score);

#endif
