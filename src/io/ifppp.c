/* SPDX-License-Identifier: MIT */
/* PPP for programs: --ppp DEVICE[,KEY[=VALUE]...].
 *
 * The network protocols are those of the addresses given: IPv4 where one of --addr is, or where
 * there is none, so that the peer gives one; IPv6 where one of --addr is.
 */
#include "io/ifppp.h"

#include "io/ifword.h"
#include "io/iodev.h"
#include "io/tunaddr.h"

#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SLICE SCPS_MS(2) /* interval at which the state of the link is checked */

static bool hex32(const char *s, uint32_t *out)
{
    char *end;
    unsigned long v = strtoul(s, &end, 16);

    *out = (uint32_t)v;
    return *s != '-' && end != s && !*end && v <= UINT32_MAX;
}

/* Parses one word behind the device. Returns NULL if it was valid, else a text that says what would
 * be. */
static const char *take_word(struct scps_ifopts *o, const char *key, const char *value)
{
    struct scps_ppp_config *c = &o->ppp_config;

    if (strcmp(key, "passive") == 0 && !value) {
        c->passive = true;
        return NULL;
    }
    if (strcmp(key, "novj") == 0 && !value) {
        c->vj = false;
        return NULL;
    }
    value = value ? value : "";
    if (strcmp(key, "speed") == 0)
        return scps_ifword_number(value, &o->ppp_speed) && o->ppp_speed ? NULL
                                                                        : "bit/s, as speed=115200";
    if (strcmp(key, "remote") == 0)
        return scps_addr_parse(value, &c->remote) == 0 && c->remote.family == 4
                   ? NULL
                   : "an IPv4 address, as remote=10.0.0.2";
    if (strcmp(key, "wait") == 0)
        return scps_ifword_seconds(value, &o->ppp_wait) && o->ppp_wait ? NULL
                                                                       : "seconds, as wait=60";
    if (strcmp(key, "restart") == 0)
        return scps_ifword_seconds(value, &c->restart) && c->restart ? NULL
                                                                     : "seconds, as restart=0.5";
    if (strcmp(key, "echo") == 0)
        return scps_ifword_seconds(value, &c->echo_interval) ? NULL : "seconds, as echo=10, or 0";
    if (strcmp(key, "accm") == 0)
        return hex32(value, &c->accm) ? NULL : "hexadecimal digits, as accm=000a0000";
    return "speed=N, remote=ADDRESS, wait=S, restart=S, echo=S, accm=HEX, passive or novj";
}

int scps_ifppp_parse(struct scps_ifopts *o, const char *value, char *msg)
{
    size_t n = strcspn(value, ",");

    if (!n || n >= sizeof o->ppp || strlen(value) >= SCPS_IFWORD_ROOM) {
        scps_io_say(msg, "--ppp \"%.60s\": not the name of a device", value);
        return SCPS_ERR_INVAL;
    }
    o->ppp_config = scps_ppp_config_default();
    o->ppp_speed = 0;
    o->ppp_wait = 0;
    memcpy(o->ppp, value, n);
    o->ppp[n] = 0;
    return scps_ifword_list("--ppp", value + n, o, take_word, msg);
}

int scps_ifppp_check(const struct scps_ifopts *o, char *msg)
{
    if (o->mtu && (o->mtu < SCPS_PPP_MRU_MIN || o->mtu > SCPS_PPP_MRU_MAX)) {
        scps_io_say(msg, "--mtu %u: over PPP give %d to %d", o->mtu, SCPS_PPP_MRU_MIN,
                    SCPS_PPP_MRU_MAX);
        return SCPS_ERR_INVAL;
    }
    return 0;
}

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

struct scps_netif *scps_ifppp_open(const struct scps_ifopts *o, char *msg)
{
    struct scps_tty_config tty = {.path = o->ppp, .speed = o->ppp_speed};
    struct scps_ppp_config c = o->ppp_config;
    struct scps_netif *dev, *ppp;

    families(o, &c);
    if (o->mtu)
        c.mru = o->mtu;
    if (!c.remote.family) /* Some peers end a link on which they get no address, so offer one. */
        c.remote = (struct scps_addr){4, {10, 64, 64, 64}};
    if (scps_entropy(&c.seed, sizeof c.seed)) {
        scps_io_say(msg, "no randomness from the kernel");
        return NULL;
    }
    dev = scps_tty_open(&tty, msg);
    if (!dev)
        return NULL;
    ppp = scps_ppp_new(&c, NULL, NULL);
    if (!ppp) {
        scps_io_say(msg, "out of memory");
        scps_netif_close(dev);
        return NULL;
    }
    /* A serial line sends ten bits for each octet; --line-rate overrides this. */
    dev->rate = o->ppp_speed / 10;
    scps_netif_push(dev, ppp);
    return ppp;
}

const char *scps_ifopts_trouble(const struct scps_netif *top)
{
    struct scps_ppp_status s;

    while (top && strcmp(top->ops->name, "ppp") != 0)
        top = top->lower;
    if (!top)
        return NULL;
    scps_ppp_get_status(top, &s);
    return s.why == SCPS_PPP_WHY_NONE ? NULL : scps_ppp_why_text(s.why);
}

struct waiting {
    struct scps_loop *loop;
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

/* Returns true when every network protocol that was asked for is open. */
static bool all_open(const struct scps_ifopts *o, const struct scps_ppp_status *s)
{
    struct scps_ppp_config c = {0};

    families(o, &c);
    return s->phase == SCPS_PPP_NETWORK && (s->ipv4 || !c.ipv4) && (s->ipv6 || !c.ipv6);
}

static int given_up(const struct scps_ifopts *o, const struct waiting *x,
                    const struct scps_ppp_status *s, bool late, char *msg)
{
    char text[SCPS_ADDR_STRLEN];

    if (x->interrupted)
        scps_io_say(msg, "--ppp %.100s: interrupted before the link was open", o->ppp);
    else if (s->why == SCPS_PPP_WHY_SAME_ADDRESS)
        scps_io_say(msg,
                    "--ppp %.100s: both ends have the IPv4 address %s: give one of them another "
                    "with --addr",
                    o->ppp, scps_addr_format(&s->local, text));
    else if (late)
        scps_io_say(
            msg, "--ppp %.100s: no link within wait=%.3f: %s", o->ppp, (double)o->ppp_wait / 1e6,
            scps_ppp_why_text(s->why == SCPS_PPP_WHY_NONE ? SCPS_PPP_WHY_NO_ANSWER : s->why));
    else if (s->why == SCPS_PPP_WHY_NONE)
        scps_io_say(msg, "--ppp %.100s: the line was closed at its other end", o->ppp);
    else
        scps_io_say(msg, "--ppp %.100s: %s", o->ppp, scps_ppp_why_text(s->why));
    return SCPS_ERR_LINKDOWN;
}

int scps_ifppp_await(const struct scps_ifopts *o, struct scps_loop *l, struct scps_netif *top,
                     struct scps_addr *local, char *msg)
{
    struct scps_netif *ppp = top;
    struct waiting x = {.loop = l};
    struct scps_ppp_status s;
    scps_time begin = scps_sysclock_now(), now = begin;
    ev_signal sig[2];
    bool late = false;

    while (strcmp(ppp->ops->name, "ppp") != 0)
        ppp = ppp->lower;
    for (int i = 0; i < 2; i++) {
        ev_signal_init(&sig[i], on_signal, i ? SIGTERM : SIGINT);
        sig[i].data = &x;
        ev_signal_start(scps_loop_ev(l), &sig[i]);
    }
    do {
        scps_loop_run(l, now + SLICE);
        now = scps_sysclock_now();
        scps_ppp_get_status(ppp, &s);
        late = o->ppp_wait && now - begin > o->ppp_wait;
    } while (!all_open(o, &s) && !late && !x.interrupted && !scps_loop_error(l) &&
             s.phase != SCPS_PPP_DEAD);
    for (int i = 0; i < 2; i++)
        ev_signal_stop(scps_loop_ev(l), &sig[i]);
    if (!all_open(o, &s))
        return given_up(o, &x, &s, late, msg);
    *local = s.local;
    return 0;
}
