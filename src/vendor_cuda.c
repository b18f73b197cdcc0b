/* SPDX-License-Identifier: BSD-3-Clause */
/* cuSOLVER's and cuBLAS's families. Their batched routines are always given pointer arrays, for the
 * strided form too: then both forms give the same bits, and no kernel of theirs is chosen by how an
 * item happens to be aligned. */
#include "device.h"
#include "families.h"
#include "vendor_support.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <math.h>
#include <stdlib.h>

struct vendor_state {
    cublasHandle_t cublas;
    void *cublas_workspace;
    cusolverDnHandle_t cusolver;
    cusolverDnParams_t cusolver_parameters;
    void *host_buffer; /* of cusolverDnXpotrf */
    size_t host_buffer_bytes;
};

/* cuBLAS promises the same bits beside other streams only with a workspace of the caller's; this is
 * the size it recommends for Hopper. */
enum { CUBLAS_WORKSPACE_BYTES = 32 * 1024 * 1024 };

/* Items of one vendor call: their counts are int, and a pointer array stays under 128 MiB. */
enum { MOST_ITEMS = 1 << 24 };

/* Copies of matrices in workspace: at most the larger of this and this share of the matrices. */
static const double workspace_floor = 256e6;
static const double workspace_share = 0.1;

/* ---- what went wrong ----------------------------------------------------------------------- */

static const char *cusolver_words(cusolverStatus_t status) {
    switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
        return "the library could not be initialised";
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return "it could not allocate memory";
    case CUSOLVER_STATUS_INVALID_VALUE:
        return "an argument is invalid";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
        return "the device lacks a feature";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
        return "a kernel failed";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
        return "an internal operation failed";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
        return "not supported";
    case CUSOLVER_STATUS_INVALID_WORKSPACE:
        return "the workspace is invalid";
    default:
        return "an unexpected failure";
    }
}

static batchlas_status_t cusolver_status(batchlas_handle_t h, cusolverStatus_t status,
                                         const char *routine) {
    if (status == CUSOLVER_STATUS_SUCCESS)
        return BATCHLAS_SUCCESS;
    return batchlas_fail(
        h, status == CUSOLVER_STATUS_ALLOC_FAILED ? BATCHLAS_OUT_OF_MEMORY : BATCHLAS_DEVICE_ERROR,
        "cuSOLVER's %s: %s (status %d)", routine, cusolver_words(status), (int)status);
}

static batchlas_status_t cublas_status(batchlas_handle_t h, cublasStatus_t status,
                                       const char *routine) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return BATCHLAS_SUCCESS;
    return batchlas_fail(
        h, status == CUBLAS_STATUS_ALLOC_FAILED ? BATCHLAS_OUT_OF_MEMORY : BATCHLAS_DEVICE_ERROR,
        "cuBLAS's %s: %s", routine, cublasGetStatusString(status));
}

/* ---- the vendors' handles ------------------------------------------------------------------ */

/* They are made when workspace is measured, before any step has written anything: where they cannot
 * be had, all operands are as they were. Making one allocates, which would spoil a capture. */
static batchlas_status_t make_state(batchlas_handle_t h, const char *library) {
    if (batchlas_device_is_capturing(h))
        return batchlas_fail(h, BATCHLAS_NOT_SUPPORTED,
                             "the first use of %s on a handle cannot be captured: make the call "
                             "once before",
                             library);
    if (!h->vendor && !(h->vendor = calloc(1, sizeof *h->vendor)))
        return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY, "the state of %s could not be allocated",
                             library);
    return BATCHLAS_SUCCESS;
}

static batchlas_status_t open_cublas(batchlas_handle_t h) {
    if (h->vendor && h->vendor->cublas)
        return BATCHLAS_SUCCESS;
    cublasHandle_t cublas = NULL;
    batchlas_status_t status = make_state(h, "cuBLAS");
    if (status == BATCHLAS_SUCCESS && !h->vendor->cublas_workspace)
        status = batchlas_device_alloc(h, CUBLAS_WORKSPACE_BYTES, &h->vendor->cublas_workspace);
    if (status == BATCHLAS_SUCCESS)
        status = cublas_status(h, cublasCreate(&cublas), "cublasCreate");
    if (status != BATCHLAS_SUCCESS)
        return status;
    /* In this order: setting the stream takes the workspace back. */
    status = cublas_status(h, cublasSetStream(cublas, h->stream), "cublasSetStream");
    if (status == BATCHLAS_SUCCESS)
        status = cublas_status(
            h, cublasSetWorkspace(cublas, h->vendor->cublas_workspace, CUBLAS_WORKSPACE_BYTES),
            "cublasSetWorkspace");
    if (status == BATCHLAS_SUCCESS)
        h->vendor->cublas = cublas;
    else
        cublasDestroy(cublas);
    return status;
}

static batchlas_status_t open_cusolver(batchlas_handle_t h) {
    if (h->vendor && h->vendor->cusolver)
        return BATCHLAS_SUCCESS;
    cusolverDnHandle_t cusolver = NULL;
    batchlas_status_t status = make_state(h, "cuSOLVER");
    if (status == BATCHLAS_SUCCESS && !h->vendor->cusolver_parameters)
        status = cusolver_status(h, cusolverDnCreateParams(&h->vendor->cusolver_parameters),
                                 "cusolverDnCreateParams");
    if (status == BATCHLAS_SUCCESS)
        status = cusolver_status(h, cusolverDnCreate(&cusolver), "cusolverDnCreate");
    if (status != BATCHLAS_SUCCESS)
        return status;
    status = cusolver_status(h, cusolverDnSetStream(cusolver, h->stream), "cusolverDnSetStream");
    if (status == BATCHLAS_SUCCESS)
        h->vendor->cusolver = cusolver;
    else
        cusolverDnDestroy(cusolver);
    return status;
}

void batchlas_vendor_close(batchlas_handle_t h) {
    vendor_state_t *const vendor = h->vendor;
    if (!vendor)
        return;
    if (vendor->cublas)
        cublasDestroy(vendor->cublas);
    batchlas_device_free(vendor->cublas_workspace);
    if (vendor->cusolver)
        cusolverDnDestroy(vendor->cusolver);
    if (vendor->cusolver_parameters)
        cusolverDnDestroyParams(vendor->cusolver_parameters);
    free(vendor->host_buffer);
    free(vendor);
    h->vendor = NULL;
}

/* ---- the problem in the vendors' terms ----------------------------------------------------- */

static cublasFillMode_t fill_mode(batchlas_uplo_t uplo) {
    return uplo == BATCHLAS_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

static cublasOperation_t operation(scalar_type_t type, batchlas_op_t op) {
    if (op == BATCHLAS_NO_TRANS)
        return CUBLAS_OP_N;
    return op == BATCHLAS_CONJ_TRANS && scalar_is_complex(type) ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static cudaDataType data_type(scalar_type_t type) {
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[type];
}

typedef union {
    float s;
    double d;
    cuComplex c;
    cuDoubleComplex z;
} scalar_t;

static scalar_t scalar(scalar_type_t type, const double value[2]) {
    switch (type) {
    case TYPE_S:
        return (scalar_t){.s = (float)value[0]};
    case TYPE_D:
        return (scalar_t){.d = value[0]};
    case TYPE_C:
        return (scalar_t){.c = {(float)value[0], (float)value[1]}};
    default:
        return (scalar_t){.z = {value[0], value[1]}};
    }
}

/* ---- parts of a batch ---------------------------------------------------------------------- */

/* The sizes of the parts differ by one at most, since a vendor chooses kernels by batch size and an
 * item's bits must not depend on its place in the batch. */
typedef struct {
    int64_t batch;
    int64_t count;
} parts_t;

static parts_t parts_of(int64_t batch, int64_t most) {
    return (parts_t){batch, (batch - 1) / most + 1};
}

/* Parts of which none needs more workspace than allowed, at `item` bytes an item; of one item at
 * least, whatever it needs. */
static parts_t parts_within_workspace(const problem_t *p, double item, int64_t most) {
    const double matrices = (double)scalar_size(p->type) * p->n * p->n * (double)p->batch;
    const double allowed = fmax(workspace_floor, workspace_share * matrices) / item;
    if (allowed < 1 || most < 1)
        return parts_of(p->batch, 1);
    return parts_of(p->batch, allowed < (double)most ? (int64_t)allowed : most);
}

static int64_t part_first(parts_t parts, int64_t part) {
    const int64_t larger = parts.batch % parts.count;
    return parts.batch / parts.count * part + (part < larger ? part : larger);
}

static problem_t part_of(const problem_t *problem, parts_t parts, int64_t part) {
    const int64_t first = part_first(parts, part);
    return problem_from_item(*problem, first, part_first(parts, part + 1) - first);
}

static batchlas_status_t launch_parts(
    batchlas_handle_t h, const problem_t *problem, parts_t parts, void *workspace,
    batchlas_status_t (*launch)(batchlas_handle_t h, const problem_t *part, void *workspace)) {
    batchlas_status_t status = BATCHLAS_SUCCESS;
    for (int64_t i = 0; i < parts.count && status == BATCHLAS_SUCCESS; ++i) {
        const problem_t part = part_of(problem, parts, i);
        status = launch(h, &part, workspace);
    }
    return status;
}

static void **take_pointers(arena_t *arena, int64_t count) {
    return arena_take(arena, count, sizeof(void *));
}

/* As batchlas_vendor_pointers says. */
static batchlas_status_t make_block_pointers(batchlas_handle_t h, const problem_t *p,
                                             operand_t operand, int64_t step, int blocks,
                                             void **pointers) {
    return batchlas_device_status(h,
                                  batchlas_vendor_pointers(h->stream, p->type, operand, step,
                                                           blocks, NULL, NULL, p->batch, pointers),
                                  "making a pointer array");
}

static batchlas_status_t make_pointers(batchlas_handle_t h, const problem_t *p, operand_t operand,
                                       void **pointers) {
    return make_block_pointers(h, p, operand, 0, 1, pointers);
}

/* ---- potrf `vendor`: cusolverDn<t>potrfBatched --------------------------------------------- */

typedef struct {
    void **pointers;
    int *info;
    void *other_triangle; /* of every item: cuSOLVER works in it */
} potrf_batched_t;

static potrf_batched_t potrf_batched_layout(const problem_t *p, arena_t *arena) {
    const size_t triangle = (size_t)p->n * (size_t)(p->n - 1) / 2 * scalar_size(p->type);
    potrf_batched_t layout;
    layout.pointers = take_pointers(arena, p->batch);
    layout.info = arena_take(arena, p->batch, sizeof(int));
    layout.other_triangle = arena_take(arena, p->batch, triangle);
    return layout;
}

static parts_t potrf_batched_parts(const problem_t *p) {
    const double triangle = (double)scalar_size(p->type) * p->n * (p->n - 1) / 2;
    return parts_within_workspace(p, triangle + sizeof(void *) + sizeof(int), MOST_ITEMS);
}

batchlas_status_t batchlas_potrf_cusolver_batched_buffer_size(batchlas_handle_t h,
                                                              const problem_t *problem,
                                                              size_t *bytes) {
    arena_t arena = {0};
    const problem_t largest = part_of(problem, potrf_batched_parts(problem), 0);
    potrf_batched_layout(&largest, &arena);
    *bytes = arena.used;
    return open_cusolver(h);
}

static cusolverStatus_t potrf_batched(cusolverDnHandle_t cusolver, const problem_t *p,
                                      const potrf_batched_t *layout) {
#define POTRF(routine, T)                                                                          \
    routine(cusolver, fill_mode(p->uplo), p->n, (T **)layout->pointers, p->A.ld, layout->info,     \
            (int)p->batch)
    switch (p->type) {
    case TYPE_S:
        return POTRF(cusolverDnSpotrfBatched, float);
    case TYPE_D:
        return POTRF(cusolverDnDpotrfBatched, double);
    case TYPE_C:
        return POTRF(cusolverDnCpotrfBatched, cuComplex);
    default:
        return POTRF(cusolverDnZpotrfBatched, cuDoubleComplex);
    }
#undef POTRF
}

static batchlas_status_t potrf_batched_part(batchlas_handle_t h, const problem_t *p,
                                            void *workspace) {
    const batchlas_uplo_t other = p->uplo == BATCHLAS_LOWER ? BATCHLAS_UPPER : BATCHLAS_LOWER;
    arena_t arena = {.base = workspace};
    const potrf_batched_t layout = potrf_batched_layout(p, &arena);
    batchlas_status_t status = make_pointers(h, p, p->A, layout.pointers);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(h,
                                        batchlas_vendor_save_triangle(h->stream, p->type, other,
                                                                      p->n, p->A, p->batch,
                                                                      layout.other_triangle),
                                        "saving the other triangles");
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(
            h, batchlas_vendor_real_diagonal(h->stream, p->type, p->n, p->A, p->batch),
            "making diagonals real");
    if (status == BATCHLAS_SUCCESS)
        status = cusolver_status(h, potrf_batched(h->vendor->cusolver, p, &layout), "potrfBatched");
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(h,
                                        batchlas_vendor_restore_triangle(h->stream, p->type, other,
                                                                         p->n, p->A, p->batch,
                                                                         layout.other_triangle),
                                        "restoring the other triangles");
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(h,
                                        batchlas_vendor_settle(h->stream, p->type, p->n, p->A,
                                                               layout.info, p->info_base, p->info,
                                                               p->batch),
                                        "settling info");
    return status;
}

batchlas_status_t batchlas_potrf_cusolver_batched(batchlas_handle_t h, const problem_t *problem,
                                                  void *workspace) {
    const batchlas_status_t status = open_cusolver(h);
    return status == BATCHLAS_SUCCESS ? launch_parts(h, problem, potrf_batched_parts(problem),
                                                     workspace, potrf_batched_part)
                                      : status;
}

/* ---- potrf `vendor:single`: cusolverDnXpotrf, item by item --------------------------------- */

/* Each item is factored in an aligned copy whose other triangle is zero: nothing of the caller's
 * beyond the triangle is touched, and bits depend neither on the item's alignment nor on lda. An
 * item that fails is left to the batched routine, because this one takes +Inf for a failure. */
typedef struct {
    operand_t copy;
    size_t copy_bytes;
    int *info;
    void *work;
    size_t work_bytes;
    size_t host_bytes;
    void *second; /* the batched routine's */
} potrf_single_t;

static batchlas_status_t potrf_single_layout(batchlas_handle_t h, const problem_t *p,
                                             arena_t *arena, potrf_single_t *layout) {
    const int columns_of = 32; /* so that every column starts on a sector */
    const batchlas_status_t opened = open_cusolver(h);
    if (opened != BATCHLAS_SUCCESS)
        return opened;
    *layout = (potrf_single_t){.copy.ld = (p->n + columns_of - 1) / columns_of * columns_of};
    layout->copy_bytes = (size_t)layout->copy.ld * (size_t)p->n * scalar_size(p->type);
    layout->copy.base = arena_take(arena, 1, layout->copy_bytes);
    layout->info = arena_take(arena, 1, sizeof(int));
    const batchlas_status_t status =
        cusolver_status(h,
                        cusolverDnXpotrf_bufferSize(
                            h->vendor->cusolver, h->vendor->cusolver_parameters, fill_mode(p->uplo),
                            p->n, data_type(p->type), layout->copy.base, layout->copy.ld,
                            data_type(p->type), &layout->work_bytes, &layout->host_bytes),
                        "Xpotrf_bufferSize");
    layout->work = arena_take(arena, 1, layout->work_bytes);
    const problem_t item = part_of(p, parts_of(p->batch, 1), 0);
    arena_t batched = {0};
    potrf_batched_layout(&item, &batched);
    layout->second = arena_take(arena, 1, batched.used);
    return status;
}

batchlas_status_t batchlas_potrf_cusolver_single_buffer_size(batchlas_handle_t h,
                                                             const problem_t *problem,
                                                             size_t *bytes) {
    arena_t arena = {0};
    potrf_single_t layout;
    const batchlas_status_t status = potrf_single_layout(h, problem, &arena, &layout);
    *bytes = arena.used;
    return status;
}

static batchlas_status_t grow_host_buffer(batchlas_handle_t h, size_t bytes) {
    if (bytes <= h->vendor->host_buffer_bytes)
        return BATCHLAS_SUCCESS;
    void *const buffer = realloc(h->vendor->host_buffer, bytes);
    if (!buffer)
        return batchlas_fail(h, BATCHLAS_OUT_OF_MEMORY,
                             "cuSOLVER's Xpotrf: no room for %zu bytes on the host", bytes);
    h->vendor->host_buffer = buffer;
    h->vendor->host_buffer_bytes = bytes;
    return BATCHLAS_SUCCESS;
}

static batchlas_status_t copy_triangle(batchlas_handle_t h, const problem_t *p, operand_t from,
                                       operand_t to) {
    return batchlas_device_status(
        h, batchlas_vendor_copy_triangle(h->stream, p->type, p->uplo, p->n, from, to, 1),
        "copying a triangle");
}

static batchlas_status_t potrf_item(batchlas_handle_t h, const problem_t *p,
                                    const potrf_single_t *layout) {
    vendor_state_t *const vendor = h->vendor;
    batchlas_status_t status = batchlas_device_zero(h, layout->copy.base, layout->copy_bytes);
    if (status == BATCHLAS_SUCCESS)
        status = copy_triangle(h, p, p->A, layout->copy);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(
            h, batchlas_vendor_real_diagonal(h->stream, p->type, p->n, layout->copy, 1),
            "making a diagonal real");
    if (status == BATCHLAS_SUCCESS)
        status = cusolver_status(
            h,
            cusolverDnXpotrf(vendor->cusolver, vendor->cusolver_parameters, fill_mode(p->uplo),
                             p->n, data_type(p->type), layout->copy.base, layout->copy.ld,
                             data_type(p->type), layout->work, layout->work_bytes,
                             vendor->host_buffer, layout->host_bytes, layout->info),
            "Xpotrf");
    /* 0 or a failure, and not yet info_base's: the copy's own diagonal decides. */
    int failed = 0;
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_device_status(h,
                                   batchlas_vendor_settle(h->stream, p->type, p->n, layout->copy,
                                                          layout->info, 0, layout->info, 1),
                                   "settling info");
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_fetch(h, &failed, layout->info, sizeof failed);
    if (status == BATCHLAS_SUCCESS && failed > 0)
        return potrf_batched_part(h, p, layout->second);
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_device_status(h,
                                   batchlas_vendor_settle(h->stream, p->type, p->n, layout->copy,
                                                          layout->info, p->info_base, p->info, 1),
                                   "settling info");
    if (status == BATCHLAS_SUCCESS)
        status = copy_triangle(h, p, layout->copy, p->A);
    return status;
}

batchlas_status_t batchlas_potrf_cusolver_single(batchlas_handle_t h, const problem_t *problem,
                                                 void *workspace) {
    const parts_t items = parts_of(problem->batch, 1);
    arena_t arena = {.base = workspace};
    potrf_single_t layout;
    batchlas_status_t status = potrf_single_layout(h, problem, &arena, &layout);
    if (status == BATCHLAS_SUCCESS)
        status = grow_host_buffer(h, layout.host_bytes);
    for (int64_t i = 0; i < items.count && status == BATCHLAS_SUCCESS; ++i) {
        const problem_t item = part_of(problem, items, i);
        status = potrf_item(h, &item, &layout);
    }
    return status;
}

/* ---- potrs: cusolverDn<t>potrsBatched ------------------------------------------------------ */

/* cuSOLVER works in the factor's other triangle. The factor is the caller's to read alone, and may
 * be shared by all items, so each gets a copy. */
bool batchlas_potrs_cusolver_can_run(const problem_t *problem, const device_facts_t *facts,
                                     const char **reason) {
    (void)facts;
    if (problem->nrhs != 1)
        *reason = "cuSOLVER's potrsBatched solves for one right-hand side only";
    else if (scalar_is_complex(problem->type))
        *reason = "cuSOLVER uses the imaginary parts of the factor's diagonal";
    else
        return true;
    return false;
}

typedef struct {
    void **a;
    void **b;
    void *unwanted; /* the solution of every item to be skipped */
    int *info;
    operand_t factors;
} potrs_batched_t;

static potrs_batched_t potrs_batched_layout(const problem_t *p, arena_t *arena) {
    potrs_batched_t layout;
    layout.a = take_pointers(arena, p->batch);
    layout.b = take_pointers(arena, p->batch);
    layout.unwanted = arena_take(arena, p->n, scalar_size(p->type));
    layout.info = arena_take(arena, 1, sizeof(int));
    layout.factors = (operand_t){.stride = (int64_t)p->n * p->n, .ld = p->n};
    layout.factors.base =
        arena_take(arena, p->batch, (size_t)layout.factors.stride * scalar_size(p->type));
    return layout;
}

static parts_t potrs_batched_parts(const problem_t *p) {
    const double factor = (double)scalar_size(p->type) * p->n * p->n;
    return parts_within_workspace(p, factor + 2 * sizeof(void *), MOST_ITEMS);
}

batchlas_status_t batchlas_potrs_cusolver_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                      size_t *bytes) {
    arena_t arena = {0};
    const problem_t largest = part_of(problem, potrs_batched_parts(problem), 0);
    potrs_batched_layout(&largest, &arena);
    *bytes = arena.used;
    return open_cusolver(h);
}

static cusolverStatus_t potrs_batched(cusolverDnHandle_t cusolver, const problem_t *p,
                                      const potrs_batched_t *layout) {
#define POTRS(routine, T)                                                                          \
    routine(cusolver, fill_mode(p->uplo), p->n, 1, (T **)layout->a, p->n, (T **)layout->b,         \
            p->B.ld, layout->info, (int)p->batch)
    return p->type == TYPE_S ? POTRS(cusolverDnSpotrsBatched, float)
                             : POTRS(cusolverDnDpotrsBatched, double);
#undef POTRS
}

static batchlas_status_t potrs_batched_part(batchlas_handle_t h, const problem_t *p,
                                            void *workspace) {
    arena_t arena = {.base = workspace};
    const potrs_batched_t layout = potrs_batched_layout(p, &arena);
    batchlas_status_t status = BATCHLAS_SUCCESS;
    if (p->skip)
        status = batchlas_device_zero(h, layout.unwanted, (size_t)p->n * scalar_size(p->type));
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_device_status(h,
                                   batchlas_vendor_copy_triangle(h->stream, p->type, p->uplo, p->n,
                                                                 p->A, layout.factors, p->batch),
                                   "copying triangles");
    if (status == BATCHLAS_SUCCESS)
        status = make_pointers(h, p, layout.factors, layout.a);
    if (status == BATCHLAS_SUCCESS)
        status =
            batchlas_device_status(h,
                                   batchlas_vendor_pointers(h->stream, p->type, p->B, 0, 1, p->skip,
                                                            layout.unwanted, p->batch, layout.b),
                                   "making a pointer array");
    if (status == BATCHLAS_SUCCESS)
        status = cusolver_status(h, potrs_batched(h->vendor->cusolver, p, &layout), "potrsBatched");
    return status;
}

batchlas_status_t batchlas_potrs_cusolver(batchlas_handle_t h, const problem_t *problem,
                                          void *workspace) {
    const batchlas_status_t status = open_cusolver(h);
    return status == BATCHLAS_SUCCESS ? launch_parts(h, problem, potrs_batched_parts(problem),
                                                     workspace, potrs_batched_part)
                                      : status;
}

/* ---- trsm: cublas<t>trsmBatched ------------------------------------------------------------ */

static bool skips_none(const problem_t *problem, const char **reason) {
    if (problem->skip)
        *reason = "cuBLAS cannot leave out single items of a batch";
    return !problem->skip;
}

/* cuBLAS reads what a zero alpha rules out, and refuses a few calls that have nothing to add. */
static bool multiplies(const problem_t *problem, int k, const char **reason) {
    const bool adds = k > 0 && (problem->alpha[0] != 0.0 || problem->alpha[1] != 0.0);
    if (!adds)
        *reason = "cuBLAS is not asked where alpha or k is 0";
    return adds;
}

bool batchlas_trsm_cublas_can_run(const problem_t *problem, const device_facts_t *facts,
                                  const char **reason) {
    (void)facts;
    if (!skips_none(problem, reason) || !multiplies(problem, 1, reason))
        return false;
    const bool ignores = problem->real_diagonal && scalar_is_complex(problem->type);
    if (ignores)
        *reason = "cuBLAS uses the imaginary parts of the diagonal";
    return !ignores;
}

typedef struct {
    void **a;
    void **b;
} trsm_batched_t;

static trsm_batched_t trsm_batched_layout(const problem_t *p, arena_t *arena) {
    trsm_batched_t layout;
    layout.a = take_pointers(arena, p->batch);
    layout.b = take_pointers(arena, p->batch);
    return layout;
}

batchlas_status_t batchlas_trsm_cublas_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                   size_t *bytes) {
    arena_t arena = {0};
    const problem_t largest = part_of(problem, parts_of(problem->batch, MOST_ITEMS), 0);
    trsm_batched_layout(&largest, &arena);
    *bytes = arena.used;
    return open_cublas(h);
}

static cublasStatus_t trsm_batched(cublasHandle_t cublas, const problem_t *p,
                                   const trsm_batched_t *layout) {
    const cublasSideMode_t side = p->side == BATCHLAS_LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasDiagType_t diag =
        p->diag == BATCHLAS_UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const scalar_t alpha = scalar(p->type, p->alpha);
#define TRSM(routine, T, member)                                                                   \
    routine(cublas, side, fill_mode(p->uplo), operation(p->type, p->op_a), diag, p->m, p->n,       \
            &alpha.member, (const T *const *)layout->a, p->A.ld, (T *const *)layout->b, p->B.ld,   \
            (int)p->batch)
    switch (p->type) {
    case TYPE_S:
        return TRSM(cublasStrsmBatched, float, s);
    case TYPE_D:
        return TRSM(cublasDtrsmBatched, double, d);
    case TYPE_C:
        return TRSM(cublasCtrsmBatched, cuComplex, c);
    default:
        return TRSM(cublasZtrsmBatched, cuDoubleComplex, z);
    }
#undef TRSM
}

static batchlas_status_t trsm_batched_part(batchlas_handle_t h, const problem_t *p,
                                           void *workspace) {
    arena_t arena = {.base = workspace};
    const trsm_batched_t layout = trsm_batched_layout(p, &arena);
    batchlas_status_t status = make_pointers(h, p, p->A, layout.a);
    if (status == BATCHLAS_SUCCESS)
        status = make_pointers(h, p, p->B, layout.b);
    if (status == BATCHLAS_SUCCESS)
        status = cublas_status(h, trsm_batched(h->vendor->cublas, p, &layout), "trsmBatched");
    return status;
}

batchlas_status_t batchlas_trsm_cublas(batchlas_handle_t h, const problem_t *problem,
                                       void *workspace) {
    const batchlas_status_t status = open_cublas(h);
    return status == BATCHLAS_SUCCESS
               ? launch_parts(h, problem, parts_of(problem->batch, MOST_ITEMS), workspace,
                              trsm_batched_part)
               : status;
}

/* ---- gemm: cublasGemmBatchedEx ------------------------------------------------------------- */

bool batchlas_gemm_cublas_can_run(const problem_t *problem, const device_facts_t *facts,
                                  const char **reason) {
    (void)facts;
    return skips_none(problem, reason) && multiplies(problem, problem->k, reason);
}

typedef struct {
    void **a;
    void **b;
    void **c;
} gemm_batched_t;

static gemm_batched_t gemm_batched_layout(const problem_t *p, arena_t *arena) {
    gemm_batched_t layout;
    layout.a = take_pointers(arena, p->batch);
    layout.b = take_pointers(arena, p->batch);
    layout.c = take_pointers(arena, p->batch);
    return layout;
}

batchlas_status_t batchlas_gemm_cublas_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                   size_t *bytes) {
    arena_t arena = {0};
    const problem_t largest = part_of(problem, parts_of(problem->batch, MOST_ITEMS), 0);
    gemm_batched_layout(&largest, &arena);
    *bytes = arena.used;
    return open_cublas(h);
}

/* cuBLAS hands what is left of a batch after every whole 65,535 items to another kernel, whose last
 * bits may differ. */
enum { ALIKE_PRODUCTS = 65535 };

static cublasStatus_t gemm_batched(cublasHandle_t cublas, const problem_t *p,
                                   const gemm_batched_t *layout) {
    const bool single = p->type == TYPE_S || p->type == TYPE_C;
    const cudaDataType type = data_type(p->type);
    const scalar_t alpha = scalar(p->type, p->alpha);
    const scalar_t beta = scalar(p->type, p->beta);
    const parts_t parts = parts_of(p->batch, ALIKE_PRODUCTS);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int64_t part = 0; part < parts.count && status == CUBLAS_STATUS_SUCCESS; ++part) {
        const int64_t first = part_first(parts, part);
        status = cublasGemmBatchedEx(
            cublas, operation(p->type, p->op_a), operation(p->type, p->op_b), p->m, p->n, p->k,
            &alpha, (const void *const *)layout->a + first, type, p->A.ld,
            (const void *const *)layout->b + first, type, p->B.ld, &beta, layout->c + first, type,
            p->C.ld, (int)(part_first(parts, part + 1) - first),
            single ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
    }
    return status;
}

static batchlas_status_t gemm_batched_part(batchlas_handle_t h, const problem_t *p,
                                           void *workspace) {
    arena_t arena = {.base = workspace};
    const gemm_batched_t layout = gemm_batched_layout(p, &arena);
    batchlas_status_t status = make_pointers(h, p, p->A, layout.a);
    if (status == BATCHLAS_SUCCESS)
        status = make_pointers(h, p, p->B, layout.b);
    if (status == BATCHLAS_SUCCESS)
        status = make_pointers(h, p, p->C, layout.c);
    if (status == BATCHLAS_SUCCESS)
        status = cublas_status(h, gemm_batched(h->vendor->cublas, p, &layout), "gemmBatchedEx");
    return status;
}

batchlas_status_t batchlas_gemm_cublas(batchlas_handle_t h, const problem_t *problem,
                                       void *workspace) {
    const batchlas_status_t status = open_cublas(h);
    return status == BATCHLAS_SUCCESS
               ? launch_parts(h, problem, parts_of(problem->batch, MOST_ITEMS), workspace,
                              gemm_batched_part)
               : status;
}

/* ---- syrk and herk: cublasGemmBatchedEx on blocks ------------------------------------------ */

/* cuBLAS has no batched rank-k update. Strictly below the diagonal blocks the triangle is cut into
 * squares, of half of n, of a quarter, ...: one gemm a size, since the squares of all items are one
 * batch. The diagonal blocks' products go to workspace, whose triangle is then added to C. */
enum { DIAGONAL_BLOCK = 64 };

bool batchlas_syrk_cublas_can_run(const problem_t *problem, const device_facts_t *facts,
                                  const char **reason) {
    (void)facts;
    return skips_none(problem, reason) && multiplies(problem, problem->k, reason);
}

typedef struct {
    gemm_batched_t pointers;
    operand_t products; /* of the diagonal blocks: width by width each, those of an item in a row */
    int width;
    int blocks; /* of an item */
} syrk_blocks_t;

static int diagonal_width(const problem_t *p) {
    return p->n < DIAGONAL_BLOCK ? p->n : DIAGONAL_BLOCK;
}

static int diagonal_blocks(const problem_t *p) {
    return (p->n - 1) / DIAGONAL_BLOCK + 1;
}

static syrk_blocks_t syrk_blocks_layout(const problem_t *p, arena_t *arena) {
    syrk_blocks_t layout = {.width = diagonal_width(p), .blocks = diagonal_blocks(p)};
    const int64_t block = (int64_t)layout.width * layout.width;
    const int64_t count = p->batch * layout.blocks;
    layout.pointers.a = take_pointers(arena, count);
    layout.pointers.b = take_pointers(arena, count);
    layout.pointers.c = take_pointers(arena, count);
    layout.products = (operand_t){.ld = layout.width, .stride = block * layout.blocks};
    layout.products.base = arena_take(arena, count, (size_t)block * scalar_size(p->type));
    return layout;
}

static parts_t syrk_blocks_parts(const problem_t *p) {
    const double element = (double)scalar_size(p->type);
    const double block = element * diagonal_width(p) * diagonal_width(p) + 3 * sizeof(void *);
    return parts_within_workspace(p, block * diagonal_blocks(p), MOST_ITEMS / diagonal_blocks(p));
}

batchlas_status_t batchlas_syrk_cublas_buffer_size(batchlas_handle_t h, const problem_t *problem,
                                                   size_t *bytes) {
    arena_t arena = {0};
    const problem_t largest = part_of(problem, syrk_blocks_parts(problem), 0);
    syrk_blocks_layout(&largest, &arena);
    *bytes = arena.used;
    return open_cublas(h);
}

/* Blocks `step` rows and columns of C apart, `count` of them in every item. */
typedef struct {
    int row, column; /* of the first */
    int rows, columns;
    int step;
    int count;
} blocks_t;

/* op(A)'s rows from `row` on. */
static operand_t rows_of(const problem_t *p, int row) {
    return p->op_a == BATCHLAS_NO_TRANS ? operand_at(p->A, row, 0) : operand_at(p->A, 0, row);
}

/* The blocks of alpha op(A) op(A)^H go to `target`, `step` elements apart in each of its items. */
static batchlas_status_t multiply_blocks(batchlas_handle_t h, const problem_t *p,
                                         const gemm_batched_t *pointers, const blocks_t *blocks,
                                         operand_t target, int64_t step, double beta) {
    const bool plain = p->op_a == BATCHLAS_NO_TRANS;
    const int64_t row_step = plain ? blocks->step : (int64_t)blocks->step * p->A.ld;
    const problem_t product = {.type = p->type,
                               .op_a = plain ? BATCHLAS_NO_TRANS : BATCHLAS_CONJ_TRANS,
                               .op_b = plain ? BATCHLAS_CONJ_TRANS : BATCHLAS_NO_TRANS,
                               .m = blocks->rows,
                               .n = blocks->columns,
                               .k = p->k,
                               .A = rows_of(p, blocks->row),
                               .B = rows_of(p, blocks->column),
                               .C = target,
                               .alpha = {p->alpha[0]},
                               .beta = {beta},
                               .batch = p->batch * blocks->count};
    batchlas_status_t status =
        make_block_pointers(h, p, product.A, row_step, blocks->count, pointers->a);
    if (status == BATCHLAS_SUCCESS)
        status = make_block_pointers(h, p, product.B, row_step, blocks->count, pointers->b);
    if (status == BATCHLAS_SUCCESS)
        status = make_block_pointers(h, p, product.C, step, blocks->count, pointers->c);
    if (status == BATCHLAS_SUCCESS)
        status =
            cublas_status(h, gemm_batched(h->vendor->cublas, &product, pointers), "gemmBatchedEx");
    return status;
}

/* `count` blocks of C off its diagonal: rows and columns are those of the lower triangle. */
static batchlas_status_t update_blocks(batchlas_handle_t h, const problem_t *p,
                                       const gemm_batched_t *pointers, blocks_t blocks) {
    if (p->uplo == BATCHLAS_UPPER)
        blocks = (blocks_t){.row = blocks.column,
                            .column = blocks.row,
                            .rows = blocks.columns,
                            .columns = blocks.rows,
                            .step = blocks.step,
                            .count = blocks.count};
    if (blocks.count == 0 || blocks.rows <= 0 || blocks.columns <= 0)
        return BATCHLAS_SUCCESS;
    return multiply_blocks(h, p, pointers, &blocks, operand_at(p->C, blocks.row, blocks.column),
                           blocks.step * ((int64_t)p->C.ld + 1), p->beta[0]);
}

/* The products of `count` diagonal blocks of order `order`, from block `first` on. */
static batchlas_status_t multiply_diagonal(batchlas_handle_t h, const problem_t *p,
                                           const syrk_blocks_t *layout, int first, int order,
                                           int count) {
    const int at = first * layout->width;
    const int64_t block = (int64_t)layout->width * layout->width;
    const blocks_t blocks = {at, at, order, order, layout->width, count};
    operand_t products = layout->products;
    products.offset = first * block;
    if (count == 0 || order == 0)
        return BATCHLAS_SUCCESS;
    return multiply_blocks(h, p, &layout->pointers, &blocks, products, block, 0.0);
}

static batchlas_status_t syrk_blocks_part(batchlas_handle_t h, const problem_t *p,
                                          void *workspace) {
    arena_t arena = {.base = workspace};
    const syrk_blocks_t layout = syrk_blocks_layout(p, &arena);
    const int whole = p->n / layout.width;
    batchlas_status_t status = multiply_diagonal(h, p, &layout, 0, layout.width, whole);
    if (status == BATCHLAS_SUCCESS)
        status = multiply_diagonal(h, p, &layout, whole, p->n % layout.width, 1);
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_device_status(
            h,
            batchlas_vendor_add_triangles(h->stream, p->type, p->uplo, p->n, layout.width,
                                          layout.products, p->beta[0], p->C, p->batch),
            "adding the diagonal blocks");
    for (int64_t size = layout.width; size < p->n && status == BATCHLAS_SUCCESS; size *= 2) {
        const int side = (int)size;
        const int pairs = (int)(p->n / (2 * size));
        const int last = (int)(2 * size * pairs);
        status =
            update_blocks(h, p, &layout.pointers, (blocks_t){side, 0, side, side, 2 * side, pairs});
        if (status == BATCHLAS_SUCCESS)
            status =
                update_blocks(h, p, &layout.pointers,
                              (blocks_t){last + side, last, p->n - last - side, side, 2 * side, 1});
    }
    return status;
}

batchlas_status_t batchlas_syrk_cublas(batchlas_handle_t h, const problem_t *problem,
                                       void *workspace) {
    const batchlas_status_t status = open_cublas(h);
    return status == BATCHLAS_SUCCESS
               ? launch_parts(h, problem, syrk_blocks_parts(problem), workspace, syrk_blocks_part)
               : status;
}
