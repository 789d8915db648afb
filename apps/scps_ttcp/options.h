/* SPDX-License-Identifier: MIT */
/* The command line of scps_ttcp as values. */
#ifndef SCPS_TTCP_OPTIONS_H
#define SCPS_TTCP_OPTIONS_H

#include "common/settings.h"

#include <scps/io.h>
#include <scps/sim.h>
#include <scps/stack.h>

#define TTCP_MSGLEN  512 /* room for a one-line message */
#define TTCP_STREAMS 128 /* most connections of a run */

enum ttcp_action {
    TTCP_TRANSMIT,
    TTCP_RECEIVE,
    TTCP_HELP,
    TTCP_VERSION,
    TTCP_LIST_CC,
    TTCP_LIST_LINKS,
    TTCP_COMPLETION
};

struct ttcp_options {
    enum ttcp_action action;
    /* the stream */
    bool reverse;     /* -Q: the transmitter waits */
    bool bidir;       /* --bidir: each connection carries data both ways */
    unsigned streams; /* -P: connections; 1 unless given */
    bool server;      /* --server: one test after another, and several at once */
    bool tell;        /* --tell, --server: the receiver's result is sent back to the sender */
    bool pattern;     /* -s: send the pattern, or discard what arrives */
    bool blocks;      /* -B */
    bool touch;       /* -T */
    bool echo;        /* -e */
    bool udp;         /* -u */
    bool hollow;      /* --hollow */
    size_t length;    /* -l: bytes a read or write call */
    bool length_set;  /* -l was given, so the size of segments follows it */
    uint64_t count;   /* -n: write calls with -s; UINT64_MAX: until --time is over */
    size_t align;     /* -A */
    size_t offset;    /* -O */
    /* --output file; NULL: standard output when receiving, nothing over a link */
    const char *output;
    /* the connection */
    const char *host; /* Host to connect to; NULL with a link */
    /* own_port: -q, the local port of the end that connects; 0: chosen by the stack */
    uint16_t port, own_port;
    uint8_t family;          /* 4, 6; 0: whatever fits */
    struct scps_addr source; /* -H; family 0: chosen */
    /* -b: size of send and receive buffer, bytes; 0: chosen for the link */
    uint32_t buffer;
    uint32_t mtu; /* -m, --mtu: bytes; 0: 1500 on a link, else that of the device */
    /* The settings given, and --binding; what follows from a link is not in it */
    struct scps_conn_config conn;
    bool given[SETTINGS];    /* Settings that were given by their option or letter */
    uint32_t require;        /* --require: set of features, bit 1 << enum scps_feature */
    bool checksum_hints;     /* --checksum-hints */
    uint64_t memory_limit;   /* of a stack, bytes; 0: none */
    bool memory_limit_set;   /* else the stack's default */
    uint64_t record_size;    /* Record size, bytes; 0: each write call is a record */
    uint64_t ack_budget_bps; /* --ack-budget, bit/s; 0: no limit */
    const struct scps_cc_ops *cc;
    const char *compare; /* --compare: controllers as typed; NULL: one transfer only */
    int64_t cc_param[SCPS_CC_PARAMS];
    bool cc_loaded; /* The controller comes from a shared object */
    /* cc_text: as typed, NAME,key=value...; cc_more: parameters from -g -W -X -Y */
    char cc_text[256], cc_more[64];
    char cc_letters[80]; /* -g, -W, -X and -Y as typed, for messages */
    bool cc_given;       /* --cc, -G, -g, -W, -X or -Y was given */
    bool cc_by[2];       /* --cc was given; -G was given */
    uint64_t rate_bps;   /* -R; 0: none */
    /* Rate and minimum rate of the route, bit/s, which all its connections share */
    uint64_t route_bps, min_bps;   /* --route-rate, --min-rate; 0: none */
    struct scps_overhead overhead; /* --overhead */
    bool overhead_set;             /* else a link's framing */
    /* where it runs */
    bool link;             /* both ends in this process, virtual time */
    const char *link_spec; /* The link SPEC as typed, or the default */
    char link_text[4096];  /* with --outage */
    char outage[2048];     /* The table of --outage; empty: the link's own outages, if any, hold */
    enum ttcp_told { TTCP_NOT_TOLD, TTCP_TOLD, TTCP_TOLD_END } outage_told;
    struct scps_link_config fwd, back;
    struct scps_link_tables *tables; /* they point into it */
    struct scps_ifopts ifs;
    uint64_t seed;
    bool seed_set;
    /* When the transfer ends; how often it is reported */
    scps_dur time, interval, timeout; /* 0: none */
    const char *pcap, *pcap_peer, *truth, *qlog, *path_state;
    char unit; /* -f */
    bool json;
    unsigned verbose;
    bool debug;
    /* Words from the environment variable, into which the strings above may point */
    char *env_text, **env_words;
};

/* Reads the words of the environment variable SCPS_TTCP_OPTIONS (env; may be NULL) and then argv,
 * whose strings are borrowed. Returns 0, or -1 with one line in msg that names the input and the
 * remedy. ttcp_options_fini afterwards either way. */
int ttcp_options_parse(struct ttcp_options *o, int argc, char **argv, const char *env,
                       char msg[TTCP_MSGLEN]);
/* The same for one run of --compare, which has controller cc. A controller that needs a rate, where
 * none is given, has rate_bps. */
int ttcp_options_parse_run(struct ttcp_options *o, int argc, char **argv, const char *env,
                           const char *cc, uint64_t rate_bps, char msg[TTCP_MSGLEN]);
void ttcp_options_fini(struct ttcp_options *o);
/* Returns the configuration of a connection. transmit: for the sending end, whose segments follow
 * -l. */
struct scps_conn_config ttcp_conn_config(const struct ttcp_options *o, bool transmit);
/* Returns true if a stack with this configuration, and the connections of both ends, can be opened;
 * otherwise msg names the field that is refused. */
bool ttcp_config_check(const struct ttcp_options *o, const struct scps_stack_config *stack,
                       char msg[TTCP_MSGLEN]);
/* Fills in the transmitter's route to dst through nif. Returns false if the options need none. */
bool ttcp_route(const struct ttcp_options *o, const struct scps_addr *dst, struct scps_netif *nif,
                struct scps_route *r);
/* Returns true if --require names feature f. */
bool ttcp_requires(const struct ttcp_options *o, enum scps_feature f);
/* Returns the bytes that a source of the pattern sends; UINT64_MAX: until --time is over. */
uint64_t ttcp_pattern_total(const struct ttcp_options *o);
/* Returns "0", "1" or "2", the values of -F. */
const char *ttcp_ack_mode_name(enum scps_ack_mode m);

/* Print the help, the controllers and the links to f (scps_ttcp -h, --list-cc, --list-links). */
#include <stdio.h>
void ttcp_print_help(FILE *f);
void ttcp_print_cc(FILE *f);
void ttcp_print_links(FILE *f);
void ttcp_print_completion(FILE *f);

#endif
