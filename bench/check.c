/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include "noise.h"

#include <math.h>
#include <stdio.h>

/* A vector's entry: its value, and the sum of the magnitudes that were added up to make it, which
 * is what the rounding of that sum is measured by. */
typedef struct {
    double re, im, magnitude;
} entry_t;

/* A stored matrix, to be read as Hermitian from its triangle where `hermitian` is set. */
typedef struct {
    const void *base;
    operand_t layout;
    char type;
    bool hermitian;
} matrix_t;

enum { VECTORS = 3 };

static int longest(const cell_t *cell) {
    return cell->n > cell->nrhs ? cell->n : cell->nrhs;
}

size_t check_scratch_bytes(const cell_t *cell) {
    return VECTORS * sizeof(entry_t) * (size_t)cell->batch * (size_t)longest(cell);
}

/* ---- matrix times vector ------------------------------------------------------------------- */

/* sum_i a(i) x(i) over `count` elements, `step` apart, of a matrix of this type. */
static inline __attribute__((always_inline)) entry_t dot_of(char type, const void *base,
                                                            int64_t first, int64_t step, int count,
                                                            double sign, const entry_t *x) {
    entry_t sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; ++i) {
        const int64_t at = first + i * step;
        double re, im;
        if (type == 's') {
            re = (double)((const float *)base)[at];
            im = 0.0;
        } else if (type == 'd') {
            re = ((const double *)base)[at];
            im = 0.0;
        } else if (type == 'c') {
            re = (double)((const float *)base)[2 * at];
            im = sign * (double)((const float *)base)[2 * at + 1];
        } else {
            re = ((const double *)base)[2 * at];
            im = sign * ((const double *)base)[2 * at + 1];
        }
        sum.re += re * x[i].re - im * x[i].im;
        sum.im += re * x[i].im + im * x[i].re;
        sum.magnitude += (fabs(re) + fabs(im)) * x[i].magnitude;
    }
    return sum;
}

static inline entry_t dot(const matrix_t *m, int64_t first, int64_t step, int count, bool conjugate,
                          const entry_t *x) {
    const double sign = conjugate ? -1.0 : 1.0;
    switch (m->type) {
    case 's':
        return dot_of('s', m->base, first, step, count, sign, x);
    case 'd':
        return dot_of('d', m->base, first, step, count, sign, x);
    case 'c':
        return dot_of('c', m->base, first, step, count, sign, x);
    default:
        return dot_of('z', m->base, first, step, count, sign, x);
    }
}

/* Row `row` of op(M) times x. */
static inline entry_t row_times(const matrix_t *m, int64_t item, char op, int row,
                                const entry_t *x) {
    const operand_t *o = &m->layout;
    const int64_t start = item * o->stride;
    const bool plain = op == 'N';
    const bool lower = o->shape == LOWER_TRIANGLE;
    if (m->hermitian) {
        /* The stored part of the row, and the rest of it mirrored from its column. */
        const int64_t across = start + row;
        const int64_t down = start + (int64_t)row * o->ld;
        const int before = lower ? row + 1 : row;
        const entry_t left =
            lower ? dot(m, across, o->ld, before, false, x) : dot(m, down, 1, before, true, x);
        const entry_t right = lower ? dot(m, down + before, 1, o->rows - before, true, x + before)
                                    : dot(m, across + (int64_t)before * o->ld, o->ld,
                                          o->rows - before, false, x + before);
        return (entry_t){left.re + right.re, left.im + right.im, left.magnitude + right.magnitude};
    }
    int from = 0;
    int to = plain ? o->columns : o->rows;
    if (o->shape != FULL) {
        if (lower == plain)
            to = row + 1;
        else
            from = row;
    }
    const int64_t first =
        plain ? start + row + (int64_t)from * o->ld : start + from + (int64_t)row * o->ld;
    return dot(m, first, plain ? o->ld : 1, to - from, op == 'C', x + from);
}

/* y := y + alpha op(M) x for every item, with vectors `length` apart; y is overwritten where
 * `overwrite` is set. */
static void apply(const machine_t *machine, const cell_t *cell, matrix_t m, char op, double alpha,
                  const entry_t *x, entry_t *y, bool overwrite) {
    const int length = longest(cell);
    const int rows = op == 'N' || m.hermitian ? m.layout.rows : m.layout.columns;
    const int64_t count = cell->batch * rows;
#pragma omp target teams distribute parallel for is_device_ptr(x, y) device(machine->device)       \
    map(to : m)
    for (int64_t i = 0; i < count; ++i) {
        const int64_t item = i / rows;
        const int row = (int)(i % rows);
        const entry_t product = row_times(&m, item, op, row, x + item * length);
        entry_t sum = {0.0, 0.0, 0.0};
        if (!overwrite)
            sum = y[item * length + row];
        sum.re += alpha * product.re;
        sum.im += alpha * product.im;
        sum.magnitude += fabs(alpha) * product.magnitude;
        y[item * length + row] = sum;
    }
}

static void draw(const machine_t *machine, const cell_t *cell, entry_t *x) {
    const int64_t count = cell->batch * longest(cell);
    const uint64_t seed = mix(UINT64_C(0x7e57));
#pragma omp target teams distribute parallel for is_device_ptr(x) device(machine->device)
    for (int64_t i = 0; i < count; ++i) {
        const double value = noise(seed + (uint64_t)i) - 0.5;
        const double entry = value < 0.0 ? value - 0.5 : value + 0.5;
        x[i] = (entry_t){entry, 0.0, fabs(entry)};
    }
}

/* ---- the verdict --------------------------------------------------------------------------- */

/* Rows of z hold what should be 0. */
static void judge(const machine_t *machine, const cell_t *cell, int rows, const entry_t *z,
                  verdict_t *verdict) {
    const int length = longest(cell);
    const int64_t batch = cell->batch;
    const double eps = size_of_type(cell->type) / (type_is_complex(cell->type) ? 2 : 1) == 4
                           ? 0x1.0p-24
                           : 0x1.0p-53;
    double worst = 0.0;
    int64_t wrong = 0;
    int64_t first = batch;
#pragma omp target teams distribute parallel for is_device_ptr(z) device(machine->device)          \
    map(tofrom : worst, wrong, first) reduction(max : worst) reduction(+ : wrong)                  \
    reduction(min : first)
    for (int64_t item = 0; item < batch; ++item) {
        double residual = 0.0;
        for (int row = 0; row < rows; ++row) {
            const entry_t *e = &z[item * length + row];
            const double size = fabs(e->re) + fabs(e->im);
            double ratio = size == 0.0 ? 0.0 : size / (eps * e->magnitude);
            if (!(ratio < (double)INFINITY))
                ratio = (double)INFINITY;
            if (ratio > residual)
                residual = ratio;
        }
        if (residual > worst)
            worst = residual;
        if (residual > RESIDUAL_BOUND) {
            ++wrong;
            if (item < first)
                first = item;
        }
    }
    if (worst > verdict->residual)
        verdict->residual = worst;
    if (wrong > 0 && (verdict->wrong == 0 || first < verdict->first_wrong))
        verdict->first_wrong = first;
    if (wrong > verdict->wrong)
        verdict->wrong = wrong;
}

static void judge_info(const machine_t *machine, const cell_t *cell, const int *info,
                       verdict_t *verdict) {
    const int64_t batch = cell->batch;
    int64_t failed = 0;
    int64_t first = batch;
    int value = 0;
#pragma omp target teams distribute parallel for is_device_ptr(info) device(machine->device)       \
    map(tofrom : failed, first) reduction(+ : failed) reduction(min : first)
    for (int64_t item = 0; item < batch; ++item) {
        if (info[item] != 0) {
            ++failed;
            if (item < first)
                first = item;
        }
    }
    if (failed > 0) {
#pragma omp target is_device_ptr(info) device(machine -> device) map(from : value)
        value = info[first];
    }
    verdict->failed = failed;
    verdict->first_failed = first;
    verdict->first_info = value;
}

/* ---- the identities ------------------------------------------------------------------------ */

typedef struct {
    const machine_t *machine;
    const cell_t *cell;
    const matrices_t *matrices;
    entry_t *x, *y, *z; /* x is random */
    verdict_t verdict;
} check_t;

static matrix_t input(const check_t *c, int which, bool hermitian) {
    return (matrix_t){c->matrices->source[which], c->cell->operands[which], c->cell->type,
                      hermitian};
}

static matrix_t result(const check_t *c, int which, bool hermitian) {
    return (matrix_t){c->matrices->work[which], c->cell->operands[which], c->cell->type, hermitian};
}

static void set(check_t *c, entry_t *to, matrix_t m, char op, const entry_t *x) {
    apply(c->machine, c->cell, m, op, 1.0, x, to, true);
}

static void add(check_t *c, entry_t *to, double alpha, matrix_t m, char op, const entry_t *x) {
    apply(c->machine, c->cell, m, op, alpha, x, to, false);
}

/* y := L (L^H x), or U^H (U x), by way of `between`. */
static void set_factor_product(check_t *c, entry_t *to, matrix_t factor, const entry_t *x,
                               entry_t *between) {
    const bool lower = c->cell->uplo == BATCHLAS_LOWER;
    set(c, between, factor, lower ? 'C' : 'N', x);
    set(c, to, factor, lower ? 'N' : 'C', between);
}

/* L (L^H x) - A x */
static void check_factor(check_t *c) {
    set_factor_product(c, c->z, result(c, 0, false), c->x, c->y);
    add(c, c->z, -1.0, input(c, 0, true), 'N', c->x);
    judge(c->machine, c->cell, c->cell->n, c->z, &c->verdict);
}

/* A (X v) - B v */
static void check_solution(check_t *c) {
    set(c, c->y, result(c, 1, false), 'N', c->x);
    set(c, c->z, input(c, 0, true), 'N', c->y);
    add(c, c->z, -1.0, input(c, 1, false), 'N', c->x);
    judge(c->machine, c->cell, c->cell->n, c->z, &c->verdict);
}

/* L (L^H (X v)) - B v; the random vector is drawn again, since its place was needed. */
static void check_solution_from_factor(check_t *c) {
    set(c, c->y, result(c, 1, false), 'N', c->x);
    set_factor_product(c, c->z, input(c, 0, false), c->y, c->x);
    draw(c->machine, c->cell, c->x);
    add(c, c->z, -1.0, input(c, 1, false), 'N', c->x);
    judge(c->machine, c->cell, c->cell->n, c->z, &c->verdict);
}

/* op(A) (X v) - B v, or X (op(A) v) - B v */
static void check_triangular_solution(check_t *c) {
    const bool left = c->cell->form[0] == 'L';
    const char op = c->cell->form[1];
    const matrix_t a = input(c, 0, false);
    const matrix_t x = result(c, 1, false);
    set(c, c->y, left ? x : a, left ? 'N' : op, c->x);
    set(c, c->z, left ? a : x, left ? op : 'N', c->y);
    add(c, c->z, -1.0, input(c, 1, false), 'N', c->x);
    judge(c->machine, c->cell, c->cell->operands[1].rows, c->z, &c->verdict);
}

/* op(A) (op(B) v) + C v - C0 v, with the update's alpha = -1 and beta = 1 */
static void check_product(check_t *c) {
    set(c, c->y, input(c, 1, false), c->cell->form[1], c->x);
    set(c, c->z, input(c, 0, false), c->cell->form[0], c->y);
    add(c, c->z, 1.0, result(c, 2, false), 'N', c->x);
    add(c, c->z, -1.0, input(c, 2, false), 'N', c->x);
    judge(c->machine, c->cell, c->cell->n, c->z, &c->verdict);
}

/* A (A^H v) + C v - C0 v, or with A^H A */
static void check_rank_k(check_t *c) {
    const bool plain = c->cell->form[0] == 'N';
    const matrix_t a = input(c, 0, false);
    set(c, c->y, a, plain ? 'C' : 'N', c->x);
    set(c, c->z, a, plain ? 'N' : 'C', c->y);
    add(c, c->z, 1.0, result(c, 1, true), 'N', c->x);
    add(c, c->z, -1.0, input(c, 1, true), 'N', c->x);
    judge(c->machine, c->cell, c->cell->n, c->z, &c->verdict);
}

verdict_t check_results(const machine_t *machine, const cell_t *cell, const matrices_t *matrices,
                        void *scratch) {
    const int64_t length = cell->batch * longest(cell);
    entry_t *const vectors = scratch;
    check_t c = {.machine = machine,
                 .cell = cell,
                 .matrices = matrices,
                 .x = vectors,
                 .y = vectors + length,
                 .z = vectors + 2 * length};
    draw(machine, cell, c.x);
    switch (cell->op) {
    case OP_POTRF:
        check_factor(&c);
        break;
    case OP_POSV:
        check_factor(&c);
        check_solution(&c);
        break;
    case OP_POTRS:
        check_solution_from_factor(&c);
        break;
    case OP_TRSM:
        check_triangular_solution(&c);
        break;
    case OP_GEMM:
        check_product(&c);
        break;
    default:
        check_rank_k(&c);
    }
    if (op_writes_info(cell->op))
        judge_info(machine, cell, matrices->info, &c.verdict);
    return c.verdict;
}

bool verdict_is_right(const verdict_t *verdict) {
    return verdict->wrong == 0 && verdict->failed == 0;
}

void verdict_explain(const verdict_t *verdict, char *text, size_t size) {
    if (verdict->failed > 0)
        snprintf(text, size, "info of item %lld is %d (%lld items)",
                 (long long)verdict->first_failed, verdict->first_info, (long long)verdict->failed);
    else
        snprintf(text, size, "%lld items wrong (first %lld) worst residual %.3g",
                 (long long)verdict->wrong, (long long)verdict->first_wrong, verdict->residual);
}
