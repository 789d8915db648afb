/* SPDX-License-Identifier: MIT */
/* Encoding and checking of a saved path state. */
#ifndef SCPS_CORE_PATHSTATE_H
#define SCPS_CORE_PATHSTATE_H

#include <scps/path.h>

struct scps_path_values {
    int64_t saved_at; /* time of saving, seconds since 1970 */
    uint64_t cwnd;    /* saved_cwnd: the most that arrived in a round trip, bytes */
    uint64_t rate;    /* rate at which these bytes arrived, bytes/s */
    scps_dur rtt;     /* saved_rtt: the smallest round trip, µs */
    bool limit_found; /* slow start had ended when the state was saved */
    struct scps_addr local, remote;
};

void scps_pathstate_write(const struct scps_path_values *p, struct scps_path_state *out);
/* Parses and checks a state: the format, the values' ranges, the addresses against those in *p and
 * the age. SCPS_PATH_TAKEN: *p is filled in; otherwise it is unchanged. */
enum scps_path_verdict scps_pathstate_read(struct scps_path_values *p, const void *state,
                                           size_t len, int64_t now, int64_t lifetime);

#endif
