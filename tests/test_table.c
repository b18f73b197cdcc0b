/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of tuned tables, and the nearest row. */
#include "harness/suite.h"

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_spelling(const void *context, const char *word) {
    (void)context;
    return !strcmp(word, "tiny") || !strcmp(word, "blocked") || !strcmp(word, "vendor") ||
           !strcmp(word, "lpanel:panel=8");
}

static char error[256];

static batchlas_status_t parse(const char *text, table_t *table) {
    error[0] = '\0';
    return batchlas_table_parse(text, "potrf.sm_90.txt", is_spelling, NULL, table, error,
                                sizeof error);
}

static table_t parsed(const char *text) {
    table_t table;
    if (parse(text, &table) != BATCHLAS_SUCCESS)
        suite_fail("a good table was refused: %s", error);
    return table;
}

/* ---- good tables --------------------------------------------------------------------------- */

static void rows_are_read(void **state) {
    (void)state;
    table_t table = parsed("# type uplo form n nrhs batch families source\n"
                           "\n"
                           "d - NC 8 - 100 lpanel:panel=8 x\n"
                           "   z\tupper\tLN\t1024 4 1  vendor   transcribed  # trailing words\r\n"
                           "s lower - 16 1 32768 tiny,blocked,vendor sweep:12");
    assert_int_equal(table.row_count, 3);

    /* Sorted by type, uplo and form. */
    const table_row_t *row = &table.rows[1];
    assert_int_equal(row->key.type, 's');
    assert_int_equal(row->key.uplo, 'l');
    assert_string_equal(row->key.form, "-");
    assert_int_equal(row->key.n, 16);
    assert_int_equal(row->key.nrhs, 1);
    assert_int_equal(row->key.batch, 32768);
    assert_int_equal(row->ranked_count, 3);
    assert_string_equal(row->ranked[0], "tiny");
    assert_string_equal(row->ranked[1], "blocked");
    assert_string_equal(row->ranked[2], "vendor");
    assert_int_equal(row->line, 5);

    row = &table.rows[2];
    assert_int_equal(row->key.type, 'z');
    assert_int_equal(row->key.uplo, 'u');
    assert_string_equal(row->key.form, "LN");
    assert_int_equal(row->key.n, 1024);
    assert_int_equal(row->key.nrhs, 4);
    assert_int_equal(row->key.batch, 1);
    assert_int_equal(row->ranked_count, 1);
    assert_int_equal(row->line, 4);

    row = &table.rows[0];
    assert_int_equal(row->key.uplo, '-');
    assert_string_equal(row->key.form, "NC");
    assert_string_equal(row->ranked[0], "lpanel:panel=8");
    assert_int_equal(row->line, 3);
    batchlas_table_free(&table);
    assert_null(table.rows);
}

static void empty_tables_are_good(void **state) {
    (void)state;
    const char *const texts[] = {"", "\n\n", "# nothing but words\n", "   \t \n#\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        table_t table = parsed(texts[i]);
        assert_int_equal(table.row_count, 0);
        const route_key_t key = {'s', 'l', "-", 8, 1, 8};
        assert_null(batchlas_table_nearest(&table, &key));
        batchlas_table_free(&table);
    }
}

static void many_rows_are_kept(void **state) {
    (void)state;
    enum { ROWS = 5000 };
    char *text = host_alloc(ROWS, 64);
    char *end = text;
    for (int i = 1; i <= ROWS; ++i)
        end += sprintf(end, "s lower - %d 1 1 tiny x\n", i);
    table_t table = parsed(text);
    assert_int_equal(table.row_count, ROWS);
    assert_int_equal(table.rows[ROWS - 1].key.n, ROWS);
    assert_int_equal(table.rows[ROWS - 1].line, ROWS);
    batchlas_table_free(&table);
    free(text);
}

/* ---- malformed rows ------------------------------------------------------------------------ */

static void malformed_rows_are_errors_with_file_and_line(void **state) {
    (void)state;
    static const char *const rows[] = {
        "s",                                     /* too few columns */
        "s lower - 16 1 32768 tiny",             /* no source */
        "s lower - 16 1 32768 tiny a b",         /* too many columns */
        "s lower - 16 1 32768 tiny, vendor x",   /* a blank inside the list */
        "x lower - 16 1 32768 tiny a",           /* type */
        "S lower - 16 1 32768 tiny a",           /* type */
        "sd lower - 16 1 32768 tiny a",          /* type */
        "s left - 16 1 32768 tiny a",            /* uplo */
        "s l - 16 1 32768 tiny a",               /* uplo */
        "s Lower - 16 1 32768 tiny a",           /* uplo */
        "s lower toolongform 16 1 32768 tiny a", /* form */
        "s lower - 0 1 32768 tiny a",            /* n */
        "s lower - -16 1 32768 tiny a",          /* n */
        "s lower - +16 1 32768 tiny a",          /* n */
        "s lower - 16.5 1 32768 tiny a",         /* n */
        "s lower - 0x10 1 32768 tiny a",         /* n */
        "s lower - 16n 1 32768 tiny a",          /* n */
        "s lower - many 1 32768 tiny a",         /* n */
        "s lower - 99999999999999999999 1 1 tiny a",
        "s lower - 16 0 32768 tiny a",          /* nrhs */
        "s lower - 16 one 32768 tiny a",        /* nrhs */
        "s lower - 16 1 0 tiny a",              /* batch */
        "s lower - 16 1 1e5 tiny a",            /* batch */
        "s lower - 16 1 32768 fast a",          /* no such family */
        "s lower - 16 1 32768 tiny,fast a",     /* no such family */
        "s lower - 16 1 32768 Tiny a",          /* no such family */
        "s lower - 16 1 32768 , a",             /* empty names */
        "s lower - 16 1 32768 tiny, a",         /* empty name */
        "s lower - 16 1 32768 ,tiny a",         /* empty name */
        "s lower - 16 1 32768 tiny,,blocked a", /* empty name */
        "s lower - 16 1 32768 tiny;blocked a",  /* separator */
        "s lower - 16 1 32768 a-name-that-is-longer-than-any-family-could-be a",
        "s lower - 16 1 32768 tiny,tiny,tiny,tiny,tiny,tiny,tiny,tiny,tiny a",
        "s,lower,-,16,1,32768,tiny,a", /* another format */
        "<<<<<<< HEAD",                /* an unresolved merge */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[512];
        snprintf(text, sizeof text,
                 "# a comment\ns lower - 8 1 1024 tiny good\n\n%s\ns lower - 8 1 8 tiny good\n",
                 rows[i]);
        suite_case("row \"%s\"", rows[i]);
        table_t table = {(table_row_t *)text, 7};
        if (parse(text, &table) != BATCHLAS_ROUTE_UNAVAILABLE)
            suite_fail("it was accepted");
        if (strncmp(error, "potrf.sm_90.txt:4: ", 19) || strlen(error) < 25)
            suite_fail("the error does not say where and what: %s", error);
        if (table.rows || table.row_count)
            suite_fail("the table is not empty");
    }
}

static void overlong_lines_are_errors(void **state) {
    (void)state;
    char text[5000];
    memset(text, ' ', sizeof text);
    memcpy(text, "s lower - 8 1 1024 tiny", 23);
    strcpy(text + sizeof text - 6, "good\n");
    table_t table;
    assert_int_equal(parse(text, &table), BATCHLAS_ROUTE_UNAVAILABLE);
    assert_ptr_equal(strstr(error, "potrf.sm_90.txt:1: "), error);
    assert_null(table.rows);
}

static void a_short_error_buffer_is_enough(void **state) {
    (void)state;
    char small[8] = "########";
    table_t table;
    assert_int_equal(
        batchlas_table_parse("nonsense\n", "file", is_spelling, NULL, &table, small, sizeof small),
        BATCHLAS_ROUTE_UNAVAILABLE);
    assert_memory_equal(small, "file:1:", 8);
}

/* ---- the nearest row ----------------------------------------------------------------------- */

static int nearest_line(const char *text, route_key_t key) {
    table_t table = parsed(text);
    const table_row_t *row = batchlas_table_nearest(&table, &key);
    const int line = row ? row->line : 0;
    batchlas_table_free(&table);
    return line;
}

static void type_uplo_and_form_must_match(void **state) {
    (void)state;
    const char *text = "s lower - 16 1 1000 tiny a\n"
                       "s upper - 16 1 1000 tiny a\n"
                       "d lower - 4096 1 1 tiny a\n"
                       "d lower LN 4096 1 1 tiny a\n";
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 16, 1, 1000}), 1);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'u', "-", 16, 1, 1000}), 2);
    assert_int_equal(nearest_line(text, (route_key_t){'d', 'l', "-", 16, 1, 1000}), 3);
    assert_int_equal(nearest_line(text, (route_key_t){'d', 'l', "LN", 16, 1, 1000}), 4);
    assert_int_equal(nearest_line(text, (route_key_t){'d', 'u', "-", 16, 1, 1000}), 0);
    assert_int_equal(nearest_line(text, (route_key_t){'c', 'l', "-", 16, 1, 1000}), 0);
    assert_int_equal(nearest_line(text, (route_key_t){'s', '-', "-", 16, 1, 1000}), 0);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "LT", 16, 1, 1000}), 0);
}

static void distances_are_logarithmic(void **state) {
    (void)state;
    const char *text = "s lower - 8 1 64 tiny a\n"
                       "s lower - 16 1 64 tiny a\n"
                       "s lower - 512 1 64 tiny a\n";
    /* 11 / 8 < 16 / 11 although 16 is not farther than 6 from it; 12 / 8 > 16 / 12. */
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 11, 1, 64}), 1);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 12, 1, 64}), 2);
    /* 90 is nearer to 16 on a line, not in ratio: 512 / 91 < 91 / 16. */
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 90, 1, 64}), 2);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 91, 1, 64}), 3);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 1, 1, 64}), 1);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 1 << 30, 1, 64}), 3);
}

static void the_order_weighs_three_times(void **state) {
    (void)state;
    const route_key_t key = {'s', 'l', "-", 16, 4, 4096};
    /* A factor 2 in n is 3; a factor 4 in batch is 2, a factor 16 is 4. */
    assert_int_equal(nearest_line("s lower - 8 4 4096 tiny a\ns lower - 16 4 1024 tiny a\n", key),
                     2);
    assert_int_equal(nearest_line("s lower - 8 4 4096 tiny a\ns lower - 16 4 256 tiny a\n", key),
                     1);
    /* The same for nrhs. */
    assert_int_equal(nearest_line("s lower - 8 4 4096 tiny a\ns lower - 16 16 4096 tiny a\n", key),
                     2);
    assert_int_equal(nearest_line("s lower - 8 4 4096 tiny a\ns lower - 16 64 4096 tiny a\n", key),
                     1);
    /* nrhs and batch weigh the same, and add up. */
    assert_int_equal(nearest_line("s lower - 16 2 2048 tiny a\ns lower - 16 4 2048 tiny a\n", key),
                     2);
    assert_int_equal(nearest_line("s lower - 16 2 2048 tiny a\ns lower - 16 4 512 tiny a\n", key),
                     1);
}

static void the_first_of_equals_wins(void **state) {
    (void)state;
    assert_int_equal(nearest_line("s lower - 8 1 64 tiny a\ns lower - 8 1 64 vendor a\n",
                                  (route_key_t){'s', 'l', "-", 8, 1, 64}),
                     1);
    assert_int_equal(nearest_line("s lower - 16 1 64 tiny a\ns lower - 4 1 64 vendor a\n",
                                  (route_key_t){'s', 'l', "-", 8, 1, 64}),
                     1);
    assert_int_equal(nearest_line("s lower - 8 1 32 tiny a\ns lower - 8 1 128 vendor a\n",
                                  (route_key_t){'s', 'l', "-", 8, 1, 64}),
                     1);
}

static void huge_batches_have_a_nearest_row(void **state) {
    (void)state;
    const char *text = "s lower - 4 1 1024 tiny a\ns lower - 4 1 4294967296 vendor a\n";
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 4, 1, (int64_t)1 << 33}), 2);
    assert_int_equal(nearest_line(text, (route_key_t){'s', 'l', "-", 4, 1, INT64_MAX}), 2);
}

static const struct CMUnitTest tests[] = {
    suite_test(rows_are_read),
    suite_test(empty_tables_are_good),
    suite_test(many_rows_are_kept),
    suite_test(malformed_rows_are_errors_with_file_and_line),
    suite_test(overlong_lines_are_errors),
    suite_test(a_short_error_buffer_is_enough),
    suite_test(type_uplo_and_form_must_match),
    suite_test(distances_are_logarithmic),
    suite_test(the_order_weighs_three_times),
    suite_test(the_first_of_equals_wins),
    suite_test(huge_batches_have_a_nearest_row),
};

SUITE_MAIN("table", tests, HOST_ONLY)
