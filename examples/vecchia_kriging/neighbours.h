/* SPDX-License-Identifier: BSD-3-Clause */
/* Nearest neighbours in space, also among the predecessors in an order. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdint.h>

typedef struct kdtree_s kdtree_t;

/* A k-d tree over n points (3 x n, kept by the caller), inserted in their order: balanced to within
 * a small factor if that order is random. NULL if there is no memory. */
kdtree_t *kdtree_create(const double *point, int n);
void kdtree_destroy(kdtree_t *tree);

/* The k nearest of the points 0 .. limit - 1 to `at`, nearest first, equal distances by index.
 * index: k, filled up with -1. distance: k, or NULL. Returns how many there are. */
int kdtree_nearest(const kdtree_t *tree, const double *at, int limit, int k, int *index,
                   double *distance);

#endif
