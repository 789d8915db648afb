/* SPDX-License-Identifier: MIT */
/* Connections: open, write, read, close, and what is known of them.
 *
 * A connection lives until its owner calls scps_conn_close or scps_conn_abort, whatever the peer does.
 * After that the handle is invalid; a graceful close goes on in the background.
 */
#ifndef SCPS_CONN_H
#define SCPS_CONN_H

#include <scps/binding.h>
#include <scps/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When the receiver acknowledges (spec of SCPS-TP: F0, F1, F2). */
enum scps_ack_mode {
    SCPS_ACK_DELAYED, /* F0: only when the delayed-ACK timer expires */
    SCPS_ACK_EVERY,   /* F1: every segment */
    SCPS_ACK_OTHER /* F2: every other segment (more than one full one), or when the timer expires */
};

/* What declares a segment lost, besides SNACK and the retransmission timer. */
enum scps_recovery_mode {
    SCPS_RECOVERY_CLASSIC, /* dupthresh acknowledgements after it: RFC 5681, RFC 6582, RFC 6675 */
    SCPS_RECOVERY_RACK     /* the time since it was sent, and tail probes: RFC 8985; needs SACK */
};

SCPS_API const char *scps_recovery_name(enum scps_recovery_mode m); /* "classic", "rack" */

/* Start from scps_conn_config_default(). Every duration that is 0 is derived from expected_rtt. */
struct scps_conn_config {
    /* congestion control and rate */
    /* Set with scps_conn_config_set_cc or _parse_cc. Default "vj". Set alone, it has its own defaults. */
    const struct scps_cc_ops *cc;
    /* The controller whose parameters cc_param holds. Another one than cc: cc_param is not looked at. */
    const struct scps_cc_ops *cc_param_of;
    int64_t cc_param[SCPS_CC_PARAMS];
    /* Bytes/s on the wire, the IP header and rate_overhead counted; 0: limited by the route alone (stack.h) */
    uint64_t rate;
    uint32_t rate_overhead; /* bytes a packet counted beyond its IP length (framing); default 0 */
    uint32_t burst;         /* token bucket, bytes; 0: 4 MTU */
    /* Spread a window-based sender's window over srtt. Default false, but always on with SCPS_ACK_DELAYED, where bursts
     * would be whole windows. */
    bool pacing;
    uint32_t init_cwnd_segs; /* initial window, segments; 0: RFC 6928 (10, at most 14600 bytes) */
    /* buffers: the limits; memory is taken as it is used */
    uint32_t sndbuf, rcvbuf; /* bytes; default 1 MiB each; at most 1 GiB */
    /* A SYN cannot offer more than 65535 bytes. When the peer's did and gave a scale, take its window for this until
     * the first scaled one is heard, and accept from it what our own buffer holds: saves a round trip where the
     * operator has configured both ends alike. 0 (default): as the SYN says. */
    uint32_t first_window;
    bool hollow; /* bytes are counted, not kept: written from NULL, read as zeros */
    /* segments */
    uint16_t mss;     /* largest segment to send and to announce; 0: from the MTU */
    uint8_t ttl, tos; /* default 64, 0 */
    bool df_off;      /* true: no path-MTU discovery, the DF bit stays clear */
    /* options to offer and accept; all default true */
    bool sack, dsack, timestamps, wscale;
    bool ecn; /* default false */
    /* SCPS-TP capabilities (option 20) to offer and accept; all default false: plain TCP */
    bool snack;      /* selective negative acknowledgements (option 21) */
    bool snack_long; /* their long form, with a bit vector; only with snack */
    /* Count a SNACK's blocks in the bare MSS, instead of the MSS less the 12 octets of timestamps (spec sheet 2.1) */
    bool snack_raw_unit;
    /* How long a resend waits after a SNACK, in case the segments were only reordered; default 0 */
    scps_dur snack_delay;
    /* Tell the peer of damaged segments (option 23) if it knows SCPS options; default true */
    bool corruption;
    /* How long after the peer told of damage losses count as corruption; 0: 2 retransmission timeouts */
    scps_dur corruption_hold;
    bool compress; /* headers as IP protocol 105 (spec sheet section 8) */
    /* The protocol number in the pseudo-header of the checksum of compressed segments: 105 (default), or 6 or 106,
     * which the reference implementation sends. On arrival it is expected, too; where the peer's first good segment has
     * another of the three, that one. Later segments with any other number are dropped as SCPS_DROP_BAD_CHECKSUM */
    uint8_t comp_proto;
    /* How many SYNs carry the capabilities before one goes without them; a SYN answered with a reset is followed by
     * one without at once. Default 3; 0: they are never left out */
    uint8_t caps_tries;
    /* Best effort (BETS), offered and accepted; default false. What does not arrive is given up in the end: reading is
     * told of the hole (scps_conn_hole), writing of the range (scps_conn_given_up). */
    bool bets;
    /* Offer it also by the option that came before capabilities (kind 16); default false */
    bool bets_legacy;
    /* A hole that holds the reader up is given up after this time; 0: 1.05 s, or 2 round trips if that is longer */
    scps_dur bets_timeout;
    /* A segment that was resent this often and lost again is given up; default 32; 1 to 254 */
    uint8_t bets_retries;
    /* So is everything that was sent this long ago or earlier, if nothing of it has been acknowledged
     * meanwhile; 0 (default): never */
    scps_dur bets_lifetime;
    /* Record boundaries (option 22): SCPS_EOR sends them, and those that arrive are heeded. They are not negotiated: a peer
     * that does not know them reads plain TCP. Default false: those that arrive mean nothing. */
    bool records;
    /* Extended capabilities, offered behind the others and answered with what is in common; len 0 (default): none. A
     * SYN has room for 12 octets of data in one space beside timestamps and the rest; what does not fit is left out whole. */
    struct scps_binding binding[SCPS_BINDINGS];
    /* sending */
    bool nodelay;                     /* Nagle off; default false */
    bool limited_transmit;            /* RFC 3042; default true */
    bool spurious_undo;               /* F-RTO, timestamp and DSACK undo; default true */
    enum scps_recovery_mode recovery; /* default classic */
    uint8_t dupthresh;                /* duplicate acknowledgements that mean loss; default 3 */
    enum scps_loss_cause loss_cause;  /* what an unexplained loss means; default congestion */
    /* acknowledging */
    enum scps_ack_mode ack_mode; /* default SCPS_ACK_OTHER */
    /* With SCPS_ACK_DELAYED: while something is missing, acknowledge as SCPS_ACK_OTHER does. Default false: only
     * when the timer expires (spec sheet 2.3, 5.1) */
    bool holes_at_once;
    scps_dur ack_delay; /* delayed-ACK timer; 0: 200 ms, or expected_rtt when that is smaller */
    /* With SCPS_ACK_OTHER: this many segments from the first are acknowledged one by one, which helps a peer that
     * counts acknowledgements through slow start; default 0 */
    uint16_t quick_acks;
    /* For a thin return link: an upper limit for bare acknowledgements, whatever the mode. Each then reports more. */
    uint32_t ack_budget_pps; /* packets/s; 0 (default): no limit */
    uint64_t ack_budget; /* bytes/s, IP header and rate_overhead counted; 0 (default): no limit */
    /* timers */
    scps_dur expected_rtt; /* hint, 10 µs to hours; 0: the route's, else none (RFC 6298's 1 s) */
    scps_dur rto_initial;  /* 0: 1 s, or expected_rtt + rto_min when that is given */
    /* The least margin above srtt; 0: 200 ms, or expected_rtt/4 + ack_delay when expected_rtt is given */
    scps_dur rto_min;
    /* 0: 60 s, or 8 x expected_rtt when that is larger; never less than 2 x srtt, up to an hour */
    scps_dur rto_max;
    scps_dur persist_max; /* longest time between window probes; 0: rto_max */
    scps_dur time_wait;   /* 2 MSL; 0: 60 s, or 4 x expected_rtt when that is larger */
    /* How long a closed connection waits for the peer's FIN; 0: 60 s, or 8 x expected_rtt when that is larger */
    scps_dur fin_wait2;
    /* How long a silent peer is waited for before SCPS_ERR_TIMEDOUT (RFC 9293 section 3.8.3, R2): the time that so many
     * timeouts would take if each were twice as long as the one before, up to rto_max (window probes: persist_max), and
     * the one after them. Timeouts that corruption explains do not back off, so there may be more of them. Defaults 7
     * and 15. data_retries: never less than 100 s; user_timeout may be. syn_retries: the first timeout counts as 1 s and
     * rto_max as 60 s at least, so 7 are three minutes or more, for a SYN-ACK, too, after the peer's last SYN. */
    uint16_t syn_retries, data_retries;
    /* After this many timeouts in a row the link is taken to be out: it is probed, and the connection does not end
     * (spec sheet 3.5); 0 (default): never */
    uint8_t outage_after;
    /* RFC 5482: the connection ends when data stays unacknowledged this long; 0: retries alone decide */
    scps_dur user_timeout;
    bool keepalive;                    /* default false */
    scps_dur keep_idle, keep_interval; /* default 2 h and 75 s */
    uint16_t keep_count;               /* default 9 */
};

/* What a plain TCP over the Internet wants, with "vj"; the fields above say which value each has. */
SCPS_API struct scps_conn_config scps_conn_config_default(void);
/* The controller and its parameters, one value for each of cc->params; param NULL: its defaults. */
SCPS_API void scps_conn_config_set_cc(struct scps_conn_config *cfg, const struct scps_cc_ops *cc,
                                      const int64_t *param);
/* The same from "name[,key=value...]"; errors and msg as those of scps_cc_parse, then cfg is as it was. */
SCPS_API int scps_conn_config_parse_cc(struct scps_conn_config *cfg, const char *text, char *msg,
                                       size_t msglen);

/* Starts an active open. cfg NULL: defaults. local NULL, or with family or port 0: chosen here. Returns
 * NULL and sets *err (may be NULL): SCPS_ERR_UNREACH, ADDRNOTAVAIL, ADDRINUSE, NORATE, INVAL, NOMEM,
 * LIMIT. SCPS_EV_CONNECTED or SCPS_EV_ERROR tells how it went. */
SCPS_API struct scps_conn *scps_connect(struct scps_stack *st, const struct scps_conn_config *cfg,
                                        const struct scps_endpoint *local,
                                        const struct scps_endpoint *remote, int *err);
/* Listens on local (family 0: every address of both families; family 4 or 6 with an address of zeros: every
 * address of that family). backlog: connections established and not yet accepted, at least 1. Errors as
 * above. */
SCPS_API struct scps_listener *scps_listen(struct scps_stack *st,
                                           const struct scps_conn_config *cfg,
                                           const struct scps_endpoint *local, unsigned backlog,
                                           int *err);
/* The oldest established connection nobody has taken; NULL if none. */
SCPS_API struct scps_conn *scps_accept(struct scps_listener *l);
/* Half-open and unaccepted connections are reset. */
SCPS_API void scps_listener_close(struct scps_listener *l);
/* For connections from now on; cfg NULL or backlog 0: that stays as it is. 0, INVAL, NORATE, NOMEM. */
SCPS_API int scps_listener_set(struct scps_listener *l, const struct scps_conn_config *cfg,
                               unsigned backlog);
/* How many connections scps_accept would give now, one after the other. */
SCPS_API unsigned scps_listener_pending(const struct scps_listener *l);
SCPS_API void scps_listener_set_user(struct scps_listener *l, void *user);
SCPS_API void *scps_listener_user(const struct scps_listener *l);
SCPS_API void scps_listener_local(const struct scps_listener *l, struct scps_endpoint *out);

#define SCPS_MORE 1u /* write: more is to come, do not send a small segment yet */
#define SCPS_PEEK 2u /* read: leave the bytes where they are */
#define SCPS_EOR  4u /* write: the last of these bytes ends a record */

/* Copies up to len bytes into the send buffer. Returns how many, at least 1, or SCPS_ERR_AGAIN (an
 * SCPS_EV_WRITABLE will come), SCPS_ERR_NOMEM (the allocator refused; an SCPS_EV_WRITABLE will come when acknowledgements
 * have made room, after 100 ms at the latest: try again then), SCPS_ERR_PIPE after shutdown, NOTCONN before the handshake
 * has begun, or the error that ended the connection. Memory for less than len makes a short write. buf NULL: zeros, which a hollow connection does not even store.
 * With SCPS_EOR a short write marks nothing: write the rest with SCPS_EOR, too. Without bytes there is no record.
 * SCPS_ERR_INVAL if the configuration has no records. */
SCPS_API int64_t scps_conn_write(struct scps_conn *c, const void *buf, size_t len, unsigned flags);
/* Copies up to len bytes out. Returns how many; 0 at the end of the stream; SCPS_ERR_AGAIN when there is
 * nothing yet; or the error that ended the connection once everything before it was read. A read ends where a
 * record does (scps_conn_record); what it leaves of one is for the next. SCPS_ERR_HOLE: see scps_conn_hole.
 * buf NULL: the bytes are skipped. */
SCPS_API int64_t scps_conn_read(struct scps_conn *c, void *buf, size_t len, unsigned flags);
/* Zero-copy reading: the longest contiguous run of readable bytes, NULL and *len 0 if none; valid until
 * the next call on this connection or the stack. Then consume it, whole or in part, with
 * scps_conn_read(c, NULL, n, 0). A hollow connection has NULL here: use read. */
SCPS_API const uint8_t *scps_conn_data(struct scps_conn *c, size_t *len);
#define SCPS_RECORD_END 1u /* the byte last read ended a record */
#define SCPS_RECORD_TORN                                                                           \
    2u /* bytes of this record are missing, and perhaps ends of records before it */
/* Where the last read stopped: 0 or SCPS_RECORD_*. The end of the stream ends the last record without a word. */
SCPS_API unsigned scps_conn_record(const struct scps_conn *c);
/* True: a read cannot give more than scps_conn_readable says now, however long one waits, since a record ends there or a hole
 * begins. */
SCPS_API bool scps_conn_stops(const struct scps_conn *c);
struct scps_hole { /* bytes of the stream that are missing */
    uint64_t at;   /* how many come before them in the stream, the missing ones counted */
    uint64_t len;
};
/* Best effort: returns 1 when the reader stands at a hole, describes it in *out and steps over it (with SCPS_PEEK: stays before
 * it); else 0. Before that, reads return SCPS_ERR_HOLE, and bytes that arrive after all still fill the hole. */
SCPS_API int scps_conn_hole(struct scps_conn *c, struct scps_hole *out, unsigned flags);
/* Best effort: how many ranges of what was written have been given up, neighbours joined; the first max of them, in
 * order, in out. No more than 4096 are listed; scps_info has the sum of all. A range may have arrived all the same. */
SCPS_API size_t scps_conn_given_up(const struct scps_conn *c, struct scps_hole *out, size_t max);
/* on: more data is coming, so a last segment that is not full waits; off: it may go. */
SCPS_API void scps_conn_cork(struct scps_conn *c, bool on);
SCPS_API void scps_conn_nodelay(struct scps_conn *c, bool on);
/* FIN after what was written; reading goes on. 0, or SCPS_ERR_NOTCONN. Without memory the FIN waits for some. */
SCPS_API int scps_conn_shutdown(struct scps_conn *c);
/* Gives the connection up: a FIN follows what was written, then TIME-WAIT and the end happen in the background. With received
 * data unread it resets instead (RFC 9293 section 3.6.1). c is gone on return. */
SCPS_API void scps_conn_close(struct scps_conn *c);
/* Gives the connection up with a reset. c is gone on return. */
SCPS_API void scps_conn_abort(struct scps_conn *c);

/* RFC 9293 section 3.3.2, in Linux's numbering. */
enum scps_state {
    SCPS_ESTABLISHED = 1,
    SCPS_SYN_SENT,
    SCPS_SYN_RECEIVED,
    SCPS_FIN_WAIT_1,
    SCPS_FIN_WAIT_2,
    SCPS_TIME_WAIT,
    SCPS_CLOSED,
    SCPS_CLOSE_WAIT,
    SCPS_LAST_ACK,
    SCPS_LISTEN,
    SCPS_CLOSING
};
SCPS_API const char *scps_state_name(enum scps_state s); /* "ESTABLISHED", "TIME-WAIT" */

/* Single facts about a connection; scps_conn_info tells all of them. */
SCPS_API enum scps_state scps_conn_state(const struct scps_conn *c);
SCPS_API int scps_conn_error(const struct scps_conn *c); /* SCPS_ERR_* that ended it, else 0 */
/* The newest ICMP error heard about this connection since its peer last acknowledged something new: type << 8 |
 * code, of its IP version; 0: none. Tells what scps_conn_error's SCPS_ERR_UNREACH, REFUSED or TIMEDOUT leave open
 * (RFC 1122 section 4.2.3.9). */
SCPS_API unsigned scps_conn_icmp(const struct scps_conn *c);
SCPS_API uint32_t scps_conn_id(const struct scps_conn *c);      /* unique in its stack, never 0 */
SCPS_API size_t scps_conn_readable(const struct scps_conn *c);  /* bytes a read would give now */
SCPS_API size_t scps_conn_writable(const struct scps_conn *c);  /* bytes a write would take now */
SCPS_API uint64_t scps_conn_unsent(const struct scps_conn *c);  /* written, not sent once */
SCPS_API uint64_t scps_conn_unacked(const struct scps_conn *c); /* written, not acknowledged */
SCPS_API bool scps_conn_eof(const struct scps_conn *c); /* the peer's FIN is here and all is read */
SCPS_API void scps_conn_local(const struct scps_conn *c, struct scps_endpoint *out);
SCPS_API void scps_conn_remote(const struct scps_conn *c, struct scps_endpoint *out);
SCPS_API void scps_conn_set_user(struct scps_conn *c, void *user);
SCPS_API void *scps_conn_user(const struct scps_conn *c);
SCPS_API struct scps_stack *scps_conn_stack(const struct scps_conn *c);
/* A copy of the configuration in force. */
SCPS_API void scps_conn_get_config(const struct scps_conn *c, struct scps_conn_config *out);
/* Replaces what can change in mid-flight: rate, burst, pacing, nodelay, ack_mode, ack_delay, ack_budget, timers, limits,
 * keepalive, tos, ttl, larger buffers, loss_cause. What the handshake settled stays. 0, INVAL, NOMEM. */
SCPS_API int scps_conn_set_config(struct scps_conn *c, const struct scps_conn_config *cfg);

/* What is known of a connection: Linux's tcp_info and more. Bytes are payload unless said otherwise. */
struct scps_info {
    enum scps_state state;
    /* agreed in the handshake */
    bool sack, timestamps, ecn;
    uint8_t caps_offered, caps_peer,
        caps;                        /* SCPS_CAP_* of <scps/wire.h>: ours, the peer's, in force */
    uint8_t why[SCPS_FEATURE_COUNT]; /* enum scps_why of each: in force, or why not */
    bool wscale;
    uint8_t snd_wscale, rcv_wscale;
    uint32_t snd_mss; /* payload of a full segment, options deducted */
    uint32_t rcv_mss; /* the largest segment seen from the peer */
    uint32_t adv_mss; /* announced in our SYN */
    uint32_t pmtu;    /* path MTU in force, bytes of IP packet */
    /* time, µs */
    scps_dur rto, srtt, rttvar, min_rtt, last_rtt;             /* 0 before the first sample */
    scps_time opened, established, first_sent, first_received; /* stack time; 0 not yet */
    scps_time last_sent, last_received, last_ack_received, fin_acked;
    uint32_t backoff; /* consecutive timeouts */
    /* congestion */
    uint64_t cwnd, ssthresh, rate, max_cwnd; /* bytes, bytes, bytes/s, largest cwnd so far */
    uint64_t inflight, sacked, lost;         /* bytes, as the scoreboard believes now */
    uint64_t delivery_rate;                  /* bytes/s, newest sample */
    bool in_recovery, app_limited;
    enum scps_hold hold;             /* why nothing is being sent now */
    scps_dur holds[SCPS_HOLD_COUNT]; /* time spent so since established */
    /* windows, bytes */
    uint64_t snd_wnd, rcv_wnd;    /* peer's window; ours as announced */
    uint64_t outstanding, unsent; /* sent unacknowledged; written unsent */
    uint64_t rcv_queued, rcv_ooo; /* readable; beyond a hole */
    uint32_t rcv_holes;
    /* counters */
    uint64_t segs_out, segs_in, data_segs_out, data_segs_in;
    uint64_t bytes_sent; /* resent ones included */
    uint64_t bytes_resent, bytes_acked, bytes_received /* in order */, bytes_duplicate;
    uint32_t resent_segs, timeouts, recoveries, spurious, dupacks_in, sacks_in, sacks_out,
        dsacks_in, dsacks_out;
    /* RFC 8985 */
    enum scps_recovery_mode recovery; /* in force */
    scps_dur reo_wnd;                 /* reordering window now */
    uint32_t tlp_probes;
    uint32_t snacks_in, snacks_out, acks_out /* pure */, acks_held /* for the budget */, probes_out,
        ooo_segs, reordered, paws_drops, challenges;
    uint32_t zero_windows_in, zero_windows_out, ecn_echoes;
    uint64_t records_out, records_in; /* boundaries written, and arrived */
    /* compressed headers: segments, and octets they are shorter than as TCP; the ids of either side, 0 none */
    uint64_t comp_out, comp_in, comp_saved_out, comp_saved_in;
    uint8_t comp_id, comp_peer_id;
    /* In force, where the configuration has them; len 0: not */
    struct scps_binding binding[SCPS_BINDINGS];
    uint32_t holes;           /* best effort, receiving: given up and not filled since */
    uint64_t bytes_missing;   /* in them; not in bytes_received */
    uint32_t ranges_given_up; /* best effort, sending: as scps_conn_given_up */
    uint64_t bytes_given_up;  /* in all of them; not in bytes_acked */
};
SCPS_API void scps_conn_info(const struct scps_conn *c, struct scps_info *out);

#ifdef __cplusplus
}
#endif
#endif
