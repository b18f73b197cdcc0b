/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether results are right: every item, against its own input, with a random vector. */
#ifndef BATCHLAS_BENCH_CHECK_H
#define BATCHLAS_BENCH_CHECK_H

#include "cell.h"
#include "machine.h"
#include "matrices.h"

/* The largest accepted residual, in units of the rounding that the sums behind it can show. Right
 * results stay below about 6, in single precision 3: the check itself sums in double. */
#define RESIDUAL_BOUND 30.0

typedef struct {
    double residual; /* the worst item's; infinite if there is a NaN */
    int64_t wrong;   /* items beyond RESIDUAL_BOUND */
    int64_t first_wrong;
    int64_t failed; /* items whose info is not 0 */
    int64_t first_failed;
    int first_info;
} verdict_t;

/* Vectors that a check works in. */
size_t check_scratch_bytes(const cell_t *cell);

/* Multiplies the identity that the results must satisfy by a random vector with entries of 1/2 to 1
 * in magnitude: L (L^H x) - A x for potrf, A (X v) - B v for a solve, and so on. An item that is
 * wrong in a single element by more than the rounding of its row is found. */
verdict_t check_results(const machine_t *machine, const cell_t *cell, const matrices_t *matrices,
                        void *scratch);

bool verdict_is_right(const verdict_t *verdict);
/* "item 17 of 3 wrong ones has residual 2e+05", "info of item 5 is 3", for a message. */
void verdict_explain(const verdict_t *verdict, char *text, size_t size);

#endif
