/* SPDX-License-Identifier: MIT */
/* Encodes, decodes and checks a saved path state, from which a later connection on the same path
 * begins (careful resume, RFC 9959). */
#ifndef SCPS_CORE_PATHSTATE_H
#define SCPS_CORE_PATHSTATE_H

#include <scps/path.h>

struct scps_path_values {
    int64_t saved_at; /* time of saving, seconds since 1970 */
    uint64_t cwnd;    /* saved_cwnd of RFC 9959: the most bytes that arrived in one round trip */
    uint64_t rate;    /* rate at which the bytes of saved_cwnd arrived, bytes/s */
    scps_dur rtt;     /* saved_rtt of RFC 9959: the smallest round trip, µs */
    /* true: slow start had ended when the state was saved, so cwnd is the capacity of the path */
    bool limit_found;
    struct scps_addr local, remote;
};

void scps_pathstate_write(const struct scps_path_values *p, struct scps_path_state *out);
/* Parses a saved state and checks its format, the ranges of its values, its addresses against those
 * in *p, and its age. Returns SCPS_PATH_TAKEN, with *p filled in, or the reason for which the state
 * is refused, with *p unchanged. */
enum scps_path_verdict scps_pathstate_read(struct scps_path_values *p, const void *state,
                                           size_t len, int64_t now, int64_t lifetime);

#endif
