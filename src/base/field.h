/* SPDX-License-Identifier: MIT */
/* Access to a field of a structure by its address and its size in octets (1, 2, 4 or 8), for tables
 * of fields.
 *
 * Fields of less than 8 octets are unsigned, flags or enumerations. A field of 8 octets with a
 * value above INT64_MAX is read as negative.
 */
#ifndef SCPS_BASE_FIELD_H
#define SCPS_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void scps_field_put(void *to, size_t size, int64_t v)
{
    const uint8_t v8 = (uint8_t)v;
    const uint16_t v16 = (uint16_t)v;
    const uint32_t v32 = (uint32_t)v;

    memcpy(to,
           size == 1   ? (const void *)&v8
           : size == 2 ? (const void *)&v16
           : size == 4 ? (const void *)&v32
                       : (const void *)&v,
           size);
}

static inline int64_t scps_field_get(const void *from, size_t size)
{
    uint16_t v16;
    uint32_t v32;
    int64_t v;

    if (size == 1)
        return *(const uint8_t *)from;
    if (size == 2)
        return memcpy(&v16, from, sizeof v16), v16;
    if (size == 4)
        return memcpy(&v32, from, sizeof v32), v32;
    return memcpy(&v, from, sizeof v), v;
}

#endif
