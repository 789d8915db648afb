/* SPDX-License-Identifier: MIT */
/* Opens, runs and ends a flow of data, and passes the events of a connection to its sender and
 * receiver (flow.h). */
#include "scps_ttcp/flow.h"

#include <scps/error.h>

#include <string.h>

int ttcp_flow_open(struct ttcp_flow *f, const struct ttcp_options *o, bool verify,
                   const volatile sig_atomic_t *stop_now)
{
    struct ttcp_verify *v = verify ? &f->verify : NULL;
    int err = 0;

    f->out.fd = -1;
    if (f->r->has_tx)
        err = ttcp_input_init(&f->in, o, v, stop_now);
    if (err == 0 && f->r->has_rx)
        err = ttcp_output_init(&f->out, o, v);
    if (err == SCPS_ERR_SYSTEM)
        ttcp_result_fail(f->r, TTCP_FAILED, "%.200s: %s: write elsewhere", f->out.name,
                         strerror(f->out.sys_errno));
    else if (err != 0)
        ttcp_result_fail(f->r, TTCP_FAILED, "out of memory: give a smaller -l");
    return err;
}

void ttcp_flow_fini(struct ttcp_flow *f)
{
    if (f->r->has_rx && ttcp_output_fini(&f->out) != 0)
        ttcp_result_fail(f->r, TTCP_FAILED, "%.200s: %s: what was written may be incomplete",
                         f->out.name, strerror(f->out.sys_errno));
    ttcp_dgram_send_fini(&f->sender);
    ttcp_dgram_receive_fini(&f->receiver);
    ttcp_input_fini(&f->in);
    ttcp_verify_fini(&f->verify);
}

struct ttcp_sender *ttcp_flow_sender(struct ttcp_flow *f)
{
    return f->r->has_tx ? &f->sender : NULL;
}

struct ttcp_receiver *ttcp_flow_receiver(struct ttcp_flow *f)
{
    return f->r->has_rx ? &f->receiver : NULL;
}

void ttcp_end_init(struct ttcp_end *e, struct ttcp_flow *tx, struct ttcp_flow *rx)
{
    *e = (struct ttcp_end){0};
    if (tx != NULL) {
        e->tx = &tx->sender;
        ttcp_sender_wait(e->tx, &tx->in);
        e->tx->duplex = rx != NULL;
        /* The receiver is in another process and may send its result back (--tell). To check the
         * data, this sender computes the checksum that the result contains, too. */
        e->tx->sums = !tx->r->has_rx && rx == NULL;
    }
    if (rx != NULL) {
        e->rx = &rx->receiver;
        ttcp_receiver_wait(e->rx, &rx->out);
        e->rx->duplex = tx != NULL;
    }
}

void ttcp_end_connect(struct ttcp_end *e, struct scps_conn *c, scps_time now)
{
    e->conn = c;
    e->id = scps_conn_id(c);
    if (e->tx != NULL) {
        e->tx->conn = c;
        e->tx->syn = now;
        ttcp_path_restore(&e->tx->path, e->tx->in->opt, c);
    }
    if (e->rx != NULL) {
        e->rx->conn = c;
        e->rx->opened = now;
    }
}

void ttcp_end_accept(struct ttcp_end *e, struct scps_conn *c, scps_time now)
{
    e->conn = c;
    e->id = scps_conn_id(c);
    if (e->tx != NULL)
        ttcp_sender_accept(e->tx, c, now);
    if (e->rx != NULL)
        ttcp_receiver_accept(e->rx, c, now);
}

void ttcp_end_event(struct ttcp_end *e, const struct scps_event *ev, scps_time now)
{
    if (e->tx != NULL)
        ttcp_sender_event(e->tx, ev, now);
    if (e->rx != NULL)
        ttcp_receiver_event(e->rx, ev, now);
}

bool ttcp_end_over(const struct ttcp_end *e)
{
    return e->tx != NULL ? e->tx->over : e->rx == NULL || e->rx->over;
}

scps_dur ttcp_ends_linger(const struct ttcp_end *e, size_t n)
{
    scps_dur stay = SCPS_SEC(2);
    struct scps_info info;

    for (size_t k = 0; k < n; k++) {
        if (e[k].conn == NULL)
            continue;
        scps_conn_info(e[k].conn, &info);
        if (4 * info.rto > stay)
            stay = 4 * info.rto;
    }
    return stay;
}

void ttcp_flow_fail(struct ttcp_flow *f, int err)
{
    if (f->r->has_tx && !f->sender.closed && f->sender.err == 0)
        f->sender.err = err;
    if (f->r->has_rx && !f->receiver.eof && f->receiver.err == 0)
        f->receiver.err = err;
}

void ttcp_flows_interval(struct ttcp_flow *f, size_t n, scps_dur now, bool text)
{
    /* sums over the flows in one direction: [0] data from the end with -t to the end with -r; [1]
     * data in the opposite direction (--bidir) */
    struct ttcp_interval sum[2] = {{0}, {0}};
    const struct ttcp_result *of[2] = {NULL, NULL};
    size_t count[2] = {0, 0};

    for (size_t k = 0; k < n; k++) {
        const struct ttcp_interval *i =
            ttcp_result_interval(f[k].r, ttcp_flow_sender(&f[k]), ttcp_flow_receiver(&f[k]), now);

        if (i == NULL || !text)
            continue;
        ttcp_report_interval(f[k].r, i, stderr);
        ttcp_interval_add(&sum[f[k].r->back], i);
        of[f[k].r->back] = f[k].r;
        count[f[k].r->back]++;
    }
    for (int back = 0; back < 2; back++)
        if (count[back] > 1)
            ttcp_report_interval_sum(of[back], &sum[back], stderr);
}
