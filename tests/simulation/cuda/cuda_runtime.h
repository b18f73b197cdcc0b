/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA language and runtime as far as the kernels use them, for a C++ compiler: a kernel is a
 * function, and a launch runs it on the simulated device. Takes the place of the toolkit's header.
 */
#ifndef BATCHLAS_SIMULATED_CUDA_RUNTIME_H
#define BATCHLAS_SIMULATED_CUDA_RUNTIME_H

#include "simulation/machine.h"

#include <math.h>

#include <algorithm>
#include <cstring>
#include <tuple>

// ---- language ----------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
// Inlining would only take time to compile; each kernel keeps functions of its own all the same.
#define __forceinline__ inline __attribute__((internal_linkage))
#define __launch_bounds__(...)

inline const simulation::extent &threadIdx = simulation::here.thread;
inline const simulation::extent &blockIdx = simulation::here.block;
inline const simulation::extent &blockDim = simulation::here.block_size;
inline const simulation::extent &gridDim = simulation::here.grid;

using std::max;
using std::min;

inline unsigned __float_as_uint(float a) {
    unsigned bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float a;
    std::memcpy(&a, &bits, sizeof a);
    return a;
}
inline int __double2hiint(double a) {
    long long bits;
    std::memcpy(&bits, &a, sizeof bits);
    return static_cast<int>(bits >> 32);
}

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves up to eight bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = simulation::exchange(mask, bits, source, width);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- runtime -----------------------------------------------------------------------------------

using dim3 = simulation::extent;
using cudaStream_t = void *;
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchFailure = 719
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) {
    const bool granted = simulation::allow_dynamic_shared(reinterpret_cast<const void *>(kernel),
                                                          static_cast<size_t>(bytes));
    return granted ? cudaSuccess : cudaErrorInvalidValue;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
    struct call {
        void (*kernel)(Parameters...);
        std::tuple<Parameters...> parameters;
    } whole = {kernel, {arguments...}};
    const simulation::kernel_call entry = {reinterpret_cast<const void *>(kernel), &whole,
                                           sizeof whole, [](const void *given) {
                                               const call &c = *static_cast<const call *>(given);
                                               std::apply(c.kernel, c.parameters);
                                           }};
    switch (
        simulation::launch(config->gridDim, config->blockDim, config->dynamicSmemBytes, entry)) {
    case simulation::outcome::done:
        return cudaSuccess;
    case simulation::outcome::refused:
        return cudaErrorInvalidConfiguration;
    default:
        return cudaErrorLaunchFailure;
    }
}

#endif
