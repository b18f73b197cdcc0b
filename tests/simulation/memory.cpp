/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's memory and the record of who touched which four bytes of it. Kernels are compiled
 * with ThreadSanitizer's instrumentation, whose calls end here instead of in its own run time: that
 * one knows neither blocks nor memory never written, and remembers four accesses a word. */
#include "simulation/internal.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace simulation {
namespace {

constexpr size_t cell_bytes = 4;
constexpr size_t guard_bytes = 256; // between allocations
constexpr size_t region_bytes = size_t{1} << 30;
constexpr size_t heap_begin = 1 << 18; // shared memory comes first
static_assert(shared_limit + guard_bytes < heap_begin, "shared memory fits before the heap");

enum : uint8_t { ALLOCATED = 1, WRITTEN = 2, IN_FLIGHT = 4 }; // states of a cell
enum : uint8_t { READ = 1, WROTE = 2 };

/* A step of a thread; 0 is none. */
using step = uint32_t;
constexpr unsigned thread_bits = 10;
static_assert(most_threads <= 1u << thread_bits, "a thread's number fits a step");

/* The same step of lanes of a warp: lanes that stay together read a cell in one. */
struct lanes_step {
    uint32_t count_and_warp = 0; // 0 is none
    uint32_t lanes = 0;          // as bits
    uint32_t next = 0;           // of the same cell, in region::reads; 0 is none
};
constexpr unsigned warp_bits = 5;
static_assert(most_threads / lanes <= 1u << warp_bits, "a warp's number fits a step");

/* Who touched four bytes. The write and the reads are of the interval, the last ones that no later
 * one is ordered after; what they were in before is all that is left of older ones. */
struct alignas(32) record {
    uint32_t interval;
    step write;
    lanes_step reads;
    uint32_t write_code, read_code; // of the last one, as offsets into the program
    uint8_t own;                    // what the block has done here,
    uint8_t others;                 // and earlier blocks of the launch
};

uint32_t offset_of(const void *code) {
    return static_cast<uint32_t>(program_offset(code));
}
const void *code_at(uint32_t offset) {
    return &__executable_start + offset;
}

template <class T> T *reserve(size_t bytes) {
    void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("simulated device: reserving memory");
        abort();
    }
    return static_cast<T *>(memory);
}

struct region {
    char *const bytes = reserve<char>(region_bytes);
    uint8_t *const states = reserve<uint8_t>(region_bytes / cell_bytes);
    record *const records = reserve<record>(region_bytes / cell_bytes * sizeof(record));
    std::map<size_t, size_t> allocations; // offset, bytes
    size_t heap_end = heap_begin;

    struct object {
        const void *tag;
        size_t offset, bytes;
    };
    std::vector<object> objects; // in shared memory
    size_t dynamic_shared = 0;
    size_t shared_end = 0;

    uint32_t interval = 0;
    uint32_t first_of_block = 0, first_of_launch = 0; // intervals
    std::vector<lanes_step> reads;                    // of the interval, beyond the first of a cell
};
region device;

size_t rounded(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

void mark(size_t offset, size_t bytes, uint8_t set, uint8_t clear) {
    uint8_t *const states = device.states;
    for (size_t i = offset / cell_bytes; i < (offset + bytes + cell_bytes - 1) / cell_bytes; ++i)
        states[i] = static_cast<uint8_t>((states[i] & ~clear) | set);
}

void forget(size_t offset, size_t bytes) {
    memset(device.states + offset / cell_bytes, 0, rounded(bytes, cell_bytes) / cell_bytes);
}

// ---- order of accesses -------------------------------------------------------------------------

unsigned thread_of(step s) {
    return s & ((1u << thread_bits) - 1);
}
step step_now(const clock_vector &clock) {
    return clock.now << thread_bits | clock.self;
}
bool has_seen(const clock_vector &clock, unsigned thread, uint32_t count) {
    return thread == clock.self || count <= clock.seen[thread];
}
bool is_ordered(step before, const clock_vector &clock) {
    return has_seen(clock, thread_of(before), before >> thread_bits);
}

lanes_step lanes_step_now(const clock_vector &clock) {
    return {clock.now << warp_bits | clock.self / lanes, 1u << clock.self % lanes, 0};
}
unsigned warp_of(const lanes_step &s) {
    return s.count_and_warp & ((1u << warp_bits) - 1);
}
/* Whether all of its lanes have been seen, where that is known at once. */
bool is_surely_ordered(const lanes_step &before, const clock_vector &clock) {
    return warp_of(before) == clock.self / lanes &&
           (before.count_and_warp >> warp_bits <= clock.seen_of_warp ||
            before.lanes == 1u << clock.self % lanes);
}

/* Joins the lanes that read in the same step, or stands in the place of a read that comes before.
 */
void add_read(lanes_step &first, const clock_vector &clock) {
    region &d = device;
    const lanes_step own = lanes_step_now(clock);
    for (lanes_step *at = &first;; at = &d.reads[at->next]) {
        if (at->count_and_warp == own.count_and_warp) {
            at->lanes |= own.lanes;
            return;
        }
        if (!at->lanes || is_surely_ordered(*at, clock)) {
            at->count_and_warp = own.count_and_warp;
            at->lanes = own.lanes;
            return;
        }
        if (!at->next)
            break;
    }
    d.reads.push_back(first);
    first = {own.count_and_warp, own.lanes, static_cast<uint32_t>(d.reads.size() - 1)};
}

/* A thread whose read may come after the write that is checked, or -1. */
int unordered_reader(const lanes_step &first, const clock_vector &clock) {
    for (const lanes_step *at = &first;; at = &device.reads[at->next]) {
        if (!is_surely_ordered(*at, clock))
            for (uint32_t left = at->lanes; left; left &= left - 1) {
                const unsigned t =
                    warp_of(*at) * lanes + static_cast<unsigned>(__builtin_ctz(left));
                if (!has_seen(clock, t, at->count_and_warp >> warp_bits))
                    return static_cast<int>(t);
            }
        if (!at->next)
            return -1;
    }
}

// ---- accesses ----------------------------------------------------------------------------------

const char *area_of(size_t offset) {
    return offset < heap_begin ? "shared" : "global";
}

void enter_interval(record &r, size_t offset) {
    const region &d = device;
    // Each block has shared memory of its own.
    if (r.interval < (offset < heap_begin ? d.first_of_block : d.first_of_launch))
        r.own = r.others = 0;
    else if (r.interval < d.first_of_block) {
        r.others |= r.own;
        r.own = 0;
    }
    r.interval = d.interval;
    r.write = 0;
    r.reads = {};
}

[[noreturn]] void race(const clock_vector &clock, size_t offset, const char *doing,
                       const void *code, const char *earlier, unsigned thread, uint32_t at) {
    fault("race", {{doing, clock.self, code}, {earlier, thread, code_at(at)}},
          "no barrier between two accesses to %s memory", area_of(offset));
}

[[noreturn]] void race_of_blocks(const clock_vector &clock, size_t offset, const char *doing,
                                 const void *code, const char *earlier, uint32_t at) {
    fault("race of blocks", {{doing, clock.self, code}, {earlier, another_block, code_at(at)}},
          "two blocks meet in %s memory", area_of(offset));
}

[[noreturn]] void refuse(const record &r, uint8_t state, const clock_vector &clock, size_t offset,
                         const char *doing, const void *code) {
    if (!(state & ALLOCATED))
        fault("out of bounds", {{doing, clock.self, code}}, "an access to %s memory leaves it",
              area_of(offset));
    if (state & IN_FLIGHT)
        fault("copy under way",
              {{doing, clock.self, code}, {"copy by", thread_of(r.write), code_at(r.write_code)}},
              "an asynchronous copy has not landed");
    fault("never written", {{doing, clock.self, code}},
          "shared memory is read before anything is written there");
}

template <bool is_write>
void touch_cell(size_t index, const clock_vector &clock, const void *code) {
    region &d = device;
    record &r = d.records[index];
    uint8_t &state = d.states[index];
    const char *const doing = is_write ? "write by" : "read by";
    const size_t offset = index * cell_bytes;
    if (is_write ? (state & (ALLOCATED | IN_FLIGHT)) != ALLOCATED : state != (ALLOCATED | WRITTEN))
        refuse(r, state, clock, offset, doing, code);
    if (r.interval != d.interval)
        enter_interval(r, offset);
    if (r.others & WROTE)
        race_of_blocks(clock, offset, doing, code, "write in another block", r.write_code);
    if (is_write && (r.others & READ))
        race_of_blocks(clock, offset, doing, code, "read in another block", r.read_code);
    if (r.write && !is_ordered(r.write, clock))
        race(clock, offset, doing, code, "write by", thread_of(r.write), r.write_code);
    if constexpr (is_write) {
        const int reader = r.reads.lanes ? unordered_reader(r.reads, clock) : -1;
        if (reader >= 0)
            race(clock, offset, doing, code, "read by", static_cast<unsigned>(reader), r.read_code);
        r.reads = {};
        r.write = step_now(clock);
        r.write_code = offset_of(code);
        r.own |= WROTE;
        state |= WRITTEN;
    } else {
        add_read(r.reads, clock);
        r.read_code = offset_of(code);
        r.own |= READ;
    }
}

template <bool is_write>
[[gnu::noinline]] void touch_beyond_stack(const void *address, size_t bytes, const void *code) {
    const size_t offset = static_cast<size_t>(static_cast<const char *>(address) - device.bytes);
    if (offset < region_bytes) {
        if (--running.until_yield == 0)
            yield();
        for (size_t i = offset / cell_bytes; i <= (offset + bytes - 1) / cell_bytes; ++i)
            touch_cell<is_write>(i, running.clock, code);
    } else if (!is_private(address, is_write)) {
        fault("out of bounds", {{is_write ? "write by" : "read by", running.clock.self, code}},
              "%p is neither the device's memory nor the thread's own", address);
    }
}

template <bool is_write> inline void touch(const void *address, size_t bytes, const void *code) {
    const size_t on_stack = static_cast<size_t>(static_cast<const char *>(address) - running.stack);
    if (on_stack >= stack_bytes && running.stack)
        touch_beyond_stack<is_write>(address, bytes, code);
}

} // namespace

// ---- shared memory -----------------------------------------------------------------------------

void begin_launch() {
    device.first_of_launch = device.interval + 1;
}

void begin_block(size_t dynamic_shared_bytes) {
    region &d = device;
    begin_interval();
    d.first_of_block = d.interval;
    d.objects.clear();
    d.dynamic_shared = dynamic_shared_bytes;
    d.shared_end = dynamic_shared_bytes ? rounded(dynamic_shared_bytes, 16) + guard_bytes : 0;
    mark(0, dynamic_shared_bytes, ALLOCATED, 0);
}

void begin_interval() {
    ++device.interval;
    device.reads.resize(1); // the first is none
}

void end_block() {
    forget(0, device.shared_end);
}

void *dynamic_shared_memory() {
    return device.bytes;
}

void *shared_memory(const void *tag, size_t bytes) {
    region &d = device;
    size_t all = d.dynamic_shared + bytes;
    for (const region::object &object : d.objects) {
        if (object.tag == tag)
            return d.bytes + object.offset;
        all += object.bytes;
    }
    const size_t limit =
        d.dynamic_shared > shared_limit_unasked ? shared_limit : shared_limit_unasked;
    const size_t guarded = rounded(bytes, 16) + guard_bytes;
    if (all > limit || d.shared_end + guarded > heap_begin)
        fault("shared memory", {}, "a block takes %zu bytes, of %zu", all, limit);
    d.objects.push_back({tag, d.shared_end, bytes});
    mark(d.shared_end, bytes, ALLOCATED, 0);
    d.shared_end += guarded;
    return d.bytes + d.objects.back().offset;
}

void begin_copy_bytes(void *shared, const void *global, size_t bytes) {
    const void *const code = __builtin_return_address(0);
    touch<false>(global, bytes, code);
    touch<true>(shared, bytes, code);
    mark(static_cast<size_t>(static_cast<char *>(shared) - device.bytes), bytes, IN_FLIGHT, 0);
    running_copies().push_back({shared, global, bytes, code, running_group()});
}

void land_copies(unsigned end_of_groups) {
    std::vector<copy> &copies = running_copies();
    auto next = copies.begin();
    for (; next != copies.end() && next->group < end_of_groups; ++next) {
        touch<false>(next->from, next->bytes, next->code);
        mark(static_cast<size_t>(static_cast<char *>(next->to) - device.bytes), next->bytes, 0,
             IN_FLIGHT);
        memcpy(next->to, next->from, next->bytes);
    }
    copies.erase(copies.begin(), next);
}

} // namespace simulation

// ---- global memory -----------------------------------------------------------------------------

using namespace simulation;

void *simulation_alloc(size_t bytes) {
    region &d = device;
    const size_t begin = d.heap_end + guard_bytes;
    const size_t taken = rounded(bytes, guard_bytes);
    if (begin + taken > region_bytes)
        return nullptr;
    d.allocations[begin] = bytes;
    d.heap_end = begin + taken;
    mark(begin, bytes, ALLOCATED | WRITTEN, 0);
    return d.bytes + begin;
}

/* Space is used again once all that lies behind it is free too. */
void simulation_free(void *memory) {
    if (!memory)
        return;
    region &d = device;
    const auto found =
        d.allocations.find(static_cast<size_t>(static_cast<char *>(memory) - d.bytes));
    if (found == d.allocations.end())
        abort();
    forget(found->first, found->second);
    d.allocations.erase(found);
    d.heap_end = heap_begin;
    if (!d.allocations.empty()) {
        const auto last = --d.allocations.end();
        d.heap_end = last->first + rounded(last->second, guard_bytes);
    }
}

bool simulation_owns(const void *memory) {
    region &d = device;
    const size_t offset = static_cast<size_t>(static_cast<const char *>(memory) - d.bytes);
    return offset < region_bytes && (d.states[offset / cell_bytes] & ALLOCATED);
}

// ---- calls of the instrumentation --------------------------------------------------------------

#define ACCESS(name, bytes, is_write)                                                              \
    void name(void *address);                                                                      \
    void name(void *address) {                                                                     \
        touch<is_write>(address, bytes, __builtin_return_address(0));                              \
    }

extern "C" {
void __tsan_init(void);
void __tsan_init(void) {}

ACCESS(__tsan_read1, 1, false)
ACCESS(__tsan_read2, 2, false)
ACCESS(__tsan_read4, 4, false)
ACCESS(__tsan_read8, 8, false)
ACCESS(__tsan_read16, 16, false)
ACCESS(__tsan_write1, 1, true)
ACCESS(__tsan_write2, 2, true)
ACCESS(__tsan_write4, 4, true)
ACCESS(__tsan_write8, 8, true)
ACCESS(__tsan_write16, 16, true)
ACCESS(__tsan_unaligned_read2, 2, false)
ACCESS(__tsan_unaligned_read4, 4, false)
ACCESS(__tsan_unaligned_read8, 8, false)
ACCESS(__tsan_unaligned_read16, 16, false)
ACCESS(__tsan_unaligned_write2, 2, true)
ACCESS(__tsan_unaligned_write4, 4, true)
ACCESS(__tsan_unaligned_write8, 8, true)
ACCESS(__tsan_unaligned_write16, 16, true)

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    touch<false>(from, bytes, __builtin_return_address(0));
    touch<true>(to, bytes, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    touch<false>(from, bytes, __builtin_return_address(0));
    touch<true>(to, bytes, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes) {
    touch<true>(to, bytes, __builtin_return_address(0));
    return memset(to, value, bytes);
}
}
