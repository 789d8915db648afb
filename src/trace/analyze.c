/* SPDX-License-Identifier: MIT */
/* The capture analyser: opens and closes it, and passes each captured packet from its frame to its
 * TCP connection.
 *
 *      frame -> link.c -> parse.c: IP (tunnel.c: IP in it) -> TCP, or compressed.c -> flow.c
 *      -> segment.c
 *
 * Source: docs/SCPS_TRACE.md.
 */
#define _GNU_SOURCE /* declares getentropy() */
#include <stdlib.h>
#include <unistd.h>

#include "base/sized.h"
#include "trace/linklayer.h"
#include "trace/segment.h"

/* ---- functions that find the connection of a packet ---- */

/* Returns the connection to which TCP segment s in packet k belongs, and creates it if it is new.
 * *dir gets the direction of s: 0: sent by end a of the connection (flow.key.a), from which its
 * first captured packet came; 1: sent by end b. Returns NULL if there is no memory. */
static SCPS_ALWAYS_INLINE struct flow *find_flow(struct scps_trace *t, const struct packet *k,
                                                 const struct segment *s, int *dir)
{
    if (TR_LIKELY(k->version == 4)) {
        struct flow_quick q;
        memcpy(&q.addrs, k->ip + 12, 8);
        memcpy(&q.ports, k->th, 4);
        struct flow *f = scps_tr_flow_quick(t, &q, s->flags, dir);
        if (TR_LIKELY(f))
            return f;
    }
    struct flow_key key;
    scps_tr_addresses(k, &key);
    key.pa = scps_get16(k->th);
    key.pb = scps_get16(k->th + 2);
    return scps_tr_flow_find(t, &key, s, dir);
}

static SCPS_ALWAYS_INLINE int tcp_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                                         const struct packet *k)
{
    struct segment s;
    int dir;
    if (TR_UNLIKELY(!scps_tr_parse_tcp(t, k, &s)))
        return 1;
    struct flow *f = find_flow(t, k, &s, &dir);
    if (TR_UNLIKELY(!f))
        return SCPS_ERR_NOMEM;
    t->tot.tcp_packets++;
    scps_tr_segment(t, p, k, &s, f, dir);
    if (TR_UNLIKELY(f->h[dir].caps_seen))
        scps_tr_comp_note(&f->h[dir], &s);
    return 0;
}

#define TUNNELS 6 /* largest number of nested tunnels around a packet that is analysed */

static SCPS_ALWAYS_INLINE void pass_time(struct scps_trace *t, scps_time at)
{
    if (TR_UNLIKELY(t->tot.packets == 1)) {
        t->tot.first = at;
        t->now = at;
    }
    if (TR_UNLIKELY(at < t->now))
        t->tot.time_backwards++;
    t->now = at;
    if (at > t->tot.last)
        t->tot.last = at;
}

/* Analyses the TCP segment in the IP packet at offset off of the captured packet p; if that is a
 * tunnel, in the IP packet inside. Returns 0 for a TCP segment; 1 for something else, which was
 * counted; or SCPS_ERR_NOMEM. */
static SCPS_ALWAYS_INLINE int ip_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                                        int off)
{
    uint32_t at = 0;
    for (int depth = 0; TR_LIKELY(off >= 0 && depth < TUNNELS); depth++) {
        struct packet k;
        at += (uint32_t)off;
        if (TR_UNLIKELY(at >= p->caplen)) {
            t->tot.truncated++;
            return 1;
        }
        k.ip = p->data + at;
        k.cap = p->caplen - at;
        if (TR_UNLIKELY(!scps_tr_parse_ip(t, &k, SCPS_MAX(p->len, p->caplen) - at)))
            return 1;
        if (TR_LIKELY(k.proto == SCPS_IPPROTO_TCP || k.proto == SCPS_IPPROTO_SCPS_TP))
            return tcp_packet(t, p, &k);
        if (k.proto == SCPS_IPPROTO_SCPS_COMP)
            return scps_tr_comp_packet(t, p, &k);
        off = scps_tr_tunnel_ip(t, &k);
    }
    /* The packet is not analysed but only counted: it is inside more nested tunnels than TUNNELS
     * or, if off is negative, no IP header was found in it, which has been counted already. */
    t->tot.other_protocol += off >= 0;
    return 1;
}

/* Called after the first IP packet of a UDP datagram that segmentation offload has joined was
 * analysed: analyses the other packets in it. result: what ip_packet() returned for the first one.
 * Returns the lowest result of all: SCPS_ERR_NOMEM; 0 if any was a TCP segment; or 1. */
static SCPS_NOINLINE int joined(struct scps_trace *t, const struct scps_trace_pkt *p, int result)
{
    struct joined j = t->joined;
    t->joined.left = 0;
    t->joined.inside = true;
    while (j.left && result >= 0) {
        const int r = ip_packet(t, p, scps_tr_joined_ip(t, p, &j));
        result = r < result ? r : result;
    }
    t->joined.inside = false;
    return result;
}

/* Called after the first IP packet of an aggregate (A-MSDU of IEEE 802.11, several packets in one
 * frame) was analysed: analyses the other packets in p. result: what ip_packet() returned for the
 * first one. Returns the lowest result of all: SCPS_ERR_NOMEM; 0 if any was a TCP segment; or 1. */
static SCPS_NOINLINE int aggregate(struct scps_trace *t, const struct scps_trace_pkt *p, int result)
{
    while (t->aggregate && result >= 0) {
        int r = ip_packet(t, p, scps_tr_aggregate_ip(t, p));
        if (t->joined.left)
            r = joined(t, p, r);
        result = r < result ? r : result;
    }
    t->aggregate = NULL;
    return result;
}

int scps_trace_packet(struct scps_trace *t, const struct scps_trace_pkt *p)
{
    t->tot.packets++;
    t->tot.bytes += p->caplen;
    pass_time(t, p->at);

    int r = ip_packet(t, p, scps_tr_link_ip(t, p->link, p->data, p->caplen));
    if (TR_UNLIKELY(t->joined.left))
        r = joined(t, p, r);
    return TR_LIKELY(!t->aggregate) ? r : aggregate(t, p, r);
}

/* ---- functions that open and close an analyser ---- */

struct scps_trace *scps_trace_new_sized(const struct scps_trace_config *cfg, size_t size)
{
    struct scps_trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    if (cfg && !scps_sized_take(&t->cfg, sizeof t->cfg, cfg, size,
                                SCPS_SIZED_TO(scps_trace_config, idle_split))) {
        free(t);
        return NULL;
    }
    t->free = t->last_flow = FLOW_NONE;
    /* The hash table of connections gets random keys, so that no capture can be made whose
     * connections all have the same hash. The results do not depend on the keys. */
    if (getentropy(t->seed, sizeof t->seed) != 0) {
        t->seed[0] = (uint64_t)(uintptr_t)t ^ 0x243f6a8885a308d3u;
        t->seed[1] = (uint64_t)(uintptr_t)&t ^ 0x13198a2e03707344u;
    }
    t->seed[1] |= 1;
    return t;
}

void scps_trace_free(struct scps_trace *t)
{
    if (!t)
        return;
    scps_tr_flows_free(t);
    scps_tr_free(t, t->comp, t->capcomp * sizeof *t->comp);
    scps_tr_truth_free(t);
    free(t);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Adds the time from the last packet of each direction to the end of the capture (`now`) to the
 * idle times of connection f, if f is still open. */
static void idle_at_end(struct flow *f, scps_time now)
{
    bool fins = f->h[0].fin_count && f->h[1].fin_count;
    if (fins || f->h[0].rst_count || f->h[1].rst_count)
        return;
    for (int d = 0; d < 2; d++)
        if (f->h[d].packets && now - f->h[d].last_time > f->h[d].idle_max)
            f->h[d].idle_max = now - f->h[d].last_time;
}

void scps_trace_finish(struct scps_trace *t)
{
    if (t->finished)
        return;
    t->finished = true;
    uint64_t *v = malloc((size_t)(t->live ? t->live : 1) * sizeof *v);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->nflows; i++) {
        struct flow *f = scps_tr_flow(t, i);
        if (!f->used)
            continue;
        if (v)
            v[n++] = (uint64_t)f->number << 32 | i;
        idle_at_end(f, t->now);
    }
    if (!v)
        return;
    qsort(v, n, sizeof *v, by_number);
    t->order = scps_tr_alloc(t, (size_t)SCPS_MAX(n, 1u) * sizeof *t->order);
    for (uint32_t i = 0; t->order && i < n; i++)
        t->order[i] = (uint32_t)v[i];
    free(v);
}

void scps_trace_get_totals(const struct scps_trace *t, struct scps_trace_totals *out)
{
    *out = t->tot;
}

uint32_t scps_trace_conns(const struct scps_trace *t)
{
    return t->order ? t->live : 0;
}

int scps_trace_conn_info(const struct scps_trace *t, uint32_t i, struct scps_trace_conn *out)
{
    if (!t->order || i >= t->live)
        return SCPS_ERR_INVAL;
    scps_tr_report(t, scps_tr_flow(t, t->order[i]), out);
    return 0;
}

uint64_t scps_trace_memory(const struct scps_trace *t, uint64_t *peak)
{
    if (peak)
        *peak = t->mem_peak;
    return t->mem;
}
