/* SPDX-License-Identifier: MIT */
/* How long a run may take after the faults have ended, and the reasons why one may take longer. */
#include "pair.h"

/* Returns the longest RTO of all connections, µs. */
static scps_dur longest_rto(const struct world *w)
{
    scps_dur most = 0;

    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (w->flow[i].end[k].c) {
                struct scps_info n;
                scps_conn_info(w->flow[i].end[k].c, &n);
                most = SCPS_MAX(most, n.rto);
            }
    return most;
}

/* The longest time between two timeouts in a row. */
static scps_dur longest_backoff(const struct world *w)
{
    scps_dur most = longest_rto(w);

    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (w->flow[i].end[k].c) {
                struct scps_conn_config cfg;
                scps_conn_get_config(w->flow[i].end[k].c, &cfg);
                most = SCPS_MAX(most, cfg.rto_max);
            }
    return most;
}

/* A peer that has gone is found out when there is nothing left to give up, and a window of one
 * segment, 36 octets at least, is given up after the lifetime of best effort. */
static scps_dur one_by_one(const struct world *w)
{
    return MOST_OCTETS / 36 * SCPS_MAX(w->host[0].cfg.bets_lifetime, w->host[1].cfg.bets_lifetime);
}

/* Best effort gives up each segment before its acknowledgement can arrive, if the lifetime is
 * shorter than the round trip. The congestion controller then never measures the path, and the rate
 * stays as the handshake set it, one octet a second at least. */
static bool expires_on_the_way(const struct world *w)
{
    scps_dur rtt = w->host[0].out.delay + w->host[1].out.delay;
    bool any = false;

    for (int i = 0; i < HOSTS; i++)
        any |= w->host[i].cfg.bets_lifetime &&
               w->host[i].cfg.bets_lifetime < rtt + w->host[!i].cfg.ack_delay;
    return any;
}

/* If the hosts count SNACK in different units, each misreads the other's holes. A segment that is
 * named wrongly is resent 64 times before the embargo grows (core/snacktx.c), and each needless
 * arrival restarts the retransmission timer. */
bool pair_units_differ(const struct world *w)
{
    return w->host[0].cfg.snack && w->host[1].cfg.snack &&
           w->host[0].cfg.snack_raw_unit != w->host[1].cfg.snack_raw_unit;
}

/* How long two ends may take after the faults have ended: a timer that is backed off to its limit,
 * and what is left to send. Where each segment was lost, or a timer that may not be as long as the
 * round trip keeps the window at one, each takes a round trip (RFC 6582 section 3.2): some 280 of
 * 36 octets. A timeout that was measured while the path was longer is as long now: the answer to
 * the first may end the wait, but a peer that has gone is found out by R2 alone, which is sixteen
 * of them where they do not back off (core/rto.c). */
scps_dur pair_time_limit(const struct world *w)
{
    scps_dur rtt = w->host[0].out.delay + w->host[1].out.delay;
    scps_dur silence = SCPS_SEC(1500) + 16 * SCPS_MAX(longest_backoff(w) - SCPS_SEC(60), 0);

    /* Best effort waits for a hole as long as two of the round trips that are configured as
     * expected. */
    rtt += SCPS_MAX(w->host[0].cfg.expected_rtt, w->host[1].cfg.expected_rtt) / 25;
    if (expires_on_the_way(w))
        silence += SCPS_SEC(MOST_OCTETS);
    /* An interface was removed, and the host at the other end detects that by 15 timeouts. */
    if (w->host[0].gone || w->host[1].gone)
        silence += SCPS_SEC(6500);
    /* Data that is reported as arrived and has not gives RTT samples as long as it was outstanding,
     * and they make the retransmission timeout longer, up to an hour (core/rtt.c). */
    if (pair_units_differ(w))
        silence += SCPS_SEC(3600) * (MOST_OCTETS / 36);
    return silence + 300 * rtt + one_by_one(w);
}

/* A timeout attributed to corruption does not back off (docs/SCPS-TP.md section 3.4), or need not:
 * a host that detects damage, or to which the other reports damage, attributes losses to
 * corruption. */
bool pair_without_backoff(const struct world *w)
{
    bool corruption = w->damage_told;

    for (int i = 0; i < HOSTS; i++)
        corruption |=
            w->host[i].cfg.corruption || w->host[i].cfg.loss_cause == SCPS_LOSS_CORRUPTION;
    return corruption;
}

/* Best effort waits for a hole as long as two of the round trips that are configured as
 * expected. */
static bool waits_long(const struct world *w)
{
    bool any = false;

    for (int i = 0; i < HOSTS; i++) {
        const struct scps_conn_config *c = &w->host[i].cfg;
        any |= c->bets && !c->bets_timeout && c->expected_rtt > SCPS_SEC(300);
    }
    return any;
}

void pair_count_work(struct world *w)
{
    uint64_t resent = 0, acks = 0;

    for (int k = 0; k < HOSTS; k++)
        for (struct scps_conn *c = NULL; (c = scps_stack_next_conn(w->host[k].st, c));) {
            struct scps_info n;
            scps_conn_info(c, &n);
            resent += n.resent_segs;
            acks += n.acks_out;
            w->most.rto = SCPS_MAX(w->most.rto, n.rto);
        }
    w->most.resent = SCPS_MAX(w->most.resent, resent);
    w->most.acks = SCPS_MAX(w->most.acks, acks);
}

/* Returns true if it is explained that a run has so many services. Where the path became a thousand
 * times longer than measured and timeouts do not back off, a sender resends many times before the
 * first acknowledgement can arrive; so does one whose peer has gone, for six retransmission
 * timeouts (core/snacktx.c). Where a route has a rate, each arrival causes all holes to be
 * reported again at that rate, in as many acknowledgements as there are holes; so does a FIN that
 * comes again each second while best effort waits for a hole. On a shorter path, or without many
 * retransmissions, a long run is a fault. No run has 300 000 services. */
bool pair_many_timeouts(struct world *w, unsigned services, scps_dur passed)
{
    const scps_dur path = w->host[0].out.delay + w->host[1].out.delay;
    uint64_t resent, acks;
    scps_dur rtt;
    bool slow;

    /* On a long path a window of small segments is many packets, and each is resent by timeouts
     * that are shorter than the round trip. */
    if (passed >= SCPS_SEC(3000) || (path >= SCPS_SEC(1) && passed < 20 * path))
        return true;
    pair_count_work(w);
    resent = w->most.resent;
    acks = w->most.acks;
    rtt = SCPS_MAX(path, longest_rto(w));
    rtt = SCPS_MAX(rtt, w->most.rto);
    slow = pair_without_backoff(w) && rtt >= SCPS_SEC(1);
    if ((w->rated || waits_long(w)) && acks > services / 4)
        return true;
    /* Where the hosts' units differ, holes that nothing fills are reported again, too, at the pace
     * of delayed acknowledgements. */
    return (resent > services / 8 && slow) ||
           (resent > services / 16 && resent + acks > services / 8 && pair_units_differ(w));
}

bool pair_doubts_end(const struct world *w)
{
    unsigned doubt = w->doubt;

    for (int i = 0; i < FLOWS; i++)
        doubt |= w->flow[i].doubt;
    return doubt & DOUBT_END;
}

/* Forged octets that one host has accepted make it acknowledge what the other has not sent, so
 * neither accepts the other's segments any more. If a host infers outages (outage_after), such a
 * pair goes on for ever: the segments that it refuses show that the link is up, and no
 * retransmission is acknowledged. */
bool pair_parted_for_good(const struct world *w)
{
    return pair_doubts_end(w) &&
           (w->host[0].cfg.outage_after || w->host[1].cfg.outage_after || pair_without_backoff(w));
}
