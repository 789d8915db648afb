/* SPDX-License-Identifier: MIT */
/* JSON text (RFC 8259) from integers and strings: tabs as iperf3 has them, and nothing that depends on the locale.
 */
#include "scps_ttcp/json.h"

#include "scps_ttcp/units.h"

#include <inttypes.h>
#include <string.h>

/* Length of the UTF-8 sequence at p (RFC 3629 section 4), 0 if it is none. */
static unsigned utf8(const unsigned char *p)
{
    static const struct {
        unsigned char lo, hi, from, to;
        unsigned len;
    } rows[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (*p < rows[i].lo || *p > rows[i].hi)
            continue;
        if (p[1] < rows[i].from || p[1] > rows[i].to)
            return 0;
        for (unsigned k = 2; k < rows[i].len; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return rows[i].len;
    }
    return 0;
}

/* What is no UTF-8, in a file name perhaps, becomes U+FFFD: the document must stay readable. */
static void quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        unsigned n;

        if (*p == '"' || *p == '\\') {
            fprintf(f, "\\%c", *p++);
        } else if (*p < 0x20) {
            fprintf(f, "\\u%04x", *p++);
        } else if (*p < 0x80) {
            fputc(*p++, f);
        } else if ((n = utf8(p)) != 0) {
            fwrite(p, 1, n, f);
            p += n;
        } else {
            fputs("\\ufffd", f);
            p++;
        }
    }
    fputc('"', f);
}

static void begin(struct json *j, const char *key)
{
    if (j->comma)
        fputc(',', j->f);
    if (j->depth > 0)
        fputc('\n', j->f);
    for (unsigned i = 0; i < j->depth; i++)
        fputc('\t', j->f);
    if (key != NULL) {
        quoted(j->f, key);
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
    quoted(j->f, value);
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
