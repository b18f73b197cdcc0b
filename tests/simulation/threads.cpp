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
#include <string>

namespace simulation {
namespace {

constexpr size_t stack_bytes = size_t{1} << 17;

enum class status { ready, waiting, returned };
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
    ucontext_t start;
    jmp_buf context;
    bool started = false;

    status state;
    wait waits;
    uint64_t received; // by an exchange
    clock_vector clock;
    std::vector<copy> copies;
    unsigned group; // of copies
};

struct event_state {
    unsigned thread;             // that prepared it,
    uint32_t step;               // and when
    std::vector<uint32_t> clock; // of the thread that told it; empty before
};

/* Lanes of a warp, as bits. Those the block does not have count as returned. */
struct warp_state {
    unsigned waiting, returned;
};

using site_key = std::pair<std::string, int>;

struct machine {
    fiber fibers[most_threads];
    warp_state warps[most_threads / lanes];
    std::vector<uint32_t> clocks;
    unsigned threads = 0;
    fiber *running = nullptr;
    jmp_buf scheduler;
    bool abandoned = false;
    unsigned at_block_barrier = 0;
    std::map<const void *, event_state> events; // prepared

    const kernel_call *call = nullptr;
    std::map<const void *, size_t> dynamic_shared_allowed;

    schedule_t schedule = {};
    std::mt19937_64 random;

    std::map<site_key, barrier_kind> sites;
    std::map<std::pair<const char *, int>, const barrier_kind *>
        sites_by_address; // of the file's name
    const barrier_kind *removed = nullptr;
};
machine m;

unsigned index_of(const fiber &f) {
    return static_cast<unsigned>(&f - m.fibers);
}
warp_state &warp_of(const fiber &f) {
    return m.warps[index_of(f) / lanes];
}

// ---- fibers ------------------------------------------------------------------------------------
// makecontext starts a fiber; from then on _setjmp and _longjmp switch, which make no system call.

/* Back to the scheduler, until it lets this fiber go on. */
void leave() {
    fiber *const self = m.running;
    if (!_setjmp(self->context))
        _longjmp(m.scheduler, 1);
}

/* A fiber serves one thread after another. */
void live() {
    for (;;) {
        m.call->run(m.call->parameters);
        if (!m.running->copies.empty())
            fault("copy under way", {}, "a thread returned before its copies had landed");
        m.running->state = status::returned;
        warp_of(*m.running).returned |= 1u << index_of(*m.running) % lanes;
        leave();
    }
}

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

void resume(fiber &f) {
    m.running = &f;
    here.thread.x = index_of(f);
    if (_setjmp(m.scheduler) == 0) {
        if (f.started)
            _longjmp(f.context, 1);
        if (!f.stack)
            give_stack(f);
        f.started = true;
        getcontext(&f.start);
        f.start.uc_stack.ss_sp = f.stack;
        f.start.uc_stack.ss_size = stack_bytes;
        f.start.uc_link = nullptr;
        makecontext(&f.start, live, 0);
        setcontext(&f.start);
    }
    m.running = nullptr;
}

// ---- schedules ---------------------------------------------------------------------------------

bool is_ready(unsigned t) {
    return m.fibers[t].state == status::ready;
}

/* The first ready thread of [begin, end), or -1. */
int first_ready(unsigned begin, unsigned end) {
    for (unsigned t = begin; t < end; ++t)
        if (is_ready(t))
            return static_cast<int>(t);
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
    case BACKWARDS:
        for (unsigned i = 1; i <= m.threads; ++i)
            if (is_ready((last + m.threads - i) % m.threads))
                return static_cast<int>((last + m.threads - i) % m.threads);
        return -1;
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

// ---- waiting -----------------------------------------------------------------------------------

/* All that these threads did comes before all that they will do. */
template <class Each> void join_clocks(Each each) {
    static std::vector<uint32_t> latest;
    latest.assign(m.threads, 0);
    each([](fiber &f) {
        for (unsigned t = 0; t < m.threads; ++t)
            latest[t] = std::max(latest[t], f.clock.seen[t]);
    });
    each([](fiber &f) {
        std::copy(latest.begin(), latest.end(), f.clock.seen);
        ++f.clock.seen[f.clock.self];
        f.state = status::ready;
        warp_of(f).waiting &= ~(1u << index_of(f) % lanes);
    });
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
    const unsigned own = 1u << index_of(self) % lanes;
    if (const unsigned gone = mask & warp.returned)
        fault("divergence", {}, "%s waits for thread %u, which has returned",
              describe(self.waits).c_str(), index_of(first_lane(self, gone)));
    if (const unsigned others = mask & warp.waiting) {
        const fiber &other = first_lane(self, others);
        if (!is_same_call(other.waits, self.waits))
            fault("divergence", {}, "%s waits for thread %u, which is at %s",
                  describe(self.waits).c_str(), index_of(other), describe(other.waits).c_str());
    }
    warp.waiting |= own;
    return (mask & ~warp.waiting) == 0;
}

void wait_for_block(source_line where) {
    fiber &self = *m.running;
    self.waits = {reason::block_barrier, where, nullptr, 0, 0, 0, 0};
    warp_state &warp = warp_of(self);
    if (warp.waiting) {
        const fiber &other = first_lane(self, warp.waiting);
        if (!is_same_call(other.waits, self.waits))
            fault("divergence", {}, "%s, while thread %u of the warp is at %s",
                  describe(self.waits).c_str(), index_of(other), describe(other.waits).c_str());
    }
    warp.waiting |= 1u << index_of(self) % lanes;
    self.state = status::waiting;
    if (++m.at_block_barrier < m.threads) {
        leave();
        return;
    }
    m.at_block_barrier = 0;
    join_clocks([](auto call) {
        for (unsigned t = 0; t < m.threads; ++t)
            call(m.fibers[t]);
    });
}

void wait_for_warp(source_line where) {
    fiber &self = *m.running;
    self.waits = {reason::warp_barrier, where, nullptr, 0xffffffffu, 0, 0, 0};
    self.state = status::waiting;
    if (!is_warp_complete(self)) {
        leave();
        return;
    }
    join_clocks([&self](auto call) { for_lanes(self, self.waits.mask, call); });
}

/* Nobody can go on. */
void stuck() {
    unsigned returned = 0;
    std::map<std::string, unsigned> waiting;
    for (unsigned t = 0; t < m.threads; ++t)
        if (m.fibers[t].state == status::returned)
            ++returned;
        else
            ++waiting[describe(m.fibers[t].waits)];
    std::string text;
    for (const auto &[where, count] : waiting)
        text += std::to_string(count) + " at " + where + ", ";
    record_fault("divergence", {}, "no thread of %u can go on: %s%u returned", m.threads,
                 text.c_str(), returned);
    m.abandoned = true;
}

// ---- blocks ------------------------------------------------------------------------------------

void run_block(unsigned block, size_t dynamic_shared_bytes) {
    here.block.x = block;
    begin_block(dynamic_shared_bytes);
    m.clocks.assign(size_t{m.threads} * m.threads, 0);
    m.events.clear();
    m.at_block_barrier = 0;
    for (unsigned t = 0; t < m.threads; ++t) {
        fiber &f = m.fibers[t];
        f.state = status::ready;
        f.clock = {m.clocks.data() + size_t{t} * m.threads, t};
        f.clock.seen[t] = 1;
        f.copies.clear();
        f.group = 0;
    }
    for (unsigned w = 0; w * lanes < m.threads; ++w)
        m.warps[w] = {0, m.threads - w * lanes < lanes ? ~0u << (m.threads - w * lanes) : 0u};
    unsigned last = m.threads - 1;
    unsigned returned = 0;
    while (returned < m.threads && !m.abandoned) {
        const int next = next_thread(last);
        if (next < 0) {
            stuck();
            break;
        }
        last = static_cast<unsigned>(next);
        resume(m.fibers[next]);
        returned += m.fibers[next].state == status::returned;
    }
    end_block();
}

const barrier_kind *site_at(barrier_kind kind, source_line where) {
    const barrier_kind *&known = m.sites_by_address[{where.file, where.line}];
    if (!known) {
        const char *const slash = strrchr(where.file, '/');
        const site_key key = {slash ? slash + 1 : where.file, where.line};
        known = &m.sites.try_emplace(key, kind).first->second;
    }
    return known;
}

} // namespace

place here;

const clock_vector *running_clock() {
    return m.running ? &m.running->clock : nullptr;
}
std::vector<copy> &running_copies() {
    return m.running->copies;
}
unsigned &running_group() {
    return m.running->group;
}
unsigned block_threads() {
    return m.threads;
}
const void *running_kernel() {
    return m.call->kernel;
}

void maybe_yield() {
    if (m.schedule.order == RANDOM && (m.random() & 15) == 0)
        leave();
}

extern "C" char end; // the linker's

bool is_private(const void *address, bool is_write) {
    const char *const a = static_cast<const char *>(address);
    const char *const parameters = static_cast<const char *>(m.call->parameters);
    const bool on_stack = a >= m.running->stack && a < m.running->stack + stack_bytes;
    const bool is_parameter = a >= parameters && a < parameters + m.call->bytes;
    const bool is_constant = a >= &__executable_start && a < &end;
    return on_stack || (!is_write && (is_parameter || is_constant));
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
    const clock_vector &clock = m.running->clock;
    m.events[event] = {clock.self, clock.seen[clock.self], {}};
}

static event_state &prepared(const void *event, const char *doing, const void *code) {
    const clock_vector &clock = m.running->clock;
    const auto found = m.events.find(event);
    if (found == m.events.end() || found->second.step > clock.seen[found->second.thread])
        fault("race", {{doing, clock.self, code}},
              "no barrier between an event's preparation and its use");
    return found->second;
}

/* All that the thread did comes before what those will do that wait for the event. */
void tell_event(const void *event) {
    fiber &self = *m.running;
    event_state &told = prepared(event, "told by", __builtin_return_address(0));
    told.clock.assign(self.clock.seen, self.clock.seen + m.threads);
    ++self.clock.seen[self.clock.self];
    for (unsigned t = 0; t < m.threads; ++t)
        if (m.fibers[t].state == status::waiting && m.fibers[t].waits.why == reason::event &&
            m.fibers[t].waits.code == event)
            m.fibers[t].state = status::ready;
}

void wait_for_event(const void *event, source_line where) {
    if (site_at(barrier_kind::event, where) == m.removed)
        return;
    fiber &self = *m.running;
    const event_state &awaited = prepared(event, "awaited by", __builtin_return_address(0));
    if (awaited.clock.empty()) {
        self.waits = {reason::event, where, event, 0, 0, 0, 0};
        self.state = status::waiting;
        leave();
    }
    for (unsigned t = 0; t < m.threads; ++t)
        self.clock.seen[t] = std::max(self.clock.seen[t], awaited.clock[t]);
}

uint64_t exchange(unsigned mask, uint64_t bits, int source, int width) {
    fiber &self = *m.running;
    self.waits = {reason::exchange, {nullptr, 0}, __builtin_return_address(0), mask, bits,
                  source,           width};
    self.state = status::waiting;
    if (!is_warp_complete(self)) {
        leave();
        return self.received;
    }
    join_clocks([&](auto call) { for_lanes(self, mask, call); });
    for_lanes(self, mask, [&](fiber &f) {
        const unsigned group = ~static_cast<unsigned>(f.waits.width - 1);
        const unsigned lane =
            (index_of(f) % lanes & group) | (static_cast<unsigned>(f.waits.source) & ~group);
        if (!(mask >> lane & 1))
            fault("divergence", {{"shuffle by", index_of(f), f.waits.code}},
                  "a shuffle asks lane %u, which takes no part", lane);
        f.received = first_lane(f, 1u << lane).waits.bits;
    });
    return self.received;
}

namespace {

template <class R, class Factor> struct product {
    R *d;
    const Factor *a, *b;
    const R *c;
};

/* The lanes' products are made once the last of them has come: its d[e] = sum(its c[e], factors),
 * where factors(k, call) calls call(a(i, k), b(j, k)). */
template <class R, class Factor, class Sum>
void multiply(const product<R, Factor> &own, const void *code, Sum sum) {
    fiber &self = *m.running;
    self.waits = {
        reason::exchange, {nullptr, 0}, code, 0xffffffffu, reinterpret_cast<uint64_t>(&own), 0, 0};
    self.state = status::waiting;
    if (!is_warp_complete(self)) {
        leave();
        return;
    }
    join_clocks([&](auto call) { for_lanes(self, self.waits.mask, call); });
    const product<R, Factor> *of[lanes];
    for_lanes(self, self.waits.mask, [&](fiber &f) {
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
    barrier = {at->first.first.c_str(), at->first.second, kinds[static_cast<int>(at->second)]};
    return &barrier;
}

void simulation_remove_barrier(const barrier_t *barrier) {
    m.removed = barrier ? &m.sites.at({barrier->file, barrier->line}) : nullptr;
}
