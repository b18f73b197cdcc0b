/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "claim.h"
#include "device.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

static batchlas_status_t choose(batchlas_handle_t h, const operation_t *operation,
                                const problem_t *problem, step_kind_t kind, step_t *step) {
    const table_t *table = NULL;
    const batchlas_status_t loaded = batchlas_table_for(h, operation, &table);
    if (loaded != BATCHLAS_SUCCESS)
        return loaded;
    const route_request_t request = {.operation = operation,
                                     .problem = problem,
                                     .facts = &h->facts,
                                     .table = table,
                                     .pin = getenv(operation->pin_variable),
                                     .leaf = kind == LEAF_FAMILY};
    route_t route;
    const batchlas_status_t chosen = batchlas_choose(&request, &route);
    if (chosen != BATCHLAS_SUCCESS)
        return batchlas_fail(h, chosen, "%c%s: %s", scalar_letter(problem->type), operation->name,
                             route.why);
    if (route.why[0])
        batchlas_warn_once("%s", route.why);
    if (route.family->manner == BLOCKS && batchlas_device_is_capturing(h))
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED,
                             "%c%s: family %s does more than enqueue and cannot be captured",
                             scalar_letter(problem->type), operation->name, route.family->spelling);
    if (!h->measuring)
        batchlas_trace(h, &request, &route);
    *step = (step_t){operation, route.family};
    return BATCHLAS_SUCCESS;
}

/* A leaf is not covered: it would pass for the factorisation that it is a part of. */
batchlas_status_t batchlas_step_choose(batchlas_handle_t h, const operation_t *operation,
                                       const problem_t *problem, step_kind_t kind, step_t *step) {
    const batchlas_status_t status = choose(h, operation, problem, kind, step);
    if (status == BATCHLAS_SUCCESS && kind != LEAF_FAMILY && !h->measuring)
        batchlas_cover(operation, problem, step->family);
    return status;
}

batchlas_status_t batchlas_step_buffer_size(batchlas_handle_t h, const step_t *step,
                                            const problem_t *problem, size_t *bytes) {
    *bytes = 0;
    if (!step->family->buffer_size)
        return BATCHLAS_SUCCESS;
    ++h->measuring;
    batchlas_status_t status = step->family->buffer_size(h, problem, bytes);
    --h->measuring;
    if (status == BATCHLAS_SUCCESS && *bytes == ARENA_OVERFLOW) {
        *bytes = 0;
        status = batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY,
                               "%c%s: the workspace of family %s has more bytes than 64 bits count",
                               scalar_letter(problem->type), step->operation->name,
                               step->family->spelling);
    }
    return status;
}

batchlas_status_t batchlas_step_launch(batchlas_handle_t h, const step_t *step,
                                       const problem_t *problem, void *workspace) {
    if (step->family->manner == BLOCKS) {
        const batchlas_status_t drained = batchlas_complete(h);
        if (drained != BATCHLAS_SUCCESS)
            return drained;
    }
    return step->family->launch(h, problem, workspace);
}

/* The claim is the caller's to release when the call is over. */
static batchlas_status_t choose_and_launch(batchlas_handle_t h, const operation_t *operation,
                                           const problem_t *problem, claim_t *claim) {
    step_t step;
    size_t bytes = 0;
    void *workspace = NULL;
    batchlas_status_t status = choose(h, operation, problem, ANY_FAMILY, &step);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_buffer_size(h, &step, problem, &bytes);
    if (status == BATCHLAS_SUCCESS && bytes > 0)
        status = batchlas_claim_workspace(h, claim);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_workspace(h, bytes, &workspace);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_launch(h, &step, problem, workspace);
    if (status == BATCHLAS_SUCCESS)
        batchlas_cover(operation, problem, step.family);
    return status;
}

batchlas_status_t batchlas_run(batchlas_handle_t h, const operation_t *operation,
                               const problem_t *problem) {
    claim_t claim = {NULL};
    const int current = batchlas_device_enter(h);
    batchlas_status_t status = choose_and_launch(h, operation, problem, &claim);
    if (status == BATCHLAS_SUCCESS && !h->nowait)
        status = batchlas_complete(h);
    batchlas_release_workspace(&claim);
    batchlas_device_leave(current);
    return status;
}

batchlas_status_t batchlas_run_buffer_size(batchlas_handle_t h, const operation_t *operation,
                                           const problem_t *problem, size_t *bytes) {
    step_t step;
    *bytes = 0;
    const int current = batchlas_device_enter(h);
    ++h->measuring;
    batchlas_status_t status = choose(h, operation, problem, ANY_FAMILY, &step);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_step_buffer_size(h, &step, problem, bytes);
    --h->measuring;
    batchlas_device_leave(current);
    return status;
}

batchlas_status_t batchlas_run_empty(batchlas_handle_t h, int *info, int64_t batch) {
    const size_t bytes = (size_t)batch * sizeof *info;
    if (!info || batch == 0)
        return BATCHLAS_SUCCESS;
    if (!h->facts.is_gpu) {
        memset(info, 0, bytes);
        return BATCHLAS_SUCCESS;
    }
    const int current = batchlas_device_enter(h);
    batchlas_status_t status = batchlas_device_zero(h, info, bytes);
    if (status == BATCHLAS_SUCCESS && !h->nowait)
        status = batchlas_complete(h);
    batchlas_device_leave(current);
    return status;
}
