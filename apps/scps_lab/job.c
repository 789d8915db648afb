/* SPDX-License-Identifier: MIT */
/* Runs one simulation of a cell (one combination of the values that a scenario sweeps). A world of
 * simulated hosts and links is built from the cell's setup. The starting time of each flow is drawn
 * at random from the flow's range; then the flow is driven by the events of its two ends:
 *
 *     start time --> listen, connect --> source writes, sink reads --> FIN acknowledged: measured
 *                                                       or its time is over: measured, reset
 *
 * As in the measurements in NASA/TM-2003-212001, the time of a transfer runs from the first SYN to
 * the acknowledgement of the FIN, at the sender. All randomness comes from the seed: one stream for
 * starting times, one for each link direction and host.
 */
#include "scps_lab/job.h"

#include "common/qlog.h"

#include "common/cells.h"
#include "common/seed.h"
#include "common/slice.h"
#include "scps_lab/model.h"
#include "scps_lab/paths.h"
#include "scps_lab/writer.h"

#include <scps/error.h>
#include <scps/trace.h>
#include <scps/traffic.h>
#include <scps/vjlink.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PORT 5001
/* bytes of each call of scps_conn_write(); the connections are hollow (bytes are counted, not
 * stored), so a large write costs no memory */
#define CHUNK (1u << 20)

struct job;

struct transfer {
    struct job *job;
    struct lab_outcome *out;
    const struct lab_flow *flow;
    struct scps_host *from, *to;
    struct scps_endpoint remote;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    struct lab_writer writer;
    FILE *qlog_file; /* file for the qlog of this flow's sender; NULL: none is open */
    struct qlog *qlog;
    /* id of the sender's connection (scps_note.conn); valid if qlog is not NULL */
    uint32_t qlog_conn;
    bool qlog_tried;
    bool over;
};

/* One direction of the first link of the scenario file: dir 0: from host a of the link to its host
 * b; 1: from b to a. Argument of the callback that passes to w->on_verdict what the link did to
 * each packet of that direction. */
struct side {
    struct lab_watch *w;
    int dir;
};

struct host {
    char name[LAB_NAME];
    struct scps_host *host;
    struct job *job;
};

struct job {
    const struct lab_setup *s;
    struct lab_watch *w;
    struct lab_result *r;
    struct scps_world *world;
    struct scps_link **link;
    struct host *host;
    size_t nhosts;
    struct transfer *transfer;
    /* Transfer for which scps_connect() is running; NULL: none. Observer events of a connection
     * that no transfer has stored yet are attributed to this transfer. */
    struct transfer *connects;
    size_t n, left;
    uint64_t seed, drawn;
    struct scps_netif *tap;
    struct side side[2];
    struct lab_paths paths;
};

static scps_dur draw_range(struct job *j, const struct lab_range *r)
{
    uint64_t span = (uint64_t)(r->hi - r->lo);

    if (span == 0)
        return r->lo;
    return r->lo + (scps_dur)(seed_draw(~j->seed, j->drawn++) % (span + 1));
}

/* ---- functions that start a flow, handle its events and end it ---- */

static void finish(struct transfer *t, const char *status, scps_time end)
{
    struct lab_outcome *o = t->out;

    if (t->over)
        return;
    t->over = true;
    snprintf(o->status, sizeof o->status, "%s", status);
    o->end = end;
    o->bytes = t->sink.received;
    o->missing = t->sink.missing;
    o->records = t->sink.records;
    o->torn = t->sink.torn;
    if (t->source.conn)
        scps_conn_info(t->source.conn, &o->info);
    lab_path_end(&t->job->paths, t->flow, t->source.conn, end);
    if (--t->job->left == 0)
        scps_world_stop(t->job->world);
}

static void failed(struct transfer *t, int err)
{
    char name[24];
    size_t n = 0;

    for (const char *p = scps_errname(err); *p && n + 1 < sizeof name; p++)
        name[n++] = (char)tolower((unsigned char)*p);
    name[n] = '\0';
    finish(t, name, scps_world_now(t->job->world));
}

static void check(struct transfer *t)
{
    struct scps_info i;

    if (t->over)
        return;
    if (t->source.err || t->sink.err) {
        failed(t, t->source.err ? t->source.err : t->sink.err);
    } else if (t->source.closed) {
        scps_conn_info(t->source.conn, &i);
        finish(t, "ok", i.fin_acked);
    }
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct transfer *t = ev->user;
    (void)h, (void)ctx;

    if (!t)
        return;
    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = t->sink.conn ? NULL : scps_accept(ev->listener);
        if (c) {
            scps_conn_set_user(c, t);
            scps_bulk_sink_start(&t->sink, c);
        }
    } else if (ev->conn == t->source.conn) {
        scps_bulk_source_event(&t->source, ev);
    } else {
        scps_bulk_sink_event(&t->sink, ev);
    }
    check(t);
}

static void time_over(void *ctx)
{
    struct transfer *t = ctx;
    struct scps_conn *c = t->source.conn;

    if (t->over)
        return;
    finish(t, "ok", scps_world_now(t->job->world));
    t->source.conn = NULL;
    scps_conn_abort(c);
    scps_host_kick(t->from);
}

static void begin(void *ctx)
{
    struct transfer *t = ctx;
    struct scps_listener *l;
    struct scps_conn *c = NULL;
    int err = 0;

    t->out->start = scps_world_now(t->job->world);
    l = scps_listen(scps_host_stack(t->to), &t->flow->conn, &t->remote, 1, &err);
    if (l) {
        scps_listener_set_user(l, t);
        t->job->connects = t;
        c = scps_connect(scps_host_stack(t->from), &t->flow->conn, NULL, &t->remote, &err);
        t->job->connects = NULL;
    }
    if (!c) {
        failed(t, err);
        return;
    }
    scps_conn_set_user(c, t);
    lab_path_begin(&t->job->paths, t->flow, c, t->out->start);
    scps_bulk_source_start(&t->source, c);
    scps_host_kick(t->from);
    if (t->flow->time != 0 &&
        scps_world_at(t->job->world, t->out->start + t->flow->time, time_over, t) != 0)
        failed(t, SCPS_ERR_NOMEM);
}

/* ---- callbacks that record what the stacks of the hosts report during a simulation run ---- */

static void open_qlog(struct transfer *t, const struct scps_note *n)
{
    struct lab_str name = {0};

    lab_add(&name, "%s-%s.qlog", t->job->w->qlog, t->out->name);
    t->qlog_tried = true;
    t->qlog_conn = n->conn;
    t->qlog_file = fopen(name.p, "w");
    if (t->qlog_file)
        t->qlog = qlog_begin(t->qlog_file, &(struct qlog_head){.title = t->out->name, .t0 = n->at});
    lab_free(&name);
}

/* Called for each observer event n of host h. If the event is about the connection of a flow's
 * sender, writes it to the qlog of that flow; otherwise ignores it. */
static void to_qlog(const struct host *h, const struct scps_note *n)
{
    struct job *j = h->job;

    if (j->connects && j->connects->from == h->host && n->conn && !j->connects->qlog_tried)
        open_qlog(j->connects, n);
    for (size_t i = 0; i < j->n; i++) {
        struct transfer *t = &j->transfer[i];
        if (t->qlog && t->qlog_conn == n->conn && t->from == h->host)
            qlog_note(t->qlog, n);
    }
}

/* Ends and closes the qlogs of all flows. Returns false, with a message in j->w->msg, if a qlog
 * could not be written completely. */
static bool end_qlogs(struct job *j)
{
    bool ok = true;

    for (size_t i = 0; i < j->n; i++) {
        struct transfer *t = &j->transfer[i];
        if (t->qlog_tried && !t->qlog)
            ok = false;
        if (t->qlog)
            ok &= qlog_end(t->qlog);
        if (t->qlog_file)
            ok &= fclose(t->qlog_file) == 0;
        t->qlog = NULL;
    }
    if (!ok)
        snprintf(j->w->msg, sizeof j->w->msg,
                 "--qlog %.200s: not all files could be written: is the folder there, and room?",
                 j->w->qlog);
    return ok;
}

static void note(void *ctx, const struct scps_note *n)
{
    const struct host *h = ctx;
    struct lab_watch *w = h->job->w;

    if (w->qlog)
        to_qlog(h, n);
    if (w->on_note && w->note_mask >> n->kind & 1)
        w->on_note(w->ctx, h->name, n);
}

static void verdict(void *ctx, const struct scps_verdict *v)
{
    const struct side *s = ctx;

    s->w->on_verdict(s->w->ctx, s->dir, v);
}

static void sample(void *ctx)
{
    struct job *j = ctx;
    scps_time now = scps_world_now(j->world);
    struct scps_info i;

    for (size_t k = 0; k < j->n; k++) {
        const struct transfer *t = &j->transfer[k];
        if (t->over || !t->source.conn)
            continue;
        scps_conn_info(t->source.conn, &i);
        j->w->on_sample(j->w->ctx, now, t->out, t->sink.received, &i);
    }
    if (j->left > 0)
        scps_world_at(j->world, now + j->w->every, sample, j);
}

static scps_time now_of(void *ctx)
{
    return scps_world_now(ctx);
}

/* ---- functions that build the simulated world of a run ---- */

static bool fail(struct job *j, const char *what)
{
    snprintf(j->w->msg, sizeof j->w->msg, "cannot set up the run: %s", what);
    return false;
}

static struct scps_host *host_of(struct job *j, const char *name)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct host *h = j->host;

    for (; h < j->host + j->nhosts; h++)
        if (strcmp(h->name, name) == 0)
            return h->host;
    strcpy(h->name, name);
    h->job = j;
    cfg.seed[0] = seed_draw(j->seed, 1000 + 2 * j->nhosts);
    cfg.seed[1] = seed_draw(j->seed, 1001 + 2 * j->nhosts);
    if (j->w->on_note || j->w->qlog)
        cfg.observer = (struct scps_observer){
            note, h, (j->w->on_note ? j->w->note_mask : 0) | (j->w->qlog ? qlog_mask() : 0)};
    h->host = scps_world_host(j->world, name, &cfg, on_event, j);
    j->nhosts++;
    return h->host;
}

/* Sets *a to the IP address at one end of link l, which is number i (from 0) of the links. end: 0
 * for the address of host a of the link, 1 for that of host b. */
static void address(const struct lab_link *l, size_t i, int end, struct scps_addr *a)
{
    char text[48];

    if (l->ipv6)
        snprintf(text, sizeof text, "fd00:%x::%d", (unsigned)i, end + 1);
    else
        snprintf(text, sizeof text, "10.%u.%u.%d", (unsigned)i >> 8 & 255, (unsigned)i & 255,
                 end + 1);
    scps_addr_parse(text, a);
}

/* Starts to observe the first link as the caller requests in j->w: if j->w->on_verdict is not NULL,
 * calls it with the fate of each packet of both directions; if j->w->pcap is not NULL, captures the
 * packets at end a. Returns false, with the reason in j->w->msg, after an error. */
static bool watch_link(struct job *j)
{
    for (int dir = 0; j->w->on_verdict && dir < 2; dir++) {
        j->side[dir] = (struct side){j->w, dir};
        scps_link_observe(j->link[0], dir, verdict, &j->side[dir]);
    }
    if (!j->w->pcap)
        return true;
    j->tap = scps_tap_open(j->w->pcap, 0, 0, now_of, j->world, j->w->msg, sizeof j->w->msg);
    j->w->refused = !j->tap;
    return j->tap && (scps_link_filter(j->link[0], 0, j->tap) == 0 || fail(j, "out of memory"));
}

static bool build_link(struct job *j, size_t i)
{
    const struct lab_link *l = &j->s->link[i];
    struct scps_link_config fwd = l->fwd, back = l->back;
    struct scps_host *a = host_of(j, l->a), *b = host_of(j, l->b);
    struct scps_addr addr[2];

    if (!a || !b)
        return fail(j, "out of memory");
    fwd.seed = lab_link_seed(j->seed, i, 0);
    back.seed = lab_link_seed(j->seed, i, 1);
    address(l, i, 0, &addr[0]);
    address(l, i, 1, &addr[1]);
    j->link[i] =
        scps_world_link(j->world, a, &addr[0], b, &addr[1], l->ipv6 ? 64 : 24, l->mtu, &fwd, &back);
    if (!j->link[i])
        return fail(j, "a link that the simulator refuses");
    for (int end = 0; l->vj && end < 2; end++) {
        struct scps_netif *f = scps_vj_filter_new(NULL);
        if (!f || scps_link_filter(j->link[i], end, f) != 0)
            return fail(j, "out of memory");
    }
    return i > 0 || watch_link(j);
}

static bool build_transfers(struct job *j)
{
    size_t k = 0;

    for (size_t i = 0; i < j->s->nflows; i++) {
        const struct lab_flow *f = &j->s->flow[i];
        const struct lab_link *l = &j->s->link[f->link];
        scps_time start = draw_range(j, &f->start);

        for (unsigned c = 0; c < f->copies; c++, k++) {
            struct transfer *t = &j->transfer[k];
            struct lab_outcome *o = &j->r->flow[k];

            if (c != 0)
                start += draw_range(j, &f->stagger);
            o->flow = f;
            snprintf(o->name, sizeof o->name, f->copies > 1 ? "%s.%u" : "%s", f->name, c + 1);
            snprintf(o->status, sizeof o->status, "timeout");
            *t = (struct transfer){.job = j, .out = o, .flow = f};
            t->from = host_of(j, f->back ? l->b : l->a);
            t->to = host_of(j, f->back ? l->a : l->b);
            address(l, f->link, f->back ? 0 : 1, &t->remote.addr);
            t->remote.port = (uint16_t)(PORT + k);
            t->source = (struct scps_bulk_source){
                .total = f->size, .hollow = true, .chunk = CHUNK, .record = f->record};
            t->writer = (struct lab_writer){f, j->world, t->from, &t->source, start, 0};
            if (scps_world_at(j->world, start, begin, t) != 0 || !lab_writer_attach(&t->writer))
                return fail(j, "out of memory");
        }
    }
    return true;
}

static bool build(struct job *j)
{
    j->world = scps_world_new(NULL);
    if (!j->world)
        return fail(j, "out of memory");
    for (size_t i = 0; i < j->s->nlinks; i++)
        if (!build_link(j, i))
            return false;
    if (!build_transfers(j))
        return false;
    return !j->w->on_sample || scps_world_at(j->world, 0, sample, j) == 0 ||
           fail(j, "out of memory");
}

/* Runs the simulation until its transfers have ended or the scenario's timeout has passed. If
 * j->w->go_on is not NULL, the run is cut into slices of virtual time, and go_on is called before
 * each slice. Returns false if go_on ended the run. */
static bool run(struct job *j)
{
    scps_dur slice = SLICE_FIRST;

    if (!j->w->go_on) {
        scps_world_run(j->world, j->s->timeout);
        return true;
    }
    for (scps_time now = 0; j->left > 0 && now < j->s->timeout; now = scps_world_now(j->world)) {
        if (!j->w->go_on(j->w->ctx)) {
            snprintf(j->w->msg, sizeof j->w->msg, "the run was stopped");
            return false;
        }
        slice = slice_next(slice, scps_world_run(j->world, slice_end(now, slice, j->s->timeout)));
    }
    return true;
}

bool lab_job(const struct lab_setup *s, uint64_t seed, struct lab_watch *w, struct lab_result *r)
{
    struct job j = {.s = s, .w = w, .r = r, .seed = seed};
    bool ok;

    for (size_t i = 0; i < s->nflows; i++)
        j.n += s->flow[i].copies;
    j.left = j.n;
    *r = (struct lab_result){.flow = lab_alloc(j.n * sizeof *r->flow),
                             .n = j.n,
                             .link = lab_alloc(s->nlinks * sizeof *r->link)};
    if (s->flow[0].kind == LAB_NACK) {
        const uint64_t seeds[3] = {lab_link_seed(seed, 0, 0), lab_link_seed(seed, 0, 1), ~seed};
        return lab_model(s, seeds, w, r);
    }
    j.transfer = lab_alloc(j.n * sizeof *j.transfer);
    j.host = lab_alloc(2 * s->nlinks * sizeof *j.host);
    j.link = lab_alloc(s->nlinks * sizeof *j.link);
    ok = build(&j) && run(&j);
    if (ok) {
        r->end = scps_world_now(j.world);
        for (size_t i = 0; i < j.n; i++)
            finish(&j.transfer[i], "timeout", r->end);
        for (size_t i = 0; i < s->nlinks; i++)
            for (int d = 0; d < 2; d++)
                scps_link_get_stats(j.link[i], d, &r->link[i][d]);
        if (j.tap && scps_tap_error(j.tap) != 0)
            ok = fail(&j, "the capture could not be written: is the disk full?");
        ok = end_qlogs(&j) && ok;
    }
    for (size_t i = 0; i < j.n; i++)
        scps_bulk_source_fini(&j.transfer[i].source);
    if (j.world)
        scps_world_free(j.world);
    free(j.transfer);
    free(j.host);
    free(j.link);
    return ok;
}
