/* SPDX-License-Identifier: BSD-3-Clause */
#include "holdout.h"
#include "elevation.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double quantile_95 = 1.6448536269514722; /* of the standard normal law */

/* Weights 1 / distance^2. Source: Shepard, Proc. ACM National Conference, 1968. */
static double inverse_distance(const vecchia_t *v, const airport_t *airport, const double *at,
                               const int *neighbour) {
    double sum = 0.0, weights = 0.0;
    for (int j = 0; j < v->neighbours && neighbour[j] >= 0; j++) {
        const double distance = chord(at, v->data + 3 * (ptrdiff_t)neighbour[j]);
        const double weight = 1.0 / (distance * distance);
        sum += weight * airport[neighbour[j]].elevation;
        weights += weight;
    }
    return sum / weights;
}

int holdout_score(vecchia_t *v, const fit_t *fit, const airport_t *airport, int sites,
                  const double *site, const int *neighbour, const char *predictions,
                  holdout_t *score) {
    const int n = v->n, m = v->neighbours;
    double *centre = malloc((size_t)sites * sizeof *centre);
    double *variance = malloc((size_t)sites * sizeof *variance);
    FILE *file = predictions != NULL ? fopen(predictions, "w") : NULL;
    double average = 0.0;
    int status = 1;

    *score = (holdout_t){0};
    if (predictions != NULL && file == NULL) {
        complain("cannot write '%s': %s", predictions, strerror(errno));
        goto done;
    }
    if (centre == NULL || variance == NULL) {
        complain("out of memory for %d predictions", sites);
        goto done;
    }
    status = vecchia_predict(v, fit->covariance, fit->profile.mean, fit->profile.variance, sites,
                             site, neighbour, centre, variance, &score->failed);
    if (status != 0)
        goto done;
    if (file != NULL)
        fprintf(file, "icao,latitude_deg,longitude_deg,elevation_m,kriging_m,lower_m,upper_m,"
                      "inverse_distance_m,nearest_m\n");
    for (int i = 0; i < n; i++)
        average += airport[i].elevation / n;
    for (int i = 0; i < sites; i++) {
        const airport_t *truth = airport + n + i;
        const int *near = neighbour + (ptrdiff_t)m * i;
        const double half = quantile_95 * sqrt(variance[i]);
        const double lower = score_to_elevation(centre[i] - half);
        const double upper = score_to_elevation(centre[i] + half);
        double guess[METHODS], deviation;
        elevation_moments(centre[i], variance[i], &guess[KRIGING], &deviation);
        guess[INVERSE_DISTANCE] = inverse_distance(v, airport, site + 3 * (ptrdiff_t)i, near);
        guess[NEAREST] = airport[near[0]].elevation;
        guess[MEAN] = average;
        for (int k = 0; k < METHODS; k++) {
            const double error = guess[k] - truth->elevation;
            score->rmse[k] += error * error / sites;
            score->mae[k] += fabs(error) / sites;
        }
        score->coverage += (truth->elevation >= lower && truth->elevation <= upper) / (double)sites;
        score->width += (upper - lower) / sites;
        if (file != NULL)
            fprintf(file, "%s,%.6f,%.6f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", truth->code,
                    truth->latitude, truth->longitude, truth->elevation, guess[KRIGING], lower,
                    upper, guess[INVERSE_DISTANCE], guess[NEAREST]);
    }
    for (int k = 0; k < METHODS; k++)
        score->rmse[k] = sqrt(score->rmse[k]);
done:
    free(centre);
    free(variance);
    if (file != NULL && fclose(file) != 0 && status == 0)
        status = complain("'%s' could not be written in full", predictions);
    return status;
}
