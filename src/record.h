/* SPDX-License-Identifier: BSD-3-Clause */
/* What the selector decided, for people: BATCHLAS_SELECT_TRACE and BATCHLAS_COVERAGE_OUT. */
#ifndef BATCHLAS_RECORD_H
#define BATCHLAS_RECORD_H

#include "handle.h"

/* Prints one choice, where BATCHLAS_SELECT_TRACE asks for it. */
void batchlas_trace(batchlas_handle_t h, const route_request_t *request, const route_t *route);

/* Records what ran, where BATCHLAS_COVERAGE_OUT asks for it. */
void batchlas_cover(const operation_t *operation, const problem_t *problem, const family_t *family);
void batchlas_coverage_flush(void);

#endif
