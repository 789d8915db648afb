/* SPDX-License-Identifier: MIT */
/* Opens what a run in real time needs: files, device, stack, and the connection, listener or
 * endpoint. */
#include "scps_ttcp/real.h"

#include "common/seed.h"

#include <scps/error.h>

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool has_family(const struct scps_ifopts *o, uint8_t family)
{
    for (unsigned i = 0; i < o->naddr; i++)
        if (o->addr[i].addr.family == family)
            return true;
    /* Over PPP without --addr, this end gets an IPv4 address from the peer. */
    return o->ppp[0] != '\0' && o->naddr == 0 && family == 4;
}

/* Resolves HOST of the command line (a name or an address) to an address, *out. If HOST is a name,
 * an address is chosen whose IP version (4 or 6) this end has an address of, too, and which -4 or
 * -6 permits. Returns false, with the reason in x->r, on failure. */
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

/* Sets outcome and message of x->r for err (SCPS_ERR_*), the result of an attempt to open a
 * connection. Returns false. */
static bool refused(struct ttcp_real *x, int err)
{
    switch (err) {
    case SCPS_ERR_UNREACH:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s: no route: give --addr a /LEN that covers it, or --gateway",
                         x->o->host);
        break;
    case SCPS_ERR_BADADDR:
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "%.100s: unspecified, multicast, broadcast or reserved: give the address "
                         "of one host",
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

/* Opens the datagram endpoint of this end, for -u. */
static bool open_datagrams(struct ttcp_real *x)
{
    const struct ttcp_options *o = x->o;
    struct scps_endpoint local = {.addr = o->source, .port = x->sends ? o->own_port : o->port};
    struct scps_endpoint remote = {.port = o->port};
    struct ttcp_flow *f = x->flow;
    int err;

    if (!x->sends) {
        if (local.addr.family == 0)
            local.addr.family = o->family;
        err = ttcp_dgram_receive_start(&f->receiver, &f->out, x->st, &local);
        return err == 0 || refused(x, err);
    }
    if (!resolve(x, &remote.addr))
        return false;
    err = ttcp_rate_datagrams(o, x->st, x->top, &remote.addr);
    if (err == 0)
        err =
            ttcp_dgram_send_start(&f->sender, &f->in, x->st, &local, &remote, scps_sysclock_now());
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
    for (size_t k = 0; k < o->streams; k++) {
        c = scps_connect(x->st, &cfg, &local, &remote, &err);
        if (c == NULL)
            return refused(x, err);
        scps_conn_set_user(c, &x->end[k]);
        ttcp_end_connect(&x->end[k], c, x->t0);
        if (local.port != 0)
            local.port++;
    }
    x->begun = true;
    return true;
}

struct scps_listener *ttcp_real_listen(struct ttcp_real *x, unsigned backlog)
{
    const struct ttcp_options *o = x->o;
    struct scps_conn_config cfg = ttcp_conn_config(o, x->sends);
    struct scps_endpoint local = {.addr = o->source, .port = o->port};
    struct scps_listener *l;
    char addr[SCPS_ADDR_STRLEN];
    int err = 0;

    if (local.addr.family == 0)
        /* Without -H the listener accepts connections to every address of this end of the
         * family. */
        local.addr.family = o->family;
    l = scps_listen(x->st, &cfg, &local, backlog, &err);
    if (l == NULL) {
        refused(x, err);
        return NULL;
    }
    if (o->verbose > 0)
        fprintf(stderr, "ttcp-%c: waiting on port %u of %s\n", x->sends ? 't' : 'r', o->port,
                o->ifs.naddr > 0 ? scps_addr_format(&o->ifs.addr[0].addr, addr)
                                 : "the address that the peer gave");
    return l;
}

static scps_time now_of(void *ctx)
{
    (void)ctx;
    return scps_sysclock_now();
}

/* Makes a result, and an input or output, for each flow, and this process's end of each connection.
 * Returns false, with the reason in x->r, on failure. */
static bool make_flows(struct ttcp_real *x)
{
    const struct ttcp_options *o = x->o;
    size_t n = o->bidir ? 2 * o->streams : o->streams;

    x->flow = calloc(n, sizeof(*x->flow));
    x->end = calloc(o->streams, sizeof(*x->end));
    if (x->flow == NULL || x->end == NULL)
        goto fail;
    for (size_t k = 0; k < n; k++) {
        struct ttcp_result *r = k == 0 ? x->r : ttcp_result_add(x->r);

        if (r == NULL)
            goto fail;
        r->back = k >= o->streams;
        r->has_tx = x->sends != r->back;
        r->has_rx = !r->has_tx;
        r->id = n > 1 ? (unsigned)(k % o->streams) + 1 : 0;
        x->flow[k].r = r;
        x->n_flows = k + 1;
        if (ttcp_flow_open(&x->flow[k], o, false, NULL) != 0)
            return false;
    }
    for (size_t k = 0; k < o->streams && !o->udp; k++) {
        struct ttcp_flow *f = &x->flow[k], *back = o->bidir ? f + o->streams : NULL;

        ttcp_end_init(&x->end[k], x->sends ? f : back, x->sends ? back : f);
        if (k > 0)
            x->end[k - 1].next = &x->end[k];
    }
    return true;
fail:
    ttcp_result_fail(x->r, TTCP_FAILED, "out of memory: give a smaller -P");
    return false;
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

/* Opens the device; with --pcap puts a filter above it that captures packets. Returns false, with
 * the reason in x->r, on failure. */
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

static bool open_stack(struct ttcp_real *x, const struct scps_stack_config *cfg)
{
    char msg[TTCP_MSGLEN], why[TTCP_MSGLEN / 2];

    if (ttcp_config_check(x->o, cfg, msg)) {
        x->st = scps_stack_open(cfg, why, sizeof(why));
        if (x->st != NULL)
            return true;
        snprintf(msg, sizeof(msg), "cannot open the stack: %s", why);
    }
    ttcp_result_fail(x->r, TTCP_FAILED, "%s", msg);
    return false;
}

bool ttcp_real_open(struct ttcp_real *x, ttcp_real_event_fn *on_event, void *ctx)
{
    const struct ttcp_options *o = x->o;
    struct scps_stack_config cfg = scps_stack_config_default();
    char msg[SCPS_IO_MSGLEN];
    int err;

    x->started = scps_sysclock_now();
    if ((!o->server && !make_flows(x)) || !choose_seed(x, cfg.seed) || !open_device(x))
        return false;
    if (o->memory_limit_set)
        cfg.memory_limit = o->memory_limit;
    x->watch = (struct ttcp_watch){.senders = x->sends || o->bidir ? x->end : NULL,
                                   .acked = x->sends || o->bidir,
                                   .debug = o->debug ? stderr : NULL,
                                   .role = x->sends ? 't' : 'r'};
    if (!ttcp_watch_qlog(&x->watch, o, x->r))
        return false;
    cfg.checksum_hints = o->checksum_hints;
    cfg.observer = ttcp_watch_observer(&x->watch);
    cfg.now = scps_sysclock_now();
    if (!open_stack(x, &cfg))
        return false;
    x->loop = scps_loop_new(NULL, x->st, on_event, ctx);
    if (x->loop == NULL) {
        ttcp_result_fail(x->r, TTCP_FAILED,
                         "no memory or descriptor for the loop: close something");
        return false;
    }
    err = scps_ifopts_attach(&o->ifs, x->loop, x->top, msg);
    if (err != 0) {
        ttcp_result_fail(x->r, err == SCPS_ERR_TIMEDOUT ? TTCP_TIMED_OUT : TTCP_FAILED, "%s", msg);
        return false;
    }
    return true;
}

bool ttcp_real_begin(struct ttcp_real *x)
{
    if (x->o->udp)
        return open_datagrams(x);
    return ttcp_real_connects(x) ? connect_tcp(x) : ttcp_real_listen(x, x->o->streams) != NULL;
}

bool ttcp_real_missing(const struct ttcp_real *x, const char *prefix, char msg[TTCP_MSGLEN])
{
    if (x->came == 0 || x->came == x->o->streams)
        return false;
    snprintf(msg, TTCP_MSGLEN, "%s%zu of %u connections came: give -P %zu here, or -P %u there",
             prefix, x->came, x->o->streams, x->came, x->o->streams);
    return true;
}

scps_dur ttcp_real_time_left(const struct ttcp_real *x)
{
    scps_dur left = x->o->timeout - (scps_sysclock_now() - x->started);

    if (x->o->timeout == 0)
        return 0;
    return left > 0 ? left : 1;
}

static const char *no_answer(const struct ttcp_real *x, char msg[TTCP_MSGLEN])
{
    struct ttcp_result now = {0};
    char why[TTCP_MSGLEN - 64];

    ttcp_result_device(&now, x->top);
    if (!ttcp_unanswered_words(&now, why, sizeof(why)))
        return "no answer within --timeout: is a receiver (-r) running there?";
    snprintf(msg, TTCP_MSGLEN, "no answer within --timeout: %s", why);
    return msg;
}

/* Returns the message of a run to which nobody has connected. If packets came and were dropped, it
 * says how many, because a wrong address or identifier is then the likely reason. */
static const char *nobody(const struct ttcp_real *x, char msg[TTCP_MSGLEN])
{
    struct ttcp_result now = {0};
    struct scps_stack_stats stats;
    uint64_t n = 0;

    scps_stack_get_stats(x->st, &stats);
    ttcp_result_device(&now, x->top);
    for (int d = SCPS_DROP_NONE + 1; d < SCPS_DROP_COUNT; d++)
        n += stats.drops[d];
    for (unsigned i = 0; i < now.n_link_drops; i++)
        n += now.link_drops[i].count;
    if (n == 0)
        return "nobody connected within --timeout: give it longer, or see the other end";
    snprintf(
        msg, TTCP_MSGLEN, "nobody connected within --timeout, and %" PRIu64 " packet%s dropped: %s",
        n, n == 1 ? " was" : "s were", x->o->verbose > 0 ? "see the reasons above" : "-v says why");
    return msg;
}

const char *ttcp_real_late(const struct ttcp_real *x, char msg[TTCP_MSGLEN])
{
    if (!x->begun)
        return nobody(x, msg);
    if (ttcp_real_missing(x, "", msg))
        return msg;
    if (x->sends && !x->flow->sender.connected)
        return no_answer(x, msg);
    if (x->sends && ttcp_echo_waits(&x->flow->sender.echo))
        return "no echo within --timeout: is -e given there, too?";
    return "not done within --timeout: give it longer, or see -v for what held it up";
}
