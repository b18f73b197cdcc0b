/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a multiprocessor's shared memory a kernel may ask for, and the largest order that
 * fits: one rule for every family that keeps a matrix or a panel resident. Plain C that nvcc reads
 * too; nothing here touches a device. */
#ifndef BATCHLAS_RESIDENT_CAPACITY_H
#define BATCHLAS_RESIDENT_CAPACITY_H

#include <stddef.h>
#include <stdint.h>

enum {
    RESIDENT_RESERVE_BYTES = 4096, /* of a block's shared memory, kept back for the runtime */
    RESIDENT_MIN_BLOCKS = 4,       /* blocks a multiprocessor should hold, to hide latency */
    RESIDENT_MAX_ORDER = 4096      /* where the walk ends at the latest */
};

/* Requests from 47,105 to 49,664 bytes lie so close below the 48 KB that a block gets without
 * opting in that a kernel's static shared memory decides whether they launch. Asking for 49,920
 * opts in and always launches. */
enum { RESIDENT_BAND_LOW = 47104, RESIDENT_BAND_HIGH = 49664, RESIDENT_BAND_PADDED = 49920 };

static inline size_t resident_padded(size_t bytes) {
    return bytes > RESIDENT_BAND_LOW && bytes <= RESIDENT_BAND_HIGH ? (size_t)RESIDENT_BAND_PADDED
                                                                    : bytes;
}

/* What kernels may use of `local_bytes` of shared memory. */
static inline size_t device_budget(size_t local_bytes) {
    return local_bytes > RESIDENT_RESERVE_BYTES ? local_bytes - RESIDENT_RESERVE_BYTES : 0;
}

/* The share of the budget that one of `min_blocks` resident blocks may own. */
static inline size_t occupancy_budget(size_t budget, int min_blocks) {
    return min_blocks > 1 ? budget / (size_t)min_blocks : budget;
}

/* The largest n in [1, n_hi] such that it and every smaller order fit the share; 0 if 1 does not.
 * bytes(n) need not be monotone, because of the padded band. The walk stops at the first miss: to
 * walk on would promise a range with orders in it that cannot launch. */
static inline int64_t resident_max_n(size_t (*bytes)(int64_t n), size_t budget, int min_blocks,
                                     int64_t n_hi) {
    const size_t share = occupancy_budget(budget, min_blocks);
    int64_t n = 0;
    while (n < n_hi && bytes(n + 1) <= share)
        ++n;
    return n;
}

/* How many matrices one block holds where `lanes` threads, no more than a warp, serve one of
 * `bytes` each: bounded by the block's share of shared memory, by its width (the target or the
 * device's maximum, whichever is less) and by max_pack. 0 if not even one fits. Packed matrices may
 * share no barrier wider than their own lanes unless all of them reach it. */
static inline int pack_matrices_per_wg(size_t bytes, int lanes, size_t wg_budget, int max_wg_size,
                                       int target_wg_size, int max_pack) {
    const int width = target_wg_size < max_wg_size ? target_wg_size : max_wg_size;
    int pack = width / lanes < max_pack ? width / lanes : max_pack;
    while (pack > 0 && resident_padded((size_t)pack * bytes) > wg_budget)
        --pack;
    return pack;
}

#endif
