/* SPDX-License-Identifier: BSD-3-Clause */
/* The two floors under a time: the bytes that must move over the bandwidth, and the operations that
 * must be done over their rate. */
#ifndef BATCHLAS_BENCH_FLOORS_H
#define BATCHLAS_BENCH_FLOORS_H

#include "cell.h"

/* What a device was measured to reach. */
typedef struct {
    double bytes_per_second;         /* read plus written */
    double operations_per_second[4]; /* by type: s d c z */
} peaks_t;

/* Bytes of the sectors (GPU 32, CPU's cache line 64) that hold an element the operation refers to,
 * once for an operand that is read, twice for one that is read and written. */
double floor_bytes(const cell_t *cell, int sector);

/* Real additions and multiplications (LAPACK Working Note 41). */
double floor_operations(const cell_t *cell);

int type_index(char type);

#endif
