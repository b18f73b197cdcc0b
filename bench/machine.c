/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT, program_invocation_short_name */
#include "machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if BATCHLAS_HAVE_GPU
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#endif

enum { ALIGNMENT = 256 };

double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the host ------------------------------------------------------------------------------ */

static void host_model(char *model, size_t size) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(model, size, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            snprintf(model, size, "%s", colon + 2);
            model[strcspn(model, "\n")] = '\0';
            break;
        }
    }
    if (file)
        fclose(file);
}

static double host_free_bytes(void) {
    double kilobytes = 0.0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes > 0.0 ? 1024.0 * kilobytes
                           : (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static void host_copy(char *to, const char *from, size_t bytes) {
    const int64_t piece = 1 << 20;
    const int64_t pieces = ((int64_t)bytes + piece - 1) / piece;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < pieces; ++i) {
        const int64_t first = i * piece;
        const int64_t left = (int64_t)bytes - first;
        memcpy(to + first, from + first, (size_t)(left < piece ? left : piece));
    }
}

/* ---- the device ---------------------------------------------------------------------------- */

#if BATCHLAS_HAVE_GPU
/* yardsticks.cu */
int bench_launch_nothing(void *stream);
int bench_launch_hold(void *stream, unsigned long long nanoseconds);

static bool cuda(cudaError_t error, const char *doing) {
    if (error == cudaSuccess)
        return true;
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, doing,
            cudaGetErrorString(error));
    return false;
}

static bool open_gpu(machine_t *machine) {
    struct cudaDeviceProp properties;
    /* OpenMP comes first, as in a user's program: who makes the context decides how threads wait.
     */
    omp_target_free(omp_target_alloc(1, machine->device), machine->device);
    if (machine->device >= omp_get_num_devices()) {
        fprintf(stderr, "%s: --device %d: there are %d devices\n", program_invocation_short_name,
                machine->device, omp_get_num_devices());
        return false;
    }
    if (!cuda(cudaSetDevice(machine->device), "cudaSetDevice") ||
        !cuda(cudaGetDeviceProperties(&properties, machine->device), "cudaGetDeviceProperties"))
        return false;
    snprintf(machine->name, sizeof machine->name, "sm_%d%d", properties.major, properties.minor);
    snprintf(machine->model, sizeof machine->model, "%s", properties.name);
    machine->is_gpu = true;
    machine->sector = 32;
    cudaStream_t stream = NULL;
    cudaEvent_t start = NULL, stop = NULL;
    const bool made =
        cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate") &&
        cuda(cudaEventCreate(&start), "cudaEventCreate") &&
        cuda(cudaEventCreate(&stop), "cudaEventCreate");
    machine->stream = stream;
    machine->start = start;
    machine->stop = stop;
    return made;
}
#else
static bool open_gpu(machine_t *machine) {
    fprintf(stderr, "%s: --device %d: this build has no GPU support\n",
            program_invocation_short_name, machine->device);
    return false;
}
#endif

int machine_default_device(void) {
#if BATCHLAS_HAVE_GPU
    return omp_get_num_devices() > 0 ? 0 : HOST_DEVICE;
#else
    return HOST_DEVICE;
#endif
}

bool machine_open(machine_t *machine, int device) {
    *machine = (machine_t){.device = device};
    if (device != HOST_DEVICE)
        return open_gpu(machine);
    machine->device = omp_get_initial_device();
    machine->sector = 64;
    strcpy(machine->name, "host");
    host_model(machine->model, sizeof machine->model);
    return true;
}

void machine_close(machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu) {
        cudaEventDestroy(machine->start);
        cudaEventDestroy(machine->stop);
        cudaStreamDestroy(machine->stream);
    }
#endif
    *machine = (machine_t){0};
}

bool machine_handle(const machine_t *machine, batchlas_handle_t *h) {
    if (batchlas_create_from_stream(h, machine->device, machine->stream) == BATCHLAS_SUCCESS &&
        batchlas_set_nowait(*h, 1) == BATCHLAS_SUCCESS)
        return true;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, batchlas_last_error(*h));
    return false;
}

/* ---- memory -------------------------------------------------------------------------------- */

double machine_free_bytes(const machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu) {
        size_t available = 0, total = 0;
        return cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo") ? (double)available : 0.0;
    }
#endif
    (void)machine;
    return host_free_bytes();
}

void *machine_alloc(const machine_t *machine, size_t bytes) {
    void *memory = NULL;
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaMalloc(&memory, bytes), "cudaMalloc") ? memory : NULL;
#endif
    (void)machine;
    memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!memory)
        fprintf(stderr, "%s: %zu bytes could not be allocated\n", program_invocation_short_name,
                bytes);
    return memory;
}

void machine_free(const machine_t *machine, void *memory) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu) {
        cudaFree(memory);
        return;
    }
#endif
    (void)machine;
    free(memory);
}

bool machine_copy(const machine_t *machine, void *to, const void *from, size_t bytes) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, machine->stream),
                    "cudaMemcpyAsync");
#endif
    (void)machine;
    host_copy(to, from, bytes);
    return true;
}

bool machine_fill(const machine_t *machine, void *to, int byte, size_t bytes) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaMemsetAsync(to, byte, bytes, machine->stream), "cudaMemsetAsync");
#endif
    (void)machine;
    memset(to, byte, bytes);
    return true;
}

bool machine_synchronise(const machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaStreamSynchronize(machine->stream), "cudaStreamSynchronize");
#endif
    (void)machine;
    return true;
}

bool machine_spin(const machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu) {
        cudaError_t error = cudaErrorNotReady;
        while (error == cudaErrorNotReady)
            error = cudaStreamQuery(machine->stream);
        return cuda(error, "cudaStreamQuery");
    }
#endif
    (void)machine;
    return true;
}

bool machine_launch_nothing(const machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda((cudaError_t)bench_launch_nothing(machine->stream), "a launch");
#endif
    (void)machine;
    return false;
}

bool machine_hold(const machine_t *machine, double seconds) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(
            (cudaError_t)bench_launch_hold(machine->stream, (unsigned long long)(1e9 * seconds)),
            "a launch");
#endif
    (void)machine;
    (void)seconds;
    return true;
}

bool machine_profile(const machine_t *machine, bool begin) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return begin ? cuda(cudaProfilerStart(), "cudaProfilerStart")
                     : cuda(cudaProfilerStop(), "cudaProfilerStop");
#endif
    (void)machine;
    (void)begin;
    return true;
}

/* ---- time ---------------------------------------------------------------------------------- */

bool span_begin(const machine_t *machine, span_t *span, bool idle) {
    if ((idle || !machine->is_gpu) && !machine_synchronise(machine))
        return false;
    span->wall_seconds = wall_clock();
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaEventRecord(machine->start, machine->stream), "cudaEventRecord");
#endif
    return true;
}

bool span_enqueued(const machine_t *machine) {
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu)
        return cuda(cudaEventRecord(machine->stop, machine->stream), "cudaEventRecord");
#endif
    (void)machine;
    return true;
}

bool span_end(const machine_t *machine, span_t *span) {
    span->wall_seconds = wall_clock() - span->wall_seconds;
    span->device_seconds = span->wall_seconds;
#if BATCHLAS_HAVE_GPU
    if (machine->is_gpu) {
        float milliseconds = 0.0f;
        if (!cuda(cudaEventSynchronize(machine->stop), "cudaEventSynchronize") ||
            !cuda(cudaEventElapsedTime(&milliseconds, machine->start, machine->stop),
                  "cudaEventElapsedTime"))
            return false;
        span->device_seconds = 1e-3 * (double)milliseconds;
    }
#endif
    (void)machine;
    return true;
}

/* ---- description --------------------------------------------------------------------------- */

static void *find_function(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

/* The version that a vendor library of the process states by a function of its own. */
static void describe_vendor_libraries(FILE *out, const char **separator) {
    int version = 0;
    int (*cusolver)(int *);
    *(void **)&cusolver = find_function("cusolverGetVersion");
    if (cusolver && cusolver(&version) == 0) {
        fprintf(out, "%s\"cusolver\": \"%d.%d.%d\"", *separator, version / 1000, version / 100 % 10,
                version % 100);
        *separator = ", ";
    }
    int (*cublas)(int, int *);
    *(void **)&cublas = find_function("cublasGetProperty");
    int part[3] = {0};
    if (cublas && cublas(0, &part[0]) == 0 && cublas(1, &part[1]) == 0 &&
        cublas(2, &part[2]) == 0) {
        fprintf(out, "%s\"cublas\": \"%d.%d.%d\"", *separator, part[0], part[1], part[2]);
        *separator = ", ";
    }
    char *(*openblas)(void);
    *(void **)&openblas = find_function("openblas_get_config");
    if (openblas) {
        fprintf(out, "%s\"openblas\": \"%s\"", *separator, openblas());
        *separator = ", ";
    }
}

void machine_describe(const machine_t *machine, FILE *out) {
    const char *separator = "";
    int major = 0, minor = 0, patch = 0;
    batchlas_version(&major, &minor, &patch);
    fprintf(out, "{\"device\": \"%s\", \"model\": \"%s\", \"batchlas\": \"%d.%d.%d\", ",
            machine->name, machine->model, major, minor, patch);
    if (machine->is_gpu) {
#if BATCHLAS_HAVE_GPU
        int driver = 0, runtime = 0;
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        fprintf(out, "\"cuda_driver\": \"%d.%d\", \"cuda_runtime\": \"%d.%d\", ", driver / 1000,
                driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
#endif
    } else {
        fprintf(out, "\"threads\": %d, ", omp_get_max_threads());
    }
    fputs("\"libraries\": {", out);
    describe_vendor_libraries(out, &separator);
    fputs("}}\n", out);
}
