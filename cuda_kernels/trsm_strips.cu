/* SPDX-License-Identifier: BSD-3-Clause */
/* trsm, a strip of one item's right-hand sides a block. Every side, uplo and trans is a forward
 * substitution: a right side is the left one of the transposed equation, and an upper triangle is a
 * lower one with rows and columns counted from the end. Only steps through memory change, and their
 * signs. Large triangles are solved block by block, with gemm between. */
#include "families.h"
#include "strip_solve.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

/* The largest order of one launch. */
template <class T> constexpr int block_order = sizeof(T) == 16 ? 32 : 64;

struct strips_arguments {
    operand_t A, B;
    const int *skip;
    double alpha[2];
    int64_t l_first, l_row, l_column; // where L(0, 0) is, and the way to the next row and column
    int64_t x_first, x_row, x_side;
    int order, count;
    int strips; // of one item
    bool conjugated, unit, real_diagonal;
};

template <class T, int own, int warps>
__global__ void __launch_bounds__(warps *warp_lanes) solve(strips_arguments arguments) {
    using strip = strip_solve<T, own, warps>;
    const int64_t item = blockIdx.x / arguments.strips;
    if (arguments.skip && arguments.skip[item])
        return;
    const int first = static_cast<int>(blockIdx.x % arguments.strips) * strip::sides;
    strip_problem<T> p;
    p.alpha = scalar_from<T>(arguments.alpha);
    p.X = {item_of<T>(arguments.B, item) + arguments.x_first + first * arguments.x_side,
           arguments.x_row, arguments.x_side};
    p.order = arguments.order;
    p.count = arguments.count - first;
    p.unit = arguments.unit;
    p.real_diagonal = arguments.real_diagonal;
    const strip s(p.order);
    if (is_zero(p.alpha)) { // neither A, which may be NULL, nor B is read
        s.clear();
    } else {
        p.L = {item_of<const T>(arguments.A, item) + arguments.l_first, arguments.l_row,
               arguments.l_column, arguments.conjugated};
        s.load(p);
        block_barrier<warps>();
        s.solve_forward(p.unit, p.order);
    }
    block_barrier<warps>();
    s.store(p);
}

strips_arguments arguments_of(const problem_t &p) {
    const bool left = p.side == BATCHLAS_LEFT;
    const bool transposed = (p.op_a != BATCHLAS_NO_TRANS) == left; // A holds L^T
    strips_arguments a = {};
    a.A = p.A;
    a.B = p.B;
    a.skip = p.skip;
    a.alpha[0] = p.alpha[0];
    a.alpha[1] = p.alpha[1];
    a.order = left ? p.m : p.n;
    a.count = left ? p.n : p.m;
    a.l_row = transposed ? p.A.ld : 1;
    a.l_column = transposed ? 1 : p.A.ld;
    a.x_row = left ? 1 : p.B.ld;
    a.x_side = left ? p.B.ld : 1;
    a.conjugated = p.op_a == BATCHLAS_CONJ_TRANS;
    a.unit = p.diag == BATCHLAS_UNIT;
    a.real_diagonal = p.real_diagonal;
    if ((p.uplo == BATCHLAS_LOWER) == transposed) {
        a.l_first = (a.order - 1) * (a.l_row + a.l_column);
        a.x_first = (a.order - 1) * a.x_row;
        a.l_row = -a.l_row;
        a.l_column = -a.l_column;
        a.x_row = -a.x_row;
    }
    return a;
}

template <class T, int own, int warps> int launch_strips(const problem_t &problem, void *stream) {
    using strip = strip_solve<T, own, warps>;
    strips_arguments arguments = arguments_of(problem);
    arguments.strips = (arguments.count + strip::sides - 1) / strip::sides;
    return launch_in_parts(problem, arguments.strips, [&](const problem_t &part) {
        arguments.A = part.A;
        arguments.B = part.B;
        arguments.skip = part.skip;
        return launch_with_shared(
            solve<T, own, warps>, part.batch * arguments.strips, warps * warp_lanes,
            resident_padded(strip::bytes(arguments.order)), stream, arguments);
    });
}

template <class T> int launch_block(const problem_t &problem, void *stream) {
    const int count = problem.side == BATCHLAS_LEFT ? problem.n : problem.m;
    constexpr int pair = sizeof(T) == 16 ? 1 : 2;
    if (count <= warp_lanes)
        return launch_strips<T, 1, 1>(problem, stream);
    if (count <= warp_lanes * pair)
        return launch_strips<T, pair, 1>(problem, stream);
    return launch_strips<T, pair, 2>(problem, stream);
}

int launch_block(const problem_t &problem, void *stream) {
    return with_scalar(
        problem.type, [&](auto scalar) { return launch_block<decltype(scalar)>(problem, stream); });
}

/* Rows (of a left side) or columns first ... first + count - 1 of B. */
operand_t part_of_b(const problem_t &p, int first) {
    return p.side == BATCHLAS_LEFT ? operand_at(p.B, first, 0) : operand_at(p.B, 0, first);
}

/* The solve with A's diagonal block of order `order` at `first`. */
problem_t diagonal_solve(const problem_t &p, int first, int order) {
    problem_t solve = p;
    (p.side == BATCHLAS_LEFT ? solve.m : solve.n) = order;
    solve.A = operand_at(p.A, first, first);
    solve.B = part_of_b(p, first);
    return solve;
}

/* What the solutions first ... first + depth - 1 mean for `count` unknowns from `rest` on:
 * B(rest) := beta B(rest) - op(A)(rest, first) X(first), or X(first) op(A)(first, rest). */
problem_t update(const problem_t &p, int first, int depth, int rest, int count,
                 const double (&beta)[2]) {
    const bool left = p.side == BATCHLAS_LEFT;
    const bool rest_is_row = left == (p.op_a == BATCHLAS_NO_TRANS);
    problem_t gemm = {};
    gemm.type = p.type;
    gemm.m = left ? count : p.m;
    gemm.n = left ? p.n : count;
    gemm.k = depth;
    const operand_t a = rest_is_row ? operand_at(p.A, rest, first) : operand_at(p.A, first, rest);
    const operand_t x = part_of_b(p, first);
    gemm.A = left ? a : x;
    gemm.B = left ? x : a;
    gemm.C = part_of_b(p, rest);
    gemm.op_a = left ? p.op_a : BATCHLAS_NO_TRANS;
    gemm.op_b = left ? BATCHLAS_NO_TRANS : p.op_a;
    gemm.alpha[0] = -1;
    gemm.beta[0] = beta[0];
    gemm.beta[1] = beta[1];
    gemm.skip = p.skip;
    gemm.batch = p.batch;
    return gemm;
}

} // namespace

bool batchlas_trsm_strips_can_run(const problem_t *problem, const device_facts_t *facts,
                                  const char **reason) {
    return batchlas_gemm_register_can_run(problem, facts, reason);
}

batchlas_status_t batchlas_trsm_strips(batchlas_handle_t h, const problem_t *problem,
                                       void *workspace) {
    problem_t p = *problem;
    const int order = p.side == BATCHLAS_LEFT ? p.m : p.n;
    const int nb = with_scalar(p.type, [](auto scalar) { return block_order<decltype(scalar)>; });
    const bool forward =
        ((p.uplo == BATCHLAS_LOWER) == (p.op_a == BATCHLAS_NO_TRANS)) == (p.side == BATCHLAS_LEFT);
    const bool clears = p.alpha[0] == 0 && p.alpha[1] == 0;
    batchlas_status_t status = BATCHLAS_SUCCESS;
    for (int done = 0; done < order && status == BATCHLAS_SUCCESS; done += nb) {
        const int depth = order - done < nb ? order - done : nb;
        const int count = order - done - depth; // of unknowns that are left
        const int first = forward ? done : count;
        const problem_t solve = diagonal_solve(p, first, depth);
        status = batchlas_device_status(h, launch_block(solve, h->stream), "launching trsm strips");
        if (status != BATCHLAS_SUCCESS || count == 0 || clears)
            continue;
        const problem_t gemm = update(p, first, depth, forward ? first + depth : 0, count, p.alpha);
        status = batchlas_gemm_register(h, &gemm, workspace);
        p.alpha[0] = 1;
        p.alpha[1] = 0;
    }
    return status;
}
