/* SPDX-License-Identifier: MIT */
/* Reads a whole file into memory, for parsers that do no I/O. */
#include <scps/io.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (256u << 20)

char *scps_io_read_file(void *ctx, const char *name, size_t *len, char *why, size_t whylen)
{
    FILE *f = fopen(name, "rb");
    size_t n = 0, cap = 0;
    char *data = NULL;

    (void)ctx;
    if (!f) {
        snprintf(why, whylen, "%s: give a file that can be read", strerror(errno));
        return NULL;
    }
    while (!ferror(f) && !feof(f)) {
        if (n == cap) {
            cap = cap ? cap * 2 : 65536;
            char *p = cap > MOST ? NULL : realloc(data, cap);
            if (!p) {
                snprintf(why, whylen, cap > MOST ? "more than 128 MB" : "out of memory");
                goto fail;
            }
            data = p;
        }
        n += fread(data + n, 1, cap - n, f);
    }
    if (ferror(f)) {
        snprintf(why, whylen, "%s: give a file that can be read", strerror(errno));
        goto fail;
    }
    fclose(f);
    *len = n;
    return data;

fail:
    fclose(f);
    free(data);
    return NULL;
}

void scps_io_free_file(void *ctx, char *data)
{
    (void)ctx;
    free(data);
}
