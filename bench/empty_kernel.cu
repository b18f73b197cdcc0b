// SPDX-License-Identifier: BSD-3-Clause
// A kernel that does nothing: what it costs to launch and to wait for is what any call must cost.
#include <cuda_runtime_api.h>

static __global__ void nothing() {}

// Returns CUDA's error code.
extern "C" int bench_launch_empty_kernel(void *stream) {
    nothing<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>();
    return cudaGetLastError();
}
