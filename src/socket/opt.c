/* SPDX-License-Identifier: MIT */
/* Options: get- and setsockopt, fcntl, ioctl.
 *
 * An option either is a field of the connection's configuration, which is then handed down to the connection or
 * listener there is (scps_sock_apply), or it is the socket's own.  The fields have one table; what Linux treats
 * in a way of its own has code.
 *
 * setsockopt takes an int unless an option says otherwise: EINVAL when fewer bytes are given, the rest ignored.
 * getsockopt gives as many bytes as there are and fit, and says how many.  docs/howto/sockets.md lists it all.
 */
#include <string.h>

#include <scps/wire.h>

#include "socket/sock.h"

#define BUF_MIN     256u
#define BUF_MAX     (1u << 30)
#define CC_NAME_MAX 16 /* what Linux gives out of a controller's name */
#define CC_TEXT_MAX 256
#define MSS_MIN     88
#define MSS_MAX     32767
#define LINGER2_MAX 120
#define KEEP_MAX    32767
#define COUNT_MAX   127
#define ECN_BITS    0x03
#define NO_RATE     UINT64_MAX
#define DEFAULT_MSS 536 /* RFC 9293 section 3.7.1: what an IPv4 peer can do until it says more */

/* ---- fields of the configuration ------------------------------------------------------------------- */

enum kind { K_BOOL, K_U8, K_U16, K_U32, K_U64, K_DUR, K_ACK_MODE, K_LOSS_CAUSE };

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

#define MS      1000
#define SEC     1000000
#define DUR_MAX INT64_MAX

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
};

static const struct field *field_find(int level, int name)
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
    }
    return 0;
}

/* ---- the configuration and whoever has it ----------------------------------------------------------- */

int scps_sock_apply(struct sock *s)
{
    int e = 0;
    if (s->lis) {
        e = scps_listener_set(s->lis, &s->cfg, 0);
    } else if (s->conn && !s->dead) {
        e = scps_conn_set_config(s->conn, &s->cfg);
        if (e == 0) { /* a buffer of a living connection may not be what was asked for */
            struct scps_conn_config now;
            scps_conn_get_config(s->conn, &now);
            s->cfg.sndbuf = now.sndbuf;
            s->cfg.rcvbuf = now.rcvbuf;
        }
    }
    return e < 0 ? -scps_sock_errno(e) : 0;
}

static int change(struct sock *s, const struct scps_conn_config *to)
{
    struct scps_conn_config old = s->cfg;
    s->cfg = *to;
    int r = scps_sock_apply(s);
    if (r < 0)
        s->cfg = old;
    return r;
}

static int set_field(struct sock *s, const struct field *f, int64_t v)
{
    struct scps_conn_config to = s->cfg;
    int r = field_set(&to, f, v);
    if (r == 0)
        r = change(s, &to);
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

/* ---- values in and out ------------------------------------------------------------------------------ */

/* An int, or an int64_t when that many bytes are given. */
static int take_number(const void *val, uint32_t len, bool wide, int64_t *out)
{
    if (wide && len >= sizeof(int64_t)) {
        memcpy(out, val, sizeof *out);
        return 0;
    }
    int v;
    if (len < sizeof v)
        return -EINVAL;
    memcpy(&v, val, sizeof v);
    *out = v;
    return 0;
}

static int give(void *val, uint32_t *len, const void *from, size_t n)
{
    *len = (uint32_t)SCPS_MIN(n, *len);
    memcpy(val, from, *len);
    return 0;
}

static int give_int(void *val, uint32_t *len, int64_t v)
{
    int i = (int)SCPS_CLAMP(v, INT32_MIN, INT32_MAX);
    return give(val, len, &i, sizeof i);
}

static int give_number(void *val, uint32_t *len, int64_t v)
{
    if (*len >= sizeof v)
        return give(val, len, &v, sizeof v);
    return give_int(val, len, v);
}

/* ---- controllers by name ----------------------------------------------------------------------------- */

static int set_cc_parsed(struct sock *s, const struct scps_cc_ops *ops, const int64_t *param)
{
    struct scps_conn_config to = s->cfg;
    bool other = to.cc != ops;
    to.cc = ops;
    if (!other && memcmp(to.cc_param, param, sizeof to.cc_param) == 0)
        return 0;
    memcpy(to.cc_param, param, sizeof to.cc_param);
    if (s->conn && !s->dead) /* a living connection keeps the one it started with */
        return -EISCONN;
    return change(s, &to);
}

static int set_cc(struct sock *s, const void *val, uint32_t len)
{
    char text[CC_TEXT_MAX];
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS] = {0};
    if (len < 1)
        return -EINVAL;
    size_t n = SCPS_MIN(len, sizeof text - 1);
    memcpy(text, val, n);
    text[n] = 0;
    if (strcmp(text, "reno") == 0) /* what Linux calls Van Jacobson's */
        strcpy(text, "vj");
    int e = scps_cc_parse(text, &ops, param, NULL, 0);
    if (e < 0)
        return -scps_sock_errno(e);
    return set_cc_parsed(s, ops, param);
}

static const struct scps_cc_ops *cc_of(const struct sock *s)
{
    return s->cfg.cc ? s->cfg.cc : scps_cc_find("vj");
}

static const char *append(char *buf, size_t cap, const char *text)
{
    size_t have = strlen(buf), n = SCPS_MIN(strlen(text), cap - 1 - have);
    memcpy(buf + have, text, n);
    buf[have + n] = 0;
    return buf;
}

static char *decimal(int64_t v, char buf[24])
{
    char *p = buf + 23;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    *p = 0;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0)
        *--p = '-';
    return p;
}

/* "name,key=value,...": what SCPS_TP_CC takes, with every parameter. */
static int get_cc_text(const struct sock *s, void *val, uint32_t *len)
{
    char text[CC_TEXT_MAX] = "", num[24];
    const struct scps_cc_ops *ops = cc_of(s);
    append(text, sizeof text, ops->name);
    for (int i = 0; ops->params && i < SCPS_CC_PARAMS && ops->params[i].name; i++) {
        append(text, sizeof text, ",");
        append(text, sizeof text, ops->params[i].name);
        append(text, sizeof text, "=");
        append(text, sizeof text, decimal(s->cfg.cc_param[i], num));
    }
    return give(val, len, text, strlen(text) + 1);
}

/* The Vegas numbers of the reference: a parameter of whatever controller there is. */
static int64_t *cc_param(struct sock *s, int name, const struct scps_cc_param **desc,
                         struct scps_conn_config *cfg)
{
    const char *key = name == SCPS_TP_VEGAS_ALPHA  ? "alpha"
                      : name == SCPS_TP_VEGAS_BETA ? "beta"
                                                   : "gamma";
    const struct scps_cc_ops *ops = cc_of(s);
    for (int i = 0; ops->params && i < SCPS_CC_PARAMS && ops->params[i].name; i++)
        if (strcmp(ops->params[i].name, key) == 0) {
            *desc = &ops->params[i];
            return &cfg->cc_param[i];
        }
    return NULL;
}

/* ---- level by level ---------------------------------------------------------------------------------- */

static int set_buf(struct sock *s, int name, int64_t v)
{
    struct scps_conn_config to = s->cfg;
    /* Linux takes the number as unsigned, and cuts it to its limit. */
    uint32_t n = (uint32_t)SCPS_CLAMP((uint32_t)v, BUF_MIN, BUF_MAX);
    if (name == SCPS_SO_SNDBUF || name == SCPS_SO_SNDBUFFORCE)
        to.sndbuf = n;
    else
        to.rcvbuf = n;
    return change(s, &to);
}

static int set_timeo(scps_dur *to, const void *val, uint32_t len)
{
    struct scps_timeval tv;
    if (len < sizeof tv)
        return -EINVAL;
    memcpy(&tv, val, sizeof tv);
    if (tv.tv_usec < 0 || tv.tv_usec >= SEC)
        return -EDOM;
    if (tv.tv_sec < 0)
        *to = 0;
    else if ((tv.tv_sec == 0 && tv.tv_usec == 0) || tv.tv_sec >= INT64_MAX / SEC)
        *to = SCPS_NEVER;
    else
        *to = tv.tv_sec * SEC + tv.tv_usec;
    return 0;
}

static int get_timeo(scps_dur d, void *val, uint32_t *len)
{
    struct scps_timeval tv = {0};
    if (d != SCPS_NEVER)
        tv = (struct scps_timeval){d / SEC, d % SEC};
    return give(val, len, &tv, sizeof tv);
}

static int set_rate(struct sock *s, uint64_t bytes_per_s)
{
    struct scps_conn_config to = s->cfg;
    if (bytes_per_s == 0)
        return -EINVAL;
    to.rate = bytes_per_s == NO_RATE ? 0 : bytes_per_s;
    return change(s, &to);
}

static int set_socket(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_SO_DEBUG:
        s->debug = v != 0;
        return 0;
    case SCPS_SO_REUSEADDR:
        s->reuseaddr = v != 0;
        return 0;
    case SCPS_SO_REUSEPORT:
        s->reuseport = v != 0;
        return 0;
    case SCPS_SO_BROADCAST:
        s->broadcast = v != 0;
        return 0;
    case SCPS_SO_PRIORITY:
        s->priority = (int)v;
        return 0;
    case SCPS_SO_SNDBUF:
    case SCPS_SO_RCVBUF:
    case SCPS_SO_SNDBUFFORCE:
    case SCPS_SO_RCVBUFFORCE:
        return set_buf(s, name, v);
    case SCPS_SO_OOBINLINE:
        return v ? 0 : -EINVAL;
    case SCPS_SO_LINGER: {
        struct scps_linger l;
        if (len < sizeof l)
            return -EINVAL;
        memcpy(&l, val, sizeof l);
        s->linger = l.l_onoff != 0;
        if (s->linger)
            s->linger_s = l.l_linger < 0 ? INT32_MAX : l.l_linger;
        return 0;
    }
    case SCPS_SO_RCVLOWAT:
        s->rcvlowat = v < 0 ? INT32_MAX : v ? (uint32_t)v : 1;
        return 0;
    case SCPS_SO_RCVTIMEO:
        return set_timeo(&s->rcvtimeo, val, len);
    case SCPS_SO_SNDTIMEO:
        return set_timeo(&s->sndtimeo, val, len);
    case SCPS_SO_MAX_PACING_RATE:
        if (len >= 8) {
            uint64_t wide;
            memcpy(&wide, val, 8);
            return set_rate(s, wide);
        }
        return set_rate(s, (uint32_t)v == UINT32_MAX ? NO_RATE : (uint32_t)v);
    default: /* what can only be read among them, as in Linux */
        return -ENOPROTOOPT;
    }
}

static int get_socket(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_SO_DEBUG:
        return give_int(val, len, s->debug);
    case SCPS_SO_REUSEADDR:
        return give_int(val, len, s->reuseaddr);
    case SCPS_SO_REUSEPORT:
        return give_int(val, len, s->reuseport);
    case SCPS_SO_BROADCAST:
        return give_int(val, len, s->broadcast);
    case SCPS_SO_PRIORITY:
        return give_int(val, len, s->priority);
    case SCPS_SO_TYPE:
        return give_int(val, len, s->seqpacket ? SCPS_SOCK_SEQPACKET : SCPS_SOCK_STREAM);
    case SCPS_SO_PROTOCOL:
        return give_int(val, len, SCPS_SOL_TCP);
    case SCPS_SO_DOMAIN:
        return give_int(val, len, s->domain);
    case SCPS_SO_ACCEPTCONN:
        return give_int(val, len, s->lis != NULL);
    case SCPS_SO_ERROR: {
        int e = scps_sock_take_error(s);
        if (!e && s->conn && !s->dead) { /* an ICMP error that ended nothing is told once */
            unsigned icmp = scps_conn_icmp(s->conn);
            if (icmp && icmp != s->icmp)
                e = scps_sock_icmp_errno(s, icmp);
            s->icmp = icmp;
        }
        return give_int(val, len, e);
    }
    case SCPS_SO_SNDBUF:
        return give_int(val, len, s->cfg.sndbuf);
    case SCPS_SO_RCVBUF:
        return give_int(val, len, s->cfg.rcvbuf);
    case SCPS_SO_OOBINLINE:
    case SCPS_SO_SNDLOWAT:
        return give_int(val, len, 1);
    case SCPS_SO_LINGER: {
        struct scps_linger l = {s->linger, s->linger_s};
        return give(val, len, &l, sizeof l);
    }
    case SCPS_SO_RCVLOWAT:
        return give_int(val, len, s->rcvlowat);
    case SCPS_SO_RCVTIMEO:
        return get_timeo(s->rcvtimeo, val, len);
    case SCPS_SO_SNDTIMEO:
        return get_timeo(s->sndtimeo, val, len);
    case SCPS_SO_MAX_PACING_RATE: {
        uint64_t wide = s->cfg.rate ? s->cfg.rate : NO_RATE;
        uint32_t narrow = (uint32_t)SCPS_MIN(wide, UINT32_MAX);
        return *len >= 8 ? give(val, len, &wide, 8) : give(val, len, &narrow, 4);
    }
    default:
        return -ENOPROTOOPT;
    }
}

static int set_quickack(struct sock *s, bool on)
{
    struct scps_conn_config to = s->cfg;
    to.ack_mode = on ? SCPS_ACK_EVERY : s->ack_mode;
    int r = change(s, &to);
    if (r == 0)
        s->quickack = on;
    return r;
}

static int set_tcp(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    if (name == SCPS_TCP_CONGESTION)
        return set_cc(s, val, len);
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_TCP_MAXSEG: {
        struct scps_conn_config to = s->cfg;
        if (v != 0 && (v < MSS_MIN || v > MSS_MAX))
            return -EINVAL;
        to.mss = (uint16_t)v;
        return change(s, &to);
    }
    case SCPS_TCP_CORK:
        s->cork = v != 0;
        if (s->conn && !s->dead)
            scps_conn_cork(s->conn, s->cork);
        return 0;
    case SCPS_TCP_LINGER2: {
        struct scps_conn_config to = s->cfg;
        if (v < 0) /* Linux: do not wait at all; the shortest there is */
            to.fin_wait2 = 1;
        else
            to.fin_wait2 = v ? SCPS_SEC(SCPS_MIN(v, LINGER2_MAX)) : s->ctx->cfg.conn.fin_wait2;
        return change(s, &to);
    }
    case SCPS_TCP_QUICKACK:
        return set_quickack(s, v != 0);
    case SCPS_TCP_NOTSENT_LOWAT:
        s->notsent_lowat = (uint32_t)v;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

static int get_tcp(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_TCP_MAXSEG: {
        int64_t mss = s->cfg.mss ? s->cfg.mss : DEFAULT_MSS;
        if (s->conn && !s->dead) {
            struct scps_info info;
            scps_conn_info(s->conn, &info);
            mss = info.snd_mss ? info.snd_mss : mss;
        }
        return give_int(val, len, mss);
    }
    case SCPS_TCP_CORK:
        return give_int(val, len, s->cork);
    case SCPS_TCP_LINGER2:
        return give_int(val, len, s->cfg.fin_wait2 == 1 ? -1 : s->cfg.fin_wait2 / SEC);
    case SCPS_TCP_QUICKACK:
        return give_int(val, len, s->quickack);
    case SCPS_TCP_NOTSENT_LOWAT:
        return give_int(val, len, (int32_t)s->notsent_lowat);
    case SCPS_TCP_CONGESTION: {
        char text[CC_TEXT_MAX] = "";
        append(text, sizeof text, cc_of(s)->name);
        return give(val, len, text, SCPS_MAX(strlen(text) + 1, CC_NAME_MAX));
    }
    case SCPS_TCP_INFO: {
        struct scps_tcp_info ti;
        scps_sock_tcp_info(s, &ti);
        return give(val, len, &ti, sizeof ti);
    }
    default:
        return -ENOPROTOOPT;
    }
}

/* Type of service, hop limit and path MTU: the same under two names. */
static int set_network(struct sock *s, int name, int64_t v)
{
    struct scps_conn_config to = s->cfg, def = s->ctx->cfg.conn;
    switch (name) {
    case SCPS_IP_TOS: /* the ECN bits are TCP's */
        to.tos = (uint8_t)((v & ~ECN_BITS) | (s->cfg.tos & ECN_BITS));
        break;
    case SCPS_IP_TTL:
        if (v != -1 && (v < 1 || v > 255))
            return -EINVAL;
        to.ttl = v == -1 ? def.ttl : (uint8_t)v;
        break;
    case SCPS_IP_MTU_DISCOVER:
        /* 3 (probe) keeps the DF bit; 4 and 5 (interface, omit) go without discovery, like DONT */
        if (v < SCPS_PMTUDISC_DONT || v > SCPS_PMTUDISC_OMIT)
            return -EINVAL;
        to.df_off = v == SCPS_PMTUDISC_DONT || v > SCPS_PMTUDISC_PROBE;
        break;
    }
    int r = change(s, &to);
    if (r == 0 && name == SCPS_IP_MTU_DISCOVER)
        s->pmtudisc = (int)v;
    return r;
}

static int get_mtu(struct sock *s, void *val, uint32_t *len)
{
    enum scps_state st = scps_sock_state(s);
    if (st == SCPS_CLOSED || st == SCPS_LISTEN)
        return -ENOTCONN;
    struct scps_info info;
    scps_conn_info(s->conn, &info);
    return give_int(val, len, info.pmtu);
}

static int set_ip(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v = 0;
    if (len >= sizeof(int))
        take_number(val, len, false, &v);
    else if (len >= 1)
        v = *(const uint8_t *)val; /* old programs give a byte */
    switch (name) {
    case SCPS_IP_TOS:
    case SCPS_IP_TTL:
    case SCPS_IP_MTU_DISCOVER:
        return len ? set_network(s, name, v) : -EINVAL;
    case SCPS_IP_BIND_ADDRESS_NO_PORT:
        s->addr_no_port = v != 0;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

static int get_ip(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_IP_TOS:
        return give_int(val, len, s->cfg.tos);
    case SCPS_IP_TTL:
        return give_int(val, len, s->cfg.ttl);
    case SCPS_IP_MTU_DISCOVER:
        return give_int(val, len, s->pmtudisc);
    case SCPS_IP_MTU:
        return get_mtu(s, val, len);
    case SCPS_IP_BIND_ADDRESS_NO_PORT:
        return give_int(val, len, s->addr_no_port);
    default:
        return -ENOPROTOOPT;
    }
}

static int set_ipv6(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_IPV6_V6ONLY:
        if (s->local.port || s->bound_addr)
            return -EINVAL;
        s->v6only = v != 0;
        s->local.addr = scps_sock_any(s);
        return 0;
    case SCPS_IPV6_TCLASS:
        if (v < -1 || v > 255)
            return -EINVAL;
        return set_network(s, SCPS_IP_TOS, v == -1 ? 0 : v);
    case SCPS_IPV6_UNICAST_HOPS:
        return set_network(s, SCPS_IP_TTL, v);
    case SCPS_IPV6_MTU_DISCOVER:
        return set_network(s, SCPS_IP_MTU_DISCOVER, v);
    default:
        return -ENOPROTOOPT;
    }
}

static int get_ipv6(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_IPV6_V6ONLY:
        return give_int(val, len, s->v6only);
    case SCPS_IPV6_TCLASS:
        return give_int(val, len, s->cfg.tos);
    case SCPS_IPV6_UNICAST_HOPS:
        return give_int(val, len, s->cfg.ttl);
    case SCPS_IPV6_MTU_DISCOVER:
        return give_int(val, len, s->pmtudisc);
    case SCPS_IPV6_MTU:
        return get_mtu(s, val, len);
    default:
        return -ENOPROTOOPT;
    }
}

static int set_scps(struct sock *s, int name, const void *val, uint32_t len)
{
    struct scps_conn_config to = s->cfg;
    int64_t v;
    if (name == SCPS_TP_CC)
        return set_cc(s, val, len);
    if (name == SCPS_TP_CONFIG) {
        if (len < sizeof to)
            return -EINVAL;
        memcpy(&to, val, sizeof to);
        int r = change(s, &to);
        if (r == 0) {
            s->ack_mode = s->cfg.ack_mode;
            s->quickack = false;
            s->pmtudisc = s->cfg.df_off ? SCPS_PMTUDISC_DONT : SCPS_PMTUDISC_WANT;
        }
        return r;
    }
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_TP_VEGAS_CONGEST:
    case SCPS_TP_VJ_CONGEST: {
        const char *cc = !v ? "rate" : name == SCPS_TP_VJ_CONGEST ? "vj" : "vegas";
        return set_cc(s, cc, (uint32_t)strlen(cc));
    }
    case SCPS_TP_VEGAS_ALPHA:
    case SCPS_TP_VEGAS_BETA:
    case SCPS_TP_VEGAS_GAMMA: {
        const struct scps_cc_param *desc;
        int64_t *p = cc_param(s, name, &desc, &to);
        if (!p)
            return -ENOPROTOOPT;
        if (v < desc->min || v > desc->max)
            return -EINVAL;
        *p = v;
        return set_cc_parsed(s, cc_of(s), to.cc_param);
    }
    default:
        return -ENOPROTOOPT;
    }
}

static int get_scps(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_TP_CC:
        return get_cc_text(s, val, len);
    case SCPS_TP_CONFIG:
        return give(val, len, &s->cfg, sizeof s->cfg);
    case SCPS_TP_INFO: {
        struct scps_info info;
        if (!s->conn)
            return -ENOTCONN;
        scps_conn_info(s->conn, &info);
        return give(val, len, &info, sizeof info);
    }
    case SCPS_TP_VEGAS_CONGEST:
        return give_int(val, len, strcmp(cc_of(s)->name, "vegas") == 0);
    case SCPS_TP_VJ_CONGEST:
        return give_int(val, len, strcmp(cc_of(s)->name, "vj") == 0);
    case SCPS_TP_VEGAS_ALPHA:
    case SCPS_TP_VEGAS_BETA:
    case SCPS_TP_VEGAS_GAMMA: {
        const struct scps_cc_param *desc;
        int64_t *p = cc_param(s, name, &desc, &s->cfg);
        return p ? give_int(val, len, *p) : -ENOPROTOOPT;
    }
    default:
        return -ENOPROTOOPT;
    }
}

/* Best effort, with the reference's numbers. */
static int get_scps_socket(const struct sock *s, int name, void *val, uint32_t *len)
{
    struct scps_info info;
    size_t n;
    if (name < SCPS_SO_BETS_RHOLE_SIZE || name > SCPS_SO_BETS_SEND_HOLES)
        return -ENOPROTOOPT;
    if (!s->conn)
        return -ENOTCONN;
    scps_conn_info(s->conn, &info);
    if (!(info.caps & SCPS_CAP_BETS))
        return -EOPNOTSUPP;
    switch (name) {
    case SCPS_SO_BETS_RHOLE_SIZE:
        return s->hole.len ? give_number(val, len, (int64_t)s->hole.len) : -ENODATA;
    case SCPS_SO_BETS_RHOLE_START:
        return s->hole.len ? give_number(val, len, (int64_t)s->hole.at) : -ENODATA;
    case SCPS_SO_BETS_NUM_SEND_HOLES:
        return give_number(val, len, (int64_t)scps_conn_given_up(s->conn, NULL, 0));
    default:
        n = scps_conn_given_up(s->conn, val, *len / sizeof(struct scps_hole));
        *len = (uint32_t)SCPS_MIN(n * sizeof(struct scps_hole),
                                  *len / sizeof(struct scps_hole) * sizeof(struct scps_hole));
        return 0;
    }
}

static int do_set(struct sock *s, int level, int name, const void *val, uint32_t len)
{
    if (len > INT32_MAX)
        return -EINVAL;
    if (!val && len)
        return -EFAULT;
    const struct field *f = field_find(level, name);
    if (f) {
        int64_t v;
        bool ours = level == SCPS_SOL_SCPS || level == SCPS_SOL_SCPS_ROUTE;
        int r = take_number(val, len, ours, &v);
        return r < 0 ? r : set_field(s, f, v);
    }
    switch (level) {
    case SCPS_SOL_SOCKET:
        return set_socket(s, name, val, len);
    case SCPS_SOL_TCP:
        return set_tcp(s, name, val, len);
    case SCPS_SOL_IP:
        return set_ip(s, name, val, len);
    case SCPS_SOL_IPV6:
        return s->domain == SCPS_AF_INET6 ? set_ipv6(s, name, val, len) : -ENOPROTOOPT;
    case SCPS_SOL_SCPS:
        return set_scps(s, name, val, len);
    case SCPS_SOL_SCPS_ROUTE: {
        int64_t v;
        int r = take_number(val, len, true, &v);
        if (r < 0)
            return r;
        if (name != SCPS_ROUTE_RATE)
            return -ENOPROTOOPT;
        if (v < 0 || (v > 0 && v < 8))
            return -EINVAL;
        return set_rate(s, v ? (uint64_t)v / 8 : NO_RATE);
    }
    case SCPS_SOL_SCPS_SOCKET:
    default:
        return -ENOPROTOOPT;
    }
}

static int do_get(struct sock *s, int level, int name, void *val, uint32_t *len)
{
    if (!len)
        return -EFAULT;
    if (*len > INT32_MAX)
        return -EINVAL;
    if (!val)
        return -EFAULT;
    const struct field *f = field_find(level, name);
    if (f) {
        int64_t v = field_get(&s->cfg, f);
        if (f->kind == K_ACK_MODE)
            v = s->ack_mode; /* not quickack's */
        return level == SCPS_SOL_SCPS || level == SCPS_SOL_SCPS_ROUTE ? give_number(val, len, v)
                                                                      : give_int(val, len, v);
    }
    switch (level) {
    case SCPS_SOL_SOCKET:
        return get_socket(s, name, val, len);
    case SCPS_SOL_TCP:
        return get_tcp(s, name, val, len);
    case SCPS_SOL_IP:
        return get_ip(s, name, val, len);
    case SCPS_SOL_IPV6:
        return s->domain == SCPS_AF_INET6 ? get_ipv6(s, name, val, len) : -EOPNOTSUPP;
    case SCPS_SOL_SCPS:
        return get_scps(s, name, val, len);
    case SCPS_SOL_SCPS_SOCKET:
        return get_scps_socket(s, name, val, len);
    case SCPS_SOL_SCPS_ROUTE:
        if (name != SCPS_ROUTE_RATE)
            return -ENOPROTOOPT;
        return give_number(val, len, (int64_t)SCPS_MIN(s->cfg.rate, (uint64_t)INT64_MAX / 8) * 8);
    default:
        return -EOPNOTSUPP;
    }
}

int scps_sock_setsockopt(struct scps_ctx *ctx, int fd, int level, int name, const void *val,
                         uint32_t len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_set(s, level, name, val, len) : -EBADF);
}

int scps_sock_getsockopt(struct scps_ctx *ctx, int fd, int level, int name, void *val,
                         uint32_t *len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_get(s, level, name, val, len) : -EBADF);
}

/* ---- fcntl, ioctl ------------------------------------------------------------------------------------- */

static int do_fcntl(struct sock *s, int cmd, long arg)
{
    switch (cmd) {
    case SCPS_F_GETFD:
        return s->cloexec ? SCPS_FD_CLOEXEC : 0;
    case SCPS_F_SETFD:
        s->cloexec = arg & SCPS_FD_CLOEXEC;
        return 0;
    case SCPS_F_GETFL:
        return SCPS_O_RDWR | (s->nonblock ? SCPS_O_NONBLOCK : 0);
    case SCPS_F_SETFL:
        s->nonblock = arg & SCPS_O_NONBLOCK;
        return 0;
    default:
        return -EINVAL;
    }
}

int scps_sock_fcntl(struct scps_ctx *ctx, int fd, int cmd, long arg)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_fcntl(s, cmd, arg) : -EBADF);
}

static int do_ioctl(struct sock *s, unsigned long request, void *arg)
{
    enum scps_state st = scps_sock_state(s);
    bool open = s->conn && st != SCPS_SYN_SENT && st != SCPS_SYN_RECEIVED;
    uint64_t n = 0;
    int v;
    switch (request) {
    case SCPS_FIONREAD:
    case SCPS_SIOCOUTQ:
    case SCPS_SIOCOUTQNSD:
        if (st == SCPS_LISTEN)
            return -EINVAL;
        break;
    case SCPS_FIONBIO:
    case SCPS_SIOCATMARK:
        break;
    default:
        return -ENOTTY;
    }
    if (!arg)
        return -EFAULT;
    if (request == SCPS_FIONBIO) {
        memcpy(&v, arg, sizeof v);
        s->nonblock = v != 0;
        return 0;
    }
    if (request == SCPS_FIONREAD && open) {
        n = scps_conn_readable(s->conn);
    } else if (request == SCPS_SIOCOUTQ && open && !s->dead) {
        n = scps_conn_unacked(s->conn);
        n += st == SCPS_FIN_WAIT_1 || st == SCPS_CLOSING || st == SCPS_LAST_ACK;
    } else if (request == SCPS_SIOCOUTQNSD && open && !s->dead) {
        n = scps_conn_unsent(s->conn);
        n += n && (st == SCPS_FIN_WAIT_1 || st == SCPS_CLOSING || st == SCPS_LAST_ACK);
    }
    v = (int)SCPS_MIN(n, (uint64_t)INT32_MAX);
    memcpy(arg, &v, sizeof v);
    return 0;
}

int scps_sock_ioctl(struct scps_ctx *ctx, int fd, unsigned long request, void *arg)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_ioctl(s, request, arg) : -EBADF);
}
