/* SPDX-License-Identifier: MIT */
/* The conversation helper, see script.h: the record, time, life and the application's side.
 * script_peer.c has the peer, script_check.c what holds for every packet, script_expect.c what a
 * test expects of one. */
#include "script_priv.h"

/* ---- the record ------------------------------------------------------------------------------ */

void script_log(struct script *t, const char *text)
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
    script_log(t, buf);
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

void script_describe(struct script *t, const struct scps_seg *s, bool from_us, char *buf,
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

/* ---- time ---- */

void script_drain(struct script *t)
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
        script_expand(t, s);
        script_inspect(t, s);
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
        script_drain(t);
        scps_time d = scps_stack_deadline(t->st);
        if (d == SCPS_NEVER || d - ORIGIN > until)
            break;
        t->p->now = d - ORIGIN;
    }
    t->p->now = until;
    script_drain(t);
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
    t->cfg.ack_delay = SCPS_MS(200);
    t->cfg.rto_min = SCPS_MS(200);
    t->cfg.sndbuf = 200000;
    t->cfg.rcvbuf = 20000;
    t->peer = (struct script_syn){.mss = 1000, .sack = true, .wscale = -1};
    t->peer_wnd = 65535;
    t->peer_isn = 4294966000u; /* sequence numbers of the peer wrap around soon */
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

/* ---- the application ------------------------------------------------------------------------- */

void script_app_writes(struct script *t, scps_time at, int64_t n, unsigned flags, const char *file,
                       int line)
{
    struct script_priv *v = t->p;
    script_run(t, at);
    script_comment(t, "  app writes %lld%s", (long long)n, flags & SCPS_MORE ? ", more" : "");
    uint8_t *buf = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++)
        buf[i] = script_ours(v->written + 1 + i);
    v->written += n; /* the stack may send during this call */
    int64_t did = scps_conn_write(t->c, t->cfg.hollow ? NULL : buf, (size_t)n, flags);
    free(buf);
    if (did != n)
        script_fail(t, file, line, "the write returned %lld (%s), not %lld", (long long)did,
                    scps_errname((int)SCPS_MIN(did, 0)), (long long)n);
    script_drain(t);
}

uint32_t script_timed_flight_(struct script *t, int64_t n, unsigned count, const char *file,
                              int line)
{
    t->cfg.timestamps = t->peer.ts = true;
    script_established_(t, MS(100), file, line);
    script_app_writes(t, MS(200), n, 0, file, line);
    for (uint32_t k = 0; k < count; k++)
        script_expect_sent(t,
                           &(struct script_want){.as_usual = true, .from = 1 + 988 * k, .len = 988},
                           file, line);
    return t->last.tsval;
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
        if (buf[i] != (t->cfg.hollow ? 0 : script_theirs(v->read + 1 + i)))
            script_fail(t, file, line, "octet %lld read is wrong", (long long)(v->read + 1 + i));
    free(buf);
    v->read += n;
    script_drain(t);
}

void script_skip(struct script *t, int64_t n)
{
    script_comment(t, "  app passes over %lld", (long long)n);
    t->p->read += n;
    script_drain(t);
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
    script_drain(t);
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
