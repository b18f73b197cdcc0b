/* SPDX-License-Identifier: BSD-3-Clause */
/* Panels in shared memory whose rows lie together, so that a thread takes its row by granules. */
#ifndef BATCHLAS_PANEL_ROW_CUH
#define BATCHLAS_PANEL_ROW_CUH

#include "device.cuh"

namespace batchlas_device {

/* A row of a panel: `panel` elements in granules, whose order turns with the row, so that a warp
 * that reads or writes one granule in each of 32 rows meets no bank twice. Panel p of a matrix
 * padded to order m holds the rows panel * p ... m - 1. */
template <class T, int panel> struct panel_row {
    static constexpr int length = granule<T>::length;
    static constexpr int granules = panel / length;
    static constexpr int rows_a_line = 8 / granules;
    static_assert(panel % length == 0 && granules <= 8, "a row of a panel is 1 to 8 granules");

    /* Where granule i of this row is. Its parts of the row and of i may be taken one by one, as
     * long as what is added to the row is less than a power of two that divides the rest of it. */
    __host__ __device__ static constexpr int place(int row, int i) {
        return i ^ (row / rows_a_line % granules);
    }
    __device__ __forceinline__ static void load(T (&to)[panel], const granule<T> *from, int row) {
#pragma unroll
        for (int i = 0; i < granules; ++i) {
            const granule<T> g = from[place(row, i)];
#pragma unroll
            for (int e = 0; e < length; ++e)
                to[i * length + e] = g.at[e];
        }
    }
    __device__ __forceinline__ static void store(granule<T> *to, int row, const T (&from)[panel]) {
#pragma unroll
        for (int i = 0; i < granules; ++i) {
            granule<T> g;
#pragma unroll
            for (int e = 0; e < length; ++e)
                g.at[e] = from[i * length + e];
            to[place(row, i)] = g;
        }
    }
};

} // namespace batchlas_device

#endif
