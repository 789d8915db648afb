/* SPDX-License-Identifier: MIT */
/* Calls of an application that an order asks for. */
#include "pair.h"

static void look(struct world *w, struct end *e)
{
    struct scps_hole holes[4];
    struct scps_endpoint at;

    (void)w;
    scps_conn_given_up(e->c, holes, 4);
    scps_conn_local(e->c, &at);
    (void)scps_conn_icmp(e->c);
    MUST(scps_conn_user(e->c) == e && scps_conn_id(e->c) != 0);
    MUST(scps_conn_writable(e->c) <= UINT32_C(1) << 30);
}

void pair_call(struct world *w, struct host *h, struct flow *f, uint8_t what, uint8_t b, uint8_t c)
{
    struct end *e = &f->end[h->nr];

    if (!e->c)
        return;
    h->touched = true;
    switch (what) {
    case 0:
        pair_write(w, f, e, (size_t)b << (c & 7),
                   (c & 8 ? SCPS_MORE : 0) | (c & 16 && h->cfg.records ? SCPS_EOR : 0));
        break;
    case 1:
        pair_read(w, f, e, (size_t)b << (c & 7), c & 8 ? SCPS_PEEK : 0);
        break;
    case 2:
        pair_read_lent(w, f, e, (size_t)b << (c & 7));
        break;
    case 3:
        if (!scps_conn_unacked(e->c) && !e->shut)
            e->progress = w->now;
        e->shut |= scps_conn_shutdown(e->c) == 0;
        if (e->shut)
            e->goal = SCPS_MIN(e->goal, e->written);
        break;
    case 4:
        pair_let_go(w, f, e, true);
        break;
    case 5:
        pair_let_go(w, f, e, false);
        break;
    case 6:
        scps_conn_cork(e->c, b & 1);
        break;
    case 7:
        scps_conn_nodelay(e->c, b & 1);
        break;
    case 8:
        /* The time of the keep-alive that a new configuration begins is counted from the latest
         * time that the stack knows, which must be the same with and without a third party. */
        if (w->now >= h->asleep)
            scps_stack_advance(h->st, w->now);
        pair_reconfigure(w, h, e, b, c);
        break;
    case 9:
        e->auto_read = b & 1;
        break;
    case 10:
        e->chunk = (uint32_t)b << (c & 7);
        e->how = c >> 3 & 3;
        break;
    case 11:
        look(w, e);
        break;
    }
}
