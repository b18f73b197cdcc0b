/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads, each with a handle of its own: the results have the bits that one thread gives.
 * The preset tsan runs this under ThreadSanitizer. */
#include "harness/arguments.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"
#include "harness/solves.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

static const char *const routes[] = {"auto", "native", "vendor"};

static void pin_all(const char *route) {
    static const char *const variables[] = {"BATCHLAS_POTRF_ROUTE", "BATCHLAS_POTRS_ROUTE",
                                            "BATCHLAS_POSV_ROUTE",  "BATCHLAS_TRSM_ROUTE",
                                            "BATCHLAS_GEMM_ROUTE",  "BATCHLAS_SYRK_ROUTE"};
    EACH(variable, variables)
    suite_setenv(variables[variable_index], route);
}

/* ---- small calls of every kind ------------------------------------------------------------------
 */

enum { CALLS = ROUTINE_COUNT * 4 };

/* What each call leaves behind where nothing else runs. */
static uint64_t alone[CALLS];

static attempt_t nth_call(int n) {
    return attempt_make((routine_t)(n / 4), types[n % 4], false);
}

static void run_alone(void) {
    for (int n = 0; n < CALLS; ++n) {
        attempt_t a = nth_call(n);
        suite_expect_success(call(suite_handle(), &a.good), suite_handle());
        alone[n] = attempt_digest(&a);
        attempt_free(&a);
    }
}

typedef struct {
    int first; /* of the calls, so that threads make different ones at a time */
    int rounds;
    batchlas_status_t status;
    int wrong; /* calls with other bits than alone */
} small_calls_t;

/* Fails no test: that is for the thread that waits for this one. */
static void *make_small_calls(void *argument) {
    small_calls_t *t = argument;
    batchlas_handle_t h = NULL;
    t->status = batchlas_create(&h, suite_device());
    for (int i = 0; i < t->rounds * CALLS && t->status == BATCHLAS_SUCCESS; ++i) {
        const int n = (t->first + i) % CALLS;
        attempt_t a = nth_call(n);
        t->status = call(h, &a.good);
        t->wrong += attempt_digest(&a) != alone[n];
        attempt_free(&a);
    }
    const batchlas_status_t ended = batchlas_destroy(h);
    t->status = t->status == BATCHLAS_SUCCESS ? ended : t->status;
    return NULL;
}

static void expect_as_alone(const small_calls_t *t) {
    suite_expect_status(BATCHLAS_SUCCESS, t->status, NULL);
    assert_int_equal(t->wrong, 0);
}

static void threads_of_the_program(void **state) {
    (void)state;
    const int teams[] = {2, 7, MOST_THREADS};
    EACH(route, routes) {
        pin_all(routes[route_index]);
        run_alone();
        EACH(team, teams) {
            pthread_t threads[MOST_THREADS];
            small_calls_t calls[MOST_THREADS];
            suite_case("%d threads, %s", teams[team_index], routes[route_index]);
            for (int i = 0; i < teams[team_index]; ++i) {
                calls[i] = (small_calls_t){.first = i * 3, .rounds = suite_extended() ? 50 : 1};
                assert_int_equal(pthread_create(&threads[i], NULL, make_small_calls, &calls[i]), 0);
            }
            for (int i = 0; i < teams[team_index]; ++i)
                pthread_join(threads[i], NULL);
            for (int i = 0; i < teams[team_index]; ++i)
                expect_as_alone(&calls[i]);
        }
    }
}

static void threads_of_a_parallel_region(void **state) {
    (void)state;
    const int levels_before = omp_get_max_active_levels();
    run_alone();
    for (int levels = 1; levels <= 2; ++levels) {
        small_calls_t calls[8];
        suite_case("a parallel region, %d active levels", levels);
        omp_set_max_active_levels(levels);
        for (int i = 0; i < COUNT(calls); ++i)
            calls[i] = (small_calls_t){.first = i * 5, .rounds = 1};
#pragma omp parallel num_threads(4)
        {
            const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
            for (int inner = omp_get_thread_num(); inner < 2; inner += omp_get_num_threads())
                make_small_calls(&calls[2 * outer + inner]);
        }
        for (int i = 0; i < COUNT(calls); ++i)
            expect_as_alone(&calls[i]);
    }
    omp_set_max_active_levels(levels_before);
}

/* ---- calls that open parallel regions of their own ----------------------------------------------
 */

typedef struct {
    spd_t s;
    systems_t systems;
    solve_t solve;
    matrices_t A, B;
    batchlas_status_t status;
} large_call_t;

/* One item of three fails; which, is in the handle's workspace alone. */
static large_call_t *large_call_make(scalar_type_t type, int n, int64_t batch) {
    kind_t kinds[] = {GRAM, GRAM, GRAM};
    large_call_t *c = host_alloc(1, sizeof *c);
    kinds[n % 3] = ZERO_MIDDLE;
    c->s = spd_make(type, n, 3, kinds, 3, 71);
    c->systems = systems_make(&c->s, 2, 72);
    c->solve =
        (solve_t){.routine = POSV, .systems = &c->systems, .uplo = BATCHLAS_UPPER, .batch = batch};
    c->A = solve_matrices(&c->solve, PADDED, SENTINEL);
    c->B = solve_right_hand_sides(&c->solve, PADDED, SENTINEL);
    return c;
}

static void large_call_free(large_call_t *c) {
    matrices_free(&c->A);
    matrices_free(&c->B);
    systems_free(&c->systems);
    spd_free(&c->s);
    free(c);
}

static void *make_large_calls(void *argument) {
    large_call_t *c = argument;
    batchlas_handle_t h = NULL;
    c->status = batchlas_create(&h, suite_device());
    for (int round = 0; round < 10 && c->status == BATCHLAS_SUCCESS; ++round) {
        matrices_put(&c->A);
        matrices_put(&c->B);
        c->status = solve_call(h, &c->solve, &c->A, &c->B, NULL, false);
    }
    batchlas_destroy(h);
    return NULL;
}

static void threads_whose_calls_are_parallel(void **state) {
    (void)state;
    enum { THREADS = 8 };
    const int threads_before = omp_get_max_threads();
    omp_set_num_threads(3);
    EACH(route, routes) {
        large_call_t *calls[THREADS];
        pthread_t threads[THREADS];
        pin_all(routes[route_index]);
        for (int i = 0; i < THREADS; ++i) {
            calls[i] = large_call_make(types[i % 4], 40 + i % 4 * 11, 30);
            assert_int_equal(pthread_create(&threads[i], NULL, make_large_calls, calls[i]), 0);
        }
        for (int i = 0; i < THREADS; ++i)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; ++i) {
            suite_case("parallel calls, %s, thread %d", routes[route_index], i);
            suite_expect_status(BATCHLAS_SUCCESS, calls[i]->status, NULL);
            matrices_get(&calls[i]->A);
            matrices_get(&calls[i]->B);
            suite_expect(padding_is_untouched(&calls[i]->A));
            suite_expect(padding_is_untouched(&calls[i]->B));
            suite_expect(solutions_are_right(&calls[i]->B, &calls[i]->systems));
        }
        for (int i = 4; i < THREADS; ++i) {
            int *failing = spd_infos(&calls[i]->s, calls[i]->A.batch);
            suite_expect(items_agree(&calls[i - 4]->A, &calls[i]->A, failing));
            suite_expect(items_agree(&calls[i - 4]->B, &calls[i]->B, NULL));
            free(failing);
        }
        for (int i = 0; i < THREADS; ++i)
            large_call_free(calls[i]);
    }
    omp_set_num_threads(threads_before);
}

/* ---- one workspace for two ----------------------------------------------------------------------
 */

enum { ALIGNMENT = 256, SHARED_BYTES = 1 << 20 };

typedef struct {
    void *workspace;
    large_call_t *call;
    atomic_bool *over;
} owner_t;

static void *call_on_workspace(void *argument) {
    const owner_t *owner = argument;
    batchlas_handle_t h = NULL;
    large_call_t *c = owner->call;
    c->status = batchlas_create(&h, suite_device());
    if (c->status == BATCHLAS_SUCCESS)
        c->status = batchlas_set_workspace(h, owner->workspace, SHARED_BYTES);
    /* Until it comes at a moment when the other one's calls do not use it. */
    if (c->status == BATCHLAS_SUCCESS)
        do
            c->status = solve_call(h, &c->solve, &c->A, &c->B, NULL, false);
        while (c->status == BATCHLAS_INVALID_ARGUMENT);
    batchlas_destroy(h);
    atomic_store(owner->over, true);
    return NULL;
}

/* While one thread's long call runs, the other's small ones on the same bytes are refused, with
 * nothing touched; afterwards they run. */
static void a_workspace_in_use_is_refused(void **state) {
    (void)state;
    unsigned char *block = device_alloc(SHARED_BYTES + ALIGNMENT);
    unsigned char *workspace = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
    atomic_bool over = false;
    large_call_t *small = large_call_make(TYPE_D, 5, 3);
    owner_t owner = {workspace, large_call_make(TYPE_Z, suite_on_gpu() ? 300 : 200, 60), &over};
    batchlas_handle_t h = suite_handle();
    pthread_t thread;
    int refused = 0;
    suite_case("two handles with one workspace");
    suite_setenv("BATCHLAS_POSV_ROUTE", "blocked"); /* with info NULL it needs workspace for it */
    suite_expect_success(batchlas_set_workspace(h, workspace, SHARED_BYTES), h);
    assert_int_equal(pthread_create(&thread, NULL, call_on_workspace, &owner), 0);
    while (!atomic_load(&over)) {
        matrices_put(&small->A);
        matrices_put(&small->B);
        const batchlas_status_t status =
            solve_call(h, &small->solve, &small->A, &small->B, NULL, false);
        if (status == BATCHLAS_SUCCESS)
            continue;
        ++refused;
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT, status, h);
        assert_non_null(strstr(batchlas_last_error(h), "workspace"));
        matrices_get(&small->A);
        matrices_get(&small->B);
        suite_expect(matrices_are_untouched(&small->A));
        suite_expect(matrices_are_untouched(&small->B));
    }
    pthread_join(thread, NULL);
    assert_true(refused > 0);
    suite_expect_status(BATCHLAS_SUCCESS, owner.call->status, NULL);
    matrices_get(&owner.call->B);
    suite_expect(solutions_are_right(&owner.call->B, &owner.call->systems));
    matrices_put(&small->A);
    matrices_put(&small->B);
    suite_expect_success(solve_call(h, &small->solve, &small->A, &small->B, NULL, false), h);
    suite_expect_success(batchlas_set_workspace(h, NULL, 0), h);
    large_call_free(small);
    large_call_free(owner.call);
    device_free(block);
}

static const struct CMUnitTest tests[] = {
    suite_test(threads_of_the_program),
    suite_test(threads_of_a_parallel_region),
    suite_test(threads_whose_calls_are_parallel),
    suite_test(a_workspace_in_use_is_refused),
};

SUITE_MAIN("threads", tests, ON_EVERY_DEVICE)
