/* SPDX-License-Identifier: BSD-3-Clause */
/* The measuring instrument's parts, each against what it must never do: take a wrong result for
 * right, a slow repetition for steady, a list of arms for another, or the wrong floor. */
#include "../bench/arms.h"
#include "../bench/check.h"
#include "../bench/cost.h"
#include "../bench/floors.h"
#include "../bench/matrices.h"
#include "../bench/measure.h"
#include "../bench/options.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cell_t make_cell(op_t op, char type, batchlas_uplo_t uplo, const char *form, int n, int nrhs,
                        int64_t batch, int ld_pad) {
    cell_t cell = {.op = op,
                   .type = type,
                   .uplo = uplo,
                   .n = n,
                   .nrhs = nrhs,
                   .batch = batch,
                   .ld_pad = ld_pad};
    strcpy(cell.form, form);
    cell_describe(&cell);
    return cell;
}

/* ---- arms ---------------------------------------------------------------------------------- */

static bool parses(const char *list) {
    arm_t arms[MAX_ARMS];
    int count = 0;
    char why[512] = "";
    const bool parsed = arms_parse(list, OP_POTRF, arms, &count, why, sizeof why);
    assert_true(parsed || why[0]);
    return parsed;
}

static void arms_split_at_commas_exactly(void **state) {
    (void)state;
    arm_t arms[MAX_ARMS];
    int count = 0;
    char why[512];
    assert_true(arms_parse("vendor,lpanel:panel=8,blocked+trsm=vendor+gemm=tiled", OP_POTRF, arms,
                           &count, why, sizeof why));
    assert_int_equal(count, 3);
    assert_string_equal(arms[0].name, "vendor");
    assert_string_equal(arms[1].pins[OP_POTRF], "lpanel:panel=8");
    assert_string_equal(arms[2].pins[OP_POTRF], "blocked");
    assert_string_equal(arms[2].pins[OP_TRSM], "vendor");
    assert_string_equal(arms[2].pins[OP_GEMM], "tiled");
    assert_string_equal(arms[2].pins[OP_POSV], "");
}

static void lists_with_holes_are_refused(void **state) {
    (void)state;
    const char *const bad[] = {"",
                               ",",
                               "tiny,",
                               ",tiny",
                               "tiny,,vendor",
                               "tiny,tiny",
                               "tiny+",
                               "+trsm=vendor",
                               "tiny+trsm",
                               "tiny+trsm=",
                               "tiny+unheard=vendor",
                               "tiny+potrf=vendor"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        if (parses(bad[i]))
            fail_msg("'%s' was accepted", bad[i]);
}

static void another_family_is_not_what_was_pinned(void **state) {
    (void)state;
    assert_true(arm_accepts("auto", "tiny"));
    assert_true(arm_accepts("lpanel:8", "lpanel:panel=8"));
    assert_false(arm_accepts("lpanel:16", "lpanel:panel=8"));
    assert_false(arm_accepts("tiny", "vendor"));
    assert_true(arm_accepts("vendor", "vendor:single"));
    assert_false(arm_accepts("vendor", "blocked"));
    assert_false(arm_accepts("native", "vendor"));
    assert_true(arm_is_class("vendor"));
    assert_false(arm_is_class("vendor:single"));
    assert_true(arm_accepts("native", "tiny"));
}

static void what_ran_is_read_back(void **state) {
    (void)state;
    const cell_t cell = make_cell(OP_POTRF, 'd', BATCHLAS_LOWER, "-", 20, 1, 7, 0);
    char chosen[SPELLING_LENGTH];
    bool differs = false;

    assert_true(coverage_begin());
    FILE *file = fopen(getenv("BATCHLAS_COVERAGE_OUT"), "w");
    assert_non_null(file);
    fputs("op,type,uplo,n,nrhs,batch,chosen_algo\n"
          "potrf,d,lower,16,1,7,tiny\n" /* another order */
          "potrf,d,lower,20,1,7,blocked\n"
          "trsm,d,lower,20,1,7,tiled\n",
          file);
    fclose(file);
    coverage_end();
    assert_null(getenv("BATCHLAS_COVERAGE_OUT"));
    assert_int_equal(coverage_read(&cell, chosen, &differs), 1);
    assert_string_equal(chosen, "blocked");
    assert_false(differs);

    assert_true(coverage_begin());
    file = fopen(getenv("BATCHLAS_COVERAGE_OUT"), "w");
    assert_non_null(file);
    fputs("potrf,d,lower,20,1,7,blocked\npotrf,d,lower,20,1,7,tiny\n", file);
    fclose(file);
    coverage_end();
    assert_int_equal(coverage_read(&cell, chosen, &differs), 2);
    assert_true(differs);

    assert_true(coverage_begin());
    file = fopen(getenv("BATCHLAS_COVERAGE_OUT"), "w");
    assert_non_null(file);
    fputs("potrf,d,lower,20,1\n", file);
    fclose(file);
    coverage_end();
    assert_int_equal(coverage_read(&cell, chosen, &differs), -1);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void a_slow_repetition_is_seen(void **state) {
    (void)state;
    double steady[] = {1.02, 1.0, 0.99, 1.01, 1.0, 0.98, 1.0};
    const summary_t calm = summarise(steady, 7);
    assert_true(fabs(calm.median - 1.0) < 1e-12);
    assert_true(fabs(calm.minimum - 0.98) < 1e-12);
    assert_true(calm.relative_sd < STEADY_BOUND);

    double disturbed[] = {1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0};
    const summary_t rough = summarise(disturbed, 7);
    assert_true(fabs(rough.median - 1.0) < 1e-12);
    assert_true(rough.relative_sd > STEADY_BOUND);

    double pair[] = {3.0, 1.0};
    assert_true(fabs(summarise(pair, 2).median - 2.0) < 1e-12);
}

static void nine_tenths_of_the_samples_lie_in_the_spread(void **state) {
    (void)state;
    double samples[40];
    for (int i = 0; i < 40; ++i)
        samples[i] = (double)(i * 7 % 40 + 1); /* 1 to 40 out of order */
    const spread_t spread = spread_of(samples, 40);
    assert_true(fabs(spread.low - 2.0) < 1e-12);
    assert_true(fabs(spread.median - 20.5) < 1e-12);
    assert_true(fabs(spread.high - 38.0) < 1e-12);

    double one[] = {3.0};
    const spread_t alone = spread_of(one, 1);
    assert_true(alone.low == alone.median && alone.high == alone.median);
}

/* A call of 30 us, 20 of them on the device, where an empty kernel takes 9 and 2: 3 us over. */
static void what_a_call_costs_over_a_launch(void **state) {
    (void)state;
    const call_cost_t call = {.waiting = {.median = 30.0}, .device = {.median = 20.0}};
    const launch_cost_t launch = {
        .spun = {.median = 9.0}, .slept = {.median = 25.0}, .device = {.median = 2.0}};
    assert_true(fabs(cost_over_launch(&call, &launch) - 3.0) < 1e-12);
}

/* ---- floors -------------------------------------------------------------------------------- */

/* Marks every sector that an element of the shape lies in, one element after the other. */
static double marked_bytes(const cell_t *cell, int which, int sector) {
    const operand_t *o = &cell->operands[which];
    const int64_t size = (int64_t)size_of_type(cell->type);
    const int64_t sectors = cell->batch * o->stride * size / sector + 1;
    char *marks = calloc((size_t)sectors, 1);
    double bytes = 0.0;
    assert_non_null(marks);
    for (int64_t item = 0; item < cell->batch; ++item)
        for (int column = 0; column < o->columns; ++column)
            for (int row = 0; row < o->rows; ++row)
                if (o->shape == FULL ||
                    (o->shape == LOWER_TRIANGLE ? row >= column : row <= column))
                    marks[(item * o->stride + row + (int64_t)column * o->ld) * size / sector] = 1;
    for (int64_t i = 0; i < sectors; ++i)
        bytes += marks[i] * sector;
    free(marks);
    return bytes;
}

static void the_memory_floor_counts_every_sector_once(void **state) {
    (void)state;
    const int orders[] = {1, 2, 3, 7, 8, 17, 33};
    for (int type = 0; type < 4; ++type) {
        for (int uplo = BATCHLAS_LOWER; uplo <= BATCHLAS_UPPER; ++uplo) {
            for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
                for (int pad = 0; pad < 4; pad += 3) {
                    /* batches of whole periods, where the count is exact */
                    for (int64_t batch = 1; batch <= 32; batch = batch < 2 ? 2 : 16 * batch) {
                        const cell_t cell = make_cell(OP_POSV, "sdcz"[type], (batchlas_uplo_t)uplo,
                                                      "-", orders[i], 3, batch, pad);
                        for (int sector = 32; sector <= 64; sector *= 2) {
                            const double expected = 2.0 * (marked_bytes(&cell, 0, sector) +
                                                           marked_bytes(&cell, 1, sector));
                            assert_true(fabs(floor_bytes(&cell, sector) - expected) < 0.5);
                        }
                    }
                }
            }
        }
    }
}

/* The design's own figure: float, n = 32, batch 32768 takes 0.040 ms at 4.25 TB/s. */
static void the_memory_floor_is_the_published_one(void **state) {
    (void)state;
    const cell_t cell = make_cell(OP_POTRF, 's', BATCHLAS_LOWER, "-", 32, 1, 32768, 0);
    const double milliseconds = 1e3 * floor_bytes(&cell, 32) / 4.25e12;
    assert_true(milliseconds > 0.0385 && milliseconds < 0.0405);
}

/* Counts the operations of the textbook loops. */
static void the_operations_are_those_of_the_loops(void **state) {
    (void)state;
    for (int n = 1; n <= 12; ++n) {
        double count = 0.0;
        for (int j = 0; j < n; ++j) {
            count += 2.0 * j + 1.0; /* the diagonal's sum and its root */
            count += (n - 1 - j) * (2.0 * j + 1.0);
        }
        const cell_t factor = make_cell(OP_POTRF, 'd', BATCHLAS_LOWER, "-", n, 1, 1, 0);
        assert_true(fabs(floor_operations(&factor) - count) < 1e-9);

        const cell_t solve = make_cell(OP_TRSM, 'd', BATCHLAS_LOWER, "LN", n, 5, 1, 0);
        assert_true(fabs(floor_operations(&solve) - 5.0 * n * n) < 1e-9);
    }
    const cell_t product = make_cell(OP_GEMM, 'z', BATCHLAS_LOWER, "NN", 10, 3, 2, 0);
    assert_true(fabs(floor_operations(&product) - 2.0 * 8.0 * 300.0) < 1e-9);
}

/* ---- results ------------------------------------------------------------------------------- */

typedef struct {
    machine_t machine;
    cell_t cell;
    matrices_t matrices;
    void *scratch;
} trial_t;

static trial_t begin_trial(cell_t cell) {
    trial_t trial = {.cell = cell};
    assert_true(machine_open(&trial.machine, HOST_DEVICE));
    assert_true(matrices_make(&trial.machine, &cell, &trial.matrices));
    trial.scratch = machine_alloc(&trial.machine, check_scratch_bytes(&cell));
    assert_non_null(trial.scratch);
    assert_true(matrices_restore(&trial.machine, &cell, &trial.matrices));
    return trial;
}

static void end_trial(trial_t *trial) {
    machine_free(&trial->machine, trial->scratch);
    matrices_free(&trial->machine, &trial->matrices);
    machine_close(&trial->machine);
}

static double complex get(const trial_t *trial, int64_t index) {
    const void *base = trial->matrices.work[0];
    switch (trial->cell.type) {
    case 's':
        return ((const float *)base)[index];
    case 'd':
        return ((const double *)base)[index];
    case 'c':
        return ((const float complex *)base)[index];
    default:
        return ((const double complex *)base)[index];
    }
}

static void put(const trial_t *trial, int64_t index, double complex value) {
    void *base = trial->matrices.work[0];
    switch (trial->cell.type) {
    case 's':
        ((float *)base)[index] = (float)creal(value);
        break;
    case 'd':
        ((double *)base)[index] = creal(value);
        break;
    case 'c':
        ((float complex *)base)[index] = (float complex)value;
        break;
    default:
        ((double complex *)base)[index] = value;
    }
}

static int64_t element(const trial_t *trial, int64_t item, int row, int column) {
    const operand_t *o = &trial->cell.operands[0];
    return item * o->stride + row + (int64_t)column * o->ld;
}

/* Textbook Cholesky of every item, on the triangle given, with info 0. */
static void factor(const trial_t *trial) {
    const int n = trial->cell.n;
    const bool lower = trial->cell.uplo == BATCHLAS_LOWER;
    for (int64_t item = 0; item < trial->cell.batch; ++item) {
        for (int j = 0; j < n; ++j) {
            for (int i = j; i < n; ++i) {
                double complex sum = lower ? get(trial, element(trial, item, i, j))
                                           : conj(get(trial, element(trial, item, j, i)));
                for (int k = 0; k < j; ++k) {
                    const double complex lik = lower ? get(trial, element(trial, item, i, k))
                                                     : conj(get(trial, element(trial, item, k, i)));
                    const double complex ljk = lower ? get(trial, element(trial, item, j, k))
                                                     : conj(get(trial, element(trial, item, k, j)));
                    sum -= lik * conj(ljk);
                }
                const double pivot = creal(get(trial, element(trial, item, j, j)));
                sum = i == j ? csqrt(creal(sum)) : sum / pivot;
                put(trial, lower ? element(trial, item, i, j) : element(trial, item, j, i),
                    lower ? sum : conj(sum));
            }
        }
        trial->matrices.info[item] = 0;
    }
}

static void a_wrong_element_of_one_item_is_found(void **state) {
    (void)state;
    for (int type = 0; type < 4; ++type) {
        for (int uplo = BATCHLAS_LOWER; uplo <= BATCHLAS_UPPER; ++uplo) {
            const bool lower = uplo == BATCHLAS_LOWER;
            trial_t trial = begin_trial(
                make_cell(OP_POTRF, "sdcz"[type], (batchlas_uplo_t)uplo, "-", 13, 1, 50, 2));
            factor(&trial);
            verdict_t verdict =
                check_results(&trial.machine, &trial.cell, &trial.matrices, trial.scratch);
            assert_true(verdict_is_right(&verdict));
            assert_true(verdict.residual > 0.0 && verdict.residual < 6.0);

            const int64_t at = element(&trial, 17, lower ? 9 : 4, lower ? 4 : 9);
            const double complex right = get(&trial, at);
            put(&trial, at, right * 1.001);
            verdict = check_results(&trial.machine, &trial.cell, &trial.matrices, trial.scratch);
            assert_int_equal(verdict.wrong, 1);
            assert_int_equal(verdict.first_wrong, 17);
            assert_false(verdict_is_right(&verdict));

            put(&trial, at, (double)NAN);
            verdict = check_results(&trial.machine, &trial.cell, &trial.matrices, trial.scratch);
            assert_int_equal(verdict.wrong, 1);
            assert_true(isinf(verdict.residual));

            put(&trial, at, right);
            trial.matrices.info[31] = 2;
            verdict = check_results(&trial.machine, &trial.cell, &trial.matrices, trial.scratch);
            assert_int_equal(verdict.wrong, 0);
            assert_int_equal(verdict.failed, 1);
            assert_int_equal(verdict.first_failed, 31);
            assert_int_equal(verdict.first_info, 2);
            assert_false(verdict_is_right(&verdict));
            end_trial(&trial);
        }
    }
}

/* Nothing but the input: every operation's check must refuse it. */
static void results_that_were_never_computed_are_wrong(void **state) {
    (void)state;
    const struct {
        op_t op;
        const char *form;
    } cases[] = {{OP_POTRF, "-"}, {OP_POTRS, "-"}, {OP_POSV, "-"}, {OP_TRSM, "LN"},
                 {OP_TRSM, "RC"}, {OP_GEMM, "NC"}, {OP_SYRK, "N"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        trial_t trial =
            begin_trial(make_cell(cases[i].op, 'z', BATCHLAS_UPPER, cases[i].form, 6, 4, 9, 0));
        memset(trial.matrices.info, 0, 9 * sizeof(int));
        const verdict_t verdict =
            check_results(&trial.machine, &trial.cell, &trial.matrices, trial.scratch);
        if (verdict.wrong != 9)
            fail_msg("%s: %lld of 9 wrong items found", op_name(cases[i].op),
                     (long long)verdict.wrong);
        end_trial(&trial);
    }
}

/* Exact, where a check of the residual is not; what calls only read does not count. */
static void every_byte_that_differs_is_counted(void **state) {
    (void)state;
    const cell_t cell = make_cell(OP_POSV, 'd', BATCHLAS_LOWER, "-", 5, 2, 7, 1);
    trial_t left = begin_trial(cell);
    trial_t right = begin_trial(cell);
    assert_int_equal(
        matrices_differing_bytes(&left.machine, &cell, &left.matrices, &right.matrices), 0);
    ((unsigned char *)left.matrices.work[0])[11] ^= 1;
    ((unsigned char *)left.matrices.work[1])[7 * 12 * 8 - 1] ^= 0x80;
    left.matrices.info[6] = 0;
    assert_int_equal(
        matrices_differing_bytes(&left.machine, &cell, &left.matrices, &right.matrices), 2 + 4);
    end_trial(&left);
    end_trial(&right);

    const cell_t solve = make_cell(OP_POTRS, 'd', BATCHLAS_LOWER, "-", 5, 2, 7, 1);
    left = begin_trial(solve);
    right = begin_trial(solve);
    ((unsigned char *)left.matrices.work[0])[11] ^= 1;
    left.matrices.info[6] = 0;
    assert_int_equal(
        matrices_differing_bytes(&left.machine, &solve, &left.matrices, &right.matrices), 0);
    end_trial(&left);
    end_trial(&right);
}

/* ---- the command line ---------------------------------------------------------------------- */

static bool understood(int count, const char *const *words) {
    options_t options = {.repetitions = 1};
    char *line[16] = {"factor_bench"};
    for (int i = 0; i < count; ++i)
        line[i + 1] = (char *)words[i];
    const bool parsed = options_parse(&options, count + 1, line);
    options_free(&options);
    return parsed;
}

static void a_bad_command_line_is_refused(void **state) {
    (void)state;
    const char *const good[] = {"--op", "trsm", "--n", "4,8", "--batch", "16", "--form", "LN,RC"};
    assert_true(understood(8, good));
    const char *const bad[][8] = {
        {"--op", "trsm", "--n", "4,8", "--batch", "16", "--form", "XN"},
        {"--op", "potrs", "--n", "4,,8", "--batch", "16", "--type", "s"},
        {"--op", "potrs", "--n", "0", "--batch", "16", "--type", "s"},
        {"--op", "potrs", "--n", "4", "--batch", "1e3", "--type", "s"},
        {"--op", "potrs", "--n", "4", "--batch", "16", "--type", "x"},
        {"--op", "potrs", "--n", "4", "--batch", "16", "--arms", ""},
        {"--op", "getrf", "--n", "4", "--batch", "16", "--type", "s"},
        {"--op", "potrs", "--n", "4", "--batch", "16", "--unheard", "s"},
        {"--op", "potrs", "--n", "4", "--type", "s", "--batch", "-3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        if (understood(8, bad[i]))
            fail_msg("command line %zu was accepted", i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_split_at_commas_exactly),
        cmocka_unit_test(lists_with_holes_are_refused),
        cmocka_unit_test(another_family_is_not_what_was_pinned),
        cmocka_unit_test(what_ran_is_read_back),
        cmocka_unit_test(a_slow_repetition_is_seen),
        cmocka_unit_test(nine_tenths_of_the_samples_lie_in_the_spread),
        cmocka_unit_test(what_a_call_costs_over_a_launch),
        cmocka_unit_test(the_memory_floor_counts_every_sector_once),
        cmocka_unit_test(the_memory_floor_is_the_published_one),
        cmocka_unit_test(the_operations_are_those_of_the_loops),
        cmocka_unit_test(a_wrong_element_of_one_item_is_found),
        cmocka_unit_test(results_that_were_never_computed_are_wrong),
        cmocka_unit_test(every_byte_that_differs_is_counted),
        cmocka_unit_test(a_bad_command_line_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
