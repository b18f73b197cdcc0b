/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm on the device for one type. */
#include "register_tile_body.h"

static void NAME(gemm_device)(const problem_t *problem, const product_t *product, int device) {
    const problem_t p = *problem;
    const product_t common = *product;
    const int64_t lanes = (p.m + REGISTER_TILE - 1) / REGISTER_TILE;
    const int64_t tiles = lanes * ((p.n + REGISTER_TILE - 1) / REGISTER_TILE);
    const int64_t total = tiles * p.batch;
#pragma omp target teams distribute parallel for device(device) firstprivate(p, common)
    for (int64_t t = 0; t < total; ++t) {
        const int64_t item = t / tiles, tile = t % tiles;
        if (p.skip && p.skip[item])
            continue;
        product_t here = common;
        here.A.at = ITEM(p.A, item);
        here.B.at = ITEM(p.B, item);
        here.C = ITEM(p.C, item);
        NAME(register_tile)(&here, tile % lanes, lanes, tile / lanes * REGISTER_TILE);
    }
}
