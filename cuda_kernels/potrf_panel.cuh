/* SPDX-License-Identifier: BSD-3-Clause */
/* One panel of a left-looking Cholesky factorisation, for the families that give a thread whole
 * rows of it: x[r][c] is column c of the panel in row thread + threads * r. The rows of the
 * diagonal block lie in one warp, which factors it; all others solve with what that warp leaves in
 * shared memory. */
#ifndef BATCHLAS_POTRF_PANEL_CUH
#define BATCHLAS_POTRF_PANEL_CUH

#include "device.cuh"

#include <type_traits>

namespace batchlas_device {

/* The factor's diagonal block as its warp finishes it, column by column: what all rows below need.
 */
template <class T, int panel> struct alignas(16) diagonal_block {
    T column[panel][panel];
    real_of<T> inverse[panel];
    int failed; // the 1-based column whose pivot was not positive, or 0
};

/* work(first) for the first of a thread's rows that does not lie above the panel, as a constant;
 * `above` rows do, each with its whole warp. The barrier between a panel's two halves stands
 * outside, once for all threads. */
template <int rows, int first = 0, class Work>
__device__ __forceinline__ void from_first_row(int above, Work work) {
    if constexpr (first < rows) {
        if (above > first)
            from_first_row<rows, first + 1>(above, work);
        else
            work(std::integral_constant<int, first>{});
    }
}

/* What stands beyond the matrix, where its order is not a whole number of panels. */
template <class T> __device__ __forceinline__ T identity_at(int row, int column) {
    return from_real<T>(real_of<T>(row == column));
}

/* x(., k) -= x(., c) conj(factor[k]) for the columns k > c of the panel; factor[k] is
 * L(j + k, j + c). */
template <int first, class T, int rows, int panel>
__device__ __forceinline__ void update_columns(T (&x)[rows][panel], int c, const T *factor) {
    constexpr int length = granule<T>::length;
    const granule<T> *const column = reinterpret_cast<const granule<T> *>(factor);
#pragma unroll
    for (int i = 0; i < panel / length; ++i) {
        if ((i + 1) * length <= c + 1)
            continue;
        const granule<T> l = column[i];
#pragma unroll
        for (int e = 0; e < length; ++e) {
            const int k = i * length + e;
            if (k > c)
#pragma unroll
                for (int r = first; r < rows; ++r)
                    x[r][k] = minus_product_conj(x[r][k], x[r][c], l.at[e]);
        }
    }
}

/* Factors the diagonal block, and the own rows below it with it, in the warp that holds it. Row j
 * of the matrix is row 0 of the panel, and own_row is what x[first] is of the panel. Every lane
 * gets what becomes diagonal.failed. */
template <int first, class T, int rows, int panel>
__device__ __forceinline__ int factor_diagonal(T (&x)[rows][panel], int j, int own_row,
                                               diagonal_block<T, panel> &diagonal) {
    using R = real_of<T>;
    int failed = 0;
#pragma unroll
    for (int c = 0; c < panel; ++c) {
        const R d = from_lane<warp_lanes>(real_part(x[first][c]), (j + c) % warp_lanes);
        pivot<R> p;
        if (is_ordinary_pivot(d)) {
            p = ordinary_pivot(d);
        } else {
            p = any_pivot(d);
            if (!(d > 0) && failed == 0)
                failed = c + 1;
        }
#pragma unroll
        for (int r = first; r < rows; ++r)
            x[r][c] = scaled(p.inverse, x[r][c]);
        if (own_row == c) {
            x[first][c] = from_real<T>(p.root);
            diagonal.inverse[c] = p.inverse;
        }
        if (own_row >= 0 && own_row < panel)
            diagonal.column[c][own_row] = x[first][c];
        warp_barrier();
        update_columns<first>(x, c, diagonal.column[c]);
    }
    if (own_row == 0)
        diagonal.failed = failed;
    return failed;
}

template <class T> __device__ __forceinline__ T divided(T x, real_of<T> inverse) {
    return scaled(inverse, x);
}

/* The same for all other rows, once the diagonal block is finished: its columns, `stride` apart,
 * and the inverses of its diagonal, with which divided() divides. */
template <int first, class T, int rows, int panel, class Inverse>
__device__ __forceinline__ void solve_rows(T (&x)[rows][panel], const T *columns, int stride,
                                           const Inverse *inverses) {
#pragma unroll
    for (int c = 0; c < panel; ++c) {
        const Inverse inverse = inverses[c];
#pragma unroll
        for (int r = first; r < rows; ++r)
            x[r][c] = divided(x[r][c], inverse);
        update_columns<first>(x, c, columns + c * stride);
    }
}
template <int first, class T, int rows, int panel>
__device__ __forceinline__ void solve_rows(T (&x)[rows][panel],
                                           const diagonal_block<T, panel> &diagonal) {
    solve_rows<first>(x, &diagonal.column[0][0], panel, diagonal.inverse);
}

/* The columns of the panel that lie in the triangle, in column-major order: a row of it. */
template <class T, int panel>
__device__ __forceinline__ void store_row(T *to, int64_t ld, const T (&x)[panel], int below) {
    if (below >= panel) {
#pragma unroll
        for (int c = 0; c < panel; ++c)
            to[c * ld] = x[c];
    } else {
#pragma unroll
        for (int c = 0; c < panel; ++c)
            if (below >= c)
                to[c * ld] = x[c];
    }
}

} // namespace batchlas_device

#endif
