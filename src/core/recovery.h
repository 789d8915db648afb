/* SPDX-License-Identifier: MIT */
/* State of a recovery episode, and of duplicate acknowledgements before it.
 *
 * Invariant: during an episode the recovery point is above SND.UNA; `resent` counts the
 * retransmissions of one episode only. The functions below return what has happened; the caller,
 * ackloss.c or sndtimer.c, informs the congestion controller.
 */
#ifndef SCPS_CORE_RECOVERY_H
#define SCPS_CORE_RECOVERY_H

#include <scps/cc.h>
#include <scps/wire.h>

#include "base/bytes.h"
#include "base/rangeset.h"
#include "core/scoreboard.h"
#include "core/sender.h"
#include "core/ts.h"

/* What an acknowledgement means to a recovery episode: it continues (GOES_ON), is over because its
 * recovery point is acknowledged (OVER), or was spurious (IMAGINED). */
enum scps_recovery_verdict { SCPS_RECOVERY_GOES_ON, SCPS_RECOVERY_OVER, SCPS_RECOVERY_IMAGINED };

enum scps_episode { SCPS_EPISODE_NONE, SCPS_EPISODE_FAST, SCPS_EPISODE_RTO };

/* size of the array scps_recovery.copies: largest number of separate ranges of resent octets that
 * are recorded in one recovery episode */
#define SCPS_RECOVERY_COPIES 4
/* State of the recovery episode in progress, or of the last one; only recovery.c and the functions
 * of this file assign the fields. */
struct scps_recovery {
    /* kind of the episode in progress (enum scps_episode); SCPS_EPISODE_NONE: there is none */
    uint8_t episode;
    /* F-RTO (RFC 5682): 0 not in progress; 1 awaits the first acknowledgement; 2 the second */
    uint8_t frto;
    bool undoable;
    /* kind of an episode that has proved spurious, until the congestion controller is informed of
     * that: SCPS_EPISODE_FAST or _RTO, always _FAST if the episode had ended before a DSACK proved
     * it spurious; SCPS_EPISODE_NONE: there is none */
    uint8_t undone;
    /* true: the peer's silence began the episode, so an outage of the link may be the cause. Either
     * the retransmission timer expired, or the timer of SNACK's loss detection found that the peer
     * had not reported a retransmission, or the last segments sent, in time (SCPS_BY_RESEND).
     * false: a loss report or an ECN mark began the episode, SND.UNA advanced in it before another
     * timeout, or the peer echoed an ECN mark since */
    bool of_silence;
    /* true: an outage of the link has caused all losses of the episode so far */
    bool of_outage;
    bool eifel; /* true: timestamps can still show that the loss was spurious (RFC 3522) */
    /* true: the first retransmission of the episode has not been sent yet; it may be sent whatever
     * the window permits */
    bool first_resend;
    /* RecoveryPoint (RFC 6675): the episode ends when all octets below this offset are
     * acknowledged */
    scps_off point;
    /* SND.NXT when the controller last reduced its window, or was last informed of an ECN echo; 0:
     * never, or the reduction was undone. The next segment with new data carries CWR, so an echo in
     * an acknowledgement up to this offset was sent before CWR could arrive. */
    scps_off reduced;
    uint64_t flight;         /* RecoverFS of RFC 6937: bytes outstanding when the episode began */
    uint64_t delivered, out; /* prr_delivered and prr_out of RFC 6937, bytes */
    /* bytes that PRR (RFC 6937) permits in flight; valid in fast recovery (SCPS_EPISODE_FAST) */
    uint64_t window;
    /* time, µs, until which the congestion window is paced over a round trip; 0: it is not paced */
    scps_time spread_until;
    /* true: when the pacing until spread_until began, the peer's window or an empty send buffer had
     * stopped the sender, not the congestion window or a rate; valid while spread_until is not 0 */
    bool standstill;
    /* Set if the segments outstanding were shorter than half of the MSS on average at two timeouts
     * in a row (those that note_small() in recovery.c counts): bursts of small segments do not get
     * through. Mean length, octets, of the segments outstanding at the last of these timeouts. The
     * window is then spread over the round trip and leaves in bursts of four packets of this length
     * (control.c). 0: not set, or a later counted timeout found longer segments outstanding. */
    uint32_t small_len;
    uint32_t resent; /* segments resent in this episode that no DSACK has reported as duplicates */
    /* resent_ever: number of segments resent since the connection was opened. copied: number of
     * DSACKs since then that report data not resent in the recovery episode in progress (outside an
     * episode: in the last one), so that the network may have made the duplicate (RFC 3708). While
     * copied exceeds resent_ever, no DSACK proves an episode spurious. */
    uint32_t resent_ever, copied;
    scps_off first; /* SND.UNA when the episode began */
    /* Ranges of octets of the stream, the first `ncopies` in use: every segment that this end has
     * resent in the episode lies within one of them. */
    struct scps_range copies[SCPS_RECOVERY_COPIES];
    uint8_t ncopies;
    /* TSval of the first retransmission of the episode; 0: there was none, or its segment had been
     * resent before the episode */
    uint32_t stamp;
    /* First octet of the segment whose retransmission last set `stamp`: in this episode or, if
     * `stamp` is 0, in the latest earlier episode that set it; 0: no episode has set `stamp`.
     * `stamped_at` and `first_stamp` are about this octet. */
    scps_off stamped;
    /* time of the retransmission of octet `stamped` that set `stamp`, µs */
    scps_time stamped_at;
    uint32_t first_stamp; /* TSval with which octet `stamped` was sent for the first time */
    /* time, µs, at which the octet at SND.UNA was first sent, set when the episode begins: no data
     * lost in the episode was first sent before that. 0: that octet had already been resent when
     * the episode began, or nothing was outstanding then */
    scps_time first_sent;
    /* SND.NXT when the retransmission timer last expired: RecoveryPoint of RFC 5682 */
    scps_off frto_nxt;
    /* without SACK: bytes that were counted as arrived because of duplicate acknowledgements */
    uint64_t virtual_arrived;
    uint8_t dupacks; /* consecutive duplicate acknowledgements */
    /* Vegas (scps_cc_ops.by_age): the age of the oldest segment is checked at each of the next
     * age_checks acknowledgements that advance SND.UNA; each retransmission in an episode sets it
     * to 2 */
    uint8_t age_checks;
    uint8_t silent; /* consecutive timeouts since an acknowledgement last reported an arrival */
    /* true: when the retransmission timer last expired, no acknowledgement had arrived for one
     * RTO */
    bool unheard;
    /* true: since the retransmission timer last expired, an outage of the link has ended, as the
     * driver has signalled (SCPS_SIGNAL_LINK_UP, or the end that it named before), or as a segment
     * of the peer that arrived has shown */
    bool link_up;
    /* true: when the retransmission timer last expired, the segments outstanding were shorter than
     * half of the MSS on average. If the next timeout finds the same, `small_len` is set, and the
     * sender paces its window in small bursts. A further timeout in an RTO episode does not count
     * if SND.UNA has not advanced in between (note_small() in recovery.c). */
    bool small_before;
    /* true: a partial acknowledgement (RFC 6582) has arrived since the episode began or, in it, the
     * retransmission timer last expired */
    bool partial;
    bool unresent; /* true: no segment was resent since the episode began */
};

static inline void scps_recovery_duplicate(struct scps_recovery *rec)
{
    if (rec->dupacks < UINT8_MAX)
        rec->dupacks++;
}
/* Without SACK: called for a duplicate acknowledgement. Counts `bytes` bytes as arrived, although
 * it is not known which; the sum of bytes counted like this is at most `flight`, the bytes
 * outstanding. */
static inline void scps_recovery_virtual(struct scps_recovery *rec, uint32_t bytes, uint64_t flight)
{
    rec->virtual_arrived = SCPS_MIN(rec->virtual_arrived + bytes, flight);
}
/* Without SACK: called when SEG.ACK or a SNACK shows that `bytes` bytes have arrived. Returns how
 * many of these bytes scps_recovery_virtual() had already counted as arrived because of duplicate
 * acknowledgements, at most `bytes`, and subtracts that number from virtual_arrived. */
static inline uint64_t scps_recovery_real(struct scps_recovery *rec, uint64_t bytes)
{
    bytes = SCPS_MIN(bytes, rec->virtual_arrived);
    rec->virtual_arrived -= bytes;
    return bytes;
}
/* Called when an acknowledgement advances SND.UNA outside recovery, when best effort moves SND.UNA
 * past data that it gives up, and after a timeout: sets the count of duplicate acknowledgements,
 * and of the bytes that they stood for, to 0. The duplicates may have been made by the network, and
 * then the bytes would be missing in the count of those in flight for ever. */
static inline void scps_recovery_forget(struct scps_recovery *rec)
{
    rec->virtual_arrived = 0;
    rec->dupacks = 0;
}
/* Called when an outage of the link has ended: the limit on what may be sent to a silent peer
 * (scps_recovery_only_probes) no longer applies. */
static inline void scps_recovery_link_up(struct scps_recovery *rec)
{
    rec->link_up = true;
}
/* Called for an acknowledgement that reports an arrival (by SEG.ACK, SACK or SNACK): the count of
 * consecutive timeouts begins anew. */
static inline void scps_recovery_heard(struct scps_recovery *rec)
{
    rec->silent = 0;
}
/* Decrements age_checks, the number of further acknowledgements at which the age of the oldest
 * segment is checked (Vegas; scps_cc_ops.by_age). Called at each acknowledgement that advances
 * SND.UNA while age_checks is not 0. A retransmission in an episode sets it to 2; at 0 the checks
 * end. */
static inline void scps_recovery_looked(struct scps_recovery *rec)
{
    rec->age_checks--;
}
/* Records that the episode can no longer be undone: no later acknowledgement can show its losses to
 * be spurious. */
static inline void scps_recovery_final(struct scps_recovery *rec)
{
    rec->undoable = false;
}
/* Records that an outage of the link has caused the losses with which an episode begins. */
static inline void scps_recovery_by_outage(struct scps_recovery *rec)
{
    rec->of_outage = true;
}
/* Called when a loss of another cause follows in an episode whose losses an outage of the link had
 * caused so far, and the congestion controller reduces its window for that loss: from now on the
 * episode cannot prove spurious, so the reduction is not undone. */
static inline void scps_recovery_not_by_outage(struct scps_recovery *rec)
{
    scps_recovery_final(rec);
    rec->of_outage = false;
}
/* Records an ECN echo during an episode. A mark is a sign of congestion even if the losses of the
 * episode were spurious, or an outage of the link has caused its timeouts. After CWR the mark is
 * not echoed again, so the reduction of the window is not undone. */
static inline void scps_recovery_marked(struct scps_recovery *rec)
{
    scps_recovery_final(rec);
    rec->of_silence = false;
}

/* Returns true if tsecr, the TSecr of an acknowledgement that advances SND.UNA from `was`, is older
 * than the data acknowledged, so that it cannot be an echo of that data. The bound is
 * rec->first_stamp, the TSval with which octet rec->stamped was first sent; it was stored when that
 * octet was resent. It applies if rec->stamped is not above `was`: a receiver echoes the TSval of a
 * segment that contained octet `was` (RFC 7323 section 4.3), which was first sent no sooner. An
 * older TSecr comes for example from a receiver behind a middlebox that removes timestamps. It
 * shows neither a round trip nor which transmission arrived. */
static SCPS_INLINE_SPEED bool scps_recovery_echo_is_stale(const struct scps_recovery *rec,
                                                          scps_off was, uint32_t tsecr)
{
    return rec->stamped && was >= rec->stamped && (int32_t)(tsecr - rec->first_stamp) < 0;
}

/* Counts `len` bytes that were sent during the episode. */
static inline void scps_recovery_sent(struct scps_recovery *rec, uint32_t len)
{
    if (rec->episode != SCPS_EPISODE_NONE)
        rec->out += len;
}

/* ---- functions in recovery.c, which begin and end recovery episodes ---- */

/* Begins a recovery episode (SCPS_EPISODE_FAST) because of a loss, or of an ECN echo. Precondition:
 * none is in progress, and the congestion controller's state has been saved (scps_cc_save). */
void scps_recovery_begin(struct scps_sender *s, enum scps_evidence evidence);
/* Begins a recovery episode for a loss that a tail loss probe has repaired; the caller informs the
 * congestion controller and ends the episode at once. */
void scps_recovery_repaired(struct scps_sender *s);
/* Returns the cause of those losses that the congestion controller has not been informed of yet:
 * SCPS_LOSS_OUTAGE if all the lost segments were last sent before the end of an outage of the link,
 * and otherwise the cause in force now: the setting loss_cause, or one that a signal of the link or
 * the peer has set for a time (scps_cause_now). Without SACK and SNACK it is never SCPS_LOSS_OUTAGE
 * unless that is in force: partial acknowledgements find the losses of an outage one by one over
 * many round trips, and attributing them to it slowed transfers down. */
enum scps_loss_cause scps_recovery_loss_cause(const struct scps_sender *s);
/* Returns the description of a loss of `bytes` bytes that is passed to the congestion controller.
 * fresh: the loss begins a recovery episode. */
struct scps_cc_loss scps_recovery_describe_loss(struct scps_sender *s, uint64_t bytes,
                                                enum scps_evidence evidence, bool fresh);
/* Called when the congestion controller has been informed of a new recovery episode: computes how
 * much may be sent in answer to the acknowledgement, which reports `delivered` arrived bytes.
 * Returns false, and ends the episode, if nothing has to be repaired. */
bool scps_recovery_goes_on(struct scps_sender *s, uint64_t delivered);
/* Called when an ECN echo has reduced the window during an episode whose losses had not: begins
 * proportional rate reduction (RFC 6937) again with the present FlightSize, and the episode lasts
 * until all that has been sent by now is acknowledged. */
void scps_recovery_again(struct scps_sender *s, uint64_t delivered);
/* Called when `bytes` more bytes were found lost during a recovery episode, by an acknowledgement
 * that reports `delivered` arrived bytes or, with 0, by a timer: computes again how much may be
 * sent, since what is lost has left the pipe. */
void scps_recovery_lost(struct scps_sender *s, uint64_t bytes, uint64_t delivered);
/* Called when the retransmission timer has expired: begins an RTO episode. Declares lost the
 * segment at SND.UNA and all in flight that were last sent an SRTT ago or earlier; without SACK and
 * SNACK, all in flight. If the controller has a congestion window, paces it over one SRTT, or until
 * only two full segments of the window are not in flight (scps_recovery_rate). Precondition: if no
 * episode is in progress, the controller's state has been saved (scps_cc_save). */
void scps_recovery_timeout(struct scps_sender *s);
/* Called when an acknowledgement arrives during a recovery episode; `was` is SND.UNA before that
 * acknowledgement. Decides whether the episode was spurious or is over, and how much may be sent.
 * After SCPS_RECOVERY_OVER the caller informs the controller and then calls
 * scps_recovery_spread(). */
enum scps_recovery_verdict scps_recovery_acked(struct scps_sender *s,
                                               const struct scps_ack_result *sum, scps_off was,
                                               const struct scps_seg *seg);
/* Called when SND.UNA has moved: if more than an initial window may be sent at once now, paces the
 * window over a round trip. */
void scps_recovery_spread(struct scps_sender *s);
/* Called with `rate`, the pacing rate, bytes/s, that follows from the congestion window. Returns
 * the lower of `rate` and scps_recovery_rate() (17/16 of cwnd in each round trip) if the peer's
 * window or an empty send buffer had stopped the sender, and pipe is now more than 60 full segments
 * (PACED_BURST) below the window: `rate` could put more than an initial window into the queue of a
 * router. Otherwise returns `rate`. */
uint64_t scps_recovery_paced_rate(struct scps_sender *s, uint64_t rate);
void scps_recovery_end(struct scps_recovery *rec);
/* Ends a recovery episode whose losses have proved spurious, so that nothing more is resent for
 * them. */
void scps_recovery_undone(struct scps_recovery *rec);
/* Called when the congestion controller has been informed that the recovery episode was spurious:
 * clears what the reduction of its window has set (`reduced`, and the CWR that is due). */
static inline void scps_recovery_undo_notified(struct scps_sender *s, struct scps_recovery *rec)
{
    rec->undone = SCPS_EPISODE_NONE;
    rec->reduced = 0;
    scps_todo_done(&s->todo, SCPS_TODO_CWR);
}
/* Called when the controller has reduced its window, or was informed of an ECN echo: with ECN the
 * next segment with new data carries CWR (RFC 3168 section 6.1.2: "for any reason (because of a
 * retransmit timeout, a Fast Retransmit, or in response to an ECN Notification)"). */
static inline void scps_recovery_reduced(struct scps_sender *s, struct scps_recovery *rec)
{
    rec->reduced = s->snd.nxt;
    if (s->agreed.opts & SCPS_AGREED_ECN)
        scps_todo_add(&s->todo, SCPS_TODO_CWR);
}
/* Returns true if an ECN echo, in an acknowledgement that has moved SND.UNA to `una`, reports a
 * mark from before the last reduction of the window, for which the window is not reduced again (RFC
 * 3168 section 6.1.2: "only once in response to a series of dropped and/or CE packets from a single
 * window of data"). */
static inline bool scps_recovery_echo_is_old(const struct scps_recovery *rec, scps_off una)
{
    return una <= rec->reduced;
}
/* Returns true if an acknowledgement must be passed to scps_ackloss_progress(): a recovery episode
 * is in progress, or one was spurious, and the congestion controller is not informed of that
 * yet. */
static inline bool scps_recovery_concerns_ack(const struct scps_recovery *rec)
{
    return rec->episode | rec->undone;
}
/* Called when a segment is resent, before its scoreboard record *resent is updated: the record
 * still describes the previous transmission. */
void scps_recovery_resent(struct scps_recovery *rec, const struct scps_sent_segment *resent,
                          const struct scps_ts *ts, scps_time now);
/* Processes a DSACK for [from, to). Returns true if the peer has now reported every resent segment
 * as a duplicate, so the episode was spurious. If the peer has reported more duplicates of segments
 * that were not resent than there were retransmissions, the network duplicates segments (RFC 2883
 * section 5.1). It duplicates retransmissions, too, so their DSACKs say nothing then. */
bool scps_recovery_dsack(struct scps_recovery *rec, scps_off from, scps_off to);
/* Ends F-RTO (RFC 5682) without a decision: the timeout counts as genuine unless timestamps or
 * DSACKs show the contrary, and conventional RTO recovery continues. */
void scps_recovery_no_frto(struct scps_recovery *rec);
/* Returns true if timeouts alone began the recovery episode, all of them after the last segment of
 * the peer arrived, and SND.UNA is still `una`. Such an episode is no sign of congestion if a link
 * outage caused the timeouts. */
bool scps_recovery_is_of_outage(const struct scps_recovery *rec, scps_off una);
/* Best effort: called when SND.UNA moved to `una` because this end gave up the data below. Returns
 * true if that ends the recovery episode in progress. */
bool scps_recovery_passed(struct scps_recovery *rec, scps_off una);
/* RFC 6582 section 3.2 step 3: "For the first partial ACK that arrives during fast recovery, also
 * reset the retransmit timer." Returns true in fast recovery after that first one, if neither SACK
 * nor SNACK was agreed, so that each round trip shows only one hole. Then nothing restarts the
 * timer until the episode is over, so that many lost segments are repaired by slow start after a
 * timeout (RFC 6582 section 4, the Impatient variant). */
bool scps_recovery_is_impatient(const struct scps_sender *s);

/* ---- functions in recovery_pipe.c, which compute pipe and window (RFC 6675) ---- */

/* Returns the mean length, octets, of the segments outstanding if that is less than half of the
 * MSS; otherwise, and when nothing is outstanding, 0. */
uint32_t scps_recovery_small_len(const struct scps_sender *s);

/* Returns how many bytes may be in flight at most: what PRR (RFC 6937) permits in fast recovery
 * (SCPS_EPISODE_FAST) for which the controller has reduced its window, otherwise cwnd. While the
 * peer is silent after a timeout (scps_recovery_only_probes), it is at most ten full segments. */
uint64_t scps_recovery_window(struct scps_sender *s);
/* Returns how many bytes are in flight ("pipe" of RFC 6675). */
uint64_t scps_recovery_inflight(const struct scps_tx *tx);
/* Returns the rate, bytes/s, at which this sender fills its window until the time spread_until:
 * 17/16 of cwnd in each round trip. This pacing begins at a timeout, or when more than an initial
 * window may be sent at once (scps_recovery_spread()), and lasts one SRTT. Returns 0 if there is no
 * such pacing, and ends it (spread_until = 0) if its time is over or no more than two full segments
 * of the window are not in flight. */
uint64_t scps_recovery_rate(struct scps_sender *s);
/* Returns true if the peer counts as silent after a timeout and `outstanding` bytes are more than
 * PROBES (10) full segments of mss bytes, the most that may then be outstanding. The peer counts as
 * silent if no acknowledgement had come for one RTO when the retransmission timer last expired, or
 * that timer has expired SILENT (2) times since an acknowledgement (SEG.ACK, SACK or SNACK) last
 * reported arrived data. That ends with the next such report, or when an outage of the link
 * ends. */
bool scps_recovery_only_probes(const struct scps_tx *tx, uint64_t outstanding, uint32_t mss);
/* Returns the rate, bytes/s, that spreads PROBES (10) packets of `packet` bytes over a
 * retransmission timeout of rto, µs: the upper limit of a pacing rate while
 * scps_recovery_only_probes() returns true. */
uint64_t scps_recovery_probe_rate(scps_dur rto, uint32_t packet);

/* Reports an event of loss recovery to the observer. what: 0 the episode has ended, 1 it has begun,
 * 2 it was spurious. */
void scps_recovery_note(const struct scps_sender *s, int what);

#endif
