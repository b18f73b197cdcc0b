/* SPDX-License-Identifier: BSD-3-Clause */
/* C := alpha op(A) op(B) + beta C, one tile of C a block: the common part of gemm, syrk and herk.
 * Tiles of op(A) and op(B) go through shared memory, double-buffered; each thread keeps a part of C
 * in registers and feeds it by sixteen-byte loads. */
#ifndef BATCHLAS_REGISTER_TILE_CUH
#define BATCHLAS_REGISTER_TILE_CUH

#include "device.cuh"

namespace batchlas_device {

/* The tile of C, the depth of a step, the part of C that one thread holds, and the blocks that an
 * SM should hold, which bounds the registers. */
template <class T> struct tile_shape;
template <> struct tile_shape<float> {
    static constexpr int size = 64, depth = 16, rows = 8, columns = 4, blocks = 4;
};
template <> struct tile_shape<double> {
    static constexpr int size = 64, depth = 8, rows = 8, columns = 4, blocks = 3;
};
template <> struct tile_shape<complex_of<float>> {
    static constexpr int size = 64, depth = 8, rows = 4, columns = 4, blocks = 2;
};
template <> struct tile_shape<complex_of<double>> {
    static constexpr int size = 32, depth = 8, rows = 4, columns = 2, blocks = 4;
};

/* op(X)(row, k) = x[row * row_step + k * k_step], conjugated or not; a step of 1 says along which
 * way neighbours in memory lie. */
template <class T> struct factor_view {
    const T *x;
    int64_t row_step;
    int64_t k_step;
    bool conjugated;
    int rows;
};

/* Which elements of C a block may touch. */
enum class part { whole, lower, upper };

template <class T> struct register_tile {
    using shape = tile_shape<T>;
    static constexpr int length = granule<T>::length;
    static constexpr int across = shape::size / shape::rows; // threads along the rows
    static constexpr int threads = across * (shape::size / shape::columns);
    static constexpr int fetched = shape::size * shape::depth / threads; // of each factor, a thread
    // A row is padded so that storing a tile whose k runs fastest meets few banks twice.
    static constexpr int stride = shape::size + length;
    static_assert(shape::rows % length == 0 && shape::columns % length == 0, "whole granules");

    struct buffers {
        alignas(16) T a[2][shape::depth][stride];
        alignas(16) T b[2][shape::depth][stride];
    };

    static_assert(threads % shape::size == 0 && threads % shape::depth == 0,
                  "a thread's elements lie one step after the other");

    /* The elements of a tile that this thread fetches: the first, and the way to the next.
     * Neighbouring threads follow memory. */
    struct place {
        int row, k, row_step, k_step;
    };
    __device__ __forceinline__ static place place_of(bool along_k) {
        const int thread = static_cast<int>(threadIdx.x);
        if (along_k)
            return {thread / shape::depth, thread % shape::depth, threads / shape::depth, 0};
        return {thread % shape::size, thread / shape::size, 0, threads / shape::size};
    }
    __device__ __forceinline__ static void fetch(T (&to)[fetched], const factor_view<T> &from,
                                                 int first_row, int first_k, int depth) {
        const place at = place_of(from.k_step == 1);
        const int row = first_row + at.row;
        const int k = first_k + at.k;
        const T *const x = from.x + row * from.row_step + k * from.k_step;
        const int64_t step = at.row_step * from.row_step + at.k_step * from.k_step;
#pragma unroll
        for (int i = 0; i < fetched; ++i) {
            const bool inside = row + i * at.row_step < from.rows && k + i * at.k_step < depth;
            const T value = inside ? x[i * step] : T{};
            to[i] = from.conjugated ? conjugate(value) : value;
        }
    }
    __device__ __forceinline__ static void put(T (&to)[shape::depth][stride],
                                               const T (&from)[fetched], bool along_k) {
        const place at = place_of(along_k);
#pragma unroll
        for (int i = 0; i < fetched; ++i)
            to[at.k + i * at.k_step][at.row + i * at.row_step] = from[i];
    }

    /* The element that a thread's r-th row or column is of the tile: whole granules, spread so that
     * a warp's loads follow each other. */
    __device__ __forceinline__ static int spread(int thread, int r, int count) {
        return thread * length + r % length + r / length * length * count;
    }

    /* sum += (rows of a) (rows of b)^T over one step. */
    __device__ __forceinline__ static void multiply(T (&sum)[shape::rows][shape::columns],
                                                    const T (&a)[shape::depth][stride],
                                                    const T (&b)[shape::depth][stride], int x,
                                                    int y) {
#pragma unroll 2 // more of it and the compiler loads too far ahead for the registers
        for (int k = 0; k < shape::depth; ++k) {
            T left[shape::rows], right[shape::columns];
#pragma unroll
            for (int r = 0; r < shape::rows; r += length)
                *reinterpret_cast<granule<T> *>(&left[r]) =
                    *reinterpret_cast<const granule<T> *>(&a[k][spread(x, r, across)]);
#pragma unroll
            for (int c = 0; c < shape::columns; c += length)
                *reinterpret_cast<granule<T> *>(&right[c]) =
                    *reinterpret_cast<const granule<T> *>(&b[k][spread(y, c, threads / across)]);
#pragma unroll
            for (int r = 0; r < shape::rows; ++r)
#pragma unroll
                for (int c = 0; c < shape::columns; ++c)
                    sum[r][c] = plus_product(sum[r][c], left[r], right[c]);
        }
    }

    /* The tile of C whose first element is (first_row, first_column). `b` is op(B)^T: its rows are
     * C's columns. With beta == 0 C is not read; on the diagonal of a triangle C is left real. */
    __device__ __forceinline__ static void run(const factor_view<T> &a, const factor_view<T> &b,
                                               int depth, T alpha, T beta, T *c, int64_t ldc,
                                               int first_row, int first_column, part wanted,
                                               buffers &shared) {
        const int x = static_cast<int>(threadIdx.x) % across;
        const int y = static_cast<int>(threadIdx.x) / across;
        T sum[shape::rows][shape::columns] = {};
        T coming_a[fetched], coming_b[fetched];
        if (depth > 0) {
            fetch(coming_a, a, first_row, 0, depth);
            fetch(coming_b, b, first_column, 0, depth);
        }
        int buffer = 0;
#pragma unroll 1
        for (int k = 0; k < depth; k += shape::depth) {
            put(shared.a[buffer], coming_a, a.k_step == 1);
            put(shared.b[buffer], coming_b, b.k_step == 1);
            block_barrier();
            if (k + shape::depth < depth) {
                fetch(coming_a, a, first_row, k + shape::depth, depth);
                fetch(coming_b, b, first_column, k + shape::depth, depth);
            }
            multiply(sum, shared.a[buffer], shared.b[buffer], x, y);
            buffer ^= 1; // what was read before the last barrier may be written after it
        }

        const bool reads = !is_zero(beta);
#pragma unroll
        for (int j = 0; j < shape::columns; ++j) {
            const int column = first_column + spread(y, j, threads / across);
#pragma unroll
            for (int i = 0; i < shape::rows; ++i) {
                const int row = first_row + spread(x, i, across);
                const bool inside = row < a.rows && column < b.rows &&
                                    (wanted == part::whole ||
                                     (wanted == part::lower ? row >= column : row <= column));
                if (!inside)
                    continue;
                T *const at = c + row + column * ldc;
                T value;
                if (wanted == part::whole) {
                    value = product(alpha, sum[i][j]);
                    if (reads)
                        value = plus_product(value, beta, *at);
                } else {
                    // Real scalars touch each part alone, and a diagonal is real before and after.
                    value = scaled(real_part(alpha), sum[i][j]);
                    if (reads)
                        value = plus_scaled(value, real_part(beta), *at);
                    if (row == column)
                        value = from_real<T>(real_part(value));
                }
                *at = value;
            }
        }
    }
};

} // namespace batchlas_device

#endif
