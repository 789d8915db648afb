/* SPDX-License-Identifier: MIT */
/* Loads and stores numbers in network byte order, and defines small helpers for integers and macros
 * for inlining. */
#ifndef SCPS_BASE_BYTES_H
#define SCPS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t scps_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}
static inline uint32_t scps_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline uint64_t scps_get64(const uint8_t *p)
{
    return (uint64_t)scps_get32(p) << 32 | scps_get32(p + 4);
}
static inline void scps_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}
static inline void scps_put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}
static inline void scps_put64(uint8_t *p, uint64_t v)
{
    scps_put32(p, (uint32_t)(v >> 32));
    scps_put32(p + 4, (uint32_t)v);
}

/* A cursor that reads the fields of a message one after the other. A read beyond the end of the
 * message returns 0 or NULL and sets `cut`. */
struct scps_cursor {
    const uint8_t *p, *end;
    bool cut;
};

/* Returns the next n octets; NULL if fewer are left. */
static inline const uint8_t *scps_cursor_skip(struct scps_cursor *c, size_t n)
{
    const uint8_t *at = c->p;
    if ((size_t)(c->end - at) < n) {
        c->cut = true;
        c->p = c->end;
        return NULL;
    }
    c->p += n;
    return at;
}
static inline uint8_t scps_cursor_get8(struct scps_cursor *c)
{
    const uint8_t *p = scps_cursor_skip(c, 1);
    return p ? *p : 0;
}
static inline uint16_t scps_cursor_get16(struct scps_cursor *c)
{
    const uint8_t *p = scps_cursor_skip(c, 2);
    return p ? scps_get16(p) : 0;
}
static inline uint32_t scps_cursor_get32(struct scps_cursor *c)
{
    const uint8_t *p = scps_cursor_skip(c, 4);
    return p ? scps_get32(p) : 0;
}

#define SCPS_MIN(a, b)        ((a) < (b) ? (a) : (b))
#define SCPS_MAX(a, b)        ((a) > (b) ? (a) : (b))
#define SCPS_CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

/* SCPS_NOINLINE keeps a rarely called function out of line, so that its callers on the common path
 * do not pay for its stack frame and registers. SCPS_ALWAYS_INLINE inlines a function of the common
 * path everywhere. When the compiler optimises for size (-Os), both macros leave the choice to the
 * compiler.
 *
 * SCPS_NOINLINE_SIZE and SCPS_INLINE_SPEED mark functions that gcc at -Os would inline in several
 * places, although calls take less code on a 32-bit machine. With gcc at -Os both macros keep the
 * function out of line. In all other builds SCPS_NOINLINE_SIZE has no effect, and SCPS_INLINE_SPEED
 * is `inline`. */
#if defined __GNUC__ && defined __OPTIMIZE_SIZE__
#define SCPS_NOINLINE_SIZE __attribute__((noinline))
#define SCPS_INLINE_SPEED  __attribute__((noinline, unused))
#else
#define SCPS_NOINLINE_SIZE
#define SCPS_INLINE_SPEED inline
#endif
#if defined __GNUC__ && !defined __OPTIMIZE_SIZE__
#define SCPS_NOINLINE      __attribute__((noinline))
#define SCPS_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define SCPS_NOINLINE
#define SCPS_ALWAYS_INLINE inline
#endif

#endif
