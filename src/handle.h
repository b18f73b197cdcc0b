/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle: one device, one stream, its workspace, its tables and its last error. */
#ifndef BATCHLAS_HANDLE_H
#define BATCHLAS_HANDLE_H

#include "select.h"

typedef struct vendor_state vendor_state_t; /* cuSOLVER's and cuBLAS's handles, made on first use */

enum { OPERATION_COUNT = 7, WORKSPACE_ALIGNMENT = 256 };

/* A tuned table as one handle has loaded it; reloaded when BATCHLAS_TUNED_DIR changes. */
typedef struct {
    const operation_t *operation; /* NULL: slot not in use */
    char *directory;              /* the BATCHLAS_TUNED_DIR it was loaded under, "" for none */
    table_t table;
} loaded_table_t;

/* Tells a handle from one that was destroyed, as far as that one's memory can still be read. */
#define HANDLE_ALIVE 0x6261746368616c76u

struct batchlas_handle_s {
    uint64_t alive;
    device_facts_t facts;
    char device_name[16]; /* "sm_90" or "host": names the tables */
    int device;           /* OpenMP device number; the initial device for the host */

    void *stream;  /* cudaStream_t; NULL on the host and for the legacy stream */
    void *interop; /* omp_interop_t that this handle made, else NULL */
    bool nowait;
    bool unified_memory;

    void *own_workspace;
    size_t own_workspace_bytes;
    void *user_workspace;
    size_t user_workspace_bytes;

    loaded_table_t tables[OPERATION_COUNT];
    int measuring; /* > 0 while workspace is measured: what is chosen meanwhile does not run */
    vendor_state_t *vendor;

    char error[512];
};

static inline bool batchlas_is_alive(batchlas_handle_t h) {
    return h && h->alive == HANDLE_ALIVE;
}

/* Begins a call: clears the last error. BATCHLAS_INVALID_ARGUMENT where h is no handle. */
batchlas_status_t batchlas_begin(batchlas_handle_t h);

/* h is NULL while a handle is made. */
void batchlas_clear_error(batchlas_handle_t h);

/* Records the sentence and returns the status: `return batchlas_fail(h, BATCHLAS_..., "...")`. */
batchlas_status_t batchlas_fail(batchlas_handle_t h, batchlas_status_t status, const char *format,
                                ...) __attribute__((format(printf, 3, 4)));

/* "batchlas: warning: ..." on stderr, once a process for each text. */
void batchlas_warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `bytes` of the caller's or the handle's workspace; *memory is NULL for 0 bytes. */
batchlas_status_t batchlas_workspace(batchlas_handle_t h, size_t bytes, void **memory);
void batchlas_free_workspace(batchlas_handle_t h); /* the handle's own */

/* The table that ranks this operation's families on this device; *table is NULL if there is none.
 */
batchlas_status_t batchlas_table_for(batchlas_handle_t h, const operation_t *operation,
                                     const table_t **table);
void batchlas_tables_free(batchlas_handle_t h);

/* Cuts one workspace into aligned pieces. With base NULL it only measures, so that buffer_size and
 * launch replay the same layout and no size is ever summed by hand. */
typedef struct {
    char *base;
    size_t used;
} arena_t;

/* What `used` becomes, and stays, where the pieces are more than can be counted. */
#define ARENA_OVERFLOW SIZE_MAX

static inline void *arena_take(arena_t *arena, int64_t count, size_t size) {
    void *piece = arena->base ? arena->base + arena->used : NULL;
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, arena->used + WORKSPACE_ALIGNMENT - 1, &bytes))
        arena->used = ARENA_OVERFLOW;
    else if (arena->used != ARENA_OVERFLOW)
        arena->used = bytes / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
    return piece;
}

#endif
