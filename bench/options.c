/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "factor_bench: times the families of one batchlas operation against each other.\n"
    "\n"
    "  --op NAME          potrf potrs posv trsm gemm syrk (herk for the complex types)\n"
    "  --type LIST        s,d,c,z                                             [s]\n"
    "  --uplo LIST        lower,upper                                         [lower]\n"
    "  --form LIST        trsm: LN..RC (side, trans); gemm: NN..CC; syrk: N,T,C [the first]\n"
    "  --n LIST           orders; of trsm's triangle; of gemm's square C\n"
    "  --nrhs LIST        right-hand sides; k of gemm and syrk                [1]\n"
    "  --batch LIST       items\n"
    "  --cells FILE       instead of the six above, lines of: type uplo form n nrhs batch\n"
    "  --arms LIST        pins: auto, native, vendor or a family's spelling; with +op=spelling\n"
    "                     for the operations it is composed of                [auto]\n"
    "  --reps N           timed repetitions of each arm                       [7]\n"
    "  --warm-s SECONDS   warm-up of each arm                                 [0.1]\n"
    "  --lda-pad N        rows added to every leading dimension               [0]\n"
    "  --array            the _array entries, through arrays of pointers\n"
    "  --device N|host    OpenMP device number                                [0, or host]\n"
    "  --csv FILE         appends rows to FILE; - is the standard output\n"
    "  --peaks FILE       the device's measured peaks: read from there, or measured and kept\n"
    "  --skip-unavailable an arm that cannot run a cell gives a row that says so, not an error\n"
    "  --profile          one call of each arm between cudaProfilerStart and -Stop, and no times: "
    "for\n"
    "                     ncu --profile-from-start off (bench/breakdown)\n"
    "  --known            lists those of --arms that this library knows on this device\n"
    "  --describe         prints the device and the libraries as JSON\n"
    "\n"
    "Lists are split at commas. Exit status: 0; 1 if a result was wrong, a call failed or a pin\n"
    "ran something else; 2 if the command line, an arm or a cell was refused before timing.\n";

void options_help(void) {
    fputs(help, stdout);
}

static bool refuse(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "factor_bench: %s '%s': expected %s\n", option, value, expected);
    return false;
}

/* ---- lists --------------------------------------------------------------------------------- */

enum { MAX_LIST = 256 };

typedef struct {
    long long values[MAX_LIST];
    int count;
} numbers_t;

typedef struct {
    char words[MAX_LIST][FORM_LENGTH + 4];
    int count;
} words_t;

static bool parse_number(const char *text, long long least, long long most, long long *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *text && !isspace((unsigned char)*text) && *end == '\0' && errno == 0 &&
           *value >= least && *value <= most;
}

static bool parse_words(const char *option, const char *list, words_t *words) {
    words->count = 0;
    for (const char *cursor = list;;) {
        const size_t length = strcspn(cursor, ",");
        if (length == 0 || length >= sizeof words->words[0] || words->count == MAX_LIST)
            return refuse(option, list, "words with commas between");
        memcpy(words->words[words->count], cursor, length);
        words->words[words->count++][length] = '\0';
        if (cursor[length] == '\0')
            return true;
        cursor += length + 1;
    }
}

static bool parse_numbers(const char *option, const char *list, long long most,
                          numbers_t *numbers) {
    numbers->count = 0;
    for (const char *cursor = list;;) {
        const size_t length = strcspn(cursor, ",");
        char word[32] = "";
        if (length < sizeof word)
            memcpy(word, cursor, length);
        if (numbers->count == MAX_LIST ||
            !parse_number(word, 1, most, &numbers->values[numbers->count]))
            return refuse(option, list, "positive integers with commas between");
        ++numbers->count;
        if (cursor[length] == '\0')
            return true;
        cursor += length + 1;
    }
}

/* ---- cells --------------------------------------------------------------------------------- */

typedef struct {
    words_t types, uplos, forms;
    numbers_t orders, widths, batches;
    const char *cells_file;
    const char *arms;
    int ld_pad;
    bool array;
    bool has_device;
} request_t;

static bool set_type(const char *word, cell_t *cell) {
    cell->type = word[0];
    return strlen(word) == 1 && strchr("sdcz", word[0]);
}

static bool set_uplo(const char *word, cell_t *cell) {
    cell->uplo = strcmp(word, "upper") ? BATCHLAS_LOWER : BATCHLAS_UPPER;
    if (!op_has_uplo(cell->op))
        return !strcmp(word, "-") || !strcmp(word, "lower");
    return !strcmp(word, "lower") || !strcmp(word, "upper");
}

/* The empty word stands for the operation's first form. */
static bool set_form(const char *word, cell_t *cell) {
    for (const char *const *form = op_forms(cell->op, cell->type); *form; ++form) {
        if (!*word || !strcmp(*form, word)) {
            strcpy(cell->form, *form);
            return true;
        }
    }
    return false;
}

static bool add_cell(options_t *options, const cell_t *cell) {
    const int block = 256;
    if (options->cell_count % block == 0) {
        cell_t *cells =
            realloc(options->cells, (size_t)(options->cell_count + block) * sizeof *options->cells);
        if (!cells)
            return refuse("--batch", "", "fewer cells");
        options->cells = cells;
    }
    options->cells[options->cell_count] = *cell;
    cell_describe(&options->cells[options->cell_count++]);
    return true;
}

static bool read_cells(options_t *options, const request_t *request, FILE *file) {
    char line[256];
    for (int number = 1; fgets(line, sizeof line, file); ++number) {
        char type[8], uplo[8], form[8], n[16], nrhs[16], batch[24], rest[2];
        line[strcspn(line, "#\n")] = '\0';
        const int words =
            sscanf(line, "%7s%7s%7s%15s%15s%23s%1s", type, uplo, form, n, nrhs, batch, rest);
        if (words <= 0)
            continue;
        cell_t cell = {.op = options->op, .ld_pad = request->ld_pad, .array = request->array};
        long long order = 0, width = 0, items = 0;
        if (words != 6 || !set_type(type, &cell) || !set_uplo(uplo, &cell) ||
            !set_form(form, &cell) || !parse_number(n, 1, INT_MAX, &order) ||
            !parse_number(nrhs, 1, INT_MAX, &width) || !parse_number(batch, 1, LLONG_MAX, &items)) {
            fprintf(stderr, "factor_bench: %s:%d: expected type uplo form n nrhs batch of %s\n",
                    request->cells_file, number, op_name(options->op));
            return false;
        }
        cell.n = (int)order;
        cell.nrhs = (int)width;
        cell.batch = items;
        if (!add_cell(options, &cell))
            return false;
    }
    return true;
}

static bool cells_from_file(options_t *options, const request_t *request) {
    FILE *file = fopen(request->cells_file, "r");
    if (!file)
        return refuse("--cells", request->cells_file, "a readable file");
    const bool understood = read_cells(options, request, file);
    fclose(file);
    return understood;
}

/* All orders and batches of one type, uplo and form. */
static bool add_sizes(options_t *options, const request_t *request, cell_t cell) {
    for (int n = 0; n < request->orders.count; ++n) {
        for (int k = 0; k < request->widths.count; ++k) {
            for (int b = 0; b < request->batches.count; ++b) {
                cell.n = (int)request->orders.values[n];
                cell.nrhs = (int)request->widths.values[k];
                cell.batch = request->batches.values[b];
                if (!add_cell(options, &cell))
                    return false;
            }
        }
    }
    return true;
}

static bool cells_from_lists(options_t *options, const request_t *request) {
    if (request->orders.count == 0 || request->batches.count == 0) {
        fputs("factor_bench: --n and --batch are needed, or --cells\n", stderr);
        return false;
    }
    for (int t = 0; t < request->types.count; ++t) {
        for (int u = 0; u < request->uplos.count; ++u) {
            for (int f = 0; f < request->forms.count; ++f) {
                cell_t cell = {
                    .op = options->op, .ld_pad = request->ld_pad, .array = request->array};
                if (!set_type(request->types.words[t], &cell))
                    return refuse("--type", request->types.words[t], "s, d, c or z");
                if (!set_uplo(request->uplos.words[u], &cell))
                    return refuse("--uplo", request->uplos.words[u], "lower or upper");
                if (!set_form(request->forms.words[f], &cell))
                    return refuse("--form", request->forms.words[f],
                                  "a form of this operation and type");
                if (!add_sizes(options, request, cell))
                    return false;
            }
        }
    }
    return true;
}

/* ---- options ------------------------------------------------------------------------------- */

static bool parse_device(options_t *options, const char *value) {
    long long device = 0;
    if (!strcmp(value, "host"))
        options->device = HOST_DEVICE;
    else if (parse_number(value, 0, INT_MAX, &device))
        options->device = (int)device;
    else
        return refuse("--device", value, "host or a device number");
    return true;
}

static bool parse_count(const char *option, const char *value, int least, int *count) {
    long long number = 0;
    if (!parse_number(value, least, INT_MAX, &number))
        return refuse(option, value, "a whole number");
    *count = (int)number;
    return true;
}

static bool parse_seconds(const char *value, double *seconds) {
    char *end = NULL;
    *seconds = strtod(value, &end);
    return (*value && *end == '\0' && *seconds >= 0.0) || refuse("--warm-s", value, "seconds");
}

/* An option that stands alone; false if `word` is none. */
static bool parse_flag(options_t *options, request_t *request, const char *word) {
    if (!strcmp(word, "--array"))
        request->array = true;
    else if (!strcmp(word, "--skip-unavailable"))
        options->skip_unavailable = true;
    else if (!strcmp(word, "--profile"))
        options->action = PROFILE;
    else if (!strcmp(word, "--known"))
        options->action = LIST_KNOWN_ARMS;
    else if (!strcmp(word, "--describe"))
        options->action = DESCRIBE;
    else if (!strcmp(word, "--help"))
        options->action = SHOW_HELP;
    else
        return false;
    return true;
}

static bool parse_valued(options_t *options, request_t *request, const char *word,
                         const char *value) {
    if (!strcmp(word, "--op"))
        return op_from_name(value, &options->op) ||
               refuse(word, value, "potrf, potrs, posv, trsm, gemm or syrk");
    if (!strcmp(word, "--type"))
        return parse_words(word, value, &request->types);
    if (!strcmp(word, "--uplo"))
        return parse_words(word, value, &request->uplos);
    if (!strcmp(word, "--form"))
        return parse_words(word, value, &request->forms);
    if (!strcmp(word, "--n"))
        return parse_numbers(word, value, INT_MAX, &request->orders);
    if (!strcmp(word, "--nrhs"))
        return parse_numbers(word, value, INT_MAX, &request->widths);
    if (!strcmp(word, "--batch"))
        return parse_numbers(word, value, LLONG_MAX, &request->batches);
    if (!strcmp(word, "--reps"))
        return parse_count(word, value, 1, &options->repetitions);
    if (!strcmp(word, "--warm-s"))
        return parse_seconds(value, &options->warm_seconds);
    if (!strcmp(word, "--lda-pad"))
        return parse_count(word, value, 0, &request->ld_pad);
    if (!strcmp(word, "--device"))
        return parse_device(options, value);
    if (!strcmp(word, "--cells"))
        request->cells_file = value;
    else if (!strcmp(word, "--arms"))
        request->arms = value;
    else if (!strcmp(word, "--csv"))
        options->csv = value;
    else if (!strcmp(word, "--peaks"))
        options->peaks = value;
    else
        return refuse("option", word, "one of those that --help lists");
    return true;
}

/* Defaults of the lists that were left out. */
static void complete(request_t *request) {
    if (request->types.count == 0)
        parse_words("--type", "s", &request->types);
    if (request->uplos.count == 0)
        parse_words("--uplo", "lower", &request->uplos);
    if (request->forms.count == 0)
        request->forms.count = 1; /* the empty word: the operation's first form */
    if (request->widths.count == 0)
        parse_numbers("--nrhs", "1", 1, &request->widths);
}

static bool parse(options_t *options, request_t *request, int count, char **words) {
    for (int i = 1; i < count; ++i) {
        if (parse_flag(options, request, words[i]))
            continue;
        if (i + 1 == count)
            return refuse("option", words[i], "a value after it, or one that --help lists");
        if (!parse_valued(options, request, words[i], words[i + 1]))
            return false;
        ++i;
    }
    if (options->action == DESCRIBE || options->action == SHOW_HELP)
        return true;

    char why[512];
    complete(request);
    if (!arms_parse(request->arms, options->op, options->arms, &options->arm_count, why,
                    sizeof why)) {
        fprintf(stderr, "factor_bench: --arms: %s\n", why);
        return false;
    }
    if (request->array && !op_has_array_form(options->op))
        return refuse("--array", op_name(options->op), "an operation with an _array form");
    if (options->action == LIST_KNOWN_ARMS)
        return true;
    return request->cells_file ? cells_from_file(options, request)
                               : cells_from_lists(options, request);
}

bool options_parse(options_t *options, int count, char **words) {
    request_t *request = calloc(1, sizeof *request);
    if (!request)
        return false;
    request->arms = "auto";
    const bool understood = parse(options, request, count, words);
    free(request);
    return understood;
}

void options_free(options_t *options) {
    free(options->cells);
    options->cells = NULL;
    options->cell_count = 0;
}
