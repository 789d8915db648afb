/* SPDX-License-Identifier: MIT */
/* libscps_sim: RFC 1144 compression on a link, as PPP and SLIP lines have it (vjcomp.h). */
#ifndef SCPS_VJLINK_H
#define SCPS_VJLINK_H

#include <scps/alloc.h>
#include <scps/netif.h>
#include <scps/vjcomp.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_vj_stats {
    /* numbers of packets sent, by type: plain IP, uncompressed TCP, compressed TCP */
    uint64_t ip, uncompressed, compressed;
    uint64_t bytes_in, bytes_out; /* octets of packets before the compression, and after it */
    /* expanded: received packets whose headers were restored; tossed: received packets that were
     * dropped because their headers could not be restored */
    uint64_t expanded, tossed;
};
/* Opens a filter that compresses headers on sending and restores them on receiving; the other end
 * of the link needs one as well. Put it on a link (scps_netif_push, scps_link_filter), which then
 * owns it. alloc NULL: malloc. Returns NULL on lack of memory. */
SCPS_API struct scps_netif *scps_vj_filter_new(const struct scps_alloc *alloc);
/* Copies the counters of this end to *out; size is sizeof *out in the calling program. */
SCPS_API void scps_vj_filter_stats_sized(const struct scps_netif *filter, struct scps_vj_stats *out,
                                         size_t size);
static inline void scps_vj_filter_stats(const struct scps_netif *filter, struct scps_vj_stats *out)
{
    scps_vj_filter_stats_sized(filter, out, sizeof *out);
}
/* Reports that the line has damaged or lost a packet that was to arrive at this end. Compressed
 * headers are then dropped until a packet with a full header arrives (RFC 1144 section 4.1). */
SCPS_API void scps_vj_filter_line_error(struct scps_netif *filter);

#ifdef __cplusplus
}
#endif
#endif
