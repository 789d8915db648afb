/* SPDX-License-Identifier: MIT */
/* The packet that a device has refused for now (SCPS_ERR_AGAIN). It goes first when the device is
 * ready again; until then the stack asks that link for nothing.
 *
 * Invariants: `pending` implies that `pkt` and its payload lie in `mem`, which has pkt.cap bytes.
 * Only kept.c assigns these fields.
 */
#ifndef SCPS_STACK_KEPT_H
#define SCPS_STACK_KEPT_H

#include <scps/alloc.h>
#include <scps/netif.h>

struct scps_kept {
    bool blocked; /* the device has refused a packet, and was not ready since */
    bool pending; /* `pkt` waits for the device */
    struct scps_pkt pkt;
    uint8_t *mem; /* NULL: the device has not refused a packet yet */
};

/* Keeps a copy of pkt, which the device has refused: its payload was lent for one call only. The
 * memory is allocated for `cap` bytes, if there is none yet. Without memory, or where cap is too
 * small, the packet is lost, as on any full link. */
void scps_kept_put(struct scps_kept *k, const struct scps_alloc *a, size_t cap,
                   const struct scps_pkt *pkt);
/* The device has refused the kept packet again. */
void scps_kept_refused(struct scps_kept *k);
/* The device has taken the kept packet. */
void scps_kept_sent(struct scps_kept *k);
/* The device takes packets again. */
void scps_kept_ready(struct scps_kept *k);
void scps_kept_fini(struct scps_kept *k, const struct scps_alloc *a);

#endif
