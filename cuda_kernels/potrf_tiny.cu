/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf for small orders: a warp factors several matrices at once in shared memory, left-looking,
 * four columns at a time. */
#include "device.cuh"
#include "families.h"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int max_order = 32;
constexpr int panel_columns = 4;

/* How the orders up to `order`, and beyond the row before, are served. A matrix takes as much
 * shared memory as one of `order`, and as many panels as it needs. */
struct geometry {
    int order;
    int lanes;   // lanes of a warp that factor one matrix
    int drop;    // of the rows a lane owns, from one body of code to the next; 1 if lanes > 4
    bool tensor; // fp64 tensor cores apply finished columns to eight others at once
    int warps;   // warps of a block
    int blocks;  // blocks that an SM should hold, which bounds the registers
};

template <class T> struct geometry_of;
// clang-format off
template <> struct geometry_of<float> {
    static constexpr geometry rows[] = {
        // order, lanes, drop, tensor, warps, blocks
        {8,  2, 1, false, 2, 1},
        {16, 4, 2, false, 4, 1},
        {20, 4, 1, false, 2, 1},
        {24, 4, 2, false, 2, 1},
        {32, 4, 2, false, 2, 1}};
};
template <> struct geometry_of<double> {
    static constexpr geometry rows[] = {
        {8,  2, 1, false, 2, 1},
        {16, 4, 2, false, 4, 1},
        {20, 8, 1, false, 2, 1},
        {24, 8, 1, true,  2, 1},
        {32, 8, 1, true,  2, 1}};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry rows[] = {
        {8,  2, 1, false, 2, 1},
        {16, 4, 1, false, 4, 1},
        {20, 8, 1, false, 2, 1},
        {24, 8, 1, false, 2, 1},
        {32, 8, 1, false, 2, 1}};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry rows[] = {
        {8,  4, 1, false, 2, 1},
        {16, 8, 1, true,  2, 1},
        {20, 8, 1, false, 1, 1},
        {24, 8, 1, true,  2, 1},
        {32, 8, 1, true,  1, 1}};
};
// clang-format on

struct tiny_arguments {
    operand_t A;
    int64_t batch;
    int *info;
    int info_base;
    int n;
    bool upper;
};

/* A lower triangle of order N in shared memory: granules, so that a lane reads sixteen bytes at a
 * time and rows that follow each other lie in banks that follow each other. A panel holds rows
 * 4p ... N - 1 of its four columns; where a granule is shorter than four scalars the panels are cut
 * into planes, all first granules of the rows coming before all second ones. */
template <class T, int N, int lanes> struct triangle {
    static constexpr int length = granule<T>::length;
    static constexpr int planes = panel_columns / length;
    // The planes, and the matrices of one warp, start in different banks.
    static constexpr int plane =
        N / panel_columns * (N + panel_columns) / 2 + (planes == 1 ? 0 : 4 / planes);
    static constexpr int shift = lanes < 8 ? lanes : 1;
    static constexpr int granules = (planes * plane - shift + 7) / 8 * 8 + shift;

    /* Where row 0 of panel p would be; its first row is 4p. */
    __host__ __device__ static constexpr int panel(int p) {
        return p * N - 2 * p * (p + 1);
    }
};

// ---- between global and shared memory ----------------------------------------------------------

/* Moves items' triangles. The warp takes blocks of 8 x 4 or 4 x 8 elements, whichever are whole
 * sectors of global memory; a line of blocks lies along the contiguous dimension. An upper triangle
 * moves as its transpose: the factor of the transpose is the transpose of U. Orders are at least
 * `least`. */
template <class T, int N, int lanes, int least, bool upper> class mover {
    using place = triangle<T, N, lanes>;
    static constexpr int length = place::length;
    static constexpr bool wide = upper && length == 4;
    static constexpr int columns = wide ? 8 : 4;
    static constexpr int rows = warp_lanes / columns;
    static constexpr int lines = (N - 1) / (upper ? rows : columns) + 1;

    __host__ __device__ static constexpr int count() {
        int blocks = 0;
        for (int j = 0; j < N; j += columns)
            blocks += (N - j / 8 * 8 + rows - 1) / rows;
        return blocks;
    }

    int row, column; // of the lane in a block
    int n;
    int in_shared;
    int64_t in_item;
    int64_t step; // from line to line, in bytes

    /* Calls visit(number of the block, element in shared memory, element of the item) for each
     * block in which this lane has an element. */
    template <class Visit>
    __device__ __forceinline__ void visit(T *shared, T *item, Visit call) const {
        shared += in_shared;
        char *line = reinterpret_cast<char *>(item + in_item);
        const int64_t next = forget(step);
        int block = 0;
#pragma unroll
        for (int l = 0; l < lines; ++l, line += next)
#pragma unroll
            for (int k = 0; k < N; k += upper ? columns : rows) {
                const int i = upper ? l * rows : k, j = upper ? k : l * columns;
                if (i < j / 8 * 8)
                    continue;
                const bool in_triangle = i - j >= columns - 1 || column - row <= i - j;
                const bool in_order = i + rows <= least || row + i < n;
                const int next_panel = wide ? column / 4 * (N - j - 4) : 0;
                if (in_triangle & in_order)
                    call(block, shared + (place::panel(j / 4) + i + next_panel) * length,
                         reinterpret_cast<T *>(line) + k);
                ++block;
            }
    }

  public:
    __device__ __forceinline__ mover(int n_, int ld) : n(n_) {
        const unsigned lane = threadIdx.x % warp_lanes;
        row = wide ? lane / 8 : lane / length % 8;
        column = wide ? lane % 8 : lane / (8 * length) * length + lane % length;
        in_shared = (column % 4 / length * place::plane + row) * length + column % length;
        const int64_t distance = ld;
        in_item = upper ? column + row * distance : row + column * distance;
        step = distance * ((upper ? rows : columns) * static_cast<int>(sizeof(T)));
    }

    __device__ __forceinline__ void load(T *shared, T *item) const {
        visit(shared, item, [](int, T *to, const T *from) { begin_copy(to, from); });
    }

    __device__ __forceinline__ void store(T *shared, T *item) const {
        constexpr int blocks = count();
        T value[blocks];
        visit(shared, item, [&](int block, const T *from, T *) { value[block] = *from; });
        visit(shared, item, [&](int block, T *, T *to) { store_global(to, value[block]); });
    }
};

// ---- one panel ---------------------------------------------------------------------------------

/* Cholesky of the panel's diagonal block, by every lane for itself. a: its lower triangle, updated
 * by all columns before; l: the factor's strict lower triangle. True if all pivots among the first
 * `columns` were ordinary; if not, only `careful` does them justice. */
template <bool careful, class T>
__device__ __forceinline__ bool factor_diagonal(const T (&a)[4][4], int columns, T (&l)[4][4],
                                                pivot<real_of<T>> (&pivots)[4], int *failed) {
    using R = real_of<T>;
    T rest[4][4];
    R diagonal[4];
    bool ordinary = true;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        diagonal[i] = real_part(a[i][i]);
#pragma unroll
        for (int k = 0; k < i; ++k)
            rest[i][k] = a[i][k];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if constexpr (careful) {
            pivots[j] = any_pivot(diagonal[j]);
            if (!(diagonal[j] > 0) && j < columns && *failed == 0)
                *failed = j + 1;
        } else {
            pivots[j] = ordinary_pivot(diagonal[j]);
            ordinary &= (j >= columns) | is_ordinary_pivot(diagonal[j]);
        }
#pragma unroll
        for (int i = j + 1; i < 4; ++i) {
            l[i][j] = scaled(pivots[j].inverse, rest[i][j]);
            diagonal[i] = minus_square(diagonal[i], l[i][j]);
#pragma unroll
            for (int k = j + 1; k < i; ++k)
                rest[i][k] = minus_product_conj(rest[i][k], l[i][j], l[k][j]);
        }
    }
    return ordinary;
}

/* Columns 4p ... 4p + 3 of the factor, to which the panels before `from` were applied already. A
 * lane owns the rows 4p + q, 4p + q + lanes, ..., `owned` of them, the last perhaps beyond the
 * matrix. */
template <class T, int N, int lanes, int owned>
__device__ __forceinline__ void factor_panel(granule<T> *matrix, int p, int from, int q, int n,
                                             int *failed) {
    using place = triangle<T, N, lanes>;
    using R = real_of<T>;
    constexpr int length = place::length;
    const int first = panel_columns * p;
    const bool last_is_live = first + q + (owned - 1) * lanes < N;
    // A lane without a last row reads another in its place, one that no other lane writes
    // meanwhile, and drops the result.
    const int spare = owned > 1 ? first + q + (owned - 2) * lanes : first + q % panel_columns;
    const int last = last_is_live ? first + q + (owned - 1) * lanes : spare;
    granule<T> *const own = matrix + place::panel(p) + first + q;
    granule<T> *const own_last = matrix + place::panel(p) + last;

    T x[owned][4];
#pragma unroll
    for (int h = 0; h < place::planes; ++h)
#pragma unroll
        for (int r = 0; r < owned; ++r) {
            granule<T> g = {};
            if (owned > 1 || last_is_live)
                g = (r < owned - 1 ? own + r * lanes : own_last)[h * place::plane];
#pragma unroll
            for (int e = 0; e < length; ++e)
                x[r][h * length + e] = g.at[e];
        }

    // x -= (own rows of the factor) (rows 4p ... 4p + 3 of the factor)^H, columns 4 from ... 4p - 1
    const granule<T> *left = matrix + place::panel(from) + first + q;
    const granule<T> *left_last = matrix + place::panel(from) + last;
    const granule<T> *top = matrix + place::panel(from) + first;
#pragma unroll 1
    for (int step = N - panel_columns * (from + 1); step > N - panel_columns * (p + 1);
         step -= panel_columns) {
#pragma unroll(owned *place::planes <= 8 ? place::planes : 1)
        for (int h = 0; h < place::planes; ++h) {
            granule<T> b[4];
#pragma unroll
            for (int c = 0; c < 4; ++c)
                b[c] = top[c + h * place::plane];
#pragma unroll
            for (int r = 0; r < owned; ++r) {
                const granule<T> g =
                    (r < owned - 1 ? left + r * lanes : left_last)[h * place::plane];
#pragma unroll
                for (int e = 0; e < length; ++e)
#pragma unroll
                    for (int c = 0; c < 4; ++c)
                        x[r][c] = minus_product_conj(x[r][c], g.at[e], b[c].at[e]);
            }
        }
        left += step;
        left_last += step;
        top += step;
    }

    T a[4][4], l[4][4];
    pivot<R> pivots[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int c = 0; c < i; ++c)
            a[i][c] = from_lane<lanes>(x[i / lanes][c], i % lanes);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        a[i][i] = from_real<T>(from_lane<lanes>(real_part(x[i / lanes][i]), i % lanes));
    if (__builtin_expect(!factor_diagonal<false>(a, n - first, l, pivots, failed), 0)) {
        int failed_here = 0;
        factor_diagonal<true>(a, n - first, l, pivots, &failed_here);
        if (*failed == 0 && failed_here)
            *failed = first + failed_here;
    }

#pragma unroll
    for (int r = 0; r < owned; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
#pragma unroll
            for (int k = 0; k < c; ++k)
                x[r][c] = minus_product_conj(x[r][c], x[r][k], l[c][k]);
            x[r][c] = scaled(pivots[c].inverse, x[r][c]);
        }
        // The rows of the diagonal block came out right but for the diagonal itself.
        if (r * lanes < 4)
#pragma unroll
            for (int c = 0; c < 4; ++c)
                x[r][c] = choose(q + r * lanes == c, from_real<T>(pivots[c].root), x[r][c]);
        if (r < owned - 1 || last_is_live)
#pragma unroll
            for (int h = 0; h < place::planes; ++h) {
                granule<T> g;
#pragma unroll
                for (int e = 0; e < length; ++e)
                    g.at[e] = x[r][h * length + e];
                (r < owned - 1 ? own + r * lanes : own_last)[h * place::plane] = g;
            }
    }
    __syncwarp();
}

/* The panels in which a lane owns at most `owned` rows and more than owned - drop, then the others:
 * each number has a body of its own. */
template <class T, int N, int lanes, int drop, int owned>
__device__ __forceinline__ void factor_panels(granule<T> *matrix, int q, int n, int *failed) {
    static_assert(drop == 1 || lanes <= 4,
                  "more than a lane's last row would be beyond the matrix");
    constexpr int fewer = owned - drop;
    constexpr int begin = N > owned * lanes ? (N - owned * lanes + 3) / 4 : 0;
    constexpr int end = (N - fewer * lanes + 3) / 4;
    if constexpr (begin < end)
#pragma unroll 1
        for (int p = begin; p < end && panel_columns * p < n; ++p)
            factor_panel<T, N, lanes, owned>(matrix, p, 0, q, n, failed);
    if constexpr (fewer > 0)
        factor_panels<T, N, lanes, drop, fewer>(matrix, q, n, failed);
}

// ---- with tensor cores -------------------------------------------------------------------------

/* One lane's share of an 8 x 8 tile: columns t and t + 4 of one row. */
template <class T> struct tile;
template <> struct tile<double> {
    double part[2];

    __device__ __forceinline__ void set(int half, double a) {
        part[half] = a;
    }
    __device__ __forceinline__ double get(int half) const {
        return part[half];
    }
    /* -= a b^H for 8 x 4 blocks a and b */
    __device__ __forceinline__ void subtract_outer(double a, double b) {
        multiply_add_8x8x4(part, a, -b);
    }
};
template <> struct tile<complex_of<double>> {
    double re[2], im[2];

    __device__ __forceinline__ void set(int half, complex_of<double> a) {
        re[half] = a.re;
        im[half] = a.im;
    }
    __device__ __forceinline__ complex_of<double> get(int half) const {
        return {re[half], im[half]};
    }
    __device__ __forceinline__ void subtract_outer(complex_of<double> a, complex_of<double> b) {
        multiply_add_8x8x4(re, a.re, -b.re);
        multiply_add_8x8x4(im, a.im, -b.re);
        multiply_add_8x8x4(re, a.im, -b.im);
        multiply_add_8x8x4(im, a.re, b.im);
    }
};

/* Columns 8b ... 8b + 7 of all matrices of the warp, one after the other, less the product of the
 * columns before. With rows and columns of a tile in the order 0, 4, 1, 5, 2, 6, 3, 7 each half of
 * a tile is laid out as the tensor cores want a and b, so that one load serves as both. */
template <class T, int N, int lanes, int b>
__device__ __forceinline__ void update_block_column(granule<T> *matrices) {
    using place = triangle<T, N, lanes>;
    constexpr int length = place::length;
    constexpr int tiles = N / 8 - b;
    const unsigned lane = threadIdx.x % warp_lanes;
    const int row = lane / 8 + lane / 4 % 2 * 4;
    const int column = lane % 4;
    T *matrix = reinterpret_cast<T *>(matrices) +
                (column / length * place::plane + 8 * b + row) * length + column % length;
#pragma unroll 1
    for (int m = 0; m < warp_lanes / lanes; ++m, matrix += place::granules * length) {
        tile<T> c[tiles];
        // The upper right quarter of the first tile does not exist.
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int i = 0; i < tiles; ++i)
                c[i].set(half, i > 0 || half == 0 || row >= 4
                                   ? matrix[(place::panel(2 * b + half) + 8 * i) * length]
                                   : T{});
#pragma unroll
        for (int k = 0; k < 2 * b; ++k) {
            T a[tiles];
#pragma unroll
            for (int i = 0; i < tiles; ++i)
                a[i] = matrix[(place::panel(k) + 8 * i) * length];
#pragma unroll
            for (int i = 0; i < tiles; ++i)
                c[i].subtract_outer(a[i], a[0]);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int i = 0; i < tiles; ++i)
                if (i > 0 || half == 0 || row >= 4)
                    matrix[(place::panel(2 * b + half) + 8 * i) * length] = c[i].get(half);
    }
    __syncwarp();
}

template <class T, int N, int lanes, int b>
__device__ __forceinline__ void factor_block_columns(granule<T> *matrices, granule<T> *matrix,
                                                     int q, int n, int *failed) {
    if constexpr (b > 0)
        update_block_column<T, N, lanes, b>(matrices);
#pragma unroll 1
    for (int p = 2 * b; p < 2 * b + 2 && panel_columns * p < n; ++p)
        factor_panel<T, N, lanes, (N - 8 * b + lanes - 1) / lanes>(matrix, p, 2 * b, q, n, failed);
    if constexpr (b < N / 8 - 1)
        if (8 * (b + 1) < n)
            factor_block_columns<T, N, lanes, b + 1>(matrices, matrix, q, n, failed);
}

// ---- the kernel --------------------------------------------------------------------------------

template <class T, int N, int least, int lanes, int drop, bool tensor, int warps, int blocks>
__global__ void __launch_bounds__(warps *warp_lanes, blocks) factor(tiny_arguments arguments) {
    using place = triangle<T, N, lanes>;
    constexpr int matrices = warp_lanes / lanes;
    __shared__ granule<T> shared[warps * matrices * place::granules];

    const unsigned lane = threadIdx.x % warp_lanes;
    const unsigned warp = threadIdx.x / warp_lanes;
    const int q = lane % lanes;
    granule<T> *const warps_own = shared + warp * matrices * place::granules;
    granule<T> *const matrix = warps_own + lane / lanes * place::granules;
    const int n = arguments.n;
    const int ld = arguments.A.ld;

    // A lane without an item keeps its warp company and leaves memory alone.
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * warps + warp) * matrices + lane / lanes;
    bool alive = i < arguments.batch;
    if (alive && arguments.info_base > 0 && arguments.info)
        alive = arguments.info[i] == 0;
    T *const item = item_of<T>(arguments.A, alive ? i : 0);
    const unsigned any_alive = __ballot_sync(all_lanes, alive);

    const mover<T, N, lanes, least, false> lower(n, ld);
    const mover<T, N, lanes, least, true> upper(n, ld);
    T *at = reinterpret_cast<T *>(warps_own);
#pragma unroll 1
    for (int m = 0; m < matrices; ++m, at += place::granules * place::length) {
        T *const from = from_warp_lane(item, m * lanes);
        if (any_alive >> m * lanes & 1) {
            if (arguments.upper)
                upper.load(at, from);
            else
                lower.load(at, from);
        }
    }
    copies_arrive();
    __syncwarp();

    int failed = 0;
    if constexpr (tensor)
        factor_block_columns<T, N, lanes, 0>(warps_own, matrix, q, n, &failed);
    else
        factor_panels<T, N, lanes, drop, (N + lanes - 1) / lanes>(matrix, q, n, &failed);

    at = reinterpret_cast<T *>(warps_own);
#pragma unroll 1
    for (int m = 0; m < matrices; ++m, at += place::granules * place::length) {
        T *const to = from_warp_lane(item, m * lanes);
        if (any_alive >> m * lanes & 1) {
            if (arguments.upper)
                upper.store(at, to);
            else
                lower.store(at, to);
        }
    }
    if (alive && q == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

/* Launches the first row of the table, from row `at` on, that serves the order. */
template <class T, int at = 0, int least = 1>
int launch_row(const tiny_arguments &arguments, void *stream) {
    constexpr geometry row = geometry_of<T>::rows[at];
    if constexpr (row.order < max_order)
        if (arguments.n > row.order)
            return launch_row<T, at + 1, row.order + 1>(arguments, stream);
    constexpr int items = row.warps * warp_lanes / row.lanes;
    return launch(
        factor<T, row.order, least, row.lanes, row.drop, row.tensor, row.warps, row.blocks>,
        (arguments.batch + items - 1) / items, row.warps * warp_lanes, stream, arguments);
}

} // namespace

bool batchlas_potrf_tiny_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                      const char **reason) {
    (void)facts;
    if (problem->n <= max_order)
        return true;
    *reason = "tiny serves orders up to 32";
    return false;
}

batchlas_status_t batchlas_potrf_tiny_cuda(batchlas_handle_t h, const problem_t *problem,
                                           void *workspace) {
    (void)workspace;
    const tiny_arguments arguments = {problem->A,    problem->batch,
                                      problem->info, problem->info_base,
                                      problem->n,    problem->uplo == BATCHLAS_UPPER};
    const int error = with_scalar(problem->type, [&](auto scalar) {
        return launch_row<decltype(scalar)>(arguments, h->stream);
    });
    return batchlas_device_status(h, error, "launching potrf tiny");
}
