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
#include "potrf_panel.cuh"
#include "tensor_tile.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int panel = tile_columns;

struct geometry {
    int diagonal_blocks; // that an SM should have at work, which bounds the registers
    int rows;            // below the diagonal block, of a warp
    int blocks;          // of these that an SM should have at work
};

/* With block columns of 32 or 64. Of 64 the products of z do not fit a warp's registers. */
template <class T, int width> constexpr geometry geometry_of = {};
template <> constexpr geometry geometry_of<float, 32> = {16, 64, 8};
template <> constexpr geometry geometry_of<float, 64> = {12, 64, 8};
template <> constexpr geometry geometry_of<double, 32> = {12, 32, 8};
template <> constexpr geometry geometry_of<double, 64> = {8, 32, 8};
template <> constexpr geometry geometry_of<complex_of<float>, 32> = {12, 32, 12};
template <> constexpr geometry geometry_of<complex_of<float>, 64> = {8, 32, 8};
template <> constexpr geometry geometry_of<complex_of<double>, 32> = {8, 32, 8};

template <class T, int width> constexpr bool has_width = geometry_of<T, width>.rows > 0;

struct ltile_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
    int j;     // the block column's first
    int tiles; // warps that share the rows below one diagonal block
};

// ---- products with the finished columns ---------------------------------------------------------

/* The products of a warp's rows with the finished columns, from the current panel's first column
 * on; of a triangle the tiles that meet it. */
template <class T, int rows, int width, bool triangle> struct gathered_products {
    static constexpr int down = rows / tile_rows;
    static constexpr int right = width / panel;
    product_tile<T> x[down][right];

    /* x(., g) = x(., g + shift) + own top(first + 8 g)^H, as far as the `there` rows of top go */
    template <int shift>
    __device__ __forceinline__ void add(const staged_panel<T, rows> &own,
                                        const staged_panel<T, width> &top, int first, int there) {
        product_factor<T, 4> a[down];
#pragma unroll
        for (int d = 0; d < down; ++d)
            a[d] = rows_of(own, tile_rows * d);
#pragma unroll
        for (int g = 0; g + shift < right; ++g) {
            if (first + panel * g >= there)
                break;
            const product_factor<T, 2> b = columns_of(top, first + panel * g);
#pragma unroll
            for (int d = 0; d < down; ++d)
                if (!triangle || panel * (g + shift) < tile_rows * (d + 1))
                    x[d][g] = plus_product_conj(x[d][g + shift], a[d], b);
        }
    }
    /* Takes the products from the staged columns, of which `columns` are there from row `first`
     * on. */
    __device__ __forceinline__ void take_from(staged_panel<T, rows> &here, int first,
                                              int columns) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int column = column_of_part(lane, e);
                const int row = tile_rows * d + e / 2 * 8;
                if (triangle && (row < first || column >= columns))
                    continue;
                T &cell = here.at[column][row + lane / 4];
                cell = difference(cell, x[d][0].at(e));
            }
        warp_barrier();
    }
};

// ---- the diagonal block ------------------------------------------------------------------------

template <class T, int width, bool upper> struct diagonal_tile {
    static constexpr int rows = width / warp_lanes;
    static_assert(rows == 1 || rows == 2, "a lane owns one or two rows");

    struct memory {
        staged_panel<T, width> panels[2];
        diagonal_block<T, panel> diagonal;
    };

    triangle_of<T, upper> a;
    int j;
    int order;
    memory &shared;
    gathered_products<T, width, width, true> products; // of the columns so far

    __device__ __forceinline__ staged_panel<T, width> &staged(int k) const {
        return shared.panels[k / panel % 2];
    }
    __device__ __forceinline__ void begin(int k) const {
        const int skipped = k > j ? k - j : 0;
        const int left = j + order - k;
        begin_panel<T, width, upper>(staged(k), a.at(j, k), a.ld, skipped, order,
                                     left < panel ? left : panel);
    }

    /* The panel that begins at the block's column p; the 1-based column of the block that failed,
     * or 0. */
    template <int first> __device__ __forceinline__ int factor_panel(int p) {
        const int lane = static_cast<int>(threadIdx.x);
        staged_panel<T, width> &here = staged(j + p);
        products.take_from(here, p, order - p);
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
        const int failed =
            factor_diagonal<first>(y, p, lane + warp_lanes * first - p, shared.diagonal);
        if (failed)
            return p + failed;
#pragma unroll
        for (int r = first; r < rows; ++r) {
            const int row = lane + warp_lanes * r;
            T *to = a.at(j + row, j + p);
#pragma unroll
            for (int c = 0; c < panel; ++c, to += a.ld) {
                here.at[c][row] = y[r][c];
                if (!upper && row < order && row - p >= c)
                    *to = y[r][c];
            }
        }
        warp_barrier();
        if constexpr (upper)
            store_transposed(a, j, j + p, here, warp_lanes * first, order, p);
        products.template add<1>(here, here, p + panel, order);
        return 0;
    }

    /* The 1-based column that failed, or 0. */
    __device__ __forceinline__ int factor() {
        clear_rows(shared.panels, order);
        begin(0);
#pragma unroll 1
        for (int k = 0; k < j; k += panel) {
            copies_arrive();
            warp_barrier();
            begin(k + panel);
            products.template add<0>(staged(k), staged(k), 0, order);
        }
        int failed = 0;
#pragma unroll 1
        for (int p = 0; p < order; p += panel) {
            copies_arrive();
            warp_barrier();
            if (failed)
                break;
            if (p + panel < order)
                begin(j + p + panel);
            failed = p < warp_lanes ? factor_panel<0>(p) : factor_panel<rows - 1>(p);
        }
        return failed;
    }
};

template <class T, int width, int blocks, bool upper>
__global__ void __launch_bounds__(warp_lanes, blocks)
    factor_diagonal_tile(ltile_arguments arguments) {
    using tile = diagonal_tile<T, width, upper>;
    auto &shared = shared_object<typename tile::memory>();

    const int64_t i = blockIdx.x;
    const int j = arguments.j;
    const bool first = arguments.info_base + j == 0;
    if (!first && arguments.info && arguments.info[i] != 0)
        return;
    const int left = arguments.n - j;
    tile t = {
        {item_of<T>(arguments.A, i), arguments.A.ld}, j, left < width ? left : width, shared, {}};
    const int failed = t.factor();
    if (threadIdx.x == 0 && arguments.info && (failed || first))
        arguments.info[i] = failed ? arguments.info_base + j + failed : 0;
}

// ---- the rows below it -------------------------------------------------------------------------

/* Those of a warp. */
template <class T, int width, int rows, bool upper> struct rows_below {
    static constexpr int of_a_lane = rows / warp_lanes;

    struct memory {
        staged_panel<T, width> top[2]; // of the rows of the diagonal block
        staged_panel<T, rows> own[2];
        real_of<T> inverse[width];
    };

    triangle_of<T, upper> a;
    int n;
    int j;
    int first; // of the rows
    memory &shared;
    gathered_products<T, rows, width, false> products;

    __device__ __forceinline__ void begin(int k) const {
        const int skipped = k > j ? k - j : 0;
        begin_panel<T, width, upper>(shared.top[k / panel % 2], a.at(j, k), a.ld, skipped, width,
                                     panel);
        begin_panel<T, rows, upper>(shared.own[k / panel % 2], a.at(first, k), a.ld, 0, n - first,
                                    panel);
    }

    /* The panel that begins at the block column's column p. */
    __device__ __forceinline__ void solve_panel(const staged_panel<T, width> &top,
                                                staged_panel<T, rows> &here, int p) {
        const int lane = static_cast<int>(threadIdx.x);
        products.take_from(here, 0, panel);
        T y[of_a_lane][panel];
#pragma unroll
        for (int r = 0; r < of_a_lane; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = here.at[c][lane + warp_lanes * r];
        solve_rows<0>(y, &top.at[0][p], staged_panel<T, width>::stride, shared.inverse + p);
#pragma unroll
        for (int r = 0; r < of_a_lane; ++r) {
            const int row = first + lane + warp_lanes * r;
#pragma unroll
            for (int c = 0; c < panel; ++c) {
                here.at[c][lane + warp_lanes * r] = y[r][c];
                if (!upper && row < n)
                    *a.at(row, j + p + c) = y[r][c];
            }
        }
        warp_barrier();
        if constexpr (upper)
            store_transposed(a, first, j + p, here, 0, n - first < rows ? n - first : rows, -panel);
        products.template add<1>(here, top, p + panel, width);
    }

    __device__ __forceinline__ void solve() {
        const int lane = static_cast<int>(threadIdx.x);
        clear_rows(shared.own, n - first);
        begin(0);
#pragma unroll 1
        for (int c = lane; c < width; c += warp_lanes)
            shared.inverse[c] = 1 / real_part(*a.at(j + c, j + c));
#pragma unroll 1
        for (int k = 0; k < j + width; k += panel) {
            copies_arrive();
            warp_barrier();
            if (k + panel < j + width)
                begin(k + panel);
            const int slot = k / panel % 2;
            if (k < j)
                products.template add<0>(shared.own[slot], shared.top[slot], 0, width);
            else
                solve_panel(shared.top[slot], shared.own[slot], k - j);
        }
    }
};

template <class T, int width, int rows, int blocks, bool upper>
__global__ void __launch_bounds__(warp_lanes, blocks) solve_rows_below(ltile_arguments arguments) {
    using below = rows_below<T, width, rows, upper>;
    const int64_t i = blockIdx.x / arguments.tiles;
    if (arguments.info[i] != 0)
        return;
    const int tile = static_cast<int>(blockIdx.x % arguments.tiles);
    below b = {{item_of<T>(arguments.A, i), arguments.A.ld},
               arguments.n,
               arguments.j,
               arguments.j + width + tile * rows,
               *dynamic_shared<typename below::memory>(),
               {}};
    b.solve();
}

// ---- launch ------------------------------------------------------------------------------------

int ceiling(int a, int b) {
    return a / b + (a % b != 0);
}

template <class T, int width>
int factor_items(ltile_arguments arguments, bool upper, int64_t batch, void *stream) {
    constexpr geometry g = geometry_of<T, width>;
    const auto diagonal = upper ? factor_diagonal_tile<T, width, g.diagonal_blocks, true>
                                : factor_diagonal_tile<T, width, g.diagonal_blocks, false>;
    const auto rest = upper ? solve_rows_below<T, width, g.rows, g.blocks, true>
                            : solve_rows_below<T, width, g.rows, g.blocks, false>;
    int error = 0;
    for (arguments.j = 0; error == 0; arguments.j += width) {
        error = launch(diagonal, batch, warp_lanes, stream, arguments);
        if (arguments.n - arguments.j <= width)
            break;
        arguments.tiles = ceiling(arguments.n - arguments.j - width, g.rows);
        if (error == 0)
            error = launch_with_shared(rest, batch * arguments.tiles, warp_lanes,
                                       sizeof(typename rows_below<T, width, g.rows, false>::memory),
                                       stream, arguments);
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
            outcome = launch_in_parts(problem, ceiling(problem.n, geometry_of<T, width>.rows),
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
