/* SPDX-License-Identifier: MIT */
/* Writes rows.csv, the file with the results of a sweep: one row for each flow of each run. Only
 * one process writes to it, and writes the rows of each run with one write call, so that a crash
 * can leave only the last run incomplete. When the file is opened again, the incomplete run is
 * found and removed. */
#include "scps_lab/rows.h"

#include <scps/scps.h>
#include <scps_revision.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void lab_rows_meta(const struct lab_cells *c, unsigned shard, unsigned shards, struct lab_str *s)
{
    const struct lab_scenario *sc = c->sc;

    lab_add(s,
            "# scps_lab " SCPS_VERSION " git=" SCPS_REVISION " scenario=%s hash=%016" PRIx64
            " seed=%" PRIu64 " runs=%" PRIu64 " jobs=%" PRIu64 " shard=%u/%u\n",
            sc->name, sc->hash, sc->seed, sc->runs, sc->runs * c->n, shard, shards);
}

void lab_rows_heading(const struct lab_cells *c, struct lab_str *s)
{
    lab_add(s, "cell,run,flow");
    for (size_t i = 0; i < c->sc->naxes; i++)
        lab_add(s, ",%s", c->sc->axis[i].key);
    lab_add(s, ",status,seconds,mbps,bytes,start,segments,resent,timeouts,episodes,errors,"
               "queue_drops\n");
}

void lab_rows_format(const struct lab_cells *c, const struct lab_cell *cell, unsigned run,
                     const struct lab_result *r, struct lab_str *s)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct lab_outcome *o = &r->flow[i];
        const struct scps_link_stats *l = &r->link[o->flow->link][o->flow->back];
        uint64_t queue = l->dropped_queue + l->dropped_codel;

        lab_add(s, "%zu,%u,%s", cell->number, run, o->name);
        for (size_t a = 0; a < c->sc->naxes; a++)
            lab_add(s, ",%s", cell->value[a]);
        lab_add(s, ",%s,%.6f,", o->status, (double)(o->end - o->start) / 1e6);
        if (strcmp(o->status, "ok") == 0)
            lab_add(s, "%.6f", lab_goodput(o));
        lab_add(s,
                ",%" PRIu64 ",%.6f,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64
                ",%" PRIu64 "\n",
                o->bytes, (double)o->start / 1e6, o->info.data_segs_out, o->info.resent_segs,
                o->info.timeouts, o->info.recoveries, lab_dropped(l) - queue, queue);
    }
}

static bool system_failed(const char *path, char msg[LAB_MSGLEN])
{
    snprintf(msg, LAB_MSGLEN, "%.300s: %s: make room or write elsewhere", path, strerror(errno));
    return false;
}

static size_t flows_of(const struct lab_cells *c, size_t number)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].number == number)
            for (size_t f = 0; f < c->v[i].setup->nflows; f++)
                n += c->v[i].setup->flow[f].copies;
    return n;
}

/* text: the rows of rows.csv, behind its two heading lines. Returns the number of bytes to the end
 * of the last complete run in text: a run (one simulation of a cell) is complete if it has a row
 * for each flow and each copy of a flow. Calls done(ctx, cell number, run) for each complete
 * run. */
static size_t complete(const struct lab_cells *c, const char *text,
                       void (*done)(void *ctx, size_t cell, unsigned run), void *ctx)
{
    const char *p = text, *end;
    size_t good = 0, cell = SIZE_MAX, have = 0;
    unsigned run = 0;

    while ((end = strchr(p, '\n')) != NULL) {
        size_t n;
        unsigned r;

        if (sscanf(p, "%zu,%u,", &n, &r) != 2)
            break;
        if (n != cell || r != run)
            have = 0;
        cell = n;
        run = r;
        p = end + 1;
        if (++have == flows_of(c, cell)) {
            done(ctx, cell, run);
            good = (size_t)(p - text);
            cell = SIZE_MAX;
        }
    }
    return good;
}

static char *load(int fd, size_t size)
{
    char *p = lab_alloc(size + 1);
    size_t got = 0;

    while (got < size) {
        ssize_t n = read(fd, p + got, size - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    p[got] = '\0';
    return p;
}

bool lab_rows_open(struct lab_rows *r, const char *dir, const struct lab_cells *c, unsigned shard,
                   unsigned shards, void (*done)(void *ctx, size_t cell, unsigned run), void *ctx,
                   char msg[LAB_MSGLEN])
{
    struct lab_str head = {0};
    struct stat st;
    char *text = NULL;
    bool ok = true;

    *r = (struct lab_rows){.fd = -1};
    snprintf(r->path, sizeof r->path, "%s/rows.csv", dir);
    lab_rows_meta(c, shard, shards, &head);
    lab_rows_heading(c, &head);
    r->fd = open(r->path, O_RDWR | O_CREAT | O_APPEND, 0666);
    if (r->fd < 0 || fstat(r->fd, &st) != 0) {
        ok = system_failed(r->path, msg);
    } else if (flock(r->fd, LOCK_EX | LOCK_NB) != 0) {
        snprintf(msg, LAB_MSGLEN, "%.300s: another sweep is writing it: choose another --out",
                 r->path);
        ok = false;
        /* The file is new, or an earlier process was interrupted while it wrote the headings, so
         * they are written now. */
    } else if (st.st_size == 0 || (size_t)st.st_size < head.len) {
        ok = ftruncate(r->fd, 0) == 0 || system_failed(r->path, msg);
        ok = ok && lab_rows_append(r, head.p, head.len, msg);
    } else {
        text = load(r->fd, (size_t)st.st_size);
        if (strncmp(text, head.p, head.len) != 0) {
            snprintf(msg, LAB_MSGLEN,
                     "%.200s: holds results of another scenario, seed, version or shard: choose "
                     "another --out, or remove it. It begins: %.100s",
                     r->path, text);
            if (strchr(msg, '\n'))
                *strchr(msg, '\n') = '\0';
            ok = false;
        } else {
            r->good = (long long)(head.len + complete(c, text + head.len, done, ctx));
            ok = ftruncate(r->fd, r->good) == 0 || system_failed(r->path, msg);
        }
    }
    free(text);
    lab_free(&head);
    if (!ok)
        lab_rows_close(r);
    return ok;
}

bool lab_rows_append(struct lab_rows *r, const char *text, size_t len, char msg[LAB_MSGLEN])
{
    ssize_t n = write(r->fd, text, len);

    if (n == (ssize_t)len) {
        r->good += n;
        return true;
    }
    if (n >= 0)
        errno = ENOSPC;
    system_failed(r->path, msg);
    if (n > 0 && ftruncate(r->fd, r->good) != 0)
        /* The incomplete rows could not be removed here, so they stay in the file; lab_rows_open()
         * removes them when the sweep continues. */
        return false;
    return false;
}

bool lab_rows_sync(struct lab_rows *r, char msg[LAB_MSGLEN])
{
    return fsync(r->fd) == 0 || errno == EINVAL || system_failed(r->path, msg);
}

void lab_rows_close(struct lab_rows *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

struct sorted {
    /* cell: number of the cell (combination of swept values) to which a row of rows.csv belongs;
     * nth: index of the row in the file before sorting. Rows are sorted by cell, then by run; those
     * of one run (one for each flow) keep their order. */
    size_t cell, nth;
    unsigned run;
};

static int by_cell(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

bool lab_rows_write_sorted(const struct lab_table *t, const char *meta, const char *dir,
                           char msg[LAB_MSGLEN])
{
    struct sorted *v = lab_alloc((t->nrows + 1) * sizeof *v);
    struct lab_str s = {0};
    bool ok;

    for (size_t i = 0; i < t->nrows; i++)
        v[i] = (struct sorted){strtoull(lab_table_at(t, i, 0), NULL, 10), i,
                               (unsigned)strtoul(lab_table_at(t, i, 1), NULL, 10)};
    qsort(v, t->nrows, sizeof *v, by_cell);
    lab_add(&s, "%s", meta);
    for (size_t k = 0; k < t->ncols; k++)
        lab_add(&s, "%s%s", k ? "," : "", t->col[k]);
    lab_add(&s, "\n");
    for (size_t i = 0; i < t->nrows; i++)
        for (size_t k = 0; k < t->ncols; k++)
            lab_add(&s, "%s%s", lab_table_at(t, v[i].nth, k), k + 1 < t->ncols ? "," : "\n");
    ok = lab_file_write(dir, "rows.csv", s.p, s.len, msg);
    lab_free(&s);
    free(v);
    return ok;
}
