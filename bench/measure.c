/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include "calls.h"
#include "matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the free memory, how much a cell may take: the rest is for the vendors' own allocations. */
static const double memory_share = 0.8;

/* An arm whose call takes longer is timed this few times, so that it cannot eat the budget of all
 * others. */
static const double slow_seconds = 0.5;
enum { SLOW_REPETITIONS = 3 };

const char *outcome_name(outcome_t outcome) {
    static const char *const names[] = {"ok",    "bad",    "wrong", "unavailable",
                                        "route", "failed", "memory"};
    return names[outcome];
}

bool outcome_is_timed(outcome_t outcome) {
    return outcome == RESULT_OK || outcome == RESULT_BAD;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

summary_t summarise(double *samples, int count) {
    double mean = 0.0;
    double squares = 0.0;
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    for (int i = 0; i < count; ++i)
        mean += samples[i] / count;
    for (int i = 0; i < count; ++i)
        squares += (samples[i] - mean) * (samples[i] - mean);
    const double sd = count > 1 ? sqrt(squares / (count - 1)) : 0.0;
    return (summary_t){.median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]),
                       .minimum = samples[0],
                       .relative_sd = mean > 0.0 ? sd / mean : 0.0};
}

/* ---- one call ------------------------------------------------------------------------------ */

typedef struct {
    const machine_t *machine;
    const cell_t *cell;
    const arm_t *arms;
    result_t *results;
    int arm_count;
    matrices_t matrices;
    void *scratch;
    batchlas_handle_t h;
    double *device_samples, *wall_samples; /* arm by arm, `repetitions` apart */
    int repetitions;
} run_t;

static void give_up(result_t *result, outcome_t outcome, const char *note) {
    result->outcome = outcome;
    snprintf(result->note, sizeof result->note, "%.255s", note);
}

/* Restores the input, then times one call of the arm, from an idle machine or right behind its
 * input. False if the machine failed; a call that
 * fails takes the arm out. */
static bool call_once(run_t *run, int arm, bool idle, span_t *span) {
    result_t *result = &run->results[arm];
    if (!matrices_restore(run->machine, run->cell, &run->matrices))
        return false;
    arm_pin(&run->arms[arm]);
    if (!span_begin(run->machine, span, idle))
        return false;
    batchlas_status_t status = call_entry(run->h, run->cell, &run->matrices);
    if (!span_enqueued(run->machine))
        return false;
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_wait(run->h);
    if (!span_end(run->machine, span))
        return false;
    if (status != BATCHLAS_SUCCESS)
        give_up(result, RESULT_FAILED, batchlas_last_error(run->h));
    return true;
}

static void check_arm(run_t *run, int arm) {
    result_t *result = &run->results[arm];
    const verdict_t verdict = check_results(run->machine, run->cell, &run->matrices, run->scratch);
    char why[sizeof result->note];
    if (verdict.residual > result->residual)
        result->residual = verdict.residual;
    if (verdict_is_right(&verdict))
        return;
    verdict_explain(&verdict, why, sizeof why);
    give_up(result, RESULT_WRONG, why);
}

/* ---- probing ------------------------------------------------------------------------------- */

static void read_what_ran(run_t *run, int arm) {
    result_t *result = &run->results[arm];
    const char *pin = run->arms[arm].pins[run->cell->op];
    bool differs = false;
    char why[sizeof result->note];
    const int records = coverage_read(run->cell, result->chosen, &differs);
    if (result->outcome != RESULT_OK)
        return;
    if (records < 1)
        give_up(result, RESULT_OTHER_ROUTE, "what ran could not be read back");
    else if (differs || !arm_accepts(pin, result->chosen)) {
        snprintf(why, sizeof why, "pinned %s but %s%s ran", pin, result->chosen,
                 differs ? " and others" : "");
        const bool none_can_run = !differs && arm_is_class(pin);
        give_up(result, none_can_run ? RESULT_UNAVAILABLE : RESULT_OTHER_ROUTE, why);
    }
}

/* The arm's first call, on a handle of its own: is the result right, and what ran? */
static bool probe(run_t *run, int arm) {
    span_t span;
    if (!machine_handle(run->machine, &run->h))
        return false;
    const bool recorded = coverage_begin();
    const bool called = call_once(run, arm, true, &span);
    coverage_end();
    if (called && run->results[arm].outcome == RESULT_OK)
        check_arm(run, arm);
    batchlas_destroy(run->h);
    run->h = NULL;
    if (recorded)
        read_what_ran(run, arm);
    else
        give_up(&run->results[arm], RESULT_FAILED, "TMPDIR takes no file to record what ran");
    return called;
}

/* ---- timing -------------------------------------------------------------------------------- */

static bool is_in(const run_t *run, int arm) {
    return run->results[arm].outcome == RESULT_OK;
}

/* All arms in turn, as they will be timed, until each has had its time on average. */
static bool warm_up(run_t *run, double seconds) {
    const int least_rounds = 2;
    const double begin = wall_clock();
    for (int round = 0; round < least_rounds || wall_clock() - begin < seconds * run->arm_count;
         ++round) {
        int left = 0;
        for (int arm = 0; arm < run->arm_count; ++arm) {
            span_t span;
            if (!is_in(run, arm))
                continue;
            if (!call_once(run, arm, true, &span))
                return false;
            if (span.wall_seconds > slow_seconds && run->repetitions > SLOW_REPETITIONS)
                run->results[arm].repetitions = SLOW_REPETITIONS;
            ++left;
        }
        if (left == 0)
            break;
    }
    return true;
}

static bool time_arms(run_t *run) {
    for (int repetition = 0; repetition < run->repetitions; ++repetition) {
        for (int arm = 0; arm < run->arm_count; ++arm) {
            const int last = run->results[arm].repetitions - 1;
            const int sample = arm * run->repetitions + repetition;
            span_t span;
            if (!is_in(run, arm) || repetition > last)
                continue;
            if (!call_once(run, arm, false, &span))
                return false;
            run->device_samples[sample] = span.device_seconds;
            // The two clocks of a GPU want different calls.
            if (run->machine->is_gpu && !call_once(run, arm, true, &span))
                return false;
            run->wall_samples[sample] = span.wall_seconds;
            if (repetition == last && is_in(run, arm))
                check_arm(run, arm);
        }
    }
    return true;
}

/* ---- profiling ----------------------------------------------------------------------------- */

/* The call alone, neither the restoring of its input nor the check. */
static bool call_profiled(run_t *run, int arm) {
    if (!matrices_restore(run->machine, run->cell, &run->matrices) ||
        !machine_synchronise(run->machine) || !machine_profile(run->machine, true))
        return false;
    batchlas_status_t status = call_entry(run->h, run->cell, &run->matrices);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_wait(run->h);
    if (status != BATCHLAS_SUCCESS)
        give_up(&run->results[arm], RESULT_FAILED, batchlas_last_error(run->h));
    return machine_profile(run->machine, false);
}

/* A first call lets the handle have its workspace. */
static bool profile_arms(run_t *run) {
    for (int arm = 0; arm < run->arm_count; ++arm) {
        span_t span;
        if (!is_in(run, arm))
            continue;
        if (!call_once(run, arm, true, &span) || !call_profiled(run, arm))
            return false;
        if (is_in(run, arm))
            check_arm(run, arm);
    }
    return true;
}

/* ---- both ---------------------------------------------------------------------------------- */

static void summarise_arm(run_t *run, int arm) {
    result_t *result = &run->results[arm];
    const int first = arm * run->repetitions;
    if (result->outcome != RESULT_OK)
        return;
    result->device = summarise(run->device_samples + first, result->repetitions);
    result->wall = summarise(run->wall_samples + first, result->repetitions);
    if (result->device.relative_sd > STEADY_BOUND)
        result->outcome = RESULT_BAD;
}

static bool measure_made(run_t *run, const protocol_t *protocol) {
    for (int arm = 0; arm < run->arm_count; ++arm) {
        run->results[arm].repetitions = run->repetitions;
        if (is_in(run, arm) && !probe(run, arm))
            return false;
    }
    bool measured = machine_handle(run->machine, &run->h);
    if (protocol->profiled)
        measured = measured && profile_arms(run);
    else
        measured = measured && warm_up(run, protocol->warm_seconds) && time_arms(run);
    batchlas_destroy(run->h);
    for (int arm = 0; arm < run->arm_count && measured && !protocol->profiled; ++arm)
        summarise_arm(run, arm);
    return measured;
}

/* ---- a cell -------------------------------------------------------------------------------- */

bool measure_availability(batchlas_handle_t h, const cell_t *cell, const arm_t *arm,
                          result_t *result) {
    *result = (result_t){.outcome = RESULT_OK};
    arm_pin(arm);
    if (call_buffer_size(h, cell, &result->workspace_bytes) == BATCHLAS_SUCCESS)
        return true;
    give_up(result, RESULT_UNAVAILABLE, batchlas_last_error(h));
    return false;
}

/* Whether an arm is left to measure. Takes every arm out if the cell needs more than its share of
 * the memory. */
static bool is_worth_making(const run_t *run) {
    size_t workspace = 0;
    int left = 0;
    for (int arm = 0; arm < run->arm_count; ++arm) {
        left += is_in(run, arm);
        if (run->results[arm].workspace_bytes > workspace)
            workspace = run->results[arm].workspace_bytes;
    }
    if (left == 0)
        return false;
    const double needed =
        cell_bytes(run->cell) + (double)check_scratch_bytes(run->cell) + (double)workspace;
    const double available = machine_free_bytes(run->machine);
    if (needed <= memory_share * available)
        return true;
    char why[128];
    snprintf(why, sizeof why, "needs %.3g GB of %.3g GB free", needed / 1e9, available / 1e9);
    for (int arm = 0; arm < run->arm_count; ++arm)
        if (run->results[arm].outcome != RESULT_UNAVAILABLE)
            give_up(&run->results[arm], RESULT_MEMORY, why);
    return false;
}

bool measure_cell(const machine_t *machine, const protocol_t *protocol, const cell_t *cell,
                  const arm_t *arms, int arm_count, result_t *results) {
    run_t run = {.machine = machine,
                 .cell = cell,
                 .arms = arms,
                 .arm_count = arm_count,
                 .results = results,
                 .repetitions = protocol->repetitions};
    if (!is_worth_making(&run))
        return true;
    const size_t samples = (size_t)arm_count * (size_t)run.repetitions;
    run.device_samples = calloc(2 * samples, sizeof *run.device_samples);
    run.wall_samples = run.device_samples + samples;
    run.scratch = machine_alloc(machine, check_scratch_bytes(cell));
    const bool measured = run.device_samples && run.scratch &&
                          matrices_make(machine, cell, &run.matrices) &&
                          measure_made(&run, protocol);
    matrices_free(machine, &run.matrices);
    machine_free(machine, run.scratch);
    free(run.device_samples);
    return measured;
}
