/* SPDX-License-Identifier: MIT */
/* Packets and the links that carry them.
 *
 * A netif is a chain: filters (a capture tap, a fault injector) on top of one device (TUN, UDP
 * encapsulation, a simulated link).  scps_netif_send walks down, scps_netif_recv walks up; the
 * stack is attached to the top of the chain only.
 */
#ifndef SCPS_NETIF_H
#define SCPS_NETIF_H

#include <scps/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest header area the stack writes: 40 of IPv6 and 60 of TCP, rounded up. */
#define SCPS_MAX_HEADERS 128

struct scps_pkt {
    uint8_t *data; /* first byte of the IP header */
    size_t len;    /* bytes at data: the headers alone when the payload lies apart */
    size_t cap;    /* room at data; used by scps_stack_output only */
    /* Lent by the send buffer until the next call into the stack; or NULL */
    const uint8_t *payload;
    size_t payload_len; /* with payload NULL: hollow bytes, zeros that are not stored */
    /* this packet is a train of segments with so many payload bytes each; 0: a single packet */
    uint16_t gso;
    bool csum_ok; /* the checksums are right; on input the device has verified them */
    /* On input: the ECN field of the outer header, of a driver that takes packets out of a tunnel
     * (SCPS_ECN_*, IP_RECVTOS); 0: Not-ECT, or not known. The stack combines it with that of the
     * packet itself by RFC 6040 section 4.2: what was marked on the way is heard, and a packet that
     * is Not-ECT and was marked is dropped (SCPS_DROP_NOT_ECT). */
    uint8_t ecn;
    scps_time at; /* time of arrival on the wire, if known, not the time of reading */
};

/* Returns the ECN field (SCPS_ECN_*) of the IP header in pkt, for drivers that put packets into
 * other IP packets. They may copy it to the outer header only where the far end combines both on
 * arrival, else congestion marked on the way is lost (RFC 6040 section 4.1, normal mode); where
 * that is not known, the outer header is Not-ECT (compatibility mode). */
static inline uint8_t scps_pkt_ecn(const struct scps_pkt *pkt)
{
    if (pkt->len < 2)
        return 0;
    return (pkt->data[0] >> 4 == 6 ? pkt->data[1] >> 4 : pkt->data[1]) & 3;
}

struct scps_netif;
struct scps_stack;

struct scps_netif_ops {
    const char *name; /* "tun", "udp", "simlink", "tap" */
    /* Sends a packet down. Returns 0, or SCPS_ERR_AGAIN: the device is full; scps_netif_send()
     * keeps the packet and asks the stack for no more until scps_netif_ready(). Any other error:
     * the packet is lost and counted. */
    int (*send)(struct scps_netif *nif, const struct scps_pkt *pkt);
    /* Receives a packet; only for filters. Pass it on with scps_netif_recv(nif, pkt), or drop it
     * and return the reason. */
    int (*recv)(struct scps_netif *nif, const struct scps_pkt *pkt);
    /* frees nif and what it holds, but not the lower netif */
    void (*close)(struct scps_netif *nif);
    /* Returns when advance() is to be called next, for filters with timers: SCPS_NEVER if at no
     * time; a time that has passed means at once. NULL: the filter has no timers. */
    scps_time (*deadline)(const struct scps_netif *nif);
    /* Does what is due at now, and sends again what a device below refused. May call
     * scps_netif_send(), never scps_netif_recv(). */
    void (*advance)(struct scps_netif *nif, scps_time now);
};

#define SCPS_NETIF_HOLLOW  1u /* can carry hollow bytes */
#define SCPS_NETIF_NO_CSUM 2u /* sending: the device fills in the transport checksum */
#define SCPS_NETIF_GSO                                                                             \
    4u /* sending: the device takes trains of segments (gso) of at most 65535 bytes in all */
/* Set by a filter or device that will carry no more packets: the loop then releases the chain as if
 * the device had vanished. */
#define SCPS_NETIF_GONE 8u

/* Embedded as the first member of every device and filter. */
struct scps_netif {
    const struct scps_netif_ops *ops; /* NULL: the driver fetches packets with scps_stack_output */
    const char *name;                 /* for messages; lent by the owner */
    uint32_t mtu;                     /* largest IP packet, bytes */
    unsigned flags;                   /* SCPS_NETIF_* */
    struct scps_netif *lower, *upper; /* the chain; NULL at the ends */
    struct scps_stack *stack;         /* set on the top of the chain by scps_stack_add_netif */
    void *stack_priv;                 /* the stack's own bookkeeping for this netif */
    uint64_t tx_packets, tx_bytes, tx_errors, rx_packets, rx_bytes, rx_dropped;
    /* Of a device: rate of the line behind it, bytes/s (0: unknown), and octets that a packet takes
     * on it beyond its IP length. May change at any time. They limit answers to strangers, see
     * scps_stack_config.answer_rate. */
    uint64_t rate;
    uint32_t overhead;
};

/* The layout of the structures that drivers and the stack share, for scps_stack_add_netif(). */
#define SCPS_NETIF_LAYOUT                                                                          \
    ((uint32_t)(sizeof(struct scps_netif) << 20 | sizeof(struct scps_netif_ops) << 10 |            \
                sizeof(struct scps_pkt)))

/* Device to stack: passes one packet up. Returns 0 if it was used, else the scps_drop. */
SCPS_API int scps_netif_recv(struct scps_netif *nif, const struct scps_pkt *pkt);
/* Stack to device. Errors as scps_netif_ops.send. */
SCPS_API int scps_netif_send(struct scps_netif *nif, const struct scps_pkt *pkt);
/* Tells the stack that a device which returned SCPS_ERR_AGAIN can take packets again; call
 * scps_pump() afterwards. */
SCPS_API void scps_netif_ready(struct scps_netif *nif);
/* Returns the earliest deadline of a chain whose filters have timers (scps_netif_ops.advance),
 * SCPS_NEVER if none has. top is the uppermost netif of the chain. */
SCPS_API scps_time scps_netif_deadline(const struct scps_netif *top);
/* Does what is due at now in the chain below top, from the device up. A driver calls it before it
 * pumps, and when a deadline is over. */
SCPS_API void scps_netif_advance(struct scps_netif *top, scps_time now);
/* Puts a filter on top of nif and returns it. Call before scps_stack_add_netif. */
SCPS_API struct scps_netif *scps_netif_push(struct scps_netif *nif, struct scps_netif *filter);
/* Closes the whole chain from its top. The stack must have been freed first. */
SCPS_API void scps_netif_close(struct scps_netif *top);

#ifdef __cplusplus
}
#endif
#endif
