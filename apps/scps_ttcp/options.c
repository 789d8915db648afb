/* SPDX-License-Identifier: MIT */
/* The letters of ttcp and of the SCPS reference implementation, and the long options beside them.
 *
 * One table (letters[]) has every letter of the reference's flag table, so none is ever reused for something else.
 * A letter whose feature is not here is in the table with the reason, and is refused in one line; enabling it is
 * replacing that row.  The help text comes from the same tables.
 *
 * Departures from the reference, on purpose: rates are counted in 1000; -f defaults to m; -b defaults to what fits
 * the link; there is no rate limit without -R; congestion control defaults to VJ.
 */
#include "scps_ttcp/options.h"

#include "scps_ttcp/units.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LINK "geo"
#define TS_OPTION    12 /* what a timestamp takes of a segment, NOPs included (RFC 7323 appendix A) */
#define COMP_GAIN                                                                                  \
    12 /* what compression saves of a header without options; of one with timestamps 4 more */

#define UNSET ((enum ttcp_action) - 1)

typedef int take_fn(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN]);

#define FAIL(...)  (snprintf(msg, TTCP_MSGLEN, __VA_ARGS__), -1)
#define TAKE(name) static int name(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
#define UNUSED     (void)o, (void)arg, (void)msg

static const char *const controllers[] = {"rate", "vj", "vegas"}; /* -G 0, 1, 2 */

/* ---- one function a letter, in the order of the table ------------------------------------------ */

static int role(struct ttcp_options *o, enum ttcp_action a, char msg[TTCP_MSGLEN])
{
    if (o->action != UNSET && o->action != a)
        return FAIL("-t and -r exclude each other: give one of them");
    o->action = a;
    return 0;
}

TAKE(take_t)
{
    (void)arg;
    return role(o, TTCP_TRANSMIT, msg);
}

TAKE(take_r)
{
    (void)arg;
    return role(o, TTCP_RECEIVE, msg);
}

TAKE(take_s)
{
    UNUSED;
    o->pattern = true;
    return 0;
}

TAKE(take_l)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v < 1 || v > 64u << 20)
        return FAIL("-l %s: give bytes a read or write call, 1 to 64M", arg);
    o->length = (size_t)v;
    o->length_set = true;
    return 0;
}

TAKE(take_n)
{
    if (units_number(arg, 1, UINT64_MAX / (64u << 20), &o->count) != 0)
        return FAIL("-n %s: give the number of write calls, at least 1", arg);
    return 0;
}

TAKE(take_p)
{
    uint64_t v;

    if (units_number(arg, 1, 65535, &v) != 0)
        return FAIL("-p %s: give a port, 1 to 65535", arg);
    o->port = (uint16_t)v;
    return 0;
}

TAKE(take_b)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v < 256 || v > 1u << 30)
        return FAIL("-b %s: give the bytes of each buffer, 256 to 1G", arg);
    o->buffer = (uint32_t)v;
    return 0;
}

TAKE(take_f)
{
    if (arg[0] == '\0' || arg[1] != '\0' || strchr("kKmMgG", arg[0]) == NULL)
        return FAIL("-f %s: give one of k m g (bits) or K M G (bytes)", arg);
    o->unit = arg[0];
    return 0;
}

TAKE(take_v)
{
    UNUSED;
    o->verbose++;
    return 0;
}

TAKE(take_D)
{
    UNUSED;
    o->nodelay = true;
    return 0;
}

TAKE(take_B)
{
    UNUSED;
    o->blocks = true;
    return 0;
}

TAKE(take_T)
{
    UNUSED;
    o->touch = true;
    return 0;
}

TAKE(take_A)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v < 1 || v > 1u << 24)
        return FAIL("-A %s: give an alignment in bytes, 1 to 16M", arg);
    o->align = (size_t)v;
    return 0;
}

TAKE(take_O)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v > 1u << 24)
        return FAIL("-O %s: give an offset in bytes, 0 to 16M", arg);
    o->offset = (size_t)v;
    return 0;
}

TAKE(take_d)
{
    UNUSED;
    o->debug = true;
    return 0;
}

TAKE(take_m)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v < 128 || v > 65535)
        return FAIL("-m %s: give the MTU in bytes, 128 to 65535", arg);
    o->mtu = (uint32_t)v;
    return 0;
}

TAKE(take_R)
{
    if (units_rate(arg, &o->rate_bps) != 0 || o->rate_bps < 8)
        return FAIL("-R %s: give a rate in bit/s, such as 80m; k, m and g are 1000-based", arg);
    return 0;
}

/* What is typed after --cc or -G, a number or a name, with its parameters. settle() reads it once more, with what
 * -g, -W, -X and -Y add. */
static int choose_cc(struct ttcp_options *o, const char *option, const char *arg,
                     char msg[TTCP_MSGLEN])
{
    char why[TTCP_MSGLEN - 128];

    if (arg[0] >= '0' && arg[0] <= '2' && (arg[1] == '\0' || arg[1] == ','))
        snprintf(o->cc_text, sizeof(o->cc_text), "%s%s", controllers[arg[0] - '0'], arg + 1);
    else
        snprintf(o->cc_text, sizeof(o->cc_text), "%s", arg);
    if (scps_cc_parse(o->cc_text, &o->cc, o->cc_param, why, sizeof(why)) != 0)
        return FAIL("%s %.60s: %s", option, arg, why);
    return 0;
}

TAKE(take_cc)
{
    return choose_cc(o, "--cc", arg, msg);
}

TAKE(take_G)
{
    return choose_cc(o, "-G", arg, msg);
}

static int add_parameter(struct ttcp_options *o, char c, const char *name, const char *arg,
                         char msg[TTCP_MSGLEN])
{
    size_t len = strlen(o->cc_more);
    uint64_t v;

    if (units_number(arg, 0, 65535, &v) != 0)
        return FAIL("-%c %s: give a whole number, %s of Vegas", c, arg, name);
    snprintf(o->cc_more + len, sizeof(o->cc_more) - len, ",%s=%u", name, (unsigned)v);
    return 0;
}

TAKE(take_g)
{
    return add_parameter(o, 'g', "ss", arg, msg);
}

TAKE(take_W)
{
    return add_parameter(o, 'W', "alpha", arg, msg);
}

TAKE(take_X)
{
    return add_parameter(o, 'X', "beta", arg, msg);
}

TAKE(take_Y)
{
    return add_parameter(o, 'Y', "gamma", arg, msg);
}

TAKE(take_F)
{
    if (strcmp(arg, "0") == 0)
        o->ack_mode = SCPS_ACK_DELAYED;
    else if (strcmp(arg, "1") == 0)
        o->ack_mode = SCPS_ACK_EVERY;
    else if (strcmp(arg, "2") == 0)
        o->ack_mode = SCPS_ACK_OTHER;
    else
        return FAIL("-F %s: give 0 (acknowledge when the timer expires), 1 (every segment) or 2 "
                    "(every other)",
                    arg);
    return 0;
}

TAKE(take_a)
{
    uint64_t ms;

    if (units_number(arg, 1, 10000000, &ms) != 0)
        return FAIL("-a %s: give the delayed-ACK timer in ms, at least 1", arg);
    o->ack_delay = SCPS_MS(ms);
    return 0;
}

TAKE(take_H)
{
    if (scps_addr_parse(arg, &o->source) != 0)
        return FAIL("-H %s: give an IPv4 or IPv6 address of this end", arg);
    return 0;
}

TAKE(take_L)
{
    uint64_t v;

    if (units_number(arg, 0, 7, &v) != 0)
        return FAIL("-L %s: give an IP precedence, 0 to 7", arg);
    o->tos = (uint8_t)(v << 5);
    return 0;
}

TAKE(take_M)
{
    UNUSED;
    o->no_timestamps = true;
    return 0;
}

TAKE(take_N)
{
    (void)o;
    if (strcmp(arg, "1") != 0)
        return FAIL("-N %s: only IP is spoken here (-N 1): no peer of SCPS-NP is left", arg);
    return 0;
}

TAKE(take_I)
{
    UNUSED;
    return 0;
}

TAKE(take_S)
{
    UNUSED;
    o->no_snack = true;
    return 0;
}

TAKE(take_Q)
{
    UNUSED;
    o->reverse = true;
    return 0;
}

TAKE(take_q)
{
    uint64_t v;

    if (units_number(arg, 1, 65535, &v) != 0)
        return FAIL("-q %s: give a port, 1 to 65535", arg);
    o->own_port = (uint16_t)v;
    return 0;
}

TAKE(take_C)
{
    UNUSED;
    o->compress = true;
    return 0;
}

TAKE(take_E)
{
    UNUSED;
    o->bets = true;
    return 0;
}

TAKE(take_c)
{
    UNUSED;
    o->records = true;
    return 0;
}

TAKE(take_Z)
{
    UNUSED;
    o->bets = o->compress = o->no_timestamps = o->no_snack = true;
    return 0;
}

TAKE(take_V)
{
    UNUSED;
    o->action = TTCP_VERSION;
    return 0;
}

TAKE(take_h)
{
    UNUSED;
    o->action = TTCP_HELP;
    return 0;
}

/* ---- the letters -------------------------------------------------------------------------------- */

static const struct letter {
    char c;
    const char *arg; /* its name in the help; NULL: none is taken */
    take_fn *take;   /* NULL: refused, and help is the reason */
    const char *help;
} letters[] = {
    {'t', NULL, take_t, "transmit, to HOST or over the virtual link"},
    {'r', NULL, take_r, "receive: wait for one connection"},
    {'s', NULL, take_s, "-t: source a pattern instead of standard input; -r: discard"},
    {'l', "N", take_l, "bytes a read or write call (8192); a given N below the MSS sizes segments"},
    {'n', "N", take_n, "write calls with -s (2048)"},
    {'p', "N", take_p, "port (5001)"},
    {'q', "N", take_q, "second port: of the end that connects (chosen)"},
    {'Q', NULL, take_Q, "roles reversed: the transmitter waits, the receiver connects, to HOST"},
    {'b', "N", take_b, "send and receive buffer, bytes (from the link, at least 1M)"},
    {'f', "X", take_f, "unit of the report: k m g bits (1000), K M G bytes (1024) (m)"},
    {'v', NULL, take_v, "more in the report"},
    {'D', NULL, take_D, "no delay: Nagle off"},
    {'B', NULL, take_B, "read and write whole blocks of -l only"},
    {'T', NULL, take_T, "touch every byte"},
    {'A', "N", take_A, "align the buffer to N (16384)"},
    {'O', "N", take_O, "begin at this offset in the aligned buffer (0)"},
    {'d', NULL, take_d, "debug: print every protocol event"},
    {'m', "N", take_m, "MTU, bytes (1500 on a link, the device's else)"},
    {'R', "N", take_R, "rate limit, bit/s on the wire with headers: 80m"},
    {'G', "N", take_G,
     "congestion control: 0 none, pure rate; 1 VJ; 2 Vegas; or a name of --list-cc (1)"},
    {'g', "N", take_g,
     "Vegas: slow start x2 every round trip (0), every other (1), x32 (2), x32 with -R (3) (3)"},
    {'W', "N", take_W, "Vegas: alpha, segments (3)"},
    {'X', "N", take_X, "Vegas: beta, segments (5)"},
    {'Y', "N", take_Y, "Vegas: gamma, segments (4)"},
    {'F', "N", take_F,
     "acknowledge 0: when the timer expires; 1: every segment; 2: every other (2)"},
    {'a', "MS", take_a, "delayed-ACK timer, ms (200)"},
    {'H', "ADDR", take_H, "source address"},
    {'L', "N", take_L, "precedence, 0 to 7 (0)"},
    {'M', NULL, take_M, "no timestamps"},
    {'S', NULL, take_S, "no SNACK: no selective negative acknowledgements, plain TCP"},
    {'C', NULL, take_C, "offer header compression (IP protocol 105)"},
    {'E', NULL, take_E, "offer best effort (BETS): what cannot be had is told as a hole"},
    {'c', NULL, take_c, "record boundaries: each write call is a record"},
    {'Z', NULL, take_Z, "the reference's toys: -E -C -M -S"},
    {'N', "N", take_N, "network layer: 1 IP"},
    {'I', NULL, take_I, "accepted, no effect"},
    {'V', NULL, take_V, "print the version"},
    {'h', NULL, take_h, "print this help"},
    /* not in this version */
    {'u', NULL, NULL,
     "there is no UDP service here, whose datagrams would need none of this stack: use iperf3 -u"},
    {'e', NULL, NULL, "echo is not in this version: use scps_echo"},
    {'P', NULL, NULL, "the spanner test is a variant of the reference nobody uses: leave it out"},
};

/* ---- the long options --------------------------------------------------------------------------- */

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

TAKE(take_rtt)
{
    return take_span(&o->rtt, "rtt", arg, msg);
}

TAKE(take_link)
{
    (void)msg;
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

TAKE(take_mss)
{
    uint64_t v;

    if (units_number(arg, 64, 65495, &v) != 0)
        return FAIL("--mss %s: give the largest segment in bytes, 64 to 65495", arg);
    o->mss = (uint16_t)v;
    return 0;
}

TAKE(take_output)
{
    (void)msg;
    o->output = arg;
    return 0;
}

TAKE(take_pcap)
{
    (void)msg;
    o->pcap = arg;
    return 0;
}

TAKE(take_pcap_peer)
{
    (void)msg;
    o->pcap_peer = arg;
    return 0;
}

TAKE(take_truth)
{
    (void)msg;
    o->truth = arg;
    return 0;
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

TAKE(take_first_window)
{
    uint64_t v;

    if (units_size(arg, &v) != 0 || v > 1u << 30)
        return FAIL("--first-window %s: give bytes, 0 (as the SYN says) to 1G", arg);
    o->first_window = (uint32_t)v;
    o->first_window_set = true;
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

/* [TABLE][,signal|,plan] */
TAKE(take_outage)
{
    const char *comma = strrchr(arg, ','), *word = comma != NULL ? comma + 1 : arg;
    size_t table = comma != NULL ? (size_t)(comma - arg) : 0;

    o->outage_told = strcmp(word, "plan") == 0     ? TTCP_TOLD_END
                     : strcmp(word, "signal") == 0 ? TTCP_TOLD
                                                   : TTCP_NOT_TOLD;
    if (o->outage_told == TTCP_NOT_TOLD)
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

TAKE(take_loss_cause)
{
    if (strcmp(arg, "congestion") == 0)
        o->loss_cause = SCPS_LOSS_CONGESTION;
    else if (strcmp(arg, "corruption") == 0)
        o->loss_cause = SCPS_LOSS_CORRUPTION;
    else if (strcmp(arg, "outage") == 0)
        return FAIL(
            "--loss-cause outage: an outage has a beginning and an end, which only the link "
            "can tell; give congestion or corruption");
    else
        return FAIL("--loss-cause %s: give congestion or corruption", arg);
    o->loss_cause_set = true;
    return 0;
}

TAKE(take_record_size)
{
    if (units_size(arg, &o->record_size) != 0 || o->record_size == 0)
        return FAIL("--record-size %s: give the bytes of a record, at least 1", arg);
    o->records = true;
    return 0;
}

static int take_ms(scps_dur *out, const char *name, const char *arg, char msg[TTCP_MSGLEN])
{
    uint64_t ms;

    if (units_number(arg, 1, 1000000000, &ms) != 0)
        return FAIL("--%s %s: give ms, at least 1", name, arg);
    *out = SCPS_MS(ms);
    return 0;
}

TAKE(take_bets_timeout)
{
    return take_ms(&o->bets_timeout, "bets-timeout", arg, msg);
}

TAKE(take_bets_lifetime)
{
    return take_ms(&o->bets_lifetime, "bets-lifetime", arg, msg);
}

TAKE(take_bets_retries)
{
    uint64_t v;

    if (units_number(arg, 1, 254, &v) != 0)
        return FAIL("--bets-retries %s: give how often a segment is resent, 1 to 254", arg);
    o->bets_retries = (uint8_t)v;
    return 0;
}

TAKE(take_recovery)
{
    if (strcmp(arg, "classic") == 0)
        o->recovery = SCPS_RECOVERY_CLASSIC;
    else if (strcmp(arg, "rack") == 0)
        o->recovery = SCPS_RECOVERY_RACK;
    else
        return FAIL("--recovery %s: give classic or rack", arg);
    return 0;
}

TAKE(take_dupthresh)
{
    uint64_t v;

    if (units_number(arg, 1, 255, &v) != 0)
        return FAIL("--dupthresh %s: give the duplicate acknowledgements that mean loss, 1 to 255",
                    arg);
    o->dupthresh = (uint8_t)v;
    return 0;
}

TAKE(take_ack_budget)
{
    char word[32];
    size_t len;

    o->ack_budget_set = true;
    o->ack_budget_bps = o->ack_budget_pps = 0;
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
            o->ack_budget_pps = (uint32_t)v;
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

TAKE(take_no_sack)
{
    UNUSED;
    o->no_sack = true;
    return 0;
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

static const struct word {
    const char *name;
    char c; /* the letter that is its short form; 0: none */
    const char *arg;
    take_fn *take;
    const char *help;
} words[] = {
    {"link", 0, "SPEC", take_link,
     "both ends here over a virtual link, virtual time (" DEFAULT_LINK ")"},
    {"seed", 0, "N", take_seed, "of the link's errors and of the stacks (1; random in real time)"},
    {"output", 0, "FILE", take_output, "write what arrives to FILE"},
    {"cc", 0, "NAME[,K=V...]", take_cc, "congestion control with its parameters"},
    {"list-cc", 0, NULL, take_list_cc, "list them"},
    {"list-links", 0, NULL, take_list_links, "list the presets of --link"},
    {"mss", 0, "N", take_mss, "largest segment, options included"},
    {"first-window", 0, "N", take_first_window,
     "taken for the peer's window before its first scaled one (0; -b with -G 0 on a link)"},
    {"loss-cause", 0, "CAUSE", take_loss_cause,
     "what a loss is taken for: congestion or corruption (congestion)"},
    {"record-size", 0, "N", take_record_size, "-c, and each N bytes are a record"},
    {"bets-timeout", 0, "MS", take_bets_timeout,
     "-E: the receiver waits so long for what is missing (1050, at least 2 round trips)"},
    {"bets-retries", 0, "N", take_bets_retries, "-E: the sender gives up after N resends (32)"},
    {"bets-lifetime", 0, "MS", take_bets_lifetime,
     "-E: and when the oldest data is stuck for so long (for ever)"},
    {"outage", 0, "TABLE", take_outage,
     "the link is out, 20s-23s+50s-51s; with ,signal the ends are told, with ,plan its end, too"},
    {"require", 0, "FEATURE", take_require,
     "offer it, and end with status 4 if the peer lacks it: snack, compression, ..."},
    {"checksum-hints", 0, NULL, take_checksum_hints,
     "wrong checksums mean damage: tell the sender, whose losses are corruption then"},
    {"recovery", 0, "HOW", take_recovery,
     "losses are found by counting, classic, or by the clock, rack: RFC 8985 (classic)"},
    {"dupthresh", 0, "N", take_dupthresh, "duplicate acknowledgements that mean loss (3)"},
    {"ack-budget", 0, "RATE", take_ack_budget,
     "bare acknowledgements at most: 50pps, 20kbit, both, or none (the rate of a thin link back)"},
    {"no-sack", 0, NULL, take_no_sack, "no selective acknowledgements"},
    {"rtt", 0, "SEC", take_rtt, "expected round trip: all timers follow it (known on a link)"},
    {"time", 0, "SEC", take_time, "stop sending after SEC"},
    {"timeout", 0, "SEC", take_timeout, "give up after SEC, with status 124"},
    {"interval", 'i', "SEC", take_interval, "report every SEC"},
    {"json", 0, NULL, take_json, "one JSON document on standard output, in iperf3's shape"},
    {"pcap", 0, "FILE", take_pcap, "capture this end (the sender's on a link)"},
    {"pcap-peer", 0, "FILE", take_pcap_peer, "capture the receiver's end of a link"},
    {"truth", 0, "FILE", take_truth, "what became of every packet of a link, as CSV"},
    {"hollow", 0, NULL, take_hollow, "with -s on a link: count bytes without storing them"},
    {"ipv4", '4', NULL, take_4, "IPv4 only"},
    {"ipv6", '6', NULL, take_6, "IPv6 only"},
    {"mtu", 0, "N", take_m, "the same as -m"},
    {"help", 0, NULL, take_h, "the same as -h"},
    {"version", 0, NULL, take_V, "the same as -V"},
};

#define N_LETTERS (sizeof(letters) / sizeof(letters[0]))
#define N_WORDS   (sizeof(words) / sizeof(words[0]))
#define WORD_BASE 0x100 /* what getopt_long returns for words[0] */
#define IF_OPTION 0xfff /* and for an interface option */

static const struct option if_long[] = {SCPS_IFOPTS_LONG(IF_OPTION)};

#define N_IF (sizeof(if_long) / sizeof(if_long[0]))

void ttcp_print_help(FILE *f)
{
    fputs("usage: scps_ttcp -t [-s] [options] [--link SPEC]                < file\n"
          "       scps_ttcp -t [-s] [options] INTERFACE HOST              < file\n"
          "       scps_ttcp -r [-s] [options] INTERFACE                   > file\n"
          "Measures TCP with the SCPS extensions. Sizes take K M G (1024), rates k m g (1000).\n\n",
          f);
    for (size_t i = 0; i < N_LETTERS; i++)
        if (letters[i].take != NULL)
            fprintf(f, "  -%c %-6s %s\n", letters[i].c, letters[i].arg ? letters[i].arg : "",
                    letters[i].help);
    fputs("\n", f);
    for (size_t i = 0; i < N_WORDS; i++) {
        char left[64];

        snprintf(left, sizeof(left), "--%s%s%s", words[i].name, words[i].arg ? " " : "",
                 words[i].arg ? words[i].arg : "");
        if (words[i].c != 0)
            snprintf(left + strlen(left), sizeof(left) - strlen(left), ", -%c", words[i].c);
        fprintf(f, "  %-20s %s\n", left, words[i].help);
    }
    fprintf(f, "\nINTERFACE:\n%s", scps_ifopts_help());
    fputs(
        "\nExit status: 0 done, 1 failed, 2 usage, 3 ended early with partial data, 124 timeout.\n",
        f);
}

void ttcp_print_cc(FILE *f)
{
    const struct scps_cc_ops *ops;

    for (size_t i = 0; (ops = scps_cc_at(i)) != NULL; i++) {
        fprintf(f, "%-18s %s\n", ops->name, ops->help);
        for (const struct scps_cc_param *p = ops->params; p != NULL && p->name != NULL; p++)
            fprintf(f, "    %-14s %s (%lld; %lld to %lld)\n", p->name, p->help, (long long)p->def,
                    (long long)p->min, (long long)p->max);
    }
}

void ttcp_print_links(FILE *f)
{
    const char *name, *help;

    for (size_t i = 0; scps_link_preset(i, &name, &help); i++)
        fprintf(f, "%-14s %s\n", name, help);
}

const char *ttcp_ack_mode_name(enum scps_ack_mode m)
{
    switch (m) {
    case SCPS_ACK_DELAYED:
        return "delayed";
    case SCPS_ACK_EVERY:
        return "every";
    case SCPS_ACK_OTHER:
        return "other";
    }
    return "?";
}

uint64_t ttcp_pattern_total(const struct ttcp_options *o)
{
    return o->count == UINT64_MAX ? UINT64_MAX : o->count * o->length;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static const struct letter *letter_of(int c)
{
    for (size_t i = 0; i < N_LETTERS; i++)
        if (letters[i].c == c)
            return &letters[i];
    return NULL;
}

/* How long a line is busy with a packet; 0 when it has no rate. */
static scps_dur on_the_line(const struct scps_link_config *c, uint32_t bytes)
{
    if (c->rate_bps == 0)
        return 0;
    return (scps_dur)((uint64_t)scps_link_frame_bytes(c, bytes) * 8 * 1000000 / c->rate_bps);
}

static bool requires(const struct ttcp_options *o, enum scps_feature f)
{
    return o->require >> f & 1;
}

/* --require of what another option leaves out. */
static int refuses_itself(const struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    const struct {
        enum scps_feature f;
        bool off;
        const char *by;
    } v[] = {{SCPS_FEATURE_TIMESTAMPS, o->no_timestamps, "-M"},
             {SCPS_FEATURE_SACK, o->no_sack, "--no-sack"},
             {SCPS_FEATURE_SNACK, o->no_snack, "-S"},
             {SCPS_FEATURE_SNACK_LONG, o->no_snack, "-S"}};

    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        if (requires(o, v[i].f) && v[i].off)
            return FAIL("--require %s with %s: leave out one of them", scps_feature_name(v[i].f),
                        v[i].by);
    return 0;
}

/* What belongs together, once everything has been read. */
static int settle(struct ttcp_options *o, char msg[TTCP_MSGLEN])
{
    bool device = scps_ifopts_given(&o->ifs);

    if (o->cc_more[0] != '\0') { /* the letters of Vegas, wherever they stood */
        char text[sizeof(o->cc_text) + sizeof(o->cc_more)];

        snprintf(text, sizeof(text), "%s%s", o->cc_text, o->cc_more);
        if (choose_cc(o, "-g, -W, -X or -Y with --cc", text, msg) != 0)
            return -1;
    }
    if (o->action == UNSET)
        return FAIL("say -t to transmit or -r to receive; -h lists the options");
    if (o->link && device)
        return FAIL("--link runs inside this process: leave out the interface options");
    if (o->action == TTCP_RECEIVE) {
        if (o->link)
            return FAIL("-r with --link: a virtual link has both ends here, say -t only");
        if (!device)
            return FAIL("-r needs an interface: --tun NAME or --udp LOCAL:PORT, with --addr");
        if (o->host != NULL && !o->reverse)
            return FAIL("-r takes no HOST: leave out %s", o->host);
        if (o->host == NULL && o->reverse)
            return FAIL("-r -Q needs a HOST to receive from, as the last word");
        if (o->time != 0)
            return FAIL("--time is the sender's: give it there, or use --timeout here");
    } else if (o->reverse && o->host != NULL) {
        return FAIL("-t -Q waits and takes no HOST: leave out %s", o->host);
    } else if (device && o->host == NULL && !o->reverse) {
        return FAIL("-t over an interface needs a HOST to send to, as the last word");
    } else if (!device && o->host != NULL) {
        return FAIL("%s cannot be reached without an interface: add --tun NAME or --udp "
                    "LOCAL:PORT,REMOTE:PORT with --addr, or leave it out for a virtual link",
                    o->host);
    }
    if (!device) {
        o->link = true;
        if (o->source.family != 0)
            return FAIL("-H needs an interface: a virtual link has addresses of its own");
    } else {
        char why[SCPS_IO_MSGLEN];

        if (o->hollow)
            return FAIL("--hollow works over a virtual link only: hollow bytes have no content");
        if (o->pcap_peer != NULL)
            return FAIL("--pcap-peer works over a virtual link only: capture at the peer");
        if (o->truth != NULL)
            return FAIL("--truth works over a virtual link only: nobody else knows it all");
        if (o->ifs.mtu == 0)
            o->ifs.mtu = o->mtu;
        if (scps_ifopts_check(&o->ifs, why) != 0)
            return FAIL("%s", why);
        if (o->source.family != 0 && o->family != 0 && o->source.family != o->family)
            return FAIL("-H is not an IPv%u address: drop -%u or change it", o->family, o->family);
    }
    if (!o->bets && (o->bets_timeout != 0 || o->bets_lifetime != 0 || o->bets_retries != 0))
        return FAIL(
            "--bets-timeout, --bets-retries and --bets-lifetime are for best effort: add -E");
    if (o->hollow && !o->pattern)
        return FAIL("--hollow has no content to send: add -s");
    if (o->hollow && o->output != NULL)
        return FAIL("--hollow has no content for --output: leave out one of them");
    if (o->cc->needs_rate && o->rate_bps == 0)
        return FAIL("--cc %s sends at a set rate: add -R, such as -R 10m", o->cc->name);
    if (refuses_itself(o, msg) != 0)
        return -1;
    if (o->outage_told != TTCP_NOT_TOLD || o->outage[0] != '\0') {
        if (!o->link)
            return FAIL("--outage is for a virtual link: over an interface take the link down");
        if (o->outage[0] != '\0') {
            int n = snprintf(o->link_text, sizeof(o->link_text), "%s,outage=%s",
                             o->link_spec != NULL ? o->link_spec : DEFAULT_LINK, o->outage);

            if (n < 0 || (size_t)n >= sizeof(o->link_text))
                return FAIL("--link and --outage are too long: put tables into files, @FILE");
            o->link_spec = o->link_text;
        }
    }
    if (o->count == 0)
        o->count = o->time != 0 ? UINT64_MAX : 2048;
    if (o->link) {
        static const struct scps_link_files files = {scps_io_read_file, scps_io_free_file, NULL};
        char why[TTCP_MSGLEN - 32];

        if (o->link_spec == NULL)
            o->link_spec = DEFAULT_LINK;
        if (scps_link_parse_tables(o->link_spec, &files, &o->fwd, &o->back, &o->tables, why,
                                   sizeof(why)) != 0)
            return FAIL("--%s", why); /* it begins with "link:" */
        if (o->mtu == 0)
            o->mtu = 1500;
        if (o->family == 6 && o->mtu < 1280)
            return FAIL("-m %u: IPv6 needs at least 1280 (RFC 8200 section 5)", o->mtu);
        if (o->rtt == 0) /* a packet over, an acknowledgement back */
            o->rtt = o->fwd.delay + on_the_line(&o->fwd, o->mtu) + o->back.delay +
                     on_the_line(&o->back, 60);
    }
    return 0;
}

/* The words of env between argv[0] and the rest of argv; o keeps what was allocated. */
static char **with_environment(struct ttcp_options *o, int *argc, char **argv, const char *env)
{
    size_t n = env != NULL ? strlen(env) : 0, nwords = 0;

    if (n == 0)
        return argv;
    o->env_text = malloc(n + 1);
    o->env_words = malloc((n / 2 + 2 + (size_t)*argc + 1) * sizeof(*o->env_words));
    if (o->env_text == NULL || o->env_words == NULL)
        return argv;
    memcpy(o->env_text, env, n + 1);
    o->env_words[0] = argv[0];
    for (char *w = strtok(o->env_text, " \t\n"); w != NULL; w = strtok(NULL, " \t\n"))
        o->env_words[++nwords] = w;
    memcpy(o->env_words + 1 + nwords, argv + 1, (size_t)*argc * sizeof(*argv)); /* the NULL, too */
    *argc += (int)nwords;
    return o->env_words;
}

void ttcp_options_fini(struct ttcp_options *o)
{
    free(o->env_text);
    free(o->env_words);
    scps_link_tables_free(o->tables);
    o->tables = NULL;
    o->env_text = NULL;
    o->env_words = NULL;
}

int ttcp_options_parse(struct ttcp_options *o, int argc, char **argv, const char *env,
                       char msg[TTCP_MSGLEN])
{
    char shorts[2 * (N_LETTERS + N_WORDS) + 2], *s = shorts;
    struct option longs[N_WORDS + N_IF + 1];
    size_t n = 0;
    int c, index;

    memset(o, 0, sizeof(*o));
    o->action = UNSET;
    o->length = 8192;
    o->port = 5001;
    o->align = 16384;
    o->unit = 'm';
    o->ack_mode = SCPS_ACK_OTHER;
    o->ack_delay = SCPS_MS(200);
    o->seed = 1;
    choose_cc(o, "-G", controllers[1], msg);

    *s++ = ':'; /* a missing argument is told from an unknown option */
    for (size_t i = 0; i < N_LETTERS; i++) {
        *s++ = letters[i].c;
        if (letters[i].arg != NULL)
            *s++ = ':';
    }
    for (size_t i = 0; i < N_WORDS; i++) {
        longs[n++] = (struct option){words[i].name, words[i].arg != NULL, NULL, WORD_BASE + (int)i};
        if (words[i].c != 0) {
            *s++ = words[i].c;
            if (words[i].arg != NULL)
                *s++ = ':';
        }
    }
    *s = '\0';
    for (size_t i = 0; i < N_IF; i++)
        if (strcmp(if_long[i].name, "mtu") != 0) /* ours, because a link has one, too */
            longs[n++] = if_long[i];
    memset(&longs[n], 0, sizeof(longs[n]));

    argv = with_environment(o, &argc, argv, env);
    optind = 0; /* begin again, whatever was parsed before */
    opterr = 0;
    while (index = -1, (c = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
        const struct letter *l;
        take_fn *take = NULL;

        if (c == ':' && optopt >= WORD_BASE)
            return FAIL("%s needs a value; -h tells which", argv[optind - 1]);
        if (c == ':')
            return FAIL("-%c needs a value; -h tells which", optopt);
        if (c == '?' && (optopt == 0 || optopt >= WORD_BASE))
            return FAIL("%s is no option, or one that takes no value; -h lists them",
                        argv[optind - 1]);
        if (c == '?')
            return FAIL(optopt > ' ' && optopt < 0x7f ? "-%c is no option; -h lists them"
                                                      : "-\\x%02x is no option; -h lists them",
                        optopt);
        if (c == IF_OPTION) {
            char why[SCPS_IO_MSGLEN];

            if (scps_ifopts_parse(&o->ifs, longs[index].name, optarg, why) < 0)
                return FAIL("%s", why);
            continue;
        }
        if (c >= WORD_BASE) {
            take = words[c - WORD_BASE].take;
        } else if ((l = letter_of(c)) != NULL) {
            if (l->take == NULL)
                return FAIL("-%c: %s", l->c, l->help);
            take = l->take;
        } else {
            for (size_t i = 0; i < N_WORDS; i++)
                if (words[i].c == c)
                    take = words[i].take;
        }
        if (take(o, optarg, msg) != 0)
            return -1;
        if (o->action != TTCP_TRANSMIT && o->action != TTCP_RECEIVE && o->action != UNSET)
            return 0; /* help and the like: nothing else matters */
    }
    if (optind < argc)
        o->host = argv[optind++];
    if (optind < argc)
        return FAIL("%s: one HOST only, as the last word", argv[optind]);
    return settle(o, msg);
}

/* Room for four times what is under way on the link: a loss holds back delivery for one round trip while the next
 * fills the line, and its repair may be lost, too. At least 1 MiB, at most 256 MiB. */
static uint32_t buffer_for(const struct ttcp_options *o)
{
    const uint64_t least = 1u << 20, most = 256u << 20;
    uint64_t rate = o->fwd.rate_bps / 8, want;

    if (o->buffer != 0)
        return o->buffer;
    if (!o->link || rate == 0)
        return least;
    if (o->rate_bps != 0 && o->rate_bps / 8 < rate)
        rate = o->rate_bps / 8;
    want = rate > most ? most : rate / 1000 * (uint64_t)(o->rtt / 250);
    return (uint32_t)(want < least ? least : want > most ? most : want);
}

/* In the published tests of pure rate control both ends were configured alike, and the sender relied on it: a SYN cannot
 * offer more than 65535 bytes, which would cost a round trip.  Only over a link do we know the other end. */
static uint32_t first_window_for(const struct ttcp_options *o)
{
    if (o->first_window_set)
        return o->first_window;
    return o->link && o->cc->needs_rate ? buffer_for(o) : 0;
}

/* The controller that takes every loss for corruption says so of timeouts, too. */
static enum scps_loss_cause loss_cause_for(const struct ttcp_options *o)
{
    /* both are for a path that is ours, where nothing else is lost */
    if (!o->loss_cause_set && (strcmp(o->cc->name, "vegas-corruption") == 0 || o->cc->needs_rate))
        return SCPS_LOSS_CORRUPTION;
    return o->loss_cause;
}

/* Every other 1500-byte packet of the way there takes a 60-byte one back: a link that cannot carry that sets the budget. */
static uint64_t ack_budget_for(const struct ttcp_options *o)
{
    if (o->ack_budget_set || !o->link || o->back.rate_bps == 0)
        return o->ack_budget_bps;
    return o->fwd.rate_bps == 0 || o->back.rate_bps < o->fwd.rate_bps / 50 ? o->back.rate_bps : 0;
}

struct scps_conn_config ttcp_conn_config(const struct ttcp_options *o, bool transmit)
{
    struct scps_conn_config c = scps_conn_config_default();

    c.cc = o->cc;
    memcpy(c.cc_param, o->cc_param, sizeof(c.cc_param));
    c.rate = o->rate_bps / 8;
    c.rate_overhead = o->link ? scps_link_frame_bytes(&o->fwd, o->mtu) - o->mtu : 0;
    c.sndbuf = c.rcvbuf = buffer_for(o);
    c.first_window = first_window_for(o);
    c.hollow = o->hollow;
    c.tos = o->tos;
    c.sack = c.dsack = !o->no_sack;
    c.timestamps = !o->no_timestamps;
    c.snack = c.snack_long = !o->no_snack;
    c.compress = o->compress || requires(o, SCPS_FEATURE_COMPRESSION);
    c.records = o->records;
    c.bets = o->bets || requires(o, SCPS_FEATURE_BETS);
    c.ecn = requires(o, SCPS_FEATURE_ECN);
    c.bets_timeout = o->bets_timeout;
    c.bets_lifetime = o->bets_lifetime;
    if (o->bets_retries != 0)
        c.bets_retries = o->bets_retries;
    c.nodelay = o->nodelay;
    c.loss_cause = loss_cause_for(o);
    c.recovery = o->recovery;
    if (o->dupthresh != 0)
        c.dupthresh = o->dupthresh;
    c.ack_mode = o->ack_mode;
    c.ack_delay = o->ack_delay;
    c.ack_budget = ack_budget_for(o) / 8;
    c.ack_budget_pps = o->ack_budget_pps;
    c.expected_rtt = o->rtt;
    c.mss = o->mss;
    if (c.mss == 0 && transmit && o->length_set) {
        /* as in the published tests: -l 1024 makes packets with 1024 bytes of payload */
        size_t payload = o->length < 64 ? 64 : o->length;
        size_t mss = payload + (c.timestamps ? TS_OPTION : 0) -
                     (c.compress ? COMP_GAIN + (c.timestamps ? 4 : 0) : 0);
        uint32_t mtu = o->link ? o->mtu : o->ifs.mtu;

        if (mss <= 65495 && (mtu == 0 || mss + 40 <= mtu))
            c.mss = (uint16_t)mss;
    }
    return c;
}
