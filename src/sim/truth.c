/* SPDX-License-Identifier: MIT */
/* Formats the ground-truth log, one line for each packet whose fate on a simulated link has been
 * decided; the caller writes the file (docs/SCPS_TRACE.md, "The ground-truth log").
 *
 * The columns seq and payload are 0 for a packet that is not TCP, the ports are 0 for one that is
 * neither TCP nor UDP. The column arrive_us is empty for a packet that does not arrive; copies is 2
 * for a packet that was duplicated.
 */
#include <scps/sim.h>
#include <scps/wire.h>

#include <inttypes.h>
#include <stdio.h>

struct fields {
    char src[SCPS_ADDR_STRLEN], dst[SCPS_ADDR_STRLEN];
    uint16_t sport, dport;
    uint32_t seq, payload;
    uint8_t proto;
};

static void read_packet(const struct scps_pkt *pkt, struct fields *out)
{
    size_t all = pkt->len + pkt->payload_len;
    struct scps_ip ip;
    struct scps_seg s;

    *out = (struct fields){.src = ""};
    if (scps_ip_parse(pkt->data, pkt->len, all, &ip) != 0)
        return;
    scps_addr_format(&ip.src, out->src);
    scps_addr_format(&ip.dst, out->dst);
    out->proto = ip.proto;
    const uint8_t *p = pkt->data + ip.hdr_len;
    if (ip.frag_off || pkt->len < ip.hdr_len + 4u || ip.total_len < ip.hdr_len + 4u)
        return;
    if (ip.proto == SCPS_IPPROTO_TCP || ip.proto == 17) {
        out->sport = (uint16_t)(p[0] << 8 | p[1]);
        out->dport = (uint16_t)(p[2] << 8 | p[3]);
    }
    if (ip.proto == SCPS_IPPROTO_TCP &&
        scps_tcp_parse(p, pkt->len - ip.hdr_len, ip.total_len - ip.hdr_len, &s) == 0) {
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
    return v->copy != SCPS_NEVER ? "duplicated" : v->reordered ? "reordered" : "delivered";
}

size_t scps_truth_line(const struct scps_verdict *v, int dir, scps_time epoch,
                       char buf[SCPS_TRUTH_LINELEN])
{
    char arrive[24] = "";
    struct fields f;
    int n;

    read_packet(v->pkt, &f);
    if (v->arrival != SCPS_NEVER)
        snprintf(arrive, sizeof arrive, "%" PRId64, v->arrival + epoch);
    n = snprintf(
        buf, SCPS_TRUTH_LINELEN,
        "%" PRId64 ",%s,%" PRIu64 ",%s,%s,%zu,%s,%s,%u,%u,%" PRIu32 ",%" PRIu32 ",%s,%d,%d,%u\n",
        v->offered + epoch, dir ? "b2a" : "a2b", v->number, fate(v),
        v->fate == SCPS_FATE_DELIVERED ? "none" : scps_fate_name(v->fate),
        v->pkt->len + v->pkt->payload_len, f.src, f.dst, f.sport, f.dport, f.seq, f.payload, arrive,
        v->arrival == SCPS_NEVER ? 0 : 1 + (v->copy != SCPS_NEVER), v->reordered, f.proto);
    return (size_t)n;
}
