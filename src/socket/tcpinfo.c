/* SPDX-License-Identifier: MIT */
/* TCP_INFO: converts struct scps_info to Linux's struct. <scps/socket.h> defines the fields. */
#include "socket/sock.h"

#define NO_SSTHRESH 0x7fffffffu

enum { CA_OPEN = 0, CA_DISORDER = 1, CA_RECOVERY = 3, CA_LOSS = 4 };
enum { OPT_TIMESTAMPS = 1, OPT_SACK = 2, OPT_WSCALE = 4, OPT_ECN = 8 };

static uint32_t u32(uint64_t v)
{
    return (uint32_t)SCPS_MIN(v, (uint64_t)UINT32_MAX);
}

static uint32_t dur(scps_dur d)
{
    return u32((uint64_t)SCPS_MAX(d, 0));
}

/* Returns the milliseconds from `then` to now. then 0: the event has not happened; returns the
 * milliseconds since the connection began. */
static uint32_t ago(scps_time now, scps_time then, scps_time begun)
{
    return dur((now - (then ? then : begun)) / 1000);
}

static uint32_t segs(uint64_t bytes, uint32_t mss)
{
    return u32(bytes / mss + (bytes % mss != 0));
}

/* Fills in the state of recovery, the options agreed on, and the timers. */
static void agreed_and_timers(struct scps_tcp_info *ti, const struct sock *s,
                              const struct scps_info *in)
{
    ti->tcpi_ca_state = in->backoff       ? CA_LOSS
                        : in->in_recovery ? CA_RECOVERY
                        : in->sacked      ? CA_DISORDER
                                          : CA_OPEN;
    ti->tcpi_retransmits = ti->tcpi_backoff = (uint8_t)SCPS_MIN(in->backoff, UINT8_MAX);
    ti->tcpi_options = (uint8_t)((in->timestamps ? OPT_TIMESTAMPS : 0) | (in->sack ? OPT_SACK : 0) |
                                 (in->wscale ? OPT_WSCALE : 0) | (in->ecn ? OPT_ECN : 0));
    ti->tcpi_snd_wscale = in->snd_wscale & 15;
    ti->tcpi_rcv_wscale = in->rcv_wscale & 15;
    ti->tcpi_rto = dur(in->rto);
    ti->tcpi_ato = dur(s->conf.cfg.ack_delay);
    ti->tcpi_rtt = dur(in->srtt);
    ti->tcpi_rttvar = dur(in->rttvar);
    ti->tcpi_min_rtt = dur(in->min_rtt);
    ti->tcpi_pmtu = in->pmtu;
    ti->tcpi_advmss = in->adv_mss;
    ti->tcpi_rcv_mss = in->rcv_mss;
    ti->tcpi_snd_mss = in->snd_mss;
}

/* Fills in times relative to now, and for how long each limit (such as the peer's window) stopped
 * sending. */
static void times(struct scps_tcp_info *ti, scps_time now, const struct scps_info *in)
{
    scps_time begun = in->established ? in->established : in->opened;

    ti->tcpi_last_data_sent = ago(now, in->last_sent, begun);
    ti->tcpi_last_data_recv = ago(now, in->last_received, begun);
    ti->tcpi_last_ack_recv = ago(now, in->last_ack_received, begun);
    if (in->established)
        ti->tcpi_busy_time =
            (uint64_t)SCPS_MAX(now - in->established - in->holds[SCPS_HOLD_APP], 0);
    ti->tcpi_rwnd_limited = (uint64_t)SCPS_MAX(in->holds[SCPS_HOLD_PEER_WINDOW], 0);
}

/* Fills in windows, in segments of the sender's MSS where Linux has that unit, and rates. */
static void windows(struct scps_tcp_info *ti, const struct sock *s, const struct scps_info *in)
{
    uint32_t mss = SCPS_MAX(in->snd_mss, 1);

    ti->tcpi_unacked = segs(in->outstanding, mss);
    ti->tcpi_sacked = segs(in->sacked, mss);
    ti->tcpi_lost = segs(in->lost, mss);
    ti->tcpi_delivered = segs(in->bytes_acked + in->sacked, mss);
    if (in->ssthresh / mss < NO_SSTHRESH)
        ti->tcpi_snd_ssthresh = u32(in->ssthresh / mss);
    ti->tcpi_snd_cwnd = u32(SCPS_MIN(in->cwnd / mss, (uint64_t)NO_SSTHRESH));
    ti->tcpi_rcv_ssthresh = u32(in->rcv_wnd);
    ti->tcpi_rcv_space = s->conf.cfg.rcvbuf;
    ti->tcpi_snd_wnd = u32(in->snd_wnd);
    ti->tcpi_rcv_wnd = u32(in->rcv_wnd);
    ti->tcpi_notsent_bytes = u32(in->unsent);
    ti->tcpi_pacing_rate = in->rate ? in->rate : UINT64_MAX;
    ti->tcpi_delivery_rate = in->delivery_rate;
    ti->tcpi_delivery_rate_app_limited = in->app_limited;
}

static void counters(struct scps_tcp_info *ti, const struct scps_info *in)
{
    ti->tcpi_total_retrans = in->resent_segs;
    ti->tcpi_bytes_acked = in->bytes_acked;
    ti->tcpi_bytes_received = in->bytes_received;
    ti->tcpi_segs_out = u32(in->segs_out);
    ti->tcpi_segs_in = u32(in->segs_in);
    ti->tcpi_data_segs_in = u32(in->data_segs_in);
    ti->tcpi_data_segs_out = u32(in->data_segs_out);
    ti->tcpi_delivered_ce = in->ecn_echoes;
    ti->tcpi_bytes_sent = in->bytes_sent;
    ti->tcpi_bytes_retrans = in->bytes_resent;
    ti->tcpi_dsack_dups = in->dsacks_in;
    ti->tcpi_reord_seen = in->reordered;
    ti->tcpi_rcv_ooopack = in->ooo_segs;
    ti->tcpi_total_rto = (uint16_t)SCPS_MIN(in->timeouts, UINT16_MAX);
}

void scps_sock_tcp_info(const struct sock *s, struct scps_tcp_info *ti)
{
    *ti = (struct scps_tcp_info){.tcpi_state = (uint8_t)scps_sock_state(s),
                                 .tcpi_max_pacing_rate =
                                     s->conf.cfg.rate ? s->conf.cfg.rate : UINT64_MAX,
                                 .tcpi_reordering = s->conf.cfg.dupthresh,
                                 .tcpi_snd_ssthresh = NO_SSTHRESH};
    if (s->pcb.lis) {
        ti->tcpi_unacked = scps_listener_pending(s->pcb.lis);
        ti->tcpi_sacked = s->backlog;
        return;
    }
    if (!s->pcb.conn)
        return;

    struct scps_info in;
    scps_conn_info(s->pcb.conn, &in);
    agreed_and_timers(ti, s, &in);
    times(ti, scps_sock_now(s->ctx), &in);
    windows(ti, s, &in);
    counters(ti, &in);
}
