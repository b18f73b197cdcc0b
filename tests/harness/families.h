/* SPDX-License-Identifier: BSD-3-Clause */
/* The families that a suite pins in turn, and the proof that a pinned one really ran. */
#ifndef BATCHLAS_TESTS_FAMILIES_H
#define BATCHLAS_TESTS_FAMILIES_H

#include "harness/suite.h"

#include "problem.h"

typedef struct {
    const char *operation;
    const char *spelling; /* the pin; NULL leaves the choice to the library */
    const char *children; /* the pin of the operations it stands on; NULL leaves them alone */
    bool on_host, on_gpu;
    /* Orders up to which it must run, by type; above, it may refuse. */
    int runs_up_to[4];
} family_line_t;

/* The lines of an operation on the device under test, in order; NULL after the last. */
const family_line_t *family_line(const char *operation, int index);

/* Sets the environment so that calls of the operation take this family. */
void family_pin(const family_line_t *line);
void family_unpin(const family_line_t *line);
bool family_must_run(const family_line_t *line, scalar_type_t type, int n);
/* "dpotrf blocked" */
const char *family_name(const family_line_t *line, scalar_type_t type);

/* A call with this line pinned either ran or was refused; false for the latter, where it may. */
bool family_ran(const family_line_t *line, scalar_type_t type, int n, batchlas_status_t status,
                batchlas_handle_t h);

/* Has the library record what it ran; part of every test's setup. */
void coverage_begin(void);
/* Remembers that a call with this line pinned ran; uplo is 'l', 'u' or '-'. */
void coverage_expect(const family_line_t *line, scalar_type_t type, char uplo, int64_t n,
                     int64_t nrhs, int64_t batch);
/* Whether every such call of the operation is on record with its family. */
verdict_t coverage_agrees(const char *operation);
/* Forgets the calls remembered so far. */
void coverage_forget(void);
/* Closes the suite's handle and fails unless the coverage agrees and every line of the operation
 * ran at least once. */
void coverage_verify(const char *operation);
/* The records themselves, to be freed. */
char *coverage_text(void);

#endif
