/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's entry that a cell stands for. Updates are those of a factorisation: alpha = -1 and
 * beta = 1 in gemm, syrk and herk; trsm has alpha = 1. */
#ifndef BATCHLAS_BENCH_CALLS_H
#define BATCHLAS_BENCH_CALLS_H

#include "cell.h"
#include "matrices.h"

batchlas_status_t call_entry(batchlas_handle_t h, const cell_t *cell, const matrices_t *matrices);
batchlas_status_t call_buffer_size(batchlas_handle_t h, const cell_t *cell, size_t *bytes);

#endif
