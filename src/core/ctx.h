/* SPDX-License-Identifier: MIT */
/* The context that every part of a connection reads besides its own state: the host, the
 * configuration, the counters.
 *
 * A part is a struct with a header and a .c file of the same name; only these two files assign its
 * fields. A part never uses struct scps_conn. It returns its decisions, and state.c, ackin.c, rcv.c
 * or snd.c carry them out.
 */
#ifndef SCPS_CORE_CTX_H
#define SCPS_CORE_CTX_H

#include <scps/wire.h>

#include "core/env.h"

/* A configuration with all derived values, shared by the connections opened with it. */
struct scps_shared_config {
    uint32_t refs;
    struct scps_conn_config c;
    uint8_t tos; /* type of service (IPv4 TOS, IPv6 traffic class) without the two ECN bits */
    /* octets 4 to 11 of the IPv4 header of every packet: id 0, DF, TTL, protocol, checksum 0 */
    uint64_t ip4;
};

/* The context of all parts of a connection: host, configuration, counters. It is the first member
 * of struct scps_conn. */
struct scps_conn_ctx {
    struct scps_env *env;
    const struct scps_shared_config *cfg;
    /* the connection's counters; until scps_conn_ctx_need_stats() has allocated them,
     * env->no_stats, whose values are never used */
    struct scps_conn_stats *st;
    /* No timer except the pacer's expires before this time, µs; only timer.h assigns it. */
    scps_time timers_by;
    uint32_t id;        /* id of the connection in observer events */
    uint32_t heap_slot; /* index of the connection in the heap env->deadlines */
};

/* Initialises x and takes over the caller's reference on cfg. At first x counts in env->no_stats,
 * which all connections share that have no counters of their own. */
void scps_conn_ctx_init(struct scps_conn_ctx *x, struct scps_env *env,
                        const struct scps_shared_config *cfg);
/* Frees the connection's own counters, if it has any; env->no_stats, shared by connections without
 * counters of their own, stays. The caller releases the reference on cfg. */
void scps_conn_ctx_fini(struct scps_conn_ctx *x);
/* Called when the connection first sends or receives data, or has another event to count, such as a
 * timeout. Allocates counters of its own, unless it has them; before, it counts in env->no_stats.
 * Returns 0 or SCPS_ERR_NOMEM. */
int scps_conn_ctx_need_stats(struct scps_conn_ctx *x);
static inline bool scps_conn_ctx_counts(const struct scps_conn_ctx *x)
{
    return x->st != &x->env->no_stats;
}
/* Replaces the configuration; x takes over the caller's reference on it. */
void scps_conn_ctx_configure(struct scps_conn_ctx *x, const struct scps_shared_config *cfg);
/* Counts that segment seg (NULL: not known) is dropped for reason d, and reports the drop to the
 * observer, the application's function for traces. */
void scps_conn_ctx_drop(const struct scps_conn_ctx *x, enum scps_drop d,
                        const struct scps_seg *seg);
/* Reports an event of the kind `kind` with four arguments to the observer. */
void scps_conn_ctx_note(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                        uint64_t b, uint64_t d, uint64_t e);
/* Reports an event whose last two arguments are 0. With scps_conn_ctx_note() a 32-bit machine would
 * push 16 zero octets at each call. */
void scps_conn_ctx_note2(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                         uint64_t b);
/* True if events of this kind are reported to the observer; the mask is 0 while there is no
 * observer. */
#define SCPS_OBSERVED(x, kind) ((x)->env->obs.mask >> SCPS_NOTE_##kind & 1)
#define SCPS_OBSERVE(x, kind, a, b, d, e)                                                          \
    do {                                                                                           \
        if (SCPS_OBSERVED(x, kind))                                                                \
            scps_conn_ctx_note(x, SCPS_NOTE_##kind, (uint64_t)(a), (uint64_t)(b), (uint64_t)(d),   \
                               (uint64_t)(e));                                                     \
    } while (0)
#define SCPS_OBSERVE2(x, kind, a, b)                                                               \
    do {                                                                                           \
        if (SCPS_OBSERVED(x, kind))                                                                \
            scps_conn_ctx_note2(x, SCPS_NOTE_##kind, (uint64_t)(a), (uint64_t)(b));                \
    } while (0)

#endif
