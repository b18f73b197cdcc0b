/* SPDX-License-Identifier: BSD-3-Clause */
/* What a small call costs, and what a second handle gains: see call_cost --help. */
#include "cost.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_RIGHT = 0, SOMETHING_WRONG = 1, REFUSED = 2 };

static const char help[] =
    "call_cost: what a small call costs besides its work, and two handles on one device.\n"
    "\n"
    "  --device N|host   OpenMP device number                                [0, or host]\n"
    "  --reps N          timed repetitions of each small call                [2000]\n"
    "  --calls N         calls for each of two handles                       [8]\n"
    "  --rounds N        timed repetitions of all these calls                [21]\n"
    "  --overlap N,BATCH these calls: potrf in double            [256,64 and 1024,8]\n"
    "  --csv FILE        appends rows to FILE; - is the standard output\n"
    "\n"
    "Times are medians in us, with the 5th and the 95th percentile. Exit status: 0; 1 if a result\n"
    "was wrong, two results differed in a bit or a call failed; 2 if the command line was "
    "refused.\n";

typedef struct {
    int device, repetitions, calls, rounds;
    int overlap_n, overlap_batch; /* 0: those of help */
    const char *csv;
    bool help;
} options_t;

static bool parse_count(const char *text, int least, int *count) {
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    *count = (int)value;
    return *text && !*end && errno == 0 && value >= least && value <= INT_MAX;
}

/* "N,BATCH" */
static bool parse_size(const char *text, int *n, int *batch) {
    char first[16] = "";
    const size_t length = strcspn(text, ",");
    if (length >= sizeof first || text[length] != ',')
        return false;
    memcpy(first, text, length);
    return parse_count(first, 1, n) && parse_count(text + length + 1, 1, batch);
}

static bool parse_valued(options_t *options, const char *word, const char *value) {
    if (!strcmp(word, "--device") && !strcmp(value, "host"))
        options->device = HOST_DEVICE;
    else if (!strcmp(word, "--device"))
        return parse_count(value, 0, &options->device);
    else if (!strcmp(word, "--reps"))
        return parse_count(value, 1, &options->repetitions);
    else if (!strcmp(word, "--calls"))
        return parse_count(value, 1, &options->calls);
    else if (!strcmp(word, "--rounds"))
        return parse_count(value, 1, &options->rounds);
    else if (!strcmp(word, "--overlap"))
        return parse_size(value, &options->overlap_n, &options->overlap_batch);
    else if (!strcmp(word, "--csv"))
        options->csv = value;
    else
        return false;
    return true;
}

static bool parse(options_t *options, int count, char **words) {
    for (int i = 1; i < count; ++i) {
        if (!strcmp(words[i], "--help")) {
            options->help = true;
        } else if (i + 1 == count || !parse_valued(options, words[i], words[i + 1])) {
            fprintf(stderr, "call_cost: %s %s: not understood, see --help\n", words[i],
                    i + 1 == count ? "" : words[i + 1]);
            return false;
        } else {
            ++i;
        }
    }
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const char head[] = "device,op,type,n,nrhs,batch,chosen_algo,measured,calls,repetitions,"
                           "median_us,p5_us,p95_us\n";

typedef struct {
    FILE *csv, *text; /* NULL: none */
    const char *device;
} report_t;

static bool open_report(report_t *report, const char *path) {
    report->text = path && !strcmp(path, "-") ? NULL : stdout;
    report->csv = !path ? NULL : report->text ? fopen(path, "a") : stdout;
    if (path && !report->csv) {
        fprintf(stderr, "call_cost: --csv %s cannot be written\n", path);
        return false;
    }
    if (report->csv &&
        (!report->text || (fseek(report->csv, 0, SEEK_END) == 0 && ftell(report->csv) == 0)))
        fputs(head, report->csv);
    return true;
}

static bool close_report(report_t *report) {
    return report->csv && report->text ? fclose(report->csv) == 0 : fflush(stdout) == 0;
}

/* A row; `cell` is NULL for the empty kernel. */
static void write_row(const report_t *report, const cell_t *cell, const char *chosen,
                      const char *measured, int calls, int repetitions, const spread_t *spread) {
    if (!report->csv)
        return;
    if (cell)
        fprintf(report->csv, "%s,%s,%c,%d,%d,%lld,%s,", report->device, op_name(cell->op),
                cell->type, cell->n, cell->nrhs, (long long)cell->batch, chosen);
    else
        fprintf(report->csv, "%s,empty_kernel,,,,,,", report->device);
    fprintf(report->csv, "%s,%d,%d,%.6g,%.6g,%.6g\n", measured, calls, repetitions,
            1e6 * spread->median, 1e6 * spread->low, 1e6 * spread->high);
    fflush(report->csv);
}

static void write_spread(FILE *text, const spread_t *spread) {
    fprintf(text, " %9.2f (%.2f, %.2f)", 1e6 * spread->median, 1e6 * spread->low,
            1e6 * spread->high);
}

/* Says why there is no time; whether that is a fault. */
static bool complain(const cell_t *cell, const result_t *result) {
    char name[128];
    cell_name(cell, name, sizeof name);
    fprintf(stderr, "call_cost: %s: %s: %s\n", outcome_name(result->outcome), name, result->note);
    return result->outcome != RESULT_MEMORY;
}

/* ---- small calls --------------------------------------------------------------------------- */

static bool measure_launch(const machine_t *machine, const options_t *options,
                           const report_t *report, launch_cost_t *launch) {
    const int repetitions = options->repetitions;
    if (!cost_of_launch(machine, repetitions, launch))
        return false;
    write_row(report, NULL, "", "spun", 1, repetitions, &launch->spun);
    write_row(report, NULL, "", "slept", 1, repetitions, &launch->slept);
    write_row(report, NULL, "", "enqueue", 1, repetitions, &launch->enqueue);
    write_row(report, NULL, "", "device", 1, repetitions, &launch->device);
    if (report->text) {
        fputs("empty kernel: spun", report->text);
        write_spread(report->text, &launch->spun);
        fputs(", slept", report->text);
        write_spread(report->text, &launch->slept);
        fputs(", enqueue", report->text);
        write_spread(report->text, &launch->enqueue);
        fputs(", device", report->text);
        write_spread(report->text, &launch->device);
        fputs("\n", report->text);
    }
    return true;
}

/* `launch` is NULL on the host. */
static void report_call(const report_t *report, const options_t *options, const cell_t *cell,
                        const call_cost_t *cost, const launch_cost_t *launch) {
    const int repetitions = options->repetitions;
    const char *chosen = cost->result.chosen;
    char name[128];
    write_row(report, cell, chosen, "waiting", 1, repetitions, &cost->waiting);
    write_row(report, cell, chosen, "enqueue", 1, repetitions, &cost->enqueue);
    if (launch)
        write_row(report, cell, chosen, "device", 1, repetitions, &cost->device);
    if (!report->text)
        return;
    cell_name(cell, name, sizeof name);
    fprintf(report->text, "%-36s %-10s waiting", name, chosen);
    write_spread(report->text, &cost->waiting);
    fputs(", enqueue", report->text);
    write_spread(report->text, &cost->enqueue);
    if (launch) {
        fputs(", device", report->text);
        write_spread(report->text, &cost->device);
        fprintf(report->text, ", over a launch %.2f", 1e6 * cost_over_launch(cost, launch));
    }
    fputs("\n", report->text);
    fflush(report->text);
}

static cell_t make_cell(op_t op, char type, int n, int64_t batch) {
    cell_t cell = {
        .op = op, .type = type, .uplo = BATCHLAS_LOWER, .n = n, .nrhs = 1, .batch = batch};
    strcpy(cell.form, op_forms(op, type)[0]);
    cell_describe(&cell);
    return cell;
}

static int measure_call(const machine_t *machine, const options_t *options, const report_t *report,
                        const launch_cost_t *launch, const cell_t *cell) {
    call_cost_t cost;
    if (!cost_of_call(machine, cell, options->repetitions, &cost))
        return SOMETHING_WRONG;
    if (cost.result.outcome != RESULT_OK)
        return complain(cell, &cost.result) ? SOMETHING_WRONG : ALL_RIGHT;
    report_call(report, options, cell, &cost, launch);
    return ALL_RIGHT;
}

static int measure_calls(const machine_t *machine, const options_t *options,
                         const report_t *report) {
    static const op_t ops[] = {OP_POTRF, OP_POTRS, OP_POSV};
    static const char types[] = {'s', 'd'};
    static const int orders[] = {8, 32};
    static const int batches[] = {1, 64};
    launch_cost_t launch;
    int exit_status = ALL_RIGHT;
    if (machine->is_gpu && !measure_launch(machine, options, report, &launch))
        return SOMETHING_WRONG;
    for (int i = 0; i < 3 * 2 * 2 * 2; ++i) {
        const cell_t cell =
            make_cell(ops[i / 8], types[i / 4 % 2], orders[i / 2 % 2], batches[i % 2]);
        if (measure_call(machine, options, report, machine->is_gpu ? &launch : NULL, &cell))
            exit_status = SOMETHING_WRONG;
    }
    return exit_status;
}

/* ---- two handles --------------------------------------------------------------------------- */

static int measure_overlap(const machine_t machines[2], const options_t *options,
                           const report_t *report, const cell_t *cell) {
    const int calls = 2 * options->calls;
    overlap_t overlap;
    char name[128];
    if (!cost_of_overlap(machines, cell, options->calls, options->rounds, &overlap))
        return SOMETHING_WRONG;
    if (overlap.result.outcome != RESULT_OK)
        return complain(cell, &overlap.result) ? SOMETHING_WRONG : ALL_RIGHT;
    cell_name(cell, name, sizeof name);
    if (overlap.differing > 0) {
        fprintf(stderr, "call_cost: wrong: %s: %lld bytes differ from those of a call alone\n",
                name, (long long)overlap.differing);
        return SOMETHING_WRONG;
    }
    const char *chosen = overlap.result.chosen;
    write_row(report, cell, chosen, "one_handle", calls, options->rounds, &overlap.one);
    write_row(report, cell, chosen, "two_handles", calls, options->rounds, &overlap.two);
    if (report->text) {
        fprintf(report->text, "%-36s %-10s %d calls: on one handle", name, chosen, calls);
        write_spread(report->text, &overlap.one);
        fputs(", on two", report->text);
        write_spread(report->text, &overlap.two);
        fprintf(report->text, ", ratio %.3f, equal bit for bit\n",
                overlap.one.median / overlap.two.median);
    }
    return ALL_RIGHT;
}

static int measure_overlaps(const machine_t machines[2], const options_t *options,
                            const report_t *report) {
    static const int sizes[][2] = {{256, 64}, {1024, 8}};
    const int wish[] = {options->overlap_n, options->overlap_batch};
    int exit_status = ALL_RIGHT;
    for (int i = 0; i < (wish[0] ? 1 : 2); ++i) {
        const int *size = wish[0] ? wish : sizes[i];
        const cell_t cell = make_cell(OP_POTRF, 'd', size[0], size[1]);
        if (measure_overlap(machines, options, report, &cell))
            exit_status = SOMETHING_WRONG;
    }
    return exit_status;
}

static int measure(const machine_t machines[2], const options_t *options) {
    report_t report = {.device = machines[0].name};
    if (!open_report(&report, options->csv))
        return REFUSED;
    const int calls = measure_calls(&machines[0], options, &report);
    const int overlaps = measure_overlaps(machines, options, &report);
    return close_report(&report) && calls == ALL_RIGHT && overlaps == ALL_RIGHT ? ALL_RIGHT
                                                                                : SOMETHING_WRONG;
}

int main(int count, char **words) {
    options_t options = {
        .device = machine_default_device(), .repetitions = 2000, .calls = 8, .rounds = 21};
    machine_t machines[2]; /* the device twice: a stream for each handle */
    if (!parse(&options, count, words))
        return REFUSED;
    if (options.help) {
        fputs(help, stdout);
        return ALL_RIGHT;
    }
    arms_warn_of_environment();
    if (!machine_open(&machines[0], options.device))
        return REFUSED;
    int exit_status = REFUSED;
    if (machine_open(&machines[1], options.device)) {
        exit_status = measure(machines, &options);
        machine_close(&machines[1]);
    }
    machine_close(&machines[0]);
    return exit_status;
}
