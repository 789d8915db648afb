/* SPDX-License-Identifier: MIT */
/* --tell: the receiver's result as one line of text, which it sends back behind all other data:
 *
 *     scps_ttcp-result 1 bytes=16777216 missing=0 us=3120456 segments=11587 out_of_order=12
 *         duplicate=0 sum=0f3a...
 *
 * (one line on the wire). Every scps_ttcp that sends a stream recognises this line in what the
 * receiver sends back. Another program as the sender may skip or print it.
 */
#ifndef SCPS_TTCP_RECEIPT_H
#define SCPS_TTCP_RECEIPT_H

#include <scps/types.h>

/* room for the line with the receiver's result and a terminating zero, bytes */
#define TTCP_RECEIPT_LINE 256

/* A checksum of a stream against accidental errors, not against attackers: 64 bits that depend on
 * every byte and its position. All zero is the initial state. */
struct ttcp_digest {
    uint64_t lane[4];
    uint64_t bytes; /* number of bytes that the checksum covers */
    /* the last (bytes % 32) bytes of the stream, which are not included in lane yet */
    uint8_t part[32];
};
void ttcp_digest_add(struct ttcp_digest *s, const void *data, size_t len);
/* Returns the checksum of all bytes added so far; more may be added afterwards. */
uint64_t ttcp_digest_value(const struct ttcp_digest *s);

/* The result that a receiver measures and sends back (--tell). */
struct ttcp_receipt {
    bool there; /* true: the receiver has sent a result; false: the other fields are not valid */
    /* bytes: number of bytes received; missing: number of bytes that the receiver skipped because
     * they did not arrive in time (best effort, -E) */
    uint64_t bytes, missing;
    scps_dur us; /* time from the SYN to the last byte, µs, on the receiver's clock */
    uint64_t segments, out_of_order;
    uint64_t duplicate; /* bytes that arrived more than once */
    uint64_t sum;       /* checksum of the bytes that were read */
};
/* Writes the receiver's result t as a line of text, with its newline, into buf. Returns its
 * length. */
size_t ttcp_receipt_print(char buf[TTCP_RECEIPT_LINE], const struct ttcp_receipt *t);
/* Returns true if the n bytes at data, the first of a stream, can be the beginning of the line in
 * which a receiver sends back its result. */
bool ttcp_receipt_begins(const void *data, size_t n);
/* Parses the line in which a receiver sends back its result. Returns false, with *t unchanged, for
 * any other text. */
bool ttcp_receipt_parse(const char *line, struct ttcp_receipt *t);

#endif
