/* SPDX-License-Identifier: MIT */
/* The state of the stack of one host, and the functions that the files of this folder share. */
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
#include "core/ratelimit.h"
#include "stack/nif.h"
#include "stack/passive.h"

struct scps_flow { /* addresses and ports of a connection; local ones are those of this host */
    struct scps_addr local, remote;
    uint16_t lport, rport;
};

/* A route, with the shaper (rate limiter) that enforces its rate. */
struct scps_route_entry {
    struct scps_route route;
    struct scps_shaper *shaper; /* shaper of the route; NULL: the route never had a rate */
};

struct scps_local_addr {
    struct scps_addr addr;
    unsigned prefix;
    struct scps_nif *nif;
};

struct scps_listener {
    struct scps_stack *st;
    struct scps_shared_config *cfg;
    /* bound address and port; family 0: any address of both families; zeros: any address of the
     * family */
    struct scps_endpoint local;
    unsigned backlog, pending, half_open;
    /* ready: established connections that wait to be accepted; half: half-open connections; the
     * oldest is first */
    struct scps_queue ready, half;
    /* time at which the last SYN cookie was sent, µs; 0: none was sent */
    scps_time cookie_at;
    void *user;
    bool queued; /* true: the application has not fetched an SCPS_EV_ACCEPT of this listener yet */
    struct scps_listener *next;
    struct scps_queue_link ev_link; /* link in scps_stack.ev_listeners */
};

/* Counters that scps_stack_get_stats() reports. Each is written by one file. Packets and bytes of
 * one direction are not adjacent, because gcc would add adjacent ones with vector instructions,
 * which takes more instructions. */
struct scps_stack_count {
    /* packets_in and bytes_in: packets that have arrived, written by ipin.c; replies_out and
     * reply_bytes_out: replies to packets of no connection, written by output.c */
    uint64_t packets_in, replies_out, bytes_in, reply_bytes_out;
    /* Packets and bytes that connections and datagrams sent through netifs that were removed,
     * written by stack.c; scps_nif.usage counts those of the other netifs. */
    uint64_t packets_before, bytes_before;
    uint64_t resets_out, icmp_out, echo_replies;       /* counters that reply.c writes */
    uint64_t cookies_out, cookies_ok, cookies_reduced; /* counters that listen.c writes */
    uint64_t half_open_evicted;                        /* counter that listeners.c writes */
    uint64_t datagrams_in, datagrams_out; /* counters that dgram.c and dgram_out.c write */
};

struct scps_stack {
    /* the only part of the stack that connections can access; first member, so that a pointer to
     * env is also a pointer to the stack */
    struct scps_env env;
    struct scps_stack_config cfg;
    /* list of the network interfaces, the oldest first; a removed one stays in the list
     * (scps_nif.nif is NULL) until another one reuses its structure */
    struct scps_nif *nifs;
    struct scps_local_addr *addrs;
    uint32_t n_addrs;
    struct scps_route_entry *routes;
    uint32_t n_routes;
    struct scps_conn **buckets;
    uint32_t bucket_mask, n_conns, half_open;
    /* configuration of the last scps_connect(), which the next scps_connect() shares if it is given
     * the same; NULL: no connection was opened */
    struct scps_shared_config *recent;
    struct scps_listener *listeners;
    /* listeners with an SCPS_EV_ACCEPT that the application has not fetched */
    struct scps_queue ev_listeners;
    uint32_t next_id, port_next;
    /* Limits of the resets and of the ICMP messages that are sent in a second to hosts without a
     * connection. They are separate so that nobody can use up the resets by datagrams or pings, or
     * the ICMP messages by segments. */
    struct scps_ratelimit reset_limit, icmp_limit;
    struct scps_stack_count count;
    /* connection ids for compressed headers (connid.c); NULL until the first one is given */
    struct scps_connids *ids;
    /* datagram endpoints (dgram.c); NULL until the first one is opened */
    struct scps_dgrams *dgrams;
    /* queue of the datagram endpoints that have an event for the application */
    struct scps_queue ev_dgrams;
    /* cache of hosts that do not answer the SCPS option (no_scps_cache.c); NULL until the first
     * entry */
    struct scps_plain_host *plain;
    size_t size; /* size of the memory block that begins with this structure, bytes */
    /* sizes, numbers and free blocks of the memory that a stack with scps_stack_config.fixed_memory
     * has from its start (bound.c); NULL: the stack allocates memory when it needs it */
    struct scps_reserve *reserve;
};

/* ---- functions in bound.c, which plan the memory of a stack with fixed memory ---- */
/* size, bytes, of each queue of replies to packets of no connection in a stack with fixed memory;
 * each network interface and each route with a rate has one */
#define SCPS_FIXED_ANSWERS 2048u

/* Plan of all memory of a stack with fixed memory. It lies behind struct scps_stack in the same
 * block. */
struct scps_reserve {
    struct scps_fixed fixed;
    struct scps_slots slots;
    /* bytes of memory for each network interface for one packet that its device has refused */
    uint32_t packet;
};

/* Plans in *r all memory of a stack for `conns` connections, none of which needs larger buffers or
 * more features than configuration conn has. Returns 0, or an error of scps_config_take() or
 * scps_config_resolve(). */
int scps_reserve_plan(struct scps_reserve *r, const struct scps_stack_config *cfg,
                      const struct scps_conn_config *conn, uint32_t conns);
/* Returns the bytes of the stack and of all memory that r plans; 0: more than a size_t can hold. */
uint64_t scps_reserve_bytes(const struct scps_reserve *r);
/* Sets up the fixed memory of st, planned by r: the block of scps_reserve_bytes(r) bytes that
 * begins with *st. */
void scps_reserve_begin(struct scps_stack *st, const struct scps_reserve *r);

/* ---- functions in config.c, which check the configuration of a stack ---- */
/* Copies a configuration (NULL: the defaults), checks every field and replaces each 0 or NULL that
 * stands for a default. Returns 0, or an error with its description in *why. */
int scps_stack_config_take(struct scps_stack_config *to, const struct scps_stack_config *from,
                           struct scps_line *why);

/* ---- functions in demux.c, which find the connection of a segment ---- */
uint64_t scps_flow_hash(const struct scps_stack *st, const struct scps_flow *f, uint64_t salt);
struct scps_conn *scps_demux_find(const struct scps_stack *st, const struct scps_flow *f);
/* Returns true if a connection that is not CLOSED has these addresses and ports. */
bool scps_demux_taken(const struct scps_stack *st, const struct scps_flow *f);
/* Returns the connection, not CLOSED, of a TCP segment over IPv4 without options. flow: the twelve
 * octets of the packet with addresses and ports, the peer's first. NULL: there is none. */
struct scps_conn *scps_demux_find4(const struct scps_stack *st, const uint8_t flow[12]);
/* Returns the number of buckets that the hash table has for n connections. */
uint32_t scps_demux_buckets(uint32_t n);
int scps_demux_add(struct scps_stack *st, struct scps_conn *c);
void scps_demux_remove(struct scps_stack *st, struct scps_conn *c);
/* Returns the connection after c, for a loop over all of them; c NULL: the first one. NULL: there
 * is none. To free c, get the next one first. */
struct scps_conn *scps_demux_next(const struct scps_stack *st, const struct scps_conn *c);

/* ---- functions in no_scps_cache.c: destinations that do not answer the SCPS option ---- */
/* Returns true if SYNs to this destination are to be sent without the SCPS capabilities: less than
 * scps_stack_config.plain_memory ago it was found to answer no others. */
bool scps_plain_known(const struct scps_stack *st, const struct scps_addr *dst);
/* Called when a SYN-ACK answers the SYN of c, before c is ESTABLISHED: learns from it whether the
 * peer answers SYNs with the SCPS capabilities. */
void scps_plain_learn(struct scps_env *env, const struct scps_conn *c);
void scps_plain_free(struct scps_stack *st);
size_t scps_plain_size(const struct scps_stack_config *cfg);

/* ---- functions in comp.c, for segments with compressed headers ---- */
/* Parses a packet of protocol 105 into *seg and returns its connection, with *err 0. Otherwise
 * returns NULL, and *err is the reason for the drop, which the caller counts. */
struct scps_conn *scps_comp_input(struct scps_stack *st, const struct scps_ip *ip,
                                  const struct scps_pkt *in, struct scps_seg *seg, int *err);
/* Called for each segment that a connection with compression has accepted, whether its header was
 * compressed or not: stores the values that later headers may leave out. */
void scps_comp_accepted(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg);
/* Called when c has accepted seg, the compressed segment that scps_comp_input() returned last. The
 * checksum of that segment shows which IP protocol number (105, 6 or 106) the peer puts into the
 * pseudo-header; this function records the number. */
void scps_comp_good(struct scps_conn *c, const struct scps_seg *seg);
/* Called when c, which has compression, has accepted a segment other than a SYN that had a TCP
 * header. If the peer opened the connection and has never sent a compressed header, this end sends
 * TCP headers, too, from now on. */
void scps_comp_came_as_tcp(struct scps_conn *c);
/* Builds the packet of a segment with a compressed header: the headers in out->data; out->payload
 * points to the data in the send buffer. Returns false if this segment must have a TCP header. */
bool scps_comp_output(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                      struct scps_pkt *out);

/* ---- functions in route.c, which find routes and source addresses ---- */
const struct scps_route_entry *scps_route_find(const struct scps_stack *st,
                                               const struct scps_addr *dst);
/* Returns the ready queue of the connections that use route w through nif; w NULL: the peer has no
 * route, so the queue of nif itself is returned. */
struct scps_ready_queue *scps_route_ready_queue(const struct scps_route_entry *w,
                                                struct scps_nif *nif);
/* Returns true if any route has a rate limit. */
bool scps_route_rated(const struct scps_stack *st);
/* Returns the source address for packets to dst through nif; NULL: nif has none of dst's family. */
const struct scps_addr *scps_route_source(const struct scps_stack *st, const struct scps_nif *nif,
                                          const struct scps_addr *dst);
/* Returns the row of the address table for a; NULL if a is no address of this host. */
const struct scps_local_addr *scps_route_local(const struct scps_stack *st,
                                               const struct scps_addr *a);
/* Returns true for an IPv4 or IPv6 address that a host can have: not of "this network" (RFC 1122
 * section 3.2.1.3), not unspecified (RFC 4291 section 2.5.2), not multicast or reserved. */
bool scps_route_unicast(const struct scps_addr *a);
/* Returns true for the directed broadcast address of a network in which this host has an address
 * (RFC 1122 section 3.2.1.3 (d)). Prefixes of 31 and 32 bits have none (RFC 3021). */
bool scps_route_broadcast(const struct scps_stack *st, const struct scps_addr *a);

/* ---- functions in routeset.c, which change routes and addresses ---- */
/* Removes the routes and the addresses of nif, which is being removed. */
void scps_route_drop(struct scps_stack *st, const struct scps_nif *nif);
/* Called for a signal that the rate of a path has changed: sets the rate of each route that matches
 * the signal, if that route has a rate already. */
void scps_route_path(struct scps_stack *st, const struct scps_signal *sig);

/* ---- functions in signal.c, which pass signals about links to connections ---- */
/* Passes signal sig (an outage, damaged segments and so on) to the connections whose network
 * interface and peer match it. Processes no timers. */
void scps_signal_pass(struct scps_stack *st, const struct scps_signal *sig);

/* ---- functions in port.c, which choose ports and initial sequence numbers ---- */
/* Returns the initial sequence number for a flow (RFC 6528). */
uint32_t scps_isn(const struct scps_stack *st, const struct scps_flow *f);
uint32_t scps_ts_offset(const struct scps_stack *st, const struct scps_flow *f);
/* Chooses the local port of a flow (RFC 6056 section 3.3.3); flow->lport is ignored. Returns 0 if
 * no port is free. */
uint16_t scps_port_choose(struct scps_stack *st, const struct scps_flow *flow);
/* Returns true if endpoints bound to addresses a and b would conflict. Family 0 and all-zero
 * addresses are wildcards. */
bool scps_port_overlap(const struct scps_addr *a, const struct scps_addr *b);

/* ---- functions in conns.c, which create connections ---- */
/* Returns the MSS for packets through nif: the MTU of route `entry` less the IP and TCP headers
 * without options (RFC 6691). If entry is NULL, leads through another netif or has no MTU of its
 * own, the MTU of nif is used. */
uint16_t scps_stack_mss(const struct scps_stack *st, const struct scps_nif *nif,
                        const struct scps_route_entry *entry, uint8_t family);
/* Creates a connection for flow f through nif and route `entry` (NULL: no route is known), and
 * enters it into all tables; the caller then starts the handshake. Returns NULL with *err
 * SCPS_ERR_LIMIT (max_conns is reached) or SCPS_ERR_NOMEM. */
struct scps_conn *scps_stack_conn(struct scps_stack *st, struct scps_shared_config *cfg,
                                  const struct scps_flow *f, struct scps_nif *nif,
                                  const struct scps_route_entry *entry, int *err);
/* number of half-open connections that may be dropped for one connection that the application
 * opens, or whose peer has acknowledged a SYN cookie */
#define SCPS_GIVE_WAY 4u
/* As scps_stack_conn(), but where the limit of connections or memory refuses the connection, drops
 * the oldest half-open connections, of whichever listener, until it gets a place, `others` at most
 * (listen.c). */
struct scps_conn *scps_conn_instead_of(struct scps_stack *st, struct scps_shared_config *cfg,
                                       const struct scps_flow *f, struct scps_nif *nif,
                                       const struct scps_route_entry *entry, unsigned others,
                                       int *err);
void scps_stack_discard(struct scps_stack *st, struct scps_conn *c);
/* Frees the connections that have ended and that the application does not own any more. */
void scps_stack_reap(struct scps_stack *st);

/* ---- functions in stack.c, which serve timers and free connections ---- */
/* Returns true if a timer of a connection is due, or if memory was refused to connections or
 * datagram endpoints and the time has come to let them try again. */
static SCPS_INLINE_SPEED bool scps_stack_timers_due(const struct scps_stack *st)
{
    return scps_heap_min(&st->env.deadlines) <= st->env.now || st->env.memory_at <= st->env.now;
}
/* Processes the timers that are due. If memory was refused to connections or datagram endpoints,
 * lets these repeat their requests when SCPS_MEMORY_RETRY (100 ms) have passed since the first
 * refusal. */
void scps_stack_serve_timers(struct scps_stack *st);
/* Sets the time of the stack, at most SCPS_NEVER / 2, so that adding an interval to it cannot
 * overflow. */
static SCPS_INLINE_SPEED void scps_stack_clock(struct scps_stack *st, scps_time now)
{
    if (now > st->env.now)
        st->env.now = SCPS_MIN(now, SCPS_NEVER / 2);
}
static inline int scps_stack_drop(struct scps_stack *st, enum scps_drop d)
{
    scps_env_drop(&st->env, d);
    return (int)d;
}
/* Returns true for the unspecified address ("any"): family 0, or all octets 0. */
static inline bool scps_stack_any(const struct scps_addr *a)
{
    static const uint8_t none[16];

    return !a->family || !memcmp(a->b, none, sizeof none);
}
static inline bool scps_stack_multicast(const struct scps_addr *a)
{
    return a->family == 4 ? a->b[0] >= 224 : a->b[0] == 0xff;
}

/* ---- functions in output.c, which choose the next packet to send ---- */
/* Result of scps_output_now() when a simulated device has taken the segment as a structure, so that
 * there is no packet in *out. */
#define SCPS_OUTPUT_SENT 2
/* Builds the next packet for nif in *out, like scps_stack_output() but without setting the time of
 * the stack first. Returns what scps_stack_output() returns, or SCPS_OUTPUT_SENT. Precondition: nif
 * is one of the stack's, and out->cap is at least SCPS_MAX_HEADERS. */
int scps_output_now(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out);

/* ---- functions in ipin.c, which process arriving packets ---- */
/* Processes a segment that a simulated device passes as a structure. Unlike
 * scps_netif_recv_segment(), it neither counts the packet in the netif nor checks for filters. */
int scps_stack_input_segment(struct scps_stack *st, struct scps_nif *nif, const uint8_t addrs[8],
                             const struct scps_seg *seg, size_t len, scps_time at);

/* ---- functions in ipout.c and reply.c, which build packets and replies ---- */
/* Builds a packet from segment seg of c: the headers in out->data; out->payload points to the data
 * in the send buffer. no_csum: true: the checksum is left to the device. */
void scps_ipout(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                bool no_csum, struct scps_pkt *out);
/* Sets *out to the next reply to a packet that belongs to no connection (RST, SYN cookie, ICMP
 * message) that may be sent through nif now. Returns false if there is none. */
bool scps_answer_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out);
/* Returns the time at which the first reply that waits for shaper p (the rate limiter of a route)
 * may be sent, µs; SCPS_NEVER: none waits. */
scps_time scps_answer_due(struct scps_shaper *p, scps_time now);
/* Approximate length of a SYN-ACK with the usual options, bytes: over IPv6, or over IPv4 with
 * framing. */
#define SCPS_SYN_ACK_LEN 80u
/* Why a SYN-ACK of a half-open connection is to be sent. */
enum scps_syn_ack {
    SCPS_SYN_ACK_FIRST,  /* a SYN has arrived */
    SCPS_SYN_ACK_AGAIN,  /* the same SYN has arrived again */
    SCPS_SYN_ACK_TIMEOUT /* the SYN-ACK was not answered in time */
};
/* Charges a SYN-ACK to dst of a half-open connection to the token bucket of replies, because the
 * SYN may be forged. many: a quarter of the listener's half-open connections or more is in use.
 * Returns false, and charges nothing, if the bucket does not permit the SYN-ACK. */
bool scps_answer_syn_ack(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst,
                         enum scps_syn_ack why, bool many);
/* Refunds a SYN-ACK that scps_answer_syn_ack() has charged: the peer has acknowledged it. */
void scps_answer_refund(struct scps_stack *st, struct scps_nif *nif, const struct scps_addr *dst);
/* Empties queue w of nif, whose replies are lost, and frees its ring buffer. */
void scps_answers_fini(struct scps_answers *w, struct scps_nif *nif, const struct scps_alloc *a);
/* Queues segment seg, without data, from f->local to f->remote as a reply. Returns false, and
 * counts the drop, if the token bucket of replies (reply.c) is empty or their queue is full. */
bool scps_answer_segment(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                         struct scps_seg *seg);
/* Queues the reset with which RFC 9293 section 3.10.7.1 answers seg. */
void scps_answer_reset(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                       const struct scps_seg *seg);
void scps_answer_echo(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                      const struct scps_icmp *m);
void scps_answer_port_unreachable(struct scps_stack *st, struct scps_nif *nif,
                                  const struct scps_ip *ip, const uint8_t *packet, size_t len);

/* ---- functions in dgram.c, dgram_list.c and dgram_out.c, for datagram endpoints ---- */
/* Copies a datagram for an address of this host into the queue of its endpoint. Returns 0, or the
 * reason (enum scps_drop) for which the datagram was dropped and counted: no endpoint, or no room
 * in its queue. */
int scps_dgram_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_udp *u, const struct scps_pkt *in);
/* Reports an ICMP error that quotes a datagram to the endpoint of the quoted port. Returns false if
 * no endpoint has that port. */
bool scps_dgram_icmp(struct scps_stack *st, const struct scps_icmp *m);
/* Reports to the endpoints that are connected through nif that its device was lost. */
void scps_dgram_linkdown(struct scps_stack *st, const struct scps_nif *nif);
/* Reports to the endpoints that are bound to addr, or connected from it, that addr was removed. */
void scps_dgram_addr_gone(struct scps_stack *st, const struct scps_addr *addr);
/* Sets *ev to the next event of a datagram endpoint. Returns false if there is none. */
bool scps_dgram_event(struct scps_stack *st, struct scps_event *ev);
uint32_t scps_dgram_count(const struct scps_stack *st);
/* Called when memory was refused: frees the rings of the endpoints' empty queues, unless the stack
 * has fixed memory. */
void scps_dgram_trim(struct scps_stack *st);
/* Queues SCPS_EV_WRITABLE for the endpoints whose sends were refused for lack of memory, so that
 * the application repeats these sends. */
void scps_dgram_memory(struct scps_stack *st);
void scps_dgram_free_all(struct scps_stack *st);
/* Sets *out to the next datagram that may be sent through nif; the endpoints that have datagrams to
 * send take turns. Returns false if none may be sent now. */
bool scps_dgram_output(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out);
/* Frees the closed endpoints of nif that are first in their ready queues and have sent everything.
 * Precondition: the payload of the packet that was sent last, which may lie in the queue of such an
 * endpoint, is not needed any more. */
void scps_dgram_drop_closed(struct scps_nif *nif);
/* Returns true if the next packet through shaper p (the rate limiter of a route) has to be a
 * datagram: datagrams wait, and it is their turn or no connection waits. */
static inline bool scps_dgram_first(const struct scps_shaper *p)
{
    return p->dgrams.first && (p->for_dgrams || !p->ready.head);
}
/* Returns the time, µs, at which the token bucket of shaper p (the rate limiter of a route) holds
 * enough for the first datagram that waits for p; not after `now`: it may be sent at once. Also
 * records that no connection of this route may send before that time. Precondition:
 * scps_dgram_first(p). */
scps_time scps_dgram_due(struct scps_shaper *p, scps_time now);
/* Called when the first connection in t, the ready queue of a route with a rate, has sent its share
 * of bytes: lets datagrams send next on this route, if any wait. The connections stay in t. */
void scps_dgram_yield(struct scps_ready_queue *t);
/* Called when routes have changed: moves the datagram endpoints with datagrams to send to the ready
 * queues of their new routes. */
void scps_dgram_regroup(struct scps_stack *st);

/* ---- functions in icmperr.c and icmp.c, for ICMP errors and messages ---- */
/* Returns the SCPS_ERR_* that corresponds to an ICMP error; 0: the message is no error. */
int scps_icmp_err(enum scps_icmp_kind kind);
/* Returns the least path MTU that an ICMP message can set, bytes. */
static inline uint32_t scps_icmp_least_mtu(uint8_t family)
{
    return family == 4 ? 256 : 1280;
}
int scps_icmp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                    const uint8_t *p, size_t len);

/* Returns true if scps_stack_event() has an event to return. */
static inline bool scps_stack_has_event(const struct scps_stack *st)
{
    return ((uintptr_t)st->env.events.first | (uintptr_t)st->ev_listeners.first |
            (uintptr_t)st->ev_dgrams.first) != 0;
}
/* Returns true if scps_pump() at time `now` would have nothing to do. Events that the application
 * has not fetched do not count. */
static inline bool scps_stack_quiet(const struct scps_stack *st, scps_time now)
{
    if (st->env.dead || scps_heap_min(&st->env.deadlines) <= now || st->env.memory_at <= now)
        return false;
    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        if (scps_nif_busy(nif))
            return false;
    return true;
}

#endif
