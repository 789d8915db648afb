/* SPDX-License-Identifier: MIT */
/* JSON text (RFC 8259) from integers and strings: tabs as iperf3 has them, and nothing that depends
 * on the locale.
 */
#include "scps_ttcp/json.h"

#include "scps_ttcp/units.h"

#include <scps/analyze.h>

#include <inttypes.h>

static void begin(struct json *j, const char *key)
{
    if (j->comma)
        fputc(',', j->f);
    if (j->depth > 0)
        fputc('\n', j->f);
    for (unsigned i = 0; i < j->depth; i++)
        fputc('\t', j->f);
    if (key != NULL) {
        scps_trace_json_string(j->f, key);
        fputs(": ", j->f);
    }
    j->comma = true;
}

void json_open(struct json *j, const char *key, char bracket)
{
    begin(j, key);
    fputc(bracket, j->f);
    j->depth++;
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (j->comma) {
        fputc('\n', j->f);
        for (unsigned i = 0; i < j->depth; i++)
            fputc('\t', j->f);
    }
    fputc(bracket, j->f);
    j->comma = true;
    if (j->depth == 0)
        fputc('\n', j->f);
}

void json_raw(struct json *j, const char *key, const char *text)
{
    begin(j, key);
    fputs(text, j->f);
}

void json_str(struct json *j, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(j, key);
        return;
    }
    begin(j, key);
    scps_trace_json_string(j->f, value);
}

void json_uint(struct json *j, const char *key, uint64_t v)
{
    begin(j, key);
    fprintf(j->f, "%" PRIu64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
    json_raw(j, key, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_raw(j, key, "null");
}

void json_us(struct json *j, const char *key, scps_dur us)
{
    if (us < 0)
        json_null(j, key);
    else
        json_uint(j, key, (uint64_t)us);
}

void json_seconds(struct json *j, const char *key, scps_dur us)
{
    char text[32];

    json_raw(j, key, units_print_seconds(text, us < 0 ? 0 : us, 6));
}
