/* SPDX-License-Identifier: MIT */
/* State of one end of a PPP link: ppp.c sends and receives, pppopen.c opens the end and reports its
 * state. */
#ifndef SCPS_LINK_PPP_H
#define SCPS_LINK_PPP_H

#include <scps/ppp.h>
#include <scps/vjcomp.h>

#include "link/hdlc.h"
#include "link/ipcp.h"
#include "link/lcp.h"

struct scps_ppp {
    struct scps_netif nif; /* first member, so that a pointer to it can be cast to this struct */
    struct scps_alloc alloc;
    size_t size; /* size of the memory block that begins with this struct */
    struct scps_ppp_config cfg;
    struct scps_cp_env env;
    struct scps_lcp lcp;
    struct scps_ipcp ipcp;
    struct scps_ip6cp ip6cp;
    struct scps_hdlc_rx rx;
    struct scps_vj_tx vj_tx;
    struct scps_vj_rx vj_rx;
    /* true: the driver has called scps_netif_advance(), which sets env.now; false: env.now is not
     * known yet */
    bool begun;
    enum scps_ppp_why why;
    uint64_t tx_frames, rx_frames, vj_compressed, vj_restored;
    uint8_t *tx; /* buffer for a frame being sent */
};

/* Sets the functions (scps_netif_ops) of the netif p->nif, and the callbacks of LCP and of the
 * network control protocols. Called at the end of scps_ppp_new(), which creates the local end of a
 * PPP link. */
void scps_ppp_wire(struct scps_ppp *p);

#endif
