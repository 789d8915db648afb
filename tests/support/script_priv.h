/* SPDX-License-Identifier: MIT */
/* Internals of the conversation helper: its state, the pattern of both streams, and the record of
 * packets. */
#ifndef SCPS_TESTS_SCRIPT_PRIV_H
#define SCPS_TESTS_SCRIPT_PRIV_H

#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scps/comp.h>

#include "base/bytes.h"

/* time of the stack at time 0 of the script, so that a time of 0 is not special */
#define ORIGIN SCPS_SEC(1000)

struct sent {
    scps_time at;
    uint8_t *p; /* octets of the packet */
    size_t len;
    uint32_t wire; /* length of the packet as the stack sent it, octets */
    bool compressed;
};

struct script_priv {
    scps_time now;
    struct sent *q; /* packets in q[head .. n-1] were sent and the test has not expected them yet */
    size_t head, n, cap;
    char **line; /* lines that describe the conversation so far */
    size_t nline, cap_line;
    bool know_iss, know_irs;
    bool in_batch; /* the peer's next segment belongs to the same batch as the last one */
    uint32_t iss;
    /* relative sequence number of the peer's next octet, and its acknowledgement number */
    int64_t peer_nxt, peer_ack;
    int32_t wnd;
    uint32_t tsval_seen;
    bool ts; /* timestamps are in force: the peer's segments carry them */
    /* shift count that the stack offered; in force if the peer offered one, too */
    unsigned our_shift;
    bool peer_shift;
    bool have_edge;
    uint32_t ack_seen, edge_seen;
    /* octets of each stream that the application has written, and read, so far */
    int64_t written, read;
    struct scps_event ev;
    bool have_ev;
    uint8_t our_id;
    struct scps_comp_rx comp_rx;
    struct scps_comp_tx comp_tx;
    bool may_compress; /* both ends have offered header compression */
    uint8_t xcaps[40];
};

/* Returns the octet at an offset of the stack's stream; script_theirs() does so for the peer's. */
static inline uint8_t script_ours(int64_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

static inline uint8_t script_theirs(int64_t off)
{
    return (uint8_t)(off * 17 + (off >> 8) * 3 + 2);
}

/* Returns v, or `usual` if the script left the field out. */
static inline int64_t given(int64_t v, int64_t usual)
{
    return v == ZERO ? 0 : v ? v : usual;
}

/* Adds a line to the record of the conversation, which is printed if the script fails. */
void script_log(struct script *t, const char *text);
/* Describes a segment as text with relative numbers. from_us: true: the stack sent it; false: the
 * peer did. */
void script_describe(struct script *t, const struct scps_seg *s, bool from_us, char *buf,
                     size_t cap);

bool script_parse(const uint8_t *p, size_t len, struct scps_ip *ip, struct scps_seg *s);
/* Expands the compressed header of a packet that the stack has sent; script_inspect() checks the
 * packet. */
void script_expand(struct script *t, struct sent *sent);
void script_inspect(struct script *t, const struct sent *sent);
/* Collects the packets that the stack has to send now. */
void script_drain(struct script *t);

#define BROKEN(...) script_fail(t, __FILE__, __LINE__, __VA_ARGS__)

#endif
