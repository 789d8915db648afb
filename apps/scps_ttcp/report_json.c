/* SPDX-License-Identifier: MIT */
/* The result as JSON in the form of iperf3's document, so that readers of that form accept it, with
 * additional members.
 *
 * iperf3's keys have the same meaning, with three refinements. end.sum_sent runs from the SYN to
 * the acknowledgement of the FIN, and its bytes are acknowledged ones. end.sum_received of a sender
 * alone is what the peer acknowledged. snd_cwnd is never larger than the peer's window, because
 * pure rate control has no congestion window. In virtual time nothing here depends on the machine
 * or the time of day: there is no timestamp, no system_info, no processor time.
 *
 * docs/schema/scps_ttcp.schema.json describes all of it; report_udp.c has what differs with -u.
 */
#include "scps_ttcp/report_parts.h"
#include "scps_ttcp/units.h"

#include <scps/error.h>

void ttcp_json_rate(struct scps_json *j, uint64_t bytes, scps_dur us)
{
    scps_json_uint(j, "bits_per_second", units_bps(bytes, us));
}

/* Writes start, end, duration, bytes, rate and, at the sender, retransmissions of interval i: the
 * first members of an object in the JSON report, which is an item of "streams" (the figures of one
 * flow), or the object "sum" or "sum_bidir_reverse" (i is then the sum over several flows). */
static void interval_head(struct scps_json *j, const struct ttcp_result *r,
                          const struct ttcp_interval *i)
{
    uint64_t bytes = r->has_tx ? i->acked : i->delivered;

    scps_json_seconds(j, "start", i->start);
    scps_json_seconds(j, "end", i->end);
    scps_json_seconds(j, "seconds", i->end - i->start);
    scps_json_uint(j, "bytes", bytes);
    ttcp_json_rate(j, bytes, i->end - i->start);
    if (r->has_tx)
        scps_json_uint(j, "retransmits", i->retransmits);
}

static void interval_stream(struct scps_json *j, const struct ttcp_result *r,
                            const struct ttcp_interval *i)
{
    scps_json_open(j, NULL, '{');
    scps_json_uint(j, "socket", r->has_tx ? r->tx.id : r->rx.id);
    interval_head(j, r, i);
    if (r->has_tx) {
        scps_json_uint(j, "snd_cwnd", i->cwnd);
        scps_json_uint(j, "snd_wnd", i->snd_wnd);
    }
    scps_json_us(j, "rtt", i->rtt);
    scps_json_us(j, "rttvar", i->rttvar);
    scps_json_uint(j, "pmtu", i->pmtu);
    scps_json_bool(j, "omitted", false);
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

/* Writes the object `key`: the figures of interval k (from 0), summed over all flows that have the
 * direction of r. r: the first of these flows. */
static void interval_sum(struct scps_json *j, const struct ttcp_result *r, const char *key,
                         size_t k)
{
    struct ttcp_interval all = {0};

    for (const struct ttcp_result *one = r; one != NULL; one = one->next)
        if (one->back == r->back && k < one->n_intervals)
            ttcp_interval_add(&all, &one->intervals[k]);
    scps_json_open(j, key, '{');
    interval_head(j, r, &all);
    scps_json_bool(j, "omitted", false);
    scps_json_bool(j, "sender", r->has_tx);
    scps_json_close(j, '}');
}

static void interval_scps(struct scps_json *j, const struct ttcp_result *r,
                          const struct ttcp_interval *i)
{
    scps_json_open(j, "scps", '{');
    if (r->has_tx) {
        scps_json_uint(j, "enqueued_bytes", i->enqueued);
        scps_json_uint(j, "acked_bytes", i->acked);
        scps_json_uint(j, "inflight", i->inflight);
    }
    if (r->has_rx) {
        scps_json_uint(j, "delivered_bytes", i->delivered);
        scps_json_uint(j, "holes", i->holes);
    }
    scps_json_string(j, "hold", scps_hold_name(i->hold));
    scps_json_close(j, '}');
}

/* Writes interval k of all flows, which were sampled at the same times. */
static void interval(struct scps_json *j, const struct ttcp_result *r, size_t k)
{
    const struct ttcp_result *back = r;

    while (back != NULL && !back->back)
        back = back->next;
    scps_json_open(j, NULL, '{');
    scps_json_open(j, "streams", '[');
    for (const struct ttcp_result *one = r; one != NULL; one = one->next)
        if (k < one->n_intervals)
            interval_stream(j, one, &one->intervals[k]);
    scps_json_close(j, ']');
    interval_sum(j, r, "sum", k);
    if (back != NULL)
        interval_sum(j, back, "sum_bidir_reverse", k);
    if (r->id == 0)
        interval_scps(j, r, &r->intervals[k]);
    scps_json_close(j, '}');
}

void ttcp_report_json(const struct ttcp_result *r, struct scps_json *j)
{
    scps_json_open(j, NULL, '{');
    ttcp_json_start(j, r);
    scps_json_open(j, "intervals", '[');
    for (size_t i = 0; i < r->n_intervals; i++)
        if (r->opt->udp)
            ttcp_json_udp_interval(j, r, &r->intervals[i]);
        else
            interval(j, r, i);
    scps_json_close(j, ']');
    (r->opt->udp ? ttcp_json_udp_end : ttcp_json_end)(j, r);
    if (r->outcome != TTCP_DONE)
        scps_json_string(j, "error", r->error);
    scps_json_close(j, '}');
}
