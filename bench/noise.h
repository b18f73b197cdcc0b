/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers by counter: the same on host and device, in any order. */
#ifndef BATCHLAS_BENCH_NOISE_H
#define BATCHLAS_BENCH_NOISE_H

#include <stdint.h>

/* The mixing function of splitmix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Uniform in [0, 1). */
static inline double noise(uint64_t counter) {
    return (double)(mix(counter) >> 11) * 0x1.0p-53;
}

#endif
