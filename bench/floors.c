/* SPDX-License-Identifier: BSD-3-Clause */
#include "floors.h"

/* Sectors that `items` consecutive items of an operand touch, each counted once. Columns are walked
 * in the order of their addresses, so a sector shared by two of them is met twice in a row. */
static int64_t sectors(const operand_t *operand, int64_t size, int64_t items, int sector) {
    int64_t count = 0;
    int64_t last = -1;
    for (int64_t item = 0; item < items; ++item) {
        for (int column = 0; column < operand->columns; ++column) {
            const int first_row = operand->shape == LOWER_TRIANGLE ? column : 0;
            const int end_row = operand->shape == UPPER_TRIANGLE ? column + 1 : operand->rows;
            const int64_t start = item * operand->stride + (int64_t)column * operand->ld;
            int64_t from = (start + first_row) * size / sector;
            const int64_t to = ((start + end_row) * size - 1) / sector;
            if (from <= last)
                from = last + 1;
            if (to >= from) {
                count += to - from + 1;
                last = to;
            }
        }
    }
    return count;
}

/* The pattern of alignments repeats after `sector` / element-size items at the latest. */
static double operand_bytes(const operand_t *operand, int64_t size, int64_t batch, int sector) {
    const int64_t period = sector / size > 1 ? sector / size : 1;
    if (batch <= period)
        return (double)sectors(operand, size, batch, sector) * sector;
    const double per_item = (double)sectors(operand, size, period, sector) / (double)period;
    return per_item * (double)batch * sector;
}

double floor_bytes(const cell_t *cell, int sector) {
    double bytes = 0.0;
    for (int i = 0; i < cell->operand_count; ++i) {
        const operand_t *operand = &cell->operands[i];
        const int passes = operand->written ? 2 : 1;
        bytes +=
            passes * operand_bytes(operand, (int64_t)size_of_type(cell->type), cell->batch, sector);
    }
    return bytes;
}

double floor_operations(const cell_t *cell) {
    const double n = cell->n;
    const double k = cell->nrhs;
    double multiplications = 0.0;
    double additions = 0.0;
    if (cell->op == OP_POTRF || cell->op == OP_POSV) {
        multiplications += n * n * n / 6.0 + n * n / 2.0 + n / 3.0;
        additions += n * n * n / 6.0 - n / 6.0;
    }
    if (cell->op == OP_POTRS || cell->op == OP_POSV) {
        multiplications += k * n * (n + 1.0);
        additions += k * n * (n - 1.0);
    }
    if (cell->op == OP_TRSM) {
        multiplications += k * n * (n + 1.0) / 2.0;
        additions += k * n * (n - 1.0) / 2.0;
    }
    if (cell->op == OP_GEMM) {
        multiplications += n * n * k;
        additions += n * n * k;
    }
    if (cell->op == OP_SYRK) {
        multiplications += k * n * (n + 1.0) / 2.0;
        additions += k * n * (n + 1.0) / 2.0;
    }
    const double each = type_is_complex(cell->type) ? 6.0 * multiplications + 2.0 * additions
                                                    : multiplications + additions;
    return each * (double)cell->batch;
}

int type_index(char type) {
    return type == 's' ? 0 : type == 'd' ? 1 : type == 'c' ? 2 : 3;
}
