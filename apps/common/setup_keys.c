/* SPDX-License-Identifier: MIT */
/* The keys that the sections [link] and [flow] of a scenario file may set (scps_scenario(5)), and
 * the meaning of their values.
 *
 * Most keys of a link are those of a link SPEC, a text such as "geo,rate=2mbit,ber=1e-6", which
 * setup.c composes from them and parses with scps_link_parse(); link_keys below lists the others.
 * The keys of a flow are the settings of its connections (flow_settings.h) and those in the table
 * flow_keys below: name, type of the value, field.
 */
#include "common/setup_keys.h"

#include "common/field.h"
#include "common/flow_settings.h"
#include "common/plugin.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum reader {
    NAME,
    SIZE,
    BPS,
    SPAN,
    RANGE,
    YESNO,
    U32,
    ENUM,
    SHARE,
    CONTROLLER,
    PLUGIN,
    BUFFER /* the key sets the sizes of the send and the receive buffer, of both ends */
};

struct key {
    const char *name;
    enum reader reader;
    size_t at;
    /* values: which values the key accepts, as text for the message about a wrong value and for
     * 'scps_lab keys'; for ENUM, which accepts one of several words, these words with blanks
     * between them, in the order of their numbers from 0. help: what the key means, for 'scps_lab
     * keys'. */
    const char *values, *help;
};

#define NAME_VALUES "NAME of letters, digits, - and _"
#define FLOW(f)     offsetof(struct lab_flow, f)

static const struct key flow_keys[] = {
    {"link", NAME, FLOW(link_name), NAME_VALUES, "link that the flow uses; default: the first one"},
    {"reverse", YESNO, FLOW(back), "yes no",
     "data goes from host b of the link to host a; default no"},
    {"copies", U32, FLOW(copies), "1 to 1000", "number of identical flows; default 1"},
    {"start", RANGE, FLOW(start), "TIME, or SHORTER..LONGER TIME",
     "time at which the flow starts, or a range from which it is drawn; default 0"},
    {"stagger", RANGE, FLOW(stagger), "TIME, or SHORTER..LONGER TIME",
     "time from the start of each copy to the next one; default 0..100ms"},
    {"size", SIZE, FLOW(size), "BYTES, k m g kb mb gb: 1000; K M G kib mib gib: 1024",
     "bytes to send; default 1mb"},
    {"time", SPAN, FLOW(time), "TIME",
     "send for this time instead of `size` bytes, and measure what arrived"},
    {"cc", CONTROLLER, 0, "NAME[,KEY=VALUE...]",
     "congestion controller with its parameters, as for scps_ttcp --cc"},
    {"cc-plugin", PLUGIN, 0, "FILE.so[,KEY=VALUE...]",
     "congestion controller from a shared object, as for scps_ttcp --cc-plugin"},
    {"path-state", NAME, FLOW(path), NAME_VALUES,
     "careful resume (RFC 9959): begin with the path state of the last flow with this word"},
    {"rate", BPS, FLOW(rate_bps), "BIT/S, kbit mbit gbit; 0: none",
     "rate limit of the sender, headers and framing counted"},
    {"host-rate", BPS, FLOW(host_bps), "BIT/S, kbit mbit gbit; 0: none",
     "highest rate at which the sending host can emit packets"},
    {"app-rate", BPS, FLOW(app_bps), "BIT/S, kbit mbit gbit; 0: as fast as it can",
     "rate at which the application writes"},
    {"app-from", SPAN, FLOW(app_from), "TIME",
     "time after the start from which app-rate applies; default 0"},
    {"app-until", SPAN, FLOW(app_until), "TIME; 0: for ever",
     "time after the start until which app-rate applies; default 0"},
    {"buffer", BUFFER, 0, "BYTES, 256 to 1gib",
     "size of the send and the receive buffer at both ends"},
    {"first-window", YESNO, FLOW(first_window), "yes no",
     "assume the size of the buffer as the peer's first window; default no"},
    {"payload", U32, FLOW(payload), "BYTES; 0: from the MTU", "payload of a full segment"},
    {"record", U32, FLOW(record), "BYTES; 0: no records",
     "mark the end of a record after this many bytes"},
    {"expected-rtt", SPAN, FLOW(rtt_hint), "TIME; 0: no hint",
     "expected round trip of the connections; default: the link's"},
    {"model", ENUM, FLOW(kind), "stream nack",
     "stream: TCP; nack: a model of file transfer by negative acknowledgements; default stream"},
    {"headers", U32, FLOW(headers), "BYTES",
     "nack: headers and framing of each packet; default 70"},
    {"receiver-rate", BPS, FLOW(receiver_bps), "BIT/S, kbit mbit gbit; 0: any",
     "nack: rate at which the receiving host can process packets"},
    {"receiver-interrupts", SHARE, FLOW(receiver_interrupts), "0 to 1",
     "nack: share of its time for a packet that the receiver spends even if it drops it"},
    {"receiver-buffer", SIZE, FLOW(receiver_buffer), "BYTES",
     "nack: size of the receiver's socket buffer; default 8192"},
    {"nack-wait", RANGE, FLOW(nack_wait), "TIME, or SHORTER..LONGER TIME",
     "nack: time from the end of a pass to the NACK that lists holes; default 0"},
    {"done-wait", RANGE, FLOW(done_wait), "TIME, or SHORTER..LONGER TIME",
     "nack: time from the end of the last pass to the NACK without holes; default 0"},
};
#define FLOW_KEYS (sizeof flow_keys / sizeof *flow_keys)

#define LINK(f) offsetof(struct lab_link, f)

static const struct key link_keys[] = {
    {"preset", NAME, 0, "NAME",
     "preset from which the values of keys that are not given come; default geo"},
    {"a", NAME, LINK(a), NAME_VALUES, "name of the host at the link's first end; default: sender"},
    {"b", NAME, LINK(b), NAME_VALUES,
     "name of the host at the link's second end; default: receiver"},
    {"mtu", U32, LINK(mtu), "68 to 65535",
     "largest IP packet, bytes; with ipv6 at least 1280; default 1500"},
    {"ipv6", YESNO, LINK(ipv6), "yes no", "the hosts have IPv6 addresses; default no"},
    {"vj-compression", YESNO, LINK(vj), "yes no",
     "header compression of RFC 1144, as on PPP lines; default no"},
};
#define LINK_KEYS (sizeof link_keys / sizeof *link_keys)

static const struct key *find_key(const struct key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

/* ---- functions that parse one type of value each ---- */

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

/* ---- functions that parse the value of a key as the row of the key in its table says ---- */

static bool load_controller(const char *text, struct scps_conn_config *c, char why[LAB_MSGLEN])
{
    const struct scps_cc_ops *cc;
    int64_t param[SCPS_CC_PARAMS];

    if (!plugin_load(text, &cc, param, why, LAB_MSGLEN))
        return false;
    scps_conn_config_set_cc(c, cc, param);
    return true;
}

/* Parses text as the value of key k into the key's field of *base. Returns false if the text is
 * invalid. If more can be said about the error than which values the key takes, writes that to why;
 * otherwise leaves why unchanged. */
static bool read_value(const struct key *k, const char *text, void *base, char why[LAB_MSGLEN])
{
    void *to = (char *)base + k->at;
    struct lab_flow *f = base;
    int i;

    switch (k->reader) {
    case NAME:
        return lab_is_name(text) && (strcpy(to, text), true);
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
        memcpy(to, &i, sizeof i); /* enumerations are stored as int */
        return true;
    case SHARE:
        return lab_real(text, to) && *(double *)to >= 0 && *(double *)to <= 1;
    case CONTROLLER:
        return scps_conn_config_parse_cc(&f->conn, text, why, LAB_MSGLEN) == 0;
    case PLUGIN:
        return load_controller(text, &f->conn, why);
    case BUFFER:
        return flow_setting_read(SETTING_sndbuf, text, &f->conn) &&
               flow_setting_read(SETTING_rcvbuf, text, &f->conn);
    }
    return false;
}

static bool put_value(const struct key *k, const char *kind, const char *text, void *base,
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

bool lab_key_put_flow(const char *key, const char *text, struct lab_flow *f, char why[LAB_MSGLEN])
{
    enum setting_id id = flow_setting(key);

    if (id != SETTINGS)
        return flow_setting_put(id, text, &f->conn, why);
    return put_value(find_key(flow_keys, FLOW_KEYS, key), "flow", text, f, why);
}

/* ---- functions that split dotted keys, such as link.rtt ---- */

bool lab_key_split(const char *text, struct lab_dotted *d)
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

bool lab_key_is_link(const char *name)
{
    return find_key(link_keys, LINK_KEYS, name) != NULL;
}

bool lab_key_put_link(const char *name, const char *text, struct lab_link *l, char why[LAB_MSGLEN])
{
    return put_value(find_key(link_keys, LINK_KEYS, name), "link", text, l, why);
}

bool lab_is_name(const char *text)
{
    size_t n = 0;

    for (; text[n]; n++)
        if ((!isalnum((unsigned char)text[n]) && !strchr("-_", text[n])) || n + 1 >= LAB_NAME)
            return false;
    return n > 0;
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
    return !name || *name == '\0' || lab_is_name(name);
}

static void list_keys(const struct key *keys, size_t n, struct lab_str *s)
{
    for (size_t i = 0; i < n; i++)
        lab_add(s, " %s", keys[i].name);
}

/* Returns true if a link's description (SPEC) may contain `key`. Otherwise returns false and writes
 * to why which keys a description may contain. */
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
    struct lab_dotted d;

    if (!lab_key_split(key, &d)) {
        snprintf(why, LAB_MSGLEN, "'%s' is no key; keys look like link.rtt or flow.NAME.size", key);
        return false;
    }
    if (strcmp(d.kind, "link") == 0) {
        k = find_key(link_keys, LINK_KEYS, d.key);
        if (k && strcmp(k->name, "preset") != 0)
            return put_value(k, d.kind, value, &link, why);
        return k || spec_knows(d.key, value, why);
    }
    if (flow_setting(d.key) != SETTINGS || find_key(flow_keys, FLOW_KEYS, d.key))
        return lab_key_put_flow(d.key, value, &flow, why);
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
