/* SPDX-License-Identifier: MIT */
/* Writes JSON (RFC 8259) piece by piece: objects, arrays, strings, numbers. All programs of libscps
 * write JSON with it; docs/decisions/0009-one-json-writer.md says why they use no JSON library such
 * as jansson.
 *
 *     struct scps_json j = {.f = stdout, .indent = "  "};
 *
 *     scps_json_open(&j, NULL, '{');
 *     scps_json_uint(&j, "bytes", 1234);
 *     scps_json_close(&j, '}');
 *
 * A write error is not reported by these functions: check ferror(j.f). Nothing is allocated. Give a
 * key for a member of an object, and NULL for an element of an array. Link with libscps_trace.
 */
#ifndef SCPS_JSON_H
#define SCPS_JSON_H

#include <scps/types.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A JSON document being written. The caller sets f and indent, and leaves the
 * rest zero, except that it may give room and size. */
struct scps_json {
    FILE *f;
    /* text that begins a line, repeated once for each open bracket; NULL: the whole document is one
     * line without spaces between its items */
    const char *indent;
    unsigned depth; /* number of brackets that are open */
    bool comma;     /* true: a comma precedes the next item of the open bracket */
    /* Memory of the caller for `size` octets, or NULL and 0. The functions keep text in it until it
     * is full or the document ends, and call fwrite() less often; until then the caller writes
     * nothing else to f. held: number of octets in it. */
    char *room;
    size_t size, held;
};

/* In every function, key names a member of an object; it is NULL for an element of an array, and
 * for the document itself. Strings are UTF-8 and end with a zero octet. An octet that is not
 * part of UTF-8 (RFC 3629 section 4) becomes U+FFFD. */

/* Opens an object '{' or an array '['. */
SCPS_API void scps_json_open(struct scps_json *j, const char *key, char bracket);
/* Closes the innermost object or array. A newline follows the end of the document. Does nothing
 * when none is open. */
SCPS_API void scps_json_close(struct scps_json *j, char bracket);
/* Writes a string; null if the value is NULL. */
SCPS_API void scps_json_string(struct scps_json *j, const char *key, const char *value);
/* These functions write an unsigned or signed integer, a boolean, and null. */
SCPS_API void scps_json_uint(struct scps_json *j, const char *key, uint64_t v);
SCPS_API void scps_json_int(struct scps_json *j, const char *key, int64_t v);
SCPS_API void scps_json_bool(struct scps_json *j, const char *key, bool v);
SCPS_API void scps_json_null(struct scps_json *j, const char *key);
/* Writes a number with 15 significant digits; null when it is not finite. */
SCPS_API void scps_json_real(struct scps_json *j, const char *key, double v);
/* Writes a number with a fixed number of digits behind the point; null when it is not finite. */
SCPS_API void scps_json_fixed(struct scps_json *j, const char *key, double v, int digits);
/* Writes a duration as an integer in microseconds; null when it is negative. */
SCPS_API void scps_json_us(struct scps_json *j, const char *key, scps_dur us);
/* Writes microseconds as seconds with six digits behind the point, exactly. A negative time counts
 * as 0. */
SCPS_API void scps_json_seconds(struct scps_json *j, const char *key, scps_dur us);
/* Writes microseconds as milliseconds with three digits behind the point, exactly. A negative time
 * counts as 0. */
SCPS_API void scps_json_milliseconds(struct scps_json *j, const char *key, scps_dur us);
/* Writes a value that is JSON text already. text NULL writes null. */
SCPS_API void scps_json_raw(struct scps_json *j, const char *key, const char *text);

#ifdef __cplusplus
}
#endif

#endif
