/* SPDX-License-Identifier: MIT */
/* The configuration of a socket: that of its connection, and the values of options that it does not
 * hold.
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
    enum scps_ack_mode ack_mode; /* the mode without TCP_QUICKACK */
    bool quickack;               /* TCP_QUICKACK */
    int pmtudisc;                /* IP_MTU_DISCOVER: SCPS_PMTUDISC_* */
};

/* Makes *f that of a new socket, or of one whose configuration was set as a whole: TCP_QUICKACK is
 * off, and IP_MTU_DISCOVER follows cfg->df_off. */
void scps_sock_conf_init(struct sock_conf *f, const struct scps_conn_config *cfg);
/* Fits *f for a socket of datagrams: the buffers have bufsize bytes each. */
void scps_sock_conf_set_dgram(struct sock_conf *f, uint32_t bufsize);
/* Fits *f for SOCK_SEQPACKET, where each send is a record. */
void scps_sock_conf_set_seqpacket(struct sock_conf *f);

/* Replaces the configuration alone. */
void scps_sock_conf_set(struct sock_conf *f, const struct scps_conn_config *cfg);
/* Records the sizes of the buffers that a connection has. */
void scps_sock_conf_set_buffers(struct sock_conf *f, uint32_t sndbuf, uint32_t rcvbuf);
/* The mode of acknowledgements was set by an option of its own, which ends TCP_QUICKACK. */
void scps_sock_conf_ack_mode_set(struct sock_conf *f);
void scps_sock_conf_quickack_set(struct sock_conf *f, bool on);
void scps_sock_conf_pmtudisc_set(struct sock_conf *f, int value);

#endif
