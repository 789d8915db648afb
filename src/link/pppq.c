/* SPDX-License-Identifier: MIT */
/* Stores the PPP control packets that the line has not accepted yet, in the order in which they are
 * to be sent. */
#include "link/pppq.h"

#include <string.h>

#include "base/bytes.h"

bool scps_pppq_put(struct scps_pppq *q, uint16_t proto, const uint8_t *head, size_t head_n,
                   const uint8_t *data, size_t n)
{
    uint8_t *at = q->room + q->len;

    if (4 + head_n + n > sizeof q->room - q->len)
        return false;
    scps_put16(at, (uint16_t)(head_n + n));
    scps_put16(at + 2, proto);
    memcpy(at + 4, head, head_n);
    if (n)
        memcpy(at + 4 + head_n, data, n);
    q->len += 4 + head_n + n;
    return true;
}

bool scps_pppq_head(const struct scps_pppq *q, uint16_t *proto, const uint8_t **p, size_t *n)
{
    if (!q->len)
        return false;
    *n = scps_get16(q->room);
    *proto = scps_get16(q->room + 2);
    *p = q->room + 4;
    return true;
}

void scps_pppq_pop(struct scps_pppq *q)
{
    size_t n = 4 + (size_t)scps_get16(q->room);

    q->len -= n;
    memmove(q->room, q->room + n, q->len);
}
