/* SPDX-License-Identifier: MIT */
/* libscps_sim: virtual time. Hosts with stacks of their own, joined by links with rate, delay, queue, errors.
 *
 * One seed, one history: two runs are bit for bit the same on every machine. Nothing here knows a clock.
 */
#ifndef SCPS_SIM_H
#define SCPS_SIM_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One direction of a link. All zero: infinitely fast, no delay, no loss, no queue limit. */
struct scps_link_config {
    uint64_t rate_bps;    /* line rate, bit/s (10^3 based); 0: infinite */
    scps_dur delay;       /* propagation, after the last bit left */
    uint64_t queue_bytes; /* waiting packets, IP bytes with overhead; 0: no limit */
    uint32_t
        queue_packets; /* likewise in packets; 0: no limit. The packet on the line is not counted */
    uint32_t overhead; /* framing bytes a packet, paid on the line and at risk of bit errors */
    uint32_t
        ber_exempt; /* of the frame's bytes, this many are not at risk (the reports count 1064 of 1082) */
    double ber;             /* bit error rate: independent packet losses p = 1-(1-ber)^(8 n) */
    double loss;            /* probability of losing a packet whatever its size */
    double dup, reorder;    /* probability of a second copy; of being held back by reorder_delay */
    scps_dur reorder_delay; /* 0: the time of four packets on the line, at least 1 ms */
    bool
        flip; /* bit errors flip bits and deliver; checksums must catch them (not for hollow bytes) */
    uint64_t seed;
};

struct
    scps_link_stats { /* one direction; conservation: offered + duplicated = delivered + all drops + in flight */
    uint64_t offered, offered_bytes, delivered, delivered_bytes;
    uint64_t dropped_queue, dropped_ber, dropped_loss, duplicated, reordered, flipped, in_flight;
    uint64_t max_queue_bytes;
    scps_dur busy; /* time the line was sending */
};

/* Reads "geo", "rate=100mbit,rtt=500ms,ber=1e-6" or "nasa500,ber=1e-6" into both directions (fwd: a to b).
 * Returns 0; SCPS_ERR_INVAL with a one-line message that names the key or unit and the allowed ones.
 * Keys: rate rate-back rtt delay delay-back ber ber-back loss loss-back queue overhead dup reorder flip.
 * Presets: scps_link_preset(i). */
SCPS_API int scps_link_parse(const char *spec, struct scps_link_config *fwd,
                             struct scps_link_config *back, char *msg, size_t msglen);
/* Name and one-line help of preset i, e.g. "geo", "10 Mbit/s both ways, 560 ms round trip"; false past the last. */
SCPS_API bool scps_link_preset(size_t i, const char **name, const char **help);
/* The physical limit: the mean goodput, bit/s of payload, of a sender nobody can beat over this channel. It opens with one
 * round trip, never leaves the line idle, knows each segment's fate one round trip after it left, resends what was lost
 * first, and stops its clock when all is known to have arrived. payload and headers: bytes a segment, IP and TCP headers in
 * the second; framing is fwd's. rate_bps: the sender's own rate on the line; 0: the line's. Feedback is never lost.
 * 0 when nothing limits it. */
SCPS_API double scps_link_limit(const struct scps_link_config *fwd,
                                const struct scps_link_config *back, uint64_t bytes,
                                uint32_t payload, uint32_t headers, uint64_t rate_bps);

struct scps_world; /* the event heap, its hosts and links */
struct scps_host;
struct scps_link; /* both directions between two hosts */

SCPS_API struct scps_world *scps_world_new(const struct scps_alloc *alloc /* NULL: malloc */);
SCPS_API void scps_world_free(struct scps_world *w); /* with its hosts, stacks and links */
SCPS_API scps_time scps_world_now(const struct scps_world *w);

/* A host with a stack of its own. cfg->now is overridden by the world's clock. on_event hears every
 * scps_event of the stack in order, at its virtual moment, and may call into the stack. */
SCPS_API struct scps_host *
scps_world_host(struct scps_world *w, const char *name, const struct scps_stack_config *cfg,
                void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx),
                void *ctx);
SCPS_API struct scps_stack *scps_host_stack(const struct scps_host *h);
SCPS_API const char *scps_host_name(const struct scps_host *h);
/* Call after touching a host's stack from outside on_event (connect, write ...): sends what became due. */
SCPS_API void scps_host_kick(struct scps_host *h);

/* Joins two hosts. Each end becomes a netif of its host's stack with the address given (prefix bits long,
 * e.g. 10.0.0.1 and 10.0.0.2 with 24). mtu 0: 1500. NULL on lack of memory. */
SCPS_API struct scps_link *scps_world_link(struct scps_world *w, struct scps_host *a,
                                           const struct scps_addr *addr_a, struct scps_host *b,
                                           const struct scps_addr *addr_b, unsigned prefix,
                                           uint32_t mtu, const struct scps_link_config *a_to_b,
                                           const struct scps_link_config *b_to_a);
/* A second address pair on the same link (IPv6 beside IPv4). */
SCPS_API int scps_link_add_addrs(struct scps_link *l, const struct scps_addr *addr_a,
                                 const struct scps_addr *addr_b, unsigned prefix);
/* Puts a filter (e.g. a capture tap) on top of end 0 (a) or 1 (b). Call before any traffic. */
SCPS_API int scps_link_filter(struct scps_link *l, int end, struct scps_netif *filter);
SCPS_API void scps_link_stats(const struct scps_link *l, int dir /* 0: a to b */,
                              struct scps_link_stats *out);
/* Changes a direction from now on; packets already on the way keep their times. */
SCPS_API void scps_link_change(struct scps_link *l, int dir, const struct scps_link_config *cfg);

/* Calls fn(ctx) at virtual time when. 0, or SCPS_ERR_NOMEM. */
SCPS_API int scps_world_at(struct scps_world *w, scps_time when, void (*fn)(void *ctx), void *ctx);
/* Runs until no event is left, or until the clock would pass `until` (it then stands at until), or until
 * scps_world_stop. Returns the number of events served. */
SCPS_API uint64_t scps_world_run(struct scps_world *w, scps_time until);
SCPS_API void scps_world_stop(struct scps_world *w); /* from inside a callback */

#ifdef __cplusplus
}
#endif
#endif
