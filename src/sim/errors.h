/* SPDX-License-Identifier: MIT */
/* Simulates the errors of a line: outages, random losses, bit errors, bursts of bit errors, a
 * recorded error vector. */
#ifndef SCPS_SIM_ERRORS_H
#define SCPS_SIM_ERRORS_H

#include "sim/loss.h"

#include <scps/sim.h>

struct scps_errors {
    /* true: only ber and loss are configured, and damaged packets are lost, so one random number
     * decides */
    bool simple;
    struct scps_ber ber;
    /* probability of a random loss, as a threshold for 64-bit random numbers (loss.h) */
    uint64_t loss;
    struct scps_prng r_ber, r_flip, r_loss, r_burst;
    struct {
        bool on, bad;
        struct scps_ber ber; /* bit errors in the bad state of the burst process */
        /* probabilities of a change of state before each packet, as thresholds (loss.h) */
        uint64_t to_bad, to_good;
        /* lengths of the stays in the states good and bad of the burst process by time */
        struct scps_ber stay[2];
        scps_time until; /* end of the present state of the burst process, µs */
    } burst;
    size_t vector_at; /* index of the next byte of the error vector */
};

/* A frame, and the time during which it is on the line. */
struct scps_frame {
    /* bytes: length of the frame; bits: number of bits that errors can reach, which are the last
     * ones of the frame */
    uint32_t bytes, bits;
    uint64_t survive; /* 2^64 times the probability that all these bits stay intact (loss.h) */
    /* first and last whole microsecond during which the frame is on the line */
    scps_time start, end;
    uint8_t *packet; /* the last bytes of the frame, in which bits are flipped */
    /* len: number of bytes at packet; hollow: number of bytes after them that are counted but not
     * stored */
    uint32_t len, hollow;
};

void scps_errors_seed(struct scps_errors *e, uint64_t ber, uint64_t flip, uint64_t loss,
                      uint64_t burst);
/* Applies a configuration that has been checked. afresh: the burst process starts anew at time
 * t. */
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
/* Returns the fate of frame f. save (may be NULL) is called with ctx before bits of the packet are
 * flipped. */
enum scps_fate scps_errors_judge(struct scps_errors *e, const struct scps_link_config *c,
                                 const struct scps_frame *f, void (*save)(void *ctx), void *ctx);

#endif
