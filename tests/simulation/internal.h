/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the simulated device know of each other. */
#ifndef BATCHLAS_SIMULATION_INTERNAL_H
#define BATCHLAS_SIMULATION_INTERNAL_H

#include "simulation/control.h"
#include "simulation/machine.h"

#include <vector>

namespace simulation {

constexpr int lanes = 32;
constexpr unsigned most_threads = THREADS_PER_BLOCK;
constexpr size_t shared_limit = SHARED_MEMORY_PER_BLOCK;
constexpr size_t shared_limit_unasked = 49152; // of dynamic shared memory, without an attribute

// ---- threads (threads.cpp) ---------------------------------------------------------------------

/* Logical time. Where a whole block meets, an interval ends, and all before it comes before all
 * after it. Within one, seen[t] is the last step of thread t that a narrower barrier puts before
 * what this thread does now. */
struct clock_vector {
    const uint32_t *seen;
    uint32_t seen_of_warp; // the last step up to which it has seen all lanes of its warp
    uint32_t now;          // its own step
    unsigned self;
};

/* What every access asks of the running thread. */
struct running_thread {
    clock_vector clock;
    const char *stack;                 // NULL outside kernels
    uint64_t until_yield = UINT64_MAX; // accesses to the device's memory
};
extern running_thread running;

constexpr size_t stack_bytes = size_t{1} << 17;

struct copy {
    void *to;
    const void *from;
    size_t bytes;
    const void *code;
    unsigned group;
};

/* The running thread's; NULL outside kernels. */
inline const clock_vector *running_clock() {
    return running.stack ? &running.clock : nullptr;
}
std::vector<copy> &running_copies();
/* The number of the group that the running thread's copies now join; the first is 0. */
unsigned &running_group();
const void *running_kernel();
[[noreturn]] void abandon_launch();
/* Perhaps lets another thread go on first. */
void yield();
/* Whether the running thread may touch memory that is neither the device's nor its stack:
 * constants, its parameters. */
bool is_private(const void *address, bool is_write);

// ---- memory (memory.cpp) -----------------------------------------------------------------------

void begin_launch();
void begin_block(size_t dynamic_shared_bytes);
void end_block();
/* All accesses of the block so far come before all that follow. */
void begin_interval();
/* The running thread's copies land, up to those of a group. */
void land_copies(unsigned end_of_groups);

// ---- faults (fault.cpp) ------------------------------------------------------------------------

/* An access or a place in the code, to be named by its line when somebody asks. */
constexpr unsigned another_block = most_threads; // in the place of a thread
struct code_place {
    const char *doing; // "write by"
    unsigned thread;
    const void *code;
};

extern "C" char __executable_start; // the linker's

/* Addresses of code as offsets into the program: short, and what debug information goes by. */
inline size_t program_offset(const void *code) {
    return static_cast<size_t>(static_cast<const char *>(code) - &__executable_start);
}

/* Records the fault of the running thread, or of the block if it is none's. */
void record_fault(const char *kind, std::vector<code_place> places, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and ends the launch. */
[[noreturn]] void fault(const char *kind, std::vector<code_place> places, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

} // namespace simulation

#endif
