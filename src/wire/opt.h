/* SPDX-License-Identifier: MIT */
/* TCP options between the files that know them: tcpopt.c the standard ones, scpsopt.c those of
 * SCPS-TP. */
#ifndef SCPS_WIRE_OPT_H
#define SCPS_WIRE_OPT_H

#include <scps/wire.h>

enum { OPT_END = 0, OPT_NOP = 1, OPT_ROOM = 40 };

/* Reads the options in p[0..len) into s, adding to s->has. Never fails: nonsense is skipped. */
void scps_tcpopt_parse(const uint8_t *p, size_t len, struct scps_seg *s);
/* Writes the options s has, at most 40 bytes, a multiple of 4; returns how many. */
size_t scps_tcpopt_build(uint8_t *p, const struct scps_seg *s);

/* One option of kind 20 to 23: body of len - 2 bytes. */
void scps_scpsopt_parse(uint8_t kind, const uint8_t *body, size_t len, struct scps_seg *s);
/* Kind 20 and its extended form, padded to a multiple of 4: the first options of a SYN. Returns the
 * new end. */
uint8_t *scps_scpsopt_put_caps(uint8_t *o, const struct scps_seg *s);
/* Kinds 21 to 23, padded to a multiple of 4, in at most room bytes. */
size_t scps_scpsopt_reports_len(const struct scps_seg *s, size_t room);
uint8_t *scps_scpsopt_put_reports(uint8_t *o, size_t room, const struct scps_seg *s);

#endif
