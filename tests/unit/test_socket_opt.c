/* SPDX-License-Identifier: MIT */
/* Socket options: which values each accepts, returns and refuses, and that it has its effect. */
#include "sockpeer.h"

#include <scps/cc.h>

static struct peer p;
static int s;

static int setup(void **state)
{
    (void)state;
    peer_open(&p, NULL);
    s = peer_socket(&p);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peer_close(&p);
    return 0;
}

struct row {
    /* A value in `bad` is refused with EINVAL; 0 ends the list. */
    int level, name, def, good, bad[3];
};

/* For each option: its default on a new socket (Linux's, where scps_ctx_config_linux() has it), and
 * another value that is accepted. */
static const struct row rows[] = {
    {SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, 0, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_REUSEPORT, 0, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_KEEPALIVE, 0, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_DEBUG, 0, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_BROADCAST, 0, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_PRIORITY, 0, 6, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_RCVLOWAT, 1, 100, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_OOBINLINE, 1, 1, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_SNDBUF, 4 << 20, 100000, {0}},
    {SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, 6 << 20, 50000, {0}},
    {SCPS_SOL_TCP, SCPS_TCP_NODELAY, 0, 1, {0}},
    {SCPS_SOL_TCP, SCPS_TCP_CORK, 0, 1, {0}},
    {SCPS_SOL_TCP, SCPS_TCP_KEEPIDLE, 7200, 5, {-1, 32768, INT32_MIN}},
    {SCPS_SOL_TCP, SCPS_TCP_KEEPINTVL, 75, 7, {-1, 32768, INT32_MIN}},
    {SCPS_SOL_TCP, SCPS_TCP_KEEPCNT, 9, 3, {-1, 128, INT32_MIN}},
    {SCPS_SOL_TCP, SCPS_TCP_SYNCNT, 6, 2, {-1, 128, INT32_MIN}},
    {SCPS_SOL_TCP, SCPS_TCP_LINGER2, 60, 30, {0}},
    {SCPS_SOL_TCP, SCPS_TCP_USER_TIMEOUT, 0, 4000, {-1, 0, 0}},
    {SCPS_SOL_TCP, SCPS_TCP_MAXSEG, 536, 1200, {87, 32768, -1}},
    {SCPS_SOL_TCP, SCPS_TCP_QUICKACK, 0, 1, {0}},
    {SCPS_SOL_TCP, SCPS_TCP_NOTSENT_LOWAT, 0, 16384, {0}},
    {SCPS_SOL_IP, SCPS_IP_TOS, 0, 0x48, {0}},
    {SCPS_SOL_IP, SCPS_IP_TTL, 64, 9, {256, -2, 0}},
    {SCPS_SOL_IP, SCPS_IP_MTU_DISCOVER, SCPS_PMTUDISC_WANT, SCPS_PMTUDISC_DONT, {6, -1, 0}},
    {SCPS_SOL_IP, SCPS_IP_BIND_ADDRESS_NO_PORT, 0, 1, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_MAXSEG, 0, 900, {-1, 65496, 47}},
    {SCPS_SOL_SCPS, SCPS_TP_NODELAY, 0, 1, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_ACKDELAY, 40, 150, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_ACKBEHAVE, SCPS_ACK_OTHER, SCPS_ACK_DELAYED, {3, -1, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RTOMIN, 200, 250, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RTOMAX, 120000, 64000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_PERSISTTIME, 120000, 60000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_TIMEOUT, 15, 32, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_LONGTIMEOUT, 6, 32, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_2MSLTIMEOUT, 60000, 10000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_TIMESTAMP, 1, 0, {0}},
    {SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_RATE, 0, 8000, {-1, 7, 0}},
    {SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_RTT, 0, 560, {-1, 0, 0}},
    {SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_IRTO, 1000, 6000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RATE, 0, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RATE_OVERHEAD, 0, 18, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_BURST, 0, 3000, {-1, (1 << 30) + 1, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_PACING, 0, 1, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_INIT_CWND, 10, 4, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_SACK, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_DSACK, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_TIMESTAMPS, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_WSCALE, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_LIMITED_TRANSMIT, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_SPURIOUS_UNDO, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_DUPTHRESH, 3, 2, {-1, 256, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_LOSS_CAUSE, 0, SCPS_LOSS_CORRUPTION, {SCPS_LOSS_OUTAGE, 3, -1}},
    {SCPS_SOL_SCPS, SCPS_TP_ACK_MODE, SCPS_ACK_OTHER, SCPS_ACK_EVERY, {3, -1, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_ACK_DELAY, 40000, 150000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_EXPECTED_RTT, 0, 560000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RTO_INITIAL, 1000000, 6000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RTO_MIN, 200000, 250000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RTO_MAX, 120000000, 64000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_PERSIST_MAX, 120000000, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_TIME_WAIT, 60000000, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_FIN_WAIT2, 60000000, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_SYN_RETRIES, 6, 0, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_DATA_RETRIES, 15, 3, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_USER_TIMEOUT, 0, 9000000, {-1, 0, 0}},
    /* The default is 2 h, which in µs is more than an int holds. */
    {SCPS_SOL_SCPS, SCPS_TP_KEEP_IDLE, INT32_MAX, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_KEEP_INTERVAL, 75000000, 1000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_KEEP_COUNT, 9, 4, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_SNACK, 0, 1, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_SNACKDELAY, 0, 20, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_SNACK_RAW_UNIT, 0, 1, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_SNACK_DELAY, 0, 2000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_CAPS_TRIES, 3, 1, {-1, 256, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_FIRST_WINDOW, 0, 500000, {-1, (1 << 30) + 1, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_RECOVERY, 0, SCPS_RECOVERY_RACK, {2, -1, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_QUICK_ACKS, 0, 16, {-1, 65536, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_ACK_BUDGET, 0, 2500, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_ACK_BUDGET_PPS, 0, 50, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_CORRUPTION, 1, 0, {0}},
    {SCPS_SOL_SCPS, SCPS_TP_CORRUPTION_HOLD, 0, 3000000, {-1, 0, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_OUTAGE_AFTER, 0, 5, {-1, 256, 0}},
    {SCPS_SOL_SCPS, SCPS_TP_HOLES_AT_ONCE, 0, 1, {0}},
};

static void set_and_get(int connected)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        char one = 1;
        if (!connected) {
            /* Several options stand for one setting, so each gets a new socket. */
            s = peer_socket(&p);
            assert_int_equal(peer_getopt(&p, s, r->level, r->name), r->def);
        }
        for (int k = 0; k < 3 && (k == 0 ? r->bad[0] : r->bad[k]); k++)
            assert_errno(peer_setopt(&p, s, r->level, r->name, r->bad[k]), EINVAL);
        assert_int_equal(peer_setopt(&p, s, r->level, r->name, r->good), 0);
        if (!(connected && (r->name == SCPS_TCP_MAXSEG || r->name == SCPS_SO_RCVBUF)))
            assert_int_equal(peer_getopt(&p, s, r->level, r->name), r->good);
        /* A value of one octet is too short, except for options of IP. */
        if (r->level != SCPS_SOL_IP)
            assert_errno(scps_sock_setsockopt(p.ctx, s, r->level, r->name, &one, 1), EINVAL);
        assert_errno(scps_sock_setsockopt(p.ctx, s, r->level, r->name, NULL, 4), EFAULT);
        /* getsockopt() writes no more octets than the caller has room for. */
        uint8_t two[2] = {0xaa, 0xaa};
        uint32_t len = 1;
        assert_int_equal(scps_sock_getsockopt(p.ctx, s, r->level, r->name, two, &len), 0);
        assert_int_equal(len, 1);
        assert_int_equal(two[1], 0xaa);
        /* As in Linux, one to three octets are enough for a small value of IP: it is written as one
         * octet, on machines of either byte order. */
        len = 2;
        two[0] = 0xaa;
        if (r->level == SCPS_SOL_IP) {
            assert_int_equal(scps_sock_getsockopt(p.ctx, s, r->level, r->name, two, &len), 0);
            assert_int_equal(len, 1);
            assert_int_equal(two[0], r->good);
            assert_int_equal(two[1], 0xaa);
        }
    }
}

static void every_option_on_a_fresh_socket(void **state)
{
    (void)state;
    set_and_get(0);
    peer_gets_nothing(&p);
}

static void every_option_on_a_connection(void **state)
{
    (void)state;
    peer_handshakes(&p, s);
    set_and_get(1);
}

static void unknown_ones(void **state)
{
    (void)state;
    int v = 1,
        levels[] = {SCPS_SOL_IP, SCPS_SOL_SOCKET, SCPS_SOL_TCP, SCPS_SOL_SCPS, SCPS_SOL_SCPS_ROUTE};
    uint32_t len = sizeof v;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        assert_errno(scps_sock_setsockopt(p.ctx, s, levels[i], 9999, &v, 4), ENOPROTOOPT);
        assert_errno(scps_sock_getsockopt(p.ctx, s, levels[i], 9999, &v, &len), ENOPROTOOPT);
    }
    assert_errno(scps_sock_setsockopt(p.ctx, s, 77, 1, &v, 4), ENOPROTOOPT);
    assert_errno(scps_sock_getsockopt(p.ctx, s, 77, 1, &v, &len), EOPNOTSUPP);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, &v, 4),
                 ENOPROTOOPT);
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, &v, &len),
                 EOPNOTSUPP);
    /* Linux's IPv6 sockets return another error. */
    int six = scps_socket(p.ctx, SCPS_AF_INET6, SCPS_SOCK_STREAM, 0);
    assert_errno(scps_sock_getsockopt(p.ctx, six, 77, 1, &v, &len), ENOPROTOOPT);
    assert_int_equal(scps_sock_close(p.ctx, six), 0);
    /* These options can only be read. */
    int ro[] = {SCPS_SO_TYPE,     SCPS_SO_ERROR,  SCPS_SO_ACCEPTCONN,
                SCPS_SO_PROTOCOL, SCPS_SO_DOMAIN, SCPS_SO_SNDLOWAT};
    int want[] = {SCPS_SOCK_STREAM, 0, 0, SCPS_SOL_TCP, SCPS_AF_INET, 1};
    for (size_t i = 0; i < sizeof ro / sizeof *ro; i++) {
        assert_errno(peer_setopt(&p, s, SCPS_SOL_SOCKET, ro[i], 1), ENOPROTOOPT);
        assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SOCKET, ro[i]), want[i]);
    }
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SOCKET, SCPS_SO_OOBINLINE, 0), EINVAL);
    assert_errno(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_INFO, 1), ENOPROTOOPT);
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_TYPE, &v, NULL), EFAULT);
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_TYPE, NULL, &len), EFAULT);
    len = UINT32_MAX; /* As an int this length is negative. */
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_TYPE, &v, &len), EINVAL);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_DEBUG, &v, UINT32_MAX),
                 EINVAL);
}

static void structures(void **state)
{
    (void)state;
    struct scps_linger l = {1, -1};
    uint32_t len = sizeof l;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &l, 4), EINVAL);
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &l, len), 0);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &l, &len), 0);
    assert_int_equal(l.l_onoff, 1);
    /* A negative linger time stands for the longest possible. */
    assert_int_equal(l.l_linger, INT32_MAX);
    l = (struct scps_linger){0, 5};
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &l, len), 0);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_LINGER, &l, &len), 0);
    assert_int_equal(l.l_onoff, 0);

    struct scps_timeval tv = {3, 250000};
    len = sizeof tv;
    for (int name = SCPS_SO_RCVTIMEO; name <= SCPS_SO_SNDTIMEO; name++) {
        assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &tv, len), 0);
        struct scps_timeval got = {9, 9};
        assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &got, &len), 0);
        assert_int_equal(got.tv_sec, 3);
        assert_int_equal(got.tv_usec, 250000);
        got = (struct scps_timeval){0, 0}; /* The time 0 means: no limit. */
        assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &got, len), 0);
        assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &got, &len), 0);
        assert_int_equal(got.tv_sec + got.tv_usec, 0);
        got = (struct scps_timeval){1, 1000000};
        assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &got, len), EDOM);
        assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, name, &got, 8), EINVAL);
    }

    /* SO_MAX_PACING_RATE has 4 or 8 octets; all ones means: no limit. */
    uint64_t rate = 0;
    len = 8;
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &rate, &len), 0);
    assert_true(rate == UINT64_MAX);
    rate = UINT64_C(10000000000);
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &rate, 8), 0);
    uint32_t narrow = 0;
    len = 4;
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &narrow, &len), 0);
    assert_int_equal(narrow, UINT32_MAX);
    narrow = 125000;
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &narrow, 4), 0);
    len = 8;
    assert_int_equal(
        scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &rate, &len), 0);
    assert_int_equal(rate, 125000);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_RATE), 1000000);
    narrow = UINT32_MAX;
    assert_int_equal(
        scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &narrow, 4), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_RATE), 0);

    /* Options of level SCPS_SOL_SCPS accept 64 bits. */
    int64_t wide = 0;
    len = 8;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_KEEP_IDLE, &wide, &len),
                     0);
    assert_int_equal(wide, SCPS_SEC(7200));
    assert_int_equal(len, 8);
    wide = SCPS_SEC(100000);
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_KEEP_IDLE, &wide, 8), 0);
    wide = 0;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_KEEP_IDLE, &wide, &len),
                     0);
    assert_int_equal(wide, SCPS_SEC(100000));

    /* These values are refused at once, not by connect(): more than 2^43 bytes/s, more than a
     * hundred years. */
    wide = (INT64_C(1) << 43) + 1;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_RATE, &wide, 8), EINVAL);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_ACK_BUDGET, &wide, 8),
                 EINVAL);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SOCKET, SCPS_SO_MAX_PACING_RATE, &wide, 8),
                 EINVAL);
    wide = SCPS_SEC(INT64_C(101) * 365 * 86400);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_EXPECTED_RTT, &wide, 8),
                 EINVAL);
    /* 0 lies outside the bounds; only in struct scps_conn_config it stands for the default. */
    wide = 0;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_DUPTHRESH, &wide, 8),
                 EINVAL);
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_KEEP_COUNT, &wide, 8),
                 EINVAL);

    /* One option (SCPS_TP_CONFIG) sets the whole configuration. */
    struct scps_conn_config cfg;
    len = sizeof cfg;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &cfg, &len), 0);
    assert_int_equal(cfg.keep_idle, SCPS_SEC(100000));
    cfg.mss = 512;
    cfg.df_off = true;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &cfg, 10), EINVAL);
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &cfg, len), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_MAXSEG), 512);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IP, SCPS_IP_MTU_DISCOVER), SCPS_PMTUDISC_DONT);
    /* What connect() would refuse is refused at once, and nothing changes. */
    struct scps_conn_config bad = cfg;
    bad.sndbuf = 12;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &bad, len), EINVAL);
    bad = cfg;
    bad.size = 0;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &bad, len), EINVAL);
    bad.size = sizeof bad + 8;
    assert_errno(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &bad, len + 8),
                 EINVAL);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_MAXSEG), 512);
    /* A program of an earlier version has a shorter structure: it gets the size of its own, and the
     * fields that it lacks have their defaults when it sets the option. */
    len = offsetof(struct scps_conn_config, keepalive);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &bad, &len), 0);
    assert_int_equal(bad.size, len);
    assert_int_equal(len, offsetof(struct scps_conn_config, keepalive));
    assert_int_equal(bad.mss, 512);
    bad.mss = 600;
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &bad, len), 0);
    len = sizeof cfg;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_CONFIG, &cfg, &len), 0);
    assert_int_equal(cfg.size, sizeof cfg);
    assert_int_equal(cfg.mss, 600);
    assert_int_equal(cfg.keep_idle, SCPS_SEC(7200));

    struct scps_info info;
    len = sizeof info;
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_INFO, &info, &len),
                 ENOTCONN);
    peer_handshakes(&p, s);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_INFO, &info, &len), 0);
    assert_int_equal(info.state, SCPS_ESTABLISHED);
    assert_int_equal(info.adv_mss, 600);
}

static void set_text(int level, int name, const char *text, int err)
{
    int r;
    errno = 0;
    r = scps_sock_setsockopt(p.ctx, s, level, name, text, (uint32_t)strlen(text));
    assert_int_equal(r, err ? -1 : 0);
    assert_int_equal(errno, err);
}

static const char *get_text(int level, int name, uint32_t *len)
{
    static char text[256];
    memset(text, 0, sizeof text);
    *len = sizeof text;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, level, name, text, len), 0);
    return text;
}

static void controllers(void **state)
{
    (void)state;
    uint32_t len;
    assert_string_equal(get_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, &len), "vj");
    assert_int_equal(len, 16); /* The length is 16, as in Linux. */
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "nosuch", ENOENT);
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "", EINVAL);
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "vj,nosuch=1", ENOENT);
    /* Linux calls this controller "reno". */
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "reno", 0);
    assert_string_equal(get_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, &len), "vj");
    for (size_t i = 0; scps_cc_at(i); i++) { /* Every controller can be chosen by its name. */
        set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, scps_cc_at(i)->name, 0);
        assert_string_equal(get_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, &len), scps_cc_at(i)->name);
        /* The text that getsockopt() returns can be given to setsockopt(). */
        char whole[256];
        strcpy(whole, get_text(SCPS_SOL_SCPS, SCPS_TP_CC, &len));
        assert_int_equal(len, strlen(whole) + 1);
        set_text(SCPS_SOL_SCPS, SCPS_TP_CC, whole, 0);
        assert_string_equal(get_text(SCPS_SOL_SCPS, SCPS_TP_CC, &len), whole);
    }
    /* The controller is chosen by the numbers of the SCPS reference implementation. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VJ_CONGEST, 1), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VJ_CONGEST), 1);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_CONGEST), 0);
    int v;
    len = sizeof v;
    assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_ALPHA, 3), ENOPROTOOPT);
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_BETA, &v, &len),
                 ENOPROTOOPT);
    if (scps_cc_find("vegas")) {
        assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_CONGEST, 1), 0);
        assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_CONGEST), 1);
        assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_ALPHA, 2), 0);
        assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_ALPHA), 2);
        assert_errno(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VEGAS_ALPHA, -5), EINVAL);
    }
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_VJ_CONGEST, 0), 0);
    assert_string_equal(get_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, &len), "rate");
    /* Pure rate control without a rate: connect() is refused. */
    assert_errno(peer_connect(&p, s), EINVAL);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_RATE, 8000000), 0);
    peer_handshakes(&p, s);
    /* A connection keeps its controller. */
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "vj", EISCONN);
    set_text(SCPS_SOL_TCP, SCPS_TCP_CONGESTION, "rate", 0);
}

static void on_the_wire(void **state)
{
    (void)state;
    static uint8_t data[5000];
    uint8_t tos = 0x48;
    p.mss = 1460;
    assert_int_equal(scps_sock_setsockopt(p.ctx, s, SCPS_SOL_IP, SCPS_IP_TOS, &tos, 1), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IP, SCPS_IP_TOS), 0x48);
    /* The two bits of ECN are set by TCP, not by this option. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_IP, SCPS_IP_TOS, 0x4b), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IP, SCPS_IP_TOS), 0x48);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_IP, SCPS_IP_TTL, 7), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_MAXSEG, 800), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_TIMESTAMPS, 0), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_SACK, 0), 0);
    int v;
    uint32_t len = sizeof v;
    assert_errno(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_IP, SCPS_IP_MTU, &v, &len), ENOTCONN);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(p.ip.tos, 0x48);
    assert_int_equal(p.ip.ttl, 7);
    assert_true(p.ip.df);
    assert_int_equal(p.seg.mss, 800);
    assert_int_equal(p.seg.has, SCPS_HAS_MSS | SCPS_HAS_WSCALE);
    p.our_port = p.seg.sport;
    peer_sends(&p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(&p, SCPS_ACK, 1, 1, 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_IP, SCPS_IP_MTU), 1500);
    assert_int_equal(scps_sock_write(p.ctx, s, data, 2000), 2000);
    peer_gets(&p, SCPS_ACK, 1, 1, 800);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_MAXSEG), 800);
    peer_drains(&p);
    peer_sends(&p, SCPS_ACK, 1, 2001, 0);
    /* The option changes during the connection. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_IP, SCPS_IP_TOS, 0x20), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_IP, SCPS_IP_TTL, -1), 0);
    assert_int_equal(scps_sock_write(p.ctx, s, data, 10), 10);
    peer_gets(&p, SCPS_ACK | SCPS_PSH, 2001, 1, 10);
    assert_int_equal(p.ip.tos, 0x20);
    assert_int_equal(p.ip.ttl, 64);
    peer_sends(&p, SCPS_ACK, 1, 2011, 0);
    /* A rate spreads segments over time: at 8400 bytes/s ten packets of 840 bytes leave in a
     * second, after a burst of 1500 bytes. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_BURST, 1500), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_RTOMIN, 5000), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_RATE, 8400), 0);
    peer_wait(&p, SCPS_SEC(1));
    scps_time t0 = peer_now(&p);
    assert_int_equal(scps_sock_write(p.ctx, s, data, 4000), 4000);
    peer_wait(&p, SCPS_SEC(1));
    for (int i = 0; i < 5; i++)
        assert_true(peer_takes(&p));
    assert_true(p.at - t0 >= SCPS_MS(300) && p.at - t0 <= SCPS_MS(340));
}

static void scps_capabilities(void **state)
{
    (void)state;
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_SNACK, 1), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_SNACK_LONG, 1), 0);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    peer_gets(&p, SCPS_SYN, 0, 0, 0);
    assert_int_equal(p.seg.has & SCPS_HAS_CAPS, SCPS_HAS_CAPS);
    assert_int_equal(p.seg.caps, SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2);
}

static void hops_of_ipv6(void **state)
{
    (void)state;
    struct peer q;
    peer_open_at(&q, NULL, SCPS_AF_INET6);
    int t = peer_socket(&q);
    q.mss = 1440;
    assert_int_equal(peer_setopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_TCLASS, 0x28), 0);
    assert_int_equal(peer_setopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_UNICAST_HOPS, 5), 0);
    assert_errno(peer_setopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_TCLASS, 256), EINVAL);
    assert_errno(peer_setopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_UNICAST_HOPS, 0), EINVAL);
    assert_errno(peer_setopt(&q, t, SCPS_SOL_IPV6, 9999, 0), ENOPROTOOPT);
    assert_int_equal(peer_getopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_TCLASS), 0x28);
    assert_int_equal(peer_getopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_UNICAST_HOPS), 5);
    assert_int_equal(peer_setopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_MTU_DISCOVER, 2), 0);
    assert_int_equal(peer_getopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_MTU_DISCOVER), 2);
    peer_handshakes(&q, t);
    assert_int_equal(q.ip.tos, 0x28);
    assert_int_equal(q.ip.ttl, 5);
    assert_int_equal(peer_getopt(&q, t, SCPS_SOL_IPV6, SCPS_IPV6_MTU), 1500);
    peer_close(&q);
}

static void quick_acks(void **state)
{
    (void)state;
    peer_handshakes(&p, s);
    peer_wait(&p, SCPS_SEC(1));
    peer_sends(&p, SCPS_ACK, 1, 1, 1000);
    peer_sends(&p, SCPS_ACK, 1001, 1, 1000);
    peer_gets(&p, SCPS_ACK, 1, 2001, 0);
    peer_sends(&p, SCPS_ACK, 2001, 1, 10);
    peer_gets_nothing(&p);
    peer_wait(&p, SCPS_MS(40));
    peer_gets(&p, SCPS_ACK, 1, 2011, 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_QUICKACK, 1), 0);
    peer_sends(&p, SCPS_ACK, 2011, 1, 10);
    peer_gets(&p, SCPS_ACK, 1, 2021, 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_ACK_MODE), SCPS_ACK_OTHER);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_QUICKACK, 0), 0);
    peer_sends(&p, SCPS_ACK, 2021, 1, 10);
    peer_gets_nothing(&p);
    /* F0: only the timer causes an acknowledgement. */
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_ACKBEHAVE, SCPS_ACK_DELAYED), 0);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_SCPS, SCPS_TP_ACKDELAY, 100), 0);
    peer_wait(&p, SCPS_MS(200));
    peer_drains(&p);
    for (uint32_t i = 0; i < 4; i++)
        peer_sends(&p, SCPS_ACK, 2031 + 1000 * i, 1, 1000);
    peer_gets_nothing(&p);
    scps_time t0 = peer_now(&p);
    peer_wait(&p, SCPS_MS(300));
    peer_gets(&p, SCPS_ACK, 1, 6031, 0);
    assert_int_equal(p.at - t0, SCPS_MS(100));
    peer_gets_nothing(&p);
}

static void linger2(void **state)
{
    (void)state;
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2, 500), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2), 120);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2, 0), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2), 60);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2, -3), 0);
    assert_int_equal(peer_getopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2), -1);
    assert_int_equal(peer_setopt(&p, s, SCPS_SOL_TCP, SCPS_TCP_LINGER2, 2), 0);
    peer_handshakes(&p, s);
    assert_int_equal(scps_sock_close(p.ctx, s), 0);
    peer_gets(&p, SCPS_ACK | SCPS_FIN, 1, 1, 0);
    peer_sends(&p, SCPS_ACK, 1, 2, 0);
    peer_wait(&p, SCPS_MS(1900)); /* The connection is in FIN-WAIT-2 and has no socket. */
    struct scps_stack_stats st;
    scps_stack_get_stats(scps_ctx_stack(p.ctx), &st);
    assert_int_equal(st.conns, 1);
    peer_wait(&p, SCPS_MS(200));
    scps_stack_get_stats(scps_ctx_stack(p.ctx), &st);
    assert_int_equal(st.conns, 0);
}

static void tcp_info(void **state)
{
    (void)state;
    static uint8_t data[30000];
    struct scps_tcp_info ti;
    uint32_t len = sizeof ti;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_int_equal(ti.tcpi_state, SCPS_CLOSED);
    assert_int_equal(ti.tcpi_snd_ssthresh, 0x7fffffff);
    peer_is_called(&p, s);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_int_equal(ti.tcpi_state, SCPS_SYN_SENT);
    assert_int_equal(ti.tcpi_rto, 1000000);
    peer_wait(&p, SCPS_MS(50));
    struct scps_seg synack = {.flags = SCPS_SYN | SCPS_ACK,
                              .seq = PEER_ISN,
                              .ack = p.our_isn + 1,
                              .wnd = 5000,
                              .has = SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK,
                              .mss = 1000,
                              .wscale = 6};
    peer_sends_seg(&p, &synack, 0);
    peer_gets(&p, SCPS_ACK, 1, 1, 0);
    p.wnd = 5000; /* The window is scaled by 64. */
    peer_sends(&p, SCPS_ACK, 1, 1, 0);
    assert_int_equal(scps_sock_write(p.ctx, s, data, sizeof data), sizeof data);
    assert_int_equal(peer_drains(&p), 10);
    peer_sends(&p, SCPS_ACK, 1, 1, 500);
    peer_wait(&p, SCPS_MS(30));
    peer_drains(&p);
    memset(&ti, 0xee, sizeof ti);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_int_equal(len, sizeof ti);
    assert_int_equal(ti.tcpi_state, SCPS_ESTABLISHED);
    assert_int_equal(ti.tcpi_ca_state, 0);
    /* SACK and window scaling are in force; the peer offered no time stamps. */
    assert_int_equal(ti.tcpi_options, 2 | 4);
    assert_int_equal(ti.tcpi_snd_wscale, 6);
    assert_int_equal(ti.tcpi_rcv_wscale, 7);
    assert_int_equal(ti.tcpi_snd_mss, 1000);
    assert_int_equal(ti.tcpi_advmss, 1460);
    assert_int_equal(ti.tcpi_unacked, 10);
    assert_int_equal(ti.tcpi_notsent_bytes, 20000);
    assert_int_equal(ti.tcpi_snd_cwnd, 10);
    assert_int_equal(ti.tcpi_snd_wnd, 5000 * 64);
    assert_int_equal(ti.tcpi_rtt, 50000);
    assert_int_equal(ti.tcpi_min_rtt, 50000);
    assert_int_equal(ti.tcpi_bytes_received, 500);
    assert_int_equal(ti.tcpi_bytes_acked, 0);
    assert_int_equal(ti.tcpi_bytes_sent, 10000);
    assert_int_equal(ti.tcpi_data_segs_out, 10);
    assert_int_equal(ti.tcpi_data_segs_in, 1);
    assert_int_equal(ti.tcpi_last_data_recv, 30);
    assert_int_equal(ti.tcpi_total_retrans, 0);
    assert_int_equal(ti.tcpi_reordering, 3);
    assert_true(ti.tcpi_max_pacing_rate == UINT64_MAX);
    /* Old programs ask for a shorter structure. */
    len = 8;
    memset(&ti, 0, sizeof ti);
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_int_equal(len, 8);
    assert_int_equal(ti.tcpi_rto, 0);
    /* The peer does not answer, so the retransmission timer expires, which TCP_INFO shows. */
    peer_wait(&p, SCPS_MS(400));
    len = sizeof ti;
    assert_int_equal(scps_sock_getsockopt(p.ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_true(ti.tcpi_backoff >= 1);
    assert_int_equal(ti.tcpi_ca_state, 4);
    assert_true(ti.tcpi_total_retrans >= 1);
    assert_true(ti.tcpi_lost >= 1);
}

static void fcntl_and_ioctl(void **state)
{
    (void)state;
    int v = 1;
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFL, 0), SCPS_O_RDWR);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_SETFL, SCPS_O_NONBLOCK), 0);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFL, 0), SCPS_O_RDWR | SCPS_O_NONBLOCK);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_SETFD, SCPS_FD_CLOEXEC), 0);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFD, 0), SCPS_FD_CLOEXEC);
    assert_errno(scps_sock_fcntl(p.ctx, s, 999, 0), EINVAL);
    v = 0;
    assert_int_equal(scps_sock_ioctl(p.ctx, s, SCPS_FIONBIO, &v), 0);
    assert_int_equal(scps_sock_fcntl(p.ctx, s, SCPS_F_GETFL, 0), SCPS_O_RDWR);
    assert_errno(scps_sock_ioctl(p.ctx, s, 0x1234, &v), ENOTTY);
    assert_errno(scps_sock_ioctl(p.ctx, s, SCPS_FIONREAD, NULL), EFAULT);
    assert_int_equal(peer_ioctl(&p, s, SCPS_FIONREAD), 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 0);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCATMARK), 0);
    assert_errno(peer_connect(&p, s), EINPROGRESS);
    assert_int_equal(peer_ioctl(&p, s, SCPS_SIOCOUTQ), 0);
    int l = peer_listens(&p, 1);
    assert_errno(scps_sock_ioctl(p.ctx, l, SCPS_FIONREAD, &v), EINVAL);
    assert_errno(scps_sock_ioctl(p.ctx, l, SCPS_SIOCOUTQ, &v), EINVAL);
    assert_errno(scps_sock_ioctl(p.ctx, l, SCPS_SIOCOUTQNSD, &v), EINVAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(every_option_on_a_fresh_socket),
        T(every_option_on_a_connection),
        T(unknown_ones),
        T(structures),
        T(controllers),
        T(on_the_wire),
        T(scps_capabilities),
        T(hops_of_ipv6),
        T(quick_acks),
        T(linger2),
        T(tcp_info),
        T(fcntl_and_ioctl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
