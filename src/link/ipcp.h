/* SPDX-License-Identifier: MIT */
/* Runs the network control protocols of PPP: IPCP for IPv4 (RFC 1332), IPV6CP for IPv6 (RFC
 * 5072). */
#ifndef SCPS_LINK_IPCP_H
#define SCPS_LINK_IPCP_H

#include "link/pppcp.h"

struct scps_ipcp {
    struct scps_cp cp;
    /* IPv4 address of this end, for which it asks the peer; 0: it asks the peer to assign one */
    uint32_t local;
    /* IPv4 address of the peer, for which it asked and which this end acknowledged; 0: none */
    uint32_t remote;
    /* true while the peer has not rejected the option IP-Address, or IP-Compression-Protocol */
    bool ask_addr, ask_vj;
    /* true: the peer wanted another address for this end than the configured one */
    bool addr_refused;
    /* vj_tx: the peer accepts Van Jacobson compressed TCP/IP headers; always_say: each of them must
     * carry the number of its slot */
    bool vj_tx, always_say;
    uint8_t vj_slots; /* number of slots that the peer has for compressed headers */
    /* The next four fields are options of the peer's Configure-Request that is being checked. */
    uint32_t offer_remote;
    bool offer_vj, offer_say;
    uint8_t offer_slots;
};
void scps_ipcp_init(struct scps_ipcp *i, struct scps_cp_env *env);
/* Called before each negotiation: resets the options for which this end asks to the configured
 * address, and header compression if it is configured. */
void scps_ipcp_begin(struct scps_ipcp *i);

struct scps_ip6cp {
    struct scps_cp cp;
    /* interface identifiers: of this end, of the peer, and in the peer's Configure-Request that is
     * being checked; 0: none */
    uint64_t local, remote, offer;
    bool ask_id;
};
void scps_ip6cp_init(struct scps_ip6cp *i, struct scps_cp_env *env);
void scps_ip6cp_begin(struct scps_ip6cp *i);

#endif
