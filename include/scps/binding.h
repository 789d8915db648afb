/* SPDX-License-Identifier: MIT */
/* Binding spaces: data of vendors that the two hosts of an SCPS-TP connection exchange in their
 * SYNs, as "extended capabilities" (CCSDS 714.0-B-2 section 3.2.5; docs/SCPS-TP.md section 1.3). A
 * binding space is
 *
 *     octet A   id, 0 to 254; 255: the id is 256 plus the value of the octet behind B
 *     octet B   high nibble n: length of the space, which is 2 (n + 1) octets, A and B included
 *     ...       data
 *
 * In the SCPS reference implementation the data begins with the low nibble of octet B, in Wireshark
 * behind octet B. This library sends 0 in the nibble and keeps what arrives (scps_binding.low).
 *
 * Binding spaces stand one after the other in a TCP option of kind 20 that is longer than 4 octets.
 * It follows the SCPS capabilities option, which has kind 20, too, and 4 octets. The meaning of the
 * data of a binding space is defined by the vendor or community that owns its id.
 */
#ifndef SCPS_BINDING_H
#define SCPS_BINDING_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* largest number of binding spaces (numbered items of vendor data in a SYN) that one connection can
 * offer */
#define SCPS_BINDINGS    2
#define SCPS_BINDING_MAX 30 /* largest number of octets of data in one binding space */

/* One binding space: the data that a vendor or community sends in the SYN under its id. */
struct scps_binding {
    /* id of the binding space: 0 to 254 in one that this host offers; 0 to 254, or 256 to 511, in
     * one that was received. The first octet of a space holds an id up to 254; 255 there means that
     * the id is 256 plus the value of the third octet. This library does not send such ids. */
    uint16_t id;
    /* low nibble of octet B (the second octet of a binding space) as received; this library sends
     * 0 */
    uint8_t low;
    uint8_t len; /* number of octets in data; 0: this structure contains no binding space */
    uint8_t data[SCPS_BINDING_MAX];
};

/* Returns how many octets the n binding spaces (items of vendor data) of b take in the extended
 * capabilities option of a SYN (TCP option 20), without the option's kind and length octets.
 * Binding spaces with len 0 are left out. Data of odd length is padded with a zero octet. */
SCPS_API size_t scps_binding_size(const struct scps_binding *b, size_t n);
/* Writes the n binding spaces (items of vendor data) of b to p, as the value of the extended
 * capabilities option of a SYN (TCP option 20), without the option's kind and length octets. p has
 * room for scps_binding_size() octets. Returns the number of octets written. */
SCPS_API size_t scps_binding_build(uint8_t *p, const struct scps_binding *b, size_t n);
/* Parses the first binding space (item of vendor data) at p, in the value of an extended
 * capabilities option (TCP option 20), into *b. len: octets from p to the end of the option.
 * Returns the number of octets that the binding space takes; 0: the binding space is malformed or
 * longer than len. */
SCPS_API size_t scps_binding_parse(const uint8_t *p, size_t len, struct scps_binding *b);
/* Returns what two hosts that offered binding spaces a and b with the same id have agreed on: the
 * bitwise AND of the data of a and b, as long as the shorter one. */
SCPS_API struct scps_binding scps_binding_and(const struct scps_binding *a,
                                              const struct scps_binding *b);

#ifdef __cplusplus
}
#endif
#endif
