/* SPDX-License-Identifier: BSD-3-Clause */
/* trsm: the componentwise residual of every element. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

static const batchlas_side_t sides[] = {BATCHLAS_LEFT, BATCHLAS_RIGHT};
static const batchlas_op_t ops[] = {BATCHLAS_NO_TRANS, BATCHLAS_TRANS, BATCHLAS_CONJ_TRANS};
static const batchlas_diag_t diagonals[] = {BATCHLAS_NON_UNIT, BATCHLAS_UNIT};

typedef struct {
    scalar_type_t type;
    batchlas_side_t side;
    batchlas_uplo_t uplo;
    batchlas_op_t trans;
    batchlas_diag_t diag;
    int m, n;
    wide_t alpha;
    int64_t batch;
    int distinct;
    layout_t layout;
    bool shared_a;
    const family_line_t *line;
} case_t;

typedef struct {
    matrices_t A, B;
} operands_t;

enum { SEED_A = 6000, SEED_B = 7000 };

static int order(const case_t *c) {
    return c->side == BATCHLAS_LEFT ? c->m : c->n;
}

/* The triangle that counts: a diagonal of modulus 1 to 2 dominates off-diagonal elements that
 * shrink with the order, so that solutions stay of B's size. */
static void generate_triangle(const case_t *c, int64_t item, wide_t *A) {
    const int n = order(c);
    generate_dense(c->type, n, n, SEED_A + (uint64_t)(c->shared_a ? 0 : item % c->distinct), A);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            wide_t *a = &A[i + j * n];
            const bool counts = c->uplo == BATCHLAS_LOWER ? i > j : i < j;
            if (i == j)
                *a = c->diag == BATCHLAS_UNIT
                         ? (wide_t){1, 0}
                         : round_to(c->type, (wide_t){a->re + copysignl(1, a->re), a->im});
            else if (counts)
                *a = round_to(c->type, (wide_t){2 * a->re / n, 2 * a->im / n});
            else
                *a = (wide_t){0, 0};
        }
}

static void generate_b(const case_t *c, int64_t item, wide_t *B) {
    generate_dense(c->type, c->m, c->n, SEED_B + (uint64_t)(item % c->distinct), B);
}

static region_t region_of(const case_t *c) {
    if (c->diag == BATCHLAS_UNIT)
        return c->uplo == BATCHLAS_LOWER ? STRICT_LOWER_TRIANGLE : STRICT_UPPER_TRIANGLE;
    return triangle_of(c->uplo);
}

/* With alpha 0 neither A nor B is read and both stay full of the padding's value. */
static operands_t operands(const case_t *c, layout_t layout, fill_t fill) {
    const int n = order(c);
    const bool unread = c->alpha.re == 0 && c->alpha.im == 0;
    operands_t o = {
        matrices_make(c->type, n, n, c->batch, c->shared_a ? SHARED : layout, region_of(c)),
        matrices_make(c->type, c->m, c->n, c->batch, layout, ALL)};
    wide_t *A = host_alloc((size_t)n * (size_t)n, sizeof *A);
    wide_t *B = host_alloc((size_t)c->m * (size_t)c->n, sizeof *B);
    matrices_fill(&o.A, fill);
    matrices_fill(&o.B, fill);
    for (int64_t i = 0; i < c->batch && !unread; ++i) {
        if (i == 0 || !c->shared_a) {
            generate_triangle(c, i, A);
            matrices_set(&o.A, i, A);
        }
        generate_b(c, i, B);
        matrices_set(&o.B, i, B);
    }
    free(A);
    free(B);
    matrices_put(&o.A);
    matrices_put(&o.B);
    return o;
}

static void operands_free(operands_t *o) {
    matrices_free(&o->A);
    matrices_free(&o->B);
}

/* abs(op(A) X - alpha B) <= terms (abs(op(A)) abs(X) + abs(alpha B)), the bound of substitution;
 * twice that, because a solve may divide by a reciprocal. */
static void check_item(const case_t *c, const matrices_t *X, int64_t item) {
    const int n = order(c);
    const size_t area = (size_t)c->m * (size_t)c->n;
    wide_t *A = host_alloc((size_t)n * (size_t)n, sizeof *A);
    wide_t *x = host_alloc(area, sizeof *x);
    wide_t *residual = host_alloc(area, sizeof *residual);
    long double *magnitude = host_alloc(area, sizeof *magnitude);
    const bool left = c->side == BATCHLAS_LEFT;
    const wide_t one = {1, 0}, minus_alpha = {-c->alpha.re, -c->alpha.im};
    generate_triangle(c, item, A);
    generate_b(c, item, residual);
    matrices_item(X, item, x);
    reference_gemm(left ? c->trans : BATCHLAS_NO_TRANS, left ? BATCHLAS_NO_TRANS : c->trans, c->m,
                   c->n, n, one, left ? A : x, left ? x : A, minus_alpha, residual, magnitude);
    const long double eps =
        (scalar_is_complex(c->type) ? 4 : 1) * 2 * (n + 2) * unit_roundoff(c->type);
    for (size_t e = 0; e < area; ++e) {
        const long double size = fabsl(residual[e].re) + fabsl(residual[e].im);
        if (!(size <= eps * magnitude[e]))
            suite_fail("item %lld, row %zu, column %zu: the residual is %Lg, above %Lg",
                       (long long)item, e % (size_t)c->m, e / (size_t)c->m, size,
                       eps * magnitude[e]);
    }
    free(A);
    free(x);
    free(residual);
    free(magnitude);
}

static void check_items(const case_t *c, const matrices_t *X) {
    const bool zero = c->alpha.re == 0 && c->alpha.im == 0;
    for (int64_t i = 0; i < c->batch; ++i) {
        if (i >= c->distinct)
            suite_expect(item_agrees(X, i, X, i % c->distinct));
        else if (!zero)
            check_item(c, X, i);
        for (int e = 0; zero && e < c->m * c->n; ++e) {
            const wide_t x = matrices_element(X, i, e % c->m, e / c->m);
            if (x.re != 0 || x.im != 0)
                suite_fail("alpha 0 left (%Lg, %Lg)", x.re, x.im);
        }
    }
}

static bool run_form(const case_t *c, operands_t *o, bool array) {
    const call_t trsm = {.routine = TRSM,
                         .array = array,
                         .p = {.type = c->type,
                               .side = c->side,
                               .uplo = c->uplo,
                               .op_a = c->trans,
                               .diag = c->diag,
                               .m = c->m,
                               .n = c->n,
                               .alpha = {(double)c->alpha.re, (double)c->alpha.im},
                               .A = array ? matrices_pointers(&o->A) : matrices_strided(&o->A),
                               .B = array ? matrices_pointers(&o->B) : matrices_strided(&o->B),
                               .batch = c->batch}};
    const batchlas_status_t status = call(suite_handle(), &trsm);
    const bool ran = family_ran(c->line, c->type, order(c), status, suite_handle());
    matrices_get(&o->A);
    matrices_get(&o->B);
    suite_expect(matrices_are_untouched(&o->A));
    if (!ran) {
        suite_expect(matrices_are_untouched(&o->B));
        return false;
    }
    suite_expect(padding_is_untouched(&o->B));
    if (c->m > 0 && c->n > 0 && c->batch > 0)
        coverage_expect(c->line, c->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', order(c),
                        c->side == BATCHLAS_LEFT ? c->n : c->m, c->batch);
    return true;
}

static void name_case(const case_t *c) {
    suite_case("%s %s %s, trans %d, diag %d, m %d, n %d, alpha (%Lg, %Lg), batch %lld",
               family_name(c->line, c->type), c->side == BATCHLAS_LEFT ? "left" : "right",
               c->uplo == BATCHLAS_LOWER ? "lower" : "upper", (int)c->trans, (int)c->diag, c->m,
               c->n, c->alpha.re, c->alpha.im, (long long)c->batch);
}

static void run(const case_t *c) {
    operands_t first = operands(c, c->layout, SENTINEL);
    family_pin(c->line);
    name_case(c);
    if (run_form(c, &first, false)) {
        check_items(c, &first.B);
        operands_t poisoned = operands(c, c->layout, POISON);
        run_form(c, &poisoned, false);
        suite_expect(items_agree(&first.B, &poisoned.B, NULL));
        operands_free(&poisoned);
        operands_t scattered = operands(c, REVERSED, POISON);
        run_form(c, &scattered, true);
        suite_expect(items_agree(&first.B, &scattered.B, NULL));
        operands_free(&scattered);
    }
    family_unpin(c->line);
    operands_free(&first);
}

/* With every family, in all 24 combinations of side, triangle, trans and diagonal. */
static void run_everywhere(case_t c) {
    EACH(side, sides)
    EACH(uplo, triangles)
    EACH(op, ops)
    EACH(diag, diagonals) {
        c.side = sides[side_index];
        c.uplo = triangles[uplo_index];
        c.trans = ops[op_index];
        c.diag = diagonals[diag_index];
        for (int f = 0; (c.line = family_line("trsm", f)); ++f)
            run(&c);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void every_combination_is_solved(void **state) {
    (void)state;
    const int shapes[][2] = {{1, 1},   {2, 3},  {5, 1},   {1, 6},  {8, 8},   {9, 17}, {16, 5},
                             {17, 33}, {32, 4}, {33, 31}, {64, 3}, {48, 40}, {65, 18}};
    EACH(type, types)
    EACH(shape, shapes)
    run_everywhere((case_t){.type = types[type_index],
                            .m = shapes[shape_index][0],
                            .n = shapes[shape_index][1],
                            .alpha = round_to(types[type_index], (wide_t){-0.75L, 0.5L}),
                            .batch = 2,
                            .distinct = 2,
                            .layout = shape_index % 2 ? TIGHT : PADDED});
}

static void alpha_one_and_zero(void **state) {
    (void)state;
    EACH(type, types)
    for (int alpha = 0; alpha < 2; ++alpha)
        run_everywhere((case_t){.type = types[type_index],
                                .m = 11,
                                .n = 19,
                                .alpha = {alpha, 0},
                                .batch = 3,
                                .distinct = 3,
                                .layout = PADDED});
}

static void empty_solves_touch_nothing(void **state) {
    (void)state;
    EACH(type, types)
    for (int empty = 0; empty < 3; ++empty)
        run_everywhere((case_t){.type = types[type_index],
                                .m = empty == 0 ? 4 : 0,
                                .n = empty == 1 ? 5 : 0,
                                .alpha = {1, 0},
                                .batch = 3,
                                .distinct = 3,
                                .layout = PADDED});
}

static void a_shared_triangle_serves_all_items(void **state) {
    (void)state;
    EACH(type, types)
    run_everywhere((case_t){.type = types[type_index],
                            .m = 12,
                            .n = 9,
                            .alpha = {1, 0},
                            .batch = 6,
                            .distinct = 6,
                            .layout = PADDED,
                            .shared_a = true});
}

static void every_batch_is_solved(void **state) {
    (void)state;
    const int64_t batches[] = {0, 1, 31, 33, 1025, 65537};
    EACH(type, types)
    EACH(batch, batches) {
        case_t c = {.type = types[type_index],
                    .m = batches[batch_index] > 60000 ? 2 : 9,
                    .n = batches[batch_index] > 60000 ? 1 : 4,
                    .alpha = {1, 0},
                    .batch = batches[batch_index],
                    .distinct = 23,
                    .layout = OVERLAPPED};
        EACH(side, sides)
        EACH(op, ops) {
            c.side = sides[side_index];
            c.uplo = triangles[op_index % 2];
            c.trans = ops[op_index];
            for (int f = 0; (c.line = family_line("trsm", f)); ++f)
                run(&c);
        }
    }
}

/* A solve may be too wide for one block or warp, and a triangle larger than a tile. */
static void long_operands_are_solved(void **state) {
    (void)state;
    const int shapes[][2] = {{129, 5}, {3, 300}, {300, 3}, {96, 130}};
    EACH(type, types)
    EACH(shape, shapes) {
        case_t c = {.type = types[type_index],
                    .m = shapes[shape_index][0],
                    .n = shapes[shape_index][1],
                    .alpha = {1, 0},
                    .batch = 1,
                    .distinct = 1,
                    .layout = PADDED};
        EACH(side, sides)
        EACH(uplo, triangles) {
            c.side = sides[side_index];
            c.uplo = triangles[uplo_index];
            c.trans = ops[(shape_index + uplo_index) % 3];
            for (int f = 0; (c.line = family_line("trsm", f)); ++f)
                run(&c);
        }
    }
}

static void any_number_of_host_threads_gives_the_same_bits(void **state) {
    (void)state;
    const int teams[] = {1, 2, 5};
    const int before = omp_get_max_threads();
    EACH(type, types)
    EACH(side, sides) {
        case_t c = {.type = types[type_index],
                    .side = sides[side_index],
                    .trans = BATCHLAS_CONJ_TRANS,
                    .m = 40,
                    .n = 37,
                    .alpha = {1, 0},
                    .batch = 37,
                    .distinct = 5,
                    .layout = PADDED};
        for (int f = 0; (c.line = family_line("trsm", f)); ++f) {
            operands_t results[COUNT(teams)];
            bool ran = true;
            name_case(&c);
            EACH(team, teams) {
                results[team_index] = operands(&c, PADDED, SENTINEL);
                family_pin(c.line);
                omp_set_num_threads(teams[team_index]);
                ran = run_form(&c, &results[team_index], false);
                omp_set_num_threads(before);
                family_unpin(c.line);
                if (ran)
                    suite_expect(items_agree(&results[0].B, &results[team_index].B, NULL));
            }
            EACH(team, teams)
            operands_free(&results[team_index]);
        }
    }
}

static void pinned_families_ran(void **state) {
    (void)state;
    coverage_verify("trsm");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_combination_is_solved),
    suite_test(alpha_one_and_zero),
    suite_test(empty_solves_touch_nothing),
    suite_test(a_shared_triangle_serves_all_items),
    suite_test(every_batch_is_solved),
    suite_test(long_operands_are_solved),
    suite_test(any_number_of_host_threads_gives_the_same_bits),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("trsm", tests, ON_EVERY_DEVICE)
