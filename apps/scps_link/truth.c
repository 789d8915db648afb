/* SPDX-License-Identifier: MIT */
/* Writes the ground-truth log in the form that scps_trace --truth reads (docs/SCPS_TRACE.md, "The
 * ground-truth log"). After a failed write the log ends, but packets are still forwarded;
 * truth_close() reports the failure. */
#include "scps_link/truth.h"
#include "scps_link/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (256u << 10)

struct truth {
    FILE *f;
    char *buffer;
    struct spool spool;
    struct side {
        struct truth *t;
        scps_time epoch;
        int dir;
    } side[2];
    int err;
};

static void truth_free(struct truth *t)
{
    if (t) {
        free(t->buffer);
        free(t);
    }
}

struct truth *truth_open(const char *path, char *msg, size_t msglen)
{
    struct truth *t = calloc(1, sizeof *t);

    if (!t || !(t->buffer = malloc(BUFFER))) {
        snprintf(msg, msglen, "out of memory");
        truth_free(t);
        return NULL;
    }
    if (spool_open(&t->spool, path, msg, msglen) != 0) {
        truth_free(t);
        return NULL;
    }
    t->f = fopen(spool_name(&t->spool), "we");
    spool_opened(&t->spool);
    if (!t->f) {
        snprintf(msg, msglen, "--truth %s: %s: is /proc mounted?", path, strerror(errno));
        char unused[8];
        (void)spool_close(&t->spool, unused, sizeof unused);
        truth_free(t);
        return NULL;
    }
    setvbuf(t->f, t->buffer, _IOFBF, BUFFER);
    fputs(SCPS_TRUTH_HEADER, t->f);
    return t;
}

static void row(void *ctx, const struct scps_verdict *v)
{
    struct side *s = ctx;
    struct truth *t = s->t;
    char line[SCPS_TRUTH_LINELEN];
    size_t n;

    if (t->err)
        return;
    n = scps_truth_line(v, s->dir, s->epoch, line);
    if (fwrite(line, 1, n, t->f) != n)
        t->err = errno ? errno : EIO;
}

void truth_watch(struct truth *t, struct scps_channel *ch, int dir, scps_time epoch)
{
    t->side[dir] = (struct side){t, epoch, dir};
    scps_channel_observe(ch, row, &t->side[dir]);
}

int truth_close(struct truth *t, char *msg, size_t msglen)
{
    int rc;

    if (!t)
        return 0;
    if (fclose(t->f) != 0 && t->err == 0)
        t->err = errno;
    if (t->err)
        snprintf(msg, msglen, "%s: %s: the log is incomplete: make room or write elsewhere",
                 t->spool.path, strerror(t->err));
    rc = t->err ? -1 : 0;
    if (spool_close(&t->spool, msg, msglen) != 0)
        rc = -1;
    truth_free(t);
    return rc;
}
