/* SPDX-License-Identifier: MIT */
/* Growth of a link direction's ring. */
#include "sim/linkring.h"

#include "sim/linkstate.h"

#include <scps/error.h>
#include <string.h>

SCPS_SELDOM int scps_linkring_grow(struct scps_linkdir *d, size_t need)
{
    size_t cap = d->ring_cap ? d->ring_cap * 2 : 16384;
    uint64_t to = 0, line = 0;
    uint8_t *v;

    while (cap < (d->tail - d->head) + 2 * need && cap)
        cap *= 2;
    if (!cap) /* The capacity would exceed 4 GiB, on a machine with 32-bit addresses. */
        return SCPS_ERR_NOMEM;
    v = d->alloc.alloc(d->alloc.ctx, cap);
    if (!v)
        return SCPS_ERR_NOMEM;
    while (d->head != d->tail) {
        uint64_t pos = scps_linkring_at(d, d->head);
        const struct scps_link_record *r = scps_link_record_at(d, pos);
        if (d->head == d->line || pos == d->line)
            line = to;
        memcpy(v + to, r, sizeof *r + r->len);
        to += sizeof *r + SCPS_LINKRING_ROUND(r->len);
        d->head = scps_linkring_behind(r, pos);
    }
    if (d->line == d->tail)
        line = to;
    scps_linkdir_give_back(d, d->ring, d->ring_cap);
    d->ring = v;
    d->ring_cap = cap;
    d->head = 0;
    d->line = line;
    d->tail = to;
    return 0;
}
