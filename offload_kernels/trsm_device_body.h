/* SPDX-License-Identifier: BSD-3-Clause */
/* Division by L's diagonal, for host and device, and trsm on the device, for one type. */

static inline T NAME(element_of_l)(const forward_solve_t *s, int64_t i, int64_t j) {
    const T l = ((const T *)s->L.at)[i * s->L.row + j * s->L.column];
    return s->L.conjugated ? CONJ(l) : l;
}

/* A diagonal element, and its inverse where that is as good. */
typedef struct {
    T value;
    T inverse;
    bool inverts;
} NAME(pivot_t);

static inline NAME(pivot_t) NAME(one)(void) {
    return (NAME(pivot_t)){FROM_REAL(1), FROM_REAL(1), true};
}

static inline NAME(pivot_t) NAME(pivot)(const forward_solve_t *s, int64_t i) {
    NAME(pivot_t) pivot = NAME(one)();
    if (!s->unit) {
        const T l = NAME(element_of_l)(s, i, i);
        pivot.value = s->real_diagonal ? FROM_REAL(REAL(l)) : l;
        pivot.inverse = DIVIDE(FROM_REAL(1), pivot.value);
        pivot.inverts = HAS_RECIPROCAL(pivot.value);
    }
    return pivot;
}

static inline T NAME(divided)(T x, const NAME(pivot_t) * pivot) {
    return pivot->inverts ? TIMES(pivot->inverse, x) : DIVIDE(x, pivot->value);
}

/* Right-hand sides r and r + step, in panels of PANEL rows; the neighbouring threads have those in
 * between. Where there is no second one, the first is computed twice and stored once. */
static inline void NAME(solve_sides)(const forward_solve_t *s, int64_t r, int64_t step) {
    const T alpha = SCALAR(s->alpha);
    const bool second = r + step < s->count;
    T *x[SIDES];
    UNROLL
    for (int e = 0; e < SIDES; ++e)
        x[e] = (T *)s->X + (second ? r + e * step : r) * s->x_column;
    if (alpha == 0) {
        for (int64_t i = 0; i < s->order; ++i)
            x[0][i * s->x_row] = x[SIDES - 1][i * s->x_row] = FROM_REAL(0);
        return;
    }

    for (int64_t i = 0; i < s->order; i += PANEL) {
        T sum[SIDES][PANEL];
        UNROLL
        for (int e = 0; e < SIDES; ++e) {
            UNROLL
            for (int q = 0; q < PANEL; ++q)
                sum[e][q] = FROM_REAL(0);
        }
        for (int64_t j = 0; j < i; ++j) {
            T y[SIDES];
            UNROLL
            for (int e = 0; e < SIDES; ++e)
                y[e] = x[e][j * s->x_row];
            UNROLL
            for (int q = 0; q < PANEL; ++q) {
                const T l = NAME(element_of_l)(s, i + q < s->order ? i + q : i, j);
                UNROLL
                for (int e = 0; e < SIDES; ++e)
                    sum[e][q] = ADD_PRODUCT(sum[e][q], y[e], l);
            }
        }

        T now[SIDES][PANEL];
        UNROLL
        for (int q = 0; q < PANEL; ++q) {
            if (i + q >= s->order)
                break;
            const NAME(pivot_t) pivot = NAME(pivot)(s, i + q);
            UNROLL
            for (int e = 0; e < SIDES; ++e) {
                const T b = x[e][(i + q) * s->x_row];
                now[e][q] = (alpha == 1 ? b : TIMES(alpha, b)) - sum[e][q];
            }
            UNROLL
            for (int p = 0; p < q; ++p) {
                const T l = NAME(element_of_l)(s, i + q, i + p);
                UNROLL
                for (int e = 0; e < SIDES; ++e)
                    now[e][q] = ADD_PRODUCT(now[e][q], now[e][p], -l);
            }
            UNROLL
            for (int e = 0; e < SIDES; ++e)
                now[e][q] = NAME(divided)(now[e][q], &pivot);
            UNROLL
            for (int e = 0; e < SIDES; ++e)
                x[e][(i + q) * s->x_row] = now[e][q];
        }
    }
}

static void NAME(trsm_device)(const problem_t *problem, const forward_solve_t *solve, int device) {
    const problem_t p = *problem;
    const forward_solve_t common = *solve;
    const int64_t step = (common.count + SIDES - 1) / SIDES;
    const int64_t total = step * p.batch;
#pragma omp target teams distribute parallel for device(device) firstprivate(p, common)
    for (int64_t t = 0; t < total; ++t) {
        const int64_t item = t / step;
        if (p.skip && p.skip[item])
            continue;
        forward_solve_t here = common;
        here.L.at = ITEM(p.A, item) + common.l_first;
        here.X = ITEM(p.B, item) + common.x_first;
        NAME(solve_sides)(&here, t % step, step);
    }
}
