/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BATCHLAS_BENCH_PEAKS_H
#define BATCHLAS_BENCH_PEAKS_H

#include "floors.h"
#include "machine.h"

/* What this machine reaches: bytes read plus written by a large copy, operations by a large gemm of
 * the library's vendor family. Kept in the file `path`, once for each device; with path NULL they
 * are measured every time. */
bool peaks_get(const machine_t *machine, const char *path, peaks_t *peaks);

#endif
