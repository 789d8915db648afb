/* SPDX-License-Identifier: MIT */
/* Keys and texts become links and flows.
 *
 * A link's keys are those of a link SPEC (scps_link_parse), which is put together here and parsed
 * whole; the few of our own are listed below. A flow's keys are the settings of its connections
 * (flow_settings.h) and a table of its own: name, how the text is read, where it goes.
 */
#include "common/setup.h"

#include "common/field.h"
#include "common/flow_settings.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TS_OPTION 12 /* what time stamps take of each segment */

enum reader {
    TEXT,
    SIZE,
    BPS,
    SPAN,
    RANGE,
    YESNO,
    U32,
    ENUM,
    SHARE,
    CONTROLLER,
    BUFFER /* both ends' */
};

struct key {
    const char *name;
    enum reader reader;
    size_t at;
    const char *values, *help; /* ENUM: the words, in the order of the values from 0 */
};

#define FLOW(f) offsetof(struct lab_flow, f)

static const struct key flow_keys[] = {
    {"link", TEXT, FLOW(link_name), "NAME", "the link it goes over; default: the first"},
    {"reverse", YESNO, FLOW(back), "yes no", "data goes from the link's b to its a"},
    {"copies", U32, FLOW(copies), "1 to 1000", "so many flows alike"},
    {"start", RANGE, FLOW(start), "TIME or TIME..TIME", "when it starts; a range is drawn from"},
    {"stagger", RANGE, FLOW(stagger), "TIME or TIME..TIME",
     "each copy starts that long after the one before; default 0..100ms"},
    {"size", SIZE, FLOW(size), "BYTES, kb mb gb kib mib gib", "bytes to send; default 1mb"},
    {"time", SPAN, FLOW(time), "TIME", "send that long instead, and measure what arrived"},
    {"cc", CONTROLLER, 0, "NAME[,KEY=VALUE...]", "controller, as scps_ttcp --cc has it"},
    {"rate", BPS, FLOW(rate_bps), "BIT/S, kbit mbit gbit; 0: none",
     "rate on the line, headers and framing counted"},
    {"host-rate", BPS, FLOW(host_bps), "BIT/S, kbit mbit gbit; 0: none",
     "what the sending host can push: a limit to rate"},
    {"buffer", BUFFER, 0, "BYTES", "send and receive buffer"},
    {"first-window", YESNO, FLOW(first_window), "yes no",
     "take the peer's first window for the whole buffer"},
    {"payload", U32, FLOW(payload), "BYTES; 0: from the MTU", "of a full segment"},
    {"record", U32, FLOW(record), "BYTES; 0: no records", "each so many bytes are a record"},
    {"expected-rtt", SPAN, FLOW(rtt_hint), "TIME; 0: no hint", "hint; default: the link's"},
    {"model", ENUM, FLOW(kind), "stream nack",
     "what sends: the protocol, or a model of one with negative acknowledgements"},
    {"headers", U32, FLOW(headers), "BYTES", "model: of a packet, framing included; default 70"},
    {"receiver-rate", BPS, FLOW(receiver_bps), "BIT/S, kbit mbit gbit; 0: any",
     "model: what the receiving host can take"},
    {"receiver-interrupts", SHARE, FLOW(receiver_interrupts), "0 to 1",
     "model: the part of that which a dropped packet costs, too"},
    {"receiver-buffer", SIZE, FLOW(receiver_buffer), "BYTES", "model: its socket's; default 8192"},
    {"nack-wait", RANGE, FLOW(nack_wait), "TIME or TIME..TIME",
     "model: from the end of a pass to a NACK of holes; default 0"},
    {"done-wait", RANGE, FLOW(done_wait), "TIME or TIME..TIME",
     "model: from the end of the last pass to the NACK without holes; default 0"},
};
#define FLOW_KEYS (sizeof flow_keys / sizeof *flow_keys)

#define LINK(f) offsetof(struct lab_link, f)

static const struct key link_keys[] = {
    {"preset", TEXT, 0, "NAME", "where its other keys start from; default geo"},
    {"a", TEXT, LINK(a), "NAME", "host at its first end; default: sender"},
    {"b", TEXT, LINK(b), "NAME", "host at its second end; default: receiver"},
    {"mtu", U32, LINK(mtu), "68 to 65535", "largest IP packet; default 1500"},
    {"ipv6", YESNO, LINK(ipv6), "yes no", "addresses are IPv6"},
    {"vj-compression", YESNO, LINK(vj), "yes no", "RFC 1144 header compression, as PPP has it"},
};
#define LINK_KEYS (sizeof link_keys / sizeof *link_keys)

static const struct key *find(const struct key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

/* ---- reading one value ---- */

static bool number(const char *text, void *to, size_t bytes)
{
    uint64_t v, max = bytes == 8 ? INT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    bool ok = lab_size(text, &v) && v <= max;

    if (ok)
        field_put(to, bytes, v);
    return ok;
}

static bool word(const char *words, const char *text, int *to)
{
    char item[32];

    for (int i = 0; lab_item(&words, ' ', item, sizeof item); i++)
        if (strcmp(item, text) == 0) {
            *to = i;
            return true;
        }
    return false;
}

/* ---- reading one value of the tables ---- */

/* Parses text as the value of a key. The function fills in why only if the parser of that key can
 * say more about an error than the table of keys does. */
static bool read_value(const struct key *k, const char *text, void *base, char why[LAB_MSGLEN])
{
    void *to = (char *)base + k->at;
    struct lab_flow *f = base;
    int i;

    switch (k->reader) {
    case TEXT:
        return strlen(text) < LAB_NAME && (strcpy(to, text), true);
    case SIZE:
        return number(text, to, 8);
    case U32:
        return number(text, to, 4);
    case BPS:
        return lab_rate(text, to);
    case SPAN:
        return lab_time(text, to);
    case RANGE:
        return lab_range(text, to);
    case YESNO:
        return lab_yesno(text, to);
    case ENUM:
        if (!word(k->values, text, &i))
            return false;
        memcpy(to, &i, sizeof i); /* enums are ints here */
        return true;
    case SHARE:
        return lab_real(text, to) && *(double *)to >= 0 && *(double *)to <= 1;
    case CONTROLLER:
        return scps_conn_config_parse_cc(&f->conn, text, why, LAB_MSGLEN) == 0;
    case BUFFER:
        return flow_setting_read(SETTING_sndbuf, text, &f->conn) &&
               flow_setting_read(SETTING_rcvbuf, text, &f->conn);
    }
    return false;
}

static bool put(const struct key *k, const char *kind, const char *text, void *base,
                char why[LAB_MSGLEN])
{
    char more[LAB_MSGLEN] = "";

    if (read_value(k, text, base, more))
        return true;
    if (*more)
        snprintf(why, LAB_MSGLEN, "%s: %.400s", k->name, more);
    else
        snprintf(why, LAB_MSGLEN, "%s.%s = %.100s: wanted is %s", kind, k->name, text, k->values);
    return false;
}

static bool put_flow(const char *key, const char *text, struct lab_flow *f, char why[LAB_MSGLEN])
{
    enum setting_id id = flow_setting(key);

    if (id != SETTINGS)
        return flow_setting_put(id, text, &f->conn, why);
    return put(find(flow_keys, FLOW_KEYS, key), "flow", text, f, why);
}

/* ---- keys ---- */

struct dotted {
    char kind[8], name[LAB_NAME], key[64];
};

/* link.rtt, flow.NAME.size */
static bool split(const char *text, struct dotted *d)
{
    const char *one = strchr(text, '.'), *two = one ? strchr(one + 1, '.') : NULL;
    const char *key = two ? two + 1 : one ? one + 1 : NULL;

    memset(d, 0, sizeof *d);
    if (!key || (size_t)(one - text) >= sizeof d->kind || strlen(key) >= sizeof d->key)
        return false;
    memcpy(d->kind, text, (size_t)(one - text));
    if (two) {
        if ((size_t)(two - one - 1) >= sizeof d->name || two == one + 1)
            return false;
        memcpy(d->name, one + 1, (size_t)(two - one - 1));
    }
    strcpy(d->key, key);
    return strcmp(d->kind, "link") == 0 || strcmp(d->kind, "flow") == 0;
}

bool lab_setup_section(const char *section)
{
    const char *name = strchr(section, ' ');

    if (strncmp(section, "link", 4) != 0 && strncmp(section, "flow", 4) != 0)
        return false;
    if (section[4] != '\0' && section[4] != ' ')
        return false;
    while (name && *name == ' ')
        name++;
    for (size_t n = 0; name && name[n]; n++)
        if ((!isalnum((unsigned char)name[n]) && !strchr("-_", name[n])) || n + 1 >= LAB_NAME)
            return false;
    return true;
}

static void list_keys(const struct key *keys, size_t n, struct lab_str *s)
{
    for (size_t i = 0; i < n; i++)
        lab_add(s, " %s", keys[i].name);
}

/* "@NAME" in a SPEC: a file beside the scenario. */
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

/* Does a SPEC know this key? Its own message says so, and names those it has. */
static bool spec_knows(const char *key, const char *value, char why[LAB_MSGLEN])
{
    struct scps_link_tables *tables = NULL;
    struct scps_link_config a, b;
    char spec[3 * LAB_MSGLEN], more[LAB_MSGLEN] = "";
    bool known;

    snprintf(spec, sizeof spec, "geo,%s=%s", key, value);
    known = scps_link_parse_tables(spec, NULL, &a, &b, &tables, more, sizeof more) == 0 ||
            !strstr(more, "unknown key");
    scps_link_tables_free(tables);
    if (!known)
        snprintf(why, LAB_MSGLEN, "%.440s; and preset a b mtu ipv6 vj-compression", more);
    return known;
}

bool lab_setup_check(const char *key, const char *value, char why[LAB_MSGLEN])
{
    struct lab_str all = {0};
    char name[SETTING_NAME];
    struct lab_link link;
    struct lab_flow flow;
    const struct key *k;
    struct dotted d;

    if (!split(key, &d)) {
        snprintf(why, LAB_MSGLEN, "'%s' is no key; keys look like link.rtt or flow.NAME.size", key);
        return false;
    }
    if (strcmp(d.kind, "link") == 0) {
        k = find(link_keys, LINK_KEYS, d.key);
        if (k && strcmp(k->name, "preset") != 0)
            return put(k, d.kind, value, &link, why);
        return k || spec_knows(d.key, value, why);
    }
    if (flow_setting(d.key) != SETTINGS || find(flow_keys, FLOW_KEYS, d.key))
        return put_flow(d.key, value, &flow, why);
    list_keys(flow_keys, FLOW_KEYS, &all);
    for (int i = 0; i < SETTINGS; i++)
        if (flow_setting(setting_dashed(&settings[i], name)) != SETTINGS)
            lab_add(&all, " %s", name);
    snprintf(why, LAB_MSGLEN, "unknown key '%s'; a flow has:%s", d.key, all.p);
    lab_free(&all);
    return false;
}

void lab_setup_print_keys(FILE *f)
{
    fputs("[link] or [link NAME], and all keys of a link SPEC\n", f);
    for (size_t i = 0; i < LINK_KEYS; i++)
        fprintf(f, "  %-20s%-36s  %s\n", link_keys[i].name, link_keys[i].values, link_keys[i].help);
    fputs("[flow] or [flow NAME]\n", f);
    for (size_t i = 0; i < FLOW_KEYS; i++)
        fprintf(f, "  %-20s%-36s  %s\n", flow_keys[i].name, flow_keys[i].values, flow_keys[i].help);
    flow_settings_print(f);
}

/* ---- a cell's links and flows ---- */

struct building {
    const struct lab_scenario *sc;
    const struct lab_set *const *set;
    size_t n;
    struct lab_setup *s;
    char *msg;
};

static bool fail(struct building *b, const struct lab_set *blame, const char *text)
{
    if (blame && blame->line)
        snprintf(b->msg, LAB_MSGLEN, "%.200s:%d: %.300s", b->sc->path, blame->line, text);
    else
        snprintf(b->msg, LAB_MSGLEN, "%.200s: %.300s", b->sc->path, text);
    return false;
}

/* The model is one transfer of a size, at a rate, and nothing beside it. */
static bool check_model(struct building *b)
{
    for (size_t i = 0; i < b->s->nflows; i++) {
        const struct lab_flow *f = &b->s->flow[i];
        if (f->kind != LAB_NACK)
            continue;
        if (b->s->nflows > 1 || f->copies > 1 || f->time != 0 || f->conn.rate == 0)
            return fail(b, NULL, "flow.model = nack: one flow alone, with a size and a rate");
        if (f->headers < f->conn.rate_overhead + 28 || f->size > 4000000000u)
            return fail(b, NULL,
                        "flow.model = nack: headers hold framing and 28 bytes; size to 4gb");
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

/* Names come from sections; a link or flow without one is called "link" or "flow" and is there when
 * no other is. */
static void make_all(struct building *b)
{
    struct dotted d;

    for (size_t i = 0; i < b->sc->base.n; i++)
        if (split(b->sc->base.v[i].key, &d) && *d.name)
            (void)(*d.kind == 'l' ? (void *)link_of(b->s, d.name) : (void *)flow_of(b->s, d.name));
    if (b->s->nlinks == 0)
        link_of(b->s, "link");
    if (b->s->nflows == 0)
        flow_of(b->s, "flow");
}

/* The value of key for the link NAME that counts: the last; a named one only for its link. */
static const struct lab_set *last(const struct building *b, const char *name, const char *key)
{
    const struct lab_set *found = NULL;
    struct dotted d;

    for (size_t i = 0; i < b->n; i++)
        if (split(b->set[i]->key, &d) && *d.kind == 'l' && strcmp(d.key, key) == 0 &&
            (!*d.name || strcmp(d.name, name) == 0))
            found = b->set[i];
    return found;
}

/* "flip = yes" is the SPEC's word flip; "flip = no" says nothing. */
static bool is_flag(const char *key)
{
    struct scps_link_config a, b;

    return scps_link_parse(key, &a, &b, NULL, 0) == 0;
}

static bool build_link(struct building *b, struct lab_link *l)
{
    const struct lab_set *set = last(b, l->name, "preset");
    struct scps_link_files files = {read_file, file_done, b->sc->path};
    struct lab_str spec = {0};
    char why[LAB_MSGLEN];
    struct dotted d;
    bool ok;

    lab_add(&spec, "%s", set ? set->value : "geo");
    for (size_t i = 0; i < b->n; i++) {
        const char *value = b->set[i]->value;
        const struct key *k;

        if (!split(b->set[i]->key, &d) || *d.kind != 'l' || last(b, l->name, d.key) != b->set[i])
            continue;
        k = find(link_keys, LINK_KEYS, d.key);
        if (k) {
            if (strcmp(k->name, "preset") != 0 && !put(k, d.kind, value, l, why)) {
                lab_free(&spec);
                return fail(b, b->set[i], why);
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
    set = NULL;
    for (size_t i = 0; !ok && i < b->n; i++) { /* whose KEY=VALUE does the message name? */
        char pair[LAB_MSGLEN];
        if (!split(b->set[i]->key, &d) || *d.kind != 'l')
            continue;
        snprintf(pair, sizeof pair, "%s=%s", d.key, b->set[i]->value);
        if (strstr(why, pair))
            set = b->set[i];
    }
    snprintf(l->spec, sizeof l->spec, "%s", spec.p);
    lab_free(&spec);
    if (!ok)
        return fail(b, set, why);
    if (l->mtu < 68 || l->mtu > 65535)
        return fail(b, last(b, l->name, "mtu"), "link.mtu: from 68 to 65535");
    return strcmp(l->a, l->b) != 0 || fail(b, NULL, "link: its two hosts are one");
}

/* With a full packet on the way and a small one back: on a slow line they take longer than the
 * distance. */
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
    struct dotted d;

    for (size_t i = 0; i < b->n; i++) {
        if (!split(b->set[i]->key, &d) || *d.kind != 'f' ||
            (*d.name && strcmp(d.name, f->name) != 0))
            continue;
        if (!put_flow(d.key, b->set[i]->value, f, why))
            return fail(b, b->set[i], why);
    }
    for (f->link = 0; *f->link_name && f->link < b->s->nlinks; f->link++)
        if (strcmp(b->s->link[f->link].name, f->link_name) == 0)
            break;
    if (f->link == b->s->nlinks) {
        snprintf(why, sizeof why, "flow %s: there is no [link %s]", f->name, f->link_name);
        return fail(b, NULL, why);
    }
    l = &b->s->link[f->link];
    if (f->copies < 1 || f->copies > 1000)
        return fail(b, NULL, "flow.copies: from 1 to 1000");
    if (f->size == 0 && f->time == 0)
        return fail(b, NULL, "flow.size: at least a byte");
    if (f->time != 0)
        f->size = UINT64_MAX;
    rate = f->rate_bps;
    if (f->host_bps != 0 && (rate == 0 || rate > f->host_bps))
        rate = f->host_bps;
    f->conn.rate = rate / 8;
    if (f->conn.cc->needs_rate && f->conn.rate == 0) {
        snprintf(why, sizeof why, "flow %s: cc = %s needs a rate", f->name, f->conn.cc->name);
        return fail(b, NULL, why);
    }
    f->conn.rate_overhead = (f->back ? l->back : l->fwd).overhead;
    f->conn.records = f->record != 0;
    if (f->payload != 0) {
        uint32_t mss = f->payload + (f->conn.timestamps ? TS_OPTION : 0);
        if (mss < 64 || mss + (l->ipv6 ? 60 : 40) > l->mtu) {
            snprintf(why, sizeof why,
                     "flow.payload = %u: with headers more than the link's mtu %u, or too small",
                     f->payload, l->mtu);
            return fail(b, NULL, why);
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
    struct building b = {sc, set, n, lab_alloc(sizeof(struct lab_setup)), msg};
    bool ok = true;

    b.s->timeout = sc->timeout;
    make_all(&b);
    for (size_t i = 0; ok && i < n; i++) { /* a name that no section has */
        struct dotted d;
        size_t had = b.s->nlinks + b.s->nflows;
        if (!split(set[i]->key, &d) || !*d.name)
            continue;
        (void)(*d.kind == 'l' ? (void *)link_of(b.s, d.name) : (void *)flow_of(b.s, d.name));
        if (b.s->nlinks + b.s->nflows != had) {
            char why[LAB_MSGLEN];
            snprintf(why, sizeof why, "%s: there is no [%s %s]", set[i]->key, d.kind, d.name);
            ok = fail(&b, set[i], why);
        }
    }
    for (size_t i = 0; ok && i < b.s->nlinks; i++)
        ok = build_link(&b, &b.s->link[i]);
    for (size_t i = 0; ok && i < b.s->nflows; i++)
        ok = build_flow(&b, &b.s->flow[i]);
    ok = ok && check_model(&b);
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
