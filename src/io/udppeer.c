/* SPDX-License-Identifier: MIT */
/* UDP socket addresses, and the table of the peers of a tunnel that has no remote endpoint. */
#include "io/udppeer.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/bytes.h"

socklen_t scps_udpsock_len(const union scps_udpsock *s)
{
    return s->sa.sa_family == AF_INET ? sizeof s->in : sizeof s->in6;
}

bool scps_udpsock_equal(const union scps_udpsock *a, const union scps_udpsock *b)
{
    if (a->sa.sa_family != b->sa.sa_family)
        return false;
    if (a->sa.sa_family == AF_INET)
        return a->in.sin_port == b->in.sin_port && a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
    return a->in6.sin6_port == b->in6.sin6_port &&
           memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 16) == 0 &&
           a->in6.sin6_scope_id == b->in6.sin6_scope_id;
}

void scps_udpsock_set(const struct scps_endpoint *e, uint8_t family, union scps_udpsock *s)
{
    memset(s, 0, sizeof *s);
    if (family == 4) {
        s->in.sin_family = AF_INET;
        s->in.sin_port = htons(e->port);
        memcpy(&s->in.sin_addr, e->addr.b, 4);
    } else {
        s->in6.sin6_family = AF_INET6;
        s->in6.sin6_port = htons(e->port);
        memcpy(&s->in6.sin6_addr, e->addr.b, 16);
    }
}

/* ---- functions of the table of peers: inner address and outer UDP endpoint of each ---- */

/* Copies the source address (far 0) or destination address (far 1) of the IP packet at p to *a.
 * Returns false, with family 0, if the bytes are no IP packet. */
static bool inner_addr(const uint8_t *p, size_t len, int far, struct scps_addr *a)
{
    *a = (struct scps_addr){0};
    if (len >= 20 && p[0] >> 4 == 4 && (p[0] & 15) >= 5) {
        a->family = 4;
        memcpy(a->b, p + (far ? 16 : 12), 4);
    } else if (len >= 40 && p[0] >> 4 == 6) {
        a->family = 6;
        memcpy(a->b, p + (far ? 24 : 8), 16);
    }
    return a->family != 0;
}

void scps_udppeers_learn(struct scps_udppeers *t, const uint8_t *p, size_t len,
                         const union scps_udpsock *from)
{
    struct scps_addr a;
    if (!inner_addr(p, len, 0, &a))
        return;
    struct scps_udppeer *e = t->last;
    if (!e || !scps_addr_equal(&e->inner, &a)) {
        struct scps_udppeer *oldest = &t->peer[0];
        e = NULL;
        for (struct scps_udppeer *x = t->peer; x < t->peer + SCPS_UDP_PEERS && !e; x++) {
            if (scps_addr_equal(&x->inner, &a))
                e = x;
            else if (x->heard < oldest->heard)
                oldest = x;
        }
        if (!e)
            e = oldest;
    }
    e->inner = a;
    e->outer = *from;
    e->heard = ++t->heard;
    t->last = e;
}

const union scps_udpsock *scps_udppeers_find(const struct scps_udppeers *t, const uint8_t *p,
                                             size_t len)
{
    struct scps_addr a;
    if (inner_addr(p, len, 1, &a) && !(t->last && scps_addr_equal(&t->last->inner, &a)))
        for (const struct scps_udppeer *x = t->peer; x < t->peer + SCPS_UDP_PEERS; x++)
            if (scps_addr_equal(&x->inner, &a))
                return &x->outer;
    return t->last ? &t->last->outer : NULL;
}
