/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests tell the simulated device and ask of it. */
#ifndef BATCHLAS_SIMULATION_CONTROL_H
#define BATCHLAS_SIMULATION_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As on sm_90; bytes. */
enum { THREADS_PER_BLOCK = 1024, SHARED_MEMORY_PER_BLOCK = 232448 };

/* Which of the threads that can go on does so. A thread runs until it has to wait for others, under
 * RANDOM also only to its next access to the device's memory, every now and then. */
typedef enum { ROUND_ROBIN, BACKWARDS, WARP_AHEAD, WARP_BEHIND, RANDOM } order_t;
typedef struct {
    order_t order;
    unsigned warp; /* the one that runs ahead or lags, modulo the warps of a block */
    uint64_t seed;
} schedule_t;
void simulation_schedule(schedule_t schedule);
/* "random, seed 7" */
const char *schedule_name(schedule_t schedule);

/* ---- memory ---------------------------------------------------------------------------------- */

void *simulation_alloc(size_t bytes);
void simulation_free(void *memory);
/* Whether all of it is allocated. */
bool simulation_owns(const void *memory);

/* ---- what was found -------------------------------------------------------------------------- */

/* The first fault since the last call with its kernel, block, thread and source line, or NULL. The
 * launch ended there. Valid until the next launch. */
const char *simulation_fault(void);
/* The same without the names that take a search through debug information: "race", ... */
const char *simulation_fault_kind(void);
void simulation_forget_fault(void);

/* Asked before every launch, which is refused at once where it says no. It always says yes; a test
 * that wants launches to fail puts its own in its place. */
bool simulation_grants_launch(void);

/* ---- barriers -------------------------------------------------------------------------------- */

typedef struct {
    const char *file; /* without its folder */
    int line;
    const char *kind; /* "block", "warp", "copies", "event" */
} barrier_t;
/* Those that kernels have met so far, in the order of files and lines; NULL after the last. */
const barrier_t *simulation_barrier(int index);
/* Gives what follows a number, by which to ask whether a barrier was met in it. */
void simulation_begin_run(int number);
bool simulation_met(const barrier_t *barrier, int run);
/* As if this one were not in the source; NULL puts it back. */
void simulation_remove_barrier(const barrier_t *barrier);

#ifdef __cplusplus
}
#endif

#endif
