/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a handle's table comes from: BATCHLAS_TUNED_DIR, the library's own, a neighbour's. */
#include "harness/suite.h"

#include "handle.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 128 };

/* A directory under the suite's with one file in it, or none. */
static void make_directory(char path[PATH_SIZE], const char *name, const char *file,
                           const char *text) {
    snprintf(path, PATH_SIZE, "%s-%s", suite_directory(), name);
    if (mkdir(path, 0700) != 0)
        suite_fail("%s could not be made", path);
    if (!file)
        return;
    char file_path[2 * PATH_SIZE];
    snprintf(file_path, sizeof file_path, "%s/%s", path, file);
    FILE *out = fopen(file_path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void remove_directory(const char path[PATH_SIZE], const char *file) {
    char file_path[2 * PATH_SIZE];
    snprintf(file_path, sizeof file_path, "%s/%s", path, file ? file : "");
    if (file)
        unlink(file_path);
    rmdir(path);
}

/* A handle that never touched a device. */
static struct batchlas_handle_s gpu_handle(int architecture) {
    struct batchlas_handle_s h = {.alive = HANDLE_ALIVE,
                                  .facts = {.is_gpu = true, .architecture = architecture}};
    snprintf(h.device_name, sizeof h.device_name, "sm_%d", architecture);
    return h;
}

typedef struct {
    batchlas_handle_t h;
    const operation_t *operation;
    const table_t *table;
    batchlas_status_t status;
} lookup_t;

static void look_up(void *argument) {
    lookup_t *lookup = argument;
    lookup->status = batchlas_table_for(lookup->h, lookup->operation, &lookup->table);
}

/* Looks up what a handle's table is and how often the library warned. */
static int warnings_of(lookup_t *lookup) {
    char *text = suite_stderr_of(look_up, lookup);
    int count = 0;
    for (const char *at = text; (at = strstr(at, "warning")); ++at)
        ++count;
    free(text);
    return count;
}

/* ---- the library's own --------------------------------------------------------------------- */

static const char *embedded_text(const char *operation, const char *device) {
    for (int i = 0; i < batchlas_embedded_table_count; ++i)
        if (!strcmp(batchlas_embedded_tables[i].operation, operation) &&
            !strcmp(batchlas_embedded_tables[i].device, device))
            return batchlas_embedded_tables[i].text;
    return NULL;
}

static int any_word(const void *context, const char *word) {
    (void)context;
    (void)word;
    return 1;
}

/* Whether a table has the rows of the library's own for that device. */
static void expect_rows_of(const table_t *table, const char *operation, const char *device) {
    const char *text = embedded_text(operation, device);
    if (!text)
        suite_fail("the library has no table of %s for %s", operation, device);
    table_t own;
    char error[256];
    assert_int_equal(batchlas_table_parse(text, device, any_word, NULL, &own, error, sizeof error),
                     BATCHLAS_SUCCESS);
    assert_non_null(table);
    assert_int_equal(table->row_count, own.row_count);
    for (int i = 0; i < own.row_count; ++i) {
        assert_int_equal(table->rows[i].line, own.rows[i].line);
        assert_int_equal(table->rows[i].key.n, own.rows[i].key.n);
        assert_int_equal(table->rows[i].key.batch, own.rows[i].key.batch);
        assert_string_equal(table->rows[i].ranked[0], own.rows[i].ranked[0]);
    }
    batchlas_table_free(&own);
}

static void a_device_with_a_table_takes_it(void **state) {
    (void)state;
    const operation_t *const operations[] = {&batchlas_potrf_operation, &batchlas_potrs_operation,
                                             &batchlas_posv_operation,  &batchlas_trsm_operation,
                                             &batchlas_gemm_operation,  &batchlas_syrk_operation};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
        struct batchlas_handle_s h = gpu_handle(90);
        lookup_t lookup = {&h, operations[i], NULL, BATCHLAS_DEVICE_ERROR};
        suite_case("%s", operations[i]->name);
        assert_int_equal(warnings_of(&lookup), 0);
        suite_expect_success(lookup.status, &h);
        expect_rows_of(lookup.table, operations[i]->name, "sm_90");
        batchlas_tables_free(&h);
        lookup.h = suite_handle();
        assert_int_equal(warnings_of(&lookup), 0);
        suite_expect_success(lookup.status, lookup.h);
        expect_rows_of(lookup.table, operations[i]->name, "host");
    }
}

static void a_gpu_without_one_borrows_the_nearest_with_one_warning(void **state) {
    (void)state;
    const int architectures[] = {35, 60, 75, 100, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; ++i) {
        char nearest[16] = "";
        int least = 1000;
        for (int d = 1; d < 200; ++d) {
            char device[16];
            snprintf(device, sizeof device, "sm_%d", d);
            if (!embedded_text("potrf", device) || abs(d - architectures[i]) >= least)
                continue;
            least = abs(d - architectures[i]);
            strcpy(nearest, device);
        }
        suite_case("sm_%d", architectures[i]);
        assert_true(least > 0 && least < 1000);
        struct batchlas_handle_s h = gpu_handle(architectures[i]);
        lookup_t lookup = {&h, &batchlas_potrf_operation, NULL, BATCHLAS_DEVICE_ERROR};
        assert_int_equal(warnings_of(&lookup), 1);
        suite_expect_success(lookup.status, &h);
        expect_rows_of(lookup.table, "potrf", nearest);
        assert_int_equal(warnings_of(&lookup), 0);
        batchlas_tables_free(&h);
        struct batchlas_handle_s again = gpu_handle(architectures[i]);
        lookup.h = &again;
        assert_int_equal(warnings_of(&lookup), 0);
        expect_rows_of(lookup.table, "potrf", nearest);
        batchlas_tables_free(&again);
    }
}

/* A host of another name has no table, though GPUs and `host` have. */
static void a_host_never_borrows(void **state) {
    (void)state;
    struct batchlas_handle_s h = {.alive = HANDLE_ALIVE, .device_name = "elsewhere"};
    lookup_t lookup = {&h, &batchlas_potrf_operation, NULL, BATCHLAS_DEVICE_ERROR};
    assert_int_equal(warnings_of(&lookup), 0);
    suite_expect_success(lookup.status, &h);
    assert_null(lookup.table);
    batchlas_tables_free(&h);
}

static void an_operation_without_any_table_has_none(void **state) {
    (void)state;
    struct batchlas_handle_s h = gpu_handle(90);
    lookup_t lookup = {&h, &batchlas_potrf_logdet_operation, NULL, BATCHLAS_DEVICE_ERROR};
    assert_null(embedded_text("potrf_logdet", "sm_90"));
    assert_int_equal(warnings_of(&lookup), 0);
    suite_expect_success(lookup.status, &h);
    assert_null(lookup.table);
    batchlas_tables_free(&h);
}

/* ---- a directory of the user's ------------------------------------------------------------- */

static void a_directory_takes_the_place_of_the_librarys_tables(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_directory(path, "good", "potrf.host.txt", "d lower - 7 1 1 blocked mine\n");
    batchlas_handle_t h = suite_handle();
    lookup_t lookup = {h, &batchlas_potrf_operation, NULL, BATCHLAS_DEVICE_ERROR};
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    assert_int_equal(warnings_of(&lookup), 0);
    assert_int_equal(lookup.status, BATCHLAS_SUCCESS);
    assert_int_equal(lookup.table->row_count, 1);
    assert_int_equal(lookup.table->rows[0].key.n, 7);
    /* Read at each call: unset and empty both mean the library's own. */
    suite_setenv("BATCHLAS_TUNED_DIR", "");
    assert_int_equal(warnings_of(&lookup), 0);
    expect_rows_of(lookup.table, "potrf", "host");
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    assert_int_equal(warnings_of(&lookup), 0);
    assert_int_equal(lookup.table->row_count, 1);
    assert_int_equal(lookup.table->rows[0].key.n, 7);
    suite_setenv("BATCHLAS_TUNED_DIR", NULL);
    assert_int_equal(warnings_of(&lookup), 0);
    expect_rows_of(lookup.table, "potrf", "host");
    remove_directory(path, "potrf.host.txt");
}

static void a_directory_without_the_table_gives_the_librarys_with_one_warning(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_directory(path, "empty", NULL, NULL);
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    batchlas_handle_t h = suite_handle();
    lookup_t lookup = {h, &batchlas_potrf_operation, NULL, BATCHLAS_DEVICE_ERROR};
    assert_int_equal(warnings_of(&lookup), 1);
    assert_int_equal(lookup.status, BATCHLAS_SUCCESS);
    expect_rows_of(lookup.table, "potrf", "host");
    assert_int_equal(warnings_of(&lookup), 0);
    suite_close_handle();
    lookup.h = suite_handle();
    assert_int_equal(warnings_of(&lookup), 0);
    expect_rows_of(lookup.table, "potrf", "host");
    remove_directory(path, NULL);
}

static void a_malformed_row_fails_every_call_with_file_and_line(void **state) {
    (void)state;
    char path[PATH_SIZE], where[2 * PATH_SIZE];
    make_directory(path, "bad", "potrf.host.txt",
                   "# fine\nd lower - 7 1 1 blocked mine\nd lower - 7 1 1 blocked\n");
    snprintf(where, sizeof where, "%s/potrf.host.txt:3: ", path);
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    batchlas_handle_t h = suite_handle();
    double A[4] = {4, 2, -9, 5};
    int info[1] = {-5};
    size_t bytes = 77;
    for (int round = 0; round < 2; ++round) {
        suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE,
                            batchlas_dpotrf(h, BATCHLAS_LOWER, 2, A, 2, 4, info, 1), h);
        if (!strstr(batchlas_last_error(h), where))
            suite_fail("no %sin: %s", where, batchlas_last_error(h));
        assert_true(A[0] == 4 && A[1] == 2 && A[2] == -9 && A[3] == 5 && info[0] == -5);
        suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE,
                            batchlas_dpotrf_buffer_size(h, BATCHLAS_LOWER, 2, 1, &bytes), h);
    }
    /* The handle is as good as before. */
    suite_setenv("BATCHLAS_TUNED_DIR", NULL);
    suite_expect_success(batchlas_dpotrf(h, BATCHLAS_LOWER, 2, A, 2, 4, info, 1), h);
    assert_true(A[0] == 2 && A[1] == 1 && A[2] == -9 && A[3] == 2 && info[0] == 0);
    remove_directory(path, "potrf.host.txt");
}

/* A file that is no table's text is as wrong as a malformed row. */
static void a_table_with_a_zero_byte_or_too_large_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {"zero byte", "16 MiB"};
    char path[PATH_SIZE], file[2 * PATH_SIZE];
    make_directory(path, "no-text", "potrf.host.txt", "d lower - 7 1 1 blocked mine\n");
    snprintf(file, sizeof file, "%s/potrf.host.txt", path);
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    for (int i = 0; i < 2; ++i) {
        double A[1] = {4};
        assert_int_equal(truncate(file, i ? (16 << 20) + 1 : 64), 0);
        suite_expect_status(BATCHLAS_ROUTE_UNAVAILABLE,
                            batchlas_dpotrf(suite_handle(), BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1),
                            suite_handle());
        if (!strstr(batchlas_last_error(suite_handle()), words[i]))
            suite_fail("no %s in: %s", words[i], batchlas_last_error(suite_handle()));
        assert_true(A[0] == 4);
    }
    remove_directory(path, "potrf.host.txt");
}

/* Nobody writes to the pipe: a library that opened it would wait for ever. */
static void a_folder_or_a_pipe_is_no_table(void **state) {
    (void)state;
    for (int pipe = 0; pipe < 2; ++pipe) {
        char path[PATH_SIZE], file[2 * PATH_SIZE];
        make_directory(path, pipe ? "pipe" : "folder", NULL, NULL);
        snprintf(file, sizeof file, "%s/potrf.host.txt", path);
        assert_int_equal(pipe ? mkfifo(file, 0600) : mkdir(file, 0700), 0);
        suite_setenv("BATCHLAS_TUNED_DIR", path);
        lookup_t lookup = {suite_handle(), &batchlas_potrf_operation, NULL, BATCHLAS_DEVICE_ERROR};
        suite_case("a %s", pipe ? "pipe" : "folder");
        assert_int_equal(warnings_of(&lookup), 1);
        assert_int_equal(lookup.status, BATCHLAS_SUCCESS);
        expect_rows_of(lookup.table, "potrf", "host");
        remove(file);
        remove_directory(path, NULL);
    }
}

/* ---- what a table says is what runs --------------------------------------------------------- */

typedef struct {
    const char *trace;
    int n;
} traced_t;

static void factor(void *argument) {
    const traced_t *traced = argument;
    double A[64];
    for (int i = 0; i < 64; ++i)
        A[i] = i % (traced->n + 1) ? 0 : 1;
    suite_setenv("BATCHLAS_SELECT_TRACE", traced->trace);
    batchlas_dpotrf(suite_handle(), BATCHLAS_LOWER, traced->n, A, traced->n, 64, NULL, 1);
    suite_setenv("BATCHLAS_SELECT_TRACE", NULL);
}

/* The trace goes to stderr, a line for each decision, with what was decided; and the nearest row's
 * first family is what is decided. */
static void the_trace_shows_that_the_nearest_row_decides(void **state) {
    (void)state;
    char path[PATH_SIZE];
    make_directory(path, "ranked", "potrf.host.txt",
                   "d lower - 2 1 1 blocked,tiny mine\nd lower - 6 1 1 tiny,blocked mine\n");
    suite_setenv("BATCHLAS_TUNED_DIR", path);
    suite_handle();
    for (int n = 2; n <= 6; n += 4) {
        traced_t traced = {"1", n};
        char order[16];
        snprintf(order, sizeof order, "n=%d ", n);
        char *text = suite_stderr_of(factor, &traced);
        const char *line = strstr(text, "potrf on host");
        suite_case("n %d, trace: %s", n, text);
        if (!line || !strstr(line, order) || !strstr(line, n == 2 ? "-> blocked" : "-> tiny"))
            suite_fail("the decision is not in it");
        free(text);
    }
    const char *const silent[] = {NULL, "", "0"};
    for (int i = 0; i < 3; ++i) {
        traced_t traced = {silent[i], 6};
        char *text = suite_stderr_of(factor, &traced);
        if (*text)
            suite_fail("not silent: %s", text);
        free(text);
    }
    remove_directory(path, "potrf.host.txt");
}

static const struct CMUnitTest tests[] = {
    suite_test(a_device_with_a_table_takes_it),
    suite_test(a_gpu_without_one_borrows_the_nearest_with_one_warning),
    suite_test(a_host_never_borrows),
    suite_test(an_operation_without_any_table_has_none),
    suite_test(a_directory_takes_the_place_of_the_librarys_tables),
    suite_test(a_directory_without_the_table_gives_the_librarys_with_one_warning),
    suite_test(a_malformed_row_fails_every_call_with_file_and_line),
    suite_test(a_table_with_a_zero_byte_or_too_large_is_refused),
    suite_test(a_folder_or_a_pipe_is_no_table),
    suite_test(the_trace_shows_that_the_nearest_row_decides),
};

SUITE_MAIN("tables", tests, HOST_ONLY)
