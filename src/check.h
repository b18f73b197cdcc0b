/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument checks. The first failure is kept and the rest are passed over, so an entry lists its
 * arguments in order and asks once at the end. */
#ifndef BATCHLAS_CHECK_H
#define BATCHLAS_CHECK_H

#include "handle.h"

typedef struct {
    batchlas_handle_t h;
    const char *operation; /* "potrf" */
    scalar_type_t type;
    batchlas_status_t status;
} check_t;

typedef enum { READ, WRITTEN } access_t;

/* Begins a call. BATCHLAS_INVALID_ARGUMENT where h is no handle. */
check_t batchlas_check_begin(batchlas_handle_t h, const char *operation, scalar_type_t type);

/* `allowed` is how many of the enumerators, from 0, are legal. */
void batchlas_check_enum(check_t *check, const char *argument, int value, int allowed);
void batchlas_check_not_negative(check_t *check, const char *argument, int64_t value);
void batchlas_check_batch(check_t *check, int64_t batch);
/* Where there is no operand to ask: whether `argument`'s value times `other` elements, neither of
 * them negative, have byte offsets that fit in 64 bits. */
void batchlas_check_extent(check_t *check, const char *argument, int value, int other);
/* Pointer, leading dimension and stride of one operand, in that order. It may be NULL only where
 * `used` is false. Names follow the argument: A, lda, stride_a. */
void batchlas_check_operand(check_t *check, char letter, const operand_t *operand, int64_t rows,
                            int64_t columns, int64_t batch, access_t access, bool used);
/* Any other pointer that the device uses, to elements of this alignment in bytes. */
void batchlas_check_pointer(check_t *check, const char *argument, const void *pointer,
                            size_t alignment, bool may_be_null);

/* A scalar of the check's type at a host address: loads its real and imaginary part. */
void batchlas_check_scalar(check_t *check, const char *argument, const void *scalar,
                           double value[2]);
/* A host address that the call writes its answer to. */
void batchlas_check_result(check_t *check, const char *argument, const size_t *address);
/* For a rule of one operation alone: `what` is the value and what was expected. */
void batchlas_check_reject(check_t *check, const char *argument, const char *what);

#endif
