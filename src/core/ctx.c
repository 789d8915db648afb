/* SPDX-License-Identifier: MIT */
/* Creates and changes the context that all parts of a connection share (ctx.h). No other file
 * writes it. */
#include "core/ctx.h"

#include <string.h>

#include "base/bytes.h"
#include "base/heap.h"

void scps_conn_ctx_init(struct scps_conn_ctx *x, struct scps_env *env,
                        const struct scps_shared_config *cfg)
{
    *x = (struct scps_conn_ctx){.env = env,
                                .cfg = cfg,
                                .st = &env->no_stats,
                                .timers_by = SCPS_NEVER,
                                .heap_slot = SCPS_HEAP_NONE};
}

void scps_conn_ctx_fini(struct scps_conn_ctx *x)
{
    const struct scps_alloc *a = &x->env->alloc;

    if (scps_conn_ctx_counts(x))
        a->free(a->ctx, x->st, sizeof *x->st);
}

int scps_conn_ctx_need_stats(struct scps_conn_ctx *x)
{
    const struct scps_alloc *a = &x->env->alloc;
    struct scps_conn_stats *st;

    if (scps_conn_ctx_counts(x))
        return 0;
    st = a->alloc(a->ctx, sizeof *st);
    if (!st)
        return SCPS_ERR_NOMEM;
    scps_stats_begin(st, x->env->now);
    x->st = st;
    return 0;
}

void scps_conn_ctx_configure(struct scps_conn_ctx *x, const struct scps_shared_config *cfg)
{
    x->cfg = cfg;
}

void scps_conn_ctx_note(const struct scps_conn_ctx *x, enum scps_note_kind kind, uint64_t a,
                        uint64_t b, uint64_t d, uint64_t e)
{
    struct scps_note n = {.at = x->env->now, .conn = x->id, .kind = kind, .arg = {a, b, d, e}};

    x->env->obs.note(x->env->obs.ctx, &n);
}

SCPS_NOINLINE void scps_conn_ctx_note2(const struct scps_conn_ctx *x, enum scps_note_kind kind,
                                       uint64_t a, uint64_t b)
{
    scps_conn_ctx_note(x, kind, a, b, 0, 0);
}

void scps_conn_ctx_drop(const struct scps_conn_ctx *x, enum scps_drop d, const struct scps_seg *seg)
{
    scps_env_drop(x->env, d);
    SCPS_OBSERVE(x, DROP, d, seg ? seg->seq : 0, seg ? seg->len : 0, seg ? seg->flags : 0);
}
