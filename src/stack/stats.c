/* SPDX-License-Identifier: MIT */
/* Reports the counters of a stack. No other file of this folder reads a counter, so what a stack
 * sends does not depend on the counters; tools/fields and the test house.statistics check that. */
#include "stack/stack.h"

#include "base/sized.h"

void scps_stack_get_stats_sized(const struct scps_stack *st, struct scps_stack_stats *out,
                                size_t size)
{
    const struct scps_stack_count *n = &st->count;
    struct scps_stack_stats now = {.packets_in = n->packets_in,
                                   .packets_out = n->replies_out + n->packets_before,
                                   .bytes_in = n->bytes_in,
                                   .bytes_out = n->reply_bytes_out + n->bytes_before,
                                   .resets_out = n->resets_out,
                                   .icmp_out = n->icmp_out,
                                   .echo_replies = n->echo_replies,
                                   .challenge_acks = st->env.challenges,
                                   .memory = st->env.budget.used,
                                   .memory_peak = st->env.budget.peak,
                                   .memory_refused = st->env.budget.refused,
                                   .cookies_out = n->cookies_out,
                                   .cookies_ok = n->cookies_ok,
                                   .cookies_reduced = n->cookies_reduced,
                                   .half_open_evicted = n->half_open_evicted,
                                   .datagrams_in = n->datagrams_in,
                                   .datagrams_out = n->datagrams_out,
                                   .conns = st->n_conns,
                                   .half_open = st->half_open,
                                   .dgrams = scps_dgram_count(st)};

    for (const struct scps_nif *nif = st->nifs; nif; nif = nif->next) {
        now.packets_out += nif->usage.packets;
        now.bytes_out += nif->usage.bytes;
    }
    memcpy(now.drops, st->env.drops, sizeof now.drops);
    for (const struct scps_listener *l = st->listeners; l; l = l->next)
        now.listeners++;
    scps_sized_give(out, size, &now, sizeof now);
}
