/* SPDX-License-Identifier: MIT */
/* The capture tap: the octets that it writes to the file; a write that fails does not stop the
 * traffic. */
#define _POSIX_C_SOURCE 200809L /* declares mkstemp() */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/trace.h>
#include <scps/wire.h>

/* The chain is: upper end (keeps the packets that came up), tap, device (keeps the packets that
 * went down). */
struct end {
    struct scps_netif nif;
    unsigned packets;
    int refuse; /* The number of packets that the device still refuses with SCPS_ERR_AGAIN. */
};

static int end_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)nif;
    (void)pkt;
    if (e->refuse > 0) {
        e->refuse--;
        return SCPS_ERR_AGAIN;
    }
    e->packets++;
    return 0;
}

static int end_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)pkt;
    ((struct end *)nif)->packets++;
    return 0;
}

static void end_close(struct scps_netif *nif)
{
    (void)nif;
}

static int above_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    return scps_netif_send(nif->lower, pkt);
}

static const struct scps_netif_ops device_ops = {"device", end_send, NULL, end_close};
static const struct scps_netif_ops above_ops = {"above", above_send, end_recv, end_close};

static scps_time clock_us;

static scps_time now(void *ctx)
{
    (void)ctx;
    return clock_us;
}

struct chain {
    char path[64];
    struct end device, above;
    struct scps_netif *tap, *top;
};

static void chain_up(struct chain *c, const char *path, uint32_t snaplen, scps_time epoch,
                     unsigned device_flags)
{
    char msg[200] = "";

    memset(c, 0, sizeof *c);
    if (path) {
        snprintf(c->path, sizeof c->path, "%s", path);
    } else {
        snprintf(c->path, sizeof c->path, "/tmp/scps-tap-XXXXXX");
        int fd = mkstemp(c->path);
        assert_true(fd >= 0);
        fclose(fdopen(fd, "wb"));
    }
    c->device.nif = (struct scps_netif){
        .ops = &device_ops, .name = "device", .mtu = 1500, .flags = device_flags};
    c->above.nif = (struct scps_netif){.ops = &above_ops, .name = "above", .mtu = 1500};
    c->tap = scps_tap_open(c->path, snaplen, epoch, now, NULL, msg, sizeof msg);
    assert_non_null(c->tap);
    assert_string_equal(msg, "");
    c->top = scps_netif_push(scps_netif_push(&c->device.nif, c->tap), &c->above.nif);
}

/* Closes the chain and returns the octets of the file. */
static size_t chain_down(struct chain *c, uint8_t *buf, size_t cap)
{
    scps_netif_close(c->top);
    FILE *f = fopen(c->path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, cap, f);
    fclose(f);
    remove(c->path);
    return n;
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Writes IPv4 and TCP headers for len bytes of payload, the TCP checksum 0. Returns their
 * length. */
static size_t headers(uint8_t *p, size_t len)
{
    struct scps_ip ip = {.version = 4, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    struct scps_seg seg = {.sport = 4000, .dport = 5000, .seq = 1, .ack = 2, .flags = SCPS_ACK};

    scps_addr_parse("10.0.0.1", &ip.src);
    scps_addr_parse("10.0.0.2", &ip.dst);
    size_t tcp = scps_tcp_build(p + 20, &seg);
    assert_int_equal(scps_ip_build(p, &ip, tcp + len), 20);
    return 20 + tcp;
}

static void writes_headers_and_payload_as_one_record(void **state)
{
    static const uint8_t file_head[24] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0,   0, 0, 0,
                                          0,    0,    0,    0,    0, 0, 4, 0, 101, 0, 0, 0};
    uint8_t hdr[SCPS_MAX_HEADERS], file[4096];
    struct chain c;
    (void)state;

    chain_up(&c, NULL, 0, 0, 0);
    size_t n = headers(hdr, 5);
    clock_us = SCPS_SEC(7) + 42;
    struct scps_pkt out = {
        .data = hdr, .len = n, .payload = (const uint8_t *)"hello", .payload_len = 5};
    assert_int_equal(scps_netif_send(c.top, &out), 0);
    assert_int_equal(c.device.packets, 1);
    assert_int_equal(scps_tap_error(c.tap), 0);

    size_t len = chain_down(&c, file, sizeof file);
    assert_int_equal(len, 24 + 16 + n + 5);
    assert_memory_equal(file, file_head, sizeof file_head);
    assert_int_equal(le32(file + 24), 7);
    assert_int_equal(le32(file + 28), 42);
    assert_int_equal(le32(file + 32), n + 5);
    assert_int_equal(le32(file + 36), n + 5);
    assert_memory_equal(file + 40, hdr, n);
    assert_memory_equal(file + 40 + n, "hello", 5);
}

static void writes_arrivals_at_their_own_time(void **state)
{
    uint8_t pkt[SCPS_MAX_HEADERS], file[4096];
    struct chain c;
    (void)state;

    chain_up(&c, NULL, 0, SCPS_SEC(1000), 0);
    size_t n = headers(pkt, 0);
    clock_us = SCPS_SEC(9); /* The tap does not ask the clock for a packet that has a time. */
    struct scps_pkt in = {.data = pkt, .len = n, .at = SCPS_SEC(8) + 1};
    assert_int_equal(scps_netif_recv(&c.device.nif, &in), 0);
    assert_int_equal(c.above.packets, 1);

    assert_int_equal(chain_down(&c, file, sizeof file), 24 + 16 + n);
    assert_int_equal(le32(file + 24), 1008);
    assert_int_equal(le32(file + 28), 1);
}

static void hollow_bytes_are_zeros_up_to_the_snap_length(void **state)
{
    uint8_t hdr[SCPS_MAX_HEADERS], file[4096] = {0};
    static const uint8_t zeros[60];
    struct chain c;
    (void)state;

    chain_up(&c, NULL, 100, 0, SCPS_NETIF_HOLLOW);
    size_t n = headers(hdr, 1024);
    struct scps_pkt out = {.data = hdr, .len = n, .payload_len = 1024};
    assert_int_equal(scps_netif_send(c.top, &out), 0);

    assert_int_equal(chain_down(&c, file, sizeof file), 24 + 16 + 100);
    assert_int_equal(le32(file + 16), 100);
    assert_int_equal(le32(file + 32), 100);
    assert_int_equal(le32(file + 36), n + 1024);
    assert_memory_equal(file + 40, hdr, n);
    assert_memory_equal(file + 40 + n, zeros, 100 - n);
}

static void a_refused_packet_is_written_when_it_is_taken(void **state)
{
    uint8_t hdr[SCPS_MAX_HEADERS], file[4096];
    struct chain c;
    (void)state;

    chain_up(&c, NULL, 0, 0, 0);
    size_t n = headers(hdr, 0);
    struct scps_pkt out = {.data = hdr, .len = n};
    c.device.refuse = 2;
    assert_int_equal(scps_netif_send(c.tap, &out), SCPS_ERR_AGAIN);
    assert_int_equal(scps_netif_send(c.tap, &out), SCPS_ERR_AGAIN);
    assert_int_equal(scps_netif_send(c.tap, &out), 0);
    assert_int_equal(chain_down(&c, file, sizeof file), 24 + 16 + n);
}

static void a_checksum_left_to_the_device_is_right_in_the_record(void **state)
{
    uint8_t hdr[SCPS_MAX_HEADERS], whole[SCPS_MAX_HEADERS], file[4096];
    struct scps_ip ip;
    struct chain c;
    (void)state;

    chain_up(&c, NULL, 0, 0, SCPS_NETIF_NO_CSUM);
    size_t n = headers(hdr, 5);
    struct scps_pkt out = {
        .data = hdr, .len = n, .payload = (const uint8_t *)"hello", .payload_len = 5};
    assert_int_equal(scps_netif_send(c.top, &out), 0);
    /* The packet comes up in one piece, its checksum already verified. */
    memcpy(whole, hdr, n);
    memcpy(whole + n, "world", 5);
    struct scps_pkt in = {.data = whole, .len = n + 5, .csum_ok = true};
    assert_int_equal(scps_netif_recv(&c.device.nif, &in), 0);

    assert_int_equal(chain_down(&c, file, sizeof file), 24 + 2 * (16 + n + 5));
    for (int i = 0; i < 2; i++) {
        const uint8_t *p = file + 24 + 16 + (size_t)i * (16 + n + 5);
        assert_int_equal(scps_ip_parse(p, n + 5, n + 5, &ip), 0);
        assert_int_equal(scps_tcp_checksum(&ip.src, &ip.dst, p + 20, n - 20, p + n, 5), 0);
        assert_memory_equal(p + n, i == 0 ? "hello" : "world", 5);
    }
}

static void a_full_disk_is_remembered_and_stops_no_traffic(void **state)
{
    uint8_t hdr[SCPS_MAX_HEADERS];
    struct chain c;
    FILE *full = fopen("/dev/full", "wb");
    (void)state;

    if (!full)
        skip();
    fclose(full);
    chain_up(&c, "/dev/full", 0, 0, 0);
    struct scps_pkt out = {.data = hdr, .len = headers(hdr, 1400), .payload_len = 1400};
    for (int i = 0; i < 1000; i++)
        assert_int_equal(scps_netif_send(c.top, &out), 0);
    errno = 0;
    assert_int_equal(scps_tap_error(c.tap), SCPS_ERR_SYSTEM);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(c.device.packets, 1000);
    scps_netif_close(c.top);
}

static void an_unwritable_path_is_named(void **state)
{
    char msg[200] = "";
    (void)state;

    assert_null(scps_tap_open("/nowhere/x.pcap", 0, 0, now, NULL, msg, sizeof msg));
    assert_non_null(strstr(msg, "/nowhere/x.pcap"));
    assert_null(strchr(msg, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_headers_and_payload_as_one_record),
        cmocka_unit_test(writes_arrivals_at_their_own_time),
        cmocka_unit_test(hollow_bytes_are_zeros_up_to_the_snap_length),
        cmocka_unit_test(a_refused_packet_is_written_when_it_is_taken),
        cmocka_unit_test(a_checksum_left_to_the_device_is_right_in_the_record),
        cmocka_unit_test(a_full_disk_is_remembered_and_stops_no_traffic),
        cmocka_unit_test(an_unwritable_path_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
