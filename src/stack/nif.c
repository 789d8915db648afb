/* SPDX-License-Identifier: MIT */
/* Attaches a netif to the stack, detaches it, and keeps the list of its shapers (nif.h). */
#include "stack/nif.h"

void scps_nif_append(struct scps_nif **first, struct scps_nif *nif)
{
    while (*first)
        first = &(*first)->next;
    *first = nif;
    nif->next = NULL;
}

void scps_nif_attach(struct scps_nif *nif, struct scps_stack *st, struct scps_netif *netif,
                     scps_time now)
{
    *nif = (struct scps_nif){
        .nif = netif, .ready.link = nif, .since_answer = SCPS_ANSWER_SHARE, .next = nif->next};
    scps_usage_begin(&nif->usage, now);
    netif->stack = st;
    netif->stack_priv = nif;
}

void scps_nif_detach(struct scps_nif *nif)
{
    if (nif->nif) {
        nif->nif->stack = NULL;
        nif->nif->stack_priv = NULL;
    }
    *nif = (struct scps_nif){.kept.blocked = true, .next = nif->next};
}

void scps_nif_add_shaper(struct scps_nif *nif, struct scps_shaper *p)
{
    p->ready.gate = &p->gate;
    p->ready.link = nif;
    p->next = nif->shapers;
    nif->shapers = p;
    scps_nif_set_others(nif);
}

void scps_nif_remove_shaper(struct scps_nif *nif, struct scps_shaper *p)
{
    struct scps_shaper **at = &nif->shapers;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

void scps_nif_shaper_served(struct scps_nif *nif, struct scps_shaper *p)
{
    struct scps_shaper **at;

    if (!p->next)
        return;
    scps_nif_remove_shaper(nif, p);
    for (at = &nif->shapers; *at;)
        at = &(*at)->next;
    *at = p;
    p->next = NULL;
}
