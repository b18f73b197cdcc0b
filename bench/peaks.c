/* SPDX-License-Identifier: BSD-3-Clause */
#include "peaks.h"

#include "arms.h"
#include "calls.h"
#include "matrices.h"

#include <string.h>

enum { TRIES = 6 };

/* ---- measuring ----------------------------------------------------------------------------- */

static bool measure_bandwidth(const machine_t *machine, double *bytes_per_second) {
    const size_t bytes = (size_t)1 << (machine->is_gpu ? 30 : 28);
    void *from = machine_alloc(machine, bytes);
    void *to = machine_alloc(machine, bytes);
    double best = 0.0;
    bool measured = from && to && machine_fill(machine, from, 1, bytes);
    for (int i = 0; i < TRIES && measured; ++i) {
        span_t span;
        measured = span_begin(machine, &span, true) && machine_copy(machine, to, from, bytes) &&
                   span_enqueued(machine) && machine_synchronise(machine) &&
                   span_end(machine, &span);
        if (measured && 2.0 * (double)bytes / span.device_seconds > best)
            best = 2.0 * (double)bytes / span.device_seconds;
    }
    machine_free(machine, from);
    machine_free(machine, to);
    *bytes_per_second = best;
    return measured;
}

static bool time_products(const machine_t *machine, const cell_t *cell, double *best) {
    batchlas_handle_t h = NULL;
    matrices_t matrices = {0};
    bool measured = machine_handle(machine, &h) && matrices_make(machine, cell, &matrices);
    for (int i = 0; i < TRIES && measured; ++i) {
        span_t span;
        measured = matrices_restore(machine, cell, &matrices) && span_begin(machine, &span, true) &&
                   call_entry(h, cell, &matrices) == BATCHLAS_SUCCESS && span_enqueued(machine) &&
                   batchlas_wait(h) == BATCHLAS_SUCCESS && span_end(machine, &span);
        if (measured && floor_operations(cell) / span.device_seconds > *best)
            *best = floor_operations(cell) / span.device_seconds;
    }
    if (!measured && h)
        fprintf(stderr, "factor_bench: measuring the peak rate: %s\n", batchlas_last_error(h));
    matrices_free(machine, &matrices);
    batchlas_destroy(h);
    return measured;
}

static bool measure_rates(const machine_t *machine, peaks_t *peaks) {
    const arm_t vendor = {.name = "vendor", .pins = {[OP_GEMM] = "vendor"}};
    const arm_t none = {.name = "auto"};
    bool measured = true;
    arm_pin(&vendor);
    for (int i = 0; i < 4 && measured; ++i) {
        cell_t cell = {.op = OP_GEMM,
                       .type = "sdcz"[i],
                       .form = "NN",
                       .n = machine->is_gpu ? 4096 : 256,
                       .nrhs = machine->is_gpu ? 4096 : 256,
                       .batch = machine->is_gpu ? 1 : 4};
        cell_describe(&cell);
        measured = time_products(machine, &cell, &peaks->operations_per_second[i]);
    }
    arm_pin(&none);
    return measured;
}

/* ---- keeping ------------------------------------------------------------------------------- */

/* A line of the file: device, model and the five peaks, tabs between. */
static bool parse_line(const char *line, const machine_t *machine, peaks_t *peaks) {
    char device[16], model[256];
    double *rate = peaks->operations_per_second;
    return sscanf(line, "%15[^\t]\t%255[^\t]\t%lf\t%lf\t%lf\t%lf\t%lf", device, model,
                  &peaks->bytes_per_second, &rate[0], &rate[1], &rate[2], &rate[3]) == 7 &&
           !strcmp(device, machine->name) && !strcmp(model, machine->model);
}

static bool read_peaks(const machine_t *machine, const char *path, peaks_t *peaks) {
    FILE *file = fopen(path, "r");
    bool found = false;
    char line[512];
    while (file && !found && fgets(line, sizeof line, file))
        found = parse_line(line, machine, peaks);
    if (file)
        fclose(file);
    return found;
}

static bool keep_peaks(const machine_t *machine, const char *path, const peaks_t *peaks) {
    FILE *file = fopen(path, "a");
    if (!file) {
        fprintf(stderr, "factor_bench: --peaks %s cannot be written\n", path);
        return false;
    }
    const double *rate = peaks->operations_per_second;
    fprintf(file, "%s\t%s\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\n", machine->name, machine->model,
            peaks->bytes_per_second, rate[0], rate[1], rate[2], rate[3]);
    return fclose(file) == 0;
}

bool peaks_get(const machine_t *machine, const char *path, peaks_t *peaks) {
    *peaks = (peaks_t){0};
    if (path && read_peaks(machine, path, peaks))
        return true;
    *peaks = (peaks_t){0};
    return measure_bandwidth(machine, &peaks->bytes_per_second) && measure_rates(machine, peaks) &&
           (!path || keep_peaks(machine, path, peaks));
}
