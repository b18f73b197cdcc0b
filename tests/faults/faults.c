/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults/faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    int kinds; /* 0: not armed */
    long left;
    bool came;
} armed;

static long device_blocks;

void faults_arm(int kinds, long nth) {
    armed.kinds = kinds;
    armed.left = nth;
    armed.came = false;
}

bool faults_disarm(void) {
    armed.kinds = 0;
    return armed.came;
}

bool fault_is_due(fault_kind_t kind) {
    if (!(armed.kinds & (int)kind) || --armed.left != 0)
        return false;
    armed.came = true;
    return true;
}

long faults_device_blocks(void) {
    return device_blocks;
}

void faults_count_device_block(int change) {
    device_blocks += change;
}

/* ---- the host's ---------------------------------------------------------------------------- */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */

#define FAILS_WITHOUT_MEMORY                                                                       \
    do {                                                                                           \
        if (fault_is_due(HOST_ALLOCATION)) {                                                       \
            errno = ENOMEM;                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
FILE *__real_fopen(const char *path, const char *mode);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
FILE *__wrap_fopen(const char *path, const char *mode);

void *__wrap_malloc(size_t bytes) {
    FAILS_WITHOUT_MEMORY;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size) {
    FAILS_WITHOUT_MEMORY;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    FAILS_WITHOUT_MEMORY;
    return __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    FAILS_WITHOUT_MEMORY;
    return __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text) {
    FAILS_WITHOUT_MEMORY;
    return __real_strdup(text);
}

FILE *__wrap_fopen(const char *path, const char *mode) {
    FAILS_WITHOUT_MEMORY;
    return __real_fopen(path, mode);
}

/* NOLINTEND(bugprone-reserved-identifier) */
