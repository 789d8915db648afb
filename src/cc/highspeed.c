/* SPDX-License-Identifier: MIT */
/* HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less it is reduced.
 *
 *      a(w) segments more a round trip, b(w) of the window less at a loss
 *
 *     w         38    1058    10661   83000
 *     a          1       8       30      70     Reno below 38 segments; a straight line in log-log
 *     b        0.5    0.33     0.21    0.10     from there to 83000 segments at a loss rate of 1e-7
 *
 * Sources: RFC 3649 section 5 (the response function), section 6 and appendix B (the table, which
 * is used as it stands: a grows by one at each row's window, b is that of the row, rounded to
 * 1/1024); RFC 3742 (limited slow start, which RFC 3649 section 10 recommends for such windows;
 * here off by default, as a space link is filled by slow start or not at all in a short transfer).
 *
 * Differences from the RFCs: growth counts bytes (window.c); above the last row of the table, that
 * row is used.
 */
#include "cc/cc.h"
#include "cc/window.h"

#include "base/bytes.h"

/* Row i holds from a window of w segments on: the window grows by a = i + 1 segments in a round
 * trip, and a loss reduces it by the share b = cut/1024. */
static const struct {
    uint32_t w;
    uint16_t cut;
} table[] = {
    {38, 512},    {118, 452},   {221, 418},   {347, 394},   {495, 375},   {663, 360},
    {851, 346},   {1058, 335},  {1284, 324},  {1529, 315},  {1793, 307},  {2076, 299},
    {2378, 292},  {2699, 285},  {3039, 279},  {3399, 273},  {3778, 267},  {4177, 262},
    {4596, 257},  {5036, 252},  {5497, 247},  {5979, 243},  {6483, 238},  {7009, 234},
    {7558, 230},  {8130, 226},  {8726, 222},  {9346, 219},  {9991, 215},  {10661, 212},
    {11358, 208}, {12082, 205}, {12834, 202}, {13614, 199}, {14424, 196}, {15265, 193},
    {16137, 190}, {17042, 187}, {17981, 184}, {18955, 181}, {19965, 178}, {21013, 176},
    {22101, 173}, {23230, 170}, {24402, 168}, {25618, 165}, {26881, 162}, {28193, 160},
    {29557, 157}, {30975, 155}, {32450, 152}, {33986, 150}, {35586, 148}, {37253, 145},
    {38992, 143}, {40808, 140}, {42707, 138}, {44694, 135}, {46776, 133}, {48961, 131},
    {51258, 128}, {53677, 126}, {56230, 123}, {58932, 121}, {61799, 118}, {64851, 116},
    {68113, 113}, {71617, 110}, {75401, 108}, {79517, 105}, {84035, 102}, {89053, 99},
    {94717, 95},
};
enum { ROWS = sizeof table / sizeof *table };

struct highspeed {
    struct scps_win win;
    uint32_t limited; /* max_ssthresh of RFC 3742, segments; 0: limited slow start is off */
};

enum { P_LIMITED = SCPS_WIN_PARAMS };

static const struct scps_cc_param params[] = {
    SCPS_WIN_PARAM_LIST(0),
    {"lss", "window above which slow start is limited (RFC 3742), segments; 0: not limited", 0, 0,
     1000000},
    {NULL, NULL, 0, 0, 0},
};

static size_t row(uint64_t segments)
{
    size_t lo = 0, hi = ROWS;

    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (table[mid].w <= segments)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static unsigned kept_share(uint64_t bytes, uint32_t mss)
{
    return 1024u - table[row(bytes / mss)].cut;
}

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct highspeed *h = s;

    scps_win_start(&h->win, param, sizeof *h, v, ctl);
    h->limited = (uint32_t)param[P_LIMITED];
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct highspeed *h = s;
    uint64_t bytes = scps_win_credit(&h->win, v, a, ctl);
    uint64_t limited = (uint64_t)h->limited * v->mss;

    if (limited && ctl->cwnd > limited && ctl->cwnd < ctl->ssthresh)
        /* RFC 3742 section 2: above max_ssthresh, the growth of slow start is divided by K = cwnd /
         * (max_ssthresh / 2). */
        bytes /= ctl->cwnd / SCPS_MAX(limited / 2, 1);
    bytes = scps_win_slow_start(&h->win, v, a, bytes, ctl);
    if (bytes)
        scps_win_avoid(&h->win, v, bytes, 256 * (row(ctl->cwnd / v->mss) + 1), ctl);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct highspeed *h = s;

    scps_win_loss(&h->win, v, l, kept_share(scps_win_flight(v, ctl), v->mss), ctl);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct highspeed *h = s;

    scps_win_change(&h->win, v, what, kept_share(scps_win_flight(v, ctl), v->mss), ctl);
}

const struct scps_cc_ops scps_cc_highspeed = {
    .name = "highspeed",
    .help = "HighSpeed TCP (RFC 3649): large windows grow faster and shrink less at a loss",
    .state_size = sizeof(struct highspeed),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = scps_win_more_state,
};
