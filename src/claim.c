/* SPDX-License-Identifier: BSD-3-Clause */
#include "claim.h"

/* Addresses that are claimed. An address has one slot; where another one holds that, it goes
 * unclaimed, which costs nothing but the check. So threads meet neither in a lock nor, but by
 * chance, in a cache line. */
enum { SLOTS = 64, CACHE_LINE = 64 };
static struct {
    _Alignas(CACHE_LINE) atomic_uintptr_t address; /* 0: free */
} claims[SLOTS];

/* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
static atomic_uintptr_t *slot_of(const void *workspace) {
    const uint64_t hash = (uint64_t)(uintptr_t)workspace * UINT64_C(0x9e3779b97f4a7c15);
    return &claims[hash >> 32 & (SLOTS - 1)].address;
}

batchlas_status_t batchlas_claim_workspace(batchlas_handle_t h, claim_t *claim) {
    claim->slot = NULL;
    if (!h->user_workspace)
        return BATCHLAS_SUCCESS;
    const uintptr_t address = (uintptr_t)h->user_workspace;
    atomic_uintptr_t *slot = slot_of(h->user_workspace);
    uintptr_t holder = 0;
    if (atomic_compare_exchange_strong(slot, &holder, address))
        claim->slot = slot;
    else if (holder == address)
        return batchlas_fail(h, BATCHLAS_INVALID_ARGUMENT,
                             "the workspace given with set_workspace is %p, which another call "
                             "uses at this moment, expected one of this handle's own",
                             h->user_workspace);
    return BATCHLAS_SUCCESS;
}

void batchlas_release_workspace(claim_t *claim) {
    if (claim->slot)
        atomic_store(claim->slot, 0);
}
