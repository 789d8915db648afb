/* SPDX-License-Identifier: MIT */
/* Octets written as hexadecimal digits, blanks anywhere: packets as documents print them. */
#ifndef SCPS_TESTS_HEX_H
#define SCPS_TESTS_HEX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the octets that text stands for to out, which has cap bytes. Returns their number. */
static inline size_t hex(const char *text, uint8_t *out, size_t cap)
{
    size_t n = 0;
    for (; *text; text++) {
        int c = *text;
        int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0) {
            assert(c == ' ' || c == '\n');
            continue;
        }
        assert(n / 2 < cap);
        out[n / 2] = (uint8_t)(n % 2 ? out[n / 2] | v : v << 4);
        n++;
    }
    assert(n % 2 == 0);
    return n / 2;
}

#endif
