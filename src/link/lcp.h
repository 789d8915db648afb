/* SPDX-License-Identifier: MIT */
/* Runs the Link Control Protocol of PPP (RFC 1661 sections 5 and 6). */
#ifndef SCPS_LINK_LCP_H
#define SCPS_LINK_LCP_H

#include "link/pppcp.h"

/* LCP options of one end of the link, the local end or the peer: which frames that end accepts from
 * the opposite one, and its magic number. */
struct scps_lcp_side {
    uint32_t mru, accm, magic;
    /* true: the end that this struct describes accepts frames with a compressed protocol field
     * (pfc), or without address and control fields (acfc) */
    bool pfc, acfc;
};

struct scps_lcp {
    struct scps_cp cp;
    /* options in this end's Configure-Requests; the peer has agreed to them only in state Opened */
    struct scps_lcp_side mine;
    /* options in the peer's last Configure-Request that this end has acknowledged; until then, the
     * defaults of RFC 1661 and RFC 1662 */
    struct scps_lcp_side peer;
    struct scps_lcp_side offer; /* options in the peer's Configure-Request that is being checked */
    /* true: this end asks for the option in its Configure-Requests, because the peer has not
     * rejected it */
    bool ask_mru, ask_accm, ask_magic, ask_pfc, ask_acfc;
    bool auth_wanted;   /* true: the peer's last request asked for authentication */
    uint32_t nak_magic; /* magic number in the last Configure-Nak sent; 0: none was sent */
    /* number of consecutive Configure-Requests received with this end's own magic number */
    uint32_t loops;
    /* time at which the next Echo-Request is sent, µs; SCPS_NEVER: none is sent */
    scps_time echo_at;
    uint32_t echo_lost; /* number of consecutive Echo-Requests without an answer */
    uint64_t echoes_sent, echoes_answered;
    /* true: an Echo packet arrived with the magic number of this end, so the line seems to return
     * what this end sends */
    bool echo_looped;
    /* function that is called for a Protocol-Reject of the peer, which names protocol `proto`;
     * ppp.c sets it */
    void (*proto_rejected)(struct scps_lcp *lcp, uint16_t proto);
};

/* After this many consecutive Configure-Requests with this end's own magic number, the line is
 * taken to be looped (to return what this end sends), and the link is closed. The number is less
 * than the default of Max-Failure (RFC 1661 section 4.6), the number of Configure-Naks after which
 * options are rejected instead. */
#define SCPS_LCP_LOOPS 4

/* Initialises LCP on a new link. env: state that the protocols of the link share; its fields cfg
 * and prng must be set. */
void scps_lcp_init(struct scps_lcp *l, struct scps_cp_env *env);
/* Called before each negotiation: this end asks for all its options again, with a new magic number,
 * and the options that were agreed before no longer apply. */
void scps_lcp_begin(struct scps_lcp *l);
/* Sends an Echo-Request; called when l->echo_at is reached. Returns false, and sends none, if the
 * configured number of consecutive Echo-Requests got no reply. */
bool scps_lcp_echo(struct scps_lcp *l);
/* Sends a Protocol-Reject for a received packet of the unknown protocol `proto`, whose information
 * is n octets at p. */
void scps_lcp_reject_protocol(struct scps_lcp *l, uint16_t proto, const uint8_t *p, size_t n);

#endif
