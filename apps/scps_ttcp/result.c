/* SPDX-License-Identifier: MIT */
/* Makes the result of a run from its two ends: times, counts, and the outcome.
 *
 * As in the measurements in NASA/TM-2003-212001, the sender's time runs from its SYN to the
 * acknowledgement of its FIN. Three counts are reported separately: the bytes that the send buffer
 * accepted (ttcp's own figure, which is too high for a short transfer), the bytes acknowledged, and
 * the bytes that the receiving application read.
 *
 * Status 3 is for a transfer that moved data and was then ended from outside: by the peer, by the
 * path, or by a signal. If this end caused the failure (unreadable input, full disk), the status is
 * 1 even if data was moved.
 */
#include "scps_ttcp/result.h"
#include "scps_ttcp/option_table.h"

#include <scps/error.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void ttcp_result_init(struct ttcp_result *r, const struct ttcp_options *opt)
{
    memset(r, 0, sizeof(*r));
    r->opt = opt;
    r->total = UINT64_MAX;
    r->connect = r->first_byte = r->enqueued = r->acked = r->delivered = r->closed = TTCP_NOT_YET;
}

struct ttcp_result *ttcp_result_add(struct ttcp_result *r)
{
    struct ttcp_result *n = malloc(sizeof(*n));

    if (n == NULL)
        return NULL;
    ttcp_result_init(n, r->opt);
    n->virtual_time = r->virtual_time;
    n->wall_start = r->wall_start;
    while (r->next != NULL)
        r = r->next;
    r->next = n;
    return n;
}

void ttcp_result_gather(struct ttcp_result *r)
{
    bool moved = false;

    for (const struct ttcp_result *f = r; f != NULL; f = f->next)
        moved |= f->acked_bytes > 0 || f->rx.bytes > 0;
    if (moved && r->cut && r->outcome == TTCP_FAILED)
        r->outcome = TTCP_PARTIAL;
    for (const struct ttcp_result *f = r->next; f != NULL; f = f->next)
        if (f->outcome != TTCP_DONE)
            ttcp_result_fail(r, moved && f->cut ? TTCP_PARTIAL : f->outcome, "%s", f->error);
}

struct ttcp_total ttcp_result_total(const struct ttcp_result *r, bool sent)
{
    struct ttcp_total t = {0};

    for (const struct ttcp_result *f = r; f != NULL; f = f->next) {
        scps_dur us = sent ? ttcp_sent_time(f) : ttcp_received_time(f);

        if (f->back != r->back)
            continue;
        t.flows++;
        t.bytes += sent ? f->acked_bytes : ttcp_received_bytes(f);
        t.resent += f->tx.info.resent_segs;
        t.timeouts += f->tx.info.timeouts;
        t.us = us > t.us ? us : t.us;
    }
    return t;
}

scps_dur ttcp_result_elapsed(const struct ttcp_result *r)
{
    scps_dur most = 0;

    for (; r != NULL; r = r->next)
        most = r->elapsed > most ? r->elapsed : most;
    return most;
}

void ttcp_result_fini(struct ttcp_result *r)
{
    while (r->next != NULL) {
        struct ttcp_result *n = r->next;

        r->next = n->next;
        n->next = NULL;
        ttcp_result_fini(n);
        free(n);
    }
    free(r->intervals);
    free(r->tx.holes);
    free(r->rx.holes);
    r->tx.holes = r->rx.holes = NULL;
    r->intervals = NULL;
}

/* Writes a message to r->error, from its character `at` on. */
static void put_error(struct ttcp_result *r, size_t at, const char *fmt, va_list ap)
{
    vsnprintf(r->error + at, sizeof(r->error) - at, fmt, ap);
    /* A file name in the message may contain control characters, but the message must be one
     * line. */
    for (char *p = r->error + at; *p != '\0'; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
}

void ttcp_result_fail(struct ttcp_result *r, enum ttcp_outcome outcome, const char *fmt, ...)
{
    va_list ap;

    if (r->outcome != TTCP_DONE)
        return;
    r->outcome = outcome;
    va_start(ap, fmt);
    put_error(r, 0, fmt, ap);
    va_end(ap);
}

void ttcp_result_file_failed(struct ttcp_result *r, const char *fmt, ...)
{
    size_t at = 0;
    va_list ap;

    if (r->outcome == TTCP_DONE)
        r->outcome = TTCP_FAILED;
    else
        at = strlen(r->error);
    if (at > 0 && at + 4 < sizeof(r->error)) {
        memcpy(r->error + at, "; ", 3);
        at += 2;
    }
    va_start(ap, fmt);
    put_error(r, at, fmt, ap);
    va_end(ap);
}

/* Writes the name of the peer to buf, for messages: HOST as typed or the peer's address, with the
 * port; "the peer" if neither is known. Returns buf. */
static const char *peer_name(const struct ttcp_result *r, char buf[TTCP_MSGLEN])
{
    char addr[SCPS_ADDR_STRLEN];
    const struct ttcp_side *own = r->has_tx ? &r->tx : &r->rx;

    if (r->opt->host != NULL)
        snprintf(buf, TTCP_MSGLEN, "%.100s port %u", r->opt->host, r->opt->port);
    else if (own->open)
        snprintf(buf, TTCP_MSGLEN, "%s port %u", scps_addr_format(&own->remote.addr, addr),
                 own->remote.port);
    else
        snprintf(buf, TTCP_MSGLEN, "the peer");
    return buf;
}

/* Returns the last part of the error message after the connection ended because the peer did not
 * answer: what the user can do. It names each given option that limits how long, or how often, the
 * sender tries to reach a silent peer, such as --user-timeout and --data-retries. */
static const char *patience_remedy(const struct ttcp_options *o, char buf[TTCP_MSGLEN])
{
    static const enum setting_id limits[] = {SETTING_user_timeout, SETTING_keep_count,
                                             SETTING_data_retries, SETTING_syn_retries,
                                             SETTING_rto_max};
    char name[SETTING_NAME];
    size_t len = (size_t)snprintf(buf, TTCP_MSGLEN,
                                  "check that the peer is up and the path both ways; on a long one "
                                  "give --expected-rtt");

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (o->given[limits[i]])
            len += (size_t)snprintf(buf + len, TTCP_MSGLEN - len, ", or a larger --%s",
                                    setting_dashed(&settings[limits[i]], name));
    return buf;
}

static const char *connection_remedy(const struct ttcp_result *r, int err, char buf[TTCP_MSGLEN])
{
    const struct ttcp_options *o = r->opt;

    switch (err) {
    case SCPS_ERR_REFUSED:
        return o->streams > 1 ? "start a receiver there (-r) with the same -P, or check -p"
                              : "start a receiver there (-r), or check -p";
    case SCPS_ERR_RESET:
        if (o->action == TTCP_RECEIVE)
            return o->streams > 1
                       ? "see what the sender says; it may have ended early, or have another -P"
                       : "see what the sender says; it may have been interrupted";
        return o->streams > 1
                   ? "see what the receiver says; it may have closed early, or have another -P"
                   : "see what the receiver says; it may have closed early, or serve another";
    case SCPS_ERR_TIMEDOUT:
        return ttcp_unanswered_words(r, buf, TTCP_MSGLEN) ? buf : patience_remedy(o, buf);
    case SCPS_ERR_UNREACH:
        return "check --addr A/LEN and --gateway";
    case SCPS_ERR_BADADDR:
        return "give HOST the address of one host";
    case SCPS_ERR_ADDRNOTAVAIL:
        return "give -H an address of --addr, of the same family as HOST";
    case SCPS_ERR_ADDRINUSE:
        return "choose another port with -p";
    case SCPS_ERR_MSGSIZE:
        return "datagrams are not fragmented: give a smaller -l, or a larger --mtu";
    case SCPS_ERR_LINKDOWN:
        return r->link_trouble != NULL
                   ? r->link_trouble
                   : "the device was removed or taken down: bring it back and start again";
    case SCPS_ERR_NOMEM:
        return "give smaller buffers with -b";
    default:
        return "run again with -d to see every event";
    }
}

static void connection_error(struct ttcp_result *r, int err, uint64_t moved)
{
    char peer[TTCP_MSGLEN], remedy[TTCP_MSGLEN], amount[64] = "";

    r->cut |= r->outcome == TTCP_DONE;
    if (moved > 0)
        snprintf(amount, sizeof(amount), " after %" PRIu64 " bytes", moved);
    ttcp_result_fail(r, moved > 0 ? TTCP_PARTIAL : TTCP_FAILED, "%.180s: %.120s%s: %s",
                     peer_name(r, peer), scps_strerror(err), amount,
                     connection_remedy(r, err, remedy));
}

static const char *input_remedy(int sys_errno)
{
    return sys_errno == EISDIR ? "give it a file: < FILE" : "give it a readable file, or use -s";
}

static const char *output_remedy(int sys_errno)
{
    switch (sys_errno) {
    case ENOSPC:
    case EDQUOT:
        return "free some space, or write elsewhere";
    case EPIPE:
        return "its reader has ended: keep it running";
    default:
        return "write elsewhere, or use -s to discard";
    }
}

void ttcp_result_judge(struct ttcp_result *r, const struct ttcp_sender *s,
                       const struct ttcp_receiver *rcv)
{
    uint64_t moved = rcv != NULL ? rcv->received : s->acked;
    char peer[TTCP_MSGLEN];

    if (s != NULL && s->in_failed && s->err == SCPS_ERR_SYSTEM)
        ttcp_result_fail(r, TTCP_FAILED, "standard input: %s: %s", strerror(s->in->sys_errno),
                         input_remedy(s->in->sys_errno));
    else if (s != NULL && s->in_failed)
        ttcp_result_fail(r, TTCP_FAILED, "out of memory: give smaller buffers with -b");
    if (rcv != NULL && rcv->out_failed)
        ttcp_result_fail(r, TTCP_FAILED, "%.200s: %s: %s", rcv->out->name,
                         strerror(rcv->out->sys_errno), output_remedy(rcv->out->sys_errno));
    if (s != NULL && s->echo.differs)
        ttcp_result_fail(r, TTCP_FAILED,
                         "%.180s: what came back is not what was sent, from byte %" PRIu64
                         " on: does it echo (-e)?",
                         peer_name(r, peer), s->echo.bytes);
    if (s != NULL && s->echo.ended) {
        r->cut |= r->outcome == TTCP_DONE;
        ttcp_result_fail(r, moved > 0 ? TTCP_PARTIAL : TTCP_FAILED,
                         "%.180s: closed before a block had come back: does it echo (-e)?",
                         peer_name(r, peer));
    }
    if (s != NULL && s->too_short)
        ttcp_result_fail(r, TTCP_FAILED,
                         "standard input: 4 bytes or fewer would be a guard (-u): give more");
    if (rcv != NULL && rcv->d.silent)
        ttcp_result_fail(r, TTCP_PARTIAL,
                         "nothing came for %d s, and no guard at the end: it was lost, or the "
                         "sender has gone",
                         (int)(TTCP_SILENCE / SCPS_SEC(1)));
    if (s != NULL && s->err != 0)
        connection_error(r, s->err, moved);
    if (rcv != NULL && rcv->err != 0)
        connection_error(r, rcv->err, moved);
    if (rcv != NULL && rcv->duplex && rcv->eof && (rcv->received == 0 || rcv->result_came))
        ttcp_result_fail(r, TTCP_FAILED,
                         "%.180s: sends no data of its own: give --bidir there, too, or leave it "
                         "out here",
                         peer_name(r, peer));
    if (r->compared && !r->intact && r->opt->udp)
        ttcp_result_fail(r, TTCP_FAILED,
                         "a datagram arrived that was not sent so: report this with its --seed "
                         "and --link");
    if (r->compared && !r->intact && r->outcome == TTCP_DONE)
        ttcp_result_fail(r, TTCP_FAILED,
                         "what arrived is not what was sent, from byte %" PRIu64 " on: %s",
                         rcv->out->verify->matched + rcv->out->verify->skipped,
                         r->link_fwd.flipped != 0
                             ? "with flip two errors in one packet may leave its checksum right"
                             : "report this with its --seed and --link");
}

bool ttcp_result_require(struct ttcp_result *r, const struct scps_conn *c)
{
    struct scps_info info;
    char peer[TTCP_MSGLEN];

    scps_conn_info(c, &info);
    for (int f = 0; f < SCPS_FEATURE_COUNT; f++) {
        const char *name = scps_feature_name((enum scps_feature)f);

        if (!(r->opt->require >> f & 1) || info.why[f] == SCPS_WHY_IN_FORCE)
            continue;
        ttcp_result_fail(
            r, TTCP_LACKING, "%.180s: no %s: %s: switch it on there, or leave out --require %s",
            peer_name(r, peer), name, scps_why_words((enum scps_why)info.why[f]), name);
        return false;
    }
    return true;
}

static scps_dur since(scps_time t, scps_time t0)
{
    return t == TTCP_NOT_YET ? TTCP_NOT_YET : t - t0;
}

static void side(struct ttcp_side *d, const struct scps_conn *c, struct scps_stack *st)
{
    scps_stack_get_stats(st, &d->stack);
    if (c == NULL)
        return;
    d->open = true;
    d->id = scps_conn_id(c);
    scps_conn_local(c, &d->local);
    scps_conn_remote(c, &d->remote);
    scps_conn_get_config(c, &d->config);
    scps_conn_info(c, &d->info);
}

/* Copies addresses and stack statistics of one end of a run of datagrams (-u) to *side. */
static void dgram_side(struct ttcp_side *side, const struct scps_endpoint *local,
                       const struct scps_endpoint *remote, struct scps_stack *st)
{
    scps_stack_get_stats(st, &side->stack);
    side->open = remote->addr.family != 0;
    side->id = 1; /* A run of datagrams has only one flow. */
    side->local = *local;
    side->remote = *remote;
}

static void given_up(struct ttcp_side *d, const struct scps_conn *c)
{
    size_t n = c != NULL ? scps_conn_given_up(c, NULL, 0) : 0;

    d->missing = d->info.bytes_given_up;
    free(d->holes);
    d->holes = n != 0 ? calloc(n, sizeof(*d->holes)) : NULL;
    d->n_holes = d->holes != NULL ? scps_conn_given_up(c, d->holes, n) : 0;
}

void ttcp_result_sender(struct ttcp_result *r, const struct ttcp_sender *s, struct scps_stack *st,
                        scps_time t0)
{
    if (r->opt->udp) {
        struct scps_endpoint local, remote;

        scps_dgram_local(s->d.dgram, &local);
        scps_dgram_remote(s->d.dgram, &remote);
        dgram_side(&r->tx, &local, &remote, st);
    } else {
        side(&r->tx, s->conn, st);
    }
    r->udp.sent = s->d.sent;
    r->tx.bytes = s->written;
    r->tx.calls = s->in->calls;
    r->tx.touched = s->in->touched;
    r->total = s->in->total;
    r->tx.echo = s->echo;
    given_up(&r->tx, s->conn);
    r->connect = since(s->connect, t0);
    r->enqueued = since(s->enqueued, t0);
    r->acked = since(s->acked_at, t0);
    r->closed = since(s->closed_at, t0);
    r->acked_bytes = r->opt->conn.bets && s->conn != NULL ? r->tx.info.bytes_acked : s->acked;
}

static void datagrams(struct ttcp_result *r, const struct ttcp_drecv *d)
{
    struct ttcp_figures *u = &r->udp;

    u->expected = r->has_tx ? u->sent : ttcp_dgram_expected(d);
    u->arrived = d->packets;
    u->out_of_order = d->out_of_order;
    u->duplicates = d->duplicates;
    u->jitter = d->jitter;
    u->guards = d->guards;
    u->numbered = d->numbered;
    u->timed = d->timed;
}

void ttcp_result_receiver(struct ttcp_result *r, const struct ttcp_receiver *rcv,
                          struct scps_stack *st, scps_time t0)
{
    if (r->opt->udp)
        dgram_side(&r->rx, &rcv->d.own, &rcv->d.peer, st);
    else
        side(&r->rx, rcv->conn, st);
    datagrams(r, &rcv->d);
    if (rcv->opened != TTCP_NOT_YET && rcv->delivered != TTCP_NOT_YET)
        r->heard = (rcv->ended > rcv->delivered ? rcv->ended : rcv->delivered) - rcv->opened;
    r->rx.bytes = rcv->received;
    r->rx.calls = rcv->out->calls;
    r->rx.touched = rcv->out->touched;
    r->rx.holes = rcv->holes;
    r->rx.n_holes = rcv->n_holes;
    r->rx.missing = rcv->missing;
    r->rx.records = rcv->records;
    r->rx.torn = rcv->torn;
    r->rx.record_min = rcv->record_min;
    r->rx.record_max = rcv->record_max;
    r->first_byte = since(rcv->first, t0);
    r->delivered = since(rcv->delivered, t0);
}

void ttcp_result_told(struct ttcp_result *r, const struct ttcp_sender *s)
{
    r->receipt = s->receipt;
    r->unasked = s->receipt.there ? 0 : s->unasked;
    r->receipt_intact = s->receipt.there && s->receipt.missing == 0 &&
                        s->receipt.bytes == s->digest.bytes &&
                        s->receipt.sum == ttcp_digest_value(&s->digest);
    if (r->receipt.there && r->receipt.missing == 0 && !r->receipt_intact &&
        r->outcome == TTCP_DONE)
        ttcp_result_fail(r, TTCP_FAILED,
                         "what arrived is not what was sent, says the receiver: it read %" PRIu64
                         " bytes of %" PRIu64 " with another checksum: report this",
                         r->receipt.bytes, s->digest.bytes);
}

int ttcp_exit_status(enum ttcp_outcome o)
{
    switch (o) {
    case TTCP_DONE:
        return 0;
    case TTCP_FAILED:
        return 1;
    case TTCP_PARTIAL:
    case TTCP_INTERRUPTED:
        return 3;
    case TTCP_LACKING:
        return 4;
    case TTCP_TIMED_OUT:
        return 124;
    }
    return 1;
}

const char *ttcp_outcome_name(enum ttcp_outcome o)
{
    switch (o) {
    case TTCP_DONE:
        return "done";
    case TTCP_FAILED:
        return "failed";
    case TTCP_PARTIAL:
        return "partial";
    case TTCP_INTERRUPTED:
        return "interrupted";
    case TTCP_TIMED_OUT:
        return "timeout";
    case TTCP_LACKING:
        return "lacking";
    }
    return "?";
}

scps_dur ttcp_sent_time(const struct ttcp_result *r)
{
    return r->closed != TTCP_NOT_YET ? r->closed : r->elapsed;
}

scps_dur ttcp_received_time(const struct ttcp_result *r)
{
    scps_dur t = r->receipt.there           ? r->receipt.us
                 : r->opt->udp && r->has_rx ? r->heard
                 : r->has_rx                ? r->delivered
                                            : r->acked;

    return t != TTCP_NOT_YET ? t : r->elapsed;
}

uint64_t ttcp_received_bytes(const struct ttcp_result *r)
{
    return r->has_rx ? r->rx.bytes : r->receipt.there ? r->receipt.bytes : r->acked_bytes;
}
