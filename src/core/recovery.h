/* SPDX-License-Identifier: MIT */
/* State of a recovery episode, and of duplicate acknowledgements before it.
 *
 * Invariant: an episode has a recovery point above SND.UNA; `resent` counts within an episode only.
 * The functions below return what has happened, and ackin.c or sndtimer.c informs the controller.
 */
#ifndef SCPS_CORE_RECOVERY_H
#define SCPS_CORE_RECOVERY_H

#include <scps/cc.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/rangeset.h"
#include "core/scoreboard.h"
#include "core/sender.h"

/* What an acknowledgement means to a recovery episode: the episode continues, is over because its
 * recovery point is acknowledged, or was spurious. */
enum scps_recovery_verdict { SCPS_RECOVERY_GOES_ON, SCPS_RECOVERY_OVER, SCPS_RECOVERY_IMAGINED };

enum scps_episode { SCPS_EPISODE_NONE, SCPS_EPISODE_FAST, SCPS_EPISODE_RTO };

/* State of the recovery episode: recovery.c. */
#define SCPS_RECOVERY_COPIES 4
struct scps_recovery {
    uint8_t episode; /* enum scps_episode */
    /* RFC 5682 (F-RTO): 0 off, 1 awaiting the first acknowledgement, 2 the second */
    uint8_t frto;
    bool undoable;
    bool of_silence; /* a timeout began the episode, and SND.UNA has not moved since */
    bool eifel;      /* a spurious loss can be detected by timestamps (RFC 3522) */
    /* the first retransmission of the episode is sent whatever the window permits */
    bool first_resend;
    /* offset up to which all must be acknowledged for the episode to end */
    scps_off point;
    uint64_t flight;         /* RFC 6937 RecoverFS */
    uint64_t delivered, out; /* prr_delivered, prr_out */
    uint64_t window;         /* bytes that recovery permits in flight; fast episodes only */
    /* time, µs, up to which the congestion window is paced over a round trip; 0: it is not */
    scps_time spread_until;
    uint32_t resent; /* segments resent in this episode and not reported duplicate */
    scps_off first;  /* SND.UNA when the episode began */
    /* Every segment that was resent in this episode is within one of these ranges. */
    struct scps_range copies[SCPS_RECOVERY_COPIES];
    uint8_t ncopies;
    /* timestamp of the first retransmission of the episode; 0: there was none, or not of what had
     * been sent once */
    uint32_t stamp;
    /* valid if stamp is not 0: the first octet of that retransmission, and the time of its first
     * transmission */
    scps_off stamped;
    scps_time first_sent;
    scps_off frto_nxt; /* SND.NXT when the timer expired */
    /* without SACK: bytes that the duplicate acknowledgements show to have arrived */
    uint64_t virtual_arrived;
    uint8_t dupacks; /* consecutive duplicate acknowledgements */
    /* acknowledgements of progress after which the age of the oldest segment is still to be
     * checked */
    uint8_t age_checks;
    uint8_t silent; /* consecutive timeouts during which no acknowledgement reported an arrival */
    /* when the timer expired last, no acknowledgement had arrived for a whole retransmission
     * timeout */
    bool unheard;
    bool partial; /* a partial acknowledgement has come in this fast episode */
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
/* Counts a duplicate acknowledgement, which stands for `bytes` that have arrived, of at most
 * `flight` in all. */
static inline void scps_recovery_virtual(struct scps_recovery *rec, uint32_t bytes, uint64_t flight)
{
    rec->virtual_arrived = SCPS_MIN(rec->virtual_arrived + bytes, flight);
}
/* Takes up to `bytes` for which duplicates stood, because they are now acknowledged. Returns how
 * many. */
static inline uint64_t scps_recovery_real(struct scps_recovery *rec, uint64_t bytes)
{
    bytes = SCPS_MIN(bytes, rec->virtual_arrived);
    rec->virtual_arrived -= bytes;
    return bytes;
}
/* Called when SND.UNA has moved without an acknowledgement: earlier duplicate acknowledgements do
 * not count any more. */
static inline void scps_recovery_forget(struct scps_recovery *rec)
{
    rec->virtual_arrived = 0;
    rec->dupacks = 0;
}
/* Records that something has arrived since the last timeout. */
static inline void scps_recovery_heard(struct scps_recovery *rec)
{
    rec->silent = 0;
}
/* Records that the age of the oldest segment was checked after an acknowledgement of progress. */
static inline void scps_recovery_looked(struct scps_recovery *rec)
{
    rec->age_checks--;
}
/* Records that no later evidence can show the losses of the episode to be spurious. */
static inline void scps_recovery_final(struct scps_recovery *rec)
{
    rec->undoable = false;
}

/* Counts `len` bytes that were sent. */
static inline void scps_recovery_sent(struct scps_recovery *rec, uint32_t len)
{
    if (rec->episode != SCPS_EPISODE_NONE)
        rec->out += len;
}

/* ---- recovery.c ---- */

/* Begins an episode because of a loss, or of an ECN echo. Precondition: none is in progress, and
 * the controller's state has been saved (scps_cc_save). */
void scps_recovery_begin(struct scps_sender *s, enum scps_evidence evidence);
/* Begins the episode of a loss that a tail loss probe has repaired; the caller ends it. */
void scps_recovery_repaired(struct scps_sender *s);
/* Returns the event for the controller when `bytes` bytes were found lost. fresh: they begin an
 * episode. */
struct scps_cc_loss scps_recovery_news(struct scps_sender *s, uint64_t bytes,
                                       enum scps_evidence evidence, bool fresh);
/* Called when the controller has been informed of a new episode: computes how much may be sent in
 * answer to the acknowledgement that reports `delivered` arrived bytes. Returns false if nothing is
 * to be repaired; then the episode is over. */
bool scps_recovery_goes_on(struct scps_sender *s, uint64_t delivered);
/* Called when the retransmission timer has expired: begins an episode, and declares lost what
 * should have been acknowledged by now. If no episode is in progress, the caller has saved the
 * controller's state before. */
void scps_recovery_timeout(struct scps_sender *s);
/* Called for progress during an episode; `was` is SND.UNA before it. Decides whether the episode
 * was spurious or is over, and how much may be sent. After SCPS_RECOVERY_OVER the caller informs
 * the controller and then calls scps_recovery_spread(). */
enum scps_recovery_verdict scps_recovery_acked(struct scps_sender *s,
                                               const struct scps_ack_result *sum, scps_off was,
                                               const struct scps_seg *seg);
/* Called when SND.UNA has moved: if more than an initial window may be sent at once, the window
 * is paced over a round trip. */
void scps_recovery_spread(struct scps_sender *s);
void scps_recovery_end(struct scps_recovery *rec);
/* Ends an episode that was spurious. */
void scps_recovery_undone(struct scps_recovery *rec);
/* Records that a segment is resent; `resent` is its record before that is updated, tsval the value
 * of our time stamps now. */
void scps_recovery_resent(struct scps_recovery *rec, const struct scps_sent_segment *resent,
                          uint32_t tsval);
/* Processes a DSACK for [from, to). Returns true if all that was resent has now been reported as a
 * duplicate: the episode was spurious. */
bool scps_recovery_dsack(struct scps_recovery *rec, scps_off from, scps_off to);
/* Ends F-RTO without a decision whether the timeout was spurious: conventional recovery follows. */
void scps_recovery_no_frto(struct scps_recovery *rec);
/* Returns true if timeouts alone began the episode, all after the last segment of the peer, and
 * SND.UNA is still `una`: if a link outage caused them, the episode says nothing about
 * congestion. */
bool scps_recovery_is_of_outage(const struct scps_recovery *rec, scps_off una);
/* Called when SND.UNA moved to `una` without an acknowledgement. Returns true if that ends the
 * episode. */
bool scps_recovery_passed(struct scps_recovery *rec, scps_off una);
/* RFC 6582 section 3.2 step 3: "For the first partial ACK that arrives during fast recovery, also
 * reset the retransmit timer." Returns true after that first one, if neither SACK nor SNACK can
 * show more than one hole in each round trip: then nothing restarts the timer until the episode is
 * over, so many lost segments are repaired by slow start after a timeout (section 4, the Impatient
 * variant). */
bool scps_recovery_is_impatient(const struct scps_sender *s);

/* ---- recovery_pipe.c ---- */

/* The first returns the bytes that may be in flight now, the second the bytes that are. */
uint64_t scps_recovery_window(struct scps_sender *s);
uint64_t scps_recovery_inflight(const struct scps_tx *tx);
/* Returns the rate, bytes/s, at which recovery lets the window fill again after a gap without
 * transmission; 0: acknowledgements clock it. */
uint64_t scps_recovery_rate(struct scps_sender *s);
/* Returns true if the peer has been silent for so long that only a few segments may be sent until
 * it answers. If fewer are outstanding anyway, it returns false. */
bool scps_recovery_only_probes(const struct scps_tx *tx, uint64_t outstanding, uint32_t mss);
/* Returns the rate, bytes/s, that spreads these segments, as packets of `packet` bytes, over a
 * timeout of rto. */
uint64_t scps_recovery_probe_rate(scps_dur rto, uint32_t packet);

/* Reports the state of loss recovery to the observer. what: 0 ended, 1 begun, 2 found spurious. */
void scps_recovery_note(const struct scps_sender *s, int what);

#endif
