/* SPDX-License-Identifier: BSD-3-Clause */
#include "surface.h"
#include "airports.h"
#include "elevation.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

void surface_destroy(surface_t *surface) {
    free(surface->elevation);
    free(surface->error);
    free(surface->distance);
    *surface = (surface_t){0};
}

static void cell_centre(int cell, int width, int height, double point[3]) {
    const int row = cell / width, column = cell % width;
    sphere_point(90.0 - 180.0 * (row + 0.5) / height, 360.0 * (column + 0.5) / width - 180.0,
                 point);
}

int surface_predict(vecchia_t *v, const fit_t *fit, const kdtree_t *tree, int width, int height,
                    surface_t *surface, int64_t *failed) {
    const int cells = width * height, m = v->neighbours;
    const double noise = fit->profile.variance * fit->covariance.nugget_ratio;
    /* The picture interpolates between four cells, so those just out of reach are needed too. */
    const double rim =
        SURFACE_REACH_KM + 2.0 * 3.1416 * EARTH_RADIUS_KM * hypot(1.0 / width, 0.5 / height);
    const size_t room = (size_t)cells;
    *surface = (surface_t){width, height, malloc(room * sizeof(float)),
                           malloc(room * sizeof(float)), malloc(room * sizeof(float))};
    double *site = malloc(3 * room * sizeof *site);
    int *neighbour = malloc((size_t)m * room * sizeof *neighbour);
    int *cell = malloc(room * sizeof *cell);
    double *score = malloc(room * sizeof *score), *variance = malloc(room * sizeof *variance);
    int sites = 0, status = 1;

    if (surface->elevation == NULL || surface->error == NULL || surface->distance == NULL ||
        site == NULL || neighbour == NULL || cell == NULL || score == NULL || variance == NULL) {
        complain("out of memory for a map of %d x %d cells", width, height);
        goto done;
    }
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < cells; i++) {
        double at[3], distance;
        int nearest;
        cell_centre(i, width, height, at);
        kdtree_nearest(tree, at, v->n, 1, &nearest, &distance);
        surface->distance[i] = (float)distance;
        surface->elevation[i] = surface->error[i] = NAN;
    }
    for (int i = 0; i < cells; i++)
        if (surface->distance[i] <= rim)
            cell[sites++] = i;
    const int begin = (int)team_begin(&v->team, sites, v->team.rank),
              end = (int)team_begin(&v->team, sites, v->team.rank + 1);
#pragma omp parallel for schedule(dynamic, 256)
    for (int s = begin; s < end; s++) {
        double *at = site + 3 * (ptrdiff_t)s;
        cell_centre(cell[s], width, height, at);
        kdtree_nearest(tree, at, v->n, m, neighbour + (ptrdiff_t)m * s, NULL);
    }
    status = vecchia_predict(v, fit->covariance, fit->profile.mean, fit->profile.variance, sites,
                             site, neighbour, score, variance, failed);
#pragma omp parallel for
    for (int s = 0; s < sites; s++) {
        double mean, deviation;
        elevation_moments(score[s], fmax(variance[s] - noise, 0.0), &mean, &deviation);
        surface->elevation[cell[s]] = (float)mean;
        surface->error[cell[s]] = (float)deviation;
    }
done:
    free(site);
    free(neighbour);
    free(cell);
    free(score);
    free(variance);
    return status;
}
