/* SPDX-License-Identifier: MIT */
/* Copies structures between a program and a library that were compiled with headers of different
 * versions.
 *
 * Within one version of the ABI structures grow at their end only, beyond their former size, so
 * the shorter of two versions is the beginning of the longer one. A structure that the library
 * reads may be shorter than its own: the rest has its defaults. It may not be longer, because the
 * library would not know what the program asks for. A structure that the library fills may be
 * shorter or longer.
 */
#ifndef SCPS_BASE_SIZED_H
#define SCPS_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The size of the version of a structure that ends before `field`, which a later version added. */
#define SCPS_SIZED_TO(type, field) offsetof(struct type, field)

/* Copies the first n octets of the caller's structure to `to`, a structure of `most` octets that
 * holds the defaults. Returns false, and copies nothing, if n is less than `least`, more than
 * `most`, or not a multiple of 4, which a structure's size always is. */
static inline bool scps_sized_take(void *to, size_t most, const void *from, size_t n, size_t least)
{
    if (n < least || n > most || n % sizeof(uint32_t))
        return false;
    memcpy(to, from, n);
    return true;
}

/* Copies the caller's structure `from`, whose first member is its size in bytes, to `to`, which
 * holds the defaults. `to` keeps its own size, `most`. Returns false, and copies nothing, if the
 * caller's size is less than `least`, more than `most`, or not a multiple of 4, which a structure's
 * size always is. */
static inline bool scps_sized_take_own(void *to, size_t most, const void *from, size_t least)
{
    size_t n;

    memcpy(&n, from, sizeof n);
    if (!scps_sized_take(to, most, from, n, least))
        return false;
    memcpy(to, &most, sizeof most);
    return true;
}

/* Fills the caller's structure of n octets from the library's of `have` octets. Fields that the
 * library's structure does not have become 0. */
static inline void scps_sized_give(void *to, size_t n, const void *from, size_t have)
{
    size_t both = n < have ? n : have;

    memcpy(to, from, both);
    memset((uint8_t *)to + both, 0, n - both);
}

/* Fills the caller's structure as scps_sized_give() does, and sets its first member to its size
 * n. */
static inline void scps_sized_give_own(void *to, size_t n, const void *from, size_t have)
{
    scps_sized_give(to, n, from, have);
    memcpy(to, &n, sizeof n);
}

#endif
