/* SPDX-License-Identifier: BSD-3-Clause */
/* Kriging of the elevation of the world's airports; docs/kriging.md explains what it computes. */
#include "job.h"

const char program_name[] = "vecchia_kriging";

int main(int argc, char **argv) {
    const team_t alone = {.rank = 0, .ranks = 1};
    options_t options;
    const int outcome = options_parse(argc, argv, &options);
    return outcome == GO_ON ? job_run(&options, &alone) : outcome;
}
