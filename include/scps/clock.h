/* SPDX-License-Identifier: MIT */
/* The clock that a driver (the program's loop, which moves packets between a stack and its network
 * interfaces) gives to scps_pump(). A driver in real time and one in virtual time differ only in
 * their clocks. */
#ifndef SCPS_CLOCK_H
#define SCPS_CLOCK_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_stack;

struct scps_clock {
    scps_time (*now)(void *ctx);
    /* Asks the driver to call scps_pump() at `when`, µs. A new request replaces the previous
     * one. */
    void (*wake_at)(void *ctx, scps_time when);
    void *ctx;
};

/* Sends what the stack has to send: builds packets for every netif (network interface) until the
 * stack has none left or the netif accepts no more, then calls wake_at() with the time of the
 * stack's next timer. Call it after packets were received, after application calls, and at the time
 * that wake_at() was given. */
SCPS_API void scps_pump(struct scps_stack *st, const struct scps_clock *clk);
/* Builds and sends packets as scps_pump() does, at the time `now`, µs, which stands still during
 * the call, as in a simulator. Returns the time, µs, at which to call it again, or SCPS_NEVER. */
SCPS_API scps_time scps_pump_at(struct scps_stack *st, scps_time now);

#ifdef __cplusplus
}
#endif
#endif
