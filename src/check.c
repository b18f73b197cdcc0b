/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include "device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Of a real number, or of one part of a complex one. */
static size_t part_size(scalar_type_t type) {
    return scalar_is_complex(type) ? scalar_size(type) / 2 : scalar_size(type);
}

check_t batchlas_check_begin(batchlas_handle_t h, const char *operation, scalar_type_t type) {
    return (check_t){.h = h, .operation = operation, .type = type, .status = batchlas_begin(h)};
}

__attribute__((format(printf, 3, 4))) static void reject(check_t *check, const char *argument,
                                                         const char *format, ...) {
    char detail[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    check->status = batchlas_fail(check->h, BATCHLAS_INVALID_ARGUMENT, "%c%s: argument %s is %s",
                                  scalar_letter(check->type), check->operation, argument, detail);
}

void batchlas_check_enum(check_t *check, const char *argument, int value, int allowed) {
    if (check->status == BATCHLAS_SUCCESS && (value < 0 || value >= allowed))
        reject(check, argument, "%d, expected one of its constants, 0 to %d", value, allowed - 1);
}

void batchlas_check_not_negative(check_t *check, const char *argument, int64_t value) {
    if (check->status == BATCHLAS_SUCCESS && value < 0)
        reject(check, argument, "%" PRId64 ", expected at least 0", value);
}

void batchlas_check_batch(check_t *check, int64_t batch) {
    if (check->status == BATCHLAS_SUCCESS && (batch < 0 || batch > MAX_BATCH))
        reject(check, "batch", "%" PRId64 ", expected 0 to %" PRId64, batch, MAX_BATCH);
}

void batchlas_check_extent(check_t *check, const char *argument, int value, int other) {
    const int64_t most = INT64_MAX / (int64_t)scalar_size(check->type);
    if (check->status == BATCHLAS_SUCCESS && (int64_t)value * other > most)
        reject(check, argument, "%d, expected offsets in a matrix of %d by %d to fit in 64 bits",
               value, value, other);
}

void batchlas_check_pointer(check_t *check, const char *argument, const void *pointer,
                            size_t alignment, bool may_be_null) {
    if (check->status != BATCHLAS_SUCCESS)
        return;
    if (!pointer) {
        if (!may_be_null)
            reject(check, argument, "NULL, expected a pointer to the operand");
        return;
    }
    if ((uintptr_t)pointer % alignment) {
        reject(check, argument, "%p, expected a multiple of %zu", pointer, alignment);
        return;
    }
    int owner = 0;
    switch (batchlas_device_memory(check->h, pointer, &owner)) {
    case MEMORY_OK:
        break;
    case MEMORY_HOST:
        reject(check, argument,
               "%p, a host pointer, expected memory that device %d can access "
               "(inside a target data region pass it through use_device_ptr)",
               pointer, check->h->device);
        break;
    case MEMORY_UNKNOWN:
        check->status = batchlas_fail(
            check->h, BATCHLAS_DEVICE_ERROR,
            "%c%s: argument %s is %p, but after an earlier error CUDA does not tell whose memory "
            "that is",
            scalar_letter(check->type), check->operation, argument, pointer);
        break;
    case MEMORY_OTHER_DEVICE:
        if (check->h->facts.is_gpu)
            reject(check, argument, "%p, memory of device %d, expected memory of device %d",
                   pointer, owner, check->h->device);
        else
            reject(check, argument, "%p, memory of device %d, expected host memory", pointer,
                   owner);
        break;
    }
}

/* An address that this call itself reads or writes, on the host. */
static void check_host_address(check_t *check, const char *argument, const void *address,
                               size_t alignment, const char *expected) {
    if (check->status != BATCHLAS_SUCCESS)
        return;
    if (!address)
        reject(check, argument, "NULL, expected %s", expected);
    else if ((uintptr_t)address % alignment)
        reject(check, argument, "%p, expected a multiple of %zu", address, alignment);
    else if (batchlas_device_only(address))
        reject(check, argument, "%p, memory of a device, expected %s", address, expected);
}

void batchlas_check_result(check_t *check, const char *argument, const size_t *address) {
    check_host_address(check, argument, address, sizeof *address,
                       "a host address to put the result");
}

void batchlas_check_scalar(check_t *check, const char *argument, const void *scalar,
                           double value[2]) {
    check_host_address(check, argument, scalar, part_size(check->type),
                       "the host address of a scalar");
    if (check->status != BATCHLAS_SUCCESS)
        return;
    const bool single = check->type == TYPE_S || check->type == TYPE_C;
    const float *singles = scalar;
    const double *doubles = scalar;
    value[0] = single ? (double)singles[0] : doubles[0];
    value[1] = !scalar_is_complex(check->type) ? 0.0 : single ? (double)singles[1] : doubles[1];
}

void batchlas_check_reject(check_t *check, const char *argument, const char *what) {
    if (check->status == BATCHLAS_SUCCESS)
        reject(check, argument, "%s", what);
}

/* A device loads a complex number at once, a host its parts. */
static size_t element_alignment(const check_t *check) {
    return check->h->facts.is_gpu ? scalar_size(check->type) : part_size(check->type);
}

/* Whether batch strides of this length still are byte offsets that fit. */
static bool stride_overflows(const check_t *check, int64_t stride, int64_t extent, int64_t batch) {
    const int64_t limit = INT64_MAX / (int64_t)scalar_size(check->type) - extent;
    return stride > 0 && batch - 1 > limit / stride;
}

void batchlas_check_operand(check_t *check, char letter, const operand_t *operand, int64_t rows,
                            int64_t columns, int64_t batch, access_t access, bool used) {
    if (check->status != BATCHLAS_SUCCESS)
        return;
    const char pointer_name[] = {letter, '\0'};
    const char lower = (char)(letter - 'A' + 'a');
    const char ld_name[] = {'l', 'd', lower, '\0'};
    const char stride_name[] = {'s', 't', 'r', 'i', 'd', 'e', '_', lower, '\0'};
    const void *pointer = operand->items ? (const void *)operand->items : operand->base;
    batchlas_check_pointer(check, pointer_name, pointer,
                           operand->items ? sizeof(void *) : element_alignment(check), !used);
    if (check->status != BATCHLAS_SUCCESS)
        return;
    const int64_t least = rows > 1 ? rows : 1;
    if (operand->ld < least) {
        reject(check, ld_name, "%d, expected at least %" PRId64, operand->ld, least);
        return;
    }
    const int64_t extent = operand_extent(operand->ld, rows, columns);
    if (extent > INT64_MAX / (int64_t)scalar_size(check->type)) {
        reject(check, ld_name, "%d, expected offsets in %" PRId64 " columns to fit in 64 bits",
               operand->ld, columns);
        return;
    }
    if (operand->items || batch <= 1 || (access == READ && operand->stride == 0))
        return;
    if (operand->stride < extent)
        reject(check, stride_name, "%" PRId64 ", expected at least %" PRId64 "%s", operand->stride,
               extent, access == READ ? " or 0" : "");
    else if (stride_overflows(check, operand->stride, extent, batch))
        reject(check, stride_name,
               "%" PRId64 ", expected offsets of %" PRId64 " items to fit in 64 bits",
               operand->stride, batch);
}
