/* SPDX-License-Identifier: MIT */
/* The packet that a device has refused (SCPS_ERR_AGAIN). When the device is ready again, this
 * packet is sent first; until then the stack sends nothing on that link.
 *
 * Invariants: `pending` implies that `pkt` and its payload lie in `mem`, which has pkt.cap bytes.
 * Only kept.c assigns these fields.
 */
#ifndef SCPS_STACK_KEPT_H
#define SCPS_STACK_KEPT_H

#include <scps/alloc.h>
#include <scps/netif.h>

struct scps_kept {
    bool blocked; /* true: the device has refused a packet and has not been ready since then */
    bool pending; /* true: the packet `pkt` waits for the device */
    struct scps_pkt pkt;
    uint8_t *mem; /* memory of the copy; NULL: the device has not refused a packet yet */
};

/* Stores a copy of pkt, which the device has refused; a copy, because the payload of pkt is valid
 * during one call only. If k has no memory yet, or less than pkt needs, allocates `cap` bytes. If
 * that fails, or cap is less than pkt needs, the packet is lost, as a full link would lose it. */
void scps_kept_put(struct scps_kept *k, const struct scps_alloc *a, size_t cap,
                   const struct scps_pkt *pkt);
/* Records that the device has refused the stored packet again. */
void scps_kept_refused(struct scps_kept *k);
/* Records that the device has accepted the stored packet. */
void scps_kept_sent(struct scps_kept *k);
/* Drops the stored packet if its source address is src. Called when the host loses address src. */
void scps_kept_drop_from(struct scps_kept *k, const struct scps_addr *src);
/* Records that the device accepts packets again. */
void scps_kept_ready(struct scps_kept *k);
void scps_kept_fini(struct scps_kept *k, const struct scps_alloc *a);

#endif
