/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the library that fail on demand. The linker puts them in the place of the real ones
 * (--wrap, in CMakeLists.txt), for the programs that ask for it alone: the library itself has no
 * seam. */
#ifndef BATCHLAS_TESTS_FAULTS_H
#define BATCHLAS_TESTS_FAULTS_H

#include <stdbool.h>

typedef enum {
    HOST_ALLOCATION = 1, /* malloc and its kind, and opening a file */
    DEVICE_ALLOCATION = 2,
    DEVICE_CALL = 4 /* launches, and every other call of the CUDA runtime */
} fault_kind_t;

/* From now on the nth call of these kinds fails, counted from 1, that one alone. */
void faults_arm(int kinds, long nth);
/* Whether it has come to that; and from now on nothing fails. */
bool faults_disarm(void);

/* For the calls in the place of the real ones. */
bool fault_is_due(fault_kind_t kind);

/* Blocks of device memory that were allocated by these calls and are not freed yet. */
long faults_device_blocks(void);
void faults_count_device_block(int change);

#endif
