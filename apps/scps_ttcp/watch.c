/* SPDX-License-Identifier: MIT */
/* Prints what the stacks report (option -d), one line for each report ("note") with the names of
 * <scps/events.def>, for example
 *
 *     0.500612 t acked una=1 bytes=0 rtt=500612 rate=0
 *
 * The line has the time since the start of the transfer, s; the end, t (transmitter) or r
 * (receiver); the name of the report; and its arguments. */
#include "scps_ttcp/watch.h"

#include "common/qlog.h"
#include "scps_ttcp/units.h"

#include <scps/scps.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void to_qlog(struct ttcp_watch *w, const struct scps_note *n)
{
    if (w->qlog == NULL && !w->qlog_failed) {
        const struct qlog_head head = {
            .title = "scps_ttcp " SCPS_VERSION, .server = w->role == 'r', .t0 = n->at};
        w->qlog = qlog_begin(w->qlog_file, &head);
        w->qlog_failed = w->qlog == NULL;
    }
    if (w->qlog != NULL)
        qlog_note(w->qlog, n);
}

bool ttcp_watch_qlog(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r)
{
    if (o->qlog == NULL)
        return true;
    w->qlog_file = fopen(o->qlog, "w");
    if (w->qlog_file == NULL)
        ttcp_result_fail(r, TTCP_FAILED, "--qlog %.200s: %s: give a file that can be written",
                         o->qlog, strerror(errno));
    return w->qlog_file != NULL;
}

void ttcp_watch_close(struct ttcp_watch *w, const struct ttcp_options *o, struct ttcp_result *r)
{
    bool ok = !w->qlog_failed;

    if (w->qlog_file == NULL)
        return;
    if (w->qlog != NULL)
        ok = qlog_end(w->qlog) && ok;
    if (fclose(w->qlog_file) != 0 || !ok)
        ttcp_result_file_failed(r, "--qlog %.200s: it could not be written whole: make room",
                                o->qlog);
    w->qlog_file = NULL;
    w->qlog = NULL;
}

static void to_sender(struct ttcp_end *e, const struct scps_note *n)
{
    for (; e != NULL; e = e->next)
        if (e->tx != NULL && e->conn != NULL && e->id == n->conn) {
            ttcp_sender_note(e->tx, n);
            return;
        }
}

static void note(void *ctx, const struct scps_note *n)
{
    struct ttcp_watch *w = ctx;
    char at[32];

    if (n->kind == SCPS_NOTE_ACKED)
        to_sender(w->senders, n);
    if (w->qlog_file != NULL)
        to_qlog(w, n);
    if (w->debug == NULL)
        return;
    fprintf(w->debug, "%s %c %s", units_print_seconds(at, n->at - w->t0, 6), w->role,
            scps_note_name(n->kind));
    for (unsigned i = 0; i < 4; i++)
        if (scps_note_arg(n->kind, i) != NULL)
            fprintf(w->debug, " %s=%" PRId64, scps_note_arg(n->kind, i), (int64_t)n->arg[i]);
    fputc('\n', w->debug);
}

struct scps_observer ttcp_watch_observer(struct ttcp_watch *w)
{
    uint64_t acked = (uint64_t)1 << SCPS_NOTE_ACKED;
    uint64_t all = ((uint64_t)1 << SCPS_NOTE_COUNT) - 1, mask = 0;

    if (w->acked)
        mask |= acked;
    if (w->qlog_file != NULL)
        mask |= qlog_mask();
    if (w->debug != NULL)
        mask = all;
    return (struct scps_observer){.note = note, .ctx = w, .mask = mask};
}
