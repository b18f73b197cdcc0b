/* SPDX-License-Identifier: BSD-3-Clause */
/* The kriging of vecchia_kriging by several processes; docs/mpi_kriging.md explains how. */
#include "job.h"

#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

const char program_name[] = "mpi_kriging";

static int ranks;

static void gather(void *array, int64_t count, size_t item) {
    const team_t team = {.ranks = ranks};
    int *counts = allocate(ranks, sizeof *counts), *begins = allocate(ranks + 1, sizeof *begins);
    MPI_Datatype type;
    for (int r = 0; r <= ranks; r++)
        begins[r] = (int)team_begin(&team, count, r);
    for (int r = 0; r < ranks; r++)
        counts[r] = begins[r + 1] - begins[r];
    MPI_Type_contiguous((int)item, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgatherv(MPI_IN_PLACE, 0, type, array, counts, begins, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    free(counts);
    free(begins);
}

static int64_t sum(int64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

/* The devices of a node go round among its processes. */
static int own_device(void) {
    MPI_Comm node;
    int place;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_free(&node);
    return omp_get_num_devices() > 0 ? place % omp_get_num_devices() : DEVICE_HOST;
}

int main(int argc, char **argv) {
    team_t team = {.gather = gather, .sum = sum};
    options_t options;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    team.ranks = ranks;
    /* All have the same to say, so one says it. */
    if (team.rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    int outcome = team.rank == 0 ? options_parse(argc, argv, &options) : GO_ON;
    MPI_Bcast(&outcome, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (outcome == GO_ON) {
        if (team.rank != 0)
            options_parse(argc, argv, &options);
        printf("processes      %d\n", ranks);
        if (options.device == DEVICE_AUTO)
            options.device = own_device();
        outcome = job_run(&options, &team);
        if (outcome != EXIT_SUCCESS) /* the others may be waiting for this one */
            MPI_Abort(MPI_COMM_WORLD, outcome);
    }
    MPI_Finalize();
    return outcome;
}
