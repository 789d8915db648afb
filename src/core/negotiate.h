/* SPDX-License-Identifier: MIT */
/* Which options a SYN offers, and which ones both ends agree on. These functions do not use the
 * connection: they read struct scps_asked, and return what is agreed. */
#ifndef SCPS_CORE_NEGOTIATE_H
#define SCPS_CORE_NEGOTIATE_H

#include "core/agreed.h"

/* Input of the functions below: the values of a connection that decide which options its SYN or
 * SYN-ACK offers, and which the connection uses. */
struct scps_asked {
    const struct scps_conn_config *cfg;
    /* what the handshake has agreed on so far; a SYN-ACK repeats it */
    const struct scps_agreed *agreed;
    enum scps_state state;
    uint8_t family; /* family of the peer's address: 4 or 6 */
    /* connection id that this end offers for compressed headers; 0: there is none */
    uint8_t conn_id;
    bool active;      /* true: this end opened the connection */
    bool established; /* true: the connection is established, or was */
    bool syn_lost;    /* true: a SYN of this end timed out */
};

/* Returns the SCPS_CAP_* bits that this end's SYN can offer: those that the configuration asks for
 * and that this connection can use. */
uint8_t scps_negotiate_caps(const struct scps_asked *q);
/* Returns true if this end has a reason to send TCP option 20: it offers a capability, or a binding
 * space (data of a vendor). */
bool scps_negotiate_offers(const struct scps_asked *q);
enum scps_why scps_negotiate_why(const struct scps_asked *q, enum scps_feature f);
/* Returns true if the peer's SYN or SYN-ACK has the flags that negotiate ECN: if it is an
 * "ECN-setup" one (RFC 3168 section 6.1.1). */
bool scps_negotiate_offers_ecn(const struct scps_seg *syn);

/* Adds to a SYN or SYN-ACK the options that this end offers, except timestamps and binding
 * spaces. */
void scps_negotiate_offer(const struct scps_asked *q, struct scps_seg *syn);
/* Adds the binding spaces (data of a vendor in a second TCP option 20) to a segment: to a SYN the
 * configured ones, to a SYN-ACK those that both ends have (`agreed`). xcaps has room for
 * SCPS_XCAPS_MAX octets; the segment refers to it, so it must exist until the segment is
 * encoded. */
void scps_negotiate_offer_bindings(const struct scps_asked *q, const struct scps_binding *agreed,
                                   uint8_t *xcaps, struct scps_seg *syn);
/* Returns the options in force after the peer's SYN or SYN-ACK `syn`: those that both ends have
 * offered. SCPS_AGREED_CAPS is set if syn has the SCPS-TP capabilities (TCP option 20) and this end
 * offers some. If this end repeats its SYN without that option, a SYN-ACK with it still counts, as
 * it may answer an earlier SYN; a SYN with it (simultaneous open) does not count then. */
struct scps_agreed scps_negotiate_settle(const struct scps_asked *q, const struct scps_seg *syn);
/* Returns true if the peer's SYN or SYN-ACK has the capabilities and binding spaces, and this end
 * has binding spaces configured. A binding space is data of a vendor, with an id, in a second TCP
 * option 20. */
bool scps_negotiate_has_bindings(const struct scps_asked *q, const struct scps_seg *syn);
/* For each binding space (data of a vendor with an id) in the peer's SYN or SYN-ACK whose id this
 * end (own) has, too: stores the bitwise AND of both in `agreed`, which has room for SCPS_BINDINGS
 * spaces. */
void scps_negotiate_settle_bindings(const struct scps_binding *own, const struct scps_seg *syn,
                                    struct scps_binding *agreed);
/* Returns the window, bytes, that the peer is taken to offer by its SYN or SYN-ACK with window
 * field wnd, which is never scaled (RFC 7323 section 2.2). The result is wnd, with one exception:
 * if wnd is 65535, the largest value, and window scaling was agreed, it is the setting
 * first_window, bytes, but at least 65535 and at most what the peer's scale factor permits. */
uint32_t scps_negotiate_first_window(const struct scps_agreed *a, uint32_t first_window,
                                     uint16_t wnd);

#endif
