/* SPDX-License-Identifier: MIT */
/* Applies a socket's configuration to its connection, listener or datagram endpoint. */
#include "socket/opt.h"

int scps_sock_apply(struct sock *s)
{
    int e = 0;
    if (s->dgram) {
        scps_sock_dgram_apply(s);
    } else if (s->pcb.lis) {
        e = scps_listener_set(s->pcb.lis, &s->conf.cfg, 0);
    } else if (s->pcb.conn && !s->life.ended) {
        e = scps_conn_set_config(s->pcb.conn, &s->conf.cfg);
        /* An open connection may have rounded the sizes of its buffers, so the sizes that it uses
         * are recorded in the configuration of the socket. */
        if (e == 0) {
            struct scps_conn_config now;
            scps_conn_get_config(s->pcb.conn, &now);
            scps_sock_conf_set_buffers(&s->conf, now.sndbuf, now.rcvbuf);
        }
    }
    return e < 0 ? -scps_sock_errno(e) : 0;
}

int scps_sock_change(struct sock *s, const struct scps_conn_config *to)
{
    struct scps_conn_config old = s->conf.cfg;
    scps_sock_conf_set(&s->conf, to);
    int r = scps_sock_apply(s);
    if (r < 0)
        scps_sock_conf_set(&s->conf, &old);
    return r;
}
