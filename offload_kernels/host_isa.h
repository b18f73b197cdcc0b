/* SPDX-License-Identifier: BSD-3-Clause */
/* The instruction sets that instruction_sets.h compiles host kernels for, and the one to use. */
#ifndef BATCHLAS_HOST_ISA_H
#define BATCHLAS_HOST_ISA_H

/* clang's device pass defines the host's macros too. */
#if defined(__x86_64__) && !defined(__NVPTX__)
#define HOST_IS_X86_64 1
#else
#define HOST_IS_X86_64 0
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE      __attribute__((noinline))
#define ALIGNED       __attribute__((aligned(64)))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef enum { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_COUNT } host_isa_t;

static inline host_isa_t host_isa(void) {
#if HOST_IS_X86_64
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return ISA_AVX2;
#endif
    return ISA_BASELINE;
}

/* One row of a kernel table, indexed by scalar_type_t. */
#define ISA_ROW(f, isa) {f##_##isa##_s, f##_##isa##_d, f##_##isa##_c, f##_##isa##_z}

#endif
