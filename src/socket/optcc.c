/* SPDX-License-Identifier: MIT */
/* Gets and sets the socket options that name the congestion controller and its parameters. */
#include "socket/opt.h"

/* number of bytes that Linux returns for TCP_CONGESTION: the name of the controller, filled up with
 * zeros */
#define CC_NAME_MAX 16
#define CC_TEXT_MAX 256

static int set_cc_parsed(struct sock *s, const struct scps_cc_ops *ops, const int64_t *param)
{
    struct scps_conn_config to = s->conf.cfg;
    scps_conn_config_set_cc(&to, ops, param);
    if (to.cc == s->conf.cfg.cc && to.cc_param_of == s->conf.cfg.cc_param_of &&
        memcmp(to.cc_param, s->conf.cfg.cc_param, sizeof to.cc_param) == 0)
        return 0;
    /* An open connection keeps the controller with which it started, so setting another one is
     * refused. */
    if (s->pcb.conn && !s->life.ended)
        return -EISCONN;
    return scps_sock_change(s, &to);
}

int scps_sock_set_cc(struct sock *s, const void *val, uint32_t len)
{
    char text[CC_TEXT_MAX];
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS] = {0};
    if (len < 1)
        return -EINVAL;
    size_t n = SCPS_MIN(len, sizeof text - 1);
    memcpy(text, val, n);
    text[n] = 0;
    /* Linux calls Van Jacobson's controller "reno", so that name selects "vj". */
    if (strcmp(text, "reno") == 0)
        strcpy(text, "vj");
    int e = scps_cc_parse(text, &ops, param, NULL, 0);
    if (e < 0)
        return -scps_sock_errno(e);
    return set_cc_parsed(s, ops, param);
}

static const struct scps_cc_ops *cc_of(const struct sock *s)
{
    return s->conf.cfg.cc ? s->conf.cfg.cc : scps_cc_find("vj");
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

int scps_sock_get_cc_text(const struct sock *s, void *val, uint32_t *len)
{
    char text[CC_TEXT_MAX] = "", num[24];
    const struct scps_cc_ops *ops = cc_of(s);
    append(text, sizeof text, ops->name);
    for (int i = 0; ops->params && i < SCPS_CC_PARAMS && ops->params[i].name; i++) {
        append(text, sizeof text, ",");
        append(text, sizeof text, ops->params[i].name);
        append(text, sizeof text, "=");
        append(text, sizeof text, decimal(s->conf.cfg.cc_param[i], num));
    }
    return give(val, len, text, strlen(text) + 1);
}

int scps_sock_get_cc_name(const struct sock *s, void *val, uint32_t *len)
{
    char text[CC_TEXT_MAX] = "";
    append(text, sizeof text, cc_of(s)->name);
    return give(val, len, text, SCPS_MAX(strlen(text) + 1, CC_NAME_MAX));
}

bool scps_sock_cc_is(const struct sock *s, const char *name)
{
    return strcmp(cc_of(s)->name, name) == 0;
}

/* Returns the parameter of the congestion controller of s that option `name` stands for: alpha,
 * beta or gamma; NULL: the controller has no such parameter. */
static const struct scps_cc_param *vegas_param(const struct sock *s, int name)
{
    const char *key = name == SCPS_TP_VEGAS_ALPHA  ? "alpha"
                      : name == SCPS_TP_VEGAS_BETA ? "beta"
                                                   : "gamma";
    const struct scps_cc_param *p = cc_of(s)->params;
    for (int i = 0; p && i < SCPS_CC_PARAMS && p[i].name; i++)
        if (strcmp(p[i].name, key) == 0)
            return &p[i];
    return NULL;
}

int scps_sock_set_vegas(struct sock *s, int name, int64_t v)
{
    const struct scps_cc_ops *ops = cc_of(s);
    const struct scps_cc_param *p = vegas_param(s, name);
    int64_t param[SCPS_CC_PARAMS];
    if (!p)
        return -ENOPROTOOPT;
    if (v < p->min || v > p->max)
        return -EINVAL;
    memcpy(param, s->conf.cfg.cc_param, sizeof param);
    param[p - ops->params] = v;
    return set_cc_parsed(s, ops, param);
}

int scps_sock_get_vegas(const struct sock *s, int name, void *val, uint32_t *len)
{
    const struct scps_cc_param *p = vegas_param(s, name);
    return p ? give_int(val, len, s->conf.cfg.cc_param[p - cc_of(s)->params]) : -ENOPROTOOPT;
}
