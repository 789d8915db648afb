/* SPDX-License-Identifier: MIT */
/* The Unix socket by which a user controls a running emulator. Each connection is for one command:
 * the client sends it as one line, and the emulator sends its answer.
 *
 *     ctl: "a2b ber=1e-5\n"        emulator: "ok\n" and more lines, or "error: why\n"
 */
#ifndef SCPS_LINK_CONTROL_H
#define SCPS_LINK_CONTROL_H

#include "scps_link/options.h"

/* size of the buffer for a command that a client sends over the control socket, bytes; the longest
 * command, with its newline, has one byte less */
#define CONTROL_LINE 1024

struct emu;
struct ev_loop;
struct control;

/* Creates the control socket of emulator e at path and listens there. Returns NULL, with one line
 * in msg, on an error, for example if the path is in use or too long. */
struct control *control_open(const char *path, struct emu *e, char msg[LINK_MSGLEN]);
void control_watch(struct control *c, struct ev_loop *ev);
/* Closes the control socket and removes its file. c NULL: does nothing. */
void control_close(struct control *c);

/* Implements the command 'scps_link ctl': words[0] is the path of the control socket; sends the
 * words behind it as one command to the emulator, prints the emulator's answer, and returns the
 * exit status. */
int control_client(char **words);

#endif
