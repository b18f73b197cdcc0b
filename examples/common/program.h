/* SPDX-License-Identifier: BSD-3-Clause */
/* What the example programs share: what they say on stderr, their options, memory, files and the
 * device. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <batchlas/batchlas.h>
#include <stdio.h>

/* Each program's own. */
extern const char program_name[];

/* Writes "program: sentence." and a newline on stderr; returns 1. */
int complain(const char *format, ...);

/* As complain, in the library's words, if status is a failure; else returns 0. */
int library_failed(batchlas_handle_t h, batchlas_status_t status);

/* ---- for programs that have nothing to save: EXIT_FAILURE after one sentence ----------------- */

void require(batchlas_handle_t h, batchlas_status_t status);

/* count elements of this many bytes, zeroed, or exit. */
void *allocate(int64_t count, size_t element);

/* Memory of allocate, or NULL, with room for count elements; what is new is not set. */
void *grow(void *memory, int64_t count, size_t element);

/* The same for arrays that are copied to a device and back: pinned, where OpenMP's runtime can, so
 * that copies run at full speed and in the background. */
void *allocate_for_copies(int64_t count, size_t element, int device);
void free_for_copies(void *memory);

FILE *open_output(const char *path);

/* Exits if not all could be written. */
void close_output(FILE *file, const char *path);

/* Whether a file can be written, asked before the work that ends in it; path may be NULL. Zero
 * after one sentence on stderr. */
int writable(const char *path);

/* ---- options --------------------------------------------------------------------------------- */

enum { GO_ON = -1, EXIT_USAGE = 2 }; /* what options_take returns, with EXIT_SUCCESS */
enum { DEVICE_AUTO = -1, DEVICE_HOST = -2 };

typedef struct option_s {
    const char *name;                                             /* with its dashes */
    int (*take)(const struct option_s *option, const char *text); /* zero if text cannot serve */
    void *value;                                                  /* of the type that take names */
    double low, high;                                             /* legal range of a number */
    const char *expected; /* what is said of other texts; NULL: a number from low to high */
} option_t;

int take_text(const option_t *option, const char *text);   /* const char *, not empty */
int take_whole(const option_t *option, const char *text);  /* int */
int take_count(const option_t *option, const char *text);  /* int64_t */
int take_real(const option_t *option, const char *text);   /* double */
int take_seed(const option_t *option, const char *text);   /* uint64_t */
int take_device(const option_t *option, const char *text); /* int: DEVICE_AUTO, _HOST, a number */

#define EXPECTED_DEVICE "auto, host or a device number"
#define EXPECTED_SEED   "a number from 0 to 18446744073709551615"

/* Takes "--name value" and "--name=value". Returns GO_ON, or what to exit with: EXIT_SUCCESS once
 * --help was answered with the text, EXIT_USAGE after one sentence on stderr. */
int options_take(int argc, char **argv, const char *help, const option_t *option, int count);

/* ---- the device ------------------------------------------------------------------------------ */

/* Opens a handle; with DEVICE_AUTO a GPU that the library cannot use is no error, the host serves.
 * *device becomes the OpenMP device number. Nonzero after one sentence on stderr. */
int open_device(int wanted, batchlas_handle_t *h, int *device);

/* "0 of 1" or "host, OpenMP threads: 2", for the head of a table; valid until the next call. */
const char *device_words(int device);

#endif
