/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory arithmetic against pinned ceilings. */
#include "harness/suite.h"

#include "resident_capacity.h"

enum { REFERENCE_BUDGET = 97280 };

/* ---- footprints ---------------------------------------------------------------------------- */

/* A whole matrix in shared memory: odd leading dimension, the panel's real diagonal, one offset for
 * each tile of the first trailing update and one more, and the accessors' slack. */
static size_t whole_matrix(int64_t n, size_t scalar, size_t real, int64_t nb, int64_t tile) {
    const int64_t tiles = n > nb ? (n - nb + tile - 1) / tile : 0;
    return resident_padded((size_t)((n | 1) * n) * scalar + (size_t)(tiles + 1) * 4 +
                           (size_t)nb * real + 256);
}

static size_t whole_s(int64_t n) {
    return whole_matrix(n, 4, 4, 8, 4);
}

static size_t whole_d(int64_t n) {
    return whole_matrix(n, 8, 8, 8, 4);
}

static size_t whole_c(int64_t n) {
    return whole_matrix(n, 8, 4, 8, 4);
}

static size_t whole_z(int64_t n) {
    return whole_matrix(n, 16, 8, 8, 2);
}

/* An n by nb panel and an nb by nb block. */
static size_t panel(int64_t n, int64_t nb, size_t scalar) {
    return resident_padded((size_t)(n * nb + nb * nb) * scalar + 256);
}

static size_t panel_s(int64_t n) {
    return panel(n, 8, 4);
}

static size_t panel_dc(int64_t n) {
    return panel(n, 8, 8);
}

static size_t panel_z(int64_t n) {
    return panel(n, 8, 16);
}

static size_t panel_s_16(int64_t n) {
    return panel(n, 16, 4);
}

static size_t elements_s(int64_t n) {
    return resident_padded((size_t)n * 4);
}

static size_t elements_dc(int64_t n) {
    return resident_padded((size_t)n * 8);
}

static size_t elements_z(int64_t n) {
    return resident_padded((size_t)n * 16);
}

/* 128 bytes an order with the padded band: bytes(389) < bytes(388). */
static size_t synthetic(int64_t n) {
    return resident_padded((size_t)n * 128);
}

static size_t nothing_fits(int64_t n) {
    (void)n;
    return SIZE_MAX;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void budget_is_memory_less_reserve(void **state) {
    (void)state;
    assert_int_equal(device_budget(101376), 97280);
    assert_int_equal(device_budget(49152), 45056);
    assert_int_equal(device_budget(4096), 0);
    assert_int_equal(device_budget(100), 0);
}

static void share_divides_the_budget(void **state) {
    (void)state;
    assert_int_equal(occupancy_budget(97280, 1), 97280);
    assert_int_equal(occupancy_budget(97280, 2), 48640);
    assert_int_equal(occupancy_budget(97280, 4), 24320);
    assert_int_equal(occupancy_budget(97280, RESIDENT_MIN_BLOCKS), 24320);
}

static void band_is_padded_and_nothing_else(void **state) {
    (void)state;
    assert_int_equal(resident_padded(47104), 47104);
    assert_int_equal(resident_padded(47105), 49920);
    assert_int_equal(resident_padded(47200), 49920);
    assert_int_equal(resident_padded(49152), 49920);
    assert_int_equal(resident_padded(49664), 49920);
    assert_int_equal(resident_padded(49665), 49665);
    assert_int_equal(resident_padded(49700), 49700);
    assert_int_equal(resident_padded(0), 0);
}

static void walk_stops_at_the_first_miss(void **state) {
    (void)state;
    assert_int_equal(synthetic(368), 47104);
    assert_int_equal(synthetic(369), 49920);
    assert_int_equal(synthetic(388), 49920);
    assert_int_equal(synthetic(389), 49792);
    assert_int_equal(resident_max_n(synthetic, 49850, 1, RESIDENT_MAX_ORDER), 368);
    /* At 49,920 the band fits, and so does all up to 390. */
    assert_int_equal(resident_max_n(synthetic, 49920, 1, RESIDENT_MAX_ORDER), 390);
    assert_int_equal(resident_max_n(synthetic, 49850, 1, 100), 100);
    assert_int_equal(resident_max_n(nothing_fits, 49850, 1, RESIDENT_MAX_ORDER), 0);
    assert_int_equal(resident_max_n(synthetic, 0, 1, RESIDENT_MAX_ORDER), 0);
}

static void footprints_are_the_measured_ones(void **state) {
    (void)state;
    assert_int_equal(whole_s(155), 96540);
    assert_int_equal(whole_s(156), 98408);
    assert_int_equal(whole_d(109), 95476);
    assert_int_equal(whole_d(110), 98108);
    assert_int_equal(whole_c(109), 95444);
    assert_int_equal(whole_c(110), 98076);
    assert_int_equal(whole_z(77), 95328);
    assert_int_equal(whole_z(78), 99056);
}

typedef struct {
    size_t (*bytes)(int64_t n);
    size_t budget;
    int min_blocks;
    int64_t n_hi;
    int64_t expected;
} ceiling_t;

static void ceilings_are_pinned(void **state) {
    (void)state;
    static const ceiling_t ceilings[] = {
        /* whole matrix, advertised (4 blocks) and resident (1 block) */
        {whole_s, REFERENCE_BUDGET, 4, 4096, 77},
        {whole_s, REFERENCE_BUDGET, 1, 4096, 155},
        {whole_d, REFERENCE_BUDGET, 4, 4096, 54},
        {whole_d, REFERENCE_BUDGET, 1, 4096, 109},
        {whole_c, REFERENCE_BUDGET, 4, 4096, 54},
        {whole_c, REFERENCE_BUDGET, 1, 4096, 109},
        {whole_z, REFERENCE_BUDGET, 4, 4096, 38},
        {whole_z, REFERENCE_BUDGET, 1, 4096, 77},
        /* other budgets */
        {whole_s, 24320, 1, 4096, 77},
        {whole_s, 45056, 1, 4096, 105},
        {whole_d, 45056, 1, 4096, 74},
        {whole_c, 45056, 1, 4096, 74},
        {whole_z, 45056, 1, 4096, 52},
        {whole_s, 101120, 1, 4096, 158},
        {whole_d, 101120, 1, 4096, 111},
        {whole_c, 101120, 1, 4096, 111},
        {whole_z, 101120, 1, 4096, 79},
        /* panels; their resident orders end at the block's width */
        {panel_s, REFERENCE_BUDGET, 4, 1024, 744},
        {panel_dc, REFERENCE_BUDGET, 4, 1024, 368},
        {panel_z, REFERENCE_BUDGET, 4, 1024, 180},
        {panel_s_16, REFERENCE_BUDGET, 4, 1024, 360},
        {panel_s, REFERENCE_BUDGET, 1, 1024, 1024},
        {panel_dc, REFERENCE_BUDGET, 1, 1024, 1024},
        {panel_z, REFERENCE_BUDGET, 1, 1024, 750},
        /* elements of a panel, for which two blocks are enough: 48,640 lies in the band */
        {elements_s, REFERENCE_BUDGET, 2, 1 << 20, 11776},
        {elements_dc, REFERENCE_BUDGET, 2, 1 << 20, 5888},
        {elements_z, REFERENCE_BUDGET, 2, 1 << 20, 2944},
        {elements_s, REFERENCE_BUDGET, 1, 1 << 20, 24320},
        {elements_dc, REFERENCE_BUDGET, 1, 1 << 20, 12160},
        {elements_z, REFERENCE_BUDGET, 1, 1 << 20, 6080},
    };
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; ++i) {
        const ceiling_t *c = &ceilings[i];
        suite_case("ceiling %zu", i);
        const int64_t n = resident_max_n(c->bytes, c->budget, c->min_blocks, c->n_hi);
        if (n != c->expected)
            suite_fail("expected %lld, got %lld", (long long)c->expected, (long long)n);
    }
}

static void advertised_lies_inside_resident_and_grows_with_the_budget(void **state) {
    (void)state;
    size_t (*const footprints[])(int64_t) = {whole_s, whole_d,  whole_c, whole_z,
                                             panel_s, panel_dc, panel_z};
    for (size_t i = 0; i < sizeof footprints / sizeof *footprints; ++i) {
        const int64_t advertised = resident_max_n(footprints[i], 97280, 4, 4096);
        const int64_t resident = resident_max_n(footprints[i], 97280, 1, 4096);
        assert_true(advertised < resident);
        assert_true(footprints[i](advertised) <= 24320);
        assert_true(footprints[i](advertised + 1) > 24320);
        assert_true(resident_max_n(footprints[i], 101376, 4, 4096) > advertised);
        assert_true(resident_max_n(footprints[i], 101376, 1, 4096) > resident);
    }
}

typedef struct {
    size_t bytes;
    int lanes, max_wg, target, cap, expected;
} packing_t;

static void packing_has_three_limits(void **state) {
    (void)state;
    static const packing_t packings[] = {
        {8192, 32, 1024, 128, 4, 2}, /* local memory */
        {64, 8, 1024, 128, 4, 4},    /* the cap alone: the width admits 16 */
        {64, 8, 1024, 128, 16, 16},  /* cap raised, width admits 16 */
        {64, 8, 1024, 32, 16, 4},    /* the width alone */
        {64, 8, 64, 128, 16, 8},     /* the device's width */
        {4096, 32, 64, 128, 4, 2},   /* the device's width */
        {24320, 32, 1024, 128, 4, 1}, {24321, 32, 1024, 128, 4, 0},
    };
    for (size_t i = 0; i < sizeof packings / sizeof *packings; ++i) {
        const packing_t *p = &packings[i];
        suite_case("packing %zu", i);
        const int pack =
            pack_matrices_per_wg(p->bytes, p->lanes, 24320, p->max_wg, p->target, p->cap);
        if (pack != p->expected)
            suite_fail("expected %d, got %d", p->expected, pack);
    }
}

static void packing_steps_down_where_the_band_overflows(void **state) {
    (void)state;
    /* Two of 24,000 fill 48,000 bytes, which the band raises above this budget. */
    assert_int_equal(pack_matrices_per_wg(24000, 32, 49000, 1024, 128, 4), 1);
    assert_int_equal(pack_matrices_per_wg(24000, 32, 49920, 1024, 128, 4), 2);
}

static void products_do_not_overflow(void **state) {
    (void)state;
    /* (n | 1) n leaves 31 bits at n = 46,341. */
    assert_true(whole_s(46341) > (size_t)4 * 46341 * 46340);
    assert_int_equal(pack_matrices_per_wg((size_t)1 << 40, 32, 24320, 1024, 128, 4), 0);
}

static const struct CMUnitTest tests[] = {
    suite_test(budget_is_memory_less_reserve),
    suite_test(share_divides_the_budget),
    suite_test(band_is_padded_and_nothing_else),
    suite_test(walk_stops_at_the_first_miss),
    suite_test(footprints_are_the_measured_ones),
    suite_test(ceilings_are_pinned),
    suite_test(advertised_lies_inside_resident_and_grows_with_the_budget),
    suite_test(packing_has_three_limits),
    suite_test(packing_steps_down_where_the_band_overflows),
    suite_test(products_do_not_overflow),
};

SUITE_MAIN("resident_capacity", tests, HOST_ONLY)
