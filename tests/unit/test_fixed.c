/* SPDX-License-Identifier: MIT */
/* Sizes of a connection's memory that follow from its configuration alone, and which configurations
 * they suffice for. */
#include "core/fixed.h"

#include "cmocka_all.h"
#include "core/config.h"

static struct scps_conn_config config(void)
{
    struct scps_conn_config c = scps_conn_config_default();

    c.sndbuf = 100000;
    c.rcvbuf = 300000;
    c.mss = 1000;
    return c;
}

/* Rings are powers of two, not smaller than the buffers; a segment with options has a margin of 64
 * octets; four times the full segments of the send buffer have records, and at least 16. */
static void sizes(void **state)
{
    struct scps_conn_config c = config();
    struct scps_fixed f;
    (void)state;

    c.records = c.bets = true;
    scps_fixed_init(&f, &c);
    assert_int_equal(f.mss, 1000);
    assert_int_equal(f.slack, 1064);
    assert_int_equal(f.sndring, 131072);
    assert_int_equal(f.rcvring, 524288);
    assert_int_equal(f.sent, 512);   /* 100000 / 250 + 16 = 416 */
    assert_int_equal(f.holes, 1024); /* one for every 256 octets would be 1171 */
    assert_int_equal(f.marks, 1171);
    assert_int_equal(f.given_up, 64);
    c.sndbuf = c.rcvbuf = 900; /* The ring holds a segment, whatever the buffer is. */
    scps_fixed_init(&f, &c);
    assert_int_equal(f.sndring, 2048);
    assert_int_equal(f.rcvring, 1024);
    assert_int_equal(f.sent, 32);
    assert_int_equal(f.holes, 64);
    assert_int_equal(f.marks, 64);
    c.sndbuf = c.rcvbuf = 65536; /* a power of two already */
    c.mss = 0;
    scps_fixed_init(&f, &c);
    assert_int_equal(f.mss, 1460);
    assert_int_equal(f.sndring, 65536);
    assert_int_equal(f.rcvring, 65536);
    c.hollow = true;
    c.records = c.bets = false;
    scps_fixed_init(&f, &c);
    assert_int_equal(f.sndring | f.rcvring | f.marks | f.given_up, 0);
}

/* One field at a time beyond the limits is refused, and each smaller value is allowed. */
static void limits(void **state)
{
    struct scps_conn_config most = config(), c = most;
    struct scps_fixed f;
    (void)state;

    scps_fixed_init(&f, &most);
    assert_true(scps_fixed_allows(&f, &c));
#define REFUSED(field, beyond, within)                                                             \
    c = most, c.field = beyond;                                                                    \
    assert_false(scps_fixed_allows(&f, &c));                                                       \
    c.field = within;                                                                              \
    assert_true(scps_fixed_allows(&f, &c))
    REFUSED(sndbuf, 100001, 99999);
    REFUSED(rcvbuf, 300001, 1);
    REFUSED(mss, 1001, 999);
    REFUSED(records, true, false);
    REFUSED(bets, true, false);
    REFUSED(compress, true, false);
    REFUSED(snack_delay, 1, 0);
    c = most; /* A hollow stream needs less; where no ring is reserved, nothing else will do. */
    c.hollow = true;
    assert_true(scps_fixed_allows(&f, &c));
    most.hollow = true;
    scps_fixed_init(&f, &most);
    REFUSED(hollow, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(limits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
