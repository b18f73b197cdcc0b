/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "airports.h"
#include "neighbours.h"
#include "program.h"
#include "random.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE, LATITUDE, LONGITUDE, ELEVATION_FT, ELEVATION_M, COLUMNS, MAX_FIELDS = 64 };
static const char *const column_name[COLUMNS] = {"icao", "latitude_deg", "longitude_deg",
                                                 "elevation_ft", "elevation_m"};

/* Below the shore of the Dead Sea and above the highest airfield nothing can be an airport. */
static const double lowest_m = -450.0, highest_m = 5500.0, metres_per_foot = 0.3048;

/* An elevation of 0 is a placeholder if the median of the eight nearest other airports, all within
 * this distance, lies higher than this. */
enum { JURY = 8 };
static const double jury_km = 500.0, high_ground_m = 100.0;

void sphere_point(double latitude, double longitude, double point[3]) {
    const double degree = 3.14159265358979323846 / 180.0;
    point[0] = EARTH_RADIUS_KM * cos(latitude * degree) * cos(longitude * degree);
    point[1] = EARTH_RADIUS_KM * cos(latitude * degree) * sin(longitude * degree);
    point[2] = EARTH_RADIUS_KM * sin(latitude * degree);
}

/* Cuts a line at its commas, in place; a field may stand in double quotes. */
static int split(char *line, char *field[MAX_FIELDS]) {
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; count < MAX_FIELDS; p++) {
        field[count++] = p + (*p == '"');
        if (*p == '"') {
            p += 1 + strcspn(p + 1, "\"");
            if (*p == '"')
                *p++ = '\0';
        }
        p += strcspn(p, ",");
        if (*p == '\0')
            break;
        *p = '\0';
    }
    return count;
}

static int number(const char *text, double low, double high, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

static int by_position(const void *a, const void *b) {
    const airport_t *p = a, *q = b;
    if (p->latitude != q->latitude)
        return p->latitude < q->latitude ? -1 : 1;
    if (p->longitude != q->longitude)
        return p->longitude < q->longitude ? -1 : 1;
    return (p->line > q->line) - (p->line < q->line);
}

static int ascending(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void drop_repeated(airports_t *airports) {
    airport_t *a = airports->airport;
    int kept = 0;
    qsort(a, (size_t)airports->count, sizeof *a, by_position);
    for (int i = 0; i < airports->count; i++)
        if (kept == 0 || a[i].latitude != a[kept - 1].latitude ||
            a[i].longitude != a[kept - 1].longitude)
            a[kept++] = a[i];
    airports->repeated = airports->count - kept;
    airports->count = kept;
}

static void shuffle(airports_t *airports, uint64_t seed) {
    airport_t *a = airports->airport;
    for (int i = airports->count - 1; i > 0; i--) {
        const int j =
            (int)(random_bits(seed, (uint64_t)(airports->count - 1 - i)) % (uint64_t)(i + 1));
        const airport_t swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

static int drop_placeholders(airports_t *airports) {
    airport_t *a = airports->airport;
    double *point = malloc((size_t)airports->count * 3 * sizeof *point);
    double *elevation = malloc((size_t)airports->count * sizeof *elevation);
    int known = 0, kept = 0;
    kdtree_t *tree = NULL;
    if (point != NULL && elevation != NULL) {
        for (int i = 0; i < airports->count; i++) {
            if (a[i].elevation != 0.0) {
                sphere_point(a[i].latitude, a[i].longitude, point + 3 * (ptrdiff_t)known);
                elevation[known++] = a[i].elevation;
            }
        }
        tree = kdtree_create(point, known);
    }
    if (tree != NULL) {
        for (int i = 0; i < airports->count; i++) {
            int placeholder = 0, near[JURY];
            double at[3], distance[JURY], height[JURY];
            sphere_point(a[i].latitude, a[i].longitude, at);
            if (a[i].elevation == 0.0 &&
                kdtree_nearest(tree, at, known, JURY, near, distance) == JURY &&
                distance[JURY - 1] <= jury_km) {
                for (int j = 0; j < JURY; j++)
                    height[j] = elevation[near[j]];
                qsort(height, JURY, sizeof *height, ascending);
                placeholder = 0.5 * (height[JURY / 2 - 1] + height[JURY / 2]) > high_ground_m;
            }
            if (!placeholder)
                a[kept++] = a[i];
        }
        airports->placeholder = airports->count - kept;
        airports->count = kept;
    }
    kdtree_destroy(tree);
    free(point);
    free(elevation);
    return tree == NULL;
}

static int find_columns(const char *path, char *header, int at[COLUMNS]) {
    char *field[MAX_FIELDS];
    if ((unsigned char)header[0] == 0xef && (unsigned char)header[1] == 0xbb)
        header += 3; /* byte order mark */
    const int fields = split(header, field);
    for (int c = 0; c < COLUMNS; c++) {
        at[c] = -1;
        for (int f = 0; f < fields && at[c] < 0; f++)
            if (strcmp(field[f], column_name[c]) == 0)
                at[c] = f;
        if (at[c] < 0 && c < ELEVATION_FT)
            return complain("'%s' has no column '%s' in its first line", path, column_name[c]);
    }
    if (at[ELEVATION_FT] < 0 && at[ELEVATION_M] < 0)
        return complain(
            "'%s' has neither a column 'elevation_ft' nor 'elevation_m' in its first line", path);
    return 0;
}

static int parse_row(char *line, const int at[COLUMNS], airport_t *a) {
    char *field[MAX_FIELDS];
    const int fields = split(line, field);
    const int in_feet = at[ELEVATION_M] < 0, height = in_feet ? at[ELEVATION_FT] : at[ELEVATION_M];
    const double unit = in_feet ? metres_per_foot : 1.0;
    if (at[CODE] >= fields || at[LATITUDE] >= fields || at[LONGITUDE] >= fields ||
        height >= fields || !number(field[at[LATITUDE]], -90.0, 90.0, &a->latitude) ||
        !number(field[at[LONGITUDE]], -180.0, 180.0, &a->longitude) ||
        !number(field[height], lowest_m / unit, highest_m / unit, &a->elevation))
        return 0;
    a->elevation *= unit;
    snprintf(a->code, sizeof a->code, "%s", field[at[CODE]]);
    return 1;
}

int airports_read(const char *path, uint64_t seed, airports_t *airports) {
    char *line = NULL;
    size_t length = 0;
    int at[COLUMNS], room = 0, failed = 1;

    *airports = (airports_t){0};
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return complain("cannot open '%s': %s", path, strerror(errno));
    if (getline(&line, &length, file) < 0)
        complain("'%s' %s", path, ferror(file) ? "cannot be read" : "is empty");
    else
        failed = find_columns(path, line, at);
    while (!failed && getline(&line, &length, file) >= 0) {
        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (airports->count == room) {
            airport_t *more = realloc(airports->airport, (size_t)(room += 8192) * sizeof *more);
            if (more == NULL) {
                failed = complain("out of memory at row %d", airports->rows);
                break;
            }
            airports->airport = more;
        }
        airport_t *a = airports->airport + airports->count;
        a->line = ++airports->rows;
        if (parse_row(line, at, a))
            airports->count++;
        else
            airports->unusable++;
    }
    free(line);
    fclose(file);
    if (!failed && airports->count > 0) {
        drop_repeated(airports);
        shuffle(airports, seed);
        failed = drop_placeholders(airports);
        if (failed)
            complain("out of memory for %d airports", airports->count);
    }
    return failed;
}
