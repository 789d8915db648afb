/* SPDX-License-Identifier: MIT */
/* What a SYN offers, and what both sides settle on.  These functions know no connection: they read
 * what is asked of one, and return what is agreed.
 */
#ifndef SCPS_CORE_NEGOTIATE_H
#define SCPS_CORE_NEGOTIATE_H

#include "core/agreed.h"

/* Why our SYNs go, or went, without capabilities. */
enum scps_plain {
    SCPS_PLAIN_NO,
    SCPS_PLAIN_REMEMBERED, /* this destination has not answered them before */
    SCPS_PLAIN_FELL_BACK,  /* SYNs with them stayed without answer */
    SCPS_PLAIN_COOKIE      /* a cookie keeps not all of them */
};

/* What negotiation may know of a connection. */
struct scps_asked {
    const struct scps_conn_config *cfg;
    const struct scps_agreed *agreed; /* as far as it was settled */
    enum scps_state state;
    enum scps_plain plain;
    uint8_t family;   /* of the peer's address: 4 or 6 */
    uint8_t conn_id;  /* ours, for compressed headers; 0: none was given */
    bool active;      /* we opened the connection */
    bool established; /* it was, or is */
    bool syn_lost;    /* a SYN of ours timed out */
};

/* What of the capabilities that the configuration wants can be offered. */
uint8_t scps_negotiate_caps(const struct scps_asked *q);
/* Is there anything for option 20: capabilities, or a binding space? */
bool scps_negotiate_offers(const struct scps_asked *q);
enum scps_why scps_negotiate_why(const struct scps_asked *q, enum scps_feature f);
/* Adds what our SYN, or SYN-ACK, offers, time stamps and binding spaces apart. */
void scps_negotiate_offer(const struct scps_asked *q, struct scps_seg *syn);
/* Adds binding spaces: those of the configuration, or in an answer those of both (agreed). xcaps
 * has room for SCPS_XCAPS_MAX octets, and is lent to the segment. */
void scps_negotiate_offer_bindings(const struct scps_asked *q, const struct scps_binding *agreed,
                                   uint8_t *xcaps, struct scps_seg *syn);
/* What our offer and the peer's SYN have in common. With SCPS_AGREED_CAPS it answers a SYN of ours
 * that had them, however the newest went. */
struct scps_agreed scps_negotiate_settle(const struct scps_asked *q, const struct scps_seg *syn);
/* Do both have binding spaces?  Then those of the peer's that we have, too, are put into agreed,
 * which has SCPS_BINDINGS of them; own: ours. */
bool scps_negotiate_has_bindings(const struct scps_asked *q, const struct scps_seg *syn);
void scps_negotiate_settle_bindings(const struct scps_binding *own, const struct scps_seg *syn,
                                    struct scps_binding *agreed);
/* The window that a SYN with window field wnd offers: never scaled (RFC 7323 section 2.2), but see
 * scps_conn_config.first_window. */
uint32_t scps_negotiate_first_window(const struct scps_agreed *a, uint32_t first_window,
                                     uint16_t wnd);

#endif
