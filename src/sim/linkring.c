/* SPDX-License-Identifier: MIT */
/* Finds room for packets in the ring of one direction of a link, and enlarges the ring. */
#include "sim/linkring.h"

#include "base/bytes.h"
#include "sim/linkstate.h"

#include <scps/error.h>
#include <string.h>

/* Enlarges the ring so that at least `need` more bytes fit. Returns 0 or SCPS_ERR_NOMEM. */
static SCPS_SELDOM int grow(struct scps_linkdir *d, size_t need)
{
    size_t cap = d->ring_cap ? d->ring_cap * 2 : 16384;
    uint64_t to = 0, line = 0;
    uint8_t *v;

    while (cap < (d->tail - d->head) + 2 * need && cap)
        cap *= 2;
    /* The doubling of cap, a size_t, has overflowed to 0: so much memory cannot exist. */
    if (!cap)
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
    d->ring_mask = cap - 1;
    d->head = 0;
    d->line = line;
    d->tail = to;
    return 0;
}

struct scps_link_record *scps_linkring_find_room(struct scps_linkdir *d, size_t need)
{
    for (;;) {
        size_t used = (size_t)(d->tail - d->head), at = d->tail & d->ring_mask;
        size_t to_end = d->ring_cap - at;
        if (need <= to_end && used + need <= d->ring_cap)
            break;
        if (need > to_end && used + to_end + need <= d->ring_cap) {
            scps_link_record_at(d, d->tail)->at =
                /* The field `at` fits before the end of the ring, because it has 8 bytes and
                 * to_end, the bytes left there, is a multiple of 8. */
                SCPS_LINK_WRAP;
            d->tail += to_end;
            break;
        }
        if (grow(d, need) != 0)
            return NULL;
    }
    /* A record must end before the end of the ring's memory, so that it is contiguous, and must not
     * overwrite the oldest record. */
    d->room_end = SCPS_MIN((d->tail | d->ring_mask) + 1, d->head + d->ring_cap);
    return scps_link_record_at(d, d->tail);
}
