/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes the file that HOST_BODY names once for each scalar type and each instruction set that
 * the host may turn out to have. In it, besides what four_types.h defines, IN(f) is f's name for
 * both, TARGET the attribute of every function, LANE_BYTES the width of a vector. No include guard.
 */
#include "host_isa.h"

#define IN(f) NAME(ISA(f))

#define ISA(f) f##_baseline
#define TARGET
#define LANE_BYTES 16
#define BODY       HOST_BODY
#include "four_types.h"
#undef ISA
#undef TARGET
#undef LANE_BYTES

#if HOST_IS_X86_64
#define ISA(f)     f##_avx2
#define TARGET     __attribute__((target("avx2,fma")))
#define LANE_BYTES 32
#define BODY       HOST_BODY
#include "four_types.h"
#undef ISA
#undef TARGET
#undef LANE_BYTES

#define ISA(f)     f##_avx512
#define TARGET     __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#define LANE_BYTES 64
#define BODY       HOST_BODY
#include "four_types.h"
#undef ISA
#undef TARGET
#undef LANE_BYTES
#endif

#undef IN
#undef HOST_BODY
