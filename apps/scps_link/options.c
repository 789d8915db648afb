/* SPDX-License-Identifier: MIT */
/* Parses the command line of scps_link.
 *
 * Everything that can be checked without changing the system is checked here, so that a wrong
 * command line has no effects. emu.c checks only what the kernel knows.
 */
#include "scps_link/options.h"

#include "common/completion.h"
#include "common/seed.h"
#include "common/text.h"
#include "scps_link/scenario.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS 1e9
#define MAX_SETS    64
#define MAX_RUN     1000000

enum {
    OPT_A = 256,
    OPT_B,
    OPT_ADDR_A,
    OPT_ADDR_B,
    OPT_PCAP_A,
    OPT_PCAP_B,
    OPT_MTU,
    OPT_LINK,
    OPT_LIST,
    OPT_SCENARIO,
    OPT_SET,
    OPT_RUN,
    OPT_SEED,
    OPT_TIME,
    OPT_TRUTH,
    OPT_CTL,
    OPT_JSON,
    OPT_NO_REALTIME,
    OPT_COMPLETION
};

static const struct option table[] = {
    {"a", 1, NULL, OPT_A},
    {"b", 1, NULL, OPT_B},
    {"addr-a", 1, NULL, OPT_ADDR_A},
    {"addr-b", 1, NULL, OPT_ADDR_B},
    {"pcap-a", 1, NULL, OPT_PCAP_A},
    {"pcap-b", 1, NULL, OPT_PCAP_B},
    {"mtu", 1, NULL, OPT_MTU},
    {"link", 1, NULL, OPT_LINK},
    {"list-links", 0, NULL, OPT_LIST},
    {"scenario", 1, NULL, OPT_SCENARIO},
    {"set", 1, NULL, OPT_SET},
    {"run", 1, NULL, OPT_RUN},
    {"seed", 1, NULL, OPT_SEED},
    {"time", 1, NULL, OPT_TIME},
    {"interval", 1, NULL, 'i'},
    {"truth", 1, NULL, OPT_TRUTH},
    {"ctl", 1, NULL, OPT_CTL},
    {"json", 0, NULL, OPT_JSON},
    {"no-realtime", 0, NULL, OPT_NO_REALTIME},
    {"completion", 1, NULL, OPT_COMPLETION},
    {"quiet", 0, NULL, 'q'},
    {"help", 0, NULL, 'h'},
    {"version", 0, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

void link_print_completion(FILE *f)
{
    static const char *const files[] = {"--scenario", "--pcap-a", "--pcap-b", "--truth", "--ctl"};
    struct completion c = {.program = "scps_link", .words = "ctl"};
    struct lab_str links = {0};
    const char *name, *help;

    completion_add_getopt(&c, table, "i:qhV");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        completion_set(&c, files[i], COMPLETION_FILE, NULL);
    for (size_t i = 0; scps_link_preset(i, &name, &help); i++)
        lab_add(&links, "%s%s", i > 0 ? " " : "", name);
    completion_set(&c, "--link", COMPLETION_WORDS, links.p);
    completion_set(&c, "--completion", COMPLETION_WORDS, "bash");
    completion_print(&c, f);
    lab_free(&links);
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static int
fail(char *msg, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, LINK_MSGLEN, fmt, ap);
    va_end(ap);
    return -1;
}

static int take_whole(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;
    unsigned long long v;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    v = strtoull(text, &end, 10);
    if (*end || errno || v < min || v > max)
        return -1;
    *out = v;
    return 0;
}

/* Parses a number of seconds, or a number with a unit, into *out, µs. Returns 0, or -1 if text is
 * neither. */
static int take_time(const char *text, scps_dur *out)
{
    char *end;
    double v;
    scps_dur us;

    if (((*text < '0' || *text > '9') && *text != '.') || strpbrk(text, "xX"))
        return -1;
    v = strtod(text, &end);
    if (*end ? !lab_time(text, &us) : !(v <= MAX_SECONDS))
        return -1;
    if (!*end)
        us = (scps_dur)(v * 1e6 + 0.5);
    if (us < SCPS_MS(1) || us > MAX_SECONDS * SCPS_SEC(1))
        return -1;
    *out = us;
    return 0;
}

static int take_end(struct link_end_options *e, const char *text, const char *option, char *msg)
{
    const char *at = strchr(text, '@');
    size_t n = at ? (size_t)(at - text) : strlen(text);

    if (n == 0 || n >= sizeof e->device || (at && (!at[1] || strlen(at + 1) >= sizeof e->netns)))
        return fail(msg, "%s %s: give NAME or NAME@NETNS", option, text);
    memcpy(e->device, text, n);
    e->device[n] = 0;
    strcpy(e->netns, at ? at + 1 : "");
    return 0;
}

/* Returns the reason, for a message, why no host can have address a with a prefix of `prefix` bits;
 * NULL: a host can have it. */
static const char *no_host(const struct scps_addr *a, uint64_t prefix)
{
    static const uint8_t none[16];
    uint32_t ip =
        (uint32_t)a->b[0] << 24 | (uint32_t)a->b[1] << 16 | (uint32_t)a->b[2] << 8 | a->b[3];

    if (a->family == 6 ? a->b[0] == 0xff || memcmp(a->b, none, sizeof none) == 0
                       : a->b[0] == 0 || a->b[0] >= 224)
        return "no host has this address: give one that is not multicast, reserved or 0";
    /* RFC 1122 section 3.2.1.3; a prefix of 31 bits has no broadcast address (RFC 3021). */
    if (a->family == 4 && prefix < 31 && (ip | UINT32_MAX << (32 - prefix)) == UINT32_MAX)
        return "this is the broadcast address of its prefix: give a host's address, or another "
               "/LEN";
    return NULL;
}

static int take_addr(struct link_end_options *e, const char *text, const char *option, char *msg)
{
    char bare[SCPS_ADDR_STRLEN];
    const char *slash = strchr(text, '/');
    size_t n = slash ? (size_t)(slash - text) : strlen(text);
    struct scps_addr a;
    uint64_t len, most;
    const char *why;

    if (e->naddr == LINK_ADDRS)
        return fail(msg, "%s %s: at most %d addresses an end", option, text, LINK_ADDRS);
    if (n >= sizeof bare)
        n = sizeof bare - 1;
    memcpy(bare, text, n);
    bare[n] = 0;
    if (scps_addr_parse(bare, &a) != 0)
        return fail(msg, "%s %s: not an address: give one like 10.1.0.1/24 or fd01::1/64", option,
                    text);
    most = a.family == 4 ? 32 : 128;
    len = most;
    if (slash && take_whole(slash + 1, 1, most, &len) != 0)
        return fail(msg, "%s %s: the prefix length is from 1 to %" PRIu64, option, text, most);
    why = no_host(&a, len);
    if (why)
        return fail(msg, "%s %s: %s", option, text, why);
    for (unsigned i = 0; i < e->naddr; i++)
        if (scps_addr_equal(&e->addr[i], &a))
            return fail(msg, "%s %s: the address is given twice: leave out one", option, text);
    e->addr[e->naddr] = a;
    e->prefix[e->naddr] = (unsigned)len;
    e->bare[e->naddr++] = !slash;
    return 0;
}

/* Checks that the ends a and b of the link have different devices and addresses, and that for each
 * address without prefix length the opposite end has an address of the same IP version. Returns 0,
 * or -1 with one line in msg. */
static int check_ends(const struct link_options *o, char *msg)
{
    const struct link_end_options *a = &o->end[0], *b = &o->end[1];
    char text[SCPS_ADDR_STRLEN];

    for (int i = 0; i < 2; i++)
        if (!o->end[i].device[0])
            return fail(msg, "give --%c NAME[@NETNS], the device at end %c", 'a' + i, 'a' + i);
    if (strcmp(a->device, b->device) == 0 && strcmp(a->netns, b->netns) == 0)
        return fail(msg, "--a and --b are both %s: give each end a device of its own", a->device);
    for (unsigned i = 0; i < a->naddr; i++)
        for (unsigned k = 0; k < b->naddr; k++)
            if (scps_addr_equal(&a->addr[i], &b->addr[k]))
                return fail(msg, "%s cannot be the address of both ends",
                            scps_addr_format(&a->addr[i], text));
    for (int i = 0; i < 2; i++)
        for (unsigned k = 0; k < o->end[i].naddr; k++) {
            const struct link_end_options *e = &o->end[i], *far = &o->end[!i];
            bool peer = !e->bare[k];
            for (unsigned j = 0; j < far->naddr; j++)
                peer = peer || far->addr[j].family == e->addr[k].family;
            if (!peer)
                return fail(
                    msg,
                    "--addr-%c %s has no /LEN and end %c no address of its family: give one "
                    "of them",
                    'a' + i, scps_addr_format(&e->addr[k], text), 'a' + !i);
        }
    return 0;
}

static int take_link(struct link_options *o, bool seeded, char *msg)
{
    static const struct scps_link_files files = {scps_io_read_file, scps_io_free_file, NULL};
    char why[LINK_MSGLEN];

    if (scps_link_parse_tables(o->link, &files, &o->dir[0], &o->dir[1], &o->tables, why,
                               sizeof why) != 0) {
        /* The text in `why` begins with "link: ", so "--" before it makes the name of the option,
         * --link. */
        return fail(msg, "--%s", why);
    }
    if (!seeded && scps_entropy(&o->seed, sizeof o->seed) != 0)
        return fail(msg, "no randomness from the system: give --seed N");
    if (!seeded)
        /* The seed is reduced to 53 bits, which readers of JSON represent exactly. */
        o->seed >>= 11;
    uint64_t seeds[2];
    /* Each direction gets the same seed as in scps_ttcp with the same --link and --seed, so that
     * both programs produce the same errors. */
    seed_pair(o->seed, 0, seeds);
    for (int d = 0; d < 2; d++)
        o->dir[d].seed = seeds[d];
    return 0;
}

/* Values of the options that say where the link's configuration comes from (--link, --scenario,
 * --set, --run). They are stored here until all options have been read, because they depend on each
 * other. */
struct source {
    const char *link, *scenario;
    char *set[MAX_SETS];
    size_t nset;
    /* --run: number, from 1, of the run of scps_lab whose random numbers the link uses; 0: not
     * given, which stands for 1 */
    uint64_t run;
    bool seeded;
};

static int take_scenario(struct link_options *o, struct source *s, char *msg)
{
    char seed[64];

    if (s->link)
        return fail(msg, "--link %s: --scenario defines the link already: leave out one of them",
                    s->link);
    if (s->seeded) { /* --seed overrides a --set of the seed, whichever is given first. */
        snprintf(seed, sizeof seed, "scenario.seed=%" PRIu64, o->seed);
        s->set[s->nset++] = seed;
    }
    return link_scenario_open(o, s->scenario, s->set, s->nset, s->run ? (unsigned)s->run : 1, msg);
}

static int take_source(struct link_options *o, struct source *s, char *msg)
{
    if (s->scenario)
        return take_scenario(o, s, msg);
    if (s->nset || s->run)
        return fail(msg, "--%s is for scenarios: give --scenario FILE", s->nset ? "set" : "run");
    o->link = s->link ? s->link : LINK_DEFAULT;
    return take_link(o, s->seeded, msg);
}

/* A handler of options returns NOT_MINE for an option that belongs to another handler, 0 for an
 * option that it has applied, and -1 for one that is wrong, with the reason in msg. */
enum { NOT_MINE = 1 };

/* Handler of the options about an end of the link: devices, namespaces, addresses, captures. */
static int end_option(struct link_options *o, int c, char *msg)
{
    switch (c) {
    case OPT_A:
    case OPT_B:
        return take_end(&o->end[c - OPT_A], optarg, c == OPT_A ? "--a" : "--b", msg);
    case OPT_ADDR_A:
    case OPT_ADDR_B:
        return take_addr(&o->end[c - OPT_ADDR_A], optarg, c == OPT_ADDR_A ? "--addr-a" : "--addr-b",
                         msg);
    case OPT_PCAP_A:
    case OPT_PCAP_B:
        o->end[c - OPT_PCAP_A].pcap = optarg;
        return 0;
    default:
        return NOT_MINE;
    }
}

/* Handler of the options that say where the link's configuration comes from: --link, --scenario,
 * and the options that change what --scenario gives. */
static int source_option(struct source *from, int c, char *msg)
{
    switch (c) {
    case OPT_LINK:
        from->link = optarg;
        return 0;
    case OPT_SCENARIO:
        from->scenario = optarg;
        return 0;
    case OPT_SET:
        if (from->nset == MAX_SETS - 1)
            return fail(msg, "--set %s: at most %d of them", optarg, MAX_SETS - 1);
        from->set[from->nset++] = optarg;
        return 0;
    case OPT_RUN:
        if (take_whole(optarg, 1, MAX_RUN, &from->run) != 0)
            return fail(msg, "--run %s: give a number from 1 to %d", optarg, MAX_RUN);
        return 0;
    default:
        return NOT_MINE;
    }
}

/* Handler of the options --mtu, --seed, --time and --interval, whose values are numbers. */
static int number_option(struct link_options *o, struct source *from, int c, char *msg)
{
    uint64_t v;

    switch (c) {
    case OPT_MTU:
        if (!lab_size(optarg, &v) || v < 68 || v > 65535)
            return fail(msg, "--mtu %s: give bytes, 68 to 65535, as 1500 or 9k", optarg);
        o->mtu = (uint32_t)v;
        return 0;
    case OPT_SEED:
        if (take_whole(optarg, 0, UINT64_MAX, &o->seed) != 0)
            return fail(msg, "--seed %s: give a whole number", optarg);
        from->seeded = true;
        return 0;
    case OPT_TIME:
        if (take_time(optarg, &o->time) != 0)
            return fail(msg,
                        "--time %s: give seconds, from 0.001, or a number with ms, s, min or h",
                        optarg);
        return 0;
    case 'i':
        if (take_time(optarg, &o->interval) != 0)
            return fail(msg, "-i %s: give seconds, from 0.001, or a number with ms, s, min or h",
                        optarg);
        return 0;
    default:
        return NOT_MINE;
    }
}

/* Handler of the options about output files, the control socket, printing and real-time
 * scheduling. */
static int output_option(struct link_options *o, int c)
{
    switch (c) {
    case OPT_TRUTH:
        o->truth = optarg;
        return 0;
    case OPT_CTL:
        o->ctl = optarg;
        return 0;
    case OPT_JSON:
        o->json = true;
        return 0;
    case OPT_NO_REALTIME:
        o->realtime = false;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    default:
        return NOT_MINE;
    }
}

/* Handler of the options that request something other than a run, such as --help. Options behind
 * one of these are not read. */
static int action_option(struct link_options *o, int c, char *msg)
{
    switch (c) {
    case OPT_LIST:
        o->action = LINK_LIST_LINKS;
        return 0;
    case OPT_COMPLETION:
        if (!completion_shell(optarg))
            return fail(msg, "--completion %s: give bash, the only shell it is made for", optarg);
        o->action = LINK_COMPLETION;
        return 0;
    case 'h':
        o->action = LINK_HELP;
        return 0;
    case 'V':
        o->action = LINK_VERSION;
        return 0;
    default:
        return NOT_MINE;
    }
}

/* Writes to msg that the command line has an option `word` that does not exist (c is '?') or that
 * lacks its value (c is ':'). Returns -1. */
static int wrong_option(int c, const char *word, char *msg)
{
    if (c == ':')
        return fail(msg, "%s needs a value: see scps_link --help", word);
    if (optopt && optopt < 256)
        return fail(msg, "no option -%c: see scps_link --help", optopt);
    return fail(msg, "no option %s: see scps_link --help", word);
}

static int parse_ctl(struct link_options *o, int argc, char **argv, char *msg)
{
    o->action = LINK_CTL;
    o->words = argv + 2;
    if (argc < 4)
        return fail(msg, "ctl: give the socket's path and a command: scps_link ctl PATH stats");
    return 0;
}

int link_options_parse(struct link_options *o, int argc, char **argv, char msg[LINK_MSGLEN])
{
    struct source from = {0};
    int c, index, taken;

    *o = (struct link_options){.action = LINK_RUN, .realtime = true};
    if (argc > 1 && strcmp(argv[1], "ctl") == 0)
        return parse_ctl(o, argc, argv, msg);
    opterr = 0;
    optind = 1;
    while ((index = -1, c = getopt_long(argc, argv, ":i:qhV", table, &index)) != -1) {
        if ((taken = action_option(o, c, msg)) != NOT_MINE)
            return taken;
        taken = end_option(o, c, msg);
        if (taken == NOT_MINE)
            taken = source_option(&from, c, msg);
        if (taken == NOT_MINE)
            taken = number_option(o, &from, c, msg);
        if (taken == NOT_MINE)
            taken = output_option(o, c);
        if (taken == NOT_MINE)
            taken = wrong_option(c, argv[optind - 1], msg);
        if (taken != 0)
            return -1;
    }
    if (optind < argc)
        return fail(msg, "'%s' belongs to no option: see scps_link --help", argv[optind]);
    return take_source(o, &from, msg) != 0 ? -1 : check_ends(o, msg);
}

void link_options_fini(struct link_options *o)
{
    link_scenario_close(o->scenario);
    scps_link_tables_free(o->tables);
}
