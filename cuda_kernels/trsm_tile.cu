/* SPDX-License-Identifier: BSD-3-Clause */
/* trsm as potrf meets it, X L^H = B or, for an upper triangle, its transpose: each warp solves some
 * right-hand sides from the first block column to the last, as potrf ltile solves the rows below a
 * diagonal block. Nobody waits for anybody. */
#include "families.h"
#include "rows_below.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int narrow = 32, wide = 64; // block columns

struct tile_arguments {
    operand_t A, B;
    const int *skip;
    int order;
    int count; // of right-hand sides
    int tiles; // warps that share an item's
    bool real_diagonal;
};

template <class T, int width, bool upper>
__global__ void __launch_bounds__(warp_lanes, rows_geometry_of<T, width>.blocks)
    solve(tile_arguments arguments) {
    using some_rows = rows_below<T, width, upper, divisor<T>>;
    const int64_t i = blockIdx.x / arguments.tiles;
    if (arguments.skip && arguments.skip[i])
        return;
    const int first = static_cast<int>(blockIdx.x % arguments.tiles) * some_rows::rows;
    const triangle_of<const T, upper> a = {item_of<const T>(arguments.A, i), arguments.A.ld};
    const triangle_of<T, upper> b = {item_of<T>(arguments.B, i), arguments.B.ld};
    bool has_tiny = false;
#pragma unroll 1
    for (int j = 0; j < arguments.order; j += width) {
        some_rows x = {{a.at(j, 0), a.ld},
                       {b.at(first, 0), b.ld},
                       arguments.count - first,
                       j,
                       shared_object<typename some_rows::memory>(),
                       has_tiny,
                       {}};
        x.solve(arguments.real_diagonal);
        has_tiny = x.has_tiny;
        warp_barrier();
    }
}

/* Calls with the widest block column that the order has whole. */
template <class Call> auto with_width(const problem_t &problem, int order, Call call) {
    return with_scalar(problem.type, [&](auto scalar) {
        using T = decltype(scalar);
        if constexpr (has_width<T, wide>)
            if (order % wide == 0)
                return call(scalar, std::integral_constant<int, wide>{});
        return call(scalar, std::integral_constant<int, narrow>{});
    });
}

bool is_right(const problem_t &p) {
    return p.side == BATCHLAS_RIGHT;
}

} // namespace

bool batchlas_trsm_tile_can_run(const problem_t *problem, const device_facts_t *facts,
                                const char **reason) {
    (void)facts;
    const problem_t &p = *problem;
    *reason = "tile serves B := B A^-H (right, lower) and A^-H B (left, upper), not unit, with "
              "alpha = 1 and an order that is a multiple of 32";
    const bool adjoint =
        p.op_a == BATCHLAS_CONJ_TRANS || (p.op_a == BATCHLAS_TRANS && !scalar_is_complex(p.type));
    return adjoint && is_right(p) == (p.uplo == BATCHLAS_LOWER) && p.diag == BATCHLAS_NON_UNIT &&
           p.alpha[0] == 1 && p.alpha[1] == 0 && (is_right(p) ? p.n : p.m) % narrow == 0;
}

batchlas_status_t batchlas_trsm_tile(batchlas_handle_t h, const problem_t *problem,
                                     void *workspace) {
    (void)workspace;
    const problem_t &p = *problem;
    const int order = is_right(p) ? p.n : p.m;
    const int count = is_right(p) ? p.m : p.n;
    const int error = with_width(p, order, [&](auto scalar, auto width) {
        using T = decltype(scalar);
        constexpr int rows = rows_geometry_of<T, decltype(width)::value>.rows;
        const int tiles = (count - 1) / rows + 1;
        return launch_in_parts(p, tiles, [&](const problem_t &part) {
            const tile_arguments arguments = {part.A, part.B, part.skip,         order,
                                              count,  tiles,  part.real_diagonal};
            return launch(is_right(p) ? solve<T, decltype(width)::value, false>
                                      : solve<T, decltype(width)::value, true>,
                          part.batch * tiles, warp_lanes, h->stream, arguments);
        });
    });
    return batchlas_device_status(h, error, "launching trsm tile");
}
