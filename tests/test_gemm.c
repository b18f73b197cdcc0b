/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm, element by element against the textbook product. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const batchlas_op_t ops[] = {BATCHLAS_NO_TRANS, BATCHLAS_TRANS, BATCHLAS_CONJ_TRANS};

typedef struct {
    scalar_type_t type;
    batchlas_op_t opa, opb;
    int m, n, k;
    wide_t alpha, beta;
    int64_t batch;
    int distinct; /* item i is item i % distinct */
    layout_t layout;
    bool shared_a, shared_b;
    const family_line_t *line;
} case_t;

static int rows_a(const case_t *c) {
    return c->opa == BATCHLAS_NO_TRANS ? c->m : c->k;
}

static int columns_a(const case_t *c) {
    return c->opa == BATCHLAS_NO_TRANS ? c->k : c->m;
}

static int rows_b(const case_t *c) {
    return c->opb == BATCHLAS_NO_TRANS ? c->k : c->n;
}

static int columns_b(const case_t *c) {
    return c->opb == BATCHLAS_NO_TRANS ? c->n : c->k;
}

/* One operand; with `unread` it is full of NaN, or in the sentinel pass of the sentinel. */
static matrices_t operand(const case_t *c, int rows, int columns, layout_t layout, uint64_t seed,
                          bool unread, fill_t fill) {
    matrices_t M = matrices_make(c->type, rows, columns, c->batch, layout, ALL);
    const int distinct = layout.shared ? 1 : c->distinct;
    wide_t *values = host_alloc((size_t)rows * (size_t)columns, sizeof *values);
    matrices_fill(&M, fill);
    for (int64_t i = 0; i < (layout.shared && c->batch ? 1 : c->batch) && !unread; ++i) {
        generate_dense(c->type, rows, columns, seed + (uint64_t)(i % distinct), values);
        matrices_set(&M, i, values);
    }
    free(values);
    matrices_put(&M);
    return M;
}

typedef struct {
    matrices_t A, B, C;
} operands_t;

enum { DISTINCT = 3 };
enum { SEED_A = 1000, SEED_B = 2000, SEED_C = 3000 };

static bool is_zero(wide_t value) {
    return value.re == 0 && value.im == 0;
}

static operands_t operands(const case_t *c, layout_t layout, fill_t fill) {
    const layout_t layout_a = c->shared_a ? SHARED : layout;
    const layout_t layout_b = c->shared_b ? SHARED : layout;
    const bool unread = is_zero(c->alpha);
    return (operands_t){operand(c, rows_a(c), columns_a(c), layout_a, SEED_A, unread, fill),
                        operand(c, rows_b(c), columns_b(c), layout_b, SEED_B, unread, fill),
                        operand(c, c->m, c->n, layout, SEED_C, is_zero(c->beta), fill)};
}

static void operands_free(operands_t *o) {
    matrices_free(&o->A);
    matrices_free(&o->B);
    matrices_free(&o->C);
}

static batchlas_status_t gemm(const case_t *c, const operands_t *o, bool array) {
    const call_t gemm_call = {.routine = GEMM,
                              .array = array,
                              .p = {.type = c->type,
                                    .op_a = c->opa,
                                    .op_b = c->opb,
                                    .m = c->m,
                                    .n = c->n,
                                    .k = c->k,
                                    .alpha = {(double)c->alpha.re, (double)c->alpha.im},
                                    .beta = {(double)c->beta.re, (double)c->beta.im},
                                    .A = array ? matrices_pointers(&o->A) : matrices_strided(&o->A),
                                    .B = array ? matrices_pointers(&o->B) : matrices_strided(&o->B),
                                    .C = array ? matrices_pointers(&o->C) : matrices_strided(&o->C),
                                    .batch = c->batch}};
    return call(suite_handle(), &gemm_call);
}

/* Items of C against the reference, or against the item of the same operands. */
static void check_items(const case_t *c, const matrices_t *C) {
    const size_t area_a = (size_t)c->m * (size_t)c->k, area_b = (size_t)c->k * (size_t)c->n;
    const size_t area = (size_t)c->m * (size_t)c->n;
    wide_t *A = host_alloc(area_a, sizeof *A);
    wide_t *B = host_alloc(area_b, sizeof *B);
    wide_t *expected = host_alloc(area, sizeof *expected);
    long double *magnitude = host_alloc(area, sizeof *magnitude);
    for (int64_t i = 0; i < c->batch; ++i) {
        if (i >= c->distinct) {
            suite_expect(item_agrees(C, i, C, i % c->distinct));
            continue;
        }
        generate_dense(c->type, rows_a(c), columns_a(c), SEED_A + (uint64_t)(c->shared_a ? 0 : i),
                       A);
        generate_dense(c->type, rows_b(c), columns_b(c), SEED_B + (uint64_t)(c->shared_b ? 0 : i),
                       B);
        generate_dense(c->type, c->m, c->n, SEED_C + (uint64_t)i, expected);
        reference_gemm(c->opa, c->opb, c->m, c->n, c->k, c->alpha, A, B, c->beta, expected,
                       magnitude);
        suite_expect(elements_are_near(C, i, expected, magnitude, c->k + 4));
    }
    free(A);
    free(B);
    free(expected);
    free(magnitude);
}

static bool run_form(const case_t *c, operands_t *o, bool array) {
    const batchlas_status_t status = gemm(c, o, array);
    const bool ran = family_ran(c->line, c->type, c->m, status, suite_handle());
    matrices_get(&o->A);
    matrices_get(&o->B);
    matrices_get(&o->C);
    suite_expect(matrices_are_untouched(&o->A));
    suite_expect(matrices_are_untouched(&o->B));
    if (!ran) {
        suite_expect(matrices_are_untouched(&o->C));
        return false;
    }
    suite_expect(padding_is_untouched(&o->C));
    if (c->m > 0 && c->n > 0 && c->batch > 0)
        coverage_expect(c->line, c->type, '-', llround(sqrt((double)c->m * c->n)), c->k, c->batch);
    return true;
}

/* cuBLAS takes another kernel for other alignments, and so other bits. */
static bool chooses_by_alignment(const family_line_t *line) {
    return suite_on_gpu() && line->spelling && !strcmp(line->spelling, "vendor");
}

static void run(const case_t *c) {
    operands_t first = operands(c, c->layout, SENTINEL);
    family_pin(c->line);
    suite_case("%s %d%d, m %d, n %d, k %d, alpha (%Lg, %Lg), beta (%Lg, %Lg), batch %lld",
               family_name(c->line, c->type), (int)c->opa, (int)c->opb, c->m, c->n, c->k,
               c->alpha.re, c->alpha.im, c->beta.re, c->beta.im, (long long)c->batch);
    if (run_form(c, &first, false)) {
        check_items(c, &first.C);
        operands_t poisoned = operands(c, c->layout, POISON);
        run_form(c, &poisoned, false);
        suite_expect(items_agree(&first.C, &poisoned.C, NULL));
        operands_free(&poisoned);
        operands_t scattered = operands(c, REVERSED, POISON);
        run_form(c, &scattered, true);
        check_items(c, &scattered.C);
        if (!chooses_by_alignment(c->line))
            suite_expect(items_agree(&first.C, &scattered.C, NULL));
        operands_free(&scattered);
    }
    family_unpin(c->line);
    operands_free(&first);
}

static void run_everywhere(case_t c) {
    for (int f = 0; (c.line = family_line("gemm", f)); ++f)
        run(&c);
}

static wide_t scalar(scalar_type_t type, double re, double im) {
    return round_to(type, (wide_t){re, im});
}

/* ---- tests --------------------------------------------------------------------------------- */

static const int shapes[][3] = {{1, 1, 1},    {2, 3, 4},    {5, 1, 7},    {1, 6, 9},
                                {8, 8, 8},    {7, 9, 15},   {16, 16, 16}, {17, 15, 33},
                                {32, 24, 32}, {33, 31, 65}, {64, 64, 17}, {65, 40, 96}};

static void every_pair_of_ops_is_multiplied(void **state) {
    (void)state;
    EACH(type, types)
    EACH(shape, shapes)
    EACH(opa, ops)
    EACH(opb, ops) {
        const scalar_type_t type = types[type_index];
        const int *shape = shapes[shape_index];
        const case_t c = {.type = type,
                          .opa = ops[opa_index],
                          .opb = ops[opb_index],
                          .m = shape[0],
                          .n = shape[1],
                          .k = shape[2],
                          .alpha = scalar(type, -1.25, 0.5),
                          .beta = scalar(type, 0.75, -0.3),
                          .batch = 2,
                          .distinct = 2,
                          .layout = shape_index % 2 ? TIGHT : PADDED};
        run_everywhere(c);
    }
}

/* beta 0 does not read C, which then holds NaN; alpha 0 reads neither A nor B. */
static void zero_scalars_do_not_read_what_they_multiply(void **state) {
    (void)state;
    const double scalars[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0.5, -2}};
    EACH(type, types)
    EACH(alpha, scalars)
    EACH(beta, scalars)
    EACH(opa, ops) {
        const scalar_type_t type = types[type_index];
        const case_t c = {.type = type,
                          .opa = ops[opa_index],
                          .opb = ops[(opa_index + alpha_index) % 3],
                          .m = 19,
                          .n = 13,
                          .k = 10,
                          .alpha = scalar(type, scalars[alpha_index][0], scalars[alpha_index][1]),
                          .beta = scalar(type, scalars[beta_index][0], scalars[beta_index][1]),
                          .batch = 3,
                          .distinct = 3,
                          .layout = PADDED};
        run_everywhere(c);
    }
}

static void without_an_inner_dimension_c_is_scaled(void **state) {
    (void)state;
    EACH(type, types)
    for (int beta = 0; beta < 3; ++beta) {
        const scalar_type_t type = types[type_index];
        const case_t c = {.type = type,
                          .m = 6,
                          .n = 5,
                          .k = 0,
                          .alpha = scalar(type, 2, 1),
                          .beta = scalar(type, 0.5 * beta, 0),
                          .batch = 3,
                          .distinct = 3,
                          .layout = PADDED};
        run_everywhere(c);
    }
}

static void empty_products_touch_nothing(void **state) {
    (void)state;
    const int shapes_without_c[][3] = {{0, 4, 3}, {4, 0, 3}, {0, 0, 0}};
    EACH(type, types)
    EACH(shape, shapes_without_c) {
        const int *shape = shapes_without_c[shape_index];
        const case_t c = {.type = types[type_index],
                          .m = shape[0],
                          .n = shape[1],
                          .k = shape[2],
                          .alpha = {1, 0},
                          .beta = {0, 0},
                          .batch = 3,
                          .distinct = 3,
                          .layout = PADDED};
        run_everywhere(c);
    }
}

static void shared_operands_serve_all_items(void **state) {
    (void)state;
    EACH(type, types)
    for (int shared = 1; shared < 4; ++shared)
        EACH(opa, ops) {
            const case_t c = {.type = types[type_index],
                              .opa = ops[opa_index],
                              .opb = ops[(opa_index + shared) % 3],
                              .m = 12,
                              .n = 9,
                              .k = 21,
                              .alpha = {1, 0},
                              .beta = {1, 0},
                              .batch = 7,
                              .distinct = 7,
                              .layout = PADDED,
                              .shared_a = shared & 1,
                              .shared_b = shared & 2};
            run_everywhere(c);
        }
}

static void every_batch_is_multiplied(void **state) {
    (void)state;
    const int64_t batches[] = {0, 1, 31, 32, 33, 1023, 1025, 65537};
    EACH(type, types)
    EACH(batch, batches) {
        const bool huge = batches[batch_index] > 60000;
        const case_t c = {.type = types[type_index],
                          .opb = BATCHLAS_CONJ_TRANS,
                          .m = huge ? 2 : 9,
                          .n = huge ? 1 : 8,
                          .k = huge ? 2 : 17,
                          .alpha = {-1, 0},
                          .beta = {1, 0},
                          .batch = batches[batch_index],
                          .distinct = 23,
                          .layout = OVERLAPPED};
        run_everywhere(c);
    }
}

/* A family may cut C into other tiles where there are more items to fill the device with. */
static void an_item_has_the_same_bits_in_every_batch(void **state) {
    (void)state;
    const int64_t batches[] = {DISTINCT, suite_on_gpu() ? 40 : 5, suite_on_gpu() ? 264 : 9};
    EACH(type, types)
    EACH(opa, ops) {
        case_t c = {.type = types[type_index],
                    .opa = ops[opa_index],
                    .opb = ops[2 - opa_index],
                    .m = 127,
                    .n = 63,
                    .k = 37,
                    .alpha = {-1, 0},
                    .beta = {1, 0},
                    .distinct = DISTINCT,
                    .layout = PADDED};
        for (int f = 0; (c.line = family_line("gemm", f)); ++f) {
            operands_t results[COUNT(batches)];
            bool ran = c.line->spelling && !chooses_by_alignment(c.line);
            EACH(batch, batches) {
                c.batch = batches[batch_index];
                suite_case("%s, ops %d%d, batch %lld", family_name(c.line, c.type), (int)c.opa,
                           (int)c.opb, (long long)c.batch);
                results[batch_index] = operands(&c, c.layout, POISON);
                family_pin(c.line);
                ran = ran && run_form(&c, &results[batch_index], false);
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
    EACH(opa, ops) {
        case_t c = {.type = types[type_index],
                    .opa = ops[opa_index],
                    .opb = BATCHLAS_TRANS,
                    .m = 40,
                    .n = 37,
                    .k = 50,
                    .alpha = {1, 0},
                    .beta = {1, 0},
                    .batch = 37,
                    .distinct = 5,
                    .layout = PADDED};
        for (int f = 0; (c.line = family_line("gemm", f)); ++f) {
            operands_t results[COUNT(teams)];
            bool ran = true;
            suite_case("%s", family_name(c.line, c.type));
            EACH(team, teams) {
                results[team_index] = operands(&c, PADDED, SENTINEL);
                family_pin(c.line);
                omp_set_num_threads(teams[team_index]);
                ran = run_form(&c, &results[team_index], false);
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
    coverage_verify("gemm");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_pair_of_ops_is_multiplied),
    suite_test(zero_scalars_do_not_read_what_they_multiply),
    suite_test(without_an_inner_dimension_c_is_scaled),
    suite_test(empty_products_touch_nothing),
    suite_test(shared_operands_serve_all_items),
    suite_test(every_batch_is_multiplied),
    suite_test(an_item_has_the_same_bits_in_every_batch),
    suite_test(any_number_of_host_threads_gives_the_same_bits),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("gemm", tests, ON_EVERY_DEVICE)
