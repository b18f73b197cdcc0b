/* SPDX-License-Identifier: BSD-3-Clause */
/* potrs for few right-hand sides: the triangle streams through shared memory, once in each
 * direction.
 *
 * L is cut into tiles, and a block has one item. Its warps own the rows of tiles in turn, and each
 * takes the tiles of its rows from the left to the right. Forward it multiplies a tile as
 * soon as that part of the solution is told that the tile's columns meet, and at the row's end
 * solves with the diagonal tile and tells the row's part. Backward it goes the same way in reverse:
 * it solves once all rows below have told their share, then tells its own share to the columns on
 * its left, one tile after another.
 *
 * Tiles come by asynchronous copies into a ring that is the warp's own, as far ahead as the ring is
 * long; at the turn it holds what the way back begins with. So warps wait for each other through
 * events alone. */
#include "device.cuh"
#include "families.h"

#include <type_traits>

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int order = warp_lanes; // of a tile: a lane has one row of it, or one column
constexpr int most_warps = 4;     // of a block
constexpr int most_slots = 16;    // of a ring

/* Right-hand sides of a block: one, or as many as these at a time. */
constexpr int few_sides = 4;
constexpr int many_sides = 8;

/* Blocks that an SM should hold at the most, which bounds the registers. */
template <class T> constexpr int most_blocks = sizeof(T) == 4 ? 4 : sizeof(T) == 8 ? 3 : 2;

/* Bytes in a column of each of the matrices that an SM should have at work, taken together: the
 * substitution's chain of dependent steps grows with the order, the time to fetch a matrix with its
 * square, so that the chains of small matrices hide behind each other alone. */
constexpr int column_bytes = 3072;

struct stream_arguments {
    operand_t A, B;
    const int *skip;
    int n;
    int nrhs;
    int parts; // blocks that share an item's right-hand sides
    int slots; // of the longest ring
};

// ---- shared memory -----------------------------------------------------------------------------

__host__ __device__ constexpr int blocks_of(int n) {
    return (n + order - 1) / order;
}
/* Tiles in the rows that a warp owns. */
__host__ __device__ constexpr int tiles_of(int warp, int warps, int blocks) {
    const int rows = (blocks - warp + warps - 1) / warps;
    return rows * (warp + 1) + warps * rows * (rows - 1) / 2;
}
__host__ __device__ constexpr int ring_of(int warp, int warps, int blocks, int slots) {
    const int tiles = tiles_of(warp, warps, blocks);
    return tiles < slots ? tiles : slots;
}
/* Slots of the rings before a warp's. */
__host__ __device__ constexpr int rings_before(int warp, int warps, int blocks, int slots) {
    int sum = 0;
    for (int w = 0; w < warp; ++w)
        sum += ring_of(w, warps, blocks, slots);
    return sum;
}
/* For each row that its part is solved, then for each tile below the diagonal that its share is
 * added; even, so that granules may follow. */
__host__ __device__ constexpr int events_of(int blocks) {
    return (blocks + blocks * (blocks - 1) / 2 + 1) / 2 * 2;
}

/* The solution by rows of `sides`, the diagonal's inverses, the events, the rings. A tile is stored
 * line by line as in memory: columns of L, or of L^H's conjugate where A holds U. Lines lie a
 * granule further apart than they are long, so that neither a line nor an element of each line
 * meets a bank twice. */
template <class T, int sides> struct layout {
    static constexpr int length = granule<T>::length;
    static constexpr int stride = order + length;
    static constexpr int tile = order * stride;

    static size_t bytes(int n, int warps, int slots) {
        const int blocks = blocks_of(n);
        return sizeof(T) * (static_cast<size_t>(rings_before(warps, warps, blocks, slots)) * tile +
                            static_cast<size_t>(blocks) * order * sides) +
               sizeof(real_of<T>) * static_cast<size_t>(blocks) * order +
               sizeof(event) * static_cast<size_t>(events_of(blocks));
    }
};

/* A tile of a warp's rows. */
struct position {
    int row, column;

    __device__ __forceinline__ void advance(int warps) {
        if (++column > row) {
            row += warps;
            column = 0;
        }
    }
    __device__ __forceinline__ void retreat(int warps) {
        if (--column < 0) {
            row -= warps;
            column = row;
        }
    }
};

// ---- a warp's tiles ----------------------------------------------------------------------------

template <class T, int sides, bool upper> struct tile_ring {
    using layout_of = layout<T, sides>;
    static constexpr int length = layout_of::length;
    static constexpr int stride = layout_of::stride;

    const T *item;
    int64_t ld;
    int n;
    bool by_granules; // all lines begin where a granule may
    int lane;
    int warps; // of the block
    T *slots;
    int count;
    int at;         // the slot of the tile at hand
    int passed;     // tiles done with whose slots still wait for others,
    int empty;      // and the slot of the first of these
    int left;       // tiles beyond the ring in this direction
    position ahead; // the first of them

    __device__ __forceinline__ T *tile(int slot) const {
        return slots + slot * layout_of::tile;
    }

    /* Zeros are left beyond the order and on the diagonal's other side. */
    __device__ __forceinline__ void begin(int slot) const {
        const int along = (upper ? ahead.column : ahead.row) * order;
        const int across = (upper ? ahead.row : ahead.column) * order;
        const bool diagonal = ahead.row == ahead.column;
        const T *from = item + along + across * ld;
        T *to = tile(slot);
        if (by_granules && !diagonal && (ahead.row + 1) * order <= n) {
            constexpr int granules = order / length; // of a line
            to += lane / granules * stride + lane % granules * length;
            from += lane / granules * ld + lane % granules * length;
            const int64_t step = length * ld;
#pragma unroll
            for (int line = 0; line < order; line += length) {
                begin_copy(reinterpret_cast<granule<T> *>(to),
                           reinterpret_cast<const granule<T> *>(from));
                to += length * stride;
                from += step;
            }
        } else {
            to += lane;
            from += lane;
#pragma unroll 4
            for (int line = 0; line < order; ++line) {
                const bool inside = !diagonal || (upper ? lane <= line : lane >= line);
                if (inside && along + lane < n && across + line < n)
                    begin_copy(to, from);
                else
                    *to = T{};
                to += stride;
                from += ld;
            }
        }
    }

    /* The tile at hand has arrived, and as many as `more` after it. */
    __device__ __forceinline__ void arrive(int more) const {
        groups_arrive(count - 1 - passed - more);
        warp_barrier();
    }

    __device__ __forceinline__ int next(int slot, bool backward) const {
        return backward ? (slot == 0 ? count : slot) - 1 : slot + 1 == count ? 0 : slot + 1;
    }
    /* Goes on to the next tile. */
    __device__ __forceinline__ void pass(bool backward) {
        at = next(at, backward);
        ++passed;
    }
    /* Fetches into the slots of the tiles that were passed, as all lanes were before a barrier. */
    __device__ __forceinline__ void refill(bool backward) {
#pragma unroll 1
        for (; passed > 0; --passed) {
            if (left > 0) {
                begin(empty);
                --left;
                if (backward)
                    ahead.retreat(warps);
                else
                    ahead.advance(warps);
            }
            end_group();
            empty = next(empty, backward);
        }
    }

    __device__ __forceinline__ void start(int warp, int tiles) {
        at = empty = passed = 0;
        left = tiles - count;
        ahead = {warp, 0};
#pragma unroll 1
        for (int slot = 0; slot < count; ++slot) {
            begin(slot);
            end_group();
            ahead.advance(warps);
        }
    }
    /* The ring is full of the last tiles, which come first now. */
    __device__ __forceinline__ void turn(int last_row, int tiles) {
        at = empty = next(at, true);
        left = tiles - count;
        ahead = {last_row, last_row};
#pragma unroll 1
        for (int slot = 0; slot < count; ++slot)
            ahead.retreat(warps);
    }
};

// ---- one tile ----------------------------------------------------------------------------------
// M is what a lane has a row of: L's part forward, L^H's backward. Its rows lie along the stored
// lines, conjugated, or across them.

template <class T, int sides> struct tile_algebra {
    using R = real_of<T>;
    static constexpr int length = granule<T>::length;
    static constexpr int stride = layout<T, sides>::stride;
    /* Rows that every lane solves for itself, between two exchanges. */
    static constexpr int panel = sides == 1 ? 4 : sides == few_sides ? 2 : 1;

    /* The lane's row of M, from column `first` on. */
    template <bool along, int count>
    __device__ __forceinline__ static void read_row(T (&to)[count], const T *tile, int lane,
                                                    int first) {
        if constexpr (along) {
            copy_scalars<count>(to, tile + lane * stride + first);
        } else {
#pragma unroll
            for (int k = 0; k < count; ++k)
                to[k] = tile[(first + k) * stride + lane];
        }
    }

    /* rest - m x */
    template <bool along> __device__ __forceinline__ static T minus(T rest, T m, T x) {
        if constexpr (along)
            return minus_product_conj(rest, x, m);
        else
            return minus_product(rest, m, x);
    }

    /* b -= M x for the lane's row of M. */
    template <bool along>
    __device__ __forceinline__ static void subtract(T (&b)[sides], const T (&row)[order],
                                                    const T *x) {
        constexpr int chains = sides == 1 ? 4 : 1;
        T rest[chains][sides] = {};
#pragma unroll
        for (int s = 0; s < sides; ++s)
            rest[0][s] = b[s];
#pragma unroll
        for (int i = 0; i < order * sides; i += length) {
            const granule<T> g = *reinterpret_cast<const granule<T> *>(x + i);
#pragma unroll
            for (int e = 0; e < length; ++e) {
                const int k = (i + e) / sides;
                T &to = rest[k % chains][(i + e) % sides];
                to = minus<along>(to, row[k], g.at[e]);
            }
        }
#pragma unroll
        for (int s = 0; s < sides; ++s) {
            b[s] = rest[0][s];
            if constexpr (chains == 4)
                b[s] = sum(sum(rest[0][s], rest[1][s]), sum(rest[2][s], rest[3][s]));
        }
    }

    /* Divides L's columns by the diagonal, of which zeros are left, and returns the inverse of the
     * lane's own; 0 beyond the order. */
    template <bool upper>
    __device__ __forceinline__ static R prepare_diagonal(T *tile, int lane, bool inside) {
        const R diagonal = real_part(tile[lane * stride + lane]);
        const R inverse = inside ? 1 / diagonal : 0;
        T column[order];
        read_row<!upper>(column, tile, lane, 0);
#pragma unroll
        for (int row = 0; row < order; ++row)
            column[row] = choose(row > lane, scaled(inverse, column[row]), T{});
        if constexpr (upper) {
#pragma unroll
            for (int row = 0; row < order; ++row)
                tile[row * stride + lane] = column[row];
        } else {
#pragma unroll
            for (int row = 0; row < order; row += length)
                *reinterpret_cast<granule<T> *>(tile + lane * stride + row) =
                    *reinterpret_cast<const granule<T> *>(&column[row]);
        }
        warp_barrier();
        return inverse;
    }

    /* b := (I + M)^-1 b for a strictly triangular M, panel by panel: every lane solves a panel's
     * rows for itself, then takes them from its own. */
    template <bool along, bool backward>
    __device__ __forceinline__ static void solve(T (&b)[sides], const T *tile, int lane) {
#pragma unroll(sides == 1 ? order : 4)
        for (int done = 0; done < order; done += panel) {
            const int first = backward ? order - panel - done : done;
            T line[panel][panel]; // of the panel's own block, as stored
            if constexpr (panel > 1)
#pragma unroll
                for (int r = 0; r < panel; ++r)
                    copy_scalars<panel>(line[r], tile + (first + r) * stride + first);
            T own[panel];
            read_row<along>(own, tile, lane, first);
            T y[panel][sides];
#pragma unroll
            for (int r = 0; r < panel; ++r)
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    y[r][s] = from_lane<warp_lanes>(b[s], first + r);
#pragma unroll
            for (int k = 0; k < panel; ++k) {
                const int c = backward ? panel - 1 - k : k;
#pragma unroll
                for (int r = 0; r < panel; ++r)
                    if (backward ? r < c : r > c)
#pragma unroll
                        for (int s = 0; s < sides; ++s)
                            y[r][s] =
                                minus<along>(y[r][s], along ? line[r][c] : line[c][r], y[c][s]);
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    b[s] = minus<along>(b[s], own[c], y[c][s]);
            }
        }
    }
};

// ---- the kernel --------------------------------------------------------------------------------

template <class T, int sides, bool upper>
__global__ void __launch_bounds__(most_warps *warp_lanes, most_blocks<T>)
    solve(stream_arguments arguments) {
    using R = real_of<T>;
    using layout_of = layout<T, sides>;
    using algebra = tile_algebra<T, sides>;
    constexpr bool forward_along = upper; // L's rows lie along the lines of an upper triangle

    const auto parts = static_cast<unsigned>(arguments.parts);
    const int64_t i = blockIdx.x / parts;
    if (arguments.skip && arguments.skip[i])
        return;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int warps = static_cast<int>(blockDim.x) / warp_lanes;
    const int n = arguments.n;
    const int blocks = blocks_of(n);

    T *const x = dynamic_shared<T>();
    R *const inverses = reinterpret_cast<R *>(x + blocks * order * sides);
    event *const solved = reinterpret_cast<event *>(inverses + blocks * order);
    event *const added = solved + blocks; // by row r to column c: r (r - 1) / 2 + c
    T *const rings = reinterpret_cast<T *>(solved + events_of(blocks));
    for (int e = static_cast<int>(threadIdx.x); e < events_of(blocks);
         e += static_cast<int>(blockDim.x))
        prepare(solved[e]);
    block_barrier();

    const int part = static_cast<int>(blockIdx.x % parts) * sides;
    const int64_t ldb = arguments.B.ld;
    T *const b = item_of<T>(arguments.B, i) + part * ldb;
    const int count = arguments.nrhs - part;
#pragma unroll 1
    for (int row = warp * order + lane; row < blocks * order; row += warps * order)
#pragma unroll
        for (int s = 0; s < sides; ++s)
            if (row < n && s < count)
                begin_copy(&x[row * sides + s], b + row + s * ldb);
            else
                x[row * sides + s] = T{};

    tile_ring<T, sides, upper> ring;
    ring.item = item_of<const T>(arguments.A, i);
    ring.ld = arguments.A.ld;
    ring.n = n;
    ring.by_granules =
        (reinterpret_cast<uintptr_t>(ring.item) | static_cast<uintptr_t>(ring.ld) * sizeof(T)) %
            sizeof(granule<T>) ==
        0;
    ring.lane = lane;
    ring.warps = warps;
    ring.slots = rings + rings_before(warp, warps, blocks, arguments.slots) * layout_of::tile;
    ring.count = ring_of(warp, warps, blocks, arguments.slots);
    const int tiles = tiles_of(warp, warps, blocks);
    ring.start(warp, tiles);

    // L y = b
#pragma unroll 1
    for (int row = warp; row < blocks; row += warps) {
        T *const own = x + (row * order + lane) * sides;
        T rest[sides];
#pragma unroll 1
        for (int column = 0; column <= row; ++column) {
            // The diagonal tile is made ready before the last part of the solution is waited for,
            // and slots are refilled after the row's part is told.
            const bool is_last = column + 1 == row;
            ring.arrive(is_last);
            if (column == 0)
                copy_scalars<sides>(rest, own);
            if (is_last || row == 0)
                inverses[row * order + lane] = algebra::template prepare_diagonal<upper>(
                    ring.tile(is_last ? ring.next(ring.at, false) : ring.at), lane,
                    row * order + lane < n);
            if (column < row) {
                T tile_row[order];
                algebra::template read_row<forward_along>(tile_row, ring.tile(ring.at), lane, 0);
                wait_for(solved[column]);
                algebra::template subtract<forward_along>(rest, tile_row,
                                                          x + column * order * sides);
            } else {
                algebra::template solve<forward_along, false>(rest, ring.tile(ring.at), lane);
                const R inverse = inverses[row * order + lane];
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    rest[s] = scaled(inverse, rest[s]);
                copy_scalars<sides>(own, rest);
            }
            if (column == row)
                tell(solved[row]);
            warp_barrier();
            ring.pass(false);
            if (!is_last)
                ring.refill(false);
        }
    }

    // L^H x = y
    const int last_row = warp + (blocks - 1 - warp) / warps * warps;
    ring.turn(last_row, tiles);
    int prepared = ring.count; // tiles that are in the ring as the way forward left them
#pragma unroll 1
    for (int row = last_row; row >= 0; row -= warps) {
#pragma unroll 1
        for (int column = row; column >= 0; --column, --prepared) {
            T *const own = x + (column * order + lane) * sides;
            T *const tile = ring.tile(ring.at);
            T share[sides] = {};
            ring.arrive(0);
            if (column < row) {
                T tile_row[order];
                algebra::template read_row<!forward_along>(tile_row, tile, lane, 0);
                algebra::template subtract<!forward_along>(share, tile_row,
                                                           x + row * order * sides);
            } else if (prepared <= 0) {
                algebra::template prepare_diagonal<upper>(tile, lane, row * order + lane < n);
            }
            if (row + 1 < blocks)
                wait_for(added[(row + 1) * row / 2 + column]);
            T rest[sides];
            copy_scalars<sides>(rest, own);
            if (column < row) {
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    rest[s] = sum(rest[s], share[s]);
            } else {
                const R inverse = inverses[row * order + lane];
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    rest[s] = scaled(inverse, rest[s]);
                algebra::template solve<!forward_along, true>(rest, tile, lane);
#pragma unroll
                for (int s = 0; s < sides; ++s)
                    if (row * order + lane < n && s < count)
                        b[row * order + lane + s * ldb] = rest[s];
            }
            copy_scalars<sides>(own, rest);
            if (column < row)
                tell(added[row * (row - 1) / 2 + column]);
            warp_barrier();
            ring.pass(true);
            if (column < row || row == 0)
                ring.refill(true);
        }
    }
}

// ---- launch ------------------------------------------------------------------------------------

/* Right-hand sides that a block solves at a time. */
int sides_of(const problem_t *problem) {
    return problem->nrhs == 1                                      ? 1
           : problem->nrhs <= few_sides || problem->type == TYPE_Z ? few_sides
                                                                   : many_sides;
}

/* call(T{}, a constant for the right-hand sides of a block). */
template <class Call> auto with_sides(const problem_t *problem, Call call) {
    return with_scalar(problem->type, [&](auto scalar) {
        switch (sides_of(problem)) {
        case 1:
            return call(scalar, std::integral_constant<int, 1>{});
        case few_sides:
            return call(scalar, std::integral_constant<int, few_sides>{});
        default:
            if constexpr (sizeof scalar < 16)
                return call(scalar, std::integral_constant<int, many_sides>{});
            else
                return call(scalar, std::integral_constant<int, few_sides>{});
        }
    });
}

/* At least two tiles, the diagonal's and its neighbour. */
constexpr int least_slots = 2;

/* What a block takes; no warps where the device has not enough. */
struct block_shape {
    int warps, slots;
};

/* The longest rings with which as many blocks share an SM as should, of fewer warps if need be. */
template <class T, int sides> block_shape shape_for(int n, size_t budget) {
    const int blocks = blocks_of(n);
    const int choices[] = {blocks < most_warps ? blocks : most_warps, blocks < 2 ? blocks : 2};
    const int wanted = (column_bytes - 1) / (n * static_cast<int>(sizeof(T))) + 1;
    for (int together = wanted < most_blocks<T> ? wanted : most_blocks<T>; together > 0; --together)
        for (const int warps : choices)
            for (int slots = most_slots; slots >= least_slots; --slots)
                if (resident_padded(layout<T, sides>::bytes(n, warps, slots)) <=
                    occupancy_budget(budget, together))
                    return {warps, slots};
    return {0, 0};
}

template <class T, int sides>
int launch_stream(stream_arguments arguments, bool upper, int64_t batch, size_t budget,
                  void *stream) {
    const block_shape shape = shape_for<T, sides>(arguments.n, budget);
    arguments.slots = shape.slots;
    return launch_with_shared(
        upper ? solve<T, sides, true> : solve<T, sides, false>, batch * arguments.parts,
        shape.warps * warp_lanes,
        resident_padded(layout<T, sides>::bytes(arguments.n, shape.warps, shape.slots)), stream,
        arguments);
}

} // namespace

bool batchlas_potrs_stream_can_run(const problem_t *problem, const device_facts_t *facts,
                                   const char **reason) {
    *reason = "stream serves up to 8 right-hand sides";
    if (problem->nrhs > many_sides)
        return false;
    *reason = "the right-hand sides do not fit into the shared memory of one block";
    return problem->n <= RESIDENT_MAX_ORDER && with_sides(problem, [&](auto scalar, auto sides) {
               const size_t budget = device_budget(facts->shared_memory_per_block);
               return shape_for<decltype(scalar), sides>(problem->n, budget).warps > 0;
           });
}

batchlas_status_t batchlas_potrs_stream(batchlas_handle_t h, const problem_t *problem,
                                        void *workspace) {
    (void)workspace;
    const int parts = (problem->nrhs - 1) / sides_of(problem) + 1;
    const size_t budget = device_budget(h->facts.shared_memory_per_block);
    const int error = launch_in_parts(*problem, parts, [&](const problem_t &some) {
        const stream_arguments arguments = {some.A, some.B, some.skip, some.n, some.nrhs, parts, 0};
        return with_sides(&some, [&](auto scalar, auto sides) {
            return launch_stream<decltype(scalar), sides>(arguments, some.uplo == BATCHLAS_UPPER,
                                                          some.batch, budget, h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrs stream");
}
