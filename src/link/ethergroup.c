/* SPDX-License-Identifier: MIT */
/* Addresses of packets and frames: the addresses in an IP header, and the MAC addresses of groups
 * (RFC 1112 section 6.4, RFC 2464 section 7, RFC 4291 section 2.7.1). */
#include "link/ether.h"

#include <string.h>

#include "base/bytes.h"

void scps_ether_solicited_node(const struct scps_addr *a, struct scps_addr *group, uint8_t mac[6])
{
    *group = (struct scps_addr){6, {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
    memcpy(group->b + 13, a->b + 13, 3);
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, group->b + 12, 4);
}

bool scps_ether_group_mac(const struct scps_ether *e, const struct scps_addr *a, uint8_t mac[6])
{
    static const uint8_t limited[4] = {255, 255, 255, 255};

    if (a->family == 6 && a->b[0] == 0xff) {
        mac[0] = mac[1] = 0x33;
        memcpy(mac + 2, a->b + 12, 4);
        return true;
    }
    if (a->family == 4 && a->b[0] >> 4 == 14) {
        memcpy(mac, (const uint8_t[3]){0x01, 0x00, 0x5e}, 3);
        mac[3] = a->b[1] & 0x7f;
        memcpy(mac + 4, a->b + 2, 2);
        return true;
    }
    bool all = a->family == 4 && memcmp(a->b, limited, 4) == 0;
    for (unsigned i = 0; i < e->cfg.n && a->family == 4 && !all; i++) {
        uint32_t host = e->cfg.prefix[i] ? UINT32_MAX >> (e->cfg.prefix[i] & 31) : UINT32_MAX;
        all = e->cfg.addr[i].family == 4 && e->cfg.prefix[i] < 31 &&
              scps_addr_match(&e->cfg.addr[i], a, e->cfg.prefix[i]) &&
              (scps_get32(a->b) & host) == host;
    }
    memset(mac, 0xff, 6);
    return all;
}

bool scps_ether_addresses(const uint8_t *p, size_t n, struct scps_addr *src, struct scps_addr *dst)
{
    unsigned version = n ? p[0] >> 4 : 0;

    memset(src, 0, sizeof *src);
    memset(dst, 0, sizeof *dst);
    if (version == 4 && n >= 20) {
        memcpy(src->b, p + 12, 4);
        memcpy(dst->b, p + 16, 4);
    } else if (version == 6 && n >= 40) {
        memcpy(src->b, p + 8, 16);
        memcpy(dst->b, p + 24, 16);
    } else {
        return false;
    }
    src->family = dst->family = (uint8_t)version;
    return true;
}

bool scps_ether_is_to_group(const struct scps_ether *e, const uint8_t *p, size_t n)
{
    struct scps_addr src, dst;
    uint8_t mac[6];

    return scps_ether_addresses(p, n, &src, &dst) && scps_ether_group_mac(e, &dst, mac);
}
