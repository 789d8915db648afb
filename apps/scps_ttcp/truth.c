/* SPDX-License-Identifier: MIT */
/* Writes the ground-truth log of option --truth: a CSV file with the fate of every packet of a
 * virtual link, in the form that scps_trace --truth reads. The times in it are on the same clock as
 * those in the captures. */
#include "scps_ttcp/truth.h"

#include <errno.h>
#include <string.h>

static void row(void *ctx, const struct scps_verdict *v)
{
    const struct ttcp_truth_side *s = ctx;
    struct ttcp_truth *t = s->t;
    char line[SCPS_TRUTH_LINELEN];
    size_t n;

    if (t->err != 0)
        return;
    n = scps_truth_line(v, s->dir, 0, line);
    if (fwrite(line, 1, n, t->f) != n)
        t->err = errno != 0 ? errno : EIO;
}

bool ttcp_truth_open(struct ttcp_truth *t, const struct ttcp_options *o, struct scps_link *l,
                     struct ttcp_result *r)
{
    if (o->truth == NULL)
        return true;
    t->f = fopen(o->truth, "w");
    if (t->f == NULL) {
        ttcp_result_fail(r, TTCP_FAILED, "--truth %.200s: %s: give a file that can be written",
                         o->truth, strerror(errno));
        return false;
    }
    fputs(SCPS_TRUTH_HEADER, t->f);
    for (int i = 0; i < 2; i++) {
        t->side[i] = (struct ttcp_truth_side){t, i};
        scps_link_observe(l, i, row, &t->side[i]);
    }
    return true;
}

void ttcp_truth_close(struct ttcp_truth *t, const struct ttcp_options *o, struct ttcp_result *r)
{
    if (t->f == NULL)
        return;
    if (fclose(t->f) != 0 && t->err == 0)
        t->err = errno;
    t->f = NULL;
    if (t->err != 0)
        ttcp_result_file_failed(
            r, "--truth %.200s: %s: the log is incomplete: make room or write elsewhere", o->truth,
            strerror(t->err));
}
