/* SPDX-License-Identifier: BSD-3-Clause */
/* How examples/multi_gpu splits a batch over devices. */
#include "harness/suite.h"

#include "../examples/multi_gpu/split.h"

enum { MOST_PARTS = 17 };

/* Every item once, in order, and each part within one item of its share. */
static void is_split(int64_t count, int parts, const double *weight) {
    int64_t first[MOST_PARTS + 1];
    double total = 0.0;
    split(count, parts, weight, first);
    for (int p = 0; p < parts; p++)
        total += weight[p];
    assert_int_equal(first[0], 0);
    assert_int_equal(first[parts], count);
    for (int p = 0; p < parts; p++) {
        const double share = (double)count * weight[p] / total;
        const double size = (double)(first[p + 1] - first[p]);
        if (size < 0.0 || size < share - 1.0 || size > share + 1.0)
            suite_fail("part %d of %d got %.0f of %.0f items, its share is %.3f", p, parts, size,
                       (double)count, share);
    }
}

static const int64_t counts[] = {0, 1, 2, 3, 7, 16, 17, 100, 1000003, INT64_C(1) << 40};
enum { COUNTS = sizeof counts / sizeof *counts };

static void equal_weights_give_equal_parts(void **state) {
    (void)state;
    double weight[MOST_PARTS];
    int64_t first[MOST_PARTS + 1];
    for (int p = 0; p < MOST_PARTS; p++)
        weight[p] = 0.1;
    for (int c = 0; c < COUNTS; c++) {
        for (int parts = 1; parts <= MOST_PARTS; parts++) {
            is_split(counts[c], parts, weight);
            split(counts[c], parts, weight, first);
            for (int p = 0; p < parts; p++) {
                const int64_t size = first[p + 1] - first[p];
                assert_in_range(size, counts[c] / parts, (counts[c] + parts - 1) / parts);
            }
        }
    }
}

static void uneven_weights_give_uneven_parts(void **state) {
    (void)state;
    static const double weight[][MOST_PARTS] = {
        {3.0, 1.0}, {1.0, 20.0, 0.5}, {1e-9, 1.0, 1e9}, {0.0, 1.0, 0.0, 2.0, 0.0}};
    static const int parts[] = {2, 3, 3, 5};
    int64_t first[MOST_PARTS + 1];
    for (int w = 0; w < 4; w++)
        for (int c = 0; c < COUNTS; c++)
            is_split(counts[c], parts[w], weight[w]);
    split(100, 2, weight[0], first);
    assert_int_equal(first[1], 75);
    split(9, 5, weight[3], first);
    assert_int_equal(first[1], 0);
    assert_int_equal(first[2], 3);
    assert_int_equal(first[3], 3);
    assert_int_equal(first[4], 9);
}

static const struct CMUnitTest tests[] = {
    suite_test(equal_weights_give_equal_parts),
    suite_test(uneven_weights_give_uneven_parts),
};

SUITE_MAIN("split", tests, HOST_ONLY)
