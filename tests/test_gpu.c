/* SPDX-License-Identifier: BSD-3-Clause */
/* What only a GPU has: streams, OpenMP's task graph, other devices' and the host's memory, CUDA
 * graphs, and the caller's current device. */
#if !BATCHLAS_HAVE_GPU

int main(void) {
    return 77; /* skipped: this build of the library knows no GPU */
}

#else

#include "harness/calls.h"
#include "harness/families.h"
#include "harness/grid.h"
#include "harness/reference.h"
#include "harness/solves.h"

#include <cuda_runtime_api.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void cuda_expect(cudaError_t error, const char *doing) {
    if (error != cudaSuccess)
        suite_fail("%s: %s", doing, cudaGetErrorString(error));
}

static cudaStream_t stream_make(void) {
    cudaStream_t stream;
    cuda_expect(cudaSetDevice(suite_device()), "cudaSetDevice");
    cuda_expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    return stream;
}

/* ---- a problem to try a handle with ---------------------------------------------------------- */

typedef struct {
    spd_t s;
    systems_t systems;
    solve_t solve;
    matrices_t A, B;
    ints_t info;
} trial_t;

static trial_t *trial_make(scalar_type_t type, int n, int nrhs, int64_t batch) {
    const kind_t kinds[] = {GRAM};
    trial_t *t = host_alloc(1, sizeof *t);
    t->s = spd_make(type, n, 5, kinds, 1, 95);
    t->systems = systems_make(&t->s, nrhs, 96);
    t->solve = (solve_t){.routine = POSV,
                         .systems = &t->systems,
                         .uplo = BATCHLAS_UPPER,
                         .batch = batch,
                         .layout_a = PADDED,
                         .layout_b = PADDED};
    t->A = solve_matrices(&t->solve, PADDED, SENTINEL);
    t->B = solve_right_hand_sides(&t->solve, PADDED, SENTINEL);
    t->info = ints_make(batch);
    return t;
}

static void trial_free(trial_t *t) {
    matrices_free(&t->A);
    matrices_free(&t->B);
    ints_free(&t->info);
    systems_free(&t->systems);
    spd_free(&t->s);
    free(t);
}

static void trial_reset(trial_t *t) {
    matrices_put(&t->A);
    matrices_put(&t->B);
    ints_put(&t->info);
}

static batchlas_status_t trial_call(batchlas_handle_t h, trial_t *t) {
    return solve_call(h, &t->solve, &t->A, &t->B, t->solve.no_info ? NULL : t->info.device, false);
}

static void expect_solved(trial_t *t) {
    int *expected = spd_infos(&t->s, t->solve.batch);
    matrices_get(&t->A);
    matrices_get(&t->B);
    ints_get(&t->info);
    suite_expect(t->solve.no_info ? ints_are_untouched(&t->info) : ints_are(&t->info, expected));
    suite_expect(padding_is_untouched(&t->A));
    suite_expect(factors_are_right(&t->A, t->solve.uplo, &t->s));
    if (t->solve.routine == POTRF) {
        suite_expect(matrices_are_untouched(&t->B));
    } else {
        suite_expect(padding_is_untouched(&t->B));
        suite_expect(solutions_are_right(&t->B, &t->systems));
    }
    free(expected);
}

static void expect_error_says(batchlas_handle_t h, const char *word) {
    if (!strstr(batchlas_last_error(h), word))
        suite_fail("expected a sentence with \"%s\", got: %s", word, batchlas_last_error(h));
}

/* ---- streams --------------------------------------------------------------------------------- */

static void any_stream_of_the_device_serves(void **state) {
    (void)state;
    cudaStream_t streams[] = {NULL, stream_make()};
    EACH(stream, streams) {
        batchlas_handle_t h = NULL;
        trial_t *t = trial_make(TYPE_D, 37, 3, 200);
        suite_case("%s stream", streams[stream_index] ? "a" : "the legacy");
        suite_expect_status(BATCHLAS_SUCCESS,
                            batchlas_create_from_stream(&h, suite_device(), streams[stream_index]),
                            NULL);
        suite_expect_success(trial_call(h, t), h);
        expect_solved(t);
        assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
        trial_free(t);
    }
    /* The stream stays the caller's. */
    cuda_expect(cudaStreamSynchronize(streams[1]), "the stream after destroy");
    cuda_expect(cudaStreamDestroy(streams[1]), "cudaStreamDestroy");
}

static void CUDART_CB linger(void *nothing) {
    (void)nothing;
    const struct timespec two_milliseconds = {.tv_nsec = 2000000};
    nanosleep(&two_milliseconds, NULL);
}

static void copy_on_stream(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    cuda_expect(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
}

/* Where a trial's operands wait until the stream brings them, and where it leaves the results. */
typedef struct {
    void *A, *B;
    size_t bytes_a, bytes_b;
} elsewhere_t;

static elsewhere_t elsewhere_make(const trial_t *t) {
    elsewhere_t e = {.bytes_a = t->A.elements * scalar_size(t->s.type),
                     .bytes_b = t->B.elements * scalar_size(t->s.type)};
    e.A = device_alloc(e.bytes_a);
    e.B = device_alloc(e.bytes_b);
    device_put(e.A, t->A.input, e.bytes_a);
    device_put(e.B, t->B.input, e.bytes_b);
    return e;
}

static void elsewhere_free(elsewhere_t *e) {
    device_free(e->A);
    device_free(e->B);
}

static void expect_bytes(const void *device, const unsigned char *expected, size_t bytes,
                         const char *wrong) {
    unsigned char *copy = host_alloc(bytes, 1);
    device_get(copy, device, bytes);
    if (memcmp(copy, expected, bytes))
        suite_fail("%s", wrong);
    free(copy);
}

/* In nowait mode everything is ordered on the caller's stream, which is late here: what was copied
 * there before is solved, and what is copied after is the result. */
static void nowait_calls_are_ordered_on_the_stream(void **state) {
    (void)state;
    cudaStream_t stream = stream_make();
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create_from_stream(&h, suite_device(), stream),
                        NULL);
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    const int orders[] = {8, 30, 70};
    const routine_t routines[] = {POTRF, POSV};
    EACH(routine, routines)
    EACH(type, types)
    EACH(order, orders) {
        trial_t *t = trial_make(types[type_index], orders[order_index], 2, 2000);
        t->solve.routine = routines[routine_index];
        suite_case("%c%s, n %d", scalar_letter(types[type_index]),
                   t->solve.routine == POTRF ? "potrf" : "posv", orders[order_index]);
        elsewhere_t elsewhere = elsewhere_make(t);
        /* Not before the memory is zero: OpenMP's copies are on streams of their own. */
        cuda_expect(cudaMemset(t->A.device, 0, elsewhere.bytes_a), "cudaMemset");
        cuda_expect(cudaMemset(t->B.device, 0, elsewhere.bytes_b), "cudaMemset");
        cuda_expect(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        cuda_expect(cudaLaunchHostFunc(stream, linger, NULL), "cudaLaunchHostFunc");
        copy_on_stream(t->A.device, elsewhere.A, elsewhere.bytes_a, stream);
        copy_on_stream(t->B.device, elsewhere.B, elsewhere.bytes_b, stream);
        suite_expect_success(trial_call(h, t), h);
        copy_on_stream(elsewhere.A, t->A.device, elsewhere.bytes_a, stream);
        copy_on_stream(elsewhere.B, t->B.device, elsewhere.bytes_b, stream);
        cuda_expect(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        expect_solved(t);
        const char *wrong = "what was copied behind the call is not its result";
        expect_bytes(elsewhere.A, t->A.image, elsewhere.bytes_a, wrong);
        expect_bytes(elsewhere.B, t->B.image, elsewhere.bytes_b, wrong);
        elsewhere_free(&elsewhere);
        trial_free(t);
    }
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    cuda_expect(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

/* ---- OpenMP ---------------------------------------------------------------------------------- */

static void an_interop_object_serves(void **state) {
    (void)state;
    omp_interop_t object = omp_interop_none;
    const int device = suite_device();
#pragma omp interop init(targetsync : object) device(device)
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create_from_interop(&h, object), NULL);
    for (int round = 0; round < 2; ++round) {
        trial_t *t = trial_make(TYPE_Z, 20, 2, 500);
        suite_expect_success(trial_call(h, t), h);
        expect_solved(t);
        assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
        trial_free(t);
        /* The object stays the caller's. */
        suite_expect_status(BATCHLAS_SUCCESS, batchlas_create_from_interop(&h, object), NULL);
    }
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
#pragma omp interop destroy(object)
    (void)object;
}

static void no_interop_object_is_an_error(void **state) {
    (void)state;
    batchlas_handle_t h = (batchlas_handle_t)(uintptr_t)64;
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_create_from_interop(&h, omp_interop_none), NULL);
    assert_null(h);
    expect_error_says(NULL, "interop");
    omp_interop_t object = omp_interop_none;
    const int device = suite_device();
#pragma omp interop init(targetsync : object) device(device)
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, batchlas_create_from_interop(NULL, object),
                        NULL);
#pragma omp interop destroy(object)
    (void)object;
}

/* A detached task that ends when the GPU has: what depends on it, on the device, sees the solution.
 * A few times with many items, or 10,000 times with some. */
static void a_detached_task_joins_the_dependency_graph(void **state) {
    (void)state;
    const int rounds = suite_extended() ? 10000 : 8;
    const int batch = suite_extended() ? 100 : 3000;
    batchlas_handle_t h = suite_handle();
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    for (int round = 0; round < rounds; ++round) {
        trial_t *t = trial_make(TYPE_D, 33 + round % 8, 2, batch);
        const size_t elements = t->B.elements;
        const int device = suite_device();
        const double *solution = (const double *)(const void *)t->B.device;
        double *seen = device_alloc(elements * sizeof(double));
        batchlas_status_t called = BATCHLAS_DEVICE_ERROR, fulfilled = BATCHLAS_DEVICE_ERROR;
        int order = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order) shared(called, fulfilled)
            {
                called = trial_call(h, t);
                fulfilled = batchlas_fulfill_event(h, event);
            }
#pragma omp target teams distribute parallel for nowait depend(in : order) device(device)          \
    is_device_ptr(solution, seen)
            for (size_t i = 0; i < elements; ++i)
                seen[i] = solution[i];
#pragma omp taskwait
        }
        (void)order;
        suite_case("round %d", round);
        suite_expect_status(BATCHLAS_SUCCESS, called, h);
        suite_expect_status(BATCHLAS_SUCCESS, fulfilled, h);
        expect_solved(t);
        expect_bytes(seen, t->B.image, elements * sizeof(double),
                     "the dependent region did not see the solution");
        device_free(seen);
        trial_free(t);
    }
    suite_expect_success(batchlas_wait(h), h);
    suite_expect_success(batchlas_set_nowait(h, 0), h);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void managed_and_registered_memory_are_taken(void **state) {
    (void)state;
    enum { ITEMS = 40, ORDER = 2 };
    batchlas_handle_t h = suite_handle();
    double *pinned = NULL, *managed = NULL;
    cuda_expect(cudaSetDevice(suite_device()), "cudaSetDevice");
    cuda_expect(
        cudaMallocManaged((void **)&managed, ITEMS * 4 * sizeof(double), cudaMemAttachGlobal),
        "cudaMallocManaged");
    cuda_expect(cudaHostAlloc((void **)&pinned, ITEMS * 4 * sizeof(double), cudaHostAllocMapped),
                "cudaHostAlloc");
    double *const memories[] = {managed, pinned};
    EACH(memory, memories) {
        double *A = memories[memory_index];
        for (int i = 0; i < ITEMS; ++i) {
            const double item[4] = {4, 2, -9, 5};
            memcpy(A + 4 * i, item, sizeof item);
        }
        suite_case("%s memory", memory_index ? "registered" : "managed");
        suite_expect_success(batchlas_dpotrf(h, BATCHLAS_LOWER, ORDER, A, ORDER, 4, NULL, ITEMS),
                             h);
        for (int i = 0; i < ITEMS; ++i)
            assert_true(A[4 * i] == 2 && A[4 * i + 1] == 1 && A[4 * i + 2] == -9 &&
                        A[4 * i + 3] == 2);
    }
    cuda_expect(cudaFree(managed), "cudaFree");
    cuda_expect(cudaFreeHost(pinned), "cudaFreeHost");
}

/* Where the device reads pageable memory, the caller may say that host pointers are meant. */
static void unified_memory_is_taken_where_the_device_can(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    int reads_pageable = 0;
    cuda_expect(
        cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, suite_device()),
        "cudaDeviceGetAttribute");
    double *A = host_alloc(4, sizeof *A);
    A[0] = 4;
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
    expect_error_says(h, "host");
    assert_true(A[0] == 4);
    suite_expect_status(reads_pageable ? BATCHLAS_SUCCESS : BATCHLAS_NOT_SUPPORTED,
                        batchlas_set_unified_memory(h, 1), h);
    if (reads_pageable) {
        suite_expect_success(batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
        assert_true(A[0] == 2);
    }
    suite_expect_success(batchlas_set_unified_memory(h, 0), h);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
    free(A);
}

/* In a target data region a name is its host address until use_device_ptr says otherwise. */
static void mapped_memory_is_taken_by_its_device_address_alone(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    const int device = suite_device();
    double *A = host_alloc(1, sizeof *A);
    batchlas_status_t status = BATCHLAS_DEVICE_ERROR;
    A[0] = 4;
#pragma omp target data map(tofrom : A[ : 1]) device(device)
    {
        suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                            batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
        expect_error_says(h, "argument A");
        expect_error_says(h, "use_device_ptr");
#pragma omp target data use_device_ptr(A) device(device)
        status = batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1);
    }
    suite_expect_success(status, h);
    assert_true(A[0] == 2);
    free(A);
}

static void a_workspace_on_the_host_is_refused(void **state) {
    (void)state;
    batchlas_handle_t h = suite_handle();
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, 256, 4096), 0);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, batchlas_set_workspace(h, memory, 4096), h);
    expect_error_says(h, "workspace");
    free(memory);
}

static void a_host_handle_refuses_device_memory(void **state) {
    (void)state;
    batchlas_handle_t host = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&host, omp_get_initial_device()), NULL);
    double *A = device_alloc(4 * sizeof *A);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_dpotrf(host, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), host);
    expect_error_says(host, "argument A");
    device_free(A);
    assert_int_equal(batchlas_destroy(host), BATCHLAS_SUCCESS);
}

static int another_device(void) {
    return omp_get_num_devices() > 1 ? (suite_device() + 1) % omp_get_num_devices() : -1;
}

static void memory_of_another_device_is_refused(void **state) {
    (void)state;
    if (another_device() < 0)
        skip();
    batchlas_handle_t h = suite_handle();
    double *A = omp_target_alloc(4 * sizeof *A, another_device());
    assert_non_null(A);
    /* Even after the runtime has made it accessible. */
    double *mine = device_alloc(4 * sizeof *mine);
    assert_int_equal(
        omp_target_memcpy(mine, A, 4 * sizeof *A, 0, 0, suite_device(), another_device()), 0);
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT,
                        batchlas_dpotrf(h, BATCHLAS_LOWER, 1, A, 1, 1, NULL, 1), h);
    expect_error_says(h, "argument A");
    expect_error_says(h, "device");
    omp_target_free(A, another_device());
    device_free(mine);
}

/* ---- the caller's device --------------------------------------------------------------------- */

static void expect_current(int device, const char *after) {
    int current = -1;
    cuda_expect(cudaGetDevice(&current), "cudaGetDevice");
    if (current != device)
        suite_fail("the current device is %d after %s, and was %d", current, after, device);
}

static void the_current_device_is_the_callers(void **state) {
    (void)state;
    const int theirs = another_device() < 0 ? suite_device() : another_device();
    trial_t *t = trial_make(TYPE_S, 50, 2, 100);
    batchlas_handle_t h = NULL, failed = NULL;
    size_t bytes = 0;
    cuda_expect(cudaSetDevice(theirs), "cudaSetDevice");
    batchlas_create(&h, suite_device());
    expect_current(theirs, "create");
    assert_non_null(h);
    const family_line_t *line;
    for (int f = 0; (line = family_line("posv", f)); ++f) {
        trial_reset(t);
        family_pin(line);
        suite_case("%s", family_name(line, TYPE_S));
        cuda_expect(cudaSetDevice(theirs), "cudaSetDevice");
        const batchlas_status_t status = trial_call(h, t);
        expect_current(theirs, "posv");
        family_unpin(line);
        if (family_ran(line, TYPE_S, 50, status, h))
            expect_solved(t);
    }
    cuda_expect(cudaSetDevice(theirs), "cudaSetDevice");
    batchlas_sposv_buffer_size(h, BATCHLAS_LOWER, 50, 2, 100, &bytes);
    expect_current(theirs, "buffer_size");
    batchlas_sposv(h, BATCHLAS_LOWER, -1, 2, NULL, 1, 1, NULL, 1, 1, NULL, 1);
    expect_current(theirs, "a bad argument");
    batchlas_create(&failed, 12345);
    expect_current(theirs, "a failed create");
    batchlas_wait(h);
    expect_current(theirs, "wait");
    batchlas_destroy(h);
    expect_current(theirs, "destroy");
    trial_free(t);
}

/* ---- CUDA graphs ----------------------------------------------------------------------------- */

/* Captures one call; true if the route could be, which the graph then proves on fresh data. A route
 * that could not leaves the capture valid. */
static bool captured(batchlas_handle_t h, cudaStream_t stream, trial_t *t) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    trial_reset(t);
    cuda_expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
    const batchlas_status_t status = trial_call(h, t);
    enum cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    cuda_expect(cudaStreamIsCapturing(stream, &capturing), "cudaStreamIsCapturing");
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (capturing != cudaStreamCaptureStatusActive)
        suite_fail("the call ended the capture (%s)", batchlas_status_string(status));
    cuda_expect(ended, "end capture");
    if (status != BATCHLAS_SUCCESS)
        suite_expect_status(BATCHLAS_NOT_SUPPORTED, status, h);
    matrices_get(&t->A);
    suite_expect(matrices_are_untouched(&t->A)); /* nothing ran yet */
    if (status == BATCHLAS_SUCCESS) {
        cuda_expect(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
        for (int round = 0; round < 2; ++round) {
            trial_reset(t);
            cuda_expect(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
            cuda_expect(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            expect_solved(t);
        }
        cuda_expect(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    }
    cuda_expect(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return status == BATCHLAS_SUCCESS;
}

static void native_families_can_be_captured_in_a_graph(void **state) {
    (void)state;
    cudaStream_t stream = stream_make();
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create_from_stream(&h, suite_device(), stream),
                        NULL);
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    const struct {
        const char *operation;
        routine_t routine;
    } captures[] = {{"potrf", POTRF}, {"posv", POSV}};
    int count = 0;
    EACH(capture, captures)
    EACH(type, types) {
        trial_t *t = trial_make(types[type_index], 16, 1, 300);
        const family_line_t *line;
        t->solve.routine = captures[capture_index].routine;
        for (int f = 0; (line = family_line(captures[capture_index].operation, f)); ++f) {
            const char *name = line->spelling ? line->spelling : "auto";
            const bool is_one_kernel =
                !strcmp(name, "tiny") || !strcmp(name, "cta") || !strcmp(name, "lpanel:panel=8");
            t->solve.line = line;
            solve_name(&t->solve, "captured");
            family_pin(line);
            /* Once before: workspace is not to be had during a capture. */
            const batchlas_status_t status = trial_call(h, t);
            const bool runs = family_ran(line, types[type_index], 16, status, h);
            suite_expect_success(batchlas_wait(h), h);
            const bool could = runs && captured(h, stream, t);
            if (runs && is_one_kernel && !could)
                suite_fail("a single kernel was not captured: %s", batchlas_last_error(h));
            count += could;
            family_unpin(line);
        }
        trial_free(t);
    }
    assert_true(count > 0);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    cuda_expect(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

/* Workspace cannot be had while a stream is captured, so the first call that needs it is refused;
 * given by the caller, it makes the first call capturable too. Without info `blocked` needs it. */
static void a_given_workspace_needs_no_call_before(void **state) {
    (void)state;
    cudaStream_t stream = stream_make();
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create_from_stream(&h, suite_device(), stream),
                        NULL);
    suite_expect_success(batchlas_set_nowait(h, 1), h);
    trial_t *t = trial_make(TYPE_D, 12, 1, 100);
    size_t bytes = 0;
    suite_setenv("BATCHLAS_POTRF_ROUTE", "blocked");
    t->solve.routine = POTRF;
    t->solve.no_info = true;
    assert_false(captured(h, stream, t));
    suite_expect_success(batchlas_dpotrf_buffer_size(h, t->solve.uplo, 12, 100, &bytes), h);
    assert_true(bytes > 0);
    void *workspace = device_alloc(bytes);
    suite_expect_success(batchlas_set_workspace(h, workspace, bytes), h);
    assert_true(captured(h, stream, t));
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    device_free(workspace);
    trial_free(t);
    cuda_expect(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

static const struct CMUnitTest tests[] = {
    suite_test(any_stream_of_the_device_serves),
    suite_test(nowait_calls_are_ordered_on_the_stream),
    suite_test(an_interop_object_serves),
    suite_test(no_interop_object_is_an_error),
    suite_test(a_detached_task_joins_the_dependency_graph),
    suite_test(managed_and_registered_memory_are_taken),
    suite_test(unified_memory_is_taken_where_the_device_can),
    suite_test(mapped_memory_is_taken_by_its_device_address_alone),
    suite_test(a_workspace_on_the_host_is_refused),
    suite_test(a_host_handle_refuses_device_memory),
    suite_test(memory_of_another_device_is_refused),
    suite_test(the_current_device_is_the_callers),
    suite_test(native_families_can_be_captured_in_a_graph),
    suite_test(a_given_workspace_needs_no_call_before),
};

SUITE_MAIN("gpu", tests, GPU_ONLY)

#endif
