/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants that were fitted to machines, each with its reason. */
#ifndef BATCHLAS_TUNING_CONSTANTS_H
#define BATCHLAS_TUNING_CONSTANTS_H

/* The host opens a parallel region for this many matrix elements: 10 to 20 us of work, where
 * opening one costs 1 to 5. */
enum { HOST_FORK_MIN_ELEMENTS = 16384 };

/* Likewise for logdet: 4096 logarithms take some 20 us. */
enum { HOST_FORK_MIN_LOGARITHMS = 4096 };

/* Likewise for gemm, syrk and trsm, some 10 us of work for one core. */
enum { HOST_FORK_MIN_MULTIPLY_ADDS = 65536 };

/* The host's packed blocks: of A, GEBP_KC columns in GEBP_BLOCK_BYTES, which is part of a core's
 * second-level cache and of a thread's stack; of B, GEBP_KC columns of one register tile, which
 * stay in the first-level cache. A sum over k is cut every GEBP_KC terms, so it decides an
 * element's bits; no other size does. On one core of an EPYC (Zen 4) 128 x 128 KiB gave 102 and 48
 * Gflop/s for s and d at m = n = 512, k = 128, where 128 x 64, 192 x 96, 256 x 128 and 256 x 256
 * gave 99 and 44, 99 and 45, 100 and 44, 103 and 48. */
enum { GEBP_KC = 128, GEBP_BLOCK_BYTES = 128 * 1024 };

/* Blocks up to this size are packed in a smaller frame: where the compiler probes each page of a
 * frame (-fstack-clash-protection), entering 128 KiB takes as long as an 8 by 8 by 8 product. */
enum { GEBP_SMALL_BYTES = 8 * 1024 };

/* Columns of C in the host's tiles where there is work for all threads: 1 / columns of the packing
 * of A is lost. */
enum { HOST_TILE_COLUMNS = 256, HOST_TILE_MIN_COLUMNS = 32 };

/* Order of the tiles of a large item that the host's BLAS is called for, one thread each. */
enum { VENDOR_TILE = 256 };

/* Panel width of the blocked potrf, by scalar_type_t; on the host no wider than a leaf can be,
 * which is potrf `tiny` there: 32 was the best of 8, 16, 24 and 32 for d and z at n = 64, 128, 256
 * and 512: 25.5 Gflop/s against 15.8, 22.0 and 24.2 for d at n = 512 on one core of an EPYC (Zen
 * 4). On an H200 n = 2,048, 32 items, took 5.61, 4.47 and 4.49 ms (s), 8.10, 5.73 and 5.14
 * (d), 12.1, 11.0 and 10.9 (c), 18.7, 14.1 and 12.8 (z) with 32, 64 and 128. */
static const int potrf_nb_gpu[4] = {128, 128, 128, 128};
static const int potrf_nb_host[4] = {32, 32, 32, 32};

/* Matrices that one thread of the blocked potrf takes at a time on the host. More of them fill the
 * lanes of the leaf; fewer stay in a core's share of the caches. On the same core double n = 128
 * took 64, 35, 33 and 32 us an item with 64 KiB, 512 KiB, 1 MiB and 4 MiB; n = 256 took 264, 265,
 * 236 and 216. */
enum { POTRF_CHUNK_BYTES = 2 * 1024 * 1024 };

#endif
