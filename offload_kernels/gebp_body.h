/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's block product for one type and one instruction set. */
#include "micro_kernel_body.h"

/* The rows of column j, among i .. i + m - 1, that are referenced: i + *first .. i + *last - 1. */
static ALWAYS_INLINE TARGET void IN(referenced)(const product_t *p, int i, int j, int m, int *first,
                                                int *last) {
    const int64_t cross = j - p->diagonal - i;
    *first = 0;
    *last = m;
    if (p->fill == LOWER_TRIANGLE && cross > 0)
        *first = cross < m ? (int)cross : m;
    if (p->fill == UPPER_TRIANGLE && cross < m)
        *last = cross < 0 ? 0 : (int)cross + 1;
}

/* Whether rows i .. i + m - 1 of columns j .. j + n - 1 hold nothing that is referenced. */
static ALWAYS_INLINE TARGET bool IN(is_outside)(const product_t *p, int i, int j, int m, int n) {
    return (p->fill == LOWER_TRIANGLE && i + m - 1 + p->diagonal < j) ||
           (p->fill == UPPER_TRIANGLE && i + p->diagonal > j + n - 1);
}

static ALWAYS_INLINE TARGET void IN(make_diagonal_real)(const product_t *p, int i, int j, int m) {
#if IS_COMPLEX
    const int64_t cross = j - p->diagonal;
    if (p->fill != FULL && cross >= i && cross < i + m) {
        T *c = (T *)p->C + cross * p->c_row + j * p->c_column;
        *c = FROM_REAL(REAL(*c));
    }
#else
    (void)p, (void)i, (void)j, (void)m;
#endif
}

static TARGET void IN(scale)(const product_t *p) {
    const T beta = SCALAR(p->beta);
    for (int j = 0; j < p->n; ++j) {
        T *c = (T *)p->C + j * p->c_column;
        int first, last;
        IN(referenced)(p, 0, j, p->m, &first, &last);
        for (int i = first; i < last && beta != 1; ++i)
            c[i * p->c_row] = beta == 0 ? FROM_REAL(0) : TIMES(beta, c[i * p->c_row]);
        IN(make_diagonal_real)(p, 0, j, p->m);
    }
}

/* Elements first .. last - 1 of a column of C, from their sums in the register tile. */
static ALWAYS_INLINE TARGET void IN(update_as)(bool reads, bool by_reals, int first, int last,
                                               const R *restrict sum, T alpha, T beta,
                                               T *restrict c, int64_t row) {
#pragma omp simd
    for (int i = first; i < last; ++i) {
#if IS_COMPLEX
        const T x = NAME(make)(sum[i], sum[MR + i]);
#else
        const T x = sum[i];
#endif
        T y = by_reals ? SCALE(REAL(alpha), x) : TIMES(alpha, x);
        if (reads)
            y += by_reals ? SCALE(REAL(beta), c[i * row]) : TIMES(beta, c[i * row]);
        c[i * row] = y;
    }
}

static ALWAYS_INLINE TARGET void IN(update)(int first, int last, const R *restrict sum, T alpha,
                                            T beta, T *restrict c, int64_t row) {
    const bool by_reals =
        !IS_COMPLEX || (alpha == FROM_REAL(REAL(alpha)) && beta == FROM_REAL(REAL(beta)));
    if (beta == 0 && by_reals)
        IN(update_as)(false, true, first, last, sum, alpha, beta, c, row);
    else if (beta == 0)
        IN(update_as)(false, false, first, last, sum, alpha, beta, c, row);
    else if (by_reals)
        IN(update_as)(true, true, first, last, sum, alpha, beta, c, row);
    else
        IN(update_as)(true, false, first, last, sum, alpha, beta, c, row);
}

/* The register tile whose first element is (i, j) of C and of which C has m by n elements. */
static ALWAYS_INLINE TARGET void IN(store)(const product_t *p, int i, int j, int m, int n,
                                           R tile[NR][LINE], T beta) {
    const T alpha = SCALAR(p->alpha);
    for (int q = 0; q < n; ++q) {
        T *c = (T *)p->C + i * p->c_row + (j + q) * p->c_column;
        int first, last;
        IN(referenced)(p, i, j + q, m, &first, &last);
        if (p->c_row == 1 && last - first == MR)
            IN(update)(0, MR, tile[q], alpha, beta, c, 1);
        else if (p->c_row == 1)
            IN(update)(first, last, tile[q], alpha, beta, c, 1);
        else
            IN(update)(first, last, tile[q], alpha, beta, c, p->c_row);
        IN(make_diagonal_real)(p, i, j + q, m);
    }
}

static NOINLINE TARGET void IN(gebp_in)(const product_t *p, R *packed_a) {
    R packed_b[GEBP_KC * NR * PARTS] ALIGNED;
    R tile[NR][LINE] ALIGNED;
    IN(lanes)(*sum)[VECTORS] = (IN(lanes)(*)[VECTORS])tile;
    T beta = SCALAR(p->beta);
    for (int l = 0; l < p->k; l += GEBP_KC) {
        const T *a = (const T *)p->A.at + l * p->A.column;
        const T *b = (const T *)p->B.at + l * p->B.column;
        const int kc = p->k - l < GEBP_KC ? p->k - l : GEBP_KC;
        for (int i = 0; i < p->m; i += MR) {
            const int mr = p->m - i < MR ? p->m - i : MR;
            IN(pack)(MR, mr, kc, a + i * p->A.row, &p->A, packed_a + i * PARTS * kc);
        }
        for (int j = 0; j < p->n; j += NR) {
            const int nr = p->n - j < NR ? p->n - j : NR;
            if (IN(is_outside)(p, 0, j, p->m, nr))
                continue;
            IN(pack)(NR, nr, kc, b + j * p->B.row, &p->B, packed_b);
            for (int i = 0; i < p->m; i += MR) {
                const int mr = p->m - i < MR ? p->m - i : MR;
                if (IN(is_outside)(p, i, j, mr, nr))
                    continue;
                const R *lines = packed_a + i * PARTS * kc;
                if (nr > NR / 2)
                    IN(multiply)(NR, kc, lines, packed_b, sum);
                else
                    IN(multiply)(NR / 2, kc, lines, packed_b, sum);
                IN(store)(p, i, j, mr, nr, tile, beta);
            }
        }
        beta = FROM_REAL(1);
    }
}

static NOINLINE TARGET void IN(gebp_in_large_frame)(const product_t *p) {
    R packed_a[GEBP_BLOCK_BYTES / sizeof(R)] ALIGNED;
    IN(gebp_in)(p, packed_a);
}

static NOINLINE TARGET void IN(gebp_in_small_frame)(const product_t *p) {
    R packed_a[GEBP_SMALL_BYTES / sizeof(R)] ALIGNED;
    IN(gebp_in)(p, packed_a);
}

/* m <= gebp_rows(). */
static TARGET void IN(gebp)(const product_t *p) {
    if (p->k == 0 || SCALAR(p->alpha) == 0)
        IN(scale)(p);
    else if (IN(packed_bytes)(p->m, p->k) <= GEBP_SMALL_BYTES)
        IN(gebp_in_small_frame)(p);
    else
        IN(gebp_in_large_frame)(p);
}
