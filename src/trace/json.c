/* SPDX-License-Identifier: MIT */
/* Writes a JSON document (RFC 8259) to a file item by item, without storing it in memory. */
#include <scps/json.h>

#include <math.h>
#include <string.h>

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

static void flush(struct scps_json *j)
{
    fwrite(j->room, 1, j->held, j->f);
    j->held = 0;
}

/* Writes n octets, or keeps them in j->room. */
static void put(struct scps_json *j, const void *octets, size_t n)
{
    if (n > j->size - j->held && j->held > 0)
        flush(j);
    if (n >= j->size) {
        fwrite(octets, 1, n, j->f);
        return;
    }
    memcpy(j->room + j->held, octets, n);
    j->held += n;
}

static void put_char(struct scps_json *j, char c)
{
    if (j->held < j->size)
        j->room[j->held++] = c;
    else
        put(j, &c, 1);
}

/* Returns the number of octets at p that a string contains without a change and that are ASCII. */
static size_t plain(const unsigned char *p)
{
    size_t n = 0;

    while (p[n] >= 0x20 && p[n] < 0x80 && p[n] != '"' && p[n] != '\\')
        n++;
    return n;
}

static void string(struct scps_json *j, const char *text)
{
    put_char(j, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        char escaped[8];
        size_t n = plain(p);

        if (n != 0 || (n = utf8(p)) != 0) {
            put(j, p, n);
            p += n;
        } else if (*p == '"' || *p == '\\') {
            put_char(j, '\\');
            put_char(j, (char)*p++);
        } else if (*p < 0x20) {
            put(j, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *p++));
        } else {
            put(j, "\\ufffd", 6);
            p++;
        }
    }
    put_char(j, '"');
}

/* Begins a line, unless the document is written on one line. */
static void line(struct scps_json *j)
{
    if (j->indent == NULL)
        return;
    put_char(j, '\n');
    for (unsigned i = 0; i < j->depth; i++)
        put(j, j->indent, strlen(j->indent));
}

/* Writes what comes before an item: a comma, a new line, and its key. */
static void begin(struct scps_json *j, const char *key)
{
    if (j->comma)
        put_char(j, ',');
    if (j->depth > 0)
        line(j);
    if (key != NULL) {
        string(j, key);
        put_char(j, ':');
        if (j->indent != NULL)
            put_char(j, ' ');
    }
    j->comma = true;
}

/* Ends an item. */
static void end(struct scps_json *j)
{
    if (j->depth == 0 && j->held > 0)
        flush(j);
}

/* Writes a number in decimal: fprintf() would take most of the time of a document of numbers. */
static void decimal(struct scps_json *j, uint64_t v)
{
    char text[20]; /* UINT64_MAX has 20 digits */
    size_t at = sizeof text;

    do
        text[--at] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    put(j, text + at, sizeof text - at);
}

void scps_json_open(struct scps_json *j, const char *key, char bracket)
{
    begin(j, key);
    put_char(j, bracket);
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
    put_char(j, bracket);
    j->comma = true;
    if (j->depth == 0)
        put_char(j, '\n');
    end(j);
}

void scps_json_raw(struct scps_json *j, const char *key, const char *text)
{
    if (text == NULL)
        text = "null";
    begin(j, key);
    put(j, text, strlen(text));
    end(j);
}

void scps_json_string(struct scps_json *j, const char *key, const char *value)
{
    if (value == NULL) {
        scps_json_null(j, key);
        return;
    }
    begin(j, key);
    string(j, value);
    end(j);
}

void scps_json_uint(struct scps_json *j, const char *key, uint64_t v)
{
    begin(j, key);
    decimal(j, v);
    end(j);
}

void scps_json_int(struct scps_json *j, const char *key, int64_t v)
{
    begin(j, key);
    if (v < 0)
        put_char(j, '-');
    decimal(j, v < 0 ? -(uint64_t)v : (uint64_t)v);
    end(j);
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
    char text[32];

    snprintf(text, sizeof text, "%.15g", v);
    scps_json_raw(j, key, isfinite(v) ? text : NULL);
}

void scps_json_fixed(struct scps_json *j, const char *key, double v, int digits)
{
    if (!isfinite(v)) {
        scps_json_null(j, key);
        return;
    }
    begin(j, key);
    if (j->held > 0)
        flush(j);
    fprintf(j->f, "%.*f", digits, v);
}

void scps_json_us(struct scps_json *j, const char *key, scps_dur us)
{
    if (us < 0)
        scps_json_null(j, key);
    else
        scps_json_uint(j, key, (uint64_t)us);
}

/* Writes a duration in units of `unit` µs, a power of ten, with all digits behind the point. */
static void parts(struct scps_json *j, const char *key, scps_dur us, unsigned unit)
{
    uint64_t v = us > 0 ? (uint64_t)us : 0;
    unsigned rest = (unsigned)(v % unit);

    begin(j, key);
    decimal(j, v / unit);
    put_char(j, '.');
    while ((unit /= 10) > 0)
        put_char(j, (char)('0' + rest / unit % 10));
    end(j);
}

void scps_json_seconds(struct scps_json *j, const char *key, scps_dur us)
{
    parts(j, key, us, 1000000);
}

void scps_json_milliseconds(struct scps_json *j, const char *key, scps_dur us)
{
    parts(j, key, us, 1000);
}
