/* SPDX-License-Identifier: BSD-3-Clause */
/* Any values of the environment's variables and any table in BATCHLAS_TUNED_DIR: calls are right,
 * or refused with everything as it was. Input: fields that end with a zero byte, one for each
 * variable below; the rest is the table. */
#include "fuzz/fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ORDER = 23, NRHS = 2, BATCH = 3, AREA = ORDER * ORDER, SIDES = ORDER * NRHS };

static const char *const variables[] = {
    "BATCHLAS_POTRF_ROUTE", "BATCHLAS_POTRS_ROUTE", "BATCHLAS_POSV_ROUTE",  "BATCHLAS_TRSM_ROUTE",
    "BATCHLAS_SYRK_ROUTE",  "BATCHLAS_POTRF_NB",    "BATCHLAS_SELECT_TRACE"};

/* A unit triangle of small whole numbers: it is its product's factor to the last bit, whichever
 * family finds it. */
static double factor(int i, int j) {
    return i == j ? 1 : i > j ? (i * 7 + j * 3) % 3 - 1 : 0;
}

typedef struct {
    double A[BATCH * AREA], B[BATCH * SIDES];
    int info[BATCH];
} system_t;

static void product(double *A) {
    for (int j = 0; j < ORDER; ++j)
        for (int i = 0; i < ORDER; ++i) {
            A[i + j * ORDER] = 0;
            for (int k = 0; k <= j && k <= i; ++k)
                A[i + j * ORDER] += factor(i, k) * factor(j, k);
        }
}

/* A X = B with X = 1, 2. */
static void make_system(system_t *s) {
    product(s->A);
    for (int r = 0; r < NRHS; ++r)
        for (int i = 0; i < ORDER; ++i) {
            s->B[i + r * ORDER] = 0;
            for (int j = 0; j < ORDER; ++j)
                s->B[i + r * ORDER] += (r + 1) * s->A[i + j * ORDER];
        }
    for (int item = 1; item < BATCH; ++item) {
        memcpy(s->A + (ptrdiff_t)item * AREA, s->A, AREA * sizeof *s->A);
        memcpy(s->B + (ptrdiff_t)item * SIDES, s->B, SIDES * sizeof *s->B);
    }
    for (int item = 0; item < BATCH; ++item)
        s->info[item] = -77;
}

static void expect_solved(const system_t *s, const system_t *before) {
    for (int item = 0; item < BATCH; ++item) {
        HOLDS(s->info[item] == 0, "info[%d] is %d", item, s->info[item]);
        for (int j = 0; j < ORDER; ++j)
            for (int i = 0; i < ORDER; ++i) {
                const int at = i + j * ORDER + item * AREA;
                HOLDS(s->A[at] == (i >= j ? factor(i, j) : before->A[at]), "A(%d, %d) is %g", i, j,
                      s->A[at]);
            }
        for (int at = 0; at < SIDES; ++at)
            HOLDS(s->B[at + item * SIDES] == at / ORDER + 1, "B(%d, %d) is %g", at % ORDER,
                  at / ORDER, s->B[at + item * SIDES]);
    }
}

static void write_table(const char *directory, const input_t *text) {
    char path[128];
    static const char *const operations[] = {"potrf", "posv"};
    for (int i = 0; i < 2; ++i) {
        snprintf(path, sizeof path, "%s/%s.host.txt", directory, operations[i]);
        FILE *file = fopen(path, "wb");
        HOLDS(file, "%s: %s", path, strerror(errno));
        fwrite(text->data, 1, text->size, file);
        fclose(file);
    }
}

static void take_environment(input_t *input) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const size_t length = strnlen((const char *)input->data, input->size);
        char *value = host_alloc(length + 1, 1);
        memcpy(value, input->data, length);
        suite_setenv(variables[i], value);
        free(value);
        input->data += length;
        input->size -= length;
        take_byte(input);
    }
    char path[160];
    snprintf(path, sizeof path, "%s/coverage.csv", suite_directory());
    suite_setenv("BATCHLAS_COVERAGE_OUT", path);
    suite_setenv("BATCHLAS_TUNED_DIR", suite_directory());
    write_table(suite_directory(), input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static system_t before, system;
    if (before.A[0] == 0)
        make_system(&before);
    input_t input = {data, size};
    take_environment(&input);

    batchlas_handle_t h = NULL;
    HOLDS(batchlas_create(&h, -1) == BATCHLAS_SUCCESS, "%s", batchlas_last_error(NULL));
    for (int call = 0; call < 2; ++call) {
        size_t bytes = 0;
        system = before;
        const batchlas_status_t asked =
            batchlas_dposv_buffer_size(h, BATCHLAS_LOWER, ORDER, NRHS, BATCH, &bytes);
        const batchlas_status_t status =
            batchlas_dposv(h, BATCHLAS_LOWER, ORDER, NRHS, system.A, ORDER, AREA, system.B, ORDER,
                           SIDES, system.info, BATCH);
        HOLDS(asked == status, "buffer_size gave %s, and the call %s",
              batchlas_status_string(asked), batchlas_status_string(status));
        if (status == BATCHLAS_SUCCESS) {
            expect_solved(&system, &before);
        } else {
            const char *text = batchlas_last_error(h);
            HOLDS(status == BATCHLAS_ROUTE_UNAVAILABLE, "%s", batchlas_status_string(status));
            HOLDS(*text && !strchr(text, '\n'), "the sentence is \"%s\"", text);
            HOLDS(memcmp(&system, &before, sizeof system) == 0, "refused, and not as it was");
        }
    }
    HOLDS(batchlas_destroy(h) == BATCHLAS_SUCCESS, "%s", batchlas_last_error(NULL));
    return 0;
}
