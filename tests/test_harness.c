/* SPDX-License-Identifier: BSD-3-Clause */
/* The harness's own checks: each is given right results, which it must take, and results with one
 * thing wrong in one item in the middle, which it must not. Nothing here calls a solver of the
 * library. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 9, BATCH = 7, MIDDLE = 3, NRHS = 3 };

static const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN};

static void expect_good(verdict_t verdict) {
    if (!is_good(&verdict))
        suite_fail("a right result was refused: %s", verdict.text);
}

static void expect_bad(verdict_t verdict, const char *what) {
    if (is_good(&verdict))
        suite_fail("%s was not seen", what);
}

/* Replaces one element of what was found on the device, through the device. */
static void spoil(matrices_t *m, int64_t item, int row, int column, wide_t value) {
    const size_t bytes = m->elements * scalar_size(m->type);
    unsigned char *input = m->input;
    m->input = host_alloc(m->elements, scalar_size(m->type));
    memcpy(m->input, m->image, bytes);
    matrices_set_element(m, item, row, column, value);
    memcpy(m->image, m->input, bytes);
    free(m->input);
    m->input = input;
}

/* The reference factors as a library would have left them. */
static matrices_t factored(const spd_t *s, batchlas_uplo_t uplo, int64_t batch) {
    matrices_t m = matrices_make(s->type, s->n, s->n, batch, PADDED, triangle_of(uplo));
    m.real_diagonal = scalar_is_complex(s->type);
    matrices_fill(&m, SENTINEL);
    spd_set(s, &m);
    matrices_put(&m);
    matrices_get(&m);
    for (int64_t item = 0; item < batch; ++item) {
        const wide_t *L = s->L + (size_t)(item % s->distinct) * (size_t)(s->n * s->n);
        for (int j = 0; j < s->n; ++j)
            for (int i = j; i < s->n; ++i) {
                const wide_t l = L[i + j * s->n];
                if (uplo == BATCHLAS_LOWER)
                    spoil(&m, item, i, j, l);
                else
                    spoil(&m, item, j, i, (wide_t){l.re, i == j ? 0 : -l.im});
            }
    }
    return m;
}

/* ---- factors ------------------------------------------------------------------------------- */

static void factors_are_judged_item_by_item(void **state) {
    (void)state;
    for (int t = 0; t < 4; ++t)
        for (int u = 0; u < 2; ++u) {
            const batchlas_uplo_t uplo = triangles[u];
            const long double eps = unit_roundoff(types[t]);
            spd_t s = spd_make(types[t], N, BATCH, kinds, 3, 1);
            matrices_t m = factored(&s, uplo, BATCH);
            suite_case("%c, uplo %d", scalar_letter(types[t]), u);
            expect_good(factors_are_right(&m, uplo, &s));
            expect_good(padding_is_untouched(&m));

            const int row = uplo == BATCHLAS_LOWER ? 6 : 2, column = 8 - row;
            const wide_t right = matrices_element(&m, MIDDLE, row, column);
            const wide_t corner = matrices_element(&m, MIDDLE, N - 1, N - 1);
            /* 30 n eps of the norm are allowed in all; 1000 n eps in one element are not. */
            spoil(&m, MIDDLE, row, column, (wide_t){right.re + 1000 * N * eps, right.im});
            expect_bad(factors_are_right(&m, uplo, &s), "one wrong element");
            spoil(&m, MIDDLE, row, column, (wide_t){NAN, right.im});
            expect_bad(factors_are_right(&m, uplo, &s), "one NaN");
            spoil(&m, MIDDLE, row, column, (wide_t){INFINITY, right.im});
            expect_bad(factors_are_right(&m, uplo, &s), "one Inf");
            spoil(&m, MIDDLE, row, column, right);
            spoil(&m, MIDDLE, N - 1, N - 1, (wide_t){-corner.re, corner.im});
            expect_bad(factors_are_right(&m, uplo, &s), "a negative diagonal");
            spoil(&m, MIDDLE, N - 1, N - 1, corner);
            expect_good(factors_are_right(&m, uplo, &s));
            if (scalar_is_complex(types[t])) {
                spoil(&m, MIDDLE, row, column, (wide_t){right.re, -right.im});
                expect_bad(factors_are_right(&m, uplo, &s), "a conjugate");
                spoil(&m, MIDDLE, row, column, right);
                spoil(&m, MIDDLE, 4, 4, (wide_t){matrices_element(&m, MIDDLE, 4, 4).re, 1e-30L});
                expect_bad(factors_are_right(&m, uplo, &s), "a diagonal that is not real");
            }
            matrices_free(&m);
            spd_free(&s);
        }
}

static void the_other_triangle_does_not_make_a_factor_right(void **state) {
    (void)state;
    spd_t s = spd_make(TYPE_D, N, BATCH, kinds, 3, 2);
    matrices_t m = factored(&s, BATCHLAS_LOWER, BATCH);
    expect_bad(factors_are_right(&m, BATCHLAS_UPPER, &s), "the wrong triangle");
    matrices_free(&m);
    spd_free(&s);
}

/* Small errors that the residual's bound lets pass are seen by the elementwise bound. */
static void the_reference_twin_is_stricter_than_the_residual(void **state) {
    (void)state;
    const kind_t well[] = {RANDOM_CONDITION_2}, gram[] = {GRAM};
    for (int strict = 0; strict < 2; ++strict) {
        spd_t s = spd_make(TYPE_D, N, BATCH, strict ? well : gram, 1, 3);
        matrices_t m = factored(&s, BATCHLAS_LOWER, BATCH);
        const wide_t right = matrices_element(&m, MIDDLE, 6, 2);
        spoil(&m, MIDDLE, 6, 2, (wide_t){right.re + 2 * N * 0x1p-53L, 0});
        if (strict)
            expect_bad(factors_are_right(&m, BATCHLAS_LOWER, &s), "20 roundings in one element");
        else
            expect_good(factors_are_right(&m, BATCHLAS_LOWER, &s));
        matrices_free(&m);
        spd_free(&s);
    }
}

static void repetitions_must_be_the_same_bits(void **state) {
    (void)state;
    spd_t s = spd_make(TYPE_S, N, 2, kinds, 2, 4);
    matrices_t m = factored(&s, BATCHLAS_LOWER, BATCH);
    expect_good(factors_are_right(&m, BATCHLAS_LOWER, &s));
    const wide_t right = matrices_element(&m, 5, 7, 3);
    spoil(&m, 5, 7, 3, (wide_t){right.re * (1 + 0x1p-23L), 0});
    expect_bad(factors_are_right(&m, BATCHLAS_LOWER, &s), "one bit in one repetition");
    matrices_free(&m);
    spd_free(&s);
}

/* ---- solutions ----------------------------------------------------------------------------- */

static void solutions_are_judged_item_by_item(void **state) {
    (void)state;
    for (int t = 0; t < 4; ++t) {
        const long double eps = unit_roundoff(types[t]);
        spd_t s = spd_make(types[t], N, BATCH, kinds, 3, 5);
        systems_t systems = systems_make(&s, NRHS, 6);
        matrices_t X = matrices_make(types[t], N, NRHS, BATCH, PADDED, ALL);
        suite_case("%c", scalar_letter(types[t]));
        matrices_fill(&X, SENTINEL);
        for (int64_t i = 0; i < BATCH; ++i) {
            wide_t x[N * NRHS];
            memcpy(x, systems.B + i * N * NRHS, sizeof x);
            reference_potrs(N, NRHS, s.L + i * N * N, x);
            matrices_set(&X, i, x);
        }
        matrices_put(&X);
        matrices_get(&X);
        expect_good(solutions_are_right(&X, &systems));

        const wide_t right = matrices_element(&X, MIDDLE, 5, NRHS - 1);
        spoil(&X, MIDDLE, 5, NRHS - 1, (wide_t){right.re + 1e4L * eps, right.im});
        expect_bad(solutions_are_right(&X, &systems), "one wrong element");
        spoil(&X, MIDDLE, 5, NRHS - 1, (wide_t){NAN, right.im});
        expect_bad(solutions_are_right(&X, &systems), "one NaN");
        spoil(&X, MIDDLE, 5, NRHS - 1, right);
        expect_good(solutions_are_right(&X, &systems));
        spoil(&X, MIDDLE, 5, 0, systems.B[MIDDLE * N * NRHS + 5]);
        expect_bad(solutions_are_right(&X, &systems), "a right-hand side left unsolved");
        matrices_free(&X);
        systems_free(&systems);
        spd_free(&s);
    }
}

static void elements_are_judged_one_by_one(void **state) {
    (void)state;
    for (int t = 0; t < 4; ++t) {
        const int m = 4, n = 5, k = 6;
        wide_t A[24], B[30], C[20];
        long double magnitude[20];
        generate_dense(types[t], m, k, 7, A);
        generate_dense(types[t], k, n, 8, B);
        reference_gemm(BATCHLAS_NO_TRANS, BATCHLAS_NO_TRANS, m, n, k, (wide_t){1, 0}, A, B,
                       (wide_t){0, 0}, C, magnitude);
        matrices_t found = matrices_make(types[t], m, n, BATCH, PADDED, ALL);
        matrices_fill(&found, SENTINEL);
        for (int i = 0; i < BATCH; ++i)
            matrices_set(&found, i, C);
        matrices_put(&found);
        matrices_get(&found);
        expect_good(elements_are_near(&found, MIDDLE, C, magnitude, k));
        const long double slack = 5 * k * unit_roundoff(types[t]) * magnitude[2 + 3 * m];
        spoil(&found, MIDDLE, 2, 3, (wide_t){C[2 + 3 * m].re + slack, C[2 + 3 * m].im});
        expect_bad(elements_are_near(&found, MIDDLE, C, magnitude, k), "one wrong element");
        spoil(&found, MIDDLE, 2, 3, (wide_t){NAN, 0});
        expect_bad(elements_are_near(&found, MIDDLE, C, magnitude, k), "one NaN");
        matrices_free(&found);
    }
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Flips one bit of one element of what was found. */
static void flip(matrices_t *m, size_t element) {
    m->image[element * scalar_size(m->type)] ^= 1;
}

static bool counts(region_t region, int i, int j) {
    return region == ALL || (region == LOWER_TRIANGLE && i >= j) ||
           (region == UPPER_TRIANGLE && i <= j) || (region == STRICT_LOWER_TRIANGLE && i > j) ||
           (region == STRICT_UPPER_TRIANGLE && i < j);
}

/* Every element of the allocation in turn: what lies in a counting place may change, no other may,
 * whether its value was NaN or finite. */
static void every_padding_element_is_watched(void **state) {
    (void)state;
    const layout_t layouts[] = {TIGHT, PADDED, OVERLAPPED, REVERSED};
    const region_t regions[] = {ALL, LOWER_TRIANGLE, UPPER_TRIANGLE, STRICT_LOWER_TRIANGLE,
                                STRICT_UPPER_TRIANGLE};
    for (int t = 0; t < 4; ++t)
        for (int l = 0; l < 4; ++l)
            for (int r = 0; r < 5; ++r)
                for (int fill = 0; fill < 2; ++fill) {
                    const int n = 4, batch = 3;
                    wide_t M[16];
                    generate_dense(types[t], n, n, 9, M);
                    matrices_t m = matrices_make(types[t], n, n, batch, layouts[l], regions[r]);
                    matrices_fill(&m, fill ? POISON : SENTINEL);
                    for (int i = 0; i < batch; ++i)
                        matrices_set(&m, i, M);
                    matrices_put(&m);
                    matrices_get(&m);
                    suite_case("%c, layout %d, region %d", scalar_letter(types[t]), l, r);
                    expect_good(padding_is_untouched(&m));
                    expect_good(matrices_are_untouched(&m));
                    const size_t begin = m.guard + (size_t)m.layout.shift;
                    for (size_t e = 0; e < m.elements; ++e) {
                        bool counting = false;
                        for (int i = 0; i < batch * n * n; ++i) {
                            const int row = i % n, column = i / n % n, item = i / (n * n);
                            counting |=
                                counts(regions[r], row, column) &&
                                e == begin + (size_t)(item * m.stride + row + column * m.ld);
                        }
                        flip(&m, e);
                        if (counting)
                            expect_good(padding_is_untouched(&m));
                        else
                            expect_bad(padding_is_untouched(&m), "a write to the padding");
                        expect_bad(matrices_are_untouched(&m), "a write");
                        flip(&m, e);
                    }
                    matrices_free(&m);
                }
}

static void one_bit_of_one_item_is_seen(void **state) {
    (void)state;
    matrices_t a = matrices_make(TYPE_C, 3, 3, BATCH, PADDED, LOWER_TRIANGLE);
    matrices_t b = matrices_make(TYPE_C, 3, 3, BATCH, REVERSED, LOWER_TRIANGLE);
    for (int i = 0; i < BATCH; ++i) {
        wide_t M[9];
        generate_dense(TYPE_C, 3, 3, 10 + (uint64_t)i, M);
        matrices_set(&a, i, M);
        matrices_set(&b, i, M);
    }
    matrices_put(&a);
    matrices_put(&b);
    matrices_get(&a);
    matrices_get(&b);
    expect_good(items_agree(&a, &b, NULL));
    expect_good(item_is_untouched(&a, MIDDLE));
    const size_t element = a.guard + 1 + (size_t)(MIDDLE * a.stride + 2 + 1 * a.ld);
    flip(&a, element);
    expect_bad(items_agree(&a, &b, NULL), "one bit");
    expect_bad(item_is_untouched(&a, MIDDLE), "one bit");
    expect_good(item_is_untouched(&a, MIDDLE + 1));
    expect_bad(item_agrees(&a, MIDDLE, &b, MIDDLE), "one bit");
    const int skip[BATCH] = {[MIDDLE] = 1};
    expect_good(items_agree(&a, &b, skip));
    flip(&a, element);
    flip(&a, element - 1 - (size_t)a.ld); /* row 1, column 0 counts, row 0, column 1 does not */
    expect_bad(items_agree(&a, &b, NULL), "one bit");
    flip(&a, element - 1 - (size_t)a.ld);
    flip(&a, element - 2);
    expect_good(items_agree(&a, &b, NULL));
    matrices_free(&a);
    matrices_free(&b);
}

static void infos_are_compared_with_their_guards(void **state) {
    (void)state;
    int expected[BATCH] = {0, 0, 0, 5, 0, 0, 0};
    ints_t info = ints_make(BATCH);
    ints_get(&info);
    expect_good(ints_are_untouched(&info));
    expect_bad(ints_are(&info, expected), "info that was never written");
    memcpy(info.values, expected, sizeof expected);
    expect_good(ints_are(&info, expected));
    expect_bad(ints_are_untouched(&info), "info that was written");
    info.values[MIDDLE] = 4;
    expect_bad(ints_are(&info, expected), "a wrong info");
    info.values[MIDDLE] = 5;
    info.values[BATCH] = 0;
    expect_bad(ints_are(&info, expected), "a write behind info");
    expect_bad(ints_are_untouched(&info), "a write behind info");
    ints_free(&info);
}

/* ---- generators ---------------------------------------------------------------------------- */

static void matrices_are_what_they_are_called(void **state) {
    (void)state;
    for (int t = 0; t < 4; ++t)
        for (int kind = 0; kind < KIND_COUNT; ++kind)
            for (int n = 1; n <= 33; n += 4) {
                suite_case("%c, kind %d, n %d", scalar_letter(types[t]), kind, n);
                const kind_t one[] = {(kind_t)kind};
                spd_t s = spd_make(types[t], n, 1, one, 1, 11);
                const int info = kind == ZERO_FIRST    ? 1
                                 : kind == ZERO_LAST   ? n
                                 : kind == ZERO_MIDDLE ? n / 2 + 1
                                                       : 0;
                assert_int_equal(s.info[0], info);
                for (int j = 0; j < n; ++j) {
                    assert_true(s.A[j + j * n].im == 0);
                    for (int i = 0; i < n; ++i) {
                        const wide_t a = s.A[i + j * n], b = s.A[j + i * n];
                        const wide_t rounded = round_to(types[t], a);
                        assert_true(a.re == b.re && a.im == -b.im);
                        assert_true(a.re == rounded.re && a.im == rounded.im);
                        if (kind == DIAGONAL && i != j)
                            assert_true(a.re == 0 && a.im == 0);
                        else if (n > 8 && i != j && (kind < ZERO_FIRST || kind > ZERO_MIDDLE))
                            assert_true(a.re != 0);
                    }
                }
                spd_free(&s);
            }
}

static void conditions_are_the_asked_for_ones(void **state) {
    (void)state;
    const struct {
        kind_t kind;
        long double least, most;
    } expected[] = {{RANDOM_CONDITION_2, 1.5L, 12}, {CONDITION_ROOT, 5e6L, 5e8L}};
    for (size_t i = 0; i < 2; ++i) {
        spd_t s = spd_make(TYPE_Z, 21, 1, &expected[i].kind, 1, 12);
        systems_t systems = systems_make(&s, 1, 13);
        const long double condition = 1 / systems.rcond[0];
        suite_case("condition %Lg", condition);
        assert_true(condition > expected[i].least && condition < expected[i].most);
        systems_free(&systems);
        spd_free(&s);
    }
}

/* The original diagonal stays positive, the pivot there is the first that is not. */
static void planted_failures_fail_where_they_were_planted(void **state) {
    (void)state;
    for (int t = 0; t < 4; ++t)
        for (int n = 1; n <= 40; n += 3)
            for (int p = 0; p < n; ++p) {
                const kind_t one[] = {GRAM};
                spd_t s = spd_make(types[t], n, 1, one, 1, (uint64_t)n);
                plant_failure(types[t], n, s.A, p);
                spd_factor(&s);
                suite_case("%c, n %d, p %d", scalar_letter(types[t]), n, p);
                assert_int_equal(s.info[0], p + 1);
                assert_true(p == 0 || s.A[p + p * n].re > 0);
                spd_free(&s);
            }
}

static void the_reference_factors_and_solves(void **state) {
    (void)state;
    /* L = [2 0; 1+i 3], A = L L^H, and A x = b with x = (1, i). */
    wide_t A[4] = {{4, 0}, {2, 2}, {2, -2}, {11, 0}};
    assert_int_equal(reference_potrf(2, A), 0);
    assert_true(A[0].re == 2 && A[1].re == 1 && A[1].im == 1 && A[3].re == 3 && A[2].re == 0);
    wide_t x[2] = {{4 + 2, 2}, {2, 2 + 11}};
    reference_potrs(2, 1, A, x);
    assert_true(fabsl(x[0].re - 1) < 1e-15L && fabsl(x[0].im) < 1e-15L);
    assert_true(fabsl(x[1].re) < 1e-15L && fabsl(x[1].im - 1) < 1e-15L);
    wide_t product[4];
    reference_product(2, A, product);
    assert_true(product[1].re == 2 && product[1].im == 2 && product[2].im == -2);
    assert_true(product[3].re == 11);
    assert_true(norm1(2, 2, product) == 11 + sqrtl(8));
    wide_t zero[1] = {{0, 0}}, nan[1] = {{NAN, 0}};
    assert_int_equal(reference_potrf(1, zero), 1);
    assert_int_equal(reference_potrf(1, nan), 1);
}

static void the_reference_multiplies(void **state) {
    (void)state;
    /* A = [1 i], so that A A^T = 0 and A A^H = 2. */
    const wide_t A[2] = {{1, 0}, {0, 1}};
    wide_t C[1] = {{10, 0}};
    long double magnitude[1];
    reference_gemm(BATCHLAS_NO_TRANS, BATCHLAS_TRANS, 1, 1, 2, (wide_t){3, 0}, A, A, (wide_t){1, 1},
                   C, magnitude);
    assert_true(C[0].re == 10 && C[0].im == 10 && magnitude[0] == 26);
    reference_gemm(BATCHLAS_NO_TRANS, BATCHLAS_CONJ_TRANS, 1, 1, 2, (wide_t){0, 1}, A, A,
                   (wide_t){0, 0}, C, magnitude);
    assert_true(C[0].re == 0 && C[0].im == 2);
    C[0].re = NAN;
    reference_gemm(BATCHLAS_CONJ_TRANS, BATCHLAS_NO_TRANS, 1, 1, 2, (wide_t){1, 0}, A, A,
                   (wide_t){0, 0}, C, magnitude);
    assert_true(C[0].re == 2 && C[0].im == 0);
}

/* ---- families ------------------------------------------------------------------------------ */

static void every_family_has_its_line_and_pin(void **state) {
    (void)state;
    assert_null(family_line("nonsense", 0));
    assert_null(family_line("potrf", 100));
    const family_line_t *line = family_line("potrf", 1);
    assert_string_equal(line->spelling, "tiny");
    family_pin(line);
    assert_string_equal(getenv("BATCHLAS_POTRF_ROUTE"), "tiny");
    assert_null(getenv("BATCHLAS_TRSM_ROUTE"));
    family_unpin(line);
    assert_null(getenv("BATCHLAS_POTRF_ROUTE"));
    line = family_line("potrf", 3);
    family_pin(line);
    assert_string_equal(getenv("BATCHLAS_POTRF_ROUTE"), "blocked");
    assert_string_equal(getenv("BATCHLAS_TRSM_ROUTE"), "native");
    family_unpin(line);
    assert_null(getenv("BATCHLAS_TRSM_ROUTE"));
}

/* A coverage file as the library writes it, with one call to the vendor. */
static void a_pin_that_ran_something_else_is_seen(void **state) {
    (void)state;
    FILE *file = fopen(getenv("BATCHLAS_COVERAGE_OUT"), "w");
    assert_non_null(file);
    fputs("op,type,uplo,n,nrhs,batch,chosen_algo\n"
          "potrf,d,lower,8,1,3,tiny\n"
          "trsm,d,lower,8,1,3,tiled\n"
          "potrf,d,lower,9,1,3,vendor\n"
          "potrf,d,upper,8,1,3,tiny\n"
          "potrf,d,lower,8,1,3,tiny\n",
          file);
    fclose(file);
    const family_line_t *tiny = family_line("potrf", 1);
    coverage_expect(tiny, TYPE_D, 'l', 8, 1, 3);
    coverage_expect(tiny, TYPE_D, 'u', 8, 1, 3);
    coverage_expect(tiny, TYPE_D, 'l', 8, 1, 3);
    expect_good(coverage_agrees("potrf"));
    coverage_expect(tiny, TYPE_D, 'l', 8, 1, 3);
    expect_bad(coverage_agrees("potrf"), "a third call of which two are on record");
    coverage_forget();
    coverage_expect(tiny, TYPE_D, 'l', 9, 1, 3);
    expect_bad(coverage_agrees("potrf"), "a call that ran the vendor");
    coverage_forget();
    coverage_expect(tiny, TYPE_S, 'l', 8, 1, 3);
    expect_bad(coverage_agrees("potrf"), "a call of another type");
    coverage_forget();
}

static void calls_go_by_their_public_names(void **state) {
    (void)state;
    assert_string_equal(call_name(&(call_t){.routine = POTRF, .p.type = TYPE_D}), "dpotrf");
    assert_string_equal(call_name(&(call_t){.routine = SYRK, .p.type = TYPE_S}), "ssyrk");
    assert_string_equal(call_name(&(call_t){.routine = SYRK, .p.type = TYPE_Z}), "zherk");
}

static const struct CMUnitTest tests[] = {
    suite_test(factors_are_judged_item_by_item),
    suite_test(the_other_triangle_does_not_make_a_factor_right),
    suite_test(the_reference_twin_is_stricter_than_the_residual),
    suite_test(repetitions_must_be_the_same_bits),
    suite_test(solutions_are_judged_item_by_item),
    suite_test(elements_are_judged_one_by_one),
    suite_test(every_padding_element_is_watched),
    suite_test(one_bit_of_one_item_is_seen),
    suite_test(infos_are_compared_with_their_guards),
    suite_test(matrices_are_what_they_are_called),
    suite_test(conditions_are_the_asked_for_ones),
    suite_test(planted_failures_fail_where_they_were_planted),
    suite_test(the_reference_factors_and_solves),
    suite_test(the_reference_multiplies),
    suite_test(every_family_has_its_line_and_pin),
    suite_test(a_pin_that_ran_something_else_is_seen),
    suite_test(calls_go_by_their_public_names),
};

SUITE_MAIN("harness", tests, HOST_ONLY)
