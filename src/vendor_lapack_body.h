/* SPDX-License-Identifier: BSD-3-Clause */
/* The vendor's call for tile `tile` of item `item`, for one type. */

#if IS_COMPLEX
#define ARGUMENT(scalar) (&(scalar))
#else
#define ARGUMENT(scalar) (scalar)
#endif

static void NAME(potrf_item)(const problem_t *p, const void *handle, int64_t item, int64_t tile) {
    (void)handle;
    (void)tile;
    if (p->info_base > 0 && p->info[item])
        return;
    T *a = ITEM(p->A, item);
    const int64_t next = (int64_t)p->A.ld + 1;
#if IS_COMPLEX
    for (int j = 0; j < p->n; ++j)
        a[j * next] = FROM_REAL(REAL(a[j * next]));
#endif
    int info = LAPACKE_POTRF(LAPACK_COL_MAJOR, uplo_letter(p->uplo), p->n, a, p->A.ld);
    /* OpenBLAS does not stop at a NaN. */
    const int passed = info > 0 ? info - 1 : p->n;
    for (int j = 0; j < passed; ++j)
        if (!(REAL(a[j * next]) > 0)) {
            info = j + 1;
            break;
        }
    if (p->info && (p->info_base == 0 || info))
        p->info[item] = info ? p->info_base + info : 0;
}

/* Whether the vendor, which would use the imaginary parts of A's diagonal, may see it: where they
 * do not count they have to be 0, as potrf leaves them. */
static bool NAME(has_vendor_diagonal)(const problem_t *p, int n, int64_t item) {
    bool is_real = true;
#if IS_COMPLEX
    const T *a = ITEM(p->A, item);
    for (int j = 0; p->real_diagonal && j < n; ++j)
        is_real = is_real && __imag__ a[j * ((int64_t)p->A.ld + 1)] == 0;
#else
    (void)p, (void)n, (void)item;
#endif
    return is_real;
}

/* One item of a trsm by the library's own kernel. */
static void NAME(native_trsm)(batchlas_handle_t h, problem_t trsm, int64_t item) {
    trsm.A = operand_from_item(trsm.A, item, trsm.type);
    trsm.B = operand_from_item(trsm.B, item, trsm.type);
    trsm.skip = NULL;
    trsm.batch = 1;
    batchlas_trsm_tiled(h, &trsm, NULL);
}

static void NAME(potrs_tile)(const problem_t *p, const void *handle, int64_t item, int64_t tile) {
    const bool lower = p->uplo == BATCHLAS_LOWER;
    const range_t columns = tile_range(tile, p->nrhs);
    if (NAME(has_vendor_diagonal)(p, p->n, item)) {
        LAPACKE_POTRS(LAPACK_COL_MAJOR, uplo_letter(p->uplo), p->n, columns.length,
                      ITEM(p->A, item), p->A.ld,
                      ITEM(p->B, item) + (int64_t)columns.first * p->B.ld, p->B.ld);
        return;
    }
    for (int pass = 0; pass < 2; ++pass) {
        problem_t trsm = *p;
        trsm.side = BATCHLAS_LEFT;
        trsm.op_a = lower == (pass == 0) ? BATCHLAS_NO_TRANS : BATCHLAS_CONJ_TRANS;
        trsm.diag = BATCHLAS_NON_UNIT;
        trsm.m = p->n;
        trsm.n = columns.length;
        trsm.alpha[0] = 1.0;
        trsm.B = operand_at(p->B, 0, columns.first);
        NAME(native_trsm)((batchlas_handle_t)(uintptr_t)handle, trsm, item);
    }
}

static void NAME(trsm_tile)(const problem_t *p, const void *handle, int64_t item, int64_t tile) {
    const bool left = p->side == BATCHLAS_LEFT;
    const range_t range = tile_range(tile, left ? p->n : p->m);
    const int m = left ? p->m : range.length;
    const int n = left ? range.length : p->n;
    const operand_t B = left ? operand_at(p->B, 0, range.first) : operand_at(p->B, range.first, 0);
    if (NAME(has_vendor_diagonal)(p, left ? p->m : p->n, item)) {
        const T alpha = SCALAR(p->alpha);
        CBLAS_TRSM(CblasColMajor, left ? CblasLeft : CblasRight, cblas_uplo(p->uplo),
                   cblas_op(p->op_a), p->diag == BATCHLAS_UNIT ? CblasUnit : CblasNonUnit, m, n,
                   ARGUMENT(alpha), ITEM(p->A, item), p->A.ld, ITEM(B, item), p->B.ld);
        return;
    }
    problem_t trsm = *p;
    trsm.m = m;
    trsm.n = n;
    trsm.B = B;
    NAME(native_trsm)((batchlas_handle_t)(uintptr_t)handle, trsm, item);
}

/* Where op(A)'s row `row` begins. */
static inline const T *NAME(row_of)(const T *a, int ld, batchlas_op_t op, int row) {
    return a + (op == BATCHLAS_NO_TRANS ? row : (int64_t)row * ld);
}

/* Where op(B)'s column `column` begins. */
static inline const T *NAME(column_of)(const T *b, int ld, batchlas_op_t op, int column) {
    return b + (op == BATCHLAS_NO_TRANS ? (int64_t)column * ld : column);
}

static void NAME(gemm_tile)(const problem_t *p, const void *handle, int64_t item, int64_t tile) {
    (void)handle;
    const range_t rows = tile_range(tile % tiles_in(p->m), p->m);
    const range_t columns = tile_range(tile / tiles_in(p->m), p->n);
    const T alpha = SCALAR(p->alpha);
    const T beta = SCALAR(p->beta);
    /* Not every BLAS leaves A and B alone where alpha is 0. */
    const int k = alpha == 0 ? 0 : p->k;
    CBLAS_GEMM(CblasColMajor, cblas_op(p->op_a), cblas_op(p->op_b), rows.length, columns.length, k,
               ARGUMENT(alpha), NAME(row_of)(ITEM(p->A, item), p->A.ld, p->op_a, rows.first),
               p->A.ld, NAME(column_of)(ITEM(p->B, item), p->B.ld, p->op_b, columns.first), p->B.ld,
               ARGUMENT(beta), ITEM(p->C, item) + rows.first + (int64_t)columns.first * p->C.ld,
               p->C.ld);
}

/* A tile on the diagonal is a syrk or herk; any other, a gemm. */
static void NAME(syrk_tile)(const problem_t *p, const void *handle, int64_t item, int64_t tile) {
    (void)handle;
    const triangle_tile_t at = triangle_tile(tile);
    const bool lower = p->uplo == BATCHLAS_LOWER;
    const range_t rows = tile_range(lower ? at.far : at.near, p->n);
    const range_t columns = tile_range(lower ? at.near : at.far, p->n);
    const T *a = ITEM(p->A, item);
    const T *a_rows = NAME(row_of)(a, p->A.ld, p->op_a, rows.first);
    const T *a_columns = NAME(row_of)(a, p->A.ld, p->op_a, columns.first);
    T *c = ITEM(p->C, item) + rows.first + (int64_t)columns.first * p->C.ld;
    const T alpha = SCALAR(p->alpha);
    const T beta = SCALAR(p->beta);
    const batchlas_op_t transposed = IS_COMPLEX ? BATCHLAS_CONJ_TRANS : BATCHLAS_TRANS;
    if (rows.first != columns.first) {
        const bool plain = p->op_a == BATCHLAS_NO_TRANS;
        CBLAS_GEMM(CblasColMajor, cblas_op(p->op_a),
                   cblas_op(plain ? transposed : BATCHLAS_NO_TRANS), rows.length, columns.length,
                   p->k, ARGUMENT(alpha), a_rows, p->A.ld, a_columns, p->A.ld, ARGUMENT(beta), c,
                   p->C.ld);
        return;
    }
#if IS_COMPLEX
    for (int j = 0; j < columns.length; ++j)
        c[j * ((int64_t)p->C.ld + 1)] = FROM_REAL(REAL(c[j * ((int64_t)p->C.ld + 1)]));
    CBLAS_HERK(CblasColMajor, cblas_uplo(p->uplo), cblas_op(p->op_a), rows.length, p->k,
               REAL(alpha), a_rows, p->A.ld, REAL(beta), c, p->C.ld);
#else
    CBLAS_SYRK(CblasColMajor, cblas_uplo(p->uplo), cblas_op(p->op_a), rows.length, p->k, alpha,
               a_rows, p->A.ld, beta, c, p->C.ld);
#endif
}

#undef ARGUMENT
