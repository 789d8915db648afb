/* SPDX-License-Identifier: MIT */
/* Sizes of the memory that a connection of a stack with fixed memory takes when it opens. They
 * follow from the configuration alone:
 *
 *      sndring, rcvring   the buffers, rounded up to a power of two
 *      sent               entries of the scoreboard, one for each segment in flight: four times
 *                         the full segments in the send buffer. A sender of smaller segments
 *                         waits for acknowledgements when no entry is left
 *      holes, marks       ranges of data held beyond a hole, and ends of the application's
 *                         records: one of each for every 256 octets of the receive buffer, 64 at
 *                         least
 */
#include "core/fixed.h"

#include "base/bytes.h"
#include "core/receive.h"

#define ETHERNET_MSS 1460u
/* Octets, more than enough, by which the payload of a segment may exceed the MSS: up to 12 with
 * header compression (scps_agreed_less()). The send buffer stores the first MSS + MARGIN octets of
 * its ring a second time behind the end of the ring, so that each payload is contiguous. */
#define MARGIN 64u
#define LEAST  64u

static uint32_t power_of_two(uint64_t least)
{
    uint32_t n = 16;

    while (n < least && n < UINT32_C(1) << 31)
        n *= 2;
    return n;
}

void scps_fixed_init(struct scps_fixed *f, const struct scps_conn_config *c)
{
    *f = (struct scps_fixed){.most = *c};
    f->mss = c->mss ? c->mss : ETHERNET_MSS;
    f->slack = f->mss + MARGIN;
    f->sndring = c->hollow ? 0 : power_of_two(SCPS_MAX(c->sndbuf, f->slack));
    f->rcvring = c->hollow ? 0 : power_of_two(c->rcvbuf);
    f->sent = power_of_two((uint64_t)c->sndbuf / (f->mss / 4) + 16);
    f->holes = SCPS_MAX(LEAST, SCPS_MIN(c->rcvbuf / 256, scps_receive_max_holes(c->rcvbuf)));
    f->marks = c->records ? SCPS_MAX(LEAST, c->rcvbuf / 256) : 0;
    f->given_up = c->bets ? LEAST : 0;
}

static size_t state_words(const struct scps_conn_config *c)
{
    return (scps_cc_state_size(c->cc, c->cc_param) + 7) / 8;
}

bool scps_fixed_allows(const struct scps_fixed *f, const struct scps_conn_config *c)
{
    const struct scps_conn_config *m = &f->most;

    return c->sndbuf <= m->sndbuf && c->rcvbuf <= m->rcvbuf && c->mss <= f->mss &&
           state_words(c) == state_words(m) && (c->hollow || !m->hollow) &&
           c->records <= m->records && c->bets <= m->bets && c->compress <= m->compress &&
           (!c->snack_delay || m->snack_delay);
}
