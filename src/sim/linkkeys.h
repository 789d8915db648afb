/* SPDX-License-Identifier: MIT */
/* The keys of a link's spec: what each says of one direction. linkspec.c reads the whole line with
 * them. */
#ifndef SCPS_SIM_LINKKEYS_H
#define SCPS_SIM_LINKKEYS_H

#include "sim/linktable.h"

#include <scps/sim.h>

/* A direction as it is told, key by key. Some values follow from others, or from the other
 * direction, when all is told. */
struct draft {
    uint64_t rate;
    scps_dur delay;
    double ber, loss, dup, reorder;
    scps_dur reorder_delay, jitter;
    struct {
        uint64_t bytes, packets, bdp; /* bdp: in thousandths */
        bool given;
    } queue;
    struct {
        uint64_t bytes;
        bool given;
    } overhead;
    uint64_t exempt;
    struct {
        enum scps_framing f;
        uint64_t overhead; /* unless it is given */
    } framing;
    struct scps_burst burst; /* without ber */
    double burst_ber;
    struct {
        const uint8_t *p;
        size_t n;
    } vector;
    struct {
        scps_dur target, interval;
    } codel;
    struct scps_steps rates, delays;
    struct scps_spans outages;
    bool flip, hold;
};

/* Reading: what for, from where, and where the line about a mistake goes. */
struct reading {
    char *msg;
    size_t msglen;
    const struct scps_link_files *files;
    struct scps_link_tables **tables; /* NULL: none are to be had; *tables is made when needed */
    struct draft *d;
    struct scps_text key, value;
};

#define SHOW(t) (int)((t).n > 40 ? 40 : (t).n), (t).p /* for %.*s */

/* Each writes the line about a mistake and returns SCPS_ERR_INVAL: what is wrong with the value of
 * r->key, if why is not NULL (else returns 0); what is wrong with it; fmt, which has one %.*s for
 * t. */
int scps_link_verdict(const struct reading *r, const char *why);
int scps_link_bad(const struct reading *r, const char *why);
int scps_link_bad_item(const struct reading *r, const char *fmt, struct scps_text t);

#define LINK_KEYS 22
struct link_key {
    const char *name;
    int (*read)(struct reading *r); /* r->value into r->d; 0, or SCPS_ERR_INVAL with a line */
    size_t at, size; /* the part of struct draft that it sets: copied to the other direction */
    bool bare;       /* may stand without a value */
};
extern const struct link_key scps_link_keys[LINK_KEYS];
#define ALLOWED                                                                                    \
    "rate delay ber loss dup reorder reorder-delay jitter burst burst-ber vector flip queue "      \
    "codel framing overhead exempt rates delays outage contact hold"

/* Bits of the keys that belong together: 1 << their place in the list; and of the two that are not
 * in it. */
#define RATE        (1u << 0)
#define DELAY       (1u << 1)
#define FRAMING     (1u << 14)
#define OVERHEAD    (1u << 15)
#define RATE_TABLE  (1u << 17)
#define DELAY_TABLE (1u << 18)
#define OUTAGES     (1u << 19)
#define CONTACTS    (1u << 20)
#define RTT         (1u << 30)
#define PASS        (1u << 31)

/* Its place in the list, LINK_KEYS if there is none. */
size_t scps_link_find_key(struct scps_text t);

/* The key that stands for the whole link: an altitude makes the delays and contacts of a pass. */
int scps_link_read_pass(struct reading *r);

/* The spec behind a preset's name, or NULL. */
const char *scps_link_preset_spec(struct scps_text name);

#endif
