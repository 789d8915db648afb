/* SPDX-License-Identifier: MIT */
/* What the library uses of the C standard's <string.h> (section 7.24). */
#ifndef SCPS_PORTS_STRING_H
#define SCPS_PORTS_STRING_H

#include <stddef.h>

void *memchr(const void *s, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *s, int c, size_t n);
char *strchr(const char *s, int c);
char *strcpy(char *restrict to, const char *restrict from);
int strcmp(const char *a, const char *b);
size_t strcspn(const char *s, const char *reject);
size_t strlen(const char *s);

#endif
