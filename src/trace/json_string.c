/* SPDX-License-Identifier: MIT */
/* Strings of JSON (RFC 8259), for the documents of every program. */
#include <stdio.h>

#include <scps/analyze.h>

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

void scps_trace_json_string(FILE *f, const char *text)
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
