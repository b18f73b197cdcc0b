/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/arguments.h"

#include "harness/matrices.h"
#include "harness/sanitizers.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The good call, and what its memory holds beyond it: elements on both sides of every operand, so
 * that its pointer may be moved, and values that no call writes. */
enum { M = 5, N = 4, K = 3, NRHS = 2, ITEMS = 3, LD_PAD = 3, GAP = 7, SLACK = 4, LEFT_OVER = -77 };

/* On the diagonals, where everything else is in [0.5, 1.5]. */
static const double DOMINANT = 16;

/* Beside the values of address_t: the scalar itself is 0. */
enum { ZERO_SCALAR = DEVICE_ADDRESS + 1 };

/* Wide enough for the product of any extent, stride and batch. */
__extension__ typedef __int128 wide_int_t;

/* As batchlas.h says. */
static const int64_t most_items = ((int64_t)1 << 59) - 1;

/* What a GPU handle must refuse. */
static double on_the_host[64];

/* ---- prototypes ---------------------------------------------------------------------------- */

static const argument_t prototypes[ROUTINE_COUNT][20] = {
    [POTRF] = {{"uplo", ENUMERATOR},
               {"n", EXTENT},
               {"A", OPERAND},
               {"lda", LEADING_DIMENSION},
               {"stride_a", STRIDE},
               {"info", INFO},
               {"batch", BATCH},
               {0}},
    [POTRS] = {{"uplo", ENUMERATOR},
               {"n", EXTENT},
               {"nrhs", EXTENT},
               {"A", OPERAND},
               {"lda", LEADING_DIMENSION},
               {"stride_a", STRIDE},
               {"B", OPERAND},
               {"ldb", LEADING_DIMENSION},
               {"stride_b", STRIDE},
               {"batch", BATCH},
               {0}},
    [POSV] = {{"uplo", ENUMERATOR},
              {"n", EXTENT},
              {"nrhs", EXTENT},
              {"A", OPERAND},
              {"lda", LEADING_DIMENSION},
              {"stride_a", STRIDE},
              {"B", OPERAND},
              {"ldb", LEADING_DIMENSION},
              {"stride_b", STRIDE},
              {"info", INFO},
              {"batch", BATCH},
              {0}},
    [POTRF_LOGDET] = {{"uplo", ENUMERATOR},
                      {"n", EXTENT},
                      {"A", OPERAND},
                      {"lda", LEADING_DIMENSION},
                      {"stride_a", STRIDE},
                      {"logdet", LOGDET},
                      {"batch", BATCH},
                      {0}},
    [TRSM] = {{"side", ENUMERATOR},
              {"uplo", ENUMERATOR},
              {"trans", ENUMERATOR},
              {"diag", ENUMERATOR},
              {"m", EXTENT},
              {"n", EXTENT},
              {"alpha", SCALAR_ADDRESS},
              {"A", OPERAND},
              {"lda", LEADING_DIMENSION},
              {"stride_a", STRIDE},
              {"B", OPERAND},
              {"ldb", LEADING_DIMENSION},
              {"stride_b", STRIDE},
              {"batch", BATCH},
              {0}},
    [GEMM] = {{"opa", ENUMERATOR},
              {"opb", ENUMERATOR},
              {"m", EXTENT},
              {"n", EXTENT},
              {"k", EXTENT},
              {"alpha", SCALAR_ADDRESS},
              {"A", OPERAND},
              {"lda", LEADING_DIMENSION},
              {"stride_a", STRIDE},
              {"B", OPERAND},
              {"ldb", LEADING_DIMENSION},
              {"stride_b", STRIDE},
              {"beta", SCALAR_ADDRESS},
              {"C", OPERAND},
              {"ldc", LEADING_DIMENSION},
              {"stride_c", STRIDE},
              {"batch", BATCH},
              {0}},
    [SYRK] = {{"uplo", ENUMERATOR},
              {"trans", ENUMERATOR},
              {"n", EXTENT},
              {"k", EXTENT},
              {"alpha", SCALAR_ADDRESS},
              {"A", OPERAND},
              {"lda", LEADING_DIMENSION},
              {"stride_a", STRIDE},
              {"beta", SCALAR_ADDRESS},
              {"C", OPERAND},
              {"ldc", LEADING_DIMENSION},
              {"stride_c", STRIDE},
              {"batch", BATCH},
              {0}},
};

static const argument_t buffer_size_prototypes[ROUTINE_COUNT][8] = {
    [POTRF] = {{"uplo", ENUMERATOR}, {"n", EXTENT}, {"batch", BATCH}, {0}},
    [POTRS] = {{"uplo", ENUMERATOR}, {"n", EXTENT}, {"nrhs", EXTENT}, {"batch", BATCH}, {0}},
    [POSV] = {{"uplo", ENUMERATOR}, {"n", EXTENT}, {"nrhs", EXTENT}, {"batch", BATCH}, {0}},
    [TRSM] = {{"side", ENUMERATOR},
              {"uplo", ENUMERATOR},
              {"trans", ENUMERATOR},
              {"diag", ENUMERATOR},
              {"m", EXTENT},
              {"n", EXTENT},
              {"batch", BATCH},
              {0}},
    [GEMM] = {{"opa", ENUMERATOR},
              {"opb", ENUMERATOR},
              {"m", EXTENT},
              {"n", EXTENT},
              {"k", EXTENT},
              {"batch", BATCH},
              {0}},
    [SYRK] = {{"uplo", ENUMERATOR},
              {"trans", ENUMERATOR},
              {"n", EXTENT},
              {"k", EXTENT},
              {"batch", BATCH},
              {0}},
};

const argument_t *arguments_of(routine_t routine) {
    return prototypes[routine];
}

const argument_t *buffer_size_arguments_of(routine_t routine) {
    return buffer_size_prototypes[routine];
}

static bool is(const argument_t *argument, const char *name) {
    return !strcmp(argument->name, name);
}

/* ---- a call's arguments by name ------------------------------------------------------------ */

/* The public enumerations are unsigned or int, as the compiler likes; all have the size of int. */
static void *enumerator_of(call_t *c, const argument_t *argument) {
    return is(argument, "uplo")   ? (void *)&c->p.uplo
           : is(argument, "side") ? (void *)&c->p.side
           : is(argument, "diag") ? (void *)&c->p.diag
           : is(argument, "opb")  ? (void *)&c->p.op_b
                                  : (void *)&c->p.op_a;
}

static int *extent_of(call_t *c, const argument_t *argument) {
    return is(argument, "m")   ? &c->p.m
           : is(argument, "n") ? &c->p.n
           : is(argument, "k") ? &c->p.k
                               : &c->p.nrhs;
}

/* Of lda and stride_a too. */
static operand_t *operand_of(call_t *c, const argument_t *argument) {
    const char letter = argument->name[strlen(argument->name) - 1];
    return letter == 'A' || letter == 'a'   ? &c->p.A
           : letter == 'B' || letter == 'b' ? &c->p.B
                                            : &c->p.C;
}

value_t argument_get(const call_t *given, const argument_t *argument) {
    call_t copy = *given;
    call_t *c = &copy;
    int number = 0;
    switch (argument->kind) {
    case ENUMERATOR:
        memcpy(&number, enumerator_of(c, argument), sizeof number);
        return (value_t){.number = number};
    case EXTENT:
        return (value_t){.number = *extent_of(c, argument)};
    case SCALAR_ADDRESS:
        return (value_t){.number = is(argument, "alpha") ? (int)c->alpha_at : (int)c->beta_at};
    case OPERAND:
        return (value_t){.pointer = c->array ? (void *)(uintptr_t)operand_of(c, argument)->items
                                             : operand_of(c, argument)->base};
    case LEADING_DIMENSION:
        return (value_t){.number = operand_of(c, argument)->ld};
    case STRIDE:
        return (value_t){.number = operand_of(c, argument)->stride};
    case INFO:
        return (value_t){.pointer = c->p.info};
    case LOGDET:
        return (value_t){.pointer = c->p.logdet};
    case BATCH:
        return (value_t){.number = c->p.batch};
    }
    return (value_t){0};
}

void argument_set(call_t *c, const argument_t *argument, value_t value) {
    const int number = (int)value.number;
    operand_t *operand = NULL;
    switch (argument->kind) {
    case ENUMERATOR:
        memcpy(enumerator_of(c, argument), &number, sizeof number);
        break;
    case EXTENT:
        *extent_of(c, argument) = number;
        break;
    case SCALAR_ADDRESS:
        *(is(argument, "alpha") ? &c->alpha_at : &c->beta_at) =
            number == ZERO_SCALAR ? AS_GIVEN : (address_t)number;
        (is(argument, "alpha") ? c->p.alpha : c->p.beta)[0] = number == ZERO_SCALAR ? 0.0 : 1.0;
        break;
    case OPERAND:
        operand = operand_of(c, argument);
        if (c->array)
            operand->items = value.pointer;
        else
            operand->base = value.pointer;
        break;
    case LEADING_DIMENSION:
        operand_of(c, argument)->ld = number;
        break;
    case STRIDE:
        operand_of(c, argument)->stride = value.number;
        break;
    case INFO:
        c->p.info = value.pointer;
        break;
    case LOGDET:
        c->p.logdet = value.pointer;
        break;
    case BATCH:
        c->p.batch = value.number;
        break;
    }
}

void attempt_describe(const call_t *c, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s%s(", call_name(c), c->array ? "_array" : "");
    for (const argument_t *argument = arguments_of(c->routine); argument->name; ++argument) {
        const value_t value = argument_get(c, argument);
        const bool is_pointer =
            argument->kind == OPERAND || argument->kind == INFO || argument->kind == LOGDET;
        if (used >= size || (c->array && argument->kind == STRIDE))
            continue;
        if (is_pointer)
            used +=
                (size_t)snprintf(text + used, size - used, " %s %p", argument->name, value.pointer);
        else
            used += (size_t)snprintf(text + used, size - used, " %s %" PRId64, argument->name,
                                     value.number);
    }
    if (used < size)
        snprintf(text + used, size - used, ")");
}

/* ---- what a call reads and writes ---------------------------------------------------------- */

typedef struct {
    const operand_t *operand;
    int64_t rows, columns;
    const char *extent; /* the later in the prototype of the two arguments that these are */
    bool used;          /* something of it is read or written */
    bool written;
    region_t region; /* that is written */
} use_t;

static bool is_zero(const double scalar[2]) {
    return scalar[0] == 0.0 && scalar[1] == 0.0;
}

/* How the call uses its operands, in their order; how many they are. */
static int uses_of(const call_t *c, use_t uses[3]) {
    const problem_t *p = &c->p;
    const region_t triangle = p->uplo == BATCHLAS_LOWER ? LOWER_TRIANGLE : UPPER_TRIANGLE;
    const bool a_plain = p->op_a == BATCHLAS_NO_TRANS, b_plain = p->op_b == BATCHLAS_NO_TRANS;
    const bool square = p->n > 0 && p->batch > 0;
    const bool solves = square && p->nrhs > 0;
    const bool area = square && p->m > 0;
    const bool adds = p->k > 0 && !is_zero(p->alpha);
    const int order = p->side == BATCHLAS_LEFT ? p->m : p->n;
    switch (c->routine) {
    case POTRF:
        uses[0] = (use_t){&p->A, p->n, p->n, "n", square, true, triangle};
        return 1;
    case POTRF_LOGDET:
        uses[0] = (use_t){&p->A, p->n, p->n, "n", square, false, ALL};
        return 1;
    case POTRS:
        uses[0] = (use_t){&p->A, p->n, p->n, "n", solves, false, ALL};
        uses[1] = (use_t){&p->B, p->n, p->nrhs, "nrhs", solves, true, ALL};
        return 2;
    case POSV:
        uses[0] = (use_t){&p->A, p->n, p->n, "n", square, true, triangle};
        uses[1] = (use_t){&p->B, p->n, p->nrhs, "nrhs", solves, true, ALL};
        return 2;
    case TRSM:
        uses[0] = (use_t){
            &p->A, order, order, p->side == BATCHLAS_LEFT ? "m" : "n", area && !is_zero(p->alpha),
            false, ALL};
        uses[1] = (use_t){&p->B, p->m, p->n, "n", area, true, ALL};
        return 2;
    case GEMM:
        uses[0] = (use_t){
            &p->A, a_plain ? p->m : p->k, a_plain ? p->k : p->m, "k", area && adds, false, ALL};
        uses[1] = (use_t){
            &p->B, b_plain ? p->k : p->n, b_plain ? p->n : p->k, "k", area && adds, false, ALL};
        uses[2] = (use_t){&p->C, p->m, p->n, "n", area, true, ALL};
        return 3;
    case SYRK:
        uses[0] = (use_t){
            &p->A, a_plain ? p->n : p->k, a_plain ? p->k : p->n, "k", square && adds, false, ALL};
        uses[1] = (use_t){&p->C, p->n, p->n, "n", square, true, triangle};
        return 2;
    case ROUTINE_COUNT:
        break;
    }
    return 0;
}

static use_t use_of(const call_t *c, const operand_t *operand) {
    use_t uses[3];
    const int count = uses_of(c, uses);
    for (int i = 0; i < count; ++i)
        if (uses[i].operand == operand)
            return uses[i];
    return (use_t){0};
}

/* From an item's first element to its last, in wide arithmetic: the arguments may be anything. */
static wide_int_t extent_elements(const use_t *use) {
    return use->rows > 0 && use->columns > 0
               ? (wide_int_t)use->operand->ld * (use->columns - 1) + use->rows
               : 0;
}

/* ---- what the documentation says ----------------------------------------------------------- */

static bool fits(const call_t *c, wide_int_t elements) {
    return elements <= INT64_MAX / (int64_t)scalar_size(c->p.type);
}

static size_t part_size(scalar_type_t type) {
    return scalar_is_complex(type) ? scalar_size(type) / 2 : scalar_size(type);
}

static bool is_misaligned(const void *pointer, size_t alignment) {
    return (uintptr_t)pointer % alignment != 0;
}

static bool is_refused_memory(const void *pointer) {
    const char *byte = pointer;
    return suite_on_gpu() && byte >= (const char *)on_the_host &&
           byte < (const char *)on_the_host + sizeof on_the_host;
}

/* Of what an argument that is a pointer points to; 0 for a number. */
static size_t alignment_of(const call_t *c, const argument_t *argument) {
    switch (argument->kind) {
    case OPERAND:
        return c->array         ? sizeof(void *)
               : suite_on_gpu() ? scalar_size(c->p.type)
                                : part_size(c->p.type);
    case INFO:
        return sizeof(int);
    case LOGDET:
        return sizeof(double);
    default:
        return 0;
    }
}

static bool is_bad_address(const call_t *c, const argument_t *argument, const void *pointer) {
    return is_misaligned(pointer, alignment_of(c, argument)) || is_refused_memory(pointer);
}

static bool is_bad_enumerator(const call_t *c, const argument_t *argument, int64_t number) {
    const bool is_op = is(argument, "trans") || is(argument, "opa") || is(argument, "opb");
    if (c->routine == SYRK && is_op && number == BATCHLAS_TRANS)
        return scalar_is_complex(c->p.type); /* herk has no use for it */
    return number < 0 || number >= (is_op ? 3 : 2);
}

static bool is_bad_stride(const call_t *c, const use_t *use, int64_t stride) {
    const wide_int_t extent = extent_elements(use);
    if (c->array || c->p.batch <= 1 || (stride == 0 && !use->written))
        return false;
    return stride < extent || !fits(c, (wide_int_t)stride * (c->p.batch - 1) + extent);
}

static bool is_bad(const call_t *c, const argument_t *argument, value_t value) {
    const use_t use = use_of(c, operand_of((call_t *)(uintptr_t)c, argument));
    switch (argument->kind) {
    case ENUMERATOR:
        return is_bad_enumerator(c, argument, value.number);
    case EXTENT:
        return value.number < 0;
    case SCALAR_ADDRESS:
        return value.number != AS_GIVEN;
    case OPERAND:
        return value.pointer ? is_bad_address(c, argument, value.pointer) : use.used;
    case LEADING_DIMENSION:
        return value.number < 1 || value.number < use.rows || !fits(c, extent_elements(&use));
    case STRIDE:
        return is_bad_stride(c, &use, value.number);
    case INFO:
        return is_bad_address(c, argument, value.pointer);
    case LOGDET:
        return value.pointer ? is_bad_address(c, argument, value.pointer) : c->p.batch > 0;
    case BATCH:
        return value.number < 0 || value.number > most_items;
    }
    return false;
}

/* A word that the sentence on this value must have: the value, or what an address is advised. */
static void say_value(const call_t *c, const argument_t *argument, value_t value, char text[32]) {
    const size_t alignment = alignment_of(c, argument);
    const char *word = NULL;
    if (argument->kind == SCALAR_ADDRESS)
        word = value.number == NULL_ADDRESS  ? "NULL"
               : value.number == ODD_ADDRESS ? "multiple"
                                             : "device";
    else if (alignment > 0)
        word = !value.pointer                            ? "NULL"
               : is_misaligned(value.pointer, alignment) ? "multiple"
                                                         : "use_device_ptr";
    if (word)
        strcpy(text, word);
    else
        snprintf(text, 32, "%" PRId64, value.number);
}

const char *first_bad_argument(const call_t *c, char value[32]) {
    for (const argument_t *argument = arguments_of(c->routine); argument->name; ++argument) {
        const value_t given = argument_get(c, argument);
        say_value(c, argument, given, value);
        if (is_bad(c, argument, given))
            return argument->name;
    }
    return NULL;
}

/* Where all extents are good by themselves, their products must be too. */
static const char *first_bad_product(const call_t *c, char value[32]) {
    use_t uses[3];
    const int count = uses_of(c, uses);
    for (int i = 0; i < count; ++i)
        if (!fits(c, (wide_int_t)uses[i].rows * uses[i].columns)) {
            const argument_t extent = {uses[i].extent, EXTENT};
            say_value(c, &extent, argument_get(c, &extent), value);
            return uses[i].extent;
        }
    return NULL;
}

const char *first_bad_buffer_size_argument(const call_t *c, char value[32]) {
    for (const argument_t *argument = buffer_size_arguments_of(c->routine); argument->name;
         ++argument) {
        const value_t given = argument_get(c, argument);
        const char *product = argument->kind == BATCH ? first_bad_product(c, value) : NULL;
        if (product)
            return product;
        say_value(c, argument, given, value);
        if (is_bad(c, argument, given))
            return argument->name;
    }
    return NULL;
}

/* ---- memory -------------------------------------------------------------------------------- */

static void store_real(unsigned char *at, size_t part, double value) {
    const float single = (float)value;
    memcpy(at, part == sizeof single ? (const void *)&single : &value, part);
}

static block_t block_make(scalar_type_t type, int rows, int columns, operand_t *operand) {
    block_t b = {0};
    *operand = (operand_t){.ld = 1};
    if (rows == 0)
        return b;
    const size_t size = scalar_size(type);
    operand->ld = rows + LD_PAD;
    operand->stride = (int64_t)operand->ld * columns + GAP;
    b.elements = 2 * SLACK + ITEMS * (size_t)operand->stride;
    b.before = host_alloc(b.elements, size);
    b.after = host_alloc(b.elements, size);
    b.device = device_alloc(b.elements * size);
    const size_t part = part_size(type);
    for (size_t i = 0; i < b.elements * size / part; ++i)
        store_real(b.before + i * part, part, 0.5 + (double)(i * 2654435761u % 1021) / 1021);
    for (int i = 0; i < ITEMS * rows; ++i) {
        const size_t diagonal = (size_t)(i % rows) * (size_t)(operand->ld + 1);
        const size_t element = SLACK + (size_t)(i / rows * operand->stride) + diagonal;
        if (i % rows < columns)
            store_real(b.before + element * size, part, DOMINANT);
    }
    operand->base = b.device + SLACK * size;
    void *items[ITEMS];
    for (int i = 0; i < ITEMS; ++i)
        items[i] = (char *)operand->base + (size_t)(i * operand->stride) * size;
    b.items = device_alloc(sizeof items);
    device_put(b.items, items, sizeof items);
    return b;
}

static void block_free(block_t *b) {
    free(b->before);
    free(b->after);
    device_free(b->device);
    device_free(b->items);
}

void attempt_reset(attempt_t *a) {
    const size_t size = scalar_size(a->good.p.type);
    int info[ITEMS + 2];
    double logdet[ITEMS + 2];
    for (int i = 0; i < ITEMS + 2; ++i)
        logdet[i] = info[i] = LEFT_OVER;
    block_t *const blocks[] = {&a->A, &a->B, &a->C};
    for (int i = 0; i < 3; ++i)
        device_put(blocks[i]->device, blocks[i]->before, blocks[i]->elements * size);
    device_put(a->info, info, sizeof info);
    device_put(a->logdet, logdet, sizeof logdet);
}

attempt_t attempt_make(routine_t routine, scalar_type_t type, bool array) {
    static const int shapes[ROUTINE_COUNT][3][2] = {
        [POTRF] = {{N, N}},
        [POTRS] = {{N, N}, {N, NRHS}},
        [POSV] = {{N, N}, {N, NRHS}},
        [POTRF_LOGDET] = {{N, N}},
        [TRSM] = {{M, M}, {M, N}},
        [GEMM] = {{M, K}, {K, N}, {M, N}},
        [SYRK] = {{N, K}, {0, 0}, {N, N}},
    };
    attempt_t a = {.good = {.routine = routine,
                            .array = array,
                            .p = {.type = type,
                                  .m = M,
                                  .n = N,
                                  .k = K,
                                  .nrhs = NRHS,
                                  .alpha = {1, 0},
                                  .beta = {1, 0},
                                  .batch = ITEMS}}};
    block_t *const blocks[] = {&a.A, &a.B, &a.C};
    operand_t *const operands[] = {&a.good.p.A, &a.good.p.B, &a.good.p.C};
    for (int i = 0; i < 3; ++i) {
        *blocks[i] = block_make(type, shapes[routine][i][0], shapes[routine][i][1], operands[i]);
        if (array)
            operands[i]->items = blocks[i]->items;
    }
    a.good.device_address = a.A.device;
    a.info = device_alloc((ITEMS + 2) * sizeof(int));
    a.logdet = device_alloc((ITEMS + 2) * sizeof(double));
    a.good.p.info = a.info + 1;
    a.good.p.logdet = a.logdet + 1;
    attempt_reset(&a);
    return a;
}

void attempt_free(attempt_t *a) {
    block_free(&a->A);
    block_free(&a->B);
    block_free(&a->C);
    device_free(a->info);
    device_free(a->logdet);
    *a = (attempt_t){0};
}

/* ---- boundary values ----------------------------------------------------------------------- */

static int pointer_values(void *good, size_t part, value_t values[MAX_VALUES]) {
    int count = 0;
    values[count++].pointer = good;
    values[count++].pointer = NULL;
    values[count++].pointer = (char *)good + 1;
    values[count++].pointer = (char *)good + part / 2;
    values[count++].pointer = (char *)good + part;
    if (suite_on_gpu())
        values[count++].pointer = on_the_host;
    return count;
}

static int number_values(const int64_t *numbers, int count, value_t values[MAX_VALUES]) {
    for (int i = 0; i < count; ++i)
        values[i].number = numbers[i];
    return count;
}

int attempt_values(const attempt_t *a, const argument_t *argument, value_t values[MAX_VALUES]) {
    const call_t *c = &a->good;
    const use_t use = use_of(c, operand_of((call_t *)(uintptr_t)c, argument));
    const int64_t given = argument_get(c, argument).number;
    const int64_t extent = (int64_t)extent_elements(&use);
    const int64_t enumerators[] = {0, 1, 2, 3, -1, INT_MAX, INT_MIN};
    const int64_t extents[] = {given, 0, 1, -1, 46341, 1 << 30, INT_MAX, INT_MIN};
    const int64_t lds[] = {given, use.rows, use.rows - 1, 1, 0, -1, INT_MAX, INT_MIN};
    const int64_t strides[] = {
        given,     extent,        extent - 1,     0,        1, -1, INT64_MAX / 8,
        INT64_MAX, INT64_MAX / 2, INT64_MAX / 16, INT64_MIN};
    const int64_t batches[] = {given,          0,         1,        2, -1, INT_MAX, most_items,
                               most_items + 1, INT64_MAX, INT64_MIN};
    const size_t part = part_size(c->p.type);
    memset(values, 0, MAX_VALUES * sizeof *values);
#define NUMBERS(list) number_values(list, (int)(sizeof(list) / sizeof *(list)), values)
    switch (argument->kind) {
    case ENUMERATOR:
        return NUMBERS(enumerators);
    case EXTENT:
        return NUMBERS(extents);
    case LEADING_DIMENSION:
        return NUMBERS(lds);
    case STRIDE:
        return c->array ? 0 : NUMBERS(strides);
    case BATCH:
        return NUMBERS(batches);
#undef NUMBERS
    case SCALAR_ADDRESS: {
        const int64_t addresses[] = {AS_GIVEN, ZERO_SCALAR, NULL_ADDRESS, ODD_ADDRESS,
                                     DEVICE_ADDRESS};
        const bool by_address = scalar_is_complex(c->p.type) && c->routine != SYRK;
        return number_values(addresses, !by_address ? 2 : suite_on_gpu() ? 5 : 4, values);
    }
    case OPERAND:
        return pointer_values(argument_get(c, argument).pointer, c->array ? sizeof(void *) : part,
                              values);
    case INFO:
        return pointer_values(c->p.info, sizeof(int), values);
    case LOGDET:
        return pointer_values(c->p.logdet, sizeof(double), values);
    }
    return 0;
}

/* ---- one attempt --------------------------------------------------------------------------- */

/* An operand in its block, in real numbers from the block's first byte. */
typedef struct {
    const block_t *block;
    use_t use;
    wide_int_t first;  /* of item 0 */
    wide_int_t stride; /* between items */
    wide_int_t extent; /* of an item */
    int64_t ld;
    int parts; /* of an element */
} place_t;

static int places_of(const attempt_t *a, const call_t *c, place_t places[3]) {
    use_t uses[3];
    const int count = uses_of(c, uses);
    const int64_t part = (int64_t)part_size(c->p.type);
    for (int i = 0; i < count; ++i) {
        const operand_t *operand = uses[i].operand;
        const operand_t *good = operand == &c->p.A   ? &a->good.p.A
                                : operand == &c->p.B ? &a->good.p.B
                                                     : &a->good.p.C;
        place_t *place = &places[i];
        *place = (place_t){.block = operand == &c->p.A   ? &a->A
                                    : operand == &c->p.B ? &a->B
                                                         : &a->C,
                           .use = uses[i],
                           .ld = operand->ld,
                           .parts = scalar_is_complex(c->p.type) ? 2 : 1};
        place->extent = extent_elements(&uses[i]) * place->parts;
        if (c->array) {
            place->stride = good->stride * place->parts;
            place->first =
                SLACK * place->parts + (operand->items - place->block->items) * place->stride;
        } else {
            place->stride = (wide_int_t)operand->stride * place->parts;
            place->first = ((unsigned char *)operand->base - place->block->device) / part;
        }
    }
    return count;
}

/* Whether all that the call would touch lies in the attempt's memory. */
static bool is_affordable(const attempt_t *a, const call_t *c) {
    place_t places[3];
    const int count = places_of(a, c, places);
    const int64_t batch = c->p.batch;
    for (int i = 0; i < count; ++i) {
        const place_t *place = &places[i];
        const wide_int_t last = batch > 0 ? (batch - 1) * place->stride : 0;
        const wide_int_t whole = (wide_int_t)place->block->elements * place->parts;
        if (!place->use.used)
            continue;
        if (place->first + last + place->extent > whole)
            return false;
        if (c->array && (place->extent > place->stride ||
                         place->use.operand->items - place->block->items + batch > ITEMS))
            return false;
    }
    const bool has_info = (c->routine == POTRF || c->routine == POSV) && c->p.info;
    const bool has_logdet = c->routine == POTRF_LOGDET && c->p.logdet;
    return !(has_info && c->p.info - a->info + batch > ITEMS + 2) &&
           !(has_logdet && c->p.logdet - a->logdet + batch > ITEMS + 2);
}

/* Marks the real numbers of one operand: those that the call may write, or whole items. */
static void mark(const place_t *place, int64_t batch, bool written_alone, unsigned char *marks) {
    const use_t *use = &place->use;
    if (!use->used || (written_alone && !use->written))
        return;
    for (int64_t item = 0; item < batch; ++item) {
        unsigned char *first = marks + (int64_t)(place->first + item * place->stride);
        if (!written_alone)
            memset(first, 1, (size_t)place->extent);
        for (int64_t j = 0; j < use->columns && written_alone; ++j) {
            const int64_t from = use->region == LOWER_TRIANGLE ? j : 0;
            const int64_t to = use->region == UPPER_TRIANGLE ? j + 1 : use->rows;
            memset(first + (from + j * place->ld) * place->parts, 1,
                   (size_t)((to - from) * place->parts));
        }
    }
}

/* On the host an address sanitizer sees every access outside the items. */
static void guard(const attempt_t *a, const call_t *c, bool on) {
    const block_t *const blocks[] = {&a->A, &a->B, &a->C};
    const size_t size = scalar_size(c->p.type), part = part_size(c->p.type);
    if (suite_on_gpu())
        return;
    for (int i = 0; i < 3; ++i)
        ASAN_UNPOISON_MEMORY_REGION(blocks[i]->device, blocks[i]->elements * size);
    place_t places[3];
    const int count = on ? places_of(a, c, places) : 0;
    for (int i = 0; i < count; ++i) {
        const size_t all = places[i].block->elements * (size_t)places[i].parts;
        unsigned char *marks = host_alloc(all, 1);
        mark(&places[i], c->p.batch, false, marks);
        for (size_t from = 0, to; from < all; from = to) {
            for (to = from + 1; to < all && marks[to] == marks[from];)
                ++to;
            if (!marks[from])
                ASAN_POISON_MEMORY_REGION(places[i].block->device + from * part,
                                          (to - from) * part);
        }
        free(marks);
    }
}

static verdict_t changed_alone(const attempt_t *a, const call_t *c, bool ran) {
    const block_t *const blocks[] = {&a->A, &a->B, &a->C};
    const size_t size = scalar_size(c->p.type), part = part_size(c->p.type);
    place_t places[3];
    const int count = ran ? places_of(a, c, places) : 0;
    for (int b = 0; b < 3; ++b) {
        const size_t bytes = blocks[b]->elements * size;
        device_get(blocks[b]->after, blocks[b]->device, bytes);
        if (bytes == 0 || memcmp(blocks[b]->before, blocks[b]->after, bytes) == 0)
            continue;
        unsigned char *marks = host_alloc(bytes / part, 1);
        for (int i = 0; i < count; ++i)
            if (places[i].block == blocks[b])
                mark(&places[i], c->p.batch, true, marks);
        for (size_t i = 0; i < bytes / part; ++i)
            if (!marks[i] &&
                memcmp(blocks[b]->before + i * part, blocks[b]->after + i * part, part)) {
                free(marks);
                return bad("operand %c was written %zu bytes into its memory", "ABC"[b], i * part);
            }
        free(marks);
    }
    return good();
}

static verdict_t results_are(const attempt_t *a, const call_t *c, bool ran) {
    int info[ITEMS + 2];
    double logdet[ITEMS + 2];
    device_get(info, a->info, sizeof info);
    device_get(logdet, a->logdet, sizeof logdet);
    const bool has_info = ran && (c->routine == POTRF || c->routine == POSV) && c->p.info;
    const bool has_logdet = ran && c->routine == POTRF_LOGDET && c->p.logdet;
    for (int i = 0; i < ITEMS + 2; ++i) {
        const int64_t info_item = has_info ? a->info + i - c->p.info : -1;
        const int64_t logdet_item = has_logdet ? a->logdet + i - c->p.logdet : -1;
        const bool is_info = info_item >= 0 && info_item < c->p.batch;
        const bool is_logdet = logdet_item >= 0 && logdet_item < c->p.batch;
        if (is_info ? info[i] < 0 || info[i] > c->p.n : info[i] != LEFT_OVER)
            return bad("info[%d] is %d", i - 1, info[i]);
        if (is_logdet == (logdet[i] == LEFT_OVER))
            return bad("logdet[%d] is %g", i - 1, logdet[i]);
    }
    return good();
}

static bool is_word_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Whether `word` stands in text as a word of its own. */
static bool has_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)); ++at)
        if ((at == text || !is_word_part(at[-1])) && !is_word_part(at[strlen(word)]))
            return true;
    return false;
}

static verdict_t sentence_is(const char *text, const call_t *c, const char *suffix,
                             const char *argument, const char *value) {
    char name[48];
    snprintf(name, sizeof name, "%s%s", call_name(c), suffix);
    return has_word(text, name) && has_word(text, argument) && strstr(text, "expected") &&
                   has_word(text, value) && !strchr(text, '\n')
               ? good()
               : bad("expected a sentence on %s being %s, got: %s", argument, value, text);
}

/* Status and sentence of a call whose first bad argument, if any, is this one. */
static verdict_t answer_is(batchlas_handle_t h, batchlas_status_t status, const call_t *c,
                           const char *suffix, const char *argument, const char *value) {
    const char *text = batchlas_last_error(h);
    if (!argument)
        return *text ? bad("a call that succeeded left an error: %s", text) : good();
    return status == BATCHLAS_INVALID_ARGUMENT ? sentence_is(text, c, suffix, argument, value)
                                               : bad("%s is %s, and the status %s", argument, value,
                                                     batchlas_status_string(status));
}

verdict_t attempt_try(batchlas_handle_t h, attempt_t *a, const call_t *c, outcome_t *outcome) {
    char value[32];
    const char *argument = first_bad_argument(c, value);
    *outcome = argument ? REFUSED : is_affordable(a, c) ? RAN : PASSED_OVER;
    if (*outcome == PASSED_OVER)
        return good();
    if (*outcome == RAN)
        guard(a, c, true);
    const batchlas_status_t status = call(h, c);
    if (*outcome == RAN)
        guard(a, c, false);
    verdict_t verdict;
    if (!argument && status == BATCHLAS_ROUTE_UNAVAILABLE) {
        *outcome = UNAVAILABLE;
        verdict = *batchlas_last_error(h) ? good() : bad("no word on why no route is available");
    } else if (!argument && status != BATCHLAS_SUCCESS) {
        verdict =
            bad("a good call gave %s: %s", batchlas_status_string(status), batchlas_last_error(h));
    } else {
        verdict = answer_is(h, status, c, "", argument, value);
    }
    if (is_good(&verdict))
        verdict = changed_alone(a, c, *outcome == RAN);
    if (is_good(&verdict))
        verdict = results_are(a, c, *outcome == RAN);
    if (*outcome == RAN)
        attempt_reset(a);
    return verdict;
}

verdict_t attempt_try_buffer_size(batchlas_handle_t h, const call_t *c, outcome_t *outcome) {
    char value[32];
    size_t bytes = 1;
    const char *argument = first_bad_buffer_size_argument(c, value);
    const batchlas_status_t status = call_buffer_size(h, c, &bytes);
    *outcome = argument ? REFUSED : RAN;
    if (!argument && status == BATCHLAS_ROUTE_UNAVAILABLE)
        *outcome = UNAVAILABLE;
    /* More bytes than can be counted are none that could be had. */
    if (!argument && status != BATCHLAS_SUCCESS)
        return (status == BATCHLAS_ROUTE_UNAVAILABLE || status == BATCHLAS_OUT_OF_MEMORY) &&
                       *batchlas_last_error(h)
                   ? good()
                   : bad("a good call gave %s: %s", batchlas_status_string(status),
                         batchlas_last_error(h));
    const verdict_t verdict = answer_is(h, status, c, "_buffer_size", argument, value);
    if (is_good(&verdict) && argument && bytes != 1)
        return bad("a refused call wrote *bytes");
    return verdict;
}

verdict_t attempt_is_untouched(attempt_t *a) {
    const verdict_t verdict = changed_alone(a, &a->good, false);
    return is_good(&verdict) ? results_are(a, &a->good, false) : verdict;
}

/* FNV-1a */
static void digest(uint64_t *hash, const void *memory, size_t bytes) {
    const unsigned char *byte = memory;
    for (size_t i = 0; i < bytes; ++i)
        *hash = (*hash ^ byte[i]) * UINT64_C(0x100000001b3);
}

uint64_t attempt_digest(attempt_t *a) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const block_t *const blocks[] = {&a->A, &a->B, &a->C};
    int info[ITEMS + 2];
    double logdet[ITEMS + 2];
    for (int b = 0; b < 3; ++b) {
        const size_t bytes = blocks[b]->elements * scalar_size(a->good.p.type);
        device_get(blocks[b]->after, blocks[b]->device, bytes);
        digest(&hash, blocks[b]->after, bytes);
    }
    device_get(info, a->info, sizeof info);
    device_get(logdet, a->logdet, sizeof logdet);
    digest(&hash, info, sizeof info);
    digest(&hash, logdet, sizeof logdet);
    return hash;
}
