/* SPDX-License-Identifier: MIT */
/* Reads captures: files and pipes, compressed by gzip or not.
 *
 *   window.c: bytes --+--> pcap records, in this file, without copying
 *                     +--> pcapng.c: blocks, without copying
 *                     +--> libpcap.c: every older format, and pcap before version 2.4
 *
 * Classic pcap is read here, because libpcap's copy and its call for each packet cost more than the
 * analysis of a usual packet (docs/SCPS_TRACE.md has the figures).
 *
 * A record with an impossible length ends the reading, because there is nothing by which the next
 * one could be found. Records before it are analysed, and the bytes left are counted.
 *
 * Format: draft-ietf-opsawg-pcap. Times in nanoseconds are rounded down to µs, as libpcap does for
 * readers that request µs.
 */
#include "trace/linklayer.h"
#include "trace/window.h"

static int read_pcap(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    uint32_t magic = scps_tr_get32(w->buf + w->pos, false);
    bool swap = magic == 0xd4c3b2a1u || magic == 0x4d3cb2a1u;
    bool nano = magic == 0xa1b23c4du || magic == 0x4d3cb2a1u;
    if (!scps_tr_have(w, 24)) {
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "%s: not a capture: it ends within the file header: give a whole file", path);
        return SCPS_ERR_INVAL;
    }
    struct scps_trace_pkt p = {.link = (int)(scps_tr_get32(w->buf + w->pos + 20, swap) & 0xffff)};
    w->pos += 24;
    if (!scps_tr_link_known(p.link))
        return scps_tr_link_refused(path, p.link, msg);
    uint64_t no = 0;
    for (;;) {
        if (TR_UNLIKELY(!scps_tr_have(w, 16)))
            break;
        const uint8_t *r = w->buf + w->pos;
        uint32_t frac = scps_tr_get32(r + 4, swap);
        p.at = (scps_time)scps_tr_get32(r, swap) * 1000000 + (nano ? frac / 1000 : frac);
        p.caplen = scps_tr_get32(r + 8, swap);
        p.len = scps_tr_get32(r + 12, swap);
        if (TR_UNLIKELY(p.caplen > TR_LARGEST)) {
            t->tot.unread_bytes += scps_tr_window_drain(w);
            snprintf(msg, SCPS_TRACE_MSGLEN,
                     "%s: after packet %llu comes a record of %u bytes: analysed up to there", path,
                     (unsigned long long)no, p.caplen);
            return 1;
        }
        if (TR_UNLIKELY(!scps_tr_have(w, 16 + (size_t)p.caplen)))
            break;
        p.data = w->buf + w->pos + 16;
        w->pos += 16 + (size_t)p.caplen;
        no++;
#if defined(__GNUC__)
        __builtin_prefetch(w->buf + w->pos + 64);
#endif
        int e = scps_trace_packet(t, &p);
        if (TR_UNLIKELY(e < 0)) {
            snprintf(msg, SCPS_TRACE_MSGLEN, "%s: out of memory at packet %llu", path,
                     (unsigned long long)no);
            return e;
        }
        if (TR_UNLIKELY(w->stopped))
            return 0;
    }
    if (w->err) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s after packet %llu: analysed up to there", path,
                 scps_tr_window_trouble(w), (unsigned long long)no);
        return 1;
    }
    if (w->end > w->pos) {
        t->tot.unread_bytes += w->end - w->pos;
        snprintf(msg, SCPS_TRACE_MSGLEN,
                 "%s: cut off within the record after packet %llu: analysed up to there", path,
                 (unsigned long long)no);
        return 1;
    }
    return 0;
}

#define VERSION_DG_UX 543 /* major version in files of DG/UX */

static uint32_t get16(const uint8_t *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return swap ? (uint32_t)(v >> 8) | (uint32_t)(v & 0xff) << 8 : v;
}

/* Returns true if the file is pcap of version 2.4, which read_pcap() reads. Records of earlier
 * versions have their two lengths in the other order, which libpcap knows. */
static bool is_pcap(struct window *w)
{
    const uint32_t magic = scps_tr_get32(w->buf + w->pos, false);
    const bool swap = magic == 0xd4c3b2a1u || magic == 0x4d3cb2a1u;
    if (!swap && magic != 0xa1b2c3d4u && magic != 0xa1b23c4du)
        return false;
    if (!scps_tr_have(w, 8))
        return true;
    const uint8_t *version = w->buf + w->pos + 4;
    const uint32_t major = get16(version, swap), minor = get16(version + 2, swap);
    return major != VERSION_DG_UX && (major > 2 || minor >= 4);
}

int scps_trace_read(struct scps_trace *t, const char *path, char msg[SCPS_TRACE_MSGLEN])
{
    struct window w;
    msg[0] = '\0';
    int ret = scps_tr_window_open(&w, t, path, msg);
    if (ret == 0) {
        if (is_pcap(&w))
            ret = read_pcap(t, &w, path, msg);
        else if (scps_tr_get32(w.buf + w.pos, false) == 0x0a0d0d0au)
            ret = scps_tr_read_pcapng(t, &w, path, msg);
        else
            ret = scps_tr_read_libpcap(t, &w, path, msg);
    }
    scps_tr_window_close(&w);
    return ret;
}
