/* SPDX-License-Identifier: BSD-3-Clause */
/* What the selector decided, for people: BATCHLAS_SELECT_TRACE and BATCHLAS_COVERAGE_OUT. */
#ifndef BATCHLAS_RECORD_H
#define BATCHLAS_RECORD_H

#include "handle.h"

/* Prints and records one choice, where the environment asks for it. Leaves are printed only: in the
 * coverage they would pass for the factorisation that they are a part of. */
void batchlas_record(batchlas_handle_t h, const route_request_t *request, const route_t *route);

void batchlas_coverage_flush(void);

#endif
