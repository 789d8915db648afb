/* SPDX-License-Identifier: MIT */
/* Writes and parses the receiver's result (--tell), and computes the checksum in it. Four parts of
 * eight bytes each are multiplied independently, because each multiplication would otherwise wait
 * for the one before: the checksum costs about a tenth of a nanosecond a byte. */
#include "scps_ttcp/receipt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD "scps_ttcp-result 1 "

static uint64_t word_at(const uint8_t *p)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* Returns `lane`, one of the four parts of the checksum, with eight bytes of the stream (word)
 * mixed in. The factor is odd, so this is a bijection of lane for a given word, and of word for a
 * given lane: a change of one word always changes the checksum. */
static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return lane ^ lane >> 32;
}

static void add_block(uint64_t lane[4], const uint8_t *p)
{
    for (unsigned i = 0; i < 4; i++)
        lane[i] = mix(lane[i], word_at(p + 8 * i));
}

void ttcp_digest_add(struct ttcp_digest *s, const void *data, size_t len)
{
    const size_t block = sizeof(s->part);
    const uint8_t *p = data;
    size_t have = (size_t)(s->bytes % block), n;

    s->bytes += len;
    if (have != 0) {
        n = len < block - have ? len : block - have;
        memcpy(s->part + have, p, n);
        p += n;
        len -= n;
        if (have + n < block)
            return;
        add_block(s->lane, s->part);
    }
    for (; len >= block; p += block, len -= block)
        add_block(s->lane, p);
    if (len != 0)
        memcpy(s->part, p, len);
}

uint64_t ttcp_digest_value(const struct ttcp_digest *s)
{
    uint64_t lane[4], sum = mix(0, s->bytes);
    uint8_t last[sizeof(s->part)] = {0};

    memcpy(lane, s->lane, sizeof(lane));
    memcpy(last, s->part, (size_t)(s->bytes % sizeof(last)));
    add_block(lane, last);
    for (unsigned i = 0; i < 4; i++)
        sum = mix(sum, lane[i]);
    return sum;
}

size_t ttcp_receipt_print(char buf[TTCP_RECEIPT_LINE], const struct ttcp_receipt *t)
{
    int n =
        snprintf(buf, TTCP_RECEIPT_LINE,
                 HEAD "bytes=%" PRIu64 " missing=%" PRIu64 " us=%" PRId64 " segments=%" PRIu64
                      " out_of_order=%" PRIu64 " duplicate=%" PRIu64 " sum=%016" PRIx64 "\n",
                 t->bytes, t->missing, t->us, t->segments, t->out_of_order, t->duplicate, t->sum);

    return (size_t)n; /* Every number has at most 20 digits, so the line fits. */
}

/* Parses a text such as "bytes=123 " at *at: first `key`, which ends in '=', then digits of the
 * given base, whose value is stored in *out. Advances *at behind the one character that follows the
 * digits. Returns false if the text at *at has another form. */
static bool number(const char **at, const char *key, unsigned base, uint64_t *out)
{
    const size_t len = strlen(key);
    const char *p = *at + len;
    uint64_t v = 0;

    if (strncmp(*at, key, len) != 0)
        return false;
    *at = p;
    for (;; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                                                  : base;

        if (digit >= base)
            break;
        if (v > (UINT64_MAX - digit) / base)
            return false;
        v = v * base + digit;
    }
    if (p == *at || (*p != ' ' && *p != '\n'))
        return false;
    *at = p + 1;
    *out = v;
    return true;
}

bool ttcp_receipt_begins(const void *data, size_t n)
{
    const size_t len = strlen(HEAD);

    return n != 0 && memcmp(data, HEAD, n < len ? n : len) == 0;
}

bool ttcp_receipt_parse(const char *line, struct ttcp_receipt *t)
{
    struct ttcp_receipt got = {.there = true};
    uint64_t us;
    const char *at = line + strlen(HEAD);

    if (strncmp(line, HEAD, strlen(HEAD)) != 0 || !number(&at, "bytes=", 10, &got.bytes) ||
        !number(&at, "missing=", 10, &got.missing) || !number(&at, "us=", 10, &us) ||
        !number(&at, "segments=", 10, &got.segments) ||
        !number(&at, "out_of_order=", 10, &got.out_of_order) ||
        !number(&at, "duplicate=", 10, &got.duplicate) || !number(&at, "sum=", 16, &got.sum) ||
        us > INT64_MAX)
        return false;
    got.us = (scps_dur)us;
    *t = got;
    return true;
}
