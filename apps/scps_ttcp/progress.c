/* SPDX-License-Identifier: MIT */
/* The wall clock decides only when a person sees something, never what a run computes. */
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
    if (p->dirty)
        fputs("\r\033[K", stderr);
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

void ttcp_progress_show(struct ttcp_progress *p, const struct ttcp_result *r,
                        const struct ttcp_sender *s, const struct ttcp_receiver *rcv, scps_dur now)
{
    uint64_t done = rcv != NULL ? rcv->received : s->acked;
    uint64_t total = s != NULL ? s->in->total : UINT64_MAX;
    struct scps_info info;
    char rate[48], amount[32], eta[32];
    scps_time wall;

    if (!p->on)
        return;
    wall = scps_sysclock_now();
    if (wall - p->shown < EVERY || now <= p->at)
        return;
    bytes_text(amount, sizeof(amount), done);
    fprintf(stderr, "\r%s", amount);
    if (total != UINT64_MAX && total > 0)
        fprintf(stderr, " %3" PRIu64 "%%",
                total > UINT64_MAX / 100 ? done / (total / 100) : done * 100 / total);
    fprintf(stderr, " %s", units_print_rate(rate, done - p->bytes, now - p->at, r->opt->unit));
    if (s != NULL && s->conn != NULL) {
        uint64_t cwnd;

        scps_conn_info(s->conn, &info);
        cwnd = info.cwnd < info.snd_wnd ? info.cwnd : info.snd_wnd;
        bytes_text(amount, sizeof(amount), cwnd);
        fprintf(stderr, " rtt %" PRId64 ".%" PRId64 " ms cwnd %s", info.srtt / 1000,
                info.srtt % 1000 / 100, amount);
    }
    if (rcv != NULL && rcv->conn != NULL) {
        scps_conn_info(rcv->conn, &info);
        fprintf(stderr, " holes %" PRIu32, info.rcv_holes);
    }
    if (total != UINT64_MAX && done > 0 && done < total)
        fprintf(stderr, " ETA %s s",
                units_print_seconds(eta,
                                    (scps_dur)((uint64_t)now / 1000 * ((total - done) / 1000 + 1) /
                                               (done / 1000 + 1) * 1000),
                                    0));
    fputs("\033[K", stderr);
    fflush(stderr);
    p->dirty = true;
    p->shown = wall;
    p->at = now;
    p->bytes = done;
}
