/* SPDX-License-Identifier: MIT */
/* struct scps_conn as the sum of its parts, and what its host lends it.
 *
 * A connection has a small part that lives as long as it does (this struct), and two that come and
 * go with use: tx (octets written and not acknowledged) and rx (octets beyond a hole). An idle
 * connection owns neither.
 *
 * The same three verbs as the stack, one level down, in parsed segments: scps_conn_input,
 * scps_conn_output and a deadline in the host's heap. Input never sends: it leaves marks (SCPS_F_*)
 * and wakes the connection; output turns marks into segments.
 */
#ifndef SCPS_CORE_CONN_H
#define SCPS_CORE_CONN_H

#include <scps/comp.h>
#include <scps/conn.h>
#include <scps/wire.h>

#include "core/cause.h"
#include "core/corruption.h"
#include "core/ctx.h"
#include "core/delivery.h"
#include "core/gate.h"
#include "core/loss.h"
#include "core/marks.h"
#include "core/pacer.h"
#include "core/rcvbuf.h"
#include "core/record.h"
#include "core/recovery.h"
#include "core/rto.h"
#include "core/rtt.h"
#include "core/scoreboard.h"
#include "core/sndbuf.h"
#include "core/timer.h"

struct scps_conn;

/* Connections of one link, or of one route whose rate is set, with something to send, in turn. */
struct scps_turns {
    struct scps_conn *head, *tail;
    struct scps_gate *gate; /* the route's rate; NULL: none is set */
    const void *link;       /* tells links apart */
};

enum { /* scps_conn.flags */
       SCPS_F_SACK = 1u << 0,
       SCPS_F_TS = 1u << 1,
       SCPS_F_WSCALE = 1u << 2,
       SCPS_F_ECN = 1u << 3,
       SCPS_F_RELEASED = 1u << 4, /* the owner has let go */
       SCPS_F_SHUT = 1u << 5,     /* the application sends nothing more: FIN after the last octet */
       SCPS_F_FIN_SENT = 1u << 6,
       SCPS_F_FIN_ACKED = 1u << 7,
       SCPS_F_FIN_IN = 1u << 8, /* the peer's FIN has arrived in order */
       SCPS_F_ACK_NOW = 1u << 9,
       SCPS_F_RST_NOW = 1u << 10,
       SCPS_F_NODELAY = 1u << 11,
       SCPS_F_CORK = 1u << 12,
       SCPS_F_MORE = 1u << 13,      /* the last write said so */
       SCPS_F_PUSH_ALL = 1u << 14,  /* let small segments go once */
       SCPS_F_WANT_ROOM = 1u << 15, /* a write was cut short */
       SCPS_F_READY = 1u << 16,     /* in its link's turns */
       SCPS_F_EVENTS = 1u << 17,    /* in the host's event queue */
       SCPS_F_PERSIST = 1u << 18,
       SCPS_F_PROBE_NOW = 1u << 19, /* a window probe is due */
       SCPS_F_KEEP_NOW = 1u << 20,  /* a keep-alive probe is due */
       SCPS_F_CWND_LIMITED = 1u << 21,
       SCPS_F_ACTIVE = 1u << 22,    /* we opened it */
       SCPS_F_SYN_LOST = 1u << 23,  /* our SYN timed out: initial window 1, RFC 5681 section 3.1 */
       SCPS_F_ECE = 1u << 24,       /* we owe an ECN echo until CWR */
       SCPS_F_CWR = 1u << 25,       /* the next new data carries CWR */
       SCPS_F_END_KNOWN = 1u << 26, /* in an outage: its timer is its end, no probe */
       SCPS_F_HEARD = 1u << 27,     /* something valid came since the last window probe */
       SCPS_F_DEAD = 1u << 29,
       SCPS_F_CAPS = 1u << 30,   /* the SYN that arrived had capabilities */
       SCPS_F_OUTAGE = INT32_MIN /* the link is out */
};

enum scps_soft { SCPS_SOFT_NONE, SCPS_SOFT_REFUSED, SCPS_SOFT_UNREACH };

enum scps_plain {
    SCPS_PLAIN_NO,
    SCPS_PLAIN_REMEMBERED, /* this destination has not answered them before */
    SCPS_PLAIN_FELL_BACK,  /* SYNs with them stayed without answer */
    SCPS_PLAIN_COOKIE      /* a cookie keeps not all of them */
};

/* A SNACK that snack_delay puts off: snack.c. */
struct scps_snack_wait {
    scps_off from, to;
    scps_time due; /* 0: free */
};
#define SCPS_SNACK_WAITS 16

/* RFC 8985: rack.c. */
struct scps_rack {
    scps_dur rtt;    /* RACK.rtt: of the latest sending known to have arrived; 0: none has */
    uint8_t steps;   /* RACK.reo_wnd_mult - 1 */
    uint8_t persist; /* RACK.reo_wnd_persist */
    bool repairing;  /* in an episode, when last looked at */
    scps_off dsack_round;
    scps_time again; /* when something comes of age; 0: nothing does */
    bool due;        /* a tail probe is to leave */
    bool reordering_seen;
    uint8_t probe; /* what the outstanding one carried; 0: there is none */
    scps_off probe_end;
};

struct scps_tx {
    struct scps_sndbuf buf;
    struct scps_rangeset ends; /* octets not sent that end a record */
    struct scps_scoreboard sb;
    struct scps_recovery rec;
    struct scps_rack rack;
    scps_off
        highest; /* at the end of the data: what has arrived up to there was known at highest_at */
    scps_time highest_at;
    scps_dur slow[2];  /* longest time a first sending waited to be told of: lately, before */
    scps_dur pause[2]; /* longest time between two of its acknowledgements: lately, before */
    scps_time slow_since;
    /* end of what the last SNACK told of; 0: a hole that was new, so the next is no sequel */
    scps_off turn;
    scps_off
        named_to; /* a report longer than one look: the next look begins here; 0: at its hole */
    struct scps_snack_wait *waits; /* SCPS_SNACK_WAITS of them; NULL: no SNACK has been put off */
    struct scps_pacer pacer;
    /* The pacer's rate spreads the congestion window and counts data, as the window does; else it
     * counts packets. */
    bool paces_window;
    struct scps_delivery delivery;
    scps_off small_end; /* end of the last segment smaller than a full one (Nagle) */
    /* Of these two timers and outage_timer of the connection no more than one runs. */
    struct scps_rto rto;
    struct scps_timer persist_timer; /* a window probe is due (RFC 9293 section 3.8.6.1) */
    struct scps_timer pace_timer;    /* the connection's own rate lets a segment leave */
    struct scps_timer look_timer;    /* rack.c and snack.c look for what is lost */
    struct scps_timer retry_timer;   /* memory was lacking for a segment: it is tried again */
    struct scps_timer cork_timer;    /* a corked small segment has waited long enough */
    struct scps_timer trim_timer;    /* memory that nothing uses goes back */
    scps_time sent_at;               /* data left; 0: none has */
    scps_time heard_at;              /* something arrived that told of it; 0: nothing has */
    scps_time progress_at; /* the left edge moved, or something went out with nothing outstanding */
    scps_time
        outage_over; /* end of the last outage with something outstanding; 0: there was none */
    scps_off gave_up_to,
        peer_una; /* best effort: where the left edge went on its own; the peer's */
    scps_time gave_up_at;
    scps_time life_since; /* of what was sent before life_nxt: when the left edge last moved */
    scps_off life_nxt;
    /* acknowledgements in a row that may answer the first sending, long ago, or a later one; and
     * the shortest of these times, valid while there are any: ackin.c */
    uint8_t doubts;
    scps_dur doubted;
    bool outage_inferred; /* timeouts began the outage; no signal has told of it */
    struct scps_sack
        sacked[SCPS_SACK_MAX]; /* the newest report: nsacked blocks, 0 where not taken */
    uint8_t nsacked;
    struct scps_cause cause;
    /* gate.c */
    int32_t share; /* bytes left of its turn */
    bool in_line;
    struct scps_conn *line_next, *line_prev;
    /* undo */
    struct scps_cc_ctl saved_ctl;
    uint64_t saved_state[]; /* the controller's state before the episode */
};

struct scps_rx {
    struct scps_range recent[SCPS_SACK_MAX]; /* beyond a hole: those that grew last, newest first */
    uint32_t dups;                           /* answers at once since the left edge moved */
    uint32_t waiting;    /* bytes beyond a hole that no acknowledgement has reported */
    uint32_t burst;      /* acknowledgements in a row that had more to say */
    scps_off sacked_to;  /* ranges below have been reported once (strictly delayed mode) */
    scps_off snack_high; /* holes below have been reported once */
    scps_off snack_next; /* where the next turn of reporting them again stands */
    scps_off dsack_from, dsack_to; /* to be reported once */
    scps_time data_at;             /* the newest data arrived; 0: none since rx came */
    scps_off fin_at;               /* offset of a FIN that lies beyond a hole; 0: none does */
    uint32_t reports;              /* under a budget, in all */
    bool anew;                     /* and all are to be repeated after the last */
    /* strictly delayed mode: the last time the timer ran out with nothing new to tell, and until
     * when the next acknowledgement leaves a multiple of ack_delay after that */
    scps_time tick, ticks_end;
    scps_off mended_from; /* the lowest that arrived below since the last report; 0: none */
    scps_off mended;      /* arrived since below what had been told; 0: nothing */
    struct scps_pacer budget,
        budget_pps;                 /* of bare acknowledgements; packets count 1 in the second */
    struct scps_timer budget_timer; /* both cover a bare acknowledgement that is owed */
};

/* The protocol number in the pseudo-header of the peer's compressed segments: 105, 6 or 106, and 0
 * where none is known. Owned by stack/comp.c. */
struct scps_comp_sum {
    uint8_t agreed;     /* the number of the first good segment: no other is accepted */
    uint8_t newest;     /* of the compressed segment that is being processed */
    bool confirmed;     /* a second good segment had the agreed number: it stays for ever */
    uint8_t other;      /* of segments refused for it since one was good */
    scps_time other_at; /* when the first of them came */
};

#define SCPS_XCAPS_MAX 34u /* octets: an option of 36 behind one of 4 */

/* What few connections have: NULL as long as no feature of SCPS-TP that needs memory is in
 * force. */
struct scps_tp {
    /* compressed headers (protocol 105); the stack gives the id, which is never 0 */
    uint8_t conn_id, peer_id;
    bool heard; /* peer_id names this connection */
    /* the next one of the peer's id: connid.c */
    struct scps_conn *same_id;
    struct scps_comp_tx comp_tx;
    struct scps_comp_rx comp_rx;
    struct scps_comp_sum comp_sum;
    uint64_t comp_out, comp_in;             /* segments */
    uint64_t comp_saved_out, comp_saved_in; /* octets less than as TCP */
    struct scps_corruption corruption;
    struct scps_binding binding[SCPS_BINDINGS]; /* in force */
    uint8_t xcaps[SCPS_XCAPS_MAX];              /* as they left */
    struct scps_marks *marks;                   /* NULL: the peer's stream had none */
    struct scps_rangeset given_up; /* octets that this end gave up sending, the first of them */
    scps_time deaf_until; /* in an outage: what arrives before was on its way when the link went */
};

struct scps_conn {
    struct scps_conn_ctx ctx; /* what parts see of it */
    /* owners and queues */
    struct scps_turns *turns; /* its link's, or its route's */
    struct scps_tx *tx;       /* NULL: nothing written, nothing outstanding */
    struct scps_rx *rx;       /* NULL: nothing beyond a hole */
    struct scps_tp *tp;       /* NULL: as said there */
    union {
        struct scps_listener *listener; /* while pending */
        void *user;
    } owner;
    struct scps_conn *ready_next, *ev_next, *hash_next;
    struct scps_addr local, remote;
    uint16_t lport, rport;
    /* what it is */
    uint8_t state; /* enum scps_state */
    int8_t err;
    uint8_t hold, ack_owed;
    uint16_t quick; /* segments acknowledged one by one, up to quick_acks */
    uint8_t snd_wscale : 4, rcv_wscale : 4;
    bool pending : 1; /* not accepted yet */
    /* We opened it with compression, and the peer has not shown yet that our acknowledgement of its
     * SYN arrived: data goes with TCP's header, which completes the handshake as well */
    bool unheard : 1;
    bool starved : 1;        /* a write, or the FIN, waits for memory */
    bool dsacks : 1;         /* the peer has reported a duplicate: it can */
    uint8_t plain : 2;       /* enum scps_plain: why SYNs go, or went, without capabilities */
    uint8_t soft_err : 2;    /* enum scps_soft: what ICMP said, until the peer is heard again */
    uint8_t caps_peer, caps; /* SCPS_CAP_*: what the peer offered, what is in force */
    uint16_t events;         /* 1 << enum scps_event_kind */
    uint16_t pmtu_mss;       /* largest payload plus options the path takes */
    uint16_t mss;            /* payload of a full segment, options deducted */
    uint16_t adv_mss, rcv_mss, peer_mss; /* announced by us; seen; announced by the peer */
    uint16_t icmp;                       /* type << 8 | code of the newest ICMP error */
    uint16_t probes; /* keep-alives, or of an outage, in a row: up to keep_count */
    uint32_t flags;
    uint32_t oow_at; /* last answer to an unacceptable segment without data, ms; 0: none yet */
    uint64_t segs_out, segs_in;
    scps_time opened, established;
    scps_time heard_at; /* data, or news of what was sent, last arrived: keep.c */
    /* sending; offsets of our stream */
    uint32_t iss, wl1, wl2; /* SND.WL1 and SND.WL2: of the last window update */
    uint32_t max_wnd;       /* the largest window that the peer has offered */
    scps_off una, nxt, end; /* acknowledged; sent; written (FIN not counted) */
    scps_off edge;          /* end of the peer's window */
    struct scps_rtt rtt;
    struct scps_cc_ctl ctl;
    /* receiving; offsets of the peer's stream */
    uint32_t irs, ts_recent, ts_offset;
    uint32_t acked_to;     /* the low 32 bits of the offset that was acknowledged last */
    uint32_t max_offered;  /* the largest window that we have offered */
    uint32_t ts_recent_at; /* in 2^20 µs, about a second: scps_conn_ts_clock */
    struct scps_rcvbuf in;
    scps_off announced;             /* right edge offered */
    struct scps_timer ack_timer;    /* a delayed acknowledgement is due */
    struct scps_timer keep_timer;   /* is the peer still there? */
    struct scps_timer end_timer;    /* TIME-WAIT is over, or FIN-WAIT-2 of a released connection */
    struct scps_timer outage_timer; /* the known end of an outage, or the next probe of the link */
    uint64_t cc_state[];            /* cc->state_size bytes */
};

/* NULL: the peer's stream has neither records nor holes yet. */
static inline struct scps_marks *scps_conn_marks(const struct scps_conn *c)
{
    return c->tp ? c->tp->marks : NULL;
}

/* Data, or news of what was sent, has arrived: nobody need ask for the peer for a while. */
static inline void scps_conn_news(struct scps_conn *c)
{
    c->heard_at = c->ctx.env->now;
}

/* ---- conn.c, agreed.c, memory.c, notify.c ---------------------------------------------------- */

/* A closed connection with room for cfg's controller; NULL on lack of memory. Takes a reference on
 * cfg. */
struct scps_conn *scps_conn_new(struct scps_env *env, struct scps_shared_config *cfg);
void scps_conn_free(struct scps_conn *c);
/* c has ended, and its link goes or is of no concern to it any more: nothing of c leaves, not even
 * a reset. */
void scps_conn_detach(struct scps_conn *c);
/* rated: a route has a rate, so a controller that needs one need not have its own. SCPS_ERR_NORATE,
 * NOMEM, and those of scps_config_resolve. */
struct scps_shared_config *scps_config_new(const struct scps_alloc *a,
                                           const struct scps_conn_config *c, bool rated, int *err);
/* The count of references is no part of the configuration. */
void scps_config_unref(const struct scps_alloc *a, const struct scps_shared_config *shared);
/* Fills in every derived value (config.c). 0, SCPS_ERR_INVAL, SCPS_ERR_RANGE. */
int scps_config_resolve(struct scps_conn_config *c);
/* Begins an active open: a SYN is due. SCPS_ERR_NOMEM. The caller has set path, addresses, ports,
 * iss, mss. */
int scps_conn_open(struct scps_conn *c);
/* Begins a passive open with the SYN that arrived: SYN-ACK due. SCPS_ERR_NOMEM. */
int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn);
/* A connection that a SYN cookie stands for: established, syn as rebuilt from it.
 * SCPS_ERR_NOMEM. */
int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una);
/* A call that was refused for lack of memory is worth repeating when acknowledgements have made
 * room, and after this time at the latest: the allocator says nothing of what others give back to
 * it. */
#define SCPS_MEMORY_RETRY SCPS_MS(100)
static inline void scps_env_starved(struct scps_env *env)
{
    if (env->memory_at == SCPS_NEVER)
        env->memory_at = env->now + SCPS_MEMORY_RETRY;
}
/* What arrived is not taken for lack of memory, and is to come again. refused is what
 * budget.refused was before. Returns the reason to count. */
static inline enum scps_drop scps_env_refusal(struct scps_env *env, uint64_t refused)
{
    scps_env_starved(env);
    return env->budget.refused != refused ? SCPS_DROP_MEMORY_LIMIT : SCPS_DROP_NO_BUFFER;
}
/* SCPS_MEMORY_RETRY has passed: c gives empty buffers back, and tries again what waits for
 * memory. */
void scps_conn_memory(struct scps_conn *c);
/* To be called when there is no memory for a write of c, or for its FIN. Returns SCPS_ERR_NOMEM and
 * sees to it that c is told to try again. */
int scps_conn_starve(struct scps_conn *c);
/* The application hears that a write takes something again. */
void scps_conn_room(struct scps_conn *c);
int scps_conn_need_tx(struct scps_conn *c);
int scps_conn_need_rx(struct scps_conn *c);
int scps_conn_need_tp(struct scps_conn *c);
int scps_conn_need_marks(struct scps_conn *c);
/* Octets [from, end), about to be stored, end a record. False: they must be dropped (and are
 * counted). */
bool scps_conn_keep_record(struct scps_conn *c, scps_off from, scps_off end);
/* Gives back memory that nothing uses now. */
void scps_conn_trim(struct scps_conn *c);
/* It ends by itself so much later, and no keep-alive asks for the peer until then. */
void scps_conn_end_after(struct scps_conn *c, scps_dur wait);
void scps_conn_set_state(struct scps_conn *c, enum scps_state s);
/* Ends it for good: err 0 for an orderly end. Timers stop, buffers unsent go; data received stays
 * readable. */
void scps_conn_finish(struct scps_conn *c, int err);
/* Ends it with a reset to the peer. */
void scps_conn_reset(struct scps_conn *c, int err);
void scps_conn_established(struct scps_conn *c);
/* A connection that has ended, that nobody owns and that has sent its reset is queued to be
 * freed. */
void scps_conn_bury(struct scps_conn *c);
/* The stack has built what scps_conn_output gave: the end of a released connection, if that was its
 * reset. */
void scps_conn_sent_last(struct scps_conn *c);
/* In the turns of its link, if not there yet. */
void scps_conn_wake(struct scps_conn *c);
void scps_conn_unready(struct scps_conn *c);
void scps_conn_tell(struct scps_conn *c, enum scps_event_kind kind);
/* Sets a flag that holds small segments back, or takes it away: then c is woken. */
void scps_conn_set_flag(struct scps_conn *c, uint32_t flag, bool on);
/* The path's MTU is now such that a segment with options may carry this much. */
void scps_conn_set_pmtu_mss(struct scps_conn *c, uint32_t mss);
void scps_conn_drop(struct scps_conn *c, enum scps_drop d, const struct scps_seg *seg);
#define SCPS_NOTE_IT(c, kind, a, b, d, e) SCPS_OBSERVE(&(c)->ctx, kind, a, b, d, e)
/* ---- timers.c, keep.c ----------------------------------------------------------------------- */

/* Serves every timer due by env->now. Returns when the next one is due; SCPS_NEVER: none runs. */
scps_time scps_conn_timers(struct scps_conn *c);
/* The keep-alive timer has expired. */
void scps_keep_timer(struct scps_conn *c);

/* ---- the verbs ------------------------------------------------------------------------------- */

/* Takes one segment. Returns 0, or the scps_drop (already counted) that says why all of it had no
 * effect. With SCPS_DROP_BAD_ACK, AFTER_CLOSE and, unless a reset of its own is due, NO_CONNECTION
 * the caller answers with a reset made from the segment (RFC 9293 section 3.10.7). */
int scps_conn_input(struct scps_conn *c, const struct scps_seg *seg);
/* May this SYN replace a connection in TIME-WAIT (RFC 1122 section 4.2.2.13, RFC 6191)? */
bool scps_conn_may_reopen(const struct scps_conn *c, const struct scps_seg *seg);
/* Builds the next segment. False: there is none now; c->hold says why. */
bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg);
/* The same, but only what can travel in one train with seg, the segment given last: new data right
 * behind it in the stream and in memory, and with nothing more to say. */
bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next);

/* How many answers strangers get in the second that begins now: at most limit, at least half of it,
 * and nobody can tell how many. Were it the same each time, what is left for a stranger would tell
 * what others' packets have used up, and so whether the numbers he guessed for somebody else's
 * connection are right. */
uint32_t scps_env_ration(const struct scps_env *env, uint32_t limit);

/* ---- negotiate.c ----------------------------------------------------------------------------- */

void scps_negotiate_offer(const struct scps_conn *c, struct scps_seg *syn);
/* Settles on what our offer and the peer's SYN have in common. */
void scps_negotiate_settle(struct scps_conn *c, const struct scps_seg *syn);
/* The window a SYN offers: never scaled (RFC 7323 section 2.2), but see
 * scps_conn_config.first_window. */
uint32_t scps_negotiate_first_window(const struct scps_conn *c, const struct scps_seg *syn);
/* Octets of options in every data segment now. */
uint32_t scps_negotiate_overhead(const struct scps_conn *c);
/* What a full segment's payload is less than the MSS: its options. With compressed headers, which
 * are shorter than TCP's, it is more (docs/SCPS-TP.md sections 2.1 and 6: -12, with timestamps
 * -4). */
int32_t scps_negotiate_less(const struct scps_conn *c);
/* Payload up to which a segment, whatever its header has to say, fits the path as TCP, too. */
static inline uint32_t scps_conn_any_mss(const struct scps_conn *c)
{
    return c->caps & SCPS_CAP_COM && !c->unheard ? (c->mss > 24u ? c->mss - 16u : 8u) : c->mss;
}
/* With compression: something other than a SYN has come and was accepted. */
void scps_conn_heard(struct scps_conn *c);
/* With compression: has the peer been silent for so many timeouts or probes that it may have
 * forgotten the connection? To a compressed header, which has no ports, it could not say so; to
 * TCP's it answers with a reset. In an outage that was signalled silence says nothing, in one
 * inferred from timeouts they do. */
static inline bool scps_conn_doubts_comp(const struct scps_conn *c)
{
    unsigned backoff = c->tx ? c->tx->rto.backoff : 0;

    if (c->flags & (uint32_t)SCPS_F_OUTAGE)
        return backoff >= 1;
    return backoff >= 2 || c->probes >= 2;
}

/* ---- ackin.c, control.c, recovery.c, pipe.c ------------------------------ */

/* The acknowledgement part of an acceptable segment. False: it acknowledges what was never sent. */
bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg);
void scps_cc_view_of(const struct scps_conn *c, struct scps_cc_view *v);
void scps_cc_begin(struct scps_conn *c);
void scps_cc_change(struct scps_conn *c, enum scps_cc_change what);
/* A segment with data leaves: for a controller with an on_sent hook only. */
void scps_cc_sent(struct scps_conn *c, uint32_t bytes, bool resent);
/* Clamps, notes, and sets the pacer from ctl. */
void scps_cc_apply(struct scps_conn *c);
/* rack.c, where it is in force: what an acknowledgement tells; dup: a duplicate. */
void scps_rack_ack(struct scps_conn *c, const struct scps_seg *seg, bool dup, bool repaired,
                   struct scps_ack_sum *sum);
/* RACK.reo_wnd. */
scps_dur scps_rack_window(const struct scps_conn *c);
/* Data left and no timer stands: a probe will ask after it. */
void scps_rack_arm(struct scps_conn *c);
void scps_rack_timer(struct scps_conn *c);
/* The tail probe that was due has left. */
void scps_rack_probed(struct scps_conn *c, bool resent);
static inline bool scps_rack_on(const struct scps_conn *c)
{
    return c->ctx.cfg->c.recovery == SCPS_RECOVERY_RACK && c->flags & SCPS_F_SACK;
}
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
void scps_recovery_presume(struct scps_conn *c);
/* Progress during an episode, whose left edge was at `was`: was it imagined, is it over, how much
 * may leave? */
void scps_recovery_acked(struct scps_conn *c, const struct scps_ack_sum *sum, scps_off was,
                         const struct scps_seg *seg);
/* A segment left; resent: its record, not told of it yet; NULL for new data. */
void scps_recovery_sent(struct scps_conn *c, uint32_t len, const struct scps_sent *resent);
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
uint64_t scps_recovery_inflight(const struct scps_conn *c);

/* ---- snack.c --------------------------------------------------------------------------------- */

/* Adds to a bare acknowledgement the hole whose turn it is; room: octets of options left; whole:
 * what has arrived between two reported holes is to be told, too, even if that takes more
 * acknowledgements. */
void scps_snack_report(struct scps_conn *c, struct scps_seg *seg, unsigned room, bool whole);
/* Under a budget: lets the next report begin with the hole below what has arrived last below all
 * that has been told, if its vector reaches from there to the newest data. Returns up to where all
 * had been told; 0: it does not. */
scps_off scps_snack_go_back(struct scps_conn *c);
/* Octets of options that an acknowledgement without data has for reports. */
unsigned scps_snack_room(const struct scps_conn *c);
/* What lies behind the hole whose turn it is is longer than a bit vector tells of: *run. */
bool scps_snack_long_run(struct scps_conn *c, struct scps_range *run);
/* More reports than one acknowledgement holds are due: how many more acknowledgements that
 * takes. */
unsigned scps_snack_backlog(const struct scps_conn *c);
/* The next hole that no report has told of yet lies beyond what the option's offset can name: only
 * SACK can tell of it. */
bool scps_snack_out_of_reach(const struct scps_conn *c);
/* Sender: a SNACK with the newest acknowledgement can name no hole that begins here or beyond. */
scps_off scps_snack_reach(const struct scps_conn *c);
/* A report that arrived; ack: where the segment that carries it points. */
void scps_snack_take(struct scps_conn *c, const struct scps_seg *seg, scps_off ack,
                     struct scps_ack_sum *sum);
/* An acknowledgement with a report told of what sum says: how long does the peer take to tell? */
void scps_snack_learn(struct scps_conn *c, const struct scps_ack_sum *sum);
/* The peer tells of what has arrived a good while later: strictly delayed, or as its budget
 * allows. */
bool scps_snack_late(const struct scps_conn *c);
/* A resent segment that nobody hears of is lost again, and a SNACK put off is due. */
void scps_snack_timer(struct scps_conn *c);
static inline bool scps_snack_on(const struct scps_conn *c)
{
    return c->caps & SCPS_CAP_SNACK1;
}
/* What of the capabilities that the configuration wants can be offered. */
uint8_t scps_negotiate_caps(const struct scps_conn *c);
/* Is there anything for option 20: capabilities, or a binding space? */
bool scps_negotiate_offers(const struct scps_conn *c);
enum scps_why scps_negotiate_why(const struct scps_conn *c, enum scps_feature f);

/* ---- outage.c ----------------------------------------------------------------------- */

/* What a loss found now is put down to. */
static inline enum scps_loss_cause scps_conn_loss_cause(const struct scps_conn *c)
{
    return scps_cause_now(c->tx ? &c->tx->cause : NULL, &c->ctx);
}
/* It is put down to cause until then: of no use where nothing is under way that could be lost. */
void scps_outage_cause(struct scps_conn *c, enum scps_loss_cause cause, scps_time until);
/* Segments of the peer's were damaged, of which it is to be told until then; 0: for a round
 * trip. */
void scps_outage_damage(struct scps_conn *c, scps_time until);
/* until: when it ends, SCPS_NEVER if that is not known. inferred: from timeouts, nobody said so. */
void scps_outage_begin(struct scps_conn *c, scps_time until, bool inferred);
void scps_outage_end(struct scps_conn *c);
/* In an outage something valid arrived: does it end that? */
void scps_outage_heard(struct scps_conn *c);
/* The timer of the outage has expired: its known end has come, or a probe is due. */
void scps_outage_timer(struct scps_conn *c);
/* rate bytes/s and rtt of the path from now on; 0: not known. */
void scps_outage_path(struct scps_conn *c, uint64_t rate, scps_dur rtt);

/* ---- rcv.c, rcvfin.c, ackout.c --------------------------------------------------------------- */

/* RFC 9293 section 3.10.7.4, first check. */
bool scps_rcv_acceptable(const struct scps_conn *c, const struct scps_seg *seg);
/* The data and FIN part of an acceptable segment. */
void scps_rcv_data(struct scps_conn *c, const struct scps_seg *seg);
/* The whole of a segment that is just the next one. False: it is not, and nothing was done. */
bool scps_rcv_predicted(struct scps_conn *c, const struct scps_seg *seg);
/* Next octet of the peer's stream that is missing, its FIN counted. */
static inline scps_off scps_rcv_nxt(const struct scps_conn *c)
{
    return c->in.next + (c->flags & SCPS_F_FIN_IN ? 1 : 0);
}
/* Ranges beyond a hole that are kept at most: one for every other full segment of the window,
 * and 1024 at least. */
static inline uint32_t scps_rcv_max_holes(const struct scps_conn_config *cfg)
{
    uint32_t n = cfg->rcvbuf / 1024;

    return n > 1024 ? n : 1024;
}
/* The right edge the buffer allows now. */
static inline scps_off scps_rcv_edge(const struct scps_conn *c)
{
    scps_off full = c->in.read + c->ctx.cfg->c.rcvbuf;
    scps_off edge = (full > c->in.next ? full : c->in.next) + (c->flags & SCPS_F_FIN_IN ? 1 : 0);

    return edge > c->announced ? edge : c->announced;
}
/* The application has read: is a window update due? */
void scps_rcv_read(struct scps_conn *c);
/* The peer's FIN is the next octet of its stream. */
void scps_rcv_take_fin(struct scps_conn *c);
/* What is missing below `to` is given up. */
void scps_rcv_jump(struct scps_conn *c, scps_off to);
/* Nothing but the peer's SYN has arrived: what is acknowledged, and offered in a SYN. */
void scps_ackout_begin(struct scps_conn *c);
void scps_ackout_now(struct scps_conn *c);
/* All that was held beyond a hole has been discarded: no report stands any more. */
void scps_ackout_reneged(struct scps_rx *rx);
/* May a bare acknowledgement leave now, by the budget? If not, the connection is woken when it
 * may. */
bool scps_ackout_within_budget(struct scps_conn *c);
/* One has left. */
void scps_ackout_spend(struct scps_conn *c, const struct scps_seg *seg);
/* The delayed-acknowledgement timer has expired. */
void scps_ackout_timer(struct scps_conn *c);
/* Data came in order; at_once: it filled a hole, or was here already. */
void scps_ackout_data(struct scps_conn *c, bool at_once);
/* [from, from+len) came beyond a hole; news: the hole is new, or another is smaller now. */
void scps_ackout_beyond(struct scps_conn *c, scps_off from, uint32_t len, bool news);
/* Fills in ack, window, SACK of a segment that leaves now, and takes it as sent. */
void scps_ackout_fill(struct scps_conn *c, struct scps_seg *seg);

/* ---- api.c -------------------------------------------------------------------------------- */

/* How much one read may give. */
static inline uint64_t scps_conn_ready(const struct scps_conn *c)
{
    const struct scps_marks *m = scps_conn_marks(c);

    return m ? scps_marks_ready(m, &c->in) : scps_rcvbuf_ready(&c->in);
}

/* ---- bets.c, betsage.c ----------------------------------------------------------------------- */

void scps_bets_wait(struct scps_conn *c);
/* What was read, or what arrived, changed: does a hole hold the reader up, and since when? */
static inline void scps_bets_look(struct scps_conn *c)
{
    if (c->caps & SCPS_CAP_BETS)
        scps_bets_wait(c);
}
/* There is no hole to wait for: the timer stops. */
static inline void scps_bets_stop(struct scps_conn *c)
{
    if (scps_conn_marks(c))
        c->tp->marks->due = SCPS_NEVER;
}
/* It has waited long enough. */
void scps_bets_timer(struct scps_conn *c);
/* [from, to) lies below the left edge; there are marks. record: its last octet ends a record. */
void scps_bets_late(struct scps_conn *c, scps_off from, scps_off to, const uint8_t *data,
                    bool record);
/* Something is lost: gives up what was resent too often. */
void scps_bets_send(struct scps_conn *c);
/* What the peer has reported lies at a left edge that its acknowledgement cannot reach yet: true,
 * and *ack is behind it. */
bool scps_bets_pass(struct scps_conn *c, scps_off *ack);
/* SND.UNA as the peer's acknowledgements have it: they lag behind una where it went on its own. tx
 * may be NULL. */
static inline scps_off scps_bets_peer_una(const struct scps_tx *tx, scps_off una)
{
    return tx && una == tx->gave_up_to ? tx->peer_una : una; /* never ahead of una */
}
/* The oldest segment, if it can be given up: it has data, has not arrived, and the peer's window
 * has room behind it; NULL: it cannot. */
const struct scps_sent *scps_bets_oldest(const struct scps_conn *c);
/* When the oldest segment has been outstanding too long; SCPS_NEVER: it may be, or cannot be given
 * up. */
scps_time scps_bets_until(const struct scps_conn *c);
/* The same when the timer is set: takes note of what has been sent, which will all be as old
 * then. */
scps_time scps_bets_arm(struct scps_conn *c);
/* However long the peer is silent, there is data that can be given up instead of the connection. */
bool scps_bets_holds_on(const struct scps_conn *c);

/* ---- snd.c, rto.c, hold.c -------------------------------------------------------------------- */

/* Nothing leaves now, and this is why; SCPS_HOLD_NONE: a segment leaves. */
void scps_snd_hold(struct scps_conn *c, enum scps_hold why);
/* The rate of its route holds c, if it has anything to send. */
void scps_snd_routed(struct scps_conn *c);
/* What the peer's window says changed: persist begins or ends. */
void scps_snd_window_changed(struct scps_conn *c);
/* Starts the retransmission timer as if the segment left at `from`, which is not before now. */
void scps_snd_arm_rtx_from(struct scps_conn *c, scps_time from);
#define scps_snd_arm_rtx(c) scps_snd_arm_rtx_from(c, (c)->ctx.env->now)
/* The same for the next window probe. */
void scps_snd_arm_persist(struct scps_conn *c);
/* Has the peer been silent for longer than R2 (RFC 9293 section 3.8.3), with a timer that backs off
 * up to max? There is a tx, and tx->rto.silent_since is valid. And the error that it ends with. */
bool scps_snd_silent_too_long(const struct scps_conn *c, scps_dur max);
int scps_snd_silence_err(uint8_t soft);
/* The retransmission timer has expired; the timer of window probes has. There is a tx. */
void scps_snd_timeout(struct scps_conn *c);
void scps_snd_probe_timeout(struct scps_conn *c);
/* Does either of them run? */
static inline bool scps_rto_runs(const struct scps_tx *tx)
{
    return scps_timer_runs(&tx->rto.timer) || scps_timer_runs(&tx->persist_timer);
}
/* Both stop. */
static inline void scps_rto_stop(struct scps_tx *tx)
{
    scps_timer_stop(&tx->rto.timer);
    scps_timer_stop(&tx->persist_timer);
}
static inline scps_off scps_snd_fin_end(const struct scps_conn *c)
{
    return c->end + (c->flags & SCPS_F_SHUT ? 1 : 0);
}

/* Surely nothing more to send now: saves asking scps_conn_output. data: a segment with data has
 * just left. False: perhaps. */
static inline bool scps_conn_quiet(const struct scps_conn *c, bool data)
{
    if (c->hold == SCPS_HOLD_NONE ||
        c->flags & (SCPS_F_ACK_NOW | SCPS_F_RST_NOW | SCPS_F_KEEP_NOW | SCPS_F_PROBE_NOW))
        return false;
    if (c->hold == SCPS_HOLD_PACE)
        return data;
    return c->hold == SCPS_HOLD_APP &&
           (!c->tx || (c->nxt >= scps_snd_fin_end(c) && !c->tx->sb.lost));
}

static inline struct scps_listener *scps_conn_listener(const struct scps_conn *c)
{
    return c->pending ? c->owner.listener : NULL;
}

/* Coarse, for an age of weeks. */
static inline uint32_t scps_conn_ts_clock(const struct scps_conn *c)
{
    return (uint32_t)((uint64_t)c->ctx.env->now >> 20);
}

static inline uint32_t scps_conn_tsval(const struct scps_conn *c)
{
    return (uint32_t)((uint64_t)c->ctx.env->now / 1000) + c->ts_offset;
}

#endif
