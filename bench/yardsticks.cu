// SPDX-License-Identifier: BSD-3-Clause
// Kernels that calls are measured with. They touch no memory and return CUDA's error code.
#include <cuda_runtime_api.h>

namespace {

__global__ void nothing() {}

__device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void hold(unsigned long long duration) {
    const unsigned long long begin = nanoseconds();
    while (nanoseconds() - begin < duration) {
    }
}

} // namespace

// What launching and awaiting it costs, any call must cost.
extern "C" int bench_launch_nothing(void *stream) {
    nothing<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>();
    return cudaGetLastError();
}

// Keeps the stream busy, and the caches as they are.
extern "C" int bench_launch_hold(void *stream, unsigned long long duration) {
    hold<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(duration);
    return cudaGetLastError();
}
