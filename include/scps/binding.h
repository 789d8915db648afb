/* SPDX-License-Identifier: MIT */
/* Binding spaces: the extended capabilities of B-2 (CCSDS 714.0-B-2 section 3.2.5; docs/SCPS-TP.md
 * section 1.3).
 *
 *     octet A    id, 0 to 254; 255: the id is 256 and what the octet behind B says
 *     octet B    high nibble n, low nibble: data, or reserved
 *     ...        data; 2 (n + 1) octets in all
 *
 * They stand one after the other in an option 20 that is longer than 4, behind the one that is not.
 * What a space means is its owner's affair: a vendor's, or a community's.
 */
#ifndef SCPS_BINDING_H
#define SCPS_BINDING_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_BINDINGS    2  /* that a connection can offer */
#define SCPS_BINDING_MAX 30 /* octets of data in one */

struct scps_binding {
    uint16_t id; /* 0 to 511; offered 0 to 254 */
    uint8_t low; /* the low nibble of octet B: kept as it came, zero as it goes */
    uint8_t len; /* octets of data; 0: no such space */
    uint8_t data[SCPS_BINDING_MAX];
};

/* Octets of the value of an option with these spaces; those with len 0 are left out. Odd data is
 * padded with a zero. */
SCPS_API size_t scps_binding_size(const struct scps_binding *b, size_t n);
/* Writes it, into scps_binding_size octets; returns how many. */
SCPS_API size_t scps_binding_build(uint8_t *p, const struct scps_binding *b, size_t n);
/* Reads the space at p, of len octets with those behind it. Returns how many it takes; 0: they make
 * no sense. */
SCPS_API size_t scps_binding_parse(const uint8_t *p, size_t len, struct scps_binding *b);
/* What two ends have in common: the data of both, bit for bit, as long as the shorter one. */
SCPS_API struct scps_binding scps_binding_and(const struct scps_binding *a,
                                              const struct scps_binding *b);

#ifdef __cplusplus
}
#endif
#endif
