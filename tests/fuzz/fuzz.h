/* SPDX-License-Identifier: BSD-3-Clause */
/* A fuzz target reads one input and ends the process if the library does anything with it that it
 * should not. libFuzzer makes inputs up; replay.c runs those that were kept. */
#ifndef BATCHLAS_FUZZ_H
#define BATCHLAS_FUZZ_H

#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of an input; 0 for what it has no bytes for. */
typedef struct {
    const uint8_t *data;
    size_t size;
} input_t;

static inline uint8_t take_byte(input_t *input) {
    if (input->size == 0)
        return 0;
    --input->size;
    return *input->data++;
}

static inline int64_t take_number(input_t *input, int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; ++i)
        number |= (uint64_t)take_byte(input) << (8 * i);
    return (int64_t)number;
}

/* Ends the process unless the claim holds. */
#define HOLDS(claim, ...)                                                                          \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);                             \
            printf(__VA_ARGS__);                                                                   \
            putchar('\n');                                                                         \
            fflush(stdout);                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
