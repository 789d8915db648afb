/* SPDX-License-Identifier: MIT */
/* Packets, and network interfaces (netifs) that carry them.
 *
 * Netifs form a chain: filters (a capture tap, a fault injector) on top of one device (TUN, UDP
 * encapsulation, a simulated link). scps_netif_send() passes a packet down the chain,
 * scps_netif_recv() passes a packet up. The stack is attached to the top of the chain only.
 */
#ifndef SCPS_NETIF_H
#define SCPS_NETIF_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest header area that the stack writes: 40 bytes of IPv6 and 60 of TCP, rounded up to 128
 * bytes. */
#define SCPS_MAX_HEADERS 128

struct scps_pkt {
    uint8_t *data; /* the first byte of the IP header */
    size_t len;    /* number of bytes at data: the headers, and the payload if `payload` is NULL */
    size_t cap;    /* room at data, bytes; only scps_stack_output() uses it */
    /* Payload that is not behind the headers at data but elsewhere: in the stack's send buffer,
     * where it is valid until the next call into the stack. NULL: the payload follows the headers
     * at data, or is hollow (counted, not stored) */
    const uint8_t *payload;
    /* number of bytes at payload; with payload NULL: number of hollow bytes, zeros that are not
     * stored */
    size_t payload_len;
    /* 0: a single packet. Otherwise the payload belongs to several segments (segmentation offload),
     * and the device cuts it into packets with this many payload bytes each. */
    uint16_t gso;
    bool csum_ok; /* on input, true: the device has verified all checksums; the stack skips them */
    /* On input, set by drivers that take packets out of a tunnel: the ECN field of the outer IP
     * header (SCPS_ECN_*, as IP_RECVTOS returns it); 0: Not-ECT, or not known. The stack combines
     * this field with the ECN field of the inner packet (RFC 6040 section 4.2): a congestion mark
     * made in the tunnel is kept, and a Not-ECT packet that was marked in the tunnel is dropped
     * (SCPS_DROP_NOT_ECT). */
    uint8_t ecn;
    scps_time at; /* time of arrival on the wire, not of reading, µs; 0: not known */
};

/* Returns the ECN field (SCPS_ECN_*) of the IP header in pkt, for drivers that put packets into a
 * tunnel. A driver may copy the field to the outer header only if the far end of the tunnel
 * combines both fields on arrival (RFC 6040 section 4.1, normal mode); otherwise congestion marks
 * made in the tunnel are lost. If this is not known, the driver sends the outer header as Not-ECT
 * (compatibility mode). */
static inline uint8_t scps_pkt_ecn(const struct scps_pkt *pkt)
{
    if (pkt->len < 2)
        return 0;
    return (pkt->data[0] >> 4 == 6 ? pkt->data[1] >> 4 : pkt->data[1]) & 3;
}

struct scps_netif;
struct scps_seg; /* a parsed TCP segment; <scps/wire.h> defines it */
struct scps_stack;

struct scps_netif_ops {
    const char *name; /* kind of the netif: "tun", "udp", "simlink", "tap" */
    /* Sends a packet down the chain, towards the device. Returns 0. SCPS_ERR_AGAIN: the device can
     * take no packet now; scps_netif_send() then keeps the packet, and the stack builds no more
     * packets for the chain until scps_netif_ready() is called. What waits for the device has no
     * time limit: no timer ends a connection whose SYN or data was not sent yet. If the device will
     * take no more packets, call scps_stack_remove_netif(). Any other error: the packet is lost,
     * and counted in tx_errors. */
    int (*send)(struct scps_netif *nif, const struct scps_pkt *pkt);
    /* Receives a packet from the netif below; only filters have this function. It passes the packet
     * on with scps_netif_recv(nif, pkt), or drops it and returns the reason (scps_drop). */
    int (*recv)(struct scps_netif *nif, const struct scps_pkt *pkt);
    /* Frees nif and the memory that it owns, but not the lower netif. */
    void (*close)(struct scps_netif *nif);
    /* Returns the time, µs, at which advance() is to be called next, for filters with timers.
     * SCPS_NEVER: no call is needed; a time that has passed: call it at once. NULL: the filter has
     * no timers. */
    scps_time (*deadline)(const struct scps_netif *nif);
    /* Runs the timers of nif that have expired at `now`, µs, and sends again the packets that a
     * device below refused. May call scps_netif_send(), never scps_netif_recv(). */
    void (*advance)(struct scps_netif *nif, scps_time now);
};

/* bits of scps_netif.flags; HOLLOW: the device can carry payload that is counted but not stored */
#define SCPS_NETIF_HOLLOW  1u
#define SCPS_NETIF_NO_CSUM 2u /* on sending, the device fills in the transport checksum */
/* On sending, the device cuts trains of segments (scps_pkt.gso) of at most 65535 bytes in all. */
#define SCPS_NETIF_GSO 4u
/* Set by a filter or device that will carry no more packets: the loop then releases the chain as if
 * the device had vanished. */
#define SCPS_NETIF_GONE 8u

/* One element of a chain of netifs. It is the first member of the structure of every device and
 * filter. */
struct scps_netif {
    /* functions of the netif; NULL: the driver fetches packets by scps_stack_output() */
    const struct scps_netif_ops *ops;
    /* Name for messages, such as "scps0". The driver that made this netif owns the text, which must
     * stay valid as long as the netif. NULL in a filter: scps_netif_push() sets it to the name of
     * the netif below. */
    const char *name;
    uint32_t mtu;   /* largest IP packet, bytes */
    unsigned flags; /* SCPS_NETIF_* */
    /* the netifs below and above this one in the chain; NULL at the ends of the chain */
    struct scps_netif *lower, *upper;
    /* the stack to which scps_stack_add_netif() attached this netif; only the top of a chain has
     * one */
    struct scps_stack *stack;
    void *stack_priv; /* data of the stack about this netif; drivers do not use it */
    uint64_t tx_packets, tx_bytes, tx_errors, rx_packets, rx_bytes, rx_dropped;
    /* The device sets these two fields and may change them at any time. rate: rate of the line
     * behind the device, bytes/s; 0: unknown. overhead: octets that a packet takes on the line
     * beyond its IP length. They limit replies to packets that belong to no connection
     * (scps_stack_config.answer_rate). */
    uint64_t rate;
    uint32_t overhead;
};

/* Number computed from the sizes of the structures that drivers and the stack share.
 * scps_stack_add_netif() compares it with that of the library, and so refuses a driver that was
 * compiled with other headers. */
#define SCPS_NETIF_LAYOUT                                                                          \
    ((uint32_t)(sizeof(struct scps_netif) << 20 | sizeof(struct scps_netif_ops) << 10 |            \
                sizeof(struct scps_pkt)))

/* Passes one packet up the chain, from the device towards the stack. Returns 0 if it was used, else
 * the scps_drop. */
SCPS_API int scps_netif_recv(struct scps_netif *nif, const struct scps_pkt *pkt);
/* Passes up a TCP packet over IPv4 that the device has as a struct scps_seg instead of octets, as a
 * link within one process may. seg: the segment, as scps_tcp_parse() would set it, with tos; len:
 * length of the packet, octets (its IP header has no options); addrs: source and destination
 * address, 4 octets each; at: arrival time as in scps_pkt.at. Returns what scps_netif_recv()
 * returns. SCPS_ERR_AGAIN, with nothing counted: the segment must be passed as octets by
 * scps_netif_recv(), because there are filters above nif or no open connection takes it. */
SCPS_API int scps_netif_recv_segment(struct scps_netif *nif, const uint8_t addrs[8],
                                     const struct scps_seg *seg, size_t len, scps_time at);
/* Passes a packet that goes from the stack towards the device to nif's own scps_netif_ops.send, and
 * counts it in nif's counters. scps_pump() calls this function for the top of a chain, and each
 * filter for the netif below it. Returns what scps_netif_ops.send returns; SCPS_ERR_AGAIN if nif
 * has no such function. */
SCPS_API int scps_netif_send(struct scps_netif *nif, const struct scps_pkt *pkt);
/* Tells the stack that a device whose send() returned SCPS_ERR_AGAIN can take packets again. The
 * device calls it, then scps_pump() must be called. */
SCPS_API void scps_netif_ready(struct scps_netif *nif);
/* Returns the earliest deadline of the filters in a chain that have timers
 * (scps_netif_ops.deadline), µs; SCPS_NEVER if there is none. top is the uppermost netif of the
 * chain. */
SCPS_API scps_time scps_netif_deadline(const struct scps_netif *top);
/* Runs the expired timers of each netif of a chain (scps_netif_ops.advance), from the device up to
 * top, at `now`, µs. A driver calls this function before scps_pump(), and when the time that
 * scps_netif_deadline() returned has come. */
SCPS_API void scps_netif_advance(struct scps_netif *top, scps_time now);
/* Puts a filter on top of nif, the uppermost netif of a chain, and returns the filter. Call it
 * before scps_stack_add_netif(). */
SCPS_API struct scps_netif *scps_netif_push(struct scps_netif *nif, struct scps_netif *filter);
/* Closes the whole chain from its top. The stack must have been freed first. */
SCPS_API void scps_netif_close(struct scps_netif *top);

#ifdef __cplusplus
}
#endif
#endif
