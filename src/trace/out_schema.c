/* SPDX-License-Identifier: MIT */
/* Writes the JSON Schema of the documents that out_json.c writes. */
#include <stdio.h>

#include <scps/json.h>

#include "trace/fields.h"

static const struct {
    const char *name, *type, *words;
} conn_members[] = {{"number", "integer", "from 1, in order of first packets"},
                    {"host_a", "string", "address of the side whose packet came first"},
                    {"port_a", "integer", "its port"},
                    {"host_b", "string", "address of the other side"},
                    {"port_b", "integer", "its port"},
                    {"letter_a", "string", "tcptrace's host letter"},
                    {"letter_b", "string", "tcptrace's host letter"},
                    {"first_packet", "number", "s since 1970"},
                    {"last_packet", "number", "s since 1970"},
                    {"elapsed_time", "number", "s from the first packet to the last"},
                    {"total_packets", "integer", "both directions"},
                    {"end", "string", "open, complete or reset"},
                    {"complete", "boolean", "SYN and FIN of both sides were seen"},
                    {"reset", "boolean", "a reset was seen"},
                    {"syns", "integer", "sides that sent a SYN"},
                    {"fins", "integer", "sides that sent a FIN"},
                    {"began_before", "boolean", "no SYN: scale and MSS are unknown"},
                    {"evicted", "boolean", "forgotten early for lack of room"},
                    {"scps_agreed", "string", "capabilities both sides offered"}};

#define CONN_MEMBERS (sizeof conn_members / sizeof *conn_members)

/* Begins the schema of the member `name` (NULL: of an array's items): {"type": type}, or {"type":
 * [type, "null"]} if `nullable`, and the description `words` unless NULL. The caller closes the
 * object. */
static void begin_type(struct scps_json *j, const char *name, const char *type, bool nullable,
                       const char *words)
{
    scps_json_open(j, name, '{');
    if (nullable) {
        scps_json_open(j, "type", '[');
        scps_json_string(j, NULL, type);
        scps_json_string(j, NULL, "null");
        scps_json_close(j, ']');
    } else {
        scps_json_string(j, "type", type);
    }
    if (words != NULL)
        scps_json_string(j, "description", words);
}

static void property(struct scps_json *j, const char *name, const char *type, bool nullable,
                     const char *words)
{
    begin_type(j, name, type, nullable, words);
    scps_json_close(j, '}');
}

/* Begins the schema of a JSON object that has no members but those that the caller writes next. */
static void begin_object(struct scps_json *j, const char *name)
{
    if (name != NULL)
        begin_type(j, name, "object", false, NULL);
    else
        scps_json_string(j, "type", "object");
    scps_json_bool(j, "additionalProperties", false);
}

static void reference(struct scps_json *j, const char *name)
{
    scps_json_open(j, name, '{');
    scps_json_string(j, "$ref", "#/definitions/direction");
    scps_json_close(j, '}');
}

static void capture(struct scps_json *j)
{
    begin_object(j, "capture");
    scps_json_open(j, "properties", '{');
    property(j, "connections", "integer", false, "connections seen, evicted ones included");
    property(j, "first_packet", "number", false, "s since 1970");
    property(j, "last_packet", "number", false, "s since 1970");
#define COUNT(name, words) property(j, #name, "integer", false, words);
    SCPS_TRACE_COUNTS(COUNT)
#undef COUNT
    scps_json_close(j, '}');
    scps_json_close(j, '}');
}

static void connections(struct scps_json *j)
{
    begin_type(j, "connections", "array", false, NULL);
    begin_object(j, "items");
    scps_json_open(j, "required", '[');
    for (size_t i = 0; i < CONN_MEMBERS; i++)
        scps_json_string(j, NULL, conn_members[i].name);
    scps_json_string(j, NULL, "a2b");
    scps_json_string(j, NULL, "b2a");
    scps_json_close(j, ']');
    scps_json_open(j, "properties", '{');
    for (size_t i = 0; i < CONN_MEMBERS; i++)
        property(j, conn_members[i].name, conn_members[i].type, false, conn_members[i].words);
    reference(j, "a2b");
    reference(j, "b2a");
    scps_json_close(j, '}');
    scps_json_close(j, '}');
    scps_json_close(j, '}');
}

static void direction(struct scps_json *j)
{
    begin_object(j, "direction");
    scps_json_open(j, "required", '[');
    for (int i = 0; i < F_COUNT; i++)
        scps_json_string(j, NULL, scps_tr_field[i].name);
    scps_json_close(j, ']');
    scps_json_open(j, "properties", '{');
    for (int i = 0; i < F_COUNT; i++) {
        const struct field *x = &scps_tr_field[i];
        bool whole = x->kind == 'U' || x->kind == 'N', real = x->kind == 'D';
        char words[96];

        snprintf(words, sizeof words, "%s%s%s%s", x->label, x->unit[0] ? " (" : "", x->unit,
                 x->unit[0] ? ")" : "");
        property(j, x->name,
                 whole  ? "integer"
                 : real ? "number"
                        : "string",
                 real || x->kind == 'N', words);
    }
    scps_json_close(j, '}');
    scps_json_close(j, '}');
}

void scps_trace_json_schema(FILE *f)
{
    static const char *const members[] = {"program", "version", "connections",
                                          "files",   "capture", "trouble"};
    struct scps_json j = {.f = f, .indent = " "};

    scps_json_open(&j, NULL, '{');
    scps_json_string(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    scps_json_string(&j, "title", "scps_trace --json");
    begin_object(&j, NULL);
    scps_json_open(&j, "required", '[');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        scps_json_string(&j, NULL, members[i]);
    scps_json_close(&j, ']');
    scps_json_open(&j, "properties", '{');
    scps_json_open(&j, "program", '{');
    scps_json_string(&j, "const", "scps_trace");
    scps_json_close(&j, '}');
    property(&j, "version", "string", false, "of libscps");
    begin_type(&j, "files", "array", false, NULL);
    property(&j, "items", "string", false, "a capture that was read");
    scps_json_close(&j, '}');
    property(&j, "trouble", "string", true, "why reading stopped early; null if it did not");
    capture(&j);
    connections(&j);
    scps_json_close(&j, '}');
    scps_json_open(&j, "definitions", '{');
    direction(&j);
    scps_json_close(&j, '}');
    scps_json_close(&j, '}');
}
