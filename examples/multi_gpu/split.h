/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPLIT_H
#define SPLIT_H

#include <stdint.h>

/* Cuts 0 .. count - 1 into `parts` >= 1 runs in proportion to their weights, each >= 0 and not all
 * 0: part p gets first[p] .. first[p + 1] - 1, within one item of its exact share, and all of them
 * together get each item once. first: parts + 1; count below 2^53. */
static inline void split(int64_t count, int parts, const double *weight, int64_t *first) {
    double total = 0.0, before = 0.0;
    for (int p = 0; p < parts; p++)
        total += weight[p];
    for (int p = 0; p < parts; p++) {
        first[p] = (int64_t)((double)count * (before / total) + 0.5);
        before += weight[p];
    }
    first[parts] = count;
}

#endif
