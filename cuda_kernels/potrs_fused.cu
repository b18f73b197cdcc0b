/* SPDX-License-Identifier: BSD-3-Clause */
/* potrs in one launch. The triangle is fetched into shared memory once and walked there in both
 * directions: for few right-hand sides by lanes that own rows, for many by threads that own
 * right-hand sides. */
#include "families.h"
#include "strip_solve.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* How one bucket of orders is served. */
struct geometry {
    int order; // the largest that this row serves
    int lanes; // lanes of a warp that solve one item, and the order of a tile
    int warps; // warps of a block
};

template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr geometry rows[] = {{16, 8, 4}, {32, 8, 2}, {64, 16, 1}, {192, 32, 1}};
};
template <> struct geometry_of<double> {
    static constexpr geometry rows[] = {{16, 8, 2}, {32, 8, 1}, {64, 16, 1}, {160, 32, 1}};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry rows[] = {{16, 8, 2}, {32, 8, 1}, {64, 16, 1}, {160, 32, 1}};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry rows[] = {{16, 8, 2}, {32, 8, 1}, {48, 16, 1}, {96, 32, 1}};
};

template <class T> constexpr int geometry_count = sizeof geometry_of<T>::rows / sizeof(geometry);
template <class T> constexpr int highest_order = geometry_of<T>::rows[geometry_count<T> - 1].order;

/* Right-hand sides that a lane solves at a time, and how many of them are few. */
constexpr int many_sides = 4;
constexpr int few_sides = 8;

/* Many right-hand sides: the largest order, and what one thread owns. */
template <class T> struct strip_geometry;
template <> struct strip_geometry<float> {
    static constexpr int order = 128, own = 2;
};
template <> struct strip_geometry<double> {
    static constexpr int order = 96, own = 2;
};
template <> struct strip_geometry<complex_of<float>> {
    static constexpr int order = 96, own = 2;
};
template <> struct strip_geometry<complex_of<double>> {
    static constexpr int order = 64, own = 1;
};

struct fused_arguments {
    operand_t A, B;
    const int *skip;
    int64_t batch;
    int n;
    int nrhs;
    int strips; // of one item's many right-hand sides
    bool upper;
};

// ---- few right-hand sides ----------------------------------------------------------------------

/* One item in shared memory: the right-hand sides in hand, rows of `sides`, then the lower triangle
 * in square tiles, row of tiles by row of tiles. Rows of a tile lie `lanes` + 1 elements apart, so
 * that both a row and a column of it meet every bank once; so do those of the warp's other items,
 * which begin an odd number of `lanes` further on. */
template <class T, int lanes, int sides> struct item_layout {
    static constexpr int row = lanes + 1;
    static constexpr int tile = lanes * row;

    __host__ __device__ static constexpr int tiles(int blocks) {
        return blocks * (blocks + 1) / 2;
    }
    __host__ __device__ static constexpr int elements(int blocks) {
        return lanes * ((blocks * sides + tiles(blocks) * row) | 1);
    }
};

template <class T, int lanes, int sides, bool upper> struct item_on_chip {
    using R = real_of<T>;
    using layout = item_layout<T, lanes, sides>;
    static constexpr int row_length = layout::row;

    // A lane without an item keeps its warp company and leaves memory alone.
    bool alive;
    int q; // which lane of the group this is: the row that it owns in every block of rows
    int n;
    int blocks;
    T *x;
    T *tiles;

    /* Tiles lie in memory along the columns of A: of L, or of L^T where A holds U. Whole sectors
     * are fetched across the diagonal, and rows beyond the order are copies of the last one:
     * neither counts. Only of a tile on the diagonal they are zeros: there the last one's own
     * element would be among L's, and its imaginary part may be anything. */
    __device__ __forceinline__ void load_triangle(const T *item, int64_t ld) const {
        constexpr int step = 8;             // elements of a tile that a lane fetches in a row
        constexpr int parts = lanes / step; // and how often it does for a tile,
        constexpr int held = sizeof(T) == 4 ? 4 : 2; // and for how many parts before it stores
        constexpr int sector = 32 / static_cast<int>(sizeof(T));
        constexpr int q_step = upper ? 1 : row_length;
        constexpr int k_step = upper ? row_length : 1;
        const int count = layout::tiles(blocks) * parts;
        int row = 0, column = 0, part = 0; // of the next fetch
        T *to = tiles + q * q_step;
#pragma unroll 1
        for (int t = 0; t < count; t += held) {
            T value[held][step] = {};
            T *places[held];
#pragma unroll
            for (int h = 0; h < held; ++h) {
                const int along = (upper ? column : row) * lanes + q;
                const int across = (upper ? row : column) * lanes + part * step;
                const T *from = item + (along < n ? along : n - 1) + across * ld;
                const int own = row != column          ? 0
                                : !upper && along >= n ? -1
                                                       : (q - part * step + lanes) / sector;
                if (alive && t + h < count) {
                    if (across + step <= n) {
#pragma unroll
                        for (int k = 0; k < step; ++k, from += ld) {
                            const int turn = (k + lanes) / sector;
                            if (lanes <= sector || row != column ||
                                (upper ? own <= turn : own >= turn))
                                value[h][k] = *from;
                        }
                    } else {
#pragma unroll
                        for (int k = 0; k < step; ++k, from += ld)
                            if (along < n && across + k < n)
                                value[h][k] = *from;
                    }
                }
                places[h] = to + part * step * k_step;
                if (++part == parts) {
                    part = 0;
                    to += layout::tile;
                    if (++column > row) {
                        column = 0;
                        ++row;
                    }
                }
            }
#pragma unroll
            for (int h = 0; h < held; ++h)
                if (t + h < count)
#pragma unroll
                    for (int k = 0; k < step; ++k)
                        places[h][k * k_step] = upper ? conjugate(value[h][k]) : value[h][k];
        }
    }

    /* Begins to; they are there once copies_arrive() of all lanes. */
    __device__ __forceinline__ void load_sides(const T *item, int64_t ld, int count) const {
#pragma unroll 1
        for (int row = q; row < blocks * lanes; row += lanes)
#pragma unroll
            for (int s = 0; s < sides; ++s)
                if (alive && row < n && s < count)
                    begin_copy(&x[row * sides + s], item + row + s * ld);
                else
                    x[row * sides + s] = T{};
    }

    /* x = of row `row` of what is in hand. */
    __device__ __forceinline__ void read_row(T (&to)[sides], int row) const {
        copy_scalars<sides>(to, x + row * sides);
    }

    /* The own row of block p is solved; rows beyond the order stay 0. */
    __device__ __forceinline__ void finish(const T (&sum)[sides], int p) const {
        const int row = p * lanes + q;
#pragma unroll
        for (int s = 0; s < sides; ++s)
            x[row * sides + s] = choose(row < n, sum[s], T{});
        warp_barrier();
    }

    /* L y = b, block of rows by block of rows. The diagonal is left inverted the first time. Within
     * a block L's own row is divided by its diagonal, which leaves one multiply-add between two
     * exchanges. */
    __device__ __forceinline__ void solve_forward(bool first) const {
        const T *tile = tiles + q * row_length;
#pragma unroll 1
        for (int p = 0; p < blocks; ++p) {
            T sum[sides];
            read_row(sum, p * lanes + q);
#pragma unroll 1
            for (int c = 0; c < p * lanes; c += lanes) {
#pragma unroll
                for (int k = 0; k < lanes; ++k) {
                    T y[sides];
                    read_row(y, c + k);
#pragma unroll
                    for (int s = 0; s < sides; ++s)
                        sum[s] = minus_product(sum[s], tile[k], y[s]);
                }
                tile += layout::tile;
            }
            T *const diagonal = const_cast<T *>(tile) + q;
            R inverse = real_part(*diagonal);
            if (first) {
                inverse = p * lanes + q < n ? 1 / inverse : 0;
                *diagonal = from_real<T>(inverse);
            }
#pragma unroll
            for (int s = 0; s < sides; ++s)
                sum[s] = scaled(inverse, sum[s]);
#pragma unroll
            for (int k = 0; k < lanes; ++k) {
                const T l = choose(q > k, scaled(inverse, tile[k]), T{});
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    sum[s] = minus_product(sum[s], l, from_lane<lanes>(sum[s], k));
            }
            tile += layout::tile;
            finish(sum, p);
        }
    }

    /* L^H x = y, from the last block of rows to the first. */
    __device__ __forceinline__ void solve_backward() const {
#pragma unroll 1
        for (int p = blocks - 1; p >= 0; --p) {
            const T *const diagonal =
                tiles + layout::tiles(p + 1) * layout::tile - layout::tile + q;
            const T *tile = diagonal;
            T sum[sides];
            read_row(sum, p * lanes + q);
#pragma unroll 1
            for (int r = p + 1; r < blocks; ++r) {
                tile += r * layout::tile;
#pragma unroll
                for (int k = 0; k < lanes; ++k) {
                    T y[sides];
                    read_row(y, r * lanes + k);
#pragma unroll
                    for (int s = 0; s < sides; ++s)
                        sum[s] = minus_product_conj(sum[s], y[s], tile[k * row_length]);
                }
            }
            const R inverse = real_part(diagonal[q * row_length]);
#pragma unroll
            for (int s = 0; s < sides; ++s)
                sum[s] = scaled(inverse, sum[s]);
#pragma unroll
            for (int k = lanes - 1; k >= 0; --k) {
                const T l = choose(q < k, scaled(inverse, diagonal[k * row_length]), T{});
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    sum[s] = minus_product_conj(sum[s], from_lane<lanes>(sum[s], k), l);
            }
            finish(sum, p);
        }
    }

    __device__ __forceinline__ void store_sides(T *item, int64_t ld, int count) const {
        if (!alive)
            return;
#pragma unroll 1
        for (int row = q; row < n; row += lanes)
#pragma unroll
            for (int s = 0; s < sides; ++s)
                if (s < count)
                    item[row + s * ld] = x[row * sides + s];
    }
};

template <class T, int lanes, int warps, int sides, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes) solve(fused_arguments arguments) {
    using layout = item_layout<T, lanes, sides>;
    constexpr int items = warp_lanes / lanes;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int group = static_cast<int>(threadIdx.x) / lanes;

    const int64_t i = static_cast<int64_t>(blockIdx.x) * warps * items + group;
    const int64_t item = i < arguments.batch ? i : arguments.batch - 1;

    item_on_chip<T, lanes, sides, upper> on_chip;
    on_chip.alive = i < arguments.batch && !(arguments.skip && arguments.skip[i]);
    on_chip.q = lane % lanes;
    on_chip.n = arguments.n;
    on_chip.blocks = (arguments.n + lanes - 1) / lanes;
    on_chip.x = dynamic_shared<T>() + group * layout::elements(on_chip.blocks);
    on_chip.tiles = on_chip.x + on_chip.blocks * lanes * sides;

    const int64_t ldb = arguments.B.ld;
    T *b = item_of<T>(arguments.B, item);
    on_chip.load_sides(b, ldb, arguments.nrhs);
    on_chip.load_triangle(item_of<const T>(arguments.A, item), arguments.A.ld);
    bool first = true;
#pragma unroll 1
    for (int left = arguments.nrhs;;) {
        copies_arrive();
        warp_barrier();
        on_chip.solve_forward(first);
        on_chip.solve_backward();
        on_chip.store_sides(b, ldb, left);
        left -= sides;
        if (left <= 0)
            break;
        b += sides * ldb;
        on_chip.load_sides(b, ldb, left);
        first = false;
    }
}

// ---- many right-hand sides ---------------------------------------------------------------------

template <class T, int own, int warps>
__global__ void __launch_bounds__(warps *warp_lanes) solve_strips(fused_arguments arguments) {
    using strip = strip_solve<T, own, warps>;
    const int64_t item = blockIdx.x / arguments.strips;
    if (arguments.skip && arguments.skip[item])
        return;
    const int first = static_cast<int>(blockIdx.x % arguments.strips) * strip::sides;
    const int64_t lda = arguments.A.ld;
    const int64_t ldb = arguments.B.ld;
    strip_problem<T> p;
    p.L = {item_of<const T>(arguments.A, item), arguments.upper ? lda : 1,
           arguments.upper ? 1 : lda, arguments.upper};
    p.X = {item_of<T>(arguments.B, item) + first * ldb, 1, ldb};
    p.alpha = from_real<T>(1);
    p.order = arguments.n;
    p.count = arguments.nrhs - first;
    p.unit = false;
    p.real_diagonal = true;
    const strip s(p.order);
    s.load(p);
    block_barrier<warps>();
    s.solve_forward(false, p.order);
    s.solve_backward(p.order);
    block_barrier<warps>();
    s.store(p);
}

// ---- launch ------------------------------------------------------------------------------------

template <class T, int at, int sides> size_t block_bytes(int64_t n) {
    constexpr geometry row = geometry_of<T>::rows[at];
    const int blocks = static_cast<int>((n + row.lanes - 1) / row.lanes);
    return static_cast<size_t>(row.warps * warp_lanes / row.lanes) *
           static_cast<size_t>(item_layout<T, row.lanes, sides>::elements(blocks)) * sizeof(T);
}

/* Bytes of dynamic shared memory for an order, by the row of the table that serves it. */
template <class T, int sides, int at = 0> size_t bytes_for(int64_t n) {
    if constexpr (at + 1 < geometry_count<T>)
        if (n > geometry_of<T>::rows[at].order)
            return bytes_for<T, sides, at + 1>(n);
    return resident_padded(block_bytes<T, at, sides>(n));
}

template <class T, int sides, int at = 0>
int launch_rows(const fused_arguments &arguments, void *stream) {
    constexpr geometry row = geometry_of<T>::rows[at];
    if constexpr (at + 1 < geometry_count<T>)
        if (arguments.n > row.order)
            return launch_rows<T, sides, at + 1>(arguments, stream);
    constexpr int items = row.warps * warp_lanes / row.lanes;
    const auto kernel = arguments.upper ? solve<T, row.lanes, row.warps, sides, true>
                                        : solve<T, row.lanes, row.warps, sides, false>;
    return launch_with_shared(kernel, (arguments.batch + items - 1) / items, row.warps * warp_lanes,
                              bytes_for<T, sides>(arguments.n), stream, arguments);
}

template <class T, int own, int warps>
int launch_strips(const fused_arguments &arguments, void *stream) {
    using strip = strip_solve<T, own, warps>;
    return launch_with_shared(solve_strips<T, own, warps>, arguments.batch * arguments.strips,
                              warps * warp_lanes, resident_padded(strip::bytes(arguments.n)),
                              stream, arguments);
}

template <class T> int launch_fused(const fused_arguments &arguments, void *stream) {
    if (arguments.nrhs == 1)
        return launch_rows<T, 1>(arguments, stream);
    if (arguments.nrhs <= few_sides)
        return launch_rows<T, many_sides>(arguments, stream);
    if (arguments.nrhs <= warp_lanes)
        return launch_strips<T, 1, 1>(arguments, stream);
    return launch_strips<T, strip_geometry<T>::own, 1>(arguments, stream);
}

/* Right-hand sides of a strip. */
int strip_width(const problem_t *problem) {
    if (problem->nrhs <= warp_lanes)
        return warp_lanes;
    return with_scalar(problem->type, [](auto scalar) {
        return strip_solve<decltype(scalar), strip_geometry<decltype(scalar)>::own, 1>::sides;
    });
}

/* The largest order, as far as `budget` bytes of shared memory hold its triangle. */
template <class T> int64_t largest_order(int nrhs, size_t budget) {
    using strip = strip_solve<T, strip_geometry<T>::own, 1>;
    return nrhs <= few_sides ? resident_max_n(bytes_for<T, many_sides>, budget, 1, highest_order<T>)
                             : resident_max_n(strip::bytes, budget, 1, strip_geometry<T>::order);
}

} // namespace

bool batchlas_potrs_fused_can_run(const problem_t *problem, const device_facts_t *facts,
                                  const char **reason) {
    *reason = "the triangle does not fit into the shared memory of one block";
    return with_scalar(problem->type, [&](auto scalar) {
        return problem->n <= largest_order<decltype(scalar)>(
                                 problem->nrhs, device_budget(facts->shared_memory_per_block));
    });
}

batchlas_status_t batchlas_potrs_fused(batchlas_handle_t h, const problem_t *problem,
                                       void *workspace) {
    (void)workspace;
    const int width = strip_width(problem);
    const int strips = (problem->nrhs - 1) / width + 1;
    const int error = launch_in_parts(*problem, strips, [&](const problem_t &part) {
        const fused_arguments arguments = {
            part.A, part.B,    part.skip, part.batch,
            part.n, part.nrhs, strips,    part.uplo == BATCHLAS_UPPER};
        return with_scalar(part.type, [&](auto scalar) {
            return launch_fused<decltype(scalar)>(arguments, h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrs fused");
}
