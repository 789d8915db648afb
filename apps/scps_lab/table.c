/* SPDX-License-Identifier: MIT */
/* Reads and writes result files. An unfinished last line, which only a crash leaves, is ignored. */
#include "scps_lab/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *load(const char *path, char msg[LAB_MSGLEN])
{
    FILE *f = fopen(path, "r");
    struct lab_str s = {0};
    char buf[65536];
    size_t n;

    if (!f) {
        snprintf(msg, LAB_MSGLEN, "%.300s: %s: give the folder of a sweep's results", path,
                 strerror(errno));
        return NULL;
    }
    lab_add(&s, "%s", "");
    while ((n = fread(buf, 1, sizeof buf, f)) > 0 && !memchr(buf, '\0', n))
        lab_add(&s, "%.*s", (int)n, buf);
    if (ferror(f) || n > 0) {
        snprintf(msg, LAB_MSGLEN, "%.300s: not a result file of this program", path);
        lab_free(&s);
    }
    fclose(f);
    return s.p;
}

/* Splits a line at its commas, in place. Returns the number of its fields; the addresses of the
 * first max of them are stored in field[]. */
static size_t cut(char *line, char **field, size_t max)
{
    size_t n = 0;

    for (char *p = line; p; n++) {
        char *comma = strchr(p, ',');
        if (comma)
            *comma++ = '\0';
        if (n < max)
            field[n] = p;
        p = comma;
    }
    return n;
}

static size_t commas(const char *line)
{
    size_t n = 0;

    for (; *line; line++)
        n += *line == ',';
    return n;
}

bool lab_table_read(const char *dir, const char *name, struct lab_table *t, char msg[LAB_MSGLEN])
{
    char path[PATH_MAX];
    char *line, *end;

    memset(t, 0, sizeof *t);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    t->text = load(path, msg);
    if (!t->text)
        return false;
    for (line = t->text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        if (*line == '#') {
            t->meta = line + 1;
        } else if (!t->col) {
            t->ncols = commas(line) + 1;
            t->col = lab_alloc(t->ncols * sizeof *t->col);
            cut(line, t->col, t->ncols);
        } else {
            t->cell = lab_grow(t->cell, (t->nrows + 1) * t->ncols * sizeof *t->cell);
            if (cut(line, t->cell + t->nrows * t->ncols, t->ncols) != t->ncols) {
                snprintf(msg, LAB_MSGLEN, "%.300s: row %zu has not the heading's %zu fields", path,
                         t->nrows + 1, t->ncols);
                lab_table_free(t);
                return false;
            }
            t->nrows++;
        }
    }
    if (t->col && t->meta)
        return true;
    snprintf(msg, LAB_MSGLEN, "%.300s: not a result file of this program", path);
    lab_table_free(t);
    return false;
}

void lab_table_free(struct lab_table *t)
{
    free(t->text);
    free(t->col);
    free(t->cell);
    memset(t, 0, sizeof *t);
}

size_t lab_table_col(const struct lab_table *t, const char *name)
{
    for (size_t i = 0; i < t->ncols; i++)
        if (strcmp(t->col[i], name) == 0)
            return i;
    return SIZE_MAX;
}

const char *lab_table_at(const struct lab_table *t, size_t row, size_t col)
{
    return t->cell[row * t->ncols + col];
}

bool lab_table_meta(const struct lab_table *t, const char *key, char *out, size_t len)
{
    const char *rest = t->meta;
    size_t n = strlen(key);
    char item[512];

    while (lab_item(&rest, ' ', item, sizeof item))
        if (strncmp(item, key, n) == 0 && item[n] == '=') {
            snprintf(out, len, "%s", item + n + 1);
            return true;
        }
    return false;
}

bool lab_file_write(const char *dir, const char *name, const char *text, size_t len,
                    char msg[LAB_MSGLEN])
{
    char path[PATH_MAX], part[PATH_MAX + 8];
    bool ok;
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(part, sizeof part, "%s.part", path);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ok = fd >= 0;
    for (size_t done = 0; ok && done < len;) {
        ssize_t n = write(fd, text + done, len - done);
        ok = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    ok = ok && fsync(fd) == 0;
    ok = (fd < 0 || close(fd) == 0) && ok;
    ok = ok && rename(part, path) == 0;
    if (!ok) {
        snprintf(msg, LAB_MSGLEN, "%.300s: %s: make room or write elsewhere", path,
                 strerror(errno));
        unlink(part);
    }
    return ok;
}
