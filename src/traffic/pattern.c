/* SPDX-License-Identifier: MIT */
/* The test pattern of the program ttcp: the printable characters 0x20 to 0x7e, repeated.
 *
 * The octet at a position depends only on the position, so a receiver can check any piece of a
 * stream without the rest.
 */
#include <scps/traffic.h>
#include <string.h>

#define FIRST  0x20
#define PERIOD 95 /* number of characters from 0x20 to 0x7e */

void scps_pattern_fill(void *buf, size_t len, uint64_t pos)
{
    uint8_t *p = buf;
    uint8_t c = (uint8_t)(pos % PERIOD);
    size_t have = len < PERIOD ? len : PERIOD;

    for (size_t i = 0; i < have; i++) {
        p[i] = (uint8_t)(FIRST + c);
        c = c + 1 == PERIOD ? 0 : (uint8_t)(c + 1);
    }
    /* The first `have` bytes, a whole number of periods, are filled. Each step appends a copy of
     * all bytes filled so far. */
    while (have < len) {
        size_t n = have < len - have ? have : len - have;
        memcpy(p + have, p, n);
        have += n;
    }
}

bool scps_pattern_check(const void *buf, size_t len, uint64_t pos)
{
    const uint8_t *p = buf;
    uint8_t c = (uint8_t)(pos % PERIOD);

    for (size_t i = 0; i < len && i < PERIOD; i++) {
        if (p[i] != FIRST + c)
            return false;
        c = c + 1 == PERIOD ? 0 : (uint8_t)(c + 1);
    }
    return len <= PERIOD || memcmp(p, p + PERIOD, len - PERIOD) == 0;
}
