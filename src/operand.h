/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands as the two forms of a public call give them. Constness ends here: a family writes only
 * what its operation says. */
#ifndef BATCHLAS_OPERAND_H
#define BATCHLAS_OPERAND_H

#include "problem.h"

static inline operand_t strided(const void *base, int ld, int64_t stride) {
    return (operand_t){.base = (void *)(uintptr_t)base, .ld = ld, .stride = stride};
}

static inline operand_t pointers(const void *items, int ld) {
    return (operand_t){.items = (void *const *)(uintptr_t)items, .ld = ld};
}

/* An operand that is not read may be NULL, and NULL is no address to reckon with: so it lies where
 * another one does. */
static inline void place_unread(operand_t *unread, const operand_t *other) {
    unread->base = other->base;
    unread->items = other->items;
}

/* For buffer_size, which any leading dimension and form share. */
static const operand_t no_operand = {.base = NULL};

#endif
