/* SPDX-License-Identifier: MIT */
/* The Point-to-Point Protocol over any stream of octets: a filter, which is a network interface
 * (netif) between the stack and the netif of a device.
 *
 *      stack
 *        |  ^        IP packets
 *      [ ppp ]       LCP, IPCP, IPV6CP (RFC 1661, 1332, 5072), framing (RFC 1662), VJ (RFC 1144)
 *        v  |        octets, in pieces of any length
 *      device        a serial line, a pseudo terminal, a socket: whatever carries octets in order
 *
 * Below the filter a "packet" is a piece of the stream of octets: going down it is one frame or
 * several whole ones, coming up it begins and ends anywhere. The filter reads no clock: it gets the
 * time with each piece received (scps_pkt.at) and from scps_netif_advance(), which must be called
 * again at the time that scps_netif_deadline() returns. The filter takes memory once, when it is
 * opened, and keeps it until it is closed.
 *
 * Until a network protocol (IPCP or IPV6CP) is open, the filter refuses packets of the stack with
 * SCPS_ERR_AGAIN; when one opens, the filter calls scps_netif_ready(). If only one of IPv4 and IPv6
 * is open, packets of the other one are lost (SCPS_ERR_UNREACH). When the link is closed for good,
 * the filter sets the flag SCPS_NETIF_GONE.
 */
#ifndef SCPS_PPP_H
#define SCPS_PPP_H

#include <scps/alloc.h>
#include <scps/netif.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_PPP_MRU_MIN 128
#define SCPS_PPP_MRU_MAX 16384

struct scps_ppp_config {
    /* size of this structure, bytes, as scps_ppp_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    /* Largest packet that is received and that is sent, octets; SCPS_PPP_MRU_MIN to
     * SCPS_PPP_MRU_MAX; default 1500 */
    uint32_t mru;
    /* Control characters that the peer is asked to escape, bit n for octet n (RFC 1662 section
     * 7.1); default 0: the line carries all octets */
    uint32_t accm;
    /* true: agree to compress the protocol, address and control fields (RFC 1661 sections 6.5 and
     * 6.6); default true */
    bool compress_fields;
    bool ipv4, ipv6; /* true: open this network protocol; default true for both */
    bool vj;         /* true: offer and accept header compression by RFC 1144; default true */
    /* number of TCP connections whose headers the peer may compress (Max-Slot-Id + 1 of RFC 1332),
     * 3 to 16; default 16 */
    uint8_t vj_slots;
    struct scps_addr local; /* IPv4 address of this end; family 0: the peer is asked for one */
    /* IPv4 address that this end assigns to a peer that asks for one (its IPCP address is 0.0.0.0);
     * family 0: the peer must have an address of its own */
    struct scps_addr remote;
    bool remote_strict; /* true: refuse any address of the peer but `remote`; default false */
    /* interface identifier of this end's IPv6 addresses; zeros: it is drawn from seed */
    uint8_t interface_id[8];
    /* true: the peer may start later, so after max_configure requests without an answer this end
     * waits for a request of the peer instead of giving up; default false */
    bool passive;
    /* time after which a request without an answer is repeated, µs; longer than the round trip;
     * default 3 s */
    scps_dur restart;
    /* counters of RFC 1661 section 4.6: Max-Configure (default 10), Max-Terminate (2), Max-Failure
     * (5) */
    uint32_t max_configure, max_terminate, max_failure;
    /* Interval of Echo-Requests, µs (default 0: none are sent), and how many of them without an
     * answer end the link (default 3) */
    scps_dur echo_interval;
    uint32_t echo_failures;
    /* Random seed of magic numbers, which must differ at the two ends; fill it with
     * scps_entropy() */
    uint64_t seed;
};

/* Phases of the link (RFC 1661 section 3.2); there is no authentication phase. */
enum scps_ppp_phase {
    /* the link was not started, or is over; `why` says the reason */
    SCPS_PPP_DEAD,
    SCPS_PPP_ESTABLISH, /* LCP, the link control protocol, negotiates */
    /* LCP is open, so network protocols negotiate or are open */
    SCPS_PPP_NETWORK,
    SCPS_PPP_TERMINATE /* this end or the peer has asked to end the link */
};

/* Reasons why a link is not open, or was closed last. X(name, words). */
#define SCPS_PPP_WHYS(X)                                                                           \
    X(NONE, "nothing is wrong")                                                                    \
    X(NO_ANSWER, "no answer: is a PPP peer at the other end of the line?")                         \
    X(LOOPED, "the line loops back: what this end sends comes back to it")                         \
    X(PEER_CLOSED, "the peer ended the link")                                                      \
    X(ECHO_LOST, "the peer stopped answering Echo-Requests")                                       \
    X(AUTH, "the peer wants authentication, which this end does not have")                         \
    X(NO_AGREEMENT, "the ends did not agree on the options of the link")                           \
    X(NO_ADDRESS, "the peer gave this end no IPv4 address: give one")                              \
    X(ADDRESS_REFUSED, "the peer does not take this end's IPv4 address")                           \
    X(NO_PROTOCOL, "the peer has no network protocol that this end wants")                         \
    X(CLOSED, "closed at this end")                                                                \
    X(SAME_ADDRESS, "both ends have the same IPv4 address: give one of them another")
enum scps_ppp_why {
#define X(name, words) SCPS_PPP_WHY_##name,
    SCPS_PPP_WHYS(X)
#undef X
        SCPS_PPP_WHY_COUNT
};

/* Reasons why received octets were discarded, or packets not sent, each with a counter in
 * scps_ppp_status.drops. X(name, words). */
#define SCPS_PPP_DROPS(X)                                                                          \
    X(FCS, "frames with a wrong check sequence")                                                   \
    X(ABORTED, "frames that their sender gave up")                                                 \
    X(SHORT, "frames too short to be one")                                                         \
    X(LONG, "frames longer than this end takes")                                                   \
    X(HEADER, "frames whose address, control or protocol field cannot be")                         \
    X(CONTROL, "control packets of wrong lengths")                                                 \
    X(UNEXPECTED, "control packets that answer nothing that was asked")                            \
    X(NOT_OPEN, "packets of a protocol that is not open")                                          \
    X(PROTOCOL, "packets of unknown protocols, which were rejected")                               \
    X(LOOPED, "packets with this end's own magic number")                                          \
    X(VJ, "compressed headers that could not be restored")                                         \
    X(QUEUE, "answers that found no room, because the line does not take them")                    \
    X(LIMIT, "control packets that were not answered, because too many came")
enum scps_ppp_drop {
#define X(name, words) SCPS_PPP_DROP_##name,
    SCPS_PPP_DROPS(X)
#undef X
        SCPS_PPP_DROP_COUNT
};

struct scps_ppp_status {
    enum scps_ppp_phase phase;
    enum scps_ppp_why why;
    bool ipv4, ipv6; /* true: IPCP is open, for IPv4; IPV6CP is open, for IPv6 */
    /* IPv4 addresses of this end and of the peer while IPCP is open; family 0 of remote: the peer
     * has not told its address. If `why` is SCPS_PPP_WHY_SAME_ADDRESS, both are the one address
     * that both ends claim */
    struct scps_addr local, remote;
    uint8_t local_id[8], remote_id[8]; /* IPv6 interface identifiers while IPV6CP is open */
    uint32_t mtu;                      /* largest packet that may be sent to the peer, octets */
    uint32_t tx_accm;
    bool vj_tx, vj_rx;
    uint64_t tx_frames, rx_frames; /* frames sent; frames received without errors */
    uint64_t vj_compressed, vj_restored;
    uint64_t echoes_sent, echoes_answered;
    uint64_t drops[SCPS_PPP_DROP_COUNT];
};

/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the
 * defaults. */
SCPS_API void scps_ppp_config_init(struct scps_ppp_config *cfg, size_t size);
/* Returns the defaults of struct scps_ppp_config. It cannot fail. */
static inline struct scps_ppp_config scps_ppp_config_default(void)
{
    struct scps_ppp_config c;

    scps_ppp_config_init(&c, sizeof c);
    return c;
}
/* Checks whether scps_ppp_new() would refuse a configuration. Returns 0 and makes msg empty; else
 * SCPS_ERR_RANGE, and one line of at most msglen - 1 characters in msg names the field: "mtu: 12:
 * give ...". msg may be NULL. */
SCPS_API int scps_ppp_config_check(const struct scps_ppp_config *cfg, char *msg, size_t msglen);
/* Returns the number of bytes that scps_ppp_new() allocates for cfg; 0: cfg is refused. */
SCPS_API size_t scps_ppp_memory(const struct scps_ppp_config *cfg);
/* Opens one end of a PPP link as a netif, in one block of memory from alloc (NULL: malloc). Put it
 * on the netif of its device with scps_netif_push(), then call scps_netif_advance(): the first call
 * begins to negotiate. cfg NULL: the defaults. Returns NULL on lack of memory, or for a
 * configuration with a value out of its range: then *err, if err is not NULL, is SCPS_ERR_NOMEM or
 * SCPS_ERR_RANGE. */
SCPS_API struct scps_netif *scps_ppp_new(const struct scps_ppp_config *cfg,
                                         const struct scps_alloc *alloc, int *err);
/* Copies the state and counters of the link to *out; size is sizeof *out in the calling program. */
SCPS_API void scps_ppp_get_status_sized(const struct scps_netif *ppp, struct scps_ppp_status *out,
                                        size_t size);
static inline void scps_ppp_get_status(const struct scps_netif *ppp, struct scps_ppp_status *out)
{
    scps_ppp_get_status_sized(ppp, out, sizeof *out);
}
/* Asks the peer to end the link at `now`, µs. The link is over when the phase is SCPS_PPP_DEAD. */
SCPS_API void scps_ppp_shut(struct scps_netif *ppp, scps_time now);
/* Returns in words why a link is not open, or was closed last; never NULL. */
SCPS_API const char *scps_ppp_why_text(enum scps_ppp_why why);
/* Returns the reason for which a packet or frame was dropped, in words; never NULL. */
SCPS_API const char *scps_ppp_drop_text(enum scps_ppp_drop drop);

#ifdef __cplusplus
}
#endif
#endif
