/* SPDX-License-Identifier: MIT */
/* What the files of fuzz_pair share: two hosts, the channel between them, the flows and their
 * applications.
 *
 * fuzz_pair.c has the grammar and runs an input; pair_setup.c makes configurations,
 * pair_channel.c carries packets, pair_change.c alters them, pair_app.c is the application at
 * each end, pair_third.c is a third party and the routers, pair_judge.c decides, within the bounds
 * of pair_bounds.c.
 */
#ifndef SCPS_FUZZ_PAIR_H
#define SCPS_FUZZ_PAIR_H

#include <scps/comp.h>
#include <scps/conn.h>
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "feed.h"

enum {
    HOSTS = 2,
    FLOWS = 3,
    PARTS = 4,         /* changes of fate that a direction can have at once */
    HEADER = 40,       /* octets of the input that configure the run */
    ORDER = 4,         /* octets of an order */
    MOST_ORDERS = 120, /* what follows is ignored: an execution stays short */
    LISTEN_PORT = 80,
    CLIENT_PORT = 5000, /* + 64 * flow + generation */
    BOTH_PORT = 7000,   /* the same, where both ends open the flow */
    STRANGER_PORT = 20000,
    PATTERN = 1 << 18,
    MOST_OCTETS = 10000, /* in one direction of a flow */
    MOST_RECORDS = 256
};

#define START SCPS_SEC(100) /* when a run begins */

/* How an application writes: by a copy, in pieces (scps_conn_writev), or into reserved room. */
enum { HOW_COPY, HOW_PIECES, HOW_RESERVED };

/* Who may be injecting packets: how much the third party knows. */
enum { THIRD_NONE, THIRD_BLIND, THIRD_PORTS, THIRD_ALL };

/* What a packet or its fate does to the judge's certainty. Each is set at most once and never
 * taken back. */
enum {
    /* A packet was changed and its checksum mended: octets of nobody's stream may have been
     * accepted. */
    DOUBT_CONTENT = 1,
    /* Options of a SYN were altered, or acknowledgements forged: the connection may never
     * finish. */
    DOUBT_END = 2,
    /* Record ends may be missing or made up. */
    DOUBT_RECORDS = 4
};

/* Why a flow may end with an error although nothing is wrong with the stack. */
enum {
    EXCUSE_LET_GO = 1,   /* an application closed early, or aborted */
    EXCUSE_MEMORY = 2,   /* an allocation was refused */
    EXCUSE_ICMP = 4,     /* a router said that the path, host or port is not there */
    EXCUSE_LISTENER = 8, /* the listener went away, or its backlog was full */
    EXCUSE_DEVICE = 16,  /* the interface was removed */
    EXCUSE_PEER = 32     /* the other end had an error of its own */
};

/* One end of a flow: the application and what it knows. */
struct end {
    unsigned nr;              /* the host */
    struct scps_conn *c;      /* NULL: not opened, or let go */
    bool had;                 /* there was one in this incarnation */
    bool can_write, can_read; /* an event said so, and no call since said otherwise */
    bool auto_read;           /* reads when it may; else only when an order says so */
    bool shut, eof, closed, failed;
    int err;
    uint64_t written, goal, read, missing; /* octets; missing: in holes that were told */
    uint64_t sum;                          /* hash of what was read */
    uint32_t chunk;                        /* largest single write; 0: as much as there is */
    uint8_t how;                           /* HOW_*; others: by a copy */
    uint64_t record[MOST_RECORDS];         /* where records written here end, ascending */
    unsigned records, records_seen;
    uint64_t unacked;
    scps_time progress; /* when something was last acknowledged, or nothing was outstanding */
    scps_time opened, closed_at;
};

struct flow {
    unsigned nr, generation;
    int opener;    /* host that opens it; HOSTS: both */
    uint32_t salt; /* where its streams begin in the pattern */
    uint16_t port; /* the client's */
    unsigned excuse;
    bool unsure; /* accepted connections may be of an earlier incarnation */
    struct end end[HOSTS];
};

/* What happens to some of the next packets of a direction. */
struct fate {
    uint32_t mask; /* bit 0: the next packet */
    uint8_t what, b, c;
};

struct packet {
    struct packet *next;
    scps_time at;
    uint8_t to;
    bool ours;    /* of one of the flows, not of the third party and not an answer to it */
    bool theirs;  /* of the third party, or an answer to it */
    bool damaged; /* must not be used */
    bool compressed;
    bool csum_ok;
    uint32_t hollow;
    uint32_t len;
    uint8_t data[]; /* exactly len octets, so that a sanitizer sees a read beyond them */
};

struct memo { /* what a snooper knows of one direction of a flow */
    bool known;
    uint16_t sport, dport;
    uint32_t nxt, ack, tsval;
    uint16_t wnd;
};

struct direction { /* packets that this host sends */
    scps_dur delay;
    uint64_t rate; /* bytes/s; 0: no line */
    scps_time busy;
    scps_dur queue;                     /* longest wait for the line */
    uint32_t mtu;                       /* a router on the way that carries no more; 0: none */
    uint32_t loss, dup, jitter, damage; /* chances in 256; jitter: table index */
    bool down;
    uint32_t prng;
    struct fate fate[PARTS];
    unsigned fates;
    struct memo memo[FLOWS];
    /* of each connection id, the damaged segments in a row that are right by a number that the
     * stack accepts in the pseudo-header */
    struct {
        uint8_t n;
        uint32_t sum; /* hash of the last of them, and when it came: a copy does not count */
        scps_time at;
    } imitations[256];
    uint8_t comp_id[FLOWS];
    struct packet *leaving[FLOWS + 1]; /* at this instant, of each flow, and the answers */
    uint8_t quote[128];                /* start of the last packet of a flow, for ICMP errors */
    size_t quote_len;
};

struct host {
    unsigned nr;
    struct scps_stack *st;
    struct scps_listener *l;
    struct scps_netif nif;
    struct scps_conn_config cfg;
    struct scps_addr addr;
    struct memory mem;
    struct direction out;
    uint64_t route_rate;
    bool touched;     /* input, a call or a signal since it was last served */
    bool gone;        /* its interface was removed */
    scps_time asleep; /* not served before this time */
    scps_time due;    /* its deadline when it was last served */
    size_t peak;      /* of memory */
    unsigned refuse;  /* this many allocations fail */
    /* sent; received; times that it was served without effect */
    unsigned packets, arrived, idle;
};

struct world {
    struct feed in;
    struct host host[HOSTS];
    struct flow flow[FLOWS];
    struct packet *head, *tail; /* on the way, by time of arrival */
    unsigned in_transit;
    scps_time now;
    unsigned third;
    bool inject;        /* the third party's packets are sent in this run */
    bool third_sends;   /* what is injected now is the third party's, not a router's */
    bool rated;         /* a route had a rate: what leaves for strangers pays, too */
    bool slept;         /* a host slept: packets of strangers let overdue timers run, too */
    bool no_cookies;    /* no SYN cookies: strangers may take all half-open places */
    bool crowded;       /* few half-open connections: one may make room for another */
    bool hollow, vouch; /* bytes are counted only; checksums are the device's affair */
    unsigned doubt;
    unsigned settled; /* instants at which all that was due was done */
    bool healed;
    bool cut;           /* the run became too long to see how it ends */
    bool stopped;       /* the run was ended by its number of services, with transfers under way */
    bool refused;       /* an allocation may have been */
    unsigned strangers; /* packets of the third party */
    bool loud; /* FUZZ_LOUD in the environment: say what happens, to read one input's story */
};

/* How a run ended, to compare two of them. */
struct outcome {
    struct {
        bool had, eof, closed, failed;
        int err;
        uint64_t written, read, missing, sum;
    } end[FLOWS][HOSTS];
    uint64_t unanswered; /* packets that a host did not answer, as its limit was reached */
};

static inline struct host *other(struct world *w, const struct host *h)
{
    return &w->host[!h->nr];
}

static inline uint32_t draw(uint32_t *x) /* xorshift (Marsaglia); *x is never 0 */
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

/* ---- pair_story.c: nothing unless FUZZ_LOUD is set */

/* A line with the time of the run. */
void pair_log(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A packet of len octets at p and of so many that lie apart, and what became of it. */
void pair_log_packet(const struct world *w, const uint8_t *p, size_t len, size_t apart,
                     const char *from, const char *verdict);
/* The notes of this host's stack that FUZZ_NOTES names (scps_note_name), between commas. */
void pair_story(const struct world *w, struct host *h);

/* ---- pair_setup.c */

bool pair_setup(struct world *w, const uint8_t header[HEADER]);
/* Listens, if nobody does. */
void pair_listen(struct world *w, struct host *h, unsigned backlog);
/* Changes what may change in mid-flight, as b and c say. */
void pair_reconfigure(struct world *w, struct host *h, struct end *e, uint8_t b, uint8_t c);
void pair_route(struct world *w, struct host *h, uint8_t code);

/* ---- pair_channel.c */

/* A packet leaves host h; with the others of this instant it is on its way when they are released.
 */
void pair_carry(struct world *w, struct host *h, const struct scps_pkt *out);
void pair_release(struct world *w, struct host *h);
/* A packet of somebody else's arrives at h after delay. */
void pair_inject(struct world *w, struct host *h, const uint8_t *p, size_t len, scps_dur delay);
/* Hands over what has arrived by now. Returns false if there was nothing. */
bool pair_deliver(struct world *w);
void pair_fate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c);
void pair_climate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c);
void pair_heal(struct world *w);
void pair_empty(struct world *w);

/* ---- pair_change.c */

/* Where the transport header is; its protocol in *proto. The stacks build no extension headers. */
uint8_t *pair_transport(struct packet *p, uint8_t *proto);
void pair_mend_ip(struct packet *p);
void pair_flip(struct packet *p, uint32_t where);
void pair_imitation(struct world *w, struct direction *d, const struct packet *p);
void pair_forge(struct world *w, struct packet *p, uint8_t b, uint8_t c);
void pair_option(struct world *w, struct packet *p, const struct flow *f, uint8_t kind, uint8_t by,
                 bool any);
void pair_ecn(struct packet *p, bool mark);

/* ---- pair_app.c */
/* Records the progress of h's connections after a packet has arrived. The application of a host
 * that sleeps is served later, but R2 of RFC 9293 section 3.8.3 begins with the acknowledgement. */
void pair_arrived(struct world *w, struct host *h);

void pair_open(struct world *w, struct flow *f, bool again);
void pair_events(struct world *w, struct host *h);
/* What the applications of h do on their own. Returns true if they did anything. */
bool pair_work(struct world *w, struct host *h);
int64_t pair_write(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags);
int64_t pair_read(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags);
void pair_let_go(struct world *w, struct flow *f, struct end *e, bool politely);
void pair_call(struct world *w, struct host *h, struct flow *f, uint8_t what, uint8_t b, uint8_t c);

/* ---- pair_third.c */

/* A packet of the third party. */
void pair_third(struct world *w, struct host *h, struct flow *f, uint8_t b, uint8_t c);
/* A router answers the last packet that h sent. */
void pair_router(struct world *w, struct host *h, uint8_t b, uint8_t c);
void pair_icmp(struct world *w, struct host *to, const uint8_t *quote, size_t len, uint8_t type,
               uint8_t code, uint32_t word);

/* ---- pair_series.c */

/* Runs one input. With FUZZ_FINDS in the environment one that fails is written down, and the
 * process goes on. */
void pair_series(void (*run)(const uint8_t *data, size_t size), const uint8_t *data, size_t size);

/* ---- pair_bounds.c */

/* How long two ends may take after the channel healed. */
scps_dur pair_time_limit(const struct world *w);
bool pair_without_backoff(const struct world *w);
/* Do the hosts count SNACK in different units? */
bool pair_units_differ(const struct world *w);
/* May a run of so many services be too long to be executed? */
bool pair_many_timeouts(const struct world *w, unsigned services);
bool pair_parted_for_good(const struct world *w);

/* ---- pair_judge.c */

/* A packet leaves h: is it well-formed? */
void pair_judge_packet(struct world *w, const struct host *h, const struct scps_pkt *out);
/* What the stack said about a packet of a flow. */
void pair_judge_input(struct world *w, const struct packet *p, int why);
/* After each order: counters agree, memory is bounded. */
void pair_judge_state(struct world *w);
void pair_judge_error(struct world *w, struct flow *f, struct end *e);
/* Everything is served at this instant: deadlines lie ahead. */
void pair_judge_served(struct world *w, struct host *h);
/* Both ends have had their time after the channel healed. */
void pair_judge_flow(struct world *w, struct flow *f);
bool pair_finished(const struct world *w);
void pair_outcome(const struct world *w, struct outcome *o);
/* ended: both runs went on to their end. A run that its number of services ended stops earlier in
 * time where the third party's packets are served, too: then only errors are compared. */
void pair_compare(const struct world *w, const struct outcome *with, const struct outcome *without,
                  bool ended);

#endif
