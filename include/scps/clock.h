/* SPDX-License-Identifier: MIT */
/* The clock that a driver hands to scps_pump(). A driver in real time and one in virtual time
 * differ only in their clocks. */
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

/* One driver step: builds and sends packets on every netif until the stack has none or the netif is
 * full, then asks for a wake-up at the stack's deadline. Call it after input, after application
 * calls, and at the wake-up. */
SCPS_API void scps_pump(struct scps_stack *st, const struct scps_clock *clk);
/* Builds and sends packets as scps_pump() does, at the time `now`, µs, which stands still during
 * the call, as in a simulator. Returns when to call again, or SCPS_NEVER. */
SCPS_API scps_time scps_pump_at(struct scps_stack *st, scps_time now);

#ifdef __cplusplus
}
#endif
#endif
