/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of every route fails once, and on a device every launch and every other call of
 * its runtime: the status says so, the operands are as they were where nothing has run, and the
 * handle works as if nothing had happened. Leaks are the sanitizers' to find; blocks of device
 * memory are counted here. */
#include "faults/faults.h"
#include "harness/arguments.h"
#include "harness/families.h"
#include "harness/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const operations[ROUTINE_COUNT] = {"potrf", "potrs", "posv", "potrf_logdet",
                                                      "trsm",  "gemm",  "syrk"};

static long faults, survived;

static void print_faults(void) {
    print_message("%ld faults, %ld of them without harm to the call\n", faults, survived);
}

static batchlas_handle_t handle(void) {
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
    return h;
}

static void end(batchlas_handle_t h, long blocks_before) {
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_destroy(h), NULL);
    if (faults_device_blocks() != blocks_before)
        suite_fail("%ld blocks of device memory are left", faults_device_blocks() - blocks_before);
}

static void expect_failure(batchlas_status_t status, int kinds, const char *text) {
    const batchlas_status_t expected =
        kinds & DEVICE_CALL ? BATCHLAS_DEVICE_ERROR : BATCHLAS_OUT_OF_MEMORY;
    if (status != expected || !*text)
        suite_fail("expected %s, got %s (%s)", batchlas_status_string(expected),
                   batchlas_status_string(status), text);
}

/* The nth call of these kinds fails inside one call on a new handle; false when there are not so
 * many. */
static bool fails(attempt_t *a, int kinds, long nth, uint64_t expected) {
    const long blocks = faults_device_blocks();
    batchlas_handle_t h = handle();
    attempt_reset(a);
    faults_arm(kinds, nth);
    const batchlas_status_t status = call(h, &a->good);
    const bool came = faults_disarm();
    if (status == BATCHLAS_SUCCESS) {
        survived += came;
        suite_expect_success(status, h);
    } else {
        expect_failure(status, kinds, batchlas_last_error(h));
        if (!(kinds & DEVICE_CALL))
            suite_expect(attempt_is_untouched(a));
        suite_expect_success(batchlas_wait(h), h);
        attempt_reset(a);
        suite_expect_success(call(h, &a->good), h);
    }
    if (attempt_digest(a) != expected)
        suite_fail("the result has other bits than without a fault");
    end(h, blocks);
    faults += came;
    return came;
}

/* What the call leaves where nothing fails; false for a family that does not run it. */
static bool runs(attempt_t *a, const family_line_t *line, uint64_t *digest) {
    batchlas_handle_t h = handle();
    attempt_reset(a);
    const batchlas_status_t status = call(h, &a->good);
    const bool ran = family_ran(line, a->good.p.type, a->good.p.n, status, h);
    *digest = attempt_digest(a);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    return ran;
}

/* The first call fails, the second, ..., until there are no more; how many there were. */
static long fail_each(attempt_t *a, const family_line_t *line, int kinds) {
    uint64_t expected;
    long nth = 1;
    if (!runs(a, line, &expected))
        return 0;
    while (fails(a, kinds, nth, expected))
        ++nth;
    return nth - 1;
}

static void fail_every_route(int kinds) {
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    for (int array = 0; array < (has_array_form((routine_t)routine) ? 2 : 1); ++array) {
        attempt_t a = attempt_make((routine_t)routine, types[type_index], array);
        const family_line_t *line;
        a.good.p.info = NULL; /* so that it is workspace where it is needed */
        for (int f = 0; (line = family_line(operations[routine], f)); ++f) {
            suite_case("%s%s, with every one of its calls failing",
                       family_name(line, types[type_index]), array ? ", array" : "");
            family_pin(line);
            suite_setenv("BATCHLAS_POTRF_NB", "2"); /* so that there are two panels */
            fail_each(&a, line, kinds);
            family_unpin(line);
        }
        attempt_free(&a);
    }
    print_faults();
}

static void every_allocation_of_every_route(void **state) {
    (void)state;
    fail_every_route(HOST_ALLOCATION | DEVICE_ALLOCATION);
    assert_true(faults > 0);
}

static void every_call_of_the_device_of_every_route(void **state) {
    (void)state;
    const long before = faults;
    if (!suite_on_gpu())
        skip();
    fail_every_route(DEVICE_CALL);
    assert_true(faults > before);
}

/* ---- making a handle ------------------------------------------------------------------------- */

static void fail_creating(int kinds) {
    for (long nth = 1;; ++nth) {
        const long blocks = faults_device_blocks();
        batchlas_handle_t h = (batchlas_handle_t)(uintptr_t)64;
        faults_arm(kinds, nth);
        const batchlas_status_t status = batchlas_create(&h, suite_device());
        const bool came = faults_disarm();
        suite_case("create, call %ld failing", nth);
        faults += came;
        if (status == BATCHLAS_SUCCESS) {
            end(h, blocks);
        } else {
            expect_failure(status, kinds, batchlas_last_error(NULL));
            assert_null(h);
            end(handle(), blocks);
        }
        if (!came)
            break;
    }
}

static void every_call_of_create(void **state) {
    (void)state;
    fail_creating(HOST_ALLOCATION | DEVICE_ALLOCATION);
    fail_creating(DEVICE_CALL);
    print_faults();
}

/* ---- what the environment asks for ----------------------------------------------------------- */

/* A folder with a table of potrf of as many rows as let it grow twice. */
static void make_tables(char folder[128]) {
    char path[192];
    snprintf(folder, 128, "%s-tables", suite_directory());
    snprintf(path, sizeof path, "%s/potrf.%s.txt", folder, suite_on_gpu() ? "sm_90" : "host");
    mkdir(folder, 0700);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int n = 1; n <= 150; ++n)
        fprintf(file, "d lower - %d - 1 blocked transcribed\n", n);
    fclose(file);
}

static void remove_tables(const char *folder) {
    char path[192];
    snprintf(path, sizeof path, "%s/potrf.%s.txt", folder, suite_on_gpu() ? "sm_90" : "host");
    unlink(path);
    rmdir(folder);
}

/* What a process opens or says but once is another file, or text, for each n. */
static void use_another(const char *variable, long nth) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s-%ld", suite_directory(), variable, nth);
    suite_setenv(variable, path);
}

static void tables_warnings_and_records(void **state) {
    (void)state;
    char folder[128];
    attempt_t a = attempt_make(POTRF, TYPE_D, false);
    make_tables(folder);
    suite_case("potrf with tables of a folder");
    suite_setenv("BATCHLAS_TUNED_DIR", folder);
    const long harmless = survived;
    assert_true(fail_each(&a, family_line("potrf", 0), HOST_ALLOCATION) > 0);
    assert_int_equal(survived, harmless); /* no other table takes the place of one that is there */
    remove_tables(folder);
    suite_setenv("BATCHLAS_TUNED_DIR", NULL);

    static const char *const variables[] = {"BATCHLAS_TUNED_DIR", "BATCHLAS_COVERAGE_OUT"};
    EACH(variable, variables) {
        const long survived_before = survived;
        uint64_t expected;
        assert_true(runs(&a, family_line("potrf", 0), &expected));
        suite_case("potrf with a new %s", variables[variable_index]);
        for (long nth = 1; nth == 1 || fails(&a, HOST_ALLOCATION, nth - 1, expected); ++nth)
            use_another(variables[variable_index], nth);
        /* A warning that cannot be remembered and a record that cannot be kept harm no call. */
        assert_true(survived > survived_before);
        suite_setenv(variables[variable_index], NULL);
    }
    attempt_free(&a);
    print_faults();
}

static const struct CMUnitTest tests[] = {
    suite_test(every_allocation_of_every_route),
    suite_test(every_call_of_the_device_of_every_route),
    suite_test(every_call_of_create),
    suite_test(tables_warnings_and_records),
};

SUITE_MAIN("faults", tests, ON_EVERY_DEVICE)
