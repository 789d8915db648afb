/* SPDX-License-Identifier: MIT */
/* The ground-truth log, as scps_trace --truth reads it (docs/TRACE.md).
 *
 *     time_us     when the packet was offered, us since 1970: the capture's clock
 *     dir         a2b or b2a
 *     fate        delivered, damaged (delivered with bits flipped), lost
 *     cause       of damage or loss: flip, ber, loss, queue; else empty
 *     arrive_us   when it arrives; empty when it does not
 *     copies      2 when it was duplicated; 0 when lost
 *     reordered   1 when it was held back
 *     len         bytes of the IP packet
 *     src dst proto sport dport seq payload      of TCP; seq and payload are 0 for anything else
 *
 * A failed write ends the log, not the link; closing tells.
 */
#include "scps_link/truth.h"

#include <scps/wire.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (256u << 10)

struct truth {
    FILE *f;
    char *path, *buffer;
    scps_time epoch;
    int err;
};

static void truth_free(struct truth *t)
{
    if (t) {
        free(t->path);
        free(t->buffer);
        free(t);
    }
}

struct truth *truth_open(const char *path, scps_time epoch, char *msg, size_t msglen)
{
    struct truth *t = calloc(1, sizeof *t);

    if (!t || !(t->path = strdup(path)) || !(t->buffer = malloc(BUFFER))) {
        snprintf(msg, msglen, "out of memory");
        truth_free(t);
        return NULL;
    }
    t->epoch = epoch;
    t->f = fopen(path, "we");
    if (!t->f) {
        snprintf(msg, msglen, "--truth %s: %s: give a file that can be written", path,
                 strerror(errno));
        truth_free(t);
        return NULL;
    }
    setvbuf(t->f, t->buffer, _IOFBF, BUFFER);
    fputs("time_us,dir,fate,cause,arrive_us,copies,reordered,len,src,dst,proto,sport,dport,seq,"
          "payload\n",
          t->f);
    return t;
}

struct tcp_fields {
    uint16_t sport, dport;
    uint32_t seq, payload;
};

static void read_ports(const struct scps_pkt *pkt, const struct scps_ip *ip, struct tcp_fields *out)
{
    const uint8_t *p = pkt->data + ip->hdr_len;
    struct scps_seg s;

    if (ip->frag_off || pkt->len < ip->hdr_len + 4u || ip->total_len < ip->hdr_len + 4u)
        return;
    if (ip->proto == SCPS_IPPROTO_TCP || ip->proto == 17) {
        out->sport = (uint16_t)(p[0] << 8 | p[1]);
        out->dport = (uint16_t)(p[2] << 8 | p[3]);
    }
    if (ip->proto == SCPS_IPPROTO_TCP &&
        scps_tcp_parse(p, pkt->len - ip->hdr_len, ip->total_len - ip->hdr_len, &s) == 0) {
        out->seq = s.seq;
        out->payload = s.len;
    }
}

void truth_row(struct truth *t, scps_time at, int dir, const struct scps_pkt *pkt,
               const struct scps_verdict *v)
{
    static const char *const fates[SCPS_FATE_COUNT] = {"delivered", "damaged", "lost", "lost",
                                                       "lost"};
    char src[SCPS_ADDR_STRLEN] = "", dst[SCPS_ADDR_STRLEN] = "", arrive[24] = "";
    struct tcp_fields tcp = {0};
    struct scps_ip ip = {0};

    if (t->err)
        return;
    if (scps_ip_parse(pkt->data, pkt->len, pkt->len, &ip) == 0) {
        scps_addr_format(&ip.src, src);
        scps_addr_format(&ip.dst, dst);
        read_ports(pkt, &ip, &tcp);
    }
    if (v->arrival != SCPS_NEVER)
        snprintf(arrive, sizeof arrive, "%" PRId64, v->arrival + t->epoch);
    if (fprintf(t->f, "%" PRId64 ",%s,%s,%s,%s,%d,%d,%zu,%s,%s,%u,%u,%u,%" PRIu32 ",%" PRIu32 "\n",
                at + t->epoch, dir ? "b2a" : "a2b", fates[v->fate],
                v->fate == SCPS_FATE_DELIVERED ? "" : scps_fate_name(v->fate), arrive,
                v->arrival == SCPS_NEVER ? 0 : 1 + v->duplicated, v->reordered, pkt->len, src, dst,
                ip.proto, tcp.sport, tcp.dport, tcp.seq, tcp.payload) < 0)
        t->err = errno ? errno : EIO;
}

int truth_close(struct truth *t, char *msg, size_t msglen)
{
    int err;

    if (!t)
        return 0;
    if (fclose(t->f) != 0 && t->err == 0)
        t->err = errno;
    err = t->err;
    if (err)
        snprintf(msg, msglen, "--truth %s: %s: the log ends there", t->path, strerror(err));
    truth_free(t);
    return err ? -1 : 0;
}
