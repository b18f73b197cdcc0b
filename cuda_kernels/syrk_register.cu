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

template <class T>
__global__ void __launch_bounds__(register_tile<T>::threads, tile_shape<T>::blocks)
    update(syrk_arguments arguments) {
    using tile = register_tile<T>;
    using R = real_of<T>;
    auto &shared = shared_object<typename tile::buffers>();

    const int64_t item = blockIdx.x / arguments.tiles;
    if (arguments.skip && arguments.skip[item])
        return;
    int row, column;
    triangle_tile(static_cast<int>(blockIdx.x % arguments.tiles), row, column);
    if (arguments.wanted == part::upper) {
        const int swapped = row;
        row = column;
        column = swapped;
    }
    // C(i, j) = sum of op(A)(i, k) conj(op(A)(j, k)), where op(A) is A, or A^H.
    const int64_t ld = arguments.A.ld;
    const T *const x = item_of<T>(arguments.A, item);
    const bool transposed = arguments.transposed;
    const factor_view<T> a = {x, transposed ? ld : 1, transposed ? 1 : ld, transposed, arguments.n};
    const factor_view<T> b = {x, a.row_step, a.k_step, !transposed, arguments.n};
    tile::run(
        a, b, arguments.alpha == 0 ? 0 : arguments.k, from_real<T>(static_cast<R>(arguments.alpha)),
        from_real<T>(static_cast<R>(arguments.beta)), item_of<T>(arguments.C, item), arguments.C.ld,
        row * tile::shape::size, column * tile::shape::size, arguments.wanted, shared);
}

template <class T> int tiles_of(int n) {
    const int side = (n + tile_shape<T>::size - 1) / tile_shape<T>::size;
    return side * (side + 1) / 2;
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
        const int tiles = tiles_of<T>(problem->n);
        const int64_t most = INT32_MAX / tiles; // items of one launch
        int outcome = 0;
        for (int64_t first = 0; first < problem->batch && outcome == 0; first += most) {
            const int64_t batch = problem->batch - first < most ? problem->batch - first : most;
            const syrk_arguments arguments = {operand_from_item(problem->A, first, problem->type),
                                              operand_from_item(problem->C, first, problem->type),
                                              problem->skip ? problem->skip + first : nullptr,
                                              problem->alpha[0],
                                              problem->beta[0],
                                              problem->n,
                                              problem->k,
                                              tiles,
                                              problem->op_a != BATCHLAS_NO_TRANS,
                                              problem->uplo == BATCHLAS_LOWER ? part::lower
                                                                              : part::upper};
            outcome =
                launch(update<T>, batch * tiles, register_tile<T>::threads, h->stream, arguments);
        }
        return outcome;
    });
    return batchlas_device_status(h, error, "launching syrk register");
}
