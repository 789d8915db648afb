/* SPDX-License-Identifier: MIT */
/* Names the bits of an SCPS compressed header (docs/SCPS-TP.md section 8.2): wire/comp.c builds and
 * parses it for the stack, trace/compressed.c parses it for the analyser. */
#ifndef SCPS_WIRE_COMP_H
#define SCPS_WIRE_COMP_H

enum { /* bits of octet 1 of a compressed header, which follows the connection id, octet 0 */
       COMP_MORE = 0x80,
       COMP_TS1 = 0x40,
       COMP_TS2 = 0x20,
       COMP_RB = 0x10,
       COMP_SNACK = 0x08,
       COMP_PUSH = 0x04,
       COMP_S = 0x02,
       COMP_A = 0x01
};
enum { /* bits of octet 2 of a compressed header, present if octet 1 has COMP_MORE */
       COMP_OPTS = 0x80,
       COMP_PAD = 0x40,
       COMP_URG = 0x20,
       COMP_RST = 0x04,
       COMP_FIN = 0x01
};

#endif
