/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf: every type, triangle, layout and form, with every family pinned in turn. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  13, 14,
                            15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,  26,  27, 28,
                            29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,  40,  47, 48,
                            49, 63, 64, 65, 79, 80, 81, 95, 96, 97, 127, 128, 129};
static const int large_sizes[] = {191, 192, 193, 255, 256, 257, 383, 384, 385, 425, 511, 512, 513};

/* ---- one case in all its forms -------------------------------------------------------------- */

typedef struct {
    const spd_t *s;
    batchlas_uplo_t uplo;
    int64_t batch;
    layout_t layout;
    const family_line_t *line;
} case_t;

static matrices_t operand(const case_t *c, layout_t layout, fill_t fill) {
    matrices_t A =
        matrices_make(c->s->type, c->s->n, c->s->n, c->batch, layout, triangle_of(c->uplo));
    A.real_diagonal = scalar_is_complex(c->s->type);
    matrices_fill(&A, fill);
    spd_set(c->s, &A);
    return A;
}

static batchlas_status_t potrf(batchlas_handle_t h, const case_t *c, const matrices_t *A, int *info,
                               bool array) {
    const call_t potrf_call = {.routine = POTRF,
                               .array = array,
                               .p = {.type = c->s->type,
                                     .uplo = c->uplo,
                                     .n = c->s->n,
                                     .A = array ? matrices_pointers(A) : matrices_strided(A),
                                     .info = info,
                                     .batch = c->batch}};
    return call(h, &potrf_call);
}

/* The operands of a case in all its forms, made once for every family that is to run it. */
typedef struct {
    matrices_t strided, among_nan, scattered;
    ints_t info;
    int *expected; /* info */
} operands_t;

static operands_t operands(const case_t *c) {
    return (operands_t){operand(c, c->layout, SENTINEL), operand(c, c->layout, POISON),
                        operand(c, REVERSED, POISON), ints_make(c->batch),
                        spd_infos(c->s, c->batch)};
}

static void operands_free(operands_t *o) {
    matrices_free(&o->strided);
    matrices_free(&o->among_nan);
    matrices_free(&o->scattered);
    ints_free(&o->info);
    free(o->expected);
}

/* One strided call without info. */
static void run_without_info(const case_t *c, matrices_t *A) {
    matrices_put(A);
    family_pin(c->line);
    suite_expect_success(potrf(suite_handle(), c, A, NULL, false), suite_handle());
    family_unpin(c->line);
    matrices_get(A);
}

/* Runs one form on fresh operands; false where the family refused, which left everything as it was.
 */
static bool run_form(const case_t *c, matrices_t *A, ints_t *info, bool array,
                     const int *expected) {
    matrices_put(A);
    ints_put(info);
    family_pin(c->line);
    const batchlas_status_t status = potrf(suite_handle(), c, A, info->device, array);
    family_unpin(c->line);
    const bool ran = family_ran(c->line, c->s->type, c->s->n, status, suite_handle());
    matrices_get(A);
    ints_get(info);
    if (!ran) {
        suite_expect(matrices_are_untouched(A));
        suite_expect(ints_are_untouched(info));
        return false;
    }
    if (c->s->n > 0 && c->batch > 0)
        coverage_expect(c->line, c->s->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', c->s->n, 1,
                        c->batch);
    suite_expect(padding_is_untouched(A));
    suite_expect(ints_are(info, expected));
    return true;
}

/* The strided form among finite padding, and, but under a sanitizer, where all takes long, the same
 * among NaN and with an array of pointers: right, and the same bits. Keeps the first result for the
 * caller, if it wants it. */
static bool run(const case_t *c, operands_t *o, matrices_t *kept) {
    if (!run_form(c, &o->strided, &o->info, false, o->expected))
        return false;
    suite_expect(factors_are_right(&o->strided, c->uplo, c->s));
    if (!suite_exact()) {
        run_form(c, &o->among_nan, &o->info, false, o->expected);
        suite_expect(items_agree(&o->strided, &o->among_nan, o->expected));
        run_form(c, &o->scattered, &o->info, true, o->expected);
        suite_expect(items_agree(&o->strided, &o->scattered, o->expected));
    }
    if (kept)
        *kept = matrices_keep(&o->strided);
    return true;
}

static void name_case(const case_t *c, const char *what) {
    suite_case("%s %s, n %d, batch %lld, ld pad %d%s%s", family_name(c->line, c->s->type),
               c->uplo == BATCHLAS_LOWER ? "lower" : "upper", c->s->n, (long long)c->batch,
               c->layout.ld_pad, *what ? ", " : "", what);
}

/* Loops over the items on the host, too slowly for large batches. */
static bool goes_item_by_item(const family_line_t *line) {
    return line->spelling && !strcmp(line->spelling, "vendor:single");
}

/* The case on both triangles with every family; with those that take item by item, large batches
 * of the smallest matrices only. */
static void run_everywhere(const spd_t *s, int64_t batch, layout_t layout, const char *what) {
    EACH(uplo, triangles) {
        case_t c = {s, triangles[uplo_index], batch, layout, NULL};
        operands_t o = operands(&c);
        for (int f = 0; (c.line = family_line("potrf", f)); ++f) {
            name_case(&c, what);
            if (batch < 1000 || s->n == 1 || !goes_item_by_item(c.line))
                run(&c, &o, NULL);
        }
        operands_free(&o);
    }
}

/* ---- sizes, batches, matrices --------------------------------------------------------------- */

static void factor_sizes(const int *list, int count) {
    const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN};
    EACH(type, types)
    for (int i = 0; i < count; ++i) {
        spd_t s = spd_make(types[type_index], list[i], 3, kinds, 3, (uint64_t)list[i]);
        if (!suite_exact())
            run_everywhere(&s, 3, TIGHT, "");
        run_everywhere(&s, 3, PADDED, "");
        spd_free(&s);
    }
}

static void every_size_is_factored(void **state) {
    (void)state;
    const int few[] = {3, 7, 13, 23, 30, 45, 70, 110, 130}; /* every geometry of every family */
    if (suite_exact()) {
        factor_sizes(few, COUNT(few));
        return;
    }
    factor_sizes(sizes, COUNT(sizes));
    if (suite_extended())
        factor_sizes(large_sizes, COUNT(large_sizes));
}

static void every_batch_is_factored(void **state) {
    (void)state;
    const int64_t batches[] = {0, 1, 2, 31, 32, 33, 1023, 1024, 1025};
    const int orders[] = {1, 3, 8, 16, 17, 32, 33, 48};
    const kind_t kinds[] = {GRAM, RANDOM_CONDITION_2};
    EACH(type, types)
    EACH(order, orders) {
        spd_t s = spd_make(types[type_index], orders[order_index], 29, kinds, 2, 17);
        /* Large batches at two of the orders, other ones for each type. */
        EACH(batch, batches)
        if (batches[batch_index] < 1000 || (order_index + batch_index + type_index) % 4 == 0)
            run_everywhere(&s, batches[batch_index], OVERLAPPED, "");
        spd_free(&s);
    }
}

/* Beyond what one grid dimension may carry. */
static void batches_beyond_a_grid_dimension_are_factored(void **state) {
    (void)state;
    const int64_t batches[] = {65535, 65536, 65537};
    const kind_t kinds[] = {GRAM};
    EACH(type, types) {
        spd_t s = spd_make(types[type_index], 2, 29, kinds, 1, 18);
        EACH(batch, batches) {
            const family_line_t *line;
            for (int f = 0; (line = family_line("potrf", f)); ++f) {
                const case_t c = {&s, triangles[f % 2], batches[batch_index], TIGHT, line};
                if (goes_item_by_item(line) || (f > 0 && batch_index != 2))
                    continue;
                operands_t o = operands(&c);
                name_case(&c, "");
                run(&c, &o, NULL);
                operands_free(&o);
            }
        }
        spd_free(&s);
    }
}

static void an_empty_order_zeroes_info(void **state) {
    (void)state;
    EACH(type, types)
    EACH(uplo, triangles) {
        const int zeros[5] = {0};
        ints_t info = ints_make(5);
        const call_t empty = {.routine = POTRF,
                              .p = {.type = types[type_index],
                                    .uplo = triangles[uplo_index],
                                    .n = 0,
                                    .A.ld = 1,
                                    .info = info.device,
                                    .batch = 5}};
        suite_expect_success(call(suite_handle(), &empty), suite_handle());
        ints_get(&info);
        suite_expect(ints_are(&info, zeros));
        ints_free(&info);
    }
}

/* The nine of LAPACK's test program, all in one batch. */
static void lapack_matrices_are_factored(void **state) {
    (void)state;
    const int orders[] = {1, 2, 3, 5, 10, 16, 17, 31, 32, 33, 50};
    kind_t kinds[LAPACK_KIND_COUNT];
    for (int i = 0; i < LAPACK_KIND_COUNT; ++i)
        kinds[i] = (kind_t)i;
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        spd_t s =
            spd_make(types[type_index], n, 2 * LAPACK_KIND_COUNT, kinds, LAPACK_KIND_COUNT, 19);
        for (int i = 0; i < s.distinct; ++i) {
            const int zero = s.kind[i] == ZERO_FIRST    ? 1
                             : s.kind[i] == ZERO_LAST   ? n
                             : s.kind[i] == ZERO_MIDDLE ? n / 2 + 1
                                                        : 0;
            assert_int_equal(s.info[i], zero);
        }
        run_everywhere(&s, s.distinct, PADDED, "LAPACK's matrices");
        spd_free(&s);
    }
}

/* ---- failing items --------------------------------------------------------------------------- */

enum { MAX_POSITIONS = 48 };

/* All positions of a small order; of a larger one those next to the boundaries of panels. */
static int positions_of(int n, int list[MAX_POSITIONS]) {
    static const int edges[] = {0,  1,  7,  8,  9,  15, 16,  17,  31,  32,  33,  47, 48,
                                63, 64, 65, 95, 96, 97, 127, 128, 191, 192, 255, 256};
    int count = 0;
    if (n <= 40) {
        for (int p = 0; p < n; ++p)
            list[count++] = p;
        return count;
    }
    EACH(edge, edges)
    if (edges[edge_index] < n - 2)
        list[count++] = edges[edge_index];
    list[count++] = n - 2;
    list[count++] = n - 1;
    return count;
}

static const int failing_orders[] = {1, 2, 5, 8, 9, 16, 17, 31, 32, 33, 40, 65, 97, 129};

/* The neighbours of failing items are right and have the bits that they have among good ones. */
static void run_among_neighbours(const spd_t *failing, const spd_t *all_good, const char *what) {
    EACH(uplo, triangles) {
        case_t c = {failing, triangles[uplo_index], failing->distinct, PADDED, NULL};
        case_t good_case = c;
        good_case.s = all_good;
        operands_t o = operands(&c);
        matrices_t among_good = operand(&good_case, PADDED, SENTINEL);
        for (int f = 0; (c.line = good_case.line = family_line("potrf", f)); ++f) {
            name_case(&c, what);
            if (!run(&c, &o, NULL))
                continue;
            run_without_info(&good_case, &among_good);
            suite_expect(items_agree(&o.strided, &among_good, failing->info));
        }
        operands_free(&o);
        matrices_free(&among_good);
    }
}

static void planted_failures_are_reported_where_they_are(void **state) {
    (void)state;
    const kind_t kinds[] = {GRAM};
    EACH(type, types)
    EACH(order, failing_orders) {
        const int n = failing_orders[order_index];
        int positions[MAX_POSITIONS];
        const int count = positions_of(n, positions);
        spd_t good_ones = spd_make(types[type_index], n, 2 * count + 1, kinds, 1, 20);
        spd_t s = spd_make(types[type_index], n, 2 * count + 1, kinds, 1, 20);
        for (int i = 0; i < count; ++i) {
            wide_t *A = spd_matrix(&s, 2 * i + 1);
            plant_failure(s.type, n, A, positions[i]);
            /* The first failure wins over a later one. */
            if (i % 2 && positions[i] < n - 1)
                A[(n - 1) * (n + 1)].re = -1;
        }
        spd_factor(&s);
        for (int i = 0; i < count; ++i)
            assert_int_equal(s.info[2 * i + 1], positions[i] + 1);
        run_among_neighbours(&s, &good_ones, "planted failures");
        spd_free(&s);
        spd_free(&good_ones);
    }
}

typedef struct {
    wide_t value;
    bool on_diagonal;
} intruder_t;

/* Only NaN, -Inf and off-diagonal Inf: +Inf on the diagonal is a pivot like any other. */
static void items_with_nan_and_inf_fail_alone(void **state) {
    (void)state;
    const double ones = nan("0x7ffffffffffff"); /* as GPUs make it; rounding its bits overflows */
    const intruder_t intruders[] = {
        {{NAN, 0}, true},       {{-INFINITY, 0}, true},  {{NAN, 0}, false}, {{ones, 0}, false},
        {{INFINITY, 0}, false}, {{-INFINITY, 0}, false}, {{0, NAN}, false}, {{0, INFINITY}, false}};
    const int orders[] = {2, 5, 8, 9, 16, 17, 32, 33, 48, 65};
    const kind_t kinds[] = {GRAM};
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        const bool complex_type = scalar_is_complex(types[type_index]);
        const int kinds_here = COUNT(intruders) - (complex_type ? 0 : 2);
        const int places[] = {0, n / 3, n - 2};
        const int distinct = 2 * kinds_here * COUNT(places) + 1;
        spd_t good_ones = spd_make(types[type_index], n, distinct, kinds, 1, 21);
        spd_t s = spd_make(types[type_index], n, distinct, kinds, 1, 21);
        for (int i = 0; i < kinds_here * COUNT(places); ++i) {
            const intruder_t *intruder = &intruders[i % kinds_here];
            const int column = places[i / kinds_here];
            const int row = intruder->on_diagonal ? column : (column + n) / 2;
            wide_t *A = spd_matrix(&s, 2 * i + 1);
            A[row + column * n] = intruder->value;
            A[column + row * n] = (wide_t){intruder->value.re, -intruder->value.im};
        }
        spd_factor(&s);
        for (int i = 0; i < distinct; ++i)
            assert_true((s.info[i] != 0) == (i % 2 == 1));
        run_among_neighbours(&s, &good_ones, "NaN and Inf");
        spd_free(&s);
        spd_free(&good_ones);
    }
}

/* ---- pivots at the edge of the numbers ------------------------------------------------------- */

/* An infinite pivot is positive: its column becomes 0 and the rest is factored as if it were not
 * there. */
static void infinite_pivots_go_on(void **state) {
    (void)state;
    const int orders[] = {1, 4, 16, 17, 32, 40, 65};
    const kind_t kinds[] = {RANDOM_CONDITION_2};
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        const int n = orders[order_index];
        const int places[] = {0, n / 2, n - 1};
        spd_t s = spd_make(types[type_index], n, COUNT(places), kinds, 1, 22);
        EACH(place, places)
        spd_matrix(&s, place_index)[places[place_index] * (n + 1)].re = INFINITY;
        spd_factor(&s);
        const int expected[] = {0, 0, 0};
        case_t c = {&s, triangles[uplo_index], s.distinct, PADDED, NULL};
        ints_t info = ints_make(c.batch);
        matrices_t A = operand(&c, PADDED, POISON);
        for (int f = 0; (c.line = family_line("potrf", f)); ++f) {
            name_case(&c, "an infinite pivot");
            const bool ran = run_form(&c, &A, &info, false, expected);
            for (int e = 0; ran && e < n * n * s.distinct; ++e) {
                const int row = e % n, column = e / n % n, item = e / (n * n);
                if (row < column)
                    continue;
                const wide_t l = s.L[e];
                const wide_t got = c.uplo == BATCHLAS_LOWER
                                       ? matrices_element(&A, item, row, column)
                                       : matrices_element(&A, item, column, row);
                const long double near = 8 * (n + 1) * unit_roundoff(s.type);
                const bool right = isinf(l.re) ? got.re == l.re && got.im == 0
                                               : fabsl(got.re - l.re) <= near &&
                                                     fabsl(fabsl(got.im) - fabsl(l.im)) <= near;
                if (!right)
                    suite_fail("item %d, row %d, column %d is (%Lg, %Lg), expected (%Lg, %Lg)",
                               item, row, column, got.re, got.im, l.re, l.im);
            }
        }
        matrices_free(&A);
        ints_free(&info);
        spd_free(&s);
    }
}

/* Diagonal matrices, whose pivots are what is put there: zeros of both signs fail, the smallest
 * denormal does not. */
static void zeros_fail_and_denormals_do_not(void **state) {
    (void)state;
    const int orders[] = {1, 5, 16, 17, 32, 33, 65};
    const kind_t kinds[] = {DIAGONAL};
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        const bool single = types[type_index] == TYPE_S || types[type_index] == TYPE_C;
        const long double smallest = single ? 0x1p-149L : 0x1p-1074L;
        const long double middling = single ? 0x1p-135L : 0x1p-1050L;
        const long double pivots[] = {-0.0L, 0.0L, smallest, middling, -smallest};
        const bool fails[] = {true, true, false, false, true};
        const int places[] = {0, n / 2, n - 1};
        spd_t s = spd_make(types[type_index], n, COUNT(pivots) * COUNT(places), kinds, 1, 23);
        for (int i = 0; i < s.distinct; ++i) {
            spd_matrix(&s, i)[places[i / COUNT(pivots)] * (n + 1)] =
                (wide_t){pivots[i % COUNT(pivots)], 0};
            s.kind[i] = GRAM; /* no longer one of condition 2 */
        }
        spd_factor(&s);
        for (int i = 0; i < s.distinct; ++i)
            assert_int_equal(s.info[i],
                             fails[i % COUNT(pivots)] ? places[i / COUNT(pivots)] + 1 : 0);
        EACH(uplo, triangles) {
            case_t c = {&s, triangles[uplo_index], s.distinct, TIGHT, NULL};
            operands_t o = operands(&c);
            for (int f = 0; (c.line = family_line("potrf", f)); ++f) {
                name_case(&c, "edge pivots");
                if (!run(&c, &o, NULL))
                    continue;
                /* The residual is relative to the norm and would let a flushed pivot pass. */
                for (int i = 0; i < s.distinct; ++i) {
                    const int p = places[i / COUNT(pivots)];
                    const long double root = sqrtl(pivots[i % COUNT(pivots)]);
                    const long double got = matrices_element(&o.strided, i, p, p).re;
                    if (s.info[i] == 0 && !(fabsl(got - root) <= 4 * unit_roundoff(s.type) * root))
                        suite_fail("the root of the denormal %Lg is %Lg, expected %Lg",
                                   pivots[i % COUNT(pivots)], got, root);
                }
            }
            operands_free(&o);
        }
        spd_free(&s);
    }
}

/* ---- info, bits, threads --------------------------------------------------------------------- */

static void info_may_be_null(void **state) {
    (void)state;
    const int orders[] = {1, 8, 17, 33, 65};
    const kind_t kinds[] = {GRAM, ZERO_MIDDLE, GRAM};
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        spd_t s = spd_make(types[type_index], orders[order_index], 3, kinds, 3, 24);
        case_t c = {&s, triangles[uplo_index], 3, PADDED, NULL};
        operands_t o = operands(&c);
        for (int f = 0; (c.line = family_line("potrf", f)); ++f) {
            matrices_t with;
            name_case(&c, "info NULL");
            if (!run(&c, &o, &with))
                continue;
            run_without_info(&c, &o.strided);
            suite_expect(padding_is_untouched(&o.strided));
            suite_expect(items_agree(&with, &o.strided, s.info));
            matrices_free(&with);
        }
        operands_free(&o);
        spd_free(&s);
    }
}

/* One matrix in every place of a batch that fills the device, and again. */
static void the_same_matrix_gives_the_same_bits_everywhere_and_again(void **state) {
    (void)state;
    const int orders[] = {5, 16, 23, 33, 64, 128};
    const kind_t kinds[] = {GRAM};
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        const int64_t batch = suite_on_gpu() ? (n <= 33 ? 4096 : 1025) : (n <= 23 ? 1027 : 67);
        spd_t s = spd_make(types[type_index], n, 1, kinds, 1, 25);
        const family_line_t *line;
        for (int f = 0; (line = family_line("potrf", f)); ++f) {
            const case_t c = {&s, triangles[(f + order_index) % 2],
                              goes_item_by_item(line) ? 67 : batch, PADDED, line};
            int *expected = spd_infos(&s, c.batch);
            ints_t info = ints_make(c.batch);
            matrices_t A = operand(&c, PADDED, SENTINEL), first = {0};
            name_case(&c, "one matrix");
            if (run_form(&c, &A, &info, false, expected)) {
                suite_expect(factors_are_right(&A, c.uplo, &s)); /* and all the same bits */
                first = matrices_keep(&A);
                for (int again = 0; again < 2; ++again) {
                    run_form(&c, &A, &info, false, expected);
                    suite_expect(items_agree(&first, &A, NULL));
                }
            }
            matrices_free(&first);
            matrices_free(&A);
            ints_free(&info);
            free(expected);
        }
        spd_free(&s);
    }
}

static void any_number_of_host_threads_gives_the_same_bits(void **state) {
    (void)state;
    const int orders[] = {8, 17, 32, 65, 129};
    const int teams[] = {1, 2, 3, 7};
    const kind_t kinds[] = {GRAM, ZERO_LAST, MATERN};
    const int before = omp_get_max_threads();
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        spd_t s = spd_make(types[type_index], orders[order_index], 41, kinds, 3, 26);
        case_t c = {&s, triangles[uplo_index], s.distinct, PADDED, NULL};
        ints_t info = ints_make(c.batch);
        matrices_t A = operand(&c, PADDED, SENTINEL);
        for (int f = 0; (c.line = family_line("potrf", f)); ++f) {
            matrices_t first = {0};
            EACH(team, teams) {
                name_case(&c, "a number of threads");
                omp_set_num_threads(teams[team_index]);
                const bool ran = run_form(&c, &A, &info, false, s.info);
                omp_set_num_threads(before);
                if (ran && team_index == 0)
                    first = matrices_keep(&A);
                else if (ran)
                    suite_expect(items_agree(&first, &A, s.info));
            }
            matrices_free(&first);
        }
        matrices_free(&A);
        ints_free(&info);
        spd_free(&s);
    }
}

typedef struct {
    const case_t *c;
    matrices_t A;
    ints_t info;
    batchlas_status_t status;
} worker_t;

static void *work(void *argument) {
    worker_t *worker = argument;
    batchlas_handle_t h = NULL;
    worker->status = batchlas_create(&h, suite_device());
    for (int round = 0; round < 20 && worker->status == BATCHLAS_SUCCESS; ++round) {
        matrices_put(&worker->A);
        worker->status = potrf(h, worker->c, &worker->A, worker->info.device, false);
    }
    batchlas_destroy(h);
    return NULL;
}

/* Each thread has its handle, its type and its failures. */
static void two_threads_with_two_handles_do_not_meet(void **state) {
    (void)state;
    const kind_t kinds[] = {GRAM, ZERO_MIDDLE, MATERN};
    const int orders[] = {12, 40};
    EACH(order, orders) {
        spd_t s[2] = {spd_make(TYPE_S, orders[order_index], 60, kinds, 3, 27),
                      spd_make(TYPE_Z, orders[order_index] + 3, 40, kinds, 3, 28)};
        case_t cases[2];
        worker_t workers[2];
        matrices_t alone[2];
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) {
            cases[i] = (case_t){&s[i], triangles[i], s[i].distinct, TIGHT, family_line("potrf", 0)};
            operands_t o = operands(&cases[i]);
            name_case(&cases[i], "two threads");
            run(&cases[i], &o, &alone[i]);
            operands_free(&o);
            workers[i] = (worker_t){.c = &cases[i],
                                    .A = operand(&cases[i], TIGHT, SENTINEL),
                                    .info = ints_make(s[i].distinct)};
        }
        for (int i = 0; i < 2; ++i)
            assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        for (int i = 0; i < 2; ++i)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; ++i) {
            name_case(&cases[i], "two threads");
            suite_expect_status(BATCHLAS_SUCCESS, workers[i].status, NULL);
            matrices_get(&workers[i].A);
            ints_get(&workers[i].info);
            suite_expect(ints_are(&workers[i].info, s[i].info));
            suite_expect(padding_is_untouched(&workers[i].A));
            suite_expect(items_agree(&alone[i], &workers[i].A, s[i].info));
            matrices_free(&alone[i]);
            matrices_free(&workers[i].A);
            ints_free(&workers[i].info);
            spd_free(&s[i]);
        }
    }
}

/* Last: all that was pinned above ran what was pinned. */
static void pinned_families_ran(void **state) {
    (void)state;
    coverage_verify("potrf");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_size_is_factored),
    suite_test(every_batch_is_factored),
    suite_test(batches_beyond_a_grid_dimension_are_factored),
    suite_test(an_empty_order_zeroes_info),
    suite_test(lapack_matrices_are_factored),
    suite_test(planted_failures_are_reported_where_they_are),
    suite_test(items_with_nan_and_inf_fail_alone),
    suite_test(infinite_pivots_go_on),
    suite_test(zeros_fail_and_denormals_do_not),
    suite_test(info_may_be_null),
    suite_test(the_same_matrix_gives_the_same_bits_everywhere_and_again),
    suite_test(any_number_of_host_threads_gives_the_same_bits),
    suite_test(two_threads_with_two_handles_do_not_meet),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("potrf", tests, ON_EVERY_DEVICE)
