/* SPDX-License-Identifier: MIT */
/* Finds the connection of a packet with a compressed header (protocol 105), which has two addresses
 * and one octet, the connection id, instead of ports.
 *
 * The hash table maps addresses and connection id to a connection. An entry is made when a SYN that
 * offers compression is captured, and replaces an entry with the same addresses and id. When the
 * analyser discards a connection, its entry stays in the table but is invalid: the flow at the
 * entry's index then has another number than the entry.
 */
#include "trace/flow.h"

#include "base/wide.h"

static uint32_t slot_of(const struct scps_trace *t, const uint8_t *src, const uint8_t *dst,
                        uint8_t id)
{
    uint64_t x[4], h = t->seed[0] ^ id;
    memcpy(x, src, 16);
    memcpy(x + 2, dst, 16);
    for (int i = 0; i < 4; i++) {
        struct scps_product m = scps_mul(x[i] ^ h, t->seed[1] | 1);
        h = m.lo ^ m.hi;
    }
    return (uint32_t)h & (t->capcomp - 1);
}

static const uint8_t *src_of(const struct flow *f, int dir)
{
    return dir ? f->key.b : f->key.a;
}

static bool alive(const struct scps_trace *t, const struct comp_entry *e)
{
    const struct flow *f = scps_tr_flow(t, e->flow);
    return f->used && f->number == e->number;
}

static struct comp_entry *find_entry(struct scps_trace *t, const uint8_t *src, const uint8_t *dst,
                                     uint8_t id)
{
    for (uint32_t i = slot_of(t, src, dst, id);; i = (i + 1) & (t->capcomp - 1)) {
        struct comp_entry *e = &t->comp[i];
        if (!e->used)
            return e;
        const struct flow *f = scps_tr_flow(t, e->flow);
        if (alive(t, e) && e->id == id && !memcmp(src_of(f, e->dir), src, 16) &&
            !memcmp(src_of(f, !e->dir), dst, 16))
            return e;
    }
}

/* Makes the hash table at least four times as large as its number of valid entries, 64 at least.
 * Entries of connections that the analyser has discarded are left out. Returns false if there is no
 * memory. */
static bool grow(struct scps_trace *t)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < t->capcomp; i++)
        live += t->comp[i].used && alive(t, &t->comp[i]);
    uint32_t cap = 64;
    while (cap < live * 4)
        cap *= 2;
    struct comp_entry *old = t->comp, *v = scps_tr_alloc(t, cap * sizeof *v);
    uint32_t oldcap = t->capcomp;
    if (!v)
        return false;
    t->comp = v;
    t->capcomp = cap;
    t->ncomp = 0;
    for (uint32_t i = 0; i < oldcap; i++) {
        if (!old[i].used || !alive(t, &old[i]))
            continue;
        const struct flow *f = scps_tr_flow(t, old[i].flow);
        *find_entry(t, src_of(f, old[i].dir), src_of(f, !old[i].dir), old[i].id) = old[i];
        t->ncomp++;
    }
    scps_tr_free(t, old, oldcap * sizeof *old);
    return true;
}

void scps_tr_comp_learn(struct scps_trace *t, const struct flow *f, int dir, uint8_t id)
{
    if (t->ncomp * 2 >= t->capcomp && !grow(t))
        return;
    struct comp_entry *e = find_entry(t, src_of(f, dir), src_of(f, !dir), id);
    if (!e->used)
        t->ncomp++;
    *e = (struct comp_entry){
        .flow = t->last_flow, .number = f->number, .dir = (uint8_t)dir, .id = id, .used = true};
}

struct flow *scps_tr_comp_find(struct scps_trace *t, const struct flow_key *k, uint8_t id, int *dir)
{
    if (!t->capcomp)
        return NULL;
    struct comp_entry *e = find_entry(t, k->a, k->b, id);
    if (!e->used)
        return NULL;
    *dir = e->dir;
    t->last_flow = e->flow;
    return scps_tr_flow(t, e->flow);
}
