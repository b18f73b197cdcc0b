/* SPDX-License-Identifier: BSD-3-Clause */
/* tiny_triangle for orders at which its code, unrolled from the first column to the last, would
 * not fit the instruction cache: the panels of a stage share their code. In it the columns move up
 * by a panel at a time, so that the panel at hand is always the first; finished columns leave the
 * registers for memory. */
#ifndef BATCHLAS_ROLLED_TRIANGLE_CUH
#define BATCHLAS_ROLLED_TRIANGLE_CUH

#include "tiny_triangle.cuh"

namespace batchlas_device {

/* `span` columns make a stage. At its start x[i][c] is column c after the finished ones. */
template <class T, int N, int least, int lanes, int panel, int span>
struct rolled_triangle : tiny_triangle<T, N, least, lanes, panel> {
    using tiny = tiny_triangle<T, N, least, lanes, panel>;
    using R = real_of<T>;
    using tiny::length, tiny::owned, tiny::rows, tiny::x, tiny::q, tiny::n;
    static_assert(rows >= N && N % span == 0 && lanes % span == 0 && span % panel == 0,
                  "whole stages");
    static constexpr bool is_wide = lanes > warp_lanes; // the lanes are a block's

    static constexpr int slab_stride = warp_lanes + length;

    /* The finished panels of a stage, as far as they are kept: an upper triangle's until its rows
     * are stored. Neither they nor the matrices of a warp begin in the same banks. */
    struct finished_panel {
        typename tiny::template panel_rows<rows> at;
        granule<T> shift[panel > length ? 1 : length / 2];
    };
    template <bool upper> struct panel_buffers {
        static constexpr int kept = upper ? span / panel : 1;
        typename tiny::template panel_rows<panel> diagonal;
        finished_panel solved[kept];
        granule<T> shift;
    };
    template <bool upper> union scratch {
        panel_buffers<upper> panels;
        T block[is_wide ? rows * slab_stride : lanes * tiny::block_stride];
    };

    /* In the place of tiny's, whose block would be too large for the lanes of several warps: an
     * upper triangle comes by slabs of 32 of its rows, a column of them to each warp in turn. */
    template <bool upper>
    __device__ __forceinline__ void fetch(T *item, int64_t ld, bool alive, T *block) {
        if constexpr (!upper || !is_wide)
            tiny::template fetch<upper>(item, ld, alive, block);
        else
#pragma unroll
            for (int c0 = 0; c0 < N; c0 += warp_lanes) {
                fill_slab(block, item, ld, alive, c0);
                group_barrier<lanes>();
#pragma unroll
                for (int i = 0; i < owned; ++i)
#pragma unroll
                    for (int h = 0; h < warp_lanes && c0 + h < N; h += length)
                        if (c0 + h < lanes * (i + 1)) {
                            granule<T> g = {};
                            if (q + lanes * i >= c0)
                                g = *reinterpret_cast<const granule<T> *>(
                                    block + (q + lanes * i) * slab_stride + h);
#pragma unroll
                            for (int e = 0; e < length; ++e)
                                x[i][c0 + h + e] = g.at[e];
                        }
                group_barrier<lanes>();
            }
    }
    /* The rows first ... of all columns from there on, with the identity around them. */
    __device__ __forceinline__ void fill_slab(T *slab, const T *item, int64_t ld, bool alive,
                                              int first) const {
        const int lane = q % warp_lanes;
        const int row = first + lane;
#pragma unroll 8
        for (int c = first + q / warp_lanes; c < rows; c += lanes / warp_lanes) {
            T value = from_real<T>(R(row == c));
            if (alive && row <= c && c < n)
                value = item[row + c * ld];
            slab[c * slab_stride + lane] = value;
        }
    }

    /* Of the warp's. */
    __device__ __forceinline__ int last_row() const {
        return lanes * (owned - 1) + q / warp_lanes * warp_lanes + warp_lanes - 1;
    }

    /* Takes the finished panel from the columns after it, which begin at `next`, and moves them. */
    template <int stage, int c0 = 0>
    __device__ __forceinline__ void shift(const T (&own)[owned][panel],
                                          const typename tiny::template panel_rows<rows> &solved,
                                          int next) {
        constexpr int base = stage * span;
        if constexpr (base + c0 + panel < N) {
            if (next + c0 >= n || (is_wide && next + c0 > last_row()))
                return;
#pragma unroll
            for (int c = c0; c < c0 + panel; ++c) {
                T b[panel];
                solved.get(next + c, b);
#pragma unroll
                for (int i = base / lanes; i < owned; ++i)
                    if (base + c + panel < lanes * (i + 1)) {
                        T rest = x[i][c + panel];
#pragma unroll
                        for (int k = 0; k < panel; ++k)
                            rest = minus_product_conj(rest, own[i][k], b[k]);
                        x[i][c] = rest;
                    }
            }
            shift<stage, c0 + panel>(own, solved, next);
        }
    }

    /* Rows first ... of an upper triangle, up to `end`, from the panels that hold their columns. */
    __device__ __forceinline__ void store_rows(const finished_panel *solved, T *item, int64_t ld,
                                               int first, int end) const {
        const bool aligned = (reinterpret_cast<uintptr_t>(item) | ld * sizeof(T)) % 16 == 0;
        const int wide = aligned ? length : 1; // elements that a lane moves at a time
        const int k = q * wide % span;
        const granule<T> *const from = &solved[k / panel].at.part(0, k % panel / length);
        T *const to = item + first + k;
        if (aligned) {
#pragma unroll 2
            for (int c = first + q * length / span; c < n; c += lanes * length / span) {
                const int there = min(end - first, c - first + 1) - k;
                const granule<T> g = from[c];
                if (there >= length)
                    *reinterpret_cast<granule<T> *>(to + c * ld) = g;
                else
#pragma unroll
                    for (int e = 0; e < length - 1; ++e)
                        if (e < there)
                            to[c * ld + e] = g.at[e];
            }
        } else if (first + k < end) {
#pragma unroll 4
            for (int c = first + q / span; c < n; c += lanes / span)
                if (c - first >= k)
                    to[c * ld] = from[c].at[k % length];
        }
    }

    /* Factors and stores all columns, or those before the panel where a pivot is not ordinary: the
     * first column that is not done. `right` goes along, column by column. */
    template <bool upper, class Right, int stage = 0>
    __device__ __forceinline__ int factor(panel_buffers<upper> &shared, T *item, int64_t ld,
                                          bool alive, int end, Right &right) {
        if constexpr (stage * span < N) {
            constexpr int base = stage * span;
            constexpr int home = base / lanes; // the own rows of the diagonal blocks
            if (base >= least && base >= n)
                return end;
#pragma unroll 1
            for (int p = base; p < base + span && p < n; p += panel) {
                finished_panel &solved = shared.solved[upper ? (p - base) / panel : 0];
                T own[owned][panel];
                pivot<R> pivots[panel];
                const int row_of_diagonal = q + lanes * home - p;
#pragma unroll
                for (int i = home; i < owned; ++i)
#pragma unroll
                    for (int c = 0; c < panel; ++c)
                        own[i][c] = x[i][c];
                if (!tiny::template finish_panel<home>(own, row_of_diagonal, shared.diagonal,
                                                       pivots) &&
                    p < end)
                    end = p;
                const bool stays = alive && p < end;
                T *to = item + q + p * ld;
#pragma unroll
                for (int c = 0; c < panel; ++c, to += ld)
#pragma unroll
                    for (int i = home; i < owned; ++i)
                        if (!upper && stays && q + lanes * i < n &&
                            (i > home || row_of_diagonal >= c))
                            to[lanes * i] = own[i][c];
#pragma unroll
                for (int i = home; i < owned; ++i)
                    solved.at.put(q + lanes * i, own[i]);
                right.template give<home>(row_of_diagonal, p, pivots);
                group_barrier<lanes>();
                right.template solve_panel<home>(row_of_diagonal, p, own, solved.at, pivots);
                shift<stage>(own, solved.at, p + panel);
            }
            if (upper && alive)
                store_rows(shared.solved, item, ld, base, end);
            return factor<upper, Right, stage + 1>(shared, item, ld, alive, end, right);
        }
        return end;
    }
};

/* No right-hand sides. */
struct nothing_right {
    template <int home, class... Panel> __device__ __forceinline__ void give(const Panel &...) {}
    template <int home, class... Panel>
    __device__ __forceinline__ void solve_panel(const Panel &...) {}
};

/* Right-hand sides that are solved while their matrix is factored, and then back: b[i][r] is row
 * q + lanes i of right-hand side r. */
template <class T, int N, int least, int lanes, int panel, int span, int count>
struct rolled_right {
    using R = real_of<T>;
    using triangle = rolled_triangle<T, N, least, lanes, panel, span>;
    using tiny = typename triangle::tiny;
    static constexpr int owned = triangle::owned;

    struct memory {
        typename tiny::template panel_rows<panel> diagonal[2];
        T y[count][panel];
        R inverse[N];
    };

    memory &shared;
    int q;
    int n;
    bool alive; // whether there is an item
    T b[owned][count];

    template <int home>
    __device__ __forceinline__ void give(int row_of_diagonal, int p,
                                         const pivot<R> (&pivots)[panel]) {
        if (row_of_diagonal >= 0 && row_of_diagonal < panel) {
#pragma unroll
            for (int r = 0; r < count; ++r)
                shared.y[r][row_of_diagonal] = b[home][r];
        }
        if (q == 0)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                shared.inverse[p + c] = pivots[c].inverse;
    }

    /* b := L^-1 b as far as the panel goes, whose own rows are `own`. */
    template <int home>
    __device__ __forceinline__ void
    solve_panel(int row_of_diagonal, int p, const T (&own)[owned][panel],
                const typename tiny::template panel_rows<tiny::rows> &solved,
                const pivot<R> (&pivots)[panel]) {
        T l[panel][panel];
#pragma unroll
        for (int c = 1; c < panel; ++c)
            solved.get(p + c, l[c], c);
#pragma unroll
        for (int r = 0; r < count; ++r) {
            T y[panel];
#pragma unroll
            for (int c = 0; c < panel; ++c) {
                y[c] = shared.y[r][c];
#pragma unroll
                for (int k = 0; k < c; ++k)
                    y[c] = minus_product(y[c], l[c][k], y[k]);
                y[c] = scaled(pivots[c].inverse, y[c]);
            }
#pragma unroll
            for (int i = home; i < owned; ++i) {
                T rest = b[i][r];
#pragma unroll
                for (int k = 0; k < panel; ++k)
                    rest = minus_product(rest, own[i][k], y[k]);
                b[i][r] = choose(i > home || row_of_diagonal >= panel, rest, b[i][r]);
            }
#pragma unroll
            for (int c = 0; c < panel; ++c)
                b[home][r] = choose(row_of_diagonal == c, y[c], b[home][r]);
        }
    }

    /* The own rows of the columns p ... of the factor in memory, zeros where there are none. */
    __device__ __forceinline__ void fetch(T (&own)[owned][panel], const T *item, int64_t down,
                                          int64_t right, int p) const {
#pragma unroll
        for (int c = 0; c < panel; ++c)
#pragma unroll
            for (int i = 0; i < owned; ++i) {
                const int row = q + lanes * i;
                own[i][c] = T{};
                if (alive && row >= p + c && row < n && p >= 0)
                    own[i][c] = item[row * down + (p + c) * right];
            }
    }

    /* b := L^-H b, of the factor in memory. */
    __device__ __forceinline__ void solve_back(const T *item, int64_t down, int64_t right) {
        int p = (n - 1) / panel * panel;
        T next[owned][panel];
        fetch(next, item, down, right, p);
#pragma unroll 1
        for (; p >= 0; p -= panel) {
            typename tiny::template panel_rows<panel> &diagonal = shared.diagonal[p / panel % 2];
            T own[owned][panel];
#pragma unroll
            for (int i = 0; i < owned; ++i)
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    own[i][c] = next[i][c];
            fetch(next, item, down, right, p - panel);
            const int row_of_diagonal = q - p % lanes;
            if (row_of_diagonal >= 0 && row_of_diagonal < panel) {
                T mine[panel];
#pragma unroll
                for (int i = 0; i < owned; ++i)
#pragma unroll
                    for (int c = 0; c < panel; ++c)
                        mine[c] = choose(i == 0 || p / lanes == i, own[i][c], mine[c]);
                diagonal.put(row_of_diagonal, mine);
            }
            warp_barrier();
            T l[panel][panel];
#pragma unroll
            for (int c = 1; c < panel; ++c)
                diagonal.get(c, l[c], c);
#pragma unroll
            for (int r = 0; r < count; ++r) {
                T y[panel];
#pragma unroll
                for (int c = 0; c < panel; ++c) {
                    y[c] = T{};
#pragma unroll
                    for (int i = 0; i < owned; ++i) {
                        const int beyond = q + lanes * i - p; // the row's place in the panel
                        y[c] = choose(beyond == c, b[i][r], y[c]);
                        if (beyond >= panel)
                            y[c] = minus_product_conj(y[c], b[i][r], own[i][c]);
                    }
                    y[c] = sum_of_lanes<lanes>(y[c]);
                }
#pragma unroll
                for (int c = panel - 1; c >= 0; --c) {
#pragma unroll
                    for (int k = panel - 1; k > c; --k)
                        y[c] = minus_product_conj(y[c], y[k], l[k][c]);
                    y[c] = scaled(shared.inverse[p + c], y[c]);
                }
#pragma unroll
                for (int i = 0; i < owned; ++i)
#pragma unroll
                    for (int c = 0; c < panel; ++c)
                        b[i][r] = choose(q + lanes * i - p == c, y[c], b[i][r]);
            }
        }
    }
};

} // namespace batchlas_device

#endif
