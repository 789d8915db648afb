/* SPDX-License-Identifier: MIT */
/* libscps_io: real time. It opens TUN devices (libnl-3) and IP in UDP, and drives a stack over them
 * in a libev loop. */
#ifndef SCPS_IO_H
#define SCPS_IO_H

#include <scps/ccsds.h>
#include <scps/conn.h>
#include <scps/ppp.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ev_loop;
struct scps_loop;

/* size in bytes of the buffer for the message (one line) of an open that fails */
#define SCPS_IO_MSGLEN 256

struct scps_tun_config {
    const char *name; /* device name, e.g. "scps0" */
    /* The n addresses that the kernel gets on the device, at its end of the link to the stack, each
     * with its prefix length in bits. n 0: the device keeps the addresses that it has. */
    struct scps_addr kernel_addr[4];
    unsigned kernel_prefix[4];
    /* For a stack whose address lies outside the prefix of kernel_addr[i]: peer[i] is the stack's
     * address, and kernel_addr[i] becomes a point-to-point address with this peer, through which
     * the kernel reaches the stack. Family 0: no point-to-point address is needed. */
    struct scps_addr peer[4];
    unsigned n;
    uint32_t mtu; /* MTU of the device, bytes; 0: it is not changed */
    /* true: exchange trains of segments (segmentation offload, scps_pkt.gso) with the kernel and
     * leave TCP checksums to it: SCPS_NETIF_NO_CSUM and SCPS_NETIF_GSO are then set. A capture
     * filter then sees trains instead of the segments of the wire. */
    bool offload;
    /* true: open a TAP device, which carries Ethernet frames. The layer between IP and Ethernet
     * (headers, ARP, Neighbour Discovery) is then to be put on it with scps_netif_push(): the netif
     * of <scps/ether.h>. The netif's MTU counts the Ethernet header, too. Excludes offload. */
    bool ethernet;
};
/* Implements scps_tun_open(), which passes the size of the caller's structure, bytes. */
SCPS_API struct scps_netif *scps_tun_open_sized(const struct scps_tun_config *cfg, size_t size,
                                                char msg[SCPS_IO_MSGLEN]);
/* Opens or creates the device and brings it up. It is removed at close unless it was there before;
 * then what was changed (MTU, up, addresses added) is put back. NULL on failure, with one line in
 * msg: what failed and the remedy (no /dev/net/tun, no permission, in use, not a TUN device). */
static inline struct scps_netif *scps_tun_open(const struct scps_tun_config *cfg,
                                               char msg[SCPS_IO_MSGLEN])
{
    return scps_tun_open_sized(cfg, sizeof *cfg, msg);
}

struct scps_udptun_config {
    struct scps_endpoint local,
        /* Addresses of the UDP socket, IPv4 or IPv6. Port 0 of remote: the remote address is taken
         * from the first packet received */
        remote;
    /* Largest inner IP packet, bytes; 0: 1472, over IPv6 1452 (an Ethernet's 1500 less the
     * headers) */
    uint32_t mtu;
    /* true: the ECN field of each packet is copied to the outer header (RFC 6040 section 4.1,
     * normal mode). Then routers on the way mark congestion instead of dropping. Set it only if the
     * far end combines the ECN field of the outer header with the packet's own, as this library
     * does. Default false: outer headers are Not-ECT */
    bool ecn;
};
/* Implements scps_udptun_open(), which passes the size of the caller's structure, bytes. */
SCPS_API struct scps_netif *scps_udptun_open_sized(const struct scps_udptun_config *cfg,
                                                   size_t size, char msg[SCPS_IO_MSGLEN]);
/* Opens a socket that carries IP packets in UDP, for which no privileges are needed. With a remote
 * endpoint the socket exchanges datagrams with it alone. Without one it stores from each datagram
 * which inner source address is behind which UDP endpoint, for up to 64 endpoints, and sends a
 * packet to the endpoint behind its inner destination or, where that is unknown, to the one that
 * sent last. Returns NULL on failure, with one line in msg (address in use, not an address of this
 * host). */
static inline struct scps_netif *scps_udptun_open(const struct scps_udptun_config *cfg,
                                                  char msg[SCPS_IO_MSGLEN])
{
    return scps_udptun_open_sized(cfg, sizeof *cfg, msg);
}

struct scps_tty_config {
    const char *path; /* path of a serial line or a pseudo terminal */
    /* Speed in bit/s, one that the system supports, for example 115200; 0: the present speed of the
     * line */
    uint32_t speed;
};
/* Implements scps_tty_open(), which passes the size of the caller's structure, bytes. */
SCPS_API struct scps_netif *scps_tty_open_sized(const struct scps_tty_config *cfg, size_t size,
                                                char msg[SCPS_IO_MSGLEN]);
/* Opens a terminal line in raw mode and without flow control by characters. It carries octets, for
 * filters that make packets of them (ppp.h). Closing restores the line's settings. Returns NULL on
 * failure, with one line in msg (no such device, no permission, not a terminal, in use, no such
 * speed). */
static inline struct scps_netif *scps_tty_open(const struct scps_tty_config *cfg,
                                               char msg[SCPS_IO_MSGLEN])
{
    return scps_tty_open_sized(cfg, sizeof *cfg, msg);
}

/* The next functions are for programs that drive a device without struct scps_loop. nif is any
 * netif of a chain (filters on top of a device) whose device was opened by a function of this
 * header; for any other netif they return SCPS_ERR_INVAL. */
/* Returns the file descriptor to watch for reading; the device owns it. */
SCPS_API int scps_io_fd(const struct scps_netif *nif);
/* Reads at most max packets that wait in the device and passes them, with the arrival time `at`,
 * µs, up the chain: through the filters on top of the device to the stack. The packets that one
 * read call returned are all passed up, even beyond max. Returns 1 when more may be waiting, 0 when
 * not, or SCPS_ERR_LINKDOWN when the device has gone. */
SCPS_API int scps_io_read(struct scps_netif *nif, scps_time at, unsigned max);
/* Sends the packets that the device has collected, in one system call. A program that drives the
 * device without struct scps_loop calls this function after each scps_pump(); struct scps_loop does
 * so by itself. */
SCPS_API void scps_io_flush(struct scps_netif *nif);

/* Returns the time of the monotonic clock, µs. */
SCPS_API scps_time scps_sysclock_now(void);
/* Fills buf with len bytes from the kernel's random source. Returns 0, or SCPS_ERR_SYSTEM. */
SCPS_API int scps_entropy(void *buf, size_t len);

/* Opens an event loop that drives one stack: it reads arrived packets in batches, passes events to
 * on_event, then calls scps_pump(); it sleeps until the next packet or the time of the stack's next
 * timer. ev: the libev loop to use; NULL: a new one. on_event (may be NULL) receives every event of
 * the stack, in order; it may call functions of the stack, but must free neither the stack nor the
 * loop. Returns NULL with errno: EINVAL for a stack whose seed is the default one
 * (scps_stack_is_predictable: fill scps_stack_config.seed with scps_entropy()), else the system has
 * no memory or descriptor left. */
SCPS_API struct scps_loop *scps_loop_new(struct ev_loop *ev, struct scps_stack *st,
                                         void (*on_event)(struct scps_loop *l,
                                                          const struct scps_event *e, void *ctx),
                                         void *ctx);
/* Adds a chain of netifs (filters on top of a device that a function of this header opened):
 * attaches its uppermost netif, top, to the stack, and watches the device. Put filters on the
 * device before this call. The chain must outlive the loop. When the device vanishes, the chain is
 * detached from the stack, whose connections get SCPS_ERR_LINKDOWN, and once the last device has
 * gone the loop stops. Returns 0, SCPS_ERR_INVAL or SCPS_ERR_NOMEM. */
SCPS_API int scps_loop_add(struct scps_loop *l, struct scps_netif *top);
/* Calls scps_pump(), which sends the packets that the stack wants to send after calls such as
 * scps_conn_write(). Call it after each group of such calls that the program makes outside
 * on_event. */
SCPS_API void scps_loop_kick(struct scps_loop *l);
/* Runs the loop until scps_loop_stop() is called, or until scps_sysclock_now() reaches `until`
 * (SCPS_NEVER: no limit). */
SCPS_API void scps_loop_run(struct scps_loop *l, scps_time until);
/* Makes scps_loop_run() return, the one that is running or the next one. May be called from
 * on_event. */
SCPS_API void scps_loop_stop(struct scps_loop *l);
/* Returns the libev loop, for watchers of the program. */
SCPS_API struct ev_loop *scps_loop_ev(struct scps_loop *l);
/* Returns 0, or the SCPS_ERR_* of a device that failed (SCPS_ERR_LINKDOWN: it vanished). */
SCPS_API int scps_loop_error(const struct scps_loop *l);
/* Returns the stack that the loop drives. */
SCPS_API struct scps_stack *scps_loop_stack(const struct scps_loop *l);
/* Frees the loop, but not the stack and the devices, which must both still exist: packets that a
 * full device refused, such as the resets of aborted connections, get up to one second to be
 * sent. */
SCPS_API void scps_loop_free(struct scps_loop *l);

/* The interface options that every program in real time shares, by their long names:
 *
 *   --tun NAME  --tap NAME  --udp LOCAL:PORT[,REMOTE:PORT][,ecn]
 *   --ppp DEVICE[,KEY[=VALUE]...]  --ccsds KIND[,KEY[=VALUE]...]
 *   --addr A[/LEN]  --kernel-addr K[/LEN]  --gateway G  --mtu N  --line-rate R  --offload
 *
 * --addr, --kernel-addr and --gateway may be given again for the other address family.
 */
#define SCPS_IFOPTS_ADDRS 4
#define SCPS_IFOPTS_PATH  128
struct scps_ifopts {
    size_t size;                /* size of this structure, bytes; scps_ifopts_parse() sets it */
    char tun[64];               /* name of the TUN device, as typed; empty: --tun was not given */
    char tap[64];               /* name of the TAP device, as typed; empty: --tap was not given */
    char ppp[SCPS_IFOPTS_PATH]; /* the device of --ppp; empty: --ppp was not given */
    /* configuration of --ppp, without addresses, families and MRU */
    struct scps_ppp_config ppp_config;
    uint32_t ppp_speed; /* speed of the --ppp line, bit/s, as scps_tty_config.speed */
    scps_dur ppp_wait;  /* How long to wait for the PPP peer, µs; 0: until PPP gives up */
    bool ccsds; /* true: --ccsds was given; its frames go over --udp or the device ccsds_line */
    struct scps_ccsds_config ccsds_config;
    char ccsds_line[SCPS_IFOPTS_PATH]; /* device of --ccsds; empty: the frames go over --udp */
    uint32_t ccsds_speed;
    bool udp;
    struct scps_endpoint udp_local, udp_remote;
    /* true: --udp has the option ecn: the tunnel copies the ECN field of each packet that is sent
     * to the outer header (scps_udptun_config.ecn) */
    bool udp_ecn;
    /* an address given by --addr (array `addr`) or by --kernel-addr (array `kernel`) */
    struct scps_ifaddr {
        struct scps_addr addr;
        unsigned prefix;
        /* true: the address was given as ADDRESS/LEN; `prefix` is LEN, the length of the prefix,
         * bits */
        bool has_prefix;
    } addr[SCPS_IFOPTS_ADDRS], kernel[SCPS_IFOPTS_ADDRS];
    unsigned naddr, nkernel;
    struct scps_addr gateway[2]; /* --gateway of IPv4 at [0], of IPv6 at [1]; family 0: not given */
    uint32_t mtu;                /* --mtu, bytes; 0: the MTU of the device */
    uint64_t line_rate;          /* --line-rate as scps_netif.rate, bytes/s; 0: not known */
    bool offload;                /* --offload, as scps_tun_config.offload */
    /* Set by the program, not by an option: longest time that scps_ifopts_attach() waits for a PPP
     * peer, even if ppp_wait (from --ppp DEVICE,wait=S) is longer, µs; 0: no limit */
    scps_dur patience;
};
/* Rows for a getopt_long table. All of them return val: the program then calls scps_ifopts_parse(o,
 * table[index].name, optarg, msg). */
/* clang-format off */
#define SCPS_IFOPTS_LONG(val)                                                                      \
    {"tun", 1, NULL, (val)}, {"tap", 1, NULL, (val)}, {"udp", 1, NULL, (val)},                     \
    {"ppp", 1, NULL, (val)}, {"ccsds", 1, NULL, (val)}, {"addr", 1, NULL, (val)},                  \
    {"kernel-addr", 1, NULL, (val)}, {"gateway", 1, NULL, (val)}, {"mtu", 1, NULL, (val)},         \
    {"line-rate", 1, NULL, (val)}, {"offload", 0, NULL, (val)}
/* clang-format on */
/* Returns the help text of the interface options; each of its lines ends in a newline. */
SCPS_API const char *scps_ifopts_help(void);
/* Implements scps_ifopts_parse(), which passes the size of the caller's structure, bytes. */
SCPS_API int scps_ifopts_parse_sized(struct scps_ifopts *o, const char *name, const char *value,
                                     char msg[SCPS_IO_MSGLEN]);
/* Parses the value of the interface option `name` (one of those listed above struct scps_ifopts,
 * without dashes; --offload has no value) into *o, which is zeroed before the first call. Returns
 * 1; 0 if no interface option has this name; SCPS_ERR_INVAL with one line in msg, and *o is then
 * unchanged. */
static inline int scps_ifopts_parse(struct scps_ifopts *o, const char *name, const char *value,
                                    char msg[SCPS_IO_MSGLEN])
{
    o->size = sizeof *o;
    return scps_ifopts_parse_sized(o, name, value, msg);
}
/* Returns true when any of the interface options was given. */
SCPS_API bool scps_ifopts_given(const struct scps_ifopts *o);
/* Checks that the interface options are complete and do not contradict each other (exactly one
 * device, an address for it). Returns 0, or SCPS_ERR_INVAL with one line in msg. This is an error
 * of usage, whereas a failure of scps_ifopts_open() or scps_ifopts_attach() is one of the
 * system. */
SCPS_API int scps_ifopts_check(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN]);
/* Opens the device that the options name: TUN, or TAP with Ethernet, with its kernel addresses if
 * they were given; IP in UDP; PPP on a terminal line; or CCSDS frames. Returns the uppermost netif
 * of its chain; on failure NULL, with one line in msg. If packets are to pass further filters, such
 * as a capture, put these on the chain with scps_netif_push() before scps_ifopts_attach(). */
SCPS_API struct scps_netif *scps_ifopts_open(const struct scps_ifopts *o, char msg[SCPS_IO_MSGLEN]);
/* Adds a chain of netifs, whose uppermost one is top, to the loop and its stack, and gives the
 * stack its addresses and routes: a route to the prefix of each address, and a default route if a
 * gateway or an address without /LEN was given, and always with --udp, --ppp and --ccsds. With PPP
 * this function runs the loop until the link is open, or until SIGINT or SIGTERM comes; then an
 * address that the peer assigns is added. Returns 0, or an error with one line in msg. If the PPP
 * link does not open, the error is SCPS_ERR_TIMEDOUT when the time limit of the program,
 * o->patience, has passed, and SCPS_ERR_LINKDOWN when the time limit of the user, o->ppp_wait
 * (--ppp DEVICE,wait=S), has passed, or for any other reason. Example:
 *
 *     dev = scps_ifopts_open(&o, msg);
 *     top = scps_netif_push(dev, tap);
 *     scps_ifopts_attach(&o, loop, top, msg);
 */
SCPS_API int scps_ifopts_attach(const struct scps_ifopts *o, struct scps_loop *l,
                                struct scps_netif *top, char msg[SCPS_IO_MSGLEN]);
/* Returns a text that says why the link of a netif chain is not open, or why it was closed last.
 * NULL: the link is open, or the device has no state of a link (only PPP has one). top is the
 * uppermost netif of the chain. */
SCPS_API const char *scps_ifopts_trouble(const struct scps_netif *top);
/* Writes the address of an Ethernet neighbour that does not answer ARP or Neighbour Discovery to
 * *out, and returns true. Returns false, with *out unchanged, when all answer or the link is not
 * Ethernet. */
SCPS_API bool scps_ifopts_unanswered(const struct scps_netif *top, struct scps_addr *out);
#define SCPS_IFDROPS 16 /* largest number of counters of one filter */
/* A counter of packets or octets that a link filter received and did not use, or could not send. */
struct scps_ifdrop {
    const char *link; /* the link filter that counts: "ppp", "ether" or "ccsds" */
    /* name of the reason in lower case, from SCPS_PPP_DROPS, SCPS_ETHER_DROPS or
     * SCPS_CCSDS_DROPS */
    char name[16];
    const char *words; /* description of what the counter counts */
    uint64_t count;    /* number of packets or octets counted since the filter was opened */
};
/* Writes drop counter i, from 0, of a link filter to *out: of the filter for PPP, Ethernet or CCSDS
 * frames in the netif chain whose uppermost netif is top. Returns false, with *out unchanged, when
 * that filter has no more counters, or the chain has no such filter. */
SCPS_API bool scps_ifopts_drop(const struct scps_netif *top, unsigned i, struct scps_ifdrop *out);

/* Reads a whole file, at most 128 MB. Returns its contents, to be freed with scps_io_free_file(),
 * or NULL with the reason in why. ctx is not used. The two functions serve as struct
 * scps_link_files (sim.h). */
SCPS_API char *scps_io_read_file(void *ctx, const char *name, size_t *len, char *why,
                                 size_t whylen);
/* Frees the contents that scps_io_read_file() has returned. ctx is not used. */
SCPS_API void scps_io_free_file(void *ctx, char *data);

#ifdef __cplusplus
}
#endif
#endif
