/* SPDX-License-Identifier: MIT */
/* How long a run may take after the channel healed, and what explains one that takes longer. */
#include "pair.h"

/* The longest retransmission timeout of all connections, beyond the least limit of its backoff. */
static scps_dur longest_rto(const struct world *w)
{
    scps_dur most = SCPS_SEC(60);

    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (w->flow[i].end[k].c) {
                struct scps_info n;
                scps_conn_info(w->flow[i].end[k].c, &n);
                most = SCPS_MAX(most, n.rto);
            }
    return most - SCPS_SEC(60);
}

/* Best effort gives up each segment before its acknowledgement can be here, where the lifetime is
 * shorter than the round trip. Then a controller never learns the path, and the rate remains the
 * one that followed from the handshake, one octet a second at least. */
static bool expires_on_the_way(const struct world *w)
{
    scps_dur rtt = w->host[0].out.delay + w->host[1].out.delay;
    bool any = false;

    for (int i = 0; i < HOSTS; i++)
        any |= w->host[i].cfg.bets_lifetime &&
               w->host[i].cfg.bets_lifetime < rtt + w->host[!i].cfg.ack_delay;
    return any;
}

/* How long two ends may take after the channel healed: a timer that is backed off to its limit,
 * and what is left to send. Where each segment was lost, or a timer that may not be as long as the
 * round trip keeps the window at one, each takes a round trip (RFC 6582 section 3.2): some 280 of
 * 36 octets. A timeout that was measured while the path was longer is as long now: the answer to
 * the first may end the wait, but a peer that has gone is found out by R2 alone, which is sixteen
 * of them where they do not back off (core/rto.c). */
scps_dur pair_time_limit(const struct world *w)
{
    scps_dur rtt = w->host[0].out.delay + w->host[1].out.delay;
    scps_dur silence = SCPS_SEC(1500) + 16 * longest_rto(w);

    /* best effort waits for a hole as long as two of the round trips that it was told to expect */
    rtt += SCPS_MAX(w->host[0].cfg.expected_rtt, w->host[1].cfg.expected_rtt) / 25;
    if (expires_on_the_way(w))
        silence += SCPS_SEC(MOST_OCTETS);
    if (w->host[0].gone || w->host[1].gone) /* the other one has to find out: 15 timeouts */
        silence += SCPS_SEC(6500);
    return silence + 300 * rtt;
}

/* A timeout that is put down to corruption does not back off (docs/SCPS-TP.md section 3.4), or may
 * not: a host that hears of it, or that is told of it by the other, takes losses for damage. */
bool pair_without_backoff(const struct world *w)
{
    bool corruption = false;

    for (int i = 0; i < HOSTS; i++)
        corruption |=
            w->host[i].cfg.corruption || w->host[i].cfg.loss_cause == SCPS_LOSS_CORRUPTION;
    return corruption;
}

/* Then each host misreads the other's holes, and what is named wrongly goes again 64 times before
 * the embargo grows (core/snacktx.c); what arrives again without need lets the retransmission timer
 * start anew. */
bool pair_units_differ(const struct world *w)
{
    return w->host[0].cfg.snack && w->host[1].cfg.snack &&
           w->host[0].cfg.snack_raw_unit != w->host[1].cfg.snack_raw_unit;
}

/* Best effort waits for a hole as long as two of the round trips that it was told to expect. */
static bool waits_long(const struct world *w)
{
    bool any = false;

    for (int i = 0; i < HOSTS; i++) {
        const struct scps_conn_config *c = &w->host[i].cfg;
        any |= c->bets && !c->bets_timeout && c->expected_rtt > SCPS_SEC(300);
    }
    return any;
}

/* May a run be too long to be executed? Where the path became a thousand times longer than it was
 * measured, and timeouts do not back off, a sender resends many times before the first answer can
 * be there. Where a route has a rate, each arrival lets all holes be reported again, at that rate,
 * which takes as many acknowledgements as there are holes; so does a FIN that comes again each
 * second while best effort waits for a hole. On a shorter path, or where resending is not what it
 * is busy with, it is a fault. */
bool pair_many_timeouts(const struct world *w, unsigned services)
{
    uint64_t resent = 0, acks = 0;

    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (w->flow[i].end[k].c) {
                struct scps_info n;
                scps_conn_info(w->flow[i].end[k].c, &n);
                resent += n.resent_segs;
                acks += n.acks_out;
            }
    if ((w->rated || waits_long(w)) && acks > services / 4)
        return true;
    return resent > services / 8 &&
           (pair_units_differ(w) || (pair_without_backoff(w) &&
                                     w->host[0].out.delay + w->host[1].out.delay >= SCPS_SEC(1)));
}

/* Forged octets that one host has accepted make it acknowledge what the other has not sent: neither
 * takes the other's segments any more. Where a host infers outages (outage_after) such a pair asks
 * for ever: what it refuses shows that the link is there, and each resend goes unanswered. */
bool pair_parted_for_good(const struct world *w)
{
    return w->doubt & DOUBT_END &&
           (w->host[0].cfg.outage_after || w->host[1].cfg.outage_after || pair_without_backoff(w));
}
