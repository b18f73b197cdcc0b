/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of threads of the host's BLAS. A BLAS call with more threads rounds otherwise than one
 * with fewer, so a batch is shared out over OpenMP threads, each of which calls a single-threaded
 * BLAS. */
#ifndef BATCHLAS_HOST_BLAS_THREADS_H
#define BATCHLAS_HOST_BLAS_THREADS_H

/* BLAS has one thread from the first hold to the last release, then as many as before. Any thread
 * may hold, as often as it likes. The OpenMP settings of the caller do not change. */
void batchlas_blas_threads_hold(void);
void batchlas_blas_threads_release(void);

#endif
