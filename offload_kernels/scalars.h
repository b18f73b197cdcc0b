/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of the four scalar types for the bodies that four_types.h includes. Complex products
 * are spelled out: C's own check every product for NaN and do not vectorise.
 *
 *   add_product(c, a, b)  c + a b in multiply-adds, the real part of b first
 *   times(s, a)           s a, where an s without imaginary part scales: 1 (0 + Inf i) has no NaN
 *   divide(a, b)          a / b, the complex one by Smith's Algorithm 116
 *   has_reciprocal(a)     1 / a is a normal number, so that a product with it may stand for a / b
 */
#ifndef BATCHLAS_SCALARS_H
#define BATCHLAS_SCALARS_H

#include "problem.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#define DEFINE_REAL_ARITHMETIC(T, x, TINY)                                                         \
    static inline T real_##x(T a) {                                                                \
        return a;                                                                                  \
    }                                                                                              \
    static inline T from_real_##x(T a) {                                                           \
        return a;                                                                                  \
    }                                                                                              \
    static inline T conj_##x(T a) {                                                                \
        return a;                                                                                  \
    }                                                                                              \
    static inline T mul_##x(T a, T b) {                                                            \
        return a * b;                                                                              \
    }                                                                                              \
    static inline T add_product_##x(T c, T a, T b) {                                               \
        return c + a * b;                                                                          \
    }                                                                                              \
    static inline T scale_##x(T r, T a) {                                                          \
        return r * a;                                                                              \
    }                                                                                              \
    static inline T times_##x(T s, T a) {                                                          \
        return s * a;                                                                              \
    }                                                                                              \
    static inline T divide_##x(T a, T b) {                                                         \
        return a / b;                                                                              \
    }                                                                                              \
    static inline bool has_reciprocal_##x(T a) {                                                   \
        const T size = a < 0 ? -a : a;                                                             \
        return size >= 4 * (TINY) && size <= 1 / (4 * (TINY));                                     \
    }                                                                                              \
    static inline T scalar_##x(const double s[2]) {                                                \
        return (T)s[0];                                                                            \
    }

#define DEFINE_COMPLEX_ARITHMETIC(T, R, x, TINY)                                                   \
    static inline T make_##x(R re, R im) {                                                         \
        union {                                                                                    \
            R part[2];                                                                             \
            T whole;                                                                               \
        } u = {{re, im}};                                                                          \
        return u.whole;                                                                            \
    }                                                                                              \
    static inline R real_##x(T a) {                                                                \
        return __real__ a;                                                                         \
    }                                                                                              \
    static inline T from_real_##x(R a) {                                                           \
        return make_##x(a, 0);                                                                     \
    }                                                                                              \
    static inline T conj_##x(T a) {                                                                \
        return make_##x(__real__ a, -__imag__ a);                                                  \
    }                                                                                              \
    static inline T mul_##x(T a, T b) {                                                            \
        return make_##x(__real__ a * __real__ b - __imag__ a * __imag__ b,                         \
                        __real__ a * __imag__ b + __imag__ a * __real__ b);                        \
    }                                                                                              \
    static inline T add_product_##x(T c, T a, T b) {                                               \
        R re = __real__ c + __real__ a * __real__ b;                                               \
        R im = __imag__ c + __imag__ a * __real__ b;                                               \
        re -= __imag__ a * __imag__ b;                                                             \
        im += __real__ a * __imag__ b;                                                             \
        return make_##x(re, im);                                                                   \
    }                                                                                              \
    static inline T scale_##x(R r, T a) {                                                          \
        return make_##x(r * __real__ a, r * __imag__ a);                                           \
    }                                                                                              \
    static inline T times_##x(T s, T a) {                                                          \
        return __imag__ s == 0 ? scale_##x(__real__ s, a) : mul_##x(s, a);                         \
    }                                                                                              \
    static inline T divide_##x(T a, T b) {                                                         \
        const R re = __real__ b < 0 ? -__real__ b : __real__ b;                                    \
        const R im = __imag__ b < 0 ? -__imag__ b : __imag__ b;                                    \
        if (re >= im) {                                                                            \
            const R q = im == 0 ? 0 : __imag__ b / __real__ b;                                     \
            const R d = __real__ b + q * __imag__ b;                                               \
            return make_##x((__real__ a + q * __imag__ a) / d, (__imag__ a - q * __real__ a) / d); \
        }                                                                                          \
        const R q = __real__ b / __imag__ b;                                                       \
        const R d = __imag__ b + q * __real__ b;                                                   \
        return make_##x((q * __real__ a + __imag__ a) / d, (q * __imag__ a - __real__ a) / d);     \
    }                                                                                              \
    static inline bool has_reciprocal_##x(T a) {                                                   \
        const R re = __real__ a < 0 ? -__real__ a : __real__ a;                                    \
        const R im = __imag__ a < 0 ? -__imag__ a : __imag__ a;                                    \
        const R size = re >= im ? re : im;                                                         \
        return size >= 4 * (TINY) && size <= 1 / (4 * (TINY));                                     \
    }                                                                                              \
    static inline T scalar_##x(const double s[2]) {                                                \
        return make_##x((R)s[0], (R)s[1]);                                                         \
    }

DEFINE_REAL_ARITHMETIC(float, s, FLT_MIN)
DEFINE_REAL_ARITHMETIC(double, d, DBL_MIN)
DEFINE_COMPLEX_ARITHMETIC(float _Complex, float, c, FLT_MIN)
DEFINE_COMPLEX_ARITHMETIC(double _Complex, double, z, DBL_MIN)

#endif
