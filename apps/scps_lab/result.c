/* SPDX-License-Identifier: MIT */
/* Computes figures such as the goodput from the result of a simulation (struct lab_result), and
 * frees the memory of a result. */
#include "scps_lab/job.h"

#include <stdlib.h>
#include <string.h>

void lab_result_free(struct lab_result *r)
{
    free(r->flow);
    free(r->link);
    memset(r, 0, sizeof *r);
}

double lab_goodput(const struct lab_outcome *o)
{
    if (strcmp(o->status, "ok") != 0 || o->end <= o->start)
        return 0;
    return (double)o->bytes * 8 / (double)(o->end - o->start);
}

uint64_t lab_dropped(const struct scps_link_stats *l)
{
    uint64_t n = 0;

    for (int f = 0; f < SCPS_FATE_COUNT; f++)
        n += scps_link_dropped(l, f);
    return n;
}
