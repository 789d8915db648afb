/* SPDX-License-Identifier: MIT */
/* Records the local address and port of a socket, and those of its peer (names.h). */
#include "socket/names.h"

void scps_sock_names_init(struct sock_names *n, const struct scps_addr *any)
{
    *n = (struct sock_names){.local.addr = *any};
}

void scps_sock_names_set_any(struct sock_names *n, const struct scps_addr *any)
{
    n->local.addr = *any;
}

void scps_sock_names_set_addr(struct sock_names *n, const struct scps_addr *addr)
{
    n->local.addr = *addr;
}

void scps_sock_names_take_port(struct sock_names *n, const struct scps_endpoint *local)
{
    n->local = *local;
    n->bound = true;
}

void scps_sock_names_free_port(struct sock_names *n)
{
    n->local.port = 0;
    n->bound = false;
}

void scps_sock_names_set_given(struct sock_names *n, bool addr, bool port)
{
    n->bound_addr = addr;
    n->bound_port = port;
}

void scps_sock_names_connect(struct sock_names *n, const struct scps_endpoint *local,
                             const struct scps_endpoint *remote)
{
    scps_sock_names_take_port(n, local);
    n->remote = *remote;
}

void scps_sock_names_end(struct sock_names *n)
{
    n->bound = n->bound && n->bound_port;
}

void scps_sock_names_disconnect(struct sock_names *n, const struct scps_addr *any)
{
    n->remote = (struct scps_endpoint){0};
    if (!n->bound_addr)
        n->local.addr = *any;
    if (!n->bound)
        n->local.port = 0;
}
