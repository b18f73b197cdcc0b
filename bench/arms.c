/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "arms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void pin_variable(op_t op, char *name, size_t size) {
    snprintf(name, size, "BATCHLAS_%s_ROUTE", op_name(op));
    for (char *c = name; *c; ++c)
        *c = (char)toupper((unsigned char)*c);
}

/* ---- parsing ------------------------------------------------------------------------------- */

static bool set_pin(arm_t *arm, op_t op, const char *spelling, size_t length) {
    if (length == 0 || length >= SPELLING_LENGTH || arm->pins[op][0])
        return false;
    memcpy(arm->pins[op], spelling, length);
    arm->pins[op][length] = '\0';
    return true;
}

/* "op=spelling" after the first '+'. */
static bool set_part(arm_t *arm, const char *part, size_t length) {
    const char *equals = memchr(part, '=', length);
    char name[16];
    op_t op;
    if (!equals || (size_t)(equals - part) >= sizeof name)
        return false;
    memcpy(name, part, (size_t)(equals - part));
    name[equals - part] = '\0';
    return op_from_name(name, &op) &&
           set_pin(arm, op, equals + 1, length - (size_t)(equals + 1 - part));
}

static bool parse_arm(const char *text, size_t length, op_t op, arm_t *arm) {
    *arm = (arm_t){0};
    if (length == 0 || length >= ARM_LENGTH)
        return false;
    memcpy(arm->name, text, length);
    const char *cursor = arm->name;
    size_t part = strcspn(cursor, "+");
    if (!set_pin(arm, op, cursor, part))
        return false;
    while (cursor[part] == '+') {
        cursor += part + 1;
        part = strcspn(cursor, "+");
        if (!set_part(arm, cursor, part))
            return false;
    }
    return true;
}

bool arms_parse(const char *list, op_t op, arm_t arms[MAX_ARMS], int *count, char *why,
                size_t why_size) {
    *count = 0;
    for (const char *cursor = list;;) {
        const size_t length = strcspn(cursor, ",");
        if (*count == MAX_ARMS) {
            snprintf(why, why_size, "more than %d arms", MAX_ARMS);
            return false;
        }
        arm_t *arm = &arms[*count];
        if (!parse_arm(cursor, length, op, arm)) {
            snprintf(why, why_size,
                     "arm '%.*s' of '%s' is not a spelling, or a spelling followed by "
                     "+operation=spelling",
                     (int)length, cursor, list);
            return false;
        }
        for (int i = 0; i < *count; ++i) {
            if (!strcmp(arms[i].name, arm->name)) {
                snprintf(why, why_size, "arm '%s' is there twice", arm->name);
                return false;
            }
        }
        ++*count;
        if (cursor[length] == '\0')
            return true;
        cursor += length + 1;
    }
}

/* ---- pinning ------------------------------------------------------------------------------- */

void arm_pin(const arm_t *arm) {
    for (int op = 0; op < OP_COUNT; ++op) {
        char variable[64];
        pin_variable((op_t)op, variable, sizeof variable);
        if (arm->pins[op][0])
            setenv(variable, arm->pins[op], 1);
        else
            unsetenv(variable);
    }
}

void arms_warn_of_environment(void) {
    for (int op = 0; op < OP_COUNT; ++op) {
        char variable[64];
        pin_variable((op_t)op, variable, sizeof variable);
        const char *pin = getenv(variable);
        if (pin && *pin)
            fprintf(stderr, "%s: %s=%s is set aside: each arm brings its own pins\n",
                    program_invocation_short_name, variable, pin);
    }
}

/* "lpanel:8" is short for "lpanel:panel=8". */
static bool same_spelling(const char *pin, const char *chosen) {
    if (!strcmp(pin, chosen))
        return true;
    const char *colon = strchr(chosen, ':');
    const char *equals = strchr(chosen, '=');
    if (!colon || !equals)
        return false;
    const size_t stem = (size_t)(colon - chosen) + 1;
    return !strncmp(pin, chosen, stem) && !strcmp(pin + stem, equals + 1);
}

bool arm_accepts(const char *spelling, const char *chosen) {
    const bool is_vendor = !strcmp(chosen, "vendor") || !strncmp(chosen, "vendor:", 7);
    if (!strcmp(spelling, "auto"))
        return true;
    if (!strcmp(spelling, "native"))
        return !is_vendor;
    if (!strcmp(spelling, "vendor"))
        return is_vendor;
    return same_spelling(spelling, chosen);
}

bool arm_is_class(const char *spelling) {
    return !strcmp(spelling, "native") || !strcmp(spelling, "vendor");
}

/* ---- what ran, read back ------------------------------------------------------------------- */

static const char coverage_variable[] = "BATCHLAS_COVERAGE_OUT";
static char coverage_path[4096];

bool coverage_begin(void) {
    const char *folder = getenv("TMPDIR");
    snprintf(coverage_path, sizeof coverage_path, "%s/factor_bench.XXXXXX",
             folder && *folder ? folder : "/tmp");
    const int descriptor = mkstemp(coverage_path);
    if (descriptor < 0)
        return false;
    close(descriptor);
    return setenv(coverage_variable, coverage_path, 1) == 0;
}

void coverage_end(void) {
    unsetenv(coverage_variable);
}

typedef struct {
    char op[16], type, uplo[16], spelling[SPELLING_LENGTH];
    long long n, nrhs, batch;
} record_t;

static bool parse_record(const char *line, record_t *record) {
    return sscanf(line, "%15[^,],%c,%15[^,],%lld,%lld,%lld,%47s", record->op, &record->type,
                  record->uplo, &record->n, &record->nrhs, &record->batch, record->spelling) == 7;
}

int coverage_read(const cell_t *cell, char chosen[SPELLING_LENGTH], bool *differs) {
    int count = 0;
    char line[512];
    FILE *file = fopen(coverage_path, "r");
    *differs = false;
    chosen[0] = '\0';
    while (file && count >= 0 && fgets(line, sizeof line, file)) {
        record_t record;
        if (!strncmp(line, "op,", 3))
            continue;
        if (!parse_record(line, &record)) {
            count = -1;
        } else if (!strcmp(record.op, op_name(cell->op)) && record.type == cell->type &&
                   record.n == cell->n && record.batch == cell->batch) {
            if (count++ == 0)
                strcpy(chosen, record.spelling);
            *differs = *differs || strcmp(chosen, record.spelling);
        }
    }
    if (file)
        fclose(file);
    unlink(coverage_path);
    return file ? count : -1;
}
