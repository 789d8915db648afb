/* SPDX-License-Identifier: MIT */
/* What the files of the analyser share: connections, their two directions, and the memory they live
 * in.
 *
 *     reader.c --> analyze.c --> link.c, parse.c        a frame into a packet and its segment
 *                     |   \----> flow.c, comp105.c      which connection
 *                     v
 *                  segment.c --> segs.c                 what was sent, and sent again
 *                     |   \----> rtt.c                  round trips
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

#define TR_LIKELY(x)   __builtin_expect(!!(x), 1)
#define TR_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- memory that counts itself (mem.c) ---- */

void *scps_tr_alloc(struct scps_trace *t, size_t size); /* zeroed; NULL */
void scps_tr_free(struct scps_trace *t, void *p, size_t size);
/* Grows p, keeping the bytes; the new ones are not zeroed. NULL leaves p as it is. */
void *scps_tr_grow(struct scps_trace *t, void *p, size_t from, size_t to);

struct conn_dir;
struct conn_rare *scps_tr_seldom(struct scps_trace *t, struct conn_dir *h); /* never NULL */

/* ---- segments of one direction (segs.c) ---- */

/* A piece of sequence space as it was first sent. */
struct seg {
    uint64_t first; /* unwrapped; the low 32 bits are the sequence number */
    scps_time at;   /* last transmission */
    uint32_t len;
    uint16_t retrans;
    uint16_t pad;
};
struct chunk { /* up to CHUNK of them in order */
    uint16_t off, n, cap;
    struct seg s[];
};
struct block { /* acknowledged pieces that fit together, merged */
    uint64_t first, end;
    scps_time at;   /* latest transmission of any of it */
    uint32_t acked; /* 1, and one more for each duplicate acknowledgement that ends here */
};
struct segs {
    struct chunk **c; /* c[head .. head+n-1]: not acknowledged */
    struct block *b;
    uint32_t head, n, cap;
    uint16_t nb, capb;
    uint64_t top; /* end of the highest segment of either kind; 0: none */
    /* Another acknowledgement of this value that is not a duplicate changes nothing; 0: none */
    uint64_t settled;
    uint64_t quad;     /* highest quadrant (2^30 octets) touched */
    scps_time quad_at; /* latest transmission of acknowledged segments in it */
};

/* What is known of the earlier transmission of something sent again. */
struct resend {
    bool any;
    scps_time last_at; /* of the first segment it overlaps */
    uint32_t retrans;  /* how often before */
    bool acked;        /* all of it had been acknowledged */
    bool gap;          /* the capture missed the earlier one, which was due at last_at */
};

/* ---- round trips (rtt.c) ---- */

struct dist { /* minimum, mean, deviation */
    uint32_t n;
    scps_dur min, max;
    double sum, sum2;
};
struct hist { /* log-linear: 32 steps an octave */
    uint32_t *v;
    uint8_t lo, n; /* octaves held */
};

/* ---- one direction ---- */

struct hole { /* a hole the receiver reported, of the data of this direction */
    uint64_t from, to;
    scps_time at;
};
struct gap { /* data that was due when what lies above it came by */
    uint64_t from, to;
    scps_time at;
    uint32_t tsval; /* of what came instead, if has_ts */
    bool has_ts;
};
struct again { /* something sent again, until it is known whether that was needed */
    uint64_t first, end;
    scps_time at;   /* 0: this slot is free */
    uint32_t tsval; /* if has_ts */
    bool has_ts;
    bool open;     /* not acknowledged yet */
    bool timer;    /* the timer's, nobody had asked for it */
    bool spurious; /* counted: it was not needed */
};
#define HOLES  64u
#define AGAINS 64u
#define GAPS   1024u
#define ROUNDS 128u

struct round {      /* one round trip of a sender */
    uint32_t peak;  /* most bytes outstanding */
    uint32_t bytes; /* acknowledged in it */
    uint32_t dur;   /* µs */
    uint8_t resent, timeout;
};

enum cause {
    CAUSE_NONE,
    CAUSE_SNACK,
    CAUSE_SACK,
    CAUSE_DUPACK,
    CAUSE_TIMEOUT,
    CAUSE_TAIL_PROBE,
    CAUSE_FIRST_RTT,
    CAUSE_UNEXPLAINED,
    CAUSE_COUNT
};
struct why { /* evidence; taken when first needed */
    struct hole hole[HOLES];
    struct again again[AGAINS];
    uint32_t nhole, nagain; /* ever added: slots are modulo */
    uint32_t open;          /* again[] entries still open */
    struct gap *gap;        /* in order of from; at most GAPS, then the oldest are forgotten */
    uint32_t ngap, capgap;
    uint64_t cause[CAUSE_COUNT], spurious_dsack, spurious_ts, spurious, episodes;
    /* Resends that the log of the link (--truth) shows to be needed, and needless; of the needed
     * those whose first sending was lost to corruption, a full queue, an outage, otherwise. */
    uint64_t truth[6];
    uint64_t truth_unmatched;
};

const char *scps_tr_cause_name(enum cause c);

enum limit { LIMIT_NONE, LIMIT_APP, LIMIT_WINDOW, LIMIT_CONGESTION, LIMIT_COUNT };

struct comp_state { /* last values on a connection with compressed headers */
    uint32_t seq, ack, tsval, tsecr;
    uint16_t wnd;
    bool known;
};

struct conn_rare { /* what few connections have; taken when first needed */
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
    /* what every packet touches */
    scps_time last_time;
    uint64_t packets, wire_bytes;
    uint64_t ref; /* unwrapped position sequence numbers are compared with */
    uint64_t ack; /* tcptrace's: last acknowledgement number sent, 32 bits; 0: none */
    /* Highest acknowledgement sent, unwrapped in the other direction's space; 0: none */
    uint64_t ack_hi;
    scps_time ack_at; /* when ack_hi was reached */
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
    bool ws, ts, sack_ok, sacks_here, win_scaled, data_acked, seq_known, bad;
    uint64_t win_scaled_pkts;
    uint64_t isn64;    /* unwrapped first sequence number: offsets count from here */
    uint64_t sent_hi;  /* end of the highest data or FIN seen, unwrapped */
    uint64_t win_edge; /* right edge of the window offered, unwrapped in the other's space */
    /* copies made below IP */
    uint32_t hwdup[HWDUPS], hwdup_ix, hwdups;
    uint16_t hwdup_id[HWDUPS];
    /* resends */
    uint64_t rexmit_pkts, rexmit_bytes, ooo_pkts, zero_win;
    uint64_t initwin_bytes, initwin_segs, trunc_bytes, trunc_segs;
    uint64_t num_sacks, num_dsacks, sack_blocks;
    uint32_t max_sack_blocks;
    /* round trips of data this direction sent */
    struct dist rtt, rtt_full, tsrtt, ackgap;
    struct hist rtt_hist, tsrtt_hist;
    uint64_t rtt_full_size;
    scps_dur rtt_newest, rtt_3whs;
    uint64_t rtt_nosample, rtt_ambig, rtt_cumack, dupacks, triple_dupacks;
    scps_dur srtt, rttvar;
    struct {
        uint32_t tsval;
        scps_time at;
    } tsring[TSRING];
    uint32_t ts_head, ts_n;
    uint32_t ts_newest;
    bool ts_any;
    /* ours */
    uint64_t window_full, pureack_bytes;
    uint64_t acks_one, acks_two, acks_more, acked_segs, acks_adv;
    scps_time pureack_at;
    uint64_t out_max;
    double out_area; /* byte µs */
    uint64_t out_now;
    scps_dur out_time; /* with anything outstanding */
    scps_dur share[LIMIT_COUNT];
    enum limit limit;
    bool last_short;
    uint32_t full;          /* payload of a full segment; 0: not known yet */
    scps_time last_sent_at; /* data */
    uint32_t dup_run;       /* duplicate acknowledgements of this direction's data in a row */
    uint64_t rto_recover, fast_recover;
    struct scps_rangeset sacked; /* of this direction's data */
    scps_time sack_at;
    struct why *why;
    struct conn_rare *seldom;
    struct round *rounds;
    uint16_t nrounds, caprounds;
    uint64_t round_end;
    scps_time round_at;
    uint64_t round_ack;
    uint32_t round_peak;
    bool round_resent, round_timeout;
    /* SCPS */
    bool caps_seen;
    uint8_t caps, caps_id;
    uint32_t xcaps_len;
    struct comp_state c;
};

struct flow_key {
    uint8_t a[16], b[16]; /* IPv4: four bytes, the rest zero */
    uint16_t pa, pb;
    uint8_t version;
};

/* Addresses and ports as they lie in an IPv4 packet: what most packets are known by. */
struct flow_quick {
    uint64_t addrs;
    uint32_t ports;
    uint32_t any; /* 0: not IPv4 */
};

struct flow {
    struct flow_quick quick[2]; /* of packets from key.a, from key.b */
    struct flow_key key;
    uint32_t hash;
    uint32_t number, index;
    uint32_t next; /* in the hash chain, or in the free list; FLOW_NONE */
    bool used;
    bool listed; /* found by its hash (a successor on the same ports takes over) */
    scps_time first, last;
    scps_time spent_at; /* up to when time is accounted for */
    uint64_t packets;
    struct conn_dir h[2]; /* of key.a, of key.b */
};

#define FLOW_NONE UINT32_MAX

struct comp_entry { /* a compressed connection: addresses and id to flow */
    uint32_t flow, number;
    uint8_t dir, id;
    bool used;
};

struct truth;

#define RECENT                                                                                     \
    256u /* flows found without the hash: index * 2 + direction, by addresses and ports */

struct scps_trace {
    struct scps_trace_config cfg;
    struct scps_trace_totals tot;
    uint64_t seed[2];
    uint64_t mem, mem_peak;
    /* flows in slabs that never move */
    struct flow **slab;
    uint32_t nslab, capslab;
    uint32_t nflows; /* slots ever used */
    uint32_t free;   /* list of free slots */
    uint32_t live;
    uint32_t hand; /* of the eviction clock */
    uint32_t *bucket;
    uint32_t nbucket;
    uint32_t last_flow; /* of the previous packet */
    struct recent {
        struct flow *f;
        int dir;
    } recent[RECENT]; /* found without the hash, by addresses and ports */
    struct comp_entry *comp;
    uint32_t ncomp, capcomp;
    struct truth *truth;
    struct conn_rare lost; /* counts what there is no memory for */
    scps_time now;
    bool finished;
    uint32_t *order; /* flows in order of number, after finish */
};

#define SLAB_BITS 6u
#define SLAB      (1u << SLAB_BITS)

static inline struct flow *scps_tr_flow(const struct scps_trace *t, uint32_t i)
{
    return &t->slab[i >> SLAB_BITS][i & (SLAB - 1)];
}

/* Finds the connection of a packet, or makes it; *dir: 0 from key.a. NULL on lack of memory. */
struct flow *scps_tr_flow_find(struct scps_trace *t, const struct flow_key *k, uint16_t flags,
                               uint32_t seq, int *dir);

static inline uint32_t scps_tr_recent(const struct flow_quick *q)
{
    return (uint32_t)((q->addrs ^ q->ports * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u >> 56);
}

/* The same for an IPv4 packet of a connection seen lately, unless it might begin another; NULL:
 * look it up. */
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
void scps_tr_flow_reset(struct scps_trace *t, struct flow *f); /* gives back what hangs on it */
void scps_tr_flows_free(struct scps_trace *t);

/* ---- segs.c ---- */

/* Notes [first, first+len). Returns how many of the bytes had been sent before; *ooo: it came out
 * of order. */
uint32_t scps_tr_segs_add(struct scps_trace *t, struct conn_dir *h, uint64_t first, uint32_t len,
                          scps_time now, bool *ooo, struct resend *re);
/* An acknowledgement up to ack of the data of h. dup: it fulfils what is asked of a duplicate
 * besides its number. Returns the sample it completed, or -1. */
scps_dur scps_tr_segs_ack(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now,
                          bool dup);
void scps_tr_segs_free(struct scps_trace *t, struct conn_dir *h);

/* ---- rtt.c ---- */

void scps_tr_dist_add(struct dist *d, scps_dur v); /* tcptrace's rule: a minimum of 0 is replaced */
double scps_tr_dist_avg(const struct dist *d);     /* µs */
double scps_tr_dist_sd(const struct dist *d);
void scps_tr_hist_add(struct scps_trace *t, struct hist *h, scps_dur v);
double scps_tr_hist_at(const struct hist *h, const struct dist *d,
                       double q); /* µs; NaN without samples */
void scps_tr_hist_free(struct scps_trace *t, struct hist *h);
void scps_tr_rtt_smooth(struct conn_dir *h, scps_dur v);
void scps_tr_ts_sent(struct conn_dir *h, uint32_t tsval, scps_time now);
void scps_tr_ts_echoed(struct scps_trace *t, struct conn_dir *h, uint32_t tsecr, scps_time now);

/* ---- why.c ---- */

void scps_tr_why_snack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                       scps_time now);
void scps_tr_why_sack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                      scps_time now);
/* The receiver says it had [from, to) twice. */
void scps_tr_why_dsack(struct conn_dir *h, uint64_t from, uint64_t to);
/* The acknowledgement of h's data went from una to ack. bets: the receiver may acknowledge what it
 * never got. */
void scps_tr_why_acked(struct conn_dir *h, uint64_t una, uint64_t ack, bool bets, bool has_ts,
                       uint32_t tsecr);
enum cause scps_tr_why_resent(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                              uint64_t first, uint64_t end, const struct resend *re, bool syn,
                              bool has_ts, uint32_t tsval, scps_time now);
/* Data comes by at to, and [from, to) has not yet. tsval: its timestamp, if has_ts. */
void scps_tr_why_gap_opened(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                            uint64_t from, uint64_t to, bool has_ts, uint32_t tsval, scps_time now);
/* Data that fills the gap [first, end): is it the repair of something lost before it came by here
 * (and not merely overtaken on the way)? re: gets the time when it was due, if that is known. */
bool scps_tr_why_gap(struct conn_dir *h, const struct conn_dir *peer, uint64_t first, uint64_t end,
                     bool has_ts, uint32_t tsval, scps_time now, struct resend *re);
void scps_tr_why_free(struct scps_trace *t, struct conn_dir *h);
struct scps_alloc scps_tr_range_alloc(struct scps_trace *t);

/* ---- truth.c ---- */

void scps_tr_truth_free(struct scps_trace *t);
void scps_tr_truth_judge(struct scps_trace *t, const struct flow *f, int dir, struct conn_dir *h,
                         uint32_t seq, uint32_t len);

/* ---- fingerprint.c ---- */

void scps_tr_round_sent(struct conn_dir *h, uint64_t outstanding);
void scps_tr_round_acked(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now);
void scps_tr_fingerprint(const struct conn_dir *h, struct scps_trace_dir *out);

/* ---- link.c ---- */

static inline uint32_t scps_tr_little16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static inline uint32_t scps_tr_little32(const uint8_t *p)
{
    return scps_tr_little16(p) | scps_tr_little16(p + 2) << 16;
}
/* Finds the IP header of a frame: its offset, or -1 with the right counter stepped. */
int scps_tr_link_ip(struct scps_trace *t, int link, const uint8_t *p, uint32_t caplen);
/* True if link is a type that scps_tr_link_ip can read. */
bool scps_tr_link_known(int link);
/* Writes to msg that captures of this link type are not read. what: the file or the device. Returns
 * SCPS_ERR_INVAL. */
int scps_tr_link_refused(const char *what, int link, char *msg);
#define TR_LINK_ETHERNET 1

/* ---- ethertype.c ---- */

/* Counts a frame whose link layer carries no IP. Returns -1, for what finds an IP header. */
static inline int scps_tr_other_link(struct scps_trace *t)
{
    t->tot.other_link++;
    return -1;
}
/* Counts a frame that was captured too short. Returns -1. */
static inline int scps_tr_truncated(struct scps_trace *t)
{
    t->tot.truncated++;
    return -1;
}
/* As scps_tr_link_ip, behind an EtherType or the length of an 802.3 frame, which ended at off. */
int scps_tr_ethertype_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off,
                         uint32_t type);
/* The same for a PPP protocol field at off, of one octet or two. */
int scps_tr_ppp_ip(struct scps_trace *t, const uint8_t *p, uint32_t caplen, uint32_t off);

/* ---- wireless.c ---- */

/* What the radio put in front of an 802.11 frame. */
enum scps_tr_radio { TR_RADIO_NONE, TR_RADIO_PRISM, TR_RADIO_TAP, TR_RADIO_AVS };
/* As scps_tr_link_ip, of such a frame. */
int scps_tr_wireless_ip(struct scps_trace *t, enum scps_tr_radio radio, const uint8_t *p,
                        uint32_t caplen);

/* ---- comp105.c: connections with compressed headers ---- */

void scps_tr_comp_learn(struct scps_trace *t, const struct flow *f, int dir, uint8_t id);
struct flow *scps_tr_comp_find(struct scps_trace *t, const struct flow_key *k, uint8_t id,
                               int *dir);

/* ---- report.c ---- */

void scps_tr_report(const struct scps_trace *t, const struct flow *f, struct scps_trace_conn *out);
void scps_tr_letter(uint64_t n, char out[8]);

#endif
