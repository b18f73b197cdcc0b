/* SPDX-License-Identifier: BSD-3-Clause */
/* Every side, uplo and trans is a forward substitution: a right side is the left one of the
 * transposed equation, and an upper triangle is a lower one with rows and columns counted from the
 * end. Only strides change, and their signs. */
#include "families.h"
#include "gebp.h"
#include "host_isa.h"
#include "host_tiles.h"

#include <string.h>

/* L X = alpha B, where X overwrites B. */
typedef struct {
    scalar_type_t type;
    int order; /* of L */
    int count; /* of right-hand sides */
    int all;   /* of right-hand sides before tiling: these, and no tile's, decide on the kernel */
    double alpha[2];
    view_t L; /* lower triangle */
    bool unit;
    bool real_diagonal;
    void *X; /* element (i, r) is X[i * x_row + r * x_column] */
    int64_t x_row;
    int64_t x_column;
    int64_t l_first; /* where element (0, 0) lies in an item of A, and of B */
    int64_t x_first;
} forward_solve_t;

/* Rows of L that are taken at once, and right-hand sides of one device thread: what registers hold.
 */
enum { PANEL = 4, SIDES = 2 };

#define BODY "trsm_device_body.h"
#include "four_types.h"

#define HOST_BODY "trsm_tiled_body.h"
#include "instruction_sets.h"

static forward_solve_t forward_solve_of(const problem_t *p) {
    const bool left = p->side == BATCHLAS_LEFT;
    forward_solve_t s = {.type = p->type,
                         .order = left ? p->m : p->n,
                         .count = left ? p->n : p->m,
                         .all = left ? p->n : p->m,
                         .alpha = {p->alpha[0], p->alpha[1]},
                         .L = transposable_view(p->A.ld, p->op_a),
                         .unit = p->diag == BATCHLAS_UNIT,
                         .real_diagonal = p->real_diagonal,
                         .x_row = left ? 1 : p->B.ld,
                         .x_column = left ? p->B.ld : 1};
    bool lower = (p->uplo == BATCHLAS_LOWER) == (p->op_a == BATCHLAS_NO_TRANS);
    if (!left) {
        const int64_t row = s.L.row;
        s.L.row = s.L.column;
        s.L.column = row;
        lower = !lower;
    }
    if (!lower) {
        s.l_first = (s.order - 1) * (s.L.row + s.L.column);
        s.x_first = (s.order - 1) * s.x_row;
        s.L.row = -s.L.row;
        s.L.column = -s.L.column;
        s.x_row = -s.x_row;
    }
    return s;
}

typedef struct {
    forward_solve_t solve;
    void (*kernel)(const forward_solve_t *solve);
    int sides; /* in a tile */
} plan_t;

static void host_tile(const problem_t *p, const void *context, int64_t item, int64_t tile) {
    const plan_t *plan = context;
    const int64_t size = (int64_t)scalar_size(p->type), first = tile * plan->sides;
    forward_solve_t s = plan->solve;
    s.count = s.count - first < plan->sides ? (int)(s.count - first) : plan->sides;
    s.L.at = (char *)operand_item(&p->A, size, item) + s.l_first * size;
    s.X = (char *)operand_item(&p->B, size, item) + (s.x_first + first * s.x_column) * size;
    plan->kernel(&s);
}

static void trsm_host(const problem_t *p) {
    static void (*const kernels[ISA_COUNT][4])(const forward_solve_t *) = {
        [ISA_BASELINE] = ISA_ROW(solve, baseline),
#if HOST_IS_X86_64
        [ISA_AVX2] = ISA_ROW(solve, avx2),
        [ISA_AVX512] = ISA_ROW(solve, avx512),
#endif
    };
    plan_t plan = {.solve = forward_solve_of(p),
                   .kernel = kernels[host_isa()][p->type],
                   .sides = gebp_rows(p->type)};
    const int64_t count = plan.solve.count, order = plan.solve.order;
    while (plan.sides > 16 && (count + plan.sides - 1) / plan.sides * p->batch < host_threads())
        plan.sides /= 2;
    const double multiply_adds = 0.5 * order * (double)order * count * (double)p->batch;
    for_each_tile(p, (count + plan.sides - 1) / plan.sides, multiply_adds, host_tile, &plan);
}

LAUNCH(batchlas_trsm_tiled) {
    (void)workspace;
    if (!h->facts.is_gpu) {
        trsm_host(problem);
        return BATCHLAS_SUCCESS;
    }
    const forward_solve_t solve = forward_solve_of(problem);
    switch (problem->type) {
    case TYPE_S:
        trsm_device_s(problem, &solve, h->device);
        break;
    case TYPE_D:
        trsm_device_d(problem, &solve, h->device);
        break;
    case TYPE_C:
        trsm_device_c(problem, &solve, h->device);
        break;
    case TYPE_Z:
        trsm_device_z(problem, &solve, h->device);
        break;
    }
    return BATCHLAS_SUCCESS;
}
