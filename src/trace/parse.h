/* SPDX-License-Identifier: MIT */
/* Parses a captured IP packet and its TCP segment. The only side effects are counters of packets
 * that cannot be analysed.
 *
 * Every packet is parsed here, so the functions do not use those of wire/, which fill larger
 * structures. The usual packet (IPv4 without options, a TCP header with timestamps or no options)
 * is parsed inline in this file; everything else in parse.c, and packets inside packets in
 * tunnel.c.
 *
 * Sources: RFC 791, 8200, 9293, 7323, 2018; CCSDS 714.0-B-2 for kinds 20 to 23.
 */
#ifndef SCPS_TRACE_PARSE_H
#define SCPS_TRACE_PARSE_H

#include "trace/flow.h"

#define SCPS_TR_PROTO_AUTH 51 /* IP protocol number of the authentication header */

struct packet {
    const uint8_t *ip;
    uint32_t cap;   /* number of captured bytes from the start of the IP header on */
    uint32_t total; /* length of the IP packet, bytes */
    uint8_t version, proto, tos;
    uint16_t id; /* identification field of the IPv4 header */
    const uint8_t *th;
    uint32_t th_cap;  /* number of captured bytes from the start of the TCP header on */
    uint32_t seg_len; /* length of TCP header and payload on the wire, bytes */
};

struct opts {
    bool has_ts, has_mss, has_ws, sack_ok, caps, snack, record, corruption, bad;
    uint8_t ws, nsack, caps_bits, caps_id, xcaps_len;
    uint16_t mss, snack_off, snack_size;
    uint8_t snack_vec_len;
    const uint8_t *snack_vec;
    uint32_t tsval, tsecr;
    struct scps_sack sack[SCPS_SACK_MAX]; /* last member: only the first nsack entries are valid */
};

struct segment {
    uint16_t flags, wnd, urp;
    /* seq, ack: SEG.SEQ and SEG.ACK; len: SEG.LEN without SYN and FIN, the bytes of payload on the
     * wire */
    uint32_t seq, ack, len;
    uint32_t saved; /* bytes of payload that were captured */
    const uint8_t *opt;
    uint32_t opt_len;
    bool compressed;
    /* true: the segment has no flags but ACK and PSH, and no options but timestamps; of `o` only
     * has_ts, tsval and tsecr are set then */
    bool plain;
    struct opts o;
};

/* The following functions count a packet that cannot be analysed, and return false so that their
 * caller can return that: its IP header is malformed (bad_ip), or the capture has only a part of
 * the headers (cut_short). */
static inline bool scps_tr_bad_ip(struct scps_trace *t)
{
    t->tot.bad_ip++;
    return false;
}

static inline bool scps_tr_cut_short(struct scps_trace *t)
{
    t->tot.truncated++;
    return false;
}

/* Counts an IP fragment. later: the fragment is not the first one of its packet. Returns true for
 * the first one, which has the TCP header and is analysed. */
static inline bool scps_tr_fragment(struct scps_trace *t, bool later)
{
    t->tot.fragments++;
    t->tot.other_protocol += later;
    return !later;
}

/* Parses the IPv6 header at k->ip and its extension headers, and sets *hdr to their length, bytes.
 * left: bytes from k->ip on that were on the wire. Returns false if the packet must not be
 * processed any further; the packet has then been counted in t. */
bool scps_tr_parse_ip6(struct scps_trace *t, struct packet *k, uint32_t left, uint32_t *hdr);
/* Skips an authentication header behind the *hdr octets of the IPv4 header, and adds its length to
 * *hdr. Returns false if the packet must not be processed any further; it has then been counted. */
bool scps_tr_skip_auth(struct scps_trace *t, struct packet *k, uint32_t *hdr);
/* Finds the IP header inside a packet that is neither TCP nor has a compressed header. Returns its
 * offset from k->ip, or -1 after counting why there is none. */
int scps_tr_tunnel_ip(struct scps_trace *t, const struct packet *k);
/* Finds the IP header of the next packet of *j, which is in the data of p and is removed from *j.
 * Returns its offset, or -1. */
int scps_tr_joined_ip(struct scps_trace *t, const struct scps_trace_pkt *p, struct joined *j);
/* Parses the len octets of TCP options at p into *o. whole: the number of octets of options that
 * the TCP header has, of which the capture may have fewer, len. An option whose length is less than
 * 2 or goes beyond `whole` is malformed (o->bad) and ends the parsing. One that goes beyond len
 * ends it, too. A known option with a wrong length is malformed and skipped. */
void scps_tr_parse_options(const uint8_t *p, uint32_t len, uint32_t whole, struct opts *o);
/* Copies the source and destination address of packet k into the key of a connection, and sets the
 * rest of the key to 0. */
void scps_tr_addresses(const struct packet *k, struct flow_key *key);

static SCPS_ALWAYS_INLINE bool scps_tr_parse_ip4(struct scps_trace *t, struct packet *k,
                                                 uint32_t left, uint32_t *hdr)
{
    const uint8_t *p = k->ip;
    *hdr = (p[0] & 15u) * 4;
    k->total = scps_get16(p + 2);
    if (k->total == 0)
        /* The length field of the IP header is 0 if the capturing host itself sent the packet,
         * which its network card segments later (TSO). The packet then ends with the frame. */
        k->total = left;
    if (TR_UNLIKELY(*hdr < 20 || k->total < *hdr))
        return scps_tr_bad_ip(t);
    k->version = 4;
    k->tos = p[1];
    k->id = scps_get16(p + 4);
    k->proto = p[9];
    uint32_t frag = scps_get16(p + 6);
    return TR_LIKELY(!(frag & 0x3fff)) || scps_tr_fragment(t, frag & 0x1fff);
}

/* Parses the IP header at k->ip; `left` bytes from there on were on the wire. Returns false if the
 * packet must not be processed any further; it has then been counted. */
static SCPS_ALWAYS_INLINE bool scps_tr_parse_ip(struct scps_trace *t, struct packet *k,
                                                uint32_t left)
{
    uint32_t hdr;
    if (TR_UNLIKELY(k->cap < 20))
        return scps_tr_cut_short(t);
    if (TR_LIKELY(k->ip[0] >> 4 == 4)) {
        if (TR_UNLIKELY(!scps_tr_parse_ip4(t, k, left, &hdr)))
            return false;
        if (TR_UNLIKELY(k->proto == SCPS_TR_PROTO_AUTH) && !scps_tr_skip_auth(t, k, &hdr))
            return false;
    } else if (!scps_tr_parse_ip6(t, k, left, &hdr)) {
        return false;
    }
    if (hdr > k->cap)
        return scps_tr_cut_short(t);
    k->th = k->ip + hdr;
    k->th_cap = SCPS_MIN(k->cap, k->total) - hdr;
    k->seg_len = k->total - hdr;
    return true;
}

/* Fast path: parses the len octets of TCP options at p into *o if they are NOP, NOP and a
 * timestamps option (RFC 7323 appendix A). Returns false if they are not. */
static inline bool scps_tr_parse_timestamps(const uint8_t *p, uint32_t len, struct opts *o)
{
    if (TR_UNLIKELY(len != 12 || scps_get32(p) != 0x0101080a))
        return false;
    o->tsval = scps_get32(p + 4);
    o->tsecr = scps_get32(p + 8);
    return true;
}

/* Parses the TCP header of packet k, at k->th, into *s. Returns false if the caller must not
 * process the packet any further; the packet has then been counted in t. */
static SCPS_ALWAYS_INLINE bool scps_tr_parse_tcp(struct scps_trace *t, const struct packet *k,
                                                 struct segment *s)
{
    if (TR_UNLIKELY(k->th_cap < 20))
        return scps_tr_cut_short(t);
    const uint8_t *h = k->th;
    uint32_t off = (h[12] >> 4) * 4u;
    if (TR_UNLIKELY(off < 20 || off > k->seg_len)) {
        t->tot.bad_tcp++;
        return false;
    }
    s->seq = scps_get32(h + 4);
    s->ack = scps_get32(h + 8);
    s->flags = h[13];
    s->wnd = scps_get16(h + 14);
    s->urp = scps_get16(h + 18);
    s->len = k->seg_len - off;
    s->saved = k->th_cap > off ? k->th_cap - off : 0;
    s->opt = h + 20;
    s->opt_len = SCPS_MIN(off, k->th_cap) - 20;
    s->compressed = false;
    s->plain = !t->cfg.on_packet && (s->flags & ~SCPS_PSH) == SCPS_ACK &&
               (s->opt_len == 0 || scps_tr_parse_timestamps(s->opt, s->opt_len, &s->o));
    if (TR_UNLIKELY(!s->plain)) {
        memset(&s->o, 0, offsetof(struct opts, sack));
        scps_tr_parse_options(s->opt, s->opt_len, off - 20, &s->o);
    } else {
        /* The segment has no options but timestamps, which are already parsed. */
        s->o.has_ts = s->opt_len != 0;
        s->o.tsval = s->o.has_ts ? s->o.tsval : 0;
    }
    if (TR_UNLIKELY(off > k->th_cap))
        /* The captured part of the packet ends within the TCP options; the fixed header is
         * complete. */
        t->tot.truncated++;
    return true;
}

#endif
