/* SPDX-License-Identifier: MIT */
/* The Unix socket for control: one command a connection, one line from the client, then the answer.
 *
 *     ctl: "a2b ber=1e-5\n"        emulator: "ok\n" and more lines, or "error: why\n"
 */
#ifndef SCPS_LINK_CONTROL_H
#define SCPS_LINK_CONTROL_H

#include "scps_link/options.h"

#define CONTROL_LINE 1024 /* length of the longest command line, bytes */

struct emu;
struct ev_loop;
struct control;

/* Listens at path. Returns NULL with one line in msg (in use, no such folder, too long). */
struct control *control_open(const char *path, struct emu *e, char msg[LINK_MSGLEN]);
void control_watch(struct control *c, struct ev_loop *ev);
/* Closes the control socket and removes its file. ctl NULL: does nothing. */
void control_close(struct control *c);

/* Runs the client: sends the words, prints the answer and returns the exit status. */
int control_client(char **words);

#endif
