/* SPDX-License-Identifier: MIT */
/* Checks HOST, the peer's address on the command lines of scps_ttcp and scps_echo, so that an
 * address that no peer can have is reported before a device is opened. */
#ifndef SCPS_COMMON_HOST_H
#define SCPS_COMMON_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <scps/io.h>

/* Returns true if a is the IPv4 broadcast address of the prefix of an address that --addr gives. A
 * prefix of 31 bits has none (RFC 3021). */
static inline bool host_is_broadcast(const struct scps_ifopts *o, const struct scps_addr *a)
{
    uint32_t v =
        (uint32_t)a->b[0] << 24 | (uint32_t)a->b[1] << 16 | (uint32_t)a->b[2] << 8 | a->b[3];

    for (unsigned i = 0; a->family == 4 && i < o->naddr; i++) {
        uint32_t host = o->addr[i].prefix > 30 ? 0 : UINT32_MAX >> o->addr[i].prefix;

        if (host != 0 && scps_addr_match(&o->addr[i].addr, a, o->addr[i].prefix) &&
            (v & host) == host)
            return true;
    }
    return false;
}

/* Returns why a cannot be the address of a peer, with a remedy; NULL: it can. datagrams: data goes
 * in UDP datagrams, which may be sent to the broadcast address of --addr's prefix. */
static inline const char *host_refused(const struct scps_ifopts *o, const struct scps_addr *a,
                                       bool datagrams)
{
    static const uint8_t none[16], all[4] = {0xff, 0xff, 0xff, 0xff};

    if (a->family == 4 ? a->b[0] == 0 : memcmp(a->b, none, sizeof(none)) == 0)
        return "is an unspecified address: give the peer's";
    if (a->family == 4 ? (a->b[0] & 0xf0) == 0xe0 : a->b[0] == 0xff)
        return "is a multicast address: give one host's own address";
    if ((a->family == 4 && memcmp(a->b, all, sizeof(all)) == 0) ||
        (!datagrams && host_is_broadcast(o, a)))
        return "is a broadcast address: give one host's own address";
    if (a->family == 4 && a->b[0] >= 0xf0)
        return "is a reserved address: give the peer's";
    for (unsigned i = 0; i < o->naddr; i++)
        if (scps_addr_equal(&o->addr[i].addr, a))
            return "is --addr, the address of this end: give the peer's";
    return NULL;
}

/* Checks that HOST, which is typed as `host` and has the address a, can be the peer, and that
 * --addr gives an address of its IP version. Returns true; or false, with one line in msg. */
static inline bool host_check(const struct scps_ifopts *o, const char *host,
                              const struct scps_addr *a, bool datagrams, char *msg, size_t len)
{
    const char *why = host_refused(o, a, datagrams);
    /* Over PPP without --addr the peer gives this end its address. */
    bool family = o->naddr == 0;

    for (unsigned i = 0; i < o->naddr; i++)
        family |= o->addr[i].addr.family == a->family;
    if (why != NULL)
        snprintf(msg, len, "HOST %.100s %s", host, why);
    else if (!family)
        snprintf(msg, len,
                 "HOST %.100s is an IPv%u address, and --addr gives none: add an --addr of IPv%u, "
                 "or give a HOST of the family of --addr",
                 host, a->family, a->family);
    return why == NULL && family;
}

#endif
