/* SPDX-License-Identifier: BSD-3-Clause */
/* syrk, or herk, on the device for one type. */
#include "register_tile_body.h"

/* A lower triangle needs `groups - g` tiles down its column group g, an upper one g + 1. Groups g
 * and groups - 1 - g together need groups + 1, so pairs of them make a rectangle. */
static void NAME(syrk_device)(const problem_t *problem, const product_t *product, int device) {
    const problem_t p = *problem;
    const product_t common = *product;
    const int64_t groups = (p.n + REGISTER_TILE - 1) / REGISTER_TILE;
    const int64_t tiles = (groups + 1) / 2 * (groups + 1);
    const int64_t total = tiles * p.batch;
#pragma omp target teams distribute parallel for device(device) firstprivate(p, common)
    for (int64_t t = 0; t < total; ++t) {
        const int64_t item = t / tiles, pair = t % tiles / (groups + 1);
        int64_t lane = t % tiles % (groups + 1), lanes = groups - pair;
        if (lane >= lanes) {
            lane -= lanes;
            lanes = pair + 1;
            if (2 * pair + 1 == groups) /* the middle group would be its own partner */
                continue;
        }
        if (p.skip && p.skip[item])
            continue;
        product_t here = common;
        here.A.at = here.B.at = ITEM(p.A, item);
        here.C = ITEM(p.C, item);
        const bool lower = p.uplo == BATCHLAS_LOWER;
        const int64_t column = (lower ? groups - lanes : lanes - 1) * REGISTER_TILE;
        NAME(register_tile)(&here, (lower ? column : 0) + lane, lanes, column);
    }
}
