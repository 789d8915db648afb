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
    size_t cap;    /* room at data; only scps_stack_output looks at it */
    /* Lent by the send buffer until the next call into the stack; or NULL */
    const uint8_t *payload;
    size_t payload_len; /* with payload NULL: hollow bytes, which stand for zeros nobody stores */
    uint16_t gso;       /* payload bytes a segment when this is a train of them; else 0 */
    bool csum_ok;       /* the checksums are right: coming in, the device vouches for that */
    scps_time at;       /* when it arrived, not when somebody got round to reading it */
};

struct scps_netif;
struct scps_stack;

struct scps_netif_ops {
    const char *name; /* "tun", "udp", "simlink", "tap" */
    /* Down. Returns 0, or SCPS_ERR_AGAIN: not now; netif.c keeps the packet and asks the stack for
     * no more until scps_netif_ready(). Any other error: the packet is lost, and counted. */
    int (*send)(struct scps_netif *nif, const struct scps_pkt *pkt);
    /* Up; filters only. Pass on with scps_netif_recv(nif, pkt), or keep (then say why). */
    int (*recv)(struct scps_netif *nif, const struct scps_pkt *pkt);
    void (*close)(struct scps_netif *nif); /* frees nif and whatever it holds; not the lower one */
    /* Filters that have timers of their own; NULL: it has none. When it wants advance() next:
     * SCPS_NEVER if at no time; a time that has passed means at once. */
    scps_time (*deadline)(const struct scps_netif *nif);
    /* Does what is due at now, and sends what a device below refused before. May call
     * scps_netif_send(), never scps_netif_recv(). */
    void (*advance)(struct scps_netif *nif, scps_time now);
};

#define SCPS_NETIF_HOLLOW  1u /* can carry hollow bytes */
#define SCPS_NETIF_NO_CSUM 2u /* sending: the device fills in the transport checksum */
#define SCPS_NETIF_GSO                                                                             \
    4u /* sending: takes a train of segments (gso) of at most 65535 bytes in all */
/* Set by a filter or device that will carry nothing any more: the loop then lets go of the chain
 * as of a device that has vanished. */
#define SCPS_NETIF_GONE 8u

/* Embedded as the first member of every device and filter. */
struct scps_netif {
    const struct scps_netif_ops *ops; /* NULL: packets are fetched with scps_stack_output */
    const char *name;                 /* for messages; lent by the owner */
    uint32_t mtu;                     /* largest IP packet, bytes */
    unsigned flags;                   /* SCPS_NETIF_* */
    struct scps_netif *lower, *upper; /* the chain; NULL at the ends */
    struct scps_stack *stack;         /* set on the top of the chain by scps_stack_add_netif */
    void *stack_priv;                 /* the stack's own bookkeeping for this netif */
    uint64_t tx_packets, tx_bytes, tx_errors, rx_packets, rx_bytes, rx_dropped;
    /* Of a device: bytes/s that the line behind it takes (0: not known), and what of that a packet
     * takes beyond its IP length. May change at any time. They bound answers to strangers, see
     * scps_stack_config.answer_rate. */
    uint64_t rate;
    uint32_t overhead;
};

/* Device to stack: hand up one packet. Returns 0 if it was used, else the scps_drop. */
SCPS_API int scps_netif_recv(struct scps_netif *nif, const struct scps_pkt *pkt);
/* Stack to device. Errors as scps_netif_ops.send. */
SCPS_API int scps_netif_send(struct scps_netif *nif, const struct scps_pkt *pkt);
/* The device that answered SCPS_ERR_AGAIN can take packets again; pump afterwards. */
SCPS_API void scps_netif_ready(struct scps_netif *nif);
/* For drivers of chains whose filters have timers (scps_netif_ops.advance): the earliest deadline
 * of the chain, and what is due at now, from the device up. top is the uppermost of it. A driver
 * calls scps_netif_advance() before it pumps, and when a deadline is over. */
SCPS_API scps_time scps_netif_deadline(const struct scps_netif *top);
SCPS_API void scps_netif_advance(struct scps_netif *top, scps_time now);
/* Puts filter on top of nif and returns it. Do this before scps_stack_add_netif. */
SCPS_API struct scps_netif *scps_netif_push(struct scps_netif *nif, struct scps_netif *filter);
/* Closes the whole chain from its top. The stack must have been freed first. */
SCPS_API void scps_netif_close(struct scps_netif *top);

#ifdef __cplusplus
}
#endif
#endif
