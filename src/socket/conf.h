/* SPDX-License-Identifier: MIT */
/* The configuration of a socket: that of its connection, and the values of socket options that the
 * connection's configuration does not have.
 *
 * Invariant: while TCP_QUICKACK is on, `ack_mode` is the mode that it has replaced in
 * `cfg.ack_mode`; else the two are equal. Only conf.c assigns these fields; optconf.c hands the
 * configuration to the connection.
 */
#ifndef SCPS_SOCKET_CONF_H
#define SCPS_SOCKET_CONF_H

#include <scps/conn.h>

struct sock_conf {
    struct scps_conn_config cfg;
    enum scps_ack_mode ack_mode; /* acknowledgement mode without TCP_QUICKACK */
    bool quickack;               /* true: TCP_QUICKACK is set */
    int pmtudisc;                /* value of IP_MTU_DISCOVER: SCPS_PMTUDISC_* */
};

/* Initialises *f as the configuration of a new socket, or of one whose configuration was set as a
 * whole: TCP_QUICKACK is off, and IP_MTU_DISCOVER follows cfg->df_off. */
void scps_sock_conf_init(struct sock_conf *f, const struct scps_conn_config *cfg);
/* Adapts *f to a datagram socket: the send buffer and the receive buffer have bufsize bytes
 * each. */
void scps_sock_conf_set_dgram(struct sock_conf *f, uint32_t bufsize);
/* Adapts *f to a socket of type SOCK_SEQPACKET, where each send call writes one SCPS-TP record. */
void scps_sock_conf_set_seqpacket(struct sock_conf *f);

/* Replaces the configuration of the connection; the values of TCP_QUICKACK and IP_MTU_DISCOVER
 * stay. */
void scps_sock_conf_set(struct sock_conf *f, const struct scps_conn_config *cfg);
/* Records the sizes, bytes, to which an open connection has rounded its send buffer and its receive
 * buffer. */
void scps_sock_conf_set_buffers(struct sock_conf *f, uint32_t sndbuf, uint32_t rcvbuf);
/* Switches TCP_QUICKACK off, because another option has set the acknowledgement mode. */
void scps_sock_conf_ack_mode_set(struct sock_conf *f);
void scps_sock_conf_quickack_set(struct sock_conf *f, bool on);
void scps_sock_conf_pmtudisc_set(struct sock_conf *f, int value);

#endif
