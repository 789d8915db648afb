/* SPDX-License-Identifier: MIT */
/* Encodes and decodes binding spaces: numbered data of vendors in the extended capabilities option,
 * a second TCP option 20 of a SYN (CCSDS 714.0-B-2 section 3.2.5).
 *
 * A space is an octet with its id, an octet with its length in the high nibble (the number of
 * 16-bit words of data, as the reference implementation and Wireshark have it), and the data. These
 * two differ on the low nibble of the second octet: the reference implementation takes it for the
 * beginning of the data, Wireshark does not. This file sends the nibble as zero and keeps it as
 * received. Ids from 256 on (long ids) are encoded as 255 and the id less 256 in the first octet of
 * the data. That encoding was not checked against CCSDS 714.0-B-2 (docs/SCPS-TP.md section 10), so
 * long ids are parsed, but never sent. A space has at least one 16-bit word of data, so that no
 * option becomes 4 octets long and looks like the normal capabilities option.
 */
#include <scps/binding.h>

#include <string.h>

#include "base/bytes.h"

enum { LONG_ID = 255 };

static size_t words(const struct scps_binding *b)
{
    return (b->len + 1u) / 2;
}

size_t scps_binding_size(const struct scps_binding *b, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++)
        if (b[i].len)
            size += 2 * (words(&b[i]) + 1);
    return size;
}

size_t scps_binding_build(uint8_t *p, const struct scps_binding *b, size_t n)
{
    uint8_t *o = p;

    for (size_t i = 0; i < n; i++) {
        if (!b[i].len)
            continue;
        *o++ = (uint8_t)b[i].id;
        *o++ = (uint8_t)(words(&b[i]) << 4);
        memset(o, 0, 2 * words(&b[i]));
        memcpy(o, b[i].data, b[i].len);
        o += 2 * words(&b[i]);
    }
    return (size_t)(o - p);
}

size_t scps_binding_parse(const uint8_t *p, size_t len, struct scps_binding *b)
{
    size_t total, at = 2;

    if (len < 2 || (total = 2 * ((p[1] >> 4) + 1u)) > len)
        return 0;
    *b = (struct scps_binding){.id = p[0], .low = p[1] & 15};
    if (p[0] == LONG_ID) {
        if (total < 4)
            return 0;
        b->id = (uint16_t)(256 + p[at++]);
    }
    b->len = (uint8_t)(total - at);
    memcpy(b->data, p + at, b->len);
    return total;
}

struct scps_binding scps_binding_and(const struct scps_binding *a, const struct scps_binding *b)
{
    struct scps_binding r = {.id = a->id, .len = SCPS_MIN(a->len, b->len)};

    for (unsigned i = 0; i < r.len; i++)
        r.data[i] = a->data[i] & b->data[i];
    return r;
}
