# SPDX-License-Identifier: BSD-3-Clause
"""Plants defects in the CUDA kernels, one at a time, and requires that the simulated device's
probes go red for each, by the guard that the list names.

    defects.py BUILD_DIR [--only NAME_PART] [--table docs/correctness.md]

BUILD_DIR holds a built test_simulated_kernels (Ninja). With --table the table of the page is
written anew; without, the page must have the rows of the list. Exit status 1 if a defect stays
green, if another guard sees it first, if it does not compile or if its text is not in the source.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# Guards are the kinds of fault that the simulated device reports ("race", "race of blocks", "out of
# bounds", "never written", "divergence", ...) and, of the test's own checks, in their order:
CHECKS = {
    "padding": r"element -?\d+ \(.*\) was written",
    "info": r"info\[-?\d+\]",
    "items differ": r"item \d+ and item \d+ differ",
    "solution": r"item \d+: .*\bx\b.* is .*, above",
    "factor": r"item \d+: .* is .*, above",
    "residual": r"item \d+, element \d+: the residual is .*, above",
    "element": r"item \d+, row \d+, column \d+ is",
}


class Defect(NamedTuple):
    name: str  # what is wrong
    file: str  # in cuda_kernels/
    guard: str  # that must see it first
    old: str  # occurs in the file once
    new: str
    unit: str = ""  # for a header, the kernels to compile


# What removing a barrier does is the business of another test, every_barrier_is_needed.
DEFECTS = [
    # ---- tiny_triangle.cuh and potrf_tiny.cu -----------------------------------------------------
    Defect(
        "the update uses a column before it is scaled", "tiny_triangle.cuh", "factor",
        "minus_product_conj(a[i][k], l[i][j], l[k][j])",
        "minus_product_conj(a[i][k], a[i][j], l[k][j])",
        "potrf_tiny.cu"),
    Defect(
        "the pivot is the original diagonal", "tiny_triangle.cuh", "info",
        "minus_square(real_part(a[i][i]), l[i][j])",
        "real_part(a[i][i])",
        "potrf_tiny.cu"),
    Defect(
        "the update lacks a conjugate", "tiny_triangle.cuh", "factor",
        "minus_product_conj(own[i][c], own[i][k], l[c][k])",
        "minus_product_conj(own[i][c], own[i][k], conjugate(l[c][k]))",
        "potrf_tiny.cu"),
    Defect(
        "a root is not put on the diagonal", "tiny_triangle.cuh", "factor",
        "choose(row_of_diagonal == c, from_real<T>(pivots[c].root), own[home][c])",
        "own[home][c]",
        "potrf_tiny.cu"),
    Defect(
        "the panel is multiplied a row too late", "tiny_triangle.cuh", "info",
        "shared.solved.get(c, b);",
        "shared.solved.get(c - panel, b);",
        "potrf_tiny.cu"),
    Defect(
        "an upper triangle is not turned back", "potrf_tiny.cu", "factor",
        "a.template transpose<false>(shared.block);",
        ""),
    Defect(
        "pivots out of the ordinary go the ordinary way", "potrf_tiny.cu", "info",
        "done = others >> threadIdx.x % warp_lanes & 1 ? 0 : n;",
        "done = n;"),
    Defect(
        "an item where it lies: a pivot's column is not what was updated", "tiny_triangle.cuh",
        "info",
        "d = minus_square(d, pivot_row[k * right]);",
        "",
        "potrf_tiny.cu"),
    Defect(
        "an item where it lies: the failure is counted from 0", "tiny_triangle.cuh", "info",
        "failed = d > 0 ? 0 : j + 1;",
        "failed = d > 0 ? 0 : j;",
        "potrf_tiny.cu"),
    Defect(
        "two groups of lanes take the same item", "potrf_tiny.cu", "race",
        "* bucket::items + place;",
        "* bucket::items + place / 2;"),
    Defect(
        "lanes without an item write info", "potrf_tiny.cu", "out of bounds",
        "if (alive && a.q == 0 && arguments.info &&",
        "if (a.q == 0 && arguments.info &&"),
    Defect(
        "lanes without an item return early", "potrf_tiny.cu", "divergence",
        "T *const item = item_of",
        "if (!alive) return; T *const item = item_of"),
    Defect(
        "the element beyond the diagonal is taken for the triangle's", "tiny_triangle.cuh",
        "padding",
        "inside = upper ? row <= c : row >= c;",
        "inside = upper ? row <= c : row >= c - 1;",
        "potrf_tiny.cu"),

    # ---- rolled_triangle.cuh ---------------------------------------------------------------------
    Defect(
        "the columns after a panel keep its part", "rolled_triangle.cuh", "info",
        "rest = minus_product_conj(rest, own[i][k], b[k]);",
        "(void)b[k];",
        "potrf_tiny.cu"),
    Defect(
        "the bound of the rows is one too far", "rolled_triangle.cuh", "race",
        "stays && q + lanes * i < n",
        "stays && q + lanes * i <= n",
        "potrf_tiny.cu"),
    Defect(
        "a void panel is stored", "rolled_triangle.cuh", "factor",
        "const bool stays = alive && p < end;",
        "const bool stays = alive;",
        "potrf_tiny.cu"),
    Defect(
        "the panel with the pivot counts as done", "rolled_triangle.cuh", "info",
        "end = p;",
        "end = p + panel;",
        "potrf_tiny.cu"),
    Defect(
        "a stage keeps its last panel alone", "rolled_triangle.cuh", "never written",
        "shared.solved[upper ? (p - base) / panel : 0]",
        "shared.solved[0]",
        "potrf_tiny.cu"),
    Defect(
        "rows of an upper triangle begin an element early", "rolled_triangle.cuh", "padding",
        "if (c - first >= k)",
        "if (c - first >= k - 1)",
        "potrf_tiny.cu"),
    Defect(
        "granules of an upper triangle begin an element early", "rolled_triangle.cuh", "padding",
        "c - first + 1) - k;",
        "c - first + 2) - k;",
        "potrf_tiny.cu"),

    # ---- posv_tiny.cu and the solves of tiny_triangle.cuh -----------------------------------------
    Defect(
        "the forward solve takes a row from the wrong lane", "tiny_triangle.cuh", "solution",
        "choose(q - first % lanes == c, y[c], other)",
        "choose(q - first % lanes == c - 1, y[c], other)",
        "posv_tiny.cu"),
    Defect(
        "the backward solve lacks a conjugate", "tiny_triangle.cuh", "solution",
        "minus_product_conj(rest, y[r][k], x[i][first + k])",
        "minus_product(rest, y[r][k], x[i][first + k])",
        "posv_tiny.cu"),
    Defect(
        "an upper triangle's right-hand sides are not conjugated", "posv_right.cuh", "solution",
        "return upper ? conjugate(b) : b;",
        "return b;",
        "posv_tiny.cu"),
    Defect(
        "a failing item's right-hand sides are overwritten", "posv_right.cuh", "padding",
        "if (wanted && failed == 0)",
        "if (wanted)",
        "posv_tiny.cu"),
    Defect(
        "right-hand sides beyond the last are solved", "posv_right.cuh", "padding",
        """if (wanted && row < a.n && r < nrhs)
                item""",
        """if (wanted && row < a.n && r <= nrhs)
                item""",
        "posv_tiny.cu"),

    # ---- potrf_panel.cuh -------------------------------------------------------------------------
    Defect(
        "no identity beyond the matrix", "potrf_panel.cuh", "info",
        "return from_real<T>(real_of<T>(row == column));",
        "return from_real<T>(real_of<T>(0 * row * column));",
        "potrf_lpanel.cu"),
    Defect(
        "the pivot goes through a cell that its root overwrites unawaited", "potrf_panel.cuh",
        "race",
        "const R d = from_lane<warp_lanes>(real_part(x[first][c]), (j + c) % warp_lanes);",
        """if (own_row == c)
            diagonal.inverse[c] = real_part(x[first][c]);
        warp_barrier();
        const R d = diagonal.inverse[c];""",
        "potrf_lpanel.cu"),
    Defect(
        "the pivot comes from another row's lane", "potrf_panel.cuh", "info",
        "(j + c) % warp_lanes);",
        "c % warp_lanes);",
        "potrf_lpanel.cu"),
    Defect(
        "a later failure replaces the first", "potrf_panel.cuh", "info",
        "if (!(d > 0) && failed == 0)",
        "if (!(d > 0))",
        "potrf_cta.cu"),
    Defect(
        "success is not published", "potrf_panel.cuh", "never written",
        "if (own_row == 0)\n",
        "if (own_row == 0 && failed)\n",
        "potrf_lpanel.cu"),
    Defect(
        "the rows below update with a column before it is scaled", "potrf_panel.cuh", "factor",
        """            x[r][c] = divided(x[r][c], inverse);
        update_columns<first>(x, c, columns + c * stride);""",
        """            ;
        update_columns<first>(x, c, columns + c * stride);
        for (int r = first; r < rows; ++r)
            x[r][c] = divided(x[r][c], inverse);""",
        "potrf_lpanel.cu"),
    Defect(
        "a row is stored beyond the diagonal", "potrf_panel.cuh", "padding",
        "if (below >= c)",
        "if (below >= c - 1)",
        "potrf_cta.cu"),

    # ---- potrf_cta.cu ----------------------------------------------------------------------------
    Defect(
        "the bound of the rows is one too far", "potrf_cta.cu", "info",
        "row >= j && row < n;",
        "row >= j && row <= n;"),
    Defect(
        "rows above the panel are stored", "potrf_cta.cu", "info",
        "if (row < j || row >= order)",
        "if (row >= order)"),
    Defect(
        "rows beyond the order are looked for among the finished ones", "potrf_cta.cu",
        "out of bounds",
        "finished + (row < order ? row : order - 1) * layout::granules",
        "finished + row * layout::granules"),
    Defect(
        "the turn of the panel's first row is forgotten", "potrf_cta.cu", "info",
        "(layout::place(c, i) ^ turn)",
        "layout::place(c, i)"),
    Defect(
        "shared memory is one panel short", "potrf_cta.cu", "out of bounds",
        "panels * (panels + 1) / 2 * panel",
        "panels * panels / 2 * panel"),
    Defect(
        "Upper is loaded with one row too many", "potrf_cta.cu", "info",
        "if (row < n && column < n)",
        "if (row <= n && column < n)"),
    Defect(
        "Upper is loaded without its conjugate", "potrf_cta.cu", "factor",
        "x[r][c] = conjugate(x[r][c]);",
        ";"),
    Defect(
        "Upper is stored without its conjugate", "potrf_cta.cu", "factor",
        "= conjugate(from[at]);",
        "= from[at];"),
    Defect(
        "Upper is stored with the other triangle", "potrf_cta.cu", "padding",
        "if (row >= column && row < n)",
        "if (column < n && row < n)"),
    Defect(
        "info does not count the panels before", "potrf_cta.cu", "info",
        "failed = j + diagonal.failed;",
        "failed = diagonal.failed;"),
    Defect(
        "a warp above the panel returns early", "potrf_cta.cu", "divergence",
        "        T x[rows][panel];",
        """        if (above == rows)
            return;
        T x[rows][panel];"""),

    # ---- potrf_wide.cu ---------------------------------------------------------------------------
    Defect(
        "products are added", "potrf_wide.cu", "factor",
        "factor.set(e, negative(p.at[e]));",
        "factor.set(e, p.at[e]);"),
    Defect(
        "the lower half of a tile is the upper one", "potrf_wide.cu", "info",
        "l[2 * t + half].at[e]",
        "l[2 * t].at[e]"),
    Defect(
        "blocks beyond the last are stored", "potrf_wide.cu", "out of bounds",
        "if (i < there)\n            store_pair",
        "if (true)\n            store_pair"),
    Defect(
        "warps take columns to alone, not fro", "potrf_wide.cu", "factor",
        "int step = 2 * (warps - warp) - 1;",
        "int step = 2 * warps;"),
    Defect(
        "columns behind the panel ahead are left out", "potrf_wide.cu", "factor",
        "rows / panel - 1, tile_warp,",
        "0, tile_warp,"),
    Defect(
        "tile warps take the panel's own column too", "potrf_wide.cu", "race",
        "block + rows * panel, rows / panel - 1, tile_warp,",
        "block, rows / panel, tile_warp,"),
    Defect(
        "the panel ahead waits for no products", "potrf_wide.cu", "factor",
        "if (there > 0)\n",
        "if (false)\n"),
    Defect(
        "a lane takes the root of another row", "potrf_wide.cu", "factor",
        "own == first + c,",
        "own == c,"),
    Defect(
        "the halves' exchange lacks the first columns", "potrf_wide.cu", "info",
        "minus_product_conj(rows[i][half + k], rows[i][c], other[c]);",
        "rows[i][half + k];"),
    Defect(
        "the first panel is taken before it has arrived", "potrf_wide.cu", "copy under way",
        "groups_arrive<0, 2>(1);",
        "groups_arrive<0, 3>(2);"),
    Defect(
        "the other panels are taken before they have arrived", "potrf_wide.cu", "copy under way",
        "if (k == 0)\n            copies_arrive();",
        "if (k == 1)\n            copies_arrive();"),
    Defect(
        "rows of the diagonal block are finished where others read them", "potrf_wide.cu", "race",
        "if (own >= panel)\n                layout",
        "if (true)\n                layout"),
    Defect(
        "shared memory is one block short", "potrf_wide.cu", "out of bounds",
        "static_cast<size_t>(blocks_of<T>::before(m, m))",
        "static_cast<size_t>(blocks_of<T>::before(m, m) - 1)"),
    Defect(
        "the other triangle is stored", "potrf_wide.cu", "padding",
        "row + moved.down(e) >= column + moved.right(e))",
        "true)"),
    Defect(
        "a row too many is loaded", "potrf_wide.cu", "race of blocks",
        "if (row + moved.down(e) < n && column + moved.right(e) < n)",
        "if (row + moved.down(e) <= n && column + moved.right(e) < n)"),
    Defect(
        "pivots out of the ordinary go the ordinary way", "potrf_wide.cu", "info",
        "k < panels && all_ordinary;",
        "k < panels;"),

    # ---- potrf_lpanel.cu -------------------------------------------------------------------------
    Defect(
        "the pivot rows are staged without their conjugate", "potrf_lpanel.cu", "info",
        "j + fast < n ? element(j + fast, k) : T{};",
        "j + fast < n ? conjugate(element(j + fast, k)) : T{};"),
    Defect(
        "Upper reads the other triangle", "potrf_lpanel.cu", "info",
        "upper ? conjugate(item[column + row * ld])",
        "upper ? conjugate(item[row + column * ld])"),
    Defect(
        "the bound of the rows is one too far", "potrf_lpanel.cu", "info",
        "row >= j && row < n && j + c < n",
        "row >= j && row <= n && j + c < n"),
    Defect(
        "the update goes on into the panel itself", "potrf_lpanel.cu", "never written",
        "for (int k = 0; k < j; k += ahead)",
        "for (int k = 0; k <= j; k += ahead)"),
    Defect(
        "the update takes in a row past the matrix", "potrf_lpanel.cu", "info",
        "row < n ? element(row, k + i)",
        "row <= n ? element(row, k + i)"),
    Defect(
        "Upper is stored with the other triangle", "potrf_lpanel.cu", "padding",
        "if (row >= j + c)",
        "if (j + c < n)"),
    Defect(
        "a row past the matrix is stored", "potrf_lpanel.cu", "padding",
        "if (row < j || row >= n)",
        "if (row < j || row > n)"),
    Defect(
        "info does not count the panels before", "potrf_lpanel.cu", "info",
        "failed = j + diagonal.failed;",
        "failed = diagonal.failed;"),
    Defect(
        "a warp above the panel returns early", "potrf_lpanel.cu", "divergence",
        "        T x[rows][panel];",
        """        if (above == rows)
            return;
        T x[rows][panel];"""),

    # ---- tensor_tile.cuh -------------------------------------------------------------------------
    Defect(
        "a copy takes in a row past the matrix", "tensor_tile.cuh", "race",
        "lane + r >= skipped && lane + r < there",
        "lane + r >= skipped && lane + r <= there",
        "potrf_ltile.cu"),
    Defect(
        "rows that no copy fills are not cleared", "tensor_tile.cuh", "never written",
        "for (int i = there + lane; i < rows; i += warp_lanes)",
        "for (int i = there + 1 + lane; i < rows; i += warp_lanes)",
        "potrf_ltile.cu"),
    Defect(
        "Upper is stored with the other triangle", "tensor_tile.cuh", "padding",
        "if (i - diagonal >= k)",
        "if (i - diagonal >= k - 1)",
        "potrf_ltile.cu"),
    Defect(
        "the lanes of a tile's rows take its columns in another order", "tensor_tile.cuh", "factor",
        "staged.at[lane % 4 * 2 + e / 2]",
        "staged.at[6 - lane % 4 * 2 + e / 2]",
        "potrf_ltile.cu"),
    Defect(
        "a complex product lacks its conjugate", "tensor_tile.cuh", "info",
        "conjugated ? minus_b_im : b.im",
        "b.im",
        "potrf_ltile.cu"),
    Defect(
        "a float keeps its first part alone", "device.cuh", "factor",
        "return {high, a - high};",
        "return {high, 0};",
        "potrf_ltile.cu"),

    # ---- potrf_ltile.cu --------------------------------------------------------------------------
    Defect(
        "one staged panel in the place of a ring", "potrf_ltile.cu", "race",
        "return shared.panels[k / panel % ring];",
        "return shared.panels[k / panel % ring * 0];"),
    Defect(
        "the last finished panel is left out of the diagonal block", "potrf_ltile.cu", "factor",
        "            products.template add<0>(staged(k), staged(k), 0, order);",
        """            if (k + panel < j)
                products.template add<0>(staged(k), staged(k), 0, order);"""),
    Defect(
        "tiles that only touch the diagonal are left out of a triangle", "rows_below.cuh", "factor",
        "column < tile_rows * (d + 1)",
        "column < tile_rows * d + panel",
        "potrf_ltile.cu"),
    Defect(
        "columns after a panel are updated with the rows of the panel itself", "potrf_ltile.cu",
        "info",
        "products.template add<1, first_row>(here, here, p + panel, order);",
        "products.template add<1, first_row>(here, here, p, order);"),
    Defect(
        "products of tiles are added", "rows_below.cuh", "factor",
        "difference(cell, x[d][0].at(e))",
        "sum(cell, x[d][0].at(e))",
        "potrf_ltile.cu"),
    Defect(
        "a row is stored beyond the diagonal", "potrf_ltile.cu", "padding",
        "(further > 0 || own >= c)",
        "(further > 0 || own >= c - 1)"),
    Defect(
        "rows are divided by the inverse of the diagonal", "rows_below.cuh", "factor",
        "inverse = 1 / real_part(d);",
        "inverse = real_part(d);",
        "potrf_ltile.cu"),
    Defect(
        "a row past the matrix is stored", "rows_below.cuh", "padding",
        "if (!upper && lane + warp_lanes * r < there)",
        "if (!upper && lane + warp_lanes * r <= there)",
        "potrf_ltile.cu"),
    Defect(
        "a panel of the ring is taken before it has arrived", "rows_below.cuh",
        "copy under way",
        "groups_arrive(ring - 2);",
        "groups_arrive(ring - 1);",
        "potrf_ltile.cu"),
    Defect(
        "rows below are updated with the rows of the panel itself", "rows_below.cuh", "info",
        "add<1>(here, top, p + panel);",
        "add<1>(here, top, p);",
        "potrf_ltile.cu"),
    Defect(
        "two warps take the same rows", "potrf_ltile.cu", "race of blocks",
        "arguments.j + width + tile * below::rows;",
        "arguments.j + width;"),
    Defect(
        "info does not count the block columns before", "potrf_ltile.cu", "info",
        "arguments.info_base + j + failed",
        "arguments.info_base + failed"),
    Defect(
        "rows of items that failed are solved", "potrf_ltile.cu", "padding",
        """    if (arguments.info[i] != 0)
        return;
    const int tile""",
        """    const int tile"""),

    # ---- trsm_tile.cu ----------------------------------------------------------------------------
    Defect(
        "any diagonal counts as real", "rows_below.cuh", "residual",
        "is_real ? from_real<T>(real_part(d)) : conjugate(d)",
        "from_real<T>(real_part(d))",
        "trsm_tile.cu"),
    Defect(
        "tiny right-hand sides are multiplied as they are", "tensor_tile.cuh", "residual",
        "return a != 0 && fabs(a) < R(0x1p-110);",
        "return a != a;",
        "trsm_tile.cu"),
    Defect(
        "every block column has the first one's triangle", "trsm_tile.cu", "residual",
        "some_rows x = {{a.at(j, 0), a.ld},",
        "some_rows x = {{a.at(0, 0), a.ld},"),
    Defect(
        "two warps take the same right-hand sides", "trsm_tile.cu", "race of blocks",
        "static_cast<int>(blockIdx.x % arguments.tiles) * some_rows::rows;",
        "0;"),
    Defect(
        "items to be passed over are solved", "trsm_tile.cu", "padding",
        "if (arguments.skip && arguments.skip[i])",
        "if (false)"),

    # ---- posv_rolled.cu and the solves of rolled_triangle.cuh -------------------------------------
    Defect(
        "in step: the solution's element is the right-hand side's", "rolled_triangle.cuh", "solution",
        "b[home][r] = choose(row_of_diagonal == c, y[c], b[home][r]);",
        "b[home][r] = choose(row_of_diagonal == c, b[home][r], b[home][r]);",
        "posv_rolled.cu"),
    Defect(
        "in step: all inverses are the first one's", "rolled_triangle.cuh", "solution",
        "shared.inverse[p + c] = pivots[c].inverse;",
        "shared.inverse[p + c] = pivots[0].inverse;",
        "posv_rolled.cu"),
    Defect(
        "back: the first row beyond the panel is left out", "rolled_triangle.cuh", "solution",
        "if (beyond >= panel)",
        "if (beyond > panel)",
        "posv_rolled.cu"),
    Defect(
        "back: the products lack a conjugate", "rolled_triangle.cuh", "solution",
        "minus_product_conj(y[c], b[i][r], own[i][c])",
        "minus_product(y[c], b[i][r], own[i][c])",
        "posv_rolled.cu"),
    Defect(
        "back: lanes without an item read another's", "rolled_triangle.cuh", "race of blocks",
        "if (alive && row >= p + c",
        "if (row >= p + c",
        "posv_rolled.cu"),
    Defect(
        "in step: a failing item's right-hand sides are overwritten", "posv_rolled.cu", "solution",
        "alive && done == n, x.b",
        "alive, x.b"),

    # ---- potrs_stream.cu -------------------------------------------------------------------------
    Defect(
        "a tile is used while the copy before it may still be under way", "potrs_stream.cu",
        "copy under way",
        "groups_arrive(count - 1 - passed - more);",
        "groups_arrive(count - passed - more);"),
    Defect(
        "the diagonal tile is not waited for with its neighbour", "potrs_stream.cu",
        "copy under way",
        "ring.arrive(is_last);",
        "ring.arrive(0);"),
    Defect(
        "Upper's lines lack their conjugate", "potrs_stream.cu", "solution",
        "return minus_product_conj(rest, x, m);",
        "return minus_product(rest, x, m);"),
    Defect(
        "a panel is solved downwards on the way back", "potrs_stream.cu", "solution",
        "const int c = backward ? panel - 1 - k : k;",
        "const int c = k;"),
    Defect(
        "a row past the matrix is stored", "potrs_stream.cu", "padding",
        "row * order + lane < n && s < count",
        "row * order + lane <= n && s < count"),
    Defect(
        "items to pass over are solved", "potrs_stream.cu", "padding",
        "if (arguments.skip && arguments.skip[i])",
        "if (false)"),
    # ---- potrs_tiny.cu ---------------------------------------------------------------------------
    Defect(
        "a copy takes in a row past the matrix", "potrs_tiny.cu", "copy under way",
        "if (meets && row < n && column + l < n)",
        "if (meets && row <= n && column + l < n)"),
    Defect(
        "nothing is put beyond the order", "potrs_tiny.cu", "never written",
        "if (n % B::chunk != 0)",
        "if (false)"),
    Defect(
        "the copies of an item come for its neighbour", "potrs_tiny.cu", "solution",
        "from_warp_lane(own, (first_item + i) * B::lanes)",
        "from_warp_lane(own, (first_item + i) * B::lanes ^ B::lanes)"),
    Defect(
        "lines that gather lack their conjugate", "potrs_tiny.cu", "solution",
        "return minus_product_conj(c, b, a);",
        "return minus_product(c, a, b);"),
    Defect(
        "a block is solved downwards on the way back", "potrs_tiny.cu", "solution",
        "const int a = rising ? step : chunk - 1 - step;",
        "const int a = step;"),
    Defect(
        "what is left of the own rows counts on every lane", "potrs_tiny.cu", "solution",
        "y[s][e] = choose(q == owner, x[home][s][e], T{});",
        "y[s][e] = x[home][s][e];"),
    Defect(
        "a lane leaves its own chunk to the others", "potrs_tiny.cu", "solution",
        "x[home][s][e] = choose(q == owner, y[s][e], x[home][s][e]);",
        "x[home][s][e] = choose(q != owner, y[s][e], x[home][s][e]);"),
    Defect(
        "a row past the matrix is stored", "potrs_tiny.cu", "padding",
        "if (row + e < n)",
        "if (row + e <= n)"),
    Defect(
        "items to pass over are solved", "potrs_tiny.cu", "padding",
        "i < arguments.batch && !(arguments.skip && arguments.skip[i])",
        "i < arguments.batch"),
    Defect(
        "lanes without an item store", "potrs_tiny.cu", "race",
        "on_chip.alive = i < arguments.batch &&",
        "on_chip.alive ="),
    # ---- potrs_tile.cu ---------------------------------------------------------------------------
    Defect(
        "a panel is used while the copy before it may still be under way", "potrs_tile.cu",
        "copy under way",
        "groups_arrive(stages - 2);",
        "groups_arrive(stages - 1);"),
    Defect(
        "a panel takes in a row past the matrix", "potrs_tile.cu", "solution",
        "k <= i && i < n;",
        "k <= i && i <= n;"),
    Defect(
        "the way back waits for what the way forward solved", "potrs_tile.cu", "race",
        "wait_for(event_of(backward, k));",
        "wait_for(event_of(false, k));"),
    Defect(
        "the last finished panel is left out on the way back", "potrs_tile.cu", "solution",
        "if (warps > 1)\n            wait_for",
        "if (backward && k < width + panel)\n            return begin_next();\n        if (warps > 1)\n            wait_for"),
    Defect(
        "a panel is solved downwards on the way back", "potrs_tile.cu", "solution",
        "backward ? panel - 1 - step : step;",
        "step;"),
    Defect(
        "panels of U lack their conjugate", "potrs_tile.cu", "solution",
        "constexpr bool conjugated = backward != upper;",
        "constexpr bool conjugated = backward;"),
    Defect(
        "right-hand sides past the last are stored", "potrs_tile.cu", "race of blocks",
        "s < b.count; s +=",
        "s < sides; s +="),
    Defect(
        "a row past the matrix is stored", "potrs_tile.cu", "padding",
        "if (i + k < n)\n#pragma",
        "if (true)\n#pragma"),
    Defect(
        "the diagonal is divided by only among the solution", "potrs_tile.cu", "solution",
        "m = scaled(inverses[lane % panel], m);",
        ";"),
    Defect(
        "two blocks take the same right-hand sides", "potrs_tile.cu", "race of blocks",
        "blockIdx.x % arguments.parts",
        "blockIdx.x % 1"),
    Defect(
        "items to pass over are solved", "potrs_tile.cu", "padding",
        "if (arguments.skip && arguments.skip[i])",
        "if (false)"),
    # ---- register_tile.cuh, gemm_register.cu, syrk_register.cu -----------------------------------
    Defect(
        "a slice is awaited a step late", "register_tile.cuh", "copy under way",
        "groups_arrive(stages - 2);",
        "groups_arrive(stages - 1);",
        "gemm_register.cu"),
    Defect(
        "the last step's slice is overwritten unawaited", "register_tile.cuh", "race",
        """block_barrier<warps>(); // also before the slice of the last step is overwritten
            begin(step + stages - 1);""",
        """begin(step + stages - 1);
            block_barrier<warps>();""",
        "gemm_register.cu"),
    Defect(
        "the last step is one deeper than the factors", "register_tile.cuh", "element",
        "left = all - k;",
        "left = all - k + 1;",
        "gemm_register.cu"),
    Defect(
        "a tile at the edge reads one row outside", "register_tile.cuh", "out of bounds",
        "rows = of.rows - row;",
        "rows = of.rows - row + 1;",
        "syrk_register.cu"),
    Defect(
        "what lies beyond a factor is not cleared", "register_tile.cuh", "never written",
        "begin_copy_or_zero(shared",
        "if (there) begin_copy_or_zero(shared",
        "gemm_register.cu"),
    Defect(
        "rows that are turned are counted by their places", "register_tile.cuh", "element",
        "row_at<T>(places_on(i)) < rows",
        "places_on(i) < rows",
        "gemm_register.cu"),
    Defect(
        "the tensor cores' imaginary parts lack a sign", "register_tile.cuh", "element",
        "mixed ? b[1] : minus_b_im",
        "b[1]",
        "gemm_register.cu"),
    Defect(
        "sums of conjugates stay as they are", "register_tile.cuh", "element",
        "sums.conjugate();",
        ";",
        "gemm_register.cu"),
    Defect(
        "a warp rests whose part the diagonal cuts", "register_tile.cuh", "element",
        "row + shape.warp_rows > column",
        "row + shape.warp_rows / 2 > column",
        "syrk_register.cu"),
    Defect(
        "a tile at the edge stores one column outside", "register_tile.cuh", "padding",
        "if (column >= columns)",
        "if (column > columns)",
        "gemm_register.cu"),
    Defect(
        "the other triangle is stored", "register_tile.cuh", "padding",
        "wanted == part::lower ? column : 0",
        "0",
        "syrk_register.cu"),
    Defect(
        "op(B) lacks its conjugate", "gemm_register.cu", "element",
        "arguments.op_b == BATCHLAS_CONJ_TRANS",
        "false"),
    Defect(
        "blocks that lie in one row of tiles take one tile", "gemm_register.cu", "race of blocks",
        "const int column = t / arguments.tile_rows * tile::shape.columns;",
        "const int column = 0 * t;"),
    Defect(
        "the second factor is conjugated like the first", "syrk_register.cu", "element",
        "a.k_step, !transposed,",
        "a.k_step, transposed,"),
    Defect(
        "Upper's tiles are the lower triangle's", "syrk_register.cu", "element",
        "if (arguments.wanted == part::upper)",
        "if (false)"),
    Defect(
        "the diagonal is not made real", "register_tile.cuh", "element",
        "if (at_row == own_column + sums.column(first + j))",
        "if (false)",
        "syrk_register.cu"),
    Defect(
        "alpha's imaginary part is lost", "device.cuh", "element",
        "static_cast<R>(value[1])",
        "R{}",
        "gemm_register.cu"),
    Defect(
        "items to pass over are multiplied", "gemm_register.cu", "padding",
        "if (arguments.skip && arguments.skip[item])",
        "if (false)"),
    Defect(
        "items to pass over are updated", "syrk_register.cu", "padding",
        "if (arguments.skip && arguments.skip[item])",
        "if (false)"),
    # ---- as the diagonal block of a larger matrix ------------------------------------------------
    Defect(
        "info does not count from info_base", "potrf_tiny.cu", "info",
        "arguments.info_base + failed",
        "failed"),
    Defect(
        "info does not count from info_base", "potrf_cta.cu", "info",
        "arguments.info_base + failed",
        "failed"),
    Defect(
        "info does not count from info_base", "potrf_wide.cu", "info",
        "arguments.info_base + failed",
        "failed"),
    Defect(
        "items that failed before are factored", "potrf_wide.cu", "padding",
        "arguments.info[i] != 0)",
        "false)"),
    Defect(
        "info does not count from info_base", "potrf_lpanel.cu", "info",
        "arguments.info_base + failed",
        "failed"),
    Defect(
        "info does not count from info_base", "potrf_ltile.cu", "info",
        "arguments.info_base + j + failed",
        "j + failed"),
    Defect(
        "items that failed before are factored", "potrf_ltile.cu", "padding",
        "if (!first && arguments.info[i] != 0)",
        "if (false)"),
    Defect(
        "items that failed before are factored", "potrf_tiny.cu", "padding",
        "alive = arguments.info[i] == 0;",
        "alive = true;"),
    Defect(
        "items that failed before are factored", "potrf_cta.cu", "padding",
        "arguments.info[i] != 0)",
        "false)"),
    Defect(
        "items that failed before are factored", "potrf_lpanel.cu", "padding",
        "arguments.info[i] != 0)",
        "false)"),
]

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "cuda_kernels"
PROGRAM = "tests/simulation/test_simulated_kernels"
TABLE_BEGIN = "<!-- planted defects: begin -->"
TABLE_END = "<!-- planted defects: end -->"
AT_ONCE = 2  # as many processors as CMake's entry of this test asks for
SECONDS = 240  # of the probes: a defect may keep a kernel from ending


class Unusable(Exception):
    """The defect cannot be planted, or what it did cannot be told."""


class Build:
    """How the build folder compiles a kernel and links the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        entries = json.loads((folder / "compile_commands.json").read_text())
        kernels = [e for e in entries if Path(e["file"]).resolve().parent == KERNELS]
        self.kernels = str(Path(kernels[0]["file"]).parent)
        self.compile = {Path(e["file"]).name: shlex.split(e["command"]) for e in kernels}
        commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", Path(PROGRAM).name],
                                  check=True, capture_output=True, text=True).stdout
        last = shlex.split(commands.splitlines()[-1])
        self.link = [word for word in last if word not in (":", "&&")]

    def make(self, unit: str, kernels: Path, program: Path) -> None:
        """The program with this unit taken from another folder of kernels."""
        compile_ = self.compile[unit]
        built = compile_[compile_.index("-o") + 1]
        planted = str(kernels / (unit + ".o"))
        compile_ = [planted if word == built else word.replace(self.kernels, str(kernels))
                    for word in compile_]
        # Compiling takes longer than what is left of the probes; nobody looks at lines of source.
        self.run(compile_ + ["-O0", "-g0", "-w"])
        self.run([planted if word == built else str(program) if word == PROGRAM else word
                  for word in self.link])

    def run(self, command: list[str]) -> None:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unusable("does not compile:\n" + done.stderr[:2000])


def probe(program: Path, unit: str = "") -> tuple[str, str]:
    """The guard that is red, or "", and its words. A unit's defects are no business of the families
    whose kernels are in others."""
    try:
        done = subprocess.run([program, "--device", "gpu", "--only", "probes_are_right"],
                              env={**os.environ, "OMP_NUM_THREADS": "1",
                                   **({"SIMULATION_UNIT": unit} if unit else {})}, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired as late:
        raise Unusable(f"the probes do not end in {SECONDS} seconds") from late
    if done.returncode == 0:
        return "", ""
    lines = done.stdout.splitlines()
    for line, following in zip(lines, lines[1:] + [""]):
        met = re.match(r"([sdcz]\w+ \S+, form \d+, n \d+): (.*)", line)
        if not met:
            continue
        fault = re.search(r": error \d+, ([a-z ]+)$", met[2])
        if fault and following.startswith(fault[1] + ": "):
            return fault[1], f"{met[1]}: {following}"
        for guard, words in CHECKS.items():
            if re.match(words, met[2]):
                return guard, line
    raise Unusable(f"status {done.returncode} and words that no guard has:\n" + done.stdout[-2000:])


def plant(defect: Defect, build: Build) -> tuple[str, str]:
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        kernels = Path(folder) / KERNELS.name
        shutil.copytree(KERNELS, kernels)
        source = kernels / defect.file
        text = source.read_text()
        if text.count(defect.old) != 1:
            raise Unusable(f"its text is {text.count(defect.old)} times in {defect.file}, not once")
        source.write_text(text.replace(defect.old, defect.new))
        program = Path(folder) / "planted"
        unit = defect.unit or defect.file
        build.make(unit, kernels, program)
        return probe(program, unit)


def title(defect: Defect) -> str:
    return f"`{defect.file}`: {defect.name}"


def examine(defect: Defect, build: Build) -> tuple[str, str]:
    """What is wrong with the defect, or "", and what was observed."""
    try:
        guard, words = plant(defect, build)
    except Unusable as reason:
        return str(reason), ""
    if guard == defect.guard:
        return "", words
    return (f"{guard} in the place of {defect.guard}: {words}" if guard else "stays green"), words


def shortened(words: str) -> str:
    """Long numbers and places in a copy are of no use in a table; a bar would end the cell."""
    words = re.sub(r" \(\S+\.cuh?:\d+\)", "", words)
    words = re.sub(r"-?\d+\.\d{4,}(e[-+]\d+)?", lambda number: f"{float(number[0]):.3g}", words)
    return words.replace("|", "\\|")


def split_page(page: Path) -> tuple[str, str, str]:
    text = page.read_text()
    if text.count(TABLE_BEGIN) != 1 or text.count(TABLE_END) != 1:
        sys.exit(f"{page} has no place for the table: {TABLE_BEGIN} ... {TABLE_END}")
    before, rest = text.split(TABLE_BEGIN)
    table, after = rest.split(TABLE_END)
    return before + TABLE_BEGIN + "\n", table, TABLE_END + after


def write_table(page: Path, observed: dict[Defect, str]) -> None:
    before, _, after = split_page(page)
    table = "| guard | planted defect | observed |\n|---|---|---|\n"
    for defect in DEFECTS:
        table += f"| {defect.guard} | {title(defect)} | {shortened(observed[defect])} |\n"
    page.write_text(before + table + after)


def table_is_of_the_list(page: Path) -> bool:
    _, table, _ = split_page(page)
    rows = [line.split(" | ")[:2] for line in table.strip().splitlines()[2:]]
    return rows == [[f"| {defect.guard}", title(defect)] for defect in DEFECTS]


def main() -> int:
    arguments = argparse.ArgumentParser(description="Plants defects in the CUDA kernels.")
    arguments.add_argument("build", type=Path, help="folder with a built test_simulated_kernels")
    arguments.add_argument("--only", default="", help="the defects whose title has this in it")
    arguments.add_argument("--table", type=Path, help="page whose table is written anew")
    given = arguments.parse_args()
    if given.only and given.table:
        arguments.error("a table needs all defects")

    build = Build(given.build.resolve())
    chosen = [defect for defect in DEFECTS if given.only in title(defect)]
    if not chosen:
        arguments.error("no defect has this in its title")
    wrong = 0
    observed = {}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as workers:
        untouched = workers.submit(probe, build.folder / PROGRAM)
        examined = workers.map(lambda defect: examine(defect, build), chosen)
        for defect, (trouble, words) in zip(chosen, examined):
            wrong += bool(trouble)
            observed[defect] = words
            print(f"{'WRONG' if trouble else 'red  '} {title(defect)}: {trouble or words}",
                  flush=True)
        if untouched.result()[0]:
            wrong += 1
            print(f"WRONG without any defect: {untouched.result()[1]}")

    page = ROOT / "docs" / "correctness.md"
    if given.table and not wrong:
        write_table(given.table, observed)
    elif not given.only and not given.table and not table_is_of_the_list(page):
        wrong += 1
        print(f"WRONG {page.name} has other rows: run with --table")
    print(f"{len(chosen)} defects, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
