/* SPDX-License-Identifier: MIT */
/* libscps_trace, the analyser: reads captures and computes figures for each TCP connection in them.
 *
 *     struct scps_trace *t = scps_trace_new(NULL);
 *     scps_trace_read(t, "file.pcapng", NULL, msg);     // or scps_trace_packet(), one by one
 *     scps_trace_finish(t);
 *     for (i = 0; i < scps_trace_conns(t); i++)
 *         scps_trace_conn_info(t, i, &info);            // figures of connection i, both directions
 *     scps_trace_free(t);
 *
 * Memory is bounded: when the connections held would need more than scps_trace_config.max_memory,
 * the one without packets for longest (closed ones first) is passed to on_evict and discarded;
 * scps_trace_totals.evicted counts them. Every figure is defined in docs/SCPS_TRACE.md.
 */
#ifndef SCPS_ANALYZE_H
#define SCPS_ANALYZE_H

#include <stdio.h>

#include <scps/error.h>
#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_TRACE_MSGLEN 256
/* Value of a count that does not apply to a connection. Reports print it as null in JSON and as NA
 * in text. */
#define SCPS_TRACE_NA UINT64_MAX

/* The only list of the figures that the analyser computes for one direction of a connection. Struct
 * members, JSON keys, CSV columns, text lines and the JSON Schema are made from it. X(kind, name,
 * label, unit, group). kind: U is a count; N a count that may be SCPS_TRACE_NA; D a number that may
 * be NaN (null in JSON); B yes or no; S a text. group says which report contains the figure.
 * tcptrace's figures, in tcptrace's order: L in the long report, W with option -W (outstanding
 * data), R with option -r (round trips). Figures that tcptrace does not have: X in every report, Y
 * with -W, Z with -r, P with the figures of SCPS, Q with the causes of retransmissions. */
#define SCPS_TRACE_FIELDS(X)                                                                       \
    X(U, total_packets, "total packets", "", L)                                                    \
    X(U, resets_sent, "resets sent", "", L)                                                        \
    X(U, ack_pkts_sent, "ack pkts sent", "", L)                                                    \
    X(U, pure_acks_sent, "pure acks sent", "", L)                                                  \
    X(U, sack_pkts_sent, "sack pkts sent", "", L)                                                  \
    X(U, dsack_pkts_sent, "dsack pkts sent", "", L)                                                \
    X(U, max_sack_blks_ack, "max sack blks/ack", "", L)                                            \
    X(U, unique_bytes_sent, "unique bytes sent", "", L)                                            \
    X(U, actual_data_pkts, "actual data pkts", "", L)                                              \
    X(U, actual_data_bytes, "actual data bytes", "", L)                                            \
    X(U, rexmt_data_pkts, "rexmt data pkts", "", L)                                                \
    X(U, rexmt_data_bytes, "rexmt data bytes", "", L)                                              \
    X(U, zwnd_probe_pkts, "zwnd probe pkts", "", L)                                                \
    X(U, zwnd_probe_bytes, "zwnd probe bytes", "", L)                                              \
    X(U, outoforder_pkts, "outoforder pkts", "", L)                                                \
    X(U, pushed_data_pkts, "pushed data pkts", "", L)                                              \
    X(S, syn_fin_pkts_sent, "SYN/FIN pkts sent", "", L)                                            \
    X(S, req_1323_ws_ts, "req 1323 ws/ts", "", L)                                                  \
    X(U, adv_wind_scale, "adv wind scale", "", L)                                                  \
    X(S, req_sack, "req sack", "", L)                                                              \
    X(U, sacks_sent, "sacks sent", "", L)                                                          \
    X(U, urgent_data_pkts, "urgent data pkts", "pkts", L)                                          \
    X(U, urgent_data_bytes, "urgent data bytes", "bytes", L)                                       \
    X(U, mss_requested, "mss requested", "bytes", L)                                               \
    X(U, max_segm_size, "max segm size", "bytes", L)                                               \
    X(U, min_segm_size, "min segm size", "bytes", L)                                               \
    X(U, avg_segm_size, "avg segm size", "bytes", L)                                               \
    X(U, max_win_adv, "max win adv", "bytes", L)                                                   \
    X(U, min_win_adv, "min win adv", "bytes", L)                                                   \
    X(U, zero_win_adv, "zero win adv", "times", L)                                                 \
    X(U, avg_win_adv, "avg win adv", "bytes", L)                                                   \
    X(U, max_owin, "max owin", "bytes", W)                                                         \
    X(U, min_non_zero_owin, "min non-zero owin", "bytes", W)                                       \
    X(U, avg_owin, "avg owin", "bytes", W)                                                         \
    X(N, wavg_owin, "wavg owin", "bytes", W)                                                       \
    X(U, initial_window_bytes, "initial window", "bytes", L)                                       \
    X(U, initial_window_pkts, "initial window", "pkts", L)                                         \
    X(N, ttl_stream_length, "ttl stream length", "bytes", L)                                       \
    X(N, missed_data, "missed data", "bytes", L)                                                   \
    X(U, truncated_data, "truncated data", "bytes", L)                                             \
    X(U, truncated_packets, "truncated packets", "pkts", L)                                        \
    X(D, data_xmit_time, "data xmit time", "secs", L)                                              \
    X(D, idletime_max, "idletime max", "ms", L)                                                    \
    X(U, hardware_dups, "hardware dups", "segs", L)                                                \
    X(D, throughput, "throughput", "Bps", L)                                                       \
    X(U, rtt_samples, "RTT samples", "", R)                                                        \
    X(D, rtt_min, "RTT min", "ms", R)                                                              \
    X(D, rtt_max, "RTT max", "ms", R)                                                              \
    X(D, rtt_avg, "RTT avg", "ms", R)                                                              \
    X(D, rtt_stdev, "RTT stdev", "ms", R)                                                          \
    X(D, rtt_from_3whs, "RTT from 3WHS", "ms", R)                                                  \
    X(U, rtt_full_sz_smpls, "RTT full_sz smpls", "", R)                                            \
    X(D, rtt_full_sz_min, "RTT full_sz min", "ms", R)                                              \
    X(D, rtt_full_sz_max, "RTT full_sz max", "ms", R)                                              \
    X(D, rtt_full_sz_avg, "RTT full_sz avg", "ms", R)                                              \
    X(D, rtt_full_sz_stdev, "RTT full_sz stdev", "ms", R)                                          \
    X(U, post_loss_acks, "post-loss acks", "", R)                                                  \
    X(U, ambiguous_acks, "ambiguous acks", "", R)                                                  \
    X(D, rtt_min_last, "RTT min (last)", "ms", R)                                                  \
    X(D, rtt_max_last, "RTT max (last)", "ms", R)                                                  \
    X(D, rtt_avg_last, "RTT avg (last)", "ms", R)                                                  \
    X(D, rtt_sdv_last, "RTT sdv (last)", "ms", R)                                                  \
    X(U, segs_cum_acked, "segs cum acked", "", R)                                                  \
    X(U, duplicate_acks, "duplicate acks", "", R)                                                  \
    X(U, triple_dupacks, "triple dupacks", "", R)                                                  \
    X(U, max_retrans, "max # retrans", "", R)                                                      \
    X(D, min_retr_time, "min retr time", "ms", R)                                                  \
    X(D, max_retr_time, "max retr time", "ms", R)                                                  \
    X(D, avg_retr_time, "avg retr time", "ms", R)                                                  \
    X(D, sdv_retr_time, "sdv retr time", "ms", R)                                                  \
    X(U, syn_pkts_sent, "SYN pkts sent", "", X)                                                    \
    X(U, fin_pkts_sent, "FIN pkts sent", "", X)                                                    \
    X(D, goodput, "goodput", "Bps", X)                                                             \
    X(U, bytes_acked, "bytes acked", "bytes", X)                                                   \
    X(U, wire_bytes, "wire bytes", "bytes", X)                                                     \
    X(U, gap_fills, "gap fills", "pkts", X)                                                        \
    X(U, reordered_pkts, "reordered pkts", "pkts", X)                                              \
    X(U, repaired_unseen_pkts, "repairs, unseen", "pkts", X)                                       \
    X(U, keepalive_pkts, "keep-alives", "pkts", X)                                                 \
    X(U, window_full_pkts, "window full", "pkts", X)                                               \
    X(U, acks_beyond_data, "acks beyond data", "pkts", X)                                          \
    X(U, acks_old, "old acks", "pkts", X)                                                          \
    X(U, window_updates, "window updates", "pkts", X)                                              \
    X(U, sack_blocks, "sack blocks", "", X)                                                        \
    X(U, ecn_ce_pkts, "ECN CE pkts", "pkts", X)                                                    \
    X(U, ecn_ece_pkts, "ECN ECE pkts", "pkts", X)                                                  \
    X(U, ecn_cwr_pkts, "ECN CWR pkts", "pkts", X)                                                  \
    X(U, bad_options, "bad options", "pkts", X)                                                    \
    X(U, pureack_bytes, "pure ack bytes", "bytes", X)                                              \
    X(D, ack_spacing_min, "ack spacing min", "ms", X)                                              \
    X(D, ack_spacing_avg, "ack spacing avg", "ms", X)                                              \
    X(D, ack_spacing_max, "ack spacing max", "ms", X)                                              \
    X(D, ack_rate, "ack frequency", "/s", X)                                                       \
    X(D, segs_per_ack, "segs per ack", "", X)                                                      \
    X(S, ack_mode, "ack mode guess", "", X)                                                        \
    X(U, max_outstanding, "max outstanding", "bytes", Y)                                           \
    X(D, avg_outstanding, "avg outstanding", "bytes", Y)                                           \
    X(D, window_limited, "window limited", "share", Y)                                             \
    X(D, app_limited, "app limited", "share", Y)                                                   \
    X(D, congestion_limited, "cong. limited", "share", Y)                                          \
    X(D, rtt_p50, "RTT p50", "ms", Z)                                                              \
    X(D, rtt_p90, "RTT p90", "ms", Z)                                                              \
    X(D, rtt_p99, "RTT p99", "ms", Z)                                                              \
    X(U, tsrtt_samples, "tsRTT samples", "", Z)                                                    \
    X(D, tsrtt_min, "tsRTT min", "ms", Z)                                                          \
    X(D, tsrtt_max, "tsRTT max", "ms", Z)                                                          \
    X(D, tsrtt_avg, "tsRTT avg", "ms", Z)                                                          \
    X(D, tsrtt_stdev, "tsRTT stdev", "ms", Z)                                                      \
    X(D, tsrtt_p50, "tsRTT p50", "ms", Z)                                                          \
    X(D, tsrtt_p90, "tsRTT p90", "ms", Z)                                                          \
    X(D, tsrtt_p99, "tsRTT p99", "ms", Z)                                                          \
    X(S, scps_offered, "SCPS offered", "", P)                                                      \
    X(U, scps_connection_id, "SCPS conn. id", "", P)                                               \
    X(U, extended_capabilities, "ext. capabilities", "bytes", P)                                   \
    X(U, snack_pkts_sent, "snack pkts sent", "", P)                                                \
    X(U, snack_long_sent, "snack long form", "", P)                                                \
    X(U, snack_holes, "snack holes", "", P)                                                        \
    X(U, snack_bytes, "snack bytes", "bytes", P)                                                   \
    X(U, snack_ignored, "snack unusable", "", P)                                                   \
    X(U, records, "record ends", "", P)                                                            \
    X(U, corruption_marks, "corruption marks", "", P)                                              \
    X(U, compressed_pkts, "compressed pkts", "pkts", P)                                            \
    X(U, resent_snack, "resent: SNACK", "pkts", Q)                                                 \
    X(U, resent_sack, "resent: SACK", "pkts", Q)                                                   \
    X(U, resent_dupack, "resent: 3 dupacks", "pkts", Q)                                            \
    X(U, resent_timeout, "resent: timeout", "pkts", Q)                                             \
    X(U, resent_tail_probe, "resent: tail probe", "pkts", Q)                                       \
    X(U, resent_first_rtt, "resent: first RTT", "pkts", Q)                                         \
    X(U, resent_unexplained, "resent: no reason", "pkts", Q)                                       \
    X(U, resent_spurious, "resent: spurious", "pkts", Q)                                           \
    X(U, spurious_dsack, "spurious by DSACK", "pkts", Q)                                           \
    X(U, spurious_ts, "spurious by TS", "pkts", Q)                                                 \
    X(U, loss_episodes, "loss episodes", "", Q)                                                    \
    X(N, truth_needed, "truth: needed", "pkts", Q)                                                 \
    X(N, truth_needless, "truth: needless", "pkts", Q)                                             \
    X(N, truth_lost_corruption, "truth: corrupted", "pkts", Q)                                     \
    X(N, truth_lost_queue, "truth: queue", "pkts", Q)                                              \
    X(N, truth_lost_outage, "truth: outage", "pkts", Q)                                            \
    X(N, truth_lost_other, "truth: other loss", "pkts", Q)                                         \
    X(N, truth_unmatched, "truth: unmatched", "pkts", Q)                                           \
    X(S, controller_hint, "controller hint", "", Q)                                                \
    X(D, controller_decrease, "decrease factor", "", Q)                                            \
    X(D, controller_growth, "growth per RTT", "segs", Q)

#define SCPS_TRACE_DECL_U(name)                     uint64_t name;
#define SCPS_TRACE_DECL_N(name)                     uint64_t name;
#define SCPS_TRACE_DECL_D(name)                     double name;
#define SCPS_TRACE_DECL_S(name)                     char name[32];
#define SCPS_TRACE_DECL(kind, name, label, unit, g) SCPS_TRACE_DECL_##kind(name)

struct scps_trace_dir {
    SCPS_TRACE_FIELDS(SCPS_TRACE_DECL)
};

enum scps_trace_end { SCPS_TRACE_OPEN, SCPS_TRACE_COMPLETE, SCPS_TRACE_RESET };

struct scps_trace_conn {
    /* Number of the connection. Connections are numbered from 1 in the order of their first
     * packets. */
    uint32_t number;
    /* a is the end that sent the connection's first packet in the capture */
    struct scps_endpoint a, b;
    /* the letters by which tcptrace refers to the two hosts, such as "a" and "b" */
    char letter_a[8], letter_b[8];
    /* times of the first and the last packet of the connection, µs since 1970 */
    scps_time first, last;
    uint64_t packets;
    enum scps_trace_end end;
    /* number of directions, 0 to 2, in which a SYN was seen, and in which a FIN was seen */
    unsigned syns, fins;
    /* true: the analyser removed the connection for lack of memory before the capture ended */
    bool evicted;
    /* true: the SYN of the connection is not in the capture, so window scale and MSS are unknown */
    bool began_before;
    char scps_agreed[32]; /* SCPS capabilities that both sides offered: "snack1 com"; "" for none */
    struct scps_trace_dir a2b, b2a;
};

/* The list of the counts of a whole capture: packets and bytes read, kinds of packets, and packets
 * that the analyser could not use, by reason. X(name, words): name of the field in struct
 * scps_trace_totals, and its meaning in words, for reports. */
#define SCPS_TRACE_COUNTS(X)                                                                       \
    X(packets, "packets read")                                                                     \
    X(bytes, "captured bytes read")                                                                \
    X(tcp_packets, "TCP packets, compressed ones included")                                        \
    X(encapsulated, "of these, inside our IP-in-UDP encapsulation")                                \
    X(compressed, "of these, with compressed headers (protocol 105)")                              \
    X(other_link, "link-layer frames that carry no IP (ARP and the like)")                         \
    X(other_protocol, "IP packets of other protocols")                                             \
    X(fragments, "IP fragments; those beyond the first are not analysed")                          \
    X(joined_unread,                                                                               \
      "packets in UDP datagrams joined by segmentation offload, not captured or wrong")            \
    X(truncated, "packets of whose headers or TCP options the capture has only a part")            \
    X(bad_link, "frames of a link type that is not understood, or nonsense in it")                 \
    X(bad_ip, "IP headers that make no sense")                                                     \
    X(bad_tcp, "TCP headers that make no sense")                                                   \
    X(bad_compressed, "compressed headers that make no sense")                                     \
    X(unknown_compressed, "compressed packets whose SYN was not seen")                             \
    X(time_backwards, "packets older than the one before them")                                    \
    X(evicted, "connections forgotten for lack of room")                                           \
    X(segments_forgotten, "segments forgotten for lack of room: later copies look new")            \
    X(unread_bytes, "bytes of the file after the point where it stopped making sense")

struct scps_trace_totals {
#define SCPS_TRACE_DECL_COUNT(name, words) uint64_t name;
    SCPS_TRACE_COUNTS(SCPS_TRACE_DECL_COUNT)
#undef SCPS_TRACE_DECL_COUNT
    /* times of the first and the last packet of any kind, µs since 1970 */
    scps_time first, last;
    /* number of connections seen, those included that were discarded for lack of memory */
    uint32_t conns;
};

/* One packet of a capture, which scps_trace_packet() analyses. */
struct scps_trace_pkt {
    scps_time at; /* time of the packet, µs since 1970 */
    /* pointer to the first captured byte, which belongs to the link-layer header */
    const uint8_t *data;
    uint32_t caplen; /* number of captured bytes at data */
    uint32_t len;    /* bytes that the packet had on the wire */
    /* Link-layer type of the capture (LINKTYPE_* or DLT_*): 0 null, 1 Ethernet, 9 PPP, 12 and 101
     * raw IP, 108 loop, 113 and 276 Linux cooked */
    int link;
};

/* The analyser's result for one packet, for packet lists and plots. It is valid only during the
 * call of on_packet. */
struct scps_trace_seen {
    const struct scps_trace_pkt *pkt;
    uint64_t packet;   /* number of the packet in the capture, from 1 */
    uint32_t conn;     /* number of the connection */
    bool b2a;          /* true: the packet goes from end b to end a of the connection */
    const uint8_t *ip; /* the innermost IP header of a packet in tunnels, within pkt->data */
    uint32_t ip_len;   /* number of captured bytes from the start of the innermost IP header on */
    /* protocol number in the IP header: 6 (TCP); 106 (TCP, as builds of the SCPS reference
     * implementation send it); 105 (SCPS-TP with a compressed header) */
    uint8_t proto;
    struct scps_endpoint src, dst;
    /* Fields of the TCP header, and len, the payload in bytes. win is the announced window after
     * the window scale was applied, bytes. */
    uint16_t flags;
    uint32_t seq, ack, len;
    uint64_t win; /* window that the segment announces, bytes, with the window scale applied */
    /* off: seq as an offset from the initial sequence number (ISN) of the packet's sender, bytes.
     * ack_off: ack as an offset from the ISN of its receiver, bytes; 0 without an ACK */
    uint64_t off, ack_off;
    const uint8_t *opt; /* TCP options as captured, opt_len bytes; NULL: none or cut off */
    uint32_t opt_len;
    /* What the analyser found the segment to be: a retransmission (rexmit); out of order; a window
     * probe; a copy made by the network, with the IP identification of an earlier packet (hw_dup);
     * a keep-alive; a retransmission of data that had arrived (spurious). All flags are false for a
     * segment that is sent for the first time and arrives in order. */
    bool rexmit, out_of_order, probe, hw_dup, keepalive, spurious;
    /* Evidence that made the sender retransmit the segment, such as "snack" or "sack"; NULL: the
     * segment is no retransmission, or a copy made by the network */
    const char *cause;
    /* First hole (range of missing data) that the packet's SNACK reports: from snack_from up to,
     * not including, snack_to; offsets in bytes from the initial sequence number of the host that
     * receives the SNACK. 0, 0: the packet has no SNACK, or its hole was ignored */
    uint64_t snack_from, snack_to;
    /* RTT sample that this packet completed by acknowledging data, µs; it is a sample of the
     * opposite direction, whose data it acknowledged. -1: no sample */
    scps_dur rtt;
    /* Outstanding data of the packet's sender after the packet, bytes. It is computed as in
     * tcptrace: one more than SND.NXT - SND.UNA for new data in order; after a SYN, a
     * retransmission or a segment out of order, the last such value. */
    uint64_t owin;
};

struct scps_trace_config {
    /* largest number of bytes that the state of all connections may take; 0: 2 GiB */
    uint64_t max_memory;
    /* largest number of connections held at once; 0: limited by max_memory only */
    uint32_t max_conns;
    /* A packet begins a new connection if no packet with its addresses and ports was seen for this
     * time before it, µs; 0: never. tcptrace uses 240 s. */
    scps_dur idle_split;
    bool no_udp; /* true: the analyser does not look for IP packets inside UDP datagrams */
    /* true: the analyser does not look for IP packets inside IP, GRE and other tunnels */
    bool no_tunnels;
    /* true: the analyser keeps no histograms of the RTT, which saves memory and leaves percentiles
     * out */
    bool no_rtt_percentiles;
    /* Called when the analyser is about to remove a connection for lack of memory; its figures are
     * final. NULL: no call. */
    void (*on_evict)(void *ctx, const struct scps_trace_conn *c);
    /* Called for every TCP packet after its analysis. NULL: no call. */
    void (*on_packet)(void *ctx, const struct scps_trace_seen *s);
    /* Called about every 50 ms while a file or device is read, with the number of bytes read
     * (device: packets) and the total (0: unknown). A return value other than 0 stops the reading,
     * as the end of the file does. NULL: no call. */
    int (*on_progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct scps_trace;

/* Implements scps_trace_new(), which passes the size of the caller's structure, bytes. Returns NULL
 * on lack of memory and for a size that the library does not know. */
SCPS_API struct scps_trace *scps_trace_new_sized(const struct scps_trace_config *cfg, size_t size);
/* Opens an analyser. cfg NULL or all zero: the defaults. Returns NULL on lack of memory. */
static inline struct scps_trace *scps_trace_new(const struct scps_trace_config *cfg)
{
    return scps_trace_new_sized(cfg, sizeof *cfg);
}
/* Frees an analyser. t NULL: does nothing. */
SCPS_API void scps_trace_free(struct scps_trace *t);
/* Analyses one packet, whose bytes need to stay valid only during the call. Returns 0 when the
 * packet was a TCP segment; 1 when it was something else, which increments one of the counters in
 * scps_trace_totals; or SCPS_ERR_NOMEM. */
SCPS_API int scps_trace_packet(struct scps_trace *t, const struct scps_trace_pkt *p);
/* Reads a capture: pcap or pcapng, compressed by gzip or not; "-" is standard input. Returns 0;
 * SCPS_ERR_INVAL when the file is no capture, SCPS_ERR_SYSTEM when it cannot be read, both with one
 * line in msg. Returns 1 with one line in msg when the file is damaged in the middle; the packets
 * before that place were analysed. */
SCPS_API int scps_trace_read(struct scps_trace *t, const char *path, char msg[SCPS_TRACE_MSGLEN]);
/* Captures from a device until `packets` packets were seen (0: no limit), `until` µs have passed
 * from now on (0: no limit), or on_progress stops it. filter: an expression of libpcap; NULL: every
 * packet. Returns the same values as scps_trace_read(), and 1 with one line in msg if the kernel
 * dropped packets because they were not read soon enough: the figures lack them. */
SCPS_API int scps_trace_live(struct scps_trace *t, const char *device, const char *filter,
                             uint64_t packets, scps_dur until, char msg[SCPS_TRACE_MSGLEN]);
/* Reads a ground-truth log: a CSV file with one row for each packet that was offered to a simulated
 * link, which says what the link did to the packet (docs/SCPS_TRACE.md, "The ground-truth log").
 * Call this function before the captures are read. Returns the number of rows of packets with
 * payload, which it stores, or SCPS_ERR_SYSTEM or SCPS_ERR_INVAL with one line in msg, or
 * SCPS_ERR_NOMEM. */
SCPS_API int64_t scps_trace_truth(struct scps_trace *t, const char *path,
                                  char msg[SCPS_TRACE_MSGLEN]);
/* Completes the figures of all connections. Call it once, after the last packet and before any
 * figure is read. */
SCPS_API void scps_trace_finish(struct scps_trace *t);

/* Copies the counters over all packets analysed so far to *out. It may be called before
 * scps_trace_finish(). */
SCPS_API void scps_trace_get_totals(const struct scps_trace *t, struct scps_trace_totals *out);
/* Returns the number of connections that the analyser holds now. Connections that were evicted
 * (removed for lack of memory) are not counted. For scps_trace_conn_info() they are in the order of
 * scps_trace_conn.number. */
SCPS_API uint32_t scps_trace_conns(const struct scps_trace *t);
/* Copies the figures of connection i, from 0, to *out. Returns 0, or SCPS_ERR_INVAL when there is
 * no such connection. */
SCPS_API int scps_trace_conn_info(const struct scps_trace *t, uint32_t i,
                                  struct scps_trace_conn *out);
/* Returns the number of bytes that the analyser holds now, and in *peak the most that it has
 * held. */
SCPS_API uint64_t scps_trace_memory(const struct scps_trace *t, uint64_t *peak);

/* ---- reports: functions that write the figures of connections as text, CSV and JSON ---- */

/* Flags for what a report contains beyond the figures of tcptrace's long report. */
enum {
    /* the report contains outstanding data (option -W of scps_trace) and, with SCPS_TRACE_OURS, the
     * shares of the time in which the window, the application or congestion limited the sender */
    SCPS_TRACE_WINDOWS = 1,
    SCPS_TRACE_RTT = 2, /* the report contains round-trip times (option -r) */
    /* the report contains the figures that tcptrace does not have: counts of SNACKs and other
     * SCPS-TP options, how the receiver acknowledges, and causes of retransmissions. scps_trace
     * sets this flag, unless option -t is given. */
    SCPS_TRACE_OURS = 4
};

/* Writes one line about connection c in the form of tcptrace's default report. width: the largest
 * result of scps_trace_brief_width() for the connections of the report, so that the columns
 * align. */
SCPS_API void scps_trace_text_brief(FILE *f, const struct scps_trace_conn *c, int width);
/* Returns the number of characters of the connection's two host names as scps_trace_text_brief()
 * writes them. */
SCPS_API int scps_trace_brief_width(const struct scps_trace_conn *c);
/* Writes the report of tcptrace -l on connection c, then the figures that tcptrace does not have,
 * as far as the flags `what` (SCPS_TRACE_WINDOWS and so on) ask for them. file: the name of the
 * capture, which the report shows. */
SCPS_API void scps_trace_text_long(FILE *f, const struct scps_trace_conn *c, const char *file,
                                   unsigned what);
/* These functions write a table: the line of column names, and the line of one connection, with sep
 * (comma or tab) between the columns. First come tcptrace's columns in tcptrace's order and with
 * its names, then the figures that tcptrace does not have and that the flags `what`
 * (SCPS_TRACE_WINDOWS and so on) ask for. */
SCPS_API void scps_trace_csv_header(FILE *f, char sep, unsigned what);
SCPS_API void scps_trace_csv_row(FILE *f, const struct scps_trace_conn *c, char sep, unsigned what);
/* These functions write one JSON document: call begin, then conn for each connection, then end. n:
 * the number of connections that were written before this one. */
SCPS_API void scps_trace_json_begin(FILE *f);
SCPS_API void scps_trace_json_conn(FILE *f, const struct scps_trace_conn *c, uint64_t n);
/* Ends the JSON document with the totals of t and the names of the capture files. trouble: what
 * went wrong while the captures were read; NULL: nothing. */
SCPS_API void scps_trace_json_end(FILE *f, const struct scps_trace *t, const char *const *files,
                                  size_t nfiles, const char *trouble);
/* Writes the JSON Schema of the document that the scps_trace_json functions write. */
SCPS_API void scps_trace_json_schema(FILE *f);
/* Writes one line about packet s to f. The line shows the time of the packet since t0, which is in
 * µs since 1970. */
SCPS_API void scps_trace_text_packet(FILE *f, const struct scps_trace_seen *s, scps_time t0);

/* ---- pictures: functions that draw graphs of connections ---- */

/* flags that select the graphs to draw; each comment gives tcptrace's option for that graph */
enum {
    SCPS_PLOT_TPUT = 1,  /* option -T: throughput over time */
    SCPS_PLOT_RTT = 2,   /* option -R: round-trip times over time */
    SCPS_PLOT_OWIN = 4,  /* option -N: outstanding data over time */
    SCPS_PLOT_SEGS = 8,  /* option -F: segment sizes over time */
    SCPS_PLOT_TSG = 16,  /* option -S: time-sequence graph */
    SCPS_PLOT_ACKS = 32, /* time between acknowledgements; tcptrace has no such graph */
    SCPS_PLOT_ALL = 63
};
enum { SCPS_PLOT_XPLOT = 1, SCPS_PLOT_GNUPLOT = 2, SCPS_PLOT_PNG = 4, SCPS_PLOT_SVG = 8 };

struct scps_trace_plots;
/* Opens the drawing of graphs: those of the flags `what` (SCPS_PLOT_TPUT and so on), in the formats
 * of the flags `formats` (SCPS_PLOT_XPLOT and so on), into files in directory dir (NULL: the
 * working directory), with tcptrace's file names: a2b_tsg.xpl and so on. wanted returns true for
 * the numbers of connections to draw (NULL: all). Returns NULL on lack of memory. */
SCPS_API struct scps_trace_plots *scps_trace_plots_new(const char *dir, unsigned what,
                                                       unsigned formats,
                                                       bool (*wanted)(void *ctx, uint32_t conn),
                                                       void *ctx);
/* Adds one packet to the graphs. Call it from the callback scps_trace_config.on_packet. */
SCPS_API void scps_trace_plots_see(struct scps_trace_plots *p, const struct scps_trace_seen *s);
/* Completes the files and runs gnuplot for PNG and SVG. Returns the number of graphs, or
 * SCPS_ERR_SYSTEM with one line in msg. Frees p. */
SCPS_API int scps_trace_plots_finish(struct scps_trace_plots *p, char msg[SCPS_TRACE_MSGLEN]);

struct scps_trace_html;
/* Opens a collector of packets from which scps_trace_html_finish() writes one interactive HTML
 * page. The page draws at most max_events segments (0: 400 000). When there are more, neighbouring
 * segments are drawn as one, and the page says so. wanted returns true for the numbers of
 * connections to draw (NULL: all). Returns NULL on lack of memory. */
SCPS_API struct scps_trace_html *
scps_trace_html_new(size_t max_events, bool (*wanted)(void *ctx, uint32_t conn), void *ctx);
/* Adds one packet to the graphs of the interactive page. Call it from the callback
 * scps_trace_config.on_packet. */
SCPS_API void scps_trace_html_see(struct scps_trace_html *h, const struct scps_trace_seen *s);
/* Writes the page, an HTML file, to `path`. Call it after scps_trace_finish(). Returns 0, or
 * SCPS_ERR_SYSTEM with one line in msg. Frees h. */
SCPS_API int scps_trace_html_finish(struct scps_trace_html *h, const struct scps_trace *t,
                                    const char *path, const char *title,
                                    char msg[SCPS_TRACE_MSGLEN]);

#ifdef __cplusplus
}
#endif
#endif
