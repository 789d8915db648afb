/* SPDX-License-Identifier: MIT */
/* The file rows.csv: a line for each flow of each run (one simulation of a cell), appended when the
 * run ends. It is read again when a sweep continues after a stop. */
#ifndef SCPS_LAB_ROWS_H
#define SCPS_LAB_ROWS_H

#include "common/cells.h"
#include "scps_lab/job.h"
#include "scps_lab/table.h"

struct lab_rows {
    int fd;
    char path[4096];
    /* length of rows.csv, bytes, to the end of the last run that has a row for each of its flows;
     * the file is cut to this length if an interrupted write has left a part of a run behind it */
    long long good;
};

/* Appends the first line of rows.csv to s: "# scps_lab VERSION scenario=... shard=K/N", newline
 * included. */
void lab_rows_meta(const struct lab_cells *c, unsigned shard, unsigned shards, struct lab_str *s);
void lab_rows_heading(const struct lab_cells *c, struct lab_str *s);
/* Appends to s what run number `run` of a cell (one combination of the swept values, which may be
 * run several times, with different seeds) adds to rows.csv: one line for each flow. */
void lab_rows_format(const struct lab_cells *c, const struct lab_cell *cell, unsigned run,
                     const struct lab_result *r, struct lab_str *s);

/* Opens DIR/rows.csv for appending, and creates it if it does not exist. Removes an incomplete run
 * (one simulation of a cell, which is one combination of swept values), left by an interrupted
 * write, and calls done(ctx, cell number, run) for each complete run. shard: which of the `shards`
 * parts of the sweep, from 1, the file is for. Returns false, with one line in msg, on an error, or
 * if the file is of another scenario, seed, version or shard. */
bool lab_rows_open(struct lab_rows *r, const char *dir, const struct lab_cells *c, unsigned shard,
                   unsigned shards, void (*done)(void *ctx, size_t cell, unsigned run), void *ctx,
                   char msg[LAB_MSGLEN]);
/* Appends the lines of one run, len bytes, to the file. If they cannot be written completely,
 * removes the part that was written, and returns false with the reason in msg. */
bool lab_rows_append(struct lab_rows *r, const char *text, size_t len, char msg[LAB_MSGLEN]);
bool lab_rows_sync(struct lab_rows *r, char msg[LAB_MSGLEN]);
void lab_rows_close(struct lab_rows *r);
/* Replaces DIR/rows.csv by a file with the rows of table t, sorted by the number of the cell (one
 * combination of swept values), then by the number of the run (one simulation of that cell). meta:
 * first line of the file, with its newline. Returns false, with the reason in msg, on an error. */
bool lab_rows_write_sorted(const struct lab_table *t, const char *meta, const char *dir,
                           char msg[LAB_MSGLEN]);

#endif
