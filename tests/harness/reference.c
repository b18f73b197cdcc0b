/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/reference.h"

#include "harness/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const long double threshold = 30;

/* Whether `count` items of about `work` multiplications each are worth a team of threads: where the
 * machine is busy, gathering one costs more than small cases do. */
static bool is_much(int64_t count, double work) {
    return count > 1 && (double)count * work > 1e6;
}

static double cube(int n) {
    return (double)n * n * n;
}

static size_t at(int n, int row, int column) {
    return (size_t)row + (size_t)column * (size_t)n;
}

/* ---- arithmetic ---------------------------------------------------------------------------- */

wide_t wide_multiply(wide_t a, wide_t b) {
    return (wide_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static wide_t conjugate(wide_t a) {
    return (wide_t){a.re, -a.im};
}

static wide_t scaled(long double r, wide_t a) {
    return (wide_t){r * a.re, r * a.im};
}

static long double modulus(wide_t a) {
    return a.im == 0 ? fabsl(a.re) : sqrtl(a.re * a.re + a.im * a.im);
}

static long double modulus1(wide_t a) {
    return fabsl(a.re) + fabsl(a.im);
}

/* y -= x a, n elements. */
static void subtract_multiple(int n, wide_t a, const wide_t *x, wide_t *y) {
    if (a.im == 0) {
        /* The real types' case; the imaginary parts may still be there. */
        for (int i = 0; i < n; ++i) {
            y[i].re -= x[i].re * a.re;
            y[i].im -= x[i].im * a.re;
        }
        return;
    }
    for (int i = 0; i < n; ++i) {
        y[i].re -= x[i].re * a.re - x[i].im * a.im;
        y[i].im -= x[i].re * a.im + x[i].im * a.re;
    }
}

/* The larger, or NaN if either is. */
static long double larger(long double a, long double b) {
    return isnan(a) || a > b ? a : b;
}

long double norm1(int rows, int columns, const wide_t *A) {
    long double norm = 0;
    for (int j = 0; j < columns; ++j) {
        long double sum = 0;
        for (int i = 0; i < rows; ++i)
            sum += modulus(A[at(rows, i, j)]);
        norm = larger(norm, sum);
    }
    return norm;
}

/* ---- random numbers ------------------------------------------------------------------------- */

/* In [-1, 1). */
static long double uniform(uint64_t *state) {
    return (long double)(int64_t)random_next(state) * 0x1p-63L;
}

static wide_t random_element(scalar_type_t type, uint64_t *state) {
    const long double re = uniform(state);
    return (wide_t){re, scalar_is_complex(type) ? uniform(state) : 0};
}

/* Streams of neighbouring seeds are unrelated. */
static uint64_t stream(uint64_t seed) {
    uint64_t state = seed * 0x2545f4914f6cdd1du + 1;
    return random_next(&state);
}

/* ---- matrices ------------------------------------------------------------------------------ */

/* Rounds the lower triangle and mirrors it. */
static void make_hermitian(scalar_type_t type, int n, wide_t *A) {
    for (int j = 0; j < n; ++j) {
        A[at(n, j, j)] = round_to(type, (wide_t){A[at(n, j, j)].re, 0});
        for (int i = j + 1; i < n; ++i) {
            A[at(n, i, j)] = round_to(type, A[at(n, i, j)]);
            A[at(n, j, i)] = conjugate(A[at(n, i, j)]);
        }
    }
}

/* A := H A H with H = I - 2 v v^H / v^H v and a random v. */
static void reflect(scalar_type_t type, int n, uint64_t *state, wide_t *A, wide_t *v, wide_t *w) {
    long double length = 0;
    for (int i = 0; i < n; ++i) {
        v[i] = random_element(type, state);
        length += v[i].re * v[i].re + v[i].im * v[i].im;
        w[i] = (wide_t){0, 0};
    }
    const long double tau = 2 / length;
    for (int j = 0; j < n; ++j)
        subtract_multiple(n, scaled(-tau, v[j]), &A[at(n, 0, j)], w);
    long double half = 0; /* v^H A v is real */
    for (int i = 0; i < n; ++i)
        half += v[i].re * w[i].re + v[i].im * w[i].im;
    half *= tau / 2;
    for (int i = 0; i < n; ++i) {
        w[i].re -= half * v[i].re;
        w[i].im -= half * v[i].im;
    }
    for (int j = 0; j < n; ++j) {
        subtract_multiple(n, conjugate(w[j]), v, &A[at(n, 0, j)]);
        subtract_multiple(n, conjugate(v[j]), w, &A[at(n, 0, j)]);
    }
}

/* Eigenvalues from norm down to norm / condition in even ratios, and unless `diagonal`, a unitary
 * similarity. */
static void with_condition(scalar_type_t type, int n, long double norm, long double condition,
                           bool diagonal, uint64_t *state, wide_t *A) {
    enum { REFLECTIONS = 4 };
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n; ++i)
        A[at(n, i, i)].re = norm * powl(condition, n > 1 ? -(long double)i / (n - 1) : 0);
    wide_t *v = host_alloc(2 * (size_t)n, sizeof *v);
    for (int r = 0; r < REFLECTIONS && !diagonal && n > 1; ++r)
        reflect(type, n, state, A, v, v + n);
    free(v);
}

static void gram(scalar_type_t type, int n, uint64_t *state, wide_t *A) {
    const int k = n < 16 ? n : 16;
    wide_t *G = host_alloc((size_t)n * (size_t)k, sizeof *G);
    for (int i = 0; i < n * k; ++i)
        G[i] = random_element(type, state);
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int j = 0; j < n; ++j) {
        for (int p = 0; p < k; ++p)
            subtract_multiple(n, scaled(-1.0L / k, conjugate(G[at(n, j, p)])), &G[at(n, 0, p)],
                              &A[at(n, 0, j)]);
        A[at(n, j, j)].re += 0.25L;
    }
    free(G);
}

/* (1 + d) exp(-d) of the scaled distance d, with a nugget; unit phases make it complex. */
static void matern(scalar_type_t type, int n, uint64_t *state, wide_t *A) {
    const long double range = 0.3L, nugget = 0.01L;
    long double *x = host_alloc(3 * (size_t)n, sizeof *x);
    for (int i = 0; i < 3 * n; ++i)
        x[i] = uniform(state);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const long double distance =
                sqrtl(3) * hypotl(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]) / (2 * range);
            const long double phase =
                scalar_is_complex(type) ? 3.14159265L * (x[3 * i + 2] - x[3 * j + 2]) : 0;
            const long double value = (1 + distance) * expl(-distance) + (i == j ? nugget : 0);
            A[at(n, i, j)] = (wide_t){value * cosl(phase), value * sinl(phase)};
        }
    free(x);
}

static void zero_row_and_column(int n, int index, wide_t *A) {
    for (int i = 0; i < n; ++i)
        A[at(n, i, index)] = A[at(n, index, i)] = (wide_t){0, 0};
}

void generate(kind_t kind, scalar_type_t type, int n, uint64_t seed, wide_t *A) {
    const bool single = type == TYPE_S || type == TYPE_C;
    const long double eps = unit_roundoff(type);
    const long double tiny = (single ? 0x1p-126L : 0x1p-1022L) / (2 * eps) / 4;
    uint64_t state = stream(seed);
    switch (kind) {
    case DIAGONAL:
        with_condition(type, n, 1, 2, true, &state, A);
        break;
    case RANDOM_CONDITION_2:
    case ZERO_FIRST:
    case ZERO_LAST:
    case ZERO_MIDDLE:
        with_condition(type, n, 1, 2, false, &state, A);
        break;
    case CONDITION_ROOT:
        with_condition(type, n, 1, sqrtl(0.1L / eps), false, &state, A);
        break;
    case CONDITION_BAD:
        with_condition(type, n, 1, 0.1L / eps, false, &state, A);
        break;
    case NEAR_UNDERFLOW:
        with_condition(type, n, tiny, 2, false, &state, A);
        break;
    case NEAR_OVERFLOW:
        with_condition(type, n, 1 / tiny, 2, false, &state, A);
        break;
    case GRAM:
        gram(type, n, &state, A);
        break;
    case MATERN:
    case KIND_COUNT:
        matern(type, n, &state, A);
        break;
    }
    make_hermitian(type, n, A);
    if (kind == ZERO_FIRST || kind == ZERO_LAST || kind == ZERO_MIDDLE)
        zero_row_and_column(n, kind == ZERO_FIRST ? 0 : kind == ZERO_LAST ? n - 1 : n / 2, A);
}

void generate_dense(scalar_type_t type, int rows, int columns, uint64_t seed, wide_t *M) {
    uint64_t state = stream(seed);
    for (int64_t i = 0; i < (int64_t)rows * columns; ++i)
        M[i] = round_to(type, random_element(type, &state));
}

matrices_t matrices_dense(scalar_type_t type, int rows, int columns, int64_t batch, layout_t layout,
                          region_t region, uint64_t seed) {
    matrices_t M = matrices_make(type, rows, columns, batch, layout, region);
    wide_t *values = host_alloc((size_t)rows * (size_t)columns, sizeof *values);
    matrices_fill(&M, SENTINEL);
    for (int64_t i = 0; i < batch; ++i) {
        generate_dense(type, rows, columns, seed + (uint64_t)i, values);
        matrices_set(&M, i, values);
    }
    free(values);
    matrices_put(&M);
    return M;
}

void plant_failure(scalar_type_t type, int n, wide_t *A, int p) {
    wide_t *pivot = &A[at(n, p, p)];
    if (p == 0) {
        pivot->re = -pivot->re;
        return;
    }
    const int order = p + 1;
    wide_t *L = host_alloc((size_t)order * (size_t)order, sizeof *L);
    for (int j = 0; j < order; ++j)
        for (int i = 0; i < order; ++i)
            L[at(order, i, j)] = A[at(n, i, j)];
    const long double old = pivot->re;
    reference_potrf(order, L);
    const long double last = L[at(order, p, p)].re;
    /* What the update takes away is old - last^2; half of that stays positive. */
    *pivot = round_to(type, (wide_t){(old - last * last) / 2, 0});
    free(L);
}

/* ---- references ---------------------------------------------------------------------------- */

int reference_potrf(int n, wide_t *A) {
    for (int j = 0; j < n; ++j) {
        wide_t *column = &A[at(n, 0, j)];
        memset(column, 0, (size_t)j * sizeof *column);
        column[j].im = 0;
        for (int k = 0; k < j; ++k)
            subtract_multiple(n - j, conjugate(A[at(n, j, k)]), &A[at(n, j, k)], column + j);
        const long double pivot = column[j].re;
        if (!(pivot > 0))
            return j + 1;
        const long double root = sqrtl(pivot);
        column[j] = (wide_t){root, 0};
        for (int i = j + 1; i < n; ++i) {
            column[i].re /= root;
            column[i].im /= root;
        }
    }
    return 0;
}

void reference_potrs(int n, int columns, const wide_t *L, wide_t *X) {
    for (int c = 0; c < columns; ++c) {
        wide_t *x = &X[at(n, 0, c)];
        for (int j = 0; j < n; ++j) {
            x[j] = scaled(1 / L[at(n, j, j)].re, x[j]);
            subtract_multiple(n - j - 1, x[j], &L[at(n, j, j)] + 1, x + j + 1);
        }
        for (int j = n - 1; j >= 0; --j) {
            for (int i = j + 1; i < n; ++i) {
                const wide_t product = wide_multiply(conjugate(L[at(n, i, j)]), x[i]);
                x[j].re -= product.re;
                x[j].im -= product.im;
            }
            x[j] = scaled(1 / L[at(n, j, j)].re, x[j]);
        }
    }
}

void reference_product(int n, const wide_t *L, wide_t *A) {
    for (int j = 0; j < n; ++j) {
        wide_t *column = &A[at(n, 0, j)];
        memset(column, 0, (size_t)n * sizeof *column);
        for (int k = 0; k <= j; ++k)
            subtract_multiple(n - j, scaled(-1, conjugate(L[at(n, j, k)])), &L[at(n, j, k)],
                              column + j);
    }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < j; ++i)
            A[at(n, i, j)] = conjugate(A[at(n, j, i)]);
}

/* Element (i, j) of op(A), A having `ld` rows. */
static wide_t op_element(batchlas_op_t op, const wide_t *A, int ld, int i, int j) {
    const wide_t a = op == BATCHLAS_NO_TRANS ? A[at(ld, i, j)] : A[at(ld, j, i)];
    return op == BATCHLAS_CONJ_TRANS ? conjugate(a) : a;
}

void reference_gemm(batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k, wide_t alpha,
                    const wide_t *A, const wide_t *B, wide_t beta, wide_t *C,
                    long double *magnitude) {
    const int rows_a = opa == BATCHLAS_NO_TRANS ? m : k;
    const int rows_b = opb == BATCHLAS_NO_TRANS ? k : n;
    const bool multiplies = alpha.re != 0 || alpha.im != 0;
    const bool adds = beta.re != 0 || beta.im != 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            wide_t sum = {0, 0};
            long double size = 0;
            for (int p = 0; p < k && multiplies; ++p) {
                const wide_t a = op_element(opa, A, rows_a, i, p);
                const wide_t b = op_element(opb, B, rows_b, p, j);
                const wide_t product = wide_multiply(a, b);
                sum.re += product.re;
                sum.im += product.im;
                size += modulus1(a) * modulus1(b);
            }
            wide_t result = multiplies ? wide_multiply(alpha, sum) : (wide_t){0, 0};
            size *= modulus1(alpha);
            if (adds) {
                const wide_t kept = wide_multiply(beta, C[at(m, i, j)]);
                result.re += kept.re;
                result.im += kept.im;
                size += modulus1(beta) * modulus1(C[at(m, i, j)]);
            }
            C[at(m, i, j)] = result;
            magnitude[at(m, i, j)] = size;
        }
}

/* ---- problem sets -------------------------------------------------------------------------- */

wide_t *spd_matrix(const spd_t *s, int64_t item) {
    return s->A + (size_t)(item % s->distinct) * (size_t)s->n * (size_t)s->n;
}

static const wide_t *spd_reference(const spd_t *s, int64_t item) {
    return s->L + (size_t)(item % s->distinct) * (size_t)s->n * (size_t)s->n;
}

/* Its matrices are new. */
static void forget(spd_t *s) {
    s->has_condition = false;
    for (int t = 0; t < 2; ++t)
        memset(s->right[t], 0, (size_t)s->distinct * sizeof *s->right[t]);
}

void spd_factor(spd_t *s) {
    const size_t area = (size_t)s->n * (size_t)s->n;
    forget(s);
    memcpy(s->L, s->A, (size_t)s->distinct * area * sizeof *s->L);
#pragma omp parallel for schedule(dynamic) if (is_much(s->distinct, cube(s->n)))
    for (int i = 0; i < s->distinct; ++i)
        s->info[i] = reference_potrf(s->n, s->L + (size_t)i * area);
}

static spd_t spd_alloc(scalar_type_t type, int n, int distinct) {
    const size_t count = (size_t)distinct, elements = (size_t)n * (size_t)n * count;
    spd_t s = {.type = type, .n = n, .distinct = distinct};
    s.A = host_alloc(elements, sizeof *s.A);
    s.L = host_alloc(elements, sizeof *s.L);
    s.info = host_alloc(count, sizeof *s.info);
    s.kind = host_alloc(count, sizeof *s.kind);
    s.norm = host_alloc(count, sizeof *s.norm);
    s.rcond = host_alloc(count, sizeof *s.rcond);
    for (int t = 0; t < 2; ++t)
        s.right[t] = host_alloc(count, sizeof *s.right[t]);
    return s;
}

spd_t spd_make(scalar_type_t type, int n, int distinct, const kind_t *kinds, int kind_count,
               uint64_t seed) {
    spd_t s = spd_alloc(type, n, distinct);
#pragma omp parallel for schedule(dynamic) if (is_much(distinct, 16.0 * n * n))
    for (int i = 0; i < distinct; ++i) {
        s.kind[i] = kinds[i % kind_count];
        generate(s.kind[i], type, n, seed * 1000003u + (uint64_t)i, spd_matrix(&s, i));
    }
    spd_factor(&s);
    return s;
}

spd_t spd_repeat(const spd_t *s, int distinct) {
    const size_t area = (size_t)s->n * (size_t)s->n;
    spd_t many = spd_alloc(s->type, s->n, distinct);
    for (size_t i = 0; i < (size_t)distinct; ++i) {
        memcpy(many.A + i * area, s->A, area * sizeof *s->A);
        memcpy(many.L + i * area, s->L, area * sizeof *s->L);
        many.info[i] = s->info[0];
        many.kind[i] = s->kind[0];
    }
    return many;
}

void spd_round_factors(spd_t *s) {
    const size_t area = (size_t)s->n * (size_t)s->n;
    forget(s);
    for (size_t e = 0; e < (size_t)s->distinct * area; ++e)
        s->L[e] = round_to(s->type, s->L[e]);
    for (int i = 0; i < s->distinct; ++i)
        reference_product(s->n, s->L + (size_t)i * area, s->A + (size_t)i * area);
}

void spd_free(spd_t *s) {
    free(s->A);
    free(s->L);
    free(s->info);
    free(s->kind);
    free(s->norm);
    free(s->rcond);
    for (int t = 0; t < 2; ++t)
        free(s->right[t]);
    *s = (spd_t){0};
}

int *spd_infos(const spd_t *s, int64_t batch) {
    int *infos = host_alloc((size_t)batch, sizeof *infos);
    for (int64_t i = 0; i < batch; ++i)
        infos[i] = s->info[i % s->distinct];
    return infos;
}

/* A shared operand has one item to set. */
static int64_t items_to_set(const matrices_t *m) {
    return m->layout.shared && m->batch > 1 ? 1 : m->batch;
}

/* Of these, the ones that have to be converted: what follows repeats them. */
static int distinct_items(const matrices_t *m, const spd_t *s) {
    return items_to_set(m) < s->distinct ? (int)items_to_set(m) : s->distinct;
}

static void repeat_items(matrices_t *m, int distinct) {
#pragma omp parallel for if (is_much(m->batch, (double)m->rows * m->columns))
    for (int64_t i = distinct; i < items_to_set(m); ++i)
        matrices_repeat(m, i, i % distinct);
}

void spd_set(const spd_t *s, matrices_t *m) {
    const int distinct = distinct_items(m, s);
    for (int i = 0; i < distinct; ++i)
        matrices_set(m, i, spd_matrix(s, i));
    repeat_items(m, distinct);
}

void spd_set_factors(const spd_t *s, batchlas_uplo_t uplo, matrices_t *m) {
    const int n = s->n, distinct = distinct_items(m, s);
    wide_t *U = host_alloc((size_t)n * (size_t)n, sizeof *U);
    for (int item = 0; item < distinct; ++item) {
        const wide_t *L = spd_reference(s, item);
        for (int j = 0; j < n && uplo == BATCHLAS_UPPER; ++j)
            for (int i = j; i < n; ++i)
                U[at(n, j, i)] = conjugate(L[at(n, i, j)]);
        matrices_set(m, item, uplo == BATCHLAS_LOWER ? L : U);
    }
    free(U);
    repeat_items(m, distinct);
}

/* Norms and condition numbers, once for all right-hand sides. */
static void find_conditions(spd_t *s) {
    const int n = s->n;
    const size_t area = (size_t)n * (size_t)n;
    if (s->has_condition)
        return;
    wide_t *inverses = host_alloc(area * (size_t)s->distinct, sizeof *inverses);
#pragma omp parallel for schedule(dynamic) if (is_much(s->distinct, cube(n)))
    for (int i = 0; i < s->distinct; ++i) {
        s->norm[i] = norm1(n, n, spd_matrix(s, i));
        if (s->info[i])
            continue;
        wide_t *inverse = inverses + (size_t)i * area;
        for (int j = 0; j < n; ++j)
            inverse[at(n, j, j)].re = 1;
        reference_potrs(n, n, spd_reference(s, i), inverse);
        s->rcond[i] = 1 / (s->norm[i] * norm1(n, n, inverse));
    }
    free(inverses);
    s->has_condition = true;
}

systems_t systems_make(spd_t *s, int nrhs, uint64_t seed) {
    const int n = s->n;
    const size_t elements = (size_t)n * (size_t)nrhs;
    find_conditions(s);
    systems_t systems = {.spd = s, .nrhs = nrhs, .norm = s->norm, .rcond = s->rcond};
    systems.B = host_alloc(elements * (size_t)s->distinct, sizeof *systems.B);
    systems.X0 = host_alloc(elements * (size_t)s->distinct, sizeof *systems.X0);
#pragma omp parallel for schedule(dynamic) if (is_much(s->distinct, (double)elements * n))
    for (int i = 0; i < s->distinct; ++i) {
        wide_t *B = systems.B + (size_t)i * elements;
        wide_t *X0 = systems.X0 + (size_t)i * elements;
        generate_dense(s->type, n, nrhs, seed * 1000003u + (uint64_t)i, X0);
        for (int c = 0; c < nrhs; ++c)
            for (int j = 0; j < n; ++j)
                subtract_multiple(n, scaled(-1, X0[at(n, j, c)]), spd_matrix(s, i) + at(n, 0, j),
                                  B + at(n, 0, c));
        for (size_t e = 0; e < elements; ++e)
            B[e] = round_to(s->type, B[e]);
    }
    return systems;
}

void systems_free(systems_t *systems) {
    free(systems->B);
    free(systems->X0);
    *systems = (systems_t){0};
}

void systems_set(const systems_t *systems, matrices_t *B) {
    const size_t elements = (size_t)systems->spd->n * (size_t)systems->nrhs;
    const int distinct = distinct_items(B, systems->spd);
    for (int i = 0; i < distinct; ++i)
        matrices_set(B, i, systems->B + (size_t)i * elements);
    repeat_items(B, distinct);
}

/* ---- checks -------------------------------------------------------------------------------- */

typedef enum { FACTOR, TWIN, RESIDUAL, SOLUTION, ELEMENT, RATIO_COUNT } ratio_t;
static long double worst_ratio[RATIO_COUNT];

void print_worst_ratios(void) {
    static const char *const names[] = {"factor, of 30", "twin, of 1", "residual, of 30",
                                        "known solution, of 30", "element, of 1"};
    for (int i = 0; i < RATIO_COUNT; ++i)
        if (worst_ratio[i] > 0)
            print_message("worst ratio (%s): %.3Lf\n", names[i], worst_ratio[i]);
}

/* The verdict on the ratios of items 0 to count - 1. */
static verdict_t judge(ratio_t ratio, const char *what, const long double *ratios, int count,
                       long double limit) {
    for (int i = 0; i < count; ++i) {
        if (!(ratios[i] <= limit))
            return bad("item %d: %s is %Lg, above %Lg", i, what, ratios[i], limit);
        worst_ratio[ratio] = larger(worst_ratio[ratio], ratios[i]);
    }
    return good();
}

/* Items beyond the distinct ones against the item of the same matrix. */
static verdict_t repetitions_agree(const matrices_t *m, const spd_t *s) {
    for (int64_t i = s->distinct; i < m->batch; ++i) {
        const int64_t first = i % s->distinct;
        const verdict_t verdict = s->info[first] ? good() : item_agrees(m, i, m, first);
        if (!is_good(&verdict))
            return verdict;
    }
    return good();
}

/* L from a factor's triangle of either side; what lies outside becomes 0. */
static void read_factor(const matrices_t *m, int64_t item, batchlas_uplo_t uplo, wide_t *L) {
    const int n = m->rows;
    memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
            L[at(n, i, j)] = uplo == BATCHLAS_LOWER ? matrices_element(m, item, i, j)
                                                    : conjugate(matrices_element(m, item, j, i));
}

static long double factor_ratio(int n, const wide_t *L, const wide_t *A, long double eps,
                                wide_t *product) {
    reference_product(n, L, product);
    for (size_t e = 0; e < (size_t)n * (size_t)n; ++e) {
        product[e].re -= A[e].re;
        product[e].im -= A[e].im;
    }
    return norm1(n, n, product) / (n * norm1(n, n, A) * eps);
}

/* abs(L - Lref) over (n+1) eps / (1 - (n+1) eps) sqrt(a_ii a_jj), four times that for complex. */
static long double twin_ratio(scalar_type_t type, int n, const wide_t *L, const wide_t *reference,
                              const wide_t *A) {
    const long double terms = (n + 1) * unit_roundoff(type);
    const long double factor = (scalar_is_complex(type) ? 4 : 1) * terms / (1 - terms);
    long double worst = 0;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            const wide_t difference = {L[at(n, i, j)].re - reference[at(n, i, j)].re,
                                       L[at(n, i, j)].im - reference[at(n, i, j)].im};
            worst = larger(worst, modulus(difference) /
                                      (factor * sqrtl(A[at(n, i, i)].re * A[at(n, j, j)].re)));
        }
    return worst;
}

static bool diagonal_is_real(int n, const wide_t *L) {
    for (int j = 0; j < n; ++j)
        if (L[at(n, j, j)].im != 0)
            return false;
    return true;
}

static bool is_known(const right_factors_t *right, uint64_t hash) {
    for (int i = 0; i < right->count && i < REMEMBERED; ++i)
        if (right->hash[i] == hash)
            return true;
    return false;
}

static void remember(right_factors_t *right, uint64_t hash) {
    if (!is_known(right, hash))
        right->hash[right->count++ % REMEMBERED] = hash;
}

verdict_t factors_are_right(const matrices_t *factors, batchlas_uplo_t uplo, const spd_t *s) {
    const int n = s->n;
    const size_t area = (size_t)n * (size_t)n;
    const int count = factors->batch < s->distinct ? (int)factors->batch : s->distinct;
    right_factors_t *right = s->right[uplo != BATCHLAS_LOWER];
    uint64_t *hashes = host_alloc((size_t)count, sizeof *hashes);
    wide_t *scratch = host_alloc(2 * area * (size_t)count, sizeof *scratch);
    long double *factor = host_alloc((size_t)count, sizeof *factor);
    long double *twin = host_alloc((size_t)count, sizeof *twin);
    long double *imaginary = host_alloc((size_t)count, sizeof *imaginary);
#pragma omp parallel for schedule(dynamic) if (is_much(count, cube(n)))
    for (int i = 0; i < count; ++i) {
        hashes[i] = matrices_hash(factors, i);
        if (s->info[i] || is_known(&right[i], hashes[i]))
            continue;
        wide_t *L = scratch + 2 * area * (size_t)i;
        read_factor(factors, i, uplo, L);
        imaginary[i] = diagonal_is_real(n, L) ? 0 : 1;
        if (s->kind[i] == RANDOM_CONDITION_2 || s->kind[i] == DIAGONAL)
            twin[i] = twin_ratio(s->type, n, L, spd_reference(s, i), spd_matrix(s, i));
        factor[i] = factor_ratio(n, L, spd_matrix(s, i), unit_roundoff(s->type), L + area);
    }
    verdict_t verdict =
        judge(FACTOR, "norm1(L L^H - A) / (n norm1(A) eps)", factor, count, threshold);
    if (is_good(&verdict))
        verdict =
            judge(TWIN, "the distance to the reference factor, over its bound,", twin, count, 1);
    if (is_good(&verdict))
        verdict = judge(TWIN, "the number of complex diagonals", imaginary, count, 0);
    for (int i = 0; i < count && is_good(&verdict); ++i)
        remember(&right[i], hashes[i]);
    if (is_good(&verdict))
        verdict = repetitions_agree(factors, s);
    free(hashes);
    free(scratch);
    free(factor);
    free(twin);
    free(imaginary);
    return verdict;
}

verdict_t solutions_are_right(const matrices_t *X, const systems_t *systems) {
    const spd_t *s = systems->spd;
    const int n = s->n;
    const long double eps = unit_roundoff(s->type);
    const size_t elements = (size_t)n * (size_t)systems->nrhs;
    const int count = X->batch < s->distinct ? (int)X->batch : s->distinct;
    wide_t *scratch = host_alloc(2 * elements * (size_t)count, sizeof *scratch);
    long double *residual = host_alloc((size_t)count, sizeof *residual);
    long double *solution = host_alloc((size_t)count, sizeof *solution);
#pragma omp parallel for schedule(dynamic) if (is_much(count, (double)elements * n))
    for (int i = 0; i < count; ++i) {
        if (s->info[i])
            continue;
        wide_t *x = scratch + 2 * elements * (size_t)i;
        wide_t *r = x + elements;
        const wide_t *x0 = systems->X0 + (size_t)i * elements;
        matrices_item(X, i, x);
        memcpy(r, systems->B + (size_t)i * elements, elements * sizeof *r);
        for (int c = 0; c < systems->nrhs; ++c) {
            long double distance = 0, largest = 0;
            for (int j = 0; j < n; ++j) {
                const size_t e = at(n, j, c);
                const wide_t difference = {x[e].re - x0[e].re, x[e].im - x0[e].im};
                subtract_multiple(n, x[e], spd_matrix(s, i) + at(n, 0, j), r + at(n, 0, c));
                distance = larger(distance, modulus(difference));
                largest = larger(largest, modulus(x0[e]));
            }
            const long double scale = systems->norm[i] * norm1(n, 1, x + at(n, 0, c)) * eps;
            residual[i] = larger(residual[i], norm1(n, 1, r + at(n, 0, c)) / scale);
            solution[i] = larger(solution[i], distance * systems->rcond[i] / (largest * eps));
        }
    }
    verdict_t verdict =
        judge(RESIDUAL, "norm1(b - A x) / (norm1(A) norm1(x) eps)", residual, count, threshold);
    if (is_good(&verdict))
        verdict = judge(SOLUTION, "norm_inf(x - x0) rcond / (norm_inf(x0) eps)", solution, count,
                        threshold);
    if (is_good(&verdict))
        verdict = repetitions_agree(X, s);
    free(scratch);
    free(residual);
    free(solution);
    return verdict;
}

verdict_t elements_are_near(const matrices_t *C, int64_t item, const wide_t *expected,
                            const long double *magnitude, int terms) {
    const bool single = C->type == TYPE_S || C->type == TYPE_C;
    const long double denormal = single ? 0x1p-149L : 0x1p-1074L;
    const long double eps = (scalar_is_complex(C->type) ? 4 : 1) * terms * unit_roundoff(C->type);
    const int rows = C->rows;
    for (int j = 0; j < C->columns; ++j)
        for (int i = 0; i < rows; ++i) {
            if ((C->region == LOWER_TRIANGLE && i < j) || (C->region == UPPER_TRIANGLE && i > j))
                continue;
            const wide_t got = matrices_element(C, item, i, j);
            const wide_t wanted = expected[at(rows, i, j)];
            const wide_t difference = {got.re - wanted.re, got.im - wanted.im};
            const long double limit = eps * magnitude[at(rows, i, j)];
            if (!(modulus1(difference) <= limit + terms * denormal))
                return bad("item %lld, row %d, column %d is (%.21Lg, %.21Lg), expected "
                           "(%.21Lg, %.21Lg) within %Lg",
                           (long long)item, i, j, got.re, got.im, wanted.re, wanted.im, limit);
            if (limit > 0)
                worst_ratio[ELEMENT] = larger(worst_ratio[ELEMENT], modulus1(difference) / limit);
        }
    return good();
}
