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
static ALWAYS_INLINE TARGET void IN(solve_tile)(const IN(corner_t) * corner, T scale,
                                                IN(lanes) sum[NR][VECTORS],
                                                IN(lanes) x[NR][VECTORS]) {
    UNROLL
    for (int q = 0; q < NR; ++q) {
        if (scale != 1)
            IN(scale_line)(x[q], scale);
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

/* L X = scale B with order <= KC and count <= gebp_rows(). */
static TARGET void IN(solve_block)(const forward_solve_t *s, T scale) {
    R solved[GEBP_BLOCK_BYTES / sizeof(R)] ALIGNED;
    R packed_l[KC * NR * PARTS] ALIGNED;
    IN(lanes) sum[NR][VECTORS], x[NR][VECTORS];
    IN(corner_t) corner;
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
            IN(solve_tile)(&corner, scale, sum, x);
            memcpy(lines + i * LINE, x, (size_t)rows * sizeof *x);
            if (s->x_column == 1 && lanes == MR)
                IN(unpack)(MR, rows, (R *)x, at, 1, s->x_row);
            else
                IN(unpack)(lanes, rows, (R *)x, at, s->x_column, s->x_row);
        }
    }
}

static TARGET void IN(solve_many)(const forward_solve_t *s) {
    T scale = SCALAR(s->alpha);
    for (int i = 0; i < s->order; i += KC) {
        forward_solve_t block = *s;
        block.order = s->order - i < KC ? s->order - i : KC;
        block.L.at = (const T *)s->L.at + i * (s->L.row + s->L.column);
        block.X = (T *)s->X + i * s->x_row;
        if (i > 0) {
            product_t product = {.m = s->count,
                                 .n = block.order,
                                 .k = i,
                                 .alpha = {-1.0, 0.0},
                                 .beta = {s->alpha[0], s->alpha[1]},
                                 .A = {.at = s->X, .row = s->x_column, .column = s->x_row},
                                 .B = s->L,
                                 .C = block.X,
                                 .c_row = s->x_column,
                                 .c_column = s->x_row};
            product.B.at = (const T *)s->L.at + i * s->L.row;
            batchlas_gebp(s->type, &product);
            scale = FROM_REAL(1);
        }
        IN(solve_block)(&block, scale);
    }
}

#define FEW_BYTES (LANE_BYTES < 32 ? LANE_BYTES : 32)
#define FEW       ((int)(FEW_BYTES / sizeof(R)))
#define FEW_SIDES (MR / 2)

typedef R IN(few) __attribute__((vector_size(FEW_BYTES), may_alias));
typedef R IN(few_unaligned) __attribute__((vector_size(FEW_BYTES), aligned(sizeof(R)), may_alias));

/* ---- few right-hand sides, each contiguous: in place, a panel of columns or rows at a time ----
 */

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

/* sum[q] := row[q] x over a panel's rows of L. Lanes hold partial sums, of complex numbers their
 * parts as they lie in memory: products of like parts, and of unlike ones. */
static ALWAYS_INLINE TARGET void IN(dot_rows)(int64_t m, const T *x, const T *const row[PANEL],
                                              bool conjugated, T sum[PANEL]) {
    const R *xr = (const R *)x;
    IN(few) like[PANEL];
#if IS_COMPLEX
    IN(few) unlike[PANEL];
#endif
    UNROLL
    for (int q = 0; q < PANEL; ++q) {
        like[q] = (IN(few)){0};
#if IS_COMPLEX
        unlike[q] = (IN(few)){0};
#endif
    }
    int64_t j = 0;
    for (; j + FEW <= m * PARTS; j += FEW) {
        const IN(few) y = *(const IN(few_unaligned) *)(xr + j);
#if IS_COMPLEX
        IN(few) swapped;
        UNROLL
        for (int v = 0; v < FEW; ++v)
            swapped[v] = y[v ^ 1];
#endif
        UNROLL
        for (int q = 0; q < PANEL; ++q) {
            const IN(few) l = *(const IN(few_unaligned) *)((const R *)row[q] + j);
            like[q] += l * y;
#if IS_COMPLEX
            unlike[q] += l * swapped;
#endif
        }
    }
    UNROLL
    for (int q = 0; q < PANEL; ++q) {
#if IS_COMPLEX
        const R sign = conjugated ? -1 : 1;
        R re = 0, im = 0;
        UNROLL
        for (int v = 0; v < FEW; v += 2) {
            re += like[q][v] - sign * like[q][v + 1];
            im += unlike[q][v] + sign * unlike[q][v + 1];
        }
        sum[q] = NAME(make)(re, im);
        for (int64_t l = j / 2; l < m; ++l)
            sum[q] = ADD_PRODUCT(sum[q], x[l], conjugated ? CONJ(row[q][l]) : row[q][l]);
#else
        (void)conjugated;
        R half[FEW / 2];
        UNROLL
        for (int v = 0; v < FEW / 2; ++v)
            half[v] = like[q][v] + like[q][v + FEW / 2];
        sum[q] = 0;
        UNROLL
        for (int v = 0; v < FEW / 2; ++v)
            sum[q] += half[v];
        for (int64_t l = j; l < m; ++l)
            sum[q] += row[q][l] * x[l];
#endif
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

static TARGET void IN(solve)(const forward_solve_t *s) {
    const product_t zero = {
        .m = s->count, .n = s->order, .C = s->X, .c_row = s->x_column, .c_column = s->x_row};
    if (s->alpha[0] == 0 && s->alpha[1] == 0)
        batchlas_gebp(s->type, &zero);
    else if (s->all <= FEW_SIDES && (s->x_row == 1 || s->x_row == -1))
        IN(solve_few)(s);
    else
        IN(solve_many)(s);
}
