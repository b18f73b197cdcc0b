/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments of every routine, type and form: the status, the sentence, the order of the checks,
 * and that nothing was touched. */
#include "harness/calls.h"
#include "harness/grid.h"
#include "harness/matrices.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 4, K = 3, NRHS = 2, BATCH = 3, MAX_ARGUMENTS = 20 };

/* ---- a good call ---------------------------------------------------------------------------- */

typedef struct {
    call_t call;
    matrices_t A, B, C;
    ints_t info;
    double *logdet;
} good_call_t;

static void identity(matrices_t *m) {
    wide_t *M_ = host_alloc((size_t)m->rows * (size_t)m->columns, sizeof *M_);
    for (int j = 0; j < m->rows && j < m->columns; ++j)
        M_[j * (m->rows + 1)].re = 1;
    matrices_fill(m, SENTINEL);
    for (int64_t i = 0; i < m->batch; ++i)
        matrices_set(m, i, M_);
    free(M_);
    matrices_put(m);
}

static void extents(routine_t routine, int a[2], int b[2], int c[2]) {
    static const int shapes[ROUTINE_COUNT][3][2] = {
        [POTRF] = {{N, N}},
        [POTRS] = {{N, N}, {N, NRHS}},
        [POSV] = {{N, N}, {N, NRHS}},
        [POTRF_LOGDET] = {{N, N}},
        [TRSM] = {{M, M}, {M, N}},
        [GEMM] = {{M, K}, {K, N}, {M, N}},
        [SYRK] = {{N, K}, {0, 0}, {N, N}},
    };
    memcpy(a, shapes[routine][0], sizeof shapes[routine][0]);
    memcpy(b, shapes[routine][1], sizeof shapes[routine][1]);
    memcpy(c, shapes[routine][2], sizeof shapes[routine][2]);
}

static good_call_t good_call(routine_t routine, scalar_type_t type, bool array) {
    int a[2], b[2], c[2];
    extents(routine, a, b, c);
    good_call_t g = {.A = matrices_make(type, a[0], a[1], BATCH, PADDED, ALL),
                     .B = matrices_make(type, b[0], b[1], BATCH, PADDED, ALL),
                     .C = matrices_make(type, c[0], c[1], BATCH, PADDED, ALL),
                     .info = ints_make(BATCH),
                     .logdet = device_alloc(BATCH * sizeof(double))};
    identity(&g.A);
    identity(&g.B);
    identity(&g.C);
    g.call = (call_t){.routine = routine,
                      .array = array,
                      .p = {.type = type,
                            .m = M,
                            .n = N,
                            .k = K,
                            .nrhs = NRHS,
                            .alpha = {1, 0},
                            .beta = {1, 0},
                            .A = array ? matrices_pointers(&g.A) : matrices_strided(&g.A),
                            .B = array ? matrices_pointers(&g.B) : matrices_strided(&g.B),
                            .C = array ? matrices_pointers(&g.C) : matrices_strided(&g.C),
                            .info = g.info.device,
                            .logdet = g.logdet,
                            .batch = BATCH}};
    return g;
}

static void good_call_free(good_call_t *g) {
    matrices_free(&g->A);
    matrices_free(&g->B);
    matrices_free(&g->C);
    ints_free(&g->info);
    device_free(g->logdet);
}

static void expect_untouched(good_call_t *g) {
    matrices_get(&g->A);
    matrices_get(&g->B);
    matrices_get(&g->C);
    ints_get(&g->info);
    suite_expect(matrices_are_untouched(&g->A));
    suite_expect(matrices_are_untouched(&g->B));
    suite_expect(matrices_are_untouched(&g->C));
    suite_expect(ints_are_untouched(&g->info));
}

/* ---- its arguments, in the order of the public prototype ------------------------------------- */

static const char *const arguments[ROUTINE_COUNT][MAX_ARGUMENTS] = {
    [POTRF] = {"uplo", "n", "A", "lda", "stride_a", "info", "batch"},
    [POTRS] = {"uplo", "n", "nrhs", "A", "lda", "stride_a", "B", "ldb", "stride_b", "batch"},
    [POSV] = {"uplo", "n", "nrhs", "A", "lda", "stride_a", "B", "ldb", "stride_b", "info", "batch"},
    [POTRF_LOGDET] = {"uplo", "n", "A", "lda", "stride_a", "logdet", "batch"},
    [TRSM] = {"side", "uplo", "trans", "diag", "m", "n", "alpha", "A", "lda", "stride_a", "B",
              "ldb", "stride_b", "batch"},
    [GEMM] = {"opa", "opb", "m", "n", "k", "alpha", "A", "lda", "stride_a", "B", "ldb", "stride_b",
              "beta", "C", "ldc", "stride_c", "batch"},
    [SYRK] = {"uplo", "trans", "n", "k", "A", "lda", "stride_a", "C", "ldc", "stride_c", "batch"},
};

static const char *const buffer_size_arguments[ROUTINE_COUNT][MAX_ARGUMENTS] = {
    [POTRF] = {"uplo", "n", "batch"},
    [POTRS] = {"uplo", "n", "nrhs", "batch"},
    [POSV] = {"uplo", "n", "nrhs", "batch"},
    [TRSM] = {"side", "uplo", "trans", "diag", "m", "n", "batch"},
    [GEMM] = {"opa", "opb", "m", "n", "k", "batch"},
    [SYRK] = {"uplo", "trans", "n", "k", "batch"},
};

/* What the sentence must give as the value; where it is an address of the host, what it advises. */
static char spoilt_value[32];
#define HOST_POINTER_ADVICE "use_device_ptr"

static bool use_int(int *argument, int value) {
    *argument = value;
    snprintf(spoilt_value, sizeof spoilt_value, "%d", value);
    return true;
}

static bool use_int64(int64_t *argument, int64_t value) {
    *argument = value;
    snprintf(spoilt_value, sizeof spoilt_value, "%" PRId64, value);
    return true;
}

/* The public enumerations are unsigned or int, as the compiler likes; all have the size of int. */
static bool spoil_enum(void *argument, int legal, int variant) {
    const int values[] = {legal, -1, INT_MAX};
    int value = 0;
    if (variant >= COUNT(values) || !use_int(&value, values[variant]))
        return false;
    memcpy(argument, &value, sizeof value);
    return true;
}

static bool spoil_count(int *argument, int variant) {
    const int values[] = {-1, INT_MIN};
    return variant < COUNT(values) && use_int(argument, values[variant]);
}

static bool spoil_pointer(const call_t *c, operand_t *operand, int variant) {
    static double on_the_host[64];
    static void *array_on_the_host[BATCH];
    if (variant > (suite_on_gpu() ? 1 : 0))
        return false;
    strcpy(spoilt_value, variant ? HOST_POINTER_ADVICE : "NULL");
    if (c->array)
        operand->items = variant ? array_on_the_host : NULL;
    else
        operand->base = variant ? on_the_host : NULL;
    return true;
}

static bool spoil_ld(operand_t *operand, int rows, int variant) {
    const int values[] = {rows - 1, 0, -3};
    return variant < COUNT(values) && use_int(&operand->ld, values[variant]);
}

static bool spoil_stride(const call_t *c, operand_t *operand, const int shape[2], bool written,
                         int variant) {
    const int64_t extent = (int64_t)operand->ld * (shape[1] - 1) + shape[0];
    const int64_t values[] = {extent - 1, -1, written ? 0 : 1, INT64_MIN};
    return !c->array && variant < COUNT(values) && use_int64(&operand->stride, values[variant]);
}

static bool spoil_scalar(const call_t *c, bool *is_null, int variant) {
    strcpy(spoilt_value, "NULL");
    *is_null = true;
    return scalar_is_complex(c->p.type) && variant == 0;
}

static bool spoil_info(const call_t *c, int **info, int variant) {
    static int on_the_host[BATCH];
    (void)c;
    strcpy(spoilt_value, HOST_POINTER_ADVICE);
    *info = on_the_host;
    return suite_on_gpu() && variant == 0;
}

static bool spoil_logdet(double **logdet, int variant) {
    static double on_the_host[BATCH];
    strcpy(spoilt_value, variant ? HOST_POINTER_ADVICE : "NULL");
    *logdet = variant ? on_the_host : NULL;
    return variant < (suite_on_gpu() ? 2 : 1);
}

/* Gives the argument its variant'th bad value; false after the last. */
static bool spoil(call_t *c, const char *name, int variant) {
    problem_t *p = &c->p;
    int a[2], b[2], out[2];
    extents(c->routine, a, b, out);
    const bool a_is_written = c->routine == POTRF || c->routine == POSV;
    if (!strcmp(name, "uplo"))
        return spoil_enum(&p->uplo, 2, variant);
    if (!strcmp(name, "side"))
        return spoil_enum(&p->side, 2, variant);
    if (!strcmp(name, "diag"))
        return spoil_enum(&p->diag, 2, variant);
    if (!strcmp(name, "trans") && c->routine == SYRK && scalar_is_complex(p->type) &&
        variant == 3) {
        p->op_a = BATCHLAS_TRANS; /* herk has no use for it */
        strcpy(spoilt_value, "1");
        return true;
    }
    if (!strcmp(name, "trans") || !strcmp(name, "opa"))
        return spoil_enum(&p->op_a, 3, variant);
    if (!strcmp(name, "opb"))
        return spoil_enum(&p->op_b, 3, variant);
    if (!strcmp(name, "m"))
        return spoil_count(&p->m, variant);
    if (!strcmp(name, "n"))
        return spoil_count(&p->n, variant);
    if (!strcmp(name, "k"))
        return spoil_count(&p->k, variant);
    if (!strcmp(name, "nrhs"))
        return spoil_count(&p->nrhs, variant);
    if (!strcmp(name, "alpha"))
        return spoil_scalar(c, &c->no_alpha, variant);
    if (!strcmp(name, "beta"))
        return spoil_scalar(c, &c->no_beta, variant);
    if (!strcmp(name, "A"))
        return spoil_pointer(c, &p->A, variant);
    if (!strcmp(name, "B"))
        return spoil_pointer(c, &p->B, variant);
    if (!strcmp(name, "C"))
        return spoil_pointer(c, &p->C, variant);
    if (!strcmp(name, "lda"))
        return spoil_ld(&p->A, a[0], variant);
    if (!strcmp(name, "ldb"))
        return spoil_ld(&p->B, b[0], variant);
    if (!strcmp(name, "ldc"))
        return spoil_ld(&p->C, out[0], variant);
    if (!strcmp(name, "stride_a"))
        return spoil_stride(c, &p->A, a, a_is_written, variant);
    if (!strcmp(name, "stride_b"))
        return spoil_stride(c, &p->B, b, c->routine != GEMM, variant);
    if (!strcmp(name, "stride_c"))
        return spoil_stride(c, &p->C, out, true, variant);
    if (!strcmp(name, "info"))
        return spoil_info(c, &p->info, variant);
    if (!strcmp(name, "logdet"))
        return spoil_logdet(&p->logdet, variant);
    if (!strcmp(name, "batch")) {
        const int64_t values[] = {-1, INT64_MIN};
        return variant < COUNT(values) && use_int64(&p->batch, values[variant]);
    }
    suite_fail("no argument is called %s", name);
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static bool is_word_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Where `word` stands in text as a word of its own. */
static const char *find_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)); ++at)
        if ((at == text || !is_word_part(at[-1])) && !is_word_part(at[strlen(word)]))
            return at;
    return NULL;
}

static void expect_sentence(const call_t *c, const char *argument, const char *value) {
    const char *text = batchlas_last_error(suite_handle());
    const char *name = find_word(text, argument);
    if (!strstr(text, call_name(c)) || !name || !find_word(name, value) ||
        !strstr(text, "expected") || strchr(text, '\n'))
        suite_fail("expected a sentence on %s being %s, got: %s", argument, value, text);
}

static void expect_rejected(batchlas_status_t status, const call_t *c, const char *argument,
                            const char *value) {
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, status, suite_handle());
    expect_sentence(c, argument, value);
}

/* ---- tests ----------------------------------------------------------------------------------- */

typedef void (*visit_t)(routine_t routine, scalar_type_t type, bool array);

static void visit_every_call(visit_t visit) {
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types)
    for (int array = 0; array < (has_array_form((routine_t)routine) ? 2 : 1); ++array)
        visit((routine_t)routine, types[type_index], array);
}

static void name_case(const call_t *c, const char *what) {
    suite_case("%s%s, %s", call_name(c), c->array ? "_array" : "", what);
}

static void good_call_succeeds(routine_t routine, scalar_type_t type, bool array) {
    good_call_t g = good_call(routine, type, array);
    name_case(&g.call, "all good");
    suite_expect_success(call(suite_handle(), &g.call), suite_handle());
    good_call_free(&g);
}

/* What the other tests spoil is good before. */
static void the_unspoilt_calls_succeed(void **state) {
    (void)state;
    visit_every_call(good_call_succeeds);
}

static void spoil_each(routine_t routine, scalar_type_t type, bool array) {
    good_call_t g = good_call(routine, type, array);
    for (int i = 0; arguments[routine][i]; ++i)
        for (int variant = 0;; ++variant) {
            call_t c = g.call;
            if (!spoil(&c, arguments[routine][i], variant))
                break;
            name_case(&c, arguments[routine][i]);
            expect_rejected(call(suite_handle(), &c), &c, arguments[routine][i], spoilt_value);
            expect_untouched(&g);
        }
    /* The handle is as good as before, and says so. */
    suite_expect_success(call(suite_handle(), &g.call), suite_handle());
    good_call_free(&g);
}

static void every_bad_argument_is_named_with_its_value(void **state) {
    (void)state;
    visit_every_call(spoil_each);
}

/* A negative batch makes strides and pointers of no account, like one of 0. */
static bool hides(const char *later, const char *earlier) {
    return !strcmp(later, "batch") &&
           (!strncmp(earlier, "stride", 6) || !strcmp(earlier, "logdet") || !earlier[1]) &&
           strcmp(earlier, "n") && strcmp(earlier, "m") && strcmp(earlier, "k");
}

static void spoil_pairs(routine_t routine, scalar_type_t type, bool array) {
    good_call_t g = good_call(routine, type, array);
    for (int i = 0; arguments[routine][i]; ++i)
        for (int j = i + 1; arguments[routine][j]; ++j) {
            call_t c = g.call;
            if (hides(arguments[routine][j], arguments[routine][i]) ||
                !spoil(&c, arguments[routine][j], 0) || !spoil(&c, arguments[routine][i], 0))
                continue;
            char what[64];
            snprintf(what, sizeof what, "%s and %s", arguments[routine][i], arguments[routine][j]);
            name_case(&c, what);
            expect_rejected(call(suite_handle(), &c), &c, arguments[routine][i], spoilt_value);
        }
    expect_untouched(&g);
    good_call_free(&g);
}

static void the_first_bad_argument_of_two_is_named(void **state) {
    (void)state;
    visit_every_call(spoil_pairs);
}

/* Extents that leave nothing to do do not hide what is wrong elsewhere. */
static void spoil_empty(routine_t routine, scalar_type_t type, bool array) {
    static const char *const checked[] = {"uplo", "side", "trans", "diag", "opa", "opb", "m",
                                          "n",    "k",    "nrhs",  "lda",  "ldb", "ldc", "batch"};
    good_call_t g = good_call(routine, type, array);
    for (int emptied = 0; emptied < 4; ++emptied)
        EACH(name, checked) {
            const char *name = checked[name_index];
            call_t c = g.call;
            bool taken = false;
            for (int i = 0; arguments[routine][i]; ++i)
                taken |= !strcmp(arguments[routine][i], name);
            *(emptied == 0 ? &c.p.n : emptied == 1 ? &c.p.nrhs : &c.p.k) = 0;
            if (emptied == 3)
                c.p.batch = 0;
            /* Variant 1 of a leading dimension is 0, wrong for every extent. */
            const bool is_ld = name[0] == 'l' && name[1] == 'd';
            if (!taken || !spoil(&c, name, is_ld ? 1 : 0))
                continue;
            char what[64];
            snprintf(what, sizeof what, "nothing to do, and %s", name);
            name_case(&c, what);
            expect_rejected(call(suite_handle(), &c), &c, name, spoilt_value);
        }
    expect_untouched(&g);
    good_call_free(&g);
}

static void checks_come_before_quick_returns(void **state) {
    (void)state;
    visit_every_call(spoil_empty);
}

static void without_operands(routine_t routine, scalar_type_t type, bool array) {
    good_call_t g = good_call(routine, type, array);
    g.call.p.info = NULL;
    for (int emptied = 0; emptied < 3; ++emptied) {
        call_t c = g.call;
        const bool solves = routine == POTRS || routine == POSV;
        if (emptied == 2 && !solves)
            continue;
        if (emptied == 0)
            c.p.n = 0;
        if (emptied == 1)
            c.p.batch = 0;
        if (emptied == 2)
            c.p.nrhs = 0;
        if (!(emptied == 2 && routine == POSV)) {
            c.p.A.base = NULL;
            c.p.A.items = NULL;
        }
        c.p.B.base = c.p.C.base = NULL;
        c.p.B.items = c.p.C.items = NULL;
        if (emptied == 1)
            c.p.logdet = NULL;
        name_case(&c, "nothing to do and no operands");
        suite_expect_success(call(suite_handle(), &c), suite_handle());
    }
    good_call_free(&g);
}

static void pointers_may_be_null_where_nothing_is_read_or_written(void **state) {
    (void)state;
    visit_every_call(without_operands);
}

static void with_one_item(routine_t routine, scalar_type_t type, bool array) {
    const int64_t strides[] = {0, -1, 1, INT64_MIN, INT64_MAX};
    EACH(stride, strides) {
        good_call_t g = good_call(routine, type, array);
        call_t c = g.call;
        c.p.batch = 1;
        c.p.A.stride = c.p.B.stride = c.p.C.stride = strides[stride_index];
        name_case(&c, "one item of any stride");
        suite_expect_success(call(suite_handle(), &c), suite_handle());
        good_call_free(&g);
    }
}

static void strides_do_not_matter_for_one_item(void **state) {
    (void)state;
    visit_every_call(with_one_item);
}

static void without_handle(routine_t routine, scalar_type_t type, bool array) {
    good_call_t g = good_call(routine, type, array);
    name_case(&g.call, "no handle");
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call(NULL, &g.call), NULL);
    expect_untouched(&g);
    good_call_free(&g);
}

static void no_handle_is_an_error(void **state) {
    (void)state;
    visit_every_call(without_handle);
}

static void buffer_sizes_check_their_arguments(void **state) {
    (void)state;
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine)
        EACH(type, types) {
            if (!has_buffer_size((routine_t)routine))
                continue;
            good_call_t g = good_call((routine_t)routine, types[type_index], false);
            size_t bytes = 0;
            name_case(&g.call, "buffer_size");
            suite_expect_success(call_buffer_size(suite_handle(), &g.call, &bytes), suite_handle());
            suite_expect_status(BATCHLAS_INVALID_ARGUMENT, call_buffer_size(NULL, &g.call, &bytes),
                                NULL);
            expect_rejected(call_buffer_size(suite_handle(), &g.call, NULL), &g.call, "bytes",
                            "NULL");
            for (int i = 0; buffer_size_arguments[routine][i]; ++i)
                for (int variant = 0;; ++variant) {
                    call_t c = g.call;
                    if (!spoil(&c, buffer_size_arguments[routine][i], variant))
                        break;
                    name_case(&c, buffer_size_arguments[routine][i]);
                    expect_rejected(call_buffer_size(suite_handle(), &c, &bytes), &c,
                                    buffer_size_arguments[routine][i], spoilt_value);
                }
            call_t empty = g.call;
            empty.p.batch = 0;
            bytes = 77;
            suite_expect_success(call_buffer_size(suite_handle(), &empty, &bytes), suite_handle());
            assert_int_equal(bytes, 0);
            good_call_free(&g);
        }
}

static const struct CMUnitTest tests[] = {
    suite_test(the_unspoilt_calls_succeed),
    suite_test(every_bad_argument_is_named_with_its_value),
    suite_test(the_first_bad_argument_of_two_is_named),
    suite_test(checks_come_before_quick_returns),
    suite_test(pointers_may_be_null_where_nothing_is_read_or_written),
    suite_test(strides_do_not_matter_for_one_item),
    suite_test(no_handle_is_an_error),
    suite_test(buffer_sizes_check_their_arguments),
};

SUITE_MAIN("arguments", tests, ON_EVERY_DEVICE)
