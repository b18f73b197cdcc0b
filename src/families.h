/* SPDX-License-Identifier: BSD-3-Clause */
/* What every family's file offers to its operation's candidate table, by operation. The shapes are
 * those of family_t: can_run, buffer_size, launch. */
#ifndef BATCHLAS_FAMILIES_H
#define BATCHLAS_FAMILIES_H

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAN_RUN(name)                                                                              \
    bool name(const problem_t *problem, const device_facts_t *facts, const char **reason)
#define BUFFER_SIZE(name)                                                                          \
    batchlas_status_t name(batchlas_handle_t h, const problem_t *problem, size_t *bytes)
#define LAUNCH(name)                                                                               \
    batchlas_status_t name(batchlas_handle_t h, const problem_t *problem, void *workspace)

/* potrf */
CAN_RUN(batchlas_potrf_tiny_cuda_can_run); /* cuda_kernels/potrf_tiny.cu */
LAUNCH(batchlas_potrf_tiny_cuda);
CAN_RUN(batchlas_potrf_cta_cuda_can_run); /* cuda_kernels/potrf_cta.cu */
LAUNCH(batchlas_potrf_cta_cuda);
CAN_RUN(batchlas_potrf_lpanel_8_cuda_can_run); /* cuda_kernels/potrf_lpanel.cu */
LAUNCH(batchlas_potrf_lpanel_8_cuda);
CAN_RUN(batchlas_potrf_lpanel_16_cuda_can_run);
LAUNCH(batchlas_potrf_lpanel_16_cuda);
BUFFER_SIZE(batchlas_potrf_ltile_cuda_buffer_size); /* cuda_kernels/potrf_ltile.cu */
CAN_RUN(batchlas_potrf_ltile_64_cuda_can_run);
LAUNCH(batchlas_potrf_ltile_32_cuda);
LAUNCH(batchlas_potrf_ltile_64_cuda);
CAN_RUN(batchlas_potrf_wide_cuda_can_run); /* cuda_kernels/potrf_wide.cu */
LAUNCH(batchlas_potrf_wide_cuda);
CAN_RUN(batchlas_potrf_tiny_host_can_run); /* offload_kernels/potrf_tiny.c */
LAUNCH(batchlas_potrf_tiny_host);
BUFFER_SIZE(batchlas_potrf_blocked_buffer_size); /* offload_kernels/potrf_blocked.c */
LAUNCH(batchlas_potrf_blocked);
BUFFER_SIZE(batchlas_potrf_cusolver_batched_buffer_size); /* src/vendor_cuda.c */
LAUNCH(batchlas_potrf_cusolver_batched);
BUFFER_SIZE(batchlas_potrf_cusolver_single_buffer_size);
LAUNCH(batchlas_potrf_cusolver_single);
LAUNCH(batchlas_potrf_lapack); /* src/vendor_lapack.c */

/* potrs */
CAN_RUN(batchlas_potrs_fused_can_run); /* cuda_kernels/potrs_fused.cu */
LAUNCH(batchlas_potrs_fused);
CAN_RUN(batchlas_potrs_stream_can_run); /* cuda_kernels/potrs_stream.cu */
LAUNCH(batchlas_potrs_stream);
CAN_RUN(batchlas_potrs_tiny_can_run); /* cuda_kernels/potrs_tiny.cu */
LAUNCH(batchlas_potrs_tiny);
CAN_RUN(batchlas_potrs_tile_can_run); /* cuda_kernels/potrs_tile.cu */
LAUNCH(batchlas_potrs_tile);
BUFFER_SIZE(batchlas_potrs_blocked_buffer_size); /* src/potrs.c: two trsm */
LAUNCH(batchlas_potrs_blocked);
CAN_RUN(batchlas_potrs_cusolver_can_run);
BUFFER_SIZE(batchlas_potrs_cusolver_buffer_size);
LAUNCH(batchlas_potrs_cusolver);
LAUNCH(batchlas_potrs_lapack);

/* posv */
CAN_RUN(batchlas_posv_tiny_cuda_can_run); /* cuda_kernels/posv_tiny.cu */
LAUNCH(batchlas_posv_tiny_cuda);
CAN_RUN(batchlas_posv_rolled_cuda_can_run); /* cuda_kernels/posv_rolled.cu */
LAUNCH(batchlas_posv_rolled_cuda);
BUFFER_SIZE(batchlas_posv_blocked_buffer_size); /* src/posv.c: potrf, then potrs */
LAUNCH(batchlas_posv_blocked);

/* trsm, gemm, syrk and herk: portable tiles on host and device, and the vendors' */
LAUNCH(batchlas_trsm_tiled);           /* offload_kernels/trsm_tiled.c */
LAUNCH(batchlas_gemm_tiled);           /* offload_kernels/gemm_tiled.c */
LAUNCH(batchlas_syrk_tiled);           /* offload_kernels/syrk_tiled.c */
CAN_RUN(batchlas_trsm_strips_can_run); /* cuda_kernels/trsm_strips.cu */
LAUNCH(batchlas_trsm_strips);
CAN_RUN(batchlas_trsm_tile_can_run); /* cuda_kernels/trsm_tile.cu */
LAUNCH(batchlas_trsm_tile);
CAN_RUN(batchlas_gemm_register_can_run); /* cuda_kernels/gemm_register.cu */
LAUNCH(batchlas_gemm_register);
CAN_RUN(batchlas_syrk_register_can_run); /* cuda_kernels/syrk_register.cu */
LAUNCH(batchlas_syrk_register);
CAN_RUN(batchlas_trsm_cublas_can_run);
BUFFER_SIZE(batchlas_trsm_cublas_buffer_size);
LAUNCH(batchlas_trsm_cublas);
CAN_RUN(batchlas_gemm_cublas_can_run);
BUFFER_SIZE(batchlas_gemm_cublas_buffer_size);
LAUNCH(batchlas_gemm_cublas);
CAN_RUN(batchlas_syrk_cublas_can_run);
BUFFER_SIZE(batchlas_syrk_cublas_buffer_size);
LAUNCH(batchlas_syrk_cublas);
LAUNCH(batchlas_trsm_cblas); /* src/vendor_lapack.c */
LAUNCH(batchlas_gemm_cblas);
LAUNCH(batchlas_syrk_cblas);

/* logdet has one family: offload_kernels/potrf_logdet.c */
LAUNCH(batchlas_potrf_logdet_portable);

/* Frees the vendors' handles of h; called by destroy. src/vendor_cuda.c */
void batchlas_vendor_close(batchlas_handle_t h);

#ifdef __cplusplus
}
#endif

#endif
