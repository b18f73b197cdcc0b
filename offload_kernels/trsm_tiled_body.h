/* SPDX-License-Identifier: BSD-3-Clause */
/* trsm on the host for one type and one instruction set. */
#include "micro_kernel_body.h"

/* ---- many right-hand sides: lanes of them, through the register tile ------------------------- */

/* A packed line times alpha. */
static ALWAYS_INLINE TARGET void IN(scale_line)(IN(lanes) * x, T alpha) {
#if IS_COMPLEX
    const R re = __real__ alpha, im = __imag__ alpha;
    const IN(lanes) x0 = x[0];
    x[0] = x0 * re - x[1] * im;
    x[1] = x[1] * re + x0 * im;
#else
    UNROLL
    for (int v = 0; v < VECTORS; ++v)
        x[v] *= alpha;
#endif
}

static ALWAYS_INLINE TARGET void IN(divide_line)(IN(lanes) * x, const NAME(pivot_t) * pivot) {
    if (pivot->inverts) {
        IN(scale_line)(x, pivot->inverse);
        return;
    }
    R *part = (R *)x;
    for (int r = 0; r < MR; ++r) {
#if IS_COMPLEX
        const T quotient = DIVIDE(NAME(make)(part[r], part[MR + r]), pivot->value);
        part[r] = __real__ quotient;
        part[MR + r] = __imag__ quotient;
#else
        part[r] /= pivot->value;
#endif
    }
}

/* x -= l y for packed lines x and y. */
static ALWAYS_INLINE TARGET void IN(subtract_line)(IN(lanes) * x, T l, const IN(lanes) * y) {
#if IS_COMPLEX
    x[0] -= y[0] * __real__ l;
    x[1] -= y[1] * __real__ l;
    x[0] += y[1] * __imag__ l;
    x[1] -= y[0] * __imag__ l;
#else
    UNROLL
    for (int v = 0; v < VECTORS; ++v)
        x[v] -= y[v] * l;
#endif
}

static ALWAYS_INLINE TARGET void IN(unpack)(int valid, int k, const R *restrict packed,
                                            T *restrict at, int64_t row, int64_t column) {
    for (int l = 0; l < k; ++l, at += column, packed += LINE)
        for (int i = 0; i < valid; ++i) {
#if IS_COMPLEX
            at[i * row] = NAME(make)(packed[i], packed[MR + i]);
#else
            at[i * row] = packed[i];
#endif
        }
}

/* The triangle of L in its rows i .. i + size - 1, of which `rows` exist; the others are those of
 * the identity. */
typedef struct {
    T l[NR][NR];
    NAME(pivot_t) pivot[NR];
} IN(corner_t);

static ALWAYS_INLINE TARGET void IN(load_corner)(const forward_solve_t *s, int i, int size,
                                                 int rows, IN(corner_t) * corner) {
    for (int q = 0; q < size; ++q) {
        for (int e = 0; e < q; ++e)
            corner->l[q][e] = q < rows ? NAME(element_of_l)(s, i + q, i + e) : FROM_REAL(0);
        corner->pivot[q] = q < rows ? NAME(pivot)(s, i + q) : NAME(one)();
    }
}

/* NR rows of X, packed in x, from those of B and the sum over the rows before. */
static ALWAYS_INLINE TARGET void IN(solve_tile)(const IN(corner_t) * corner, T alpha,
                                                IN(lanes) sum[NR][VECTORS],
                                                IN(lanes) x[NR][VECTORS]) {
    UNROLL
    for (int q = 0; q < NR; ++q) {
        if (alpha != 1)
            IN(scale_line)(x[q], alpha);
        UNROLL
        for (int v = 0; v < VECTORS; ++v)
            x[q][v] -= sum[q][v];
    }
    UNROLL
    for (int q = 0; q < NR; ++q) {
        IN(divide_line)(x[q], &corner->pivot[q]);
        UNROLL
        for (int e = q + 1; e < NR; ++e)
            IN(subtract_line)(x[e], corner->l[e][q], x[q]);
    }
}

static NOINLINE TARGET void IN(solve_in)(const forward_solve_t *s, R *solved) {
    R packed_l[GEBP_KC * NR * PARTS] ALIGNED;
    IN(lanes) sum[NR][VECTORS], x[NR][VECTORS];
    IN(corner_t) corner;
    const T alpha = SCALAR(s->alpha);
    const view_t sides = {.row = s->x_column, .column = s->x_row};
    memset(x, 0, sizeof x);
    for (int i = 0; i < s->order; i += NR) {
        const int rows = s->order - i < NR ? s->order - i : NR;
        IN(pack)(NR, rows, i, (const T *)s->L.at + i * s->L.row, &s->L, packed_l);
        IN(load_corner)(s, i, NR, rows, &corner);
        for (int r = 0; r < s->count; r += MR) {
            const int lanes = s->count - r < MR ? s->count - r : MR;
            T *at = (T *)s->X + i * s->x_row + r * s->x_column;
            R *lines = solved + r * PARTS * s->order;
            if (rows > NR / 2)
                IN(multiply)(NR, i, lines, packed_l, sum);
            else
                IN(multiply)(NR / 2, i, lines, packed_l, sum);
            IN(pack)(MR, lanes, rows, at, &sides, (R *)x);
            IN(solve_tile)(&corner, alpha, sum, x);
            memcpy(lines + i * LINE, x, (size_t)rows * sizeof *x);
            if (s->x_column == 1 && lanes == MR)
                IN(unpack)(MR, rows, (R *)x, at, 1, s->x_row);
            else
                IN(unpack)(lanes, rows, (R *)x, at, s->x_column, s->x_row);
        }
    }
}

static NOINLINE TARGET void IN(solve_in_large_frame)(const forward_solve_t *s) {
    R solved[GEBP_BLOCK_BYTES / sizeof(R)] ALIGNED;
    IN(solve_in)(s, solved);
}

static NOINLINE TARGET void IN(solve_in_small_frame)(const forward_solve_t *s) {
    R solved[GEBP_SMALL_BYTES / sizeof(R)] ALIGNED;
    IN(solve_in)(s, solved);
}

/* Order <= GEBP_KC and count <= gebp_rows(). */
static TARGET void IN(solve_block)(const forward_solve_t *s) {
    if (IN(packed_bytes)(s->count, s->order) <= GEBP_SMALL_BYTES)
        IN(solve_in_small_frame)(s);
    else
        IN(solve_in_large_frame)(s);
}

/* ---- few right-hand sides: in place, a panel of L's columns or rows at a time ---------------- */

/* Up to here more than half of a line's lanes would be empty. */
#define FEW_SIDES (IS_COMPLEX && MR > 8 ? 4 : MR / 2)
#define FEW_BYTES (LANE_BYTES < 32 ? LANE_BYTES : 32)
#define FEW       ((int)(FEW_BYTES / sizeof(R)))

typedef R IN(few) __attribute__((vector_size(FEW_BYTES), may_alias));
typedef R IN(few_unaligned) __attribute__((vector_size(FEW_BYTES), aligned(sizeof(R)), may_alias));

/* x -= sum of c[q] v[q] over a panel's columns of L. */
static ALWAYS_INLINE TARGET void IN(subtract_columns)(int64_t m, T *restrict x,
                                                      const T *const c[PANEL], const T v[PANEL],
                                                      bool conjugated) {
    const T *restrict c0 = c[0], *restrict c1 = c[1], *restrict c2 = c[2], *restrict c3 = c[3];
#if IS_COMPLEX
    const R sign = conjugated ? -1 : 1;
    for (int64_t j = 0; j < m; ++j) {
        R re = __real__ x[j], im = __imag__ x[j];
#define SUBTRACT(c, v)                                                                             \
    re -= __real__ c[j] * __real__ v;                                                              \
    im -= __real__ c[j] * __imag__ v;                                                              \
    re += __imag__ c[j] * (sign * __imag__ v);                                                     \
    im -= __imag__ c[j] * (sign * __real__ v)
        SUBTRACT(c0, v[0]);
        SUBTRACT(c1, v[1]);
        SUBTRACT(c2, v[2]);
        SUBTRACT(c3, v[3]);
#undef SUBTRACT
        x[j] = NAME(make)(re, im);
    }
#else
    (void)conjugated;
    for (int64_t j = 0; j < m; ++j)
        x[j] = x[j] - c0[j] * v[0] - c1[j] * v[1] - c2[j] * v[2] - c3[j] * v[3];
#endif
}

/* sum[q] := row[q] x over a panel's rows of L. Lanes hold partial sums as numbers lie in memory, of
 * complex ones those with x's real parts and those with its imaginary parts. */
static ALWAYS_INLINE TARGET void IN(dot_rows)(int64_t m, const T *x, const T *const row[PANEL],
                                              bool conjugated, T sum[PANEL]) {
    IN(few) lanes[PANEL];
    UNROLL
    for (int q = 0; q < PANEL; ++q)
        lanes[q] = (IN(few)){0};
    int64_t j = 0;
#if IS_COMPLEX
    IN(few) crossed[PANEL];
    UNROLL
    for (int q = 0; q < PANEL; ++q)
        crossed[q] = (IN(few)){0};
    for (; j + FEW / 2 <= m; j += FEW / 2) {
        const IN(few) y = *(const IN(few_unaligned) *)(x + j);
        IN(few) re = y, im = y;
        UNROLL
        for (int v = 0; v < FEW; ++v) {
            re[v] = y[v & ~1];
            im[v] = y[v | 1];
        }
        UNROLL
        for (int q = 0; q < PANEL; ++q) {
            const IN(few) l = *(const IN(few_unaligned) *)(row[q] + j);
            lanes[q] += l * re;
            crossed[q] += l * im;
        }
    }
    const R sign = conjugated ? -1 : 1;
    IN(few) straight_sign = {0}, crossed_sign = {0};
    UNROLL
    for (int v = 0; v < FEW; v += 2) {
        straight_sign[v] = 1;
        straight_sign[v + 1] = sign;
        crossed_sign[v] = -sign;
        crossed_sign[v + 1] = 1;
    }
    UNROLL
    for (int q = 0; q < PANEL; ++q) {
        IN(few) swapped = crossed[q];
        UNROLL
        for (int v = 0; v < FEW; ++v)
            swapped[v] = crossed[q][v ^ 1];
        lanes[q] = lanes[q] * straight_sign + swapped * crossed_sign;
    }
#else
    (void)conjugated;
    for (; j + FEW <= m; j += FEW) {
        const IN(few) y = *(const IN(few_unaligned) *)(x + j);
        UNROLL
        for (int q = 0; q < PANEL; ++q)
            lanes[q] += y * *(const IN(few_unaligned) *)(row[q] + j);
    }
#endif
    UNROLL
    for (int w = FEW / 2; w >= PARTS; w /= 2) {
        UNROLL
        for (int q = 0; q < PANEL; ++q) {
            UNROLL
            for (int v = 0; v < w; ++v)
                lanes[q][v] += lanes[q][v + w];
        }
    }
    UNROLL
    for (int q = 0; q < PANEL; ++q) {
#if IS_COMPLEX
        sum[q] = NAME(make)(lanes[q][0], lanes[q][1]);
#else
        sum[q] = lanes[q][0];
#endif
        for (int64_t l = j; l < m; ++l)
            sum[q] = ADD_PRODUCT(sum[q], x[l], conjugated ? CONJ(row[q][l]) : row[q][l]);
    }
}

static ALWAYS_INLINE TARGET void IN(solve_panel)(const IN(corner_t) * corner, T v[PANEL]) {
    UNROLL
    for (int q = 0; q < PANEL; ++q) {
        v[q] = NAME(divided)(v[q], &corner->pivot[q]);
        UNROLL
        for (int e = q + 1; e < PANEL; ++e)
            v[e] = ADD_PRODUCT(v[e], v[q], -corner->l[e][q]);
    }
}

/* Each right-hand side contiguous. */
static TARGET void IN(solve_few)(const forward_solve_t *s) {
    const int64_t row = s->L.row, column = s->L.column, direction = s->x_row;
    const bool by_columns = row == direction;
    const T alpha = SCALAR(s->alpha);
    if (alpha != 1)
        for (int r = 0; r < s->count; ++r)
            for (int i = 0; i < s->order; ++i) {
                T *x = (T *)s->X + i * direction + r * s->x_column;
                *x = TIMES(alpha, *x);
            }
    for (int i = 0; i < s->order; i += PANEL) {
        const int width = s->order - i < PANEL ? s->order - i : PANEL;
        const int last = s->order - 1 - i;
        const T *L = (const T *)s->L.at + i * (row + column);
        IN(corner_t) corner;
        IN(load_corner)(s, i, PANEL, width, &corner);
        /* The lowest address of each column below the panel, or of each row left of it. */
        const T *line[PANEL];
        for (int q = 0; q < PANEL; ++q) {
            const int e = q < width ? q : width - 1;
            line[q] = by_columns ? L + e * column + (direction > 0 ? PANEL : last) * row
                                 : L + e * row - (direction > 0 ? i : 1) * column;
        }
        for (int r = 0; r < s->count; ++r) {
            T *x = (T *)s->X + i * direction + r * s->x_column;
            T v[PANEL], sum[PANEL];
            if (!by_columns)
                IN(dot_rows)(i, x - (direction > 0 ? i : -1), line, s->L.conjugated, sum);
            for (int q = 0; q < PANEL; ++q) {
                v[q] = q < width ? x[q * direction] : FROM_REAL(0);
                if (!by_columns)
                    v[q] -= sum[q];
            }
            IN(solve_panel)(&corner, v);
            for (int q = 0; q < width; ++q)
                x[q * direction] = v[q];
            if (by_columns && last >= PANEL)
                IN(subtract_columns)(last + 1 - PANEL, x + (direction > 0 ? PANEL : -last), line, v,
                                     s->L.conjugated);
        }
    }
}

/* Order <= GEBP_KC and count <= FEW_SIDES: right-hand sides that lie across memory, in a copy. */
static TARGET void IN(solve_gathered)(const forward_solve_t *s) {
    T copy[FEW_SIDES * GEBP_KC];
    forward_solve_t inner = *s;
    const bool forward = s->L.row + s->L.column > 0;
    inner.x_row = forward ? 1 : -1;
    inner.x_column = s->order;
    inner.X = copy + (forward ? 0 : s->order - 1);
    for (int i = 0; i < s->order; ++i)
        for (int r = 0; r < s->count; ++r)
            ((T *)inner.X)[i * inner.x_row + r * inner.x_column] =
                ((T *)s->X)[i * s->x_row + r * s->x_column];
    IN(solve_few)(&inner);
    for (int i = 0; i < s->order; ++i)
        for (int r = 0; r < s->count; ++r)
            ((T *)s->X)[i * s->x_row + r * s->x_column] =
                ((T *)inner.X)[i * inner.x_row + r * inner.x_column];
}

/* ---- all of them ----------------------------------------------------------------------------- */

static TARGET void IN(solve)(const forward_solve_t *s) {
    product_t product = {.m = s->count,
                         .A = {.at = s->X, .row = s->x_column, .column = s->x_row},
                         .B = s->L,
                         .c_row = s->x_column,
                         .c_column = s->x_row};
    if (SCALAR(s->alpha) == 0) {
        product.n = s->order;
        product.C = s->X;
        batchlas_gebp(s->type, &product);
        return;
    }
    const bool few = s->all <= FEW_SIDES;
    if (few && (s->x_row == 1 || s->x_row == -1)) {
        IN(solve_few)(s);
        return;
    }
    forward_solve_t block = *s;
    for (int i = 0; i < s->order; i += GEBP_KC) {
        block.order = s->order - i < GEBP_KC ? s->order - i : GEBP_KC;
        block.L.at = (const T *)s->L.at + i * (s->L.row + s->L.column);
        block.X = (T *)s->X + i * s->x_row;
        if (i > 0) {
            product.n = block.order;
            product.k = i;
            product.alpha[0] = -1;
            product.beta[0] = s->alpha[0];
            product.beta[1] = s->alpha[1];
            product.B.at = (const T *)s->L.at + i * s->L.row;
            product.C = block.X;
            batchlas_gebp(s->type, &product);
            block.alpha[0] = 1;
            block.alpha[1] = 0;
        }
        if (few)
            IN(solve_gathered)(&block);
        else
            IN(solve_block)(&block);
    }
}
