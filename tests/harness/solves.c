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

static void check_operands(const solve_t *c, const matrices_t *A, const matrices_t *B,
                           const int *expected) {
    const spd_t *s = c->systems->spd;
    suite_expect(padding_is_untouched(B));
    suite_expect(solutions_are_right(B, c->systems));
    if (c->routine == POTRS) {
        suite_expect(matrices_are_untouched(A));
        return;
    }
    suite_expect(padding_is_untouched(A));
    suite_expect(factors_are_right(A, c->uplo, s));
    for (int64_t i = 0; i < c->batch; ++i)
        if (expected[i])
            suite_expect(item_is_untouched(B, i));
}

/* Runs one form and checks it; B is left for the caller. */
static bool run_form(const solve_t *c, layout_t layout_a, matrices_t *B, fill_t fill, bool array,
                     const int *expected) {
    const spd_t *s = c->systems->spd;
    const bool has_info = c->routine == POSV && !c->no_info;
    matrices_t A = solve_matrices(c, layout_a, fill);
    ints_t info = ints_make(c->batch);
    const batchlas_status_t status =
        solve_call(suite_handle(), c, &A, B, has_info ? info.device : NULL, array);
    const bool ran = family_ran(c->line, s->type, s->n, status, suite_handle());
    matrices_get(&A);
    matrices_get(B);
    ints_get(&info);
    if (ran) {
        if (has_info)
            suite_expect(ints_are(&info, expected));
        check_operands(c, &A, B, expected);
        if (s->n > 0 && c->batch > 0 && c->systems->nrhs > 0)
            coverage_expect(c->line, s->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', s->n,
                            c->systems->nrhs, c->batch);
    } else {
        suite_expect(matrices_are_untouched(&A));
        suite_expect(matrices_are_untouched(B));
        suite_expect(ints_are_untouched(&info));
    }
    matrices_free(&A);
    ints_free(&info);
    return ran;
}

bool solve_run(const solve_t *c, matrices_t *kept) {
    int *expected = spd_infos(c->systems->spd, c->batch);
    matrices_t B = solve_right_hand_sides(c, c->layout_b, SENTINEL);
    family_pin(c->line);
    const bool ran = run_form(c, c->layout_a, &B, SENTINEL, false, expected);
    if (ran) {
        matrices_t poisoned = solve_right_hand_sides(c, c->layout_b, POISON);
        run_form(c, c->layout_a, &poisoned, POISON, false, expected);
        suite_expect(items_agree(&B, &poisoned, NULL));
        matrices_free(&poisoned);
        const layout_t layout_a = c->layout_a.shared ? c->layout_a : REVERSED;
        matrices_t scattered = solve_right_hand_sides(c, REVERSED, POISON);
        run_form(c, layout_a, &scattered, POISON, true, expected);
        suite_expect(items_agree(&B, &scattered, NULL));
        matrices_free(&scattered);
    }
    family_unpin(c->line);
    free(expected);
    if (kept && ran)
        *kept = B;
    else
        matrices_free(&B);
    return ran;
}

void solve_name(const solve_t *c, const char *what) {
    const spd_t *s = c->systems->spd;
    suite_case("%s %s, n %d, nrhs %d, batch %lld%s%s", family_name(c->line, s->type),
               c->uplo == BATCHLAS_LOWER ? "lower" : "upper", s->n, c->systems->nrhs,
               (long long)c->batch, *what ? ", " : "", what);
}
