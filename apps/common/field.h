/* SPDX-License-Identifier: MIT */
/* Access to unsigned fields of a structure by address and size in octets (1, 2, 4 or 8), for tables
 * of options and keys that store offset and size of a field. */
#ifndef SCPS_APPS_FIELD_H
#define SCPS_APPS_FIELD_H

#include <stddef.h>
#include <stdint.h>

static inline void field_put(void *to, size_t size, uint64_t v)
{
    switch (size) {
    case 1: /* also fields of type bool, which have one octet */
        *(uint8_t *)to = (uint8_t)v;
        break;
    case 2:
        *(uint16_t *)to = (uint16_t)v;
        break;
    case 4:
        *(uint32_t *)to = (uint32_t)v;
        break;
    default:
        *(uint64_t *)to = v;
    }
}

static inline uint64_t field_get(const void *from, size_t size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)from;
    case 2:
        return *(const uint16_t *)from;
    case 4:
        return *(const uint32_t *)from;
    default:
        return *(const uint64_t *)from;
    }
}

#endif
