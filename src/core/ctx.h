/* SPDX-License-Identifier: MIT */
/* What a part of a connection sees besides its own state: the host, the configuration, the
 * counters.
 *
 * A part is a struct, a header and a file of the same name; only these two assign its fields.  It
 * never sees struct scps_conn.  What it decides it returns, and state.c, ackin.c, rcv.c or snd.c
 * does it.
 */
#ifndef SCPS_CORE_CTX_H
#define SCPS_CORE_CTX_H

#include "core/env.h"

/* A configuration with everything derived filled in: shared by the connections that were opened
 * with it. */
struct scps_shared_config {
    uint32_t refs;
    struct scps_conn_config c;
    uint8_t tos;  /* without the two bits of ECN */
    uint64_t ip4; /* octets 4 to 11 of their IPv4 headers: no id, DF, TTL, protocol, no sum yet */
};

/* The first member of struct scps_conn. */
struct scps_conn_ctx {
    struct scps_env *env;
    const struct scps_shared_config *cfg;
    struct scps_conn_stats *st; /* env->no_stats until data flows */
    /* No timer but that of the pacer runs out before: timer.h, which alone assigns it. */
    scps_time timers_by;
    uint32_t id;        /* of the connection, in notes */
    uint32_t heap_slot; /* of the connection among env->deadlines */
};

/* Takes a reference on cfg, and counts where nobody reads. */
void scps_conn_ctx_init(struct scps_conn_ctx *x, struct scps_env *env,
                        struct scps_shared_config *cfg);
/* Gives back the counters; the reference on cfg is the caller's to give back. */
void scps_conn_ctx_fini(struct scps_conn_ctx *x);
/* Data flows from now on, and is counted. 0 or SCPS_ERR_NOMEM. */
int scps_conn_ctx_need_stats(struct scps_conn_ctx *x);
static inline bool scps_conn_ctx_counts(const struct scps_conn_ctx *x)
{
    return x->st != &x->env->no_stats;
}
/* The configuration is another now; x takes over the caller's reference on it. */
void scps_conn_ctx_configure(struct scps_conn_ctx *x, const struct scps_shared_config *cfg);
/* Tells the observer. */
void scps_conn_ctx_note(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                        uint64_t b, uint64_t d, uint64_t e);
/* The mask is 0 while nobody observes. */
#define SCPS_OBSERVED(x, kind) ((x)->env->obs.mask >> SCPS_NOTE_##kind & 1)
#define SCPS_OBSERVE(x, kind, a, b, d, e)                                                          \
    do {                                                                                           \
        if (SCPS_OBSERVED(x, kind))                                                                \
            scps_conn_ctx_note(x, SCPS_NOTE_##kind, (uint64_t)(a), (uint64_t)(b), (uint64_t)(d),   \
                               (uint64_t)(e));                                                     \
    } while (0)

#endif
