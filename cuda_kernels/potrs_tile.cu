/* SPDX-License-Identifier: BSD-3-Clause */
/* potrs for many right-hand sides: one launch, the triangle streamed in each direction past tiles
 * of right-hand sides that stay in shared memory.
 *
 * A block has one item and some of its right-hand sides, turned so that each is a row: column i of
 * these rows is row i of B. Its warps own the block rows of the triangle in turn. For one of
 * them a warp gathers the products of all finished columns with the triangle's elements in that
 * block row, in tiles of the tensor cores, then solves its own columns in panels of 8, which go
 * through shared memory to be worked by rows. The way back is the same from the end, with the
 * triangle transposed.
 *
 * Panels of the triangle come by asynchronous copies into a ring that is the warp's own. Warps wait
 * for each other through events alone, one for each panel that is solved. */
#include "families.h"
#include "tensor_tile.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int panel = tile_columns;
constexpr int width = 32;     // of a block row
constexpr int stages = 4;     // panels of a ring
constexpr int most_warps = 8; // of a block

struct tile_arguments {
    operand_t A, B;
    const int *skip;
    int n;
    int nrhs;
    int parts; // blocks that share an item's right-hand sides
};

__host__ __device__ constexpr int panels_of(int n) {
    return (n + panel - 1) / panel;
}

__host__ __device__ constexpr int block_rows_of(int n) {
    return (n + width - 1) / width;
}

// ---- shared memory -----------------------------------------------------------------------------

/* What is known of a panel of right-hand sides. */
struct alignas(16) panel_state {
    event solved[2]; // on the way forward, and back
    bool has_tiny;   // floats, as is_tiny has them
};

/* The right-hand sides, the diagonal's inverses, the states of the panels, the rings. */
template <class T, int sides> struct layout {
    using R = real_of<T>;

    staged_panel<T, sides> *x;
    R *inverses;
    panel_state *states;
    staged_panel<T, width> *rings;

    __device__ __forceinline__ explicit layout(int n)
        : x(dynamic_shared<staged_panel<T, sides>>()),
          inverses(reinterpret_cast<R *>(x + panels_of(n))),
          states(reinterpret_cast<panel_state *>(inverses + panels_of(n) * panel)),
          rings(reinterpret_cast<staged_panel<T, width> *>(states + panels_of(n))) {}

    static size_t bytes(int n, int warps) {
        return static_cast<size_t>(panels_of(n)) *
                   (sizeof(staged_panel<T, sides>) + panel * sizeof(R) + sizeof(panel_state)) +
               static_cast<size_t>(warps) * stages * sizeof(staged_panel<T, width>);
    }
};

template <class T> struct sides_in_memory {
    T *item;
    int64_t ld;
    int count; // at most those of the block
};

template <class T, int sides, bool upper> struct warp_solve {
    using R = real_of<T>;
    static constexpr int down = sides / tile_rows;
    static constexpr int right = width / panel;

    const T *item;
    int64_t ld;
    sides_in_memory<T> b;
    int n;
    int warp;
    int warps; // of the block
    layout<T, sides> shared;
    staged_panel<T, width> *ring;
    int last_own_row;

    /* The panel of the triangle that is copied next, and the lane's first element of it. */
    struct {
        const T *from;
        int row, column;
        bool backward, done;
        unsigned slot;
    } ahead;
    unsigned slot; // of the panel at hand
    product_tile<T> products[down][right];

    // ---- copies --------------------------------------------------------------------------------

    __device__ __forceinline__ int last_panel() const {
        return (n - 1) / panel * panel;
    }
    /* Whether columns of the panels lie across those of the memory. */
    __device__ __forceinline__ static constexpr bool lies_across(bool backward) {
        return backward != upper;
    }
    template <bool backward> __device__ __forceinline__ void go_to(int row, int column) {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        ahead.row = row;
        ahead.column = column;
        ahead.from = lies_across(backward)
                         ? item + (column + lane % panel) + (row + lane / panel) * ld
                         : item + (row + lane) + column * ld;
    }

    /* Rows `first` to `last` of a panel; the others stay what they were. */
    template <bool across>
    __device__ __forceinline__ void begin_rows(staged_panel<T, width> &to, int first,
                                               int last) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const T *from = ahead.from;
        if constexpr (across) {
            constexpr int together = warp_lanes / panel;
            T *const own = &to.at[lane % panel][lane / panel];
            const int64_t step = together * ld;
#pragma unroll
            for (int r = 0; r < width; r += together, from += step)
                if (first <= r && r < last)
                    begin_copy(own + r, from);
        } else if (first <= lane && lane < last) {
#pragma unroll
            for (int c = 0; c < panel; ++c, from += ld)
                begin_copy(&to.at[c][lane], from);
        }
    }
    /* A panel that may end with the matrix: zeros beyond, and on the diagonal's other side. */
    template <bool backward>
    __device__ __forceinline__ void begin_edge(staged_panel<T, width> &to) const {
        constexpr bool across = lies_across(backward);
        constexpr int together = across ? warp_lanes / panel : 1;
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const T *from = ahead.from;
#pragma unroll 1
        for (int t = 0; t < (across ? width : panel); t += together, from += together * ld) {
            const int row = across ? lane / panel + t : lane;
            const int column = across ? lane % panel : t;
            const int i = ahead.row + row, k = ahead.column + column;
            const bool inside = backward ? i <= k && k < n : k <= i && i < n;
            begin_copy_or_zero(&to.at[column][row], from, inside);
        }
    }
    template <bool backward>
    __device__ __forceinline__ void begin_panel_ahead(staged_panel<T, width> &to) const {
        const int j = ahead.row, k = ahead.column;
        if (j + width > n || k + panel > n)
            begin_edge<backward>(to);
        else if (backward)
            begin_rows<lies_across(true)>(to, 0, k < j + width ? k + panel - j : width);
        else
            begin_rows<lies_across(false)>(to, k > j ? k - j : 0, width);
    }
    /* The right-hand sides' part of a block row. */
    __device__ __forceinline__ void begin_sides(int j) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const int k = lane % panel;
#pragma unroll 1
        for (int i = j; i < j + width && i < n; i += panel) {
            T *const to = &shared.x[i / panel].at[k][0];
            const T *const from = b.item + i + k;
#pragma unroll 4
            for (int s = lane / panel; s < sides; s += warp_lanes / panel)
                begin_copy_or_zero(to + s, from + s * b.ld, i + k < n && s < b.count);
        }
    }

    __device__ __forceinline__ void begin_next() {
        if (!ahead.done) {
            staged_panel<T, width> &to = ring[ahead.slot];
            if (ahead.backward) {
                begin_panel_ahead<true>(to);
                ahead.column -= panel;
                ahead.from -= lies_across(true) ? panel : panel * ld;
                if (ahead.column < ahead.row) {
                    go_to<true>(ahead.row - warps * width, last_panel());
                    ahead.done = ahead.row < 0;
                }
            } else {
                if (ahead.column == 0)
                    begin_sides(ahead.row);
                begin_panel_ahead<false>(to);
                ahead.column += panel;
                ahead.from += lies_across(false) ? panel : panel * ld;
                if (ahead.column >= ahead.row + width || ahead.column >= n) {
                    go_to<false>(ahead.row + warps * width, 0);
                    if (ahead.row >= n) {
                        ahead.backward = true;
                        go_to<true>(last_own_row, last_panel());
                    }
                }
            }
            ahead.slot = (ahead.slot + 1) % stages;
        }
        end_group();
    }

    __device__ __forceinline__ void start() {
        ahead.backward = ahead.done = false;
        ahead.slot = 0;
        slot = stages - 1;
        go_to<false>(warp * width, 0);
#pragma unroll 1
        for (int i = 0; i < stages - 1; ++i)
            begin_next();
    }
    /* The next panel has arrived. */
    __device__ __forceinline__ staged_panel<T, width> &arrive() {
        groups_arrive(stages - 2);
        warp_barrier(); // also before the last panel is overwritten
        slot = (slot + 1) % stages;
        return ring[slot];
    }

    // ---- products ------------------------------------------------------------------------------
    // products[.][h] are those of the h-th panel of the block row that is not yet solved.

    /* products(., h) = products(., h + shift) + x m(at h)^T, of the panels that begin at `first`, a
     * row of the block row, and go on to its end: 0 backward, `there` forward. */
    template <bool backward, int shift>
    __device__ __forceinline__ void add(int i, const staged_panel<T, width> &m, int first,
                                        int there) {
        constexpr bool conjugated = backward != upper;
        const staged_panel<T, sides> &x = shared.x[i / panel];
        if constexpr (has_small_range<T>)
            if (shared.states[i / panel].has_tiny) {
                add_scaled<backward, shift>(x, m, first, there);
                return;
            }
        product_factor<T, 4> own[down];
#pragma unroll
        for (int d = 0; d < down; ++d)
            own[d] = rows_of(x, tile_rows * d);
#pragma unroll
        for (int h = 0; h + shift < right; ++h) {
            const int at = backward ? first - panel * h : first + panel * h;
            if (shift && (backward ? at < 0 : at >= there))
                break;
            const product_factor<T, 2> other = columns_of(m, at);
#pragma unroll
            for (int d = 0; d < down; ++d)
                products[d][h] =
                    plus_tile_product<conjugated>(products[d][h + shift], own[d], other);
        }
    }
    template <bool backward, int shift>
    __device__ __forceinline__ void add_scaled(const staged_panel<T, sides> &x,
                                               const staged_panel<T, width> &m, int first,
                                               int there) {
#pragma unroll
        for (int d = 0; d < down; ++d) {
            const scaled_factor<T> own = scaled_rows_of(x, tile_rows * d);
#pragma unroll
            for (int h = 0; h + shift < right; ++h) {
                const int at = backward ? first - panel * h : first + panel * h;
                if (shift && (backward ? at < 0 : at >= there))
                    break;
                products[d][h] = plus_scaled_product<(backward != upper)>(products[d][h + shift],
                                                                          own, columns_of(m, at));
            }
        }
    }
    __device__ __forceinline__ void take_from(staged_panel<T, sides> &x) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                T &cell = x.at[column_of_part(lane, e)][tile_rows * d + row_of_part(lane, e)];
                cell = difference(cell, products[d][0].at(e));
            }
        warp_barrier();
    }

    // ---- one panel -----------------------------------------------------------------------------

    /* Divides the panel's own rows by the diagonal, which leaves one multiply-add between two
     * columns of a solution. */
    __device__ __forceinline__ static void scale_triangle(T *columns, const R *inverses) {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll
        for (int c = 0; c < panel; c += warp_lanes / panel) {
            T &m = columns[(c + lane / panel) * staged_panel<T, width>::stride + lane % panel];
            m = scaled(inverses[lane % panel], m);
        }
    }

    /* Solves rows with the triangle of a panel, after that. */
    template <bool backward, int own>
    __device__ __forceinline__ static void substitute(T (&y)[own][panel], const T *columns,
                                                      const R *inverses) {
        constexpr int length = granule<T>::length;
        R inverse[panel];
        copy_scalars<panel>(inverse, inverses);
#pragma unroll
        for (int r = 0; r < own; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = scaled(inverse[c], y[r][c]);
#pragma unroll
        for (int step = 0; step < panel; ++step) {
            const int c = backward ? panel - 1 - step : step;
            const T *const column = columns + c * staged_panel<T, width>::stride;
#pragma unroll
            for (int i = 0; i < panel; i += length) {
                if (backward ? i >= c : i + length <= c + 1)
                    continue;
                const granule<T> m = *reinterpret_cast<const granule<T> *>(column + i);
#pragma unroll
                for (int e = 0; e < length; ++e) {
                    const int k = i + e;
                    if (backward ? k >= c : k <= c)
                        continue;
#pragma unroll
                    for (int r = 0; r < own; ++r)
                        y[r][k] = backward != upper ? minus_product_conj(y[r][k], y[r][c], m.at[e])
                                                    : minus_product(y[r][k], y[r][c], m.at[e]);
                }
            }
        }
    }

    __device__ __forceinline__ void store(const staged_panel<T, sides> &x, int i) const {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const int k = lane % panel;
        if (i + k < n)
#pragma unroll 4
            for (int s = lane / panel; s < b.count; s += warp_lanes / panel)
                b.item[i + k + s * b.ld] = x.at[k][s];
    }

    /* The panel that begins at row p of the block row that begins at j and has `there` rows. */
    template <bool backward>
    __device__ __forceinline__ void solve_panel(staged_panel<T, width> &m, int j, int p,
                                                int there) {
        constexpr int own = sides < warp_lanes ? 1 : sides / warp_lanes; // rows of a lane
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        const int i = j + p;
        staged_panel<T, sides> &x = shared.x[i / panel];
        scale_triangle(&m.at[0][p], shared.inverses + i);
        take_from(x);
        T y[own][panel];
#pragma unroll
        for (int r = 0; r < own; ++r)
#pragma unroll
            for (int c = 0; c < panel; ++c)
                y[r][c] = x.at[c][lane % sides + warp_lanes * r];
        warp_barrier();
        substitute<backward>(y, &m.at[0][p], shared.inverses + i);
        if (sides >= warp_lanes || lane < sides)
#pragma unroll
            for (int r = 0; r < own; ++r)
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    x.at[c][lane + warp_lanes * r] = y[r][c];
        if constexpr (has_small_range<T>) {
            bool tiny = false;
#pragma unroll
            for (int r = 0; r < own; ++r)
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    tiny |= is_tiny(y[r][c]);
            const bool any = lanes_where(tiny) != 0;
            if (lane == 0)
                shared.states[i / panel].has_tiny = any;
        }
        if (warps > 1)
            tell(event_of(backward, i));
        warp_barrier();
        add<backward, 1>(i, m, backward ? p - panel : p + panel, there);
        if constexpr (backward)
            store(x, i);
        begin_next(); // while the products are under way
    }

    __device__ __forceinline__ event &event_of(bool backward, int i) const {
        return shared.states[i / panel].solved[backward];
    }

    // ---- all of them ---------------------------------------------------------------------------

    /* The products with column k, of a panel that may be another warp's. */
    template <bool backward> __device__ __forceinline__ void add_finished(int k, int there) {
        const staged_panel<T, width> &m = arrive();
        if (warps > 1)
            wait_for(event_of(backward, k));
        add<backward, 0>(k, m, backward ? width - panel : 0, there);
        begin_next(); // while the products are under way
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int d = 0; d < down; ++d)
#pragma unroll
            for (int h = 0; h < right; ++h)
                products[d][h] = {};
    }

    __device__ __forceinline__ void solve_forward() {
#pragma unroll 1
        for (int j = warp * width; j < n; j += warps * width) {
            const int there = n - j < width ? n - j : width;
            clear();
#pragma unroll 1
            for (int k = 0; k < j; k += panel)
                add_finished<false>(k, there);
#pragma unroll 1
            for (int p = 0; p < there; p += panel)
                solve_panel<false>(arrive(), j, p, there);
        }
    }
    /* A block row that has any below it is whole. */
    __device__ __forceinline__ void solve_backward() {
#pragma unroll 1
        for (int j = last_own_row; j >= 0; j -= warps * width) {
            clear();
            int k = last_panel();
#pragma unroll 1
            for (; k >= j + width; k -= panel)
                add_finished<true>(k, width);
#pragma unroll 1
            for (; k >= j; k -= panel)
                solve_panel<true>(arrive(), j, k - j, width);
        }
    }
};

template <class T, int sides, bool upper>
__global__ void __launch_bounds__(most_warps *warp_lanes, 1) solve(tile_arguments arguments) {
    const int64_t i = blockIdx.x / arguments.parts;
    if (arguments.skip && arguments.skip[i])
        return;
    const int first = static_cast<int>(blockIdx.x % arguments.parts) * sides;
    const int left = arguments.nrhs - first;
    const int n = arguments.n;
    const layout<T, sides> shared(n);
    // From a lane, for what is the same in all of them steers tensor cores without barriers.
    const int warp = from_lane<warp_lanes>(static_cast<int>(threadIdx.x) / warp_lanes, 0);
    const int warps = static_cast<int>(blockDim.x) / warp_lanes;
    const int last_row = block_rows_of(n) - 1;
    warp_solve<T, sides, upper> w = {
        item_of<const T>(arguments.A, i),
        arguments.A.ld,
        {item_of<T>(arguments.B, i) + static_cast<int64_t>(first) * arguments.B.ld, arguments.B.ld,
         left < sides ? left : sides},
        n,
        warp,
        warps,
        shared,
        shared.rings + warp * stages,
        (last_row - (last_row - warp) % warps) * width,
        {},
        0,
        {}};
    w.start();
    for (int p = static_cast<int>(threadIdx.x); p < panels_of(n);
         p += static_cast<int>(blockDim.x)) {
        prepare(shared.states[p].solved[0]);
        prepare(shared.states[p].solved[1]);
    }
    for (int d = static_cast<int>(threadIdx.x); d < panels_of(n) * panel;
         d += static_cast<int>(blockDim.x))
        shared.inverses[d] = d < n ? 1 / real_part(w.item[d + d * w.ld]) : 0;
    block_barrier();
    w.solve_forward();
    w.solve_backward();
}

// ---- launch ------------------------------------------------------------------------------------

constexpr int least_sides = 16;
/* Right-hand sides of a block whose products fit a warp's registers. */
template <class T>
constexpr int most_sides = sizeof(T) == 4   ? 64
                           : sizeof(T) == 8 ? 32
                                            : least_sides;

/* Warps that an SM should have at work. */
template <class T, int sides>
constexpr int wanted_warps = sizeof(T) == 16        ? 4
                             : sides == least_sides ? 8
                                                    : 6;

/* Right-hand sides and warps of a block; no warps where the device has not enough shared memory. */
struct block_shape {
    int sides, warps;
};

/* The fewest warps with which an SM has as many at work as it should, or as many as it can have. */
template <class T, int sides> int warps_with(int n, size_t budget) {
    int best = 0, most = 0;
    for (int warps = 1;
         warps <= most_warps && warps <= block_rows_of(n) && most < wanted_warps<T, sides>;
         warps += warps < 4 ? warps : 2) {
        const size_t bytes = resident_padded(layout<T, sides>::bytes(n, warps));
        const int together = static_cast<int>(budget / bytes) * warps;
        if (together > most) {
            most = together;
            best = warps;
        }
    }
    return best;
}

/* The most right-hand sides that there are and that fit, `sides` or less. */
template <class T, int sides = most_sides<T>>
block_shape shape_for(int n, int nrhs, size_t budget) {
    if constexpr (sides > least_sides)
        if (nrhs <= sides / 2 || warps_with<T, sides>(n, budget) == 0)
            return shape_for<T, sides / 2>(n, nrhs, budget);
    return {sides, warps_with<T, sides>(n, budget)};
}

template <class T, int sides = most_sides<T>>
int launch_shape(tile_arguments arguments, block_shape shape, bool upper, int64_t batch,
                 void *stream) {
    if constexpr (sides > least_sides)
        if (shape.sides < sides)
            return launch_shape<T, sides / 2>(arguments, shape, upper, batch, stream);
    return launch_with_shared(upper ? solve<T, sides, true> : solve<T, sides, false>,
                              batch * arguments.parts, shape.warps * warp_lanes,
                              resident_padded(layout<T, sides>::bytes(arguments.n, shape.warps)),
                              stream, arguments);
}

block_shape shape_of(const problem_t *problem, const device_facts_t *facts) {
    return with_scalar(problem->type, [&](auto scalar) {
        return shape_for<decltype(scalar)>(problem->n, problem->nrhs,
                                           device_budget(facts->shared_memory_per_block));
    });
}

} // namespace

bool batchlas_potrs_tile_can_run(const problem_t *problem, const device_facts_t *facts,
                                 const char **reason) {
    *reason = "16 right-hand sides do not fit into the shared memory of one block";
    return problem->n <= RESIDENT_MAX_ORDER && shape_of(problem, facts).warps > 0;
}

batchlas_status_t batchlas_potrs_tile(batchlas_handle_t h, const problem_t *problem,
                                      void *workspace) {
    (void)workspace;
    const block_shape shape = shape_of(problem, &h->facts);
    const int parts = (problem->nrhs - 1) / shape.sides + 1;
    const int error = launch_in_parts(*problem, parts, [&](const problem_t &some) {
        const tile_arguments arguments = {some.A, some.B, some.skip, some.n, some.nrhs, parts};
        return with_scalar(some.type, [&](auto scalar) {
            return launch_shape<decltype(scalar)>(arguments, shape, some.uplo == BATCHLAS_UPPER,
                                                  some.batch, h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrs tile");
}
