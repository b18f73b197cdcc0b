/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear elasticity of layered ground on bedrock, by trilinear bricks. */
#ifndef GROUND_H
#define GROUND_H

#include <stdint.h>

enum { NEIGHBOURS = 27 }; /* of a node, itself among them */

/* width x width columns of nodes, each of `layers` nodes above the bedrock, where displacement is
 * 0. Lengths are in thicknesses of a layer. A patch of patch x patch columns is one block of
 * unknowns.
 */
typedef struct {
    int width, layers, patch; /* width is a multiple of patch, and at least 2 */
    double flatness;          /* distance of columns */
    double contrast;          /* largest modulus of an element over the smallest */
} ground_t;

/* Symmetric matrix of nodes x nodes blocks of 3 x 3, up to NEIGHBOURS of them in a row: the one at
 * (node, column[s * nodes + node]) has its element (c, d) at value[(9 * s + 3 * c + d) * nodes +
 * node]. Neighbours that do not exist are the node itself, with zeros. */
typedef struct {
    int64_t nodes;
    int *column;   /* NEIGHBOURS x nodes */
    double *value; /* 9 x NEIGHBOURS x nodes */
} sparse_t;

/* A node's number, level 0 being the bedrock; -1 for one that is not free. */
int64_t ground_node(const ground_t *g, int i, int j, int level);

/* The stiffness matrix. Its arrays are freed by the caller. Source: Hughes, The Finite Element
 * Method, 1987, sections 3.3 and 3.9. */
sparse_t ground_assemble(const ground_t *g);

#endif
