/* SPDX-License-Identifier: MIT */
/* Two structures: a flow, which is data in one direction with its sender and its receiver (struct
 * ttcp_flow), and an end of a connection, which sends one flow, receives another, or both (struct
 * ttcp_end).
 *
 * A run has one flow for each connection, with --bidir two. Over a virtual link, which is simulated
 * in this process, both sender and receiver of a flow are here; in real time one of them is in
 * another process.
 */
#ifndef SCPS_TTCP_FLOW_H
#define SCPS_TTCP_FLOW_H

#include "scps_ttcp/result.h"

struct ttcp_flow {
    struct ttcp_result *r;
    struct ttcp_verify verify;
    /* input of the sender; used only if the sender is in this process (r->has_tx) */
    struct ttcp_input in;
    /* the sender of the flow; used only if it is in this process (r->has_tx) */
    struct ttcp_sender sender;
    /* output of the receiver; used only if the receiver is in this process (r->has_rx) */
    struct ttcp_output out;
    /* the receiver of the flow; used only if it is in this process (r->has_rx) */
    struct ttcp_receiver receiver;
    bool finished; /* true: the figures of this flow were copied to its result */
};

/* One end of one connection. */
struct ttcp_end {
    struct ttcp_end *next;  /* next end on the same stack; NULL: this is the last */
    struct scps_conn *conn; /* the connection of this end; NULL: it is not open yet, or is closed */
    uint32_t id; /* number of the connection, scps_conn_id(); kept after the connection is closed */
    struct ttcp_sender *tx;   /* sender at this end; NULL: this end sends nothing */
    struct ttcp_receiver *rx; /* receiver at this end; NULL: this end receives nothing */
};

/* Opens the input of flow f if its sender is in this process (f->r->has_tx), and its output if its
 * receiver is (f->r->has_rx). verify: true if the received bytes are to be compared with those
 * sent. stop_now: variable that a signal sets to end the waiting for input; NULL: reading the input
 * never waits. Returns 0, or SCPS_ERR_NOMEM or SCPS_ERR_SYSTEM with the reason in f->r. */
int ttcp_flow_open(struct ttcp_flow *f, const struct ttcp_options *o, bool verify,
                   const volatile sig_atomic_t *stop_now);
/* Closes input and output of the flow; f->r gets an error if something could not be written. */
void ttcp_flow_fini(struct ttcp_flow *f);
/* ttcp_flow_sender() returns the sender of the flow, ttcp_flow_receiver() its receiver; NULL: that
 * end of the flow is in another process. */
struct ttcp_sender *ttcp_flow_sender(struct ttcp_flow *f);
struct ttcp_receiver *ttcp_flow_receiver(struct ttcp_flow *f);

/* Ends a flow with error err (SCPS_ERR_*). Called for failures that no event of the stack reports,
 * while the connection still exists. */
void ttcp_flow_fail(struct ttcp_flow *f, int err);

/* Prepares end e, which waits for its connection, to send the data of flow tx and to receive that
 * of flow rx. NULL: the end does not send, or does not receive. */
void ttcp_end_init(struct ttcp_end *e, struct ttcp_flow *tx, struct ttcp_flow *rx);
/* Passes to the end its connection c, which was just opened by scps_connect(). now: time at which
 * its SYN is sent, µs. */
void ttcp_end_connect(struct ttcp_end *e, struct scps_conn *c, scps_time now);
/* Passes to the end its connection c, which was just accepted at now, µs. */
void ttcp_end_accept(struct ttcp_end *e, struct scps_conn *c, scps_time now);
/* Passes event ev of the connection of end e to the sender (e->tx) and to the receiver (e->rx) of
 * that end, as far as the end has them. now: µs. */
void ttcp_end_event(struct ttcp_end *e, const struct scps_event *ev, scps_time now);
/* Returns true if both directions of the end's connection are over: FINs were sent, received and
 * acknowledged, or the connection has failed. With -u there is no connection, so the result is
 * true. */
bool ttcp_end_over(const struct ttcp_end *e);
/* Returns how long a finished run waits for the connections of n ends to close, µs: 2 s, or four
 * times the longest RTO if that is more. */
scps_dur ttcp_ends_linger(const struct ttcp_end *e, size_t n);

/* Ends an interval of the option --interval for n flows at now, µs since the start of the transfer.
 * text: also prints a line for each flow and, if there are several, one for their sum. */
void ttcp_flows_interval(struct ttcp_flow *f, size_t n, scps_dur now, bool text);

#endif
