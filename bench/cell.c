/* SPDX-License-Identifier: BSD-3-Clause */
#include "cell.h"

#include <stdio.h>
#include <string.h>

static const char *const op_names[OP_COUNT] = {"potrf", "potrs", "posv", "trsm", "gemm", "syrk"};

const char *op_name(op_t op) {
    return op_names[op];
}

bool op_from_name(const char *name, op_t *op) {
    for (int i = 0; i < OP_COUNT; ++i) {
        if (!strcmp(name, op_names[i])) {
            *op = (op_t)i;
            return true;
        }
    }
    return false;
}

bool op_has_uplo(op_t op) {
    return op != OP_GEMM;
}

bool op_has_array_form(op_t op) {
    return op != OP_SYRK;
}

bool op_writes_info(op_t op) {
    return op == OP_POTRF || op == OP_POSV;
}

const char *const *op_forms(op_t op, char type) {
    static const char *const one[] = {"-", NULL};
    static const char *const trsm[] = {"LN", "LT", "LC", "RN", "RT", "RC", NULL};
    static const char *const gemm[] = {"NN", "NT", "NC", "TN", "TT", "TC", "CN", "CT", "CC", NULL};
    static const char *const syrk[] = {"N", "T", "C", NULL};
    static const char *const herk[] = {"N", "C", NULL};
    switch (op) {
    case OP_TRSM:
        return trsm;
    case OP_GEMM:
        return gemm;
    case OP_SYRK:
        return type_is_complex(type) ? herk : syrk;
    default:
        return one;
    }
}

batchlas_op_t op_of_letter(char letter) {
    return letter == 'N' ? BATCHLAS_NO_TRANS : letter == 'T' ? BATCHLAS_TRANS : BATCHLAS_CONJ_TRANS;
}

size_t size_of_type(char type) {
    return type == 's' ? 4 : type == 'z' ? 16 : 8;
}

bool type_is_complex(char type) {
    return type == 'c' || type == 'z';
}

static void add_operand(cell_t *cell, shape_t shape, fill_t fill, int rows, int columns,
                        bool written) {
    const int ld = rows + cell->ld_pad;
    cell->operands[cell->operand_count++] = (operand_t){.shape = shape,
                                                        .fill = fill,
                                                        .rows = rows,
                                                        .columns = columns,
                                                        .ld = ld,
                                                        .stride = (int64_t)ld * columns,
                                                        .written = written};
}

/* An operand that is rows by columns once `letter` has been applied to it. */
static void add_factor(cell_t *cell, char letter, int rows, int columns) {
    const bool plain = letter == 'N';
    add_operand(cell, FULL, RANDOM, plain ? rows : columns, plain ? columns : rows, false);
}

void cell_describe(cell_t *cell) {
    const shape_t triangle = cell->uplo == BATCHLAS_LOWER ? LOWER_TRIANGLE : UPPER_TRIANGLE;
    const int n = cell->n;
    const int nrhs = cell->nrhs;
    cell->operand_count = 0;
    switch (cell->op) {
    case OP_POTRF:
        add_operand(cell, triangle, POSITIVE_DEFINITE, n, n, true);
        break;
    case OP_POTRS:
        add_operand(cell, triangle, FACTOR, n, n, false);
        add_operand(cell, FULL, RANDOM, n, nrhs, true);
        break;
    case OP_POSV:
        add_operand(cell, triangle, POSITIVE_DEFINITE, n, n, true);
        add_operand(cell, FULL, RANDOM, n, nrhs, true);
        break;
    case OP_TRSM:
        add_operand(cell, triangle, FACTOR, n, n, false);
        add_operand(cell, FULL, RANDOM, cell->form[0] == 'L' ? n : nrhs,
                    cell->form[0] == 'L' ? nrhs : n, true);
        break;
    case OP_GEMM:
        add_factor(cell, cell->form[0], n, nrhs);
        add_factor(cell, cell->form[1], nrhs, n);
        add_operand(cell, FULL, RANDOM, n, n, true);
        break;
    case OP_SYRK:
        add_factor(cell, cell->form[0], n, nrhs);
        add_operand(cell, triangle, POSITIVE_DEFINITE, n, n, true);
        break;
    case OP_COUNT:
        break;
    }
}

void cell_name(const cell_t *cell, char *text, size_t size) {
    char key[64] = "";
    size_t used = 0;
    if (op_has_uplo(cell->op))
        used += (size_t)snprintf(key + used, sizeof key - used, " %s",
                                 cell->uplo == BATCHLAS_LOWER ? "lower" : "upper");
    if (cell->form[0] != '-')
        used += (size_t)snprintf(key + used, sizeof key - used, " %s", cell->form);
    used += (size_t)snprintf(key + used, sizeof key - used, " n=%d", cell->n);
    if (cell->op != OP_POTRF)
        snprintf(key + used, sizeof key - used, " nrhs=%d", cell->nrhs);
    snprintf(text, size, "%s %c%s batch=%lld", op_name(cell->op), cell->type, key,
             (long long)cell->batch);
}

double cell_bytes(const cell_t *cell) {
    double bytes = (double)cell->batch * sizeof(int);
    for (int i = 0; i < cell->operand_count; ++i) {
        const operand_t *operand = &cell->operands[i];
        const int copies = operand->written ? 2 : 1;
        bytes += (double)cell->batch * (double)operand->stride * copies *
                 (double)size_of_type(cell->type);
        if (cell->array)
            bytes += (double)cell->batch * sizeof(void *);
    }
    return bytes;
}
