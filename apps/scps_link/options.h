/* SPDX-License-Identifier: MIT */
/* The command line of scps_link as values. */
#ifndef SCPS_LINK_OPTIONS_H
#define SCPS_LINK_OPTIONS_H

#include <scps/io.h>
#include <scps/sim.h>

#include <stdio.h>

#define LINK_MSGLEN 512 /* room for a one-line message */
#define LINK_ADDRS  4

struct link_scenario;

enum link_action { LINK_RUN, LINK_CTL, LINK_HELP, LINK_VERSION, LINK_LIST_LINKS, LINK_COMPLETION };

struct link_end_options {
    char device[64];
    char netns[256]; /* as typed; empty: ours */
    struct scps_addr addr[LINK_ADDRS];
    unsigned prefix[LINK_ADDRS]; /* of a bare address: all of it, and the far end is a peer */
    bool bare[LINK_ADDRS];
    unsigned naddr;
    const char *pcap; /* NULL: none */
};

struct link_options {
    enum link_action action;
    struct link_end_options end[2];  /* a, b */
    uint32_t mtu;                    /* 0: the devices' own */
    const char *link;                /* the SPEC as typed, the scenario's, or the default */
    struct scps_link_config dir[2];  /* a to b, b to a; seeds set */
    struct scps_link_tables *tables; /* dir points into it */
    uint64_t seed;                   /* with a scenario: its own, unless --seed */
    struct link_scenario *scenario;  /* NULL: --link */
    scps_dur time, interval;         /* 0: none */
    const char *truth, *ctl;         /* NULL: none */
    bool json, quiet, realtime;
    char **words; /* of ctl: the socket, then the command; NULL at the end */
};

/* Borrows argv's strings. 0, or -1 with one line in msg that names the input and the remedy;
 * link_options_fini afterwards either way. */
int link_options_parse(struct link_options *o, int argc, char **argv, char msg[LINK_MSGLEN]);
void link_options_fini(struct link_options *o);
void link_print_help(FILE *f);
void link_print_links(FILE *f);
void link_print_completion(FILE *f);

#endif
