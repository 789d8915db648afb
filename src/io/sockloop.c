/* SPDX-License-Identifier: MIT */
/* Connects the BSD-like socket calls (struct scps_ctx) to an event loop: a blocking call waits by
 * running the loop, a call that has data to send calls scps_loop_kick(), and the loop passes the
 * stack's events to the sockets.
 *
 * While a socket call blocks, an ev_prepare watcher checks before every sleep of the loop whether
 * the call can return. Events alone are not enough: a call may become ready without one, for
 * example when a buffer has room that was never full.
 */
#include <scps/sockloop.h>

#include <errno.h>
#include <ev.h>
#include <stdlib.h>

struct scps_sockloop {
    struct scps_stack *st;
    struct scps_loop *loop;
    struct scps_ctx *ctx;
    ev_prepare look;
    const struct scps_wait *waiting;
    bool interrupted;
};

static void on_event(struct scps_loop *l, const struct scps_event *e, void *arg)
{
    struct scps_sockloop *sl = arg;
    (void)l;
    if (sl->ctx)
        scps_ctx_event(sl->ctx, e);
}

static void kick(void *user)
{
    scps_loop_kick(((struct scps_sockloop *)user)->loop);
}

static scps_time now(void *user)
{
    (void)user;
    return scps_sysclock_now();
}

static void before_wait(EV_P_ ev_prepare *w, int revents)
{
    struct scps_sockloop *sl = w->data;
    (void)loop;
    (void)revents;
    if (sl->interrupted || scps_wait_over(sl->waiting))
        scps_loop_stop(sl->loop);
}

static int run_until_over(const struct scps_wait *w)
{
    struct scps_sockloop *sl = w->user;
    struct ev_loop *ev = scps_loop_ev(sl->loop);
    int err = 0;

    sl->waiting = w;
    ev_prepare_start(ev, &sl->look);
    while (!scps_wait_over(w)) {
        if (sl->interrupted) {
            sl->interrupted = false;
            err = EINTR;
            break;
        }
        /* The last device of the loop has gone, so nothing more can arrive, and the wait ends with
         * ENETDOWN. */
        if (scps_loop_error(sl->loop)) {
            err = ENETDOWN;
            break;
        }
        scps_loop_run(sl->loop, w->deadline);
    }
    ev_prepare_stop(ev, &sl->look);
    sl->waiting = NULL;
    return err;
}

struct scps_sockloop *scps_sockloop_new(struct ev_loop *ev, const struct scps_ctx_config *cfg)
{
    struct scps_sockloop *sl = calloc(1, sizeof *sl);
    struct scps_ctx_config c;
    if (!sl)
        return NULL;
    scps_ctx_config_sizes(&c);
    if (scps_ctx_config_copy(&c, cfg)) {
        errno = EINVAL;
        goto fail;
    }
    c.stack_config.now = scps_sysclock_now();
    if (scps_entropy(c.stack_config.seed, sizeof c.stack_config.seed) < 0)
        goto fail;
    sl->st = c.stack = scps_stack_new(&c.stack_config);
    if (!sl->st) {
        errno = scps_stack_config_check(&c.stack_config, NULL, 0) ? EINVAL : ENOMEM;
        goto fail;
    }
    sl->loop = scps_loop_new(ev, sl->st, on_event, sl);
    if (!sl->loop)
        goto fail;
    c.wait = run_until_over;
    c.kick = kick;
    c.now = now;
    c.user = sl;
    sl->ctx = scps_ctx_new(&c);
    if (!sl->ctx)
        goto fail;
    ev_prepare_init(&sl->look, before_wait);
    sl->look.data = sl;
    return sl;
fail:
    scps_sockloop_free(sl);
    return NULL;
}

struct scps_ctx *scps_sockloop_ctx(struct scps_sockloop *sl)
{
    return sl->ctx;
}

struct scps_loop *scps_sockloop_loop(struct scps_sockloop *sl)
{
    return sl->loop;
}

void scps_sockloop_interrupt(struct scps_sockloop *sl)
{
    sl->interrupted = true;
    if (sl->waiting)
        scps_loop_stop(sl->loop);
}

void scps_sockloop_free(struct scps_sockloop *sl)
{
    if (!sl)
        return;
    /* scps_sockloop_new() calls this function after a failure, whose errno is kept. */
    int err = errno;
    struct scps_ctx *ctx = sl->ctx;
    sl->ctx = NULL;
    scps_ctx_free(ctx);
    scps_loop_free(sl->loop);
    scps_stack_free(sl->st);
    free(sl);
    errno = err;
}
