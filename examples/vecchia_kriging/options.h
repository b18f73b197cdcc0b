/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "program.h"

#include <stdint.h>

enum { MAX_NEIGHBOURS = 64 };

typedef struct {
    const char *data, *output, *predictions; /* predictions: NULL for none */
    uint64_t seed;
    double holdout; /* fraction of the airports */
    double nugget;  /* ratio to the variance of the field, or -1 to fit it */
    int neighbours, evaluations;
    int device;           /* DEVICE_AUTO, DEVICE_HOST or an OpenMP device number */
    int twice_smoothness; /* 1, 3, 5, or 0 for the most likely */
    int grid_width, grid_height;
} options_t;

/* As options_take. */
int options_parse(int argc, char **argv, options_t *options);

#endif
