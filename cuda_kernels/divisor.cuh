/* SPDX-License-Identifier: BSD-3-Clause */
/* Division by the diagonal of any triangle, prepared once for many right-hand sides. */
#ifndef BATCHLAS_DIVISOR_CUH
#define BATCHLAS_DIVISOR_CUH

#include "device.cuh"

namespace batchlas_device {

/* Division by d as x -> inverse (before x): before is a power of two that keeps the inverse normal
 * where d is not. */
template <class T> struct divisor {
    T inverse;
    real_of<T> before;
};
__device__ __forceinline__ float range_scale(float size) {
    return size < 0x1p-64f ? 0x1p+64f : size > 0x1p+64f ? 0x1p-64f : 1.0f;
}
__device__ __forceinline__ double range_scale(double size) {
    return size < 0x1p-512 ? 0x1p+512 : size > 0x1p+512 ? 0x1p-512 : 1.0;
}
template <class R> __device__ __forceinline__ R inverse_of(R d) {
    return 1 / d;
}
/* Smith's Algorithm 116. */
template <class R> __device__ __forceinline__ complex_of<R> inverse_of(complex_of<R> d) {
    const bool more_real = fabs(d.re) >= fabs(d.im);
    const R large = more_real ? d.re : d.im;
    const R small = more_real ? d.im : d.re;
    const R q = small == 0 ? 0 : small / large;
    const R inverse = 1 / fma(q, small, large);
    return more_real ? complex_of<R>{inverse, -q * inverse} : complex_of<R>{q * inverse, -inverse};
}
template <class R> __device__ __forceinline__ R size_of(R d) {
    return fabs(d);
}
template <class R> __device__ __forceinline__ R size_of(complex_of<R> d) {
    return fmax(fabs(d.re), fabs(d.im));
}
template <class T> __device__ __forceinline__ divisor<T> divisor_of(T d) {
    const real_of<T> before = range_scale(size_of(d));
    return {inverse_of(scaled(before, d)), before};
}

/* s a, where an s without an imaginary part scales. */
template <class R> __device__ __forceinline__ R times(R s, R a) {
    return s * a;
}
template <class R>
__device__ __forceinline__ complex_of<R> times(complex_of<R> s, complex_of<R> a) {
    return s.im == 0 ? scaled(s.re, a) : product(s, a);
}

} // namespace batchlas_device

#endif
