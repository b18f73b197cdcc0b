/* SPDX-License-Identifier: BSD-3-Clause */
/* One cell, all its arms: probed and checked, then timed in turn, then checked again. */
#ifndef BATCHLAS_BENCH_MEASURE_H
#define BATCHLAS_BENCH_MEASURE_H

#include "arms.h"
#include "check.h"
#include "machine.h"

/* Above this relative standard deviation a time is flagged bad and takes part in no ratio. */
#define STEADY_BOUND 0.10

typedef struct {
    double median, minimum, relative_sd;
} summary_t;

/* Sorts the samples. */
summary_t summarise(double *samples, int count);

typedef enum {
    RESULT_OK,
    RESULT_BAD,         /* right, but its times scatter beyond STEADY_BOUND */
    RESULT_WRONG,       /* a residual or an info: no time */
    RESULT_UNAVAILABLE, /* the arm cannot run this cell */
    RESULT_OTHER_ROUTE, /* something else ran than was pinned: no time */
    RESULT_FAILED,      /* a call failed */
    RESULT_MEMORY       /* the cell is too large for this machine */
} outcome_t;

const char *outcome_name(outcome_t outcome);
/* Whether the row carries times. */
bool outcome_is_timed(outcome_t outcome);

typedef struct {
    outcome_t outcome;
    char chosen[SPELLING_LENGTH];
    char note[256]; /* why there is no time */
    size_t workspace_bytes;
    double residual;
    int repetitions;
    summary_t device, wall; /* seconds */
} result_t;

typedef struct {
    int repetitions;
    double warm_seconds; /* of each arm */
    bool profiled;       /* nothing is timed: a call of each arm is shown to a profiler */
} protocol_t;

/* Whether the arm can run the cell, with its workspace or the library's sentence in `result`. */
bool measure_availability(batchlas_handle_t h, const cell_t *cell, const arm_t *arm,
                          result_t *result);

/* Fills what measure_availability left open in `results`, one for each arm. False if the machine
 * failed beneath the library. */
bool measure_cell(const machine_t *machine, const protocol_t *protocol, const cell_t *cell,
                  const arm_t *arms, int arm_count, result_t *results);

#endif
