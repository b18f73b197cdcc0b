/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1024, MAX_ROWS = 100000, COLUMNS = 8 };

/* The words of one line, cut in place; one more than COLUMNS where there are too many. */
static int split(char *line, char *words[COLUMNS + 1]) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r", &rest); word && count <= COLUMNS;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    return count;
}

static bool parse_count(const char *word, int64_t *value) {
    if (!strcmp(word, "-")) {
        *value = 1;
        return true;
    }
    char *end = NULL;
    errno = 0;
    const long long parsed = strtoll(word, &end, 10);
    *value = parsed;
    return *word >= '0' && *word <= '9' && *end == '\0' && errno == 0 && parsed >= 1;
}

/* Fills the row from one line's words; NULL, or what is wrong. */
static const char *parse_row(char *words[COLUMNS + 1], int count,
                             int (*is_spelling)(const void *, const char *), const void *context,
                             table_row_t *row) {
    if (count != COLUMNS)
        return "expected 8 columns: type uplo form n nrhs batch families source";
    if (strlen(words[0]) != 1 || !strchr("sdcz", words[0][0]))
        return "type must be s, d, c or z";
    row->key.type = words[0][0];
    if (strcmp(words[1], "lower") && strcmp(words[1], "upper") && strcmp(words[1], "-"))
        return "uplo must be lower, upper or -";
    row->key.uplo = words[1][0];
    if (strlen(words[2]) >= TABLE_FORM_LENGTH)
        return "form is too long";
    strcpy(row->key.form, words[2]);
    if (!parse_count(words[3], &row->key.n) || !parse_count(words[4], &row->key.nrhs) ||
        !parse_count(words[5], &row->key.batch))
        return "n, nrhs and batch must be positive integers or -";

    row->ranked_count = 0;
    const char *cursor = words[6];
    for (bool more = true; more;) {
        const size_t length = strcspn(cursor, ",");
        more = cursor[length] == ',';
        if (row->ranked_count == TABLE_MAX_RANKED)
            return "too many families";
        if (length == 0 || length >= TABLE_SPELLING_LENGTH)
            return "a family's name is empty or too long";
        char *ranked = row->ranked[row->ranked_count++];
        memcpy(ranked, cursor, length);
        ranked[length] = '\0';
        if (!is_spelling(context, ranked))
            return "no family of this operation has that name";
        cursor += length + 1;
    }
    row->log_n = log2((double)row->key.n);
    row->log_nrhs = log2((double)row->key.nrhs);
    row->log_batch = log2((double)row->key.batch);
    return NULL;
}

static table_row_t *append_row(table_t *table, int *capacity) {
    if (table->row_count == *capacity) {
        const int larger = *capacity ? 2 * *capacity : 64;
        table_row_t *rows = realloc(table->rows, (size_t)larger * sizeof *rows);
        if (!rows)
            return NULL;
        table->rows = rows;
        *capacity = larger;
    }
    return &table->rows[table->row_count++];
}

/* Rows that share what must match exactly are one group; within it the file's order stays. */
static int compare_groups(const route_key_t *a, const route_key_t *b) {
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->uplo != b->uplo)
        return a->uplo < b->uplo ? -1 : 1;
    return strcmp(a->form, b->form);
}

static int compare_rows(const void *left, const void *right) {
    const table_row_t *a = left;
    const table_row_t *b = right;
    const int order = compare_groups(&a->key, &b->key);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

batchlas_status_t batchlas_table_parse(const char *text, const char *file,
                                       int (*is_spelling)(const void *context, const char *word),
                                       const void *context, table_t *table, char *error,
                                       size_t error_size) {
    *table = (table_t){NULL, 0};
    int capacity = 0;
    int line_number = 0;
    const char *wrong = NULL;
    for (const char *cursor = text; *cursor && !wrong;) {
        const size_t length = strcspn(cursor, "\n");
        ++line_number;
        char line[MAX_LINE];
        if (length >= sizeof line) {
            wrong = "line is too long";
            break;
        }
        memcpy(line, cursor, length);
        line[length] = '\0';
        line[strcspn(line, "#")] = '\0';
        cursor += length + (cursor[length] == '\n');

        char *words[COLUMNS + 1];
        const int count = split(line, words);
        if (count == 0)
            continue;
        if (table->row_count == MAX_ROWS) {
            wrong = "too many rows";
            break;
        }
        table_row_t *row = append_row(table, &capacity);
        if (!row) {
            snprintf(error, error_size, "%s: no memory for its rows", file);
            batchlas_table_free(table);
            return BATCHLAS_OUT_OF_MEMORY;
        }
        *row = (table_row_t){.line = line_number};
        wrong = parse_row(words, count, is_spelling, context, row);
    }
    if (!wrong) {
        if (table->row_count > 0)
            qsort(table->rows, (size_t)table->row_count, sizeof *table->rows, compare_rows);
        return BATCHLAS_SUCCESS;
    }
    snprintf(error, error_size, "%s:%d: %s", file, line_number, wrong);
    batchlas_table_free(table);
    return BATCHLAS_ROUTE_UNAVAILABLE;
}

void batchlas_table_free(table_t *table) {
    free(table->rows);
    *table = (table_t){NULL, 0};
}

static double log2_of(int64_t count) {
    return count > 1 ? log2((double)count) : 0.0;
}

/* The first row whose group is not before the key's. */
static int first_of_group(const table_t *table, const route_key_t *key) {
    int low = 0;
    int high = table->row_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare_groups(&table->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const table_row_t *batchlas_table_nearest(const table_t *table, const route_key_t *key) {
    /* Work grows as n^3 x batch, hence the weight. */
    const double order_weight = 3.0;
    const double log_n = log2_of(key->n);
    const double log_nrhs = log2_of(key->nrhs);
    const double log_batch = log2_of(key->batch);
    const table_row_t *nearest = NULL;
    double least = INFINITY;
    for (int i = first_of_group(table, key);
         i < table->row_count && compare_groups(&table->rows[i].key, key) == 0; ++i) {
        const table_row_t *row = &table->rows[i];
        const double distance = order_weight * fabs(row->log_n - log_n) +
                                fabs(row->log_nrhs - log_nrhs) + fabs(row->log_batch - log_batch);
        if (distance < least) {
            least = distance;
            nearest = row;
        }
    }
    return nearest;
}
