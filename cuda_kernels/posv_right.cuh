/* SPDX-License-Identifier: BSD-3-Clause */
/* Right-hand sides of posv, where a few lanes hold a matrix in their registers. */
#ifndef BATCHLAS_POSV_RIGHT_CUH
#define BATCHLAS_POSV_RIGHT_CUH

#include "tiny_triangle.cuh"

#include <type_traits>

namespace batchlas_device {

struct posv_arguments {
    operand_t A, B;
    int64_t batch;
    int *info;
    int n, nrhs;
};

/* Right-hand sides that are solved at a time where there are several. */
constexpr int several = 4;

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

/* An item with pivots out of the ordinary, where it lies, from column `first` on; what factor_any
 * gives. */
template <bool upper, int lanes, class T>
__device__ __forceinline__ int solve_where_it_lies(T *item, int64_t ld, int first, int n, T *right,
                                                   int64_t ldb, int nrhs, int q, bool wanted) {
    const int failed = factor_any<lanes>(item, upper ? ld : 1, upper ? 1 : ld, first, n, q, wanted);
    warp_barrier();
    if (wanted && failed == 0)
        solve_any<upper, lanes>(item, ld, n, right, ldb, nrhs, q);
    return failed;
}

/* Launches kernel(T{}, bucket, is it upper, right-hand sides at a time), the last two constants. */
template <template <class> class Table, class Kernel>
int launch_posv(const problem_t *problem, void *stream, Kernel kernel) {
    const posv_arguments arguments = {problem->A,    problem->B, problem->batch,
                                      problem->info, problem->n, problem->nrhs};
    const bool upper = problem->uplo == BATCHLAS_UPPER;
    const bool one = problem->nrhs <= 1;
    return with_scalar(problem->type, [&](auto scalar) {
        return with_bucket<decltype(scalar), Table<decltype(scalar)>>(problem->n, [&](auto bucket) {
            using B = decltype(bucket);
            const std::bool_constant<false> lower;
            const std::bool_constant<true> is_upper;
            const std::integral_constant<int, 1> single;
            const std::integral_constant<int, several> few;
            return launch(one ? (upper ? kernel(scalar, bucket, is_upper, single)
                                       : kernel(scalar, bucket, lower, single))
                              : (upper ? kernel(scalar, bucket, is_upper, few)
                                       : kernel(scalar, bucket, lower, few)),
                          (problem->batch + B::items - 1) / B::items, B::threads, stream,
                          arguments);
        });
    });
}

} // namespace batchlas_device

#endif
