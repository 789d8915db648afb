/* SPDX-License-Identifier: MIT */
/* Opens an end of a PPP link, and reports its state. */
#include "link/ppp.h"

#include <string.h>

#include <scps/error.h>

#include "base/bounds.h"
#include "base/bytes.h"
#include "base/sized.h"
#include "link/linkopen.h"

#define HEADER 4 /* octets of the address, control and protocol fields of a frame */
#define FCS    2
/* length of packets that each end must accept, octets, whatever its MRU (RFC 1661 section 6.1) */
#define LEAST_RX 1500u

void scps_ppp_config_init(struct scps_ppp_config *cfg, size_t size)
{
    static const struct scps_ppp_config defaults = {.mru = 1500,
                                                    .compress_fields = true,
                                                    .ipv4 = true,
                                                    .ipv6 = true,
                                                    .vj = true,
                                                    .vj_slots = SCPS_VJ_SLOTS,
                                                    .restart = SCPS_SEC(3),
                                                    .max_configure = 10,
                                                    .max_terminate = 2,
                                                    .max_failure = 5,
                                                    .echo_failures = 3};

    scps_sized_give_own(cfg, size, &defaults, sizeof defaults);
}

static size_t rx_room(const struct scps_ppp_config *cfg)
{
    return SCPS_MAX(cfg->mru, LEAST_RX) + HEADER + FCS;
}

static size_t tx_room(const struct scps_ppp_config *cfg)
{
    return SCPS_HDLC_ROOM(SCPS_MAX(cfg->mru, LEAST_RX) + HEADER);
}

static size_t memory(const struct scps_ppp_config *cfg)
{
    return sizeof(struct scps_ppp) + rx_room(cfg) + tx_room(cfg);
}

/* Copies the configuration `from`, which may be that of an older version of the library and so
 * shorter (NULL: all defaults), and checks it. Returns false, with the reason in *why, if the
 * configuration is refused. */
static bool copy_config(struct scps_ppp_config *c, const struct scps_ppp_config *from,
                        struct scps_line *why)
{
    static const struct scps_bounds bounds[] = {
#define FIELD(f, least, most) SCPS_BOUNDS(scps_ppp_config, f, least, most)
        FIELD(mru, SCPS_PPP_MRU_MIN, SCPS_PPP_MRU_MAX),
        FIELD(vj_slots, 3, SCPS_VJ_SLOTS),
        FIELD(restart, 1, SCPS_NEVER / 2),
        FIELD(max_configure, 1, UINT32_MAX),
        FIELD(max_terminate, 1, UINT32_MAX),
        FIELD(max_failure, 1, UINT32_MAX),
        FIELD(echo_interval, 0, SCPS_NEVER / 2),
#undef FIELD
    };

    scps_ppp_config_init(c, sizeof *c);
    return (!from ||
            scps_bounds_take(c, sizeof *c, from, SCPS_SIZED_TO(scps_ppp_config, accm), why)) &&
           scps_bounds_hold(bounds, sizeof bounds / sizeof *bounds, c, why) &&
           scps_bounds_also(c->ipv4 || c->ipv6, "ipv4: false: give ipv4, ipv6 or both", why) &&
           scps_bounds_also(c->echo_failures || !c->echo_interval,
                            "echo_failures: 0: give 1 or more, or echo_interval 0", why) &&
           scps_bounds_also(!c->local.family || c->local.family == 4,
                            "local: give an IPv4 address, or family 0", why) &&
           scps_bounds_also(!c->remote.family || c->remote.family == 4,
                            "remote: give an IPv4 address, or family 0", why) &&
           scps_bounds_also(!c->remote_strict || c->remote.family,
                            "remote_strict: give remote, too", why);
}

int scps_ppp_config_check(const struct scps_ppp_config *cfg, char *msg, size_t msglen)
{
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_ppp_config c;

    return copy_config(&c, cfg, &why) ? 0 : SCPS_ERR_RANGE;
}

size_t scps_ppp_memory(const struct scps_ppp_config *cfg)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ppp_config c;

    return copy_config(&c, cfg, &no_text) ? memory(&c) : 0;
}

struct scps_netif *scps_ppp_new(const struct scps_ppp_config *asked, const struct scps_alloc *alloc,
                                int *err)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ppp_config own;
    const struct scps_ppp_config *cfg = &own;
    size_t size = copy_config(&own, asked, &no_text) ? memory(cfg) : 0;
    struct scps_alloc a;
    struct scps_ppp *p = scps_link_open(alloc, size, &a, err);

    if (!p)
        return NULL;
    p->alloc = a;
    p->size = size;
    p->cfg = *cfg;
    p->nif.name = "ppp";
    p->env.cfg = &p->cfg;
    scps_prng_seed(&p->env.prng, cfg->seed);
    scps_hdlc_rx_init(&p->rx, (uint8_t *)(p + 1), rx_room(cfg));
    p->tx = p->rx.buf + rx_room(cfg);
    scps_vj_tx_init(&p->vj_tx);
    scps_vj_rx_init(&p->vj_rx);
    scps_lcp_init(&p->lcp, &p->env);
    scps_ipcp_init(&p->ipcp, &p->env);
    scps_ip6cp_init(&p->ip6cp, &p->env);
    scps_ppp_wire(p);
    return &p->nif;
}

static enum scps_ppp_phase phase_of(const struct scps_ppp *p)
{
    switch (p->lcp.cp.state) {
    case CP_OPENED:
        return SCPS_PPP_NETWORK;
    case CP_CLOSING:
    case CP_STOPPING:
        return SCPS_PPP_TERMINATE;
    case CP_REQ_SENT:
    case CP_ACK_RCVD:
    case CP_ACK_SENT:
        return SCPS_PPP_ESTABLISH;
    case CP_STOPPED:
        return p->cfg.passive ? SCPS_PPP_ESTABLISH : SCPS_PPP_DEAD;
    default:
        return SCPS_PPP_DEAD;
    }
}

static struct scps_addr address(uint32_t v)
{
    struct scps_addr a = {0};

    if (v) {
        a.family = 4;
        scps_put32(a.b, v);
    }
    return a;
}

static void put_id(uint8_t out[8], uint64_t v)
{
    scps_put32(out, (uint32_t)(v >> 32));
    scps_put32(out + 4, (uint32_t)v);
}

void scps_ppp_get_status_sized(const struct scps_netif *ppp, struct scps_ppp_status *to,
                               size_t size)
{
    const struct scps_ppp *p = (const struct scps_ppp *)ppp;
    struct scps_ppp_status own, *out = &own;

    memset(out, 0, sizeof *out);
    out->phase = phase_of(p);
    out->why = p->why;
    out->ipv4 = scps_cp_is_open(&p->ipcp.cp);
    out->ipv6 = scps_cp_is_open(&p->ip6cp.cp);
    if (out->ipv4 || p->why == SCPS_PPP_WHY_SAME_ADDRESS) {
        out->local = address(p->ipcp.local);
        out->remote = address(p->ipcp.remote);
    }
    if (out->ipv4) {
        out->vj_tx = p->ipcp.vj_tx;
        out->vj_rx = p->ipcp.ask_vj;
    }
    if (out->ipv6) {
        put_id(out->local_id, p->ip6cp.local);
        put_id(out->remote_id, p->ip6cp.remote);
    }
    out->mtu = p->nif.mtu;
    out->tx_accm = p->lcp.peer.accm;
    out->tx_frames = p->tx_frames;
    out->rx_frames = p->rx_frames;
    out->vj_compressed = p->vj_compressed;
    out->vj_restored = p->vj_restored;
    out->echoes_sent = p->lcp.echoes_sent;
    out->echoes_answered = p->lcp.echoes_answered;
    memcpy(out->drops, p->env.drops, sizeof out->drops);
    scps_sized_give(to, size, out, sizeof *out);
}

const char *scps_ppp_why_text(enum scps_ppp_why why)
{
    static const char *const text[] = {
#define X(name, words) words,
        SCPS_PPP_WHYS(X)
#undef X
    };
    return (unsigned)why < SCPS_PPP_WHY_COUNT ? text[why] : "unknown reason";
}

const char *scps_ppp_drop_text(enum scps_ppp_drop drop)
{
    static const char *const text[] = {
#define X(name, words) words,
        SCPS_PPP_DROPS(X)
#undef X
    };
    return (unsigned)drop < SCPS_PPP_DROP_COUNT ? text[drop] : "unknown reason";
}
