/* SPDX-License-Identifier: MIT */
/* UDP ports of a test's own: far from those the kernel gives away, and different for tests that run
 * side by side. */
#ifndef SCPS_SUPPORT_UDPPORT_H
#define SCPS_SUPPORT_UDPPORT_H

#include <stdint.h>
#include <unistd.h>

/* i: 0 or 1. */
static inline uint16_t udp_port(unsigned i)
{
    return (uint16_t)(20000 + (unsigned)getpid() % 5000 * 2 + i);
}

#endif
