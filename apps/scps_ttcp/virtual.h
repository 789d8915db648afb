/* SPDX-License-Identifier: MIT */
/* The state of a transfer over a virtual link. The link and both ends of the transfer are simulated
 * in this process. virtual_open.c initialises the state, and run_virtual.c uses it. */
#ifndef SCPS_TTCP_VIRTUAL_H
#define SCPS_TTCP_VIRTUAL_H

#include "scps_ttcp/flow.h"
#include "scps_ttcp/progress.h"
#include "scps_ttcp/truth.h"
#include "scps_ttcp/watch.h"

#include <scps/sim.h>

struct ttcp_virtual {
    const struct ttcp_options *o;
    struct ttcp_result *r;
    struct scps_world *w;
    struct scps_link *link;
    struct scps_host *tx_host, *rx_host;
    struct scps_netif *taps[2];
    /* array of the flows: first one for each connection, from transmitter (-t) to receiver (-r), in
     * the order of the connections; with --bidir followed by one for each connection in the
     * opposite direction, in the same order */
    struct ttcp_flow *flow;
    size_t n_flows;
    /* arrays with the two ends of each connection: tx_end[i] is the end of connection i at the
     * transmitter (-t), rx_end[i] the one at the receiver (-r) */
    struct ttcp_end *tx_end, *rx_end;
    struct ttcp_watch tx_watch, rx_watch;
    struct ttcp_progress progress;
    struct ttcp_truth truth;
    struct ttcp_sums sums; /* -u: checksums of the datagrams sent */
    /* with -u: virtual time, µs, of the timer by which the sender sends its next guard datagram, a
     * short one behind the data that tells the receiver that the data has ended */
    scps_time next;
    /* on_event: function that is called for the events of both hosts' stacks, with this structure
     * as ctx. stop_now: variable that a signal sets to interrupt the run; a sender that waits for
     * its input then stops waiting. */
    void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx);
    const volatile sig_atomic_t *stop_now;
    /* With -u. true: the sender has sent its last datagram, and the run waits until the link has
     * delivered the datagrams that are on the way, because they count, too */
    bool last_look;
    /* true: the figures of all flows were recorded: every sender has closed and every receiver has
     * read to the end of the stream, or a flow failed or the run was ended early; connections may
     * still be closing */
    bool finished;
};

/* Makes the two simulated hosts, the virtual link between them, and the connections of the
 * transfer; for each direction of data on a connection, a flow with its input and output. Returns
 * false, with the reason in x->r, on failure. */
bool ttcp_virtual_open(struct ttcp_virtual *x);
/* Frees everything that ttcp_virtual_open() made. Called after the figures have been recorded; if a
 * file could not be written, x->r gets the error. */
void ttcp_virtual_close(struct ttcp_virtual *x);

#endif
