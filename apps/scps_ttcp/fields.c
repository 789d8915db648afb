/* SPDX-License-Identifier: MIT */
/* Options that are one field each of the connection's configuration (<scps/conn.h>): a row names the field, what the
 * option takes, and from where to where.
 *
 * They are stronger than whatever follows from the link.  --json says each of them as it is in force.
 */
#include "scps_ttcp/option_table.h"

#include "common/field.h"
#include "scps_ttcp/units.h"

#include <stddef.h>
#include <string.h>

#define SPAN_MAX ((uint64_t)SCPS_SEC(INT64_C(100) * 365 * 86400)) /* what a configuration takes */

#define FIELD(f) offsetof(struct scps_conn_config, f), sizeof(((struct scps_conn_config *)0)->f)
#define ON(f)    NULL, TTCP_ON, FIELD(f), 0, 1, NULL
#define OFF(f)   NULL, TTCP_OFF, FIELD(f), 0, 1, NULL
#define SPAN(f)                                                                                    \
    "SEC", TTCP_SPAN, FIELD(f), 1, SPAN_MAX, "seconds, or a number with us, ms, s, min or h"
#define BYTES(f)                 "N", TTCP_BYTES, FIELD(f), 256, 1u << 30, "bytes, 256 to 1G"
#define COUNT(f, min, max, what) "N", TTCP_COUNT, FIELD(f), min, max, what ", " #min " to " #max

const struct ttcp_field ttcp_fields[] = {
    {"initial-window", COUNT(init_cwnd_segs, 0, 65535, "the segments of the first window"),
     "first window, segments; 0: RFC 6928 (0)"},
    {"pacing", ON(pacing), "spread a window over the round trip, as -F 0 does always"},
    {"sndbuf", BYTES(sndbuf), "send buffer alone, bytes (-b)"},
    {"rcvbuf", BYTES(rcvbuf), "receive buffer alone, bytes (-b)"},
    {"ttl", COUNT(ttl, 1, 255, "the time to live"), "IP time to live (64)"},
    {"df-off", ON(df_off), "no path-MTU discovery: the DF bit stays clear"},
    {"no-wscale", OFF(wscale), "no window scaling: windows of 64K at most"},
    {"no-dsack", OFF(dsack), "no SACK of what came twice (RFC 2883)"},
    {"ecn", ON(ecn), "offer and accept ECN (RFC 3168)"},
    {"no-snack-long", OFF(snack_long), "SNACK in its short form only: a hole a report"},
    {"snack-raw-unit", ON(snack_raw_unit),
     "SNACKs count in the bare MSS, not less the 12 octets of timestamps"},
    {"snack-delay", SPAN(snack_delay),
     "after a SNACK wait so long with the repair, for what is only late (0)"},
    {"no-corruption", OFF(corruption), "do not tell the peer of damage (option 23)"},
    {"corruption-hold", SPAN(corruption_hold),
     "losses are corruption so long after the peer told of damage (2 timeouts)"},
    {"caps-tries", COUNT(caps_tries, 0, 255, "a number of SYNs"),
     "SYNs with capabilities before they are left out; 0: they never are (3)"},
    {"bets-legacy", ON(bets_legacy),
     "-E: offer it with the option from before capabilities (kind 16), too"},
    {"no-limited-transmit", OFF(limited_transmit),
     "no new data on the first two duplicate acknowledgements (RFC 3042)"},
    {"no-undo", OFF(spurious_undo), "windows stay down after a repair that proves spurious"},
    {"quick-acks", COUNT(quick_acks, 0, 65535, "a number of segments"),
     "-F 2: the first N segments are acknowledged one by one (0)"},
    {"rto-initial", SPAN(rto_initial),
     "retransmission timeout before the first sample (1, or --rtt and --rto-min)"},
    {"rto-min", SPAN(rto_min),
     "its least margin above the smoothed round trip (0.2, or --rtt / 4 and -a)"},
    {"rto-max", SPAN(rto_max), "its longest (60, at least 8 x --rtt)"},
    {"persist-max", SPAN(persist_max), "longest time between window probes (--rto-max)"},
    {"syn-retries", COUNT(syn_retries, 0, 255, "how often a SYN is resent"),
     "a SYN is resent as long as N timeouts from 1 s take, doubling (7: 3 minutes)"},
    {"data-retries", COUNT(data_retries, 0, 255, "how often a segment is resent"),
     "wait for a silent peer as long as N timeouts take, doubling; 100 s or more (15)"},
    {"outage-after", COUNT(outage_after, 0, 255, "a number of timeouts"),
     "after N timeouts in a row the next means an outage: probes, no end; 0: never (0)"},
    {"user-timeout", SPAN(user_timeout),
     "end when nothing was acknowledged for so long, whatever the retries (RFC 5482)"},
    {"keepalive", ON(keepalive), "probe a silent peer, and end when it does not answer"},
    {"keep-idle", SPAN(keep_idle), "--keepalive: after so long a silence (2h)"},
    {"keep-interval", SPAN(keep_interval), "--keepalive: time between probes (75)"},
    {"keep-count", COUNT(keep_count, 1, 255, "a number of probes"),
     "--keepalive: unanswered probes that end it (9)"},
};

_Static_assert(sizeof(ttcp_fields) / sizeof(ttcp_fields[0]) <= TTCP_MAX_FIELDS, "no room");
const size_t ttcp_nfields = sizeof(ttcp_fields) / sizeof(ttcp_fields[0]);

static bool in_range(const struct ttcp_field *f, uint64_t v)
{
    return v >= f->min && v <= f->max;
}

int ttcp_take_field(struct ttcp_options *o, size_t i, const char *arg, char msg[TTCP_MSGLEN])
{
    const struct ttcp_field *f = &ttcp_fields[i];
    scps_dur span;
    uint64_t v = 0;
    bool good = true;

    switch (f->kind) {
    case TTCP_ON:
    case TTCP_OFF:
        v = f->kind == TTCP_ON;
        break;
    case TTCP_COUNT:
        good = units_number(arg, f->min, f->max, &v) == 0;
        break;
    case TTCP_BYTES:
        good = units_size(arg, &v) == 0 && in_range(f, v);
        break;
    case TTCP_SPAN:
        good = units_time(arg, &span) == 0 && in_range(f, (uint64_t)span);
        v = good ? (uint64_t)span : 0;
        break;
    }
    if (!good)
        return FAIL("--%s %.40s: give %s", f->name, arg, f->allowed);
    o->field[i] = (struct ttcp_set){true, v};
    return 0;
}

bool ttcp_field_given(const struct ttcp_options *o, const char *name)
{
    for (size_t i = 0; i < ttcp_nfields; i++)
        if (strcmp(ttcp_fields[i].name, name) == 0)
            return o->field[i].given;
    return false;
}

void ttcp_fields_apply(const struct ttcp_options *o, struct scps_conn_config *c)
{
    for (size_t i = 0; i < ttcp_nfields; i++)
        if (o->field[i].given)
            field_put((char *)c + ttcp_fields[i].at, ttcp_fields[i].size, o->field[i].value);
}

uint64_t ttcp_field_value(const struct ttcp_field *f, const struct scps_conn_config *c)
{
    return field_get((const char *)c + f->at, f->size);
}
