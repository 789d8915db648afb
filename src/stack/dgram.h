/* SPDX-License-Identifier: MIT */
/* Datagram endpoints: types and functions that dgram.c, dgram_list.c and dgram_out.c share. */
#ifndef SCPS_STACK_DGRAM_H
#define SCPS_STACK_DGRAM_H

#include "stack/stack.h"

/* Largest size of the ring buffer of a send or receive queue of datagrams, bytes. It exceeds the
 * largest limit that can be configured for a queue, because a datagram is never split where the
 * ring wraps, so octets before the wrap may stay unused. */
#define SCPS_DGRAM_RING (1u << 31)

/* Header of a datagram in the send queue; `len` octets of data follow in the queue. After them the
 * datagram has `hollow` zeros, which are counted but not stored. */
struct scps_dgram_out {
    struct scps_endpoint to;
    uint32_t len, hollow;
};

/* Header of a datagram in the receive queue; `len` octets of data follow in the queue. */
struct scps_dgram_in {
    struct scps_dgram_from from;
    /* Number of octets stored in the queue; the from.hollow octets that follow them in the datagram
     * are zeros and are not stored. */
    uint32_t len;
};

#define SCPS_SENT_DGRAMS 16u

/* Datagrams that an endpoint has sent to its peer and that a Packet Too Big message may quote: the
 * longest one of each of the last SCPS_SENT_DGRAMS intervals, which together last two seconds, or
 * twice the expected_rtt of the route if that is longer. So each interval of the last round trip is
 * represented, however many datagrams were sent. Only dgram_out.c writes these fields. */
struct scps_sent_dgrams {
    /* for each interval, UDP length << 16 | UDP checksum of its longest datagram; 0: none was
     * sent */
    uint32_t v[SCPS_SENT_DGRAMS];
    uint32_t newest;   /* index of the element for the interval that has not ended yet */
    scps_time next_at; /* time at which the interval of v[newest] ends, µs */
};

struct scps_dgram {
    struct scps_stack *st;
    struct scps_dgram_config cfg;
    /* bound address and port; family 0: any address of both families; zeros: any address of the
     * family */
    struct scps_endpoint local;
    struct scps_endpoint remote; /* connected address and port; family 0: not connected */
    struct scps_recring in, out;
    /* bytes in the receive queue and in the send queue, with the overhead of each datagram */
    uint32_t in_used, out_used;
    /* interface that the oldest datagram of the send queue will take; NULL: no datagram was queued
     * yet */
    struct scps_nif *nif;
    /* shaper (rate limiter) of the route that the oldest datagram will take; NULL: that route has
     * no rate */
    struct scps_shaper *shaper;
    /* local address that the application gave when it opened the endpoint; `local` returns to it
     * when the endpoint is disconnected */
    struct scps_addr asked;
    uint32_t pmtu; /* path MTU to remote, bytes, from an ICMP message at pmtu_at; 0: none */
    scps_time pmtu_at;
    /* what a Packet Too Big message may quote: datagrams sent to `remote` since the endpoint was
     * connected to it */
    struct scps_sent_dgrams sent;
    /* true: the application has closed the endpoint, which is freed when its last datagram has been
     * sent */
    bool closed;
    /* ready: true while the endpoint has datagrams to send, and is in the queue of senders of the
     * route that the oldest one takes, if that has a rate limit (shaper), otherwise of the
     * interface (nif). queued: true while the endpoint is in the stack's queue of endpoints with an
     * event for the application. */
    bool ready, queued;
    /* length of the packet whose send was refused last, for want of space in the send buffer or of
     * memory, bytes: the event SCPS_EV_WRITABLE is due when the buffer is half empty and has room
     * for it; 0: no send was refused since the last event */
    uint32_t wants_room;
    /* true: a send was refused for lack of memory, and the event SCPS_EV_WRITABLE, after which the
     * application may repeat that send, has not been queued yet */
    bool starved;
    /* events that the application has not fetched: 1 << enum scps_event_kind for each */
    uint16_t events;
    /* The newest error. icmp: ICMP type << 8 | code, 0: the error came from no ICMP message; err:
     * SCPS_ERR_*, 0: the application has fetched it; err_about: the destination of the datagram
     * that caused it. */
    unsigned icmp;
    int err;
    struct scps_endpoint err_about;
    struct scps_dgram_stats count;
    void *user;
    /* next endpoint of the same bucket of the table by port, or of the list of closed endpoints */
    struct scps_dgram *next;
    /* links in the ready queue (of senders) of an interface or route, and in the queue of endpoints
     * with an event */
    struct scps_queue_link ready_link, ev_link;
};

/* Returns the endpoint whose ready_link is l; NULL if l is NULL. */
static inline struct scps_dgram *scps_dgram_of_ready_link(struct scps_queue_link *l)
{
    return l ? (struct scps_dgram *)((char *)l - offsetof(struct scps_dgram, ready_link)) : NULL;
}

#define SCPS_DGRAM_BUCKETS 256u

struct scps_dgrams {
    /* lists of open endpoints: those with local port p are in bucket[p % SCPS_DGRAM_BUCKETS] */
    struct scps_dgram *bucket[SCPS_DGRAM_BUCKETS];
    /* list of endpoints that the application has closed and that still have datagrams to send */
    struct scps_dgram *closed;
    uint32_t n, port_next;
    /* IP identification of the next datagram of an endpoint that switches DF off, so that routers
     * may fragment it (RFC 6864); it increases by 1 for each such datagram and wraps around */
    uint16_t ip_id;
};

/* ---- functions in dgram_list.c, for the lists of datagram endpoints ---- */
/* Returns the list of endpoints in the bucket for local port `port`. */
static inline struct scps_dgram **scps_dgram_bucket(const struct scps_stack *st, uint16_t port)
{
    return &st->dgrams->bucket[port % SCPS_DGRAM_BUCKETS];
}
/* Adds d, whose local address is set, to the table of open endpoints by port. */
void scps_dgram_enter(struct scps_dgram *d);
/* Returns the open endpoint after d, for a loop over all of them; d NULL: the first one. NULL:
 * there is none. */
struct scps_dgram *scps_dgram_each(const struct scps_stack *st, const struct scps_dgram *d);
/* Queues event `kind` of endpoint d, which the application fetches later. */
void scps_dgram_notify(struct scps_dgram *d, enum scps_event_kind kind);
/* Removes pending event `kind` of d, because the application knows already what it would report. */
void scps_dgram_clear_event(struct scps_dgram *d, enum scps_event_kind kind);
/* Removes endpoint d from its ready queue, from the queue of endpoints with an event and from the
 * list of closed endpoints, and frees it. Precondition: d is not in the table of open endpoints by
 * port (scps_dgrams.bucket), from which scps_dgram_close() removes it. */
void scps_dgram_free(struct scps_dgram *d);
/* Appends d to the ready queue of shaper d->shaper, or of interface d->nif if the shaper is NULL.
 * Precondition: d->nif is set. */
void scps_dgram_make_ready(struct scps_dgram *d);
/* Removes d from its ready queue. */
void scps_dgram_dequeue(struct scps_dgram *d);

/* Time, µs, for which a path MTU is used that an ICMP message gave (RFC 8201 section 4: not less
 * than five minutes, 10 minutes are recommended). */
#define SCPS_DGRAM_PMTU_GOOD SCPS_SEC(600)
/* Returns true if d->pmtu, the path MTU to d->remote, is known and not older than
 * SCPS_DGRAM_PMTU_GOOD. */
static inline bool scps_dgram_knows_pmtu(const struct scps_dgram *d)
{
    return d->pmtu && d->st->env.now - d->pmtu_at < SCPS_DGRAM_PMTU_GOOD;
}

/* ---- functions in dgram_out.c, which send datagrams ---- */
/* Finds the route of d's oldest datagram again, after routes or the local address have changed.
 * Datagrams that can no longer be sent are dropped and counted as unsent; a closed endpoint without
 * datagrams is freed. */
void scps_dgram_reroute(struct scps_dgram *d);

/* Returns true if d->sent contains the datagram with these fields of its UDP header, length << 16 |
 * checksum. */
bool scps_dgram_has_sent(const struct scps_dgram *d, uint32_t fields);
/* Empties d->sent. Called when d is connected to another peer or disconnected. */
void scps_dgram_forget_sent(struct scps_dgram *d);

/* ---- functions in dgram.c, which open endpoints and receive datagrams ---- */
void scps_dgram_fail(struct scps_dgram *d, int err, unsigned icmp,
                     const struct scps_endpoint *about);

#endif
