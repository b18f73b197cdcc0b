/* SPDX-License-Identifier: BSD-3-Clause */
/* One case of potrs or posv in all its forms. */
#ifndef BATCHLAS_TESTS_SOLVES_H
#define BATCHLAS_TESTS_SOLVES_H

#include "harness/calls.h"
#include "harness/families.h"
#include "harness/reference.h"

typedef struct {
    routine_t routine; /* POTRS takes the systems' factors, POSV their matrices */
    const systems_t *systems;
    batchlas_uplo_t uplo;
    int64_t batch;
    layout_t layout_a, layout_b;
    const family_line_t *line;
    bool no_info;
} solve_t;

/* The operands as the call finds them, in the device's memory. */
matrices_t solve_matrices(const solve_t *c, layout_t layout, fill_t fill);
matrices_t solve_right_hand_sides(const solve_t *c, layout_t layout, fill_t fill);

batchlas_status_t solve_call(batchlas_handle_t h, const solve_t *c, const matrices_t *A,
                             const matrices_t *B, int *info, bool array);

/* A case's operands in all its forms, made once for every family that is to run it. */
typedef enum { STRIDED, AMONG_NAN, WITH_POINTERS, FORM_COUNT } form_t;
typedef struct {
    matrices_t A[FORM_COUNT], B[FORM_COUNT];
    bool is_put[FORM_COUNT]; /* A */
    ints_t info;
    int *expected; /* info */
} solve_operands_t;

solve_operands_t solve_operands(const solve_t *c);
void solve_operands_free(solve_operands_t *o);

/* One call on fresh operands, with the case's family pinned; what it left is in their images. */
batchlas_status_t solve_form(const solve_t *c, solve_operands_t *o, form_t form);

/* The strided form among finite padding, the same among NaN and with arrays of pointers: right, the
 * same bits, and for posv with the right-hand sides of failing items as they were. False where the
 * family refused, which left everything as it was. Keeps the first solutions for the caller, if it
 * wants them. */
bool solve_run(const solve_t *c, solve_operands_t *o, matrices_t *kept);

/* Whether a walk over orders and widths takes this pair: wide right-hand sides at every fourth
 * order beyond the small ones, and under a sanitizer a sample. */
bool solve_takes(int order_index, int n, int width_index, int nrhs);

/* Names the case that the next failure is about. */
void solve_name(const solve_t *c, const char *what);

#endif
