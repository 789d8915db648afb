/* SPDX-License-Identifier: MIT */
/* Collects the results of a run once, and writes them as text or as JSON. */
#ifndef SCPS_TTCP_RESULT_H
#define SCPS_TTCP_RESULT_H

#include "scps_ttcp/options.h"
#include "scps_ttcp/transfer.h"

#include <scps/json.h>
#include <stdio.h>

enum ttcp_outcome {
    TTCP_DONE,
    TTCP_FAILED,      /* no data was moved, or this end caused the failure */
    TTCP_PARTIAL,     /* the connection failed after some data was moved */
    TTCP_INTERRUPTED, /* a signal ended the run */
    TTCP_TIMED_OUT,   /* --timeout ended the run */
    TTCP_LACKING      /* the peer does not support a feature that --require demands */
};

/* One end of the connection, as its own stack reports it. */
struct ttcp_side {
    /* true: this end had a connection, which the fields from id to info describe; with -u (UDP): it
     * had a peer, so `local` and `remote` are valid */
    bool open;
    uint32_t id;
    struct scps_endpoint local, remote;
    struct scps_conn_config config;
    struct scps_info info;
    struct scps_stack_stats stack;
    uint64_t bytes; /* bytes that the application wrote (sender) or read (receiver) */
    uint64_t calls;
    /* -T (every byte of the data is read): hash of the bytes sent or received, which ttcp_touch()
     * computes so that the compiler cannot remove the reads; printed with -v */
    uint64_t touched;
    /* -E (best effort): at the receiver, the ranges of bytes that it skipped because they did not
     * arrive in time; at the sender, the ranges that it no longer retransmits */
    struct scps_hole *holes;
    size_t n_holes;
    uint64_t missing;
    /* -c: numbers of records that the receiver has read without missing bytes (records) and with
     * missing bytes (torn). record_min, record_max: sizes of the smallest and of the largest record
     * without missing bytes, bytes */
    uint64_t records, torn, record_min, record_max;
    /* at the sender with -e (the receiver sends each block back): numbers of blocks and bytes that
     * have returned, and the times that they took */
    struct ttcp_echo echo;
};

/* The figures of one interval of --interval; times are since the start of the transfer, µs. */
struct ttcp_interval {
    scps_dur start, end;
    /* bytes that the sender has written, that were acknowledged, and that the receiver has read,
     * during the interval */
    uint64_t enqueued, acked, delivered;
    uint64_t retransmits;
    uint64_t cwnd, snd_wnd, inflight; /* values at the end of the interval, bytes */
    scps_dur rtt, rttvar;
    /* holes: number of ranges missing in the receive buffer (between received segments) at the end
     * of the interval */
    uint32_t pmtu, holes;
    enum scps_hold hold;
    uint64_t packets, lost; /* -u: numbers of datagrams sent and lost during the interval */
    uint64_t jitter;        /* jitter at the end of the interval, in sixteenths of a microsecond */
};

/* Option -u: numbers of datagrams, not counting the guard datagrams (the short ones before and
 * after the data). */
struct ttcp_figures {
    uint64_t sent, expected /* 0: the number is unknown */, arrived, out_of_order, duplicates;
    uint64_t jitter;
    /* number of guard datagrams behind the data that have arrived; each reports the end of the
     * data */
    unsigned guards;
    bool numbered, timed;
};

/* The result of one flow. The results of a run form a list in the order of the flows; the first one
 * also has the outcome of the whole run, the counters of the link and the processor time. */
struct ttcp_result {
    const struct ttcp_options *opt;
    /* result of the next flow of the run; NULL: this is the last one; the first result owns the
     * others */
    struct ttcp_result *next;
    unsigned id; /* number of the flow, from 1 in each direction; 0: it is the only flow */
    bool back;   /* --bidir: data goes from the end given -r to the one given -t */
    bool virtual_time;
    /* what the stack and the program report about the sender's end (tx) and the receiver's end (rx)
     * of the flow. In real time only one of the ends is in this process; the structure of the other
     * end is zero. */
    struct ttcp_side tx, rx;
    bool has_tx, has_rx; /* true: the sender, or the receiver, of the flow is in this process */
    enum ttcp_outcome outcome;
    /* true: `outcome` is a failure because the connection ended with an error, or was closed too
     * early by the peer */
    bool cut;
    /* one line that says what went wrong, and has room for the message of each output file that
     * could not be written whole; empty after success */
    char error[5 * TTCP_MSGLEN];
    /* Times of events, µs since the start of the transfer (the SYN); TTCP_NOT_YET: the event did
     * not happen. connect: the handshake is complete; first_byte: the receiver has read the first
     * byte; enqueued: the sender has written the last byte; acked: new data was last acknowledged;
     * delivered: the receiver has read the last byte; closed: the FIN is acknowledged. */
    scps_dur connect, first_byte, enqueued, acked, delivered, closed;
    /* time from the start of the transfer (the SYN) to the end of the run, µs, whether the transfer
     * succeeded or not */
    scps_dur elapsed;
    uint64_t acked_bytes; /* bytes that the peer has acknowledged */
    /* compared: received bytes were compared with those sent, because both ends are in this
     * process; intact: every byte arrived as it was sent */
    bool compared, intact;
    uint64_t total; /* bytes that were to be sent; UINT64_MAX: unknown */
    struct ttcp_figures udp;
    /* -u, at the receiver: time, µs, by the receiver's clock from the first datagram that arrived
     * (usually the guard datagram with which the sender begins) until the first guard datagram
     * behind the data (a short one that marks the end), or the last data datagram if that arrived
     * later; 0: no data arrived */
    scps_dur heard;
    /* --tell: counts, time and checksum of the receiver, as the receiver sent them back to the
     * sender */
    struct ttcp_receipt receipt;
    /* bytes that the receiver sent back without --bidir and that are no result of --tell */
    uint64_t unasked;
    /* true: `receipt` reports no missing bytes, and its checksum equals that of the bytes sent */
    bool receipt_intact;
    /* counters of the virtual link (--link): from the end with -t to the one with -r, and in the
     * opposite direction */
    struct scps_link_stats link_fwd, link_back;
    /* physical limit of the transfer over this link, bit/s (scps_link_limit()); 0: there is none */
    uint64_t limit_bps;
    /* figures of each --interval */
    struct ttcp_interval *intervals;
    size_t n_intervals, cap_intervals;
    /* totals since the start of the transfer, as they were at the end of the last interval; the
     * figures of the next interval are the totals at its end minus these */
    struct ttcp_interval sum;
    /* The following fields are set in real time only: when the run is over a real network, not over
     * a virtual link (--link). */
    /* wall-clock time, µs since 1970, at which the run began, before the network interface was
     * opened; with --server, at which the connection of the test was accepted */
    scps_time wall_start;
    uint64_t cpu_user_us, cpu_system_us;
    /* text that says why the PPP link of the real interface is not open or was closed last, as the
     * interface reports it (scps_ifopts_trouble()); NULL: it is open, or the interface has no link
     * state */
    const char *link_trouble;
    struct scps_addr unanswered; /* Ethernet neighbour that does not answer; family 0: none */
    /* packets of all flows that the link layer (PPP, CCSDS, Ethernet) dropped; only in the first
     * flow's result */
    struct scps_ifdrop link_drops[SCPS_IFDROPS];
    unsigned n_link_drops;
};

void ttcp_result_init(struct ttcp_result *r, const struct ttcp_options *opt);
void ttcp_result_fini(struct ttcp_result *r);
/* Adds an empty result, for another flow, to the run whose first result is r, and returns it. NULL:
 * there is no memory. */
struct ttcp_result *ttcp_result_add(struct ttcp_result *r);
/* Sets the outcome of r, the first result of its run, to that of the first flow which has failed,
 * if any. If that flow's connection failed before it moved data, and another flow of the run has
 * moved some, the run's outcome is TTCP_PARTIAL. */
void ttcp_result_gather(struct ttcp_result *r);
/* The figures of all flows of a run that send in the same direction, added up: number of flows,
 * bytes, retransmissions and timeouts; us: the longest duration, µs. */
struct ttcp_total {
    unsigned flows;
    uint64_t bytes, resent, timeouts;
    scps_dur us;
};
/* Returns the sum of the figures of those flows that send in the same direction as the flow of
 * result r, the first of them. sent true: bytes acknowledged and duration at the sender; false:
 * bytes and duration at the receiver. */
struct ttcp_total ttcp_result_total(const struct ttcp_result *r, bool sent);
/* Returns the duration of a run, µs: the longest `elapsed` (time from the SYN to the end of the
 * run) in the list of its flows' results, which begins with r. */
scps_dur ttcp_result_elapsed(const struct ttcp_result *r);
/* Sets outcome and error message (fmt and the arguments behind it, as for printf()) of r, unless an
 * earlier failure has set them. */
void ttcp_result_fail(struct ttcp_result *r, enum ttcp_outcome outcome, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Reports that an output file other than the received data could not be written whole; fmt and the
 * arguments behind it are the message. If the run has failed already, the message is appended to
 * that of the earlier failure, and the outcome stays. */
void ttcp_result_file_failed(struct ttcp_result *r, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Called after the handshake of connection c: checks that the features of --require were
 * negotiated. If one was not, sets outcome and message of r and returns false. */
bool ttcp_result_require(struct ttcp_result *r, const struct scps_conn *c);
/* Sets outcome and error message of r, with a remedy, from the errors of the flow's sender s and
 * receiver rcv. s or rcv NULL: that end of the flow is in another process. */
void ttcp_result_judge(struct ttcp_result *r, const struct ttcp_sender *s,
                       const struct ttcp_receiver *rcv);
/* Copies to r what the link layer of the device reports: why the link has ended, a neighbour that
 * does not answer, drops. top: the uppermost netif of the device. */
void ttcp_result_device(struct ttcp_result *r, const struct scps_netif *top);
/* If an Ethernet neighbour does not answer ARP or Neighbour Discovery, writes that in words to buf
 * and returns true. Otherwise returns false with buf unchanged. */
bool ttcp_unanswered_words(const struct ttcp_result *r, char *buf, size_t len);
/* Prints one line with the packets that the link layer dropped, unless there are none. */
void ttcp_report_interface(const struct ttcp_result *r, FILE *f);
/* These functions copy the figures of the sender, or of the receiver, of a flow to r. They are
 * called before connections and stacks are freed. st: stack of that end; t0: start of the transfer,
 * µs. */
void ttcp_result_sender(struct ttcp_result *r, const struct ttcp_sender *s, struct scps_stack *st,
                        scps_time t0);
void ttcp_result_receiver(struct ttcp_result *r, const struct ttcp_receiver *rcv,
                          struct scps_stack *st, scps_time t0);
/* Ends the present interval of --interval of flow r at `now`, µs since the start of the transfer.
 * Returns that interval; NULL: it is empty, or there is no memory. s or rcv NULL: that end is in
 * another process. */
const struct ttcp_interval *ttcp_result_interval(struct ttcp_result *r, const struct ttcp_sender *s,
                                                 const struct ttcp_receiver *rcv, scps_dur now);
/* Adds interval i to a sum over flows. */
void ttcp_interval_add(struct ttcp_interval *sum, const struct ttcp_interval *i);
/* Copies the result that the receiver has sent back (--tell) to r, if it has arrived at sender
 * s. */
void ttcp_result_told(struct ttcp_result *r, const struct ttcp_sender *s);
/* Returns the exit status of an outcome: 0, 1, 3, 4 or 124. */
int ttcp_exit_status(enum ttcp_outcome o);
/* Returns the name of an outcome for reports, in the order of enum ttcp_outcome: "done", "failed",
 * "partial", "interrupted", "timeout" or "lacking". */
const char *ttcp_outcome_name(enum ttcp_outcome o);

/* ttcp_sent_time() returns the duration of a transfer at the sender: from the SYN until the FIN is
 * acknowledged, µs. ttcp_received_time() returns it at the receiver: until the last byte was read
 * or, with -u (UDP), from its first datagram to the end of the data; in a run without the receiver,
 * the time that the receiver reports (--tell), or else the time until the last acknowledgement of
 * new data. If the event did not happen, both return the time until the run ended. */
scps_dur ttcp_sent_time(const struct ttcp_result *r);
scps_dur ttcp_received_time(const struct ttcp_result *r);
/* Returns the bytes known to have arrived: those read by the receiver, or, if the receiver is in
 * another process and has sent no result, those acknowledged. */
uint64_t ttcp_received_bytes(const struct ttcp_result *r);

/* Writes the whole report of a run, whose first result is r, as text. */
void ttcp_report_text(const struct ttcp_result *r, FILE *f);
/* Writes which packets the stack and the link layer have dropped, for each reason, at an end that
 * has had no connection; nothing if there are none. */
void ttcp_report_dropped(const struct ttcp_result *r, FILE *f);
/* These two functions write one line of text for an interval i of --interval: for the flow with
 * result r, or for the sum of the flows that have the direction of r. */
void ttcp_report_interval(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
void ttcp_report_interval_sum(const struct ttcp_result *r, const struct ttcp_interval *i, FILE *f);
/* Prints the result of one test of --server in one line: peer, bytes, rate, and what went wrong. */
void ttcp_report_line(const struct ttcp_result *r, FILE *f);
/* Writes the whole report of a run, whose first result is r, as a JSON document. */
void ttcp_report_json(const struct ttcp_result *r, struct scps_json *j);

#endif
