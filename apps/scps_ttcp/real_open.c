/* SPDX-License-Identifier: MIT */
/* What a run in real time opens before its loop turns: files, device, stack, and the connection,
 * listener or endpoint.
 */
#include "scps_ttcp/real.h"

#include "common/seed.h"

#include <scps/error.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static bool has_family(const struct scps_ifopts *o, uint8_t family)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].addr.family == family)
            return true;
    return false;
}

/* HOST as an address of a family we have. */
static bool resolve(struct ttcp_real *x, struct scps_addr *out)
{
    const struct ttcp_options *o = x->o;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    bool found = false;
    int rc;

    if (scps_addr_parse(o->host, out) == 0) {
        found = o->family == 0 || o->family == out->family;
        if (!found)
            ttcp_result_fail(x->r, TTCP_FAILED, "%.100s is not an IPv%u address: drop -%u", o->host,
                             o->family, o->family);
        return found;
    }
    rc = getaddrinfo(o->host, NULL, &hints, &list);
    if (rc != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%.100s: %s: give its address", o->host,
                         gai_strerror(rc));
        return false;
    }
    for (const struct addrinfo *a = list; a != NULL && !found; a = a->ai_next) {
        uint8_t family = a->ai_family == AF_INET ? 4 : a->ai_family == AF_INET6 ? 6 : 0;

        if (family == 0 || (o->family != 0 && o->family != family) || !has_family(&o->ifs, family))
            continue;
        memset(out, 0, sizeof(*out));
        out->family = family;
        if (family == 4)
            memcpy(out->b, &((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr, 4);
        else
            memcpy(out->b, &((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr, 16);
        found = true;
    }
    freeaddrinfo(list);
    if (!found)
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s has no address of the family of --addr: give one that has",
                         o->host);
    return found;
}

/* What opening failed with, in words. */
static bool refused(struct ttcp_real *x, int err)
{
    switch (err) {
    case SCPS_ERR_UNREACH:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s: no route: give --addr a /LEN that covers it, or --gateway",
                         x->o->host);
        break;
    case SCPS_ERR_ADDRNOTAVAIL:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "no address of this stack fits: give --addr one of the family of HOST, "
                         "and -H one of --addr");
        break;
    case SCPS_ERR_MSGSIZE:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "-l %zu: such a datagram does not fit the device's MTU of %u, and none is "
                         "cut (-u): give a smaller one",
                         x->o->length, x->top->mtu);
        break;
    default:
        ttcp_result_fail(x->r, TTCP_FAILED, "cannot %s: %s",
                         ttcp_real_connects(x) ? "connect" : "listen", scps_strerror(err));
        break;
    }
    return false;
}

/* -u: the endpoint of this end. */
static bool open_datagrams(struct ttcp_real *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_endpoint local = {.addr = o->source, .port = x->sends ? o->own_port : o->port};
    struct scps_endpoint remote = {.port = o->port};
    int err;

    if (!x->sends) {
        if (local.addr.family == 0)
            local.addr.family = o->family;
        err = ttcp_dgram_receive_start(&x->receiver, &x->out, x->st, &local);
        return err == 0 || refused(x, err);
    }
    if (!resolve(x, &remote.addr))
        return false;
    err = ttcp_rate_datagrams(o, x->st, x->top, &remote.addr);
    if (err == 0)
        err =
            ttcp_dgram_send_start(&x->sender, &x->in, x->st, &local, &remote, scps_sysclock_now());
    return err == 0 || refused(x, err);
}

static bool connect_tcp(struct ttcp_real *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_conn_config cfg = ttcp_conn_config(o, x->sends);
    struct scps_endpoint local = {.addr = o->source, .port = o->own_port};
    struct scps_endpoint remote = {.port = o->port};
    struct scps_route route;
    struct scps_conn *c;
    int err = 0;

    if (!resolve(x, &remote.addr))
        return false;
    if (ttcp_route(o, &remote.addr, x->top, &route) &&
        (err = scps_stack_add_route(x->st, &route)) != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "cannot set the rate of the route: %s",
                         scps_strerror(err));
        return false;
    }
    x->t0 = x->watch.t0 = scps_sysclock_now();
    c = scps_connect(x->st, &cfg, &local, &remote, &err);
    if (c == NULL)
        return refused(x, err);
    if (x->sends)
        ttcp_sender_start(&x->sender, c, &x->in, x->t0);
    else
        ttcp_receiver_connect(&x->receiver, c, &x->out, x->t0);
    x->begun = true;
    return true;
}

static bool listen_tcp(struct ttcp_real *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_conn_config cfg = ttcp_conn_config(o, x->sends);
    struct scps_endpoint local = {.addr = o->source, .port = o->port};
    struct scps_listener *l;
    char addr[SCPS_ADDR_STRLEN];
    int err = 0;

    if (local.addr.family == 0)
        local.addr.family = o->family; /* every address of that family */
    l = scps_listen(x->st, &cfg, &local, 1, &err);
    if (l == NULL)
        return refused(x, err);
    if (x->sends)
        ttcp_sender_listen(&x->sender, l, &x->in);
    else
        ttcp_receiver_start(&x->receiver, l, &x->out);
    if (o->verbose > 0)
        fprintf(stderr, "ttcp-%c: waiting on port %u of %s\n", x->sends ? 't' : 'r', o->port,
                scps_addr_format(&o->ifs.addr[0].addr, addr));
    return true;
}

static scps_time now_of(void *ctx)
{
    (void)ctx;
    return scps_sysclock_now();
}

static bool open_data(struct ttcp_real *x)
{
    int err = x->sends ? ttcp_input_init(&x->in, x->o, NULL, NULL)
                       : ttcp_output_init(&x->out, x->o, NULL);

    if (err == SCPS_ERR_SYSTEM)
        ttcp_result_fail(x->r, TTCP_FAILED, "%.200s: %s: write elsewhere", x->out.name,
                         strerror(x->out.sys_errno));
    else if (err != 0)
        ttcp_result_fail(x->r, TTCP_FAILED, "out of memory: give a smaller -l");
    return err == 0;
}

static bool choose_seed(struct ttcp_real *x, uint64_t seed[2])
{
    if (x->o->seed_set) {
        seed_pair(x->o->seed, x->sends ? 1 : 2, seed);
        return true;
    }
    if (scps_entropy(seed, 2 * sizeof(*seed)) == 0)
        return true;
    ttcp_result_fail(x->r, TTCP_FAILED, "no randomness from the kernel: %s: give --seed",
                     strerror(errno));
    return false;
}

/* Opens the device, and with --pcap a capture on top of it. */
static bool open_device(struct ttcp_real *x)
{
    char msg[SCPS_IO_MSGLEN];

    x->top = scps_ifopts_open(&x->o->ifs, msg);
    if (x->top == NULL) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
        return false;
    }
    if (x->o->pcap == NULL)
        return true;
    x->tap = ttcp_capture(x->r, x->o->pcap, x->r->wall_start - scps_sysclock_now(), now_of, NULL);
    if (x->tap == NULL)
        return false;
    x->top = scps_netif_push(x->top, x->tap);
    return true;
}

bool ttcp_real_open(struct ttcp_real *x, ttcp_real_event_fn *on_event)
{
    const struct ttcp_options *o = x->o;
    struct scps_stack_config cfg = scps_stack_config_default();
    char msg[SCPS_IO_MSGLEN];

    if (!open_data(x) || !choose_seed(x, cfg.seed) || !open_device(x))
        return false;
    if (o->memory_limit_set)
        cfg.memory_limit = o->memory_limit;
    x->watch = (struct ttcp_watch){.sender = ttcp_real_sender(x),
                                   .debug = o->debug ? stderr : NULL,
                                   .role = x->sends ? 't' : 'r'};
    if (!ttcp_watch_qlog(&x->watch, o, x->r))
        return false;
    cfg.checksum_hints = o->checksum_hints;
    cfg.observer = ttcp_watch_observer(&x->watch);
    cfg.now = scps_sysclock_now();
    x->st = scps_stack_new(&cfg);
    x->loop = x->st != NULL ? scps_loop_new(NULL, x->st, on_event, x) : NULL;
    if (x->loop == NULL) {
        ttcp_result_fail(x->r, TTCP_FAILED, "out of memory or descriptors: close something");
        return false;
    }
    if (scps_ifopts_attach(&o->ifs, x->loop, x->top, msg) != 0) {
        ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
        return false;
    }
    return true;
}

bool ttcp_real_begin(struct ttcp_real *x)
{
    if (x->o->udp)
        return open_datagrams(x);
    return ttcp_real_connects(x) ? connect_tcp(x) : listen_tcp(x);
}
