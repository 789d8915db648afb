/* SPDX-License-Identifier: MIT */
/* The links and flows of one cell (a combination of a scenario's swept values) as structures. Their
 * fields are parsed from the settings KEY = VALUE of the scenario file and of the command line;
 * setup_keys.c has the list of keys. */
#ifndef SCPS_LAB_SETUP_H
#define SCPS_LAB_SETUP_H

#include "common/scenario.h"

#include <scps/conn.h>
#include <scps/sim.h>

#define LAB_NAME 32

enum lab_kind {
    LAB_STREAM,
    /* the flow is no TCP connection, but a model (model.h) of a file transfer with negative
     * acknowledgements (NACK): its sender sends packets at a fixed rate, and its receiver requests
     * the missing ones by NACKs */
    LAB_NACK
};

struct lab_link {
    /* names of the link and of the hosts at its ends */
    char name[LAB_NAME], a[LAB_NAME], b[LAB_NAME];
    /* description of the link (SPEC: "PRESET,KEY=VALUE,..."), composed of the preset and the other
     * keys that the scenario's settings give to this link; it is printed, and stored with the
     * results */
    char spec[1024];
    /* configurations of the direction from a to b, and of that from b to a */
    struct scps_link_config fwd, back;
    /* memory of the tables to which the configurations point; NULL: there are none */
    struct scps_link_tables *tables;
    uint32_t mtu;
    bool ipv6, vj;
};

struct lab_flow {
    char name[LAB_NAME], link_name[LAB_NAME];
    /* careful resume (RFC 9959): flows with the same word here share one saved state of the path;
     * "": the flow does not resume */
    char path[LAB_NAME];
    /* index of the link that the flow uses, in the array `link` of struct lab_setup */
    unsigned link;
    bool back; /* true: data goes from host b to host a of the link; false: from a to b */
    /* number of equal flows that are started, each `stagger` after the one before; 1: one flow */
    uint32_t copies;
    enum lab_kind kind;
    /* start: start time of the first copy; stagger: time from the start of each copy to that of the
     * next; both µs, each value drawn from a range */
    struct lab_range start, stagger;
    uint64_t size; /* bytes to send; UINT64_MAX: the flow sends until the end of the run */
    scps_dur time; /* duration, µs; 0: the flow ends after `size` bytes */
    /* rate_bps: rate limit of the flow, bit/s; host_bps: highest rate at which the sending host can
     * emit packets, bit/s; 0: no limit */
    uint64_t rate_bps, host_bps;
    /* rate at which the application of the sending host writes from app_from to app_until, bit/s;
     * 0: always as fast as the connection accepts data */
    uint64_t app_bps;
    /* The application writes at app_bps from app_from to app_until, µs after the start of the flow
     * (app_until 0: to its end), and at other times as fast as the connection accepts data. */
    scps_dur app_from, app_until;
    /* bytes after which the sending application marks the end of a record (SCPS-TP record
     * boundary); 0: it marks none */
    uint32_t record;
    uint32_t payload; /* payload of a full segment, bytes; 0: it follows from the MTU */
    bool first_window;
    scps_dur rtt_hint; /* expected RTT of the connections, µs; -1: the RTT of the flow's link */
    /* The fields from headers to done_wait are used only if `kind` is LAB_NACK: the flow is then a
     * model of a file transfer with negative acknowledgements (NACK), not a TCP connection. */
    uint32_t headers; /* octets of headers and framing that each packet has besides its payload */
    /* rate at which the receiving host can process packets, bit/s; 0: unlimited */
    uint64_t receiver_bps;
    /* share (0 to 1) of the receiving host's processing time for a packet that is due to the
     * interrupt; the host spends this share even on a packet that it drops */
    double receiver_interrupts;
    uint64_t receiver_buffer; /* size of the socket buffer of the receiving host, bytes */
    /* time, µs, from the arrival of a flush (the packet with which the sender asks for a NACK when
     * it has sent all missing packets) at the receiver until the receiver sends a NACK that lists
     * missing packets; drawn from this range for each NACK */
    struct lab_range nack_wait;
    /* time, µs, from the arrival of a flush at the receiver until the receiver sends a NACK that
     * lists no missing packet, which ends the transfer; drawn from this range */
    struct lab_range done_wait;
    struct scps_conn_config conn;
};

struct lab_setup {
    struct lab_link *link;
    size_t nlinks;
    struct lab_flow *flow;
    size_t nflows;
    scps_dur timeout;
};

/* Returns true if a scenario may set the dotted key, such as link.rtt, to this value. Returns
 * false, with one line in why, if not. */
bool lab_setup_check(const char *key, const char *value, char why[LAB_MSGLEN]);
/* Returns true for a name of a link, flow, host or swept value: letters, digits, - and _, shorter
 * than LAB_NAME. */
bool lab_is_name(const char *text);
/* Returns true if `section` is "link", "flow", "link NAME" or "flow NAME". */
bool lab_setup_section(const char *section);
/* Makes the links and flows of a cell (one combination of the values that scenario sc sweeps) from
 * the n settings that apply to the cell, of which later ones override earlier ones. Returns NULL,
 * with one line in msg that begins with the file and, if one key is the reason, its line, on an
 * error. */
struct lab_setup *lab_setup_new(const struct lab_scenario *sc, const struct lab_set *const *set,
                                size_t n, char msg[LAB_MSGLEN]);
void lab_setup_free(struct lab_setup *s);
/* Prints each key that a scenario file may set, with the values that it accepts and a line of help,
 * for 'scps_lab keys'. */
void lab_setup_print_keys(FILE *f);

#endif
