/* SPDX-License-Identifier: MIT */
/* Types that the files of the analyser share: connections, their two directions, and their memory.
 *
 *     reader.c --> analyze.c --> link.c, parse.c        a frame into a packet and its segment
 *                     |   \----> flow.c, comp105.c      which connection
 *                     v
 *                  segment.c --> segs.c                 what was sent, and sent again
 *                     |   \----> rtt.c                  round trips
 *                     |   \----> gap.c                  what the capture lacked
 *                     |   \----> snack.c, why.c         what was reported missing, why sent again
 *                     v
 *                  report.c                             the figures of a connection
 */
#ifndef SCPS_TRACE_FLOW_H
#define SCPS_TRACE_FLOW_H

#include <scps/analyze.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/rangeset.h"
#include "trace/segs.h"

#define TR_LIKELY(x)   __builtin_expect(!!(x), 1)
#define TR_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- memory that is counted against the limit (functions in mem.c) ---- */

/* Returns zeroed memory; NULL: there is none, or the limit is reached. */
void *scps_tr_alloc(struct scps_trace *t, size_t size);
void scps_tr_free(struct scps_trace *t, void *p, size_t size);
/* Enlarges p from `from` to `to` bytes, keeping its contents; the new bytes are not zeroed. Returns
 * NULL on lack of memory, and then p is still valid. */
void *scps_tr_grow(struct scps_trace *t, void *p, size_t from, size_t to);
/* Returns an allocator whose memory counts against the limit of t (mem.c). */
struct scps_alloc scps_tr_range_alloc(struct scps_trace *t);

struct conn_dir;
/* Returns the counters of direction h that few connections need, and allocates them at the first
 * call. Never NULL: without memory, the result is a structure that such directions share. */
struct conn_rare *scps_tr_rare(struct scps_trace *t, struct conn_dir *h);
struct why;
/* Returns the evidence for the causes of direction h's retransmissions, and allocates it at the
 * first call. NULL: there is no memory. */
struct why *scps_tr_why_of(struct scps_trace *t, struct conn_dir *h);

/* What is known of the last transmission of a segment's data before the one just captured. any:
 * that earlier transmission was captured. */
struct resend {
    bool any;
    /* time, µs, at which the data was last sent before; if it spans several segments, the time of
     * the lowest one. With `gap`, the time at which data above it was captured and this data was
     * missing. */
    scps_time last_at;
    /* number of retransmissions of that lowest segment before the one just captured; 0 if it was
     * acknowledged */
    uint32_t retrans;
    /* true: all of the data had been acknowledged before the segment just captured */
    bool acked;
    /* true: the capture lacks the earlier transmission, which must have been at about last_at */
    bool gap;
};

/* ---- round-trip times (functions in rtt.c) ---- */

/* a distribution of times, µs: number, minimum, maximum, sum and sum of squares, from which mean
 * and deviation follow */
struct dist {
    uint32_t n;
    scps_dur min, max;
    double sum, sum2;
};
struct hist { /* logarithmic histogram, with 32 linear steps for each doubling of the value */
    uint32_t *v;
    uint8_t lo, n; /* lo: lowest doubling for which memory is allocated; n: number of them */
};

/* ---- structures with the state of one direction of a connection ---- */

#define ROUNDS 128u

struct round {      /* one round trip of a sender (fingerprint.c) */
    uint32_t peak;  /* largest number of bytes outstanding during the round */
    uint32_t bytes; /* bytes acknowledged during the round */
    uint32_t dur;   /* duration of the round, µs */
    /* FlightSize (RFC 5681 section 2) when a loss recovery began in the round, bytes; 0: none
     * began */
    uint32_t flight;
    uint8_t resent, timeout;
};

enum limit { LIMIT_NONE, LIMIT_APP, LIMIT_WINDOW, LIMIT_CONGESTION, LIMIT_COUNT };

struct comp_state {
    /* header fields of the last segment sent, which compressed headers (protocol 105) leave out if
     * unchanged */
    uint32_t seq, ack, tsval, tsecr;
    uint16_t wnd;
    bool known;
};

/* counters that are 0 for most connections; allocated when one of them is first needed */
struct conn_rare {
    struct dist rtt_last, retr;
    uint32_t retr_max;
    uint64_t gap_fills, reordered, repaired, keepalives, acks_beyond, acks_old, win_updates;
    uint64_t ce, ece, cwr, bad_options, urg_pkts, urg_bytes, zwnd_pkts, zwnd_bytes;
    uint64_t snack_pkts, snack_long, snack_holes, snack_bytes, snack_ignored, records, corruption,
        comp_pkts;
};

#define HWDUPS 8u
#define TSRING 4u

struct conn_dir {
    /* fields that the analysis of every packet uses */
    scps_time last_time;
    uint64_t packets, wire_bytes;
    /* The highest 64-bit (unwrapped) sequence number so far. 32-bit numbers of later segments are
     * extended to the 64-bit number nearest to it. */
    uint64_t ref;
    /* last SEG.ACK that this direction sent, 32 bits, as tcptrace stores it; 0: none was sent */
    uint64_t ack;
    /* highest SEG.ACK that this direction sent, unwrapped to 64 bits like the sequence numbers of
     * the opposite direction; 0: none was sent */
    uint64_t ack_hi;
    scps_time ack_at; /* time at which ack_hi was first sent, µs */
    uint64_t win_last;
    uint64_t win_tot, win_max, win_min;
    uint64_t ack_pkts, pureack_pkts;
    scps_dur idle_max;
    struct segs segs;
    uint64_t data_pkts, data_bytes, unique_bytes, push_pkts;
    scps_time first_data, last_data;
    uint64_t owin_tot, owin_max, owin_min, owin_count, owin_wavg;
    scps_time owin_at;
    uint64_t owin_prev;
    uint32_t max_seg, min_seg;
    uint32_t mss, syn, fin;
    uint32_t syn_count, fin_count, rst_count;
    uint32_t latest_seq;
    uint8_t wscale;
    bool ws, ts, sack_ok, win_scaled, data_acked, seq_known, bad;
    uint64_t win_scaled_pkts;
    /* first sequence number seen, unwrapped: the origin of relative sequence numbers */
    uint64_t isn64;
    uint64_t sent_hi; /* end of the highest data or FIN seen, unwrapped */
    /* right edge of the window that this direction announced last: SEG.ACK + SEG.WND, unwrapped
     * like the sequence numbers of the opposite direction */
    uint64_t win_edge;
    /* hash values and IPv4 identifications of the last packets, by which copies made by the network
     * are recognised */
    uint32_t hwdup[HWDUPS], hwdup_ix, hwdups;
    uint16_t hwdup_id[HWDUPS];
    /* counters as tcptrace has them: packets and bytes retransmitted, packets out of order, and
     * segments with a zero window */
    uint64_t rexmit_pkts, rexmit_bytes, ooo_pkts, zero_win;
    uint64_t initwin_bytes, initwin_segs, trunc_bytes, trunc_segs;
    uint64_t num_sacks, num_dsacks, sack_blocks;
    uint32_t max_sack_blocks;
    /* round-trip times of this direction's data: of all segments, of full ones, from timestamps;
     * ackgap: times between its pure acknowledgements */
    struct dist rtt, rtt_full, tsrtt, ackgap;
    struct hist rtt_hist, tsrtt_hist;
    uint64_t rtt_full_size;
    scps_dur rtt_newest, rtt_3whs;
    /* smallest sample in `rtt`, µs, valid if rtt.n is not 0. rtt.min may be larger: as in tcptrace,
     * the next sample replaces a minimum of 0, and at the receiver many samples are 0 */
    scps_dur rtt_least;
    uint64_t rtt_nosample, rtt_ambig, rtt_cumack, dupacks, triple_dupacks;
    scps_dur srtt, rttvar;
    struct {
        uint32_t tsval;
        scps_time at;
    } tsring[TSRING];
    uint32_t ts_head, ts_n;
    uint32_t ts_newest;
    bool ts_any;
    /* figures that tcptrace does not have */
    uint64_t window_full, pureack_bytes;
    uint64_t acks_one, acks_two, acks_more, acked_segs, acks_adv;
    scps_time pureack_at;
    uint64_t out_max;
    double out_area; /* integral of the outstanding data over time, byte µs */
    uint64_t out_now;
    scps_dur out_time; /* time during which data was outstanding, µs */
    scps_dur share[LIMIT_COUNT];
    enum limit limit;
    bool last_short;
    uint32_t full;          /* payload of a full segment, bytes; 0: unknown */
    scps_time last_sent_at; /* time at which data was sent last, µs */
    /* number of consecutive duplicate acknowledgements that this direction's sender has received */
    uint32_t dup_run;
    uint64_t rto_recover, fast_recover;
    /* ranges of this direction's data that SACK blocks have reported and SEG.ACK has not reached */
    struct scps_rangeset sacked;
    scps_time sack_at;
    /* time of the latest retransmission that a SACK has reported as received, µs; 0: none */
    scps_time sacked_resend_at;
    struct why *why;
    struct conn_rare *rare;
    struct round *rounds;
    uint16_t nrounds, caprounds;
    uint64_t round_end;
    scps_time round_at;
    uint64_t round_ack;
    uint32_t round_peak, round_flight;
    bool round_resent, round_timeout;
    /* figures about SCPS options */
    bool caps_seen;
    uint8_t caps, caps_id;
    uint32_t xcaps_len;
    struct comp_state c;
};

struct flow_key {
    /* addresses of the two ends, in network byte order; a: the one from which the first captured
     * packet of the connection came. An IPv4 address takes the first four octets, and the rest are
     * zero. */
    uint8_t a[16], b[16];
    uint16_t pa, pb;
    uint8_t version;
};

/* Addresses and ports of the packets of one direction of an IPv4 connection, as they are in the
 * headers. scps_tr_flow_quick() finds the connection of most packets by comparing these with the
 * packet's own; of others, such as SYNs and IPv6 packets, scps_tr_flow_find() finds it by struct
 * flow_key. */
struct flow_quick {
    uint64_t addrs;
    uint32_t ports;
    /* 1: the connection is over IPv4, so most of its packets are found by the fields `addrs` and
     * `ports`; 0: over IPv6, and those two fields are not used */
    uint32_t any;
};

struct flow {
    /* The addresses and ports that packets of this connection have if they are from key.a ([0]) or
     * from key.b ([1]). Set when an IPv4 connection is created; all 0 over IPv6. */
    struct flow_quick quick[2];
    struct flow_key key;
    uint32_t hash;
    uint32_t number, index;
    /* next flow in the chain of the hash table or in the list of free flows; FLOW_NONE: none */
    uint32_t next;
    bool used;
    /* true: this flow is in the hash table; false: a later connection on the same ports has
     * replaced it there */
    bool listed;
    /* While the SYN that began this flow is not answered: index and number of the flow on the same
     * ports before, which had not been closed, and of which segments may still come. FLOW_NONE:
     * none. */
    uint32_t before, before_number;
    scps_time first, last;
    /* time, µs, up to which the fields `share` of both directions are complete, which count for how
     * long the application, the window or congestion limited the sending, µs */
    scps_time spent_at;
    uint64_t packets;
    struct conn_dir h[2]; /* the two directions: [0] from key.a, [1] from key.b */
};

#define FLOW_NONE UINT32_MAX

/* Entry of the hash table scps_trace.comp, which finds the connection of a packet with a compressed
 * header (IP protocol 105) by the two addresses of the packet and its connection id. */
struct comp_entry {
    /* index of the connection and its field `number`; the entry is invalid if the connection at
     * this index has another number, because it has replaced the one of the entry */
    uint32_t flow, number;
    /* id: the connection id (one octet) in the compressed headers of one end, announced in its SYN.
     * dir: the end that sends them: 0: key.a; 1: key.b (struct flow_key of the connection). */
    uint8_t dir, id;
    bool used; /* false: the entry is empty */
};

struct truth;

/* number of entries of the cache in which scps_tr_flow_quick() finds the connection of an IPv4
 * packet before the hash table of all connections is searched */
#define RECENT 256u

/* The IP packets of a UDP datagram that segmentation offload has joined (tunnel.c) which are still
 * to be analysed. */
struct joined {
    const uint8_t *next; /* the next of them, in the data of the captured packet */
    uint32_t left;       /* octets from `next` on that hold such packets; 0: none */
    uint32_t unit;       /* length of each; the last one may be shorter */
    bool inside;         /* true: one of them is being analysed */
};

struct scps_trace {
    struct scps_trace_config cfg;
    struct scps_trace_totals tot;
    uint64_t seed[2];
    uint64_t mem, mem_peak;
    /* array of slabs; each slab is a block of flows, which never move in memory */
    struct flow **slab;
    uint32_t nslab, capslab;
    uint32_t nflows; /* number of flows that have been in use at least once */
    /* index of the first flow in the list of free flows; FLOW_NONE: no flow is free */
    uint32_t free;
    uint32_t live;
    uint32_t hand; /* index at which the search for a flow to remove continues */
    uint32_t *bucket;
    uint32_t nbucket;
    uint32_t last_flow; /* index of the flow of the previous packet */
    struct recent {
        struct flow *f;
        int dir;
    } recent[RECENT]; /* cache of flows found recently, by addresses and ports */
    struct comp_entry *comp;
    uint32_t ncomp, capcomp;
    struct truth *truth;
    /* counters shared by all directions of connections for whose own conn_rare (counters that few
     * connections need) there was no memory */
    struct conn_rare lost;
    /* position, in the data of the captured packet that is being read, of the next frame of an
     * aggregate (A-MSDU of IEEE 802.11: several frames in one); NULL: the packet is no aggregate,
     * or the frame being analysed is its last */
    const uint8_t *aggregate;
    struct joined joined;
    scps_time now;
    bool finished;
    /* indices of the flows, in the order of their field `number`: set by scps_trace_finish() */
    uint32_t *order;
};

#define SLAB_BITS 6u
#define SLAB      (1u << SLAB_BITS)

static inline struct flow *scps_tr_flow(const struct scps_trace *t, uint32_t i)
{
    return &t->slab[i >> SLAB_BITS][i & (SLAB - 1)];
}

struct segment;
/* Finds the connection of segment s, or creates it. *dir: 0: the segment is from key.a, the end
 * that sent the first captured packet; 1: from key.b. Returns NULL on lack of memory. */
struct flow *scps_tr_flow_find(struct scps_trace *t, const struct flow_key *k,
                               const struct segment *s, int *dir);

static inline uint32_t scps_tr_recent(const struct flow_quick *q)
{
    return (uint32_t)((q->addrs ^ q->ports * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u >> 56);
}

/* Fast path: finds the connection of an IPv4 packet in the cache of recent ones. *dir: 0: from
 * key.a; 1: from key.b. Returns NULL if the cache does not have it, or the packet might begin
 * another connection: then use scps_tr_flow_find(). */
static inline struct flow *scps_tr_flow_quick(struct scps_trace *t, const struct flow_quick *q,
                                              uint16_t flags, int *dir)
{
    const struct recent *r = &t->recent[scps_tr_recent(q)];
    struct flow *f = r->f;
    if (TR_UNLIKELY(!f || flags & SCPS_SYN || t->cfg.idle_split > 0))
        return NULL;
    const struct flow_quick *x = &f->quick[r->dir];
    if (TR_UNLIKELY(x->addrs != q->addrs || x->ports != q->ports || !x->any || !f->listed))
        return NULL;
    t->last_flow = f->index;
    *dir = r->dir;
    return f;
}
/* Frees the memory that belongs to the flow, but not the flow itself. */
void scps_tr_flow_reset(struct scps_trace *t, struct flow *f);
void scps_tr_flows_free(struct scps_trace *t);

/* ---- functions in segs.c, which record the segments that were sent ---- */

/* Records that h sent octets first to first + len - 1 at `now`, µs. Returns how many of them h had
 * sent before, and sets *re to their earlier transmission. Sets *ooo if they are out of order. */
uint32_t scps_tr_segs_add(struct scps_trace *t, struct conn_dir *h, uint64_t first, uint32_t len,
                          scps_time now, bool *ooo, struct resend *re);
/* Processes an acknowledgement, with SEG.ACK `ack`, of the data of h. dup: the segment meets the
 * conditions for a duplicate acknowledgement, except perhaps in SEG.ACK. Returns the RTT sample
 * that it yields, µs, or -1. */
scps_dur scps_tr_segs_ack(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now,
                          bool dup);
/* Returns the latest time, at most `before`, at which a segment that overlaps [from, to) and is not
 * acknowledged was sent again, µs; 0: none was. */
scps_time scps_tr_segs_resent_at(const struct segs *s, uint64_t from, uint64_t to,
                                 scps_time before);
void scps_tr_segs_free(struct scps_trace *t, struct conn_dir *h);

/* ---- functions in rtt.c, which compute round-trip times ---- */

/* Adds a time v, µs, to the distribution. As in tcptrace, the next time replaces a minimum of 0. */
void scps_tr_dist_add(struct dist *d, scps_dur v);
double scps_tr_dist_avg(const struct dist *d); /* Returns the mean of the distribution, µs. */
double scps_tr_dist_sd(const struct dist *d);
void scps_tr_hist_add(struct scps_trace *t, struct hist *h, scps_dur v);
/* Returns the quantile q (0 to 1) of a histogram, µs; NaN: it is empty. */
double scps_tr_hist_at(const struct hist *h, const struct dist *d, double q);
void scps_tr_hist_free(struct scps_trace *t, struct hist *h);
/* Called when SEG.ACK is exactly the end of segment x. Returns the round-trip time of x, µs, and
 * adds it to h's distributions. Returns -1, and counts the acknowledgement as without sample, if x
 * was sent again, or a segment below x was sent later (later_below). */
scps_dur scps_tr_rtt_acked(struct scps_trace *t, struct conn_dir *h, const struct seg *x,
                           scps_time now, bool later_below);
/* Returns the smallest round-trip time between the two ends, µs: from the capture point to the
 * receiver of h's data and back (h->rtt) plus from the capture point to the sender and back
 * (peer->rtt). 0: neither was measured. */
scps_dur scps_tr_rtt_whole_path(const struct conn_dir *h, const struct conn_dir *peer);
void scps_tr_ts_sent(struct conn_dir *h, uint32_t tsval, scps_time now);
void scps_tr_ts_echoed(struct scps_trace *t, struct conn_dir *h, uint32_t tsecr, scps_time now);

/* ---- functions in truth.c: compare the capture with the ground-truth log of the link ---- */

void scps_tr_truth_free(struct scps_trace *t);
/* Called for a retransmission of direction dir of f (h: its state), octets seq to seq + len - 1, if
 * there is a ground-truth log, in which the link wrote what happened to each packet: counts in
 * h->why whether the retransmission was necessary. */
void scps_tr_truth_judge(struct scps_trace *t, const struct flow *f, int dir, struct conn_dir *h,
                         uint32_t seq, uint32_t len);

/* ---- functions in fingerprint.c, which estimate the congestion controller ---- */

void scps_tr_round_sent(struct conn_dir *h, uint64_t outstanding);
void scps_tr_round_acked(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now);
void scps_tr_fingerprint(const struct conn_dir *h, const struct conn_dir *peer,
                         struct scps_trace_dir *out);

/* ---- functions in comp105.c: find the connection of a compressed SCPS-TP header ---- */

void scps_tr_comp_learn(struct scps_trace *t, const struct flow *f, int dir, uint8_t id);
struct flow *scps_tr_comp_find(struct scps_trace *t, const struct flow_key *k, uint8_t id,
                               int *dir);

/* ---- functions in report.c, which compute the figures of a report ---- */

void scps_tr_report(const struct scps_trace *t, const struct flow *f, struct scps_trace_conn *out);
void scps_tr_letter(uint64_t n, char out[8]);

#endif
