/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that are the same on every run: splitmix64 (Steele, Lea and Flood, 2014). */
#ifndef BATCHLAS_TESTS_RANDOM_H
#define BATCHLAS_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Of 0 .. count - 1. */
static inline int random_below(uint64_t *state, int count) {
    return (int)((random_next(state) >> 33) % (uint64_t)count);
}

#endif
