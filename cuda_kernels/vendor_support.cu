// SPDX-License-Identifier: BSD-3-Clause
#include "vendor_support.h"

#include "device.cuh"

#include <limits.h>

using namespace batchlas_device;

namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / warp_lanes;

int64_t blocks_for(int64_t work, int64_t a_block) {
    return (work + a_block - 1) / a_block;
}

template <class T> __device__ __forceinline__ void make_real(T &a) {
    a = from_real<T>(real_part(a));
}

// ---- pointer arrays ----------------------------------------------------------------------------

__global__ void __launch_bounds__(block_threads)
    make_pointers(operand_t operand, int64_t element, int64_t step, int blocks, const int *skip,
                  void *instead, int64_t count, void **pointers) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * block_threads + threadIdx.x;
    const int64_t item = at / blocks;
    if (item >= count)
        return;
    char *const first = operand.items
                            ? static_cast<char *>(operand.items[item])
                            : static_cast<char *>(operand.base) + item * operand.stride * element;
    pointers[at] = skip && skip[item]
                       ? instead
                       : first + (operand.offset + (at - item * blocks) * step) * element;
}

// ---- triangles ---------------------------------------------------------------------------------

// A strict upper triangle has columns of 0, 1, ..., n - 1 elements. A long and a short column
// together make a line of one width, so that the triangle is a rectangle to its threads and dense
// when packed. A lower triangle is the upper one read backwards.
struct triangle {
    int n;
    int width;
    int lines; // of an item
    bool lower;
    int lanes; // that walk one line, a power of two
};

triangle triangle_of(batchlas_uplo_t uplo, int n) {
    triangle shape = {n, (n - 1) | 1, n / 2, uplo == BATCHLAS_LOWER, 1};
    while (shape.lanes < shape.width && shape.lanes < block_threads)
        shape.lanes *= 2;
    return shape;
}

// A thread's place: 2^32 lines would be a triangle of 16 GiB and more.
struct place {
    int64_t item;
    int64_t all_lines; // before this one, those of other items too
    int line;
    int lane;
};

__device__ __forceinline__ place place_in(const triangle &shape) {
    const unsigned lanes = static_cast<unsigned>(shape.lanes);
    const unsigned lines_a_block = block_threads / lanes;
    const unsigned all = blockIdx.x * lines_a_block + threadIdx.x / lanes;
    const unsigned item = all / static_cast<unsigned>(shape.lines);
    return {item, all, static_cast<int>(all - item * static_cast<unsigned>(shape.lines)),
            static_cast<int>(threadIdx.x % lanes)};
}

struct element {
    int row, column;
};

__device__ __forceinline__ element element_at(const triangle &shape, int line, int r) {
    const int longer = shape.n - 1 - line;
    const element upper =
        r < longer ? element{r, longer} : element{r - longer, line + (shape.n & 1)};
    return shape.lower ? element{shape.n - 1 - upper.row, shape.n - 1 - upper.column} : upper;
}

enum class direction { save, restore };

template <class T, direction way>
__global__ void __launch_bounds__(block_threads)
    move_triangles(triangle shape, operand_t A, int64_t count, T *packed) {
    const place at = place_in(shape);
    if (at.item >= count)
        return;
    T *const a = item_of<T>(A, at.item);
    T *const saved = packed + at.all_lines * shape.width;
    for (int r = at.lane; r < shape.width; r += shape.lanes) {
        const element e = element_at(shape, at.line, r);
        T &original = a[e.row + static_cast<int64_t>(e.column) * A.ld];
        if (way == direction::save)
            saved[r] = original;
        else
            original = saved[r];
    }
}

// A triangle with its diagonal is a strict one of order n + 1, moved by one column, or by one row.
template <class T>
__global__ void __launch_bounds__(block_threads)
    copy_triangles(triangle strict, operand_t from, operand_t to, int64_t count) {
    const place at = place_in(strict);
    if (at.item >= count)
        return;
    const T *const source = item_of<T>(from, at.item);
    T *const target = item_of<T>(to, at.item);
    for (int r = at.lane; r < strict.width; r += strict.lanes) {
        element e = element_at(strict, at.line, r);
        (strict.lower ? e.row : e.column) -= 1;
        target[e.row + static_cast<int64_t>(e.column) * to.ld] =
            source[e.row + static_cast<int64_t>(e.column) * from.ld];
    }
}

template <class... Parameters, class... Arguments>
int launch_lines(void (*kernel)(triangle, Parameters...), const triangle &shape, int64_t count,
                 void *stream, Arguments... arguments) {
    const int64_t lines = count * shape.lines;
    if (lines == 0)
        return cudaSuccess;
    return launch(kernel, blocks_for(lines, block_threads / shape.lanes), block_threads, stream,
                  shape, arguments...);
}

// ---- rank-k updates ----------------------------------------------------------------------------

// One block of threads for each diagonal block.
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_triangles(bool lower, int n, int width, int blocks, operand_t products, real_of<T> beta,
                  operand_t C) {
    const int64_t item = blockIdx.x / static_cast<unsigned>(blocks);
    const int block = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks));
    const int first = block * width;
    const int order = min(width, n - first);
    const T *const product = item_of<T>(products, item) + static_cast<int64_t>(first) * width;
    T *const c = item_of<T>(C, item) + first + static_cast<int64_t>(first) * C.ld;
    for (int e = static_cast<int>(threadIdx.x); e < order * order; e += block_threads) {
        const int column = e / order;
        const int row = e - column * order;
        if (lower ? row < column : row > column)
            continue;
        T &target = c[row + static_cast<int64_t>(column) * C.ld];
        T updated = product[row + column * width];
        if (beta != 0)
            updated = plus_scaled(updated, beta, target);
        if (row == column)
            make_real(updated);
        target = updated;
    }
}

// ---- diagonals ---------------------------------------------------------------------------------

// A warp walks one item's diagonal.
template <class T>
__global__ void __launch_bounds__(block_threads)
    walk_diagonals(int n, operand_t A, const int *vendor_info, int info_base, int *info,
                   int64_t count) {
    const int lane = static_cast<int>(threadIdx.x % warp_lanes);
    const int64_t item = static_cast<int64_t>(blockIdx.x) * block_warps + threadIdx.x / warp_lanes;
    if (item >= count)
        return;
    T *const a = item_of<T>(A, item);
    int failed = INT_MAX; // the first pivot that is not positive, from 1
    for (int j = lane; j < n; j += warp_lanes) {
        T &pivot = a[j + static_cast<int64_t>(j) * A.ld];
        if (info && !(real_part(pivot) > 0))
            failed = min(failed, j + 1);
        if (scalar_of<T>::is_complex)
            make_real(pivot);
    }
    if (!info)
        return;
    for (int distance = warp_lanes / 2; distance > 0; distance /= 2)
        failed = min(failed, from_lane<warp_lanes>(failed, lane ^ distance));
    if (lane != 0 || (info_base > 0 && info[item] != 0))
        return;
    if (vendor_info[item] > 0)
        failed = min(failed, vendor_info[item]);
    if (failed != INT_MAX)
        info[item] = info_base + failed;
    else if (info_base == 0)
        info[item] = 0;
}

} // namespace

int batchlas_vendor_pointers(void *stream, scalar_type_t type, operand_t operand, int64_t step,
                             int blocks, const int *skip, void *instead, int64_t count,
                             void **pointers) {
    return launch(make_pointers, blocks_for(count * blocks, block_threads), block_threads, stream,
                  operand, static_cast<int64_t>(scalar_size(type)), step, blocks, skip, instead,
                  count, pointers);
}

int batchlas_vendor_save_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t A, int64_t count, void *packed) {
    return with_scalar(type, [&](auto scalar) {
        using T = decltype(scalar);
        return launch_lines(move_triangles<T, direction::save>, triangle_of(uplo, n), count, stream,
                            A, count, static_cast<T *>(packed));
    });
}

int batchlas_vendor_restore_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                     operand_t A, int64_t count, void *packed) {
    return with_scalar(type, [&](auto scalar) {
        using T = decltype(scalar);
        return launch_lines(move_triangles<T, direction::restore>, triangle_of(uplo, n), count,
                            stream, A, count, static_cast<T *>(packed));
    });
}

int batchlas_vendor_copy_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t from, operand_t to, int64_t count) {
    return with_scalar(type, [&](auto scalar) {
        using T = decltype(scalar);
        return launch_lines(copy_triangles<T>, triangle_of(uplo, n + 1), count, stream, from, to,
                            count);
    });
}

int batchlas_vendor_add_triangles(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  int width, operand_t products, double beta, operand_t C,
                                  int64_t count) {
    const int blocks = (n - 1) / width + 1;
    return with_scalar(type, [&](auto scalar) {
        using T = decltype(scalar);
        return launch(add_triangles<T>, count * blocks, block_threads, stream,
                      uplo == BATCHLAS_LOWER, n, width, blocks, products,
                      static_cast<real_of<T>>(beta), C);
    });
}

int batchlas_vendor_settle(void *stream, scalar_type_t type, int n, operand_t factor,
                           const int *vendor_info, int info_base, int *info, int64_t count) {
    if (!info && !scalar_is_complex(type))
        return cudaSuccess;
    return with_scalar(type, [&](auto scalar) {
        using T = decltype(scalar);
        return launch(walk_diagonals<T>, blocks_for(count, block_warps), block_threads, stream, n,
                      factor, vendor_info, info_base, info, count);
    });
}

int batchlas_vendor_real_diagonal(void *stream, scalar_type_t type, int n, operand_t A,
                                  int64_t count) {
    return batchlas_vendor_settle(stream, type, n, A, nullptr, 0, nullptr, count);
}
