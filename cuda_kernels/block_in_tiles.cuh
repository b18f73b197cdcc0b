/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky of one block of a matrix by a block of threads, right-looking, in panels of 8 columns.
 * It lies in the registers of the warps, as the tiles that tensor cores multiply; warp w has the
 * panels w, w + warps, ... A panel goes through shared memory, where each thread takes a row of it
 * to factor and from where it updates the panels that follow. Once each warp has finished a panel,
 * the tiles move up in the registers, so that all such rounds share their code. */
#ifndef BATCHLAS_BLOCK_IN_TILES_CUH
#define BATCHLAS_BLOCK_IN_TILES_CUH

#include "potrf_panel.cuh"
#include "tensor_tile.cuh"

namespace batchlas_device {

constexpr int panel = tile_columns;

template <class T, int warps, int panels, bool upper> struct block_in_tiles {
    static constexpr int order = panel * warps * panels;
    static constexpr int down = order / tile_rows;
    static constexpr int round = warps * panel; // columns that a round of panels finishes
    static constexpr int step = round / tile_rows;
    static_assert(round % tile_rows == 0 && order <= warps * warp_lanes, "whole tiles, a row each");

    struct memory {
        staged_panel<T, order> staged[2];
        diagonal_block<T, panel> diagonal;
    };

    triangle_of<T, upper> a; // the block
    int n;                   // its order
    int warp;
    memory &shared;
    // Tile r of the warp's i-th panel, those counted from row `begin` on and these from the round
    // that begins there. A panel has the tiles from step i on.
    product_tile<T> x[panels][down];

    __device__ __forceinline__ int lane() const {
        return static_cast<int>(threadIdx.x) % warp_lanes;
    }
    /* The first column of the warp's i-th panel from `begin` on. */
    __device__ __forceinline__ int column_of(int begin, int i) const {
        return begin + round * i + panel * warp;
    }

    __device__ __forceinline__ void load() {
#pragma unroll
        for (int i = 0; i < panels; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int column = column_of(0, i) + column_of_part(lane(), e);
                const T *const from = a.at(row_of_part(lane(), e), column);
                const int64_t down_a_tile = upper ? tile_rows * a.ld : tile_rows;
#pragma unroll
                for (int r = step * i; r < down; ++r) {
                    const int row = tile_rows * r + row_of_part(lane(), e);
                    const bool in_triangle = r >= step * (i + 1) || row >= column;
                    T value = identity_at<T>(row, column);
                    if (row < n && in_triangle)
                        value = from[r * down_a_tile];
                    x[i][r].set(e, value);
                }
            }
    }

    /* The panel at column j, whose round begins at row `begin`, from the registers of its warp. */
    __device__ __forceinline__ void put(staged_panel<T, order> &to, int begin) const {
#pragma unroll
        for (int r = 0; r < down; ++r)
            if (begin + tile_rows * r < n)
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    to.at[column_of_part(lane(), e)]
                         [begin + tile_rows * r + row_of_part(lane(), e)] = x[0][r].at(e);
    }

    /* Factors the staged panel at column j; the 1-based column of the matrix that failed, or 0. */
    __device__ __forceinline__ int factor_panel(staged_panel<T, order> &here, int j) {
        const int row = static_cast<int>(threadIdx.x);
        const bool has_rows = warp_lanes * (warp + 1) > j && warp_lanes * warp < n;
        const bool has_diagonal = warp == j / warp_lanes;
        T y[1][panel];
        const auto take = [&] {
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[0][c] = row >= j && row < n ? here.at[c][row] : identity_at<T>(row, j + c);
        };
        if (has_rows)
            take();
        if (has_diagonal && !factor_ordinary_diagonal(y[0], j, row - j, shared.diagonal)) {
            take();
            factor_diagonal<0>(y, j, row - j, shared.diagonal);
        }
        block_barrier();
        if (shared.diagonal.failed)
            return j + shared.diagonal.failed;
        if (has_rows) {
            if (!has_diagonal)
                solve_rows<0>(y, shared.diagonal);
            if (row < order && row >= j)
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    here.at[c][row] = y[0][c];
            if constexpr (!upper)
                if (row < n)
                    store_row(a.at(row, j), a.ld, y[0], row - j);
        }
        block_barrier();
        if constexpr (upper)
            store_transposed(a, 0, j, here, j + warp_lanes / panel * warp, n, j, warps);
        return 0;
    }

    /* Updates the warp's panels from the `first`-th on with the finished one; they move up by
     * `moved` panels and by the tiles above these. */
    template <int moved>
    __device__ __forceinline__ void update(const staged_panel<T, order> &finished, int begin,
                                           int first) {
        product_factor<T, 2> minus_b[panels];
#pragma unroll
        for (int i = moved; i < panels; ++i)
            if (column_of(begin, i) < n)
                minus_b[i] = minus_columns_of(finished, column_of(begin, i));
#pragma unroll
        for (int r = step * moved; r < down; ++r) {
            if (begin + tile_rows * r >= n)
                break;
            const product_factor<T, 4> b = rows_of(finished, begin + tile_rows * r);
#pragma unroll
            for (int i = moved; i < panels && step * i <= r; ++i)
                if (i >= first && column_of(begin, i) < n)
                    x[i - moved][r - step * moved] = plus_product_conj(x[i][r], b, minus_b[i]);
        }
    }

    /* Begins to copy what the column k and the next ones have to the left of the block. */
    __device__ __forceinline__ void begin(const triangle_of<T, upper> &left, int k) const {
        begin_panel<T, order, upper>(shared.staged[k / panel % 2], left.at(0, k), a.ld, 0, n, panel,
                                     warp, warps);
    }
    /* Subtracts the products of the finished columns on the left, an even number of panels: the
     * last of these is not where the block's first one comes. */
    __device__ __forceinline__ void subtract(const triangle_of<T, upper> &left, int count) {
        clear_rows(shared.staged, n, static_cast<int>(threadIdx.x), warps * warp_lanes);
        begin(left, 0);
#pragma unroll 1
        for (int k = 0; k < count; k += panel) {
            copies_arrive();
            block_barrier();
            if (k + panel < count)
                begin(left, k + panel);
            update<0>(shared.staged[k / panel % 2], 0, 0);
        }
    }

    /* The 1-based column that failed, or 0. */
    __device__ __forceinline__ int factor() {
        int failed = 0;
#pragma unroll 1
        for (int begin = 0; begin < n; begin += round) {
#pragma unroll 1
            for (int owner = 0; owner < warps; ++owner) {
                const int j = begin + panel * owner;
                if (j >= n)
                    break;
                staged_panel<T, order> &here = shared.staged[owner % 2];
                if (warp == owner)
                    put(here, begin);
                block_barrier();
                failed = factor_panel(here, j);
                if (failed)
                    return failed;
                if (owner + 1 < warps)
                    update<0>(here, begin, warp > owner ? 0 : 1);
                else
                    update<1>(here, begin, 1);
            }
        }
        return 0;
    }
};

} // namespace batchlas_device

#endif
