/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: which cells, which arms, how long. */
#ifndef BATCHLAS_BENCH_OPTIONS_H
#define BATCHLAS_BENCH_OPTIONS_H

#include "arms.h"
#include "cell.h"
#include "machine.h"

typedef enum {
    MEASURE,
    PROFILE,         /* --profile: one call of each arm, for a profiler */
    LIST_KNOWN_ARMS, /* --known: which of --arms this device's library knows */
    DESCRIBE,        /* --describe: the device and the libraries, as one JSON object */
    SHOW_HELP
} action_t;

typedef struct {
    action_t action;
    op_t op;
    cell_t *cells;
    int cell_count;
    arm_t arms[MAX_ARMS];
    int arm_count;
    int device; /* OpenMP device number or HOST_DEVICE */
    int repetitions;
    double warm_seconds;
    bool skip_unavailable; /* an arm that cannot run a cell gives a row without a time */
    const char *csv;
    const char *peaks;
} options_t;

/* False, with the reason on stderr, if the command line is not understood. */
bool options_parse(options_t *options, int count, char **words);
void options_free(options_t *options);
void options_help(void);

#endif
