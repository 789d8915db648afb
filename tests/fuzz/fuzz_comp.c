/* SPDX-License-Identifier: MIT */
/* Fuzz target: the parser of compressed headers (wire/comp.c) on arbitrary octets.
 *
 * The first octet of the input says what the receiver knows and how much of a packet lies apart;
 * compressed packets of one connection follow, each behind an octet with its length. What is parsed
 * must lie inside the input; built again (unless it needs a TCP header) it must parse to the same
 * values. Fields that a packet leaves out are filled from those before it.
 */
#include <scps/comp.h>
#include <string.h>

#include "base/bytes.h"
#include "fuzz.h"

static void said_again(const struct scps_seg *s)
{
    uint8_t p[SCPS_COMP_MAX];
    struct scps_comp_tx tx;
    struct scps_comp_rx rx = {
        .known = true, .ts = s->has & SCPS_HAS_TS, .next = s->seq, .ack = ~s->ack, .wnd = 1};
    struct scps_seg t;
    bool acked;

    scps_comp_tx_init(&tx, 9, s->seq & 3, false);
    size_t n = scps_comp_build(p, &tx, s, &acked);
    if (s->flags & SCPS_RST) {
        MUST(n == 0);
        return;
    }
    MUST(n >= 8 && n <= SCPS_COMP_MAX && n % 2 == 0 && acked);
    MUST(scps_comp_parse(p, n, n + s->len, &rx, &t) == 0);
    MUST(t.hdr_len == n && t.len == s->len && t.flags == s->flags && t.seq == s->seq);
    MUST(t.ack == s->ack && t.wnd == s->wnd);
    MUST(!(s->flags & SCPS_URG) || t.urg == s->urg);
    MUST((t.has & ~s->has) == 0);
    MUST((t.has & SCPS_HAS_TS) == (s->has & SCPS_HAS_TS));
    MUST(!(t.has & SCPS_HAS_TS) || (t.tsval == s->tsval && t.tsecr == s->tsecr));
    MUST(!(t.has & SCPS_HAS_SACK) || !memcmp(t.sack, s->sack, t.nsack * sizeof *t.sack));
    if (t.has & SCPS_HAS_SNACK)
        MUST(t.snack_off == s->snack_off && t.snack_size == s->snack_size &&
             t.snack_vec_len == s->snack_vec_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct scps_addr a = {4, {10, 0, 0, 1}}, b = {4, {10, 0, 0, 2}};
    struct scps_comp_rx rx = {.known = false};

    if (!size)
        return 0;
    uint8_t how = *data++;
    size--;
    if (how & 1) {
        struct scps_seg syn = {.flags = SCPS_SYN | SCPS_ACK,
                               .has = how & 2 ? SCPS_HAS_TS : 0,
                               .seq = 0xfffffff0u,
                               .ack = 1};
        scps_comp_learn(&rx, &syn);
    }
    while (size) {
        size_t len = SCPS_MIN(*data, size - 1), apart = how & 4 ? len / 2 : 0;
        const uint8_t *p = data + 1;
        struct scps_comp_rx before = rx;
        struct scps_seg s;

        data += 1 + len;
        size -= 1 + len;
        int err = scps_comp_parse(p, len - apart, len, &rx, &s);
        MUST(!memcmp(&before, &rx, sizeof rx));
        MUST(err == 0 || err == SCPS_DROP_TRUNCATED || err == SCPS_DROP_BAD_COMPRESSED);
        scps_comp_proto(&a, &b, p, len, NULL, 0);
        if (err)
            continue;
        MUST(rx.known);
        MUST(s.hdr_len >= 4 && s.hdr_len <= len - apart && s.hdr_len + s.len == len);
        MUST(!s.data || (s.data == p + s.hdr_len && !apart));
        MUST(s.flags & SCPS_ACK && !(s.flags & SCPS_SYN));
        MUST(s.nsack <= SCPS_SACK_MAX && s.snack_vec_len <= SCPS_SNACK_VEC_MAX);
        said_again(&s);
        scps_comp_learn(&rx, &s);
        MUST((int32_t)(rx.next - before.next) >= 0 && rx.ack == s.ack);
    }
    return 0;
}
