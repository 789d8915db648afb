/* SPDX-License-Identifier: MIT */
/* Parses values with units as scenario files have them, and builds strings that grow. */
#ifndef SCPS_LAB_TEXT_H
#define SCPS_LAB_TEXT_H

#include <scps/types.h>

#include <stdio.h>

/* size in bytes of a buffer for a message of one line that names an error and its remedy */
#define LAB_MSGLEN 512

/* The functions lab_size() to lab_real() parse a value. Each returns false, with *out unchanged, if
 * text is no such value. Sizes and rates are decimal (kb and k are 1000 bytes, as in
 * NASA/TM-2003-212001); kib and K, mib and M are binary, as in the SPEC of a link. */
/* Parses a size into bytes: 100000, 100kb, 5.7mb, 64kib, 64K. */
bool lab_size(const char *text, uint64_t *bytes);
/* Parses a rate into bit/s: 100mbit, 100m, 115200. */
bool lab_rate(const char *text, uint64_t *bps);
/* Parses a time into µs: 250ms, 1.5s, 2min, 3h; only 0 needs no unit. */
bool lab_time(const char *text, scps_dur *us);
bool lab_count(const char *text, uint64_t max, uint64_t *out);
bool lab_yesno(const char *text, bool *out);  /* Parses the words yes and no. */
bool lab_real(const char *text, double *out); /* Parses any finite number without a unit. */

struct lab_range { /* a range of times, "2s" or "1s..8s" */
    scps_dur lo, hi;
};
bool lab_range(const char *text, struct lab_range *out);

/* Called when malloc() fails; does not return. The programs print a message and exit (no_memory.c),
 * because they have no state to save; the Python module defines a function of its own. */
_Noreturn void lab_no_memory(void);

/* A growable string. If memory runs out, lab_no_memory() is called. */
struct lab_str {
    char *p; /* text with its final zero; NULL before the first lab_add() */
    size_t len, cap;
};
void lab_add(struct lab_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lab_free(struct lab_str *s);
/* Returns n bytes of memory, all zero, which the caller frees with free(). If memory runs out,
 * lab_no_memory() is called. */
void *lab_alloc(size_t n);
/* Works as realloc(), but calls lab_no_memory() when memory runs out. */
void *lab_grow(void *p, size_t n);
/* Works as strdup(), but calls lab_no_memory() when memory runs out. */
char *lab_copy(const char *s);

/* Copies the next item of the list *rest, whose items are separated by sep and blanks, to out
 * (outlen bytes), without blanks around it, and advances *rest behind it. Returns false if no item
 * is left. */
bool lab_item(const char **rest, char sep, char *out, size_t outlen);

/* Returns the FNV-1a hash of len octets at data, continued from the hash `start`; start 0: begins
 * with the offset basis of FNV. */
uint64_t lab_hash(const void *data, size_t len, uint64_t start);

#endif
