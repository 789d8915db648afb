/* SPDX-License-Identifier: MIT */
/* Receives the datagrams of option -u, and determines how many of them have arrived and are lost,
 * and with what jitter.
 *
 * The sender sends guard datagrams, which are short: one before the data starts the receiver's
 * clock; four behind the data stop the clock and report how many data datagrams were sent. Lost
 * datagrams are those that were sent, by this number or else by the highest datagram number
 * received, and have not arrived. A datagram that arrives after a later one is out of order; one
 * that arrives again is a duplicate. Jitter is RFC 3550's (RFC 1889's) estimate from the times in
 * the datagrams, in integers as in its appendix A.8.
 *
 * The run ends when all four guard datagrams behind the data have arrived, or half a second after
 * the first of them, so that datagrams that arrive out of order still count; without a guard
 * datagram behind the data, ten seconds after the last datagram.
 */
#include "scps_ttcp/transfer.h"

#include <scps/error.h>
#include <scps/traffic.h>

#include <stdlib.h>
#include <string.h>

int ttcp_dgram_receive_start(struct ttcp_receiver *r, struct ttcp_output *out,
                             struct scps_stack *st, const struct scps_endpoint *at)
{
    struct scps_dgram_config cfg = scps_dgram_config_default();
    int err = SCPS_ERR_NOMEM;

    ttcp_receiver_wait(r, out);
    r->d.next = SCPS_NEVER;
    cfg.rcvbuf = out->opt->buffer != 0 ? out->opt->buffer : 1u << 20;
    r->d.buf = malloc(TTCP_DGRAM);
    if (r->d.buf != NULL)
        r->d.dgram = scps_dgram_open(st, &cfg, at, &err);
    return r->d.dgram != NULL ? 0 : err;
}

void ttcp_dgram_receive_fini(struct ttcp_receiver *r)
{
    free(r->d.buf);
    r->d.buf = NULL;
}

uint64_t ttcp_dgram_expected(const struct ttcp_drecv *d)
{
    uint64_t n = d->guards > 0 && d->ours ? d->sent_by_peer : d->numbered ? d->highest : 0;

    return n != 0 && n < d->packets ? d->packets : n;
}

/* ---- functions that process one datagram ---- */

static uint64_t *word_of(struct ttcp_drecv *d, uint64_t number)
{
    return &d->seen[number % TTCP_WINDOW / 64];
}

/* Records that the datagram with number n has arrived, and counts it if it is out of order. Returns
 * true if it had arrived before. */
static bool again(struct ttcp_drecv *d, uint64_t n)
{
    uint64_t bit = UINT64_C(1) << n % 64;
    bool was;

    if (n > d->highest) {
        if (n - d->highest >= TTCP_WINDOW)
            memset(d->seen, 0, sizeof(d->seen));
        else
            for (uint64_t k = d->highest + 1; k <= n; k++)
                *word_of(d, k) &= ~(UINT64_C(1) << k % 64);
        d->highest = n;
        /* The number is TTCP_WINDOW or more below the highest one received, so the receiver no
         * longer knows whether this datagram had arrived before. It counts as out of order, not as
         * a duplicate. */
    } else if (d->highest - n >= TTCP_WINDOW) {
        d->out_of_order++;
        return false;
    } else if (!(*word_of(d, n) & bit)) {
        d->out_of_order++;
    }
    was = *word_of(d, n) & bit;
    *word_of(d, n) |= bit;
    return was;
}

static void take_time(struct ttcp_drecv *d, uint64_t sent, scps_time at)
{
    int64_t transit = (int64_t)((uint64_t)at - sent), change = transit - d->transit;

    if (d->timed)
        d->jitter += (uint64_t)(change < 0 ? -change : change) - ((d->jitter + 8) >> 4);
    d->timed = true;
    d->transit = transit;
}

/* Returns true if the sender has sent a datagram with checksum sum (s has the checksums of all of
 * them). The search begins behind the checksum that the last call found, and continues from the
 * start of the list. */
static bool known(struct ttcp_sums *s, uint64_t sum)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t at = (s->at + i) % s->n;

        if (s->v[at] == sum) {
            s->at = at + 1;
            return true;
        }
    }
    return false;
}

static bool as_sent(const struct ttcp_receiver *r, const uint8_t *p, size_t len, uint64_t number)
{
    const struct ttcp_options *o = r->out->opt;

    if (r->d.sums == NULL || o->hollow)
        return true;
    if (!o->pattern)
        return known(r->d.sums, ttcp_sum(p, len));
    if (number == 0)
        return o->length < TTCP_STAMP && len == o->length;
    return len == o->length && scps_pattern_check(p + TTCP_STAMP, len - TTCP_STAMP,
                                                  (number - 1) * o->length + TTCP_STAMP);
}

static void take_guard(struct ttcp_receiver *r, const uint8_t *p, size_t len, scps_time at)
{
    struct ttcp_drecv *d = &r->d;
    bool first = len == TTCP_GUARD && memcmp(p, "scps", TTCP_GUARD) == 0;

    d->ours |= first;
    if (!d->begun) {
        d->begun = true;
        r->opened = at;
        /* The sender sends guard datagrams (short ones): one before the data starts the receiver's
         * clock; those behind the data stop the clock. The guard datagram before the data contains
         * "scps" (first is true). The network may duplicate it, so a guard datagram with this
         * content never stops the clock. */
    } else if (!first) {
        if (d->guards++ == 0)
            r->ended = at;
        if (len == TTCP_GUARD)
            d->sent_by_peer = ttcp_get(p, TTCP_GUARD);
    }
}

static void take_datagram(struct ttcp_receiver *r, const uint8_t *p, size_t len, scps_time at)
{
    struct ttcp_drecv *d = &r->d;
    uint64_t number = 0;

    d->last = at;
    if (len <= TTCP_GUARD) {
        take_guard(r, p, len, at);
        return;
    }
    if (!d->begun) {
        d->begun = true;
        r->opened = at;
    }
    if (r->first == TTCP_NOT_YET)
        r->first = at;
    r->delivered = at;
    if (len >= TTCP_STAMP && memcmp(p, "scpsttcp", 8) == 0)
        number = ttcp_get(p + 8, 8);
    if (!as_sent(r, p, len, number))
        d->differs = true;
    if (number != 0) {
        d->numbered = d->ours = true;
        take_time(d, ttcp_get(p + 16, 8), at);
        if (again(d, number)) {
            d->duplicates++;
            return;
        }
    }
    d->packets++;
    r->received += len;
    d->rest = p;
    d->rest_len = len;
}

/* ---- functions that write out the datagrams and detect the end of the run ---- */

/* Writes as much of the last received datagram to the output as the output accepts. Returns true
 * when all is written, false after an error or while the output accepts no more. */
static bool passed_on(struct ttcp_receiver *r)
{
    struct ttcp_drecv *d = &r->d;
    int err;

    for (;;) {
        size_t room;
        uint8_t *at;

        err = ttcp_output_flush(r->out, false);
        if (err != 0 || d->rest_len == 0)
            break;
        at = ttcp_output_room(r->out, &room);
        if (room > d->rest_len)
            room = d->rest_len;
        if (at != NULL)
            memcpy(at, d->rest, room);
        ttcp_output_took(r->out, room);
        d->rest += room;
        d->rest_len -= room;
    }
    if (err == SCPS_ERR_AGAIN) {
        r->waiting = true;
    } else if (err != 0) {
        r->err = SCPS_ERR_SYSTEM;
        r->out_failed = true;
    }
    return err == 0;
}

/* Called when all datagrams that arrived are read: ends the run if all TTCP_GUARDS guard datagrams
 * behind the data have arrived, or TTCP_STRAGGLE µs after the first of them, or, if none of them
 * has arrived, TTCP_SILENCE µs after the last datagram. Otherwise sets d->next to the time, µs, at
 * which to check again. */
static void see_end(struct ttcp_receiver *r, scps_time now)
{
    struct ttcp_drecv *d = &r->d;
    scps_time due;

    if (!d->begun)
        return;
    due = d->guards > 0 ? r->ended + TTCP_STRAGGLE : d->last + TTCP_SILENCE;
    if (d->guards < TTCP_GUARDS && now < due) {
        d->next = due;
        return;
    }
    d->next = SCPS_NEVER;
    d->silent = d->guards == 0;
    if (ttcp_output_flush(r->out, true) == SCPS_ERR_AGAIN) {
        r->waiting = true;
        return;
    }
    r->eof = r->over = true;
}

void ttcp_dgram_receive_run(struct ttcp_receiver *r, scps_time now)
{
    struct ttcp_drecv *d = &r->d;
    struct scps_dgram_from from;

    r->waiting = false;
    while (!r->eof && r->err == 0) {
        int64_t n;

        if (!passed_on(r))
            return;
        n = scps_dgram_recv(d->dgram, d->buf, TTCP_DGRAM, 0, &from);
        if (n < 0)
            break;
        if (!d->begun) {
            scps_dgram_local(d->dgram, &d->own);
            d->own.addr = from.local;
            d->peer = from.remote;
        }
        take_datagram(r, d->buf, (size_t)n, from.at);
    }
    if (!r->eof && r->err == 0)
        see_end(r, now);
}
