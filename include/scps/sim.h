/* SPDX-License-Identifier: MIT */
/* libscps_sim: virtual time. It simulates hosts, each with its own stack, joined by links with
 * rate, delay, queue and errors.
 *
 * One seed, one history: two runs are bit for bit the same on every machine. Nothing here reads a
 * clock.
 */
#ifndef SCPS_SIM_H
#define SCPS_SIM_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the channel: one model, for virtual and for real time ----
 *
 *     offer ──> queue ──> line ──> propagation ──> arrival
 *               limit,    rate,    delay,
 *               CoDel     framing  jitter, reordering, a second copy
 *                         errors: outage, loss, ber, burst, vector
 *
 * A packet's fate is settled when its first bit goes onto the line (or when the queue refuses it),
 * at the settings of that moment: what waits feels every change, what is on the line or on the way
 * none.
 */

/* Framing of a link: what a frame takes on the line besides its IP packet, beyond config.overhead
 * (framing.c has the layouts). */
enum scps_framing {
    SCPS_FRAMING_NONE, /* overhead alone */
    /* RFC 1662 octet stuffing: flags, address, control, protocol, FCS-16, and an escape before each
     * 0x7d and 0x7e (ACCM 0): exact for bytes that are there, 2 in 256 for hollow ones */
    SCPS_FRAMING_PPP,
    /* HDLC bit stuffing: a zero after five ones: exact, and 1 bit in 62 of hollow bytes */
    SCPS_FRAMING_HDLC,
    SCPS_FRAMING_AAL5, /* LLC/SNAP and AAL5 trailer, padded to whole cells of 53 bytes (RFC 2684) */
    SCPS_FRAMING_AAL5_VC, /* AAL5, VC-multiplexed, without LLC/SNAP */
    /* encapsulation packets in 1115-byte AOS transfer frames (CCSDS 133.1-B, 732.0-B) */
    SCPS_FRAMING_AOS,
    SCPS_FRAMING_TM, /* encapsulation packets in 1115-byte TM transfer frames (CCSDS 132.0-B) */
    SCPS_FRAMING_COUNT
};
/* "none", "ppp", "hdlc", "aal5", "aal5-vc", "aos", "tm"; NULL beyond. */
SCPS_API const char *scps_framing_name(enum scps_framing f);

/* Bursts of errors (Gilbert 1960, Elliott 1963): a channel that is good or bad. While it is bad,
 * bits are hit at rate ber, beside config.ber which always holds. Either by time: good and bad are
 * the mean stays, exponential (to a microsecond), and only the bits sent in a bad stay are at risk;
 * or, with good and bad 0, by packet: before each packet on the line a good channel turns bad with
 * probability to_bad, a bad one good with to_good. It begins in its stationary distribution. */
struct scps_burst {
    scps_dur good, bad;
    double to_bad, to_good;
    double ber; /* 0: no bursts; 0.5 leaves no packet whole */
};

/* A table belongs to the caller and must stay valid as long as anything that was configured with
 * it. Its times count from time 0 of the simulated world or, for a channel without a world, of the
 * clock that its driver passes in. */
struct scps_step {
    scps_time at;
    uint64_t value;
};
/* A table of values over time. n 0: none. Times do not decrease; the first row's value holds before
 * it, the last row's behind it. */
struct scps_steps {
    const struct scps_step *v;
    uint32_t n;
    /* the table repeats after this time, which is above the last row's; 0: it does not repeat */
    scps_dur period;
};
struct scps_span {
    scps_time from, to; /* [from, to) */
};
struct scps_spans { /* time spans in order, which do not touch each other */
    const struct scps_span *v;
    uint32_t n;
    /* the spans repeat after this time, at least the end of the last; 0: they do not repeat */
    scps_dur period;
    bool inverse; /* the spans are contacts; all other times are outages */
};

/* One direction of a link. All zero: infinitely fast, no delay, no loss, no queue limit. */
struct scps_link_config {
    uint64_t rate_bps;    /* line rate, bit/s (10^3 based); 0: infinite */
    scps_dur delay;       /* propagation, after the last bit left */
    uint64_t queue_bytes; /* waiting packets, IP bytes with framing; 0: no limit */
    /* Limit of waiting packets; 0: no limit. The packet on the line does not count */
    uint32_t queue_packets;
    uint32_t overhead; /* framing bytes a packet, paid on the line and at risk of bit errors */
    /* So many bytes at the head of each frame are never damaged (the published reports count 1064
     * of 1082 bytes) */
    uint32_t ber_exempt;
    double ber;  /* bit error rate: independent packet losses p = 1-(1-ber)^(8 n) */
    double loss; /* probability of losing a packet, whatever its size */
    /* probability of delivering a second copy; probability of holding a packet back by
     * reorder_delay */
    double dup, reorder;
    scps_dur reorder_delay; /* 0: the time of four such packets on the line, at least 1 ms */
    /* Bit errors flip bits and deliver, for checksums to catch. A packet whose framing or hollow
     * bytes are hit is still lost (dropped_ber). The same seed damages the same packets either
     * way. */
    bool flip;
    uint64_t seed; /* Seed of the random streams; each direction of each link draws its own */

    enum scps_framing framing;
    struct scps_burst burst;
    /* Error vector: a stretch of the channel's errors, a set bit is a hit, the high bit of a
     * byte first. The bytes at risk are XORed with it one after the other, and starts again at
     * its end. Lent. */
    const uint8_t *vector;
    size_t vector_len;
    scps_dur jitter; /* more delay, uniform from 0 to this; packets keep their order */
    scps_dur codel_target,
        /* CoDel (RFC 8289) on the queue, besides its limits; both 0: drop-tail */
        codel_interval;
    /* bit/s instead of rate_bps, from each row on; a rate of 0 stops the line */
    struct scps_steps rates;
    /* Replaces delay: µs, interpolated between rows; two rows with the same time make a step */
    struct scps_steps delays;
    /* Frames on the line during an outage are lost, even if only a part of them falls into it */
    struct scps_spans outages;
    bool hold; /* no frame starts during an outage, and the queue waits for its end */
};

/* Returns the bytes on the line of an IP packet of that size with unknown content: the mean,
 * rounded up. */
SCPS_API uint32_t scps_link_frame_bytes(const struct scps_link_config *c, uint32_t ip_bytes);

/* One direction. Conservation: offered + duplicated = delivered + all drops + in flight. */
struct scps_link_stats {
    uint64_t offered, offered_bytes, delivered, delivered_bytes; /* IP bytes */
    uint64_t dropped_queue, dropped_ber, dropped_loss, duplicated, reordered, flipped;
    uint64_t in_flight; /* packets waiting, on the line, or propagating */
    uint64_t max_queue_bytes;
    scps_dur busy; /* time the line was sending */
    uint64_t dropped_codel, dropped_outage, dropped_burst, dropped_vector;
};

enum scps_fate {
    SCPS_FATE_DELIVERED,
    SCPS_FATE_FLIPPED, /* delivered with bits flipped */
    SCPS_FATE_BER,     /* lost: bits were damaged */
    SCPS_FATE_LOSS,    /* lost at random, or for lack of memory */
    SCPS_FATE_QUEUE,   /* lost: no room in the queue */
    SCPS_FATE_CODEL,   /* lost: CoDel dropped it after too long a wait */
    SCPS_FATE_OUTAGE,  /* lost: the link was down */
    SCPS_FATE_BURST,   /* lost: bits were damaged in a burst */
    SCPS_FATE_VECTOR,  /* lost: bits were damaged by the error vector */
    SCPS_FATE_COUNT
};
/* "delivered", "flip", "ber", "loss", "queue", "codel", "outage", "burst", "vector". */
SCPS_API const char *scps_fate_name(enum scps_fate f);
/* Returns how many packets met this fate, one of those from SCPS_FATE_BER on, which lose packets; 0
 * for the others. */
SCPS_API uint64_t scps_link_dropped(const struct scps_link_stats *s, enum scps_fate f);

/* The ground truth about one packet, reported as soon as its fate is settled. Packets are settled
 * in the order in which they were offered, except those that a queue refuses. */
struct scps_verdict {
    uint64_t number;   /* number of the packet in its direction, from 1 */
    scps_time offered; /* time at which it was offered */
    scps_time left;    /* time at which its last bit left the line; SCPS_NEVER if it never did */
    scps_time arrival; /* arrival of the packet; SCPS_NEVER when it is lost */
    scps_time copy;    /* arrival of its second copy; SCPS_NEVER without one */
    enum scps_fate fate;
    bool reordered;             /* reordering held it back */
    const struct scps_pkt *pkt; /* the packet as offered, without flipped bits; lent for the call */
};
typedef void scps_verdict_fn(void *ctx, const struct scps_verdict *v);

/* The verdict as a line of the ground-truth log, with its newline, for a file that begins with the
 * header (docs/SCPS_TRACE.md; scps_trace --truth reads it). dir 0: a2b, 1: b2a; epoch is added to
 * all times. Returns its length. */
#define SCPS_TRUTH_HEADER                                                                          \
    "time_us,direction,packet_no,fate,cause,ip_len,src,dst,sport,dport,seq,payload,arrive_us,"     \
    "copies,reordered,proto\n"
#define SCPS_TRUTH_LINELEN 400
SCPS_API size_t scps_truth_line(const struct scps_verdict *v, int dir, scps_time epoch,
                                char buf[SCPS_TRUTH_LINELEN]);

/* The tables and files that a spec names, in memory; configurations point into it. */
struct scps_link_tables;
SCPS_API void scps_link_tables_free(struct scps_link_tables *t); /* NULL is fine */
/* Reads the file of a value "@NAME" for the parser, which itself does no I/O. */
struct scps_link_files {
    /* Returns the file's contents and their length; NULL with the reason in why. */
    char *(*read)(void *ctx, const char *name, size_t *len, char *why, size_t whylen);
    void (*done)(void *ctx, char *data); /* The contents are no longer needed. */
    void *ctx;
};

/* Reads "geo", "rate=100mbit,rtt=500ms,ber=1e-6" or "nasa500,ber=1e-6" into both directions (fwd: a
 * to b), seeds 0. A preset stands first; what is given neither there nor by a key is as in geo. The
 * keys are in scps_ttcp(1), "VIRTUAL LINK"; each but rtt and pass sets both directions, or with
 * -back behind it the return one alone. *tables gets what the configurations point into, NULL if
 * nothing; tables NULL: keys that need them are refused, files NULL: "@NAME" is. Returns 0;
 * SCPS_ERR_INVAL with one line in msg (may be NULL) that names the key or unit and the allowed
 * ones, and leaves fwd, back and *tables alone. */
SCPS_API int scps_link_parse_tables(const char *spec, const struct scps_link_files *files,
                                    struct scps_link_config *fwd, struct scps_link_config *back,
                                    struct scps_link_tables **tables, char *msg, size_t msglen);
/* Without tables. */
SCPS_API int scps_link_parse(const char *spec, struct scps_link_config *fwd,
                             struct scps_link_config *back, char *msg, size_t msglen);
/* Items such as "rate=2mbit,flip=off", cut by commas or blanks, upon one direction: no preset, no
 * rtt, no -back; what is not named stays. KEY=off takes a burst, codel, vector, outage, contact,
 * rates, delays, flip or hold away. *other is the opposite direction, whose delay counts for queues
 * in round trips. Otherwise as above; *own is left alone on errors. */
SCPS_API int scps_link_update(const char *items, const struct scps_link_files *files,
                              struct scps_link_config *own, const struct scps_link_config *other,
                              struct scps_link_tables **tables, char *msg, size_t msglen);
/* Writes the configuration in the words of a spec, separated by blanks; a table is given as its
 * number of rows. Returns buf. */
#define SCPS_LINK_TEXTLEN 512
SCPS_API char *scps_link_print(const struct scps_link_config *c, char buf[SCPS_LINK_TEXTLEN]);
/* Name and one-line help of preset i, e.g. "geo", "10 Mbit/s both ways, 560 ms round trip"; false
 * past the last. */
SCPS_API bool scps_link_preset(size_t i, const char **name, const char **help);
/* The physical limit: the mean goodput, bit/s of payload, of the best possible sender over this
 * channel. It opens with one round trip, never leaves the line idle, knows each segment's fate one
 * round trip after it left, resends what was lost first, and stops its clock when all is known to
 * have arrived. payload: bytes of data in a segment; headers: bytes of IP and TCP headers before
 * them; framing is fwd's. rate_bps: the sender's own rate on the line; 0: the line's. Feedback is
 * never lost. Outages, contacts and tables of rates count as they are, from time 0; a table of
 * delays counts with the least. Jitter, bursts and vectors are left out: what they take is below
 * this limit. Where segments are lost by chance the limit is a mean: one transfer may have more
 * luck. 0 when nothing limits it, or nothing ever arrives. */
SCPS_API double scps_link_limit(const struct scps_link_config *fwd,
                                const struct scps_link_config *back, uint64_t bytes,
                                uint32_t payload, uint32_t headers, uint64_t rate_bps);
/* The physical limit when at most window bytes may be sent beyond the lowest segment missing, as
 * a receive buffer of that size allows (0: no window), and the receiver acknowledges what has
 * arrived every ack_every (0: at once), as SCPS_ACK_DELAYED does. Exact without losses; with
 * them, unless nothing but the line limits, the mean of simulated transfers of that sender with
 * a fixed seed, within 1 %: some 100 ms of computing. Outages are left out, and tables count
 * with their best rate. 0 also when there is no memory for it. */
SCPS_API double scps_link_limit_window(const struct scps_link_config *fwd,
                                       const struct scps_link_config *back, uint64_t bytes,
                                       uint32_t payload, uint32_t headers, uint64_t rate_bps,
                                       uint64_t window, scps_dur ack_every);

/* One direction of a link by itself, for a driver that has a clock of its own: the world's model,
 * in real time. Packets are offered with the time and come out at their arrival times; now never
 * goes back:
 *
 *     scps_channel_offer(ch, now, pkt);               as each arrives
 *     while (scps_channel_peek(ch, now, &pkt)) {      when scps_channel_next(ch) has come
 *         ...send it...  scps_channel_pop(ch);
 *     }
 */
struct scps_channel;
/* stream: a number that differs between directions with the same cfg->seed. Returns NULL on lack of
 * memory and for a configuration out of range. alloc NULL: malloc. */
SCPS_API struct scps_channel *scps_channel_new(const struct scps_link_config *cfg, uint64_t stream,
                                               const struct scps_alloc *alloc);
SCPS_API void scps_channel_free(struct scps_channel *ch);
/* Reports every verdict from now on to fn, which must not call into ch. NULL: no reports. */
SCPS_API void scps_channel_observe(struct scps_channel *ch, scps_verdict_fn *fn, void *ctx);
/* Changes the configuration from now on: packets on the line or on the way keep their times,
 * those that wait get the new settings. 0, SCPS_ERR_INVAL: nothing has changed. */
SCPS_API int scps_channel_change(struct scps_channel *ch, scps_time now,
                                 const struct scps_link_config *cfg);
/* Returns the configuration; lent until the next change. */
SCPS_API const struct scps_link_config *scps_channel_config(const struct scps_channel *ch);
/* Takes a copy of pkt, which is sent at now. Returns 0, also when it will not arrive;
 * SCPS_ERR_NOMEM: it is lost for lack of memory. */
SCPS_API int scps_channel_offer(struct scps_channel *ch, scps_time now, const struct scps_pkt *pkt);
/* Returns when to call scps_channel_peek() again. SCPS_NEVER: no packet is under way. */
SCPS_API scps_time scps_channel_next(const struct scps_channel *ch);
/* Gets the next packet that has arrived by now in *pkt; pkt->at is its time, its bytes are lent
 * until the next call on ch. Returns false if none has. */
SCPS_API bool scps_channel_peek(struct scps_channel *ch, scps_time now, struct scps_pkt *pkt);
/* Removes the packet that scps_channel_peek() returned, after its delivery. */
SCPS_API void scps_channel_pop(struct scps_channel *ch);
/* Counters at now. The caller knows `size` octets of *out. */
SCPS_API void scps_channel_stats_sized(struct scps_channel *ch, scps_time now,
                                       struct scps_link_stats *out, size_t size);
static inline void scps_channel_stats(struct scps_channel *ch, scps_time now,
                                      struct scps_link_stats *out)
{
    scps_channel_stats_sized(ch, now, out, sizeof *out);
}
/* Returns what waits for the line at now: bytes with framing, and packets (may be NULL). */
SCPS_API uint64_t scps_channel_queue(struct scps_channel *ch, scps_time now, uint32_t *packets);

struct scps_world; /* a simulation: the event heap, the hosts and the links */
struct scps_host;
struct scps_link; /* both directions between two hosts */

SCPS_API struct scps_world *scps_world_new(const struct scps_alloc *alloc /* NULL: malloc */);
SCPS_API void scps_world_free(struct scps_world *w); /* with its hosts, stacks and links */
SCPS_API scps_time scps_world_now(const struct scps_world *w);

/* A host with a stack of its own. cfg NULL: the defaults; cfg->now is overridden by the world's
 * clock. on_event (may be NULL) receives every scps_event of the stack in order, at its virtual
 * moment, and may call into the stack. NULL on lack of memory. */
SCPS_API struct scps_host *
scps_world_host(struct scps_world *w, const char *name, const struct scps_stack_config *cfg,
                void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx),
                void *ctx);
SCPS_API struct scps_stack *scps_host_stack(const struct scps_host *h);
SCPS_API const char *scps_host_name(const struct scps_host *h);
SCPS_API struct scps_world *scps_host_world(const struct scps_host *h);
/* Call it after calls into a host's stack from outside on_event (connect, write ...): the next
 * scps_world_run, or this one, sends what became due before the clock moves. */
SCPS_API void scps_host_kick(struct scps_host *h);

/* Joins two hosts. Each end becomes a netif of its host's stack with the address given (prefix bits
 * long, e.g. 10.0.0.1 and 10.0.0.2 with 24). mtu 0: 1500. NULL on lack of memory, for addresses
 * that the stack refuses and for a configuration out of range (a probability beyond 0 to 1, a
 * negative delay). */
SCPS_API struct scps_link *scps_world_link(struct scps_world *w, struct scps_host *a,
                                           const struct scps_addr *addr_a, struct scps_host *b,
                                           const struct scps_addr *addr_b, unsigned prefix,
                                           uint32_t mtu, const struct scps_link_config *a_to_b,
                                           const struct scps_link_config *b_to_a);
/* A second address pair on the same link (IPv6 beside IPv4). */
SCPS_API int scps_link_add_addrs(struct scps_link *l, const struct scps_addr *addr_a,
                                 const struct scps_addr *addr_b, unsigned prefix);
/* Puts a filter (e.g. a capture tap) on top of end 0 (a) or 1 (b) and owns it from then on. Call
 * before any traffic: the stack sees a new netif. 0, SCPS_ERR_NOMEM. */
SCPS_API int scps_link_filter(struct scps_link *l, int end, struct scps_netif *filter);
/* Returns the uppermost netif of an end, for routes. Add filters first. */
SCPS_API struct scps_netif *scps_link_netif(const struct scps_link *l, int end);
/* Counters of a direction, 0: a to b. The caller knows `size` octets of *out. */
SCPS_API void scps_link_get_stats_sized(struct scps_link *l, int dir, struct scps_link_stats *out,
                                        size_t size);
static inline void scps_link_get_stats(struct scps_link *l, int dir, struct scps_link_stats *out)
{
    scps_link_get_stats_sized(l, dir, out, sizeof *out);
}
/* Reports the ground truth of one direction, as scps_channel_observe does. */
SCPS_API void scps_link_observe(struct scps_link *l, int dir, scps_verdict_fn *fn, void *ctx);
/* Changes a direction from now on: packets on the line or on the way keep their times, those that
 * wait get the new settings. 0, SCPS_ERR_INVAL. */
SCPS_API int scps_link_change(struct scps_link *l, int dir, const struct scps_link_config *cfg);

/* Calls fn(ctx) at virtual time `when`, before other events of that microsecond, and after
 * earlier requests for it. Returns 0, or SCPS_ERR_NOMEM. */
SCPS_API int scps_world_at(struct scps_world *w, scps_time when, void (*fn)(void *ctx), void *ctx);
/* Runs until no event is left, or until the clock would pass `until`, or until scps_world_stop. In
 * the first two cases the clock then stands at until, or, where that is SCPS_NEVER, at the last
 * event. Returns the number of events served: packets that arrived, wake-ups of
 * hosts, timers. */
SCPS_API uint64_t scps_world_run(struct scps_world *w, scps_time until);
SCPS_API void scps_world_stop(struct scps_world *w); /* from inside a callback */

#ifdef __cplusplus
}
#endif
#endif
