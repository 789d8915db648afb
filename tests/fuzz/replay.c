/* SPDX-License-Identifier: MIT */
/* Feeds files, or every file of a directory, to a fuzz target, for compilers without libFuzzer.
 *
 * Usage: fuzz_NAME PATH...
 *
 * Each input is in a block of exactly its size, so that a sanitizer detects a read beyond it. The
 * name of an input is printed before it runs, because an input that breaks a check aborts the
 * program.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned replayed;

static int one(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    uint8_t buf[65536];
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact)
        return 1;
    memcpy(exact, buf, n);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    replayed++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int all_of(const char *dir)
{
    char *name[4096];
    size_t n = 0;
    int bad = 0;
    DIR *d = opendir(dir);
    if (!d) {
        perror(dir);
        return 1;
    }
    for (struct dirent *e; n < 4096 && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        size_t len = strlen(dir) + strlen(e->d_name) + 2;
        if (!(name[n] = malloc(len)))
            break;
        snprintf(name[n++], len, "%s/%s", dir, e->d_name);
    }
    closedir(d);
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 0; i < n; i++) {
        bad |= one(name[i]);
        free(name[i]);
    }
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st)) {
            perror(argv[i]);
            return 1;
        }
        bad |= S_ISDIR(st.st_mode) ? all_of(argv[i]) : one(argv[i]);
    }
    printf("%u inputs replayed\n", replayed);
    return bad || !replayed; /* A corpus that does not exist is a failure. */
}
