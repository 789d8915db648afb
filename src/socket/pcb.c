/* SPDX-License-Identifier: MIT */
/* Opens and closes the connection, the listener or the datagram endpoint that a socket owns
 * (pcb.h). */
#include "socket/pcb.h"

int scps_sock_pcb_connect(struct sock_pcb *p, struct scps_stack *st,
                          const struct scps_conn_config *cfg, const struct scps_endpoint *local,
                          const struct scps_endpoint *remote, void *user)
{
    int err = 0;

    p->conn = scps_connect(st, cfg, local, remote, &err);
    if (!p->conn)
        return err;
    scps_conn_set_user(p->conn, user);
    return 0;
}

int scps_sock_pcb_listen(struct sock_pcb *p, struct scps_stack *st,
                         const struct scps_conn_config *cfg, const struct scps_endpoint *local,
                         unsigned backlog, void *user)
{
    int err = 0;

    p->lis = scps_listen(st, cfg, local, backlog, &err);
    if (!p->lis)
        return err;
    scps_listener_set_user(p->lis, user);
    return 0;
}

int scps_sock_pcb_open_dgram(struct sock_pcb *p, struct scps_stack *st,
                             const struct scps_dgram_config *cfg, const struct scps_endpoint *local,
                             void *user)
{
    int err = 0;

    p->dg = scps_dgram_open(st, cfg, local, &err);
    if (!p->dg)
        return err;
    scps_dgram_set_user(p->dg, user);
    return 0;
}

bool scps_sock_pcb_accept(struct sock_pcb *p, struct scps_listener *lis, void *user)
{
    p->conn = scps_accept(lis);
    if (!p->conn)
        return false;
    scps_conn_set_user(p->conn, user);
    return true;
}

void scps_sock_pcb_release(struct sock_pcb *p, bool reset)
{
    if (p->conn) {
        scps_conn_set_user(p->conn, NULL);
        if (reset)
            scps_conn_abort(p->conn);
        else
            scps_conn_close(p->conn);
        p->conn = NULL;
    }
    if (p->lis) {
        scps_listener_set_user(p->lis, NULL);
        scps_listener_close(p->lis);
        p->lis = NULL;
    }
}

void scps_sock_pcb_close_dgram(struct sock_pcb *p)
{
    if (p->dg)
        scps_dgram_close(p->dg);
    p->dg = NULL;
}

void scps_sock_pcb_forget(struct sock_pcb *p)
{
    *p = (struct sock_pcb){0};
}
