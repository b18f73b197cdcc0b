/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop over items and their tiles that the host's kernels share. */
#ifndef BATCHLAS_HOST_TILES_H
#define BATCHLAS_HOST_TILES_H

#include "problem.h"
#include "tuning_constants.h"

#include <omp.h>

/* Does tile `tile` of item `item`; plan is what the caller worked out for all of them. */
typedef void tile_function_t(const problem_t *problem, const void *plan, int64_t item,
                             int64_t tile);

/* Threads that the loop below would run on. */
static inline int64_t host_threads(void) {
    return omp_in_parallel() ? 1 : omp_get_max_threads();
}

/* The width of tiles that n columns are cut into: wide, unless that leaves threads without one. */
static inline int tile_columns(int64_t tiles_in_a_column, int n) {
    int columns = HOST_TILE_COLUMNS;
    while (columns > HOST_TILE_MIN_COLUMNS &&
           tiles_in_a_column * ((n + columns - 1) / columns) < 2 * host_threads())
        columns /= 2;
    return columns;
}

/* Every tile writes elements of its own in an order of its own, so neither the number of threads
 * nor the schedule shows in the bits. Few tiles are dealt out singly, many in runs of neighbours.
 */
static inline void for_each_tile(const problem_t *p, int64_t tiles, double multiply_adds,
                                 tile_function_t *function, const void *plan) {
    const int64_t total = p->batch * tiles;
    const int64_t threads = host_threads();
    const int64_t chunk = total > 8 * threads ? total / (8 * threads) : 1;
    const bool forks = threads > 1 && total > 1 && multiply_adds >= HOST_FORK_MIN_MULTIPLY_ADDS;
#pragma omp parallel for schedule(static, chunk) if (forks)
    for (int64_t t = 0; t < total; ++t) {
        const int64_t item = t / tiles;
        if (!(p->skip && p->skip[item]))
            function(p, plan, item, t % tiles);
    }
}

#endif
