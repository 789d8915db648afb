/* SPDX-License-Identifier: MIT */
/* Option --interval: computes the figures of a transfer since the end of the previous interval. */
#include "scps_ttcp/result.h"

#include <stdlib.h>

static void datagram_interval(struct ttcp_interval *sum, struct ttcp_interval *i,
                              const struct ttcp_sender *s, const struct ttcp_receiver *rcv)
{
    uint64_t packets = rcv != NULL ? rcv->d.packets : s->d.sent, lost = 0;

    if (s != NULL) {
        i->enqueued = s->written - sum->enqueued;
        i->acked = s->acked - sum->acked;
        sum->enqueued = s->written;
        sum->acked = s->acked;
    }
    if (rcv != NULL) {
        lost = rcv->d.highest > packets ? rcv->d.highest - packets : 0;
        i->jitter = rcv->d.jitter;
    }
    i->packets = packets - sum->packets;
    /* A datagram that an earlier interval counted as lost may have arrived in this interval. */
    i->lost = lost > sum->lost ? lost - sum->lost : 0;
    sum->packets = packets;
    sum->lost = lost;
}

const struct ttcp_interval *ttcp_result_interval(struct ttcp_result *r, const struct ttcp_sender *s,
                                                 const struct ttcp_receiver *rcv, scps_dur now)
{
    struct ttcp_interval *sum = &r->sum, i = {0};
    struct scps_info info;

    if (now <= sum->end)
        return NULL;
    i.start = sum->end;
    i.end = now;
    if (s != NULL && s->conn != NULL) {
        scps_conn_info(s->conn, &info);
        i.enqueued = s->written - sum->enqueued;
        i.acked = s->acked - sum->acked;
        i.retransmits = info.resent_segs - sum->retransmits;
        i.cwnd = info.cwnd < info.snd_wnd ? info.cwnd : info.snd_wnd;
        i.snd_wnd = info.snd_wnd;
        i.inflight = info.inflight;
        i.rtt = info.srtt;
        i.rttvar = info.rttvar;
        i.pmtu = info.pmtu;
        i.hold = info.hold;
        sum->enqueued = s->written;
        sum->acked = s->acked;
        sum->retransmits = info.resent_segs;
    }
    if (r->opt->udp)
        datagram_interval(sum, &i, s, rcv);
    if (rcv != NULL) {
        i.delivered = rcv->received - sum->delivered;
        sum->delivered = rcv->received;
        if (rcv->conn != NULL) {
            scps_conn_info(rcv->conn, &info);
            i.holes = info.rcv_holes;
            if (s == NULL) {
                i.rtt = info.srtt;
                i.rttvar = info.rttvar;
                i.pmtu = info.pmtu;
                i.hold = info.hold;
            }
        }
    }
    sum->end = now;
    if (r->n_intervals == r->cap_intervals) {
        size_t cap = r->cap_intervals != 0 ? 2 * r->cap_intervals : 64;
        struct ttcp_interval *more = realloc(r->intervals, cap * sizeof(*more));

        if (more == NULL)
            return NULL;
        r->intervals = more;
        r->cap_intervals = cap;
    }
    r->intervals[r->n_intervals] = i;
    return &r->intervals[r->n_intervals++];
}

void ttcp_interval_add(struct ttcp_interval *sum, const struct ttcp_interval *i)
{
    sum->start = i->start;
    sum->end = i->end;
    sum->enqueued += i->enqueued;
    sum->acked += i->acked;
    sum->delivered += i->delivered;
    sum->retransmits += i->retransmits;
}
