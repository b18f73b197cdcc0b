/* SPDX-License-Identifier: BSD-3-Clause */
#include "ground.h"
#include "program.h"
#include "random.h"

#include <math.h>

int64_t ground_node(const ground_t *g, int i, int j, int level) {
    const int w = g->patch, inside = (j % w) * w + i % w;
    if (i < 0 || i >= g->width || j < 0 || j >= g->width || level < 1 || level > g->layers)
        return -1;
    return (((int64_t)(j / w) * (g->width / w) + i / w) * w * w + inside) * g->layers + level - 1;
}

/* Gradients of a brick's eight shape functions at one of its Gauss points. */
static void gradients(const ground_t *g, int point, double gradient[8][3]) {
    for (int a = 0; a < 8; a++) {
        double shape[3], slope[3];
        for (int d = 0; d < 3; d++) {
            const double at = (point >> d & 1 ? 0.5 : -0.5) / sqrt(3.0);
            slope[d] = a >> d & 1 ? 1.0 : -1.0;
            shape[d] = 0.5 + slope[d] * at;
        }
        for (int d = 0; d < 3; d++)
            gradient[a][d] =
                slope[d] * shape[(d + 1) % 3] * shape[(d + 2) % 3] / (d < 2 ? g->flatness : 1.0);
    }
}

/* Adds the stiffness of one element,
 *     K_ab(c, d) = integral of lambda a_c b_d + mu (a_d b_c + [c = d] a . b),  a, b: gradients. */
static void add_element(const ground_t *g, int i, int j, int level, sparse_t *k) {
    const uint64_t draw =
        ((uint64_t)level * (uint64_t)g->width + (uint64_t)j) * (uint64_t)g->width + (uint64_t)i;
    const double modulus = pow(g->contrast, random_uniform(1, draw)), poisson = 0.3;
    const double mu = modulus / (2.0 * (1.0 + poisson)),
                 lambda = 2.0 * mu * poisson / (1.0 - 2.0 * poisson);
    const double weight = g->flatness * g->flatness / 8.0;
    double gradient[8][3];
    for (int point = 0; point < 8; point++) {
        gradients(g, point, gradient);
        for (int a = 0; a < 8; a++) {
            const int64_t node = ground_node(g, i + (a & 1), j + (a >> 1 & 1), level + (a >> 2));
            for (int b = 0; b < 8 && node >= 0; b++) {
                const int slot = 13 + 9 * ((b >> 1 & 1) - (a >> 1 & 1)) + 3 * ((b & 1) - (a & 1)) +
                                 (b >> 2) - (a >> 2);
                const double *p = gradient[a], *q = gradient[b];
                const double dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
                if (level + (b >> 2) == 0)
                    continue;
                for (int c = 0; c < 3; c++)
                    for (int d = 0; d < 3; d++)
                        k->value[(9 * slot + 3 * c + d) * k->nodes + node] +=
                            weight *
                            (lambda * p[c] * q[d] + mu * (p[d] * q[c] + (c == d ? dot : 0.0)));
            }
        }
    }
}

sparse_t ground_assemble(const ground_t *g) {
    const int width = g->width;
    sparse_t k = {.nodes = (int64_t)width * width * g->layers};
    k.column = allocate(NEIGHBOURS * k.nodes, sizeof *k.column);
    k.value = allocate(9 * NEIGHBOURS * k.nodes, sizeof *k.value);
#pragma omp parallel for collapse(2)
    for (int j = 0; j < width; j++)
        for (int i = 0; i < width; i++)
            for (int level = 1; level <= g->layers; level++)
                for (int s = 0; s < NEIGHBOURS; s++) {
                    const int64_t node = ground_node(g, i, j, level);
                    const int64_t other =
                        ground_node(g, i + s / 3 % 3 - 1, j + s / 9 - 1, level + s % 3 - 1);
                    k.column[s * k.nodes + node] = (int)(other < 0 ? node : other);
                }
    /* Elements of one colour share no node. */
    for (int colour = 0; colour < 8; colour++)
#pragma omp parallel for collapse(2)
        for (int j = colour & 1; j < width - 1; j += 2)
            for (int i = colour >> 1 & 1; i < width - 1; i += 2)
                for (int level = colour >> 2; level < g->layers; level += 2)
                    add_element(g, i, j, level, &k);
    return k;
}
