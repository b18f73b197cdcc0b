/* SPDX-License-Identifier: BSD-3-Clause */
/* posv for small orders: potrf tiny, and both solves while the factor is in registers. */
#include "families.h"
#include "posv_right.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

template <class T> struct table;
template <> struct table<float> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 8},
                                             {5, 8, 4, 4, 4, 4},
                                             {9, 16, 8, 4, 2, 8},
                                             {17, 24, 8, 4, 2, 6},
                                             {25, 32, 16, 4, 2, 6}};
};
template <> struct table<double> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 8},
                                             {5, 8, 4, 4, 4, 4},
                                             {9, 16, 8, 4, 2, 6},
                                             {17, 24, 8, 4, 2, 4},
                                             {25, 32, 16, 2, 2, 4}};
};
template <> struct table<complex_of<float>> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 8},
                                             {5, 8, 4, 4, 4, 4},
                                             {9, 16, 8, 4, 2, 6},
                                             {17, 24, 8, 4, 2, 4},
                                             {25, 32, 16, 2, 2, 4}};
};
template <> struct table<complex_of<double>> { // more does not fit the registers
    static constexpr tiny_geometry rows[] = {
        {1, 4, 4, 4, 2, 12}, {5, 8, 4, 4, 2, 6}, {9, 16, 8, 4, 2, 4}};
};

template <class T, class bucket, bool upper, int count>
__global__ void __launch_bounds__(bucket::threads, bucket::blocks) solve(posv_arguments arguments) {
    constexpr int lanes = bucket::lanes;
    using triangle = typename bucket::triangle;
    struct item_scratch {
        typename triangle::scratch factor;
        typename triangle::template solve_buffers<count> solves[2];
    };
    const int place = static_cast<int>(threadIdx.x) / lanes;
    item_scratch &shared = shared_object<item_scratch[bucket::items]>()[place];

    // Lanes without an item keep their warp company and leave memory alone.
    const int64_t i = static_cast<int64_t>(blockIdx.x) * bucket::items + place;
    const bool alive = i < arguments.batch;
    T *const item = item_of<T>(arguments.A, alive ? i : 0);
    T *const right = item_of<T>(arguments.B, alive ? i : 0);
    const int64_t ld = arguments.A.ld;
    const int64_t ldb = arguments.B.ld;
    const int nrhs = arguments.nrhs;

    triangle a;
    a.q = static_cast<int>(threadIdx.x) % lanes;
    a.n = arguments.n;
    a.template fetch<upper>(item, ld, alive, shared.factor.block);
    const unsigned others = a.factor(shared.factor.panels);
    const bool ordinary = alive && !(others >> threadIdx.x % warp_lanes & 1);

    T b[triangle::owned][count];
    if (!upper && ordinary)
        a.template store<false>(item, ld);
#pragma unroll 1
    for (int r = 0; r < nrhs; r += count) {
        load_right<upper>(a, right + r * ldb, ldb, nrhs - r, ordinary, b);
        if (r > 0)
            warp_barrier(); // with an odd number of panels the last one's buffer is the first's
        a.solve_forward(shared.solves, b);
        if (nrhs > count)
            store_right<upper>(a, right + r * ldb, ldb, nrhs - r, ordinary, b);
    }
    a.template transpose<false>(shared.factor.block);
    if (upper && ordinary)
        a.template store<true>(item, ld);
#pragma unroll 1
    for (int r = 0; r < nrhs; r += count) {
        if (nrhs > count)
            load_right<upper>(a, right + r * ldb, ldb, nrhs - r, ordinary, b);
        if (r > 0)
            warp_barrier();
        a.solve_backward(shared.solves, b);
        store_right<upper>(a, right + r * ldb, ldb, nrhs - r, ordinary, b);
    }

    int failed = 0;
    if (__builtin_expect(others != 0, 0))
        failed = solve_where_it_lies<upper, lanes>(item, ld, 0, a.n, right, ldb, nrhs, a.q,
                                                   alive && !ordinary);
    if (alive && a.q == 0 && arguments.info)
        arguments.info[i] = failed;
}

} // namespace

bool batchlas_posv_tiny_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                     const char **reason) {
    (void)facts;
    *reason = "tiny serves orders up to 32, of complex double up to 16";
    return with_scalar(problem->type, [&](auto scalar) {
        return problem->n <= tiny_max_order<table<decltype(scalar)>>;
    });
}

batchlas_status_t batchlas_posv_tiny_cuda(batchlas_handle_t h, const problem_t *problem,
                                          void *workspace) {
    (void)workspace;
    const int error = launch_posv<table>(
        problem, h->stream, [](auto scalar, auto bucket, auto upper, auto count) {
            return solve<decltype(scalar), decltype(bucket), decltype(upper)::value,
                         decltype(count)::value>;
        });
    return batchlas_device_status(h, error, "launching posv tiny");
}
