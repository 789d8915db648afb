/* SPDX-License-Identifier: MIT */
/* Runs the network control protocols of PPP: IPCP for IPv4 (RFC 1332), IPV6CP for IPv6 (RFC
 * 5072). */
#ifndef SCPS_LINK_IPCP_H
#define SCPS_LINK_IPCP_H

#include "link/pppcp.h"

struct scps_ipcp {
    struct scps_cp cp;
    uint32_t local;  /* the address that this end asks for; 0: it asks the peer for one */
    uint32_t remote; /* the address that the peer asked for and got; 0: the peer asked for none */
    /* true while the peer has not rejected the option IP-Address, or IP-Compression-Protocol */
    bool ask_addr, ask_vj;
    /* true: the peer wanted another address for this end than the configured one */
    bool addr_refused;
    /* vj_tx: the peer accepts compressed headers; always_say: each must carry its slot's number */
    bool vj_tx, always_say;
    uint8_t vj_slots; /* number of slots that the peer has for compressed headers */
    /* Options of the Configure-Request being checked: this field and the next three. */
    uint32_t offer_remote;
    bool offer_vj, offer_say;
    uint8_t offer_slots;
};
void scps_ipcp_init(struct scps_ipcp *i, struct scps_cp_env *env);
/* Resets the state for a new negotiation: this end requests its configured address, and header
 * compression if the configuration has it. The caller calls this function before each
 * negotiation. */
void scps_ipcp_begin(struct scps_ipcp *i);

struct scps_ip6cp {
    struct scps_cp cp;
    /* interface identifiers of this end and of the peer, and the one in the request being checked;
     * 0: none */
    uint64_t local, remote, offer;
    bool ask_id;
};
void scps_ip6cp_init(struct scps_ip6cp *i, struct scps_cp_env *env);
void scps_ip6cp_begin(struct scps_ip6cp *i);

#endif
