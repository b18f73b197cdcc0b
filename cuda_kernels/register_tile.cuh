/* SPDX-License-Identifier: BSD-3-Clause */
/* C := alpha op(A) op(B) + beta C, one tile of C a block: the common part of gemm, syrk and herk.
 * Asynchronous copies bring slices of op(A) and op(B) into shared memory some steps ahead, always
 * with k as the slow index: what memory has the other way round is turned on the way. Each warp
 * keeps a part of C in registers, as sums of its threads (single precision) or of the tensor cores
 * (double). Whatever the shape of the tile, an element's terms are added in the same order. */
#ifndef BATCHLAS_REGISTER_TILE_CUH
#define BATCHLAS_REGISTER_TILE_CUH

#include "device.cuh"

#include <type_traits>

namespace batchlas_device {

struct tile_shape {
    int rows, columns;           // of C, a block
    int warp_rows, warp_columns; // and a warp
    int blocks;                  // that an SM should hold, which bounds the registers
    int cost;                    // of an element whose warp multiplies, the type's first being 100
};

/* What an element of the block's costs besides, be it inside C or not: its share in the copies. */
constexpr int copy_cost = 40;

/* The shapes there are, the depth of a step, the steps that lie in shared memory, and what of a
 * step threads that multiply have unrolled. The depth belongs to the type, not to the shape: zeros
 * that fill up the last step are terms, too. */
template <class T> struct tiling;
template <> struct tiling<float> {
    static constexpr int depth = 16, stages = 3, unrolled = 16;
    static constexpr tile_shape shapes[] = {
        {128, 64, 64, 32, 4, 100},
        {64, 64, 64, 32, 8, 114},
        {32, 32, 32, 32, 16, 116},
    };
};
template <> struct tiling<double> {
    static constexpr int depth = 8, stages = 4;
    static constexpr tile_shape shapes[] = {
        {128, 64, 32, 32, 2, 100},
        {64, 64, 32, 32, 4, 101},
        {32, 32, 32, 32, 12, 143},
    };
};
template <> struct tiling<complex_of<float>> {
    static constexpr int depth = 8, stages = 4, unrolled = 2;
    static constexpr tile_shape shapes[] = {
        {64, 64, 64, 16, 4, 100},
        {32, 32, 32, 32, 16, 144},
    };
};
template <> struct tiling<complex_of<double>> {
    static constexpr int depth = 8, stages = 4;
    static constexpr tile_shape shapes[] = {
        {64, 64, 32, 32, 2, 100},
        {32, 32, 16, 16, 4, 107},
    };
};

/* op(X)(row, k) = x[row * row_step + k * k_step], conjugated or not; one of the steps is 1, and
 * neighbours along it lie next to each other in memory. */
template <class T> struct factor_view {
    const T *x;
    int row_step;
    int k_step;
    bool conjugated;
    int rows;
};

/* Which elements of C a block may touch. */
enum class part { whole, lower, upper };

// ---- slices of a factor in shared memory --------------------------------------------------------

template <class T> constexpr bool on_tensor_cores = sizeof(real_of<T>) == 8;

/* What lies in shared memory: scalars, for threads that multiply; for tensor cores, which take
 * doubles alone, real and imaginary parts in planes of their own. */
template <class T> struct staged {
    using element = T;
};
template <> struct staged<complex_of<double>> {
    using element = double;
};
template <class T> using element_of = typename staged<T>::element;
template <class T> constexpr int planes = sizeof(T) / sizeof(element_of<T>);

/* The row of a factor's slice that lies at a place of its shared memory. Where threads multiply,
 * rows that one thread takes by sixteen bytes lie eight apart in C, so that eight neighbouring
 * threads write C by whole sectors, however it is aligned. */
template <class T> __device__ constexpr int row_at(int place) {
    constexpr int length = granule<T>::length, group = 8 * length;
    return on_tensor_cores<T> ? place
                              : place / group * group + place % length * 8 + place / length % 8;
}

/* Where k runs fastest in memory, a warp copies eight steps of k of four places at a time, at least
 * a sector of each row. Lanes whose 128 bytes shared memory takes together meet no bank twice: they
 * have `deep` steps of k of `wide` places, and a place's next k is `wide` banks on. */
template <class T> struct turned_patch {
    static constexpr int depth = 8, places = 4;
    static constexpr int deep = sizeof(element_of<T>) == 4 ? 8 : 4;
    static constexpr int wide = 128 / static_cast<int>(sizeof(element_of<T>)) / deep;

    __device__ __forceinline__ static int k(int lane) {
        return lane % deep + lane / (deep * wide) * deep;
    }
    __device__ __forceinline__ static int place(int lane) {
        return lane / deep % wide;
    }
};

template <class T, int size> struct alignas(16) slice {
    static_assert(size * sizeof(element_of<T>) % 128 == 0, "the padding alone decides the banks");
    static constexpr int stride = size + turned_patch<T>::wide;
    element_of<T> at[planes<T>][tiling<T>::depth][stride];
};

/* A thread's share of copying one factor's slices, one after the other. */
template <class T, int size, int warps> class supply {
    using patch = turned_patch<T>;
    static constexpr int depth = tiling<T>::depth;
    static constexpr int threads = warps * warp_lanes;
    static constexpr int count = size * depth / threads;
    static_assert(threads % size == 0 && size % (warps * patch::places) == 0 &&
                      depth % patch::depth == 0,
                  "every thread has as much to copy");

    const T *from; // its first element of the next slice
    int ld;
    bool turned;
    int offset;     // of that element in a slice
    int rows, left; // of the factor's rows and of its k, from there on

    /* How far element i of the share is from the first. */
    __device__ __forceinline__ static constexpr int places_on(int i) {
        return i / (depth / patch::depth) * (warps * patch::places);
    }
    __device__ __forceinline__ static constexpr int turned_k_on(int i) {
        return i % (depth / patch::depth) * patch::depth;
    }
    __device__ __forceinline__ static constexpr int k_on(int i) {
        return i * (threads / size);
    }

    __device__ __forceinline__ static void begin_element(element_of<T> *shared, const T *x,
                                                         bool there) {
#pragma unroll
        for (int p = 0; p < planes<T>; ++p)
            begin_copy_or_zero(shared + p * depth * slice<T, size>::stride,
                               reinterpret_cast<const element_of<T> *>(x) + p, there);
    }

  public:
    __device__ __forceinline__ supply(const factor_view<T> &of, int first_row, int all) {
        const int thread = static_cast<int>(threadIdx.x);
        const int lane = thread % warp_lanes;
        turned = of.k_step == 1;
        ld = turned ? of.row_step : of.k_step;
        const int place =
            turned ? patch::place(lane) + thread / warp_lanes * patch::places : thread % size;
        const int k = turned ? patch::k(lane) : thread / size;
        const int row = first_row + row_at<T>(place);
        offset = k * slice<T, size>::stride + place;
        rows = of.rows - row;
        left = all - k;
        from = of.x + static_cast<int64_t>(row) * of.row_step + static_cast<int64_t>(k) * of.k_step;
    }

    /* Begins to copy the next slice; what lies beyond the factor is zero. */
    __device__ __forceinline__ void begin(slice<T, size> &to) {
        element_of<T> *const shared = &to.at[0][0][0] + offset;
        if (turned) {
#pragma unroll
            for (int i = 0; i < count; ++i)
                begin_element(shared + turned_k_on(i) * slice<T, size>::stride + places_on(i),
                              from + turned_k_on(i) +
                                  static_cast<int64_t>(ld) * row_at<T>(places_on(i)),
                              row_at<T>(places_on(i)) < rows && turned_k_on(i) < left);
            from += depth;
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i)
                begin_element(shared + k_on(i) * slice<T, size>::stride,
                              from + static_cast<int64_t>(ld) * k_on(i),
                              rows > 0 && k_on(i) < left);
            from += static_cast<int64_t>(ld) * depth;
        }
        left -= depth;
    }
};

// ---- a warp's sums ------------------------------------------------------------------------------

/* a conj(b), or a b, added to c. */
template <bool mixed, class R> __device__ __forceinline__ R plus_term(R c, R a, R b) {
    return plus_product(c, a, b);
}
template <bool mixed, class R>
__device__ __forceinline__ complex_of<R> plus_term(complex_of<R> c, complex_of<R> a,
                                                   complex_of<R> b) {
    return plus_product(c, a, mixed ? conjugate(b) : b);
}

/* A warp's rows x columns as 8 x 4 threads have them, sixteen bytes of each factor at a time. Lanes
 * are numbered so that of 16 that follow each other every pair shares its rows, and one of two
 * pairs its columns: shared memory then serves such 16 at once. */
template <class T, int rows, int columns> struct thread_sums {
    static constexpr int length = granule<T>::length;
    static constexpr int down = rows / 8, right = columns / 4;
    static constexpr int unrolled = tiling<T>::unrolled;
    static_assert(down % length == 0 && right % length == 0, "whole granules");
    T sums[down][right] = {};

    __device__ __forceinline__ static int lane_row() {
        return static_cast<int>(threadIdx.x) / 2 % 8;
    }
    __device__ __forceinline__ static int lane_column() {
        const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
        return lane % 2 + lane / 16 * 2;
    }
    /* How far an element is from the lane's first. */
    __device__ __forceinline__ static constexpr int row(int r) {
        return row_at<T>(r / length * length * 8 + r % length);
    }
    __device__ __forceinline__ static constexpr int column(int c) {
        return row_at<T>(c / length * length * 4 + c % length);
    }
    __device__ __forceinline__ T at(int r, int c) const {
        return sums[r][c];
    }
    __device__ __forceinline__ void conjugate() {
#pragma unroll
        for (int r = 0; r < down; ++r)
#pragma unroll
            for (int c = 0; c < right; ++c)
                sums[r][c] = batchlas_device::conjugate(sums[r][c]);
    }

    template <bool mixed, int a_size, int b_size>
    __device__ __forceinline__ void add(const slice<T, a_size> &a, int first_row,
                                        const slice<T, b_size> &b, int first_column) {
#pragma unroll unrolled
        for (int k = 0; k < tiling<T>::depth; ++k) {
            T left[down], right_side[right];
#pragma unroll
            for (int r = 0; r < down; r += length)
                *reinterpret_cast<granule<T> *>(&left[r]) = *reinterpret_cast<const granule<T> *>(
                    &a.at[0][k][first_row + r * 8 + lane_row() * length]);
#pragma unroll
            for (int c = 0; c < right; c += length)
                *reinterpret_cast<granule<T> *>(&right_side[c]) =
                    *reinterpret_cast<const granule<T> *>(
                        &b.at[0][k][first_column + c * 4 + lane_column() * length]);
#pragma unroll
            for (int r = 0; r < down; ++r)
#pragma unroll
                for (int c = 0; c < right; ++c)
                    sums[r][c] = plus_term<mixed>(sums[r][c], left[r], right_side[c]);
        }
    }
};

/* c += a b^T, or a b^H, of 16 x 8 tiles as plus_product_16x8x8 has them, plane by plane. */
template <bool mixed>
__device__ __forceinline__ void add_product(double (&c)[1][4], const double (&a)[1][4],
                                            const double (&b)[1][2]) {
    plus_product_16x8x8(c[0], a[0], b[0], c[0]);
}
template <bool mixed>
__device__ __forceinline__ void add_product(double (&c)[2][4], const double (&a)[2][4],
                                            const double (&b)[2][2]) {
    const double minus_b_im[2] = {-b[1][0], -b[1][1]};
    plus_product_16x8x8(c[0], a[0], b[0], c[0]);
    plus_product_16x8x8(c[1], a[1], b[0], c[1]);
    plus_product_16x8x8(c[0], a[1], mixed ? b[1] : minus_b_im, c[0]);
    plus_product_16x8x8(c[1], a[0], mixed ? minus_b_im : b[1], c[1]);
}

/* The same as the tensor cores have it, in tiles of 16 x 8. A lane's rows are eight apart, its
 * columns come in pairs. */
template <class T, int rows, int columns> struct tensor_sums {
    static constexpr int down = rows / 8, right = columns / 4;
    double tiles[down / 2][right / 2][planes<T>][4] = {};

    __device__ __forceinline__ static int lane_row() {
        return static_cast<int>(threadIdx.x) % warp_lanes / 4;
    }
    __device__ __forceinline__ static int lane_column() {
        return static_cast<int>(threadIdx.x) % 4 * 2;
    }
    __device__ __forceinline__ static constexpr int row(int r) {
        return 8 * r;
    }
    __device__ __forceinline__ static constexpr int column(int c) {
        return c / 2 * 8 + c % 2;
    }
    __device__ __forceinline__ T at(int r, int c) const {
        const auto &tile = tiles[r / 2][c / 2];
        const int e = r % 2 * 2 + c % 2;
        if constexpr (planes<T> == 2)
            return {tile[0][e], tile[1][e]};
        else
            return tile[0][e];
    }
    __device__ __forceinline__ void conjugate() {
#pragma unroll
        for (auto &row_of_tiles : tiles)
#pragma unroll
            for (auto &tile : row_of_tiles)
#pragma unroll
                for (double &im : tile[planes<T> - 1])
                    im = -im;
    }

    template <bool mixed, int a_size, int b_size>
    __device__ __forceinline__ void add(const slice<T, a_size> &a, int first_row,
                                        const slice<T, b_size> &b, int first_column) {
        const int i = lane_row(), j = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
        for (int k = 0; k < tiling<T>::depth; k += 8) {
            double left[down / 2][planes<T>][4];
#pragma unroll
            for (int r = 0; r < down / 2; ++r)
#pragma unroll
                for (int p = 0; p < planes<T>; ++p)
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        left[r][p][e] =
                            a.at[p][k + e / 2 * 4 + j][first_row + 16 * r + e % 2 * 8 + i];
#pragma unroll
            for (int c = 0; c < right / 2; ++c) {
                double some[planes<T>][2];
#pragma unroll
                for (int p = 0; p < planes<T>; ++p)
#pragma unroll
                    for (int e = 0; e < 2; ++e)
                        some[p][e] = b.at[p][k + e * 4 + j][first_column + 8 * c + i];
#pragma unroll
                for (int r = 0; r < down / 2; ++r)
                    add_product<mixed>(tiles[r][c], left[r], some);
            }
        }
    }
};

// ---- a block's tile -----------------------------------------------------------------------------

template <class T, int which> struct register_tile {
    using scalar = T;
    static constexpr tile_shape shape = tiling<T>::shapes[which];
    static constexpr int down = shape.rows / shape.warp_rows;
    static constexpr int warps = down * (shape.columns / shape.warp_columns);
    static constexpr int threads = warps * warp_lanes;
    static constexpr int stages = tiling<T>::stages;
    using sums_of_warp =
        std::conditional_t<on_tensor_cores<T>, tensor_sums<T, shape.warp_rows, shape.warp_columns>,
                           thread_sums<T, shape.warp_rows, shape.warp_columns>>;

    struct stage {
        slice<T, shape.rows> a;
        slice<T, shape.columns> b;
    };
    static constexpr size_t shared_bytes = stages * sizeof(stage);

    /* Rows `from` to `to` of a column of C that may be touched. */
    struct span {
        int from, to;
        __device__ __forceinline__ bool have(int row) const {
            return row >= from && row < to;
        }
    };
    __device__ __forceinline__ static span rows_of_column(int column, int rows, int columns,
                                                          part wanted) {
        if (column >= columns)
            return {0, 0};
        return {wanted == part::lower ? column : 0, wanted == part::upper ? column + 1 : rows};
    }

    /* Has the L2 cache fetch the warp's part of C, of which so many rows and columns are left. */
    __device__ __forceinline__ static void fetch_part(const T *c, int64_t ld, int rows,
                                                      int columns) {
        constexpr int line = 128 / static_cast<int>(sizeof(T));
        constexpr int lines = shape.warp_rows / line; // of a column
        static_assert(shape.warp_rows % line == 0, "whole lines of the cache");
        for (int i = static_cast<int>(threadIdx.x) % warp_lanes; i < lines * shape.warp_columns;
             i += warp_lanes) {
            const int row = i % lines * line, column = i / lines;
            if (row < rows && column < columns)
                fetch_early(c + row + column * ld);
        }
    }

    /* The tile of C whose first element is (first_row, first_column). `b` is op(B)^T: its rows are
     * C's columns. With beta == 0 C is not read. A triangle takes real scalars, and its diagonal is
     * left real. */
    template <bool triangle>
    __device__ __forceinline__ static void
    run(const factor_view<T> &a, const factor_view<T> &b, int depth, T alpha, T beta,
        const operand_t &c, int64_t item, int first_row, int first_column, part wanted) {
        stage *const shared = dynamic_shared<stage>();
        const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
        const int warp_row = warp % down * shape.warp_rows;
        const int warp_column = warp / down * shape.warp_columns;
        const int row = first_row + warp_row, column = first_column + warp_column;
        const bool works =
            row < a.rows && column < b.rows &&
            (wanted == part::whole || (wanted == part::lower ? row + shape.warp_rows > column
                                                             : column + shape.warp_columns > row));
        // conj(x) y is the conjugate of x conj(y).
        const bool mixed = a.conjugated != b.conjugated;
        const bool reads = !is_zero(beta);
        if (reads && works)
            fetch_part(item_of<T>(c, item) + row + column * static_cast<int64_t>(c.ld), c.ld,
                       a.rows - row, b.rows - column);

        sums_of_warp sums;
        supply<T, shape.rows, warps> coming_a(a, first_row, depth);
        supply<T, shape.columns, warps> coming_b(b, first_column, depth);
        const int steps = (depth - 1) / tiling<T>::depth + (depth > 0);
        const auto begin = [&](int step) {
            if (step < steps) {
                coming_a.begin(shared[step % stages].a);
                coming_b.begin(shared[step % stages].b);
            }
            end_group();
        };
#pragma unroll 1
        for (int step = 0; step < stages - 1; ++step)
            begin(step);
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            groups_arrive(stages - 2);
            block_barrier<warps>(); // also before the slice of the last step is overwritten
            begin(step + stages - 1);
            if (!works)
                continue;
            const stage &now = shared[step % stages];
            if (scalar_of<T>::is_complex && mixed)
                sums.template add<true>(now.a, warp_row, now.b, warp_column);
            else
                sums.template add<false>(now.a, warp_row, now.b, warp_column);
        }
        if (!works)
            return;
        if (scalar_of<T>::is_complex && a.conjugated)
            sums.conjugate();

        const int own_row = row + sums_of_warp::lane_row();
        const int own_column = column + sums_of_warp::lane_column();
        T *const first_of_c = item_of<T>(c, item) + own_row;
        // Columns whose loads do not wait for each other; more, and registers run out.
        constexpr int together = 64 / static_cast<int>(sizeof(T)) / sums_of_warp::down;
#pragma unroll
        for (int first = 0; first < sums_of_warp::right; first += together) {
            T *at[together], old[together][sums_of_warp::down];
            span rows[together];
#pragma unroll
            for (int j = 0; j < together; ++j) {
                const int at_column = own_column + sums.column(first + j);
                rows[j] = rows_of_column(at_column, a.rows, b.rows, wanted);
                at[j] = forget_global(first_of_c + at_column * static_cast<int64_t>(c.ld));
#pragma unroll
                for (int i = 0; i < sums_of_warp::down; ++i) {
                    old[j][i] = T{};
                    if (reads && rows[j].have(own_row + sums.row(i)))
                        old[j][i] = at[j][sums.row(i)];
                }
            }
#pragma unroll
            for (int j = 0; j < together; ++j)
#pragma unroll
                for (int i = 0; i < sums_of_warp::down; ++i) {
                    const int at_row = own_row + sums.row(i);
                    if (!rows[j].have(at_row))
                        continue;
                    const T sum = sums.at(i, first + j);
                    T value;
                    if (!triangle) {
                        value = product(alpha, sum);
                        if (reads)
                            value = plus_product(value, beta, old[j][i]);
                    } else {
                        // Real scalars touch each part alone, and a diagonal is real before and
                        // after.
                        value = scaled(real_part(alpha), sum);
                        if (reads)
                            value = plus_scaled(value, real_part(beta), old[j][i]);
                        if (at_row == own_column + sums.column(first + j))
                            value = from_real<T>(real_part(value));
                    }
                    at[j][sums.row(i)] = value;
                }
        }
    }
};

/* The shape whose blocks take the least time, if each multiprocessor works off its share of them.
 * `tiles(rows, columns)` says how many of this size there are to make. */
template <class T, class Count> int cheapest_shape(int multiprocessors, Count tiles) {
    int best = 0;
    double least = INFINITY;
    int which = 0;
    for (const tile_shape &shape : tiling<T>::shapes) {
        const double blocks = tiles(shape.rows, shape.columns);
        const double warps = tiles(shape.warp_rows, shape.warp_columns) / blocks; // that multiply
        const double time = ceil(blocks / multiprocessors) *
                            (shape.rows * shape.columns * copy_cost +
                             warps * shape.warp_rows * shape.warp_columns * shape.cost);
        if (time < least) {
            least = time;
            best = which;
        }
        ++which;
    }
    return best;
}

/* call(register_tile<T, which>{}) */
template <class T, int first = 0, class Call> int with_tile(int which, Call call) {
    if constexpr (first + 1 < sizeof tiling<T>::shapes / sizeof(tile_shape)) {
        if (which != first)
            return with_tile<T, first + 1>(which, call);
    }
    return call(register_tile<T, first>{});
}

} // namespace batchlas_device

#endif
