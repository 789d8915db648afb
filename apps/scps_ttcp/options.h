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
    bool reverse;       /* -Q: the transmitter waits */
    bool bidir;         /* --bidir: each connection carries data both ways */
    unsigned streams;   /* -P: connections; 1 unless given */
    bool server;        /* --server: one test after another, and several at once */
    bool tell;          /* --tell, --server: the receiver's result goes back to the sender */
    bool pattern;       /* -s: source the pattern, or sink what arrives */
    bool blocks;        /* -B */
    bool touch;         /* -T */
    bool echo;          /* -e */
    bool udp;           /* -u */
    bool hollow;        /* --hollow */
    size_t length;      /* -l: bytes a read or write call */
    bool length_set;    /* given, so segments follow it */
    uint64_t count;     /* -n: write calls with -s; UINT64_MAX: until --time is over */
    size_t align;       /* -A */
    size_t offset;      /* -O */
    const char *output; /* --output; NULL: standard output (receive), nowhere (link) */
    /* the connection */
    const char *host;        /* whom to connect to; NULL with a link */
    uint16_t port, own_port; /* own_port: -q, of the end that connects; 0: chosen */
    uint8_t family;          /* 4, 6; 0: whatever fits */
    struct scps_addr source; /* -H; family 0: chosen */
    uint32_t buffer;         /* -b: send and receive buffer, bytes; 0: chosen */
    uint32_t mtu;            /* -m, --mtu; 0: 1500 on a link, the device's else */
    struct scps_conn_config
        conn;                /* the settings, and --binding; without what follows from a link */
    bool given[SETTINGS];    /* by its option or its letter */
    uint32_t require;        /* --require: 1 << enum scps_feature */
    bool checksum_hints;     /* --checksum-hints */
    uint64_t memory_limit;   /* of a stack, bytes; 0: none */
    bool memory_limit_set;   /* else the stack's default */
    uint64_t record_size;    /* bytes; 0: each write call is a record */
    uint64_t ack_budget_bps; /* --ack-budget, bit/s; 0: no limit */
    const struct scps_cc_ops *cc;
    const char *compare; /* --compare: controllers as typed; NULL: one transfer only */
    int64_t cc_param[SCPS_CC_PARAMS];
    bool cc_loaded;                 /* it is from a shared object */
    char cc_text[256], cc_more[64]; /* as typed: NAME,key=value...; what -g -W -X -Y add */
    uint64_t rate_bps;              /* -R; 0: none */
    /* the route: shared by whoever goes through it */
    uint64_t route_bps, min_bps;   /* --route-rate, --min-rate; 0: none */
    struct scps_overhead overhead; /* --overhead */
    bool overhead_set;             /* else a link's framing */
    /* where it runs */
    bool link;             /* both ends in this process, virtual time */
    const char *link_spec; /* as typed, or the default */
    char link_text[4096];  /* with --outage */
    char outage[2048];     /* the table of --outage; empty: the link's own, if any */
    enum ttcp_told { TTCP_NOT_TOLD, TTCP_TOLD, TTCP_TOLD_END } outage_told;
    struct scps_link_config fwd, back;
    struct scps_link_tables *tables; /* they point into it */
    struct scps_ifopts ifs;
    uint64_t seed;
    bool seed_set;
    /* when it ends, what is reported */
    scps_dur time, interval, timeout; /* 0: none */
    const char *pcap, *pcap_peer, *truth, *qlog, *path_state;
    char unit; /* -f */
    bool json;
    unsigned verbose;
    bool debug;
    /* words from the environment, which the strings above may be */
    char *env_text, **env_words;
};

/* Reads the words of the environment variable SCPS_TTCP_OPTIONS (env; may be NULL) and then argv,
 * whose strings are borrowed. Returns 0, or -1 with one line in msg that names the input and the
 * remedy. ttcp_options_fini afterwards either way. */
int ttcp_options_parse(struct ttcp_options *o, int argc, char **argv, const char *env,
                       char msg[TTCP_MSGLEN]);
void ttcp_options_fini(struct ttcp_options *o);
/* The connection's configuration, the same for either end. transmit: segments follow -l. */
struct scps_conn_config ttcp_conn_config(const struct ttcp_options *o, bool transmit);
/* The transmitter's route to dst through nif. False: the options ask for none. */
bool ttcp_route(const struct ttcp_options *o, const struct scps_addr *dst, struct scps_netif *nif,
                struct scps_route *r);
/* Is f among what --require names? */
bool ttcp_requires(const struct ttcp_options *o, enum scps_feature f);
/* Bytes a source of the pattern sends; UINT64_MAX: until the time is over. */
uint64_t ttcp_pattern_total(const struct ttcp_options *o);
/* "0", "1", "2" as -F has them. */
const char *ttcp_ack_mode_name(enum scps_ack_mode m);

/* Each writes to f (scps_ttcp -h, --list-cc, --list-links). */
#include <stdio.h>
void ttcp_print_help(FILE *f);
void ttcp_print_cc(FILE *f);
void ttcp_print_links(FILE *f);
void ttcp_print_completion(FILE *f);

#endif
