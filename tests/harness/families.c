/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = INT32_MAX, MAX_RECORD = 96 };

#define EVERY_ORDER {ANY, ANY, ANY, ANY}
#define HOST_VENDOR BATCHLAS_HAVE_LAPACK
#define CUDA_VENDOR BATCHLAS_HAVE_VENDOR_CUDA

/* The pin `vendor` is a class as well and where its family cannot run means the table's choice:
 * such lines have 0, and what ran under them shows in the coverage alone. */
/* clang-format off */
static const family_line_t lines[] = {
    /* operation     spelling         children  host         gpu          must run up to */
    {"potrf",        NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"potrf",        "tiny",          NULL,     true,        true,        {32, 32, 32, 16}},
    {"potrf",        "cta",           NULL,     false,       true,        {128, 96, 96, 64}},
    {"potrf",        "lpanel:panel=8", NULL,    false,       true,        {512, 512, 512, 512}},
    {"potrf",        "lpanel:panel=16", NULL,   false,       true,        {512, 512, 0, 0}},
    {"potrf",        "ltile:width=32", NULL,    false,       true,        EVERY_ORDER},
    {"potrf",        "ltile:width=64", NULL,    false,       true,        {ANY, ANY, ANY, 0}},
    {"potrf",        "wide",          NULL,     false,       true,        {128, 128, 128, 64}},
    {"potrf",        "blocked",       NULL,     true,        true,        EVERY_ORDER},
    {"potrf",        "blocked",       "native", true,        true,        EVERY_ORDER},
    {"potrf",        "blocked",       "vendor", HOST_VENDOR, CUDA_VENDOR, EVERY_ORDER},
    {"potrf",        "vendor",        NULL,     HOST_VENDOR, CUDA_VENDOR, EVERY_ORDER},
    {"potrf",        "vendor:single", NULL,     false,       CUDA_VENDOR, EVERY_ORDER},
    {"potrs",        NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"potrs",        "fused",         NULL,     false,       true,        {64, 64, 64, 64}},
    {"potrs",        "stream",        NULL,     false,       true,        {0}},
    {"potrs",        "tiny",          NULL,     false,       true,        {64, 64, 64, 64}},
    {"potrs",        "tile",          NULL,     false,       true,        {256, 256, 256, 128}},
    {"potrs",        "blocked",       NULL,     true,        true,        EVERY_ORDER},
    {"potrs",        "blocked",       "native", true,        true,        EVERY_ORDER},
    {"potrs",        "blocked",       "vendor", HOST_VENDOR, CUDA_VENDOR, EVERY_ORDER},
    {"potrs",        "vendor",        NULL,     HOST_VENDOR, CUDA_VENDOR, {0}},
    {"posv",         NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"posv",         "tiny",          NULL,     false,       true,        {32, 32, 32, 16}},
    {"posv",         "rolled",        NULL,     false,       true,        {0}},
    {"posv",         "blocked",       NULL,     true,        true,        EVERY_ORDER},
    {"posv",         "blocked",       "native", true,        true,        EVERY_ORDER},
    {"posv",         "blocked",       "vendor", HOST_VENDOR, CUDA_VENDOR, EVERY_ORDER},
    {"potrf_logdet", NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"trsm",         NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"trsm",         "strips",        NULL,     false,       true,        EVERY_ORDER},
    {"trsm",         "tiled",         NULL,     true,        true,        EVERY_ORDER},
    {"trsm",         "vendor",        NULL,     HOST_VENDOR, CUDA_VENDOR, {0}},
    {"gemm",         NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"gemm",         "register",      NULL,     false,       true,        EVERY_ORDER},
    {"gemm",         "tiled",         NULL,     true,        true,        EVERY_ORDER},
    {"gemm",         "vendor",        NULL,     HOST_VENDOR, CUDA_VENDOR, {0}},
    {"syrk",         NULL,            NULL,     true,        true,        EVERY_ORDER},
    {"syrk",         "register",      NULL,     false,       true,        EVERY_ORDER},
    {"syrk",         "tiled",         NULL,     true,        true,        EVERY_ORDER},
    {"syrk",         "vendor",        NULL,     HOST_VENDOR, CUDA_VENDOR, {0}},
};
/* clang-format on */

static const char *const operations[] = {"potrf", "potrs", "posv",        "trsm",
                                         "gemm",  "syrk",  "potrf_logdet"};

static bool is_vendor(const char *spelling) {
    return spelling && !strncmp(spelling, "vendor", strlen("vendor"));
}

/* Under a sanitizer of the device nobody looks at a vendor's kernels, which take most of its time.
 */
static bool is_here(const family_line_t *line) {
    if (suite_exact() && (is_vendor(line->spelling) || is_vendor(line->children)))
        return false;
    return suite_on_gpu() ? line->on_gpu : line->on_host;
}

const family_line_t *family_line(const char *operation, int index) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        if (!strcmp(lines[i].operation, operation) && is_here(&lines[i]) && index-- == 0)
            return &lines[i];
    return NULL;
}

static void pin(const char *operation, const char *value) {
    char variable[64];
    snprintf(variable, sizeof variable, "BATCHLAS_%s_ROUTE", operation);
    for (char *c = variable; *c; ++c)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    suite_setenv(variable, value);
}

static void pin_line(const family_line_t *line, const char *spelling, const char *children) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
        pin(operations[i], strcmp(operations[i], line->operation) ? children : spelling);
}

void family_pin(const family_line_t *line) {
    pin_line(line, line->spelling, line->children);
}

void family_unpin(const family_line_t *line) {
    pin_line(line, NULL, NULL);
}

bool family_must_run(const family_line_t *line, scalar_type_t type, int n) {
    return n <= line->runs_up_to[type];
}

const char *family_name(const family_line_t *line, scalar_type_t type) {
    static char name[64];
    snprintf(name, sizeof name, "%c%s %s%s%s", scalar_letter(type), line->operation,
             line->spelling ? line->spelling : "auto", line->children ? " over " : "",
             line->children ? line->children : "");
    return name;
}

bool family_ran(const family_line_t *line, scalar_type_t type, int n, batchlas_status_t status,
                batchlas_handle_t h) {
    if (status == BATCHLAS_ROUTE_UNAVAILABLE && line->spelling && !family_must_run(line, type, n))
        return false;
    suite_expect_success(status, h);
    return true;
}

/* ---- coverage ------------------------------------------------------------------------------ */

static struct {
    char (*rows)[MAX_RECORD];
    size_t count, capacity;
} expected;

static void coverage_path(char *path, size_t size) {
    snprintf(path, size, "%s/coverage.csv", suite_directory());
}

void coverage_begin(void) {
    char path[128];
    coverage_path(path, sizeof path);
    suite_setenv("BATCHLAS_COVERAGE_OUT", path);
}

static void format_row(char row[MAX_RECORD], const char *operation, char type, char uplo, int64_t n,
                       int64_t nrhs, int64_t batch, const char *spelling) {
    snprintf(row, MAX_RECORD, "%s,%c,%c,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s", operation, type,
             uplo, n, nrhs, batch, spelling);
}

void coverage_expect(const family_line_t *line, scalar_type_t type, char uplo, int64_t n,
                     int64_t nrhs, int64_t batch) {
    if (!line->spelling)
        return;
    if (!strcmp(line->spelling, "vendor") && line->runs_up_to[type] == 0)
        return;
    if (expected.count == expected.capacity) {
        expected.capacity = expected.capacity ? 2 * expected.capacity : 1024;
        expected.rows = realloc(expected.rows, expected.capacity * sizeof *expected.rows);
        if (!expected.rows)
            suite_fail("no memory to remember %zu calls", expected.capacity);
    }
    format_row(expected.rows[expected.count++], line->operation, scalar_letter(type), uplo, n, nrhs,
               batch, line->spelling);
}

char *coverage_text(void) {
    char path[128];
    coverage_path(path, sizeof path);
    FILE *file = fopen(path, "rb");
    if (!file)
        suite_fail("the library wrote no coverage to %s", path);
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    char *text = host_alloc((size_t)bytes + 1, 1);
    text[fread(text, 1, (size_t)bytes, file)] = '\0';
    fclose(file);
    return text;
}

static int compare_rows(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The recorded rows of one operation, in the form of the expected ones, sorted. */
static size_t recorded_rows(const char *operation, char (**rows)[MAX_RECORD]) {
    char *text = coverage_text();
    size_t lines_in_text = 1;
    for (const char *c = text; *c; ++c)
        lines_in_text += *c == '\n';
    *rows = host_alloc(lines_in_text, sizeof **rows);
    size_t count = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[16], uplo[8], spelling[40], type;
        int64_t n, nrhs, batch;
        if (sscanf(line, "%15[^,],%c,%7[^,],%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%39s", name, &type,
                   uplo, &n, &nrhs, &batch, spelling) == 7 &&
            !strcmp(name, operation))
            format_row((*rows)[count++], name, type, uplo[0], n, nrhs, batch, spelling);
    }
    free(text);
    qsort(*rows, count, sizeof **rows, compare_rows);
    return count;
}

/* Whether anything on record ran as this line pins it. */
static verdict_t line_was_taken(const family_line_t *line) {
    char(*recorded)[MAX_RECORD];
    const size_t count = recorded_rows(line->operation, &recorded);
    bool found = !line->spelling && count > 0;
    for (size_t i = 0; i < count && !found; ++i)
        found = !strcmp(strrchr(recorded[i], ',') + 1, line->spelling);
    free(recorded);
    return found ? good()
                 : bad("no case ran %s %s", line->operation,
                       line->spelling ? line->spelling : "at all");
}

verdict_t coverage_agrees(const char *operation) {
    char(*recorded)[MAX_RECORD];
    const size_t recorded_count = recorded_rows(operation, &recorded);
    verdict_t verdict = good();
    if (expected.count)
        qsort(expected.rows, expected.count, sizeof *expected.rows, compare_rows);
    size_t at = 0;
    for (size_t i = 0; i < expected.count && is_good(&verdict); ++i, ++at) {
        while (at < recorded_count && strcmp(recorded[at], expected.rows[i]) < 0)
            ++at;
        if (at == recorded_count || strcmp(recorded[at], expected.rows[i]))
            verdict = bad("a pin ran something else: no record of %s", expected.rows[i]);
    }
    free(recorded);
    return verdict;
}

void coverage_forget(void) {
    free(expected.rows);
    memset(&expected, 0, sizeof expected);
}

void coverage_verify(const char *operation) {
    suite_case("%s", operation);
    suite_close_handle();
    suite_expect(coverage_agrees(operation));
    const family_line_t *line;
    for (int i = 0; (line = family_line(operation, i)); ++i)
        suite_expect(line_was_taken(line));
    coverage_forget();
}
