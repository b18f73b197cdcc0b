/* SPDX-License-Identifier: BSD-3-Clause */
#include "select.h"

#include <stdio.h>
#include <string.h>

bool batchlas_not_in_this_build(const problem_t *problem, const device_facts_t *facts,
                                const char **reason) {
    (void)problem;
    (void)facts;
    *reason = "this build of the library leaves it out";
    return false;
}

bool batchlas_always_runs(const problem_t *problem, const device_facts_t *facts,
                          const char **reason) {
    (void)problem;
    (void)facts;
    (void)reason;
    return true;
}

/* Whether a word names this spelling: the same, or with the parameter's name left out. */
static bool names(const char *word, const char *spelling) {
    if (!strcmp(word, spelling))
        return true;
    const char *colon = strchr(spelling, ':');
    const char *equals = strchr(spelling, '=');
    if (!colon || !equals)
        return false;
    const size_t stem = (size_t)(colon - spelling) + 1;
    return !strncmp(word, spelling, stem) && !strcmp(word + stem, equals + 1);
}

const family_t *batchlas_find_family(const operation_t *operation, const char *spelling,
                                     const device_facts_t *facts) {
    const int place = facts->is_gpu ? ON_GPU : ON_HOST;
    for (int i = 0; i < operation->family_count; ++i) {
        const family_t *family = &operation->families[i];
        if ((family->place & place) && names(spelling, family->spelling))
            return family;
    }
    return NULL;
}

static bool runs(const route_request_t *request, const family_t *family, const char **reason) {
    if (request->leaf && !family->leaf) {
        *reason = "it cannot serve as a leaf";
        return false;
    }
    return family->can_run(request->problem, request->facts, reason);
}

typedef enum { ANY_ORIGIN, ONLY_NATIVE, ONLY_VENDOR } filter_t;

static bool passes(const route_request_t *request, const family_t *family, filter_t filter) {
    const char *reason = "";
    if ((filter == ONLY_NATIVE && family->origin != NATIVE) ||
        (filter == ONLY_VENDOR && family->origin != VENDOR))
        return false;
    return runs(request, family, &reason);
}

/* The first runnable family of the nearest row; else blocked, then vendor, then any. */
static const family_t *first_runnable(const route_request_t *request, filter_t filter,
                                      const table_row_t **row) {
    const operation_t *operation = request->operation;
    const route_key_t key = operation->key(request->problem);
    *row = request->table ? batchlas_table_nearest(request->table, &key) : NULL;
    for (int i = 0; *row && i < (*row)->ranked_count; ++i) {
        const family_t *family = batchlas_find_family(operation, (*row)->ranked[i], request->facts);
        if (family && passes(request, family, filter))
            return family;
    }
    *row = NULL;
    const char *last_resorts[] = {"blocked", "vendor"};
    for (int i = 0; i < 2; ++i) {
        const family_t *family = batchlas_find_family(operation, last_resorts[i], request->facts);
        if (family && passes(request, family, filter))
            return family;
    }
    const int place = request->facts->is_gpu ? ON_GPU : ON_HOST;
    for (int i = 0; i < operation->family_count; ++i)
        if ((operation->families[i].place & place) &&
            passes(request, &operation->families[i], filter))
            return &operation->families[i];
    return NULL;
}

static batchlas_status_t choose_auto(const route_request_t *request, route_t *route) {
    route->family = first_runnable(request, ANY_ORIGIN, &route->row);
    if (route->family)
        return BATCHLAS_SUCCESS;
    snprintf(route->why, sizeof route->why, "no family of %s can run this problem here",
             request->operation->name);
    return BATCHLAS_ROUTE_UNAVAILABLE;
}

batchlas_status_t batchlas_choose(const route_request_t *request, route_t *route) {
    *route = (route_t){0};
    const char *pin = request->pin ? request->pin : "";
    const char *variable = request->operation->pin_variable;
    if (request->leaf || !*pin || !strcmp(pin, "auto"))
        return choose_auto(request, route);

    if (!strcmp(pin, "native") || !strcmp(pin, "vendor")) {
        const filter_t filter = *pin == 'n' ? ONLY_NATIVE : ONLY_VENDOR;
        /* `vendor` is a family's own name too, and means that one first. */
        const family_t *named = batchlas_find_family(request->operation, pin, request->facts);
        route->family = named && passes(request, named, filter)
                            ? named
                            : first_runnable(request, filter, &route->row);
        if (route->family)
            return BATCHLAS_SUCCESS;
        const batchlas_status_t status = choose_auto(request, route);
        if (status == BATCHLAS_SUCCESS)
            snprintf(route->why, sizeof route->why,
                     "%s=%s: no such family of %s can run this problem here; going on as auto",
                     variable, pin, request->operation->name);
        return status;
    }

    const family_t *family = batchlas_find_family(request->operation, pin, request->facts);
    const char *reason = "";
    if (!family) {
        snprintf(route->why, sizeof route->why, "%s=%.64s names no family of %s on this device",
                 variable, pin, request->operation->name);
        return BATCHLAS_ROUTE_UNAVAILABLE;
    }
    if (!runs(request, family, &reason)) {
        snprintf(route->why, sizeof route->why, "%s=%.64s cannot run this problem: %s", variable,
                 pin, reason);
        return BATCHLAS_ROUTE_UNAVAILABLE;
    }
    route->family = family;
    return BATCHLAS_SUCCESS;
}
