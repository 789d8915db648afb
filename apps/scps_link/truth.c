/* SPDX-License-Identifier: MIT */
/* The ground-truth log, as scps_trace --truth reads it (docs/TRACE.md, "The ground-truth log").
 *
 * Behind the columns documented there come four of our own: arrive_us, when the packet arrives at the other end (empty
 * when it does not; behind the end of the run for those still on the way), copies (2 when it was duplicated), reordered
 * (1 when it was held back) and proto, the IP protocol.  seq and payload are 0 for anything but TCP.
 *
 * A failed write ends the log, not the link; closing tells.
 */
#include "scps_link/truth.h"
#include "scps_link/spool.h"

#include <scps/wire.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (256u << 10)

struct truth {
    FILE *f;
    char *buffer;
    struct spool spool;
    scps_time epoch;
    uint64_t count[2];
    int err;
};

static void truth_free(struct truth *t)
{
    if (t) {
        free(t->buffer);
        free(t);
    }
}

struct truth *truth_open(const char *path, scps_time epoch, char *msg, size_t msglen)
{
    struct truth *t = calloc(1, sizeof *t);

    if (!t || !(t->buffer = malloc(BUFFER))) {
        snprintf(msg, msglen, "out of memory");
        truth_free(t);
        return NULL;
    }
    t->epoch = epoch;
    if (spool_open(&t->spool, path, msg, msglen) != 0) {
        truth_free(t);
        return NULL;
    }
    t->f = fopen(spool_name(&t->spool), "we");
    spool_opened(&t->spool);
    if (!t->f) {
        snprintf(msg, msglen, "--truth %s: %s: is /proc mounted?", path, strerror(errno));
        char unused[8];
        (void)spool_close(&t->spool, unused, sizeof unused);
        truth_free(t);
        return NULL;
    }
    setvbuf(t->f, t->buffer, _IOFBF, BUFFER);
    fputs("time_us,direction,packet_no,fate,cause,ip_len,src,dst,sport,dport,seq,payload,"
          "arrive_us,copies,reordered,proto\n",
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

static const char *fate(const struct scps_verdict *v)
{
    if (v->arrival == SCPS_NEVER)
        return "lost";
    if (v->fate == SCPS_FATE_FLIPPED)
        return "flipped";
    return v->duplicated ? "duplicated" : v->reordered ? "reordered" : "delivered";
}

void truth_row(struct truth *t, scps_time at, int dir, const struct scps_pkt *pkt,
               const struct scps_verdict *v)
{
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
    if (fprintf(t->f,
                "%" PRId64 ",%s,%" PRIu64 ",%s,%s,%zu,%s,%s,%u,%u,%" PRIu32 ",%" PRIu32
                ",%s,%d,%d,%u\n",
                at + t->epoch, dir ? "b2a" : "a2b", ++t->count[dir], fate(v),
                v->fate == SCPS_FATE_DELIVERED ? "none" : scps_fate_name(v->fate), pkt->len, src,
                dst, tcp.sport, tcp.dport, tcp.seq, tcp.payload, arrive,
                v->arrival == SCPS_NEVER ? 0 : 1 + v->duplicated, v->reordered, ip.proto) < 0)
        t->err = errno ? errno : EIO;
}

int truth_close(struct truth *t, char *msg, size_t msglen)
{
    int rc;

    if (!t)
        return 0;
    if (fclose(t->f) != 0 && t->err == 0)
        t->err = errno;
    if (t->err)
        snprintf(msg, msglen, "%s: %s: it ends there", t->spool.path, strerror(t->err));
    rc = t->err ? -1 : 0;
    if (spool_close(&t->spool, msg, msglen) != 0)
        rc = -1;
    truth_free(t);
    return rc;
}
