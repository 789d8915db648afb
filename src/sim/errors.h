/* SPDX-License-Identifier: MIT */
/* Simulates the errors of a line: outages, random losses, bit errors, bursts of bit errors, a
 * recorded error vector. */
#ifndef SCPS_SIM_ERRORS_H
#define SCPS_SIM_ERRORS_H

#include "sim/loss.h"

#include <scps/sim.h>

struct scps_errors {
    /* true: only independent bit errors (ber) and random losses (loss) are configured, and damaged
     * packets are lost, so scps_errors_simple() decides the fate of a packet without its bits */
    bool simple;
    struct scps_ber ber;
    /* probability that a packet is lost at random, times 2^64: the packet is lost when a 64-bit
     * random number is below it */
    uint64_t loss;
    struct scps_prng r_ber, r_flip, r_loss, r_burst;
    struct {
        bool on, bad;
        struct scps_ber ber; /* bit errors in the bad state of the burst process */
        /* probabilities, times 2^64, that the burst process changes to the bad or to the good state
         * before a packet, if it is configured by packets; unused if it is configured by time */
        uint64_t to_bad, to_good;
        /* distributions from which the burst process, if it is configured by time, draws how long
         * it stays, µs: [0] in the good state, [1] in the bad one */
        struct scps_ber stay[2];
        scps_time until; /* end of the present state of the burst process by time, µs */
    } burst;
    /* Index in the link's error vector (scps_link_config.vector, whose set bits say which bits the
     * line damages) of the byte that applies to the next byte on the line that errors can damage.
     * The next frame continues there; after the last byte of the vector the index is 0 again. */
    size_t vector_at;
};

/* A frame whose fate scps_errors_judge() decides, and the time during which it is on the line. */
struct scps_frame {
    /* bytes: length of the frame; bits: number of bits at the end of the frame that errors can
     * damage; those before them are exempt */
    uint32_t bytes, bits;
    uint64_t survive; /* 2^64 times the probability that all `bits` bits stay intact */
    /* times at which the transmission of the frame begins, rounded down, and ends, rounded up,
     * µs */
    scps_time start, end;
    /* the IP packet, the last bytes of the frame, whose bits are flipped when damaged packets are
     * delivered */
    uint8_t *packet;
    /* len: number of bytes at packet; hollow: number of bytes after them that are counted but not
     * stored */
    uint32_t len, hollow;
};

void scps_errors_seed(struct scps_errors *e, uint64_t ber, uint64_t flip, uint64_t loss,
                      uint64_t burst);
/* Applies configuration c, which scps_linkdir_init() or scps_linkdir_change() has checked. afresh
 * true: the burst process (Gilbert-Elliott: the line alternates between a good state and a bad one,
 * in which it has the bit errors of c->burst) starts anew at time t, µs, in a random state. false:
 * the process continues, and t is not used. */
void scps_errors_set(struct scps_errors *e, const struct scps_link_config *c, bool afresh,
                     scps_time t);
/* Returns the fate of a frame when only ber and loss are configured (e->simple). survive: 2^64
 * times the probability that none of the frame's bits is damaged. */
static inline enum scps_fate scps_errors_simple(struct scps_errors *e, uint64_t survive)
{
    bool damaged = e->ber.on && scps_prng_next(&e->r_ber) >= survive;

    if (scps_chance_hit(e->loss, &e->r_loss))
        return SCPS_FATE_LOSS;
    return damaged ? SCPS_FATE_BER : SCPS_FATE_DELIVERED;
}
/* Returns the fate of frame f, and flips its damaged bits if c->flip is set. save is called once,
 * with ctx, before the first bit of the packet is flipped; NULL: no call. */
enum scps_fate scps_errors_judge(struct scps_errors *e, const struct scps_link_config *c,
                                 const struct scps_frame *f, void (*save)(void *ctx), void *ctx);

#endif
