/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers by their place in a stream: in any order, on any thread, on host and device. */
#ifndef RANDOM_H
#define RANDOM_H

#include <math.h>
#include <stdint.h>

#pragma omp declare target

/* 64 random bits, the same everywhere. Source: Steele, Lea & Flood, OOPSLA 2014 (SplitMix64). */
static inline uint64_t random_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform on (0, 1), the same bits everywhere. */
static inline double random_uniform(uint64_t seed, uint64_t index) {
    return ((double)(random_bits(seed, index) >> 11) + 0.5) * 0x1p-53;
}

/* Standard normal, the same to rounding everywhere. Source: Box & Muller, Ann. Math. Stat. 29,
 * 1958. */
static inline double random_normal(uint64_t seed, uint64_t index) {
    return sqrt(-2.0 * log(random_uniform(seed, 2 * index))) *
           cos(6.283185307179586 * random_uniform(seed, 2 * index + 1));
}

#pragma omp end declare target

#endif
