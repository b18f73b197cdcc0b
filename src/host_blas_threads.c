/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_blas_threads.h"

#include <omp.h>
#include <pthread.h>

/* OpenBLAS has these, whichever way it was built; other libraries leave them NULL. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static struct {
    pthread_mutex_t lock;
    int holders;
    int threads; /* of BLAS, before the first hold */
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_threads(int threads) {
    if (openblas_get_num_threads() == threads)
        return;
    /* Where OpenBLAS was built on OpenMP, it sets the calling thread's number of threads too. */
    const int own = omp_get_max_threads();
    openblas_set_num_threads(threads);
    if (omp_get_max_threads() != own)
        omp_set_num_threads(own);
}

void batchlas_blas_threads_hold(void) {
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        return;
    pthread_mutex_lock(&held.lock);
    if (held.holders++ == 0) {
        held.threads = openblas_get_num_threads();
        set_threads(1);
    }
    pthread_mutex_unlock(&held.lock);
}

void batchlas_blas_threads_release(void) {
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        return;
    pthread_mutex_lock(&held.lock);
    if (--held.holders == 0)
        set_threads(held.threads);
    pthread_mutex_unlock(&held.lock);
}
