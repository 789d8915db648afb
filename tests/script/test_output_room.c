/* SPDX-License-Identifier: MIT */
/* scps_stack_output() with too little room: packets have the same octets in one piece or two, too
 * little room returns an error of its own, and what was due stays due. The buffer has exactly the
 * given size, so that the sanitizer detects an octet too many. */
#include <scps/dgram.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

#define MOST 1500u

/* Makes segments, an acknowledgement, a reset, an echo reply longer than any headers, and a
 * datagram due at the same time. */
static struct script *due(uint8_t version, scps_dur *at)
{
    struct script *t = script_new(version);
    struct scps_dgram *d;
    struct scps_endpoint to;
    uint8_t p[1200] = {0};
    struct scps_ip ip;
    size_t hdr = version == 4 ? 20 : 40, n;

    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    *at = MS(200);
    script_run(t, *at);
    for (size_t i = 0; i < 2500; i++)
        p[i % sizeof p] = (uint8_t)i;
    assert_int_equal(scps_conn_write(t->c, p, 1100, 0), 1100);
    d = scps_dgram_open(t->st, NULL, NULL, NULL);
    to = t->them;
    assert_int_equal(scps_dgram_send(d, &to, p, 700, 0), 0);
    ip = (struct scps_ip){.src = t->them.addr,
                          .dst = t->us.addr,
                          .version = version,
                          .proto = version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6,
                          .ttl = 64};
    /* The test builds an echo reply and changes it into a request. */
    struct scps_icmp m = {.body = p + 100, .body_len = 900};
    struct scps_ip turned = ip;
    turned.src = ip.dst;
    turned.dst = ip.src;
    uint8_t packet[1200];
    n = scps_icmp_build_echo_reply(packet + hdr, &turned, &m);
    packet[hdr] = version == 4 ? 8 : 128; /* The checksum changes accordingly. */
    uint32_t sum = (uint32_t)(packet[hdr + 2] << 8 | packet[hdr + 3]);
    /* The type changes from 0 to 8 (IPv4), or from 129 to 128 (IPv6). */
    uint32_t less = version == 4 ? 0x0800 : 0x0100;
    sum = version == 4 ? sum + 0xffff - less : sum + less;
    sum = (sum & 0xffff) + (sum >> 16);
    packet[hdr + 2] = (uint8_t)(sum >> 8);
    packet[hdr + 3] = (uint8_t)sum;
    scps_ip_build(packet, &ip, n);
    struct scps_pkt in = {.data = packet, .len = hdr + n, .at = scps_stack_now(t->st)};
    assert_int_equal(scps_stack_input(t->st, &t->nif, &in), 0);
    return t;
}

/* Takes all packets that are sent now, with room for cap octets each. Returns their number, and in
 * *bytes their octets. */
static unsigned take(struct script *t, size_t cap, uint8_t *bytes, size_t *len)
{
    unsigned packets = 0;
    int did;

    *len = 0;
    do {
        uint8_t *room = malloc(cap ? cap : 1);
        struct scps_pkt out = {.data = room, .cap = cap};
        did = scps_stack_output(t->st, &t->nif, scps_stack_now(t->st), &out);
        if (did == 1) {
            assert_true(out.data == room && out.len <= cap);
            memcpy(bytes + *len, out.data, out.len);
            *len += out.len;
            if (out.payload_len)
                memcpy(bytes + *len, out.payload, out.payload_len);
            *len += out.payload_len;
            packets++;
        }
        free(room);
    } while (did == 1);
    assert_int_equal(did, cap < SCPS_MAX_HEADERS ? SCPS_ERR_ROOM : 0);
    return packets;
}

static void the_same_in_every_room(void **x)
{
    uint8_t version = (uint8_t)(uintptr_t)*x;
    static uint8_t whole[16384], got[16384];
    size_t n, m;
    scps_dur at;
    struct script *t = due(version, &at);
    unsigned packets = take(t, 65536, whole, &n);

    assert_int_equal(packets, 4); /* The packets are two segments, a datagram and an echo reply. */
    script_free(t);
    for (size_t cap = 0; cap <= MOST; cap++) {
        t = due(version, &at);
        if (take(t, cap, got, &m) == 0) { /* No packet was sent, so all packets are still due. */
            assert_true(cap < SCPS_MAX_HEADERS && m == 0);
            assert_true(scps_stack_deadline(t->st) <= scps_stack_now(t->st));
            assert_int_equal(take(t, SCPS_MAX_HEADERS, got, &m), packets);
        }
        assert_true(m == n && memcmp(got, whole, n) == 0);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"the_same_in_every_room_4", the_same_in_every_room, NULL, NULL, (void *)4},
        {"the_same_in_every_room_6", the_same_in_every_room, NULL, NULL, (void *)6},
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
