/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver.h"
#include "program.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

void solver_multiply(const solver_t *s, const double *x, double *y) {
    const double *value = s->k.value;
    const int *column = s->k.column;
    const int64_t nodes = s->k.nodes;
#pragma omp target teams distribute parallel for device(s->device)                                 \
    map(alloc : value[ : 0], column[ : 0], x[ : 0], y[ : 0])
    for (int64_t i = 0; i < nodes; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int slot = 0; slot < NEIGHBOURS; slot++) {
            const double *v = value + 9 * slot * nodes + i;
            const double *from = x + 3 * (int64_t)column[slot * nodes + i];
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    sum[c] += v[(3 * c + d) * nodes] * from[d];
        }
        for (int c = 0; c < 3; c++)
            y[3 * i + c] = sum[c];
    }
}

static double dot(const solver_t *s, const double *x, const double *y) {
    const int64_t n = s->unknowns;
    double sum = 0.0;
#pragma omp target teams distribute parallel for device(s->device) reduction(+ : sum)              \
    map(tofrom : sum) map(alloc : x[ : 0], y[ : 0])
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* x = p = q = 0, r = b */
static void begin(const solver_t *s) {
    const int64_t n = s->unknowns;
    double *x = s->x, *p = s->p, *q = s->q, *r = s->r;
    const double *b = s->b;
#pragma omp target teams distribute parallel for device(s->device)                                 \
    map(alloc : x[ : 0], p[ : 0], q[ : 0], r[ : 0], b[ : 0])
    for (int64_t i = 0; i < n; i++) {
        x[i] = p[i] = q[i] = 0.0;
        r[i] = b[i];
    }
}

/* x += a p, r -= a q, and z = r, or r over the diagonal. */
static void step(const solver_t *s, preconditioner_t kind, double a) {
    const int64_t n = s->unknowns;
    const int scaled = kind == POINT_JACOBI;
    double *x = s->x, *r = s->r, *z = s->z;
    const double *p = s->p, *q = s->q, *inverse = s->inverse;
#pragma omp target teams distribute parallel for device(s->device)                                 \
    map(alloc : x[ : 0], r[ : 0], z[ : 0], p[ : 0], q[ : 0], inverse[ : 0])
    for (int64_t i = 0; i < n; i++) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
        z[i] = scaled ? inverse[i] * r[i] : r[i];
    }
}

/* p = z + b p */
static void turn(const solver_t *s, double b) {
    const int64_t n = s->unknowns;
    double *p = s->p;
    const double *z = s->z;
#pragma omp target teams distribute parallel for device(s->device) map(alloc : p[ : 0], z[ : 0])
    for (int64_t i = 0; i < n; i++)
        p[i] = z[i] + b * p[i];
}

/* The lower triangles of the diagonal blocks, and the inverse of the diagonal. */
static void extract(const solver_t *s) {
    const double *value = s->k.value;
    const int *column = s->k.column;
    const int64_t nodes = s->k.nodes, order = s->order;
    double *block = s->block, *inverse = s->inverse;
#pragma omp target teams distribute parallel for collapse(2) device(s->device)                     \
    map(alloc : value[ : 0], column[ : 0], block[ : 0], inverse[ : 0])
    for (int64_t i = 0; i < nodes; i++) {
        for (int c = 0; c < 3; c++) {
            const int64_t row = (3 * i + c) % order, first = 3 * i + c - row;
            for (int64_t j = 0; j <= row; j++)
                block[(first + j) * order + row] = 0.0;
            for (int slot = 0; slot < NEIGHBOURS; slot++) {
                for (int d = 0; d < 3; d++) {
                    const int64_t j = 3 * (int64_t)column[slot * nodes + i] + d - first;
                    if (j >= 0 && j <= row)
                        block[(first + j) * order + row] +=
                            value[(9 * slot + 3 * c + d) * nodes + i];
                }
            }
            inverse[3 * i + c] = 1.0 / block[(first + row) * order + row];
        }
    }
}

void solver_prepare(solver_t *s, preconditioner_t kind) {
    const int64_t order = s->order, blocks = s->unknowns / order;
    double *block = s->block;
    int *info = s->info;
    if (kind == NO_PRECONDITIONER)
        return;
    extract(s);
    if (kind == POINT_JACOBI)
        return;
#pragma omp target data use_device_ptr(block, info) device(s -> device)
    require(s->handle, batchlas_dpotrf(s->handle, BATCHLAS_LOWER, s->order, block, s->order,
                                       order * order, info, blocks));
#pragma omp target update from(info[0 : blocks]) device(s -> device)
    for (int64_t i = 0; i < blocks; i++)
        if (info[i] != 0)
            exit(complain("block %lld is not positive definite", (long long)i));
}

/* z := K_block^-1 z for every block at once. */
static void apply_blocks(const solver_t *s) {
    const int64_t order = s->order;
    double *block = s->block, *z = s->z;
#pragma omp target data use_device_ptr(block, z) device(s -> device)
    require(s->handle, batchlas_dpotrs(s->handle, BATCHLAS_LOWER, s->order, 1, block, s->order,
                                       order * order, z, s->order, order, s->unknowns / order));
}

int solver_run(solver_t *s, preconditioner_t kind, double tolerance, int most, double *residual,
               double *seconds) {
    const double start = omp_get_wtime(), size = sqrt(dot(s, s->b, s->b));
    double rho = 0.0, alpha = 0.0;
    int done = -1;
    begin(s);
    for (int i = 0; i <= most && done < 0; i++) {
        step(s, kind, alpha);
        residual[i] = sqrt(dot(s, s->r, s->r)) / size;
        seconds[i] = omp_get_wtime() - start;
        if (residual[i] <= tolerance) {
            done = i;
        } else {
            if (kind == BLOCK_JACOBI)
                apply_blocks(s);
            const double before = rho;
            rho = dot(s, s->r, s->z);
            turn(s, i > 0 ? rho / before : 0.0);
            solver_multiply(s, s->p, s->q);
            alpha = rho / dot(s, s->p, s->q);
        }
    }
    return done;
}
