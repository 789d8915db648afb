/* SPDX-License-Identifier: MIT */
/* Writes the results of an analysis as JSON, while the capture is read. Connections come first,
 * because a capture without end makes the analyser discard them one by one; totals of the whole
 * capture come last. The schema (out_schema.c) is made from the same list of figures, so the two
 * always agree. */
#include <math.h>
#include <string.h>

#include <scps/json.h>
#include <scps/scps.h>

#include "trace/fields.h"

#define INDENT " "

/* Writes the member `key` of a JSON object: the number v, rounded to six decimals. */
static void number(struct scps_json *j, const char *key, double v)
{
    scps_json_real(j, key, round(v * 1e6) / 1e6);
}

static void direction(struct scps_json *j, const char *key, const struct scps_trace_dir *d)
{
    scps_json_open(j, key, '{');
    for (int k = 0; k < F_COUNT; k++) {
        enum field_id i = (enum field_id)k;
        const char *name = scps_tr_field[i].name;

        switch (scps_tr_field[i].kind) {
        case 'U':
        case 'N':
            if (scps_tr_field[i].kind == 'N' && scps_tr_count(d, i) == SCPS_TRACE_NA)
                scps_json_null(j, name);
            else
                scps_json_uint(j, name, scps_tr_count(d, i));
            break;
        case 'D':
            number(j, name, scps_tr_number(d, i));
            break;
        default:
            scps_json_string(j, name, scps_tr_words(d, i));
        }
    }
    scps_json_close(j, '}');
}

void scps_trace_json_begin(FILE *f)
{
    struct scps_json j = {.f = f, .indent = INDENT};

    scps_json_open(&j, NULL, '{');
    scps_json_string(&j, "program", "scps_trace");
    scps_json_string(&j, "version", SCPS_VERSION);
    scps_json_open(&j, "connections", '[');
}

static void endpoints(struct scps_json *j, const struct scps_trace_conn *c)
{
    char text[SCPS_ADDR_STRLEN];

    scps_json_string(j, "host_a", scps_addr_format(&c->a.addr, text));
    scps_json_uint(j, "port_a", c->a.port);
    scps_json_string(j, "host_b", scps_addr_format(&c->b.addr, text));
    scps_json_uint(j, "port_b", c->b.port);
    scps_json_string(j, "letter_a", c->letter_a);
    scps_json_string(j, "letter_b", c->letter_b);
}

void scps_trace_json_conn(FILE *f, const struct scps_trace_conn *c, uint64_t n)
{
    static const char *const end[] = {"open", "complete", "reset"};
    struct scps_json j = {.f = f, .indent = INDENT, .depth = 2, .comma = n > 0};

    scps_json_open(&j, NULL, '{');
    scps_json_uint(&j, "number", c->number);
    endpoints(&j, c);
    scps_json_seconds(&j, "first_packet", c->first);
    scps_json_seconds(&j, "last_packet", c->last);
    number(&j, "elapsed_time", (double)(c->last > c->first ? c->last - c->first : 0) / 1e6);
    scps_json_uint(&j, "total_packets", c->packets);
    scps_json_string(&j, "end", end[c->end]);
    scps_json_bool(&j, "complete", c->syns == 2 && c->fins == 2);
    scps_json_bool(&j, "reset", c->end == SCPS_TRACE_RESET);
    scps_json_uint(&j, "syns", c->syns);
    scps_json_uint(&j, "fins", c->fins);
    scps_json_bool(&j, "began_before", c->began_before);
    scps_json_bool(&j, "evicted", c->evicted);
    scps_json_string(&j, "scps_agreed", c->scps_agreed);
    direction(&j, "a2b", &c->a2b);
    direction(&j, "b2a", &c->b2a);
    scps_json_close(&j, '}');
}

void scps_trace_json_end(FILE *f, const struct scps_trace *t, const char *const *files,
                         size_t nfiles, const char *trouble)
{
    struct scps_json j = {.f = f, .indent = INDENT, .depth = 2, .comma = true};
    struct scps_trace_totals o;

    scps_trace_get_totals(t, &o);
    scps_json_close(&j, ']');
    scps_json_open(&j, "files", '[');
    for (size_t i = 0; i < nfiles; i++)
        scps_json_string(&j, NULL, files[i]);
    scps_json_close(&j, ']');
    scps_json_open(&j, "capture", '{');
    scps_json_uint(&j, "connections", o.conns);
    scps_json_seconds(&j, "first_packet", o.first);
    scps_json_seconds(&j, "last_packet", o.last);
#define COUNT(name, words) scps_json_uint(&j, #name, o.name);
    SCPS_TRACE_COUNTS(COUNT)
#undef COUNT
    scps_json_close(&j, '}');
    scps_json_string(&j, "trouble", trouble && trouble[0] ? trouble : NULL);
    scps_json_close(&j, '}');
}
