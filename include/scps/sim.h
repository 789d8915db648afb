/* SPDX-License-Identifier: MIT */
/* libscps_sim: virtual time. It simulates hosts, each with its own stack, joined by links with
 * rate, delay, queue and errors.
 *
 * Runs with the same seed are bit for bit the same on every machine. Nothing here reads a clock.
 */
#ifndef SCPS_SIM_H
#define SCPS_SIM_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the channel: the model of one direction of a link, in virtual and in real time ----
 *
 *     offer ──> queue ──> line ──> propagation ──> arrival
 *               limit,    rate,    delay,
 *               CoDel     framing  jitter, reordering, a second copy
 *                         errors: outage, loss, ber, burst, vector
 *
 * The same model serves simulated links (virtual time) and, as struct scps_channel, links that
 * carry the packets of real hosts (real time). Of the errors, vector is the error vector: a
 * recording of damaged bits that is applied to the packets (scps_link_config.vector). What happens
 * to a packet (delivered, damaged, lost) is determined when its first bit is sent on the line, or
 * when the queue refuses the packet, with the settings of that moment. A change of the settings
 * affects packets that wait in the queue, but not packets on the line or propagating.
 */

/* Framing of a link: it determines how many bytes a frame takes on the line besides its IP packet
 * and scps_link_config.overhead (src/sim/framing.c has the layouts). */
enum scps_framing {
    SCPS_FRAMING_NONE, /* a frame takes no bytes besides scps_link_config.overhead */
    /* RFC 1662 octet stuffing: flags, address, control, protocol, FCS-16, and an escape before each
     * 0x7d and 0x7e (ACCM 0). In octets whose contents the packet has, escapes are counted exactly;
     * of hollow octets (payload that the packet only counts), 2 in 256 are taken to need one. */
    SCPS_FRAMING_PPP,
    /* HDLC bit stuffing: a zero after five ones. In bytes whose contents the packet has, the zeros
     * are counted exactly; for hollow bytes (payload that the packet only counts), one zero is
     * added for 62 bits. */
    SCPS_FRAMING_HDLC,
    SCPS_FRAMING_AAL5, /* LLC/SNAP and AAL5 trailer, padded to whole cells of 53 bytes (RFC 2684) */
    SCPS_FRAMING_AAL5_VC, /* AAL5 with virtual-circuit multiplexing (RFC 2684), without LLC/SNAP */
    /* encapsulation packets in 1115-byte AOS transfer frames (CCSDS 133.1-B, 732.0-B) */
    SCPS_FRAMING_AOS,
    SCPS_FRAMING_TM, /* encapsulation packets in 1115-byte TM transfer frames (CCSDS 132.0-B) */
    SCPS_FRAMING_COUNT
};
/* Returns the name of a framing: "none", "ppp", "hdlc", "aal5", "aal5-vc", "aos" or "tm"; NULL if f
 * is not below SCPS_FRAMING_COUNT. */
SCPS_API const char *scps_framing_name(enum scps_framing f);

/* Bursts of bit errors: a channel that is good or bad (Gilbert 1960, Elliott 1963). While it is
 * bad, bits are damaged at rate ber, in addition to scps_link_config.ber, which always applies.
 * Changes happen by time or by packet. By time: good and bad are the mean lengths of the stays,
 * exponential, in µs, and only the bits sent in a bad stay are at risk. By packet, if good and bad
 * are 0: before each packet on the line a good channel turns bad with probability to_bad, and a bad
 * one good with probability to_good. The channel begins in its stationary distribution. */
struct scps_burst {
    scps_dur good, bad;
    double to_bad, to_good;
    double ber; /* bit error rate of the bad state; 0: no bursts; 0.5 leaves no packet undamaged */
};

/* A row of a table of line rates or delays over time. The table belongs to the caller and must stay
 * valid as long as anything that was configured with it. Times count from time 0 of the simulated
 * world or, for a channel without a world, of the clock that its driver passes in. */
struct scps_step {
    scps_time at;
    uint64_t value;
};
/* A table of line rates or delays over time, n rows at v; n 0: there is no table. Times do not
 * decrease from row to row. Before the time of the first row the value of the first row applies,
 * after the time of the last row the value of the last row. */
struct scps_steps {
    const struct scps_step *v;
    uint32_t n;
    /* time after which the table repeats, µs, later than the time of the last row; 0: it does not
     * repeat */
    scps_dur period;
};
struct scps_span {
    scps_time from, to; /* the time span [from, to), µs */
};
/* a list of time spans in ascending order, between any two of which there is a gap */
struct scps_spans {
    const struct scps_span *v;
    uint32_t n;
    /* Time after which the spans repeat, µs, at least the end of the last span; 0: they do not
     * repeat */
    scps_dur period;
    /* true: the spans are contacts, the times in which the link works, and all other times are
     * outages; false: the spans are the outages */
    bool inverse;
};

/* Configuration of one direction of a link. All zero: infinitely fast, no delay, no loss, no queue
 * limit. */
struct scps_link_config {
    uint64_t rate_bps;    /* line rate, bit/s; 0: infinite */
    scps_dur delay;       /* propagation delay, µs, after the last bit was sent */
    uint64_t queue_bytes; /* limit of the queue, bytes of IP packets with framing; 0: no limit */
    /* Limit of the queue, packets; 0: no limit. The packet on the line does not count. */
    uint32_t queue_packets;
    /* bytes that each frame takes on the line besides its IP packet and the bytes of `framing`; bit
     * errors can damage these bytes, too */
    uint32_t overhead;
    /* The number of bytes at the start of each frame that are never damaged (in
     * NASA/TM-2003-212001 18 of 1082). */
    uint32_t ber_exempt;
    /* bit error rate: a frame of n bytes (IP packet, overhead and the bytes of `framing`) is
     * damaged with probability 1-(1-ber)^(8 (n - ber_exempt)) */
    double ber;
    double loss; /* probability of losing a packet, whatever its size */
    /* dup: probability that a packet is delivered twice; reorder: probability that a packet is
     * delayed by reorder_delay */
    double dup, reorder;
    /* additional delay of a reordered packet, µs; 0: the time that four such packets take on the
     * line, at least 1 ms */
    scps_dur reorder_delay;
    /* true: packets with bit errors are delivered with flipped bits, for checksums to detect;
     * false: they are lost. A packet is always lost if framing bytes of its frame, or hollow bytes
     * (payload that is counted, not stored) are damaged; it counts in dropped_ber, dropped_burst or
     * dropped_vector, by what damaged it. With one seed the same packets are damaged in both
     * cases. */
    bool flip;
    /* seed of the random streams, of which each direction of each link has its own */
    uint64_t seed;

    enum scps_framing framing;
    struct scps_burst burst;
    /* Error vector: a recording of the channel's errors, in which a set bit stands for a damaged
     * bit, the high bit of a byte first. The bytes of each packet that bit errors can reach
     * (see ber_exempt) are XORed in their order with the bytes of the vector, which starts again at
     * its end. The caller owns it and keeps it as long as the configuration is in use. */
    const uint8_t *vector;
    size_t vector_len;
    /* largest random delay that is added to `delay`, µs, uniform from 0 up; packets keep their
     * order */
    scps_dur jitter;
    scps_dur codel_target,
        /* CoDel (RFC 8289): TARGET and INTERVAL, µs. CoDel drops packets of the queue in addition
         * to the queue's limits; both 0: no CoDel (drop-tail) */
        codel_interval;
    /* Table of line rates, bit/s, in place of rate_bps; a rate of 0 stops the line */
    struct scps_steps rates;
    /* Table of delays, µs, in place of delay, interpolated between rows; two rows with the same
     * time make a step */
    struct scps_steps delays;
    /* Times in which the link is down. A frame that is on the line during such an outage is lost,
     * even if only a part of it falls into the outage. */
    struct scps_spans outages;
    /* true: no frame starts during an outage, and the queue waits for its end, so no frame is
     * lost */
    bool hold;
};

/* Returns the mean number of bytes on the line, rounded up, of an IP packet of ip_bytes with
 * unknown content. */
SCPS_API uint32_t scps_link_frame_bytes(const struct scps_link_config *c, uint32_t ip_bytes);

/* Counters of one direction. It holds that offered + duplicated = delivered + all drops +
 * in_flight. */
struct scps_link_stats {
    /* packets that were offered to the link and that it delivered, and the bytes of these IP
     * packets */
    uint64_t offered, offered_bytes, delivered, delivered_bytes;
    uint64_t dropped_queue, dropped_ber, dropped_loss, duplicated, reordered, flipped;
    uint64_t in_flight; /* packets that wait in the queue, are on the line, or propagate */
    uint64_t max_queue_bytes;
    scps_dur busy; /* total time during which the line was sending, µs */
    uint64_t dropped_codel, dropped_outage, dropped_burst, dropped_vector;
};

enum scps_fate {
    SCPS_FATE_DELIVERED,
    SCPS_FATE_FLIPPED, /* delivered with bits flipped */
    SCPS_FATE_BER,     /* lost: bits were damaged at the bit error rate scps_link_config.ber */
    SCPS_FATE_LOSS,    /* lost by chance (scps_link_config.loss), or for lack of memory */
    SCPS_FATE_QUEUE,   /* lost: no room in the queue */
    SCPS_FATE_CODEL,   /* lost: CoDel dropped it after too long a wait */
    SCPS_FATE_OUTAGE,  /* lost: the link was down */
    SCPS_FATE_BURST,   /* lost: bits were damaged in a burst */
    /* lost: bits were damaged by the error vector, the recording scps_link_config.vector */
    SCPS_FATE_VECTOR,
    SCPS_FATE_COUNT
};
/* Returns "delivered", "flip", "ber", "loss", "queue", "codel", "outage", "burst" or "vector". */
SCPS_API const char *scps_fate_name(enum scps_fate f);
/* Returns how many packets were lost with this fate (SCPS_FATE_BER and later ones); 0 for
 * SCPS_FATE_DELIVERED and SCPS_FATE_FLIPPED, with which no packet is lost. */
SCPS_API uint64_t scps_link_dropped(const struct scps_link_stats *s, enum scps_fate f);

/* The ground truth about one packet: what the channel model did to it. The channel decides and
 * reports this when the packet leaves the queue, so in the order in which the packets were offered.
 * The exception is a packet that the queue refuses, for lack of room or memory: it is reported when
 * it is offered, before the packets in the queue. */
struct scps_verdict {
    uint64_t number;   /* number of the packet in its direction, counted from 1 */
    scps_time offered; /* time at which the packet was offered to the channel, µs */
    /* time, µs, at which the sending end of the line had sent the last bit of the packet, before
     * the propagation delay; SCPS_NEVER: it was never sent, because the queue or CoDel dropped it
     * or there was no memory */
    scps_time left;
    scps_time arrival; /* arrival time of the packet, µs; SCPS_NEVER: it was lost */
    scps_time copy; /* arrival time of the packet's second copy, µs; SCPS_NEVER: there is none */
    enum scps_fate fate;
    bool reordered;             /* true: scps_link_config.reorder_delay has delayed the packet */
    const struct scps_pkt *pkt; /* the packet as offered, without flipped bits; lent for the call */
};
typedef void scps_verdict_fn(void *ctx, const struct scps_verdict *v);

/* Writes what the link did to a packet (struct scps_verdict) as a line of the ground-truth log,
 * with its newline. The file begins with the header below (docs/SCPS_TRACE.md; scps_trace --truth
 * reads it). dir 0: a to b, 1: b to a; epoch, µs, is added to all times. Returns the length of the
 * line. */
#define SCPS_TRUTH_HEADER                                                                          \
    "time_us,direction,packet_no,fate,cause,ip_len,src,dst,sport,dport,seq,payload,arrive_us,"     \
    "copies,reordered,proto\n"
#define SCPS_TRUTH_LINELEN 400
SCPS_API size_t scps_truth_line(const struct scps_verdict *v, int dir, scps_time epoch,
                                char buf[SCPS_TRUTH_LINELEN]);

/* The tables and files that the description of a link names, in memory. The pointers of struct
 * scps_link_config (rates, delays, outages, vector) point into this object. */
struct scps_link_tables;
/* Frees the tables of a link's description; t NULL: does nothing. */
SCPS_API void scps_link_tables_free(struct scps_link_tables *t);
/* Functions by which the parser of link descriptions, which itself does no I/O, reads the file of a
 * value "@NAME". */
struct scps_link_files {
    /* Returns the contents of file `name` and their length in *len; NULL: the file cannot be read,
     * for the reason written to why. */
    char *(*read)(void *ctx, const char *name, size_t *len, char *why, size_t whylen);
    void (*done)(void *ctx, char *data); /* frees the contents */
    void *ctx;
};

/* Reads a link's description, such as "geo", "rate=100mbit,rtt=500ms,ber=1e-6" or
 * "nasa500,ber=1e-6", into both directions (fwd: a to b), with seeds 0. A preset stands first; what
 * neither a preset nor a key sets is as in geo. The keys are in scps_ttcp(1), "VIRTUAL LINK". A key
 * sets both directions, except rtt and pass; with -back behind it, it sets the return direction
 * alone. *tables gets what the configurations point into, NULL if nothing. tables NULL: keys that
 * need tables are refused. files NULL: "@NAME" is refused. Returns 0; SCPS_ERR_INVAL with one line
 * in msg (may be NULL) that names the key or unit and the allowed ones, and then fwd, back and
 * *tables are unchanged. */
SCPS_API int scps_link_parse_tables(const char *spec, const struct scps_link_files *files,
                                    struct scps_link_config *fwd, struct scps_link_config *back,
                                    struct scps_link_tables **tables, char *msg, size_t msglen);
/* Parses a link's description as scps_link_parse_tables() does with `files` and `tables` NULL:
 * refuses values "@NAME", and the keys whose values are kept in a table: rates, delays, outage,
 * contact, vector (except KEY=off) and pass. */
SCPS_API int scps_link_parse(const char *spec, struct scps_link_config *fwd,
                             struct scps_link_config *back, char *msg, size_t msglen);
/* Changes the configuration *own of one direction by items such as "rate=2mbit,flip=off", separated
 * by commas or blanks. Presets, rtt and the suffix -back are not allowed; what no item names is
 * unchanged. KEY=off removes a burst, codel, vector, outage, contact, rates, delays, flip or hold.
 * *other is the configuration of the opposite direction; its delay is needed for queue sizes given
 * in round trips. The other arguments and the errors are those of scps_link_parse_tables(); *own is
 * unchanged on errors. */
SCPS_API int scps_link_update(const char *items, const struct scps_link_files *files,
                              struct scps_link_config *own, const struct scps_link_config *other,
                              struct scps_link_tables **tables, char *msg, size_t msglen);
/* Writes the configuration of one direction as a description (KEY=VALUE pairs), separated by
 * blanks; a table is given as its number of rows. Returns buf. */
#define SCPS_LINK_TEXTLEN 512
SCPS_API char *scps_link_print(const struct scps_link_config *c, char buf[SCPS_LINK_TEXTLEN]);
/* Sets *name and *help to the name and one line of help of preset i, such as "geo" and "10 Mbit/s
 * both ways, 560 ms round trip", and returns true; returns false if there are no more than i
 * presets. */
SCPS_API bool scps_link_preset(size_t i, const char **name, const char **help);
/* Returns the physical limit: the mean goodput, bit/s of payload, of the best possible sender over
 * this channel. That sender needs one round trip for the handshake, never leaves the line idle,
 * detects each segment's loss one round trip after it was sent, and resends lost segments first;
 * its time ends when all is known to have arrived. Acknowledgements are never lost. bytes: size of
 * the transfer; payload: bytes of data in a segment; headers: bytes of IP and TCP headers before
 * them; the framing is that of fwd. rate_bps: the sender's own rate on the line; 0: that of the
 * line. Outages, contacts and tables of rates count as they are, from time 0; of a table of delays
 * the smallest counts. Jitter, bursts of bit errors and error vectors (recordings of bit errors)
 * are left out: they can only make a transfer slower than the limit. Where segments are lost at
 * random the limit is a mean, which a single transfer may exceed. Returns 0 when nothing limits the
 * goodput, or nothing ever arrives. */
SCPS_API double scps_link_limit(const struct scps_link_config *fwd,
                                const struct scps_link_config *back, uint64_t bytes,
                                uint32_t payload, uint32_t headers, uint64_t rate_bps);
/* Returns the physical limit as scps_link_limit() does, bit/s of payload, for a receiver that
 * limits the best possible sender in two ways. window: number of bytes that may be sent beyond the
 * lowest segment that the sender does not know to have arrived, as a receive buffer of that size
 * allows; 0: no limit. ack_every: interval, µs, at which the receiver acknowledges what has
 * arrived, as with SCPS_ACK_DELAYED; 0: it acknowledges each segment at once.
 * If neither is a limit (ack_every is 0, and window is 0 or at least `bytes`), the result is that
 * of scps_link_limit(). Otherwise outages and tables of rates are left out (rate_bps of fwd counts,
 * which is the highest rate of a table that scps_link_parse_tables() has read), and of tables of
 * delays the smallest delay counts. Without losses the limit is then exact. With losses it is the
 * mean of simulated transfers with a fixed seed, within 1 %, which takes some 100 ms to compute.
 * Returns 0 if nothing ever arrives, nothing limits the goodput, or there is no memory for the
 * simulation. */
SCPS_API double scps_link_limit_window(const struct scps_link_config *fwd,
                                       const struct scps_link_config *back, uint64_t bytes,
                                       uint32_t payload, uint32_t headers, uint64_t rate_bps,
                                       uint64_t window, scps_dur ack_every);

/* A channel: one direction of a link by itself, with the same model as in a simulated world, for a
 * driver that has a clock of its own. The driver passes in packets with the time, and takes them
 * out at their arrival times; now, µs, never decreases:
 *
 *     scps_channel_offer(ch, now, pkt);               // for each packet that is sent
 *     while (scps_channel_peek(ch, now, &pkt)) {      // at the time scps_channel_next(ch)
 *         ...send it...  scps_channel_pop(ch);
 *     }
 */
struct scps_channel;
/* Opens a channel. stream: number of the sequence of random numbers to use; channels with the same
 * cfg->seed, such as both directions of a link, need different ones. alloc NULL: malloc. Returns
 * NULL on lack of memory and for a configuration out of range. */
SCPS_API struct scps_channel *scps_channel_new(const struct scps_link_config *cfg, uint64_t stream,
                                               const struct scps_alloc *alloc);
/* Frees a channel and the packets in it. ch NULL: does nothing. */
SCPS_API void scps_channel_free(struct scps_channel *ch);
/* Makes the channel report the verdict (fate) of every later packet to fn, which must not call into
 * ch. fn NULL: no reports. */
SCPS_API void scps_channel_observe(struct scps_channel *ch, scps_verdict_fn *fn, void *ctx);
/* Changes the configuration of the channel at `now`, µs: packets on the line or propagating keep
 * their times, packets in the queue get the new settings. A packet that is on the line while the
 * old table of rates stops it (rate 0) keeps its time, too, but does not delay the packets behind
 * it: they overtake it. Returns 0, or SCPS_ERR_INVAL, and then nothing has changed. */
SCPS_API int scps_channel_change(struct scps_channel *ch, scps_time now,
                                 const struct scps_link_config *cfg);
/* Returns the configuration of the channel in force, which is valid until the next change. */
SCPS_API const struct scps_link_config *scps_channel_config(const struct scps_channel *ch);
/* Sends a copy of pkt into the channel at `now`, µs. Returns 0, also when the channel loses the
 * packet; SCPS_ERR_NOMEM: it is lost for lack of memory. */
SCPS_API int scps_channel_offer(struct scps_channel *ch, scps_time now, const struct scps_pkt *pkt);
/* Returns the time, µs, at which scps_channel_peek() is to be called next, because a packet may
 * have arrived. SCPS_NEVER: there is no packet in the channel. */
SCPS_API scps_time scps_channel_next(const struct scps_channel *ch);
/* If a packet has arrived at the far end of the channel by `now`, µs, sets *pkt to it and returns
 * true; pkt->at is its arrival time, µs, and its bytes are valid until the next call on ch. Returns
 * false if none has arrived. */
SCPS_API bool scps_channel_peek(struct scps_channel *ch, scps_time now, struct scps_pkt *pkt);
/* Removes the packet that scps_channel_peek() returned, after its delivery. */
SCPS_API void scps_channel_pop(struct scps_channel *ch);
/* Copies the counters of the channel at `now`, µs, to *out; size is sizeof *out in the calling
 * program. */
SCPS_API void scps_channel_stats_sized(struct scps_channel *ch, scps_time now,
                                       struct scps_link_stats *out, size_t size);
static inline void scps_channel_stats(struct scps_channel *ch, scps_time now,
                                      struct scps_link_stats *out)
{
    scps_channel_stats_sized(ch, now, out, sizeof *out);
}
/* Returns the bytes in the channel's queue at `now`, µs, with framing, and writes the number of
 * packets to *packets (may be NULL). */
SCPS_API uint64_t scps_channel_queue(struct scps_channel *ch, scps_time now, uint32_t *packets);

struct scps_world; /* a simulated world: the event heap, the hosts and the links */
struct scps_host;
struct scps_link; /* a simulated link between two hosts, with both its directions */

/* Opens a simulated world without hosts. alloc NULL: malloc. Returns NULL on lack of memory. */
SCPS_API struct scps_world *scps_world_new(const struct scps_alloc *alloc);
/* Frees the world with its hosts, stacks and links. */
SCPS_API void scps_world_free(struct scps_world *w);
/* Returns the virtual time of the world, µs. */
SCPS_API scps_time scps_world_now(const struct scps_world *w);

/* Adds a host with a stack of its own. cfg NULL: the defaults; cfg->now is replaced by the world's
 * time. on_event (may be NULL) is called for every scps_event of the stack in order, at its virtual
 * time, and may call into the stack. Returns NULL on lack of memory. */
SCPS_API struct scps_host *
scps_world_host(struct scps_world *w, const char *name, const struct scps_stack_config *cfg,
                void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx),
                void *ctx);
/* Returns the stack of a host; the world owns it. */
SCPS_API struct scps_stack *scps_host_stack(const struct scps_host *h);
/* Returns the name of a host: the first octets of the name given, up to 31. */
SCPS_API const char *scps_host_name(const struct scps_host *h);
/* Returns the world to which a host belongs. */
SCPS_API struct scps_world *scps_host_world(const struct scps_host *h);
/* Makes scps_world_run() (the running or the next call) ask the stack of h for packets before
 * virtual time advances. Call it after calls into the stack (connect, write ...) that were not made
 * from on_event. */
SCPS_API void scps_host_kick(struct scps_host *h);

/* Joins two hosts by a link. Each end becomes a netif of its host's stack with the address given
 * and a prefix of `prefix` bits (for example 10.0.0.1 and 10.0.0.2 with 24). mtu in bytes; 0: 1500.
 * Returns NULL on lack of memory, for addresses that the stack refuses and for a configuration out
 * of range (a probability beyond 0 to 1, a negative delay). */
SCPS_API struct scps_link *scps_world_link(struct scps_world *w, struct scps_host *a,
                                           const struct scps_addr *addr_a, struct scps_host *b,
                                           const struct scps_addr *addr_b, unsigned prefix,
                                           uint32_t mtu, const struct scps_link_config *a_to_b,
                                           const struct scps_link_config *b_to_a);
/* Adds a second pair of addresses to a link, such as IPv6 beside IPv4. Returns 0, or an error of
 * scps_stack_add_addr(). */
SCPS_API int scps_link_add_addrs(struct scps_link *l, const struct scps_addr *addr_a,
                                 const struct scps_addr *addr_b, unsigned prefix);
/* Pushes a filter, such as a capture tap, on top of end 0 (a) or 1 (b); the link frees it. Call it
 * before any traffic, because the stack sees a new netif. Returns 0, or SCPS_ERR_NOMEM. */
SCPS_API int scps_link_filter(struct scps_link *l, int end, struct scps_netif *filter);
/* Returns the uppermost netif of end 0 (a) or 1 (b) of the link, for routes. Add filters before the
 * call, as a filter becomes the uppermost netif. */
SCPS_API struct scps_netif *scps_link_netif(const struct scps_link *l, int end);
/* Copies the counters of direction dir (0: a to b) to *out; size is sizeof *out in the calling
 * program. */
SCPS_API void scps_link_get_stats_sized(struct scps_link *l, int dir, struct scps_link_stats *out,
                                        size_t size);
static inline void scps_link_get_stats(struct scps_link *l, int dir, struct scps_link_stats *out)
{
    scps_link_get_stats_sized(l, dir, out, sizeof *out);
}
/* Makes the link call fn(ctx, v) for each later packet of direction dir (0: a to b): v says whether
 * the link delivered, damaged or lost the packet, for which cause, and when (struct scps_verdict).
 * fn NULL: no calls. */
SCPS_API void scps_link_observe(struct scps_link *l, int dir, scps_verdict_fn *fn, void *ctx);
/* Changes the configuration of direction dir (0: a to b) of a link from now on: packets on the
 * line or propagating keep their times, packets in the queue get the new settings. A packet that
 * is on the line while the old table of rates stops it (rate 0) keeps its time, too, but does not
 * delay the packets behind it: they overtake it. Returns 0, or SCPS_ERR_INVAL. */
SCPS_API int scps_link_change(struct scps_link *l, int dir, const struct scps_link_config *cfg);

/* Makes scps_world_run() call fn(ctx) at virtual time `when`, µs, before the other events of that
 * microsecond, and after functions that were requested earlier for it. Returns 0, or
 * SCPS_ERR_NOMEM. */
SCPS_API int scps_world_at(struct scps_world *w, scps_time when, void (*fn)(void *ctx), void *ctx);
/* Runs the simulated world until no event is left, until the clock would pass `until`, µs, or until
 * scps_world_stop(). In the first two cases the clock then is `until` or, if that is SCPS_NEVER,
 * the time of the last event. Returns the number of events served: packets that arrived, wake-ups
 * of hosts, timers. */
SCPS_API uint64_t scps_world_run(struct scps_world *w, scps_time until);
/* Ends scps_world_run() after the present event. To be called from inside a callback. */
SCPS_API void scps_world_stop(struct scps_world *w);

#ifdef __cplusplus
}
#endif
#endif
