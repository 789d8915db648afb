/* SPDX-License-Identifier: MIT */
/* Gets and sets the socket options of the levels IP and IPv6. */
#include "socket/opt.h"

#define ECN_BITS 0x03

/* Sets the type of service, hop limit or path MTU discovery of socket s. `name` is the option of
 * level IPPROTO_IP (SCPS_IP_TOS, SCPS_IP_TTL, SCPS_IP_MTU_DISCOVER), also for the option of level
 * IPPROTO_IPV6 with the same meaning. Returns 0 or -errno. */
static int set_network(struct sock *s, int name, int64_t v)
{
    struct scps_conn_config to = s->conf.cfg, def = s->ctx->cfg.conn;
    switch (name) {
    /* The lower two bits are those of ECN, which TCP sets, so the option changes them only for
     * datagrams. */
    case SCPS_IP_TOS:
        to.tos = (uint8_t)(s->dgram ? v : (v & ~ECN_BITS) | (s->conf.cfg.tos & ECN_BITS));
        break;
    case SCPS_IP_TTL:
        if (v != -1 && (v < 1 || v > 255))
            return -EINVAL;
        to.ttl = v == -1 ? def.ttl : (uint8_t)v;
        break;
    case SCPS_IP_MTU_DISCOVER:
        /* Values as in Linux: IP_PMTUDISC_PROBE (3) sets the DF bit; IP_PMTUDISC_INTERFACE (4) and
         * IP_PMTUDISC_OMIT (5) clear it, as IP_PMTUDISC_DONT does. */
        if (v < SCPS_PMTUDISC_DONT || v > SCPS_PMTUDISC_OMIT)
            return -EINVAL;
        to.df_off = v == SCPS_PMTUDISC_DONT || v > SCPS_PMTUDISC_PROBE;
        break;
    }
    int r = scps_sock_change(s, &to);
    if (r == 0 && name == SCPS_IP_MTU_DISCOVER)
        scps_sock_conf_pmtudisc_set(&s->conf, (int)v);
    return r;
}

static int get_mtu(struct sock *s, void *val, uint32_t *len)
{
    if (s->dgram && s->names.remote.addr.family) {
        uint32_t over = s->names.remote.addr.family == 4 ? 28 : 48;
        return give_int(val, len, (int64_t)scps_dgram_room(s->pcb.dg, NULL) + over);
    }
    enum scps_state st = scps_sock_state(s);
    if (st == SCPS_CLOSED || st == SCPS_LISTEN)
        return -ENOTCONN;
    struct scps_info info;
    scps_conn_info(s->pcb.conn, &info);
    return give_int(val, len, info.pmtu);
}

int scps_sock_set_ip(struct sock *s, int name, const void *val, uint32_t len)
{
    int64_t v = 0;
    if (len >= sizeof(int))
        take_number(val, len, false, &v);
    else if (len >= 1)
        v = *(const uint8_t *)val; /* Old programs pass a value of a single byte. */
    switch (name) {
    case SCPS_IP_TOS:
    case SCPS_IP_TTL:
    case SCPS_IP_MTU_DISCOVER:
        return len ? set_network(s, name, v) : -EINVAL;
    case SCPS_IP_BIND_ADDRESS_NO_PORT:
        s->addr_no_port = v != 0;
        return 0;
    default:
        return -ENOPROTOOPT;
    }
}

/* Returns the value v of an option of level IP. Old programs have room for a single byte, which
 * gets the value itself and not the first byte of an int. */
static int give_ip(void *val, uint32_t *len, int v)
{
    uint8_t byte = (uint8_t)v;

    if (*len > 0 && *len < sizeof v && v == byte)
        return give(val, len, &byte, 1);
    return give_int(val, len, v);
}

int scps_sock_get_ip(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_IP_TOS:
        return give_ip(val, len, s->conf.cfg.tos);
    case SCPS_IP_TTL:
        return give_ip(val, len, s->conf.cfg.ttl);
    case SCPS_IP_MTU_DISCOVER:
        return give_ip(val, len, s->conf.pmtudisc);
    case SCPS_IP_MTU:
        return get_mtu(s, val, len);
    case SCPS_IP_BIND_ADDRESS_NO_PORT:
        return give_ip(val, len, s->addr_no_port);
    default:
        return -ENOPROTOOPT;
    }
}

int scps_sock_set_ipv6(struct sock *s, int name, const void *val, uint32_t len)
{
    struct scps_addr any;
    int64_t v;
    int r = take_number(val, len, false, &v);
    if (r < 0)
        return r;
    switch (name) {
    case SCPS_IPV6_V6ONLY:
        if (s->names.bound || s->names.bound_addr)
            return -EINVAL;
        s->v6only = v != 0;
        any = scps_sock_any(s);
        scps_sock_names_set_any(&s->names, &any);
        return 0;
    case SCPS_IPV6_TCLASS:
        if (v < -1 || v > 255)
            return -EINVAL;
        return set_network(s, SCPS_IP_TOS, v == -1 ? 0 : v);
    case SCPS_IPV6_UNICAST_HOPS:
        return set_network(s, SCPS_IP_TTL, v);
    case SCPS_IPV6_MTU_DISCOVER:
        return set_network(s, SCPS_IP_MTU_DISCOVER, v);
    default:
        return -ENOPROTOOPT;
    }
}

int scps_sock_get_ipv6(struct sock *s, int name, void *val, uint32_t *len)
{
    switch (name) {
    case SCPS_IPV6_V6ONLY:
        return give_int(val, len, s->v6only);
    case SCPS_IPV6_TCLASS:
        return give_int(val, len, s->conf.cfg.tos);
    case SCPS_IPV6_UNICAST_HOPS:
        return give_int(val, len, s->conf.cfg.ttl);
    case SCPS_IPV6_MTU_DISCOVER:
        return give_int(val, len, s->conf.pmtudisc);
    case SCPS_IPV6_MTU:
        return get_mtu(s, val, len);
    default:
        return -ENOPROTOOPT;
    }
}

void scps_sock_bound_to_ipv6(struct sock *s)
{
    s->v6only = true;
}

void scps_sock_inherit_ip(struct sock *s, const struct sock *from)
{
    s->v6only = from->v6only;
}
