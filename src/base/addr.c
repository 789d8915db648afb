/* SPDX-License-Identifier: MIT */
/* Parses and formats addresses, without the C library's resolver.
 *
 * IPv4 is four decimal numbers without leading zeros, which some parsers would take for octal. IPv6
 * is read as in RFC 4291 section 2.2, in all three forms, and written as in RFC 5952 section 4,
 * with the dotted quad of RFC 5952 section 5 if the address is an IPv4-mapped one. Zone identifiers
 * (%eth0) are not part of addresses and are refused. An address with family 0 is written "*".
 */
#include <scps/error.h>
#include <scps/types.h>
#include <string.h>

/* Parses string s, which must be an IPv4 address as a dotted quad and nothing else, into the 4
 * octets at b. Returns false if it is not. */
static bool parse4(const char *s, uint8_t *b)
{
    for (int i = 0; i < 4; i++) {
        unsigned v = 0, digits = 0;
        for (; *s >= '0' && *s <= '9'; s++, digits++) {
            if (digits && v == 0)
                return false;
            v = v * 10 + (unsigned)(*s - '0');
            if (v > 255)
                return false;
        }
        if (!digits || *s != (i < 3 ? '.' : '\0'))
            return false;
        s++;
        b[i] = (uint8_t)v;
    }
    return true;
}

static int hexval(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool parse6(const char *s, uint8_t *b)
{
    /* n: number of octets written so far; gap: index of the octet at which "::" stands, -1 if there
     * is none */
    int n = 0, gap = -1;

    if (s[0] == ':') {
        if (s[1] != ':')
            return false;
        s += 2;
        gap = 0;
    }
    while (*s) {
        unsigned v = 0, digits = 0;
        const char *word = s;
        for (; hexval(*s) >= 0 && digits < 5; s++, digits++)
            v = v << 4 | (unsigned)hexval(*s);
        if (*s == '.') { /* The last 32 bits of the address are written as a dotted quad. */
            if (n > 12 || !parse4(word, b + n))
                return false;
            n += 4;
            break;
        }
        if (!digits || digits > 4 || n > 14)
            return false;
        b[n++] = (uint8_t)(v >> 8);
        b[n++] = (uint8_t)v;
        if (!*s)
            break;
        if (*s++ != ':' || !*s)
            return false;
        if (*s == ':') {
            if (gap >= 0)
                return false;
            gap = n;
            s++;
        }
    }
    if (gap < 0)
        return n == 16;
    if (n > 14) /* "::" must stand for at least one group of 16 bits. */
        return false;
    memmove(b + 16 - (n - gap), b + gap, (size_t)(n - gap));
    memset(b + gap, 0, (size_t)(16 - n));
    return true;
}

int scps_addr_parse(const char *text, struct scps_addr *a)
{
    struct scps_addr r = {0};

    if (!text)
        return SCPS_ERR_INVAL;
    r.family = strchr(text, ':') ? 6 : 4;
    if (!(r.family == 6 ? parse6(text, r.b) : parse4(text, r.b)))
        return SCPS_ERR_INVAL;
    *a = r;
    return 0;
}

/* Writes number v, at most 65535, at o to base 10 or 16, without leading zeros. Returns the end of
 * the text. */
static char *put_number(char *o, unsigned v, unsigned base)
{
    unsigned unit = 1;

    while (v / unit >= base)
        unit *= base;
    for (; unit != 0; unit /= base)
        *o++ = "0123456789abcdef"[v / unit % base];
    return o;
}

static char *put_quad(char *o, const uint8_t *b)
{
    for (int i = 0; i < 4; i++) {
        if (i)
            *o++ = '.';
        o = put_number(o, b[i], 10);
    }
    return o;
}

static char *put6(char *o, const uint8_t *b)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    int groups = memcmp(b, mapped, 12) ? 8 : 6;
    /* The longest run of zero groups is shortened, and of equally long ones the first; a single
     * zero group is not (RFC 5952 section 4.2). */
    int best = -1, best_len = 1;

    for (int i = 0; i < groups; i++) {
        int len = 0;
        while (i + len < groups && !b[2 * (i + len)] && !b[2 * (i + len) + 1])
            len++;
        if (len > best_len) {
            best = i;
            best_len = len;
        }
        i += len;
    }
    for (int i = 0; i < groups; i++) {
        if (i == best) {
            *o++ = ':';
            *o++ = ':';
            i += best_len - 1;
            continue;
        }
        if (i && i != best + best_len)
            *o++ = ':';
        o = put_number(o, (unsigned)b[2 * i] << 8 | b[2 * i + 1], 16);
    }
    if (groups == 6) {
        *o++ = ':';
        o = put_quad(o, b + 12);
    }
    return o;
}

char *scps_addr_format(const struct scps_addr *a, char *buf)
{
    char *o = buf;
    if (a->family == 4)
        o = put_quad(o, a->b);
    else if (a->family == 6)
        o = put6(o, a->b);
    else
        *o++ = '*';
    *o = '\0';
    return buf;
}

bool scps_addr_equal(const struct scps_addr *a, const struct scps_addr *b)
{
    return a->family == b->family && !memcmp(a->b, b->b, 16);
}

bool scps_addr_match(const struct scps_addr *a, const struct scps_addr *b, unsigned prefix)
{
    unsigned bits = a->family == 4 ? 32 : 128;
    if (a->family != b->family)
        return false;
    if (prefix > bits)
        prefix = bits;
    unsigned whole = prefix / 8, rest = prefix % 8;
    if (memcmp(a->b, b->b, whole))
        return false;
    return !rest || !((a->b[whole] ^ b->b[whole]) >> (8 - rest));
}
