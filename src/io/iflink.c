/* SPDX-License-Identifier: MIT */
/* Reports the state of the filter that puts IP packets into PPP, Ethernet or CCSDS frames: why the
 * link is not open, which neighbour does not answer ARP or Neighbour Discovery, and how many frames
 * were dropped for each reason. */
#include "base/bytes.h"
#include <scps/error.h>
#include <scps/ether.h>
#include <scps/io.h>

#include <string.h>

static const char *const ppp_names[] = {
#define X(name, words) #name,
    SCPS_PPP_DROPS(X)
#undef X
};
static const char *const ether_names[] = {
#define X(name, words) #name,
    SCPS_ETHER_DROPS(X)
#undef X
};
static const char *const ccsds_names[] = {
#define X(name, words) #name,
    SCPS_CCSDS_DROPS(X)
#undef X
};
_Static_assert(SCPS_PPP_DROP_COUNT <= SCPS_IFDROPS && SCPS_ETHER_DROP_COUNT <= SCPS_IFDROPS &&
                   SCPS_CCSDS_DROP_COUNT <= SCPS_IFDROPS,
               "SCPS_IFDROPS is too small");

/* Returns the first netif from `top` downwards (a filter, or the device at the end of the chain)
 * whose type has that name, such as "ppp"; NULL: there is none. */
static const struct scps_netif *find_filter(const struct scps_netif *top, const char *name)
{
    while (top && strcmp(top->ops->name, name) != 0)
        top = top->lower;
    return top;
}

const char *scps_ifopts_trouble(const struct scps_netif *top)
{
    const struct scps_netif *ppp = find_filter(top, "ppp");
    struct scps_ppp_status s;

    if (!ppp)
        return NULL;
    scps_ppp_get_status(ppp, &s);
    return s.why == SCPS_PPP_WHY_NONE ? NULL : scps_ppp_why_text(s.why);
}

bool scps_ifopts_unanswered(const struct scps_netif *top, struct scps_addr *out)
{
    const struct scps_netif *ether = find_filter(top, "ether");
    struct scps_ether_status s;

    if (!ether)
        return false;
    scps_ether_get_status(ether, &s);
    if (!s.unanswered.family)
        return false;
    *out = s.unanswered;
    return true;
}

static void fill(struct scps_ifdrop *out, const char *link, const char *name, const char *words,
                 uint64_t count)
{
    size_t n = 0;

    for (; name[n] && n + 1 < sizeof out->name; n++)
        out->name[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a' : name[n]);
    out->name[n] = 0;
    out->link = link;
    out->words = words;
    out->count = count;
}

bool scps_ifopts_drop(const struct scps_netif *top, unsigned i, struct scps_ifdrop *out)
{
    const struct scps_netif *nif;

    if ((nif = find_filter(top, "ppp")) != NULL && i < SCPS_PPP_DROP_COUNT) {
        struct scps_ppp_status s;

        scps_ppp_get_status(nif, &s);
        fill(out, "ppp", ppp_names[i], scps_ppp_drop_text((enum scps_ppp_drop)i), s.drops[i]);
    } else if ((nif = find_filter(top, "ether")) != NULL && i < SCPS_ETHER_DROP_COUNT) {
        struct scps_ether_status s;

        scps_ether_get_status(nif, &s);
        fill(out, "ether", ether_names[i], scps_ether_drop_text((enum scps_ether_drop)i),
             s.drops[i]);
    } else if ((nif = find_filter(top, "ccsds")) != NULL && i < SCPS_CCSDS_DROP_COUNT) {
        struct scps_ccsds_status s;

        scps_ccsds_get_status(nif, &s);
        fill(out, "ccsds", ccsds_names[i], scps_ccsds_drop_text((enum scps_ccsds_drop)i),
             s.drops[i]);
    } else {
        return false;
    }
    return true;
}
