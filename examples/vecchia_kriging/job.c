/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "job.h"
#include "airports.h"
#include "elevation.h"
#include "fit.h"
#include "holdout.h"
#include "map.h"
#include "neighbours.h"
#include "surface.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FEWEST_AIRPORTS = 20, ROUGH_POINTS = 4000 };

/* Points 0 .. n - 1 are the data, n .. count - 1 are held out. */
typedef struct {
    int count, n;
    double *position, *value; /* 3 x count in km, count scores */
    int *neighbour;           /* neighbours x count */
    kdtree_t *tree;           /* of the data */
} points_t;

typedef struct {
    double read, device, neighbours, fit, holdout, surface, picture;
} phases_t;

/* Each process of the team searches the neighbours of its share. */
static int points_create(const airports_t *airports, const options_t *o, const team_t *team,
                         points_t *p) {
    const int count = airports->count, m = o->neighbours;
    *p = (points_t){.count = count, .n = count - (int)(o->holdout * count)};
    p->position = malloc(3 * (size_t)count * sizeof *p->position);
    p->value = malloc((size_t)count * sizeof *p->value);
    p->neighbour = malloc((size_t)m * (size_t)count * sizeof *p->neighbour);
    if (p->position == NULL || p->value == NULL || p->neighbour == NULL)
        return 1;
    for (int i = 0; i < count; i++) {
        const airport_t *a = airports->airport + i;
        sphere_point(a->latitude, a->longitude, p->position + 3 * (ptrdiff_t)i);
        p->value[i] = elevation_to_score(a->elevation);
    }
    p->tree = kdtree_create(p->position, p->n);
    if (p->tree == NULL)
        return 1;
    const int begin = (int)team_begin(team, count, team->rank),
              end = (int)team_begin(team, count, team->rank + 1);
#pragma omp parallel for schedule(dynamic, 256)
    for (int i = begin; i < end; i++)
        kdtree_nearest(p->tree, p->position + 3 * (ptrdiff_t)i, i < p->n ? i : p->n, m,
                       p->neighbour + (ptrdiff_t)m * i, NULL);
    team_gather(team, p->neighbour, count, (size_t)m * sizeof *p->neighbour);
    return 0;
}

static void points_destroy(points_t *p) {
    kdtree_destroy(p->tree);
    free(p->position);
    free(p->value);
    free(p->neighbour);
}

/* Whether the airports can carry a fit; says why not. */
static int enough(const airports_t *airports, const char *path) {
    int varies = 0;
    for (int i = 1; i < airports->count; i++)
        varies |= airports->airport[i].elevation != airports->airport[0].elevation;
    if (airports->count < FEWEST_AIRPORTS)
        complain("'%s' has %d usable airports, at least %d are needed", path, airports->count,
                 FEWEST_AIRPORTS);
    else if (!varies)
        complain("'%s' has the same elevation everywhere", path);
    return airports->count >= FEWEST_AIRPORTS && varies;
}

/* Fits each smoothness that is asked for, prints a row of the table and keeps the most likely. */
static int fit_best(vecchia_t *v, const options_t *o, fit_t *best) {
    const int speaks = v->team.rank == 0, progress = speaks && isatty(STDERR_FILENO);
    *best = (fit_t){.profile.log_likelihood = -HUGE_VAL};
    printf("\nsmoothness     range      sd of field  sd of noise  mean     log-        "
           "evaluations\n"
           "               km         m^1/2        m^1/2        m^1/2    likelihood\n");
    for (int twice = 1; twice <= 5; twice += 2) {
        const matern_t start = {twice, 300.0, 0.1};
        fit_t fit;
        if (o->twice_smoothness != 0 && o->twice_smoothness != twice)
            continue;
        const int failed =
            fit_covariance(v, start, o->nugget, ROUGH_POINTS, o->evaluations, progress, &fit);
        if (progress)
            fputs("\r\033[K", stderr);
        if (failed)
            return 1;
        const double sd = sqrt(fit.profile.variance);
        printf("%d/2            %-10.5g %-12.5g %-12.5g %-8.4g %-11.3f %d\n", twice,
               fit.covariance.range, sd, sd * sqrt(fit.covariance.nugget_ratio), fit.profile.mean,
               fit.profile.log_likelihood, fit.evaluations);
        fflush(stdout);
        if (!fit.converged && speaks)
            complain("smoothness %d/2 had not converged after %d evaluations", twice,
                     fit.evaluations);
        if (fit.failed_blocks > 0 && speaks)
            complain("smoothness %d/2 met %" PRId64 " blocks that were not "
                     "positive definite, %" PRId64 " of them at the end",
                     twice, fit.failed_blocks, fit.profile.failed);
        if (isfinite(fit.profile.log_likelihood) &&
            fit.profile.log_likelihood > best->profile.log_likelihood)
            *best = fit;
    }
    if (best->profile.log_likelihood == -HUGE_VAL)
        return complain("no covariance gave these data a finite likelihood");
    printf("\nmost likely    smoothness %d/2\n", best->covariance.twice_smoothness);
    return 0;
}

static void print_setup(const airports_t *airports, const points_t *points, const options_t *o,
                        const vecchia_t *v) {
    printf(
        "data           %s: %d rows\n"
        "dropped        %d without a sound position or elevation, %d at the position of another,\n"
        "               %d with elevation 0 amid high ground\n"
        "used           %d to fit, %d held out (seed %" PRIu64 ")\n",
        o->data, airports->rows, airports->unusable, airports->repeated, airports->placeholder,
        points->n, points->count - points->n, o->seed);
    printf("device         %s\n", device_words(v->device));
    printf("model          score = sign(e) (sqrt(|e| + %g m) - sqrt(%g m)) of elevation e; Matern\n"
           "               covariance in chord distance; %d neighbours, systems of order %d\n",
           ELEVATION_OFFSET_M, ELEVATION_OFFSET_M, o->neighbours, o->neighbours + 1);
}

static void print_holdout(const holdout_t *score, int sites) {
    static const char *const name[METHODS] = {"kriging", "inverse distance", "nearest airport",
                                              "mean of all"};
    printf("\nheld out: %d airports\n"
           "method             RMSE m     MAE m\n",
           sites);
    for (int k = 0; k < METHODS; k++)
        printf("%-18s %-10.2f %.2f\n", name[k], score->rmse[k], score->mae[k]);
    printf("90 %% intervals     cover %.2f %% of the airports, %.1f m wide on average\n",
           100.0 * score->coverage, score->width);
}

static void print_times(const vecchia_t *v, const phases_t *phase, double total) {
    const vecchia_clock_t *l = &v->likelihood, *p = &v->prediction;
    const struct {
        const char *name;
        double seconds, parts; /* parts: likelihoods, or 0 */
    } row[] = {
        {"read", phase->read, 0},
        {"open device", phase->device, 0},
        {"order, neighbours", phase->neighbours, 0},
        {"fit", phase->fit, (double)l->calls},
        {"  covariances", l->assemble, (double)l->calls},
        {"  posv", l->solve, (double)l->calls},
        {"  reduce", l->reduce, (double)l->calls},
        {"predict held out", phase->holdout, 0},
        {"predict map", phase->surface, 0},
        {"  covariances", p->assemble, 0},
        {"  posv", p->solve, 0},
        {"  reduce", p->reduce, 0},
        {"draw map", phase->picture, 0},
        {"total", total, 0},
    };
    printf("\ntime                      s    ms per likelihood (%" PRId64 " of them)\n", l->calls);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        printf("%-20s %8.3f", row[i].name, row[i].seconds);
        if (row[i].parts > 0)
            printf(" %8.2f", 1e3 * row[i].seconds / row[i].parts);
        putchar('\n');
    }
}

static int analyse(vecchia_t *v, const airports_t *airports, const points_t *points,
                   const options_t *o, phases_t *phase) {
    const int n = points->n, m = o->neighbours, sites = points->count - n;
    const int64_t order = m + 1, chunk = v->chunk, groups = n / VECCHIA_GRAIN + 1;
    const double *data = points->position, *value = points->value;
    const int *neighbour = points->neighbour;
    double *block = malloc((size_t)(order * order * chunk) * sizeof *block);
    double *solution = malloc((size_t)(order * chunk) * sizeof *solution);
    double *partial = malloc((size_t)(4 * groups) * sizeof *partial);
    int *info = malloc((size_t)chunk * sizeof *info);
    surface_t surface = {0};
    fit_t fit;
    int status = block == NULL || solution == NULL || partial == NULL || info == NULL;

    if (status != 0) {
        complain("out of memory for %" PRId64 " blocks", chunk);
        goto done;
    }
    v->data = data;
    v->value = value;
    v->neighbour = neighbour;
    v->block = block;
    v->solution = solution;
    v->partial = partial;
    v->info = info;

    /* From here on the data and all blocks stay on the device. */
#pragma omp target data device(v->device)                                                          \
    map(to : data[0 : 3 * n], value[0 : n], neighbour[0 : (int64_t)m * n])                         \
    map(alloc : block[0 : order * order * chunk], solution[0 : order * chunk], info[0 : chunk])    \
    map(alloc : partial[0 : 4 * groups])
    {
        double start = omp_get_wtime();
        status = fit_best(v, o, &fit);
        phase->fit = omp_get_wtime() - start;
        int64_t failed = 0;
        if (status == 0 && sites > 0) {
            holdout_t score;
            start = omp_get_wtime();
            status = holdout_score(v, &fit, airports->airport, sites, data + 3 * (ptrdiff_t)n,
                                   neighbour + (ptrdiff_t)m * n,
                                   v->team.rank == 0 ? o->predictions : NULL, &score);
            phase->holdout = omp_get_wtime() - start;
            failed = score.failed;
            if (status == 0)
                print_holdout(&score, sites);
        }
        if (status == 0) {
            int64_t failed_cells;
            start = omp_get_wtime();
            status = surface_predict(v, &fit, points->tree, o->grid_width, o->grid_height, &surface,
                                     &failed_cells);
            phase->surface = omp_get_wtime() - start;
            failed += failed_cells;
        }
        if (status == 0 && failed > 0 && v->team.rank == 0)
            complain("%" PRId64 " predictions had a block that was not "
                     "positive definite and got the mean of the field",
                     failed);
    }
    if (status == 0 && v->team.rank == 0) {
        char caption[160];
        const double start = omp_get_wtime();
        snprintf(caption, sizeof caption,
                 "Gaussian process on %d airports: Matern covariance of smoothness %d/2, range "
                 "%.0f km, %d neighbours",
                 n, fit.covariance.twice_smoothness, fit.covariance.range, m);
        status = map_write(o->output, &surface, airports->airport, n, caption);
        phase->picture = omp_get_wtime() - start;
    }
    if (status == 0)
        printf("\nmap                %s, %d x %d cells\n", o->output, o->grid_width,
               o->grid_height);
done:
    surface_destroy(&surface);
    free(block);
    free(solution);
    free(partial);
    free(info);
    return status;
}

int job_run(const options_t *o, const team_t *team) {
    airports_t airports = {0};
    points_t points = {0};
    phases_t phase = {0};
    vecchia_t v = {.team = *team};
    const double start = omp_get_wtime();
    int status = EXIT_USAGE;
    if (airports_read(o->data, o->seed, &airports) != 0 || !enough(&airports, o->data) ||
        (team->rank == 0 && (!writable(o->output) || !writable(o->predictions))))
        goto done;
    const double ordering = omp_get_wtime();
    phase.read = ordering - start;
    if (open_device(o->device, &v.handle, &v.device) != 0)
        goto done;
    status = EXIT_FAILURE;
    const double device_is_open = omp_get_wtime();
    if (points_create(&airports, o, team, &points) != 0) {
        complain("out of memory for %d airports", airports.count);
        goto done;
    }
    phase.neighbours = omp_get_wtime() - device_is_open;
    phase.device = device_is_open - ordering;
    v.n = points.n;
    v.neighbours = o->neighbours;
    v.chunk = vecchia_chunk(o->neighbours, points.n / team->ranks + VECCHIA_GRAIN,
                            v.device == omp_get_initial_device());
    print_setup(&airports, &points, o, &v);
    if (analyse(&v, &airports, &points, o, &phase) == 0) {
        print_times(&v, &phase, omp_get_wtime() - start);
        status = EXIT_SUCCESS;
    }
done:
    batchlas_destroy(v.handle);
    points_destroy(&points);
    free(airports.airport);
    return status;
}
