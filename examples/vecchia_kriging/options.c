/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_help(void) {
    puts("Usage: vecchia_kriging [OPTION VALUE]...\n"
         "Interpolates the elevation of the world's airports with a Gaussian process (Vecchia's\n"
         "approximation), fitted by maximum likelihood, and draws a map of it.\n"
         "\n"
         "  --data FILE         CSV with icao, latitude_deg, longitude_deg and elevation_ft or\n"
         "                      elevation_m (default examples/data/airports.csv)\n"
         "  --output FILE       map to write, PNG (default kriging.png)\n"
         "  --predictions FILE  also write the held-out airports and their predictions as CSV\n"
         "  --device WHERE      auto, host or an OpenMP device number (default auto)\n"
         "  --neighbours M      points that each airport conditions on, 1 to 64 (default 30)\n"
         "  --smoothness NU     0.5, 1.5, 2.5, or auto for the most likely (default auto)\n"
         "  --nugget RATIO      keep noise variance / field variance at RATIO (default: fit it)\n"
         "  --holdout FRACTION  share of the airports to predict, 0 to 0.5 (default 0.1)\n"
         "  --evaluations N     most likelihoods for each search (default 150)\n"
         "  --grid WxH          cells of the map in longitude and latitude (default 720x360)\n"
         "  --seed N            of the order and of what is held out (default 1)\n"
         "  --help              this text\n"
         "\n"
         "Exit status: 0 done, 1 failed on the way, 2 wrong option or unusable file.");
}

static int whole(const char *text, long low, long high, int *value) {
    char *end;
    errno = 0;
    const long v = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < low || v > high)
        return 0;
    *value = (int)v;
    return 1;
}

static int real(const char *text, double low, double high, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

static int smoothness(const char *text, int *twice) {
    static const struct {
        const char *text;
        int twice;
    } known[] = {{"auto", 0}, {"0.5", 1}, {"1/2", 1}, {"1.5", 3},
                 {"3/2", 3},  {"2.5", 5}, {"5/2", 5}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].text) == 0) {
            *twice = known[i].twice;
            return 1;
        }
    }
    return 0;
}

static int device(const char *text, int *number) {
    if (strcmp(text, "auto") == 0)
        *number = DEVICE_AUTO;
    else if (strcmp(text, "host") == 0)
        *number = DEVICE_HOST;
    else
        return whole(text, 0, INT_MAX, number);
    return 1;
}

static int grid(const char *text, int *width, int *height) {
    int used = 0;
    return sscanf(text, "%5dx%5d%n", width, height, &used) == 2 && text[used] == '\0' &&
           *width >= 8 && *width <= 7200 && *height >= 4 && *height <= 3600;
}

static int seed(const char *text, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && text[0] != '-';
}

/* What was expected, or NULL if the option took its value. */
static const char *take(options_t *o, const char *name, const char *value) {
    if (strcmp(name, "--data") == 0)
        return o->data = value, *value ? NULL : "a file name";
    if (strcmp(name, "--output") == 0)
        return o->output = value, *value ? NULL : "a file name";
    if (strcmp(name, "--predictions") == 0)
        return o->predictions = value, *value ? NULL : "a file name";
    if (strcmp(name, "--device") == 0)
        return device(value, &o->device) ? NULL : "auto, host or a device number";
    if (strcmp(name, "--neighbours") == 0)
        return whole(value, 1, MAX_NEIGHBOURS, &o->neighbours) ? NULL : "a number from 1 to 64";
    if (strcmp(name, "--smoothness") == 0)
        return smoothness(value, &o->twice_smoothness) ? NULL : "0.5, 1.5, 2.5 or auto";
    if (strcmp(name, "--nugget") == 0)
        return real(value, 0.0, 100.0, &o->nugget) ? NULL : "a ratio from 0 to 100";
    if (strcmp(name, "--holdout") == 0)
        return real(value, 0.0, 0.5, &o->holdout) ? NULL : "a fraction from 0 to 0.5";
    if (strcmp(name, "--evaluations") == 0)
        return whole(value, 1, 100000, &o->evaluations) ? NULL : "a number from 1 to 100000";
    if (strcmp(name, "--grid") == 0)
        return grid(value, &o->grid_width, &o->grid_height) ? NULL : "WxH, from 8x4 to 7200x3600";
    if (strcmp(name, "--seed") == 0)
        return seed(value, &o->seed) ? NULL : "a number from 0 to 18446744073709551615";
    return "";
}

int options_parse(int argc, char **argv, options_t *options) {
    *options = (options_t){.data = "examples/data/airports.csv",
                           .output = "kriging.png",
                           .seed = 1,
                           .holdout = 0.1,
                           .nugget = -1.0,
                           .neighbours = 30,
                           .evaluations = 150,
                           .device = DEVICE_AUTO,
                           .grid_width = 720,
                           .grid_height = 360};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            options->help = 1;
            return 0;
        }
        char name[32];
        const size_t length = strcspn(argv[i], "=");
        const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : argv[i + 1];
        snprintf(name, sizeof name, "%.*s", (int)length, argv[i]);
        const char *expected = take(options, name, value != NULL ? value : "");
        if (expected != NULL && *expected == '\0') {
            fprintf(stderr, "vecchia_kriging: unknown option '%s'; --help lists them.\n", argv[i]);
            return 1;
        }
        if (value == NULL) {
            fprintf(stderr, "vecchia_kriging: %s needs a value: %s.\n", name, expected);
            return 1;
        }
        if (expected != NULL) {
            fprintf(stderr, "vecchia_kriging: %s was '%s', expected %s.\n", name, value, expected);
            return 1;
        }
        i += argv[i][length] != '=';
    }
    return 0;
}
