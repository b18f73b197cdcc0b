/* SPDX-License-Identifier: BSD-3-Clause */
/* All that the CUDA kernels use beyond plain C++: barriers, shared memory, scalars, items of an
 * operand, exchange within a warp, asynchronous copies and the launch. What has no meaning but on a
 * GPU stands in the first section alone, so that the kernels run on tests/simulation's device too.
 */
#ifndef BATCHLAS_DEVICE_CUH
#define BATCHLAS_DEVICE_CUH

#include "problem.h"
#include "resident_capacity.h"

#include <cuda_runtime.h>
#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>
#endif

#include <math.h>

namespace batchlas_device {

/* A float as tensor cores multiply it: they know its first 11 bits alone (TF32), so it is the sum
 * of two parts. */
struct split_float {
    float high, low;
};

// ---- what differs between a GPU and its simulation ---------------------------------------------

#ifdef __CUDACC__

/* Of all threads of a block; where it is known to be of one warp, of this one. */
template <int warps = 0> __device__ __forceinline__ void block_barrier() {
    if constexpr (warps == 1)
        __syncwarp();
    else
        __syncthreads();
}
__device__ __forceinline__ void warp_barrier() {
    __syncwarp();
}
/* Of the lanes that share a matrix: some of a warp, or all of a block. */
template <int lanes> __device__ __forceinline__ void group_barrier() {
    if constexpr (lanes <= 32)
        __syncwarp();
    else
        __syncthreads();
}

/* The lanes of the warp for which it is so, as bits; a barrier of them. */
__device__ __forceinline__ unsigned lanes_where(bool so) {
    return __ballot_sync(0xffffffffu, so);
}

/* The block's object of this type: one for each type in a kernel. */
template <class T> __device__ __forceinline__ T &shared_object() {
    __shared__ T object;
    return object;
}
/* The shared memory that the launch gives, aligned to sixteen bytes. */
template <class T> __device__ __forceinline__ T *dynamic_shared() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T *>(bytes);
}

/* The same pointer, of which the compiler then knows that it leads to global memory. */
template <class T> __device__ __forceinline__ T *to_global_memory(T *pointer) {
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

/* The L2 cache fetches the 128 bytes around an address of global memory; nobody waits for them. */
template <class T> __device__ __forceinline__ void fetch_early(const T *global) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

/* Begins to copy one scalar; it has arrived after copies_arrive() of the same thread. The L2 cache
 * fetches its 128 bytes at once unless told otherwise: strided copies that come for the rest later
 * would otherwise open the same page of memory again. They pass through the L1 cache: past it, two
 * halves of a sector that part ways in shared memory would be fetched twice. */
template <bool whole_lines = true, class T>
__device__ __forceinline__ void begin_copy(T *shared, const T *global) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (whole_lines)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(global),
                     "n"(static_cast<int>(sizeof(T)))
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global),
                     "n"(static_cast<int>(sizeof(T)))
                     : "memory");
}
/* Sixteen bytes that the L1 cache does not keep. */
template <class T> __device__ __forceinline__ void begin_copy_past_l1(T *shared, const T *global) {
    static_assert(sizeof(T) == 16, "the L1 cache lets nothing else pass");
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
/* One scalar where there is something to copy; else the scalar becomes zero by then, and `global`
 * is not read. */
template <class T>
__device__ __forceinline__ void begin_copy_or_zero(T *shared, const T *global, bool there) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(global),
                 "n"(static_cast<int>(sizeof(T))), "r"(there ? static_cast<int>(sizeof(T)) : 0)
                 : "memory");
}
__device__ __forceinline__ void copies_arrive() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
/* Ends a group of the thread's copies, perhaps of none. */
__device__ __forceinline__ void end_group() {
    __pipeline_commit();
}
/* All groups of the thread have arrived but the last `open`, or the last 7 if `open` is more. */
template <int least = 0, int most = 8> __device__ __forceinline__ void groups_arrive(int open) {
    if constexpr (most - least == 1) {
        __pipeline_wait_prior(least);
    } else {
        constexpr int middle = (least + most) / 2;
        if (open >= middle)
            groups_arrive<middle, most>(open);
        else
            groups_arrive<least, middle>(open);
    }
}

/* What a warp tells, each of its lanes for itself, and others wait for, once in a block's life. It
 * lies in shared memory; one thread prepares it before a block_barrier. What comes before it in a
 * lane that tells comes before all that follows in the threads that waited. */
struct event {
    unsigned long long state;
};
__device__ __forceinline__ unsigned address_of(event &e) {
    return static_cast<unsigned>(__cvta_generic_to_shared(&e));
}
__device__ __forceinline__ void prepare(event &e) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address_of(e)) : "memory");
}
__device__ __forceinline__ void tell(event &e) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(e)) : "memory");
}
__device__ __forceinline__ void wait_for(event &e) {
    asm volatile("{\n"
                 ".reg .pred happened;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 happened, [%0], 0;\n"
                 "@!happened bra again;\n"
                 "}" ::"r"(address_of(e))
                 : "memory");
}

/* The same pointer to global memory, of which the compiler knows nothing else: addresses made from
 * it are computed where they are needed, an addition each, and take no registers before. */
template <class T> __device__ __forceinline__ T *forget_global(T *pointer) {
    asm volatile("" : "+l"(pointer));
    return to_global_memory(pointer);
}

/* d = c + a b^T in a warp, for 16 x 8 a, 8 x 8 b: of lane 4 i + j are a(i, j), a(i + 8, j),
 * a(i, j + 4), a(i + 8, j + 4), b(i, j), b(i, j + 4), and of c and d (i, 2 j), (i, 2 j + 1),
 * (i + 8, 2 j) and (i + 8, 2 j + 1). */
__device__ __forceinline__ void plus_product_16x8x8(double (&d)[4], const double (&a)[4],
                                                    const double (&b)[2], const double (&c)[4]) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %11, %12, %13};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]),
          "d"(c[2]), "d"(c[3]));
#else
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const double *const so_far[2] = {c, d};
#pragma unroll
        for (int k = 0; k < 2; ++k)
            asm volatile(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                : "=d"(d[2 * half]), "=d"(d[2 * half + 1])
                : "d"(a[2 * k + half]), "d"(b[k]), "d"(so_far[k][2 * half]),
                  "d"(so_far[k][2 * half + 1]));
    }
#endif
}

/* The same in single precision: of the parts' products all but the least, from the smaller to the
 * larger, and their sum, which tensor cores cut off rather than round, is added to c. */
__device__ __forceinline__ void plus_product_16x8x8(float (&d)[4], const split_float (&a)[4],
                                                    const split_float (&b)[2],
                                                    const float (&c)[4]) {
    float products[4] = {};
    const auto add = [&](const float split_float::*of_a, const float split_float::*of_b) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(products[0]), "+f"(products[1]), "+f"(products[2]), "+f"(products[3])
                     : "r"(__float_as_uint(a[0].*of_a)), "r"(__float_as_uint(a[1].*of_a)),
                       "r"(__float_as_uint(a[2].*of_a)), "r"(__float_as_uint(a[3].*of_a)),
                       "r"(__float_as_uint(b[0].*of_b)), "r"(__float_as_uint(b[1].*of_b)));
    };
    add(&split_float::low, &split_float::high);
    add(&split_float::high, &split_float::low);
    add(&split_float::high, &split_float::high);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        d[i] = c[i] + products[i];
}

/* About 1 / sqrt(d), to some 22 bits, for a positive normal d. */
__device__ __forceinline__ float rsqrt_estimate(float d) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
    return r;
}
__device__ __forceinline__ double rsqrt_estimate(double d) {
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    return r;
}

#else
using namespace simulation::primitives;
#endif

constexpr int warp_lanes = 32;
constexpr unsigned all_lanes = 0xffffffffu;

// ---- scalars -----------------------------------------------------------------------------------
// Products are spelled out as fused multiply-adds, so that every kernel and every host rounds
// alike.

template <class R> struct alignas(2 * sizeof(R)) complex_of {
    R re, im;
};

template <class T> struct scalar_of {
    using real = T;
    static constexpr bool is_complex = false;
};
template <class R> struct scalar_of<complex_of<R>> {
    using real = R;
    static constexpr bool is_complex = true;
};
template <class T> using real_of = typename scalar_of<T>::real;

template <class R> __device__ __forceinline__ R real_part(R a) {
    return a;
}
template <class R> __device__ __forceinline__ R real_part(complex_of<R> a) {
    return a.re;
}

template <class T> __device__ __forceinline__ T from_real(real_of<T> a) {
    if constexpr (scalar_of<T>::is_complex)
        return {a, 0};
    else
        return a;
}

/* What the host gives as a real and an imaginary part. */
template <class T> __device__ __forceinline__ T scalar_from(const double (&value)[2]) {
    using R = real_of<T>;
    if constexpr (scalar_of<T>::is_complex)
        return {static_cast<R>(value[0]), static_cast<R>(value[1])};
    else
        return static_cast<R>(value[0]);
}

template <class R> __device__ __forceinline__ R conjugate(R a) {
    return a;
}
template <class R> __device__ __forceinline__ complex_of<R> conjugate(complex_of<R> a) {
    return {a.re, -a.im};
}

/* r a */
template <class R> __device__ __forceinline__ R scaled(R r, R a) {
    return r * a;
}
template <class R> __device__ __forceinline__ complex_of<R> scaled(R r, complex_of<R> a) {
    return {r * a.re, r * a.im};
}

/* -a */
template <class R> __device__ __forceinline__ R negative(R a) {
    return -a;
}
template <class R> __device__ __forceinline__ complex_of<R> negative(complex_of<R> a) {
    return {-a.re, -a.im};
}

/* a + b */
template <class R> __device__ __forceinline__ R sum(R a, R b) {
    return a + b;
}
template <class R> __device__ __forceinline__ complex_of<R> sum(complex_of<R> a, complex_of<R> b) {
    return {a.re + b.re, a.im + b.im};
}

/* a - b */
template <class R> __device__ __forceinline__ R difference(R a, R b) {
    return a - b;
}
template <class R>
__device__ __forceinline__ complex_of<R> difference(complex_of<R> a, complex_of<R> b) {
    return {a.re - b.re, a.im - b.im};
}

/* c - a conj(b) */
template <class R> __device__ __forceinline__ R minus_product_conj(R c, R a, R b) {
    return fma(-a, b, c);
}
template <class R>
__device__ __forceinline__ complex_of<R> minus_product_conj(complex_of<R> c, complex_of<R> a,
                                                            complex_of<R> b) {
    return {fma(-a.im, b.im, fma(-a.re, b.re, c.re)), fma(-a.im, b.re, fma(a.re, b.im, c.im))};
}

/* c - a b */
template <class R> __device__ __forceinline__ R minus_product(R c, R a, R b) {
    return fma(-a, b, c);
}
template <class R>
__device__ __forceinline__ complex_of<R> minus_product(complex_of<R> c, complex_of<R> a,
                                                       complex_of<R> b) {
    return {fma(a.im, b.im, fma(-a.re, b.re, c.re)), fma(-a.im, b.re, fma(-a.re, b.im, c.im))};
}

/* c + a b */
template <class R> __device__ __forceinline__ R plus_product(R c, R a, R b) {
    return fma(a, b, c);
}
template <class R>
__device__ __forceinline__ complex_of<R> plus_product(complex_of<R> c, complex_of<R> a,
                                                      complex_of<R> b) {
    return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}

/* c + r a */
template <class R> __device__ __forceinline__ R plus_scaled(R c, R r, R a) {
    return fma(r, a, c);
}
template <class R>
__device__ __forceinline__ complex_of<R> plus_scaled(complex_of<R> c, R r, complex_of<R> a) {
    return {fma(r, a.re, c.re), fma(r, a.im, c.im)};
}

/* a b */
template <class R> __device__ __forceinline__ R product(R a, R b) {
    return a * b;
}
template <class R>
__device__ __forceinline__ complex_of<R> product(complex_of<R> a, complex_of<R> b) {
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
}

template <class R> __device__ __forceinline__ bool is_zero(R a) {
    return a == 0;
}
template <class R> __device__ __forceinline__ bool is_zero(complex_of<R> a) {
    return a.re == 0 && a.im == 0;
}

/* c - |a|^2 */
template <class R> __device__ __forceinline__ R minus_square(R c, R a) {
    return fma(-a, a, c);
}
template <class R> __device__ __forceinline__ R minus_square(R c, complex_of<R> a) {
    return fma(-a.im, a.im, fma(-a.re, a.re, c));
}

/* condition ? a : b, by components: a choice between whole complex numbers may end in memory. */
template <class R> __device__ __forceinline__ R choose(bool condition, R a, R b) {
    return condition ? a : b;
}
template <class R>
__device__ __forceinline__ complex_of<R> choose(bool condition, complex_of<R> a, complex_of<R> b) {
    return {condition ? a.re : b.re, condition ? a.im : b.im};
}

// ---- factors of tensor cores -------------------------------------------------------------------

/* The high part is rounded, and tensor cores cut the low one off. A NaN of nothing but ones, which
 * the GPU makes, loses its high part by that and is one in the low. */
__device__ __forceinline__ split_float for_tensor_core(float a) {
    const float high = __uint_as_float((__float_as_uint(a) + 0x1000u) & 0xffffe000u);
    return {high, a - high};
}
__device__ __forceinline__ double for_tensor_core(double a) {
    return a;
}
template <class R> using tensor_factor = decltype(for_tensor_core(R{}));

__device__ __forceinline__ split_float negative(split_float a) {
    return {-a.high, -a.low};
}

// ---- pivots ------------------------------------------------------------------------------------

template <class R> struct pivot {
    R root;    // sqrt(d), correctly rounded
    R inverse; // 1 / sqrt(d), within two units in the last place
};

/* Whether ordinary_pivot may be used: d is positive, finite, and large enough that its residual
 * d - sqrt(d)^2 is not denormal. */
__device__ __forceinline__ bool is_ordinary_pivot(float d) {
    return __float_as_uint(d) - 0x0d000000u < 0x72800000u; // 2^-101 <= d
}
__device__ __forceinline__ bool is_ordinary_pivot(double d) {
    return static_cast<unsigned>(__double2hiint(d)) - 0x03500000u < 0x7ca00000u; // 2^-970 <= d
}

/* One Newton step (float) or one step of third order (double) from the estimate, then one step for
 * the root, whose residual is exact (Markstein). */
__device__ __forceinline__ pivot<float> ordinary_pivot(float d) {
    const float estimate = rsqrt_estimate(d);
    const float root = d * estimate;
    const float half = 0.5f * estimate;
    return {fma(fma(-root, root, d), half, root), fma(fma(-root, estimate, 1.0f), half, estimate)};
}
__device__ __forceinline__ pivot<double> ordinary_pivot(double d) {
    const double estimate = rsqrt_estimate(d);
    const double error = fma(d, -(estimate * estimate), 1.0);
    const double inverse = fma(fma(error, 0.375, 0.5), estimate * error, estimate);
    const double root = d * inverse;
    return {fma(fma(-root, root, d), 0.5 * inverse, root), inverse};
}

template <class R> __device__ __forceinline__ pivot<R> scaled_pivot(R d, R up, R down) {
    const pivot<R> scaled_up = ordinary_pivot(d * up * up);
    return {scaled_up.root * down, scaled_up.inverse * up};
}

/* For every d: as LAPACK's sqrt and 1 / sqrt where d is positive, a root of NaN where it is not. */
__device__ __forceinline__ pivot<float> any_pivot(float d) {
    const bool small = d < 1e-20f;
    const pivot<float> p = scaled_pivot(d, small ? 0x1p+32f : 1.0f, small ? 0x1p-32f : 1.0f);
    return d > 0 ? (isinf(d) ? pivot<float>{d, 0.0f} : p) : pivot<float>{NAN, NAN};
}
__device__ __forceinline__ pivot<double> any_pivot(double d) {
    const bool small = d < 1e-200;
    const pivot<double> p = scaled_pivot(d, small ? 0x1p+256 : 1.0, small ? 0x1p-256 : 1.0);
    return d > 0 ? (isinf(d) ? pivot<double>{d, 0.0} : p) : pivot<double>{NAN, NAN};
}

// ---- items -------------------------------------------------------------------------------------

template <class T> __device__ __forceinline__ T *item_of(const operand_t &operand, int64_t i) {
    T *const first = operand.items ? static_cast<T *>(operand.items[i])
                                   : static_cast<T *>(operand.base) + i * operand.stride;
    return to_global_memory(first + operand.offset);
}

/* Sixteen bytes, the widest access to memory, as scalars. */
template <class T> struct alignas(16) granule {
    static constexpr int length = 16 / static_cast<int>(sizeof(T));
    T at[length];
};
/* Copies scalars, by granules where these are whole: then both sides begin where a granule may. */
template <int count, class T> __device__ __forceinline__ void copy_scalars(T *to, const T *from) {
    constexpr int length = granule<T>::length;
    if constexpr (count % length == 0) {
#pragma unroll
        for (int i = 0; i < count; i += length)
            *reinterpret_cast<granule<T> *>(to + i) =
                *reinterpret_cast<const granule<T> *>(from + i);
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            to[i] = from[i];
    }
}

// ---- exchange within a warp --------------------------------------------------------------------
// The lanes of a warp form groups of `lanes`, a power of two.

/* The value that lane `source` of the own group holds. */
template <int lanes, class R> __device__ __forceinline__ R from_lane(R value, int source) {
    return lanes == 1 ? value : __shfl_sync(all_lanes, value, source, lanes);
}
template <int lanes, class R>
__device__ __forceinline__ complex_of<R> from_lane(complex_of<R> value, int source) {
    return {from_lane<lanes>(value.re, source), from_lane<lanes>(value.im, source)};
}

/* The same for a pointer, from any lane of the warp. */
template <class T> __device__ __forceinline__ T *from_warp_lane(T *value, int source) {
    return reinterpret_cast<T *>(
        __shfl_sync(all_lanes, reinterpret_cast<unsigned long long>(value), source));
}

/* The sum over the own group, the same bits in each of its lanes. */
template <int lanes, class T> __device__ __forceinline__ T sum_of_lanes(T value) {
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        value = sum(value, from_lane<lanes>(value, static_cast<int>(threadIdx.x) % lanes ^ apart));
    return value;
}

// ---- launch ------------------------------------------------------------------------------------

/* call(T{}) for the scalar that `type` names. */
template <class Call> auto with_scalar(scalar_type_t type, Call call) {
    switch (type) {
    case TYPE_S:
        return call(float{});
    case TYPE_D:
        return call(double{});
    case TYPE_C:
        return call(complex_of<float>{});
    default:
        return call(complex_of<double>{});
    }
}

/* The cudaError_t of this launch alone, whatever the program around left behind. `bytes` of dynamic
 * shared memory may exceed the 48 KB that a kernel gets without asking. */
template <class... Parameters, class... Arguments>
int launch_with_shared(void (*kernel)(Parameters...), int64_t blocks, int threads, size_t bytes,
                       void *stream, Arguments... arguments) {
    if (bytes > RESIDENT_BAND_LOW) {
        const cudaError_t error = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (error != cudaSuccess)
            return error;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = static_cast<cudaStream_t>(stream);
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), int64_t blocks, int threads, void *stream,
           Arguments... arguments) {
    return launch_with_shared(kernel, blocks, threads, 0, stream, arguments...);
}

/* launch(part) for parts of the problem's batch in turn, none with more blocks than a grid may
 * have; ends at the first error. */
template <class Launch>
int launch_in_parts(const problem_t &problem, int64_t blocks_of_item, Launch launch) {
    const int64_t most = INT32_MAX / blocks_of_item; // items of one launch
    int error = 0;
    for (int64_t first = 0; first < problem.batch && error == 0; first += most) {
        const int64_t left = problem.batch - first;
        error = launch(problem_from_item(problem, first, left < most ? left : most));
    }
    return error;
}

} // namespace batchlas_device

#endif
