/* SPDX-License-Identifier: MIT */
/* Reads captures through libpcap: the older variants of the pcap format, which libpcap reads from a
 * FILE made of the buffer that reads and decompresses the file (struct window); and live captures
 * from network devices. */
#define _GNU_SOURCE /* declares fopencookie() */
#include "trace/linklayer.h"
#include "trace/window.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include <pcap/pcap.h>

static ssize_t cookie_read(void *ctx, char *buf, size_t n)
{
    struct window *w = ctx;
    if (w->pos == w->end && !w->eof)
        scps_tr_window_more(w);
    n = SCPS_MIN(n, w->end - w->pos);
    if (n == 0 && w->err) {
        errno = w->err;
        return -1;
    }
    memcpy(buf, w->buf + w->pos, n);
    w->pos += n;
    return (ssize_t)n;
}

static FILE *as_file(struct window *w)
{
#if defined(__GLIBC__) || defined(__linux__)
    return fopencookie(w, "r", (cookie_io_functions_t){.read = cookie_read});
#else
    return NULL;
#endif
}

static void take_packet(struct scps_trace *t, int link, const struct pcap_pkthdr *h,
                        const uint8_t *data, int *err)
{
    struct scps_trace_pkt p = {.at = (scps_time)SCPS_CLAMP(h->ts.tv_sec, 0, TR_LATEST) * 1000000 +
                                     SCPS_CLAMP(h->ts.tv_usec, 0, 999999),
                               .data = data,
                               .caplen = h->caplen,
                               .len = h->len,
                               .link = link};
    int e = scps_trace_packet(t, &p);
    if (e < 0)
        *err = e;
}

int scps_tr_read_libpcap(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    char e[PCAP_ERRBUF_SIZE] = "";
    FILE *f = as_file(w);
    pcap_t *p = f ? pcap_fopen_offline(f, e) : NULL;
    if (!p) {
        if (f)
            fclose(f);
        if (w->err)
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s", path, scps_tr_window_trouble(w));
        else
            snprintf(msg, SCPS_TRACE_MSGLEN,
                     "%s: not a capture (%.120s): give pcap or pcapng, gzip'd or not; editcap and "
                     "'xz -d' make such files of others",
                     path, f ? e : "and no libpcap stream on this system");
        return w->err && w->err != EBADMSG ? SCPS_ERR_SYSTEM : SCPS_ERR_INVAL;
    }
    int link = pcap_datalink(p), err = 0, r;
    struct pcap_pkthdr *h;
    const u_char *data;
    uint64_t no = 0;
    if (!scps_tr_link_known(link)) {
        pcap_close(p); /* pcap_close() also closes f, so f must not be closed here. */
        return scps_tr_link_refused(path, link, msg);
    }
    while ((r = pcap_next_ex(p, &h, &data)) == 1 && !err && !w->stopped) {
        no++;
        take_packet(t, link, h, data, &err);
    }
    int ret = 0;
    if (err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory at packet %llu", path,
                 (unsigned long long)no);
        ret = err;
    } else if (r == PCAP_ERROR) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: after packet %llu: %.140s: analysed up to there",
                 path, (unsigned long long)no, pcap_geterr(p));
        t->tot.unread_bytes += scps_tr_window_drain(w);
        ret = 1;
    }
    pcap_close(p); /* pcap_close() also closes f, so f must not be closed here. */
    return ret;
}

struct live {
    struct scps_trace *t;
    int link, err;
};

static void live_packet(u_char *ctx, const struct pcap_pkthdr *h, const u_char *data)
{
    struct live *l = (void *)ctx;
    take_packet(l->t, l->link, h, data, &l->err);
}

static scps_time monotonic(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (scps_time)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Called after pcap_activate(): sets the capture filter (NULL: none), checks that the analyser
 * knows the device's link type, and makes reading non-blocking. Returns 0, or an error with the
 * reason in msg. */
static int live_prepare(pcap_t *p, const char *device, const char *filter,
                        char msg[SCPS_TRACE_MSGLEN])
{
    char e[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program prog;

    if (filter) {
        if (pcap_compile(p, &prog, filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "filter '%.60s': %.140s: see pcap-filter(7)", filter,
                     pcap_geterr(p));
            return SCPS_ERR_INVAL;
        }
        int r = pcap_setfilter(p, &prog);
        pcap_freecode(&prog);
        if (r != 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.180s", device, pcap_geterr(p));
            return SCPS_ERR_SYSTEM;
        }
    }
    if (!scps_tr_link_known(pcap_datalink(p)))
        return scps_tr_link_refused(device, pcap_datalink(p), msg);
    /* On a device without traffic libpcap may wait for ever, whatever its timeout, so reading is
     * non-blocking and the caller waits with poll(). */
    if (pcap_setnonblock(p, 1, e) != 0) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.250s", e);
        return SCPS_ERR_SYSTEM;
    }
    return 0;
}

/* Size of the kernel's buffer for packets that were captured and not read yet, bytes. libpcap's
 * default, 2 MiB, is less than what a loopback device carries within a millisecond. */
#define LIVE_BUFFER (32 << 20)

/* Returns what the user can do about this error of pcap_activate(), as text to append to an error
 * message; "": no advice is known. */
static const char *live_advice(int error)
{
    return error == PCAP_ERROR_NO_SUCH_DEVICE ? ": give a device that 'ip link' lists"
           : error == PCAP_ERROR_IFACE_NOT_UP ? ": set it up with 'ip link set ... up'"
           : error == PCAP_ERROR_PERM_DENIED  ? ": run as root or with CAP_NET_RAW"
                                              : "";
}

/* Opens a device for capturing. Returns NULL with the reason in msg if that is impossible. */
static pcap_t *live_open(const char *device, char msg[SCPS_TRACE_MSGLEN])
{
    char e[PCAP_ERRBUF_SIZE] = "";
    pcap_t *p = pcap_create(device, e);
    if (!p) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.200s", device, e);
        return NULL;
    }
    /* These calls fail only on a handle that is activated already, so their results are ignored. */
    (void)pcap_set_snaplen(p, 262144);
    (void)pcap_set_promisc(p, 1);
    (void)pcap_set_timeout(p, 100);
    (void)pcap_set_buffer_size(p, LIVE_BUFFER);
    int r = pcap_activate(p);
    if (r >= 0) /* A positive value is a warning, such as a device without promiscuous mode. */
        return p;
    const char *what = r == PCAP_ERROR ? pcap_geterr(p) : pcap_statustostr(r),
               *why = pcap_geterr(p);
    if (why[0] && strcmp(what, why) != 0)
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.80s (%.80s)%s", device, what, why,
                 live_advice(r));
    else
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.160s%s", device, what, live_advice(r));
    pcap_close(p);
    return NULL;
}

/* Called at the end of a live capture: reports packets that the kernel dropped because its capture
 * buffer was full. Returns 1 with one line in msg if there are any, else 0. */
static int live_losses(pcap_t *p, const char *device, char msg[SCPS_TRACE_MSGLEN])
{
    struct pcap_stat s = {0};
    if (pcap_stats(p, &s) != 0 || s.ps_drop == 0)
        return 0;
    snprintf(msg, SCPS_TRACE_MSGLEN,
             "%.40s: the kernel dropped %u of %u packets, which came faster than they were read: "
             "the figures lack them; choose fewer packets with --filter",
             device, s.ps_drop, s.ps_recv);
    return 1;
}

int scps_trace_live(struct scps_trace *t, const char *device, const char *filter, uint64_t packets,
                    scps_dur until, char msg[SCPS_TRACE_MSGLEN])
{
    int ret;
    msg[0] = '\0';
    pcap_t *p = live_open(device, msg);
    if (!p)
        return SCPS_ERR_SYSTEM;
    ret = live_prepare(p, device, filter, msg);
    if (ret != 0)
        goto out;
    struct live l = {.t = t, .link = pcap_datalink(p)};
    scps_time end = until ? monotonic() + until : SCPS_NEVER;
    uint64_t from = t->tot.packets;
    while (!l.err && monotonic() < end) {
        uint64_t left = packets ? packets - (t->tot.packets - from) : 10000;
        if (packets && left == 0)
            break;
        int n = pcap_dispatch(p, (int)SCPS_MIN(left, 10000u), live_packet, (void *)&l);
        if (n < 0) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: %.180s", device, pcap_geterr(p));
            ret = n == PCAP_ERROR_BREAK ? 0 : 1;
            break;
        }
        if (scps_tr_stop_asked(t, t->tot.packets - from, packets))
            break;
        struct pollfd fd = {.fd = pcap_get_selectable_fd(p), .events = POLLIN};
        /* poll() can only fail with EINTR; then the loop reads before the 50 ms have passed. */
        if (n == 0)
            (void)poll(&fd, fd.fd >= 0, 50);
    }
    if (l.err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%.40s: out of memory", device);
        ret = l.err;
    }
    if (ret == 0)
        ret = live_losses(p, device, msg);
out:
    pcap_close(p);
    return ret;
}
