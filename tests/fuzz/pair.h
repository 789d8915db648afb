/* SPDX-License-Identifier: MIT */
/* Declarations that the files of fuzz_pair share: two hosts, the channel between them, the flows
 * and their applications.
 *
 * fuzz_pair.c describes the input and runs it; pair_setup.c makes configurations, pair_channel.c
 * carries packets, pair_change.c alters them, pair_app.c is the application at each end,
 * pair_call.c has the calls that orders make it do, pair_dgram.c the datagram endpoints;
 * pair_host.c changes hosts beneath their connections, pair_third.c is a third party and the
 * routers, pair_judge.c has the checks, with the bounds of pair_bounds.c, and
 * pair_step.c those of what one packet does to a connection.
 */
#ifndef SCPS_FUZZ_PAIR_H
#define SCPS_FUZZ_PAIR_H

#include <scps/comp.h>
#include <scps/conn.h>
#include <scps/dgram.h>
#include <scps/path.h>
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "feed.h"

enum {
    HOSTS = 2,
    FLOWS = 3,
    PARTS = 4,   /* The number of changes of fate that a direction can have at the same time. */
    HEADER = 40, /* The number of octets of the input that configure the run. */
    ORDER = 4,   /* The number of octets in an order. */
    MOST_ORDERS = 120, /* Further orders are ignored, so that a run stays short. */
    LISTEN_PORT = 80,
    CLIENT_PORT = 5000, /* The client's port is this + 64 * flow + generation. */
    BOTH_PORT = 7000,   /* The port of a flow that both ends open. */
    DGRAM_PORT = 9000,
    STRANGER_PORT = 20000,
    CHOSEN_PORT = 49152, /* and above: a port that the stack chooses */
    PATTERN = 1 << 18,
    MOST_OCTETS = 10000, /* The most octets in one direction of a flow. */
    MOST_RECORDS = 256
};

#define START SCPS_SEC(100) /* The virtual time at which a run begins. */

/* How an application writes: it copies, writes in pieces (scps_conn_writev()), or writes into
 * reserved room. */
enum { HOW_COPY, HOW_PIECES, HOW_RESERVED };

/* The kinds of third party that may inject packets: none; one that has the addresses and the
 * listener's port only; one that has all ports, too; one that reads all packets. */
enum { THIRD_NONE, THIRD_BLIND, THIRD_PORTS, THIRD_ALL };

/* Changes of packets by the channel that make some of the judge's checks uncertain, for one flow,
 * or for all (in the world). Each is set at most once and never cleared, because packets of an
 * earlier incarnation may still be on their way. */
enum {
    /* A packet was changed and its checksum corrected: octets that no application wrote may have
     * been accepted. */
    DOUBT_CONTENT = 1,
    /* Options of a SYN were changed, or acknowledgements forged: the connection may never
     * finish. */
    DOUBT_END = 2,
    /* Ends of records may be missing or invented. */
    DOUBT_RECORDS = 4
};

/* The reasons for which a flow may end with an error without a fault of the stack. */
enum {
    EXCUSE_LET_GO = 1,   /* An application closed early, or aborted. */
    EXCUSE_MEMORY = 2,   /* An allocation was refused. */
    EXCUSE_ICMP = 4,     /* A router reported that the path, host or port is unreachable. */
    EXCUSE_LISTENER = 8, /* The listener was closed, or its backlog was full. */
    EXCUSE_DEVICE = 16,  /* The interface, its address or its route was removed. */
    EXCUSE_PEER = 32     /* The other end had an error of its own. */
};

/* One end of a flow: the application and its state. */
struct end {
    unsigned nr; /* The number of the host. */
    /* The connection; NULL: it is not open, or the application has let go of it. */
    struct scps_conn *c;
    bool had; /* The application has had a connection in this incarnation of the flow. */
    /* The last event permitted a write, or a read, and no call since then has been refused. */
    bool can_write, can_read;
    /* The configuration was changed while the connection was open, or after it had ended. */
    bool reconfigured;
    /* true: the application reads whenever it can; false: it reads only at an order of the
     * input. */
    bool auto_read;
    bool shut, eof, closed, failed;
    bool starved; /* The last write was refused for lack of memory. */
    int err;
    /* Numbers of octets; missing: octets in holes that were reported. */
    uint64_t written, goal, read, missing;
    uint64_t sum;                  /* A hash of the octets that were read. */
    uint32_t chunk;                /* The largest single write, octets; 0: all that there is. */
    uint8_t how;                   /* HOW_*; other values: the application copies. */
    uint64_t record[MOST_RECORDS]; /* The offsets at which records end, ascending. */
    unsigned records, records_seen;
    uint64_t unacked;
    /* The time at which data was last acknowledged, or at which none was outstanding. */
    scps_time progress;
    scps_time opened, closed_at;
};

struct flow {
    unsigned nr, generation;
    int opener;    /* The host that opens the flow; HOSTS: both do. */
    uint32_t salt; /* The offset in the pattern at which the flow's streams begin. */
    uint16_t port; /* The port of the client. */
    bool chosen;   /* true: the stack chooses the port of the client; false: the test does. */
    unsigned excuse;
    unsigned doubt; /* The DOUBT_* of this flow alone. */
    struct end end[HOSTS];
};

/* What happens to some of the next packets of a direction. */
struct fate {
    uint32_t mask; /* The packets that are affected; bit 0 is the next one. */
    uint8_t what, b, c;
};

struct packet {
    struct packet *next;
    scps_time at;
    uint8_t to;
    /* The packet belongs to a flow, and is neither of the third party nor a reply to it. */
    bool ours;
    bool theirs;  /* The packet is of the third party, or a reply to it. */
    bool damaged; /* The packet was damaged, so the receiver must not use it. */
    bool altered; /* Octets of the packet were changed, and its checksum was made right. */
    bool compressed;
    bool csum_ok;
    uint32_t hollow;
    uint32_t len;
    /* The block has exactly len octets, so that a sanitizer detects a read beyond them. */
    uint8_t data[];
};

/* What a third party that reads all packets has recorded about one direction of a flow. */
struct memo {
    bool known;
    uint16_t sport, dport;
    uint32_t nxt, ack, tsval;
    uint16_t wnd;
};

struct direction { /* The packets that this host sends. */
    scps_dur delay;
    uint64_t rate; /* The rate of the line, bytes/s; 0: no line. */
    scps_time busy;
    scps_dur queue; /* The longest time for which a packet waits for the line, µs. */
    uint32_t mtu;   /* The MTU of a router on the path, bytes; 0: there is none. */
    uint32_t loss, dup, jitter, damage; /* Chances in 256; jitter is the index of a table. */
    bool down;
    uint32_t prng;
    struct fate fate[PARTS];
    unsigned fates;
    struct memo memo[FLOWS];
    /* For each connection id: the number of damaged segments in a row whose checksum is right with
     * another protocol number that the stack accepts. */
    struct {
        uint8_t n;
        /* The hash of the last such segment and the time at which it came: a copy does not
         * count. */
        uint32_t sum;
        scps_time at;
    } imitations[256];
    uint8_t comp_id[FLOWS];
    /* The packets that leave at this time, of each flow, and the replies. */
    struct packet *leaving[FLOWS + 1];
    uint8_t quote[128]; /* The beginning of the last packet of a flow, for ICMP errors. */
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
    bool no_addr; /* The host's address was removed, and comes back at the end at the latest. */
    /* The route to the network of the hosts was removed, and comes back at the end if the memory of
     * the host permits. */
    bool no_route;
    unsigned default_routes; /* The number of default routes, which lead to the other host, too. */
    size_t bound; /* The memory that the stack has reserved, bytes; 0: it has reserved none. */
    bool limited; /* The stack has a limit of memory, which its connections share. */
    struct scps_path_state path; /* The path state that was saved last; zeros: none was. */
    struct scps_dgram *dgram;    /* The datagram endpoint; NULL: none is open. */
    uint16_t dgram_port;         /* The port of the endpoint opened last; 0: none was opened. */
    uint16_t datagrams;          /* The number of datagrams that the application has sent. */
    /* The last event reported a waiting datagram, and no call since then found none. */
    bool can_recv;
    bool touched;     /* The host has got a packet, a call or a signal since it was last served. */
    bool gone;        /* The host's interface was removed. */
    scps_time asleep; /* The host is not served before this time. */
    scps_time due;    /* The deadline that the stack gave when it was last served. */
    size_t peak;      /* The largest amount of memory that was in use, bytes. */
    unsigned refuse;  /* The number of allocations that will fail. */
    /* Packets sent, packets received, and how often the host was served without effect. */
    unsigned packets, arrived, idle;
    unsigned outputs; /* The number of calls of scps_stack_output(). */
};

struct world {
    struct feed in;
    struct host host[HOSTS];
    struct flow flow[FLOWS];
    struct packet *head, *tail; /* The packets on the way, in order of arrival. */
    unsigned in_transit;
    scps_time now;
    unsigned third;
    bool inject;      /* The third party's packets are sent in this run. */
    bool third_sends; /* The packet that is injected now is the third party's, not a router's. */
    bool rated;       /* A route had a rate, which replies to the third party use, too. */
    /* A host slept: packets of the third party make it serve timers that are overdue. */
    bool slept;
    /* There are no SYN cookies, so the third party may take all half-open places. */
    bool no_cookies;
    /* There are few half-open places: one connection may lose its place to another. */
    bool crowded;
    bool hollow, vouch; /* Data is hollow (counted, not stored); the device handles checksums. */
    unsigned doubt;
    unsigned settled; /* The number of times at which everything due was served. */
    bool healed;
    scps_time healed_at; /* when the faults ended; 0: they have not */
    /* A damaged segment, or one of a third party that reads all packets, had a right checksum with
     * another protocol number. */
    bool imitated;
    bool stopped; /* The run was ended by its number of services while transfers were going on. */
    bool refused; /* An allocation may have been refused. */
    struct { /* The largest sums over all connections of a moment, after the faults have ended. */
        uint64_t resent, acks; /* The numbers of retransmissions and of acknowledgements sent. */
        scps_dur rto;          /* The longest retransmission timeout, µs. */
    } most;
    bool damage_told;   /* Signals, or wrong checksums, report that the link damages packets. */
    unsigned strangers; /* The number of packets of the third party. */
    bool answered;      /* A host has answered a packet of the third party. */
    /* A segment of a blind third party had the connection id of a connection, which may have
     * answered it. */
    bool guessed;
    /* After that a packet met a fate, a chance or a line, which count or queue packets. */
    bool shifted;
    /* A segment of a third party was refused for its checksum, but counted as one that shows the
     * peer's protocol number. */
    bool misled;
    bool loud; /* FUZZ_LOUD in the environment makes the target print what happens in the run. */
};

/* How a run ended, to compare two runs. */
struct outcome {
    struct {
        bool had, eof, closed, failed;
        int err;
        uint64_t written, read, missing, sum;
    } end[FLOWS][HOSTS];
    /* The number of packets that a host did not answer because its limit was reached. */
    uint64_t unanswered;
    bool answered; /* A packet of the third party was answered. */
    /* An answer to the third party may have changed which packets of the flows met a fate. */
    bool shifted;
    /* A segment of the third party may have changed when a receiver learnt a protocol number. */
    bool misled;
};

static inline struct host *other(struct world *w, const struct host *h)
{
    return &w->host[!h->nr];
}

/* Returns the DOUBT_* that concern flow f. */
static inline unsigned doubt_of(const struct world *w, const struct flow *f)
{
    return w->doubt | f->doubt;
}

/* Returns a random number (xorshift, Marsaglia); *x must not be 0. */
static inline uint32_t draw(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

/* ---- pair_story.c: prints nothing unless FUZZ_LOUD is set ---- */

/* Prints a line with the time of the run. */
void pair_log(const struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a packet of len octets at p, of which `apart` lie apart, and what became of it. */
void pair_log_packet(const struct world *w, const uint8_t *p, size_t len, size_t apart,
                     const char *from, const char *verdict);
/* Prints the notes of this host's stack that FUZZ_NOTES names (see scps_note_name()), separated by
 * commas. */
void pair_story(const struct world *w, struct host *h);

/* ---- pair_setup.c ---- */

bool pair_setup(struct world *w, const uint8_t header[HEADER]);
/* Opens the host's listener unless it is open. */
void pair_listen(struct world *w, struct host *h, unsigned backlog);
/* Changes settings of a connection that may change while it is open, as b and c say. */
void pair_reconfigure(struct world *w, struct host *h, struct end *e, uint8_t b, uint8_t c);
void pair_route(struct world *w, struct host *h, uint8_t code);

/* ---- pair_channel.c ---- */

/* Takes a packet that leaves host h. pair_release() sends it on its way with the others of this
 * time. */
void pair_carry(struct world *w, struct host *h, const struct scps_pkt *out);
void pair_release(struct world *w, struct host *h);
/* Injects a packet that arrives at h after `delay` µs. */
void pair_inject(struct world *w, struct host *h, const uint8_t *p, size_t len, scps_dur delay);
/* Delivers the packets that have arrived by now. Returns false if there was none. */
bool pair_deliver(struct world *w);
void pair_fate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c);
void pair_climate(struct world *w, struct host *h, uint8_t a, uint8_t b, uint8_t c);
/* Returns true if the TCP header at t, which this host has sent, has the ports of flow f. */
bool pair_of_flow(const struct flow *f, unsigned host, const uint8_t *t);
void pair_heal(struct world *w);
void pair_empty(struct world *w);

/* ---- pair_change.c ---- */

/* Returns where the transport header begins, and its protocol in *proto. The stacks send no
 * extension headers. */
uint8_t *pair_transport(struct packet *p, uint8_t *proto);
void pair_mend_ip(struct packet *p);
void pair_flip(struct packet *p, uint32_t where);
void pair_imitation(struct world *w, struct direction *d, const struct packet *p);
/* f: the flow whose packet p is. */
void pair_forge(struct world *w, struct packet *p, struct flow *f, uint8_t b, uint8_t c);
void pair_option(struct world *w, struct packet *p, struct flow *f, uint8_t kind, uint8_t by,
                 bool any);
void pair_ecn(struct packet *p, bool mark);

/* ---- pair_app.c ---- */
/* Records the progress of h's connections after a packet has arrived. The application of a host
 * that sleeps is served later, but R2 of RFC 9293 section 3.8.3 begins with the acknowledgement. */
void pair_arrived(struct world *w, struct host *h);

void pair_open(struct world *w, struct flow *f, bool again);
void pair_events(struct world *w, struct host *h);
/* Lets the applications of h do what events allow. Returns true if they did anything. */
bool pair_work(struct world *w, struct host *h);
int64_t pair_write(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags);
int64_t pair_read(struct world *w, struct flow *f, struct end *e, size_t n, unsigned flags);
/* Reads without a copy. */
void pair_read_lent(struct world *w, struct flow *f, struct end *e, size_t most);
void pair_let_go(struct world *w, struct flow *f, struct end *e, bool politely);
void pair_call(struct world *w, struct host *h, struct flow *f, uint8_t what, uint8_t b, uint8_t c);

/* Opens a flow from a port that the stack chooses. */
void pair_open_chosen(struct world *w, struct flow *f);

/* ---- pair_dgram.c ---- */

/* Opens the datagram endpoint of h, or closes, connects or configures it. */
void pair_dgram_change(struct world *w, struct host *h, uint8_t b, uint8_t c);
void pair_dgram_send(struct world *w, struct host *h, uint8_t b, uint8_t c);
void pair_dgram_receive(struct world *w, struct host *h, uint8_t b, uint8_t c);
/* Reads the datagrams that have arrived. Returns true if there was one. */
bool pair_dgram_work(struct world *w, struct host *h);
void pair_dgram_event(struct host *h, const struct scps_event *ev);

/* ---- pair_host.c ---- */

/* Removes the address of h, or gives it back. */
void pair_address(struct world *w, struct host *h, uint8_t b);
/* Returns true if h cannot exchange packets: its device, its address or each of its routes is
 * missing. */
bool pair_unreachable(const struct host *h);
/* Removes a route of h, or gives it back. */
void pair_route_goes(struct world *w, struct host *h, uint8_t b);
void pair_host_heal(struct world *w, struct host *h);
/* Careful resume: saves what the connection of e knows of its path, or gives it what was saved. */
void pair_path(struct world *w, struct host *h, struct end *e, uint8_t b, uint8_t c);
/* Reserves or limits the memory of a stack that is about to be opened. */
void pair_memory(struct world *w, struct host *h, uint8_t code, struct scps_stack_config *sc);
/* Checks that what the stack reports of itself agrees. */
void pair_look(struct world *w, struct host *h);

/* ---- pair_third.c ---- */

/* Injects a packet of the third party. */
void pair_third(struct world *w, struct host *h, struct flow *f, uint8_t b, uint8_t c);
/* Injects the ICMP error of a router about the last packet that h sent. */
void pair_router(struct world *w, struct host *h, uint8_t b, uint8_t c);
void pair_icmp(struct world *w, struct host *to, const uint8_t *quote, size_t len, uint8_t type,
               uint8_t code, uint32_t word);

/* ---- pair_series.c ---- */

/* Runs one input. With FUZZ_FINDS in the environment an input that fails is written to a file, and
 * the process goes on. */
void pair_series(void (*run)(const uint8_t *data, size_t size), const uint8_t *data, size_t size);

/* ---- pair_bounds.c ---- */

/* Returns the time that two ends may take after the faults have ended, µs. */
scps_dur pair_time_limit(const struct world *w);
bool pair_without_backoff(const struct world *w);
/* Returns true if the hosts count SNACK in different units. */
bool pair_units_differ(const struct world *w);
/* Records in w->most what the connections of both hosts have sent. To be called now and then, so
 * that connections that end count, too. */
void pair_count_work(struct world *w);
/* Returns true if it is explained that a run has so many services in `passed` us since the faults
 * have ended. */
bool pair_many_timeouts(struct world *w, unsigned services, scps_dur passed);
/* Returns true if the faults of the run may have kept a flow from ending, so that the target must
 * not require its end. */
bool pair_doubts_end(const struct world *w);
bool pair_parted_for_good(const struct world *w);

/* ---- pair_step.c ---- */

/* A connection before a packet arrives. */
struct step {
    struct scps_conn *c; /* NULL: the packet is about no connection, or is not judged */
    struct scps_seg seg; /* the segment; of the one that an ICMP error quotes, only seq */
    bool icmp;
    bool old; /* PAWS rejects the segment */
    /* The segment is a blind third party's, with a compressed header whose connection id is in
     * use. */
    bool guessed;
    /* The packet's checksum is right with one of the protocol numbers 105, 6 and 106. */
    bool counts;
    int state;
    scps_off una, nxt, next; /* SND.UNA, SND.NXT, RCV.NXT */
    uint32_t pmtu;
    uint32_t todo;
    /* The expiry of the retransmission timer (0: nothing is outstanding), of the timer that ends
     * the connection, and of that of an outage. */
    scps_time rtx, end, outage;
};

/* Records the state of the connection to which packet p belongs, before h gets p. */
void pair_step_begin(struct world *w, const struct host *h, const struct packet *p, struct step *s);
/* Checks what p, which h has got, did to that connection. why: what the stack returned. */
void pair_step_end(struct world *w, const struct step *s, int why);
/* Calls scps_stack_output() for h, and checks what that does to the retransmission timers of h's
 * connections. */
int pair_output(struct world *w, struct host *h, struct scps_pkt *out);

/* Checks that a timer runs for data of h that is not acknowledged, and for data that it could not
 * send yet. */
void pair_judge_timers(const struct world *w, const struct host *h);

/* ---- pair_judge.c ---- */

/* Checks that a packet that leaves h is well-formed. */
void pair_judge_packet(struct world *w, const struct host *h, const struct scps_pkt *out);
/* Checks what the stack returned for a packet of a flow. */
void pair_judge_input(struct world *w, const struct packet *p, int why);
/* Checks after each order that counters agree and that memory is bounded. */
void pair_judge_state(struct world *w);
void pair_judge_error(struct world *w, struct flow *f, struct end *e);
/* Checks that the deadlines lie in the future, when everything due at this time was served. */
void pair_judge_served(struct world *w, struct host *h);
/* Checks a flow after both ends have had their time since the faults ended. */
void pair_judge_flow(struct world *w, struct flow *f);
bool pair_finished(const struct world *w);
/* Returns true if, for each flow that has not ended, the faults of the run may have kept it from
 * ending. */
bool pair_only_doubtful(const struct world *w);
void pair_outcome(const struct world *w, struct outcome *o);
/* Compares two runs. ended: both runs went on to their end. A run that its number of services ended
 * stops earlier in time if the third party's packets are served, too; then only errors are
 * compared. */
void pair_compare(const struct world *w, const struct outcome *with, const struct outcome *without,
                  bool ended);

#endif
