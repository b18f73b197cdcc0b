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

/* How one bucket of orders is served. Orders are padded to a multiple of the panel's width at most
 * and to `order` in shared memory. */
struct geometry {
    int order;  // the largest that this row serves
    int lanes;  // lanes of a warp that factor one matrix
    int warps;  // warps of a block
    int blocks; // blocks that an SM should hold, which bounds the registers
};

template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr geometry rows[] = {{8, 2, 2, 1}, {16, 4, 4, 1}, {24, 8, 4, 1}, {32, 8, 4, 1}};
};
template <> struct geometry_of<double> {
    static constexpr geometry rows[] = {{8, 2, 2, 1}, {16, 4, 2, 1}, {24, 8, 2, 1}, {32, 8, 2, 1}};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry rows[] = {{8, 2, 2, 1}, {16, 4, 2, 1}, {24, 8, 2, 1}, {32, 8, 2, 1}};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry rows[] = {{8, 4, 2, 1}, {16, 8, 2, 1}, {24, 8, 1, 1}, {32, 8, 1, 1}};
};

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
    static constexpr int plane = N / panel_columns * (N + panel_columns) / 2;
    // Matrices of one warp start in different banks.
    static constexpr int shift = lanes < 8 ? lanes : 1;
    static constexpr int granules = (planes * plane - shift + 7) / 8 * 8 + shift;

    /* Where row 0 of panel p would be; its first row is 4p. */
    __host__ __device__ static constexpr int panel(int p) {
        return p * N - 2 * p * (p + 1);
    }
};

// ---- between global and shared memory ----------------------------------------------------------

/* Calls visit(element in shared memory, element in global memory) for those elements of one item's
 * triangle that are this lane's. The warp takes blocks of 8 x 4 or 4 x 8 elements, whichever are
 * whole sectors of global memory. An upper triangle is visited as its transpose: the factor of the
 * transpose is the transpose of U. Orders are at least `least`. */
template <class T, int N, int lanes, int least, bool upper, class Visit>
__device__ __forceinline__ void visit_triangle(T *shared, T *item, int n, int64_t ld, Visit visit) {
    using place = triangle<T, N, lanes>;
    constexpr int length = place::length;
    constexpr bool wide = upper && length == 4;
    constexpr int columns = wide ? 8 : 4;
    constexpr int rows = warp_lanes / columns;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int row = wide ? lane / 8 : lane / length % 8;
    const int column = wide ? lane % 8 : lane / (8 * length) * length + lane % length;
    shared += (column % panel_columns / length * place::plane + row) * length + column % length;

    const auto visit_block = [&](int i, int j, T *global) {
        const bool in_triangle = i - j >= columns - 1 || column - row <= i - j;
        const bool in_order = i + rows <= least || row + i < n;
        const int next_panel = wide ? column / panel_columns * (N - j - panel_columns) : 0;
        if (in_triangle & in_order)
            visit(shared + (place::panel(j / panel_columns) + i + next_panel) * length, global);
    };
    if constexpr (upper) {
        item += column + row * ld;
#pragma unroll
        for (int i = 0; i < N; i += rows, item += rows * ld)
#pragma unroll
            for (int j = 0; j < N && j / 8 * 8 <= i; j += columns)
                visit_block(i, j, item + j);
    } else {
        item += row + column * ld;
#pragma unroll
        for (int j = 0; j < N; j += columns, item += columns * ld)
#pragma unroll
            for (int i = j / 8 * 8; i < N; i += rows)
                visit_block(i, j, item + i);
    }
}

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

/* Columns 4p ... 4p + 3 of the factor. A lane owns the rows 4p + q, 4p + q + lanes, ..., `owned` of
 * them, the last perhaps beyond the matrix. */
template <class T, int N, int lanes, int owned>
__device__ __forceinline__ void factor_panel(granule<T> *matrix, int p, int q, int n, int *failed) {
    using place = triangle<T, N, lanes>;
    using R = real_of<T>;
    constexpr int length = place::length;
    const int first = panel_columns * p;
    const bool last_is_live = first + q + (owned - 1) * lanes < N;
    // A lane without a last row reads some other row in its place and drops the result.
    const int last = last_is_live ? first + q + (owned - 1) * lanes : first + q % panel_columns;
    granule<T> *const own = matrix + place::panel(p) + first + q;
    granule<T> *const own_last = matrix + place::panel(p) + last;

    T x[owned][4];
#pragma unroll
    for (int h = 0; h < place::planes; ++h)
#pragma unroll
        for (int r = 0; r < owned; ++r) {
            const granule<T> g = (r < owned - 1 ? own + r * lanes : own_last)[h * place::plane];
#pragma unroll
            for (int e = 0; e < length; ++e)
                x[r][h * length + e] = g.at[e];
        }

    // x -= (own rows of the factor) (rows 4p ... 4p + 3 of the factor)^H, columns 0 ... 4p - 1
    const granule<T> *left = matrix + first + q;
    const granule<T> *left_last = matrix + last;
    const granule<T> *top = matrix + first;
#pragma unroll 1
    for (int step = N - panel_columns; step > N - panel_columns * (p + 1); step -= panel_columns) {
#pragma unroll
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
    warp_barrier();
}

/* All panels in which a lane owns `owned` rows, then those with fewer. */
template <class T, int N, int lanes, int owned>
__device__ __forceinline__ void factor_panels(granule<T> *matrix, int q, int n, int *failed) {
    constexpr int begin = N > owned * lanes ? (N - owned * lanes + 3) / 4 : 0;
    constexpr int end = (N - (owned - 1) * lanes + 3) / 4;
    if constexpr (begin < end)
#pragma unroll 1
        for (int p = begin; p < end && panel_columns * p < n; ++p)
            factor_panel<T, N, lanes, owned>(matrix, p, q, n, failed);
    if constexpr (owned > 1)
        factor_panels<T, N, lanes, owned - 1>(matrix, q, n, failed);
}

// ---- the kernel --------------------------------------------------------------------------------

template <class T, int N, int least, int lanes, int warps, int blocks>
__global__ void __launch_bounds__(warps *warp_lanes, blocks) factor(tiny_arguments arguments) {
    using place = triangle<T, N, lanes>;
    constexpr int matrices = warp_lanes / lanes;
    // Whole granules are read across the diagonal and past the order; none of that is kept.
    auto &shared = shared_scratch<granule<T>[warps * matrices * place::granules]>();

    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int q = lane % lanes;
    granule<T> *const warps_own = shared + warp * matrices * place::granules;
    granule<T> *const matrix = warps_own + lane / lanes * place::granules;

    // A lane without an item keeps its warp company and leaves memory alone.
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * warps + warp) * matrices + lane / lanes;
    bool alive = i < arguments.batch;
    if (alive && arguments.info_base > 0 && arguments.info)
        alive = arguments.info[i] == 0;
    T *const item = alive ? item_of<T>(arguments.A, i) : nullptr;
    const int n = arguments.n;
    const int64_t ld = arguments.A.ld;

    T *at = reinterpret_cast<T *>(warps_own);
#pragma unroll 1
    for (int m = 0; m < matrices; ++m, at += place::granules * place::length) {
        const auto load = [](T *to, const T *from) { begin_copy(to, from); };
        T *const from = from_warp_lane(item, m * lanes);
        if (from && arguments.upper)
            visit_triangle<T, N, lanes, least, true>(at, from, n, ld, load);
        else if (from)
            visit_triangle<T, N, lanes, least, false>(at, from, n, ld, load);
    }
    copies_arrive();
    warp_barrier();

    int failed = 0;
    factor_panels<T, N, lanes, (N + lanes - 1) / lanes>(matrix, q, n, &failed);

    at = reinterpret_cast<T *>(warps_own);
#pragma unroll 1
    for (int m = 0; m < matrices; ++m, at += place::granules * place::length) {
        const auto store = [](const T *from, T *to) { *to = *from; };
        T *const to = from_warp_lane(item, m * lanes);
        if (to && arguments.upper)
            visit_triangle<T, N, lanes, least, true>(at, to, n, ld, store);
        else if (to)
            visit_triangle<T, N, lanes, least, false>(at, to, n, ld, store);
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
    return launch(factor<T, row.order, least, row.lanes, row.warps, row.blocks>,
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
