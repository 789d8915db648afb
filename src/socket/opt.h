/* SPDX-License-Identifier: MIT */
/* What the files of get- and setsockopt share.
 *
 *     opt.c        to which level an option belongs
 *     optconf.c    hands the configuration to the connection or listener, if there is one
 *     optfield.c   options that are a field of the connection's configuration
 *     optsock.c    SOL_SOCKET and TCP as Linux has them
 *     optip.c      IP and IPv6
 *     optscps.c    options of SCPS-TP, with the names of the SCPS reference implementation, too
 *     optcc.c      congestion controllers by name
 *
 * A setter returns 0 or -errno. A getter writes as many bytes as there are and fit to val, and
 * their number to *len.
 */
#ifndef SCPS_SOCKET_OPT_H
#define SCPS_SOCKET_OPT_H

#include <string.h>

#include "socket/sock.h"

#define SEC 1000000 /* number of microseconds in a second */

/* ---- functions that read and write the values of options ---- */

/* Reads the value of an option into *out: an int, or an int64_t if `wide` allows it and 8 bytes are
 * given. Returns 0, or -EINVAL if len is less than an int. */
static inline int take_number(const void *val, uint32_t len, bool wide, int64_t *out)
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

static inline int give(void *val, uint32_t *len, const void *from, size_t n)
{
    *len = (uint32_t)SCPS_MIN(n, *len);
    memcpy(val, from, *len);
    return 0;
}

static inline int give_int(void *val, uint32_t *len, int64_t v)
{
    int i = (int)SCPS_CLAMP(v, INT32_MIN, INT32_MAX);
    return give(val, len, &i, sizeof i);
}

static inline int give_number(void *val, uint32_t *len, int64_t v)
{
    if (*len >= sizeof v)
        return give(val, len, &v, sizeof v);
    return give_int(val, len, v);
}

/* ---- functions that apply the configuration to the connection (optconf.c) ---- */

#define NO_RATE UINT64_MAX

/* Makes *to the configuration of socket s and of its connection or listener, if it has one. If that
 * fails, both keep their configuration. Returns 0 or -errno. */
int scps_sock_change(struct sock *s, const struct scps_conn_config *to);

/* ---- functions in optfield.c, for options that are a field of the configuration ---- */

struct field;
/* Returns the row of an option in the table of optfield.c; NULL: the option is not a field of the
 * configuration. */
const struct field *scps_sock_field(int level, int name);
int scps_sock_field_set(struct sock *s, const struct field *f, int64_t v);
int64_t scps_sock_field_get(const struct sock *s, const struct field *f);
/* Sets the rate limit of what s sends, bytes/s; NO_RATE: no limit. Returns 0 or -errno. */
int scps_sock_set_rate(struct sock *s, uint64_t bytes_per_s);

/* ---- functions in optcc.c, for options about the congestion controller ---- */

/* Sets the congestion controller of s from the text "name" or "name,key=value,...", which has len
 * bytes with or without its final zero. Returns 0 or -errno. */
int scps_sock_set_cc(struct sock *s, const void *val, uint32_t len);
int scps_sock_get_cc_name(const struct sock *s, void *val, uint32_t *len);
int scps_sock_get_cc_text(const struct sock *s, void *val,
                          /* The text that is returned has the controller's name and all its
                           * parameters. */
                          uint32_t *len);
bool scps_sock_cc_is(const struct sock *s, const char *name);
/* Sets the parameter alpha, beta or gamma (option `name`, SCPS_TP_VEGAS_*, of the SCPS reference
 * implementation) of the congestion controller of s. Returns 0; -ENOPROTOOPT: the controller has no
 * such parameter; -EINVAL: v is out of its bounds; or another -errno. */
int scps_sock_set_vegas(struct sock *s, int name, int64_t v);
int scps_sock_get_vegas(const struct sock *s, int name, void *val, uint32_t *len);

/* ---- functions for the options of one level each ---- */

/* These functions set and get the options of the levels SOL_SOCKET and TCP (optsock.c). */
int scps_sock_set_socket(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_socket(struct sock *s, int name, void *val, uint32_t *len);
int scps_sock_set_tcp(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_tcp(struct sock *s, int name, void *val, uint32_t *len);
/* These functions set and get the options of the levels IP and IPv6 (optip.c). */
int scps_sock_set_ip(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_ip(struct sock *s, int name, void *val, uint32_t *len);
int scps_sock_set_ipv6(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_ipv6(struct sock *s, int name, void *val, uint32_t *len);
/* These functions set and get the options of SCPS-TP (optscps.c). */
int scps_sock_set_scps(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_scps(struct sock *s, int name, void *val, uint32_t *len);
int scps_sock_get_scps_socket(const struct sock *s, int name, void *val, uint32_t *len);
int scps_sock_set_route(struct sock *s, int name, const void *val, uint32_t len);
int scps_sock_get_route(const struct sock *s, int name, void *val, uint32_t *len);

#endif
