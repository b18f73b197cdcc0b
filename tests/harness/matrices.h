/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of matrices in the device's memory, with everything around them that must not matter. */
#ifndef BATCHLAS_TESTS_MATRICES_H
#define BATCHLAS_TESTS_MATRICES_H

#include "harness/suite.h"

#include "problem.h"

/* References are computed in this, for every type: 11 bits more than double on x86. */
typedef struct {
    long double re, im;
} wide_t;

/* The nearest value of the type. */
wide_t round_to(scalar_type_t type, wide_t value);
/* Half a unit in the last place of 1: 2^-24 or 2^-53. */
long double unit_roundoff(scalar_type_t type);

/* The elements of an item that count; all else is padding. */
typedef enum {
    ALL,
    LOWER_TRIANGLE,
    UPPER_TRIANGLE,
    STRICT_LOWER_TRIANGLE,
    STRICT_UPPER_TRIANGLE
} region_t;

static inline region_t triangle_of(batchlas_uplo_t uplo) {
    return uplo == BATCHLAS_LOWER ? LOWER_TRIANGLE : UPPER_TRIANGLE;
}

/* What fills the padding: NaN proves that it is not used, a finite value that it is not written. */
typedef enum { SENTINEL, POISON } fill_t;

typedef struct {
    int ld_pad;    /* ld is rows + ld_pad */
    int64_t gap;   /* stride is ld * columns + gap */
    int shift;     /* elements by which item 0 misses the allocation's alignment */
    bool reversed; /* item 0 lies last; for pointer arrays only */
    bool shared;   /* stride 0: one item serves the batch */
} layout_t;

extern const layout_t TIGHT;      /* nothing between the items */
extern const layout_t PADDED;     /* ld n + 5, stride ld * n + 13, aligned to one element */
extern const layout_t OVERLAPPED; /* the next item starts in the last column's padding */
extern const layout_t REVERSED;   /* PADDED, the other way round */
extern const layout_t SHARED;

typedef struct {
    scalar_type_t type;
    int rows, columns;
    int64_t batch;
    layout_t layout;
    region_t region;
    bool real_diagonal; /* the imaginary part of the diagonal is padding on input */

    int ld;
    int64_t stride;
    size_t elements;      /* of the whole allocation */
    size_t guard;         /* elements before item 0's and after the last item's */
    unsigned char *input; /* what was put there */
    unsigned char *image; /* what was found there by matrices_get */
    unsigned char *device;
    void **items; /* array of pointers, on the device */
} matrices_t;

matrices_t matrices_make(scalar_type_t type, int rows, int columns, int64_t batch, layout_t layout,
                         region_t region);
void matrices_free(matrices_t *m);

/* Fills everything; items are set afterwards. */
void matrices_fill(matrices_t *m, fill_t fill);
/* Sets the elements of item i that count from M, rows by columns without padding. */
void matrices_set(matrices_t *m, int64_t item, const wide_t *M);
/* Sets them to those of item `other`, which were set before. */
void matrices_repeat(matrices_t *m, int64_t item, int64_t other);
/* One element of the input, whether it counts or not. */
void matrices_set_element(matrices_t *m, int64_t item, int row, int column, wide_t value);
void matrices_put(matrices_t *m);
void matrices_get(matrices_t *m);
/* A copy of what was found, without memory on the device. */
matrices_t matrices_keep(const matrices_t *m);
/* Every element of item i as matrices_get found it, rows by columns. */
void matrices_item(const matrices_t *m, int64_t item, wide_t *M);
wide_t matrices_element(const matrices_t *m, int64_t item, int row, int column);
/* A number for the bits of item i's elements that count: others give another, but for a chance of
 * one in 2^64. */
uint64_t matrices_hash(const matrices_t *m, int64_t item);

/* As an argument of a strided call, and of an _array call. */
operand_t matrices_strided(const matrices_t *m);
operand_t matrices_pointers(const matrices_t *m);

/* Nothing was written but elements that count. */
verdict_t padding_is_untouched(const matrices_t *m);
/* Nothing was written at all. */
verdict_t matrices_are_untouched(const matrices_t *m);
/* Item i was not written. */
verdict_t item_is_untouched(const matrices_t *m, int64_t item);
/* The elements that count are the same bits; items with skip[i] != 0 are passed over. */
verdict_t items_agree(const matrices_t *a, const matrices_t *b, const int *skip);
/* Item `item` of a is item `other` of b, bit for bit. */
verdict_t item_agrees(const matrices_t *a, int64_t item, const matrices_t *b, int64_t other);

/* Ints on the device, among guard ints. */
typedef struct {
    int64_t batch;
    int64_t guard; /* ints before the first and after the last */
    int *values;   /* as ints_get found them */
    int *device;
} ints_t;

/* Starts out full of values that no call may leave there. */
ints_t ints_make(int64_t batch);
void ints_free(ints_t *ints);
/* Puts those values back. */
void ints_put(ints_t *ints);
void ints_get(ints_t *ints);
/* The values are the expected ones and the guards are intact. */
verdict_t ints_are(const ints_t *ints, const int *expected);
verdict_t ints_are_untouched(const ints_t *ints);

#endif
