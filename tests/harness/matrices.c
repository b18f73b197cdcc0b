/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/matrices.h"

#include "harness/sanitizers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>

/* A small quarantine: the suites free large blocks all the time. */
const char *__asan_default_options(void) {
    return "quarantine_size_mb=16";
}

/* What OpenMP's runtimes keep for a team that has become smaller. */
const char *__lsan_default_suppressions(void) {
    return "leak:libomp\nleak:libgomp\n";
}
#endif

enum { GUARD_ELEMENTS = 32, GUARD_INTS = 8, LEFT_IN_INTS = -77 };

const layout_t TIGHT = {0};
const layout_t PADDED = {.ld_pad = 5, .gap = 13, .shift = 1};
const layout_t OVERLAPPED = {.ld_pad = 5, .gap = -5, .shift = 3};
const layout_t REVERSED = {.ld_pad = 5, .gap = 13, .shift = 1, .reversed = true};
const layout_t SHARED = {.ld_pad = 5, .shift = 1, .shared = true};

/* ---- elements ------------------------------------------------------------------------------ */

long double unit_roundoff(scalar_type_t type) {
    return type == TYPE_S || type == TYPE_C ? 0x1p-24L : 0x1p-53L;
}

wide_t round_to(scalar_type_t type, wide_t value) {
    const bool single = type == TYPE_S || type == TYPE_C;
    return (wide_t){single ? (float)value.re : (double)value.re, !scalar_is_complex(type) ? 0.0L
                                                                 : single ? (float)value.im
                                                                          : (double)value.im};
}

static wide_t load(scalar_type_t type, const void *memory, size_t index) {
    switch (type) {
    case TYPE_S:
        return (wide_t){((const float *)memory)[index], 0};
    case TYPE_D:
        return (wide_t){((const double *)memory)[index], 0};
    case TYPE_C:
        return (wide_t){((const float *)memory)[2 * index], ((const float *)memory)[2 * index + 1]};
    case TYPE_Z:
        return (wide_t){((const double *)memory)[2 * index],
                        ((const double *)memory)[2 * index + 1]};
    }
    return (wide_t){NAN, NAN};
}

static void store_real(scalar_type_t type, void *memory, size_t index, long double value) {
    switch (type) {
    case TYPE_S:
        ((float *)memory)[index] = (float)value;
        break;
    case TYPE_D:
        ((double *)memory)[index] = (double)value;
        break;
    case TYPE_C:
        ((float *)memory)[2 * index] = (float)value;
        break;
    case TYPE_Z:
        ((double *)memory)[2 * index] = (double)value;
        break;
    }
}

static void store(scalar_type_t type, void *memory, size_t index, wide_t value) {
    store_real(type, memory, index, value.re);
    if (type == TYPE_C)
        ((float *)memory)[2 * index + 1] = (float)value.im;
    if (type == TYPE_Z)
        ((double *)memory)[2 * index + 1] = (double)value.im;
}

/* ---- where things lie ---------------------------------------------------------------------- */

static int64_t positions(const matrices_t *m) {
    return m->layout.shared && m->batch > 0 ? 1 : m->batch;
}

/* The index of item i's first element in the allocation. */
static size_t first_of(const matrices_t *m, int64_t item) {
    const int64_t position = m->layout.shared ? 0 : m->layout.reversed ? m->batch - 1 - item : item;
    return m->guard + (size_t)m->layout.shift + (size_t)(position * m->stride);
}

/* The rows of one column that count: first to end - 1. */
static void counting_rows(const matrices_t *m, int column, int *first, int *end) {
    *first = 0;
    *end = m->rows;
    switch (m->region) {
    case ALL:
        break;
    case LOWER_TRIANGLE:
        *first = column;
        break;
    case UPPER_TRIANGLE:
        *end = column + 1;
        break;
    case STRICT_LOWER_TRIANGLE:
        *first = column + 1;
        break;
    case STRICT_UPPER_TRIANGLE:
        *end = column;
        break;
    }
    if (*first > m->rows)
        *first = m->rows;
    if (*end > m->rows)
        *end = m->rows;
}

static size_t index_of(const matrices_t *m, int64_t item, int row, int column) {
    return first_of(m, item) + (size_t)row + (size_t)column * (size_t)m->ld;
}

static int64_t extent(const matrices_t *m) {
    return m->rows > 0 && m->columns > 0 ? (int64_t)m->ld * (m->columns - 1) + m->rows : 0;
}

matrices_t matrices_make(scalar_type_t type, int rows, int columns, int64_t batch, layout_t layout,
                         region_t region) {
    matrices_t m = {.type = type,
                    .rows = rows,
                    .columns = columns,
                    .batch = batch,
                    .layout = layout,
                    .region = region,
                    .guard = suite_exact() ? 0 : GUARD_ELEMENTS};
    m.ld = (rows > 1 ? rows : 1) + layout.ld_pad;
    m.stride = (int64_t)m.ld * columns + layout.gap;
    if (layout.shared || m.stride < 0)
        m.stride = 0;
    const int64_t used = positions(&m) > 0 ? (positions(&m) - 1) * m.stride + extent(&m) : 0;
    /* One element at least, so that the operand lies in memory of the device. */
    m.elements = 2 * m.guard + (size_t)layout.shift + (size_t)(used > 0 ? used : 1);
    const size_t size = scalar_size(type);
    m.input = host_alloc(m.elements, size);
    m.image = host_alloc(m.elements, size);
    m.device = device_alloc(m.elements * size);

    void **items = host_alloc((size_t)batch, sizeof *items);
    for (int64_t i = 0; i < batch; ++i)
        items[i] = m.device + first_of(&m, i) * size;
    m.items = device_alloc((size_t)batch * sizeof *items);
    device_put(m.items, items, (size_t)batch * sizeof *items);
    free(items);
    return m;
}

void matrices_free(matrices_t *m) {
    free(m->input);
    free(m->image);
    if (m->device) {
        if (!suite_on_gpu())
            ASAN_UNPOISON_MEMORY_REGION(m->device, m->elements * scalar_size(m->type));
        device_free(m->device);
        device_free(m->items);
    }
    *m = (matrices_t){0};
}

operand_t matrices_strided(const matrices_t *m) {
    return (operand_t){.base = m->device + first_of(m, 0) * scalar_size(m->type),
                       .stride = m->stride,
                       .ld = m->ld};
}

operand_t matrices_pointers(const matrices_t *m) {
    return (operand_t){.items = m->items, .ld = m->ld};
}

/* ---- filling ------------------------------------------------------------------------------- */

void matrices_fill(matrices_t *m, fill_t fill) {
    const wide_t value = fill == POISON ? (wide_t){NAN, NAN} : (wide_t){-999, 777};
    const size_t bytes = m->elements * scalar_size(m->type);
    if (m->elements > 0)
        store(m->type, m->input, 0, value);
    for (size_t filled = scalar_size(m->type); filled < bytes; filled *= 2)
        memcpy(m->input + filled, m->input, filled < bytes - filled ? filled : bytes - filled);
}

void matrices_set(matrices_t *m, int64_t item, const wide_t *M) {
    for (int j = 0; j < m->columns; ++j) {
        int first, end;
        counting_rows(m, j, &first, &end);
        for (int i = first; i < end; ++i) {
            const wide_t value = M[i + (size_t)j * (size_t)m->rows];
            if (i == j && m->real_diagonal)
                store_real(m->type, m->input, index_of(m, item, i, j), value.re);
            else
                store(m->type, m->input, index_of(m, item, i, j), value);
        }
    }
}

void matrices_repeat(matrices_t *m, int64_t item, int64_t other) {
    const size_t size = scalar_size(m->type);
    for (int j = 0; j < m->columns; ++j) {
        int first, end;
        counting_rows(m, j, &first, &end);
        if (first < end)
            memcpy(m->input + index_of(m, item, first, j) * size,
                   m->input + index_of(m, other, first, j) * size, (size_t)(end - first) * size);
    }
}

void matrices_set_element(matrices_t *m, int64_t item, int row, int column, wide_t value) {
    store(m->type, m->input, index_of(m, item, row, column), value);
}

/* On the host the device is this process: what lies between and around the items is poisoned, so
 * that an address sanitizer sees any access beyond an item's last element. */
static void guard_memory(const matrices_t *m) {
    const size_t size = scalar_size(m->type);
    if (suite_on_gpu() || m->layout.shared)
        return;
    size_t end = 0;
    for (int64_t position = 0; position < m->batch; ++position) {
        const size_t begin = first_of(m, m->layout.reversed ? m->batch - 1 - position : position);
        ASAN_POISON_MEMORY_REGION(m->device + end * size, (begin - end) * size);
        end = begin + (size_t)extent(m);
    }
    ASAN_POISON_MEMORY_REGION(m->device + end * size, (m->elements - end) * size);
}

void matrices_put(matrices_t *m) {
    const size_t bytes = m->elements * scalar_size(m->type);
    if (!suite_on_gpu())
        ASAN_UNPOISON_MEMORY_REGION(m->device, bytes);
    device_put(m->device, m->input, bytes);
    guard_memory(m);
}

void matrices_get(matrices_t *m) {
    const size_t bytes = m->elements * scalar_size(m->type);
    if (!suite_on_gpu())
        ASAN_UNPOISON_MEMORY_REGION(m->device, bytes);
    device_get(m->image, m->device, bytes);
}

/* Rounds of splitmix64 over the words of the columns. */
uint64_t matrices_hash(const matrices_t *m, int64_t item) {
    const size_t size = scalar_size(m->type);
    uint64_t hash = 0;
    for (int j = 0; j < m->columns; ++j) {
        int first, end;
        counting_rows(m, j, &first, &end);
        const unsigned char *at = m->image + index_of(m, item, first, j) * size;
        for (int64_t left = (int64_t)(end - first) * (int64_t)size; left > 0; left -= 4, at += 4) {
            uint32_t word;
            memcpy(&word, at, sizeof word);
            hash = (hash ^ word) + 0x9e3779b97f4a7c15u;
            hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
            hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
            hash ^= hash >> 31;
        }
    }
    return hash;
}

matrices_t matrices_keep(const matrices_t *m) {
    const size_t size = scalar_size(m->type);
    matrices_t kept = *m;
    kept.input = kept.device = NULL;
    kept.items = NULL;
    kept.image = host_alloc(m->elements, size);
    memcpy(kept.image, m->image, m->elements * size);
    return kept;
}

wide_t matrices_element(const matrices_t *m, int64_t item, int row, int column) {
    return load(m->type, m->image, index_of(m, item, row, column));
}

void matrices_item(const matrices_t *m, int64_t item, wide_t *M) {
    for (int j = 0; j < m->columns; ++j)
        for (int i = 0; i < m->rows; ++i)
            M[i + (size_t)j * (size_t)m->rows] = matrices_element(m, item, i, j);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static bool same_element(const matrices_t *m, size_t index) {
    const size_t size = scalar_size(m->type);
    return memcmp(m->input + index * size, m->image + index * size, size) == 0;
}

static verdict_t touched(const matrices_t *m, size_t index) {
    const wide_t before = load(m->type, m->input, index);
    const wide_t after = load(m->type, m->image, index);
    const int64_t offset = (int64_t)index - (int64_t)m->guard - m->layout.shift;
    const int64_t item = m->stride > 0 && offset >= 0 ? offset / m->stride : 0;
    const int64_t within = offset - item * m->stride;
    return bad("element %lld (item %lld, row %lld, column %lld of %d by %d, ld %d) was written: "
               "(%Lg, %Lg) before, (%Lg, %Lg) after",
               (long long)offset, (long long)item, (long long)(within % m->ld),
               (long long)(within / m->ld), m->rows, m->columns, m->ld, before.re, before.im,
               after.re, after.im);
}

/* The first of the elements begin to end - 1 that changed, or end. */
static size_t first_change(const matrices_t *m, size_t begin, size_t end) {
    const size_t size = scalar_size(m->type);
    if (memcmp(m->input + begin * size, m->image + begin * size, (end - begin) * size) == 0)
        return end;
    while (same_element(m, begin))
        ++begin;
    return begin;
}

/* Between the runs of elements that count, as they follow each other in memory. */
verdict_t padding_is_untouched(const matrices_t *m) {
    size_t end = 0;
    for (int64_t position = 0; position < positions(m); ++position)
        for (int j = 0; j < m->columns; ++j) {
            int first_row, end_row;
            counting_rows(m, j, &first_row, &end_row);
            const int64_t item = m->layout.reversed ? m->batch - 1 - position : position;
            const size_t begin = index_of(m, item, first_row, j);
            if (first_row >= end_row)
                continue;
            const size_t change = first_change(m, end, begin);
            if (change < begin)
                return touched(m, change);
            end = index_of(m, item, end_row, j);
        }
    const size_t change = first_change(m, end, m->elements);
    return change < m->elements ? touched(m, change) : good();
}

verdict_t matrices_are_untouched(const matrices_t *m) {
    const size_t change = first_change(m, 0, m->elements);
    return change < m->elements ? touched(m, change) : good();
}

verdict_t item_is_untouched(const matrices_t *m, int64_t item) {
    for (int j = 0; j < m->columns; ++j) {
        int first, end;
        counting_rows(m, j, &first, &end);
        for (int i = first; i < end; ++i)
            if (!same_element(m, index_of(m, item, i, j)))
                return touched(m, index_of(m, item, i, j));
    }
    return good();
}

verdict_t item_agrees(const matrices_t *a, int64_t item, const matrices_t *b, int64_t other) {
    const size_t size = scalar_size(a->type);
    for (int j = 0; j < a->columns; ++j) {
        int first, end;
        counting_rows(a, j, &first, &end);
        if (first >= end)
            continue;
        const unsigned char *one = a->image + index_of(a, item, first, j) * size;
        const unsigned char *two = b->image + index_of(b, other, first, j) * size;
        if (memcmp(one, two, (size_t)(end - first) * size) == 0)
            continue;
        int row = first;
        while (memcmp(one, two, size) == 0) {
            ++row;
            one += size;
            two += size;
        }
        const wide_t x = matrices_element(a, item, row, j);
        const wide_t y = matrices_element(b, other, row, j);
        return bad("item %lld and item %lld differ at row %d, column %d: "
                   "(%.21Lg, %.21Lg) and (%.21Lg, %.21Lg)",
                   (long long)item, (long long)other, row, j, x.re, x.im, y.re, y.im);
    }
    return good();
}

verdict_t items_agree(const matrices_t *a, const matrices_t *b, const int *skip) {
    for (int64_t item = 0; item < a->batch; ++item) {
        const verdict_t verdict = skip && skip[item] ? good() : item_agrees(a, item, b, item);
        if (!is_good(&verdict))
            return verdict;
    }
    return good();
}

/* ---- info ---------------------------------------------------------------------------------- */

static size_t ints_bytes(const ints_t *ints) {
    return (size_t)(ints->batch + 2 * ints->guard) * sizeof(int);
}

ints_t ints_make(int64_t batch) {
    ints_t ints = {.batch = batch, .guard = suite_exact() ? 0 : GUARD_INTS};
    int *values = host_alloc(ints_bytes(&ints), 1);
    int *device = device_alloc(ints_bytes(&ints));
    ints.values = values + ints.guard;
    ints.device = device + ints.guard;
    ints_put(&ints);
    return ints;
}

void ints_free(ints_t *ints) {
    free(ints->values - ints->guard);
    device_free(ints->device - ints->guard);
    *ints = (ints_t){0};
}

void ints_put(ints_t *ints) {
    for (int64_t i = -ints->guard; i < ints->batch + ints->guard; ++i)
        ints->values[i] = LEFT_IN_INTS;
    device_put(ints->device - ints->guard, ints->values - ints->guard, ints_bytes(ints));
}

void ints_get(ints_t *ints) {
    device_get(ints->values - ints->guard, ints->device - ints->guard, ints_bytes(ints));
}

verdict_t ints_are(const ints_t *ints, const int *expected) {
    for (int64_t i = -ints->guard; i < ints->batch + ints->guard; ++i) {
        const int wanted = i >= 0 && i < ints->batch ? expected[i] : LEFT_IN_INTS;
        if (ints->values[i] != wanted)
            return bad("info[%lld] of %lld is %d, expected %d", (long long)i,
                       (long long)ints->batch, ints->values[i], wanted);
    }
    return good();
}

verdict_t ints_are_untouched(const ints_t *ints) {
    for (int64_t i = -ints->guard; i < ints->batch + ints->guard; ++i)
        if (ints->values[i] != LEFT_IN_INTS)
            return bad("info[%lld] was written: %d", (long long)i, ints->values[i]);
    return good();
}
