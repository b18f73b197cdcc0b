/* SPDX-License-Identifier: BSD-3-Clause */
/* Every CUDA kernel on the simulated device: right, the same bits under every schedule, no barrier
 * too few and none too many. The families come from the library's own candidate tables. */
#include "harness/calls.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include "run.h"
#include "simulation/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One problem for one family. Forms number what the operation distinguishes: triangles, ops. */
typedef struct {
    const family_t *family;
    scalar_type_t type;
    int form;
    int n;
    int turn; /* how often it ran before */
} subject_t;

typedef struct {
    const operation_t *operation;
    int forms;
    int called; /* of them by the public call; the others are what the blocked driver launches */
    const int *orders; /* rising, up to 0 */
    int largest_probe;
    /* Makes the call; the result is what it wrote, and is judged if it is to be. */
    batchlas_status_t (*run)(const subject_t *subject, bool judged, matrices_t *result);
} subject_kind_t;

/* One order for every way through a kernel, for the barriers and the defects to show in. */
static const int probes[] = {3, 13, 30, 33, 64, 70, 130, 260};

/* As the blocked driver launches a family, past the public call's checks and selector. */
static batchlas_status_t launch(const family_t *family, const problem_t *problem) {
    const char *reason;
    batchlas_handle_t h = suite_handle();
    return family->can_run(problem, &h->facts, &reason) ? family->launch(h, problem, NULL)
                                                        : BATCHLAS_ROUTE_UNAVAILABLE;
}

/* Items 2, 5, 8, ... are to be passed over. */
enum { PASSED_OVER = 9 };
static bool is_passed_over(int64_t item) {
    return item % 3 == 2;
}
static ints_t passed_over(int64_t batch) {
    ints_t marks = ints_make(batch);
    int *const values = host_alloc((size_t)batch, sizeof *values);
    for (int64_t i = 0; i < batch; ++i)
        values[i] = is_passed_over(i) ? PASSED_OVER : 0;
    device_put(marks.device, values, (size_t)batch * sizeof *values);
    free(values);
    return marks;
}

/* ---- potrf ----------------------------------------------------------------------------------- */

/* Around every order at which a family changes its geometry; those above LARGE for the
 * extended run. */
static const int potrf_orders[] = {1,   2,   3,   4,   5,   7,   8,   9,   12,  13,  16,  17,
                                   20,  21,  24,  25,  28,  29,  32,  33,  40,  41,  48,  49,
                                   63,  64,  65,  95,  96,  97,  127, 128, 129, 159, 160, 161,
                                   191, 192, 193, 224, 225, 255, 256, 257, 511, 512, 513, 0};

enum { LEAF_BASE = 64 };
enum { DISTINCT = 5 }; /* prime to the matrices of a block, so that each fails somewhere */

/* One of five matrices fails, at a place that n decides. Kept, for the same ones come again. */
static spd_t *potrf_matrices(scalar_type_t type, int n) {
    static spd_t made[4 * COUNT(probes)];
    static int next;
    for (int i = 0; i < COUNT(made); ++i)
        if (made[i].A && made[i].type == type && made[i].n == n)
            return &made[i];
    spd_t *const s = &made[next++ % COUNT(made)];
    const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN, NEAR_UNDERFLOW};
    if (s->A)
        spd_free(s);
    *s = spd_make(type, n, DISTINCT, kinds, COUNT(kinds), (uint64_t)n);
    plant_failure(type, n, spd_matrix(s, 1), n / 2);
    spd_factor(s);
    return s;
}

/* Items passed over stay as they are, with their info; the others' counts from info_base on. */
static void judge_leaf(const spd_t *s, const matrices_t *A, const ints_t *info) {
    int *expected = spd_infos(s, A->batch);
    for (int64_t i = 0; i < A->batch; ++i) {
        if (is_passed_over(i))
            suite_expect(item_is_untouched(A, i));
        expected[i] = is_passed_over(i) ? PASSED_OVER : expected[i] ? LEAF_BASE + expected[i] : 0;
    }
    suite_expect(padding_is_untouched(A));
    suite_expect(ints_are(info, expected));
    free(expected);
}

/* Forms: both triangles by the public call, then as the diagonal block of a larger matrix. */
static batchlas_status_t run_potrf(const subject_t *subject, bool judged, matrices_t *result) {
    const int n = subject->n;
    const batchlas_uplo_t uplo = triangles[subject->form % 2];
    const bool leaf = subject->form >= 2;
    /* Blocks full of small matrices, and a block that is not. */
    const int64_t batch = n <= 9 ? 37 : n <= 33 ? 13 : 3;
    spd_t *s = potrf_matrices(subject->type, n);
    matrices_t A = matrices_make(subject->type, n, n, batch, PADDED, triangle_of(uplo));
    A.real_diagonal = scalar_is_complex(subject->type);
    matrices_fill(&A, SENTINEL);
    spd_set(s, &A);
    matrices_put(&A);
    ints_t info = leaf ? passed_over(batch) : ints_make(batch);
    const call_t potrf = {.routine = POTRF,
                          .p = {.type = subject->type,
                                .uplo = uplo,
                                .n = n,
                                .A = matrices_strided(&A),
                                .info = info.device,
                                .info_base = leaf ? LEAF_BASE : 0,
                                .batch = batch}};
    const batchlas_status_t status =
        leaf ? launch(subject->family, &potrf.p) : call(suite_handle(), &potrf);
    matrices_get(&A);
    ints_get(&info);
    if (status == BATCHLAS_SUCCESS && judged && leaf) {
        judge_leaf(s, &A, &info);
    } else if (status == BATCHLAS_SUCCESS && judged) {
        int *expected = spd_infos(s, batch);
        suite_expect(padding_is_untouched(&A));
        suite_expect(ints_are(&info, expected));
        suite_expect(factors_are_right(&A, uplo, s));
        free(expected);
    }
    ints_free(&info);
    *result = A;
    return status;
}

/* ---- posv ------------------------------------------------------------------------------------ */

static const int posv_orders[] = {1,  4,  5,  8,  9,  12, 13, 16, 17, 20, 21, 24,
                                  25, 28, 29, 32, 33, 40, 41, 48, 49, 64, 65, 0};

/* Forms: both triangles with one right-hand side, then with some, more than fit a pass or fewer. */
static batchlas_status_t run_posv(const subject_t *subject, bool judged, matrices_t *result) {
    const int n = subject->n;
    const int nrhs = subject->form / 2 ? (n % 2 ? 3 : 6) : 1;
    const batchlas_uplo_t uplo = triangles[subject->form % 2];
    const int64_t batch = n <= 9 ? 37 : 13;
    spd_t *s = potrf_matrices(subject->type, n);
    systems_t systems = systems_make(s, nrhs, (uint64_t)n);
    matrices_t A = matrices_make(subject->type, n, n, batch, PADDED, triangle_of(uplo));
    matrices_t B = matrices_make(subject->type, n, nrhs, batch, PADDED, ALL);
    A.real_diagonal = scalar_is_complex(subject->type);
    matrices_fill(&A, SENTINEL);
    matrices_fill(&B, SENTINEL);
    spd_set(s, &A);
    systems_set(&systems, &B);
    matrices_put(&A);
    matrices_put(&B);
    ints_t info = ints_make(batch);
    const call_t posv = {.routine = POSV,
                         .p = {.type = subject->type,
                               .uplo = uplo,
                               .n = n,
                               .nrhs = nrhs,
                               .A = matrices_strided(&A),
                               .B = matrices_strided(&B),
                               .info = info.device,
                               .batch = batch}};
    const batchlas_status_t status = call(suite_handle(), &posv);
    matrices_get(&A);
    matrices_get(&B);
    ints_get(&info);
    if (status == BATCHLAS_SUCCESS && judged) {
        int *expected = spd_infos(s, batch);
        suite_expect(padding_is_untouched(&A));
        suite_expect(padding_is_untouched(&B));
        suite_expect(ints_are(&info, expected));
        suite_expect(factors_are_right(&A, uplo, s));
        suite_expect(solutions_are_right(&B, &systems));
        for (int64_t i = 0; i < batch; ++i)
            if (expected[i])
                suite_expect(item_is_untouched(&B, i));
        free(expected);
    }
    matrices_free(&A);
    ints_free(&info);
    systems_free(&systems);
    *result = B;
    return status;
}

/* ---- gemm, syrk and herk --------------------------------------------------------------------- */

/* Around the tiles. */
static const int product_orders[] = {1, 5, 31, 32, 33, 63, 64, 65, 100, 0};

static const batchlas_op_t ops[] = {BATCHLAS_NO_TRANS, BATCHLAS_TRANS, BATCHLAS_CONJ_TRANS};
static const wide_t beta = {-0.5L, 0};
enum { PRODUCTS = 3 };

static void judge_product(const call_t *c, batchlas_op_t opa, batchlas_op_t opb,
                          const matrices_t *A, const matrices_t *B, uint64_t seed_c,
                          const matrices_t *C) {
    const size_t area = (size_t)C->rows * (size_t)C->columns;
    const wide_t alpha = {c->p.alpha[0], c->p.alpha[1]};
    wide_t *a = host_alloc((size_t)A->rows * (size_t)A->columns, sizeof *a);
    wide_t *b = host_alloc((size_t)B->rows * (size_t)B->columns, sizeof *b);
    wide_t *expected = host_alloc(area, sizeof *expected);
    long double *magnitude = host_alloc(area, sizeof *magnitude);
    suite_expect(padding_is_untouched(C));
    for (int i = 0; i < PRODUCTS; ++i) {
        if (c->p.skip && is_passed_over(i)) {
            suite_expect(item_is_untouched(C, i));
            continue;
        }
        matrices_item(A, i, a);
        matrices_item(B, i, b);
        generate_dense(C->type, C->rows, C->columns, seed_c + (uint64_t)i, expected);
        for (int j = 0; j < (C->region == ALL ? 0 : C->rows); ++j)
            expected[j * (C->rows + 1)].im = 0; /* what stands there does not count */
        reference_gemm(opa, opb, C->rows, C->columns, c->p.k, alpha, a, b, beta, expected,
                       magnitude);
        suite_expect(elements_are_near(C, i, expected, magnitude, c->p.k + 4));
    }
    free(a);
    free(b);
    free(expected);
    free(magnitude);
}

/* Forms: every pair of ops by the public call, then one with items passed over. */
static batchlas_status_t run_gemm(const subject_t *subject, bool judged, matrices_t *result) {
    const bool skips = subject->form == COUNT(ops) * COUNT(ops);
    const batchlas_op_t opa = ops[subject->form / COUNT(ops) % COUNT(ops)];
    const batchlas_op_t opb = ops[subject->form % COUNT(ops)];
    const int m = subject->n, n = subject->n + 3, k = subject->n / 2 + 9;
    const bool a_plain = opa == BATCHLAS_NO_TRANS, b_plain = opb == BATCHLAS_NO_TRANS;
    matrices_t A =
        matrices_dense(subject->type, a_plain ? m : k, a_plain ? k : m, PRODUCTS, PADDED, ALL, 1);
    matrices_t B =
        matrices_dense(subject->type, b_plain ? k : n, b_plain ? n : k, PRODUCTS, PADDED, ALL, 11);
    matrices_t C = matrices_dense(subject->type, m, n, PRODUCTS, PADDED, ALL, 21);
    ints_t skip = passed_over(PRODUCTS);
    const call_t gemm = {.routine = GEMM,
                         .p = {.type = subject->type,
                               .op_a = opa,
                               .op_b = opb,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = {0.75, scalar_is_complex(subject->type) ? 0.25 : 0},
                               .beta = {(double)beta.re, 0},
                               .A = matrices_strided(&A),
                               .B = matrices_strided(&B),
                               .C = matrices_strided(&C),
                               .skip = skips ? skip.device : NULL,
                               .batch = PRODUCTS}};
    const batchlas_status_t status =
        skips ? launch(subject->family, &gemm.p) : call(suite_handle(), &gemm);
    matrices_get(&A);
    matrices_get(&B);
    matrices_get(&C);
    if (status == BATCHLAS_SUCCESS && judged)
        judge_product(&gemm, opa, opb, &A, &B, 21, &C);
    matrices_free(&A);
    matrices_free(&B);
    ints_free(&skip);
    *result = C;
    return status;
}

/* Forms: both triangles, plain and transposed, by the public call, then one with items passed
 * over. */
static batchlas_status_t run_syrk(const subject_t *subject, bool judged, matrices_t *result) {
    const bool skips = subject->form == 4;
    const batchlas_uplo_t uplo = triangles[subject->form % 2];
    const bool plain = subject->form / 2 % 2 == 0;
    const batchlas_op_t other =
        scalar_is_complex(subject->type) ? BATCHLAS_CONJ_TRANS : BATCHLAS_TRANS;
    const int n = subject->n, k = subject->n / 2 + 9;
    matrices_t A =
        matrices_dense(subject->type, plain ? n : k, plain ? k : n, PRODUCTS, PADDED, ALL, 1);
    matrices_t C = matrices_dense(subject->type, n, n, PRODUCTS, PADDED, triangle_of(uplo), 21);
    ints_t skip = passed_over(PRODUCTS);
    const call_t syrk = {.routine = SYRK,
                         .p = {.type = subject->type,
                               .uplo = uplo,
                               .op_a = plain ? BATCHLAS_NO_TRANS : other,
                               .n = n,
                               .k = k,
                               .alpha = {0.75, 0},
                               .beta = {(double)beta.re, 0},
                               .A = matrices_strided(&A),
                               .C = matrices_strided(&C),
                               .skip = skips ? skip.device : NULL,
                               .batch = PRODUCTS}};
    const batchlas_status_t status =
        skips ? launch(subject->family, &syrk.p) : call(suite_handle(), &syrk);
    matrices_get(&A);
    matrices_get(&C);
    if (status == BATCHLAS_SUCCESS && judged)
        judge_product(&syrk, plain ? BATCHLAS_NO_TRANS : other, plain ? other : BATCHLAS_NO_TRANS,
                      &A, &A, 21, &C);
    matrices_free(&A);
    ints_free(&skip);
    *result = C;
    return status;
}

/* ---- potrs ----------------------------------------------------------------------------------- */

/* Around every order at which the families change their geometry, or end. */
static const int potrs_orders[] = {1,  7,  8,  9,  15, 16, 17,  24,  31,  32,  33,  47,  48, 49,
                                   63, 64, 65, 95, 96, 97, 127, 128, 129, 160, 192, 257, 0};

/* Every way through the families, by the number of right-hand sides: one, few in two parts, a strip
 * that is not full, and more than one strip. */
static const int widths[] = {1, 6, 13, 70};

/* Kept, like potrf's matrices. */
static spd_t *potrs_factors(scalar_type_t type, int n) {
    static spd_t made[4 * COUNT(probes)];
    static int next;
    for (int i = 0; i < COUNT(made); ++i)
        if (made[i].A && made[i].type == type && made[i].n == n)
            return &made[i];
    spd_t *const s = &made[next++ % COUNT(made)];
    const kind_t kinds[] = {RANDOM_CONDITION_2, GRAM, MATERN};
    if (s->A)
        spd_free(s);
    *s = spd_make(type, n, COUNT(kinds), kinds, COUNT(kinds), (uint64_t)n);
    spd_round_factors(s);
    return s;
}

/* Forms: both triangles and every width by the public call, then with items passed over. */
static batchlas_status_t run_potrs(const subject_t *subject, bool judged, matrices_t *result) {
    const int n = subject->n;
    const batchlas_uplo_t uplo = triangles[subject->form % 2];
    const bool skips = subject->form >= 2 * COUNT(widths);
    const int nrhs = widths[subject->form / 2 % COUNT(widths)];
    /* Blocks full of small items, and a block that is not, where a family has such blocks. */
    const bool alone = strcmp(subject->family->spelling, "stream") == 0;
    const int64_t batch = alone || nrhs > 6 || n > 33 ? 3 : n <= 9 ? 37 : 13;
    /* Without padding these columns begin where a copy of sixteen bytes may. */
    const layout_t layout = n % 8 == 0 && subject->form / 2 % 2 == 0 ? TIGHT : PADDED;
    spd_t *s = potrs_factors(subject->type, n);
    systems_t systems = systems_make(s, nrhs, (uint64_t)n + 1);
    matrices_t A = matrices_make(subject->type, n, n, batch, layout, triangle_of(uplo));
    matrices_t B = matrices_make(subject->type, n, nrhs, batch, layout, ALL);
    A.real_diagonal = scalar_is_complex(subject->type);
    matrices_fill(&A, POISON);
    matrices_fill(&B, SENTINEL);
    spd_set_factors(s, uplo, &A);
    systems_set(&systems, &B);
    matrices_put(&A);
    matrices_put(&B);
    ints_t skip = passed_over(batch);
    const call_t potrs = {.routine = POTRS,
                          .p = {.type = subject->type,
                                .uplo = uplo,
                                .n = n,
                                .nrhs = nrhs,
                                .A = matrices_strided(&A),
                                .B = matrices_strided(&B),
                                .skip = skips ? skip.device : NULL,
                                .real_diagonal = true,
                                .batch = batch}};
    const batchlas_status_t status =
        skips ? launch(subject->family, &potrs.p) : call(suite_handle(), &potrs);
    matrices_get(&A);
    matrices_get(&B);
    if (status == BATCHLAS_SUCCESS && judged) {
        suite_expect(matrices_are_untouched(&A));
        suite_expect(padding_is_untouched(&B));
        for (int64_t i = 0; i < batch && skips; ++i)
            if (is_passed_over(i))
                suite_expect(item_is_untouched(&B, i));
        if (!skips)
            suite_expect(solutions_are_right(&B, &systems));
    }
    matrices_free(&A);
    ints_free(&skip);
    systems_free(&systems);
    *result = B;
    return status;
}

/* ---- trsm ------------------------------------------------------------------------------------ */

/* Around a panel, and around the largest order of one launch. */
static const int trsm_orders[] = {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 96, 100, 128, 0};

static const batchlas_side_t sides[] = {BATCHLAS_LEFT, BATCHLAS_RIGHT};
enum { SOLVES = 3, COMBINATIONS = COUNT(sides) * COUNT(triangles) * COUNT(ops) };
enum { LOWER_PANEL = COMBINATIONS, UPPER_PANEL, TRSM_FORMS, PANEL_THAT_SKIPS = TRSM_FORMS };

/* A diagonal of modulus 1 and more dominates off-diagonal elements that shrink with the order. */
static void generate_triangle(const problem_t *p, int n, uint64_t seed, wide_t *A) {
    generate_dense(p->type, n, n, seed, A);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            wide_t *a = &A[i + j * n];
            if (i == j)
                *a = p->diag == BATCHLAS_UNIT
                         ? (wide_t){1, 0}
                         : round_to(p->type, (wide_t){a->re + (a->re < 0 ? -1 : 1),
                                                      p->real_diagonal ? 0 : a->im});
            else if (p->uplo == BATCHLAS_LOWER ? i > j : i < j)
                *a = round_to(p->type, (wide_t){a->re / n, a->im / n});
            else
                *a = (wide_t){0, 0};
        }
}

static bool is_single(scalar_type_t type) {
    return type == TYPE_S || type == TYPE_C;
}

static void generate_sides(const matrices_t *B, double scale, uint64_t seed, wide_t *item) {
    generate_dense(B->type, B->rows, B->columns, seed, item);
    for (int e = 0; e < B->rows * B->columns; ++e)
        item[e] = round_to(B->type, (wide_t){item[e].re * scale, item[e].im * scale});
}

/* op(A) X - alpha B, or X op(A) - alpha B, is within the roundings of a substitution. */
static void judge_solve(const call_t *c, uint64_t seed_a, uint64_t seed_b, double scale,
                        const matrices_t *X) {
    const bool left = c->p.side == BATCHLAS_LEFT;
    const int n = left ? c->p.m : c->p.n;
    const size_t area = (size_t)X->rows * (size_t)X->columns;
    const wide_t one = {1, 0}, minus_alpha = {-c->p.alpha[0], -c->p.alpha[1]};
    wide_t *A = host_alloc((size_t)n * (size_t)n, sizeof *A);
    wide_t *x = host_alloc(area, sizeof *x);
    wide_t *residual = host_alloc(area, sizeof *residual);
    long double *magnitude = host_alloc(area, sizeof *magnitude);
    suite_expect(padding_is_untouched(X));
    for (int64_t i = 0; i < X->batch; ++i) {
        if (c->p.skip && is_passed_over(i)) {
            suite_expect(item_is_untouched(X, i));
            continue;
        }
        generate_triangle(&c->p, n, seed_a + (uint64_t)i, A);
        generate_sides(X, scale, seed_b + (uint64_t)i, residual);
        matrices_item(X, i, x);
        reference_gemm(left ? c->p.op_a : BATCHLAS_NO_TRANS, left ? BATCHLAS_NO_TRANS : c->p.op_a,
                       X->rows, X->columns, n, one, left ? A : x, left ? x : A, minus_alpha,
                       residual, magnitude);
        const long double eps = 8 * (n + 2) * unit_roundoff(X->type);
        const long double least = is_single(X->type) ? (n + 2) * 0x1p-150L : 0; /* of denormals */
        for (size_t e = 0; e < area; ++e) {
            const long double size = fabsl(residual[e].re) + fabsl(residual[e].im);
            if (!(size <= eps * magnitude[e] + least))
                suite_fail("item %lld, element %zu: the residual is %Lg, above %Lg", (long long)i,
                           e, size, eps * magnitude[e] + least);
        }
    }
    free(A);
    free(x);
    free(residual);
    free(magnitude);
}

/* Forms: every side, triangle and op by the public call, with both diagonals and several widths
 * among them; then the two solves of potrf's panels, and one of these with items passed over and a
 * diagonal that is real. */
static batchlas_status_t run_trsm(const subject_t *subject, bool judged, matrices_t *result) {
    const int form = subject->form, n = subject->n;
    const bool panel = form >= COMBINATIONS, skips = form == PANEL_THAT_SKIPS;
    const bool left = panel ? form == UPPER_PANEL : form % COUNT(sides) == 0;
    const batchlas_uplo_t uplo =
        panel ? triangles[form == UPPER_PANEL] : triangles[form / COUNT(sides) % COUNT(triangles)];
    const batchlas_op_t op =
        panel ? BATCHLAS_CONJ_TRANS : ops[form / (COUNT(sides) * COUNT(triangles)) % COUNT(ops)];
    const bool unit = !panel && form % 5 == 1;
    const int count = (int[]){5, 40, 70, 131}[(form + form / 4) % 4];
    const region_t region = !unit                    ? triangle_of(uplo)
                            : uplo == BATCHLAS_LOWER ? STRICT_LOWER_TRIANGLE
                                                     : STRICT_UPPER_TRIANGLE;
    matrices_t A = matrices_make(subject->type, n, n, SOLVES, PADDED, region);
    matrices_t B =
        matrices_make(subject->type, left ? n : count, left ? count : n, SOLVES, PADDED, ALL);
    ints_t skip = passed_over(SOLVES);
    const call_t trsm = {
        .routine = TRSM,
        .p = {.type = subject->type,
              .side = sides[!left],
              .uplo = uplo,
              .op_a = op,
              .diag = unit ? BATCHLAS_UNIT : BATCHLAS_NON_UNIT,
              .m = B.rows,
              .n = B.columns,
              .alpha = {panel ? 1 : 0.75, !panel && scalar_is_complex(subject->type) ? 0.25 : 0},
              .A = matrices_strided(&A),
              .B = matrices_strided(&B),
              .skip = skips ? skip.device : NULL,
              .real_diagonal = skips,
              .batch = SOLVES}};
    /* Floats of which tensor cores would not know all bits. */
    const double scale = form == LOWER_PANEL && is_single(subject->type) ? 0x1p-124 : 1;
    wide_t *side = host_alloc((size_t)B.rows * (size_t)B.columns, sizeof *side);
    matrices_fill(&B, SENTINEL);
    for (int i = 0; i < SOLVES; ++i) {
        generate_sides(&B, scale, 11 + (uint64_t)i, side);
        matrices_set(&B, i, side);
    }
    free(side);
    matrices_put(&B);
    wide_t *triangle = host_alloc((size_t)n * (size_t)n, sizeof *triangle);
    A.real_diagonal = skips && scalar_is_complex(subject->type);
    matrices_fill(&A, POISON);
    for (int i = 0; i < SOLVES; ++i) {
        generate_triangle(&trsm.p, n, 1 + (uint64_t)i, triangle);
        matrices_set(&A, i, triangle);
    }
    free(triangle);
    matrices_put(&A);
    const batchlas_status_t status =
        skips ? launch(subject->family, &trsm.p) : call(suite_handle(), &trsm);
    matrices_get(&A);
    matrices_get(&B);
    if (status == BATCHLAS_SUCCESS && judged) {
        suite_expect(matrices_are_untouched(&A));
        judge_solve(&trsm, 1, 11, scale, &B);
    }
    matrices_free(&A);
    ints_free(&skip);
    *result = B;
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

enum { OF_POTRF, OF_POSV, OF_GEMM, OF_SYRK, OF_POTRS, OF_TRSM };
static const subject_kind_t kinds[] = {
    [OF_POTRF] = {&batchlas_potrf_operation, 4, 2, potrf_orders, 260, run_potrf},
    [OF_POSV] = {&batchlas_posv_operation, 4, 4, posv_orders, 33, run_posv},
    [OF_GEMM] = {&batchlas_gemm_operation, 10, 9, product_orders, 70, run_gemm},
    [OF_SYRK] = {&batchlas_syrk_operation, 5, 4, product_orders, 70, run_syrk},
    [OF_POTRS] = {&batchlas_potrs_operation, 4 * COUNT(widths), 2 * COUNT(widths), potrs_orders,
                  130, run_potrs},
    [OF_TRSM] = {&batchlas_trsm_operation, TRSM_FORMS + 1, TRSM_FORMS, trsm_orders, 70, run_trsm},
};

/* A family of kernels of its own, not one that is composed of others' or of target regions. */
static bool has_kernels(const family_t *family) {
    return family->place == ON_GPU && family->origin == NATIVE;
}

static const char *name_of(const subject_kind_t *kind, const subject_t *subject) {
    static char name[128];
    snprintf(name, sizeof name, "%c%s %s, form %d, n %d", scalar_letter(subject->type),
             kind->operation->name, subject->family->spelling, subject->form, subject->n);
    return name;
}

/* On few multiprocessors large tiles pay, on many small ones, on 9 the middle one of some orders;
 * on none no shape is better than the first. All have their turn. */
static batchlas_status_t run_somewhere(const subject_kind_t *kind, const subject_t *subject,
                                       bool judged, matrices_t *result) {
    static const int multiprocessors[] = {132, 0, 1, 9};
    suite_handle()->facts.multiprocessors =
        multiprocessors[(subject->form + subject->n + subject->turn) % COUNT(multiprocessors)];
    suite_setenv(kind->operation->pin_variable, subject->family->spelling);
    return kind->run(subject, judged, result);
}

/* False where the family refuses the problem. */
static bool run(const subject_kind_t *kind, const subject_t *subject, bool judged,
                matrices_t *result) {
    const batchlas_status_t status = run_somewhere(kind, subject, judged, result);
    if (status == BATCHLAS_SUCCESS)
        return true;
    matrices_free(result);
    if (status != BATCHLAS_ROUTE_UNAVAILABLE)
        suite_fail("%s\n%s", batchlas_last_error(suite_handle()),
                   simulation_fault() ? simulation_fault() : "");
    return false;
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* Up to SMALL all schedules and forms, up to LARGE one besides the first and the public forms
 * alone; the extended run knows no difference. */
enum { SMALL = 33, LARGE = 193 };

static const schedule_t schedules[] = {{.order = RANDOM, .seed = 1},
                                       {.order = BACKWARDS},
                                       {.order = WARP_AHEAD, .warp = 1},
                                       {.order = WARP_BEHIND},
                                       {.order = WARP_BEHIND, .warp = 1}};

static void compare_schedules(const subject_kind_t *kind, const subject_t *subject) {
    matrices_t first, other;
    suite_case("%s", name_of(kind, subject));
    simulation_schedule((schedule_t){.order = ROUND_ROBIN});
    if (!run(kind, subject, true, &first))
        return;
    const int count = subject->n <= SMALL || suite_extended() ? COUNT(schedules) : 1;
    for (int i = 0; i < count; ++i) {
        simulation_schedule(schedules[i]);
        suite_case("%s, %s", name_of(kind, subject), schedule_name(schedules[i]));
        subject_t again = *subject;
        again.turn = i + 1;
        if (!run(kind, &again, false, &other))
            suite_fail("what ran once is refused");
        suite_expect(items_agree(&first, &other, NULL));
        matrices_free(&other);
    }
    matrices_free(&first);
}

static void compare_all(const subject_kind_t *kind) {
    const bool extended = suite_extended();
    EACH(type, types)
    for (const int *n = kind->orders; *n && (*n <= LARGE || extended); ++n)
        for (int f = 0; f < kind->operation->family_count; ++f) {
            const family_t *family = &kind->operation->families[f];
            const int forms = *n <= SMALL || extended ? kind->forms : kind->called;
            for (int form = 0; form < forms && has_kernels(family); ++form)
                compare_schedules(kind, &(subject_t){family, types[type_index], form, *n, 0});
        }
}

static void schedules_do_not_matter_to_potrf(void **state) {
    (void)state;
    compare_all(&kinds[OF_POTRF]);
}

static void schedules_do_not_matter_to_posv(void **state) {
    (void)state;
    compare_all(&kinds[OF_POSV]);
}

static void schedules_do_not_matter_to_gemm(void **state) {
    (void)state;
    compare_all(&kinds[OF_GEMM]);
}

static void schedules_do_not_matter_to_syrk(void **state) {
    (void)state;
    compare_all(&kinds[OF_SYRK]);
}

static void schedules_do_not_matter_to_potrs(void **state) {
    (void)state;
    compare_all(&kinds[OF_POTRS]);
}

static void schedules_do_not_matter_to_trsm(void **state) {
    (void)state;
    compare_all(&kinds[OF_TRSM]);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Whether the kernels of the family are in `unit`, "potrf_lpanel.cu"; a family is of no other. */
static bool is_from(const char *unit, const subject_kind_t *kind, const family_t *family) {
    char name[64];
    snprintf(name, sizeof name, "%s_%.*s.cu", kind->operation->name,
             (int)strcspn(family->spelling, ":"), family->spelling);
    return !strcmp(unit, name);
}

/* Calls visit for the probes of every family that has kernels, or of those of one unit's that
 * SIMULATION_UNIT names, until it returns true. */
static bool for_probes(bool (*visit)(const subject_kind_t *, const subject_t *, void *),
                       void *argument) {
    const char *unit = getenv("SIMULATION_UNIT");
    EACH(probe, probes)
    EACH(kind, kinds)
    EACH(type, types)
    for (int f = 0; f < kinds[kind_index].operation->family_count; ++f)
        for (int form = 0; form < kinds[kind_index].forms; ++form) {
            const subject_kind_t *kind = &kinds[kind_index];
            const subject_t subject = {&kind->operation->families[f], types[type_index], form,
                                       probes[probe_index], 0};
            if (has_kernels(subject.family) && subject.n <= kind->largest_probe &&
                (!unit || is_from(unit, kind, subject.family)) && visit(kind, &subject, argument))
                return true;
        }
    return false;
}

static bool judge_probe(const subject_kind_t *kind, const subject_t *subject, void *argument) {
    (void)argument;
    matrices_t result;
    suite_case("%s", name_of(kind, subject));
    if (run(kind, subject, true, &result))
        matrices_free(&result);
    return false;
}

/* What planted defects have to get past. */
static void probes_are_right(void **state) {
    (void)state;
    simulation_schedule((schedule_t){.order = WARP_BEHIND});
    for_probes(judge_probe, NULL);
}

/* The probes in their order, and the barrier that is taken away. */
typedef struct {
    int number;
    const barrier_t *without;
} count_t;

static bool judge_numbered(const subject_kind_t *kind, const subject_t *subject, void *argument) {
    count_t *count = argument;
    simulation_begin_run(++count->number);
    return judge_probe(kind, subject, NULL);
}

/* Whether a fault ends the call. Probes that do not meet the barrier are what they were. */
static bool is_missed_by(const subject_kind_t *kind, const subject_t *subject, void *argument) {
    count_t *count = argument;
    if (!simulation_met(count->without, ++count->number))
        return false;
    matrices_t result;
    run_somewhere(kind, subject, false, &result);
    matrices_free(&result);
    return simulation_fault_kind() != NULL;
}

/* Barriers in the source, as "potrf_tiny.cu:123\n", in the order of files and lines. */
static char *barriers_of_the_source(void) {
    FILE *pipe =
        popen("cd " CUDA_KERNELS " && grep -noE "
              "'(block_barrier|group_barrier|warp_barrier|copies_arrive|groups_arrive|wait_for)"
              "(<[a-z0-9_, ]+>)?\\([^;]*\\);' "
              "*.cu *.cuh | grep -v '^device.cuh' | cut -d: -f1,2 | LC_ALL=C sort -t: -k1,1 -k2,2n",
              "r");
    char *text = host_alloc(1 << 16, 1);
    if (!pipe || fread(text, 1, (1 << 16) - 1, pipe) == 0 || pclose(pipe))
        suite_fail("the kernels' sources cannot be searched");
    return text;
}

static void every_barrier_is_needed(void **state) {
    (void)state;
    char *const expected = barriers_of_the_source();
    char *const met = host_alloc(strlen(expected) + 4096, 1);
    simulation_schedule((schedule_t){.order = ROUND_ROBIN});
    for_probes(judge_numbered, &(count_t){0});
    simulation_begin_run(0);
    const barrier_t *barrier;
    for (int i = 0; (barrier = simulation_barrier(i)); ++i) {
        const barrier_t without = *barrier;
        char line[256];
        snprintf(line, sizeof line, "%s:%d\n", without.file, without.line);
        if (!strstr(met, line)) /* one line is a barrier of lanes here, of warps there */
            strcat(met, line);
        suite_case("%s:%d, a barrier for %s", without.file, without.line, without.kind);
        simulation_remove_barrier(&without);
        if (!for_probes(is_missed_by, &(count_t){.without = &without}))
            suite_fail("nothing goes wrong without it");
        simulation_remove_barrier(NULL);
        printf("%s:%d %s: %s\n", without.file, without.line, without.kind, simulation_fault_kind());
        simulation_forget_fault();
    }
    suite_case("%s", "");
    if (strcmp(met, expected))
        suite_fail("the probes met the barriers\n%swhere the source has\n%s", met, expected);
    free(met);
    free(expected);
}

static const struct CMUnitTest tests[] = {
    suite_test(schedules_do_not_matter_to_potrf),
    suite_test(schedules_do_not_matter_to_posv),
    suite_test(schedules_do_not_matter_to_gemm),
    suite_test(schedules_do_not_matter_to_syrk),
    suite_test(schedules_do_not_matter_to_potrs),
    suite_test(schedules_do_not_matter_to_trsm),
    suite_test(probes_are_right),
    suite_test(every_barrier_is_needed),
};

SUITE_MAIN("kernels", tests, GPU_ONLY)
