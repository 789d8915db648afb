/* SPDX-License-Identifier: MIT */
/* Gets and sets the socket options of SCPS-TP: the configuration of a connection, options with the
 * numbers of the SCPS reference implementation, best effort, and the rate of the route. */
#include <scps/wire.h>

#include "socket/opt.h"

#include "base/sized.h"

/* Sets the whole configuration. A program that was compiled with the headers of an earlier version
 * passes a shorter structure: the fields that it lacks get their defaults. */
static int set_config(struct sock *s, const void *val, uint32_t len)
{
    struct scps_conn_config to;
    size_t size;
    if (len < sizeof size)
        return -EINVAL;
    memcpy(&size, val, sizeof size);
    scps_conn_config_init(&to, sizeof to);
    if (size > len ||
        !scps_sized_take_own(&to, sizeof to, val, SCPS_SIZED_TO(scps_conn_config, rate)))
        return -EINVAL;
    if (scps_conn_config_check(&to, NULL, 0) < 0)
        return -EINVAL;
    /* If the caller has set the congestion controller (cc) and no parameters for it, the
     * controller's defaults are filled in here, because socket options read the parameters. */
    if (to.cc_param_of != to.cc)
        scps_conn_config_set_cc(&to, to.cc, NULL);
    int r = scps_sock_change(s, &to);
    if (r == 0) {
        to = s->conf.cfg;
        scps_sock_conf_init(&s->conf, &to);
    }
    return r;
}

/* Returns the whole configuration, in the size that the caller's structure has. */
static int get_config(const struct sock *s, void *val, uint32_t *len)
{
    struct scps_conn_config own = s->conf.cfg;
    own.size = SCPS_MIN((size_t)*len, sizeof own);
    return give(val, len, &own, sizeof own);
}

int scps_sock_set_scps(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    if (name == SCPS_TP_CC)
        return scps_sock_set_cc(s, val, len);
    if (name == SCPS_TP_CONFIG)
        return set_config(s, val, len);
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_TP_VEGAS_CONGEST:
    case SCPS_TP_VJ_CONGEST: {
        const char *cc = !v ? "rate" : name == SCPS_TP_VJ_CONGEST ? "vj" : "vegas";
        return scps_sock_set_cc(s, cc, (uint32_t)strlen(cc));
    }
    case SCPS_TP_VEGAS_ALPHA:
    case SCPS_TP_VEGAS_BETA:
    case SCPS_TP_VEGAS_GAMMA:
        return scps_sock_set_vegas(s, name, v);
    default:
        return -ENOPROTOOPT;
    }
}

int scps_sock_get_scps(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_TP_CC:
        return scps_sock_get_cc_text(s, val, len);
    case SCPS_TP_CONFIG:
        return get_config(s, val, len);
    case SCPS_TP_INFO: {
        struct scps_info info;
        if (!s->pcb.conn)
            return -ENOTCONN;
        scps_conn_info(s->pcb.conn, &info);
        return give(val, len, &info, sizeof info);
    }
    case SCPS_TP_VEGAS_CONGEST:
        return give_int(val, len, scps_sock_cc_is(s, "vegas"));
    case SCPS_TP_VJ_CONGEST:
        return give_int(val, len, scps_sock_cc_is(s, "vj"));
    case SCPS_TP_VEGAS_ALPHA:
    case SCPS_TP_VEGAS_BETA:
    case SCPS_TP_VEGAS_GAMMA:
        return scps_sock_get_vegas(s, name, val, len);
    default:
        return -ENOPROTOOPT;
    }
}

/* Reads the options about best effort (SCPS-TP BETS), which have the numbers of the SCPS reference
 * implementation. */
int scps_sock_get_scps_socket(const struct sock *s, int name, void *val, uint32_t *len)
{
    struct scps_info info;
    size_t n;
    if (name < SCPS_SO_BETS_RHOLE_SIZE || name > SCPS_SO_BETS_SEND_HOLES)
        return -ENOPROTOOPT;
    if (!s->pcb.conn)
        return -ENOTCONN;
    scps_conn_info(s->pcb.conn, &info);
    if (!(info.caps & SCPS_CAP_BETS))
        return -EOPNOTSUPP;
    switch (name) {
    case SCPS_SO_BETS_RHOLE_SIZE:
        return s->hole.len ? give_number(val, len, (int64_t)s->hole.len) : -ENODATA;
    case SCPS_SO_BETS_RHOLE_START:
        return s->hole.len ? give_number(val, len, (int64_t)s->hole.at) : -ENODATA;
    case SCPS_SO_BETS_NUM_SEND_HOLES:
        return give_number(val, len, (int64_t)scps_conn_given_up(s->pcb.conn, NULL, 0));
    default:
        n = scps_conn_given_up(s->pcb.conn, val, *len / sizeof(struct scps_hole));
        *len = (uint32_t)SCPS_MIN(n * sizeof(struct scps_hole),
                                  *len / sizeof(struct scps_hole) * sizeof(struct scps_hole));
        return 0;
    }
}

/* Sets the option SCPS_ROUTE_RATE to *val, bit/s. In spite of its name it limits what this socket
 * alone sends, as SCPS_TP_RATE does; 0: no limit but that of the route. */
int scps_sock_set_route(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v;
    int r = take_number(val, len, true, &v);
    if (r < 0)
        return r;
    if (name != SCPS_ROUTE_RATE)
        return -ENOPROTOOPT;
    if (v < 0 || (v > 0 && v < 8))
        return -EINVAL;
    return scps_sock_set_rate(s, v ? (uint64_t)v / 8 : NO_RATE);
}

int scps_sock_get_route(const struct sock *s, int name, void *val, uint32_t *len)
{
    if (name != SCPS_ROUTE_RATE)
        return -ENOPROTOOPT;
    return give_number(val, len, (int64_t)SCPS_MIN(s->conf.cfg.rate, (uint64_t)INT64_MAX / 8) * 8);
}
