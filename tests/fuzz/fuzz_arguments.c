/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with any arguments: a boundary value of each, or any number. Input: the routine, its type
 * and form, a pin, then for every argument a byte that says which of its values it takes. */
#include "fuzz/fuzz.h"

#include "harness/arguments.h"

#include <string.h>

/* Beyond the boundary values: a number from the input, of so many bytes. */
enum { ONE_BYTE = 0xf0, FOUR_BYTES, EIGHT_BYTES };

static value_t take_value(input_t *input, const attempt_t *a, const argument_t *argument,
                          value_t unspoilt) {
    value_t values[MAX_VALUES];
    const int count = attempt_values(a, argument, values);
    const bool is_number = argument->kind != OPERAND && argument->kind != INFO &&
                           argument->kind != LOGDET && argument->kind != SCALAR_ADDRESS;
    const uint8_t which = take_byte(input);
    if (is_number && which == ONE_BYTE)
        return (value_t){.number = (int8_t)take_byte(input)};
    if (is_number && which == FOUR_BYTES)
        return (value_t){.number = (int32_t)take_number(input, 4)};
    if (is_number && which == EIGHT_BYTES)
        return (value_t){.number = take_number(input, 8)};
    return which > 0 && count > 0 ? values[which % count] : unspoilt;
}

static void pin(const char *route) {
    static const char *const variables[] = {"BATCHLAS_POTRF_ROUTE", "BATCHLAS_POTRS_ROUTE",
                                            "BATCHLAS_POSV_ROUTE",  "BATCHLAS_TRSM_ROUTE",
                                            "BATCHLAS_GEMM_ROUTE",  "BATCHLAS_SYRK_ROUTE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        suite_setenv(variables[i], route);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const routes[] = {NULL,    "native",  "vendor", "tiny",
                                         "tiled", "blocked", "no such"};
    static attempt_t attempts[ROUTINE_COUNT][4][2];
    input_t input = {data, size};
    const routine_t routine = (routine_t)(take_byte(&input) % ROUTINE_COUNT);
    const uint8_t kind = take_byte(&input);
    const scalar_type_t type = (scalar_type_t)(kind % 4);
    const bool array = kind & 4 && has_array_form(routine);
    attempt_t *a = &attempts[routine][type][array];
    if (!a->A.device)
        *a = attempt_make(routine, type, array);

    const char *route = routes[take_byte(&input) % (sizeof routes / sizeof *routes)];
    call_t c = a->good;
    for (const argument_t *one = arguments_of(routine); one->name; ++one)
        argument_set(&c, one, take_value(&input, a, one, argument_get(&c, one)));

    char text[600];
    outcome_t outcome;
    pin(route);
    verdict_t verdict = attempt_try(suite_handle(), a, &c, &outcome);
    attempt_describe(&c, text, sizeof text);
    HOLDS(is_good(&verdict), "%s: %s", text, verdict.text);
    HOLDS(outcome != UNAVAILABLE || route, "%s: no route without a pin", text);
    if (has_buffer_size(routine)) {
        verdict = attempt_try_buffer_size(suite_handle(), &c, &outcome);
        HOLDS(is_good(&verdict), "buffer_size of %s: %s", text, verdict.text);
    }
    pin(NULL);
    return 0;
}
