/* SPDX-License-Identifier: MIT */
/* What a cell runs: links and flows as values, made from keys and texts. The list of keys is
 * here. */
#ifndef SCPS_LAB_SETUP_H
#define SCPS_LAB_SETUP_H

#include "common/scenario.h"

#include <scps/conn.h>
#include <scps/sim.h>

#define LAB_NAME 32

enum lab_kind { LAB_STREAM, LAB_NACK /* a model: model.h */ };

struct lab_link {
    char name[LAB_NAME], a[LAB_NAME], b[LAB_NAME]; /* its hosts */
    char spec[1024];                               /* as composed, for the record */
    struct scps_link_config fwd, back;             /* a to b, b to a */
    struct scps_link_tables *tables;               /* what they point into; NULL: nothing */
    uint32_t mtu;
    bool ipv6, vj;
};

struct lab_flow {
    char name[LAB_NAME], link_name[LAB_NAME];
    char path[LAB_NAME]; /* careful resume: what it shares with flows of the same word; "": none */
    unsigned link;       /* its index */
    bool back;           /* data goes from b to a */
    uint32_t copies;     /* so many alike, started one after the other */
    enum lab_kind kind;
    struct lab_range start, stagger; /* of the first; of each copy after the one before */
    uint64_t size;                   /* bytes; UINT64_MAX: until time is over */
    scps_dur time;                   /* 0: the size decides */
    uint64_t rate_bps, host_bps;     /* 0: none; what the sending host can push at most */
    uint64_t app_bps;                /* the application's; 0: as fast as it can */
    scps_dur app_from, app_until;    /* since the start; until 0: for ever */
    uint32_t record;                 /* bytes; 0: no records */
    uint32_t payload;                /* of a full segment; 0: from the MTU */
    bool first_window;
    scps_dur rtt_hint; /* -1: the link's */
    /* of LAB_NACK */
    uint32_t headers;      /* bytes a packet beside the payload, framing included */
    uint64_t receiver_bps; /* what the receiving host can take; 0: everything */
    /* The part of its time for a packet that is spent even if it is dropped */
    double receiver_interrupts;
    uint64_t receiver_buffer;   /* bytes */
    struct lab_range nack_wait; /* from the end of a pass to a NACK of holes */
    struct lab_range done_wait; /* and to one without */
    struct scps_conn_config conn;
};

struct lab_setup {
    struct lab_link *link;
    size_t nlinks;
    struct lab_flow *flow;
    size_t nflows;
    scps_dur timeout;
};

/* Is there such a key, and does it take this value? key: dotted. False with one line in why. */
bool lab_setup_check(const char *key, const char *value, char why[LAB_MSGLEN]);
/* Is it "link", "flow", "link NAME" or "flow NAME"? */
bool lab_setup_section(const char *section);
/* The sets in order, later ones stronger. Returns NULL with one line in msg, which begins with the
 * file and, where one key is to blame, its line. */
struct lab_setup *lab_setup_new(const struct lab_scenario *sc, const struct lab_set *const *set,
                                size_t n, char msg[LAB_MSGLEN]);
void lab_setup_free(struct lab_setup *s);
/* All keys with their values and a line of help each, for 'scps_lab keys'. */
void lab_setup_print_keys(FILE *f);

#endif
