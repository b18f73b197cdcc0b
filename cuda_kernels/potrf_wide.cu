/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf wide: a matrix in the shared memory of a block of many warps, for batches too small to fill
 * the device, where the time is that of one matrix. Panels of 8 columns, right-looking.
 *
 * A lane of the row warps has one row of the panel. It factors the diagonal block for itself, all
 * of it in registers, and solves its row in the same stride, so that no warp waits for another
 * within a panel. Once it is there, all warps take its products from the next panel alone, and
 * while the rows of that are solved, the tile warps take them from all columns behind. Two barriers
 * a panel.
 *
 * An upper triangle is worked as the lower one of its transpose. */
#include "families.h"
#include "panel_row.cuh"
#include "potrf_panel.cuh"
#include "tensor_tile.cuh"
#include "tiny_triangle.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

constexpr int panel = tile_columns;
constexpr int most_panels = 16;
constexpr int most_rows = panel * most_panels;

constexpr int tile_warps = 2; // beside each row warp

/* Whether lanes factor diagonal blocks by halves. */
template <class T> constexpr bool by_halves = scalar_of<T>::is_complex;

/* Tiles that a warp updates together. */
template <class T> constexpr int tiles_together = 2;
template <> inline constexpr int tiles_together<complex_of<double>> = 1;

struct wide_arguments {
    operand_t A;
    int *info;
    int info_base;
    int n;
};

// ---- the matrix in shared memory ----------------------------------------------------------------

/* In blocks of 8 x 8, those of a block column together: panel k of a matrix of m blocks a side
 * holds the block rows k ... m - 1. */
template <class T> struct blocks_of {
    using layout = panel_row<T, panel>;
    static constexpr int length = layout::length;
    static constexpr int row = layout::granules; // granules
    static constexpr int size = panel * row;     // of a block

    __host__ __device__ static constexpr int before(int k, int m) {
        return k * m - k * (k - 1) / 2;
    }
    /* Element c of a row, in elements from row 0. */
    __device__ __forceinline__ static int element(int r, int c) {
        return (r * row + layout::place(r, c / length)) * length + c % length;
    }
};

/* Two neighbours in a row, the first of an even column: one access to memory unless they are
 * granules themselves. */
template <class T> struct alignas(sizeof(T) < 16 ? 2 * sizeof(T) : 16) pair {
    T at[2];
};
template <class T> __device__ __forceinline__ pair<T> load_pair(const T *rows, int element) {
    if constexpr (granule<T>::length > 1)
        return *reinterpret_cast<const pair<T> *>(rows + element);
    else
        return {rows[element], rows[element ^ 1]};
}
template <class T>
__device__ __forceinline__ void store_pair(T *rows, int element, const pair<T> &p) {
    if constexpr (granule<T>::length > 1) {
        *reinterpret_cast<pair<T> *>(rows + element) = p;
    } else {
        rows[element] = p.at[0];
        rows[element ^ 1] = p.at[1];
    }
}

// ---- products -----------------------------------------------------------------------------------

/* Minus a block of 8 rows, as the factor on the right. */
template <class T>
__device__ __forceinline__ product_factor<T, 2> minus_block(const T *block, int own) {
    const pair<T> p = load_pair(block, own);
    product_factor<T, 2> factor;
#pragma unroll
    for (int e = 0; e < 2; ++e)
        factor.set(e, negative(p.at[e]));
    return factor;
}

/* C + a right^H in a warp, for some tiles of two blocks of rows each, one below the other, and the
 * C they belong to; `there` is how many blocks there are, at least one. The lane's part of a block
 * begins at element `own`. */
template <int tiles, class T>
__device__ __forceinline__ void update_tiles(T *c, const T *a, const product_factor<T, 2> &right,
                                             int there, int own) {
    constexpr int elements = panel * panel, blocks = 2 * tiles;
    pair<T> x[blocks], l[blocks];
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
        const int at = own + (i < there ? i * elements : 0);
        x[i] = load_pair(c, at);
        l[i] = load_pair(a, at);
    }
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
        product_factor<T, 4> left;
        product_tile<T> tile;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                left.set(2 * e + half, l[2 * t + half].at[e]);
                tile.set(2 * half + e, x[2 * t + half].at[e]);
            }
        tile = plus_tile_product<true>(tile, left, right);
#pragma unroll
        for (int e = 0; e < 4; ++e)
            x[2 * t + e / 2].at[e % 2] = tile.at(e);
    }
#pragma unroll
    for (int i = 0; i < blocks; ++i)
        if (i < there)
            store_pair(c, own + i * elements, x[i]);
}

/* Takes the products with a finished panel from the columns behind the panel ahead of it: those
 * from `ahead` on, of which the first has so many blocks. Some warps share the columns, to and fro,
 * so that each has short and long ones. */
template <class T>
__device__ __forceinline__ void update_columns_behind(const T *finished, T *ahead, int count,
                                                      int warp, int warps, int own) {
    constexpr int elements = panel * panel, tiles = tiles_together<T>;
    int step = 2 * (warps - warp) - 1;
#pragma unroll 1
    for (int j = warp; j < count; j += step, step = 2 * warps - step) {
        T *c = ahead + blocks_of<T>::before(j, count) * elements;
        const T *a = finished + (j + 2) * elements;
        const product_factor<T, 2> right = minus_block(a, own);
#pragma unroll 1
        for (int there = count - j; there > 0; there -= 2 * tiles) {
            update_tiles<tiles>(c, a, right, there, own);
            c += 2 * tiles * elements;
            a += 2 * tiles * elements;
        }
    }
}

// ---- a panel's rows -----------------------------------------------------------------------------

template <class T> __device__ __forceinline__ void load_row(T (&to)[panel], const T *block, int r) {
    panel_row<T, panel>::load(
        to, reinterpret_cast<const granule<T> *>(block) + r * panel_row<T, panel>::granules, r);
}

/* Factors a block on the diagonal, and solves with it what lies below in some rows, from column
 * `first` on; `own` is the first of them. False where a pivot is out of the ordinary. */
template <int size, int first, int rows, class T>
__device__ __forceinline__ bool factor_with_rows(T (&a)[size][size], T (&x)[rows][panel], int own) {
    using R = real_of<T>;
    R diagonal[size];
#pragma unroll
    for (int c = 0; c < size; ++c)
        diagonal[c] = real_part(a[c][c]);
    bool ordinary = true;
#pragma unroll
    for (int c = 0; c < size; ++c) {
        ordinary &= is_ordinary_pivot(diagonal[c]);
        const pivot<R> p = ordinary_pivot(diagonal[c]);
#pragma unroll
        for (int r = c + 1; r < size; ++r) {
            a[r][c] = scaled(p.inverse, a[r][c]);
            diagonal[r] = minus_square(diagonal[r], a[r][c]);
        }
#pragma unroll
        for (int i = 0; i < rows; ++i)
            x[i][first + c] = scaled(p.inverse, x[i][first + c]);
#pragma unroll
        for (int k = c + 1; k < size; ++k) {
#pragma unroll
            for (int r = k + 1; r < size; ++r)
                a[r][k] = minus_product_conj(a[r][k], a[r][c], a[k][c]);
#pragma unroll
            for (int i = 0; i < rows; ++i)
                x[i][first + k] = minus_product_conj(x[i][first + k], x[i][first + c], a[k][c]);
        }
        x[0][first + c] = choose(own == first + c, from_real<T>(p.root), x[0][first + c]);
    }
    return ordinary;
}

/* Row `own` of a panel, factored with the diagonal block above it, all in each lane. */
template <class T>
__device__ __forceinline__ bool factor_row(T (&x)[panel], const T *block, int own) {
    T a[panel][panel], rows[1][panel];
#pragma unroll
    for (int r = 0; r < panel; ++r)
        load_row(a[r], block, r);
    load_row(rows[0], block, own);
    const bool ordinary = factor_with_rows<panel, 0>(a, rows, own);
#pragma unroll
    for (int c = 0; c < panel; ++c)
        x[c] = rows[0][c];
    return ordinary;
}

/* The same in two halves, of which each lane factors the blocks on the diagonal alone; of the rows
 * between, every fourth lane has one, and the warp exchanges them. */
template <class T> using exchanged_rows = T[panel / 2][panel];

template <class T>
__device__ __forceinline__ bool factor_row_by_halves(T (&x)[panel], const T *block, int own,
                                                     exchanged_rows<T> &exchanged) {
    constexpr int half = panel / 2;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    T a[half][half], rows[2][panel];
#pragma unroll
    for (int r = 0; r < half; ++r) {
        T row[panel];
        load_row(row, block, r);
#pragma unroll
        for (int c = 0; c < half; ++c)
            a[r][c] = row[c];
    }
    load_row(rows[0], block, own);
    load_row(rows[1], block, half + lane % half);
    bool ordinary = factor_with_rows<half, 0>(a, rows, own);
    if (lane < half)
        copy_scalars<half>(exchanged[lane], rows[1]);
    warp_barrier();
#pragma unroll
    for (int k = 0; k < half; ++k) {
        T other[half];
        copy_scalars<half>(other, exchanged[k]);
#pragma unroll
        for (int c = 0; c < half; ++c)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                rows[i][half + k] = minus_product_conj(rows[i][half + k], rows[i][c], other[c]);
    }
    if (lane < half)
        copy_scalars<half>(exchanged[lane] + half, rows[1] + half);
    warp_barrier();
    T last[1][panel];
#pragma unroll
    for (int r = 0; r < half; ++r)
        copy_scalars<half>(a[r], exchanged[r] + half);
#pragma unroll
    for (int c = 0; c < panel; ++c)
        last[0][c] = rows[0][c];
    ordinary &= factor_with_rows<half, half>(a, last, own);
#pragma unroll
    for (int c = 0; c < panel; ++c)
        x[c] = last[0][c];
    return ordinary;
}

/* Which elements of a block a lane moves between shared memory and an item, four rows or columns
 * apart: in the item's order. */
template <class T, bool upper> struct moved_elements {
    int row, column;
    int at[2]; // in a block

    __device__ __forceinline__ moved_elements() {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        row = upper ? lane / panel : lane % panel;
        column = upper ? lane % panel : lane / panel;
#pragma unroll
        for (int e = 0; e < 2; ++e)
            at[e] = blocks_of<T>::element(row + down(e), column + right(e));
    }
    __device__ __forceinline__ static int down(int e) {
        return upper ? 4 * e : 0;
    }
    __device__ __forceinline__ static int right(int e) {
        return upper ? 0 : 4 * e;
    }
};

/* A finished panel goes to memory; some warps share its blocks. */
template <class T, bool upper>
__device__ __forceinline__ void store_panel(const triangle_of<T, upper> &item, int n,
                                            const moved_elements<T, upper> &moved, const T *block,
                                            int k, int warp, int warps) {
    const int column = panel * k + moved.column;
    int row = panel * (k + warp) + moved.row;
    block += warp * panel * panel;
#pragma unroll 1
    for (; row - moved.row < n; row += panel * warps, block += warps * panel * panel) {
        T *const to = item.at(row, column);
#pragma unroll
        for (int e = 0; e < 2; ++e)
            if (row + moved.down(e) < n && row + moved.down(e) >= column + moved.right(e))
                to[e * 4 * item.ld] = block[moved.at[e]];
    }
}

/* Begins to load the panels from k to `end`, in a group; some warps share them, block by block. */
template <class T, bool upper>
__device__ __forceinline__ void begin_load(T *first, const triangle_of<T, upper> &item, int n,
                                           const moved_elements<T, upper> &moved, int m, int k,
                                           int end, int warp, int warps) {
    T *block = first + (blocks_of<T>::before(k, m) + warp) * panel * panel;
    int i = k + warp;
#pragma unroll 1
    for (; k < end; ++k) {
#pragma unroll 1
        for (; i < m; i += warps, block += warps * panel * panel) {
            const int row = panel * i + moved.row, column = panel * k + moved.column;
            const T *const from = item.at(row, column);
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (row + moved.down(e) < n && column + moved.right(e) < n)
                    begin_copy(block + moved.at[e], from + e * 4 * item.ld);
                else
                    block[moved.at[e]] =
                        identity_at<T>(row + moved.down(e), column + moved.right(e));
        }
        i -= m - k - 1;
    }
    end_group();
}

// ---- a block's work -----------------------------------------------------------------------------

/* Shared memory begins with what the row warps exchange. */
template <class T> struct alignas(16) shared_head {
    exchanged_rows<T> of_warp[most_rows / warp_lanes];
};

template <class T, bool upper>
__global__ void __launch_bounds__(most_rows + most_rows * tile_warps, 1)
    factor(wide_arguments arguments) {
    using layout = panel_row<T, panel>;
    constexpr int elements = panel * panel;
    bool &all_ordinary = shared_object<bool>();
    shared_head<T> &head = *dynamic_shared<shared_head<T>>();
    T *const first = reinterpret_cast<T *>(&head + 1);

    const int64_t i = blockIdx.x;
    if (arguments.info_base > 0 && arguments.info && arguments.info[i] != 0)
        return;
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / warp_lanes;
    const int warps = static_cast<int>(blockDim.x) / warp_lanes;
    const int row_warps = warps / (1 + tile_warps);
    const int tile_warp = warp - row_warps; // or none
    const int n = arguments.n;
    const int panels = (n + panel - 1) / panel;
    const triangle_of<T, upper> item = {item_of<T>(arguments.A, i), arguments.A.ld};
    const moved_elements<T, upper> moved;

#pragma unroll 1
    for (int behind = 0; behind < 2; ++behind)
        begin_load(first, item, n, moved, panels, behind, behind ? panels : 1, warp, warps);
    groups_arrive<0, 2>(1);
    block_barrier();

    // The tile of the panel ahead that a warp updates: tile warps first, for they come early.
    const int block_ahead = 2 * (tile_warp < 0 ? warps + tile_warp : tile_warp);
    const int lane = thread % warp_lanes;
    const int own_part = blocks_of<T>::element(lane / 4, lane % 4 * 2);
    T x[panel];
    T *block = first, *finished = first; // on the diagonal, of this panel and the one before
    int rows = panel * panels;
    int k = 0;
#pragma unroll 1
    for (;; ++k) {
        const bool works = tile_warp < 0 && warp * warp_lanes < rows;
        if (works) {
            const int own = thread < rows ? thread : 0;
            bool ordinary;
            if constexpr (by_halves<T>)
                ordinary = factor_row_by_halves(x, block, own, head.of_warp[warp]);
            else
                ordinary = factor_row(x, block, own);
            if (thread == 0)
                all_ordinary = ordinary;
            if (own >= panel)
                layout::store(reinterpret_cast<granule<T> *>(block) + own * layout::granules, own,
                              x);
        } else if (tile_warp >= 0 && k > 0) {
            update_columns_behind(finished, block + rows * panel, rows / panel - 1, tile_warp,
                                  warps - row_warps, own_part);
            store_panel(item, n, moved, finished, k - 1, tile_warp, warps - row_warps);
        }
        if (k == 0)
            copies_arrive();
        T *const next = block + rows * panel;
        const int there = rows / panel - 1 - block_ahead;
        block_barrier();
        const bool goes_on = k < panels && all_ordinary;
        if (there > 0)
            update_tiles<1>(next + block_ahead * elements, block + (1 + block_ahead) * elements,
                            minus_block(block + elements, own_part), there, own_part);
        // Until now others read the diagonal block as it was.
        if (works && thread < panel)
            layout::store(reinterpret_cast<granule<T> *>(block) + thread * layout::granules, thread,
                          x);
        if (!goes_on)
            break;
        finished = block;
        block = next;
        rows -= panel;
        block_barrier();
    }

    int failed = 0;
    if (k < panels)
        failed = factor_any<most_rows>(item.item, upper ? item.ld : 1, upper ? 1 : item.ld,
                                       panel * k, n, thread, true);
    if (thread == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

template <class T> size_t shared_bytes(int64_t n) {
    const int m = static_cast<int>((n + panel - 1) / panel);
    return resident_padded(sizeof(shared_head<T>) +
                           static_cast<size_t>(blocks_of<T>::before(m, m)) * blocks_of<T>::size *
                               sizeof(granule<T>));
}

// ---- launch ------------------------------------------------------------------------------------

template <class T>
int launch_items(const wide_arguments &arguments, bool upper, int64_t batch, void *stream) {
    const int row_warps = (arguments.n + warp_lanes - 1) / warp_lanes;
    return launch_with_shared(upper ? factor<T, true> : factor<T, false>, batch,
                              row_warps * (1 + tile_warps) * warp_lanes,
                              shared_bytes<T>(arguments.n), stream, arguments);
}

} // namespace

bool batchlas_potrf_wide_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                      const char **reason) {
    *reason = "wide serves orders up to 128, as far as a matrix fits into shared memory";
    return with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        return problem->n <= most_rows &&
               shared_bytes<T>(problem->n) <= device_budget(facts->shared_memory_per_block);
    });
}

batchlas_status_t batchlas_potrf_wide_cuda(batchlas_handle_t h, const problem_t *problem,
                                           void *workspace) {
    (void)workspace;
    const int error = launch_in_parts(*problem, 1, [&](const problem_t &part) {
        return with_scalar(part.type, [&](auto scalar) {
            return launch_items<decltype(scalar)>({part.A, part.info, part.info_base, part.n},
                                                  part.uplo == BATCHLAS_UPPER, part.batch,
                                                  h->stream);
        });
    });
    return batchlas_device_status(h, error, "launching potrf wide");
}
