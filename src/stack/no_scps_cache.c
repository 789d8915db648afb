/* SPDX-License-Identifier: MIT */
/* Cache of destinations that do not answer the SCPS capabilities option (TCP option 20), because
 * some old hosts do not answer a SYN with an unknown option (docs/SCPS-TP.md section 1.4).
 *
 * Such a host is stored for scps_stack_config.plain_memory µs. In that time SYNs to this host are
 * sent without the option. When the cache is full, a new entry replaces the one that expires first.
 *
 * SYNs also meet silence if the link is down, or if a flood of SYNs leaves the peer no answers
 * (reply.c), and one without the option is answered because it is the first after that. So a host
 * is stored only
 *
 *   - if it has answered a SYN with the option by a reset, and the next one, without it, by a
 *     SYN-ACK; or
 *   - if twice in a row, within plain_memory, caps_tries SYNs with the option were not answered,
 *     but the first one without it was, by connections of which the second was opened later than
 *     that answer to the first one; or
 *   - if this happens once more after the entry has expired.
 *
 * An answer to a SYN with the option ends this series. So does a SYN without it that is not
 * answered, if a later one of the same connection is: then SYNs are lost for another reason. A
 * connection that gets no answer at all has no effect.
 */
#include "stack/stack.h"

#include "base/bytes.h"

struct scps_plain_host {
    struct scps_addr addr;
    bool once;       /* true: this happened once only, and SYNs to the host have the option */
    scps_time until; /* end of the entry: plain_memory after it was made or renewed, µs */
};

static struct scps_plain_host *entry_of(const struct scps_stack *st, const struct scps_addr *dst)
{
    for (uint32_t i = 0; st->plain && i < st->cfg.plain_hosts; i++)
        if (scps_addr_equal(&st->plain[i].addr, dst))
            return &st->plain[i];
    return NULL;
}

bool scps_plain_known(const struct scps_stack *st, const struct scps_addr *dst)
{
    const struct scps_plain_host *h = entry_of(st, dst);

    return h && !h->once && h->until > st->env.now;
}

size_t scps_plain_size(const struct scps_stack_config *cfg)
{
    return cfg->plain_memory > 0 ? cfg->plain_hosts * sizeof(struct scps_plain_host) : 0;
}

/* Returns the entry for the host dst, made in place of the one that expires first if there is none
 * yet; NULL: there is no cache, or no memory for it. */
static struct scps_plain_host *make_entry(struct scps_stack *st, const struct scps_addr *dst)
{
    const struct scps_alloc *a = &st->env.alloc;
    size_t size = scps_plain_size(&st->cfg);
    struct scps_plain_host *h = entry_of(st, dst);

    if (h || !size)
        return h;
    if (!st->plain) {
        st->plain = a->alloc(a->ctx, size);
        if (!st->plain)
            return NULL;
        memset(st->plain, 0, size);
    }
    h = st->plain;
    for (uint32_t i = 1; i < st->cfg.plain_hosts; i++)
        if (st->plain[i].until < h->until)
            h = &st->plain[i];
    *h = (struct scps_plain_host){.addr = *dst, .once = true};
    return h;
}

void scps_plain_learn(struct scps_env *env, const struct scps_conn *c)
{
    struct scps_stack *st = (struct scps_stack *)env;
    bool fell_back = scps_agreed_plain(&c->s.agreed) == SCPS_PLAIN_FELL_BACK;
    unsigned lost = c->s.tx->silence.unanswered, tries = c->s.ctx.cfg->c.caps_tries;
    struct scps_plain_host *h;

    if (!fell_back && !(c->s.agreed.opts & SCPS_AGREED_CAPS))
        return;
    if (!fell_back || lost > tries) {
        h = entry_of(st, &c->remote);
        if (h)
            *h = (struct scps_plain_host){.until = 0};
        return;
    }
    /* A SYN was lost, but not by silence alone: an outage that has ended since restarted the count,
     * or a reset came as well. That does not show what the host makes of the option. */
    if (c->s.syn_lost && lost < tries)
        return;
    h = make_entry(st, &c->remote);
    /* Connections that are opened at the same time meet the same silence. */
    if (!h || (h->once && lost == tries && h->until > env->now &&
               c->opened < h->until - st->cfg.plain_memory))
        return;
    h->once = h->once && lost == tries && h->until <= env->now;
    h->until = env->now + st->cfg.plain_memory;
}

void scps_plain_free(struct scps_stack *st)
{
    if (st->plain)
        st->env.alloc.free(st->env.alloc.ctx, st->plain, scps_plain_size(&st->cfg));
    st->plain = NULL;
}
