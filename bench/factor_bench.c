/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the families of one operation against each other: see factor_bench --help. */
#include "floors.h"
#include "measure.h"
#include "options.h"
#include "peaks.h"
#include "report.h"

#include <stdlib.h>

enum { ALL_RIGHT = 0, SOMETHING_WRONG = 1, REFUSED = 2 };

/* ---- before anything is timed -------------------------------------------------------------- */

/* Whether the library knows the arm at all: it runs some problem of an ordinary size. */
static bool is_known(batchlas_handle_t h, op_t op, const arm_t *arm, result_t *result) {
    static const int orders[] = {8, 33, 128, 512};
    for (const char *const *form = op_forms(op, 's'); *form; ++form)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
            for (int uplo = BATCHLAS_LOWER; uplo <= BATCHLAS_UPPER; ++uplo) {
                cell_t cell = {.op = op,
                               .type = 's',
                               .uplo = (batchlas_uplo_t)uplo,
                               .n = orders[i],
                               .nrhs = 1,
                               .batch = 4};
                snprintf(cell.form, sizeof cell.form, "%s", *form);
                cell_describe(&cell);
                if (measure_availability(h, &cell, arm, result))
                    return true;
            }
    return false;
}

static int list_known_arms(batchlas_handle_t h, const options_t *options) {
    for (int i = 0; i < options->arm_count; ++i) {
        result_t result;
        if (is_known(h, options->op, &options->arms[i], &result))
            puts(options->arms[i].name);
    }
    return ALL_RIGHT;
}

/* Refuses an arm that the library does not know or, unless they may be skipped, one that cannot run
 * a cell. Fills one result for each cell and arm. */
static bool check_arms(batchlas_handle_t h, const options_t *options, result_t *results) {
    for (int i = 0; i < options->arm_count; ++i) {
        const arm_t *arm = &options->arms[i];
        bool runs = false;
        for (int c = 0; c < options->cell_count; ++c) {
            result_t *result = &results[c * options->arm_count + i];
            if (measure_availability(h, &options->cells[c], arm, result)) {
                runs = true;
            } else if (!options->skip_unavailable) {
                char name[128];
                cell_name(&options->cells[c], name, sizeof name);
                fprintf(stderr, "factor_bench: arm %s cannot run %s: %s\n", arm->name, name,
                        result->note);
                return false;
            }
        }
        result_t why;
        if (!runs && !is_known(h, options->op, arm, &why)) {
            fprintf(stderr, "factor_bench: arm %s is unknown here: %s\n", arm->name, why.note);
            return false;
        }
    }
    return true;
}

/* ---- the cells ----------------------------------------------------------------------------- */

static bool is_wrong(const result_t *result) {
    return result->outcome == RESULT_WRONG || result->outcome == RESULT_OTHER_ROUTE ||
           result->outcome == RESULT_FAILED;
}

/* Named where nobody can overlook it, besides the row. */
static void complain(const cell_t *cell, const arm_t *arm, const result_t *result) {
    char name[128];
    if (!is_wrong(result) && result->outcome != RESULT_MEMORY)
        return;
    cell_name(cell, name, sizeof name);
    fprintf(stderr, "factor_bench: %s: %s, arm %s: %s\n", outcome_name(result->outcome), name,
            arm->name, result->note);
}

static int measure_all(const machine_t *machine, const options_t *options, const peaks_t *peaks,
                       report_t *report, result_t *results) {
    const protocol_t protocol = {.repetitions = options->repetitions,
                                 .warm_seconds = options->warm_seconds};
    int exit_status = ALL_RIGHT;
    for (int c = 0; c < options->cell_count; ++c) {
        const cell_t *cell = &options->cells[c];
        result_t *row = &results[c * options->arm_count];
        if (!measure_cell(machine, &protocol, cell, options->arms, options->arm_count, row))
            return SOMETHING_WRONG;
        for (int i = 0; i < options->arm_count; ++i) {
            report_row(report, machine, peaks, cell, &options->arms[i], &row[i]);
            complain(cell, &options->arms[i], &row[i]);
            if (is_wrong(&row[i]))
                exit_status = SOMETHING_WRONG;
        }
    }
    return exit_status;
}

static int measure_and_report(const machine_t *machine, const options_t *options,
                              result_t *results) {
    peaks_t peaks;
    report_t report;
    if (!peaks_get(machine, options->peaks, &peaks) || !report_open(&report, options->csv))
        return REFUSED;
    const int exit_status = measure_all(machine, options, &peaks, &report, results);
    return report_close(&report) ? exit_status : SOMETHING_WRONG;
}

/* An arm that showed the profiler nothing is an error here. */
static int profile_all(const machine_t *machine, const options_t *options, result_t *results) {
    const protocol_t protocol = {.repetitions = 1, .profiled = true};
    int exit_status = ALL_RIGHT;
    for (int c = 0; c < options->cell_count; ++c) {
        const cell_t *cell = &options->cells[c];
        result_t *row = &results[c * options->arm_count];
        char name[128];
        cell_name(cell, name, sizeof name);
        if (!measure_cell(machine, &protocol, cell, options->arms, options->arm_count, row))
            return SOMETHING_WRONG;
        for (int i = 0; i < options->arm_count; ++i) {
            const char *arm = options->arms[i].name;
            if (row[i].outcome == RESULT_OK) {
                printf("profiled: %s, arm %s: %s\n", name, arm, row[i].chosen);
            } else {
                fprintf(stderr, "factor_bench: %s: %s, arm %s: %s\n", outcome_name(row[i].outcome),
                        name, arm, row[i].note);
                exit_status = SOMETHING_WRONG;
            }
        }
    }
    return exit_status;
}

static int measure(const machine_t *machine, batchlas_handle_t h, const options_t *options) {
    const size_t count = (size_t)options->cell_count * (size_t)options->arm_count;
    result_t *results = calloc(count ? count : 1, sizeof *results);
    int exit_status = REFUSED;
    if (results && check_arms(h, options, results))
        exit_status = options->action == PROFILE ? profile_all(machine, options, results)
                                                 : measure_and_report(machine, options, results);
    free(results);
    return exit_status;
}

static int act(const machine_t *machine, const options_t *options) {
    batchlas_handle_t h = NULL;
    if (options->action == DESCRIBE) {
        machine_describe(machine, stdout);
        return ALL_RIGHT;
    }
    if (!machine_handle(machine, &h))
        return REFUSED;
    const int exit_status = options->action == LIST_KNOWN_ARMS ? list_known_arms(h, options)
                                                               : measure(machine, h, options);
    batchlas_destroy(h);
    return exit_status;
}

int main(int count, char **words) {
    options_t options = {.device = machine_default_device(), .repetitions = 7, .warm_seconds = 0.1};
    machine_t machine;
    int exit_status = REFUSED;
    if (options_parse(&options, count, words)) {
        if (options.action == SHOW_HELP) {
            options_help();
            exit_status = ALL_RIGHT;
        } else {
            arms_warn_of_environment();
            if (machine_open(&machine, options.device)) {
                exit_status = act(&machine, &options);
                machine_close(&machine);
            }
        }
    }
    options_free(&options);
    return exit_status;
}
