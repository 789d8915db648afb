/* SPDX-License-Identifier: MIT */
/* Infers observer events from a capture's packets, as the sender's stack would have reported them:
 *
 *   data                      sent; "lost" before it, if the data is sent again because it was lost
 *   an acknowledgement        acked; sacked for each block of its SACK option
 *   the analyser's figures    latest round trip, bytes outstanding
 *
 * Values that only the sender has (window, timer, why it stopped) are not estimated.
 */
#include "scps_trace/qlog.h"

#include "common/qlog.h"

#include <scps/cc.h>
#include <scps/observe.h>
#include <scps/wire.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

struct direction {
    struct qlog *log; /* qlog of the direction; NULL: no data has been seen in this direction */
    FILE *f;
    /* una: SND.UNA, and sent: SND.NXT, as offsets in the direction's data, as far as captured
     * packets show them */
    uint64_t una, sent;
};
struct connection {
    struct connection *next;
    uint32_t number;
    struct direction dir[2]; /* the two directions: [0] from a to b, [1] from b to a */
};
struct trace_qlogs {
    const char *name;
    struct connection *bucket[BUCKETS];
    bool failed;
    char msg[SCPS_TRACE_MSGLEN]; /* message of the first failure */
};

struct trace_qlogs *trace_qlogs_new(const char *name)
{
    struct trace_qlogs *q = calloc(1, sizeof *q);

    if (q)
        q->name = name;
    return q;
}

static void fail(struct trace_qlogs *q, const char *path, const char *why)
{
    if (!q->failed)
        snprintf(q->msg, sizeof q->msg, "--qlog %.200s: %s", path, why);
    q->failed = true;
}

/* ---- functions that open and close the files of a connection ---- */

static struct connection *find_connection(struct trace_qlogs *q, uint32_t number)
{
    struct connection **at = &q->bucket[number % BUCKETS], *c = *at;

    while (c && c->number != number)
        c = c->next;
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c) {
        fail(q, q->name, "out of memory");
        return NULL;
    }
    c->number = number;
    c->next = *at;
    return *at = c;
}

static void open_log(struct trace_qlogs *q, struct direction *d, const struct scps_trace_seen *s)
{
    size_t room = strlen(q->name) + 40;
    char *path = malloc(room), title[80];
    const char *way = s->b2a ? "b2a" : "a2b";

    if (!path) {
        fail(q, q->name, "out of memory");
        return;
    }
    snprintf(path, room, "%s-%" PRIu32 "-%s.qlog", q->name, s->conn, way);
    snprintf(title, sizeof title, "scps_trace " SCPS_VERSION ", connection %" PRIu32 " %s", s->conn,
             way);
    d->f = fopen(path, "w");
    if (d->f)
        d->log = qlog_begin(d->f, &(struct qlog_head){.title = title,
                                                      .server = s->b2a,
                                                      .captured = true,
                                                      .t0 = s->pkt->at,
                                                      .t0_1970 = s->pkt->at});
    else if (errno == EMFILE)
        fail(q, path, "too many files: choose connections with -o");
    else
        fail(q, path, strerror(errno));
    free(path);
}

static void close_log(struct trace_qlogs *q, struct direction *d)
{
    bool ok = true;

    if (d->log)
        ok = qlog_end(d->log);
    if (d->f)
        ok = fclose(d->f) == 0 && ok;
    if (!ok)
        fail(q, q->name, "not all could be written: make room");
    *d = (struct direction){0};
}

static void free_connection(struct trace_qlogs *q, struct connection *c)
{
    close_log(q, &c->dir[0]);
    close_log(q, &c->dir[1]);
    free(c);
}

void trace_qlogs_forget(struct trace_qlogs *q, uint32_t conn)
{
    struct connection **at = &q->bucket[conn % BUCKETS], *c;

    while (*at && (*at)->number != conn)
        at = &(*at)->next;
    c = *at;
    if (!c)
        return;
    *at = c->next;
    free_connection(q, c);
}

/* ---- functions that turn a packet into the events (struct scps_note) of an observer ---- */

static void log_note(struct direction *d, const struct scps_trace_seen *s, enum scps_note_kind kind,
                     uint64_t a, uint64_t b, uint64_t c, uint64_t e)
{
    qlog_note(d->log, &(struct scps_note){.at = s->pkt->at, .kind = kind, .arg = {a, b, c, e}});
}

/* Returns true if `cause`, the analyser's name of the reason for a retransmission, stands for the
 * loss of a segment; then sets *by to the evidence by which the sender detected the loss. cause
 * NULL: the analyser knows no reason, so the result is false. */
static bool is_loss(const char *cause, enum scps_evidence *by)
{
    static const struct {
        const char *cause;
        enum scps_evidence by;
    } row[] = {{"snack", SCPS_BY_SNACK},
               {"sack", SCPS_BY_SACK},
               {"dupack", SCPS_BY_DUPACK},
               {"timeout", SCPS_BY_RTO}};

    for (size_t i = 0; cause && i < sizeof row / sizeof *row; i++)
        if (!strcmp(row[i].cause, cause)) {
            *by = row[i].by;
            return true;
        }
    return false;
}

static void data(struct trace_qlogs *q, struct direction *d, const struct scps_trace_seen *s)
{
    enum scps_evidence by;

    if (!d->f && !q->failed)
        open_log(q, d, s);
    if (!d->log)
        return;
    /* This is the first captured data of the direction, so what came before counts as
     * acknowledged. */
    if (!d->sent)
        d->una = s->off;
    /* The event "lost" is written only before a retransmission that the analyser attributes to a
     * loss (is_loss()), not before one for another reason. */
    if (s->rexmit && is_loss(s->cause, &by))
        log_note(d, s, SCPS_NOTE_LOST, s->off, s->len, UINT64_MAX, by);
    log_note(d, s, SCPS_NOTE_SENT, s->off, s->len, 0, s->rexmit);
    if (s->off + s->len > d->sent)
        d->sent = s->off + s->len;
    qlog_outstanding(d->log, s->pkt->at, d->sent > d->una ? d->sent - d->una : 0);
}

/* Returns an edge of a SACK block, four octets at p, as a 64-bit offset in the stream: of all
 * offsets whose 32-bit sequence number is these octets, the one nearest to the packet's SEG.ACK. */
static uint64_t unwrap(const struct scps_trace_seen *s, const uint8_t *p)
{
    uint32_t edge = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];

    return s->ack_off + (uint64_t)(int64_t)(int32_t)(edge - s->ack);
}

static void sack_blocks(struct direction *d, const struct scps_trace_seen *s)
{
    const uint8_t *p = s->opt;

    /* Kind 0 ends the option list, kind 1 is padding. */
    for (uint32_t i = 0; p && i + 1 < s->opt_len && p[i];) {
        uint32_t n = p[i] == 1 ? 1 : p[i + 1];

        if (i + n > s->opt_len || (p[i] != 1 && n < 2))
            return;
        for (uint32_t k = 2; p[i] == SCPS_OPT_SACK && k + 8 <= n; k += 8) {
            uint64_t from = unwrap(s, p + i + k), to = unwrap(s, p + i + k + 4);
            /* A SACK block that begins at or below SND.UNA is a DSACK (RFC 2883) or belongs to an
             * old acknowledgement, so no event is written for it. */
            if (from > d->una && to > from && to <= d->sent)
                log_note(d, s, SCPS_NOTE_SACKED, from, to, 0, 0);
        }
        i += n;
    }
}

static void acknowledgement(struct direction *d, const struct scps_trace_seen *s)
{
    /* If the acknowledgement covers a FIN, SEG.ACK is one above the end of the data that was
     * sent. */
    if (s->ack_off > d->una && s->ack_off <= d->sent + 1) {
        log_note(d, s, SCPS_NOTE_ACKED, s->ack_off, s->ack_off - d->una, 0, 0);
        d->una = s->ack_off;
    }
    sack_blocks(d, s);
    if (s->rtt >= 0)
        qlog_rtt(d->log, s->pkt->at, s->rtt);
}

void trace_qlogs_see(struct trace_qlogs *q, const struct scps_trace_seen *s)
{
    struct connection *c;

    if (s->hw_dup || !(c = find_connection(q, s->conn)))
        return;
    if (s->len && !s->keepalive)
        data(q, &c->dir[s->b2a], s);
    if (s->flags & SCPS_ACK && c->dir[!s->b2a].log)
        acknowledgement(&c->dir[!s->b2a], s);
}

bool trace_qlogs_finish(struct trace_qlogs *q, char msg[SCPS_TRACE_MSGLEN])
{
    bool ok;

    for (size_t i = 0; i < BUCKETS; i++)
        for (struct connection *c = q->bucket[i], *next; c; c = next) {
            next = c->next;
            free_connection(q, c);
        }
    ok = !q->failed;
    if (!ok)
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s", q->msg);
    free(q);
    return ok;
}
