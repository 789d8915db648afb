/* SPDX-License-Identifier: MIT */
/* Prints a packet on one line, similar to tcpdump, with the options of SCPS-TP in words:
 *
 *      10.0.0.1.5001 > 10.0.0.2.5001: Flags [S], seq 1, win 32767, options [caps snack1 id 0,
 *      mss 1432,nop,wscale 0,nop,nop,TS val 7 ecr 0], length 0
 *
 * Options are printed in their order in the packet, so the line also shows the layout. Sequence
 * numbers are absolute. A line that does not fit is cut; it always ends with a zero octet.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "wire/opt.h"

#include <stdarg.h>

struct line {
    char *o;
    size_t left; /* room that is left in the buffer, bytes, the final zero included */
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(struct line *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(l->o, l->left, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : SCPS_MIN((size_t)n, l->left - 1);
    l->o += used;
    l->left -= used;
}

char *scps_print_flags(uint16_t flags, char *buf)
{
    static const char letter[8] = {'F', 'S', 'R', 'P', '.', 'U', 'E', 'W'};
    char *o = buf;
    for (int i = 0; i < 8; i++)
        if (flags >> i & 1)
            *o++ = letter[i];
    /* "-" stands for a segment without flags. */
    if (o == buf)
        *o++ = '-';
    *o = '\0';
    /* The dot that stands for ACK is moved to the end, as tcpdump prints it. */
    char *dot = strchr(buf, '.');
    if (dot) {
        memmove(dot, dot + 1, (size_t)(o - dot));
        o[-1] = '.';
    }
    return buf;
}

static void print_caps(struct line *l, const uint8_t *body)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } cap[] = {{SCPS_CAP_BETS, "bets"},
               {SCPS_CAP_SNACK1, "snack1"},
               {SCPS_CAP_SNACK2, "snack2"},
               {SCPS_CAP_COM, "com"},
               {SCPS_CAP_NLTS, "nlts"}};
    add(l, "caps");
    for (size_t i = 0; i < sizeof cap / sizeof *cap; i++)
        if (body[0] & cap[i].bit)
            add(l, " %s", cap[i].name);
    if (body[0] & 7)
        add(l, " reserved %u", body[0] & 7u);
    add(l, " id %u", body[1]);
}

static void print_hex(struct line *l, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        add(l, "%02x", p[i]);
}

static void print_option(struct line *l, uint8_t kind, const uint8_t *body, size_t n)
{
    if (kind == SCPS_OPT_MSS && n == 4) {
        add(l, "mss %u", scps_get16(body));
    } else if (kind == SCPS_OPT_WSCALE && n == 3) {
        add(l, "wscale %u", body[0]);
    } else if (kind == SCPS_OPT_SACK_OK && n == 2) {
        add(l, "sackOK");
    } else if (kind == SCPS_OPT_SACK && n >= 10 && n % 8 == 2) {
        add(l, "sack %zu ", n / 8);
        for (size_t at = 0; at < n - 2; at += 8)
            add(l, "{%u:%u}", (unsigned)scps_get32(body + at), (unsigned)scps_get32(body + at + 4));
    } else if (kind == SCPS_OPT_TS && n == 10) {
        add(l, "TS val %u ecr %u", (unsigned)scps_get32(body), (unsigned)scps_get32(body + 4));
    } else if (kind == SCPS_OPT_CAPS && n == 4) {
        print_caps(l, body);
    } else if (kind == SCPS_OPT_CAPS && n > 4) {
        add(l, "xcaps 0x");
        print_hex(l, body, n - 2);
    } else if (kind == SCPS_OPT_SNACK && n >= 6) {
        add(l, "snack %u+%u", scps_get16(body), scps_get16(body + 2));
        if (n > 6) {
            add(l, " vec 0x");
            print_hex(l, body + 4, n - 6);
        }
    } else if (kind == SCPS_OPT_RECORD && n == 2) {
        add(l, "record");
    } else if (kind == SCPS_OPT_CORRUPTION && n == 2) {
        add(l, "corruption");
    } else {
        add(l, "unknown-%u", kind);
        if (n > 2) {
            add(l, " 0x");
            print_hex(l, body, n - 2);
        }
    }
}

static void print_options(struct line *l, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;
    const char *sep = "";

    add(l, ", options [");
    while (p < end) {
        add(l, "%s", sep);
        sep = ",";
        if (*p == OPT_END) {
            add(l, "eol");
            break;
        }
        if (*p == OPT_NOP) {
            add(l, "nop");
            p++;
            continue;
        }
        if (end - p < 2 || p[1] < 2 || p[1] > end - p) {
            add(l, "bad opt");
            break;
        }
        print_option(l, p[0], p + 2, p[1]);
        p += p[1];
    }
    add(l, "]");
}

static void print_flow(struct line *l, const struct scps_ip *ip, unsigned sport, unsigned dport)
{
    char a[SCPS_ADDR_STRLEN], b[SCPS_ADDR_STRLEN];
    add(l, "%s.%u > %s.%u: ", scps_addr_format(&ip->src, a), sport, scps_addr_format(&ip->dst, b),
        dport);
}

static void print_hosts(struct line *l, const struct scps_ip *ip)
{
    char a[SCPS_ADDR_STRLEN], b[SCPS_ADDR_STRLEN];
    add(l, "%s > %s: ", scps_addr_format(&ip->src, a), scps_addr_format(&ip->dst, b));
}

static bool print_tcp(struct line *l, const struct scps_ip *ip, const uint8_t *p, size_t avail,
                      size_t len)
{
    struct scps_seg s;
    char flags[10];

    if (scps_tcp_parse(p, avail, len, &s))
        return false;
    print_flow(l, ip, s.sport, s.dport);
    add(l, "Flags [%s], seq %u", scps_print_flags(s.flags, flags), (unsigned)s.seq);
    if (s.len)
        add(l, ":%u", (unsigned)(s.seq + s.len));
    if (s.flags & SCPS_ACK)
        add(l, ", ack %u", (unsigned)s.ack);
    add(l, ", win %u", s.wnd);
    if (s.flags & SCPS_URG)
        add(l, ", urg %u", s.urg);
    if (s.hdr_len > 20)
        print_options(l, p + 20, s.hdr_len - 20u);
    add(l, ", length %u", (unsigned)s.len);
    return true;
}

static bool print_icmp(struct line *l, const struct scps_ip *ip, const uint8_t *p, size_t len)
{
    static const char *const name[] = {"type",
                                       "echo request",
                                       "echo reply",
                                       "net unreachable",
                                       "host unreachable",
                                       "protocol unreachable",
                                       "port unreachable",
                                       "administratively prohibited",
                                       "too big",
                                       "time exceeded",
                                       "parameter problem"};
    struct scps_icmp m;
    int why = scps_icmp_parse(ip, p, len, &m);

    if (why) {
        print_hosts(l, ip);
        add(l, "ICMP %s", scps_drop_name((enum scps_drop)why));
        return true;
    }
    print_hosts(l, ip);
    add(l, "ICMP%s %s", ip->version == 6 ? "6" : "", name[m.kind]);
    if (m.kind == SCPS_ICMP_OTHER)
        add(l, " %u code %u", m.type, m.code);
    if (m.kind == SCPS_ICMP_TOO_BIG)
        add(l, ", mtu %u", (unsigned)m.mtu);
    if (m.has_quote) {
        add(l, " (");
        print_flow(l, &m.quote, m.sport, m.dport);
        add(l, "seq %u)", (unsigned)m.seq);
    }
    return true;
}

char *scps_print_packet(const uint8_t *p, size_t len, char *buf, size_t cap)
{
    struct line l = {buf, cap};
    struct scps_ip ip;

    if (!cap)
        return buf;
    buf[0] = '\0';
    /* Only the headers are parsed: the payload may be stored elsewhere, or not at all (only its
     * octets are counted). */
    int why = scps_ip_parse(p, len, SIZE_MAX, &ip);
    if (why) {
        add(&l, "[%s] length %zu", scps_drop_name((enum scps_drop)why), len);
        return buf;
    }
    const uint8_t *t = p + ip.hdr_len;
    size_t total = ip.total_len > ip.hdr_len ? ip.total_len - ip.hdr_len : 0;
    size_t avail = SCPS_MIN(len - ip.hdr_len, total);
    if (ip.frag_off || ip.more_frags) {
        print_hosts(&l, &ip);
        add(&l, "fragment of protocol %u, id %u, offset %u%s, length %zu", ip.proto,
            (unsigned)ip.id, ip.frag_off, ip.more_frags ? "+" : "", total);
        return buf;
    }
    bool done = false;
    if (ip.proto == SCPS_IPPROTO_TCP || ip.proto == SCPS_IPPROTO_SCPS_TP) {
        done = print_tcp(&l, &ip, t, avail, total);
    } else if (ip.proto == SCPS_IPPROTO_UDP && avail >= 8) {
        print_flow(&l, &ip, scps_get16(t), scps_get16(t + 2));
        add(&l, "UDP, length %u", scps_get16(t + 4) - 8);
        done = true;
    } else if (ip.proto == (ip.version == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP)) {
        done = avail == total && print_icmp(&l, &ip, t, avail);
    }
    if (!done) {
        print_hosts(&l, &ip);
        add(&l, "protocol %u, length %zu", ip.proto, total);
    }
    if (ip.tos & 3)
        add(&l, ", %s", (ip.tos & 3) == SCPS_ECN_CE ? "CE" : "ECT");
    return buf;
}
