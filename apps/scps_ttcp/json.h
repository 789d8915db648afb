/* SPDX-License-Identifier: MIT */
/* Just enough JSON to write one document. */
#ifndef SCPS_TTCP_JSON_H
#define SCPS_TTCP_JSON_H

#include <scps/types.h>

#include <stdio.h>

struct json {
    FILE *f;
    unsigned depth;
    bool comma; /* the next item needs one before it */
};

/* In each, key is NULL inside an array. */
void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);                 /* '}' or ']' */
void json_str(struct json *j, const char *key, const char *value /* NULL: null */);
void json_uint(struct json *j, const char *key, uint64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* µs, or null when negative. */
void json_us(struct json *j, const char *key, scps_dur us);
/* µs as seconds with a fraction. */
void json_seconds(struct json *j, const char *key, scps_dur us);
/* A number that already is text. */
void json_raw(struct json *j, const char *key, const char *text);

#endif
