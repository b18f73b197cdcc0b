/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/solves.h"

#include <stdlib.h>

static matrices_t make_matrices(const solve_t *c, layout_t layout, fill_t fill) {
    const spd_t *s = c->systems->spd;
    matrices_t A = matrices_make(s->type, s->n, s->n, c->batch, layout, triangle_of(c->uplo));
    A.real_diagonal = scalar_is_complex(s->type);
    matrices_fill(&A, fill);
    if (c->routine == POTRS)
        spd_set_factors(s, c->uplo, &A);
    else
        spd_set(s, &A);
    return A;
}

static matrices_t make_right_hand_sides(const solve_t *c, layout_t layout, fill_t fill) {
    const spd_t *s = c->systems->spd;
    matrices_t B = matrices_make(s->type, s->n, c->systems->nrhs, c->batch, layout, ALL);
    matrices_fill(&B, fill);
    systems_set(c->systems, &B);
    return B;
}

matrices_t solve_matrices(const solve_t *c, layout_t layout, fill_t fill) {
    matrices_t A = make_matrices(c, layout, fill);
    matrices_put(&A);
    return A;
}

matrices_t solve_right_hand_sides(const solve_t *c, layout_t layout, fill_t fill) {
    matrices_t B = make_right_hand_sides(c, layout, fill);
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

solve_operands_t solve_operands(const solve_t *c) {
    const layout_t other_a = c->layout_a.shared ? c->layout_a : REVERSED;
    return (solve_operands_t){
        .A = {[STRIDED] = make_matrices(c, c->layout_a, SENTINEL),
              [AMONG_NAN] = make_matrices(c, c->layout_a, POISON),
              [WITH_POINTERS] = make_matrices(c, other_a, POISON)},
        .B = {[STRIDED] = make_right_hand_sides(c, c->layout_b, SENTINEL),
              [AMONG_NAN] = make_right_hand_sides(c, c->layout_b, POISON),
              [WITH_POINTERS] = make_right_hand_sides(c, REVERSED, POISON)},
        .info = ints_make(c->batch),
        .expected = spd_infos(c->systems->spd, c->batch),
    };
}

void solve_operands_free(solve_operands_t *o) {
    for (int form = 0; form < FORM_COUNT; ++form) {
        matrices_free(&o->A[form]);
        matrices_free(&o->B[form]);
    }
    ints_free(&o->info);
    free(o->expected);
}

static bool has_info(const solve_t *c) {
    return c->routine == POSV && !c->no_info;
}

batchlas_status_t solve_form(const solve_t *c, solve_operands_t *o, form_t form) {
    matrices_t *A = &o->A[form], *B = &o->B[form];
    /* potrs leaves A as it was, or has failed its test. */
    if (c->routine == POSV || !o->is_put[form])
        matrices_put(A);
    o->is_put[form] = true;
    matrices_put(B);
    if (has_info(c))
        ints_put(&o->info);
    family_pin(c->line);
    const batchlas_status_t status = solve_call(
        suite_handle(), c, A, B, has_info(c) ? o->info.device : NULL, form == WITH_POINTERS);
    family_unpin(c->line);
    matrices_get(A);
    matrices_get(B);
    if (has_info(c))
        ints_get(&o->info);
    return status;
}

/* Runs one form; false where the family refused, which left everything as it was. */
static bool run_form(const solve_t *c, solve_operands_t *o, form_t form) {
    const spd_t *s = c->systems->spd;
    const batchlas_status_t status = solve_form(c, o, form);
    const matrices_t *A = &o->A[form], *B = &o->B[form];
    if (!family_ran(c->line, s->type, s->n, status, suite_handle())) {
        suite_expect(matrices_are_untouched(A));
        suite_expect(matrices_are_untouched(B));
        if (has_info(c))
            suite_expect(ints_are_untouched(&o->info));
        return false;
    }
    if (has_info(c))
        suite_expect(ints_are(&o->info, o->expected));
    suite_expect(padding_is_untouched(B));
    suite_expect(c->routine == POTRS ? matrices_are_untouched(A) : padding_is_untouched(A));
    for (int64_t i = 0; i < c->batch && c->routine == POSV; ++i)
        if (o->expected[i])
            suite_expect(item_is_untouched(B, i));
    if (s->n > 0 && c->batch > 0 && c->systems->nrhs > 0)
        coverage_expect(c->line, s->type, c->uplo == BATCHLAS_LOWER ? 'l' : 'u', s->n,
                        c->systems->nrhs, c->batch);
    return true;
}

bool solve_run(const solve_t *c, solve_operands_t *o, matrices_t *kept) {
    if (!run_form(c, o, STRIDED))
        return false;
    suite_expect(solutions_are_right(&o->B[STRIDED], c->systems));
    if (c->routine == POSV)
        suite_expect(factors_are_right(&o->A[STRIDED], c->uplo, c->systems->spd));
    for (form_t form = AMONG_NAN; form < FORM_COUNT && !suite_exact(); ++form) {
        run_form(c, o, form);
        /* potrs leaves A as it was, which the form was checked for already. */
        if (c->routine == POSV)
            suite_expect(items_agree(&o->A[STRIDED], &o->A[form], o->expected));
        suite_expect(items_agree(&o->B[STRIDED], &o->B[form], NULL));
    }
    if (kept)
        *kept = matrices_keep(&o->B[STRIDED]);
    return true;
}

bool solve_takes(int order_index, int n, int width_index, int nrhs) {
    if (nrhs > 4 && n > 16 && order_index % 4 != 2)
        return false;
    return !suite_exact() || (order_index % 3 == 2 && width_index % 2 != 0);
}

void solve_name(const solve_t *c, const char *what) {
    const spd_t *s = c->systems->spd;
    suite_case("%s %s, n %d, nrhs %d, batch %lld%s%s", family_name(c->line, s->type),
               c->uplo == BATCHLAS_LOWER ? "lower" : "upper", s->n, c->systems->nrhs,
               (long long)c->batch, *what ? ", " : "", what);
}
