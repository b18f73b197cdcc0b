/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RATINGS_H
#define RATINGS_H

#include <stdint.h>

/* Ratings of one side: those of user (or item) e are start[e] .. start[e + 1] - 1, each with the
 * number of the item (or user) on the other side. Mapped to a device. */
typedef struct {
    int device, count;
    int64_t *start; /* count + 1 */
    int *other;
    double *value;
} side_t;

enum { USERS, ITEMS, SIDES };

typedef struct {
    int64_t count;
    int *id[SIDES]; /* of each rating: its user and its item, from 0 */
    double *value;
    int ids[SIDES]; /* how many users and items there are */
} ratings_t;

/* Reads a CSV file whose first line has the columns user, item and rating, and any others; users
 * and items are named by whole numbers. Exits with EXIT_USAGE after one sentence if it cannot
 * serve. */
ratings_t ratings_read(const char *path);

/* Moves each rating with probability `share` to a second set, by its place in the file. */
ratings_t ratings_hold_out(ratings_t *ratings, double share, uint64_t seed);
void ratings_free(ratings_t *ratings);

/* The same ratings, sorted by users or by items. */
side_t side_create(const ratings_t *ratings, int side, int device);
void side_free(side_t *side);

#endif
