/* SPDX-License-Identifier: MIT */
/* The conversation helper: see script.h. */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scps/comp.h>

#include "base/bytes.h"

#define ORIGIN SCPS_SEC(1000) /* stack time at script time 0: nothing may depend on it being 0 */

struct sent {
    scps_time at;
    uint8_t *p; /* the packet, whole */
    size_t len;
    uint32_t wire; /* its length as it left */
    bool compressed;
};

struct script_priv {
    scps_time now;
    struct sent *q; /* q[head .. n-1]: sent and not expected yet */
    size_t head, n, cap;
    char **line; /* the conversation so far */
    size_t nline, cap_line;
    bool know_iss, know_irs;
    uint32_t iss;
    int64_t peer_nxt, peer_ack; /* relative */
    int32_t wnd;
    uint32_t tsval_seen;
    bool ts;            /* agreed: the peer's segments carry them */
    unsigned our_shift; /* as offered; in force when the peer offered one, too */
    bool peer_shift;
    bool have_edge;
    uint32_t ack_seen, edge_seen;
    int64_t written, read; /* octets of each stream so far */
    struct scps_event ev;
    bool have_ev;
    uint8_t our_id;
    struct scps_comp_rx comp_rx;
    struct scps_comp_tx comp_tx;
    bool may_compress; /* both have offered it */
    uint8_t xcaps[40];
};

static uint8_t ours(int64_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

static uint8_t theirs(int64_t off)
{
    return (uint8_t)(off * 17 + (off >> 8) * 3 + 2);
}

/* ---- the record ------------------------------------------------------------------------------ */

static void say(struct script *t, const char *text)
{
    struct script_priv *p = t->p;
    char buf[700];
    if (p->nline == p->cap_line) {
        p->cap_line = p->cap_line ? 2 * p->cap_line : 64;
        p->line = realloc(p->line, p->cap_line * sizeof *p->line);
    }
    snprintf(buf, sizeof buf, "%12.6f  %s", (double)p->now / 1e6, text);
    p->line[p->nline] = malloc(strlen(buf) + 1);
    strcpy(p->line[p->nline++], buf);
}

void script_comment(struct script *t, const char *fmt, ...)
{
    char buf[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    say(t, buf);
}

void script_fail(struct script *t, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "---- the conversation so far (> the stack, < the peer; relative numbers)\n");
    for (size_t i = 0; i < t->p->nline; i++)
        fprintf(stderr, "%s\n", t->p->line[i]);
    for (size_t i = t->p->head; i < t->p->n; i++)
        fprintf(stderr, "  (still unexpected: the one sent at %.6f)\n",
                (double)t->p->q[i].at / 1e6);
    if (t->c) {
        struct scps_info i = script_info(t);
        fprintf(stderr,
                "---- %s, hold %s, cwnd %llu, ssthresh %llu, inflight %llu, peer window %llu, rto "
                "%lld\n",
                scps_state_name(i.state), scps_hold_name(i.hold), (unsigned long long)i.cwnd,
                (unsigned long long)i.ssthresh, (unsigned long long)i.inflight,
                (unsigned long long)i.snd_wnd, (long long)i.rto);
    }
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    _fail(file, line);
}

/* A segment as text with relative numbers. from_us: which way it goes. */
static void describe(struct script *t, const struct scps_seg *s, bool from_us, char *buf,
                     size_t cap)
{
    struct script_priv *p = t->p;
    char flags[10];
    uint32_t mine = from_us ? p->iss : t->peer_isn, other = from_us ? t->peer_isn : p->iss;
    size_t n = 0;

#define ADD(...)                                                                                   \
    do {                                                                                           \
        n += (size_t)snprintf(buf + n, cap - n, __VA_ARGS__);                                      \
        if (n >= cap)                                                                              \
            n = cap - 1;                                                                           \
    } while (0)
    ADD("%s %-3s %d:%d(%u)", from_us ? ">" : "     <", scps_print_flags(s->flags, flags),
        (int)(s->seq - mine), (int)(s->seq - mine + s->len), (unsigned)s->len);
    if (s->flags & SCPS_ACK)
        ADD(" ack %d", (int)(s->ack - other));
    ADD(" win %u", s->wnd);
    if (s->has & SCPS_HAS_MSS)
        ADD(" mss %u", s->mss);
    if (s->has & SCPS_HAS_WSCALE)
        ADD(" wscale %u", s->wscale);
    if (s->has & SCPS_HAS_SACK_OK)
        ADD(" sackOK");
    if (s->has & SCPS_HAS_TS)
        ADD(" TS %u %u", (unsigned)s->tsval, (unsigned)s->tsecr);
    if (s->has & SCPS_HAS_SACK)
        for (unsigned i = 0; i < s->nsack; i++)
            ADD(" sack %d:%d", (int)(s->sack[i].left - other), (int)(s->sack[i].right - other));
    if (s->has & SCPS_HAS_CAPS)
        ADD(" caps %02x/%u", s->caps, s->conn_id);
    if (s->has & SCPS_HAS_SNACK)
        ADD(" snack %u+%u", s->snack_off, s->snack_size);
    if (s->has & SCPS_HAS_RECORD)
        ADD(" record");
    if (s->has & SCPS_HAS_CORRUPTION)
        ADD(" corruption");
    if (s->sport != (from_us ? t->us.port : t->them.port) ||
        s->dport != (from_us ? t->them.port : t->us.port))
        ADD(" (port %u to %u)", s->sport, s->dport);
#undef ADD
}

/* ---- what leaves ----------------------------------------------------------------------------- */

static bool parse(const uint8_t *p, size_t len, struct scps_ip *ip, struct scps_seg *s)
{
    if (scps_ip_parse(p, len, len, ip) || ip->proto != SCPS_IPPROTO_TCP)
        return false;
    return !scps_tcp_parse(p + ip->hdr_len, ip->total_len - ip->hdr_len,
                           ip->total_len - ip->hdr_len, s);
}

#define BROKEN(...) script_fail(t, __FILE__, __LINE__, __VA_ARGS__)

/* A packet with a compressed header becomes the one it stands for. */
static void expand(struct script *t, struct sent *sent)
{
    uint8_t whole[4000];
    struct scps_ip ip;
    struct scps_seg s;
    const uint8_t *p;

    sent->wire = (uint32_t)sent->len;
    if (scps_ip_parse(sent->p, sent->len, sent->len, &ip) || ip.proto != SCPS_IPPROTO_SCPS_COMP)
        return;
    p = sent->p + ip.hdr_len;
    sent->compressed = true;
    if (!t->p->may_compress)
        BROKEN("a compressed header without agreement");
    if (p[0] != t->p->our_id)
        BROKEN("connection id %u, not %u", p[0], t->p->our_id);
    if (scps_comp_proto(&ip.src, &ip.dst, p, ip.total_len - ip.hdr_len, NULL, 0) !=
        (t->cfg.comp_proto ? t->cfg.comp_proto : SCPS_IPPROTO_SCPS_COMP))
        BROKEN("wrong checksum of a compressed segment");
    if (scps_comp_parse(p, ip.total_len - ip.hdr_len, ip.total_len - ip.hdr_len, &t->p->comp_rx,
                        &s))
        BROKEN("a compressed header that means nothing");
    if (sent->len > t->mtu)
        BROKEN("a compressed packet of %zu bytes; MTU %u", sent->len, t->mtu);
    s.sport = t->us.port;
    s.dport = t->them.port;
    ip.proto = SCPS_IPPROTO_TCP;
    size_t hdr = scps_tcp_hdr_len(&s), n = scps_ip_build(whole, &ip, hdr + s.len);
    scps_tcp_build(whole + n, &s);
    memcpy(whole + n + hdr, s.data, s.len);
    scps_put16(whole + n + 16,
               scps_tcp_checksum(&ip.src, &ip.dst, whole + n, hdr, whole + n + hdr, s.len));
    free(sent->p);
    sent->len = n + hdr + s.len;
    sent->p = malloc(sent->len);
    memcpy(sent->p, whole, sent->len);
}

static void inspect(struct script *t, const struct sent *sent)
{
    const uint8_t *p = sent->p;
    size_t len = sent->len;
    struct script_priv *v = t->p;
    struct scps_ip ip;
    struct scps_seg s;
    char text[500];
    int why = scps_ip_parse(p, len, len, &ip);

    if (why)
        BROKEN("the stack sent no IP packet: %s", scps_drop_name((enum scps_drop)why));
    if (ip.proto != SCPS_IPPROTO_TCP) {
        char line[500] = "> ";
        scps_print_packet(p, len, line + 2, sizeof line - 2);
        say(t, line);
        return;
    }
    if (!parse(p, len, &ip, &s))
        BROKEN("the stack sent no TCP segment");
    if (ip.total_len != len || (sent->wire > t->mtu && !(t->nif.flags & SCPS_NETIF_GSO)))
        BROKEN("a packet of %zu bytes says %u; MTU %u", len, (unsigned)ip.total_len, t->mtu);
    if (scps_tcp_checksum(&ip.src, &ip.dst, p + ip.hdr_len, s.hdr_len, s.data, s.len))
        BROKEN("wrong TCP checksum");
    if (!scps_addr_equal(&ip.src, &t->us.addr) || !scps_addr_equal(&ip.dst, &t->them.addr))
        BROKEN("wrong addresses");
    bool flow = s.dport == t->them.port && (!t->us.port || s.sport == t->us.port);
    if (flow && s.flags & SCPS_SYN) {
        v->iss = s.seq;
        v->know_iss = true;
        v->our_shift = s.has & SCPS_HAS_WSCALE ? s.wscale : 0;
        v->have_edge = false;
        t->us.port = s.sport;
        v->our_id = s.conn_id;
        v->comp_rx = (struct scps_comp_rx){0};
        v->may_compress =
            s.has & SCPS_HAS_CAPS && s.caps & SCPS_CAP_COM && t->peer.caps & SCPS_CAP_COM;
    }
    if (flow)
        scps_comp_learn(&v->comp_rx, &s);
    describe(t, &s, true, text, sizeof text);
    if (sent->compressed)
        strcat(text, " (compressed)");
    say(t, text);
    if (!flow || !v->know_iss)
        return;
    if (s.has & SCPS_HAS_TS)
        v->tsval_seen = s.tsval;
    if (s.flags & SCPS_RST)
        return;
    for (uint32_t i = 0; i < s.len; i++) {
        int64_t off = (int32_t)(s.seq - v->iss) + (int64_t)i;
        uint8_t want = t->cfg.hollow ? 0 : ours(off);
        if (off >= 1 && off <= v->written && s.data[i] != want)
            BROKEN("octet %lld of the stream is %02x, not %02x", (long long)off, s.data[i], want);
        if ((off < 1 && !(off == 0 && s.len == 1)) || off > v->written)
            if (!(s.len == 1 && off <= v->written)) /* a keep-alive's old octet */
                BROKEN("octet %lld of the stream was never written", (long long)off);
    }
    if (s.flags & SCPS_ACK && !(s.flags & SCPS_SYN)) {
        unsigned shift = v->peer_shift ? v->our_shift : 0;
        uint32_t edge = s.ack + ((uint32_t)s.wnd << shift);
        if (v->have_edge) {
            if ((int32_t)(s.ack - v->ack_seen) < 0)
                BROKEN("the acknowledgement moved back by %d", (int)(v->ack_seen - s.ack));
            int32_t back = (int32_t)(v->edge_seen - edge);
            if (back >= (int32_t)(1u << shift) && !t->window_may_shrink)
                BROKEN("the right edge of the window moved back by %d", (int)back);
            if (back > 0)
                edge = v->edge_seen;
        }
        v->have_edge = true;
        v->ack_seen = s.ack;
        v->edge_seen = edge;
    }
}

/* Takes what the stack has to send now. */
static void drain(struct script *t)
{
    struct script_priv *v = t->p;
    uint8_t head[SCPS_MAX_HEADERS + 2000];
    unsigned n = 0;

    for (;;) {
        struct scps_pkt out = {.data = head, .cap = sizeof head};
        if (!scps_stack_output(t->st, &t->nif, ORIGIN + v->now, &out))
            break;
        if (++n > 100000)
            BROKEN("the stack never stops sending");
        if (v->n == v->cap) {
            v->cap = v->cap ? 2 * v->cap : 64;
            v->q = realloc(v->q, v->cap * sizeof *v->q);
        }
        struct sent *s = &v->q[v->n++];
        s->at = v->now;
        s->len = out.len + out.payload_len;
        s->p = malloc(s->len);
        memcpy(s->p, out.data, out.len);
        if (out.payload)
            memcpy(s->p + out.len, out.payload, out.payload_len);
        else
            memset(s->p + out.len, 0, out.payload_len);
        s->compressed = false;
        expand(t, s);
        inspect(t, s);
    }
    if (scps_stack_deadline(t->st) <= ORIGIN + v->now)
        BROKEN("nothing to send, yet the deadline is %lld us ago",
               (long long)(ORIGIN + v->now - scps_stack_deadline(t->st)));
}

void script_run(struct script *t, scps_time until)
{
    if (until < t->p->now)
        script_fail(t, __FILE__, __LINE__, "time cannot go back to %.6f", (double)until / 1e6);
    script_start(t);
    for (;;) {
        drain(t);
        scps_time d = scps_stack_deadline(t->st);
        if (d == SCPS_NEVER || d - ORIGIN > until)
            break;
        t->p->now = d - ORIGIN;
    }
    t->p->now = until;
    drain(t);
}

scps_time script_now(const struct script *t)
{
    return t->p->now;
}

unsigned script_sent_count(const struct script *t)
{
    return (unsigned)(t->p->n - t->p->head);
}

unsigned script_forget_sent(struct script *t)
{
    unsigned n = script_sent_count(t);
    while (t->p->head < t->p->n)
        free(t->p->q[t->p->head++].p);
    return n;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void note(void *ctx, const struct scps_note *n)
{
    struct script *t = ctx;
    if (n->kind < SCPS_NOTE_COUNT)
        t->notes[n->kind]++;
}

struct script *script_new(uint8_t version)
{
    struct script *t = calloc(1, sizeof *t);
    t->p = calloc(1, sizeof *t->p);
    t->stack_cfg = scps_stack_config_default();
    t->stack_cfg.seed[0] = 0x0123456789abcdef;
    t->stack_cfg.seed[1] = version;
    t->stack_cfg.now = ORIGIN;
    t->stack_cfg.observer = (struct scps_observer){note, t, UINT64_MAX};
    t->cfg = scps_conn_config_default();
    t->cfg.timestamps = false;
    t->cfg.wscale = false;
    t->cfg.mss = 1000;
    t->cfg.sndbuf = 200000;
    t->cfg.rcvbuf = 20000;
    t->peer = (struct script_syn){.mss = 1000, .sack = true, .wscale = -1};
    t->peer_wnd = 65535;
    t->peer_isn = 4294966000u; /* wraps soon */
    t->mtu = 1500;
    t->backlog = 8;
    assert_int_equal(scps_addr_parse(version == 6 ? "2001:db8::1" : "10.0.0.1", &t->us.addr), 0);
    assert_int_equal(scps_addr_parse(version == 6 ? "2001:db8::2" : "10.0.0.2", &t->them.addr), 0);
    t->them.port = 5001;
    return t;
}

void script_start(struct script *t)
{
    if (t->st)
        return;
    t->nif = (struct scps_netif){.name = "script", .mtu = t->mtu};
    t->nif.flags = t->cfg.hollow ? SCPS_NETIF_HOLLOW : 0;
    t->st = scps_stack_new(&t->stack_cfg);
    assert_non_null(t->st);
    assert_int_equal(scps_stack_add_netif(t->st, &t->nif), 0);
    assert_int_equal(
        scps_stack_add_addr(t->st, &t->nif, &t->us.addr, t->us.addr.family == 6 ? 64 : 24), 0);
}

void script_free_(struct script *t, const char *file, int line)
{
    struct script_priv *v = t->p;
    if (v->head < v->n)
        script_fail(t, file, line, "%u packets were sent that nobody expected",
                    script_sent_count(t));
    scps_stack_free(t->st);
    script_forget_sent(t);
    free(v->q);
    for (size_t i = 0; i < v->nline; i++)
        free(v->line[i]);
    free(v->line);
    free(v);
    free(t);
}

struct scps_info script_info(const struct script *t)
{
    struct scps_info i = {0};
    if (t->c)
        scps_conn_info(t->c, &i);
    return i;
}

/* ---- the peer -------------------------------------------------------------------------------- */

int script_input(struct script *t, scps_time at, const uint8_t *p, size_t len)
{
    script_run(t, at);
    uint8_t *exact = malloc(len ? len : 1); /* so that a sanitizer sees a read beyond it */
    memcpy(exact, p, len);
    struct scps_pkt in = {.data = exact, .len = len, .at = ORIGIN + at};
    int why = scps_stack_input(t->st, &t->nif, &in);
    free(exact);
    if (why) {
        char text[100];
        snprintf(text, sizeof text, "         (dropped: %s)", scps_drop_name((enum scps_drop)why));
        say(t, text);
    }
    drain(t);
    return why;
}

static int64_t given(int64_t v, int64_t usual)
{
    return v == ZERO ? 0 : v ? v : usual;
}

void script_peer_says(struct script *t, scps_time at, const struct script_say *y, const char *file,
                      int line)
{
    struct script_priv *v = t->p;
    uint8_t pkt[4000], data[3000];
    char text[500];
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
        data[i] = theirs(seq + i + (s.flags & SCPS_SYN ? 1 : 0));
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
    if ((v->ts || y->tsval) && !y->bare && !(s.flags & SCPS_RST)) {
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

    describe(t, &s, false, text, sizeof text);
    say(t, text);
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
    struct scps_pkt in = {.data = exact, .len = n + hdr + s.len, .at = ORIGIN + at - y->late};
    int why = scps_stack_input(t->st, &t->nif, &in);
    free(exact);
    if (why) {
        snprintf(text, sizeof text, "         (dropped: %s)", scps_drop_name((enum scps_drop)why));
        say(t, text);
    }
    drain(t);
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
    say(t, text);
    script_input(t, at, pkt, n + len);
}

/* ---- what should be -------------------------------------------------------------------------- */

static int64_t rel(uint32_t seq, uint32_t zero)
{
    return (int32_t)(seq - zero);
}

static bool pop(struct script *t, struct sent *out)
{
    struct script_priv *v = t->p;
    if (v->head == v->n)
        return false;
    *out = v->q[v->head++];
    if (v->head == v->n)
        v->head = v->n = 0;
    return true;
}

void script_expect_sent(struct script *t, const struct script_want *w, const char *file, int line)
{
    struct script_priv *v = t->p;
    struct sent got = {0};
    struct scps_ip ip;
    struct scps_seg s;
    char flags[10], flags2[10];

    script_run(t, v->now);
    if (v->head == v->n && w->at + w->slack > v->now) {
        while (v->head == v->n && v->now < w->at + w->slack) {
            scps_time d = scps_stack_deadline(t->st);
            scps_time next = w->at + w->slack;
            if (d != SCPS_NEVER && d - ORIGIN < next)
                next = SCPS_MAX(d - ORIGIN, v->now + 1);
            script_run(t, next);
        }
    }
    if (!pop(t, &got))
        script_fail(t, file, line, "nothing was sent");
    if (!parse(got.p, got.len, &ip, &s))
        script_fail(t, file, line, "what was sent is not TCP");
    t->last = s;
    t->last.data = NULL;
    if (s.has & SCPS_HAS_XCAPS) { /* it lies in the packet, which goes */
        memcpy(t->p->xcaps, s.xcaps, s.xcaps_len);
        t->last.xcaps = t->p->xcaps;
    }
    t->last.tos = ip.tos;
    uint32_t mine = v->iss, other = t->peer_isn;

#define SAME(cond, ...)                                                                            \
    do {                                                                                           \
        if (!(cond))                                                                               \
            script_fail(t, file, line, __VA_ARGS__);                                               \
    } while (0)
    if (w->at)
        SAME(got.at >= w->at && got.at <= w->at + w->slack, "sent at %.6f, not %.6f",
             (double)got.at / 1e6, (double)w->at / 1e6);
    SAME(s.dport == (w->port ? w->port : t->them.port), "to port %u", s.dport);
    uint16_t want = w->flags == NO_FLAG ? 0 : w->flags ? w->flags : SCPS_ACK;
    SAME(((s.flags ^ want) & ~(want & SCPS_PSH ? 0u : (unsigned)SCPS_PSH)) == 0, "flags %s, not %s",
         scps_print_flags(s.flags, flags), scps_print_flags(want, flags2));
    SAME(!w->push || s.flags & SCPS_PSH, "PSH is missing");
    SAME(!w->no_push || !(s.flags & SCPS_PSH), "PSH is set");
    if (w->from)
        SAME(rel(s.seq, mine) == given(w->from, 0), "from %lld, not %lld",
             (long long)rel(s.seq, mine), (long long)given(w->from, 0));
    SAME(w->any_len || (int32_t)s.len == w->len, "length %u, not %d", (unsigned)s.len, w->len);
    if (w->ack)
        SAME(rel(s.ack, other) == given(w->ack, 0), "ack %lld, not %lld",
             (long long)rel(s.ack, other), (long long)given(w->ack, 0));
    if (w->wnd)
        SAME(s.wnd == given(w->wnd, 0), "window %u, not %d", s.wnd, (int)given(w->wnd, 0));
    unsigned nsack = s.has & SCPS_HAS_SACK ? s.nsack : 0, n = 0;
    while (n < SCPS_SACK_MAX && w->sack[n].right)
        n++;
    SAME(!w->no_sack || !nsack, "a SACK option");
    if (n) {
        SAME(nsack == n, "%u SACK blocks, not %u", nsack, n);
        for (unsigned i = 0; i < n; i++)
            SAME(rel(s.sack[i].left, other) == w->sack[i].left &&
                     rel(s.sack[i].right, other) == w->sack[i].right,
                 "SACK block %u is %lld:%lld, not %lld:%lld", i,
                 (long long)rel(s.sack[i].left, other), (long long)rel(s.sack[i].right, other),
                 (long long)w->sack[i].left, (long long)w->sack[i].right);
    }
    if (w->snack[0].size)
        SAME(s.has & SCPS_HAS_SNACK && s.snack_off == w->snack[0].offset &&
                 s.snack_size == w->snack[0].size,
             "not the SNACK");
    SAME(!w->no_snack || !(s.has & SCPS_HAS_SNACK), "a SNACK");
    SAME((s.has & w->has) == w->has, "options %03x, not %03x", s.has, w->has);
    SAME(!(s.has & w->hasnt), "options %03x, without %03x", s.has, w->hasnt);
    SAME(w->compressed == got.compressed, "%scompressed", got.compressed ? "" : "not ");
    if (w->wire)
        SAME(w->wire == got.wire, "a packet of %u octets, not %u", got.wire, w->wire);
#undef SAME
    free(got.p);
}

size_t script_expect_other(struct script *t, uint8_t *p, size_t cap, const char *file, int line)
{
    struct sent got = {0};
    struct scps_ip ip;
    script_run(t, t->p->now);
    if (!pop(t, &got))
        script_fail(t, file, line, "nothing was sent");
    assert_int_equal(scps_ip_parse(got.p, got.len, got.len, &ip), 0);
    if (ip.proto == SCPS_IPPROTO_TCP)
        script_fail(t, file, line, "TCP was sent");
    if (got.len > cap)
        script_fail(t, file, line, "a packet of %zu bytes was sent", got.len);
    size_t len = got.len;
    memcpy(p, got.p, len);
    free(got.p);
    return len;
}

void script_expect_quiet(struct script *t, int hold, const char *file, int line)
{
    script_run(t, t->p->now);
    if (t->p->head < t->p->n)
        script_fail(t, file, line, "something was sent");
    if (hold == ANY_HOLD)
        return;
    struct scps_info i = script_info(t);
    if ((int)i.hold != hold)
        script_fail(t, file, line, "the sender is held by %s, not by %s", scps_hold_name(i.hold),
                    scps_hold_name((enum scps_hold)hold));
}

static bool next_event(struct script *t, struct scps_event *ev)
{
    script_run(t, t->p->now);
    return scps_stack_event(t->st, ev) == 1;
}

void script_forget_events(struct script *t)
{
    struct scps_event ev;
    while (next_event(t, &ev))
        ;
}

static const char *event_name(enum scps_event_kind k)
{
    static const char *const name[] = {"connected",   "accept",  "readable", "writable",
                                       "peer_closed", "drained", "closed",   "error",
                                       "hole",        "gave up", "nothing"};
    return name[k];
}

void script_expect_event(struct script *t, enum scps_event_kind kind, int err, const char *file,
                         int line)
{
    struct scps_event ev;
    if (!next_event(t, &ev))
        ev = (struct scps_event){.kind = SCPS_EV_COUNT};
    if (ev.kind != kind || (kind == SCPS_EV_ERROR && ev.err != err))
        script_fail(t, file, line, "the event is %s%s%s, not %s%s%s", event_name(ev.kind),
                    ev.kind == SCPS_EV_ERROR ? " " : "",
                    ev.kind == SCPS_EV_ERROR ? scps_errname(ev.err) : "", event_name(kind),
                    kind == SCPS_EV_ERROR ? " " : "",
                    kind == SCPS_EV_ERROR ? scps_errname(err) : "");
}

void script_expect_state(struct script *t, enum scps_state s, const char *file, int line)
{
    if (!t->c || scps_conn_state(t->c) != s)
        script_fail(t, file, line, "the state is not %s", scps_state_name(s));
}

/* ---- the application ------------------------------------------------------------------------- */

void script_app_writes(struct script *t, scps_time at, int64_t n, unsigned flags, const char *file,
                       int line)
{
    struct script_priv *v = t->p;
    script_run(t, at);
    script_comment(t, "  app writes %lld%s", (long long)n, flags & SCPS_MORE ? ", more" : "");
    uint8_t *buf = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++)
        buf[i] = ours(v->written + 1 + i);
    v->written += n; /* the stack may send at once */
    int64_t did = scps_conn_write(t->c, t->cfg.hollow ? NULL : buf, (size_t)n, flags);
    free(buf);
    if (did != n)
        script_fail(t, file, line, "the write returned %lld (%s), not %lld", (long long)did,
                    scps_errname((int)SCPS_MIN(did, 0)), (long long)n);
    drain(t);
}

void script_app_reads(struct script *t, scps_time at, int64_t n, const char *file, int line)
{
    struct script_priv *v = t->p;
    script_run(t, at);
    script_comment(t, "  app reads %lld", (long long)n);
    uint8_t *buf = malloc((size_t)n + 1);
    int64_t did = scps_conn_read(t->c, buf, (size_t)(n ? n : 1), 0);
    if (did != n)
        script_fail(t, file, line, "the read returned %lld (%s), not %lld", (long long)did,
                    scps_errname((int)SCPS_MIN(did, 0)), (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (buf[i] != (t->cfg.hollow ? 0 : theirs(v->read + 1 + i)))
            script_fail(t, file, line, "octet %lld read is wrong", (long long)(v->read + 1 + i));
    free(buf);
    v->read += n;
    drain(t);
}

void script_skip(struct script *t, int64_t n)
{
    script_comment(t, "  app passes over %lld", (long long)n);
    t->p->read += n;
    drain(t);
}

/* ---- openers --------------------------------------------------------------------------------- */

void script_connect(struct script *t, scps_time at)
{
    int err = 0;
    script_run(t, at);
    script_comment(t, "  app connects");
    t->c = scps_connect(t->st, &t->cfg, NULL, &t->them, &err);
    if (!t->c)
        script_fail(t, __FILE__, __LINE__, "connect: %s", scps_strerror(err));
    drain(t);
}

void script_listen(struct script *t)
{
    int err = 0;
    script_start(t);
    if (!t->us.port)
        t->us.port = 80;
    t->l = scps_listen(t->st, &t->cfg, &t->us, t->backlog, &err);
    if (!t->l)
        script_fail(t, __FILE__, __LINE__, "listen: %s", scps_strerror(err));
}

void script_established_(struct script *t, scps_dur rtt, const char *file, int line)
{
    scps_time at = t->p->now;
    script_connect(t, at);
    script_expect_sent(t, &(struct script_want){.flags = SCPS_SYN}, file, line);
    script_peer_says(t, at + rtt, &(struct script_say){.flags = SCPS_SYN | SCPS_ACK, .ack = 1},
                     file, line);
    script_expect_sent(t,
                       &(struct script_want){
                           .at = at + rtt, .from = 1, .ack = 1, .compressed = t->p->may_compress},
                       file, line);
    script_expect_event(t, SCPS_EV_CONNECTED, 0, file, line);
    script_expect_state(t, SCPS_ESTABLISHED, file, line);
}

void script_accepted_(struct script *t, scps_dur rtt, const char *file, int line)
{
    scps_time at = t->p->now;
    script_listen(t);
    script_peer_says(t, at, &(struct script_say){.flags = SCPS_SYN}, file, line);
    script_expect_sent(t, &(struct script_want){.flags = SCPS_SYN | SCPS_ACK, .ack = 1}, file,
                       line);
    script_peer_says(t, at + rtt, &(struct script_say){.ack = 1}, file, line);
    script_expect_event(t, SCPS_EV_ACCEPT, 0, file, line);
    t->c = scps_accept(t->l);
    if (!t->c)
        script_fail(t, file, line, "nothing to accept");
    script_expect_state(t, SCPS_ESTABLISHED, file, line);
}
