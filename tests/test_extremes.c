/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf, potrs and posv at the edges of the numbers: pivots of one unit in the last place, matrices
 * scaled to the ends of the range, right-hand sides of NaN, infinities, zeros and denormals, and
 * conditions that no format holds. Expectations are exact; on the host LAPACK, as the family
 * `vendor`, is held to the same. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"
#include "harness/solves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int orders[] = {1, 2, 3, 5, 8, 9, 16, 17, 31, 32, 33, 40, 65};

/* L(i, j) of a factor of small whole numbers, whose product, and everything that any order of
 * operations makes of that, is exact. Rows with odd numbers combine columns with even ones, so that
 * the inverse, I - (L - I), has no large elements either. */
static int whole_factor(int i, int j) {
    return i == j ? 1 : i > j && i % 2 == 1 && j % 2 == 0 ? (5 * i + 3 * j) % 3 - 1 : 0;
}

static void whole_product(int n, wide_t *A) {
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            int sum = 0;
            for (int k = 0; k <= i && k <= j; ++k)
                sum += whole_factor(i, k) * whole_factor(j, k);
            A[i + (size_t)j * (size_t)n] = (wide_t){sum, 0};
        }
}

/* ---- potrf ----------------------------------------------------------------------------------- */

static matrices_t matrix_of(scalar_type_t type, int n, batchlas_uplo_t uplo, int64_t batch) {
    matrices_t A = matrices_make(type, n, n, batch, PADDED, triangle_of(uplo));
    A.real_diagonal = scalar_is_complex(type);
    matrices_fill(&A, POISON);
    return A;
}

static batchlas_status_t factor(const matrices_t *A, batchlas_uplo_t uplo, int *info) {
    const call_t c = {.routine = POTRF,
                      .p = {.type = A->type,
                            .uplo = uplo,
                            .n = A->rows,
                            .A = matrices_strided(A),
                            .info = info,
                            .batch = A->batch}};
    return call(suite_handle(), &c);
}

/* The neighbour of a value in its type. */
static long double next_to(scalar_type_t type, long double value, int direction) {
    const bool single = type == TYPE_S || type == TYPE_C;
    return single ? nextafterf((float)value, (float)direction * INFINITY)
                  : nextafter((double)value, direction * (double)INFINITY);
}

/* A diagonal element whose pivot is 0, or what the last bit makes of it: negative or, at the last
 * place, positive. */
static void one_bit_decides(void **state) {
    (void)state;
    int decided = 0;
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        const int n = orders[order_index];
        const struct {
            int place, direction;
        } cases[] = {{0, -1}, {0, 0}, {n / 2, -1}, {n / 2, 0}, {n - 1, -1}, {n - 1, 0}, {n - 1, 1}};
        matrices_t A = matrix_of(types[type_index], n, triangles[uplo_index], COUNT(cases));
        wide_t *M = host_alloc((size_t)n * (size_t)n, sizeof *M);
        int expected[COUNT(cases)];
        EACH(case, cases) {
            const int place = cases[case_index].place, direction = cases[case_index].direction;
            whole_product(n, M);
            /* All of its sum but the pivot's own square. */
            long double *element = &M[(size_t)place * (size_t)(n + 1)].re;
            *element -= 1;
            if (direction)
                *element = next_to(A.type, *element, direction);
            matrices_set(&A, case_index, M);
            expected[case_index] = direction > 0 ? 0 : place + 1;
        }
        free(M);
        const family_line_t *line;
        for (int f = 0; (line = family_line("potrf", f)); ++f) {
            ints_t info = ints_make(A.batch);
            matrices_put(&A);
            family_pin(line);
            suite_case("%s %s, n %d, a pivot of one bit", family_name(line, A.type),
                       uplo_index ? "upper" : "lower", n);
            if (family_ran(line, A.type, n, factor(&A, triangles[uplo_index], info.device),
                           suite_handle())) {
                ints_get(&info);
                suite_expect(ints_are(&info, expected));
                decided += COUNT(cases);
            }
            family_unpin(line);
            ints_free(&info);
        }
        matrices_free(&A);
    }
    print_message("%d items decided\n", decided);
}

/* Hilbert's matrix, which from some order on no format holds as positive definite. Wherever a
 * factorisation stops, what it says is consistent: info of 0 means a factor that is backward
 * stable. */
static void conditions_beyond_the_format_end_well(void **state) {
    (void)state;
    int factored = 0, failed = 0;
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        const int n = orders[order_index];
        const size_t area = (size_t)n * (size_t)n;
        const scalar_type_t type = types[type_index];
        wide_t *M = host_alloc(area, sizeof *M), *L = host_alloc(area, sizeof *L);
        wide_t *product = host_alloc(area, sizeof *product);
        const bool upper = triangles[uplo_index] == BATCHLAS_UPPER;
        const family_line_t *line;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                M[i + (size_t)j * (size_t)n] = round_to(type, (wide_t){1.0L / (i + j + 1), 0});
        for (int f = 0; (line = family_line("potrf", f)); ++f) {
            matrices_t A = matrix_of(type, n, triangles[uplo_index], 2);
            ints_t info = ints_make(2);
            matrices_set(&A, 0, M);
            matrices_set(&A, 1, M);
            matrices_put(&A);
            family_pin(line);
            suite_case("%s %s, n %d, Hilbert's matrix", family_name(line, type),
                       upper ? "upper" : "lower", n);
            const bool ran = family_ran(
                line, type, n, factor(&A, triangles[uplo_index], info.device), suite_handle());
            family_unpin(line);
            matrices_get(&A);
            ints_get(&info);
            if (ran &&
                (info.values[0] != info.values[1] || info.values[0] < 0 || info.values[0] > n))
                suite_fail("info is %d and %d", info.values[0], info.values[1]);
            failed += ran && info.values[0] > 0;
            if (ran && info.values[0] == 0) {
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i)
                        L[i + (size_t)j * (size_t)n] = i < j   ? (wide_t){0, 0}
                                                       : upper ? matrices_element(&A, 0, j, i)
                                                               : matrices_element(&A, 0, i, j);
                reference_product(n, L, product);
                for (size_t e = 0; e < area; ++e)
                    product[e].re -= M[e].re;
                const long double ratio =
                    norm1(n, n, product) / (n * norm1(n, n, M) * unit_roundoff(type));
                if (!(ratio <= 30))
                    suite_fail("norm1(L L^H - A) / (n norm1(A) eps) is %Lg", ratio);
                ++factored;
            }
            ints_free(&info);
            matrices_free(&A);
        }
        free(M);
        free(L);
        free(product);
    }
    assert_true(factored > 0 && failed > 0);
    print_message("%d factored, %d not\n", factored, failed);
}

/* ---- potrs and posv -------------------------------------------------------------------------- */

/* 4^e A = (2^e L) (2^e L)^H, and 4^e A x = 4^e b: all of it exact, down to where the elements of A
 * are denormal, as long as nothing on the way is flushed to 0 or overflows. */
static int scale_exponent(scalar_type_t type, int scale) {
    static const int exponents[][4] = {{-74, -63, 0, 58}, {-537, -511, 0, 506}};
    return exponents[type == TYPE_D || type == TYPE_Z][scale];
}

enum { SCALES = 4 };

static void expect_scaled(const matrices_t *M, int64_t item, int row, int column,
                          long double expected, long double scale) {
    const wide_t found = matrices_element(M, item, row, column);
    const long double allowed = 64 * M->rows * unit_roundoff(M->type) * scale;
    if (!(fabsl(found.re - expected * scale) <= allowed && fabsl(found.im) <= allowed))
        suite_fail("item %lld, row %d, column %d is (%Lg, %Lg), expected %Lg, times %Lg",
                   (long long)item, row, column, found.re / scale, found.im / scale, expected,
                   scale);
}

static void run_scaled(routine_t routine, const family_line_t *line, scalar_type_t type, int n,
                       batchlas_uplo_t uplo) {
    const size_t area = (size_t)n * (size_t)n;
    const bool upper = uplo == BATCHLAS_UPPER, factors = routine != POTRS;
    wide_t *M = host_alloc(area, sizeof *M), *item_a = host_alloc(area, sizeof *item_a);
    wide_t *item_b = host_alloc((size_t)n, sizeof *item_b);
    matrices_t A = matrix_of(type, n, uplo, SCALES);
    matrices_t B = matrices_make(type, n, 1, SCALES, PADDED, ALL);
    ints_t info = ints_make(SCALES);
    const int no_failure[SCALES] = {0};
    whole_product(n, M);
    matrices_fill(&B, SENTINEL);
    for (int item = 0; item < SCALES; ++item) {
        const int e = scale_exponent(type, item);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                item_a[i + (size_t)j * (size_t)n].re =
                    factors ? scalbnl(M[i + (size_t)j * (size_t)n].re, 2 * e)
                            : scalbnl(upper ? whole_factor(j, i) : whole_factor(i, j), e);
        for (int i = 0; i < n; ++i) {
            item_b[i].re = 0;
            for (int j = 0; j < n; ++j)
                item_b[i].re += scalbnl(M[i + (size_t)j * (size_t)n].re * (j % 3 - 1), 2 * e);
        }
        matrices_set(&A, item, item_a);
        matrices_set(&B, item, item_b);
    }
    matrices_put(&A);
    matrices_put(&B);
    const call_t c = {.routine = routine,
                      .p = {.type = type,
                            .uplo = uplo,
                            .n = n,
                            .nrhs = 1,
                            .A = matrices_strided(&A),
                            .B = matrices_strided(&B),
                            .info = info.device,
                            .batch = SCALES}};
    suite_case("%s %s, n %d, scaled", family_name(line, type), upper ? "upper" : "lower", n);
    family_pin(line);
    const bool ran = family_ran(line, type, n, call(suite_handle(), &c), suite_handle());
    family_unpin(line);
    matrices_get(&A);
    matrices_get(&B);
    ints_get(&info);
    if (ran && factors)
        suite_expect(ints_are(&info, no_failure));
    for (int item = 0; item < SCALES && ran; ++item)
        for (int j = 0; j < n; ++j) {
            for (int i = j; i < n && factors; ++i)
                expect_scaled(&A, item, upper ? j : i, upper ? i : j, whole_factor(i, j),
                              scalbnl(1, scale_exponent(type, item)));
            if (routine != POTRF)
                expect_scaled(&B, item, j, 0, j % 3 - 1, 1);
        }
    ints_free(&info);
    matrices_free(&A);
    matrices_free(&B);
    free(M);
    free(item_a);
    free(item_b);
}

static void scales_to_the_ends_of_the_range(void **state) {
    (void)state;
    const routine_t routines[] = {POTRF, POTRS, POSV};
    const char *const operations[] = {"potrf", "potrs", "posv"};
    EACH(routine, routines)
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        const family_line_t *line;
        for (int f = 0; (line = family_line(operations[routine_index], f)); ++f)
            run_scaled(routines[routine_index], line, types[type_index], orders[order_index],
                       triangles[uplo_index]);
    }
}

typedef enum {
    ORDINARY,
    WITH_NAN,
    WITH_INFINITY,
    WITH_MINUS_INFINITY,
    ZERO,
    MINUS_ZERO,
    DENORMAL,
    ORDINARY_AGAIN,
    SIDES
} side_t;

/* The least positive number of a type. */
static long double least(scalar_type_t type) {
    return next_to(type, 0, 1);
}

/* The solution that a right-hand side is made of; of those that are spoilt afterwards, any. */
static long double solution(scalar_type_t type, side_t side, int i) {
    const long double whole = 1 + (3 * i + (int)side) % 5;
    return side == ZERO         ? 0
           : side == MINUS_ZERO ? -0.0L
           : side == DENORMAL   ? 64 * whole * least(type)
                                : whole;
}

static void make_side(scalar_type_t type, int n, const wide_t *M, side_t side, wide_t *B) {
    for (int i = 0; i < n; ++i) {
        B[i] = (wide_t){side == MINUS_ZERO ? -0.0L : 0, 0};
        for (int j = 0; j < n && side != MINUS_ZERO; ++j)
            B[i].re += M[i + (size_t)j * (size_t)n].re * solution(type, side, j);
    }
    B[n / 2].re = side == WITH_NAN              ? NAN
                  : side == WITH_INFINITY       ? INFINITY
                  : side == WITH_MINUS_INFINITY ? -INFINITY
                                                : B[n / 2].re;
}

static void expect_side(const matrices_t *X, int64_t item, side_t side) {
    const long double size = side == DENORMAL ? 64 * least(X->type) : 1;
    const long double allowed =
        side == DENORMAL ? 16 * least(X->type) : 4096 * unit_roundoff(X->type);
    bool finite = true;
    for (int i = 0; i < X->rows; ++i) {
        const wide_t x = matrices_element(X, item, i, (int)side);
        const long double error = x.re - solution(X->type, side, i);
        finite = finite && isfinite(x.re) && isfinite(x.im);
        if (side != WITH_NAN && side != WITH_INFINITY && side != WITH_MINUS_INFINITY &&
            !(fabsl(error) <= allowed * (side == DENORMAL ? 1 : X->rows * 5) &&
              fabsl(x.im) <= allowed))
            suite_fail("side %d, row %d is (%Lg, %Lg), expected %Lg", (int)side, i, x.re / size,
                       x.im / size, solution(X->type, side, i) / size);
    }
    if ((side == WITH_NAN || side == WITH_INFINITY || side == WITH_MINUS_INFINITY) && finite)
        suite_fail("side %d became finite", (int)side);
}

/* The middle item of three has these right-hand sides, the others ordinary ones: those have the
 * bits that they have among ordinary items, and in the middle each side is solved for itself. */
static void right_hand_sides_spoil_only_themselves(void **state) {
    (void)state;
    const routine_t routines[] = {POTRS, POSV};
    const char *const operations[] = {"potrs", "posv"};
    EACH(routine, routines)
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        const int n = orders[order_index];
        const size_t area = (size_t)n * (size_t)n;
        const scalar_type_t type = types[type_index];
        wide_t *M = host_alloc(area, sizeof *M), *A_item = host_alloc(area, sizeof *A_item);
        wide_t *B_item = host_alloc((size_t)n * SIDES, sizeof *B_item);
        const family_line_t *line;
        whole_product(n, M);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const bool upper = triangles[uplo_index] == BATCHLAS_UPPER;
                const int entry = upper ? whole_factor(j, i) : whole_factor(i, j);
                A_item[i + (size_t)j * (size_t)n] = routines[routine_index] == POSV
                                                        ? M[i + (size_t)j * (size_t)n]
                                                        : (wide_t){entry, 0};
            }
        for (int f = 0; (line = family_line(operations[routine_index], f)); ++f) {
            matrices_t results[2];
            bool ran = true;
            for (int spoilt = 0; spoilt < 2; ++spoilt) {
                matrices_t A = matrix_of(type, n, triangles[uplo_index], 3);
                matrices_t *B = &results[spoilt];
                *B = matrices_make(type, n, SIDES, 3, PADDED, ALL);
                matrices_fill(B, SENTINEL);
                for (int item = 0; item < 3; ++item) {
                    for (int side = 0; side < SIDES; ++side)
                        make_side(type, n, M, spoilt && item == 1 ? (side_t)side : ORDINARY,
                                  B_item + (size_t)side * (size_t)n);
                    matrices_set(&A, item, A_item);
                    matrices_set(B, item, B_item);
                }
                matrices_put(&A);
                matrices_put(B);
                const call_t c = {.routine = routines[routine_index],
                                  .p = {.type = type,
                                        .uplo = triangles[uplo_index],
                                        .n = n,
                                        .nrhs = SIDES,
                                        .A = matrices_strided(&A),
                                        .B = matrices_strided(B),
                                        .batch = 3}};
                family_pin(line);
                suite_case("%s %s, n %d, unusual right-hand sides", family_name(line, type),
                           uplo_index ? "upper" : "lower", n);
                ran = family_ran(line, type, n, call(suite_handle(), &c), suite_handle());
                family_unpin(line);
                matrices_get(B);
                matrices_free(&A);
            }
            const int middle[] = {0, 1, 0};
            if (ran) {
                suite_expect(padding_is_untouched(&results[1]));
                suite_expect(items_agree(&results[0], &results[1], middle));
                for (int side = 0; side < SIDES; ++side)
                    expect_side(&results[1], 1, (side_t)side);
            }
            matrices_free(&results[0]);
            matrices_free(&results[1]);
        }
        free(M);
        free(A_item);
        free(B_item);
    }
}

static const struct CMUnitTest tests[] = {
    suite_test(one_bit_decides),
    suite_test(conditions_beyond_the_format_end_well),
    suite_test(scales_to_the_ends_of_the_range),
    suite_test(right_hand_sides_spoil_only_themselves),
};

SUITE_MAIN("extremes", tests, ON_EVERY_DEVICE)
