/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAP_H
#define MAP_H

#include "airports.h"
#include "surface.h"

/* Writes elevation above, standard error with the airports below, as one PNG. Nonzero after one
 * sentence on stderr. */
int map_write(const char *path, const surface_t *surface, const airport_t *airport, int airports,
              const char *caption);

#endif
