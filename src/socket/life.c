/* SPDX-License-Identifier: MIT */
/* The state of a socket (life.h). The rules are those of Linux's tcp_fin, tcp_reset, tcp_disconnect
 * and inet_shutdown, as a program sees them. */
#include "socket/life.h"

#define BOTH (SHUT_RCV | SHUT_SEND)

void scps_sock_life_connecting(struct sock_life *l)
{
    scps_sock_life_disconnected(l);
    l->err = 0;
    l->ss = SS_CONNECTING;
}

void scps_sock_life_connected(struct sock_life *l)
{
    l->ss = SS_CONNECTED;
}

void scps_sock_life_disconnecting(struct sock_life *l)
{
    l->ss = SS_DISCONNECTING;
}

void scps_sock_life_listening(struct sock_life *l)
{
    l->shut = l->shut_app = 0;
}

void scps_sock_life_disconnected(struct sock_life *l)
{
    *l = (struct sock_life){.err = l->err};
}

void scps_sock_life_shutdown(struct sock_life *l, unsigned bits)
{
    l->shut |= bits;
    l->shut_app |= bits;
}

void scps_sock_life_shutdown_listener(struct sock_life *l)
{
    l->shut |= SHUT_SEND;
}

void scps_sock_life_set_received(struct sock_life *l, uint64_t received)
{
    l->received_at_shut = received;
}

bool scps_sock_life_refuses_data(const struct sock_life *l, uint64_t received)
{
    return !l->ended && l->shut_app == BOTH && received > l->received_at_shut;
}

void scps_sock_life_fin(struct sock_life *l)
{
    l->fin_received = true;
    l->shut |= SHUT_RCV;
}

void scps_sock_life_end(struct sock_life *l, int err)
{
    l->ended = true;
    l->shut = BOTH;
    if (err)
        l->err = err;
}

void scps_sock_life_set_error(struct sock_life *l, int err)
{
    l->err = err;
}

int scps_sock_life_take_error(struct sock_life *l)
{
    int err = l->err;

    l->err = 0;
    return err;
}

bool scps_sock_life_report_icmp(struct sock_life *l, unsigned icmp)
{
    bool anew = icmp && icmp != l->icmp;

    l->icmp = icmp;
    return anew;
}
