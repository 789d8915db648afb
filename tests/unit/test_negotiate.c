/* SPDX-License-Identifier: MIT */
/* core/negotiate.c: what two SYNs agree on, and the size of a full segment that follows, without a
 * connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/negotiate.h"

static const struct scps_conn_config all = {.sack = true,
                                            .timestamps = true,
                                            .wscale = true,
                                            .ecn = true,
                                            .snack = true,
                                            .compress = true,
                                            .rcvbuf = 1 << 20};

static void only_what_both_offer(void **state)
{
    struct scps_agreed a = {.pmtu_mss = 1460};
    struct scps_asked q = {.cfg = &all, .agreed = &a, .state = SCPS_SYN_SENT, .family = 4};
    struct scps_seg syn = {.flags = SCPS_SYN | SCPS_ACK | SCPS_ECE,
                           .has = SCPS_HAS_MSS | SCPS_HAS_TS | SCPS_HAS_WSCALE,
                           .mss = 1000,
                           .wscale = 15};
    struct scps_agreed got = scps_negotiate_settle(&q, &syn);
    (void)state;

    assert_int_equal(got.opts, SCPS_AGREED_TS | SCPS_AGREED_WSCALE | SCPS_AGREED_ECN);
    /* RFC 7323 section 2.3: a shift above 14 is taken for 14. */
    assert_int_equal(got.snd_wscale, 14);
    assert_int_equal(got.rcv_wscale, 5);
    assert_int_equal(got.peer_mss, 1000);
    assert_int_equal(got.caps, 0);
    /* The time stamps take 12 octets of the MSS. */
    assert_int_equal(scps_agreed_full(&got, 0, 1460), 988);
    assert_int_equal(scps_agreed_full(&got, 600, 1460), 588);
    assert_int_equal(scps_agreed_full(&got, 0, 500), 488);
}

/* RFC 3168 section 6.1.1: a SYN with both ECE and CWR asks for ECN. A SYN-ACK of an old host may
 * repeat both flags, which is no agreement. */
static void ecn_is_not_an_echo(void **state)
{
    struct scps_agreed a = {0};
    struct scps_asked q = {.cfg = &all, .agreed = &a, .state = SCPS_SYN_SENT, .family = 4};
    struct scps_seg syn = {.flags = SCPS_SYN | SCPS_ACK | SCPS_ECE | SCPS_CWR};
    (void)state;

    assert_int_equal(scps_negotiate_settle(&q, &syn).opts, 0);
    syn.flags = SCPS_SYN | SCPS_ECE | SCPS_CWR;
    assert_int_equal(scps_negotiate_settle(&q, &syn).opts, SCPS_AGREED_ECN);
    assert_int_equal(scps_negotiate_settle(&q, &syn).peer_mss, 536);
    q.family = 6;
    assert_int_equal(scps_negotiate_settle(&q, &syn).peer_mss, 1220);
}

static void no_compression_without_an_id(void **state)
{
    struct scps_agreed a = {0};
    struct scps_asked q = {.cfg = &all, .agreed = &a, .state = SCPS_SYN_SENT, .family = 4};
    struct scps_seg syn = {
        .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS, .caps = SCPS_CAP_COM | SCPS_CAP_SNACK1};
    struct scps_agreed got = scps_negotiate_settle(&q, &syn);
    (void)state;

    assert_int_equal(got.caps, SCPS_CAP_SNACK1);
    assert_int_equal(got.caps_peer, SCPS_CAP_COM | SCPS_CAP_SNACK1);
    a = got;
    q.established = q.active = true;
    assert_int_equal(scps_negotiate_why(&q, SCPS_FEATURE_COMPRESSION), SCPS_WHY_NO_ID);
    assert_int_equal(scps_negotiate_why(&q, SCPS_FEATURE_SNACK), SCPS_WHY_IN_FORCE);
    a = (struct scps_agreed){0};
    q.conn_id = 7;
    a = scps_negotiate_settle(&q, &syn);
    assert_int_equal(a.caps, SCPS_CAP_COM | SCPS_CAP_SNACK1);
    assert_int_equal(scps_agreed_less(&a), -12);
}

/* After a SYN with capabilities was not answered, the next SYN is sent without them. */
static void a_plain_syn(void **state)
{
    struct scps_agreed a = {0};
    struct scps_asked q = {.cfg = &all, .agreed = &a, .state = SCPS_SYN_SENT, .family = 4};
    struct scps_seg syn = {.flags = SCPS_SYN};
    (void)state;

    scps_negotiate_offer(&q, &syn);
    assert_true(syn.has & SCPS_HAS_CAPS);
    assert_int_equal(syn.flags, SCPS_SYN | SCPS_ECE | SCPS_CWR);
    scps_agreed_plainly(&a, SCPS_PLAIN_FELL_BACK);
    q.syn_lost = true;
    syn = (struct scps_seg){.flags = SCPS_SYN};
    scps_negotiate_offer(&q, &syn);
    assert_false(syn.has & SCPS_HAS_CAPS);
    /* RFC 3168 section 6.1.1.1: a SYN that is sent again does not ask for ECN. */
    assert_int_equal(syn.flags, SCPS_SYN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_both_offer),
        cmocka_unit_test(ecn_is_not_an_echo),
        cmocka_unit_test(no_compression_without_an_id),
        cmocka_unit_test(a_plain_syn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
