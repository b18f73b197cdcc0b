/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a target on kept inputs. A corpus is a text file with one input a line, in hexadecimal.
 *
 *   TARGET CORPUS                    runs them all
 *   TARGET --unpack CORPUS FOLDER    makes a file of each, as libFuzzer reads them
 *   TARGET --pack FOLDER             prints a corpus of the files in a folder */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <string.h>

enum { LONGEST_INPUT = 1 << 16 };

static int digit(int c) {
    const char *digits = "0123456789abcdef";
    const char *at = c > 0 ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The next line's bytes, -1 at the end. */
static long read_input(FILE *corpus, uint8_t bytes[LONGEST_INPUT]) {
    long count = 0;
    int high;
    while ((high = digit(getc(corpus))) >= 0) {
        const int low = digit(getc(corpus));
        HOLDS(low >= 0 && count < LONGEST_INPUT, "a line of the corpus is not hexadecimal");
        bytes[count++] = (uint8_t)(16 * high + low);
    }
    return feof(corpus) && count == 0 ? -1 : count;
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    HOLDS(file, "%s cannot be opened", path);
    return file;
}

/* Runs the inputs of a corpus, or writes them to a folder. */
static void each_input(const char *path, const char *folder) {
    static uint8_t bytes[LONGEST_INPUT];
    FILE *corpus = open_file(path, "r");
    long size;
    int count = 0;
    for (; (size = read_input(corpus, bytes)) >= 0; ++count) {
        if (!folder) {
            LLVMFuzzerTestOneInput(bytes, (size_t)size);
            continue;
        }
        char name[4096];
        snprintf(name, sizeof name, "%s/%05d", folder, count);
        FILE *file = open_file(name, "wb");
        fwrite(bytes, 1, (size_t)size, file);
        fclose(file);
    }
    fclose(corpus);
    HOLDS(count > 0, "%s has no inputs", path);
    printf("%d inputs %s\n", count, folder ? "unpacked" : "run");
}

static void pack(const char *folder) {
    static uint8_t bytes[LONGEST_INPUT];
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            FILE *file = open_file(name, "rb");
            const size_t size = fread(bytes, 1, LONGEST_INPUT, file);
            fclose(file);
            for (size_t b = 0; b < size; ++b)
                printf("%02x", bytes[b]);
            putchar('\n');
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "--unpack"))
        each_input(argv[2], argv[3]);
    else if (argc == 3 && !strcmp(argv[1], "--pack"))
        pack(argv[2]);
    else if (argc == 2)
        each_input(argv[1], NULL);
    else
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
