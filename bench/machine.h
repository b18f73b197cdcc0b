/* SPDX-License-Identifier: BSD-3-Clause */
/* The device that is measured, or the host: memory, stream, clock and name. Every function that can
 * fail prints the reason and returns false or NULL. */
#ifndef BATCHLAS_BENCH_MACHINE_H
#define BATCHLAS_BENCH_MACHINE_H

#include <batchlas/batchlas.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { HOST_DEVICE = -1 };

typedef struct {
    bool is_gpu;
    int device;    /* OpenMP device number; the initial device for the host */
    char name[16]; /* "sm_90" or "host": as tuned tables are named */
    char model[256];
    int sector; /* bytes that move together: 32 on a GPU, a cache line of 64 on the host */
    void *stream;
    void *start, *stop; /* CUDA events */
} machine_t;

/* `device`: an OpenMP device number or HOST_DEVICE. */
bool machine_open(machine_t *machine, int device);
void machine_close(machine_t *machine);

/* Device 0 where there is one, else HOST_DEVICE. */
int machine_default_device(void);

/* A handle on the machine's stream. */
bool machine_handle(const machine_t *machine, batchlas_handle_t *h);

double machine_free_bytes(const machine_t *machine);
void *machine_alloc(const machine_t *machine, size_t bytes);
void machine_free(const machine_t *machine, void *memory);
/* Within the machine's memory, and complete or on the stream on return. */
bool machine_copy(const machine_t *machine, void *to, const void *from, size_t bytes);
bool machine_fill(const machine_t *machine, void *to, int byte, size_t bytes);
bool machine_synchronise(const machine_t *machine);
/* The same without sleeping. */
bool machine_spin(const machine_t *machine);
/* Enqueues an empty kernel on a GPU's stream. */
bool machine_launch_nothing(const machine_t *machine);
/* Keeps a GPU's stream busy for so long, with a kernel that touches no memory. */
bool machine_hold(const machine_t *machine, double seconds);

/* Begins or ends what a profiler is to look at; nothing on the host. */
bool machine_profile(const machine_t *machine, bool begin);

/* One timed span: host wall clock, and the device's clock where there is one. */
typedef struct {
    double device_seconds; /* the wall's on the host */
    double wall_seconds;
} span_t;

/* `idle`: waits for the stream first, as the wall clock needs. On a GPU the device's clock starts
 * while the stream still works otherwise, and so sees none of the time that a launch takes. */
bool span_begin(const machine_t *machine, span_t *span, bool idle);
/* Between the call, which may only have enqueued, and the wait for its end. */
bool span_enqueued(const machine_t *machine);
bool span_end(const machine_t *machine, span_t *span);

double wall_clock(void);

/* {"device": "sm_90", "model": ..., "libraries": {...}} on one line. */
void machine_describe(const machine_t *machine, FILE *out);

#endif
