/* SPDX-License-Identifier: MIT */
/* The options for a network interface: which values are accepted, which are refused, and with which
 * message. */
#define _GNU_SOURCE 1
#include <scps/error.h>
#include <scps/io.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char msg[SCPS_IO_MSGLEN];

/* Parses "name=value name=value" and checks the options. Returns the first error. */
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
        "udp=:7001,ecn addr=10.0.0.1",
        "udp=[::1]:7001,[::1]:7002,ecn addr=10.0.0.1",
        "ppp=/dev/tty",
        "udp=:7001,127.0.0.1:7002 ccsds=aos addr=10.0.0.1",
        "udp=:7001,127.0.0.1:7002 ccsds=uslp,scid=65535,vcid=62,map=15,frame=2048,fill=0.01 "
        "addr=10.0.0.1",
        "ccsds=tm,scid=1023,vcid=7,frame=64,nofecf,line=/dev/tty,speed=9600 addr=10.0.0.1 "
        "mtu=9000",
        "tap=t0 addr=10.0.0.2/24 addr=fd00::2/64 kernel-addr=10.0.0.1 gateway=10.0.0.1 mtu=9000",
        "ppp=/dev/tty,speed=9600,passive,novj,wait=60,restart=1.25,echo=10,accm=a0000 mtu=576",
        "tun=t0 addr=10.0.0.2/24 kernel-addr=10.0.1.1/24 gateway=10.0.1.1",
        "tun=t0 addr=10.0.0.2 gateway=10.0.1.1",
        "tap=t0 addr=fd00::2/64 gateway=fe80::1",
        "ppp=/dev/tty,remote=10.0.0.2 addr=10.0.0.1 addr=fd00::1/64 line-rate=9600",
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

    static const struct {
        const char *text;
        scps_dur us;
    } times[] = {{"60", SCPS_SEC(60)},     {"1.25", SCPS_MS(1250)},
                 {"1.25s", SCPS_MS(1250)}, {"250ms", SCPS_MS(250)},
                 {"0.5ms", 500},           {"7us", 7},
                 {"2min", SCPS_SEC(120)},  {"10000", SCPS_SEC(10000)}};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        char text[64];
        snprintf(text, sizeof text, "ppp=/dev/tty,restart=%s", times[i].text);
        assert_int_equal(options(&o, text), 0);
        assert_int_equal(o.ppp_config.restart, times[i].us);
    }
    assert_int_equal(
        options(&o, "udp=:1,127.0.0.1:2 addr=10.0.0.1 ccsds=aos,frame=1k line-rate=2M"), 0);
    assert_int_equal(o.ccsds_config.frame, 1024);
    assert_int_equal(o.line_rate, 250000);

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
        {"tun=t0 addr=0.0.0.0/24", "no host has this address"},
        {"tun=t0 addr=0.9.0.2", "no host has this address"},
        {"tun=t0 addr=224.0.0.1/24", "no host has this address"},
        {"tun=t0 addr=255.255.255.255", "no host has this address"},
        {"tun=t0 addr=::/64", "no host has this address"},
        {"tun=t0 addr=ff02::1", "no host has this address"},
        {"tun=t0 addr=10.0.0.2 kernel-addr=0.0.0.0", "no host has this address"},
        {"tun=t0 addr=10.0.0.2/24 gateway=240.0.0.1", "no host has this address"},
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
        {"udp=:7001,ecn,ecn addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=,ecn addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=ecn addr=10.0.0.1", "LOCAL:PORT"},
        {"udp=:7001,127.0.0.1:7002,ecn ccsds=aos addr=10.0.0.1", "have no ECN field"},
        {"ppp=/dev/null", "/dev/null is not a terminal"},
        {"ccsds=aos,line=/dev/zero addr=10.0.0.1", "/dev/zero is not a terminal"},
        {"ppp=/dev/tty tun=t0 addr=10.0.0.1", "exclude each other"},
        {"ppp=/dev/tty addr=10.0.0.1 kernel-addr=10.0.0.2", "over PPP"},
        {"ccsds=aos addr=10.0.0.1", "or line=DEVICE"},
        {"ccsds=tc addr=10.0.0.1", "aos, uslp or tm"},
        {"ccsds=aos udp=:7001 addr=10.0.0.1", "frames name no sender"},
        {"ccsds=aos,line=/dev/tty udp=:7001 addr=10.0.0.1", "exclude each other"},
        {"ccsds=aos,line=/dev/tty tun=t0 addr=10.0.0.1", "exclude each other"},
        {"ccsds=aos,scid=256", "spacecraft id"},
        {"ccsds=tm,vcid=8", "in TM to 7"},
        {"ccsds=uslp,map=16", "to 15"},
        {"ccsds=uslp,frame=63", "64 to 2048"},
        {"ccsds=uslp,fill=x", "as fill=10ms"},
        {"ccsds=uslp,x", "or nofecf"},
        {"tap=t0 addr=10.0.0.2", "/LEN"},
        {"tap=t0 tun=t1 addr=10.0.0.2/24", "exclude each other"},
        {"tap=t0 addr=10.0.0.2/24 mtu=575", "576 to 9000"},
        {"ppp=/dev/tty mtu=127", "128 to 16384"},
        {"ppp=/dev/tty,speed=0", "as speed=9600"},
        {"ppp=/dev/tty,speed=115201", "as speed=9600"},
        {"ccsds=tm,line=/dev/tty,speed=1 addr=10.0.0.1", "as speed=9600"},
        {"ppp=/dev/tty,remote=10.0.0", "as remote=10.0.0.2"},
        {"ppp=/dev/tty,restart=0", "as restart=500ms"},
        {"ppp=/dev/tty,slow", "passive or novj"},
        {"ppp=,speed=9600", "line or pseudo terminal first"},
        {"ppp=/dev/tty,restart=0.0001us", "as restart=500ms"},
        {"ppp=/dev/tty,restart=5m", "as restart=500ms"},
        {"ppp=/dev/tty,wait=10000.001", "as wait=60s"},
        {"ppp=/dev/tty,wait=9999999999min", "as wait=60s"},
        {"ppp=/dev/tty,echo=1M", "as echo=10s"},
        {"ccsds=aos,frame=3K", "64 to 2048"},
        {"ccsds=aos,frame=1M", "64 to 2048"},
        {"ppp=/dev/tty,novj,novj", "novj is given twice"},
        {"ppp=/dev/tty,echo=1,wait=2,echo=1", "echo is given twice"},
        {"ppp=/dev/tty,echo=1,echoes=2", "echoes=2: give speed=N"},
        {"ppp=/dev/tty,passive,", "without a key"},
        {"ppp=/dev/tty,,passive", "without a key"},
        {"ppp=/dev/tty,passive=1", "takes no value"},
        {"ppp=/dev/tty,novj addr=fd00::1", "novj is of IPv4"},
        {"ppp=/dev/tty,remote=10.0.0.1 addr=fd00::1", "remote is of IPv4"},
        {"ppp=/nonexistent addr=10.0.0.1", "--ppp: there is no /nonexistent: give a serial line"},
        {"ppp=/etc/passwd/x addr=10.0.0.1", "--ppp: there is no /etc/passwd/x"},
        {"ppp=/etc/passwd addr=10.0.0.1", "--ppp: /etc/passwd is not a terminal"},
        {"ccsds=aos,line=/nonexistent addr=10.0.0.1", "--ccsds line: there is no /nonexistent"},
        {"ccsds=aos,map=1", "map with uslp alone"},
        {"ccsds=aos,scid=1,scid=1", "scid is given twice"},
        {"ccsds=aos,", "without a key"},
        {"ccsds=aos,nofecf=0", "takes no value"},
        {"ccsds=aos,speed=9600 udp=:1,127.0.0.1:2 addr=10.0.0.1", "add line=DEVICE"},
        {"ccsds=aos,line=/dev/tty addr=10.0.0.1 kernel-addr=10.0.0.2", "over CCSDS frames"},
        {"ccsds=aos,line=/dev/tty ppp=/dev/tty addr=10.0.0.1", "--ccsds with line=DEVICE exclude"},
        {"tap=a/b", "1 to 15 characters"},
        {"tap=sixteen-letters- addr=10.0.0.2/24", "1 to 15 characters"},
        {"tap=t0,novj addr=10.0.0.2/24", "a name for a device alone"},
        {"tun= addr=10.0.0.2/24", "1 to 15 characters"},
        {"tap=t0 addr=10.0.0.2/24 gateway=10.0.1.1", "outside the prefix of --addr"},
        {"tun=t0 addr=10.0.0.2/24 gateway=10.0.1.1", "outside the prefix of --addr"},
        {"tap=t0 addr=10.0.0.2/24 addr=fd00::2/64 gateway=fd00:0:0:1::1", "outside the prefix"},
        {"tap=t0 addr=10.0.0.2/24 kernel-addr=10.0.1.1/24 gateway=10.0.1.1", "outside the prefix"},
        {"tap=t0 addr=10.0.0.2/24 gateway=10.0.0.2", "own --addr"},
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

/* The table for getopt_long() has exactly the names that the parser accepts. */
static void test_table(void **state)
{
    (void)state;
    static const struct option table[] = {SCPS_IFOPTS_LONG('I'), {NULL, 0, NULL, 0}};
    static const char *value[] = {"t0",   "t0",          "127.0.0.1:1", "/dev/tty",
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

/* A value that is refused leaves the options as they were. */
static void test_unchanged(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"udp", ":1,"},
                                         {"ppp", "/dev/ttyS1,speed=1x"},
                                         {"ppp", "/dev/ttyS1,echo=2,x"},
                                         {"ccsds", "aos,scid=x"},
                                         {"ccsds", "tm,line=/dev/a,x=1"},
                                         {"addr", "10.0.0.3/33"},
                                         {"mtu", "67"},
                                         {"line-rate", "7"},
                                         {"gateway", "10.0.0.1/24"},
                                         {"tun", "a/b"},
                                         {"kernel-addr", "0.0.0.0"}};
    struct scps_ifopts o, was;
    memset(&o, 0, sizeof o);
    assert_int_equal(scps_ifopts_parse(&o, "addr", "10.0.0.2/24", msg), 1);
    memcpy(&was, &o, sizeof o);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(scps_ifopts_parse(&o, bad[i][0], bad[i][1], msg), SCPS_ERR_INVAL);
        assert_memory_equal(&o, &was, sizeof o);
    }
}

/* A program that was compiled with headers of another version passes a structure of another
 * size. */
static void test_size(void **state)
{
    (void)state;
    struct scps_ifopts o;
    assert_int_equal(options(&o, "udp=:7001,ecn addr=10.0.0.1"), 0);
    assert_true(o.udp_ecn);
    assert_int_equal(options(&o, "udp=:7001 addr=10.0.0.1"), 0);
    assert_false(o.udp_ecn);
    for (int more = -8; more <= 8; more += 16) {
        o.size = sizeof o + (size_t)more;
        assert_int_equal(scps_ifopts_check(&o, msg), SCPS_ERR_INVAL);
        assert_memory_equal(msg, "size: ", 6);
        assert_int_equal(scps_ifopts_parse_sized(&o, "tun", "t0", msg), SCPS_ERR_INVAL);
        assert_null(scps_ifopts_open(&o, msg));
    }
}

/* scps_netif.rate is the value of --line-rate, and scps_netif.overhead the octets that a packet
 * takes on the line beyond its own length. */
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
        cmocka_unit_test(test_unchanged), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table),     cmocka_unit_test(test_line_rate),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
