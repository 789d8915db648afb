/* SPDX-License-Identifier: MIT */
/* A route's rate, shared by the connections that go through it; the rules are in gate.c. */
#ifndef SCPS_CORE_GATE_H
#define SCPS_CORE_GATE_H

#include <scps/stack.h>

#include "core/pacer.h"

struct scps_gate {
    struct scps_pacer rate;  /* what may leave; rate 0: everything */
    struct scps_pacer floor; /* what leaves whatever the windows say; rate 0: nothing */
    struct scps_overhead over;
    uint32_t quantum;                        /* bytes of a turn: what the largest packet costs */
    struct scps_conn *asked;                 /* its packet waits for credit, */
    scps_time opens;                         /* which is there by then */
    struct scps_conn *wait_head, *wait_tail; /* held by their windows, in line for the floor */
    struct scps_conn *permitted;             /* the floor lets one segment of it go */
};

/* Have acknowledgements a budget, of their own or of their route (NULL: none)? */
static inline bool scps_gate_budgets(const struct scps_conn_config *cfg, const struct scps_gate *g)
{
    return cfg->ack_budget || cfg->ack_budget_pps || (g && g->rate.rate);
}
/* Rates, burst and overhead of r from now on; mtu of its link. */
void scps_gate_set(struct scps_gate *g, scps_time now, const struct scps_route *r, uint32_t mtu);
/* What an IP packet of len bytes costs. */
uint32_t scps_gate_cost(const struct scps_gate *g, uint32_t len);
/* Does the credit cover a packet of c of len bytes? If not, the gate is closed for it until
 * g->opens. */
bool scps_gate_covers(struct scps_gate *g, struct scps_conn *c, scps_time now, uint32_t len);
/* May c, which is at the head, be asked for a packet at all? */
bool scps_gate_open(struct scps_gate *g, struct scps_conn *c, scps_time now);
/* A packet of c of len bytes has left. True: its turn is over. */
bool scps_gate_left(struct scps_gate *g, struct scps_conn *c, scps_time now, uint32_t len);
/* The same for a packet that no connection sends: when it may leave; and its payment, returned,
 * once it has. */
scps_time scps_gate_when(struct scps_gate *g, scps_time now, uint32_t len);
/* When a packet of a connection of len bytes may leave at the soonest. None is asked for one before
 * a packet without data may leave, nor while another one waits for credit. */
scps_time scps_gate_asks(struct scps_gate *g, scps_time now, uint32_t len);
uint32_t scps_gate_pay(struct scps_gate *g, scps_time now, uint32_t len);
/* c had nothing to send after all. */
void scps_gate_passed(struct scps_gate *g, struct scps_conn *c);
/* Its window holds c. True: one segment may leave all the same; else it stands in line for that. */
bool scps_gate_permits(struct scps_gate *g, struct scps_conn *c);
/* Wakes whom the floor lets go now. */
void scps_gate_serve(struct scps_gate *g, scps_time now);
/* c goes away, or elsewhere. */
void scps_gate_forget(struct scps_conn *c);
/* When it has something to do, its connections aside: SCPS_NEVER if nothing. */
scps_time scps_gate_floor_due(struct scps_gate *g, scps_time now);

#endif
