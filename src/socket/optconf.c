/* SPDX-License-Identifier: MIT */
/* Applies a socket's configuration to its connection, listener or datagram endpoint. */
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
        if (e == 0) { /* An open connection may have rounded the buffer sizes. */
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
