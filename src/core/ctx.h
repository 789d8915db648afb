/* SPDX-License-Identifier: MIT */
/* The context of a part of a connection, besides its own state: the host, the configuration, the
 * counters.
 *
 * A part is a struct, a header and a file of the same name; only these two assign its fields. It
 * never uses struct scps_conn. It returns its decisions, which state.c, ackin.c, rcv.c or snd.c
 * apply.
 */
#ifndef SCPS_CORE_CTX_H
#define SCPS_CORE_CTX_H

#include <scps/wire.h>

#include "core/env.h"

/* A configuration with all derived values, shared by the connections opened with it. */
struct scps_shared_config {
    uint32_t refs;
    struct scps_conn_config c;
    uint8_t tos;  /* type of service without the two ECN bits */
    uint64_t ip4; /* octets 4 to 11 of the IPv4 headers: id 0, DF, TTL, protocol, checksum 0 */
};

/* The context of all parts of a connection: host, configuration, counters. It is the first member
 * of struct scps_conn. */
struct scps_conn_ctx {
    struct scps_env *env;
    const struct scps_shared_config *cfg;
    struct scps_conn_stats *st; /* env->no_stats until the connection has data */
    /* No timer except the pacer's expires before this time, µs; only timer.h assigns it. */
    scps_time timers_by;
    uint32_t id;        /* id of the connection, for notes */
    uint32_t heap_slot; /* index of the connection in env->deadlines */
};

/* Takes over the caller's reference on cfg; counters go to env->no_stats at first. */
void scps_conn_ctx_init(struct scps_conn_ctx *x, struct scps_env *env,
                        const struct scps_shared_config *cfg);
/* Frees the counters; the caller releases the reference on cfg. */
void scps_conn_ctx_fini(struct scps_conn_ctx *x);
/* Allocates the connection's own counters when it has data. Returns 0 or SCPS_ERR_NOMEM. */
int scps_conn_ctx_need_stats(struct scps_conn_ctx *x);
static inline bool scps_conn_ctx_counts(const struct scps_conn_ctx *x)
{
    return x->st != &x->env->no_stats;
}
/* Replaces the configuration; x takes over the caller's reference on it. */
void scps_conn_ctx_configure(struct scps_conn_ctx *x, const struct scps_shared_config *cfg);
/* Counts segment seg, or NULL, as dropped for reason d, and reports it to the observer. */
void scps_conn_ctx_drop(const struct scps_conn_ctx *x, enum scps_drop d,
                        const struct scps_seg *seg);
/* Reports a note to the observer. */
void scps_conn_ctx_note(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                        uint64_t b, uint64_t d, uint64_t e);
/* The same for a note whose last two arguments are 0; a 32-bit machine would push 16 zero octets at
 * each call. */
void scps_conn_ctx_note2(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                         uint64_t b);
/* The mask is 0 while no observer is set, so this is false. */
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
