/* SPDX-License-Identifier: MIT */
/* Chooses UDP ports for a test: outside the range from which the kernel assigns ports, and
 * different for tests that run at the same time. */
#ifndef SCPS_SUPPORT_UDPPORT_H
#define SCPS_SUPPORT_UDPPORT_H

#include <stdint.h>
#include <unistd.h>

/* Returns a port for this process; i: 0 or 1. */
static inline uint16_t udp_port(unsigned i)
{
    return (uint16_t)(20000 + (unsigned)getpid() % 5000 * 2 + i);
}

#endif
