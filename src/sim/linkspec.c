/* SPDX-License-Identifier: MIT */
/* Reads the description of a link in one line of text: a preset, key=value pairs, or a preset
 * changed by pairs.
 *
 *     geo      nasa500,ber=1e-6      rate=2mbit,rate-back=64kbit,delay=1.28s,queue=200p,flip
 *
 * A key without -back sets both directions, one with -back sets the return direction alone,
 * whatever their order. A value that is not given is that of the preset or, if no preset is named,
 * of the preset geo. If no limit of the queue is given, the queue holds what its direction's line
 * sends in one round trip (the usual rule for a router in front of a long line), but at least
 * QUEUE_FLOOR bytes, some sixty full packets, because every interface has that much.
 *
 * This file splits the line and completes the two directions; linkkeys.c parses the value of each
 * key, linkpreset.c has the presets, linkprint.c writes a configuration as text.
 */
#include "sim/linkkeys.h"

#include "base/wide.h"
#include "sim/plan.h"

#include <scps/error.h>

#include <stdio.h>
#include <string.h>

#define QUEUE_FLOOR 100000u

static bool is_back(struct scps_text *t)
{
    static const char back[] = "-back";
    size_t n = sizeof back - 1;

    if (t->n <= n || memcmp(t->p + t->n - n, back, n) != 0)
        return false;
    t->n -= n;
    return true;
}

/* ---- functions that read the key=value pairs of a link's textual description ---- */

struct spec {
    struct draft d[2];
    /* bit sets of the keys that were given: has[0] without, has[1] with the suffix "-back", which
     * means the return direction */
    uint32_t has[2];
    scps_dur rtt;
    /* true: the description is an update (scps_link_update()), which changes one direction, d[0],
     * only */
    bool one;
};

static int twice(struct reading *r, uint32_t *has, uint32_t bit)
{
    if (*has & bit)
        return scps_link_bad_item(r, "link: '%.*s' is given twice", r->key);
    *has |= bit;
    return 0;
}

static int unknown(const struct reading *r, const struct spec *s)
{
    return scps_link_bad_item(
        r,
        s->one ? "link: unknown key '%.*s'; allowed: " ALLOWED
               : "link: unknown key '%.*s'; allowed: rtt pass, and with or without "
                 "-back " ALLOWED,
        r->key);
}

static int read_pair(struct reading *r, struct spec *s)
{
    struct scps_text name = r->key;
    bool back = is_back(&name);
    size_t k = scps_link_find_key(name);
    bool rtt = scps_text_is(r->key, "rtt"), pass = scps_text_is(r->key, "pass");

    if ((k == LINK_KEYS && !rtt && !pass) || (s->one && (back || k == LINK_KEYS)))
        return unknown(r, s);
    if (twice(r, &s->has[back], rtt ? RTT : pass ? PASS : UINT32_C(1) << k) != 0)
        return SCPS_ERR_INVAL;
    if (!r->value.p && (k == LINK_KEYS || !scps_link_keys[k].bare))
        return scps_link_bad_item(r, "link: '%.*s' needs a value", r->key);
    r->d = &s->d[back];
    if (rtt)
        return scps_link_verdict(r, scps_text_time(r->value, &s->rtt));
    return pass ? scps_link_read_pass(r) : scps_link_keys[k].read(r);
}

static int conflict(const struct reading *r, uint32_t has, uint32_t one, uint32_t other,
                    const char *why)
{
    if (!(has & one) || !(has & other))
        return 0;
    if (r->msglen)
        snprintf(r->msg, r->msglen, "link: %s", why);
    return SCPS_ERR_INVAL;
}

/* Called when all keys have been parsed: refuses keys that contradict each other, and fills in
 * values that follow from other values. */
static int complete_spec(struct reading *r, struct spec *s)
{
    uint32_t all = s->has[0] | s->has[1];

    if (conflict(r, all, RTT, DELAY,
                 "'rtt' sets both delays: give either it, or delay and delay-back") ||
        conflict(r, all, PASS, RTT | DELAY | DELAY_TABLE,
                 "'pass' sets the delays: leave out rtt and delay, or leave out pass and give "
                 "delays and contact") ||
        conflict(r, all, PASS, OUTAGES | CONTACTS,
                 "'pass' sets when there is contact: leave out outage and contact, or leave out "
                 "pass and give delays and contact") ||
        conflict(r, s->has[0], OUTAGES, CONTACTS, "give either outage or contact") ||
        conflict(r, s->has[1], OUTAGES, CONTACTS, "give either outage-back or contact-back"))
        return SCPS_ERR_INVAL;
    if (s->has[0] & RTT) {
        s->d[0].delay = s->rtt / 2;
        s->d[1].delay = s->rtt - s->rtt / 2;
    }
    if (s->has[0] & PASS) {
        s->d[1].delays = s->d[0].delays;
        s->d[1].outages = s->d[0].outages;
    }
    for (size_t k = 0; k < LINK_KEYS && !s->one; k++)
        if (s->has[0] >> k & 1 && !(s->has[1] >> k & 1) &&
            !(UINT32_C(1) << k & (OUTAGES | CONTACTS) && s->has[1] & (OUTAGES | CONTACTS)))
            memcpy((char *)&s->d[1] + scps_link_keys[k].at, (char *)&s->d[0] + scps_link_keys[k].at,
                   scps_link_keys[k].size);
    for (int i = 0; i < 2; i++) {
        uint32_t has = i ? all : s->has[0];
        if (has & FRAMING && !(has & OVERHEAD))
            s->d[i].overhead.given = false;
        if (has & RATE && !(has & RATE_TABLE))
            s->d[i].rates.n = 0;
        if (has & (DELAY | RTT) && !(has & (DELAY_TABLE | PASS)))
            s->d[i].delays.n = 0;
    }
    s->has[0] = s->has[1] = 0;
    return 0;
}

static int read_items(struct reading *r, struct spec *s, struct scps_text rest, bool preset);

/* Parses one item of a description, the name of a preset or key=value. first: the item is the first
 * one, where the name of a preset is allowed. */
static int read_item(struct reading *r, struct spec *s, struct scps_text item, bool first)
{
    const char *eq = item.n ? memchr(item.p, '=', item.n) : NULL, *preset, *help;
    struct scps_text name;

    r->key = (struct scps_text){item.p, eq ? (size_t)(eq - item.p) : item.n};
    r->value = (struct scps_text){eq ? eq + 1 : NULL, eq ? item.n - r->key.n - 1 : 0};
    name = r->key;
    if (item.n == 0)
        return scps_link_bad_item(r,
                                  "link: '%.*s' is no item: give a preset, KEY=VALUE, or both with "
                                  "commas between them, such as geo,ber=1e-6",
                                  item);
    if (r->key.n == 0)
        return scps_link_bad_item(r, "link: nothing before '%.*s'", item);
    is_back(&name);
    if (eq || s->one || scps_link_find_key(name) < LINK_KEYS || scps_text_is(r->key, "rtt") ||
        scps_text_is(r->key, "pass"))
        return read_pair(r, s);
    preset = scps_link_preset_spec(r->key);
    if (preset) {
        if (!first)
            return scps_link_bad_item(r, "link: the preset '%.*s' must come first", r->key);
        struct scps_text spec = {preset, strlen(preset)};
        memset(s->d, 0, sizeof s->d);
        for (int k = 0; k < 2; k++) {
            s->d[k].framing.overhead = 18;
            s->d[k].burst_ber = 0.5;
        }
        return read_items(r, s, spec, true);
    }
    if (r->msglen) {
        size_t n =
            (size_t)snprintf(r->msg, r->msglen, "link: no preset '%.*s'; there are", SHOW(r->key));
        for (size_t i = 0; n < r->msglen && scps_link_preset(i, &preset, &help); i++)
            n += (size_t)snprintf(r->msg + n, r->msglen - n, " %s", preset);
        if (n < r->msglen)
            snprintf(r->msg + n, r->msglen - n, "; keys: rtt pass " ALLOWED);
    }
    return SCPS_ERR_INVAL;
}

/* Parses the items of a description. preset: it is the description of a preset, which must not name
 * another preset. */
static int read_items(struct reading *r, struct spec *s, struct scps_text rest, bool preset)
{
    const char *start = rest.p;

    for (bool more = true; more;) {
        const char *at = rest.p;
        size_t before = rest.n;
        struct scps_text item = scps_text_cut(&rest, s->one ? ", \t" : ",");
        more = s->one ? rest.n > 0 : before > item.n;
        if (s->one && item.n == 0)
            continue;
        int rc = read_item(r, s, item, at == start && !preset);
        if (rc != 0)
            return rc;
    }
    return complete_spec(r, s);
}

/* ---- functions that compute the configuration of a direction from the parsed values ---- */

/* Returns the bytes of a bandwidth-delay product, rate (bit/s) times rtt (µs), multiplied by
 * `thousandths` / 1000. */
static uint64_t bdp(uint64_t rate, scps_dur rtt, uint64_t thousandths)
{
    return scps_muldiv(rate, (uint64_t)rtt * thousandths,
                       /* rtt * thousandths fits into 64 bits: the delays in a link's description
                        * are at most a day each, so rtt is at most 1.8e11 µs, and thousandths is at
                        * most 1e6 (BDP_MAX * 1000). */
                       UINT64_C(8000000) * 1000);
}

/* Returns the highest rate that the line of a direction has at any time, bit/s. The size of a queue
 * that is given as a multiple of the bandwidth-delay product is computed from it. */
static uint64_t rate_of(const struct draft *d)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < d->rates.n; i++)
        most = d->rates.v[i].value > most ? d->rates.v[i].value : most;
    return d->rates.n ? most : d->rate;
}

static scps_dur delay_of(const struct scps_steps *delays, scps_dur delay)
{
    scps_dur most = 0;

    for (uint32_t i = 0; i < delays->n; i++)
        most = (scps_dur)delays->v[i].value > most ? (scps_dur)delays->v[i].value : most;
    return delays->n ? most : delay;
}

static uint64_t queue_of(const struct draft *d, scps_dur rtt)
{
    uint64_t bytes = bdp(rate_of(d), rtt, d->queue.bdp ? d->queue.bdp : 1000);

    if (d->queue.bdp)
        return bytes ? bytes : 1; /* A limit of 0 bytes would mean that the queue has no limit. */
    if (d->queue.given)
        return d->queue.bytes;
    return bytes > QUEUE_FLOOR ? bytes : QUEUE_FLOOR;
}

static void resolve(const struct draft *d, scps_dur other_delay, uint64_t seed,
                    struct scps_link_config *out)
{
    memset(out, 0, sizeof *out);
    out->rate_bps = rate_of(d);
    out->delay = delay_of(&d->delays, d->delay);
    out->queue_bytes = queue_of(d, out->delay + other_delay);
    out->queue_packets = (uint32_t)d->queue.packets;
    out->overhead = (uint32_t)(d->overhead.given ? d->overhead.bytes : d->framing.overhead);
    out->ber_exempt = (uint32_t)d->exempt;
    out->ber = d->ber;
    out->loss = d->loss;
    out->dup = d->dup;
    out->reorder = d->reorder;
    out->reorder_delay = d->reorder_delay;
    out->flip = d->flip;
    out->seed = seed;
    out->framing = d->framing.f;
    out->burst = d->burst;
    out->burst.ber = d->burst.good || d->burst.to_bad > 0 ? d->burst_ber : 0;
    out->vector = d->vector.p;
    out->vector_len = d->vector.n;
    out->jitter = d->jitter;
    out->codel_target = d->codel.target;
    out->codel_interval = d->codel.interval;
    out->rates = d->rates;
    out->delays = d->delays;
    out->outages = d->outages;
    out->hold = d->hold;
}

static struct draft draft_of(const struct scps_link_config *c)
{
    struct draft d = {.rate = c->rate_bps,
                      .delay = c->delay,
                      .ber = c->ber,
                      .loss = c->loss,
                      .dup = c->dup,
                      .reorder = c->reorder,
                      .reorder_delay = c->reorder_delay,
                      .jitter = c->jitter,
                      .queue = {c->queue_bytes, c->queue_packets, 0, true},
                      .overhead = {c->overhead, true},
                      .exempt = c->ber_exempt,
                      .framing = {c->framing, 0},
                      .burst = c->burst,
                      .burst_ber = c->burst.ber > 0 ? c->burst.ber : 0.5,
                      .vector = {c->vector, c->vector_len},
                      .codel = {c->codel_target, c->codel_interval},
                      .rates = c->rates,
                      .delays = c->delays,
                      .outages = c->outages,
                      .flip = c->flip,
                      .hold = c->hold};
    return d;
}

int scps_link_parse_tables(const char *spec, const struct scps_link_files *files,
                           struct scps_link_config *fwd, struct scps_link_config *back,
                           struct scps_link_tables **tables, char *msg, size_t msglen)
{
    struct scps_link_tables *made = NULL;
    struct reading r = {
        .msg = msg, .msglen = msg ? msglen : 0, .files = files, .tables = tables ? &made : NULL};
    static const char base[] = "geo";
    struct spec s = {.one = false};
    int rc = read_item(&r, &s, (struct scps_text){base, sizeof base - 1}, true);

    if (rc == 0)
        rc = read_items(&r, &s, (struct scps_text){spec, strlen(spec)}, false);
    if (rc != 0) {
        scps_link_tables_free(made);
        return rc;
    }
    resolve(&s.d[0], delay_of(&s.d[1].delays, s.d[1].delay), 0, fwd);
    resolve(&s.d[1], delay_of(&s.d[0].delays, s.d[0].delay), 0, back);
    if (tables)
        *tables = made;
    return 0;
}

int scps_link_parse(const char *spec, struct scps_link_config *fwd, struct scps_link_config *back,
                    char *msg, size_t msglen)
{
    return scps_link_parse_tables(spec, NULL, fwd, back, NULL, msg, msglen);
}

int scps_link_update(const char *items, const struct scps_link_files *files,
                     struct scps_link_config *own, const struct scps_link_config *other,
                     struct scps_link_tables **tables, char *msg, size_t msglen)
{
    struct scps_link_tables *made = NULL;
    struct reading r = {
        .msg = msg, .msglen = msg ? msglen : 0, .files = files, .tables = tables ? &made : NULL};
    struct spec s = {.d[0] = draft_of(own), .one = true};
    int rc = read_items(&r, &s, (struct scps_text){items, strlen(items)}, false);

    if (rc != 0) {
        scps_link_tables_free(made);
        return rc;
    }
    resolve(&s.d[0], other->delay, own->seed, own);
    if (tables)
        *tables = made;
    return 0;
}
