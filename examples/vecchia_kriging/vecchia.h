/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vecchia's approximation of a Gaussian process: every site conditions on a few data points.
 *
 * For each site the covariance of its neighbours and of the site itself, in this order, is one
 * block K of order m + 1. With K x = e_(m+1) the conditional law of the value at the site is
 *     variance of the error  1 / x_(m+1),   error  sum_j x_j y_j / x_(m+1)
 * (the last column of K^-1 holds the negative kriging weights over the variance), so one batched
 * posv with a single right-hand side per site gives everything, and nothing is computed twice.
 */
#ifndef VECCHIA_H
#define VECCHIA_H

#include "matern.h"
#include "team.h"

#include <batchlas/batchlas.h>
#include <stdint.h>

/* Sites whose terms of the likelihood one thread adds up. */
enum { VECCHIA_GRAIN = 16 };

typedef struct {
    double assemble, solve, reduce; /* seconds */
    int64_t calls, sites;
} vecchia_clock_t;

typedef struct {
    batchlas_handle_t handle;
    int device; /* OpenMP device number of the handle */
    int n, neighbours;
    int64_t chunk; /* sites per batch, a multiple of VECCHIA_GRAIN */
    team_t team;   /* each process has all data and computes its share of the sites */

    /* Mapped by the caller's target data region. */
    const double *data;   /* 3 x n, positions in km */
    const double *value;  /* n */
    const int *neighbour; /* neighbours x n, earlier points only, -1 where there is none */
    double *block;        /* (neighbours + 1)^2 x chunk */
    double *solution;     /* (neighbours + 1) x chunk */
    int *info;            /* chunk */
    double *partial;      /* 4 x ceil(n / VECCHIA_GRAIN) */

    vecchia_clock_t likelihood, prediction;
} vecchia_t;

typedef struct {
    double mean, variance; /* that maximise the likelihood, in closed form */
    double log_likelihood;
    int64_t failed; /* blocks that are not positive definite; those sites were left unconditioned */
} vecchia_profile_t;

/* Sites per batch: all n on a GPU if they fit in about 1 GiB, what stays in cache on the host. */
int64_t vecchia_chunk(int neighbours, int64_t sites, int on_host);

/* Log-likelihood of the first `count` values, profiled over mean and variance:
 *     -1/2 [ count (log 2 pi + log variance + 1) + sum_i log d_i ],  d_i = 1 / x_(m+1) of site i.
 * Returns nonzero, with a sentence on stderr, if the library failed. Source: Vecchia, J. R. Stat.
 * Soc. B 50, 1988; Guinness, Technometrics 60, 2018. */
int vecchia_likelihood(vecchia_t *v, matern_t covariance, int count, vecchia_profile_t *profile);

/* Kriging at `sites` positions (3 x sites) given their neighbours among the data: mean[i] and
 * error_variance[i] of a new, noisy value at site i. *failed counts the blocks that were not
 * positive definite; those sites get the process's own mean and variance. */
int vecchia_predict(vecchia_t *v, matern_t covariance, double mean, double variance, int64_t sites,
                    const double *site, const int *neighbour, double *predicted,
                    double *error_variance, int64_t *failed);

#endif
