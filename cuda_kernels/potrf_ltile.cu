/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf ltile: left-looking over block columns, two launches each for the whole batch. One updates
 * and factors the diagonal block of each matrix in a warp, the other updates the rows below it and
 * solves with it; a thread keeps its rows of the block column in registers. Both walk along their
 * rows in panels of 8 columns, first the finished ones, then their own, which go through shared
 * memory on the way.
 *
 * An upper triangle is worked as the lower one of its transpose: the factor of the transpose is the
 * transpose of U. */
#include "families.h"
#include "potrf_panel.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int panel = 8;

struct geometry {
    int width;           // columns of a block column
    int diagonal_blocks; // diagonal blocks that an SM should have at work, which bounds the
                         // registers
    int rows;            // rows that a thread owns below the diagonal block
    int warps;           // most warps of a block there
    int blocks;          // and blocks of so many warps that an SM should hold
    bool tensor_cores;   // multiply
};

template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr geometry value = {64, 10, 2, 1, 8, false};
};
template <> struct geometry_of<double> {
    static constexpr geometry value = {64, 8, 1, 1, 8, true};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry value = {32, 12, 1, 1, 16, false};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry value = {32, 8, 1, 1, 8, true};
};

struct ltile_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
    int j;     // the block column's first
    int tiles; // blocks that share the rows below one diagonal block
};

// ---- a panel in shared memory ------------------------------------------------------------------

/* Columns of the lower triangle, of which that many consecutive rows. The padding lets the lanes
 * that read four columns of a few rows at a time for a tensor core meet no bank twice; in single
 * precision, those that copy eight columns of a few rows. */
template <class T, int rows> struct alignas(16) staged_panel {
    static constexpr int stride = rows + (sizeof(real_of<T>) == 8 ? 2 : 1) * granule<T>::length;
    T at[panel][stride];
};

template <class T, bool upper> struct triangle_of {
    T *item;
    int64_t ld;

    __device__ __forceinline__ T *at(int row, int column) const {
        return upper ? item + column + row * ld : item + row + column * ld;
    }
};

/* Which of the eight columns of four rows a lane moves where an upper triangle's block is turned.
 * With the padding above, lanes that access shared memory together, 128 bytes of them, then meet no
 * bank twice: in double precision four columns of 128 / 4 / sizeof(T) rows. */
template <class T> struct turned {
    static constexpr int columns = sizeof(real_of<T>) == 8 ? 4 : panel;
    static constexpr int rows = 128 / static_cast<int>(sizeof(T)) / columns;

    __device__ __forceinline__ static int column(int lane) {
        return lane % columns + lane / (columns * rows) * columns % panel;
    }
    __device__ __forceinline__ static int row(int lane) {
        return lane / columns % rows + lane / (panel * rows) * rows;
    }
};

/* Begins to copy the panel whose first element is `from`: its rows from `skipped` to `there`, which
 * are all its matrix has, and the first of its columns; `warps` warps share the work. */
template <class T, int rows, bool upper>
__device__ __forceinline__ void begin_panel(staged_panel<T, rows> &to, const T *from, int64_t ld,
                                            int skipped, int there, int columns, int warp,
                                            int warps) {
    constexpr int stride = staged_panel<T, rows>::stride;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    if constexpr (upper) {
        constexpr int together = warp_lanes / panel;
        const int k = turned<T>::column(lane);
        const int step = together * warps;
        int i = skipped + turned<T>::row(lane) + together * warp;
        T *shared = &to.at[k][i];
        from += k + i * ld;
        const int64_t down = step * ld;
        const bool whole = skipped == 0 && there >= rows && columns == panel;
        if (whole) {
#pragma unroll
            for (int r = together * warp; r < rows; r += step, shared += step, from += down)
                begin_copy(shared, from);
        } else if (k < columns) {
#pragma unroll 1
            for (; i < there; i += step, shared += step, from += down)
                begin_copy(shared, from);
        }
    } else {
        T *shared = &to.at[warp][lane];
        from += lane + warp * ld;
        const int64_t right = warps * ld;
        const auto column = [&] {
#pragma unroll
            for (int r = 0; r < rows; r += warp_lanes)
                if (lane + r >= skipped && lane + r < there)
                    begin_copy(shared + r, from + r);
            shared += warps * stride;
            from += right;
        };
        if (columns == panel) {
#pragma unroll
            for (int k = warp; k < panel; k += warps)
                column();
        } else {
#pragma unroll 1
            for (int k = warp; k < columns; k += warps)
                column();
        }
    }
}

/* Zeroes the rows from `there` on, which no copy fills. */
template <class T, int rows>
__device__ __forceinline__ void clear_rows(staged_panel<T, rows> (&panels)[2], int there) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll 1
    for (int i = there + lane; i < rows; i += warp_lanes)
#pragma unroll
        for (int k = 0; k < panel; ++k)
            panels[0].at[k][i] = panels[1].at[k][i] = T{};
}

/* x(r, .) -= a(r) conj(l(.)) for the rows from `first` on; of a triangle row block r has the first
 * 32 (r + 1) columns. */
template <int first, bool triangle, class T, int rows, int columns>
__device__ __forceinline__ void subtract(T (&x)[rows][columns], const T (&a)[rows], const T *l) {
    constexpr int length = granule<T>::length;
#pragma unroll
    for (int g = 0; g < columns; g += length) {
        const granule<T> some = *reinterpret_cast<const granule<T> *>(l + g);
#pragma unroll
        for (int r = first; r < rows; ++r)
            if (!triangle || g < warp_lanes * (r + 1))
#pragma unroll
                for (int e = 0; e < length; ++e)
                    x[r][g + e] = minus_product_conj(x[r][g + e], a[r], some.at[e]);
    }
}

/* x -= (own rows of a finished panel) (rows of the block column)^H */
template <bool triangle, class T, int rows, int width, int staged>
__device__ __forceinline__ void subtract_panel(T (&x)[rows][width],
                                               const staged_panel<T, staged> &own,
                                               const staged_panel<T, width> &top) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll 2 // more of it and the code outgrows the instruction cache
    for (int k = 0; k < panel; ++k) {
        T a[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r)
            a[r] = own.at[k][lane + warp_lanes * r];
        subtract<0, triangle>(x, a, top.at[k]);
    }
}

/* Eight columns of x move up by eight, less their products with the panel y that is finished:
 * columns 8 g ... after it, whose rows of the panel are the staged ones from `next` on. */
template <int first, int g, class T, int rows, int width>
__device__ __forceinline__ void shift_group(T (&x)[rows][width], const T (&y)[rows][panel],
                                            const staged_panel<T, width> &top, int next) {
    T rest[rows][panel];
#pragma unroll
    for (int r = first; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < panel; ++c)
            rest[r][c] = x[r][panel * (g + 1) + c];
#pragma unroll
    for (int k = 0; k < panel; ++k) {
        T a[rows];
#pragma unroll
        for (int r = first; r < rows; ++r)
            a[r] = y[r][k];
        subtract<first, false>(rest, a, &top.at[k][next + panel * g]);
    }
#pragma unroll
    for (int r = first; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < panel; ++c)
            x[r][panel * g + c] = rest[r][c];
}

/* The staged part of an upper triangle's panel goes back to memory, rows `from` to `to` of it, 8
 * columns of a few rows at a time; below the diagonal alone, which begins at row `diagonal`. */
template <class T, int rows>
__device__ __forceinline__ void store_transposed(const triangle_of<T, true> &a, int row, int column,
                                                 const staged_panel<T, rows> &staged, int from,
                                                 int to, int diagonal) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int k = turned<T>::column(lane);
#pragma unroll 4
    for (int i = from + turned<T>::row(lane); i < to; i += warp_lanes / panel)
        if (i - diagonal >= k)
            *a.at(row + i, column + k) = staged.at[k][i];
}

// ---- products with the finished columns ---------------------------------------------------------

/* The products of a warp's 32 `rows` rows with the finished columns, from the current panel's first
 * column on: a lane has its own rows, and minus the products. */
template <class T, int rows, int width> struct products_in_rows {
    static constexpr int tile = warp_lanes * rows;
    T x[rows][width];

    __device__ __forceinline__ void add(const staged_panel<T, tile> &own,
                                        const staged_panel<T, width> &top) {
        subtract_panel<false>(x, own, top);
    }
    /* y = the staged columns less their products */
    __device__ __forceinline__ void take(T (&y)[rows][panel], staged_panel<T, tile> &here) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = sum(x[r][c], here.at[c][lane + warp_lanes * r]);
    }
    /* On to the next panel, which begins at `next`. */
    template <int g = 0>
    __device__ __forceinline__ void go_on(const T (&y)[rows][panel],
                                          const staged_panel<T, tile> &own,
                                          const staged_panel<T, width> &top, int next) {
        if constexpr (panel * (g + 1) < width) {
            if (next + panel * g >= width)
                return;
            shift_group<0, g>(x, y, top, next);
            go_on<g + 1>(y, own, top, next);
        }
    }
};

/* A lane's part of a 16 x 8 tile, as plus_product_16x8x8 has it. */
template <class T> struct product_tile {
    T part[4];

    __device__ __forceinline__ T at(int e) const {
        return part[e];
    }
};
template <class R> struct product_tile<complex_of<R>> {
    R re[4], im[4];

    __device__ __forceinline__ complex_of<R> at(int e) const {
        return {re[e], im[e]};
    }
};

/* c + a b^H */
template <class R>
__device__ __forceinline__ product_tile<R> plus_product_conj(const product_tile<R> &c,
                                                             const R (&a)[4], const R (&b)[2]) {
    product_tile<R> d;
    plus_product_16x8x8(d.part, a, b, c.part);
    return d;
}
template <class R>
__device__ __forceinline__ product_tile<complex_of<R>>
plus_product_conj(const product_tile<complex_of<R>> &c, const complex_of<R> (&a)[4],
                  const complex_of<R> (&b)[2]) {
    const R re[4] = {a[0].re, a[1].re, a[2].re, a[3].re};
    const R im[4] = {a[0].im, a[1].im, a[2].im, a[3].im};
    const R b_re[2] = {b[0].re, b[1].re};
    const R b_im[2] = {b[0].im, b[1].im};
    const R minus_b_im[2] = {-b[0].im, -b[1].im};
    product_tile<complex_of<R>> d;
    plus_product_16x8x8(d.re, re, b_re, c.re);
    plus_product_16x8x8(d.im, im, b_re, c.im);
    plus_product_16x8x8(d.re, im, b_im, d.re);
    plus_product_16x8x8(d.im, re, minus_b_im, d.im);
    return d;
}

/* The same as the tensor cores have it: tiles of 16 rows and 8 columns; of a triangle those that
 * meet it. */
template <class T, int rows, int width, bool triangle> struct products_in_tiles {
    static constexpr int tile = warp_lanes * rows;
    static constexpr int down = tile / 16;
    static constexpr int right = width / panel;
    product_tile<T> x[down][right];

    __device__ __forceinline__ void add(const staged_panel<T, tile> &own,
                                        const staged_panel<T, width> &top) {
        add_shifted<0>(own, top, 0);
    }
    /* Takes the products from the staged columns, of which `columns` are there from row `first`
     * on. */
    __device__ __forceinline__ void take_from(staged_panel<T, tile> &here, int first,
                                              int columns) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int column = lane % 4 * 2 + e % 2;
                const int row = 16 * d + e / 2 * 8;
                if (triangle && (row < first || column >= columns))
                    continue;
                T &cell = here.at[column][row + lane / 4];
                cell = difference(cell, x[d][0].at(e));
            }
        warp_barrier();
    }
    __device__ __forceinline__ void take(T (&y)[rows][panel], staged_panel<T, tile> &here) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        take_from(here, 0, panel);
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = here.at[c][lane + warp_lanes * r];
    }
    __device__ __forceinline__ void go_on(const T (&)[rows][panel],
                                          const staged_panel<T, tile> &here,
                                          const staged_panel<T, width> &top, int next) {
        add_shifted<1>(here, top, next);
    }

  private:
    /* x(., g) = x(., g + shift) + own top(first + 8 g)^H, as far as the block column goes */
    template <int shift>
    __device__ __forceinline__ void add_shifted(const staged_panel<T, tile> &own,
                                                const staged_panel<T, width> &top, int first) {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const int row = lane / 4, k = lane % 4;
        T a[down][4];
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                a[d][e] = own.at[k + e / 2 * 4][16 * d + e % 2 * 8 + row];
#pragma unroll
        for (int g = 0; g + shift < right; ++g) {
            if (shift && first + panel * g >= width)
                break;
            const T b[2] = {top.at[k][first + panel * g + row],
                            top.at[k + 4][first + panel * g + row]};
#pragma unroll
            for (int d = 0; d < down; ++d)
                if (!triangle || g + shift < 2 * (d + 1))
                    x[d][g] = plus_product_conj(x[d][g + shift], a[d], b);
        }
    }
};

// ---- the diagonal block ------------------------------------------------------------------------

/* The products of the block's triangle: a lane owns the rows lane, lane + 32, ... of it, and minus
 * the products; row block r has the first 32 (r + 1) columns. */
template <class T, int width> struct triangle_in_rows {
    static constexpr int rows = width / warp_lanes;
    T x[rows][width];

    __device__ __forceinline__ void add(const staged_panel<T, width> &own,
                                        const staged_panel<T, width> &top) {
        subtract_panel<true>(x, own, top);
    }
    __device__ __forceinline__ void take_from(const staged_panel<T, width> &, int, int) const {}
    __device__ __forceinline__ T taken(const staged_panel<T, width> &here, int r, int c,
                                       int row) const {
        return sum(x[r][c], here.at[c][row]);
    }
    /* On to the next panel, which begins at `next`. Row block `first` is the one with the finished
     * panel's diagonal. */
    template <int first, int g = 0>
    __device__ __forceinline__ void go_on(const T (&y)[rows][panel],
                                          const staged_panel<T, width> &top, int next, int order) {
        if constexpr (panel * (g + 1) < warp_lanes * (rows - first)) {
            const int column = next + panel * g;
            if (column >= order)
                return;
            if (panel * (g + 1) < warp_lanes && column < warp_lanes * (first + 1))
                shift_group<first, g>(x, y, top, next);
            else if constexpr (first + 1 < rows)
                shift_group<first + 1, g>(x, y, top, next);
            go_on<first, g + 1>(y, top, next, order);
        }
    }
};

template <class T, int width>
struct triangle_in_tiles : products_in_tiles<T, width / warp_lanes, width, true> {
    static constexpr int rows = width / warp_lanes;

    __device__ __forceinline__ T taken(const staged_panel<T, width> &here, int, int c,
                                       int row) const {
        return here.at[c][row];
    }
    template <int first>
    __device__ __forceinline__ void go_on(const T (&y)[rows][panel],
                                          const staged_panel<T, width> &top, int next, int) {
        products_in_tiles<T, rows, width, true>::go_on(y, top, top, next);
    }
};

template <class T, int width, bool tensor_cores, bool upper> struct diagonal_tile {
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
    std::conditional_t<tensor_cores, triangle_in_tiles<T, width>, triangle_in_rows<T, width>>
        products; // of the columns so far; from the current panel's first column on

    __device__ __forceinline__ staged_panel<T, width> &staged(int k) const {
        return shared.panels[k / panel % 2];
    }
    __device__ __forceinline__ void begin(int k) const {
        const int skipped = k > j ? k - j : 0;
        const int left = j + order - k;
        begin_panel<T, width, upper>(staged(k), a.at(j, k), a.ld, skipped, order,
                                     left < panel ? left : panel, 0, 1);
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
                    y[r][c] = products.taken(here, r, c, read);
            } else {
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    y[r][c] = row >= p && row < order && p + c < order
                                  ? products.taken(here, r, c, row)
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
        products.template go_on<first>(y, here, p + panel, order);
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
            products.add(staged(k), staged(k));
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

template <class T, int width, int blocks, bool tensor_cores, bool upper>
__global__ void __launch_bounds__(warp_lanes, blocks)
    factor_diagonal_tile(ltile_arguments arguments) {
    using tile = diagonal_tile<T, width, tensor_cores, upper>;
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

/* A warp has 32 `rows` consecutive rows of them. */
template <class T, int width, int rows, bool tensor_cores, bool upper> struct rows_below {
    static constexpr int tile = warp_lanes * rows; // rows of a warp

    struct memory { // in the whole block's use; then each warp's own panels
        staged_panel<T, width> top[2];
        real_of<T> inverse[width];
    };
    struct alignas(16) own_memory {
        staged_panel<T, tile> panels[2];
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
    std::conditional_t<tensor_cores, products_in_tiles<T, rows, width, false>,
                       products_in_rows<T, rows, width>>
        products;

    __device__ __forceinline__ void begin(int k) const {
        const int skipped = k > j ? k - j : 0;
        begin_panel<T, width, upper>(shared.top[k / panel % 2], a.at(j, k), a.ld, skipped, width,
                                     panel, warp, warps);
        if (own < n)
            begin_panel<T, tile, upper>(mine.panels[k / panel % 2], a.at(own, k), a.ld, 0, n - own,
                                        panel, 0, 1);
    }

    /* The panel that begins at the block column's column p. */
    __device__ __forceinline__ void solve_panel(int p) {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const staged_panel<T, width> &top = shared.top[(j + p) / panel % 2];
        staged_panel<T, tile> &here = mine.panels[(j + p) / panel % 2];
        T y[rows][panel];
        products.take(y, here);
        solve_rows<0>(y, &top.at[0][p], staged_panel<T, width>::stride, shared.inverse + p);
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int row = own + lane + warp_lanes * r;
#pragma unroll
            for (int c = 0; c < panel; ++c) {
                if constexpr (upper || tensor_cores)
                    here.at[c][lane + warp_lanes * r] = y[r][c];
                if (!upper && row < n)
                    *a.at(row, j + p + c) = y[r][c];
            }
        }
        if constexpr (upper || tensor_cores)
            warp_barrier();
        if constexpr (upper)
            store_transposed(a, own, j + p, here, 0, n - own < tile ? n - own : tile, -panel);
        products.go_on(y, here, top, p + panel);
    }

    template <int most_warps> __device__ __forceinline__ void solve() {
        clear_rows(mine.panels, own < n ? n - own : tile);
        begin(0);
#pragma unroll 1
        for (int c = static_cast<int>(threadIdx.x); c < width; c += warps * warp_lanes)
            shared.inverse[c] = 1 / real_part(*a.at(j + c, j + c));
#pragma unroll 1
        for (int k = 0; k < j + width; k += panel) {
            copies_arrive();
            block_barrier<most_warps>();
            if (k + panel < j + width)
                begin(k + panel);
            if (own >= n)
                continue;
            if (k < j)
                products.add(mine.panels[k / panel % 2], shared.top[k / panel % 2]);
            else
                solve_panel(k - j);
        }
    }
};

template <class T, int width, int rows, int warps, int blocks, bool tensor_cores, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes, blocks)
    solve_rows_below(ltile_arguments arguments) {
    using below = rows_below<T, width, rows, tensor_cores, upper>;
    auto *const shared = dynamic_shared<typename below::memory>();

    const int64_t i = blockIdx.x / arguments.tiles;
    if (arguments.info[i] != 0)
        return;
    const int warp = warps == 1 ? 0 : static_cast<int>(threadIdx.x) / warp_lanes;
    const int its_warps = warps == 1 ? 1 : static_cast<int>(blockDim.x) / warp_lanes;
    const int tile = static_cast<int>(blockIdx.x % arguments.tiles) * its_warps + warp;
    below b = {{item_of<T>(arguments.A, i), arguments.A.ld},
               arguments.n,
               arguments.j,
               arguments.j + width + tile * below::tile,
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

template <class T>
int factor_items(ltile_arguments arguments, bool upper, int64_t batch, void *stream) {
    constexpr geometry g = geometry_of<T>::value;
    using below = rows_below<T, g.width, g.rows, g.tensor_cores, false>;
    const auto diagonal =
        upper ? factor_diagonal_tile<T, g.width, g.diagonal_blocks, g.tensor_cores, true>
              : factor_diagonal_tile<T, g.width, g.diagonal_blocks, g.tensor_cores, false>;
    const auto rest =
        upper ? solve_rows_below<T, g.width, g.rows, g.warps, g.blocks, g.tensor_cores, true>
              : solve_rows_below<T, g.width, g.rows, g.warps, g.blocks, g.tensor_cores, false>;
    const int n = arguments.n;
    int error = 0;
    for (arguments.j = 0; error == 0; arguments.j += g.width) {
        error = launch(diagonal, batch, warp_lanes, stream, arguments);
        if (n - arguments.j <= g.width)
            break;
        const int warps = ceiling(n - arguments.j - g.width, below::tile);
        arguments.tiles = ceiling(warps, g.warps);
        const int warps_of_a_block = ceiling(warps, arguments.tiles);
        if (error == 0)
            error = launch_with_shared(rest, batch * arguments.tiles, warps_of_a_block * warp_lanes,
                                       below::bytes(warps_of_a_block), stream, arguments);
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
        constexpr geometry g = geometry_of<T>::value;
        const int64_t most = INT32_MAX / ceiling(problem->n, g.warps * g.rows * warp_lanes);
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
