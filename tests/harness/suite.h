/* SPDX-License-Identifier: BSD-3-Clause */
/* What every suite stands on: the device under test, its handle and memory, the environment, and
 * the way a case fails.
 *
 * A suite is one program. `--device host` (the default) runs its cases on the host handle,
 * `--device gpu` runs the same cases on every GPU; without one it exits with 77, a skip. `--only
 * TEST` runs the tests of that name, * and ? being wildcards.
 * BATCHLAS_TEST_EXTENDED=1 adds the large sizes. BATCHLAS_TEST_EXACT=1 leaves out the guard
 * elements around every operand, so that a memory checker sees the first byte beyond it. */
#ifndef BATCHLAS_TESTS_SUITE_H
#define BATCHLAS_TESTS_SUITE_H

#include <batchlas/batchlas.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { EXIT_SKIPPED = 77 };

typedef enum { ON_EVERY_DEVICE, HOST_ONLY, GPU_ONLY } suite_place_t;

/* A test that begins with a clean environment. */
#define suite_test(f) cmocka_unit_test_setup(f, suite_setup)

#define SUITE_MAIN(name, tests, place)                                                             \
    int main(int argc, char **argv) {                                                              \
        return suite_main(argc, argv, name, tests, sizeof(tests) / sizeof *(tests), place);        \
    }

int suite_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
               size_t count, suite_place_t place);
int suite_setup(void **state);

/* The OpenMP number of the device under test. */
int suite_device(void);
bool suite_on_gpu(void);
bool suite_extended(void);
bool suite_exact(void);

/* The handle of the device under test, made when first asked for; closing completes the coverage
 * file. */
batchlas_handle_t suite_handle(void);
void suite_close_handle(void);

/* NULL unsets. */
void suite_setenv(const char *name, const char *value);

/* What the process writes to stderr while action runs, to be freed; action must not fail a test. */
char *suite_stderr_of(void (*action)(void *), void *argument);

/* Runs this program again with these tests alone and returns its exit status; what it prints on
 * stdout is lost. suite_child() is `role` there, on the device under test, "" on others, and NULL
 * in a program that was not run by this. */
int suite_run_again(const char *tests, const char *role);
const char *suite_child(void);

/* A new, empty directory that goes when the suite ends. */
const char *suite_directory(void);

/* Names the case that the next failure is about. */
void suite_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Fails the test with the case's name. */
void suite_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Fails unless the call succeeded, with the library's own sentence. */
void suite_expect_success(batchlas_status_t status, batchlas_handle_t h);
void suite_expect_status(batchlas_status_t expected, batchlas_status_t status, batchlas_handle_t h);

/* Memory of the device under test; 0 bytes give a pointer that may be passed, not used. */
void *device_alloc(size_t bytes);
void device_free(void *memory);
void device_put(void *to, const void *from, size_t bytes);
void device_get(void *to, const void *from, size_t bytes);

/* Host memory, or the end of the test. */
void *host_alloc(size_t count, size_t size);

/* What a check found: empty text is good. */
typedef struct {
    char text[320];
} verdict_t;

static inline bool is_good(const verdict_t *verdict) {
    return verdict->text[0] == '\0';
}
verdict_t good(void);
verdict_t bad(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Fails the test unless the verdict is good. */
void suite_expect(verdict_t verdict);

#endif
