/* SPDX-License-Identifier: MIT */
/* Cache of destinations that do not answer the SCPS capabilities option (TCP option 20), because
 * some old hosts do not answer a SYN with an unknown option (docs/SCPS-TP.md section 1.4).
 *
 * A host that did not answer SYNs with the option, but did answer a SYN without it, is stored for
 * scps_stack_config.plain_memory µs. In that time SYNs to this host are sent without the option.
 * When the cache is full, a new entry replaces the one that expires first.
 */
#include "stack/stack.h"

#include "base/bytes.h"

struct scps_plain_host {
    struct scps_addr addr;
    scps_time until;
};

bool scps_plain_known(const struct scps_stack *st, const struct scps_addr *dst)
{
    for (uint32_t i = 0; st->plain && i < st->cfg.plain_hosts; i++)
        if (st->plain[i].until > st->env.now && scps_addr_equal(&st->plain[i].addr, dst))
            return true;
    return false;
}

size_t scps_plain_size(const struct scps_stack_config *cfg)
{
    return cfg->plain_memory > 0 ? cfg->plain_hosts * sizeof(struct scps_plain_host) : 0;
}

void scps_plain_remember(struct scps_env *env, const struct scps_conn *c)
{
    struct scps_stack *st = (struct scps_stack *)env;
    size_t size = st->cfg.plain_hosts * sizeof *st->plain;
    struct scps_plain_host *slot;

    if (!size || st->cfg.plain_memory <= 0)
        return;
    if (!st->plain) {
        st->plain = env->alloc.alloc(env->alloc.ctx, size);
        if (!st->plain)
            return;
        memset(st->plain, 0, size);
    }
    slot = st->plain;
    for (uint32_t i = 0; i < st->cfg.plain_hosts; i++) {
        if (scps_addr_equal(&st->plain[i].addr, &c->remote)) {
            slot = &st->plain[i];
            break;
        }
        if (st->plain[i].until < slot->until)
            slot = &st->plain[i];
    }
    *slot = (struct scps_plain_host){c->remote, env->now + st->cfg.plain_memory};
}

void scps_plain_free(struct scps_stack *st)
{
    if (st->plain)
        st->env.alloc.free(st->env.alloc.ctx, st->plain, st->cfg.plain_hosts * sizeof *st->plain);
    st->plain = NULL;
}
