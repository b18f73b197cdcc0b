/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky of a small matrix in the registers of a few lanes, right-looking, some columns at a
 * time. Several matrices share a warp, and no barrier goes beyond it. */
#ifndef BATCHLAS_TINY_TRIANGLE_CUH
#define BATCHLAS_TINY_TRIANGLE_CUH

#include "device.cuh"

namespace batchlas_device {

/* How one bucket of orders is served. */
struct tiny_geometry {
    int least, order; // the orders it serves; matrices are padded to the larger one
    int lanes;        // lanes of a warp that factor one matrix
    int panel;        // columns factored at a time
    int warps;        // warps of a block
    int blocks;       // blocks that an SM should hold, which bounds the registers
    int span = 0;     // columns whose panels share their code (rolled_triangle.cuh); 0: none do
};

/* The lower triangle of a Hermitian matrix, of which lane q of `lanes` holds the rows q, q + lanes,
 * ... . What is kept in shared memory for one matrix is the panel at hand, by rows. */
template <class T, int N, int least, int lanes, int panel> struct tiny_triangle {
    using R = real_of<T>;
    static constexpr int length = granule<T>::length;
    static constexpr int owned = (N + lanes - 1) / lanes;
    static constexpr int rows = owned * lanes;
    static_assert(panel % length == 0 && N % panel == 0 && lanes % panel == 0, "whole granules");

    /* A panel of `count` rows in granules: all first ones of the rows, then all second ones, each
     * kind shifted so that neither meets the other's banks. */
    template <int count> struct panel_rows {
        static constexpr int plane = count + (panel > length);
        granule<T> at[panel / length * plane];

        __device__ __forceinline__ void put(int row, const T (&from)[panel]) {
#pragma unroll
            for (int h = 0; h < panel / length; ++h) {
                granule<T> g;
#pragma unroll
                for (int e = 0; e < length; ++e)
                    g.at[e] = from[h * length + e];
                at[h * plane + row] = g;
            }
        }
        __device__ __forceinline__ const granule<T> &part(int row, int h) const {
            return at[h * plane + row];
        }
        /* The first `wanted` elements, and what shares a granule with them. */
        __device__ __forceinline__ void get(int row, T (&to)[panel], int wanted = panel) const {
#pragma unroll
            for (int h = 0; h < panel / length; ++h)
                if (h * length < wanted) {
                    const granule<T> g = part(row, h);
#pragma unroll
                    for (int e = 0; e < length; ++e)
                        to[h * length + e] = g.at[e];
                }
        }
    };
    /* A block of `lanes` rows, each padded so that lanes that read their rows meet no bank twice.
     */
    static constexpr int block_stride = lanes + length;
    struct panel_buffers {
        panel_rows<panel> diagonal;
        panel_rows<rows> solved;
        granule<T> shift; // matrices of one warp begin in different banks
    };
    union scratch {
        panel_buffers panels;
        T block[lanes * block_stride];
    };

    /* The diagonal block at hand and the right-hand sides of its rows. */
    template <int count> struct solve_buffers {
        panel_rows<panel> diagonal;
        granule<T> right[count][panel / length];
    };

    T x[owned][N];    // x[i][c]: row q + lanes i, column c
    R inverse[owned]; // of the own pivots' roots
    int q;
    int n;

    /* Calls visit(x[i][c], its place in the item, is it on the diagonal, may it be touched) for all
     * elements, which of an upper triangle are its rows from the diagonal on. Lanes follow each
     * other in memory. */
    template <bool upper, class Visit>
    __device__ __forceinline__ void visit(T *item, int64_t ld, Visit visit) {
        T *column = item + q;
#pragma unroll
        for (int c = 0; c < N; ++c, column += ld) {
            column = forget_global(column);
#pragma unroll
            for (int i = upper ? 0 : c / lanes; upper ? i <= c / lanes : i < owned; ++i) {
                const int row = q + lanes * i;
                bool inside = true;
                if (c / lanes == i)
                    inside = upper ? row <= c : row >= c;
                if (lanes * (i + 1) > least)
                    inside &= row < n;
                if (c >= least)
                    inside &= c < n;
                visit(x[i][c], column + lanes * i, row == c, inside);
            }
        }
    }

    /* Of the identity where the order ends before N. */
    template <bool upper> __device__ __forceinline__ void load(T *item, int64_t ld, bool alive) {
        visit<upper>(item, ld, [=](T &to, const T *from, bool diagonal, bool inside) {
            to = from_real<T>(static_cast<R>(diagonal));
            if (inside && alive)
                to = *from;
        });
    }
    template <bool upper> __device__ __forceinline__ void store(T *item, int64_t ld) {
        visit<upper>(item, ld, [](const T &from, T *to, bool, bool inside) {
            if (inside)
                *to = from;
        });
    }

    /* Loads an item's triangle, an upper one by way of `block`. */
    template <bool upper>
    __device__ __forceinline__ void fetch(T *item, int64_t ld, bool alive, T *block) {
        load<upper>(item, ld, alive);
        if constexpr (upper)
            transpose<true>(block);
    }

    /* From the rows of an upper triangle to the rows of its transpose, or back. */
    template <bool to_lower> __device__ __forceinline__ void transpose(T *block) {
#pragma unroll
        for (int i = 0; i < owned; ++i)
#pragma unroll
            for (int j = i; j < owned; ++j) {
                // Rows i of the upper triangle, columns j: rows j of the lower one, columns i.
                warp_barrier();
                if constexpr (to_lower) {
#pragma unroll
                    for (int c = 0; c < lanes && lanes * j + c < N; ++c)
                        block[c * block_stride + q] = x[i][lanes * j + c];
                } else {
                    put_row(block, x[j], i);
                }
                warp_barrier();
                if constexpr (to_lower) {
                    get_row(block, x[j], i);
                } else {
#pragma unroll
                    for (int c = 0; c < lanes && lanes * j + c < N; ++c)
                        x[i][lanes * j + c] = block[c * block_stride + q];
                }
            }
        warp_barrier();
    }

    /* Row q of a block and columns `lanes` i ... of an own row. */
    __device__ __forceinline__ void put_row(T *block, const T (&row)[N], int i) {
        granule<T> *const to = reinterpret_cast<granule<T> *>(block + q * block_stride);
#pragma unroll
        for (int h = 0; h < lanes / length && lanes * i + h * length < N; ++h) {
            granule<T> g;
#pragma unroll
            for (int e = 0; e < length; ++e)
                g.at[e] = row[lanes * i + h * length + e];
            to[h] = g;
        }
    }
    __device__ __forceinline__ void get_row(const T *block, T (&row)[N], int i) const {
        const granule<T> *const from =
            reinterpret_cast<const granule<T> *>(block + q * block_stride);
#pragma unroll
        for (int h = 0; h < lanes / length && lanes * i + h * length < N; ++h) {
            const granule<T> g = from[h];
#pragma unroll
            for (int e = 0; e < length; ++e)
                row[lanes * i + h * length + e] = g.at[e];
        }
    }

    /* Cholesky of a panel's diagonal block, by every lane for itself. a: its lower triangle,
     * updated by all columns before; l: the factor's strict lower triangle. Whether all pivots were
     * ordinary; otherwise the result is void. */
    __device__ __forceinline__ static bool
    factor_diagonal(T (&a)[panel][panel], T (&l)[panel][panel], pivot<R> (&pivots)[panel]) {
        bool ordinary = true;
#pragma unroll
        for (int j = 0; j < panel; ++j) {
            const R diagonal = real_part(a[j][j]);
            pivots[j] = ordinary_pivot(diagonal);
            ordinary &= is_ordinary_pivot(diagonal);
#pragma unroll
            for (int i = j + 1; i < panel; ++i) {
                l[i][j] = scaled(pivots[j].inverse, a[i][j]);
#pragma unroll
                for (int k = j + 1; k < i; ++k)
                    a[i][k] = minus_product_conj(a[i][k], l[i][j], l[k][j]);
                a[i][i] = from_real<T>(minus_square(real_part(a[i][i]), l[i][j]));
            }
        }
        return ordinary;
    }

    /* From the own rows of a panel, updated by all columns before, to those of the factor; the
     * panel's diagonal block is among the own rows `home`, of which this is the row_of_diagonal-th.
     * Whether all pivots were ordinary; otherwise the result is void. */
    template <int home>
    __device__ __forceinline__ static bool finish_panel(T (&own)[owned][panel], int row_of_diagonal,
                                                        panel_rows<panel> &diagonal,
                                                        pivot<R> (&pivots)[panel]) {
        if (row_of_diagonal >= 0 && row_of_diagonal < panel)
            diagonal.put(row_of_diagonal, own[home]);
        group_barrier<lanes>();

        T a[panel][panel], l[panel][panel];
#pragma unroll
        for (int r = 0; r < panel; ++r)
            diagonal.get(r, a[r], r + 1);
        const bool ordinary = factor_diagonal(a, l, pivots);

#pragma unroll
        for (int i = home; i < owned; ++i)
#pragma unroll
            for (int c = 0; c < panel; ++c) {
#pragma unroll
                for (int k = 0; k < c; ++k)
                    own[i][c] = minus_product_conj(own[i][c], own[i][k], l[c][k]);
                own[i][c] = scaled(pivots[c].inverse, own[i][c]);
            }
        // The rows of the diagonal block came out right but for the diagonal itself.
#pragma unroll
        for (int c = 0; c < panel; ++c)
            own[home][c] = choose(row_of_diagonal == c, from_real<T>(pivots[c].root), own[home][c]);
        return ordinary;
    }

    /* Columns first ... first + panel - 1 of the factor, and their part in all columns beyond. The
     * lanes whose matrices had other than ordinary pivots, which makes the factor void. */
    template <int first> __device__ __forceinline__ unsigned factor_panel(panel_buffers &shared) {
        constexpr int home = first / lanes;
        constexpr int beyond = first + panel;
        T own[owned][panel];
        pivot<R> pivots[panel];
        const int row_of_diagonal = q - first % lanes;
#pragma unroll
        for (int i = home; i < owned; ++i)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                own[i][c] = x[i][first + c];
        // The vote also keeps the compiler from holding all pivots until the end.
        const unsigned others =
            lanes_where(!finish_panel<home>(own, row_of_diagonal, shared.diagonal, pivots));
#pragma unroll
        for (int c = 0; c < panel; ++c)
            if (row_of_diagonal == c)
                inverse[home] = pivots[c].inverse;
#pragma unroll
        for (int i = home; i < owned; ++i) {
            if (lanes * (i + 1) > beyond)
                shared.solved.put(q + lanes * i, own[i]);
#pragma unroll
            for (int c = 0; c < panel; ++c)
                x[i][first + c] = own[i][c];
        }
        warp_barrier();

#pragma unroll
        for (int c = beyond; c < N; ++c) {
            T b[panel];
            shared.solved.get(c, b);
#pragma unroll
            for (int i = c / lanes; i < owned; ++i)
#pragma unroll
                for (int k = 0; k < panel; ++k)
                    x[i][c] = minus_product_conj(x[i][c], own[i][k], b[k]);
        }
        return others;
    }

    /* All columns. */
    template <int first = 0> __device__ __forceinline__ unsigned factor(panel_buffers &shared) {
        if constexpr (first < N) {
            if (first < least || first < n) {
                const unsigned others = factor_panel<first>(shared);
                return others | factor<first + panel>(shared);
            }
        }
        return 0;
    }

    // ---- solves: b[i][r] is row q + lanes i of right-hand side r

    /* Puts the own row of a panel's diagonal block where the others find it, its diagonal inverted,
     * then fetches the block and the right-hand sides of its rows. */
    template <int first, int count>
    __device__ __forceinline__ void
    exchange_panel(solve_buffers<count> &shared, const T (&b)[owned][count],
                   T (&block)[panel][panel], T (&y)[count][panel]) const {
        constexpr int home = first / lanes;
        const int row_of_diagonal = q - first % lanes;
        if (row_of_diagonal >= 0 && row_of_diagonal < panel) {
            T row[panel];
#pragma unroll
            for (int c = 0; c < panel; ++c)
                row[c] =
                    choose(row_of_diagonal == c, from_real<T>(inverse[home]), x[home][first + c]);
            shared.diagonal.put(row_of_diagonal, row);
#pragma unroll
            for (int r = 0; r < count; ++r)
                shared.right[r][row_of_diagonal / length].at[row_of_diagonal % length] = b[home][r];
        }
        warp_barrier();
#pragma unroll
        for (int r = 0; r < panel; ++r)
            shared.diagonal.get(r, block[r]);
#pragma unroll
        for (int r = 0; r < count; ++r)
#pragma unroll
            for (int h = 0; h < panel / length; ++h) {
                const granule<T> g = shared.right[r][h];
#pragma unroll
                for (int e = 0; e < length; ++e)
                    y[r][h * length + e] = g.at[e];
            }
    }
    /* The solution's element for the own row of the panel; another row's stays what it is. */
    template <int first>
    __device__ __forceinline__ T own_element(const T (&y)[panel], T other) const {
#pragma unroll
        for (int c = 0; c < panel; ++c)
            other = choose(q - first % lanes == c, y[c], other);
        return other;
    }

    /* b := L^-1 b. `shared` are two, used in turn, so that one barrier a panel does. */
    template <int count, int first = 0>
    __device__ __forceinline__ void solve_forward(solve_buffers<count> *shared,
                                                  T (&b)[owned][count]) const {
        if constexpr (first < N) {
            if (first < least || first < n) {
                constexpr int home = first / lanes;
                T l[panel][panel], y[count][panel];
                exchange_panel<first>(shared[first / panel % 2], b, l, y);
#pragma unroll
                for (int r = 0; r < count; ++r) {
#pragma unroll
                    for (int c = 0; c < panel; ++c) {
#pragma unroll
                        for (int k = 0; k < c; ++k)
                            y[r][c] = minus_product(y[r][c], l[c][k], y[r][k]);
                        y[r][c] = scaled(real_part(l[c][c]), y[r][c]);
                    }
#pragma unroll
                    for (int i = home; i < owned; ++i) {
                        T rest = b[i][r];
#pragma unroll
                        for (int k = 0; k < panel; ++k)
                            rest = minus_product(rest, x[i][first + k], y[r][k]);
                        b[i][r] = i > home || q >= first % lanes + panel ? rest : b[i][r];
                    }
                    b[home][r] = own_element<first>(y[r], b[home][r]);
                }
                solve_forward<count, first + panel>(shared, b);
            }
        }
    }

    /* b := L^-H b, of a factor whose transpose the lanes hold. */
    template <int count, int first = N - panel>
    __device__ __forceinline__ void solve_backward(solve_buffers<count> *shared,
                                                   T (&b)[owned][count]) const {
        if constexpr (first >= 0) {
            if (first < least || first < n) {
                constexpr int home = first / lanes;
                T u[panel][panel], y[count][panel];
                exchange_panel<first>(shared[first / panel % 2], b, u, y);
#pragma unroll
                for (int r = 0; r < count; ++r) {
#pragma unroll
                    for (int c = panel - 1; c >= 0; --c) {
#pragma unroll
                        for (int k = c + 1; k < panel; ++k)
                            y[r][c] = minus_product_conj(y[r][c], y[r][k], u[c][k]);
                        y[r][c] = scaled(real_part(u[c][c]), y[r][c]);
                    }
#pragma unroll
                    for (int i = 0; i <= home; ++i) {
                        T rest = b[i][r];
#pragma unroll
                        for (int k = 0; k < panel; ++k)
                            rest = minus_product_conj(rest, y[r][k], x[i][first + k]);
                        b[i][r] = i < home || q < first % lanes ? rest : b[i][r];
                    }
                    b[home][r] = own_element<first>(y[r], b[home][r]);
                }
            }
            solve_backward<count, first - panel>(shared, b);
        }
    }
};

/* The largest order that a table of geometries serves. */
template <class Table>
constexpr int tiny_max_order = Table::rows[sizeof Table::rows / sizeof *Table::rows - 1].order;

/* One bucket of a table. */
template <class T, class Table, int at> struct tiny_bucket {
    static constexpr tiny_geometry geometry = Table::rows[at];
    static constexpr int lanes = geometry.lanes;
    static constexpr int items = geometry.warps * warp_lanes / lanes; // of a block
    static constexpr int threads = geometry.warps * warp_lanes;
    static constexpr int blocks = geometry.blocks;
    using triangle = tiny_triangle<T, geometry.order, geometry.least, lanes, geometry.panel>;
};

/* call(the bucket that serves the order). */
template <class T, class Table, int at = 0, class Call> int with_bucket(int n, Call call) {
    using bucket = tiny_bucket<T, Table, at>;
    if constexpr (bucket::geometry.order < tiny_max_order<Table>)
        if (n > bucket::geometry.order)
            return with_bucket<T, Table, at + 1>(n, call);
    return call(bucket{});
}

/* Cholesky of an item where it lies, for any pivots, by `lanes` lanes, of which this is q; the
 * columns before `first` are done. The 1-based column of the first pivot that is not positive,
 * where it stops, or 0. `down` and `right` lead to the next row and column. Lanes with nothing to
 * do keep the others company. */
template <int lanes, class T>
__device__ __forceinline__ int factor_any(T *item, int64_t down, int64_t right, int first, int n,
                                          int q, bool wanted) {
    using R = real_of<T>;
    int failed = 0;
#pragma unroll 1
    for (int j = 0; j < n; ++j) {
        const bool goes_on = wanted && j >= first && failed == 0;
        T *const pivot_row = item + j * down;
        R d = 1;
        if (goes_on) {
            d = real_part(pivot_row[j * right]);
#pragma unroll 1
            for (int k = 0; k < j; ++k)
                d = minus_square(d, pivot_row[k * right]);
            failed = d > 0 ? 0 : j + 1;
        }
        const pivot<R> p = any_pivot(d);
        if (goes_on && failed == 0)
#pragma unroll 1
            for (int i = j + 1 + q; i < n; i += lanes) {
                T *const row = item + i * down;
                T sum = row[j * right];
#pragma unroll 1
                for (int k = 0; k < j; ++k)
                    sum = minus_product_conj(sum, row[k * right], pivot_row[k * right]);
                row[j * right] = scaled(p.inverse, sum);
            }
        group_barrier<lanes>();
        if (goes_on && failed == 0 && q == 0)
            pivot_row[j * right] = from_real<T>(p.root);
    }
    return failed;
}

} // namespace batchlas_device

#endif
