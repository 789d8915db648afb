/* SPDX-License-Identifier: MIT */
/* Changes the configuration of a socket: that of its connection, and a few socket options
 * (conf.h). */
#include "socket/conf.h"

#include <scps/socket.h>

void scps_sock_conf_init(struct sock_conf *f, const struct scps_conn_config *cfg)
{
    *f = (struct sock_conf){.cfg = *cfg,
                            .ack_mode = cfg->ack_mode,
                            .pmtudisc = cfg->df_off ? SCPS_PMTUDISC_DONT : SCPS_PMTUDISC_WANT};
}

void scps_sock_conf_set_dgram(struct sock_conf *f, uint32_t bufsize)
{
    f->cfg.sndbuf = f->cfg.rcvbuf = bufsize;
}

void scps_sock_conf_set_seqpacket(struct sock_conf *f)
{
    f->cfg.records = true;
}

void scps_sock_conf_set(struct sock_conf *f, const struct scps_conn_config *cfg)
{
    f->cfg = *cfg;
}

void scps_sock_conf_set_buffers(struct sock_conf *f, uint32_t sndbuf, uint32_t rcvbuf)
{
    f->cfg.sndbuf = sndbuf;
    f->cfg.rcvbuf = rcvbuf;
}

void scps_sock_conf_ack_mode_set(struct sock_conf *f)
{
    f->ack_mode = f->cfg.ack_mode;
    f->quickack = false;
}

void scps_sock_conf_quickack_set(struct sock_conf *f, bool on)
{
    f->quickack = on;
}

void scps_sock_conf_pmtudisc_set(struct sock_conf *f, int value)
{
    f->pmtudisc = value;
}
