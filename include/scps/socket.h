/* SPDX-License-Identifier: MIT */
/* BSD sockets without an operating system, for porting programs and for conformance tools: the
 * program passes packets and the time to a context, which has descriptors and sets errno.
 *
 * Each socket call is Linux's of the same name, with the context as an additional first argument;
 * names of constants begin with SCPS_. Their values, and the layouts of the structures, are those
 * of 64-bit Linux, so that a program or a packetdrill adaptor passes its own through unchanged. A
 * call that fails returns -1 and sets errno. No call raises a signal.
 *
 * A context is one host: a stack, its sockets, no globals. It is driven in one of two ways.
 *
 *  Packets by hand, any clock          Over devices, in real time
 *  --------------------------          --------------------------
 *  scps_ctx_inject   a packet in       cfg.stack and cfg.kick belong to a driver that hands every
 *  scps_ctx_take     a packet out      scps_event to scps_ctx_event; <scps/io.h> has one for libev,
 *  scps_ctx_advance  time passes       scps_sockloop
 *
 *     struct scps_ctx_config cfg = scps_ctx_config_linux();      // plain TCP, Linux's timers
 *     struct scps_ctx *ctx = scps_ctx_new(&cfg);
 *     scps_ctx_add_addr(ctx, &my_addr, 24);
 *     int s = scps_socket(ctx, SCPS_AF_INET, SCPS_SOCK_STREAM, 0);
 *     scps_sock_connect(ctx, s, &peer, sizeof peer);          // -1, EINPROGRESS: nobody waits here
 *     n = scps_ctx_take(ctx, buf, sizeof buf, &sent_at);         // the SYN
 *     scps_ctx_inject(ctx, synack, len, sent_at + 10000);        // answered 10 ms later
 *     scps_sock_connect(ctx, s, &peer, sizeof peer);             // 0
 *
 * Blocking is the program's choice. A socket call that must wait calls the program's function
 * cfg.wait, with no lock held, until the call can continue; if cfg.wait is NULL, every socket
 * behaves as if O_NONBLOCK were set. cfg.lock and cfg.unlock surround every entry: give them a
 * mutex and threads may share a context.
 *
 * docs/howto/sockets.md has every option and every difference from Linux; docs/howto/conformance.md
 * drives it from a packetdrill-like tool.
 */
#ifndef SCPS_SOCKET_H
#define SCPS_SOCKET_H

#include <scps/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

struct scps_ctx;

/* ---- constants, with the values of Linux ---- */

/* domains and types of sockets */
enum {
    SCPS_AF_UNSPEC = 0,
    SCPS_AF_INET = 2,
    SCPS_AF_INET6 = 10,
    SCPS_SOCK_STREAM = 1,
    SCPS_SOCK_DGRAM = 2,     /* UDP */
    SCPS_SOCK_SEQPACKET = 5, /* a stream with record boundaries: each send is one record */
    /* flags that are OR-ed to the type in scps_socket(), and flags of scps_sock_accept4() */
    SCPS_SOCK_NONBLOCK = 04000,
    SCPS_SOCK_CLOEXEC = 02000000
};

/* levels of scps_sock_getsockopt() and scps_sock_setsockopt() */
enum {
    SCPS_SOL_IP = 0,
    SCPS_SOL_SOCKET = 1,
    SCPS_SOL_TCP = 6,
    SCPS_SOL_UDP = 17, /* protocol number of UDP; no socket option has this level */
    SCPS_SOL_IPV6 = 41,
    SCPS_SOL_SCPS_ROUTE = 0xfc, /* level SCPS_ROUTE of the SCPS reference implementation */
    /* level PROTO_SCPSTP of the SCPS reference implementation; the options with numbers from 0x100
     * on are additions of this library */
    SCPS_SOL_SCPS = 0xfe,
    SCPS_SOL_SCPS_SOCKET = 0xff /* level SCPS_SOCKET of the SCPS reference implementation */
};

/* Options of level SCPS_SOL_SOCKET. Values are int, and options can be read and set, unless a
 * comment says otherwise. */
enum {
    SCPS_SO_DEBUG = 1,
    SCPS_SO_REUSEADDR = 2,
    SCPS_SO_TYPE = 3,  /* read-only: the type of the socket */
    SCPS_SO_ERROR = 4, /* read-only: the pending error as errno value; reading clears it */
    SCPS_SO_BROADCAST = 6,
    /* send buffer, bytes of payload; unlike in Linux, the value is not doubled */
    SCPS_SO_SNDBUF = 7,
    /* receive buffer, bytes of payload; unlike in Linux, the value is not doubled */
    SCPS_SO_RCVBUF = 8,
    SCPS_SO_KEEPALIVE = 9,
    SCPS_SO_OOBINLINE = 10, /* always 1: urgent data stays in the stream */
    SCPS_SO_PRIORITY = 12,
    SCPS_SO_LINGER = 13, /* struct scps_linger */
    SCPS_SO_REUSEPORT = 15,
    SCPS_SO_RCVLOWAT = 18,
    SCPS_SO_SNDLOWAT = 19,   /* read-only, always 1 */
    SCPS_SO_RCVTIMEO = 20,   /* struct scps_timeval */
    SCPS_SO_SNDTIMEO = 21,   /* struct scps_timeval */
    SCPS_SO_ACCEPTCONN = 30, /* read-only: 1 if the socket listens */
    SCPS_SO_SNDBUFFORCE = 32,
    SCPS_SO_RCVBUFFORCE = 33,
    SCPS_SO_PROTOCOL = 38,       /* read-only: protocol of the socket */
    SCPS_SO_DOMAIN = 39,         /* read-only: domain of the socket */
    SCPS_SO_MAX_PACING_RATE = 47 /* bytes/s, 4 or 8 bytes; all ones: no limit */
};

/* Options of level SCPS_SOL_TCP. Values are int unless a comment says otherwise. */
enum {
    SCPS_TCP_NODELAY = 1,
    SCPS_TCP_MAXSEG = 2,
    SCPS_TCP_CORK = 3,
    SCPS_TCP_KEEPIDLE = 4,  /* idle time before keep-alive probes, seconds */
    SCPS_TCP_KEEPINTVL = 5, /* time between keep-alive probes, seconds */
    SCPS_TCP_KEEPCNT = 6,
    SCPS_TCP_SYNCNT = 7,
    SCPS_TCP_LINGER2 = 8,   /* time in FIN-WAIT-2 after a close, seconds */
    SCPS_TCP_INFO = 11,     /* read-only: struct scps_tcp_info */
    SCPS_TCP_QUICKACK = 12, /* 1: every segment is acknowledged at once; 0: as configured */
    /* text: the name of a controller; on setting, ",key=value..." may follow */
    SCPS_TCP_CONGESTION = 13,
    SCPS_TCP_USER_TIMEOUT = 18, /* user timeout (RFC 5482), milliseconds */
    SCPS_TCP_NOTSENT_LOWAT = 25
};

/* Options of levels SCPS_SOL_IP and SCPS_SOL_IPV6. */
enum {
    SCPS_IP_TOS = 1,
    SCPS_IP_TTL = 2,
    SCPS_IP_MTU_DISCOVER = 10, /* SCPS_PMTUDISC_* */
    SCPS_IP_MTU = 14,          /* read-only: path MTU of a connected socket, bytes */
    SCPS_IP_BIND_ADDRESS_NO_PORT = 24,
    SCPS_IPV6_UNICAST_HOPS = 16,
    SCPS_IPV6_MTU_DISCOVER = 23,
    SCPS_IPV6_MTU = 24, /* read-only: path MTU of a connected socket, bytes */
    SCPS_IPV6_V6ONLY = 26,
    SCPS_IPV6_TCLASS = 67,
    SCPS_PMTUDISC_DONT = 0,
    SCPS_PMTUDISC_WANT = 1,
    SCPS_PMTUDISC_DO = 2,
    SCPS_PMTUDISC_PROBE = 3,
    SCPS_PMTUDISC_INTERFACE = 4,
    SCPS_PMTUDISC_OMIT = 5
};

/* Options of level SCPS_SOL_SCPS with the numbers and units of the SCPS reference implementation:
 * values are int, times in milliseconds. */
enum {
    SCPS_TP_MAXSEG = 0x01,
    SCPS_TP_NODELAY = 0x02,
    SCPS_TP_ACKDELAY = 0x03,
    SCPS_TP_ACKBEHAVE = 0x05, /* acknowledgement mode, enum scps_ack_mode: 0, 1 or 2 */
    SCPS_TP_RTOMIN = 0x06,
    SCPS_TP_PERSISTTIME = 0x08, /* longest time between window probes, ms */
    /* how long data is resent to a silent peer before the connection ends, as a number of timeouts
     * in a row; see SCPS_TP_DATA_RETRIES */
    SCPS_TP_TIMEOUT = 0x09,
    /* how long a SYN is resent before the connection ends, as a number of timeouts in a row; see
     * SCPS_TP_SYN_RETRIES */
    SCPS_TP_LONGTIMEOUT = 0x0a,
    SCPS_TP_2MSLTIMEOUT = 0x0b,
    SCPS_TP_BETS_RTIMEOUT = 0x0c,
    SCPS_TP_TIMESTAMP = 0x0d,
    SCPS_TP_SNACK = 0x0f,
    SCPS_TP_BETS = 0x10,
    /* setting 1 selects controller "vegas", 0 "rate"; reading returns 1 if it is "vegas" */
    SCPS_TP_VEGAS_CONGEST = 0x12,
    /* setting 1 selects controller "vj", 0 "rate"; reading returns 1 if it is "vj" */
    SCPS_TP_VJ_CONGEST = 0x13,
    SCPS_TP_VEGAS_ALPHA = 0x14, /* the controller's parameter alpha; ENOPROTOOPT: it has none */
    SCPS_TP_VEGAS_BETA = 0x15,
    SCPS_TP_VEGAS_GAMMA = 0x16,
    SCPS_TP_SNACKDELAY = 0x17,
    SCPS_TP_RTOMAX = 0x1e,
    /* Options of level SCPS_SOL_SCPS_ROUTE. In spite of the level's name they set nothing for a
     * route: each affects only the socket on which it is set. */
    SCPS_ROUTE_RATE = 1, /* rate limit of the socket on the wire, bit/s; 0: unlimited */
    SCPS_ROUTE_RTT = 3,  /* round trip that is assumed before one is measured, ms */
    SCPS_ROUTE_IRTO = 7, /* initial retransmission timeout, ms */
    /* Options of level SCPS_SOL_SCPS_SOCKET, about best effort (BETS), by which data that does not
     * arrive in time is given up and skipped. All are read-only; EOPNOTSUPP unless both ends of the
     * connection have offered best effort. */
    SCPS_SO_BETS_RHOLE_SIZE =
        /* Length, bytes, of the hole (data that best effort gave up) at which the last read
         * stopped; ENODATA before the first hole */
    0x1009,
    /* position of the hole (data that best effort gave up) at which the last read stopped: number
     * of bytes of the stream before it; ENODATA before the first hole */
    SCPS_SO_BETS_RHOLE_START = 0x100a,
    SCPS_SO_BETS_NUM_SEND_HOLES = 0x100b, /* number of ranges that the sender gave up */
    /* reads an array of struct scps_hole: as many of the ranges that the sender gave up as fit */
    SCPS_SO_BETS_SEND_HOLES = 0x100c
};

/* Options of level SCPS_SOL_SCPS of this library: the fields of struct scps_conn_config, in their
 * units (µs, bytes, bytes/s). The value is an int64_t, or an int when optlen is 4. The comment of a
 * field in <scps/conn.h> says more about it: terms, default, bounds, and what 0 means. */
enum {
    /* the program tools/settings writes the next lines from settings.def */
    /* Rate limit on the wire, IP header and framing counted. Pure rate control, which needs a rate,
     * uses this one. In bytes/s. */
    SCPS_TP_RATE = 0x100,
    /* Bytes that rate and ack_budget count for each packet beyond its IP length: the link's
     * framing. Number of bytes. */
    SCPS_TP_RATE_OVERHEAD = 0x101,
    /* How much may be sent back to back under rate after a pause. It is the size of the token
     * bucket. By default the bucket is smaller while losses of small segments are repaired, and
     * after two timeouts of small segments: four packets of their mean length. In bytes. */
    SCPS_TP_BURST = 0x102,
    /* Spread each congestion window over the smoothed round trip. It is always on where
     * acknowledgements wait for the timer (ack_mode delayed), because each such acknowledgement
     * would release a whole window at once. 0 (off) or 1 (on). */
    SCPS_TP_PACING = 0x103,
    /* Initial congestion window. Number of segments. */
    SCPS_TP_INIT_CWND = 0x104,
    /* Offer and accept selective acknowledgements. 0 (off) or 1 (on). */
    SCPS_TP_SACK = 0x105,
    /* Report data that arrived twice, which shows the peer which retransmissions were needless. 0
     * (off) or 1 (on). */
    SCPS_TP_DSACK = 0x106,
    /* Offer and accept timestamps; they take 12 bytes of each segment. 0 (off) or 1 (on). */
    SCPS_TP_TIMESTAMPS = 0x107,
    /* Offer and accept window scaling; without it no window is larger than 65535 bytes. 0 (off) or
     * 1 (on). */
    SCPS_TP_WSCALE = 0x108,
    /* Offer and accept explicit congestion notification. A SYN that is sent again does not offer
     * it, so one lost SYN leaves the connection without it (RFC 3168 section 6.1.1.1). 0 (off) or 1
     * (on). */
    SCPS_TP_ECN = 0x109,
    /* Send new data on the first two duplicate acknowledgements. 0 (off) or 1 (on). */
    SCPS_TP_LIMITED_TRANSMIT = 0x10a,
    /* Restore the congestion window after a loss recovery that proves spurious (F-RTO, timestamps,
     * DSACK). 0 (off) or 1 (on). */
    SCPS_TP_SPURIOUS_UNDO = 0x10b,
    /* How many duplicate acknowledgements are taken for a loss. A path that reorders packets needs
     * more; a SNACK causes a retransmission whatever the threshold. Number of acknowledgements. */
    SCPS_TP_DUPTHRESH = 0x10c,
    /* The cause that is assumed for a loss or a timeout that nothing explains. With corruption,
     * losses do not reduce the congestion window, and timeouts do not back off. An outage has a
     * beginning and an end, so only the link can report one. 0 (congestion), 1 (corruption). */
    SCPS_TP_LOSS_CAUSE = 0x10d,
    /* When the receiver acknowledges: when the timer expires (F0), every segment (F1), every other
     * one (F2). Where full segments arrive further apart than ack_delay, F2 acknowledges each at
     * once after the timer has expired for eight in a row, until the application writes. 0
     * (delayed), 1 (every), 2 (other). */
    SCPS_TP_ACK_MODE = 0x10e,
    /* Longest wait of a delayed acknowledgement. In µs. */
    SCPS_TP_ACK_DELAY = 0x10f,
    /* Round trip that is assumed before one has been measured; it sets the timers below. In µs. */
    SCPS_TP_EXPECTED_RTT = 0x110,
    /* Retransmission timeout before a round trip has been measured. In µs. */
    SCPS_TP_RTO_INITIAL = 0x111,
    /* Least margin of the retransmission timeout above the smoothed round trip. In µs. */
    SCPS_TP_RTO_MIN = 0x112,
    /* Longest retransmission timeout; never less than twice the smoothed round trip, up to an hour.
     * The hour limits that least value only, not the one set here. When the link comes back after
     * an outage, the sender may wait this long before it sends. A smaller value shortens that wait,
     * but also the time that data_retries gives a silent peer: raise that number for longer
     * outages. With outage_after neither a smaller timeout nor a larger number is needed: the
     * connection does not end, and probes detect the end of the outage. In µs. */
    SCPS_TP_RTO_MAX = 0x113,
    /* Longest time between probes of a closed window. In µs. */
    SCPS_TP_PERSIST_MAX = 0x114,
    /* How long a connection stays in TIME-WAIT (2 MSL). In µs. */
    SCPS_TP_TIME_WAIT = 0x115,
    /* How long a closed connection waits for the peer's FIN. In µs. */
    SCPS_TP_FIN_WAIT2 = 0x116,
    /* How long a SYN is resent: for the sum of this many timeouts and one more, each twice the one
     * before. In this sum the first timeout is 1 s at least, and rto_max 60 s at least; with 8 the
     * last SYN is sent after 183 s or later, and the attempt ends after 243 s or later. Number of
     * timeouts. */
    SCPS_TP_SYN_RETRIES = 0x117,
    /* How long data is resent to a silent peer: for the sum of this many timeouts and one more,
     * each twice the one before. It is never less than 100 s; for less see user_timeout. Timeouts
     * that corruption explains do not back off, so more of them fit into this time. Number of
     * timeouts. */
    SCPS_TP_DATA_RETRIES = 0x118,
    /* End the connection when nothing of what was sent has been acknowledged for this long. The
     * time of an outage does not count. In µs. */
    SCPS_TP_USER_TIMEOUT = 0x119,
    /* Silence before the first keep-alive probe. In µs. */
    SCPS_TP_KEEP_IDLE = 0x11a,
    /* Time between keep-alive probes. In µs. */
    SCPS_TP_KEEP_INTERVAL = 0x11b,
    /* Unanswered keep-alive probes that end the connection. Number of probes. */
    SCPS_TP_KEEP_COUNT = 0x11c,
    /* Use the long form of SNACK, too, whose bit vector reports more than one hole. 0 (off) or 1
     * (on). */
    SCPS_TP_SNACK_LONG = 0x11d,
    /* Count the blocks of a SNACK in units of the MSS instead of the MSS less the 12 bytes of
     * timestamps. Both ends have to use the same unit, and builds of the reference implementation
     * differ: otherwise the holes reported lie in the wrong place, and the wrong data is resent
     * until a timeout. Without timestamps both units are the MSS. 0 (off) or 1 (on). */
    SCPS_TP_SNACK_RAW_UNIT = 0x11e,
    /* How long the sender waits after a SNACK before it resends, because the segments may only be
     * late. It is for paths that are known to reorder packets; set dupthresh there, too. On any
     * path the sender waits as long as segments that counted as lost have been late (RFC 8985
     * section 6.2). In µs. */
    SCPS_TP_SNACK_DELAY = 0x11f,
    /* How many SYNs carry the SCPS capabilities (option 20) before one is sent without them. It is
     * for paths that drop packets with unknown options; after a SYN that is answered with a reset,
     * one without the option is sent at once. Where a link is down at the start, or loses SYNs, a
     * larger number keeps SNACK. Number of SYNs. */
    SCPS_TP_CAPS_TRIES = 0x120,
    /* The peer's window, as assumed until its first scaled window arrives. A SYN cannot offer more
     * than 65535 bytes. Where both ends are configured alike, as in the tests of
     * NASA/TM-2003-212001, this saves the first round trip. The peer may do the same, so this many
     * bytes are accepted from it even where this end's SYN offered a smaller window, as far as the
     * receive buffer holds them. In bytes. */
    SCPS_TP_FIRST_WINDOW = 0x121,
    /* Mark the ends of records (option 22) and report those of the peer to the reader. The option
     * is not negotiated: a peer that does not know it reads plain TCP. 0 (off) or 1 (on). */
    SCPS_TP_RECORDS = 0x122,
    /* Offer best effort also by TCP option 16, for peers older than the capabilities (option 20). 0
     * (off) or 1 (on). */
    SCPS_TP_BETS_LEGACY = 0x123,
    /* How long the receiver waits for missing data that its application would read next, before it
     * gives that data up. In µs. */
    SCPS_TP_BETS_TIMEOUT = 0x124,
    /* How often the sender resends a segment before it gives up the data. Number of resends. */
    SCPS_TP_BETS_RETRIES = 0x125,
    /* The sender gives up data that it sent this long ago, if nothing has been acknowledged since
     * then. The time counts from the latest of these events: new data was acknowledged; data was
     * sent while nothing was outstanding; data was given up; a window opened that probes had
     * tested; an outage ended. Resends do not restart it. All data sent up to that event is given
     * up together. A time shorter than a round trip gives up data before its acknowledgement can
     * come. In µs. */
    SCPS_TP_BETS_LIFETIME = 0x126,
    /* How losses are detected that no SNACK reports: by counting acknowledgements, or by the
     * time since sending. classic counts dupthresh acknowledgements (RFC 5681, RFC 6675); rack
     * has a reordering window that adapts, and a tail loss probe, and needs SACK. 0 (classic), 1
     * (rack). */
    SCPS_TP_RECOVERY = 0x127,
    /* With ack_mode other: how many segments, from the first on, are acknowledged one by one. It
     * helps a peer whose slow start counts acknowledgements. Number of segments. */
    SCPS_TP_QUICK_ACKS = 0x128,
    /* Limit for acknowledgements that carry no data, for a thin return link, headers and framing
     * counted. In bytes/s. */
    SCPS_TP_ACK_BUDGET = 0x129,
    /* Limit for acknowledgements that carry no data, for a thin return link. The next
     * acknowledgement reports what those held back would have reported. In packets/s. */
    SCPS_TP_ACK_BUDGET_PPS = 0x12a,
    /* Report damaged segments to the peer (option 23) if it knows SCPS options. 0 (off) or 1
     * (on). */
    SCPS_TP_CORRUPTION = 0x12b,
    /* How long after the peer has reported damage the sender attributes losses to corruption. In
     * µs. */
    SCPS_TP_CORRUPTION_HOLD = 0x12c,
    /* After this many timeouts in a row the next one is taken for a link outage: probes are sent,
     * and the connection does not end. The first probe is sent 5 s after that timeout, the next
     * ones 6, 12, 24, 48, 60, 60 ... s after the probe before; rto_max replaces each of these times
     * that is longer. When a segment of the peer arrives, sending continues with the window that
     * the timeouts left. Number of timeouts. */
    SCPS_TP_OUTAGE_AFTER = 0x12d,
    /* With ack_mode delayed: while data is missing, acknowledge every other segment, and at once
     * one that opens or fills a hole. Otherwise missing data is reported when the
     * delayed-acknowledgement timer expires. 0 (off) or 1 (on). */
    SCPS_TP_HOLES_AT_ONCE = 0x12e,
    /* One acknowledgement answers all segments that arrive together. Segments arrive together when
     * the driver hands them in with no output between them. When it is off, as many
     * acknowledgements are sent as if the segments had come one by one, for a peer that counts
     * acknowledgements. A limit for acknowledgements (ack_budget, ack_budget_pps, a route's rate)
     * takes precedence. 0 (off) or 1 (on). */
    SCPS_TP_STRETCH_ACKS = 0x12f,
    /* end of the lines that tools/settings writes */
    SCPS_TP_CC = 0x180, /* text: "vj", "rate", "name,key=value,..."; get returns all parameters */
    /* struct scps_conn_config: the whole configuration. EINVAL if scps_conn_config_check() refuses
     * it. A structure of an earlier version may be shorter. */
    SCPS_TP_CONFIG = 0x181,
    SCPS_TP_INFO = 0x182 /* read-only: struct scps_info; ENOTCONN without a connection */
};

/* flags of send and receive calls */
enum {
    SCPS_MSG_OOB = 1,
    SCPS_MSG_PEEK = 2,
    /* in receive calls: on a stream the bytes are discarded instead of stored; on a datagram socket
     * the call returns the whole length of the datagram, even if the buffer is shorter */
    SCPS_MSG_TRUNC = 0x20,
    SCPS_MSG_DONTWAIT = 0x40,
    SCPS_MSG_EOR = 0x80,
    SCPS_MSG_WAITALL = 0x100,
    SCPS_MSG_ERRQUEUE = 0x2000,
    SCPS_MSG_NOSIGNAL = 0x4000,
    SCPS_MSG_MORE = 0x8000,
    SCPS_MSG_FASTOPEN = 0x20000000
};

/* events of scps_sock_poll() */
enum {
    SCPS_POLLIN = 0x001,
    SCPS_POLLPRI = 0x002,
    SCPS_POLLOUT = 0x004,
    SCPS_POLLERR = 0x008,
    SCPS_POLLHUP = 0x010,
    SCPS_POLLNVAL = 0x020,
    SCPS_POLLRDNORM = 0x040,
    SCPS_POLLWRNORM = 0x100,
    SCPS_POLLRDHUP = 0x2000
};

/* constants of scps_sock_shutdown(), scps_sock_fcntl() and scps_sock_ioctl() */
enum {
    SCPS_SHUT_RD = 0,
    SCPS_SHUT_WR = 1,
    SCPS_SHUT_RDWR = 2,
    SCPS_F_GETFD = 1,
    SCPS_F_SETFD = 2,
    SCPS_F_GETFL = 3,
    SCPS_F_SETFL = 4,
    SCPS_FD_CLOEXEC = 1,
    SCPS_O_RDWR = 2,
    SCPS_O_NONBLOCK = 04000,
    SCPS_FIONREAD = 0x541b, /* int: number of bytes that a read would return */
    SCPS_SIOCINQ = 0x541b,
    SCPS_SIOCOUTQ =
        /* int: bytes written and not acknowledged; an unacknowledged FIN counts as one byte */
    0x5411,
    SCPS_SIOCOUTQNSD = 0x894b, /* int: bytes written and never sent */
    SCPS_FIONBIO = 0x5421,
    SCPS_SIOCATMARK = 0x8905 /* int: always 0, because the stack keeps no urgent mark */
};

/* ---- structures, with the layouts of Linux ---- */

/* Functions take an address as a pointer to void: pass a pointer to one of these structures, or on
 * Linux to the struct sockaddr_* of the system. */
struct scps_sockaddr {
    uint16_t sa_family;
    uint8_t sa_data[14];
};
struct scps_sockaddr_in {
    uint16_t sin_family; /* SCPS_AF_INET */
    /* port in network byte order, like all multi-byte fields of the address structures except the
     * family */
    uint16_t sin_port;
    uint8_t sin_addr[4];
    uint8_t sin_zero[8];
};
struct scps_sockaddr_in6 {
    uint16_t sin6_family; /* SCPS_AF_INET6 */
    uint16_t sin6_port;
    uint32_t sin6_flowinfo; /* ignored on input and 0 on output, as is sin6_scope_id */
    uint8_t sin6_addr[16];  /* ::ffff:a.b.c.d is the IPv4 address a.b.c.d, unless IPV6_V6ONLY */
    uint32_t sin6_scope_id;
};
struct scps_sockaddr_storage {
    uint16_t ss_family;
    uint8_t ss_pad[118];
    uint64_t ss_align;
};

/* Writes ep to *out as a socket address of domain SCPS_AF_INET or SCPS_AF_INET6 (an IPv4 address
 * becomes an IPv4-mapped one), or for domain 0 of the family of ep (SCPS_AF_INET if ep has family
 * 0). Returns the length of the address, octets; 0 if ep is IPv6 and the domain is SCPS_AF_INET. */
SCPS_API uint32_t scps_sockaddr_put(struct scps_sockaddr_storage *out, int domain,
                                    const struct scps_endpoint *ep);
/* Reads an address into *ep. Returns 0; -1 with errno EINVAL (too short) or EAFNOSUPPORT. */
SCPS_API int scps_sockaddr_get(const void *addr, uint32_t addrlen, struct scps_endpoint *ep);

struct scps_msghdr {
    /* Destination or source of a datagram. Ignored for streams, where recvmsg sets msg_namelen to
     * 0. */
    void *msg_name;
    uint32_t msg_namelen;
    struct scps_iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control; /* Control messages are not supported; recvmsg sets msg_controllen to 0 */
    size_t msg_controllen;
    /* Set by recvmsg. SCPS_MSG_EOR: a record ends here; SCPS_MSG_TRUNC: the buffer was too small
     * for the datagram */
    int msg_flags;
};
struct scps_pollfd {
    int fd;
    short events, revents;
};
struct scps_linger {
    int l_onoff, l_linger; /* l_linger is in seconds; l_onoff not 0 switches lingering on */
};
struct scps_timeval {
    int64_t tv_sec, tv_usec;
};

/* Value of option TCP_INFO. Fields that this stack cannot fill are 0. A field has a comment if it
 * is always 0, if its meaning differs from Linux, or if its unit is not obvious. */
struct scps_tcp_info {
    uint8_t tcpi_state; /* enum scps_state; TIME-WAIT shows as SCPS_CLOSED, as in Linux */
    /* congestion state as Linux numbers it: 0 open, 1 disorder, 3 recovery, 4 loss */
    uint8_t tcpi_ca_state;
    uint8_t tcpi_retransmits; /* number of consecutive timeouts, equal to tcpi_backoff */
    uint8_t tcpi_probes;      /* always 0 */
    uint8_t tcpi_backoff;
    /* features in force, as bits: 1 timestamps, 2 SACK, 4 window scale, 8 ECN */
    uint8_t tcpi_options;
    uint8_t tcpi_snd_wscale : 4, tcpi_rcv_wscale : 4;
    uint8_t tcpi_delivery_rate_app_limited : 1, tcpi_fastopen_client_fail : 2;
    uint32_t tcpi_rto, tcpi_ato;         /* µs */
    uint32_t tcpi_snd_mss, tcpi_rcv_mss; /* bytes */
    uint32_t tcpi_unacked,
        /* tcpi_unacked: segments not acknowledged; tcpi_sacked: segments that SACK reported. For a
         * listening socket: the number of connections waiting for accept, and the backlog */
        tcpi_sacked;
    uint32_t tcpi_lost;           /* segments */
    uint32_t tcpi_retrans;        /* always 0; Linux: segments resent and not acknowledged yet */
    uint32_t tcpi_fackets;        /* 0, as in Linux */
    uint32_t tcpi_last_data_sent; /* ms since any segment was sent; Linux: since data was sent */
    uint32_t tcpi_last_ack_sent;  /* 0, as in Linux */
    uint32_t tcpi_last_data_recv; /* ms since any segment arrived; Linux: since data arrived */
    uint32_t tcpi_last_ack_recv;  /* ms since an acknowledgement arrived */
    uint32_t tcpi_pmtu;
    uint32_t tcpi_rcv_ssthresh; /* bytes: the window that is offered to the peer */
    uint32_t tcpi_rtt, tcpi_rttvar;
    uint32_t tcpi_snd_ssthresh, tcpi_snd_cwnd; /* segments; 0x7fffffff: no limit */
    uint32_t tcpi_advmss;
    uint32_t tcpi_reordering; /* the duplicate-ACK threshold */
    uint32_t tcpi_rcv_rtt;    /* always 0 */
    uint32_t tcpi_rcv_space;  /* bytes: the receive buffer */
    uint32_t tcpi_total_retrans;
    /* pacing rate and its limit, bytes/s; all ones: no pacing, or no limit */
    uint64_t tcpi_pacing_rate, tcpi_max_pacing_rate;
    /* payload bytes; Linux counts an acknowledged SYN too */
    uint64_t tcpi_bytes_acked, tcpi_bytes_received;
    uint32_t tcpi_segs_out, tcpi_segs_in;
    uint32_t tcpi_notsent_bytes;
    uint32_t tcpi_min_rtt;
    uint32_t tcpi_data_segs_in, tcpi_data_segs_out;
    uint64_t tcpi_delivery_rate;
    /* time, µs, since the handshake, less the time in which there was nothing to send */
    uint64_t tcpi_busy_time;
    uint64_t tcpi_rwnd_limited;   /* µs during which the peer's window stopped sending */
    uint64_t tcpi_sndbuf_limited; /* always 0 */
    uint32_t tcpi_delivered; /* payload known to have arrived, as number of full-sized segments */
    uint32_t tcpi_delivered_ce; /* number of ECN echoes received */
    uint64_t tcpi_bytes_sent, tcpi_bytes_retrans;
    uint32_t tcpi_dsack_dups, tcpi_reord_seen;
    uint32_t tcpi_rcv_ooopack;
    uint32_t tcpi_snd_wnd, tcpi_rcv_wnd;
    uint32_t tcpi_rehash; /* always 0 */
    uint16_t tcpi_total_rto, tcpi_total_rto_recoveries /* always 0 */;
    uint32_t tcpi_total_rto_time; /* always 0 */
    uint32_t tcpi_received_ce, tcpi_delivered_e1_bytes, tcpi_delivered_e0_bytes,
        tcpi_delivered_ce_bytes, tcpi_received_e1_bytes, tcpi_received_e0_bytes,
        /* always 0 from tcpi_received_ce on: accurate ECN is not supported */
        tcpi_received_ce_bytes;
    uint32_t tcpi_accurate_ecn; /* always 0; Linux has bit fields here */
};

/* ---- the context: one host with its sockets ---- */

enum scps_wait_dir {
    SCPS_WAIT_READ,
    /* the call waits until the socket is writable, or its connection is established */
    SCPS_WAIT_WRITE,
    SCPS_WAIT_ACCEPT,
    SCPS_WAIT_POLL, /* the call waits until any of the sockets of a poll is ready; s is -1 */
    /* the call waits until a lingering close has finished; s is -1, because the descriptor is free
     * already */
    SCPS_WAIT_CLOSE
};

/* The condition for which a blocking call waits. */
struct scps_wait {
    struct scps_ctx *ctx;
    void *user; /* scps_ctx_config.user */
    int s;
    enum scps_wait_dir dir;
    /* When the wait ends at the latest (SO_RCVTIMEO, SO_LINGER, timeout of poll), µs on the
     * context's clock; SCPS_NEVER: no limit */
    scps_time deadline;
    struct { /* fields that only the library uses */
        struct scps_wait *next;
        void *sock;
        uint64_t serial;
        size_t need;
        const struct scps_pollfd *fds;
        size_t nfds;
    } p;
};

struct scps_ctx_config {
    /* size of this structure, bytes, as scps_ctx_config_default() sets it and those of stack_config
     * and conn; it shows for which version of the structure the program was compiled */
    size_t size;
    /* Configuration of the context's own stack. If `stack` is set, only two parts of it are used:
     * the allocator, and the range and the seed for the ports of sockets that are bound to port
     * 0. */
    struct scps_stack_config stack_config;
    struct scps_conn_config conn; /* configuration with which every socket begins */
    /* NULL: the context has a stack of its own, opened with stack_config, with one built-in netif
     * for scps_ctx_inject() and scps_ctx_take(). Otherwise the caller's stack, whose driver passes
     * its events to scps_ctx_event(); every connection on it then belongs to the context. */
    struct scps_stack *stack;
    /* MTU of the built-in netif, SCPS_MTU_LEAST to 65535 bytes; default 1500 */
    uint32_t mtu;
    /* Limit of the packets that wait for scps_ctx_take(), at least 1; default 4096. Beyond it the
     * stack builds no packets. */
    uint32_t queue_packets;
    /* largest number of sockets, 1 to 2^30 - 1; EMFILE beyond; default 1024 */
    uint32_t max_sockets;
    int first_fd; /* The lowest descriptor number, 0 to 2^30 - 1; default 3 */
    /* largest backlog, at least 1; a larger one is reduced to this; default 4096 */
    unsigned max_backlog;
    /* Called when a socket call must wait. The function lets time pass and packets arrive until
     * scps_wait_over(w) is true, or sleeps until another thread has done so. No lock is held during
     * the call, so the function may use the context. Returns 0 (the socket call checks its
     * condition again, and calls this function again if the condition does not hold), or an errno
     * value with which the socket call fails (such as EINTR). NULL: no socket call ever blocks. */
    int (*wait)(const struct scps_wait *w);
    /* lock is called at the beginning of every function of this interface and unlock at its end; a
     * thread that holds the lock does not take it again. NULL: no locking. */
    void (*lock)(void *user);
    void (*unlock)(void *user);
    /* Called, with the lock held, when something has changed: wakes the threads that sleep in
     * `wait`, so that they call scps_wait_over() again. May be NULL. */
    void (*wake)(void *user);
    /* Only for a caller's `stack`: called when that stack has something to send, with the lock
     * held. May be NULL. */
    void (*kick)(void *user);
    /* Returns the time, µs. May be NULL: then the time is the latest passed to scps_ctx_inject() or
     * scps_ctx_advance() (with a caller's `stack`: scps_stack_now()). If `now` is not NULL and the
     * context has a stack of its own (`stack` is NULL), each call of this interface first runs the
     * timers of that stack that are due. */
    scps_time (*now)(void *user);
    void *user;
};

/* Sets the three fields of cfg that are sizes of structures (size, stack_config.size and conn.size)
 * to those in the caller's headers. */
static inline void scps_ctx_config_sizes(struct scps_ctx_config *cfg)
{
    cfg->size = sizeof *cfg;
    cfg->stack_config.size = sizeof cfg->stack_config;
    cfg->conn.size = sizeof cfg->conn;
}
/* These functions fill in the values that scps_ctx_config_default() and scps_ctx_config_linux()
 * return, in a structure whose fields size, stack_config.size and conn.size the caller has set. */
SCPS_API void scps_ctx_config_init(struct scps_ctx_config *cfg);
SCPS_API void scps_ctx_config_init_linux(struct scps_ctx_config *cfg);
/* Copies the configuration *from (NULL: the defaults) of a program that was compiled with other
 * headers to *to, whose fields size, stack_config.size and conn.size the caller has set before;
 * fields that *from does not have get their defaults. Returns 0; or SCPS_ERR_RANGE, with *to
 * unchanged, if one of these three sizes in *from is larger than in the library's headers, smaller
 * than in any earlier version or no multiple of 4, or if they contradict each other. */
SCPS_API int scps_ctx_config_copy(struct scps_ctx_config *to, const struct scps_ctx_config *from);
/* Returns the library's defaults: scps_conn_config_default and scps_stack_config_default. */
static inline struct scps_ctx_config scps_ctx_config_default(void)
{
    struct scps_ctx_config c;

    scps_ctx_config_sizes(&c);
    scps_ctx_config_init(&c);
    return c;
}
/* Returns the configuration of plain TCP with the values of a Linux host: initial window 10, RTO
 * at least 200 ms and at most 120 s, initially 1 s, delayed ACK 40 ms, an ACK for every second
 * full segment, 6 SYN and 15 data retries, TIME-WAIT and orphaned FIN-WAIT-2 60 s, receive
 * buffer 6 MiB (a window scale of 7), send buffer 4 MiB, SACK, DSACK, timestamps and window
 * scale, no ECN, no pacing, controller "vj"; ephemeral ports 32768 to 60999. */
static inline struct scps_ctx_config scps_ctx_config_linux(void)
{
    struct scps_ctx_config c;

    scps_ctx_config_sizes(&c);
    scps_ctx_config_init_linux(&c);
    return c;
}

/* Opens a context. cfg NULL: the defaults. Returns NULL with errno ENOMEM or EINVAL. About the
 * configurations within cfg, scps_conn_config_check() and scps_stack_config_check() say in words
 * which field is refused. */
SCPS_API struct scps_ctx *scps_ctx_new(const struct scps_ctx_config *cfg);
/* Frees the sockets and the context's own stack; nothing is sent to the peers. On a caller's stack,
 * connections are reset and listeners closed. No call may be waiting. */
SCPS_API void scps_ctx_free(struct scps_ctx *ctx);
/* Returns the pointer scps_ctx_config.user. */
SCPS_API void *scps_ctx_user(const struct scps_ctx *ctx);
/* Returns the stack of the context. During calls into the stack hold the lock that
 * scps_ctx_config.lock takes; afterwards release it and call scps_ctx_turn(). */
SCPS_API struct scps_stack *scps_ctx_stack(const struct scps_ctx *ctx);
/* Does the pending work of the context, as every call of this interface does: runs timers that have
 * expired, passes events to the sockets and sends packets. */
SCPS_API void scps_ctx_turn(struct scps_ctx *ctx);

/* Adds an address to the built-in netif, with a default route of its family. Returns 0; -1 with
 * errno EINVAL, ENOMEM. */
SCPS_API int scps_ctx_add_addr(struct scps_ctx *ctx, const struct scps_addr *addr, unsigned prefix);
/* Implements scps_ctx_add_route(), which passes the size of the caller's structure, bytes. */
SCPS_API int scps_ctx_add_route_sized(struct scps_ctx *ctx, const struct scps_route *r,
                                      size_t size);
/* Adds a route to the context's stack. r->nif NULL: through the built-in netif. Returns 0; on
 * failure -1 with errno, as scps_ctx_add_addr(). */
static inline int scps_ctx_add_route(struct scps_ctx *ctx, const struct scps_route *r)
{
    return scps_ctx_add_route_sized(ctx, r, r ? sizeof *r : 0);
}

/* Passes in an IP packet that arrived at time `at`, µs: advances the clock of the context to `at`,
 * with the timers that expire until then, and processes the packet. If the clock is later than `at`
 * already, the packet counts as arriving now. Returns 0 if the packet was used, else the scps_drop:
 * SCPS_DROP_FILTERED if the context has no built-in netif (scps_ctx_config.stack was set). */
SCPS_API int scps_ctx_inject(struct scps_ctx *ctx, const void *packet, size_t len, scps_time at);
/* Copies the oldest sent packet that was not taken yet to buf, and its time of sending, µs, to
 * *sent_at (may be NULL). Returns its length; 0 if there is none; -1 with errno EMSGSIZE if cap is
 * too small, and the packet stays. Timers do not run. */
SCPS_API int64_t scps_ctx_take(struct scps_ctx *ctx, void *buf, size_t cap, scps_time *sent_at);
/* Returns the number of packets that scps_ctx_take() would return now. */
SCPS_API size_t scps_ctx_queued(struct scps_ctx *ctx);
/* Lets time pass: every timer up to and including `when`, µs, is served at its own time, in order;
 * the packets sent meanwhile wait with their times. Has no effect for a time in the past, or
 * SCPS_NEVER; the clock stops at SCPS_NEVER / 2, as that of a stack. While queue_packets packets
 * wait, no more are sent. */
SCPS_API void scps_ctx_advance(struct scps_ctx *ctx, scps_time when);
/* Lets time pass until `when`, µs, or until the first time at which a blocked call can continue or
 * a packet waits for scps_ctx_take(). Returns the time reached, µs. */
SCPS_API scps_time scps_ctx_step(struct scps_ctx *ctx, scps_time when);
/* Returns the next time, µs, at which a timer of the stack or the deadline of a blocked call is
 * due, so that scps_ctx_advance() has something to do; SCPS_NEVER: none. */
SCPS_API scps_time scps_ctx_next_deadline(struct scps_ctx *ctx);
/* Returns the context's time, µs. */
SCPS_API scps_time scps_ctx_now(struct scps_ctx *ctx);

/* Returns true when the waiting call can continue: its condition holds, its deadline has passed, or
 * its socket was closed. For scps_ctx_config.wait. It takes no lock: with several threads, call it
 * with the lock held. */
SCPS_API bool scps_wait_over(const struct scps_wait *w);
/* Passes an event of the stack scps_ctx_config.stack to the sockets; the program that drives this
 * stack calls it for every event. It does not call scps_ctx_config.lock. */
SCPS_API void scps_ctx_event(struct scps_ctx *ctx, const struct scps_event *ev);
/* Returns the connection of a socket, which the socket owns; NULL if it has none (with errno EBADF
 * if there is no such socket). */
SCPS_API struct scps_conn *scps_sock_conn(struct scps_ctx *ctx, int s);

/* ---- the socket calls, each as the call of the same name in Linux ---- */

/* All the calls can fail with EBADF, EFAULT for a NULL pointer that is not allowed, and ENOMEM,
 * besides the errors named below. */

/* Creates a socket. protocol: 0 or SCPS_SOL_TCP; for SCPS_SOCK_DGRAM 0 or SCPS_SOL_UDP. Errors:
 * EAFNOSUPPORT, ESOCKTNOSUPPORT, EPROTONOSUPPORT, EINVAL, EMFILE. */
SCPS_API int scps_socket(struct scps_ctx *ctx, int domain, int type, int protocol);
/* Binds a socket to a local address. Fails with EINVAL (the socket is bound or connected already,
 * or addrlen is wrong), EAFNOSUPPORT, EADDRNOTAVAIL (not an address of this host) or EADDRINUSE. */
SCPS_API int scps_sock_bind(struct scps_ctx *ctx, int s, const void *addr, uint32_t addrlen);
/* Makes a socket listen. An unbound socket gets a port; a second call sets another backlog. Fails
 * with EINVAL (the socket is connected) or EADDRINUSE. */
SCPS_API int scps_sock_listen(struct scps_ctx *ctx, int s, int backlog);
/* Returns the descriptor of an accepted connection. addr and addrlen NULL: the peer's address is
 * not returned. Fails with EAGAIN, EINVAL (the socket does not listen) or EMFILE. */
SCPS_API int scps_sock_accept(struct scps_ctx *ctx, int s, void *addr, uint32_t *addrlen);
/* Does what scps_sock_accept() does, with flags for the new socket: SCPS_SOCK_NONBLOCK,
 * SCPS_SOCK_CLOEXEC. */
SCPS_API int scps_sock_accept4(struct scps_ctx *ctx, int s, void *addr, uint32_t *addrlen,
                               int flags);
/* Connects a socket. Fails with EINPROGRESS, EALREADY, EISCONN, ECONNREFUSED, ETIMEDOUT,
 * ECONNRESET, ECONNABORTED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT or EINVAL. After
 * a failure the call may be repeated. An address of family SCPS_AF_UNSPEC disconnects the
 * socket. */
SCPS_API int scps_sock_connect(struct scps_ctx *ctx, int s, const void *addr, uint32_t addrlen);

/* The calls that read return the number of bytes read; 0 at the end of the stream. A read stops at
 * the end of a record. Errors: ENODATA (best effort: bytes are missing here, see
 * SCPS_SO_BETS_RHOLE_SIZE; it is returned once, and the next read continues behind them), EAGAIN,
 * ENOTCONN, ECONNRESET and ETIMEDOUT (once, then 0), EINVAL (SCPS_MSG_OOB). */
SCPS_API int64_t scps_sock_read(struct scps_ctx *ctx, int s, void *buf, size_t len);
SCPS_API int64_t scps_sock_readv(struct scps_ctx *ctx, int s, const struct scps_iovec *iov,
                                 int iovcnt);
SCPS_API int64_t scps_sock_recv(struct scps_ctx *ctx, int s, void *buf, size_t len, int flags);
SCPS_API int64_t scps_sock_recvfrom(struct scps_ctx *ctx, int s, void *buf, size_t len, int flags,
                                    void *addr, uint32_t *addrlen);
SCPS_API int64_t scps_sock_recvmsg(struct scps_ctx *ctx, int s, struct scps_msghdr *msg, int flags);

/* Datagrams (docs/howto/sockets.md): each call sends or reads one; what does not fit the reader's
 * buffer is lost. Errors: EDESTADDRREQ, EMSGSIZE (datagrams are not fragmented), ECONNREFUSED
 * (once, on a connected socket), EOPNOTSUPP (listen, accept, SCPS_MSG_MORE).
 *
 * Streams: the calls that write return how many bytes were written: all of them if the call may
 * block. Errors: EAGAIN, EPIPE (never connected, or shut down), ECONNRESET and ETIMEDOUT (once,
 * then EPIPE), EOPNOTSUPP (SCPS_MSG_OOB, SCPS_MSG_FASTOPEN).
 */
SCPS_API int64_t scps_sock_write(struct scps_ctx *ctx, int s, const void *buf, size_t len);
SCPS_API int64_t scps_sock_writev(struct scps_ctx *ctx, int s, const struct scps_iovec *iov,
                                  int iovcnt);
SCPS_API int64_t scps_sock_send(struct scps_ctx *ctx, int s, const void *buf, size_t len,
                                int flags);
SCPS_API int64_t scps_sock_sendto(struct scps_ctx *ctx, int s, const void *buf, size_t len,
                                  int flags, const void *addr, uint32_t addrlen);
SCPS_API int64_t scps_sock_sendmsg(struct scps_ctx *ctx, int s, const struct scps_msghdr *msg,
                                   int flags);

/* Shuts down one direction of a connection, or both. Fails with ENOTCONN or EINVAL. */
SCPS_API int scps_sock_shutdown(struct scps_ctx *ctx, int s, int how);
/* Closes a socket. SO_LINGER with a time waits for the acknowledgement of the FIN, if there is a
 * function scps_ctx_config.wait; with time 0 the connection is reset. Returns 0, or -1 with errno
 * EBADF or the errno value that the function wait returned. The descriptor is free afterwards,
 * whatever is returned. */
SCPS_API int scps_sock_close(struct scps_ctx *ctx, int s);
/* Waits until one of the nfds sockets of fds is ready, for `timeout` ms at most; below 0: without
 * limit. Returns how many of fds have revents other than 0. */
SCPS_API int scps_sock_poll(struct scps_ctx *ctx, struct scps_pollfd *fds, size_t nfds,
                            int timeout);
/* These calls write the address of this end, or of the peer, to *addr, at most *addrlen octets of
 * it, and its whole length to *addrlen. scps_sock_getpeername() fails with ENOTCONN if there is no
 * peer. */
SCPS_API int scps_sock_getsockname(struct scps_ctx *ctx, int s, void *addr, uint32_t *addrlen);
SCPS_API int scps_sock_getpeername(struct scps_ctx *ctx, int s, void *addr, uint32_t *addrlen);
/* Reads or sets an option of a socket. Fails with ENOPROTOOPT, EINVAL, EDOM and others:
 * docs/howto/sockets.md has a line for each option. */
SCPS_API int scps_sock_getsockopt(struct scps_ctx *ctx, int s, int level, int name, void *val,
                                  uint32_t *len);
SCPS_API int scps_sock_setsockopt(struct scps_ctx *ctx, int s, int level, int name, const void *val,
                                  uint32_t len);
/* Reads or sets the flags of a descriptor: cmd is SCPS_F_GETFD, SCPS_F_SETFD, SCPS_F_GETFL or
 * SCPS_F_SETFL. Returns the flags, or 0 after setting them; -1 with errno EINVAL for any other cmd,
 * EBADF if s is no open socket. */
SCPS_API int scps_sock_fcntl(struct scps_ctx *ctx, int s, int cmd, long arg);
/* Executes a request: SCPS_FIONREAD, SCPS_SIOCOUTQ, SCPS_SIOCOUTQNSD, SCPS_SIOCATMARK or
 * SCPS_FIONBIO. Fails with ENOTTY for any other request, and for SCPS_SIOCATMARK on a datagram
 * socket; with EINVAL for the first three on a listening socket; with EFAULT if arg is NULL. */
SCPS_API int scps_sock_ioctl(struct scps_ctx *ctx, int s, unsigned long request, void *arg);

#ifdef __cplusplus
}
#endif
#endif
