/* SPDX-License-Identifier: BSD-3-Clause */
#include "families.h"
#include "gebp.h"
#include "host_isa.h"
#include "host_tiles.h"

#define BODY "gemm_tiled_body.h"
#include "four_types.h"

typedef struct {
    product_t product;
    int columns; /* of C in a tile; its rows are gebp's */
    int64_t row_tiles;
} plan_t;

static product_t product_of(const problem_t *p) {
    product_t product = {.m = p->m,
                         .n = p->n,
                         .k = p->k,
                         .alpha = {p->alpha[0], p->alpha[1]},
                         .beta = {p->beta[0], p->beta[1]},
                         .A = transposable_view(p->A.ld, p->op_a),
                         .B = transposable_view(p->B.ld, p->op_b),
                         .c_row = 1,
                         .c_column = p->C.ld};
    /* The product is with B^T, so B's view takes its rows for columns. */
    const int64_t row = product.B.row;
    product.B.row = product.B.column;
    product.B.column = row;
    return product;
}

static void host_tile(const problem_t *p, const void *context, int64_t item, int64_t tile) {
    const plan_t *plan = context;
    const int64_t size = (int64_t)scalar_size(p->type);
    product_t product = plan->product;
    product.A.at = operand_item(&p->A, size, item);
    product.B.at = operand_item(&p->B, size, item);
    product.C = operand_item(&p->C, size, item);
    const int rows = gebp_rows(p->type);
    product = product_block(product, size, tile % plan->row_tiles * rows,
                            tile / plan->row_tiles * plan->columns, rows, plan->columns);
    batchlas_gebp(p->type, &product);
}

static void gemm_host(const problem_t *p) {
    const int rows = gebp_rows(p->type);
    plan_t plan = {.product = product_of(p), .row_tiles = (p->m + rows - 1) / rows};
    plan.columns = tile_columns(plan.row_tiles * p->batch, p->n);
    const int64_t tiles = plan.row_tiles * ((p->n + plan.columns - 1) / plan.columns);
    const double multiply_adds = (double)p->m * p->n * p->k * (double)p->batch;
    for_each_tile(p, tiles, multiply_adds, host_tile, &plan);
}

LAUNCH(batchlas_gemm_tiled) {
    (void)workspace;
    if (!h->facts.is_gpu) {
        gemm_host(problem);
        return BATCHLAS_SUCCESS;
    }
    const product_t product = product_of(problem);
    switch (problem->type) {
    case TYPE_S:
        gemm_device_s(problem, &product, h->device);
        break;
    case TYPE_D:
        gemm_device_d(problem, &product, h->device);
        break;
    case TYPE_C:
        gemm_device_c(problem, &product, h->device);
        break;
    case TYPE_Z:
        gemm_device_z(problem, &product, h->device);
        break;
    }
    return BATCHLAS_SUCCESS;
}
