/* SPDX-License-Identifier: MIT */
/* A netif filter that writes the packets passing through it to a capture file.
 *
 *   stack
 *    | ^
 *   [ tap ] --> FILE.pcap                        LINKTYPE_RAW, µs, little-endian on every machine
 *    v |
 *   device
 *
 * A packet is one record, also if its headers and its payload lie in two pieces of memory. Hollow
 * bytes (payload that is counted but not stored) are written as zeros, for which their checksum
 * holds. If the device fills in transport checksums (SCPS_NETIF_NO_CSUM), or has verified them on
 * arrival, the record gets the right checksum instead of the incomplete one in the packet.
 *
 * A packet that is sent is written when the device below has accepted it, because a packet that it
 * refuses for now will be sent again. A failed write (a full disk) ends the capture, not the
 * traffic: the error is kept for scps_tap_error(), and nothing more is written, so that the file
 * can be read up to there.
 *
 * Format: "PCAP Capture File Format", draft-ietf-opsawg-pcap sections 4 and 5; LINKTYPE_RAW is 101.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scps/error.h>
#include <scps/stack.h>
#include <scps/trace.h>
#include <scps/wire.h>

#define MAGIC_US     0xa1b2c3d4u
#define LINKTYPE_RAW 101u
#define MAX_RECORD   262144u /* length of the longest record that readers accept, bytes */
#define BUFFER       (256u << 10)

struct tap {
    struct scps_netif nif;
    FILE *f;
    char *buffer;
    uint32_t snaplen; /* largest number of bytes of a packet in a record */
    int err;          /* errno of the first write that failed; 0: no write has failed */
    scps_time epoch;
    scps_time (*now)(void *ctx);
    void *ctx;
};

static void le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void le32(uint8_t *p, uint32_t v)
{
    le16(p, (uint16_t)v);
    le16(p + 2, (uint16_t)(v >> 16));
}

static void put_octets(struct tap *t, const void *p, size_t len)
{
    if (t->err == 0 && len > 0 && fwrite(p, 1, len, t->f) != len)
        t->err = errno ? errno : EIO;
}

static void put_zeros(struct tap *t, size_t len)
{
    static const uint8_t zeros[4096];

    while (len > 0) {
        size_t n = len < sizeof zeros ? len : sizeof zeros;
        put_octets(t, zeros, n);
        len -= n;
    }
}

/* Called for a packet whose checksum field may be incomplete, because the device computes the
 * checksum after the tap or has verified it before. Copies the IP and TCP headers to hdr, with the
 * right checksum. Returns the length of the copy, bytes; 0: the packet is no complete TCP packet,
 * and is recorded as it is. */
static size_t finish_checksum(const struct scps_pkt *pkt, uint8_t hdr[SCPS_MAX_HEADERS])
{
    struct scps_ip ip;
    size_t total = pkt->len + pkt->payload_len, tcp, n;
    const uint8_t *rest = pkt->payload;

    if (scps_ip_parse(pkt->data, pkt->len, total, &ip) != 0 || ip.proto != SCPS_IPPROTO_TCP ||
        ip.frag_off != 0 || ip.more_frags || ip.hdr_len + 20u > pkt->len || ip.total_len > total)
        return 0;
    tcp = (size_t)(pkt->data[ip.hdr_len + 12] >> 4) * 4;
    n = ip.hdr_len + tcp;
    if (tcp < 20 || n > pkt->len || n > SCPS_MAX_HEADERS || n > ip.total_len)
        return 0;
    if (pkt->payload_len == 0)
        rest = pkt->data + n;
    else if (pkt->len != n)
        return 0;
    memcpy(hdr, pkt->data, n);
    hdr[ip.hdr_len + 16] = hdr[ip.hdr_len + 17] = 0;
    uint16_t sum =
        scps_tcp_checksum(&ip.src, &ip.dst, hdr + ip.hdr_len, tcp, rest, ip.total_len - n);
    hdr[ip.hdr_len + 16] = (uint8_t)(sum >> 8);
    hdr[ip.hdr_len + 17] = (uint8_t)sum;
    return n;
}

static void record(struct tap *t, const struct scps_pkt *pkt, scps_time at, bool sum_missing)
{
    uint8_t head[16], mended[SCPS_MAX_HEADERS];
    size_t whole = pkt->len + pkt->payload_len;
    size_t room = whole < t->snaplen ? whole : t->snaplen;
    size_t n, done = 0;

    if (t->err != 0)
        return;
    at += t->epoch;
    le32(head, (uint32_t)(at / 1000000));
    le32(head + 4, (uint32_t)(at % 1000000));
    le32(head + 8, (uint32_t)room);
    le32(head + 12, (uint32_t)whole);
    put_octets(t, head, sizeof head);

    if (sum_missing) {
        done = finish_checksum(pkt, mended);
        if (done > room)
            done = room;
        put_octets(t, mended, done);
    }
    n = pkt->len < room ? pkt->len : room;
    put_octets(t, pkt->data + done, n - done);
    if (pkt->payload)
        put_octets(t, pkt->payload, room - n);
    else
        put_zeros(t, room - n);
}

static int tap_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct tap *t = (struct tap *)nif;
    scps_time now = t->now(t->ctx);
    int rc = scps_netif_send(nif->lower, pkt);

    if (rc != SCPS_ERR_AGAIN)
        record(t, pkt, now, nif->lower->flags & SCPS_NETIF_NO_CSUM);
    return rc;
}

static int tap_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    record((struct tap *)nif, pkt, pkt->at, pkt->csum_ok);
    return scps_netif_recv(nif, pkt);
}

static void tap_close(struct scps_netif *nif)
{
    struct tap *t = (struct tap *)nif;

    fclose(t->f);
    free(t->buffer);
    free(t);
}

static const struct scps_netif_ops tap_ops = {"tap", tap_send, tap_recv, tap_close};

struct scps_netif *scps_tap_open(const char *path, uint32_t snaplen, scps_time epoch,
                                 scps_time (*now)(void *ctx), void *ctx, char *msg, size_t msglen)
{
    struct tap *t = calloc(1, sizeof *t);
    uint8_t head[24];

    if (t)
        t->buffer = malloc(BUFFER);
    if (!t || !t->buffer) {
        snprintf(msg, msglen, "capture '%s': out of memory", path);
        goto fail;
    }
    t->f = fopen(path, "wb");
    if (!t->f) {
        snprintf(msg, msglen, "cannot write the capture '%s': %s: write elsewhere", path,
                 strerror(errno));
        goto fail;
    }
    setvbuf(t->f, t->buffer, _IOFBF, BUFFER);
    t->nif.ops = &tap_ops;
    t->nif.name = "tap";
    t->snaplen = snaplen == 0 || snaplen > MAX_RECORD ? MAX_RECORD : snaplen;
    t->epoch = epoch;
    t->now = now;
    t->ctx = ctx;

    le32(head, MAGIC_US);
    le16(head + 4, 2); /* version of the format: 2.4 */
    le16(head + 6, 4);
    memset(head + 8, 0, 8);
    le32(head + 16, t->snaplen);
    le32(head + 20, LINKTYPE_RAW);
    put_octets(t, head, sizeof head);
    return &t->nif;

fail:
    if (t)
        free(t->buffer);
    free(t);
    return NULL;
}

int scps_tap_error(const struct scps_netif *nif)
{
    struct tap *t = (struct tap *)(uintptr_t)nif;

    if (t->err == 0 && fflush(t->f) != 0)
        t->err = errno ? errno : EIO;
    if (t->err == 0)
        return 0;
    errno = t->err;
    return SCPS_ERR_SYSTEM;
}
