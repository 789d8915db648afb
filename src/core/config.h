/* SPDX-License-Identifier: MIT */
/* Checked copies of struct scps_conn_config (config.c). Connections with equal settings use one
 * copy, as do a listener and the connections that it accepts; a count of references says when the
 * copy is freed. */
#ifndef SCPS_CORE_CONFIG_H
#define SCPS_CORE_CONFIG_H

#include "core/ctx.h"

struct scps_line;

/* Upper bound of each setting that is a time, and of the times of routes and stacks, µs: a hundred
 * years. The time `now` is at most SCPS_NEVER / 2, so the sum of `now` and a few such times does
 * not overflow. A compile-time check in config.c requires that the list of settings uses this
 * bound. */
#define SCPS_TIME_MOST SCPS_SEC(INT64_C(3153600000))
/* Upper bound of each setting that is a number of bytes, and of the burst of a route, bytes. A
 * compile-time check in config.c requires that the list of settings uses this bound. */
#define SCPS_BYTES_MOST (INT64_C(1) << 30)

/* Returns a checked copy of *c with one reference. rated: true if the route has a rate limit; then
 * c->rate may be 0 even if the congestion controller needs a rate. Returns NULL with *err:
 * SCPS_ERR_NORATE (the controller needs a rate, and there is none), SCPS_ERR_NOMEM, or an error of
 * scps_config_resolve(). */
struct scps_shared_config *scps_config_new(struct scps_env *env, const struct scps_conn_config *c,
                                           bool rated, int *err);
/* Takes one more reference to the shared configuration. */
void scps_config_ref(struct scps_shared_config *shared);
/* Releases one reference to the checked copy that scps_config_new() made, and frees the copy with
 * the last one. `shared` is const, although the count of references changes, because the count is
 * not part of the configuration. */
void scps_config_unref(const struct scps_alloc *a, const struct scps_shared_config *shared);
/* Writes to *why the message "FIELD: V: give LEAST to MOST", which says that the value v of a field
 * is outside its bounds; returns SCPS_ERR_RANGE. */
int scps_config_refuse(struct scps_line *why, const char *field, int64_t v, int64_t least,
                       int64_t most);
/* Like scps_config_refuse(), for an unsigned field: `v` is written as an unsigned number, because
 * scps_field_get() returns large values of such a field as negative. */
int scps_config_refuse_count(struct scps_line *why, const char *field, int64_t v, int64_t least,
                             int64_t most);
/* Writes to *why that `size`, octets, is no valid size of struct scps_conn_config, and that `least`
 * to `most` octets are; returns SCPS_ERR_RANGE. */
int scps_config_refuse_size(struct scps_line *why, size_t size, size_t least, size_t most);
/* Copies a configuration of any size that this version of the library knows; fields beyond its size
 * get their defaults. from NULL: all defaults. Returns 0, or SCPS_ERR_RANGE for any other size. */
int scps_config_take(struct scps_conn_config *to, const struct scps_conn_config *from,
                     struct scps_line *why);
/* Replaces every 0 that stands for a derived value by that value. Returns 0, SCPS_ERR_INVAL or
 * SCPS_ERR_RANGE. */
int scps_config_resolve(struct scps_conn_config *c);

#endif
