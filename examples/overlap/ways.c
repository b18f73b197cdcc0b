/* SPDX-License-Identifier: BSD-3-Clause */
#include "ways.h"
#include "program.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* ---- one cell: a Gaussian process, on host and device ---------------------------------------- */

#pragma omp declare target

/* Matern covariance of smoothness 3/2, (1 + t) exp(-t) with t = sqrt(3) distance / range; the range
 * is half the width of a cell. Source: Rasmussen & Williams, Gaussian Processes for Machine
 * Learning, 2006, eq. 4.17. */
static double covariance(double dx, double dy) {
    const double t = 2.0 * sqrt(3.0) * sqrt(dx * dx + dy * dy);
    return (1.0 + t) * exp(-t);
}

/* One row of the lower triangle, with noise of variance 1e-6, and of the right-hand side. */
static void assemble_row(const double *seen, int n, int row, double *matrix, double *rhs) {
    const double *p = seen + 3 * row;
    for (int col = 0; col < row; col++)
        matrix[(int64_t)col * n + row] = covariance(p[0] - seen[3 * col], p[1] - seen[3 * col + 1]);
    matrix[(int64_t)row * n + row] = 1.0 + 1e-6;
    rhs[row] = p[2];
}

/* NaN where the system could not be solved. */
static double prediction(const double *seen, int n, int target, const double *weight, int info) {
    const double x = (target % LATTICE + 0.5) / LATTICE, y = (target / LATTICE + 0.5) / LATTICE;
    double sum = info == 0 ? 0.0 : NAN;
    for (int j = 0; j < n; j++)
        sum += weight[j] * covariance(x - seen[3 * j], y - seen[3 * j + 1]);
    return sum;
}

#pragma omp end declare target

/* ---- a chunk of them
 * ---------------------------------------------------------------------------------
 */

static int64_t cells_of(const job_t *j, int64_t chunk) {
    const int64_t left = j->cells - chunk * j->chunk;
    return left < j->chunk ? left : j->chunk;
}

/* The lower triangles and right-hand sides of a chunk, into the matrices of a lane. */
static void assemble(const job_t *j, int lane, int64_t count, const double *seen) {
    const int n = j->n;
    const int64_t before = lane * j->chunk;
    double *matrix = j->matrix, *weight = j->weight;
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) device(j->device)   \
    map(alloc : seen[ : 0], matrix[ : 0], weight[ : 0])
    for (int64_t i = 0; i < count; i++)
        for (int row = 0; row < n; row++)
            assemble_row(seen + 3 * n * i, n, row, matrix + (before + i) * n * n,
                         weight + (before + i) * n);
}

static void solve(const job_t *j, int lane, int64_t count, int *info) {
    const int64_t n = j->n, before = lane * j->chunk;
    double *matrix = j->matrix, *weight = j->weight;
#pragma omp target data use_device_ptr(matrix, weight, info) device(j -> device)
    require(j->handle[lane],
            batchlas_dposv(j->handle[lane], BATCHLAS_LOWER, j->n, 1, matrix + n * n * before, j->n,
                           n * n, weight + n * before, j->n, n, info, count));
}

static void predict(const job_t *j, int lane, int64_t count, const double *seen, const int *info,
                    double *predicted) {
    const int n = j->n;
    const int64_t before = lane * j->chunk;
    const double *weight = j->weight;
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) device(j->device)   \
    map(alloc : seen[ : 0], weight[ : 0], info[ : 0], predicted[ : 0])
    for (int64_t i = 0; i < count; i++)
        for (int t = 0; t < TARGETS; t++)
            predicted[TARGETS * i + t] =
                prediction(seen + 3 * n * i, n, t, weight + (before + i) * n, info[i]);
}

/* ---- one after the other --------------------------------------------------------------------- */

static double stamp(moment_t *when, double begin) {
    *when = (moment_t){begin, omp_get_wtime()};
    return when->end;
}

void one_after_the_other(const job_t *job, moment_t *when) {
    batchlas_set_nowait(job->handle[0], 0);
    for (int64_t c = 0; c < job->chunks; c++) {
        const int64_t count = cells_of(job, c), length = 3 * job->n * count;
        double *seen = job->seen + 3 * job->n * c * job->chunk,
               *predicted = job->predicted + TARGETS * c * job->chunk;
        int *info = job->info + c * job->chunk;
        moment_t *at = when + STAGES * c;
        double now = omp_get_wtime();
#pragma omp target update to(seen[0 : length]) device(job -> device)
        now = stamp(at + UPLOAD, now);
        assemble(job, 0, count, seen);
        now = stamp(at + ASSEMBLE, now);
        solve(job, 0, count, info);
        now = stamp(at + SOLVE, now);
        predict(job, 0, count, seen, info, predicted);
        now = stamp(at + PREDICT, now);
#pragma omp target update from(predicted[0 : TARGETS * count], info[0 : count])                    \
    device(job -> device)
        stamp(at + DOWNLOAD, now);
    }
}

/* ---- as a graph ------------------------------------------------------------------------------ */

/* Notes when a stage's predecessors are done, and when it is itself: a task between theirs. */
static void note(double *moment, char *chunk, char *engine) {
#pragma omp task depend(inout : *chunk, *engine)
    *moment = omp_get_wtime();
}

/* The stages of a chunk follow each other by `chunk`. What else must not meet: chunks that share a
 * handle and matrices, by `lane`, and copies in one direction, by `up` and `down`.
 *
 * assemble and predict wait for their regions in tasks of their own, rather than being `target
 * nowait`: where such a region falls back to the host and forks there, LLVM 19 can abort. So can a
 * `teams` region in a worker thread on the host, unless it names a limit for its threads. */
static void enqueue(const job_t *job, int64_t c, moment_t *at, char *chunk, char *lane, char *up,
                    char *down) {
    const int64_t count = cells_of(job, c), length = 3 * job->n * count;
    double *seen = job->seen + 3 * job->n * c * job->chunk,
           *predicted = job->predicted + TARGETS * c * job->chunk;
    int *info = job->info + c * job->chunk;
    const int l = (int)(c % LANES);
    omp_event_handle_t solved = (omp_event_handle_t)0;

    note(&at[UPLOAD].begin, chunk, up);
#pragma omp target update to(seen[0 : length]) device(job -> device)                               \
    nowait depend(inout : *chunk, *up)
    note(&at[UPLOAD].end, chunk, up);

#pragma omp task depend(inout : *chunk, *lane)
    {
        const double begin = omp_get_wtime();
        assemble(job, l, count, seen);
        stamp(at + ASSEMBLE, begin);
    }

#pragma omp task detach(solved) depend(inout : *chunk, *lane)
    {
        /* Enqueues and returns; the task is done when the handle's stream has come to the event. */
        at[SOLVE].begin = omp_get_wtime();
        solve(job, l, count, info);
        require(job->handle[l], batchlas_fulfill_event(job->handle[l], solved));
    }
    note(&at[SOLVE].end, chunk, lane);

#pragma omp task depend(inout : *chunk, *lane)
    {
        const double begin = omp_get_wtime();
        predict(job, l, count, seen, info, predicted);
        stamp(at + PREDICT, begin);
    }

    note(&at[DOWNLOAD].begin, chunk, down);
#pragma omp target update from(predicted[0 : TARGETS * count], info[0 : count])                    \
    device(job -> device) nowait depend(inout : *chunk, *down)
    note(&at[DOWNLOAD].end, chunk, down);
}

void overlapped(const job_t *job, moment_t *when) {
    char *chunk = allocate(job->chunks, 1), lane[LANES], up, down;
    for (int l = 0; l < LANES; l++)
        batchlas_set_nowait(job->handle[l], 1);
#pragma omp parallel
#pragma omp single
    {
        for (int64_t c = 0; c < job->chunks; c++)
            enqueue(job, c, when + STAGES * c, chunk + c, lane + c % LANES, &up, &down);
#pragma omp taskwait
    }
    for (int l = 0; l < LANES; l++)
        require(job->handle[l], batchlas_wait(job->handle[l]));
    free(chunk);
}
