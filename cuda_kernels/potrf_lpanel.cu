/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf lpanel: a block factors one matrix, left-looking, in panels of a compile-time width. A
 * thread owns one or two rows and keeps its part of the current panel in registers; the finished
 * columns are read back from global memory, where the L2 cache holds them, so shared memory bounds
 * no order. */
#include "families.h"
#include "potrf_panel.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int most_threads = 512;
constexpr int most_rows = 2;
constexpr int max_order = most_threads * most_rows;
/* Orders above it give a thread two rows: half the warps, and each operand feeds two products. */
constexpr int one_row_order = 256;
/* Finished columns that a thread reads ahead of its products. */
constexpr int ahead = 8;

struct lpanel_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
};

/* Rows j ... j + panel - 1 of the finished columns, in shared memory: one column after the other,
 * each padded so that neither of the two ways to fill it crowds a bank. */
template <class T, int panel> constexpr int pivot_stride = panel + granule<T>::length;
template <class T, int panel> constexpr size_t bytes_of(int n) {
    return static_cast<size_t>(n) * pivot_stride<T, panel> * sizeof(T);
}

/* A complex panel 16 wide takes more registers than there are. */
template <class T, int panel> constexpr bool has_width = panel == 8 || !scalar_of<T>::is_complex;

template <class T, int panel, int rows, bool upper> struct left_looking {
    using R = real_of<T>;
    static constexpr int length = granule<T>::length;

    T *item;
    int64_t ld;
    int n;
    int own;     // the first of the own rows
    int threads; // and the distance to the next
    T *pivots;
    diagonal_block<T, panel> *diagonal;

    /* L(row, column) before or after its factorisation: Upper is the conjugate transpose. */
    __device__ __forceinline__ T element(int row, int column) const {
        return upper ? conjugate(item[column + row * ld]) : item[row + column * ld];
    }

    __device__ __forceinline__ void load_panel(T (&x)[rows][panel], int j) const {
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int row = own + threads * r;
#pragma unroll
            for (int c = 0; c < panel; ++c)
                x[r][c] = row >= j && row < n && j + c < n ? element(row, j + c)
                                                           : identity_at<T>(row, j + c);
        }
    }

    __device__ __forceinline__ void load_pivots(int j) const {
        const int slow = upper ? own / warp_lanes : own / panel;
        const int fast = upper ? own % warp_lanes : own % panel;
        if constexpr (upper) {
            for (int c = slow; c < panel; c += threads / warp_lanes)
                for (int k = fast; k < j; k += warp_lanes)
                    pivots[k * pivot_stride<T, panel> + c] = j + c < n ? element(j + c, k) : T{};
        } else {
            for (int k = slow; k < j; k += threads / panel)
                pivots[k * pivot_stride<T, panel> + fast] =
                    j + fast < n ? element(j + fast, k) : T{};
        }
    }

    /* x -= (own rows of the finished columns) (rows j ... of them)^H */
    template <int first>
    __device__ __forceinline__ void update_panel(T (&x)[rows][panel], int j) const {
#pragma unroll 1
        for (int k = 0; k < j; k += ahead) {
            T a[rows][ahead];
#pragma unroll
            for (int r = first; r < rows; ++r) {
                const int row = own + threads * r;
#pragma unroll
                for (int i = 0; i < ahead; ++i)
                    a[r][i] = row < n ? element(row, k + i) : T{};
            }
#pragma unroll
            for (int i = 0; i < ahead; ++i) {
                const granule<T> *const column =
                    reinterpret_cast<const granule<T> *>(pivots + (k + i) * pivot_stride<T, panel>);
#pragma unroll
                for (int g = 0; g < panel / length; ++g) {
                    const granule<T> l = column[g];
#pragma unroll
                    for (int e = 0; e < length; ++e)
#pragma unroll
                        for (int r = first; r < rows; ++r)
                            x[r][g * length + e] =
                                minus_product_conj(x[r][g * length + e], a[r][i], l.at[e]);
                }
            }
        }
    }

    __device__ __forceinline__ void store_panel(const T (&x)[rows][panel], int j) const {
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int row = own + threads * r;
            if (row < j || row >= n)
                continue;
            if constexpr (upper) {
#pragma unroll
                for (int c = 0; c < panel; ++c)
                    if (row >= j + c)
                        item[j + c + row * ld] = conjugate(x[r][c]);
            } else {
                store_row(item + row + j * ld, ld, x[r], row - j);
            }
        }
    }

    /* Whether the own warp has the diagonal of the panel that begins at column j, in the rows of
     * which `first` is the own one. */
    template <int first> __device__ __forceinline__ bool holds_diagonal(int j) const {
        return own + threads * first - j - own % warp_lanes <= 0;
    }

    /* The panel that begins at column j until its diagonal block is finished, and the rest of it.
     * Rows before `first` lie above it. */
    template <int first>
    __device__ __forceinline__ void begin_panel(T (&x)[rows][panel], int j) const {
        load_panel(x, j);
        update_panel<first>(x, j);
        if (holds_diagonal<first>(j))
            factor_diagonal<first>(x, j, own + threads * first - j, *diagonal);
    }
    template <int first>
    __device__ __forceinline__ void end_panel(T (&x)[rows][panel], int j) const {
        if (!holds_diagonal<first>(j))
            solve_rows<first>(x, *diagonal);
        store_panel(x, j);
    }
};

template <class T, int panel, int rows, bool upper>
__global__ void __launch_bounds__(most_threads) factor(lpanel_arguments arguments) {
    auto &diagonal = shared_object<diagonal_block<T, panel>>();

    const int64_t i = blockIdx.x;
    const int thread = static_cast<int>(threadIdx.x);
    if (arguments.info_base > 0 && arguments.info && arguments.info[i] != 0)
        return;
    const left_looking<T, panel, rows, upper> a = {
        item_of<T>(arguments.A, i),   arguments.A.ld,      arguments.n, thread,
        static_cast<int>(blockDim.x), dynamic_shared<T>(), &diagonal};

    int failed = 0;
#pragma unroll 1
    for (int j = 0; j < a.n && failed == 0; j += panel) {
        a.load_pivots(j);
        block_barrier();
        int above = 0; // how many of the own rows lie, with their whole warp, above the panel
#pragma unroll
        for (int r = 0; r < rows; ++r)
            above += thread / warp_lanes * warp_lanes + a.threads * r + warp_lanes <= j;
        T x[rows][panel];
        from_first_row<rows>(
            above, [&](auto first) { a.template begin_panel<decltype(first)::value>(x, j); });
        block_barrier();
        if (diagonal.failed)
            failed = j + diagonal.failed;
        else
            from_first_row<rows>(
                above, [&](auto first) { a.template end_panel<decltype(first)::value>(x, j); });
        block_barrier();
    }
    if (thread == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

// ---- launch ------------------------------------------------------------------------------------

template <int panel, class T>
int launch_order(const lpanel_arguments &arguments, bool upper, int64_t batch, void *stream) {
    const int rows = arguments.n > one_row_order ? 2 : 1;
    const int threads = (arguments.n + rows * warp_lanes - 1) / (rows * warp_lanes) * warp_lanes;
    const auto kernel = rows == 1
                            ? (upper ? factor<T, panel, 1, true> : factor<T, panel, 1, false>)
                            : (upper ? factor<T, panel, 2, true> : factor<T, panel, 2, false>);
    return launch_with_shared(kernel, batch, threads,
                              resident_padded(bytes_of<T, panel>(arguments.n)), stream, arguments);
}

template <int panel> batchlas_status_t launch_batch(batchlas_handle_t h, const problem_t *problem) {
    const int error = launch_in_parts(*problem, 1, [&](const problem_t &part) {
        const lpanel_arguments arguments = {part.A, part.info, part.info_base, part.n};
        return with_scalar(part.type, [&](auto scalar) {
            int outcome = 0;
            if constexpr (has_width<decltype(scalar), panel>)
                outcome = launch_order<panel, decltype(scalar)>(
                    arguments, part.uplo == BATCHLAS_UPPER, part.batch, h->stream);
            return outcome;
        });
    });
    return batchlas_device_status(h, error, "launching potrf lpanel");
}

template <int panel> bool fits(const problem_t *problem, const device_facts_t *facts) {
    return with_scalar(problem->type, [&](auto scalar) {
        return has_width<decltype(scalar), panel> && problem->n <= max_order &&
               resident_padded(bytes_of<decltype(scalar), panel>(problem->n)) <=
                   device_budget(facts->shared_memory_per_block);
    });
}

} // namespace

bool batchlas_potrf_lpanel_8_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                          const char **reason) {
    *reason = "lpanel serves orders up to 1024";
    return fits<8>(problem, facts);
}

bool batchlas_potrf_lpanel_16_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                           const char **reason) {
    *reason = "lpanel:panel=16 serves real types up to order 1024";
    return fits<16>(problem, facts);
}

batchlas_status_t batchlas_potrf_lpanel_8_cuda(batchlas_handle_t h, const problem_t *problem,
                                               void *workspace) {
    (void)workspace;
    return launch_batch<8>(h, problem);
}

batchlas_status_t batchlas_potrf_lpanel_16_cuda(batchlas_handle_t h, const problem_t *problem,
                                                void *workspace) {
    (void)workspace;
    return launch_batch<16>(h, problem);
}
