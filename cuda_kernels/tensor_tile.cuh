/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of 16 rows and 8 columns as the tensor cores multiply them, and the panels of 8 columns in
 * shared memory that their factors come from. */
#ifndef BATCHLAS_TENSOR_TILE_CUH
#define BATCHLAS_TENSOR_TILE_CUH

#include "device.cuh"

namespace batchlas_device {

constexpr int tile_rows = 16;
constexpr int tile_columns = 8;

// ---- panels in shared memory --------------------------------------------------------------------

/* Columns of the lower triangle, of which that many consecutive rows. The padding lets lanes that
 * access eight columns of a few rows at a time, or every second column of twice as many, meet no
 * bank twice. */
template <class T, int rows> struct alignas(16) staged_panel {
    static constexpr int stride = rows + granule<T>::length;
    T at[tile_columns][stride];
};

template <class T, bool upper> struct triangle_of {
    T *item;
    int64_t ld;

    __device__ __forceinline__ T *at(int row, int column) const {
        return upper ? item + column + row * ld : item + row + column * ld;
    }
};

/* Begins to copy the panel whose first element is `from`: its rows from `skipped` to `there`, which
 * are all its matrix has, and the first of its columns; a warp does. */
template <class T, int rows, bool upper>
__device__ __forceinline__ void begin_panel(staged_panel<T, rows> &to, const T *from, int64_t ld,
                                            int skipped, int there, int columns) {
    constexpr int stride = staged_panel<T, rows>::stride;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    if constexpr (upper) {
        constexpr int together = warp_lanes / tile_columns; // rows
        const int k = lane % tile_columns;
        int i = skipped + lane / tile_columns;
        T *shared = &to.at[k][i];
        from += k + i * ld;
        const int64_t down = together * ld;
        const bool whole = skipped == 0 && there >= rows && columns == tile_columns;
        if (whole) {
#pragma unroll
            for (int r = 0; r < rows; r += together, shared += together, from += down)
                begin_copy(shared, from);
        } else if (k < columns) {
#pragma unroll 1
            for (; i < there; i += together, shared += together, from += down)
                begin_copy(shared, from);
        }
    } else {
        T *shared = &to.at[0][lane];
        from += lane;
        const auto column = [&] {
#pragma unroll
            for (int r = 0; r < rows; r += warp_lanes)
                if (lane + r >= skipped && lane + r < there)
                    begin_copy(shared + r, from + r);
            shared += stride;
            from += ld;
        };
        if (columns == tile_columns) {
#pragma unroll
            for (int k = 0; k < tile_columns; ++k)
                column();
        } else {
#pragma unroll 1
            for (int k = 0; k < columns; ++k)
                column();
        }
    }
}

/* Zeroes the rows from `there` on, which no copy fills. */
template <class T, int rows, int count>
__device__ __forceinline__ void clear_rows(staged_panel<T, rows> (&panels)[count], int there) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
#pragma unroll 1
    for (int i = there + lane; i < rows; i += warp_lanes)
#pragma unroll
        for (int p = 0; p < count; ++p)
#pragma unroll
            for (int k = 0; k < tile_columns; ++k)
                panels[p].at[k][i] = T{};
}

/* The staged part of an upper triangle's panel goes back to memory, rows `from` to `to` of it, 8
 * columns of a few rows at a time; below the diagonal alone, which begins at row `diagonal`. */
template <class T, int rows>
__device__ __forceinline__ void store_transposed(const triangle_of<T, true> &a, int row, int column,
                                                 const staged_panel<T, rows> &staged, int from,
                                                 int to, int diagonal) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int k = lane % tile_columns;
#pragma unroll 4
    for (int i = from + lane / tile_columns; i < to; i += warp_lanes / tile_columns)
        if (i - diagonal >= k)
            *a.at(row + i, column + k) = staged.at[k][i];
}

// ---- products -----------------------------------------------------------------------------------

/* A lane's part of a 16 x 8 tile, as plus_product_16x8x8 has it. */
template <class T> struct product_tile {
    T part[4];

    __device__ __forceinline__ T at(int e) const {
        return part[e];
    }
    __device__ __forceinline__ void set(int e, T value) {
        part[e] = value;
    }
};
template <class R> struct product_tile<complex_of<R>> {
    R re[4], im[4];

    __device__ __forceinline__ complex_of<R> at(int e) const {
        return {re[e], im[e]};
    }
    __device__ __forceinline__ void set(int e, complex_of<R> value) {
        re[e] = value.re;
        im[e] = value.im;
    }
};

/* The row and the column of a tile that element e of a lane's part is. */
__device__ __forceinline__ int row_of_part(int lane, int e) {
    return lane / 4 + e / 2 * 8;
}
__device__ __forceinline__ int column_of_part(int lane, int e) {
    return lane % 4 * 2 + e % 2;
}

/* What a lane gives of a factor: some of its elements. */
template <class T, int count> struct product_factor {
    tensor_factor<T> part[count];

    __device__ __forceinline__ void set(int e, T value) {
        part[e] = for_tensor_core(value);
    }
};
template <class R, int count> struct product_factor<complex_of<R>, count> {
    tensor_factor<R> re[count], im[count];

    __device__ __forceinline__ void set(int e, complex_of<R> value) {
        re[e] = for_tensor_core(value.re);
        im[e] = for_tensor_core(value.im);
    }
};

/* c + a b^T, or c + a b^H */
template <bool conjugated, class R>
__device__ __forceinline__ product_tile<R> plus_tile_product(const product_tile<R> &c,
                                                             const product_factor<R, 4> &a,
                                                             const product_factor<R, 2> &b) {
    product_tile<R> d;
    plus_product_16x8x8(d.part, a.part, b.part, c.part);
    return d;
}
template <bool conjugated, class R>
__device__ __forceinline__ product_tile<complex_of<R>>
plus_tile_product(const product_tile<complex_of<R>> &c, const product_factor<complex_of<R>, 4> &a,
                  const product_factor<complex_of<R>, 2> &b) {
    const tensor_factor<R> minus_b_im[2] = {negative(b.im[0]), negative(b.im[1])};
    product_tile<complex_of<R>> d;
    plus_product_16x8x8(d.re, a.re, b.re, c.re);
    plus_product_16x8x8(d.im, a.im, b.re, c.im);
    plus_product_16x8x8(d.re, a.im, conjugated ? b.im : minus_b_im, d.re);
    plus_product_16x8x8(d.im, a.re, conjugated ? minus_b_im : b.im, d.im);
    return d;
}

/* The factors of products with a panel: 16 of its rows from `first` on, each half of them scaled or
 * not, and 8. Which of its columns count as k and k + 4 does not matter: these meet no bank twice.
 */
template <class T, int rows, class Change>
__device__ __forceinline__ product_factor<T, 4> rows_of(const staged_panel<T, rows> &staged,
                                                        int first, Change change) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    product_factor<T, 4> factor;
#pragma unroll
    for (int e = 0; e < 4; ++e)
        factor.set(e, change(e % 2, staged.at[lane % 4 * 2 + e / 2][first + e % 2 * 8 + lane / 4]));
    return factor;
}
template <class T, int rows>
__device__ __forceinline__ product_factor<T, 4> rows_of(const staged_panel<T, rows> &staged,
                                                        int first) {
    return rows_of(staged, first, [](int, T element) { return element; });
}
template <class T, int rows>
__device__ __forceinline__ product_factor<T, 2> columns_of(const staged_panel<T, rows> &staged,
                                                           int first) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    product_factor<T, 2> factor;
#pragma unroll
    for (int e = 0; e < 2; ++e)
        factor.set(e, staged.at[lane % 4 * 2 + e][first + lane / 4]);
    return factor;
}

// ---- floats out of the tensor cores' range -----------------------------------------------------
// Of a float below 2^-110 the tensor cores do not know all bits, for they know none below 2^-136.
// Where a row's part of a panel is as small throughout, it is scaled for the products.

template <class T> constexpr bool has_small_range = sizeof(real_of<T>) == 4;

template <class R> __device__ __forceinline__ bool is_tiny(R a) {
    return a != 0 && fabs(a) < R(0x1p-110);
}
template <class R> __device__ __forceinline__ bool is_tiny(complex_of<R> a) {
    return is_tiny(a.re) || is_tiny(a.im);
}
template <class R> __device__ __forceinline__ R larger(R size, R a) {
    return fmax(size, fabs(a));
}
template <class R> __device__ __forceinline__ R larger(R size, complex_of<R> a) {
    return larger(larger(size, a.re), a.im);
}
/* Makes the largest of some numbers one that the tensor cores know. */
template <class R> __device__ __forceinline__ R scale_for(R largest) {
    return largest < R(0x1p-40) ? R(0x1p+64) : R(1);
}

/* Some rows, and what undoes the scale of either half of them. */
template <class T> struct scaled_factor {
    product_factor<T, 4> rows;
    real_of<T> inverse[2];
};
template <class T, int rows>
__device__ __forceinline__ scaled_factor<T> scaled_rows_of(const staged_panel<T, rows> &staged,
                                                           int first) {
    using R = real_of<T>;
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    R scale[2];
    scaled_factor<T> factor;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        R largest = 0;
#pragma unroll
        for (int c = 0; c < tile_columns; ++c)
            largest = larger(largest, staged.at[c][first + 8 * half + lane / 4]);
        scale[half] = scale_for(largest);
        factor.inverse[half] = 1 / scale[half];
    }
    factor.rows =
        rows_of(staged, first, [&](int half, T element) { return scaled(scale[half], element); });
    return factor;
}

/* c + a, of which each lane scales the rows of either half. */
template <class R>
__device__ __forceinline__ product_tile<R>
plus_scaled_tile(const product_tile<R> &c, const R (&scale)[2], const product_tile<R> &a) {
    product_tile<R> d;
#pragma unroll
    for (int e = 0; e < 4; ++e)
        d.part[e] = fma(scale[e / 2], a.part[e], c.part[e]);
    return d;
}
template <class R>
__device__ __forceinline__ product_tile<complex_of<R>>
plus_scaled_tile(const product_tile<complex_of<R>> &c, const R (&scale)[2],
                 const product_tile<complex_of<R>> &a) {
    product_tile<complex_of<R>> d;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        d.re[e] = fma(scale[e / 2], a.re[e], c.re[e]);
        d.im[e] = fma(scale[e / 2], a.im[e], c.im[e]);
    }
    return d;
}

/* c + a b^T, or c + a b^H, of scaled rows a. */
template <bool conjugated, class T>
__device__ __forceinline__ product_tile<T> plus_scaled_product(const product_tile<T> &c,
                                                               const scaled_factor<T> &a,
                                                               const product_factor<T, 2> &b) {
    return plus_scaled_tile(c, a.inverse,
                            plus_tile_product<conjugated>(product_tile<T>{}, a.rows, b));
}

} // namespace batchlas_device

#endif
