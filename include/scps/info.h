/* SPDX-License-Identifier: MIT */
/* State and counters of a connection, as scps_conn_info() of <scps/conn.h> returns them. */
#ifndef SCPS_INFO_H
#define SCPS_INFO_H

#include <scps/binding.h>
#include <scps/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* RFC 9293 section 3.3.2, in Linux's numbering. */
enum scps_state {
    SCPS_ESTABLISHED = 1,
    SCPS_SYN_SENT,
    SCPS_SYN_RECEIVED,
    SCPS_FIN_WAIT_1,
    SCPS_FIN_WAIT_2,
    SCPS_TIME_WAIT,
    SCPS_CLOSED,
    SCPS_CLOSE_WAIT,
    SCPS_LAST_ACK,
    SCPS_LISTEN,
    SCPS_CLOSING
};
SCPS_API const char *scps_state_name(enum scps_state s); /* "ESTABLISHED", "TIME-WAIT" */

/* What declares a segment lost, besides SNACK and the retransmission timer. */
enum scps_recovery_mode {
    /* a segment is lost after dupthresh acknowledgements of later data: RFC 5681, RFC 6582, RFC
     * 6675 */
    SCPS_RECOVERY_CLASSIC,
    /* a segment is lost after a time that depends on the RTT; tail loss probes: RFC 8985; needs
     * SACK */
    SCPS_RECOVERY_RACK
};

SCPS_API const char *scps_recovery_name(enum scps_recovery_mode m); /* "classic", "rack" */

/* State and counters of a connection: those of Linux's tcp_info and more. Bytes are payload unless
 * said otherwise. */
struct scps_info {
    enum scps_state state;
    /* agreed in the handshake */
    bool sack, timestamps, ecn;
    uint8_t caps_offered, caps_peer,
        /* SCPS_CAP_* of <scps/wire.h>: offered by this end, by the peer, and in force */
        caps;
    uint8_t why[SCPS_FEATURE_COUNT]; /* enum scps_why for each feature: in force, or why not */
    bool wscale;
    uint8_t snd_wscale, rcv_wscale;
    uint32_t snd_mss; /* payload of a full segment, options deducted */
    /* the largest segment seen from the peer; 536, or our MSS if that is smaller, before a larger
     * one */
    uint32_t rcv_mss;
    uint32_t adv_mss; /* announced in our SYN */
    uint32_t pmtu;    /* path MTU in force: bytes of an IP packet */
    /* time, µs */
    scps_dur rto, srtt, rttvar, min_rtt, last_rtt;             /* 0 before the first sample */
    scps_time opened, established, first_sent, first_received; /* stack times, µs; 0: not yet */
    scps_time last_sent, last_received, last_ack_received, fin_acked;
    uint32_t backoff; /* consecutive timeouts */
    /* congestion */
    uint64_t cwnd, ssthresh, rate, max_cwnd; /* bytes, bytes, bytes/s, largest cwnd so far */
    uint64_t inflight, sacked, lost;         /* bytes, as the scoreboard counts them now */
    uint64_t delivery_rate;                  /* bytes/s, newest sample */
    bool in_recovery, app_limited;
    enum scps_hold hold;             /* reason why nothing is sent now */
    scps_dur holds[SCPS_HOLD_COUNT]; /* time spent in each hold since the handshake, µs */
    /* windows, bytes */
    uint64_t snd_wnd, rcv_wnd;    /* the peer's window; the window announced to the peer, bytes */
    uint64_t outstanding, unsent; /* sent unacknowledged; written unsent */
    uint64_t rcv_queued, rcv_ooo; /* readable; beyond a hole */
    uint32_t rcv_holes;
    /* counters */
    uint64_t segs_out, segs_in, data_segs_out, data_segs_in;
    uint64_t bytes_sent; /* resent ones included */
    uint64_t bytes_resent, bytes_acked, bytes_received /* in order */, bytes_duplicate;
    uint32_t resent_segs, timeouts, recoveries, spurious, dupacks_in, sacks_in, sacks_out,
        dsacks_in, dsacks_out;
    /* RFC 8985 */
    enum scps_recovery_mode recovery; /* in force */
    scps_dur reo_wnd;                 /* reordering window now */
    uint32_t tlp_probes;
    uint32_t snacks_in, snacks_out, acks_out /* pure */, acks_held /* for the budget */, probes_out,
        ooo_segs, reordered, paws_drops, challenges;
    uint32_t zero_windows_in, zero_windows_out, ecn_echoes;
    /* how often a window or rate of the controller was out of range and had to be corrected */
    uint32_t cc_corrected;
    uint32_t cc_phase; /* enum scps_cc_phase: the phase that the controller reports now */
    uint64_t records_out, records_in; /* boundaries written, and arrived */
    /* compressed headers: segments sent and received, octets saved against TCP headers, connection
     * ids of both ends; 0: none */
    uint64_t comp_out, comp_in, comp_saved_out, comp_saved_in;
    uint8_t comp_id, comp_peer_id;
    /* binding spaces in force, where the configuration has them; len 0: not in force */
    struct scps_binding binding[SCPS_BINDINGS];
    uint32_t holes;           /* best effort, receiver: holes given up and not filled since */
    uint64_t bytes_missing;   /* bytes in those holes; not in bytes_received */
    uint32_t ranges_given_up; /* best effort, sender: number of ranges, as scps_conn_given_up */
    uint64_t bytes_given_up;  /* bytes in those ranges; not in bytes_acked */
};

#ifdef __cplusplus
}
#endif
#endif
