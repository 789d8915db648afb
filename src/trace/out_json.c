/* SPDX-License-Identifier: MIT */
/* JSON, written as it goes: connections first, because an endless capture forgets them one by one;
 * what the whole capture held comes last. The schema is made from the same list of figures, so the
 * two cannot disagree. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <scps/scps.h>

#include "trace/fields.h"

static void number(FILE *f, double v)
{
    if (!isfinite(v))
        fputs("null", f);
    else
        fprintf(f, "%.15g", round(v * 1e6) / 1e6);
}

static void direction(FILE *f, const char *key, const struct scps_trace_dir *d)
{
    fprintf(f, ",\n     \"%s\": {", key);
    for (int k = 0; k < F_COUNT; k++) {
        enum field_id i = (enum field_id)k;
        fprintf(f, "%s\"%s\": ", k == 0 ? "" : k % 6 ? ", " : ",\n       ", scps_tr_field[i].name);
        switch (scps_tr_field[i].kind) {
        case 'U':
        case 'N':
            if (scps_tr_field[i].kind == 'N' && scps_tr_count(d, i) == SCPS_TRACE_NA)
                fputs("null", f);
            else
                fprintf(f, "%" PRIu64, scps_tr_count(d, i));
            break;
        case 'D':
            number(f, scps_tr_number(d, i));
            break;
        default:
            scps_trace_json_string(f, scps_tr_words(d, i));
        }
    }
    fputc('}', f);
}

void scps_trace_json_begin(FILE *f)
{
    fprintf(f, "{\"program\": \"scps_trace\", \"version\": \"%s\",\n \"connections\": [",
            SCPS_VERSION);
}

static void endpoint(FILE *f, const char *which, const struct scps_endpoint *e)
{
    char a[SCPS_ADDR_STRLEN];
    fprintf(f, ", \"host_%s\": \"%s\", \"port_%s\": %u", which, scps_addr_format(&e->addr, a),
            which, e->port);
}

static void seconds(FILE *f, const char *key, scps_time at)
{
    fprintf(f, ", \"%s\": %" PRId64 ".%06d", key, at / 1000000, (int)(at % 1000000));
}

void scps_trace_json_conn(FILE *f, const struct scps_trace_conn *c, uint64_t n)
{
    static const char *const end[] = {"open", "complete", "reset"};
    fprintf(f, "%s\n    {\"number\": %" PRIu32, n ? "," : "", c->number);
    endpoint(f, "a", &c->a);
    endpoint(f, "b", &c->b);
    fprintf(f, ", \"letter_a\": \"%s\", \"letter_b\": \"%s\"", c->letter_a, c->letter_b);
    seconds(f, "first_packet", c->first);
    seconds(f, "last_packet", c->last);
    fputs(", \"elapsed_time\": ", f);
    number(f, (double)(c->last > c->first ? c->last - c->first : 0) / 1e6);
    fprintf(f,
            ", \"total_packets\": %" PRIu64 ", \"end\": \"%s\", \"complete\": %s, \"reset\": %s, "
            "\"syns\": %u, \"fins\": %u, \"began_before\": %s, \"evicted\": %s, \"scps_agreed\": ",
            c->packets, end[c->end], c->syns == 2 && c->fins == 2 ? "true" : "false",
            c->end == SCPS_TRACE_RESET ? "true" : "false", c->syns, c->fins,
            c->began_before ? "true" : "false", c->evicted ? "true" : "false");
    scps_trace_json_string(f, c->scps_agreed);
    direction(f, "a2b", &c->a2b);
    direction(f, "b2a", &c->b2a);
    fputc('}', f);
}

void scps_trace_json_end(FILE *f, const struct scps_trace *t, const char *const *files,
                         size_t nfiles, const char *trouble)
{
    struct scps_trace_totals o;
    scps_trace_get_totals(t, &o);
    fputs("],\n \"files\": [", f);
    for (size_t i = 0; i < nfiles; i++) {
        fputs(i ? ", " : "", f);
        scps_trace_json_string(f, files[i]);
    }
    fprintf(f, "],\n \"capture\": {\"connections\": %" PRIu32, o.conns);
    seconds(f, "first_packet", o.first);
    seconds(f, "last_packet", o.last);
#define COUNT(name, words) fprintf(f, ", \"" #name "\": %" PRIu64, o.name);
    SCPS_TRACE_COUNTS(COUNT)
#undef COUNT
    fputs("},\n \"trouble\": ", f);
    if (trouble && trouble[0])
        scps_trace_json_string(f, trouble);
    else
        fputs("null", f);
    fputs("}\n", f);
}

/* ---- the schema ---- */

static void property(FILE *f, const char *indent, bool first, const char *name, const char *type,
                     const char *words)
{
    fprintf(f, "%s\n%s\"%s\": {\"type\": %s, \"description\": ", first ? "" : ",", indent, name,
            type);
    scps_trace_json_string(f, words);
    fputc('}', f);
}

void scps_trace_json_schema(FILE *f)
{
    static const struct {
        const char *name, *type, *words;
    } conn[] = {{"number", "\"integer\"", "from 1, in order of first packets"},
                {"host_a", "\"string\"", "address of the side whose packet came first"},
                {"port_a", "\"integer\"", "its port"},
                {"host_b", "\"string\"", "address of the other side"},
                {"port_b", "\"integer\"", "its port"},
                {"letter_a", "\"string\"", "tcptrace's host letter"},
                {"letter_b", "\"string\"", "tcptrace's host letter"},
                {"first_packet", "\"number\"", "s since 1970"},
                {"last_packet", "\"number\"", "s since 1970"},
                {"elapsed_time", "\"number\"", "s from the first packet to the last"},
                {"total_packets", "\"integer\"", "both directions"},
                {"end", "\"string\"", "open, complete or reset"},
                {"complete", "\"boolean\"", "SYN and FIN of both sides were seen"},
                {"reset", "\"boolean\"", "a reset was seen"},
                {"syns", "\"integer\"", "sides that sent a SYN"},
                {"fins", "\"integer\"", "sides that sent a FIN"},
                {"began_before", "\"boolean\"", "no SYN: scale and MSS are unknown"},
                {"evicted", "\"boolean\"", "forgotten early for lack of room"},
                {"scps_agreed", "\"string\"", "capabilities both sides offered"}};
    fputs("{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
          "  \"title\": \"scps_trace --json\",\n  \"type\": \"object\",\n"
          "  \"additionalProperties\": false,\n"
          "  \"required\": [\"program\", \"version\", \"connections\", \"files\", \"capture\", "
          "\"trouble\"],\n"
          "  \"properties\": {\n"
          "    \"program\": {\"const\": \"scps_trace\"},\n"
          "    \"version\": {\"type\": \"string\"},\n"
          "    \"files\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},\n"
          "    \"trouble\": {\"type\": [\"string\", \"null\"], \"description\": "
          "\"why reading stopped early; null if it did not\"},\n"
          "    \"capture\": {\"type\": \"object\", \"additionalProperties\": false, "
          "\"properties\": {",
          f);
    property(f, "      ", true, "connections", "\"integer\"",
             "connections seen, evicted ones included");
    property(f, "      ", false, "first_packet", "\"number\"", "s since 1970");
    property(f, "      ", false, "last_packet", "\"number\"", "s since 1970");
#define COUNT(name, words) property(f, "      ", false, #name, "\"integer\"", words);
    SCPS_TRACE_COUNTS(COUNT)
#undef COUNT
    fputs("}},\n    \"connections\": {\"type\": \"array\", \"items\": {\"type\": \"object\", "
          "\"additionalProperties\": false,\n      \"required\": [",
          f);
    for (size_t i = 0; i < sizeof conn / sizeof *conn; i++)
        fprintf(f, "\"%s\", ", conn[i].name);
    fputs("\"a2b\", \"b2a\"],\n      \"properties\": {", f);
    for (size_t i = 0; i < sizeof conn / sizeof *conn; i++)
        property(f, "        ", i == 0, conn[i].name, conn[i].type, conn[i].words);
    fputs(",\n        \"a2b\": {\"$ref\": \"#/definitions/direction\"},\n"
          "        \"b2a\": {\"$ref\": \"#/definitions/direction\"}}}}\n  },\n"
          "  \"definitions\": {\"direction\": {\"type\": \"object\", \"additionalProperties\": "
          "false,\n    \"required\": [",
          f);
    for (int i = 0; i < F_COUNT; i++)
        fprintf(f, "%s\"%s\"", i ? ", " : "", scps_tr_field[i].name);
    fputs("],\n    \"properties\": {", f);
    for (int i = 0; i < F_COUNT; i++) {
        const struct field *x = &scps_tr_field[i];
        const char *type = x->kind == 'U'   ? "\"integer\""
                           : x->kind == 'N' ? "[\"integer\", \"null\"]"
                           : x->kind == 'D' ? "[\"number\", \"null\"]"
                                            : "\"string\"";
        char words[96];
        snprintf(words, sizeof words, "%s%s%s%s", x->label, x->unit[0] ? " (" : "", x->unit,
                 x->unit[0] ? ")" : "");
        property(f, "      ", i == 0, x->name, type, words);
    }
    fputs("}}}\n}\n", f);
}
