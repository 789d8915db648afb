/* SPDX-License-Identifier: MIT */
/* Data going one way, and the end of a connection that it goes through.
 *
 * A run has one flow for each connection, with --bidir two. Both halves of a flow are used over a
 * virtual link; in real time the other half is in another process.
 */
#ifndef SCPS_TTCP_FLOW_H
#define SCPS_TTCP_FLOW_H

#include "scps_ttcp/result.h"

struct ttcp_flow {
    struct ttcp_result *r;
    struct ttcp_verify verify;
    struct ttcp_input in;          /* where r->has_tx */
    struct ttcp_sender sender;     /* where r->has_tx */
    struct ttcp_output out;        /* where r->has_rx */
    struct ttcp_receiver receiver; /* where r->has_rx */
    bool finished;                 /* The figures of this flow have been taken */
};

/* One end of one connection. */
struct ttcp_end {
    struct ttcp_end *next;    /* Next end on the same stack; NULL: this is the last */
    struct scps_conn *conn;   /* NULL: not open yet, or closed */
    uint32_t id;              /* of conn */
    struct ttcp_sender *tx;   /* NULL: this end sends nothing */
    struct ttcp_receiver *rx; /* NULL: this end receives nothing */
};

/* Opens input and output of the halves that the flow's result has. verify and stop_now are as for
 * ttcp_input_init. Returns 0, or SCPS_ERR_NOMEM or SCPS_ERR_SYSTEM with the reason in r. */
int ttcp_flow_open(struct ttcp_flow *f, const struct ttcp_options *o, bool verify,
                   const volatile sig_atomic_t *stop_now);
/* Closes input and output; r says what could not be written. */
void ttcp_flow_fini(struct ttcp_flow *f);
/* Return the sender and the receiver of the flow; NULL if it is in another process. */
struct ttcp_sender *ttcp_flow_sender(struct ttcp_flow *f);
struct ttcp_receiver *ttcp_flow_receiver(struct ttcp_flow *f);

/* Ends a flow whose connection still runs with err, which no event of the stack reports. */
void ttcp_flow_fail(struct ttcp_flow *f, int err);

/* Lets the end wait for a connection, to send tx and receive rx; either may be NULL. */
void ttcp_end_init(struct ttcp_end *e, struct ttcp_flow *tx, struct ttcp_flow *rx);
/* Gives the end its connection c, whose SYN is sent now. */
void ttcp_end_connect(struct ttcp_end *e, struct scps_conn *c, scps_time now);
/* Gives the end its connection c, which was just accepted. */
void ttcp_end_accept(struct ttcp_end *e, struct scps_conn *c, scps_time now);
/* Passes an event of the end's connection to its sender, its receiver or both. */
void ttcp_end_event(struct ttcp_end *e, const struct scps_event *ev, scps_time now);
/* Returns true when both directions of the connection are over. With -u there is none, and it
 * returns true. */
bool ttcp_end_over(const struct ttcp_end *e);
/* How long to wait for the connections of n ends to close: 2 s, or four RTO where that is more. */
scps_dur ttcp_ends_linger(const struct ttcp_end *e, size_t n);

/* Ends an interval of n flows at now (since the start). text: also prints a line for each flow and,
 * if there are several, one for their sum. */
void ttcp_flows_interval(struct ttcp_flow *f, size_t n, scps_dur now, bool text);

#endif
