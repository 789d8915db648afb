/* SPDX-License-Identifier: MIT */
/* libscps: TCP and SCPS-TP (CCSDS 714.0-B-2) as a library that does no I/O and reads no clock: the
 * program passes in received packets and the time, and gets packets to send and the time of the
 * next timer.
 *
 * The main loop of a program with its own device driver:
 *
 *     struct scps_stack *st = scps_stack_new(NULL);
 *     scps_stack_add_netif(st, nif);                 // nif.ops is NULL: the loop fetches packets
 *     scps_stack_add_addr(st, nif, &my_addr, 24);
 *     struct scps_conn *c = scps_connect(st, NULL, NULL, &peer, NULL);
 *     for (;;) {
 *         while (receive(buf, &n))                      // whatever has arrived
 *             scps_stack_input(st, nif, &(struct scps_pkt){.data = buf, .len = n, .at = now()});
 *         while (scps_stack_event(st, &ev))            // connected, readable, writable, closed ...
 *             application(&ev);                         // calls scps_conn_read, scps_conn_write
 *         while (out = room, scps_stack_output(st, nif, now(), &out) == 1)
 *             transmit(out.data, out.len, out.payload, out.payload_len);
 *         sleep_until(scps_stack_deadline(st));         // or until a packet arrives
 *     }
 *
 * apps/scps_hello.c of the source tree is the same over a simulated link; <scps/clock.h> has the
 * loop's body as scps_pump; <scps/socket.h> offers the BSD socket calls.
 */
#ifndef SCPS_H
#define SCPS_H

#define SCPS_VERSION "0.2.0"
/* The version as a number that grows with it: 8 bits each for major, minor and patch. */
#define SCPS_VERSION_NUMBER 0x000200

#include <scps/alloc.h>
#include <scps/cc.h>
#include <scps/clock.h>
#include <scps/conn.h>
#include <scps/dgram.h>
#include <scps/error.h>
#include <scps/netif.h>
#include <scps/observe.h>
#include <scps/path.h>
#include <scps/stack.h>
#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return the version of the library that is linked or loaded, whereas SCPS_VERSION and
 * SCPS_VERSION_NUMBER are the version of the headers that a program was compiled with. The text is
 * static. */
SCPS_API const char *scps_version(void);
SCPS_API uint32_t scps_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
