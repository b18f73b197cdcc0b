/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows: one for each cell and arm, as CSV for programs and as aligned text for people. */
#ifndef BATCHLAS_BENCH_REPORT_H
#define BATCHLAS_BENCH_REPORT_H

#include "floors.h"
#include "measure.h"

typedef struct {
    FILE *csv;  /* NULL: none */
    FILE *text; /* NULL: none */
    bool named; /* the text's head line is out */
} report_t;

/* `path`: a file to append to, "-" for the standard output, or NULL for the text alone. */
bool report_open(report_t *report, const char *path);
bool report_close(report_t *report);

void report_row(report_t *report, const machine_t *machine, const peaks_t *peaks,
                const cell_t *cell, const arm_t *arm, const result_t *result);

#endif
