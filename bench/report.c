/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <string.h>

static const char head[] =
    "device,op,type,uplo,form,n,nrhs,batch,ld_pad,array,arm,status,chosen_algo,ms,min_ms,rel_sd,"
    "wall_ms,repetitions,items_per_s,gflops,gbytes_per_s,memory_floor_ms,compute_floor_ms,"
    "floor_fraction,residual,workspace_bytes,note\n";

bool report_open(report_t *report, const char *path) {
    *report = (report_t){0};
    report->text = path && !strcmp(path, "-") ? NULL : stdout;
    if (!path)
        return true;
    report->csv = report->text ? fopen(path, "a") : stdout;
    if (!report->csv) {
        fprintf(stderr, "factor_bench: --csv %s cannot be written\n", path);
        return false;
    }
    if (!report->text || (fseek(report->csv, 0, SEEK_END) == 0 && ftell(report->csv) == 0))
        fputs(head, report->csv);
    return true;
}

bool report_close(report_t *report) {
    if (report->csv && report->text)
        return fclose(report->csv) == 0;
    return fflush(stdout) == 0;
}

/* A note goes into one CSV field. */
static void write_note(FILE *csv, const char *note) {
    fputc(',', csv);
    for (const char *c = note; *c; ++c)
        fputc(*c == ',' ? ';' : *c == '\n' || *c == '"' ? ' ' : *c, csv);
    fputc('\n', csv);
}

static const char *uplo_word(const cell_t *cell) {
    return !op_has_uplo(cell->op) ? "-" : cell->uplo == BATCHLAS_LOWER ? "lower" : "upper";
}

static void write_csv(FILE *csv, const machine_t *machine, const cell_t *cell, const arm_t *arm,
                      const result_t *result, const double floors[2]) {
    const double seconds = result->device.median;
    fprintf(csv, "%s,%s,%c,%s,%s,%d,%d,%lld,%d,%d,%s,%s,%s,", machine->name, op_name(cell->op),
            cell->type, uplo_word(cell), cell->form, cell->n, cell->nrhs, (long long)cell->batch,
            cell->ld_pad, cell->array, arm->name, outcome_name(result->outcome), result->chosen);
    if (outcome_is_timed(result->outcome)) {
        const double floor = floors[0] > floors[1] ? floors[0] : floors[1];
        fprintf(csv, "%.6g,%.6g,%.3g,%.6g,%d,%.5g,%.5g,%.5g,", 1e3 * seconds,
                1e3 * result->device.minimum, result->device.relative_sd, 1e3 * result->wall.median,
                result->repetitions, (double)cell->batch / seconds,
                1e-9 * floor_operations(cell) / seconds,
                1e-9 * floor_bytes(cell, machine->sector) / seconds);
        fprintf(csv, "%.4g,%.4g,%.4g,", 1e3 * floors[0], 1e3 * floors[1], floor / seconds);
    } else {
        fprintf(csv, ",,,,,,,,%.4g,%.4g,,", 1e3 * floors[0], 1e3 * floors[1]);
    }
    fprintf(csv, "%.3g,%zu", result->residual, result->workspace_bytes);
    write_note(csv, result->note);
    fflush(csv);
}

static void write_text(report_t *report, const cell_t *cell, const arm_t *arm,
                       const result_t *result, const double floors[2]) {
    char cell_words[128];
    cell_name(cell, cell_words, sizeof cell_words);
    if (!report->named)
        fprintf(report->text, "%-44s %-24s %-11s %-16s %10s %10s %7s %9s %6s %8s\n", "cell", "arm",
                "status", "ran", "ms", "wall ms", "sd", "GFLOP/s", "floor", "residual");
    report->named = true;
    fprintf(report->text, "%-44s %-24s %-11s %-16s ", cell_words, arm->name,
            outcome_name(result->outcome), result->chosen);
    if (outcome_is_timed(result->outcome)) {
        const double seconds = result->device.median;
        const double floor = floors[0] > floors[1] ? floors[0] : floors[1];
        fprintf(report->text, "%10.5f %10.5f %6.1f%% %9.1f %6.3f %8.2g\n", 1e3 * seconds,
                1e3 * result->wall.median, 100.0 * result->device.relative_sd,
                1e-9 * floor_operations(cell) / seconds, floor / seconds, result->residual);
    } else {
        fprintf(report->text, "%s\n", result->note);
    }
    fflush(report->text);
}

void report_row(report_t *report, const machine_t *machine, const peaks_t *peaks,
                const cell_t *cell, const arm_t *arm, const result_t *result) {
    const double floors[2] = {floor_bytes(cell, machine->sector) / peaks->bytes_per_second,
                              floor_operations(cell) /
                                  peaks->operations_per_second[type_index(cell->type)]};
    if (report->csv)
        write_csv(report->csv, machine, cell, arm, result, floors);
    if (report->text)
        write_text(report, cell, arm, result, floors);
}
