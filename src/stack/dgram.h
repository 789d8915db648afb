/* SPDX-License-Identifier: MIT */
/* An endpoint of datagrams: what dgram.c, dgramlist.c and dgramout.c share. */
#ifndef SCPS_STACK_DGRAM_H
#define SCPS_STACK_DGRAM_H

#include "stack/stack.h"

/* The largest ring of a queue: whatever a configuration says, and room lost where the ring begins
 * again. */
#define SCPS_DGRAM_RING (1u << 31)

/* A datagram in the queue out; its octets stand behind. */
struct scps_dgram_out {
    struct scps_endpoint to;
    uint32_t len, hollow;
};

/* One in the queue in, likewise. */
struct scps_dgram_in {
    struct scps_dgram_from from;
    uint32_t len; /* stored; from.hollow more are not */
};

struct scps_dgram {
    struct scps_stack *st;
    struct scps_dgram_config cfg;
    struct scps_endpoint local;  /* family 0: both; zeros: every address of the family */
    struct scps_endpoint remote; /* family 0: not connected */
    struct scps_recring in, out;
    uint32_t in_used, out_used; /* as rcvbuf and sndbuf count */
    struct scps_nif *nif;       /* of the oldest datagram out, while it waits; and */
    struct scps_shaper *pipe;   /* of that its route's; NULL: its route has no rate */
    struct scps_addr asked;     /* the address it was opened at */
    uint32_t pmtu;              /* on the way to remote, heard at pmtu_at; 0: nothing */
    scps_time pmtu_at;
    bool closed;                    /* nobody owns it; freed once what it had to send has left */
    bool ready, queued, wants_room; /* waits for a turn; stands among ev_dgrams; was refused */
    bool starved;                   /* refused for lack of memory, and not told since */
    uint16_t events;                /* 1 << enum scps_event_kind */
    unsigned icmp;                  /* the newest error, and what it was about */
    int err;
    struct scps_endpoint err_about;
    struct scps_dgram_stats count;
    void *user;
    struct scps_dgram *next, *ready_next, *ev_next; /* of its bucket, turns, events */
};

#define SCPS_DGRAM_BUCKETS 256u

struct scps_dgrams {
    struct scps_dgram *bucket[SCPS_DGRAM_BUCKETS]; /* by port */
    struct scps_dgram *closed;                     /* by next */
    uint32_t n, port_next;
    uint16_t ip_id; /* of datagrams that may be cut (RFC 6864) */
};

/* ---- dgramlist.c ---- */
/* The list of the endpoints whose port is in the same bucket as port. */
static inline struct scps_dgram **scps_dgram_bucket(const struct scps_stack *st, uint16_t port)
{
    return &st->dgrams->bucket[port % SCPS_DGRAM_BUCKETS];
}
/* d->local is set: it is an open endpoint from now on. */
void scps_dgram_enter(struct scps_dgram *d);
/* Every open endpoint in turn: begin with NULL. */
struct scps_dgram *scps_dgram_each(const struct scps_stack *st, const struct scps_dgram *d);
/* Queues an event for the owner of d. */
void scps_dgram_tell(struct scps_dgram *d, enum scps_event_kind kind);
/* The owner of d knows: the event need not be given any more. */
void scps_dgram_told(struct scps_dgram *d, enum scps_event_kind kind);
/* Takes it off all lists but the buckets', and frees it. */
void scps_dgram_free(struct scps_dgram *d);
/* d->nif and d->pipe are set: it waits for a turn there, behind all others. */
void scps_dgram_make_ready(struct scps_dgram *d);
/* It waits for no turn any more. */
void scps_dgram_unready(struct scps_dgram *d);

/* ---- dgram.c ---- */
void scps_dgram_fail(struct scps_dgram *d, int err, unsigned icmp,
                     const struct scps_endpoint *about);

#endif
