/* SPDX-License-Identifier: BSD-3-Clause */
/* The vendor's call for tile `tile` of item `item`, for one type. */

#if IS_COMPLEX
#define ARGUMENT(scalar) (&(scalar))
#else
#define ARGUMENT(scalar) (scalar)
#endif

static void NAME(potrf_item)(const problem_t *p, const void *plan, int64_t item, int64_t tile) {
    (void)plan;
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

/* A triangular matrix as the vendor shall see it. */
typedef struct {
    const T *at;
    int ld;
    T *copy; /* to be freed */
} NAME(triangle);

/* The triangle of order n at `a`. The vendor would use the imaginary parts of its diagonal: where
 * they do not count and are not 0, which potrf never leaves, it gets a copy. */
static bool NAME(open_triangle)(const problem_t *p, int n, int64_t item,
                                NAME(triangle) * triangle) {
    const T *a = ITEM(p->A, item);
    const int64_t ld = p->A.ld;
    *triangle = (NAME(triangle)){a, p->A.ld, NULL};
#if IS_COMPLEX
    bool is_real = true;
    for (int j = 0; p->real_diagonal && j < n; ++j)
        is_real = is_real && __imag__ a[j * (ld + 1)] == 0;
    if (is_real)
        return true;
    T *copy = malloc((size_t)n * (size_t)n * sizeof(T));
    if (!copy)
        return false;
    for (int j = 0; j < n; ++j) {
        const int first = p->uplo == BATCHLAS_LOWER ? j : 0;
        const int last = p->uplo == BATCHLAS_LOWER ? n : j + 1;
        for (int i = first; i < last; ++i)
            copy[i + (int64_t)j * n] = a[i + j * ld];
        copy[j + (int64_t)j * n] = FROM_REAL(REAL(a[j * (ld + 1)]));
    }
    *triangle = (NAME(triangle)){copy, n, copy};
#else
    (void)n;
    (void)ld;
#endif
    return true;
}

static void NAME(potrs_tile)(const problem_t *p, const void *plan, int64_t item, int64_t tile) {
    NAME(triangle) A;
    if (!NAME(open_triangle)(p, p->n, item, &A)) {
        report_out_of_memory(plan);
        return;
    }
    const range_t columns = tile_range(tile, p->nrhs);
    LAPACKE_POTRS(LAPACK_COL_MAJOR, uplo_letter(p->uplo), p->n, columns.length, A.at, A.ld,
                  ITEM(p->B, item) + (int64_t)columns.first * p->B.ld, p->B.ld);
    free(A.copy);
}

static void NAME(trsm_tile)(const problem_t *p, const void *plan, int64_t item, int64_t tile) {
    const bool left = p->side == BATCHLAS_LEFT;
    NAME(triangle) A;
    if (!NAME(open_triangle)(p, left ? p->m : p->n, item, &A)) {
        report_out_of_memory(plan);
        return;
    }
    const range_t range = tile_range(tile, left ? p->n : p->m);
    const T alpha = SCALAR(p->alpha);
    CBLAS_TRSM(CblasColMajor, left ? CblasLeft : CblasRight, cblas_uplo(p->uplo), cblas_op(p->op_a),
               p->diag == BATCHLAS_UNIT ? CblasUnit : CblasNonUnit, left ? p->m : range.length,
               left ? range.length : p->n, ARGUMENT(alpha), A.at, A.ld,
               ITEM(p->B, item) + (left ? (int64_t)range.first * p->B.ld : range.first), p->B.ld);
    free(A.copy);
}

/* Where op(A)'s row `row` begins. */
static inline const T *NAME(row_of)(const T *a, int ld, batchlas_op_t op, int row) {
    return a + (op == BATCHLAS_NO_TRANS ? row : (int64_t)row * ld);
}

/* Where op(B)'s column `column` begins. */
static inline const T *NAME(column_of)(const T *b, int ld, batchlas_op_t op, int column) {
    return b + (op == BATCHLAS_NO_TRANS ? (int64_t)column * ld : column);
}

static void NAME(gemm_tile)(const problem_t *p, const void *plan, int64_t item, int64_t tile) {
    (void)plan;
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
static void NAME(syrk_tile)(const problem_t *p, const void *plan, int64_t item, int64_t tile) {
    (void)plan;
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
