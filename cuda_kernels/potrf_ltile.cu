/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf ltile: left-looking over block columns, two launches each for the whole batch. One updates
 * and factors the diagonal block of each matrix in a warp; in the other a warp updates some of the
 * rows below it and solves with it. Both walk along their rows in panels of 8 columns, first the
 * finished ones, whose products gather in tiles of the tensor cores, then their own, which go
 * through shared memory to be worked by rows.
 *
 * An upper triangle is worked as the lower one of its transpose: the factor of the transpose is the
 * transpose of U. */
#include "families.h"
#include "rows_below.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* Of a warp that works on a diagonal block. */
struct diagonal_geometry {
    int ring;   // panels that are there or under way
    int blocks; // of one warp, that an SM should have at work, which bounds the registers
};
template <class T, int width> constexpr diagonal_geometry diagonal_geometry_of = {};
template <> constexpr diagonal_geometry diagonal_geometry_of<float, 32> = {2, 16};
template <> constexpr diagonal_geometry diagonal_geometry_of<float, 64> = {2, 12};
template <> constexpr diagonal_geometry diagonal_geometry_of<double, 32> = {3, 12};
template <> constexpr diagonal_geometry diagonal_geometry_of<double, 64> = {3, 8};
template <> constexpr diagonal_geometry diagonal_geometry_of<complex_of<float>, 32> = {2, 12};
template <> constexpr diagonal_geometry diagonal_geometry_of<complex_of<float>, 64> = {2, 8};
template <> constexpr diagonal_geometry diagonal_geometry_of<complex_of<double>, 32> = {2, 8};

struct ltile_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
    int j;     // the block column's first
    int tiles; // warps that share the rows below one diagonal block
};

// ---- the diagonal block ------------------------------------------------------------------------

template <class T, int width, bool upper> struct diagonal_tile {
    static constexpr int rows = width / warp_lanes;
    static_assert(rows == 1 || rows == 2, "a lane owns one or two rows");
    static constexpr int ring = diagonal_geometry_of<T, width>.ring;

    struct memory {
        staged_panel<T, width> panels[ring];
        diagonal_block<T, panel> diagonal;
    };

    triangle_of<T, upper> a;
    int j;
    int order;
    memory &shared;
    gathered_products<T, width, width, true> products; // of the columns so far

    __device__ __forceinline__ staged_panel<T, width> &staged(int k) const {
        return shared.panels[k / panel % ring];
    }

    /* The panel that begins at the block's column p, of which no row lies above the lanes' rows
     * `first`; the 1-based column of the block that failed, or 0. */
    template <int first> __device__ __forceinline__ int factor_panel(int p) {
        constexpr int first_row = warp_lanes * first;
        const int lane = static_cast<int>(threadIdx.x);
        staged_panel<T, width> &here = staged(j + p);
        products.template take_from<first_row>(here);
        T y[rows][panel];
#pragma unroll
        for (int r = first; r < rows; ++r) {
            const int row = lane + warp_lanes * r;
            if (p + panel <= order) {
                const int read = row < p ? p : row;
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    y[r][c] = here.at[c][read];
            } else {
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    y[r][c] = row >= p && row < order && p + c < order ? here.at[c][row]
                                                                       : identity_at<T>(row, p + c);
            }
        }
        const int own = lane + first_row - p; // the first own row, of the panel's
        const int failed = factor_diagonal<first>(y, p, own, shared.diagonal);
        if (failed)
            return p + failed;
        T *to = a.at(j + first_row + lane, j + p);
#pragma unroll
        for (int c = 0; c < panel; ++c, to += a.ld)
#pragma unroll
            for (int r = first; r < rows; ++r) {
                const int further = warp_lanes * (r - first); // rows, that lie below the panel
                here.at[c][lane + warp_lanes * r] = y[r][c];
                if (!upper && lane + warp_lanes * r < order && (further > 0 || own >= c))
                    to[further] = y[r][c];
            }
        warp_barrier();
        if constexpr (upper)
            store_transposed(a, j, j + p, here, first_row, order, p);
        products.template add<1, first_row>(here, here, p + panel, order);
        return 0;
    }

    /* The 1-based column that failed, or 0. */
    __device__ __forceinline__ int factor() {
        // What no copy fills is read all the same where the block is the first or its last panel
        // is not whole.
        clear_rows(shared.panels, j > 0 && order % panel == 0 ? order : 0);
        warp_barrier();
        const T *coming = a.at(j, 0); // of the panel to be copied next
        const auto begin = [&](int k) {
            const int left = j + order - k;
            if (left > 0) {
                begin_panel<T, width, upper>(staged(k), coming, a.ld, k > j ? k - j : 0, order,
                                             left < panel ? left : panel);
                coming += upper ? panel : panel * a.ld;
            }
            end_group();
        };
#pragma unroll
        for (int ahead = 0; ahead < ring - 1; ++ahead)
            begin(panel * ahead);
        const auto arrived = [&](int k) {
            groups_arrive(ring - 2);
            warp_barrier();
            begin(k + panel * (ring - 1));
        };
#pragma unroll 1
        for (int k = 0; k < j; k += panel) {
            arrived(k);
            products.template add<0>(staged(k), staged(k), 0, order);
        }
        int failed = 0;
#pragma unroll 1
        for (int p = 0; p < order && !failed; p += panel) {
            arrived(j + p);
            failed = p < warp_lanes ? factor_panel<0>(p) : factor_panel<rows - 1>(p);
        }
        groups_arrive(0);
        return failed;
    }
};

template <class T, int width, bool upper>
__global__ void __launch_bounds__(warp_lanes, diagonal_geometry_of<T, width>.blocks)
    factor_diagonal_tile(ltile_arguments arguments) {
    using tile = diagonal_tile<T, width, upper>;
    auto &shared = shared_object<typename tile::memory>();

    const int64_t i = blockIdx.x;
    const int j = arguments.j;
    const bool first = arguments.info_base + j == 0;
    if (!first && arguments.info[i] != 0)
        return;
    const int left = arguments.n - j;
    tile t = {
        {item_of<T>(arguments.A, i), arguments.A.ld}, j, left < width ? left : width, shared, {}};
    const int failed = t.factor();
    if (threadIdx.x == 0 && (failed || first))
        arguments.info[i] = failed ? arguments.info_base + j + failed : 0;
}

// ---- the rows below it -------------------------------------------------------------------------

template <class T, int width, bool upper>
__global__ void __launch_bounds__(warp_lanes, rows_geometry_of<T, width>.blocks)
    solve_rows_below(ltile_arguments arguments) {
    using below = rows_below<T, width, upper>;
    const int64_t i = blockIdx.x / arguments.tiles;
    if (arguments.info[i] != 0)
        return;
    const int tile = static_cast<int>(blockIdx.x % arguments.tiles);
    const triangle_of<T, upper> a = {item_of<T>(arguments.A, i), arguments.A.ld};
    const int first = arguments.j + width + tile * below::rows;
    below b = {{a.at(arguments.j, 0), a.ld},
               {a.at(first, 0), a.ld},
               arguments.n - first,
               arguments.j,
               shared_object<typename below::memory>(),
               false,
               {}};
    b.solve(true);
}

// ---- launch ------------------------------------------------------------------------------------

int ceiling(int a, int b) {
    return a / b + (a % b != 0);
}

template <class T, int width>
int factor_items(ltile_arguments arguments, bool upper, int64_t batch, void *stream) {
    const auto diagonal =
        upper ? factor_diagonal_tile<T, width, true> : factor_diagonal_tile<T, width, false>;
    const auto rest = upper ? solve_rows_below<T, width, true> : solve_rows_below<T, width, false>;
    int error = 0;
    for (arguments.j = 0; error == 0; arguments.j += width) {
        error = launch(diagonal, batch, warp_lanes, stream, arguments);
        if (arguments.n - arguments.j <= width)
            break;
        arguments.tiles =
            ceiling(arguments.n - arguments.j - width, rows_geometry_of<T, width>.rows);
        if (error == 0)
            error = launch(rest, batch * arguments.tiles, warp_lanes, stream, arguments);
    }
    return error;
}

template <int width>
batchlas_status_t launch_batch(batchlas_handle_t h, problem_t problem, void *workspace) {
    if (!problem.info)
        problem.info = static_cast<int *>(workspace);
    const int error = with_scalar(problem.type, [&](auto scalar) {
        using T = decltype(scalar);
        int outcome = 0;
        if constexpr (has_width<T, width>)
            outcome = launch_in_parts(problem, ceiling(problem.n, rows_geometry_of<T, width>.rows),
                                      [&](const problem_t &part) {
                                          return factor_items<T, width>(
                                              {part.A, part.info, part.info_base, part.n, 0, 0},
                                              part.uplo == BATCHLAS_UPPER, part.batch, h->stream);
                                      });
        return outcome;
    });
    return batchlas_device_status(h, error, "launching potrf ltile");
}

} // namespace

bool batchlas_potrf_ltile_64_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                          const char **reason) {
    (void)facts;
    *reason = "ltile:width=64 serves the types s, d and c";
    return with_scalar(problem->type, [](auto scalar) { return has_width<decltype(scalar), 64>; });
}

/* Whoever comes after the first launch must know which items failed. */
batchlas_status_t batchlas_potrf_ltile_cuda_buffer_size(batchlas_handle_t h,
                                                        const problem_t *problem, size_t *bytes) {
    (void)h;
    arena_t arena = {};
    if (!problem->info)
        arena_take(&arena, problem->batch, sizeof(int));
    *bytes = arena.used;
    return BATCHLAS_SUCCESS;
}

batchlas_status_t batchlas_potrf_ltile_32_cuda(batchlas_handle_t h, const problem_t *problem,
                                               void *workspace) {
    return launch_batch<32>(h, *problem, workspace);
}

batchlas_status_t batchlas_potrf_ltile_64_cuda(batchlas_handle_t h, const problem_t *problem,
                                               void *workspace) {
    return launch_batch<64>(h, *problem, workspace);
}
