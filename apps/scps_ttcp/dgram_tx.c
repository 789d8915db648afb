/* SPDX-License-Identifier: MIT */
/* Sends datagrams (option -u).
 *
 * Datagrams have -l bytes each, except the last ones: the end of a file is divided so that no
 * datagram is so short that the receiver would take it for a guard datagram (one of 4 octets or
 * fewer, which ends the run). The send queue is short, so that the time in a datagram is close to
 * its departure.
 */
#include "scps_ttcp/transfer.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

#define SHORTEST (TTCP_GUARD + 1)
/* largest number of datagrams in the send queue in real time, where the kernel may wake the process
 * late; in virtual time it is 2 */
#define QUEUED 16u

uint64_t ttcp_sum(const uint8_t *p, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ len; /* the offset basis of the hash FNV-1a */

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static int remember(struct ttcp_sums *s, uint64_t sum)
{
    if (s->n == s->cap) {
        size_t cap = s->cap != 0 ? 2 * s->cap : 1024;
        uint64_t *v = realloc(s->v, cap * sizeof(*v));

        if (v == NULL)
            return SCPS_ERR_NOMEM;
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = sum;
    return 0;
}

int ttcp_dgram_send_start(struct ttcp_sender *s, struct ttcp_input *in, struct scps_stack *st,
                          const struct scps_endpoint *own, const struct scps_endpoint *to,
                          scps_time now)
{
    struct scps_dgram_config cfg = scps_dgram_config_default();
    const struct ttcp_options *o = in->opt;
    int err;

    ttcp_sender_start(s, NULL, in, now);
    s->d.next = SCPS_NEVER;
    s->d.left = now;
    cfg.tos = o->conn.tos;
    cfg.sndbuf = (uint32_t)(o->length + 48) * (o->link ? 2 : QUEUED);
    s->d.buf = malloc(2 * o->length + SHORTEST);
    if (s->d.buf == NULL)
        return SCPS_ERR_NOMEM;
    s->d.dgram = scps_dgram_open(st, &cfg, own, &err);
    if (s->d.dgram == NULL)
        return err;
    err = scps_dgram_connect(s->d.dgram, to);
    if (err == 0 && scps_dgram_room(s->d.dgram, NULL) < o->length)
        err = SCPS_ERR_MSGSIZE;
    s->connected = err == 0;
    return err;
}

void ttcp_dgram_send_fini(struct ttcp_sender *s)
{
    free(s->d.buf);
    s->d.buf = NULL;
}

static void failed(struct ttcp_sender *s, int err, bool of_input)
{
    if (s->err == 0) {
        s->err = err;
        s->in_failed = of_input;
    }
}

/* Reads input into d->buf until it contains more bytes than one full datagram takes, or the input
 * ends. Returns 0, or the error of the input. */
static int gather(struct ttcp_sender *s)
{
    struct ttcp_dsend *d = &s->d;
    const struct ttcp_options *o = s->in->opt;
    const size_t enough = o->pattern ? o->length : o->length + SHORTEST;

    while (!d->last && d->have < enough) {
        const uint8_t *data;
        int64_t n = ttcp_input_next(s->in, &data);

        if (n < 0)
            return (int)n;
        d->last = n == 0;
        if (n > 0 && !o->hollow)
            memcpy(d->buf + d->have, data, (size_t)n);
        d->have += (size_t)n;
    }
    return 0;
}

/* Returns how many of the bytes in d->buf the next datagram gets; 0: no input is left. */
static size_t cut(const struct ttcp_dsend *d, const struct ttcp_options *o)
{
    if (d->have <= o->length)
        return d->have;
    if (d->have - o->length >= SHORTEST || o->pattern || !d->last)
        return o->length;
    /* The bytes that remain behind a full datagram would be too few for a datagram of their own,
     * which must be longer than a guard datagram. So this datagram takes all bytes, or leaves
     * SHORTEST of them for the last datagram. */
    return o->length < 2 * SHORTEST ? d->have : d->have - SHORTEST;
}

static int send_one(struct ttcp_sender *s, scps_time now)
{
    struct ttcp_dsend *d = &s->d;
    const struct ttcp_options *o = s->in->opt;
    bool stamp = o->pattern && d->len >= TTCP_STAMP;
    size_t real = !o->hollow ? d->len : stamp ? TTCP_STAMP : 0;

    if (stamp) {
        memcpy(d->buf, "scpsttcp", 8);
        ttcp_put(d->buf + 8, 8, d->sent + 1);
        ttcp_put(d->buf + 16, 8, (uint64_t)now);
    }
    return scps_dgram_send(d->dgram, NULL, d->buf, real, d->len - real);
}

static void send_data(struct ttcp_sender *s, scps_time now)
{
    struct ttcp_dsend *d = &s->d;
    uint64_t begin = s->written;

    while (!s->finished && s->err == 0) {
        int err;

        if (s->at_once != 0 && s->written - begin >= s->at_once) {
            s->more = true;
            return;
        }
        if (d->len == 0) {
            err = gather(s);
            s->waiting = err == SCPS_ERR_AGAIN;
            if (err != 0 && !s->waiting)
                failed(s, err, true);
            if (err != 0)
                return;
            d->len = cut(d, s->in->opt);
            s->finished = d->len == 0;
            if (s->finished)
                return;
            if (d->len < SHORTEST) { /* The whole input is shorter than the smallest datagram. */
                s->too_short = true;
                failed(s, SCPS_ERR_INVAL, false);
                return;
            }
        }
        err = send_one(s, now);
        if (err == SCPS_ERR_AGAIN)
            return;
        if (err != 0) {
            failed(s, err, false);
            return;
        }
        if (d->sums != NULL && !s->in->opt->pattern &&
            remember(d->sums, ttcp_sum(d->buf, d->len)) != 0)
            failed(s, SCPS_ERR_NOMEM, true);
        d->sent++;
        s->written += d->len;
        s->enqueued = now;
        d->have -= d->len;
        if (!s->in->opt->hollow)
            memmove(d->buf, d->buf + d->len, d->have);
        d->len = 0;
    }
}

/* Sends a guard datagram behind the data (a short one that stops the receiver's clock), unless it
 * is too early or all TTCP_GUARDS were sent, and sets the time at which the next one is sent. */
static void send_guard(struct ttcp_sender *s, scps_time now)
{
    struct ttcp_dsend *d = &s->d;
    uint8_t count[TTCP_GUARD];

    ttcp_put(count, TTCP_GUARD, d->sent);
    if (now < d->next || d->guards == TTCP_GUARDS)
        return;
    if (scps_dgram_send(d->dgram, NULL, count, sizeof(count), 0) == 0)
        d->guards++;
    d->next = now + TTCP_APART;
}

void ttcp_dgram_send_run(struct ttcp_sender *s, scps_time now)
{
    struct ttcp_dsend *d = &s->d;

    s->waiting = s->more = false;
    if (s->err != 0 || s->closed)
        return;
    if (!d->started) {
        d->started = true;
        scps_dgram_send(d->dgram, NULL, "scps", TTCP_GUARD, 0);
    }
    send_data(s, now);
    if (!s->finished || s->err != 0 || (d->guards == 0 && scps_dgram_unsent(d->dgram) != 0))
        return;
    if (d->guards == 0) {
        /* UDP has no acknowledgements. In the report, all data counts as acknowledged at the time
         * at which the last datagram was sent. */
        s->acked = s->written;
        s->acked_at = s->closed_at = d->left;
        d->next = now;
    }
    send_guard(s, now);
    if (d->guards == TTCP_GUARDS && scps_dgram_unsent(d->dgram) == 0) {
        s->closed = s->over = true;
        d->next = SCPS_NEVER;
    }
}

void ttcp_dgram_send_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now)
{
    struct scps_dgram_stats st;
    int err;

    if (ev->kind == SCPS_EV_ERROR) {
        err = scps_dgram_error(s->d.dgram, NULL, NULL);
        /* The sender sends several guard datagrams (short ones that mark the end of the data) in
         * case some are lost. When the first of these arrives, the receiver may close its port, and
         * then answers the second by ICMP port unreachable. So an ICMP error is no failure once
         * this sender has sent two guard datagrams behind the data. */
        if (!s->finished || s->d.guards <= 1)
            failed(s, err, false);
        return;
    }
    if (!s->finished) {
        scps_dgram_get_stats(s->d.dgram, &st);
        s->acked = st.out_bytes > TTCP_GUARD ? st.out_bytes - TTCP_GUARD : 0;
        s->acked_at = now;
    }
    if (ev->kind == SCPS_EV_DRAINED)
        s->d.left = now;
    ttcp_dgram_send_run(s, now);
}
