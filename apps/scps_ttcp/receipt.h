/* SPDX-License-Identifier: MIT */
/* --tell: the receiver's result as one line of text, the last bytes that it sends back.
 *
 *     scps_ttcp-result 1 bytes=16777216 missing=0 us=3120456 segments=11587 out_of_order=12
 *         duplicate=0 sum=0f3a...
 *
 * (one line on the wire). Every scps_ttcp that sends a stream looks for it there. Any other peer
 * may skip it or print it.
 */
#ifndef SCPS_TTCP_RECEIPT_H
#define SCPS_TTCP_RECEIPT_H

#include <scps/types.h>

#define TTCP_RECEIPT_LINE 256 /* room for the line */

/* A checksum of a stream for accidents, not for attackers: 64 bits that depend on every byte and on
 * its place. All zero is the beginning. */
struct ttcp_digest {
    uint64_t lane[4];
    uint64_t bytes;   /* Bytes that the sum covers */
    uint8_t part[32]; /* The last bytes % 32 of them, which are not in the lanes yet */
};
void ttcp_digest_add(struct ttcp_digest *s, const void *data, size_t len);
/* Returns the sum of everything added so far; more may be added afterwards. */
uint64_t ttcp_digest_value(const struct ttcp_digest *s);

/* What the receiver measured. */
struct ttcp_receipt {
    bool there; /* the rest means something */
    uint64_t bytes, missing /* best effort: in holes */;
    scps_dur us; /* Time from the SYN to the last byte, on the receiver's clock */
    uint64_t segments, out_of_order;
    uint64_t duplicate; /* bytes that came again */
    uint64_t sum;       /* Sum of the bytes that were read */
};
/* Writes the line with its newline into buf. Returns its length. */
size_t ttcp_receipt_print(char buf[TTCP_RECEIPT_LINE], const struct ttcp_receipt *t);
/* Returns true if data, the first n bytes of a stream, begin such a line. */
bool ttcp_receipt_begins(const void *data, size_t n);
/* Parses the line. Returns false, leaving *t unchanged, for anything else. */
bool ttcp_receipt_parse(const char *line, struct ttcp_receipt *t);

#endif
