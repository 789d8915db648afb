/* SPDX-License-Identifier: MIT */
/* Sockets in real time: a context of <scps/socket.h> on a loop of <scps/io.h>. All calls come from
 * one thread.
 *
 *     struct scps_ctx_config cfg = scps_ctx_config_linux();
 *     struct scps_sockloop *sl = scps_sockloop_new(NULL, &cfg);
 *     scps_ifopts_parse(&o, "tun", "tun0", msg);             // o is zeroed; then "addr" ...
 *     struct scps_netif *top = scps_ifopts_open(&o, msg);
 *     scps_ifopts_attach(&o, scps_sockloop_loop(sl), top, msg);
 *     struct scps_ctx *ctx = scps_sockloop_ctx(sl);
 *     int s = scps_socket(ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
 *     scps_sock_connect(ctx, s, &peer, sizeof peer);         // runs the loop until s is connected
 *
 * A call that blocks runs the loop; everything else on the loop (signals, timers, other descriptors
 * of the program) goes on meanwhile. With O_NONBLOCK the program runs the loop itself, with
 * scps_loop_run or ev_run.
 */
#ifndef SCPS_SOCKLOOP_H
#define SCPS_SOCKLOOP_H

#include <scps/io.h>
#include <scps/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_sockloop;

/* Opens a context (the state of a set of sockets, <scps/socket.h>) on a libev loop. ev NULL: a new
 * loop. cfg NULL: the defaults. The fields stack, wait, kick, now, user, stack_config.now and
 * stack_config.seed of cfg are ignored, and the function sets them itself, the seed from the
 * kernel's random source. On failure returns NULL with errno. */
SCPS_API struct scps_sockloop *scps_sockloop_new(struct ev_loop *ev,
                                                 const struct scps_ctx_config *cfg);
/* Returns the context, which the functions of <scps/socket.h> take. */
SCPS_API struct scps_ctx *scps_sockloop_ctx(struct scps_sockloop *sl);
/* Returns the loop, to which the devices are added with scps_loop_add(). */
SCPS_API struct scps_loop *scps_sockloop_loop(struct scps_sockloop *sl);
/* Makes a blocking socket call fail with EINTR: the one that blocks now or, if none does, the next
 * one that would block. Call it from a libev watcher of the program, such as one for a signal. A
 * watcher must not make blocking calls itself. */
SCPS_API void scps_sockloop_interrupt(struct scps_sockloop *sl);
/* Frees context, loop and stack; data still being sent in the background is lost. The devices are
 * not closed. */
SCPS_API void scps_sockloop_free(struct scps_sockloop *sl);

#ifdef __cplusplus
}
#endif
#endif
