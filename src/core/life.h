/* SPDX-License-Identifier: MIT */
/* The lifetime of a connection: its memory, its states, its end (conn.c, memory.c). */
#ifndef SCPS_CORE_LIFE_H
#define SCPS_CORE_LIFE_H

#include <scps/wire.h>

#include "base/slots.h"
#include "core/ctx.h"
#include "core/negotiate.h"

struct scps_conn;

/* A closed connection with room for cfg's controller; NULL on lack of memory. Takes a reference on
 * cfg. */
struct scps_conn *scps_conn_new(struct scps_env *env, struct scps_shared_config *cfg);
void scps_conn_free(struct scps_conn *c);
/* c has ended, and its link goes or is of no concern to it any more: nothing of c leaves, not even
 * a reset. */
void scps_conn_detach(struct scps_conn *c);
/* Begins an active open: a SYN is due. SCPS_ERR_NOMEM. The caller has set path, addresses, ports,
 * iss, mss. */
int scps_conn_open(struct scps_conn *c);
/* Begins a passive open with the SYN that arrived: SYN-ACK due. SCPS_ERR_NOMEM. */
int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn);
/* A connection that a SYN cookie stands for: established, syn as rebuilt from it.
 * SCPS_ERR_NOMEM. */
int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una);
/* SCPS_MEMORY_RETRY has passed: c gives empty buffers back, and tries again what waits for
 * memory. */
void scps_conn_memory(struct scps_conn *c);
/* To be called when there is no memory for a write of c, or for its FIN. Returns SCPS_ERR_NOMEM and
 * sees to it that c is told to try again. */
int scps_conn_starve(struct scps_conn *c);
/* The application hears that a write takes something again. */
void scps_conn_room(struct scps_conn *c);
int scps_conn_need_tx(struct scps_conn *c);
int scps_conn_need_rx(struct scps_conn *c);
int scps_conn_need_tp(struct scps_conn *c);
int scps_conn_need_marks(struct scps_conn *c);
void scps_conn_free_tx(struct scps_conn *c);
void scps_conn_free_rx(struct scps_conn *c);
void scps_conn_free_tp(struct scps_conn *c);
/* Octets [from, end), about to be stored, end a record. False: they must be dropped (and are
 * counted). */
bool scps_conn_keep_record(struct scps_conn *c, scps_off from, scps_off end);
/* Plans the memory of n connections, where it is fixed. */
void scps_conn_plan(const struct scps_fixed *f, struct scps_slots *s, uint32_t n);
/* Gives back memory that nothing uses now. */
void scps_conn_trim(struct scps_conn *c);
/* Its owner has let go. */
void scps_conn_release(struct scps_conn *c);
/* It ends by itself so much later, and no keep-alive asks for the peer until then. */
void scps_conn_end_after(struct scps_conn *c, scps_dur wait);
void scps_conn_set_state(struct scps_conn *c, enum scps_state s);
/* Ends it for good: err 0 for an orderly end. Timers stop, buffers unsent go; data received stays
 * readable. */
void scps_conn_finish(struct scps_conn *c, int err);
/* Ends it with a reset to the peer. */
void scps_conn_reset(struct scps_conn *c, int err);
void scps_conn_established(struct scps_conn *c);
/* A connection that has ended, that nobody owns and that has sent its reset is queued to be
 * freed. */
void scps_conn_bury(struct scps_conn *c);
/* Sets a bit (enum scps_small_bit) that holds small segments back, or takes it away: then c is
 * woken. */
void scps_conn_hold_small(struct scps_conn *c, unsigned bit, bool on);
/* The path's MTU is now such that a segment with options may carry this much. */
void scps_conn_set_pmtu_mss(struct scps_conn *c, uint32_t mss);
struct scps_asked scps_conn_asked(const struct scps_conn *c);
/* Our SYNs go without capabilities from now on, or went. */
void scps_conn_plainly(struct scps_conn *c, enum scps_plain why);
/* The peer's SYN has come: what both agree on holds. */
void scps_conn_settle(struct scps_conn *c, const struct scps_seg *syn);
/* With compression: something other than a SYN has come and was accepted. */
void scps_conn_heard(struct scps_conn *c);

/* Have our SYNs anything to offer in option 20? */
bool scps_conn_offers(const struct scps_conn *c);
/* With compression: has the peer been silent for so many timeouts or probes that it may have
 * forgotten the connection? To a compressed header, which has no ports, it could not say so; to
 * TCP's it answers with a reset. In an outage that was signalled silence says nothing, in one
 * inferred from timeouts they do. */
bool scps_conn_doubts_comp(const struct scps_conn *c);

#endif
