/* SPDX-License-Identifier: BSD-3-Clause */
/* Substitution for many right-hand sides, the common part of trsm and potrs: a block takes one item
 * and a strip of its right-hand sides. The triangle and the strip lie in shared memory; each thread
 * solves right-hand sides of its own, a panel of rows at a time in registers, so that threads wait
 * for each other only between fetching, solving and storing. */
#ifndef BATCHLAS_STRIP_SOLVE_CUH
#define BATCHLAS_STRIP_SOLVE_CUH

#include "divisor.cuh"

namespace batchlas_device {

/* x(i, j) = at[i * row + j * column], conjugated or not. A step of 1 or -1 says along which way
 * neighbours in memory lie. */
template <class T> struct triangle_view {
    const T *at;
    int64_t row, column;
    bool conjugated;
};
template <class T> struct strip_view {
    T *at;
    int64_t row, side;
};

/* What a block solves: L X = alpha B, where X overwrites B. */
template <class T> struct strip_problem {
    triangle_view<T> L;
    strip_view<T> X;
    T alpha;
    int order; // of L
    int count; // of right-hand sides in this strip
    bool unit;
    bool real_diagonal;
};

/* A thread solves `own` right-hand sides, neighbours in shared memory; a block has `warps`. */
template <class T, int own, int warps> struct strip_solve {
    static constexpr int length = granule<T>::length;
    static constexpr int panel = 8; // rows of a panel, and the order of a tile
    static constexpr int tile = panel * panel;
    static constexpr int sides = warps * warp_lanes * own;
    static constexpr int stride = sides + own; // of a row of the strip
    static_assert(own * sizeof(T) <= 16, "one access to a thread's right-hand sides");

    /* In shared memory: the strictly lower triangle in tiles, row of tiles by row of tiles, a tile
     * column by column; the strip, row by row; the diagonal's divisors. */
    T *triangle;
    T *strip;
    divisor<T> *divisors;
    int panels;

    __host__ __device__ static constexpr int tiles(int panels) {
        return panels * (panels + 1) / 2;
    }
    static size_t bytes(int64_t order) {
        const int panels = static_cast<int>((order + panel - 1) / panel);
        return sizeof(T) * static_cast<size_t>(tiles(panels) * tile + panels * panel * stride) +
               sizeof(divisor<T>) * static_cast<size_t>(panels * panel);
    }
    __device__ __forceinline__ explicit strip_solve(int order)
        : triangle(dynamic_shared<T>()), panels((order + panel - 1) / panel) {
        strip = triangle + tiles(panels) * tile;
        divisors = reinterpret_cast<divisor<T> *>(strip + panels * panel * stride);
    }

    // ---- between global and shared memory ------------------------------------------------------

    /* Fetches whole tiles: what lies across the diagonal does not count. Beyond the order are
     * zeros.
     */
    __device__ __forceinline__ void load_triangle(const strip_problem<T> &p) const {
        constexpr int held = 4; // tiles that a warp fetches before it stores
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
        const bool along_rows = p.L.row == 1 || p.L.row == -1;
        const int row = along_rows ? lane % panel : lane / panel;
        const int column = along_rows ? lane / panel : lane % panel;
        const int row_step = along_rows ? 0 : panel / 2; // to the tile's second half
        const int column_step = panel / 2 - row_step;
        const T *const from = p.L.at + row * p.L.row + column * p.L.column;
        const int64_t from_step = row_step * p.L.row + column_step * p.L.column;
        const int to_step = column_step * panel + row_step;
        const int count = tiles(panels);
        T *to = triangle + warp * tile + column * panel + row;

        int i = 0, j = warp * panel; // the next tile's first row and column
        for (; j > i; i += panel)
            j -= i + panel;
#pragma unroll 1
        for (int t = warp; t < count; t += held * warps) {
            T value[held][2] = {};
#pragma unroll
            for (int h = 0; h < held; ++h) {
                if (t + h * warps >= count)
                    break;
                if (i + panel <= p.order) {
                    const T *const at = from + i * p.L.row + j * p.L.column;
                    value[h][0] = at[0];
                    value[h][1] = at[from_step];
                } else {
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        const int r = i + row + half * row_step;
                        const int c = j + column + half * column_step;
                        if (r < p.order && c < p.order)
                            value[h][half] = p.L.at[r * p.L.row + c * p.L.column];
                    }
                }
                for (j += warps * panel; j > i; i += panel)
                    j -= i + panel;
            }
#pragma unroll
            for (int h = 0; h < held; ++h, to += warps * tile) {
                if (t + h * warps >= count)
                    break;
                to[0] = p.L.conjugated ? conjugate(value[h][0]) : value[h][0];
                to[to_step] = p.L.conjugated ? conjugate(value[h][1]) : value[h][1];
            }
        }
    }

    __device__ __forceinline__ void load_diagonal(const strip_problem<T> &p) const {
        for (int i = static_cast<int>(threadIdx.x); i < panels * panel; i += warps * warp_lanes) {
            T d = from_real<T>(1);
            if (!p.unit && i < p.order) {
                d = p.L.at[i * (p.L.row + p.L.column)];
                d = p.real_diagonal  ? from_real<T>(real_part(d))
                    : p.L.conjugated ? conjugate(d)
                                     : d;
            }
            divisors[i] = divisor_of(d);
        }
    }

    /* How a warp meets the strip in memory: in accesses of 8 x 4 elements where rows follow each
     * other there, the warps side by side, else of 1 x 32, a warp each row. A batch is `rows` such
     * rows of accesses. */
    template <bool along_rows> struct access {
        static constexpr int side_step = along_rows ? 4 * warps : warp_lanes;
        static constexpr int across = sides / side_step;
        static constexpr int row_step = along_rows ? panel : warps;
        static constexpr int rows = across < 8 ? 8 / across : 1;
        int row, side; // this lane's first
        __device__ __forceinline__ access() {
            const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
            const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
            row = along_rows ? lane % panel : warp;
            side = along_rows ? warp * 4 + lane / panel : lane;
        }
    };

    /* Calls visit(r, c, element in global memory) for the elements of a batch that count. */
    template <class access, class Visit>
    __device__ __forceinline__ static void
    visit_batch(const strip_problem<T> &p, const access &own_at, int first, Visit visit) {
        const int row = first + own_at.row;
        T *at = p.X.at + row * p.X.row + own_at.side * p.X.side;
        const int64_t side_step = access::side_step * p.X.side;
        const int64_t row_step = access::row_step * p.X.row;
        if (first + access::rows * access::row_step <= p.order && p.count >= sides) {
#pragma unroll
            for (int r = 0; r < access::rows; ++r, at += row_step) {
                T *next = at;
#pragma unroll
                for (int c = 0; c < access::across; ++c, next += side_step)
                    visit(r, c, next);
            }
        } else {
#pragma unroll
            for (int r = 0; r < access::rows; ++r, at += row_step) {
                T *next = at;
#pragma unroll
                for (int c = 0; c < access::across; ++c, next += side_step)
                    if (row + r * access::row_step < p.order &&
                        own_at.side + c * access::side_step < p.count)
                        visit(r, c, next);
            }
        }
    }

    template <bool along_rows>
    __device__ __forceinline__ void load_strip(const strip_problem<T> &p) const {
        using access_of = access<along_rows>;
        const access_of own_at;
        T *to = strip + own_at.row * stride + own_at.side;
#pragma unroll 1
        for (int i = 0; i < panels * panel; i += access_of::rows * access_of::row_step) {
            T value[access_of::rows][access_of::across] = {};
            visit_batch(p, own_at, i, [&](int r, int c, T *at) { value[r][c] = *at; });
#pragma unroll
            for (int r = 0; r < access_of::rows; ++r, to += access_of::row_step * stride)
                if (i + own_at.row + r * access_of::row_step < panels * panel)
#pragma unroll
                    for (int c = 0; c < access_of::across; ++c)
                        to[c * access_of::side_step] = times(p.alpha, value[r][c]);
        }
    }

    template <bool along_rows>
    __device__ __forceinline__ void store_strip(const strip_problem<T> &p) const {
        using access_of = access<along_rows>;
        const access_of own_at;
        const T *from = strip + own_at.row * stride + own_at.side;
#pragma unroll 1
        for (int i = 0; i < p.order; i += access_of::rows * access_of::row_step) {
            visit_batch(p, own_at, i, [&](int r, int c, T *at) {
                *at = from[r * access_of::row_step * stride + c * access_of::side_step];
            });
            from += access_of::rows * access_of::row_step * stride;
        }
    }

    __device__ __forceinline__ static bool along_rows(const strip_problem<T> &p) {
        return p.X.row == 1 || p.X.row == -1;
    }
    __device__ __forceinline__ void load(const strip_problem<T> &p) const {
        load_triangle(p);
        load_diagonal(p);
        if (along_rows(p))
            load_strip<true>(p);
        else
            load_strip<false>(p);
    }
    __device__ __forceinline__ void store(const strip_problem<T> &p) const {
        if (along_rows(p))
            store_strip<true>(p);
        else
            store_strip<false>(p);
    }

    // ---- the thread's own right-hand sides -----------------------------------------------------

    struct alignas(own * sizeof(T)) vector {
        T at[own];
    };
    __device__ __forceinline__ vector *own_sides() const {
        return reinterpret_cast<vector *>(strip + static_cast<int>(threadIdx.x) * own);
    }
    static constexpr int vector_stride = stride / own;

    __device__ __forceinline__ static void read_column(T (&to)[panel], const T *column) {
#pragma unroll
        for (int r = 0; r < panel; r += length)
            *reinterpret_cast<granule<T> *>(&to[r]) =
                *reinterpret_cast<const granule<T> *>(column + r);
    }

    __device__ __forceinline__ static void divide(vector &x, const divisor<T> &d) {
#pragma unroll
        for (int s = 0; s < own; ++s)
            x.at[s] = times(d.inverse, scaled(d.before, x.at[s]));
    }

    /* X = 0 */
    __device__ __forceinline__ void clear() const {
        for (int i = 0; i < panels * panel; ++i)
            own_sides()[i * vector_stride] = vector{};
    }

    /* L X = B */
    __device__ __forceinline__ void solve_forward(bool unit, int order) const {
        vector *const x = own_sides();
        const T *column = triangle;
#pragma unroll 1
        for (int i = 0; i < order; i += panel) {
            vector sum[panel];
#pragma unroll
            for (int r = 0; r < panel; ++r)
                sum[r] = x[(i + r) * vector_stride];
#pragma unroll 4
            for (int k = 0; k < i; ++k) {
                T l[panel];
                read_column(l, column);
                column += panel;
                const vector y = x[k * vector_stride];
#pragma unroll
                for (int r = 0; r < panel; ++r)
#pragma unroll
                    for (int s = 0; s < own; ++s)
                        sum[r].at[s] = minus_product(sum[r].at[s], l[r], y.at[s]);
            }
#pragma unroll
            for (int k = 0; k < panel; ++k) {
                T l[panel];
                read_column(l, column);
                column += panel;
                if (!unit)
                    divide(sum[k], divisors[i + k]);
#pragma unroll
                for (int r = k + 1; r < panel; ++r)
#pragma unroll
                    for (int s = 0; s < own; ++s)
                        sum[r].at[s] = minus_product(sum[r].at[s], l[r], sum[k].at[s]);
                if (i + k < order)
                    x[(i + k) * vector_stride] = sum[k];
            }
        }
    }

    /* L^H X = B, with a real diagonal */
    __device__ __forceinline__ void solve_backward(int order) const {
        vector *const x = own_sides();
#pragma unroll 1
        for (int p = panels - 1; p >= 0; --p) {
            const T *const diagonal = triangle + (tiles(p + 1) - 1) * tile;
            vector sum[panel];
#pragma unroll
            for (int c = 0; c < panel; ++c)
                sum[c] = x[(p * panel + c) * vector_stride];
            const T *below = diagonal;
#pragma unroll 1
            for (int q = p + 1; q < panels; ++q) {
                below += q * tile;
                vector y[panel];
#pragma unroll
                for (int r = 0; r < panel; ++r)
                    y[r] = x[(q * panel + r) * vector_stride];
#pragma unroll
                for (int c = 0; c < panel; ++c) {
                    T l[panel];
                    read_column(l, below + c * panel);
#pragma unroll
                    for (int r = 0; r < panel; ++r)
#pragma unroll
                        for (int s = 0; s < own; ++s)
                            sum[c].at[s] = minus_product_conj(sum[c].at[s], y[r].at[s], l[r]);
                }
            }
#pragma unroll
            for (int c = panel - 1; c >= 0; --c) {
                T l[panel];
                read_column(l, diagonal + c * panel);
#pragma unroll
                for (int r = panel - 1; r > c; --r)
#pragma unroll
                    for (int s = 0; s < own; ++s)
                        sum[c].at[s] = minus_product_conj(sum[c].at[s], sum[r].at[s], l[r]);
                divide(sum[c], divisors[p * panel + c]);
                if (p * panel + c < order)
                    x[(p * panel + c) * vector_stride] = sum[c];
            }
        }
    }
};

} // namespace batchlas_device

#endif
