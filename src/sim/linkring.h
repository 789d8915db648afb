/* SPDX-License-Identifier: MIT */
/* The ring of a link direction: the bytes of its packets in the order in which they were offered,
 * in records whose sizes are multiples of 8 bytes:
 *
 *     | at 8 | len 4 | hollow 4 | frame 4 | number, values, whole 4 | len bytes of packet |
 *
 *     head                         line                  tail
 *      | on the line or propagating | waiting             |
 *
 * The digits are sizes in bytes. While the packet waits, `at` is the time at which it was offered,
 * and `frame` the bytes that it will take on the line; afterwards `at` is its time of arrival, and
 * `frame` the number of copies that arrive. `hollow` is the number of payload bytes that are
 * counted but not stored, `number` the packet's number among all that were offered; `values` and
 * `whole` are flags, which struct scps_link_record (link.h) explains. Positions count bytes and
 * never wrap; scps_link_record_at() returns the address of the record at a position.
 */
#ifndef SCPS_SIM_LINKRING_H
#define SCPS_SIM_LINKRING_H

#include "sim/link.h"

#define SCPS_LINKRING_ROUND(n) (((n) + 7) & ~(size_t)7)

/* Returns the position of the record at pos; if that is a SCPS_LINK_WRAP record, which marks the
 * unused end of the ring, the position of the record at the ring's beginning. Precondition: pos is
 * not d->tail. */
static inline uint64_t scps_linkring_at(const struct scps_linkdir *d, uint64_t pos)
{
    return scps_link_record_at(d, pos)->at == SCPS_LINK_WRAP ? (pos | d->ring_mask) + 1 : pos;
}

/* Returns the position of the record that follows record r, which is at pos. */
static inline uint64_t scps_linkring_behind(const struct scps_link_record *r, uint64_t pos)
{
    return pos + sizeof *r + SCPS_LINKRING_ROUND(r->len);
}

/* Slow path of scps_linkring_room(), for a record of `need` bytes that might end behind
 * d->room_end, the position up to which the ring's memory behind d->tail is known to be free:
 * computes d->room_end again, and enlarges the ring if the record still does not fit. Returns what
 * scps_linkring_room() returns: the place for the record, or NULL without memory, and then the ring
 * keeps its size. */
struct scps_link_record *scps_linkring_find_room(struct scps_linkdir *d, size_t need);

/* Returns room for a new record of `need` contiguous bytes. If it does not fit before the end of
 * the ring, a SCPS_LINK_WRAP record is put there and the room is at the beginning; if it does not
 * fit at all, the ring is doubled. The caller fills the record and moves d->tail behind it. Returns
 * NULL without memory. */
static inline struct scps_link_record *scps_linkring_room(struct scps_linkdir *d, size_t need)
{
    if (d->tail + need <= d->room_end)
        return scps_link_record_at(d, d->tail);
    return scps_linkring_find_room(d, need);
}

/* Moves d->head, the position of the first record in the ring, past the records that no longer have
 * a packet, because it was lost, or was moved to held[], the heap of packets that do not arrive in
 * the order in which they were offered: to the next packet that arrives or, if none is under way,
 * to the first packet that waits. */
static inline void scps_linkring_skip(struct scps_linkdir *d)
{
    while (d->head != d->line) {
        uint64_t pos = scps_linkring_at(d, d->head);
        const struct scps_link_record *r = scps_link_record_at(d, pos);
        d->head = pos;
        if (pos == d->line || r->at != SCPS_LINK_GONE)
            break;
        d->head = scps_linkring_behind(r, pos);
    }
    /* If the ring is empty, new records start at its beginning, whose memory is in the cache. */
    if (d->head == d->tail) {
        d->head = d->line = d->tail = 0;
        d->room_end = d->ring_cap;
    }
}

#endif
