/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: vecchia_kriging [OPTION VALUE]...\n"
    "       mpirun -n PROCESSES mpi_kriging [OPTION VALUE]...\n"
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
    "Exit status: 0 done, 1 failed on the way, 2 wrong option or unusable file.";

static int take_smoothness(const option_t *option, const char *text) {
    static const struct {
        const char *text;
        int twice;
    } known[] = {{"auto", 0}, {"0.5", 1}, {"1/2", 1}, {"1.5", 3},
                 {"3/2", 3},  {"2.5", 5}, {"5/2", 5}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].text) == 0) {
            *(int *)option->value = known[i].twice;
            return 1;
        }
    }
    return 0;
}

static int take_grid(const option_t *option, const char *text) {
    options_t *o = option->value;
    int used = 0;
    return sscanf(text, "%5dx%5d%n", &o->grid_width, &o->grid_height, &used) == 2 &&
           text[used] == '\0' && o->grid_width >= 8 && o->grid_width <= 7200 &&
           o->grid_height >= 4 && o->grid_height <= 3600;
}

int options_parse(int argc, char **argv, options_t *o) {
    *o = (options_t){.data = "examples/data/airports.csv",
                     .output = "kriging.png",
                     .seed = 1,
                     .holdout = 0.1,
                     .nugget = -1.0,
                     .neighbours = 30,
                     .evaluations = 150,
                     .device = DEVICE_AUTO,
                     .grid_width = 720,
                     .grid_height = 360};
    const option_t option[] = {
        {"--data", take_text, &o->data, 0, 0, "a file name"},
        {"--output", take_text, &o->output, 0, 0, "a file name"},
        {"--predictions", take_text, &o->predictions, 0, 0, "a file name"},
        {"--device", take_device, &o->device, 0, 0, EXPECTED_DEVICE},
        {"--neighbours", take_whole, &o->neighbours, 1, MAX_NEIGHBOURS, NULL},
        {"--smoothness", take_smoothness, &o->twice_smoothness, 0, 0, "0.5, 1.5, 2.5 or auto"},
        {"--nugget", take_real, &o->nugget, 0, 100, "a ratio from 0 to 100"},
        {"--holdout", take_real, &o->holdout, 0, 0.5, "a fraction from 0 to 0.5"},
        {"--evaluations", take_whole, &o->evaluations, 1, 100000, NULL},
        {"--grid", take_grid, o, 0, 0, "WxH, from 8x4 to 7200x3600"},
        {"--seed", take_seed, &o->seed, 0, 0, EXPECTED_SEED},
    };
    return options_take(argc, argv, help, option, (int)(sizeof option / sizeof *option));
}
