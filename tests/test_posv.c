/* SPDX-License-Identifier: BSD-3-Clause */
/* posv: factor and solution at once, and what becomes of B where there is no factor. */
#include "harness/grid.h"
#include "harness/solves.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

static const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN};

static void run_everywhere(const systems_t *systems, int64_t batch, layout_t layout,
                           const char *what) {
    EACH(uplo, triangles) {
        solve_t c = {POSV, systems, triangles[uplo_index], batch, layout, layout, NULL, false};
        solve_operands_t o = solve_operands(&c);
        for (int f = 0; (c.line = family_line("posv", f)); ++f) {
            solve_name(&c, what);
            solve_run(&c, &o, NULL);
        }
        solve_operands_free(&o);
    }
}

static void every_size_and_width_is_solved(void **state) {
    (void)state;
    const int orders[] = {1,  2,  3,  4,  5,  7,  8,  9,  15, 16, 17, 24,
                          25, 31, 32, 33, 40, 48, 63, 64, 65, 80, 97, 129};
    const int widths[] = {0, 1, 2, 3, 4, 16, 33};
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        spd_t s = spd_make(types[type_index], n, 3, kinds, COUNT(kinds), 51);
        EACH(width, widths) {
            if (!solve_takes(order_index, n, width_index, widths[width_index]))
                continue;
            systems_t systems = systems_make(&s, widths[width_index], 52);
            run_everywhere(&systems, 3, (order_index + width_index) % 2 ? TIGHT : PADDED, "");
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
        spd_t s = spd_make(types[type_index], orders[order_index], 29, kinds, COUNT(kinds), 53);
        systems_t systems = systems_make(&s, 1 + order_index % 3, 54);
        EACH(batch, batches)
        if (batches[batch_index] < 1000 ||
            order_index == (batches[batch_index] > 60000 ? 0 : (batch_index + type_index) % 4))
            run_everywhere(&systems, batches[batch_index], OVERLAPPED, "");
        systems_free(&systems);
        spd_free(&s);
    }
}

static void lapack_matrices_are_solved(void **state) {
    (void)state;
    const int orders[] = {1, 2, 5, 10, 16, 32, 33, 50};
    const int widths[] = {1, 6};
    kind_t all[LAPACK_KIND_COUNT];
    for (int i = 0; i < LAPACK_KIND_COUNT; ++i)
        all[i] = (kind_t)i;
    EACH(type, types)
    EACH(order, orders)
    EACH(width, widths) {
        spd_t s = spd_make(types[type_index], orders[order_index], 2 * LAPACK_KIND_COUNT, all,
                           LAPACK_KIND_COUNT, 55);
        systems_t systems = systems_make(&s, widths[width_index], 56);
        run_everywhere(&systems, s.distinct, PADDED, "LAPACK's matrices");
        systems_free(&systems);
        spd_free(&s);
    }
}

/* solve_run sees to B of the failing items; here their neighbours are compared with what they are
 * among good ones, with and without info. */
static void failing_items_keep_b_and_their_neighbours_their_bits(void **state) {
    (void)state;
    const int orders[] = {1, 2, 5, 8, 9, 16, 17, 32, 33, 48, 65};
    const int widths[] = {1, 3, 9};
    const kind_t gram[] = {GRAM};
    EACH(type, types)
    EACH(order, orders)
    EACH(width, widths) {
        const int n = orders[order_index];
        const int places[] = {0, n / 3, n / 2, n - 1};
        spd_t good_ones = spd_make(types[type_index], n, 2 * COUNT(places) + 3, gram, 1, 57);
        spd_t s = spd_make(types[type_index], n, 2 * COUNT(places) + 3, gram, 1, 57);
        systems_t among_good = systems_make(&good_ones, widths[width_index], 58);
        systems_t among_failing = systems_make(&good_ones, widths[width_index], 58);
        EACH(place, places)
        plant_failure(s.type, n, spd_matrix(&s, 2 * place_index + 1), places[place_index]);
        spd_matrix(&s, 2 * COUNT(places) + 1)[(n / 2) * (n + 1)].re = NAN;
        spd_factor(&s);
        EACH(place, places)
        assert_int_equal(s.info[2 * place_index + 1], places[place_index] + 1);
        among_failing.spd = &s;
        EACH(uplo, triangles) {
            solve_t failing = {POSV,       &among_failing, triangles[uplo_index],
                               s.distinct, PADDED,         PADDED,
                               NULL,       false};
            solve_t succeeding = failing;
            succeeding.systems = &among_good;
            solve_operands_t failing_ones = solve_operands(&failing);
            solve_operands_t succeeding_ones = solve_operands(&succeeding);
            const family_line_t *line;
            for (int f = 0; (line = family_line("posv", f)); ++f) {
                matrices_t B, without_info, among_good_B;
                failing.line = succeeding.line = line;
                failing.no_info = false;
                solve_name(&failing, "failing items");
                if (!solve_run(&failing, &failing_ones, &B))
                    continue;
                failing.no_info = true;
                solve_name(&failing, "failing items, info NULL");
                solve_run(&failing, &failing_ones, &without_info);
                suite_expect(items_agree(&B, &without_info, NULL));
                solve_name(&succeeding, "no failing items");
                solve_run(&succeeding, &succeeding_ones, &among_good_B);
                suite_expect(items_agree(&B, &among_good_B, s.info));
                matrices_free(&B);
                matrices_free(&without_info);
                matrices_free(&among_good_B);
            }
            solve_operands_free(&failing_ones);
            solve_operands_free(&succeeding_ones);
        }
        systems_free(&among_good);
        systems_free(&among_failing);
        spd_free(&s);
        spd_free(&good_ones);
    }
}

static void nothing_to_solve_is_success(void **state) {
    (void)state;
    EACH(type, types)
    EACH(uplo, triangles) {
        const int zeros[5] = {0};
        ints_t info = ints_make(5);
        const call_t empty = {.routine = POSV,
                              .p = {.type = types[type_index],
                                    .uplo = triangles[uplo_index],
                                    .n = 0,
                                    .nrhs = 2,
                                    .A.ld = 1,
                                    .B.ld = 1,
                                    .info = info.device,
                                    .batch = 5}};
        suite_expect_success(call(suite_handle(), &empty), suite_handle());
        ints_get(&info);
        suite_expect(ints_are(&info, zeros));
        ints_free(&info);
    }
}

static void the_same_system_gives_the_same_bits_everywhere_and_again(void **state) {
    (void)state;
    const int orders[] = {5, 16, 33, 64};
    const int teams[] = {1, 3};
    const kind_t gram[] = {GRAM};
    const int before = omp_get_max_threads();
    EACH(type, types)
    EACH(order, orders) {
        const int n = orders[order_index];
        spd_t s = spd_make(types[type_index], n, 1, gram, 1, 59);
        systems_t systems = systems_make(&s, 1 + order_index, 60);
        const int64_t batch = suite_on_gpu() ? (n <= 16 ? 4096 : 1025) : n <= 16 ? 1027 : 131;
        EACH(uplo, triangles) {
            solve_t c = {POSV, &systems, triangles[uplo_index], batch, PADDED, PADDED, NULL, false};
            solve_operands_t o = solve_operands(&c);
            for (int f = 0; (c.line = family_line("posv", f)); ++f) {
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
    coverage_verify("posv");
}

static const struct CMUnitTest tests[] = {
    suite_test(every_size_and_width_is_solved),
    suite_test(every_batch_is_solved),
    suite_test(lapack_matrices_are_solved),
    suite_test(failing_items_keep_b_and_their_neighbours_their_bits),
    suite_test(nothing_to_solve_is_success),
    suite_test(the_same_system_gives_the_same_bits_everywhere_and_again),
    suite_test(pinned_families_ran),
};

SUITE_MAIN("posv", tests, ON_EVERY_DEVICE)
