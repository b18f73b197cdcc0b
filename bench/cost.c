/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost.h"

#include "calls.h"
#include "matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device is held for so long while a call is enqueued behind: so the events around the call see
 * no time of its launch. */
static const double hold_seconds = 100e-6;

enum { WARM_UP_CALLS = 100 };

/* ---- statistics ---------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The least sample that this share of them does not exceed. */
static double percentile(const double *sorted, int count, double share) {
    const int rank = (int)ceil(share * count);
    return sorted[rank > 0 ? rank - 1 : 0];
}

spread_t spread_of(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return (spread_t){.low = percentile(samples, count, 0.05),
                      .median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]),
                      .high = percentile(samples, count, 0.95)};
}

double cost_over_launch(const call_cost_t *call, const launch_cost_t *launch) {
    return (call->waiting.median - call->device.median) -
           (launch->spun.median - launch->device.median);
}

/* ---- what is timed ------------------------------------------------------------------------- */

typedef struct {
    const machine_t *machine;
    const cell_t *cell;
    const matrices_t *matrices;
    batchlas_handle_t h;
} bed_t;

/* One sample, in seconds. */
typedef bool (*sample_t)(const bed_t *bed, double *seconds);

static bool succeeded(const bed_t *bed, batchlas_status_t status) {
    if (status != BATCHLAS_SUCCESS)
        fprintf(stderr, "call_cost: %s\n", batchlas_last_error(bed->h));
    return status == BATCHLAS_SUCCESS;
}

/* Restores the input and waits for it as a call does, without sleeping. */
static bool settle(const bed_t *bed) {
    return matrices_restore(bed->machine, bed->cell, bed->matrices) &&
           succeeded(bed, batchlas_wait(bed->h));
}

static bool call_and_return(const bed_t *bed, int nowait, double *seconds) {
    if (!succeeded(bed, batchlas_set_nowait(bed->h, nowait)) || !settle(bed))
        return false;
    const double begin = wall_clock();
    const batchlas_status_t status = call_entry(bed->h, bed->cell, bed->matrices);
    *seconds = wall_clock() - begin;
    return succeeded(bed, status) && succeeded(bed, batchlas_wait(bed->h));
}

static bool call_waiting(const bed_t *bed, double *seconds) {
    return call_and_return(bed, 0, seconds);
}

static bool call_enqueueing(const bed_t *bed, double *seconds) {
    return call_and_return(bed, 1, seconds);
}

/* Events around what `enqueue` puts on the held stream. */
static bool between_events(const bed_t *bed, bool (*enqueue)(const bed_t *), double *seconds) {
    span_t span;
    if (!machine_hold(bed->machine, hold_seconds) ||
        (bed->matrices && !matrices_restore(bed->machine, bed->cell, bed->matrices)) ||
        !span_begin(bed->machine, &span, false) || !enqueue(bed) || !span_enqueued(bed->machine) ||
        !span_end(bed->machine, &span))
        return false;
    *seconds = span.device_seconds;
    return true;
}

static bool enqueue_call(const bed_t *bed) {
    return succeeded(bed, batchlas_set_nowait(bed->h, 1)) &&
           succeeded(bed, call_entry(bed->h, bed->cell, bed->matrices));
}

static bool call_on_device(const bed_t *bed, double *seconds) {
    return between_events(bed, enqueue_call, seconds) && succeeded(bed, batchlas_wait(bed->h));
}

static bool launch(const bed_t *bed, double *seconds, bool (*wait)(const machine_t *)) {
    const double begin = wall_clock();
    const bool launched = machine_launch_nothing(bed->machine) && (!wait || wait(bed->machine));
    *seconds = wall_clock() - begin;
    return launched && machine_spin(bed->machine);
}

static bool launch_spinning(const bed_t *bed, double *seconds) {
    return launch(bed, seconds, machine_spin);
}

static bool launch_sleeping(const bed_t *bed, double *seconds) {
    return launch(bed, seconds, machine_synchronise);
}

static bool launch_enqueueing(const bed_t *bed, double *seconds) {
    return launch(bed, seconds, NULL);
}

static bool enqueue_nothing(const bed_t *bed) {
    return machine_launch_nothing(bed->machine);
}

static bool launch_on_device(const bed_t *bed, double *seconds) {
    return between_events(bed, enqueue_nothing, seconds);
}

static bool take_samples(const bed_t *bed, sample_t sample, double *samples, int count,
                         spread_t *spread) {
    const int warm_up = count < WARM_UP_CALLS ? count : WARM_UP_CALLS;
    for (int i = 0; i < warm_up; ++i)
        if (!sample(bed, &samples[0]))
            return false;
    for (int i = 0; i < count; ++i)
        if (!sample(bed, &samples[i]))
            return false;
    *spread = spread_of(samples, count);
    return true;
}

/* ---- one small call ------------------------------------------------------------------------ */

/* Whether a call is right, and which family Auto takes. False if the machine failed. */
static bool try_call(const machine_t *machine, const cell_t *cell, result_t *result) {
    const protocol_t once = {.repetitions = 1};
    arm_t arm = {.name = "auto"};
    batchlas_handle_t h = NULL;
    strcpy(arm.pins[cell->op], arm.name);
    if (!machine_handle(machine, &h))
        return false;
    const bool available = measure_availability(h, cell, &arm, result);
    batchlas_destroy(h);
    return !available || measure_cell(machine, &once, cell, &arm, 1, result);
}

/* What was timed last is checked like the first call. */
static bool check_last(const bed_t *bed, result_t *result) {
    void *scratch = machine_alloc(bed->machine, check_scratch_bytes(bed->cell));
    if (!scratch)
        return false;
    const verdict_t verdict = check_results(bed->machine, bed->cell, bed->matrices, scratch);
    machine_free(bed->machine, scratch);
    if (!verdict_is_right(&verdict)) {
        result->outcome = RESULT_WRONG;
        verdict_explain(&verdict, result->note, sizeof result->note);
    }
    return true;
}

static bool time_call(const bed_t *bed, int repetitions, double *samples, call_cost_t *cost) {
    const bool is_gpu = bed->machine->is_gpu;
    return take_samples(bed, call_waiting, samples, repetitions, &cost->waiting) &&
           take_samples(bed, call_enqueueing, samples, repetitions, &cost->enqueue) &&
           (!is_gpu || take_samples(bed, call_on_device, samples, repetitions, &cost->device)) &&
           check_last(bed, &cost->result);
}

bool cost_of_call(const machine_t *machine, const cell_t *cell, int repetitions,
                  call_cost_t *cost) {
    matrices_t matrices;
    bed_t bed = {.machine = machine, .cell = cell, .matrices = &matrices};
    if (!try_call(machine, cell, &cost->result))
        return false;
    if (cost->result.outcome != RESULT_OK)
        return true;
    if (!matrices_make(machine, cell, &matrices))
        return false;
    double *samples = calloc((size_t)repetitions, sizeof *samples);
    const bool timed =
        samples && machine_handle(machine, &bed.h) && time_call(&bed, repetitions, samples, cost);
    batchlas_destroy(bed.h);
    free(samples);
    matrices_free(machine, &matrices);
    return timed;
}

bool cost_of_launch(const machine_t *machine, int repetitions, launch_cost_t *cost) {
    const bed_t bed = {.machine = machine};
    double *samples = calloc((size_t)repetitions, sizeof *samples);
    const bool timed =
        samples && take_samples(&bed, launch_spinning, samples, repetitions, &cost->spun) &&
        take_samples(&bed, launch_sleeping, samples, repetitions, &cost->slept) &&
        take_samples(&bed, launch_enqueueing, samples, repetitions, &cost->enqueue) &&
        take_samples(&bed, launch_on_device, samples, repetitions, &cost->device);
    free(samples);
    return timed;
}

/* ---- two handles --------------------------------------------------------------------------- */

typedef struct {
    const machine_t *machines;
    const cell_t *cell;
    batchlas_handle_t handles[2];
    matrices_t *sets; /* one a call, and the last: of a call by itself */
    int calls;        /* in all */
} race_t;

static bool run_calls(const race_t *race, int handles, double *seconds) {
    for (int i = 0; i < race->calls; ++i)
        if (!matrices_restore(&race->machines[0], race->cell, &race->sets[i]))
            return false;
    if (!machine_synchronise(&race->machines[0]))
        return false;
    batchlas_status_t status = BATCHLAS_SUCCESS;
    const double begin = wall_clock();
    for (int i = 0; i < race->calls && status == BATCHLAS_SUCCESS; ++i)
        status = call_entry(race->handles[i % handles], race->cell, &race->sets[i]);
    for (int i = 0; i < handles && status == BATCHLAS_SUCCESS; ++i)
        status = batchlas_wait(race->handles[i]);
    *seconds = wall_clock() - begin;
    if (status != BATCHLAS_SUCCESS)
        fprintf(stderr, "call_cost: a call beside others: %s\n", batchlas_status_string(status));
    return status == BATCHLAS_SUCCESS;
}

static int64_t differing_bytes(const race_t *race) {
    int64_t count = 0;
    for (int i = 0; i < race->calls; ++i)
        count += matrices_differing_bytes(&race->machines[0], race->cell, &race->sets[i],
                                          &race->sets[race->calls]);
    return count;
}

/* The first repetition only warms up; its results count. */
static bool time_race(const race_t *race, int repetitions, double *samples, overlap_t *overlap) {
    double *const of[2] = {samples, samples + repetitions};
    for (int repetition = -1; repetition < repetitions; ++repetition) {
        for (int handles = 1; handles <= 2; ++handles) {
            double seconds = 0.0;
            if (!run_calls(race, handles, &seconds))
                return false;
            overlap->differing += differing_bytes(race);
            if (repetition >= 0)
                of[handles - 1][repetition] = seconds;
        }
    }
    overlap->one = spread_of(of[0], repetitions);
    overlap->two = spread_of(of[1], repetitions);
    return true;
}

static bool call_alone(const race_t *race) {
    const bed_t bed = {.machine = &race->machines[0],
                       .cell = race->cell,
                       .matrices = &race->sets[race->calls],
                       .h = race->handles[0]};
    return settle(&bed) && enqueue_call(&bed) && succeeded(&bed, batchlas_wait(bed.h));
}

bool cost_of_overlap(const machine_t machines[2], const cell_t *cell, int calls, int repetitions,
                     overlap_t *overlap) {
    race_t race = {.machines = machines, .cell = cell, .calls = 2 * calls};
    int made = 0;
    *overlap = (overlap_t){0};
    if (!try_call(&machines[0], cell, &overlap->result))
        return false;
    if (overlap->result.outcome != RESULT_OK)
        return true;
    race.sets = calloc((size_t)race.calls + 1, sizeof *race.sets);
    double *samples = calloc(2 * (size_t)repetitions, sizeof *samples);
    while (race.sets && made <= race.calls && matrices_make(&machines[0], cell, &race.sets[made]))
        ++made;
    const bool timed = samples && made == race.calls + 1 &&
                       machine_handle(&machines[0], &race.handles[0]) &&
                       machine_handle(&machines[1], &race.handles[1]) && call_alone(&race) &&
                       time_race(&race, repetitions, samples, overlap);
    batchlas_destroy(race.handles[0]);
    batchlas_destroy(race.handles[1]);
    while (made > 0)
        matrices_free(&machines[0], &race.sets[--made]);
    free(samples);
    free(race.sets);
    return timed;
}
