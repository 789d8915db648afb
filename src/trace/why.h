/* SPDX-License-Identifier: MIT */
/* What the analyser records of one direction of a connection to find out why its data was sent
 * again: ranges reported or captured as missing, retransmissions, and counters of their causes. */
#ifndef SCPS_TRACE_WHY_H
#define SCPS_TRACE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include <scps/types.h>

struct conn_dir;
struct resend;
struct scps_trace;

struct hole {
    /* a range of sequence numbers that a SNACK reported as missing at time `at`, µs */
    uint64_t from, to;
    scps_time at;
};
struct gap {
    /* a range that the capture lacked when data above it was captured, at time `at`, µs */
    uint64_t from, to;
    scps_time at;
    uint32_t tsval; /* TSval of the data above the gap, valid if has_ts is true */
    bool has_ts;
};
struct again { /* a retransmission, kept until it is known whether it was necessary */
    uint64_t first, end;
    scps_time at;     /* time at which the retransmission was sent, µs; 0: this entry is free */
    scps_time before; /* time at which the copy before this retransmission was sent, µs */
    uint32_t tsval;   /* TSval of this retransmission, valid if has_ts is true */
    bool has_ts;
    bool open;     /* true: the octets [first, end) are not acknowledged yet */
    bool timer;    /* true: the cause of this retransmission is a timeout (CAUSE_TIMEOUT) */
    bool spurious; /* true: the retransmission was counted as spurious */
};
#define HOLES  64u
#define AGAINS 64u
#define GAPS   1024u

enum cause {
#define SCPS_TR_CAUSE(id, name, letter, words) CAUSE_##id,
#include "trace/causes.def"
#undef SCPS_TR_CAUSE
    CAUSE_COUNT
};
struct why { /* evidence for the causes of retransmissions; allocated when first needed */
    struct hole hole[HOLES];
    struct again again[AGAINS];
    /* numbers of ranges that SNACKs have reported missing (hole), and of retransmissions (again),
     * that were recorded so far: number i, from 0, is in hole[i % HOLES] or again[i % AGAINS],
     * unless a later one has overwritten it */
    uint32_t nhole, nagain;
    /* number of entries of `again` (retransmissions of this direction's data) whose data is not
     * acknowledged yet */
    uint32_t open;
    /* Array of the ngap ranges of sequence numbers that the capture lacked when data above them was
     * captured, in order of `from`, at most GAPS; when more are found, the oldest are removed. */
    struct gap *gap;
    uint32_t ngap, capgap;
    /* Time for which a segment may pass the capture point after data that was sent later, on a path
     * where this was seen to be longer than a round trip, µs; 0: it was not. */
    scps_dur overtaken;
    uint64_t cause[CAUSE_COUNT], spurious_dsack, spurious_ts, spurious, episodes;
    /* Results of the comparison with the link's log (--truth): number of retransmissions that were
     * [0] necessary, [1] not; and of the necessary ones, those whose earlier copy was lost to [2]
     * corruption, [3] a full queue, [4] an outage, [5] anything else. */
    uint64_t truth[6];
    uint64_t truth_unmatched;
};

const char *scps_tr_cause_name(enum cause c);

/* ---- functions in why.c, which find the cause of a retransmission ---- */

void scps_tr_why_snack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                       scps_time now);
void scps_tr_why_sack(struct scps_trace *t, struct conn_dir *h, uint64_t from, uint64_t to,
                      scps_time now);
/* Processes a DSACK: the receiver reports that it received [from, to) twice. */
void scps_tr_why_dsack(struct conn_dir *h, uint64_t from, uint64_t to);
/* Records that SND.UNA of h's data has advanced from una to ack. bets: best effort (BETS of
 * SCPS-TP) was negotiated: a receiver may acknowledge data it did not receive. */
void scps_tr_why_acked(struct conn_dir *h, uint64_t una, uint64_t ack, bool bets, bool has_ts,
                       uint32_t tsecr);
enum cause scps_tr_why_resent(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                              uint64_t first, uint64_t end, const struct resend *re, bool syn,
                              bool has_ts, uint32_t tsval, scps_time now);
void scps_tr_why_free(struct scps_trace *t, struct conn_dir *h);

/* ---- functions in gap.c, for data that is missing in the capture ---- */

/* Called when data of h that begins at `to` was captured, but the octets [from, to) below it were
 * not: records that range as a gap. tsval: timestamp of the captured data, valid if has_ts is
 * true. */
void scps_tr_gap_opened(struct scps_trace *t, struct conn_dir *h, const struct conn_dir *peer,
                        uint64_t from, uint64_t to, bool has_ts, uint32_t tsval, scps_time now);
/* Returns true if octets first to end - 1, which fill a gap, are a retransmission of data that was
 * lost before the capture point; false: they arrived out of order. *re gets the time at which the
 * gap was found. */
bool scps_tr_gap_repaired(struct conn_dir *h, const struct conn_dir *peer, uint64_t first,
                          uint64_t end, bool has_ts, uint32_t tsval, scps_time now,
                          struct resend *re);
/* Called for a copy of data that was captured before and begins at `first`. If an earlier copy
 * filled a gap and was taken for a retransmission, and this one follows within SHORT_PATH (gap.c)
 * after the gap became visible, one of the two was the first transmission, which data sent later
 * had overtaken by more than a round trip: no timer expires so soon. A copy at the same time as the
 * earlier one was made by the network. */
void scps_tr_gap_note_overtaken(struct conn_dir *h, uint64_t first, scps_time now);

#endif
