/* SPDX-License-Identifier: MIT */
/* Which options a SYN offers and which ones both ends agree on.
 *
 * A SYN offers what the configuration allows; a SYN-ACK repeats only what the SYN offered too (RFC
 * 7323 sections 2.2 and 3.2, RFC 2018 section 2, RFC 3168 section 6.1.1).
 */
#include "core/negotiate.h"

#include "base/bytes.h"
#include "wire/opt.h"

/* Least MSS that is used, bytes: with a smaller one, the options could fill a whole segment. */
#define MIN_MSS 48

static uint8_t wscale_for(uint32_t rcvbuf)
{
    uint8_t s = 0;

    while (s < 14 && (UINT32_C(65535) << s) < rcvbuf)
        s++;
    return s;
}

static uint8_t wanted(const struct scps_conn_config *cfg)
{
    return (uint8_t)((cfg->bets ? SCPS_CAP_BETS : 0) | (cfg->snack ? SCPS_CAP_SNACK1 : 0) |
                     (cfg->snack && cfg->snack_long ? SCPS_CAP_SNACK2 : 0) |
                     (cfg->compress ? SCPS_CAP_COM : 0));
}

/* Octets of options of a SYN with an MSS, timestamps, permission of SACK, a window scale and
 * capabilities, padded */
#define SYN_OPTIONS 24u

/* Returns true if this end offers a window scale. It does not on a path whose packets are too small
 * for all options of a SYN: segments of so few octets fill no large window. */
static bool offers_wscale(const struct scps_asked *q)
{
    return q->cfg->wscale && q->agreed->pmtu_mss >= SYN_OPTIONS;
}

uint8_t scps_negotiate_caps(const struct scps_asked *q)
{
    return (uint8_t)(wanted(q->cfg) & ~(q->conn_id ? 0 : SCPS_CAP_COM));
}

static bool has_bindings(const struct scps_conn_config *cfg)
{
    return cfg->binding[0].len || cfg->binding[1].len;
}

bool scps_negotiate_offers(const struct scps_asked *q)
{
    return scps_negotiate_caps(q) || has_bindings(q->cfg);
}

/* Returns why a SCPS capability is in force on this connection, or why not (enum scps_why). bit:
 * its SCPS_CAP_* bit; 0: the question is about the capabilities option as a whole. */
static enum scps_why why_cap(const struct scps_asked *q, uint8_t bit)
{
    static const uint8_t plain[] = {[SCPS_PLAIN_NO] = SCPS_WHY_NO_CAPABILITIES,
                                    [SCPS_PLAIN_REMEMBERED] = SCPS_WHY_REMEMBERED,
                                    [SCPS_PLAIN_FELL_BACK] = SCPS_WHY_FELL_BACK,
                                    [SCPS_PLAIN_COOKIE] = SCPS_WHY_COOKIE};
    uint8_t wants = wanted(q->cfg);

    if (bit ? q->agreed->caps & bit : q->agreed->opts & SCPS_AGREED_CAPS)
        return SCPS_WHY_IN_FORCE;
    if (bit ? !(wants & bit) : !wants && !has_bindings(q->cfg))
        return SCPS_WHY_NOT_CONFIGURED;
    if (!q->established)
        return SCPS_WHY_NOT_YET;
    if (bit == SCPS_CAP_COM && !q->conn_id && (q->active || q->agreed->caps_peer & SCPS_CAP_COM))
        return SCPS_WHY_NO_ID;
    /* The connection was made from a SYN cookie. A cookie encodes all capabilities of the peer
     * except compression (SCPS_CAP_COM), and no binding spaces (data of a vendor in a second TCP
     * option 20). So another capability that is not in force was not offered by the peer; for
     * compression, and if no capability is in force (bit 0), the cookie is the reason. */
    if (scps_agreed_plain(q->agreed) == SCPS_PLAIN_COOKIE)
        return bit && bit != SCPS_CAP_COM ? SCPS_WHY_NOT_OFFERED : SCPS_WHY_COOKIE;
    if (!(q->agreed->opts & SCPS_AGREED_CAPS))
        return (enum scps_why)plain[scps_agreed_plain(q->agreed)];
    return SCPS_WHY_NOT_OFFERED;
}

enum scps_why scps_negotiate_why(const struct scps_asked *q, enum scps_feature f)
{
    const struct scps_conn_config *cfg = q->cfg;
    bool wants = false, agreed = false;

    switch (f) {
    case SCPS_FEATURE_WSCALE:
        wants = cfg->wscale;
        agreed = q->agreed->opts & SCPS_AGREED_WSCALE;
        break;
    case SCPS_FEATURE_TIMESTAMPS:
        wants = cfg->timestamps;
        agreed = q->agreed->opts & SCPS_AGREED_TS;
        break;
    case SCPS_FEATURE_SACK:
        wants = cfg->sack;
        agreed = q->agreed->opts & SCPS_AGREED_SACK;
        break;
    case SCPS_FEATURE_ECN:
        wants = cfg->ecn;
        agreed = q->agreed->opts & SCPS_AGREED_ECN;
        break;
    case SCPS_FEATURE_CAPABILITIES:
        return why_cap(q, 0);
    case SCPS_FEATURE_SNACK:
        return why_cap(q, SCPS_CAP_SNACK1);
    case SCPS_FEATURE_SNACK_LONG:
        return why_cap(q, SCPS_CAP_SNACK2);
    case SCPS_FEATURE_COMPRESSION:
        return why_cap(q, SCPS_CAP_COM);
    case SCPS_FEATURE_BETS:
        return why_cap(q, SCPS_CAP_BETS);
    case SCPS_FEATURE_COUNT:
        break;
    }
    if (agreed)
        return SCPS_WHY_IN_FORCE;
    if (!wants)
        return SCPS_WHY_NOT_CONFIGURED;
    if (!q->established)
        return SCPS_WHY_NOT_YET;
    if (f == SCPS_FEATURE_ECN && q->syn_lost)
        /* an ECN SYN that was lost is repeated without ECN (RFC 3168 section 6.1.1.1) */
        return SCPS_WHY_FELL_BACK;
    if (f != SCPS_FEATURE_TIMESTAMPS && scps_agreed_plain(q->agreed) == SCPS_PLAIN_COOKIE &&
        !(q->agreed->opts & SCPS_AGREED_TS))
        return SCPS_WHY_COOKIE;
    return SCPS_WHY_NOT_OFFERED;
}

void scps_negotiate_offer(const struct scps_asked *q, struct scps_seg *syn)
{
    const struct scps_conn_config *cfg = q->cfg;
    const uint8_t opts = q->agreed->opts;
    bool reply = q->state == SCPS_SYN_RECEIVED;

    syn->has |= SCPS_HAS_MSS;
    syn->mss = q->agreed->adv_mss;
    if (reply ? opts & SCPS_AGREED_WSCALE : offers_wscale(q)) {
        syn->has |= SCPS_HAS_WSCALE;
        syn->wscale = wscale_for(cfg->rcvbuf);
    }
    if (reply ? opts & SCPS_AGREED_SACK : cfg->sack)
        syn->has |= SCPS_HAS_SACK_OK;
    if (reply ? opts & SCPS_AGREED_TS : cfg->timestamps)
        syn->has |= SCPS_HAS_TS;
    /* Some old hosts do not answer a SYN with an unknown option: after some tries the SYN is sent
     * without capabilities (docs/SCPS-TP.md section 1.4). */
    if (reply ? opts & SCPS_AGREED_CAPS
              : scps_negotiate_offers(q) && !scps_agreed_plain(q->agreed)) {
        syn->has |= SCPS_HAS_CAPS;
        syn->caps = scps_negotiate_caps(q);
        syn->conn_id = syn->caps & SCPS_CAP_COM ? q->conn_id : 0;
        if (cfg->bets && cfg->bets_legacy && q->agreed->pmtu_mss >= SYN_OPTIONS + 4)
            syn->has |= SCPS_HAS_BETS_OK;
    }
    /* A SYN-ACK has ECE if ECN was agreed on, also when it is resent. A SYN that timed out is
     * resent without ECN, because some middleboxes drop SYNs with ECN (RFC 3168 section
     * 6.1.1.1). */
    if (reply) {
        if (opts & SCPS_AGREED_ECN)
            syn->flags |= SCPS_ECE;
    } else if (cfg->ecn && !q->syn_lost) {
        syn->flags |= SCPS_ECE | SCPS_CWR;
    }
}

void scps_negotiate_offer_bindings(const struct scps_asked *q, const struct scps_binding *agreed,
                                   uint8_t *xcaps, struct scps_seg *syn)
{
    const struct scps_binding *b = q->state == SCPS_SYN_RECEIVED ? agreed : q->cfg->binding;

    if (!(syn->has & SCPS_HAS_CAPS) || !has_bindings(q->cfg))
        return;
    syn->xcaps = xcaps;
    syn->xcaps_len = (uint8_t)scps_binding_build(xcaps, b, SCPS_BINDINGS);
    if (syn->xcaps_len &&
        SYN_OPTIONS + (syn->has & SCPS_HAS_BETS_OK ? 4u : 0) + ((syn->xcaps_len + 5u) & ~3u) <=
            q->agreed->pmtu_mss)
        syn->has |= SCPS_HAS_XCAPS;
}

bool scps_negotiate_has_bindings(const struct scps_asked *q, const struct scps_seg *syn)
{
    return q->agreed->opts & SCPS_AGREED_CAPS && syn->has & SCPS_HAS_XCAPS && has_bindings(q->cfg);
}

/* Reads the binding spaces of the peer's SYN, which are data of a vendor in a second TCP option 20,
 * one after another; a malformed one ends the reading. */
void scps_negotiate_settle_bindings(const struct scps_binding *own, const struct scps_seg *syn,
                                    struct scps_binding *agreed)
{
    struct scps_binding b;
    size_t at = 0, n;

    while (at < syn->xcaps_len &&
           (n = scps_binding_parse(syn->xcaps + at, syn->xcaps_len - at, &b))) {
        at += n;
        for (int i = 0; i < SCPS_BINDINGS; i++)
            if (own[i].len && own[i].id == b.id && !agreed[i].len)
                agreed[i] = scps_binding_and(&own[i], &b);
    }
}

bool scps_negotiate_offers_ecn(const struct scps_seg *syn)
{
    uint16_t bits = syn->flags & (SCPS_ECE | SCPS_CWR);

    return bits == (syn->flags & SCPS_ACK ? SCPS_ECE : SCPS_ECE | SCPS_CWR);
}

struct scps_agreed scps_negotiate_settle(const struct scps_asked *q, const struct scps_seg *syn)
{
    const struct scps_conn_config *cfg = q->cfg;
    struct scps_agreed a = *q->agreed;
    uint32_t peer = syn->has & SCPS_HAS_MSS ? syn->mss : q->family == 4 ? 536 : 1220;
    unsigned opts = a.opts;

    /* Simultaneous open: the peer's SYN was processed before, and its SYN-ACK shows what the peer
     * has agreed to. The peer may have received only a SYN of this end without capabilities. */
    if (q->state == SCPS_SYN_RECEIVED && syn->flags & SCPS_ACK) {
        if (!(syn->has & SCPS_HAS_CAPS)) {
            a.caps = 0;
            a.opts = (uint8_t)(opts & ~(unsigned)SCPS_AGREED_CAPS);
        }
        /* RFC 3168 section 6.1.1: a host that has received a SYN-ACK without ECN sends no ECT. */
        if (!scps_negotiate_offers_ecn(syn))
            a.opts = (uint8_t)(a.opts & ~(unsigned)SCPS_AGREED_ECN);
        return a;
    }
    if (offers_wscale(q) && syn->has & SCPS_HAS_WSCALE) {
        opts |= SCPS_AGREED_WSCALE;
        a.snd_wscale = SCPS_MIN(syn->wscale, 14) & 15;
        a.rcv_wscale = wscale_for(cfg->rcvbuf) & 15;
    }
    if (cfg->sack && syn->has & SCPS_HAS_SACK_OK)
        opts |= SCPS_AGREED_SACK;
    if (cfg->timestamps && syn->has & SCPS_HAS_TS)
        opts |= SCPS_AGREED_TS;
    /* In a simultaneous open the peer's SYN was not sent in answer to a SYN of this end. If this
     * end has sent its last SYNs without the capabilities option, the peer may have received only
     * one of these SYNs, and would then not take any capability for agreed. So the option in the
     * peer's SYN is ignored. */
    if (syn->has & SCPS_HAS_CAPS && scps_negotiate_offers(q) &&
        !(scps_agreed_plain(q->agreed) && q->state == SCPS_SYN_SENT && !(syn->flags & SCPS_ACK))) {
        opts |= SCPS_AGREED_CAPS;
        a.caps_peer = syn->caps;
        /* a capability is in force only if both ends offered it (docs/SCPS-TP.md section 1.2) */
        a.caps = syn->caps & scps_negotiate_caps(q);
    }
    a.peer_mss = (uint16_t)SCPS_MAX(peer, MIN_MSS);
    if (cfg->ecn && scps_negotiate_offers_ecn(syn))
        opts |= SCPS_AGREED_ECN;
    a.opts = (uint8_t)opts;
    if (opts & SCPS_AGREED_CAPS)
        scps_agreed_plainly(&a, SCPS_PLAIN_NO);
    return a;
}

SCPS_NOINLINE_SIZE uint32_t scps_negotiate_first_window(const struct scps_agreed *a,
                                                        uint32_t first_window, uint16_t wnd)
{
    uint64_t most = UINT64_C(65535) << a->snd_wscale;

    if (wnd < 65535 || !(a->opts & SCPS_AGREED_WSCALE))
        return wnd;
    return (uint32_t)SCPS_MAX(65535, SCPS_MIN(first_window, most));
}
