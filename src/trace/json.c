/* SPDX-License-Identifier: MIT */
/* Writes a JSON document (RFC 8259) to a file item by item, without storing it in memory. */
#include <scps/json.h>

#include <inttypes.h>
#include <math.h>

/* Returns the length of the UTF-8 sequence at p (RFC 3629 section 4), octets; 0: it is invalid. */
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

static void string(FILE *f, const char *text)
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

static void line(const struct scps_json *j)
{
    fputc('\n', j->f);
    for (unsigned i = 0; i < j->depth; i++)
        fputs(j->indent, j->f);
}

/* Writes what comes before an item: a comma, a new line, and its key. */
static void begin(struct scps_json *j, const char *key)
{
    if (j->comma)
        fputc(',', j->f);
    if (j->depth > 0)
        line(j);
    if (key != NULL) {
        string(j->f, key);
        fputs(": ", j->f);
    }
    j->comma = true;
}

void scps_json_open(struct scps_json *j, const char *key, char bracket)
{
    begin(j, key);
    fputc(bracket, j->f);
    j->depth++;
    j->comma = false;
}

void scps_json_close(struct scps_json *j, char bracket)
{
    if (j->depth == 0)
        return;
    j->depth--;
    if (j->comma)
        line(j);
    fputc(bracket, j->f);
    j->comma = true;
    if (j->depth == 0)
        fputc('\n', j->f);
}

void scps_json_raw(struct scps_json *j, const char *key, const char *text)
{
    begin(j, key);
    fputs(text ? text : "null", j->f);
}

void scps_json_string(struct scps_json *j, const char *key, const char *value)
{
    if (value == NULL) {
        scps_json_null(j, key);
        return;
    }
    begin(j, key);
    string(j->f, value);
}

void scps_json_uint(struct scps_json *j, const char *key, uint64_t v)
{
    begin(j, key);
    fprintf(j->f, "%" PRIu64, v);
}

void scps_json_int(struct scps_json *j, const char *key, int64_t v)
{
    begin(j, key);
    fprintf(j->f, "%" PRId64, v);
}

void scps_json_bool(struct scps_json *j, const char *key, bool v)
{
    scps_json_raw(j, key, v ? "true" : "false");
}

void scps_json_null(struct scps_json *j, const char *key)
{
    scps_json_raw(j, key, "null");
}

void scps_json_real(struct scps_json *j, const char *key, double v)
{
    if (!isfinite(v)) {
        scps_json_null(j, key);
        return;
    }
    begin(j, key);
    fprintf(j->f, "%.15g", v);
}

void scps_json_fixed(struct scps_json *j, const char *key, double v, int digits)
{
    if (!isfinite(v)) {
        scps_json_null(j, key);
        return;
    }
    begin(j, key);
    fprintf(j->f, "%.*f", digits, v);
}

void scps_json_us(struct scps_json *j, const char *key, scps_dur us)
{
    if (us < 0)
        scps_json_null(j, key);
    else
        scps_json_uint(j, key, (uint64_t)us);
}

void scps_json_seconds(struct scps_json *j, const char *key, scps_dur us)
{
    if (us < 0)
        us = 0;
    begin(j, key);
    fprintf(j->f, "%" PRId64 ".%06d", us / 1000000, (int)(us % 1000000));
}
