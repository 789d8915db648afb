/* SPDX-License-Identifier: MIT */
/* What the line does to the frames on it: outages, chance losses, bit errors, bursts, an error
 * vector. */
#ifndef SCPS_SIM_ERRORS_H
#define SCPS_SIM_ERRORS_H

#include "sim/loss.h"

#include <scps/sim.h>

struct scps_errors {
    bool simple; /* at most ber and loss, and they lose the packet */
    struct scps_ber ber;
    uint64_t loss; /* threshold */
    struct scps_prng r_ber, r_flip, r_loss, r_burst;
    struct {
        bool on, bad;
        struct scps_ber ber;      /* while bad */
        uint64_t to_bad, to_good; /* thresholds of the process by packet */
        struct scps_ber stay[2];  /* of the one by time: good, bad */
        scps_time until;          /* this stay ends */
    } burst;
    size_t vector_at; /* its next byte */
};

/* A frame and its place on the line. */
struct scps_frame {
    uint32_t bytes, bits; /* all of it; at risk, which are the last ones */
    uint64_t survive;     /* of the bits at risk, see loss.h */
    scps_time start, end; /* on the line: whole microseconds around it */
    uint8_t *packet;      /* the frame's last bytes; when bits are flipped, here */
    uint32_t len, hollow; /* bytes there; and hollow ones behind them */
};

void scps_errors_seed(struct scps_errors *e, uint64_t ber, uint64_t flip, uint64_t loss,
                      uint64_t burst);
/* Reads the configuration, which makes sense. afresh: the burst process begins anew, at time t. */
void scps_errors_set(struct scps_errors *e, const struct scps_link_config *c, bool afresh,
                     scps_time t);
/* What becomes of a frame when all is simple; survive as in struct scps_frame. */
static inline enum scps_fate scps_errors_simple(struct scps_errors *e, uint64_t survive)
{
    bool damaged = e->ber.on && scps_prng_next(&e->r_ber) >= survive;

    if (scps_chance_hit(e->loss, &e->r_loss))
        return SCPS_FATE_LOSS;
    return damaged ? SCPS_FATE_BER : SCPS_FATE_DELIVERED;
}
/* What becomes of f. save (may be NULL) is called with ctx before bits of the packet are
 * flipped. */
enum scps_fate scps_errors_judge(struct scps_errors *e, const struct scps_link_config *c,
                                 const struct scps_frame *f, void (*save)(void *ctx), void *ctx);

#endif
