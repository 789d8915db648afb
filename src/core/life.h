/* SPDX-License-Identifier: MIT */
/* Functions that create, close and free a connection and its memory (conn.c, memory.c). */
#ifndef SCPS_CORE_LIFE_H
#define SCPS_CORE_LIFE_H

#include <scps/wire.h>

#include "core/ctx.h"
#include "core/negotiate.h"

struct scps_conn;

/* Returns a new connection in CLOSED with room for cfg's controller; NULL on lack of memory. Takes
 * a reference on cfg. */
struct scps_conn *scps_conn_new(struct scps_env *env, struct scps_shared_config *cfg);
void scps_conn_free(struct scps_conn *c);
/* Detaches c, which has ended, from its link: nothing more is sent for c, not even a reset. */
void scps_conn_detach(struct scps_conn *c);
/* Begins an active open: a SYN is due. Returns 0 or SCPS_ERR_NOMEM. The caller has set path,
 * addresses, ports, iss, mss. */
int scps_conn_open(struct scps_conn *c);
/* Begins a passive open with the SYN that arrived: a SYN-ACK is due. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn);
/* Opens the connection that a SYN cookie stands for: it is established; syn was rebuilt from the
 * cookie. Returns 0 or SCPS_ERR_NOMEM. */
int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una);
/* Called when SCPS_MEMORY_RETRY has passed: c frees empty buffers, and retries requests that wait
 * for memory. */
void scps_conn_memory(struct scps_conn *c);
/* Informs the application that a write accepts data again. */
void scps_conn_room(struct scps_conn *c);
/* Frees memory that is not used now. */
void scps_conn_trim(struct scps_conn *c);
/* Releases the connection, because the application has closed it. */
void scps_conn_release(struct scps_conn *c);
/* Queues an event for the application, if it owns the connection. */
void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind);
/* Ends the connection after a time without the peer; until then no keep-alive probes are sent. */
void scps_conn_end_after(struct scps_conn *c, scps_dur wait);
void scps_conn_set_state(struct scps_conn *c, enum scps_state s);
/* Ends the connection; err 0: an orderly end. Timers stop, unsent data is freed; received data can
 * still be read. */
void scps_conn_finish(struct scps_conn *c, int err);
/* Ends the connection with a reset to the peer. */
void scps_conn_reset(struct scps_conn *c, int err);
void scps_conn_established(struct scps_conn *c);
/* Queues a closed connection to be freed if it has no owner and its reset was sent. */
void scps_conn_queue_for_free(struct scps_conn *c);
/* Sets a bit (enum scps_small_bit) that delays small segments, or clears it, and then wakes c. */
void scps_conn_hold_small(struct scps_sender *s, unsigned bit, bool on);
/* Sets the payload and options that a segment may have with the path's present MTU. */
void scps_conn_set_pmtu_mss(struct scps_sender *s, uint32_t mss);
/* Returns what decides which options our SYN offers, or our SYN+ACK agrees to. state: enum
 * scps_state; active: this end sent the first SYN. */
struct scps_asked scps_conn_asked(const struct scps_sender *s, uint8_t state, bool active);
/* Processes the peer's SYN: puts into force what both ends agree on. */
void scps_conn_settle(struct scps_conn *c, const struct scps_seg *syn);
/* With compression: records that something other than a SYN has been accepted. */
void scps_conn_heard(struct scps_sender *s);

/* Called when our SYN was answered by a reset, or not at all. Returns true if it offered SCPS
 * capabilities (option 20); then the next SYN does not offer any. */
bool scps_conn_falls_back(struct scps_sender *s, uint8_t state, bool active);
/* With compression: returns true if the peer has been silent for so many timeouts or probes that it
 * may have lost the connection. It could not answer a compressed header, which has no ports; an
 * uncompressed one it answers with a reset. In an outage that was signalled, silence has no
 * meaning; in one that was inferred from timeouts it has. */
bool scps_conn_doubts_comp(const struct scps_sender *s);

#endif
