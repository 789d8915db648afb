/* SPDX-License-Identifier: MIT */
/* Writes what happens during a run (one simulation of a cell) as CSV text: every event that the TCP
 * stack of a simulated host reports to its observer (struct scps_note), what the first link of the
 * scenario file did to every packet, and the figures of each flow at intervals. */
#ifndef SCPS_LAB_RECORD_H
#define SCPS_LAB_RECORD_H

#include "scps_lab/job.h"

struct lab_record {
    /* CSV file with a line for each packet, in both directions, of the first link of the scenario
     * file, which says what the link did to the packet; NULL: none */
    FILE *truth;
    FILE *events; /* CSV file with every observer event of every host's stack; NULL: none */
    FILE *series; /* CSV file with the figures of each flow at intervals; NULL: none */
};
/* Writes the headings of the files, and sets the callbacks of *w so that a run writes to the files.
 * *record must stay valid as long as w is used. */
void lab_record_begin(struct lab_record *record, struct lab_watch *w);

#endif
