/* SPDX-License-Identifier: MIT */
/* State and counters of a connection, as scps_conn_info() of <scps/conn.h> returns them. */
#ifndef SCPS_INFO_H
#define SCPS_INFO_H

#include <scps/binding.h>
#include <scps/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The states of a connection (RFC 9293 section 3.3.2), with the numbers that Linux uses. */
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
/* Returns the name of a state: "ESTABLISHED", "TIME-WAIT" and so on. */
SCPS_API const char *scps_state_name(enum scps_state s);

/* Rules that declare a segment lost, besides SNACK and the retransmission timer. */
enum scps_recovery_mode {
    /* a segment is lost after dupthresh acknowledgements of later data: RFC 5681, RFC 6582, RFC
     * 6675 */
    SCPS_RECOVERY_CLASSIC,
    /* a segment is lost after a time that depends on the RTT; tail loss probes: RFC 8985; needs
     * SACK */
    SCPS_RECOVERY_RACK
};

/* Returns the name of the rule m by which a sender declares segments lost: "classic", "rack". */
SCPS_API const char *scps_recovery_name(enum scps_recovery_mode m);

/* State and counters of a connection: those of Linux's tcp_info and more. Byte counts are of
 * payload unless said otherwise. */
struct scps_info {
    enum scps_state state;
    /* true: both SYNs offered the feature (SACK, timestamps, ECN), and it is in force */
    bool sack, timestamps, ecn;
    uint8_t caps_offered, caps_peer,
        /* SCPS capabilities, bits SCPS_CAP_* of <scps/wire.h>: caps_offered has those that this end
         * offered in its SYN, caps_peer those that the peer offered, caps those that both offered
         * and that are in force */
        caps;
    /* for each feature, the reason (enum scps_why) why it is in force or not */
    uint8_t why[SCPS_FEATURE_COUNT];
    bool wscale;
    uint8_t snd_wscale, rcv_wscale;
    uint32_t snd_mss; /* payload of a full segment without options, bytes */
    /* Payload of the largest segment received, bytes; before a larger one arrives, the smaller of
     * 536 and the MSS that this end announced */
    uint32_t rcv_mss;
    uint32_t adv_mss; /* MSS that the SYN of this end announced, bytes */
    uint32_t pmtu;    /* path MTU in force: bytes of an IP packet */
    scps_dur rto; /* retransmission timeout in force, µs; before the first sample rto_initial */
    /* smoothed RTT and its variation (RFC 6298), smallest sample, µs; 0 before the first sample,
     * which may be that of the handshake */
    scps_dur srtt, rttvar, min_rtt;
    scps_dur last_rtt; /* newest RTT of data, µs; 0: none yet */
    /* times at which these events happened, µs of the stack's clock; 0: the event has not
     * happened */
    scps_time opened, established, first_sent, first_received;
    scps_time last_sent, last_received, last_ack_received, fin_acked;
    /* number of retransmission timeouts, or window probes, since the peer last answered */
    uint32_t backoff;
    /* congestion control */
    /* congestion window and slow start threshold, bytes; 0 before the handshake is complete.
     * SCPS_CWND_OPEN and UINT64_MAX: there is none */
    uint64_t cwnd, ssthresh;
    /* rate at which packets are paced, bytes/s: the controller's, at most the configured one. 0: no
     * rate, or the handshake is not complete */
    uint64_t rate;
    uint64_t max_cwnd; /* largest cwnd so far, bytes */
    /* Bytes of segments sent and not cumulatively acknowledged. inflight: believed to be in the
     * network; sacked: reported as arrived by SACK or SNACK; lost: declared lost and not resent */
    uint64_t inflight, sacked, lost;
    /* delivery rate of the newest sample, bytes/s: payload that acknowledgements reported as
     * arrived while one segment was outstanding, divided by that time. 0 before the first sample,
     * and in the states TIME-WAIT and CLOSED, in which no sample is kept */
    uint64_t delivery_rate;
    bool in_recovery, app_limited;
    enum scps_hold hold; /* why this end sends nothing now; SCPS_HOLD_NONE: it sends */
    /* For each reason of enum scps_hold, how long this end has sent nothing for that reason, µs.
     * For SCPS_HOLD_HANDSHAKE: the time from `opened` to `established` */
    scps_dur holds[SCPS_HOLD_COUNT];
    /* windows and buffers, bytes */
    /* window that the peer announced last; window that this end announced last */
    uint64_t snd_wnd, rcv_wnd;
    uint64_t outstanding, unsent; /* bytes sent and not acknowledged; bytes written and not sent */
    /* bytes that the application can read; bytes received above a hole (out of order) */
    uint64_t rcv_queued, rcv_ooo;
    uint32_t rcv_holes;
    /* Counters since the connection was opened. */
    uint64_t segs_out, segs_in, data_segs_out, data_segs_in;
    uint64_t bytes_sent; /* payload bytes sent, retransmitted ones included */
    /* Payload bytes. bytes_resent: retransmitted; bytes_acked: cumulatively acknowledged by the
     * peer; bytes_received: received in order; bytes_duplicate: received again after they had
     * arrived */
    uint64_t bytes_resent, bytes_acked, bytes_received, bytes_duplicate;
    uint32_t resent_segs, timeouts, recoveries, spurious, dupacks_in, sacks_in, sacks_out,
        dsacks_in, dsacks_out;
    /* the following fields are about loss detection (RFC 8985) and SNACK */
    enum scps_recovery_mode recovery; /* the rule that declares segments lost on this connection */
    scps_dur reo_wnd;                 /* present reordering window of RACK, µs */
    uint32_t tlp_probes;
    uint32_t snacks_in, snacks_out, acks_out /* acknowledgements sent without data */,
        acks_held /* acknowledgements that ack_budget delayed */, probes_out, ooo_segs, reordered,
        paws_drops, challenges;
    uint32_t zero_windows_in, zero_windows_out, ecn_echoes;
    /* number of times that the congestion controller set a window or a rate that was out of range
     * and that the core therefore corrected */
    uint32_t cc_corrected;
    uint32_t cc_phase;                /* enum scps_cc_phase, as the controller reports it now */
    uint64_t records_out, records_in; /* record boundaries written, and received */
    /* Header compression (IP protocol 105). comp_out, comp_in: segments sent and received with
     * compressed headers; comp_saved_out, comp_saved_in: octets by which these headers were shorter
     * than TCP headers; comp_id, comp_peer_id: connection ids that this end and the peer announced
     * (0: none) */
    uint64_t comp_out, comp_in, comp_saved_out, comp_saved_in;
    uint8_t comp_id, comp_peer_id;
    /* Binding spaces (data of vendors in the SYNs, <scps/binding.h>) of the configuration, as both
     * ends agreed on them: binding[i] belongs to binding[i] of the configuration; len 0: not agreed
     * on */
    struct scps_binding binding[SCPS_BINDINGS];
    /* best effort, receiver: number of holes (missing ranges of the peer's data) that this end has
     * given up after a wait (bets_timeout), and that have not been filled since */
    uint32_t holes;
    /* bytes in the holes that `holes` counts; bytes_received does not include them */
    uint64_t bytes_missing;
    /* best effort, sender: number of ranges that scps_conn_given_up() returns */
    uint32_t ranges_given_up;
    /* bytes in the ranges that ranges_given_up counts; bytes_acked does not include them */
    uint64_t bytes_given_up;
};

#ifdef __cplusplus
}
#endif
#endif
