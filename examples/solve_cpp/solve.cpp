// SPDX-License-Identifier: BSD-3-Clause
// Solves A x = b for many small Hermitian positive-definite matrices A at once.
#include <batchlas/batchlas.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <omp.h>
#include <vector>

int main() {
    using complex = std::complex<double>;
    const int n = 3, nrhs = 1, batch = 1000;
    std::vector<complex> A(n * n * batch), b(n * batch);
    std::vector<int> info(batch);
    // i below the diagonal, -i above it, and k + n on it, in item k: the solution x is 1 everywhere
    // for b = A x.
    for (int k = 0; k < batch; ++k)
        for (int column = 0; column < n; ++column)
            for (int row = 0; row < n; ++row) {
                const complex value(row == column ? k + n : 0,
                                    (row > column ? 1 : 0) - (row < column ? 1 : 0));
                A[(k * n + column) * n + row] = value;
                b[k * n + row] += value;
            }

    batchlas_handle_t h;
    batchlas_status_t status = batchlas_create(&h, omp_get_default_device());
    complex *a = A.data(), *x = b.data();
    int *failed = info.data();
#pragma omp target data map(to : a[ : n * n * batch]) map(tofrom : x[ : n * batch])                \
    map(from : failed[ : batch])
#pragma omp target data use_device_ptr(a, x, failed)
    if (status == BATCHLAS_SUCCESS)
        status = batchlas_zposv(h, BATCHLAS_LOWER, n, nrhs, a, n, n * n, x, n, n, failed, batch);
    if (status != BATCHLAS_SUCCESS)
        std::fprintf(stderr, "%s\n", batchlas_last_error(h));
    batchlas_destroy(h);

    double error = 0;
    for (int i = 0; i < n * batch; ++i)
        error = std::max(error, info[i / n] == 0 ? std::abs(b[i] - 1.0) : INFINITY);
    std::printf("%d systems of order %d, largest error %.1e\n", batch, n, error);
    return status != BATCHLAS_SUCCESS || error > 1e-12;
}
