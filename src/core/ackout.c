/* SPDX-License-Identifier: MIT */
/* When to acknowledge, and with what.
 *
 * Every mode acknowledges at once duplicates, a FIN, and a window that opens (RFC 9293 section
 * 3.8.6.3); all but the last below also what filled a hole (RFC 5681 section 4.2). Other data in
 * order:
 *
 *   SCPS_ACK_OTHER    more than one full segment not acknowledged, or the timer; the first
 *                     quick_acks segments each
 *   SCPS_ACK_EVERY    each segment
 *   SCPS_ACK_DELAYED the timer only (docs/SCPS-TP.md section 5.1: data beyond a hole waits for it,
 *   too, unless holes_at_once)
 *
 * Data beyond a hole is answered at once when it fills another (section 4.2, too), when the hole is
 * new and for the first OOO_ACKS_IMMEDIATE segments after it: the sender has its three duplicates
 * then. What
 * follows tells it only how much has left the network and, SACK being cumulative, is said as often
 * as for data in order; on a path of thousands of segments that halves the acknowledgements.
 * Without SACK the number of duplicates carries the information, so there each out-of-order segment
 * gets its own.
 *
 * More than one, so that a full segment and a short one count as two (RFC 5681 section 4.2 has at
 * most two full ones wait): they may be all that a window of two segments holds, as where a record
 * ends, and its sender then waits for the answer.
 *
 * "Now" means with the next output: segments that arrive in one batch, with no output between
 * them, are answered once: "if the TCP endpoint is processing a series of queued segments, it MUST
 * process them all before sending any ACK segments" (RFC 9293 section 3.10.7.4). Where stretch_acks
 * is off, what came in order is then acknowledged in the steps in which it would have been, had
 * each segment been answered by itself; what filled a hole, in one.
 *
 * Budget, for a thin return link: a bare acknowledgement leaves when two token buckets, of packets
 * and of bytes, have credit for it; until then what is owed gathers. It is filled in when it
 * leaves, so the one that leaves is the newest. The bucket of bytes holds credit for one: a second
 * acknowledgement in a row would wait behind the first on a line of that rate, and be old when it
 * arrives. Nothing is exempt: one that opens the window or answers a FIN waits its few
 * milliseconds, too. Those that ride on data, the handshake and resets cost nothing. So that each
 * says the most, holes are told in order, each once, before any is told again, by the bit vector of
 * a SNACK where the long form is agreed and by SACK blocks where it is not; one report in so many
 * begins with the first hole, which is what keeps the peer's window. Duplicates are not reported.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/fastpath.h"
#include "core/seq.h"
#include "wire/opt.h"

#define OOO_ACKS_IMMEDIATE 8
/* Strictly delayed mode: delays without new data after which open holes no longer keep the timer
 * running */
#define DELACK_MAX_IDLE 16
#define BURST           256 /* limit of acknowledgements in a row that report all holes */
/* Octets of an acknowledgement without data over IPv4 with timestamps: the byte bucket holds credit
 * for one */
#define BARE 52

/* under an ACK budget every so many reports start again at the first hole */
#define SNACK_RESTART_EVERY 16

static bool budgeted(const struct scps_conn_config *cfg, const struct scps_gate *route)
{
    return cfg->ack_budget || cfg->ack_budget_pps || (route && route->rate.rate);
}

/* Returns true in strictly delayed mode, where holes, too, wait for the timer. */
static bool strict(const struct scps_conn_config *cfg)
{
    return cfg->ack_mode == SCPS_ACK_DELAYED && !cfg->holes_at_once;
}

void scps_ackout_now(struct scps_conn *c)
{
    if (c->rx)
        c->rx->told_to = scps_receive_next(&c->rcv);
    scps_todo_add(&c->todo, SCPS_TODO_ACK);
    scps_conn_wake(c);
}

/* Nothing has come for some time although there is a hole. The timer stops for now; what comes next
 * is reported when the timer would have expired. */
static void stand_by(struct scps_rx *rx, scps_time now, scps_dur delay, scps_dur quiet)
{
    scps_dur left = DELACK_MAX_IDLE * delay - quiet;

    if (left <= 0)
        return;
    rx->tick = now;
    rx->ticks_end = now + (left + delay - 1) / delay * delay;
}

static scps_time next_tick(const struct scps_rx *rx, scps_time now, scps_dur delay)
{
    return now + delay - (rx && now < rx->ticks_end ? (now - rx->tick) % delay : 0);
}

void scps_ackout_timer(struct scps_conn *c)
{
    if (c->rx && strict(&c->ctx.cfg->c)) {
        scps_dur delay = c->ctx.cfg->c.ack_delay,
                 quiet = c->rx->data_at ? c->ctx.env->now - c->rx->data_at : 0;
        if (quiet > delay + delay / 4) {
            if (c->rcv.in.ooo->n)
                stand_by(c->rx, c->ctx.env->now, delay, quiet);
            return;
        }
        if (c->rcv.in.ooo->n)
            scps_timer_set(&c->ctx, &c->ack.timer, c->ctx.env->now + delay);
        /* Reports everything again, in as many segments as it takes; under a budget after what is
         * new. */
        if (budgeted(&c->ctx.cfg->c, c->turns->gate))
            c->rx->anew = true;
        else
            c->rx->snack_high = c->rx->sacked_to = 0;
    }
    scps_ackout_now(c);
}

/* Returns true for one of the first segments, each of which is acknowledged. */
static bool is_quick(uint16_t *quick, uint16_t most)
{
    if (*quick >= most)
        return false;
    ++*quick;
    return true;
}

void scps_ackout_data(struct scps_conn *c, bool at_once)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    uint32_t owed = (uint32_t)c->rcv.in.next - c->ack.acked_to;

    if (at_once && !strict(&c->ctx.cfg->c)) {
        if (!(c->agreed.opts & SCPS_AGREED_SACK) && c->todo.bits & SCPS_TODO_ACK &&
            c->ack.owed < UINT8_MAX && !budgeted(&c->ctx.cfg->c, c->turns->gate))
            c->ack.owed++;
        scps_ackout_now(c);
    } else if (cfg->ack_mode == SCPS_ACK_EVERY ||
               (cfg->ack_mode == SCPS_ACK_OTHER &&
                (owed > c->rcv.mss || is_quick(&c->ack.quick, cfg->quick_acks)))) {
        scps_todo_add(&c->todo, SCPS_TODO_ACK);
        scps_conn_wake(c);
    } else if (!scps_timer_runs(&c->ack.timer)) {
        scps_timer_set(&c->ctx, &c->ack.timer, next_tick(c->rx, c->ctx.env->now, cfg->ack_delay));
    }
}

void scps_ackout_beyond(struct scps_conn *c, scps_off from, uint32_t len, bool news)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    struct scps_rx *rx = c->rx;

    rx->waiting += len;
    if (from < SCPS_MAX(rx->sacked_to, rx->snack_high)) {
        rx->mended = from;
        if (!rx->mended_from || from < rx->mended_from)
            rx->mended_from = from;
    }
    if (!(c->agreed.opts & SCPS_AGREED_SACK) || strict(&c->ctx.cfg->c)) {
        scps_ackout_data(c, true);
    } else if (news || rx->dups < OOO_ACKS_IMMEDIATE || cfg->ack_mode == SCPS_ACK_EVERY ||
               rx->waiting > c->rcv.mss) {
        rx->dups++;
        scps_todo_add(&c->todo, SCPS_TODO_ACK);
        scps_conn_wake(c);
    } else if (!scps_timer_runs(&c->ack.timer)) {
        scps_timer_set(&c->ctx, &c->ack.timer, next_tick(c->rx, c->ctx.env->now, cfg->ack_delay));
    }
}

/* Returns the window field for the room that the buffer has. */
static inline uint64_t window_field(const struct scps_conn *c, scps_off next, unsigned scale)
{
    scps_off edge = scps_receive_edge(&c->rcv, c->ctx.cfg->c.rcvbuf, c->ack.announced);
    uint64_t gain, field;

    /* RFC 9293 section 3.8.6.2.2: the edge moves by a worthwhile amount or not at all */
    gain = edge - c->ack.announced;
    if (gain < c->rcv.mss && gain < c->ctx.cfg->c.rcvbuf / 2)
        edge = c->ack.announced;
    field = (edge > next ? edge - next : 0) >> scale;
    return SCPS_MIN(field, 65535);
}

/* Returns the window field of a segment that acknowledges everything before RCV.NXT. */
static uint16_t window(struct scps_conn *c, scps_off next, bool syn)
{
    unsigned scale = syn ? 0 : c->agreed.rcv_wscale; /* RFC 7323 section 2.2 */
    uint64_t field = window_field(c, next, scale);

    c->ack.announced = SCPS_MAX(c->ack.announced, next + (field << scale));
    c->ack.max_offered = (uint32_t)SCPS_MAX(c->ack.max_offered, field << scale);
    if (!field)
        c->ctx.st->zero_windows_out++;
    return (uint16_t)field;
}

static void add_block(struct scps_seg *seg, uint32_t irs, scps_off fin_at, scps_off from,
                      scps_off to)
{
    /* A FIN beyond the data takes a sequence number, too; otherwise the last segment would count as
     * missing. */
    if (fin_at && to == fin_at)
        to++;
    seg->sack[seg->nsack++] = (struct scps_sack){scps_seq_wrap(irs, from), scps_seq_wrap(irs, to)};
}

/* Returns true if the range that begins at `from` is among the blocks already. The first block may
 * be a DSACK. */
static bool told(uint32_t irs, bool dsack, const struct scps_seg *seg, scps_off from)
{
    for (unsigned i = dsack ? 1 : 0; i < seg->nsack; i++)
        if (seg->sack[i].left == scps_seq_wrap(irs, from))
            return true;
    return false;
}

/* Adds SACK blocks: the latest first, then those reported before (RFC 2018 section 4). once: some
 * may be there already. */
static void latest_blocks(struct scps_conn *c, struct scps_seg *seg, unsigned max, bool once)
{
    for (unsigned i = 0; i < SCPS_SACK_MAX && seg->nsack < max; i++) {
        const struct scps_range *r = &c->rx->recent[i];
        if (r->to > c->rcv.in.next && !(once && told(c->rcv.irs, c->rx->dsack_to != 0, seg,
                                                     r->from))) /* else delivered meanwhile */
            add_block(seg, c->rcv.irs, c->rx->fin_at, r->from, r->to);
    }
}

/* Adds the next SACK blocks in order, where one acknowledgement stands for hundreds of segments:
 * every range once, in as many acknowledgements as it takes. Returns true if more are not reported
 * yet. */
static SCPS_NOINLINE bool next_blocks(struct scps_conn *c, struct scps_seg *seg, unsigned max,
                                      bool thin)
{
    struct scps_rx *rx = c->rx;
    uint32_t i = scps_rangeset_find(c->rcv.in.ooo, rx->sacked_to);

    /* Otherwise the sender would take the retransmission for lost again. */
    if (rx->mended && thin) {
        uint32_t at = scps_rangeset_find(c->rcv.in.ooo, rx->mended);
        const struct scps_range *r = at < i ? scps_rangeset_at(c->rcv.in.ooo, at) : NULL;
        if (r && r->from <= rx->mended)
            add_block(seg, c->rcv.irs, c->rx->fin_at, r->from, r->to);
        rx->mended = 0;
    }
    for (; i < c->rcv.in.ooo->n; i++) {
        const struct scps_range *r = scps_rangeset_at(c->rcv.in.ooo, i);
        if (!told(c->rcv.irs, c->rx->dsack_to != 0, seg, r->from)) {
            if (seg->nsack >= max)
                return true;
            add_block(seg, c->rcv.irs, c->rx->fin_at, r->from, r->to);
        }
        rx->sacked_to = r->to;
    }
    return false;
}

/* Under a budget SACK and SNACK share one cursor up to which all has been reported; at the end it
 * starts again. */
static void merge_cursors(struct scps_rx *rx, const struct scps_rangeset *ooo)
{
    scps_off to = SCPS_MAX(rx->sacked_to, rx->snack_high);
    uint32_t i = scps_rangeset_find(ooo, to);

    if (i == ooo->n || (i == ooo->n - 1 && scps_rangeset_at(ooo, i)->from <= to))
        to = 0;
    rx->sacked_to = rx->snack_high = to;
}

/* As latest_blocks() when there is no block yet. Returns the number of blocks. */
static inline uint8_t latest(const struct scps_rx *rx, scps_off next, uint32_t irs, unsigned max,
                             struct scps_sack block[])
{
    const scps_off fin_at = rx->fin_at;
    unsigned n = 0;

    for (unsigned i = 0; i < SCPS_SACK_MAX && n < max; i++) {
        const struct scps_range *r = &rx->recent[i];
        if (r->to > next)
            block[n++] = (struct scps_sack){scps_seq_wrap(irs, r->from),
                                            scps_seq_wrap(irs, r->to) + (r->to == fin_at)};
    }
    return (uint8_t)n;
}

/* Fast path: SACK alone, with the latest blocks, in an acknowledgement without data. Returns false
 * for anything else. */
static SCPS_NOINLINE bool sack_only_report(struct scps_conn *c, struct scps_seg *seg)
{
    const unsigned room =
        40 - (c->agreed.opts & SCPS_AGREED_TS ? 12u : 0) -
        (seg->has & (SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION) ? SCPS_RECORD_ROOM : 0);

    if (seg->len || !(c->agreed.opts & SCPS_AGREED_SACK) || c->agreed.caps & SCPS_CAP_SNACK1 ||
        c->rx->dsack_to || c->rx->anew || strict(&c->ctx.cfg->c) ||
        budgeted(&c->ctx.cfg->c, c->turns->gate) || !SCPS_FAST_PATH(SCPS_FAST_ACK_SACK))
        return false;
    seg->nsack = latest(c->rx, c->rcv.in.next, c->rcv.irs, (room - 4) / 8, seg->sack);
    if (seg->nsack) {
        seg->has |= SCPS_HAS_SACK;
        c->ctx.st->sacks_out++;
    }
    return true;
}

/* Adds SACK and SNACK as far as they fit. Returns true if another acknowledgement must report the
 * rest. */
static SCPS_NOINLINE bool report(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_rx *rx = c->rx;
    bool snack = c->agreed.caps & SCPS_CAP_SNACK1 && (c->rcv.in.ooo->n || rx->fin_at), more = false,
         sack = c->agreed.opts & SCPS_AGREED_SACK, thin = budgeted(&c->ctx.cfg->c, c->turns->gate);
    /* One acknowledgement stands for many segments, so each range is reported once before any is
     * repeated. */
    bool sparse = thin || strict(&c->ctx.cfg->c);
    struct scps_range run;
    unsigned taken = seg->has & (SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION) ? SCPS_RECORD_ROOM : 0;
    scps_off high = 0;
    unsigned room = thin ? scps_snack_room(&c->agreed) : 40 - scps_agreed_overhead(&c->agreed), max;

    if (seg->len) { /* Beside data only what fits into the packet, and no SNACK. */
        uint32_t most = scps_agreed_any_mss(&c->agreed);
        room =
            SCPS_MIN(40 - scps_agreed_overhead(&c->agreed), most > seg->len ? most - seg->len : 0u);
        snack = false;
        if (room < 12 + taken)
            return true;
    }
    room -= taken;
    if (thin) {
        merge_cursors(rx, c->rcv.in.ooo);
        if (c->rcv.in.ooo->n || rx->fin_at)
            rx->dsack_to = 0; /* A DSACK would take the place of a hole. */
        if (snack && ++rx->reports % SNACK_RESTART_EVERY == 0) {
            high = rx->snack_high;
            rx->snack_high = 0;
        } else if (snack && sack) {
            high = scps_snack_go_back(c);
        }
        rx->mended_from = 0;
    }
    if (snack && sack && sparse && !high && scps_snack_out_of_reach(c)) {
        rx->sacked_to = SCPS_MAX(rx->sacked_to, rx->snack_high);
        snack = false;
    }
    max = SCPS_MIN((room - (snack ? 8 : 0) - 4) / 8, SCPS_SACK_MAX);
    seg->nsack = 0;
    if (snack && c->agreed.caps & SCPS_CAP_SNACK2 && !rx->dsack_to && sparse) {
        if (sack && scps_snack_long_run(c, &run) && max) {
            add_block(seg, c->rcv.irs, c->rx->fin_at, run.from, run.to);
            room = 6; /* Short form without a bit vector, which would have ones only. */
            seg->has |= SCPS_HAS_SACK;
            c->ctx.st->sacks_out++;
        }
        sack = false; /* The bit vector above reports more holes than SACK blocks could. */
    }
    if (sack) {
        if (rx->dsack_to) /* A DSACK comes first (RFC 2883). */
            add_block(seg, c->rcv.irs, rx->fin_at, rx->dsack_from, rx->dsack_to);
        if (sparse)
            more = next_blocks(c, seg, max, thin);
        if (!more)
            latest_blocks(c, seg, max, sparse);
        if (rx->dsack_to) {
            c->ctx.st->dsacks_out++;
            rx->dsack_to = 0;
        }
        if (seg->nsack) {
            seg->has |= SCPS_HAS_SACK;
            c->ctx.st->sacks_out++;
        }
    }
    if (snack) {
        if (room > 6)
            room -= seg->nsack ? 4u + 8u * seg->nsack : 0;
        scps_snack_report(c, seg, room, !thin);
        more = more || (sparse && (scps_snack_backlog(c) || (c->agreed.opts & SCPS_AGREED_SACK &&
                                                             scps_snack_out_of_reach(c))));
    }
    rx->snack_high = SCPS_MAX(rx->snack_high, high);
    if (!more && rx->anew) {
        rx->anew = false;
        more = true;
    }
    return more;
}

void scps_ackout_reneged(struct scps_rx *rx)
{
    rx->snack_high = rx->sacked_to = rx->mended = 0;
    rx->anew = false;
}

/* ---- the budget ---- */

bool scps_ackout_within_budget(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    scps_time now = c->ctx.env->now, bytes, packets, when;

    if (scps_conn_need_rx(c))
        return true;
    scps_pacer_set(&c->rx->budget, now, cfg->ack_budget, BARE + cfg->rate_overhead);
    scps_pacer_set(&c->rx->budget_pps, now, cfg->ack_budget_pps, 2);
    bytes = scps_pacer_when(&c->rx->budget, now, BARE + cfg->rate_overhead);
    packets = scps_pacer_when(&c->rx->budget_pps, now, 1);
    when = SCPS_MAX(bytes, packets);
    if (when <= now)
        return true;
    if (c->rx->budget_timer.at > when) {
        c->ctx.st->acks_held++;
        scps_timer_set(&c->ctx, &c->rx->budget_timer, when);
    }
    return false;
}

/* Of a bare acknowledgement. */
static uint32_t packet_size(const struct scps_comp_tx *comp, uint8_t family,
                            const struct scps_seg *seg)
{
    uint32_t ip = family == 4 ? 20 : 40;
    uint8_t octets[SCPS_COMP_MAX];

    if (comp) {
        struct scps_comp_tx as_now = *comp;
        size_t n = scps_comp_build(octets, &as_now, seg, NULL);
        if (n)
            return ip + (uint32_t)n;
    }
    return ip + 20 + (uint32_t)scps_tcpopt_build(octets, seg);
}

void scps_ackout_spend(struct scps_conn *c, const struct scps_seg *seg)
{
    const struct scps_comp_tx *comp = c->agreed.caps & SCPS_CAP_COM ? &c->tp->comp_tx : NULL;

    if (!c->rx)
        return;
    scps_pacer_spend(&c->rx->budget,
                     packet_size(comp, c->remote.family, seg) + c->ctx.cfg->c.rate_overhead);
    scps_pacer_spend(&c->rx->budget_pps, 1);
}

/* Fast path: nothing was received since the last acknowledgement, so a data segment repeats its ack
 * and window. Returns false, with nothing done, if that is not the case. */
static inline bool repeat_last_ack(const struct scps_conn *c, struct scps_seg *seg)
{
    scps_off next = scps_receive_next(&c->rcv);
    uint64_t field, offered;

    if (c->rx || c->tp || c->todo.bits & (SCPS_TODO_ACK | SCPS_TODO_ECE) ||
        (uint32_t)next != c->ack.acked_to || seg->flags & SCPS_SYN ||
        scps_timer_runs(&c->ack.timer))
        return false;
    field = window_field(c, next, c->agreed.rcv_wscale);
    offered = field << c->agreed.rcv_wscale;
    if (!field || next + offered > c->ack.announced || offered > c->ack.max_offered ||
        !SCPS_FAST_PATH(SCPS_FAST_ACK_SAME))
        return false;
    seg->flags |= SCPS_ACK;
    seg->ack = scps_seq_wrap(c->rcv.irs, next);
    seg->wnd = (uint16_t)field;
    return true;
}

/* With stretch_acks off: returns the end of the first step in which data that came in order from
 * `from` to `to` would have been acknowledged. */
static SCPS_NOINLINE scps_off first_step(const struct scps_conn_config *cfg,
                                         const struct scps_rx *rx, uint16_t full, scps_off from,
                                         scps_off to)
{
    bool each = cfg->ack_mode == SCPS_ACK_EVERY || from < (scps_off)cfg->quick_acks * full;
    scps_off step = from + (each ? 1u : 2u) * full;

    if (rx)
        step = SCPS_MAX(step, rx->told_to);
    return cfg->ack_mode == SCPS_ACK_DELAYED ? to : SCPS_MIN(step, to);
}

static SCPS_NOINLINE void fill(struct scps_conn *c, struct scps_seg *seg)
{
    scps_off next = scps_receive_next(&c->rcv);
    bool more = false, step = false;

    if (!c->ctx.cfg->c.stretch_acks && !budgeted(&c->ctx.cfg->c, c->turns->gate)) {
        scps_off from = next - ((uint32_t)next - c->ack.acked_to);
        scps_off to = first_step(&c->ctx.cfg->c, c->rx, c->rcv.mss, from, next);
        step = to < next;
        next = to;
    }
    seg->flags |= SCPS_ACK;
    seg->ack = scps_seq_wrap(c->rcv.irs, next);
    seg->wnd = window(c, next, seg->flags & SCPS_SYN);
    if (c->todo.bits & SCPS_TODO_ECE) {
        seg->flags |= SCPS_ECE;
        scps_todo_done(&c->todo, SCPS_TODO_ECE_DUE);
    }
    if (c->tp && seg->len + 8 <= scps_agreed_any_mss(&c->agreed) && !(seg->flags & SCPS_SYN) &&
        scps_corruption_tell(&c->tp->corruption, c->ctx.env->now))
        seg->has |= SCPS_HAS_CORRUPTION;
    if (!step && c->rx && (c->rcv.in.ooo->n || c->rx->dsack_to || c->rx->fin_at) &&
        (c->agreed.opts & SCPS_AGREED_SACK || c->agreed.caps & SCPS_CAP_SNACK1) &&
        !sack_only_report(c, seg))
        more = report(c, seg) && c->rx->burst++ < BURST;
    c->ack.acked_to = (uint32_t)next;
    if (c->ack.owed && !step)
        c->ack.owed--;
    else if (!more && !step)
        scps_todo_done(&c->todo, SCPS_TODO_ACK);
    if (!c->rx) {
        scps_timer_stop(&c->ack.timer);
        return;
    }
    c->rx->waiting = 0;
    if (!more)
        c->rx->burst = 0;
    /* A FIN forces an acknowledgement that does not report everything; that of the timer does, when
     * it is due. */
    if (!c->rcv.in.ooo->n || !strict(&c->ctx.cfg->c)) {
        scps_timer_stop(&c->ack.timer);
        c->rx->ticks_end = 0;
    }
}

void scps_ackout_fill(struct scps_conn *c, struct scps_seg *seg)
{
    if (!repeat_last_ack(c, seg))
        fill(c, seg);
}
