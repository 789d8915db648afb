/* SPDX-License-Identifier: MIT */
/* Restores the segment of a packet with a compressed header (protocol 105).
 *
 * A field that is in the compressed header has its full value, not a difference. A field that the
 * header leaves out is unchanged since the direction's last segment, whose values are in struct
 * comp_state.
 *
 * Source: docs/SCPS-TP.md section 8.2.
 */
#include "trace/segment.h"

#include "wire/comp.h"
#include "wire/opt.h"

static void take_options(struct scps_cursor *c, struct segment *s)
{
    uint32_t n = scps_cursor_get8(c);
    const uint8_t *p = n > OPT_ROOM ? NULL : scps_cursor_skip(c, n);
    if (!p) {
        c->cut = true;
        return;
    }
    s->opt = p;
    s->opt_len = n;
    scps_tr_parse_options(p, n, n, &s->o);
}

/* Reads the fields of a compressed header, in their order on the wire, into *v and *s. bits and
 * bits2: the two octets of flags at its start, which say which fields follow. */
static void take_fields(struct scps_cursor *c, uint8_t bits, uint8_t bits2, struct comp_state *v,
                        struct segment *s)
{
    if (bits2 & COMP_URG)
        s->urp = scps_cursor_get16(c);
    if (bits & COMP_A) {
        v->wnd = scps_cursor_get16(c);
        v->ack = scps_cursor_get32(c);
    }
    if (bits & COMP_S)
        v->seq = scps_cursor_get32(c);
    if (bits & COMP_TS1)
        v->tsval = scps_cursor_get32(c);
    if (bits & COMP_TS2)
        v->tsecr = scps_cursor_get32(c);
    if (bits & COMP_SNACK) {
        s->o.snack = true;
        s->o.snack_off = scps_cursor_get16(c);
        s->o.snack_size = scps_cursor_get16(c);
    }
    if (bits2 & COMP_OPTS)
        take_options(c, s);
    if (bits2 & COMP_PAD)
        (void)scps_cursor_get8(c);
    /* The last two octets of a compressed header, before the data, are the checksum, which is not
     * verified. */
    (void)scps_cursor_get16(c);
}

static uint16_t flags_of(uint8_t bits, uint8_t bits2)
{
    return (uint16_t)(SCPS_ACK | (bits2 & COMP_URG ? SCPS_URG : 0) |
                      (bits & COMP_PUSH ? SCPS_PSH : 0) | (bits2 & COMP_RST ? SCPS_RST : 0) |
                      (bits2 & COMP_FIN ? SCPS_FIN : 0));
}

int scps_tr_comp_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                        const struct packet *k)
{
    struct scps_cursor c = {.p = k->th, .end = k->th + k->th_cap};
    uint8_t id = scps_cursor_get8(&c), bits = scps_cursor_get8(&c);
    uint8_t bits2 = bits & COMP_MORE ? scps_cursor_get8(&c) : 0;
    if (c.cut) {
        t->tot.truncated++;
        return 1;
    }
    int dir;
    struct flow_key key;
    scps_tr_addresses(k, &key);
    struct flow *f = scps_tr_comp_find(t, &key, id, &dir);
    if (!f || !f->h[dir].c.known) {
        t->tot.unknown_compressed++;
        return 1;
    }

    struct comp_state v = f->h[dir].c;
    struct segment s = {.flags = flags_of(bits, bits2), .compressed = true};
    take_fields(&c, bits, bits2, &v, &s);
    uint32_t hdr = (uint32_t)(c.p - k->th);
    if (c.cut || hdr > k->seg_len) {
        if (k->th_cap < k->seg_len)
            t->tot.truncated++;
        else
            t->tot.bad_compressed++;
        return 1;
    }
    s.seq = v.seq;
    s.ack = v.ack;
    s.wnd = v.wnd;
    s.len = k->seg_len - hdr;
    s.saved = k->th_cap - hdr;
    if (bits & COMP_RB)
        s.o.record = true;
    if (bits & (COMP_TS1 | COMP_TS2)) {
        s.o.has_ts = true;
        s.o.tsval = v.tsval;
        s.o.tsecr = v.tsecr;
    }
    f->h[dir].c = v;
    t->tot.tcp_packets++;
    t->tot.compressed++;
    scps_tr_segment(t, p, k, &s, f, dir);
    return 0;
}

void scps_tr_comp_note(struct conn_dir *h, const struct segment *s)
{
    h->c = (struct comp_state){.seq = s->seq,
                               .ack = s->ack,
                               .wnd = s->wnd,
                               .tsval = s->o.tsval,
                               .tsecr = s->o.tsecr,
                               .known = true};
}
