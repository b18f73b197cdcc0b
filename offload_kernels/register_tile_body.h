/* SPDX-License-Identifier: BSD-3-Clause */
/* The tile of a product that one device thread computes in registers, straight from memory, for one
 * type: a part of other bodies. Its rows lie `step` apart, so that neighbouring threads read
 * neighbouring rows. */

static inline bool NAME(is_referenced)(const product_t *p, int64_t i, int64_t j) {
    return i < p->m && j < p->n && !(p->fill == LOWER_TRIANGLE && i < j) &&
           !(p->fill == UPPER_TRIANGLE && i > j);
}

static inline void NAME(register_tile)(const product_t *p, int64_t row, int64_t step,
                                       int64_t column) {
    const T alpha = SCALAR(p->alpha), beta = SCALAR(p->beta);
    const bool scales = p->k == 0 || alpha == 0;
    T sum[REGISTER_TILE][REGISTER_TILE];
    UNROLL
    for (int q = 0; q < REGISTER_TILE; ++q) {
        UNROLL
        for (int r = 0; r < REGISTER_TILE; ++r)
            sum[q][r] = FROM_REAL(0);
    }

    if (!scales) {
        /* Beyond an edge the last row or column is computed once more, and not stored. */
        const T *a[REGISTER_TILE], *b[REGISTER_TILE];
        UNROLL
        for (int r = 0; r < REGISTER_TILE; ++r) {
            const int64_t i = row + r * step < p->m ? row + r * step : p->m - 1;
            a[r] = (const T *)p->A.at + i * p->A.row;
        }
        UNROLL
        for (int q = 0; q < REGISTER_TILE; ++q) {
            const int64_t j = column + q < p->n ? column + q : p->n - 1;
            b[q] = (const T *)p->B.at + j * p->B.row;
        }
        for (int64_t l = 0; l < p->k; ++l) {
            T x[REGISTER_TILE];
            UNROLL
            for (int r = 0; r < REGISTER_TILE; ++r)
                x[r] = p->A.conjugated ? CONJ(a[r][l * p->A.column]) : a[r][l * p->A.column];
            UNROLL
            for (int q = 0; q < REGISTER_TILE; ++q) {
                const T y = p->B.conjugated ? CONJ(b[q][l * p->B.column]) : b[q][l * p->B.column];
                UNROLL
                for (int r = 0; r < REGISTER_TILE; ++r)
                    sum[q][r] = ADD_PRODUCT(sum[q][r], x[r], y);
            }
        }
    }

    UNROLL
    for (int q = 0; q < REGISTER_TILE; ++q) {
        UNROLL
        for (int r = 0; r < REGISTER_TILE; ++r) {
            const int64_t i = row + r * step, j = column + q;
            if (!NAME(is_referenced)(p, i, j))
                continue;
            T *c = (T *)p->C + i * p->c_row + j * p->c_column;
            T x = scales ? FROM_REAL(0) : TIMES(alpha, sum[q][r]);
            if (beta != 0)
                x = !scales ? x + TIMES(beta, *c) : beta == 1 ? *c : TIMES(beta, *c);
            *c = p->fill != FULL && i == j ? FROM_REAL(REAL(x)) : x;
        }
    }
}
