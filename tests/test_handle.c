/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles: making and ending them, their errors, workspace, pins, records, and what a call leaves
 * as it was. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"
#include "harness/sanitizers.h"
#include "harness/solves.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INITIAL_DEVICE = -1, ALIGNMENT = 256 };

/* ---- a problem to try a handle with ---------------------------------------------------------- */

typedef struct {
    spd_t s;
    systems_t systems;
    solve_t solve;
    matrices_t A, B;
} trial_t;

static trial_t *trial_make(routine_t routine, scalar_type_t type, int n, int nrhs, int64_t batch) {
    const kind_t kinds[] = {GRAM};
    trial_t *t = host_alloc(1, sizeof *t);
    t->s = spd_make(type, n, 5, kinds, 1, 91);
    if (routine == POTRS)
        spd_round_factors(&t->s);
    t->systems = systems_make(&t->s, nrhs, 92);
    t->solve = (solve_t){.routine = routine,
                         .systems = &t->systems,
                         .uplo = BATCHLAS_LOWER,
                         .batch = batch,
                         .layout_a = PADDED,
                         .layout_b = PADDED};
    t->A = solve_matrices(&t->solve, PADDED, SENTINEL);
    t->B = solve_right_hand_sides(&t->solve, PADDED, SENTINEL);
    return t;
}

/* The operands as they were at first. */
static void trial_reset(trial_t *t) {
    matrices_put(&t->A);
    matrices_put(&t->B);
}

static void trial_free(trial_t *t) {
    matrices_free(&t->A);
    matrices_free(&t->B);
    systems_free(&t->systems);
    spd_free(&t->s);
    free(t);
}

static batchlas_status_t trial_call(batchlas_handle_t h, trial_t *t) {
    return solve_call(h, &t->solve, &t->A, &t->B, NULL, false);
}

static void expect_solved(trial_t *t) {
    matrices_get(&t->A);
    matrices_get(&t->B);
    suite_expect(padding_is_untouched(&t->A));
    suite_expect(padding_is_untouched(&t->B));
    suite_expect(solutions_are_right(&t->B, &t->systems));
}

static void expect_untouched(trial_t *t) {
    matrices_get(&t->A);
    matrices_get(&t->B);
    suite_expect(matrices_are_untouched(&t->A));
    suite_expect(matrices_are_untouched(&t->B));
}

static void expect_works(batchlas_handle_t h) {
    trial_t *t = trial_make(POSV, TYPE_D, 12, 2, 9);
    suite_expect_success(trial_call(h, t), h);
    expect_solved(t);
    trial_free(t);
}

static void expect_error_says(batchlas_handle_t h, const char *word) {
    const char *text = batchlas_last_error(h);
    if (!text || !strstr(text, word) || strchr(text, '\n'))
        suite_fail("expected a sentence with \"%s\", got: %s", word, text ? text : "NULL");
}

/* ---- making and ending ----------------------------------------------------------------------- */

static void a_handle_is_made_and_ended(void **state) {
    (void)state;
    batchlas_handle_t h = NULL;
    assert_int_equal(batchlas_create(&h, suite_device()), BATCHLAS_SUCCESS);
    assert_non_null(h);
    assert_string_equal(batchlas_last_error(h), "");
    expect_works(h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    assert_int_equal(batchlas_destroy(NULL), BATCHLAS_SUCCESS);
}

/* As long as its memory can be read, which a sanitizer does not allow. */
static void a_destroyed_handle_is_refused(void **state) {
    (void)state;
#if HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER || HAVE_MEMORY_SANITIZER
    skip();
#else
    batchlas_handle_t h = NULL;
    size_t bytes = 0;
    assert_int_equal(batchlas_create(&h, suite_device()), BATCHLAS_SUCCESS);
    expect_works(h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    assert_int_equal(batchlas_dpotrf(h, BATCHLAS_LOWER, 0, NULL, 1, 0, NULL, 0),
                     BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_dpotrf_buffer_size(h, BATCHLAS_LOWER, 0, 0, &bytes),
                     BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_set_nowait(h, 0), BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_wait(h), BATCHLAS_INVALID_ARGUMENT);
    expect_error_says(h, "destroyed");
    assert_int_equal(batchlas_destroy(h), BATCHLAS_INVALID_ARGUMENT);
    expect_error_says(NULL, "destroyed");
#endif
}

static void the_initial_device_is_the_host_by_both_its_names(void **state) {
    (void)state;
    const int names[] = {INITIAL_DEVICE, omp_get_initial_device()};
    double A[1] = {4};
    EACH(name, names) {
        batchlas_handle_t h = NULL;
        assert_int_equal(batchlas_create(&h, names[name_index]), BATCHLAS_SUCCESS);
        A[0] = 4;
        suite_expect_success(batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
        assert_true(A[0] == 2);
        assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    }
}

static void a_bad_device_number_gives_no_handle(void **state) {
    (void)state;
    const int numbers[] = {omp_get_num_devices() + 1, 12345, -2, INT_MIN, INT_MAX};
    EACH(number, numbers) {
        char decimal[16];
        batchlas_handle_t h = (batchlas_handle_t)(uintptr_t)64;
        suite_case("device %d", numbers[number_index]);
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT, batchlas_create(&h, numbers[number_index]),
                            NULL);
        assert_null(h);
        snprintf(decimal, sizeof decimal, "%d", numbers[number_index]);
        expect_error_says(NULL, decimal);
        expect_error_says(NULL, "device_num");
        expect_error_says(NULL, "expected");
        h = (batchlas_handle_t)(uintptr_t)64;
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                            batchlas_create_from_stream(&h, numbers[number_index], NULL), NULL);
        assert_null(h);
        expect_error_says(NULL, decimal);
    }
}

static void nowhere_to_put_the_handle_is_an_error(void **state) {
    (void)state;
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, batchlas_create(NULL, suite_device()), NULL);
    expect_error_says(NULL, "NULL");
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_create_from_stream(NULL, suite_device(), NULL), NULL);
    expect_error_says(NULL, "NULL");
}

static void the_host_has_no_stream_but_null(void **state) {
    (void)state;
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS,
                        batchlas_create_from_stream(&h, omp_get_initial_device(), NULL), NULL);
    assert_non_null(h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    h = (batchlas_handle_t)(uintptr_t)64;
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_create_from_stream(&h, omp_get_initial_device(), &h), NULL);
    assert_null(h);
    expect_error_says(NULL, "cuda_stream");
}

/* A failed create is the failing thread's affair. */
static void *error_elsewhere(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)batchlas_last_error(NULL)[0];
}

static void a_failed_create_is_told_to_its_own_thread(void **state) {
    (void)state;
    batchlas_handle_t h;
    pthread_t thread;
    void *first_letter = NULL;
    batchlas_create(&h, 12345);
    assert_true(batchlas_last_error(NULL)[0]);
    assert_int_equal(pthread_create(&thread, NULL, error_elsewhere, NULL), 0);
    pthread_join(thread, &first_letter);
    assert_null(first_letter);
    assert_true(batchlas_last_error(NULL)[0]);
}

static void without_a_handle_settings_are_errors(void **state) {
    (void)state;
    assert_int_equal(batchlas_set_nowait(NULL, 1), BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_wait(NULL), BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_set_workspace(NULL, NULL, 0), BATCHLAS_INVALID_ARGUMENT);
    assert_int_equal(batchlas_set_unified_memory(NULL, 0), BATCHLAS_INVALID_ARGUMENT);
}

static void the_last_error_is_about_the_last_call(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(batchlas_dpotrf(h, BATCHLAS_LOWER, -1, NULL, 1, 1, NULL, 1),
                         BATCHLAS_INVALID_ARGUMENT);
        assert_true(batchlas_last_error(h)[0]);
        const batchlas_status_t status = i == 0   ? batchlas_set_nowait(h, 0)
                                         : i == 1 ? batchlas_wait(h)
                                         : i == 2 ? batchlas_set_workspace(h, NULL, 0)
                                                  : batchlas_set_unified_memory(h, 0);
        suite_expect_success(status, h);
    }
    expect_works(h);
}

static void statuses_and_version_have_their_words(void **state) {
    (void)state;
    const batchlas_status_t statuses[] = {BATCHLAS_SUCCESS,           BATCHLAS_INVALID_ARGUMENT,
                                          BATCHLAS_ROUTE_UNAVAILABLE, BATCHLAS_OUT_OF_MEMORY,
                                          BATCHLAS_DEVICE_ERROR,      BATCHLAS_NOT_SUPPORTED};
    assert_int_equal(BATCHLAS_SUCCESS, 0);
    EACH(status, statuses) {
        const char *text = batchlas_status_string(statuses[status_index]);
        assert_non_null(text);
        assert_true(strlen(text) > 10);
        for (int other = 0; other < status_index; ++other) {
            assert_int_not_equal(statuses[other], statuses[status_index]);
            assert_string_not_equal(text, batchlas_status_string(statuses[other]));
        }
    }
    assert_non_null(batchlas_status_string((batchlas_status_t)99));
    int version[3] = {-1, -1, -1};
    batchlas_version(&version[0], &version[1], &version[2]);
    assert_int_equal(version[0], BATCHLAS_VERSION_MAJOR);
    assert_int_equal(version[1], BATCHLAS_VERSION_MINOR);
    assert_int_equal(version[2], BATCHLAS_VERSION_PATCH);
    batchlas_version(NULL, NULL, NULL);
}

static void nowait_calls_are_done_after_wait(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    trial_t *trials[4];
    for (int i = 0; i < 4; ++i) {
        trials[i] = trial_make(POSV, types[i], 8 + 11 * i, 1 + i, 40);
        suite_expect_success(trial_call(h, trials[i]), h);
    }
    suite_expect_success(batchlas_wait(h), h);
    for (int i = 0; i < 4; ++i) {
        suite_case("posv in nowait mode, type %c", scalar_letter(types[i]));
        expect_solved(trials[i]);
        trial_free(trials[i]);
    }
    suite_expect_success(batchlas_set_nowait(h, 0), h);
    expect_works(h);
}

static void destroy_waits(void **state) {
    (void)state;
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    trial_t *t = trial_make(POSV, TYPE_Z, 40, 3, 300);
    suite_expect_success(trial_call(h, t), h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    expect_solved(t);
    trial_free(t);
}

static void the_host_takes_unified_memory(void **state) {
    (void)state;
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, omp_get_initial_device()), NULL);
    suite_expect_success(batchlas_set_unified_memory(h, 1), h);
    suite_expect_success(batchlas_set_unified_memory(h, 0), h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
}

/* ---- workspace ------------------------------------------------------------------------------- */

static call_t shape_of(const trial_t *t) {
    return (call_t){.routine = t->solve.routine,
                    .p = {.type = t->s.type,
                          .uplo = t->solve.uplo,
                          .n = t->s.n,
                          .nrhs = t->systems.nrhs,
                          .batch = t->solve.batch}};
}

/* A block of the device's memory with `bytes` of aligned workspace, and guards on both sides. */
typedef struct {
    unsigned char *block, *workspace;
    size_t block_bytes, bytes;
} workspace_t;

enum { GUARD_BYTE = 0xa5 };

static workspace_t workspace_make(size_t bytes) {
    workspace_t w = {.bytes = bytes, .block_bytes = bytes + 4 * ALIGNMENT};
    w.block = device_alloc(w.block_bytes);
    unsigned char *guards = host_alloc(w.block_bytes, 1);
    memset(guards, GUARD_BYTE, w.block_bytes);
    device_put(w.block, guards, w.block_bytes);
    free(guards);
    w.workspace = w.block + ALIGNMENT + (ALIGNMENT - (uintptr_t)w.block % ALIGNMENT);
    return w;
}

static void expect_guards(const workspace_t *w) {
    unsigned char *found = host_alloc(w->block_bytes, 1);
    device_get(found, w->block, w->block_bytes);
    const size_t first = (size_t)(w->workspace - w->block);
    for (size_t i = 0; i < w->block_bytes; ++i)
        if (!(i >= first && i < first + w->bytes) && found[i] != GUARD_BYTE)
            suite_fail("byte %lld of a workspace of %zu was written", (long long)(i - first),
                       w->bytes);
    free(found);
}

static void workspace_free(workspace_t *w) {
    device_free(w->block);
}

/* Exactly the bytes asked for are enough, one less is refused with that number. True if any were
 * asked for. */
static bool try_workspace(batchlas_handle_t h, trial_t *t, const family_line_t *line) {
    const routine_t routine = t->solve.routine;
    const call_t shape = shape_of(t);
    size_t bytes = SIZE_MAX;
    trial_reset(t);
    t->solve.line = line;
    family_pin(line);
    solve_name(&t->solve, "workspace");
    const batchlas_status_t status = call_buffer_size(h, &shape, &bytes);
    if (!family_ran(line, t->s.type, t->s.n, status, h)) {
        family_unpin(line);
        return false;
    }
    if (bytes > 0) {
        char decimal[32];
        workspace_t small = workspace_make(bytes - 1);
        snprintf(decimal, sizeof decimal, "%zu", bytes);
        suite_expect_success(batchlas_set_workspace(h, small.workspace, bytes - 1), h);
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT, trial_call(h, t), h);
        expect_error_says(h, decimal);
        expect_untouched(t);
        expect_guards(&small);
        suite_expect_success(batchlas_set_workspace(h, NULL, 0), h);
        workspace_free(&small);
    }
    workspace_t exact = workspace_make(bytes);
    suite_expect_success(batchlas_set_workspace(h, exact.workspace, bytes), h);
    suite_expect_success(trial_call(h, t), h);
    if (routine != POTRF)
        expect_solved(t);
    matrices_get(&t->A);
    if (routine != POTRS)
        suite_expect(factors_are_right(&t->A, t->solve.uplo, &t->s));
    expect_guards(&exact);
    suite_expect_success(batchlas_set_workspace(h, NULL, 0), h);
    workspace_free(&exact);
    family_unpin(line);
    return bytes > 0;
}

static void a_workspace_of_buffer_size_is_enough_and_one_byte_less_is_not(void **state) {
    (void)state;
    const routine_t routines[] = {POTRF, POTRS, POSV};
    const char *const names[] = {"potrf", "potrs", "posv"};
    const int orders[] = {1, 8, 33, 65, 150};
    int asked = 0;
    EACH(routine, routines)
    EACH(type, types)
    EACH(order, orders) {
        trial_t *t = trial_make(routines[routine_index], types[type_index], orders[order_index], 3,
                                order_index % 2 ? 1 : 13);
        const family_line_t *line;
        for (int f = 0; (line = family_line(names[routine_index], f)); ++f)
            asked += try_workspace(suite_handle(), t, line);
        trial_free(t);
    }
    assert_true(asked > 0);
}

static void a_workspace_must_be_aligned(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    workspace_t w = workspace_make(4096);
    const int offsets[] = {1, 8, 16, 128, 255};
    EACH(offset, offsets) {
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                            batchlas_set_workspace(h, w.workspace + offsets[offset_index], 1024),
                            h);
        expect_error_says(h, "workspace");
        expect_error_says(h, "256");
    }
    expect_works(h);
    workspace_free(&w);
}

/* ---- pins ------------------------------------------------------------------------------------ */

static void expect_refused(const char *variable, const char *pin, routine_t routine, int n) {
    trial_t *t = trial_make(routine, TYPE_D, n, 1, 3);
    size_t bytes = 0;
    const call_t shape = shape_of(t);
    suite_case("%s=%s, n %d", variable, pin, n);
    suite_setenv(variable, pin);
    suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE, trial_call(suite_handle(), t), suite_handle());
    expect_error_says(suite_handle(), variable);
    expect_error_says(suite_handle(), pin);
    expect_untouched(t);
    suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE,
                        call_buffer_size(suite_handle(), &shape, &bytes), suite_handle());
    suite_setenv(variable, NULL);
    suite_expect_success(trial_call(suite_handle(), t), suite_handle());
    trial_free(t);
}

static void pins_that_cannot_be_followed_are_errors(void **state) {
    (void)state;
    const char *const nonsense[] = {"fast", "tiny ", "native:tiny", "lpanel:3", "Blocked"};
    EACH(pin, nonsense) {
        expect_refused("BATCHLAS_POTRF_ROUTE", nonsense[pin_index], POTRF, 8);
        expect_refused("BATCHLAS_POTRS_ROUTE", nonsense[pin_index], POTRS, 8);
        expect_refused("BATCHLAS_POSV_ROUTE", nonsense[pin_index], POSV, 8);
    }
    expect_refused("BATCHLAS_POTRF_ROUTE", "tiny", POTRF, 100);
    if (!suite_on_gpu()) {
        expect_refused("BATCHLAS_POTRF_ROUTE", "cta", POTRF, 8);
        expect_refused("BATCHLAS_POTRF_ROUTE", "lpanel:8", POTRF, 8);
        expect_refused("BATCHLAS_POTRF_ROUTE", "vendor:single", POTRF, 8);
    }
}

static void a_sentence_stays_one_line_whatever_a_pin_holds(void **state) {
    (void)state;
    suite_setenv("BATCHLAS_POTRF_ROUTE", "no\nsuch\r\x1b[2Jfamily");
    trial_t *t = trial_make(POTRF, TYPE_D, 8, 1, 3);
    suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE, trial_call(suite_handle(), t), suite_handle());
    expect_error_says(suite_handle(), "no?such??[2Jfamily");
    trial_free(t);
}

static void an_empty_pin_is_no_pin(void **state) {
    (void)state;
    suite_setenv("BATCHLAS_POTRF_ROUTE", "");
    suite_setenv("BATCHLAS_POTRS_ROUTE", "");
    suite_setenv("BATCHLAS_POSV_ROUTE", "");
    expect_works(suite_handle());
    suite_setenv("BATCHLAS_POTRF_ROUTE", "auto");
    suite_setenv("BATCHLAS_POSV_ROUTE", "auto");
    expect_works(suite_handle());
}

static void solve_both(void *argument) {
    trial_t **trials = argument;
    for (int i = 0; i < 2; ++i)
        trial_call(suite_handle(), trials[i]);
}

/* posv has no vendor family. */
static void a_vendor_pin_of_posv_warns_once_and_goes_auto(void **state) {
    (void)state;
    suite_setenv("BATCHLAS_POSV_ROUTE", "vendor");
    suite_handle();
    trial_t *trials[2] = {trial_make(POSV, TYPE_D, 9, 1, 3), trial_make(POSV, TYPE_S, 50, 2, 3)};
    char *text = suite_stderr_of(solve_both, trials);
    const char *warning = strstr(text, "warning");
    suite_case("stderr: %s", text);
    if (!warning || strstr(warning + 1, "warning") || !strstr(text, "BATCHLAS_POSV_ROUTE"))
        suite_fail("expected one warning that names the pin");
    free(text);
    for (int i = 0; i < 2; ++i) {
        expect_solved(trials[i]);
        trial_free(trials[i]);
    }
}

/* ---- coverage -------------------------------------------------------------------------------- */

static int lines_with(const char *text, const char *beginning) {
    int count = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += !strncmp(line, beginning, strlen(beginning));
    return count;
}

static const char *use_coverage(const char *name) {
    static char path[160];
    snprintf(path, sizeof path, "%s/%s.csv", suite_directory(), name);
    suite_setenv("BATCHLAS_COVERAGE_OUT", path);
    return path;
}

static char *text_of(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        suite_fail("%s was not written", path);
    char *text = host_alloc(1 << 16, 1);
    text[fread(text, 1, (1 << 16) - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* What is on record is what ran: asking for a size, or being refused, is not running. */
static void coverage_has_a_row_for_every_call_that_ran(void **state) {
    (void)state;
    const char *path = use_coverage("calls");
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
    trial_t *t = trial_make(POTRF, TYPE_C, 11, 1, 7);
    const call_t shape = shape_of(t);
    size_t bytes;
    suite_setenv("BATCHLAS_POTRF_ROUTE", "blocked");
    suite_expect_success(call_buffer_size(h, &shape, &bytes), h);
    suite_setenv("BATCHLAS_POTRF_ROUTE", "fast");
    suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE, trial_call(h, t), h);
    suite_setenv("BATCHLAS_POTRF_ROUTE", "blocked");
    suite_expect_success(trial_call(h, t), h);
    suite_setenv("BATCHLAS_POTRF_ROUTE", "tiny");
    suite_expect_success(trial_call(h, t), h);
    suite_expect_success(trial_call(h, t), h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    char *text = text_of(path);
    suite_case("coverage:\n%s", text);
    assert_int_equal(lines_with(text, "op,type,uplo,n,nrhs,batch,chosen_algo\n"), 1);
    assert_ptr_equal(strstr(text, "op,type"), text);
    assert_int_equal(lines_with(text, "potrf,c,lower,11,1,7,blocked\n"), 1);
    assert_int_equal(lines_with(text, "potrf,c,lower,11,1,7,tiny\n"), 2);
    assert_int_equal(lines_with(text, "potrf,"), 3);
    free(text);
    trial_free(t);
}

static void coverage_is_appended(void **state) {
    (void)state;
    const char *path = use_coverage("appended");
    for (int round = 0; round < 2; ++round) {
        batchlas_handle_t h = NULL;
        suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
        expect_works(h);
        assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
        char *text = text_of(path);
        suite_case("coverage:\n%s", text);
        assert_int_equal(lines_with(text, "op,type"), 1);
        assert_int_equal(lines_with(text, "posv,d,lower,12,2,9,"), round + 1);
        free(text);
        use_coverage("elsewhere");
        path = use_coverage("appended");
    }
}

/* A process that never destroys its handle. Not where a GPU's runtime would have to survive it. */
static void coverage_is_complete_at_exit(void **state) {
    (void)state;
    if (BATCHLAS_HAVE_GPU)
        skip();
    const char *path = use_coverage("exit");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        double A[1] = {4};
        batchlas_handle_t h = NULL;
        const bool worked =
            batchlas_create(&h, INITIAL_DEVICE) == BATCHLAS_SUCCESS &&
            batchlas_dpotrf(h, BATCHLAS_UPPER, 1, A, 1, 1, NULL, 1) == BATCHLAS_SUCCESS;
        exit(worked ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    char *text = text_of(path);
    assert_int_equal(lines_with(text, "potrf,d,upper,1,1,1,"), 1);
    free(text);
}

/* ---- what a call leaves as it was ------------------------------------------------------------ */

typedef struct {
    int threads, dynamic, levels, chunk, blas;
    omp_sched_t schedule;
    omp_proc_bind_t bind;
} settings_t;

static int blas_threads(void) {
    int (*get)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    memcpy(&get, &symbol, sizeof get);
    return get ? get() : -1;
}

static void set_blas_threads(int threads) {
    void (*set)(int) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &symbol, sizeof set);
    if (set)
        set(threads);
}

static settings_t settings(void) {
    settings_t s = {.threads = omp_get_max_threads(),
                    .dynamic = omp_get_dynamic(),
                    .levels = omp_get_max_active_levels(),
                    .blas = blas_threads(),
                    .bind = omp_get_proc_bind()};
    omp_get_schedule(&s.schedule, &s.chunk);
    return s;
}

static void expect_settings(const settings_t *expected) {
    const settings_t now = settings();
    if (now.threads != expected->threads || now.dynamic != expected->dynamic ||
        now.levels != expected->levels || now.blas != expected->blas ||
        now.bind != expected->bind || now.schedule != expected->schedule ||
        now.chunk != expected->chunk)
        suite_fail("threads %d was %d, dynamic %d was %d, levels %d was %d, BLAS threads %d was %d",
                   now.threads, expected->threads, now.dynamic, expected->dynamic, now.levels,
                   expected->levels, now.blas, expected->blas);
}

static void settings_of_openmp_and_blas_are_the_callers(void **state) {
    (void)state;
    const routine_t routines[] = {POTRF, POTRS, POSV};
    const char *const names[] = {"potrf", "potrs", "posv"};
    const settings_t before = settings();
    omp_set_num_threads(3);
    omp_set_dynamic(1);
    omp_set_max_active_levels(2);
    omp_set_schedule(omp_sched_guided, 7);
    set_blas_threads(2);
    const settings_t unusual = settings();
    EACH(routine, routines)
    EACH(type, types) {
        trial_t *t = trial_make(routines[routine_index], types[type_index], 70, 4, 60);
        const family_line_t *line;
        for (int f = 0; (line = family_line(names[routine_index], f)); ++f) {
            t->solve.line = line;
            solve_name(&t->solve, "settings");
            trial_reset(t);
            family_pin(line);
            family_ran(line, types[type_index], 70, trial_call(suite_handle(), t), suite_handle());
            family_unpin(line);
            expect_settings(&unusual);
        }
        trial_free(t);
    }
    omp_set_num_threads(before.threads);
    omp_set_dynamic(before.dynamic);
    omp_set_max_active_levels(before.levels);
    omp_set_schedule(before.schedule, before.chunk);
    set_blas_threads(before.blas);
}

#if defined(BATCHLAS_HAVE_EVENTS)
/* On the host everything is done when a call returns, and the event is fulfilled at once. */
static void an_event_is_fulfilled(void **state) {
    (void)state;
    trial_t *t = trial_make(POSV, TYPE_D, 33, 2, 40);
    batchlas_handle_t h = suite_handle();
    batchlas_status_t called = BATCHLAS_DEVICE_ERROR, fulfilled = BATCHLAS_DEVICE_ERROR;
    int after = 0, order = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order) shared(called, fulfilled)
        {
            batchlas_set_nowait(h, 1);
            called = trial_call(h, t);
            fulfilled = batchlas_fulfill_event(h, event);
        }
#pragma omp task depend(in : order) shared(after)
        after = 1;
#pragma omp taskwait
    }
    suite_expect_status(BATCHLAS_SUCCESS, called, h);
    suite_expect_status(BATCHLAS_SUCCESS, fulfilled, h);
    assert_int_equal(after, 1);
    suite_expect_success(batchlas_wait(h), h);
    suite_expect_success(batchlas_set_nowait(h, 0), h);
    expect_solved(t);
    trial_free(t);
    (void)order;
}
#endif

static const struct CMUnitTest tests[] = {
    suite_test(a_handle_is_made_and_ended),
    suite_test(a_destroyed_handle_is_refused),
    suite_test(the_initial_device_is_the_host_by_both_its_names),
    suite_test(a_bad_device_number_gives_no_handle),
    suite_test(nowhere_to_put_the_handle_is_an_error),
    suite_test(the_host_has_no_stream_but_null),
    suite_test(a_failed_create_is_told_to_its_own_thread),
    suite_test(without_a_handle_settings_are_errors),
    suite_test(the_last_error_is_about_the_last_call),
    suite_test(statuses_and_version_have_their_words),
    suite_test(nowait_calls_are_done_after_wait),
    suite_test(destroy_waits),
    suite_test(the_host_takes_unified_memory),
    suite_test(a_workspace_of_buffer_size_is_enough_and_one_byte_less_is_not),
    suite_test(a_workspace_must_be_aligned),
    suite_test(pins_that_cannot_be_followed_are_errors),
    suite_test(a_sentence_stays_one_line_whatever_a_pin_holds),
    suite_test(an_empty_pin_is_no_pin),
    suite_test(a_vendor_pin_of_posv_warns_once_and_goes_auto),
    suite_test(coverage_has_a_row_for_every_call_that_ran),
    suite_test(coverage_is_appended),
    suite_test(coverage_is_complete_at_exit),
    suite_test(settings_of_openmp_and_blas_are_the_callers),
#if defined(BATCHLAS_HAVE_EVENTS)
    suite_test(an_event_is_fulfilled),
#endif
};

SUITE_MAIN("handle", tests, ON_EVERY_DEVICE)
