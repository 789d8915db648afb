/* SPDX-License-Identifier: MIT */
/* The peer of a script: its segments, built from what the test says and what a well-behaved peer
 * would add, and its ICMP errors. */
#include "script_priv.h"

int script_input(struct script *t, scps_time at, const uint8_t *p, size_t len)
{
    script_run(t, at);
    /* memory of exactly that size, so that a sanitizer detects a read beyond it */
    uint8_t *exact = malloc(len ? len : 1);
    memcpy(exact, p, len);
    struct scps_pkt in = {.data = exact, .len = len, .at = ORIGIN + at};
    int why = scps_stack_input(t->st, &t->nif, &in);
    free(exact);
    if (why) {
        char text[100];
        snprintf(text, sizeof text, "         (dropped: %s)", scps_drop_name((enum scps_drop)why));
        script_log(t, text);
    }
    script_drain(t);
    return why;
}

void script_peer_says(struct script *t, scps_time at, const struct script_say *y, const char *file,
                      int line)
{
    struct script_priv *v = t->p;
    uint8_t pkt[4000], data[3000];
    char text[500];
    if (!v->in_batch)
        script_run(t, at);

    struct scps_seg s = {.sport = t->them.port, .dport = t->us.port};
    bool other = y->raw || (y->port && y->port != t->them.port);
    if (y->port)
        s.sport = y->port;
    s.flags = y->flags == NO_FLAG ? 0 : y->flags ? y->flags : SCPS_ACK | (y->len ? SCPS_PSH : 0);
    int64_t seq = given(y->seq, other ? 0 : v->peer_nxt);
    int64_t ack = given(y->ack, other ? 0 : v->peer_ack);
    s.seq = other ? (uint32_t)seq : t->peer_isn + (uint32_t)seq;
    s.ack = !(s.flags & SCPS_ACK) ? 0 : other ? (uint32_t)ack : v->iss + (uint32_t)ack;
    s.wnd = (uint16_t)given(y->wnd, v->wnd ? v->wnd : t->peer_wnd);
    s.urg = y->urg;
    if (s.urg)
        s.flags |= SCPS_URG;
    s.len = (uint32_t)y->len;
    if (s.len > sizeof data)
        script_fail(t, file, line, "the peer's segment is too long");
    for (uint32_t i = 0; i < s.len; i++)
        data[i] = script_theirs(seq + i + (s.flags & SCPS_SYN ? 1 : 0));
    if (s.flags & SCPS_SYN && !y->bare) {
        if (t->peer.mss) {
            s.has |= SCPS_HAS_MSS;
            s.mss = t->peer.mss;
        }
        if (t->peer.sack)
            s.has |= SCPS_HAS_SACK_OK;
        if (t->peer.wscale >= 0) {
            s.has |= SCPS_HAS_WSCALE;
            s.wscale = (uint8_t)t->peer.wscale;
        }
        if (t->peer.caps) {
            s.has |= SCPS_HAS_CAPS;
            s.caps = t->peer.caps;
            s.conn_id = t->peer.conn_id;
            scps_comp_tx_init(&v->comp_tx, t->peer.conn_id, 2, false);
        }
        v->ts = t->peer.ts;
        if (!y->raw && !y->port)
            v->peer_shift = t->peer.wscale >= 0;
    }
    if ((y->tsval || (v->ts && !(s.flags & SCPS_RST))) && !y->bare) {
        s.has |= SCPS_HAS_TS;
        s.tsval = (uint32_t)given(y->tsval, 1000000 + at / 1000);
        s.tsecr = (uint32_t)given(y->tsecr, s.flags & SCPS_ACK ? v->tsval_seen : 0);
    }
    for (int i = 0; i < SCPS_SACK_MAX && y->sack[i].right; i++) {
        s.has |= SCPS_HAS_SACK;
        s.sack[i].left = v->iss + (uint32_t)y->sack[i].left;
        s.sack[i].right = v->iss + (uint32_t)y->sack[i].right;
        s.nsack++;
    }
    if (y->snack[0].size) {
        s.has |= SCPS_HAS_SNACK;
        s.snack_off = y->snack[0].offset;
        s.snack_size = y->snack[0].size;
        s.snack_vec_len = y->snack_vec_len;
        memcpy(s.snack_vec, y->snack_vec, y->snack_vec_len);
    }
    if (y->record)
        s.has |= SCPS_HAS_RECORD;
    if (y->corruption)
        s.has |= SCPS_HAS_CORRUPTION;

    script_describe(t, &s, false, text, sizeof text);
    script_log(t, text);
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_TCP,
                         .ttl = 64,
                         .tos = y->tos,
                         .df = true};
    size_t iph = ip.version == 4 ? 20 : 40, hdr = 0, n;
    if (v->may_compress && !y->as_tcp && !other)
        hdr = scps_comp_build(pkt + iph, &v->comp_tx, &s, NULL);
    if (hdr) {
        uint8_t proto = t->peer.comp_proto ? t->peer.comp_proto : SCPS_IPPROTO_SCPS_COMP;
        ip.proto = SCPS_IPPROTO_SCPS_COMP;
        n = scps_ip_build(pkt, &ip, hdr + s.len);
        uint16_t sum = scps_comp_checksum(&ip.src, &ip.dst, proto, pkt + n, hdr, data, s.len);
        scps_put16(pkt + n + hdr - 2, (uint16_t)(sum + (y->bad_checksum ? 1 : 0)));
    } else {
        hdr = scps_tcp_hdr_len(&s);
        n = scps_ip_build(pkt, &ip, hdr + s.len);
        scps_tcp_build(pkt + n, &s);
        uint16_t sum = scps_tcp_checksum(&ip.src, &ip.dst, pkt + n, hdr, data, s.len);
        scps_put16(pkt + n + 16, (uint16_t)(sum + (y->bad_checksum ? 1 : 0)));
    }
    memcpy(pkt + n + hdr, data, s.len);
    if (!other) {
        int64_t end = seq + s.len + !!(s.flags & SCPS_SYN) + !!(s.flags & SCPS_FIN);
        if (end > v->peer_nxt && !(s.flags & SCPS_RST))
            v->peer_nxt = end;
        if (s.flags & SCPS_ACK && !(s.flags & SCPS_RST))
            v->peer_ack = ack;
        v->wnd = y->wnd ? y->wnd : v->wnd;
    }
    uint8_t *exact = malloc(n + hdr + s.len);
    memcpy(exact, pkt, n + hdr + s.len);
    struct scps_pkt in = {
        .data = exact, .len = n + hdr + s.len, .ecn = y->outer_ecn, .at = ORIGIN + at - y->late};
    int why = scps_stack_input(t->st, &t->nif, &in);
    free(exact);
    if (why) {
        snprintf(text, sizeof text, "         (dropped: %s)", scps_drop_name((enum scps_drop)why));
        script_log(t, text);
    }
    v->in_batch = y->more;
    if (!y->more)
        script_drain(t);
}

void script_peer_icmp(struct script *t, scps_time at, uint8_t type, uint8_t code, uint32_t rest,
                      int64_t seq, const char *file, int line)
{
    struct script_priv *v = t->p;
    uint8_t pkt[200];
    struct scps_ip q = {.src = t->us.addr,
                        .dst = t->them.addr,
                        .version = t->us.addr.family,
                        .proto = SCPS_IPPROTO_TCP,
                        .ttl = 60,
                        .df = true};
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = q.version,
                         .proto = q.version == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP,
                         .ttl = 64};
    struct scps_seg s = {.sport = t->us.port, .dport = t->them.port, .flags = SCPS_ACK};
    (void)file;
    (void)line;
    script_run(t, at);
    s.seq = v->iss + (uint32_t)given(seq, 0);
    size_t n = q.version == 6 ? 40 : 20;
    uint8_t *m = pkt + n;
    m[0] = type;
    m[1] = code;
    scps_put16(m + 2, 0);
    scps_put32(m + 4, rest);
    size_t len = 8;
    len += scps_ip_build(m + len, &q, 1020);
    len += scps_tcp_build(m + len, &s);
    scps_ip_build(pkt, &ip, len);
    uint64_t sum = scps_cksum_add(0, m, len);
    if (q.version == 6)
        sum = scps_cksum_pseudo(sum, &ip.src, &ip.dst, ip.proto, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
    char text[600] = "     < ";
    scps_print_packet(pkt, n + len, text + 7, sizeof text - 7);
    script_log(t, text);
    script_input(t, at, pkt, n + len);
}
