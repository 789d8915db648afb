/* SPDX-License-Identifier: MIT */
/* Writes a capture for the analyser's benchmark: many connections over a long path, taken at the
 * senders.
 *
 *      trace_gen FILE BYTES FLOWS WINDOW LOSS_PPM SNAPLEN
 *
 * Each flow keeps WINDOW segments of 1448 octets in flight; what is acknowledged arrives that much
 * later. Losses are reported by SACK and repaired at once; every second segment is acknowledged,
 * and every one out of order. Timestamps are on. The same arguments give the same file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSS  1448u
#define RING 65536u

struct flight { /* a segment that has been sent and has not arrived yet */
    uint32_t n;
    uint8_t lost;
};
struct flow {
    /* isn, irs: initial sequence numbers of sender and receiver; next: number of segments sent for
     * the first time */
    uint32_t isn, irs, next;
    uint32_t want; /* receiver: the next segment in order */
    uint32_t high; /* receiver: the highest segment received, plus 1 */
    uint32_t told; /* sender: it has retransmitted all missing segments below this one */
    uint64_t slot; /* number of transmissions so far */
    uint16_t id;
    struct flight *ring; /* segments in flight, by the number of their transmission */
    uint8_t *got;        /* receiver: true for each segment that has arrived */
    uint32_t repair[4096];
    uint32_t nrepair, done;
};

static FILE *out;
static uint64_t now_us = 1700000000000000u, written;
static uint32_t snap;
static uint64_t seed = 88172645463325252u;

static uint32_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static void emit(struct flow *f, uint32_t i, int back, uint32_t seq, uint32_t ack, unsigned flags,
                 uint32_t len, const uint32_t *sack)
{
    uint8_t b[2048] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    static const uint8_t syn[20] = {2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 7};
    const uint8_t a[4] = {10, 1, (uint8_t)(i >> 8), (uint8_t)i},
                  z[4] = {10, 2, (uint8_t)(i >> 16), 7};
    uint32_t opt = flags & 2 ? 20 : sack ? 24 : 12, total = 40 + opt + len, full = 14 + total;
    uint32_t cap = full < snap ? full : snap, ts = (uint32_t)(now_us / 1000);
    uint32_t h[4] = {(uint32_t)(now_us / 1000000), (uint32_t)(now_us % 1000000), cap, full};
    uint8_t *p = b + 14, *o = p + 40;
    p[0] = 0x45;
    put16(p + 2, total);
    put16(p + 4, f->id++);
    p[6] = 0x40;
    p[8] = 64;
    p[9] = 6;
    memcpy(p + 12, back ? z : a, 4);
    memcpy(p + 16, back ? a : z, 4);
    put16(p + 20 + (back ? 2 : 0), 20000 + i % 40000);
    put16(p + 20 + (back ? 0 : 2), 5001);
    put32(p + 24, seq);
    put32(p + 28, ack);
    p[32] = (uint8_t)((20 + opt) / 4 << 4);
    p[33] = (uint8_t)flags;
    put16(p + 34, 0xfff0);
    if (flags & 2) {
        memcpy(o, syn, 20);
    } else {
        put32(o, 0x0101080a);
        put32(o + 4, ts);
        put32(o + 8, ts);
        if (sack) {
            put32(o + 12, 0x0101050a);
            put32(o + 16, sack[0]);
            put32(o + 20, sack[1]);
        }
    }
    fwrite(h, sizeof h, 1, out);
    fwrite(b, cap, 1, out);
    written += sizeof h + cap;
    now_us += 1 + rnd() % 3;
}

static uint32_t place(const struct flow *f, uint32_t n)
{
    return f->isn + 1 + n * MSS;
}

static void acknowledge(struct flow *f, uint32_t i, int sacked, uint32_t n)
{
    uint32_t block[2] = {0, 0};
    if (sacked) {
        uint32_t from = n, to = n + 1;
        while (from > f->want && f->got[(from - 1) % RING])
            from--;
        while (to < f->high && f->got[to % RING])
            to++;
        block[0] = place(f, from);
        block[1] = place(f, to);
    }
    emit(f, i, 1, f->irs + 1, place(f, f->want), 0x10, 0, sacked ? block : NULL);
}

/* Delivers the transmission that was made `window` transmissions ago to the receiver, and its
 * acknowledgement to the sender. */
static void arrival(struct flow *f, uint32_t i, const struct flight *a)
{
    if (a->lost || a->n < f->want || f->got[a->n % RING])
        return;
    f->got[a->n % RING] = 1;
    if (a->n >= f->high)
        f->high = a->n + 1;
    if (a->n != f->want) {
        acknowledge(f, i, 1, a->n);
        for (uint32_t n = f->told > f->want ? f->told : f->want; n < a->n; n++)
            if (!f->got[n % RING] && f->nrepair - f->done < 4096)
                f->repair[f->nrepair++ % 4096] = n;
        if (a->n > f->told)
            f->told = a->n;
        return;
    }
    int hole = f->high > f->want + 1;
    while (f->got[f->want % RING]) {
        f->got[f->want % RING] = 0;
        f->want++;
    }
    if (hole || f->want % 2 == 0)
        acknowledge(f, i, f->high > f->want, f->high - 1);
}

int main(int argc, char **argv)
{
    if (argc != 7 || !(out = fopen(argv[1], "wb"))) {
        fputs("usage: trace_gen FILE BYTES FLOWS WINDOW LOSS_PPM SNAPLEN\n", stderr);
        return 2;
    }
    uint64_t bytes = (uint64_t)strtod(argv[2], NULL);
    uint32_t flows = (uint32_t)atoi(argv[3]), window = (uint32_t)atoi(argv[4]);
    uint32_t ppm = (uint32_t)atoi(argv[5]);
    snap = (uint32_t)atoi(argv[6]);
    const uint32_t head[6] = {0xa1b2c3d4, 0x00040002, 0, 0, snap, 1};
    struct flow *f = calloc(flows, sizeof *f);
    if (!f || !flows || !window || window > RING / 4)
        return 2;
    setvbuf(out, NULL, _IOFBF, 1 << 20);
    fwrite(head, sizeof head, 1, out);
    for (uint32_t i = 0; i < flows; i++) {
        f[i].isn = rnd();
        f[i].irs = rnd();
        f[i].ring = calloc(window, sizeof *f[i].ring);
        f[i].got = calloc(RING, 1);
        if (!f[i].ring || !f[i].got)
            return 2;
        emit(&f[i], i, 0, f[i].isn, 0, 2, 0, NULL);
        emit(&f[i], i, 1, f[i].irs, f[i].isn + 1, 0x12, 0, NULL);
        emit(&f[i], i, 0, f[i].isn + 1, f[i].irs + 1, 0x10, 0, NULL);
    }
    while (written < bytes) {
        uint32_t i = rnd() % flows;
        struct flow *x = &f[i];
        for (int burst = 0; burst < 8; burst++) {
            struct flight *s = &x->ring[x->slot % window];
            if (x->slot >= window)
                arrival(x, i, s);
            uint32_t n = x->done < x->nrepair ? x->repair[x->done++ % 4096] : x->next;
            if (n == x->next) {
                /* The data sent is far above a missing segment: wait for its retransmission. */
                if (x->next - x->want > RING / 2) {
                    *s = (struct flight){.lost = 1};
                    x->slot++;
                    continue;
                }
                x->next++;
            }
            *s = (struct flight){.n = n, .lost = rnd() % 1000000 < ppm};
            /* If the retransmission is lost too, retransmit again after another round trip. */
            if (s->lost && x->told > n)
                x->told = n;
            x->slot++;
            emit(x, i, 0, place(x, n), x->irs + 1, 0x18, MSS, NULL);
        }
    }
    return fclose(out) == 0 ? 0 : 1;
}
