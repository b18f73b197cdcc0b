/* SPDX-License-Identifier: BSD-3-Clause */
#include "families.h"
#include "gebp.h"
#include "host_isa.h"
#include "host_tiles.h"

#define BODY "syrk_tiled_body.h"
#include "four_types.h"

typedef struct {
    product_t product;
    int rows; /* of C in a tile */
    int columns;
} plan_t;

/* C := alpha A A^H + beta C, or alpha A^H A + beta C. */
static product_t product_of(const problem_t *p) {
    product_t product = {.m = p->n,
                         .n = p->n,
                         .k = p->k,
                         .alpha = {p->alpha[0], 0.0},
                         .beta = {p->beta[0], 0.0},
                         .A = transposable_view(p->A.ld, p->op_a),
                         .c_row = 1,
                         .c_column = p->C.ld,
                         .fill = p->uplo == BATCHLAS_LOWER ? LOWER_TRIANGLE : UPPER_TRIANGLE};
    product.B = product.A;
    product.B.conjugated = !product.A.conjugated;
    return product;
}

/* The tiles of column tile j that meet the triangle: *count of them, from row tile *first on. */
static void column_of_tiles(const plan_t *plan, int64_t j, int64_t *first, int64_t *count) {
    const int64_t n = plan->product.n, rows = plan->rows, columns = plan->columns;
    const int64_t end = (j + 1) * columns < n ? (j + 1) * columns : n;
    const bool lower = plan->product.fill == LOWER_TRIANGLE;
    *first = lower ? j * columns / rows : 0;
    *count = ((lower ? n : end) + rows - 1) / rows - *first;
}

static void host_tile(const problem_t *p, const void *context, int64_t item, int64_t tile) {
    const plan_t *plan = context;
    int64_t j = 0, first, count;
    column_of_tiles(plan, j, &first, &count);
    while (tile >= count) {
        tile -= count;
        column_of_tiles(plan, ++j, &first, &count);
    }
    const int64_t size = (int64_t)scalar_size(p->type);
    product_t product = plan->product;
    product.A.at = product.B.at = operand_item(&p->A, size, item);
    product.C = operand_item(&p->C, size, item);
    product = product_block(product, size, (first + tile) * plan->rows, j * plan->columns,
                            plan->rows, plan->columns);
    batchlas_gebp(p->type, &product);
}

static void syrk_host(const problem_t *p) {
    plan_t plan = {.product = product_of(p), .rows = gebp_rows(p->type)};
    plan.columns = tile_columns((p->n + plan.rows - 1) / plan.rows * p->batch, p->n);
    int64_t tiles = 0;
    for (int64_t j = 0; j * plan.columns < p->n; ++j) {
        int64_t first, count;
        column_of_tiles(&plan, j, &first, &count);
        tiles += count;
    }
    const double multiply_adds = 0.5 * p->n * (double)p->n * p->k * (double)p->batch;
    for_each_tile(p, tiles, multiply_adds, host_tile, &plan);
}

LAUNCH(batchlas_syrk_tiled) {
    (void)workspace;
    if (!h->facts.is_gpu) {
        syrk_host(problem);
        return BATCHLAS_SUCCESS;
    }
    const product_t product = product_of(problem);
    switch (problem->type) {
    case TYPE_S:
        syrk_device_s(problem, &product, h->device);
        break;
    case TYPE_D:
        syrk_device_d(problem, &product, h->device);
        break;
    case TYPE_C:
        syrk_device_c(problem, &product, h->device);
        break;
    case TYPE_Z:
        syrk_device_z(problem, &product, h->device);
        break;
    }
    return BATCHLAS_SUCCESS;
}
