/* SPDX-License-Identifier: BSD-3-Clause */
/* One batch over several devices: light curves under a damped random walk; docs/multi_gpu.md. */
#include "program.h"
#include "random.h"
#include "split.h"
#include "worker.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "multi_gpu";

static const char help[] =
    "Usage: multi_gpu [OPTION VALUE]...\n"
    "Likelihoods of many light curves, each with several time scales, as one batch that is split\n"
    "over the first device, the first two, and so on.\n"
    "\n"
    "  --devices LIST    OpenMP device numbers or host, with weights if not equal, as in 0,1 or\n"
    "                    0:20,host:1; or all: every device, the host if none (default all)\n"
    "  --curves N        light curves, 1 to 100000000 (default 2000)\n"
    "  --epochs N        in each, the order of its systems, 1 to 512 (default 48)\n"
    "  --scales N        time scales from 10 to 1000 days, 2 to 1000 (default 8)\n"
    "  --repeats N       runs of each split, of which the fastest counts (default 3)\n"
    "  --scaling FILE    write the times as CSV\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 done and right, 1 failed on the way or wrong, 2 wrong option.";

enum { MAX_PARTS = 64 };
enum { TIMES = 1, VALUES, NOISE }; /* streams of random numbers */

typedef struct {
    int count, device[MAX_PARTS];
    double weight[MAX_PARTS];
    int64_t first[MAX_PARTS + 1];
    double seconds[MAX_PARTS]; /* of the fastest run */
} parts_t;

/* all, or DEVICE[:WEIGHT],... */
static int take_parts(const option_t *option, const char *text) {
    parts_t *p = option->value;
    const char *end = text;
    p->count = 0;
    if (strcmp(text, "all") == 0)
        return 1;
    for (; p->count < MAX_PARTS; text = end + 1) {
        char *after;
        long device = omp_get_initial_device();
        double weight = 1.0;
        if (strncmp(text, "host", 4) == 0)
            after = (char *)text + 4;
        else
            device = strtol(text, &after, 10);
        if (*after == ':')
            weight = strtod(after + 1, &after);
        end = after;
        if (end == text || (*end != ',' && *end != '\0') || device < 0 || device > 1000000 ||
            !(weight > 0.0 && weight < 1e9))
            return 0;
        p->device[p->count] = (int)device;
        p->weight[p->count++] = weight;
        if (*end == '\0')
            return 1;
    }
    return 0;
}

/* Exact walks of variance 1, with time scales between 30 and 300 days, and noise on them. */
static void observe(survey_t *s) {
    const int n = s->epochs;
#pragma omp parallel for
    for (int64_t c = 0; c < s->curves; c++) {
        const double scale = 30.0 * pow(10.0, ((double)c + 0.5) / (double)s->curves);
        double time = 0.0, walk = 0.0;
        for (int k = 0; k < n; k++) {
            const uint64_t draw = (uint64_t)(c * n + k);
            const double gap = -10.0 * log(random_uniform(TIMES, draw)); /* 10 days on average */
            const double kept = k > 0 ? exp(-gap / scale) : 0.0;
            time += gap;
            walk = kept * walk + sqrt(1.0 - kept * kept) * random_normal(VALUES, draw);
            s->time[c * n + k] = time;
            s->value[c * n + k] = walk + sqrt(s->noise) * random_normal(NOISE, draw);
        }
    }
}

/* The likelihood again, by prediction and correction from epoch to epoch. Source: Kalman, J. Basic
 * Eng. 82, 1960. */
static double kalman_likelihood(const survey_t *s, int64_t item) {
    const int n = s->epochs;
    const double *t = s->time + item / s->scales * n, *y = s->value + item / s->scales * n;
    const double scale = s->scale[item % s->scales], log_2pi = 1.8378770664093453;
    double mean = 0.0, variance = 1.0, sum = 0.0;
    for (int k = 0; k < n; k++) {
        const double kept = k > 0 ? exp(-(t[k] - t[k - 1]) / scale) : 0.0;
        mean *= kept;
        variance = kept * kept * variance + 1.0 - kept * kept;
        const double total = variance + s->noise, error = y[k] - mean;
        sum -= 0.5 * (log_2pi + log(total) + error * error / total);
        mean += variance / total * error;
        variance *= s->noise / total;
    }
    return sum;
}

/* Largest relative difference from Kalman's; NaN if one is. */
static double difference(const survey_t *s, const double *likelihood) {
    double worst = 0.0;
#pragma omp parallel for reduction(max : worst)
    for (int64_t i = 0; i < s->curves * s->scales; i++) {
        const double exact = kalman_likelihood(s, i);
        const double error = fabs(likelihood[i] - exact) / (1.0 + fabs(exact));
        worst = error <= worst ? worst : (isnan(error) ? HUGE_VAL : error);
    }
    return worst;
}

/* One thread a device; seconds[p] is part p's own time. Returns that of all together. */
static double evaluate(worker_t *worker, int parts, double *seconds) {
    const double start = omp_get_wtime();
    if (parts ==
        1) { /* without a thread for it: after teams in a serialised region LLVM 19 aborts */
        worker_evaluate(worker);
        seconds[0] = omp_get_wtime() - start;
    } else {
#pragma omp parallel for num_threads(parts) schedule(static, 1)
        for (int p = 0; p < parts; p++) {
            const double begin = omp_get_wtime();
            worker_evaluate(worker + p);
            seconds[p] = omp_get_wtime() - begin;
        }
    }
    return omp_get_wtime() - start;
}

/* Splits all items over the first `count` devices and returns the seconds of the fastest run. */
static double run(parts_t *parts, int count, const survey_t *s, int repeats, double *likelihood) {
    worker_t worker[MAX_PARTS];
    double seconds[MAX_PARTS], fastest = HUGE_VAL;
    const int64_t *first = parts->first;
    split(s->curves * s->scales, count, parts->weight, parts->first);
    for (int p = 0; p < count; p++)
        worker_open(worker + p, parts->device[p], s, first[p], first[p + 1] - first[p]);
    evaluate(worker, count, seconds); /* loads the kernels */
    for (int r = 0; r < repeats; r++) {
        const double all = evaluate(worker, count, seconds);
        if (all < fastest)
            memcpy(parts->seconds, seconds, sizeof seconds);
        fastest = fmin(all, fastest);
    }
    for (int p = 0; p < count; p++) {
        memcpy(likelihood + first[p], worker[p].likelihood,
               (size_t)worker[p].items * sizeof *likelihood);
        worker_close(worker + p);
    }
    return fastest;
}

/* Sum over the curves of the likelihood at each one's best scale. */
static double sum_of_best(const survey_t *s, const double *likelihood) {
    double sum = 0.0;
    for (int64_t c = 0; c < s->curves; c++) {
        double best = likelihood[c * s->scales];
        for (int k = 1; k < s->scales; k++)
            best = fmax(best, likelihood[c * s->scales + k]);
        sum += best;
    }
    return sum;
}

int main(int argc, char **argv) {
    survey_t s = {.epochs = 48, .scales = 8, .curves = 2000, .noise = 0.01};
    parts_t parts = {0};
    const char *scaling = NULL;
    int repeats = 3, wrong = 0;
    const option_t option[] = {
        {"--devices", take_parts, &parts, 0, 0, "all, or numbers and host as in 0:20,host:1"},
        {"--curves", take_count, &s.curves, 1, 1e8, NULL},
        {"--epochs", take_whole, &s.epochs, 1, 512, NULL},
        {"--scales", take_whole, &s.scales, 2, 1000, NULL},
        {"--repeats", take_whole, &repeats, 1, 1000, NULL},
        {"--scaling", take_text, &scaling, 0, 0, "a file name"},
    };
    const int outcome = options_take(argc, argv, help, option, sizeof option / sizeof *option);
    if (outcome != GO_ON)
        return outcome;
    const int devices = omp_get_num_devices(); /* which is also the host's number */
    if (parts.count == 0)
        for (int d = 0; d < MAX_PARTS && (d == 0 || d < devices); d++, parts.count++)
            parts.device[d] = d, parts.weight[d] = 1.0;
    for (int p = 0; p < parts.count; p++)
        if (parts.device[p] > devices)
            return complain("there is no device %d", parts.device[p]), EXIT_USAGE;
    if (!writable(scaling))
        return EXIT_USAGE;

    const int64_t items = s.curves * s.scales;
    s.time = allocate(s.curves * s.epochs, sizeof *s.time);
    s.value = allocate(s.curves * s.epochs, sizeof *s.value);
    s.scale = allocate(s.scales, sizeof *s.scale);
    double *likelihood = allocate(items, sizeof *likelihood);
    FILE *file = scaling != NULL ? open_output(scaling) : NULL;
    for (int k = 0; k < s.scales; k++)
        s.scale[k] = pow(10.0, 1.0 + 2.0 * k / (s.scales - 1));
    observe(&s);
    printf("batch         %" PRId64 " curves of %d epochs, %d time scales: %" PRId64
           " systems of order %d\n\n"
           "devices  ms in all  speed-up  efficiency  error    device: systems, ms\n",
           s.curves, s.epochs, s.scales, items, s.epochs);
    if (file != NULL)
        fprintf(file, "devices,device,systems,ms,all_ms\n");

    double single = 0.0;
    for (int count = 1; count <= parts.count; count++) {
        const double seconds = run(&parts, count, &s, repeats, likelihood);
        single = count == 1 ? seconds : single;
        const double error = difference(&s, likelihood);
        wrong |= !(error < 1e-10);
        printf("%-8d %-10.3f %-9.2f %-11.2f %-7.1e", count, 1e3 * seconds, single / seconds,
               single / seconds / count, error);
        for (int p = 0; p < count; p++) {
            const int64_t systems = parts.first[p + 1] - parts.first[p];
            char name[16] = "host";
            if (parts.device[p] < devices)
                snprintf(name, sizeof name, "%d", parts.device[p]);
            printf("  %s: %" PRId64 ", %.3f", name, systems, 1e3 * parts.seconds[p]);
            if (file != NULL)
                fprintf(file, "%d,%s,%" PRId64 ",%.6f,%.6f\n", count, name, systems,
                        1e3 * parts.seconds[p], 1e3 * seconds);
        }
        printf("\n");
    }
    printf("\nlog-likelihood at the best scale of each curve, summed  %.12g\n",
           sum_of_best(&s, likelihood));
    if (file != NULL)
        close_output(file, scaling);
    void *const memory[] = {s.time, s.value, s.scale, likelihood};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    return wrong ? complain("the likelihoods are not Kalman's") : EXIT_SUCCESS;
}
