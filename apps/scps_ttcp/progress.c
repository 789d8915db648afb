/* SPDX-License-Identifier: MIT */
/* Prints the progress line of a transfer. The times at which this line is printed depend on the
 * wall clock; the results of a transfer in virtual time do not. */
#include "scps_ttcp/progress.h"
#include "scps_ttcp/units.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define EVERY SCPS_MS(100)

void ttcp_progress_init(struct ttcp_progress *p)
{
    memset(p, 0, sizeof(*p));
    p->on = isatty(STDERR_FILENO) == 1;
}

void ttcp_progress_clear(struct ttcp_progress *p)
{
    if (!p->dirty)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->dirty = false;
}

static void bytes_text(char *buf, size_t cap, uint64_t n)
{
    if (n >= 10u << 20)
        snprintf(buf, cap, "%" PRIu64 "M", n >> 20);
    else if (n >= 10u << 10)
        snprintf(buf, cap, "%" PRIu64 "K", n >> 10);
    else
        snprintf(buf, cap, "%" PRIu64, n);
}

/* The figures of the progress line. done, total, cwnd and holes are sums over all flows of the run:
 * bytes transferred and bytes to be transferred; congestion windows, or windows of the peers where
 * these are smaller, bytes; and numbers of missing ranges at the receivers. */
struct sums {
    uint64_t done, total /* UINT64_MAX: unknown */, cwnd, holes;
    /* smoothed RTT of the first flow whose sender has a connection in this process, µs */
    scps_dur rtt;
    bool sends, receives;
};

static void add_flow(struct sums *u, struct ttcp_flow *f)
{
    const struct ttcp_sender *s = ttcp_flow_sender(f);
    const struct ttcp_receiver *r = ttcp_flow_receiver(f);
    struct scps_info i;

    u->done += r != NULL ? r->received : s->acked;
    if (s == NULL || s->in->total == UINT64_MAX || u->total == UINT64_MAX)
        u->total = UINT64_MAX;
    else
        u->total += s->in->total;
    if (s != NULL && s->conn != NULL) {
        scps_conn_info(s->conn, &i);
        u->cwnd += i.cwnd < i.snd_wnd ? i.cwnd : i.snd_wnd;
        u->rtt = u->sends ? u->rtt : i.srtt;
        u->sends = true;
    }
    if (r != NULL && r->conn != NULL) {
        scps_conn_info(r->conn, &i);
        u->holes += i.rcv_holes;
        u->receives = true;
    }
}

/* Returns an estimate of the transfer's remaining time, µs, the shorter one of two: the remaining
 * bytes divided by the mean rate so far, and the time until --time has passed; -1: neither is
 * known. now: µs since the start. */
static scps_dur time_left(const struct sums *u, const struct ttcp_options *o, scps_dur now)
{
    scps_dur by_bytes = -1;

    if (u->total != UINT64_MAX && u->done > 0 && u->done < u->total)
        by_bytes = (scps_dur)((double)now * (double)(u->total - u->done) / (double)u->done);
    if (o->time > now && (by_bytes < 0 || o->time - now < by_bytes))
        return o->time - now;
    return by_bytes;
}

void ttcp_progress_show(struct ttcp_progress *p, struct ttcp_flow *f, size_t n, scps_dur now)
{
    const struct ttcp_options *o = f->r->opt;
    struct sums u = {0};
    char rate[48], amount[32], eta[32];
    scps_time wall;
    scps_dur left;

    if (!p->on)
        return;
    wall = scps_sysclock_now();
    if (wall - p->shown < EVERY || now <= p->at)
        return;
    for (size_t k = 0; k < n; k++)
        add_flow(&u, &f[k]);
    bytes_text(amount, sizeof(amount), u.done);
    fprintf(stderr, "\r%s", amount);
    if (u.total != UINT64_MAX && u.total > 0)
        fprintf(stderr, " %3" PRIu64 "%%",
                u.total > UINT64_MAX / 100 ? u.done / (u.total / 100) : u.done * 100 / u.total);
    fprintf(stderr, " %s", units_print_rate(rate, u.done - p->bytes, now - p->at, o->unit));
    if (u.sends) {
        bytes_text(amount, sizeof(amount), u.cwnd);
        fprintf(stderr, " rtt %" PRId64 ".%" PRId64 " ms cwnd %s", u.rtt / 1000, u.rtt % 1000 / 100,
                amount);
    }
    if (u.receives)
        fprintf(stderr, " holes %" PRIu64, u.holes);
    left = time_left(&u, o, now);
    if (left >= 0)
        fprintf(stderr, " ETA %s s", units_print_seconds(eta, left, 0));
    fputs("\033[K", stderr);
    fflush(stderr);
    p->dirty = true;
    p->shown = wall;
    p->at = now;
    p->bytes = u.done;
}
