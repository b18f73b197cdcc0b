/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf ltile: left-looking over block columns, on tensor cores, two launches each for the whole
 * batch. One updates and factors the diagonal block of each matrix in a block of threads, the other
 * updates the rows below it and solves with it. Both walk along their rows in panels of 8 columns,
 * which come to shared memory by asynchronous copies: first the finished ones, then their own.
 *
 * An upper triangle is worked as the lower one of its transpose: the factor of the transpose is the
 * transpose of U. */
#include "block_in_tiles.cuh"
#include "families.h"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* A diagonal block of up to 8 warps panels columns. */
struct diagonal_geometry {
    int warps;  // of a block of threads, 2 or 4
    int panels; // that a warp has
    int blocks; // of threads that an SM should hold, which bounds the registers
};
constexpr int order_of(diagonal_geometry g) {
    return panel * g.warps * g.panels;
}

/* The rows below it. */
struct rows_geometry {
    int rows;   // of a warp: 16, 32 or 64
    int warps;  // most of a block of threads, which share the rows of the diagonal block
    int stages; // panels in shared memory
    int blocks; // of threads that an SM should hold
};

/* The last of the diagonal blocks' orders is the width of a block column. */
template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr diagonal_geometry diagonal[] = {
        {2, 2, 12}, {2, 3, 10}, {2, 4, 10}, {4, 3, 4}, {4, 4, 3}};
    static constexpr rows_geometry below = {32, 4, 3, 2};
};
template <> struct geometry_of<double> {
    static constexpr diagonal_geometry diagonal[] = {
        {2, 2, 10}, {2, 3, 8}, {2, 4, 6}, {4, 3, 3}, {4, 4, 2}};
    static constexpr rows_geometry below = {16, 4, 3, 2};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr diagonal_geometry diagonal[] = {
        {2, 2, 10}, {2, 3, 8}, {2, 4, 6}, {4, 3, 3}, {4, 4, 2}};
    static constexpr rows_geometry below = {16, 4, 3, 2};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr diagonal_geometry diagonal[] = {{2, 2, 4}, {2, 3, 4}, {4, 2, 2}};
    static constexpr rows_geometry below = {16, 4, 3, 2};
};
template <class T>
constexpr int geometry_count = sizeof geometry_of<T>::diagonal / sizeof(diagonal_geometry);
template <class T>
constexpr int width_of = order_of(geometry_of<T>::diagonal[geometry_count<T> - 1]);

struct ltile_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
    int j;     // the block column's first
    int tiles; // blocks of threads that share the rows below one diagonal block
};

// ---- the diagonal block ------------------------------------------------------------------------

template <class T, int warps, int panels, int blocks, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes, blocks)
    factor_diagonal_block(ltile_arguments arguments) {
    using block = block_in_tiles<T, warps, panels, upper>;
    auto &shared = shared_object<typename block::memory>();

    const int64_t i = blockIdx.x;
    const int j = arguments.j;
    const bool first = arguments.info_base + j == 0;
    if (!first && arguments.info && arguments.info[i] != 0)
        return;
    const triangle_of<T, upper> a = {item_of<T>(arguments.A, i), arguments.A.ld};
    const int left = arguments.n - j;
    block b = {{a.at(j, j), a.ld},
               left < block::order ? left : block::order,
               from_lane<warp_lanes>(static_cast<int>(threadIdx.x) / warp_lanes, 0),
               shared,
               {}};
    b.load();
    if (j > 0)
        b.subtract({a.at(j, 0), a.ld}, j);
    const int failed = b.factor();
    if (threadIdx.x == 0 && arguments.info && (failed || first))
        arguments.info[i] = failed ? arguments.info_base + j + failed : 0;
}

// ---- the rows below it -------------------------------------------------------------------------

/* The products of a warp's rows with the finished columns, from the current panel's first column
 * on. */
template <class T, int rows, int width> struct products_in_tiles {
    static constexpr int down = rows / tile_rows;
    static constexpr int right = width / panel;
    product_tile<T> x[down][right];

    /* x(., g) = x(., g + shift) + own top(first + 8 g)^H, as far as the block column goes */
    template <int shift>
    __device__ __forceinline__ void add(const staged_panel<T, rows> &own,
                                        const staged_panel<T, width> &top, int first) {
        product_factor<T, 4> a[down];
#pragma unroll
        for (int d = 0; d < down; ++d)
            a[d] = rows_of(own, tile_rows * d);
#pragma unroll
        for (int g = 0; g + shift < right; ++g) {
            if (shift && first + panel * g >= width)
                break;
            const product_factor<T, 2> b = columns_of(top, first + panel * g);
#pragma unroll
            for (int d = 0; d < down; ++d)
                x[d][g] = plus_product_conj(x[d][g + shift], a[d], b);
        }
    }
    /* Takes the products from the staged columns. */
    __device__ __forceinline__ void take_from(staged_panel<T, rows> &here) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                T &cell = here.at[column_of_part(lane, e)][tile_rows * d + row_of_part(lane, e)];
                cell = difference(cell, x[d][0].at(e));
            }
    }
};

template <class T, int width, int rows, int stages, bool upper> struct rows_below {
    static constexpr int own_rows = rows < warp_lanes ? 1 : rows / warp_lanes; // of a lane

    struct memory { // in the whole block's use; then each warp's own panels
        staged_panel<T, width> top[stages];
        real_of<T> inverse[width];
    };
    struct alignas(16) own_memory {
        staged_panel<T, rows> panels[stages];
    };
    static constexpr size_t bytes(int warps) {
        return sizeof(memory) + static_cast<size_t>(warps) * sizeof(own_memory);
    }

    triangle_of<T, upper> a;
    int n;
    int j;
    int own; // the warp's first row
    int warp, warps;
    memory &shared;
    own_memory &mine;
    products_in_tiles<T, rows, width> products;

    __device__ __forceinline__ void begin(int k) const {
        if (k < j + width) {
            const int skipped = k > j ? k - j : 0;
            const int slot = k / panel % stages;
            begin_panel<T, width, upper>(shared.top[slot], a.at(j, k), a.ld, skipped, width, panel,
                                         warp, warps);
            if (own < n)
                begin_panel<T, rows, upper>(mine.panels[slot], a.at(own, k), a.ld, 0, n - own,
                                            panel, 0, 1);
        }
        end_group();
    }

    /* The panel that begins at the block column's column p. */
    __device__ __forceinline__ void solve_panel(const staged_panel<T, width> &top,
                                                staged_panel<T, rows> &here, int p) {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        products.take_from(here);
        warp_barrier();
        T y[own_rows][panel];
#pragma unroll
        for (int r = 0; r < own_rows; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = here.at[c][lane % rows + warp_lanes * r];
        warp_barrier();
        solve_rows<0>(y, &top.at[0][p], staged_panel<T, width>::stride, shared.inverse + p);
        if (rows >= warp_lanes || lane < rows)
#pragma unroll
            for (int r = 0; r < own_rows; ++r) {
                const int row = own + lane + warp_lanes * r;
#pragma unroll
                for (int c = 0; c < panel; ++c) {
                    here.at[c][lane + warp_lanes * r] = y[r][c];
                    if (!upper && row < n)
                        *a.at(row, j + p + c) = y[r][c];
                }
            }
        warp_barrier();
        if constexpr (upper)
            store_transposed(a, own, j + p, here, 0, n - own < rows ? n - own : rows, -panel);
        products.template add<1>(here, top, p + panel);
    }

    template <int most_warps> __device__ __forceinline__ void solve() {
        clear_rows(mine.panels, own < n ? n - own : rows,
                   static_cast<int>(threadIdx.x) % warp_lanes, warp_lanes);
#pragma unroll
        for (int s = 0; s + 1 < stages; ++s)
            begin(panel * s);
#pragma unroll 1
        for (int c = static_cast<int>(threadIdx.x); c < width; c += warps * warp_lanes)
            shared.inverse[c] = 1 / real_part(*a.at(j + c, j + c));
#pragma unroll 1
        for (int k = 0; k < j + width; k += panel) {
            groups_arrive(stages - 2);
            block_barrier<most_warps>();
            begin(k + panel * (stages - 1));
            if (own >= n)
                continue;
            const int slot = k / panel % stages;
            if (k < j)
                products.template add<0>(mine.panels[slot], shared.top[slot], 0);
            else
                solve_panel(shared.top[slot], mine.panels[slot], k - j);
        }
    }
};

template <class T, int width, int rows, int warps, int stages, int blocks, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes, blocks)
    solve_rows_below(ltile_arguments arguments) {
    using below = rows_below<T, width, rows, stages, upper>;
    auto *const shared = dynamic_shared<typename below::memory>();

    const int64_t i = blockIdx.x / arguments.tiles;
    if (arguments.info[i] != 0)
        return;
    const int warp = from_lane<warp_lanes>(static_cast<int>(threadIdx.x) / warp_lanes, 0);
    const int its_warps = static_cast<int>(blockDim.x) / warp_lanes;
    const int tile = static_cast<int>(blockIdx.x % arguments.tiles) * its_warps + warp;
    below b = {{item_of<T>(arguments.A, i), arguments.A.ld},
               arguments.n,
               arguments.j,
               arguments.j + width + tile * rows,
               warp,
               its_warps,
               *shared,
               reinterpret_cast<typename below::own_memory *>(shared + 1)[warp],
               {}};
    b.template solve<warps>();
}

// ---- launch ------------------------------------------------------------------------------------

int ceiling(int a, int b) {
    return a / b + (a % b != 0);
}

template <class T, int at = 0>
int launch_diagonal(const ltile_arguments &arguments, bool upper, int64_t batch, void *stream) {
    constexpr diagonal_geometry g = geometry_of<T>::diagonal[at];
    if constexpr (at + 1 < geometry_count<T>)
        if (arguments.n - arguments.j > order_of(g))
            return launch_diagonal<T, at + 1>(arguments, upper, batch, stream);
    const auto kernel = upper ? factor_diagonal_block<T, g.warps, g.panels, g.blocks, true>
                              : factor_diagonal_block<T, g.warps, g.panels, g.blocks, false>;
    return launch(kernel, batch, g.warps * warp_lanes, stream, arguments);
}

template <class T>
int launch_below(ltile_arguments arguments, bool upper, int64_t batch, void *stream) {
    constexpr rows_geometry g = geometry_of<T>::below;
    constexpr int width = width_of<T>;
    const auto kernel =
        upper ? solve_rows_below<T, width, g.rows, g.warps, g.stages, g.blocks, true>
              : solve_rows_below<T, width, g.rows, g.warps, g.stages, g.blocks, false>;
    const int warps = ceiling(arguments.n - arguments.j - width, g.rows);
    arguments.tiles = ceiling(warps, g.warps);
    const int warps_of_a_block = ceiling(warps, arguments.tiles);
    return launch_with_shared(
        kernel, batch * arguments.tiles, warps_of_a_block * warp_lanes,
        resident_padded(rows_below<T, width, g.rows, g.stages, false>::bytes(warps_of_a_block)),
        stream, arguments);
}

template <class T>
int factor_items(ltile_arguments arguments, bool upper, int64_t batch, void *stream) {
    int error = 0;
    for (arguments.j = 0; error == 0; arguments.j += width_of<T>) {
        error = launch_diagonal<T>(arguments, upper, batch, stream);
        if (arguments.n - arguments.j <= width_of<T>)
            break;
        if (error == 0)
            error = launch_below<T>(arguments, upper, batch, stream);
    }
    return error;
}

} // namespace

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

batchlas_status_t batchlas_potrf_ltile_cuda(batchlas_handle_t h, const problem_t *problem,
                                            void *workspace) {
    int *const info = problem->info ? problem->info : static_cast<int *>(workspace);
    const int error = with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        constexpr rows_geometry g = geometry_of<T>::below;
        const int64_t most = INT32_MAX / ceiling(problem->n, g.warps * g.rows);
        int outcome = 0;
        for (int64_t first = 0; first < problem->batch && outcome == 0; first += most) {
            const int64_t batch = problem->batch - first < most ? problem->batch - first : most;
            const ltile_arguments arguments = {operand_from_item(problem->A, first, problem->type),
                                               info + first,
                                               problem->info_base,
                                               problem->n,
                                               0,
                                               0};
            outcome = factor_items<T>(arguments, problem->uplo == BATCHLAS_UPPER, batch, h->stream);
        }
        return outcome;
    });
    return batchlas_device_status(h, error, "launching potrf ltile");
}
