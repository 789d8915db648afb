/* SPDX-License-Identifier: MIT */
/* Parses the command line of scps_ttcp into a structure. */
#ifndef SCPS_TTCP_OPTIONS_H
#define SCPS_TTCP_OPTIONS_H

#include "common/settings.h"

#include <scps/io.h>
#include <scps/sim.h>
#include <scps/stack.h>

#define TTCP_MSGLEN  512 /* size of a buffer for a message of one line, bytes */
#define TTCP_STREAMS 128 /* largest number of connections of a run */

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
    /* The following fields are options of the transfer as a whole and of what is sent. */
    bool reverse;     /* -Q: the transmitter listens, and the receiver connects */
    bool bidir;       /* --bidir: each connection carries data in both directions */
    unsigned streams; /* -P: number of connections; 1 unless given */
    bool server;      /* --server: each connection that arrives is a test of its own */
    bool tell;        /* --tell, --server: the receiver's result is sent back to the sender */
    /* -s: the sender sends a generated pattern in place of standard input, and the receiver
     * discards what arrives */
    bool pattern;
    /* -B: at both ends, only full blocks of -l bytes: the sender writes only full blocks to the
     * connection, and the receiver to its output, except the last block */
    bool blocks;
    /* -T: sender and receiver read every byte of the data in memory and add it to a sum; false:
     * data is passed on without being looked at */
    bool touch;
    bool echo; /* -e: the receiver echoes each block */
    bool udp;  /* -u: datagrams (UDP) are sent instead of a stream */
    /* --hollow: over a virtual link, sender, stacks and receiver only count the bytes of the data
     * and store none */
    bool hollow;
    /* -l: bytes that are read or written with one call; with -u, size of a datagram */
    size_t length;
    bool length_set; /* true: -l was given, so that it also sets the size of segments */
    /* -n: number of blocks of -l bytes that the sender of -s (a generated pattern) writes;
     * UINT64_MAX: it writes until the time of --time has passed */
    uint64_t count;
    size_t align; /* -A: alignment of the buffer, bytes */
    /* -O: the address of the buffer is a multiple of `align` plus this number of bytes */
    size_t offset;
    /* --output file; NULL: standard output when receiving, none over a virtual link */
    const char *output;
    /* The following fields are options of the connections of the transfer. */
    /* host to connect to, as typed; NULL: this end listens, or the link is virtual */
    const char *host;
    /* own_port: -q, the local port of the end that connects; 0: chosen by the stack */
    uint16_t port, own_port;
    uint8_t family;          /* -4, -6: IP version 4 or 6; 0: either */
    struct scps_addr source; /* -H: local address; family 0: chosen by the stack */
    /* -b: size of the send buffer and of the receive buffer, each, bytes; 0: four products of the
     * rate of the virtual link and the expected round trip, at least 1 MiB; over a real interface
     * 1 MiB */
    uint32_t buffer;
    uint32_t mtu; /* -m, --mtu: MTU, bytes; 0: 1500 on a virtual link, else that of the device */
    /* configuration with the settings that options gave, and --binding; settings that follow from
     * the link are not in it */
    struct scps_conn_config conn;
    bool given[SETTINGS]; /* for each setting, true if an option has set it */
    /* --require: set of the features that the handshake must agree on, bit 1 << scps_feature
     * each */
    uint32_t require;
    /* --checksum-hints: the stack takes a wrong transport checksum as a sign that the link damages
     * packets, so that losses count as corruption */
    bool checksum_hints;
    uint64_t memory_limit; /* --memory-limit: limit of the stack's memory, bytes; 0: none */
    /* true: --memory-limit was given; false: the stack's default applies */
    bool memory_limit_set;
    /* --record-size: size of a record, bytes; 0: each write call is a record */
    uint64_t record_size;
    /* --ack-budget: limit of the rate at which each end sends acknowledgements without data,
     * headers counted, bit/s; 0: no limit */
    uint64_t ack_budget_bps;
    const struct scps_cc_ops *cc;
    const char *compare; /* --compare: list of controllers as typed; NULL: one transfer only */
    int64_t cc_param[SCPS_CC_PARAMS];
    bool cc_loaded;     /* true: the controller comes from a shared object */
    char cc_file[1024]; /* --cc-plugin: the shared object; empty: none */
    /* cc_text: the controller as typed, NAME,key=value...; cc_more: the parameters given by -g, -W,
     * -X and -Y */
    char cc_text[256], cc_more[64];
    /* text for messages: lists those of the options -g, -W, -X and -Y (parameters of Vegas) that
     * were given, with their values */
    char cc_letters[80];
    /* true: an option that chooses a congestion controller or sets its parameters was given: --cc,
     * -G, -g, -W, -X or -Y */
    bool cc_given;
    /* which options chose the controller: [0] is true if --cc was given, [1] if -G was */
    bool cc_by[2];
    uint64_t rate_bps; /* -R: limit of the sender's rate, bit/s; 0: none */
    /* rate and minimum rate, bit/s, that all connections to the peer share (a route of the
     * stack) */
    uint64_t route_bps, min_bps; /* --route-rate and --min-rate, bit/s; 0: none */
    /* --overhead: bytes that each packet costs beyond its IP length */
    struct scps_overhead overhead;
    /* true: --overhead was given; false: the octets of the link's own framing count instead */
    bool overhead_set;
    /* The following fields describe the virtual link, or the real interface, over which the
     * transfer runs. */
    /* true: both ends run in this process, over a virtual link in virtual time */
    bool link;
    const char *link_spec; /* description of the link (SPEC) as typed, or the default */
    char link_text[4096];  /* the description of the link with the table of --outage added */
    /* table of --outage; empty: not given, so outages in the link's description apply */
    char outage[2048];
    enum ttcp_outage_signal {
        TTCP_SIGNAL_NONE,
        TTCP_SIGNAL_BEGIN,
        TTCP_SIGNAL_WITH_END
    } outage_signal;
    struct scps_link_config fwd, back;
    /* memory of the tables (such as times of outages) to which the link configurations fwd and back
     * point, freed by ttcp_options_fini(); NULL: they point to none */
    struct scps_link_tables *tables;
    struct scps_ifopts ifs;
    uint64_t seed;
    bool seed_set;
    /* --time, --interval and --timeout, µs; 0: the option was not given */
    scps_dur time, interval, timeout;
    const char *pcap, *pcap_peer, *truth, *qlog, *path_state;
    char unit; /* -f: unit in which rates are printed */
    bool json;
    unsigned verbose;
    bool debug;
    /* env_text: copy of the environment variable SCPS_TTCP_OPTIONS, divided into words; env_words:
     * argv with these words inserted behind argv[0]. Fields above that keep a text as it was typed
     * (such as host and output) may point into env_text. NULL: the variable is not set or empty. */
    char *env_text, **env_words;
};

/* Parses the words of the environment variable SCPS_TTCP_OPTIONS (env; NULL: not set) and then
 * those of argv into *o, which keeps pointers to the strings of argv. Returns 0, or -1 with one
 * line in msg that names the input and the remedy. Call ttcp_options_fini() afterwards in either
 * case. */
int ttcp_options_parse(struct ttcp_options *o, int argc, char **argv, const char *env,
                       char msg[TTCP_MSGLEN]);
/* Parses the options as ttcp_options_parse() does, for one transfer of --compare, with the
 * congestion controller cc in place of --compare. If the controller needs a rate and no option
 * gives one, it gets rate_bps, bit/s. */
int ttcp_options_parse_run(struct ttcp_options *o, int argc, char **argv, const char *env,
                           const char *cc, uint64_t rate_bps, char msg[TTCP_MSGLEN]);
void ttcp_options_fini(struct ttcp_options *o);
/* Returns the configuration of a connection that follows from the options and the link. transmit:
 * for the sending end, whose segments have the size that -l gives. */
struct scps_conn_config ttcp_conn_config(const struct ttcp_options *o, bool transmit);
/* Returns true if the stack accepts the configuration `stack` and those of the connections at both
 * ends. Otherwise returns false, and msg names the field that is refused. */
bool ttcp_config_check(const struct ttcp_options *o, const struct scps_stack_config *stack,
                       char msg[TTCP_MSGLEN]);
/* Fills in *r, the transmitter's route to dst through nif, with rate and minimum rate. Returns
 * false if no option gives a rate, so that no such route is needed. */
bool ttcp_route(const struct ttcp_options *o, const struct scps_addr *dst, struct scps_netif *nif,
                struct scps_route *r);
/* Returns true if --require names feature f. */
bool ttcp_requires(const struct ttcp_options *o, enum scps_feature f);
/* Returns how many bytes each sender sends with -s, which sends a generated pattern in place of
 * standard input: the number of writes (-n) times the bytes of one write (-l). UINT64_MAX: each
 * sender sends until the time of --time has passed. */
uint64_t ttcp_pattern_total(const struct ttcp_options *o);
/* Returns the name of an acknowledgement mode in reports: "delayed" (-F 0), "every" (-F 1) or
 * "other" (-F 2). */
const char *ttcp_ack_mode_name(enum scps_ack_mode m);

/* Print the help, the controllers and the links to f (scps_ttcp -h, --list-cc, --list-links). */
#include <stdio.h>
void ttcp_print_help(FILE *f);
void ttcp_print_cc(FILE *f);
void ttcp_print_links(FILE *f);
void ttcp_print_completion(FILE *f);

#endif
