/* SPDX-License-Identifier: MIT */
/* The two ends of a transfer, driven by the events of their connections; the same in virtual and in
 * real time. */
#ifndef SCPS_TTCP_ENDS_H
#define SCPS_TTCP_ENDS_H

#include "scps_ttcp/dgram.h"
#include "scps_ttcp/echo.h"
#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"
#include "scps_ttcp/path.h"
#include "scps_ttcp/receipt.h"

#define TTCP_NOT_YET INT64_MIN /* a moment that has not come */

struct ttcp_sender {
    struct scps_conn *conn; /* NULL: it waits for one */
    struct ttcp_input *in;
    const uint8_t *rest; /* what the send buffer had no room for */
    size_t rest_len;
    bool connected, waiting /* for input */, more /* it stopped after at_once */,
        finished /* shut down */, closed /* FIN acknowledged */;
    bool over; /* both directions are */
    int err;   /* SCPS_ERR_* that ended it; of the input when in_failed */
    bool in_failed;
    bool too_short;   /* -u: there is less to send than a datagram */
    uint64_t at_once; /* bytes it writes before the driver has its turn; 0: all there is room for */
    uint64_t written; /* taken by the send buffer */
    uint64_t acked;   /* of them acknowledged, by the newest note */
    struct ttcp_echo echo; /* -e */
    struct ttcp_path path; /* --path-state */
    struct ttcp_dsend d;   /* -u */
    bool duplex;           /* --bidir: a receiver reads this connection */
    /* What the receiver tells of its result, and this end's sum of what it wrote, to compare */
    bool sums; /* keep it */
    struct ttcp_digest digest;
    struct ttcp_receipt receipt;
    char line[TTCP_RECEIPT_LINE]; /* the beginning of what came back after the end of the stream */
    size_t line_len;
    /* moments on the driver's clock */
    scps_time syn, connect, enqueued, acked_at, closed_at;
};

/* Sends what in gives over c, whose SYN left at now. */
void ttcp_sender_start(struct ttcp_sender *s, struct scps_conn *c, struct ttcp_input *in,
                       scps_time now);
/* Waits for the connection to send over, which ttcp_sender_accept gives it. */
void ttcp_sender_wait(struct ttcp_sender *s, struct ttcp_input *in);
void ttcp_sender_accept(struct ttcp_sender *s, struct scps_conn *c, scps_time now);
/* An event of its connection. */
void ttcp_sender_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now);
/* Writes what there is; also when input has come, and again after more. */
void ttcp_sender_run(struct ttcp_sender *s, scps_time now);
/* A note of its stack: exact moments of acknowledgements. */
void ttcp_sender_note(struct ttcp_sender *s, const struct scps_note *n);

struct ttcp_receiver {
    struct scps_conn *conn; /* NULL: it waits for one */
    struct ttcp_output *out;
    bool waiting /* for the output */, eof, over;
    int err; /* SCPS_ERR_* that ended it; of the output when out_failed */
    bool out_failed;
    uint64_t received;
    const uint8_t *echo; /* -e: what is still to go back, lent by out; NULL: hollow */
    size_t echo_len;
    /* -c: records read to their end, that of the stream included; those that miss bytes count as
     * torn only */
    uint64_t records, torn, record_min, record_max, record /* the one being read */;
    /* -E: every hole it was told of, and how many bytes that is; the list is the result's in the
     * end */
    struct scps_hole *holes;
    size_t n_holes, cap_holes;
    uint64_t missing;
    scps_time opened, first, delivered, ended /* -u: the first guard behind the data */;
    struct ttcp_drecv d; /* -u */
    bool duplex;         /* --bidir: a sender writes to this connection, and ends it */
    /* --tell: the line with the result, and how much of it the send buffer has taken */
    struct ttcp_digest digest;
    char line[TTCP_RECEIPT_LINE];
    size_t line_len, line_at;
};

/* Waits for a connection, which ttcp_receiver_accept gives it. */
void ttcp_receiver_wait(struct ttcp_receiver *r, struct ttcp_output *out);
void ttcp_receiver_accept(struct ttcp_receiver *r, struct scps_conn *c, scps_time now);
void ttcp_receiver_event(struct ttcp_receiver *r, const struct scps_event *ev, scps_time now);
/* Reads what there is; also when the output can take more. */
void ttcp_receiver_run(struct ttcp_receiver *r, scps_time now);
/* Everything has been read, and the result told where it was to be. */
bool ttcp_receiver_done(const struct ttcp_receiver *r);

#endif
