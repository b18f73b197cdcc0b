/* SPDX-License-Identifier: BSD-3-Clause */
/* potrs for small orders: several items a warp, each solved by a few lanes or by one.
 *
 * The warp copies the triangles of its items into shared memory, all at once and as they lie in
 * memory: line by line, columns of L or, where A holds U, of U = L^H. The right-hand sides are in
 * registers. Both solves go along the lines, so that no triangle is turned: one of them pushes, it
 * takes a line's part off the other rows as soon as its own row is solved; the other gathers the
 * line's product with the rows that are solved, lane by lane, before it solves its own. Lines go by
 * four; every lane solves four rows for itself, between two exchanges. */
#include "device.cuh"
#include "families.h"

#include <type_traits>

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* How one bucket of orders is served. */
struct geometry {
    int order; // the largest that this row serves, a power of two
    int lanes; // lanes of a warp that solve one item
    int chunk; // rows that a lane owns together, and columns solved at a time
};

template <class T> struct table;
template <> struct table<float> {
    static constexpr geometry rows[] = {{4, 1, 4}, {8, 1, 4}, {16, 2, 4}, {32, 4, 4}, {64, 8, 4}};
};
template <> struct table<double> {
    static constexpr geometry rows[] = {{4, 1, 4}, {8, 1, 4}, {16, 2, 4}, {32, 4, 4}, {64, 16, 4}};
};
template <> struct table<complex_of<float>> {
    static constexpr geometry rows[] = {{4, 1, 4}, {8, 1, 2}, {16, 2, 4}, {32, 4, 4}, {64, 16, 4}};
};
template <> struct table<complex_of<double>> {
    static constexpr geometry rows[] = {{4, 1, 2}, {8, 2, 2}, {16, 4, 2}, {32, 8, 2}, {64, 16, 2}};
};

constexpr int max_order = 64;

/* Whether granules pass the L1 cache; the other types take longer so. */
template <class T> constexpr bool past_l1 = std::is_same_v<T, float>;

/* Right-hand sides at a time where there are several. */
constexpr int several = 4;

struct tiny_arguments {
    operand_t A, B;
    const int *skip;
    int64_t batch;
    int n;
    int nrhs;
};

/* One bucket of a table, and how its items lie in shared memory: the panels in turn, of which each
 * is `chunk` lines and as many rows of its own, its block on the diagonal. Of a panel's lines there
 * are the chunks of rows that meet the triangle. A line has first ones all its chunks' first
 * granules, then all second ones, and so lanes that read a granule each of neighbouring chunks read
 * neighbours. Chunk k belongs to lane k % lanes of the item's. */
template <class T, int at> struct bucket {
    static constexpr geometry row = table<T>::rows[at];
    static constexpr int order = row.order;
    static constexpr int lanes = row.lanes;
    static constexpr int chunk = row.chunk;
    static constexpr int items = warp_lanes / lanes; // of a block, which is a warp
    static constexpr int length = granule<T>::length;
    static constexpr int parts = chunk / length;                      // granules of a chunk
    static constexpr int owned = (order / chunk + lanes - 1) / lanes; // chunks of a lane
    static_assert(chunk % length == 0 && order % chunk == 0, "whole granules");
    using scalar = T;

    __host__ __device__ static constexpr int chunks(int n) {
        return (n + chunk - 1) / chunk;
    }
    /* Granules from one item to the next: an odd multiple of its lanes, so that items do not meet
     * each other's banks. */
    __host__ __device__ static constexpr int item_granules(int n) {
        const int granules = chunks(n) * (chunks(n) + 1) / 2 * chunk * parts;
        return ((granules + lanes - 1) / lanes | 1) * lanes;
    }
    static size_t block_bytes(int n) {
        return resident_padded(static_cast<size_t>(items * item_granules(n)) * sizeof(granule<T>));
    }
};

/* A panel of an item with as many chunks of rows. */
template <class B, bool upper> struct panel_layout {
    int before; // granules of the panels before
    int first;  // the first chunk that its lines have,
    int count;  // and how many they have

    __device__ __forceinline__ panel_layout(int panel, int chunks)
        : before((upper ? panel * (panel + 1) : panel * (2 * chunks - panel + 1)) / 2 * B::chunk *
                 B::parts),
          first(upper ? 0 : panel), count(upper ? panel + 1 : chunks - panel) {}

    /* Of the next panel or the one before. */
    __device__ __forceinline__ void advance() {
        before += count * B::chunk * B::parts;
        step(1);
    }
    __device__ __forceinline__ void retreat() {
        step(-1);
        before -= count * B::chunk * B::parts;
    }
    __device__ __forceinline__ void step(int by) {
        first += upper ? 0 : by;
        count += upper ? by : -by;
    }

    /* A granule of the panel: part h of chunk k in a line. */
    __device__ __forceinline__ int place(int line, int h, int k) const {
        return (line * B::parts + h) * count + k - first;
    }
};

/* Whether all columns of a matrix begin where a granule may. */
template <class T> __device__ __forceinline__ bool begins_a_granule(const T *item, int64_t ld) {
    return (reinterpret_cast<uintptr_t>(item) | static_cast<uintptr_t>(ld) * sizeof(T)) %
               sizeof(granule<T>) ==
           0;
}

// ---- copies ------------------------------------------------------------------------------------

/* How the lanes of a warp share the copies of its items by pieces of `width` elements: of a panel
 * so many lines at a time, of so many panels and items. */
template <class B, int width_> struct copy_shares {
    static constexpr int width = width_;
    static constexpr int pieces = B::order / width; // of a line
    static constexpr int across = pieces < warp_lanes ? pieces : warp_lanes;
    static constexpr int lines = warp_lanes / across < B::chunk ? warp_lanes / across : B::chunk;
    static constexpr int places = warp_lanes / (across * lines);
    static constexpr int panels = B::order / B::chunk < places ? B::order / B::chunk : places;
    static constexpr int items = places / panels;
};

template <class T, class Piece>
__device__ __forceinline__ void begin_piece(Piece *to, const Piece *from) {
    if constexpr (past_l1<T> && sizeof(Piece) == sizeof(granule<T>))
        begin_copy_past_l1(to, from);
    else
        begin_copy<false>(to, from);
}

/* Begins to copy the triangles of the warp's items, of which `own` is that of the lane's group. */
template <class B, bool upper, class Piece, class T>
__device__ __forceinline__ void begin_copies(T *own, int64_t ld, int n, granule<T> *memory) {
    using share = copy_shares<B, static_cast<int>(sizeof(Piece) / sizeof(T))>;
    const unsigned lane = threadIdx.x % warp_lanes;
    const int across = static_cast<int>(lane % share::across);
    const int line = static_cast<int>(lane / share::across % share::lines);
    const int first_panel = static_cast<int>(lane / (share::across * share::lines) % share::panels);
    const int first_item = static_cast<int>(lane / (share::across * share::lines * share::panels));
    const int chunks = B::chunks(n);
    const int item_stride = B::item_granules(n);
#pragma unroll 1
    for (int turn = 0; turn < chunks; turn += share::panels) {
        const int panel = turn + first_panel;
        const panel_layout<B, upper> layout(panel, chunks);
#pragma unroll
        for (int p = 0; p < share::pieces; p += share::across) {
            const int row = (p + across) * share::width;
            const int k = row / B::chunk;
            const bool meets =
                panel < chunks && k >= layout.first && k < layout.first + layout.count;
            const int column = panel * B::chunk + line;
            const int place = layout.before + layout.place(line, row % B::chunk / B::length, k);
            T *to = memory[first_item * item_stride + place].at + row % B::length;
#pragma unroll 4
            for (int i = 0; i < B::items; i += share::items) {
                const T *from =
                    from_warp_lane(own, (first_item + i) * B::lanes) + row + column * ld;
#pragma unroll
                for (int l = 0; l < B::chunk; l += share::lines) {
                    if (meets && row < n && column + l < n)
                        begin_piece<T>(
                            reinterpret_cast<Piece *>(to + l * B::parts * layout.count * B::length),
                            reinterpret_cast<const Piece *>(from));
                    from += share::lines * ld;
                }
                to += share::items * item_stride * B::length;
            }
        }
    }
}

/* Zeros for the rows and the columns of an item that are beyond its order. */
template <class B, bool upper, class T>
__device__ __forceinline__ void fill_up(granule<T> *item, int q, int n) {
    const int chunks = B::chunks(n);
    const int filled = n % B::chunk;
#pragma unroll 1
    for (int panel = q; panel < chunks; panel += B::lanes) {
        const panel_layout<B, upper> layout(panel, chunks);
        const bool last = panel == chunks - 1;
        for (int line = 0; line < B::chunk; ++line)
            for (int k = last ? layout.first : chunks - 1; k < layout.first + layout.count; ++k)
                for (int row = 0; row < B::chunk; ++row)
                    if ((k == chunks - 1 && row >= filled) || (last && line >= filled))
                        item[layout.before + layout.place(line, row / B::length, k)]
                            .at[row % B::length] = T{};
    }
}

// ---- the solves --------------------------------------------------------------------------------

template <class B, int sides, bool upper> struct item_on_chip {
    using T = typename B::scalar;
    using R = real_of<T>;
    using panel_of = panel_layout<B, upper>;
    static constexpr int lanes = B::lanes;
    static constexpr int chunk = B::chunk;
    static constexpr int length = B::length;
    static constexpr int owned = B::owned;

    bool alive; // lanes without an item keep their warp company and leave its solution alone
    int q;      // which lane of the item's this is
    int n;
    int chunks;
    granule<T> *panels;
    T x[owned][sides][chunk]; // rows of the chunks q, q + lanes, ...; zeros beyond the order

    /* Leaves the diagonal's inverses in its place. */
    __device__ __forceinline__ void invert_diagonal() const {
#pragma unroll
        for (int i = 0; i < owned; ++i) {
            const int panel = q + lanes * i;
            const panel_of layout(panel, chunks);
#pragma unroll
            for (int l = 0; l < chunk; ++l)
                if (panel * chunk + l < n) {
                    T &diagonal =
                        panels[layout.before + layout.place(l, l / length, panel)].at[l % length];
                    diagonal = from_real<T>(1 / real_part(diagonal));
                }
        }
    }

    /* Chunk k of the rows of a panel's lines. */
    __device__ __forceinline__ static void
    read_chunk(T (&to)[chunk][chunk], const granule<T> *panel, const panel_of &layout, int k) {
#pragma unroll
        for (int l = 0; l < chunk; ++l)
#pragma unroll
            for (int h = 0; h < B::parts; ++h) {
                const granule<T> g = panel[layout.place(l, h, k)];
#pragma unroll
                for (int e = 0; e < length; ++e)
                    to[l][h * length + e] = g.at[e];
            }
    }

    /* c - a b, of which a is a line's when it pushes, or its conjugate when it gathers. */
    template <bool push> __device__ __forceinline__ static T minus(T c, T a, T b) {
        if constexpr (push)
            return minus_product(c, a, b);
        else
            return minus_product_conj(c, b, a);
    }

    /* From what is left of a panel's own rows to the solution's, by the block on the diagonal. */
    template <bool push, bool rising>
    __device__ __forceinline__ static void solve_block(T (&y)[sides][chunk],
                                                       const T (&block)[chunk][chunk], int rows) {
#pragma unroll
        for (int step = 0; step < chunk; ++step) {
            const int a = rising ? step : chunk - 1 - step;
#pragma unroll
            for (int s = 0; s < sides; ++s) {
                y[s][a] = choose(a < rows, scaled(real_part(block[a][a]), y[s][a]), T{});
#pragma unroll
                for (int b = 0; b < chunk; ++b)
                    if (rising ? b > a : b < a)
                        y[s][b] = minus<push>(y[s][b], push ? block[a][b] : block[b][a], y[s][a]);
            }
        }
    }

    /* One panel, whose own rows are the home-th chunk of lane `owner`. */
    template <bool forward, int home>
    __device__ __forceinline__ void solve_panel(int owner, const panel_of &layout) {
        constexpr bool push = forward != upper;
        constexpr int begin = upper ? 0 : home; // the own chunks that the lines may meet
        constexpr int end = upper ? home + 1 : owned;
        const granule<T> *const lines = panels + layout.before;
        const int panel = home * lanes + owner;
        T block[chunk][chunk], own[end - begin][chunk][chunk];
        bool meets[end - begin];
        read_chunk(block, lines, layout, panel);
#pragma unroll
        for (int i = begin; i < end; ++i) {
            const int k = q + lanes * i;
            meets[i - begin] = upper ? k < panel : k > panel && k < chunks;
            if (meets[i - begin])
                read_chunk(own[i - begin], lines, layout, k);
        }

        T y[sides][chunk];
#pragma unroll
        for (int s = 0; s < sides; ++s)
#pragma unroll
            for (int e = 0; e < chunk; ++e)
                if constexpr (push)
                    y[s][e] = from_lane<lanes>(x[home][s][e], owner);
                else
                    y[s][e] = choose(q == owner, x[home][s][e], T{});
        if constexpr (push)
            solve_block<push, forward>(y, block, n - panel * chunk);
#pragma unroll
        for (int i = begin; i < end; ++i)
            if (meets[i - begin])
#pragma unroll
                for (int l = 0; l < chunk; ++l)
#pragma unroll
                    for (int s = 0; s < sides; ++s)
#pragma unroll
                        for (int e = 0; e < chunk; ++e) {
                            T &to = push ? x[i][s][e] : y[s][l];
                            to = minus<push>(to, own[i - begin][l][e], push ? y[s][l] : x[i][s][e]);
                        }
        if constexpr (!push) {
#pragma unroll
            for (int s = 0; s < sides; ++s)
#pragma unroll
                for (int l = 0; l < chunk; ++l)
                    y[s][l] = sum_of_lanes<lanes>(y[s][l]);
            solve_block<push, forward>(y, block, n - panel * chunk);
        }
#pragma unroll
        for (int s = 0; s < sides; ++s)
#pragma unroll
            for (int e = 0; e < chunk; ++e)
                x[home][s][e] = choose(q == owner, y[s][e], x[home][s][e]);
    }

    /* L y = b or L^H x = y: the panels of the lanes' home-th chunks, then the rest. */
    template <bool forward, int home = forward ? 0 : owned - 1>
    __device__ __forceinline__ void solve() {
        if constexpr (home >= 0 && home < owned) {
            const int rest = chunks - home * lanes;
            const int here = rest < lanes ? rest : lanes;
            panel_of layout(home * lanes + (forward ? 0 : here - 1), chunks);
#pragma unroll 1
            for (int done = 0; done < here; ++done) {
                solve_panel<forward, home>(forward ? done : here - 1 - done, layout);
                if constexpr (forward)
                    layout.advance();
                else
                    layout.retreat();
            }
            solve<forward, forward ? home + 1 : home - 1>();
        }
    }

    // ---- right-hand sides

    /* Calls visit(x's elements, the same number in memory) for all that count, by granules where
     * they may. */
    template <class Visit>
    __device__ __forceinline__ void visit_sides(T *item, int64_t ld, int count, Visit visit) {
        const bool by_granules = n % length == 0 && begins_a_granule(item, ld);
        if (!alive)
            return;
#pragma unroll
        for (int i = 0; i < owned; ++i)
#pragma unroll
            for (int s = 0; s < sides; ++s)
#pragma unroll
                for (int h = 0; h < chunk; h += length) {
                    const int row = (q + lanes * i) * chunk + h;
                    T *const from = item + row + s * ld;
                    if (s >= count || row >= n)
                        continue;
                    if (by_granules) {
                        visit(*reinterpret_cast<granule<T> *>(&x[i][s][h]),
                              *reinterpret_cast<granule<T> *>(from));
                    } else {
#pragma unroll
                        for (int e = 0; e < length; ++e)
                            if (row + e < n)
                                visit(x[i][s][h + e], from[e]);
                    }
                }
    }
    __device__ __forceinline__ void load_sides(T *item, int64_t ld, int count) {
#pragma unroll
        for (int i = 0; i < owned; ++i)
#pragma unroll
            for (int s = 0; s < sides; ++s)
#pragma unroll
                for (int e = 0; e < chunk; ++e)
                    x[i][s][e] = T{};
        visit_sides(item, ld, count, [](auto &to, const auto &from) { to = from; });
    }
    __device__ __forceinline__ void store_sides(T *item, int64_t ld, int count) {
        visit_sides(item, ld, count, [](const auto &from, auto &to) { to = from; });
    }
};

template <class B, int sides, bool upper>
__global__ void __launch_bounds__(warp_lanes) solve(tiny_arguments arguments) {
    using T = typename B::scalar;
    const int lane = static_cast<int>(threadIdx.x);
    const int n = arguments.n;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * B::items + lane / B::lanes;
    const int64_t item = i < arguments.batch ? i : arguments.batch - 1;

    granule<T> *const memory = dynamic_shared<granule<T>>();
    item_on_chip<B, sides, upper> on_chip;
    on_chip.alive = i < arguments.batch && !(arguments.skip && arguments.skip[i]);
    on_chip.q = lane % B::lanes;
    on_chip.n = n;
    on_chip.chunks = B::chunks(n);
    on_chip.panels = memory + lane / B::lanes * B::item_granules(n);

    const int64_t ld = arguments.A.ld;
    T *const a = item_of<T>(arguments.A, item);
    const bool by_granules = n % B::length == 0 && begins_a_granule(a, ld);
    if (lanes_where(!by_granules) == 0)
        begin_copies<B, upper, granule<T>>(a, ld, n, memory);
    else
        begin_copies<B, upper, T>(a, ld, n, memory);
    if (n % B::chunk != 0)
        fill_up<B, upper>(on_chip.panels, on_chip.q, n);

    const int64_t ldb = arguments.B.ld;
    T *b = item_of<T>(arguments.B, item);
    on_chip.load_sides(b, ldb, arguments.nrhs);
    copies_arrive();
    warp_barrier();
    on_chip.invert_diagonal();
    warp_barrier();
#pragma unroll 1
    for (int left = arguments.nrhs;;) {
        on_chip.template solve<true>();
        on_chip.template solve<false>();
        on_chip.store_sides(b, ldb, left);
        left -= sides;
        if (left <= 0)
            break;
        b += sides * ldb;
        on_chip.load_sides(b, ldb, left);
    }
}

// ---- launch ------------------------------------------------------------------------------------

/* call(the bucket that serves the order) */
template <class T, int at = 0, class Call> auto with_bucket(int n, Call call) {
    using B = bucket<T, at>;
    if constexpr (B::order < max_order)
        if (n > B::order)
            return with_bucket<T, at + 1>(n, call);
    return call(B{});
}

template <class T, int sides>
int launch_tiny(const tiny_arguments &arguments, bool upper, void *stream) {
    return with_bucket<T>(arguments.n, [&](auto bucket) {
        using B = decltype(bucket);
        return launch_with_shared(upper ? solve<B, sides, true> : solve<B, sides, false>,
                                  (arguments.batch + B::items - 1) / B::items, warp_lanes,
                                  B::block_bytes(arguments.n), stream, arguments);
    });
}

} // namespace

bool batchlas_potrs_tiny_can_run(const problem_t *problem, const device_facts_t *facts,
                                 const char **reason) {
    *reason = "tiny serves orders up to 64, as far as the shared memory of one block holds them";
    return problem->n <= max_order && with_scalar(problem->type, [&](auto scalar) {
               return with_bucket<decltype(scalar)>(problem->n, [&](auto bucket) {
                   return bucket.block_bytes(problem->n) <=
                          device_budget(facts->shared_memory_per_block);
               });
           });
}

batchlas_status_t batchlas_potrs_tiny(batchlas_handle_t h, const problem_t *problem,
                                      void *workspace) {
    (void)workspace;
    const int error = launch_in_parts(*problem, 1, [&](const problem_t &part) {
        const tiny_arguments arguments = {part.A, part.B, part.skip, part.batch, part.n, part.nrhs};
        return with_scalar(part.type, [&](auto scalar) {
            using T = decltype(scalar);
            const bool upper = part.uplo == BATCHLAS_UPPER;
            return part.nrhs == 1 ? launch_tiny<T, 1>(arguments, upper, h->stream)
                                  : launch_tiny<T, several>(arguments, upper, h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrs tiny");
}
