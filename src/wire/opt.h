/* SPDX-License-Identifier: MIT */
/* Functions that the files about TCP options share: tcpopt.c has the standard options, scpsopt.c
 * those of SCPS-TP. */
#ifndef SCPS_WIRE_OPT_H
#define SCPS_WIRE_OPT_H

#include <scps/wire.h>

enum { OPT_END = 0, OPT_NOP = 1, OPT_ROOM = 40 };

/* Parses the len octets of options at p into s, adding to s->has. It never fails: malformed options
 * are skipped. */
void scps_tcpopt_parse(const uint8_t *p, size_t len, struct scps_seg *s);
/* Writes the options that s->has lists, at most 40 octets, padded to a multiple of 4; returns the
 * length. */
size_t scps_tcpopt_build(uint8_t *p, const struct scps_seg *s);

/* Parses one SCPS-TP option of kind 20 to 23 into *s. len: its length field, octets; body: its len
 * - 2 octets behind kind and length. */
void scps_scpsopt_parse(uint8_t kind, const uint8_t *body, size_t len, struct scps_seg *s);
/* Writes to o, for a SYN or SYN-ACK, the SCPS capabilities option (kind 20) and, if s has them and
 * they fit, the extended capabilities: a second option 20 with binding spaces (data of a vendor or
 * a community), padded to a multiple of 4. They must be the first options of the segment. Returns
 * the end of what was written. */
uint8_t *scps_scpsopt_put_caps(uint8_t *o, const struct scps_seg *s);
/* Returns how many octets scps_scpsopt_put_reports() will write for the options SNACK (21), record
 * boundary (22) and corruption (23) of s, padded to a multiple of 4 and at most `room`. */
size_t scps_scpsopt_reports_len(const struct scps_seg *s, size_t room);
uint8_t *scps_scpsopt_put_reports(uint8_t *o, size_t room, const struct scps_seg *s);

#endif
