/* SPDX-License-Identifier: BSD-3-Clause */
#include "vecchia.h"
#include "program.h"

#include <omp.h>
#include <stdio.h>

int64_t vecchia_chunk(int neighbours, int64_t sites, int on_host) {
    const int64_t order = neighbours + 1, bytes = 8 * order * (order + 1);
    const int64_t budget = on_host ? INT64_C(32) << 20 : INT64_C(1) << 30;
    int64_t chunk = budget / bytes < sites ? budget / bytes : sites;
    chunk = (chunk + VECCHIA_GRAIN - 1) / VECCHIA_GRAIN * VECCHIA_GRAIN;
    return chunk > 0 ? chunk : VECCHIA_GRAIN;
}

/* Lower triangles of the blocks of `sites` sites, and the right-hand sides. */
static void assemble(const vecchia_t *v, matern_t covariance, int64_t sites, const double *site,
                     const int *neighbour) {
    const double *data = v->data;
    double *block = v->block, *solution = v->solution;
    const int m = v->neighbours, order = m + 1, nu2 = covariance.twice_smoothness;
    const double scale = sqrt((double)nu2) / covariance.range;
    const double diagonal = 1.0 + covariance.nugget_ratio;

#pragma omp target teams distribute parallel for collapse(2) device(v->device)                     \
    firstprivate(m, order, nu2, scale, diagonal, sites)                                            \
    map(alloc : data[ : 0], block[ : 0], solution[ : 0], site[ : 0], neighbour[ : 0])
    for (int64_t s = 0; s < sites; s++) {
        for (int col = 0; col < order; col++) {
            const double *at = site + 3 * s;
            const int *near = neighbour + m * s;
            double *column = block + (s * order + col) * order;
            const double *p = block_row(data, at, near, m, col);
            column[col] = p ? diagonal : 1.0;
            for (int row = col + 1; row < order; row++) {
                const double *q = block_row(data, at, near, m, row);
                column[row] = p && q ? matern_correlation(nu2, scale * chord(p, q)) : 0.0;
            }
            solution[s * order + col] = col == m ? 1.0 : 0.0;
        }
    }
}

static int solve(vecchia_t *v, int64_t sites) {
    const int order = v->neighbours + 1;
    double *block = v->block, *solution = v->solution;
    int *info = v->info;
    batchlas_status_t status;

#pragma omp target data use_device_ptr(block, solution, info) device(v -> device)
    status = batchlas_dposv(v->handle, BATCHLAS_LOWER, order, 1, block, order,
                            (int64_t)order * order, solution, order, order, info, sites);
    return library_failed(v->handle, status);
}

/* Sums over groups of VECCHIA_GRAIN sites, so that the total does not depend on how many threads
 * or processes share the work, as it would with a floating-point reduction. Returns the failed
 * blocks. */
static int64_t sum_groups(const vecchia_t *v, matern_t covariance, int64_t first, int64_t sites) {
    const double *value = v->value, *solution = v->solution;
    const int *neighbour = v->neighbour, *info = v->info;
    double *partial = v->partial + 4 * (first / VECCHIA_GRAIN);
    const int m = v->neighbours, order = m + 1;
    const double marginal = 1.0 / (1.0 + covariance.nugget_ratio);
    const int64_t groups = (sites + VECCHIA_GRAIN - 1) / VECCHIA_GRAIN;
    int64_t failed = 0;

#pragma omp target teams distribute parallel for device(v->device) reduction(+ : failed)           \
    firstprivate(m, order, marginal, first, sites, groups) map(tofrom : failed)                    \
    map(alloc : value[ : 0], solution[ : 0], neighbour[ : 0], info[ : 0], partial[ : 0])
    for (int64_t g = 0; g < groups; g++) {
        double ee = 0.0, eh = 0.0, hh = 0.0, log_d = 0.0;
        const int64_t end = (g + 1) * VECCHIA_GRAIN < sites ? (g + 1) * VECCHIA_GRAIN : sites;
        for (int64_t s = g * VECCHIA_GRAIN; s < end; s++) {
            const int64_t self = first + s;
            const double *x = solution + s * order;
            double precision = x[m];
            double xy = x[m] * value[self], x1 = x[m]; /* x^T y and x^T 1 */
            if (info[s] != 0) {
                precision = marginal;
                xy = marginal * value[self];
                x1 = marginal;
                failed++;
            } else {
                for (int j = 0; j < m; j++) {
                    const int k = neighbour[self * m + j];
                    if (k >= 0) {
                        xy += x[j] * value[k];
                        x1 += x[j];
                    }
                }
            }
            ee += xy * xy / precision;
            eh += xy * x1 / precision;
            hh += x1 * x1 / precision;
            log_d -= log(precision);
        }
        partial[4 * g] = ee;
        partial[4 * g + 1] = eh;
        partial[4 * g + 2] = hh;
        partial[4 * g + 3] = log_d;
    }
    return failed;
}

int vecchia_likelihood(vecchia_t *v, matern_t covariance, int count, vecchia_profile_t *profile) {
    const int64_t groups = (count + VECCHIA_GRAIN - 1) / VECCHIA_GRAIN;
    const int64_t begin = team_begin(&v->team, groups, v->team.rank),
                  end = team_begin(&v->team, groups, v->team.rank + 1);
    const int64_t last = end < groups ? end * VECCHIA_GRAIN : count;
    int64_t failed = 0;
    for (int64_t first = begin * VECCHIA_GRAIN; first < last; first += v->chunk) {
        const int64_t sites = last - first < v->chunk ? last - first : v->chunk;
        const double t0 = omp_get_wtime();
        assemble(v, covariance, sites, v->data + 3 * first, v->neighbour + v->neighbours * first);
        const double t1 = omp_get_wtime();
        if (solve(v, sites))
            return 1;
        const double t2 = omp_get_wtime();
        failed += sum_groups(v, covariance, first, sites);
        v->likelihood.assemble += t1 - t0;
        v->likelihood.solve += t2 - t1;
        v->likelihood.reduce += omp_get_wtime() - t2;
    }
    const double t0 = omp_get_wtime();
    double *partial = v->partial;
#pragma omp target update from(partial[4 * begin : 4 * (end - begin)]) device(v -> device)
    team_gather(&v->team, partial, groups, 4 * sizeof *partial);
    profile->failed = team_sum(&v->team, failed);
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t g = 0; g < groups; g++)
        for (int k = 0; k < 4; k++)
            sum[k] += partial[4 * g + k];
    const double ee = sum[0], eh = sum[1], hh = sum[2], log_d = sum[3],
                 log_2pi = 1.8378770664093453;
    profile->mean = eh / hh;
    profile->variance = (ee - eh * eh / hh) / count;
    profile->log_likelihood = -0.5 * (count * (log_2pi + log(profile->variance) + 1.0) + log_d);
    v->likelihood.reduce += omp_get_wtime() - t0;
    v->likelihood.calls++;
    v->likelihood.sites += count;
    return 0;
}

int vecchia_predict(vecchia_t *v, matern_t covariance, double mean, double variance, int64_t sites,
                    const double *site, const int *neighbour, double *predicted,
                    double *error_variance, int64_t *failed) {
    const double *value = v->value, *solution = v->solution;
    const int *info = v->info;
    const int m = v->neighbours, order = m + 1;
    const double marginal = variance * (1.0 + covariance.nugget_ratio);
    const int64_t begin = team_begin(&v->team, sites, v->team.rank),
                  end = team_begin(&v->team, sites, v->team.rank + 1), own = end - begin;
    int64_t bad = 0;
    int status = 0;

#pragma omp target data device(v->device)                                                          \
    map(to : site[3 * begin : 3 * own], neighbour[m * begin : m * own])                            \
    map(from : predicted[begin : own], error_variance[begin : own])
    for (int64_t first = begin; first < end && status == 0; first += v->chunk) {
        const int64_t count = end - first < v->chunk ? end - first : v->chunk;
        const double t0 = omp_get_wtime();
        assemble(v, covariance, count, site + 3 * first, neighbour + m * first);
        const double t1 = omp_get_wtime();
        status = solve(v, count);
        const double t2 = omp_get_wtime();
#pragma omp target teams distribute parallel for device(v->device) reduction(+ : bad)              \
    firstprivate(m, order, mean, variance, marginal, first, count) map(tofrom : bad)               \
    map(alloc : value[ : 0], solution[ : 0], neighbour[ : 0], info[ : 0], predicted[ : 0],         \
            error_variance[ : 0])
        for (int64_t s = 0; s < count; s++) {
            const double *x = solution + s * order;
            double estimate = mean, spread = marginal;
            if (info[s] == 0) {
                double sum = 0.0;
                for (int j = 0; j < m; j++) {
                    const int k = neighbour[(first + s) * m + j];
                    sum += k >= 0 ? x[j] * (value[k] - mean) : 0.0;
                }
                estimate -= sum / x[m];
                spread = variance / x[m];
            } else {
                bad++;
            }
            predicted[first + s] = estimate;
            error_variance[first + s] = spread;
        }
        v->prediction.assemble += t1 - t0;
        v->prediction.solve += t2 - t1;
        v->prediction.reduce += omp_get_wtime() - t2;
    }
    v->prediction.calls++;
    v->prediction.sites += sites;
    if (status != 0)
        return status;
    team_gather(&v->team, predicted, sites, sizeof *predicted);
    team_gather(&v->team, error_variance, sites, sizeof *error_variance);
    *failed = team_sum(&v->team, bad);
    return 0;
}
