/* SPDX-License-Identifier: BSD-3-Clause */
/* Items and columns more than 2^31 elements apart, and on a GPU more than 2^31 items. */
#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 4, WIDTH = 3, AREA = N * N };

/* Memory that is mostly never touched; NULL if the machine has not that much. */
static void *sparse_alloc(size_t elements) {
#if BATCHLAS_HAVE_GPU
    if (suite_on_gpu())
        return omp_target_alloc(elements * sizeof(float), suite_device());
#endif
    void *memory = mmap(NULL, elements * sizeof(float), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void sparse_free(void *memory, size_t elements) {
#if BATCHLAS_HAVE_GPU
    if (suite_on_gpu()) {
        omp_target_free(memory, suite_device());
        return;
    }
#endif
    munmap(memory, elements * sizeof(float));
}

/* Three operands of `items` N by N matrices each. */
typedef struct {
    float *base;
    int64_t ld, stride;
} place_t;

enum { A, B, C, OPERANDS, OPERAND_GAP = 512 };

static float *column_of(const place_t *p, int operand, int64_t item, int column) {
    return p->base + (int64_t)operand * OPERAND_GAP + item * p->stride + column * p->ld;
}

static void put(const place_t *p, int operand, int64_t item, const wide_t *M) {
    for (int j = 0; j < N; ++j) {
        float column[N];
        for (int i = 0; i < N; ++i)
            column[i] = (float)M[i + j * N].re;
        device_put(column_of(p, operand, item, j), column, sizeof column);
    }
}

static void get(const place_t *p, int operand, int64_t item, float *M) {
    for (int j = 0; j < N; ++j)
        device_get(M + (size_t)j * N, column_of(p, operand, item, j), N * sizeof *M);
}

/* A is positive definite, its factor, or anything; B and C are dense. */
static void put_operands(const place_t *p, routine_t routine, int64_t items) {
    for (int64_t item = 0; item < items; ++item) {
        wide_t M[AREA];
        generate(GRAM, TYPE_S, N, (uint64_t)item, M);
        if (routine == POTRS || routine == POTRF_LOGDET || routine == TRSM)
            reference_potrf(N, M);
        put(p, A, item, M);
        generate_dense(TYPE_S, N, N, 100 + (uint64_t)item, M);
        put(p, B, item, M);
        generate_dense(TYPE_S, N, N, 200 + (uint64_t)item, M);
        put(p, C, item, M);
    }
}

static operand_t operand_of(const place_t *p, int operand) {
    return (operand_t){.base = column_of(p, operand, 0, 0), .ld = (int)p->ld, .stride = p->stride};
}

static batchlas_status_t run(const place_t *p, routine_t routine, int64_t items, int *info,
                             double *logdet) {
    const call_t c = {.routine = routine,
                      .p = {.type = TYPE_S,
                            .m = N,
                            .n = routine == TRSM || routine == GEMM ? WIDTH : N,
                            .k = N,
                            .nrhs = WIDTH,
                            .alpha = {1, 0},
                            .beta = {1, 0},
                            .A = operand_of(p, A),
                            .B = operand_of(p, B),
                            .C = operand_of(p, C),
                            .info = info,
                            .logdet = logdet,
                            .batch = items}};
    return call(suite_handle(), &c);
}

static const char *const names[ROUTINE_COUNT] = {"potrf", "potrs", "posv", "potrf_logdet",
                                                 "trsm",  "gemm",  "syrk"};

/* The same call on operands close together and far apart: the same bits. */
static void compare(const place_t *near, const place_t *far, int64_t items) {
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine) {
        const family_line_t *line;
        for (int f = 0; (line = family_line(names[routine], f)); ++f) {
            double *logdet = device_alloc((size_t)items * sizeof *logdet);
            double logdets[2][8];
            float found[2][OPERANDS][8][AREA];
            const place_t *places[2] = {near, far};
            bool ran = true;
            suite_case("%s, ld %lld, stride %lld", family_name(line, TYPE_S), (long long)far->ld,
                       (long long)far->stride);
            for (int which = 0; which < 2 && ran; ++which) {
                put_operands(places[which], (routine_t)routine, items);
                memset(logdets[which], 0, sizeof logdets[which]);
                device_put(logdet, logdets[which], (size_t)items * sizeof *logdet);
                family_pin(line);
                ran = family_ran(line, TYPE_S, N,
                                 run(places[which], (routine_t)routine, items, NULL, logdet),
                                 suite_handle());
                family_unpin(line);
                device_get(logdets[which], logdet, (size_t)items * sizeof *logdet);
                for (int operand = 0; operand < OPERANDS; ++operand)
                    for (int64_t item = 0; item < items; ++item)
                        get(places[which], operand, item, found[which][operand][item]);
            }
            device_free(logdet);
            if (!ran)
                continue;
            if (memcmp(logdets[0], logdets[1], (size_t)items * sizeof(double)))
                suite_fail("logdet differs");
            for (int operand = 0; operand < OPERANDS; ++operand)
                for (int64_t item = 0; item < items; ++item)
                    if (memcmp(found[0][operand][item], found[1][operand][item],
                               sizeof found[0][operand][item]))
                        suite_fail("operand %c, item %lld differs", "ABC"[operand],
                                   (long long)item);
        }
    }
}

static void compare_in(int64_t ld, int64_t stride, int64_t items) {
    const int64_t near_stride = OPERANDS * OPERAND_GAP + 32;
    const size_t near_elements = (size_t)(items * near_stride);
    const size_t far_elements = (size_t)((items - 1) * stride + (N - 1) * ld) + 2048;
    const place_t near = {sparse_alloc(near_elements), N, near_stride};
    const place_t far = {sparse_alloc(far_elements), ld, stride};
    if (!near.base || !far.base) {
        print_message("skipped: %zu bytes cannot be had\n", far_elements * sizeof(float));
        skip();
    }
    suite_setenv("BATCHLAS_POTRF_NB", "2"); /* so that potrf's blocks lie far apart too */
    compare(&near, &far, items);
    sparse_free(near.base, near_elements);
    sparse_free(far.base, far_elements);
}

static void items_may_lie_far_apart(void **state) {
    (void)state;
    compare_in(N + 1, ((int64_t)1 << 31) + 5, 2);
    compare_in(N + 1, ((int64_t)1 << 30) + 7, 4);
}

static void columns_may_lie_far_apart(void **state) {
    (void)state;
    compare_in(((int64_t)1 << 30) + 5, 0, 1);
}

/* ---- many items ------------------------------------------------------------------------------ */

/* Of one element each, every thousandth of which potrf cannot factor. */
static bool fails(int64_t item) {
    return item % 1000 == 999;
}

typedef struct {
    float *A, *B, *C;
    int *info;
    double *logdet;
    float *host[OPERANDS];
    int *host_info;
    double *host_logdet;
} scalars_t;

static scalars_t scalars_make(int64_t batch) {
    const size_t count = (size_t)batch;
    scalars_t s = {.A = device_alloc(count * sizeof(float)),
                   .B = device_alloc(count * sizeof(float)),
                   .C = device_alloc(count * sizeof(float)),
                   .info = device_alloc(count * sizeof(int)),
                   .logdet = device_alloc(count * sizeof(double)),
                   .host_info = host_alloc(count, sizeof(int)),
                   .host_logdet = host_alloc(count, sizeof(double))};
    for (int operand = 0; operand < OPERANDS; ++operand)
        s.host[operand] = host_alloc(count, sizeof(float));
    return s;
}

static void scalars_free(scalars_t *s) {
    device_free(s->A);
    device_free(s->B);
    device_free(s->C);
    device_free(s->info);
    device_free(s->logdet);
    free(s->host_info);
    free(s->host_logdet);
    for (int operand = 0; operand < OPERANDS; ++operand)
        free(s->host[operand]);
}

static void scalars_put(scalars_t *s, bool factors, int64_t batch) {
    const size_t count = (size_t)batch;
    for (int64_t i = 0; i < batch; ++i) {
        s->host[A][i] = factors && fails(i) ? -1.0f : 4.0f;
        s->host[B][i] = 16;
        s->host[C][i] = 3;
        s->host_info[i] = -77;
        s->host_logdet[i] = -77;
    }
    device_put(s->A, s->host[A], count * sizeof(float));
    device_put(s->B, s->host[B], count * sizeof(float));
    device_put(s->C, s->host[C], count * sizeof(float));
    device_put(s->info, s->host_info, count * sizeof(int));
    device_put(s->logdet, s->host_logdet, count * sizeof(double));
}

static void scalars_get(scalars_t *s, int64_t batch) {
    const size_t count = (size_t)batch;
    device_get(s->host[A], s->A, count * sizeof(float));
    device_get(s->host[B], s->B, count * sizeof(float));
    device_get(s->host[C], s->C, count * sizeof(float));
    device_get(s->host_info, s->info, count * sizeof(int));
    device_get(s->host_logdet, s->logdet, count * sizeof(double));
}

static void expect_scalars(const scalars_t *s, routine_t routine, int64_t batch) {
    const bool factors = routine == POTRF || routine == POSV;
    static const float right_b[ROUTINE_COUNT] = {16, 1, 4, 16, 4, 16, 16};
    static const float right_c[ROUTINE_COUNT] = {3, 3, 3, 3, 3, 67, 19};
    for (int64_t i = 0; i < batch; ++i) {
        const bool failed = factors && fails(i);
        const float right_a = factors ? 2 : 4;
        if ((!failed && s->host[A][i] != right_a) ||
            s->host[B][i] != (failed ? 16 : right_b[routine]) ||
            s->host[C][i] != right_c[routine] || s->host_info[i] != (factors ? (int)failed : -77) ||
            (routine == POTRF_LOGDET ? fabs(s->host_logdet[i] - 2 * log(4)) > 1e-15
                                     : s->host_logdet[i] != -77))
            suite_fail("item %lld: %g, %g, %g, info %d, logdet %g", (long long)i,
                       (double)s->host[A][i], (double)s->host[B][i], (double)s->host[C][i],
                       s->host_info[i], s->host_logdet[i]);
    }
}

static void every_routine_takes_many_items(void **state) {
    (void)state;
    const int64_t batches[] = {65535, 65536, 1 << 20};
    EACH(batch, batches) {
        const int64_t batch = batches[batch_index];
        scalars_t s = scalars_make(batch);
        for (int routine = 0; routine < ROUTINE_COUNT; ++routine) {
            const family_line_t *line;
            for (int f = 0; (line = family_line(names[routine], f)); ++f) {
                if (line->spelling && !strcmp(line->spelling, "vendor:single"))
                    continue; /* a loop over the items on the host */
                const call_t c = {.routine = (routine_t)routine,
                                  .p = {.type = TYPE_S,
                                        .m = 1,
                                        .n = 1,
                                        .k = 1,
                                        .nrhs = 1,
                                        .alpha = {1, 0},
                                        .beta = {1, 0},
                                        .A = {.base = s.A, .ld = 1, .stride = 1},
                                        .B = {.base = s.B, .ld = 1, .stride = 1},
                                        .C = {.base = s.C, .ld = 1, .stride = 1},
                                        .info = s.info,
                                        .logdet = s.logdet,
                                        .batch = batch}};
                suite_case("%s, batch %lld", family_name(line, TYPE_S), (long long)batch);
                scalars_put(&s, routine == POTRF || routine == POSV, batch);
                family_pin(line);
                const batchlas_status_t status = call(suite_handle(), &c);
                family_unpin(line);
                if (!family_ran(line, TYPE_S, 1, status, suite_handle()))
                    continue;
                scalars_get(&s, batch);
                expect_scalars(&s, (routine_t)routine, batch);
            }
        }
        scalars_free(&s);
    }
}

/* ---- an order whose square an int does not hold ---------------------------------------------- */

enum { LARGE_ORDER = 46341 };

/* A = value I, in memory that holds zeros. */
static float *large_identity(float value) {
    const int64_t area = (int64_t)LARGE_ORDER * LARGE_ORDER;
    float *matrix = sparse_alloc((size_t)area);
    if (!matrix) {
        print_message("skipped: 8.6 GB cannot be had\n");
        skip();
    }
#if BATCHLAS_HAVE_GPU
    if (suite_on_gpu()) {
#pragma omp target teams distribute parallel for is_device_ptr(matrix) device(suite_device())
        for (int64_t i = 0; i < area; ++i)
            matrix[i] = i % (LARGE_ORDER + 1) ? 0 : value;
        return matrix;
    }
#endif
    for (int64_t i = 0; i < LARGE_ORDER; ++i)
        matrix[i * (LARGE_ORDER + 1)] = value;
    return matrix;
}

static void solve_large(const float *matrix, routine_t routine) {
    float *host = host_alloc(LARGE_ORDER, sizeof *host);
    float *sides = device_alloc(LARGE_ORDER * sizeof *sides);
    const family_line_t *line;
    for (int f = 0; (line = family_line(names[routine], f)); ++f) {
        /* On the host twice is enough, once with each family that does the work. */
        const bool does_the_work = line->spelling && (routine == TRSM || line->children);
        if (!suite_on_gpu() && !suite_extended() && !does_the_work)
            continue;
        const call_t c = {.routine = routine,
                          .p = {.type = TYPE_S,
                                .m = LARGE_ORDER,
                                .n = routine == TRSM ? 1 : LARGE_ORDER,
                                .nrhs = 1,
                                .alpha = {1, 0},
                                .A = {.base = (void *)(uintptr_t)matrix, .ld = LARGE_ORDER},
                                .B = {.base = sides, .ld = LARGE_ORDER},
                                .batch = 1}};
        for (int i = 0; i < LARGE_ORDER; ++i)
            host[i] = (float)(i % 97 + 1);
        device_put(sides, host, LARGE_ORDER * sizeof *host);
        suite_case("%s, n %d", family_name(line, TYPE_S), LARGE_ORDER);
        family_pin(line);
        const batchlas_status_t status = call(suite_handle(), &c);
        const bool ran = family_ran(line, TYPE_S, LARGE_ORDER, status, suite_handle());
        family_unpin(line);
        if (!ran)
            continue;
        device_get(host, sides, LARGE_ORDER * sizeof *host);
        for (int i = 0; i < LARGE_ORDER; ++i)
            if (host[i] != (float)(i % 97 + 1) / (routine == TRSM ? 2.0f : 4.0f))
                suite_fail("row %d is %g", i, (double)host[i]);
    }
    device_free(sides);
    free(host);
}

static void an_order_may_have_an_area_beyond_an_int(void **state) {
    (void)state;
    float *factor = large_identity(2);
    double *logdet = device_alloc(sizeof *logdet);
    double found = 0;
    solve_large(factor, TRSM);
    if (suite_on_gpu() || suite_extended())
        solve_large(factor, POTRS);
    suite_expect_success(batchlas_spotrf_logdet(suite_handle(), BATCHLAS_LOWER, LARGE_ORDER, factor,
                                                LARGE_ORDER, 0, logdet, 1),
                         suite_handle());
    device_get(&found, logdet, sizeof found);
    assert_true(fabs(found - 2 * LARGE_ORDER * log(2)) < 1e-9 * LARGE_ORDER);
    device_free(logdet);
    sparse_free(factor, (size_t)LARGE_ORDER * LARGE_ORDER);
}

#if BATCHLAS_HAVE_GPU
/* Every element is where it belongs, and the other triangle is still 0. */
static void the_largest_orders_are_factored(void **state) {
    (void)state;
    if (!suite_extended() || !suite_on_gpu())
        skip();
    const family_line_t *line;
    for (int f = 0; (line = family_line("potrf", f)); ++f) {
        float *matrix = large_identity(4);
        int64_t wrong = 0;
        suite_case("%s, n %d", family_name(line, TYPE_S), LARGE_ORDER);
        family_pin(line);
        const batchlas_status_t status = batchlas_spotrf(
            suite_handle(), BATCHLAS_LOWER, LARGE_ORDER, matrix, LARGE_ORDER, 0, NULL, 1);
        const bool ran = family_ran(line, TYPE_S, LARGE_ORDER, status, suite_handle());
        family_unpin(line);
        if (ran) {
#pragma omp target teams distribute parallel for is_device_ptr(matrix) map(tofrom : wrong)         \
    reduction(+ : wrong) device(suite_device())
            for (int64_t i = 0; i < (int64_t)LARGE_ORDER * LARGE_ORDER; ++i)
                wrong += matrix[i] != (i % (LARGE_ORDER + 1) ? 0.0f : 2.0f);
        }
        sparse_free(matrix, (size_t)LARGE_ORDER * LARGE_ORDER);
        if (wrong)
            suite_fail("%lld elements are wrong", (long long)wrong);
    }
}
#endif

/* ---- more items than an int counts ------------------------------------------------------------
 */

enum { CHUNK = 1 << 24 };

static void a_batch_may_exceed_2_to_the_31(void **state) {
    (void)state;
    if (!suite_extended() || !suite_on_gpu())
        skip();
    const int64_t batch = ((int64_t)1 << 31) + 5;
    float *matrices = sparse_alloc((size_t)batch);
    int *info = sparse_alloc((size_t)batch);
    if (!matrices || !info)
        skip();
    float *values = host_alloc(CHUNK, sizeof *values);
    int *infos = host_alloc(CHUNK, sizeof *infos);
    for (int64_t first = 0; first < batch; first += CHUNK) {
        const size_t count = (size_t)(batch - first < CHUNK ? batch - first : CHUNK);
        for (size_t i = 0; i < count; ++i) {
            values[i] = (first + (int64_t)i) % 1000 == 999 ? -1.0f : 4.0f;
            infos[i] = -77;
        }
        device_put(matrices + first, values, count * sizeof *values);
        device_put(info + first, infos, count * sizeof *infos);
    }
    suite_expect_success(
        batchlas_spotrf(suite_handle(), BATCHLAS_LOWER, 1, matrices, 1, 1, info, batch),
        suite_handle());
    for (int64_t first = 0; first < batch; first += CHUNK) {
        const size_t count = (size_t)(batch - first < CHUNK ? batch - first : CHUNK);
        device_get(values, matrices + first, count * sizeof *values);
        device_get(infos, info + first, count * sizeof *infos);
        for (size_t i = 0; i < count; ++i) {
            const bool fails = (first + (int64_t)i) % 1000 == 999;
            if (infos[i] != fails || (!fails && values[i] != 2.0f))
                suite_fail("item %lld: %g, info %d", (long long)first + (long long)i,
                           (double)values[i], infos[i]);
        }
    }
    free(values);
    free(infos);
    sparse_free(matrices, (size_t)batch);
    sparse_free(info, (size_t)batch);
}

static const struct CMUnitTest tests[] = {
    suite_test(items_may_lie_far_apart),
    suite_test(columns_may_lie_far_apart),
    suite_test(every_routine_takes_many_items),
    suite_test(an_order_may_have_an_area_beyond_an_int),
#if BATCHLAS_HAVE_GPU
    suite_test(the_largest_orders_are_factored),
#endif
    suite_test(a_batch_may_exceed_2_to_the_31),
};

SUITE_MAIN("offsets", tests, ON_EVERY_DEVICE)
