/* SPDX-License-Identifier: MIT */
/* Error codes. 0 or a count means success, an error is negative. */
#ifndef SCPS_ERROR_H
#define SCPS_ERROR_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The list of error codes: X(name, value, words). */
#define SCPS_ERRORS(X)                                                                             \
    X(AGAIN, -1, "would block: nothing to read, no room to write, or nothing to accept")           \
    X(INVAL, -2, "invalid argument")                                                               \
    X(NOMEM, -3, "out of memory")                                                                  \
    X(NOTCONN, -4, "not connected")                                                                \
    X(ISCONN, -5, "already connected")                                                             \
    X(REFUSED, -6, "connection refused by the peer")                                               \
    X(RESET, -7, "connection reset by the peer")                                                   \
    X(TIMEDOUT, -8, "timed out: the peer did not answer within the retry limit or user timeout")   \
    X(UNREACH, -9, "no route to the host, or an ICMP message said it cannot be reached")           \
    X(ADDRINUSE, -10, "address already in use")                                                    \
    X(ADDRNOTAVAIL, -11, "address not available: not one of this host's, or no port is free")      \
    X(PIPE, -12, "the sending side is closed")                                                     \
    X(EOF, -13, "end of stream")                                                                   \
    X(ABORTED, -14, "aborted on this side")                                                        \
    X(MSGSIZE, -15, "message too long")                                                            \
    X(NORATE, -16, "this controller needs a rate")                                                 \
    X(NOENT, -17, "no such name")                                                                  \
    X(RANGE, -18, "value out of range")                                                            \
    X(LIMIT, -19, "a configured limit was reached")                                                \
    X(LINKDOWN, -20, "the network device has gone, or is down")                                    \
    X(PERM, -21, "not permitted")                                                                  \
    X(SYSTEM, -22, "the operating system refused; see errno")                                      \
    X(HOLE, -23,                                                                                   \
      "data is missing here (best effort gave it up): call scps_conn_hole() to read on")           \
    X(ROOM, -24, "too little room for a packet's headers: give SCPS_MAX_HEADERS bytes, or an MTU") \
    X(BADADDR, -25, "no single host has this address: unspecified, multicast, broadcast, reserved")

enum scps_error {
#define SCPS_X(name, value, words) SCPS_ERR_##name = value,
    SCPS_ERRORS(SCPS_X)
#undef SCPS_X
};

/* Returns words for an SCPS_ERR_*; "success" for 0 and above; never NULL. */
SCPS_API const char *scps_strerror(int err);
/* Returns the name of an error without its prefix ("AGAIN"), for logs and JSON; "OK" for 0 and
 * above. */
SCPS_API const char *scps_errname(int err);

/* Why an arriving packet, or part of it, had no effect. The stack counts its drops by these reasons
 * (scps_stack_stats.drops). */
#define SCPS_DROPS(X)                                                                              \
    X(NONE, "used")                                                                                \
    X(TRUNCATED, "shorter than its own headers say")                                               \
    X(BAD_IP, "IP version, header length or total length is impossible")                           \
    X(BAD_IP_CHECKSUM, "IPv4 header checksum is wrong")                                            \
    X(FRAGMENT, "an IP fragment: not reassembled here")                                            \
    X(BAD_ADDRESS, "source or destination address cannot be a unicast peer of ours")               \
    X(NOT_OURS, "addressed to another host")                                                       \
    X(UNKNOWN_PROTOCOL, "an IP protocol that is not known")                                        \
    X(BAD_TCP, "TCP data offset is impossible")                                                    \
    X(BAD_CHECKSUM, "TCP, UDP or ICMP checksum is wrong")                                          \
    X(BAD_ICMP, "an ICMP message that is malformed, unknown, or quotes no flow of ours")           \
    X(BAD_FLAGS, "a combination of TCP flags that has no meaning in this state")                   \
    X(NO_CONNECTION, "no such connection; answered with a reset unless the segment was a reset")   \
    X(BACKLOG_FULL, "the listener's accept queue is full")                                         \
    X(SYN_LIMIT, "half-open limit reached and no cookie could be sent")                            \
    X(BAD_COOKIE, "an ACK to a listener that no SYN cookie of ours explains")                      \
    X(NOT_ACCEPTABLE, "outside the receive window, or behind the FIN (RFC 9293 section 3.10.7.4)") \
    X(OLD_DUPLICATE, "data that had already arrived")                                              \
    X(PAWS, "timestamp older than the last one (RFC 7323 section 5)")                              \
    X(BLIND_RESET, "reset whose sequence number is not RCV.NXT: challenged (RFC 5961 section 3)")  \
    X(BLIND_SYN, "SYN on a synchronized connection: challenged (RFC 5961 section 4)")              \
    X(BLIND_ACK, "acknowledgement outside the acceptable range (RFC 5961 section 5)")              \
    X(BAD_ACK, "acknowledges what was never sent")                                                 \
    X(NO_ACK, "a segment without ACK on a synchronized connection")                                \
    X(NO_BUFFER, "the receive buffer, or memory, is full")                                         \
    X(AFTER_CLOSE, "data after the application had closed: answered with a reset")                 \
    X(TOO_MANY_HOLES, "out-of-order data that would need one more range than is kept")             \
    X(TOO_MANY_RECORDS, "a record boundary that would be one more than is kept unread")            \
    X(RATE_LIMITED, "an answer was due but its rate limit is reached")                             \
    X(BAD_UDP, "UDP length is impossible")                                                         \
    X(NO_UDP_PORT, "no such UDP port: answered with port unreachable")                             \
    X(UDP_QUEUE_FULL, "the receive queue of the datagrams' endpoint, or memory, is full")          \
    X(BAD_COMPRESSED, "compressed header too short or with impossible lengths")                    \
    X(UNKNOWN_CONNECTION_ID, "compressed header with an unknown connection id")                    \
    X(FILTERED, "a netif filter dropped it")                                                       \
    X(MEMORY_LIMIT, "data or a SYN for which the stack's memory limit left no memory")             \
    X(NOT_ECT, "Not-ECT, but marked CE on the header of the tunnel (RFC 6040 section 4.2)")        \
    X(MAX_CONNS, "a SYN cookie's acknowledgement while max_conns connections are open")

enum scps_drop {
#define SCPS_X(name, words) SCPS_DROP_##name,
    SCPS_DROPS(SCPS_X)
#undef SCPS_X
        SCPS_DROP_COUNT
};

/* Returns the name of a drop reason as JSON and CSV have it: "bad_checksum" and the like. */
SCPS_API const char *scps_drop_name(enum scps_drop d);
/* Returns the description of a reason, as SCPS_DROPS has it; "?" if unknown. The text is static. */
SCPS_API const char *scps_drop_words(enum scps_drop d);

/* Reasons why a sender sends nothing now. */
#define SCPS_HOLDS(X)                                                                              \
    X(NONE, "sending")                                                                             \
    X(APP, "the application has given nothing more to send")                                       \
    X(CWND, "the congestion window is full")                                                       \
    X(RECOVERY, "recovery allows nothing more until further acknowledgements")                     \
    X(PEER_WINDOW, "the peer's receive window is full")                                            \
    X(PACE, "the pacing rate sets a later departure")                                              \
    X(ROUTE, "the rate of the route, which other connections share, sets a later departure")       \
    X(NAGLE, "a small segment waits for its acknowledgement or for more data (RFC 9293 3.7.4)")    \
    X(CORK, "the application has announced more data (SCPS_MORE or cork)")                         \
    X(HANDSHAKE, "the connection is not established yet")                                          \
    X(LINK_DOWN, "an outage of the link")                                                          \
    X(NETIF, "the link's own queue is full")

enum scps_hold {
#define SCPS_X(name, words) SCPS_HOLD_##name,
    SCPS_HOLDS(SCPS_X)
#undef SCPS_X
        SCPS_HOLD_COUNT
};

/* Features of a connection that its two ends agree on in the handshake. */
#define SCPS_FEATURES(X)                                                                           \
    X(WSCALE, "windows above 64 KiB (RFC 7323)")                                                   \
    X(TIMESTAMPS, "timestamps (RFC 7323)")                                                         \
    X(SACK, "selective acknowledgements (RFC 2018)")                                               \
    X(ECN, "explicit congestion notification (RFC 3168)")                                          \
    X(CAPABILITIES, "the SCPS capabilities option (kind 20)")                                      \
    X(SNACK, "selective negative acknowledgements, short form (kind 21)")                          \
    X(SNACK_LONG, "selective negative acknowledgements, long form")                                \
    X(COMPRESSION, "header compression (IP protocol 105)")                                         \
    X(BETS, "best-effort transport service")

enum scps_feature {
#define SCPS_X(name, words) SCPS_FEATURE_##name,
    SCPS_FEATURES(SCPS_X)
#undef SCPS_X
        SCPS_FEATURE_COUNT
};

/* Reasons why a feature is in force on a connection, or not. */
#define SCPS_WHYS(X)                                                                               \
    X(IN_FORCE, "both ends offered it")                                                            \
    X(NOT_YET, "the handshake is not over")                                                        \
    X(NOT_CONFIGURED, "not configured here")                                                       \
    X(NOT_OFFERED, "the peer did not offer it")                                                    \
    X(NO_CAPABILITIES, "the peer does not answer the capabilities option: it is a plain TCP")      \
    X(FELL_BACK, "SYNs with the option were not answered, one without it was")                     \
    X(REMEMBERED, "this destination has not answered SYNs with the option before")                 \
    X(COOKIE, "a SYN cookie was used, which cannot store it")                                      \
    X(NO_ID, "no connection id was free, or the peer's was in use")

enum scps_why {
#define SCPS_X(name, words) SCPS_WHY_##name,
    SCPS_WHYS(SCPS_X)
#undef SCPS_X
        SCPS_WHY_COUNT
};

/* The functions with "name" return the key of a feature or a reason in JSON: "snack_long",
 * "not_offered" and the like; those with "words" return its description, as SCPS_FEATURES or
 * SCPS_WHYS has it. All return "?" if it is unknown. The texts are static. */
SCPS_API const char *scps_feature_name(enum scps_feature f);
SCPS_API const char *scps_feature_words(enum scps_feature f);
SCPS_API const char *scps_why_name(enum scps_why w);
SCPS_API const char *scps_why_words(enum scps_why w);

/* Returns the name of a reason why nothing is sent, as JSON and CSV have it: "peer_window" and the
 * like. */
SCPS_API const char *scps_hold_name(enum scps_hold h);
/* Returns the description of a reason, as SCPS_HOLDS has it; "?" if unknown. The text is static. */
SCPS_API const char *scps_hold_words(enum scps_hold h);

#ifdef __cplusplus
}
#endif
#endif
