/* SPDX-License-Identifier: MIT */
/* The results of a run, gathered once and written as text or as JSON. */
#ifndef SCPS_TTCP_RESULT_H
#define SCPS_TTCP_RESULT_H

#include "scps_ttcp/options.h"
#include "scps_ttcp/transfer.h"

#include <scps/json.h>
#include <stdio.h>

enum ttcp_outcome {
    TTCP_DONE,
    TTCP_FAILED,      /* No data was moved, or this end caused the failure */
    TTCP_PARTIAL,     /* The connection broke after some data had moved */
    TTCP_INTERRUPTED, /* by a signal */
    TTCP_TIMED_OUT,   /* --timeout */
    TTCP_LACKING      /* The peer lacks a feature that --require names */
};

/* One end of the connection, as its own stack reports it. */
struct ttcp_side {
    bool open; /* There was a connection: the other fields are valid */
    uint32_t id;
    struct scps_endpoint local, remote;
    struct scps_conn_config config;
    struct scps_info info;
    struct scps_stack_stats stack;
    uint64_t bytes; /* through the application's calls */
    uint64_t calls;
    uint64_t touched; /* -T */
    /* -E: holes reported to the reader, or ranges given up by the sender */
    struct scps_hole *holes;
    size_t n_holes;
    uint64_t missing;
    uint64_t records, torn, record_min, record_max; /* -c, as read */
    struct ttcp_echo echo;                          /* -e, the sender's */
};

/* The figures of one --interval; moments count from the start of the clock. */
struct ttcp_interval {
    scps_dur start, end;
    uint64_t enqueued, acked, delivered; /* bytes in it */
    uint64_t retransmits;
    uint64_t cwnd, snd_wnd, inflight; /* at its end */
    scps_dur rtt, rttvar;
    uint32_t pmtu, holes; /* holes: number of ranges missing in the receiver's buffer */
    enum scps_hold hold;
    uint64_t packets, lost; /* -u: datagrams in it */
    uint64_t jitter;        /* Jitter at the end of the interval, as in struct ttcp_drecv */
};

/* -u: datagrams, guards aside. */
struct ttcp_figures {
    uint64_t sent, expected /* 0: unknown */, arrived, out_of_order, duplicates;
    uint64_t jitter;
    unsigned guards; /* Guards behind the data that have arrived */
    bool numbered, timed;
};

/* The result of one flow. The result of the first flow also holds outcome, link and machine of the
 * whole run, and the list of the other flows' results. */
struct ttcp_result {
    const struct ttcp_options *opt;
    /* Result of the next flow of the run; NULL: this is the last. Freed with the first */
    struct ttcp_result *next;
    unsigned id; /* 1, 2, ... in either direction; 0: it is the only flow */
    bool back;   /* --bidir: data goes from the end given -r to the one given -t */
    bool virtual_time;
    struct ttcp_side tx, rx; /* In real time only the end of this process is open */
    bool has_tx, has_rx;     /* Whether the sender and the receiver are in this process */
    enum ttcp_outcome outcome;
    char error[TTCP_MSGLEN]; /* One line that says what went wrong; empty after success */
    /* moments since the clock's start (the SYN), µs; TTCP_NOT_YET */
    scps_dur connect, first_byte, enqueued, acked, delivered, closed;
    scps_dur elapsed;     /* Duration of the transfer, whether it ended well or not */
    uint64_t acked_bytes; /* Bytes that the peer has acknowledged */
    /* compared: both ends were in this process; intact: every byte arrived as it was sent */
    bool compared, intact;
    uint64_t total; /* Bytes that were to be sent; UINT64_MAX: unknown */
    struct ttcp_figures udp;
    scps_dur heard;              /* -u: time between the receiver's first and last guard */
    struct ttcp_receipt receipt; /* The result that the receiver sent back (--tell) */
    /* That result has no holes, and its sum equals that of the bytes sent */
    uint64_t unasked; /* bytes that came back to a sender without --bidir and are no result */
    bool receipt_intact;
    /* --link */
    struct scps_link_stats link_fwd, link_back;
    uint64_t limit_bps; /* Physical limit of the transfer in closed form, bit/s; 0: there is none */
    /* --interval */
    struct ttcp_interval *intervals;
    size_t n_intervals, cap_intervals;
    struct ttcp_interval sum; /* Sum of all intervals so far, from which the next one is computed */
    /* real time only */
    scps_time wall_start; /* µs since 1970 */
    uint64_t cpu_user_us, cpu_system_us;
    /* Why the link ended, in words; NULL: it did not end, or the reason is unknown */
    const char *link_trouble;
    struct scps_addr unanswered; /* Ethernet neighbour that does not answer; family 0: none */
    /* Packets that PPP, CCSDS or Ethernet framing dropped, of all flows; told in the first flow's
     * result alone */
    struct scps_ifdrop link_drops[SCPS_IFDROPS];
    unsigned n_link_drops;
};

void ttcp_result_init(struct ttcp_result *r, const struct ttcp_options *opt);
void ttcp_result_fini(struct ttcp_result *r);
/* Adds the result of another flow to the run whose first result is r. Returns NULL: out of
 * memory. */
struct ttcp_result *ttcp_result_add(struct ttcp_result *r);
/* Gives r, the first result of its run, the first bad outcome among all flows. */
void ttcp_result_gather(struct ttcp_result *r);
/* Sums over the flows of the run of r that have its direction: duration, bytes and rate. sent: from
 * the sender's view. */
struct ttcp_total {
    unsigned flows;
    uint64_t bytes, resent, timeouts;
    scps_dur us;
};
struct ttcp_total ttcp_result_total(const struct ttcp_result *r, bool sent);
/* Returns the duration of the run whose first result is r. */
scps_dur ttcp_result_elapsed(const struct ttcp_result *r);
/* Sets outcome and message, unless an earlier failure has set them. */
void ttcp_result_fail(struct ttcp_result *r, enum ttcp_outcome outcome, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Checks after the handshake of c that the features of --require are in force. If not, sets the
 * outcome and returns false. */
bool ttcp_result_require(struct ttcp_result *r, const struct scps_conn *c);
/* Sets outcome and message, with a remedy, from the errors of both ends; s or rcv may be NULL. */
void ttcp_result_judge(struct ttcp_result *r, const struct ttcp_sender *s,
                       const struct ttcp_receiver *rcv);
/* Copies what the link filters of the device top report: trouble, missing neighbour, drops. */
void ttcp_result_device(struct ttcp_result *r, const struct scps_netif *top);
/* Writes to buf that a neighbour does not answer, and returns true. Returns false, with buf
 * unchanged, when none is missing. */
bool ttcp_unanswered_words(const struct ttcp_result *r, char *buf, size_t len);
/* Prints one line with the drops of the link filter, unless there are none. */
void ttcp_report_interface(const struct ttcp_result *r, FILE *f);
/* Copy the figures of the ends; call before connections and stacks are freed. t0: start of the
 * clock. */
void ttcp_result_sender(struct ttcp_result *r, const struct ttcp_sender *s, struct scps_stack *st,
                        scps_time t0);
void ttcp_result_receiver(struct ttcp_result *r, const struct ttcp_receiver *rcv,
                          struct scps_stack *st, scps_time t0);
/* Ends an interval at now (since t0). Returns the new interval; NULL if it would be empty, or this
 * end is in another process. */
const struct ttcp_interval *ttcp_result_interval(struct ttcp_result *r, const struct ttcp_sender *s,
                                                 const struct ttcp_receiver *rcv, scps_dur now);
/* Adds interval i to a sum over flows. */
void ttcp_interval_add(struct ttcp_interval *sum, const struct ttcp_interval *i);
/* Copies the result that the receiver told the sender, if it has arrived. */
void ttcp_result_told(struct ttcp_result *r, const struct ttcp_sender *s);
/* Returns the exit status of an outcome: 0, 1, 3, 4 or 124. */
int ttcp_exit_status(enum ttcp_outcome o);
/* "done", "failed", "partial", "interrupted", "timeout", "lacking". */
const char *ttcp_outcome_name(enum ttcp_outcome o);

/* Returns the duration of a transfer: until the FIN is acknowledged at the sender, or until the
 * last byte at a receiver alone. If that never came, how long the transfer went on. */
scps_dur ttcp_sent_time(const struct ttcp_result *r);
scps_dur ttcp_received_time(const struct ttcp_result *r);
/* Returns the bytes known to have arrived: those read by the receiver, or those acknowledged if the
 * receiver is elsewhere and has sent no result. */
uint64_t ttcp_received_bytes(const struct ttcp_result *r);

/* The reports. */
void ttcp_report_text(const struct ttcp_result *r, FILE *f);
void ttcp_report_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
void ttcp_report_interval_sum(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
/* Prints one line: who, how many bytes, how fast, and what went wrong. */
void ttcp_report_line(const struct ttcp_result *r, FILE *f);
void ttcp_report_json(const struct ttcp_result *r, struct scps_json *j);

#endif
