/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of one item, over and over: every item of every batch is compared with one reference, bit
 * for bit, where it lies. Families, types and orders in turn, in both forms, at several alignments,
 * on one handle after another, and in another process. On a GPU BATCHLAS_TEST_EXTENDED=1 takes more
 * than 10^9 items. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const operations[ROUTINE_COUNT] = {"potrf", "potrs", "posv", "potrf_logdet",
                                                      "trsm",  "gemm",  "syrk"};

static int64_t compared; /* items */
static uint64_t bits;    /* a number for those of all references */

/* ---- one operand ----------------------------------------------------------------------------- */

/* Items are copied and compared as words of four bytes, which both kinds of device load at once. */
typedef struct {
    int rows, columns;
    bool written;
    int64_t item_words;  /* from one item to the next */
    int64_t counting;    /* words of an item that hold elements; of a written one, those written */
    int *where;          /* they are, on the device */
    uint32_t *source;    /* an item as it is before the call, on the device */
    uint32_t *reference; /* and after it */
    uint32_t *memory;    /* the batch, on the device */
    void **pointers;     /* to its items, on the device */
    int ld;
} operand_batch_t;

enum { LD_PAD = 1, GAP = 3, SHIFTS = 4 }; /* more than there are rounds */

/* M is column-major without padding; only `region` of it counts. */
static operand_batch_t operand_make(scalar_type_t type, int rows, int columns, region_t region,
                                    bool written, const wide_t *M, int64_t batch) {
    operand_batch_t o = {.rows = rows, .columns = columns, .written = written, .ld = rows + LD_PAD};
    if (rows == 0)
        return o;
    const int element = (int)scalar_size(type) / 4;
    o.item_words = ((int64_t)o.ld * columns + GAP) * element;
    int *where = host_alloc((size_t)o.item_words, sizeof *where);
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i)
            for (int word = 0; word < element; ++word)
                if ((region != LOWER_TRIANGLE || i >= j) && (region != UPPER_TRIANGLE || i <= j))
                    where[o.counting++] = (i + j * o.ld) * element + word;

    matrices_t one = matrices_make(type, rows, columns, 1, (layout_t){.ld_pad = LD_PAD}, ALL);
    matrices_fill(&one, SENTINEL);
    matrices_set(&one, 0, M);
    const unsigned char *first = one.input + one.guard * scalar_size(type);
    const size_t extent = ((size_t)o.ld * (size_t)(columns - 1) + (size_t)rows) * scalar_size(type);
    uint32_t *source = host_alloc((size_t)o.item_words, sizeof *source);
    memcpy(source, first, extent);
    matrices_free(&one);

    const size_t item_bytes = (size_t)o.item_words * sizeof *source;
    o.where = device_alloc((size_t)o.counting * sizeof *where);
    o.source = device_alloc(item_bytes);
    o.reference = device_alloc(item_bytes);
    o.memory = device_alloc((size_t)batch * item_bytes + SHIFTS * scalar_size(type));
    o.pointers = device_alloc((size_t)batch * sizeof *o.pointers);
    device_put(o.where, where, (size_t)o.counting * sizeof *where);
    device_put(o.source, source, item_bytes);
    free(where);
    free(source);
    return o;
}

static void operand_free(operand_batch_t *o) {
    if (o->rows == 0)
        return;
    device_free(o->where);
    device_free(o->source);
    device_free(o->reference);
    device_free(o->memory);
    device_free(o->pointers);
}

/* The items at a time whose words 32 bits count, by which a device divides many times faster. */
static int64_t chunk_of(int64_t words) {
    return ((int64_t)1 << 31) / words;
}

/* Fills the batch from the source; `shift` elements in front of it change the items' alignment. */
static operand_t operand_fill(operand_batch_t *o, scalar_type_t type, int64_t batch, int shift,
                              bool array) {
    const int64_t words = o->item_words, element = (int64_t)scalar_size(type) / 4;
    const uint32_t *source = o->source;
    void **pointers = o->pointers;
    if (o->rows == 0)
        return (operand_t){.ld = 1};
    uint32_t *memory = o->memory + shift * element;
    for (int64_t first = 0, chunk = chunk_of(words); first < batch; first += chunk) {
        uint32_t *to = memory + first * words;
        const uint32_t period = (uint32_t)words;
        const uint32_t count = (uint32_t)((batch - first < chunk ? batch - first : chunk) * words);
#pragma omp target teams distribute parallel for is_device_ptr(to, source) device(suite_device())
        for (uint32_t i = 0; i < count; ++i)
            to[i] = source[i % period];
    }
    if (!array)
        return (operand_t){.base = memory, .ld = o->ld, .stride = words / element};
    /* Backwards, so that an item's place in memory is not its place in the batch. */
#pragma omp target teams distribute parallel for is_device_ptr(memory, pointers)                   \
    device(suite_device())
    for (int64_t item = 0; item < batch; ++item)
        pointers[item] = memory + (batch - 1 - item) * words;
    return (operand_t){.items = o->pointers, .ld = o->ld};
}

/* The words that count and differ from the reference's. */
static int64_t operand_differences(const operand_batch_t *o, scalar_type_t type, int64_t batch,
                                   int shift) {
    const int64_t words = o->item_words;
    const uint32_t counting = (uint32_t)o->counting;
    const uint32_t *memory = o->memory + shift * (int64_t)scalar_size(type) / 4;
    const uint32_t *reference = o->reference;
    const int *where = o->where;
    int64_t differences = 0;
    for (int64_t first = 0, chunk = chunk_of(words); first < batch; first += chunk) {
        const uint32_t *from = memory + first * words;
        const uint32_t count =
            (uint32_t)((batch - first < chunk ? batch - first : chunk) * counting);
#pragma omp target teams distribute parallel for is_device_ptr(from, reference, where)             \
    map(tofrom : differences) reduction(+ : differences) device(suite_device())
        for (uint32_t i = 0; i < count; ++i) {
            const int word = where[i % counting];
            differences += from[i / counting * words + word] != reference[word];
        }
    }
    return differences;
}

/* ---- one batch ------------------------------------------------------------------------------- */

typedef struct {
    routine_t routine;
    scalar_type_t type;
    int n;
    batchlas_uplo_t uplo;
    int64_t batch;
    operand_batch_t operands[3];
    int *info;
    double *logdet;
    double reference_logdet;
} batch_t;

enum { NRHS = 2 };

static batch_t batch_make(routine_t routine, scalar_type_t type, int n, batchlas_uplo_t uplo,
                          int64_t batch) {
    const size_t area = (size_t)n * (size_t)n;
    wide_t *A = host_alloc(area, sizeof *A), *B = host_alloc(area + NRHS * (size_t)n, sizeof *B);
    const region_t triangle = triangle_of(uplo);
    const bool factors = routine == POTRF || routine == POSV;
    const bool by_sides = routine == POTRS || routine == POSV;
    const bool multiplies = routine == GEMM || routine == SYRK;
    generate(GRAM, type, n, 81, A);
    if (!factors && !multiplies) {
        reference_potrf(n, A);
        for (int j = 0; j < n && uplo == BATCHLAS_UPPER; ++j)
            for (int i = 0; i < j; ++i) {
                A[i + (size_t)j * (size_t)n] = A[j + (size_t)i * (size_t)n];
                A[i + (size_t)j * (size_t)n].im *= -1;
            }
    }
    generate_dense(type, n, n + NRHS, 82, B);
    batch_t b = {.routine = routine, .type = type, .n = n, .uplo = uplo, .batch = batch};
    const bool has_b = routine != POTRF && routine != POTRF_LOGDET && routine != SYRK;
    b.operands[0] = operand_make(type, n, n, factors ? triangle : ALL, factors, A, batch);
    b.operands[1] =
        operand_make(type, has_b ? n : 0, by_sides ? NRHS : n, ALL, routine != GEMM, B, batch);
    b.operands[2] =
        operand_make(type, multiplies ? n : 0, n, routine == SYRK ? triangle : ALL, true, B, batch);
    b.info = device_alloc((size_t)batch * sizeof *b.info);
    b.logdet = device_alloc((size_t)batch * sizeof *b.logdet);
    free(A);
    free(B);
    return b;
}

static void batch_free(batch_t *b) {
    for (int o = 0; o < 3; ++o)
        operand_free(&b->operands[o]);
    device_free(b->info);
    device_free(b->logdet);
}

static batchlas_status_t batch_call(batchlas_handle_t h, batch_t *b, int shift, bool array) {
    const call_t c = {.routine = b->routine,
                      .array = array,
                      .p = {.type = b->type,
                            .uplo = b->uplo,
                            .m = b->n,
                            .n = b->n,
                            .k = b->n,
                            .nrhs = NRHS,
                            .alpha = {1, 0},
                            .beta = {1, 0},
                            .A = operand_fill(&b->operands[0], b->type, b->batch, shift, array),
                            .B = operand_fill(&b->operands[1], b->type, b->batch, shift, array),
                            .C = operand_fill(&b->operands[2], b->type, b->batch, shift, array),
                            .info = b->info,
                            .logdet = b->logdet,
                            .batch = b->batch}};
    return call(h, &c);
}

/* FNV-1a by words (Fowler, Noll and Vo). */
static void add_to_bits(const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (uint32_t word; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        bits = (bits ^ word) * UINT64_C(0x100000001b3);
    }
}

/* The first item of this call is the reference from now on. */
static void take_reference(batch_t *b, int shift) {
    for (int o = 0; o < 3; ++o) {
        operand_batch_t *operand = &b->operands[o];
        const size_t words = (size_t)operand->item_words;
        if (operand->rows == 0)
            continue;
        uint32_t *item = host_alloc(words, sizeof *item);
        device_get(item, operand->memory + shift * (int64_t)scalar_size(b->type) / 4,
                   words * sizeof *item);
        device_put(operand->reference, item, words * sizeof *item);
        add_to_bits(item, words * sizeof *item);
        free(item);
    }
    if (b->routine == POTRF_LOGDET) {
        device_get(&b->reference_logdet, b->logdet, sizeof b->reference_logdet);
        add_to_bits(&b->reference_logdet, sizeof b->reference_logdet);
    }
}

static void expect_reference(const batch_t *b, int shift, const char *what) {
    const int64_t batch = b->batch; /* a host's structure is no device's */
    int64_t wrong = 0;
    const int *info = b->info;
    for (int o = 0; o < 3; ++o) {
        const operand_batch_t *operand = &b->operands[o];
        const int64_t differences = operand->rows > 0 && operand->written
                                        ? operand_differences(operand, b->type, b->batch, shift)
                                        : 0;
        if (differences)
            suite_fail("%s: %" PRId64 " words of operand %c, in %" PRId64 " items, have other bits",
                       what, differences, "ABC"[o], b -> batch);
    }
    if (b->routine == POTRF || b->routine == POSV) {
#pragma omp target teams distribute parallel for is_device_ptr(info) map(tofrom : wrong)           \
    reduction(+ : wrong) device(suite_device())
        for (int64_t item = 0; item < batch; ++item)
            wrong += info[item] != 0;
    }
    if (b->routine == POTRF_LOGDET) {
        const double *logdet = b->logdet;
        const double reference = b->reference_logdet;
#pragma omp target teams distribute parallel for is_device_ptr(logdet) map(tofrom : wrong)         \
    reduction(+ : wrong) device(suite_device())
        for (int64_t item = 0; item < batch; ++item)
            wrong += logdet[item] != reference;
    }
    if (wrong)
        suite_fail("%s: %" PRId64 " results are wrong", what, wrong);
    compared += b->batch;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Loops over the items on the host. */
static bool goes_item_by_item(const family_line_t *line) {
    return line->spelling && !strcmp(line->spelling, "vendor:single");
}

static int64_t batch_of(const family_line_t *line, int n) {
    if (goes_item_by_item(line))
        return 67;
    if (!suite_extended() || !suite_on_gpu())
        return n <= 8 ? 1031 : n <= 33 ? 259 : 37;
    return n <= 3 ? 1 << 21 : n <= 8 ? 1 << 20 : n <= 17 ? 1 << 17 : n <= 33 ? 1 << 15 : 1 << 12;
}

/* On new handles: strided, again at another alignment, and by pointers in another order. */
static void repeat(routine_t routine, scalar_type_t type, int n, batchlas_uplo_t uplo,
                   const family_line_t *line) {
    const int rounds = suite_child() ? 1 : has_array_form(routine) ? 3 : 2;
    batch_t b = batch_make(routine, type, n, uplo, batch_of(line, n));
    family_pin(line);
    suite_case("%s %s, n %d, batch %" PRId64, family_name(line, type),
               uplo == BATCHLAS_LOWER ? "lower" : "upper", n, b.batch);
    for (int round = 0; round < rounds; ++round) {
        const bool array = round == 2;
        batchlas_handle_t h = NULL;
        suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
        const batchlas_status_t status = batch_call(h, &b, round, array);
        const bool ran = family_ran(line, type, n, status, h);
        assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
        if (!ran)
            break;
        if (round == 0)
            take_reference(&b, round);
        expect_reference(&b, round, array ? "by pointers" : round ? "again" : "at first");
    }
    family_unpin(line);
    batch_free(&b);
}

/* A process that is run again leaves its bits in the file that is its role. */
static void every_item_is_the_same(void **state) {
    (void)state;
    const int orders[] = {3, 8, 17, 33, 70};
    if (suite_child() && !*suite_child())
        skip();
    bits = UINT64_C(0xcbf29ce484222325);
    compared = 0;
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    EACH(order, orders) {
        const family_line_t *line;
        for (int f = 0; (line = family_line(operations[routine], f)); ++f)
            repeat((routine_t)routine, types[type_index], orders[order_index],
                   triangles[(f + order_index) % 2], line);
    }
    print_message("%" PRId64 " items compared\n", compared);
    if (suite_child()) {
        FILE *file = fopen(suite_child(), "w");
        assert_non_null(file);
        fprintf(file, "%" PRIx64 "\n", bits);
        fclose(file);
    }
}

static void another_process_gives_the_same_bits(void **state) {
    (void)state;
    char path[128], text[32] = "", expected[32];
    if (!compared)
        skip();
    snprintf(path, sizeof path, "%s/bits", suite_directory());
    assert_int_equal(suite_run_again("every_item_is_the_same", path), EXIT_SUCCESS);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    snprintf(expected, sizeof expected, "%" PRIx64 "\n", bits);
    assert_string_equal(text, expected);
}

static const struct CMUnitTest tests[] = {
    suite_test(every_item_is_the_same),
    suite_test(another_process_gives_the_same_bits),
};

SUITE_MAIN("same bits", tests, ON_EVERY_DEVICE)
