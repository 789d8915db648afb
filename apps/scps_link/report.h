/* SPDX-License-Identifier: MIT */
/* Prints the reports of the link emulator at its start, at intervals, and at its end. */
#ifndef SCPS_LINK_REPORT_H
#define SCPS_LINK_REPORT_H

#include <stdio.h>

struct emu;

void report_start(const struct emu *e, FILE *f);
/* Prints one line (--interval) with what each direction of the link has carried since the previous
 * such line. */
void report_interval(struct emu *e, FILE *f);
void report_text(const struct emu *e, FILE *f);
void report_json(const struct emu *e, FILE *f);

#endif
