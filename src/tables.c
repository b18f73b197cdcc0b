/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the table that ranks an operation's families on a handle's device: a file under
 * BATCHLAS_TUNED_DIR, else the embedded one, else, on a GPU, the nearest architecture's. */
#include "handle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_TABLE_BYTES = 16 << 20 };

/* A folder or a pipe would not do, and opening the latter might wait for ever. */
static bool is_file(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static batchlas_status_t unusable(batchlas_handle_t h, const char *path, const char *why) {
    return batchlas_fail(h, BATCHLAS_ROUTE_UNAVAILABLE, "%.400s: %s", path, why);
}

static batchlas_status_t out_of_memory(batchlas_handle_t h, const char *path) {
    return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY, "%.400s: no memory for the table", path);
}

/* The whole file as a string. */
static batchlas_status_t read_all(batchlas_handle_t h, const char *path, FILE *file, char **text) {
    const long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (bytes > MAX_TABLE_BYTES)
        return unusable(h, path, "the table is larger than 16 MiB");
    if (bytes < 0 || fseek(file, 0, SEEK_SET) != 0)
        return unusable(h, path, "the table cannot be read");
    if (!(*text = malloc((size_t)bytes + 1)))
        return out_of_memory(h, path);
    const size_t got = fread(*text, 1, (size_t)bytes, file);
    (*text)[got] = '\0';
    if (got < (size_t)bytes)
        return unusable(h, path, "the table cannot be read to its end");
    return strlen(*text) < got ? unusable(h, path, "the table has a zero byte") : BATCHLAS_SUCCESS;
}

/* *text is NULL where there is no such file, and is the caller's to free in any case. */
static batchlas_status_t read_text(batchlas_handle_t h, const char *path, char **text) {
    *text = NULL;
    errno = 0;
    FILE *file = is_file(path) ? fopen(path, "rb") : NULL;
    if (!file)
        return errno == ENOMEM ? out_of_memory(h, path) : BATCHLAS_SUCCESS;
    const batchlas_status_t status = read_all(h, path, file, text);
    fclose(file);
    return status;
}

/* The embedded table of this device or, on a GPU, of the architecture nearest to it. */
static const embedded_table_t *find_embedded(const batchlas_handle_t h, const char *operation) {
    const embedded_table_t *nearest = NULL;
    int least = 0;
    for (int i = 0; i < batchlas_embedded_table_count; ++i) {
        const embedded_table_t *candidate = &batchlas_embedded_tables[i];
        if (strcmp(candidate->operation, operation))
            continue;
        if (!strcmp(candidate->device, h->device_name))
            return candidate;
        int architecture = 0;
        if (!h->facts.is_gpu || sscanf(candidate->device, "sm_%d", &architecture) != 1)
            continue;
        const int distance = abs(architecture - h->facts.architecture);
        if (!nearest || distance < least) {
            nearest = candidate;
            least = distance;
        }
    }
    if (nearest)
        batchlas_warn_once("no tuned table of %s for %s; borrowing that of %s", operation,
                           h->device_name, nearest->device);
    return nearest;
}

typedef struct {
    const operation_t *operation;
    const device_facts_t *facts;
} spelling_context_t;

static int is_spelling(const void *context, const char *word) {
    const spelling_context_t *where = context;
    return batchlas_find_family(where->operation, word, where->facts) != NULL;
}

static batchlas_status_t load(batchlas_handle_t h, const operation_t *operation,
                              const char *directory, table_t *table) {
    const spelling_context_t context = {operation, &h->facts};
    char path[4096] = "";
    char *text = NULL;
    if (*directory) {
        const int length =
            snprintf(path, sizeof path, "%s/%s.%s.txt", directory, operation->name, h->device_name);
        const batchlas_status_t read =
            length < (int)sizeof path ? read_text(h, path, &text) : BATCHLAS_SUCCESS;
        if (read != BATCHLAS_SUCCESS) {
            free(text);
            return read;
        }
        if (!text)
            batchlas_warn_once("%.400s cannot be read; using the library's own table", path);
    }
    const embedded_table_t *embedded = text ? NULL : find_embedded(h, operation->name);
    if (embedded)
        snprintf(path, sizeof path, "%s.%s.txt", embedded->operation, embedded->device);
    *table = (table_t){NULL, 0};
    batchlas_status_t status = BATCHLAS_SUCCESS;
    if (text || embedded) {
        char error[4096 + 128];
        status = batchlas_table_parse(text ? text : embedded->text, path, is_spelling, &context,
                                      table, error, sizeof error);
        if (status != BATCHLAS_SUCCESS)
            batchlas_fail(h, status, "%.500s", error);
    }
    free(text);
    return status;
}

static void unload(loaded_table_t *slot) {
    batchlas_table_free(&slot->table);
    free(slot->directory);
    *slot = (loaded_table_t){0};
}

batchlas_status_t batchlas_table_for(batchlas_handle_t h, const operation_t *operation,
                                     const table_t **table) {
    const char *variable = getenv("BATCHLAS_TUNED_DIR");
    const char *directory = variable ? variable : "";
    *table = NULL;
    loaded_table_t *slot = h->tables;
    while (slot->operation && slot->operation != operation)
        ++slot; /* there is a slot for every operation */
    if (slot->operation && strcmp(slot->directory, directory))
        unload(slot);
    if (!slot->operation) {
        const batchlas_status_t status = load(h, operation, directory, &slot->table);
        if (status != BATCHLAS_SUCCESS)
            return status;
        slot->operation = operation;
        slot->directory = strdup(directory);
        if (!slot->directory) {
            unload(slot);
            return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY, "a tuned table could not be kept");
        }
    }
    if (slot->table.row_count > 0)
        *table = &slot->table;
    return BATCHLAS_SUCCESS;
}

void batchlas_tables_free(batchlas_handle_t h) {
    for (int i = 0; i < OPERATION_COUNT; ++i)
        if (h->tables[i].operation)
            unload(&h->tables[i]);
}
