/* SPDX-License-Identifier: MIT */
/* Plans all the memory of a stack with fixed memory (scps_stack_config.fixed_memory is set: all
 * memory is allocated when the stack is opened, none later), before the stack is opened. The stack
 * takes one block:
 *
 *      struct scps_stack | struct scps_reserve | blocks of every size
 *
 * An array that grows by one element when a netif (network interface), an address or a route is
 * added needs a block of each possible length.
 */
#include "stack/connid.h"
#include "stack/stack.h"

#include "base/line.h"

#include "base/bytes.h"

#define ALIGN 16u

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Adds to plan s the blocks for an array that grows by one element of `size` bytes at a time, up to
 * n elements: each growth needs a new block. */
static void plan_array(struct scps_slots *s, size_t size, uint32_t n)
{
    for (uint32_t k = 1; k <= n; k++)
        scps_slots_plan(s, k * size, 1);
}

/* Returns for how many items scps_heap_reserve() allocates memory if room for n is requested: the
 * next power of two, at least 16. */
static uint64_t heap_places(uint32_t n)
{
    uint64_t cap = 16;

    while (cap < n)
        cap *= 2;
    return cap;
}

static void plan_host(struct scps_reserve *r, const struct scps_stack_config *cfg, uint32_t conns)
{
    struct scps_slots *s = &r->slots;
    const uint32_t queues = SCPS_FIXED_NETIFS + SCPS_FIXED_RATED;

    plan_array(s, sizeof(struct scps_local_addr), SCPS_FIXED_ADDRS);
    plan_array(s, sizeof(struct scps_route_entry), SCPS_FIXED_ROUTES);
    scps_slots_plan(s, sizeof(struct scps_nif), SCPS_FIXED_NETIFS);
    scps_slots_plan(s, r->packet, SCPS_FIXED_NETIFS);
    scps_slots_plan(s, sizeof(struct scps_shaper), SCPS_FIXED_RATED);
    scps_slots_plan(s, SCPS_FIXED_ANSWERS, queues);
    scps_slots_plan(s, sizeof(struct scps_listener), SCPS_FIXED_LISTENERS);
    scps_slots_plan(s, scps_plain_size(cfg), 1);
    scps_slots_plan(s, scps_demux_buckets(conns) * sizeof(struct scps_conn *), 1);
    /* one heap for the timers of connections, two for the pairs of hosts in connid.c */
    scps_slots_plan(s, heap_places(conns) * sizeof(struct scps_heap_node),
                    r->fixed.most.compress ? 3 : 1);
    /* Each connection and each listener may have a configuration of its own. Two more are needed by
     * scps_connect(): it keeps the configuration of the last connection that it opened, and makes a
     * checked copy of the new one to compare both. */
    scps_slots_plan(s, sizeof(struct scps_shared_config),
                    (uint64_t)conns + SCPS_FIXED_LISTENERS + 2);
    if (r->fixed.most.compress)
        scps_connid_plan(s, SCPS_MIN(cfg->max_comp_hosts, conns));
}

int scps_reserve_plan(struct scps_reserve *r, const struct scps_stack_config *cfg,
                      const struct scps_conn_config *conn, uint32_t conns)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_conn_config c;
    int err = scps_config_take(&c, conn, &no_text);

    if (!err)
        err = scps_config_resolve(&c);
    if (err)
        return err;
    memset(r, 0, sizeof *r);
    scps_fixed_init(&r->fixed, &c);
    r->packet = r->fixed.mss + SCPS_MAX_HEADERS;
    scps_conn_plan(&r->fixed, &r->slots, conns, sizeof(struct scps_conn));
    plan_host(r, cfg, conns);
    return 0;
}

uint64_t scps_reserve_bytes(const struct scps_reserve *r)
{
    uint64_t blocks = scps_slots_bytes(&r->slots);

    return blocks == UINT64_MAX
               ? 0
               : aligned(sizeof(struct scps_stack)) + aligned(sizeof(struct scps_reserve)) + blocks;
}

void scps_reserve_begin(struct scps_stack *st, const struct scps_reserve *r)
{
    uint8_t *at = (uint8_t *)st + aligned(sizeof *st);
    struct scps_alloc a;

    st->reserve = (struct scps_reserve *)(void *)at;
    *st->reserve = *r;
    scps_slots_begin(&st->reserve->slots, at + aligned(sizeof *r));
    a = scps_slots_alloc(&st->reserve->slots);
    scps_budget_init(&st->env.budget, &a, 0);
}
