/* SPDX-License-Identifier: BSD-3-Clause */
/* syrk and herk in register tiles: only the tiles that meet the triangle are made. */
#include "families.h"
#include "register_tile.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

struct syrk_arguments {
    operand_t A, C;
    const int *skip;
    double alpha, beta;
    int n, k;
    int tiles; // of one item's triangle
    bool transposed;
    part wanted;
};

/* The t-th tile of a lower triangle, row by row. */
__device__ __forceinline__ void triangle_tile(int t, int &row, int &column) {
    row = static_cast<int>((sqrtf(8.0f * static_cast<float>(t) + 1.0f) - 1.0f) / 2.0f);
    // The root may be off by one either way.
    row -= row * (row + 1) / 2 > t;
    row += (row + 1) * (row + 2) / 2 <= t;
    column = t - row * (row + 1) / 2;
}

/* Tiles may be taller than wide: those that make up a square stand side by side. */
template <class tile> constexpr int side_by_side = tile::shape.rows / tile::shape.columns;

template <class tile>
__global__ void __launch_bounds__(tile::threads, tile::shape.blocks)
    update(syrk_arguments arguments) {
    using T = typename tile::scalar;
    using R = real_of<T>;
    const int64_t item = blockIdx.x / arguments.tiles;
    if (arguments.skip && arguments.skip[item])
        return;
    const int t = static_cast<int>(blockIdx.x % arguments.tiles);
    int row, column;
    triangle_tile(t / side_by_side<tile>, row, column);
    if (arguments.wanted == part::upper) {
        const int swapped = row;
        row = column;
        column = swapped;
    }
    column = column * side_by_side<tile> + t % side_by_side<tile>;
    // C(i, j) = sum of op(A)(i, k) conj(op(A)(j, k)), where op(A) is A, or A^H.
    const int ld = arguments.A.ld;
    const T *const x = item_of<T>(arguments.A, item);
    const bool transposed = arguments.transposed;
    const factor_view<T> a = {x, transposed ? ld : 1, transposed ? 1 : ld, transposed, arguments.n};
    const factor_view<T> b = {x, a.row_step, a.k_step, !transposed, arguments.n};
    tile::template run<true>(
        a, b, arguments.alpha == 0 ? 0 : arguments.k, from_real<T>(static_cast<R>(arguments.alpha)),
        from_real<T>(static_cast<R>(arguments.beta)), arguments.C, item, row * tile::shape.rows,
        column * tile::shape.columns, arguments.wanted);
}

/* In the squares that meet a triangle. */
int64_t tiles_of(int n, int rows, int columns) {
    const int64_t side = (n + rows - 1) / rows;
    return side * (side + 1) / 2 * (rows / columns);
}

template <class tile> int launch_tiles(const problem_t &problem, void *stream) {
    static_assert(tile::shape.rows % tile::shape.columns == 0, "whole tiles make up a square");
    const int64_t tiles = tiles_of(problem.n, tile::shape.rows, tile::shape.columns);
    return launch_in_parts(problem, tiles, [&](const problem_t &items) {
        const syrk_arguments arguments = {items.A,
                                          items.C,
                                          items.skip,
                                          items.alpha[0],
                                          items.beta[0],
                                          items.n,
                                          items.k,
                                          static_cast<int>(tiles),
                                          items.op_a != BATCHLAS_NO_TRANS,
                                          items.uplo == BATCHLAS_LOWER ? part::lower : part::upper};
        return launch_with_shared(update<tile>, items.batch * tiles, tile::threads,
                                  resident_padded(tile::shared_bytes), stream, arguments);
    });
}

} // namespace

bool batchlas_syrk_register_can_run(const problem_t *problem, const device_facts_t *facts,
                                    const char **reason) {
    (void)facts;
    *reason = "register tiles are counted in 31 bits: the order is at most 1,000,000";
    return problem->n <= 1000000;
}

batchlas_status_t batchlas_syrk_register(batchlas_handle_t h, const problem_t *problem,
                                         void *workspace) {
    (void)workspace;
    const int error = with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        const int which = cheapest_shape<T>(h->facts.multiprocessors, [&](int rows, int columns) {
            return static_cast<double>(problem->batch) * tiles_of(problem->n, rows, columns);
        });
        return with_tile<T>(
            which, [&](auto tile) { return launch_tiles<decltype(tile)>(*problem, h->stream); });
    });
    return batchlas_device_status(h, error, "launching syrk register");
}
