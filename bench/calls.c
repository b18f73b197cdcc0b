/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

static batchlas_side_t side_of(const cell_t *cell) {
    return cell->form[0] == 'L' ? BATCHLAS_LEFT : BATCHLAS_RIGHT;
}

#define T              float
#define HERE(f)        s_##f
#define ENTRY(f)       batchlas_s##f
#define RANK_K(suffix) batchlas_ssyrk##suffix
#define GIVE(x)        x
#include "calls_body.h"
#undef T
#undef HERE
#undef ENTRY
#undef RANK_K

#define T              double
#define HERE(f)        d_##f
#define ENTRY(f)       batchlas_d##f
#define RANK_K(suffix) batchlas_dsyrk##suffix
#include "calls_body.h"
#undef T
#undef HERE
#undef ENTRY
#undef RANK_K
#undef GIVE

#define T              batchlas_complex_float
#define HERE(f)        c_##f
#define ENTRY(f)       batchlas_c##f
#define RANK_K(suffix) batchlas_cherk##suffix
#define GIVE(x)        &x
#include "calls_body.h"
#undef T
#undef HERE
#undef ENTRY
#undef RANK_K

#define T              batchlas_complex_double
#define HERE(f)        z_##f
#define ENTRY(f)       batchlas_z##f
#define RANK_K(suffix) batchlas_zherk##suffix
#include "calls_body.h"
#undef T
#undef HERE
#undef ENTRY
#undef RANK_K
#undef GIVE

batchlas_status_t call_entry(batchlas_handle_t h, const cell_t *cell, const matrices_t *matrices) {
    switch (cell->type) {
    case 's':
        return cell->array ? s_array(h, cell, matrices) : s_strided(h, cell, matrices);
    case 'd':
        return cell->array ? d_array(h, cell, matrices) : d_strided(h, cell, matrices);
    case 'c':
        return cell->array ? c_array(h, cell, matrices) : c_strided(h, cell, matrices);
    default:
        return cell->array ? z_array(h, cell, matrices) : z_strided(h, cell, matrices);
    }
}

batchlas_status_t call_buffer_size(batchlas_handle_t h, const cell_t *cell, size_t *bytes) {
    switch (cell->type) {
    case 's':
        return s_buffer_size(h, cell, bytes);
    case 'd':
        return d_buffer_size(h, cell, bytes);
    case 'c':
        return c_buffer_size(h, cell, bytes);
    default:
        return z_buffer_size(h, cell, bytes);
    }
}
