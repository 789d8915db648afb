/* SPDX-License-Identifier: MIT */
/* Internals of a world (simulated hosts and links in virtual time), which world.c and worldlink.c
 * share. world.c runs a world, worldlink.c joins its hosts. */
#ifndef SCPS_SIM_WORLD_H
#define SCPS_SIM_WORLD_H

#include "sim/link.h"
#include "sim/vclock.h"

#include <string.h>

enum scps_world_rank { SCPS_RANK_TIMER, SCPS_RANK_LINK, SCPS_RANK_HOST };
#define SCPS_RANK(kind, nth) ((uint64_t)(kind) << 60 | (nth))
#define SCPS_RANK_KIND(r)    ((enum scps_world_rank)((r) >> 60))

struct scps_world_timer {
    /* event of this timer in the world's heap of future events (scps_world.clock); first member, so
     * that the pointer to the event in a heap entry can be cast to the timer */
    struct scps_vevent ev;
    void (*fn)(void *ctx);
    void *ctx;
    /* next timer in the list of timers not in use (scps_world.spare); NULL: the last one */
    struct scps_world_timer *next;
};

struct scps_world_end {
    /* this end as a network interface; first member, so that a pointer to it can be cast to the
     * end */
    struct scps_netif nif;
    struct scps_link *link;
    struct scps_host *host;
    /* the netif that is attached to the stack: the last filter that was pushed onto this end, or
     * the end's own netif if there is none */
    struct scps_netif *top;
    struct scps_world_direction *out;
};

struct scps_world_direction {
    /* event of this direction, its next arrival, in the world's heap of future events
     * (scps_world.clock); first member, so that the pointer to the event in a heap entry can be
     * cast to the direction */
    struct scps_vevent ev;
    scps_time due; /* time of the direction's entry in the heap, µs; SCPS_NEVER: it has none */
    struct scps_linkdir dir;
    struct scps_world_end *to;
};

struct scps_world_addrs {
    struct scps_world_addrs *next;
    struct scps_addr addr[2];
    unsigned prefix;
};

struct scps_link {
    struct scps_world *w;
    struct scps_link *next;
    struct scps_world_end end[2];
    struct scps_world_direction dir[2]; /* the two directions: [0] from end 0 to end 1, [1] back */
    struct scps_world_addrs *addrs; /* addresses that the link gave to its two ends, oldest first */
};

struct scps_host {
    /* event of this host, the stack's next deadline, in the world's heap of future events
     * (scps_world.clock); first member, so that the pointer to the event in a heap entry can be
     * cast to the host */
    struct scps_vevent ev;
    /* time at which the stack needs scps_pump() next, µs; SCPS_NEVER: not before a packet or
     * event */
    scps_time due;
    scps_time key; /* time of the host's entry in the heap, µs, which is at most `due` */
    struct scps_world *w;
    struct scps_host *next;
    struct scps_host *next_marked;
    bool marked;
    /* true while scps_pump_at() runs for this host. Only then may the stack pass segments to its
     * netif with the headers as a struct scps_values (fields of a structure instead of octets):
     * scps_pump_at() knows that such a segment was sent (SCPS_OUTPUT_SENT), and the caller of
     * scps_stack_output() expects a packet. */
    bool pumped;
    struct scps_stack *stack;
    void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx);
    void *ctx;
    char name[32];
};

struct scps_world {
    struct scps_alloc alloc;
    scps_time now;
    struct scps_vclock clock;
    struct scps_host *marked, **marked_end;
    bool stop;
    /* numbers of timers, links and hosts created so far. The rank of the next one's events in the
     * heap of future events, which orders events of the same time, follows from them; so do the
     * seeds of the next link's random generators. */
    uint64_t ntimers, nlinks, nhosts;
    struct scps_host *hosts;
    struct scps_link *links;
    struct scps_world_timer *spare;
};

/* Allocates zeroed memory with the world's allocator; returns NULL if there is none. */
static inline void *scps_world_take(struct scps_world *w, size_t size)
{
    void *p = w->alloc.alloc(w->alloc.ctx, size);

    if (p)
        memset(p, 0, size);
    return p;
}

static inline void scps_world_give_back(struct scps_world *w, void *p, size_t size)
{
    w->alloc.free(w->alloc.ctx, p, size);
}

/* Updates the heap entry of direction d if the time of the direction's next event has changed,
 * after a packet was offered or the configuration was changed. */
static inline void scps_world_look_again(struct scps_world_direction *d)
{
    if (d->dir.next != d->due) {
        d->due = d->dir.next;
        scps_vclock_set(&d->to->link->w->clock, &d->ev, d->due);
    }
}

/* Closes the netifs at both ends of link l, filters included, and frees l. Precondition: a stack
 * that has known one of the netifs has been freed. */
void scps_world_link_free(struct scps_link *l);

#endif
