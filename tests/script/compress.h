/* SPDX-License-Identifier: MIT */
/* A connection with compressed headers (IP protocol 105, docs/SCPS-TP.md section 8), for the tests
 * test_compression.c and test_comp_*.c. */
#ifndef SCPS_TEST_COMPRESS_H
#define SCPS_TEST_COMPRESS_H

#include "script.h"

#include "base/bytes.h"

#include <scps/comp.h>

#define IP4 20
#define IP6 40

static inline struct script *compressing(void **x, bool ts)
{
    struct script *t = script_of(x);

    t->cfg.compress = true;
    t->cfg.timestamps = t->peer.ts = ts;
    t->peer.caps = SCPS_CAP_COM;
    t->peer.conn_id = 0xce;
    return t;
}

static inline uint32_t ip_len(const struct script *t)
{
    return t->us.addr.family == 4 ? IP4 : IP6;
}

static inline int compressed(struct script *t, scps_time at, const uint8_t *body, size_t n,
                             bool right)
{
    uint8_t pkt[300];
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .ttl = 64};
    size_t h = scps_ip_build(pkt, &ip, n);

    memcpy(pkt + h, body, n);
    /* The test does not know where the header ends, so it changes the last two octets of the packet
     * to make the checksum right. */
    if (right && n >= 2) {
        scps_put16(pkt + h + n - 2, 0);
        scps_put16(pkt + h + n - 2,
                   scps_comp_checksum(&ip.src, &ip.dst, SCPS_IPPROTO_SCPS_COMP, pkt + h, n & ~1u,
                                      pkt + h + (n & ~1u), n & 1));
    }
    return script_input(t, at, pkt, h + n);
}

#endif
