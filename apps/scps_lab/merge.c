/* SPDX-License-Identifier: MIT */
/* scps_lab merge: joins the shards of one sweep (parts of its runs, each made separately with
 * --shard K/N) into one result, equal byte for byte to that of a sweep without shards. */
#include "scps_lab/rows.h"
#include "scps_lab/stats.h"
#include "scps_lab/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int refuse(const char *msg)
{
    fprintf(stderr, "scps_lab: %s\n", msg);
    return 2;
}

/* Returns the length of the part of the line `meta` (the first line of rows.csv) that all shards of
 * a sweep have in common: the text before " shard=". */
static size_t origin(const char *meta)
{
    const char *p = strstr(meta, " shard=");

    return p ? (size_t)(p - meta) : strlen(meta);
}

/* Appends the rows of table t to `all`. The appended rows point to strings of t, so t must not be
 * freed before `all`. */
static void append(struct lab_table *all, const struct lab_table *t)
{
    all->cell = lab_grow(all->cell, (all->nrows + t->nrows) * all->ncols * sizeof *all->cell + 1);
    memcpy(all->cell + all->nrows * all->ncols, t->cell, t->nrows * t->ncols * sizeof *t->cell);
    all->nrows += t->nrows;
}

/* Returns the number of runs in t: of different pairs of cell (one combination of the values of a
 * sweep) and run number. The rows of one pair are adjacent. */
static size_t runs_of(const struct lab_table *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->nrows; i++)
        n += i == 0 || strcmp(lab_table_at(t, i, 0), lab_table_at(t, i - 1, 0)) != 0 ||
             strcmp(lab_table_at(t, i, 1), lab_table_at(t, i - 1, 1)) != 0;
    return n;
}

/* Copies scenario.ini from the folder of the first shard (from) to that of the merged result (to).
 * Returns false, with the reason in msg, if that fails. */
static bool copy_scenario(const char *from, const char *to, char msg[LAB_MSGLEN])
{
    struct lab_str s = {0}, path = {0};
    char buf[4096];
    size_t n;
    FILE *f;
    bool ok;

    lab_add(&path, "%s/scenario.ini", from);
    f = fopen(path.p, "r");
    lab_free(&path);
    if (!f)
        /* The folder of a shard may have no copy of the scenario; then the merged result has none
         * either. */
        return true;
    lab_add(&s, "%s", "");
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        lab_add(&s, "%.*s", (int)n, buf);
    fclose(f);
    ok = lab_file_write(to, "scenario.ini", s.p, s.len, msg);
    lab_free(&s);
    return ok;
}

/* Returns the first of the n folders of shards that is the folder `out`; NULL: none is. */
static const char *shard_at(char *const *dirs, size_t n, const char *out)
{
    struct stat to, from;

    if (stat(out, &to) != 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (stat(dirs[i], &from) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
            return dirs[i];
    return NULL;
}

int lab_merge(char *const *dirs, size_t n, const char *out)
{
    struct lab_table *part = lab_alloc(n * sizeof *part), all = {0};
    struct lab_str meta = {0};
    char msg[LAB_MSGLEN], jobs[32] = "", shard[2][32];
    const char *same = shard_at(dirs, n, out);
    size_t runs = 0;
    int status = 0;

    if (same) {
        snprintf(msg, sizeof msg, "%.300s is a shard to be merged: give another --out", same);
        status = refuse(msg);
    }
    for (size_t i = 0; status == 0 && i < n; i++) {
        if (!lab_table_read(dirs[i], "rows.csv", &part[i], msg)) {
            status = refuse(msg);
            break;
        }
        if (origin(part[i].meta) != origin(part[0].meta) ||
            strncmp(part[i].meta, part[0].meta, origin(part[0].meta)) != 0) {
            snprintf(msg, sizeof msg, "%.200s is of another scenario, seed or version than %.200s",
                     dirs[i], dirs[0]);
            status = refuse(msg);
        }
        for (size_t k = 0; status == 0 && k < i; k++)
            if (lab_table_meta(&part[k], "shard", shard[0], sizeof shard[0]) &&
                lab_table_meta(&part[i], "shard", shard[1], sizeof shard[1]) &&
                strcmp(shard[0], shard[1]) == 0) {
                snprintf(msg, sizeof msg, "%.200s and %.200s are the same shard", dirs[k], dirs[i]);
                status = refuse(msg);
            }
        if (i == 0) {
            all.col = part[0].col;
            all.ncols = part[0].ncols;
        }
        if (status == 0) {
            append(&all, &part[i]);
            runs += runs_of(&part[i]);
        }
    }
    if (status == 0 && lab_table_meta(&part[0], "jobs", jobs, sizeof jobs) &&
        strtoull(jobs, NULL, 10) != runs) {
        snprintf(msg, sizeof msg,
                 strtoull(jobs, NULL, 10) > runs
                     ? "%zu of %s runs are done: finish every shard, then merge all"
                     : "%zu runs where the sweep has %s: give each shard once, all of one division",
                 runs, jobs);
        status = refuse(msg);
    }
    if (status == 0 && mkdir(out, 0777) != 0 && errno != EEXIST) {
        snprintf(msg, sizeof msg, "%.300s: %s: give another --out", out, strerror(errno));
        status = refuse(msg);
    }
    if (status == 0) {
        lab_add(&meta, "#%.*s shard=1/1\n", (int)origin(part[0].meta), part[0].meta);
        if (!lab_rows_write_sorted(&all, meta.p, out, msg) || !lab_cells_write(out, msg) ||
            !copy_scenario(dirs[0], out, msg))
            status = refuse(msg);
        lab_free(&meta);
    }
    free(all.cell);
    for (size_t i = 0; i < n; i++)
        lab_table_free(&part[i]);
    free(part);
    return status;
}
