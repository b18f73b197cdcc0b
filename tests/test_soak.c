/* SPDX-License-Identifier: BSD-3-Clause */
/* Random calls for a while, good ones and bad ones, with handles that come and go: every call does
 * what it should, and the process's memory stays flat, the device's too. For a second, or as many
 * as BATCHLAS_TEST_SECONDS says. Blocks that glibc keeps in its threads' caches count as allocated:
 * GLIBC_TUNABLES=glibc.malloc.tcache_count=0 turns these off. */
#include "harness/arguments.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/random.h"
#include "harness/sanitizers.h"

#if BATCHLAS_HAVE_GPU
#include <cuda_runtime_api.h>
#endif

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the process has taken. A sanitizer keeps what was freed, and finds leaks by itself. */
typedef struct {
    int64_t allocated; /* by malloc, and not freed */
    int64_t resident;  /* in memory */
    int64_t on_device; /* by whomever */
} bytes_t;

#if HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER || HAVE_MEMORY_SANITIZER
static bytes_t bytes_on_host(void) {
    return (bytes_t){0};
}
#else
static bytes_t bytes_on_host(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        suite_fail("/proc/self/statm cannot be read");
    fclose(file);
    return (bytes_t){
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
        .allocated = (int64_t)mallinfo2().uordblks,
#endif
        .resident = (int64_t)pages * sysconf(_SC_PAGESIZE)};
}
#endif

static bytes_t bytes_taken(void) {
    bytes_t bytes = bytes_on_host();
#if BATCHLAS_HAVE_GPU
    size_t unused = 0, all = 0;
    if (suite_on_gpu() && (cudaSetDevice(suite_device()) != cudaSuccess ||
                           cudaMemGetInfo(&unused, &all) != cudaSuccess))
        suite_fail("the device's memory cannot be asked for");
    bytes.on_device = (int64_t)(all - unused);
#endif
    return bytes;
}

typedef struct {
    uint64_t random;
    batchlas_handle_t h;
    attempt_t attempts[ROUTINE_COUNT][4][2];
    int64_t outcomes[PASSED_OVER + 1], handles;
} soak_t;

static void another_handle(soak_t *s) {
    if (batchlas_destroy(s->h) != BATCHLAS_SUCCESS)
        suite_fail("destroy: %s", batchlas_last_error(NULL));
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&s->h, suite_device()), NULL);
    ++s->handles;
}

/* A line of the operation, pinned or not. */
static const family_line_t *any_line(soak_t *s, routine_t routine) {
    static const char *const operations[ROUTINE_COUNT] = {"potrf", "potrs", "posv", "potrf_logdet",
                                                          "trsm",  "gemm",  "syrk"};
    const family_line_t *line = NULL;
    for (int left = random_below(&s->random, 12), f = 0; left >= 0; --left, ++f)
        if (!(line = family_line(operations[routine], f)))
            line = family_line(operations[routine], f = 0);
    return line;
}

static void one_call(soak_t *s) {
    const routine_t routine = (routine_t)random_below(&s->random, ROUTINE_COUNT);
    const scalar_type_t type = types[random_below(&s->random, 4)];
    const bool array = has_array_form(routine) && random_below(&s->random, 2);
    attempt_t *a = &s->attempts[routine][type][array];
    const family_line_t *line = any_line(s, routine);
    call_t c = a->good;
    for (const argument_t *one = arguments_of(routine); one->name; ++one) {
        value_t values[MAX_VALUES];
        const int count = attempt_values(a, one, values);
        if (count > 0 && random_below(&s->random, 12) == 0)
            argument_set(&c, one, values[random_below(&s->random, count)]);
    }
    char text[600];
    outcome_t outcome;
    family_pin(line);
    const verdict_t verdict = attempt_try(s->h, a, &c, &outcome);
    family_unpin(line);
    if (!is_good(&verdict)) {
        attempt_describe(&c, text, sizeof text);
        suite_fail("%s: %s: %s", family_name(line, type), text, verdict.text);
    }
    ++s->outcomes[outcome];
}

static void run_for(soak_t *s, double duration) {
    for (const double end = seconds() + duration; seconds() < end;) {
        another_handle(s);
        for (int i = 0; i < 200; ++i)
            one_call(s);
    }
}

static void memory_stays_flat(void **state) {
    (void)state;
    enum { KIB = 1024, ALLOWED = 2048 * KIB, ALLOCATED = 16 * KIB };
    const char *asked = getenv("BATCHLAS_TEST_SECONDS");
    const double duration = asked && *asked ? strtod(asked, NULL) : 1;
    soak_t *s = host_alloc(1, sizeof *s);
    s->random = 97;
    suite_setenv("BATCHLAS_COVERAGE_OUT", NULL);
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    for (int array = 0; array < 2; ++array)
        s->attempts[routine][types[type_index]][array] = attempt_make(
            (routine_t)routine, types[type_index], array && has_array_form((routine_t)routine));
    run_for(s, duration / 3);
    const bytes_t before = bytes_taken();
    run_for(s, duration / 3 * 2);
    const bytes_t after = bytes_taken();
    const int64_t allocated = after.allocated - before.allocated;
    const int64_t resident = after.resident - before.resident;
    const int64_t on_device = after.on_device - before.on_device;
    print_message("%" PRId64 " calls ran, %" PRId64 " were refused, %" PRId64 " handles; %" PRId64
                  " KiB more allocated, %" PRId64 " KiB in memory, %" PRId64 " KiB on the device\n",
                  s->outcomes[RAN], s->outcomes[REFUSED], s->handles, allocated / KIB,
                  resident / KIB, on_device / KIB);
    assert_true(s->outcomes[RAN] > 0 && s->outcomes[REFUSED] > 0);
    assert_true(allocated < ALLOCATED && resident < ALLOWED && on_device < ALLOWED);
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    for (int array = 0; array < 2; ++array)
        attempt_free(&s->attempts[routine][types[type_index]][array]);
    assert_int_equal(batchlas_destroy(s->h), BATCHLAS_SUCCESS);
    free(s);
}

static const struct CMUnitTest tests[] = {
    suite_test(memory_stays_flat),
};

SUITE_MAIN("soak", tests, ON_EVERY_DEVICE)
