/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "ratings.h"
#include "program.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Numbers the names from 0 in their order; returns how many differ. */
static int number(const int64_t *name, int64_t count, int *id) {
    int64_t *sorted = allocate(count, sizeof *sorted), distinct = 0;
    memcpy(sorted, name, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[distinct++] = sorted[i];
    for (int64_t i = 0; i < count; i++)
        id[i] = (int)((const int64_t *)bsearch(name + i, sorted, (size_t)distinct, sizeof *sorted,
                                               compare) -
                      sorted);
    free(sorted);
    return (int)distinct;
}

/* The fields of a line, cut at its commas in place; returns how many there are. */
static int cut(char *line, char **field, int most) {
    int count = 0;
    for (char *next = line; next != NULL && count < most; count++) {
        field[count] = next;
        next = strpbrk(next, ",\r\n");
        if (next != NULL && *next != ',')
            *next = '\0', next = NULL;
        else if (next != NULL)
            *next++ = '\0';
    }
    return count;
}

ratings_t ratings_read(const char *path) {
    static const char *const column[3] = {"user", "item", "rating"};
    enum { MOST_FIELDS = 16 };
    FILE *file = fopen(path, "r");
    char *line = NULL, *field[MOST_FIELDS], *end;
    size_t length = 0;
    int at[3] = {-1, -1, -1};
    int64_t room = 0, *name[SIDES] = {NULL, NULL};
    ratings_t r = {0};
    if (file == NULL)
        exit((complain("cannot open '%s': %s", path, strerror(errno)), EXIT_USAGE));
    int fields = getline(&line, &length, file) < 0 ? 0 : cut(line, field, MOST_FIELDS);
    for (int f = 0; f < fields; f++)
        for (int c = 0; c < 3; c++)
            if (strcmp(field[f], column[c]) == 0)
                at[c] = f;
    for (int c = 0; c < 3; c++)
        if (at[c] < 0)
            exit((complain("'%s' has no column '%s' in its first line", path, column[c]),
                  EXIT_USAGE));
    while (getline(&line, &length, file) >= 0) {
        if (r.count == room) {
            room = 2 * room + 1024;
            name[USERS] = grow(name[USERS], room, sizeof **name);
            name[ITEMS] = grow(name[ITEMS], room, sizeof **name);
            r.value = grow(r.value, room, sizeof *r.value);
        }
        fields = cut(line, field, MOST_FIELDS);
        int sound = fields > at[0] && fields > at[1] && fields > at[2];
        for (int c = 0; c < 3 && sound; c++) {
            if (c < SIDES)
                name[c][r.count] = strtoll(field[at[c]], &end, 10);
            else
                r.value[r.count] = strtod(field[at[c]], &end);
            sound = end != field[at[c]] && *end == '\0';
        }
        if (!sound)
            exit((complain("'%s' has no user, item and rating in row %lld", path,
                           (long long)r.count + 1),
                  EXIT_USAGE));
        r.count++;
    }
    if (ferror(file) || r.count == 0)
        exit((complain("'%s' %s", path, ferror(file) ? "cannot be read" : "has no ratings"),
              EXIT_USAGE));
    fclose(file);
    free(line);
    for (int s = 0; s < SIDES; s++) {
        r.id[s] = allocate(r.count, sizeof **r.id);
        r.ids[s] = number(name[s], r.count, r.id[s]);
        free(name[s]);
    }
    return r;
}

ratings_t ratings_hold_out(ratings_t *r, double share, uint64_t seed) {
    ratings_t held = {.ids = {r->ids[USERS], r->ids[ITEMS]}};
    int64_t kept = 0;
    for (int s = 0; s < SIDES; s++)
        held.id[s] = allocate(r->count, sizeof **held.id);
    held.value = allocate(r->count, sizeof *held.value);
    for (int64_t i = 0; i < r->count; i++) {
        ratings_t *to = random_uniform(seed, (uint64_t)i) < share ? &held : r;
        const int64_t place = to == r ? kept++ : held.count++;
        for (int s = 0; s < SIDES; s++)
            to->id[s][place] = r->id[s][i];
        to->value[place] = r->value[i];
    }
    r->count = kept;
    return held;
}

void ratings_free(ratings_t *r) {
    free(r->id[USERS]);
    free(r->id[ITEMS]);
    free(r->value);
}

side_t side_create(const ratings_t *r, int side, int device) {
    const int count = r->ids[side];
    int64_t *start = allocate(count + 1, sizeof *start), *next = allocate(count, sizeof *next);
    int *other = allocate(r->count, sizeof *other);
    double *value = allocate(r->count, sizeof *value);
    for (int64_t i = 0; i < r->count; i++)
        start[r->id[side][i] + 1]++;
    for (int e = 0; e < count; e++)
        start[e + 1] += start[e];
    for (int64_t i = 0; i < r->count; i++) {
        const int e = r->id[side][i];
        const int64_t place = start[e] + next[e]++;
        other[place] = r->id[1 - side][i];
        value[place] = r->value[i];
    }
    free(next);
#pragma omp target enter data device(device)                                                       \
    map(to : start[0 : count + 1], other[0 : r -> count], value[0 : r->count])
    return (side_t){device, count, start, other, value};
}

void side_free(side_t *s) {
    int64_t *start = s->start;
    int *other = s->other;
    double *value = s->value;
#pragma omp target exit data device(s->device) map(release : start[ : 0], other[ : 0], value[ : 0])
    free(start);
    free(other);
    free(value);
}
