/* SPDX-License-Identifier: MIT */
/* A model of one unicast file transfer at a fixed rate with negative acknowledgements, over the
 * same channel as TCP. In a pass the sender sends every packet that, as far as it knows, the
 * receiver misses, then a flush: a packet that asks the receiver for a NACK.
 *
 *     sender    pass: what is missing, at the set rate | flush |      | pass: what the NACK lists
 *     receiver                                          wait, NACK of all missing --> none: over
 *
 * As in the measurements in NASA/TM-2003-212001, the time runs from the first data packet to the
 * first empty NACK, without a handshake. The end of that time is when the receiver sends the empty
 * NACK, not when the sender gets it: the times printed there contain no round trip. A flush or a
 * NACK that is lost is repeated.
 *
 * The receiving host is a processor that needs two steps for each packet: an interrupt for every
 * packet that arrives, and the program's work for packets that find room in the socket's buffer.
 * Both together give receiver-rate; receiver-interrupts is the share of the first step. Above that
 * rate, interrupts for packets that are then dropped take the time for the others (receive
 * livelock), which is how MDP in NASA/TM-2003-212001 falls by more than half from 40 to 45 Mbit/s.
 *
 * The model is one of MDP (Multicast Dissemination Protocol) without parity and of MFTP (Multicast
 * File Transfer Protocol) to one receiver. Their timers are replaced by one wait drawn from
 * nack-wait (for the last NACK: done-wait); their repair within blocks during a pass, congestion
 * control and group management are left out.
 */
#include "scps_lab/model.h"

#include "common/seed.h"

#include <stdlib.h>
#include <string.h>

/* size, bytes, of a flush (the sender's packet that asks for a NACK), and of a NACK that lists no
 * missing packet */
#define CONTROL 40
/* number of bytes of a packet that are stored: IP and UDP headers, in which the model stores the
 * packet's number; the other bytes are only counted */
#define HEADERS 28
#define NACKED  1400

struct model {
    const struct lab_flow *f;
    struct lab_outcome *out;
    /* the two directions of the simulated link: [0] carries the sender's data packets and flushes
     * (the packets that ask for a NACK), [1] carries the receiver's NACKs */
    struct scps_channel *ch[2];
    scps_time now, timeout;
    uint32_t packets, payload, missing;
    uint8_t *have;
    /* state of the receiving host's processor */
    /* processing time, µs, that the receiving host still had to spend at the time `worked` */
    double work;
    scps_time worked;
    uint64_t seed, drawn;
    /* flushed: a flush (the packet that ends a pass and asks for a NACK) has arrived at the
     * receiver; nacked: a NACK has arrived at the sender */
    bool flushed, nacked;
    bool done; /* true: a NACK without holes was sent, which ends the time of the transfer */
};

static bool offer(struct model *m, int dir, uint32_t number, uint32_t payload)
{
    uint8_t head[HEADERS] = {0x45};
    struct scps_pkt p = {.data = head, .len = sizeof head, .cap = sizeof head, .at = m->now};

    memcpy(head + 4, &number, sizeof number);
    p.payload_len = payload;
    return scps_channel_offer(m->ch[dir], m->now, &p) == 0;
}

/* Called when data packet `number` arrives at the receiving host at time `at`, µs: drops the packet
 * if the socket buffer is full, otherwise records it as received. */
static void receive(struct model *m, scps_time at, uint32_t number)
{
    const struct lab_flow *f = m->f;
    double each = 0, share = f->receiver_interrupts;

    if (f->receiver_bps != 0) {
        each = (m->payload + f->headers) * 8e6 / (double)f->receiver_bps;
        m->work -= (double)(at - m->worked);
        m->work = (m->work > 0 ? m->work : 0) + share * each;
        m->worked = at;
        /* The socket buffer is full, so the packet is dropped and costs only the time of the
         * interrupt. */
        if (m->work > (double)f->receiver_buffer / m->payload * each)
            return;
        m->work += (1 - share) * each;
    }
    if (!m->have[number]) {
        if (m->out->bytes == 0)
            m->out->start = at;
        m->have[number] = 1;
        m->missing--;
        m->out->bytes += m->payload;
    }
}

/* Advances virtual time to `until`, µs, and processes the packets that arrive at either end until
 * then. */
static void pass_time(struct model *m, scps_time until)
{
    for (;;) {
        scps_time a = scps_channel_next(m->ch[0]), b = scps_channel_next(m->ch[1]);
        scps_time next = a < b ? a : b;
        int dir = a <= b ? 0 : 1;
        struct scps_pkt p;
        uint32_t number;

        if (next > until)
            break;
        m->now = next > m->now ? next : m->now;
        while (scps_channel_peek(m->ch[dir], m->now, &p)) {
            memcpy(&number, p.data + 4, sizeof number);
            scps_channel_pop(m->ch[dir]);
            if (dir == 1)
                m->nacked = true;
            else if (number == UINT32_MAX)
                m->flushed = true;
            else
                receive(m, m->now, number);
        }
    }
    m->now = until;
}

/* Returns the time, µs, at which the sender sends data packet number n (from 0) of a pass that
 * begins at `start`, at the flow's rate. A pass is one sending of all packets that, as far as the
 * sender knows, the receiver misses. The time is computed from the start of the pass, so fractions
 * of a microsecond do not add up. */
static scps_time nth(const struct model *m, scps_time start, uint64_t n)
{
    return start + (scps_time)((double)n * (m->payload + m->f->headers) * 8e6 /
                               (double)(m->f->conn.rate * 8));
}

/* Sends one pass, at the flow's rate: each data packet n with wanted[n] == 0. A value of 1 means
 * that packet n has arrived, so it is not sent. */
static void send_pass(struct model *m, const uint8_t *wanted)
{
    scps_time start = m->now;
    uint64_t sent = 0;

    for (uint32_t i = 0; i < m->packets && m->now < m->timeout; i++) {
        if (wanted[i])
            continue;
        pass_time(m, nth(m, start, sent++));
        offer(m, 0, i, m->payload + m->f->headers - m->f->conn.rate_overhead - HEADERS);
        m->out->info.data_segs_out++;
    }
    pass_time(m, nth(m, start, sent));
}

/* Called at the end of a pass, when the sender has sent every packet that, as far as it knows, the
 * receiver misses. Sends a flush, the packet that asks for a NACK, lets the receiver wait and send
 * the NACK, and repeats all this until a NACK arrives at the sender or the timeout of the scenario
 * has passed. The sender resends the packets that the NACK lists in the next pass. */
static void ask_for_nack(struct model *m, scps_dur round_trip)
{
    for (m->nacked = false; !m->nacked && m->now < m->timeout;) {
        scps_time give_up = m->now + 2 * round_trip + SCPS_MS(100);

        m->flushed = false;
        offer(m, 0, UINT32_MAX, CONTROL - HEADERS);
        while (!m->flushed && m->now < give_up) {
            scps_time next = scps_channel_next(m->ch[0]);
            pass_time(m, next < give_up ? next : give_up);
        }
        if (m->flushed) {
            const struct lab_range *w = m->missing ? &m->f->nack_wait : &m->f->done_wait;
            uint64_t bits = m->missing / 8, span = (uint64_t)(w->hi - w->lo) + 1;
            pass_time(m, m->now + w->lo + (scps_dur)(seed_draw(m->seed, m->drawn++) % span));
            if (m->missing == 0 && !m->done) {
                m->done = true;
                m->out->end = m->now;
            }
            offer(m, 1, 0, CONTROL - HEADERS + (uint32_t)(bits < NACKED ? bits : NACKED));
            give_up = m->now + round_trip + SCPS_MS(100);
        }
        while (!m->nacked && m->now < give_up) {
            scps_time next = scps_channel_next(m->ch[1]);
            pass_time(m, next < give_up ? next : give_up);
        }
        if (!m->nacked)
            m->out->info.timeouts++;
    }
}

static void transfer(struct model *m, scps_dur round_trip)
{
    /* for each packet: 1 if the sender knows from NACKs that it has arrived */
    uint8_t *reported = lab_alloc(m->packets);

    do {
        send_pass(m, reported);
        ask_for_nack(m, round_trip);
        memcpy(reported, m->have, m->packets);
        m->out->info.recoveries++;
    } while (m->missing > 0 && m->now < m->timeout);
    free(reported);
}

bool lab_model(const struct lab_setup *s, const uint64_t seed[3], struct lab_watch *w,
               struct lab_result *r)
{
    const struct lab_link *l = &s->link[s->flow->link];
    struct scps_link_config cfg[2] = {s->flow->back ? l->back : l->fwd,
                                      s->flow->back ? l->fwd : l->back};
    struct model m = {.f = s->flow, .out = r->flow, .timeout = s->timeout, .seed = seed[2]};
    bool ok;

    m.payload = s->flow->payload ? s->flow->payload : l->mtu - s->flow->headers;
    m.packets = (uint32_t)((s->flow->size + m.payload - 1) / m.payload);
    m.missing = m.packets;
    m.have = lab_alloc(m.packets);
    for (int d = 0; d < 2; d++) {
        cfg[d].seed = seed[d];
        m.ch[d] = scps_channel_new(&cfg[d], (uint64_t)d, NULL);
    }
    ok = m.ch[0] && m.ch[1];
    if (!ok)
        snprintf(w->msg, sizeof w->msg, "cannot set up the run: out of memory");
    if (ok) {
        struct lab_outcome *o = r->flow;
        o->flow = s->flow;
        snprintf(o->name, sizeof o->name, "%s", s->flow->name);
        transfer(&m, cfg[0].delay + cfg[1].delay);
        r->end = m.now;
        if (!m.done)
            o->end = m.now;
        /* The model counts full packets, but the last one may be shorter, so the sum is limited to
         * the size of the flow. */
        if (o->bytes > s->flow->size)
            o->bytes = s->flow->size;
        o->info.resent_segs = (uint32_t)(o->info.data_segs_out - m.packets);
        snprintf(o->status, sizeof o->status, m.done ? "ok" : "timeout");
        for (int d = 0; d < 2; d++)
            scps_channel_stats(m.ch[d], m.now, &r->link[s->flow->link][d ^ s->flow->back]);
    }
    for (int d = 0; d < 2; d++)
        if (m.ch[d])
            scps_channel_free(m.ch[d]);
    free(m.have);
    return ok;
}
