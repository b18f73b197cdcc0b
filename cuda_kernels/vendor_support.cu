// SPDX-License-Identifier: BSD-3-Clause
#include "vendor_support.h"

#include <cuda_runtime.h>

#include <limits.h>

namespace {

constexpr int block_threads = 256;
constexpr int warp_lanes = 32;

template <class R> struct complex_of {
    R re, im;
};

template <class R> __device__ R real_part(R a) {
    return a;
}
template <class R> __device__ R real_part(complex_of<R> a) {
    return a.re;
}

template <class R> __device__ void make_real(R *) {}
template <class R> __device__ void make_real(complex_of<R> *a) {
    a->im = 0;
}

template <class T> __device__ T *item_of(const operand_t &operand, int64_t i) {
    T *const first = operand.items ? static_cast<T *>(operand.items[i])
                                   : static_cast<T *>(operand.base) + i * operand.stride;
    return first + operand.offset;
}

// The status of this launch alone, whatever error the caller's program left behind.
template <class... Parameters, class... Arguments>
int launch(void *stream, int64_t blocks, dim3 block, void (*kernel)(Parameters...),
           Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = block;
    config.stream = static_cast<cudaStream_t>(stream);
    return blocks > 0 ? cudaLaunchKernelEx(&config, kernel, arguments...) : cudaSuccess;
}

int64_t blocks_for(int64_t work, int64_t a_block) {
    return (work + a_block - 1) / a_block;
}

// The least power of two that is at least n, within [1, most].
unsigned lanes_for(int n, int most) {
    int lanes = 1;
    while (lanes < n && lanes < most)
        lanes *= 2;
    return static_cast<unsigned>(lanes);
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
struct triangle_t {
    int n;
    int width;
    unsigned lines;
    bool lower;

    __host__ triangle_t(batchlas_uplo_t uplo, int order)
        : n(order), width((order - 1) | 1), lines(static_cast<unsigned>(order / 2)),
          lower(uplo == BATCHLAS_LOWER) {}

    __device__ void locate(int line, int r, int *row, int *column) const {
        const int longer = n - 1 - line;
        const bool in_longer = r < longer;
        *row = in_longer ? r : r - longer;
        *column = in_longer ? longer : line + (n & 1);
    }
};

// This thread's line of all items' lines; 2^32 of them would be a triangle of 16 GiB and more.
struct line_t {
    int64_t item;
    int line;
    bool exists;
    int64_t index;

    __device__ line_t(const triangle_t &triangle, int64_t count) {
        index = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
        exists = index < count * triangle.lines;
        item = static_cast<unsigned>(index) / triangle.lines;
        line = static_cast<int>(static_cast<unsigned>(index) - item * triangle.lines);
    }
};

enum class direction { save, restore };

template <class T, direction way>
__global__ void __launch_bounds__(block_threads)
    move_triangle(triangle_t triangle, operand_t A, int64_t count, T *packed) {
    const line_t at(triangle, count);
    if (!at.exists)
        return;
    T *const a = item_of<T>(A, at.item);
    T *const saved = packed + at.index * triangle.width;
    for (int r = threadIdx.x; r < triangle.width; r += blockDim.x) {
        int row, column;
        triangle.locate(at.line, r, &row, &column);
        if (triangle.lower) {
            row = triangle.n - 1 - row;
            column = triangle.n - 1 - column;
        }
        T *const element = a + row + static_cast<int64_t>(column) * A.ld;
        if (way == direction::save)
            saved[r] = *element;
        else
            *element = saved[r];
    }
}

// A triangle with its diagonal is the strict one of order n + 1 moved by one column.
template <class T>
__global__ void __launch_bounds__(block_threads)
    copy_triangle(triangle_t above, operand_t from, operand_t to, int64_t count) {
    const line_t at(above, count);
    if (!at.exists)
        return;
    const T *const source = item_of<T>(from, at.item);
    T *const target = item_of<T>(to, at.item);
    const int last = above.n - 2;
    for (int r = threadIdx.x; r < above.width; r += blockDim.x) {
        int row, column;
        above.locate(at.line, r, &row, &column);
        column -= 1;
        if (above.lower) {
            row = last - row;
            column = last - column;
        }
        target[row + static_cast<int64_t>(column) * to.ld] =
            source[row + static_cast<int64_t>(column) * from.ld];
    }
}

template <class... Parameters, class... Arguments>
int launch_lines(void *stream, const triangle_t &triangle, int64_t count,
                 void (*kernel)(triangle_t, Parameters...), Arguments... arguments) {
    const unsigned lanes = lanes_for(triangle.width, block_threads);
    const dim3 block(lanes, block_threads / lanes);
    return launch(stream, blocks_for(count * triangle.lines, block.y), block, kernel, triangle,
                  arguments...);
}

template <class T, direction way>
int move_triangles(void *stream, batchlas_uplo_t uplo, int n, operand_t A, int64_t count,
                   void *packed) {
    return launch_lines(stream, triangle_t(uplo, n), count, move_triangle<T, way>, A, count,
                        static_cast<T *>(packed));
}

// Moving bits, only the size of a scalar matters.
template <direction way>
int move_triangles(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n, operand_t A,
                   int64_t count, void *packed) {
    switch (scalar_size(type)) {
    case 4:
        return move_triangles<float, way>(stream, uplo, n, A, count, packed);
    case 8:
        return move_triangles<float2, way>(stream, uplo, n, A, count, packed);
    default:
        return move_triangles<double2, way>(stream, uplo, n, A, count, packed);
    }
}

// ---- rank-k updates ----------------------------------------------------------------------------

template <class R> __device__ R updated(R beta, const R *c, R product, bool) {
    return beta == 0 ? product : beta * *c + product;
}

template <class R>
__device__ complex_of<R> updated(R beta, const complex_of<R> *c, complex_of<R> product,
                                 bool diagonal) {
    const R re = beta == 0 ? product.re : beta * c->re + product.re;
    const R im = beta == 0 ? product.im : beta * c->im + product.im;
    return {re, diagonal ? R(0) : im};
}

// One block of threads for each diagonal block.
template <class T, class R>
__global__ void __launch_bounds__(block_threads)
    add_triangles(bool lower, int n, int width, int blocks, operand_t products, R beta,
                  operand_t C) {
    const int64_t item = blockIdx.x / static_cast<unsigned>(blocks);
    const int block = static_cast<int>(blockIdx.x % static_cast<unsigned>(blocks));
    const int order = min(width, n - block * width);
    const T *const product =
        item_of<T>(products, item) + static_cast<int64_t>(block) * width * width;
    T *const c = item_of<T>(C, item) + static_cast<int64_t>(block) * width * (C.ld + 1LL);
    for (int e = threadIdx.x; e < order * order; e += block_threads) {
        const int column = e / order;
        const int row = e - column * order;
        if (lower ? row < column : row > column)
            continue;
        T *const target = c + row + static_cast<int64_t>(column) * C.ld;
        *target = updated(beta, target, product[row + column * width], row == column);
    }
}

template <class T, class R>
int launch_add_triangles(void *stream, batchlas_uplo_t uplo, int n, int width, operand_t products,
                         double beta, operand_t C, int64_t count) {
    const int blocks = (n - 1) / width + 1;
    return launch(stream, count * blocks, dim3(block_threads), add_triangles<T, R>,
                  uplo == BATCHLAS_LOWER, n, width, blocks, products, static_cast<R>(beta), C);
}

// ---- diagonals ---------------------------------------------------------------------------------

// blockDim.x lanes, a power of two of at most a warp, walk one item's diagonal.
template <class T>
__global__ void __launch_bounds__(block_threads)
    walk_diagonal(int n, operand_t A, const int *vendor_info, int info_base, int *info,
                  int64_t count) {
    const int64_t item = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    int failed = INT_MAX; // the first pivot that is not positive, from 1
    if (item < count) {
        T *const a = item_of<T>(A, item);
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            T *const pivot = a + j + static_cast<int64_t>(j) * A.ld;
            if (info && !(real_part(*pivot) > 0))
                failed = min(failed, j + 1);
            make_real(pivot);
        }
    }
    if (!info)
        return;
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2)
        failed = min(failed, __shfl_xor_sync(0xffffffffu, failed, distance));
    if (threadIdx.x != 0 || item >= count || (info_base > 0 && info[item] != 0))
        return;
    if (vendor_info[item] > 0)
        failed = min(failed, vendor_info[item]);
    if (failed != INT_MAX)
        info[item] = info_base + failed;
    else if (info_base == 0)
        info[item] = 0;
}

template <class T>
int walk_diagonals(void *stream, int n, operand_t A, const int *vendor_info, int info_base,
                   int *info, int64_t count) {
    const unsigned lanes = lanes_for(n, warp_lanes);
    const dim3 block(lanes, block_threads / lanes);
    return launch(stream, blocks_for(count, block.y), block, walk_diagonal<T>, n, A, vendor_info,
                  info_base, info, count);
}

} // namespace

int batchlas_vendor_pointers(void *stream, scalar_type_t type, operand_t operand, int64_t step,
                             int blocks, const int *skip, void *instead, int64_t count,
                             void **pointers) {
    return launch(stream, blocks_for(count * blocks, block_threads), dim3(block_threads),
                  make_pointers, operand, static_cast<int64_t>(scalar_size(type)), step, blocks,
                  skip, instead, count, pointers);
}

int batchlas_vendor_save_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t A, int64_t count, void *packed) {
    return move_triangles<direction::save>(stream, type, uplo, n, A, count, packed);
}

int batchlas_vendor_restore_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                     operand_t A, int64_t count, const void *packed) {
    return move_triangles<direction::restore>(stream, type, uplo, n, A, count,
                                              const_cast<void *>(packed));
}

int batchlas_vendor_copy_triangle(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  operand_t from, operand_t to, int64_t count) {
    const triangle_t above(uplo, n + 1);
    switch (scalar_size(type)) {
    case 4:
        return launch_lines(stream, above, count, copy_triangle<float>, from, to, count);
    case 8:
        return launch_lines(stream, above, count, copy_triangle<float2>, from, to, count);
    default:
        return launch_lines(stream, above, count, copy_triangle<double2>, from, to, count);
    }
}

int batchlas_vendor_add_triangles(void *stream, scalar_type_t type, batchlas_uplo_t uplo, int n,
                                  int width, operand_t products, double beta, operand_t C,
                                  int64_t count) {
    switch (type) {
    case TYPE_S:
        return launch_add_triangles<float, float>(stream, uplo, n, width, products, beta, C, count);
    case TYPE_D:
        return launch_add_triangles<double, double>(stream, uplo, n, width, products, beta, C,
                                                    count);
    case TYPE_C:
        return launch_add_triangles<complex_of<float>, float>(stream, uplo, n, width, products,
                                                              beta, C, count);
    default:
        return launch_add_triangles<complex_of<double>, double>(stream, uplo, n, width, products,
                                                                beta, C, count);
    }
}

int batchlas_vendor_real_diagonal(void *stream, scalar_type_t type, int n, operand_t A,
                                  int64_t count) {
    return batchlas_vendor_settle(stream, type, n, A, nullptr, 0, nullptr, count);
}

int batchlas_vendor_settle(void *stream, scalar_type_t type, int n, operand_t factor,
                           const int *vendor_info, int info_base, int *info, int64_t count) {
    if (!info && !scalar_is_complex(type))
        return cudaSuccess;
    switch (type) {
    case TYPE_S:
        return walk_diagonals<float>(stream, n, factor, vendor_info, info_base, info, count);
    case TYPE_D:
        return walk_diagonals<double>(stream, n, factor, vendor_info, info_base, info, count);
    case TYPE_C:
        return walk_diagonals<complex_of<float>>(stream, n, factor, vendor_info, info_base, info,
                                                 count);
    default:
        return walk_diagonals<complex_of<double>>(stream, n, factor, vendor_info, info_base, info,
                                                  count);
    }
}
