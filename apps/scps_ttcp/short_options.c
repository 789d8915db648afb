/* SPDX-License-Identifier: MIT */
/* The one-letter options of ttcp and of the SCPS reference implementation: one function applies
 * each, in the order of the table ttcp_letters.
 *
 * The table has every letter of the reference implementation, so that none is used for something
 * else. A letter whose feature is missing here is in the table with the reason, and is refused with
 * that message.
 *
 * Deliberate differences from the reference implementation: -P is the number of connections, as in
 * iperf3, and does not select that implementation's "spanner" test, which this program lacks; k, m
 * and g in the rate of -R are powers of 1000; -f (the unit of printed rates) defaults to a, which
 * chooses the unit by the value; -b (the size of both buffers) defaults to a size that fits the
 * link; without -R the rate is not limited; the congestion controller defaults to VJ.
 */
#include "scps_ttcp/option_table.h"

#include "common/plugin.h"
#include "scps_ttcp/units.h"

#include <string.h>

/* the controllers that -G 0, -G 1 and -G 2 select */
static const char *const controllers[] = {"rate", "vj", "vegas"};

static int role(struct ttcp_options *o, enum ttcp_action a, char msg[TTCP_MSGLEN])
{
    if (o->action != TTCP_UNSET && o->action != a)
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
    uint64_t v;

    if (units_size(arg, &v) != 0 || v < 1 || v > UINT64_MAX / (64u << 20))
        return FAIL("-n %s: give the number of write calls, at least 1; 20k is 20480", arg);
    o->count = v;
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
    if (arg[0] == '\0' || arg[1] != '\0' || strchr("kKmMgGaA", arg[0]) == NULL)
        return FAIL("-f %s: give one of k m g a (bits) or K M G A (bytes)", arg);
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
    ttcp_set(o, SETTING_nodelay, true);
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

TAKE(take_e)
{
    UNUSED;
    o->echo = true;
    return 0;
}

TAKE(take_u)
{
    UNUSED;
    o->udp = true;
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

int ttcp_take_m(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
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
        return FAIL("-R %s: give a rate in bit/s, 8 to 70000g, as 80m; k, m and g are 1000-based",
                    arg);
    return 0;
}

/* Applies --cc or -G, whose value is a number or a name, with parameters. ttcp_settle() parses the
 * value again when all options are read, with the parameters of -g, -W, -X and -Y added. */
int ttcp_choose_cc(struct ttcp_options *o, const char *option, const char *arg,
                   char msg[TTCP_MSGLEN])
{
    char why[TTCP_MSGLEN - 128];

    if (o->cc_loaded)
        return FAIL("%s %.60s beside --cc-plugin: give one controller, with its parameters behind "
                    "the file",
                    option, arg);
    if (arg[0] >= '0' && arg[0] <= '2' && (arg[1] == '\0' || arg[1] == ','))
        snprintf(o->cc_text, sizeof(o->cc_text), "%s%s", controllers[arg[0] - '0'], arg + 1);
    else
        snprintf(o->cc_text, sizeof(o->cc_text), "%s", arg);
    if (scps_cc_parse(o->cc_text, &o->cc, o->cc_param, why, sizeof(why)) != 0)
        return FAIL("%s %.60s: %s", option, arg, why);
    return 0;
}

int ttcp_load_cc(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
{
    char why[TTCP_MSGLEN - 128];

    if (!plugin_load(arg, &o->cc, o->cc_param, why, sizeof(why)))
        return FAIL("--cc-plugin %s", why);
    snprintf(o->cc_file, sizeof(o->cc_file), "%.*s", (int)strcspn(arg, ","), arg);
    o->cc_loaded = true;
    return 0;
}

TAKE(take_G)
{
    o->cc_given = o->cc_by[1] = true;
    return ttcp_choose_cc(o, "-G", arg, msg);
}

static int add_parameter(struct ttcp_options *o, char c, const char *name, const char *arg,
                         char msg[TTCP_MSGLEN])
{
    size_t len = strlen(o->cc_more);
    uint64_t v;

    if (units_number(arg, 0, 65535, &v) != 0)
        return FAIL("-%c %s: give a whole number, %s of Vegas", c, arg, name);
    snprintf(o->cc_more + len, sizeof(o->cc_more) - len, ",%s=%u", name, (unsigned)v);
    o->cc_given = true;
    len = strlen(o->cc_letters);
    snprintf(o->cc_letters + len, sizeof(o->cc_letters) - len, "%s-%c %u", len > 0 ? " " : "", c,
             (unsigned)v);
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
        ttcp_set(o, SETTING_ack, SCPS_ACK_DELAYED);
    else if (strcmp(arg, "1") == 0)
        ttcp_set(o, SETTING_ack, SCPS_ACK_EVERY);
    else if (strcmp(arg, "2") == 0)
        ttcp_set(o, SETTING_ack, SCPS_ACK_OTHER);
    else
        return FAIL("-F %s: give 0 (acknowledge when the timer expires), 1 (every segment) or 2 "
                    "(every other)",
                    arg);
    return 0;
}

TAKE(take_a)
{
    if (ttcp_take_setting(o, SETTING_ack_delay, "ack-delay", arg, msg) != 0)
        return FAIL("-a %.40s: give the delayed-ACK timer in ms, or with a unit (see --ack-delay)",
                    arg);
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
    ttcp_set(o, SETTING_tos, (int64_t)v << 5);
    return 0;
}

TAKE(take_M)
{
    UNUSED;
    ttcp_set(o, SETTING_timestamps, false);
    return 0;
}

TAKE(take_N)
{
    (void)o;
    if (strcmp(arg, "1") != 0)
        return FAIL("-N %s: the network protocol is IP, SCPS-NP is not supported: give -N 1", arg);
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
    ttcp_set(o, SETTING_snack, false);
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
    ttcp_set(o, SETTING_compress, true);
    return 0;
}

TAKE(take_E)
{
    UNUSED;
    ttcp_set(o, SETTING_bets, true);
    return 0;
}

TAKE(take_c)
{
    UNUSED;
    ttcp_set(o, SETTING_records, true);
    return 0;
}

TAKE(take_Z)
{
    UNUSED;
    ttcp_set(o, SETTING_bets, true);
    ttcp_set(o, SETTING_compress, true);
    ttcp_set(o, SETTING_timestamps, false);
    ttcp_set(o, SETTING_snack, false);
    return 0;
}

int ttcp_take_P(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
{
    uint64_t v;

    if (units_number(arg, 1, TTCP_STREAMS, &v) != 0)
        return FAIL("-P %.40s: give the number of connections, 1 to %d", arg, TTCP_STREAMS);
    o->streams = (unsigned)v;
    return 0;
}

int ttcp_take_V(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
{
    UNUSED;
    o->action = TTCP_VERSION;
    return 0;
}

int ttcp_take_h(struct ttcp_options *o, const char *arg, char msg[TTCP_MSGLEN])
{
    UNUSED;
    o->action = TTCP_HELP;
    return 0;
}

const struct ttcp_letter ttcp_letters[] = {
    {'t', NULL, take_t, "transmit to HOST, or over the virtual link of --link"},
    {'r', NULL, take_r, "receive from one connection"},
    {'s', NULL, take_s,
     "-t: send a pattern instead of standard input; -r: discard the received bytes"},
    {'u', NULL, take_u,
     "send UDP datagrams, one for each write call, with ttcp's short datagrams before and after "
     "them"},
    {'l', "N", take_l,
     "bytes of each read or write call (8192); if less than the MSS, also the payload of a "
     "segment"},
    {'n', "N", take_n, "number of write calls with -s (2048)"},
    {'p', "N", take_p, "port of the end that listens (5001)"},
    {'q', "N", take_q, "local port of the end that connects (chosen by the stack)"},
    {'Q', NULL, take_Q,
     "reverse the roles: the transmitter listens, and the receiver connects to HOST"},
    {'b', "N", take_b,
     "size of the send and the receive buffer, bytes (four products of the link's rate and "
     "--rtt, at least 1M)"},
    {'f', "X", take_f,
     "unit of printed rates: k m g: kbit/s, Mbit/s, Gbit/s (1000); K M G: KB/s, MB/s, GB/s (1024); "
     "a, A: the one of these that fits (a)"},
    {'v', NULL, take_v, "print more figures in the report"},
    {'D', NULL, take_D, "send small segments at once (Nagle's algorithm off)"},
    {'B', NULL, take_B, "read and write full blocks of -l bytes only"},
    {'T', NULL, take_T, "read every byte that arrives, as an application would"},
    {'A', "N", take_A, "align the buffer to a multiple of N bytes (16384)"},
    {'O', "N", take_O, "offset of the buffer from that alignment, bytes (0)"},
    {'d', NULL, take_d, "print every event of the protocol on standard error"},
    {'m', "N", ttcp_take_m, "MTU, bytes (1500 over a virtual link, else the device's)"},
    {'R', "N", take_R, "rate limit of the sender, bit/s on the wire with headers, such as 80m"},
    {'G', "N", take_G,
     "congestion controller: 0: none, pure rate control; 1: VJ; 2: Vegas; or a name of --list-cc "
     "(1)"},
    {'g', "N", take_g,
     "Vegas: in slow start the window doubles every round trip (0) or every other one (1), or "
     "grows 32-fold in one (2); 3: 2 with -R, else 0 (3)"},
    {'W', "N", take_W,
     "Vegas: alpha, the number of queued segments below which the window grows (3)"},
    {'X', "N", take_X,
     "Vegas: beta, the number of queued segments above which the window shrinks (5)"},
    {'Y', "N", take_Y,
     "Vegas: gamma, the number of queued segments above which slow start ends (4)"},
    {'F', "N", take_F,
     "acknowledge when the timer expires (0), every segment (1), or every other one (2) (2)"},
    {'a', "MS", take_a, "delayed-ACK timer, ms (200)"},
    {'H', "ADDR", take_H, "local address (chosen by the route)"},
    {'L', "N", take_L, "IP precedence, 0 to 7 (0)"},
    {'M', NULL, take_M, "offer no timestamps"},
    {'S', NULL, take_S, "offer no SNACK (selective negative acknowledgements), as plain TCP"},
    {'C', NULL, take_C, "offer header compression (IP protocol 105)"},
    {'E', NULL, take_E,
     "offer best effort (BETS): data that does not arrive is reported as a hole"},
    {'c', NULL, take_c, "mark record boundaries: each write call is a record"},
    {'e', NULL, take_e,
     "at both ends: the receiver echoes each block, and the sender sends the next one when all of "
     "it has come back"},
    {'Z', NULL, take_Z, "the same as -E -C -M -S, as in the reference implementation"},
    {'N', "N", take_N, "network layer; only 1, IP, exists"},
    {'I', NULL, take_I, "accepted for compatibility, no effect"},
    {'V', NULL, ttcp_take_V, "print the version"},
    {'h', NULL, ttcp_take_h, "print this help"},
    {'P', "N", ttcp_take_P,
     "with -s: number of connections at once; give both ends the same number (1)"},
};

_Static_assert(sizeof(ttcp_letters) / sizeof(ttcp_letters[0]) <= TTCP_MAX_LETTERS / 2, "no room");
const size_t ttcp_nletters = sizeof(ttcp_letters) / sizeof(ttcp_letters[0]);
