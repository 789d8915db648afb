/* SPDX-License-Identifier: MIT */
/* libscps_cctest: tests for congestion controllers, without a test framework.
 *
 * event table ---+ +- cwnd, ssthresh, rate as the table expects
 *     random events -+                          |
 *     path model ----+--> struct scps_cc_ops -->+- invariants, one verdict for each check
 *     recording -----+                          |
 *     simulator -----+                          +- a scorecard
 *
 * Each function takes the operations of a controller and its parameters; a verdict is a bool, and
 * a line of text says what was wrong. A test written with cmocka calls fail_msg("%s", msg) when the
 * verdict is false. One seed gives one result on every machine.
 *
 * docs/howto/controllers.md leads from an empty file to a scorecard.
 */
#ifndef SCPS_CCTEST_H
#define SCPS_CCTEST_H

#include <scps/cc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_CCTEST_MSGLEN 512

/* ---- test bench: calls one congestion controller as a connection's sender does ---- */

enum scps_cctest_kind {
    SCPS_CCTEST_ACK,
    SCPS_CCTEST_LOSS,
    SCPS_CCTEST_CHANGE,
    /* ops->on_sent was called, because a segment was sent; the function `watch` receives this kind,
     * but rows of event tables (struct scps_cctest_row) may not have it */
    SCPS_CCTEST_SENT,
    SCPS_CCTEST_START /* the controller was started; only the function `watch` receives this kind */
};

/* One call of a controller, with its inputs and what it wrote. */
struct scps_cctest_event {
    enum scps_cctest_kind kind;
    struct scps_cc_view view;
    struct scps_cc_ack ack;     /* inputs of the call if its kind is SCPS_CCTEST_ACK */
    struct scps_cc_loss loss;   /* inputs of the call if its kind is SCPS_CCTEST_LOSS */
    enum scps_cc_change change; /* input of the call if its kind is SCPS_CCTEST_CHANGE */
    struct scps_cc_sent sent;   /* input of the call if its kind is SCPS_CCTEST_SENT */
    struct scps_cc_ctl before, after;
};

struct scps_cctest {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
    struct scps_cc_view view; /* state of the connection; the caller sets it before each event */
    /* what the controller wrote at the last event; a window below one segment is raised to one
     * segment, as a connection does */
    struct scps_cc_ctl ctl;
    /* Called after each event with the values that the controller wrote, before a window below one
     * segment is raised to one segment. NULL: no call. */
    void (*watch)(void *ctx, const struct scps_cctest_event *e);
    void *ctx;
    /* The fields from here on are private to the test bench: the controller's state, and a copy of
     * this state and of ctl from before the last recovery episode. in_episode: true during a
     * recovery episode. */
    bool in_episode;
    /* true: saved_ctl and saved are from before the last recovery episode, and SCPS_CC_SPURIOUS has
     * not restored them yet */
    bool undoable;
    struct scps_cc_ctl saved_ctl;
    union {
        uint64_t align;
        uint8_t bytes[SCPS_CC_STATE_MAX];
    } state, saved;
};

/* Zeroes the state and calls ops->start. param NULL: the defaults. Fields of view that are 0 get
 * usual values: mss 1000 bytes, init_cwnd ten segments, srtt and min_rtt 100 ms, max_cwnd 2^30
 * bytes, now one second; and cwnd_limited becomes true. Keeps t->watch and t->ctx. */
SCPS_API void scps_cctest_start(struct scps_cctest *t, const struct scps_cc_ops *ops,
                                const int64_t *param, const struct scps_cc_view *view);
/* This function calls ops->ack with t->view. As the core of the library does, scps_cctest_loss()
 * and scps_cctest_change() keep a copy of the controller's state when an episode begins (a loss
 * with new_episode, or SCPS_CC_RTO outside an episode); SCPS_CC_SPURIOUS restores the copy before
 * ops->change is called (unless ops->own_recovery is true). All of them raise a window below one
 * segment to one segment. */
SCPS_API void scps_cctest_ack(struct scps_cctest *t, const struct scps_cc_ack *a);
/* Calls ops->loss with t->view; see scps_cctest_ack(). */
SCPS_API void scps_cctest_loss(struct scps_cctest *t, const struct scps_cc_loss *l);
/* Calls ops->change with t->view, if the controller has this function; see scps_cctest_ack(). */
SCPS_API void scps_cctest_change(struct scps_cctest *t, enum scps_cc_change what);
/* Calls ops->on_sent with t->view, if the controller has this function. */
SCPS_API void scps_cctest_sent(struct scps_cctest *t, const struct scps_cc_sent *p);

/* ---- event tables: lists of events with the window, threshold or rate expected after each ---- */

/* One row of an event table: an event, and the outputs that the controller must have after it.
 * Where fields are 0, the controller gets usual values: outstanding and inflight equal to the
 * window, cwnd_limited true, a loss caused by congestion and shown by SACK (SCPS_BY_SACK), and as
 * RTT the srtt of scps_cctest.view, the state of the connection that the bench passes to it. */
struct scps_cctest_row {
    enum scps_cctest_kind kind;
    /* inputs of the event */
    scps_dur after; /* time that passes before the event, µs */
    /* bytes that the event acknowledges (SCPS_CCTEST_ACK) or declares lost (SCPS_CCTEST_LOSS) */
    uint64_t bytes;
    unsigned times; /* number of times that the row is played; 0: once */
    uint64_t outstanding;
    bool app_limited; /* true: the application, not the window, limited the sender */
    /* rows of kind SCPS_CCTEST_ACK: RTT of the newest segment acknowledged, µs; -1: unknown; 0: it
     * is srtt of scps_cctest.view. A positive value in a row of any kind also becomes that srtt. */
    scps_dur rtt;
    /* rows of kind SCPS_CCTEST_ACK: RTT of the oldest segment acknowledged, µs; 0: unknown */
    scps_dur rtt_old;
    /* rows of kind SCPS_CCTEST_ACK: delivery rate, bytes/s; 0: unknown */
    uint64_t rate;
    /* rows of kind SCPS_CCTEST_ACK: true: this acknowledgement begins a new round trip
     * (scps_cc_ack.round_start) */
    bool round;
    /* rows of kind SCPS_CCTEST_ACK: value of scps_cc_ack.in_recovery: the connection is in fast
     * recovery after this acknowledgement */
    bool in_recovery;
    /* rows of kind SCPS_CCTEST_LOSS: true: the loss begins a new episode of loss recovery */
    bool fresh;
    enum scps_loss_cause cause;
    /* rows of kind SCPS_CCTEST_LOSS: the evidence by which the loss was detected */
    enum scps_evidence evidence;
    /* rows of kind SCPS_CCTEST_CHANGE: the event that ops->change receives */
    enum scps_cc_change what;
    /* outputs that the controller must have after the row was played; 0: the output is not
     * checked */
    uint64_t want_cwnd, want_ssthresh, want_rate;
};
#define SCPS_CCTEST_ROWS(a) (sizeof(a) / sizeof *(a))

/* Plays the n rows of an event table: calls the controller for each and checks its outputs. Returns
 * true if all outputs were as expected. Otherwise msg (may be NULL) names the row, counted from 0,
 * the value that the controller wrote and the value expected, and later rows are not played. */
SCPS_API bool scps_cctest_play(struct scps_cctest *t, const struct scps_cctest_row *rows, size_t n,
                               char *msg, size_t msglen);

/* ---- checks: rules that every congestion controller must obey ---- */

/* The checks of controllers. scps_cctest_check_name() returns their names, scps_cctest_check_help()
 * what each requires. */
enum scps_cctest_check {
    SCPS_CCTEST_OPS,
    /* invariants, which must hold after every event */
    SCPS_CCTEST_FLOOR,
    SCPS_CCTEST_CEILING,
    SCPS_CCTEST_RATE,
    SCPS_CCTEST_JUMP,
    SCPS_CCTEST_APP_LIMITED,
    SCPS_CCTEST_EMPTY_ACK,
    SCPS_CCTEST_ONCE,
    SCPS_CCTEST_ANSWER,
    SCPS_CCTEST_SPARE,
    SCPS_CCTEST_SSTHRESH,
    SCPS_CCTEST_TIMEOUT,
    SCPS_CCTEST_EPISODE,
    SCPS_CCTEST_IDLE,
    SCPS_CCTEST_SPURIOUS,
    SCPS_CCTEST_PURE,
    /* checks on the path model (struct scps_cctest_path) */
    SCPS_CCTEST_USE,
    SCPS_CCTEST_REGROWTH,
    SCPS_CCTEST_ACKS,
    SCPS_CCTEST_SPLIT_ACKS,
    SCPS_CCTEST_STRETCH_ACKS,
    SCPS_CCTEST_AGGREGATION,
    SCPS_CCTEST_TICKS,
    SCPS_CCTEST_POLICER,
    SCPS_CCTEST_PAUSE,
    SCPS_CCTEST_LONGER,
    SCPS_CCTEST_SHORTER,
    SCPS_CCTEST_FASTER,
    SCPS_CCTEST_SLOWER,
    SCPS_CCTEST_OUTAGE,
    /* Checks against the closed form (published formula of window growth) in
     * scps_cctest_expect.form: the growth after a loss, and the mean window at a loss rate. Without
     * a form they are not made. */
    SCPS_CCTEST_GROWTH,
    SCPS_CCTEST_RESPONSE,
    SCPS_CCTEST_CHECKS
};
#define SCPS_CCTEST_BIT(check) (UINT64_C(1) << (check))
/* Returns the name of a check: "floor", "once" and so on; NULL beyond the last. */
SCPS_API const char *scps_cctest_check_name(enum scps_cctest_check c);
/* Returns one sentence that says what a check requires, with its RFC clause; NULL beyond the
 * last. */
SCPS_API const char *scps_cctest_check_help(enum scps_cctest_check c);
/* Returns the check that has this name; SCPS_CCTEST_CHECKS: there is none. */
SCPS_API enum scps_cctest_check scps_cctest_check_find(const char *name, size_t len);

/* A published law of window growth that a controller claims to follow, for example that of RFC
 * 9438. */
struct scps_cctest_form {
    const char *name, *help;
    /* Returns the mean congestion window, segments, that this law yields at loss probability p and
     * round-trip time rtt, s. NULL: the law has no formula for the mean window. */
    double (*window)(double p, double rtt);
    double tolerance; /* allowed relative error of window: 0.1 stands for 10 % */
    /* Returns the congestion window, segments, that this law yields n round trips of rtt seconds
     * after a loss that occurred at a window of w segments. NULL: the law has no formula for the
     * growth after a loss. */
    double (*growth)(double w, unsigned n, double rtt);
    double growth_tolerance;
};
/* Returns the closed form (published formula of window growth) that has this name: "reno", "cubic",
 * "highspeed", "scalable", "hybla"; NULL: there is no such form. */
SCPS_API const struct scps_cctest_form *scps_cctest_form_find(const char *name);
/* Returns the i-th closed form (published formula of window growth), from 0; NULL past the last. */
SCPS_API const struct scps_cctest_form *scps_cctest_form_at(size_t i);

/* The checks that a controller must pass. All zero: every check but those against a closed form (a
 * published formula of window growth), for which no form is given. */
struct scps_cctest_expect {
    uint64_t exempt; /* SCPS_CCTEST_BIT of each check that the controller fails by design */
    const struct scps_cctest_form *form; /* published law of growth to compare with; NULL: none */
    /* One sentence that gives the reason of the exemptions; NULL: there are none. */
    const char *why;
};
/* Returns, for the built-in controller that has this name, the checks that it fails by design, with
 * the reason, and its published law of growth, if it has one. All zero for any other name. */
SCPS_API struct scps_cctest_expect scps_cctest_expect_of(const char *name);

struct scps_cctest_verdict {
    enum scps_cctest_check check;
    bool ok; /* true: the check is met */
    /* true: scps_cctest_expect.exempt has the bit of this check, so a failure (ok false) is not
     * counted */
    bool exempt;
    bool run; /* true: the check was made; false: the check does not apply to this controller */
    /* text with the measured values, or with the reason why the check failed */
    char msg[SCPS_CCTEST_MSGLEN];
};
/* Makes every check of controller ops. expect NULL: no failure is exempted, and the window is not
 * compared with a published law of growth. The checks on random events use the seeds 1 to `seeds`
 * (0: 40); out has room for SCPS_CCTEST_CHECKS results. Returns how many checks failed
 * without an exemption. Takes about a second. */
SCPS_API size_t scps_cctest_judge(const struct scps_cc_ops *ops, const int64_t *param,
                                  const struct scps_cctest_expect *expect, unsigned seeds,
                                  struct scps_cctest_verdict out[SCPS_CCTEST_CHECKS]);
/* Checks the members of ops without calling any of its functions: name, functions that must not be
 * NULL, state size, parameters and their bounds. Returns false with the reason in msg. */
SCPS_API bool scps_cctest_ops_ok(const struct scps_cc_ops *ops, char *msg, size_t msglen);

/* ---- random events: histories of a sender that are drawn from a seed ---- */

/* The actions of a random history of a sender. Each has a number n. An action is limited to what is
 * possible: an acknowledgement covers at most the outstanding bytes, and a larger n than the
 * largest one counts as the largest: 1000 for thousandths and for RTOs, 1 000 000 for seconds and
 * milliseconds. So every list of actions is a valid history, and scps_cctest_shrink() may remove
 * any action from a list. */
enum scps_cctest_what {
    SCPS_CCTEST_DO_ACK,  /* n thousandths of the outstanding bytes are acknowledged */
    SCPS_CCTEST_DO_LOSE, /* n thousandths of the outstanding bytes are declared lost */
    SCPS_CCTEST_DO_RTO,  /* the retransmission timer expires */
    SCPS_CCTEST_DO_UNDO, /* the last recovery episode was spurious, so the core undoes it */
    /* all outstanding bytes are acknowledged, and then the sender sends nothing for n RTOs, n >=
     * 1 */
    SCPS_CCTEST_DO_IDLE,
    SCPS_CCTEST_DO_OUTAGE, /* n seconds of outage, then SCPS_CC_LINK_UP */
    SCPS_CCTEST_DO_PATH,   /* the path changes; its round trip is n milliseconds */
    SCPS_CCTEST_DO_RTT,    /* the round trip changes to n milliseconds */
    /* from now on the application has only enough data to fill n thousandths of the congestion
     * window; 1000: as much as the window permits */
    SCPS_CCTEST_DO_APP,
    /* losses without a reported cause are attributed to cause n (enum scps_loss_cause) from now
     * on */
    SCPS_CCTEST_DO_CAUSE,
    SCPS_CCTEST_DOS
};
struct scps_cctest_action {
    enum scps_cctest_what what;
    uint32_t n;
    uint32_t after; /* time that passes before the action, µs */
};
/* Writes an action as text, "ack 500/1000 after 1200 us", to buf. Returns buf. */
#define SCPS_CCTEST_ACTIONLEN 80
SCPS_API char *scps_cctest_action_print(const struct scps_cctest_action *a,
                                        char buf[SCPS_CCTEST_ACTIONLEN]);

#define SCPS_CCTEST_ACTIONS 400 /* number of actions in one random history */
struct scps_cctest_history {
    struct scps_cctest_action v[SCPS_CCTEST_ACTIONS];
    size_t n;
};
/* Writes the random history of a sender that belongs to this seed to *h. The same seed gives the
 * same history on every machine. */
SCPS_API void scps_cctest_random(uint64_t seed, struct scps_cctest_history *h);
/* Plays history h to the controller, and after each action checks every invariant of mask (bits
 * SCPS_CCTEST_BIT(); 0: all). Returns the first invariant that was violated, with a message in msg;
 * SCPS_CCTEST_CHECKS: none was. rate: scps_conn_config.rate of the simulated connection, bytes/s;
 * 0: none. */
SCPS_API enum scps_cctest_check scps_cctest_run(const struct scps_cc_ops *ops, const int64_t *param,
                                                const struct scps_cctest_history *h, uint64_t rate,
                                                uint64_t mask, char *msg, size_t msglen);
/* Removes actions from history h as long as `check` still fails on the rest. The result is minimal:
 * without any one of its actions the check passes. */
SCPS_API void scps_cctest_shrink(const struct scps_cc_ops *ops, const int64_t *param,
                                 struct scps_cctest_history *h, uint64_t rate,
                                 enum scps_cctest_check check);

/* ---- the path model ----
 *
 *     cwnd, rate --> [ queue | bps ] -- delay --> receiver --+   every ack_every segments, and
 *         ^                                                  |   after ack_delay at the latest
 *         +--------------------- delay ----------------------+
 *
 * One sender, one bottleneck, one receiver. It is not a TCP: all segments are full, and there are
 * no sequence numbers and no retransmissions. A lost segment is declared lost at the next
 * acknowledgement, or by the retransmission timeout. That is enough to show at which window or rate
 * a controller settles, and quick: an hour of the path's time takes well below a second to compute.
 */
struct scps_cctest_path {
    uint64_t bps;   /* rate of the bottleneck, bit/s; a segment counts as mss bytes; at least 1 */
    scps_dur delay; /* round-trip propagation delay, µs, without queueing and transmission */
    uint32_t queue; /* segments that the queue holds; 0: no limit */
    /* size of the token bucket, segments, of a policer that takes the place of the queue; 0: no
     * policer */
    uint32_t policer;
    /* number of segments for which the receiver sends one acknowledgement; 0: it acknowledges only
     * when its delayed-ACK timer expires */
    uint32_t ack_every;
    scps_dur ack_delay; /* longest wait of a delayed acknowledgement, µs; 0: 200 ms */
    /* upper limit, µs, of the random time by which the receiver's delayed-ACK timer expires late */
    scps_dur late;
    /* acknowledgements arrive only at multiples of this time, µs; 0: at any time */
    scps_dur aggregate;
    scps_dur tick;    /* resolution of the sender's clock, µs; 0: 1 µs */
    uint64_t app_bps; /* rate at which the application offers data, bit/s; 0: always enough */
    double loss;      /* probability that a segment is lost, 0 to 1 */
    uint64_t period;  /* each period-th segment is lost, unless there is a policer; 0: none */
    bool down;        /* true: an outage, during which every segment is lost */
    /* true: acknowledgements have rtt_old 0 (unknown), so a controller sees the newest segment's
     * RTT only */
    bool newest_only;
    uint64_t seed;
    uint32_t mss; /* payload of a segment, bytes; 0: 1000 */
};
struct scps_cctest_path_result { /* results since scps_cctest_line_mark() */
    uint64_t goodput;            /* goodput, bit/s */
    /* numbers of segments that the sender sent, that acknowledgements reported as arrived, and that
     * were lost; a lost segment is counted when it is sent */
    uint64_t sent, delivered, lost;
    uint64_t episodes, timeouts;
    /* largest number of segments that a newly sent segment found ahead of it at the bottleneck;
     * with a policer, which has no queue, 0 */
    uint64_t max_queue;
    /* largest and mean congestion window, bytes; the mean is over the round trips */
    uint64_t peak_cwnd, mean_cwnd;
};
struct scps_cctest_line;
/* Opens a path model with a copy of p. watch: as in struct scps_cctest; may be NULL. Returns NULL
 * on lack of memory, or if p->bps is 0. */
SCPS_API struct scps_cctest_line *
scps_cctest_line_new(const struct scps_cc_ops *ops, const int64_t *param,
                     const struct scps_cctest_path *p,
                     void (*watch)(void *ctx, const struct scps_cctest_event *e), void *ctx);
/* Returns the description of the path that path model l simulates, its own copy of the one given to
 * scps_cctest_line_new(). Between runs the caller may change its fields, such as bps or down. */
SCPS_API struct scps_cctest_path *scps_cctest_line_path(struct scps_cctest_line *l);
/* Returns the controller that runs on the path model. */
SCPS_API const struct scps_cctest *scps_cctest_line_bench(const struct scps_cctest_line *l);
/* Runs the path model for `time` µs of virtual time. */
SCPS_API void scps_cctest_line_run(struct scps_cctest_line *l, scps_dur time);
/* Starts the measurement of struct scps_cctest_path_result: earlier events do not count. */
SCPS_API void scps_cctest_line_mark(struct scps_cctest_line *l);
/* Returns the results since scps_cctest_line_mark(); since the beginning if it was not called. */
SCPS_API struct scps_cctest_path_result scps_cctest_line_result(const struct scps_cctest_line *l);
/* Frees a path model. l NULL: does nothing. */
SCPS_API void scps_cctest_line_free(struct scps_cctest_line *l);

/* Returns the response function (mean window at a given loss rate): the mean window, segments, over
 * the second half of `losses` cycles from one loss to the next, when one in `period` segments is
 * lost and the receiver sends `acks` acknowledgements a round trip. 0: the controller has no
 * window, or rtt is less than 1 µs. */
SCPS_API double scps_cctest_response(const struct scps_cc_ops *ops, const int64_t *param,
                                     uint64_t period, scps_dur rtt, unsigned acks, unsigned losses);
/* Returns the window in segments n round trips after a loss that happened at a window of w
 * segments, with 10 acknowledgements a round trip; 0 if rtt is less than 1 µs. */
SCPS_API double scps_cctest_growth(const struct scps_cc_ops *ops, const int64_t *param, unsigned w,
                                   unsigned n, scps_dur rtt);

/* ---- recordings of live connections, which can be replayed to another controller ---- */

/* A recorder stands between a connection and a controller, passes each call on to the controller
 * and writes one line for each call:
 *
 *     struct scps_cctest_recorder rec;
 *     scps_cctest_recorder_init(&rec, ops, param, write, file);
 *     scps_conn_config_set_cc(&cfg, &rec.ops, rec.param);
 *
 * One recorder can serve several connections; it must exist longer than they do.
 */
struct scps_cctest_recorder {
    struct scps_cc_ops ops; /* the operations to give to scps_conn_config_set_cc() */
    int64_t param[SCPS_CC_PARAMS];
    /* Private: for the recorder's functions only. */
    const struct scps_cc_ops *inner;
    int64_t inner_param[SCPS_CC_PARAMS];
    struct scps_cc_param handle[2];
    unsigned connections;
    void (*write)(void *ctx, const char *line, size_t len);
    void *ctx;
};
/* Fills in *r for controller ops with parameters param (NULL: its defaults) and writes the first
 * line of the recording by write(). Returns 0, or SCPS_ERR_RANGE when the controller's state leaves
 * no room for the sixteen octets of state that the recorder needs. */
SCPS_API int scps_cctest_recorder_init(struct scps_cctest_recorder *r,
                                       const struct scps_cc_ops *ops, const int64_t *param,
                                       void (*write)(void *ctx, const char *line, size_t len),
                                       void *ctx);

/* One call of a recording, replayed. */
struct scps_cctest_replayed {
    uint64_t line;               /* number of the line in the recording, from 1 */
    struct scps_cctest_event e;  /* the call, and what the controller under test decided */
    struct scps_cc_ctl recorded; /* what the recorded controller had decided */
};
struct scps_cctest_replay {
    /* events: number of calls in the recording; different: number of calls after which the outputs
     * of the controller under test differ from those of the recorded controller */
    uint64_t events, different;
    uint64_t first; /* line of the recording at which the outputs first differ; 0: they never do */
    /* first invariant that was violated; SCPS_CCTEST_CHECKS: none was */
    enum scps_cctest_check broken;
    char msg[SCPS_CCTEST_MSGLEN]; /* says how `broken` was violated */
};
/* Replays connection number `conn` (from 1) of a recording to a controller: the controller gets the
 * recorded inputs, whatever window it sets. each (may be NULL) is called for every event. Returns
 * 0; SCPS_ERR_INVAL, with the number of the line in msg, if the text is no recording;
 * SCPS_ERR_NOENT if the recording has no such connection. */
SCPS_API int scps_cctest_run_recording(const char *text, size_t len, unsigned conn,
                                       const struct scps_cc_ops *ops, const int64_t *param,
                                       uint64_t exempt, struct scps_cctest_replay *out,
                                       void (*each)(void *ctx,
                                                    const struct scps_cctest_replayed *e),
                                       void *ctx, char *msg, size_t msglen);

/* ---- scorecard: measurements of a controller over connections simulated in virtual time ---- */

enum scps_cctest_better { SCPS_CCTEST_MORE, SCPS_CCTEST_LESS };
/* Describes one measurement of the scorecard, which is a fixed list of measurements, such as the
 * share of a link that a flow uses, made for a controller over simulated links. */
struct scps_cctest_score_info {
    const char *group, *name, *unit, *help;
    enum scps_cctest_better better;
    /* Best value that the measurement can have on any path: the largest possible one if `better` is
     * SCPS_CCTEST_MORE, the least if it is SCPS_CCTEST_LESS. 0: no such value is given. */
    double limit;
};
/* Returns the i-th measurement of the scorecard, from 0; NULL past the last. */
SCPS_API const struct scps_cctest_score_info *scps_cctest_score_at(size_t i);
#define SCPS_CCTEST_SCORES 64 /* size of the arrays of scores: no scorecard has more measurements */
struct scps_cctest_score {
    const struct scps_cctest_score_info *info;
    double value;
    /* false: the measurement does not apply, or the event that it times did not occur */
    bool known;
};
/* Results of the scorecard's test in which a second flow starts 30 s after the first on the same
 * path: rates of both flows and queueing delay over time. */
struct scps_cctest_curve {
    /* time, s; rates of the two flows, Mbit/s; queueing delay, ms */
    double seconds, first, second, queue;
};
#define SCPS_CCTEST_CURVE 240
struct scps_cctest_card {
    struct scps_cctest_score v[SCPS_CCTEST_SCORES];
    size_t n;
    struct scps_cctest_curve curve[SCPS_CCTEST_CURVE];
    size_t ncurve;
};
/* Simulates connections with this controller in virtual time over the paths of the scorecard: links
 * with various rates, delays, queues, losses and changes, alone and beside other flows. This takes
 * about two seconds. Writes the measurements of scps_cctest_score_at() to *out. Returns 0;
 * SCPS_ERR_NOMEM; SCPS_ERR_INVAL if the stack refused the controller. */
SCPS_API int scps_cctest_scorecard(const struct scps_cc_ops *ops, const int64_t *param,
                                   struct scps_cctest_card *out);

#ifdef __cplusplus
}
#endif
#endif
