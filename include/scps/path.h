/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959): a connection saves the window, the rate and the RTT that it measured
 * on its path, and a later connection between the same hosts starts from these values.
 *
 *     connection 1: observes ---- scps_path_save --> 88 octets that the caller keeps
 *     connection 2: <-- scps_path_restore --- Reconnaissance, Unvalidated, Validating, normal
 *                                                       \------> Safe Retreat ------/
 *
 * The library does no I/O and reads no clock: the caller stores the octets and passes the time of
 * day. The caller makes sure that a saved state is used by one connection at a time (RFC 9959
 * section 3.2).
 */
#ifndef SCPS_PATH_H
#define SCPS_PATH_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_PATH_STATE_SIZE 88

/* A saved path state, in format version 1, big-endian: "SCPSPATH", the version (2 octets), flags
 * (2), the family of the addresses (4), the time of saving (8), saved_cwnd (8), the delivery rate
 * (8), saved_rtt (8), the local and the remote address (16 each), zeros (4), CRC-32 of all before
 * it (4). */
struct scps_path_state {
    uint8_t octet[SCPS_PATH_STATE_SIZE];
};

/* Result of scps_path_restore(). */
enum scps_path_verdict {
    SCPS_PATH_TAKEN,
    SCPS_PATH_FOREIGN, /* the octets are no path state: wrong size or wrong first octets */
    SCPS_PATH_VERSION, /* the state has another version of the format */
    SCPS_PATH_CORRUPT, /* the checksum of the state is wrong */
    SCPS_PATH_RANGE,   /* a value in the saved state is out of range */
    /* the state was saved for other addresses than those of this connection */
    SCPS_PATH_DESTINATION,
    SCPS_PATH_FUTURE,    /* the state was saved later than the time `now` that the caller gave */
    SCPS_PATH_EXPIRED,   /* the state is older than scps_path_limits.lifetime */
    SCPS_PATH_NO_WINDOW, /* the controller has no congestion window (pure rate control) */
    /* data of the connection has been acknowledged already, or a state was restored before */
    SCPS_PATH_LATE,
    SCPS_PATH_NO_MEMORY
};

/* Phases of RFC 9959 section 3. A connection without a saved state, or that has finished with it,
 * is in NORMAL, where it observes its path. */
enum scps_resume_phase {
    SCPS_RESUME_NORMAL,
    SCPS_RESUME_RECONNAISSANCE,
    SCPS_RESUME_UNVALIDATED,
    SCPS_RESUME_VALIDATING,
    SCPS_RESUME_RETREAT,
    SCPS_RESUME_OBSERVED, /* occurs only in observer events: the path state was saved */
    /* occurs only in observer events: a saved state was refused; the event's `why` is a
     * scps_path_verdict */
    SCPS_RESUME_REFUSED
};

/* Why a connection entered another phase of careful resume (RFC 9959). The jump: the sender raises
 * its congestion window to half of the saved one, or less, in the Unvalidated Phase. */
enum scps_resume_why {
    /* the phase became Reconnaissance, because scps_path_restore() accepted a saved state */
    SCPS_RESUME_RESTORED,
    /* the phase became Unvalidated (the jump: the congestion window is raised to half of the saved
     * one, or less): the initial data was acknowledged, with an RTT similar to the saved one */
    SCPS_RESUME_CONFIRMED,
    /* the phase became Validating: the congestion window of the Unvalidated phase was sent in
     * full */
    SCPS_RESUME_LAST_SENT,
    /* the phase became Validating: the first unvalidated segment arrived */
    SCPS_RESUME_FIRST_ACKED,
    /* the phase became Validating: the Unvalidated Phase, in which the sender uses the window
     * raised from the saved state, has lasted one round trip */
    SCPS_RESUME_RTT_EXCEEDED,
    SCPS_RESUME_VALIDATED, /* the phase became normal: the last unvalidated segment arrived */
    /* the phase became normal: the application sent so little that the window from before the jump
     * (the raise of the window by the saved state) would have allowed it */
    SCPS_RESUME_RATE_LIMITED,
    /* A segment was lost by congestion: the Safe Retreat Phase began, because the window had been
     * raised from the saved state; or the phase became normal, before the window was raised. */
    SCPS_RESUME_LOSS,
    /* The receiver echoed an ECN mark: the Safe Retreat Phase began, because the window had been
     * raised from the saved state; or the phase became normal, before the window was raised. */
    SCPS_RESUME_ECN,
    /* The path, or its RTT, changed: the Safe Retreat Phase began, because the window had been
     * raised from the saved state; or the phase became normal, before the window was raised. */
    SCPS_RESUME_PATH_CHANGED,
    SCPS_RESUME_RTT_TOO_SHORT, /* the phase became normal: the RTT is at most half of saved_rtt */
    /* the phase became normal: the RTT is more than ten times saved_rtt */
    SCPS_RESUME_RTT_TOO_LONG,
    /* the phase became normal: the congestion window is already as large as the one to which
     * careful resume would raise it */
    SCPS_RESUME_NOTHING_GAINED,
    SCPS_RESUME_TIMEOUT, /* the phase became normal: the retransmission timer expired */
    /* the phase became normal (careful resume no longer changes the window): the Safe Retreat Phase
     * has ended, in which the window was reduced because the raised one had caused congestion. It
     * ends when data sent in it is acknowledged; when, outside loss recovery, all data sent before
     * it is acknowledged; when loss recovery ends or proves spurious; or after an idle time. With
     * bbr it ends with BBR's state Drain. */
    SCPS_RESUME_RETREATED
};

struct scps_path_limits {
    size_t size;      /* size of this structure, bytes, as scps_path_limits_default() sets it */
    int64_t lifetime; /* age, seconds, beyond which a saved state is not used */
    /* largest congestion window, bytes, to which careful resume raises the window from a saved
     * state (jump_cwnd of RFC 9959); 0: no limit */
    uint64_t max_jump;
};
/* Fills *lim, a structure of `size` octets (sizeof *lim in the caller's headers), with the default
 * limits: a saved state is used for one hour, and the window to which it raises a connection's
 * window is not limited. */
SCPS_API void scps_path_limits_init(struct scps_path_limits *lim, size_t size);
/* Returns the limits that scps_path_limits_init() fills in. */
static inline struct scps_path_limits scps_path_limits_default(void)
{
    struct scps_path_limits lim;

    scps_path_limits_init(&lim, sizeof lim);
    return lim;
}

/* Writes a path state of connection c to *out: the largest number of bytes that arrived in one of
 * its latest 8 to 16 round trips, the rate at which they arrived, and the smallest RTT. now:
 * seconds since 1970. Returns 0, or SCPS_ERR_AGAIN, with *out unchanged, while less than four
 * initial windows have arrived in a round trip (RFC 9959 section 3.1). It may be called until the
 * application closes the connection, also after the last byte was acknowledged. */
SCPS_API int scps_path_save(const struct scps_conn *c, int64_t now, struct scps_path_state *out);

/* Makes connection c, of which no data has been acknowledged yet, use a saved path state of len
 * octets: from then on the connection follows RFC 9959. now: seconds since 1970. lim NULL: the
 * defaults. Returns SCPS_PATH_TAKEN when the state is used; any other result says why it is not
 * (SCPS_PATH_RANGE, too, for an unknown lim->size), and then c is unchanged. */
SCPS_API enum scps_path_verdict scps_path_restore(struct scps_conn *c, const void *state,
                                                  size_t len, int64_t now,
                                                  const struct scps_path_limits *lim);

/* Returns the phase that the connection is in, and in *been the set of all phases that it has been
 * in: bit 1 << phase for each. A connection that was in SCPS_RESUME_RETREAT has found its saved
 * state wrong: delete it (RFC 9959 section 3.5). */
SCPS_API enum scps_resume_phase scps_path_phase(const struct scps_conn *c, unsigned *been);

/* Returns the name of a result of scps_path_restore(): "taken", "expired" and so on. */
SCPS_API const char *scps_path_verdict_name(enum scps_path_verdict v);
/* Returns a result of scps_path_restore() in words: "its checksum is wrong" and so on. The text is
 * static. */
SCPS_API const char *scps_path_verdict_words(enum scps_path_verdict v);
/* Returns the name of a phase of careful resume (RFC 9959): "safe-retreat" and so on. */
SCPS_API const char *scps_resume_phase_name(enum scps_resume_phase p);
/* Returns the name of a reason for which the phase of careful resume changed: "first-acked" and so
 * on. */
SCPS_API const char *scps_resume_why_name(enum scps_resume_why w);

#ifdef __cplusplus
}
#endif
#endif
