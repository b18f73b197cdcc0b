/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that only a GPU has: memory that is really gone, errors of the caller's that are none of
 * the library's, and those that end a context, which end a process of their own here. */
#if !BATCHLAS_HAVE_GPU

int main(void) {
    return 77; /* skipped: this build of the library knows no GPU */
}

#else

#include "harness/arguments.h"
#include "harness/families.h"
#include "harness/grid.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const operations[] = {"potrf", "posv"};

static void cuda_expect(cudaError_t error, const char *doing) {
    if (error != cudaSuccess)
        suite_fail("%s: %s", doing, cudaGetErrorString(error));
}

static void expect_last_error(cudaError_t expected, const char *after) {
    const cudaError_t error = cudaPeekAtLastError();
    if (error != expected)
        suite_fail("CUDA's last error is %s after %s, expected %s", cudaGetErrorName(error), after,
                   cudaGetErrorName(expected));
}

/* ---- the last error -------------------------------------------------------------------------- */

/* An error of the caller's own, still to be asked for: calls succeed in spite of it, and it stays.
 */
static void an_earlier_error_of_the_caller_stays(void **state) {
    (void)state;
    void *nothing = NULL;
    cuda_expect(cudaSetDevice(suite_device()), "cudaSetDevice");
    for (int routine = 0; routine < ROUTINE_COUNT; ++routine) {
        attempt_t a = attempt_make((routine_t)routine, TYPE_D, false);
        (void)cudaGetLastError();
        assert_int_equal(cudaMalloc(&nothing, (size_t)1 << 60), cudaErrorMemoryAllocation);
        suite_case("%s behind an error of the caller's", call_name(&a.good));
        suite_expect_success(call(suite_handle(), &a.good), suite_handle());
        expect_last_error(cudaErrorMemoryAllocation, "a call that succeeded");
        (void)cudaGetLastError();
        attempt_free(&a);
    }
}

/* What the library asks CUDA in vain is nobody else's business. */
static void errors_of_the_library_are_not_left_behind(void **state) {
    (void)state;
    double on_the_host[4] = {4};
    cuda_expect(cudaSetDevice(suite_device()), "cudaSetDevice");
    (void)cudaGetLastError();
    suite_expect_status(
        BATCHLAS_INVALID_ARGUMENT,
        batchlas_dpotrf(suite_handle(), BATCHLAS_LOWER, 2, on_the_host, 2, 4, NULL, 1),
        suite_handle());
    expect_last_error(cudaSuccess, "a host pointer");
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_INVALID_ARGUMENT, batchlas_create(&h, 12345), NULL);
    expect_last_error(cudaSuccess, "a bad device number");
}

/* ---- memory that is gone --------------------------------------------------------------------- */

enum { MOST_BLOCKS = 4096 };

typedef struct {
    void *blocks[MOST_BLOCKS];
    int count;
} taken_t;

/* Takes what the device has, down to blocks of a megabyte. */
static taken_t *take_all_memory(void) {
    taken_t *taken = host_alloc(1, sizeof *taken);
    for (size_t bytes = (size_t)1 << 38; bytes >= 1 << 20 && taken->count < MOST_BLOCKS;)
        if (cudaMalloc(&taken->blocks[taken->count], bytes) == cudaSuccess)
            ++taken->count;
        else
            bytes /= 2;
    (void)cudaGetLastError();
    return taken;
}

static void give_back(taken_t *taken) {
    while (taken->count > 0)
        cuda_expect(cudaFree(taken->blocks[--taken->count]), "cudaFree");
    free(taken);
}

static void memory_that_is_gone_is_a_status(void **state) {
    (void)state;
    enum { ORDER = 8, ITEMS = 4 << 20 }; /* whose info alone is 16 MiB */
    const size_t elements = (size_t)ORDER * ORDER * ITEMS;
    cuda_expect(cudaSetDevice(suite_device()), "cudaSetDevice");
    float *A = device_alloc(elements * sizeof *A);
#pragma omp target teams distribute parallel for is_device_ptr(A) device(suite_device())
    for (size_t i = 0; i < elements; ++i)
        A[i] = i % (ORDER * ORDER) % (ORDER + 1) ? 1.0f : 16.0f;
    batchlas_handle_t h = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&h, suite_device()), NULL);
    suite_setenv("BATCHLAS_POTRF_ROUTE", "blocked");
    taken_t *taken = take_all_memory();
    const batchlas_status_t status =
        batchlas_spotrf(h, BATCHLAS_LOWER, ORDER, A, ORDER, (int64_t)ORDER * ORDER, NULL, ITEMS);
    expect_last_error(cudaSuccess, "a call without memory");
    give_back(taken);
    suite_expect_status(BATCHLAS_OUT_OF_MEMORY, status, h);
    int64_t touched = 0;
#pragma omp target teams distribute parallel for is_device_ptr(A) map(tofrom : touched)            \
    reduction(+ : touched) device(suite_device())
    for (size_t i = 0; i < elements; ++i)
        touched += A[i] != (i % (ORDER * ORDER) % (ORDER + 1) ? 1.0f : 16.0f);
    assert_int_equal(touched, 0);
    suite_expect_success(
        batchlas_spotrf(h, BATCHLAS_LOWER, ORDER, A, ORDER, (int64_t)ORDER * ORDER, NULL, ITEMS),
        h);
    assert_int_equal(batchlas_destroy(h), BATCHLAS_SUCCESS);
    device_free(A);
}

/* ---- errors that end a context --------------------------------------------------------------- */

/* Pointers inside an array are not checked: these let a kernel fail, whatever the family. From then
 * on CUDA answers every call with that error. Both handles hear of it, nothing hangs and nothing
 * ends the process, and the error is still CUDA's last one. */
static void a_process_of_its_own(void **state) {
    (void)state;
    const char *chosen = suite_child();
    enum { ORDER = 6, ITEMS = 3 };
    if (!chosen || !*chosen)
        skip();
    alarm(120);
    const family_line_t *line =
        family_line(operations[chosen[0] - '0'], (int)strtol(chosen + 1, NULL, 10));
    attempt_t a = attempt_make(POTRF, TYPE_D, false);
    batchlas_handle_t first = NULL, second = NULL;
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&first, suite_device()), NULL);
    suite_expect_status(BATCHLAS_SUCCESS, batchlas_create(&second, suite_device()), NULL);
    suite_expect_success(batchlas_set_nowait(first, 1), first);
    uintptr_t astray[ITEMS];
    for (int i = 0; i < ITEMS; ++i)
        astray[i] = 64; /* of the first page, which nobody has */
    void **items = device_alloc(sizeof astray);
    device_put(items, astray, sizeof astray);
    const call_t bad_call = {.routine = chosen[0] == '0' ? POTRF : POSV,
                             .array = true,
                             .p = {.type = TYPE_D,
                                   .uplo = BATCHLAS_LOWER,
                                   .n = ORDER,
                                   .nrhs = 1,
                                   .A = {.items = items, .ld = ORDER},
                                   .B = {.items = items, .ld = ORDER},
                                   .batch = ITEMS}};
    family_pin(line);
    suite_case("%s with pointers that lead astray", family_name(line, TYPE_D));
    const batchlas_status_t enqueued = call(first, &bad_call);
    const batchlas_status_t awaited = batchlas_wait(first);
    if (enqueued == BATCHLAS_ROUTE_UNAVAILABLE)
        _exit(EXIT_SKIPPED);
    suite_expect_status(BATCHLAS_DEVICE_ERROR, awaited, first);
    if (!*batchlas_last_error(first))
        suite_fail("no sentence");
    for (int again = 0; again < 2; ++again) {
        suite_expect_status(BATCHLAS_DEVICE_ERROR, call(second, &a.good), second);
        suite_expect_status(BATCHLAS_DEVICE_ERROR, batchlas_wait(second), second);
        suite_expect_status(BATCHLAS_DEVICE_ERROR, call(first, &bad_call), first);
    }
    assert_int_not_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(batchlas_destroy(first), BATCHLAS_DEVICE_ERROR);
    assert_int_equal(batchlas_destroy(second), BATCHLAS_DEVICE_ERROR);
    _exit(EXIT_SUCCESS); /* past the runtimes, which do not expect such a context */
}

static void an_error_that_ends_the_context_is_a_status(void **state) {
    (void)state;
    int ended = 0;
    EACH(operation, operations) {
        const family_line_t *line;
        for (int f = 0; (line = family_line(operations[operation_index], f)); ++f) {
            char role[16];
            if (line->children)
                continue; /* the same kernels fail */
            snprintf(role, sizeof role, "%d%d", operation_index, f);
            suite_case("%s with pointers that lead astray", family_name(line, TYPE_D));
            const int code = suite_run_again("a_process_of_its_own", role);
            if (code != EXIT_SUCCESS && code != EXIT_SKIPPED)
                suite_fail("the process ended with %d", code);
            ended += code == EXIT_SUCCESS;
        }
    }
    assert_true(ended > 0);
    print_message("%d contexts ended\n", ended);
}

static const struct CMUnitTest tests[] = {
    suite_test(an_earlier_error_of_the_caller_stays),
    suite_test(errors_of_the_library_are_not_left_behind),
    suite_test(memory_that_is_gone_is_a_status),
    suite_test(a_process_of_its_own),
    suite_test(an_error_that_ends_the_context_is_a_status),
};

SUITE_MAIN("device errors", tests, GPU_ONLY)

#endif
