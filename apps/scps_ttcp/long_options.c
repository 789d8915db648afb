/* SPDX-License-Identifier: MIT */
/* The table of the long options of scps_ttcp, and the functions that apply them. short_options.c
 * has the one-letter options, which are those of ttcp. */
#include "common/completion.h"
#include "common/qlog.h"
#include "scps_ttcp/option_table.h"

#include "scps_ttcp/units.h"

#include <string.h>

static int take_span(scps_dur *out, const char *name, const char *arg, char msg[TTCP_MSGLEN])
{
    if (units_time(arg, out) != 0)
        return FAIL("--%s %s: give seconds, or a number with us, ms, s, min or h", name, arg);
    return 0;
}

TAKE(take_time)
{
    return take_span(&o->time, "time", arg, msg);
}

TAKE(take_interval)
{
    return take_span(&o->interval, "interval", arg, msg);
}

TAKE(take_timeout)
{
    return take_span(&o->timeout, "timeout", arg, msg);
}

TAKE(take_link)
{
    if (arg[0] == '\0')
        return FAIL("--link '': give a preset of --list-links or key=value, such as geo,ber=1e-6");
    o->link = true;
    o->link_spec = arg;
    return 0;
}

TAKE(take_seed)
{
    if (units_number(arg, 0, UINT64_MAX, &o->seed) != 0)
        return FAIL("--seed %s: give a whole number", arg);
    o->seed_set = true;
    return 0;
}

TAKE(take_cc)
{
    o->cc_given = o->cc_by[0] = true;
    return ttcp_choose_cc(o, "--cc", arg, msg);
}

TAKE(take_compare)
{
    if (arg[0] == '\0')
        return FAIL("--compare: give controllers, such as vj,cubic,vegas");
    o->compare = arg;
    return 0;
}

TAKE(take_reverse)
{
    UNUSED;
    o->reverse = true;
    return 0;
}

TAKE(take_bidir)
{
    UNUSED;
    o->bidir = true;
    return 0;
}

TAKE(take_server)
{
    UNUSED;
    o->server = true;
    return 0;
}

TAKE(take_tell)
{
    UNUSED;
    o->tell = true;
    return 0;
}

TAKE(take_cc_plugin)
{
    return ttcp_load_cc(o, arg, msg);
}

/* Sets *name to arg, the file name that `option` gives. Returns 0, or -1 with one line in msg if it
 * is empty. */
static int take_file(const char *option, const char *arg, const char **name, char *msg)
{
    if (!*arg)
        return FAIL("%s: an empty name is none: give a file", option);
    *name = arg;
    return 0;
}

TAKE(take_output)
{
    return take_file("--output", arg, &o->output, msg);
}

TAKE(take_pcap)
{
    return take_file("--pcap", arg, &o->pcap, msg);
}

TAKE(take_pcap_peer)
{
    return take_file("--pcap-peer", arg, &o->pcap_peer, msg);
}

TAKE(take_qlog)
{
    const char *why = qlog_refuses(arg);

    if (why != NULL)
        return FAIL("--qlog '%.200s': %s", arg, why);
    o->qlog = arg;
    return 0;
}

TAKE(take_path_state)
{
    return take_file("--path-state", arg, &o->path_state, msg);
}

TAKE(take_truth)
{
    return take_file("--truth", arg, &o->truth, msg);
}

TAKE(take_json)
{
    UNUSED;
    o->json = true;
    return 0;
}

TAKE(take_hollow)
{
    UNUSED;
    o->hollow = true;
    return 0;
}

TAKE(take_require)
{
    for (int f = 0; f < SCPS_FEATURE_COUNT; f++)
        if (strcmp(arg, scps_feature_name((enum scps_feature)f)) == 0) {
            o->require |= 1u << f;
            return 0;
        }
    snprintf(msg, TTCP_MSGLEN, "--require %.60s: give one of", arg);
    for (int f = 0; f < SCPS_FEATURE_COUNT; f++) {
        size_t len = strlen(msg);

        snprintf(msg + len, TTCP_MSGLEN - len, " %s", scps_feature_name((enum scps_feature)f));
    }
    return -1;
}

/* Applies --outage. Its argument has the form [TABLE][,signal|,plan]: TABLE has the times at which
 * the link is down. With ",signal" both stacks are informed when an outage begins and when it ends;
 * with ",plan" they are informed at its beginning also of the time at which it will end; otherwise
 * they are not informed. */
TAKE(take_outage)
{
    const char *comma = strrchr(arg, ','), *word = comma != NULL ? comma + 1 : arg;
    size_t table = comma != NULL ? (size_t)(comma - arg) : 0;

    o->outage_signal = strcmp(word, "plan") == 0     ? TTCP_SIGNAL_WITH_END
                       : strcmp(word, "signal") == 0 ? TTCP_SIGNAL_BEGIN
                                                     : TTCP_SIGNAL_NONE;
    if (o->outage_signal == TTCP_SIGNAL_NONE)
        table = strlen(arg);
    if (table >= sizeof(o->outage))
        return FAIL("--outage: %zu characters are too many: put the table into a file, @FILE",
                    table);
    memcpy(o->outage, arg, table);
    o->outage[table] = '\0';
    return 0;
}

TAKE(take_checksum_hints)
{
    UNUSED;
    o->checksum_hints = true;
    return 0;
}

TAKE(take_memory_limit)
{
    if (units_size(arg, &o->memory_limit) != 0)
        return FAIL("--memory-limit %s: give bytes, as 64m; 0 for no limit", arg);
    o->memory_limit_set = true;
    return 0;
}

TAKE(take_record_size)
{
    if (units_size(arg, &o->record_size) != 0 || o->record_size == 0)
        return FAIL("--record-size %s: give the bytes of a record, at least 1", arg);
    ttcp_set(o, SETTING_records, true);
    return 0;
}

static int take_rate(uint64_t *out, const char *name, const char *arg, char msg[TTCP_MSGLEN])
{
    if (units_rate(arg, out) != 0 || *out < 8 || *out / 8 > (uint64_t)settings[SETTING_rate].most)
        return FAIL("--%s %.40s: give bit/s, such as 80m", name, arg);
    return 0;
}

TAKE(take_route_rate)
{
    return take_rate(&o->route_bps, "route-rate", arg, msg);
}

TAKE(take_rate_limit)
{
    return take_rate(&o->rate_bps, "rate", arg, msg);
}

TAKE(take_min_rate)
{
    return take_rate(&o->min_bps, "min-rate", arg, msg);
}

/* Applies --overhead. Its argument has the form packet=18,pre=8,block=8,post=44, each value in
 * bytes, the items in any order. packet: framing of each packet; pre, block, post: an encryptor
 * puts pre bytes before the packet, pads both to a multiple of block and adds post bytes. A number
 * alone means packet. */
TAKE(take_overhead)
{
    const struct {
        const char *key;
        uint16_t *to;
    } part[] = {{"", &o->overhead.packet},
                {"packet=", &o->overhead.packet},
                {"pre=", &o->overhead.pre},
                {"block=", &o->overhead.block},
                {"post=", &o->overhead.post}};
    const size_t parts = sizeof(part) / sizeof(part[0]);
    size_t len, i;
    char word[24];
    uint64_t v;

    o->overhead = (struct scps_overhead){0};
    o->overhead_set = true;
    for (const char *at = arg;; at += len + 1) {
        len = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)len, at);
        for (i = parts - 1; i > 0 && strncmp(word, part[i].key, strlen(part[i].key)) != 0;)
            i--;
        if (len >= sizeof(word) || units_size(word + strlen(part[i].key), &v) != 0 || v > 65535)
            return FAIL("--overhead %.60s: give bytes a packet, such as 18, or an encryptor's "
                        "pre=8,block=8,post=44",
                        arg);
        *part[i].to = (uint16_t)v;
        if (at[len] == '\0')
            return 0;
    }
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)((at - digits) % 16) : -1;
}

/* Applies --binding. Its argument has the form ID:HEX: the number of a binding space (data of a
 * vendor or a community in the SCPS option of the SYN) and, in hexadecimal, the octets that this
 * end offers there. */
TAKE(take_binding)
{
    struct scps_binding *b = o->conn.binding;
    const char *hex = strchr(arg, ':');
    char id[8];
    uint64_t v;
    size_t n;

    while (b < o->conn.binding + SCPS_BINDINGS && b->len != 0)
        b++;
    if (b == o->conn.binding + SCPS_BINDINGS)
        return FAIL("--binding %.40s: a connection has %d spaces: leave one out", arg,
                    SCPS_BINDINGS);
    n = hex != NULL ? strlen(hex + 1) : 0;
    if (n == 0 || n % 2 != 0 || n / 2 > SCPS_BINDING_MAX || (size_t)(hex - arg) >= sizeof(id))
        return FAIL("--binding %.40s: give a space and its data in hex, 1 to %d octets, such as "
                    "1:00c0",
                    arg, SCPS_BINDING_MAX);
    snprintf(id, sizeof(id), "%.*s", (int)(hex - arg), arg);
    if (units_number(id, 0, 254, &v) != 0)
        return FAIL("--binding %.40s: the space has a number, 0 to 254", arg);
    for (size_t i = 0; i < n; i++) {
        int d = digit(hex[1 + i]);

        if (d < 0)
            return FAIL("--binding %.40s: '%c' is no hex digit", arg, hex[1 + i]);
        b->data[i / 2] = (uint8_t)(b->data[i / 2] << 4 | d);
    }
    b->id = (uint16_t)v;
    b->len = (uint8_t)(n / 2);
    return 0;
}

TAKE(take_ack_budget)
{
    char word[32];
    size_t len;

    ttcp_set(o, SETTING_ack_budget, 0);
    ttcp_set(o, SETTING_ack_budget_packets, 0);
    o->ack_budget_bps = 0;
    if (strcmp(arg, "none") == 0)
        return 0;
    for (const char *at = arg;; at += len + 1) {
        uint64_t v;
        len = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)len, at);
        if (len > 3 && len < sizeof(word) && strcmp(word + len - 3, "pps") == 0) {
            word[len - 3] = '\0';
            if (units_number(word, 1, UINT32_MAX, &v) != 0)
                break;
            o->conn.ack_budget_pps = (uint32_t)v;
        } else if (len >= sizeof(word) || units_rate(word, &v) != 0 || v < 8) {
            break;
        } else {
            o->ack_budget_bps = v;
        }
        if (at[len] == '\0')
            return 0;
    }
    return FAIL("--ack-budget %.40s: give packets a second such as 50pps, bit/s such as 20kbit, "
                "both with a comma, or none",
                arg);
}

TAKE(take_4)
{
    (void)arg;
    if (o->family == 6)
        return FAIL("-4 and -6 exclude each other: give one of them");
    o->family = 4;
    return 0;
}

TAKE(take_6)
{
    (void)arg;
    if (o->family == 4)
        return FAIL("-4 and -6 exclude each other: give one of them");
    o->family = 6;
    return 0;
}

TAKE(take_list_cc)
{
    UNUSED;
    o->action = TTCP_LIST_CC;
    return 0;
}

TAKE(take_list_links)
{
    UNUSED;
    o->action = TTCP_LIST_LINKS;
    return 0;
}

TAKE(take_completion)
{
    if (!completion_shell(arg))
        return FAIL("--completion %.40s: give bash, the only shell it is made for", arg);
    o->action = TTCP_COMPLETION;
    return 0;
}

const struct ttcp_word ttcp_words[] = {
    {"link", 0, "SPEC", take_link,
     "both ends run in this process over a virtual link, in virtual time; SPEC is a preset of "
     "--list-links, KEY=VALUE pairs, or both (" TTCP_DEFAULT_LINK ")"},
    {"seed", 0, "N", take_seed,
     "seed of the random errors of the link and of the stacks' secret keys (1; in real time a "
     "random one)"},
    {"output", 0, "FILE", take_output, "write the received bytes to FILE"},
    {"cc", 0, "NAME[,K=V...]", take_cc,
     "congestion controller with values for its parameters; --list-cc prints both (vj)"},
    {"cc-plugin", 0, "FILE[,K=V...]", take_cc_plugin,
     "congestion controller from a shared object, which defines the symbol of <scps/cc_plugin.h>; "
     "scps_cctest checks such a controller"},
    {"compare", 0, "CC,CC,...", take_compare,
     "with --link: make the same transfer once with each of these controllers and print a table"},
    {"list-cc", 0, NULL, take_list_cc, "list the congestion controllers and their parameters"},
    {"list-links", 0, NULL, take_list_links, "list the presets of --link"},
    {"memory-limit", 0, "N", take_memory_limit,
     "limit of the memory that all connections of a stack use together, bytes (4G); 0: no limit"},
    {"record-size", 0, "N", take_record_size,
     "mark the ends of records (-c) after every N bytes instead of after each write call"},
    {"outage", 0, "TABLE", take_outage,
     "times at which the link is down, such as 20s-23s+50s-51s; behind it, \",signal\" reports "
     "each beginning and end to both stacks, and \",plan\" also reports the end when the outage "
     "begins"},
    {"require", 0, "FEATURE", take_require,
     "offer this feature (snack, compression, ...) and end with status 4 if the peer does not "
     "agree to it"},
    {"checksum-hints", 0, NULL, take_checksum_hints,
     "count a wrong TCP checksum as damage by the link and report it to the sender, which then "
     "attributes losses to corruption"},
    {"route-rate", 0, "N", take_route_rate,
     "-t: rate limit of the route, bit/s, shared by all packets that this end sends"},
    {"min-rate", 0, "N", take_min_rate,
     "-t: rate, bit/s, that the route sends even if congestion windows forbid it"},
    {"overhead", 0, "SPEC", take_overhead,
     "bytes by which a packet counts as longer at --route-rate: 18, or the fields of an encryptor, "
     "pre=8,block=8,post=44 (the framing of the link)"},
    {"binding", 0, "ID:HEX", take_binding,
     "offer an extended capability (CCSDS 714.0-B-2): the id of a binding space and its data in "
     "hex; may be given twice"},
    {"ack-budget", 0, "RATE", take_ack_budget,
     "limit of acknowledgements without data: 50pps, 20kbit, both separated by a comma, or none "
     "(over a slow return link, the rate of that link)"},
    {"time", 0, "SEC", take_time, "stop sending after SEC seconds"},
    {"timeout", 0, "SEC", take_timeout,
     "end the program with status 124 if it is not done after SEC seconds"},
    {"interval", 'i', "SEC", take_interval,
     "report the figures of every SEC seconds on standard error"},
    {"json", 0, NULL, take_json,
     "print the results as one JSON document on standard output, in the form of iperf3's"},
    {"pcap", 0, "FILE", take_pcap,
     "write a capture of the packets at this end (with --link: at the sender's end) to FILE"},
    {"pcap-peer", 0, "FILE", take_pcap_peer,
     "with --link: write a capture of the packets at the receiver's end to FILE"},
    {"qlog", 0, "FILE", take_qlog,
     "write the events of this end's connection (with --link: the sender's) to FILE, as qlog 0.3 "
     "(JSON-SEQ)"},
    {"path-state", 0, "FILE", take_path_state,
     "careful resume (RFC 9959): begin with the window and RTT saved in FILE, and save those of "
     "this connection there at the end"},
    {"truth", 0, "FILE", take_truth,
     "with --link: write the fate of every packet on the link to FILE, as CSV"},
    {"hollow", 0, NULL, take_hollow,
     "with -s and --link: count the bytes of the stream without storing them"},
    {"ipv4", '4', NULL, take_4, "use IPv4 only"},
    {"ipv6", '6', NULL, take_6, "use IPv6 only"},
    {"mtu", 0, "N", ttcp_take_m, "the same as -m"},
    {"reverse", 0, NULL, take_reverse, "the same as -Q"},
    {"rate", 0, "N", take_rate_limit, "the same as -R"},
    {"parallel", 0, "N", ttcp_take_P, "the same as -P"},
    {"bidir", 0, NULL, take_bidir,
     "with -s, at both ends: each connection carries data in both directions"},
    {"server", 0, NULL, take_server,
     "with -s and -r, or -t -Q: serve one test for each connection, several at once, until SIGINT; "
     "with -r the result of each is sent back to its sender"},
    {"tell", 0, NULL, take_tell,
     "-r: send the receiver's result to the sender, after all other data"},
    {"completion", 0, "SHELL", take_completion, "print the completion of these options in bash"},
    {"help", 0, NULL, ttcp_take_h, "the same as -h"},
    {"version", 0, NULL, ttcp_take_V, "the same as -V"},
};

_Static_assert(sizeof(ttcp_words) / sizeof(ttcp_words[0]) <= TTCP_MAX_WORDS, "no room");
const size_t ttcp_nwords = sizeof(ttcp_words) / sizeof(ttcp_words[0]);
