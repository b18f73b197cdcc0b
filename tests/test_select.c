/* SPDX-License-Identifier: BSD-3-Clause */
/* The flat selector on an operation made up for it: which family a table, a pin and the device's
 * facts lead to. */
#include "harness/suite.h"

#include "select.h"

#include <stdio.h>
#include <string.h>

/* Each made-up family runs up to the order that the test sets. */
static struct {
    int tiny, lpanel, blocked, vendor, single, oddity;
} limit;

static bool within(int n, int most, const char **reason) {
    *reason = "its order is too large";
    return n <= most;
}

static bool tiny_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.tiny, reason);
}

static bool lpanel_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.lpanel, reason);
}

static bool blocked_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.blocked, reason);
}

static bool vendor_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.vendor, reason);
}

static bool single_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.single, reason);
}

static bool oddity_can_run(const problem_t *p, const device_facts_t *f, const char **reason) {
    (void)f;
    return within(p->n, limit.oddity, reason);
}

static route_key_t key(const problem_t *p) {
    return (route_key_t){
        .type = 's', .uplo = 'l', .form = "-", .n = p->n, .nrhs = 1, .batch = p->batch};
}

static const family_t families[] = {
    {"tiny", ON_BOTH, NATIVE, ENQUEUES, true, tiny_can_run, NULL, NULL},
    {"lpanel:panel=8", ON_GPU, NATIVE, ENQUEUES, true, lpanel_can_run, NULL, NULL},
    {"oddity", ON_BOTH, NATIVE, ENQUEUES, false, oddity_can_run, NULL, NULL},
    {"blocked", ON_BOTH, NATIVE, BLOCKS, false, blocked_can_run, NULL, NULL},
    {"vendor", ON_BOTH, VENDOR, BLOCKS, false, vendor_can_run, NULL, NULL},
    {"vendor:single", ON_GPU, VENDOR, BLOCKS, false, single_can_run, NULL, NULL},
};
static const operation_t operation = {"made", "BATCHLAS_MADE_ROUTE", key, families,
                                      sizeof families / sizeof *families};

static const device_facts_t gpu = {.is_gpu = true, .architecture = 90};
static const device_facts_t host = {.is_gpu = false};

static int any_word(const void *context, const char *word) {
    (void)context;
    (void)word;
    return 1;
}

typedef struct {
    const device_facts_t *facts;
    const char *table; /* ranked families of the only row, NULL for no table */
    const char *pin;
    int n;
    bool leaf;
} request_t;

static route_t route;

static batchlas_status_t choose(request_t r) {
    table_t table = {NULL, 0};
    char text[256], error[128];
    if (r.table) {
        snprintf(text, sizeof text, "s lower - 16 1 1024 %s test\n", r.table);
        assert_int_equal(
            batchlas_table_parse(text, "table", any_word, NULL, &table, error, sizeof error),
            BATCHLAS_SUCCESS);
    }
    const problem_t problem = {.type = TYPE_S, .n = r.n, .batch = 1000};
    const route_request_t request = {.operation = &operation,
                                     .problem = &problem,
                                     .facts = r.facts ? r.facts : &gpu,
                                     .table = r.table ? &table : NULL,
                                     .pin = r.pin,
                                     .leaf = r.leaf};
    const batchlas_status_t status = batchlas_choose(&request, &route);
    const bool ranked = route.row != NULL;
    batchlas_table_free(&table);
    route.row = NULL;
    if (status == BATCHLAS_SUCCESS && ranked && !r.table)
        suite_fail("a row was named where there is no table");
    return status;
}

static void expect(const char *spelling, request_t r) {
    suite_case("n %d, table %s, pin %s", r.n, r.table ? r.table : "none", r.pin ? r.pin : "none");
    if (choose(r) != BATCHLAS_SUCCESS)
        suite_fail("expected %s, got nothing: %s", spelling, route.why);
    if (strcmp(route.family->spelling, spelling))
        suite_fail("expected %s, got %s", spelling, route.family->spelling);
}

/* The quiet choice: no warning. */
static void expect_quiet(const char *spelling, request_t r) {
    expect(spelling, r);
    if (route.why[0])
        suite_fail("a warning without need: %s", route.why);
}

static void expect_warning(const char *spelling, request_t r) {
    expect(spelling, r);
    if (!strstr(route.why, "BATCHLAS_MADE_ROUTE") || !strstr(route.why, r.pin))
        suite_fail("the warning does not name the pin: %s", route.why);
}

static void expect_unavailable(const char *word, request_t r) {
    suite_case("n %d, table %s, pin %s", r.n, r.table ? r.table : "none", r.pin ? r.pin : "none");
    if (choose(r) != BATCHLAS_ROUTE_UNAVAILABLE)
        suite_fail("expected no route, got %s", route.family->spelling);
    if (route.family || !strstr(route.why, word))
        suite_fail("the reason does not say \"%s\": %s", word, route.why);
    if (r.pin && !strstr(route.why, "BATCHLAS_MADE_ROUTE"))
        suite_fail("the reason does not name the variable: %s", route.why);
}

static int setup(void **state) {
    limit.tiny = 32;
    limit.lpanel = 512;
    limit.blocked = limit.vendor = limit.single = limit.oddity = INT32_MAX;
    return suite_setup(state);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void the_first_runnable_of_the_row_wins(void **state) {
    (void)state;
    expect_quiet("tiny", (request_t){.table = "tiny,lpanel:panel=8,vendor", .n = 32});
    expect_quiet("lpanel:panel=8", (request_t){.table = "tiny,lpanel:panel=8,vendor", .n = 33});
    expect_quiet("vendor", (request_t){.table = "tiny,lpanel:panel=8,vendor", .n = 513});
    expect_quiet("vendor", (request_t){.table = "vendor,tiny", .n = 8});
    expect_quiet("oddity", (request_t){.table = "oddity", .n = 8});
    expect_quiet("vendor:single", (request_t){.table = "vendor:single,vendor", .n = 8});
    expect_quiet("lpanel:panel=8", (request_t){.table = "lpanel:8,tiny", .n = 8});
}

static void a_row_passes_over_what_is_not_here(void **state) {
    (void)state;
    expect_quiet("vendor", (request_t){.facts = &host, .table = "lpanel:panel=8,vendor", .n = 16});
    expect_quiet("tiny",
                 (request_t){.facts = &host, .table = "vendor:single,unknown,tiny", .n = 16});
}

static void last_resort_is_blocked_then_vendor_then_anything(void **state) {
    (void)state;
    expect_quiet("blocked", (request_t){.table = "tiny", .n = 33});
    expect_quiet("blocked", (request_t){.n = 8});
    limit.blocked = 0;
    expect_quiet("vendor", (request_t){.table = "tiny", .n = 33});
    expect_quiet("vendor", (request_t){.n = 8});
    limit.vendor = 0;
    expect_quiet("oddity", (request_t){.table = "tiny", .n = 600});
    limit.oddity = 0;
    expect_quiet("vendor:single", (request_t){.n = 600});
    limit.single = 0;
    expect_unavailable("made", (request_t){.n = 600});
    expect_unavailable("made", (request_t){.table = "tiny,blocked,vendor", .n = 600});
}

static void a_row_that_ranks_nothing_here_still_ends_well(void **state) {
    (void)state;
    expect_quiet("blocked",
                 (request_t){.facts = &host, .table = "lpanel:panel=8,vendor:single", .n = 16});
}

/* ---- pins ---------------------------------------------------------------------------------- */

static void pins_go_before_tables(void **state) {
    (void)state;
    expect_quiet("vendor:single", (request_t){.table = "tiny", .pin = "vendor:single", .n = 8});
    expect_quiet("blocked", (request_t){.table = "tiny", .pin = "blocked", .n = 8});
    expect_quiet("tiny", (request_t){.table = "vendor", .pin = "tiny", .n = 8});
    expect_quiet("tiny", (request_t){.pin = "tiny", .n = 8});
}

static void empty_and_auto_leave_the_choice_to_the_table(void **state) {
    (void)state;
    expect_quiet("oddity", (request_t){.table = "oddity", .pin = "", .n = 8});
    expect_quiet("oddity", (request_t){.table = "oddity", .pin = "auto", .n = 8});
    expect_quiet("blocked", (request_t){.pin = "auto", .n = 8});
}

static void a_parameter_may_go_without_its_name(void **state) {
    (void)state;
    expect_quiet("lpanel:panel=8", (request_t){.pin = "lpanel:panel=8", .n = 8});
    expect_quiet("lpanel:panel=8", (request_t){.pin = "lpanel:8", .n = 8});
    assert_ptr_equal(batchlas_find_family(&operation, "lpanel:8", &gpu), &families[1]);
    assert_null(batchlas_find_family(&operation, "lpanel:8", &host));
}

static void pins_that_do_not_parse_are_refused(void **state) {
    (void)state;
    const char *const pins[] = {
        "fast",        "Tiny",    "tin",      "tiny2",        " tiny",         "tiny ",
        "lpanel",      "lpanel:", "lpanel:4", "lpanel:panel", "lpanel:panel=", "lpanel:panel=16",
        "native:tiny", "AUTO",    "vendor:",  "tiny,blocked"};
    for (size_t i = 0; i < sizeof pins / sizeof *pins; ++i)
        expect_unavailable(pins[i], (request_t){.table = "tiny", .pin = pins[i], .n = 8});
}

static void pins_that_cannot_run_say_why(void **state) {
    (void)state;
    expect_unavailable("its order is too large", (request_t){.pin = "tiny", .n = 33});
    expect_unavailable("its order is too large", (request_t){.pin = "lpanel:8", .n = 513});
    expect_unavailable("lpanel:8", (request_t){.pin = "lpanel:8", .n = 513});
}

static void pins_of_another_device_are_refused(void **state) {
    (void)state;
    expect_unavailable("lpanel:8", (request_t){.facts = &host, .pin = "lpanel:8", .n = 8});
    expect_unavailable("vendor:single",
                       (request_t){.facts = &host, .pin = "vendor:single", .n = 8});
}

static void native_takes_the_best_runnable_that_is_no_vendor(void **state) {
    (void)state;
    expect_quiet("lpanel:panel=8",
                 (request_t){.table = "vendor,tiny,lpanel:panel=8", .pin = "native", .n = 33});
    expect_quiet("tiny", (request_t){.table = "vendor,tiny", .pin = "native", .n = 8});
    expect_quiet("blocked", (request_t){.table = "vendor", .pin = "native", .n = 8});
    expect_quiet("blocked", (request_t){.pin = "native", .n = 8});
}

/* `vendor` is a class and the name of a family in it, which goes first. */
static void vendor_takes_the_family_of_that_name_or_the_best_other(void **state) {
    (void)state;
    expect_quiet("vendor", (request_t){.table = "tiny,vendor", .pin = "vendor", .n = 8});
    expect_quiet("vendor",
                 (request_t){.table = "tiny,vendor:single,vendor", .pin = "vendor", .n = 8});
    expect_quiet("vendor", (request_t){.table = "tiny", .pin = "vendor", .n = 8});
    limit.vendor = 0;
    expect_quiet("vendor:single", (request_t){.table = "tiny", .pin = "vendor", .n = 8});
}

static void a_class_with_nothing_runnable_falls_back_with_a_warning(void **state) {
    (void)state;
    limit.vendor = limit.single = 0;
    expect_warning("tiny", (request_t){.table = "vendor,tiny", .pin = "vendor", .n = 8});
    expect_warning("blocked", (request_t){.pin = "vendor", .n = 8});
    limit.vendor = 100;
    limit.tiny = limit.lpanel = limit.blocked = limit.oddity = 0;
    expect_warning("vendor", (request_t){.table = "tiny,vendor", .pin = "native", .n = 8});
    limit.vendor = 0;
    suite_case("nothing runs");
    assert_int_equal(choose((request_t){.table = "tiny,vendor", .pin = "native", .n = 8}),
                     BATCHLAS_ROUTE_UNAVAILABLE);
    assert_true(strlen(route.why) > 0);
}

/* ---- leaves -------------------------------------------------------------------------------- */

static void leaves_are_leaf_families_whatever_the_pin_says(void **state) {
    (void)state;
    expect_quiet("lpanel:panel=8", (request_t){.table = "vendor,blocked,lpanel:8,tiny",
                                               .pin = "vendor",
                                               .n = 16,
                                               .leaf = true});
    expect_quiet("tiny",
                 (request_t){.table = "blocked,tiny", .pin = "blocked", .n = 16, .leaf = true});
    expect_quiet("tiny", (request_t){.pin = "no such pin", .n = 16, .leaf = true});
    expect_quiet("lpanel:panel=8", (request_t){.table = "vendor", .n = 64, .leaf = true});
    suite_case("no leaf");
    assert_int_equal(choose((request_t){.facts = &host, .n = 64, .leaf = true}),
                     BATCHLAS_ROUTE_UNAVAILABLE);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(the_first_runnable_of_the_row_wins, setup),
    cmocka_unit_test_setup(a_row_passes_over_what_is_not_here, setup),
    cmocka_unit_test_setup(last_resort_is_blocked_then_vendor_then_anything, setup),
    cmocka_unit_test_setup(a_row_that_ranks_nothing_here_still_ends_well, setup),
    cmocka_unit_test_setup(pins_go_before_tables, setup),
    cmocka_unit_test_setup(empty_and_auto_leave_the_choice_to_the_table, setup),
    cmocka_unit_test_setup(a_parameter_may_go_without_its_name, setup),
    cmocka_unit_test_setup(pins_that_do_not_parse_are_refused, setup),
    cmocka_unit_test_setup(pins_that_cannot_run_say_why, setup),
    cmocka_unit_test_setup(pins_of_another_device_are_refused, setup),
    cmocka_unit_test_setup(native_takes_the_best_runnable_that_is_no_vendor, setup),
    cmocka_unit_test_setup(vendor_takes_the_family_of_that_name_or_the_best_other, setup),
    cmocka_unit_test_setup(a_class_with_nothing_runnable_falls_back_with_a_warning, setup),
    cmocka_unit_test_setup(leaves_are_leaf_families_whatever_the_pin_says, setup),
};

SUITE_MAIN("select", tests, HOST_ONLY)
