/* SPDX-License-Identifier: MIT */
/* A link in one line of text: a preset, key=value pairs, or a preset changed by pairs.
 *
 *     geo      nasa500,ber=1e-6      rate=2mbit,rate-back=64kbit,delay=1.28s,queue=200p,flip
 *
 * A key without -back sets both directions, one with -back the return direction alone, whatever their order.  What
 * is not given comes from the preset, and without a preset from geo.  The queue of a spec that does not name one
 * holds one round trip at the direction's own rate (the usual rule for a router in front of a long line), but at
 * least QUEUE_FLOOR bytes, some sixty full packets, because that much is in any interface however short its line.
 *
 * A preset is itself a spec.  All have the 18 bytes of Ethernet framing unless they say otherwise.  The delays of leo, geo and
 * moon are those of the small-satellite tests of Horan and Wang (2001): 3 ms, and 1.28 s; geo is a hop up and down again,
 * 280 ms, rather than their 120 ms up alone; smallsat and smallsat-asym are their PPP lines.  mars is at its mean distance,
 * 12 min 28 s, with a thin return.  nasa500, 250 and 10 are the single-flow tests of NASA/TM-2003-212001: 100 Mbit/s, round
 * trips of 500, 250 and 10 ms, and 1064 of the frame's 1082 bytes at risk, as the report counts its packet error rates (its
 * framing is exempt).  redstorm is the path of SAND2004-4207: the 1 Gbit/s that its 10 Gbit/s client ran into.  burst-geo is
 * bad 2.6 % of the time, 17 ms at a time.
 */
#include "sim/linktable.h"

#include "base/wide.h"
#include "sim/plan.h"

#include <scps/error.h>
#include <scps/sim.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define QUEUE_FLOOR 100000u
#define BDP_MAX     1000

static const struct preset {
    const char *name, *help, *spec;
} presets[] = {
    {"lan", "1 Gbit/s both ways, 0.2 ms round trip", "rate=1gbit,delay=100us"},
    {"leo", "20 Mbit/s both ways, 6 ms round trip", "rate=20mbit,delay=3ms"},
    {"geo", "10 Mbit/s both ways, 560 ms round trip", "rate=10mbit,delay=280ms"},
    {"moon", "10 Mbit/s both ways, 2.56 s round trip", "rate=10mbit,delay=1.28s"},
    {"mars", "2 Mbit/s and 128 kbit/s back, 24 min 56 s round trip",
     "rate=2mbit,rate-back=128kbit,delay=748s"},
    {"nasa500", "100 Mbit/s both ways, 500 ms round trip, framing not at risk",
     "rate=100mbit,delay=250ms,exempt=18"},
    {"nasa250", "100 Mbit/s both ways, 250 ms round trip, framing not at risk",
     "rate=100mbit,delay=125ms,exempt=18"},
    {"nasa10", "100 Mbit/s both ways, 10 ms round trip, framing not at risk",
     "rate=100mbit,delay=5ms,exempt=18"},
    {"smallsat", "115.2 kbit/s PPP both ways, 6 ms round trip",
     "rate=115200,delay=3ms,framing=ppp"},
    {"smallsat-asym", "115.2 kbit/s PPP and 2400 bit/s back, 6 ms round trip",
     "rate=115200,rate-back=2400,delay=3ms,framing=ppp"},
    {"redstorm", "1 Gbit/s both ways, 30 ms round trip: 10 Gbit/s run into 1 Gbit/s",
     "rate=1gbit,delay=15ms"},
    {"burst-geo",
     "12 Mbit/s and 3 Mbit/s back, 560 ms round trip, 2.6 % of the time in 17 ms bursts",
     "rate=12mbit,rate-back=3mbit,delay=280ms,burst=637ms/17ms"},
    {"thin-return", "20 Mbit/s and 20 kbit/s back, 560 ms round trip",
     "rate=20mbit,rate-back=20kbit,delay=280ms"},
    {"leo-pass",
     "20 Mbit/s and 1 Mbit/s back during one pass of a satellite 550 km up, then silence",
     "rate=20mbit,rate-back=1mbit,pass=550km,hold"},
};
#define PRESETS (sizeof presets / sizeof presets[0])

bool scps_link_preset(size_t i, const char **name, const char **help)
{
    if (i >= PRESETS)
        return false;
    *name = presets[i].name;
    *help = presets[i].help;
    return true;
}

/* ---- what a spec says of one direction ---- */

struct draft {
    uint64_t rate;
    scps_dur delay;
    double ber, loss, dup, reorder;
    scps_dur reorder_delay, jitter;
    struct {
        uint64_t bytes, packets, bdp; /* bdp: in thousandths */
        bool given;
    } queue;
    struct {
        uint64_t bytes;
        bool given;
    } overhead;
    uint64_t exempt;
    struct {
        enum scps_framing f;
        uint64_t overhead; /* unless it is given */
    } framing;
    struct scps_burst burst; /* without ber */
    double burst_ber;
    struct {
        const uint8_t *p;
        size_t n;
    } vector;
    struct {
        scps_dur target, interval;
    } codel;
    struct scps_steps rates, delays;
    struct scps_spans outages;
    bool flip, hold;
};

/* Reading: what for, from where, and where the line about a mistake goes. */
struct reading {
    char *msg;
    size_t msglen;
    const struct scps_link_files *files;
    struct scps_link_tables **tables; /* NULL: none are to be had; *tables is made when needed */
    struct draft *d;
    struct scps_text key, value;
};

#define SHOW(t) (int)((t).n > 40 ? 40 : (t).n), (t).p

static int bad(const struct reading *r, const char *why)
{
    if (r->msglen)
        snprintf(r->msg, r->msglen, "link: %.*s=%.*s: %s", SHOW(r->key), SHOW(r->value), why);
    return SCPS_ERR_INVAL;
}

static int verdict(const struct reading *r, const char *why)
{
    return why ? bad(r, why) : 0;
}

/* fmt has one %.*s, for t. */
static int bad_item(const struct reading *r, const char *fmt, struct scps_text t)
{
    if (r->msglen)
        snprintf(r->msg, r->msglen, fmt, SHOW(t));
    return SCPS_ERR_INVAL;
}

static int read_rate(struct reading *r)
{
    return verdict(r, scps_text_rate(r->value, false, &r->d->rate));
}

static int read_delay(struct reading *r)
{
    return verdict(r, scps_text_time(r->value, &r->d->delay));
}

static int read_ber(struct reading *r)
{
    return verdict(r, scps_text_chance(r->value, 0.5, &r->d->ber));
}

static int read_loss(struct reading *r)
{
    return verdict(r, scps_text_chance(r->value, 1, &r->d->loss));
}

static int read_dup(struct reading *r)
{
    return verdict(r, scps_text_chance(r->value, 1, &r->d->dup));
}

static int read_reorder(struct reading *r)
{
    return verdict(r, scps_text_chance(r->value, 1, &r->d->reorder));
}

static int read_reorder_delay(struct reading *r)
{
    return verdict(r, scps_text_time(r->value, &r->d->reorder_delay));
}

static int read_jitter(struct reading *r)
{
    return verdict(r, scps_text_time(r->value, &r->d->jitter));
}

static int read_queue(struct reading *r)
{
    static const char why[] =
        "not a queue: bytes (6250000), packets (500p) or round trips (1bdp); 0 has no limit";
    struct scps_text t = r->value;
    struct scps_decimal d;
    enum scps_whole w;
    uint64_t bytes = 0, packets = 0, bdp = 0;

    if (!scps_text_number(&t, &d))
        return bad(r, why);
    if (t.n == 0) {
        w = scps_decimal_whole(d, 1, UINT64_MAX / 2, &bytes);
    } else if (scps_text_is(t, "p")) {
        w = scps_decimal_whole(d, 1, UINT32_MAX, &packets);
    } else if (scps_text_is(t, "bdp")) {
        w = scps_decimal_whole(d, 1000, BDP_MAX * 1000, &bdp);
        if (w == SCPS_WHOLE && bdp == 0)
            return bad(r, why);
    } else {
        return bad(r, why);
    }
    if (w != SCPS_WHOLE)
        return bad(r, w == SCPS_TOO_LARGE ? "a queue that large makes no sense"
                      : t.n ? "not a whole number of packets, or of thousandths of a bdp"
                            : "not a whole number of bytes");
    r->d->queue.bytes = bytes;
    r->d->queue.packets = packets;
    r->d->queue.bdp = bdp;
    r->d->queue.given = true;
    return 0;
}

static int read_bytes(struct reading *r, const char *why, uint64_t *out)
{
    struct scps_text t = r->value;
    struct scps_decimal d;

    if (!scps_text_number(&t, &d) || t.n || scps_decimal_whole(d, 1, 65535, out) != SCPS_WHOLE)
        return bad(r, why);
    return 0;
}

static int read_overhead(struct reading *r)
{
    r->d->overhead.given = true;
    return read_bytes(r, "not a number of framing bytes from 0 to 65535", &r->d->overhead.bytes);
}

static int read_exempt(struct reading *r)
{
    return read_bytes(r, "not a number of bytes from 0 to 65535", &r->d->exempt);
}

static int read_framing(struct reading *r)
{
    r->d->framing.overhead = 0;
    r->d->framing.f = SCPS_FRAMING_NONE;
    if (scps_text_is(r->value, "ethernet")) {
        r->d->framing.overhead = 18;
        return 0;
    }
    for (unsigned f = 0; f < SCPS_FRAMING_COUNT; f++)
        if (scps_text_is(r->value, scps_framing_name(f))) {
            r->d->framing.f = f;
            return 0;
        }
    return bad(r, "no such framing; allowed: none ethernet ppp hdlc aal5 aal5-vc aos tm");
}

static bool off(const struct reading *r)
{
    return scps_text_is(r->value, "off");
}

static int read_burst(struct reading *r)
{
    static const char why[] = "not a burst: mean stays GOOD/BAD (637ms/17ms), or probabilities "
                              "before each packet TO_BAD/TO_GOOD (0.001/0.2)";
    struct scps_text b = r->value, a = scps_text_cut(&b, "/");
    struct scps_burst burst = {.good = 0};

    r->d->burst = burst;
    if (off(r))
        return 0;
    if (!scps_text_time(a, &burst.good) && !scps_text_time(b, &burst.bad)) {
        if (burst.good < 1 || burst.bad < 1)
            return bad(r, "a mean stay is at least 1us");
    } else if (!scps_text_chance(a, 1, &burst.to_bad) && !scps_text_chance(b, 1, &burst.to_good)) {
        burst.good = burst.bad = 0;
        if (burst.to_bad <= 0 || burst.to_good <= 0)
            return bad(r, "both probabilities must be above 0");
    } else {
        return bad(r, why);
    }
    r->d->burst = burst;
    return 0;
}

static int read_burst_ber(struct reading *r)
{
    return verdict(r, scps_text_chance(r->value, 0.5, &r->d->burst_ber));
}

static int read_codel(struct reading *r)
{
    struct scps_text b = r->value, a = scps_text_cut(&b, "/");

    r->d->codel.target = r->d->codel.interval = 0;
    if (off(r))
        return 0;
    if (!r->value.p) { /* RFC 8289 section 4.3 */
        r->d->codel.target = SCPS_MS(5);
        r->d->codel.interval = SCPS_MS(100);
        return 0;
    }
    if (scps_text_time(a, &r->d->codel.target) || scps_text_time(b, &r->d->codel.interval) ||
        r->d->codel.target < 1 || r->d->codel.interval < 1 || r->d->codel.interval > SCPS_SEC(3600))
        return bad(r, "not TARGET/INTERVAL, two times above 0 (5ms/100ms), the latter up to 3600s");
    return 0;
}

static int read_switch(struct reading *r, bool *out)
{
    *out = !r->value.p || scps_text_is(r->value, "on");
    return r->value.p && !*out && !off(r) ? bad(r, "takes no value, or on or off") : 0;
}

static int read_flip(struct reading *r)
{
    return read_switch(r, &r->d->flip);
}

static int read_hold(struct reading *r)
{
    return read_switch(r, &r->d->hold);
}

/* ---- tables ---- */

static int need_tables(struct reading *r)
{
    struct scps_alloc a = scps_alloc_default();

    if (!r->tables)
        return bad(r, "needs a table, and there is no room for one here");
    if (*r->tables)
        return 0;
    *r->tables = a.alloc(a.ctx, sizeof **r->tables);
    if (!*r->tables)
        return bad(r, "out of memory");
    **r->tables = (struct scps_link_tables){.alloc = a};
    return 0;
}

/* The file behind the '@'; files->done takes it back. */
static char *fetch(struct reading *r, size_t *len)
{
    char name[256], why[160] = "";
    char *data;

    if (!r->files) {
        bad(r, "files are not read here");
        return NULL;
    }
    if (r->value.n - 1 >= sizeof name) {
        bad(r, "the name of the file is too long");
        return NULL;
    }
    memcpy(name, r->value.p + 1, r->value.n - 1);
    name[r->value.n - 1] = '\0';
    data = r->files->read(r->files->ctx, name, len, why, sizeof why);
    if (!data)
        bad(r, why);
    return data;
}

enum table { RATES, DELAYS, OUTAGE, CONTACT, VECTOR };

static int read_table(struct reading *r, enum table which)
{
    struct scps_text text = r->value;
    bool file = text.n && text.p[0] == '@';
    char why[128], *data = NULL;
    const char *wrong = NULL;
    size_t len = 0;

    if (need_tables(r) != 0)
        return SCPS_ERR_INVAL;
    if (file && !(data = fetch(r, &len)))
        return SCPS_ERR_INVAL;
    if (file)
        text = (struct scps_text){data, len};
    switch (which) {
    case RATES:
        wrong = scps_table_rates(*r->tables, text, &r->d->rates, why);
        break;
    case DELAYS:
        wrong = scps_table_delays(*r->tables, text, &r->d->delays, why);
        break;
    case VECTOR:
        wrong = scps_table_vector(*r->tables, text.p, text.n, &r->d->vector.p, &r->d->vector.n);
        break;
    default:
        wrong = scps_table_spans(*r->tables, text, &r->d->outages, why);
        r->d->outages.inverse = which == CONTACT;
    }
    if (data)
        r->files->done(r->files->ctx, data);
    return verdict(r, wrong);
}

static int read_rates(struct reading *r)
{
    r->d->rates = (struct scps_steps){.n = 0};
    return off(r) ? 0 : read_table(r, RATES);
}

static int read_delays(struct reading *r)
{
    r->d->delays = (struct scps_steps){.n = 0};
    return off(r) ? 0 : read_table(r, DELAYS);
}

static int read_outage(struct reading *r)
{
    r->d->outages = (struct scps_spans){.n = 0};
    return off(r) ? 0 : read_table(r, OUTAGE);
}

static int read_contact(struct reading *r)
{
    r->d->outages = (struct scps_spans){.n = 0};
    return off(r) ? 0 : read_table(r, CONTACT);
}

static int read_vector(struct reading *r)
{
    r->d->vector.p = NULL;
    r->d->vector.n = 0;
    if (off(r))
        return 0;
    if (r->value.n < 2 || r->value.p[0] != '@')
        return bad(r, "give the error vector's file as @NAME");
    return read_table(r, VECTOR);
}

static int read_pass(struct reading *r)
{
    struct scps_text t = r->value;
    struct scps_decimal d;
    uint64_t m;

    if (!scps_text_number(&t, &d) || !scps_text_is(t, "km") ||
        scps_decimal_whole(d, 1000, 36000000, &m) != SCPS_WHOLE || m < 100000)
        return bad(r, "not an altitude from 100km to 36000km");
    if (need_tables(r) != 0)
        return SCPS_ERR_INVAL;
    return verdict(r, scps_table_pass(*r->tables, m, &r->d->delays, &r->d->outages));
}

/* ---- keys ---- */

#define FIELD(f) offsetof(struct draft, f), sizeof((struct draft *)0)->f

static const struct key {
    const char *name;
    int (*read)(struct reading *r);
    size_t at, size; /* what is copied to the other direction */
    bool bare;       /* may stand without a value */
} keys[] = {
    {"rate", read_rate, FIELD(rate), false},
    {"delay", read_delay, FIELD(delay), false},
    {"ber", read_ber, FIELD(ber), false},
    {"loss", read_loss, FIELD(loss), false},
    {"dup", read_dup, FIELD(dup), false},
    {"reorder", read_reorder, FIELD(reorder), false},
    {"reorder-delay", read_reorder_delay, FIELD(reorder_delay), false},
    {"jitter", read_jitter, FIELD(jitter), false},
    {"burst", read_burst, FIELD(burst), false},
    {"burst-ber", read_burst_ber, FIELD(burst_ber), false},
    {"vector", read_vector, FIELD(vector), false},
    {"flip", read_flip, FIELD(flip), true},
    {"queue", read_queue, FIELD(queue), false},
    {"codel", read_codel, FIELD(codel), true},
    {"framing", read_framing, FIELD(framing), false},
    {"overhead", read_overhead, FIELD(overhead), false},
    {"exempt", read_exempt, FIELD(exempt), false},
    {"rates", read_rates, FIELD(rates), false},
    {"delays", read_delays, FIELD(delays), false},
    {"outage", read_outage, FIELD(outages), false},
    {"contact", read_contact, FIELD(outages), false},
    {"hold", read_hold, FIELD(hold), true},
};
#define KEYS (sizeof keys / sizeof keys[0])
#define ALLOWED                                                                                    \
    "rate delay ber loss dup reorder reorder-delay jitter burst burst-ber vector flip queue "      \
    "codel framing overhead exempt rates delays outage contact hold"

/* Bits of the keys that belong together. */
#define RATE        (1u << 0)
#define DELAY       (1u << 1)
#define FRAMING     (1u << 14)
#define OVERHEAD    (1u << 15)
#define RATE_TABLE  (1u << 17)
#define DELAY_TABLE (1u << 18)
#define OUTAGES     (1u << 19)
#define CONTACTS    (1u << 20)
#define RTT         (1u << 30)
#define PASS        (1u << 31)

/* Its place in the list, KEYS if there is none. */
static size_t find_key(struct scps_text t)
{
    size_t i = 0;

    while (i < KEYS && !scps_text_is(t, keys[i].name))
        i++;
    return i;
}

static bool is_back(struct scps_text *t)
{
    static const char back[] = "-back";
    size_t n = sizeof back - 1;

    if (t->n <= n || memcmp(t->p + t->n - n, back, n) != 0)
        return false;
    t->n -= n;
    return true;
}

/* ---- the spec ---- */

struct spec {
    struct draft d[2];
    uint32_t has[2]; /* keys given without and with -back */
    scps_dur rtt;
    bool one; /* an update: of d[0] alone */
};

static int twice(struct reading *r, uint32_t *has, uint32_t bit)
{
    if (*has & bit)
        return bad_item(r, "link: '%.*s' is given twice", r->key);
    *has |= bit;
    return 0;
}

static int unknown(const struct reading *r, const struct spec *s)
{
    return bad_item(r,
                    s->one ? "link: unknown key '%.*s'; allowed: " ALLOWED
                           : "link: unknown key '%.*s'; allowed: rtt pass, and with or without "
                             "-back " ALLOWED,
                    r->key);
}

static int read_pair(struct reading *r, struct spec *s)
{
    struct scps_text name = r->key;
    bool back = is_back(&name);
    size_t k = find_key(name);
    bool rtt = scps_text_is(r->key, "rtt"), pass = scps_text_is(r->key, "pass");

    if ((k == KEYS && !rtt && !pass) || (s->one && (back || k == KEYS)))
        return unknown(r, s);
    if (twice(r, &s->has[back], rtt ? RTT : pass ? PASS : UINT32_C(1) << k) != 0)
        return SCPS_ERR_INVAL;
    if (!r->value.p && (k == KEYS || !keys[k].bare))
        return bad_item(r, "link: '%.*s' needs a value", r->key);
    r->d = &s->d[back];
    if (rtt)
        return verdict(r, scps_text_time(r->value, &s->rtt));
    return pass ? read_pass(r) : keys[k].read(r);
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

/* All keys have been read: what they mean for each other. */
static int settle(struct reading *r, struct spec *s)
{
    uint32_t all = s->has[0] | s->has[1];

    if (conflict(r, all, RTT, DELAY,
                 "'rtt' sets both delays: give either it, or delay and delay-back") ||
        conflict(r, all, PASS, OUTAGES | CONTACTS | DELAY_TABLE,
                 "'pass' sets delays and contacts: give either it, or delays and contact") ||
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
    for (size_t k = 0; k < KEYS && !s->one; k++)
        if (s->has[0] >> k & 1 && !(s->has[1] >> k & 1) &&
            !(UINT32_C(1) << k & (OUTAGES | CONTACTS) && s->has[1] & (OUTAGES | CONTACTS)))
            memcpy((char *)&s->d[1] + keys[k].at, (char *)&s->d[0] + keys[k].at, keys[k].size);
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

/* Reads one item; first: a preset may stand here. */
static int read_item(struct reading *r, struct spec *s, struct scps_text item, bool first)
{
    const char *eq = item.n ? memchr(item.p, '=', item.n) : NULL;
    struct scps_text name;

    r->key = (struct scps_text){item.p, eq ? (size_t)(eq - item.p) : item.n};
    r->value = (struct scps_text){eq ? eq + 1 : NULL, eq ? item.n - r->key.n - 1 : 0};
    name = r->key;
    if (r->key.n == 0)
        return bad_item(r, "link: nothing before '%.*s'",
                        item.n ? item : (struct scps_text){",", 1});
    is_back(&name);
    if (eq || s->one || find_key(name) < KEYS || scps_text_is(r->key, "rtt") ||
        scps_text_is(r->key, "pass"))
        return read_pair(r, s);
    for (size_t i = 0; i < PRESETS; i++) {
        if (!scps_text_is(r->key, presets[i].name))
            continue;
        if (!first)
            return bad_item(r, "link: the preset '%.*s' must come first", r->key);
        struct scps_text spec = {presets[i].spec, strlen(presets[i].spec)};
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
        for (size_t i = 0; i < PRESETS && n < r->msglen; i++)
            n += (size_t)snprintf(r->msg + n, r->msglen - n, " %s", presets[i].name);
        if (n < r->msglen)
            snprintf(r->msg + n, r->msglen - n, "; keys: rtt pass " ALLOWED);
    }
    return SCPS_ERR_INVAL;
}

/* preset: these are a preset's items, so that none can stand before them. */
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
    return settle(r, s);
}

/* ---- drafts and configurations ---- */

/* bytes of rate (bit/s) over rtt, times thousandths / 1000 */
static uint64_t bdp(uint64_t rate, scps_dur rtt, uint64_t thousandths)
{
    return scps_muldiv(rate, (uint64_t)rtt * thousandths,
                       UINT64_C(8000000) * 1000); /* 2 days * 10^6 fits */
}

/* The most there is to come: what a queue in round trips is computed with. */
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
        return bytes ? bytes : 1; /* 0 would be no limit */
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

/* ---- in words ---- */

struct words {
    char *buf;
    size_t n;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(struct words *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(w->buf + w->n, SCPS_LINK_TEXTLEN - w->n, fmt, ap);
    va_end(ap);
    if (n > 0)
        w->n = w->n + (size_t)n < SCPS_LINK_TEXTLEN ? w->n + (size_t)n : SCPS_LINK_TEXTLEN - 1;
}

char *scps_link_print(const struct scps_link_config *c, char buf[SCPS_LINK_TEXTLEN])
{
    struct words w = {buf, 0};

    say(&w, "rate=%" PRIu64 " delay=%" PRId64 "us", c->rate_bps, c->delay);
    if (c->queue_packets)
        say(&w, " queue=%" PRIu32 "p", c->queue_packets);
    else
        say(&w, " queue=%" PRIu64, c->queue_bytes);
    if (c->framing)
        say(&w, " framing=%s", scps_framing_name(c->framing));
    say(&w, " overhead=%" PRIu32 " ber=%g loss=%g dup=%g reorder=%g", c->overhead, c->ber, c->loss,
        c->dup, c->reorder);
    if (c->ber_exempt)
        say(&w, " exempt=%" PRIu32, c->ber_exempt);
    if (c->reorder_delay)
        say(&w, " reorder-delay=%" PRId64 "us", c->reorder_delay);
    if (c->jitter)
        say(&w, " jitter=%" PRId64 "us", c->jitter);
    if (c->burst.ber > 0 && c->burst.good)
        say(&w, " burst=%" PRId64 "us/%" PRId64 "us burst-ber=%g", c->burst.good, c->burst.bad,
            c->burst.ber);
    else if (c->burst.ber > 0)
        say(&w, " burst=%g/%g burst-ber=%g", c->burst.to_bad, c->burst.to_good, c->burst.ber);
    if (c->codel_interval)
        say(&w, " codel=%" PRId64 "us/%" PRId64 "us", c->codel_target, c->codel_interval);
    if (c->vector_len)
        say(&w, " vector of %zu bytes", c->vector_len);
    if (c->rates.n)
        say(&w, " %" PRIu32 " rates", c->rates.n);
    if (c->delays.n)
        say(&w, " %" PRIu32 " delays", c->delays.n);
    if (c->outages.n)
        say(&w, " %" PRIu32 " %s", c->outages.n, c->outages.inverse ? "contacts" : "outages");
    if (c->hold)
        say(&w, " hold");
    if (c->flip)
        say(&w, " flip");
    return buf;
}
