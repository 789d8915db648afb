/* SPDX-License-Identifier: MIT */
/* Checks the fields of a configuration against a table of bounds, and writes a message about the
 * field that is out of bounds. */
#ifndef SCPS_BASE_BOUNDS_H
#define SCPS_BASE_BOUNDS_H

#include "base/field.h"
#include "base/line.h"
#include "base/sized.h"

struct scps_bounds {
    const char *name;
    uint16_t at, size; /* offset and size of the field in the configuration, bytes */
    int64_t least, most;
};

/* The row of a table of bounds for field f of struct type: least <= f <= most. */
#define SCPS_BOUNDS(type, f, least, most)                                                          \
    {                                                                                              \
#f, offsetof(struct type, f), sizeof(((struct type *)0)->f), least, most                   \
    }

/* Writes to *why the message "NAME: V: give LEAST to MOST": value v of field `name` is outside its
 * bounds. */
static inline void scps_bounds_message(struct scps_line *why, const char *name, int64_t v,
                                       int64_t least, int64_t most)
{
    scps_line_text(why, name);
    scps_line_text(why, ": ");
    scps_line_signed(why, v);
    scps_line_text(why, ": give ");
    scps_line_signed(why, least);
    scps_line_text(why, " to ");
    scps_line_signed(why, most);
}

/* Returns true if the fields of the n rows are within their bounds. Otherwise *why becomes a
 * message about the first field that is not. */
static inline bool scps_bounds_hold(const struct scps_bounds *rows, size_t n, const void *cfg,
                                    struct scps_line *why)
{
    for (size_t i = 0; i < n; i++) {
        const struct scps_bounds *b = &rows[i];
        int64_t v = scps_field_get((const char *)cfg + b->at, b->size);

        if (v < b->least || v > b->most) {
            scps_bounds_message(why, b->name, v, b->least, b->most);
            return false;
        }
    }
    return true;
}

/* Copies the caller's configuration `from`, whose first member is its size in bytes, to `to`.
 * Returns false, with *why set, if that size is less than `least` or more than `most`. */
static inline bool scps_bounds_take(void *to, size_t most, const void *from, size_t least,
                                    struct scps_line *why)
{
    size_t n;

    if (scps_sized_take_own(to, most, from, least))
        return true;
    memcpy(&n, from, sizeof n);
    scps_bounds_message(why, "size", (int64_t)n, (int64_t)least, (int64_t)most);
    scps_line_text(why, ", as the function that returns the defaults sets it");
    return false;
}

/* holds: result of a condition on several fields of the configuration. If it is false, writes
 * `reason`, the text of the message, to *why. Returns `holds`. */
static inline bool scps_bounds_also(bool holds, const char *reason, struct scps_line *why)
{
    if (!holds)
        scps_line_text(why, reason);
    return holds;
}

#endif
