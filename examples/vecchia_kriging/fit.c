/* SPDX-License-Identifier: BSD-3-Clause */
#include "fit.h"
#include "program.h"

#include <nlopt.h>
#include <stdio.h>

typedef struct {
    vecchia_t *v;
    fit_t *fit;
    nlopt_opt search;
    double nugget_ratio;
    int count, progress, broken;
} objective_t;

/* From 1 km to the diameter of the Earth; from a nugget that only keeps near twins apart to a field
 * that drowns in it. */
static const double log_range[2] = {0.0, 9.45}, log_nugget[2] = {-13.8, 4.6};

static matern_t unpack(const objective_t *o, unsigned dimensions, const double *x) {
    matern_t covariance = o->fit->covariance;
    covariance.range = exp(x[0]);
    covariance.nugget_ratio = dimensions > 1 ? exp(x[1]) : o->nugget_ratio;
    return covariance;
}

static double negative_log_likelihood(unsigned dimensions, const double *x, double *gradient,
                                      void *context) {
    objective_t *o = context;
    vecchia_profile_t profile;
    const matern_t covariance = unpack(o, dimensions, x);
    (void)gradient;
    if (vecchia_likelihood(o->v, covariance, o->count, &profile) != 0) {
        o->broken = 1;
        nlopt_force_stop(o->search);
        return HUGE_VAL;
    }
    o->fit->evaluations++;
    o->fit->failed_blocks += profile.failed;
    if (o->progress)
        fprintf(stderr,
                "\r%d/2, %d points, evaluation %d: range %.4g km, log-likelihood %.3f\033[K",
                covariance.twice_smoothness, o->count, o->fit->evaluations, covariance.range,
                profile.log_likelihood);
    return isfinite(profile.log_likelihood) ? -profile.log_likelihood : HUGE_VAL;
}

int fit_covariance(vecchia_t *v, matern_t start, double nugget_ratio, int rough, int evaluations,
                   int progress, fit_t *fit) {
    const unsigned dimensions = nugget_ratio < 0.0 ? 2 : 1;
    const int stage[2] = {rough, v->n};
    double x[2] = {log(start.range), log(start.nugget_ratio)};

    *fit = (fit_t){.covariance = start};
    for (int s = rough < v->n ? 0 : 1; s < 2; s++) {
        const double low[2] = {log_range[0], log_nugget[0]},
                     high[2] = {log_range[1], log_nugget[1]};
        const double step = s == 0 || rough >= v->n ? 1.0 : 0.3;
        double least;
        objective_t objective = {v, fit, NULL, nugget_ratio, stage[s], progress, 0};
        nlopt_opt search = nlopt_create(NLOPT_LN_BOBYQA, dimensions);
        if (search == NULL)
            return complain("NLopt has no memory for a search");
        objective.search = search;
        nlopt_set_min_objective(search, negative_log_likelihood, &objective);
        nlopt_set_lower_bounds(search, low);
        nlopt_set_upper_bounds(search, high);
        nlopt_set_initial_step1(search, step);
        nlopt_set_xtol_abs1(search, s == 0 ? 1e-1 : 3e-3);
        nlopt_set_maxeval(search, evaluations);
        const nlopt_result result = nlopt_optimize(search, x, &least);
        nlopt_destroy(search);
        if (objective.broken)
            return 1;
        fit->converged = result > 0 && result != NLOPT_MAXEVAL_REACHED;
        fit->covariance = unpack(&objective, dimensions, x);
    }
    return vecchia_likelihood(v, fit->covariance, v->n, &fit->profile);
}
