/* SPDX-License-Identifier: BSD-3-Clause */
#include "matrices.h"

#include "noise.h"

#include <math.h>

/* ---- generation ---------------------------------------------------------------------------- */

/* Diagonal and scale of the off-diagonal entries. A random Hermitian matrix with entries in [-1, 1)
 * has its spectrum within 1.2 sqrt(n), real, or 1.7 sqrt(n), complex, so 4 sqrt(n) on the diagonal
 * makes the condition about 3 while no entry is small against the rounding of its row. The factor
 * of such a matrix has 2 n^(1/4) on its diagonal. */
typedef struct {
    double diagonal, scale;
} entries_t;

static entries_t entries_of(fill_t fill, int n) {
    const double root = sqrt((double)n);
    switch (fill) {
    case POSITIVE_DEFINITE:
        return (entries_t){4.0 * root, 1.0};
    case FACTOR:
        return (entries_t){2.0 * sqrt(root), 0.5 / sqrt(root)};
    default:
        return (entries_t){0.0, 1.0};
    }
}

static inline void store(void *base, char type, int64_t index, double re, double im) {
    switch (type) {
    case 's':
        ((float *)base)[index] = (float)re;
        break;
    case 'd':
        ((double *)base)[index] = re;
        break;
    case 'c':
        ((float *)base)[2 * index] = (float)re;
        ((float *)base)[2 * index + 1] = (float)im;
        break;
    default:
        ((double *)base)[2 * index] = re;
        ((double *)base)[2 * index + 1] = im;
    }
}

static void generate(const machine_t *machine, const cell_t *cell, int which, void *base) {
    const operand_t operand = cell->operands[which];
    const entries_t entries = entries_of(operand.fill, operand.rows);
    const char type = cell->type;
    const int64_t count = cell->batch * operand.stride;
    const uint64_t seed = mix((uint64_t)which + 1);
    const double nothing = NAN;
#pragma omp target teams distribute parallel for is_device_ptr(base) device(machine->device)
    for (int64_t i = 0; i < count; ++i) {
        const int row = (int)(i % operand.ld);
        const int column = (int)(i % operand.stride / operand.ld);
        double re = entries.scale * (2.0 * noise(seed + 2 * (uint64_t)i) - 1.0);
        double im = entries.scale * (2.0 * noise(seed + 2 * (uint64_t)i + 1) - 1.0);
        if (operand.fill != RANDOM && row == column) {
            re = entries.diagonal;
            im = 0.0;
        }
        if (row >= operand.rows || (operand.shape == LOWER_TRIANGLE && row < column) ||
            (operand.shape == UPPER_TRIANGLE && row > column))
            re = im = nothing;
        store(base, type, i, re, im);
    }
}

static void point(const machine_t *machine, const cell_t *cell, int which, void *base,
                  void **items) {
    const int64_t step = cell->operands[which].stride * (int64_t)size_of_type(cell->type);
    const int64_t batch = cell->batch;
    char *const first = base;
#pragma omp target teams distribute parallel for is_device_ptr(first, items) device(machine->device)
    for (int64_t i = 0; i < batch; ++i)
        items[i] = first + i * step;
}

/* ---- memory -------------------------------------------------------------------------------- */

static size_t operand_bytes(const cell_t *cell, int which) {
    return (size_t)cell->batch * (size_t)cell->operands[which].stride * size_of_type(cell->type);
}

static bool make_operand(const machine_t *machine, const cell_t *cell, int which,
                         matrices_t *matrices) {
    const size_t bytes = operand_bytes(cell, which);
    void *source = machine_alloc(machine, bytes);
    matrices->source[which] = source;
    matrices->work[which] = source;
    if (source && cell->operands[which].written)
        matrices->work[which] = machine_alloc(machine, bytes);
    if (!matrices->work[which])
        return false;
    generate(machine, cell, which, source);
    if (!cell->array)
        return true;
    void **items = machine_alloc(machine, (size_t)cell->batch * sizeof *items);
    matrices->items[which] = items;
    if (items)
        point(machine, cell, which, matrices->work[which], items);
    return items != NULL;
}

bool matrices_make(const machine_t *machine, const cell_t *cell, matrices_t *matrices) {
    *matrices = (matrices_t){0};
    matrices->info = machine_alloc(machine, (size_t)cell->batch * sizeof(int));
    bool made = matrices->info != NULL;
    for (int i = 0; i < cell->operand_count && made; ++i)
        made = make_operand(machine, cell, i, matrices);
    if (!made)
        matrices_free(machine, matrices);
    return made;
}

void matrices_free(const machine_t *machine, matrices_t *matrices) {
    for (int i = 0; i < MAX_OPERANDS; ++i) {
        if (matrices->work[i] != matrices->source[i])
            machine_free(machine, matrices->work[i]);
        machine_free(machine, matrices->source[i]);
        machine_free(machine, matrices->items[i]);
    }
    machine_free(machine, matrices->info);
    *matrices = (matrices_t){0};
}

bool matrices_restore(const machine_t *machine, const cell_t *cell, const matrices_t *matrices) {
    for (int i = 0; i < cell->operand_count; ++i)
        if (cell->operands[i].written &&
            !machine_copy(machine, matrices->work[i], matrices->source[i], operand_bytes(cell, i)))
            return false;
    return machine_fill(machine, matrices->info, 0x55, (size_t)cell->batch * sizeof(int));
}

/* ---- comparison ---------------------------------------------------------------------------- */

static int64_t differing_bytes(const machine_t *machine, const void *left, const void *right,
                               size_t bytes) {
    const unsigned char *const a = left;
    const unsigned char *const b = right;
    const int64_t size = (int64_t)bytes;
    int64_t count = 0;
#pragma omp target teams distribute parallel for is_device_ptr(a, b) device(machine->device)       \
    map(tofrom : count) reduction(+ : count)
    for (int64_t i = 0; i < size; ++i)
        count += a[i] != b[i];
    return count;
}

int64_t matrices_differing_bytes(const machine_t *machine, const cell_t *cell,
                                 const matrices_t *left, const matrices_t *right) {
    int64_t count = 0;
    if (op_writes_info(cell->op))
        count +=
            differing_bytes(machine, left->info, right->info, (size_t)cell->batch * sizeof(int));
    for (int i = 0; i < cell->operand_count; ++i)
        if (cell->operands[i].written)
            count +=
                differing_bytes(machine, left->work[i], right->work[i], operand_bytes(cell, i));
    return count;
}
