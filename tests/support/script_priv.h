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

#define ORIGIN SCPS_SEC(1000) /* stack time at script time 0: nothing may depend on it being 0 */

struct sent {
    scps_time at;
    uint8_t *p; /* the packet, whole */
    size_t len;
    uint32_t wire; /* its length as it left */
    bool compressed;
};

struct script_priv {
    scps_time now;
    struct sent *q; /* q[head .. n-1]: sent and not expected yet */
    size_t head, n, cap;
    char **line; /* the conversation so far */
    size_t nline, cap_line;
    bool know_iss, know_irs;
    bool in_batch; /* the next of the peer's segments comes with the last one */
    uint32_t iss;
    int64_t peer_nxt, peer_ack; /* relative */
    int32_t wnd;
    uint32_t tsval_seen;
    bool ts;            /* agreed: the peer's segments carry them */
    unsigned our_shift; /* as offered; in force when the peer offered one, too */
    bool peer_shift;
    bool have_edge;
    uint32_t ack_seen, edge_seen;
    int64_t written, read; /* octets of each stream so far */
    struct scps_event ev;
    bool have_ev;
    uint8_t our_id;
    struct scps_comp_rx comp_rx;
    struct scps_comp_tx comp_tx;
    bool may_compress; /* both have offered it */
    uint8_t xcaps[40];
};

/* The octet of the application's stream at an offset, and of the peer's. */
static inline uint8_t script_ours(int64_t off)
{
    return (uint8_t)(off * 31 + (off >> 8) * 7 + 1);
}

static inline uint8_t script_theirs(int64_t off)
{
    return (uint8_t)(off * 17 + (off >> 8) * 3 + 2);
}

/* A field that a script left out. */
static inline int64_t given(int64_t v, int64_t usual)
{
    return v == ZERO ? 0 : v ? v : usual;
}

/* A line of the record, shown when the script fails. */
void script_tell(struct script *t, const char *text);
/* A segment as text with relative numbers. from_us: which way it goes. */
void script_describe(struct script *t, const struct scps_seg *s, bool from_us, char *buf,
                     size_t cap);

bool script_parse(const uint8_t *p, size_t len, struct scps_ip *ip, struct scps_seg *s);
/* A packet that leaves: with its header expanded; and checked. */
void script_expand(struct script *t, struct sent *sent);
void script_inspect(struct script *t, const struct sent *sent);
/* Takes what the stack has to send now. */
void script_drain(struct script *t);

#define BROKEN(...) script_fail(t, __FILE__, __LINE__, __VA_ARGS__)

#endif
