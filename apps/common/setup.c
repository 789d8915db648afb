/* SPDX-License-Identifier: MIT */
/* Makes the links and flows of a cell (a combination of a scenario's swept values) from the keys
 * that are set for it (setup_keys.h).
 *
 * The keys of a link are composed into one text (a link SPEC, such as "rate=2mbit,ber=1e-6"), which
 * scps_link_parse() then parses.
 */
#include "common/setup.h"

#include "common/flow_settings.h"
#include "common/setup_keys.h"
#include "common/setup_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TS_OPTION 12 /* octets that the timestamps option takes in each segment */

/* Reads the file whose name follows '@' in a value of a link's description. ctx: path of the
 * scenario file, to whose folder the name is relative. Sets *len to the length. Returns its
 * contents, or NULL with the reason in why. */
static char *read_file(void *ctx, const char *name, size_t *len, char *why, size_t whylen)
{
    const char *scenario = ctx, *slash = strrchr(scenario, '/');
    struct lab_str path = {0}, text = {0};
    char buf[4096];
    size_t n;
    FILE *f;

    if (*name == '/' || !slash)
        lab_add(&path, "%s", name);
    else
        lab_add(&path, "%.*s/%s", (int)(slash - scenario), scenario, name);
    f = fopen(path.p, "rb");
    if (!f)
        snprintf(why, whylen, "%s: %s", path.p, strerror(errno));
    lab_free(&path);
    if (!f)
        return NULL;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) {
        text.p = lab_grow(text.p, text.len + n + 1);
        memcpy(text.p + text.len, buf, n);
        text.len += n;
    }
    fclose(f);
    *len = text.len;
    return text.p ? text.p : lab_copy("");
}

static void file_done(void *ctx, char *data)
{
    (void)ctx;
    free(data);
}

struct building {
    struct lab_applied a;
    struct lab_setup *s;
    char *msg;
};

static bool fail(struct building *b, const struct lab_set *blame, const char *text)
{
    if (blame && blame->line)
        snprintf(b->msg, LAB_MSGLEN, "%.200s:%d: %.300s", b->a.sc->path, blame->line, text);
    else
        snprintf(b->msg, LAB_MSGLEN, "%.200s: %.300s", b->a.sc->path, text);
    return false;
}

/* Checks that the scenario is one that a flow with the key "model = nack" permits. Such a flow is
 * no TCP connection but a model of a file transfer at a fixed rate whose receiver requests what is
 * missing (model.h). It must be the only flow, and have a size and a rate. Returns false after a
 * message. */
static bool check_model(struct building *b)
{
    for (size_t i = 0; i < b->s->nflows; i++) {
        const struct lab_flow *f = &b->s->flow[i];
        if (f->kind != LAB_NACK)
            continue;
        if (b->s->nflows > 1 || f->copies > 1 || f->time != 0 || f->conn.rate == 0)
            return fail(b, NULL,
                        "flow.model = nack: give one flow alone, with flow.size and flow.rate");
        if (f->headers < f->conn.rate_overhead + 28 || f->size > 4000000000u)
            return fail(b, NULL,
                        "flow.model = nack: headers hold framing and 28 bytes; size to 4gb");
        if (f->payload == 0 && f->headers >= b->s->link[f->link].mtu)
            return fail(b, lab_applied_last(&b->a, 'f', f->name, "headers"),
                        "flow.headers: they leave no room for payload in the link's mtu");
        if ((uint64_t)f->headers + f->payload > b->s->link[f->link].mtu + f->conn.rate_overhead)
            return fail(b, lab_applied_last(&b->a, 'f', f->name, "headers"),
                        "flow.headers: with flow.payload they are more than the link's mtu");
    }
    return true;
}

static struct lab_link *link_of(struct lab_setup *s, const char *name)
{
    for (size_t i = 0; i < s->nlinks; i++)
        if (strcmp(s->link[i].name, name) == 0)
            return &s->link[i];
    s->link = lab_grow(s->link, (s->nlinks + 1) * sizeof *s->link);
    s->link[s->nlinks] = (struct lab_link){.a = "sender", .b = "receiver", .mtu = 1500};
    strcpy(s->link[s->nlinks].name, name);
    return &s->link[s->nlinks++];
}

static struct lab_flow *flow_of(struct lab_setup *s, const char *name)
{
    struct lab_flow *f;

    for (size_t i = 0; i < s->nflows; i++)
        if (strcmp(s->flow[i].name, name) == 0)
            return &s->flow[i];
    s->flow = lab_grow(s->flow, (s->nflows + 1) * sizeof *s->flow);
    f = &s->flow[s->nflows++];
    *f = (struct lab_flow){.copies = 1,
                           .stagger = {0, SCPS_MS(100)},
                           .size = 1000000,
                           .rtt_hint = -1,
                           .headers = 70,
                           .receiver_buffer = 8192,
                           .conn = flow_settings_begin()};
    strcpy(f->name, name);
    return f;
}

/* Makes a link for each section [link NAME], and a flow for each [flow NAME]. If no link has a
 * name, there is one called "link"; if no flow has one, there is one called "flow". */
static void make_all(struct building *b)
{
    struct lab_dotted d;

    for (size_t i = 0; i < b->a.sc->sections.n; i++)
        if (lab_key_split(b->a.sc->sections.v[i].key, &d))
            (void)(*d.kind == 'l' ? (void *)link_of(b->s, d.name) : (void *)flow_of(b->s, d.name));
    if (b->s->nlinks == 0)
        link_of(b->s, "link");
    if (b->s->nflows == 0)
        flow_of(b->s, "flow");
}

/* Returns true if the key is a flag in a link's description: "flip = yes" in the scenario adds the
 * word flip to the description, "flip = no" adds nothing. */
static bool is_flag(const char *key)
{
    struct scps_link_config a, b;

    return scps_link_parse(key, &a, &b, NULL, 0) == 0;
}

/* Returns that setting of a link whose text KEY=VALUE occurs in the error message `why`, so that
 * the message can name the line of the setting; NULL: no setting occurs in it. */
static const struct lab_set *named_in(const struct building *b, const char *why)
{
    const struct lab_set *set = NULL;
    struct lab_dotted d;
    char pair[LAB_MSGLEN];

    for (size_t i = 0; i < b->a.n; i++) {
        if (!lab_key_split(b->a.set[i]->key, &d) || *d.kind != 'l')
            continue;
        snprintf(pair, sizeof pair, "%s=%s", d.key, b->a.set[i]->value);
        if (strstr(why, pair))
            set = b->a.set[i];
    }
    return set;
}

static bool build_link(struct building *b, struct lab_link *l)
{
    const struct lab_set *set = lab_applied_last(&b->a, 'l', l->name, "preset"), *blame = NULL;
    struct scps_link_files files = {read_file, file_done, b->a.sc->path};
    struct lab_str spec = {0};
    char why[LAB_MSGLEN];
    struct lab_dotted d;
    bool ok;

    lab_add(&spec, "%s", set ? set->value : "geo");
    for (size_t i = 0; i < b->a.n; i++) {
        const char *value = b->a.set[i]->value;

        if (!lab_key_split(b->a.set[i]->key, &d) || *d.kind != 'l' ||
            lab_applied_last(&b->a, 'l', l->name, d.key) != b->a.set[i])
            continue;
        if (lab_key_is_link(d.key)) {
            if (strcmp(d.key, "preset") != 0 && !lab_key_put_link(d.key, value, l, why)) {
                lab_free(&spec);
                return fail(b, b->a.set[i], why);
            }
        } else if (is_flag(d.key)) {
            if (strcmp(value, "no") != 0)
                lab_add(&spec, ",%s%s%s", d.key, strcmp(value, "yes") == 0 ? "" : "=",
                        strcmp(value, "yes") == 0 ? "" : value);
        } else {
            lab_add(&spec, ",%s=%s", d.key, value);
        }
    }
    ok =
        scps_link_parse_tables(spec.p, &files, &l->fwd, &l->back, &l->tables, why, sizeof why) == 0;
    if (!ok && set && scps_link_parse(set->value, &l->fwd, &l->back, NULL, 0) != 0)
        blame = set;
    else if (!ok)
        blame = named_in(b, why);
    snprintf(l->spec, sizeof l->spec, "%s", spec.p);
    lab_free(&spec);
    if (!ok)
        return fail(b, blame, why);
    if (l->mtu < 68 || l->mtu > 65535)
        return fail(b, lab_applied_last(&b->a, 'l', l->name, "mtu"),
                    "link.mtu: give a number from 68 to 65535");
    if (l->ipv6 && l->mtu < 1280)
        return fail(b, lab_applied_last(&b->a, 'l', l->name, "mtu"),
                    "link.mtu: with ipv6 give at least 1280 (RFC 8200 section 5)");
    if (strcmp(l->a, l->b) != 0)
        return true;
    blame = lab_applied_last(&b->a, 'l', l->name, "b");
    return fail(b, blame ? blame : lab_applied_last(&b->a, 'l', l->name, "a"),
                "link: its two hosts are one: give a and b different names");
}

/* Returns the time, µs, from sending a full packet over the link until a small packet has come
 * back, with the transmission times of both: on a slow line it is longer than the propagation
 * delays. */
static scps_dur round_trip(const struct lab_link *l)
{
    scps_dur t = l->fwd.delay + l->back.delay;

    for (int back = 0; back < 2; back++) {
        uint64_t rate = (back ? l->back : l->fwd).rate_bps;
        if (rate != 0)
            t += (scps_dur)((uint64_t)(back ? 80 : l->mtu) * 8000000 / rate);
    }
    return t;
}

static bool build_flow(struct building *b, struct lab_flow *f)
{
    const struct lab_link *l;
    char why[LAB_MSGLEN];
    uint64_t rate;
    struct lab_dotted d;

    for (size_t i = 0; i < b->a.n; i++) {
        if (!lab_key_split(b->a.set[i]->key, &d) || *d.kind != 'f' ||
            (*d.name && strcmp(d.name, f->name) != 0))
            continue;
        if (!lab_key_put_flow(d.key, b->a.set[i]->value, f, why))
            return fail(b, b->a.set[i], why);
    }
    for (f->link = 0; *f->link_name && f->link < b->s->nlinks; f->link++)
        if (strcmp(b->s->link[f->link].name, f->link_name) == 0)
            break;
    if (f->link == b->s->nlinks) {
        snprintf(why, sizeof why, "flow %s: there is no [link %s]", f->name, f->link_name);
        return fail(b, lab_applied_last(&b->a, 'f', f->name, "link"), why);
    }
    l = &b->s->link[f->link];
    if (f->copies < 1 || f->copies > 1000)
        return fail(b, lab_applied_last(&b->a, 'f', f->name, "copies"),
                    "flow.copies: give a number from 1 to 1000");
    if (f->size == 0 && f->time == 0)
        return fail(b, lab_applied_last(&b->a, 'f', f->name, "size"),
                    "flow.size: give at least one byte");
    if (f->time != 0)
        f->size = UINT64_MAX;
    rate = f->rate_bps;
    if (f->host_bps != 0 && (rate == 0 || rate > f->host_bps))
        rate = f->host_bps;
    f->conn.rate = rate / 8;
    if (f->conn.cc->needs_rate && f->conn.rate == 0) {
        snprintf(why, sizeof why, "flow %s: cc = %s needs a rate: give flow.rate", f->name,
                 f->conn.cc->name);
        return fail(b, lab_applied_last(&b->a, 'f', f->name, "cc"), why);
    }
    f->conn.rate_overhead = (f->back ? l->back : l->fwd).overhead;
    f->conn.records = f->record != 0;
    if (f->payload != 0) {
        uint32_t mss = f->payload + (f->conn.timestamps ? TS_OPTION : 0);
        if (mss < 64 || mss + (l->ipv6 ? 60 : 40) > l->mtu) {
            snprintf(why, sizeof why,
                     "flow.payload = %u: with headers more than the link's mtu %u, or too small",
                     f->payload, l->mtu);
            return fail(b, lab_applied_last(&b->a, 'f', f->name, "payload"), why);
        }
        f->conn.mss = (uint16_t)mss;
    }
    f->conn.snack_long = f->conn.snack && f->conn.snack_long;
    f->conn.first_window = f->first_window ? f->conn.rcvbuf : 0;
    f->conn.expected_rtt = f->rtt_hint >= 0 ? f->rtt_hint : round_trip(l);
    return true;
}

struct lab_setup *lab_setup_new(const struct lab_scenario *sc, const struct lab_set *const *set,
                                size_t n, char msg[LAB_MSGLEN])
{
    struct building b = {{sc, set, n}, lab_alloc(sizeof(struct lab_setup)), msg};
    const struct lab_set *blame = NULL;
    char why[LAB_MSGLEN];
    bool ok = true;

    b.s->timeout = sc->timeout;
    make_all(&b);
    /* A setting such as link.NAME.rtt is refused if there is no link or flow called NAME. */
    for (size_t i = 0; ok && i < n; i++) {
        struct lab_dotted d;
        size_t had = b.s->nlinks + b.s->nflows;
        if (!lab_key_split(set[i]->key, &d) || !*d.name)
            continue;
        (void)(*d.kind == 'l' ? (void *)link_of(b.s, d.name) : (void *)flow_of(b.s, d.name));
        if (b.s->nlinks + b.s->nflows != had) {
            snprintf(why, sizeof why, "%s: there is no [%s %s]", set[i]->key, d.kind, d.name);
            ok = fail(&b, set[i], why);
        }
    }
    for (size_t i = 0; ok && i < b.s->nlinks; i++)
        ok = build_link(&b, &b.s->link[i]);
    for (size_t i = 0; ok && i < b.s->nflows; i++)
        ok = build_flow(&b, &b.s->flow[i]);
    ok = ok && check_model(&b);
    if (ok && !lab_pairs_agree(&b.a, b.s, &blame, why))
        ok = fail(&b, blame, why);
    if (ok)
        return b.s;
    lab_setup_free(b.s);
    return NULL;
}

void lab_setup_free(struct lab_setup *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->nlinks; i++)
        scps_link_tables_free(s->link[i].tables);
    free(s->link);
    free(s->flow);
    free(s);
}
