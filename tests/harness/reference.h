/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeded matrices, textbook references in wide arithmetic, and the checks of every item against
 * them. Matrices here are column-major without padding. */
#ifndef BATCHLAS_TESTS_REFERENCE_H
#define BATCHLAS_TESTS_REFERENCE_H

#include "harness/matrices.h"

/* ---- matrices ------------------------------------------------------------------------------ */

/* Hermitian n by n. The first nine are those of LAPACK's test program for potrf. */
typedef enum {
    DIAGONAL,
    RANDOM_CONDITION_2,
    ZERO_FIRST,     /* row and column 0 are zero: info 1 */
    ZERO_LAST,      /* info n */
    ZERO_MIDDLE,    /* info n/2 + 1 */
    CONDITION_ROOT, /* sqrt(0.1 / eps) */
    CONDITION_BAD,  /* 0.1 / eps */
    NEAR_UNDERFLOW,
    NEAR_OVERFLOW,
    GRAM,   /* G G^H / k + I / 4 */
    MATERN, /* covariances of points in the unit square, smoothness 3/2 */
    KIND_COUNT
} kind_t;

enum { LAPACK_KIND_COUNT = NEAR_OVERFLOW + 1 };

/* A, both triangles, its elements values of the type. */
void generate(kind_t kind, scalar_type_t type, int n, uint64_t seed, wide_t *A);
/* Elements in [-1, 1], in both parts for the complex types. */
void generate_dense(scalar_type_t type, int rows, int columns, uint64_t seed, wide_t *M);
/* A batch of these on the device, among finite padding; item i has the seed `seed + i`. */
matrices_t matrices_dense(scalar_type_t type, int rows, int columns, int64_t batch, layout_t layout,
                          region_t region, uint64_t seed);
/* Changes a_pp alone so that the pivot there is clearly negative: for p > 0 with a_pp still
 * positive, so that nothing but the updated diagonal tells. A's leading minors are positive. */
void plant_failure(scalar_type_t type, int n, wide_t *A, int p);

/* ---- references ---------------------------------------------------------------------------- */

/* A = L L^H, unblocked, in the lower triangle; the other one becomes 0. Returns info. */
int reference_potrf(int n, wide_t *A);
/* X := (L L^H)^-1 X, X n by columns. */
void reference_potrs(int n, int columns, const wide_t *L, wide_t *X);
/* L L^H, both triangles. */
void reference_product(int n, const wide_t *L, wide_t *A);
/* C := alpha op(A) op(B) + beta C, and the same with absolute values (1-norms of the parts) in
 * `magnitude`; with beta 0 C is not read, with alpha 0 neither are A and B. */
void reference_gemm(batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k, wide_t alpha,
                    const wide_t *A, const wide_t *B, wide_t beta, wide_t *C,
                    long double *magnitude);
long double norm1(int rows, int columns, const wide_t *A);
wide_t wide_multiply(wide_t a, wide_t b);

/* ---- problem sets -------------------------------------------------------------------------- */

/* The hashes of factors that were right: the same bits, from another family say, need not be judged
 * again. */
enum { REMEMBERED = 4 };
typedef struct {
    uint64_t hash[REMEMBERED];
    int count;
} right_factors_t;

/* `distinct` matrices with their reference factors; item i of a batch is matrix i % distinct. */
typedef struct {
    scalar_type_t type;
    int n, distinct;
    wide_t *A;
    wide_t *L;
    int *info;
    kind_t *kind;

    bool has_condition;
    long double *norm, *rcond; /* of A, in the 1-norm */
    right_factors_t *right[2]; /* of each matrix, by triangle */
} spd_t;

/* Matrix i is of kind kinds[i % kind_count]. */
spd_t spd_make(scalar_type_t type, int n, int distinct, const kind_t *kinds, int kind_count,
               uint64_t seed);
/* Factors anew, after matrices were changed. */
void spd_factor(spd_t *s);
/* Rounds the factors to the type and takes their products for the matrices, so that a solve with
 * these factors is judged by itself. */
void spd_round_factors(spd_t *s);
/* `distinct` copies of the first matrix of s. */
spd_t spd_repeat(const spd_t *s, int distinct);
void spd_free(spd_t *s);
wide_t *spd_matrix(const spd_t *s, int64_t item);
/* The reference's info for every item of a batch, to be freed. */
int *spd_infos(const spd_t *s, int64_t batch);
/* Sets every item of m to its matrix; m's layout decides where. */
void spd_set(const spd_t *s, matrices_t *m);

/* Sets every item of m to its factor, L or L^H. */
void spd_set_factors(const spd_t *s, batchlas_uplo_t uplo, matrices_t *m);

/* Right-hand sides with known solutions: B = A X0 rounded, for the matrices of an spd_t. */
typedef struct {
    const spd_t *spd;
    int nrhs;
    wide_t *B, *X0;
    const long double *norm, *rcond; /* the spd_t's */
} systems_t;

systems_t systems_make(spd_t *s, int nrhs, uint64_t seed);
void systems_free(systems_t *systems);
void systems_set(const systems_t *systems, matrices_t *B);

/* ---- checks -------------------------------------------------------------------------------- */

/* Every check looks at every item; a NaN anywhere is a failure. Items whose reference info is not 0
 * are passed over. Items of one matrix must be the same bits. */

/* norm1(L L^H - A) / (n norm1(A) eps) <= 30, a real diagonal, and for kinds of condition 2
 * Demmel's elementwise bound against the reference's factor. */
verdict_t factors_are_right(const matrices_t *factors, batchlas_uplo_t uplo, const spd_t *s);
/* Over all columns norm1(b - A x) / (norm1(A) norm1(x) eps) <= 30 and
 * norm_inf(x - x0) rcond / (norm_inf(x0) eps) <= 30. */
verdict_t solutions_are_right(const matrices_t *X, const systems_t *systems);
/* Every element that counts within `terms` roundings of its magnitude. */
verdict_t elements_are_near(const matrices_t *C, int64_t item, const wide_t *expected,
                            const long double *magnitude, int terms);

/* The largest value so far of each check's ratio is printed when the suite ends. */
void print_worst_ratios(void);

#endif
