/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call costs besides its work, and whether two handles of one device work at the same time.
 * Times are in seconds. */
#ifndef BATCHLAS_BENCH_COST_H
#define BATCHLAS_BENCH_COST_H

#include "measure.h"

/* The median, and the percentiles that nine tenths of the samples lie between. */
typedef struct {
    double low, median, high;
} spread_t;

/* Sorts the samples. */
spread_t spread_of(double *samples, int count);

/* ---- one small call ---- */

typedef struct {
    result_t result;  /* the times below are there if its outcome is RESULT_OK */
    spread_t waiting; /* from the call to its return, in the default mode, on an idle machine */
    spread_t enqueue; /* likewise in nowait mode */
    spread_t
        device; /* between two events around the call, by the device's clock; not on the host */
} call_cost_t;

/* The family that Auto takes. False if the machine failed beneath the library. */
bool cost_of_call(const machine_t *machine, const cell_t *cell, int repetitions, call_cost_t *cost);

/* ---- an empty kernel, of a GPU ---- */

typedef struct {
    spread_t spun;    /* launched and waited for by asking the stream again and again */
    spread_t slept;   /* launched and waited for by cudaStreamSynchronize */
    spread_t enqueue; /* the launch alone */
    spread_t device;
} launch_cost_t;

bool cost_of_launch(const machine_t *machine, int repetitions, launch_cost_t *cost);

/* What the call costs beyond its time on the device and beyond launching and awaiting anything. */
double cost_over_launch(const call_cost_t *call, const launch_cost_t *launch);

/* ---- two handles ---- */

typedef struct {
    result_t result;   /* of a single call */
    spread_t one, two; /* all calls on one handle; every other one on a second handle */
    int64_t differing; /* bytes of all results that are not those of a call by itself */
} overlap_t;

/* `calls` calls of potrf for each of two handles in nowait mode against all of them on one, in
 * turn, enqueued by one thread; `machines` are the same device twice, with a stream each. */
bool cost_of_overlap(const machine_t machines[2], const cell_t *cell, int calls, int repetitions,
                     overlap_t *overlap);

#endif
