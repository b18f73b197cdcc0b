/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf for small orders: a few lanes hold a matrix in their registers. */
#include "families.h"
#include "rolled_triangle.cuh"

extern "C" {
#include "device.h"
}

using namespace batchlas_device;

namespace {

template <class T> struct table;
template <> struct table<float> {
    static constexpr tiny_geometry rows[] = {
        {1, 4, 4, 4, 4, 8},        {5, 8, 4, 4, 4, 12},       {9, 12, 8, 4, 2, 12},
        {13, 16, 8, 4, 2, 10},     {17, 20, 8, 4, 2, 8},      {21, 24, 8, 4, 2, 8},
        {25, 28, 16, 4, 2, 6},     {29, 32, 16, 4, 2, 6},     {33, 40, 8, 4, 2, 5, 8},
        {41, 48, 16, 4, 2, 6, 8},  {49, 64, 32, 4, 2, 8, 16}, {65, 96, 32, 4, 2, 4, 16},
        {97, 128, 64, 4, 2, 4, 16}};
};
template <> struct table<double> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 8},        {5, 8, 4, 4, 4, 8},
                                             {9, 12, 8, 4, 2, 8},       {13, 16, 8, 4, 2, 6},
                                             {17, 20, 8, 4, 2, 6},      {21, 24, 8, 4, 2, 4, 8},
                                             {25, 32, 16, 4, 2, 6, 8},  {33, 48, 16, 4, 2, 4, 8},
                                             {49, 64, 32, 4, 2, 4, 16}, {65, 96, 96, 4, 3, 2, 16}};
};
template <> struct table<complex_of<float>> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 8},        {5, 8, 4, 4, 4, 4},
                                             {9, 12, 8, 4, 2, 8},       {13, 16, 8, 4, 2, 6},
                                             {17, 20, 8, 4, 2, 6},      {21, 24, 8, 4, 2, 4, 8},
                                             {25, 32, 16, 4, 2, 6, 8},  {33, 48, 16, 4, 2, 4, 8},
                                             {49, 64, 32, 4, 2, 4, 16}, {65, 96, 96, 4, 3, 2, 16}};
};
template <> struct table<complex_of<double>> {
    static constexpr tiny_geometry rows[] = {{1, 4, 4, 4, 4, 6},       {5, 8, 4, 4, 4, 4},
                                             {9, 12, 8, 4, 2, 6},      {13, 16, 8, 4, 2, 4},
                                             {17, 20, 8, 2, 2, 4},     {21, 24, 8, 2, 2, 4, 8},
                                             {25, 32, 16, 2, 2, 4, 8}, {33, 48, 64, 2, 2, 4, 16}};
};

struct tiny_arguments {
    operand_t A;
    int64_t batch;
    int *info;
    int info_base;
    int n;
};

/* How a bucket's matrices are held, and what each of them has in shared memory. */
template <class T, class bucket, bool upper, bool rolled = (bucket::geometry.span > 0)>
struct held_by {
    using triangle = typename bucket::triangle;
    using scratch = typename triangle::scratch;
};
template <class T, class bucket, bool upper> struct held_by<T, bucket, upper, true> {
    static constexpr tiny_geometry g = bucket::geometry;
    using triangle = rolled_triangle<T, g.order, g.least, g.lanes, g.panel, g.span>;
    using scratch = typename triangle::template scratch<upper>;
};

template <class T, class bucket, bool upper>
__global__ void __launch_bounds__(bucket::threads, bucket::blocks)
    factor(tiny_arguments arguments) {
    constexpr int lanes = bucket::lanes;
    using held = held_by<T, bucket, upper>;
    using scratch = typename held::scratch;
    const int place = static_cast<int>(threadIdx.x) / lanes;
    scratch &shared = shared_object<scratch[bucket::items]>()[place];

    // Lanes without an item keep their warp company and leave memory alone.
    const int64_t i = static_cast<int64_t>(blockIdx.x) * bucket::items + place;
    bool alive = i < arguments.batch;
    if (alive && arguments.info_base > 0 && arguments.info)
        alive = arguments.info[i] == 0;
    T *const item = item_of<T>(arguments.A, alive ? i : 0);
    const int64_t ld = arguments.A.ld;
    const int n = arguments.n;

    typename held::triangle a;
    a.q = static_cast<int>(threadIdx.x) % lanes;
    a.n = n;
    a.template fetch<upper>(item, ld, alive, shared.block);
    int done; // columns factored and stored
    if constexpr (bucket::geometry.span > 0) {
        nothing_right right;
        done = a.template factor<upper>(shared.panels, item, ld, alive, n, right);
    } else {
        const unsigned others = a.factor(shared.panels);
        done = others >> threadIdx.x % warp_lanes & 1 ? 0 : n;
        if constexpr (upper)
            a.template transpose<false>(shared.block);
        if (alive && done == n)
            a.template store<upper>(item, ld);
    }

    int failed = 0;
    if (__builtin_expect(lanes_where(done < n) != 0, 0))
        failed = factor_any<lanes>(item, upper ? ld : 1, upper ? 1 : ld, done, n, a.q,
                                   alive && done < n);
    if (alive && a.q == 0 && arguments.info && (failed || arguments.info_base == 0))
        arguments.info[i] = failed ? arguments.info_base + failed : 0;
}

} // namespace

bool batchlas_potrf_tiny_cuda_can_run(const problem_t *problem, const device_facts_t *facts,
                                      const char **reason) {
    (void)facts;
    *reason = "tiny serves orders up to 128 (s), 96 (d, c) and 48 (z)";
    return with_scalar(problem->type, [&](auto scalar) {
        return problem->n <= tiny_max_order<table<decltype(scalar)>>;
    });
}

batchlas_status_t batchlas_potrf_tiny_cuda(batchlas_handle_t h, const problem_t *problem,
                                           void *workspace) {
    (void)workspace;
    const tiny_arguments arguments = {problem->A, problem->batch, problem->info, problem->info_base,
                                      problem->n};
    const bool upper = problem->uplo == BATCHLAS_UPPER;
    const int error = with_scalar(problem->type, [&](auto scalar) {
        using T = decltype(scalar);
        return with_bucket<T, table<T>>(problem->n, [&](auto bucket) {
            using B = decltype(bucket);
            return launch(upper ? factor<T, B, true> : factor<T, B, false>,
                          (problem->batch + B::items - 1) / B::items, B::threads, h->stream,
                          arguments);
        });
    });
    return batchlas_device_status(h, error, "launching potrf tiny");
}
