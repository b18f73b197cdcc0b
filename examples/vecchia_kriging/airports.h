/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPORTS_H
#define AIRPORTS_H

#include <stdint.h>

#define EARTH_RADIUS_KM 6371.0088 /* mean radius, IUGG; Moritz, J. Geodesy 74, 2000 */

typedef struct {
    char code[12];
    double latitude, longitude; /* degrees, north and east positive */
    double elevation;           /* metres above mean sea level */
    int line;                   /* in the file */
} airport_t;

typedef struct {
    airport_t *airport; /* count, in random order; freed by the caller with free() */
    int count;
    int rows;        /* data rows in the file */
    int unusable;    /* dropped: a value missing, not a number or out of range */
    int repeated;    /* dropped: the position of an earlier row */
    int placeholder; /* dropped: elevation 0 amid high ground, a missing value in disguise */
} airports_t;

/* Position on the sphere, km. */
void sphere_point(double latitude, double longitude, double point[3]);

/* Reads a CSV file with the columns icao, latitude_deg, longitude_deg and elevation_ft or
 * elevation_m, in any order among others, drops unusable rows and shuffles the rest. Returns
 * nonzero after one sentence on stderr if the file cannot serve. */
int airports_read(const char *path, uint64_t seed, airports_t *airports);

#endif
