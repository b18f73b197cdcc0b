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
 * potrf `tiny`. */
static const int potrf_nb_gpu[4] = {32, 32, 32, 32};
static const int potrf_nb_host[4] = {32, 32, 32, 32};

/* Matrices that one thread of the blocked potrf takes at a time on the host: they should stay in a
 * second-level cache, and fill the lanes of the leaf. */
enum { POTRF_CHUNK_BYTES = 512 * 1024 };

#endif
