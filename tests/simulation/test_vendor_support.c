/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels around the vendors' calls, on the simulated device: against plain loops. */
#include "harness/grid.h"
#include "harness/reference.h"

#include "simulation/control.h"
#include "vendor_support.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const int orders[] = {1, 2, 3, 6, 33, 70};
enum { ITEMS = 3 };

static void expect_launched(int error) {
    if (error)
        suite_fail("error %d: %s", error, simulation_fault() ? simulation_fault() : "");
}

static void for_matrices(void (*visit)(scalar_type_t, batchlas_uplo_t, int)) {
    EACH(type, types)
    EACH(uplo, triangles)
    EACH(n, orders) {
        suite_case("%c, %s, n %d", scalar_letter(types[type_index]),
                   triangles[uplo_index] == BATCHLAS_LOWER ? "lower" : "upper", orders[n_index]);
        visit(types[type_index], triangles[uplo_index], orders[n_index]);
    }
}

/* Other values in between come and go. */
static void save_and_restore(scalar_type_t type, batchlas_uplo_t uplo, int n) {
    const region_t strict = uplo == BATCHLAS_LOWER ? STRICT_LOWER_TRIANGLE : STRICT_UPPER_TRIANGLE;
    matrices_t A = matrices_dense(type, n, n, ITEMS, PADDED, strict, 1);
    matrices_t other = matrices_dense(type, n, n, ITEMS, PADDED, strict, 50);
    void *packed = device_alloc((size_t)(n * (n - 1) / 2) * ITEMS * scalar_size(type));
    operand_t operand = matrices_strided(&A);
    expect_launched(batchlas_vendor_save_triangle(NULL, type, uplo, n, operand, ITEMS, packed));
    expect_launched(batchlas_vendor_copy_triangle(NULL, type, uplo, n, matrices_strided(&other),
                                                  operand, ITEMS));
    expect_launched(batchlas_vendor_restore_triangle(NULL, type, uplo, n, operand, ITEMS, packed));
    matrices_get(&A);
    matrices_t kept = matrices_dense(type, n, n, ITEMS, PADDED, strict, 1);
    matrices_get(&kept);
    suite_expect(items_agree(&A, &kept, NULL));
    matrices_free(&kept);
    matrices_free(&A);
    matrices_free(&other);
    device_free(packed);
}

static void saved_triangles_come_back(void **state) {
    (void)state;
    for_matrices(save_and_restore);
}

static void copy_triangle(scalar_type_t type, batchlas_uplo_t uplo, int n) {
    matrices_t from = matrices_dense(type, n, n, ITEMS, PADDED, ALL, 1);
    matrices_t to = matrices_dense(type, n, n, ITEMS, PADDED, triangle_of(uplo), 50);
    matrices_t expected = matrices_dense(type, n, n, ITEMS, PADDED, triangle_of(uplo), 1);
    expect_launched(batchlas_vendor_copy_triangle(NULL, type, uplo, n, matrices_strided(&from),
                                                  matrices_strided(&to), ITEMS));
    matrices_get(&from);
    matrices_get(&to);
    matrices_get(&expected);
    suite_expect(matrices_are_untouched(&from));
    suite_expect(padding_is_untouched(&to));
    suite_expect(items_agree(&to, &expected, NULL));
    matrices_free(&from);
    matrices_free(&to);
    matrices_free(&expected);
}

static void copied_triangles_are_the_triangles_alone(void **state) {
    (void)state;
    for_matrices(copy_triangle);
}

/* Diagonals become real; a pivot that is not positive is info, the vendor's word included. */
static void settle(scalar_type_t type, batchlas_uplo_t uplo, int n) {
    matrices_t factor = matrices_dense(type, n, n, ITEMS, PADDED, triangle_of(uplo), 1);
    for (int i = 0; i < ITEMS; ++i)
        for (int j = 0; j < n; ++j)
            matrices_set_element(&factor, i, j, j, (wide_t){1 + j, 0.5L});
    matrices_set_element(&factor, 1, n / 2, n / 2, (wide_t){-1, 0});
    matrices_put(&factor);
    ints_t vendor_info = ints_make(ITEMS), info = ints_make(ITEMS);
    const int from_vendor[ITEMS] = {0, 0, 1}, expected[ITEMS] = {0, n / 2 + 1, 1};
    device_put(vendor_info.device, from_vendor, sizeof from_vendor);
    expect_launched(batchlas_vendor_settle(NULL, type, n, matrices_strided(&factor),
                                           vendor_info.device, 0, info.device, ITEMS));
    matrices_get(&factor);
    ints_get(&info);
    suite_expect(ints_are(&info, expected));
    for (int i = 0; i < ITEMS; ++i)
        for (int j = 0; j < n; ++j)
            if (matrices_element(&factor, i, j, j).im != 0)
                suite_fail("item %d has a complex diagonal", i);
    matrices_free(&factor);
    ints_free(&vendor_info);
    ints_free(&info);
}

static void settling_makes_diagonals_real_and_info_exact(void **state) {
    (void)state;
    for_matrices(settle);
}

/* One block of the diagonal, as wide as the matrix. */
static void add_products(scalar_type_t type, batchlas_uplo_t uplo, int n) {
    const bool lower = uplo == BATCHLAS_LOWER;
    matrices_t C = matrices_dense(type, n, n, ITEMS, PADDED, triangle_of(uplo), 1);
    matrices_t products = matrices_dense(type, n, n, ITEMS, TIGHT, ALL, 50);
    wide_t *values = host_alloc((size_t)n * (size_t)n, sizeof *values);
    matrices_get(&products);
    matrices_get(&C);
    wide_t *before = host_alloc((size_t)n * (size_t)n, sizeof *before);
    for (int i = 0; i < ITEMS; ++i) {
        matrices_item(&C, i, before);
        matrices_item(&products, i, values);
        expect_launched(batchlas_vendor_add_triangles(
            NULL, type, uplo, n, n, operand_from_item(matrices_strided(&products), i, type), 0.5,
            operand_from_item(matrices_strided(&C), i, type), 1));
        matrices_get(&C);
        suite_expect(padding_is_untouched(&C));
        for (int column = 0; column < n; ++column)
            for (int row = lower ? column : 0; row < (lower ? n : column + 1); ++row) {
                const wide_t b = before[row + column * n], p = values[row + column * n];
                const wide_t sum = round_to(type, (wide_t){p.re + 0.5L * b.re, p.im + 0.5L * b.im});
                const wide_t found = matrices_element(&C, i, row, column);
                if (found.re != sum.re || found.im != (row == column ? 0 : sum.im))
                    suite_fail("item %d, (%d, %d): %Lg instead of %Lg", i, row, column, found.re,
                               sum.re);
            }
    }
    free(values);
    free(before);
    matrices_free(&C);
    matrices_free(&products);
}

static void products_are_added_to_the_triangle_alone(void **state) {
    (void)state;
    for_matrices(add_products);
}

static void pointers_lead_to_the_items_that_are_not_passed_over(void **state) {
    (void)state;
    enum { BLOCKS = 4, STEP = 7 };
    matrices_t A = matrices_dense(TYPE_D, 6, 6, ITEMS, PADDED, ALL, 1);
    ints_t skip = ints_make(ITEMS);
    const int skipped[ITEMS] = {0, 3, 0};
    device_put(skip.device, skipped, sizeof skipped);
    char *const instead = (char *)A.device;
    void **const pointers = device_alloc(ITEMS * BLOCKS * sizeof *pointers);
    const operand_t operand = operand_at(matrices_strided(&A), 1, 0);
    expect_launched(batchlas_vendor_pointers(NULL, TYPE_D, operand, STEP, BLOCKS, skip.device,
                                             instead, ITEMS, pointers));
    void *found[ITEMS * BLOCKS];
    device_get(found, pointers, sizeof found);
    for (int i = 0; i < ITEMS; ++i)
        for (int b = 0; b < BLOCKS; ++b) {
            const char *const expected =
                skipped[i] ? instead
                           : (char *)operand.base +
                                 (i * operand.stride + 1 + b * STEP) * (int64_t)sizeof(double);
            if (found[i * BLOCKS + b] != expected)
                suite_fail("item %d, block %d", i, b);
        }
    device_free(pointers);
    matrices_free(&A);
    ints_free(&skip);
}

static const struct CMUnitTest tests[] = {
    suite_test(saved_triangles_come_back),
    suite_test(copied_triangles_are_the_triangles_alone),
    suite_test(settling_makes_diagonals_real_and_info_exact),
    suite_test(products_are_added_to_the_triangle_alone),
    suite_test(pointers_lead_to_the_items_that_are_not_passed_over),
};

SUITE_MAIN("vendor support", tests, GPU_ONLY)
