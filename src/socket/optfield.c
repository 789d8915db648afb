/* SPDX-License-Identifier: MIT */
/* Options that are a field of the connection's configuration: their table.
 *
 * A line names the option, the field, the unit of the one in that of the other, and the numbers that are allowed.
 */
#include "socket/opt.h"

enum kind { K_BOOL, K_U8, K_U16, K_U32, K_U64, K_DUR, K_ACK_MODE, K_LOSS_CAUSE, K_RECOVERY };

struct field {
    int level, name;
    enum kind kind;
    size_t off;
    int64_t unit; /* one of the option's in the field's */
    int64_t min, max;
};

#define F(level, name, kind, field, unit, min, max)                                                \
    {                                                                                              \
        level, name, kind, offsetof(struct scps_conn_config, field), unit, min, max                \
    }
#define TP(name, kind, field, unit, min, max)                                                      \
    F(SCPS_SOL_SCPS, SCPS_TP_##name, kind, field, unit, min, max)
#define ROUTE(name, kind, field, unit, min, max)                                                   \
    F(SCPS_SOL_SCPS_ROUTE, SCPS_ROUTE_##name, kind, field, unit, min, max)
#define TCP(name, kind, field, unit, min, max)                                                     \
    F(SCPS_SOL_TCP, SCPS_TCP_##name, kind, field, unit, min, max)

#define MS        1000
#define DUR_MAX   INT64_MAX
#define KEEP_MAX  32767
#define COUNT_MAX 127

static const struct field fields[] = {
    TCP(NODELAY, K_BOOL, nodelay, 1, INT32_MIN, INT32_MAX),
    TCP(KEEPIDLE, K_DUR, keep_idle, SEC, 1, KEEP_MAX),
    TCP(KEEPINTVL, K_DUR, keep_interval, SEC, 1, KEEP_MAX),
    TCP(KEEPCNT, K_U16, keep_count, 1, 1, COUNT_MAX),
    TCP(SYNCNT, K_U16, syn_retries, 1, 1, COUNT_MAX),
    TCP(USER_TIMEOUT, K_DUR, user_timeout, MS, 0, INT32_MAX),
    F(SCPS_SOL_SOCKET, SCPS_SO_KEEPALIVE, K_BOOL, keepalive, 1, INT32_MIN, INT32_MAX),
    /* the reference's numbers: milliseconds */
    TP(MAXSEG, K_U16, mss, 1, 0, UINT16_MAX),
    TP(NODELAY, K_BOOL, nodelay, 1, INT32_MIN, INT32_MAX),
    TP(ACKDELAY, K_DUR, ack_delay, MS, 0, INT32_MAX),
    TP(ACKBEHAVE, K_ACK_MODE, ack_mode, 1, SCPS_ACK_DELAYED, SCPS_ACK_OTHER),
    TP(RTOMIN, K_DUR, rto_min, MS, 0, INT32_MAX),
    TP(PERSISTTIME, K_DUR, persist_max, MS, 0, INT32_MAX),
    TP(TIMEOUT, K_U16, data_retries, 1, 0, UINT16_MAX),
    TP(LONGTIMEOUT, K_U16, syn_retries, 1, 0, UINT16_MAX),
    TP(2MSLTIMEOUT, K_DUR, time_wait, MS, 0, INT32_MAX),
    TP(BETS_RTIMEOUT, K_DUR, bets_timeout, MS, 0, INT32_MAX),
    TP(TIMESTAMP, K_BOOL, timestamps, 1, INT32_MIN, INT32_MAX),
    TP(SNACK, K_BOOL, snack, 1, INT32_MIN, INT32_MAX),
    TP(BETS, K_BOOL, bets, 1, INT32_MIN, INT32_MAX),
    TP(SNACKDELAY, K_DUR, snack_delay, MS, 0, INT32_MAX),
    TP(RTOMAX, K_DUR, rto_max, MS, 0, INT32_MAX),
    ROUTE(RTT, K_DUR, expected_rtt, MS, 0, INT32_MAX),
    ROUTE(IRTO, K_DUR, rto_initial, MS, 0, INT32_MAX),
    /* ours: the configuration's own units */
    TP(RATE, K_U64, rate, 1, 0, INT64_MAX),
    TP(RATE_OVERHEAD, K_U32, rate_overhead, 1, 0, UINT32_MAX),
    TP(BURST, K_U32, burst, 1, 0, UINT32_MAX),
    TP(PACING, K_BOOL, pacing, 1, INT32_MIN, INT32_MAX),
    TP(INIT_CWND, K_U32, init_cwnd_segs, 1, 0, UINT32_MAX),
    TP(SACK, K_BOOL, sack, 1, INT32_MIN, INT32_MAX),
    TP(DSACK, K_BOOL, dsack, 1, INT32_MIN, INT32_MAX),
    TP(TIMESTAMPS, K_BOOL, timestamps, 1, INT32_MIN, INT32_MAX),
    TP(WSCALE, K_BOOL, wscale, 1, INT32_MIN, INT32_MAX),
    TP(ECN, K_BOOL, ecn, 1, INT32_MIN, INT32_MAX),
    TP(LIMITED_TRANSMIT, K_BOOL, limited_transmit, 1, INT32_MIN, INT32_MAX),
    TP(SPURIOUS_UNDO, K_BOOL, spurious_undo, 1, INT32_MIN, INT32_MAX),
    TP(DUPTHRESH, K_U8, dupthresh, 1, 1, UINT8_MAX),
    TP(LOSS_CAUSE, K_LOSS_CAUSE, loss_cause, 1, SCPS_LOSS_CONGESTION, SCPS_LOSS_OUTAGE),
    TP(ACK_MODE, K_ACK_MODE, ack_mode, 1, SCPS_ACK_DELAYED, SCPS_ACK_OTHER),
    TP(ACK_DELAY, K_DUR, ack_delay, 1, 0, DUR_MAX),
    TP(EXPECTED_RTT, K_DUR, expected_rtt, 1, 0, DUR_MAX),
    TP(RTO_INITIAL, K_DUR, rto_initial, 1, 0, DUR_MAX),
    TP(RTO_MIN, K_DUR, rto_min, 1, 0, DUR_MAX),
    TP(RTO_MAX, K_DUR, rto_max, 1, 0, DUR_MAX),
    TP(PERSIST_MAX, K_DUR, persist_max, 1, 0, DUR_MAX),
    TP(TIME_WAIT, K_DUR, time_wait, 1, 0, DUR_MAX),
    TP(FIN_WAIT2, K_DUR, fin_wait2, 1, 0, DUR_MAX),
    TP(SYN_RETRIES, K_U16, syn_retries, 1, 0, UINT16_MAX),
    TP(DATA_RETRIES, K_U16, data_retries, 1, 0, UINT16_MAX),
    TP(USER_TIMEOUT, K_DUR, user_timeout, 1, 0, DUR_MAX),
    TP(KEEP_IDLE, K_DUR, keep_idle, 1, 0, DUR_MAX),
    TP(KEEP_INTERVAL, K_DUR, keep_interval, 1, 0, DUR_MAX),
    TP(KEEP_COUNT, K_U16, keep_count, 1, 0, UINT16_MAX),
    TP(SNACK_LONG, K_BOOL, snack_long, 1, INT32_MIN, INT32_MAX),
    TP(SNACK_RAW_UNIT, K_BOOL, snack_raw_unit, 1, INT32_MIN, INT32_MAX),
    TP(SNACK_DELAY, K_DUR, snack_delay, 1, 0, DUR_MAX),
    TP(CAPS_TRIES, K_U8, caps_tries, 1, 0, UINT8_MAX),
    TP(FIRST_WINDOW, K_U32, first_window, 1, 0, UINT32_MAX),
    TP(RECORDS, K_BOOL, records, 1, INT32_MIN, INT32_MAX),
    TP(BETS_LEGACY, K_BOOL, bets_legacy, 1, INT32_MIN, INT32_MAX),
    TP(BETS_TIMEOUT, K_DUR, bets_timeout, 1, 0, DUR_MAX),
    TP(BETS_RETRIES, K_U8, bets_retries, 1, 1, 254),
    TP(BETS_LIFETIME, K_DUR, bets_lifetime, 1, 0, DUR_MAX),
    TP(RECOVERY, K_RECOVERY, recovery, 1, SCPS_RECOVERY_CLASSIC, SCPS_RECOVERY_RACK),
    TP(HOLES_AT_ONCE, K_BOOL, holes_at_once, 1, INT32_MIN, INT32_MAX),
    TP(QUICK_ACKS, K_U16, quick_acks, 1, 0, UINT16_MAX),
    TP(ACK_BUDGET, K_U64, ack_budget, 1, 0, INT64_MAX),
    TP(ACK_BUDGET_PPS, K_U32, ack_budget_pps, 1, 0, UINT32_MAX),
    TP(CORRUPTION, K_BOOL, corruption, 1, INT32_MIN, INT32_MAX),
    TP(CORRUPTION_HOLD, K_DUR, corruption_hold, 1, 0, DUR_MAX),
    TP(OUTAGE_AFTER, K_U8, outage_after, 1, 0, UINT8_MAX),
};

const struct field *scps_sock_field(int level, int name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].level == level && fields[i].name == name)
            return &fields[i];
    return NULL;
}

static int64_t field_get(const struct scps_conn_config *cfg, const struct field *f)
{
    const uint8_t *p = (const uint8_t *)cfg + f->off;
    int64_t v = 0;
    switch (f->kind) {
    case K_BOOL:
        v = *(const bool *)p;
        break;
    case K_U8:
        v = *p;
        break;
    case K_U16:
        v = *(const uint16_t *)(const void *)p;
        break;
    case K_U32:
        v = *(const uint32_t *)(const void *)p;
        break;
    case K_U64: {
        uint64_t u = *(const uint64_t *)(const void *)p;
        v = (int64_t)SCPS_MIN(u, (uint64_t)INT64_MAX);
        break;
    }
    case K_DUR:
        v = *(const scps_dur *)(const void *)p;
        break;
    case K_ACK_MODE:
        v = cfg->ack_mode;
        break;
    case K_LOSS_CAUSE:
        v = cfg->loss_cause;
        break;
    case K_RECOVERY:
        v = cfg->recovery;
        break;
    }
    return v / f->unit;
}

static int field_set(struct scps_conn_config *cfg, const struct field *f, int64_t v)
{
    uint8_t *p = (uint8_t *)cfg + f->off;
    if (v < f->min || v > f->max || v > INT64_MAX / f->unit)
        return -EINVAL;
    v *= f->unit;
    switch (f->kind) {
    case K_BOOL:
        *(bool *)p = v != 0;
        break;
    case K_U8:
        *p = (uint8_t)v;
        break;
    case K_U16:
        *(uint16_t *)(void *)p = (uint16_t)v;
        break;
    case K_U32:
        *(uint32_t *)(void *)p = (uint32_t)v;
        break;
    case K_U64:
        *(uint64_t *)(void *)p = (uint64_t)v;
        break;
    case K_DUR:
        *(scps_dur *)(void *)p = v;
        break;
    case K_ACK_MODE:
        cfg->ack_mode = (enum scps_ack_mode)v;
        break;
    case K_LOSS_CAUSE:
        cfg->loss_cause = (enum scps_loss_cause)v;
        break;
    case K_RECOVERY:
        cfg->recovery = (enum scps_recovery_mode)v;
        break;
    }
    return 0;
}

int scps_sock_field_set(struct sock *s, const struct field *f, int64_t v)
{
    struct scps_conn_config to = s->cfg;
    int r = field_set(&to, f, v);
    if (r == 0)
        r = scps_sock_change(s, &to);
    if (r == 0 && f->kind == K_ACK_MODE) {
        s->ack_mode = s->cfg.ack_mode;
        s->quickack = false;
    }
    if (r == 0 && f->off == offsetof(struct scps_conn_config, nodelay) && s->conn && !s->dead) {
        scps_conn_nodelay(s->conn, s->cfg.nodelay);
        if (s->cfg.nodelay && s->cork) { /* lets go of what the cork holds now, and leaves it in */
            scps_conn_cork(s->conn, false);
            scps_sock_turn(s->ctx);
            scps_conn_cork(s->conn, true);
        }
    }
    return r;
}

int64_t scps_sock_field_get(const struct sock *s, const struct field *f)
{
    return f->kind == K_ACK_MODE ? s->ack_mode /* not quickack's */ : field_get(&s->cfg, f);
}
