/* SPDX-License-Identifier: MIT */
/* The sender and the receiver of a transfer, driven by the events of their connections; the same in
 * virtual and in real time. */
#ifndef SCPS_TTCP_TRANSFER_H
#define SCPS_TTCP_TRANSFER_H

#include "scps_ttcp/dgram.h"
#include "scps_ttcp/echo.h"
#include "scps_ttcp/input.h"
#include "scps_ttcp/output.h"
#include "scps_ttcp/path.h"
#include "scps_ttcp/receipt.h"

#define TTCP_NOT_YET INT64_MIN /* value of a time, µs, whose event has not happened yet */

struct ttcp_sender {
    struct scps_conn *conn; /* connection of the sender; NULL: the sender waits for one */
    struct ttcp_input *in;
    /* input that was read but not written to the connection yet, rest_len bytes */
    const uint8_t *rest;
    size_t rest_len;
    bool connected, /* true: the connection is established, or the datagram socket is open */
        waiting,    /* true: the sender waits for input */
        more,       /* true: the sender has stopped after at_once bytes, and has more to write */
        finished,   /* true: all input was written, and the connection is shut down for sending */
        closed;     /* true: the peer has acknowledged the FIN */
    /* true: both directions of the connection are closed, or the connection has failed */
    bool over;
    /* error (SCPS_ERR_*) that ended the transfer; 0: none. If in_failed is true, the input or the
     * memory failed, not the connection: SCPS_ERR_SYSTEM, with the errno in in->sys_errno, or
     * SCPS_ERR_NOMEM */
    int err;
    bool in_failed;
    bool too_short; /* true: -u, and the whole input is shorter than the smallest datagram */
    /* largest number of bytes that one call of ttcp_sender_run() writes, so that the event loop can
     * send and receive packets between two calls; 0: no limit */
    uint64_t at_once;
    uint64_t written; /* bytes that the send buffer has accepted */
    /* bytes of `written` that the peer has acknowledged, according to the last observer event
     * SCPS_NOTE_ACKED */
    uint64_t acked;
    struct ttcp_echo echo; /* state of -e */
    struct ttcp_path path; /* state of --path-state */
    struct ttcp_dsend d;   /* state of -u */
    /* true: --bidir, so the receiver of this end reads from the same connection */
    bool duplex;
    /* number of bytes that the receiver has sent on this connection although this end was not
     * started with --bidir: its result (--tell), or its data if --bidir was given to the receiver
     * alone */
    uint64_t unasked;
    /* true: a digest of the bytes written is kept, to compare it with the receiver's result */
    bool sums;
    struct ttcp_digest digest;
    struct ttcp_receipt receipt;
    /* the first bytes that the receiver has sent back, in which the line with its result (--tell)
     * is searched for */
    char line[TTCP_RECEIPT_LINE];
    size_t line_len;
    /* Times, µs, on the clock of the stack (virtual or monotonic time): the SYN was sent, or that
     * of the peer arrived (syn); the handshake was completed (connect); the last byte was written
     * to the send buffer (enqueued); the last acknowledgement of new data arrived (acked_at); the
     * FIN was acknowledged (closed_at). With -u, the last datagram was sent (acked_at,
     * closed_at). */
    scps_time syn, connect, enqueued, acked_at, closed_at;
};

/* Starts to send the input `in` over connection c, whose SYN is sent at now, µs. */
void ttcp_sender_start(struct ttcp_sender *s, struct scps_conn *c, struct ttcp_input *in,
                       scps_time now);
/* Prepares the sender to send the input `in` over a connection that does not exist yet;
 * ttcp_end_connect() or ttcp_sender_accept() passes the connection later. */
void ttcp_sender_wait(struct ttcp_sender *s, struct ttcp_input *in);
void ttcp_sender_accept(struct ttcp_sender *s, struct scps_conn *c, scps_time now);
/* Called for an event of the sender's connection: writes when the connection is established or has
 * room, reads the receiver's result when it arrives, and records an error or the end. */
void ttcp_sender_event(struct ttcp_sender *s, const struct scps_event *ev, scps_time now);
/* Writes as much of the input to the connection as the send buffer takes. The caller also calls
 * this function when the input was empty (s->waiting) and has new data. */
void ttcp_sender_run(struct ttcp_sender *s, scps_time now);
/* Called for each observer event n of the sender's connection: records the exact time of
 * acknowledgements. */
void ttcp_sender_note(struct ttcp_sender *s, const struct scps_note *n);

struct ttcp_receiver {
    struct scps_conn *conn; /* connection of the receiver; NULL: the receiver waits for one */
    struct ttcp_output *out;
    bool waiting /* true: the receiver waits until the output accepts more */, eof, over;
    /* error (SCPS_ERR_*) that ended the transfer; 0: none. If out_failed is true, it is
     * SCPS_ERR_SYSTEM: writing the output failed, and out->sys_errno is the errno */
    int err;
    bool out_failed;
    uint64_t received;
    /* -e: bytes still to be echoed, which are in the buffer of `out`; NULL: the connection is
     * hollow (bytes are counted, not stored) */
    const uint8_t *echo;
    size_t echo_len;
    /* At the receiver with -c (record ends are marked): numbers of records that it has read to
     * their end, without missing bytes (records) and with missing bytes (torn). record_min,
     * record_max: sizes of the smallest and of the largest record without missing bytes, bytes. */
    uint64_t records, torn, record_min, record_max,
        record /* number of bytes so far of the record being read */;
    /* -E (best effort): list of the n_holes ranges of bytes that did not arrive in time and were
     * skipped, and the sum of their lengths (missing). At the end of the transfer struct
     * ttcp_result takes over the list. */
    struct scps_hole *holes;
    size_t n_holes, cap_holes;
    uint64_t missing;
    /* Times, µs: the SYN was sent or arrived, or with -u the first datagram arrived (opened); the
     * first and the last bytes were read (first, delivered); with -u, the first guard datagram
     * behind the data arrived, a short datagram that stops the clock (ended). TTCP_NOT_YET: it has
     * not happened yet; without -u, `ended` always has this value. */
    scps_time opened, first, delivered, ended;
    struct ttcp_drecv d; /* state of -u */
    /* true: --bidir, so the sender of this end writes to the same connection; that sender, not this
     * receiver, shuts the connection down for sending */
    bool duplex;
    /* true: the first bytes of the peer are the line with its result (--tell), so the peer sends no
     * data */
    bool result_came;
    /* --tell: digest of the bytes read; the line with this receiver's result; and how many bytes of
     * the line were written to the connection (line_at) */
    struct ttcp_digest digest;
    char line[TTCP_RECEIPT_LINE];
    size_t line_len, line_at;
};

/* Makes the receiver wait for a connection, which ttcp_receiver_accept() will pass. */
void ttcp_receiver_wait(struct ttcp_receiver *r, struct ttcp_output *out);
void ttcp_receiver_accept(struct ttcp_receiver *r, struct scps_conn *c, scps_time now);
void ttcp_receiver_event(struct ttcp_receiver *r, const struct scps_event *ev, scps_time now);
/* Reads the data that has arrived and writes it to the output. Called for events, and when the
 * output accepts more. */
void ttcp_receiver_run(struct ttcp_receiver *r, scps_time now);
/* Returns true if the stream was read to its end and, with --tell, the result was written to the
 * connection. */
bool ttcp_receiver_done(const struct ttcp_receiver *r);

#endif
