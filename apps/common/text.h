/* SPDX-License-Identifier: MIT */
/* Small text: values with units as scenario files have them, strings that grow, one-line
 * complaints. */
#ifndef SCPS_LAB_TEXT_H
#define SCPS_LAB_TEXT_H

#include <scps/types.h>

#include <stdio.h>

#define LAB_MSGLEN 512 /* room for one line that names what is wrong and the remedy */

/* Each returns false, leaving *out alone, when the text is no such value. Sizes and rates are
 * decimal (kb and k are 1000 bytes, as the published tests reckon); kib and K, mib and M are
 * binary, as in the SPEC of a link. */
bool lab_size(const char *text, uint64_t *bytes); /* 100000, 100kb, 5.7mb, 64kib, 64K */
bool lab_rate(const char *text, uint64_t *bps);   /* 100mbit, 100m, 115200 */
bool lab_time(const char *text,
              scps_dur *us); /* Reads a time: 250ms, 1.5s, 2min, 3h; only 0 needs no unit. */
bool lab_count(const char *text, uint64_t max, uint64_t *out);
bool lab_yesno(const char *text, bool *out);  /* yes no */
bool lab_real(const char *text, double *out); /* any number, no unit; finite */

struct lab_range { /* "2s" or "1s..8s" */
    scps_dur lo, hi;
};
bool lab_range(const char *text, struct lab_range *out);

/* Called when memory runs out. The programs print a one-line message and exit (no_memory.c), as
 * they have no state that would be worth saving; the Python module has a function of its own. */
_Noreturn void lab_no_memory(void);

/* A growable string. If memory runs out, lab_no_memory() is called. */
struct lab_str {
    char *p; /* "" at first use through lab_add; NULL before */
    size_t len, cap;
};
void lab_add(struct lab_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void lab_free(struct lab_str *s);
/* malloc and strdup that do not fail; see above. */
void *lab_alloc(size_t n);
void *lab_grow(void *p, size_t n);
char *lab_copy(const char *s);

/* Takes the next item of a list separated by sep (and blanks) off *rest into out, trimmed. False:
 * there is none. */
bool lab_item(const char **rest, char sep, char *out, size_t outlen);

uint64_t lab_hash(const void *data, size_t len,
                  uint64_t start); /* FNV-1a hash; start 0: its offset basis */

#endif
