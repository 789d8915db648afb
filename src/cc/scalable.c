/* SPDX-License-Identifier: MIT */
/* Scalable TCP: recovery from a loss takes the same number of round trips whatever the window.
 *
 *     each segment acknowledged    cwnd + 0.01 segments
 *     loss                         cwnd - 0.125 cwnd    back in ln(1/0.875)/0.01 = 13.4 round trips
 *
 * Source: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR
 * 33(2), 2003: a = 0.01, b = 0.125. Up to the legacy window of 16 segments all rules are those of
 * standard TCP.
 *
 * Differences from the paper: growth counts bytes (window.c), and the window grows by whole
 * segments, one for every 100 acknowledged; a loss ends the count. Other implementations never grow
 * slower than Reno and add 0.02 segments for each segment acknowledged; the parameters floor=1
 * (never slower than standard TCP), legacy=0 (no legacy window) and ai=50 (1/50 segment) do the
 * same. By the paper's own rule a window of 17 to 100 segments grows slower than that of Reno, but
 * a loss reduces it less: by 1/8, not by half.
 */
#include "cc/cc.h"
#include "cc/window.h"

#include "base/bytes.h"

struct scalable {
    struct scps_win win;
    uint16_t ai, keep, legacy;
    bool floor;
};

enum { P_AI = SCPS_WIN_PARAMS, P_MD, P_LEGACY, P_FLOOR };

static const struct scps_cc_param params[] = {
    SCPS_WIN_PARAM_LIST(0),
    {"ai", "number of segments acknowledged for which the window grows by one segment", 100, 1,
     65535},
    {"md", "part of the window by which a loss reduces it, x/1024", 128, 1, 1000},
    {"legacy", "window up to which the rules are those of standard TCP, segments", 16, 0, 65535},
    {"floor", "1: never grow slower than standard TCP; 0: as in the paper", 0, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct scalable *sc = s;

    scps_win_start(&sc->win, param, sizeof *sc, v, ctl);
    sc->ai = (uint16_t)param[P_AI];
    sc->keep = (uint16_t)(1024 - param[P_MD]);
    sc->legacy = (uint16_t)param[P_LEGACY];
    sc->floor = param[P_FLOOR] != 0;
}

static bool legacy(const struct scalable *sc, uint64_t bytes, uint32_t mss)
{
    return bytes <= (uint64_t)sc->legacy * mss;
}

/* Grows the window. Up to the legacy window (parameter legacy, in segments), and with floor=1
 * wherever that is faster, it grows as in standard TCP, by scps_win_avoid(); otherwise by the rule
 * of Scalable TCP. The growth not yet applied (credit) is in units of 1/256 byte in both, so that
 * it stays valid when the window crosses that limit. */
static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct scalable *sc = s;
    uint64_t bytes = scps_win_credit(&sc->win, v, a, ctl);
    uint64_t step = (uint64_t)sc->ai * v->mss * 256;

    bytes = scps_win_slow_start(&sc->win, v, a, bytes, ctl);
    if (!bytes)
        return;
    if (legacy(sc, ctl->cwnd, v->mss) || (sc->floor && ctl->cwnd * 256 < step)) {
        scps_win_avoid(&sc->win, v, bytes, 256, ctl);
        return;
    }
    sc->win.credit += bytes * 256;
    ctl->cwnd += sc->win.credit / step * v->mss;
    sc->win.credit %= step;
}

static unsigned kept_share(const struct scalable *sc, const struct scps_cc_view *v,
                           const struct scps_cc_ctl *ctl)
{
    return legacy(sc, scps_win_flight(v, ctl), v->mss) ? 512 : sc->keep;
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct scalable *sc = s;

    scps_win_loss(&sc->win, v, l, kept_share(sc, v, ctl), ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct scalable *sc = s;

    scps_win_change(&sc->win, v, what, kept_share(sc, v, ctl), ctl);
}

const struct scps_cc_ops scps_cc_scalable = {
    .name = "scalable",
    .help = "Scalable TCP: grows 0.01 segments for each acknowledged; a loss takes an eighth",
    .state_size = sizeof(struct scalable),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = scps_win_more_state,
};
