/* SPDX-License-Identifier: MIT */
/* The lists of datagram endpoints without a link: all by port, those with events, those ready to
 * send, and closed ones that still have something to send. */
#include "stack/dgram.h"

#include <stdlib.h>

#include "cmocka_all.h"

#define N 4

static struct scps_stack st;
static struct scps_dgrams all;
static struct scps_nif nif;
static struct scps_shaper shaper;
static struct scps_dgram *d[N];

/* Endpoints 0 and 1 are in the same bucket; 2 and 3 are in others. */
static int begin(void **state)
{
    static const uint16_t port[N] = {7, 7 + SCPS_DGRAM_BUCKETS, 6, 9};
    (void)state;

    memset(&st, 0, sizeof st);
    memset(&all, 0, sizeof all);
    memset(&nif, 0, sizeof nif);
    memset(&shaper, 0, sizeof shaper);
    st.env.alloc = scps_alloc_default();
    st.dgrams = &all;
    for (int i = 0; i < N; i++) {
        d[i] = calloc(1, sizeof *d[i]);
        d[i]->st = &st;
        d[i]->nif = &nif;
        d[i]->local.port = port[i];
        scps_dgram_enter(d[i]);
    }
    return 0;
}

static int end(void **state)
{
    struct scps_dgram *open;
    (void)state;

    while ((open = scps_dgram_each(&st, NULL)))
        scps_dgram_close(open);
    while (all.closed)
        scps_dgram_free(all.closed);
    return 0;
}

/* Each open endpoint is found once. */
static void every_open_endpoint_is_found_once(void **state)
{
    unsigned seen = 0, n = 0;
    (void)state;

    for (struct scps_dgram *e = NULL; (e = scps_dgram_each(&st, e)); n++)
        for (int i = 0; i < N; i++)
            seen |= e == d[i] ? 1u << i : 0;
    assert_int_equal(n, N);
    assert_int_equal(seen, (1u << N) - 1);
    assert_int_equal(all.n, N);
    scps_dgram_close(d[0]);
    assert_ptr_equal(*scps_dgram_bucket(&st, 7), d[1]);
    assert_int_equal(all.n, N - 1);
    st.dgrams = NULL;
    assert_null(scps_dgram_each(&st, NULL));
    st.dgrams = &all;
}

static void expect(const struct scps_dgram *dgram, enum scps_event_kind kind)
{
    struct scps_event ev;

    assert_true(scps_dgram_event(&st, &ev));
    assert_ptr_equal(ev.dgram, dgram);
    assert_int_equal(ev.kind, kind);
    assert_int_equal(ev.err, kind == SCPS_EV_ERROR ? SCPS_ERR_REFUSED : 0);
}

/* All events of the endpoint that had one first are reported before those of the next. An event
 * that is pending already is reported once. */
static void events(void **state)
{
    struct scps_event ev;
    (void)state;

    d[2]->err = SCPS_ERR_REFUSED;
    scps_dgram_notify(d[2], SCPS_EV_READABLE);
    scps_dgram_notify(d[0], SCPS_EV_READABLE);
    scps_dgram_notify(d[1], SCPS_EV_WRITABLE);
    scps_dgram_notify(d[2], SCPS_EV_READABLE);
    scps_dgram_notify(d[2], SCPS_EV_ERROR);
    scps_dgram_notify(d[3], SCPS_EV_READABLE);
    scps_dgram_clear_event(d[0], SCPS_EV_READABLE);
    scps_dgram_close(d[3]); /* the last one in the queue */
    expect(d[2], SCPS_EV_READABLE);
    expect(d[2], SCPS_EV_ERROR);
    expect(d[1], SCPS_EV_WRITABLE);
    assert_false(scps_dgram_event(&st, &ev));
    scps_dgram_notify(d[0], SCPS_EV_READABLE);
    expect(d[0], SCPS_EV_READABLE);
}

/* Endpoints are served in the order in which they became ready; those of a route with a rate have a
 * queue of their own. */
static void ready(void **state)
{
    (void)state;
    d[3]->shaper = &shaper;
    for (int i = 0; i < N; i++)
        scps_dgram_make_ready(d[i]);
    assert_int_equal(nif.n_dgrams, N);
    assert_true(nif.others);
    assert_ptr_equal(scps_dgram_of_ready_link(shaper.dgrams.first), d[3]);
    scps_dgram_dequeue(d[1]);
    assert_false(d[1]->ready);
    scps_dgram_dequeue(d[1]); /* The endpoint is in no queue any more, so the call has no effect. */
    assert_int_equal(nif.n_dgrams, N - 1);
    assert_ptr_equal(scps_dgram_of_ready_link(nif.dgrams.first), d[0]);
    scps_dgram_dequeue(d[0]);
    assert_ptr_equal(scps_dgram_of_ready_link(nif.dgrams.first), d[2]);
    scps_dgram_make_ready(d[0]);
    scps_dgram_dequeue(d[2]);
    assert_ptr_equal(scps_dgram_of_ready_link(nif.dgrams.first), d[0]);
    scps_dgram_dequeue(d[0]);
    assert_null(scps_dgram_of_ready_link(nif.dgrams.first));
    scps_dgram_dequeue(d[3]);
    assert_int_equal(nif.n_dgrams, 0);
}

/* A closed endpoint that still has something to send is freed when that has left. Its port is free
 * at once, and it gets no more events. */
static void closed(void **state)
{
    struct scps_event ev;
    (void)state;

    scps_dgram_make_ready(d[0]);
    scps_dgram_make_ready(d[2]);
    scps_dgram_notify(d[0], SCPS_EV_READABLE);
    scps_dgram_close(d[0]);
    scps_dgram_close(d[2]);
    assert_int_equal(all.n, N - 2);
    assert_ptr_equal(scps_dgram_of_ready_link(nif.dgrams.first), d[0]);
    scps_dgram_notify(d[0], SCPS_EV_WRITABLE);
    assert_false(scps_dgram_event(&st, &ev));
    scps_dgram_free(d[0]);
    assert_ptr_equal(all.closed, d[2]);
    assert_int_equal(nif.n_dgrams, 1);
    assert_ptr_equal(scps_dgram_of_ready_link(nif.dgrams.first), d[2]);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(every_open_endpoint_is_found_once), CASE(events),
                                       CASE(ready), CASE(closed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
