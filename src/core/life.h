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
/* Detaches c, which has ended, from its network interface: nothing more is sent for c, not even a
 * reset. */
void scps_conn_detach(struct scps_conn *c);
/* Begins an active open: a SYN is due. Returns 0 or SCPS_ERR_NOMEM. The caller has set path,
 * addresses, ports, iss, mss. */
int scps_conn_open(struct scps_conn *c);
/* Begins a passive open with the peer's SYN `syn`: a SYN-ACK is due. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn);
/* Opens a connection from a SYN cookie that the peer returned, in state ESTABLISHED. syn: the
 * peer's SYN as rebuilt from the cookie; una: SND.UNA. Returns 0 or SCPS_ERR_NOMEM. */
int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una);
/* Called SCPS_MEMORY_RETRY after memory was refused to this or another connection: c frees empty
 * buffers, and repeats its own requests that were refused. */
void scps_conn_memory(struct scps_conn *c);
/* Informs the application that the send buffer has room for a write again. */
void scps_conn_room(struct scps_conn *c);
/* Called when nothing has been outstanding for two retransmission timeouts: frees the send state of
 * c, its receive buffer and the state of out-of-order data (received, with octets missing before
 * it), as far as they are empty. */
void scps_conn_trim(struct scps_conn *c);
/* Queues an event for the application, unless the application has given up its handle of c. */
void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind);
/* In FIN-WAIT-2 or TIME-WAIT: ends the connection `wait` µs from now; no keep-alive probes are sent
 * meanwhile. */
void scps_conn_end_after(struct scps_conn *c, scps_dur wait);
void scps_conn_set_state(struct scps_conn *c, enum scps_state s);
/* Ends the connection. err: the reason, SCPS_ERR_*; 0: an orderly end. Timers stop and unsent data
 * is freed; received data can still be read. */
void scps_conn_finish(struct scps_conn *c, int err);
/* Ends the connection with a reset to the peer. err: the reason that the application gets,
 * SCPS_ERR_*. */
void scps_conn_reset(struct scps_conn *c, int err);
/* Begins data transfer. seg: the segment that acknowledged this end's SYN or SYN-ACK; on a
 * connection made from a SYN cookie, the peer's SYN as rebuilt from the cookie. */
void scps_conn_established(struct scps_conn *c, const struct scps_seg *seg);
/* Queues a closed connection to be freed if the application has given up its handle, and no reset
 * is due any more. */
void scps_conn_queue_for_free(struct scps_conn *c);
/* Sets (on true) or clears a bit of enum scps_small_bit. While such a bit is set, a segment that is
 * not full waits, by the rule that the bit names: Nagle's, TCP_CORK or SCPS_MORE. When a bit is
 * cleared, s is queued to send, because such a segment may have to be sent now. */
void scps_conn_hold_small(struct scps_sender *s, unsigned bit, bool on);
/* Sets `mss`, the payload plus options, bytes, that a segment may have with the present path MTU.
 * Outstanding segments that are longer are split in the scoreboard, but not resent for that. */
void scps_conn_set_pmtu_mss(struct scps_sender *s, uint32_t mss);
/* Sets the payload plus options, bytes, that a segment may have, as a Packet Too Big message
 * requires. Segments in flight that are larger are marked as lost, with all the pieces into which
 * they are split. If memory for splitting them is refused, nothing changes. */
void scps_conn_lower_pmtu_mss(struct scps_sender *s, uint32_t mss);
/* Returns the values that decide which options this end's SYN or SYN-ACK contains. state: enum
 * scps_state; active: this end sent the first SYN. */
struct scps_asked scps_conn_asked(const struct scps_sender *s, uint8_t state, bool active);
/* Processes the peer's SYN: computes what both ends agree on, and puts it into force. */
void scps_conn_settle(struct scps_conn *c, const struct scps_seg *syn);
/* Called on a connection with header compression: from now on data is sent with compressed
 * headers. */
void scps_conn_compress_headers(struct scps_sender *s);
/* Called on a connection with header compression: from now on data is sent with TCP's own header,
 * which is longer; segments of the scoreboard that no longer fit the path are split. */
void scps_conn_send_tcp_headers(struct scps_sender *s);

/* Called when the SYN of this end was answered by a reset, or not at all. If the SYN had the SCPS
 * capabilities option (option 20), later SYNs do not have it, and the function returns true;
 * otherwise it returns false. active: true if this end opened the connection. */
bool scps_conn_falls_back(struct scps_sender *s, uint8_t state, bool active);
/* Header compression: returns true if the peer may have lost its state of the connection, because
 * the retransmission or persist timer has expired twice in a row (scps_silence.unanswered), or two
 * keep-alive probes were not answered; during an outage of the link, one such expiry is enough.
 * Segments then get TCP's own header: a peer without the connection answers those with a reset, but
 * cannot answer a compressed header, which has no ports. Probes sent during an outage do not
 * count. */
bool scps_conn_doubts_comp(const struct scps_sender *s);

#endif
