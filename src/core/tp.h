/* SPDX-License-Identifier: MIT */
/* What few connections have: state of the features of SCPS-TP that need memory. */
#ifndef SCPS_CORE_TP_H
#define SCPS_CORE_TP_H

#include <scps/comp.h>
#include <scps/wire.h>

#include "core/corruption.h"
#include "core/marks.h"
#include "core/resume.h"

struct scps_conn;

/* The protocol number in the pseudo-header of the peer's compressed segments: 105, 6 or 106, and 0
 * where none is known. Owned by stack/comp.c. */
struct scps_comp_sum {
    uint8_t agreed;     /* the number of the first good segment: no other is accepted */
    uint8_t newest;     /* of the compressed segment that is being processed */
    bool confirmed;     /* a second good segment had the agreed number: it stays for ever */
    uint8_t other;      /* of segments refused for it since one was good */
    scps_time other_at; /* when the first of them came */
};

#define SCPS_XCAPS_MAX 34u /* octets: an option of 36 behind one of 4 */

/* What few connections have: NULL as long as no feature of SCPS-TP that needs memory is in
 * force. */
struct scps_conn_scps {
    /* compressed headers (protocol 105); the stack gives the id, which is never 0 */
    uint8_t conn_id, peer_id;
    bool heard; /* peer_id names this connection */
    /* the next one of the peer's id: connid.c */
    struct scps_conn *same_id;
    struct scps_comp_tx comp_tx;
    struct scps_comp_rx comp_rx;
    struct scps_comp_sum comp_sum;
    uint64_t comp_out, comp_in;             /* segments */
    uint64_t comp_saved_out, comp_saved_in; /* octets less than as TCP */
    struct scps_corruption corruption;
    struct scps_binding binding[SCPS_BINDINGS]; /* in force */
    uint8_t xcaps[SCPS_XCAPS_MAX];              /* as they left */
    struct scps_rcv_marks *marks;               /* NULL: the peer's stream had none */
    struct scps_rangeset given_up; /* octets that this end gave up sending, the first of them */
    scps_time deaf_until; /* in an outage: what arrives before was on its way when the link went */
    struct scps_resume resume; /* where `resumes` is set */
};

/* NULL: the peer's stream has neither records nor holes yet. */
static inline struct scps_rcv_marks *scps_tp_marks(const struct scps_conn_scps *tp)
{
    return tp ? tp->marks : NULL;
}

#endif
