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
 * Presets.  All have the 18 bytes of Ethernet framing.  The delays of leo, geo and moon are those of the small-
 * satellite tests of Horan and Wang (2001): 3 ms, and 1.28 s; geo is a hop up and down again, 280 ms, rather than
 * their 120 ms up alone.  mars is at its mean distance, 12 min 28 s, with a thin return.  nasa500, 250 and 10 are the
 * single-flow tests of NASA/TM-2003-212001: 100 Mbit/s, round trips of 500, 250 and 10 ms, and 1064 of the frame's
 * 1082 bytes at risk, as the report counts its packet error rates (its framing is exempt).
 *
 * Numbers are read here and not by strtod, which would ask the locale.  Times and rates are decimal fractions times
 * a unit and must come out whole; a probability has at most 15 significant digits and is then the nearest double.
 */
#include <scps/error.h>
#include <scps/sim.h>

#include <stdio.h>
#include <string.h>

#define QUEUE_FLOOR 100000u
#define KEYS                                                                                       \
    "rate rate-back rtt delay delay-back ber ber-back loss loss-back queue overhead dup reorder "  \
    "flip"
#define NAMES     "lan leo geo moon mars nasa500 nasa250 nasa10"
#define BDP_MAX   1000
#define RATE_MAX  UINT64_C(1000000000000) /* 1 Tbit/s */
#define DELAY_MAX (SCPS_SEC(1) * 86400)

static const struct preset {
    const char *name, *help;
    uint64_t rate, rate_back; /* bit/s */
    scps_dur delay;           /* each way */
    uint32_t ber_exempt;
} presets[] = {
    {"lan", "1 Gbit/s both ways, 0.2 ms round trip", 1000000000, 1000000000, SCPS_US(100), 0},
    {"leo", "20 Mbit/s both ways, 6 ms round trip", 20000000, 20000000, SCPS_MS(3), 0},
    {"geo", "10 Mbit/s both ways, 560 ms round trip", 10000000, 10000000, SCPS_MS(280), 0},
    {"moon", "10 Mbit/s both ways, 2.56 s round trip", 10000000, 10000000, SCPS_MS(1280), 0},
    {"mars", "2 Mbit/s and 128 kbit/s back, 24 min 56 s round trip", 2000000, 128000, SCPS_SEC(748),
     0},
    {"nasa500", "100 Mbit/s both ways, 500 ms round trip, framing not at risk", 100000000,
     100000000, SCPS_MS(250), 18},
    {"nasa250", "100 Mbit/s both ways, 250 ms round trip, framing not at risk", 100000000,
     100000000, SCPS_MS(125), 18},
    {"nasa10", "100 Mbit/s both ways, 10 ms round trip, framing not at risk", 100000000, 100000000,
     SCPS_MS(5), 18},
};
#define PRESETS     (sizeof presets / sizeof presets[0])
#define PRESET_BASE 2 /* geo */

bool scps_link_preset(size_t i, const char **name, const char **help)
{
    if (i >= PRESETS)
        return false;
    *name = presets[i].name;
    *help = presets[i].help;
    return true;
}

/* ---- text ---- */

struct text {
    const char *p;
    size_t n;
};

static bool same(struct text t, const char *word)
{
    return strlen(word) == t.n && memcmp(t.p, word, t.n) == 0;
}

static bool same_letters(struct text t, const char *lower)
{
    if (strlen(lower) != t.n)
        return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i])
            return false;
    }
    return true;
}

/* mantissa * 10^exp */
struct decimal {
    uint64_t mantissa;
    int exp;
};

static bool digit(const struct text *t)
{
    return t->n > 0 && *t->p >= '0' && *t->p <= '9';
}

static void step(struct text *t)
{
    t->p++;
    t->n--;
}

/* Takes digits[.digits][e[+-]digits] off the front. False: there is no such number, or it has more than 15
 * significant digits. An 'e' that no digit follows is left: it may begin a unit. */
static bool take_number(struct text *t, struct decimal *d)
{
    int digits = 0, point = 0, exp = 0;
    bool seen = false;

    d->mantissa = 0;
    for (;; step(t)) {
        if (t->n > 0 && *t->p == '.' && !point) {
            point = 1;
            continue;
        }
        if (!digit(t))
            break;
        seen = true;
        if (d->mantissa > 0 || *t->p != '0')
            digits++;
        if (digits > 15)
            return false;
        d->mantissa = d->mantissa * 10 + (uint64_t)(*t->p - '0');
        exp -= point;
        if (exp < -1000)
            return false;
    }
    if (!seen)
        return false;
    if (t->n > 1 && (*t->p == 'e' || *t->p == 'E')) {
        struct text e = {t->p + 1, t->n - 1};
        bool minus = *e.p == '-';
        int v = 0;
        if (*e.p == '-' || *e.p == '+')
            step(&e);
        if (digit(&e)) {
            for (; digit(&e); step(&e))
                if (v < 1000)
                    v = v * 10 + (*e.p - '0');
            exp += minus ? -v : v;
            *t = e;
        }
    }
    d->exp = exp;
    return true;
}

enum whole { WHOLE, FRACTION, TOO_LARGE };

/* d * times, which must be a whole number up to max. */
static enum whole make_whole(struct decimal d, uint64_t times, uint64_t max, uint64_t *out)
{
    uint64_t v = d.mantissa;
    int exp = d.exp;

    if (v == 0) {
        *out = 0;
        return WHOLE;
    }
    for (; exp < 0 && v % 10 == 0; exp++)
        v /= 10;
    for (; exp < 0 && times % 10 == 0; exp++)
        times /= 10;
    if (exp < 0)
        return FRACTION;
    if (v > max / times)
        return TOO_LARGE;
    v *= times;
    for (; exp > 0; exp--) {
        if (v > max / 10)
            return TOO_LARGE;
        v *= 10;
    }
    *out = v;
    return WHOLE;
}

static double make_double(struct decimal d)
{
    double v = (double)d.mantissa, ten = 1; /* both exact below 10^15 and 10^22: one rounding */

    for (int i = d.exp < 0 ? -d.exp : d.exp; i > 0 && i < 2000; i--) {
        ten *= 10;
        if (ten >= 1e22) {
            v = d.exp < 0 ? v / ten : v * ten;
            ten = 1;
        }
    }
    return d.exp < 0 ? v / ten : v * ten;
}

/* ---- values ---- */

struct message {
    char *buf;
    size_t len;
};

#define SHOW(t) (int)((t).n > 40 ? 40 : (t).n), (t).p

static int bad(const struct message *m, struct text key, struct text value, const char *why)
{
    if (m->len)
        snprintf(m->buf, m->len, "link: %.*s=%.*s: %s", SHOW(key), SHOW(value), why);
    return SCPS_ERR_INVAL;
}

/* fmt has one %.*s, for t. */
static int bad_item(const struct message *m, const char *fmt, struct text t)
{
    if (m->len)
        snprintf(m->buf, m->len, fmt, SHOW(t));
    return SCPS_ERR_INVAL;
}

static int read_rate(const struct message *m, struct text key, struct text value, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t times;
    } units[] = {{"", 1},           {"bit", 1},     {"kbit", 1000},       {"k", 1000},
                 {"mbit", 1000000}, {"m", 1000000}, {"gbit", 1000000000}, {"g", 1000000000}};
    struct text t = value;
    struct decimal d;

    if (!take_number(&t, &d))
        return bad(m, key, value, "not a rate: a number of bit/s, or one with kbit, mbit or gbit");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!same_letters(t, units[i].name))
            continue;
        switch (make_whole(d, units[i].times, RATE_MAX, out)) {
        case FRACTION:
            return bad(m, key, value, "not a whole number of bit/s");
        case TOO_LARGE:
            return bad(m, key, value, "more than 1000 gbit");
        case WHOLE:
            break;
        }
        return *out ? 0 : bad(m, key, value, "a rate must be above 0");
    }
    return bad(m, key, value, "unknown unit of rate: use bit, kbit, mbit or gbit (per second)");
}

static int read_time(const struct message *m, struct text key, struct text value, scps_dur *out)
{
    struct text t = value;
    struct decimal d;
    uint64_t unit, v;

    if (!take_number(&t, &d))
        return bad(m, key, value, "not a time: a number with s, ms or us");
    if (same(t, "s"))
        unit = 1000000;
    else if (same(t, "ms"))
        unit = 1000;
    else if (same(t, "us"))
        unit = 1;
    else if (t.n == 0 && d.mantissa == 0)
        unit = 1;
    else
        return bad(m, key, value,
                   t.n ? "unknown unit of time: use s, ms or us" : "needs a unit: s, ms or us");
    switch (make_whole(d, unit, (uint64_t)DELAY_MAX, &v)) {
    case FRACTION:
        return bad(m, key, value, "finer than a microsecond");
    case TOO_LARGE:
        return bad(m, key, value, "more than a day");
    case WHOLE:
        break;
    }
    *out = (scps_dur)v;
    return 0;
}

static int read_chance(const struct message *m, struct text key, struct text value, double max,
                       double *out)
{
    struct text t = value;
    struct decimal d;
    double v;

    if (!take_number(&t, &d) || t.n)
        return bad(m, key, value,
                   "not a probability: a number such as 0.001 or 1e-6, of at most 15 digits");
    v = make_double(d);
    if (!(v <= max))
        return bad(m, key, value,
                   max < 1 ? "a bit error rate is from 0 to 0.5" : "a probability is from 0 to 1");
    *out = v;
    return 0;
}

static int read_count(const struct message *m, struct text key, struct text value, uint64_t max,
                      const char *why, uint64_t *out)
{
    struct text t = value;
    struct decimal d;

    if (!take_number(&t, &d) || t.n || make_whole(d, 1, max, out) != WHOLE)
        return bad(m, key, value, why);
    return 0;
}

/* ---- the spec ---- */

enum {
    HAS_RATE_BACK = 1,
    HAS_RTT = 2,
    HAS_DELAY = 4,
    HAS_DELAY_BACK = 8,
    HAS_BER_BACK = 16,
    HAS_LOSS_BACK = 32,
    HAS_QUEUE = 64,
    HAS_RATE = 128,
    HAS_BER = 256,
    HAS_LOSS = 512,
    HAS_OVERHEAD = 1024,
    HAS_DUP = 2048,
    HAS_REORDER = 4096,
    HAS_FLIP = 8192
};

struct spec {
    unsigned has;
    uint64_t rate[2];
    scps_dur rtt, delay[2];
    double ber[2], loss[2], dup, reorder;
    uint64_t overhead;
    uint32_t ber_exempt;
    uint64_t queue_bytes, queue_packets;
    struct decimal queue_bdp; /* mantissa 0: not asked for */
    bool flip;
};

static int read_queue(const struct message *m, struct text key, struct text value, struct spec *s)
{
    static const char *const why =
        "not a queue: bytes (6250000), packets (500p) or round trips (1bdp); 0 has no limit";
    struct text t = value;
    struct decimal d;
    enum whole w = WHOLE;

    if (!take_number(&t, &d))
        return bad(m, key, value, why);
    if (t.n == 0) {
        w = make_whole(d, 1, UINT64_MAX / 2, &s->queue_bytes);
    } else if (same(t, "p")) {
        w = make_whole(d, 1, UINT32_MAX, &s->queue_packets);
    } else if (same(t, "bdp")) {
        uint64_t thousandths;
        s->queue_bdp = d;
        w = make_whole(d, 1000, BDP_MAX * 1000, &thousandths);
        if (w == WHOLE && thousandths == 0)
            return bad(m, key, value, why);
    } else {
        return bad(m, key, value, why);
    }
    if (w == WHOLE)
        return 0;
    return bad(m, key, value,
               w == TOO_LARGE ? "a queue that large makes no sense"
               : t.n          ? "not a whole number of packets, or of thousandths of a bdp"
                              : "not a whole number of bytes");
}

/* The HAS_ bit of a key; 0 if there is no such key. */
static unsigned find_key(struct text key)
{
    static const struct {
        const char *key;
        unsigned bit;
    } keys[] = {{"rate", HAS_RATE},
                {"rate-back", HAS_RATE_BACK},
                {"rtt", HAS_RTT},
                {"delay", HAS_DELAY},
                {"delay-back", HAS_DELAY_BACK},
                {"ber", HAS_BER},
                {"ber-back", HAS_BER_BACK},
                {"loss", HAS_LOSS},
                {"loss-back", HAS_LOSS_BACK},
                {"queue", HAS_QUEUE},
                {"overhead", HAS_OVERHEAD},
                {"dup", HAS_DUP},
                {"reorder", HAS_REORDER},
                {"flip", HAS_FLIP}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (same(key, keys[i].key))
            return keys[i].bit;
    return 0;
}

static int read_pair(const struct message *m, struct spec *s, struct text key, struct text value)
{
    unsigned bit = find_key(key);

    if (bit == 0)
        return bad_item(m, "link: unknown key '%.*s'; allowed: " KEYS, key);
    if (s->has & bit)
        return bad_item(m, "link: '%.*s' is given twice", key);
    s->has |= bit;
    if (bit == HAS_FLIP) {
        s->flip = true;
        return value.p ? bad(m, key, value, "takes no value") : 0;
    }
    if (!value.p)
        return bad_item(m, "link: '%.*s' needs a value", key);
    switch (bit) {
    case HAS_RATE:
    case HAS_RATE_BACK:
        return read_rate(m, key, value, &s->rate[bit == HAS_RATE_BACK]);
    case HAS_RTT:
        return read_time(m, key, value, &s->rtt);
    case HAS_DELAY:
    case HAS_DELAY_BACK:
        return read_time(m, key, value, &s->delay[bit == HAS_DELAY_BACK]);
    case HAS_BER:
    case HAS_BER_BACK:
        return read_chance(m, key, value, 0.5, &s->ber[bit == HAS_BER_BACK]);
    case HAS_LOSS:
    case HAS_LOSS_BACK:
        return read_chance(m, key, value, 1, &s->loss[bit == HAS_LOSS_BACK]);
    case HAS_QUEUE:
        return read_queue(m, key, value, s);
    case HAS_OVERHEAD:
        return read_count(m, key, value, 65535, "not a number of framing bytes from 0 to 65535",
                          &s->overhead);
    case HAS_DUP:
        return read_chance(m, key, value, 1, &s->dup);
    default:
        return read_chance(m, key, value, 1, &s->reorder);
    }
}

static void preset_into(struct spec *s, const struct preset *p)
{
    memset(s, 0, sizeof *s);
    s->rate[0] = p->rate;
    s->rate[1] = p->rate_back;
    s->delay[0] = s->delay[1] = p->delay;
    s->overhead = 18;
    s->ber_exempt = p->ber_exempt;
}

/* bytes of rate (bit/s) over rtt, times thousandths / 1000 */
static uint64_t bdp(uint64_t rate, scps_dur rtt, uint64_t thousandths)
{
    unsigned __int128 v = (unsigned __int128)rate * (uint64_t)rtt * thousandths;

    return (uint64_t)(v / (UINT64_C(8000000) * 1000)); /* at most 10^22: fits */
}

static uint64_t queue_of(const struct spec *s, uint64_t rate, scps_dur rtt)
{
    uint64_t thousandths = 0, bytes;

    if (s->queue_bdp.mantissa) {
        make_whole(s->queue_bdp, 1000, BDP_MAX * 1000, &thousandths);
        bytes = bdp(rate, rtt, thousandths);
        return bytes ? bytes : 1; /* 0 would be no limit */
    }
    if (s->has & HAS_QUEUE)
        return s->queue_bytes;
    bytes = bdp(rate, rtt, 1000);
    return bytes > QUEUE_FLOOR ? bytes : QUEUE_FLOOR;
}

static void resolve(const struct spec *s, int back, struct scps_link_config *out)
{
    memset(out, 0, sizeof *out);
    out->rate_bps = s->rate[back];
    out->delay = s->delay[back];
    out->queue_bytes = queue_of(s, s->rate[back], s->delay[0] + s->delay[1]);
    out->queue_packets = (uint32_t)s->queue_packets;
    out->overhead = (uint32_t)s->overhead;
    out->ber_exempt = s->ber_exempt;
    out->ber = s->ber[back];
    out->loss = s->loss[back];
    out->dup = s->dup;
    out->reorder = s->reorder;
    out->flip = s->flip;
}

/* Reads one item; first: a preset may stand here. */
static int read_item(const struct message *m, struct spec *s, struct text item, bool first)
{
    const char *eq = memchr(item.p, '=', item.n);
    struct text key = {item.p, eq ? (size_t)(eq - item.p) : item.n};
    struct text value = {eq ? eq + 1 : NULL, eq ? item.n - key.n - 1 : 0};

    if (key.n == 0)
        return bad_item(m, "link: nothing before '%.*s'", item.n ? item : (struct text){",", 1});
    if (eq || find_key(key))
        return read_pair(m, s, key, value);
    for (size_t i = 0; i < PRESETS; i++) {
        if (!same(key, presets[i].name))
            continue;
        if (!first)
            return bad_item(m, "link: the preset '%.*s' must come first", key);
        preset_into(s, &presets[i]);
        return 0;
    }
    return bad_item(m, "link: no preset '%.*s'; there are " NAMES "; keys: " KEYS, key);
}

int scps_link_parse(const char *spec, struct scps_link_config *fwd, struct scps_link_config *back,
                    char *msg, size_t msglen)
{
    struct message m = {msg, msg ? msglen : 0};
    struct spec s;

    preset_into(&s, &presets[PRESET_BASE]);
    for (const char *p = spec;;) {
        size_t n = strcspn(p, ",");
        int rc = read_item(&m, &s, (struct text){p, n}, p == spec);
        if (rc != 0)
            return rc;
        p += n;
        if (*p++ == '\0')
            break;
    }

    if (s.has & HAS_RTT && s.has & (HAS_DELAY | HAS_DELAY_BACK))
        return bad_item(&m,
                        "link: '%.*s' sets both delays: give either it, or delay and delay-back",
                        (struct text){"rtt", 3});
    if (s.has & HAS_RTT) {
        s.delay[0] = s.rtt / 2;
        s.delay[1] = s.rtt - s.rtt / 2;
    }
    if (s.has & HAS_DELAY && !(s.has & HAS_DELAY_BACK))
        s.delay[1] = s.delay[0];
    if (s.has & HAS_RATE && !(s.has & HAS_RATE_BACK))
        s.rate[1] = s.rate[0];
    if (s.has & HAS_BER && !(s.has & HAS_BER_BACK))
        s.ber[1] = s.ber[0];
    if (s.has & HAS_LOSS && !(s.has & HAS_LOSS_BACK))
        s.loss[1] = s.loss[0];
    resolve(&s, 0, fwd);
    resolve(&s, 1, back);
    return 0;
}
