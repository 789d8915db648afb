/* SPDX-License-Identifier: MIT */
/* Result files: comma-separated values without quotes. Before the heading there is one line that
 * begins with '#' and says how the file was made:
 *
 *     # scps_lab 0.2.0 scenario=geo hash=0123456789abcdef seed=1 runs=30 jobs=120 shard=1/1
 *     cell,run,flow,link.ber,status,seconds,mbps,...
 */
#ifndef SCPS_LAB_TABLE_H
#define SCPS_LAB_TABLE_H

#include "common/text.h"

struct lab_table {
    /* text of the file, in which a zero ends each field; col, meta and cell point into it */
    char *text;
    char *meta; /* the line that begins with '#', without that character */
    char **col; /* headings of the columns, one for each column */
    size_t ncols;
    char **cell; /* the fields of all rows, one row after the other */
    size_t nrows;
};
/* Reads the file DIR/name into *t. Returns false, with one line in msg that names the file, on an
 * error. */
bool lab_table_read(const char *dir, const char *name, struct lab_table *t, char msg[LAB_MSGLEN]);
void lab_table_free(struct lab_table *t);
/* Returns the index of the column with the heading `name`; SIZE_MAX: there is none. */
size_t lab_table_col(const struct lab_table *t, const char *name);
const char *lab_table_at(const struct lab_table *t, size_t row, size_t col);
/* Copies the value of KEY= in the meta line (the first line, which begins with '#') to out. Returns
 * false if there is none. */
bool lab_table_meta(const struct lab_table *t, const char *key, char *out, size_t len);

/* Writes len bytes of text to the file DIR/name, completely or not at all: writes them to a file
 * with another name first, then renames it. Returns false, with the reason in msg, on an error. */
bool lab_file_write(const char *dir, const char *name, const char *text, size_t len,
                    char msg[LAB_MSGLEN]);

#endif
