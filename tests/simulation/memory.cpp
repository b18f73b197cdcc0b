/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's memory and the record of who touched which four bytes of it. Kernels are compiled
 * with ThreadSanitizer's instrumentation, whose calls end here instead of in its own run time: that
 * one knows neither blocks nor memory never written, and remembers four accesses a word. */
#include "simulation/internal.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>

namespace simulation {
namespace {

constexpr size_t cell_bytes = 4;
constexpr size_t guard_bytes = 256; // between allocations
constexpr size_t region_bytes = size_t{1} << 30;
constexpr size_t heap_begin = 1 << 18; // shared memory comes first
static_assert(shared_limit + guard_bytes < heap_begin, "shared memory fits before the heap");

enum : uint8_t { ALLOCATED = 1, WRITTEN = 2, IN_FLIGHT = 4 };
enum : uint8_t { OTHERS_READ = 1, OTHERS_WROTE = 2 };

/* A step of a thread; 0 is none. */
using step = uint32_t;
constexpr unsigned thread_bits = 10;
static_assert(most_threads <= 1u << thread_bits, "a thread's number fits a step");

/* Four bytes. Steps are of the block that `visit` numbers; `others` are earlier blocks of the same
 * launch. Reads that a later read is ordered after are forgotten with it. */
struct cell {
    static constexpr int few = 3;
    uint32_t launch;
    uint32_t visit;
    step write;
    step reads[few];
    uint32_t *all_reads;            // by thread, once `few` are not enough
    uint32_t write_code, read_code; // of the last one, as offsets into the program
    uint8_t state;
    uint8_t others;
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
    cell *const cells = reserve<cell>(region_bytes / cell_bytes * sizeof(cell));
    std::map<size_t, size_t> allocations; // offset, bytes
    size_t heap_end = heap_begin;

    struct object {
        const void *tag;
        size_t offset, bytes;
    };
    std::vector<object> objects; // in shared memory
    size_t dynamic_shared = 0;
    size_t shared_end = 0;

    uint32_t launch = 0;
    uint32_t visit = 0;
    std::deque<std::unique_ptr<uint32_t[]>> read_lists;
    size_t read_lists_used = 0;
};
region &device() {
    static region the_region;
    return the_region;
}

size_t rounded(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

void mark(size_t offset, size_t bytes, uint8_t set, uint8_t clear) {
    cell *const cells = device().cells;
    for (size_t i = offset / cell_bytes; i < (offset + bytes + cell_bytes - 1) / cell_bytes; ++i)
        cells[i].state = static_cast<uint8_t>((cells[i].state & ~clear) | set);
}

void forget(size_t offset, size_t bytes) {
    memset(device().cells + offset / cell_bytes, 0,
           rounded(bytes, cell_bytes) / cell_bytes * sizeof(cell));
}

unsigned thread_of(step s) {
    return s & ((1u << thread_bits) - 1);
}
step step_now(const clock_vector &clock) {
    return clock.seen[clock.self] << thread_bits | clock.self;
}
bool is_ordered(step before, const clock_vector &clock) {
    return before >> thread_bits <= clock.seen[thread_of(before)];
}

uint32_t *new_read_list() {
    region &d = device();
    if (d.read_lists_used == d.read_lists.size())
        d.read_lists.emplace_back(new uint32_t[most_threads]);
    uint32_t *const list = d.read_lists[d.read_lists_used++].get();
    memset(list, 0, block_threads() * sizeof *list);
    return list;
}

const char *area_of(size_t offset) {
    return offset < heap_begin ? "shared" : "global";
}

void enter_block(cell &c) {
    const region &d = device();
    if (c.launch != d.launch)
        c.others = 0;
    else
        c.others |= static_cast<uint8_t>((c.write ? OTHERS_WROTE : 0) |
                                         (c.reads[0] || c.all_reads ? OTHERS_READ : 0));
    c.launch = d.launch;
    c.visit = d.visit;
    c.write = 0;
    c.all_reads = nullptr;
    memset(c.reads, 0, sizeof c.reads);
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

void add_read(cell &c, const clock_vector &clock) {
    if (c.all_reads) {
        c.all_reads[clock.self] = clock.seen[clock.self];
        return;
    }
    int kept = 0;
    for (int i = 0; i < cell::few && c.reads[i]; ++i)
        if (!is_ordered(c.reads[i], clock))
            c.reads[kept++] = c.reads[i];
    if (kept < cell::few) {
        c.reads[kept] = step_now(clock);
        for (int i = kept + 1; i < cell::few; ++i)
            c.reads[i] = 0;
        return;
    }
    c.all_reads = new_read_list();
    for (const step s : c.reads)
        c.all_reads[thread_of(s)] = s >> thread_bits;
    c.all_reads[clock.self] = clock.seen[clock.self];
}

/* A thread whose read of the cell may come after the write that is checked, or -1. */
int unordered_reader(const cell &c, const clock_vector &clock) {
    if (c.all_reads) {
        const unsigned count = block_threads();
        for (unsigned t = 0; t < count; ++t)
            if (c.all_reads[t] > clock.seen[t])
                return static_cast<int>(t);
        return -1;
    }
    for (int i = 0; i < cell::few && c.reads[i]; ++i)
        if (!is_ordered(c.reads[i], clock))
            return static_cast<int>(thread_of(c.reads[i]));
    return -1;
}

void touch_cell(cell &c, size_t offset, bool is_write, const clock_vector &clock,
                const void *code) {
    const region &d = device();
    const char *const doing = is_write ? "write by" : "read by";
    if (!(c.state & ALLOCATED))
        fault("out of bounds", {{doing, clock.self, code}}, "an access to %s memory leaves it",
              area_of(offset));
    if (c.state & IN_FLIGHT)
        fault("copy under way",
              {{doing, clock.self, code}, {"copy by", thread_of(c.write), code_at(c.write_code)}},
              "an asynchronous copy has not landed");
    if (offset < heap_begin && !is_write && !(c.state & WRITTEN))
        fault("never written", {{doing, clock.self, code}},
              "shared memory is read before anything is written there");
    if (c.visit != d.visit)
        enter_block(c);
    if (c.others & OTHERS_WROTE)
        race_of_blocks(clock, offset, doing, code, "write in another block", c.write_code);
    if (is_write && (c.others & OTHERS_READ))
        race_of_blocks(clock, offset, doing, code, "read in another block", c.read_code);
    if (c.write && !is_ordered(c.write, clock))
        race(clock, offset, doing, code, "write by", thread_of(c.write), c.write_code);
    if (!is_write) {
        add_read(c, clock);
        c.read_code = offset_of(code);
        return;
    }
    const int reader = unordered_reader(c, clock);
    if (reader >= 0)
        race(clock, offset, doing, code, "read by", static_cast<unsigned>(reader), c.read_code);
    memset(c.reads, 0, sizeof c.reads);
    c.all_reads = nullptr;
    c.write = step_now(clock);
    c.write_code = offset_of(code);
    c.state |= WRITTEN;
}

void touch(const void *address, size_t bytes, bool is_write, const void *code) {
    const clock_vector *const clock = running_clock();
    if (!clock)
        return;
    maybe_yield();
    region &d = device();
    const size_t offset = static_cast<size_t>(static_cast<const char *>(address) - d.bytes);
    if (offset < region_bytes) {
        for (size_t i = offset / cell_bytes; i <= (offset + bytes - 1) / cell_bytes; ++i)
            touch_cell(d.cells[i], i * cell_bytes, is_write, *clock, code);
    } else if (!is_private(address, is_write)) {
        fault("out of bounds", {{is_write ? "write by" : "read by", clock->self, code}},
              "%p is neither the device's memory nor the thread's own", address);
    }
}

} // namespace

// ---- shared memory -----------------------------------------------------------------------------

void begin_launch() {
    ++device().launch;
}

void begin_block(size_t dynamic_shared_bytes) {
    region &d = device();
    ++d.visit;
    d.read_lists_used = 0;
    d.objects.clear();
    d.dynamic_shared = dynamic_shared_bytes;
    d.shared_end = dynamic_shared_bytes ? rounded(dynamic_shared_bytes, 16) + guard_bytes : 0;
    mark(0, dynamic_shared_bytes, ALLOCATED, 0);
}

void end_block() {
    forget(0, device().shared_end);
}

void *dynamic_shared_memory() {
    return device().bytes;
}

void *shared_memory(const void *tag, size_t bytes) {
    region &d = device();
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
    touch(global, bytes, false, code);
    touch(shared, bytes, true, code);
    mark(static_cast<size_t>(static_cast<char *>(shared) - device().bytes), bytes, IN_FLIGHT, 0);
    running_copies().push_back({shared, global, bytes, code, running_group()});
}

void land_copies(unsigned end_of_groups) {
    std::vector<copy> &copies = running_copies();
    auto next = copies.begin();
    for (; next != copies.end() && next->group < end_of_groups; ++next) {
        touch(next->from, next->bytes, false, next->code);
        mark(static_cast<size_t>(static_cast<char *>(next->to) - device().bytes), next->bytes, 0,
             IN_FLIGHT);
        memcpy(next->to, next->from, next->bytes);
    }
    copies.erase(copies.begin(), next);
}

} // namespace simulation

// ---- global memory -----------------------------------------------------------------------------

using namespace simulation;

void *simulation_alloc(size_t bytes) {
    region &d = device();
    const size_t begin = d.heap_end + guard_bytes;
    const size_t taken = rounded(bytes, guard_bytes);
    if (begin + taken > region_bytes)
        return nullptr;
    d.allocations[begin] = bytes;
    d.heap_end = begin + taken;
    mark(begin, bytes, ALLOCATED, 0);
    return d.bytes + begin;
}

/* Space is used again once all that lies behind it is free too. */
void simulation_free(void *memory) {
    if (!memory)
        return;
    region &d = device();
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
    region &d = device();
    const size_t offset = static_cast<size_t>(static_cast<const char *>(memory) - d.bytes);
    return offset < region_bytes && (d.cells[offset / cell_bytes].state & ALLOCATED);
}

// ---- calls of the instrumentation --------------------------------------------------------------

#define ACCESS(name, bytes, is_write)                                                              \
    void name(void *address);                                                                      \
    void name(void *address) {                                                                     \
        touch(address, bytes, is_write, __builtin_return_address(0));                              \
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
    touch(from, bytes, false, __builtin_return_address(0));
    touch(to, bytes, true, __builtin_return_address(0));
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    touch(from, bytes, false, __builtin_return_address(0));
    touch(to, bytes, true, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes) {
    touch(to, bytes, true, __builtin_return_address(0));
    return memset(to, value, bytes);
}
}
