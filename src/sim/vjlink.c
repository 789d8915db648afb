/* SPDX-License-Identifier: MIT */
/* Van Jacobson TCP/IP header compression (RFC 1144) as a filter between a stack and its network
 * interface, one at each end of a link (n: octets of payload).
 *
 *      stack                          stack
 *        | 40 + n                       ^ 40 + n
 *     [ vj ]                          [ vj ]
 *        | 3 + n                        |
 *      line ------- 0x8f ... ----------->
 *
 * The figure shows the shortest compressed header, that of data which follows the packet before and
 * acknowledges nothing new: 0x8f (compressed, "unidirectional data transfer" of RFC 1144) and the
 * two octets of the TCP checksum.
 *
 * The type of a packet is in the high bits of its first octet (SLIP's coding): 0x4 IPv4 unchanged,
 * 0x7 uncompressed with a slot number, 0x8 and above compressed; IPv6 is 0x6 and is not changed. A
 * packet lost on the line is detected by the TCP checksum of a later one, so the stack always has
 * to check it.
 *
 * The framing of a PPP line is configured on the link: overhead=8 is two flags, address, control,
 * two octets of protocol and two of check sequence (RFC 1662).
 */
#include <string.h>

#include <scps/error.h>
#include <scps/vjlink.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/sized.h"

struct vj {
    struct scps_netif nif;
    struct scps_alloc alloc;
    struct scps_vj_tx tx;
    struct scps_vj_rx rx;
    struct scps_vj_stats stats;
};

/* Sets *to to packet pkt with its first `replaced` bytes replaced by the n bytes at head. Returns
 * false if the result would consist of three pieces of memory; a packet has two at most. */
static bool exchange(struct scps_pkt *to, const struct scps_pkt *pkt, uint8_t *head, size_t n,
                     size_t replaced)
{
    if (pkt->payload_len && pkt->len != replaced)
        return false;
    *to = *pkt;
    to->data = head;
    to->len = to->cap = n;
    to->csum_ok = false;
    if (!pkt->payload_len && pkt->len > replaced) {
        to->payload = pkt->data + replaced;
        to->payload_len = pkt->len - replaced;
    }
    return true;
}

static int vj_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct vj *vj = (struct vj *)nif;
    size_t total = pkt->len + pkt->payload_len, n, replaced;
    uint8_t head[SCPS_VJ_HDR_MAX];
    struct scps_pkt small = *pkt;
    enum scps_vj_type type = SCPS_VJ_IP;

    if (!pkt->gso && pkt->len)
        type = scps_vj_compress(&vj->tx, pkt->data, pkt->len, total, head, &n, &replaced);
    if (type != SCPS_VJ_IP && !exchange(&small, pkt, head, n, replaced)) {
        scps_vj_unsend(&vj->tx);
        type = SCPS_VJ_IP;
    }
    if (type == SCPS_VJ_COMPRESSED)
        head[0] |= SCPS_SLIP_COMPRESSED;
    else if (type == SCPS_VJ_UNCOMPRESSED)
        head[0] |= SCPS_SLIP_UNCOMPRESSED;
    int err = scps_netif_send(nif->lower, &small);
    /* If the interface returns SCPS_ERR_AGAIN, it has not taken the packet, and the stack will send
     * it again. The compressor returns to the state before the packet, so that the packet will be
     * compressed in the same way. */
    if (err == SCPS_ERR_AGAIN) {
        if (type != SCPS_VJ_IP)
            scps_vj_unsend(&vj->tx);
        return err;
    }
    vj->stats.bytes_in += total;
    vj->stats.bytes_out += small.len + small.payload_len;
    *(type == SCPS_VJ_IP             ? &vj->stats.ip
      : type == SCPS_VJ_UNCOMPRESSED ? &vj->stats.uncompressed
                                     : &vj->stats.compressed) += 1;
    return err;
}

static int vj_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct vj *vj = (struct vj *)nif;
    size_t n, replaced;
    uint8_t head[SCPS_VJ_HDR_MAX], first;
    struct scps_pkt whole;

    if (!pkt->len || !(pkt->data[0] & 0x80 || (pkt->data[0] & 0xf0) == SCPS_SLIP_UNCOMPRESSED))
        return scps_netif_recv(nif, pkt);
    /* The upper bits of the first octet are the packet's type (RFC 1144). For the decompressor they
     * are removed: 0x80 of a compressed packet is cleared, and in an uncompressed one the upper
     * four bits become 4, the IP version. The octet is restored afterwards, because the packet's
     * memory belongs to the caller. */
    first = pkt->data[0];
    bool compressed = first & 0x80;
    pkt->data[0] = compressed ? first & 0x7f : (first & 0x0f) | 0x40;
    int err = scps_vj_expand(&vj->rx, compressed ? SCPS_VJ_COMPRESSED : SCPS_VJ_UNCOMPRESSED,
                             pkt->data, pkt->len, pkt->len + pkt->payload_len, head, &n, &replaced);
    pkt->data[0] = first;
    if (err || !exchange(&whole, pkt, head, n, replaced)) {
        vj->stats.tossed++;
        return err ? err : SCPS_DROP_BAD_COMPRESSED;
    }
    vj->stats.expanded++;
    return scps_netif_recv(nif, &whole);
}

static void vj_close(struct scps_netif *nif)
{
    struct vj *vj = (struct vj *)nif;
    struct scps_alloc a = vj->alloc;

    a.free(a.ctx, vj, sizeof *vj);
}

static const struct scps_netif_ops vj_ops = {"vj", vj_send, vj_recv, vj_close};

struct scps_netif *scps_vj_filter_new(const struct scps_alloc *alloc)
{
    struct scps_alloc a = scps_alloc_or_default(alloc);
    struct vj *vj = a.alloc(a.ctx, sizeof *vj);

    if (!vj)
        return NULL;
    memset(vj, 0, sizeof *vj);
    vj->alloc = a;
    vj->nif.ops = &vj_ops;
    vj->nif.name = "vj";
    scps_vj_tx_init(&vj->tx);
    scps_vj_rx_init(&vj->rx);
    return &vj->nif;
}

void scps_vj_filter_stats_sized(const struct scps_netif *filter, struct scps_vj_stats *out,
                                size_t size)
{
    const struct vj *v = (const struct vj *)filter;

    scps_sized_give(out, size, &v->stats, sizeof v->stats);
}

void scps_vj_filter_line_error(struct scps_netif *filter)
{
    scps_vj_line_error(&((struct vj *)filter)->rx);
}
