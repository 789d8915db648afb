/* SPDX-License-Identifier: MIT */
/* Parses the command line of scps_link into a structure. */
#ifndef SCPS_LINK_OPTIONS_H
#define SCPS_LINK_OPTIONS_H

#include <scps/io.h>
#include <scps/sim.h>

#include <stdio.h>

#define LINK_MSGLEN 512 /* size of a buffer for a message of one line, bytes */
#define LINK_ADDRS  4
/* preset that describes the link if neither --link nor --scenario is given */
#define LINK_DEFAULT "geo"

struct link_scenario;

enum link_action { LINK_RUN, LINK_CTL, LINK_HELP, LINK_VERSION, LINK_LIST_LINKS, LINK_COMPLETION };

struct link_end_options {
    char device[64];
    char netns[256]; /* namespace as typed; empty: the program's own */
    struct scps_addr addr[LINK_ADDRS];
    /* prefix: length of each address's prefix, bits; bare: true if the address was given without a
     * prefix length. Then the device gets it as a point-to-point address, whose peer is an address
     * of the opposite end. */
    unsigned prefix[LINK_ADDRS];
    bool bare[LINK_ADDRS];
    unsigned naddr;
    const char *pcap; /* file for the capture of this end; NULL: no capture */
};

struct link_options {
    enum link_action action;
    struct link_end_options end[2]; /* options of the ends a and b */
    uint32_t mtu;                   /* --mtu, bytes; 0: the devices keep their own MTU */
    /* description of the link (SPEC), such as "rate=2mbit,delay=250ms": value of --link; that of
     * the link in the scenario if --scenario was given; or LINK_DEFAULT */
    const char *link;
    /* configurations of both directions with their seeds: [0] a to b, [1] b to a */
    struct scps_link_config dir[2];
    /* memory of the tables that the link description (SPEC) has: rates, delays and outages over
     * time, and an error vector, to which `rates`, `delays`, `outages` and `vector` of `dir` point;
     * NULL: the description has none */
    struct scps_link_tables *tables;
    /* seed of the random errors: value of --seed; without it, the seed in the scenario or, without
     * --scenario, one drawn at random */
    uint64_t seed;
    /* scenario from which the link comes; NULL: the link comes from --link */
    struct link_scenario *scenario;
    /* time: duration after which the program ends (--time), µs; interval: time between two outputs
     * of statistics (--interval), µs; 0: the option was not given */
    scps_dur time, interval;
    /* names of the files of --truth and --ctl; NULL: the option was not given */
    const char *truth, *ctl;
    bool json, quiet, realtime;
    /* words behind 'scps_link ctl': the socket's path, then the command; NULL ends the list */
    char **words;
};

/* Parses the command line into *o, which keeps pointers into argv. Returns 0, or -1 with one line
 * in msg that names the input and the remedy. Call link_options_fini() afterwards in either
 * case. */
int link_options_parse(struct link_options *o, int argc, char **argv, char msg[LINK_MSGLEN]);
void link_options_fini(struct link_options *o);
/* Writes the script with which bash completes the options of scps_link. */
void link_print_completion(FILE *f);

/* ---- functions in help.c, which print help ---- */

void link_print_help(FILE *f);
/* Writes a line for each preset of a link: its name and a description. */
void link_print_links(FILE *f);

#endif
