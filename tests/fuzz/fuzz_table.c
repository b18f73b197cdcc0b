/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a tuned table, of any operation. Input: a byte for the operation, then the text. */
#include "fuzz/fuzz.h"

#include "run.h"

#include <string.h>

static int is_spelling(const void *context, const char *word) {
    static const device_facts_t host = {0}, gpu = {.is_gpu = true, .architecture = 90};
    const operation_t *operation = context;
    return batchlas_find_family(operation, word, &host) ||
           batchlas_find_family(operation, word, &gpu);
}

static void expect_order(const table_t *table) {
    for (int i = 0; i < table->row_count; ++i) {
        const table_row_t *row = &table->rows[i];
        HOLDS(row->key.n >= 1 && row->key.nrhs >= 1 && row->key.batch >= 1, "row %d", i);
        HOLDS(row->ranked_count >= 1 && row->ranked_count <= TABLE_MAX_RANKED, "row %d", i);
        HOLDS(i == 0 || row->key.type != row[-1].key.type || row->key.uplo != row[-1].key.uplo ||
                  strcmp(row->key.form, row[-1].key.form) != 0 || row->line > row[-1].line,
              "rows %d and %d are out of order", i - 1, i);
        const table_row_t *nearest = batchlas_table_nearest(table, &row->key);
        HOLDS(nearest && nearest->key.n == row->key.n && nearest->key.nrhs == row->key.nrhs &&
                  nearest->key.batch == row->key.batch && nearest->line <= row->line,
              "row %d is not the nearest to itself", i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const operation_t *const operations[] = {
        &batchlas_potrf_operation, &batchlas_potrs_operation, &batchlas_posv_operation,
        &batchlas_trsm_operation,  &batchlas_gemm_operation,  &batchlas_syrk_operation};
    input_t input = {data, size};
    const operation_t *operation =
        operations[take_byte(&input) % (sizeof operations / sizeof *operations)];
    char *text = host_alloc(input.size + 1, 1);
    if (input.size > 0)
        memcpy(text, input.data, input.size);
    char error[160] = "";
    table_t table = {0};
    const batchlas_status_t status =
        batchlas_table_parse(text, "file", is_spelling, operation, &table, error, sizeof error);
    if (status == BATCHLAS_SUCCESS) {
        expect_order(&table);
    } else {
        int line = 0;
        HOLDS(status == BATCHLAS_ROUTE_UNAVAILABLE, "%s", batchlas_status_string(status));
        HOLDS(sscanf(error, "file:%d: ", &line) == 1 && line >= 1, "%s", error);
        HOLDS(table.row_count == 0 && !table.rows, "a table that is not good is not empty");
    }
    batchlas_table_free(&table);
    free(text);
    return 0;
}
