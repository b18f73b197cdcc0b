/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf_logdet: twice the sum of the logarithms of the factor's diagonal, in double. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 8 };
static const double left_there = -4242.0;

typedef struct {
    int64_t batch;
    double *values;
    double *device;
} doubles_t;

static size_t bytes_of(const doubles_t *d) {
    return ((size_t)d->batch + 2 * GUARD) * sizeof(double);
}

static doubles_t doubles_make(int64_t batch) {
    doubles_t d = {.batch = batch};
    double *values = host_alloc((size_t)batch + 2 * GUARD, sizeof *values);
    double *device = device_alloc(bytes_of(&d));
    for (int64_t i = 0; i < batch + 2 * GUARD; ++i)
        values[i] = left_there;
    device_put(device, values, bytes_of(&d));
    d.values = values + GUARD;
    d.device = device + GUARD;
    return d;
}

static void doubles_get(doubles_t *d) {
    device_get(d->values - GUARD, d->device - GUARD, bytes_of(d));
    for (int i = 0; i < GUARD; ++i)
        if (d->values[-1 - i] != left_there || d->values[d->batch + i] != left_there)
            suite_fail("a write beyond logdet");
}

static void doubles_free(doubles_t *d) {
    free(d->values - GUARD);
    device_free(d->device - GUARD);
}

static const call_t *logdet_call(const matrices_t *A, batchlas_uplo_t uplo, double *logdet) {
    static call_t logdet_of;
    logdet_of = (call_t){.routine = POTRF_LOGDET,
                         .p = {.type = A->type,
                               .uplo = uplo,
                               .n = A->rows,
                               .A = matrices_strided(A),
                               .logdet = logdet,
                               .batch = A->batch}};
    return &logdet_of;
}

static matrices_t factors(const spd_t *s, batchlas_uplo_t uplo, int64_t batch, layout_t layout,
                          fill_t fill) {
    matrices_t A = matrices_make(s->type, s->n, s->n, batch, layout, triangle_of(uplo));
    A.real_diagonal = scalar_is_complex(s->type);
    matrices_fill(&A, fill);
    spd_set_factors(s, uplo, &A);
    matrices_put(&A);
    return A;
}

/* A sum of n logarithms, each within a rounding or two, then doubled. */
static void check(const spd_t *s, int64_t item, double got) {
    const wide_t *L = s->L + (size_t)(item % s->distinct) * (size_t)s->n * (size_t)s->n;
    long double expected = 0, magnitude = 0;
    for (int j = 0; j < s->n; ++j) {
        const long double term = 2 * logl(L[j * (s->n + 1)].re);
        expected += term;
        magnitude += fabsl(term);
    }
    if (!(fabsl(got - expected) <= (s->n + 4) * 0x1p-53L * (magnitude + 1)))
        suite_fail("item %lld: logdet is %.17g, expected %.17Lg", (long long)item, got, expected);
}

static void run(const spd_t *s, batchlas_uplo_t uplo, int64_t batch, layout_t layout) {
    double *first = host_alloc((size_t)batch, sizeof *first);
    suite_case("%clogdet uplo %d, n %d, batch %lld", scalar_letter(s->type), (int)uplo, s->n,
               (long long)batch);
    for (int pass = 0; pass < 2; ++pass) {
        matrices_t A = factors(s, uplo, batch, layout, pass ? POISON : SENTINEL);
        doubles_t logdet = doubles_make(batch);
        suite_expect_success(call(suite_handle(), logdet_call(&A, uplo, logdet.device)),
                             suite_handle());
        coverage_expect(family_line("potrf_logdet", 0), s->type, 'l', s->n, 1, batch);
        doubles_get(&logdet);
        matrices_get(&A);
        suite_expect(matrices_are_untouched(&A));
        for (int64_t i = 0; i < batch; ++i)
            check(s, i, logdet.values[i]);
        if (pass == 0)
            memcpy(first, logdet.values, (size_t)batch * sizeof *first);
        else if (memcmp(first, logdet.values, (size_t)batch * sizeof *first))
            suite_fail("NaN in the padding changed the bits");
        for (int64_t i = s->distinct; i < batch; ++i)
            if (memcmp(&first[i], &first[i % s->distinct], sizeof *first))
                suite_fail("item %lld and %lld are of one matrix and differ", (long long)i,
                           (long long)(i % s->distinct));
        matrices_free(&A);
        doubles_free(&logdet);
    }
    free(first);
}

static spd_t rounded(scalar_type_t type, int n, int distinct, const kind_t *kinds, int kind_count) {
    spd_t s = spd_make(type, n, distinct, kinds, kind_count, 71);
    spd_round_factors(&s);
    return s;
}

static void every_size_and_batch(void **state) {
    (void)state;
    const int orders[] = {1, 2, 5, 8, 16, 17, 31, 32, 33, 65, 128, 200};
    const int64_t batches[] = {0, 1, 3, 33, 1025};
    const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN, NEAR_OVERFLOW, NEAR_UNDERFLOW};
    EACH(type, types)
    EACH(order, orders)
    EACH(uplo, triangles) {
        spd_t s =
            rounded(types[type_index], orders[order_index], COUNT(kinds), kinds, COUNT(kinds));
        EACH(batch, batches)
        if (batches[batch_index] < 1000 || orders[order_index] < 34)
            run(&s, triangles[uplo_index], batches[batch_index],
                batch_index % 2 ? PADDED : OVERLAPPED);
        spd_free(&s);
    }
}

/* A determinant beyond the range of its type. */
static void the_determinant_itself_may_overflow(void **state) {
    (void)state;
    const kind_t kinds[] = {NEAR_OVERFLOW, NEAR_UNDERFLOW};
    EACH(type, types) {
        spd_t s = rounded(types[type_index], 96, 2, kinds, 2);
        run(&s, BATCHLAS_LOWER, 2, TIGHT);
        spd_free(&s);
    }
}

static void a_diagonal_that_is_not_positive_gives_nan_or_minus_infinity(void **state) {
    (void)state;
    const kind_t kinds[] = {GRAM};
    const int orders[] = {1, 5, 33};
    EACH(type, types)
    EACH(uplo, triangles)
    EACH(order, orders) {
        const int n = orders[order_index];
        spd_t s = rounded(types[type_index], n, 6, kinds, 1);
        matrices_t A = factors(&s, triangles[uplo_index], 6, PADDED, SENTINEL);
        doubles_t logdet = doubles_make(6);
        suite_case("%clogdet, n %d, a bad diagonal", scalar_letter(s.type), n);
        matrices_set_element(&A, 1, n / 2, n / 2, (wide_t){0, 0});
        matrices_set_element(&A, 3, n / 2, n / 2, (wide_t){-1.5L, 0});
        matrices_set_element(&A, 4, n - 1, n - 1, (wide_t){NAN, 0});
        matrices_put(&A);
        suite_expect_success(
            call(suite_handle(), logdet_call(&A, triangles[uplo_index], logdet.device)),
            suite_handle());
        doubles_get(&logdet);
        for (int i = 0; i < 6; ++i)
            if (i == 0 || i == 2 || i == 5)
                check(&s, i, logdet.values[i]);
            else if (!isnan(logdet.values[i]) && logdet.values[i] != -INFINITY)
                suite_fail("item %d: logdet is %g, expected NaN or -Inf", i, logdet.values[i]);
        matrices_free(&A);
        doubles_free(&logdet);
        spd_free(&s);
    }
}

static void one_factor_serves_all_items(void **state) {
    (void)state;
    const kind_t kinds[] = {GRAM};
    EACH(type, types) {
        spd_t s = rounded(types[type_index], 12, 1, kinds, 1);
        run(&s, BATCHLAS_UPPER, 9, SHARED);
        spd_free(&s);
    }
}

/* The determinant of the empty matrix is 1. */
static void an_empty_order_gives_zero(void **state) {
    (void)state;
    EACH(type, types) {
        doubles_t logdet = doubles_make(4);
        const call_t empty = {
            .routine = POTRF_LOGDET,
            .p = {
                .type = types[type_index], .n = 0, .A.ld = 1, .logdet = logdet.device, .batch = 4}};
        suite_expect_success(call(suite_handle(), &empty), suite_handle());
        doubles_get(&logdet);
        for (int i = 0; i < 4; ++i)
            assert_true(logdet.values[i] == 0.0);
        doubles_free(&logdet);
    }
}

static const struct CMUnitTest tests[] = {
    suite_test(every_size_and_batch),
    suite_test(the_determinant_itself_may_overflow),
    suite_test(a_diagonal_that_is_not_positive_gives_nan_or_minus_infinity),
    suite_test(one_factor_serves_all_items),
    suite_test(an_empty_order_gives_zero),
};

SUITE_MAIN("logdet", tests, ON_EVERY_DEVICE)
