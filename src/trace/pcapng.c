/* SPDX-License-Identifier: MIT */
/* Reads pcapng, a sequence of blocks. Only the blocks that describe interfaces and those that hold
 * packets are used.
 *
 * libpcap requires all interfaces of a file to have one link type and one snapshot length. Captures
 * of several devices at once do not have that, so the blocks are read here, each packet with its
 * own interface's link type and unit of time.
 *
 * Source: draft-ietf-opsawg-pcapng; the old packet block is in its appendix on obsolete blocks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/linklayer.h"
#include "trace/window.h"

enum {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET_OLD = 2,
    BLOCK_PACKET_SIMPLE = 3,
    BLOCK_PACKET = 6,
    /* block type of a section header, which is the same in either byte order */
    BLOCK_SECTION = 0x0a0d0d0a
};

enum { OPTION_END = 0, OPTION_TSRESOL = 9, OPTION_TSOFFSET = 14 };

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
/* Number of octets of a block besides its content: type, length, and the length again after the
 * content. */
#define FRAME 12u
/* Largest length of a block that is parsed, octets; longer ones are skipped. */
#define LONGEST      (TR_LARGEST + 1024)
#define MICROSECONDS 1000000u

struct interface {
    int link;
    uint32_t snaplen; /* largest number of bytes captured of a packet; 0: no limit */
    uint64_t second;  /* number of units of the interface's times in a second */
    int64_t offset;   /* seconds to add to the times in the file (option if_tsoffset) */
    bool known;       /* true: the analyser can read the link type of the interface */
};

struct pcapng {
    struct scps_trace *t;
    struct window *w;
    const char *path;
    char *msg;
    /* true: the section that is being read is big-endian. ifs: its n interfaces, with room for
     * `room` */
    bool big;
    struct interface *ifs;
    uint32_t n, room;
    uint64_t packets;
    uint64_t unknown; /* number of packets of this section on interfaces with unknown link types */
    int unknown_link; /* link type of the last of the packets counted in `unknown` */
};

static uint32_t get16(const struct pcapng *f, const uint8_t *p)
{
    return f->big ? scps_get16(p) : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const struct pcapng *f, const uint8_t *p)
{
    return f->big ? scps_get32(p) : get16(f, p + 2) << 16 | get16(f, p);
}

static uint64_t get64(const struct pcapng *f, const uint8_t *p)
{
    return (uint64_t)get32(f, p + (f->big ? 0 : 4)) << 32 | get32(f, p + (f->big ? 4 : 0));
}

/* Ends the reading of the file at a malformed block, which the message describes with `what` and
 * `number`. The bytes left are counted as not read. Returns 1. */
static int senseless(struct pcapng *f, const char *what, uint64_t number)
{
    f->t->tot.unread_bytes += scps_tr_window_drain(f->w);
    snprintf(f->msg, SCPS_TRACE_MSGLEN,
             "%s: after packet %" PRIu64 " comes %s %" PRIu64 ": analysed up to there", f->path,
             f->packets, what, number);
    return 1;
}

static int cut_off(struct pcapng *f)
{
    f->t->tot.unread_bytes += scps_tr_window_drain(f->w);
    snprintf(f->msg, SCPS_TRACE_MSGLEN,
             "%s: cut off within the block after packet %" PRIu64 ": analysed up to there", f->path,
             f->packets);
    return 1;
}

static int no_memory(struct pcapng *f)
{
    snprintf(f->msg, SCPS_TRACE_MSGLEN, "%s: out of memory at packet %" PRIu64, f->path,
             f->packets);
    return SCPS_ERR_NOMEM;
}

/* ---- functions that read the blocks which describe interfaces ---- */

/* Converts the option if_tsresol, which has the exponent of a power of 2 or 10, to the number of
 * units of time in a second. Returns 0 if 64 bits cannot hold the number. */
static uint64_t units(uint8_t resolution)
{
    uint64_t v = 1;
    if (resolution & 0x80)
        return (resolution & 0x7f) < 64 ? v << (resolution & 0x7f) : 0;
    if (resolution > 19)
        return 0;
    for (; resolution > 0; resolution--)
        v *= 10;
    return v;
}

static void options(const struct pcapng *f, struct interface *i, const uint8_t *p, uint32_t len)
{
    for (uint32_t at = 0; at + 4 <= len;) {
        const uint32_t kind = get16(f, p + at), n = get16(f, p + at + 2);
        const uint8_t *value = p + at + 4;
        at += 4 + (n + 3) / 4 * 4;
        if (kind == OPTION_END || at > len)
            return;
        if (kind == OPTION_TSRESOL && n == 1)
            i->second = units(value[0]);
        else if (kind == OPTION_TSOFFSET && n == 8)
            i->offset = (int64_t)get64(f, value);
    }
}

static int interface_block(struct pcapng *f, const uint8_t *p, uint32_t len)
{
    if (len < 8)
        return senseless(f, "a description of an interface of length", len);
    if (f->n == f->room) {
        uint32_t room = f->room ? f->room * 2 : 8;
        struct interface *ifs = realloc(f->ifs, room * sizeof *ifs);
        if (!ifs)
            return no_memory(f);
        f->ifs = ifs;
        f->room = room;
    }
    struct interface *i = &f->ifs[f->n++];
    *i = (struct interface){
        .link = (int)get16(f, p), .snaplen = get32(f, p + 4), .second = MICROSECONDS};
    i->known = scps_tr_link_known(i->link);
    options(f, i, p + 8, len - 8);
    if (i->second == 0)
        return senseless(f, "a unit of time out of range, of interface", f->n - 1);
    return 0;
}

/* ---- functions that read the blocks which hold packets ---- */

static scps_time in_us(const struct interface *i, uint64_t at)
{
    uint64_t s = at / i->second, part = at % i->second, unit = i->second;
    /* If the interface's unit of time is very small, part * MICROSECONDS would exceed 64 bits. So
     * `part` and `unit` are divided by 1000 until it does not. */
    while (part > UINT64_MAX / MICROSECONDS) {
        part /= 1000;
        unit /= 1000;
    }
    int64_t whole = (int64_t)SCPS_MIN(s, (uint64_t)TR_LATEST);
    whole = SCPS_CLAMP(whole + SCPS_CLAMP(i->offset, -TR_LATEST, TR_LATEST), 0, TR_LATEST);
    return whole * MICROSECONDS + (int64_t)(part * MICROSECONDS / unit);
}

/* Analyses the packet in a packet block, whose content is len octets at p. Returns 0; another value
 * ends the reading. */
static int packet_block(struct pcapng *f, uint32_t type, const uint8_t *p, uint32_t len)
{
    const uint32_t head = type == BLOCK_PACKET_SIMPLE ? 4 : 20;
    if (len < head)
        return senseless(f, "a packet's block of length", len);
    uint32_t which = 0;
    if (type != BLOCK_PACKET_SIMPLE)
        which = type == BLOCK_PACKET ? get32(f, p) : get16(f, p);
    if (which >= f->n)
        return senseless(f, "a packet of an interface not described:", which);
    const struct interface *i = &f->ifs[which];
    struct scps_trace_pkt v = {.link = i->link, .data = p + head};
    /* A simple packet block has no time, so its packet gets the time of the packet before it. */
    if (type == BLOCK_PACKET_SIMPLE) {
        v.at = f->t->now;
        v.len = get32(f, p);
        v.caplen = SCPS_MIN(v.len, len - head);
        if (i->snaplen)
            v.caplen = SCPS_MIN(v.caplen, i->snaplen);
    } else {
        v.at = in_us(i, (uint64_t)get32(f, p + 4) << 32 | get32(f, p + 8));
        v.caplen = get32(f, p + 12);
        v.len = get32(f, p + 16);
        if (v.caplen > len - head)
            return senseless(f, "a packet longer than its block:", v.caplen);
    }
    f->packets++;
    if (TR_UNLIKELY(!i->known)) {
        f->unknown++;
        f->unknown_link = i->link;
    }
    return scps_trace_packet(f->t, &v) < 0 ? no_memory(f) : 0;
}

/* ---- functions that read the sequence of blocks ---- */

static bool is_looked_into(uint32_t type)
{
    return type == BLOCK_PACKET || type == BLOCK_PACKET_SIMPLE || type == BLOCK_PACKET_OLD ||
           type == BLOCK_INTERFACE || type == BLOCK_SECTION;
}

/* Begins a section of the file: reads its byte order from the four octets at magic, and removes the
 * interfaces of the section before. Returns 0; another value ends the reading. */
static int section(struct pcapng *f, const uint8_t *magic)
{
    f->n = 0;
    f->big = scps_get32(magic) == BYTE_ORDER_MAGIC;
    if (get32(f, magic) != BYTE_ORDER_MAGIC)
        return senseless(f, "a section whose byte order cannot be told,", scps_get32(magic));
    return 0;
}

/* Reads one block of the file. Returns 0 if the next block can be read; another value, which
 * scps_trace_read() returns, ends the reading. */
static int block(struct pcapng *f)
{
    struct window *w = f->w;
    if (!scps_tr_have(w, FRAME))
        return cut_off(f);
    const uint8_t *p = w->buf + w->pos;
    const uint32_t type = get32(f, p);
    int r = type == BLOCK_SECTION ? section(f, p + 8) : 0;
    if (r != 0)
        return r;
    const uint32_t len = get32(f, p + 4);
    if (len < FRAME || len % 4 != 0 || (len > LONGEST && is_looked_into(type)))
        return senseless(f, "a block of length", len);
    if (!is_looked_into(type))
        return scps_tr_window_skip(w, len) ? 0 : cut_off(f);
    if (!scps_tr_have(w, len))
        return cut_off(f);
    p = w->buf + w->pos;
    if (get32(f, p + len - 4) != len)
        return senseless(f, "a block whose lengths differ,", len);
    w->pos += len; /* The content is still in the buffer until the next read. */
    if (type == BLOCK_SECTION)
        return 0;
    if (type == BLOCK_INTERFACE)
        return interface_block(f, p + 8, len - FRAME);
    return packet_block(f, type, p + 8, len - FRAME);
}

int scps_tr_read_pcapng(struct scps_trace *t, struct window *w, const char *path, char *msg)
{
    struct pcapng f = {.t = t, .w = w, .path = path, .msg = msg};
    int r = 0;
    while (r == 0 && !w->stopped && scps_tr_have(w, 1))
        r = block(&f);
    if (w->err && r >= 0) {
        snprintf(msg, SCPS_TRACE_MSGLEN, "%s: %s after packet %" PRIu64 ": analysed up to there",
                 path, scps_tr_window_trouble(w), f.packets);
        r = 1;
    }
    if (r == 0 && f.unknown) {
        r = scps_tr_link_refused(path, f.unknown_link, msg);
        if (f.unknown < f.packets) {
            snprintf(msg, SCPS_TRACE_MSGLEN,
                     "%.120s: %" PRIu64 " of %" PRIu64 " packets are of link type %d, which is not "
                     "understood: the others were analysed",
                     path, f.unknown, f.packets, f.unknown_link);
            r = 1;
        }
    }
    free(f.ifs);
    return r;
}
