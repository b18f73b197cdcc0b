/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated device itself: small kernels, each with one fault, and what is said of it. */
#include "device.cuh"

#include "simulation/control.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

#include <cstdio>
#include <cstring>
#include <string>

using namespace batchlas_device;

int on_the_host;

namespace {

constexpr int threads = 64;
using line = int[threads];

// ---- kernels -----------------------------------------------------------------------------------

__global__ void turns_a_line(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = t;
    block_barrier();
    out[blockIdx.x * threads + t] = shared[threads - 1 - t];
}

__global__ void misses_a_barrier(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = t;
    if (t == 0)
        shared[threads - 1] = 7; // before or after its owner
    block_barrier();
    out[t] = shared[t];
}

__global__ void has_a_barrier_too_narrow(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = 0;
    block_barrier();
    shared[t] = t;
    warp_barrier();
    out[t] = shared[t ^ warp_lanes];
}

__global__ void writes_what_is_still_read(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = t;
    block_barrier();
    const int next = shared[(t + 1) % threads];
    shared[t] = next;
    block_barrier();
    out[t] = shared[t];
}

__global__ void waits_in_one_branch(int *out) {
    if (threadIdx.x < 40)
        block_barrier();
    out[threadIdx.x] = 1;
}

__global__ void waits_in_two_places(int *out) {
    if (threadIdx.x < 32)
        block_barrier();
    else
        block_barrier();
    out[threadIdx.x] = 1;
}

__global__ void returns_before_the_others(int *out) {
    if (threadIdx.x == 5)
        return;
    warp_barrier();
    out[threadIdx.x] = 1;
}

__global__ void shuffles_in_two_places(int *out) {
    const int t = static_cast<int>(threadIdx.x);
    if (t % 2)
        out[blockIdx.x * threads + t] = from_lane<warp_lanes>(t, 0);
    else
        out[blockIdx.x * threads + t] = from_lane<warp_lanes>(-t, 1);
}

__global__ void asks_an_absent_lane(int *out) {
    if (threadIdx.x % warp_lanes < 16)
        out[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);
}

__global__ void leaves_global_memory(int *out) {
    out[threads + 2 * static_cast<int>(threadIdx.x)] = 1;
}

__global__ void leaves_shared_memory(int *out) {
    auto &shared = shared_object<line>();
    int *const beyond = &shared[threadIdx.x];
    beyond[1] = 1;
    out[threadIdx.x] = beyond[1];
}

__global__ void leaves_dynamic_memory(int *out) {
    dynamic_shared<int>()[threadIdx.x] = 1;
    out[threadIdx.x] = 1;
}

__global__ void reads_the_unwritten(int *out) {
    out[threadIdx.x] = shared_object<line>()[threadIdx.x];
}

__global__ void reads_a_copy_too_early(int *out) {
    auto &shared = shared_object<line>();
    begin_copy(&shared[threadIdx.x], &out[threadIdx.x]);
    out[threadIdx.x] = shared[threadIdx.x] + 1;
}

__global__ void reads_a_zero_too_early(int *out) {
    auto &shared = shared_object<line>();
    begin_copy_or_zero(&shared[threadIdx.x], &out[threadIdx.x], false);
    out[threadIdx.x] = shared[threadIdx.x] + 1;
}

__global__ void leaves_copies_behind(int *out) {
    begin_copy(&shared_object<line>()[threadIdx.x], &out[threadIdx.x]);
}

__global__ void reads_a_group_too_early(int *out) {
    auto &shared = shared_object<int[2][threads]>();
    const int t = static_cast<int>(threadIdx.x);
    for (auto &row : shared) {
        begin_copy(&row[t], &out[t]);
        end_group();
    }
    groups_arrive(1);
    out[t] = shared[0][t] + shared[1][t];
}

__global__ void waits_for_what_one_lane_keeps(int *out) {
    auto &happened = shared_object<event>();
    if (threadIdx.x == 0)
        prepare(happened);
    block_barrier();
    if (threadIdx.x > 0 && threadIdx.x < warp_lanes)
        tell(happened);
    wait_for(happened);
    out[threadIdx.x] = 1;
}

__global__ void waits_before_it_is_prepared(int *out) {
    auto &happened = shared_object<event>();
    if (threadIdx.x == 0)
        prepare(happened);
    wait_for(happened);
    out[threadIdx.x] = 1;
}

/* The second warp copies from the first one's line, of which no barrier tells but its event. */
template <bool tells_too_early> __global__ void hands_a_line_over(int *out) {
    auto &shared = shared_object<line>();
    auto &happened = shared_object<event>();
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0)
        prepare(happened);
    block_barrier();
    if (t < warp_lanes) {
        if (tells_too_early)
            tell(happened);
        shared[t] = t;
        if (!tells_too_early)
            tell(happened);
    } else {
        wait_for(happened);
        shared[t] = shared[t - warp_lanes];
    }
    block_barrier();
    out[blockIdx.x * threads + t] = shared[threads - 1 - t] + (t < warp_lanes ? warp_lanes : 0);
}

/* One lane of the second warp waits; a barrier lets the others know. */
template <bool with_barrier> __global__ void passes_on_what_one_lane_awaited(int *out) {
    auto &shared = shared_object<line>();
    auto &happened = shared_object<event>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = 0;
    if (t == 0)
        prepare(happened);
    block_barrier();
    if (t < warp_lanes) {
        shared[t] = t;
        tell(happened);
    } else {
        if (t == warp_lanes)
            wait_for(happened);
        if (with_barrier)
            warp_barrier();
        shared[t] = shared[t - warp_lanes] + warp_lanes;
    }
    block_barrier();
    out[blockIdx.x * threads + t] = shared[threads - 1 - t];
}

/* A shuffle of sixteen lanes is a barrier of these, */
__global__ void turns_parts_of_a_line(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = t;
    if (t % warp_lanes < 16)
        __shfl_sync(0xffffu, t, 0, 16);
    else
        __shfl_sync(0xffff0000u, t, 0, 16);
    const int other = t ^ 15;
    out[blockIdx.x * threads + threads - 1 - other] = shared[other];
}
/* and not of the lanes beside them. */
__global__ void reads_beside_a_shuffle(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = 0;
    block_barrier();
    if (t < 16) {
        shared[t] = t;
        __shfl_sync(0xffffu, t, 0, 16);
    } else if (t < warp_lanes) {
        out[blockIdx.x * threads + t] = shared[t - 16];
    }
}

__global__ void overwrites_what_a_lane_reads(int *out) {
    auto &shared = shared_object<line>();
    const int t = static_cast<int>(threadIdx.x);
    shared[t] = 0;
    block_barrier();
    if (t == 0)
        out[blockIdx.x] = shared[1];
    if (t == 1)
        shared[1] = 7;
}

/* The block's own read, after a barrier, does not hide that it wrote. */
__global__ void reads_what_another_block_wrote(int *out) {
    if (blockIdx.x == 0 && threadIdx.x == 3)
        out[0] = 7;
    block_barrier();
    if (threadIdx.x == 5)
        out[threads + blockIdx.x] = out[0];
}

__global__ void meets_other_blocks(int *out) {
    if (threadIdx.x == 3)
        out[0] = static_cast<int>(blockIdx.x);
}

__global__ void writes_to_the_host(int *out) {
    on_the_host = out[threadIdx.x];
}

__global__ void takes_too_much(int *out) {
    auto &shared = shared_object<int[20000]>();
    shared[threadIdx.x] = out[threadIdx.x];
}

// ---- cases -------------------------------------------------------------------------------------

struct fault_case {
    const char *name;
    void (*kernel)(int *);
    size_t dynamic_bytes;
    const char *kind;
    const char *words[4]; // in the story besides the kernel's name and this file's
};

#define CASE(kernel) #kernel, kernel

const fault_case faults[] = {
    {CASE(misses_a_barrier), 0, "race", {"shared memory", "thread 63", "thread 0", "write by"}},
    {CASE(has_a_barrier_too_narrow), 0, "race", {"shared memory", "read by", "write by"}},
    {CASE(writes_what_is_still_read), 0, "race", {"shared memory", "write by", "read by"}},
    {CASE(waits_in_one_branch), 0, "divergence", {"40 at a block barrier", "24 returned"}},
    {CASE(waits_in_two_places), 0, "divergence", {"a block barrier", "thread 0 of the block"}},
    {CASE(returns_before_the_others), 0, "divergence", {"a warp barrier", "thread 5"}},
    {CASE(shuffles_in_two_places), 0, "divergence", {"a shuffle"}},
    {CASE(asks_an_absent_lane), 0, "divergence", {"lane 20"}},
    {CASE(leaves_global_memory), 0, "out of bounds", {"global memory", "block 0"}},
    {CASE(leaves_shared_memory), 0, "out of bounds", {"shared memory", "thread 63"}},
    {CASE(leaves_dynamic_memory), 4 * 50, "out of bounds", {"shared memory", "thread 50"}},
    {CASE(reads_the_unwritten), 0, "never written", {"read by thread 0"}},
    {CASE(reads_a_copy_too_early), 0, "copy under way", {"read by thread 0", "copy by"}},
    {CASE(reads_a_zero_too_early), 0, "copy under way", {"read by thread 0", "copy by"}},
    {CASE(reads_a_group_too_early), 0, "copy under way", {"read by thread 0", "copy by"}},
    {CASE(waits_for_what_one_lane_keeps), 0, "divergence", {"64 at an event", "0 returned"}},
    {CASE(waits_before_it_is_prepared), 0, "race", {"awaited by thread", "preparation"}},
    {CASE(hands_a_line_over<true>), 0, "race", {"shared memory", "read by", "write by"}},
    {CASE(passes_on_what_one_lane_awaited<false>), 0, "race", {"shared memory"}},
    {CASE(reads_beside_a_shuffle), 0, "race", {"shared memory", "read by", "write by"}},
    {CASE(overwrites_what_a_lane_reads), 0, "race", {"read by thread 0", "write by thread 1"}},
    {CASE(leaves_copies_behind), 0, "copy under way", {"returned"}},
    {CASE(meets_other_blocks), 0, "race of blocks", {"block 1", "thread 3", "in another block at"}},
    {CASE(reads_what_another_block_wrote), 0, "race of blocks", {"in another block at"}},
    {CASE(writes_to_the_host), 0, "out of bounds", {"neither the device's"}},
    {CASE(takes_too_much), 0, "shared memory", {"80000 bytes"}},
};

const schedule_t schedules[] = {{ROUND_ROBIN, 0, 0},
                                {BACKWARDS, 0, 0},
                                {WARP_AHEAD, 1, 0},
                                {WARP_BEHIND, 0, 0},
                                {RANDOM, 0, 11}};

constexpr unsigned blocks = 2;

int run(void (*kernel)(int *), size_t dynamic_bytes, int *out) {
    simulation_forget_fault();
    return launch_with_shared(kernel, blocks, threads, dynamic_bytes, nullptr, out);
}

void every_fault_is_told_whatever_the_schedule(void **) {
    for (const fault_case &c : faults)
        for (const schedule_t &schedule : schedules) {
            auto *const out = static_cast<int *>(simulation_alloc(blocks * threads * sizeof(int)));
            simulation_schedule(schedule);
            const int error = run(c.kernel, c.dynamic_bytes, out);
            simulation_free(out);
            const char *const kind = simulation_fault_kind();
            if (error == cudaSuccess || !kind || strcmp(kind, c.kind))
                fail_msg("%s, %s: %s", c.name, schedule_name(schedule), kind ? kind : "no fault");
        }
}

void a_fault_is_told_with_kernel_thread_and_line(void **) {
    for (const fault_case &c : faults) {
        auto *const out = static_cast<int *>(simulation_alloc(blocks * threads * sizeof(int)));
        simulation_schedule(schedules[0]);
        run(c.kernel, c.dynamic_bytes, out);
        simulation_free(out);
        const std::string story = simulation_fault() ? simulation_fault() : "";
        for (const char *word : {c.name, c.words[0], c.words[1], c.words[2], c.words[3]})
            if (word && story.find(word) == std::string::npos)
                fail_msg("%s: no \"%s\" in\n%s", c.name, word, story.c_str());
        // Faults of a block as a whole, and of its size, are no access's.
        if (story.find(" by thread ") != std::string::npos &&
            story.find("test_machine.cpp:") == std::string::npos)
            fail_msg("%s: no line in\n%s", c.name, story.c_str());
    }
}

void a_good_kernel_does_its_work_under_every_schedule(void **) {
    auto *const out = static_cast<int *>(simulation_alloc(blocks * threads * sizeof(int)));
    for (const schedule_t &schedule : schedules)
        for (const auto kernel : {turns_a_line, hands_a_line_over<false>,
                                  passes_on_what_one_lane_awaited<true>, turns_parts_of_a_line}) {
            memset(out, 0, blocks * threads * sizeof(int));
            simulation_schedule(schedule);
            assert_int_equal(run(kernel, 0, out), cudaSuccess);
            assert_null(simulation_fault());
            for (int i = 0; i < static_cast<int>(blocks) * threads; ++i)
                assert_int_equal(out[i], threads - 1 - i % threads);
        }
    simulation_free(out);
}

void launches_beyond_the_limits_are_refused(void **) {
    auto *const out = static_cast<int *>(simulation_alloc(blocks * threads * sizeof(int)));
    assert_int_equal(launch(turns_a_line, 1, 1025, nullptr, out), cudaErrorInvalidConfiguration);
    assert_int_equal(launch(turns_a_line, 0, 32, nullptr, out), cudaErrorInvalidConfiguration);
    assert_int_equal(launch(turns_a_line, int64_t{1} << 31, 32, nullptr, out),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(launch_with_shared(turns_a_line, 1, 32, 232449, nullptr, out),
                     cudaErrorInvalidValue);
    simulation_free(out);
}

/* Memory that was freed is out of bounds, and comes back when all behind it is free. */
void freed_memory_is_not_the_devices(void **) {
    void *const first = simulation_alloc(64);
    void *const second = simulation_alloc(64);
    assert_true(simulation_owns(first));
    simulation_free(first);
    assert_false(simulation_owns(first));
    assert_true(simulation_owns(second));
    simulation_free(second);
    assert_ptr_equal(simulation_alloc(64), first);
    simulation_free(first);
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_told_whatever_the_schedule),
        cmocka_unit_test(a_fault_is_told_with_kernel_thread_and_line),
        cmocka_unit_test(a_good_kernel_does_its_work_under_every_schedule),
        cmocka_unit_test(launches_beyond_the_limits_are_refused),
        cmocka_unit_test(freed_memory_is_not_the_devices),
    };
    return cmocka_run_group_tests_name("machine", tests, nullptr, nullptr);
}
