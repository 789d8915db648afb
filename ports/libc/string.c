/* SPDX-License-Identifier: MIT */
/* The memory and string functions that the library needs, for compilers that come without a C
 * library. They are the plain definitions of C11 section 7.24; memcpy and memset go by words, as
 * they move all payload. */
#include <string.h>

#include <stdint.h>

#define WORD sizeof(uint32_t)

static int is_aligned(const void *p)
{
    return (uintptr_t)p % WORD == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if (is_aligned(t) && is_aligned(f))
        for (; n >= WORD; n -= WORD, t += WORD, f += WORD)
            *(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
    while (n--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if (t < f)
        while (n--)
            *t++ = *f++;
    else
        while (n--)
            t[n] = f[n];
    return to;
}

void *memset(void *s, int c, size_t n)
{
    uint8_t *p = s;
    uint32_t word = (uint8_t)c * UINT32_C(0x01010101);

    if (is_aligned(p))
        for (; n >= WORD; n -= WORD, p += WORD)
            *(uint32_t *)(void *)p = word;
    while (n--)
        *p++ = (uint8_t)c;
    return s;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;

    for (; n--; x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    const uint8_t *p = s;

    for (; n--; p++)
        if (*p == (uint8_t)c)
            return (void *)(uintptr_t)p;
    return NULL;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

char *strchr(const char *s, int c)
{
    for (; *s != (char)c; s++)
        if (!*s)
            return NULL;
    return (char *)(uintptr_t)s;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (uint8_t)*a - (uint8_t)*b;
}

size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;

    while (s[n] && !strchr(reject, s[n]))
        n++;
    return n;
}
