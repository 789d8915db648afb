/* SPDX-License-Identifier: MIT */
/* The interface between a connection's sender (the core, src/core) and its congestion controller
 * (src/cc).
 *
 * The core calls a controller at each event (an acknowledgement, a loss, a change) and passes the
 * state of the connection; the controller sets the congestion window and the pacing rate. The core
 * says why bytes were lost and when a recovery episode or a round trip begins, so no controller
 * keeps markers for that, and each can be tested from a table of events without a connection. When
 * a loss turns out to be spurious, the core restores the controller's state, window and rate from
 * before the episode and then reports SCPS_CC_SPURIOUS.
 *
 * To add one to the library: in its source tree, write src/cc/NAME.c with a struct scps_cc_ops,
 * declare it in src/cc/cc.h, list it in src/cc/cc.c, add tests/unit/test_cc_NAME.c. From outside
 * the library: fill in a struct scps_cc_ops and put its address into the configuration with
 * scps_conn_config_set_cc(). scps_connect() and scps_listen() refuse a controller without name,
 * start, ack or loss, or one that exceeds a limit of this file (SCPS_ERR_INVAL).
 * docs/howto/controllers.md has an example with its tests.
 */
#ifndef SCPS_CC_H
#define SCPS_CC_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* value of scps_cc_ctl.cwnd: there is no congestion window; the sender is limited only by the
 * receiver's window and by the pacing rate */
#define SCPS_CWND_OPEN    UINT64_MAX
#define SCPS_CC_PARAMS    14  /* largest number of parameters that a controller can have */
#define SCPS_CC_STATE_MAX 512 /* largest scps_cc_ops.state_size, bytes */

enum scps_loss_cause { SCPS_LOSS_CONGESTION, SCPS_LOSS_CORRUPTION, SCPS_LOSS_OUTAGE };

/* Evidence by which the core declared a segment lost. */
enum scps_evidence {
    SCPS_BY_DUPACK, /* dupthresh duplicate acknowledgements arrived, on a connection without SACK */
    /* SACK blocks report enough data above the segment as received (RFC 6675 section 4, IsLost) */
    SCPS_BY_SACK,
    SCPS_BY_SNACK,   /* a SNACK (SCPS-TP's negative acknowledgement) reported it as missing */
    SCPS_BY_PARTIAL, /* a partial acknowledgement arrived during recovery (RFC 6582) */
    /* the segment was a retransmission and is lost again: a segment that was sent after this
     * retransmission has arrived, or neither SACK nor SNACK has reported on it in the time in which
     * a report should have come */
    SCPS_BY_RESEND,
    SCPS_BY_RACK, /* RACK: a segment sent sufficiently later has arrived (RFC 8985) */
    SCPS_BY_RTO,
    SCPS_BY_ECN, /* no segment is lost: the receiver echoed an ECN mark (RFC 3168) */
    /* the segment was sent more than srtt + 4 rttvar ago and is not acknowledged: the fine-grained
     * timeout check of Vegas, which the core makes if scps_cc_ops.by_age is true */
    SCPS_BY_AGE
};

struct scps_cc_view { /* state of the connection when it calls the controller */
    scps_time now;
    /* bytes believed to be in the network (pipe of RFC 6675); segments that this event reports as
     * arrived are not counted any more */
    uint64_t inflight;
    uint64_t outstanding; /* bytes sent and not yet cumulatively acknowledged (FlightSize) */
    /* payload of a full segment, bytes: the MSS less the TCP options that each segment has */
    uint32_t mss;
    uint32_t init_cwnd;     /* the initial window that the configuration gives, bytes */
    scps_dur srtt, min_rtt; /* smoothed and smallest RTT, µs; 0 before the first sample */
    /* scps_conn_config.rate, the limit that the application configured, bytes/s; 0: none */
    uint64_t conf_rate;
    uint64_t max_cwnd; /* size of the send buffer, bytes: no larger window can be used */
    /* true: the window, not the application, limited the sender since the last acknowledgement */
    bool cwnd_limited;
    /* true: the application wrote too little, so that what is sent now does not fill the path */
    bool app_limited;
    /* cause that the connection assumes now for a timeout, and for a loss about which neither an
     * ECN mark, a corruption report nor an outage of the link says anything */
    enum scps_loss_cause cause;
    /* Random number of this connection, for controllers that randomise. It is the same at every
     * event of the connection, and in every run in which the stack has the same seed. */
    uint32_t random;
    /* payload bytes that acknowledgements (SACK included) have reported as arrived since the
     * connection began, each byte once; never decreases */
    uint64_t delivered;
    /* Bytes declared lost; a segment counts each time that it is declared lost. The count restarts
     * when the connection sends after a pause with nothing outstanding, so compare values of one
     * flight only. */
    uint64_t lost;
    /* pipeACK of RFC 7661 section 4.2: the largest number of bytes that arrived in one of the last
     * three round trips. 0: no round trip was measured, or the last one ended more than 3 srtt + 1
     * s ago. Set only for calls of loss() and change(), in other calls 0. */
    uint64_t pipe_ack;
    /* Bytes of the segments that were resent since the last recovery episode began. Set only for
     * calls of loss() and change(), in other calls 0. */
    uint64_t resent;
};

/* One acknowledgement. Its delivery-rate sample is that of the newest segment that it covers: the
 * rate over the flight of that segment (draft-ietf-ccwg-bbr, section "Delivery Rate Samples"). */
struct scps_cc_ack {
    uint64_t bytes; /* bytes that this acknowledgement reports as arrived for the first time */
    /* RTT of the newest segment that this acknowledgement reports as arrived, µs; -1 if that
     * segment was resent, its RTT is unknown, or it was sent before the end of the last outage and
     * its RTT is longer than the RTO */
    scps_dur rtt;
    /* RTT of the oldest segment that this acknowledgement reports as arrived, µs, which includes
     * the wait of a delayed ACK; 0: unknown, for example because that segment was resent; -1: it
     * was sent before the end of the last outage and its RTT is longer than the RTO */
    scps_dur rtt_old;
    /* Delivery rate, bytes/s: the bytes reported as arrived since the newest segment that this
     * acknowledgement covers was sent, divided by `interval`. 0: unknown. */
    uint64_t rate;
    bool app_limited; /* true: the application, not the path, limited the delivery rate `rate` */
    /* true: a new round trip begins, because this acknowledgement covers data that was sent after
     * the previous round trip began */
    bool round_start;
    /* true: after this acknowledgement the connection is in fast recovery (not in the recovery
     * after a timeout), during which a controller should not grow the window */
    bool in_recovery;
    /* equal to `bytes`, the newly arrived bytes, if this acknowledgement has the ECE flag (the
     * receiver echoes a congestion mark, RFC 3168); 0: it has not, or ECN was not negotiated */
    uint64_t marked;
    /* Length of the delivery-rate sample, µs; `rate` is sample_bytes divided by it. 0: no sample */
    scps_dur interval;
    /* Bytes that acknowledgements have reported as arrived since the newest segment that this
     * acknowledgement covers was sent. 0: no sample, or the segment was resent so recently, or the
     * echoed timestamp is so old, that the acknowledgement belongs to an earlier transmission. */
    uint64_t sample_bytes;
    /* value of scps_cc_view.delivered when the newest segment that this acknowledgement covers was
     * sent */
    uint64_t prior_delivered;
    /* bytes in flight when the newest segment that this acknowledgement covers was sent, that
     * segment included */
    uint64_t tx_in_flight;
    /* bytes declared lost since the newest segment that this acknowledgement covers was sent */
    uint64_t lost_since;
};

struct scps_cc_loss {
    uint64_t bytes; /* number of bytes that the core declares lost with this event */
    enum scps_loss_cause cause;
    enum scps_evidence evidence;
    /* true: this loss begins an episode of recovery, or it is an ECN echo (SCPS_BY_ECN) during an
     * episode that has not reduced the window: a controller that reduces its window for this cause
     * does so now. false: the loss belongs to an episode that has already begun. */
    bool new_episode;
    /* app_limited, tx_in_flight and lost_since describe one of the segments that this event
     * declares lost: the one sent last. They and `ranges` are 0 when no segment is lost
     * (SCPS_BY_ECN). */
    /* true: the application limited the rate when the lost segment sent last was sent */
    bool app_limited;
    uint32_t ranges; /* number of separate ranges of sequence numbers that the lost bytes form */
    /* bytes in flight when the lost segment sent last was sent, that segment included */
    uint64_t tx_in_flight;
    /* bytes declared lost since the lost segment sent last was sent, including `bytes`, those that
     * this event declares lost */
    uint64_t lost_since;
};

/* Argument of scps_cc_ops.on_sent: a segment with data that is being sent. The fields inflight and
 * outstanding of scps_cc_view do not count it yet. */
struct scps_cc_sent {
    uint32_t bytes;
    bool resent;
};

enum scps_cc_change {
    SCPS_CC_RTO, /* the retransmission timer expired; everything outstanding is presumed lost */
    /* The last recovery episode was spurious: nothing had been lost. The core has restored the
     * controller's state, cwnd and ssthresh from before the episode. */
    SCPS_CC_SPURIOUS,
    SCPS_CC_RECOVERED, /* the episode of loss recovery is over */
    /* The connection is about to send after more than one RTO of silence (RFC 5681 section 4.1) */
    SCPS_CC_IDLE,
    /* an outage of the link is over; the core has kept the window from before the outage */
    SCPS_CC_LINK_UP,
    SCPS_CC_PATH /* the path has changed: base round trips and rates may be out of date */
};

/* Phase that a controller reports in scps_cc_ctl.phase, such as BBR's Startup. The core does not
 * act on it: the phase appears only in observer events and in scps_info. */
enum scps_cc_phase {
#define SCPS_CC_PHASE(name, word) SCPS_PHASE_##name,
#include <scps/phases.def>
#undef SCPS_CC_PHASE
    SCPS_PHASE_COUNT
};

/* What a controller decides. The core corrects values that it cannot use: it raises a window below
 * one segment to one segment, and cuts a rate to the highest rate that the pacer supports. It
 * raises a rate to one segment in 64 s (or to one segment in an RTO, if that is longer), but not
 * above a rate that the application configured. Each correction is counted (scps_info.cc_corrected)
 * and reported to the observer. During recovery the core spreads a reduction of the window over the
 * acknowledgements (PRR, RFC 6937). */
struct scps_cc_ctl {
    /* Congestion window, bytes. SCPS_CWND_OPEN: no window, only the rate limits the sender */
    uint64_t cwnd;
    /* Slow start threshold, bytes. The core uses it for PRR (RFC 6937) and statistics. UINT64_MAX:
     * there is none */
    uint64_t ssthresh;
    /* Rate at which packets are paced, bytes/s. IP and TCP headers count, unless
     * scps_cc_ops.payload_rate is true. 0: the controller sets no rate; if pacing is configured,
     * the core computes one from cwnd and srtt */
    uint64_t rate;
    /* number of bytes that may be sent back to back while `rate` limits the sender; 0: four
     * packets */
    uint32_t quantum;
    /* enum scps_cc_phase; SCPS_PHASE_NONE: the controller has no phases beyond those that cwnd and
     * ssthresh show */
    uint32_t phase;
};

/* Careful resume (RFC 9959): what the core asks a controller that has a model of the path instead
 * of a window, through scps_cc_ops.resume. The jump: in the Unvalidated and the Validating Phase
 * the connection sends at a rate taken from a saved path state, before its own acknowledgements
 * have shown that the path carries that rate. */
enum scps_cc_resume {
    /* The jump to the rate of the saved path state begins (Unvalidated Phase): the controller is
     * asked to send at `amount` bytes/s for this round trip, if the rate of its own model is
     * lower. */
    SCPS_CC_JUMP,
    /* The core asks a question at each acknowledgement and loss. During the jump (Unvalidated and
     * Validating Phases): has the controller seen no congestion? During the Safe Retreat Phase: has
     * the queue drained? */
    SCPS_CC_STEADY,
    /* The jump to the saved rate caused congestion (the Safe Retreat Phase begins): the controller
     * is asked to let the bytes in flight drain, with a window of at most `amount` bytes for
     * now. */
    SCPS_CC_RETREAT,
    /* Careful resume is over (its phase became normal) after the jump to the saved rate or after
     * the Safe Retreat Phase: the controller follows its own model again. */
    SCPS_CC_RESUMED
};

/* A parameter of a controller. Users write it as "key=value" behind the controller's name, as in
 * --cc cubic,beta=800; name is the key. */
struct scps_cc_param {
    const char *name, *help;
    /* Default value and bounds, integers; the help text names the unit (segments, ppm, x/256) */
    int64_t def, min, max;
    /* Names of the values from min on, with a space between them, which users may write instead.
     * NULL: numbers only. */
    const char *words;
    /* former name of this parameter, which users may still write in place of `name`; NULL: none */
    const char *was;
};

struct scps_cc_ops {
    const char *name; /* name of the controller, as typed after --cc */
    const char *help; /* one line of help for --list-cc */
    /* Size of the controller's state, bytes. The connection provides that much zeroed room, aligned
     * for a uint64_t; a controller never allocates memory */
    size_t state_size;
    /* list of parameters that ends with a NULL name; NULL: no parameters */
    const struct scps_cc_param *params;
    /* true: the controller needs a rate limit in scps_conn_config.rate; without one, scps_connect()
     * and scps_listen() refuse the controller */
    bool needs_rate;
    /* true: the core makes the fine-grained timeout check of Vegas: at the first duplicate
     * acknowledgement, and at the first two acknowledgements after a resend, it resends the oldest
     * segment if that is older than srtt + 4 rttvar. RACK (RFC 8985), where it is configured,
     * replaces this check. */
    bool by_age;
    /* true: scps_cc_ctl.rate counts payload bytes only, as cwnd and the delivery rates do; false:
     * it counts IP and TCP headers, too */
    bool payload_rate;
    /* true: during recovery the controller itself limits what is sent, so the core does not apply
     * RFC 6937; and the controller itself undoes its reductions when the recovery was spurious, so
     * before SCPS_CC_SPURIOUS the core does not restore the controller's state, cwnd and
     * ssthresh. */
    bool own_recovery;
    /* Called once, when the connection is established, before all other functions: initialises the
     * state s, and sets cwnd and ssthresh in *ctl. The RTTs in *v are 0 if the handshake has given
     * none. param has one value for each of params, in that order. */
    void (*start)(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl);
    void (*ack)(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl);
    void (*loss)(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl);
    /* Called for each enum scps_cc_change. NULL: the controller ignores such changes. */
    void (*change)(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl);
    /* Called for each segment with data that is sent. NULL: not called, at no cost. */
    void (*on_sent)(void *s, const struct scps_cc_view *v, const struct scps_cc_sent *p,
                    struct scps_cc_ctl *ctl);
    /* Careful resume (RFC 9959): passes request `what`, whose values enum scps_cc_resume explains,
     * to the controller. Returns for SCPS_CC_STEADY whether the jump (sending at a rate taken from
     * a saved path state) has met no congestion or, in the Safe Retreat Phase, whether the queue
     * has drained; returns true for any other request. NULL: the controller has no state beyond its
     * window, so the core itself sets the window, paces it, and ends the jump when a loss is
     * attributed to congestion. */
    bool (*resume)(void *s, const struct scps_cc_view *v, enum scps_cc_resume what, uint64_t amount,
                   struct scps_cc_ctl *ctl);
    /* Returns the octets of state that the controller needs beyond state_size with these
     * parameters. NULL: it never needs any. */
    size_t (*more_state)(const int64_t *param);
};

/* Returns the octets of state that ops needs with these parameters, state_size included. */
SCPS_API size_t scps_cc_state_size(const struct scps_cc_ops *ops, const int64_t *param);

/* Returns the controller that has this name; NULL: there is none. */
SCPS_API const struct scps_cc_ops *scps_cc_find(const char *name);
/* Returns the i-th built-in controller; NULL past the last. */
SCPS_API const struct scps_cc_ops *scps_cc_at(size_t i);
/* Writes the default of each parameter of ops to out[], in the order of ops->params, and sets the
 * remaining elements of out[] to 0. */
SCPS_API void scps_cc_param_defaults(const struct scps_cc_ops *ops, int64_t out[SCPS_CC_PARAMS]);
/* Parses "name[,key=value...]": sets *ops to the controller of that name and param to its
 * parameters, which are defaults where no key is given. Returns 0; SCPS_ERR_NOENT for an unknown
 * name or key, SCPS_ERR_INVAL for a value that is no number or a key given twice, SCPS_ERR_RANGE
 * for a value out of its bounds. On error *ops and param are unchanged, and msg (may be NULL) says
 * what is wrong and what is allowed. */
SCPS_API int scps_cc_parse(const char *text, const struct scps_cc_ops **ops,
                           int64_t param[SCPS_CC_PARAMS], char *msg, size_t msglen);
/* Parses "key=value[,key=value...]", or an empty text, as parameters of ops, which may be a
 * controller from outside the library. A parameter whose key is not given has its default. Returns
 * what scps_cc_parse() returns. */
SCPS_API int scps_cc_parse_params(const struct scps_cc_ops *ops, const char *text,
                                  int64_t param[SCPS_CC_PARAMS], char *msg, size_t msglen);
/* Returns the name of a cause to which losses are attributed: "congestion" and so on. */
SCPS_API const char *scps_loss_cause_name(enum scps_loss_cause c);
/* Returns the name of the evidence by which the core declared a segment lost, for example "dupack"
 * (duplicate acknowledgements) or "sack" (SACK blocks). */
SCPS_API const char *scps_evidence_name(enum scps_evidence e);
/* Returns the name of an enum scps_cc_phase: "startup" and so on; "?" if it is unknown. */
SCPS_API const char *scps_cc_phase_name(uint32_t phase);

#ifdef __cplusplus
}
#endif
#endif
