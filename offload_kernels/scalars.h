/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of the four scalar types for the bodies that four_types.h includes. Complex products
 * are spelled out: C's own check every product for NaN and do not vectorise. */
#ifndef BATCHLAS_SCALARS_H
#define BATCHLAS_SCALARS_H

#include "problem.h"

#include <complex.h>
#include <math.h>

#define DEFINE_REAL_ARITHMETIC(T, x)                                                               \
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
    static inline T scale_##x(T r, T a) {                                                          \
        return r * a;                                                                              \
    }                                                                                              \
    static inline T scalar_##x(const double s[2]) {                                                \
        return (T)s[0];                                                                            \
    }

#define DEFINE_COMPLEX_ARITHMETIC(T, R, x)                                                         \
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
    static inline T scale_##x(R r, T a) {                                                          \
        return make_##x(r * __real__ a, r * __imag__ a);                                           \
    }                                                                                              \
    static inline T scalar_##x(const double s[2]) {                                                \
        return make_##x((R)s[0], (R)s[1]);                                                         \
    }

DEFINE_REAL_ARITHMETIC(float, s)
DEFINE_REAL_ARITHMETIC(double, d)
DEFINE_COMPLEX_ARITHMETIC(float _Complex, float, c)
DEFINE_COMPLEX_ARITHMETIC(double _Complex, double, z)

#endif
