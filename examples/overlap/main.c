/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, assembly, solves and predictions of different chunks at once; docs/overlap.md explains
 * how. */
#include "program.h"
#include "random.h"
#include "ways.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "overlap";

static const char help[] =
    "Usage: overlap [OPTION VALUE]...\n"
    "Predicts a field in many cells from scattered observations of it, chunk by chunk: first one\n"
    "stage after the other, then with the stages of different chunks overlapped.\n"
    "\n"
    "  --device WHERE      auto, host or an OpenMP device number (default auto)\n"
    "  --cells N           cells, 1 to 100000000 (default 16384)\n"
    "  --observations N    in each cell, the order of its system, 1 to 512 (default 64)\n"
    "  --chunks N          parts that the cells are cut into, 1 to 4096 (default 16)\n"
    "  --repeats N         runs of each way, of which the fastest counts (default 3)\n"
    "  --timeline FILE     write when each stage of each chunk began and ended as CSV\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 done and the results equal, 1 failed on the way, 2 wrong option.";

enum { PLACES = 1, FIELDS }; /* streams of random numbers */
enum { PLAIN, GRAPH, WAYS };
static const char *const way_name[WAYS] = {"one after the other", "overlapped"};
static const char *const stage_name[STAGES] = {"upload", "assemble", "solve", "predict",
                                               "download"};

/* The field of a cell: a wave in each direction, with phases of its own. */
static double field(int64_t cell, double x, double y) {
    const double turn = 6.283185307179586;
    return sin(3.0 * x + turn * random_uniform(FIELDS, 2 * (uint64_t)cell)) +
           cos(3.0 * y + turn * random_uniform(FIELDS, 2 * (uint64_t)cell + 1));
}

static void observe(const job_t *j) {
#pragma omp parallel for
    for (int64_t i = 0; i < j->cells * j->n; i++) {
        double *seen = j->seen + 3 * i;
        seen[0] = random_uniform(PLACES, 2 * (uint64_t)i);
        seen[1] = random_uniform(PLACES, 2 * (uint64_t)i + 1);
        seen[2] = field(i / j->n, seen[0], seen[1]);
    }
}

/* Root mean square of prediction minus field; NaN if a system was not solved. */
static double error_of(const job_t *j) {
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < TARGETS * j->cells; i++) {
        const double x = ((double)(i % LATTICE) + 0.5) / LATTICE,
                     y = ((double)(i % TARGETS / LATTICE) + 0.5) / LATTICE;
        const double error = j->predicted[i] - field(i / TARGETS, x, y);
        sum += error * error;
    }
    return sqrt(sum / (double)(TARGETS * j->cells));
}

static double span(const moment_t *when, int64_t chunks) {
    double end = 0.0;
    for (int64_t i = 0; i < STAGES * chunks; i++)
        end = when[i].end > end ? when[i].end : end;
    return end - when[0].begin;
}

/* The moments of the fastest of several runs. */
static moment_t *run(const job_t *j, int way, int repeats) {
    const int64_t moments = STAGES * j->chunks;
    moment_t *when = allocate(moments, sizeof *when), *fastest = allocate(moments, sizeof *when);
    for (int r = 0; r < repeats; r++) {
        memset(j->predicted, 0xff, TARGETS * (size_t)j->cells * sizeof *j->predicted);
        if (way == PLAIN)
            one_after_the_other(j, when);
        else
            overlapped(j, when);
        if (r == 0 || span(when, j->chunks) < span(fastest, j->chunks))
            memcpy(fastest, when, (size_t)moments * sizeof *when);
    }
    free(when);
    return fastest;
}

static void print_times(moment_t *const when[WAYS], int64_t chunks) {
    printf("\nms                      all");
    for (int s = 0; s < STAGES; s++)
        printf(" %10s", stage_name[s]);
    for (int w = 0; w < WAYS; w++) {
        printf("\n%-19s %7.2f", way_name[w], 1e3 * span(when[w], chunks));
        for (int s = 0; s < STAGES; s++) {
            double sum = 0.0;
            for (int64_t c = 0; c < chunks; c++)
                sum += when[w][STAGES * c + s].end - when[w][STAGES * c + s].begin;
            printf(" %10.2f", 1e3 * sum);
        }
    }
    printf("\nspeed-up            %7.2f\n\n",
           span(when[PLAIN], chunks) / span(when[GRAPH], chunks));
}

static void write_timeline(const char *path, moment_t *const when[WAYS], int64_t chunks) {
    FILE *file = open_output(path);
    fprintf(file, "way,chunk,stage,begin_ms,end_ms\n");
    for (int w = 0; w < WAYS; w++)
        for (int64_t i = 0; i < STAGES * chunks; i++)
            fprintf(file, "%s,%" PRId64 ",%s,%.6f,%.6f\n", way_name[w], i / STAGES,
                    stage_name[i % STAGES], 1e3 * (when[w][i].begin - when[w][0].begin),
                    1e3 * (when[w][i].end - when[w][0].begin));
    close_output(file, path);
}

int main(int argc, char **argv) {
    const char *timeline = NULL;
    int wanted = DEVICE_AUTO, repeats = 3;
    job_t j = {.cells = 16384, .n = 64, .chunks = 16};
    const option_t option[] = {
        {"--device", take_device, &wanted, 0, 0, EXPECTED_DEVICE},
        {"--cells", take_count, &j.cells, 1, 1e8, NULL},
        {"--observations", take_whole, &j.n, 1, 512, NULL},
        {"--chunks", take_count, &j.chunks, 1, 4096, NULL},
        {"--repeats", take_whole, &repeats, 1, 1000, NULL},
        {"--timeline", take_text, &timeline, 0, 0, "a file name"},
    };
    const int outcome = options_take(argc, argv, help, option, sizeof option / sizeof *option);
    if (outcome != GO_ON)
        return outcome;
    if (!writable(timeline) || open_device(wanted, &j.handle[0], &j.device) != 0)
        return EXIT_USAGE;
    for (int l = 1; l < LANES; l++)
        require(NULL, batchlas_create(&j.handle[l], j.device));
    j.chunk = (j.cells + j.chunks - 1) / j.chunks;
    j.chunks = (j.cells + j.chunk - 1) / j.chunk;

    const int64_t places = j.n * j.cells, results = TARGETS * j.cells, room = LANES * j.chunk;
    const size_t result_bytes = (size_t)results * sizeof(double);
    double *seen = j.seen = allocate_for_copies(3 * places, sizeof *seen, j.device);
    double *predicted = j.predicted = allocate_for_copies(results, sizeof *predicted, j.device);
    double *expected = allocate(results, sizeof *expected);
    double *matrix = j.matrix = allocate(room * j.n * j.n, sizeof *matrix);
    double *weight = j.weight = allocate(room * j.n, sizeof *weight);
    int *info = j.info = allocate(j.cells, sizeof *info);
    moment_t *when[WAYS];

    observe(&j);
    printf("device         %s\n"
           "cells          %" PRId64 ", %d observations in each, in %" PRId64 " chunks\n",
           device_words(j.device), j.cells, j.n, j.chunks);
#pragma omp target data device(j.device)                                                           \
    map(alloc : seen[0 : 3 * places], predicted[0 : results], info[0 : j.cells])                   \
    map(alloc : matrix[0 : room * j.n * j.n], weight[0 : room * j.n])
    {
        when[PLAIN] = run(&j, PLAIN, repeats);
        memcpy(expected, predicted, result_bytes);
        when[GRAPH] = run(&j, GRAPH, repeats);
    }
    const int differ = memcmp(expected, predicted, result_bytes) != 0;
    print_times(when, j.chunks);
    printf("results        %s\n"
           "error          %.9g, root mean square of the predictions\n",
           differ ? "differ" : "equal bit for bit", error_of(&j));
    if (timeline != NULL)
        write_timeline(timeline, when, j.chunks);

    for (int l = 0; l < LANES; l++)
        batchlas_destroy(j.handle[l]);
    free_for_copies(seen);
    free_for_copies(predicted);
    void *const rest[] = {expected, matrix, weight, info, when[PLAIN], when[GRAPH]};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        free(rest[i]);
    return differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
