/* SPDX-License-Identifier: BSD-3-Clause */
/* late_start PROGRAM.so [ARGUMENT...]: starts a program that is built as a shared object.
 *
 * OpenMP's offload runtime initialises CUDA while it is loaded, ahead of whatever a tool preloads;
 * compute-sanitizer then finds itself late and switches itself off. Here nothing is loaded before
 * main but the C library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM.so [ARGUMENT...]\n", argv[0]);
        return EXIT_FAILURE;
    }
    void *program = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    void *entry = program ? dlsym(program, "main") : NULL;
    if (!entry) {
        fprintf(stderr, "%s: %s\n", argv[0], dlerror());
        return EXIT_FAILURE;
    }
    int (*start)(int, char **);
    memcpy(&start, &entry, sizeof entry);
    return start(argc - 1, argv + 1);
}
