/* SPDX-License-Identifier: MIT */
/* Runs the network control protocols of PPP: IPCP for IPv4 (RFC 1332), IPV6CP for IPv6 (RFC
 * 5072). */
#ifndef SCPS_LINK_IPCP_H
#define SCPS_LINK_IPCP_H

#include "link/pppcp.h"

struct scps_ipcp {
    struct scps_cp cp;
    /* IPv4 address that this end has in its Configure-Requests; 0: this end asks the peer to assign
     * one */
    uint32_t local;
    /* IPv4 address for which the peer has asked and which this end has acknowledged; 0: none */
    uint32_t remote;
    /* true: this end's Configure-Requests have the option IP-Address (ask_addr) or
     * IP-Compression-Protocol (ask_vj), because the peer has not rejected it */
    bool ask_addr, ask_vj;
    /* true: the peer has proposed, by a Configure-Nak, another address for this end than the
     * configured one */
    bool addr_refused;
    /* vj_tx: the peer accepts Van Jacobson compressed TCP/IP headers; always_say: true: each
     * compressed header must carry the number of its slot (the state of one TCP connection) */
    bool vj_tx, always_say;
    /* number of connections (slots) whose headers the peer can restore at the same time */
    uint8_t vj_slots;
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
