/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbours.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

struct kdtree_s {
    const double *point;
    int n;
    int (*child)[2];
};

typedef struct {
    const double *at;
    int limit, k, found;
    int *index;
    double *squared; /* k squared distances, ascending */
} search_t;

kdtree_t *kdtree_create(const double *point, int n) {
    kdtree_t *tree = malloc(sizeof *tree);
    if (tree == NULL)
        return NULL;
    *tree = (kdtree_t){point, n, malloc((size_t)(n > 0 ? n : 1) * sizeof *tree->child)};
    if (tree->child == NULL) {
        free(tree);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        tree->child[i][0] = tree->child[i][1] = -1;
        int node = 0, axis = 0;
        while (node != i) {
            const int side = point[3 * i + axis] >= point[3 * node + axis];
            if (tree->child[node][side] < 0)
                tree->child[node][side] = i;
            node = tree->child[node][side];
            axis = axis == 2 ? 0 : axis + 1;
        }
    }
    return tree;
}

void kdtree_destroy(kdtree_t *tree) {
    if (tree != NULL)
        free(tree->child);
    free(tree);
}

static void offer(search_t *search, int candidate, double squared) {
    int slot = search->found;
    if (slot == search->k) {
        slot--;
        if (squared > search->squared[slot] ||
            (squared == search->squared[slot] && candidate > search->index[slot]))
            return;
    } else {
        search->found++;
    }
    for (; slot > 0; slot--) {
        const double above = search->squared[slot - 1];
        if (above < squared || (above == squared && search->index[slot - 1] < candidate))
            break;
        search->squared[slot] = above;
        search->index[slot] = search->index[slot - 1];
    }
    search->squared[slot] = squared;
    search->index[slot] = candidate;
}

static void visit(const kdtree_t *tree, search_t *search, int node, int axis) {
    /* A node's children were inserted after it, so all below a node past the limit is past it. */
    if (node < 0 || node >= search->limit)
        return;
    const double *p = tree->point + 3 * (ptrdiff_t)node;
    const double dx = search->at[0] - p[0], dy = search->at[1] - p[1], dz = search->at[2] - p[2];
    offer(search, node, dx * dx + dy * dy + dz * dz);
    const double plane = search->at[axis] - p[axis];
    const int side = plane >= 0.0, next = axis == 2 ? 0 : axis + 1;
    visit(tree, search, tree->child[node][side], next);
    if (search->found < search->k || plane * plane <= search->squared[search->k - 1])
        visit(tree, search, tree->child[node][!side], next);
}

int kdtree_nearest(const kdtree_t *tree, const double *at, int limit, int k, int *index,
                   double *distance) {
    if (k < 1)
        return 0;
    double squared[k];
    search_t search = {at, limit < tree->n ? limit : tree->n, k, 0, index, squared};
    visit(tree, &search, 0, 0);
    for (int i = 0; i < k; i++) {
        if (i >= search.found)
            index[i] = -1;
        else if (distance != NULL)
            distance[i] = sqrt(squared[i]);
    }
    return search.found;
}
