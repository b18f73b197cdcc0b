/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf rtile: a block factors one matrix, right-looking, in panels of 8 columns. The matrix lies
 * in the registers of the block's warps, as the tiles that tensor cores multiply; warp w has the
 * panels w, w + warps, ... A panel goes through shared memory, where each thread takes a row of it
 * to factor and from where it updates the panels that follow. Once each warp has finished a panel,
 * the tiles move up in the registers, so that all such rounds share their code.
 *
 * An upper triangle is worked as the lower one of its transpose: the factor of the transpose is the
 * transpose of U. */
#include "families.h"
#include "potrf_panel.cuh"
#include "tensor_tile.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int panel = tile_columns;

/* How one bucket of orders is served: all up to 8 warps panels. */
struct geometry {
    int warps;  // of a block, 2 or 4
    int panels; // that a warp has
    int blocks; // blocks that an SM should hold, which bounds the registers
};
constexpr int order_of(geometry g) {
    return panel * g.warps * g.panels;
}

template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr geometry rows[] = {{2, 2, 12}, {2, 3, 10}, {2, 4, 10}, {4, 3, 4}, {4, 4, 3}};
};
template <> struct geometry_of<double> {
    static constexpr geometry rows[] = {{2, 2, 10}, {2, 3, 8}, {2, 4, 6}, {4, 3, 3}, {4, 4, 2}};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry rows[] = {{2, 2, 10}, {2, 3, 8}, {2, 4, 6}, {4, 3, 3}, {4, 4, 2}};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry rows[] = {{2, 2, 4}, {2, 3, 4}, {4, 2, 2}};
};
template <class T> constexpr int geometry_count = sizeof geometry_of<T>::rows / sizeof(geometry);
template <class T>
constexpr int highest_order = order_of(geometry_of<T>::rows[geometry_count<T> - 1]);

struct rtile_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
};

template <class T, int warps, int panels, bool upper> struct matrix_in_tiles {
    static constexpr int order = order_of({warps, panels, 0});
    static constexpr int down = order / tile_rows;
    static constexpr int round = warps * panel; // columns that a round of panels finishes
    static constexpr int step = round / tile_rows;
    static_assert(round % tile_rows == 0 && order <= warps * warp_lanes, "whole tiles, a row each");

    struct memory {
        staged_panel<T, order> staged[2];
        diagonal_block<T, panel> diagonal;
    };

    triangle_of<T, upper> a;
    int n;
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
                    const bool below = r >= step * (i + 1) || row > column;
                    T value = identity_at<T>(row, column);
                    if (row < n && column < n && (below || row == column))
                        value = below ? from[r * down_a_tile]
                                      : from_real<T>(real_part(from[r * down_a_tile]));
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
                if (row < n && row >= j)
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

    /* The 1-based column that failed, or 0. */
    __device__ __forceinline__ int factor() {
        load();
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

template <class T, int warps, int panels, int blocks, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes, blocks) factor(rtile_arguments arguments) {
    using matrix = matrix_in_tiles<T, warps, panels, upper>;
    auto &shared = shared_object<typename matrix::memory>();

    const int64_t i = blockIdx.x;
    if (arguments.info_base > 0 && arguments.info && arguments.info[i] != 0)
        return;
    matrix m = {{item_of<T>(arguments.A, i), arguments.A.ld},
                arguments.n,
                from_lane<warp_lanes>(static_cast<int>(threadIdx.x) / warp_lanes, 0),
                shared,
                {}};
    const int failed = m.factor();
    if (threadIdx.x == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

// ---- launch ------------------------------------------------------------------------------------

template <class T, int at = 0>
int launch_row(const rtile_arguments &arguments, bool upper, int64_t batch, void *stream) {
    constexpr geometry row = geometry_of<T>::rows[at];
    if constexpr (at + 1 < geometry_count<T>)
        if (arguments.n > order_of(row))
            return launch_row<T, at + 1>(arguments, upper, batch, stream);
    const auto kernel = upper ? factor<T, row.warps, row.panels, row.blocks, true>
                              : factor<T, row.warps, row.panels, row.blocks, false>;
    return launch(kernel, batch, row.warps * warp_lanes, stream, arguments);
}

} // namespace

bool batchlas_potrf_rtile_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                       const char **reason) {
    (void)facts;
    *reason = "the matrix does not fit into the registers of one block";
    return with_scalar(problem->type,
                       [&](auto scalar) { return problem->n <= highest_order<decltype(scalar)>; });
}

batchlas_status_t batchlas_potrf_rtile_cuda(batchlas_handle_t h, const problem_t *problem,
                                            void *workspace) {
    (void)workspace;
    const int64_t most = INT32_MAX; // blocks of one launch
    int error = 0;
    for (int64_t first = 0; first < problem->batch && error == 0; first += most) {
        const int64_t batch = problem->batch - first < most ? problem->batch - first : most;
        const rtile_arguments arguments = {operand_from_item(problem->A, first, problem->type),
                                           problem->info ? problem->info + first : nullptr,
                                           problem->info_base, problem->n};
        error = with_scalar(problem->type, [&](auto scalar) {
            return launch_row<decltype(scalar)>(arguments, problem->uplo == BATCHLAS_UPPER, batch,
                                                h->stream);
        });
    }
    return batchlas_device_status(h, error, "launching potrf rtile");
}
