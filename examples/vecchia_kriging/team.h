/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that share the work; examples/mpi_kriging has more than one. */
#ifndef TEAM_H
#define TEAM_H

#include <stddef.h>
#include <stdint.h>

/* Alone: rank 0 of 1, and no functions. */
typedef struct {
    int rank, ranks;
    /* From an array of which each process has filled its share, the whole array for everyone.
     * item: bytes. */
    void (*gather)(void *array, int64_t count, size_t item);
    int64_t (*sum)(int64_t value); /* over all processes, for everyone */
} team_t;

/* The share of a process: items from here to where the next one's begins. */
static inline int64_t team_begin(const team_t *team, int64_t count, int rank) {
    return count * rank / team->ranks;
}

static inline void team_gather(const team_t *team, void *array, int64_t count, size_t item) {
    if (team->ranks > 1)
        team->gather(array, count, item);
}

static inline int64_t team_sum(const team_t *team, int64_t value) {
    return team->ranks > 1 ? team->sum(value) : value;
}

#endif
