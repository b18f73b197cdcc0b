/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA runtime's calls that fail on demand, and the making of the vendors' handles. */
#include "faults/faults.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <stddef.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */

cudaError_t __real_cudaMalloc(void **memory, size_t bytes);
cudaError_t __real_cudaFree(void *memory);
cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes);
cudaError_t __wrap_cudaFree(void *memory);

cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes) {
    if (fault_is_due(DEVICE_ALLOCATION))
        return cudaErrorMemoryAllocation;
    const cudaError_t error = __real_cudaMalloc(memory, bytes);
    faults_count_device_block(error == cudaSuccess);
    return error;
}

cudaError_t __wrap_cudaFree(void *memory) {
    faults_count_device_block(memory ? -1 : 0);
    return __real_cudaFree(memory);
}

/* A call with any arguments, failing as launches do that ask for too much. */
#define FAILING(name, parameters, arguments)                                                       \
    cudaError_t __real_##name parameters;                                                          \
    cudaError_t __wrap_##name parameters;                                                          \
    cudaError_t __wrap_##name parameters {                                                         \
        return fault_is_due(DEVICE_CALL) ? cudaErrorLaunchOutOfResources                           \
                                         : __real_##name arguments;                                \
    }

FAILING(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **given),
        (config, kernel, given))
FAILING(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
        (to, value, bytes, stream))
FAILING(cudaMemcpyAsync,
        (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, bytes, kind, stream))
FAILING(cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value),
        (kernel, attribute, value))
FAILING(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
        (value, attribute, device))
FAILING(cudaStreamQuery, (cudaStream_t stream), (stream))
FAILING(cudaStreamSynchronize, (cudaStream_t stream), (stream))
FAILING(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t call, void *argument),
        (stream, call, argument))

cublasStatus_t __real_cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t __wrap_cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t __wrap_cublasCreate_v2(cublasHandle_t *handle) {
    return fault_is_due(DEVICE_ALLOCATION) ? CUBLAS_STATUS_ALLOC_FAILED
                                           : __real_cublasCreate_v2(handle);
}

cusolverStatus_t __real_cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t __wrap_cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t __wrap_cusolverDnCreate(cusolverDnHandle_t *handle) {
    return fault_is_due(DEVICE_ALLOCATION) ? CUSOLVER_STATUS_ALLOC_FAILED
                                           : __real_cusolverDnCreate(handle);
}

/* NOLINTEND(bugprone-reserved-identifier) */
