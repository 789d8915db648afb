/* SPDX-License-Identifier: MIT */
/* The two ends of a transfer, driven by the events of their connections; the same in virtual and in
 * real time. */
#ifndef SCPS_TTCP_ENDS_H
#define SCPS_TTCP_ENDS_H

#include "scps_ttcp/dgram.h"
#include "scps_ttcp/echo.h"
#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"

#define TTCP_NOT_YET INT64_MIN /* a moment that has not come */

struct ttcp_sender {
    struct scps_listener *listener; /* while it waits; else NULL */
    struct scps_conn *conn;
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
    struct ttcp_dsend d;   /* -u */
    /* moments on the driver's clock */
    scps_time syn, connect, enqueued, acked_at, closed_at;
};

/* Sends what in gives over c, whose SYN left at now. */
void ttcp_sender_start(struct ttcp_sender *s, struct scps_conn *c, struct ttcp_input *in,
                       scps_time now);
/* Waits for the connection to send over. */
void ttcp_sender_listen(struct ttcp_sender *s, struct scps_listener *l, struct ttcp_input *in);
/* An event of its connection. */
void ttcp_sender_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now);
/* Writes what there is; also when input has come, and again after more. */
void ttcp_sender_run(struct ttcp_sender *s, scps_time now);
/* A note of its stack: exact moments of acknowledgements. */
void ttcp_sender_note(struct ttcp_sender *s, const struct scps_note *n);

struct ttcp_receiver {
    struct scps_listener *listener;
    struct scps_conn *conn;
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
};

void ttcp_receiver_start(struct ttcp_receiver *r, struct scps_listener *l, struct ttcp_output *out);
/* Receives over c, whose SYN left at now. */
void ttcp_receiver_connect(struct ttcp_receiver *r, struct scps_conn *c, struct ttcp_output *out,
                           scps_time now);
void ttcp_receiver_event(struct ttcp_receiver *r, const struct scps_event *ev, scps_time now);
/* Reads what there is; also when the output can take more. */
void ttcp_receiver_run(struct ttcp_receiver *r, scps_time now);

#endif
