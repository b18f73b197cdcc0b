/* SPDX-License-Identifier: BSD-3-Clause */
/* Ratings predicted by alternating least squares; docs/als_movielens.md explains it. */
#include "program.h"
#include "random.h"
#include "ratings.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

const char program_name[] = "als_movielens";

static const char help[] =
    "Usage: als_movielens [OPTION VALUE]...\n"
    "Predicts ratings by factors of users and items, fitted by alternating least squares, and\n"
    "tells how well on ratings that were held out.\n"
    "\n"
    "  --ratings FILE    CSV with the columns user, item and rating (default\n"
    "                    build/movielens.csv, which scripts/fetch-movielens makes)\n"
    "  --device WHERE    auto, host or an OpenMP device number (default auto)\n"
    "  --rank N          factors of each user and item, the order of the systems, 1 to 128\n"
    "                    (default 32)\n"
    "  --penalty L       weight of the squared factors, per rating, 1e-6 to 1000 (default 0.15)\n"
    "  --sweeps N        updates of all users and all items, 1 to 10000 (default 20)\n"
    "  --holdout SHARE   of the ratings, 0 to 0.9 (default 0.1)\n"
    "  --seed N          of what is held out and of the first factors (default 1)\n"
    "  --curve FILE      write the errors after each sweep as CSV\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 failed on the way, 2 wrong option or unusable file.";

/* A rating is predicted as mean + user's bias + item's bias + product of the factors, kept within
 * the range of the ratings seen. */
typedef struct {
    double mean, low, high;
    double *bias[SIDES];   /* of each user and item */
    double *factor[SIDES]; /* rank x count of each */
    int rank;
} model_t;

typedef struct {
    batchlas_handle_t handle;
    int device, chunk;
    /* Mapped to the device. */
    double *matrix;         /* rank x rank x chunk, on the device alone */
    int *info;              /* chunk */
    double assemble, solve; /* seconds */
} work_t;

static double clamp(double x, double low, double high) {
    return x < low ? low : (x > high ? high : x);
}

/* Root mean square error of a model, of its biases alone, or of its mean alone. */
enum { MEAN_ALONE, BIASES_ALONE, ALL };
static double error_of(const model_t *m, const ratings_t *r, int what) {
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t user = r->id[USERS][i], item = r->id[ITEMS][i];
        double guess = m->mean;
        if (what != MEAN_ALONE)
            guess += m->bias[USERS][user] + m->bias[ITEMS][item];
        for (int k = 0; k < m->rank && what == ALL; k++)
            guess += m->factor[USERS][user * m->rank + k] * m->factor[ITEMS][item * m->rank + k];
        const double error = r->value[i] - clamp(guess, m->low, m->high);
        sum += error * error;
    }
    return sqrt(sum / (double)r->count);
}

/* Biases that minimise the squared errors plus 5 times their squares, in turns. Source: Koren, Bell
 * & Volinsky, Computer 42, 2009. */
static void fit_biases(model_t *m, const side_t side[SIDES]) {
    for (int turn = 0; turn < 40; turn++) {
        const side_t *s = side + (1 - turn % 2); /* items first */
        double *own = m->bias[1 - turn % 2];
        const double *others = m->bias[turn % 2];
#pragma omp parallel for schedule(dynamic, 64)
        for (int e = 0; e < s->count; e++) {
            double sum = 0.0;
            for (int64_t i = s->start[e]; i < s->start[e + 1]; i++)
                sum += s->value[i] - m->mean - others[s->other[i]];
            own[e] = sum / (5.0 + (double)(s->start[e + 1] - s->start[e]));
        }
    }
}

/* What the biases leave of each rating is what the factors are fitted to. */
static void subtract_biases(const model_t *m, side_t *s, const double *own, const double *others) {
    double *value = s->value;
    for (int e = 0; e < s->count; e++)
        for (int64_t i = s->start[e]; i < s->start[e + 1]; i++)
            value[i] -= m->mean + own[e] + others[s->other[i]];
#pragma omp target update to(value[0 : s->start[s->count]]) device(s -> device)
}

/* New factors x of one side, given those of the other, y: for each user (or item) e
 *     (sum_i y_i y_i^T + penalty n_e I) x_e = sum_i residual_i y_i,  over its n_e ratings i.
 * Source: Zhou, Wilkinson, Schreiber & Pan, AAIM 2008. */
static void update(work_t *w, const side_t *s, int rank, double penalty, double *x,
                   const double *y) {
    const int64_t *start = s->start;
    const int *other = s->other;
    const double *value = s->value;
    double *matrix = w->matrix;
    int *info = w->info;
    for (int first = 0; first < s->count; first += w->chunk) {
        const int count = s->count - first < w->chunk ? s->count - first : w->chunk;
        double *rhs = x + (int64_t)rank * first;
        const double begin = omp_get_wtime();
#pragma omp target teams distribute parallel for collapse(3) device(w->device)                     \
    map(alloc : start[ : 0], other[ : 0], value[ : 0], matrix[ : 0], y[ : 0], rhs[ : 0])
        for (int e = 0; e < count; e++) {
            for (int col = 0; col < rank; col++) {
                for (int row = 0; row < rank; row++) {
                    const int64_t from = start[first + e], to = start[first + e + 1];
                    double sum = row == col ? penalty * (double)(to > from ? to - from : 1) : 0.0;
                    double right = 0.0;
                    for (int64_t i = from; i < to && (row >= col || col == 0); i++) {
                        const double *other_y = y + (int64_t)rank * other[i];
                        sum += other_y[row] * other_y[col];
                        right += value[i] * other_y[row];
                    }
                    matrix[((int64_t)e * rank + col) * rank + row] = sum;
                    if (col == 0)
                        rhs[(int64_t)e * rank + row] = right;
                }
            }
        }
        const double assembled = omp_get_wtime();
#pragma omp target data use_device_ptr(matrix, rhs, info) device(w -> device)
        require(w->handle, batchlas_dposv(w->handle, BATCHLAS_LOWER, rank, 1, matrix, rank,
                                          (int64_t)rank * rank, rhs, rank, rank, info, count));
        w->assemble += assembled - begin;
        w->solve += omp_get_wtime() - assembled;
#pragma omp target update from(info[0 : count]) device(w -> device)
        for (int e = 0; e < count; e++)
            if (info[e] != 0)
                exit(complain("system %d is not positive definite", first + e));
    }
}

int main(int argc, char **argv) {
    const char *path = "build/movielens.csv", *curve = NULL;
    double penalty = 0.15, holdout = 0.1;
    int wanted = DEVICE_AUTO, sweeps = 20;
    uint64_t seed = 1;
    model_t m = {.rank = 32, .low = HUGE_VAL, .high = -HUGE_VAL};
    work_t w = {0};
    const option_t option[] = {
        {"--ratings", take_text, &path, 0, 0, "a file name"},
        {"--device", take_device, &wanted, 0, 0, EXPECTED_DEVICE},
        {"--rank", take_whole, &m.rank, 1, 128, NULL},
        {"--penalty", take_real, &penalty, 1e-6, 1000, NULL},
        {"--sweeps", take_whole, &sweeps, 1, 10000, NULL},
        {"--holdout", take_real, &holdout, 0, 0.9, NULL},
        {"--seed", take_seed, &seed, 0, 0, EXPECTED_SEED},
        {"--curve", take_text, &curve, 0, 0, "a file name"},
    };
    const int outcome = options_take(argc, argv, help, option, sizeof option / sizeof *option);
    if (outcome != GO_ON)
        return outcome;
    if (!writable(curve))
        return EXIT_USAGE;
    ratings_t seen = ratings_read(path), held = ratings_hold_out(&seen, holdout, seed);
    if (seen.count == 0)
        return complain("'%s' leaves no rating to learn from", path), EXIT_USAGE;
    if (open_device(wanted, &w.handle, &w.device) != 0)
        return EXIT_USAGE;

    side_t side[SIDES];
    for (int64_t i = 0; i < seen.count; i++) {
        m.mean += seen.value[i] / (double)seen.count;
        m.low = fmin(m.low, seen.value[i]);
        m.high = fmax(m.high, seen.value[i]);
    }
    for (int s = 0; s < SIDES; s++) {
        side[s] = side_create(&seen, s, w.device);
        m.bias[s] = allocate(side[s].count, sizeof **m.bias);
        m.factor[s] = allocate((int64_t)m.rank * side[s].count, sizeof **m.factor);
    }
    fit_biases(&m, side);
    for (int s = 0; s < SIDES; s++)
        subtract_biases(&m, side + s, m.bias[s], m.bias[1 - s]);
    for (int64_t i = 0; i < (int64_t)m.rank * side[ITEMS].count; i++)
        m.factor[ITEMS][i] = 0.1 * random_normal(seed + 1, (uint64_t)i);

    const int most = side[USERS].count > side[ITEMS].count ? side[USERS].count : side[ITEMS].count;
    const int64_t square = (int64_t)m.rank * m.rank;
    /* Matrices that are held at once: what stays in cache on the host, 1 GiB elsewhere. */
    const int64_t fit =
        (INT64_C(1) << (w.device == omp_get_initial_device() ? 24 : 30)) / (8 * square);
    w.chunk = fit < most ? (int)fit : most;
    double *matrix = w.matrix = allocate(square * w.chunk, sizeof *matrix);
    int *info = w.info = allocate(w.chunk, sizeof *info);
    FILE *file = curve != NULL ? open_output(curve) : NULL;
    printf("ratings         %s: %d users, %d items\n"
           "used            %" PRId64 " to learn from, %" PRId64 " held out (seed %" PRIu64 ")\n"
           "device          %s\n\n"
           "RMSE                  learnt from  held out\n"
           "mean                  %-11.6f  %.6f\n"
           "mean and biases       %-11.6f  %.6f\n",
           path, side[USERS].count, side[ITEMS].count, seen.count, held.count, seed,
           device_words(w.device), error_of(&m, &seen, MEAN_ALONE), error_of(&m, &held, MEAN_ALONE),
           error_of(&m, &seen, BIASES_ALONE), error_of(&m, &held, BIASES_ALONE));
    if (file != NULL)
        fprintf(file, "sweep,learnt,held_out\n0,%.9f,%.9f\n", error_of(&m, &seen, BIASES_ALONE),
                error_of(&m, &held, BIASES_ALONE));

    double *x = m.factor[USERS], *y = m.factor[ITEMS];
    const int64_t xs = (int64_t)m.rank * side[USERS].count,
                  ys = (int64_t)m.rank * side[ITEMS].count;
#pragma omp target data device(w.device) map(to : y[0 : ys])                                       \
    map(alloc : x[0 : xs], matrix[0 : square * w.chunk], info[0 : w.chunk])
    for (int sweep = 1; sweep <= sweeps; sweep++) {
        update(&w, side + USERS, m.rank, penalty, x, y);
        update(&w, side + ITEMS, m.rank, penalty, y, x);
#pragma omp target update from(x[0 : xs], y[0 : ys]) device(w.device)
        if (file != NULL)
            fprintf(file, "%d,%.9f,%.9f\n", sweep, error_of(&m, &seen, ALL),
                    error_of(&m, &held, ALL));
    }
    printf("%3d factors, %3d sweeps %-11.6f  %.6f\n\n"
           "ms a sweep      %.3f to assemble, %.3f in posv\n",
           m.rank, sweeps, error_of(&m, &seen, ALL), error_of(&m, &held, ALL),
           1e3 * w.assemble / sweeps, 1e3 * w.solve / sweeps);
    if (file != NULL)
        close_output(file, curve);

    batchlas_destroy(w.handle);
    for (int s = 0; s < SIDES; s++) {
        free(m.bias[s]);
        free(m.factor[s]);
        side_free(side + s);
    }
    ratings_free(&seen);
    ratings_free(&held);
    free(matrix);
    free(info);
    return EXIT_SUCCESS;
}
