/* SPDX-License-Identifier: MIT */
/* trace/gap.c: whether data that fills a gap was overtaken on its way, or sent again. Without time
 * stamps the time since the gap became visible tells the two apart. */
#include "cmocka_all.h"

#include "trace/flow.h"
#include "trace/why.h"

#include <stdlib.h>

#define START  (UINT64_C(1) << 32)
#define LEN    1000u
#define MS(ms) (SCPS_SEC(1) + (scps_dur)((ms)*1000))

struct both {
    struct scps_trace *t;
    struct conn_dir *h, *peer;
};

/* Records an RTT sample of direction h, µs. */
static void sample(struct both *b, struct conn_dir *h, scps_dur rtt)
{
    const struct seg x = {.first = START, .len = LEN, .at = SCPS_SEC(1)};
    assert_int_equal(scps_tr_rtt_acked(b->t, h, &x, SCPS_SEC(1) + rtt, false), rtt);
}

static struct both path(const scps_dur *near, const scps_dur *far, unsigned n)
{
    struct both b = {scps_trace_new(NULL), calloc(1, sizeof *b.h), calloc(1, sizeof *b.peer)};
    for (unsigned i = 0; i < n; i++) {
        sample(&b, b.h, near[i]);
        sample(&b, b.peer, far[i]);
    }
    b.peer->ack_hi = START;
    b.h->sent_hi = START;
    return b;
}

static void end(struct both *b)
{
    struct conn_dir *d[2] = {b->h, b->peer};
    for (int i = 0; i < 2; i++) {
        scps_tr_why_free(b->t, d[i]);
        scps_tr_hist_free(b->t, &d[i]->rtt_hist);
        free(d[i]);
    }
    assert_int_equal(scps_trace_memory(b->t, NULL), 0);
    scps_trace_free(b->t);
}

/* Segment i is missing when the next one is captured, at `gap`. Returns true if segment i, captured
 * at `now`, counts as sent again. */
static bool repair(struct both *b, unsigned i, scps_time gap, scps_time now)
{
    const uint64_t from = START + (uint64_t)i * LEN;
    struct resend re = {0};
    scps_tr_gap_opened(b->t, b->h, b->peer, from, from + LEN, false, 0, gap);
    b->h->sent_hi = from + 2 * LEN;
    b->h->segs.top = b->h->sent_hi;
    const bool again = scps_tr_gap_repaired(b->h, b->peer, from, from + LEN, false, 0, now, &re);
    if (again)
        scps_tr_why_resent(b->t, b->h, b->peer, from, from + LEN, &re, false, false, 0, now);
    return again;
}

/* The capture is at the receiver, which answers most segments at once and some after its delay of
 * 200 ms: tcptrace's minimum of the samples, in which the next one replaces a 0, is then 200 ms. */
static void at_the_receiver(void **state)
{
    (void)state;
    const scps_dur near[] = {0, 0, 200000}, far[] = {560000, 561000, 563000};
    struct both b = path(near, far, 3);
    assert_int_equal(b.h->rtt.min, 200000);
    assert_int_equal(b.h->rtt_least, 0);
    assert_true(repair(&b, 0, MS(0), MS(561)));
    assert_false(repair(&b, 2, MS(600), MS(1000)));
    assert_true(repair(&b, 4, MS(1100), MS(1549)));
    end(&b);
}

static void in_the_middle(void **state)
{
    (void)state;
    const scps_dur near[] = {30000, 29000, 230000}, far[] = {41000, 50000, 40000};
    struct both b = path(near, far, 3);
    assert_int_equal(b.h->rtt_least, 29000);
    assert_int_equal(b.peer->rtt_least, 40000);
    assert_false(repair(&b, 0, MS(0), MS(55)));
    assert_true(repair(&b, 2, MS(100), MS(156)));
    end(&b);
}

/* A round trip below 3 ms counts if all of it was measured. */
static void a_short_path(void **state)
{
    (void)state;
    const scps_dur near[] = {0}, far[] = {200};
    struct both b = path(near, far, 1);
    assert_false(repair(&b, 0, MS(0), MS(.1)));
    assert_true(repair(&b, 2, MS(1), MS(1.2)));
    b.peer->rtt.n = 0;
    assert_false(repair(&b, 4, MS(2), MS(4)));
    assert_true(repair(&b, 6, MS(6), MS(8.5)));
    end(&b);
}

/* A second copy comes 1 ms after the gap, behind one that had passed for a retransmission: segments
 * are overtaken by more than the round trip of 0.2 ms. */
static void overtaken_by_more_than_a_round_trip(void **state)
{
    (void)state;
    const scps_dur near[] = {0}, far[] = {200};
    struct resend re = {.any = true, .last_at = MS(.3)};
    struct both b = path(near, far, 1);
    assert_true(repair(&b, 0, MS(0), MS(.3)));
    /* a copy that the network has made */
    scps_tr_why_resent(b.t, b.h, b.peer, START, START + LEN, &re, false, false, 0, MS(.3));
    assert_true(repair(&b, 2, MS(3), MS(3.3)));
    scps_tr_why_resent(b.t, b.h, b.peer, START, START + LEN, &re, false, false, 0, MS(1));
    assert_false(repair(&b, 4, MS(10), MS(11)));
    assert_true(repair(&b, 6, MS(20), MS(21.2)));
    end(&b);
    /* A timer may have caused a second copy that comes later. */
    b = path(near, far, 1);
    assert_true(repair(&b, 0, MS(0), MS(.3)));
    scps_tr_why_resent(b.t, b.h, b.peer, START, START + LEN, &re, false, false, 0, MS(3));
    assert_true(repair(&b, 2, MS(10), MS(10.3)));
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_receiver),
        cmocka_unit_test(in_the_middle),
        cmocka_unit_test(a_short_path),
        cmocka_unit_test(overtaken_by_more_than_a_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
