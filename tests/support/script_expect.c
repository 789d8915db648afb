/* SPDX-License-Identifier: MIT */
/* The expectations of a script: packets, silence, events and states. */
#include "script_priv.h"

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
    if (!script_parse(got.p, got.len, &ip, &s))
        script_fail(t, file, line, "what was sent is not TCP");
    t->last = s;
    t->last.data = NULL;
    if (s.has & SCPS_HAS_XCAPS) { /* The pointer is into the packet, which is freed here. */
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
