/* SPDX-License-Identifier: MIT */
/* Processes an arriving segment according to the state, in the order of RFC 9293 section 3.10.7.
 *
 * Departures, each for robustness:
 * - RFC 5961: resets and SYNs inside the window but not at RCV.NXT, and acknowledgements far below
 *   SND.UNA, are answered by a challenge ACK, twice a second for each connection. So is a SYN in
 *   SYN-RECEIVED after a passive open, which RFC 9293 takes as a return to LISTEN. An
 *   unacceptable segment whose SEG.SEQ or SEG.ACK lies outside the ranges that the peer can use
 *   (is_of_peer) is answered twice a second at most, too.
 * - In SYN-RECEIVED after a SYN without ACK, a SYN-ACK that acknowledges this end's SYN is
 *   processed as in SYN-SENT (is_true_syn_ack).
 * - RFC 1337: a reset does not end TIME-WAIT.
 * - A segment without timestamps on a connection that agreed on them is accepted, as Linux does;
 *   RFC 7323 section 3.2 would have it dropped. In a compressed header TSval and TSecr may be
 *   left out of any segment (CCSDS 714.0-B-2; docs/SCPS-TP.md section 8.2), so there it is
 *   legitimate. PAWS has nothing to compare then, TS.Recent stays, and neither a round trip nor
 *   Eifel detection (RFC 3522) is taken from it.
 * - The urgent pointer is accepted and ignored: urgent octets are ordinary octets (RFC 6093).
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/keep.h"
#include "core/seq.h"

/* Distance, octets, from the initial sequence number of a refused SYN to that of the next SYN,
 * which has no capabilities. It is larger than the window of a SYN (16 bits, not scaled), so a
 * reset that answers the refused SYN is not acceptable for the next one. */
#define ANOTHER 65536u

static SCPS_NOINLINE_SIZE SCPS_NOINLINE int drop(const struct scps_conn_ctx *x, enum scps_drop d,
                                                 const struct scps_seg *seg)
{
    scps_conn_ctx_drop(x, d, seg);
    return (int)d;
}

/* Sends a challenge ACK, unless the limit of this connection (two a second) or that of the host
 * forbids it (RFC 5961 section 7). The limit of the host is shared, so every challenge ACK on one
 * connection leaves one less to the others. A host off the path can count those that it gets on a
 * connection of its own, and could conclude from them whether the segments that it forges lie in
 * the window of another host's connection, if many of these were answered in a second
 * (CVE-2016-5696). With the limit of each connection few are, and this number is hidden by the
 * limit of the host, which is another random number in each second (ratelimit.h). */
static SCPS_NOINLINE void challenge(struct scps_conn *c)
{
    struct scps_env *env = c->s.ctx.env;

    if (!scps_ackout_may_answer(&c->ack, env->now) ||
        !scps_ratelimit_take(&env->challenge_limit, env->key, env->now)) {
        scps_env_drop(env, SCPS_DROP_RATE_LIMITED);
        return;
    }
    env->challenges++;
    scps_conn_ctx_need_stats(&c->s.ctx);
    c->s.ctx.st->challenges++;
    /* RFC 5961 section 3.2: a peer that has closed answers the challenge ACK by a reset at RCV.NXT.
     * It has no connection id any more and could not answer a compressed header, so this ACK is
     * sent with a TCP header. */
    scps_tp_plain_next(c->s.tp);
    scps_conn_ack_now(c);
}

/* Called for a reset in answer to this end's SYN: ends the connection with SCPS_ERR_REFUSED, or
 * makes a SYN without capabilities due. A middlebox or an old host may refuse an unknown option, so
 * one SYN without it is sent before the connection counts as refused (docs/SCPS-TP.md section 1.4
 * has the same for silence). The SYN without capabilities has another initial sequence number, so a
 * reset for an earlier SYN does not match it. */
static SCPS_NOINLINE void refused(struct scps_conn *c)
{
    if (!c->s.ctx.cfg->c.caps_tries || !scps_conn_falls_back(&c->s, c->state, c->notify.active)) {
        scps_conn_finish(c, SCPS_ERR_REFUSED);
        return;
    }
    scps_send_begin(&c->s.snd, c->s.snd.iss + ANOTHER);
    scps_sb_lose(&c->s.tx->sb, c->s.tx->sb.head, NULL);
    scps_snd_arm_rtx(&c->s);
    scps_sender_wake(&c->s);
}

static SCPS_NOINLINE int syn_sent(struct scps_conn *c, const struct scps_seg *seg)
{
    bool acks = seg->flags & SCPS_ACK;

    if (acks && (c->s.snd.nxt == 0 || seg->ack != scps_seq_wrap(c->s.snd.iss, 1)))
        return drop(&c->s.ctx, seg->flags & SCPS_RST ? SCPS_DROP_BLIND_RESET : SCPS_DROP_BAD_ACK,
                    seg);
    if (seg->flags & SCPS_RST) {
        if (!acks)
            return drop(&c->s.ctx, SCPS_DROP_BLIND_RESET, seg);
        refused(c);
        return 0;
    }
    if (!(seg->flags & SCPS_SYN))
        return drop(&c->s.ctx, SCPS_DROP_BAD_FLAGS, seg);
    if (c->state == SCPS_SYN_RECEIVED) {
        /* is_true_syn_ack(): the SYN that led to this state came from a third party. What it agreed
         * on is forgotten. */
        scps_conn_set_state(c, SCPS_SYN_SENT);
        scps_agreed_forget(&c->s.agreed);
    }
    scps_receive_begin(&c->rcv, seg->seq);
    scps_conn_settle(c, seg);
    scps_ackout_begin(&c->ack, SCPS_MIN(c->s.ctx.cfg->c.rcvbuf, 65535));
    /* The peer's SYN does not acknowledge this end's SYN, so both ends open at once (simultaneous
     * open). */
    if (!acks) {
        scps_conn_set_state(c, SCPS_SYN_RECEIVED);
        if (c->s.snd.nxt)
            /* This end's SYN is resent as a SYN-ACK. */
            scps_sb_lose(&c->s.tx->sb, c->s.tx->sb.head, NULL);
        scps_send_offered(&c->s.snd, seg->seq, seg->wnd);
        if (c->s.todo.bits & SCPS_TODO_OUTAGE)
            scps_snd_outage_heard(c);
        scps_sender_wake(&c->s);
        return 0;
    }
    scps_send_offered(
        &c->s.snd, seg->seq,
        scps_negotiate_first_window(&c->s.agreed, c->s.ctx.cfg->c.first_window, seg->wnd));
    scps_conn_set_state(c, SCPS_ESTABLISHED);
    {
        struct scps_seg bare = *seg;
        /* The window of the SYN-ACK was processed above, without scaling, which applies only to
         * later segments. With a sequence number below SND.WL1, which scps_send_offered() has set
         * to that of the SYN-ACK, scps_ackin() takes the window for an old one and ignores it. */
        bare.wnd = 0;
        bare.seq = seg->seq - 1;
        scps_ackin(c, &bare);
    }
    scps_conn_established(c, seg);
    scps_conn_ack_now(c);
    if (seg->len || seg->flags & SCPS_FIN)
        scps_rcv_data(c, seg);
    return 0;
}

static bool data_after_close(const struct scps_receive *r, bool released,
                             const struct scps_seg *seg)
{
    int64_t next = (int64_t)scps_receive_next(r);

    return released && seg->len &&
           scps_seq_unwrap(r->irs, (scps_off)next, seg->seq) + seg->len > next && !r->fin;
}

/* Returns true if the acknowledgement number is within RFC 5961 section 5.2: SND.UNA - MAX.SND.WND
 * =< SEG.ACK =< SND.NXT. A number outside that range is a guess, or from another connection. So is
 * one at or below ISS, which acknowledges nothing that was ever sent: at the beginning of a
 * connection MAX.SND.WND reaches far below ISS. With best effort (BETS of SCPS-TP) this end, as the
 * sender, gives up data that does not arrive in time, and SND.UNA moves past that data before the
 * peer acknowledges it. Then the highest SEG.ACK of the peer takes the place of SND.UNA: otherwise
 * two ends that both gave up more than a window would refuse each other's segments for ever. */
static bool ack_plausible(const struct scps_send *s, const struct scps_tx *tx, uint32_t number)
{
    int64_t ack = scps_seq_unwrap(s->iss, s->una, number), most = s->max_wnd;

    if (ack > (int64_t)s->nxt || ack < 1)
        return false;
    if (ack >= (int64_t)s->una - most)
        return true;
    return ack >= (int64_t)scps_bets_peer_una(tx, s->una) - most;
}

/* Returns true if the peer may have sent the unacceptable segment seg: SEG.ACK is plausible, and
 * SEG.SEQ lies in [RCV.NXT - W - 2, RCV.NXT + W + 1], where W is the largest window that this end
 * has offered, at least 1. A third party off the path has to guess both numbers, as for an
 * acceptable segment.
 * - Lower limit: a keep-alive or outage probe of the peer begins one octet below what the peer
 *   knows to have arrived. If acknowledgements were lost, that is below RCV.NXT, by W and the octet
 *   of a window probe at most.
 * - Upper limit: if only octets at RCV.NXT are missing in a full window, the next segment of the
 *   peer begins at the right edge, RCV.NXT + W, or behind the octet of its window probe there.
 * A peer that itself waits for the end of an outage of the link sends nothing but such probes. */
static bool is_of_peer(const struct scps_receive *rcv, const struct scps_ackout *a,
                       const struct scps_sender *s, const struct scps_seg *seg)
{
    int64_t next = (int64_t)scps_receive_next(rcv), window = SCPS_MAX(a->max_offered, 1);
    int64_t behind = next - scps_seq_unwrap(rcv->irs, (scps_off)next, seg->seq);

    return seg->flags & SCPS_ACK && behind <= window + 2 && behind >= -window - 1 &&
           ack_plausible(&s->snd, s->tx, seg->ack);
}

/* Returns true if the sender of seg waits for an acknowledgement of its octets, SYN or FIN. */
static inline bool wants_ack(const struct scps_seg *seg)
{
    return seg->len || seg->flags & (SCPS_SYN | SCPS_FIN);
}

/* Returns true if an unacceptable segment may be answered now. waits: the peer sent it and waits
 * for an acknowledgement, so it is always answered. Everything else is answered twice a second at
 * most: empty segments, since two ends that disagree would acknowledge each other for ever, and
 * segments that the peer cannot have sent (is_of_peer), since anybody who knows addresses and ports
 * can send them (RFC 5961 section 7, ACK throttling). */
static bool may_answer(struct scps_ackout *a, struct scps_env *env, bool waits)
{
    if (waits || scps_ackout_may_answer(a, env->now))
        return true;
    scps_env_drop(env, SCPS_DROP_RATE_LIMITED);
    return false;
}

/* Returns true if the unacceptable segment seg is answered with an acknowledgement now. It always
 * is if SEG.SEQ and SEG.ACK lie in the ranges that the peer can use (is_of_peer), and it has data,
 * SYN or FIN, or is a keep-alive, with SEG.SEQ = RCV.NXT - 1. All other segments are answered twice
 * a second at most. Acknowledgements can have SEG.SEQ = RCV.NXT - 1, too: those of both ends do
 * after a third party has forged one octet of data to each. But their SEG.ACK is above SND.NXT, so
 * is_of_peer() is false; otherwise the two ends would acknowledge each other's acknowledgements for
 * ever. */
static bool is_answered(struct scps_ackout *a, const struct scps_receive *rcv,
                        const struct scps_sender *s, const struct scps_seg *seg)
{
    bool waits = wants_ack(seg) || scps_seq_ahead(rcv->irs, scps_receive_next(rcv), seg->seq) == -1;

    return may_answer(a, s->ctx.env, waits && is_of_peer(rcv, a, s, seg));
}

/* Called when this end's FIN is acknowledged: changes the state as in RFC 9293 section 3.10.7.4,
 * fifth check. */
static SCPS_NOINLINE void our_fin_acked(struct scps_conn *c, const struct scps_seg *seg)
{
    switch (c->state) {
    case SCPS_FIN_WAIT_1:
        scps_conn_set_state(c, SCPS_FIN_WAIT_2);
        break;
    case SCPS_CLOSING:
        scps_conn_set_state(c, SCPS_TIME_WAIT);
        break;
    case SCPS_LAST_ACK:
        scps_conn_finish(c, 0);
        break;
    case SCPS_TIME_WAIT:
        /* In TIME-WAIT the peer sends nothing behind its FIN. So an acceptable segment that does
         * not begin at RCV.NXT belongs to another connection, and is answered by an
         * acknowledgement. One that begins at RCV.NXT, such as an acknowledgement of this end's
         * FIN, is not answered. */
        if (seg->seq != scps_seq_wrap(c->rcv.irs, scps_receive_next(&c->rcv)))
            if (is_answered(&c->ack, &c->rcv, &c->s, seg))
                scps_conn_ack_now(c);
        break;
    default:
        break;
    }
}

/* Called for an unacceptable segment of the peer with SEG.ACK = number. If that is above SND.UNA,
 * the peer has accepted all octets below it, so the right edge of the send window (s->edge) is
 * raised to SEG.ACK at least; SND.UNA stays. This end sends its answers at SND.NXT, or at that edge
 * if it is lower (scps_send_acceptable). After a window probe SND.NXT is one octet above the edge.
 * If the peer has accepted this octet, it accepts nothing that begins at the old edge (RFC 9293
 * section 3.10.7.4, first check), so the answer must begin at SND.NXT. If both ends had sent such a
 * probe and did not raise the edge, they would refuse and answer each other's segments for ever. */
static void note_reached(struct scps_send *s, uint32_t number)
{
    int64_t ack = scps_seq_unwrap(s->iss, s->una, number);

    if (ack > (int64_t)s->una)
        scps_send_reached(s, (scps_off)ack);
}

static SCPS_NOINLINE int unacceptable(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t to = scps_seq_unwrap(c->rcv.irs, scps_receive_next(&c->rcv), seg->seq) + seg->len;
    bool of_peer = is_of_peer(&c->rcv, &c->ack, &c->s, seg);
    bool old = seg->len && to <= (int64_t)scps_receive_next(&c->rcv);

    if (seg->flags & SCPS_RST)
        return drop(&c->s.ctx, SCPS_DROP_NOT_ACCEPTABLE, seg);
    if (of_peer && !(seg->flags & SCPS_SYN)) {
        /* The segment, for example a keep-alive probe, shows that the peer sends and that the link
         * carries its segments. */
        scps_heard_now(&c->s.heard);
        scps_keep_acked(&c->keep, seg->len, c->s.ctx.env->now);
        note_reached(&c->s.snd, seg->ack);
        /* The outage is ended before the segment is answered. During it the answer would be
         * delayed, and two ends in an outage would wait for each other. */
        if (c->s.todo.bits & SCPS_TODO_OUTAGE)
            scps_snd_outage_heard(c);
    }
    scps_todo_add(&c->s.todo, SCPS_TODO_ANSWER);
    if (c->state == SCPS_TIME_WAIT && seg->flags & SCPS_FIN && of_peer)
        scps_conn_end_after(c, c->s.ctx.cfg->c.time_wait);
    if (old && of_peer && c->state != SCPS_SYN_RECEIVED) {
        /* The segment contains nothing new, so this only counts it and prepares a DSACK. */
        scps_rcv_data(c, seg);
        return drop(&c->s.ctx, SCPS_DROP_OLD_DUPLICATE, seg);
    }
    if (is_answered(&c->ack, &c->rcv, &c->s, seg))
        scps_conn_ack_now(c);
    return drop(&c->s.ctx, SCPS_DROP_NOT_ACCEPTABLE, seg);
}

static SCPS_NOINLINE int reset(struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->state == SCPS_TIME_WAIT)
        return drop(&c->s.ctx, SCPS_DROP_BLIND_RESET, seg);
    if (seg->seq != scps_seq_wrap(c->rcv.irs, scps_receive_next(&c->rcv))) {
        challenge(c);
        return drop(&c->s.ctx, SCPS_DROP_BLIND_RESET, seg);
    }
    scps_conn_finish(c, c->state == SCPS_SYN_RECEIVED ? SCPS_ERR_REFUSED : SCPS_ERR_RESET);
    return 0;
}

void scps_conn_repeat_syn_ack(struct scps_conn *c)
{
    if (c->s.snd.nxt && !c->s.snd.una) {
        scps_sb_lose(&c->s.tx->sb, c->s.tx->sb.head, NULL);
        /* A segment from the peer has arrived, so the peer gets the full time to answer the
         * SYN-ACK. */
        scps_silence_since(&c->s.tx->silence, c->s.ctx.env->now);
        if (!(c->s.todo.bits & SCPS_TODO_OUTAGE))
            scps_snd_arm_rtx(&c->s);
    }
    if (c->s.todo.bits & SCPS_TODO_OUTAGE)
        scps_snd_outage_heard(c);
    scps_sender_wake(&c->s);
}

/* Precondition: SYN-RECEIVED after an active open. Returns true if seg is the SYN-ACK of the peer
 * to which this end opens the connection, although a SYN without ACK and with another number has
 * come before: one by a third party that has guessed the ports, or an old duplicate. Its
 * acknowledgement number shows that its sender has received this end's SYN, which a SYN without
 * ACK does not. Otherwise each SYN-ACK of the peer would be answered by an acknowledgement of the
 * other SYN, for which the peer resets the connection (RFC 9293 figure 8). */
static bool is_true_syn_ack(const struct scps_receive *rcv, const struct scps_sender *s,
                            const struct scps_seg *seg)
{
    return (seg->flags & (SCPS_SYN | SCPS_RST | SCPS_ACK)) == (SCPS_SYN | SCPS_ACK) &&
           seg->seq != rcv->irs && !s->established && s->snd.una == 0 &&
           seg->ack == scps_seq_wrap(s->snd.iss, 1);
}

enum { GO_ON = -1 };

/* Processes a segment in CLOSED or SYN-SENT, and in SYN-RECEIVED a SYN or SYN-ACK of the peer.
 * Returns GO_ON if the steps of the other states follow, otherwise the result of scps_conn_input().
 * With GO_ON, *at is the segment to continue with: the same one or, for a SYN-ACK in a simultaneous
 * open, `copy`, which then has the acknowledgement of that SYN-ACK without its SYN. */
static SCPS_NOINLINE int opening(struct scps_conn *c, const struct scps_seg **at,
                                 struct scps_seg *copy)
{
    const struct scps_seg *seg = *at;

    if (c->state == SCPS_CLOSED)
        return drop(&c->s.ctx, SCPS_DROP_NO_CONNECTION, seg);
    if (seg->len && scps_conn_ctx_need_stats(&c->s.ctx))
        return drop(&c->s.ctx, SCPS_DROP_NO_BUFFER, seg);
    if (c->state == SCPS_SYN_SENT || (c->notify.active && is_true_syn_ack(&c->rcv, &c->s, seg)))
        return syn_sent(c, seg);
    /* Only the peer's SYN or SYN-ACK that arrives again, with SEG.SEQ = IRS, is processed here. A
     * segment with SYN and RST there is left to the steps of the other states, which drop it: it
     * lies below RCV.NXT, where no reset is acceptable (RFC 5961 section 3.2). */
    if ((seg->flags & (SCPS_SYN | SCPS_RST)) != SCPS_SYN || seg->seq != c->rcv.irs)
        return GO_ON;
    if (!scps_negotiate_offers_ecn(seg))
        scps_todo_add(&c->s.todo, SCPS_TODO_NOT_ECT);
    /* A repeated SYN without ACK: the SYN-ACK of this end was lost, or is late. Its drop as an old
     * duplicate makes the caller send the SYN-ACK again. So does the drop of a SYN-ACK with
     * capabilities in a simultaneous open, if this end has fallen back to a SYN-ACK without them:
     * an acknowledgement without SYN would let the peer take the capabilities of this end's earlier
     * SYN for agreed. */
    if (!(seg->flags & SCPS_ACK) || (c->state == SCPS_SYN_RECEIVED && seg->has & SCPS_HAS_CAPS &&
                                     scps_agreed_plain(&c->s.agreed) == SCPS_PLAIN_FELL_BACK))
        return drop(&c->s.ctx, SCPS_DROP_OLD_DUPLICATE, seg);
    /* A connection of a listener has sent no SYN that this could answer: a third party's SYN has
     * caused it. */
    if (!c->s.established && c->notify.active)
        scps_conn_settle(c, seg);
    /* Simultaneous open: the peer's SYN-ACK is processed as an acknowledgement of this end's
     * SYN. Its ECE flag negotiates ECN (RFC 3168 section 6.1.1) and is no echo of a mark. */
    *copy = *seg;
    copy->flags &= (uint16_t) ~(SCPS_SYN | SCPS_ECE | SCPS_CWR);
    copy->seq++;
    copy->wnd = (uint16_t)(copy->wnd >> c->s.agreed.snd_wscale);
    *at = copy;
    return GO_ON;
}

/* Processes the acknowledgement of this end's SYN in SYN-RECEIVED (RFC 9293 section 3.10.7.4, fifth
 * check). Returns 0 if the processing of the segment continues. While the listener's queue of
 * connections to accept is full, drops the segment: the SYN-ACK is sent again, and the peer answers
 * it, or sends its data again. If the segment acknowledges another number than that of this end's
 * SYN, SCPS_DROP_BAD_ACK is returned; for a connection of a listener the caller counts the drop,
 * since the segment may acknowledge a SYN cookie of the listener. */
static SCPS_NOINLINE int handshake_ends(struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->s.snd.nxt == 0 || scps_seq_ahead(c->s.snd.iss, c->s.snd.una, seg->ack) <= 0 ||
        scps_seq_ahead(c->s.snd.iss, c->s.snd.nxt, seg->ack) > 0)
        return c->notify.pending ? SCPS_DROP_BAD_ACK : drop(&c->s.ctx, SCPS_DROP_BAD_ACK, seg);
    if (!c->s.ctx.env->may_establish(c))
        return drop(&c->s.ctx, SCPS_DROP_BACKLOG_FULL, seg);
    scps_send_update_next(&c->s.snd, seg->seq);
    scps_conn_set_state(c, SCPS_ESTABLISHED);
    if (!scps_ackin(c, seg))
        return drop(&c->s.ctx, SCPS_DROP_BAD_ACK, seg);
    scps_conn_established(c, seg);
    if (c->state != SCPS_CLOSED && c->s.snd.shut)
        scps_conn_set_state(c, SCPS_FIN_WAIT_1);
    return 0;
}

/* Answers an acknowledgement above SND.NXT, or far below SND.UNA, with a challenge ACK (RFC 5961
 * section 5.2). Returns SCPS_DROP_BLIND_ACK. */
static SCPS_NOINLINE int blind_ack(struct scps_conn *c, const struct scps_seg *seg)
{
    challenge(c);
    return drop(&c->s.ctx, SCPS_DROP_BLIND_ACK, seg);
}

/* Processes a segment whose compressed header omits the sequence number or the acknowledgement
 * number (CCSDS 714.0-B-2; docs/SCPS-TP.md section 8.2). The number that the parser fills in is
 * always acceptable, so it proves nothing: an attacker off the path who knows the two addresses
 * needs to try only 255 connection ids. Returns GO_ON if the segment is processed further,
 * otherwise the result for the segment. The parser has dropped data, FIN and RST without a sequence
 * number.
 * - The acknowledgement number, or both are omitted: with data, FIN or RST, the segment is
 *   processed further. Without, nothing of it is used, SACK and SNACK included, and it is only
 *   answered if it is unacceptable. In SYN-RECEIVED it is dropped.
 * - Only the sequence number is omitted: only the acknowledgement is processed, if SEG.ACK lies in
 *   [SND.UNA, SND.NXT], a smaller range than that of RFC 5961 section 5.2. Its SACK and SNACK are
 *   processed, since the reference implementation sends them in no other way, and its TSecr, which
 *   is used only where SND.UNA advances. Its TSval (a forged one would make PAWS reject the peer's
 *   segments) and its corruption option 23 are ignored. */
static SCPS_NOINLINE int implied(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t ack;

    if (seg->implied & SCPS_IMPLIED_ACK) {
        if (c->state == SCPS_SYN_RECEIVED)
            return drop(&c->s.ctx, SCPS_DROP_NO_ACK, seg);
        if (seg->len || seg->flags & (SCPS_FIN | SCPS_RST))
            /* The parser drops data, FIN and RST whose header omits the sequence number, so the
             * header of this segment has one, and the segment is processed fully. */
            return GO_ON;
        return scps_rcv_acceptable(&c->s.ctx.cfg->c, &c->rcv, &c->ack, seg) ? 0
                                                                            : unacceptable(c, seg);
    }
    ack = scps_seq_unwrap(c->s.snd.iss, c->s.snd.una, seg->ack);
    if (ack < (int64_t)scps_bets_peer_una(c->s.tx, c->s.snd.una))
        return drop(&c->s.ctx, SCPS_DROP_OLD_DUPLICATE, seg);
    return ack > (int64_t)c->s.snd.nxt ? drop(&c->s.ctx, SCPS_DROP_BLIND_ACK, seg) : GO_ON;
}

/* Processes the acknowledgement of an acceptable segment. Returns 0, or the reason why the segment
 * has no effect. */
static SCPS_ALWAYS_INLINE int acknowledged(struct scps_conn *c, const struct scps_seg *seg)
{
    bool behind;

    if (c->state == SCPS_SYN_RECEIVED)
        return handshake_ends(c, seg);
    /* An acknowledgement beyond SND.NXT is refused by scps_ackin(). */
    behind = scps_seq_ahead(c->s.snd.iss, c->s.snd.una, seg->ack) < 0;
    if ((behind && !ack_plausible(&c->s.snd, c->s.tx, seg->ack)) || !scps_ackin(c, seg))
        return blind_ack(c, seg);
    if (scps_send_fin_acked(&c->s.snd))
        our_fin_acked(c, seg);
    return 0;
}

/* Processes the ECN bits: a congestion mark (CE), or the peer's ECE and CWR. */
static void take_ecn(struct scps_todo *todo, bool agreed, const struct scps_seg *seg)
{
    if (agreed && seg->len && (seg->tos & 3) == SCPS_ECN_CE)
        scps_todo_echo(todo);
    /* CWR of the peer ends the echo (ECE) of earlier marks. If the segment with CWR has a mark
     * itself (CE), which was recorded above, scps_todo_cwr_came() does not end the echo. */
    if (seg->flags & SCPS_CWR)
        scps_todo_cwr_came(todo);
}

int scps_conn_input(struct scps_conn *c, const struct scps_seg *seg)
{
    struct scps_seg copy;
    bool stamped;
    int refused;

    scps_segs_came(&c->segs);
    if (c->state == SCPS_CLOSED || c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED) {
        int done = opening(c, &seg, &copy);
        if (done != GO_ON)
            return done;
    } else if (seg->len && scps_conn_ctx_need_stats(&c->s.ctx)) {
        return drop(&c->s.ctx, SCPS_DROP_NO_BUFFER, seg);
    }
    stamped = c->s.agreed.opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS;
    if (seg->implied) {
        int done = implied(c, seg);
        if (done != GO_ON)
            return done;
        stamped = stamped && !(seg->implied & SCPS_IMPLIED_SEQ);
    }
    /* RFC 7323 section 5.3, R1: a segment with an old timestamp is acknowledged and dropped. If its
     * data has arrived before, the acknowledgement reports that (RFC 2883): where segments are late
     * by more than a round trip, the retransmission arrives first, and its timestamp is newer than
     * that of the first transmission. Only the DSACK shows the peer that the loss was spurious. */
    if (stamped && scps_ts_rejects(&c->ts, seg, c->s.ctx.env->now)) {
        scps_conn_ctx_need_stats(&c->s.ctx);
        c->s.ctx.st->paws_drops++;
        if (is_of_peer(&c->rcv, &c->ack, &c->s, seg))
            scps_rcv_rejected(&c->s, &c->rcv, seg);
        if (is_answered(&c->ack, &c->rcv, &c->s, seg))
            scps_conn_ack_now(c);
        return drop(&c->s.ctx, SCPS_DROP_PAWS, seg);
    }
    if (!scps_rcv_acceptable(&c->s.ctx.cfg->c, &c->rcv, &c->ack, seg))
        return unacceptable(c, seg);
    if (seg->flags & SCPS_RST)
        return reset(c, seg);
    if (seg->flags & SCPS_SYN) {
        challenge(c);
        return drop(&c->s.ctx, SCPS_DROP_BLIND_SYN, seg);
    }
    if (!(seg->flags & SCPS_ACK))
        return drop(&c->s.ctx, SCPS_DROP_NO_ACK, seg);
    refused = acknowledged(c, seg);
    if (refused)
        return refused;
    /* The timestamp is stored only after the acknowledgement was found valid, and only from a
     * segment that begins at or below the last octet acknowledged (RFC 7323 section 4.3). */
    if (stamped && (int32_t)(seg->seq - scps_seq_wrap(c->rcv.irs, c->ack.acked_to)) <= 0) {
        scps_ts_take(&c->ts, seg->tsval, c->s.ctx.env->now);
    }
    if (c->state == SCPS_CLOSED)
        return 0;
    if (data_after_close(&c->rcv, c->notify.released,
                         /* The reset that answers has sequence number SEG.ACK, as in CLOSED (RFC
                          * 9293 section 3.10.7.1). */
                         seg)) {
        scps_conn_finish(c, SCPS_ERR_RESET);
        return drop(&c->s.ctx, SCPS_DROP_AFTER_CLOSE, seg);
    }
    if (seg->tos & 3 || seg->flags & SCPS_CWR)
        take_ecn(&c->s.todo, c->s.agreed.opts & SCPS_AGREED_ECN, seg);
    scps_keep_acked(&c->keep, seg->len, c->s.ctx.env->now);
    if (seg->len || seg->flags & SCPS_FIN)
        scps_rcv_data(c, seg);
    return 0;
}

bool scps_conn_may_reopen(const struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->state != SCPS_TIME_WAIT ||
        (seg->flags & (SCPS_SYN | SCPS_RST | SCPS_ACK | SCPS_FIN)) != SCPS_SYN)
        return false;
    if (c->s.agreed.opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS)
        return (int32_t)(seg->tsval - c->ts.recent) > 0 ||
               (seg->tsval == c->ts.recent &&
                scps_seq_ahead(c->rcv.irs, scps_receive_next(&c->rcv), seg->seq) > 0);
    return scps_seq_ahead(c->rcv.irs, scps_receive_next(&c->rcv), seg->seq) > 0;
}
