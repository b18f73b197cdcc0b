/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants that were fitted to machines, each with its reason. */
#ifndef BATCHLAS_TUNING_CONSTANTS_H
#define BATCHLAS_TUNING_CONSTANTS_H

#include "problem.h"

/* The host opens a parallel region for this many matrix elements: 10 to 20 us of work, where
 * opening one costs 1 to 5. */
enum { HOST_FORK_MIN_ELEMENTS = 16384 };

/* Order of the tiles of a large item that the host's BLAS is called for, one thread each. */
enum { VENDOR_TILE = 256 };

#endif
