/* SPDX-License-Identifier: MIT */
/* Datagrams: the UDP service of the stack (RFC 768; RFC 1122 section 4.1; the mandatory items for
 * UDP of CCSDS 714.0-B-2).
 *
 * An endpoint is a port of this host, at one of its addresses or at all of them, with a queue in
 * each direction.
 *
 * Sending: datagrams wait, in order, until their link can take a packet and the rate of the route,
 * if it has one, allows it. Datagrams count against the rate as TCP segments do; while both
 * datagrams and TCP connections have packets to send, each kind gets half of the rate. When the
 * queue is full, a send returns SCPS_ERR_AGAIN. Receiving: datagrams wait until they are read;
 * those that find the queue full are dropped and counted as SCPS_DROP_UDP_QUEUE_FULL.
 *
 *     struct scps_endpoint any = {.port = 5001};
 *     struct scps_dgram *d = scps_dgram_open(st, NULL, &any, &err);
 *     ...                                            // SCPS_EV_READABLE, ev.dgram == d
 *     while ((n = scps_dgram_recv(d, buf, sizeof buf, 0, &from)) >= 0)
 *         scps_dgram_send(d, &from.remote, buf, n, 0);
 *
 * Datagrams are not fragmented: one that does not fit the MTU is refused with SCPS_ERR_MSGSIZE, and
 * arriving fragments are dropped (SCPS_DROP_FRAGMENT). There is no congestion control: limit the
 * rate of the route, or let the application slow down (RFC 8085 section 3.1).
 */
#ifndef SCPS_DGRAM_H
#define SCPS_DGRAM_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_dgram;

struct scps_dgram_config {
    /* size of this structure, bytes, as scps_dgram_config_default() sets it; it shows for which
     * version of the structure the program was compiled */
    size_t size;
    /* Limit of the send queue, bytes of packets with their IP headers; default 64 KiB. An empty
     * queue accepts any one packet. */
    uint32_t sndbuf;
    /* Limit of the receive queue, bytes of datagrams plus 64 for each; default 256 KiB. An empty
     * queue accepts one datagram of any size. */
    uint32_t rcvbuf;
    /* type of service (default 0) and time to live in hops (default 64) of the packets sent */
    uint8_t tos, ttl;
    /* true: routers may fragment the IPv4 packets that this endpoint sends (the DF bit is clear).
     * Default false: packets that are too big are reported by ICMP (RFC 1191) */
    bool df_off;
    /* true: the endpoint may share its port with other endpoints that set this field, too; of
     * those, the one opened last gets what arrives */
    bool reuse;
};
/* Fills *cfg, a structure of `size` octets (sizeof *cfg in the caller's headers), with the defaults
 * that the fields name. */
SCPS_API void scps_dgram_config_init(struct scps_dgram_config *cfg, size_t size);
/* Returns the defaults that scps_dgram_config_init() fills in. */
static inline struct scps_dgram_config scps_dgram_config_default(void)
{
    struct scps_dgram_config c;

    scps_dgram_config_init(&c, sizeof c);
    return c;
}

/* Opens an endpoint, which receives the datagrams for a UDP port of this host. cfg NULL: the
 * defaults. local NULL: any address of both families and a port chosen by the stack (RFC 6056).
 * Port 0 of local: a port chosen by the stack, too. Family 0 of local: every address of both
 * families; family 4 or 6 with an address of zeros: every address of that family. Returns NULL with
 * *err (may be NULL): SCPS_ERR_ADDRINUSE, ADDRNOTAVAIL, INVAL, NOMEM; RANGE for cfg->size. */
SCPS_API struct scps_dgram *scps_dgram_open(struct scps_stack *st,
                                            const struct scps_dgram_config *cfg,
                                            const struct scps_endpoint *local, int *err);
/* Closes an endpoint: datagrams waiting to be read are dropped, those waiting to be sent are still
 * sent. d is invalid on return. */
SCPS_API void scps_dgram_close(struct scps_dgram *d);

/* Sets the default destination; from then on only datagrams of that sender are received. remote
 * NULL: no destination, and datagrams from any host are received. An endpoint bound to any address
 * becomes bound to the local address from which remote is routed. Datagrams that wait to be sent
 * get this source address, too; those of the other address family are lost
 * (scps_dgram_stats.unsent). Returns 0, SCPS_ERR_INVAL, BADADDR (no single host has the address of
 * remote), UNREACH or ADDRNOTAVAIL. */
SCPS_API int scps_dgram_connect(struct scps_dgram *d, const struct scps_endpoint *remote);

/* Queues one datagram: a copy of len bytes at data, then `hollow` zeros that are not stored. hollow
 * other than 0 is for simulated links, whose packets count payload without storing it; then len is
 * at most SCPS_DGRAM_PREFIX. to NULL: the datagram is sent to the connected destination. Returns 0.
 * SCPS_ERR_AGAIN: the queue is full, and SCPS_EV_WRITABLE will come; NOMEM: no memory, and
 * SCPS_EV_WRITABLE will come after 100 ms at the latest; MSGSIZE: the datagram does not fit the
 * MTU; NOTCONN: to is NULL and the endpoint is not connected; BADADDR: no single host has the
 * address; UNREACH, ADDRNOTAVAIL, INVAL. */
SCPS_API int scps_dgram_send(struct scps_dgram *d, const struct scps_endpoint *to, const void *data,
                             size_t len, size_t hollow);
#define SCPS_DGRAM_PREFIX 64u

struct scps_dgram_from {
    struct scps_endpoint remote; /* sender of the datagram */
    struct scps_addr local;      /* the local address to which the datagram was sent */
    uint8_t tos;
    scps_time at;  /* time of its arrival, µs of the stack's clock */
    size_t hollow; /* number of hollow bytes at its end: zeros that are not stored */
};
/* Takes the oldest datagram from the queue and copies up to len of its bytes into buf; the rest of
 * it is lost, hollow bytes included. Returns its whole length, which may be 0 and may be above len;
 * SCPS_ERR_AGAIN: there is none. With SCPS_PEEK in flags it stays in the queue. buf may be NULL
 * with len 0, and from may be NULL. */
SCPS_API int64_t scps_dgram_recv(struct scps_dgram *d, void *buf, size_t len, unsigned flags,
                                 struct scps_dgram_from *from);

/* Returns the newest error about a sent datagram that was not reported yet, and 0 in further calls
 * until another error: SCPS_ERR_REFUSED, UNREACH, MSGSIZE, LINKDOWN. *about (may be NULL) gets the
 * destination of that datagram, *icmp (may be NULL) type << 8 | code, 0 if the error was not an
 * ICMP message. The endpoint stays open. */
SCPS_API int scps_dgram_error(struct scps_dgram *d, struct scps_endpoint *about, unsigned *icmp);

/* Returns the length of the oldest datagram in the queue, or SCPS_ERR_AGAIN, as scps_dgram_recv()
 * does with SCPS_PEEK. */
SCPS_API int64_t scps_dgram_next(struct scps_dgram *d);
/* Returns false when the send queue is more than half full, or a datagram was refused for want of
 * room or memory; SCPS_EV_WRITABLE reports that it returns true again, and then there is room for
 * the datagram that was refused last. */
SCPS_API bool scps_dgram_writable(const struct scps_dgram *d);
/* Returns the bytes of IP packets in the send queue. */
SCPS_API uint32_t scps_dgram_unsent(const struct scps_dgram *d);
/* Returns the largest datagram that can be sent to `to`, bytes of UDP payload: the MTU less the
 * headers of IP and UDP. 0: no datagram can be sent there, for example for want of a route. to
 * NULL: the connected destination. */
SCPS_API uint32_t scps_dgram_room(const struct scps_dgram *d, const struct scps_endpoint *to);
/* Copies the endpoint's own address and port to *out. */
SCPS_API void scps_dgram_local(const struct scps_dgram *d, struct scps_endpoint *out);
/* Copies the connected destination to *out. Family 0: not connected. */
SCPS_API void scps_dgram_remote(const struct scps_dgram *d, struct scps_endpoint *out);
/* Sets the pointer that every later event of the endpoint has as scps_event.user. The stack does
 * not use it. NULL at the beginning. */
SCPS_API void scps_dgram_set_user(struct scps_dgram *d, void *user);
/* Changes the configuration for later datagrams; queued ones are not affected. cfg NULL: the
 * defaults. Returns 0; or SCPS_ERR_RANGE, with nothing changed, if cfg->size, the size of the
 * structure in the caller's headers, is not that of a version that this library knows. */
SCPS_API int scps_dgram_set_config(struct scps_dgram *d, const struct scps_dgram_config *cfg);
/* Copies the configuration to *out; size is sizeof *out in the calling program. */
SCPS_API void scps_dgram_get_config_sized(const struct scps_dgram *d, struct scps_dgram_config *out,
                                          size_t size);
static inline void scps_dgram_get_config(const struct scps_dgram *d, struct scps_dgram_config *out)
{
    scps_dgram_get_config_sized(d, out, sizeof *out);
}

struct scps_dgram_stats {    /* Counters of an endpoint. Bytes are those of the application. */
    uint64_t out, out_bytes; /* datagrams sent, and their bytes */
    uint64_t in, in_bytes;   /* datagrams queued to be read, and their bytes */
    uint64_t full;           /* datagrams dropped on arrival because the receive queue was full */
    /* datagrams dropped from the send queue, because when their turn came there was no route or the
     * MTU of the route was too small */
    uint64_t unsent;
};
/* Copies the counters since the endpoint was opened to *out; size is sizeof *out in the calling
 * program. */
SCPS_API void scps_dgram_get_stats_sized(const struct scps_dgram *d, struct scps_dgram_stats *out,
                                         size_t size);
static inline void scps_dgram_get_stats(const struct scps_dgram *d, struct scps_dgram_stats *out)
{
    scps_dgram_get_stats_sized(d, out, sizeof *out);
}

/* Returns true when an endpoint uses local->port at local->addr (family 0: at any address; zeros:
 * at any address of that family). */
SCPS_API bool scps_dgram_port_busy(const struct scps_stack *st, const struct scps_endpoint *local);

#ifdef __cplusplus
}
#endif
#endif
