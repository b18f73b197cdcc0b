/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks, their threads as fibers, and what makes threads wait. */
#include "simulation/internal.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>

namespace simulation {
namespace {

enum class reason { block_barrier, warp_barrier, exchange, event };

struct wait {
    reason why;
    source_line where; // of barriers
    const void *code;  // of exchanges, or the event
    unsigned mask;
    uint64_t bits;
    int source;
    int width;
};

struct fiber {
    char *stack = nullptr;
    jmp_buf context;
    bool started = false;

    wait waits;
    uint64_t received; // by an exchange
    std::vector<copy> copies;
    unsigned group; // of copies
};

struct event_state {
    unsigned thread; // that prepared it,
    uint32_t now;    // at which of its steps
    unsigned interval;
    unsigned untold;            // by how many threads yet
    std::vector<uint32_t> seen; // by those that told it
    unsigned told_in;           // the last one's interval
};

/* Lanes of a warp, as bits. Those the block does not have count as returned; the rest are none of
 * the three while they wait for an event. */
struct warp_state {
    unsigned ready, waiting, returned;
    uint32_t seen_of_warp; // steps of its lanes, by all of them
    bool differs;          // some lane has seen what others have not
};

constexpr unsigned all_lanes = ~0u;

using site_key = std::pair<std::string, int>;
struct site {
    barrier_kind kind;
    std::set<int> runs; // that met it
};

struct machine {
    fiber fibers[most_threads];
    warp_state warps[most_threads / lanes];
    unsigned threads = 0;
    unsigned returned = 0;
    fiber *running = nullptr;
    jmp_buf scheduler;
    bool abandoned = false;
    unsigned at_block_barrier = 0;
    const fiber *first_at_block_barrier = nullptr;

    // Clocks. The lanes of a warp share what they have seen, unless they differ.
    uint32_t now[most_threads];
    const uint32_t *seen[most_threads];
    std::vector<uint32_t> seen_by_warps, seen_by_threads; // of as many entries as threads
    unsigned interval = 0;
    std::map<const void *, event_state> events; // prepared

    const kernel_call *call = nullptr;
    std::map<const void *, size_t> dynamic_shared_allowed;

    schedule_t schedule = {};
    std::mt19937_64 random;

    std::map<site_key, site> sites;
    std::map<std::pair<const char *, int>, site *> sites_by_address; // of the file's name
    source_line last_line = {nullptr, 0};
    const site *last_site = nullptr;
    const site *removed = nullptr;
    int run = 0;
};
machine m;

unsigned index_of(const fiber &f) {
    return static_cast<unsigned>(&f - m.fibers);
}
warp_state &warp_of(const fiber &f) {
    return m.warps[index_of(f) / lanes];
}
unsigned lane_bit(const fiber &f) {
    return 1u << index_of(f) % lanes;
}

// ---- schedules ---------------------------------------------------------------------------------

/* The first ready thread of [begin, end), or -1. */
int first_ready(unsigned begin, unsigned end) {
    for (unsigned w = begin / lanes; w * lanes < end; ++w) {
        unsigned ready = m.warps[w].ready;
        if (begin > w * lanes)
            ready &= ~0u << begin % lanes;
        if (ready) {
            const unsigned t = w * lanes + static_cast<unsigned>(__builtin_ctz(ready));
            return t < end ? static_cast<int>(t) : -1;
        }
    }
    return -1;
}

/* The last ready thread of [begin, end), or -1. */
int last_ready(unsigned begin, unsigned end) {
    for (unsigned w = (end + lanes - 1) / lanes; w-- > begin / lanes;) {
        unsigned ready = m.warps[w].ready;
        if (end < (w + 1) * lanes)
            ready &= (1u << end % lanes) - 1;
        if (ready) {
            const unsigned t = w * lanes + lanes - 1 - static_cast<unsigned>(__builtin_clz(ready));
            return t >= begin ? static_cast<int>(t) : -1;
        }
    }
    return -1;
}

int any_ready(unsigned last) {
    const int after = first_ready(last + 1, m.threads);
    return after >= 0 ? after : first_ready(0, std::min(last + 1, m.threads));
}

int next_thread(unsigned last) {
    const unsigned warps = m.threads / lanes;
    const unsigned begin = m.schedule.warp % std::max(warps, 1u) * lanes;
    const unsigned end = std::min(begin + lanes, m.threads);
    switch (m.schedule.order) {
    case BACKWARDS: {
        const int before = last_ready(0, last);
        return before >= 0 ? before : last_ready(last, m.threads);
    }
    case WARP_AHEAD: {
        const int ahead = first_ready(begin, end);
        return ahead >= 0 ? ahead : any_ready(last);
    }
    case WARP_BEHIND: {
        const int before = first_ready(0, begin);
        const int after = before >= 0 ? before : first_ready(end, m.threads);
        return after >= 0 ? after : first_ready(begin, end);
    }
    case RANDOM:
        return any_ready(static_cast<unsigned>(m.random() % m.threads));
    default:
        return any_ready(last);
    }
}

// ---- fibers ------------------------------------------------------------------------------------
// makecontext starts a fiber; from then on _setjmp and _longjmp switch, which make no system call.

void read_clock() {
    const unsigned t = index_of(*m.running);
    running.clock = {m.seen[t], warp_of(*m.running).seen_of_warp, m.now[t], t};
}

[[noreturn]] void live();

void give_stack(fiber &f) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *const memory = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
        perror("simulated device: a thread's stack");
        abort();
    }
    f.stack = static_cast<char *>(memory) + page;
}

/* To the thread of this number; to the scheduler, if it is none's. */
[[noreturn]] void go_on_with(int next) {
    if (next < 0)
        _longjmp(m.scheduler, 1);
    fiber &f = m.fibers[next];
    if (!f.stack)
        give_stack(f);
    m.running = &f;
    here.thread.x = static_cast<unsigned>(next);
    running.stack = f.stack;
    read_clock();
    if (f.started)
        _longjmp(f.context, 1);
    f.started = true;
    static ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = f.stack;
    start.uc_stack.ss_size = stack_bytes;
    start.uc_link = nullptr;
    makecontext(&start, live, 0);
    setcontext(&start);
    abort();
}

/* Lets the schedule say who goes on, until it comes back to this thread. */
void leave() {
    fiber *const self = m.running;
    const int next = next_thread(index_of(*self));
    if (next != static_cast<int>(index_of(*self)) && !_setjmp(self->context))
        go_on_with(next);
}

/* A fiber serves one thread after another. */
void live() {
    for (;;) {
        m.call->run(m.call->parameters);
        if (!m.running->copies.empty())
            fault("copy under way", {}, "a thread returned before its copies had landed");
        warp_state &warp = warp_of(*m.running);
        warp.ready &= ~lane_bit(*m.running);
        warp.returned |= lane_bit(*m.running);
        ++m.returned;
        leave();
    }
}

// ---- waiting -----------------------------------------------------------------------------------

/* Until something makes it ready. */
void wait_as(const wait &how) {
    fiber &self = *m.running;
    self.waits = how;
    warp_of(self).ready &= ~lane_bit(self);
}

uint32_t *seen_by_warp(unsigned warp) {
    return m.seen_by_warps.data() + size_t{warp} * m.threads;
}

/* What a thread has seen, apart from what its warp has. */
uint32_t *seen_alone(unsigned t) {
    uint32_t *const own = m.seen_by_threads.data() + size_t{t} * m.threads;
    if (m.seen[t] != own)
        std::copy_n(m.seen[t], m.threads, own);
    m.seen[t] = own;
    m.warps[t / lanes].differs = true;
    return own;
}

void take_latest(uint32_t *seen, const uint32_t *also) {
    for (unsigned t = 0; t < m.threads; ++t)
        seen[t] = std::max(seen[t], also[t]);
}

/* All lanes of a warp have seen the same. */
void forget_differences(unsigned warp) {
    for (unsigned t = warp * lanes; t < std::min((warp + 1) * lanes, m.threads); ++t)
        m.seen[t] = seen_by_warp(warp);
    m.warps[warp].differs = false;
}

/* All that these lanes of a warp did comes before all that they will do. */
void join(unsigned warp, unsigned mask) {
    warp_state &w = m.warps[warp];
    const unsigned first = warp * lanes;
    uint32_t *const seen = seen_by_warp(warp);
    if (mask == all_lanes) {
        for (unsigned t = first; w.differs && t < first + lanes; ++t)
            take_latest(seen, m.seen[t]);
        if (w.differs)
            forget_differences(warp);
        std::copy_n(m.now + first, lanes, seen + first);
        w.seen_of_warp = *std::min_element(seen + first, seen + first + lanes);
        for (unsigned t = first; t < first + lanes; ++t)
            ++m.now[t];
    } else {
        static std::vector<uint32_t> latest;
        latest.assign(m.threads, 0);
        for (unsigned left = mask; left; left &= left - 1)
            take_latest(latest.data(), m.seen[first + static_cast<unsigned>(__builtin_ctz(left))]);
        for (unsigned left = mask; left; left &= left - 1) {
            const unsigned t = first + static_cast<unsigned>(__builtin_ctz(left));
            latest[t] = m.now[t];
        }
        for (unsigned left = mask; left; left &= left - 1) {
            const unsigned t = first + static_cast<unsigned>(__builtin_ctz(left));
            std::copy_n(latest.data(), m.threads, seen_alone(t));
            ++m.now[t];
        }
    }
    w.waiting &= ~mask;
    w.ready |= mask;
    read_clock();
}

/* The lanes of the own warp that the mask names. */
template <class Call> void for_lanes(const fiber &self, unsigned mask, Call call) {
    fiber *const first = m.fibers + index_of(self) / lanes * lanes;
    for (; mask; mask &= mask - 1)
        call(first[__builtin_ctz(mask)]);
}
fiber &first_lane(const fiber &self, unsigned mask) {
    return m.fibers[index_of(self) / lanes * lanes + static_cast<unsigned>(__builtin_ctz(mask))];
}

const char *name_of(reason why) {
    return why == reason::block_barrier  ? "a block barrier"
           : why == reason::warp_barrier ? "a warp barrier"
           : why == reason::event        ? "an event"
                                         : "a shuffle";
}

std::string describe(const wait &w) {
    std::string text = name_of(w.why);
    if (w.why != reason::exchange)
        text += std::string(" (") + w.where.file + ":" + std::to_string(w.where.line) + ")";
    return text;
}

bool is_same_call(const wait &a, const wait &b) {
    return a.why == b.why && a.mask == b.mask && a.code == b.code && a.where.line == b.where.line;
}

/* Whether all lanes of the own mask wait in the same call. */
bool is_warp_complete(fiber &self) {
    warp_state &warp = warp_of(self);
    const unsigned mask = self.waits.mask;
    if (const unsigned gone = mask & warp.returned)
        fault("divergence", {}, "%s waits for thread %u, which has returned",
              describe(self.waits).c_str(), index_of(first_lane(self, gone)));
    if (const unsigned others = mask & warp.waiting) {
        const fiber &other = first_lane(self, others);
        if (!is_same_call(other.waits, self.waits))
            fault("divergence", {}, "%s waits for thread %u, which is at %s",
                  describe(self.waits).c_str(), index_of(other), describe(other.waits).c_str());
    }
    warp.waiting |= lane_bit(self);
    return (mask & ~warp.waiting) == 0;
}

static void expect_same_call(const fiber &self, const fiber &other, const char *of) {
    if (!is_same_call(other.waits, self.waits))
        fault("divergence", {}, "%s, while thread %u of the %s is at %s",
              describe(self.waits).c_str(), index_of(other), of, describe(other.waits).c_str());
}

void wait_for_block(source_line where) {
    fiber &self = *m.running;
    warp_state &warp = warp_of(self);
    wait_as({reason::block_barrier, where, nullptr, 0, 0, 0, 0});
    if (warp.waiting)
        expect_same_call(self, first_lane(self, warp.waiting), "warp");
    warp.waiting |= lane_bit(self);
    /* The hardware counts arrivals alone; CUDA C++ wants one call for the whole block. */
    if (m.at_block_barrier == 0)
        m.first_at_block_barrier = &self;
    expect_same_call(self, *m.first_at_block_barrier, "block");
    if (++m.at_block_barrier < m.threads) {
        leave();
        return;
    }
    m.at_block_barrier = 0;
    for (unsigned w = 0; w * lanes < m.threads; ++w) {
        m.warps[w].ready = m.warps[w].waiting;
        m.warps[w].waiting = 0;
        if (m.warps[w].differs)
            forget_differences(w);
    }
    ++m.interval;
    begin_interval();
    read_clock();
}

void wait_for_warp(source_line where) {
    fiber &self = *m.running;
    wait_as({reason::warp_barrier, where, nullptr, all_lanes, 0, 0, 0});
    if (is_warp_complete(self))
        join(index_of(self) / lanes, all_lanes);
    else
        leave();
}

/* Nobody can go on. */
void stuck() {
    std::map<std::string, unsigned> waiting;
    for (unsigned t = 0; t < m.threads; ++t)
        if (!(m.warps[t / lanes].returned >> t % lanes & 1))
            ++waiting[describe(m.fibers[t].waits)];
    std::string text;
    for (const auto &[where, count] : waiting)
        text += std::to_string(count) + " at " + where + ", ";
    record_fault("divergence", {}, "no thread of %u can go on: %s%u returned", m.threads,
                 text.c_str(), m.returned);
    m.abandoned = true;
}

// ---- blocks ------------------------------------------------------------------------------------

void run_block(unsigned block, size_t dynamic_shared_bytes) {
    here.block.x = block;
    begin_block(dynamic_shared_bytes);
    const unsigned warps = (m.threads + lanes - 1) / lanes;
    std::fill_n(m.now, m.threads, 1);
    m.seen_by_warps.assign(size_t{warps} * m.threads, 0);
    m.interval = 0;
    m.events.clear();
    m.at_block_barrier = 0;
    m.returned = 0;
    for (unsigned w = 0; w < warps; ++w) {
        const unsigned count = std::min<unsigned>(m.threads - w * lanes, lanes);
        const unsigned there = all_lanes >> (lanes - count);
        m.warps[w] = {there, 0, ~there, 0, false};
        forget_differences(w);
    }
    for (unsigned t = 0; t < m.threads; ++t) {
        m.fibers[t].copies.clear();
        m.fibers[t].group = 0;
    }
    if (!_setjmp(m.scheduler))
        go_on_with(next_thread(m.threads - 1));
    m.running = nullptr;
    running.stack = nullptr;
    if (m.returned < m.threads && !m.abandoned)
        stuck();
    end_block();
}

const site *site_at(barrier_kind kind, source_line where) {
    if (where.line == m.last_line.line && where.file == m.last_line.file)
        return m.last_site;
    site *&known = m.sites_by_address[{where.file, where.line}];
    if (!known) {
        const char *const slash = strrchr(where.file, '/');
        const site_key key = {slash ? slash + 1 : where.file, where.line};
        known = &m.sites.try_emplace(key, site{kind, {}}).first->second;
    }
    known->runs.insert(m.run);
    m.last_line = where;
    m.last_site = known;
    return known;
}

} // namespace

place here;
running_thread running;

std::vector<copy> &running_copies() {
    return m.running->copies;
}
unsigned &running_group() {
    return m.running->group;
}
const void *running_kernel() {
    return m.call->kernel;
}

void yield() {
    running.until_yield = UINT64_MAX;
    if (m.schedule.order == RANDOM) {
        running.until_yield = 1 + m.random() % 31;
        leave();
    }
}

extern "C" char end; // the linker's

bool is_private(const void *address, bool is_write) {
    const char *const a = static_cast<const char *>(address);
    const char *const parameters = static_cast<const char *>(m.call->parameters);
    const bool is_parameter = a >= parameters && a < parameters + m.call->bytes;
    const bool is_constant = a >= &__executable_start && a < &end;
    return !is_write && (is_parameter || is_constant);
}

void abandon_launch() {
    m.abandoned = true;
    _longjmp(m.scheduler, 1);
}

void meet(barrier_kind kind, source_line where) {
    if (site_at(kind, where) == m.removed)
        return;
    switch (kind) {
    case barrier_kind::block:
        return wait_for_block(where);
    case barrier_kind::warp:
        return wait_for_warp(where);
    case barrier_kind::copies:
        return land_copies(++m.running->group);
    case barrier_kind::event:
        return;
    }
}

void end_group_of_copies() {
    ++m.running->group;
}

void wait_for_groups(int open, source_line where) {
    const unsigned left = static_cast<unsigned>(open);
    if (site_at(barrier_kind::copies, where) != m.removed && m.running->group > left)
        land_copies(m.running->group - left);
}

void prepare_event(const void *event) {
    m.events[event] = {running.clock.self,
                       running.clock.now,
                       m.interval,
                       lanes,
                       std::vector<uint32_t>(m.threads),
                       0};
}

static event_state &prepared(const void *event, const char *doing, const void *code) {
    const clock_vector &clock = running.clock;
    const auto found = m.events.find(event);
    if (found == m.events.end() ||
        (found->second.interval == m.interval && found->second.thread != clock.self &&
         found->second.now > clock.seen[found->second.thread]))
        fault("race", {{doing, clock.self, code}},
              "no barrier between an event's preparation and its use");
    return found->second;
}

/* All that the thread did comes before what those will do that wait for the event. */
void tell_event(const void *event) {
    const clock_vector &clock = running.clock;
    event_state &told = prepared(event, "told by", __builtin_return_address(0));
    take_latest(told.seen.data(), clock.seen);
    told.seen[clock.self] = clock.now;
    told.told_in = m.interval;
    ++m.now[clock.self];
    read_clock();
    if (--told.untold > 0)
        return;
    for (unsigned t = 0; t < m.threads; ++t) {
        warp_state &warp = m.warps[t / lanes];
        const unsigned bit = 1u << t % lanes;
        if (!((warp.ready | warp.waiting | warp.returned) & bit) && m.fibers[t].waits.code == event)
            warp.ready |= bit;
    }
}

void wait_for_event(const void *event, source_line where) {
    if (site_at(barrier_kind::event, where) == m.removed)
        return;
    const event_state &awaited = prepared(event, "awaited by", __builtin_return_address(0));
    if (awaited.untold > 0) {
        wait_as({reason::event, where, event, 0, 0, 0, 0});
        leave();
    }
    if (awaited.told_in == m.interval) {
        take_latest(seen_alone(running.clock.self), awaited.seen.data());
        read_clock();
    }
}

/* Waits for the lanes of the mask; the last to come answers all of them. */
template <class Answer>
static void meet_in_exchange(unsigned mask, uint64_t bits, int source, int width, const void *code,
                             Answer answer) {
    fiber &self = *m.running;
    wait_as({reason::exchange, {nullptr, 0}, code, mask, bits, source, width});
    if (!is_warp_complete(self)) {
        leave();
        return;
    }
    join(index_of(self) / lanes, mask);
    answer(self);
}

uint64_t exchange(unsigned mask, uint64_t bits, int source, int width) {
    meet_in_exchange(mask, bits, source, width, __builtin_return_address(0), [mask](fiber &last) {
        for_lanes(last, mask, [&](fiber &f) {
            const unsigned group = ~static_cast<unsigned>(f.waits.width - 1);
            const unsigned lane =
                (index_of(f) % lanes & group) | (static_cast<unsigned>(f.waits.source) & ~group);
            if (!(mask >> lane & 1))
                fault("divergence", {{"shuffle by", index_of(f), f.waits.code}},
                      "a shuffle asks lane %u, which takes no part", lane);
            f.received = first_lane(f, 1u << lane).waits.bits;
        });
    });
    return m.running->received;
}

unsigned lanes_where(bool so) {
    meet_in_exchange(all_lanes, so, 0, 0, __builtin_return_address(0), [](fiber &last) {
        unsigned found = 0;
        for_lanes(last, all_lanes, [&](fiber &f) { found |= f.waits.bits ? lane_bit(f) : 0; });
        for_lanes(last, all_lanes, [&](fiber &f) { f.received = found; });
    });
    return static_cast<unsigned>(m.running->received);
}

namespace {

template <class R, class Factor> struct product {
    R *d;
    const Factor *a, *b;
    const R *c;
};

/* The lanes' products are made once the last of them has come: its d[e] = sum(its c[e], a(i, k) and
 * b(j, k) for every k). */
template <class R, class Factor, class Sum>
void multiply(const product<R, Factor> &own, const void *code, Sum sum) {
    meet_in_exchange(all_lanes, reinterpret_cast<uint64_t>(&own), 0, 0, code, [sum](fiber &last) {
        const product<R, Factor> *of[lanes];
        for_lanes(last, all_lanes, [&](fiber &f) {
            of[index_of(f) % lanes] = reinterpret_cast<const product<R, Factor> *>(f.waits.bits);
        });
        for (unsigned lane = 0; lane < lanes; ++lane)
            for (unsigned e = 0; e < 4; ++e) {
                const unsigned row = lane / 4, column = lane % 4 * 2 + e % 2;
                const Factor *a[8], *b[8];
                for (unsigned k = 0; k < 8; ++k) {
                    a[k] = &of[4 * row + k % 4]->a[k / 4 * 2 + e / 2];
                    b[k] = &of[4 * column + k % 4]->b[k / 4];
                }
                of[lane]->d[e] = sum(of[lane]->c[e], a, b);
            }
    });
}

/* The 11 bits that a tensor core multiplies. */
double tensor_bits(float a) {
    uint32_t bits;
    std::memcpy(&bits, &a, sizeof bits);
    bits &= 0xffffe000u;
    std::memcpy(&a, &bits, sizeof bits);
    return a;
}

/* As tensor cores end a sum: what does not fit is cut off. */
float cut_off(double sum) {
    const float rounded = static_cast<float>(sum);
    return std::abs(rounded) > std::abs(sum) ? std::nextafter(rounded, 0.0f) : rounded;
}

} // namespace

void multiply_in_warp(double (&d)[4], const double (&a)[4], const double (&b)[2],
                      const double (&c)[4]) {
    multiply(product<double, double>{d, a, b, c}, __builtin_return_address(0),
             [](double sum, const double *const(&a)[8], const double *const(&b)[8]) {
                 for (int k = 0; k < 8; ++k)
                     sum = std::fma(*a[k], *b[k], sum);
                 return sum;
             });
}

void multiply_in_warp(float (&d)[4], const float (&a)[4][2], const float (&b)[2][2],
                      const float (&c)[4]) {
    using parts = float[2];
    multiply(product<float, parts>{d, a, b, c}, __builtin_return_address(0),
             [](float c, const parts *const(&a)[8], const parts *const(&b)[8]) {
                 float products = 0;
                 const auto add = [&](int of_a, int of_b) {
                     for (int k = 0; k < 8; ++k)
                         products = cut_off(products + tensor_bits((*a[k])[of_a]) *
                                                           tensor_bits((*b[k])[of_b]));
                 };
                 add(1, 0);
                 add(0, 1);
                 add(0, 0);
                 return c + products;
             });
}

bool allow_dynamic_shared(const void *kernel, size_t bytes) {
    if (bytes > shared_limit)
        return false;
    m.dynamic_shared_allowed[kernel] = bytes;
    return true;
}

outcome launch(extent grid, extent block, size_t dynamic_shared_bytes, const kernel_call &call) {
    const auto asked = m.dynamic_shared_allowed.find(call.kernel);
    const size_t allowed =
        asked == m.dynamic_shared_allowed.end() ? shared_limit_unasked : asked->second;
    if (!simulation_grants_launch() || grid.x == 0 || grid.x > 0x7fffffffu || block.x == 0 ||
        block.x > most_threads || dynamic_shared_bytes > std::max(allowed, shared_limit_unasked))
        return outcome::refused;
    m.call = &call;
    m.threads = block.x;
    m.abandoned = false;
    here.grid = grid;
    here.block_size = block;
    m.seen_by_threads.resize(size_t{m.threads} * m.threads);
    begin_launch();
    for (unsigned i = 0; i < grid.x && !m.abandoned; ++i)
        run_block(m.schedule.order == BACKWARDS ? grid.x - 1 - i : i, dynamic_shared_bytes);
    if (m.abandoned)
        for (fiber &f : m.fibers)
            f.started = false;
    return m.abandoned ? outcome::failed : outcome::done;
}

} // namespace simulation

// ---- control -----------------------------------------------------------------------------------

using namespace simulation;

void simulation_schedule(schedule_t schedule) {
    m.schedule = schedule;
    m.random.seed(schedule.seed);
    running.until_yield = schedule.order == RANDOM ? 1 : UINT64_MAX;
}

const char *schedule_name(schedule_t schedule) {
    static char text[64];
    static const char *const names[] = {"round robin", "backwards", "a warp ahead", "a warp behind",
                                        "random"};
    const char *const name = names[schedule.order];
    switch (schedule.order) {
    case WARP_AHEAD:
    case WARP_BEHIND:
        snprintf(text, sizeof text, "%s: warp %u", name, schedule.warp);
        return text;
    case RANDOM:
        snprintf(text, sizeof text, "%s: seed %llu", name,
                 static_cast<unsigned long long>(schedule.seed));
        return text;
    default:
        return name;
    }
}

const barrier_t *simulation_barrier(int index) {
    static const char *const kinds[] = {"block", "warp", "copies", "event"};
    static barrier_t barrier;
    auto at = m.sites.begin();
    for (int i = 0; i < index && at != m.sites.end(); ++i)
        ++at;
    if (at == m.sites.end())
        return nullptr;
    barrier = {at->first.first.c_str(), at->first.second, kinds[static_cast<int>(at->second.kind)]};
    return &barrier;
}

void simulation_remove_barrier(const barrier_t *barrier) {
    m.removed = barrier ? &m.sites.at({barrier->file, barrier->line}) : nullptr;
}

void simulation_begin_run(int number) {
    m.run = number;
    m.last_line = {nullptr, 0};
}

bool simulation_met(const barrier_t *barrier, int number) {
    return m.sites.at({barrier->file, barrier->line}).runs.count(number) > 0;
}
