/* SPDX-License-Identifier: MIT */
/* Fuzz target: every parser of src/wire on arbitrary octets.
 *
 * The first octet of the input says what follows: an IP packet (checksums unchanged), a TCP
 * segment, an ICMP message or a UDP datagram of either IP version (their checksums are made right,
 * because otherwise no input would pass them), or an IP packet to print. The second octet says how
 * much of it lies apart. What is parsed must lie inside the input; built again, it must parse to
 * the same values.
 */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"

static void same_options(const struct scps_seg *s)
{
    uint8_t p[60];
    struct scps_seg t;
    size_t n = scps_tcp_build(p, s);

    MUST(n == scps_tcp_hdr_len(s));
    MUST(n >= 20 && n <= 60 && n % 4 == 0);
    MUST(scps_tcp_parse(p, n, n, &t) == 0);
    MUST(t.seq == s->seq && t.ack == s->ack && t.flags == s->flags && t.wnd == s->wnd);
    MUST(t.sport == s->sport && t.dport == s->dport && t.urg == s->urg);
    MUST((t.has & ~s->has) == 0);
    const uint16_t always =
        SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_CAPS;
    MUST((t.has & always) == (s->has & always));
    MUST(!(t.has & SCPS_HAS_MSS) || t.mss == s->mss);
    MUST(!(t.has & SCPS_HAS_WSCALE) || t.wscale == s->wscale);
    MUST(!(t.has & SCPS_HAS_TS) || (t.tsval == s->tsval && t.tsecr == s->tsecr));
    MUST(!(t.has & SCPS_HAS_CAPS) || (t.caps == s->caps && t.conn_id == s->conn_id));
    if (t.has & SCPS_HAS_SACK) {
        MUST(t.nsack && t.nsack <= s->nsack);
        MUST(!memcmp(t.sack, s->sack, t.nsack * sizeof *t.sack));
    }
    if (t.has & SCPS_HAS_SNACK) {
        MUST(t.snack_off == s->snack_off && t.snack_size == s->snack_size);
        MUST(t.snack_vec_len <= s->snack_vec_len);
        MUST(!memcmp(t.snack_vec, s->snack_vec, t.snack_vec_len));
    }
}

static void tcp(const struct scps_ip *ip, const uint8_t *p, size_t avail, size_t len)
{
    struct scps_seg s;

    if (scps_tcp_parse(p, avail, len, &s))
        return;
    MUST(s.hdr_len >= 20 && s.hdr_len <= avail && s.hdr_len + s.len == len);
    MUST(!s.data || (s.data == p + s.hdr_len && avail >= len));
    MUST(s.nsack <= SCPS_SACK_MAX && s.snack_vec_len <= SCPS_SNACK_VEC_MAX);
    if (s.has & SCPS_HAS_XCAPS)
        MUST(s.xcaps >= p + 20 && s.xcaps + s.xcaps_len <= p + s.hdr_len);
    same_options(&s);
    scps_tcp_checksum(&ip->src, &ip->dst, p, s.hdr_len, s.data, s.len);
}

static void udp(const struct scps_ip *ip, const uint8_t *p, size_t len)
{
    struct scps_udp u;

    if (scps_udp_parse(ip, p, len, &u))
        return;
    MUST(u.data == p + 8 && u.len <= len - 8);
}

static void icmp(const struct scps_ip *ip, const uint8_t *p, size_t len)
{
    struct scps_icmp m;

    if (scps_icmp_parse(ip, p, len, &m))
        return;
    MUST(!m.body_len || (m.body == p + 4 && m.body_len == len - 4));
    MUST(!m.has_quote || (m.quote.version == ip->version && m.quote.hdr_len + 16 <= len));
    if (m.kind == SCPS_ICMP_ECHO) {
        uint8_t *reply = malloc(4 + m.body_len);
        struct scps_icmp r;
        if (!reply)
            return;
        MUST(scps_icmp_build_echo_reply(reply, ip, &m) == len);
        MUST(scps_icmp_parse(ip, reply, len, &r) == 0 && r.kind == SCPS_ICMP_ECHO_REPLY);
        free(reply);
    }
}

static void packet(const uint8_t *p, size_t avail, size_t total)
{
    struct scps_ip ip;
    uint8_t answer[1300];

    if (scps_ip_parse(p, avail, total, &ip))
        return;
    MUST(ip.hdr_len <= avail && ip.hdr_len <= ip.total_len && ip.total_len <= total);
    const uint8_t *t = p + ip.hdr_len;
    size_t len = ip.total_len - ip.hdr_len, here = SCPS_MIN(avail - ip.hdr_len, len);
    tcp(&ip, t, here, len);
    if (here == len) {
        udp(&ip, t, len);
        icmp(&ip, t, len);
    }
    size_t n =
        scps_icmp_build_port_unreach(answer, sizeof answer, &ip, p, SCPS_MIN(avail, ip.total_len));
    struct scps_icmp m;
    MUST(n >= 8 && scps_icmp_parse(&ip, answer, n, &m) == 0);
    MUST(m.kind == SCPS_ICMP_UNREACH_PORT);
}

static void print(const uint8_t *p, size_t len, size_t cap)
{
    char line[2048];

    line[cap] = 'x';
    MUST(scps_print_packet(p, len, line, cap) == line);
    MUST(line[cap] == 'x');
    MUST(!cap || memchr(line, 0, cap));
}

/* Returns a copy of exactly its size, with the right transport checksum at offset `at`. */
static uint8_t *sealed(const struct scps_ip *ip, const uint8_t *p, size_t len, size_t at,
                       size_t covered)
{
    uint8_t *copy = malloc(len);

    if (!copy)
        return NULL;
    memcpy(copy, p, len);
    scps_put16(copy + at, 0);
    uint64_t sum = scps_cksum_add(0, copy, covered);
    if (ip->proto != SCPS_IPPROTO_ICMP)
        sum = scps_cksum_pseudo(sum, &ip->src, &ip->dst, ip->proto, (uint32_t)covered);
    scps_put16(copy + at, scps_cksum_fold(sum));
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scps_ip ip = {.src = {4, {192, 0, 2, 1}}, .dst = {4, {192, 0, 2, 2}}, .version = 4};
    uint8_t *copy = NULL;

    if (size < 2)
        return 0;
    unsigned what = data[0] % 8, apart = data[1];
    const uint8_t *p = data + 2;
    size_t len = size - 2;

    if (what % 2 && what < 6) {
        ip.version = ip.src.family = ip.dst.family = 6;
        ip.src.b[15] = 1;
        ip.dst.b[15] = 2;
    }
    switch (what) {
    case 0: /* The packet is parsed as it is. */
    case 1: /* The octets are repeated, and the second half lies apart. */
        packet(p, len, len + apart);
        break;
    case 2:
    case 3: /* The octets are an ICMP message. */
        ip.proto = what == 2 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6;
        if (len >= 4 && (copy = sealed(&ip, p, len, 2, len)))
            icmp(&ip, copy, len);
        break;
    case 4:
    case 5: /* The octets are a UDP datagram. */
        ip.proto = SCPS_IPPROTO_UDP;
        if (len >= 8) {
            size_t n = scps_get16(p + 4);
            if ((copy = sealed(&ip, p, len, 6, SCPS_MIN(n, len))))
                udp(&ip, copy, len);
        }
        break;
    case 6: /* The octets are a TCP segment, whose payload may lie apart. */
        tcp(&ip, p, len, len + apart);
        break;
    case 7:
        print(p, len, apart * 4u);
        break;
    }
    free(copy);
    return 0;
}
