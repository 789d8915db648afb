/* SPDX-License-Identifier: MIT */
/* What the two sides of the pipe benchmark share: the bytes that travel, their check, and one run's
 * figures. */
#ifndef SCPS_BENCH_H
#define SCPS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BENCH_MSS   1024u       /* payload of a full segment */
#define BENCH_BLOCK (64u << 10) /* the application writes from this much, again and again */

struct bench_case {
    const char *peer; /* "scps", "lwip" */
    const char *cc;   /* controller; ignored by lwIP */
    uint32_t window;  /* bytes: send buffer, receive buffer and initial window */
    uint32_t loss_ppm;
    bool plain;     /* neither timestamps nor SACK: what lwIP sends */
    unsigned batch; /* packets that the receiver takes before it answers */
    uint64_t bytes;
};

struct bench_result {
    uint64_t cpu_ns;
    uint64_t segments; /* data segments sent, resent ones included */
    uint64_t acks;     /* pure acknowledgements sent */
    bool ok;           /* every byte arrived, in order */
};

/* A block whose every 8 bytes tell their place, so that a checker can look at the ends of each run
 * it reads. */
static inline void bench_fill(uint8_t *block)
{
    for (uint32_t i = 0; i < BENCH_BLOCK; i += 8) {
        uint64_t v = (i + 1) * 0x9e3779b97f4a7c15u;
        memcpy(block + i, &v, 8);
    }
}

/* Does p, len bytes at stream position pos, begin and end as it should? */
static inline bool bench_check(const uint8_t *block, uint64_t pos, const uint8_t *p, size_t len)
{
    uint64_t last = pos + len - 1;
    return len == 0 ||
           (p[0] == block[pos % BENCH_BLOCK] && p[len - 1] == block[last % BENCH_BLOCK] &&
            p[len / 2] == block[(pos + len / 2) % BENCH_BLOCK]);
}

uint64_t bench_cpu_ns(void);

/* Returns false when the peer cannot do this case at all (a window it was not built for). */
bool bench_lwip(const struct bench_case *c, const uint8_t *block, struct bench_result *r);

#endif
