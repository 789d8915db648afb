/* SPDX-License-Identifier: MIT */
/* codel.c on a link drops the same packets as the pseudocode of RFC 8289 sections 5.5 and 5.6 over
 * a queue in this file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "sim/link.h"

#define TARGET   SCPS_MS(5)
#define INTERVAL SCPS_MS(100)
#define MOST     60000

/* ---- the pseudocode of RFC 8289 ---- */

struct queue {
    struct item {
        uint32_t name, bytes;
        scps_time came;
    } v[MOST];
    unsigned first, n;
    uint64_t bytes;
    uint32_t largest;
    scps_time first_above, drop_next;
    uint32_t count, lastcount;
    bool dropping;
    bool dropped[MOST];
};

struct result {
    struct item *p;
    bool ok_to_drop;
};

static struct result dodequeue(struct queue *q, scps_time now)
{
    struct result r = {NULL, false};

    if (q->n == 0) {
        q->first_above = 0;
        return r;
    }
    r.p = &q->v[q->first++];
    q->n--;
    q->bytes -= r.p->bytes;
    if (now - r.p->came < TARGET || q->bytes <= q->largest) {
        q->first_above = 0;
    } else if (q->first_above == 0) {
        q->first_above = now + INTERVAL;
    } else if (now >= q->first_above) {
        r.ok_to_drop = true;
    }
    return r;
}

static scps_time control_law(scps_time t, uint32_t count)
{
    return t + (scps_time)((double)INTERVAL / sqrt((double)count));
}

static struct item *deque(struct queue *q, scps_time now)
{
    struct result r = dodequeue(q, now);

    if (q->dropping) {
        if (!r.ok_to_drop)
            q->dropping = false;
        while (now >= q->drop_next && q->dropping) {
            q->dropped[r.p->name] = true;
            ++q->count;
            r = dodequeue(q, now);
            if (!r.ok_to_drop)
                q->dropping = false;
            else
                q->drop_next = control_law(q->drop_next, q->count);
        }
    } else if (r.ok_to_drop) {
        q->dropped[r.p->name] = true;
        r = dodequeue(q, now);
        q->dropping = true;
        uint32_t delta = q->count - q->lastcount;
        q->count = 1;
        if (delta > 1 && now - q->drop_next < 16 * INTERVAL)
            q->count = delta;
        q->drop_next = control_law(now, q->count);
        q->lastcount = q->count;
    }
    return r.p;
}

/* ---- the link and the pseudocode compared ---- */

static bool fell[MOST];

static void hear(void *ctx, const struct scps_verdict *v)
{
    (void)ctx;
    fell[v->number - 1] = v->fate == SCPS_FATE_CODEL;
}

static void drops_what_the_rfc_drops(void **state)
{
    enum { RATE = 8000000 }; /* A byte takes one microsecond, so no time has a fraction. */
    struct queue *q = malloc(sizeof *q);
    struct scps_alloc a = scps_alloc_default();
    static uint8_t data[1500];
    (void)state;

    assert_non_null(q);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct scps_link_config c = {
            .rate_bps = RATE, .codel_target = TARGET, .codel_interval = INTERVAL};
        struct scps_linkdir d;
        struct scps_prng r;
        scps_time now = 0, free = 0;
        unsigned drops = 0;
        assert_int_equal(scps_linkdir_init(&d, &c, 0, &a), 0);
        d.verdict_fn = hear;
        memset(q, 0, sizeof *q);
        memset(fell, 0, sizeof fell);
        scps_prng_seed(&r, seed);
        for (uint32_t i = 0; i < MOST; i++) {
            uint32_t n = 100 + (uint32_t)scps_prng_below(&r, 1400);
            struct scps_pkt p = {.data = data, .len = n};
            /* The load is 75 to 125 % of the line's rate and changes about every second. */
            unsigned load = 75 + (unsigned)((i >> 10) * seed * 7 % 51);
            now += (scps_time)scps_prng_below(&r, 2 * 80000u / load);
            while (q->n && free <= now) {
                struct item *it = deque(q, free);
                if (it)
                    free += it->bytes;
            }
            q->largest = n > q->largest ? n : q->largest;
            q->v[q->first + q->n++] = (struct item){i, n, now};
            q->bytes += n;
            if (free <= now) {
                free = now;
                struct item *it = deque(q, free);
                free += it->bytes;
            }
            assert_int_equal(scps_linkdir_offer(&d, now, &p), 0);
            while (scps_linkdir_peek(&d, now, &p))
                scps_linkdir_pop(&d);
        }
        while (q->n && free <= now)
            free += deque(q, free)->bytes;
        scps_linkdir_advance(&d, now);
        for (uint32_t i = 0; i < MOST - q->n; i++) {
            if (fell[i] != q->dropped[i])
                fail_msg("seed %d, packet %d: %d, the RFC %d", (int)seed, (int)i, fell[i],
                         q->dropped[i]);
            drops += fell[i];
        }
        assert_true(drops > 50 && d.st.dropped_codel == drops);
        scps_linkdir_fini(&d);
    }
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_what_the_rfc_drops),
    };
    return cmocka_run_group_tests_name("codel", tests, NULL, NULL);
}
