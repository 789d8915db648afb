/* SPDX-License-Identifier: MIT */
/* Binding spaces: the extended capabilities of B-2 (CCSDS 714.0-B-2 section 3.2.5; docs/SCPS-TP.md
 * section 1.3).
 *
 *     octet A   id, 0 to 254; 255: the id is 256 plus the value of the octet behind B
 *     octet B   high nibble n, low nibble: data, or reserved
 *     ...       data; 2 (n + 1) octets in all
 *
 * Binding spaces stand one after the other in an option 20 that is longer than 4 octets, behind the
 * option 20 of 4 octets. The meaning of a space's data is defined by its owner: a vendor or a
 * community.
 */
#ifndef SCPS_BINDING_H
#define SCPS_BINDING_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_BINDINGS    2  /* largest number of binding spaces that one connection can offer */
#define SCPS_BINDING_MAX 30 /* largest number of octets of data in one binding space */

struct scps_binding {
    uint16_t id; /* id of the space: 0 to 511 received, 0 to 254 offered */
    uint8_t low; /* low nibble of octet B: kept as received, sent as zero */
    uint8_t len; /* octets of data; 0: this element holds no binding space */
    uint8_t data[SCPS_BINDING_MAX];
};

/* Returns the length in octets of an option's value with these n spaces. Spaces with len 0 are left
 * out. Odd data is padded with a zero octet. */
SCPS_API size_t scps_binding_size(const struct scps_binding *b, size_t n);
/* Writes the value of the option for the n spaces of b, scps_binding_size() octets, at p. Returns
 * the number of octets. */
SCPS_API size_t scps_binding_build(uint8_t *p, const struct scps_binding *b, size_t n);
/* Parses the space at p, where len octets are left. Returns the length of the space; 0: it is
 * malformed. */
SCPS_API size_t scps_binding_parse(const uint8_t *p, size_t len, struct scps_binding *b);
/* Returns the part of two spaces that both ends have: the bitwise AND of their data, as long as the
 * shorter one. */
SCPS_API struct scps_binding scps_binding_and(const struct scps_binding *a,
                                              const struct scps_binding *b);

#ifdef __cplusplus
}
#endif
#endif
