/* SPDX-License-Identifier: MIT */
/* What a host lends its connections: memory, the time, a heap of deadlines, queues. */
#ifndef SCPS_CORE_ENV_H
#define SCPS_CORE_ENV_H

#include <scps/alloc.h>
#include <scps/conn.h>
#include <scps/observe.h>

#include "base/budget.h"
#include "base/heap.h"
#include "core/stats.h"

struct scps_conn;
struct scps_fixed;

/* What a host lends its connections. */
struct scps_env {
    struct scps_budget budget;     /* of all that follows */
    struct scps_alloc alloc;       /* up to the limit: for what cannot wait */
    struct scps_alloc alloc_later; /* for new connections and growing send buffers */
    struct scps_observer obs;
    scps_time now;
    uint64_t key[2]; /* secret */
    struct scps_heap deadlines;
    /* When connections that were refused memory are to try again; SCPS_NEVER: none was. */
    scps_time memory_at;
    struct scps_conn *ev_head, *ev_tail; /* connections with something to tell */
    struct scps_conn *dead; /* nobody owns them and they have ended: for the stack to free */
    uint32_t challenge_limit, challenge_left; /* RFC 5961 section 7, this second's */
    scps_time challenge_since;
    uint64_t challenges;
    uint64_t drops[SCPS_DROP_COUNT];
    struct scps_conn_stats
        no_stats; /* where connections count that have carried no data yet: never read */
    /* A passive open has succeeded: the stack queues it for accept. */
    void (*established)(struct scps_env *env, struct scps_conn *c);
    /* An active one has, but not before capabilities were left out of the SYN. */
    void (*fell_back)(struct scps_env *env, const struct scps_conn *c);
    const struct scps_fixed *fixed; /* NULL: memory is taken as it is needed */
};

/* A call that was refused for lack of memory is worth repeating when acknowledgements have made
 * room, and after this time at the latest: the allocator says nothing of what others give back to
 * it. */
#define SCPS_MEMORY_RETRY SCPS_MS(100)
static inline void scps_env_starved(struct scps_env *env)
{
    if (env->memory_at == SCPS_NEVER)
        env->memory_at = env->now + SCPS_MEMORY_RETRY;
}
/* What arrived is not taken for lack of memory, and is to come again. refused is what
 * budget.refused was before. Returns the reason to count. */
static inline enum scps_drop scps_env_refusal(struct scps_env *env, uint64_t refused)
{
    scps_env_starved(env);
    return env->budget.refused != refused ? SCPS_DROP_MEMORY_LIMIT : SCPS_DROP_NO_BUFFER;
}

#endif
