/* SPDX-License-Identifier: MIT */
/* Refuses keys of links and flows that contradict each other, and a key that has no effect because
 * of the value of another key: the result would not be what the scenario file says. */
#include "common/setup_pairs.h"

#include "common/flow_settings.h"
#include "common/setup_keys.h"

#include <string.h>

/* Rank of the place in which a scenario sets a key; a setting of higher rank overrides those of
 * lower rank. From the lowest: nowhere, so the key has its default; section [link] or [flow];
 * section [link NAME] or [flow NAME]; values in [sweep]; section [case], whose settings apply only
 * to the cells (combinations of swept values) that fulfil its condition: the i-th one, from 0, has
 * rank PLACE_CASES + i. The options --set of the command line rank above all cases, in their
 * order. */
enum place { PLACE_DEFAULT, PLACE_ALL, PLACE_NAMED, PLACE_SWEEP, PLACE_CASES };

const struct lab_set *lab_applied_last(const struct lab_applied *a, char kind, const char *name,
                                       const char *key)
{
    const struct lab_set *found = NULL;
    struct lab_dotted d;

    for (size_t i = 0; i < a->n; i++)
        if (lab_key_split(a->set[i]->key, &d) && *d.kind == kind && strcmp(d.key, key) == 0 &&
            (!*d.name || strcmp(d.name, name) == 0))
            found = a->set[i];
    return found;
}

/* Returns the index of setting s in the list sets; sets->n: the list does not contain it. */
static size_t index_in(const struct lab_sets *sets, const struct lab_set *s)
{
    size_t i = 0;

    while (i < sets->n && &sets->v[i] != s)
        i++;
    return i;
}

/* Returns the rank of the place where the scenario sets s (enum place): for a setting in the i-th
 * section [case], from 0, PLACE_CASES + i; for the k-th option --set, from 0, PLACE_CASES + number
 * of cases + k. s NULL: the key is set nowhere, so the result is PLACE_DEFAULT. */
static size_t place_of(const struct lab_scenario *sc, const struct lab_set *s)
{
    struct lab_dotted d;

    if (!s)
        return PLACE_DEFAULT;
    if (index_in(&sc->base, s) < sc->base.n)
        return lab_key_split(s->key, &d) && *d.name ? PLACE_NAMED : PLACE_ALL;
    for (size_t i = 0; i < sc->ncases; i++)
        if (index_in(&sc->cases[i].sets, s) < sc->cases[i].sets.n)
            return PLACE_CASES + i;
    if (index_in(&sc->over, s) < sc->over.n)
        return PLACE_CASES + sc->ncases + index_in(&sc->over, s);
    return PLACE_SWEEP;
}

static bool has_key(const char *text, const char *key, bool named)
{
    struct lab_dotted d;

    return lab_key_split(text, &d) && *d.kind == 'f' && strcmp(d.key, key) == 0 &&
           (!named || *d.name);
}

/* Returns true if the scenario may give a key of flows different values for different flows or in
 * different cells (combinations of swept values): if [sweep] lists values for the key, or a section
 * [case] or [flow NAME] sets it. */
static bool varies(const struct lab_scenario *sc, const char *key)
{
    for (size_t i = 0; i < sc->base.n; i++)
        if (has_key(sc->base.v[i].key, key, true))
            return true;
    for (size_t i = 0; i < sc->naxes; i++)
        if (has_key(sc->axis[i].key, key, false))
            return true;
    for (size_t i = 0; i < sc->ncases; i++)
        for (size_t k = 0; k < sc->cases[i].sets.n; k++)
            if (has_key(sc->cases[i].sets.v[k].key, key, false))
                return true;
    return false;
}

/* ---- keys of a flow that have no effect because of the value of another key ---- */

struct pairs {
    const struct lab_applied *a;
    const struct lab_set **blame;
    char *why;
};

/* Called when the settings of a cell (one combination of swept values) contradict each other, so
 * that the scenario is refused: records `set` as the setting whose line the message will name, and
 * writes text to p->why. Returns false. */
static bool refuse(const struct pairs *p, const struct lab_set *set, const char *text)
{
    *p->blame = set;
    snprintf(p->why, LAB_MSGLEN, "%s", text);
    return false;
}

/* Called when a setting of a cell (one combination of swept values) is wrong, so that the scenario
 * is refused: records `set` as the setting whose line the message will name, and writes the
 * setting's key, a blank and text to p->why. Returns false. */
static bool refuse_key(const struct pairs *p, const struct lab_set *set, const char *text)
{
    *p->blame = set;
    snprintf(p->why, LAB_MSGLEN, "%s %s", set->key, text);
    return false;
}

/* Called for a setting `set` of flow `name` that has no effect in this cell (combination of swept
 * values) because of the value of the key `decider` of the flow. Returns true if `set` is accepted
 * nevertheless, which it is in two cases. 1: `decider` is set in a place of higher rank than `set`
 * (enum place), for example `set` in [flow] and `decider` in a [case], which applies only to some
 * cells. 2: `set` comes from a section [flow] or [flow NAME], which applies to every cell, and
 * `decider` differs between cells or flows (varies()). Otherwise refuses `set` with text and
 * returns false. */
static bool idle(const struct pairs *p, const char *name, const struct lab_set *set,
                 const char *decider, const char *text)
{
    const struct lab_scenario *sc = p->a->sc;
    size_t at = place_of(sc, set);

    if (place_of(sc, lab_applied_last(p->a, 'f', name, decider)) > at ||
        (at < PLACE_SWEEP && varies(sc, decider)))
        return true;
    return refuse_key(p, set, text);
}

static bool is_one_of(const char *key, const char *words)
{
    char word[64];

    while (lab_item(&words, ' ', word, sizeof word))
        if (strcmp(word, key) == 0)
            return true;
    return false;
}

/* Keys of a flow with "model = nack" (a model of a file transfer with negative acknowledgements,
 * not TCP): nack_shared: all that have an effect; nack_only: those without an effect on TCP
 * flows. */
static const char nack_shared[] =
    "link reverse copies size time rate host-rate payload model headers receiver-rate "
    "receiver-interrupts receiver-buffer nack-wait done-wait";
static const char nack_only[] =
    "headers receiver-rate receiver-interrupts receiver-buffer nack-wait done-wait";

/* Checks that key `key` of flow f, whose value is that of `set`, has an effect with the values of
 * the flow's other keys. Returns false, with the reason in p->why, if it has none. */
static bool check_key(const struct pairs *p, const struct lab_flow *f, const char *key,
                      const struct lab_set *set)
{
    const struct {
        const char *keys, *decider;
        bool idle;
        const char *text;
    } rows[] = {
        {nack_only, "model", f->kind == LAB_STREAM,
         "has no effect on a TCP connection: give flow.model = nack, or leave it out"},
        {"receiver-interrupts receiver-buffer", "receiver-rate", f->receiver_bps == 0,
         "has no effect without flow.receiver-rate: give that, or leave it out"},
        {"size", "time", f->time != 0,
         "has no effect with flow.time: leave out one of them, or give flow.time = 0"},
        {"stagger", "copies", f->copies == 1,
         "has no effect on a single flow: give flow.copies, or leave it out"},
        {"app-from app-until", "app-rate", f->app_bps == 0,
         "has no effect without flow.app-rate: give that, or leave it out"},
        {"path-state", "cc", f->conn.cc->needs_rate,
         "has no effect with pure rate control, which has no window: leave it out"},
        {"mss", "payload", f->payload != 0,
         "has no effect with flow.payload: leave out one of them"},
    };

    if (f->kind == LAB_NACK && !is_one_of(key, nack_shared) &&
        !idle(p, f->name, set, "model", "has no effect with flow.model = nack: leave it out"))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].idle && is_one_of(key, rows[i].keys) &&
            !idle(p, f->name, set, rows[i].decider, rows[i].text))
            return false;
    return true;
}

/* Returns true if text, as the value of connection setting id, makes a flag true, or gives any
 * other setting a value that is not its default. */
static bool asks(enum setting_id id, const char *text)
{
    struct scps_conn_config c = flow_settings_begin();
    int64_t begins = setting_get(&settings[id], &c);

    if (!flow_setting_read(id, text, &c))
        return false;
    return setting_get(&settings[id], &c) != (settings[id].kind == FLAG ? 0 : begins);
}

/* Checks that setting id of a flow's connections, which `set` sets, has an effect, because another
 * setting on which it depends is on. Returns false, with the reason in p->why, if it has none. */
static bool check_setting(const struct pairs *p, const struct lab_flow *f, enum setting_id id,
                          const struct lab_set *set)
{
    const char *with = settings[id].with;
    enum setting_id other = with ? setting_find(with, strlen(with)) : SETTINGS;
    char text[LAB_MSGLEN], name[SETTING_NAME];

    if (!asks(id, set->value))
        return true;
    if (id == SETTING_quick_acks && f->conn.ack_mode != SCPS_ACK_OTHER)
        return idle(p, f->name, set, "ack",
                    "has an effect with flow.ack = other only: leave out one of them");
    if (id == SETTING_holes_at_once && f->conn.ack_mode != SCPS_ACK_DELAYED)
        return idle(p, f->name, set, "ack",
                    "has an effect with flow.ack = delayed only, as other modes always do so: give "
                    "that, or leave it out");
    if (other == SETTINGS || setting_get(&settings[other], &f->conn) != 0)
        return true;
    snprintf(text, sizeof text, "has no effect with flow.%s = no: leave it out, or give yes",
             setting_dashed(&settings[other], name));
    return idle(p, f->name, set, name, text);
}

/* ---- keys of a flow or link that contradict each other, wherever the scenario sets them ---- */

/* Returns the setting of key `one` or `two` of flow `name`, whichever is applied later, so that a
 * message can name its line; NULL: the scenario sets neither. */
static const struct lab_set *later(const struct pairs *p, const char *name, const char *one,
                                   const char *two)
{
    const struct lab_set *a = lab_applied_last(p->a, 'f', name, one),
                         *b = lab_applied_last(p->a, 'f', name, two);

    for (size_t i = p->a->n; i-- > 0;)
        if (p->a->set[i] == a || p->a->set[i] == b)
            return p->a->set[i];
    return NULL;
}

/* For two keys of flow `name` of which the one that is applied later overrides the one before:
 * returns the setting of key `key` if the scenario sets `key` and `other` in the same place (such
 * as the same section) and `other` is applied later; otherwise NULL. */
static const struct lab_set *overridden(const struct pairs *p, const char *name, const char *key,
                                        const char *other)
{
    const struct lab_set *a = lab_applied_last(p->a, 'f', name, key),
                         *b = lab_applied_last(p->a, 'f', name, other);

    if (!a || !b || place_of(p->a->sc, a) != place_of(p->a->sc, b))
        return NULL;
    for (size_t i = 0; i < p->a->n; i++)
        if (p->a->set[i] == a || p->a->set[i] == b)
            return p->a->set[i] == a ? a : NULL;
    return NULL;
}

static bool check_flow(const struct pairs *p, const struct lab_flow *f)
{
    const struct scps_conn_config *c = &f->conn;
    const struct lab_set *set;
    struct lab_dotted d;

    for (size_t i = 0; i < p->a->n; i++) {
        set = p->a->set[i];
        if (!lab_key_split(set->key, &d) || *d.kind != 'f' ||
            lab_applied_last(p->a, 'f', f->name, d.key) != set)
            continue;
        if (!check_key(p, f, d.key, set) ||
            (flow_setting(d.key) != SETTINGS && !check_setting(p, f, flow_setting(d.key), set)))
            return false;
    }
    if (c->recovery == SCPS_RECOVERY_RACK && !c->sack)
        return refuse(p, later(p, f->name, "recovery", "sack"),
                      "flow.recovery = rack needs SACK (RFC 8985 section 4): leave out flow.sack = "
                      "no, or that");
    if (c->rto_max != 0 && c->rto_min > c->rto_max)
        return refuse(p, later(p, f->name, "rto-min", "rto-max"),
                      "flow.rto-min is above flow.rto-max: swap them");
    if (f->app_until != 0 && f->app_until <= f->app_from)
        return refuse(p, later(p, f->name, "app-from", "app-until"),
                      "flow.app-until is not after flow.app-from: give a later time");
    if ((set = overridden(p, f->name, "cc", "cc-plugin")) ||
        (set = overridden(p, f->name, "cc-plugin", "cc")))
        return refuse(p, set,
                      "flow.cc and flow.cc-plugin both give a controller: leave out one of "
                      "them");
    if ((set = overridden(p, f->name, "sndbuf", "buffer")) ||
        (set = overridden(p, f->name, "rcvbuf", "buffer")))
        return refuse_key(p, set,
                          "has no effect before flow.buffer, which sets both buffers: give it "
                          "behind that");
    return true;
}

/* Checks key `key` of link l, which must not be set while the condition `is` is true. If `is` is
 * true and the scenario sets the key, refuses the scenario with a message of the key's name and
 * text, and returns false; otherwise returns true. */
static bool check_link_flag(const struct pairs *p, const struct lab_link *l, const char *key,
                            bool is, const char *text)
{
    const struct lab_set *set = lab_applied_last(p->a, 'l', l->name, key);

    return !is || !set || refuse_key(p, set, text);
}

bool lab_pairs_agree(const struct lab_applied *a, const struct lab_setup *s,
                     const struct lab_set **blame, char why[LAB_MSGLEN])
{
    const struct pairs p = {a, blame, why};

    for (size_t i = 0; i < s->nflows; i++)
        if (!check_flow(&p, &s->flow[i]))
            return false;
    for (size_t i = 0; i < s->nlinks; i++) {
        const struct lab_link *l = &s->link[i];
        bool nack = s->flow[0].kind == LAB_NACK;
        bool disorder =
            l->fwd.dup > 0 || l->back.dup > 0 || l->fwd.reorder > 0 || l->back.reorder > 0;

        if (!check_link_flag(&p, l, "vj-compression", l->vj && l->ipv6,
                             "compresses IPv4 only (RFC 1144): leave out this key or link.ipv6") ||
            /* Van Jacobson compression sends differences to the header before. If a packet is
             * duplicated, the receiver adds its differences twice, and the TCP checksum may not
             * detect that, for example +204 in the acknowledgement number and -204 in the
             * window. */
            !check_link_flag(&p, l, "vj-compression", l->vj && disorder,
                             "is for lines that keep the order of packets (RFC 1661 section 1): "
                             "leave out this key, or dup and reorder") ||
            !check_link_flag(&p, l, "vj-compression", l->vj && nack,
                             "has no effect with flow.model = nack: leave it out") ||
            !check_link_flag(&p, l, "ipv6", l->ipv6 && nack,
                             "has no effect with flow.model = nack: leave it out"))
            return false;
    }
    return true;
}
