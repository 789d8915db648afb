/* SPDX-License-Identifier: MIT */
/* Makes the configuration of a connection from the command-line options. A field that no option
 * sets, such as the buffer sizes, is derived from the rate and delay of the virtual link. */
#include "scps_ttcp/option_table.h"

#include <stdio.h>
#include <string.h>

/* octets that the timestamps option takes in a segment, NOPs included (RFC 7323 appendix A) */
#define TS_OPTION 12
/* octets of a usual acknowledgement with SACK or SNACK information but without data, IP header
 * included */
#define ACK_SIZE 60
/* octets of the longest acknowledgement without data, IP header included */
#define ACK_LONG 80
/* octets that SCPS header compression saves of a TCP header without options; it saves 4 more with
 * timestamps */
#define COMP_GAIN 12
/* octets of the SCPS option that marks the end of a record, with its NOPs (docs/SCPS-TP.md section
 * 3.1) */
#define RECORD_OPTION 4

/* Returns the default size of the send and the receive buffer, bytes: four products of the link's
 * rate and the expected round trip. The factor is four because a loss delays delivery by one round
 * trip, or by two if the retransmission is lost, too, and the sender continues to send new data
 * meanwhile. At least 1 MiB, at most 256 MiB. */
static uint32_t buffer_for(const struct ttcp_options *o)
{
    const uint64_t least = 1u << 20, most = 256u << 20;
    uint64_t rate = o->fwd.rate_bps / 8, want;

    if (o->buffer != 0)
        return o->buffer;
    if (!o->link || rate == 0)
        return least;
    if (o->rate_bps != 0 && o->rate_bps / 8 < rate)
        rate = o->rate_bps / 8;
    want = rate > most ? most : rate / 1000 * (uint64_t)(o->conn.expected_rtt / 250);
    return (uint32_t)(want < least ? least : want > most ? most : want);
}

/* Returns the receive window, bytes, that the sender assumes the peer to have until a segment
 * behind the peer's SYN says it; 0: until then the window in the SYN counts. A SYN cannot offer
 * more than 65535 bytes, and to wait for a larger window would cost a round trip. As in the
 * measurements of pure rate control in NASA/TM-2003-212001, the sender relies on a peer with the
 * same buffer sizes. Only over a virtual link is the peer known to have them. */
static uint32_t first_window_for(const struct ttcp_options *o)
{
    if (o->given[SETTING_first_window])
        return o->conn.first_window;
    return o->link && o->cc->needs_rate ? buffer_for(o) : 0;
}

/* Returns the cause to which the sender attributes a loss for which it has no evidence of the
 * cause, such as one that a retransmission timeout detects: the value of --loss-cause or, if that
 * was not given and the controller attributes all losses to corruption, corruption. */
static enum scps_loss_cause loss_cause_for(const struct ttcp_options *o)
{
    /* vegas-corruption and rate control are for a path without other traffic, on which packets are
     * lost only by corruption. */
    if (!o->given[SETTING_loss_cause] &&
        (strcmp(o->cc->name, "vegas-corruption") == 0 || o->cc->needs_rate))
        return SCPS_LOSS_CORRUPTION;
    return o->conn.loss_cause;
}

/* Returns the limit for acknowledgements without data, bit/s; 0: none. On a virtual link without
 * --ack-budget the limit is the rate of the return link if that link cannot carry 2
 * acknowledgements of ACK_LONG octets for every 3 segments that the forward link carries (with -F
 * 1, which acknowledges every segment: 2 for every 2); otherwise there is no limit. */
static uint64_t ack_budget_for(const struct ttcp_options *o)
{
    uint64_t there = o->fwd.rate_bps, back = o->back.rate_bps, halves, segment, ack;

    if (o->given[SETTING_ack_budget] || !o->link || back == 0)
        return o->ack_budget_bps;
    halves = o->conn.ack_mode == SCPS_ACK_EVERY ? 2 : 3;
    segment = scps_link_frame_bytes(&o->fwd, o->mtu);
    ack = scps_link_frame_bytes(&o->back, ACK_LONG);
    return there == 0 || back * halves * segment < 2 * there * ack ? back : 0;
}

/* Returns the size of the token bucket that paces the sender, bytes: the one that the user has set,
 * if it is not 0. Otherwise 0, the stack's default of four packets, without a rate limit, and on a
 * virtual link, where virtual time makes nothing late. With a rate limit over a real interface:
 * what the rate yields in 10 ms (the clock tick of the SCPS reference implementation), from 6000
 * bytes to 16 MiB, because a process that the kernel wakes late can make up for the delay only by
 * as much as the bucket holds. */
static uint32_t burst_for(const struct ttcp_options *o)
{
    const uint64_t least = 4 * 1500, most = 1u << 24;
    uint64_t tick = o->rate_bps / 800;

    if (o->conn.burst != 0 || o->link || o->rate_bps == 0)
        return o->conn.burst;
    return (uint32_t)(tick < least ? least : tick > most ? most : tick);
}

static uint32_t frame_for(const struct ttcp_options *o)
{
    return o->link ? scps_link_frame_bytes(&o->fwd, o->mtu) - o->mtu : 0;
}

/* Returns how many octets of framing this end adds to the IP length of each packet when it computes
 * how much of its rate, or of its limit for acknowledgements, the packet uses. transmit: true if
 * this end sends data, so its packets are full segments; false if it sends acknowledgements, which
 * need fewer octets of framing on links that divide packets into cells (AAL5). */
static uint32_t overhead_for(const struct ttcp_options *o, bool transmit)
{
    if (!o->link || transmit || o->echo)
        return frame_for(o);
    return scps_link_frame_bytes(&o->back, ACK_SIZE) - ACK_SIZE;
}

bool ttcp_route(const struct ttcp_options *o, const struct scps_addr *dst, struct scps_netif *nif,
                struct scps_route *r)
{
    if (o->route_bps == 0 && o->min_bps == 0)
        return false;
    *r = (struct scps_route){.dst = *dst,
                             .prefix = dst->family == 6 ? 128 : 32,
                             .nif = nif,
                             .rate = o->route_bps / 8,
                             .min_rate = o->min_bps / 8,
                             .burst = o->route_bps != 0 ? o->conn.burst : 0,
                             .overhead = o->overhead};
    if (!o->overhead_set)
        r->overhead.packet = (uint16_t)frame_for(o);
    return true;
}

struct scps_conn_config ttcp_conn_config(const struct ttcp_options *o, bool transmit)
{
    struct scps_conn_config c = o->conn;

    scps_conn_config_set_cc(&c, o->cc, o->cc_param);
    c.rate = o->rate_bps / 8;
    /* A controller that needs a rate needs one also at the end that only receives. If -R gives
     * none, that end gets the route's rate, which limits its acknowledgements anyway. */
    if (c.rate == 0 && !transmit && o->cc->needs_rate)
        c.rate = o->route_bps / 8;
    c.burst = burst_for(o);
    c.rate_overhead = overhead_for(o, transmit);
    if (!o->given[SETTING_sndbuf])
        c.sndbuf = buffer_for(o);
    if (!o->given[SETTING_rcvbuf])
        c.rcvbuf = buffer_for(o);
    c.first_window = first_window_for(o);
    c.hollow = o->hollow;
    c.dsack = c.dsack && c.sack;
    c.snack_long = c.snack_long && c.snack;
    c.compress = c.compress || ttcp_requires(o, SCPS_FEATURE_COMPRESSION);
    c.bets = c.bets || ttcp_requires(o, SCPS_FEATURE_BETS);
    c.ecn = c.ecn || ttcp_requires(o, SCPS_FEATURE_ECN);
    c.loss_cause = loss_cause_for(o);
    c.ack_budget = ack_budget_for(o) / 8;
    if (c.mss == 0 && (transmit || o->bidir) && o->length_set) {
        /* As in the measurements in NASA/TM-2003-212001, -l 1024 makes packets with 1024 bytes of
         * payload. A record of that size goes into one packet, too: otherwise its last octets would
         * be sent separately, and an echo that is written in two pieces would wait for an
         * acknowledgement between them (RFC 9293 section 3.7.4). */
        size_t payload = o->length < 64 ? 64 : o->length;
        bool record = c.records && o->record_size <= o->length;
        size_t mss = payload + (c.timestamps ? TS_OPTION : 0) + (record ? RECORD_OPTION : 0) -
                     (c.compress ? COMP_GAIN + (c.timestamps ? 4 : 0) : 0);
        uint32_t mtu = o->link ? o->mtu : o->ifs.mtu;

        if (mss <= 65495 && (mtu == 0 || mss + 40 <= mtu))
            c.mss = (uint16_t)mss;
    }
    return c;
}

const char *ttcp_ack_mode_name(enum scps_ack_mode m)
{
    switch (m) {
    case SCPS_ACK_DELAYED:
        return "delayed";
    case SCPS_ACK_EVERY:
        return "every";
    case SCPS_ACK_OTHER:
        return "other";
    }
    return "?";
}

uint64_t ttcp_pattern_total(const struct ttcp_options *o)
{
    return o->count == UINT64_MAX ? UINT64_MAX : o->count * o->length;
}

bool ttcp_requires(const struct ttcp_options *o, enum scps_feature f)
{
    return o->require >> f & 1;
}

bool ttcp_config_check(const struct ttcp_options *o, const struct scps_stack_config *stack,
                       char msg[TTCP_MSGLEN])
{
    char why[TTCP_MSGLEN / 2];

    if (scps_stack_config_check(stack, why, sizeof(why)) != 0) {
        snprintf(msg, TTCP_MSGLEN, "the stack's configuration: %s", why);
        return false;
    }
    for (int transmit = 0; transmit < 2; transmit++) {
        const struct scps_conn_config c = ttcp_conn_config(o, transmit != 0);
        if (scps_conn_config_check(&c, why, sizeof(why)) != 0) {
            snprintf(msg, TTCP_MSGLEN, "the %s's configuration: %s",
                     transmit != 0 ? "sender" : "receiver", why);
            return false;
        }
    }
    return true;
}
