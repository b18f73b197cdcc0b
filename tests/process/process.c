/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process may do with the shared library: load it where there is no driver or no device,
 * leave it and load it again, fork. Knows neither OpenMP nor the library before it runs.
 *
 *   process LIBRARY use            makes handles and calls
 *   process LIBRARY reload         does that and unloads the library, many times
 *   process LIBRARY fork           does that in a child too */
#include <batchlas/batchlas.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDER = 40, NRHS = 2, BATCH = 200, LIMIT_SECONDS = 60, RELOADS = 40 };

static struct {
    batchlas_status_t (*create)(batchlas_handle_t *, int);
    batchlas_status_t (*destroy)(batchlas_handle_t);
    const char *(*last_error)(batchlas_handle_t);
    batchlas_status_t (*dposv)(batchlas_handle_t, batchlas_uplo_t, int, int, double *, int, int64_t,
                               double *, int, int64_t, int *, int64_t);
    int (*devices)(void);
    void (*set_threads)(int);
} f;

static void *loaded;

static void fail(const char *what, const char *why) {
    printf("%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void find(const char *name, void *function) {
    void *symbol = dlsym(loaded, name);
    if (!symbol)
        fail(name, "not found");
    memcpy(function, &symbol, sizeof symbol);
}

static void load(const char *library) {
    loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        fail("dlopen", dlerror());
    find("batchlas_create", &f.create);
    find("batchlas_destroy", &f.destroy);
    find("batchlas_last_error", &f.last_error);
    find("batchlas_dposv", &f.dposv);
    find("omp_get_num_devices", &f.devices); /* of the runtime that it brought */
    find("omp_set_num_threads", &f.set_threads);
}

static batchlas_handle_t host_handle(void) {
    batchlas_handle_t h = NULL;
    if (f.create(&h, -1) != BATCHLAS_SUCCESS)
        fail("create for the host", f.last_error(NULL));
    return h;
}

/* (4 I + ones) X = B with X = 1: large enough for all threads. */
static void solve(batchlas_handle_t h) {
    static double A[BATCH * ORDER * ORDER], B[BATCH * ORDER * NRHS];
    for (int i = 0; i < BATCH * ORDER * ORDER; ++i)
        A[i] = i % (ORDER * ORDER) % (ORDER + 1) ? 1 : 5;
    for (int i = 0; i < BATCH * ORDER * NRHS; ++i)
        B[i] = ORDER + 4;
    if (f.dposv(h, BATCHLAS_LOWER, ORDER, NRHS, A, ORDER, (int64_t)ORDER * ORDER, B, ORDER,
                (int64_t)ORDER * NRHS, NULL, BATCH) != BATCHLAS_SUCCESS)
        fail("dposv", f.last_error(h));
    for (int i = 0; i < BATCH * ORDER * NRHS; ++i)
        if (!(B[i] > 1 - 1e-12 && B[i] < 1 + 1e-12))
            fail("dposv", "the solution is wrong");
}

static void end(batchlas_handle_t h) {
    if (f.destroy(h) != BATCHLAS_SUCCESS)
        fail("destroy", f.last_error(NULL));
}

static void use_the_host(void) {
    batchlas_handle_t h = host_handle();
    solve(h);
    end(h);
}

/* A handle for each device there is, and a sentence for one that is not. The number between is the
 * host's for some runtimes. */
static void use_devices(void) {
    const int devices = f.devices();
    batchlas_handle_t h = NULL;
    for (int device = 0; device < devices; ++device)
        if (f.create(&h, device) != BATCHLAS_SUCCESS || f.destroy(h) != BATCHLAS_SUCCESS)
            fail("a handle for a device", f.last_error(NULL));
    if (f.create(&h, devices + 1) != BATCHLAS_INVALID_ARGUMENT || h || !*f.last_error(NULL))
        fail("a handle for no device", "it was made");
    printf("%d devices\n", devices);
}

/* Pages that the process has in memory. */
static long resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        fail("/proc/self/statm", "cannot be read");
    fclose(file);
    return pages;
}

static void reload(const char *library) {
    long before = 0;
    for (int i = 0; i < RELOADS; ++i) {
        load(library);
        use_the_host();
        if (dlclose(loaded))
            fail("dlclose", dlerror());
        if (i == RELOADS / 4)
            before = resident();
    }
    const long grown = (resident() - before) * sysconf(_SC_PAGESIZE) / 1024;
    printf("%ld KiB more after %d reloads\n", grown, RELOADS - RELOADS / 4 - 1);
    if (grown > 1024)
        fail("reload", "memory grows");
}

static void expect_child(const char *what, batchlas_handle_t parents, bool one_thread) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        if (one_thread)
            f.set_threads(1);
        solve(parents);
        end(parents);
        use_the_host();
        _exit(EXIT_SUCCESS);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        fail(what, "did not end well");
}

static void fork_after_use(void) {
    batchlas_handle_t h = host_handle();
    solve(h);
    expect_child("a child with one thread", h, true);
    /* gcc's runtime does not survive that: see docs/guide.md. */
    if (dlsym(loaded, "__kmpc_fork_call"))
        expect_child("a child with all threads", h, false);
    solve(h);
    end(h);
}

int main(int argc, char **argv) {
    const char *scenario = argc == 3 ? argv[2] : "";
    alarm(2 * LIMIT_SECONDS);
    if (!strcmp(scenario, "reload")) {
        reload(argv[1]);
    } else if (!strcmp(scenario, "use")) {
        load(argv[1]);
        use_the_host();
        use_devices();
    } else if (!strcmp(scenario, "fork")) {
        load(argv[1]);
        fork_after_use();
    } else {
        fail("usage", "process LIBRARY use|reload|fork");
    }
    return EXIT_SUCCESS;
}
