/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says: the last error's sentence, statuses by name, warnings. */
#include "handle.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char create_error[sizeof((batchlas_handle_t)0)->error];

/* Formats one line, whatever pins and paths of the environment bring into it. */
static void format_line(char text[sizeof create_error], const char *format, va_list arguments) {
    vsnprintf(text, sizeof create_error, format, arguments);
    for (char *c = text; *c; ++c)
        if (iscntrl((unsigned char)*c))
            *c = '?';
}

/* Without a handle: the thread's, of making one. */
static char *error_of(batchlas_handle_t h) {
    return h ? h->error : create_error;
}

void batchlas_clear_error(batchlas_handle_t h) {
    error_of(h)[0] = '\0';
}

batchlas_status_t batchlas_fail(batchlas_handle_t h, batchlas_status_t status, const char *format,
                                ...) {
    va_list arguments;
    va_start(arguments, format);
    format_line(error_of(h), format, arguments);
    va_end(arguments);
    return status;
}

const char *batchlas_last_error(batchlas_handle_t h) {
    if (h && !batchlas_is_alive(h))
        return "the handle is no handle, or was destroyed";
    return error_of(h);
}

const char *batchlas_status_string(batchlas_status_t status) {
    switch (status) {
    case BATCHLAS_SUCCESS:
        return "BATCHLAS_SUCCESS: done";
    case BATCHLAS_INVALID_ARGUMENT:
        return "BATCHLAS_INVALID_ARGUMENT: an argument is out of its range; nothing was touched";
    case BATCHLAS_ROUTE_UNAVAILABLE:
        return "BATCHLAS_ROUTE_UNAVAILABLE: a pin or a tuned table cannot be followed";
    case BATCHLAS_OUT_OF_MEMORY:
        return "BATCHLAS_OUT_OF_MEMORY: workspace could not be allocated";
    case BATCHLAS_DEVICE_ERROR:
        return "BATCHLAS_DEVICE_ERROR: the CUDA runtime or a vendor library reported a failure";
    case BATCHLAS_NOT_SUPPORTED:
        return "BATCHLAS_NOT_SUPPORTED: valid, but not in this build or on this device";
    }
    return "not a batchlas status";
}

/* The warnings of the process. */
enum { REMEMBERED = 64 };
static struct {
    pthread_mutex_t lock;
    char *said[REMEMBERED];
    int count;
} warnings = {.lock = PTHREAD_MUTEX_INITIALIZER};

void batchlas_warn_once(const char *format, ...) {
    char text[sizeof create_error];
    va_list arguments;
    va_start(arguments, format);
    format_line(text, format, arguments);
    va_end(arguments);

    pthread_mutex_lock(&warnings.lock);
    bool known = warnings.count == REMEMBERED;
    for (int i = 0; i < warnings.count && !known; ++i)
        known = !strcmp(warnings.said[i], text);
    if (!known && (warnings.said[warnings.count] = strdup(text)))
        ++warnings.count;
    pthread_mutex_unlock(&warnings.lock);
    if (!known)
        fprintf(stderr, "batchlas: warning: %s\n", text);
}
