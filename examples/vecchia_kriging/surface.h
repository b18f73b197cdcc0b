/* SPDX-License-Identifier: BSD-3-Clause */
/* The field on a grid over the globe. */
#ifndef SURFACE_H
#define SURFACE_H

#include "fit.h"
#include "neighbours.h"

/* Cells in longitude (eastward from -180) and latitude (southward from 90); values belong to the
 * cells' centres. Where no airport is near, elevation and error are NaN. */
typedef struct {
    int width, height;
    float *elevation; /* m, conditional mean */
    float *error;     /* m, its standard deviation, without the noise of an airport */
    float *distance;  /* km, great-circle chord to the nearest airport */
} surface_t;

/* The map shows nothing farther from an airport than this. */
#define SURFACE_REACH_KM 300.0

/* Nonzero after one sentence on stderr. *failed: blocks not positive definite. */
int surface_predict(vecchia_t *v, const fit_t *fit, const kdtree_t *tree, int width, int height,
                    surface_t *surface, int64_t *failed);
void surface_destroy(surface_t *surface);

#endif
