/* SPDX-License-Identifier: MIT */
/* The sender and receiver of ttcp as state machines: they run when the connection has room or data.
 *
 *   input -> block -> write ...... read -> block -> output
 *                       |            |
 *                enqueued  acked  delivered         three times, three counts
 *
 * They are not the bulk source and sink of <scps/traffic.h> because ttcp needs more: blocks of -l
 * bytes at addresses that -A and -O choose, input and output that may not be ready, and a
 * comparison of the bytes on arrival.
 *
 * With -u they call the functions of dgram_tx.c and dgram_rx.c.
 *
 * No event says exactly when the last data byte was acknowledged, so the time is taken from the
 * stack's observer (SCPS_NOTE_ACKED).
 */
#include "scps_ttcp/transfer.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

/* Returns the time at which the SYN of connection c was sent or arrived, µs. A connection made from
 * a SYN cookie does not know that time; for it returns now. */
static scps_time opened(const struct scps_conn *c, scps_time now)
{
    struct scps_info i;

    scps_conn_info(c, &i);
    return i.opened != 0 ? i.opened : now;
}

/* ---- functions of the sender of a stream ---- */

void ttcp_sender_start(struct ttcp_sender *s, struct scps_conn *c, struct ttcp_input *in,
                       scps_time now)
{
    memset(s, 0, sizeof(*s));
    s->conn = c;
    s->in = in;
    s->syn = now;
    s->connect = s->enqueued = s->acked_at = s->closed_at = TTCP_NOT_YET;
}

void ttcp_sender_wait(struct ttcp_sender *s, struct ttcp_input *in)
{
    ttcp_sender_start(s, NULL, in, TTCP_NOT_YET);
}

static void sender_failed(struct ttcp_sender *s, int err, bool of_input)
{
    if (s->err == 0) {
        s->err = err;
        s->in_failed = of_input;
    }
}

/* Returns how many of the rest_len bytes at s->rest may be written at once, because they belong to
 * one record. Sets *flags to SCPS_EOR if they end the record, otherwise to 0. */
static size_t one_record(const struct ttcp_sender *s, unsigned *flags)
{
    const struct ttcp_options *o = s->in->opt;
    uint64_t left = s->rest_len;

    *flags = 0;
    if (!o->conn.records)
        return s->rest_len;
    if (o->record_size != 0)
        left = o->record_size - s->written % o->record_size;
    if (left <= s->rest_len || s->written + s->rest_len == s->in->total)
        *flags = SCPS_EOR;
    return left < s->rest_len ? (size_t)left : s->rest_len;
}

void ttcp_sender_run(struct ttcp_sender *s, scps_time now)
{
    uint64_t begin = s->written;

    if (s->d.dgram != NULL) {
        ttcp_dgram_send_run(s, now);
        return;
    }
    s->waiting = s->more = false;
    while (s->connected && !s->finished && s->err == 0) {
        unsigned flags;
        size_t len;
        int64_t n;

        if (s->at_once != 0 && s->written - begin >= s->at_once) {
            s->more = true;
            return;
        }
        if (s->rest_len == 0) {
            if (ttcp_echo_waits(&s->echo))
                return;
            n = ttcp_input_next(s->in, &s->rest);
            if (n == SCPS_ERR_AGAIN) {
                s->waiting = true;
                return;
            }
            if (n < 0) {
                sender_failed(s, (int)n, true);
                return;
            }
            if (n == 0) {
                s->finished = true;
                scps_conn_shutdown(s->conn);
                return;
            }
            s->rest_len = (size_t)n;
            if (s->in->opt->echo)
                ttcp_echo_begin(&s->echo, s->in->opt->hollow ? NULL : s->rest, s->rest_len, now);
        }
        len = one_record(s, &flags);
        n = scps_conn_write(s->conn, s->rest, len, flags);
        /* The send buffer has no space, or there is no memory. SCPS_EV_WRITABLE will come. */
        if (n == SCPS_ERR_AGAIN || n == SCPS_ERR_NOMEM)
            return;
        if (n < 0) {
            sender_failed(s, (int)n, false);
            return;
        }
        if (s->sums)
            ttcp_digest_add(&s->digest, s->rest, (size_t)n);
        s->written += (uint64_t)n;
        s->enqueued = now;
        s->rest_len -= (size_t)n;
        if (s->rest != NULL)
            s->rest += n;
    }
}

static void sender_check_fin(struct ttcp_sender *s)
{
    struct scps_info i;

    if (s->closed || !s->finished)
        return;
    scps_conn_info(s->conn, &i);
    if (i.fin_acked != 0) {
        s->closed = true;
        s->closed_at = i.fin_acked;
    }
}

/* Reads what the receiver sends back, and looks for its result (--tell) in the first line. Anything
 * else is skipped; it must be read, because only then the peer's FIN is reported. */
static void hear_result(struct ttcp_sender *s)
{
    char skipped[512];
    int64_t n;

    /* Reading from a hollow connection, which counts bytes without storing them, yields zeros. */
    if (s->in->opt->hollow) {
        while (scps_conn_read(s->conn, NULL, SIZE_MAX, 0) > 0)
            continue;
        return;
    }
    while ((n = scps_conn_read(s->conn, skipped, sizeof(skipped), 0)) > 0) {
        size_t room = sizeof(s->line) - 1 - s->line_len;

        s->unasked += (uint64_t)n;
        if ((size_t)n < room)
            room = (size_t)n;
        memcpy(s->line + s->line_len, skipped, room);
        s->line_len += room;
        s->line[s->line_len] = '\0';
        if (!s->receipt.there && memchr(s->line, '\n', s->line_len) != NULL)
            ttcp_receipt_parse(s->line, &s->receipt);
    }
}

/* Reads what the receiver sends back: with -e the echoes, otherwise at most its result. */
static void sender_read(struct ttcp_sender *s, scps_time now)
{
    int err;

    if (!s->in->opt->echo || s->finished) {
        hear_result(s);
        return;
    }
    err = ttcp_echo_read(&s->echo, s->conn, now);
    if (err != 0)
        sender_failed(s, err, false);
    ttcp_sender_run(s, now);
}

static void connected(struct ttcp_sender *s, scps_time now)
{
    s->connected = true;
    s->connect = now;
    ttcp_sender_run(s, now);
}

void ttcp_sender_accept(struct ttcp_sender *s, struct scps_conn *c, scps_time now)
{
    s->conn = c;
    s->syn = opened(c, now);
    ttcp_path_restore(&s->path, s->in->opt, c);
    connected(s, now);
    sender_check_fin(s);
}

void ttcp_sender_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now)
{
    if (ev->dgram != NULL) {
        ttcp_dgram_send_event(s, ev, now);
        return;
    }
    switch (ev->kind) {
    case SCPS_EV_CONNECTED:
        connected(s, now);
        break;
    case SCPS_EV_WRITABLE:
        ttcp_sender_run(s, now);
        break;
    case SCPS_EV_READABLE:
        if (!s->duplex)
            sender_read(s, now);
        break;
    case SCPS_EV_CLOSED:
        s->over = true;
        break;
    case SCPS_EV_ERROR:
        s->over = true;
        sender_failed(s, ev->err, false);
        break;
    default:
        break;
    }
    sender_check_fin(s);
}

void ttcp_sender_note(struct ttcp_sender *s, const struct scps_note *n)
{
    /* arg[0] is SND.UNA as an offset: the SYN is octet 0, and the FIN follows the last byte. */
    uint64_t acked = n->arg[0] > 0 ? n->arg[0] - 1 : 0;

    if (n->kind != SCPS_NOTE_ACKED)
        return;
    if (acked > s->written)
        acked = s->written;
    if (acked > s->acked) {
        s->acked = acked;
        s->acked_at = n->at;
    }
}

/* ---- functions of the receiver of a stream ---- */

void ttcp_receiver_wait(struct ttcp_receiver *r, struct ttcp_output *out)
{
    memset(r, 0, sizeof(*r));
    r->out = out;
    r->opened = r->first = r->delivered = r->ended = TTCP_NOT_YET;
}

void ttcp_receiver_accept(struct ttcp_receiver *r, struct scps_conn *c, scps_time now)
{
    r->conn = c;
    r->opened = opened(c, now);
    ttcp_receiver_run(r, now);
}

/* Called when writing to the output has failed: ends the transfer with an error. The caller then
 * resets the connection, so that the peer learns of the failure. */
static void output_failed(struct ttcp_receiver *r)
{
    r->err = SCPS_ERR_SYSTEM;
    r->out_failed = true;
}

static void end_record(struct ttcp_receiver *r, bool torn)
{
    if (torn) {
        r->torn++;
    } else {
        if (r->records == 0 || r->record < r->record_min)
            r->record_min = r->record;
        if (r->record > r->record_max)
            r->record_max = r->record;
        r->records++;
    }
    r->record = 0;
}

static void took(struct ttcp_receiver *r, size_t n)
{
    unsigned stop = scps_conn_record(r->conn);

    r->received += n;
    r->record += n;
    if (stop & SCPS_RECORD_END)
        end_record(r, stop & SCPS_RECORD_TORN);
}

/* Called when the next bytes of the stream did not arrive in time (best effort, -E): records the
 * range of missing bytes and skips it, so that the next read continues behind it. Does nothing if
 * these bytes have arrived meanwhile. */
static void over_hole(struct ttcp_receiver *r)
{
    struct scps_hole h;

    if (scps_conn_hole(r->conn, &h, 0) == 0)
        return;
    ttcp_output_gap(r->out, h.len);
    r->missing += h.len;
    if (r->n_holes == r->cap_holes) {
        size_t cap = r->cap_holes != 0 ? 2 * r->cap_holes : 64;
        struct scps_hole *more = realloc(r->holes, cap * sizeof(*more));

        /* Without memory the list of holes ends here, but the sum of missing bytes is still
         * counted. */
        if (more == NULL)
            return;
        r->holes = more;
        r->cap_holes = cap;
    }
    r->holes[r->n_holes++] = h;
}

/* With -e: writes back what was read. Returns true if nothing is left to be written back. */
static bool echoed(struct ttcp_receiver *r)
{
    while (r->echo_len > 0) {
        int64_t n = scps_conn_write(r->conn, r->echo, r->echo_len, 0);

        if (n < 0 && n != SCPS_ERR_AGAIN && n != SCPS_ERR_NOMEM)
            r->err = (int)n;
        if (n < 0)
            return false;
        r->echo_len -= (size_t)n;
        if (r->echo != NULL)
            r->echo += n;
    }
    return true;
}

/* Writes the received bytes that are in the buffer to the output. all: with -B, writes a block that
 * is not full, too. Returns true if the output has accepted everything; false if the receiver waits
 * until the output accepts more (r->waiting is true), or the output has failed. */
static bool flushed(struct ttcp_receiver *r, bool all)
{
    int err = ttcp_output_flush(r->out, all);

    if (err == SCPS_ERR_AGAIN)
        r->waiting = true;
    else if (err != 0)
        output_failed(r);
    return err == 0;
}

/* Called with --tell or --server when the receiver has read the whole stream of the peer: composes
 * in r->line the line with the result of the receiver (bytes, time, checksum), which the receiver
 * then sends back to the peer. */
static void compose_result(struct ttcp_receiver *r)
{
    struct scps_info i;
    struct ttcp_receipt t = {.bytes = r->received, .missing = r->missing};

    scps_conn_info(r->conn, &i);
    if (r->delivered != TTCP_NOT_YET)
        t.us = r->delivered - r->opened;
    t.segments = i.data_segs_in;
    t.out_of_order = i.ooo_segs;
    t.duplicate = i.bytes_duplicate;
    t.sum = ttcp_digest_value(&r->digest);
    r->line_len = ttcp_receipt_print(r->line, &t);
}

/* Sends the line with the receiver's result (--tell), then shuts the connection down for
 * sending. */
static void tell_result(struct ttcp_receiver *r)
{
    while (r->line_at < r->line_len) {
        int64_t n = scps_conn_write(r->conn, r->line + r->line_at, r->line_len - r->line_at, 0);

        /* The send buffer has no space, or there is no memory. SCPS_EV_WRITABLE will come. */
        if (n == SCPS_ERR_AGAIN || n == SCPS_ERR_NOMEM)
            return;
        /* If the connection has failed, the rest of the receiver's result is not sent. */
        if (n < 0) {
            r->line_at = r->line_len;
            return;
        }
        r->line_at += (size_t)n;
    }
    scps_conn_shutdown(r->conn);
}

/* Called at the end of the peer's stream: flushes the output, ends the last record and, if the
 * receiver sends a result, sends it. */
static void end_stream(struct ttcp_receiver *r)
{
    if (!flushed(r, true))
        return;
    r->eof = true;
    if (r->records != 0 && r->record != 0)
        end_record(r, scps_conn_record(r->conn) & SCPS_RECORD_TORN);
    if (r->duplex)
        return;
    if (r->out->opt->tell)
        compose_result(r);
    tell_result(r);
}

bool ttcp_receiver_done(const struct ttcp_receiver *r)
{
    return r->eof && r->line_at == r->line_len;
}

void ttcp_receiver_run(struct ttcp_receiver *r, scps_time now)
{
    if (r->d.dgram != NULL) {
        ttcp_dgram_receive_run(r, now);
        return;
    }
    r->waiting = false;
    if (r->eof && !ttcp_receiver_done(r))
        tell_result(r);
    while (r->conn != NULL && !r->eof && r->err == 0) {
        size_t room;
        uint8_t *at;
        int64_t n;

        /* No more is read now, because the next read would overwrite bytes that are not echoed
         * yet. */
        if (!echoed(r))
            return;
        if (!flushed(r, false))
            return;
        at = ttcp_output_room(r->out, &room);
        n = scps_conn_read(r->conn, at, room, 0);
        if (n == SCPS_ERR_AGAIN)
            return;
        if (n == SCPS_ERR_HOLE) {
            over_hole(r);
            continue;
        }
        /* The connection has failed. SCPS_EV_ERROR will follow, so nothing more is read here. */
        if (n < 0) {
            r->err = (int)n;
            ttcp_output_flush(r->out, true);
            return;
        }
        if (n == 0) {
            end_stream(r);
            return;
        }
        if (r->first == TTCP_NOT_YET) {
            r->first = now;
            r->result_came = at != NULL && ttcp_receipt_begins(at, (size_t)n);
        }
        r->delivered = now;
        took(r, (size_t)n);
        if (r->out->opt->tell && at != NULL)
            ttcp_digest_add(&r->digest, at, (size_t)n);
        ttcp_output_took(r->out, (size_t)n);
        if (r->out->opt->echo) {
            r->echo = at;
            r->echo_len = (size_t)n;
        }
    }
}

void ttcp_receiver_event(struct ttcp_receiver *r, const struct scps_event *ev, scps_time now)
{
    switch (ev->kind) {
    case SCPS_EV_READABLE:
    /* With -e, where this receiver writes back what it has read: the send buffer has room for more.
     * With --tell: it has room for the line with the result. */
    case SCPS_EV_WRITABLE:
    case SCPS_EV_HOLE:
    case SCPS_EV_PEER_CLOSED:
        ttcp_receiver_run(r, now);
        break;
    case SCPS_EV_CLOSED:
        r->over = true;
        break;
    /* Data that arrived before the error can still be read. */
    case SCPS_EV_ERROR:
        ttcp_receiver_run(r, now);
        r->over = true;
        if (r->err == 0 && !r->eof)
            r->err = ev->err;
        break;
    default:
        break;
    }
}
