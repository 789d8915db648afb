/* SPDX-License-Identifier: MIT */
/* What the files of the socket layer share: the context, a socket, and how a call is put together.
 *
 *   public call      scps_sock_enter: lock, let the clock catch up
 *     find           descriptor -> socket, its view of the connection brought up to date
 *     ... work ...   in negative errno values; a call that must wait goes through scps_sock_block
 *   scps_sock_leave  serve what is due, wake whoever waits, unlock, set errno
 *
 * A socket is Linux's struct socket and struct sock as far as they can be told apart from outside:
 * `ss` is the progress of connect, scps_sock_state the TCP state as Linux would say it, `shut`
 * sk_shutdown, `done` SOCK_DONE (the FIN has arrived), `err` sk_err. The connection below is kept
 * until the socket is closed or disconnected, so that what had arrived before it died can still be
 * read.
 */
#ifndef SCPS_SOCKET_SOCK_H
#define SCPS_SOCKET_SOCK_H

#include <errno.h>
#include <scps/dgram.h>
#include <scps/socket.h>

#include "base/bytes.h"
#include "base/prng.h"

/* Where <errno.h> has no such number, its nearest neighbour. */
#ifndef ESOCKTNOSUPPORT
#define ESOCKTNOSUPPORT EPROTONOSUPPORT
#endif
#ifndef EHOSTDOWN
#define EHOSTDOWN EHOSTUNREACH
#endif
#ifndef ENONET
#define ENONET EHOSTUNREACH
#endif

enum ss { SS_UNCONNECTED, SS_CONNECTING, SS_CONNECTED, SS_DISCONNECTING };

#define SHUT_RCV  1u
#define SHUT_SEND 2u

struct sock {
    struct scps_ctx *ctx;
    uint64_t serial; /* tells it from a later socket with the same descriptor */
    uint32_t index;  /* its place in ctx->slot; UINT32_MAX: it has no descriptor any more */
    int domain;
    bool nonblock, cloexec;
    enum ss ss;
    struct scps_listener *lis;
    struct scps_conn *conn;
    bool dgram;            /* SOCK_DGRAM: none of these two, but */
    struct scps_dgram *dg; /* this one, from bind, connect or the first datagram on */
    /* names: what getsockname says; what the owner has asked for and keeps over a disconnect */
    struct scps_endpoint local, remote;
    bool bound, bound_addr, bound_port;
    uint32_t backlog;
    /* the end of it */
    unsigned shut;         /* SHUT_*, by us or by the peer */
    unsigned shut_app;     /* SHUT_*, by us alone */
    bool done;             /* the peer's FIN has arrived in order */
    bool dead;             /* the connection is over: Linux's TCP_CLOSE */
    uint64_t shut_at;      /* bytes received when both sides had been shut down by us */
    int err;               /* pending, positive errno value; 0 none */
    unsigned icmp;         /* the soft error SO_ERROR has told of already */
    bool seqpacket;        /* each send is a record */
    struct scps_hole hole; /* the one a read met last; len 0: none yet */
    /* options that are not in conn's configuration */
    struct scps_conn_config cfg;
    enum scps_ack_mode ack_mode; /* to go back to from quickack */
    bool reuseaddr, reuseport, v6only, cork, quickack, addr_no_port;
    int debug, broadcast, priority, pmtudisc;
    bool linger;
    int linger_s;
    uint32_t rcvlowat, notsent_lowat;
    scps_dur rcvtimeo, sndtimeo; /* SCPS_NEVER: none; 0: do not wait */
};

struct slot_pkt {
    scps_time at;
    uint32_t len;
};

struct scps_ctx {
    struct scps_ctx_config cfg;
    struct scps_alloc alloc;
    struct scps_stack *st;
    bool own; /* the stack and the netif are ours */
    struct scps_netif nif;
    scps_time now;
    uint64_t serial;
    struct scps_prng prng;
    /* descriptors */
    struct sock **slot;
    uint32_t nslot;
    /* calls that wait now */
    struct scps_wait *waits;
    /* packets for take: a ring of qcap rooms of an MTU, grown by doubling */
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

/* dur from now; SCPS_NEVER for SCPS_NEVER. */
static inline scps_time scps_sock_after(const struct scps_ctx *ctx, scps_dur dur)
{
    scps_time now = scps_sock_now(ctx);
    return dur >= SCPS_NEVER - now ? SCPS_NEVER : now + dur;
}

/* wait.c */
/* Is the wait of any call over? */
bool scps_waits_any_over(const struct scps_ctx *ctx);
/* The earliest deadline of a call that waits; SCPS_NEVER: there is none. */
scps_time scps_waits_deadline(const struct scps_ctx *ctx);

/* ctx.c */
void scps_sock_enter(struct scps_ctx *ctx);
/* r below 0: -errno. Returns r, or -1 with errno set. */
int64_t scps_sock_leave(struct scps_ctx *ctx, int64_t r);
int64_t scps_sock_leave_quiet(struct scps_ctx *ctx, int64_t r); /* nothing has changed */
/* Moves the context's own time to that of cfg.now, if it has both. */
void scps_sock_catch_up(struct scps_ctx *ctx);
void scps_sock_turn(struct scps_ctx *ctx);

/* fd.c */
/* The socket of a descriptor, up to date; NULL: EBADF. */
struct sock *scps_sock_find(struct scps_ctx *ctx, int fd);
int scps_sock_fd(const struct sock *s);
/* A new socket in the lowest free descriptor. 0, -EMFILE, -ENOMEM. */
int scps_sock_new(struct scps_ctx *ctx, struct sock **out);
bool scps_sock_full(const struct scps_ctx *ctx); /* every descriptor is in use */
void scps_sock_detach(struct sock *s);           /* frees the descriptor, not the socket */
void scps_sock_destroy(struct sock *s);

/* block.c */
/* Waits, unlocked, until *s is ready for dir (need bytes of it, reading), then finds it again. 0;
 * -EAGAIN when nothing may wait, or time is up; -EBADF when it was closed meanwhile; what cfg.wait
 * said. */
int scps_sock_block(struct sock **s, enum scps_wait_dir dir, size_t need, scps_time deadline);
int scps_sock_block_on(struct scps_ctx *ctx, struct scps_wait *w);

/* errno.c */
int scps_sock_errno(int err);             /* SCPS_ERR_* -> positive errno value */
int scps_sock_take_error(struct sock *s); /* and clears it; positive */
int scps_sock_icmp_errno(const struct sock *s, unsigned icmp);

/* state.c */
void scps_sock_refresh(struct sock *s);
void scps_sock_hear(struct sock *s, const struct scps_event *ev);
enum scps_state scps_sock_state(const struct sock *s);
bool scps_sock_readable(const struct sock *s, size_t need);
size_t scps_sock_room(const struct sock *s); /* bytes a send would take now */
bool scps_sock_ready(struct sock *s, enum scps_wait_dir dir, size_t need);
unsigned scps_sock_events(const struct sock *s); /* SCPS_POLL* */
void scps_sock_unlisten(struct sock *s);         /* lets go of the listener, if there is one */
/* Lets go of connection or listener and is as it was before connect or listen. */
void scps_sock_disconnect(struct sock *s);

/* addr.c */
/* 0, or -EINVAL, -EAFNOSUPPORT as Linux checks an address for a socket of this domain. */
int scps_sock_addr_in(const struct sock *s, const void *addr, uint32_t len,
                      struct scps_endpoint *ep);
/* Gives an address out as the kernel does: cut to *len, *len set to the true length. 0, -EINVAL,
 * -EFAULT. */
int scps_sock_addr_out(const struct sock *s, const struct scps_endpoint *ep, void *addr,
                       uint32_t *len);
/* The address a socket bound to "any" has: family 0 is both of them (dual stack). */
struct scps_addr scps_sock_any(const struct sock *s);
/* Would s conflict with another user of ep? */
bool scps_sock_conflict(const struct sock *s, const struct scps_endpoint *ep);
/* Binds s to ep, choosing a port when it has none. 0, -EADDRINUSE. */
int scps_sock_take_port(struct sock *s, const struct scps_endpoint *ep);
/* What open.c gives connections and endpoints as their user. */
static inline void *scps_sock_handle(const struct sock *s)
{
    return (void *)((uintptr_t)s->index + 1);
}

/* dgram.c: what a socket of datagrams does otherwise; 0 or a count, or -errno */
struct vec;
int scps_sock_dgram_open(struct sock *s); /* at s->local, if it is not open yet */
int scps_sock_dgram_connect(struct sock *s, const void *addr, uint32_t len);
int64_t scps_sock_dgram_send(struct sock *s, const struct vec *v, int flags, const void *addr,
                             uint32_t len);
/* *sp: looked up again. *from: who sent it; *end (may be NULL): SCPS_MSG_TRUNC. */
int64_t scps_sock_dgram_recv(struct sock **sp, const struct vec *v, int flags,
                             struct scps_endpoint *from, int *end);
void scps_sock_dgram_apply(struct sock *s);

/* dgramstate.c */
void scps_sock_dgram_disconnect(struct sock *s);
int scps_sock_dgram_shutdown(struct sock *s, unsigned bits);
void scps_sock_dgram_hear(struct sock *s, const struct scps_event *ev);
bool scps_sock_dgram_ready(const struct sock *s, enum scps_wait_dir dir);
unsigned scps_sock_dgram_events(const struct sock *s);
uint64_t scps_sock_dgram_queued(const struct sock *s, unsigned long request); /* for ioctl */

/* optconf.c */
/* Hands s->cfg to the connection or listener. 0 or -errno. */
int scps_sock_apply(struct sock *s);

/* optsock.c, optip.c: s, made by accept, has the options of from, which listens */
void scps_sock_inherit_socket(struct sock *s, const struct sock *from);
void scps_sock_inherit_ip(struct sock *s, const struct sock *from);

/* fcntl.c: the flags of the descriptor, SCPS_SOCK_NONBLOCK and SCPS_SOCK_CLOEXEC */
void scps_sock_set_flags(struct sock *s, int flags);

/* tcpinfo.c */
void scps_sock_tcp_info(const struct sock *s, struct scps_tcp_info *ti);

#endif
