/* SPDX-License-Identifier: MIT */
/* Simulates an application that writes at a limited rate, as the keys flow.app-rate, app-from and
 * app-until of a scenario say. */
#ifndef SCPS_LAB_WRITER_H
#define SCPS_LAB_WRITER_H

#include "common/setup.h"

#include <scps/sim.h>
#include <scps/traffic.h>

struct lab_writer {
    const struct lab_flow *flow;
    struct scps_world *world;
    struct scps_host *host;
    struct scps_bulk_source *source;
    scps_time begin; /* start of the flow, µs */
    /* bytes that the application has written while its rate is limited: from app-from after the
     * flow's start (key flow.app-from) until app-until */
    uint64_t given;
};
/* If the flow has an app-rate, sets the callbacks of w->source (which writes to the flow's
 * connection) so that this writer decides how many bytes it may write now. Precondition: all fields
 * of w are set but `given`, and the source has not started. Returns false if there is no memory. */
bool lab_writer_attach(struct lab_writer *w);

#endif
