/* SPDX-License-Identifier: BSD-3-Clause */
/* Right-hand sides of posv, where a few lanes hold a matrix in their registers. */
#ifndef BATCHLAS_POSV_RIGHT_CUH
#define BATCHLAS_POSV_RIGHT_CUH

#include "tiny_triangle.cuh"

namespace batchlas_device {

struct posv_arguments {
    operand_t A, B;
    int64_t batch;
    int *info;
    int n, nrhs;
};

/* An upper triangle is factored as its transpose, the conjugate of a Hermitian matrix, and so its
 * right-hand sides are conjugated. */
template <bool upper, class T> __device__ __forceinline__ T as_solved(T b) {
    return upper ? conjugate(b) : b;
}

template <bool upper, class T, class Triangle, int count>
__device__ __forceinline__ void load_right(const Triangle &a, const T *item, int64_t ld, int nrhs,
                                           bool wanted, T (&b)[Triangle::owned][count]) {
#pragma unroll
    for (int i = 0; i < Triangle::owned; ++i)
#pragma unroll
        for (int r = 0; r < count; ++r) {
            const int row = a.q + Triangle::rows / Triangle::owned * i;
            b[i][r] = T{};
            if (wanted && row < a.n && r < nrhs)
                b[i][r] = as_solved<upper>(item[row + r * ld]);
        }
}
template <bool upper, class T, class Triangle, int count>
__device__ __forceinline__ void store_right(const Triangle &a, T *item, int64_t ld, int nrhs,
                                            bool wanted, const T (&b)[Triangle::owned][count]) {
#pragma unroll
    for (int i = 0; i < Triangle::owned; ++i)
#pragma unroll
        for (int r = 0; r < count; ++r) {
            const int row = a.q + Triangle::rows / Triangle::owned * i;
            if (wanted && row < a.n && r < nrhs)
                item[row + r * ld] = as_solved<upper>(b[i][r]);
        }
}

/* Both solves with a factor in memory, each lane with right-hand sides of its own. */
template <bool upper, int lanes, class T>
__device__ __forceinline__ void solve_any(const T *item, int64_t ld, int n, T *right, int64_t ldb,
                                          int nrhs, int q) {
    const int64_t down = upper ? ld : 1;
    const int64_t across = upper ? 1 : ld;
#pragma unroll 1
    for (int r = q; r < nrhs; r += lanes) {
        T *const b = right + r * ldb;
#pragma unroll 1
        for (int c = 0; c < n; ++c) {
            T rest = as_solved<upper>(b[c]);
#pragma unroll 1
            for (int k = 0; k < c; ++k)
                rest = minus_product(rest, item[c * down + k * across], b[k]);
            b[c] = scaled(1 / real_part(item[c * (down + across)]), rest);
        }
#pragma unroll 1
        for (int c = n - 1; c >= 0; --c) {
            T rest = b[c];
#pragma unroll 1
            for (int k = c + 1; k < n; ++k)
                rest =
                    minus_product_conj(rest, as_solved<upper>(b[k]), item[k * down + c * across]);
            b[c] = as_solved<upper>(scaled(1 / real_part(item[c * (down + across)]), rest));
        }
    }
}

} // namespace batchlas_device

#endif
