/* SPDX-License-Identifier: BSD-3-Clause */
#include "gebp.h"
#include "host_isa.h"

#define HOST_BODY "gebp_body.h"
#include "instruction_sets.h"

void batchlas_gebp(scalar_type_t type, const product_t *product) {
    static void (*const kernels[ISA_COUNT][4])(const product_t *) = {
        [ISA_BASELINE] = ISA_ROW(gebp, baseline),
#if HOST_IS_X86_64
        [ISA_AVX2] = ISA_ROW(gebp, avx2),
        [ISA_AVX512] = ISA_ROW(gebp, avx512),
#endif
    };
    kernels[host_isa()][type](product);
}
