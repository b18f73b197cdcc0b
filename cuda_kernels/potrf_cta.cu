/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf with the whole matrix on chip: a block factors one matrix, left-looking, in panels of 4 or
 * 8 columns. A thread owns the rows thread, thread + threads, ... and keeps its part of the current
 * panel in registers; finished panels lie in shared memory, where they update all later ones. */
#include "families.h"
#include "panel_row.cuh"
#include "potrf_panel.cuh"
#include "resident_capacity.h"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* How one bucket of orders is served. */
struct geometry {
    int order;  // the largest that this row serves: at most 32 * warps * rows
    int panel;  // columns of a panel
    int warps;  // warps of a block; one alone needs no block barrier
    int rows;   // rows that a thread owns
    int blocks; // blocks that an SM should hold, which bounds the registers
};

template <class T> struct geometry_of;
template <> struct geometry_of<float> {
    static constexpr geometry rows[] = {{32, 8, 1, 1, 20}, {64, 8, 1, 2, 18}, {96, 8, 1, 3, 12},
                                        {128, 8, 2, 2, 6}, {192, 8, 3, 2, 3}, {256, 8, 4, 2, 1}};
};
template <> struct geometry_of<double> {
    static constexpr geometry rows[] = {{32, 8, 1, 1, 20}, {64, 8, 1, 2, 12}, {96, 4, 1, 3, 8},
                                        {128, 8, 2, 2, 4}, {192, 8, 4, 2, 1}, {224, 8, 4, 2, 1}};
};
template <> struct geometry_of<complex_of<float>> {
    static constexpr geometry rows[] = {{32, 8, 1, 1, 20}, {64, 4, 1, 2, 14}, {96, 4, 1, 3, 8},
                                        {128, 8, 2, 2, 4}, {192, 8, 4, 2, 1}, {224, 8, 4, 2, 1}};
};
template <> struct geometry_of<complex_of<double>> {
    static constexpr geometry rows[] = {{32, 4, 1, 1, 16},
                                        {64, 4, 1, 2, 6},
                                        {96, 4, 1, 3, 4},
                                        {128, 8, 4, 1, 1},
                                        {160, 4, 8, 1, 1}};
};

template <class T> constexpr int geometry_count = sizeof geometry_of<T>::rows / sizeof(geometry);
template <class T> constexpr int highest_order = geometry_of<T>::rows[geometry_count<T> - 1].order;

struct cta_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
};

// ---- panels in shared memory -------------------------------------------------------------------

template <class T, int panel> constexpr size_t bytes_of(int64_t n) {
    const int64_t panels = (n + panel - 1) / panel;
    return static_cast<size_t>(panels * (panels + 1) / 2 * panel * panel) * sizeof(T);
}

// ---- a block's work ----------------------------------------------------------------------------

template <class T, int panel, int warps, int rows, bool upper> struct matrix_on_chip {
    using R = real_of<T>;
    using layout = panel_row<T, panel>;
    static constexpr int threads = warps * warp_lanes;

    T *item;
    int64_t ld;
    int n;
    int order; // n padded to whole panels, as if with rows and columns of the identity
    granule<T> *finished;
    diagonal_block<T, panel> *diagonal;
    T coming[rows]
            [panel]; // Lower: the own rows of the next panel, fetched while this one is worked

    __device__ __forceinline__ void fetch(int j) {
        if (j >= order)
            return;
        const int own = static_cast<int>(threadIdx.x);
        const T *const from = item + own + j * ld;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int row = own + threads * r;
            const bool live = row >= j && row < n;
#pragma unroll
            for (int c = 0; c < panel; ++c)
                coming[r][c] =
                    live && j + c < n ? from[threads * r + c * ld] : identity_at<T>(row, j + c);
        }
    }

    /* x -= (own rows of the finished panels) (rows j ... of them)^H */
    template <int first>
    __device__ __forceinline__ void update_panel(T (&x)[rows][panel], int j) const {
        const int own = static_cast<int>(threadIdx.x);
        const int turn = layout::place(j, 0);
        const granule<T> *mine[rows];
#pragma unroll
        for (int r = first; r < rows; ++r) {
            const int row = own + threads * r;
            mine[r] = finished + (row < order ? row : order - 1) * layout::granules;
        }
        const granule<T> *pivots = finished + j * layout::granules;
        int step = order * layout::granules;
#pragma unroll 1
        for (int q = 0; q < j; q += panel) {
            step -= panel * layout::granules;
#pragma unroll
            for (int i = 0; i < layout::granules; ++i) {
                granule<T> l[panel];
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    l[c] = pivots[c * layout::granules + (layout::place(c, i) ^ turn)];
#pragma unroll
                for (int r = first; r < rows; ++r) {
                    const granule<T> a = mine[r][layout::place(own, i)];
#pragma unroll
                    for (int e = 0; e < layout::length; ++e)
#pragma unroll
                        for (int c = 0; c < panel; ++c)
                            x[r][c] = minus_product_conj(x[r][c], a.at[e], l[c].at[e]);
                }
            }
            pivots += step;
#pragma unroll
            for (int r = first; r < rows; ++r)
                mine[r] += step;
        }
    }

    template <int first>
    __device__ __forceinline__ void store(granule<T> *here, int j,
                                          const T (&x)[rows][panel]) const {
        const int own = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int r = first; r < rows; ++r) {
            const int row = own + threads * r;
            if (row < j || row >= order)
                continue;
            layout::store(here + (row - j) * layout::granules, row, x[r]);
            if (!upper && row < n)
                store_row(item + row + j * ld, ld, x[r], row - j);
        }
    }

    /* Whether the thread's warp has the diagonal of the panel that begins at column j, in the rows
     * of which `first` is the thread's. */
    template <int first> __device__ __forceinline__ static bool holds_diagonal(int j) {
        const int own_row = static_cast<int>(threadIdx.x) + threads * first - j;
        return warps == 1 || own_row - static_cast<int>(threadIdx.x) % warp_lanes <= 0;
    }

    /* The panel that begins at column j, for a thread whose rows before `first` lie above it, until
     * its diagonal block is finished; and the rest of it. */
    template <int first>
    __device__ __forceinline__ void begin_panel(T (&x)[rows][panel], const granule<T> *here,
                                                int j) {
        const int own = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int r = first; r < rows; ++r) {
            const int row = own + threads * r;
            if constexpr (!upper) {
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    x[r][c] = coming[r][c];
            } else if (row >= j && row < order) {
                layout::load(x[r], here + (row - j) * layout::granules, row);
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    x[r][c] = conjugate(x[r][c]);
            } else {
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    x[r][c] = T{};
            }
        }
        if constexpr (!upper)
            fetch(j + panel);
        update_panel<first>(x, j);

        if (holds_diagonal<first>(j))
            factor_diagonal<first>(x, j, own + threads * first - j, *diagonal);
    }
    template <int first>
    __device__ __forceinline__ void end_panel(T (&x)[rows][panel], granule<T> *here, int j) const {
        if (!holds_diagonal<first>(j))
            solve_rows<first>(x, *diagonal);
        store<first>(here, j, x);
    }

    /* Upper is the lower triangle of the conjugate transpose. These two walk it along the item's
     * columns, `panel` consecutive elements of which are one row of a panel. */
    template <class Visit> __device__ __forceinline__ void visit_panel(int j, Visit visit) const {
        const int thread = static_cast<int>(threadIdx.x);
        const int c = thread % panel;
        for (int row = j + thread / panel; row < order; row += threads / panel)
            visit(((row - j) * layout::granules + layout::place(row, c / layout::length)) *
                          layout::length +
                      c % layout::length,
                  row, j + c);
    }
    __device__ __forceinline__ void load_upper() const {
        granule<T> *here = finished;
        for (int j = 0; j < order; j += panel) {
            T *const to = reinterpret_cast<T *>(here);
            visit_panel(j, [&](int at, int row, int column) {
                if (row < n && column < n)
                    begin_copy(to + at, item + column + row * ld);
                else
                    to[at] = identity_at<T>(row, column);
            });
            here += (order - j) * layout::granules;
        }
        copies_arrive();
    }
    __device__ __forceinline__ void store_upper(const granule<T> *here, int j) const {
        const T *const from = reinterpret_cast<const T *>(here);
        visit_panel(j, [&](int at, int row, int column) {
            if (row >= column && row < n)
                item[column + row * ld] = conjugate(from[at]);
        });
    }
};

template <class T, int panel, int warps, int rows, int blocks, bool upper>
__global__ void __launch_bounds__(warps *warp_lanes, blocks) factor(cta_arguments arguments) {
    using matrix = matrix_on_chip<T, panel, warps, rows, upper>;
    auto &diagonal = shared_object<diagonal_block<T, panel>>();

    const int64_t i = blockIdx.x;
    const int thread = static_cast<int>(threadIdx.x);
    if (arguments.info_base > 0 && arguments.info && arguments.info[i] != 0)
        return;

    matrix a;
    a.item = item_of<T>(arguments.A, i);
    a.ld = arguments.A.ld;
    a.n = arguments.n;
    a.order = (arguments.n + panel - 1) / panel * panel;
    a.finished = dynamic_shared<granule<T>>();
    a.diagonal = &diagonal;
    if constexpr (upper)
        a.load_upper();
    else
        a.fetch(0);
    block_barrier<warps>();

    granule<T> *here = a.finished;
    int failed = 0;
#pragma unroll 1
    for (int j = 0; j < a.order && failed == 0; j += panel) {
        int above = 0; // how many of the own rows lie, with their whole warp, above the panel
#pragma unroll
        for (int r = 0; r < rows; ++r)
            above += thread / warp_lanes * warp_lanes + matrix::threads * r + warp_lanes <= j;
        T x[rows][panel];
        from_first_row<rows>(
            above, [&](auto first) { a.template begin_panel<decltype(first)::value>(x, here, j); });
        block_barrier<warps>();
        if (diagonal.failed)
            failed = j + diagonal.failed;
        else
            from_first_row<rows>(above, [&](auto first) {
                a.template end_panel<decltype(first)::value>(x, here, j);
            });
        block_barrier<warps>();
        if (upper && failed == 0)
            a.store_upper(here, j);
        here += (a.order - j) * matrix::layout::granules;
    }
    if (thread == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

// ---- launch ------------------------------------------------------------------------------------

/* Bytes of dynamic shared memory for an order, by the row of the table that serves it. */
template <class T, int at = 0> size_t bytes_for(int64_t n) {
    constexpr geometry row = geometry_of<T>::rows[at];
    if constexpr (at + 1 < geometry_count<T>)
        if (n > row.order)
            return bytes_for<T, at + 1>(n);
    return resident_padded(bytes_of<T, row.panel>(n));
}

template <class T, int at = 0>
int launch_row(const cta_arguments &arguments, bool upper, int64_t batch, void *stream) {
    constexpr geometry row = geometry_of<T>::rows[at];
    if constexpr (at + 1 < geometry_count<T>)
        if (arguments.n > row.order)
            return launch_row<T, at + 1>(arguments, upper, batch, stream);
    const auto kernel = upper ? factor<T, row.panel, row.warps, row.rows, row.blocks, true>
                              : factor<T, row.panel, row.warps, row.rows, row.blocks, false>;
    return launch_with_shared(kernel, batch, row.warps * warp_lanes, bytes_for<T>(arguments.n),
                              stream, arguments);
}

} // namespace

bool batchlas_potrf_cta_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                     const char **reason) {
    *reason = "the matrix does not fit into the shared memory of one block";
    return with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        return problem->n <= resident_max_n(bytes_for<T>,
                                            device_budget(facts->shared_memory_per_block), 1,
                                            highest_order<T>);
    });
}

batchlas_status_t batchlas_potrf_cta_cuda(batchlas_handle_t h, const problem_t *problem,
                                          void *workspace) {
    (void)workspace;
    const int error = launch_in_parts(*problem, 1, [&](const problem_t &part) {
        const cta_arguments arguments = {part.A, part.info, part.info_base, part.n};
        return with_scalar(part.type, [&](auto scalar) {
            return launch_row<decltype(scalar)>(arguments, part.uplo == BATCHLAS_UPPER, part.batch,
                                                h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrf cta");
}
