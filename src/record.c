/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The coverage file of the process; every thread's handles append to it. */
static struct {
    pthread_mutex_t lock;
    FILE *file;
    char *path;
} coverage = {.lock = PTHREAD_MUTEX_INITIALIZER};

void batchlas_coverage_flush(void) {
    pthread_mutex_lock(&coverage.lock);
    if (coverage.file)
        fflush(coverage.file);
    pthread_mutex_unlock(&coverage.lock);
}

static const char *uplo_word(char uplo) {
    return uplo == 'l' ? "lower" : uplo == 'u' ? "upper" : "-";
}

/* Opens `path` unless it is open already; stdio closes it at exit. */
static void open_coverage(const char *path) {
    if (coverage.path && !strcmp(coverage.path, path))
        return;
    if (coverage.file)
        fclose(coverage.file);
    free(coverage.path);
    coverage.path = strdup(path);
    coverage.file = fopen(path, "a");
    if (!coverage.file)
        batchlas_warn_once("BATCHLAS_COVERAGE_OUT=%s cannot be written", path);
    else if (fseek(coverage.file, 0, SEEK_END) == 0 && ftell(coverage.file) == 0)
        fputs("op,type,uplo,n,nrhs,batch,chosen_algo\n", coverage.file);
}

void batchlas_cover(const operation_t *operation, const problem_t *problem,
                    const family_t *family) {
    const char *path = getenv("BATCHLAS_COVERAGE_OUT");
    if (!path || !*path)
        return;
    const route_key_t key = operation->key(problem);
    pthread_mutex_lock(&coverage.lock);
    open_coverage(path);
    if (coverage.file)
        fprintf(coverage.file, "%s,%c,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s\n", operation->name,
                key.type, uplo_word(key.uplo), key.n, key.nrhs, key.batch, family->spelling);
    pthread_mutex_unlock(&coverage.lock);
}

void batchlas_trace(batchlas_handle_t h, const route_request_t *request, const route_t *route) {
    const char *wish = getenv("BATCHLAS_SELECT_TRACE");
    if (!wish || !*wish || !strcmp(wish, "0"))
        return;
    const route_key_t key = request->operation->key(request->problem);
    char source[64];
    if (route->row)
        snprintf(source, sizeof source, "table row at line %d", route->row->line);
    else if (request->pin && *request->pin && !request->leaf)
        snprintf(source, sizeof source, "pinned");
    else
        snprintf(source, sizeof source, "last resort");
    fprintf(stderr,
            "batchlas: %s%s on %s: type=%c uplo=%s form=%s n=%" PRId64 " nrhs=%" PRId64
            " batch=%" PRId64 " -> %s (%s)\n",
            request->operation->name, request->leaf ? " leaf" : "", h->device_name, key.type,
            uplo_word(key.uplo), key.form, key.n, key.nrhs, key.batch, route->family->spelling,
            source);
}
