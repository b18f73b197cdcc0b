/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/calls.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

/* Operands in the public types' shapes: constness is the call's business. */
typedef float *const *s_array_t;
typedef double *const *d_array_t;
typedef batchlas_complex_float *const *c_array_t;
typedef batchlas_complex_double *const *z_array_t;
typedef const float *const *s_inputs_t;
typedef const double *const *d_inputs_t;
typedef const batchlas_complex_float *const *c_inputs_t;
typedef const batchlas_complex_double *const *z_inputs_t;

static const char *const names[ROUTINE_COUNT] = {"potrf", "potrs", "posv", "potrf_logdet",
                                                 "trsm",  "gemm",  "syrk"};

const char *call_name(const call_t *c) {
    static char name[32];
    const bool herk = c->routine == SYRK && scalar_is_complex(c->p.type);
    snprintf(name, sizeof name, "%c%s", scalar_letter(c->p.type),
             herk ? "herk" : names[c->routine]);
    return name;
}

bool has_array_form(routine_t routine) {
    return routine != POTRF_LOGDET && routine != SYRK;
}

bool has_buffer_size(routine_t routine) {
    return routine != POTRF_LOGDET;
}

/* Where the library shall look for a scalar. */
static const void *at(const call_t *c, address_t address, const void *scalar) {
    switch (address) {
    case AS_GIVEN:
        break;
    case NULL_ADDRESS:
        return NULL;
    case ODD_ADDRESS:
        return (const char *)scalar + 1;
    case DEVICE_ADDRESS:
        return c->device_address;
    }
    return scalar;
}

static batchlas_status_t potrf(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrf(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->info,
                               p->batch);
    case TYPE_D:
        return batchlas_dpotrf(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->info,
                               p->batch);
    case TYPE_C:
        return batchlas_cpotrf(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->info,
                               p->batch);
    case TYPE_Z:
        return batchlas_zpotrf(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->info,
                               p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrf_array(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrf_array(h, p->uplo, p->n, (s_array_t)p->A.items, p->A.ld, p->info,
                                     p->batch);
    case TYPE_D:
        return batchlas_dpotrf_array(h, p->uplo, p->n, (d_array_t)p->A.items, p->A.ld, p->info,
                                     p->batch);
    case TYPE_C:
        return batchlas_cpotrf_array(h, p->uplo, p->n, (c_array_t)p->A.items, p->A.ld, p->info,
                                     p->batch);
    case TYPE_Z:
        return batchlas_zpotrf_array(h, p->uplo, p->n, (z_array_t)p->A.items, p->A.ld, p->info,
                                     p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrs(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrs(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride,
                               p->B.base, p->B.ld, p->B.stride, p->batch);
    case TYPE_D:
        return batchlas_dpotrs(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride,
                               p->B.base, p->B.ld, p->B.stride, p->batch);
    case TYPE_C:
        return batchlas_cpotrs(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride,
                               p->B.base, p->B.ld, p->B.stride, p->batch);
    case TYPE_Z:
        return batchlas_zpotrs(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride,
                               p->B.base, p->B.ld, p->B.stride, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrs_array(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrs_array(h, p->uplo, p->n, p->nrhs, (s_inputs_t)p->A.items, p->A.ld,
                                     (s_array_t)p->B.items, p->B.ld, p->batch);
    case TYPE_D:
        return batchlas_dpotrs_array(h, p->uplo, p->n, p->nrhs, (d_inputs_t)p->A.items, p->A.ld,
                                     (d_array_t)p->B.items, p->B.ld, p->batch);
    case TYPE_C:
        return batchlas_cpotrs_array(h, p->uplo, p->n, p->nrhs, (c_inputs_t)p->A.items, p->A.ld,
                                     (c_array_t)p->B.items, p->B.ld, p->batch);
    case TYPE_Z:
        return batchlas_zpotrs_array(h, p->uplo, p->n, p->nrhs, (z_inputs_t)p->A.items, p->A.ld,
                                     (z_array_t)p->B.items, p->B.ld, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t posv(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_sposv(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride, p->B.base,
                              p->B.ld, p->B.stride, p->info, p->batch);
    case TYPE_D:
        return batchlas_dposv(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride, p->B.base,
                              p->B.ld, p->B.stride, p->info, p->batch);
    case TYPE_C:
        return batchlas_cposv(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride, p->B.base,
                              p->B.ld, p->B.stride, p->info, p->batch);
    case TYPE_Z:
        return batchlas_zposv(h, p->uplo, p->n, p->nrhs, p->A.base, p->A.ld, p->A.stride, p->B.base,
                              p->B.ld, p->B.stride, p->info, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t posv_array(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_sposv_array(h, p->uplo, p->n, p->nrhs, (s_array_t)p->A.items, p->A.ld,
                                    (s_array_t)p->B.items, p->B.ld, p->info, p->batch);
    case TYPE_D:
        return batchlas_dposv_array(h, p->uplo, p->n, p->nrhs, (d_array_t)p->A.items, p->A.ld,
                                    (d_array_t)p->B.items, p->B.ld, p->info, p->batch);
    case TYPE_C:
        return batchlas_cposv_array(h, p->uplo, p->n, p->nrhs, (c_array_t)p->A.items, p->A.ld,
                                    (c_array_t)p->B.items, p->B.ld, p->info, p->batch);
    case TYPE_Z:
        return batchlas_zposv_array(h, p->uplo, p->n, p->nrhs, (z_array_t)p->A.items, p->A.ld,
                                    (z_array_t)p->B.items, p->B.ld, p->info, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrf_logdet(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrf_logdet(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->logdet,
                                      p->batch);
    case TYPE_D:
        return batchlas_dpotrf_logdet(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->logdet,
                                      p->batch);
    case TYPE_C:
        return batchlas_cpotrf_logdet(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->logdet,
                                      p->batch);
    case TYPE_Z:
        return batchlas_zpotrf_logdet(h, p->uplo, p->n, p->A.base, p->A.ld, p->A.stride, p->logdet,
                                      p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t trsm(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    const batchlas_complex_float alpha_c = (float)p->alpha[0] + (float)p->alpha[1] * I;
    const batchlas_complex_double alpha_z = p->alpha[0] + p->alpha[1] * I;
    const batchlas_complex_float *const alpha_pc = at(c, c->alpha_at, &alpha_c);
    const batchlas_complex_double *const alpha_pz = at(c, c->alpha_at, &alpha_z);
    switch (p->type) {
    case TYPE_S:
        return batchlas_strsm(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, (float)p->alpha[0],
                              p->A.base, p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride,
                              p->batch);
    case TYPE_D:
        return batchlas_dtrsm(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, p->alpha[0],
                              p->A.base, p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride,
                              p->batch);
    case TYPE_C:
        return batchlas_ctrsm(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, alpha_pc,
                              p->A.base, p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride,
                              p->batch);
    case TYPE_Z:
        return batchlas_ztrsm(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, alpha_pz,
                              p->A.base, p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride,
                              p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t trsm_array(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    const batchlas_complex_float alpha_c = (float)p->alpha[0] + (float)p->alpha[1] * I;
    const batchlas_complex_double alpha_z = p->alpha[0] + p->alpha[1] * I;
    const batchlas_complex_float *const alpha_pc = at(c, c->alpha_at, &alpha_c);
    const batchlas_complex_double *const alpha_pz = at(c, c->alpha_at, &alpha_z);
    switch (p->type) {
    case TYPE_S:
        return batchlas_strsm_array(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n,
                                    (float)p->alpha[0], (s_inputs_t)p->A.items, p->A.ld,
                                    (s_array_t)p->B.items, p->B.ld, p->batch);
    case TYPE_D:
        return batchlas_dtrsm_array(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, p->alpha[0],
                                    (d_inputs_t)p->A.items, p->A.ld, (d_array_t)p->B.items, p->B.ld,
                                    p->batch);
    case TYPE_C:
        return batchlas_ctrsm_array(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, alpha_pc,
                                    (c_inputs_t)p->A.items, p->A.ld, (c_array_t)p->B.items, p->B.ld,
                                    p->batch);
    case TYPE_Z:
        return batchlas_ztrsm_array(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n, alpha_pz,
                                    (z_inputs_t)p->A.items, p->A.ld, (z_array_t)p->B.items, p->B.ld,
                                    p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t gemm(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    const batchlas_complex_float alpha_c = (float)p->alpha[0] + (float)p->alpha[1] * I;
    const batchlas_complex_double alpha_z = p->alpha[0] + p->alpha[1] * I;
    const batchlas_complex_float *const alpha_pc = at(c, c->alpha_at, &alpha_c);
    const batchlas_complex_double *const alpha_pz = at(c, c->alpha_at, &alpha_z);
    const batchlas_complex_float beta_c = (float)p->beta[0] + (float)p->beta[1] * I;
    const batchlas_complex_double beta_z = p->beta[0] + p->beta[1] * I;
    const batchlas_complex_float *const beta_pc = at(c, c->beta_at, &beta_c);
    const batchlas_complex_double *const beta_pz = at(c, c->beta_at, &beta_z);
    switch (p->type) {
    case TYPE_S:
        return batchlas_sgemm(h, p->op_a, p->op_b, p->m, p->n, p->k, (float)p->alpha[0], p->A.base,
                              p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride,
                              (float)p->beta[0], p->C.base, p->C.ld, p->C.stride, p->batch);
    case TYPE_D:
        return batchlas_dgemm(h, p->op_a, p->op_b, p->m, p->n, p->k, p->alpha[0], p->A.base,
                              p->A.ld, p->A.stride, p->B.base, p->B.ld, p->B.stride, p->beta[0],
                              p->C.base, p->C.ld, p->C.stride, p->batch);
    case TYPE_C:
        return batchlas_cgemm(h, p->op_a, p->op_b, p->m, p->n, p->k, alpha_pc, p->A.base, p->A.ld,
                              p->A.stride, p->B.base, p->B.ld, p->B.stride, beta_pc, p->C.base,
                              p->C.ld, p->C.stride, p->batch);
    case TYPE_Z:
        return batchlas_zgemm(h, p->op_a, p->op_b, p->m, p->n, p->k, alpha_pz, p->A.base, p->A.ld,
                              p->A.stride, p->B.base, p->B.ld, p->B.stride, beta_pz, p->C.base,
                              p->C.ld, p->C.stride, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t gemm_array(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    const batchlas_complex_float alpha_c = (float)p->alpha[0] + (float)p->alpha[1] * I;
    const batchlas_complex_double alpha_z = p->alpha[0] + p->alpha[1] * I;
    const batchlas_complex_float *const alpha_pc = at(c, c->alpha_at, &alpha_c);
    const batchlas_complex_double *const alpha_pz = at(c, c->alpha_at, &alpha_z);
    const batchlas_complex_float beta_c = (float)p->beta[0] + (float)p->beta[1] * I;
    const batchlas_complex_double beta_z = p->beta[0] + p->beta[1] * I;
    const batchlas_complex_float *const beta_pc = at(c, c->beta_at, &beta_c);
    const batchlas_complex_double *const beta_pz = at(c, c->beta_at, &beta_z);
    switch (p->type) {
    case TYPE_S:
        return batchlas_sgemm_array(h, p->op_a, p->op_b, p->m, p->n, p->k, (float)p->alpha[0],
                                    (s_inputs_t)p->A.items, p->A.ld, (s_inputs_t)p->B.items,
                                    p->B.ld, (float)p->beta[0], (s_array_t)p->C.items, p->C.ld,
                                    p->batch);
    case TYPE_D:
        return batchlas_dgemm_array(h, p->op_a, p->op_b, p->m, p->n, p->k, p->alpha[0],
                                    (d_inputs_t)p->A.items, p->A.ld, (d_inputs_t)p->B.items,
                                    p->B.ld, p->beta[0], (d_array_t)p->C.items, p->C.ld, p->batch);
    case TYPE_C:
        return batchlas_cgemm_array(h, p->op_a, p->op_b, p->m, p->n, p->k, alpha_pc,
                                    (c_inputs_t)p->A.items, p->A.ld, (c_inputs_t)p->B.items,
                                    p->B.ld, beta_pc, (c_array_t)p->C.items, p->C.ld, p->batch);
    case TYPE_Z:
        return batchlas_zgemm_array(h, p->op_a, p->op_b, p->m, p->n, p->k, alpha_pz,
                                    (z_inputs_t)p->A.items, p->A.ld, (z_inputs_t)p->B.items,
                                    p->B.ld, beta_pz, (z_array_t)p->C.items, p->C.ld, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t syrk(batchlas_handle_t h, const call_t *c) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_ssyrk(h, p->uplo, p->op_a, p->n, p->k, (float)p->alpha[0], p->A.base,
                              p->A.ld, p->A.stride, (float)p->beta[0], p->C.base, p->C.ld,
                              p->C.stride, p->batch);
    case TYPE_D:
        return batchlas_dsyrk(h, p->uplo, p->op_a, p->n, p->k, p->alpha[0], p->A.base, p->A.ld,
                              p->A.stride, p->beta[0], p->C.base, p->C.ld, p->C.stride, p->batch);
    case TYPE_C:
        return batchlas_cherk(h, p->uplo, p->op_a, p->n, p->k, (float)p->alpha[0], p->A.base,
                              p->A.ld, p->A.stride, (float)p->beta[0], p->C.base, p->C.ld,
                              p->C.stride, p->batch);
    case TYPE_Z:
        return batchlas_zherk(h, p->uplo, p->op_a, p->n, p->k, p->alpha[0], p->A.base, p->A.ld,
                              p->A.stride, p->beta[0], p->C.base, p->C.ld, p->C.stride, p->batch);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

batchlas_status_t call(batchlas_handle_t h, const call_t *c) {
    switch (c->routine) {
    case POTRF:
        return c->array ? potrf_array(h, c) : potrf(h, c);
    case POTRS:
        return c->array ? potrs_array(h, c) : potrs(h, c);
    case POSV:
        return c->array ? posv_array(h, c) : posv(h, c);
    case POTRF_LOGDET:
        return potrf_logdet(h, c);
    case TRSM:
        return c->array ? trsm_array(h, c) : trsm(h, c);
    case GEMM:
        return c->array ? gemm_array(h, c) : gemm(h, c);
    case SYRK:
        return syrk(h, c);
    case ROUTINE_COUNT:
        break;
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrf_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrf_buffer_size(h, p->uplo, p->n, p->batch, bytes);
    case TYPE_D:
        return batchlas_dpotrf_buffer_size(h, p->uplo, p->n, p->batch, bytes);
    case TYPE_C:
        return batchlas_cpotrf_buffer_size(h, p->uplo, p->n, p->batch, bytes);
    case TYPE_Z:
        return batchlas_zpotrf_buffer_size(h, p->uplo, p->n, p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t potrs_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_spotrs_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_D:
        return batchlas_dpotrs_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_C:
        return batchlas_cpotrs_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_Z:
        return batchlas_zpotrs_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t posv_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_sposv_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_D:
        return batchlas_dposv_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_C:
        return batchlas_cposv_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    case TYPE_Z:
        return batchlas_zposv_buffer_size(h, p->uplo, p->n, p->nrhs, p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t trsm_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_strsm_buffer_size(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n,
                                          p->batch, bytes);
    case TYPE_D:
        return batchlas_dtrsm_buffer_size(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n,
                                          p->batch, bytes);
    case TYPE_C:
        return batchlas_ctrsm_buffer_size(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n,
                                          p->batch, bytes);
    case TYPE_Z:
        return batchlas_ztrsm_buffer_size(h, p->side, p->uplo, p->op_a, p->diag, p->m, p->n,
                                          p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t gemm_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_sgemm_buffer_size(h, p->op_a, p->op_b, p->m, p->n, p->k, p->batch, bytes);
    case TYPE_D:
        return batchlas_dgemm_buffer_size(h, p->op_a, p->op_b, p->m, p->n, p->k, p->batch, bytes);
    case TYPE_C:
        return batchlas_cgemm_buffer_size(h, p->op_a, p->op_b, p->m, p->n, p->k, p->batch, bytes);
    case TYPE_Z:
        return batchlas_zgemm_buffer_size(h, p->op_a, p->op_b, p->m, p->n, p->k, p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

static batchlas_status_t syrk_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    const problem_t *p = &c->p;
    switch (p->type) {
    case TYPE_S:
        return batchlas_ssyrk_buffer_size(h, p->uplo, p->op_a, p->n, p->k, p->batch, bytes);
    case TYPE_D:
        return batchlas_dsyrk_buffer_size(h, p->uplo, p->op_a, p->n, p->k, p->batch, bytes);
    case TYPE_C:
        return batchlas_cherk_buffer_size(h, p->uplo, p->op_a, p->n, p->k, p->batch, bytes);
    case TYPE_Z:
        return batchlas_zherk_buffer_size(h, p->uplo, p->op_a, p->n, p->k, p->batch, bytes);
    }
    return BATCHLAS_NOT_SUPPORTED;
}

batchlas_status_t call_buffer_size(batchlas_handle_t h, const call_t *c, size_t *bytes) {
    switch (c->routine) {
    case POTRF:
        return potrf_buffer_size(h, c, bytes);
    case POTRS:
        return potrs_buffer_size(h, c, bytes);
    case POSV:
        return posv_buffer_size(h, c, bytes);
    case TRSM:
        return trsm_buffer_size(h, c, bytes);
    case GEMM:
        return gemm_buffer_size(h, c, bytes);
    case SYRK:
        return syrk_buffer_size(h, c, bytes);
    case POTRF_LOGDET:
    case ROUTINE_COUNT:
        break;
    }
    return BATCHLAS_NOT_SUPPORTED;
}
