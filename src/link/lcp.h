/* SPDX-License-Identifier: MIT */
/* Runs the Link Control Protocol of PPP (RFC 1661 sections 5 and 6). */
#ifndef SCPS_LINK_LCP_H
#define SCPS_LINK_LCP_H

#include "link/pppcp.h"

/* Limits of what one end accepts from the other end. */
struct scps_lcp_side {
    uint32_t mru, accm, magic;
    /* true: the protocol field (pfc), and address and control field (acfc), may be compressed */
    bool pfc, acfc;
};

struct scps_lcp {
    struct scps_cp cp;
    /* limits that this end asks for, which are agreed only while cp is open */
    struct scps_lcp_side mine;
    /* limits that the peer asked for in its last request that was acknowledged */
    struct scps_lcp_side peer;
    struct scps_lcp_side offer; /* limits in the Configure-Request being checked */
    /* For each option, true means that the peer has not rejected it. */
    bool ask_mru, ask_accm, ask_magic, ask_pfc, ask_acfc;
    bool auth_wanted;   /* true: the peer's last request asked for authentication */
    uint32_t nak_magic; /* magic number in the last Configure-Nak sent; 0: none was sent */
    uint32_t loops; /* number of consecutive Configure-Requests with the magic number of this end */
    /* time at which the next Echo-Request is sent, µs; SCPS_NEVER: none is sent */
    scps_time echo_at;
    uint32_t echo_lost; /* number of consecutive Echo-Requests without an answer */
    uint64_t echoes_sent, echoes_answered;
    /* true: an Echo packet arrived with the magic number of this end, so the line is looped */
    bool echo_looped;
    /* Called for a Protocol-Reject of the peer; the owner of the link sets it */
    void (*proto_rejected)(struct scps_lcp *lcp, uint16_t proto);
};

/* Number of consecutive Configure-Requests with this end's own magic number after which the line
 * counts as looped. It is less than Max-Failure's default, after which the magic number would be
 * rejected instead of Naked. */
#define SCPS_LCP_LOOPS 4

/* Initialises the protocol on a new link, the other fields of whose structure are set. */
void scps_lcp_init(struct scps_lcp *l, struct scps_cp_env *env);
/* Sets the options that the next Configure-Request asks for: all of them, with a new magic number;
 * those of an earlier negotiation are no longer in force. The caller calls this function before
 * each negotiation. */
void scps_lcp_begin(struct scps_lcp *l);
/* Sends the Echo-Request that is due at env->now. Returns false if the allowed number of requests
 * had no answer. */
bool scps_lcp_echo(struct scps_lcp *l);
/* Rejects a packet of an unknown protocol; n: octets of its information. */
void scps_lcp_reject_protocol(struct scps_lcp *l, uint16_t proto, const uint8_t *p, size_t n);

#endif
