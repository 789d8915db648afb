/* SPDX-License-Identifier: MIT */
/* One host inside: what the files of this folder share. */
#ifndef SCPS_STACK_STACK_H
#define SCPS_STACK_STACK_H

#include <scps/clock.h>
#include <scps/conn.h>
#include <scps/dgram.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/recring.h"
#include "core/conn.h"
#include "core/fixed.h"

struct scps_flow { /* our side first */
    struct scps_addr local, remote;
    uint16_t lport, rport;
};

/* A route, and what keeps its rate. */
struct scps_route_entry {
    struct scps_route route;
    struct scps_shaper *pipe; /* NULL: it never had a rate */
};

/* Endpoints whose oldest datagram waits for the same link or route, in turn. */
struct scps_dgram_turns {
    struct scps_dgram *head, *tail;
};

/* What the connections and datagrams of a link send, for its answers to keep out of the way of. */
struct scps_usage {
    scps_time since;  /* when it was last measured */
    uint64_t sent;    /* bytes of theirs until then, as they weigh on the line */
    uint64_t answers; /* bytes of answers until now, likewise */
    uint64_t rate;    /* bytes/s: the most of late */
};

/* Answers nobody's connection will send: resets, ICMP, SYN cookies. */
struct scps_answers {
    struct scps_recring queue;
    struct scps_pacer share; /* what of the route or the device they may have */
};

/* The rate of a route and the connections, datagrams and answers that share it. */
struct scps_shaper {
    struct scps_gate gate;
    struct scps_answers answers;
    struct scps_ready_queue turns;
    struct scps_dgram_turns dgrams;
    bool for_dgrams;          /* it is the datagrams' turn, as far as any wait, */
    int32_t share;            /* of so many bytes more */
    struct scps_shaper *next; /* of the same link */
};

/* A netif as the stack sees it: netif->stack_priv. */
struct scps_nif {
    struct scps_netif *nif;
    struct scps_ready_queue turns;
    struct scps_shaper *pipes;      /* routes with a rate */
    struct scps_dgram_turns dgrams; /* datagrams that none of these holds back */
    uint32_t n_dgrams;              /* endpoints in these and those of the pipes */
    bool after_dgram;               /* a datagram had the last turn that both kinds wanted */
    struct scps_answers answers;    /* by routes that have no rate */
    struct scps_usage usage;
    uint32_t n_answers;     /* waiting in these and those of the pipes */
    uint8_t since_answer;   /* packets sent since the last answer, at most SCPS_ANSWER_SHARE */
    struct scps_conn *last; /* whose packet, IPv4 without options, came last */
    uint8_t last_flow[12];  /* its addresses and ports as they stand there */
    bool blocked;           /* the device said SCPS_ERR_AGAIN */
    bool pending;           /* kept holds the packet it refused */
    bool others;            /* see scps_nif_others */
    struct scps_pkt kept;
    uint8_t *kept_mem; /* the whole of it: the payload is lent for one call only */
};

struct scps_local_addr {
    struct scps_addr addr;
    unsigned prefix;
    struct scps_nif *nif;
};

struct scps_listener {
    struct scps_stack *st;
    struct scps_shared_config *cfg;
    struct scps_endpoint local; /* family 0: both; zeros: every address of the family */
    unsigned backlog, pending, half_open;
    struct scps_conn *first, *last;           /* established, not accepted; linked by ev_next */
    struct scps_conn *half_first, *half_last; /* half-open, likewise; the oldest first */
    scps_time cookie_at;                      /* when the last SYN cookie left; 0 never */
    void *user;
    bool queued; /* it stands in the queue of those for which SCPS_EV_ACCEPT is due */
    struct scps_listener *next, *ev_next;
};

struct scps_stack {
    struct scps_env env; /* first: connections know only this */
    struct scps_stack_config cfg;
    struct scps_nif **nifs;
    uint32_t n_nifs;
    struct scps_local_addr *addrs;
    uint32_t n_addrs;
    struct scps_route_entry *ways;
    uint32_t n_ways;
    struct scps_conn **buckets;
    uint32_t bucket_mask, n_conns, half_open;
    struct scps_shared_config *recent; /* of the last connect: mostly the next one's, too */
    struct scps_listener *listeners, *ev_listeners;
    uint32_t next_id, port_next;
    uint32_t answers_left; /* this second's resets and ICMP errors */
    scps_time answers_since;
    struct scps_stack_stats count;
    struct scps_connids *ids;   /* connid.c; NULL until used */
    struct scps_dgrams *dgrams; /* dgram.c; NULL until used */
    struct scps_dgram *ev_dgrams, *ev_dgrams_last;
    struct scps_plain_host *plain; /* plain.c; NULL until used */
    size_t size;                   /* of the request that this struct is the front of */
    struct scps_reserve *reserve;  /* bound.c; NULL unless memory is fixed */
};

/* ---- bound.c ---- */
#define SCPS_FIXED_ANSWERS 2048u /* bytes of an answers' queue where memory is fixed */

/* All memory of a stack whose memory is fixed. Stands behind the stack in one piece. */
struct scps_reserve {
    struct scps_fixed fixed;
    struct scps_slots slots;
    uint32_t packet; /* bytes of a packet that a device has refused */
};

/* Plans all memory for conns connections within conn. 0, or an error of scps_config_resolve. */
int scps_reserve_plan(struct scps_reserve *r, const struct scps_stack_config *cfg,
                      const struct scps_conn_config *conn, uint32_t conns);
/* Bytes of the stack and of all that r plans; 0: more than can be addressed. */
uint64_t scps_reserve_bytes(const struct scps_reserve *r);
/* Says why a stack that needs so many bytes (0: its configuration is refused) was not opened. msg
 * may be NULL. */
void scps_reserve_say(const struct scps_stack_config *cfg, uint64_t need, char *msg, size_t msglen);
/* st, for which scps_reserve_bytes(r) were taken, has its memory from now on. */
void scps_reserve_begin(struct scps_stack *st, const struct scps_reserve *r);

/* ---- demux.c ---- */
uint64_t scps_flow_hash(const struct scps_stack *st, const struct scps_flow *f, uint64_t salt);
struct scps_conn *scps_demux_find(const struct scps_stack *st, const struct scps_flow *f);
/* Is there one that has not ended? */
bool scps_demux_taken(const struct scps_stack *st, const struct scps_flow *f);
/* One that has not ended, for a flow as it stands in a TCP segment over IPv4 without options:
 * addresses and ports, the peer's first. */
struct scps_conn *scps_demux_find4(const struct scps_stack *st, const uint8_t flow[12]);
/* Buckets for n connections. */
uint32_t scps_demux_buckets(uint32_t n);
int scps_demux_add(struct scps_stack *st, struct scps_conn *c);
void scps_demux_remove(struct scps_stack *st, struct scps_conn *c);
/* Every connection in turn: begin with NULL. The next must be asked for before one is freed. */
struct scps_conn *scps_demux_next(const struct scps_stack *st, const struct scps_conn *c);

/* ---- plain.c ---- */
/* Has this destination lately answered no SYN with capabilities? */
bool scps_plain_known(const struct scps_stack *st, const struct scps_addr *dst);
void scps_plain_remember(struct scps_env *env, const struct scps_conn *c);
void scps_plain_free(struct scps_stack *st);
size_t scps_plain_size(const struct scps_stack_config *cfg);

/* ---- connid.c ---- */
/* Gives c an id that no other connection between its hosts has or had of late. False: none is free;
 * it then does without compression. */
bool scps_connid_give(struct scps_stack *st, struct scps_conn *c);
/* Notes the peer's id as naming c, which has one of ours. False: a living connection has it (force:
 * takes it). */
bool scps_connid_heard(struct scps_stack *st, struct scps_conn *c, uint8_t id, bool force);
/* c goes: its ids are its no longer, ours rests. */
void scps_connid_release(struct scps_stack *st, struct scps_conn *c);
/* The connection that an id of the peer's, or of ours, names; NULL: none. Half-open connections may
 * share the peer's: while no other has it, the first of them, and the rest follow by same_id. */
struct scps_conn *scps_connid_find(const struct scps_stack *st, const struct scps_addr *local,
                                   const struct scps_addr *remote, uint8_t id, bool ours);
void scps_connid_free_all(struct scps_stack *st);
/* Plans the tables of `pairs` pairs of hosts. */
void scps_connid_plan(struct scps_slots *s, uint32_t pairs);

/* ---- comp.c ---- */
/* A packet of protocol 105: to c, if *err stays 0, in seg. */
struct scps_conn *scps_comp_input(struct scps_stack *st, const struct scps_ip *ip,
                                  const struct scps_pkt *in, struct scps_seg *seg, int *err);
/* An accepted segment of a connection with compression, however it came. */
void scps_comp_accepted(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg);
/* The connection has accepted the compressed segment that scps_comp_input gave last. */
void scps_comp_good(struct scps_conn *c);
/* As scps_ipout; false: this segment has to go as TCP. */
bool scps_comp_output(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                      struct scps_pkt *out);

/* ---- route.c ---- */
const struct scps_route_entry *scps_route_find(const struct scps_stack *st,
                                               const struct scps_addr *dst);
/* Where connections of w over nif take their turns; w NULL: none is known. */
struct scps_ready_queue *scps_route_turns(const struct scps_route_entry *w, struct scps_nif *nif);
/* Has any route a rate? */
bool scps_route_rated(const struct scps_stack *st);
/* The source address for dst on nif; NULL if nif has none of that family. */
const struct scps_addr *scps_route_source(const struct scps_stack *st, const struct scps_nif *nif,
                                          const struct scps_addr *dst);
/* The addr table's row for a; NULL if it is not ours. */
const struct scps_local_addr *scps_route_local(const struct scps_stack *st,
                                               const struct scps_addr *a);
/* p, which stands at *at, to the end of its link's pipes: the others go first. */
void scps_stack_last(struct scps_shaper **at);

/* ---- routeset.c ---- */
/* nif goes away: so do its routes. */
void scps_route_drop(struct scps_stack *st, const struct scps_nif *nif);
/* The path of sig has another rate: so have the routes that have one and lie in it. */
void scps_route_path(struct scps_stack *st, const struct scps_signal *sig);

/* ---- port.c ---- */
/* RFC 6528. */
uint32_t scps_isn(const struct scps_stack *st, const struct scps_flow *f);
uint32_t scps_ts_offset(const struct scps_stack *st, const struct scps_flow *f);
/* Picks f->lport (RFC 6056 section 3.3.3). 0 or SCPS_ERR_ADDRNOTAVAIL. */
int scps_port_choose(struct scps_stack *st, struct scps_flow *f);
/* Do two addresses that ports are bound to have one in common? */
bool scps_port_overlap(const struct scps_addr *a, const struct scps_addr *b);

/* ---- listeners.c ---- */
/* The listener for a flow to local and port; NULL: there is none. */
struct scps_listener *scps_listener_find(const struct scps_stack *st, const struct scps_addr *local,
                                         uint16_t port);
/* c, which has just been made for l, is half-open. */
void scps_listener_join(struct scps_listener *l, struct scps_conn *c);
/* c, which was half-open, waits to be accepted. */
void scps_listener_established(struct scps_env *env, struct scps_conn *c);
/* The event of the first listener that has one: st->ev_listeners is not NULL. */
void scps_listener_event(struct scps_stack *st, struct scps_event *ev);
/* l goes away: its event does, too. */
void scps_listener_unqueue(struct scps_listener *l);
/* A connection of l ended before it was accepted. */
void scps_listener_forget(struct scps_conn *c);

/* ---- listen.c ---- */
/* A segment for a listener, of a flow nobody has. Returns a scps_drop, counted; 0 if used. */
int scps_listener_input(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                        const struct scps_seg *seg);
void scps_listener_free_all(struct scps_stack *st);

/* ---- conns.c ---- */
/* A new connection for flow f over nif by way of way (NULL, or another link's: no route is known),
 * in the tables, not opened yet. */
struct scps_conn *scps_stack_conn(struct scps_stack *st, struct scps_shared_config *cfg,
                                  const struct scps_flow *f, struct scps_nif *nif,
                                  const struct scps_route_entry *way, int *err);
void scps_stack_discard(struct scps_stack *st, struct scps_conn *c);
/* Discards the connections that have ended and have no owner. */
void scps_stack_reap(struct scps_stack *st);

/* ---- stack.c ---- */

/* Is a timer of a connection due, or should those try again that were refused memory? */
static inline bool scps_stack_timers_due(const struct scps_stack *st)
{
    return scps_heap_min(&st->env.deadlines) <= st->env.now || st->env.memory_at <= st->env.now;
}
/* Serves the timers that are due, and those that wait for memory. */
void scps_stack_serve_timers(struct scps_stack *st);
static inline void scps_stack_clock(struct scps_stack *st, scps_time now)
{
    if (now > st->env.now)
        st->env.now = now;
}
static inline int scps_stack_drop(struct scps_stack *st, enum scps_drop d)
{
    st->env.drops[d]++;
    return (int)d;
}
/* "Any": family 0, or an address of zeros. */
static inline bool scps_stack_any(const struct scps_addr *a)
{
    static const uint8_t none[16];

    return !a->family || !memcmp(a->b, none, sizeof none);
}
static inline bool scps_stack_multicast(const struct scps_addr *a)
{
    return a->family == 4 ? a->b[0] >= 224 : a->b[0] == 0xff;
}

/* ---- ipout.c, answer.c ---- */
/* A segment of c as a packet: headers into out->data, the payload lent. no_csum: the device sums
 * the segment. */
void scps_ipout(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                bool no_csum, struct scps_pkt *out);
/* The stack is new: the first second of answers begins. */
void scps_answers_begin(struct scps_stack *st);
/* One more answer to a stranger this second? */
bool scps_stack_may_answer(struct scps_stack *st);
/* The next answer that may leave by nif now. */
bool scps_answer_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out);
/* When the first of p's answers may leave; SCPS_NEVER: none waits. */
scps_time scps_answer_due(struct scps_shaper *p, scps_time now);
/* len bytes more for strangers on the way to dst, sent by something else than an answer. False:
 * they have had their share. */
bool scps_answer_charge(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                        size_t len);
void scps_answers_fini(struct scps_answers *w, const struct scps_alloc *a);
/* Queues one bare segment from f->local to f->remote. False: the answers have had their share, and
 * it was counted. */
bool scps_answer_segment(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                         struct scps_seg *seg);
/* The reset RFC 9293 section 3.10.7.1 prescribes for seg. */
void scps_answer_reset(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                       const struct scps_seg *seg);
void scps_answer_echo(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                      const struct scps_icmp *m);
void scps_answer_port_unreachable(struct scps_stack *st, struct scps_nif *nif,
                                  const struct scps_ip *ip, const uint8_t *packet, size_t len);

/* ---- dgram.c ---- */
/* A datagram for one of our addresses. Returns a scps_drop, counted; 0 if used. */
int scps_dgram_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_udp *u, const struct scps_pkt *in);
/* An ICMP error that quotes a datagram of ours. False: of nobody's. */
bool scps_dgram_icmp(struct scps_stack *st, const struct scps_icmp *m);
/* The device of nif is gone: whoever is connected through it hears so. */
void scps_dgram_linkdown(struct scps_stack *st, const struct scps_nif *nif);
/* The next event of an endpoint; false: there is none. */
bool scps_dgram_event(struct scps_stack *st, struct scps_event *ev);
uint32_t scps_dgram_count(const struct scps_stack *st);
/* Endpoints that were refused for lack of memory may try again. */
void scps_dgram_memory(struct scps_stack *st);
void scps_dgram_free_all(struct scps_stack *st);

/* ---- dgramout.c ---- */
/* The next datagram that may leave by nif, of endpoints in turn. False: none may now. */
bool scps_dgram_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out);
/* Is it the turn of p's datagrams? */
static inline bool scps_dgram_first(const struct scps_shaper *p)
{
    return p->dgrams.head && (p->for_dgrams || !p->turns.head);
}
/* When the first of p's datagrams may leave. */
scps_time scps_dgram_due(struct scps_shaper *p, scps_time now);
/* A turn of the connections that share t is over. */
void scps_dgram_yield(struct scps_ready_queue *t);
/* Routes have changed: endpoints wait where they belong now. */
void scps_dgram_regroup(struct scps_stack *st);

/* ---- icmperr.c ---- */
/* The SCPS_ERR_* that stands for an ICMP error; 0: it is none. */
int scps_icmp_err(enum scps_icmp_kind kind);

/* ---- icmp.c ---- */
/* No message lowers the path MTU below this. */
static inline uint32_t scps_icmp_least_mtu(uint8_t family)
{
    return family == 4 ? 256 : 1280;
}
int scps_icmp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                    const uint8_t *p, size_t len);

/* May anything else than the connections in its turns have something to send? Whoever adds such a
 * thing sets others; that there is none any more is found out here. */
static inline bool scps_nif_others(struct scps_nif *nif)
{
    if (nif->others)
        nif->others = nif->pending || nif->pipes || nif->n_dgrams || nif->n_answers;
    return nif->others;
}
/* Is there anything to do for the link? Without netif operations somebody fetches with
 * scps_stack_output. */
static inline bool scps_nif_busy(struct scps_nif *nif)
{
    return (nif->turns.head || scps_nif_others(nif)) && nif->nif->ops;
}
/* Has scps_stack_event anything to tell? */
static inline bool scps_stack_news(const struct scps_stack *st)
{
    return st->env.ev_head || st->ev_listeners || st->ev_dgrams;
}
/* Is there nothing, news aside, that a turn of scps_pump at now would do? */
static inline bool scps_stack_quiet(const struct scps_stack *st, scps_time now)
{
    if (st->env.dead || scps_heap_min(&st->env.deadlines) <= now || st->env.memory_at <= now)
        return false;
    for (uint32_t i = 0; i < st->n_nifs; i++)
        if (scps_nif_busy(st->nifs[i]))
            return false;
    return true;
}

/* ---- netif.c ---- */
static inline struct scps_nif *scps_nif_of(const struct scps_netif *nif)
{
    return nif->stack_priv;
}

#endif
