/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuned tables: parsing and the nearest row. The format is described in tuned/README.md. */
#ifndef BATCHLAS_TABLE_H
#define BATCHLAS_TABLE_H

#include <batchlas/batchlas.h>

#include <stddef.h>
#include <stdint.h>

enum { TABLE_FORM_LENGTH = 8, TABLE_MAX_RANKED = 8, TABLE_SPELLING_LENGTH = 32 };

/* What a row is keyed by. type, uplo and form must match exactly; n, nrhs and batch by distance. */
typedef struct {
    char type;                    /* s d c z */
    char uplo;                    /* l u, or - where the operation has none */
    char form[TABLE_FORM_LENGTH]; /* of trsm "LN", of gemm "NC", ...; "-" where there is one form */
    int64_t n;
    int64_t nrhs;
    int64_t batch;
} route_key_t;

typedef struct {
    route_key_t key;
    double log_n, log_nrhs, log_batch;
    char ranked[TABLE_MAX_RANKED][TABLE_SPELLING_LENGTH];
    int ranked_count;
    int line;
} table_row_t;

typedef struct {
    table_row_t *rows; /* sorted by type, uplo and form, so that a look-up touches few of them */
    int row_count;
} table_t;

/* Parses `text`; `file` only names it in errors. `is_spelling` says whether a ranked word names a
 * family. On BATCHLAS_ROUTE_UNAVAILABLE `error` is "file:line: what is wrong", on
 * BATCHLAS_OUT_OF_MEMORY "file: ..."; then table is empty. */
batchlas_status_t batchlas_table_parse(const char *text, const char *file,
                                       int (*is_spelling)(const void *context, const char *word),
                                       const void *context, table_t *table, char *error,
                                       size_t error_size);
void batchlas_table_free(table_t *table);

/* The row at the least 3 |log2 n/n'| + |log2 nrhs/nrhs'| + |log2 batch/batch'|, the first among
 * equals; NULL if no row has this type, uplo and form. */
const table_row_t *batchlas_table_nearest(const table_t *table, const route_key_t *key);

/* A table of the library's own, embedded at build time from tuned/. */
typedef struct {
    const char *operation;
    const char *device; /* "sm_90", "host" */
    const char *text;
} embedded_table_t;

extern const embedded_table_t batchlas_embedded_tables[];
extern const int batchlas_embedded_table_count;

#endif
