/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"
#include "program.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void worker_open(worker_t *w, int device, const survey_t *s, int64_t first, int64_t items) {
    const int64_t n = s->epochs, curve = first / s->scales;
    const int64_t curves = items > 0 ? (first + items - 1) / s->scales - curve + 1 : 0;
    /* Matrices that are held at once: what stays in cache on the host, 1 GiB elsewhere. */
    const int64_t most = INT64_C(1) << (device == omp_get_initial_device() ? 24 : 30);
    int64_t chunk = most / (8 * n * n);
    chunk = chunk < 1 ? 1 : (chunk < items ? chunk : items);

    double *time = allocate_for_copies(n * curves, sizeof *time, device);
    double *value = allocate_for_copies(n * curves, sizeof *value, device);
    double *likelihood = allocate_for_copies(items, sizeof *likelihood, device);
    double *matrix = allocate(n * n * chunk, sizeof *matrix),
           *scale = allocate(s->scales, sizeof *scale);
    double *solution = allocate(n * chunk, sizeof *solution);
    double *logdet = allocate(chunk, sizeof *logdet);
    int *info = allocate(chunk, sizeof *info);
    *w = (worker_t){NULL,       device, first,    items,  chunk, *s,
                    likelihood, matrix, solution, logdet, info};
    w->survey.curves = curves;
    w->survey.time = memcpy(time, s->time + n * curve, (size_t)(n * curves) * sizeof *time);
    w->survey.value = memcpy(value, s->value + n * curve, (size_t)(n * curves) * sizeof *value);
    w->survey.scale = memcpy(scale, s->scale, (size_t)s->scales * sizeof *scale);
    require(NULL, batchlas_create(&w->handle, device));
#pragma omp target enter data device(device) map(to : scale[0 : s -> scales])                      \
    map(alloc : time[0 : n * curves], value[0 : n * curves], likelihood[0 : items])                \
    map(alloc : matrix[0 : n * n * chunk], solution[0 : n * chunk])                                \
    map(alloc : logdet[0 : chunk], info[0 : chunk])
}

void worker_close(worker_t *w) {
    double *time = w->survey.time, *value = w->survey.value, *likelihood = w->likelihood,
           *scale = w->survey.scale, *matrix = w->matrix, *solution = w->solution,
           *logdet = w->logdet;
    int *info = w->info;
#pragma omp target exit data device(w->device)                                                     \
    map(release : time[ : 0], value[ : 0], likelihood[ : 0], matrix[ : 0], solution[ : 0])         \
    map(release : logdet[ : 0], info[ : 0], scale[ : 0])
    batchlas_destroy(w->handle);
    free_for_copies(time);
    free_for_copies(value);
    free_for_copies(likelihood);
    void *const rest[] = {scale, matrix, solution, logdet, info};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        free(rest[i]);
}

/* thread_limit is the device's default; on the host LLVM 19 wants it said in a worker thread. */
static void assemble(const worker_t *w, int64_t begin, int64_t count, const double *time,
                     const double *value) {
    const int n = w->survey.epochs, scales = w->survey.scales;
    const int64_t item = begin + w->first % scales; /* counted from the first curve here */
    const double *scale = w->survey.scale, noise = w->survey.noise;
    double *matrix = w->matrix, *solution = w->solution;
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) device(w->device)   \
    map(alloc : time[ : 0], value[ : 0], scale[ : 0], matrix[ : 0], solution[ : 0])
    for (int64_t i = 0; i < count; i++) {
        for (int row = 0; row < n; row++) {
            const double *t = time + (item + i) / scales * n;
            const double rate = 1.0 / scale[(item + i) % scales];
            for (int col = 0; col < row; col++)
                matrix[(i * n + col) * n + row] = exp(-rate * (t[row] - t[col]));
            matrix[(i * n + row) * n + row] = 1.0 + noise;
            solution[i * n + row] = value[(item + i) / scales * n + row];
        }
    }
}

static void solve(const worker_t *w, int64_t count) {
    const int n = w->survey.epochs;
    double *matrix = w->matrix, *solution = w->solution, *logdet = w->logdet;
    int *info = w->info;
#pragma omp target data use_device_ptr(matrix, solution, logdet, info) device(w -> device)
    {
        require(w->handle, batchlas_dposv(w->handle, BATCHLAS_LOWER, n, 1, matrix, n,
                                          (int64_t)n * n, solution, n, n, info, count));
        require(w->handle, batchlas_dpotrf_logdet(w->handle, BATCHLAS_LOWER, n, matrix, n,
                                                  (int64_t)n * n, logdet, count));
    }
}

static void reduce(const worker_t *w, int64_t begin, int64_t count, double *likelihood) {
    const int n = w->survey.epochs, scales = w->survey.scales;
    const int64_t item = begin + w->first % scales;
    const double *value = w->survey.value, *solution = w->solution, *logdet = w->logdet;
    const int *info = w->info;
#pragma omp target teams distribute parallel for thread_limit(128) device(w->device)               \
    map(alloc : value[ : 0], solution[ : 0], logdet[ : 0], info[ : 0], likelihood[ : 0])
    for (int64_t i = 0; i < count; i++) {
        const double *y = value + (item + i) / scales * n, log_2pi = 1.8378770664093453;
        double square = 0.0;
        for (int k = 0; k < n; k++)
            square += y[k] * solution[i * n + k];
        likelihood[begin + i] = info[i] == 0 ? -0.5 * (square + logdet[i] + n * log_2pi) : NAN;
    }
}

void worker_evaluate(worker_t *w) {
    const int64_t values = w->survey.epochs * w->survey.curves;
    double *time = w->survey.time, *value = w->survey.value, *likelihood = w->likelihood;
#pragma omp target update to(time[0 : values], value[0 : values]) device(w -> device)
    for (int64_t begin = 0; begin < w->items; begin += w->chunk) {
        const int64_t count = w->items - begin < w->chunk ? w->items - begin : w->chunk;
        assemble(w, begin, count, time, value);
        solve(w, count);
        reduce(w, begin, count, likelihood);
    }
#pragma omp target update from(likelihood[0 : w->items]) device(w -> device)
}
