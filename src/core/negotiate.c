/* SPDX-License-Identifier: MIT */
/* What a SYN offers and what both sides settle on.
 *
 * A SYN offers what the configuration allows; a SYN-ACK repeats only what the SYN offered too (RFC
 * 7323 sections 2.2 and 3.2, RFC 2018 section 2, RFC 3168 section 6.1.1).
 */
#include "core/conn.h"

#include "base/bytes.h"

#define MIN_MSS 48 /* below this a segment would carry options only */

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

uint8_t scps_negotiate_caps(const struct scps_conn *c)
{
    bool id = c->tp && c->tp->conn_id;

    return (uint8_t)(wanted(&c->ctx.cfg->c) & ~(id ? 0 : SCPS_CAP_COM));
}

static bool has_bindings(const struct scps_conn_config *cfg)
{
    return cfg->binding[0].len || cfg->binding[1].len;
}

bool scps_negotiate_offers(const struct scps_conn *c)
{
    return scps_negotiate_caps(c) || has_bindings(&c->ctx.cfg->c);
}

/* One of the capabilities, bit, or the option that carries them, 0. */
static enum scps_why why_cap(const struct scps_conn *c, uint8_t bit)
{
    static const uint8_t plain[] = {[SCPS_PLAIN_NO] = SCPS_WHY_NO_CAPABILITIES,
                                    [SCPS_PLAIN_REMEMBERED] = SCPS_WHY_REMEMBERED,
                                    [SCPS_PLAIN_FELL_BACK] = SCPS_WHY_FELL_BACK,
                                    [SCPS_PLAIN_COOKIE] = SCPS_WHY_COOKIE};
    uint8_t wants = wanted(&c->ctx.cfg->c);

    if (bit ? c->caps & bit : c->flags & SCPS_F_CAPS)
        return SCPS_WHY_IN_FORCE;
    if (bit ? !(wants & bit) : !wants && !has_bindings(&c->ctx.cfg->c))
        return SCPS_WHY_NOT_CONFIGURED;
    if (!c->established)
        return SCPS_WHY_NOT_YET;
    if (bit == SCPS_CAP_COM && !(c->tp && c->tp->conn_id) &&
        (c->flags & SCPS_F_ACTIVE || c->caps_peer & SCPS_CAP_COM))
        return SCPS_WHY_NO_ID;
    if (c->plain == SCPS_PLAIN_COOKIE) /* a cookie keeps all but compression and bindings */
        return bit && bit != SCPS_CAP_COM ? SCPS_WHY_NOT_OFFERED : SCPS_WHY_COOKIE;
    if (!(c->flags & SCPS_F_CAPS))
        return (enum scps_why)plain[c->plain];
    return SCPS_WHY_NOT_OFFERED;
}

enum scps_why scps_negotiate_why(const struct scps_conn *c, enum scps_feature f)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    bool wants = false, agreed = false;

    switch (f) {
    case SCPS_FEATURE_WSCALE:
        wants = cfg->wscale;
        agreed = c->flags & SCPS_F_WSCALE;
        break;
    case SCPS_FEATURE_TIMESTAMPS:
        wants = cfg->timestamps;
        agreed = c->flags & SCPS_F_TS;
        break;
    case SCPS_FEATURE_SACK:
        wants = cfg->sack;
        agreed = c->flags & SCPS_F_SACK;
        break;
    case SCPS_FEATURE_ECN:
        wants = cfg->ecn;
        agreed = c->flags & SCPS_F_ECN;
        break;
    case SCPS_FEATURE_CAPABILITIES:
        return why_cap(c, 0);
    case SCPS_FEATURE_SNACK:
        return why_cap(c, SCPS_CAP_SNACK1);
    case SCPS_FEATURE_SNACK_LONG:
        return why_cap(c, SCPS_CAP_SNACK2);
    case SCPS_FEATURE_COMPRESSION:
        return why_cap(c, SCPS_CAP_COM);
    case SCPS_FEATURE_BETS:
        return why_cap(c, SCPS_CAP_BETS);
    case SCPS_FEATURE_COUNT:
        break;
    }
    if (agreed)
        return SCPS_WHY_IN_FORCE;
    if (!wants)
        return SCPS_WHY_NOT_CONFIGURED;
    if (!c->established)
        return SCPS_WHY_NOT_YET;
    if (f == SCPS_FEATURE_ECN && c->flags & SCPS_F_SYN_LOST)
        return SCPS_WHY_FELL_BACK; /* RFC 3168 section 6.1.1.1 */
    if (f != SCPS_FEATURE_TIMESTAMPS && c->plain == SCPS_PLAIN_COOKIE && !(c->flags & SCPS_F_TS))
        return SCPS_WHY_COOKIE;
    return SCPS_WHY_NOT_OFFERED;
}

void scps_negotiate_offer(const struct scps_conn *c, struct scps_seg *syn)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    bool reply = c->state == SCPS_SYN_RECEIVED;

    syn->has |= SCPS_HAS_MSS;
    syn->mss = c->adv_mss;
    if (reply ? c->flags & SCPS_F_WSCALE : cfg->wscale) {
        syn->has |= SCPS_HAS_WSCALE;
        syn->wscale = wscale_for(cfg->rcvbuf);
    }
    if (reply ? c->flags & SCPS_F_SACK : cfg->sack)
        syn->has |= SCPS_HAS_SACK_OK;
    if (reply ? c->flags & SCPS_F_TS : cfg->timestamps) {
        syn->has |= SCPS_HAS_TS;
        syn->tsval = scps_conn_tsval(c);
        syn->tsecr = reply ? c->ts_recent : 0;
    }
    /* Some old hosts choke on an option they do not know: after a few tries the SYN does without
     * (docs/SCPS-TP.md section 1.4). */
    if (reply ? c->flags & SCPS_F_CAPS : scps_negotiate_offers(c) && !c->plain) {
        syn->has |= SCPS_HAS_CAPS;
        syn->caps = scps_negotiate_caps(c);
        syn->conn_id = syn->caps & SCPS_CAP_COM ? c->tp->conn_id : 0;
        if (has_bindings(&c->ctx.cfg->c) && c->tp) { /* the answer is what both have */
            const struct scps_binding *b = reply ? c->tp->binding : cfg->binding;
            syn->xcaps = c->tp->xcaps;
            syn->xcaps_len = (uint8_t)scps_binding_build(c->tp->xcaps, b, SCPS_BINDINGS);
            if (syn->xcaps_len)
                syn->has |= SCPS_HAS_XCAPS;
        }
        if (cfg->bets && cfg->bets_legacy)
            syn->has |= SCPS_HAS_BETS_OK;
    }
    /* A SYN that was lost once goes out again without ECN: some boxes drop such SYNs (RFC 3168
     * 6.1.1.1). */
    if (reply) {
        if (c->flags & SCPS_F_ECN)
            syn->flags |= SCPS_ECE;
    } else if (cfg->ecn && !(c->flags & SCPS_F_SYN_LOST)) {
        syn->flags |= SCPS_ECE | SCPS_CWR;
    }
}

/* Of the peer's binding spaces those we have, too. Nonsense ends the list. */
static SCPS_APART void settle_bindings(struct scps_conn *c, const struct scps_seg *syn)
{
    const struct scps_binding *own = c->ctx.cfg->c.binding;
    struct scps_binding b;
    size_t at = 0, n;

    while (at < syn->xcaps_len &&
           (n = scps_binding_parse(syn->xcaps + at, syn->xcaps_len - at, &b))) {
        at += n;
        for (int i = 0; i < SCPS_BINDINGS; i++)
            if (own[i].len && own[i].id == b.id && !c->tp->binding[i].len)
                c->tp->binding[i] = scps_binding_and(&own[i], &b);
    }
}

void scps_negotiate_settle(struct scps_conn *c, const struct scps_seg *syn)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    uint32_t peer = syn->has & SCPS_HAS_MSS ? syn->mss : c->remote.family == 4 ? 536 : 1220;
    bool ecn_offered = syn->flags & SCPS_ACK
                           ? (syn->flags & (SCPS_ECE | SCPS_CWR)) == SCPS_ECE
                           : (syn->flags & (SCPS_ECE | SCPS_CWR)) == (SCPS_ECE | SCPS_CWR);

    /* Simultaneous open: the peer's SYN was settled, and its SYN-ACK says what the peer has agreed
     * to. The SYN of ours that it knows may be the one without capabilities. */
    if (c->state == SCPS_SYN_RECEIVED && syn->flags & SCPS_ACK) {
        if (!(syn->has & SCPS_HAS_CAPS)) {
            c->caps = 0;
            c->flags &= ~(uint32_t)SCPS_F_CAPS;
        }
        return;
    }
    if (cfg->wscale && syn->has & SCPS_HAS_WSCALE) {
        c->flags |= SCPS_F_WSCALE;
        c->snd_wscale = SCPS_MIN(syn->wscale, 14);
        c->rcv_wscale = wscale_for(cfg->rcvbuf);
    }
    if (cfg->sack && syn->has & SCPS_HAS_SACK_OK)
        c->flags |= SCPS_F_SACK;
    if (cfg->timestamps && syn->has & SCPS_HAS_TS) {
        c->flags |= SCPS_F_TS;
        c->ts_recent = syn->tsval;
        c->ts_recent_at = scps_conn_ts_clock(c);
    }
    /* Where both opened at once the peer's SYN answers none of ours: it may know only the plain
     * one. */
    if (syn->has & SCPS_HAS_CAPS && scps_negotiate_offers(c) &&
        !(c->plain && c->state == SCPS_SYN_SENT && !(syn->flags & SCPS_ACK))) {
        c->plain = SCPS_PLAIN_NO; /* an earlier SYN of ours, which had them, is what it answers */
        c->flags |= SCPS_F_CAPS;
        c->caps_peer = syn->caps;
        c->caps = syn->caps &
                  scps_negotiate_caps(
                      c); /* in effect only if both offered it (docs/SCPS-TP.md section 1.2) */
    }
    if (c->flags & SCPS_F_CAPS && syn->has & SCPS_HAS_XCAPS && has_bindings(&c->ctx.cfg->c) &&
        !scps_conn_need_tp(c))
        settle_bindings(c, syn);
    if (c->caps & SCPS_CAP_COM)
        c->tp->peer_id = syn->conn_id;
    c->peer_mss = (uint16_t)SCPS_MAX(peer, MIN_MSS);
    if (cfg->ecn && ecn_offered)
        c->flags |= SCPS_F_ECN;
    scps_conn_set_pmtu_mss(c, c->pmtu_mss);
}

uint32_t scps_negotiate_first_window(const struct scps_conn *c, const struct scps_seg *syn)
{
    uint64_t most = UINT64_C(65535) << c->snd_wscale;

    if (syn->wnd < 65535 || !(c->flags & SCPS_F_WSCALE))
        return syn->wnd;
    return (uint32_t)SCPS_MAX(65535, SCPS_MIN(c->ctx.cfg->c.first_window, most));
}
