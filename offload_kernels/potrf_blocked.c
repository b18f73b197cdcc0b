/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf `blocked`, right-looking, for any order, on the device and on the host. For each panel of
 * nb columns (rows, of an upper triangle):
 *
 *   leaf          A11 = L11 L11^H           a potrf family that can serve as one
 *   panel solve   L21 = A21 L11^-H          trsm
 *   update        A22 = A22 - L21 L21^H     syrk; herk for complex types
 *
 * The leaf itself writes into the caller's info, through problem.info_base: it passes over an item
 * that has failed already, so the first failure stays, and nothing has to be merged or repaired
 * afterwards. The other two steps leave such an item alone. Source: LAPACK potrf. */
#include "families.h"
#include "run.h"
#include "tuning_constants.h"

#include <limits.h>
#include <omp.h>
#include <stdlib.h>

typedef struct {
    int nb;
    int *info; /* the caller's, or batch ints of workspace; NULL while measuring */
    step_t leaf, solve, update;
    size_t child_bytes;
    void *child_workspace; /* of whichever step runs */
    size_t bytes;
} plan_t;

/* Panel j .. j + jb - 1 and what lies beyond it. */
typedef struct {
    int j, jb, rest;
} panel_t;

static panel_t panel_at(const problem_t *p, int nb, int j) {
    const int jb = p->n - j < nb ? p->n - j : nb;
    return (panel_t){j, jb, p->n - j - jb};
}

/* The conjugate transpose: of real types CONJ_TRANS means the same, but tables know TRANS. */
static batchlas_op_t adjoint(scalar_type_t type) {
    return scalar_is_complex(type) ? BATCHLAS_CONJ_TRANS : BATCHLAS_TRANS;
}

static operand_t off_diagonal(const problem_t *p, panel_t panel) {
    const int beyond = panel.j + panel.jb;
    return p->uplo == BATCHLAS_LOWER ? operand_at(p->A, beyond, panel.j)
                                     : operand_at(p->A, panel.j, beyond);
}

static problem_t leaf_problem(const problem_t *p, panel_t panel) {
    problem_t leaf = *p;
    leaf.n = panel.jb;
    leaf.A = operand_at(p->A, panel.j, panel.j);
    leaf.info_base = p->info_base + panel.j;
    return leaf;
}

/* The leaf left the diagonal of L11 real. */
static problem_t solve_problem(const problem_t *p, panel_t panel) {
    const bool lower = p->uplo == BATCHLAS_LOWER;
    return (problem_t){.type = p->type,
                       .side = lower ? BATCHLAS_RIGHT : BATCHLAS_LEFT,
                       .uplo = p->uplo,
                       .op_a = adjoint(p->type),
                       .diag = BATCHLAS_NON_UNIT,
                       .m = lower ? panel.rest : panel.jb,
                       .n = lower ? panel.jb : panel.rest,
                       .alpha = {1.0, 0.0},
                       .A = operand_at(p->A, panel.j, panel.j),
                       .B = off_diagonal(p, panel),
                       .real_diagonal = true, /* a complex division by +Inf would make it NaN */
                       .batch = p->batch};
}

static problem_t update_problem(const problem_t *p, panel_t panel) {
    const int beyond = panel.j + panel.jb;
    return (problem_t){.type = p->type,
                       .uplo = p->uplo,
                       .op_a = p->uplo == BATCHLAS_LOWER ? BATCHLAS_NO_TRANS : adjoint(p->type),
                       .n = panel.rest,
                       .k = panel.jb,
                       .alpha = {-1.0, 0.0},
                       .beta = {1.0, 0.0},
                       .A = off_diagonal(p, panel),
                       .C = operand_at(p->A, beyond, beyond),
                       .batch = p->batch};
}

/* BATCHLAS_POTRF_NB, else the constant of the type and place. */
static batchlas_status_t panel_width(batchlas_handle_t h, const problem_t *p, int *nb) {
    const char *wish = getenv("BATCHLAS_POTRF_NB");
    *nb = h->facts.is_gpu ? potrf_nb_gpu[p->type] : potrf_nb_host[p->type];
    if (!wish || !*wish)
        return BATCHLAS_SUCCESS;
    char *end;
    const long value = strtol(wish, &end, 10);
    if (*end || value < 1 || value > INT_MAX)
        return batchlas_fail(h, BATCHLAS_ROUTE_UNAVAILABLE,
                             "%cpotrf: BATCHLAS_POTRF_NB=%.32s is no panel width; expected a "
                             "positive number",
                             scalar_letter(p->type), wish);
    *nb = (int)value;
    return BATCHLAS_SUCCESS;
}

/* Every step is chosen once, for the first panel, which is the largest. */
static batchlas_status_t choose_steps(batchlas_handle_t h, const problem_t *p, plan_t *plan) {
    const panel_t first = panel_at(p, plan->nb, 0);
    const problem_t leaf = leaf_problem(p, first);
    batchlas_status_t status =
        batchlas_step_choose(h, &batchlas_potrf_operation, &leaf, LEAF_FAMILY, &plan->leaf);
    if (first.rest == 0)
        return status;
    const problem_t solve = solve_problem(p, first);
    const problem_t update = update_problem(p, first);
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_step_choose(h, &batchlas_trsm_operation, &solve, ANY_FAMILY, &plan->solve);
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_step_choose(h, &batchlas_syrk_operation, &update, ANY_FAMILY, &plan->update);
    return status;
}

/* Raises plan->child_bytes to what this step needs. */
static batchlas_status_t measure(batchlas_handle_t h, const step_t *step, const problem_t *p,
                                 plan_t *plan) {
    size_t bytes = 0;
    const batchlas_status_t status = batchlas_step_buffer_size(h, step, p, &bytes);
    if (bytes > plan->child_bytes)
        plan->child_bytes = bytes;
    return status;
}

static bool needs_workspace(const step_t *step) {
    return step->family && step->family->buffer_size;
}

static batchlas_status_t measure_steps(batchlas_handle_t h, const problem_t *p, plan_t *plan) {
    batchlas_status_t status = BATCHLAS_SUCCESS;
    const bool any = needs_workspace(&plan->leaf) || needs_workspace(&plan->solve) ||
                     needs_workspace(&plan->update);
    for (int j = 0; any && j < p->n && status == BATCHLAS_SUCCESS; j += plan->nb) {
        const panel_t panel = panel_at(p, plan->nb, j);
        const problem_t leaf = leaf_problem(p, panel);
        status = measure(h, &plan->leaf, &leaf, plan);
        if (panel.rest == 0)
            break;
        const problem_t solve = solve_problem(p, panel);
        const problem_t update = update_problem(p, panel);
        if (status == BATCHLAS_SUCCESS)
            status = measure(h, &plan->solve, &solve, plan);
        if (status == BATCHLAS_SUCCESS)
            status = measure(h, &plan->update, &update, plan);
    }
    return status;
}

static batchlas_status_t make_plan(batchlas_handle_t h, const problem_t *p, void *workspace,
                                   plan_t *plan) {
    arena_t arena = {.base = workspace};
    *plan = (plan_t){.info = p->info};
    if (!p->info)
        plan->info = arena_take(&arena, p->batch, sizeof(int));
    batchlas_status_t status = panel_width(h, p, &plan->nb);
    if (status == BATCHLAS_SUCCESS)
        status = choose_steps(h, p, plan);
    if (status == BATCHLAS_SUCCESS)
        status = measure_steps(h, p, plan);
    plan->child_workspace = arena_take(&arena, 1, plan->child_bytes);
    plan->bytes = arena.used;
    return status;
}

batchlas_status_t batchlas_potrf_blocked_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                     size_t *bytes) {
    plan_t plan;
    const batchlas_status_t status = make_plan(h, problem, NULL, &plan);
    *bytes = plan.bytes;
    return status;
}

/* Failed items are left alone; but cuBLAS cannot, and works on whatever they hold. */
static batchlas_status_t launch(batchlas_handle_t h, const step_t *step, problem_t problem,
                                const int *info, void *workspace) {
    const bool can_skip = step->family->origin == NATIVE || !h->facts.is_gpu;
    problem.skip = can_skip ? info : NULL;
    return batchlas_step_launch(h, step, &problem, workspace);
}

static batchlas_status_t factor(batchlas_handle_t h, const plan_t *plan, const problem_t *p) {
    batchlas_status_t status = BATCHLAS_SUCCESS;
    for (int j = 0; j < p->n && status == BATCHLAS_SUCCESS; j += plan->nb) {
        const panel_t panel = panel_at(p, plan->nb, j);
        const problem_t leaf = leaf_problem(p, panel);
        status = batchlas_step_launch(h, &plan->leaf, &leaf, plan->child_workspace);
        if (panel.rest == 0)
            break;
        if (status == BATCHLAS_SUCCESS)
            status =
                launch(h, &plan->solve, solve_problem(p, panel), p->info, plan->child_workspace);
        if (status == BATCHLAS_SUCCESS)
            status =
                launch(h, &plan->update, update_problem(p, panel), p->info, plan->child_workspace);
    }
    return status;
}

/* Each thread factors a few items from first panel to last, while the cache holds them. Inside, the
 * steps find themselves in a parallel region and stay on their thread. */
static batchlas_status_t factor_items(batchlas_handle_t h, const plan_t *plan, const problem_t *p,
                                      int64_t chunk) {
    batchlas_status_t status = BATCHLAS_SUCCESS;
    const int64_t chunks = (p->batch + chunk - 1) / chunk;
#pragma omp parallel for schedule(dynamic) if (!omp_in_parallel())
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t first = c * chunk;
        const problem_t some =
            problem_from_item(*p, first, p->batch - first < chunk ? p->batch - first : chunk);
        const batchlas_status_t failed = factor(h, plan, &some);
        if (failed != BATCHLAS_SUCCESS) {
#pragma omp atomic write
            status = failed;
        }
    }
    return status;
}

/* How many items a thread of the host takes at a time; 0: so few that the threads had better share
 * each step. Neither this nor the number of threads shows in the bits, since no step lets them. */
static int64_t items_at_a_time(const problem_t *p) {
    const int64_t threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    if (p->batch < threads)
        return 0;
    const int64_t item_bytes = (int64_t)p->n * p->n * (int64_t)scalar_size(p->type);
    const int64_t fit = POTRF_CHUNK_BYTES / item_bytes;
    const int64_t share = p->batch / (4 * threads);
    const int64_t chunk = fit < share ? fit : share;
    return chunk < 1 ? 1 : chunk;
}

batchlas_status_t batchlas_potrf_blocked(batchlas_handle_t h, const problem_t *problem,
                                         void *workspace) {
    plan_t plan;
    const batchlas_status_t planned = make_plan(h, problem, workspace, &plan);
    if (planned != BATCHLAS_SUCCESS)
        return planned;
    problem_t p = *problem;
    p.info = plan.info;
    const int64_t chunk = h->facts.is_gpu || plan.child_bytes > 0 ? 0 : items_at_a_time(&p);
    return chunk > 0 ? factor_items(h, &plan, &p, chunk) : factor(h, &plan, &p);
}
