/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces of the caller's that calls are using now. Two calls at once on one of them would spoil
 * each other's results without a sign, so the second is refused. */
#ifndef BATCHLAS_CLAIM_H
#define BATCHLAS_CLAIM_H

#include "handle.h"

#include <stdatomic.h>

typedef struct {
    atomic_uintptr_t *slot; /* NULL: nothing is claimed */
} claim_t;

/* Claims h's workspace, if it is the caller's, until the release; BATCHLAS_INVALID_ARGUMENT where
 * another call has claimed that address. */
batchlas_status_t batchlas_claim_workspace(batchlas_handle_t h, claim_t *claim);
void batchlas_release_workspace(claim_t *claim);

#endif
