/* SPDX-License-Identifier: MIT */
/* trace/segs.c compared with a simple model: a list that is searched for every packet, as tcptrace
 * does, over random histories. */
#include "cmocka_all.h"

#include "base/prng.h"
#include "trace/flow.h"

#include <stdlib.h>

/* A segment of the model, which keeps every segment in one array in order, acknowledged or not, and
 * merges none. */
struct obvious_seg {
    uint64_t first, end;
    scps_time at;
    uint32_t retrans;
    bool acked;
};
struct obvious {
    struct obvious_seg v[20000];
    size_t n;
};

static void put(struct obvious *o, size_t at, uint64_t first, uint64_t end, scps_time now)
{
    memmove(&o->v[at + 1], &o->v[at], (o->n - at) * sizeof o->v[0]);
    o->v[at] = (struct obvious_seg){.first = first, .end = end, .at = now};
    o->n++;
}

static uint32_t obvious_add(struct obvious *o, uint64_t first, uint32_t len, scps_time now)
{
    uint64_t end = first + len;
    uint32_t again = 0;
    size_t i = 0;
    bool split = false;
    while (first < end) {
        while (i < o->n && o->v[i].end <= first)
            i++;
        if (i == o->n || o->v[i].first >= end) {
            put(o, i, first, end, now);
            return again;
        }
        if (o->v[i].first > first) {
            put(o, i, first, o->v[i].first, now);
            first = o->v[++i].first;
        }
        o->v[i].retrans++;
        if (!split)
            o->v[i].at = now;
        split = true;
        uint64_t to = SCPS_MIN(end, o->v[i].end);
        again += (uint32_t)(to - first);
        first = to;
    }
    return again;
}

static void obvious_ack(struct obvious *o, uint64_t ack, uint64_t *samples, uint64_t *cum,
                        uint64_t *ambiguous, uint64_t *late)
{
    scps_time newest = 0;
    for (size_t i = 0; i < o->n && o->v[i].first < ack; i++) {
        newest = SCPS_MAX(newest, o->v[i].at);
        if (o->v[i].acked)
            continue;
        o->v[i].acked = true;
        if (o->v[i].end != ack)
            (*cum)++;
        else if (newest > o->v[i].at)
            (*late)++;
        else if (o->v[i].retrans)
            (*ambiguous)++;
        else
            (*samples)++;
    }
}

static void compared_with_a_simple_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct scps_prng r;
        struct scps_trace *t = scps_trace_new(NULL);
        struct conn_dir *h = calloc(1, sizeof *h);
        struct obvious *o = calloc(1, sizeof *o);
        uint64_t next = ((uint64_t)1 << 32) + 5, una = next;
        uint64_t samples = 0, cum = 0, ambiguous = 0, late = 0;
        scps_prng_seed(&r, seed);
        for (scps_time now = 1; now < 3000; now++) {
            uint64_t what = scps_prng_below(&r, 100);
            bool ooo = false;
            struct resend re = {0};
            uint64_t first;
            uint32_t len = 1 + (uint32_t)scps_prng_below(&r, 1000);
            if (what < 60) { /* The next data is sent, sometimes after a gap. */
                if (scps_prng_below(&r, 20) == 0)
                    next += scps_prng_below(&r, 2000);
                first = next;
                next += len;
            } else if (what < 75) { /* Data is sent that was sent before or lies in a gap. */
                uint64_t back = scps_prng_below(&r, 20000);
                first = next - SCPS_MIN(back, next - (((uint64_t)1 << 32) + 5));
            } else { /* An acknowledgement arrives, rarely an old one. */
                uint64_t to = una + scps_prng_below(&r, next - una + 1);
                /* Half of the acknowledgements end at the end of a segment. */
                for (size_t i = o->n; i-- > 0 && scps_prng_below(&r, 2);)
                    if (o->v[i].end <= to && o->v[i].end > una) {
                        to = o->v[i].end;
                        break;
                    }
                una = SCPS_MAX(una, to);
                scps_tr_segs_ack(t, h, una, now, false);
                obvious_ack(o, una, &samples, &cum, &ambiguous, &late);
                continue;
            }
            uint32_t got = scps_tr_segs_add(t, h, first, len, now, &ooo, &re);
            assert_int_equal(got, obvious_add(o, first, len, now));
        }
        assert_int_equal(h->rtt.n, samples);
        assert_int_equal(h->rtt_cumack, cum);
        assert_int_equal(h->rtt_ambig, ambiguous);
        assert_int_equal(h->rtt_nosample, late);
        scps_tr_segs_free(t, h);
        scps_tr_hist_free(t, &h->rtt_hist);
        scps_tr_free(t, h->rare, sizeof *h->rare);
        assert_int_equal(scps_trace_memory(t, NULL), 0);
        free(o);
        free(h);
        scps_trace_free(t);
    }
}

static void many_holes_stay_bounded(void **state)
{
    (void)state;
    struct scps_trace *t = scps_trace_new(NULL);
    struct conn_dir *h = calloc(1, sizeof *h);
    uint64_t at = (uint64_t)1 << 32;
    uint64_t peak;
    bool ooo;
    struct resend re;
    /* Every second octet is sent, so that no two segments can be merged. Records of all of them
     * would need several times the memory that is allowed below. */
    for (uint32_t i = 0; i < 200000; i++) {
        memset(&re, 0, sizeof re);
        scps_tr_segs_add(t, h, at + 2 * i, 1, i, &ooo, &re);
        if (i % 1000 == 999)
            scps_tr_segs_ack(t, h, at + 2 * i, i, false);
    }
    scps_trace_memory(t, &peak);
    assert_true(peak < 1 << 20);
    scps_tr_segs_free(t, h);
    scps_tr_hist_free(t, &h->rtt_hist);
    free(h);
    scps_trace_free(t);
}

static void full_size_quirk(void **state)
{
    (void)state;
    struct scps_trace *t = scps_trace_new(NULL);
    struct conn_dir *h = calloc(1, sizeof *h);
    uint64_t at = (uint64_t)1 << 32;
    bool ooo;
    struct resend re = {0};
    /* Segments of 100 octets, 200 octets and one octet: a segment is timed as a full one if it is
     * the largest so far. As in tcptrace, one octet counts as 2^32. */
    scps_tr_segs_add(t, h, at, 100, 1, &ooo, &re);
    scps_tr_segs_ack(t, h, at + 100, 11, false);
    assert_int_equal(h->rtt_full.n, 1);
    assert_int_equal(h->rtt_full_size, 100);
    scps_tr_segs_add(t, h, at + 100, 200, 20, &ooo, &re);
    scps_tr_segs_ack(t, h, at + 300, 50, false);
    assert_int_equal(h->rtt_full_size, 200);
    assert_int_equal(h->rtt_full.max, 30);
    scps_tr_segs_add(t, h, at + 300, 1, 60, &ooo, &re);
    scps_tr_segs_ack(t, h, at + 301, 65, false);
    assert_int_equal(h->rtt_full_size, (uint64_t)1 << 32);
    assert_int_equal(h->rtt_full.n, 1);
    assert_int_equal(h->rtt.n, 3);
    scps_tr_segs_free(t, h);
    scps_tr_hist_free(t, &h->rtt_hist);
    free(h);
    scps_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compared_with_a_simple_list),
        cmocka_unit_test(many_holes_stay_bounded),
        cmocka_unit_test(full_size_quirk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
