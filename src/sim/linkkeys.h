/* SPDX-License-Identifier: MIT */
/* The keys of a link's textual description ("rate=2mbit,ber=1e-6") and what each sets in one
 * direction. linkspec.c parses a whole description by them. */
#ifndef SCPS_SIM_LINKKEYS_H
#define SCPS_SIM_LINKKEYS_H

#include "sim/linktable.h"

#include <scps/sim.h>

/* The values of one direction while its description is read key by key. Some of them follow from
 * others, or from the opposite direction, once all keys have been read. */
struct draft {
    uint64_t rate;
    scps_dur delay;
    double ber, loss, dup, reorder;
    scps_dur reorder_delay, jitter;
    struct {
        /* limit of the queue, in one of three units: bytes, packets, or (bdp) thousandths of a
         * bandwidth-delay product; 0: not given in this unit */
        uint64_t bytes, packets, bdp;
        bool given;
    } queue;
    struct {
        uint64_t bytes;
        bool given;
    } overhead;
    uint64_t exempt;
    struct {
        enum scps_framing f;
        /* bytes that the key `overhead` adds to each frame; 0 if the key was not given */
        uint64_t overhead;
    } framing;
    struct scps_burst burst; /* burst process; its bit error rate is in burst_ber instead */
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

/* State of the parser of a link's textual description ("rate=2mbit,ber=1e-6"): the key and value
 * that are being parsed, the values of the direction so far, the tables that values contain or name
 * as a file (rates, delays, outages, contacts, error vector), and the buffer for an error
 * message. */
struct reading {
    char *msg;
    size_t msglen;
    const struct scps_link_files *files;
    /* address of the pointer to the link's tables, which hold the rows of rates, delays, outages
     * and contacts, and the error vector. The struct is allocated when the first key that needs it
     * is read (rates, delays, outage, contact, vector, pass). NULL: these keys are refused. */
    struct scps_link_tables **tables;
    struct draft *d;
    struct scps_text key, value;
};

/* Expands to two arguments of printf() for the conversion %.*s, which print at most 40 characters
 * of the text t. */
#define SHOW(t) (int)((t).n > 40 ? 40 : (t).n), (t).p

/* Returns 0 if `why` is NULL. Otherwise writes to r->msg that the value of the key r->key is
 * refused, with the reason `why`, and returns SCPS_ERR_INVAL. */
int scps_link_verdict(const struct reading *r, const char *why);
/* Writes to r->msg that the value of the key r->key is refused, with the reason `why`. Returns
 * SCPS_ERR_INVAL. */
int scps_link_bad(const struct reading *r, const char *why);
/* Writes to r->msg the message fmt, in which one %.*s stands for t. Returns SCPS_ERR_INVAL. */
int scps_link_bad_item(const struct reading *r, const char *fmt, struct scps_text t);

#define LINK_KEYS 22
struct link_key {
    const char *name;
    /* Parses r->value into r->d. Returns 0, or SCPS_ERR_INVAL with a message. */
    int (*read)(struct reading *r);
    /* offset and size of the fields of struct draft that the key sets, bytes; if a key without the
     * suffix -back was given, these fields are copied to the draft of the return direction */
    size_t at, size;
    bool bare; /* true: the key may be given without a value */
};
extern const struct link_key scps_link_keys[LINK_KEYS];
#define ALLOWED                                                                                    \
    "rate delay ber loss dup reorder reorder-delay jitter burst burst-ber vector flip queue "      \
    "codel framing overhead exempt rates delays outage contact hold"

/* Bits of a set of keys. Each key of scps_link_keys[] has the bit 1 << its index there; only the
 * keys that the code asks for have a name below. The last two, `rtt` and `pass`, are not in
 * scps_link_keys[], because they describe the whole link. */
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

/* Returns the index in scps_link_keys[] of the key with the name t; LINK_KEYS if there is none. */
size_t scps_link_find_key(struct scps_text t);

/* Parses the value of the key `pass`, the altitude of a satellite, and computes the delays and the
 * contact of its pass over a station. Returns 0, or SCPS_ERR_INVAL with a message. */
int scps_link_read_pass(struct reading *r);

/* Returns the textual description of the preset link with this name, such as "geo"; NULL if there
 * is none. */
const char *scps_link_preset_spec(struct scps_text name);

#endif
