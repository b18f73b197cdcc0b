/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm in register tiles, all nine pairs of op(A) and op(B). */
#include "families.h"
#include "register_tile.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

struct gemm_arguments {
    operand_t A, B, C;
    const int *skip;
    double alpha[2], beta[2];
    int m, n, k;
    int tile_rows, tiles; // of one item's C
    batchlas_op_t op_a, op_b;
};

template <class tile>
__global__ void __launch_bounds__(tile::threads, tile::shape.blocks)
    multiply(gemm_arguments arguments) {
    using T = typename tile::scalar;
    const int64_t item = blockIdx.x / arguments.tiles;
    if (arguments.skip && arguments.skip[item])
        return;
    const int t = static_cast<int>(blockIdx.x % arguments.tiles);
    const int row = t % arguments.tile_rows * tile::shape.rows;
    const int column = t / arguments.tile_rows * tile::shape.columns;

    const bool a_plain = arguments.op_a == BATCHLAS_NO_TRANS;
    const bool b_plain = arguments.op_b == BATCHLAS_NO_TRANS;
    const int lda = arguments.A.ld;
    const int ldb = arguments.B.ld;
    const T alpha = scalar_from<T>(arguments.alpha);
    const int depth = is_zero(alpha) ? 0 : arguments.k;
    // alpha == 0 and k == 0 need neither factor, whose pointers may then be NULL.
    const factor_view<T> a = {depth ? item_of<T>(arguments.A, item) : nullptr, a_plain ? 1 : lda,
                              a_plain ? lda : 1, arguments.op_a == BATCHLAS_CONJ_TRANS,
                              arguments.m};
    const factor_view<T> b = {depth ? item_of<T>(arguments.B, item) : nullptr, b_plain ? ldb : 1,
                              b_plain ? 1 : ldb, arguments.op_b == BATCHLAS_CONJ_TRANS,
                              arguments.n};
    tile::template run<false>(a, b, depth, alpha, scalar_from<T>(arguments.beta), arguments.C, item,
                              row, column, part::whole);
}

int64_t parts_of(int extent, int part) {
    return (static_cast<int64_t>(extent) + part - 1) / part;
}

template <class tile> int launch_tiles(const problem_t &problem, void *stream) {
    const int64_t tile_rows = parts_of(problem.m, tile::shape.rows);
    const int64_t tiles = tile_rows * parts_of(problem.n, tile::shape.columns);
    return launch_in_parts(problem, tiles, [&](const problem_t &part) {
        const gemm_arguments arguments = {part.A,
                                          part.B,
                                          part.C,
                                          part.skip,
                                          {part.alpha[0], part.alpha[1]},
                                          {part.beta[0], part.beta[1]},
                                          part.m,
                                          part.n,
                                          part.k,
                                          static_cast<int>(tile_rows),
                                          static_cast<int>(tiles),
                                          part.op_a,
                                          part.op_b};
        return launch_with_shared(multiply<tile>, part.batch * tiles, tile::threads,
                                  resident_padded(tile::shared_bytes), stream, arguments);
    });
}

} // namespace

bool batchlas_gemm_register_can_run(const problem_t *problem, const device_facts_t *facts,
                                    const char **reason) {
    (void)facts;
    *reason = "register tiles are counted in 31 bits: C has at most 10^12 elements";
    return static_cast<double>(problem->m) * problem->n <= 1e12;
}

batchlas_status_t batchlas_gemm_register(batchlas_handle_t h, const problem_t *problem,
                                         void *workspace) {
    (void)workspace;
    const int error = with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        const int which = cheapest_shape<T>(h->facts.multiprocessors, [&](int rows, int columns) {
            return static_cast<double>(problem->batch) * parts_of(problem->m, rows) *
                   parts_of(problem->n, columns);
        });
        return with_tile<T>(
            which, [&](auto tile) { return launch_tiles<decltype(tile)>(*problem, h->stream); });
    });
    return batchlas_device_status(h, error, "launching gemm register");
}
