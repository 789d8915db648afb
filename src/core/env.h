/* SPDX-License-Identifier: MIT */
/* State and services that a stack (the host of its connections) shares with all of them: memory,
 * time, a heap with the times of their next timers, queues. */
#ifndef SCPS_CORE_ENV_H
#define SCPS_CORE_ENV_H

#include <scps/alloc.h>
#include <scps/conn.h>
#include <scps/observe.h>

#include "base/budget.h"
#include "base/bytes.h"
#include "base/heap.h"
#include "base/queue.h"
#include "core/ratelimit.h"
#include "core/stats.h"

struct scps_conn;
struct scps_sender;
struct scps_fixed;

/* State and services that a stack, the host of its connections, shares with all of them. */
struct scps_env {
    struct scps_budget budget; /* budget of all memory that the host and its connections allocate */
    /* allocator that may use the whole memory limit, for requests that must succeed now because
     * nothing repeats them */
    struct scps_alloc alloc;
    /* allocator with a lower limit, for new connections and for growing send buffers */
    struct scps_alloc alloc_later;
    struct scps_observer obs;
    scps_time now;
    uint64_t key[2]; /* secret key of sequence numbers, ports, cookies and hash tables */
    struct scps_heap deadlines;
    /* time, µs, at which connections repeat requests for memory that were refused; SCPS_NEVER: no
     * connection waits for memory */
    scps_time memory_at;
    uint32_t in_time_wait;    /* number of connections in TIME-WAIT */
    struct scps_queue events; /* queue of the connections with events for the application */
    /* list of closed connections that the application has released; the stack frees them */
    struct scps_sender *dead;
    /* limit of challenge ACKs per second (RFC 5961 section 7) */
    struct scps_ratelimit challenge_limit;
    uint64_t challenges;
    /* number of packets dropped by this file's scps_env_drop(), for each reason */
    uint64_t drops[SCPS_DROP_COUNT];
    /* Counters shared by all connections that have none of their own, usually because they have
     * neither sent nor received data yet (scps_conn_ctx_need_stats()). The values are never
     * used. */
    struct scps_conn_stats no_stats;
    /* Called before a passive open succeeds: returns false while the application has to accept
     * other connections first. */
    bool (*may_establish)(const struct scps_conn *c);
    /* Called when the SYN or SYN-ACK of c was not answered in time: returns false if it must not be
     * repeated now, because replies to unknown peers have used up their share of the link. */
    bool (*may_repeat)(const struct scps_conn *c);
    /* Called when a passive open has succeeded: the stack queues the connection for accept. */
    void (*established)(struct scps_env *env, struct scps_conn *c);
    /* Called when a SYN-ACK answers a SYN of c, which this end opens: the stack learns from it
     * whether the peer answers SYNs with SCPS capabilities. */
    void (*answered)(struct scps_env *env, const struct scps_conn *c);
    /* sizes of a stack with fixed memory; NULL: memory is allocated as it is needed */
    const struct scps_fixed *fixed;
};

/* Time, µs, after which a refused request for memory is repeated, unless acknowledgements have
 * freed memory of this host before. The allocator does not report when others free memory, so only
 * another attempt can tell. */
#define SCPS_MEMORY_RETRY SCPS_MS(100)
static inline void scps_env_starved(struct scps_env *env)
{
    if (env->memory_at == SCPS_NEVER)
        env->memory_at = env->now + SCPS_MEMORY_RETRY;
}
/* Records that no connection waits for memory: at the start, or because all of them repeat their
 * requests now. */
static inline void scps_env_memory_served(struct scps_env *env)
{
    env->memory_at = SCPS_NEVER;
}
/* Counts, under reason d, an arriving packet that had no effect, or a reply to one that is not
 * sent. */
static SCPS_INLINE_SPEED void scps_env_drop(struct scps_env *env, enum scps_drop d)
{
    env->drops[d]++;
}
/* Called when arriving data is dropped for lack of memory: the data is not acknowledged, so the
 * peer sends it again. refused: value of env->budget.refused, the requests that the memory limit
 * has refused, before the request. Returns the drop reason: the memory limit if it has refused one
 * more request, otherwise the allocator. */
static SCPS_INLINE_SPEED enum scps_drop scps_env_refusal(struct scps_env *env, uint64_t refused)
{
    scps_env_starved(env);
    return env->budget.refused != refused ? SCPS_DROP_MEMORY_LIMIT : SCPS_DROP_NO_BUFFER;
}

#endif
