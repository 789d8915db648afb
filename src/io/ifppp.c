/* SPDX-License-Identifier: MIT */
/* The option --ppp DEVICE[,KEY[=VALUE]...]: PPP over a terminal line.
 *
 * The --addr options select the network protocols that PPP opens: IPCP (IPv4) if an IPv4 address is
 * given, or no address at all, in which case the peer assigns one; IPV6CP (IPv6) if an IPv6 address
 * is given.
 */
#include "io/ifppp.h"

#include "io/ifword.h"
#include "io/iodev.h"
#include "io/tunaddr.h"

#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* interval, µs, at which scps_ifppp_await() checks whether PPP has opened the link */
#define SLICE SCPS_MS(2)

static bool hex32(const char *s, uint32_t *out)
{
    char *end;
    unsigned long v = strtoul(s, &end, 16);

    *out = (uint32_t)v;
    return *s != '-' && end != s && !*end && v <= UINT32_MAX;
}

/* Parses one KEY[=VALUE] of the option --ppp DEVICE[,KEY[=VALUE]...]. Returns NULL if it was valid,
 * else a text that says which values are valid. */
static const char *take_word(struct scps_ifopts *o, const char *key, const char *value)
{
    struct scps_ppp_config *c = &o->ppp_config;

    if (strcmp(key, "passive") == 0) {
        c->passive = true;
        return value ? "passive alone: it takes no value" : NULL;
    }
    if (strcmp(key, "novj") == 0) {
        c->vj = false;
        return value ? "novj alone: it takes no value" : NULL;
    }
    value = value ? value : "";
    if (strcmp(key, "speed") == 0)
        return scps_ifword_number(value, &o->ppp_speed) && scps_tty_has_speed(o->ppp_speed)
                   ? NULL
                   : "bit/s that lines have, as speed=9600, 115200 or 921600";
    if (strcmp(key, "remote") == 0)
        return scps_addr_parse(value, &c->remote) == 0 && c->remote.family == 4
                   ? NULL
                   : "an IPv4 address, as remote=10.0.0.2";
    if (strcmp(key, "wait") == 0)
        return scps_ifword_seconds(value, &o->ppp_wait) && o->ppp_wait ? NULL
                                                                       : "a time, as wait=60s";
    if (strcmp(key, "restart") == 0)
        return scps_ifword_seconds(value, &c->restart) && c->restart ? NULL
                                                                     : "a time, as restart=500ms";
    if (strcmp(key, "echo") == 0)
        return scps_ifword_seconds(value, &c->echo_interval) ? NULL : "a time, as echo=10s, or 0";
    if (strcmp(key, "accm") == 0)
        return hex32(value, &c->accm) ? NULL : "hexadecimal digits, as accm=000a0000";
    return "speed=N, remote=ADDRESS, wait=S, restart=S, echo=S, accm=HEX, passive or novj";
}

int scps_ifppp_parse(struct scps_ifopts *o, const char *value, char *msg)
{
    size_t n = strcspn(value, ",");

    if (!n || n >= sizeof o->ppp || strlen(value) >= SCPS_IFWORD_ROOM) {
        scps_io_message(
            msg,
            "--ppp \"%.60s\": give a serial line or pseudo terminal first, in at most %zu "
            "characters, as /dev/ttyS0",
            value, sizeof o->ppp - 1);
        return SCPS_ERR_INVAL;
    }
    o->ppp_config = scps_ppp_config_default();
    o->ppp_speed = 0;
    o->ppp_wait = 0;
    memcpy(o->ppp, value, n);
    o->ppp[n] = 0;
    return scps_ifword_list("--ppp", value + n, o, take_word, msg);
}

/* Sets in *c which network protocols PPP opens, by the families of the --addr options, and the IPv4
 * address of this end. */
static void families(const struct scps_ifopts *o, struct scps_ppp_config *c)
{
    c->ipv4 = c->ipv6 = false;
    for (unsigned i = o->naddr; i-- > 0;) {
        if (o->addr[i].addr.family == 6) {
            c->ipv6 = true;
        } else {
            c->ipv4 = true;
            c->local = o->addr[i].addr;
        }
    }
    if (!o->naddr)
        c->ipv4 = true;
}

int scps_ifppp_check(const struct scps_ifopts *o, char *msg)
{
    struct scps_ppp_config c = o->ppp_config;

    if (o->mtu && (o->mtu < SCPS_PPP_MRU_MIN || o->mtu > SCPS_PPP_MRU_MAX)) {
        scps_io_message(msg, "--mtu %u: over PPP give %d to %d", o->mtu, SCPS_PPP_MRU_MIN,
                        SCPS_PPP_MRU_MAX);
        return SCPS_ERR_INVAL;
    }
    families(o, &c);
    if (!c.ipv4 && (!c.vj || c.remote.family)) {
        scps_io_message(msg,
                        "--ppp: %s is of IPv4, and each --addr is IPv6: leave it out, or add one",
                        c.vj ? "remote" : "novj");
        return SCPS_ERR_INVAL;
    }
    return 0;
}

struct scps_netif *scps_ifppp_open(const struct scps_ifopts *o, char *msg)
{
    struct scps_tty_config tty = {.path = o->ppp, .speed = o->ppp_speed};
    struct scps_ppp_config c = o->ppp_config;
    struct scps_netif *dev, *ppp;

    families(o, &c);
    if (o->mtu)
        c.mru = o->mtu;
    /* If no IPv4 address for the peer is configured, 10.64.64.64 is offered to it, because some
     * peers end a link on which they get no address. */
    if (!c.remote.family)
        c.remote = (struct scps_addr){4, {10, 64, 64, 64}};
    if (scps_entropy(&c.seed, sizeof c.seed)) {
        scps_io_message(msg, "no randomness from the kernel");
        return NULL;
    }
    dev = scps_tty_open_for("--ppp", &tty, msg);
    if (!dev)
        return NULL;
    ppp = scps_ppp_new(&c, NULL, NULL);
    if (!ppp) {
        scps_io_message(msg, "out of memory");
        scps_netif_close(dev);
        return NULL;
    }
    /* A serial line sends ten bits for each octet. The option --line-rate replaces this rate. */
    dev->rate = o->ppp_speed / 10;
    scps_netif_push(dev, ppp);
    return ppp;
}

struct waiting {
    struct scps_loop *loop;
    const struct scps_ifopts *o;
    const struct scps_netif *ppp;
    bool interrupted;
};

static void on_signal(EV_P_ ev_signal *w, int revents)
{
    struct waiting *x = w->data;

    (void)loop;
    (void)revents;
    x->interrupted = true;
    scps_loop_stop(x->loop);
}

/* State of a PPP link that is being opened; GOING_ON: none of the other states, so the wait
 * continues. */
enum progress {
    GOING_ON,
    OPEN,    /* every network protocol that --addr asks for is open */
    OVER,    /* the link is closed, or the line has gone */
    HALF,    /* IPv4 or IPv6 is open, and PPP has given up negotiating the second one */
    STOPPED, /* a signal has ended the wait */
    /* a time limit has passed: the user's (scps_ifopts.ppp_wait, from --ppp DEVICE,wait=S with S in
     * seconds), or the calling program's (scps_ifopts.patience), whichever ends first */
    LATE
};

static enum progress progress(const struct scps_ifopts *o, const struct scps_ppp_status *s)
{
    struct scps_ppp_config c = {0};

    families(o, &c);
    if (s->phase == SCPS_PPP_DEAD)
        return OVER;
    if (s->phase != SCPS_PPP_NETWORK)
        return GOING_ON;
    if (s->ipv4 == c.ipv4 && s->ipv6 == c.ipv6)
        return OPEN;
    /* A protocol that --addr asks for is not open yet. If IPv4 or IPv6 is open, the PPP filter sets
     * `why` only when it has given up negotiating the second one. */
    return s->why != SCPS_PPP_WHY_NONE && (s->ipv4 || s->ipv6) ? HALF : GOING_ON;
}

/* Returns a text that says why the PPP link is not open. */
static const char *reason(const struct scps_ppp_status *s)
{
    uint64_t noise = s->drops[SCPS_PPP_DROP_FCS] + s->drops[SCPS_PPP_DROP_ABORTED] +
                     s->drops[SCPS_PPP_DROP_SHORT] + s->drops[SCPS_PPP_DROP_LONG];

    if (s->why != SCPS_PPP_WHY_NONE && s->why != SCPS_PPP_WHY_NO_ANSWER)
        return scps_ppp_why_text(s->why);
    if (s->rx_frames > 0)
        return "the peer had not agreed to every option yet";
    return noise > 0 ? "octets come, but no whole frame: have both ends the same speed?"
                     : scps_ppp_why_text(SCPS_PPP_WHY_NO_ANSWER);
}

static int given_up(const struct scps_ifopts *o, enum progress how, const struct scps_ppp_status *s,
                    char *msg)
{
    char text[SCPS_ADDR_STRLEN];
    bool own_limit = o->ppp_wait && (!o->patience || o->ppp_wait <= o->patience);

    if (how == STOPPED)
        scps_io_message(msg, "--ppp %.100s: interrupted before the link was open", o->ppp);
    else if (s->why == SCPS_PPP_WHY_SAME_ADDRESS)
        scps_io_message(
            msg,
            "--ppp %.100s: both ends have the IPv4 address %s: give one of them another "
            "with --addr",
            o->ppp, scps_addr_format(&s->local, text));
    else if (how == HALF)
        scps_io_message(msg, "--ppp %.80s: no IPv%c: %s: leave out the --addr of IPv%c", o->ppp,
                        s->ipv4 ? '6' : '4', scps_ppp_why_text(s->why), s->ipv4 ? '6' : '4');
    else if (how == LATE)
        scps_io_message(msg, "--ppp %.80s: no link within %s%.3f%s: %s", o->ppp,
                        own_limit ? "wait=" : "",
                        (double)(own_limit ? o->ppp_wait : o->patience) / 1e6,
                        own_limit ? "" : " s", reason(s));
    else if (s->why == SCPS_PPP_WHY_NONE)
        scps_io_message(msg, "--ppp %.100s: the line was closed at its other end", o->ppp);
    else
        scps_io_message(msg, "--ppp %.100s: %s", o->ppp, reason(s));
    return how == LATE && !own_limit ? SCPS_ERR_TIMEDOUT : SCPS_ERR_LINKDOWN;
}

/* Returns true, and ends the wait, when the link is open. Then no octet is read from the line until
 * the caller has given the stack its addresses and listens. Otherwise the peer's SYN, which may
 * come right behind the Configure-Ack that opens the link, would be dropped. */
static bool stop_reading(void *ctx)
{
    struct waiting *x = ctx;
    struct scps_ppp_status s;

    scps_ppp_get_status(x->ppp, &s);
    if (progress(x->o, &s) != OPEN)
        return false;
    scps_loop_stop(x->loop);
    return true;
}

int scps_ifppp_await(const struct scps_ifopts *o, struct scps_loop *l, struct scps_netif *top,
                     struct scps_addr *local, char *msg)
{
    struct scps_netif *ppp = top;
    struct scps_iodev *dev = scps_iodev_of(top);
    struct waiting x = {.loop = l, .o = o};
    struct scps_ppp_status s;
    scps_time begin = scps_sysclock_now(), now = begin;
    enum progress how;
    ev_signal sig[2];

    while (strcmp(ppp->ops->name, "ppp") != 0)
        ppp = ppp->lower;
    x.ppp = ppp;
    dev->stop_ctx = &x;
    dev->stop = stop_reading;
    for (int i = 0; i < 2; i++) {
        ev_signal_init(&sig[i], on_signal, i ? SIGTERM : SIGINT);
        sig[i].data = &x;
        ev_signal_start(scps_loop_ev(l), &sig[i]);
    }
    do {
        scps_loop_run(l, now + SLICE);
        now = scps_sysclock_now();
        scps_ppp_get_status(ppp, &s);
        how = progress(o, &s);
        if (how != GOING_ON)
            continue;
        if (x.interrupted)
            how = STOPPED;
        else if (scps_loop_error(l))
            how = OVER;
        else if ((o->ppp_wait && now - begin > o->ppp_wait) ||
                 (o->patience && now - begin > o->patience))
            how = LATE;
    } while (how == GOING_ON);
    for (int i = 0; i < 2; i++)
        ev_signal_stop(scps_loop_ev(l), &sig[i]);
    /* The line is read again when the caller next runs the loop. */
    dev->stop = NULL;
    if (how != OPEN)
        return given_up(o, how, &s, msg);
    *local = s.local;
    return 0;
}
