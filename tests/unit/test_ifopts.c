/* SPDX-License-Identifier: MIT */
/* The interface options: what is taken, what is refused and with which words. */
#define _GNU_SOURCE 1
#include <scps/error.h>
#include <scps/io.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static char msg[SCPS_IO_MSGLEN];

/* Parses "name=value name=value" and checks; returns the first error. */
static int options(struct scps_ifopts *o, const char *text)
{
    char copy[512], *save = NULL;
    memset(o, 0, sizeof *o);
    strcpy(copy, text);
    msg[0] = 0;
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *value = strchr(w, '=');
        *value++ = 0;
        int rc = scps_ifopts_parse(o, w, value, msg);
        if (rc != 1)
            return rc;
    }
    return scps_ifopts_check(o, msg);
}

static void test_accepted(void **state)
{
    (void)state;
    static const char *good[] = {
        "tun=t0 addr=10.0.0.2/24",
        "tun=t0 addr=10.0.0.2/24 kernel-addr=10.0.0.1",
        "tun=t0 addr=10.0.0.2/24 line-rate=9600",
        "tun=t0 addr=10.0.0.2/24 line-rate=1000GBIT",
        "tun=t0 addr=10.0.0.2/24 addr=fd00::2/64 kernel-addr=10.0.0.1 kernel-addr=fd00::1",
        "tun=t0 addr=10.0.0.2/24 gateway=10.0.0.1 mtu=9000",
        "tun=t0 addr=10.0.0.2 kernel-addr=192.168.1.1",
        "tun=t0 addr=10.0.0.2/24 kernel-addr=192.168.1.1/16",
        "udp=127.0.0.1:7001,127.0.0.1:7002 addr=10.0.0.1",
        "udp=[::1]:7001,[::1]:7002 addr=10.0.0.1",
        "udp=:7001,127.0.0.1:7002 addr=fd00::1/64",
        "udp=:7001 addr=10.0.0.1",
        "ppp=/dev/ttyS0",
        "udp=:7001,127.0.0.1:7002 ccsds=aos addr=10.0.0.1",
        "udp=:7001,127.0.0.1:7002 ccsds=uslp,scid=65535,vcid=62,map=15,frame=2048,fill=0.01 "
        "addr=10.0.0.1",
        "ccsds=tm,scid=1023,vcid=7,frame=64,nofecf,line=/dev/ttyS0,speed=9600 addr=10.0.0.1 "
        "mtu=9000",
        "tap=t0 addr=10.0.0.2/24 addr=fd00::2/64 kernel-addr=10.0.0.1 gateway=10.0.0.1 mtu=9000",
        "ppp=/dev/ttyS0,speed=9600,passive,novj,wait=60,restart=1.25,echo=10,accm=a0000 mtu=576",
        "ppp=/dev/ttyS0,remote=10.0.0.2 addr=10.0.0.1 addr=fd00::1/64 line-rate=9600",
    };
    struct scps_ifopts o;
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        if (options(&o, good[i]))
            fail_msg("%s: %s", good[i], msg);
        assert_true(scps_ifopts_given(&o));
    }
    memset(&o, 0, sizeof o);
    assert_false(scps_ifopts_given(&o));
    assert_int_equal(scps_ifopts_parse(&o, "rate", "1", msg), 0);
}

static void test_values(void **state)
{
    (void)state;
    struct scps_ifopts o;
    struct scps_addr a;
    assert_int_equal(options(&o, "tun=t0 addr=10.0.0.2/24 addr=fd00::2 kernel-addr=fd00::1/64 "
                                 "gateway=10.0.0.1 gateway=fd00::9 mtu=1400 line-rate=64kbit"),
                     0);
    assert_string_equal(o.tun, "t0");
    assert_int_equal(o.naddr, 2);
    assert_int_equal(o.addr[0].prefix, 24);
    assert_true(o.addr[0].has_prefix);
    assert_int_equal(o.addr[1].prefix, 128);
    assert_false(o.addr[1].has_prefix);
    assert_int_equal(o.nkernel, 1);
    assert_int_equal(o.kernel[0].prefix, 64);
    scps_addr_parse("fd00::9", &a);
    assert_true(scps_addr_equal(&o.gateway[1], &a));
    assert_int_equal(o.mtu, 1400);
    assert_int_equal(o.line_rate, 8000);

    assert_int_equal(options(&o, "udp=[fd00::5]:7001,[fd00::6]:7002 addr=10.0.0.2/24"), 0);
    scps_addr_parse("fd00::6", &a);
    assert_true(scps_addr_equal(&o.udp_remote.addr, &a));
    assert_int_equal(o.udp_local.port, 7001);
    assert_int_equal(o.udp_remote.port, 7002);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *opts, *words;
    } bad[] = {
        {"addr=10.0.0.2/24", "no interface"},
        {"tun=t0", "--addr"},
        {"tun=t0 udp=:1 addr=10.0.0.2", "exclude each other"},
        {"tun=t0 addr=10.0.0.256/24", "not an IPv4 or IPv6 address"},
        {"tun=t0 addr=host/24", "not an IPv4 or IPv6 address"},
        {"tun=t0 addr=/24", "not an IPv4 or IPv6 address"},
        {"tun=t0 addr=10.0.0.2/33", "0 to 32"},
        {"tun=t0 addr=fd00::2/129", "0 to 128"},
        {"tun=t0 addr=10.0.0.2/", "0 to 32"},
        {"tun=t0 addr=10.0.0.2/-1", "0 to 32"},
        {"tun=t0 addr=10.0.0.2/24x", "0 to 32"},
        {"tun=t0 addr=1.1.1.1 addr=1.1.1.2 addr=1.1.1.3 addr=1.1.1.4 addr=1.1.1.5", "more than 4"},
        {"tun=t0 addr=10.0.0.2/24 kernel-addr=10.0.0.2", "cannot be both"},
        {"tun=t0 addr=10.0.0.2/24 kernel-addr=fd00::1", "same family"},
        {"tun=t0 addr=10.0.0.2/24 kernel-addr=10.0.1.1", "outside the prefix"},
        {"tun=t0 addr=10.0.0.2/24 gateway=fd00::1", "same family"},
        {"tun=t0 addr=10.0.0.2/24 gateway=10.0.0.1/24", "without a length"},
        {"tun=t0 addr=10.0.0.2/24 mtu=67", "68 to 65535"},
        {"tun=t0 addr=10.0.0.2/24 mtu=65536", "68 to 65535"},
        {"tun=t0 addr=10.0.0.2/24 mtu=", "68 to 65535"},
        {"tun=t0 addr=10.0.0.2/24 mtu=1500x", "68 to 65535"},
        {"tun=t0 addr=10.0.0.2/24 line-rate=10x", "as 64kbit"},
        {"tun=t0 addr=10.0.0.2/24 line-rate=kbit", "as 64kbit"},
        {"tun=t0 addr=10.0.0.2/24 line-rate=7", "as 64kbit"},
        {"tun=t0 addr=10.0.0.2/24 line-rate=1001gbit", "as 64kbit"},
        {"udp=127.0.0.1:7001,127.0.0.1:7002 addr=10.0.0.1 kernel-addr=10.0.0.2", "over UDP"},
        {"udp= addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=127.0.0.1 addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=127.0.0.1:70000 addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=127.0.0.1:1, addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=127.0.0.1:1,:2 addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=127.0.0.1:1,127.0.0.1:0 addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=::1:7000 addr=10.0.0.1", "brackets"},
        {"udp=[127.0.0.1]:7000 addr=10.0.0.1", "brackets"},
        {"udp=[::1:7000 addr=10.0.0.1", "brackets"},
        {"udp=[]:7000 addr=10.0.0.1", "brackets"},
        {"udp=:0 addr=10.0.0.1", "cannot be 0"},
        {"ppp=/dev/ttyS0 tun=t0 addr=10.0.0.1", "exclude each other"},
        {"ppp=/dev/ttyS0 addr=10.0.0.1 kernel-addr=10.0.0.2", "over PPP"},
        {"ccsds=aos addr=10.0.0.1", "or line=DEVICE"},
        {"ccsds=tc addr=10.0.0.1", "aos, uslp or tm"},
        {"ccsds=aos udp=:7001 addr=10.0.0.1", "frames name no sender"},
        {"ccsds=aos,line=/dev/x udp=:7001 addr=10.0.0.1", "exclude each other"},
        {"ccsds=aos,line=/dev/x tun=t0 addr=10.0.0.1", "exclude each other"},
        {"ccsds=aos,scid=256", "spacecraft id"},
        {"ccsds=tm,vcid=8", "in TM to 7"},
        {"ccsds=uslp,map=16", "to 15"},
        {"ccsds=uslp,frame=63", "64 to 2048"},
        {"ccsds=uslp,fill=x", "as fill=0.01"},
        {"ccsds=uslp,x", "or nofecf"},
        {"tap=t0 addr=10.0.0.2", "/LEN"},
        {"tap=t0 tun=t1 addr=10.0.0.2/24", "exclude each other"},
        {"tap=t0 addr=10.0.0.2/24 mtu=575", "576 to 9000"},
        {"ppp=/dev/ttyS0 mtu=127", "128 to 16384"},
        {"ppp=/dev/ttyS0,speed=0", "as speed=115200"},
        {"ppp=/dev/ttyS0,remote=10.0.0", "as remote=10.0.0.2"},
        {"ppp=/dev/ttyS0,restart=0", "as restart=0.5"},
        {"ppp=/dev/ttyS0,slow", "passive or novj"},
        {"ppp=,speed=9600", "not the name of a device"},
        {"udp=127.0.0.1:1,[::1]:2 addr=10.0.0.1", "one side is IPv4"},
    };
    struct scps_ifopts o;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = options(&o, bad[i].opts);
        if (rc != SCPS_ERR_INVAL || !strstr(msg, bad[i].words) || strchr(msg, '\n'))
            fail_msg("%s: %d \"%s\", wanted \"%s\"", bad[i].opts, rc, msg, bad[i].words);
    }
    char value[600];
    memset(value, '1', sizeof value - 1);
    value[sizeof value - 1] = 0;
    static const char *names[] = {"tun",  "tap",         "udp",     "ppp", "ccsds",
                                  "addr", "kernel-addr", "gateway", "mtu", "line-rate"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        memset(&o, 0, sizeof o);
        assert_int_equal(scps_ifopts_parse(&o, names[i], value, msg), SCPS_ERR_INVAL);
        assert_true(strlen(msg) < sizeof msg);
    }
}

/* The rows for getopt_long are the names the parser takes. */
static void test_table(void **state)
{
    (void)state;
    static const struct option table[] = {SCPS_IFOPTS_LONG('I'), {NULL, 0, NULL, 0}};
    static const char *value[] = {"t0",   "t0",          "127.0.0.1:1", "/dev/ttyS0",
                                  "aos",  "10.0.0.1/24", "10.0.0.2",    "10.0.0.2",
                                  "1500", "64kbit",      NULL};
    unsigned i;
    for (i = 0; table[i].name; i++) {
        struct scps_ifopts o = {0};
        assert_int_equal(table[i].val, 'I');
        assert_int_equal(table[i].has_arg, value[i] ? required_argument : no_argument);
        assert_int_equal(scps_ifopts_parse(&o, table[i].name, value[i], msg), 1);
        assert_true(scps_ifopts_given(&o));
        assert_non_null(strstr(scps_ifopts_help(), table[i].name));
    }
    assert_int_equal(i, sizeof value / sizeof *value);
}

/* The device says what --line-rate said, and what a packet takes besides its own length. */
static void test_line_rate(void **state)
{
    (void)state;
    struct scps_ifopts o;
    assert_int_equal(options(&o, "udp=127.0.0.1:0,127.0.0.1:7002 addr=10.0.0.1 line-rate=64kbit"),
                     0);
    struct scps_netif *dev = scps_ifopts_open(&o, msg);
    assert_non_null(dev);
    assert_int_equal(dev->rate, 8000);
    assert_int_equal(dev->overhead, 28);
    scps_netif_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_table),
        cmocka_unit_test(test_line_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
