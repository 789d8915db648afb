/* SPDX-License-Identifier: MIT */
/* Tables in a link's description: steps, spans, error vectors, and the geometry of a pass; and
 * their memory. */
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

/* Allocates `size` bytes that are freed with the tables. Returns NULL without memory. */
void *scps_tables_take(struct scps_link_tables *t, size_t size);

/* Parse the table in a value, or in the file whose name is behind its '@': rows are separated by
 * '+' or newlines, '#' begins a comment, a last row "/TIME" is the period. A step is TIME:VALUE, a
 * span FROM-TO; in files a comma may replace ':' and '-'. Each returns NULL, or what is wrong, as a
 * constant or written to why (128 bytes). */
const char *scps_table_rates(struct scps_link_tables *t, struct scps_text text,
                             struct scps_steps *out, char why[128]);
const char *scps_table_delays(struct scps_link_tables *t, struct scps_text text,
                              struct scps_steps *out, char why[128]);
const char *scps_table_spans(struct scps_link_tables *t, struct scps_text text,
                             struct scps_spans *out, char why[128]);
/* Computes the pass of a satellite on a circular orbit of the given height in metres through the
 * zenith, from horizon to horizon: its delays, and the one contact. Returns NULL, or what is
 * wrong. */
const char *scps_table_pass(struct scps_link_tables *t, uint64_t altitude_m,
                            struct scps_steps *delays, struct scps_spans *contact);
/* Parses an error vector: the digits 0 and 1 with blanks between them, if there is nothing else and
 * there are eight or more; otherwise the bytes themselves. Returns NULL, or what is wrong. */
const char *scps_table_vector(struct scps_link_tables *t, const char *data, size_t len,
                              const uint8_t **vector, size_t *vector_len);

#endif
