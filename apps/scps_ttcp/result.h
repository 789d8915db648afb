/* SPDX-License-Identifier: MIT */
/* Everything a run has to tell, gathered once, written as text or as JSON. */
#ifndef SCPS_TTCP_RESULT_H
#define SCPS_TTCP_RESULT_H

#include "scps_ttcp/ends.h"
#include "scps_ttcp/options.h"

#include <scps/json.h>
#include <stdio.h>

enum ttcp_outcome {
    TTCP_DONE,
    TTCP_FAILED,      /* nothing came of it, or this end is to blame */
    TTCP_PARTIAL,     /* the connection broke after data had moved */
    TTCP_INTERRUPTED, /* by a signal */
    TTCP_TIMED_OUT,   /* --timeout */
    TTCP_LACKING      /* the peer lacks what --require names */
};

/* One end of the connection as its own stack knows it. */
struct ttcp_side {
    bool open; /* there was a connection: the rest means something */
    uint32_t id;
    struct scps_endpoint local, remote;
    struct scps_conn_config config;
    struct scps_info info;
    struct scps_stack_stats stack;
    uint64_t bytes; /* through the application's calls */
    uint64_t calls;
    uint64_t touched; /* -T */
    /* -E: holes that were told, or ranges given up */
    struct scps_hole *holes;
    size_t n_holes;
    uint64_t missing;
    uint64_t records, torn, record_min, record_max; /* -c, as read */
    struct ttcp_echo echo;                          /* -e, the sender's */
};

/* What happened in one --interval; moments count from the clock's start. */
struct ttcp_interval {
    scps_dur start, end;
    uint64_t enqueued, acked, delivered; /* bytes in it */
    uint64_t retransmits;
    uint64_t cwnd, snd_wnd, inflight; /* at its end */
    scps_dur rtt, rttvar;
    uint32_t pmtu, holes; /* holes: of the receiver's buffer */
    enum scps_hold hold;
    uint64_t packets, lost; /* -u: datagrams in it */
    uint64_t jitter;        /* at its end, as in struct ttcp_drecv */
};

/* -u: datagrams, guards aside. */
struct ttcp_figures {
    uint64_t sent, expected /* 0: unknown */, arrived, out_of_order, duplicates;
    uint64_t jitter;
    unsigned guards; /* behind the data, as they arrived */
    bool numbered, timed;
};

/* Of one flow. That of the first one has the whole run's outcome, link and machine, too, and the
 * list of the others. */
struct ttcp_result {
    const struct ttcp_options *opt;
    struct ttcp_result *next; /* of the run; NULL: the last. Freed with the first */
    unsigned id;              /* 1, 2, ... of either direction; 0: there is no other flow */
    bool back;                /* --bidir: it goes from the end that is -r to the one that is -t */
    bool virtual_time;
    struct ttcp_side tx, rx; /* in real time only our own is open */
    bool has_tx, has_rx;     /* which ends are in this process */
    enum ttcp_outcome outcome;
    char error[TTCP_MSGLEN]; /* one line; empty when done */
    /* moments since the clock's start (the SYN), µs; TTCP_NOT_YET */
    scps_dur connect, first_byte, enqueued, acked, delivered, closed;
    scps_dur elapsed;      /* how long it went on */
    uint64_t acked_bytes;  /* what the sender knows to have arrived */
    bool compared, intact; /* both ends were here; every byte arrived as it was sent */
    uint64_t total;        /* bytes there were to send; UINT64_MAX: unknown */
    struct ttcp_figures udp;
    scps_dur heard;              /* -u: how long the receiver's clock ran */
    struct ttcp_receipt receipt; /* by the receiver, where that is elsewhere */
    bool receipt_intact;         /* it has no holes, and its sum is that of what was sent */
    /* --link */
    struct scps_link_stats link_fwd, link_back;
    uint64_t limit_bps; /* closed-form physical limit of the transfer; 0: none for it */
    /* --interval */
    struct ttcp_interval *intervals;
    size_t n_intervals, cap_intervals;
    struct ttcp_interval sum; /* of all so far: the base of the next */
    /* real time only */
    scps_time wall_start; /* µs since 1970 */
    uint64_t cpu_user_us, cpu_system_us;
    const char *link_trouble; /* why the link ended, in words; NULL: not known, or it did not */
};

void ttcp_result_init(struct ttcp_result *r, const struct ttcp_options *opt);
void ttcp_result_fini(struct ttcp_result *r);
/* Adds another flow to the run of which r is the first; NULL: no memory. */
struct ttcp_result *ttcp_result_add(struct ttcp_result *r);
/* Gives r, the first of its run, the first outcome of all flows that is not good. */
void ttcp_result_gather(struct ttcp_result *r);
/* Of those in the run of r that go its way: how long they took, what they moved and what it took
 * together. sent: as the sender has it. */
struct ttcp_total {
    unsigned flows;
    uint64_t bytes, resent, timeouts;
    scps_dur us;
};
struct ttcp_total ttcp_result_total(const struct ttcp_result *r, bool sent);
/* How long the run took whose first flow r is. */
scps_dur ttcp_result_elapsed(const struct ttcp_result *r);
/* Sets outcome and message, unless something went wrong before. */
void ttcp_result_fail(struct ttcp_result *r, enum ttcp_outcome outcome, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* The handshake of c is over: false, and the outcome set, when something of --require is not in
 * force. */
bool ttcp_result_require(struct ttcp_result *r, const struct scps_conn *c);
/* What the ends say went wrong, in words with a remedy; s or rcv may be NULL. */
void ttcp_result_judge(struct ttcp_result *r, const struct ttcp_sender *s,
                       const struct ttcp_receiver *rcv);
/* Copies what there is to know of the ends; call before connections and stacks are freed. t0: the
 * clock's start. */
void ttcp_result_sender(struct ttcp_result *r, const struct ttcp_sender *s, struct scps_stack *st,
                        scps_time t0);
void ttcp_result_receiver(struct ttcp_result *r, const struct ttcp_receiver *rcv,
                          struct scps_stack *st, scps_time t0);
/* Ends an interval at now (since t0), unless nothing is in it. NULL for an end that is elsewhere.
 * The new interval, or NULL. */
const struct ttcp_interval *ttcp_result_interval(struct ttcp_result *r, const struct ttcp_sender *s,
                                                 const struct ttcp_receiver *rcv, scps_dur now);
/* Adds i to a sum over flows. */
void ttcp_interval_add(struct ttcp_interval *sum, const struct ttcp_interval *i);
/* Notes what the receiver told the sender, when it has come. */
void ttcp_result_told(struct ttcp_result *r, const struct ttcp_sender *s);
/* 0, 1, 3, 4, 124. */
int ttcp_exit_status(enum ttcp_outcome o);
/* "done", "failed", "partial", "interrupted", "timeout", "lacking". */
const char *ttcp_outcome_name(enum ttcp_outcome o);

/* The clock of a transfer: until the FIN is acknowledged at the sender, until the last byte at a
 * receiver alone; how long it went on when that never came. */
scps_dur ttcp_sent_time(const struct ttcp_result *r);
scps_dur ttcp_received_time(const struct ttcp_result *r);
/* Bytes known to have arrived: read at the receiver, or acknowledged when that is elsewhere and has
 * not told. */
uint64_t ttcp_received_bytes(const struct ttcp_result *r);

/* The reports. */
void ttcp_report_text(const struct ttcp_result *r, FILE *f);
void ttcp_report_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
void ttcp_report_interval_sum(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
/* One line: who, how much, how fast, and what went wrong. */
void ttcp_report_line(const struct ttcp_result *r, FILE *f);
void ttcp_report_json(const struct ttcp_result *r, struct scps_json *j);

#endif
