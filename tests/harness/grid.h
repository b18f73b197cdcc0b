/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites run over. */
#ifndef BATCHLAS_TESTS_GRID_H
#define BATCHLAS_TESTS_GRID_H

#include "problem.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
/* for value_index = 0, 1, ... over the elements of an array */
#define EACH(value, array)                                                                         \
    for (int value##_index = 0; value##_index < COUNT(array); ++value##_index)

static const scalar_type_t types[] = {TYPE_S, TYPE_D, TYPE_C, TYPE_Z};
static const batchlas_uplo_t triangles[] = {BATCHLAS_LOWER, BATCHLAS_UPPER};

#endif
