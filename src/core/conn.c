/* SPDX-License-Identifier: MIT */
/* Opens, ends and frees a connection, and changes its state. */
#include "core/conn.h"
#include "core/config.h"
#include "core/fixed.h"

#include "base/bytes.h"

/* RTO for data, µs, after the SYN timed out (RFC 6298 section 5.7) */
#define AFTER_LOST_SYN SCPS_SEC(3)

/* ---- functions that allocate and free a connection ---- */

static size_t conn_size(const struct scps_shared_config *cfg)
{
    return sizeof(struct scps_conn) + (scps_cc_state_size(cfg->c.cc, cfg->c.cc_param) + 7) / 8 * 8;
}

static void stop_timers(struct scps_conn *c)
{
    scps_timer_stop(&c->ack.timer);
    scps_timer_stop(&c->keep.timer);
    scps_timer_stop(&c->end_timer);
    scps_timer_stop(&c->outage_timer);
    scps_timer_looked(&c->s.ctx, SCPS_NEVER);
}

struct scps_conn *scps_conn_new(struct scps_env *env, struct scps_shared_config *cfg)
{
    const struct scps_alloc *a = &env->alloc_later;
    size_t size = conn_size(cfg);
    struct scps_conn *c = a->alloc(a->ctx, size);

    if (!c)
        return NULL;
    memset(c, 0, size);
    scps_config_ref(cfg);
    scps_conn_ctx_init(&c->s.ctx, env, cfg);
    c->state = SCPS_CLOSED;
    scps_send_init(&c->s.snd);
    stop_timers(c);
    scps_rtt_init(&c->s.rtt, cfg->c.rto_initial);
    scps_rcvbuf_init(&c->rcv.in, 1, cfg->c.hollow);
    if (cfg->c.nodelay)
        scps_small_set(&c->s.small, SCPS_SMALL_NODELAY, true);
    if (env->fixed &&
        scps_rcvbuf_reserve(&c->rcv.in, &env->alloc, cfg->c.hollow ? 0 : env->fixed->rcvring,
                            env->fixed->holes)) {
        scps_conn_free(c);
        return NULL;
    }
    return c;
}

void scps_conn_free(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->s.ctx.env->alloc;
    const struct scps_shared_config *cfg = c->s.ctx.cfg;

    scps_sender_dequeue(&c->s);
    scps_gate_forget(&c->s);
    scps_heap_remove(&c->s.ctx.env->deadlines, c);
    scps_conn_free_tx(&c->s);
    scps_rx_free(&c->rcv, &c->s.ctx);
    scps_conn_free_tp(&c->s);
    scps_rcvbuf_fini(&c->rcv.in, a);
    scps_conn_ctx_fini(&c->s.ctx);
    a->free(a->ctx, c, conn_size(cfg));
    scps_config_unref(a, cfg);
}

/* Frees the send state (s->tx) of a connection with nothing outstanding. After a timeout or tail
 * loss probe that no RTT sample has followed yet, two facts outlive it and go to the next send
 * state: the backoff of the retransmission timer, which stays in force until a round trip is
 * measured (RFC 6298, first note of section 5), and that no further tail loss probe may be sent
 * before that (RFC 8985 section 7.3). */
static void trim_tx(struct scps_sender *s)
{
    const uint16_t unanswered = s->tx->silence.unanswered;
    const struct scps_rto rto = s->tx->rto;

    scps_conn_free_tx(s);
    if ((unanswered || scps_rto_awaits_sample(&rto)) && !scps_conn_need_tx(s)) {
        scps_silence_go_on(&s->tx->silence, unanswered);
        scps_rto_go_on(&s->tx->rto, rto);
    }
}

void scps_conn_trim(struct scps_conn *c)
{
    if (c->s.ctx.env->fixed)
        return;
    /* Best effort: when this end gives up data, it moves SND.UNA beyond the peer's
     * acknowledgements. Only the send state stores how far the peer has acknowledged
     * (scps_bets_peer_una()), so it is kept until the peer has acknowledged up to SND.NXT. */
    if (c->s.tx && scps_bets_peer_una(c->s.tx, c->s.snd.una) == c->s.snd.nxt &&
        scps_send_fin_end(&c->s.snd) <= c->s.snd.nxt && c->state != SCPS_SYN_SENT &&
        c->state != SCPS_SYN_RECEIVED)
        trim_tx(&c->s);
    scps_rcvbuf_trim(&c->rcv.in, &c->s.ctx.env->alloc);
    if (!c->rcv.in.ooo->n && !(c->rcv.rx && (c->rcv.rx->fin_at || c->rcv.rx->budget.bytes.at)))
        scps_rx_free(&c->rcv, &c->s.ctx);
}

void scps_conn_room(struct scps_conn *c)
{
    scps_room_starve(&c->s.small, false);
    scps_conn_notify(c, SCPS_EV_WRITABLE);
}

void scps_conn_memory(struct scps_conn *c)
{
    struct scps_env *env = c->s.ctx.env;
    uint64_t left = scps_budget_left(&env->budget);

    if (!env->fixed && scps_rcvbuf_memory(&c->rcv.in) > left)
        scps_rcvbuf_trim(&c->rcv.in, &env->alloc);
    if (!env->fixed && c->s.tx && c->s.tx->buf.cap > left)
        scps_sndbuf_trim(&c->s.tx->buf, &env->alloc);
    if (!c->s.small.starved || c->state == SCPS_CLOSED)
        return;
    if (!(c->s.snd.shut)) {
        scps_conn_room(c);
        return;
    }
    scps_room_starve(&c->s.small, false);
    if (scps_conn_need_tx(&c->s) || scps_conn_ctx_need_stats(&c->s.ctx))
        scps_conn_starve(&c->s);
    else
        scps_sender_wake(&c->s);
}

/* ---- functions that change the state of a connection ---- */

/* Sets `mss`, the payload plus options, bytes, that the path MTU permits in one segment. Segments
 * in flight that are longer than lose_above, octets, are marked as lost; INT64_MAX: none is. */
static SCPS_NOINLINE void set_pmtu_mss(struct scps_sender *s, uint32_t mss, int64_t lose_above)
{
    uint32_t full = scps_agreed_full(&s->agreed, s->ctx.cfg->c.mss, mss);
    bool split = s->tx && full < s->agreed.mss && scps_sb_count(&s->tx->sb);

    scps_agreed_set_path(&s->agreed, mss, full);
    if (!split)
        return;
    if (lose_above < UINT32_MAX)
        scps_sb_lose_longer(&s->tx->sb, (uint32_t)SCPS_MAX(lose_above, 0));
    scps_sb_resegment(&s->tx->sb, &s->ctx.env->alloc, s->tx->sb.head,
                      scps_agreed_piece(&s->agreed));
}

void scps_conn_set_pmtu_mss(struct scps_sender *s, uint32_t mss)
{
    set_pmtu_mss(s, mss, INT64_MAX);
}

void scps_conn_lower_pmtu_mss(struct scps_sender *s, uint32_t mss)
{
    set_pmtu_mss(s, mss, (int64_t)mss - scps_agreed_less(&s->agreed));
}

SCPS_NOINLINE_SIZE SCPS_NOINLINE struct scps_asked scps_conn_asked(const struct scps_sender *s,
                                                                   uint8_t state, bool active)
{
    return (struct scps_asked){.cfg = &s->ctx.cfg->c,
                               .agreed = &s->agreed,
                               .state = (enum scps_state)state,
                               .family = s->ipv6 ? 6 : 4,
                               .conn_id = s->tp ? s->tp->conn_id : 0,
                               .active = active,
                               .established = s->established != 0,
                               .syn_lost = s->syn_lost};
}

bool scps_conn_falls_back(struct scps_sender *s, uint8_t state, bool active)
{
    const struct scps_asked asked = scps_conn_asked(s, state, active);

    if (scps_agreed_plain(&s->agreed) || !scps_negotiate_offers(&asked))
        return false;
    scps_agreed_plainly(&s->agreed, SCPS_PLAIN_FELL_BACK);
    return true;
}

bool scps_conn_doubts_comp(const struct scps_sender *s)
{
    unsigned backoff = s->tx ? s->tx->silence.unanswered : 0;

    if (s->todo.bits & SCPS_TODO_OUTAGE)
        return backoff >= 1;
    return backoff >= 2 || s->keep_probes >= 2;
}

void scps_conn_settle(struct scps_conn *c, const struct scps_seg *syn)
{
    struct scps_asked asked = scps_conn_asked(&c->s, c->state, c->notify.active);
    struct scps_agreed *a = &c->s.agreed;

    if (c->notify.active && c->s.syn_lost)
        /* A SYN of this end timed out and was sent again without ECN, so no segment with data is
         * marked ECN-capable (RFC 3168 section 6.1.1). */
        scps_todo_add(&c->s.todo, SCPS_TODO_NOT_ECT);
    *a = scps_negotiate_settle(&asked, syn);
    if (asked.state == SCPS_SYN_RECEIVED && syn->flags & SCPS_ACK)
        /* This is the SYN-ACK of a simultaneous open, and the peer's SYN was processed before. */
        return;
    if (asked.active && syn->flags & SCPS_ACK)
        c->s.ctx.env->answered(c->s.ctx.env, c);
    if (a->opts & SCPS_AGREED_TS)
        scps_ts_take(&c->ts, syn->tsval, c->s.ctx.env->now);
    /* A SYN that came before this one, from a third party, has agreed on nothing. */
    if (c->s.tp)
        memset(c->s.tp->binding, 0, sizeof c->s.tp->binding);
    if (scps_negotiate_has_bindings(&asked, syn) && !scps_conn_need_tp(&c->s))
        scps_negotiate_settle_bindings(asked.cfg->binding, syn, c->s.tp->binding);
    if (a->caps & SCPS_CAP_COM)
        scps_tp_peer_id(c->s.tp, syn->conn_id);
    scps_conn_set_pmtu_mss(&c->s, a->pmtu_mss);
}

void scps_conn_queue_for_free(struct scps_conn *c)
{
    if (c->state != SCPS_CLOSED || !c->notify.released || c->s.todo.bits & SCPS_TODO_RST ||
        c->s.dead)
        return;
    scps_sender_put_aside(&c->s);
}

void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind)
{
    if (scps_notify_add(&c->notify, kind))
        scps_queue_add(&c->s.ctx.env->events, &c->link);
}

void scps_conn_end_after(struct scps_conn *c, scps_dur wait)
{
    scps_timer_stop(&c->keep.timer);
    scps_timer_set(&c->s.ctx, &c->end_timer, c->s.ctx.env->now + wait);
}

void scps_conn_set_state(struct scps_conn *c, enum scps_state s)
{
    if (c->state == s)
        return;
    SCPS_OBSERVE_CONN2(c, STATE, c->state, s);
    if (c->state == SCPS_TIME_WAIT)
        c->s.ctx.env->in_time_wait--;
    c->state = (uint8_t)s;
    if (s == SCPS_TIME_WAIT) {
        c->s.ctx.env->in_time_wait++;
        scps_timer_stop(&c->outage_timer);
        scps_conn_end_after(c, c->s.ctx.cfg->c.time_wait);
        scps_conn_free_tx(&c->s);
        scps_conn_notify(c, SCPS_EV_CLOSED);
    } else if (s == SCPS_FIN_WAIT_2 && c->notify.released) {
        scps_conn_end_after(c, c->s.ctx.cfg->c.fin_wait2);
    }
}

void scps_conn_finish(struct scps_conn *c, int err)
{
    bool was_time_wait = c->state == SCPS_TIME_WAIT;

    if (c->state == SCPS_CLOSED)
        return;
    scps_conn_set_state(c, SCPS_CLOSED);
    stop_timers(c);
    scps_marks_stop(scps_tp_marks(c->s.tp));
    scps_heap_remove(&c->s.ctx.env->deadlines, c);
    scps_conn_free_tx(&c->s);
    scps_rx_free(&c->rcv, &c->s.ctx);
    if (err)
        c->err = (int8_t)err;
    if (c->notify.pending &&
        /* true: a passive open that never became ESTABLISHED, so the application has no handle to
         * the connection and gets no event. (`pending` is false for every active open.) */
        !c->s.established) {
        scps_notify_release(&c->notify);
    } else if (err) {
        scps_conn_notify(c, SCPS_EV_ERROR);
    } else if (!was_time_wait) {
        scps_conn_notify(c, SCPS_EV_CLOSED);
    }
    scps_conn_queue_for_free(c);
}

void scps_conn_reset(struct scps_conn *c, int err)
{
    scps_todo_add(&c->s.todo, SCPS_TODO_RST);
    scps_sender_wake(&c->s);
    scps_conn_finish(c, err);
}

void scps_conn_detach(struct scps_conn *c)
{
    scps_sender_dequeue(&c->s);
    scps_gate_forget(&c->s);
    scps_sender_serve(&c->s, NULL);
    scps_todo_done(&c->s.todo, SCPS_TODO_RST);
    scps_conn_queue_for_free(c);
}

/* Returns true if the segment echoes the timestamp of this end's first SYN or SYN-ACK, so that its
 * timeout was spurious (RFC 3522 section 3.2): TSecr is a time no later than rto_initial / 8 after
 * `opened`, µs, when the first SYN became due. This margin allows for the time until the first SYN
 * leaves; the second one leaves later. The caller then takes no SYN for lost: over a round trip
 * above rto_initial every SYN times out, and RFC 5681 section 3.1 asks for an initial window of one
 * segment only if a SYN or SYN-ACK was lost. The echo is no RTT sample, because a peer may echo the
 * first SYN in an answer to the second one, too. */
static SCPS_NOINLINE bool echoes_first_syn(const struct scps_sender *s, const struct scps_ts *ts,
                                           scps_time opened, const struct scps_seg *seg)
{
    return s->agreed.opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS && seg->tsecr &&
           scps_ts_age(ts, seg->tsecr, s->ctx.env->now) + s->ctx.cfg->c.rto_initial / 8 >=
               s->ctx.env->now - opened;
}

void scps_conn_established(struct scps_conn *c, const struct scps_seg *seg)
{
    const struct scps_conn_config *cfg = &c->s.ctx.cfg->c;

    c->s.established = SCPS_MAX(c->s.ctx.env->now, 1);
    scps_keep_heard(&c->keep, c->s.established);
    if (c->s.tx)
        scps_tx_forget_timeouts(c->s.tx);
    if (c->s.agreed.caps & SCPS_CAP_COM && c->notify.active)
        scps_agreed_send_tcp_headers(&c->s.agreed);
    scps_conn_set_pmtu_mss(&c->s, c->s.agreed.pmtu_mss);
    scps_receive_segment(&c->rcv, SCPS_MIN(536, c->s.agreed.adv_mss));
    if (c->s.syn_lost && !c->s.rtt.srtt)
        /* After a lost SYN the RTO is at least 3 times the initial one, as RFC 6298 section 5.7 has
         * 3 s for 1 s. Above 3 s, rto_max bounds it (RFC 6298 section 2.5). */
        scps_rtt_at_least(&c->s.rtt,
                          SCPS_MIN(3 * cfg->rto_initial, SCPS_MAX(cfg->rto_max, AFTER_LOST_SYN)));
    if (c->s.syn_lost && echoes_first_syn(&c->s, &c->ts, c->opened, seg))
        scps_sender_syn_lost(&c->s, false);
    /* On a slow line a full segment takes longer than the SYN did, so a round trip measured by the
     * SYN is too short for data: the RTO becomes at least expected_rtt + rto_min. */
    if (cfg->expected_rtt)
        scps_rtt_at_least(&c->s.rtt, cfg->expected_rtt + cfg->rto_min);

    scps_cc_begin(&c->s, scps_conn_cc(c));
    if (cfg->keepalive)
        scps_timer_set(&c->s.ctx, &c->keep.timer, c->s.ctx.env->now + cfg->keep_idle);
    /* A connection made from a SYN cookie has no send state, and so no timer that frees it. */
    if (c->s.tx)
        scps_timer_by(&c->s.ctx, &c->s.tx->trim_timer, c->s.ctx.env->now + 2 * c->s.rtt.rto);
    if (c->s.snd.shut && c->state == SCPS_ESTABLISHED)
        scps_conn_set_state(c, SCPS_FIN_WAIT_1);
    if (c->notify.pending) {
        c->s.ctx.env->established(c->s.ctx.env, c);
    } else {
        scps_conn_notify(c, SCPS_EV_CONNECTED);
        scps_conn_notify(c, SCPS_EV_WRITABLE);
    }
    scps_sender_wake(&c->s);
}

/* Takes the memory that a SYN or SYN-ACK needs, so that it can be sent whenever the link permits.
 * Returns 0 or SCPS_ERR_NOMEM. */
static int reserve_handshake(struct scps_sender *s)
{
    return scps_conn_need_tx(s) ? SCPS_ERR_NOMEM : scps_sb_reserve(&s->tx->sb, &s->ctx.env->alloc);
}

int scps_conn_open(struct scps_conn *c)
{
    if (reserve_handshake(&c->s) ||
        ((c->s.ctx.cfg->c.binding[0].len || c->s.ctx.cfg->c.binding[1].len) &&
         scps_conn_need_tp(&c->s)))
        return SCPS_ERR_NOMEM;
    scps_notify_opens(&c->notify);
    c->opened = c->s.ctx.env->now;
    scps_snd_hold_begin(&c->s);
    scps_conn_set_state(c, SCPS_SYN_SENT);
    scps_sender_wake(&c->s);
    return 0;
}

static void take_syn(struct scps_conn *c, const struct scps_seg *syn)
{
    c->opened = c->s.ctx.env->now;
    scps_receive_begin(&c->rcv, syn->seq);
    scps_conn_settle(c, syn);
    scps_ackout_begin(&c->ack, SCPS_MIN(c->s.ctx.cfg->c.rcvbuf, 65535));
    scps_send_offered(
        &c->s.snd, syn->seq,
        scps_negotiate_first_window(&c->s.agreed, c->s.ctx.cfg->c.first_window, syn->wnd));
    scps_snd_hold_begin(&c->s);
}

int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn)
{
    if (reserve_handshake(&c->s))
        return SCPS_ERR_NOMEM;
    take_syn(c, syn);
    scps_conn_set_state(c, SCPS_SYN_RECEIVED);
    scps_sender_wake(&c->s);
    return 0;
}

int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una)
{
    take_syn(c, syn);
    /* The peer's capabilities are known only as far as the cookie could encode them. */
    scps_agreed_plainly(&c->s.agreed, SCPS_PLAIN_COOKIE);
    scps_send_resume(&c->s.snd, una);
    scps_conn_set_state(c, SCPS_ESTABLISHED);
    scps_conn_established(c, syn);
    return 0;
}

void scps_conn_compress_headers(struct scps_sender *s)
{
    if (!(s->agreed.opts & SCPS_AGREED_TCP_HEADERS))
        return;
    scps_agreed_compress(&s->agreed);
    scps_conn_set_pmtu_mss(s, s->agreed.pmtu_mss);
}

void scps_conn_send_tcp_headers(struct scps_sender *s)
{
    if (s->agreed.opts & SCPS_AGREED_TCP_HEADERS)
        return;
    scps_agreed_send_tcp_headers(&s->agreed);
    scps_conn_set_pmtu_mss(s, s->agreed.pmtu_mss);
}

void scps_conn_hold_small(struct scps_sender *s, unsigned bit, bool on)
{
    scps_small_set(&s->small, bit, on);
    if (!on)
        scps_sender_wake(s);
}
