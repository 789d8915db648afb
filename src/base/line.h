/* SPDX-License-Identifier: MIT */
/* Composes a line of text in a buffer that the caller provides, for the messages of files that do
 * not use printf. What does not fit the buffer is left out. */
#ifndef SCPS_BASE_LINE_H
#define SCPS_BASE_LINE_H

#include <stddef.h>
#include <stdint.h>

struct scps_line {
    char *at;
    size_t left; /* room that is left in the buffer, bytes, without the final zero */
};

/* Begins an empty line in the len bytes at buf. buf NULL or len 0: nothing is written. */
static inline struct scps_line scps_line_begin(char *buf, size_t len)
{
    if (!buf || !len)
        return (struct scps_line){NULL, 0};
    *buf = '\0';
    return (struct scps_line){buf, len - 1};
}

static inline void scps_line_text(struct scps_line *l, const char *text)
{
    for (; *text && l->left; l->left--)
        *l->at++ = *text++;
    if (l->at)
        *l->at = '\0';
}

static inline void scps_line_number(struct scps_line *l, uint64_t n)
{
    char digits[21] = "";
    char *at = digits + sizeof digits - 1;

    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    scps_line_text(l, at);
}

static inline void scps_line_signed(struct scps_line *l, int64_t n)
{
    if (n < 0)
        scps_line_text(l, "-");
    scps_line_number(l, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

#endif
