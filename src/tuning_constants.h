/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants that were fitted to machines, each with its reason. */
#ifndef BATCHLAS_TUNING_CONSTANTS_H
#define BATCHLAS_TUNING_CONSTANTS_H

/* The host opens a parallel region for this many matrix elements: 10 to 20 us of work, where
 * opening one costs 1 to 5. */
enum { HOST_FORK_MIN_ELEMENTS = 16384 };

/* Likewise for logdet: 4096 logarithms take some 20 us. */
enum { HOST_FORK_MIN_LOGARITHMS = 4096 };

/* Order of the tiles of a large item that the host's BLAS is called for, one thread each. */
enum { VENDOR_TILE = 256 };

/* Panel width of the blocked potrf, by scalar_type_t; no wider than a leaf can be, which is
 * potrf `tiny`. On the host 32 was the best of 8, 16, 24 and 32 for d and z at n = 64, 128, 256 and
 * 512: 25.5 Gflop/s against 15.8, 22.0 and 24.2 for d at n = 512 on one core of an EPYC (Zen 4). */
static const int potrf_nb_gpu[4] = {32, 32, 32, 32};
static const int potrf_nb_host[4] = {32, 32, 32, 32};

/* Matrices that one thread of the blocked potrf takes at a time on the host. More of them fill the
 * lanes of the leaf; fewer stay in a core's share of the caches. On the same core double n = 128
 * took 64, 35, 33 and 32 us an item with 64 KiB, 512 KiB, 1 MiB and 4 MiB; n = 256 took 264, 265,
 * 236 and 216. */
enum { POTRF_CHUNK_BYTES = 2 * 1024 * 1024 };

#endif
