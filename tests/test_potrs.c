/* SPDX-License-Identifier: BSD-3-Clause */
/* potrs, on factors of the reference, so that no factorisation of the library takes part. */
#include "harness/grid.h"
#include "harness/solves.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN};

static void run_everywhere(const systems_t *systems, int64_t batch, layout_t layout_a,
                           layout_t layout_b) {
    EACH(uplo, triangles) {
        solve_t c = {POTRS, systems, triangles[uplo_index], batch, layout_a, layout_b, NULL, false};
        solve_operands_t o = solve_operands(&c);
        for (int f = 0; (c.line = family_line("potrs", f)); ++f) {
            solve_name(&c, layout_a.shared ? "shared A" : "");
            solve_run(&c, &o, NULL);
        }
        solve_operands_free(&o);
    }
}

static spd_t factors(scalar_type_t type, int n, int distinct, uint64_t seed) {
    spd_t s = spd_make(type, n, distinct, kinds, COUNT(kinds), seed);
    spd_round_factors(&s);
    return s;
}

static void every_size_and_width_is_solved(void **state) {
    (void)state;
    const int orders[] = {1,  2,  3,  7,  8,  9,  15, 16,  17,  31,
                          32, 33, 40, 48, 64, 65, 97, 129, 161, 289};
    const int widths[] = {0, 1, 2, 4, 7, 16, 33};
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        if (n > 129 && !suite_on_gpu())
            continue;
        spd_t s = factors(types[type_index], n, 3, 31);
        EACH(width, widths) {
            if (!solve_takes(order_index, n, width_index, widths[width_index]))
                continue;
            systems_t systems = systems_make(&s, widths[width_index], 32);
            const bool tight = (order_index + width_index) % 2;
            run_everywhere(&systems, 3, tight ? TIGHT : PADDED, tight ? TIGHT : PADDED);
            systems_free(&systems);
        }
        spd_free(&s);
    }
}

static void every_batch_is_solved(void **state) {
    (void)state;
    const int64_t batches[] = {0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 65537};
    const int orders[] = {1, 8, 17, 33};
    EACH(type, types)
    EACH(order, orders) {
        spd_t s = factors(types[type_index], orders[order_index], 29, 33);
        systems_t systems = systems_make(&s, 1 + order_index % 3, 34);
        EACH(batch, batches)
        if (batches[batch_index] < 1000 ||
            order_index == (batches[batch_index] > 60000 ? 0 : (batch_index + type_index) % 4))
            run_everywhere(&systems, batches[batch_index], OVERLAPPED, OVERLAPPED);
        systems_free(&systems);
        spd_free(&s);
    }
}

/* Stride 0, and an array of equal pointers: the items still have right-hand sides of their own, so
 * each is solved as it is alone. */
static void one_factor_serves_all_items(void **state) {
    (void)state;
    const int orders[] = {1, 5, 16, 33, 65};
    const int widths[] = {1, 4};
    EACH(type, types)
    EACH(order, orders)
    EACH(width, widths) {
        spd_t one = factors(types[type_index], orders[order_index], 1, 35);
        spd_t many = spd_repeat(&one, 11);
        systems_t systems = systems_make(&many, widths[width_index], 36);
        run_everywhere(&systems, 11, SHARED, PADDED);
        systems_free(&systems);
        spd_free(&many);
        spd_free(&one);
    }
}

/* A zero or a NaN on the factor's diagonal spoils that item's B and no other's. */
static void a_bad_diagonal_spoils_its_item_alone(void **state) {
    (void)state;
    const int orders[] = {1, 4, 16, 17, 33, 65};
    const int widths[] = {1, 5};
    EACH(type, types)
    EACH(order, orders)
    EACH(width, widths)
    EACH(uplo, triangles) {
        const int n = orders[order_index];
        spd_t s = factors(types[type_index], n, 7, 37);
        systems_t systems = systems_make(&s, widths[width_index], 38);
        solve_t c = {POTRS, &systems, triangles[uplo_index], 7, PADDED, PADDED, NULL, false};
        solve_operands_t good_ones = solve_operands(&c), bad_ones = solve_operands(&c);
        matrices_t *A = &bad_ones.A[STRIDED], *B = &bad_ones.B[STRIDED];
        matrices_set_element(A, 2, n / 2, n / 2, (wide_t){0, 0});
        matrices_set_element(A, 4, n - 1, n - 1, (wide_t){NAN, 0});
        for (int f = 0; (c.line = family_line("potrs", f)); ++f) {
            solve_name(&c, "a bad diagonal");
            if (!solve_run(&c, &good_ones, NULL))
                continue;
            suite_expect_success(solve_form(&c, &bad_ones, STRIDED), suite_handle());
            suite_expect(matrices_are_untouched(A));
            suite_expect(padding_is_untouched(B));
            const int skip[7] = {0, 0, 1, 0, 1, 0, 0};
            suite_expect(items_agree(&good_ones.B[STRIDED], B, skip));
            const wide_t spoiled = matrices_element(B, 4, n - 1, 0);
            if (isfinite(spoiled.re))
                suite_fail("a NaN on the diagonal left (%Lg, %Lg)", spoiled.re, spoiled.im);
        }
        solve_operands_free(&good_ones);
        solve_operands_free(&bad_ones);
        systems_free(&systems);
        spd_free(&s);
    }
}

static void an_ill_conditioned_system_is_solved_backward_stably(void **state) {
    (void)state;
    const int orders[] = {2, 10, 32, 33, 50};
    const kind_t hard[] = {CONDITION_ROOT, CONDITION_BAD, NEAR_UNDERFLOW, NEAR_OVERFLOW};
    EACH(type, types)
    EACH(order, orders) {
        spd_t s = spd_make(types[type_index], orders[order_index], 8, hard, COUNT(hard), 39);
        for (int i = 0; i < s.distinct; ++i)
            assert_int_equal(s.info[i], 0);
        spd_round_factors(&s);
        systems_t systems = systems_make(&s, 2, 40);
        run_everywhere(&systems, s.distinct, PADDED, PADDED);
        systems_free(&systems);
        spd_free(&s);
    }
}

static void nothing_to_solve_is_success(void **state) {
    (void)state;
    EACH(type, types)
    EACH(uplo, triangles) {
        call_t empty = {.routine = POTRS,
                        .p = {.type = types[type_index],
                              .uplo = triangles[uplo_index],
                              .n = 0,
                              .nrhs = 3,
                              .A.ld = 1,
                              .B.ld = 1,
                              .batch = 5}};
        suite_expect_success(call(suite_handle(), &empty), suite_handle());
        empty.p.n = empty.p.A.ld = empty.p.B.ld = 4;
        empty.p.A.stride = 16;
        empty.p.nrhs = 0;
        suite_expect_success(call(suite_handle(), &empty), suite_handle());
    }
}

static void the_same_system_gives_the_same_bits_everywhere_and_again(void **state) {
    (void)state;
    const int orders[] = {5, 16, 33, 64, 161};
    const int teams[] = {1, 3};
    const int before = omp_get_max_threads();
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        spd_t s = factors(types[type_index], n, 1, 41);
        systems_t systems = systems_make(&s, 1 + order_index, 42);
        const int64_t batch = suite_on_gpu() ? (n <= 16   ? 4096
                                                : n <= 64 ? 1025
                                                          : 600)
                              : n <= 16      ? 1027
                              : n <= 64      ? 131
                                             : 7;
        EACH(uplo, triangles) {
            solve_t c = {POTRS, &systems, triangles[uplo_index], batch, PADDED, PADDED,
                         NULL,  false};
            solve_operands_t o = solve_operands(&c);
            for (int f = 0; (c.line = family_line("potrs", f)); ++f) {
                matrices_t B;
                solve_name(&c, "one system");
                if (!solve_run(&c, &o, &B))
                    continue;
                EACH(team, teams) {
                    omp_set_num_threads(teams[team_index]);
                    const batchlas_status_t status = solve_form(&c, &o, STRIDED);
                    omp_set_num_threads(before);
                    suite_expect_success(status, suite_handle());
                    suite_expect(items_agree(&B, &o.B[STRIDED], NULL));
                }
                matrices_free(&B);
            }
            solve_operands_free(&o);
        }
        systems_free(&systems);
        spd_free(&s);
    }
}

static void pinned_families_ran(void **state) {
    (void)state;
    coverage_verify("potrs");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_size_and_width_is_solved),
    suite_test(every_batch_is_solved),
    suite_test(one_factor_serves_all_items),
    suite_test(a_bad_diagonal_spoils_its_item_alone),
    suite_test(an_ill_conditioned_system_is_solved_backward_stably),
    suite_test(nothing_to_solve_is_success),
    suite_test(the_same_system_gives_the_same_bits_everywhere_and_again),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("potrs", tests, ON_EVERY_DEVICE)
