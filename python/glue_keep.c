/* SPDX-License-Identifier: MIT */
/* Notes and packets, as they are kept: see glue.h. */
#include "glue_priv.h"

#include <stdlib.h>
#include <string.h>

locale_t py_c_numbers(void)
{
    static _Atomic(locale_t) kept; /* two threads may both make one: the first one stays unused */
    locale_t c = kept;

    if (c == (locale_t)0)
        kept = c = newlocale(LC_NUMERIC_MASK, "C", duplocale(LC_GLOBAL_LOCALE));
    return uselocale(c);
}

void *py_keep(struct py_kept *k)
{
    if (k->n == k->cap) {
        const size_t cap = k->cap != 0 ? 2 * k->cap : 1024;
        void *more = realloc(k->v, cap * k->size);

        if (more == NULL) {
            k->lost = true;
            return NULL;
        }
        k->v = more;
        k->cap = cap;
    }
    return (char *)k->v + k->n++ * k->size;
}

void py_on_note(void *ctx, const struct scps_note *n)
{
    struct py_listener *l = ctx;
    struct py_note *p = py_keep(l->notes);

    if (p == NULL)
        return;
    *p = (struct py_note){.at = n->at, .host = l->host, .conn = n->conn, .kind = n->kind};
    memcpy(p->arg, n->arg, sizeof(p->arg));
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void py_keep_packet(struct py_kept *k, uint32_t direction, const struct scps_verdict *v)
{
    const struct scps_pkt *pkt = v->pkt;
    const bool v4 = pkt->data[0] >> 4 == 4;
    const size_t ip = v4 ? (size_t)(pkt->data[0] & 15) * 4 : 40;
    const bool tcp = pkt->len >= ip + 20 && (v4 ? pkt->data[9] : pkt->data[6]) == 6;
    struct py_packet *p = py_keep(k);

    if (p == NULL)
        return;
    *p = (struct py_packet){.offered = v->offered,
                            .left = v->left,
                            .arrival = v->arrival,
                            .number = v->number,
                            .direction = direction,
                            .fate = v->fate,
                            .ip_len = (uint32_t)(pkt->len + pkt->payload_len)};
    if (tcp) {
        p->payload = p->ip_len - (uint32_t)ip - (uint32_t)(pkt->data[ip + 12] >> 4) * 4;
        p->seq = be32(pkt->data + ip + 4);
        p->ack = be32(pkt->data + ip + 8);
        p->flags = pkt->data[ip + 13];
    }
}

bool py_merge_packets(const struct py_kept packets[2], struct py_kept *all)
{
    const struct py_packet *v[2] = {packets[0].v, packets[1].v};
    size_t at[2] = {0, 0};

    while (at[0] < packets[0].n || at[1] < packets[1].n) {
        const int d = at[0] == packets[0].n   ? 1
                      : at[1] == packets[1].n ? 0
                                              : v[1][at[1]].offered < v[0][at[0]].offered;
        struct py_packet *p = py_keep(all);

        if (p == NULL)
            return false;
        *p = v[d][at[d]++];
    }
    return !packets[0].lost && !packets[1].lost;
}
