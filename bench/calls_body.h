/* SPDX-License-Identifier: BSD-3-Clause */
/* Included by calls.c once for each type: T is the scalar, ENTRY(f) is the library's f for it,
 * RANK_K(suffix) its syrk or herk, HERE(f) this file's f, and GIVE(x) how the scalar x is passed.
 */

static batchlas_status_t HERE(strided)(batchlas_handle_t h, const cell_t *cell,
                                       const matrices_t *matrices) {
    const operand_t *o = cell->operands;
    T *const a = matrices->work[0];
    T *const b = matrices->work[1];
    T *const c = matrices->work[2];
    const T one = 1;
    const T minus_one = -1;
    switch (cell->op) {
    case OP_POTRF:
        return ENTRY(potrf)(h, cell->uplo, cell->n, a, o[0].ld, o[0].stride, matrices->info,
                            cell->batch);
    case OP_POTRS:
        return ENTRY(potrs)(h, cell->uplo, cell->n, cell->nrhs, a, o[0].ld, o[0].stride, b, o[1].ld,
                            o[1].stride, cell->batch);
    case OP_POSV:
        return ENTRY(posv)(h, cell->uplo, cell->n, cell->nrhs, a, o[0].ld, o[0].stride, b, o[1].ld,
                           o[1].stride, matrices->info, cell->batch);
    case OP_TRSM:
        return ENTRY(trsm)(h, side_of(cell), cell->uplo, op_of_letter(cell->form[1]),
                           BATCHLAS_NON_UNIT, o[1].rows, o[1].columns, GIVE(one), a, o[0].ld,
                           o[0].stride, b, o[1].ld, o[1].stride, cell->batch);
    case OP_GEMM:
        return ENTRY(gemm)(h, op_of_letter(cell->form[0]), op_of_letter(cell->form[1]), cell->n,
                           cell->n, cell->nrhs, GIVE(minus_one), a, o[0].ld, o[0].stride, b,
                           o[1].ld, o[1].stride, GIVE(one), c, o[2].ld, o[2].stride, cell->batch);
    default:
        return RANK_K()(h, cell->uplo, op_of_letter(cell->form[0]), cell->n, cell->nrhs, -1, a,
                        o[0].ld, o[0].stride, 1, b, o[1].ld, o[1].stride, cell->batch);
    }
}

static batchlas_status_t HERE(array)(batchlas_handle_t h, const cell_t *cell,
                                     const matrices_t *matrices) {
    const operand_t *o = cell->operands;
    T *const *const a = (T *const *)matrices->items[0];
    T *const *const b = (T *const *)matrices->items[1];
    T *const *const c = (T *const *)matrices->items[2];
    const T *const *const read_a = (const T *const *)a;
    const T *const *const read_b = (const T *const *)b;
    const T one = 1;
    const T minus_one = -1;
    switch (cell->op) {
    case OP_POTRF:
        return ENTRY(potrf_array)(h, cell->uplo, cell->n, a, o[0].ld, matrices->info, cell->batch);
    case OP_POTRS:
        return ENTRY(potrs_array)(h, cell->uplo, cell->n, cell->nrhs, read_a, o[0].ld, b, o[1].ld,
                                  cell->batch);
    case OP_POSV:
        return ENTRY(posv_array)(h, cell->uplo, cell->n, cell->nrhs, a, o[0].ld, b, o[1].ld,
                                 matrices->info, cell->batch);
    case OP_TRSM:
        return ENTRY(trsm_array)(h, side_of(cell), cell->uplo, op_of_letter(cell->form[1]),
                                 BATCHLAS_NON_UNIT, o[1].rows, o[1].columns, GIVE(one), read_a,
                                 o[0].ld, b, o[1].ld, cell->batch);
    case OP_GEMM:
        return ENTRY(gemm_array)(h, op_of_letter(cell->form[0]), op_of_letter(cell->form[1]),
                                 cell->n, cell->n, cell->nrhs, GIVE(minus_one), read_a, o[0].ld,
                                 read_b, o[1].ld, GIVE(one), c, o[2].ld, cell->batch);
    default:
        return BATCHLAS_NOT_SUPPORTED; /* options.c refuses --array for the others */
    }
}

static batchlas_status_t HERE(buffer_size)(batchlas_handle_t h, const cell_t *cell, size_t *bytes) {
    const operand_t *o = cell->operands;
    switch (cell->op) {
    case OP_POTRF:
        return ENTRY(potrf_buffer_size)(h, cell->uplo, cell->n, cell->batch, bytes);
    case OP_POTRS:
        return ENTRY(potrs_buffer_size)(h, cell->uplo, cell->n, cell->nrhs, cell->batch, bytes);
    case OP_POSV:
        return ENTRY(posv_buffer_size)(h, cell->uplo, cell->n, cell->nrhs, cell->batch, bytes);
    case OP_TRSM:
        return ENTRY(trsm_buffer_size)(h, side_of(cell), cell->uplo, op_of_letter(cell->form[1]),
                                       BATCHLAS_NON_UNIT, o[1].rows, o[1].columns, cell->batch,
                                       bytes);
    case OP_GEMM:
        return ENTRY(gemm_buffer_size)(h, op_of_letter(cell->form[0]), op_of_letter(cell->form[1]),
                                       cell->n, cell->n, cell->nrhs, cell->batch, bytes);
    default:
        return RANK_K(_buffer_size)(h, cell->uplo, op_of_letter(cell->form[0]), cell->n, cell->nrhs,
                                    cell->batch, bytes);
    }
}
