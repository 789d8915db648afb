/* SPDX-License-Identifier: MIT */
/* A test bench for careful resume without a connection: a controller under the test's control, and
 * the events of a connection of 1000-byte segments.
 *
 * The path that was saved: 300 segments in 100 ms, 3 MB/s, as in RFC 9959's example.
 */
#ifndef TESTS_RESUME_BENCH_H
#define TESTS_RESUME_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/resume.h"

#define SEG UINT64_C(1000)

struct bench {
    struct scps_env env;
    struct scps_shared_config cfg;
    struct scps_conn_ctx x;
    struct scps_cc_ops ops;
    struct scps_cc_view v;
    struct scps_cc_ctl ctl;
    struct scps_resume r;
    struct scps_note last;
    unsigned notes;
};

static inline void note(void *ctx, const struct scps_note *n)
{
    struct bench *b = ctx;

    assert_int_equal(n->kind, SCPS_NOTE_RESUME);
    b->last = *n;
    b->notes++;
}

static inline struct scps_resume_cc cc_of(struct bench *b)
{
    return (struct scps_resume_cc){&b->x, b};
}

static inline void setup(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->env.obs = (struct scps_observer){note, b, UINT64_C(1) << SCPS_NOTE_RESUME};
    b->cfg.c.cc = &b->ops;
    b->x = (struct scps_conn_ctx){.env = &b->env, .cfg = &b->cfg, .st = &b->env.no_stats};
    b->v = (struct scps_cc_view){.now = SCPS_SEC(1),
                                 .mss = SEG,
                                 .init_cwnd = 10 * SEG,
                                 .srtt = SCPS_MS(100),
                                 .min_rtt = SCPS_MS(100),
                                 .max_cwnd = UINT64_C(1) << 40,
                                 .cwnd_limited = true};
    b->ctl = (struct scps_cc_ctl){.cwnd = 10 * SEG, .ssthresh = UINT64_MAX};
    scps_resume_begin(&b->r, &b->x, 300 * SEG, 3000 * SEG, SCPS_MS(100), false, 0);
}

/* Acknowledges segs segments, of which the newest was sent when `prior` bytes had been
 * delivered. */
static inline void ack_of(struct bench *b, uint64_t segs, uint64_t prior)
{
    struct scps_cc_ack a = {.bytes = segs * SEG,
                            .rtt = SCPS_MS(100),
                            .sample_bytes = segs * SEG,
                            .prior_delivered = prior};

    b->v.delivered += segs * SEG;
    b->v.inflight -= segs * SEG;
    b->v.outstanding -= segs * SEG;
    scps_resume_ack(&b->r, cc_of(b), &b->v, &a, &b->ctl);
}

static inline void send(struct bench *b, uint64_t segs)
{
    b->v.inflight += segs * SEG;
    b->v.outstanding += segs * SEG;
}

static inline void lose(struct bench *b, uint64_t segs, enum scps_loss_cause cause)
{
    struct scps_cc_loss l = {
        .bytes = segs * SEG, .cause = cause, .evidence = SCPS_BY_SACK, .new_episode = true};

    b->v.inflight -= segs * SEG;
    scps_resume_before_loss(&b->r, &b->x, &l, &b->ctl);
    if (cause == SCPS_LOSS_CONGESTION) /* reduces the window as Reno does */
        b->ctl.cwnd = b->ctl.ssthresh = b->ctl.cwnd / 2;
    scps_resume_loss(&b->r, cc_of(b), &b->v, &l, &b->ctl);
}

static inline void told(const struct bench *b, enum scps_resume_phase phase,
                        enum scps_resume_why why)
{
    assert_int_equal(b->r.phase, phase);
    assert_int_equal(b->last.arg[0], phase);
    assert_int_equal(b->last.arg[1], why);
}

/* Sends the initial window and has it acknowledged, while 20 further segments are sent. */
static inline void to_unvalidated(struct bench *b)
{
    setup(b);
    send(b, 10);
    b->v.now += SCPS_MS(100);
    ack_of(b, 4, 0);
    /* a part of the initial data is not acknowledged yet */
    told(b, SCPS_RESUME_RECONNAISSANCE, SCPS_RESUME_RESTORED);
    b->ctl.cwnd = 20 * SEG;
    send(b, 20);
    ack_of(b, 6, 0);
    told(b, SCPS_RESUME_UNVALIDATED, SCPS_RESUME_CONFIRMED);
}

#endif
