/* SPDX-License-Identifier: MIT */
/* Episodes of repair: what one is to know of itself, and of duplicate acknowledgements before it.
 *
 * Invariant: an episode has a point beyond the left edge; resent counts only inside it.
 */
#ifndef SCPS_CORE_RECOVERY_H
#define SCPS_CORE_RECOVERY_H

#include <scps/cc.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/rangeset.h"
#include "core/scoreboard.h"

struct scps_conn;
struct scps_tx;

enum scps_episode { SCPS_EPISODE_NONE, SCPS_EPISODE_FAST, SCPS_EPISODE_RTO };

/* Repairing: recovery.c. */
#define SCPS_RECOVERY_COPIES 4
struct scps_recovery {
    uint8_t episode; /* enum scps_episode */
    uint8_t frto;    /* RFC 5682: 0 off, 1 awaiting the first ack, 2 the second */
    bool undoable;
    bool of_silence;         /* a timeout began it, and the left edge has not moved since */
    bool eifel;              /* and by the timestamps, with the resending that stamp is of */
    bool first_resend;       /* the segment that starts an episode leaves whatever the window */
    scps_off point;          /* the episode ends when everything below is acknowledged */
    uint64_t flight;         /* RFC 6937 RecoverFS */
    uint64_t delivered, out; /* prr_delivered, prr_out */
    uint64_t window;         /* what recovery allows to be in flight; fast episodes only */
    scps_time spread_until;  /* the window is spread over the round trip up to then; 0: it is not */
    uint32_t resent;         /* segments resent in this episode and not reported duplicate */
    scps_off first;          /* the left edge when it began */
    /* All that was resent in this episode lies within these ranges of octets. */
    struct scps_range copies[SCPS_RECOVERY_COPIES];
    uint8_t ncopies;
    uint32_t stamp;           /* timestamp of the first resending of the octet there; 0 not yet */
    scps_off frto_nxt;        /* nxt when the timer expired */
    uint64_t virtual_arrived; /* without SACK: what duplicate acknowledgements stand for, bytes */
    uint8_t dupacks;          /* duplicate acknowledgements in a row */
    uint8_t age_checks; /* acknowledgements of progress yet to be followed by a look at ages */
    uint8_t silent;     /* timeouts in a row since anything was heard to have arrived */
    bool unheard;       /* at the last one no acknowledgement had come for its length */
};

static inline void scps_recovery_duplicate(struct scps_recovery *rec)
{
    if (rec->dupacks < UINT8_MAX)
        rec->dupacks++;
}
static inline void scps_recovery_no_duplicates(struct scps_recovery *rec)
{
    rec->dupacks = 0;
}
/* A duplicate stands for a segment of `bytes` that has arrived, of at most `flight` in all. */
static inline void scps_recovery_virtual(struct scps_recovery *rec, uint32_t bytes, uint64_t flight)
{
    rec->virtual_arrived = SCPS_MIN(rec->virtual_arrived + bytes, flight);
}
/* Up to `bytes` that duplicates stood for are known to have arrived now. Returns how many. */
static inline uint64_t scps_recovery_real(struct scps_recovery *rec, uint64_t bytes)
{
    bytes = SCPS_MIN(bytes, rec->virtual_arrived);
    rec->virtual_arrived -= bytes;
    return bytes;
}
/* The left edge has moved without an acknowledgement: duplicates before tell nothing. */
static inline void scps_recovery_forget(struct scps_recovery *rec)
{
    rec->virtual_arrived = 0;
    rec->dupacks = 0;
}
/* Something has arrived since the last timeout. */
static inline void scps_recovery_heard(struct scps_recovery *rec)
{
    rec->silent = 0;
}
/* An acknowledgement of progress has been followed by a look at the age of the oldest segment. */
static inline void scps_recovery_looked(struct scps_recovery *rec)
{
    rec->age_checks--;
}
/* Nothing will tell any more that the losses of the episode were imagined. */
static inline void scps_recovery_final(struct scps_recovery *rec)
{
    rec->undoable = false;
}

/* ---- recovery.c, pipe.c ---- */

/* A tail probe has repaired a loss: the controller hears of it, and that it is over. */
void scps_recovery_repaired(struct scps_conn *c);
/* bytes were found lost by an acknowledgement that tells of `delivered` arrived ones. */
void scps_recovery_lost(struct scps_conn *c, uint64_t bytes, uint64_t delivered,
                        enum scps_evidence evidence);
void scps_recovery_timeout(struct scps_conn *c);
/* The rate at which an episode of repair lets the window fill again after a standstill; 0: as
 * acknowledgements come. */
uint64_t scps_recovery_rate(struct scps_conn *c);
/* What should have been answered by now is lost. */
void scps_recovery_mark_lost(struct scps_conn *c);
/* Progress during an episode, whose left edge was at `was`: was it imagined, is it over, how much
 * may leave? */
void scps_recovery_acked(struct scps_conn *c, const struct scps_ack_result *sum, scps_off was,
                         const struct scps_seg *seg);
/* A segment left; resent: its record, not told of it yet; NULL for new data. */
void scps_recovery_sent(struct scps_conn *c, uint32_t len, const struct scps_sent_segment *resent);
/* The peer has reported that [from, to) came twice; fresh: nothing had told before that it came at
 * all. */
void scps_recovery_dsack(struct scps_conn *c, scps_off from, scps_off to, bool fresh);
/* F-RTO is over, and whether the timeout was spurious stays open: conventional recovery. */
void scps_recovery_no_frto(struct scps_recovery *rec);
/* The timeouts of this silence were an outage's, which says nothing of the load of the path: the
 * controller is as before the first of them, unless something else had begun the episode. */
void scps_recovery_was_outage(struct scps_conn *c);
/* The left edge moved without an acknowledgement. */
void scps_recovery_passed(struct scps_conn *c);
/* An episode brings the window down: the controller asks for a smaller one than before it. */
bool scps_recovery_is_reducing(const struct scps_conn *c);
/* Bytes that may be in flight now, and that are. */
uint64_t scps_recovery_window(const struct scps_conn *c);
/* Has the peer been silent for so long that no more than a few segments may leave until it is
 * heard? With fewer outstanding there is nothing to hold back. */
bool scps_recovery_only_probes(const struct scps_tx *tx, uint64_t outstanding, uint32_t mss);
/* Bytes/s that spread these segments, as packets of `packet` bytes, over a timeout of rto. */
uint64_t scps_recovery_probe_rate(scps_dur rto, uint32_t packet);
uint64_t scps_recovery_inflight(const struct scps_tx *tx);

#endif
