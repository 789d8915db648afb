/* SPDX-License-Identifier: MIT */
/* An application that writes at a rate of its own: flow.app-rate, app-from, app-until. */
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
    scps_time begin; /* of the flow */
    uint64_t given;  /* bytes written since app-from */
};
/* Makes the source ask the writer, if its flow has an application's rate; before it starts, and
 * after its start is planned. False: out of memory. */
bool lab_writer_attach(struct lab_writer *w);

#endif
