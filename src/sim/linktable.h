/* SPDX-License-Identifier: MIT */
/* Parses the tables in a link's description: values that change at given times (rates, delays),
 * spans of time (outages, contacts), and error vectors (recordings of bit errors, whose set bits
 * damage the bits that the line carries). Computes the delays and the contact of a satellite's
 * pass; and owns the memory of all these tables. */
#ifndef SCPS_SIM_LINKTABLE_H
#define SCPS_SIM_LINKTABLE_H

#include "sim/linktext.h"

#include <scps/alloc.h>
#include <scps/sim.h>

struct scps_link_tables {
    struct scps_alloc alloc;
    struct scps_link_block {
        struct scps_link_block *next;
        size_t size;
        uint64_t data[];
    } * blocks;
};

/* Allocates `size` bytes that are freed together with the tables t. Returns NULL if there is no
 * memory. */
void *scps_tables_take(struct scps_link_tables *t, size_t size);

/* Parse a table, which is the text of a key's value or of the file that the value names as @FILE:
 * rows are separated by '+' or newlines, and '#' begins a comment. "/TIME" behind the last row is
 * the period: at that time the table begins again, as at time 0; without it the table is used once.
 * A row of rates or delays is TIME:VALUE, a row of spans FROM-TO; in files a comma may replace ':'
 * and '-'. Each function returns NULL, or the text of an error message, which is a constant or in
 * `why`. */
const char *scps_table_rates(struct scps_link_tables *t, struct scps_text text,
                             struct scps_steps *out, char why[128]);
const char *scps_table_delays(struct scps_link_tables *t, struct scps_text text,
                              struct scps_steps *out, char why[128]);
const char *scps_table_spans(struct scps_link_tables *t, struct scps_text text,
                             struct scps_spans *out, char why[128]);
/* Computes a satellite's pass through the zenith of a ground station, from horizon to horizon, on a
 * circular orbit of the given height in metres: the delays over time, and the one span of contact.
 * Returns NULL, or the text of an error message. */
const char *scps_table_pass(struct scps_link_tables *t, uint64_t altitude_m,
                            struct scps_steps *delays, struct scps_spans *contact);
/* Parses an error vector, a sequence of bits in which 1 damages a bit on the line. If data has only
 * the digits 0 and 1 and white space, the digits are the bits, which must be a multiple of 8 and at
 * least 8; otherwise the bits of the bytes of data are. Returns NULL, or the text of an error
 * message. */
const char *scps_table_vector(struct scps_link_tables *t, const char *data, size_t len,
                              const uint8_t **vector, size_t *vector_len);

#endif
