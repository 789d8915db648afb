/* SPDX-License-Identifier: MIT */
/* --server: every connection is a test of its own, several at once, until SIGINT or SIGTERM.
 *
 * A test is over when both directions of its connection are; then one line with the result of the
 * test is printed, and the stack closes the connection in the background. At most TESTS (256) tests
 * run at the same time: further connections wait in the listener's backlog. --timeout applies to
 * each test.
 */
#include "scps_ttcp/run.h"

#include "common/late_signal.h"
#include "common/stdfds.h"
#include "scps_ttcp/real.h"

#include <scps/error.h>

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define TESTS 256 /* largest number of tests that run at the same time */
/* largest number of established connections that wait in the listener's queue while TESTS tests
 * run */
#define BACKLOG 32
/* largest number of bytes that a test writes before the event loop sends and receives packets
 * again */
#define AT_ONCE (128u << 10)
#define LOOK    SCPS_MS(100) /* interval of the check for tests that last too long, µs */

struct test {
    struct ttcp_end end;
    /* flow[0]: data in the direction that -t or -r of this server gives; flow[1]: only with
     * --bidir, data in the opposite direction */
    struct ttcp_flow flow[2];
    /* result of flow[0]; with --bidir, result.next points to the result of flow[1] */
    struct ttcp_result result;
    size_t n_flows;
    scps_time t0; /* time at which the test began: the opening of its connection, µs */
    struct test *next;
};

struct server {
    /* device, stack and event loop of the server; x.flow is empty, because each test has its own
     * flows */
    struct ttcp_real x;
    struct scps_listener *listener;
    struct test *tests;
    unsigned running;
    uint64_t served, bytes, failed;
    bool stopped;
    ev_signal sigint, sigterm;
    ev_timer more, look;
};

static void free_test(struct test *t)
{
    for (size_t k = 0; k < t->n_flows; k++)
        ttcp_flow_fini(&t->flow[k]);
    ttcp_result_fini(&t->result);
    free(t);
}

/* Records the figures of a test and prints its report. */
static void report(struct server *s, struct test *t, enum ttcp_outcome outcome, const char *why)
{
    const struct ttcp_options *o = s->x.o;
    scps_time now = scps_sysclock_now();

    for (size_t k = 0; k < t->n_flows; k++) {
        struct ttcp_flow *f = &t->flow[k];

        f->r->elapsed = now - t->t0;
        ttcp_result_device(f->r, s->x.top);
        if (f->r->has_tx)
            ttcp_result_sender(f->r, &f->sender, s->x.st, t->t0);
        else
            ttcp_result_receiver(f->r, &f->receiver, s->x.st, t->t0);
        ttcp_result_judge(f->r, ttcp_flow_sender(f), ttcp_flow_receiver(f));
        s->bytes += f->r->has_tx ? f->r->acked_bytes : f->r->rx.bytes;
    }
    ttcp_result_gather(&t->result);
    if (outcome != TTCP_DONE)
        ttcp_result_fail(&t->result, outcome, "%s", why);
    for (const struct ttcp_result *r = &t->result; r != NULL; r = r->next)
        ttcp_report_line(r, stderr);
    if (o->verbose > 0)
        ttcp_report_text(&t->result, stderr);
    if (o->json) {
        ttcp_report_json(&t->result, &(struct scps_json){.f = stdout, .indent = "\t"});
        fflush(stdout);
    }
    s->served++;
    s->failed += t->result.outcome != TTCP_DONE;
}

static void unlink_test(struct server *s, struct test *t)
{
    struct test **at = &s->tests;
    struct ttcp_end **end = &s->x.watch.senders;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    while (*end != &t->end)
        end = &(*end)->next;
    *end = t->end.next;
    s->running--;
}

/* Ends a test: prints its report and closes the connection, or resets it if anything went wrong. */
static void end_test(struct server *s, struct test *t, enum ttcp_outcome outcome, const char *why)
{
    report(s, t, outcome, why);
    unlink_test(s, t);
    if (t->result.outcome == TTCP_DONE)
        scps_conn_close(t->end.conn);
    else
        scps_conn_abort(t->end.conn);
    free_test(t);
}

/* Ends test t if it is over. Returns false if t was ended, and so freed. */
static bool check_test(struct server *s, struct test *t)
{
    bool all = true;

    for (size_t k = 0; k < t->n_flows; k++) {
        struct ttcp_flow *f = &t->flow[k];
        bool sends = f->r->has_tx;

        if (sends ? f->sender.err != 0 : f->receiver.err != 0) {
            /* ttcp_result_judge() computes the outcome and its message from the error of the sender
             * or the receiver; TTCP_DONE adds no error. */
            end_test(s, t, TTCP_DONE, NULL);
            return false;
        }
        all &= sends ? f->sender.closed : ttcp_receiver_done(&f->receiver);
        if (f->sender.more)
            ev_timer_start(scps_loop_ev(s->x.loop), &s->more);
    }
    if (all)
        end_test(s, t, TTCP_DONE, NULL);
    return !all;
}

static struct test *new_test(struct server *s)
{
    const struct ttcp_options *o = s->x.o;
    struct test *t = calloc(1, sizeof(*t));
    struct timespec wall;

    if (t == NULL)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &wall);
    ttcp_result_init(&t->result, o);
    t->result.wall_start = (scps_time)wall.tv_sec * 1000000 + wall.tv_nsec / 1000;
    while (t->n_flows < (o->bidir ? 2u : 1u)) {
        struct ttcp_flow *f = &t->flow[t->n_flows];

        f->r = t->n_flows == 0 ? &t->result : ttcp_result_add(&t->result);
        if (f->r == NULL)
            break;
        f->r->back = t->n_flows == 1;
        f->r->has_tx = s->x.sends != f->r->back;
        f->r->has_rx = !f->r->has_tx;
        f->r->id = o->bidir ? 1 : 0;
        t->n_flows++;
        if (ttcp_flow_open(f, o, false, NULL) != 0)
            break;
    }
    if (t->result.outcome == TTCP_DONE && t->n_flows == (o->bidir ? 2u : 1u))
        return t;
    free_test(t);
    return NULL;
}

/* Starts a test on connection c, which was just accepted at now, µs. Returns false if there is no
 * memory. */
static bool begin_test(struct server *s, struct scps_conn *c, scps_time now)
{
    struct ttcp_flow *back;
    struct test *t = new_test(s);

    if (t == NULL)
        return false;
    back = t->n_flows == 2 ? &t->flow[1] : NULL;
    ttcp_end_init(&t->end, s->x.sends ? &t->flow[0] : back, s->x.sends ? back : &t->flow[0]);
    t->next = s->tests;
    s->tests = t;
    t->end.next = s->x.watch.senders;
    s->x.watch.senders = &t->end;
    s->running++;
    for (size_t k = 0; k < t->n_flows; k++)
        t->flow[k].sender.at_once = AT_ONCE;
    scps_conn_set_user(c, t);
    ttcp_end_accept(&t->end, c, now);
    t->t0 = t->end.tx != NULL ? t->end.tx->syn : t->end.rx->opened;
    if (!ttcp_result_require(&t->result, c))
        end_test(s, t, TTCP_DONE, NULL);
    else
        check_test(s, t);
    return true;
}

static void accept_tests(struct server *s, scps_time now)
{
    struct scps_conn *c;

    while (s->running < TESTS && (c = scps_accept(s->listener)) != NULL)
        if (!begin_test(s, c, now)) {
            fputs("scps_ttcp: out of memory for another test: it is reset\n", stderr);
            scps_conn_abort(c);
        }
}

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct server *s = ctx;
    scps_time now = scps_sysclock_now();

    (void)l;
    if (s->stopped)
        return;
    if (e->conn != NULL && e->user != NULL) {
        struct test *t = e->user;

        ttcp_end_event(&t->end, e, now);
        check_test(s, t);
    }
    /* A connection may have arrived, or a test may have ended, so that another one can start. */
    accept_tests(s, now);
}

static void on_more(EV_P_ ev_timer *w, int revents)
{
    struct server *s = w->data;

    (void)loop;
    (void)revents;
    for (struct test *t = s->tests, *next; t != NULL; t = next) {
        next = t->next;
        if (t->end.tx != NULL)
            ttcp_sender_run(t->end.tx, scps_sysclock_now());
        check_test(s, t);
    }
    scps_loop_kick(s->x.loop);
}

/* Called ten times a second: ends each test that lasts longer than --timeout, lets the sender of
 * each test stop after --time, and ends all tests when the link is lost. */
static void on_look(EV_P_ ev_timer *w, int revents)
{
    struct server *s = w->data;
    const struct ttcp_options *o = s->x.o;
    scps_time now = scps_sysclock_now();
    /* After the peer has terminated a PPP link, the interface of the link still exists at this end,
     * so no event would end the tests. */
    bool lost = scps_ifopts_trouble(s->x.top) != NULL;

    (void)loop;
    (void)revents;
    for (struct test *t = s->tests, *next; t != NULL; t = next) {
        next = t->next;
        if (lost) {
            for (size_t k = 0; k < t->n_flows; k++)
                ttcp_flow_fail(&t->flow[k], SCPS_ERR_LINKDOWN);
            check_test(s, t);
        } else if (o->timeout != 0 && now - t->t0 >= o->timeout) {
            end_test(s, t, TTCP_TIMED_OUT, "not done within --timeout");
        } else if (o->time != 0 && now - t->t0 >= o->time && t->end.tx != NULL) {
            ttcp_input_stop(t->end.tx->in);
            ttcp_sender_run(t->end.tx, now);
            check_test(s, t);
        }
    }
    accept_tests(s, now);
    scps_loop_kick(s->x.loop);
}

static void on_interrupt(EV_P_ ev_signal *w, int revents)
{
    struct server *s = w->data;

    (void)loop;
    (void)revents;
    if (s->tests != NULL)
        ttcp_result_fail(s->x.r, TTCP_INTERRUPTED, "interrupted with %u test%s running", s->running,
                         s->running == 1 ? "" : "s");
    s->stopped = true;
    while (s->tests != NULL)
        end_test(s, s->tests, TTCP_INTERRUPTED, "interrupted");
    scps_loop_kick(s->x.loop);
    scps_loop_stop(s->x.loop);
}

static void serve(struct server *s)
{
    struct ev_loop *ev = scps_loop_ev(s->x.loop);

    ev_signal_init(&s->sigint, on_interrupt, SIGINT);
    ev_signal_init(&s->sigterm, on_interrupt, SIGTERM);
    ev_timer_init(&s->more, on_more, 0, 0);
    ev_timer_init(&s->look, on_look, (double)LOOK / 1e6, (double)LOOK / 1e6);
    s->sigint.data = s->sigterm.data = s->more.data = s->look.data = s;
    ev_signal_start(ev, &s->sigint);
    ev_signal_start(ev, &s->sigterm);
    if (s->x.o->timeout != 0 || s->x.o->time != 0 || s->x.o->ifs.ppp_config.passive)
        ev_timer_start(ev, &s->look);
    scps_loop_kick(s->x.loop);
    scps_loop_run(s->x.loop, SCPS_NEVER);
    if (!s->stopped)
        ttcp_result_fail(s->x.r, TTCP_FAILED, "the device has gone: bring it back and start again");
    while (s->tests != NULL)
        end_test(s, s->tests, TTCP_FAILED, "the device has gone");
    /* The report follows in any case. */
    late_signal_after(ev, &s->sigint, &s->sigterm, late_signal_ignore);
    ev_timer_stop(ev, &s->more);
    ev_timer_stop(ev, &s->look);
}

int ttcp_serve(const struct ttcp_options *o)
{
    struct ttcp_result r;
    struct server s = {.x = {.o = o, .r = &r, .sends = o->action == TTCP_TRANSMIT}};
    struct timespec wall;
    int status;

    ttcp_result_init(&r, o);
    clock_gettime(CLOCK_REALTIME, &wall);
    r.wall_start = (scps_time)wall.tv_sec * 1000000 + wall.tv_nsec / 1000;
    r.has_tx = s.x.sends;
    r.has_rx = !s.x.sends;
    if (ttcp_real_open(&s.x, on_event, &s) &&
        (s.listener = ttcp_real_listen(&s.x, BACKLOG)) != NULL)
        serve(&s);
    ttcp_capture_check(&r, s.x.tap, o->pcap);
    if (s.x.st != NULL)
        scps_stack_get_stats(s.x.st, s.x.sends ? &r.tx.stack : &r.rx.stack);
    if (s.x.top != NULL)
        ttcp_result_device(&r, s.x.top);
    if (o->verbose > 0)
        ttcp_report_dropped(&r, stderr);
    scps_loop_free(s.x.loop);
    if (s.x.st != NULL)
        scps_stack_free(s.x.st);
    if (s.x.top != NULL)
        scps_netif_close(s.x.top);
    fprintf(stderr, "ttcp-%c: %" PRIu64 " test%s, %" PRIu64 " bytes, %" PRIu64 " failed\n",
            s.x.sends ? 't' : 'r', s.served, s.served == 1 ? "" : "s", s.bytes, s.failed);
    if (r.outcome != TTCP_DONE)
        fprintf(stderr, "scps_ttcp: %s\n", r.error);
    status = ttcp_exit_status(r.outcome);
    ttcp_result_fini(&r);
    return stdfds_flush("scps_ttcp", stdfds_reported(status));
}
