/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditioned conjugate gradients for layered ground; docs/block_jacobi.md explains it. */
#include "program.h"
#include "solver.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "block_jacobi";

static const char help[] =
    "Usage: block_jacobi [OPTION VALUE]...\n"
    "Solves linear elasticity of layered ground on bedrock by conjugate gradients: without a\n"
    "preconditioner, with point Jacobi, and with block Jacobi by batched Cholesky.\n"
    "\n"
    "  --device WHERE    auto, host or an OpenMP device number (default auto)\n"
    "  --width N         columns of nodes in either direction, 2 to 2000 (default 24)\n"
    "  --layers N        nodes in a column above the bedrock, 1 to 64 (default 6)\n"
    "  --patch N         columns of a block in either direction, 1 to 8, which divides the width:\n"
    "                    a block has 3 N^2 layers unknowns, at most 1024 (default 2)\n"
    "  --flatness RATIO  distance of columns over that of layers, 0.1 to 1000 (default 10)\n"
    "  --contrast RATIO  of the stiffest to the softest element, 1 to 10^9 (default 1000)\n"
    "  --tolerance T     on the residual over the right-hand side, 1e-14 to 0.1 (default 1e-8)\n"
    "  --iterations N    most iterations, 1 to 1000000 (default 10000)\n"
    "  --history FILE    write the residuals of all iterations as CSV\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 failed on the way or not converged, 2 wrong option.";

static const char *const name[PRECONDITIONERS] = {"none", "point Jacobi", "block Jacobi"};

/* The displacement that is to come out: waves that grow from the bedrock up. */
static void displace(const ground_t *g, double *x) {
    const double wave = 6.283185307179586 / (g->width - 1);
#pragma omp parallel for collapse(2)
    for (int j = 0; j < g->width; j++) {
        for (int i = 0; i < g->width; i++) {
            for (int level = 1; level <= g->layers; level++) {
                double *u = x + 3 * ground_node(g, i, j, level);
                u[0] = (double)level / g->layers * sin(wave * i);
                u[1] = (double)level / g->layers * cos(wave * j);
                u[2] = (double)level / g->layers * sin(wave * (i + j));
            }
        }
    }
}

/* Solves for the displacement in s->x with each preconditioner; nonzero if one did not converge. */
static int compare(solver_t *s, double assembled, double tolerance, int most, const char *history) {
    const int64_t n = s->unknowns;
    double *x = s->x, *b = s->b, *expected = allocate(n, sizeof *expected), energy = 0.0;
    double *residual = allocate(most + 1, sizeof *residual);
    double *seconds = allocate(most + 1, sizeof *seconds);
    FILE *file = history != NULL ? open_output(history) : NULL;
    int failed = 0;

    memcpy(expected, x, (size_t)n * sizeof *x);
    solver_multiply(s, x, b);
#pragma omp target update from(b[0 : n]) device(s -> device)
    for (int64_t i = 0; i < n; i++)
        energy += 0.5 * b[i] * expected[i];
    printf("device          %s\n"
           "unknowns        %" PRId64 ", in %" PRId64 " blocks of %d\n"
           "assembled in    %.3f s\n"
           "energy          %.12g\n\n"
           "preconditioner  iterations  ms to prepare  ms an iteration  ms in all   error\n",
           device_words(s->device), n, n / s->order, s->order, assembled, energy);
    if (file != NULL)
        fprintf(file, "preconditioner,iteration,residual,ms\n");
    for (int kind = 0; kind < PRECONDITIONERS; kind++) {
        solver_prepare(s, (preconditioner_t)kind); /* loads kernels and finds workspace */
        solver_run(s, (preconditioner_t)kind, tolerance, 1, residual, seconds);
        const double start = omp_get_wtime();
        solver_prepare(s, (preconditioner_t)kind);
        const double prepared = omp_get_wtime() - start;
        int done = solver_run(s, (preconditioner_t)kind, tolerance, most, residual, seconds);
#pragma omp target update from(x[0 : n]) device(s -> device)
        const int converged = done >= 0;
        done = converged ? done : most;
        double error = 0.0, size = 0.0;
        for (int64_t i = 0; i < n; i++) {
            error += (x[i] - expected[i]) * (x[i] - expected[i]);
            size += expected[i] * expected[i];
        }
        printf("%-14s  %-10d  %-13.3f  %-15.4f  %-10.2f  %.2e%s\n", name[kind], done,
               1e3 * prepared, 1e3 * seconds[done] / (done > 0 ? done : 1),
               1e3 * (prepared + seconds[done]), sqrt(error / size),
               converged ? "" : ", not converged");
        for (int i = 0; i <= done && file != NULL; i++)
            fprintf(file, "%s,%d,%.6e,%.6f\n", name[kind], i, residual[i],
                    1e3 * (prepared + seconds[i]));
        failed |= !converged;
    }
    if (file != NULL)
        close_output(file, history);
    free(expected);
    free(residual);
    free(seconds);
    return failed;
}

int main(int argc, char **argv) {
    ground_t g = {.width = 24, .layers = 6, .patch = 2, .flatness = 10.0, .contrast = 1000.0};
    const char *history = NULL;
    double tolerance = 1e-8;
    int wanted = DEVICE_AUTO, most = 10000, failed;
    const option_t option[] = {
        {"--device", take_device, &wanted, 0, 0, EXPECTED_DEVICE},
        {"--width", take_whole, &g.width, 2, 2000, NULL},
        {"--layers", take_whole, &g.layers, 1, 64, NULL},
        {"--patch", take_whole, &g.patch, 1, 8, NULL},
        {"--flatness", take_real, &g.flatness, 0.1, 1000, NULL},
        {"--contrast", take_real, &g.contrast, 1, 1e9, NULL},
        {"--tolerance", take_real, &tolerance, 1e-14, 0.1, NULL},
        {"--iterations", take_whole, &most, 1, 1000000, NULL},
        {"--history", take_text, &history, 0, 0, "a file name"},
    };
    const int outcome = options_take(argc, argv, help, option, sizeof option / sizeof *option);
    if (outcome != GO_ON)
        return outcome;
    solver_t s = {.order = 3 * g.patch * g.patch * g.layers};
    if (g.width % g.patch != 0)
        return complain("a width of %d is no multiple of patch %d", g.width, g.patch), EXIT_USAGE;
    if (s.order > 1024)
        return complain("a block would have %d unknowns, at most 1024", s.order), EXIT_USAGE;
    if (!writable(history) || open_device(wanted, &s.handle, &s.device) != 0)
        return EXIT_USAGE;

    const double start = omp_get_wtime();
    s.k = ground_assemble(&g);
    const double assembled = omp_get_wtime() - start;
    enum { VECTORS = 7 };
    const int64_t nodes = s.k.nodes, n = s.unknowns = 3 * nodes, blocks = n / s.order;
    double *value = s.k.value, *vectors = allocate(VECTORS * n, sizeof *vectors);
    double *block = s.block = allocate(n * s.order, sizeof *block);
    int *info = s.info = allocate(blocks, sizeof *info), *column = s.k.column;
    double **const vector[VECTORS] = {&s.x, &s.p, &s.q, &s.r, &s.z, &s.b, &s.inverse};
    for (int v = 0; v < VECTORS; v++)
        *vector[v] = vectors + v * n;
    displace(&g, s.x);
#pragma omp target data device(s.device)                                                           \
    map(to : value[0 : 9 * NEIGHBOURS * nodes], column[0 : NEIGHBOURS * nodes])                    \
    map(to : vectors[0 : VECTORS * n]) map(alloc : block[0 : n * s.order], info[0 : blocks])
    failed = compare(&s, assembled, tolerance, most, history);

    batchlas_destroy(s.handle);
    void *const memory[] = {value, column, vectors, block, info};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
