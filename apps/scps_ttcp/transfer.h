/* SPDX-License-Identifier: MIT */
/* The two ends of a transfer, driven by the events of their connections; the same in virtual and in
 * real time. */
#ifndef SCPS_TTCP_TRANSFER_H
#define SCPS_TTCP_TRANSFER_H

#include "scps_ttcp/dgram.h"
#include "scps_ttcp/echo.h"
#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"
#include "scps_ttcp/path.h"
#include "scps_ttcp/receipt.h"

#define TTCP_NOT_YET INT64_MIN /* Value of a moment that has not come yet */

struct ttcp_sender {
    struct scps_conn *conn; /* NULL: the sender waits for a connection */
    struct ttcp_input *in;
    const uint8_t *rest; /* Input that the send buffer had no room for */
    size_t rest_len;
    bool connected, waiting /* for input */, more /* it stopped after at_once */,
        finished /* shut down */, closed /* FIN acknowledged */;
    bool over; /* both directions of the connection are over */
    int err;   /* SCPS_ERR_* that ended the transfer; when in_failed, the error of the input */
    bool in_failed;
    bool too_short; /* -u: the input is shorter than the smallest datagram */
    /* Bytes to write before packets are served; 0: as much as there is room for */
    uint64_t at_once;
    uint64_t written;      /* Bytes that the send buffer has accepted */
    uint64_t acked;        /* Bytes of them acknowledged, by the newest ACKED note */
    struct ttcp_echo echo; /* -e */
    struct ttcp_path path; /* --path-state */
    struct ttcp_dsend d;   /* -u */
    bool duplex;           /* --bidir: a receiver reads from this connection */
    uint64_t unasked;      /* bytes that came back: a result, or data of a peer with --bidir */
    /* sums: keep a digest of the bytes written, to compare it with the result that the receiver
     * tells */
    bool sums; /* keep it */
    struct ttcp_digest digest;
    struct ttcp_receipt receipt;
    /* Beginning of what the receiver sent after the end of the stream */
    char line[TTCP_RECEIPT_LINE];
    size_t line_len;
    /* Moments on the driver's clock */
    scps_time syn, connect, enqueued, acked_at, closed_at;
};

/* Starts to send what `in` gives over connection c, whose SYN left at now. */
void ttcp_sender_start(struct ttcp_sender *s, struct scps_conn *c, struct ttcp_input *in,
                       scps_time now);
/* Lets the sender wait for its connection, which ttcp_sender_accept() hands over. */
void ttcp_sender_wait(struct ttcp_sender *s, struct ttcp_input *in);
void ttcp_sender_accept(struct ttcp_sender *s, struct scps_conn *c, scps_time now);
/* Takes an event of the sender's connection: it is open, has room or the peer's report, is closed
 * or has failed. */
void ttcp_sender_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now);
/* Writes as much as possible. Call it also when new input is there. */
void ttcp_sender_run(struct ttcp_sender *s, scps_time now);
/* Takes from a note of the stack the exact moments of acknowledgements. */
void ttcp_sender_note(struct ttcp_sender *s, const struct scps_note *n);

struct ttcp_receiver {
    struct scps_conn *conn; /* NULL: the receiver waits for a connection */
    struct ttcp_output *out;
    bool waiting /* for the output */, eof, over;
    int err; /* SCPS_ERR_* that ended the transfer; when out_failed, the error of the output */
    bool out_failed;
    uint64_t received;
    const uint8_t *echo; /* -e: bytes still to be echoed, lent by out; NULL: hollow */
    size_t echo_len;
    /* -c: records read to their end, the one that the end of the stream ends included. Records with
     * missing bytes count in torn only. */
    uint64_t records, torn, record_min, record_max, record /* the one being read */;
    /* -E: every hole that was reported, and their sum in bytes. The list passes to the result at
     * the end. */
    struct scps_hole *holes;
    size_t n_holes, cap_holes;
    uint64_t missing;
    scps_time opened, first, delivered,
        ended /* Moments; ended is, with -u, the arrival of the first guard behind the data */;
    struct ttcp_drecv d; /* -u */
    bool duplex;         /* --bidir: a sender writes to this connection and shuts it down */
    bool result_came;    /* the first bytes are a result (--tell), so the peer sends no data */
    /* --tell: digest of the bytes read, the line with the result, and how much of the line is
     * written */
    struct ttcp_digest digest;
    char line[TTCP_RECEIPT_LINE];
    size_t line_len, line_at;
};

/* Lets the receiver wait for a connection, which ttcp_receiver_accept() hands over. */
void ttcp_receiver_wait(struct ttcp_receiver *r, struct ttcp_output *out);
void ttcp_receiver_accept(struct ttcp_receiver *r, struct scps_conn *c, scps_time now);
void ttcp_receiver_event(struct ttcp_receiver *r, const struct scps_event *ev, scps_time now);
/* Reads what has arrived. Call it also when the output can take more. */
void ttcp_receiver_run(struct ttcp_receiver *r, scps_time now);
/* Returns true when everything has been read and, with --tell, the result has been sent. */
bool ttcp_receiver_done(const struct ttcp_receiver *r);

#endif
