/* SPDX-License-Identifier: BSD-3-Clause */
/* posv for small orders and few right-hand sides: the forward solve keeps step with the factor's
 * columns while these are in registers; the backward solve fetches them again. */
#include "families.h"
#include "posv_right.cuh"
#include "rolled_triangle.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

template <class T> struct table;
template <> struct table<float> {
    static constexpr tiny_geometry rows[] = {{25, 32, 16, 4, 2, 6, 16},
                                             {33, 40, 8, 4, 2, 4, 8},
                                             {41, 48, 16, 4, 2, 5, 8},
                                             {49, 64, 32, 4, 2, 6, 16},
                                             {65, 96, 32, 4, 2, 4, 16}};
};
template <> struct table<double> {
    static constexpr tiny_geometry rows[] = {{17, 24, 8, 4, 2, 4, 8},
                                             {25, 32, 16, 4, 2, 6, 8},
                                             {33, 48, 16, 4, 2, 4, 8},
                                             {49, 64, 32, 4, 2, 4, 16}};
};
template <> struct table<complex_of<float>> {
    static constexpr tiny_geometry rows[] = {{17, 24, 8, 4, 2, 4, 8},
                                             {25, 32, 16, 4, 2, 6, 8},
                                             {33, 48, 16, 4, 2, 4, 8},
                                             {49, 64, 32, 4, 2, 4, 16}};
};
template <> struct table<complex_of<double>> {
    static constexpr tiny_geometry rows[] = {{17, 24, 8, 2, 2, 4, 8}, {25, 32, 16, 2, 2, 4, 8}};
};

/* For up to `count` right-hand sides. */
template <class T, class bucket, bool upper, int count>
__global__ void __launch_bounds__(bucket::threads, bucket::blocks) solve(posv_arguments arguments) {
    constexpr tiny_geometry g = bucket::geometry;
    constexpr int lanes = g.lanes;
    using triangle = rolled_triangle<T, g.order, g.least, lanes, g.panel, g.span>;
    using right_sides = rolled_right<T, g.order, g.least, lanes, g.panel, g.span, count>;
    struct item_scratch {
        typename triangle::template scratch<upper> factor;
        typename right_sides::memory right;
    };
    // Lanes without an item keep their warp company and leave memory alone.
    const int place = static_cast<int>(threadIdx.x) / lanes;
    item_scratch &shared = shared_object<item_scratch[bucket::items]>()[place];

    const int64_t i = static_cast<int64_t>(blockIdx.x) * bucket::items + place;
    const bool alive = i < arguments.batch;
    T *const item = item_of<T>(arguments.A, alive ? i : 0);
    T *const right = item_of<T>(arguments.B, alive ? i : 0);
    const int64_t ld = arguments.A.ld;
    const int64_t ldb = arguments.B.ld;
    const int n = arguments.n;
    const int nrhs = arguments.nrhs;

    triangle a;
    a.q = static_cast<int>(threadIdx.x) % lanes;
    a.n = n;
    a.template fetch<upper>(item, ld, alive, shared.factor.block);
    right_sides x = {shared.right, a.q, n, alive, {}};
    load_right<upper>(a, right, ldb, nrhs, alive, x.b);
    const int done = a.template factor<upper>(shared.factor.panels, item, ld, alive, n, x);
    warp_barrier();
    x.solve_back(item, upper ? ld : 1, upper ? 1 : ld);
    store_right<upper>(a, right, ldb, nrhs, alive && done == n, x.b);

    int failed = 0;
    if (__builtin_expect(lanes_where(done < n) != 0, 0))
        failed = solve_where_it_lies<upper, lanes>(item, ld, done, n, right, ldb, nrhs, a.q,
                                                   alive && done < n);
    if (alive && a.q == 0 && arguments.info)
        arguments.info[i] = failed;
}

} // namespace

bool batchlas_posv_rolled_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                       const char **reason) {
    (void)facts;
    *reason =
        "rolled serves up to 4 right-hand sides of orders 25 to 96 (s), 17 to 64 (d, c) and 17 to "
        "32 (z)";
    return with_scalar(problem->type, [&](auto scalar) {
        using rows = table<decltype(scalar)>;
        return problem->nrhs <= several && problem->n >= rows::rows[0].least &&
               problem->n <= tiny_max_order<rows>;
    });
}

batchlas_status_t batchlas_posv_rolled_cuda(batchlas_handle_t h, const problem_t *problem,
                                            void *workspace) {
    (void)workspace;
    const int error = launch_posv<table>(
        problem, h->stream, [](auto scalar, auto bucket, auto upper, auto count) {
            return solve<decltype(scalar), decltype(bucket), decltype(upper)::value,
                         decltype(count)::value>;
        });
    return batchlas_device_status(h, error, "launching posv rolled");
}
