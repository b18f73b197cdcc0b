/* SPDX-License-Identifier: BSD-3-Clause */
/* Left-looking work on block columns in a warp: products with the finished columns gather in tiles
 * of the tensor cores, panels of 8 columns go through shared memory to be worked by rows. */
#ifndef BATCHLAS_ROWS_BELOW_CUH
#define BATCHLAS_ROWS_BELOW_CUH

#include "divisor.cuh"
#include "potrf_panel.cuh"
#include "tensor_tile.cuh"

#include <type_traits>

namespace batchlas_device {

constexpr int panel = tile_columns;

/* The products of a warp's rows with the finished columns, from the current panel's first column
 * on; of a triangle the tiles that meet it. */
template <class T, int rows, int width, bool triangle> struct gathered_products {
    static constexpr int down = rows / tile_rows;
    static constexpr int right = width / panel;
    product_tile<T> x[down][right];

    /* Whether there is a tile in these rows that begins at a column. */
    static constexpr __device__ bool has(int d, int column) {
        return !triangle || column < tile_rows * (d + 1);
    }
    /* Tiles one above the other whose factors are at hand: more, and registers run out. */
    static constexpr int together = 128 / static_cast<int>(sizeof(product_factor<T, 4>));

    /* x(., g) = x(., g + shift) + own top(first + 8 g)^H, as far as the `there` rows of top go, for
     * own rows from first_row on. */
    template <int shift, int first_row = 0>
    __device__ __forceinline__ void add(const staged_panel<T, rows> &own,
                                        const staged_panel<T, width> &top, int first, int there) {
#pragma unroll
        for (int above = first_row / tile_rows; above < down; above += together) {
            product_factor<T, 4> a[together];
#pragma unroll
            for (int d = 0; d < together; ++d)
                if (above + d < down)
                    a[d] = rows_of(own, tile_rows * (above + d));
#pragma unroll
            for (int g = 0; g + shift + first_row / panel < right; ++g) {
                if (first + panel * g >= there)
                    break;
                const product_factor<T, 2> b = columns_of(top, first + panel * g);
#pragma unroll
                for (int d = 0; d < together; ++d)
                    if (above + d < down && has(above + d, panel * (g + shift) + first_row))
                        x[above + d][g] = plus_tile_product<true>(x[above + d][g + shift], a[d], b);
            }
        }
    }
    /* The same for all of them, where own rows may be too small for the tensor cores. */
    template <int shift>
    __device__ __forceinline__ void add_scaled(const staged_panel<T, rows> &own,
                                               const staged_panel<T, width> &top, int first) {
#pragma unroll
        for (int d = 0; d < down; ++d) {
            const scaled_factor<T> a = scaled_rows_of(own, tile_rows * d);
#pragma unroll
            for (int g = 0; g + shift < right; ++g) {
                if (first + panel * g >= width)
                    break;
                x[d][g] = plus_scaled_product<true>(x[d][g + shift], a,
                                                    columns_of(top, first + panel * g));
            }
        }
    }
    /* Takes the products from the staged columns, rows from first_row on. */
    template <int first_row = 0>
    __device__ __forceinline__ void take_from(staged_panel<T, rows> &here) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int d = first_row / tile_rows; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                T &cell = here.at[column_of_part(lane, e)][tile_rows * d + row_of_part(lane, e)];
                cell = difference(cell, x[d][0].at(e));
            }
        warp_barrier();
    }
};

/* Of a warp that works on rows below a diagonal block. */
struct rows_geometry {
    int rows;
    int ring;   // panels that are there or under way
    int blocks; // of one warp, that an SM should have at work, which bounds the registers
};

/* With block columns of 32 or 64. Of 64 the products of z do not fit a warp's registers. */
template <class T, int width> constexpr rows_geometry rows_geometry_of = {};
template <> inline constexpr rows_geometry rows_geometry_of<float, 32> = {64, 3, 8};
template <> inline constexpr rows_geometry rows_geometry_of<float, 64> = {64, 3, 8};
template <> inline constexpr rows_geometry rows_geometry_of<double, 32> = {32, 3, 8};
template <> inline constexpr rows_geometry rows_geometry_of<double, 64> = {32, 3, 8};
template <> inline constexpr rows_geometry rows_geometry_of<complex_of<float>, 32> = {32, 3, 12};
template <> inline constexpr rows_geometry rows_geometry_of<complex_of<float>, 64> = {32, 2, 8};
template <> inline constexpr rows_geometry rows_geometry_of<complex_of<double>, 32> = {32, 2, 8};

template <class T, int width> constexpr bool has_width = rows_geometry_of<T, width>.rows > 0;

/* Division by the conjugate of a diagonal's element: of a Cholesky factor, which is real and not
 * tiny, no more than the rows below it are, or of any triangle. */
template <class T> __device__ __forceinline__ void prepare(real_of<T> &inverse, T d, bool) {
    inverse = 1 / real_part(d);
}
template <class T> __device__ __forceinline__ void prepare(divisor<T> &inverse, T d, bool is_real) {
    inverse = divisor_of(is_real ? from_real<T>(real_part(d)) : conjugate(d));
}
template <class T> __device__ __forceinline__ T divided(T x, const divisor<T> &by) {
    return times(by.inverse, scaled(by.before, x));
}

/* Some rows below a diagonal block of width columns, in a warp: updated and solved, X L^H = A. Of
 * any triangle also the rows are any. */
template <class T, int width, bool upper, class Inverse = real_of<T>> struct rows_below {
    static constexpr rows_geometry g = rows_geometry_of<T, width>;
    static constexpr int rows = g.rows;
    static constexpr int ring = g.ring;
    static constexpr int of_a_lane = rows / warp_lanes;
    static constexpr bool may_be_tiny =
        has_small_range<T> && std::is_same<Inverse, divisor<T>>::value;

    struct memory {
        staged_panel<T, width> top[ring]; // of the rows of the diagonal block
        staged_panel<T, rows> own[ring];
        Inverse inverse[width];
    };

    triangle_of<const T, upper> diagonal; // the rows of the diagonal block, from column 0 on
    triangle_of<T, upper> a;              // the own rows
    int there;                            // of these
    int j;                                // the block column's first
    memory &shared;
    bool has_tiny; // numbers in columns before
    gathered_products<T, rows, width, false> products;

    template <int shift>
    __device__ __forceinline__ void add(const staged_panel<T, rows> &own,
                                        const staged_panel<T, width> &top, int first) {
        if (may_be_tiny && has_tiny)
            products.template add_scaled<shift>(own, top, first);
        else
            products.template add<shift>(own, top, first, width);
    }

    /* The panel that begins at the block column's column p. */
    __device__ __forceinline__ void solve_panel(const staged_panel<T, width> &top,
                                                staged_panel<T, rows> &here, int p) {
        const int lane = static_cast<int>(threadIdx.x);
        products.take_from(here);
        T y[of_a_lane][panel];
#pragma unroll
        for (int r = 0; r < of_a_lane; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = here.at[c][lane + warp_lanes * r];
        solve_rows<0>(y, &top.at[0][p], staged_panel<T, width>::stride, shared.inverse + p);
        if constexpr (may_be_tiny) {
            bool tiny = false;
#pragma unroll
            for (int r = 0; r < of_a_lane; ++r)
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    tiny |= is_tiny(y[r][c]);
            has_tiny |= lanes_where(tiny) != 0;
        }
        T *to = a.at(lane, j + p);
#pragma unroll
        for (int c = 0; c < panel; ++c, to += a.ld)
#pragma unroll
            for (int r = 0; r < of_a_lane; ++r) {
                here.at[c][lane + warp_lanes * r] = y[r][c];
                if (!upper && lane + warp_lanes * r < there)
                    to[warp_lanes * r] = y[r][c];
            }
        warp_barrier();
        if constexpr (upper)
            store_transposed(a, 0, j + p, here, 0, there < rows ? there : rows, -panel);
        add<1>(here, top, p + panel);
    }

    __device__ __forceinline__ void solve(bool real_diagonal) {
        const int lane = static_cast<int>(threadIdx.x);
        clear_rows(shared.own, there);
        const T *top = diagonal.item, *own = a.item; // of the panel to be copied next
        const auto begin = [&](int k) {
            if (k < j + width) {
                const int slot = k / panel % ring;
                const int skipped = k > j ? k - j : 0;
                begin_panel<T, width, upper>(shared.top[slot], top, diagonal.ld, skipped, width,
                                             panel);
                begin_panel<T, rows, upper>(shared.own[slot], own, a.ld, 0, there, panel);
                top += upper ? panel : panel * diagonal.ld;
                own += upper ? panel : panel * a.ld;
            }
            end_group();
        };
#pragma unroll
        for (int ahead = 0; ahead < ring - 1; ++ahead)
            begin(panel * ahead);
#pragma unroll 1
        for (int c = lane; c < width; c += warp_lanes)
            prepare(shared.inverse[c], *diagonal.at(c, j + c), real_diagonal);
#pragma unroll 1
        for (int k = 0; k < j + width; k += panel) {
            groups_arrive(ring - 2);
            warp_barrier();
            begin(k + panel * (ring - 1));
            const int slot = k / panel % ring;
            if (k < j)
                add<0>(shared.own[slot], shared.top[slot], 0);
            else
                solve_panel(shared.top[slot], shared.own[slot], k - j);
        }
    }
};

} // namespace batchlas_device

#endif
