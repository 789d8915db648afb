/* SPDX-License-Identifier: MIT */
/* The parts of a connection that are allocated when needed (memory.c): tx, the send state with the
 * scoreboard; rx, the state of out-of-order data (received, with octets missing before it); tp, the
 * state of SCPS-TP features; marks, the ends of application records in received data, and the
 * missing octets that this receiver gave up (best effort). tx and rx are freed when the connection
 * is idle.
 *
 * Invariant: only memory.c allocates and frees them. Each function that allocates a part returns 0,
 * at once if the part exists already, or SCPS_ERR_NOMEM.
 */
#ifndef SCPS_CORE_MEMORY_H
#define SCPS_CORE_MEMORY_H

#include "base/slots.h"
#include "core/fixed.h"
#include "core/receive.h"
#include "core/sender.h"

int scps_conn_need_tx(struct scps_sender *s);
int scps_rx_need(struct scps_receive *r, const struct scps_conn_ctx *x);
int scps_conn_need_tp(struct scps_sender *s);
int scps_conn_need_marks(struct scps_sender *s);
void scps_conn_free_tx(struct scps_sender *s);
void scps_rx_free(struct scps_receive *r, const struct scps_conn_ctx *x);
void scps_conn_free_tp(struct scps_sender *s);
/* Called for octets [from, end) that have arrived and are about to be stored, if the last of them
 * ends an application record (TCP option 22): stores the place of that end. Returns false, and
 * counts a drop, if there was no room for it: the caller must drop the octets. */
bool scps_conn_keep_record(struct scps_sender *s, const struct scps_receive *rcv, scps_off from,
                           scps_off end);
/* Called when a write by the application, or the FIN of a close, was refused memory. Arranges that
 * the stack calls scps_conn_memory() after SCPS_MEMORY_RETRY, which tries again. Returns
 * SCPS_ERR_NOMEM. */
int scps_conn_starve(struct scps_sender *s);
/* Adds to *s, the list of memory blocks that a stack with fixed memory reserves, those of n
 * connections, whose structures have `size` octets each. */
void scps_conn_plan(const struct scps_fixed *f, struct scps_slots *s, uint32_t n, size_t size);

#endif
