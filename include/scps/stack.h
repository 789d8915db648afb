/* SPDX-License-Identifier: MIT */
/* The stack of one host. It takes packets and the time, and gives packets and its next deadline.
 *
 * A stack is used by one thread at a time. It never blocks, reads a clock, opens a file or asks for
 * randomness; a program can have any number of them.
 */
#ifndef SCPS_STACK_H
#define SCPS_STACK_H

#include <scps/alloc.h>
#include <scps/cc.h>
#include <scps/error.h>
#include <scps/netif.h>
#include <scps/observe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_stack;
struct scps_conn;
struct scps_listener;
struct scps_dgram;

/* Limits of the replies to packets of no connection (RST, ICMP errors, SYN cookies), as shares of a
 * link's rate: scps_stack_config.answer_rate. */
#define SCPS_ANSWER_SHARE 16  /* at most 1/16 of the rate, while connections leave so much unused */
#define SCPS_ANSWER_LEAST 128 /* at least 1/128 of it, however busy the link is */
#define SCPS_ANSWER_FLOOR 1000 /* bytes/s, the minimum where no rate is known */

/* The least MTU of a netif and of a route (RFC 791), and of a route to IPv6 addresses: it holds the
 * headers, time stamps and 8 octets of data. Links of IPv6 have 1280 or more (RFC 8200 section 5);
 * this library takes less, for links that are not shared with other hosts. */
#define SCPS_MTU_LEAST  68
#define SCPS_MTU_LEAST6 80

/* Capacity of a stack with fixed memory, beside max_conns connections. One more of any kind is
 * refused with SCPS_ERR_NOMEM. */
#define SCPS_FIXED_NETIFS    2
#define SCPS_FIXED_ADDRS     4
#define SCPS_FIXED_ROUTES    8 /* routes that come with an address included */
#define SCPS_FIXED_RATED     2 /* routes with a rate */
#define SCPS_FIXED_LISTENERS 4

struct scps_conn_config;

struct scps_stack_config {
    size_t size; /* of this structure, as scps_stack_config_default() sets it; docs/CHANGES.md */
    struct scps_alloc alloc; /* alloc and free NULL: malloc and free */
    /* NULL, the default: memory is taken as it is needed. Else scps_stack_new takes all there will
     * ever be, scps_memory_bound() bytes in one request, and nothing is asked of alloc, doubled or
     * given back until scps_stack_free. Connections and listeners are then opened with
     * configurations within this one, or not at all (SCPS_ERR_RANGE): buffers and mss no larger,
     * no records, bets, compress or snack_delay unless it has them, a controller whose state has
     * the same size; mss 0 means 1460 here. max_conns, 1 at least, counts connections of all
     * states. What has no place: datagram endpoints (SCPS_ERR_NOMEM), answers to echo requests of
     * more than 200 bytes. Need not outlive the call. */
    const struct scps_conn_config *fixed_memory;
    /* The most the stack takes of alloc, bytes, itself not counted; default 4 GiB; 0: no limit. As
     * the memory in use comes near it, requests are refused in this order:
     *   from 3/4 on  for data beyond a hole (SCPS_DROP_MEMORY_LIMIT); below, each connection gets
     *                for it at most half of what is left, less what its receive buffer has
     *   from 7/8 on  for new connections (their SYN is dropped with SCPS_DROP_MEMORY_LIMIT,
     *                scps_connect says SCPS_ERR_NOMEM), and send buffers stop growing
     *                (scps_conn_write says SCPS_ERR_NOMEM, and SCPS_EV_WRITABLE comes)
     *   at the limit for all else: data in order is dropped with SCPS_DROP_MEMORY_LIMIT
     * What was dropped is not acknowledged, so the peer sends it again. 100 ms after a refusal
     * empty buffers larger than what is left of the 3/4 are given back. Windows once offered
     * stay. */
    uint64_t memory_limit;
    /* secret key of sequence numbers, ports, cookies and hashing. Equal seeds give equal runs */
    uint64_t seed[2];
    scps_time now; /* the driver's clock at creation; at most SCPS_NEVER / 2 */
    struct scps_observer observer;
    uint32_t max_conns; /* connections of all states; default 65536; 0: none */
    /* Half-open connections of a listener; default 256; 0: none, cookies answer every SYN. When a
     * SYN comes, the oldest of them is dropped: after 14 s if a quarter of this limit is reached,
     * 6 s if half, 3 s if all, but never before two expected round trips. When the limit is
     * reached, SYN cookies answer. They preserve BETS and SNACK, and for peers with time stamps
     * window scale, SACK and ECN; features that a connection lost are reported as
     * SCPS_WHY_COOKIE (scps_info.why) */
    uint32_t max_half_open;
    bool syn_cookies; /* default true; false: SYNs beyond the limit are dropped */
    /* Upper limit of challenge ACKs in one second (RFC 5961 section 7); default 100. The limit in
     * force is drawn anew each second, from half of this value to the whole of it. */
    uint32_t challenge_acks;
    /* Resets for unknown ports and ICMP errors together, a second, limited in the same way; default
     * 1000 */
    uint32_t resets;
    /* Limit of answers of all kinds (resets, ICMP errors, echo replies, SYN cookies). They get
     * one part in SCPS_ANSWER_SHARE of their route's rate. Where the route has no rate, they get
     * what connections and datagrams leave unused of the device's rate (scps_netif.rate): at
     * most the same part, at least one part in SCPS_ANSWER_LEAST. Where neither is known they
     * get half a part in SCPS_ANSWER_SHARE of what connections and datagrams send, and
     * SCPS_ANSWER_FLOOR at least; with no connection on the stack so many bytes/s of a device.
     * Default 1250000; at most 2^43. Answers beyond the limit are not sent
     * (SCPS_DROP_RATE_LIMITED). */
    uint64_t answer_rate;
    /* Cache of destinations that answered a SYN only after SCPS capabilities had been left out of
     * it: later connections to them leave them out at once. */
    uint32_t plain_hosts; /* destinations remembered; default 64, 0: none; at most 65536 */
    /* how long each is remembered; default 10 min, 0: not at all; at most a hundred years */
    scps_dur plain_memory;
    /* A wrong transport checksum in a peer's segment counts as damage by the link, as if
     * SCPS_SIGNAL_DAMAGED had been given; default false */
    bool checksum_hints;
    uint32_t max_comp_hosts; /* pairs of hosts that may have compressed headers; default 256 */
    bool echo_reply;         /* answer ICMP and ICMPv6 echo requests; default true */
    /* Ephemeral ports; default 49152 to 65535 (RFC 6056), 0: the default of the field */
    uint16_t port_min, port_max;
};

/* Fills in the defaults that the fields name, of a structure of `size` octets: sizeof *cfg, as the
 * caller's headers have it. The seed is public: for tests and simulations only. On a network fill
 * it with scps_entropy(). */
SCPS_API void scps_stack_config_init(struct scps_stack_config *cfg, size_t size);
/* Returns these defaults. */
static inline struct scps_stack_config scps_stack_config_default(void)
{
    struct scps_stack_config c;

    scps_stack_config_init(&c, sizeof c);
    return c;
}
/* Says whether cfg (NULL: the defaults) would be refused by scps_stack_new() and
 * scps_stack_open(). Returns 0 and makes msg empty; else SCPS_ERR_RANGE or SCPS_ERR_INVAL, and one
 * line of at most msglen - 1 characters in msg names the field:
 * "port_max: 40: give 49152 to 65535", "fixed_memory: sndbuf: 12: give 256 to 1073741824". msg may
 * be NULL. */
SCPS_API int scps_stack_config_check(const struct scps_stack_config *cfg, char *msg, size_t msglen);
/* cfg NULL: the defaults. NULL on lack of memory, or for a configuration that
 * scps_stack_config_check() refuses. */
SCPS_API struct scps_stack *scps_stack_new(const struct scps_stack_config *cfg);
/* Bytes that scps_stack_new(st) asks of its allocator with conn as st->fixed_memory and n as
 * st->max_conns: the most that the stack and n connections ever use. The request is one, of
 * memory aligned for any object. st and conn NULL: the defaults. 0: st or conn is refused
 * (SCPS_ERR_RANGE, SCPS_ERR_INVAL), n is 0, or it is more than can be addressed. */
SCPS_API uint64_t scps_memory_bound(const struct scps_stack_config *st,
                                    const struct scps_conn_config *conn, uint32_t n);
/* Opens a stack as scps_stack_new() does. On failure returns NULL with the reason as one line in
 * msg: "fixed_memory: 731136 bytes are needed, and memory_limit allows 731135". */
SCPS_API struct scps_stack *scps_stack_open(const struct scps_stack_config *cfg, char *msg,
                                            size_t msglen);
/* True: the stack was opened with the seed of scps_stack_config_default(), so its sequence numbers,
 * ports and cookies can be computed by anybody. scps_loop_new() refuses to drive such a stack. */
SCPS_API bool scps_stack_is_predictable(const struct scps_stack *st);
/* Frees the stack with every connection and listener; sends nothing. Netifs stay the caller's. */
SCPS_API void scps_stack_free(struct scps_stack *st);

/* What the next function calls, with SCPS_NETIF_LAYOUT of the caller's headers. */
SCPS_API int scps_stack_add_netif_sized(struct scps_stack *st, struct scps_netif *nif,
                                        uint32_t layout);
/* Attaches the top of a netif chain; it must outlive the stack, unless it is removed.
 * SCPS_ERR_INVAL, SCPS_ERR_NOMEM; SCPS_ERR_RANGE for a driver that was compiled with headers whose
 * netifs and packets are laid out in another way than the library's: compile it again. */
static inline int scps_stack_add_netif(struct scps_stack *st, struct scps_netif *nif)
{
    return scps_stack_add_netif_sized(st, nif, SCPS_NETIF_LAYOUT);
}
/* Detaches nif; without effect if it is not attached to st (NULL, never added, removed before).
 * The device is gone for good: connections routed through it get SCPS_ERR_LINKDOWN, and packets
 * waiting for it are lost, except datagrams that have another route. nif may be freed, or given
 * to a stack again. Do not call it from within nif's own send. */
SCPS_API void scps_stack_remove_netif(struct scps_stack *st, struct scps_netif *nif);
/* Gives this host an address on nif and a route to its prefix. A filter that answers for addresses
 * is told by itself: scps_ether_add_addr(). SCPS_ERR_INVAL, also for an address that no host can
 * have: 0.0.0.0/8, 224.0.0.0 and above (multicast, reserved, broadcast), ::, ff00::/8.
 * SCPS_ERR_RANGE: IPv6 over a netif whose mtu is below SCPS_MTU_LEAST6. SCPS_ERR_NOMEM. */
SCPS_API int scps_stack_add_addr(struct scps_stack *st, struct scps_netif *nif,
                                 const struct scps_addr *addr, unsigned prefix);
/* Removes an address from nif, and one route to its prefix through nif, the first one added. Its
 * users are told: connections from or to it end with SCPS_ERR_ADDRNOTAVAIL and without a reset,
 * since nothing leaves from an address that is not ours; datagram endpoints bound or connected
 * there get the same error once and go on, and what they have waiting to leave is lost
 * (scps_dgram_stats.unsent). Listeners stay, and hear nothing there. If several netifs have the
 * address, connections of this one end. A filter that answers for addresses is told by itself:
 * scps_ether_remove_addr(). SCPS_ERR_NOENT: nif does not have it. */
SCPS_API int scps_stack_remove_addr(struct scps_stack *st, struct scps_netif *nif,
                                    const struct scps_addr *addr);

/* True when addr is one of this host's, given to it with scps_stack_add_addr. */
SCPS_API bool scps_stack_has_addr(const struct scps_stack *st, const struct scps_addr *addr);
/* True when a listener or a connection in any state, closed ones in TIME-WAIT included, uses
 * local->port at local->addr (family 0, or zeros: at any address, of that family). A bind
 * without address reuse needs to know this. */
SCPS_API bool scps_stack_port_busy(const struct scps_stack *st, const struct scps_endpoint *local);

/* What a packet costs beyond its IP length, bytes: framing, and an encryptor that puts pre before
 * the packet, pads both together to a multiple of block (0: no padding) and adds post. The
 * reference implementation counts 8, 8 and 44 for IPsec. */
struct scps_overhead {
    uint16_t packet, pre, block, post;
};

/* A route. The longest prefix wins; of equal ones the one added last. */
struct scps_route {
    struct scps_addr dst; /* family 4 or 6 */
    unsigned prefix;      /* 0: the default route */
    struct scps_netif *nif;
    /* largest packet; 0, or more than the netif's: the netif's. It is SCPS_MTU_LEAST at least, with
     * IPv6 SCPS_MTU_LEAST6 */
    uint32_t mtu;
    /* round trip to expect for connections that set none themselves, µs; 0: unknown; at most a
     * hundred years */
    scps_dur expected_rtt;
    /* cause assumed for a loss on this route that nothing explains: congestion or corruption */
    enum scps_loss_cause loss_cause;
    /* Rate limit shared by all connections and datagrams through this route. Whatever they send
     * counts, also acknowledgements, retransmissions and answers to strangers. */
    uint64_t rate; /* bytes/s, IP header and overhead counted; 0: no limit; at most 2^43 */
    /* rate that is sent even where the congestion windows forbid it, bytes/s; 0: none; at most
     * 2^43 */
    uint64_t min_rate;
    uint32_t burst; /* token bucket, bytes; 0: 4 of the largest packets; at most 2^30 */
    struct scps_overhead overhead;
};
/* What the next functions call, with the size of the caller's structure. */
SCPS_API int scps_stack_add_route_sized(struct scps_stack *st, const struct scps_route *r,
                                        size_t size);
SCPS_API int scps_stack_set_route_sized(struct scps_stack *st, const struct scps_route *r,
                                        size_t size);
/* SCPS_ERR_INVAL; RANGE for a field outside the bounds that its comment gives; NOMEM. */
static inline int scps_stack_add_route(struct scps_stack *st, const struct scps_route *r)
{
    return scps_stack_add_route_sized(st, r, sizeof *r);
}
/* Changes the route with r's dst, prefix and nif, of several the last one added: rates, burst and
 * overhead at once and for the connections there are, the rest for those to come. SCPS_ERR_NOENT if
 * there is none, RANGE, NOMEM. */
static inline int scps_stack_set_route(struct scps_stack *st, const struct scps_route *r)
{
    return scps_stack_set_route_sized(st, r, sizeof *r);
}

/* Removes the route with this dst, prefix and nif, of several the last one added. Connections keep
 * the link they were opened by: they end only with it, and take the rate of what routes there are
 * left by that link, or none. What datagrams have waiting goes by another route, or is lost if
 * there is none. Answers to strangers that waited for the route's rate are lost. SCPS_ERR_NOENT:
 * there is no such route. */
SCPS_API int scps_stack_remove_route(struct scps_stack *st, const struct scps_addr *dst,
                                     unsigned prefix, const struct scps_netif *nif);

/* Takes one packet that arrived on nif. The bytes are borrowed for the call only; and so is
 * payload that lies apart. Returns 0 if it was used, else the scps_drop that was counted. A
 * driver that finds several packets waiting hands them in one after the other and asks for
 * output then: this batch is answered together, with one acknowledgement for each connection
 * (RFC 9293 section 3.10.7.4, MUST-59), unless scps_conn_config.stretch_acks is off.
 * The event loop of <scps/io.h> takes 64 at most, so that acknowledgements leave while a flood
 * arrives. */
SCPS_API int scps_stack_input(struct scps_stack *st, struct scps_netif *nif,
                              const struct scps_pkt *in);
/* Does what is due at now, then builds the next packet for nif in out. out->data and out->cap
 * give the room for its headers, SCPS_MAX_HEADERS bytes at least. The payload lies apart at
 * out->payload, unless all of it fits at out->data. Returns 1 with a packet, 0 if there is none
 * before scps_stack_deadline(); SCPS_ERR_ROOM if out->cap is less than SCPS_MAX_HEADERS: then
 * nothing was done, and what is due stays due. */
SCPS_API int scps_stack_output(struct scps_stack *st, struct scps_netif *nif, scps_time now,
                               struct scps_pkt *out);
/* Returns when scps_stack_output has something to do next: SCPS_NEVER if idle; a time that has
 * passed means at once. */
SCPS_API scps_time scps_stack_deadline(const struct scps_stack *st);
/* Returns the latest time that was given to the stack. */
SCPS_API scps_time scps_stack_now(const struct scps_stack *st);
/* Lets time pass without packets: runs the timers due by now. scps_stack_output does it too. A time
 * before scps_stack_now() is taken as that; one after SCPS_NEVER / 2, wherever it is given to the
 * stack, as SCPS_NEVER / 2. So scps_stack_deadline() may be given back, even SCPS_NEVER. */
SCPS_API void scps_stack_advance(struct scps_stack *st, scps_time now);

/* News about links and paths that no packet carries; the driver or the operator reports them. */
enum scps_signal_kind {
    SCPS_SIGNAL_LINK_DOWN, /* an outage begins; until: its end, if known, else SCPS_NEVER */
    SCPS_SIGNAL_LINK_UP,
    SCPS_SIGNAL_CORRUPTION, /* the link damages bits from now to until */
    SCPS_SIGNAL_CONGESTION, /* losses are congestion again */
    /* segments from remote arrived damaged and were discarded. Acknowledgements to remote report
     * it (option 23) until `until` (0: for one round trip), at least three of them */
    SCPS_SIGNAL_DAMAGED,
    /* the rate or delay of the path changed: rate (bytes/s, 0: unknown), rtt (0: unknown) */
    SCPS_SIGNAL_PATH
};
struct scps_signal {
    enum scps_signal_kind kind;
    struct scps_netif *nif;  /* interface whose connections the signal concerns; NULL: all */
    struct scps_addr remote; /* family 0: any peer */
    scps_time until;         /* of the stack's clock, µs */
    uint64_t rate;
    scps_dur rtt;
};
/* Passes a signal to the connections that it concerns. Returns 0, or SCPS_ERR_RANGE, without any
 * effect, for a kind that is not listed above and for a signal of headers newer than the
 * library. */
SCPS_API int scps_stack_signal_sized(struct scps_stack *st, scps_time now,
                                     const struct scps_signal *sig, size_t size);
static inline int scps_stack_signal(struct scps_stack *st, scps_time now,
                                    const struct scps_signal *sig)
{
    return scps_stack_signal_sized(st, now, sig, sizeof *sig);
}

enum scps_event_kind {
    SCPS_EV_CONNECTED, /* conn: an active open has succeeded */
    SCPS_EV_ACCEPT,    /* listener: scps_accept returns a connection now */
    /* conn: data, a record end, or the end of the stream can be read; dgram: a datagram */
    SCPS_EV_READABLE,
    /* conn: there is room, or memory, again after a short or refused write; dgram: after a refused
     * send */
    SCPS_EV_WRITABLE,
    SCPS_EV_PEER_CLOSED, /* conn: the peer's FIN arrived in order */
    /* conn: everything written has been acknowledged, or given up; dgram: everything has been
     * sent */
    SCPS_EV_DRAINED,
    SCPS_EV_CLOSED,  /* conn: both directions are closed, and our FIN was acknowledged */
    SCPS_EV_ERROR,   /* conn: ended by err; dgram: scps_dgram_error returns the same err */
    SCPS_EV_HOLE,    /* conn: best effort, reading meets a hole (see scps_conn_hole) */
    SCPS_EV_GAVE_UP, /* conn: best effort, a range sent was given up (see scps_conn_given_up) */
    SCPS_EV_COUNT
};
struct scps_event {
    enum scps_event_kind kind;
    struct scps_conn *conn;
    struct scps_listener *listener;
    struct scps_dgram *dgram;
    /* the value set with scps_conn_set_user, scps_listener_set_user or scps_dgram_set_user */
    void *user;
    int err; /* SCPS_EV_ERROR: SCPS_ERR_* */
};
/* Takes the oldest event that the application has not received. Returns 1, or 0 when there is none.
 * A connection or endpoint has at most one pending event of each kind, however often it
 * happened. */
SCPS_API int scps_stack_event(struct scps_stack *st, struct scps_event *ev);

/* Every connection of the stack, one after the other: those not accepted yet, those in TIME-WAIT
 * and those that were closed and go on in the background, too (scps_conn_owner). prev NULL: the
 * first one; else the one after prev, which has to be one still: ask for the next before prev is
 * closed or aborted. NULL: that was the last. Their order says nothing, and calls that let time
 * pass or open connections may change it. O(1) on average. */
SCPS_API struct scps_conn *scps_stack_next_conn(const struct scps_stack *st,
                                                const struct scps_conn *prev);
/* Replaces the observer, which receives notes of existing connections, too; NULL: no notes. *obs is
 * copied; obs->ctx stays the caller's. Do not call it from within a note. */
SCPS_API void scps_stack_set_observer(struct scps_stack *st, const struct scps_observer *obs);
/* Returns the observer in force; note NULL: none. */
SCPS_API struct scps_observer scps_stack_observer(const struct scps_stack *st);

struct scps_stack_stats {
    uint64_t packets_in, packets_out, bytes_in, bytes_out;
    uint64_t resets_out, icmp_out, echo_replies, challenge_acks;
    uint64_t memory, memory_peak; /* bytes in use, and the most there were (memory_limit) */
    uint64_t memory_refused;      /* allocations refused because of memory_limit */
    uint64_t cookies_out, cookies_ok;
    /* SYN cookies sent whose SYN asked for a feature that a cookie cannot carry */
    uint64_t cookies_reduced;
    /* half-open connections dropped for a later SYN */
    uint64_t half_open_evicted;
    uint64_t datagrams_in, datagrams_out;         /* UDP datagrams queued for reading; sent */
    uint32_t conns, half_open, listeners, dgrams; /* now */
    uint64_t drops[SCPS_DROP_COUNT];              /* the last field, so that there may be more */
};
/* Counted since scps_stack_new. The caller knows `size` octets of *out. */
SCPS_API void scps_stack_get_stats_sized(const struct scps_stack *st, struct scps_stack_stats *out,
                                         size_t size);
static inline void scps_stack_get_stats(const struct scps_stack *st, struct scps_stack_stats *out)
{
    scps_stack_get_stats_sized(st, out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
