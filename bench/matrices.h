/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of a cell in the machine's memory: made there, kept in a pristine copy, put back
 * before every call. */
#ifndef BATCHLAS_BENCH_MATRICES_H
#define BATCHLAS_BENCH_MATRICES_H

#include "cell.h"
#include "machine.h"

typedef struct {
    void *source[MAX_OPERANDS]; /* as generated */
    void *work[MAX_OPERANDS];   /* what calls get; source itself where nothing is written */
    void **items[MAX_OPERANDS]; /* of work, in the _array form */
    int *info;
} matrices_t;

/* Allocates and generates. What an operation must not look at, the other triangle and the padding,
 * holds NaN. */
bool matrices_make(const machine_t *machine, const cell_t *cell, matrices_t *matrices);
void matrices_free(const machine_t *machine, matrices_t *matrices);

/* Puts the written operands back, and garbage into info. */
bool matrices_restore(const machine_t *machine, const cell_t *cell, const matrices_t *matrices);

/* Bytes in which what calls wrote differs: the written operands and, where there is one, info. */
int64_t matrices_differing_bytes(const machine_t *machine, const cell_t *cell,
                                 const matrices_t *left, const matrices_t *right);

#endif
