/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/solves.h"

#include <stdlib.h>

matrices_t solve_matrices(const solve_t *c, layout_t layout, fill_t fill) {
    const spd_t *s = c->systems->spd;
    matrices_t A = matrices_make(s->type, s->n, s->n, c->batch, layout, triangle_of(c->uplo));
    A.real_diagonal = scalar_is_complex(s->type);
    matrices_fill(&A, fill);
    if (c->routine == POTRS)
        spd_set_factors(s, c->uplo, &A);
    else
        spd_set(s, &A);
    matrices_put(&A);
    return A;
}

matrices_t solve_right_hand_sides(const solve_t *c, layout_t layout, fill_t fill) {
    const spd_t *s = c->systems->spd;
    matrices_t B = matrices_make(s->type, s->n, c->systems->nrhs, c->batch, layout, ALL);
    matrices_fill(&B, fill);
    systems_set(c->systems, &B);
    matrices_put(&B);
    return B;
}

batchlas_status_t solve_call(batchlas_handle_t h, const solve_t *c, const matrices_t *A,
                             const matrices_t *B, int *info, bool array) {
    const spd_t *s = c->systems->spd;
    const call_t solve = {.routine = c->routine,
                          .array = array,
                          .p = {.type = s->type,
                                .uplo = c->uplo,
                                .n = s->n,
                                .nrhs = c->systems->nrhs,
                                .A = array ? matrices_pointers(A) : matrices_strided(A),
                                .B = array ? matrices_pointers(B) : matrices_strided(B),
                                .info = info,
                                .batch = c->batch}};
    return call(h, &solve);
}

/* What one form left behind. */
typedef struct {
    matrices_t A, B;
} outcome_t;

static void outcome_free(outcome_t *o) {
    matrices_free(&o->A);
    matrices_free(&o->B);
}

/* Runs one form; false where the family refused, which left everything as it was. */
static bool run_form(const solve_t *c, layout_t layout_a, layout_t layout_b, fill_t fill,
                     bool array, const int *expected, outcome_t *o) {
    const spd_t *s = c->systems->spd;
    const bool has_info = c->routine == POSV && !c->no_info;
    *o = (outcome_t){solve_matrices(c, layout_a, fill), solve_right_hand_sides(c, layout_b, fill)};
    ints_t info = ints_make(c->batch);
    const batchlas_status_t status =
        solve_call(suite_handle(), c, &o->A, &o->B, has_info ? info.device : NULL, array);
    const bool ran = family_ran(c->line, s->type, s->n, status, suite_handle());
    matrices_get(&o->A);
    matrices_get(&o->B);
    ints_get(&info);
    if (!ran) {
        suite_expect(matrices_are_untouched(&o->A));
        suite_expect(matrices_are_untouched(&o->B));
        suite_expect(ints_are_untouched(&info));
    } else {
        if (has_info)
            suite_expect(ints_are(&info, expected));
        suite_expect(padding_is_untouched(&o->B));
        suite_expect(c->routine == POTRS ? matrices_are_untouched(&o->A)
                                         : padding_is_untouched(&o->A));
        for (int64_t i = 0; i < c->batch && c->routine == POSV; ++i)
            if (expected[i])
                suite_expect(item_is_untouched(&o->B, i));
        if (s->n > 0 && c->batch > 0 && c->systems->nrhs > 0)
            coverage_expect(c->line, s->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', s->n,
                            c->systems->nrhs, c->batch);
    }
    ints_free(&info);
    return ran;
}

/* potrs leaves A as it was, which the forms were checked for already. */
static void expect_same(const solve_t *c, const outcome_t *first, outcome_t *other,
                        const int *expected) {
    if (c->routine == POSV)
        suite_expect(items_agree(&first->A, &other->A, expected));
    suite_expect(items_agree(&first->B, &other->B, NULL));
    outcome_free(other);
}

bool solve_run(const solve_t *c, matrices_t *kept) {
    int *expected = spd_infos(c->systems->spd, c->batch);
    outcome_t first, other;
    family_pin(c->line);
    const bool ran = run_form(c, c->layout_a, c->layout_b, SENTINEL, false, expected, &first);
    if (ran) {
        suite_expect(solutions_are_right(&first.B, c->systems));
        if (c->routine == POSV)
            suite_expect(factors_are_right(&first.A, c->uplo, c->systems->spd));
        run_form(c, c->layout_a, c->layout_b, POISON, false, expected, &other);
        expect_same(c, &first, &other, expected);
        run_form(c, c->layout_a.shared ? c->layout_a : REVERSED, REVERSED, POISON, true, expected,
                 &other);
        expect_same(c, &first, &other, expected);
    }
    family_unpin(c->line);
    free(expected);
    matrices_free(&first.A);
    if (kept && ran)
        *kept = first.B;
    else
        matrices_free(&first.B);
    return ran;
}

void solve_name(const solve_t *c, const char *what) {
    const spd_t *s = c->systems->spd;
    suite_case("%s %s, n %d, nrhs %d, batch %lld%s%s", family_name(c->line, s->type),
               c->uplo == BATCHLAS_LOWER ? "lower" : "upper", s->n, c->systems->nrhs,
               (long long)c->batch, *what ? ", " : "", what);
}
