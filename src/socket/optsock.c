/* SPDX-License-Identifier: MIT */
/* Gets and sets those socket options of the levels SOL_SOCKET and TCP, as in Linux, that are not
 * only a field of the configuration. */
#include "socket/opt.h"

#define BUF_MIN     256u
#define BUF_MAX     (1u << 30)
#define MSS_MIN     88
#define MSS_MAX     32767
#define LINGER2_MAX 120
/* MSS of an IPv4 peer that has not announced one, bytes (RFC 9293 section 3.7.1) */
#define DEFAULT_MSS 536

/* ---- functions for the options of level SOL_SOCKET ---- */

static int set_buf(struct sock *s, int name, int64_t v)
{
    struct scps_conn_config to = s->conf.cfg;
    /* As in Linux, the size is read as an unsigned number and limited to the bounds. */
    uint32_t n = (uint32_t)SCPS_CLAMP((uint32_t)v, BUF_MIN, BUF_MAX);
    if (name == SCPS_SO_SNDBUF || name == SCPS_SO_SNDBUFFORCE)
        to.sndbuf = n;
    else
        to.rcvbuf = n;
    return scps_sock_change(s, &to);
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

int scps_sock_set_socket(struct sock *s, int name, const void *val, uint32_t len)
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
            return scps_sock_set_rate(s, wide);
        }
        return scps_sock_set_rate(s, (uint32_t)v == UINT32_MAX ? NO_RATE : (uint32_t)v);
    /* As in Linux, options that have no case here cannot be set, although some of them can be
     * read. */
    default:
        return -ENOPROTOOPT;
    }
}

int scps_sock_get_socket(struct sock *s, int name, void *val, uint32_t *len)
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
        return give_int(val, len,
                        s->dgram       ? SCPS_SOCK_DGRAM
                        : s->seqpacket ? SCPS_SOCK_SEQPACKET
                                       : SCPS_SOCK_STREAM);
    case SCPS_SO_PROTOCOL:
        return give_int(val, len, s->dgram ? SCPS_SOL_UDP : SCPS_SOL_TCP);
    case SCPS_SO_DOMAIN:
        return give_int(val, len, s->domain);
    case SCPS_SO_ACCEPTCONN:
        return give_int(val, len, s->pcb.lis != NULL);
    case SCPS_SO_ERROR: {
        int e = scps_sock_life_take_error(&s->life);
        /* An ICMP error that has not ended the connection is returned by SO_ERROR once. */
        if (!e && s->pcb.conn && !s->life.ended) {
            unsigned icmp = scps_conn_icmp(s->pcb.conn);
            if (scps_sock_life_report_icmp(&s->life, icmp))
                e = scps_sock_icmp_errno(s->names.remote.addr.family, icmp);
        }
        return give_int(val, len, e);
    }
    case SCPS_SO_SNDBUF:
        return give_int(val, len, s->conf.cfg.sndbuf);
    case SCPS_SO_RCVBUF:
        return give_int(val, len, s->conf.cfg.rcvbuf);
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
        uint64_t wide = s->conf.cfg.rate ? s->conf.cfg.rate : NO_RATE;
        uint32_t narrow = (uint32_t)SCPS_MIN(wide, UINT32_MAX);
        return *len >= 8 ? give(val, len, &wide, 8) : give(val, len, &narrow, 4);
    }
    default:
        return -ENOPROTOOPT;
    }
}

/* ---- functions for the options of level TCP ---- */

static int set_quickack(struct sock *s, bool on)
{
    struct scps_conn_config to = s->conf.cfg;
    to.ack_mode = on ? SCPS_ACK_EVERY : s->conf.ack_mode;
    int r = scps_sock_change(s, &to);
    if (r == 0)
        scps_sock_conf_quickack_set(&s->conf, on);
    return r;
}

int scps_sock_set_tcp(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    if (name == SCPS_TCP_CONGESTION)
        return scps_sock_set_cc(s, val, len);
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_TCP_MAXSEG: {
        struct scps_conn_config to = s->conf.cfg;
        if (v != 0 && (v < MSS_MIN || v > MSS_MAX))
            return -EINVAL;
        to.mss = (uint16_t)v;
        return scps_sock_change(s, &to);
    }
    case SCPS_TCP_CORK:
        s->cork = v != 0;
        if (s->pcb.conn && !s->life.ended)
            scps_conn_cork(s->pcb.conn, s->cork);
        return 0;
    case SCPS_TCP_LINGER2: {
        struct scps_conn_config to = s->conf.cfg;
        /* TCP_LINGER2 limits the time in FIN-WAIT-2. With a negative value Linux does not wait in
         * that state at all; here the shortest time, 1 µs, is used. */
        if (v < 0)
            to.fin_wait2 = 1;
        else
            to.fin_wait2 = v ? SCPS_SEC(SCPS_MIN(v, LINGER2_MAX)) : s->ctx->cfg.conn.fin_wait2;
        return scps_sock_change(s, &to);
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

int scps_sock_get_tcp(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_TCP_MAXSEG: {
        int64_t mss = s->conf.cfg.mss ? s->conf.cfg.mss : DEFAULT_MSS;
        if (s->pcb.conn && !s->life.ended) {
            struct scps_info info;
            scps_conn_info(s->pcb.conn, &info);
            mss = info.snd_mss ? info.snd_mss : mss;
        }
        return give_int(val, len, mss);
    }
    case SCPS_TCP_CORK:
        return give_int(val, len, s->cork);
    case SCPS_TCP_LINGER2:
        return give_int(val, len, s->conf.cfg.fin_wait2 == 1 ? -1 : s->conf.cfg.fin_wait2 / SEC);
    case SCPS_TCP_QUICKACK:
        return give_int(val, len, s->conf.quickack);
    case SCPS_TCP_NOTSENT_LOWAT:
        return give_int(val, len, (int32_t)s->notsent_lowat);
    case SCPS_TCP_CONGESTION:
        return scps_sock_get_cc_name(s, val, len);
    case SCPS_TCP_INFO: {
        struct scps_tcp_info ti;
        scps_sock_tcp_info(s, &ti);
        return give(val, len, &ti, sizeof ti);
    }
    default:
        return -ENOPROTOOPT;
    }
}

void scps_sock_inherit_socket(struct sock *s, const struct sock *from)
{
    s->reuseaddr = from->reuseaddr;
    s->reuseport = from->reuseport;
    s->cork = from->cork;
    s->debug = from->debug;
    s->broadcast = from->broadcast;
    s->priority = from->priority;
    s->linger = from->linger;
    s->linger_s = from->linger_s;
    s->rcvlowat = from->rcvlowat;
    s->notsent_lowat = from->notsent_lowat;
    s->rcvtimeo = from->rcvtimeo;
    s->sndtimeo = from->sndtimeo;
}
