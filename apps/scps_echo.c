/* SPDX-License-Identifier: MIT */
/* TCP echo on a stack of this program: an example of a server and a client in real time, and a peer
 * for tests.
 *
 *     scps_echo -r --tun scps0 --addr 10.9.0.2/24 --kernel-addr 10.9.0.1     then:  nc 10.9.0.2 7
 *     scps_echo -r --udp 127.0.0.1:7001 --addr 10.9.0.1 &
 *     scps_echo -t -n 10M --udp 127.0.0.1:7002,127.0.0.1:7001 --addr 10.9.0.2 10.9.0.1
 *
 * Like every program here it opens a stack, a loop and a device (common/realtime.h), connects or
 * listens, and then handles events. No call blocks: a read or write that a connection cannot do now
 * is repeated after the event that says when it can.
 */
#include <getopt.h>
#include <string.h>

#include "common/completion.h"
#include "common/hangup.h"
#include "common/host.h"
#include "common/stdfds.h"
#include "scps_echo/echo.h"

static const char help[] =
    "usage: scps_echo -r [options] INTERFACE         serves echo to any number of clients\n"
    "       scps_echo -t [options] INTERFACE HOST    sends to HOST, reads back and compares\n"
    "\n"
    "  -r, --serve             server: send back what arrives; close at the end of the stream\n"
    "  -t, --test              client: exit status 0 if all bytes came back equal\n"
    "  -p, --port PORT         port of the echo service (7)\n"
    "  -n, --bytes BYTES       client: number of bytes to send; K, M, G are powers of 1024 (1M)\n"
    "  -b, --buffer BYTES      size of the send and the receive buffer of a connection (1M)\n"
    "      --discard PORT      server: also accept connections at PORT and discard their data\n"
    "      --chargen PORT      server: also send characters at PORT until the client closes (RFC "
    "864)\n"
    "      --clients N         server: largest number of clients at once; one more takes the place "
    "of\n"
    "                          the one that has been silent for longest (256)\n"
    "      --time SEC          server: stop after SEC seconds; client: give up after SEC seconds\n"
    "  -h, --help              print this help\n"
    "      --completion SHELL  print the completion of these options in bash\n"
    "  -V, --version           print the version\n"
    "\nINTERFACE:\n";

static const char help_end[] =
    "\nHOST is an IPv4 or IPv6 address. Exit status: 0 done, 1 failed, 2 usage, 124 timeout.\n"
    "SIGINT ends either; the server's status is then 0, the client's 1.\n";

static void on_event(struct scps_loop *l, const struct scps_event *e, void *ctx)
{
    struct app *a = ctx;
    (void)l;
    if (a->test)
        echo_client_event(a, e);
    else if (e->kind == SCPS_EV_ACCEPT)
        echo_accept(a, e->listener);
    else if (e->user && (e->kind == SCPS_EV_ERROR || e->kind == SCPS_EV_CLOSED))
        echo_drop(a, e->user, e->kind == SCPS_EV_ERROR);
    else if (e->user && e->conn)
        echo_serve(a, e->user);
}

static int report(struct app *a)
{
    double sec = (double)(scps_sysclock_now() - a->rt.began) / 1e6;
    int status = a->serve ? DONE : a->status;
    const char *why = a->why;
    if (scps_loop_error(a->rt.loop)) {
        why = realtime_lost(&a->rt, a->serve);
        status = FAILED;
    } else if (a->rt.interrupted && !a->finished) {
        why = "interrupted";
        status = a->serve ? DONE : FAILED;
    } else if (a->test && !a->finished) {
        why = "no end within --time";
        status = TIMEOUT;
    }
    if (a->serve)
        fprintf(
            stderr,
            "scps_echo-r: %u connections, %u broken, %u open; %llu bytes in, %llu out in %.2f s",
            a->served, a->broken, a->open, (unsigned long long)a->in, (unsigned long long)a->out,
            sec);
    else
        fprintf(stderr, "scps_echo-t: %llu bytes sent, %llu back in %.3f s = %.3f Mbit/s",
                (unsigned long long)a->out, (unsigned long long)a->in, sec,
                sec > 0 ? (double)a->in * 8e-6 / sec : 0);
    fprintf(stderr, "%s%s\n", *why ? ": " : "", why);
    return status;
}

static int run(struct app *a)
{
    static enum service services[] = {ECHO, DISCARD, CHARGEN};
    int status = FAILED, err = 0;
    struct scps_conn_config cc = scps_conn_config_default();
    cc.sndbuf = cc.rcvbuf = a->buffer;
    /* An echo client waits for each reply, so Nagle's algorithm would only delay it. */
    cc.nodelay = true;

    if (!realtime_takes("scps_echo", &cc))
        return FAILED;
    echo_make_lines();
    a->ifopts.patience = a->time;
    if (!realtime_open(&a->rt, "scps_echo", &a->ifopts, on_event, a)) {
        if (a->test && a->rt.late)
            status = TIMEOUT;
        goto out;
    }
    if (a->serve) {
        if (echo_listen(a, &cc, a->port, &services[ECHO]) ||
            (a->discard && echo_listen(a, &cc, a->discard, &services[DISCARD])) ||
            (a->chargen && echo_listen(a, &cc, a->chargen, &services[CHARGEN])))
            goto out;
    } else if (!(a->conn = scps_connect(a->rt.stack, &cc, NULL, &a->host, &err))) {
        fprintf(stderr, "scps_echo: cannot connect: %s\n", scps_strerror(err));
        goto out;
    }
    realtime_run(&a->rt, a->time);
    status = report(a);
    /* The program ends, so it resets the connections that are still open; the RST lets their peers
     * end them at once. */
    while (a->first)
        echo_drop(a, a->first, true);
    if (a->conn)
        scps_conn_abort(a->conn);
    scps_loop_kick(a->rt.loop);
out:
    realtime_close(&a->rt);
    return status;
}

/* ---- functions that read the command line ---- */

/* Parses a decimal number into *out. A letter k, m or g of either case behind it multiplies it by
 * 1024, 1024^2 or 1024^3. Returns false, with *out unchanged, if s is no such number or exceeds
 * max. */
static bool number(const char *s, uint64_t max, uint64_t *out)
{
    char *end;
    if (*s < '0' || *s > '9')
        return false;
    unsigned long long v = strtoull(s, &end, 10);
    int shift = *end == 'k' || *end == 'K'   ? 10
                : *end == 'm' || *end == 'M' ? 20
                : *end == 'g' || *end == 'G' ? 30
                                             : 0;
    if (end[shift != 0] || v > max >> shift)
        return false;
    *out = v << shift;
    return true;
}

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "scps_echo: %s%s%s\n", what, value ? ": " : "", value ? value : "");
    return USAGE;
}

/* Checks that the options agree with each other and with the arguments that are no options:
 * argv[rest] and those behind it. Returns DONE; or USAGE, after a message. */
static int check(struct app *a, int rest, char **argv)
{
    char msg[SCPS_IO_MSGLEN];

    if (a->serve == a->test)
        return usage("say -r to serve or -t to test", NULL);
    if (a->serve && rest > 0)
        return usage("a server takes no argument", argv[0]);
    if (a->test && rest != 1)
        return usage("a test needs one HOST", NULL);
    if (a->test && !argv[0][0])
        return usage("HOST is empty: give the peer's address", NULL);
    if (a->test && scps_addr_parse(argv[0], &a->host.addr))
        return usage("HOST is an IPv4 or IPv6 address", argv[0]);
    if (a->serve && (a->port == a->discard || a->port == a->chargen ||
                     (a->discard && a->discard == a->chargen)))
        return usage("each service needs a port of its own", NULL);
    if (scps_ifopts_check(&a->ifopts, msg))
        return usage(msg, NULL);
    if (a->test && !host_check(&a->ifopts, argv[0], &a->host.addr, false, msg, sizeof msg))
        return usage(msg, NULL);
    a->host.port = a->port;
    return DONE;
}

static int parse(struct app *a, int argc, char **argv)
{
    static const struct option table[] = {
        {"serve", 0, NULL, 'r'},   {"test", 0, NULL, 't'},    {"port", 1, NULL, 'p'},
        {"bytes", 1, NULL, 'n'},   {"buffer", 1, NULL, 'b'},  {"discard", 1, NULL, 'D'},
        {"chargen", 1, NULL, 'C'}, {"time", 1, NULL, 'T'},    {"clients", 1, NULL, 'M'},
        {"help", 0, NULL, 'h'},    {"version", 0, NULL, 'V'}, {"completion", 1, NULL, 'K'},
        SCPS_IFOPTS_LONG('I'),     {NULL, 0, NULL, 0}};
    char msg[SCPS_IO_MSGLEN];
    int c, index;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":rtp:n:b:hV", table, &index)) != -1) {
        uint64_t v = 0;
        switch (c) {
        case 'r':
            a->serve = true;
            break;
        case 't':
            a->test = true;
            break;
        case 'p':
        case 'D':
        case 'C':
            if (!number(optarg, 65535, &v) || !v)
                return usage("a port goes from 1 to 65535", optarg);
            *(c == 'p' ? &a->port : c == 'D' ? &a->discard : &a->chargen) = (uint16_t)v;
            break;
        case 'n':
            if (!number(optarg, UINT64_MAX / 2, &a->bytes))
                return usage("not a number of bytes", optarg);
            break;
        case 'b':
            if (!number(optarg, 1u << 30, &v) || !v)
                return usage("a buffer has 1 byte to 1G", optarg);
            a->buffer = (uint32_t)v;
            break;
        case 'M':
            if (!number(optarg, 65536, &v) || !v)
                return usage("--clients goes from 1 to 65536", optarg);
            a->most = (unsigned)v;
            break;
        case 'T':
            if (!realtime_seconds(optarg, &a->time))
                return usage("--time: give seconds, or a number with ms, s, min or h", optarg);
            break;
        case 'I':
            if (scps_ifopts_parse(&a->ifopts, table[index].name, optarg, msg) != 1)
                return usage(msg, NULL);
            break;
        case 'h':
            printf("%s%s%s", help, scps_ifopts_help(), help_end);
            exit(stdfds_flush("scps_echo", DONE));
        case 'K':
            if (!completion_shell(optarg))
                return usage("--completion is for bash alone", optarg);
            completion_getopt("scps_echo", table, "rtp:n:b:hV", NULL);
            exit(stdfds_flush("scps_echo", DONE));
        case 'V':
            puts("scps_echo " SCPS_VERSION);
            exit(stdfds_flush("scps_echo", DONE));
        case ':':
            return usage("an option needs a value (see scps_echo --help)", argv[optind - 1]);
        default:
            return usage("no such option (see scps_echo --help)", argv[optind - 1]);
        }
    }
    return check(a, argc - optind, argv + optind);
}

int main(int argc, char **argv)
{
    struct app a = {.port = 7, .bytes = 1 << 20, .buffer = 1 << 20, .most = 256};
    stdfds_open("scps_echo");
    hangup_init();
    int status = parse(&a, argc, argv);
    return status ? status : run(&a);
}
