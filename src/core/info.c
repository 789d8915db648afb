/* SPDX-License-Identifier: MIT */
/* Queries about a connection: names, counters, struct scps_info.
 *
 * No function here changes anything. A connection that has carried no data yet has no counters of
 * its own, and its counts are zero.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/sized.h"
#include "base/wide.h"
#include "core/pathstate.h"

const char *scps_recovery_name(enum scps_recovery_mode m)
{
    return m == SCPS_RECOVERY_RACK ? "rack" : "classic";
}

const char *scps_state_name(enum scps_state s)
{
    static const char *const names[] = {
        [SCPS_ESTABLISHED] = "ESTABLISHED",
        [SCPS_SYN_SENT] = "SYN-SENT",
        [SCPS_SYN_RECEIVED] = "SYN-RECEIVED",
        [SCPS_FIN_WAIT_1] = "FIN-WAIT-1",
        [SCPS_FIN_WAIT_2] = "FIN-WAIT-2",
        [SCPS_TIME_WAIT] = "TIME-WAIT",
        [SCPS_CLOSED] = "CLOSED",
        [SCPS_CLOSE_WAIT] = "CLOSE-WAIT",
        [SCPS_LAST_ACK] = "LAST-ACK",
        [SCPS_LISTEN] = "LISTEN",
        [SCPS_CLOSING] = "CLOSING",
    };

    return (size_t)s < sizeof names / sizeof *names && names[s] ? names[s] : "?";
}

enum scps_owner scps_conn_owner(const struct scps_conn *c)
{
    if (c->notify.pending)
        return SCPS_OWNER_LISTENER;
    return c->notify.released ? SCPS_OWNER_NOBODY : SCPS_OWNER_APPLICATION;
}

enum scps_state scps_conn_state(const struct scps_conn *c)
{
    return (enum scps_state)c->state;
}

int scps_conn_error(const struct scps_conn *c)
{
    return c->err;
}

unsigned scps_conn_icmp(const struct scps_conn *c)
{
    return c->s.icmp;
}

uint32_t scps_conn_id(const struct scps_conn *c)
{
    return c->s.ctx.id;
}

size_t scps_conn_readable(const struct scps_conn *c)
{
    return (size_t)scps_marks_readable(scps_tp_marks(c->s.tp), &c->rcv.in);
}

size_t scps_conn_writable(const struct scps_conn *c)
{
    uint64_t held = scps_send_held(&c->s.snd);

    if (c->err || c->state == SCPS_CLOSED || c->s.snd.shut || c->s.small.starved)
        return 0;
    return c->s.ctx.cfg->c.sndbuf > held ? (size_t)(c->s.ctx.cfg->c.sndbuf - held) : 0;
}

uint64_t scps_conn_unsent(const struct scps_conn *c)
{
    scps_off nxt = SCPS_MAX(c->s.snd.nxt, 1);

    return c->s.snd.end > nxt ? c->s.snd.end - nxt : 0;
}

uint64_t scps_conn_unacked(const struct scps_conn *c)
{
    scps_off una = SCPS_MAX(c->s.snd.una, 1);

    return c->s.snd.end > una ? c->s.snd.end - una : 0;
}

bool scps_conn_eof(const struct scps_conn *c)
{
    return c->rcv.fin && !scps_rcvbuf_ready(&c->rcv.in);
}

void scps_conn_local(const struct scps_conn *c, struct scps_endpoint *out)
{
    *out = (struct scps_endpoint){c->local, c->lport};
}

void scps_conn_remote(const struct scps_conn *c, struct scps_endpoint *out)
{
    *out = (struct scps_endpoint){c->remote, c->rport};
}

void *scps_conn_user(const struct scps_conn *c)
{
    return c->notify.pending ? NULL : c->owner.user;
}

void scps_conn_get_config_sized(const struct scps_conn *c, struct scps_conn_config *out,
                                size_t size)
{
    struct scps_conn_config own = c->s.ctx.cfg->c;

    own.nodelay = c->s.small.bits & SCPS_SMALL_NODELAY;
    scps_sized_give_own(out, size, &own, sizeof own);
}

int scps_path_save(const struct scps_conn *c, int64_t now, struct scps_path_state *out)
{
    struct scps_carried most = c->s.ctx.st->carried;
    struct scps_path_values p = {.saved_at = now,
                                 .rtt = scps_rtt_min(&c->s.rtt),
                                 .limit_found = c->s.ctl.ssthresh != UINT64_MAX,
                                 .local = c->local,
                                 .remote = c->remote};

    if (!scps_conn_ctx_counts(&c->s.ctx))
        return SCPS_ERR_AGAIN;
    if (c->s.tx && scps_delivery_most(&c->s.tx->delivery).bytes > most.bytes)
        most = scps_delivery_most(&c->s.tx->delivery);
    if (p.rtt <= 0 || most.bytes < 4 * (uint64_t)scps_cc_init_cwnd(&c->s.ctx.cfg->c,
                                                                   c->s.agreed.mss, c->s.syn_lost))
        return SCPS_ERR_AGAIN;
    p.cwnd = most.bytes;
    p.rate = scps_muldiv(most.bytes, 1000000, (uint64_t)SCPS_MAX(most.took, p.rtt));
    scps_pathstate_write(&p, out);
    SCPS_OBSERVE_CONN(c, RESUME, SCPS_RESUME_OBSERVED, 0, p.cwnd, 0);
    return 0;
}

enum scps_resume_phase scps_path_phase(const struct scps_conn *c, unsigned *been)
{
    const struct scps_resume *r = c->s.resumes ? &c->s.tp->resume : NULL;

    if (been)
        *been = r ? r->been : 1u << SCPS_RESUME_NORMAL;
    return r ? (enum scps_resume_phase)r->phase : SCPS_RESUME_NORMAL;
}

/* Copies the counters of a connection to *out, for scps_conn_info(). */
static void of_counts(const struct scps_conn_stats *st, struct scps_info *out)
{
    out->first_sent = st->first_sent;
    out->first_received = st->first_received;
    out->last_received = st->last_received;
    out->fin_acked = st->fin_acked;
    out->max_cwnd = st->max_cwnd;
    out->data_segs_out = st->data_segs_out;
    out->data_segs_in = st->data_segs_in;
    out->bytes_sent = st->bytes_sent;
    out->bytes_resent = st->bytes_resent;
    out->bytes_duplicate = st->bytes_duplicate;
    out->resent_segs = st->resent_segs;
    out->timeouts = st->timeouts;
    out->recoveries = st->recoveries;
    out->spurious = st->spurious;
    out->dupacks_in = st->dupacks_in;
    out->sacks_in = st->sacks_in;
    out->sacks_out = st->sacks_out;
    out->snacks_in = st->snacks_in;
    out->snacks_out = st->snacks_out;
    out->dsacks_in = st->dsacks_in;
    out->dsacks_out = st->dsacks_out;
    out->acks_out = st->acks_out;
    out->acks_held = st->acks_held;
    out->probes_out = st->probes_out;
    out->ooo_segs = st->ooo_segs;
    out->reordered = st->reordered;
    out->paws_drops = st->paws_drops;
    out->challenges = st->challenges;
    out->zero_windows_in = st->zero_windows_in;
    out->zero_windows_out = st->zero_windows_out;
    out->ecn_echoes = st->ecn_echoes;
    out->cc_corrected = st->cc_corrected;
    out->tlp_probes = st->tlp_probes;
    out->records_out = st->records_out;
    out->records_in = st->records_in;
    out->holes = st->holes;
    out->bytes_missing = st->bytes_missing;
    out->bytes_given_up = st->bytes_given_up;
    memcpy(out->holds, st->holds, sizeof out->holds);
}

/* Copies the state of the SCPS-TP features to *out, for scps_conn_info(). Most connections use none
 * of these features and have no such state. */
static void of_scps(const struct scps_conn_scps *tp, unsigned caps, struct scps_info *out)
{
    out->comp_out = tp->comp_out;
    out->comp_in = tp->comp_in;
    out->comp_saved_out = tp->comp_saved_out;
    out->comp_saved_in = tp->comp_saved_in;
    memcpy(out->binding, tp->binding, sizeof out->binding);
    out->comp_id = caps & SCPS_CAP_COM ? tp->conn_id : 0;
    out->comp_peer_id = caps & SCPS_CAP_COM ? tp->peer_id : 0;
}

/* Copies to *out what the scoreboard, loss recovery and the rate samples say about outstanding
 * data. */
static void of_tx(const struct scps_tx *tx, const struct scps_agreed *agreed,
                  const struct scps_conn_config *cfg, const struct scps_rtt *rtt,
                  struct scps_info *out)
{
    out->inflight = scps_recovery_inflight(tx);
    out->sacked = tx->sb.arrived;
    out->lost = tx->sb.lost;
    out->delivery_rate = tx->delivery.rate;
    out->reo_wnd = scps_agreed_rack(agreed, cfg) ? scps_rack_window(tx, rtt, cfg->dupthresh) : 0;
    out->in_recovery = tx->rec.episode != SCPS_EPISODE_NONE;
    out->app_limited = tx->delivery.app_limited != 0;
}

/* Copies the options and sizes that both SYNs agreed on to *out, for scps_conn_info(). */
static void of_agreed(const struct scps_agreed *a, struct scps_info *out)
{
    out->sack = a->opts & SCPS_AGREED_SACK;
    out->timestamps = a->opts & SCPS_AGREED_TS;
    out->ecn = a->opts & SCPS_AGREED_ECN;
    out->wscale = a->opts & SCPS_AGREED_WSCALE;
    out->snd_wscale = a->snd_wscale;
    out->rcv_wscale = a->rcv_wscale;
    out->snd_mss = a->mss;
    out->adv_mss = a->adv_mss;
    out->caps_peer = a->caps_peer;
    out->caps = a->caps;
}

void scps_conn_info_sized(const struct scps_conn *c, struct scps_info *to, size_t size)
{
    static const struct scps_conn_stats none;
    const struct scps_conn_stats *st = scps_conn_ctx_counts(&c->s.ctx) ? c->s.ctx.st : &none;
    const struct scps_asked asked = scps_conn_asked(&c->s, c->state, c->notify.active);
    const struct scps_tx *tx = c->s.tx;
    scps_off una = SCPS_MAX(c->s.snd.una, 1);
    struct scps_info own, *out = &own;

    /* The padding of the structure is cleared, too, so that the caller gets no old bytes of the
     * call stack. */
    memset(out, 0, sizeof *out);
    out->state = (enum scps_state)c->state;
    out->rcv_mss = c->rcv.mss;
    out->pmtu = c->s.agreed.pmtu_mss + (c->remote.family == 6 ? 60u : 40u);
    out->rto = c->s.rtt.rto;
    out->srtt = c->s.rtt.srtt;
    out->rttvar = c->s.rtt.rttvar;
    out->min_rtt = scps_rtt_min(&c->s.rtt);
    out->last_rtt = tx ? tx->rto.latest : st->last_rtt;
    out->opened = c->opened;
    out->established = c->s.established;
    out->last_sent = tx && tx->sent_at ? tx->sent_at : st->last_sent;
    out->last_ack_received = tx && tx->heard_at ? tx->heard_at : st->last_ack_received;
    out->backoff = tx ? tx->silence.unanswered : 0;
    out->cwnd = c->s.ctl.cwnd;
    out->ssthresh = c->s.ctl.ssthresh;
    out->rate = tx ? tx->pacer.rate : c->s.ctl.rate ? c->s.ctl.rate : c->s.ctx.cfg->c.rate;
    out->hold = (enum scps_hold)c->s.hold;
    out->snd_wnd = c->s.snd.edge > c->s.snd.una ? c->s.snd.edge - c->s.snd.una : 0;
    out->rcv_wnd = c->ack.announced > scps_receive_next(&c->rcv)
                       ? c->ack.announced - scps_receive_next(&c->rcv)
                       : 0;
    out->outstanding = c->s.snd.nxt > una ? c->s.snd.nxt - una : 0;
    out->unsent = scps_conn_unsent(c);
    out->rcv_queued = scps_rcvbuf_ready(&c->rcv.in);
    out->rcv_ooo = scps_rangeset_total(c->rcv.in.ooo);
    out->rcv_holes = c->rcv.in.ooo->n;
    out->segs_out = c->segs.out;
    out->segs_in = c->segs.in;
    out->bytes_acked = (una > c->s.snd.end ? c->s.snd.end : una) - 1 - st->bytes_given_up;
    out->bytes_received = c->rcv.in.next - 1 - st->bytes_missing;
    out->caps_offered = scps_negotiate_caps(&asked);
    out->cc_phase = c->s.ctl.phase;
    out->recovery = scps_agreed_rack(&c->s.agreed, &c->s.ctx.cfg->c) ? SCPS_RECOVERY_RACK
                                                                     : SCPS_RECOVERY_CLASSIC;
    out->ranges_given_up = c->s.tp ? c->s.tp->given_up.n : 0;
    of_agreed(&c->s.agreed, out);
    of_counts(st, out);
    for (int f = 0; f < SCPS_FEATURE_COUNT; f++)
        out->why[f] = (uint8_t)scps_negotiate_why(&asked, (enum scps_feature)f);
    if (c->s.tp)
        of_scps(c->s.tp, c->s.agreed.caps, out);
    if (st != &none && c->state != SCPS_CLOSED)
        out->holds[c->s.hold] += c->s.ctx.env->now - st->hold_since;
    /* The time in the handshake is computed here from `opened` and `established`, because the
     * counters are allocated only when there is memory, which may be during the handshake or after
     * it. */
    if (c->s.established || c->state != SCPS_CLOSED)
        out->holds[SCPS_HOLD_HANDSHAKE] =
            (c->s.established ? c->s.established : c->s.ctx.env->now) - c->opened;
    if (tx)
        of_tx(tx, &c->s.agreed, &c->s.ctx.cfg->c, &c->s.rtt, out);
    scps_sized_give(to, size, out, sizeof *out);
}
