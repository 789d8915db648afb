/* SPDX-License-Identifier: MIT */
/* The keys of a link's description, with one function each that parses the value into a field of
 * struct draft, or writes what is wrong with it. linkspec.c refuses keys that contradict each
 * other, and copies the values that were given without -back to the return direction; linktable.c
 * parses tables: rates and delays that change over time, outages, contacts and error vectors. */
#include "sim/linkkeys.h"

#include "sim/plan.h"

#include <scps/error.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define BDP_MAX 1000

int scps_link_bad(const struct reading *r, const char *why)
{
    if (r->msglen)
        snprintf(r->msg, r->msglen, "link: %.*s=%.*s: %s", SHOW(r->key), SHOW(r->value), why);
    return SCPS_ERR_INVAL;
}

int scps_link_verdict(const struct reading *r, const char *why)
{
    return why ? scps_link_bad(r, why) : 0;
}

int scps_link_bad_item(const struct reading *r, const char *fmt, struct scps_text t)
{
    if (r->msglen)
        snprintf(r->msg, r->msglen, fmt, SHOW(t));
    return SCPS_ERR_INVAL;
}

static int read_rate(struct reading *r)
{
    return scps_link_verdict(r, scps_text_rate(r->value, false, &r->d->rate));
}

static int read_delay(struct reading *r)
{
    return scps_link_verdict(r, scps_text_time(r->value, &r->d->delay));
}

static int read_ber(struct reading *r)
{
    return scps_link_verdict(r, scps_text_chance(r->value, 0.5, &r->d->ber));
}

static int read_loss(struct reading *r)
{
    return scps_link_verdict(r, scps_text_chance(r->value, 1, &r->d->loss));
}

static int read_dup(struct reading *r)
{
    return scps_link_verdict(r, scps_text_chance(r->value, 1, &r->d->dup));
}

static int read_reorder(struct reading *r)
{
    return scps_link_verdict(r, scps_text_chance(r->value, 1, &r->d->reorder));
}

static int read_reorder_delay(struct reading *r)
{
    return scps_link_verdict(r, scps_text_time(r->value, &r->d->reorder_delay));
}

static int read_jitter(struct reading *r)
{
    return scps_link_verdict(r, scps_text_time(r->value, &r->d->jitter));
}

/* Returns the number of bytes that the unit t stands for: k, m and g are powers of 1000, as are kb,
 * mb and gb; K, M and G, or kib, mib and gib, are powers of 1024; no text means 1. Returns 0 if t
 * is none of these. */
static uint64_t bytes_unit(struct scps_text t)
{
    static const struct {
        const char *name;
        uint64_t times;
    } letters[] = {{"", 1},        {"k", 1000},    {"m", 1000000}, {"g", 1000000000},
                   {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}},
      words[] = {{"kb", 1000},     {"mb", 1000000},  {"gb", 1000000000},
                 {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}};

    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (scps_text_is(t, letters[i].name))
            return letters[i].times;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (scps_text_same_letters(t, words[i].name))
            return words[i].times;
    return 0;
}

static int read_queue(struct reading *r)
{
    static const char why[] =
        "not a queue: bytes (6250000, 64K), packets (500p) or round trips (1bdp); 0 has no limit";
    struct scps_text t = r->value;
    struct scps_decimal d;
    enum scps_whole w;
    uint64_t bytes = 0, packets = 0, bdp = 0, unit;

    if (!scps_text_number(&t, &d))
        return scps_link_bad(r, why);
    unit = bytes_unit(t);
    if (unit) {
        w = scps_decimal_whole(d, unit, UINT64_MAX / 2, &bytes);
    } else if (scps_text_is(t, "p")) {
        w = scps_decimal_whole(d, 1, UINT32_MAX, &packets);
    } else if (scps_text_is(t, "bdp")) {
        w = scps_decimal_whole(d, 1000, BDP_MAX * 1000, &bdp);
        if (w == SCPS_WHOLE && bdp == 0)
            return scps_link_bad(r, why);
    } else {
        return scps_link_bad(r, why);
    }
    if (w != SCPS_WHOLE)
        return scps_link_bad(r, w == SCPS_TOO_LARGE ? "a queue that large makes no sense"
                                : !unit
                                    ? "not a whole number of packets, or of thousandths of a bdp"
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

    if (!scps_text_number(&t, &d) || !bytes_unit(t) ||
        scps_decimal_whole(d, bytes_unit(t), 65535, out) != SCPS_WHOLE)
        return scps_link_bad(r, why);
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
    return scps_link_bad(r, "no such framing; allowed: none ethernet ppp hdlc aal5 aal5-vc aos tm");
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
            return scps_link_bad(r, "a mean stay is at least 1us");
    } else if (!scps_text_chance(a, 1, &burst.to_bad) && !scps_text_chance(b, 1, &burst.to_good)) {
        burst.good = burst.bad = 0;
        if (burst.to_bad <= 0 || burst.to_good <= 0)
            return scps_link_bad(r, "both probabilities must be above 0");
    } else {
        return scps_link_bad(r, why);
    }
    r->d->burst = burst;
    return 0;
}

static int read_burst_ber(struct reading *r)
{
    return scps_link_verdict(r, scps_text_chance(r->value, 0.5, &r->d->burst_ber));
}

static int read_codel(struct reading *r)
{
    struct scps_text b = r->value, a = scps_text_cut(&b, "/");

    r->d->codel.target = r->d->codel.interval = 0;
    if (off(r))
        return 0;
    if (!r->value.p) { /* Without a value, CoDel has the defaults of RFC 8289 section 4.3. */
        r->d->codel.target = SCPS_MS(5);
        r->d->codel.interval = SCPS_MS(100);
        return 0;
    }
    if (scps_text_time(a, &r->d->codel.target) || scps_text_time(b, &r->d->codel.interval) ||
        r->d->codel.target < 1 || r->d->codel.interval < 1 || r->d->codel.interval > SCPS_SEC(3600))
        return scps_link_bad(
            r, "not TARGET/INTERVAL, two times above 0 (5ms/100ms), the latter up to 3600s");
    return 0;
}

static int read_switch(struct reading *r, bool *out)
{
    *out = !r->value.p || scps_text_is(r->value, "on");
    return r->value.p && !*out && !off(r) ? scps_link_bad(r, "takes no value, or on or off") : 0;
}

static int read_flip(struct reading *r)
{
    return read_switch(r, &r->d->flip);
}

static int read_hold(struct reading *r)
{
    return read_switch(r, &r->d->hold);
}
/* ---- functions that parse tables: rates, delays, outages, contacts, error vectors ---- */

static int need_tables(struct reading *r)
{
    struct scps_alloc a = scps_alloc_default();

    if (!r->tables)
        return scps_link_bad(r, "needs a table: call scps_link_parse_tables()");
    if (*r->tables)
        return 0;
    *r->tables = a.alloc(a.ctx, sizeof **r->tables);
    if (!*r->tables)
        return scps_link_bad(r, "out of memory");
    **r->tables = (struct scps_link_tables){.alloc = a};
    return 0;
}

/* Reads the file whose name follows the '@' in the key's value. Returns its *len bytes, which the
 * caller frees with files->done(), or NULL with a message in r->msg. */
static char *fetch(struct reading *r, size_t *len)
{
    char name[256], why[160] = "";
    char *data;

    if (!r->files) {
        scps_link_bad(r, "files are not read here");
        return NULL;
    }
    if (r->value.n - 1 >= sizeof name) {
        scps_link_bad(r, "the name of the file is too long");
        return NULL;
    }
    memcpy(name, r->value.p + 1, r->value.n - 1);
    name[r->value.n - 1] = '\0';
    data = r->files->read(r->files->ctx, name, len, why, sizeof why);
    if (!data)
        scps_link_bad(r, why);
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
    return scps_link_verdict(r, wrong);
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
        return scps_link_bad(r, "give the error vector's file as @NAME");
    return read_table(r, VECTOR);
}

int scps_link_read_pass(struct reading *r)
{
    struct scps_text t = r->value;
    struct scps_decimal d;
    uint64_t m;

    if (!scps_text_number(&t, &d) || !scps_text_is(t, "km") ||
        scps_decimal_whole(d, 1000, 36000000, &m) != SCPS_WHOLE || m < 100000)
        return scps_link_bad(r, "not an altitude from 100km to 36000km");
    if (need_tables(r) != 0)
        return SCPS_ERR_INVAL;
    return scps_link_verdict(r, scps_table_pass(*r->tables, m, &r->d->delays, &r->d->outages));
}

/* ---- the table of all keys of a link description ---- */

#define FIELD(f) offsetof(struct draft, f), sizeof((struct draft *)0)->f

const struct link_key scps_link_keys[LINK_KEYS] = {
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

size_t scps_link_find_key(struct scps_text t)
{
    size_t i = 0;

    while (i < LINK_KEYS && !scps_text_is(t, scps_link_keys[i].name))
        i++;
    return i;
}
