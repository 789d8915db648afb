/* SPDX-License-Identifier: MIT */
/* Writes the member "end" of the JSON report (--json) of a TCP transfer: the sums, the times, the
 * counters of the connection and of the link, and how the transfer ended.
 * docs/schema/scps_ttcp.schema.json describes it. report_udp.c writes the report of a transfer by
 * UDP (-u).
 */
#include "scps_ttcp/report_parts.h"

#include <scps/error.h>

#include <inttypes.h>

/* Writes the largest congestion window, peer's window and RTT, which iperf3 takes from the samples
 * at the ends of the intervals; the values at the end of the transfer count as one more sample. As
 * in the intervals, the congestion window is reported as the peer's window if that is smaller. */
static void largest(struct scps_json *j, const struct ttcp_result *r)
{
    const struct scps_info *end = &r->tx.info;
    uint64_t cwnd = end->cwnd < end->snd_wnd ? end->cwnd : end->snd_wnd, wnd = end->snd_wnd;
    scps_dur rtt = end->srtt;

    for (size_t i = 0; i < r->n_intervals; i++) {
        const struct ttcp_interval *at = &r->intervals[i];

        cwnd = at->cwnd > cwnd ? at->cwnd : cwnd;
        wnd = at->snd_wnd > wnd ? at->snd_wnd : wnd;
        rtt = at->rtt > rtt ? at->rtt : rtt;
    }
    scps_json_uint(j, "max_snd_cwnd", cwnd);
    scps_json_uint(j, "max_snd_wnd", wnd);
    scps_json_us(j, "max_rtt", rtt);
}

/* Writes one object of the member "end", with name `key`: bytes, time and rate of all flows
 * together that have the direction of r. sent: true for the figures at the senders ("sum_sent" and,
 * for the opposite direction of --bidir, "sum_sent_bidir_reverse"), false for those at the
 * receivers. */
static void sum_all(struct scps_json *j, const struct ttcp_result *r, const char *key, bool sent)
{
    const struct ttcp_total t = ttcp_result_total(r, sent);

    scps_json_open(j, key, '{');
    scps_json_seconds(j, "start", 0);
    scps_json_seconds(j, "end", t.us);
    scps_json_seconds(j, "seconds", t.us);
    scps_json_uint(j, "bytes", t.bytes);
    ttcp_json_rate(j, t.bytes, t.us);
    if (sent && r->has_tx)
        scps_json_uint(j, "retransmits", t.resent);
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

/* Writes the object `key` in an item of end.streams: bytes and time of one flow at its sender (sent
 * is true) or its receiver. */
static void sum(struct scps_json *j, const struct ttcp_result *r, const char *key, bool sent)
{
    uint64_t bytes = sent ? r->acked_bytes : ttcp_received_bytes(r);
    scps_dur us = sent ? ttcp_sent_time(r) : ttcp_received_time(r);

    scps_json_open(j, key, '{');
    scps_json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    scps_json_seconds(j, "start", 0);
    scps_json_seconds(j, "end", us);
    scps_json_seconds(j, "seconds", us);
    scps_json_uint(j, "bytes", bytes);
    ttcp_json_rate(j, bytes, us);
    if (sent && r->has_tx) {
        scps_json_uint(j, "retransmits", r->tx.info.resent_segs);
        largest(j, r);
        scps_json_us(j, "min_rtt", r->tx.info.min_rtt);
        scps_json_us(j, "mean_rtt", r->tx.info.srtt);
    }
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

static void timing(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, "timing", '{');
    scps_json_us(j, "connect_us", r->connect);
    scps_json_us(j, "first_byte_us", r->first_byte);
    scps_json_us(j, "enqueued_us", r->enqueued);
    scps_json_us(j, "acked_us", r->acked);
    scps_json_us(j, "delivered_us", r->delivered);
    scps_json_us(j, "close_us", r->closed);
    scps_json_close(j, '}');
}

void ttcp_json_drops(struct scps_json *j, const char *key, const struct ttcp_side *s)
{
    scps_json_open(j, key, '{');
    for (int d = SCPS_DROP_NONE + 1; d < SCPS_DROP_COUNT; d++)
        scps_json_uint(j, scps_drop_name((enum scps_drop)d), s->stack.drops[d]);
    scps_json_close(j, '}');
}

static void tcp_counters(struct scps_json *j, const struct scps_info *i)
{
    scps_json_uint(j, "segments_sent", i->segs_out);
    scps_json_uint(j, "segments_received", i->segs_in);
    scps_json_uint(j, "data_segments_sent", i->data_segs_out);
    scps_json_uint(j, "data_segments_received", i->data_segs_in);
    scps_json_uint(j, "retransmits", i->resent_segs);
    scps_json_uint(j, "bytes_sent", i->bytes_sent);
    scps_json_uint(j, "bytes_resent", i->bytes_resent);
    scps_json_uint(j, "bytes_received", i->bytes_received);
    scps_json_uint(j, "bytes_duplicate", i->bytes_duplicate);
    scps_json_uint(j, "timeouts", i->timeouts);
    scps_json_uint(j, "recoveries", i->recoveries);
    scps_json_uint(j, "spurious", i->spurious);
    scps_json_uint(j, "cc_corrected", i->cc_corrected);
    scps_json_string(j, "cc_phase", scps_cc_phase_name(i->cc_phase));
    scps_json_string(j, "recovery", scps_recovery_name(i->recovery));
    scps_json_uint(j, "tlp_probes", i->tlp_probes);
    scps_json_uint(j, "reordered", i->reordered);
    scps_json_uint(j, "reo_wnd_us", (uint64_t)i->reo_wnd);
    scps_json_uint(j, "dupacks", i->dupacks_in);
    scps_json_uint(j, "sacks", i->sacks_in);
    scps_json_uint(j, "sacks_out", i->sacks_out);
    scps_json_uint(j, "dsacks", i->dsacks_in);
    scps_json_uint(j, "dsacks_out", i->dsacks_out);
    scps_json_uint(j, "snacks_in", i->snacks_in);
    scps_json_uint(j, "snacks_out", i->snacks_out);
    scps_json_uint(j, "acks_out", i->acks_out);
    scps_json_uint(j, "acks_held", i->acks_held);
    scps_json_uint(j, "probes_out", i->probes_out);
    scps_json_uint(j, "out_of_order", i->ooo_segs);
    scps_json_uint(j, "zero_windows_in", i->zero_windows_in);
    scps_json_uint(j, "zero_windows_out", i->zero_windows_out);
}

static void compressed(struct scps_json *j, const struct scps_info *i)
{
    scps_json_open(j, "compressed", '{');
    scps_json_uint(j, "segments_out", i->comp_out);
    scps_json_uint(j, "segments_in", i->comp_in);
    scps_json_uint(j, "saved_out", i->comp_saved_out);
    scps_json_uint(j, "saved_in", i->comp_saved_in);
    scps_json_close(j, '}');
}

static void tcp(struct scps_json *j, const char *key, const struct ttcp_side *s)
{
    const struct scps_info *i = &s->info;

    scps_json_open(j, key, '{');
    tcp_counters(j, i);
    compressed(j, i);
    scps_json_us(j, "min_rtt_us", i->min_rtt > 0 ? i->min_rtt : -1);
    scps_json_us(j, "srtt_us", i->srtt > 0 ? i->srtt : -1);
    scps_json_us(j, "rto_us", i->rto);
    if (i->max_cwnd >= SCPS_CWND_OPEN)
        scps_json_null(j, "max_cwnd");
    else
        scps_json_uint(j, "max_cwnd", i->max_cwnd);
    ttcp_json_drops(j, "drops", s);
    scps_json_open(j, "holds_us", '{');
    for (int h = 0; h < SCPS_HOLD_COUNT; h++)
        scps_json_us(j, scps_hold_name((enum scps_hold)h), i->holds[h]);
    scps_json_close(j, '}');
    scps_json_close(j, '}');
}

static void link_stats(struct scps_json *j, const char *key, const struct scps_link_stats *s)
{
    scps_json_open(j, key, '{');
    scps_json_uint(j, "offered", s->offered);
    scps_json_uint(j, "delivered", s->delivered);
    for (int f = SCPS_FATE_BER; f < SCPS_FATE_COUNT; f++) {
        char name[24];
        snprintf(name, sizeof(name), "dropped_%s", scps_fate_name((enum scps_fate)f));
        scps_json_uint(j, name, scps_link_dropped(s, (enum scps_fate)f));
    }
    scps_json_uint(j, "duplicated", s->duplicated);
    scps_json_uint(j, "reordered", s->reordered);
    scps_json_uint(j, "flipped", s->flipped);
    scps_json_uint(j, "in_flight", s->in_flight);
    scps_json_uint(j, "max_queue_bytes", s->max_queue_bytes);
    scps_json_us(j, "busy_us", s->busy);
    scps_json_close(j, '}');
}

static void cpu(struct scps_json *j, const struct ttcp_result *r)
{
    uint64_t us = r->elapsed > 0 ? (uint64_t)r->elapsed : 1;
    const uint64_t used[3] = {r->cpu_user_us + r->cpu_system_us, r->cpu_user_us, r->cpu_system_us};
    static const char *const names[3] = {"host_total", "host_user", "host_system"};

    scps_json_open(j, "cpu_utilization_percent", '{');
    for (int i = 0; i < 3; i++) {
        char text[32];
        uint64_t cents = used[i] * 10000 / us;

        snprintf(text, sizeof(text), "%" PRIu64 ".%02" PRIu64, cents / 100, cents % 100);
        scps_json_raw(j, names[i], text);
    }
    scps_json_close(j, '}');
}

/* Writes object `key` with the holes of one end, their number and their bytes. A hole is a range of
 * bytes that the receiver skipped because they did not arrive in time or, at the sender, that it no
 * longer retransmits (best effort, option -E). */
static void holes(struct scps_json *j, const char *key, const struct ttcp_side *s)
{
    scps_json_open(j, key, '{');
    scps_json_uint(j, "bytes", s->missing);
    scps_json_uint(j, "count", s->n_holes);
    scps_json_open(j, "list", '[');
    for (size_t i = 0; i < s->n_holes; i++) {
        scps_json_open(j, NULL, '{');
        scps_json_uint(j, "offset", s->holes[i].at);
        scps_json_uint(j, "length", s->holes[i].len);
        scps_json_close(j, '}');
    }
    scps_json_close(j, ']');
    scps_json_close(j, '}');
}

static void records(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, "records", '{');
    if (r->has_tx)
        scps_json_uint(j, "written", r->tx.info.records_out);
    if (r->has_rx) {
        scps_json_uint(j, "read", r->rx.records);
        scps_json_uint(j, "torn", r->rx.torn);
        scps_json_uint(j, "min_bytes", r->rx.record_min);
        scps_json_uint(j, "max_bytes", r->rx.record_max);
    }
    scps_json_close(j, '}');
}

static void echoes(struct scps_json *j, const struct ttcp_echo *e)
{
    scps_json_open(j, "echo", '{');
    scps_json_uint(j, "count", e->count);
    scps_json_uint(j, "bytes", e->bytes);
    scps_json_us(j, "min_us", e->min);
    scps_json_us(j, "mean_us", e->count > 0 ? e->sum / (scps_dur)e->count : 0);
    scps_json_us(j, "max_us", e->max);
    scps_json_close(j, '}');
}

void ttcp_json_ran(struct scps_json *j, const struct ttcp_result *r)
{
    if (!r->virtual_time) {
        cpu(j, r);
        return;
    }
    scps_json_open(j, "link", '{');
    link_stats(j, "forward", &r->link_fwd);
    link_stats(j, "back", &r->link_back);
    scps_json_close(j, '}');
}

void ttcp_json_outcome(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_string(j, "outcome", ttcp_outcome_name(r->outcome));
    scps_json_uint(j, "exit_status", (uint64_t)ttcp_exit_status(r->outcome));
    scps_json_us(j, "elapsed_us", ttcp_result_elapsed(r));
}

void ttcp_json_verified(struct scps_json *j, const struct ttcp_result *r)
{
    if (r->compared)
        scps_json_bool(j, "verified", r->intact);
    else if (r->receipt.there && r->receipt.missing == 0)
        scps_json_bool(j, "verified", r->receipt_intact);
    else
        scps_json_null(j, "verified");
}

/* Writes the object "told": the result that the receiver has sent back (--tell). */
static void receipt(struct scps_json *j, const struct ttcp_receipt *t)
{
    scps_json_open(j, "told", '{');
    scps_json_uint(j, "bytes", t->bytes);
    scps_json_uint(j, "missing", t->missing);
    scps_json_us(j, "delivered_us", t->us);
    scps_json_uint(j, "data_segments_received", t->segments);
    scps_json_uint(j, "out_of_order", t->out_of_order);
    scps_json_uint(j, "bytes_duplicate", t->duplicate);
    scps_json_close(j, '}');
}

/* Writes the counters of the connection of flow r, of both ends if both are in this process. */
static void flow_scps(struct scps_json *j, const struct ttcp_result *r)
{
    if (r->has_tx) {
        scps_json_uint(j, "enqueued_bytes", r->tx.bytes);
        scps_json_uint(j, "acked_bytes", r->acked_bytes);
        scps_json_uint(j, "write_calls", r->tx.calls);
    }
    if (r->has_rx) {
        scps_json_uint(j, "delivered_bytes", r->rx.bytes);
        scps_json_uint(j, "read_calls", r->rx.calls);
    }
    if (r->opt->conn.records)
        records(j, r);
    if (r->opt->echo && r->has_tx)
        echoes(j, &r->tx.echo);
    if (r->opt->conn.bets && r->has_rx)
        holes(j, "holes", &r->rx);
    if (r->opt->conn.bets && r->has_tx)
        holes(j, "given_up", &r->tx);
    if (r->receipt.there)
        receipt(j, &r->receipt);
}

static void flow_tcp(struct scps_json *j, const struct ttcp_result *r)
{
    timing(j, r);
    tcp(j, "tcp", r->has_tx ? &r->tx : &r->rx);
    if (r->has_tx && r->has_rx)
        tcp(j, "tcp_peer", &r->rx);
}

/* Writes the item of end.streams for flow r. If there are several flows, each item has the counters
 * of its connection; with one flow these are in "end" itself. */
static void stream(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, NULL, '{');
    sum(j, r, "sender", true);
    sum(j, r, "receiver", false);
    if (r->id != 0) {
        flow_tcp(j, r);
        scps_json_open(j, "scps", '{');
        scps_json_bool(j, "back", r->back);
        scps_json_string(j, "outcome", ttcp_outcome_name(r->outcome));
        flow_scps(j, r);
        scps_json_close(j, '}');
        ttcp_json_verified(j, r);
    }
    scps_json_close(j, '}');
}

static void sums(struct scps_json *j, const struct ttcp_result *r)
{
    const struct ttcp_result *back = r;

    while (back != NULL && !back->back)
        back = back->next;
    sum_all(j, r, "sum_sent", true);
    sum_all(j, r, "sum_received", false);
    if (back != NULL) {
        sum_all(j, back, "sum_sent_bidir_reverse", true);
        sum_all(j, back, "sum_received_bidir_reverse", false);
    }
}

void ttcp_json_end(struct scps_json *j, const struct ttcp_result *r)
{
    scps_json_open(j, "end", '{');
    scps_json_open(j, "streams", '[');
    for (const struct ttcp_result *one = r; one != NULL; one = one->next)
        stream(j, one);
    scps_json_close(j, ']');
    sums(j, r);
    ttcp_json_ran(j, r);
    if (r->has_tx)
        scps_json_string(j, "sender_tcp_congestion", r->opt->cc->name);
    if (r->has_rx)
        scps_json_string(j, "receiver_tcp_congestion", r->opt->cc->name);
    if (r->id == 0)
        flow_tcp(j, r);
    scps_json_open(j, "scps", '{');
    ttcp_json_outcome(j, r);
    if (r->id == 0)
        flow_scps(j, r);
    ttcp_json_interface(j, r);
    if (r->limit_bps != 0)
        scps_json_uint(j, "physical_limit_bps", r->limit_bps);
    scps_json_close(j, '}');
    if (r->id == 0)
        ttcp_json_verified(j, r);
    scps_json_close(j, '}');
}
