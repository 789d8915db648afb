/* SPDX-License-Identifier: MIT */
/* Ethernet: a filter, which is a network interface (netif) between the stack and the netif of a
 * device. It puts IP packets into frames and resolves the stations' addresses by ARP (RFC 826) and
 * Neighbor Discovery (RFC 4861, as far as hosts need it).
 *
 *      stack
 *        |  ^        IP packets
 *     [ ether ]      next hop, neighbours, ARP and Neighbour Discovery
 *        v  |        frames from destination address to payload, without preamble and FCS
 *      device        a TAP device, the driver of an Ethernet controller
 *
 * While the address of a neighbour is being resolved, one packet for it is kept, the latest one.
 * Replies to ARP requests and Neighbour Solicitations use at most 1/16 of the device's rate
 * (scps_netif.rate); if the rate is not known, 1/16 of 10 Mbit/s, which is 930 ARP replies a
 * second. A station that only sends requests does not displace a neighbour to which packets were
 * sent from the neighbour cache. The filter reads no clock (see scps_netif_ops.advance) and takes
 * memory once, when it is opened.
 *
 * The filter has only the addresses and routers that it is given, when it is opened or by
 * scps_ether_add_addr(): it does neither router discovery, address configuration and redirects, nor
 * duplicate address detection. Nothing is authenticated: any station can claim the address of
 * another one, as on any Ethernet.
 */
#ifndef SCPS_ETHER_H
#define SCPS_ETHER_H

#include <scps/alloc.h>
#include <scps/netif.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCPS_ETHER_ADDRS  8
#define SCPS_ETHER_HEADER 14

struct scps_ether_config {
    /* size of this structure, bytes, as scps_ether_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    uint8_t mac[6]; /* MAC address of this station; neither zeros nor a group address */
    /* The n addresses of the stack, with their prefix lengths, bits. A destination within such a
     * prefix is a neighbour: its frames are sent to its own MAC address, not to a router's. */
    struct scps_addr addr[SCPS_ETHER_ADDRS];
    unsigned prefix[SCPS_ETHER_ADDRS], n;
    /* Routers for destinations outside all these prefixes: [0] for IPv4, [1] for IPv6; family 0:
     * there is none, so packets to such destinations are dropped */
    struct scps_addr gateway[2];
    /* Number of entries in the neighbour cache. When it is full, a new neighbour replaces the one
     * to which no packet was sent for the longest time. Neighbours that have not answered yet
     * displace at most a quarter of those that have. Default 16 */
    uint32_t neighbours;
    uint32_t mtu;       /* largest IP packet, 576 to 9000; default 1500 */
    scps_dur reachable; /* time for which a neighbour's answer is valid, µs; default 30 s */
    /* How long the MAC address from an answer older than `reachable` is still used for packets
     * before a new request is sent, µs; default 5 s */
    scps_dur delay;
    /* time between two ARP requests or Neighbour Solicitations to a neighbour, µs; default 1 s */
    scps_dur retransmit;
    /* number of requests without an answer after which a neighbour counts as unreachable; default
     * 3 */
    uint32_t tries;
};

/* Reasons why packets were dropped, on arrival or on sending. X(name, words). */
#define SCPS_ETHER_DROPS(X)                                                                        \
    X(SHORT, "frames shorter than their header, or than the packet in them")                       \
    X(NOT_OURS, "frames for other stations")                                                       \
    X(TYPE, "frames of other protocols")                                                           \
    X(ARP, "malformed or impossible ARP packets")                                                  \
    X(ND, "malformed or impossible Neighbour Discovery messages")                                  \
    X(CONFLICT, "other stations with an address of this one")                                      \
    X(HELD, "packets replaced by a later one while a neighbour was asked")                         \
    X(UNRESOLVED, "packets for neighbours that did not answer")                                    \
    X(BUSY, "requests and replies that the device did not accept")                                 \
    X(REMOVED, "waiting packets from an address that was removed")                                 \
    X(LIMIT, "requests that got no reply, because too many came")
enum scps_ether_drop {
#define X(name, words) SCPS_ETHER_DROP_##name,
    SCPS_ETHER_DROPS(X)
#undef X
        SCPS_ETHER_DROP_COUNT
};

struct scps_ether_status {
    unsigned neighbours; /* neighbours whose MAC address is known now */
    uint64_t tx_frames, rx_frames;
    /* asked: ARP requests and Neighbour Solicitations sent; answered: requests and solicitations of
     * other stations, for an address of this station, to which a reply was sent */
    uint64_t asked, answered;
    /* Address of a neighbour that does not answer: the latest one for which `tries` requests had no
     * answer, if its MAC address is still unknown; else one that did not answer the first request.
     * Family 0: there is no such neighbour */
    struct scps_addr unanswered;
    uint64_t drops[SCPS_ETHER_DROP_COUNT];
};

/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the
 * defaults. */
SCPS_API void scps_ether_config_init(struct scps_ether_config *cfg, size_t size);
/* Returns the defaults of struct scps_ether_config. It cannot fail. */
static inline struct scps_ether_config scps_ether_config_default(void)
{
    struct scps_ether_config c;

    scps_ether_config_init(&c, sizeof c);
    return c;
}
/* Checks whether scps_ether_new() would refuse a configuration. Returns 0 and makes msg empty; else
 * SCPS_ERR_RANGE, and one line of at most msglen - 1 characters in msg names the field: "mtu: 12:
 * give ...". msg may be NULL. */
SCPS_API int scps_ether_config_check(const struct scps_ether_config *cfg, char *msg, size_t msglen);
/* Returns the number of bytes that scps_ether_new() allocates for cfg; 0: cfg is refused. */
SCPS_API size_t scps_ether_memory(const struct scps_ether_config *cfg);
/* Opens a station on an Ethernet as a netif, in one block of memory from alloc (NULL: malloc). The
 * station is a filter: put it on the netif of its device with scps_netif_push(). Returns NULL on
 * lack of memory, or for a configuration with a value out of its range: then *err, if err is not
 * NULL, is SCPS_ERR_NOMEM or SCPS_ERR_RANGE.
 * The station reads no clock: the driver passes the time for the timers of ARP and Neighbour
 * Discovery with scps_netif_advance(), which it must call before the first packet, too (struct
 * scps_loop does so by itself). In its first call the station sets the field mtu of itself and of
 * all netifs above it to cfg->mtu. */
SCPS_API struct scps_netif *scps_ether_new(const struct scps_ether_config *cfg,
                                           const struct scps_alloc *alloc, int *err);
/* Gives a station one more address, with a prefix length in bits: call it before
 * scps_stack_add_addr() for the same address. If the station has the address already, only the
 * prefix length changes. For IPv6 the Ethernet controller must receive frames to the multicast
 * address of the address's solicited-node group (RFC 4291 section 2.7.1). Returns 0, SCPS_ERR_RANGE
 * for an invalid family or prefix length, or SCPS_ERR_LIMIT when the station has
 * SCPS_ETHER_ADDRS. */
SCPS_API int scps_ether_add_addr(struct scps_netif *ether, const struct scps_addr *addr,
                                 unsigned prefix);
/* Removes an address and its prefix: call it after scps_stack_remove_addr(). From then on ARP
 * requests and Neighbour Solicitations for the address are not answered, and packets from it that
 * wait for a neighbour's answer are dropped. Returns 0, or SCPS_ERR_NOENT: the station does not
 * have it. */
SCPS_API int scps_ether_remove_addr(struct scps_netif *ether, const struct scps_addr *addr);
/* Copies the state and counters of a station to *out; size is sizeof *out in the calling
 * program. */
SCPS_API void scps_ether_get_status_sized(const struct scps_netif *ether,
                                          struct scps_ether_status *out, size_t size);
static inline void scps_ether_get_status(const struct scps_netif *ether,
                                         struct scps_ether_status *out)
{
    scps_ether_get_status_sized(ether, out, sizeof *out);
}
/* Returns the text of SCPS_ETHER_DROPS for one reason, such as "frames for other stations"; never
 * NULL. */
SCPS_API const char *scps_ether_drop_text(enum scps_ether_drop drop);

#ifdef __cplusplus
}
#endif
#endif
