/* SPDX-License-Identifier: MIT */
/* What a SYN offers, and what both ends agree on. These functions do not use the connection: they
 * read struct scps_asked, and return what is agreed. */
#ifndef SCPS_CORE_NEGOTIATE_H
#define SCPS_CORE_NEGOTIATE_H

#include "core/agreed.h"

/* The values of a connection that negotiation reads. */
struct scps_asked {
    const struct scps_conn_config *cfg;
    const struct scps_agreed *agreed; /* what the handshake has agreed on so far */
    enum scps_state state;
    uint8_t family;   /* family of the peer's address: 4 or 6 */
    uint8_t conn_id;  /* our id for compressed headers; 0: there is none */
    bool active;      /* true: we opened the connection */
    bool established; /* the connection is, or was, established */
    bool syn_lost;    /* one of our SYNs timed out */
};

/* Returns the configured SCPS capabilities that can be offered. */
uint8_t scps_negotiate_caps(const struct scps_asked *q);
/* Returns true if there is anything to put into option 20: capabilities, or a binding space. */
bool scps_negotiate_offers(const struct scps_asked *q);
enum scps_why scps_negotiate_why(const struct scps_asked *q, enum scps_feature f);
/* Adds to a segment what our SYN, or SYN-ACK, offers, except timestamps and binding spaces. */
void scps_negotiate_offer(const struct scps_asked *q, struct scps_seg *syn);
/* Adds binding spaces: those of the configuration, or in an answer those that both ends have
 * (agreed). xcaps has room for SCPS_XCAPS_MAX octets and is lent to the segment. */
void scps_negotiate_offer_bindings(const struct scps_asked *q, const struct scps_binding *agreed,
                                   uint8_t *xcaps, struct scps_seg *syn);
/* Returns what our offer and the peer's SYN have in common. SCPS_AGREED_CAPS: the SYN answers one
 * of our SYNs that had capabilities, even if our newest SYN had none. */
struct scps_agreed scps_negotiate_settle(const struct scps_asked *q, const struct scps_seg *syn);
/* Returns true if both ends have binding spaces. Those of the peer that we have, too, are copied to
 * agreed, which has room for SCPS_BINDINGS of them; own: ours. */
bool scps_negotiate_has_bindings(const struct scps_asked *q, const struct scps_seg *syn);
void scps_negotiate_settle_bindings(const struct scps_binding *own, const struct scps_seg *syn,
                                    struct scps_binding *agreed);
/* Returns the window that a SYN with window field wnd offers: never scaled (RFC 7323 section 2.2),
 * but see scps_conn_config.first_window. */
uint32_t scps_negotiate_first_window(const struct scps_agreed *a, uint32_t first_window,
                                     uint16_t wnd);

#endif
