/* SPDX-License-Identifier: MIT */
/* The clock a driver hands to the pump: real time and virtual time differ only in this. */
#ifndef SCPS_CLOCK_H
#define SCPS_CLOCK_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_stack;

struct scps_clock {
    scps_time (*now)(void *ctx);
    void (*wake_at)(void *ctx, scps_time when); /* pump again then; replaces the last request */
    void *ctx;
};

/* One turn of the crank, the same for every driver: builds and sends packets on every netif until
 * the stack is quiet or the netif is full, then asks for a wake-up at the stack's deadline.
 * Call it after input, after application calls, and when the wake-up comes. */
SCPS_API void scps_pump(struct scps_stack *st, const struct scps_clock *clk);
/* The same where time stands still meanwhile, as in a simulator: at now, µs. Returns when to call
 * again, or SCPS_NEVER. */
SCPS_API scps_time scps_pump_at(struct scps_stack *st, scps_time now);

#ifdef __cplusplus
}
#endif
#endif
