/* SPDX-License-Identifier: MIT */
/* Connections: open, write, read, close, and their state and counters.
 *
 * A connection lives until the application calls scps_conn_close() or scps_conn_abort(), whatever
 * the peer does. After that the handle is invalid; a graceful close continues in the background.
 */
#ifndef SCPS_CONN_H
#define SCPS_CONN_H

#include <scps/binding.h>
#include <scps/info.h>
#include <scps/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When the receiver acknowledges (modes F0, F1, F2 of docs/SCPS-TP.md). */
enum scps_ack_mode {
    SCPS_ACK_DELAYED, /* F0: the receiver acknowledges only when the delayed-ACK timer expires */
    SCPS_ACK_EVERY,   /* F1: the receiver acknowledges every segment at once */
    /* F2: the receiver acknowledges when more than one full segment is not acknowledged, or when
     * the timer expires */
    SCPS_ACK_OTHER
};

/* Configuration of a connection. Start from scps_conn_config_default(). A field outside its bounds
 * makes opening fail with SCPS_ERR_RANGE. A field that is 0 although 0 lies outside its bounds
 * stands for the default; this does not apply to size and cc. */
struct scps_conn_config {
    /* size of this structure, bytes, as scps_conn_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    /* ---- Congestion control ---- */
    /* The congestion controller, as scps_conn_config_set_cc() or scps_conn_config_parse_cc() sets
     * it; default "vj". If a program sets only this field, the controller has its default
     * parameters. */
    const struct scps_cc_ops *cc;
    /* The controller to whose parameters the values of cc_param belong. If it is another controller
     * than the field cc, cc_param is ignored and cc has its default parameters. */
    const struct scps_cc_ops *cc_param_of;
    int64_t cc_param[SCPS_CC_PARAMS];
    /* the program tools/settings writes the next lines from settings.def */

    /* ---- Rate ---- */
    /* Rate limit on the wire, IP header and framing counted. Pure rate control, which needs a rate,
     * uses this one. In bytes/s, at most 2^43; 0, the default: limited by the route alone. */
    uint64_t rate;
    /* Bytes that rate and ack_budget count for each packet beyond its IP length: the link's
     * framing. 0 to 65535 bytes; default 0. */
    uint32_t rate_overhead;
    /* How much may be sent back to back under rate after a pause. It is the size of the token
     * bucket. By default the bucket is smaller while losses of small segments are repaired, and
     * after two timeouts of small segments: four packets of their mean length. A burst other than 0
     * is the size in all cases. With 0 the first case that applies decides: small segments as said
     * (while losses are repaired only if the controller sets no scps_cc_ctl.quantum); the
     * controller sets no rate, and pacing spreads the congestion window over the smoothed round
     * trip: two to four segments as below; the controller sets a quantum: that; all other cases:
     * four packets. 0 to 1 GiB; 0, the default: four packets; for a window that pacing spreads two
     * segments, or up to four if its rate yields them in a millisecond and they are at most a
     * quarter of the window. */
    uint32_t burst;
    /* Spread each congestion window over the smoothed round trip. It is always on where
     * acknowledgements wait for the timer (ack_mode delayed), because each such acknowledgement
     * would release a whole window at once. The ack_mode that counts is that of this end: the
     * sender assumes that the peer acknowledges in the same mode. Default false. */
    bool pacing;
    /* Initial congestion window. 0 to 65535 segments; 0, the default: ten segments, at most 14600
     * bytes; RFC 6928 section 2. */
    uint32_t init_cwnd_segs;

    /* ---- Buffers ---- */
    /* Largest size of the send buffer: written data that is not acknowledged yet. Memory is taken
     * as it is used. 256 to 1 GiB; default 1 MiB. */
    uint32_t sndbuf;
    /* Largest size of the receive buffer, which bounds the window offered to the peer. Memory is
     * taken as it is used. 256 to 1 GiB; default 1 MiB; RFC 7323 section 2.3. */
    uint32_t rcvbuf;
    /* The peer's window, as assumed until its first scaled window arrives. A SYN cannot offer more
     * than 65535 bytes. Where both ends are configured alike, as in the tests of
     * NASA/TM-2003-212001, this saves the first round trip. The peer may do the same, so this many
     * bytes are accepted from it even where this end's SYN offered a smaller window, as far as the
     * receive buffer holds them. 0 to 1 GiB; 0, the default: the window in the peer's SYN; RFC 7323
     * section 2.2. */
    uint32_t first_window;
    /* Count payload bytes without storing them; they are written from NULL and read as zeros. The
     * application passes NULL as buf to scps_conn_write(). The setting concerns this end alone, but
     * the device has to carry such payload (SCPS_NETIF_HOLLOW), as a simulated link does. Default
     * false. */
    bool hollow;

    /* ---- Packets ---- */
    /* Largest segment to send and to announce, TCP options included. 0, or 48 to 65495 bytes; 0,
     * the default: from the MTU; RFC 9293 section 3.7.1, RFC 6691. */
    uint16_t mss;
    /* Time to live of IPv4, hop limit of IPv6. 1 to 255 hops; default 64; RFC 1122 section
     * 3.2.1.7. */
    uint8_t ttl;
    /* Type of service of IPv4, traffic class of IPv6; with ECN its lower two bits are TCP's. 0 to
     * 255; default 0; RFC 2474, RFC 3168 section 5. */
    uint8_t tos;
    /* No path MTU discovery: the DF bit stays clear. Default false; RFC 1191. */
    bool df_off;

    /* ---- TCP options ---- */
    /* Offer and accept selective acknowledgements. Default true; RFC 2018. */
    bool sack;
    /* Report data that arrived twice, which shows the peer which retransmissions were needless.
     * Default true; RFC 2883. */
    bool dsack;
    /* Offer and accept timestamps; they take 12 bytes of each segment. Default true; RFC 7323
     * section 3. */
    bool timestamps;
    /* Offer and accept window scaling; without it no window is larger than 65535 bytes. Default
     * true; RFC 7323 section 2. */
    bool wscale;
    /* Offer and accept explicit congestion notification. A SYN that is sent again does not offer
     * it, so one lost SYN leaves the connection without it (RFC 3168 section 6.1.1.1). Default
     * false; RFC 3168. */
    bool ecn;

    /* ---- SCPS-TP ---- */
    /* Offer and accept selective negative acknowledgements (SNACK, option 21). Default false; CCSDS
     * 714.0-B-2. */
    bool snack;
    /* Use the long form of SNACK, too, whose bit vector reports more than one hole. Default false;
     * CCSDS 714.0-B-2. */
    bool snack_long;
    /* Count the blocks of a SNACK in units of the MSS instead of the MSS less the 12 bytes of
     * timestamps. Both ends have to use the same unit, and builds of the reference implementation
     * differ: otherwise the holes reported lie in the wrong place, and the wrong data is resent
     * until a timeout. Without timestamps both units are the MSS. Default false. */
    bool snack_raw_unit;
    /* How long the sender waits after a SNACK before it resends, because the segments may only be
     * late. It is for paths that are known to reorder packets; set dupthresh there, too. On any
     * path the sender waits as long as segments that counted as lost have been late (RFC 8985
     * section 6.2). The longer of this field and that time counts. A segment is late by the time,
     * beyond a round trip, until its first transmission was reported to have arrived. In µs; 0, the
     * default: no wait until two segments have been late. */
    scps_dur snack_delay;
    /* Report damaged segments to the peer (option 23) if it knows SCPS options. Default true; CCSDS
     * 714.0-B-2. */
    bool corruption;
    /* How long after the peer has reported damage the sender attributes losses to corruption. In
     * µs; 0, the default: two retransmission timeouts. */
    scps_dur corruption_hold;
    /* Offer and accept header compression (IP protocol 105). Where both ends offer it, everything
     * after the SYNs has headers of 8 to 24 bytes instead of 20 to 60. Default false; CCSDS
     * 714.0-B-2. */
    bool compress;
    /* Protocol number in the pseudo-header of the checksum of compressed segments. Builds of the
     * reference implementation send 6 or 106. The same number is expected of the peer; another of
     * 6, 105 and 106 is accepted instead when several segments in a row have it, which delays the
     * start by some seconds. Give both ends the same number: where they differ, the checksum of a
     * segment with one wrong bit may look right before the peer's number is known. Where they are
     * the same, a single damaged segment whose checksum is right for another number is never
     * accepted, and several only if no undamaged one is among them. Segments with any other number
     * are dropped as SCPS_DROP_BAD_CHECKSUM. 6, 105 or 106; default 105. */
    uint8_t comp_proto;
    /* How many SYNs carry the SCPS capabilities (option 20) before one is sent without them. It is
     * for paths that drop packets with unknown options; after a SYN that is answered with a reset,
     * one without the option is sent at once. Where a link is down at the start, or loses SYNs, a
     * larger number keeps SNACK. A SYN that is lost counts as one of them; a connection opened by a
     * SYN without option 20 has none of its features, SNACK among them. 0 to 255 SYNs; default 3;
     * 0: all SYNs carry the option; CCSDS 714.0-B-2. */
    uint8_t caps_tries;
    /* Offer and accept best effort (BETS): data that does not arrive in time is given up and
     * reported as a hole. The reader calls scps_conn_hole() to pass a hole; scps_conn_given_up()
     * returns the range to the writer. Default false; CCSDS 714.0-B-2. */
    bool bets;
    /* Offer best effort also by TCP option 16, for peers older than the capabilities (option 20).
     * Default false. */
    bool bets_legacy;
    /* How long the receiver waits for missing data that its application would read next, before it
     * gives that data up. In µs; 0, the default: 1.05 s, or two round trips if that is longer. */
    scps_dur bets_timeout;
    /* How often the sender resends a segment before it gives up the data. It applies only if both
     * ends agreed on best effort (bets). Without that the sender gives up no data, and resends
     * until data_retries or user_timeout ends the connection. With best effort data_retries ends
     * the connection only when no data is left to give up: set user_timeout to detect that the peer
     * has gone. 1 to 254 resends; default 32. */
    uint8_t bets_retries;
    /* The sender gives up data that it sent this long ago, if nothing has been acknowledged since
     * then. The time counts from the latest of these events: new data was acknowledged; data was
     * sent while nothing was outstanding; data was given up; a window opened that probes had
     * tested; an outage ended. Resends do not restart it. All data sent up to that event is given
     * up together. A time shorter than a round trip gives up data before its acknowledgement can
     * come. In µs; 0, the default: never. */
    scps_dur bets_lifetime;
    /* Mark the ends of records (option 22) and report those of the peer to the reader. The option
     * is not negotiated: a peer that does not know it reads plain TCP. SCPS_EOR marks the end of a
     * record; scps_conn_record() says where a read stopped. Default false; CCSDS 714.0-B-2. */
    bool records;
    /* Binding spaces (extended capabilities, <scps/binding.h>), which the SYN offers behind the
     * SCPS capabilities; a SYN-ACK answers with what both ends have in common. len 0, the default:
     * none. A SYN has room for 12 octets of data in one space beside timestamps and the other
     * options; a space that does not fit is left out whole. */
    struct scps_binding binding[SCPS_BINDINGS];

    /* ---- Sending ---- */
    /* Switch Nagle's algorithm off: a small segment leaves at once. Default false; RFC 9293 section
     * 3.7.4. */
    bool nodelay;
    /* Send new data on the first two duplicate acknowledgements. Default true; RFC 3042. */
    bool limited_transmit;
    /* Restore the congestion window after a loss recovery that proves spurious (F-RTO, timestamps,
     * DSACK). Default true; RFC 5682, RFC 3522, RFC 4015. */
    bool spurious_undo;
    /* How losses are detected that no SNACK reports: by counting acknowledgements, or by the time
     * since sending. classic counts dupthresh acknowledgements (RFC 5681, RFC 6675); rack has a
     * reordering window that adapts, and a tail loss probe, and needs SACK. Classic or rack;
     * default classic; RFC 8985. */
    enum scps_recovery_mode recovery;
    /* How many duplicate acknowledgements are taken for a loss. A path that reorders packets needs
     * more; a SNACK causes a retransmission whatever the threshold. 1 to 255 acknowledgements;
     * default 3; RFC 5681 section 3.2. */
    uint8_t dupthresh;
    /* The cause that is assumed for a loss or a timeout that nothing explains. With corruption,
     * losses do not reduce the congestion window, and timeouts do not back off. An outage has a
     * beginning and an end, so only the link can report one. Congestion or corruption; default
     * congestion; CCSDS 714.0-B-2. */
    enum scps_loss_cause loss_cause;

    /* ---- Acknowledging ---- */
    /* When the receiver acknowledges: when the timer expires (F0), every segment (F1), every other
     * one (F2). Where full segments arrive further apart than ack_delay, F2 acknowledges each at
     * once after the timer has expired for eight in a row, until the application writes. Delayed,
     * every or other; default other; RFC 9293 section 3.8.6.3, CCSDS 714.0-B-2. */
    enum scps_ack_mode ack_mode;
    /* With ack_mode delayed: while data is missing, acknowledge every other segment, and at once
     * one that opens or fills a hole. Otherwise missing data is reported when the
     * delayed-acknowledgement timer expires. Default false. */
    bool holes_at_once;
    /* One acknowledgement answers all segments that arrive together. Segments arrive together when
     * the driver hands them in with no output between them. When it is off, as many
     * acknowledgements are sent as if the segments had come one by one, for a peer that counts
     * acknowledgements. A limit for acknowledgements (ack_budget, ack_budget_pps, a route's rate)
     * takes precedence. Default true; RFC 9293 section 3.10.7.4, MUST-59. */
    bool stretch_acks;
    /* Longest wait of a delayed acknowledgement. In µs; 0, the default: 150 ms, or with
     * expected_rtt that time, at most 200 ms; RFC 9293 section 3.8.6.3. */
    scps_dur ack_delay;
    /* With ack_mode other: how many segments, from the first on, are acknowledged one by one. It
     * helps a peer whose slow start counts acknowledgements. This end, as the receiver,
     * acknowledges every second segment in that mode (SCPS_ACK_OTHER). 0 to 65535 segments; default
     * 0. */
    uint16_t quick_acks;
    /* Limit for acknowledgements that carry no data, for a thin return link. The next
     * acknowledgement reports what those held back would have reported. 0 to 4294967295 packets/s;
     * 0, the default: no limit. */
    uint32_t ack_budget_pps;
    /* Limit for acknowledgements that carry no data, for a thin return link, headers and framing
     * counted. In bytes/s, at most 2^43; 0, the default: no limit. */
    uint64_t ack_budget;

    /* ---- Timers ---- */
    /* Round trip that is assumed before one has been measured; it sets the timers below. In µs; 0,
     * the default: the route's, else none. */
    scps_dur expected_rtt;
    /* Retransmission timeout before a round trip has been measured. In µs; 0, the default: 1 s, or
     * expected_rtt + rto_min; RFC 6298 section 2. */
    scps_dur rto_initial;
    /* Least margin of the retransmission timeout above the smoothed round trip. In µs; 0, the
     * default: 200 ms, or ack_delay + 50 ms if longer; with expected_rtt, expected_rtt / 4 +
     * ack_delay; RFC 6298 section 2. */
    scps_dur rto_min;
    /* Longest retransmission timeout; never less than twice the smoothed round trip, up to an hour.
     * The hour limits that least value only, not the one set here. When the link comes back after
     * an outage, the sender may wait this long before it sends. A smaller value shortens that wait,
     * but also the time that data_retries gives a silent peer: raise that number for longer
     * outages. With outage_after neither a smaller timeout nor a larger number is needed: the
     * connection does not end, and probes detect the end of the outage. In µs; 0, the default: 60
     * s, or 8 x expected_rtt if that is longer; RFC 6298 section 2. */
    scps_dur rto_max;
    /* Longest time between probes of a closed window. In µs; 0, the default: rto_max; RFC 9293
     * section 3.8.6.1. */
    scps_dur persist_max;
    /* How long a connection stays in TIME-WAIT (2 MSL). In µs; 0, the default: 60 s, or 4 x
     * expected_rtt if that is longer; RFC 9293 section 3.6.1. */
    scps_dur time_wait;
    /* How long a closed connection waits for the peer's FIN. In µs; 0, the default: 60 s, or 8 x
     * expected_rtt if that is longer. */
    scps_dur fin_wait2;
    /* How long a SYN is resent: for the sum of this many timeouts and one more, each twice the one
     * before. In this sum the first timeout is 1 s at least, and rto_max 60 s at least; with 8 the
     * last SYN is sent after 183 s or later, and the attempt ends after 243 s or later. 0 to 65535
     * timeouts; default 8; RFC 9293 section 3.8.3. */
    uint16_t syn_retries;
    /* How long data is resent to a silent peer: for the sum of this many timeouts and one more,
     * each twice the one before. It is never less than 100 s; for less see user_timeout. Timeouts
     * that corruption explains do not back off, so more of them fit into this time. 0 to 65535
     * timeouts; default 15; RFC 9293 section 3.8.3. */
    uint16_t data_retries;
    /* After this many timeouts in a row the next one is taken for a link outage: probes are sent,
     * and the connection does not end. The first probe is sent 5 s after that timeout, the next
     * ones 6, 12, 24, 48, 60, 60 ... s after the probe before; rto_max replaces each of these times
     * that is longer. When a segment of the peer arrives, sending continues with the window that
     * the timeouts left. 0 to 255 timeouts; 0, the default: never. */
    uint8_t outage_after;
    /* End the connection when nothing of what was sent has been acknowledged for this long. The
     * time of an outage does not count. It does not end a connection of whose data nothing was
     * sent because the device takes no packets (SCPS_ERR_AGAIN of scps_netif_ops.send):
     * scps_stack_remove_netif() does. In µs; 0, the default: data_retries alone decides; RFC
     * 5482. */
    scps_dur user_timeout;
    /* Probe a silent peer while no data is outstanding, and end the connection when it does not
     * answer. A receiver cannot detect in any other way that its sender has gone. user_timeout ends
     * the connection, too. Default false; RFC 9293 section 3.8.4. */
    bool keepalive;
    /* Silence before the first keep-alive probe. In µs; default 2 h; RFC 9293 section 3.8.4. */
    scps_dur keep_idle;
    /* Time between keep-alive probes. In µs; default 75 s. */
    scps_dur keep_interval;
    /* Unanswered keep-alive probes that end the connection. 1 to 65535 probes; default 9; RFC 9293
     * section 3.8.4. */
    uint16_t keep_count;
    /* end of the lines that tools/settings writes */
};

/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the defaults
 * for plain TCP over the Internet and the controller "vj". */
SCPS_API void scps_conn_config_init(struct scps_conn_config *cfg, size_t size);
/* Returns the defaults that scps_conn_config_init() fills in; the comment of each field gives its
 * value. */
static inline struct scps_conn_config scps_conn_config_default(void)
{
    struct scps_conn_config c;

    scps_conn_config_init(&c, sizeof c);
    return c;
}
/* Sets the congestion controller cc with its parameters: param has one value for each of
 * cc->params, in that order; NULL: the defaults of cc. */
SCPS_API void scps_conn_config_set_cc(struct scps_conn_config *cfg, const struct scps_cc_ops *cc,
                                      const int64_t *param);
/* Sets the congestion controller and its parameters from a text "name[,key=value...]". Returns 0,
 * or an error of scps_cc_parse() with one line in msg, and cfg is then unchanged. */
SCPS_API int scps_conn_config_parse_cc(struct scps_conn_config *cfg, const char *text, char *msg,
                                       size_t msglen);

/* Checks whether a connection or a listener would be refused for its configuration alone. Returns 0
 * and makes msg empty; otherwise returns SCPS_ERR_RANGE or SCPS_ERR_INVAL, and one line of at most
 * msglen - 1 characters in msg names the field: "sndbuf: 12: give 256 to 1073741824". msg may be
 * NULL. */
SCPS_API int scps_conn_config_check(const struct scps_conn_config *cfg, char *msg, size_t msglen);

/* Starts an active open to remote. cfg NULL: the defaults. local NULL, or with family or port 0:
 * the stack chooses the address or the port of this end. Returns NULL and sets *err (may be NULL):
 * SCPS_ERR_BADADDR (remote is unspecified, multicast, broadcast or reserved: RFC 9293 section
 * 3.9.1.1), SCPS_ERR_UNREACH (no route), SCPS_ERR_ADDRNOTAVAIL, ADDRINUSE, NORATE (the controller
 * needs cfg->rate), INVAL, RANGE, NOMEM or LIMIT. The event SCPS_EV_CONNECTED or SCPS_EV_ERROR
 * reports how the handshake ended; its time limit (syn_retries) begins when the device takes the
 * SYN. There is no loopback: a SYN to an address of this host leaves through the netif, too. */
SCPS_API struct scps_conn *scps_connect(struct scps_stack *st, const struct scps_conn_config *cfg,
                                        const struct scps_endpoint *local,
                                        const struct scps_endpoint *remote, int *err);
/* Listens on local (family 0: every address of both families; family 4 or 6 with an address of
 * zeros: every address of that family). backlog: connections established and not yet accepted, at
 * least 1. Port 0 is SCPS_ERR_INVAL, since no port is chosen for a listener. The other errors are
 * those of scps_connect(). */
SCPS_API struct scps_listener *scps_listen(struct scps_stack *st,
                                           const struct scps_conn_config *cfg,
                                           const struct scps_endpoint *local, unsigned backlog,
                                           int *err);
/* Returns the connection that has been established for longest and was not accepted yet. The
 * application then owns it. NULL: there is none. */
SCPS_API struct scps_conn *scps_accept(struct scps_listener *l);
/* Closes a listener; half-open and unaccepted connections are reset. */
SCPS_API void scps_listener_close(struct scps_listener *l);
/* Changes the configuration or the backlog of a listener for later connections; cfg NULL or backlog
 * 0: unchanged. Returns 0, SCPS_ERR_INVAL, RANGE, NORATE or NOMEM. */
SCPS_API int scps_listener_set(struct scps_listener *l, const struct scps_conn_config *cfg,
                               unsigned backlog);
/* Returns how many established connections wait to be accepted by scps_accept(). */
SCPS_API unsigned scps_listener_pending(const struct scps_listener *l);
/* Sets the pointer that every later event of the listener has as scps_event.user. The stack does
 * not use it. NULL at the beginning. */
SCPS_API void scps_listener_set_user(struct scps_listener *l, void *user);
/* Returns the pointer that scps_listener_set_user() has set. */
SCPS_API void *scps_listener_user(const struct scps_listener *l);
/* Copies the address and the port on which the listener accepts connections to *out. An address of
 * family 0: all of them. */
SCPS_API void scps_listener_local(const struct scps_listener *l, struct scps_endpoint *out);

/* flag of scps_conn_write(): more data follows, so a last segment that is not full waits for it */
#define SCPS_MORE 1u
/* flag of scps_conn_read() and scps_conn_hole(): what the call returns (bytes, or the hole: a range
 * of bytes that best effort gave up) is not consumed, and the next call returns it again */
#define SCPS_PEEK 2u
/* flag of scps_conn_write(): the last of these bytes ends a record (SCPS-TP, option 22) */
#define SCPS_EOR 4u

/* Copies up to len bytes into the send buffer. Returns how many, at least 1; fewer than len if
 * there is no room or no memory for the rest. Otherwise returns SCPS_ERR_AGAIN (no room:
 * SCPS_EV_WRITABLE will come), SCPS_ERR_NOMEM (the allocator refused: SCPS_EV_WRITABLE will come
 * when acknowledgements have made room, or after 100 ms at the latest), SCPS_ERR_PIPE after
 * scps_conn_shutdown(), SCPS_ERR_NOTCONN before the handshake has begun, or the error that ended
 * the connection. buf NULL: zeros are written; a hollow connection (scps_conn_config.hollow) counts
 * its bytes without storing them. With SCPS_EOR, a write of fewer than len bytes ends no record:
 * write the rest with SCPS_EOR, too. A write of no bytes ends no record. SCPS_ERR_INVAL for
 * SCPS_EOR if scps_conn_config.records is false. */
SCPS_API int64_t scps_conn_write(struct scps_conn *c, const void *buf, size_t len, unsigned flags);
/* Writes the n pieces of v in order, as scps_conn_write() would write them in one piece; flags
 * apply to the last. Returns the number of bytes written, or an error, as scps_conn_write();
 * SCPS_ERR_INVAL, too, if the first piece is longer than INT64_MAX. */
SCPS_API int64_t scps_conn_writev(struct scps_conn *c, const struct scps_iovec *v, size_t n,
                                  unsigned flags);
/* Writes without a copy: reserves contiguous room for at most len bytes in the send buffer itself.
 * Returns how many, from 1 to len, and sets *at to their place; 0 if len is 0; otherwise an error
 * of scps_conn_write(), with *at unchanged. The buffer is a ring, so the contiguous room may be
 * smaller than what could be written: fill it, commit it and reserve again. The room is valid until
 * the next call on this connection or its stack, which may be scps_conn_commit(). SCPS_ERR_INVAL on
 * a connection with scps_conn_config.hollow, whose payload is counted, but not stored: call
 * scps_conn_write() with buf NULL instead. */
SCPS_API int64_t scps_conn_reserve(struct scps_conn *c, size_t len, uint8_t **at);
/* Writes the first len of the reserved bytes, which the caller has filled in, and gives back the
 * rest of the room. flags as for scps_conn_write(); SCPS_EOR ends a record with the last of the len
 * bytes. Returns len. On an error of scps_conn_write() nothing was written, and the room has to be
 * reserved again; SCPS_ERR_INVAL, too, if less than len is reserved. len 0 gives back all of the
 * room. */
SCPS_API int64_t scps_conn_commit(struct scps_conn *c, size_t len, unsigned flags);
/* Copies up to len bytes into buf; NULL: they are skipped. Returns how many; 0 at the end of the
 * stream (then scps_conn_eof() returns true), and for a len of 0 where there is something to read;
 * SCPS_ERR_AGAIN when there is nothing yet; or the error that ended the connection once everything
 * before it was read. A read stops at the end of a record (scps_conn_record()), and the next read
 * continues there. SCPS_ERR_HOLE: the next byte is missing, because best effort gave it up;
 * scps_conn_hole() skips the missing bytes. */
SCPS_API int64_t scps_conn_read(struct scps_conn *c, void *buf, size_t len, unsigned flags);
/* Reads without a copy: returns the longest contiguous run of readable bytes, valid until the next
 * call on this connection or the stack, and its length in *len; NULL and 0 if there is none. Then
 * consume it, whole or in part, with scps_conn_read(c, NULL, n, 0). Always NULL and 0 on a
 * connection with scps_conn_config.hollow, whose payload is counted, but not stored: use
 * scps_conn_read(). */
SCPS_API const uint8_t *scps_conn_data(struct scps_conn *c, size_t *len);
/* Flags that scps_conn_record() returns about the byte read last; both may be set. SCPS_RECORD_END:
 * the byte ended a record. SCPS_RECORD_TORN: best effort gave up bytes of the record to which the
 * byte belongs, or directly before that record. In the second case the missing bytes may have
 * contained the ends of earlier records. */
#define SCPS_RECORD_END  1u
#define SCPS_RECORD_TORN 2u
/* Returns the flags of the byte read last, or 0. The end of the stream ends the last record without
 * SCPS_RECORD_END. */
SCPS_API unsigned scps_conn_record(const struct scps_conn *c);
/* Returns true if the readable bytes, whose number scps_conn_readable() returns, end at the end of
 * a record or at a hole. Then further arrivals do not increase that number until the application
 * has read these bytes. */
SCPS_API bool scps_conn_stops(const struct scps_conn *c);
struct scps_hole { /* a range of bytes of the stream that best effort gave up */
    /* position of the first missing byte: the number of bytes of the stream before it, earlier
     * missing bytes included */
    uint64_t at;
    uint64_t len;
};
/* Best effort: if the next byte to read is missing, describes the hole in *out and returns 1, and
 * the next read continues behind the hole (with SCPS_PEEK: does not); else returns 0. Until this
 * call, reads return SCPS_ERR_HOLE, and bytes that arrive late still fill the hole. */
SCPS_API int scps_conn_hole(struct scps_conn *c, struct scps_hole *out, unsigned flags);
/* Best effort: returns how many ranges of the written data have been given up, adjacent ones
 * joined, and writes the first max of them, in order, to out. Only the first 4096 are listed;
 * scps_info.bytes_given_up is the sum of all. The data of such a range may have arrived
 * nevertheless. */
SCPS_API size_t scps_conn_given_up(const struct scps_conn *c, struct scps_hole *out, size_t max);
/* on true: the application will write more data, so a last segment that is not full waits for it
 * (Linux TCP_CORK). on false: that segment may be sent. */
SCPS_API void scps_conn_cork(struct scps_conn *c, bool on);
/* on true: switches Nagle's algorithm off (RFC 9293 section 3.7.4; Linux TCP_NODELAY), and a
 * segment that waits for more data after SCPS_MORE is sent. on false: switches it on. */
SCPS_API void scps_conn_nodelay(struct scps_conn *c, bool on);
/* Sends a FIN after all data that was written; reading continues. Returns 0, or SCPS_ERR_NOTCONN.
 * While there is no memory for the FIN, it waits. */
SCPS_API int scps_conn_shutdown(struct scps_conn *c);
/* Closes the connection; the handle c is invalid on return. A FIN follows the data written;
 * everything after that, TIME-WAIT included, happens in the background. If received data was not
 * read, a reset is sent instead (RFC 9293 section 3.6.1). */
SCPS_API void scps_conn_close(struct scps_conn *c);
/* Aborts the connection: a reset is sent to the peer. The handle c is invalid on return. */
SCPS_API void scps_conn_abort(struct scps_conn *c);

/* The next functions return single facts about a connection; scps_conn_info() returns all of
 * them. */
SCPS_API enum scps_state scps_conn_state(const struct scps_conn *c);
/* Returns the SCPS_ERR_* that ended the connection, else 0. */
SCPS_API int scps_conn_error(const struct scps_conn *c);
/* Returns the newest ICMP error about this connection since its peer last acknowledged new data, as
 * type << 8 | code of its IP version; 0: none. It tells the reasons for SCPS_ERR_UNREACH, REFUSED
 * or TIMEDOUT of scps_conn_error() apart (RFC 1122 section 4.2.3.9). */
SCPS_API unsigned scps_conn_icmp(const struct scps_conn *c);
/* Returns the id of the connection, which is unique in its stack and never 0. */
SCPS_API uint32_t scps_conn_id(const struct scps_conn *c);
/* Returns the number of bytes that a read would return now. */
SCPS_API size_t scps_conn_readable(const struct scps_conn *c);
/* Returns the number of bytes that a write would accept now. */
SCPS_API size_t scps_conn_writable(const struct scps_conn *c);
/* Returns the number of bytes written and never sent. */
SCPS_API uint64_t scps_conn_unsent(const struct scps_conn *c);
/* Returns the number of bytes written and not acknowledged. */
SCPS_API uint64_t scps_conn_unacked(const struct scps_conn *c);
/* Returns true when the peer's FIN has arrived and all data before it has been read. */
SCPS_API bool scps_conn_eof(const struct scps_conn *c);
/* Copies the connection's own address and port to *out. */
SCPS_API void scps_conn_local(const struct scps_conn *c, struct scps_endpoint *out);
/* Copies the peer's address and port to *out. */
SCPS_API void scps_conn_remote(const struct scps_conn *c, struct scps_endpoint *out);
/* Owner of a connection that scps_stack_next_conn() returns. */
enum scps_owner {
    SCPS_OWNER_APPLICATION, /* the application opened or accepted it and may call all functions */
    /* the handshake is complete and scps_accept() did not return it yet: only const functions may
     * be called */
    SCPS_OWNER_LISTENER,
    /* the application has closed or aborted it, and it continues in the background: only const
     * functions and scps_conn_abort(), which ends it at once, may be called */
    SCPS_OWNER_NOBODY
};
/* Returns who holds connection c, and so which functions may be called on it: the application, a
 * listener until scps_accept() returns c, or nobody after scps_conn_close() or
 * scps_conn_abort(). */
SCPS_API enum scps_owner scps_conn_owner(const struct scps_conn *c);
/* Sets the pointer that every later event of the connection has as scps_event.user. The stack does
 * not use it. NULL at the beginning. */
SCPS_API void scps_conn_set_user(struct scps_conn *c, void *user);
/* Returns the pointer that scps_conn_set_user() has set. */
SCPS_API void *scps_conn_user(const struct scps_conn *c);
/* Returns the stack of a connection. */
SCPS_API struct scps_stack *scps_conn_stack(const struct scps_conn *c);
/* Copies the configuration in force to *out; size is sizeof *out in the calling program. A field
 * that the application left 0 to get a default has the value of that default in *out. */
SCPS_API void scps_conn_get_config_sized(const struct scps_conn *c, struct scps_conn_config *out,
                                         size_t size);
static inline void scps_conn_get_config(const struct scps_conn *c, struct scps_conn_config *out)
{
    scps_conn_get_config_sized(c, out, sizeof *out);
}
/* Replaces the fields of the configuration that can change on an open connection: rate, burst,
 * pacing, nodelay, ack_mode, ack_delay, ack_budget, timers, limits, keepalive, tos, ttl, sndbuf, a
 * larger rcvbuf, loss_cause, records. Fields that the SYN depends on keep their value, whatever cfg
 * says: cc and its parameters, hollow, first_window, mss, sack, timestamps, wscale, ecn, snack,
 * snack_long, snack_raw_unit, compress, comp_proto, bets, bets_legacy, binding. rcvbuf is no larger
 * than the window scale allows. scps_conn_get_config() returns what is in force. A timer that runs
 * expires no later than if it were set now; a longer time applies when the timer is set next. A
 * larger sndbuf is room for a writer that waits (SCPS_EV_WRITABLE), a larger rcvbuf is announced to
 * a peer whose window is closed, and outage_after 0 ends an outage that this end has inferred.
 * Returns 0, or SCPS_ERR_INVAL, RANGE, NORATE or NOMEM, and then nothing has changed. */
SCPS_API int scps_conn_set_config(struct scps_conn *c, const struct scps_conn_config *cfg);

/* Copies state and counters to *out; size is sizeof *out in the calling program. */
SCPS_API void scps_conn_info_sized(const struct scps_conn *c, struct scps_info *out, size_t size);
static inline void scps_conn_info(const struct scps_conn *c, struct scps_info *out)
{
    scps_conn_info_sized(c, out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
