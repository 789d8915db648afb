/* SPDX-License-Identifier: MIT */
/* Tables of a spec: steps, spans, error vectors, and the geometry of a pass; and the memory they
 * live in. */
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

/* Allocates memory that lives as long as the tables; NULL without memory. */
void *scps_tables_take(struct scps_link_tables *t, size_t size);

/* Parse the table in a value, or in the file named behind its '@': rows separated by '+' or
 * newlines, '#' begins a comment, a last row "/TIME" is the period. A step is TIME:VALUE, a span
 * FROM-TO; in files a comma does as well. Each returns NULL, or what is wrong, in words or
 * written to why (128 bytes). */
const char *scps_table_rates(struct scps_link_tables *t, struct scps_text text,
                             struct scps_steps *out, char why[128]);
const char *scps_table_delays(struct scps_link_tables *t, struct scps_text text,
                              struct scps_steps *out, char why[128]);
const char *scps_table_spans(struct scps_link_tables *t, struct scps_text text,
                             struct scps_spans *out, char why[128]);
/* Computes the pass of a satellite on a circular orbit of the given height in metres, straight
 * overhead, from horizon to horizon: its delays, and the one contact. */
const char *scps_table_pass(struct scps_link_tables *t, uint64_t altitude_m,
                            struct scps_steps *delays, struct scps_spans *contact);
/* Parses an error vector: digits 0 and 1 with blanks between them when there is nothing else,
 * eight or more; otherwise the bytes themselves. */
const char *scps_table_vector(struct scps_link_tables *t, const char *data, size_t len,
                              const uint8_t **vector, size_t *vector_len);

#endif
