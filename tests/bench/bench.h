/* SPDX-License-Identifier: MIT */
/* What the two programs of the pipe benchmark share: the bytes that are sent, their check, and the
 * figures of one run. */
#ifndef SCPS_BENCH_H
#define SCPS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BENCH_MSS 1024u /* payload of a full segment */
/* size of the block from which the application writes repeatedly, bytes */
#define BENCH_BLOCK (64u << 10)

struct bench_case {
    const char *peer; /* stack under test: "scps" or "lwip" */
    const char *cc;   /* controller; ignored by lwIP */
    uint32_t window;  /* size of send buffer, receive buffer and initial window, bytes */
    uint32_t loss_ppm;
    bool plain;     /* true: neither timestamps nor SACK, as lwIP sends */
    unsigned batch; /* number of packets that the receiver processes before it acknowledges */
    uint64_t bytes;
};

struct bench_result {
    uint64_t cpu_ns;
    uint64_t segments; /* data segments sent, retransmissions included */
    uint64_t acks;     /* pure acknowledgements sent */
    bool ok;           /* every byte arrived, in order */
};

/* Fills a block in which every 8 bytes encode their position, so that a receiver can check the
 * first and last bytes of each piece it reads. */
static inline void bench_fill(uint8_t *block)
{
    for (uint32_t i = 0; i < BENCH_BLOCK; i += 8) {
        uint64_t v = (i + 1) * 0x9e3779b97f4a7c15u;
        memcpy(block + i, &v, 8);
    }
}

/* Returns true if the len bytes at p begin and end as the stream does at position pos. */
static inline bool bench_check(const uint8_t *block, uint64_t pos, const uint8_t *p, size_t len)
{
    uint64_t last = pos + len - 1;
    return len == 0 ||
           (p[0] == block[pos % BENCH_BLOCK] && p[len - 1] == block[last % BENCH_BLOCK] &&
            p[len / 2] == block[(pos + len / 2) % BENCH_BLOCK]);
}

uint64_t bench_cpu_ns(void);

/* Runs the case on lwIP. Returns false when lwIP cannot run it, because its window is a
 * constant. */
bool bench_lwip(const struct bench_case *c, const uint8_t *block, struct bench_result *r);

#endif
