/* SPDX-License-Identifier: MIT */
/* The Link Control Protocol (RFC 1661 sections 5 and 6). */
#ifndef SCPS_LINK_LCP_H
#define SCPS_LINK_LCP_H

#include "link/pppcp.h"

/* What an end takes: what the other one may send it. */
struct scps_lcp_side {
    uint32_t mru, accm, magic;
    bool pfc, acfc; /* protocol field, address and control field compression */
};

struct scps_lcp {
    struct scps_cp cp;
    struct scps_lcp_side mine;  /* what this end asks for; not yet agreed unless cp is open */
    struct scps_lcp_side peer;  /* what the peer asked for last and was granted */
    struct scps_lcp_side offer; /* of the Configure-Request being judged */
    bool ask_mru, ask_accm, ask_magic, ask_pfc, ask_acfc; /* not rejected by the peer */
    bool auth_wanted;   /* the peer's last request had an authentication protocol */
    uint32_t nak_magic; /* of the last Configure-Nak sent; 0: none */
    uint32_t loops;     /* requests in a row that had our own magic number */
    scps_time echo_at;  /* of the next Echo-Request; SCPS_NEVER: none */
    uint32_t echo_lost; /* Echo-Requests not answered, in a row */
    uint64_t echoes_sent, echoes_answered;
    bool echo_looped; /* an Echo came with our own magic number */
    /* A Protocol-Reject of the peer, told to the owner of the link */
    void (*proto_rejected)(struct scps_lcp *lcp, uint16_t proto);
};

/* Requests with our own magic number after which the line loops. Less than Max-Failure's default,
 * beyond which the number would be rejected instead of refused. */
#define SCPS_LCP_LOOPS 4

/* The other fields as at the beginning of a link. */
void scps_lcp_init(struct scps_lcp *l, struct scps_cp_env *env);
/* Before each negotiation: asks for everything again, with a new magic number. */
void scps_lcp_begin(struct scps_lcp *l);
/* The Echo-Request that is due at env->now; false: as many as are allowed had no answer. */
bool scps_lcp_echo(struct scps_lcp *l);
/* Rejects a packet of an unknown protocol: n octets of information. */
void scps_lcp_reject_protocol(struct scps_lcp *l, uint16_t proto, const uint8_t *p, size_t n);

#endif
