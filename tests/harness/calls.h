/* SPDX-License-Identifier: BSD-3-Clause */
/* One way to make every public call, so that a case is written once for all types and forms. */
#ifndef BATCHLAS_TESTS_CALLS_H
#define BATCHLAS_TESTS_CALLS_H

#include "harness/suite.h"

#include "problem.h"

typedef enum { POTRF, POTRS, POSV, POTRF_LOGDET, TRSM, GEMM, SYRK, ROUTINE_COUNT } routine_t;

/* What the complex types are given for the address of alpha or beta. */
typedef enum { AS_GIVEN, NULL_ADDRESS, ODD_ADDRESS, DEVICE_ADDRESS } address_t;

typedef struct {
    routine_t routine;
    bool array; /* the _array form, of p's operands' items */
    address_t alpha_at, beta_at;
    const void *device_address; /* for DEVICE_ADDRESS */
    problem_t p;
} call_t;

/* "dpotrf", "cherk": as in the public name and in the library's sentences. */
const char *call_name(const call_t *call);
bool has_array_form(routine_t routine);
bool has_buffer_size(routine_t routine);

batchlas_status_t call(batchlas_handle_t h, const call_t *call);
batchlas_status_t call_buffer_size(batchlas_handle_t h, const call_t *call, size_t *bytes);

#endif
