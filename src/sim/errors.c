/* SPDX-License-Identifier: MIT */
/* Errors of the line: what happens to the frames on it.
 *
 * A frame consists of the framing bytes, then the IP packet; its first ber_exempt bytes (a setting
 * of the link) are never damaged, the bits after them are at risk. The causes of loss, in this
 * order; the first that loses the packet is reported:
 *
 *     outage   a part of the frame is sent during an outage
 *     loss     at random, whatever the size
 *     ber      each bit at risk is damaged independently: one random number for each frame (loss.c)
 *     burst    each bit at risk that is sent in the bad state of the burst process, likewise
 *     vector   the bits at risk are compared with the next bits of the error vector
 *
 * If the link's setting `flip` is on, the damaged bits are flipped and the packet is delivered. But
 * a frame whose framing bytes are damaged is lost, because a receiver cannot read it, and so is one
 * whose hollow bytes (payload that is counted but not stored) are damaged, because they have no
 * bits to flip.
 *
 * Each kind of error has a random generator of its own, which yields one number for each packet
 * that is sent on the line, so switching one kind on does not change the effects of the others. For
 * the same reason the position in the error vector advances with every frame, lost or not.
 *
 * The burst process (Gilbert-Elliott) alternates between a good and a bad state. It is configured
 * either by packets (probabilities of a change before each packet) or by time (mean times in the
 * two states). By time, it changes its state at whole microseconds: the time in a state has a
 * geometric distribution with the given mean, and is drawn like a run of undamaged bits. After a
 * long time without a packet the process starts anew instead of simulating that time, so the cost
 * of a packet does not depend on when the last one was sent. The bits of a frame are spread evenly
 * over its time on the line.
 */
#include "sim/errors.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "sim/plan.h"

#define RUN_MAX ((1u << SCPS_BER_POWERS) - 1)
/* Largest number of changes between the good and the bad state of the burst process (by time) that
 * are simulated within one frame; in the rest of the frame the bad state has its mean share. */
#define MANY 4096
/* Number of cycles (a cycle is the mean time in the good state plus that in the bad one) after
 * which the state of the burst process no longer depends on its state before: the correlation of
 * the two is at most e^-256. After so long without a packet the process starts anew. */
#define FORGOTTEN 64

void scps_errors_seed(struct scps_errors *e, uint64_t ber, uint64_t flip, uint64_t loss,
                      uint64_t burst)
{
    scps_prng_seed(&e->r_ber, ber);
    scps_prng_seed(&e->r_flip, flip);
    scps_prng_seed(&e->r_loss, loss);
    scps_prng_seed(&e->r_burst, burst);
}

/* ---- functions of the burst process, in which the line is in a good or a bad state ---- */

/* Draws at random how long the burst process stays in its present state, µs; at least 1. */
static scps_dur stay(struct scps_errors *e)
{
    const struct scps_ber *b = &e->burst.stay[e->burst.bad];
    scps_dur all = 1;
    uint32_t run;

    /* A time longer than RUN_MAX, the largest run that one random number yields, is the sum of
     * several draws; the sum has the same distribution, because a geometric distribution is
     * memoryless. */
    do {
        run = scps_ber_run(b, scps_prng_next(&e->r_burst), RUN_MAX);
        all += run;
    } while (run == RUN_MAX && all < SCPS_SEC(1000000000));
    return all;
}

static void burst_begin(struct scps_errors *e, const struct scps_burst *b, scps_time t)
{
    double bad = b->good ? (double)b->bad : b->to_bad,
           good = b->good ? (double)b->good : b->to_good;

    e->burst.bad = scps_chance_hit(scps_chance(bad / (bad + good)), &e->r_burst);
    if (b->good)
        e->burst.until = t + stay(e);
}

void scps_errors_set(struct scps_errors *e, const struct scps_link_config *c, bool afresh,
                     scps_time t)
{
    const struct scps_burst *b = &c->burst;

    scps_ber_init(&e->ber, c->ber);
    e->loss = scps_chance(c->loss);
    e->burst.on = b->ber > 0;
    if (e->burst.on) {
        scps_ber_init(&e->burst.ber, b->ber);
        e->burst.to_bad = scps_chance(b->to_bad);
        e->burst.to_good = scps_chance(b->to_good);
        if (b->good) {
            scps_ber_init(&e->burst.stay[0], 1.0 / (double)b->good);
            scps_ber_init(&e->burst.stay[1], 1.0 / (double)b->bad);
        }
        if (afresh)
            burst_begin(e, b, t);
    }
    if (e->vector_at >= c->vector_len)
        e->vector_at = 0;
    e->simple = !c->flip && !e->burst.on && !c->vector_len && !c->outages.n && !c->outages.inverse;
}

/* ---- functions that damage the bits of a frame ---- */

enum damage { WHOLE, FLIPPED, UNREADABLE };

/* context of damage_byte() for one frame. save: function that saves the undamaged packet, NULL:
 * none; saved: save(ctx) was called, before the first bit of the packet was flipped */
struct frame_damage {
    const struct scps_link_config *c;
    const struct scps_frame *f;
    void (*save)(void *ctx);
    void *ctx;
    bool saved;
};

/* Damages octet number `byte` of the frame, counted from 0. If the link is configured to deliver
 * damaged packets (`flip`), and the octet belongs to the packet and is stored, XORs the octet with
 * `bits` and returns FLIPPED. Otherwise returns UNREADABLE: the packet is lost. */
static enum damage damage_byte(struct frame_damage *w, uint32_t byte, uint8_t bits)
{
    const struct scps_frame *f = w->f;
    uint32_t framing = f->bytes - f->len - f->hollow;

    if (!w->c->flip || byte < framing || byte - framing >= f->len)
        return UNREADABLE;
    if (!w->saved && w->save)
        w->save(w->ctx);
    w->saved = true;
    f->packet[byte - framing] ^= bits;
    return FLIPPED;
}

/* Damages each of the bits with the numbers `at` to end - 1 with the bit error rate of b,
 * independently of the others. Bits are counted from the first one of the frame that is not exempt
 * from errors. `draw` is the random number that determines the first damaged bit; r yields the
 * numbers for the further ones. If the link's setting `flip` is off, a damaged packet is lost, so
 * the function stops at the first damaged bit. If `flip` is on, the function flips the damaged bits
 * of the packet that are stored, and any other damaged bit, of the framing or of hollow payload
 * (counted, but not stored), makes the frame unreadable. Returns the worst damage done: WHOLE
 * (none), FLIPPED or UNREADABLE (the packet is lost). */
static enum damage at_random(struct frame_damage *w, const struct scps_ber *b, uint32_t at,
                             uint32_t end, uint64_t draw, struct scps_prng *r)
{
    uint32_t exempt = w->f->bytes - w->f->bits / 8;
    enum damage worst = WHOLE;

    for (;;) {
        at += scps_ber_run(b, draw, end - at);
        if (at >= end)
            return worst;
        enum damage d = damage_byte(w, exempt + at / 8, (uint8_t)(0x80 >> at % 8));
        worst = SCPS_MAX(worst, d);
        if (!w->c->flip || ++at >= end)
            return worst;
        draw = scps_prng_next(r);
    }
}

static enum damage in_burst(struct scps_errors *e, struct frame_damage *w)
{
    const struct scps_burst *b = &w->c->burst;
    const struct scps_frame *f = w->f;
    enum damage worst = WHOLE;

    if (!b->good) {
        uint64_t turn = e->burst.bad ? e->burst.to_good : e->burst.to_bad;
        e->burst.bad ^= scps_prng_next(&e->r_burst) < turn || turn == UINT64_MAX;
        return e->burst.bad && f->bits ? at_random(w, &e->burst.ber, 0, f->bits,
                                                   scps_prng_next(&e->r_burst), &e->r_burst)
                                       : WHOLE;
    }
    scps_time at = f->start, end = SCPS_MAX(f->end, f->start + 1);
    if (at - e->burst.until > FORGOTTEN * (b->good + b->bad))
        burst_begin(e, b, at);
    for (int stays = 0; at < end; stays++) {
        /* After MANY changes of state within one frame the rest of the frame is not simulated: the
         * part of its bits that is sent in the bad state is taken to be the mean, bad / (good +
         * bad). */
        if (stays == MANY) {
            uint64_t all = (uint64_t)(end - f->start), cycle = (uint64_t)(b->good + b->bad);
            uint32_t first = (uint32_t)scps_muldiv(f->bits, (uint64_t)(at - f->start), all);
            uint32_t bad = (uint32_t)scps_muldiv(f->bits - first, (uint64_t)b->bad, cycle);
            enum damage d = at_random(w, &e->burst.ber, first, first + bad,
                                      scps_prng_next(&e->r_burst), &e->r_burst);
            burst_begin(e, b, end);
            return SCPS_MAX(worst, d);
        }
        while (e->burst.until <= at) {
            e->burst.bad = !e->burst.bad;
            e->burst.until += stay(e);
        }
        scps_time to = SCPS_MIN(end, e->burst.until);
        if (e->burst.bad) {
            uint64_t all = (uint64_t)(end - f->start);
            uint32_t first = (uint32_t)scps_muldiv(f->bits, (uint64_t)(at - f->start), all);
            uint32_t last = (uint32_t)scps_muldiv(f->bits, (uint64_t)(to - f->start), all);
            if (first < last) {
                enum damage d = at_random(w, &e->burst.ber, first, last,
                                          scps_prng_next(&e->r_burst), &e->r_burst);
                worst = SCPS_MAX(worst, d);
            }
        }
        at = to;
    }
    return worst;
}

static enum damage in_vector(struct scps_errors *e, struct frame_damage *w)
{
    const struct scps_link_config *c = w->c;
    uint32_t n = w->f->bits / 8, exempt = w->f->bytes - n;
    enum damage worst = WHOLE;

    for (uint32_t i = 0; i < n; i++) {
        uint8_t bits = c->vector[e->vector_at];
        if (++e->vector_at == c->vector_len)
            e->vector_at = 0;
        if (bits) {
            enum damage d = damage_byte(w, exempt + i, bits);
            worst = SCPS_MAX(worst, d);
        }
    }
    return worst;
}

/* Returns the fate of a frame, given the damage that independent bit errors, bursts of errors, and
 * the link's error vector (a configured sequence of bits, in which 1 damages the bit on the line)
 * have done to it. If one of the three made the frame unreadable, the fate names that cause, the
 * first one in this order; otherwise the frame is delivered, with flipped bits if there is any
 * damage. */
static enum scps_fate fate_of(enum damage ber, enum damage burst, enum damage vector)
{
    if (ber == UNREADABLE)
        return SCPS_FATE_BER;
    if (burst == UNREADABLE)
        return SCPS_FATE_BURST;
    if (vector == UNREADABLE)
        return SCPS_FATE_VECTOR;
    return ber || burst || vector ? SCPS_FATE_FLIPPED : SCPS_FATE_DELIVERED;
}

enum scps_fate scps_errors_judge(struct scps_errors *e, const struct scps_link_config *c,
                                 const struct scps_frame *f, void (*save)(void *ctx), void *ctx)
{
    uint64_t draw = e->ber.on ? scps_prng_next(&e->r_ber) : 0;
    bool lost = scps_chance_hit(e->loss, &e->r_loss);
    struct frame_damage w = {c, f, save, ctx, false};
    enum damage ber = WHOLE, burst = WHOLE, vector = WHOLE;
    bool down =
        (c->outages.n || c->outages.inverse) && scps_spans_hit(&c->outages, f->start, f->end);

    if (e->burst.on)
        burst = in_burst(e, &w);
    if (c->vector_len)
        vector = in_vector(e, &w);
    if (down)
        return SCPS_FATE_OUTAGE;
    if (lost)
        return SCPS_FATE_LOSS;
    if (e->ber.on && draw >= f->survive)
        ber = at_random(&w, &e->ber, 0, f->bits, draw, &e->r_flip);
    return fate_of(ber, burst, vector);
}
