/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/suite.h"

#include "harness/families.h"
#include "harness/reference.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { HOST = -1 };

extern char **environ;

static struct {
    int gpu; /* HOST or an OpenMP device number */
    batchlas_handle_t handle;
    char directory[64];
    char where[256];
} suite = {.gpu = HOST};

/* ---- the device under test ----------------------------------------------------------------- */

int suite_device(void) {
    return suite.gpu == HOST ? omp_get_initial_device() : suite.gpu;
}

bool suite_on_gpu(void) {
    return suite.gpu != HOST;
}

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0");
}

bool suite_extended(void) {
    return is_set("BATCHLAS_TEST_EXTENDED");
}

bool suite_exact(void) {
    return is_set("BATCHLAS_TEST_EXACT");
}

batchlas_handle_t suite_handle(void) {
    if (!suite.handle) {
        const batchlas_status_t status = batchlas_create(&suite.handle, suite_device());
        if (status != BATCHLAS_SUCCESS)
            suite_fail("no handle for device %d: %s", suite_device(), batchlas_last_error(NULL));
    }
    return suite.handle;
}

void suite_close_handle(void) {
    batchlas_handle_t h = suite.handle;
    suite.handle = NULL;
    if (batchlas_destroy(h) != BATCHLAS_SUCCESS)
        suite_fail("destroy: %s", batchlas_last_error(NULL));
}

/* ---- environment --------------------------------------------------------------------------- */

void suite_setenv(const char *name, const char *value) {
    if (value ? setenv(name, value, 1) : unsetenv(name))
        suite_fail("the environment could not be set: %s", strerror(errno));
}

static void clean_environment(void) {
    static const char *const variables[] = {
        "BATCHLAS_POTRF_ROUTE",        "BATCHLAS_POTRS_ROUTE", "BATCHLAS_POSV_ROUTE",
        "BATCHLAS_TRSM_ROUTE",         "BATCHLAS_GEMM_ROUTE",  "BATCHLAS_SYRK_ROUTE",
        "BATCHLAS_POTRF_LOGDET_ROUTE", "BATCHLAS_TUNED_DIR",   "BATCHLAS_SELECT_TRACE",
        "BATCHLAS_COVERAGE_OUT",       "BATCHLAS_POTRF_NB"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        unsetenv(variables[i]);
}

const char *suite_directory(void) {
    if (!suite.directory[0]) {
        strcpy(suite.directory, "/tmp/batchlas-test-XXXXXX");
        if (!mkdtemp(suite.directory))
            suite_fail("no temporary directory: %s", strerror(errno));
    }
    return suite.directory;
}

static void remove_directory(void) {
    DIR *directory = suite.directory[0] ? opendir(suite.directory) : NULL;
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", suite.directory, entry->d_name);
        unlink(path);
    }
    closedir(directory);
    rmdir(suite.directory);
    suite.directory[0] = '\0';
}

char *suite_stderr_of(void (*action)(void *), void *argument) {
    fflush(stderr);
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    if (!file || kept < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        suite_fail("stderr could not be redirected: %s", strerror(errno));
    action(argument);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    const long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    rewind(file);
    char *text = host_alloc((size_t)bytes + 1, 1);
    text[fread(text, 1, (size_t)bytes, file)] = '\0';
    fclose(file);
    return text;
}

/* ---- processes ------------------------------------------------------------------------------ */

static const char child_variable[] = "BATCHLAS_TEST_CHILD"; /* "DEVICE ROLE" */

const char *suite_child(void) {
    const char *value = getenv(child_variable);
    char *role = NULL;
    if (!value)
        return NULL;
    return strtol(value, &role, 10) == suite_device() ? role + 1 : "";
}

/* The words of this process's command line, at most `most`. */
static int command_line(char *text, size_t size, char **words, int most) {
    int count = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    const size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *word = text; word < text + length && count < most; word += strlen(word) + 1)
        words[count++] = word;
    return count;
}

int suite_run_again(const char *tests, const char *role) {
    enum { MOST_WORDS = 16 };
    char text[4096], only[] = "--only", pattern[64], value[256];
    char *words[MOST_WORDS + 3];
    int count = command_line(text, sizeof text, words, MOST_WORDS), status = -1;
    snprintf(pattern, sizeof pattern, "%s", tests);
    words[count++] = only;
    words[count++] = pattern;
    words[count] = NULL;
    snprintf(value, sizeof value, "%d %s", suite_device(), role);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    fflush(stdout);
    suite_setenv(child_variable, value);
    const int failed = posix_spawn(&child, "/proc/self/exe", &quiet, NULL, words, environ);
    suite_setenv(child_variable, NULL);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed || waitpid(child, &status, 0) != child)
        suite_fail("this program could not be run again: %s", strerror(failed));
    if (!WIFEXITED(status))
        suite_fail("this program, run again, ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* ---- failing ------------------------------------------------------------------------------- */

void suite_case(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(suite.where, sizeof suite.where, format, arguments);
    va_end(arguments);
}

void suite_fail(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("%s%s%s\n", suite.where, suite.where[0] ? ": " : "", text);
    fail();
    abort(); /* fail() jumps out of here, which the compiler cannot know */
}

void suite_expect_status(batchlas_status_t expected, batchlas_status_t status,
                         batchlas_handle_t h) {
    if (status != expected)
        suite_fail("expected %s, got %s (%s)", batchlas_status_string(expected),
                   batchlas_status_string(status), batchlas_last_error(h));
}

void suite_expect_success(batchlas_status_t status, batchlas_handle_t h) {
    suite_expect_status(BATCHLAS_SUCCESS, status, h);
    if (batchlas_last_error(h)[0])
        suite_fail("a call that succeeded left an error: %s", batchlas_last_error(h));
}

verdict_t good(void) {
    return (verdict_t){""};
}

verdict_t bad(const char *format, ...) {
    verdict_t verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict.text, sizeof verdict.text, format, arguments);
    va_end(arguments);
    return verdict;
}

void suite_expect(verdict_t verdict) {
    if (!is_good(&verdict))
        suite_fail("%s", verdict.text);
}

/* ---- memory -------------------------------------------------------------------------------- */

void *host_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        suite_fail("%zu bytes of host memory could not be had", count * size);
    return memory;
}

void *device_alloc(size_t bytes) {
    const size_t wanted = bytes ? bytes : 1;
#if BATCHLAS_HAVE_GPU
    void *memory = suite_on_gpu() ? omp_target_alloc(wanted, suite_device()) : malloc(wanted);
#else
    void *memory = malloc(wanted);
#endif
    if (!memory)
        suite_fail("%zu bytes of device memory could not be had", wanted);
    return memory;
}

void device_free(void *memory) {
#if BATCHLAS_HAVE_GPU
    if (suite_on_gpu()) {
        omp_target_free(memory, suite_device());
        return;
    }
#endif
    free(memory);
}

#if BATCHLAS_HAVE_GPU
static void copy(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (bytes &&
        omp_target_memcpy(to, (void *)(uintptr_t)from, bytes, 0, 0, to_device, from_device) != 0)
        suite_fail("a copy of %zu bytes between host and device failed", bytes);
}
#else
static void copy(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    (void)to_device;
    (void)from_device;
    if (bytes)
        memcpy(to, from, bytes);
}
#endif

void device_put(void *to, const void *from, size_t bytes) {
    copy(to, suite_device(), from, omp_get_initial_device(), bytes);
}

void device_get(void *to, const void *from, size_t bytes) {
    copy(to, omp_get_initial_device(), from, suite_device(), bytes);
}

/* Operands come and go by the megabyte. Each time returned to the system and faulted in anew, they
 * would cost more than the calls under test. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

/* ---- main ---------------------------------------------------------------------------------- */

int suite_setup(void **state) {
    (void)state;
    clean_environment();
    suite_case("%s", "");
    coverage_begin();
    return 0;
}

static int close_group(void **state) {
    (void)state;
    suite_close_handle();
    print_worst_ratios();
    return 0;
}

static int run_on(const char *name, int gpu, const struct CMUnitTest *tests, size_t count) {
    char group[128];
    suite.gpu = gpu;
    if (gpu == HOST)
        snprintf(group, sizeof group, "%s on the host", name);
    else
        snprintf(group, sizeof group, "%s on GPU %d", name, gpu);
    return _cmocka_run_group_tests(group, tests, count, NULL, close_group);
}

typedef struct {
    bool gpu;
    const char *only; /* NULL: all tests */
} options_t;

static bool parse_options(int argc, char **argv, options_t *options) {
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--only") && *value)
            options->only = value;
        else if (!strcmp(argv[i], "--device") && (!strcmp(value, "gpu") || !strcmp(value, "host")))
            options->gpu = !strcmp(value, "gpu");
        else
            return false;
    }
    return true;
}

int suite_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
               size_t count, suite_place_t place) {
    options_t options = {0};
    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr, "usage: %s [--device host|gpu] [--only TEST]\n", argv[0]);
        return EXIT_FAILURE;
    }
    if (place == (options.gpu ? HOST_ONLY : GPU_ONLY))
        return EXIT_SKIPPED;
    const int gpus = options.gpu ? omp_get_num_devices() : 0;
    if (options.gpu && gpus == 0) {
        printf("%s: skipped, no GPU\n", name);
        return EXIT_SKIPPED;
    }
    keep_freed_memory();
    cmocka_set_test_filter(options.only);
    clean_environment();
    int failed = 0;
    if (!options.gpu)
        failed = run_on(name, HOST, tests, count);
    for (int i = 0; i < gpus; ++i)
        failed += run_on(name, i, tests, count);
    remove_directory();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
