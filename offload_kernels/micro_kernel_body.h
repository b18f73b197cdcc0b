/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and the register tile of the host kernels, for one type and one instruction set: a part
 * of other bodies, which all read the same definitions below. A packed line holds one column of the
 * tile's rows; complex numbers lie in it as all their real parts, then all their imaginary parts.
 */

#define LANES ((int)(LANE_BYTES / sizeof(R)))
#define PARTS (IS_COMPLEX + 1)
/* Vectors in a line, and columns of the tile: NR * VECTORS sums fill the registers. With AVX-512
 * one vector a line wastes less on small matrices, and its 32 registers hold more columns. */
#define VECTORS (!IS_COMPLEX && LANE_BYTES == 64 ? 1 : 2)
#define NR      (!IS_COMPLEX && LANE_BYTES == 64 ? 12 : 6)
#define LINE    (VECTORS * LANES)
#define MR      (LINE / PARTS)

typedef R IN(lanes) __attribute__((vector_size(LANE_BYTES), may_alias));

/* What m rows take when packed, k <= GEBP_KC lines at a time. */
static ALWAYS_INLINE TARGET int64_t IN(packed_bytes)(int m, int k) {
    return (int64_t)(m + MR - 1) / MR * LINE * (k < GEBP_KC ? k : GEBP_KC) * (int)sizeof(R);
}

static ALWAYS_INLINE TARGET void IN(pack_line)(int width, int i, T x, R sign, R *packed) {
    packed[i] = REAL(x);
#if IS_COMPLEX
    packed[width + i] = sign * __imag__ x;
#else
    (void)width, (void)sign;
#endif
}

/* `width` rows of a view whose first element is *at, in k lines; those from `valid` on are zeros.
 */
static ALWAYS_INLINE TARGET void IN(pack)(int width, int valid, int64_t k, const T *restrict at,
                                          const view_t *view, R *restrict packed) {
    const int64_t row = view->row, column = view->column;
    const R sign = view->conjugated ? -1 : 1;
    if (valid == width && row == 1) {
        for (int64_t l = 0; l < k; ++l, at += column, packed += PARTS * width) {
#pragma omp simd
            for (int i = 0; i < width; ++i)
                IN(pack_line)(width, i, at[i], sign, packed);
        }
    } else if (valid == width) {
        for (int64_t l = 0; l < k; ++l, at += column, packed += PARTS * width)
            for (int i = 0; i < width; ++i)
                IN(pack_line)(width, i, at[i * row], sign, packed);
    } else {
        for (int64_t l = 0; l < k; ++l, at += column, packed += PARTS * width)
            for (int i = 0; i < width; ++i)
                IN(pack_line)(width, i, i < valid ? at[i * row] : FROM_REAL(0), sign, packed);
    }
}

/* sum := a b^T over k packed lines of a, MR rows, and of b, of which the first `columns` rows count
 * and the others give zeros. */
static ALWAYS_INLINE TARGET void IN(multiply)(int columns, int64_t k, const R *restrict a,
                                              const R *restrict b, IN(lanes) sum[NR][VECTORS]) {
    IN(lanes) s[NR][VECTORS];
    UNROLL
    for (int j = 0; j < columns; ++j) {
        UNROLL
        for (int v = 0; v < VECTORS; ++v)
            s[j][v] = (IN(lanes)){0};
    }
    for (; k > 0; --k, a += LINE, b += NR * PARTS) {
        const IN(lanes) *line = (const IN(lanes) *)a;
        UNROLL
        for (int j = 0; j < columns; ++j) {
#if IS_COMPLEX
            s[j][0] += line[0] * b[j];
            s[j][1] += line[1] * b[j];
            s[j][0] -= line[1] * b[NR + j];
            s[j][1] += line[0] * b[NR + j];
#else
            UNROLL
            for (int v = 0; v < VECTORS; ++v)
                s[j][v] += line[v] * b[j];
#endif
        }
    }
    UNROLL
    for (int j = 0; j < columns; ++j) {
        UNROLL
        for (int v = 0; v < VECTORS; ++v)
            sum[j][v] = s[j][v];
    }
    UNROLL
    for (int j = columns; j < NR; ++j) {
        UNROLL
        for (int v = 0; v < VECTORS; ++v)
            sum[j][v] = (IN(lanes)){0};
    }
}
