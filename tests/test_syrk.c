/* SPDX-License-Identifier: BSD-3-Clause */
/* syrk for the real types, herk for the complex ones, element by element. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    scalar_type_t type;
    batchlas_uplo_t uplo;
    batchlas_op_t trans;
    int n, k;
    double alpha, beta;
    int64_t batch;
    int distinct;
    layout_t layout;
    bool shared_a;
    const family_line_t *line;
} case_t;

typedef struct {
    matrices_t A, C;
} operands_t;

enum { DISTINCT = 3 };
enum { SEED_A = 4000, SEED_C = 5000 };

static int rows_a(const case_t *c) {
    return c->trans == BATCHLAS_NO_TRANS ? c->n : c->k;
}

static int columns_a(const case_t *c) {
    return c->trans == BATCHLAS_NO_TRANS ? c->k : c->n;
}

static void generate_a(const case_t *c, int64_t item, wide_t *A) {
    const int64_t which = c->shared_a ? 0 : item % c->distinct;
    generate_dense(c->type, rows_a(c), columns_a(c), SEED_A + (uint64_t)which, A);
}

static void generate_c(const case_t *c, int64_t item, wide_t *C) {
    generate_dense(c->type, c->n, c->n, SEED_C + (uint64_t)(item % c->distinct), C);
    for (int j = 0; j < c->n; ++j)
        C[j * (c->n + 1)].im = 0;
}

/* Operands that the scalars keep from being read stay full of the padding's value. */
static operands_t operands(const case_t *c, layout_t layout, fill_t fill) {
    operands_t o = {matrices_make(c->type, rows_a(c), columns_a(c), c->batch,
                                  c->shared_a ? SHARED : layout, ALL),
                    matrices_make(c->type, c->n, c->n, c->batch, layout, triangle_of(c->uplo))};
    o.C.real_diagonal = scalar_is_complex(c->type);
    wide_t *values = host_alloc((size_t)c->n * (size_t)(c->n + c->k), sizeof *values);
    matrices_fill(&o.A, fill);
    matrices_fill(&o.C, fill);
    for (int64_t i = 0; i < c->batch; ++i) {
        if (c->alpha != 0 && (i == 0 || !c->shared_a)) {
            generate_a(c, i, values);
            matrices_set(&o.A, i, values);
        }
        if (c->beta != 0) {
            generate_c(c, i, values);
            matrices_set(&o.C, i, values);
        }
    }
    free(values);
    matrices_put(&o.A);
    matrices_put(&o.C);
    return o;
}

static void operands_free(operands_t *o) {
    matrices_free(&o->A);
    matrices_free(&o->C);
}

static void check_items(const case_t *c, const matrices_t *C) {
    const batchlas_op_t other = c->trans != BATCHLAS_NO_TRANS ? BATCHLAS_NO_TRANS
                                : scalar_is_complex(c->type)  ? BATCHLAS_CONJ_TRANS
                                                              : BATCHLAS_TRANS;
    const size_t area = (size_t)c->n * (size_t)c->n;
    wide_t *A = host_alloc((size_t)c->n * (size_t)c->k, sizeof *A);
    wide_t *expected = host_alloc(area, sizeof *expected);
    long double *magnitude = host_alloc(area, sizeof *magnitude);
    for (int64_t i = 0; i < c->batch; ++i) {
        for (int j = 0; j < c->n && scalar_is_complex(c->type); ++j)
            if (matrices_element(C, i, j, j).im != 0)
                suite_fail("item %lld has (%Lg, %Lg) on its diagonal", (long long)i,
                           matrices_element(C, i, j, j).re, matrices_element(C, i, j, j).im);
        if (i >= c->distinct) {
            suite_expect(item_agrees(C, i, C, i % c->distinct));
            continue;
        }
        generate_a(c, i, A);
        generate_c(c, i, expected);
        reference_gemm(c->trans, other, c->n, c->n, c->k, (wide_t){c->alpha, 0}, A, A,
                       (wide_t){c->beta, 0}, expected, magnitude);
        suite_expect(elements_are_near(C, i, expected, magnitude, c->k + 4));
    }
    free(A);
    free(expected);
    free(magnitude);
}

static bool run_form(const case_t *c, operands_t *o) {
    const call_t syrk = {.routine = SYRK,
                         .p = {.type = c->type,
                               .uplo = c->uplo,
                               .op_a = c->trans,
                               .n = c->n,
                               .k = c->k,
                               .alpha = {c->alpha, 0},
                               .beta = {c->beta, 0},
                               .A = matrices_strided(&o->A),
                               .C = matrices_strided(&o->C),
                               .batch = c->batch}};
    const batchlas_status_t status = call(suite_handle(), &syrk);
    const bool ran = family_ran(c->line, c->type, c->n, status, suite_handle());
    matrices_get(&o->A);
    matrices_get(&o->C);
    suite_expect(matrices_are_untouched(&o->A));
    if (!ran) {
        suite_expect(matrices_are_untouched(&o->C));
        return false;
    }
    suite_expect(padding_is_untouched(&o->C));
    if (c->n > 0 && c->batch > 0)
        coverage_expect(c->line, c->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', c->n, c->k,
                        c->batch);
    return true;
}

static void name_case(const case_t *c) {
    suite_case("%s %s, trans %d, n %d, k %d, alpha %g, beta %g, batch %lld",
               family_name(c->line, c->type), c->uplo == BATCHLAS_LOWER ? "lower" : "upper",
               (int)c->trans, c->n, c->k, c->alpha, c->beta, (long long)c->batch);
}

static void run(const case_t *c) {
    operands_t first = operands(c, c->layout, SENTINEL);
    family_pin(c->line);
    name_case(c);
    if (run_form(c, &first)) {
        check_items(c, &first.C);
        operands_t poisoned = operands(c, c->layout, POISON);
        run_form(c, &poisoned);
        suite_expect(items_agree(&first.C, &poisoned.C, NULL));
        operands_free(&poisoned);
    }
    family_unpin(c->line);
    operands_free(&first);
}

/* On both triangles, with every trans the type has and every family. */
static void run_everywhere(case_t c) {
    const batchlas_op_t ops[] = {BATCHLAS_NO_TRANS, BATCHLAS_TRANS, BATCHLAS_CONJ_TRANS};
    EACH(uplo, triangles)
    EACH(op, ops) {
        if (scalar_is_complex(c.type) && ops[op_index] == BATCHLAS_TRANS)
            continue;
        c.uplo = triangles[uplo_index];
        c.trans = ops[op_index];
        for (int f = 0; (c.line = family_line("syrk", f)); ++f)
            run(&c);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void every_shape_is_updated(void **state) {
    (void)state;
    const int shapes[][2] = {{1, 1},   {2, 5},   {3, 1},  {7, 9},   {8, 8},   {9, 16},
                             {16, 17}, {31, 32}, {33, 8}, {48, 33}, {65, 20}, {97, 64}};
    EACH(type, types)
    EACH(shape, shapes)
    run_everywhere((case_t){.type = types[type_index],
                            .n = shapes[shape_index][0],
                            .k = shapes[shape_index][1],
                            .alpha = shape_index % 3 ? -1 : 0.75,
                            .beta = shape_index % 3 == 1 ? -0.5 : 1,
                            .batch = 2,
                            .distinct = 2,
                            .layout = shape_index % 2 ? TIGHT : PADDED});
}

static void zero_scalars_do_not_read_what_they_multiply(void **state) {
    (void)state;
    const double scalars[] = {0, 1, -2.5};
    EACH(type, types)
    EACH(alpha, scalars)
    EACH(beta, scalars)
    run_everywhere((case_t){.type = types[type_index],
                            .n = 18,
                            .k = 11,
                            .alpha = scalars[alpha_index],
                            .beta = scalars[beta_index],
                            .batch = 3,
                            .distinct = 3,
                            .layout = PADDED});
}

static void without_an_inner_dimension_c_is_scaled(void **state) {
    (void)state;
    const double scalars[] = {0, 1, -2.5};
    EACH(type, types)
    EACH(beta, scalars)
    run_everywhere((case_t){.type = types[type_index],
                            .n = 7,
                            .k = 0,
                            .alpha = 2,
                            .beta = scalars[beta_index],
                            .batch = 3,
                            .distinct = 3,
                            .layout = PADDED});
}

static void empty_updates_touch_nothing(void **state) {
    (void)state;
    EACH(type, types)
    run_everywhere((case_t){.type = types[type_index],
                            .n = 0,
                            .k = 4,
                            .alpha = 1,
                            .batch = 3,
                            .distinct = 3,
                            .layout = PADDED});
}

static void a_shared_operand_serves_all_items(void **state) {
    (void)state;
    EACH(type, types)
    run_everywhere((case_t){.type = types[type_index],
                            .n = 13,
                            .k = 10,
                            .alpha = -1,
                            .beta = 1,
                            .batch = 6,
                            .distinct = 6,
                            .layout = PADDED,
                            .shared_a = true});
}

static void every_batch_is_updated(void **state) {
    (void)state;
    const int64_t batches[] = {0, 1, 31, 33, 1025, 65537};
    EACH(type, types)
    EACH(batch, batches) {
        const bool huge = batches[batch_index] > 60000;
        run_everywhere((case_t){.type = types[type_index],
                                .n = huge ? 2 : 9,
                                .k = huge ? 1 : 7,
                                .alpha = -1,
                                .beta = 1,
                                .batch = batches[batch_index],
                                .distinct = 23,
                                .layout = OVERLAPPED});
    }
}

/* A family may cut C into other tiles where there are more items to fill the device with. */
static void an_item_has_the_same_bits_in_every_batch(void **state) {
    (void)state;
    const int64_t batches[] = {DISTINCT, suite_on_gpu() ? 40 : 5, suite_on_gpu() ? 264 : 9};
    EACH(type, types)
    EACH(uplo, triangles) {
        case_t c = {.type = types[type_index],
                    .uplo = triangles[uplo_index],
                    .trans = uplo_index == 0 ? BATCHLAS_NO_TRANS : BATCHLAS_CONJ_TRANS,
                    .n = 127,
                    .k = 37,
                    .alpha = -1,
                    .beta = 1,
                    .distinct = DISTINCT,
                    .layout = PADDED};
        for (int f = 0; (c.line = family_line("syrk", f)); ++f) {
            operands_t results[COUNT(batches)];
            bool ran = c.line->spelling && strcmp(c.line->spelling, "vendor") != 0;
            EACH(batch, batches) {
                c.batch = batches[batch_index];
                name_case(&c);
                results[batch_index] = operands(&c, c.layout, POISON);
                family_pin(c.line);
                ran = ran && run_form(&c, &results[batch_index]);
                family_unpin(c.line);
                if (ran)
                    check_items(&c, &results[batch_index].C);
                for (int64_t i = 0; i < DISTINCT && ran; ++i)
                    suite_expect(item_agrees(&results[batch_index].C, i, &results[0].C, i));
            }
            EACH(batch, batches)
            operands_free(&results[batch_index]);
        }
    }
}

static void any_number_of_host_threads_gives_the_same_bits(void **state) {
    (void)state;
    const int teams[] = {1, 2, 5};
    const int before = omp_get_max_threads();
    EACH(type, types)
    EACH(uplo, triangles) {
        case_t c = {.type = types[type_index],
                    .uplo = triangles[uplo_index],
                    .n = 45,
                    .k = 40,
                    .alpha = -1,
                    .beta = 1,
                    .batch = 37,
                    .distinct = 5,
                    .layout = PADDED};
        for (int f = 0; (c.line = family_line("syrk", f)); ++f) {
            operands_t results[COUNT(teams)];
            bool ran = true;
            name_case(&c);
            EACH(team, teams) {
                results[team_index] = operands(&c, PADDED, SENTINEL);
                family_pin(c.line);
                omp_set_num_threads(teams[team_index]);
                ran = run_form(&c, &results[team_index]);
                omp_set_num_threads(before);
                family_unpin(c.line);
                if (ran)
                    suite_expect(items_agree(&results[0].C, &results[team_index].C, NULL));
            }
            EACH(team, teams)
            operands_free(&results[team_index]);
        }
    }
}

static void pinned_families_ran(void **state) {
    (void)state;
    coverage_verify("syrk");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_shape_is_updated),
    suite_test(zero_scalars_do_not_read_what_they_multiply),
    suite_test(without_an_inner_dimension_c_is_scaled),
    suite_test(empty_updates_touch_nothing),
    suite_test(a_shared_operand_serves_all_items),
    suite_test(every_batch_is_updated),
    suite_test(an_item_has_the_same_bits_in_every_batch),
    suite_test(any_number_of_host_threads_gives_the_same_bits),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("syrk", tests, ON_EVERY_DEVICE)
