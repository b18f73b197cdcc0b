/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int complain(const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s: ", program_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(".\n", stderr);
    return 1;
}

int library_failed(batchlas_handle_t h, batchlas_status_t status) {
    return status == BATCHLAS_SUCCESS ? 0 : complain("%s", batchlas_last_error(h));
}

/* ---- for programs that have nothing to save
 * ------------------------------------------------------ */

void require(batchlas_handle_t h, batchlas_status_t status) {
    if (library_failed(h, status))
        exit(EXIT_FAILURE);
}

static void *have(void *memory, int64_t count, size_t element) {
    if (memory == NULL)
        exit(complain("no memory for %lld times %zu bytes", (long long)count, element));
    return memory;
}

void *allocate(int64_t count, size_t element) {
    return have(calloc(count > 0 ? (size_t)count : 1, element), count, element);
}

void *grow(void *memory, int64_t count, size_t element) {
    return have(realloc(memory, (count > 0 ? (size_t)count : 1) * element), count, element);
}

/* What free_for_copies must know, in front of the memory; as long as a cache line. */
typedef union {
    struct {
        omp_allocator_handle_t allocator;
        int device;
    } of;
    char line[64];
} copies_t;

static copies_t *copies_from(omp_allocator_handle_t allocator, size_t bytes, int device) {
    copies_t *head = omp_alloc(sizeof *head + bytes, allocator);
    if (head != NULL) {
        memset(head, 0, sizeof *head + bytes);
        head->of.allocator = allocator;
        head->of.device = device;
    }
    return head;
}

void *allocate_for_copies(int64_t count, size_t element, int device) {
    const size_t bytes = (size_t)count * element;
    const int before = omp_get_default_device(); /* whose runtime pins */
    copies_t *head = NULL;
    omp_set_default_device(device);
#if defined(__clang__)
    if (device != omp_get_initial_device())
        head = copies_from(llvm_omp_target_host_mem_alloc, bytes, device);
#endif
    if (head == NULL)
        head = copies_from(omp_default_mem_alloc, bytes, device);
    omp_set_default_device(before);
    return have(head, count, element), head + 1;
}

void free_for_copies(void *memory) {
    copies_t *head = (copies_t *)memory - 1;
    const int before = omp_get_default_device();
    omp_set_default_device(head->of.device);
    omp_free(head, head->of.allocator);
    omp_set_default_device(before);
}

/* ---- files ----------------------------------------------------------------------------------- */

int writable(const char *path) {
    FILE *file = path != NULL ? fopen(path, "ab") : NULL;
    if (path != NULL && file == NULL)
        complain("cannot write '%s': %s", path, strerror(errno));
    if (file != NULL)
        fclose(file);
    return path == NULL || file != NULL;
}

FILE *open_output(const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(complain("cannot write '%s': %s", path, strerror(errno)));
    return file;
}

void close_output(FILE *file, const char *path) {
    const int broken = ferror(file);
    if (fclose(file) != 0 || broken)
        exit(complain("'%s' could not be written in full", path));
}

/* ---- options --------------------------------------------------------------------------------- */

int take_text(const option_t *option, const char *text) {
    *(const char **)option->value = text;
    return *text != '\0';
}

int take_count(const option_t *option, const char *text) {
    char *end;
    errno = 0;
    const long long v = strtoll(text, &end, 10);
    *(int64_t *)option->value = v;
    return end != text && *end == '\0' && errno == 0 && (double)v >= option->low &&
           (double)v <= option->high;
}

int take_whole(const option_t *option, const char *text) {
    int64_t v = 0;
    option_t wide = *option;
    wide.value = &v;
    const int taken = take_count(&wide, text) && v >= INT_MIN && v <= INT_MAX;
    *(int *)option->value = taken ? (int)v : 0;
    return taken;
}

int take_real(const option_t *option, const char *text) {
    char *end;
    const double v = strtod(text, &end);
    *(double *)option->value = v;
    return end != text && *end == '\0' && v >= option->low && v <= option->high;
}

int take_seed(const option_t *option, const char *text) {
    char *end;
    errno = 0;
    *(uint64_t *)option->value = strtoull(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && text[0] != '-';
}

int take_device(const option_t *option, const char *text) {
    option_t number = {.value = option->value, .low = 0, .high = INT_MAX};
    if (strcmp(text, "auto") == 0)
        *(int *)option->value = DEVICE_AUTO;
    else if (strcmp(text, "host") == 0)
        *(int *)option->value = DEVICE_HOST;
    else
        return take_whole(&number, text);
    return 1;
}

static const char *expectation(const option_t *option) {
    static char range[80];
    if (option->expected != NULL)
        return option->expected;
    snprintf(range, sizeof range, "a number from %.15g to %.15g", option->low, option->high);
    return range;
}

int options_take(int argc, char **argv, const char *help, const option_t *option, int count) {
    for (int i = 1; i < argc; i++) {
        const size_t length = strcspn(argv[i], "=");
        const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : argv[i + 1];
        const option_t *known = NULL;
        if (strcmp(argv[i], "--help") == 0) {
            puts(help);
            return EXIT_SUCCESS;
        }
        for (int k = 0; k < count && known == NULL; k++)
            if (strlen(option[k].name) == length && strncmp(argv[i], option[k].name, length) == 0)
                known = option + k;
        if (known == NULL) {
            complain("unknown option '%s'; --help lists them", argv[i]);
            return EXIT_USAGE;
        }
        if (value == NULL) {
            complain("%s needs a value: %s", known->name, expectation(known));
            return EXIT_USAGE;
        }
        if (!known->take(known, value)) {
            complain("%s was '%s', expected %s", known->name, value, expectation(known));
            return EXIT_USAGE;
        }
        i += argv[i][length] != '=';
    }
    return GO_ON;
}

/* ---- the device ------------------------------------------------------------------------------ */

int open_device(int wanted, batchlas_handle_t *h, int *device) {
    const int host = omp_get_initial_device();
    *device = wanted == DEVICE_HOST ? host : wanted;
    if (wanted == DEVICE_AUTO)
        *device = omp_get_num_devices() > 0 ? omp_get_default_device() : host;
    batchlas_status_t status = batchlas_create(h, *device);
    if (status != BATCHLAS_SUCCESS && wanted == DEVICE_AUTO && *device != host) {
        complain("device %d is left out: %s", *device, batchlas_last_error(NULL));
        *device = host;
        status = batchlas_create(h, host);
    }
    return library_failed(NULL, status);
}

const char *device_words(int device) {
    static char words[64];
    if (device == omp_get_initial_device())
        snprintf(words, sizeof words, "host, OpenMP threads: %d", omp_get_max_threads());
    else
        snprintf(words, sizeof words, "%d of %d", device, omp_get_num_devices());
    return words;
}
