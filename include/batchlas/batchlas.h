/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batchlas: batched dense solvers for OpenMP codes, on NVIDIA GPUs and on the host.
 *
 * Every routine works on `batch` column-major matrices of one shape. Item i of an operand starts at
 * A + i * stride_a elements, or, in the _array forms, at A[i], where A is an array of pointers that
 * the device can read. Names, argument order and info are LAPACK's. All pointers belong to the
 * handle's device: device, managed or registered memory for a GPU, host memory for the host.
 *
 * A call returns when its results are in memory, unless batchlas_set_nowait() says otherwise.
 * No routine writes the other triangle of a matrix, the padding below the leading dimension or the
 * gaps between items, and what they hold never matters.
 *
 * Shapes below are those of one item. Common ranges: n, m, k, nrhs, batch >= 0; a leading dimension
 * is at least max(1, rows); for batch > 1 a stride is at least ld * (columns - 1) + rows, and an
 * operand that is only read may also have stride 0, which shares it between all items. All offsets
 * in bytes fit in 64 bits, and batch is less than 2^59. Pointers are multiples of the element's
 * size; on the host, of the size of a complex element's part.
 * Checks run in the order of the arguments; on BATCHLAS_INVALID_ARGUMENT nothing was touched.
 */
#ifndef BATCHLAS_BATCHLAS_H
#define BATCHLAS_BATCHLAS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_OPENMP)
#include <omp.h>
/* Detached tasks are of OpenMP 5.0; gcc has them since version 11, which still claims 4.5. */
#if _OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11)
#define BATCHLAS_HAVE_EVENTS 1
#endif
#endif

#ifdef __cplusplus
#include <complex>
typedef std::complex<float> batchlas_complex_float;
typedef std::complex<double> batchlas_complex_double;
extern "C" {
#else
typedef float _Complex batchlas_complex_float;
typedef double _Complex batchlas_complex_double;
#endif

#define BATCHLAS_VERSION_MAJOR 0
#define BATCHLAS_VERSION_MINOR 1
#define BATCHLAS_VERSION_PATCH 0

#if defined(BATCHLAS_BUILDING) && defined(__GNUC__)
#define BATCHLAS_API __attribute__((visibility("default")))
#else
#define BATCHLAS_API
#endif

/* What every call returns. BATCHLAS_INVALID_ARGUMENT: nothing was touched, and
 * batchlas_last_error() says which argument and why. */
typedef enum {
    BATCHLAS_SUCCESS = 0,           /* done, or enqueued after batchlas_set_nowait() */
    BATCHLAS_INVALID_ARGUMENT = 1,  /* an argument out of its range, or a pointer of elsewhere */
    BATCHLAS_ROUTE_UNAVAILABLE = 2, /* a pin or a tuned table that cannot be followed */
    BATCHLAS_OUT_OF_MEMORY = 3,     /* workspace could not be had; the handle stays usable */
    BATCHLAS_DEVICE_ERROR = 4,      /* the CUDA runtime or a vendor library reported a failure */
    BATCHLAS_NOT_SUPPORTED = 5      /* valid, but not in this build or on this device */
} batchlas_status_t;

/* As BLAS has them: the triangle that is used, the side of the triangular matrix, what is done to
 * an operand, and whether a triangular matrix has ones on its diagonal. */
typedef enum { BATCHLAS_LOWER = 0, BATCHLAS_UPPER = 1 } batchlas_uplo_t;
typedef enum { BATCHLAS_LEFT = 0, BATCHLAS_RIGHT = 1 } batchlas_side_t;
typedef enum { BATCHLAS_NO_TRANS = 0, BATCHLAS_TRANS = 1, BATCHLAS_CONJ_TRANS = 2 } batchlas_op_t;
typedef enum { BATCHLAS_NON_UNIT = 0, BATCHLAS_UNIT = 1 } batchlas_diag_t;

/* One handle serves one device and one thread at a time; several handles may be used at once. One
 * that was destroyed is BATCHLAS_INVALID_ARGUMENT as long as its memory has no other use. */
typedef struct batchlas_handle_s *batchlas_handle_t;

/* ---- library ------------------------------------------------------------------------------- */

/* The version of the library that runs; BATCHLAS_VERSION_MAJOR and its like are the header's. */
BATCHLAS_API void batchlas_version(int *major, int *minor, int *patch);

/* The status's name and meaning, never NULL. */
BATCHLAS_API const char *batchlas_status_string(batchlas_status_t status);

/* One sentence on the last call that used h: operation, argument, its value, what was expected.
 * Empty if it succeeded. For h == NULL: on this thread's last failed create. Never NULL; valid
 * until the next call. */
BATCHLAS_API const char *batchlas_last_error(batchlas_handle_t h);

/* ---- handles ------------------------------------------------------------------------------- */

/* A handle for an OpenMP device number in [0, omp_get_num_devices()), or for the host with
 * omp_initial_device or omp_get_initial_device(). On failure *h is NULL. */
BATCHLAS_API batchlas_status_t batchlas_create(batchlas_handle_t *h, int device_num);

#if defined(_OPENMP) && _OPENMP >= 202011
/* A handle on the stream of an interop object that was made with
 * `#pragma omp interop init(targetsync: obj) device(d)`. The object stays the caller's and must
 * outlive the handle. */
BATCHLAS_API batchlas_status_t batchlas_create_from_interop(batchlas_handle_t *h,
                                                            omp_interop_t obj);
#endif

/* A handle on a CUDA stream of that device (NULL: the legacy default stream), which must outlive
 * the handle. On the host cuda_stream must be NULL. */
BATCHLAS_API batchlas_status_t batchlas_create_from_stream(batchlas_handle_t *h, int device_num,
                                                           void *cuda_stream);

/* Waits for what was enqueued, then frees. destroy(NULL) succeeds. */
BATCHLAS_API batchlas_status_t batchlas_destroy(batchlas_handle_t h);

/* nowait != 0: calls return once enqueued, ordered on the handle's stream and with nothing else;
 * data, pointer arrays and workspace must live until batchlas_wait(). Default 0. */
BATCHLAS_API batchlas_status_t batchlas_set_nowait(batchlas_handle_t h, int nowait);

/* Waits for all that was enqueued and reports what failed meanwhile. */
BATCHLAS_API batchlas_status_t batchlas_wait(batchlas_handle_t h);

#if defined(BATCHLAS_HAVE_EVENTS)
/* Fulfils ev once all that is enqueued so far is done: call it inside
 * `#pragma omp task detach(ev) depend(...)` to join OpenMP's dependency graph. */
BATCHLAS_API batchlas_status_t batchlas_fulfill_event(batchlas_handle_t h, omp_event_handle_t ev);
#endif

/* Workspace of the caller, 256-byte aligned, on the handle's device; a call that needs more than
 * `bytes` is BATCHLAS_INVALID_ARGUMENT. No two calls may use one at the same time. NULL returns to
 * the handle's own, which grows as needed. */
BATCHLAS_API batchlas_status_t batchlas_set_workspace(batchlas_handle_t h, void *device_ptr,
                                                      size_t bytes);

/* allow != 0: a GPU handle takes plain host pointers, where the device can read pageable memory
 * (BATCHLAS_NOT_SUPPORTED elsewhere). Default 0: they are refused. */
BATCHLAS_API batchlas_status_t batchlas_set_unified_memory(batchlas_handle_t h, int allow);

/* ---- Cholesky factorisation --------------------------------------------------------------------
 */

/* A = L L^H (BATCHLAS_LOWER) or A = U^H U (BATCHLAS_UPPER), in place in that triangle.
 * A is n by n, Hermitian positive definite; imaginary parts of its diagonal are ignored and become
 * 0. info: batch ints on the device, or NULL. 0, or the 1-based order of the first leading minor
 * that is not positive definite (NaN counts as not positive), after which that item's triangle is
 * unspecified. Source: LAPACK potrf. */
BATCHLAS_API batchlas_status_t batchlas_spotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               float *A, int lda, int64_t stride_a, int *info,
                                               int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               double *A, int lda, int64_t stride_a, int *info,
                                               int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               batchlas_complex_float *A, int lda, int64_t stride_a,
                                               int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zpotrf(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               batchlas_complex_double *A, int lda,
                                               int64_t stride_a, int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_spotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, float *const *A, int lda, int *info,
                                                     int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, double *const *A, int lda, int *info,
                                                     int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, batchlas_complex_float *const *A,
                                                     int lda, int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zpotrf_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, batchlas_complex_double *const *A,
                                                     int lda, int *info, int64_t batch);

/* Bytes of workspace that the route which the handle would take now needs, for any leading
 * dimension, stride and both forms. The same holds for every _buffer_size below. */
BATCHLAS_API batchlas_status_t batchlas_spotrf_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dpotrf_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_cpotrf_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_zpotrf_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n,
                                                           int64_t batch, size_t *bytes);

/* logdet[i] = log det(A_i) = 2 sum_j log(L_i(j, j)), from the factor that potrf left, in double for
 * every type. logdet: batch doubles on the device. A factor diagonal that is not positive gives NaN
 * or -Inf. */
BATCHLAS_API batchlas_status_t batchlas_spotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                      int n, const float *A, int lda,
                                                      int64_t stride_a, double *logdet,
                                                      int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                      int n, const double *A, int lda,
                                                      int64_t stride_a, double *logdet,
                                                      int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                      int n, const batchlas_complex_float *A,
                                                      int lda, int64_t stride_a, double *logdet,
                                                      int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zpotrf_logdet(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                      int n, const batchlas_complex_double *A,
                                                      int lda, int64_t stride_a, double *logdet,
                                                      int64_t batch);

/* ---- solves ------------------------------------------------------------------------------------
 */

/* A X = B with the factor of potrf: B := A^-1 B. A is the n by n factor, B is n by nrhs. Imaginary
 * parts of the factor's diagonal are ignored; a zero or NaN on it spoils that item's B alone.
 * Source: LAPACK potrs. */
BATCHLAS_API batchlas_status_t batchlas_spotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               int nrhs, const float *A, int lda, int64_t stride_a,
                                               float *B, int ldb, int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               int nrhs, const double *A, int lda, int64_t stride_a,
                                               double *B, int ldb, int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               int nrhs, const batchlas_complex_float *A, int lda,
                                               int64_t stride_a, batchlas_complex_float *B, int ldb,
                                               int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zpotrs(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                               int nrhs, const batchlas_complex_double *A, int lda,
                                               int64_t stride_a, batchlas_complex_double *B,
                                               int ldb, int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_spotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, int nrhs, const float *const *A,
                                                     int lda, float *const *B, int ldb,
                                                     int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, int nrhs, const double *const *A,
                                                     int lda, double *const *B, int ldb,
                                                     int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, int nrhs,
                                                     const batchlas_complex_float *const *A,
                                                     int lda, batchlas_complex_float *const *B,
                                                     int ldb, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zpotrs_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                     int n, int nrhs,
                                                     const batchlas_complex_double *const *A,
                                                     int lda, batchlas_complex_double *const *B,
                                                     int ldb, int64_t batch);

BATCHLAS_API batchlas_status_t batchlas_spotrs_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n, int nrhs,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dpotrs_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n, int nrhs,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_cpotrs_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n, int nrhs,
                                                           int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_zpotrs_buffer_size(batchlas_handle_t h,
                                                           batchlas_uplo_t uplo, int n, int nrhs,
                                                           int64_t batch, size_t *bytes);

/* potrf, then potrs where it succeeded: A becomes the factor, B the solution. An item that fails
 * keeps its B bit for bit. nrhs == 0 factors only. Source: LAPACK posv. */
BATCHLAS_API batchlas_status_t batchlas_sposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, float *A, int lda, int64_t stride_a,
                                              float *B, int ldb, int64_t stride_b, int *info,
                                              int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, double *A, int lda, int64_t stride_a,
                                              double *B, int ldb, int64_t stride_b, int *info,
                                              int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, batchlas_complex_float *A, int lda,
                                              int64_t stride_a, batchlas_complex_float *B, int ldb,
                                              int64_t stride_b, int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zposv(batchlas_handle_t h, batchlas_uplo_t uplo, int n,
                                              int nrhs, batchlas_complex_double *A, int lda,
                                              int64_t stride_a, batchlas_complex_double *B, int ldb,
                                              int64_t stride_b, int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_sposv_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                    int n, int nrhs, float *const *A, int lda,
                                                    float *const *B, int ldb, int *info,
                                                    int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dposv_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                    int n, int nrhs, double *const *A, int lda,
                                                    double *const *B, int ldb, int *info,
                                                    int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cposv_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                    int n, int nrhs,
                                                    batchlas_complex_float *const *A, int lda,
                                                    batchlas_complex_float *const *B, int ldb,
                                                    int *info, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zposv_array(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                    int n, int nrhs,
                                                    batchlas_complex_double *const *A, int lda,
                                                    batchlas_complex_double *const *B, int ldb,
                                                    int *info, int64_t batch);

BATCHLAS_API batchlas_status_t batchlas_sposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          int n, int nrhs, int64_t batch,
                                                          size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          int n, int nrhs, int64_t batch,
                                                          size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_cposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          int n, int nrhs, int64_t batch,
                                                          size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_zposv_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          int n, int nrhs, int64_t batch,
                                                          size_t *bytes);

/* ---- building blocks ---------------------------------------------------------------------------
 */

/* op(A) X = alpha B (BATCHLAS_LEFT) or X op(A) = alpha B (BATCHLAS_RIGHT): B := X. B is m by n; A
 * is the triangle uplo of order m (left) or n (right), with ones on its diagonal if BATCHLAS_UNIT.
 * Scalars are host values. alpha == 0 sets B to 0 and does not read A. Source: BLAS trsm. */
BATCHLAS_API batchlas_status_t batchlas_strsm(batchlas_handle_t h, batchlas_side_t side,
                                              batchlas_uplo_t uplo, batchlas_op_t trans,
                                              batchlas_diag_t diag, int m, int n, float alpha,
                                              const float *A, int lda, int64_t stride_a, float *B,
                                              int ldb, int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dtrsm(batchlas_handle_t h, batchlas_side_t side,
                                              batchlas_uplo_t uplo, batchlas_op_t trans,
                                              batchlas_diag_t diag, int m, int n, double alpha,
                                              const double *A, int lda, int64_t stride_a, double *B,
                                              int ldb, int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_ctrsm(batchlas_handle_t h, batchlas_side_t side,
                                              batchlas_uplo_t uplo, batchlas_op_t trans,
                                              batchlas_diag_t diag, int m, int n,
                                              const batchlas_complex_float *alpha,
                                              const batchlas_complex_float *A, int lda,
                                              int64_t stride_a, batchlas_complex_float *B, int ldb,
                                              int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_ztrsm(batchlas_handle_t h, batchlas_side_t side,
                                              batchlas_uplo_t uplo, batchlas_op_t trans,
                                              batchlas_diag_t diag, int m, int n,
                                              const batchlas_complex_double *alpha,
                                              const batchlas_complex_double *A, int lda,
                                              int64_t stride_a, batchlas_complex_double *B, int ldb,
                                              int64_t stride_b, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_strsm_array(batchlas_handle_t h, batchlas_side_t side,
                                                    batchlas_uplo_t uplo, batchlas_op_t trans,
                                                    batchlas_diag_t diag, int m, int n, float alpha,
                                                    const float *const *A, int lda, float *const *B,
                                                    int ldb, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dtrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                                    batchlas_uplo_t uplo, batchlas_op_t trans,
                                                    batchlas_diag_t diag, int m, int n,
                                                    double alpha, const double *const *A, int lda,
                                                    double *const *B, int ldb, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_ctrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                                    batchlas_uplo_t uplo, batchlas_op_t trans,
                                                    batchlas_diag_t diag, int m, int n,
                                                    const batchlas_complex_float *alpha,
                                                    const batchlas_complex_float *const *A, int lda,
                                                    batchlas_complex_float *const *B, int ldb,
                                                    int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_ztrsm_array(batchlas_handle_t h, batchlas_side_t side,
                                                    batchlas_uplo_t uplo, batchlas_op_t trans,
                                                    batchlas_diag_t diag, int m, int n,
                                                    const batchlas_complex_double *alpha,
                                                    const batchlas_complex_double *const *A,
                                                    int lda, batchlas_complex_double *const *B,
                                                    int ldb, int64_t batch);

BATCHLAS_API batchlas_status_t batchlas_strsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                                          batchlas_uplo_t uplo, batchlas_op_t trans,
                                                          batchlas_diag_t diag, int m, int n,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dtrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                                          batchlas_uplo_t uplo, batchlas_op_t trans,
                                                          batchlas_diag_t diag, int m, int n,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_ctrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                                          batchlas_uplo_t uplo, batchlas_op_t trans,
                                                          batchlas_diag_t diag, int m, int n,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_ztrsm_buffer_size(batchlas_handle_t h, batchlas_side_t side,
                                                          batchlas_uplo_t uplo, batchlas_op_t trans,
                                                          batchlas_diag_t diag, int m, int n,
                                                          int64_t batch, size_t *bytes);

/* C := alpha op(A) op(B) + beta C. op(A) is m by k, op(B) is k by n, C is m by n. beta == 0 does
 * not read C, alpha == 0 reads neither A nor B. Source: BLAS gemm. */
BATCHLAS_API batchlas_status_t batchlas_sgemm(batchlas_handle_t h, batchlas_op_t opa,
                                              batchlas_op_t opb, int m, int n, int k, float alpha,
                                              const float *A, int lda, int64_t stride_a,
                                              const float *B, int ldb, int64_t stride_b, float beta,
                                              float *C, int ldc, int64_t stride_c, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dgemm(batchlas_handle_t h, batchlas_op_t opa,
                                              batchlas_op_t opb, int m, int n, int k, double alpha,
                                              const double *A, int lda, int64_t stride_a,
                                              const double *B, int ldb, int64_t stride_b,
                                              double beta, double *C, int ldc, int64_t stride_c,
                                              int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cgemm(
    batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k,
    const batchlas_complex_float *alpha, const batchlas_complex_float *A, int lda, int64_t stride_a,
    const batchlas_complex_float *B, int ldb, int64_t stride_b, const batchlas_complex_float *beta,
    batchlas_complex_float *C, int ldc, int64_t stride_c, int64_t batch);
BATCHLAS_API batchlas_status_t
batchlas_zgemm(batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k,
               const batchlas_complex_double *alpha, const batchlas_complex_double *A, int lda,
               int64_t stride_a, const batchlas_complex_double *B, int ldb, int64_t stride_b,
               const batchlas_complex_double *beta, batchlas_complex_double *C, int ldc,
               int64_t stride_c, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_sgemm_array(batchlas_handle_t h, batchlas_op_t opa,
                                                    batchlas_op_t opb, int m, int n, int k,
                                                    float alpha, const float *const *A, int lda,
                                                    const float *const *B, int ldb, float beta,
                                                    float *const *C, int ldc, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dgemm_array(batchlas_handle_t h, batchlas_op_t opa,
                                                    batchlas_op_t opb, int m, int n, int k,
                                                    double alpha, const double *const *A, int lda,
                                                    const double *const *B, int ldb, double beta,
                                                    double *const *C, int ldc, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cgemm_array(
    batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k,
    const batchlas_complex_float *alpha, const batchlas_complex_float *const *A, int lda,
    const batchlas_complex_float *const *B, int ldb, const batchlas_complex_float *beta,
    batchlas_complex_float *const *C, int ldc, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zgemm_array(
    batchlas_handle_t h, batchlas_op_t opa, batchlas_op_t opb, int m, int n, int k,
    const batchlas_complex_double *alpha, const batchlas_complex_double *const *A, int lda,
    const batchlas_complex_double *const *B, int ldb, const batchlas_complex_double *beta,
    batchlas_complex_double *const *C, int ldc, int64_t batch);

BATCHLAS_API batchlas_status_t batchlas_sgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                                          batchlas_op_t opb, int m, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                                          batchlas_op_t opb, int m, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_cgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                                          batchlas_op_t opb, int m, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_zgemm_buffer_size(batchlas_handle_t h, batchlas_op_t opa,
                                                          batchlas_op_t opb, int m, int n, int k,
                                                          int64_t batch, size_t *bytes);

/* Triangle uplo of C := alpha A A^H + beta C (BATCHLAS_NO_TRANS, A is n by k) or alpha A^H A + beta
 * C (A is k by n; BATCHLAS_TRANS or BATCHLAS_CONJ_TRANS for syrk, BATCHLAS_CONJ_TRANS alone for
 * herk). C is n by n; herk leaves its diagonal real. beta == 0 does not read C. Source: BLAS syrk,
 * herk. */
BATCHLAS_API batchlas_status_t batchlas_ssyrk(batchlas_handle_t h, batchlas_uplo_t uplo,
                                              batchlas_op_t trans, int n, int k, float alpha,
                                              const float *A, int lda, int64_t stride_a, float beta,
                                              float *C, int ldc, int64_t stride_c, int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_dsyrk(batchlas_handle_t h, batchlas_uplo_t uplo,
                                              batchlas_op_t trans, int n, int k, double alpha,
                                              const double *A, int lda, int64_t stride_a,
                                              double beta, double *C, int ldc, int64_t stride_c,
                                              int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_cherk(batchlas_handle_t h, batchlas_uplo_t uplo,
                                              batchlas_op_t trans, int n, int k, float alpha,
                                              const batchlas_complex_float *A, int lda,
                                              int64_t stride_a, float beta,
                                              batchlas_complex_float *C, int ldc, int64_t stride_c,
                                              int64_t batch);
BATCHLAS_API batchlas_status_t batchlas_zherk(batchlas_handle_t h, batchlas_uplo_t uplo,
                                              batchlas_op_t trans, int n, int k, double alpha,
                                              const batchlas_complex_double *A, int lda,
                                              int64_t stride_a, double beta,
                                              batchlas_complex_double *C, int ldc, int64_t stride_c,
                                              int64_t batch);

BATCHLAS_API batchlas_status_t batchlas_ssyrk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          batchlas_op_t trans, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_dsyrk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          batchlas_op_t trans, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_cherk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          batchlas_op_t trans, int n, int k,
                                                          int64_t batch, size_t *bytes);
BATCHLAS_API batchlas_status_t batchlas_zherk_buffer_size(batchlas_handle_t h, batchlas_uplo_t uplo,
                                                          batchlas_op_t trans, int n, int k,
                                                          int64_t batch, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
