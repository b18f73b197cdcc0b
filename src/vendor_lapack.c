/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's vendor families: LAPACK and BLAS, one single-threaded call for each item, or for each
 * tile of a large one. Tiles have a fixed size, so that bits depend on no number of threads. */
#include "families.h"
#include "host_blas_threads.h"
#include "host_tiles.h"
#include "tuning_constants.h"

#include <cblas.h>
#include <lapacke.h>

static inline int64_t tiles_in(int extent) {
    return (extent + VENDOR_TILE - 1) / VENDOR_TILE;
}

/* The part of 0 .. extent - 1 that tile `tile` covers. */
typedef struct {
    int first;
    int length;
} range_t;

static inline range_t tile_range(int64_t tile, int extent) {
    const int first = (int)tile * VENDOR_TILE;
    return (range_t){first, extent - first < VENDOR_TILE ? extent - first : VENDOR_TILE};
}

static inline char uplo_letter(batchlas_uplo_t uplo) {
    return uplo == BATCHLAS_LOWER ? 'L' : 'U';
}

static inline CBLAS_UPLO cblas_uplo(batchlas_uplo_t uplo) {
    return uplo == BATCHLAS_LOWER ? CblasLower : CblasUpper;
}

static inline CBLAS_TRANSPOSE cblas_op(batchlas_op_t op) {
    return op == BATCHLAS_NO_TRANS ? CblasNoTrans
           : op == BATCHLAS_TRANS  ? CblasTrans
                                   : CblasConjTrans;
}

/* Tile `tile` of a triangle of tiles, counted from its corner: near <= far. */
typedef struct {
    int64_t far, near;
} triangle_tile_t;

static inline triangle_tile_t triangle_tile(int64_t tile) {
    int64_t far = 0;
    while (tile > far)
        tile -= ++far;
    return (triangle_tile_t){far, tile};
}

/* LAPACKE_dpotrf_work, cblas_dgemm, ... of the body's type. */
#define VENDOR_OF(prefix, letter, f)   prefix##letter##f
#define VENDOR_WITH(prefix, letter, f) VENDOR_OF(prefix, letter, f)
#define VENDOR(prefix, f)              VENDOR_WITH(prefix, LETTER, f)
#define LAPACKE_POTRF                  VENDOR(LAPACKE_, potrf_work)
#define LAPACKE_POTRS                  VENDOR(LAPACKE_, potrs_work)
#define CBLAS_TRSM                     VENDOR(cblas_, trsm)
#define CBLAS_GEMM                     VENDOR(cblas_, gemm)
#define CBLAS_SYRK                     VENDOR(cblas_, syrk)
#define CBLAS_HERK                     VENDOR(cblas_, herk)

#define BODY "vendor_lapack_body.h"
#include "four_types.h"

#define FOUR_TYPES(f) ((tile_function_t *const[4]){f##_s, f##_d, f##_c, f##_z})

static batchlas_status_t for_each(batchlas_handle_t h, const problem_t *p, int64_t tiles,
                                  double multiply_adds, tile_function_t *const function[4]) {
    batchlas_blas_threads_hold();
    for_each_tile(p, tiles, multiply_adds, function[p->type], h);
    batchlas_blas_threads_release();
    return BATCHLAS_SUCCESS;
}

LAUNCH(batchlas_potrf_lapack) {
    const double n = problem->n;
    (void)workspace;
    return for_each(h, problem, 1, problem->batch * n * n * n / 6, FOUR_TYPES(potrf_item));
}

LAUNCH(batchlas_potrs_lapack) {
    const double n = problem->n;
    (void)workspace;
    return for_each(h, problem, tiles_in(problem->nrhs), problem->batch * n * n * problem->nrhs,
                    FOUR_TYPES(potrs_tile));
}

LAUNCH(batchlas_trsm_cblas) {
    const bool left = problem->side == BATCHLAS_LEFT;
    const double order = left ? problem->m : problem->n;
    const int solves = left ? problem->n : problem->m;
    (void)workspace;
    return for_each(h, problem, tiles_in(solves), problem->batch * order * order / 2 * solves,
                    FOUR_TYPES(trsm_tile));
}

LAUNCH(batchlas_gemm_cblas) {
    const double m = problem->m;
    (void)workspace;
    return for_each(h, problem, tiles_in(problem->m) * tiles_in(problem->n),
                    problem->batch * m * problem->n * problem->k, FOUR_TYPES(gemm_tile));
}

LAUNCH(batchlas_syrk_cblas) {
    const double n = problem->n;
    const int64_t tiles = tiles_in(problem->n);
    (void)workspace;
    return for_each(h, problem, tiles * (tiles + 1) / 2, problem->batch * n * n / 2 * problem->k,
                    FOUR_TYPES(syrk_tile));
}
