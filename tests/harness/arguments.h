/* SPDX-License-Identifier: BSD-3-Clause */
/* The space of arguments: those of every routine in the order of its prototype, the values at which
 * a check turns, and what the documentation says of any combination. An attempt makes one call and
 * holds it to that: the status, the sentence, and which bytes of memory it may have changed. */
#ifndef BATCHLAS_TESTS_ARGUMENTS_H
#define BATCHLAS_TESTS_ARGUMENTS_H

#include "harness/calls.h"

typedef enum {
    ENUMERATOR,
    EXTENT,
    SCALAR_ADDRESS,
    OPERAND,
    LEADING_DIMENSION,
    STRIDE,
    INFO,
    LOGDET,
    BATCH
} argument_kind_t;

typedef struct {
    const char *name; /* NULL after the last one */
    argument_kind_t kind;
} argument_t;

const argument_t *arguments_of(routine_t routine);
/* Those of its buffer_size before `bytes`; none for a routine without one. */
const argument_t *buffer_size_arguments_of(routine_t routine);

/* A value of any argument: enumerators, extents, leading dimensions, strides and batches are
 * numbers; for a scalar it is an address_t; what is left are pointers. */
typedef struct {
    int64_t number;
    void *pointer;
} value_t;

enum { MAX_VALUES = 16 };

/* Memory for the operands of one routine and a good call of it. */
typedef struct {
    size_t elements; /* 0: the routine has no such operand */
    unsigned char *device, *before, *after;
    void **items; /* on the device */
} block_t;

typedef struct {
    call_t good;
    block_t A, B, C;
    int *info;
    double *logdet;
} attempt_t;

attempt_t attempt_make(routine_t routine, scalar_type_t type, bool array);
void attempt_free(attempt_t *a);
/* Puts everything back as it was at first, which is positive definite and well conditioned. */
void attempt_reset(attempt_t *a);
verdict_t attempt_is_untouched(attempt_t *a);
/* Of every byte of its memory: equal where all bits are. */
uint64_t attempt_digest(attempt_t *a);

/* The values of an argument on either side of each of its checks, around those of the good call. */
int attempt_values(const attempt_t *a, const argument_t *argument, value_t values[MAX_VALUES]);
value_t argument_get(const call_t *given, const argument_t *argument);
void argument_set(call_t *c, const argument_t *argument, value_t value);

/* The first argument that the documentation rules out, NULL for a good call; `value` is a word that
 * the sentence must have beside its name: the value itself, or what an address is advised. */
const char *first_bad_argument(const call_t *c, char value[32]);
const char *first_bad_buffer_size_argument(const call_t *c, char value[32]);

typedef enum { REFUSED, RAN, UNAVAILABLE, PASSED_OVER } outcome_t;

/* Makes the call, unless it is good but its operands are larger than the attempt's memory. Then the
 * status must be what first_bad_argument says; a refused call must have named that argument, its
 * value and what was expected, and have changed nothing; one that ran must have changed nothing but
 * what it is documented to write. UNAVAILABLE, of a good call that a pin rules out. */
verdict_t attempt_try(batchlas_handle_t h, attempt_t *a, const call_t *c, outcome_t *outcome);
/* The same for the routine's buffer_size, which every good call may be asked. */
verdict_t attempt_try_buffer_size(batchlas_handle_t h, const call_t *c, outcome_t *outcome);

/* "dpotrf_array(uplo 0, n 4, A 0x..., ...)" */
void attempt_describe(const call_t *c, char *text, size_t size);

#endif
