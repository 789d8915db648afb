/* SPDX-License-Identifier: MIT */
/* A socket's configuration, and the connection, listener or datagram endpoint that has it. */
#include "socket/opt.h"

int scps_sock_apply(struct sock *s)
{
    int e = 0;
    if (s->dgram) {
        scps_sock_dgram_apply(s);
    } else if (s->lis) {
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

int scps_sock_change(struct sock *s, const struct scps_conn_config *to)
{
    struct scps_conn_config old = s->cfg;
    s->cfg = *to;
    int r = scps_sock_apply(s);
    if (r < 0)
        s->cfg = old;
    return r;
}
