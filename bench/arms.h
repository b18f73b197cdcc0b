/* SPDX-License-Identifier: BSD-3-Clause */
/* An arm: what one measurement pins. "tiny" pins the operation; "blocked+trsm=vendor" pins its
 * parts too. */
#ifndef BATCHLAS_BENCH_ARMS_H
#define BATCHLAS_BENCH_ARMS_H

#include "cell.h"

enum { MAX_ARMS = 16, ARM_LENGTH = 96, SPELLING_LENGTH = 48 };

typedef struct {
    char name[ARM_LENGTH];                /* as given */
    char pins[OP_COUNT][SPELLING_LENGTH]; /* by operation; empty: not pinned */
} arm_t;

/* Splits `list` at its commas exactly. False, with the reason in `why`, for an empty list, an empty
 * or repeated arm, or a part that is not op=spelling. */
bool arms_parse(const char *list, op_t op, arm_t arms[MAX_ARMS], int *count, char *why,
                size_t why_size);

/* Puts the arm's pins into the environment, and takes out every other. */
void arm_pin(const arm_t *arm);

/* Warns of pins that the caller's environment holds: the arms replace them. */
void arms_warn_of_environment(void);

/* Whether `chosen` is what an arm pinned to `spelling` asked for. */
bool arm_accepts(const char *spelling, const char *chosen);

/* Whether it asks for a class of families: where none of them can run, the library goes on without
 * the pin. */
bool arm_is_class(const char *spelling);

/* ---- what ran, read back ---- */

/* Between begin and end the library records what it runs in a file of this process's own, complete
 * once the handle that was used is destroyed. */
bool coverage_begin(void);
void coverage_end(void);
/* The families recorded for this operation, order and batch: the first into `chosen`, and whether
 * any other differs from it. Returns how many records there were, -1 if the file cannot be
 * understood. Removes the file. */
int coverage_read(const cell_t *cell, char chosen[SPELLING_LENGTH], bool *differs);

#endif
