/* SPDX-License-Identifier: BSD-3-Clause */
/* The space of arguments, walked: every routine, type and form at every boundary value of every
 * argument, of every two arguments at once, and of random ones. What each combination must do is
 * first_bad_argument's to say. */
#include "harness/arguments.h"
#include "harness/grid.h"
#include "harness/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was tried -------------------------------------------------------------------------- */

static int64_t tally[PASSED_OVER + 1];

static void print_tally(void) {
    const int64_t all = tally[REFUSED] + tally[RAN] + tally[PASSED_OVER];
    print_message("%" PRId64 " combinations: %" PRId64 " refused, %" PRId64 " ran, %" PRId64
                  " good but too large to run\n",
                  all, tally[REFUSED], tally[RAN], tally[PASSED_OVER]);
}

static void settle(const call_t *c, const verdict_t *verdict, outcome_t outcome) {
    if (!is_good(verdict)) {
        char text[600];
        attempt_describe(c, text, sizeof text);
        suite_fail("%s: %s", text, verdict->text);
    }
    if (outcome == UNAVAILABLE)
        suite_fail("no pin is set, but: %s", batchlas_last_error(suite_handle()));
    ++tally[outcome];
}

/* Running takes a GPU far longer than refusing. */
typedef enum { ALL_CALLS, BAD_CALLS } calls_t;

static void try_call(attempt_t *a, const call_t *c, calls_t calls) {
    char value[32];
    outcome_t outcome;
    if (calls == BAD_CALLS && !first_bad_argument(c, value))
        return;
    const verdict_t verdict = attempt_try(suite_handle(), a, c, &outcome);
    settle(c, &verdict, outcome);
}

static void try_buffer_size(const call_t *c) {
    outcome_t outcome;
    const verdict_t verdict = attempt_try_buffer_size(suite_handle(), c, &outcome);
    settle(c, &verdict, outcome);
}

typedef void (*visit_t)(attempt_t *a);

static void visit_every_call(visit_t visit) {
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    for (int array = 0; array < (has_array_form((routine_t)routine) ? 2 : 1); ++array) {
        attempt_t a = attempt_make((routine_t)routine, types[type_index], array);
        visit(&a);
        attempt_free(&a);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void try_each(attempt_t *a) {
    try_call(a, &a->good, ALL_CALLS);
    for (const argument_t *one = arguments_of(a->good.routine); one->name; ++one) {
        value_t values[MAX_VALUES];
        const int count = attempt_values(a, one, values);
        for (int i = 0; i < count; ++i) {
            call_t c = a->good;
            argument_set(&c, one, values[i]);
            try_call(a, &c, ALL_CALLS);
        }
    }
    /* The handle is as good as before. */
    try_call(a, &a->good, ALL_CALLS);
}

static void every_value_of_every_argument(void **state) {
    (void)state;
    visit_every_call(try_each);
    print_tally();
}

static void try_pairs(attempt_t *a) {
    for (const argument_t *one = arguments_of(a->good.routine); one->name; ++one)
        for (const argument_t *two = one + 1; two->name; ++two) {
            value_t values[2][MAX_VALUES];
            const int counts[] = {attempt_values(a, one, values[0]),
                                  attempt_values(a, two, values[1])};
            for (int i = 0; i < counts[0]; ++i)
                for (int j = 0; j < counts[1]; ++j) {
                    call_t c = a->good;
                    argument_set(&c, one, values[0][i]);
                    argument_set(&c, two, values[1][j]);
                    try_call(a, &c, suite_on_gpu() ? BAD_CALLS : ALL_CALLS);
                }
        }
}

static void every_two_values_of_every_two_arguments(void **state) {
    (void)state;
    visit_every_call(try_pairs);
    print_tally();
}

static void try_random_calls(attempt_t *a) {
    uint64_t random = (uint64_t)a->good.routine * 8 + a->good.p.type;
    for (int round = 0; round < (suite_extended() ? 100000 : 1000); ++round) {
        call_t c = a->good;
        const int spoilt = 3 + random_below(&random, 4);
        for (const argument_t *one = arguments_of(c.routine); one->name; ++one) {
            value_t values[MAX_VALUES];
            const int count = attempt_values(a, one, values);
            if (count > 0 && random_below(&random, 8) < spoilt)
                argument_set(&c, one, values[random_below(&random, count)]);
        }
        try_call(a, &c, suite_on_gpu() ? BAD_CALLS : ALL_CALLS);
    }
}

static void random_values_of_many_arguments(void **state) {
    (void)state;
    visit_every_call(try_random_calls);
    print_tally();
}

/* No handle comes before everything else. */
static void try_without_handle(attempt_t *a) {
    suite_case("%s without a handle", call_name(&a->good));
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call(NULL, &a->good), NULL);
}

static void no_handle_is_an_error(void **state) {
    (void)state;
    visit_every_call(try_without_handle);
}

/* ---- buffer sizes ---------------------------------------------------------------------------- */

static void try_buffer_sizes(attempt_t *a) {
    call_t c = a->good;
    size_t bytes = 1;
    if (!has_buffer_size(c.routine) || c.array)
        return;
    for (const argument_t *one = buffer_size_arguments_of(c.routine); one->name; ++one)
        for (const argument_t *two = one; two->name; ++two) {
            value_t values[2][MAX_VALUES];
            const int counts[] = {attempt_values(a, one, values[0]),
                                  attempt_values(a, two, values[1])};
            for (int i = 0; i < counts[0]; ++i)
                for (int j = 0; j < counts[1]; ++j) {
                    c = a->good;
                    argument_set(&c, one, values[0][i]);
                    argument_set(&c, two, values[1][j]);
                    try_buffer_size(&c);
                }
        }
    c = a->good;
    suite_case("%s_buffer_size", call_name(&c));
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call_buffer_size(NULL, &c, &bytes), NULL);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call_buffer_size(suite_handle(), &c, NULL),
                        suite_handle());
    size_t *odd = NULL;
    const uintptr_t beside = (uintptr_t)&bytes + 1;
    memcpy(&odd, &beside, sizeof odd);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call_buffer_size(suite_handle(), &c, odd),
                        suite_handle());
    if (suite_on_gpu())
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                            call_buffer_size(suite_handle(), &c, c.p.A.base), suite_handle());
    c.p.batch = 0;
    suite_expect_success(call_buffer_size(suite_handle(), &c, &bytes), suite_handle());
    assert_int_equal(bytes, 0);
}

static void buffer_sizes_of_every_two_values(void **state) {
    (void)state;
    visit_every_call(try_buffer_sizes);
    print_tally();
}

static const struct CMUnitTest tests[] = {
    suite_test(every_value_of_every_argument),
    suite_test(every_two_values_of_every_two_arguments),
    suite_test(random_values_of_many_arguments),
    suite_test(no_handle_is_an_error),
    suite_test(buffer_sizes_of_every_two_values),
};

SUITE_MAIN("arguments", tests, ON_EVERY_DEVICE)
