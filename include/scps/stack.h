/* SPDX-License-Identifier: MIT */
/* The stack of one host. The program passes in received packets and the time, and takes out packets
 * to send and the time of the next timer (the deadline).
 *
 * Only one thread at a time may use a stack. A stack never blocks, reads a clock, opens a file or
 * asks for randomness; a program can have any number of stacks.
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

/* Limits of the replies that the stack sends for packets that belong to no connection (resets, ICMP
 * errors, echo replies, SYN cookies); scps_stack_config.answer_rate says when each applies. */
/* replies to packets of no connection (RST, ICMP, SYN cookies) get at most 1/16 of the rate of
 * their route, or of the rate of a network interface (scps_netif.rate) */
#define SCPS_ANSWER_SHARE 16
/* replies to packets of no connection (RST, ICMP, SYN cookies) get at least 1/128 of the rate of a
 * network interface (scps_netif.rate), even if connections use all of it */
#define SCPS_ANSWER_LEAST 128
/* Least limit, bytes/s, of the replies to packets of no connection (RST, ICMP, SYN cookies) where
 * neither the route nor the network interface (scps_netif.rate) has a rate. If
 * scps_stack_config.answer_rate is less than this, answer_rate is the limit. */
#define SCPS_ANSWER_FLOOR 1000

/* The least MTU, bytes, of a network interface (netif) and of a route (RFC 791: 68), and of a route
 * to IPv6 addresses (80: IPv6 and TCP headers, timestamps and 8 octets of data). Links of IPv6 have
 * an MTU of 1280 or more (RFC 8200 section 5); this library accepts less, for links that are not
 * shared with other hosts. */
#define SCPS_MTU_LEAST  68
#define SCPS_MTU_LEAST6 80

/* Capacity of a stack that takes all its memory when it is opened (scps_stack_config.fixed_memory),
 * beside its max_conns connections. A request for one more object of a kind is refused with
 * SCPS_ERR_NOMEM. */
#define SCPS_FIXED_NETIFS    2
#define SCPS_FIXED_ADDRS     4
#define SCPS_FIXED_ROUTES    8 /* routes that scps_stack_add_addr() adds included */
#define SCPS_FIXED_RATED     2 /* routes with a rate */
#define SCPS_FIXED_LISTENERS 4

struct scps_conn_config;

struct scps_stack_config {
    /* size of this structure, bytes, as scps_stack_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    struct scps_alloc alloc; /* allocator of the stack; alloc and free NULL: malloc and free */
    /* NULL, the default: the stack takes memory as it needs it. Otherwise *fixed_memory is the
     * configuration of the largest connection: scps_stack_new() takes the memory for the stack and
     * max_conns such connections (1 at least), scps_memory_bound() bytes in one request of alloc,
     * and the stack asks for nothing more until scps_stack_free(). Connections and listeners can
     * then be opened only with configurations that need no more memory (else SCPS_ERR_RANGE):
     * sndbuf, rcvbuf and mss no larger (mss 0 means 1460 here); the options records (record
     * boundaries), bets (best effort), compress (header compression), snack_delay and stored data
     * (not hollow) only if *fixed_memory has them, too; a controller whose state has the same size.
     * There is no room for datagram endpoints (SCPS_ERR_NOMEM) and for replies to echo requests of
     * more than 200 bytes. The structure need not outlive the call of scps_stack_new(). */
    const struct scps_conn_config *fixed_memory;
    /* Largest number of bytes that the stack takes from alloc, struct scps_stack not counted;
     * default 4 GiB; 0: no limit. As the memory in use comes near the limit, requests are refused
     * in this order:
     *   from 3/4 on  for received data beyond a hole (out of order; SCPS_DROP_MEMORY_LIMIT). Below
     *                3/4 a connection may take (left - own) / 2 bytes more for such data: left is
     *                3/4 of the limit less all memory in use, own the size of its receive buffer
     *   from 7/8 on  for new connections (their SYN is dropped with SCPS_DROP_MEMORY_LIMIT,
     *                scps_connect() returns SCPS_ERR_NOMEM), and send buffers stop growing
     *                (scps_conn_write() returns SCPS_ERR_NOMEM, and SCPS_EV_WRITABLE comes)
     *   at the limit for all else: data in order is dropped with SCPS_DROP_MEMORY_LIMIT
     * Dropped data is not acknowledged, so the peer sends it again. 100 ms after a refusal, each
     * connection frees its send buffer and its receive buffer, if that buffer is empty and larger
     * than `left`: other connections can then store more data beyond a hole. Windows once offered
     * are not withdrawn. */
    uint64_t memory_limit;
    /* Secret key of sequence numbers, ports, cookies and hashing. Stacks with equal seeds and equal
     * inputs behave equally. */
    uint64_t seed[2];
    /* present time, µs, of the clock of the driver (the program that passes packets and the time to
     * the stack), when the stack is opened; at most SCPS_NEVER / 2 */
    scps_time now;
    struct scps_observer observer;
    /* largest number of connections in all states together; default 65536; 0: no connection can be
     * opened */
    uint32_t max_conns;
    /* Largest number of half-open connections of a listener; default 256; 0: none, every SYN is
     * answered with a cookie. All listeners together have at most half of max_conns, and no more
     * than a quarter of memory_limit holds (12 KiB each), but one at least. When a SYN comes, the
     * oldest half-open connection is dropped if it is older than 14 s when a quarter of this limit
     * is reached, 6 s when half is reached, 3 s when all is reached, but never before twice the
     * expected_rtt of the listener's configuration.
     * When the limit is reached, SYN cookies are sent. They preserve best effort (BETS) and SNACK,
     * and for peers with timestamps window scale, SACK and ECN; features that a connection lost are
     * reported as SCPS_WHY_COOKIE (scps_info.why). */
    uint32_t max_half_open;
    /* true, the default: SYNs beyond max_half_open are answered with SYN cookies; false: they are
     * dropped */
    bool syn_cookies;
    /* Largest number of challenge ACKs in one second (RFC 5961 section 7); default 100. The limit
     * in force is drawn anew each second, from half of this value to the whole of it. Each
     * connection sends at most two a second. */
    uint32_t challenge_acks;
    /* Two limits of this size for each second: one for resets for unknown ports, one for ICMP
     * errors and echo replies together; default 1000 each. The limits in force are drawn anew each
     * second, from half of this value to the whole of it. */
    uint32_t resets;
    /* Limit, bytes/s, of the replies to packets that belong to no connection (resets, ICMP errors,
     * echo replies, SYN cookies), for each network interface, where the route of the reply has no
     * rate, and the device (scps_netif.rate) has none or is idle; default 1250000; at most 2^43.
     * The first of these cases applies; replies beyond the limit are dropped, and counted as
     * SCPS_DROP_RATE_LIMITED. SCPS_ANSWER_SHARE is 16, SCPS_ANSWER_LEAST 128, SCPS_ANSWER_FLOOR
     * 1000 bytes/s.
     *   the route has a rate     1/SCPS_ANSWER_SHARE of the route's rate
     *   the device is idle       answer_rate, but at most 7/8 of the device's rate if it is known.
     *                            Idle: all connections are half-open or in TIME-WAIT, and less than
     *                            SCPS_ANSWER_FLOOR is sent on the device by connections and
     *                            datagrams; or they have sent nothing on it for 64 s
     *   the device has a rate    7/8 of the device's rate less what connections and datagrams send,
     *                            but at most 1/SCPS_ANSWER_SHARE and at least 1/SCPS_ANSWER_LEAST
     *                            of the device's rate
     *   otherwise                half of 1/SCPS_ANSWER_SHARE of what connections and datagrams send
     *                            on the device, at least SCPS_ANSWER_FLOOR, at most answer_rate
     * SYN-ACKs of half-open connections, 80 bytes each, are charged to the same limit, and to
     * nothing else; the first one is given back when the peer acknowledges it. A SYN beyond the
     * limit is dropped likewise, and a SYN-ACK beyond it is not repeated. While less than a quarter
     * of max_half_open is in use, they may exceed the limit once by the SYN-ACKs of that quarter,
     * but by no more than a route or a device of known rate carries in 1/8 of a second. */
    uint64_t answer_rate;
    /* The next two fields configure a cache of destinations that answer a SYN only when it is sent
     * without the SCPS capabilities option: later SYNs to such a destination do not have the
     * option. A destination is one of them if it answered the option by a reset, or if twice in a
     * row scps_conn_config.caps_tries SYNs with the option were not answered and the next one,
     * without it, was. Once is not enough, because SYNs also meet silence while a link is down or
     * the destination is flooded. */
    /* Largest number of destinations in the cache of those that answer a SYN only without the SCPS
     * capabilities option; default 64; 0: there is no cache; at most 65536 */
    uint32_t plain_hosts;
    /* How long a destination that answers a SYN only without the SCPS capabilities option stays in
     * the cache of plain_hosts entries, µs; default 10 min; 0: there is no cache; at most a hundred
     * years */
    scps_dur plain_memory;
    /* true: a wrong transport checksum in a peer's segment counts as damage by the link, as if
     * SCPS_SIGNAL_DAMAGED had been given; default false */
    bool checksum_hints;
    /* largest number of pairs of a local and a remote address between which connections with
     * compressed headers exist, or have ended less than time_wait ago; default 256; also limited to
     * what a quarter of memory_limit holds, about 6.8 KiB each */
    uint32_t max_comp_hosts;
    bool echo_reply; /* true, the default: ICMP and ICMPv6 echo requests are answered */
    /* Range of ephemeral ports; default 49152 to 65535 (RFC 6056), 0: the default of the field */
    uint16_t port_min, port_max;
};

/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the defaults
 * that the fields name. The default seed is public: for tests and simulations only. On a network
 * fill it with scps_entropy(). */
SCPS_API void scps_stack_config_init(struct scps_stack_config *cfg, size_t size);
/* Returns the defaults that scps_stack_config_init() fills in. */
static inline struct scps_stack_config scps_stack_config_default(void)
{
    struct scps_stack_config c;

    scps_stack_config_init(&c, sizeof c);
    return c;
}
/* Checks whether scps_stack_new() and scps_stack_open() would refuse cfg (NULL: the defaults).
 * Returns 0 and makes msg empty; otherwise returns SCPS_ERR_RANGE or SCPS_ERR_INVAL, and one line
 * of at most msglen - 1 characters in msg names the field: "port_max: 40: give 49152 to 65535",
 * "fixed_memory: sndbuf: 12: give 256 to 1073741824". msg may be NULL. */
SCPS_API int scps_stack_config_check(const struct scps_stack_config *cfg, char *msg, size_t msglen);
/* Opens a stack. cfg NULL: the defaults. Returns NULL on lack of memory, or for a configuration
 * that scps_stack_config_check() refuses. */
SCPS_API struct scps_stack *scps_stack_new(const struct scps_stack_config *cfg);
/* Returns the size, bytes, of the one block of memory that scps_stack_new() allocates for a stack
 * with configuration *st whose fixed_memory is conn and whose max_conns is n: the most that the
 * stack and n connections ever use. The block must be aligned for any object. st, conn NULL: the
 * defaults. Returns 0 if st or conn is refused (SCPS_ERR_RANGE, SCPS_ERR_INVAL), if n is 0, or if
 * the number is too large for a size_t. */
SCPS_API uint64_t scps_memory_bound(const struct scps_stack_config *st,
                                    const struct scps_conn_config *conn, uint32_t n);
/* Opens a stack as scps_stack_new() does. On failure returns NULL with the reason as one line in
 * msg: "fixed_memory: 731136 bytes are needed, and memory_limit allows 731135". */
SCPS_API struct scps_stack *scps_stack_open(const struct scps_stack_config *cfg, char *msg,
                                            size_t msglen);
/* Returns true if the stack was opened with the seed of scps_stack_config_default(), so that
 * anybody can compute its sequence numbers, ports and cookies. scps_loop_new() refuses to drive
 * such a stack. */
SCPS_API bool scps_stack_is_predictable(const struct scps_stack *st);
/* Frees the stack with every connection and listener; sends nothing. Netifs are not freed. */
SCPS_API void scps_stack_free(struct scps_stack *st);

/* Implements scps_stack_add_netif(), which passes SCPS_NETIF_LAYOUT of the caller's headers. */
SCPS_API int scps_stack_add_netif_sized(struct scps_stack *st, struct scps_netif *nif,
                                        uint32_t layout);
/* Attaches the top of a chain of netifs (network interfaces and filters), which must outlive the
 * stack, unless scps_stack_remove_netif() detaches it. Returns 0, SCPS_ERR_INVAL, SCPS_ERR_NOMEM,
 * or SCPS_ERR_RANGE for a driver that was compiled with headers in which netifs and packets are
 * laid out in another way than in the library: compile it again. */
static inline int scps_stack_add_netif(struct scps_stack *st, struct scps_netif *nif)
{
    return scps_stack_add_netif_sized(st, nif, SCPS_NETIF_LAYOUT);
}
/* Detaches nif; without effect if it is not attached to st (NULL, never added, removed before). The
 * stack assumes that the device will not come back: connections routed through it end with
 * SCPS_ERR_LINKDOWN, and packets waiting for it are lost, except datagrams that have another route.
 * nif may then be freed, or attached to a stack again. Do not call this from within nif's own
 * send. */
SCPS_API void scps_stack_remove_netif(struct scps_stack *st, struct scps_netif *nif);
/* Gives this host an address on nif, with a prefix length in bits, and adds a route to this prefix.
 * A filter that answers ARP requests must get the address, too, by scps_ether_add_addr(). Returns
 * 0; SCPS_ERR_INVAL if nif is not attached to st, the address family is neither 4 nor 6, the prefix
 * is longer than the address, or no host can have the address (0.0.0.0/8, 224.0.0.0 and above,
 * which are multicast, reserved and broadcast; ::; ff00::/8); SCPS_ERR_RANGE for IPv6 over a netif
 * whose mtu is below SCPS_MTU_LEAST6; SCPS_ERR_NOMEM. */
SCPS_API int scps_stack_add_addr(struct scps_stack *st, struct scps_netif *nif,
                                 const struct scps_addr *addr, unsigned prefix);
/* Removes an address from nif, and one route to its prefix through nif, the first one added.
 * Connections from or to the address end with SCPS_ERR_ADDRNOTAVAIL and without a reset, since
 * nothing is sent from an address that the host does not have. Datagram endpoints whose local
 * address it is get the same error once and stay open; datagrams that they have waiting to be sent
 * are lost (scps_dgram_stats.unsent). Listeners stay, but get no connections to the address. If
 * several netifs have the address, only connections through nif end. A filter of <scps/ether.h>
 * goes on answering ARP requests for the address until the caller calls scps_ether_remove_addr(),
 * too. Returns 0, or SCPS_ERR_NOENT: nif does not have the address. */
SCPS_API int scps_stack_remove_addr(struct scps_stack *st, struct scps_netif *nif,
                                    const struct scps_addr *addr);

/* Returns true when addr is one of this host's addresses, given to it with
 * scps_stack_add_addr(). */
SCPS_API bool scps_stack_has_addr(const struct scps_stack *st, const struct scps_addr *addr);
/* Returns true when a listener or a connection in any state, TIME-WAIT included, uses local->port
 * at local->addr (family 0: at any address; zeros: at any address of that family). A bind without
 * address reuse must be refused then. */
SCPS_API bool scps_stack_port_busy(const struct scps_stack *st, const struct scps_endpoint *local);

/* Bytes that a packet takes on the link beyond its IP length. packet: framing. pre, block, post: an
 * encryptor puts pre bytes before the packet, pads both together to a multiple of block (0: no
 * padding) and adds post bytes. The SCPS reference implementation counts 8, 8 and 44 for IPsec. */
struct scps_overhead {
    uint16_t packet, pre, block, post;
};

/* A route. The route with the longest matching prefix is used; of equal ones the one added last. */
struct scps_route {
    struct scps_addr dst; /* destination; family 4 or 6 */
    unsigned prefix;      /* length of the destination's prefix, bits; 0: the default route */
    struct scps_netif *nif;
    /* Largest packet on this route, bytes; 0, or a value above the netif's mtu: the netif's mtu.
     * Least value: SCPS_MTU_LEAST, for an IPv6 route SCPS_MTU_LEAST6. */
    uint32_t mtu;
    /* Round trip assumed for connections that configure none, µs; 0: unknown; at most a hundred
     * years */
    scps_dur expected_rtt;
    /* Cause assumed for a loss on this route about which neither an ECN mark, a corruption report
     * nor an outage says anything: congestion or corruption */
    enum scps_loss_cause loss_cause;
    /* Rate limit that all connections and datagrams through this route share. All their packets
     * count, acknowledgements and retransmissions included, and so do replies to packets that
     * belong to no connection. */
    /* bytes/s; each packet counts with its IP length and the bytes of `overhead` below; 0: no
     * limit; at most 2^43 */
    uint64_t rate;
    /* Minimum rate, bytes/s, of all packets on this route together: while less is sent, a
     * connection of this route may send a segment that its congestion window forbids; 0: no
     * minimum; at most 2^43 */
    uint64_t min_rate;
    uint32_t burst; /* size of the token bucket, bytes; 0: 4 of the largest packets; at most 2^30 */
    struct scps_overhead overhead;
};
/* Implement scps_stack_add_route() and scps_stack_set_route(), which pass the size of the caller's
 * structure, bytes. */
SCPS_API int scps_stack_add_route_sized(struct scps_stack *st, const struct scps_route *r,
                                        size_t size);
SCPS_API int scps_stack_set_route_sized(struct scps_stack *st, const struct scps_route *r,
                                        size_t size);
/* Adds a route. Returns 0, SCPS_ERR_INVAL, SCPS_ERR_RANGE for a field outside the bounds that its
 * comment gives, or SCPS_ERR_NOMEM. */
static inline int scps_stack_add_route(struct scps_stack *st, const struct scps_route *r)
{
    return scps_stack_add_route_sized(st, r, sizeof *r);
}
/* Changes the route that has r's dst, prefix and nif; if several have them, the one added last.
 * Rates, burst and overhead change at once, also for existing connections; the rest changes for
 * later connections. Returns 0, SCPS_ERR_NOENT if there is no such route, SCPS_ERR_RANGE or
 * SCPS_ERR_NOMEM. */
static inline int scps_stack_set_route(struct scps_stack *st, const struct scps_route *r)
{
    return scps_stack_set_route_sized(st, r, sizeof *r);
}

/* Removes the route with this dst, prefix and nif; if several have them, the one added last.
 * Existing connections continue through the same netif; they then have the rate limit of another
 * route through it, or none. Datagrams that wait are sent by another route, or lost if there is
 * none. Replies to packets that belong to no connection are lost if they wait for the rate of the
 * route. Returns 0, or SCPS_ERR_NOENT: there is no such route. */
SCPS_API int scps_stack_remove_route(struct scps_stack *st, const struct scps_addr *dst,
                                     unsigned prefix, const struct scps_netif *nif);

/* Processes one packet that arrived on nif. Its bytes, at in->data and in->payload, must be valid
 * only during the call. Returns 0 if the packet was used, else the scps_drop that was counted:
 * SCPS_DROP_NOT_OURS if nif, which is not NULL, is not attached to st. A driver that finds several
 * packets waiting should pass in all of them before it calls scps_stack_output(): these packets are
 * acknowledged together, with one acknowledgement for each connection (RFC 9293 section 3.10.7.4,
 * MUST-59), unless scps_conn_config.stretch_acks is off. The event loop of <scps/io.h> passes 64 at
 * most, so that acknowledgements are sent while many packets arrive. */
SCPS_API int scps_stack_input(struct scps_stack *st, struct scps_netif *nif,
                              const struct scps_pkt *in);
/* Runs the timers due at `now`, µs, then builds the next packet for the interface nif (not NULL) in
 * *out. out->data and out->cap give the room for its headers, SCPS_MAX_HEADERS bytes at least. The
 * payload is at out->payload, unless all of it fits behind the headers at out->data. Returns 1 with
 * a packet; 0 if there is no packet before the time of scps_stack_deadline(); SCPS_ERR_ROOM if
 * out->cap is less than SCPS_MAX_HEADERS, or SCPS_ERR_INVAL if nif is not attached to st. On an
 * error no timer was run, and the packets to send stay in the stack. */
SCPS_API int scps_stack_output(struct scps_stack *st, struct scps_netif *nif, scps_time now,
                               struct scps_pkt *out);
/* Returns the time, µs, at which scps_stack_output() has something to do next. SCPS_NEVER: the
 * stack is idle; a time that has passed: call it at once. */
SCPS_API scps_time scps_stack_deadline(const struct scps_stack *st);
/* Returns the latest time that was given to the stack, µs. */
SCPS_API scps_time scps_stack_now(const struct scps_stack *st);
/* Runs the timers due by now, µs, but hands out no packet: packets that a timer makes due wait for
 * scps_stack_output(), which runs the due timers first, too. A time before scps_stack_now() counts
 * as scps_stack_now(). A time after SCPS_NEVER / 2 counts as SCPS_NEVER / 2, in every function that
 * takes a time. So the result of scps_stack_deadline() may be passed, even SCPS_NEVER. */
SCPS_API void scps_stack_advance(struct scps_stack *st, scps_time now);

/* States of links and paths that no packet shows to the stack, and which the driver or the operator
 * reports by scps_stack_signal(). */
enum scps_signal_kind {
    /* an outage begins; `until`: the time of its end, if known, else 0 or SCPS_NEVER */
    SCPS_SIGNAL_LINK_DOWN,
    SCPS_SIGNAL_LINK_UP,
    /* from now to `until` the link damages bits, so the congestion control treats losses as
     * corruption */
    SCPS_SIGNAL_CORRUPTION,
    /* the link no longer damages bits, so the congestion control treats losses as congestion
     * again */
    SCPS_SIGNAL_CONGESTION,
    /* Segments from `remote` arrived damaged and were discarded. Until `until` (0: for one round
     * trip), and in at least three acknowledgements, this host reports this to `remote` by the
     * corruption option (kind 23). */
    SCPS_SIGNAL_DAMAGED,
    /* the rate or delay of the path changed: rate (bytes/s, 0: unknown), rtt (µs, 0: unknown; at
     * most a hundred years) */
    SCPS_SIGNAL_PATH
};
struct scps_signal {
    enum scps_signal_kind kind;
    struct scps_netif *nif;  /* interface whose connections the signal concerns; NULL: all */
    struct scps_addr remote; /* peer that the signal concerns; family 0: all */
    /* Time at which the reported outage, corruption, congestion or damage ends, µs of the stack's
     * clock; 0: unknown (for DAMAGED: after one round trip). LINK_UP and PATH do not use it. */
    scps_time until;
    uint64_t rate;
    scps_dur rtt;
};
/* The driver or the operator reports the state of a link or path (enum scps_signal_kind: an outage,
 * corruption, a new rate) at time now, µs: passes it to the connections that send through sig->nif
 * (NULL: any interface) to the peer sig->remote (family 0: any). Runs no timers: those due wait for
 * scps_stack_output(). Returns 0. Returns SCPS_ERR_RANGE, without any effect, for a kind that enum
 * scps_signal_kind does not list, for an rtt below 0 or above a hundred years, and for a `size` of
 * headers newer than the library. */
SCPS_API int scps_stack_signal_sized(struct scps_stack *st, scps_time now,
                                     const struct scps_signal *sig, size_t size);
static inline int scps_stack_signal(struct scps_stack *st, scps_time now,
                                    const struct scps_signal *sig)
{
    return scps_stack_signal_sized(st, now, sig, sizeof *sig);
}

enum scps_event_kind {
    SCPS_EV_CONNECTED, /* conn: the handshake of scps_connect() succeeded */
    SCPS_EV_ACCEPT,    /* listener: a connection was established, and scps_accept() returns it */
    /* conn: data can be read, or a record or the stream has ended; dgram: a datagram can be read */
    SCPS_EV_READABLE,
    /* conn: scps_conn_write() has room or memory again, after it had written less than asked or had
     * failed for lack of room or memory; dgram: the same after scps_dgram_send() was refused */
    SCPS_EV_WRITABLE,
    SCPS_EV_PEER_CLOSED, /* conn: the peer's FIN arrived in order */
    /* conn: everything written was acknowledged, or given up (best effort); dgram: everything was
     * sent */
    SCPS_EV_DRAINED,
    SCPS_EV_CLOSED, /* conn: both directions are closed, and the FIN of this end was acknowledged */
    SCPS_EV_ERROR,  /* conn: it ended with err; dgram: scps_dgram_error() returns the same err */
    SCPS_EV_HOLE,   /* conn: best effort: the next byte to read is missing (see scps_conn_hole) */
    /* conn: best effort: this end, as the sender, has given up a range of the data written, after
     * bets_retries resends or bets_lifetime, and resends it no more (see scps_conn_given_up) */
    SCPS_EV_GAVE_UP,
    SCPS_EV_COUNT
};
struct scps_event {
    enum scps_event_kind kind;
    struct scps_conn *conn;
    struct scps_listener *listener;
    struct scps_dgram *dgram;
    /* the value set with scps_conn_set_user, scps_listener_set_user or scps_dgram_set_user */
    void *user;
    int err; /* for SCPS_EV_ERROR: the SCPS_ERR_* */
};
/* Takes the oldest event that the application has not received from the stack and writes it to *ev.
 * Returns 1, or 0 when there is none. A connection or endpoint has at most one pending event of
 * each kind, however often it happened. */
SCPS_API int scps_stack_event(struct scps_stack *st, struct scps_event *ev);

/* Iterates over the connections of the stack, one for each call. These include connections not
 * accepted yet, in TIME-WAIT, and closed ones that continue in the background (scps_conn_owner).
 * prev NULL: returns the first one; else the one after prev, which must still exist: ask for the
 * next before prev is closed or aborted. Returns NULL after the last. The order has no meaning, and
 * calls that let time pass or open connections may change it. O(1) on average. */
SCPS_API struct scps_conn *scps_stack_next_conn(const struct scps_stack *st,
                                                const struct scps_conn *prev);
/* Replaces the observer, which receives the events of existing connections, too; NULL: no events
 * are reported. *obs is copied; obs->ctx stays the caller's. Do not call this function from within
 * obs->note. */
SCPS_API void scps_stack_set_observer(struct scps_stack *st, const struct scps_observer *obs);
/* Returns the observer in force. Its `note` is NULL if there is none. */
SCPS_API struct scps_observer scps_stack_observer(const struct scps_stack *st);

struct scps_stack_stats {
    uint64_t packets_in, packets_out, bytes_in, bytes_out;
    uint64_t resets_out, icmp_out, echo_replies, challenge_acks;
    uint64_t memory, memory_peak; /* memory in use and its maximum so far, bytes (memory_limit) */
    uint64_t memory_refused;      /* allocations refused because of memory_limit */
    uint64_t cookies_out, cookies_ok;
    /* SYN cookies sent although the SYN asked for a feature that a cookie cannot carry */
    uint64_t cookies_reduced;
    /* half-open connections dropped to make room for a later SYN */
    uint64_t half_open_evicted;
    uint64_t datagrams_in, datagrams_out; /* UDP datagrams queued for reading; UDP datagrams sent */
    /* numbers of connections, half-open connections, listeners and datagram endpoints that exist
     * now */
    uint32_t conns, half_open, listeners, dgrams;
    /* packets dropped, by scps_drop; the last field, so that reasons can be added */
    uint64_t drops[SCPS_DROP_COUNT];
};
/* Copies the counters since scps_stack_new() to *out; size is sizeof *out in the calling
 * program. */
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
