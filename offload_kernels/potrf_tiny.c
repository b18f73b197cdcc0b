/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf `tiny` on the host. */
#include "families.h"
#include "tuning_constants.h"

#include <omp.h>
#include <string.h>

enum { POTRF_TINY_MAX_N = 32 };

#define REAL_BYTES_s 4
#define REAL_BYTES_d 8
#define REAL_BYTES_c 4
#define REAL_BYTES_z 8
#define SQRT(x)      _Generic((x), float: sqrtf, default: sqrt)(x)

static inline bool host_may_fork(int64_t elements) {
    return elements >= HOST_FORK_MIN_ELEMENTS && !omp_in_parallel();
}

#define HOST_BODY "potrf_tiny_body.h"
#include "instruction_sets.h"

CAN_RUN(batchlas_potrf_tiny_host_can_run) {
    (void)facts;
    *reason = "n is more than 32";
    return problem->n <= POTRF_TINY_MAX_N;
}

LAUNCH(batchlas_potrf_tiny_host) {
    static void (*const kernels[ISA_COUNT][4])(const problem_t *) = {
        [ISA_BASELINE] = ISA_ROW(potrf, baseline),
#if HOST_IS_X86_64
        [ISA_AVX2] = ISA_ROW(potrf, avx2),
        [ISA_AVX512] = ISA_ROW(potrf, avx512),
#endif
    };
    (void)h;
    (void)workspace;
    kernels[host_isa()][problem->type](problem);
    return BATCHLAS_SUCCESS;
}
