/* SPDX-License-Identifier: MIT */
/* Reads the machine's monotonic clock, CLOCK_MONOTONIC, which the timerfd of the event loop uses,
 * too. */
#include <scps/io.h>

#include <time.h>

scps_time scps_sysclock_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (scps_time)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
