/* SPDX-License-Identifier: MIT */
/* Types and functions of the socket layer: the context, a socket, and the parts of a call.
 *
 *   public call      scps_sock_enter: lock, let the clock catch up
 *     find           descriptor -> socket, its view of the connection brought up to date
 *     ... work ...   in negative errno values; a call that must wait goes through scps_sock_block
 *   scps_sock_leave  serve what is due, wake waiting calls, unlock, set errno
 *
 * A socket is the sum of its parts, each with a header of its own: the state of its connection as
 * Linux describes it (life.h), its addresses (names.h), its objects in the stack (pcb.h), its
 * configuration (conf.h), and the options that belong to the socket alone. scps_sock_state()
 * returns the TCP state that Linux would report.
 */
#ifndef SCPS_SOCKET_SOCK_H
#define SCPS_SOCKET_SOCK_H

#include <errno.h>
#include <scps/dgram.h>
#include <scps/socket.h>

#include "base/bytes.h"
#include "socket/conf.h"
#include "socket/life.h"
#include "socket/names.h"
#include "socket/pcb.h"

/* Error numbers that <errno.h> may lack, each defined as the nearest one that it has. */
#ifndef ESOCKTNOSUPPORT
#define ESOCKTNOSUPPORT EPROTONOSUPPORT
#endif
#ifndef EHOSTDOWN
#define EHOSTDOWN EHOSTUNREACH
#endif
#ifndef ENONET
#define ENONET EHOSTUNREACH
#endif

struct sock {
    struct scps_ctx *ctx;
    /* number that distinguishes the socket from a later one with the same descriptor */
    uint64_t serial;
    uint32_t index; /* index in ctx->slot; UINT32_MAX: the socket has no descriptor any more */
    int domain;
    bool dgram; /* true: type SOCK_DGRAM: bind, connect or the first datagram opens an endpoint */
    bool seqpacket; /* true: type SOCK_SEQPACKET: each send is a record */
    bool nonblock, cloexec;
    struct sock_life life;
    struct sock_names names;
    struct sock_pcb pcb;
    struct sock_conf conf;
    uint32_t backlog; /* backlog that was given to listen() */
    /* the missing bytes (given up by best effort) that a read has reached last; len 0: none yet */
    struct scps_hole hole;
    /* values of options that neither the connection nor `conf` has */
    bool reuseaddr, reuseport, v6only, cork, addr_no_port;
    int debug, broadcast, priority;
    bool linger;
    int linger_s;
    uint32_t rcvlowat, notsent_lowat;
    /* how many allocations the stack had refused (scps_sock_refusals()) at the latest of these
     * times: when the socket was made, at a read with an SO_RCVLOWAT above 1, or at the beginning
     * of a read with MSG_PEEK and MSG_WAITALL. If more were refused since then, such a read returns
     * what has arrived, because the rest may not fit */
    uint64_t refusals;
    /* SO_RCVTIMEO and SO_SNDTIMEO, µs; SCPS_NEVER: no timeout; 0: calls do not wait */
    scps_dur rcvtimeo, sndtimeo;
};

struct slot_pkt {
    scps_time at;
    uint32_t len;
};

struct scps_ctx {
    struct scps_ctx_config cfg;
    struct scps_alloc alloc;
    struct scps_stack *st;
    bool own; /* true: the context opened the stack and its netif, and frees them */
    struct scps_netif nif;
    scps_time now;
    uint64_t serial;
    /* secret key for choosing the ports of sockets that are bound to port 0 */
    uint64_t port_key[2];
    uint32_t port_next; /* number of ports chosen for port 0 so far */
    /* the table of descriptors: the socket of each, NULL: the descriptor is free */
    struct sock **slot;
    uint32_t nslot;
    /* list of the calls that are blocked in this context */
    struct scps_wait *waits;
    /* Packets that the stack has sent and that wait until the application takes them by
     * scps_ctx_take(): a ring of qcap places of one MTU each, which doubles when full, up to
     * cfg.queue_packets. The qlen packets in the ring begin at place qhead; qmeta has their times
     * and lengths, qbuf their bytes. */
    struct slot_pkt *qmeta;
    uint8_t *qbuf;
    uint32_t qcap, qhead, qlen;
    bool turning;
};

static inline void *scps_sock_alloc(struct scps_ctx *ctx, size_t n)
{
    return ctx->alloc.alloc(ctx->alloc.ctx, n);
}

static inline void scps_sock_free(struct scps_ctx *ctx, void *p, size_t n)
{
    if (p)
        ctx->alloc.free(ctx->alloc.ctx, p, n);
}

static inline scps_time scps_sock_now(const struct scps_ctx *ctx)
{
    if (ctx->own)
        return ctx->now;
    return ctx->cfg.now ? ctx->cfg.now(ctx->cfg.user) : scps_stack_now(ctx->st);
}

/* Returns the time `dur` µs from now; SCPS_NEVER if dur is SCPS_NEVER. */
static inline scps_time scps_sock_after(const struct scps_ctx *ctx, scps_dur dur)
{
    scps_time now = scps_sock_now(ctx);
    return dur >= SCPS_NEVER - now ? SCPS_NEVER : now + dur;
}

/* ---- functions in wait.c, which find the blocked calls that can continue ---- */
/* Returns true if any blocked call can continue. */
bool scps_waits_any_over(const struct scps_ctx *ctx);
/* Returns the earliest deadline of a blocked call, µs; SCPS_NEVER: no blocked call has a
 * deadline. */
scps_time scps_waits_deadline(const struct scps_ctx *ctx);

/* ---- functions in ctx.c, called at the beginning and the end of each call ---- */
void scps_sock_enter(struct scps_ctx *ctx);
/* Ends a call of the public interface with result r, where r below 0 is -errno: sends the packets
 * that are due and wakes the blocked calls that can continue. Returns r, or -1 with errno set. */
int64_t scps_sock_leave(struct scps_ctx *ctx, int64_t r);
/* Ends a call that has changed nothing, so that no packet has become due and no blocked call can
 * continue. r below 0 is -errno. Returns r, or -1 with errno set. */
int64_t scps_sock_leave_quiet(struct scps_ctx *ctx, int64_t r);
/* Advances the stack to the time that scps_ctx_config.now returns; does nothing if the context has
 * not opened the stack itself, or `now` is NULL. */
void scps_sock_catch_up(struct scps_ctx *ctx);
void scps_sock_turn(struct scps_ctx *ctx);

/* ---- functions in fd.c, which manage descriptors ---- */
/* Returns the socket of a descriptor, after updating its state from that of its connection; NULL:
 * the descriptor is not open, so the call fails with EBADF. */
struct sock *scps_sock_find(struct scps_ctx *ctx, int fd);
int scps_sock_fd(const struct sock *s);
/* Creates a socket with the lowest free descriptor. Returns 0, -EMFILE or -ENOMEM. */
int scps_sock_new(struct scps_ctx *ctx, struct sock **out);
void scps_sock_detach(struct sock *s); /* Frees the descriptor of s, but not s itself. */
void scps_sock_destroy(struct sock *s);

/* ---- functions in block.c, for calls that block ---- */
/* Waits, with the lock released, until *s is ready for dir (with `need` bytes when reading), then
 * looks the socket up again. Returns 0; -EAGAIN when the socket does not block, or the deadline has
 * passed; -EBADF when the socket was closed meanwhile; or the error of scps_ctx_config.wait. */
int scps_sock_block(struct sock **s, enum scps_wait_dir dir, size_t need, scps_time deadline);
int scps_sock_block_on(struct scps_ctx *ctx, struct scps_wait *w);

/* ---- functions in errno.c, which convert errors to errno values ---- */
/* Converts an SCPS_ERR_* to a positive errno value. */
int scps_sock_errno(int err);
/* Converts an ICMP error, type << 8 | code, to a positive errno value; family: 4 or 6. */
int scps_sock_icmp_errno(unsigned family, unsigned icmp);

/* ---- functions in state.c, which compute the state of a stream socket ---- */
void scps_sock_refresh(struct sock *s);
void scps_sock_hear(struct sock *s, const struct scps_event *ev);
enum scps_state scps_sock_state(const struct sock *s);
/* Returns how many allocations the stack has refused because of its memory_limit. */
uint64_t scps_sock_refusals(const struct scps_ctx *ctx);
/* Returns true if a read on s that wants `need` octets need not wait longer: they have arrived; or
 * the octets that have arrived end at the end of a record, or at a hole (octets that best effort
 * has given up), beyond which one read does not go (scps_conn_stops()); or some have arrived, and
 * since s->refusals was set the stack has refused memory, so that the rest may never fit. */
bool scps_sock_readable(const struct sock *s, size_t need);
/* Returns true if both ends have agreed on best effort (SCPS-TP BETS: lost data may be given up)
 * for the connection of s. */
bool scps_sock_best_effort(const struct sock *s);
/* Returns the number of bytes that a send call would accept now without blocking. */
size_t scps_sock_room(const struct sock *s);
bool scps_sock_ready(struct sock *s, enum scps_wait_dir dir, size_t need);
/* Returns the events that poll() reports, SCPS_POLL*. */
unsigned scps_sock_events(const struct sock *s);
/* Closes the connection or listener of s. After that, s is in the state that it had before
 * connect() or listen(). */
void scps_sock_disconnect(struct sock *s);

/* ---- functions in addr.c, for socket addresses and conflicts of ports ---- */
/* Parses an address that a program has passed for s into *ep, and checks it as Linux does for a
 * socket of this domain. Returns 0, -EFAULT (addr is NULL), -EINVAL or -EAFNOSUPPORT. */
int scps_sock_addr_in(const struct sock *s, const void *addr, uint32_t len,
                      struct scps_endpoint *ep);
/* Checks whether s can send to the family of `to`: a socket bound to ::ffff:a.b.c.d or
 * ::ffff:0.0.0.0 has no IPv6 address, and one bound to an IPv6 address has no IPv4 address. Returns
 * 0, -EAFNOSUPPORT or -ENETUNREACH, as Linux does. */
int scps_sock_reaches(const struct sock *s, const struct scps_endpoint *to);
/* Writes ep as a socket address to addr as Linux's kernel does: cut to *len bytes, and then *len is
 * set to the whole length. Returns 0, -EINVAL or -EFAULT. */
int scps_sock_addr_out(const struct sock *s, const struct scps_endpoint *ep, void *addr,
                       uint32_t *len);
/* Returns the local address that s has when it is bound to no address (the wildcard of its domain);
 * family 0 means both IPv4 and IPv6. */
struct scps_addr scps_sock_any(const struct sock *s);
/* Returns true if s cannot be bound to ep, because another socket, or a connection or listener of
 * the stack, uses that address and port. */
bool scps_sock_conflict(const struct sock *s, const struct scps_endpoint *ep);
/* Binds s to ep; if ep->port is 0, a free port is chosen. Returns 0, -EADDRINUSE. */
int scps_sock_take_port(struct sock *s, const struct scps_endpoint *ep);
/* Returns the user pointer for the connection, listener or datagram endpoint of s: the index of s
 * plus 1. The stack's events contain it, and so lead to the socket. */
static inline void *scps_sock_handle(const struct sock *s)
{
    return (void *)((uintptr_t)s->index + 1);
}

/* Functions of dgram.c for datagram sockets. They return 0, a count, or -errno. */
struct vec;
/* Opens the stack's datagram endpoint at the local address of s, if s has none yet. */
int scps_sock_dgram_open(struct sock *s);
int scps_sock_dgram_connect(struct sock *s, const void *addr, uint32_t len);
int64_t scps_sock_dgram_send(struct sock *s, const struct vec *v, int flags, const void *addr,
                             uint32_t len);
/* Receives a datagram. If the call blocks, *sp is looked up again afterwards, since the socket may
 * have been closed. *from: the sender; *end (may be NULL): SCPS_MSG_TRUNC or 0. */
int64_t scps_sock_dgram_recv(struct sock **sp, const struct vec *v, int flags,
                             struct scps_endpoint *from, int *end);
void scps_sock_dgram_apply(struct sock *s);

/* ---- functions in dgramstate.c, which compute the state of a datagram socket ---- */
void scps_sock_dgram_disconnect(struct sock *s);
int scps_sock_dgram_shutdown(struct sock *s, unsigned bits);
void scps_sock_dgram_hear(struct sock *s, const struct scps_event *ev);
bool scps_sock_dgram_ready(const struct sock *s, enum scps_wait_dir dir);
unsigned scps_sock_dgram_events(const struct sock *s);
/* Returns the number of bytes for ioctl request `request`: FIONREAD: those of the oldest datagram
 * received; any other: those of packets waiting to be sent. */
uint64_t scps_sock_dgram_queued(const struct sock *s, unsigned long request);

/* ---- functions in optconf.c, which apply the configuration of a socket ---- */
/* Applies the socket's configuration to its connection, listener or datagram endpoint. Returns 0 or
 * -errno. */
int scps_sock_apply(struct sock *s);

/* Functions of optsock.c and optip.c: copy the options of the listening socket `from` to s, which
 * accept created. */
void scps_sock_inherit_socket(struct sock *s, const struct sock *from);
void scps_sock_inherit_ip(struct sock *s, const struct sock *from);
/* Function of optip.c, called when bind() has given s an IPv6 address that is no wildcard: sets the
 * option IPV6_V6ONLY, since s can use IPv6 only. */
void scps_sock_bound_to_ipv6(struct sock *s);

/* Function of fcntl.c: sets the flags of the descriptor, SCPS_SOCK_NONBLOCK and
 * SCPS_SOCK_CLOEXEC. */
void scps_sock_set_flags(struct sock *s, int flags);

/* ---- functions in tcpinfo.c, for TCP_INFO ---- */
void scps_sock_tcp_info(const struct sock *s, struct scps_tcp_info *ti);

#endif
