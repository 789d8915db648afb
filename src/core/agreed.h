/* SPDX-License-Identifier: MIT */
/* The options and sizes that both SYNs agreed on.
 *
 * Invariant: all fields are constant once the connection is established, except the sizes, which
 * follow the path MTU, and the bit SCPS_AGREED_TCP_HEADERS.
 */
#ifndef SCPS_CORE_AGREED_H
#define SCPS_CORE_AGREED_H

#include <scps/conn.h>
#include <scps/wire.h>

enum scps_agreed_bit {
    SCPS_AGREED_SACK = 1u << 0,
    SCPS_AGREED_TS = 1u << 1,
    SCPS_AGREED_WSCALE = 1u << 2,
    SCPS_AGREED_ECN = 1u << 3,
    SCPS_AGREED_CAPS = 1u << 4, /* the peer's SYN had the capabilities option */
    /* Header compression is agreed, but segments still get TCP's own headers. On the end that
     * opened the connection: data gets them until the peer has shown that the acknowledgement of
     * its SYN arrived, because a segment with ports also completes the handshake. On the other end:
     * every segment gets them, because the peer has sent TCP headers only, perhaps since a
     * middlebox removed the capabilities from this end's SYN-ACK; a compressed header from the peer
     * ends this. */
    SCPS_AGREED_TCP_HEADERS = 1u << 5,
    /* two bits that hold an enum scps_plain, the reason why this end's SYNs have no capabilities
     * option; scps_agreed_plain() and scps_agreed_plainly() access them */
    SCPS_AGREED_PLAIN = 3u << 6
};

/* Reason why this end sends its SYNs without the SCPS-TP capabilities option (TCP option 20). */
enum scps_plain {
    SCPS_PLAIN_NO,
    /* the destination did not answer the SYNs with capabilities of earlier connections, or by a
     * reset */
    SCPS_PLAIN_REMEMBERED,
    /* SYNs of this connection with the capabilities option were not answered, or were answered by a
     * reset */
    SCPS_PLAIN_FELL_BACK,
    /* the connection comes from a SYN cookie, which cannot hold all capabilities */
    SCPS_PLAIN_COOKIE
};

struct scps_agreed {
    uint16_t mss; /* data in a full segment that this end sends, bytes; TCP options do not count */
    uint16_t peer_mss; /* MSS announced by the peer, bytes; 0: not known yet */
    uint16_t pmtu_mss; /* largest payload plus options that the path MTU permits, bytes */
    uint16_t adv_mss;  /* MSS that this end announced, bytes */
    uint8_t caps;      /* SCPS_CAP_* bits that both ends offered */
    uint8_t caps_peer; /* SCPS_CAP_* bits that the peer offered */
    uint8_t opts;      /* SCPS_AGREED_* bits: the options in force */
    uint8_t snd_wscale : 4, rcv_wscale : 4;
};

/* Records the MSS that this end's SYN announces. */
static inline void scps_agreed_announce(struct scps_agreed *a, uint16_t mss)
{
    a->adv_mss = mss;
}
/* Records that this end sends its SYNs without the capabilities option from now on, and why. */
static inline void scps_agreed_plainly(struct scps_agreed *a, enum scps_plain why)
{
    a->opts = (uint8_t)((a->opts & ~SCPS_AGREED_PLAIN) | (unsigned)why << 6);
}
static inline enum scps_plain scps_agreed_plain(const struct scps_agreed *a)
{
    return (enum scps_plain)(a->opts >> 6);
}
/* Forgets what the peer's SYN agreed on: another SYN will take its place. What the own SYNs offer
 * stays. */
static inline void scps_agreed_forget(struct scps_agreed *a)
{
    a->opts &= SCPS_AGREED_PLAIN;
    a->caps = 0;
    a->snd_wscale = 0;
}
/* On a connection with header compression: data is sent with TCP's own header from now on, until
 * scps_agreed_compress() is called. */
static inline void scps_agreed_send_tcp_headers(struct scps_agreed *a)
{
    a->opts |= SCPS_AGREED_TCP_HEADERS;
}
/* On a connection with header compression: data is sent with compressed headers from now on. */
static inline void scps_agreed_compress(struct scps_agreed *a)
{
    a->opts = (uint8_t)(a->opts & ~SCPS_AGREED_TCP_HEADERS);
}
/* Returns how many octets of TCP options each data segment has: those of the timestamps, if
 * agreed. */
static inline uint32_t scps_agreed_overhead(const struct scps_agreed *a)
{
    return a->opts & SCPS_AGREED_TS ? 12 : 0;
}
/* Returns the octets of options that a segment without data may have: at most 40 (RFC 9293 section
 * 3.1), and no more than fit into a packet of the path's MTU; a multiple of 4, as options are
 * padded. It is 20 at least: what the headers of IPv6 and TCP leave of SCPS_MTU_LEAST6, 80 octets,
 * the least MTU that a stack accepts for IPv6. */
static inline uint32_t scps_agreed_opt_room(const struct scps_agreed *a)
{
    return a->pmtu_mss >= 40 ? 40 : a->pmtu_mss > 20 ? a->pmtu_mss & ~3u : 20;
}
/* Returns by how many octets the payload of a full segment is less than the MSS, because of its
 * options. Negative with header compression, as a compressed header is shorter than TCP's 20
 * octets: -12, or -4 with timestamps (docs/SCPS-TP.md sections 2.1 and 6). */
int32_t scps_agreed_less(const struct scps_agreed *a);
/* Returns the unit, bytes, in which a SNACK counts its offset and the length of the hole (the
 * missing octets that it reports): `mss` less scps_agreed_less(), as the payload of a full segment
 * has it, at least 8. raw true (setting snack_raw_unit): `mss` itself. mss: the MSS that the sender
 * of the data announced, not the MSS of the receiver, which sends the SNACK: adv_mss at this end as
 * the sender of the data, peer_mss as the receiver (docs/SCPS-TP.md section 2.1). */
static inline uint32_t scps_agreed_unit(const struct scps_agreed *a, bool raw, uint16_t mss)
{
    int32_t size = mss - (raw ? 0 : scps_agreed_less(a));

    return (uint32_t)(size > 8 ? size : 8);
}
/* octets of TCP option 22, which marks the end of an application record, padding included */
#define SCPS_RECORD_ROOM 4u
/* Largest value of the two 16-bit fields of a SNACK, the offset and the length of the hole (the
 * missing octets that it reports), both in units of a full segment. The value means "this many
 * units or more" (docs/SCPS-TP.md section 2.1). */
#define SCPS_SNACK_FULL 65535
/* Returns the largest payload, bytes, with which a segment still fits the path MTU if it is sent
 * with TCP's own header instead of a compressed one. The segment may have every option except the
 * one that marks the end of a record (TCP option 22). */
static inline uint32_t scps_agreed_any_mss(const struct scps_agreed *a)
{
    if (!(a->caps & SCPS_CAP_COM) || a->opts & SCPS_AGREED_TCP_HEADERS)
        return a->mss;
    return a->mss > 24u ? a->mss - 16u : 8u;
}
/* Returns the largest payload, bytes, with which a segment still fits the path MTU if it is sent
 * with TCP's own header instead of a compressed one. record: true if the segment ends a record, so
 * that TCP option 22 takes 4 octets of the room. */
static inline uint32_t scps_agreed_any_payload(const struct scps_agreed *a, bool record)
{
    return scps_agreed_any_mss(a) - (record ? SCPS_RECORD_ROOM : 0);
}
/* Returns the largest payload, bytes, of the segments into which an outstanding segment is split
 * when the path MTU has fallen. With header compression this leaves room for a longer header, since
 * the last of them may carry the FIN. */
static inline uint32_t scps_agreed_piece(const struct scps_agreed *a)
{
    if (!(a->caps & SCPS_CAP_COM))
        return a->mss;
    return a->mss > 24u ? a->mss - 16u : 8u;
}
/* Returns the length, octets, of the IP packet of a segment with `len` octets of data. */
static inline uint32_t scps_agreed_packet(const struct scps_agreed *a, bool ipv6, uint32_t len)
{
    uint32_t tcp = 20 + (a->opts & SCPS_AGREED_TS ? 12u : 0);

    if (a->caps & SCPS_CAP_COM &&
        /* The compressed header carries an acknowledgement, 6 octets, if the packet has room for
         * it. */
        !(a->opts & SCPS_AGREED_TCP_HEADERS))
        tcp = (a->opts & SCPS_AGREED_TS ? 16u : 8u) + (len <= scps_agreed_any_mss(a) ? 6u : 0);
    return len + (ipv6 ? 40u : 20u) + tcp;
}
/* Returns the payload of a full segment on a path that takes `path` octets of payload and options;
 * cfg_mss: the configured limit, 0: none. */
uint32_t scps_agreed_full(const struct scps_agreed *a, uint32_t cfg_mss, uint32_t path);
/* Stores two sizes in bytes: `path`, the payload plus options that the path MTU permits (pmtu_mss),
 * and `full`, the payload of a full segment, which scps_agreed_full() returned for it (mss). */
void scps_agreed_set_path(struct scps_agreed *a, uint32_t path, uint32_t full);
static inline bool scps_agreed_rack(const struct scps_agreed *a, const struct scps_conn_config *cfg)
{
    return cfg->recovery == SCPS_RECOVERY_RACK && a->opts & SCPS_AGREED_SACK;
}
static inline bool scps_agreed_snack(const struct scps_agreed *a)
{
    return a->caps & SCPS_CAP_SNACK1;
}
/* Returns true if the peer's acknowledgements report, by SACK or SNACK, which data has arrived
 * there out of order: above SEG.ACK, with octets before it missing. */
static inline bool scps_agreed_reports(const struct scps_agreed *a)
{
    return a->opts & SCPS_AGREED_SACK || scps_agreed_snack(a);
}

#endif
