/* SPDX-License-Identifier: BSD-3-Clause */
/* A cell: one problem of one operation, and the matrices it works on. */
#ifndef BATCHLAS_BENCH_CELL_H
#define BATCHLAS_BENCH_CELL_H

#include <batchlas/batchlas.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { OP_POTRF, OP_POTRS, OP_POSV, OP_TRSM, OP_GEMM, OP_SYRK, OP_COUNT } op_t;

/* Which elements an operation refers to. */
typedef enum { FULL, LOWER_TRIANGLE, UPPER_TRIANGLE } shape_t;

typedef enum {
    RANDOM,            /* entries in [-1, 1) */
    POSITIVE_DEFINITE, /* Hermitian, condition about 3 */
    FACTOR             /* a triangle like the Cholesky factor of one of those */
} fill_t;

/* One operand of every item: column-major, `stride` elements from item to item. */
typedef struct {
    shape_t shape;
    fill_t fill;
    int rows, columns, ld;
    int64_t stride;
    bool written;
} operand_t;

enum { MAX_OPERANDS = 3, FORM_LENGTH = 4 };

/* The key by which tuned tables know a problem, and the layout. n, nrhs are the tables': for trsm
 * the order of the triangle and the other extent of B, for gemm the order of a square C and k, for
 * syrk the order of C and k. form is "-", of trsm side and trans ("RC"), of gemm opa and opb
 * ("NC"), of syrk trans ("N"). */
typedef struct {
    op_t op;
    char type; /* s d c z */
    batchlas_uplo_t uplo;
    char form[FORM_LENGTH];
    int n;
    int nrhs;
    int64_t batch;
    int ld_pad;
    bool array; /* the _array entry, through an array of pointers */

    operand_t operands[MAX_OPERANDS]; /* in the order of the arguments */
    int operand_count;
} cell_t;

const char *op_name(op_t op);
bool op_from_name(const char *name, op_t *op);
bool op_has_uplo(op_t op);
bool op_has_array_form(op_t op);
bool op_writes_info(op_t op);
/* The operation's forms for this type, "-" alone where there is one; ends with NULL. */
const char *const *op_forms(op_t op, char type);

batchlas_op_t op_of_letter(char letter);
size_t size_of_type(char type);
bool type_is_complex(char type);

/* Fills the operands from the keys. */
void cell_describe(cell_t *cell);

/* "potrf s lower n=32 batch=4096": how messages name the cell. */
void cell_name(const cell_t *cell, char *text, size_t size);

/* Bytes of the matrices, of a second copy of those that are written, of pointers and of info. */
double cell_bytes(const cell_t *cell);

#endif
