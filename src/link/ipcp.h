/* SPDX-License-Identifier: MIT */
/* The network control protocols of IPv4 (RFC 1332) and of IPv6 (RFC 5072). */
#ifndef SCPS_LINK_IPCP_H
#define SCPS_LINK_IPCP_H

#include "link/pppcp.h"

struct scps_ipcp {
    struct scps_cp cp;
    uint32_t local;         /* the address this end asks for; 0: for one of the peer's choice */
    uint32_t remote;        /* what the peer asked for and was granted; 0: it did not say */
    bool ask_addr, ask_vj;  /* not rejected by the peer */
    bool addr_refused;      /* the peer wanted another address than the configured one */
    bool vj_tx, always_say; /* the peer takes compressed headers; each has to say its slot */
    uint8_t vj_slots;       /* and has so many slots */
    uint32_t offer_remote;  /* of the Configure-Request being judged, like the next three */
    bool offer_vj, offer_say;
    uint8_t offer_slots;
};
void scps_ipcp_init(struct scps_ipcp *i, struct scps_cp_env *env);
/* Before each negotiation. */
void scps_ipcp_begin(struct scps_ipcp *i);

struct scps_ip6cp {
    struct scps_cp cp;
    uint64_t local, remote, offer; /* interface identifiers; 0: none */
    bool ask_id;
};
void scps_ip6cp_init(struct scps_ip6cp *i, struct scps_cp_env *env);
void scps_ip6cp_begin(struct scps_ip6cp *i);

#endif
