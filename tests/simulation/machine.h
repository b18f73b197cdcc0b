/* SPDX-License-Identifier: BSD-3-Clause */
/* A CUDA device on the CPU: every thread of a block is a fiber, blocks run one after the other, and
 * each access to memory is checked. What kernels and launchers need of it; control.h has the rest.
 * It serves one thread of the host.
 *
 * An access is wrong if it leaves every allocation, reads shared memory that nothing has written,
 * meets an asynchronous copy under way, or may come before or after another thread's access to the
 * same four bytes, one of the two a write: no barrier lies between them, whatever the schedule. */
#ifndef BATCHLAS_SIMULATION_MACHINE_H
#define BATCHLAS_SIMULATION_MACHINE_H

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace simulation {

struct extent {
    unsigned x = 1, y = 1, z = 1;
    extent() = default;
    explicit extent(unsigned count) : x(count) {}
};

/* Where the running thread is. */
struct place {
    extent thread, block, block_size, grid;
};
extern place here;

/* Names a barrier by the line it stands on. */
struct source_line {
    const char *file;
    int line;
    static constexpr source_line current(const char *file = __builtin_FILE(),
                                         int line = __builtin_LINE()) {
        return {file, line};
    }
};

// ---- what device.cuh builds on -----------------------------------------------------------------

enum class barrier_kind { block, warp, copies, event };
[[clang::convergent, clang::nomerge]] void meet(barrier_kind kind, source_line where);

/* The bits that lane `source` of the own group of `width` lanes gives; a barrier of these lanes. */
[[clang::convergent, clang::nomerge]] uint64_t exchange(unsigned mask, uint64_t bits, int source,
                                                        int width);

/* The lanes of the warp for which it is so, as bits; a barrier of them. */
[[clang::convergent, clang::nomerge]] unsigned lanes_where(bool so);

/* d = c + a b^T in a warp, shared among its lanes as cuda_kernels/device.cuh says; a barrier of
 * them. */
[[clang::convergent, clang::nomerge]] void
multiply_in_warp(double (&d)[4], const double (&a)[4], const double (&b)[2], const double (&c)[4]);
/* The same of floats in two parts, the high one first. */
[[clang::convergent, clang::nomerge]] void multiply_in_warp(float (&d)[4], const float (&a)[4][2],
                                                            const float (&b)[2][2],
                                                            const float (&c)[4]);

/* The block's one object for this tag, which nothing has written yet. */
void *shared_memory(const void *tag, size_t bytes);
void *dynamic_shared_memory();

/* A copy lands at the last legal moment: in copies_arrive() or groups_arrive() of the same thread.
 * From NULL come zeros. */
void begin_copy_bytes(void *shared, const void *global, size_t bytes);
void end_group_of_copies();
void wait_for_groups(int open, source_line where);

/* An event in shared memory, by its address. It happens when 32 threads have told it. */
void prepare_event(const void *event);
void tell_event(const void *event);
void wait_for_event(const void *event, source_line where);

// ---- launch ------------------------------------------------------------------------------------

struct kernel_call {
    const void *kernel; // its address, which names it
    const void *parameters;
    size_t bytes; // of the parameters, which threads may read
    void (*run)(const void *parameters);
};
enum class outcome { done, refused, failed };

bool allow_dynamic_shared(const void *kernel, size_t bytes);
outcome launch(extent grid, extent block, size_t dynamic_shared_bytes, const kernel_call &call);

// ---- device.cuh's first section ----------------------------------------------------------------

namespace primitives {

template <int warps = 0> void block_barrier(source_line where = source_line::current()) {
    meet(warps == 1 ? barrier_kind::warp : barrier_kind::block, where);
}
template <int lanes> void group_barrier(source_line where = source_line::current()) {
    meet(lanes <= 32 ? barrier_kind::warp : barrier_kind::block, where);
}
inline void warp_barrier(source_line where = source_line::current()) {
    meet(barrier_kind::warp, where);
}

using simulation::lanes_where;

template <class T> T &shared_object() {
    static const char tag = 0;
    return *static_cast<T *>(shared_memory(&tag, sizeof(T)));
}
template <class T> T *dynamic_shared() {
    return static_cast<T *>(dynamic_shared_memory());
}

template <class T> T *to_global_memory(T *pointer) {
    return pointer;
}

template <class T> void fetch_early(const T *) {}

template <bool whole_lines = true, class T> void begin_copy(T *shared, const T *global) {
    begin_copy_bytes(shared, global, sizeof(T));
}
template <class T> void begin_copy_past_l1(T *shared, const T *global) {
    begin_copy_bytes(shared, global, sizeof(T));
}
template <class T> void begin_copy_or_zero(T *shared, const T *global, bool there) {
    begin_copy_bytes(shared, there ? global : nullptr, sizeof(T));
}
inline void copies_arrive(source_line where = source_line::current()) {
    meet(barrier_kind::copies, where);
}
inline void end_group() {
    end_group_of_copies();
}
template <int least = 0, int most = 8>
void groups_arrive(int open, source_line where = source_line::current()) {
    wait_for_groups(open, where);
}

struct event {
    unsigned long long state;
};
inline void prepare(event &e) {
    prepare_event(&e);
}
inline void tell(event &e) {
    tell_event(&e);
}
inline void wait_for(event &e, source_line where = source_line::current()) {
    wait_for_event(&e, where);
}

template <class T> T *forget_global(T *pointer) {
    return pointer;
}

inline void plus_product_16x8x8(double (&d)[4], const double (&a)[4], const double (&b)[2],
                                const double (&c)[4]) {
    multiply_in_warp(d, a, b, c);
}
template <class Parts>
void plus_product_16x8x8(float (&d)[4], const Parts (&a)[4], const Parts (&b)[2],
                         const float (&c)[4]) {
    multiply_in_warp(d,
                     {{a[0].high, a[0].low},
                      {a[1].high, a[1].low},
                      {a[2].high, a[2].low},
                      {a[3].high, a[3].low}},
                     {{b[0].high, b[0].low}, {b[1].high, b[1].low}}, c);
}

template <class R> R rsqrt_estimate(R d) {
    return 1 / std::sqrt(d);
}

} // namespace primitives

} // namespace simulation

#endif
