/* SPDX-License-Identifier: MIT */
/* When to acknowledge, and with what.
 *
 * Every mode acknowledges at once what filled a hole, duplicates, a FIN, and a window that opens (RFC 5681 section 4.2,
 * RFC 9293 section 3.8.6.3).  Other data in order:
 *
 *   SCPS_ACK_OTHER    two full segments not acknowledged, or the timer
 *   SCPS_ACK_EVERY    each segment
 *   SCPS_ACK_DELAYED  the timer only (spec sheet 5.1: data beyond a hole waits for it, too)
 *
 * Data beyond a hole is answered at once when the hole is new and for the first AT_ONCE segments after it: the sender
 * has its three duplicates then.  What follows tells it only how much has left the network and, SACK being cumulative,
 * is said as often as for data in order; on a path of thousands of segments that halves the acknowledgements.  Without
 * SACK the number of duplicates carries the information, so there each out-of-order segment gets its own.
 *
 * "Now" means with the next output: segments that arrive in one batch are answered once.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/seq.h"

#define AT_ONCE 8

void scps_ackout_now(struct scps_conn *c)
{
    c->flags |= SCPS_F_ACK_NOW;
    scps_conn_wake(c);
}

void scps_ackout_data(struct scps_conn *c, bool at_once)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    uint64_t owed = c->in.next - c->acked_to;

    if (at_once) {
        if (!(c->flags & SCPS_F_SACK) && c->flags & SCPS_F_ACK_NOW && c->ack_owed < UINT8_MAX)
            c->ack_owed++;
        scps_ackout_now(c);
    } else if (cfg->ack_mode == SCPS_ACK_EVERY ||
               (cfg->ack_mode == SCPS_ACK_OTHER && owed >= 2u * c->rcv_mss)) {
        scps_ackout_now(c);
    } else if (c->timer[SCPS_T_ACK] == SCPS_NEVER) {
        scps_timer_set(c, SCPS_T_ACK, c->env->now + cfg->ack_delay);
    }
}

void scps_ackout_beyond(struct scps_conn *c, uint32_t len, bool fresh)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    struct scps_rx *rx = c->rx;

    rx->waiting += len;
    if (!(c->flags & SCPS_F_SACK)) {
        scps_ackout_data(c, true);
    } else if (cfg->ack_mode == SCPS_ACK_DELAYED) {
        scps_ackout_data(c, false);
    } else if (fresh || rx->dups < AT_ONCE || cfg->ack_mode == SCPS_ACK_EVERY ||
               rx->waiting >= 2u * c->rcv_mss) {
        rx->dups++;
        scps_ackout_now(c);
    } else if (c->timer[SCPS_T_ACK] == SCPS_NEVER) {
        scps_timer_set(c, SCPS_T_ACK, c->env->now + cfg->ack_delay);
    }
}

static uint16_t window(struct scps_conn *c)
{
    scps_off next = scps_rcv_nxt(c), edge = scps_rcv_edge(c);
    uint32_t limit = c->cfg->c.rcvbuf;
    unsigned scale = c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED ? 0 : c->rcv_wscale;
    uint64_t field;

    /* RFC 9293 section 3.8.6.2.2: the edge moves by a worthwhile amount or not at all */
    if (edge - c->announced < SCPS_MIN(limit / 2, c->rcv_mss))
        edge = c->announced;
    field = (edge > next ? edge - next : 0) >> scale;
    field = SCPS_MIN(field, 65535);
    c->announced = SCPS_MAX(c->announced, next + (field << scale));
    c->max_offered = (uint32_t)SCPS_MAX(c->max_offered, field << scale);
    if (!field)
        c->st->zero_windows_out++;
    return (uint16_t)field;
}

static bool add_block(struct scps_conn *c, struct scps_seg *seg, scps_off from, scps_off to,
                      unsigned max)
{
    uint32_t left = scps_seq_wrap(c->irs, from), right = scps_seq_wrap(c->irs, to);

    for (unsigned i = seg->nsack && c->rx->dsack_to ? 1 : 0; i < seg->nsack; i++)
        if (seg->sack[i].left == left)
            return true;
    if (seg->nsack >= max)
        return false;
    seg->sack[seg->nsack++] = (struct scps_sack){left, right};
    return true;
}

/* RFC 2018 section 4: the latest first, then those reported before; a duplicate before all (RFC 2883).  Beside data only
 * what still fits into the packet. False: there was no room for what there is to say. */
static bool sack(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_rx *rx = c->rx;
    unsigned max = c->flags & SCPS_F_TS ? 3 : 4;

    seg->nsack = 0;
    if (seg->len) {
        uint32_t room = c->mss > seg->len ? c->mss - seg->len : 0;
        max = room < 4 + 8 ? 0 : SCPS_MIN(max, (room - 4) / 8);
        if (!max)
            return false;
    }
    if (rx->dsack_to)
        add_block(c, seg, rx->dsack_from, rx->dsack_to, max);
    for (unsigned i = 0; i < SCPS_SACK_MAX && c->in.ooo.n; i++) {
        uint32_t at = scps_rangeset_find(&c->in.ooo, rx->recent[i]);
        const struct scps_range *r;
        if (!rx->recent[i] || at == c->in.ooo.n)
            continue;
        r = scps_rangeset_at(&c->in.ooo, at);
        if (r->from > rx->recent[i])
            continue; /* that range has been delivered meanwhile */
        if (!add_block(c, seg, r->from, r->to, max))
            break;
    }
    if (rx->dsack_to) {
        c->st->dsacks_out++;
        rx->dsack_to = 0;
    }
    if (seg->nsack) {
        seg->has |= SCPS_HAS_SACK;
        c->st->sacks_out++;
    }
    return true;
}

void scps_ackout_fill(struct scps_conn *c, struct scps_seg *seg)
{
    scps_off next = scps_rcv_nxt(c);
    bool said = true;

    seg->flags |= SCPS_ACK;
    seg->ack = scps_seq_wrap(c->irs, next);
    seg->wnd = window(c);
    if (c->flags & SCPS_F_ECE)
        seg->flags |= SCPS_ECE;
    if (c->flags & SCPS_F_SACK && c->rx && (c->in.ooo.n || c->rx->dsack_to))
        said = sack(c, seg);
    c->acked_to = next;
    if (c->ack_owed)
        c->ack_owed--;
    else if (said) /* else an acknowledgement of its own follows the data */
        c->flags &= ~(uint32_t)SCPS_F_ACK_NOW;
    scps_timer_stop(c, SCPS_T_ACK);
    if (c->rx)
        c->rx->waiting = 0;
}
